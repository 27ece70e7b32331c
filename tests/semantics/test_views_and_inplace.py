"""Views share memory, in-place operators change it, and the graph knows about both."""

import numpy as np
import pytest

import tensorplay as tp

from .support import assert_close, const, leaf, raises

BASE = np.arange(12.0).reshape(3, 4)

# Name, the view of a (3, 4) tensor, the same view of an ndarray.
VIEWS = [
    ("a row", lambda x: x[1], lambda a: a[1]),
    ("a negative row", lambda x: x[-1], lambda a: a[-1]),
    ("a slice", lambda x: x[1:], lambda a: a[1:]),
    ("a slice with a step", lambda x: x[:, ::2], lambda a: a[:, ::2]),
    ("an element", lambda x: x[1, 2], lambda a: a[1:2, 2].reshape(())),
    ("a new dimension", lambda x: x[:, None], lambda a: a[:, None]),
    ("an ellipsis", lambda x: x[..., 0], lambda a: a[..., 0]),
    ("view", lambda x: x.view(2, 6), lambda a: a.reshape(2, 6)),
    ("view with -1", lambda x: x.view(-1), lambda a: a.reshape(-1)),
    ("reshape", lambda x: x.reshape(4, 3), lambda a: a.reshape(4, 3)),
    ("flatten", lambda x: x.flatten(), lambda a: a.reshape(-1)),
    ("transpose", lambda x: x.transpose(0, 1), lambda a: a.T),
    ("permute", lambda x: x.permute(1, 0), lambda a: a.T),
    ("movedim", lambda x: x.movedim(0, -1), lambda a: a.T),
    ("unsqueeze", lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    ("squeeze", lambda x: x[:1].squeeze(0), lambda a: a[0]),
    ("diagonal", lambda x: x.diagonal(), lambda a: a.reshape(-1)[[0, 5, 10]]),
    ("a view of a view", lambda x: x[1:].transpose(0, 1)[2], lambda a: a[1:].T[2]),
]
COVERED = [np.isin(BASE, numpy_view(BASE)) for _, _, numpy_view in VIEWS]
every_view = pytest.mark.parametrize(
    ("view", "numpy_view", "covered"),
    [(*case[1:], covered) for case, covered in zip(VIEWS, COVERED, strict=True)],
    ids=[case[0] for case in VIEWS],
)


class TestMemory:
    @every_view
    def test_a_view_shows_the_numbers_of_its_base(self, view, numpy_view, covered):
        assert_close(view(const(BASE)), numpy_view(BASE))

    @every_view
    def test_a_change_of_the_view_is_a_change_of_the_base(self, view, numpy_view, covered):
        x = const(BASE)
        view(x).add_(100)
        assert_close(x, BASE + 100 * covered)

    @every_view
    def test_a_change_of_the_base_is_a_change_of_the_view(self, view, numpy_view, covered):
        x = const(BASE)
        v = view(x)
        x.add_(100)
        assert_close(v, numpy_view(BASE) + 100)

    def test_split_chunk_and_unbind_are_views(self):
        x = const(BASE)
        x.split(2)[0].fill_(-1)
        x.chunk(2, dim=1)[1].fill_(-2)
        x.unbind(1)[3].fill_(-3)
        expected = BASE.copy()
        expected[:2] = -1
        expected[:, 2:] = -2
        expected[:, 3] = -3
        assert_close(x, expected)

    def test_expand_and_broadcast_to_are_views(self):
        x = const([1.0, 2.0])
        expanded, broadcast = x.expand(3, 2), tp.broadcast_to(x, (3, 2))
        x.mul_(10)
        assert_close(expanded, [[10.0, 20.0]] * 3)
        assert_close(broadcast, [[10.0, 20.0]] * 3)

    def test_an_expanded_tensor_cannot_be_written(self):
        x = const([1.0, 2.0])
        with raises(RuntimeError, "add_", ["clone"]):
            x.expand(3, 2).add_(1)
        assert_close(x, [1.0, 2.0])
        assert x._version == 0

    @pytest.mark.parametrize(
        "copy",
        [
            lambda x: x.clone(),
            lambda x: x.flip(0),
            lambda x: x.roll(1),
            lambda x: x.repeat(1, 1),
            lambda x: x.transpose(0, 1).reshape(12),
            lambda x: tp.cat([x]),
            lambda x: tp.stack([x]),
            lambda x: x.tril(),
            lambda x: tp.tensor(x.tolist()),
        ],
        ids="clone flip roll repeat reshape cat stack tril tensor".split(),
    )
    def test_these_are_copies(self, copy):
        x = const(BASE)
        copy(x).zero_()
        assert_close(x, BASE)

    def test_view_needs_strides_that_allow_it(self):
        x = const(BASE).transpose(0, 1)
        with raises(RuntimeError, "view", [(12,), (4, 3), "reshape"]):
            x.view(12)
        assert_close(x.reshape(12), BASE.T.reshape(12))

    def test_contiguous_copies_only_what_is_not(self):
        x = const(BASE)
        assert x.contiguous() is x
        y = x.transpose(0, 1)
        assert x.is_contiguous()
        assert not y.is_contiguous()
        assert y.contiguous().is_contiguous()
        assert_close(y.contiguous(), BASE.T)


class TestVersions:
    def test_it_starts_at_zero_and_counts_in_place_operators(self):
        x = const([1.0, 2.0])
        assert x._version == 0
        x.add_(1)
        x *= 2
        x[0] = 5.0
        assert x._version == 3

    def test_other_operators_do_not_count(self):
        x = const([1.0, 2.0])
        x + 1
        x.exp().sum()
        x.view(2, 1)
        assert x._version == 0

    def test_results_and_clones_start_anew(self):
        x = const([1.0, 2.0])
        x.add_(1)
        assert (x * 2)._version == 0
        assert x.clone()._version == 0

    def test_views_and_their_base_share_it(self):
        x = const(BASE)
        row, rows = x[0], x[1:]
        row.add_(1)
        rows.transpose(0, 1).mul_(2)
        x.sub_(1)
        assert x._version == row._version == rows._version == 3

    def test_a_detached_tensor_shares_it(self):
        x = const([1.0, 2.0])
        x.detach().add_(1)
        assert x._version == 1

    def test_it_counts_under_no_grad(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            x.add_(1)
        assert x._version == 1


class TestInPlaceOperators:
    @pytest.mark.parametrize(
        ("name", "arguments", "expected"),
        [
            ("add_", (10,), [11.0, 14.0]),
            ("sub_", (1,), [0.0, 3.0]),
            ("mul_", (3,), [3.0, 12.0]),
            ("div_", (2,), [0.5, 2.0]),
            ("pow_", (2,), [1.0, 16.0]),
            ("neg_", (), [-1.0, -4.0]),
            ("sqrt_", (), [1.0, 2.0]),
            ("rsqrt_", (), [1.0, 0.5]),
            ("reciprocal_", (), [1.0, 0.25]),
            ("square_", (), [1.0, 16.0]),
            ("log_", (), [0.0, np.log(4.0)]),
            ("exp_", (), [np.e, np.exp(4.0)]),
            ("clamp_", (2, 3), [2.0, 3.0]),
            ("zero_", (), [0.0, 0.0]),
            ("fill_", (7,), [7.0, 7.0]),
        ],
    )
    def test_they_change_the_tensor_and_return_it(self, name, arguments, expected):
        x = const([1.0, 4.0])
        assert getattr(x, name)(*arguments) is x
        assert_close(x, expected)
        assert x._version == 1

    def test_augmented_assignment_is_in_place(self):
        x = const([1.0, 4.0])
        same = x
        x += 1
        x -= 3
        x *= const([2.0, 10.0])
        x /= 2
        x **= 2
        assert x is same
        assert_close(x, [1.0, 100.0])

    def test_the_operand_broadcasts_but_not_the_target(self):
        x = const([[1.0, 2.0], [3.0, 4.0]])
        x.add_(const([10.0, 20.0]))
        assert_close(x, [[11.0, 22.0], [13.0, 24.0]])
        row = const([1.0, 2.0])
        with raises(RuntimeError, "add_", [(2,), (2, 2)]):
            row.add_(x)
        assert_close(row, [1.0, 2.0])
        assert row._version == 0

    def test_copy_takes_values_and_gradients_over(self):
        x, y = leaf([1.0, 2.0]), tp.zeros(2, 2, dtype=tp.float64)
        assert y.copy_(x) is y
        assert_close(y, [[1.0, 2.0], [1.0, 2.0]])
        y.sum().backward()
        assert_close(x.grad, [2.0, 2.0])

    def test_masked_fill_and_scatter_in_place(self):
        x = const([1.0, 2.0, 3.0])
        x.masked_fill_(x > 2, 0.0)
        assert_close(x, [1.0, 2.0, 0.0])
        x.scatter_add_(0, tp.tensor([0, 0]), const([10.0, 20.0]))
        assert_close(x, [31.0, 2.0, 0.0])

    @pytest.mark.parametrize(
        ("name", "arguments", "expected"),
        [
            ("mul_", (3,), [3.0, 3.0]),
            ("exp_", (), [np.e, np.exp(4.0)]),
            ("sqrt_", (), [0.5, 0.25]),
            ("pow_", (3,), [3.0, 48.0]),
            ("log_", (), [1.0, 0.25]),
            ("zero_", (), [0.0, 0.0]),
            ("clamp_", (2, 5), [0.0, 1.0]),
            ("tanh_", (), 1 - np.tanh([1.0, 4.0]) ** 2),
            ("reciprocal_", (), [-1.0, -1 / 16]),
        ],
    )
    def test_they_are_differentiable(self, name, arguments, expected):
        x = leaf([1.0, 4.0])
        y = x * 1
        getattr(y, name)(*arguments)
        y.sum().backward()
        assert_close(x.grad, expected)

    def test_both_operands_receive_their_gradient(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        y = x * x
        y.mul_(w).sub_(w)
        y.sum().backward()
        assert_close(x.grad, [6.0, 16.0])
        assert_close(w.grad, [0.0, 3.0])

    def test_a_constant_joins_the_graph_when_one_is_added_to_it(self):
        x, total = leaf([1.0, 2.0]), tp.zeros(2, dtype=tp.float64)
        total += x * x
        assert total.requires_grad
        assert not total.is_leaf
        total.sum().backward()
        assert_close(x.grad, [2.0, 4.0])

    def test_earlier_results_keep_their_meaning(self):
        x = leaf([1.0, 2.0])
        y = x * 2
        before = y + 0
        y.add_(100)
        (before * y).sum().backward()  # 2 x (2 x + 100)
        assert_close(x.grad, [8.0 + 200.0, 16.0 + 200.0])


class TestLeavesThatRequireGrad:
    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.mul_(2),
            lambda x: x.zero_(),
            lambda x: x.copy_(x.detach() + 1),
            lambda x: x.__iadd__(1),
            lambda x: x.__setitem__(0, 5.0),
            lambda x: x.__setitem__(tp.tensor([0]), 5.0),
            lambda x: x[0].mul_(2),
            lambda x: x.view(2, 1).add_(1),
        ],
        ids="mul_ zero_ copy_ += setitem setitem_tensor through_row through_view".split(),
    )
    def test_they_cannot_be_changed_in_place(self, change):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError):
            change(x)
        assert_close(x, [1.0, 2.0])  # the error comes before the change
        assert x._version == 0
        assert x.is_leaf
        (x * x).sum().backward()
        assert_close(x.grad, [2.0, 4.0])

    def test_the_message_names_the_way_out(self):
        with raises(RuntimeError, "mul_", ["leaf", "no_grad"]):
            leaf([1.0, 2.0]).mul_(2)

    def test_under_no_grad_they_can(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            x[0].mul_(10)
            x -= 1
        assert_close(x, [9.0, 1.0])
        assert x.is_leaf
        assert x.requires_grad


class TestChangedSavedTensors:
    @pytest.mark.parametrize(
        "change",
        [
            lambda y: y.add_(1),
            lambda y: y[0].add_(1),
            lambda y: y.view(2, 1).mul_(2),
            lambda y: y.detach().add_(1),
            lambda y: y.__setitem__(0, 5.0),
        ],
        ids="itself through_row through_view through_detach by_index".split(),
    )
    def test_a_saved_input_is_an_error_at_backward(self, change):
        x = leaf([1.0, 2.0])
        y = x * 1
        z = (y * y).sum()
        change(y)
        with raises(RuntimeError, "backward", [(2,), "version"]):
            z.backward()
        assert x.grad is None

    def test_a_saved_output_is_an_error_at_backward(self):
        x = leaf([1.0, 2.0])
        y = x.exp()
        y.add_(1)
        with raises(RuntimeError, "backward", [(2,), "version"]):
            y.sum().backward()
        assert x.grad is None

    def test_a_saved_leaf_is_one_even_under_no_grad(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        with tp.no_grad():
            x.add_(1)
        with raises(RuntimeError, "backward", [(2,), "version"]):
            y.backward()

    def test_a_saved_view_is_one_when_its_base_changes(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * 1
        v = y[:2]
        z = (v * v).sum()
        y.add_(1)
        with raises(RuntimeError, "backward", [(2,), "version"]):
            z.backward()

    def test_a_saved_constant_is_one(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        y = (x * c).sum()
        c.add_(1)
        with raises(RuntimeError, "backward", [(2,), "version"]):
            y.backward()

    def test_grad_names_itself(self):
        x = leaf([1.0, 2.0])
        y = x * 1
        z = (y * y).sum()
        y.add_(1)
        with raises(RuntimeError, "grad", [(2,), "version"]):
            tp.autograd.grad(z, x)

    def test_what_was_not_saved_may_change(self):
        x = leaf([1.0, 2.0])
        y = x * 1
        z = (y + 3).sum() + y.sum() + (y * 2).sum()
        y.mul_(100)
        z.backward()
        assert_close(x.grad, [4.0, 4.0])

    def test_what_is_saved_after_the_change_is_right(self):
        x = leaf([1.0, 2.0])
        y = x * 1
        y.add_(10)
        (y * y).sum().backward()
        assert_close(x.grad, [22.0, 24.0])


class TestHistoryThroughViews:
    @every_view
    def test_a_change_of_a_view_enters_the_history_of_its_base(self, view, numpy_view, covered):
        x, weights = leaf(BASE), BASE + 1
        y = x * 1
        view(y).mul_(10)
        (y * const(weights)).sum().backward()
        assert_close(x.grad, weights * np.where(covered, 10.0, 1.0))

    @every_view
    def test_a_change_of_the_base_enters_the_history_of_its_views(self, view, numpy_view, covered):
        x = leaf(BASE)
        y = x * 1
        v = view(y)
        y.mul_(10)
        v.sum().backward()
        assert_close(x.grad, 10.0 * covered)

    def test_the_example_of_one_element(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * x
        y[0].mul_(2)
        y.sum().backward()
        assert_close(x.grad, [4.0, 4.0, 6.0])

    def test_a_view_shows_the_history_of_a_sibling(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * 1
        first_two, last_two = y[:2], y[1:]
        first_two.mul_(10)
        last_two.add_(x[:2])
        # y = [10 x0, 10 x1 + x0, x2 + x1]
        first_two.sum().backward(retain_graph=True)
        assert_close(x.grad, [11.0, 10.0, 0.0])
        x.grad = None
        last_two.sum().backward(retain_graph=True)
        assert_close(x.grad, [1.0, 11.0, 1.0])
        x.grad = None
        y.sum().backward()
        assert_close(x.grad, [11.0, 11.0, 1.0])

    def test_several_changes_follow_each_other(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * 1
        y[0].mul_(2)
        y.mul_(3)
        y[0].add_(y[1])
        y[2] = 0.0
        # y = [6 x0 + 3 x1, 3 x1, 0]
        y.sum().backward()
        assert_close(x.grad, [6.0, 6.0, 0.0])

    def test_a_view_of_a_view(self):
        x = leaf(BASE)
        y = x * 1
        rows = y[1:]
        corner = rows[:, 2:]
        corner.mul_(10)
        rows[0].mul_(2)
        expected = np.ones((3, 4))
        expected[1:, 2:] *= 10
        expected[1] *= 2
        y.sum().backward(retain_graph=True)
        assert_close(x.grad, expected)
        x.grad = None
        corner.sum().backward()
        expected[:1] = expected[:, :2] = 0
        assert_close(x.grad, expected)

    def test_a_constant_base_joins_the_graph(self):
        x, base = leaf([1.0, 2.0]), tp.zeros(3, dtype=tp.float64)
        base[:2].add_(x * x)
        assert base.requires_grad
        assert not base.is_leaf
        (base * const([1.0, 10.0, 100.0])).sum().backward()
        assert_close(x.grad, [2.0, 40.0])

    def test_views_made_before_their_base_joined_the_graph_join_too(self):
        x, base = leaf([1.0, 2.0, 3.0]), tp.zeros(3, dtype=tp.float64)
        tail = base[1:]
        base.add_(x)
        assert tail.requires_grad
        tail.sum().backward()
        assert_close(x.grad, [0.0, 1.0, 1.0])

    def test_second_derivatives(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y[0].mul_(x[1])  # x0^2 x1
        (first,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        assert_close(first, [4.0, 1.0 + 4.0])
        (second,) = tp.autograd.grad(first[0], x)
        assert_close(second, [4.0, 2.0])


class TestDetach:
    def test_it_shares_memory_and_leaves_the_graph(self):
        x = leaf([1.0, 2.0])
        y = x * 2
        d = y.detach()
        assert not d.requires_grad
        assert d.grad_fn is None
        assert d.is_leaf
        d[0] = 9.0
        assert_close(y, [9.0, 4.0])
        assert y.requires_grad

    def test_it_stops_gradients(self):
        x = leaf([1.0, 2.0])
        (x * x.detach()).sum().backward()
        assert_close(x.grad, [1.0, 2.0])

    def test_a_detached_tensor_can_become_a_leaf_of_its_own(self):
        x = leaf([1.0, 2.0])
        d = (x * 2).detach().requires_grad_()
        (d * d).sum().backward()
        assert_close(d.grad, [4.0, 8.0])
        assert x.grad is None

    def test_in_place(self):
        x = leaf([1.0, 2.0])
        y = x * 2
        assert y.detach_() is y
        assert not y.requires_grad
        assert y.is_leaf

    def test_clone_copies_and_stays_in_the_graph(self):
        x = leaf([1.0, 2.0])
        y = x.clone()
        y.mul_(3)
        y.sum().backward()
        assert_close(x, [1.0, 2.0])
        assert_close(x.grad, [3.0, 3.0])
        assert_close(y, [3.0, 6.0])
