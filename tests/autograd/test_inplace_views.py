"""In-place operators and views: how history follows a write, and what is refused."""

import numpy as np
import pytest

import tensorplay as tp

from .support import ON_TORCH, array, beyond_torch, close, const, leaf, raises

VIEWS = {
    "select": lambda x: x[0],
    "slice": lambda x: x[:, 1:],
    "step": lambda x: x[:, ::2],
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(4, 3),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "diagonal": lambda x: x.diagonal(),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "permute": lambda x: x.view(3, 2, 2).permute(2, 0, 1),
    "flatten": lambda x: x.view(3, 2, 2).flatten(1),
    "unfold": lambda x: x.unfold(1, 2, 2),
    "as_strided": lambda x: x.as_strided((2, 2), (4, 1), 1),
    "two": lambda x: x[1:].t()[1:3],
    "three": lambda x: x.view(-1)[2:10].view(2, 4)[:, ::2],
    "view_as": lambda x: x.view_as(x),
    "element": lambda x: x[1, 2],
    "ellipsis": lambda x: x[..., 1],
    "detached twice": lambda x: x.movedim(0, 1).swapaxes(0, 1),
}
every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
BASE = np.arange(12.0).reshape(3, 4) / 10 + 0.1
WEIGHT = np.random.default_rng(0).normal(size=(3, 4))


class TestThroughViews:
    """The gradient through a changed view equals that of the same thing out of place."""

    def reference(self, view, change):
        """By finite differences of plain NumPy arithmetic."""
        out = np.zeros_like(BASE)
        for index in np.ndindex(BASE.shape):
            values = []
            for step in (1e-6, -1e-6):
                x = BASE.copy()
                x[index] += step
                y = tp.tensor(x, dtype=tp.float64)
                v = view(y)
                change(v)
                values.append(float((y * const(WEIGHT)).sum() + 3 * (v * v).sum()))
            out[index] = (values[0] - values[1]) / 2e-6
        return out

    @every_view
    @pytest.mark.parametrize(
        "change",
        [
            lambda v: v.mul_(2),
            lambda v: v.exp_(),
            lambda v: v.add_(3 * v),
            lambda v: v.zero_(),
            lambda v: v.mul_(3).sin_(),
        ],
        ids=["mul_", "exp_", "add_ itself", "zero_", "twice"],
    )
    def test_gradient(self, view, change):
        x = leaf(BASE)
        y = x.clone()
        v = view(y)
        change(v)
        ((y * const(WEIGHT)).sum() + 3 * (v * v).sum()).backward()
        close(x.grad, self.reference(view, change), rtol=1e-5, atol=1e-7)

    @every_view
    def test_a_sibling_view_sees_the_change(self, view):
        x = leaf(BASE)
        y = x.clone()
        whole = y.view(-1)
        v = view(y)
        v.mul_(const(2.0))
        whole.sum().backward()
        covered = np.zeros_like(BASE)
        seen = view(const(np.arange(12.0).reshape(3, 4))).numpy().astype(int).ravel()
        covered.ravel()[seen] = 1
        close(x.grad, 1 + covered)

    @every_view
    def test_the_base_is_changed_and_the_view_used(self, view):
        x = leaf(BASE)
        y = x.clone()
        v = view(y)
        y.mul_(const(WEIGHT))
        (v * v).sum().backward()
        z = leaf(BASE)
        w = view(z * const(WEIGHT))
        (w * w).sum().backward()
        close(x.grad, z.grad)

    def test_grad_fn_of_view_and_base(self):
        x = leaf(BASE).clone()
        v = x[0]
        v.mul_(2)
        assert x.grad_fn.name().endswith("CopySlices")
        assert v.grad_fn.next_functions[0][0] is x.grad_fn

    def test_a_plain_base_gets_the_history_of_what_is_written(self):
        w = leaf([1.0, 2.0])
        x = const(np.ones((2, 2)))
        v = x[0]
        v.mul_(w)
        assert x.requires_grad
        (x * x).sum().backward()
        close(w.grad, [2.0, 4.0])

    def test_a_change_of_a_view_of_a_view_reaches_all(self):
        x = leaf(np.ones((2, 3)))
        y = x * 1
        row = y[0]
        cell = row[1:2]
        cell.mul_(5)
        close(y, [[1, 5, 1], [1, 1, 1]])
        (row * 2).sum().backward(retain_graph=True)
        close(x.grad, [[2.0, 10.0, 2.0], [0.0, 0.0, 0.0]])
        assert cell.grad_fn is not None
        assert cell._base is y
        assert row._version == y._version == cell._version == 1

    def test_double_backward_through_a_changed_view(self):
        x = leaf([2.0, 3.0])
        y = x * 1
        y[0:1].mul_(x[0:1] * x[0:1])
        (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        close(g, [12.0, 1.0])
        (h,) = tp.autograd.grad(g.sum(), x)
        close(h, [12.0, 0.0])

    def test_forward_mode_through_a_changed_view(self):
        def f(x):
            y = x * 1
            y[0].mul_(3)
            y[1:].sin_()
            return y

        x = const([1.0, 2.0])
        _, t = tp.func.jvp(f, (x,), (const([1.0, 10.0]),))
        close(t, [3.0, 10 * np.cos(2.0)])

    @beyond_torch
    def test_under_vmap_and_grad(self):
        def f(x):
            y = x * 1
            y[0].mul_(3)
            y[1:] = x[1:] ** 2
            return (y * y).sum()

        x = const(np.random.default_rng(0).normal(size=(5, 4)))
        g = tp.vmap(tp.func.grad(f))(x)
        expected = 4 * x.numpy() ** 3
        expected[:, 0] = 18 * x.numpy()[:, 0]
        close(g, expected)
        close(tp.func.grad(lambda x: tp.vmap(f)(x).sum())(x), expected)


class TestVersions:
    def test_shared_among_views_and_detached_aliases(self):
        x = const(BASE)
        v, d = x[0], x.detach()
        x.mul_(2)
        v.add_(1)
        d.sub_(1)
        assert x._version == v._version == d._version == 3

    def test_data_has_a_version_of_its_own(self):
        x = leaf(BASE)
        y = x * x
        x.data.mul_(2)
        assert x._version == 0
        y.sum().backward()

    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.mul_(2),
            lambda x: x[0].mul_(2),
            lambda x: x.detach().mul_(2),
            lambda x: x.view(-1)[3:].zero_(),
            lambda x: x.__setitem__((0, 0), 5.0),
            lambda x: x.copy_(x * 2),
            lambda x: tp.mul(x.detach(), 2, out=x.detach()),
            lambda x: x.fill_diagonal_(0.0),
            lambda x: x.clamp_(0.0, 0.5),
            lambda x: x.index_fill_(0, tp.tensor([0]), 1.0),
            lambda x: x.normal_(),
        ],
    )
    def test_every_change_of_a_saved_tensor_is_noticed(self, change):
        w = leaf(BASE)
        x = w * 1
        y = x * x
        with tp.no_grad():
            change(x)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_a_saved_view_notices_a_change_of_its_base(self):
        x = leaf(BASE) * 1
        v = x[0]
        y = v.exp() + v * v
        x.mul_(2)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_a_saved_output_is_checked_too(self):
        y = leaf(BASE).exp()
        y.add_(1)
        with raises(RuntimeError, "ExpBackward0"):
            y.sum().backward()

    def test_what_nobody_saved_may_be_changed(self):
        x = leaf(BASE)
        y = x * 1
        z = y + 1
        y.mul_(2)
        (z + y).sum().backward()
        close(x.grad, np.full((3, 4), 3.0))

    def test_the_message_says_what_and_where(self):
        x = leaf(BASE) * 1
        y = x * x
        x.mul_(2)
        with raises(RuntimeError, "MulBackward0", "[3, 4]", "float64", "version 1", "version 0"):
            y.sum().backward()

    def test_checked_before_anything_is_accumulated(self):
        a, b = leaf([1.0]), leaf([1.0])
        x = a * 1
        y = x * x + b * 2
        x.mul_(2)
        with raises(RuntimeError):
            y.sum().backward()
        if not ON_TORCH:
            assert b.grad is None


class TestLeaves:
    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.mul_(2),
            lambda x: x.zero_(),
            lambda x: x.__setitem__(0, 5.0),
            lambda x: x.copy_(tp.ones(3, 4, dtype=tp.float64)),
            lambda x: x.fill_(1.0),
            lambda x: x[0].mul_(2),
            lambda x: x.view(-1).zero_(),
            lambda x: x[0].fill_(2.0),
            lambda x: x.exp_(),
            lambda x: x.normal_(),
            lambda x: x.add_(x),
            lambda x: x.__iadd__(1),
        ],
    )
    def test_a_leaf_that_needs_grad_is_refused_before_it_is_changed(self, change):
        x = leaf(BASE)
        with raises(RuntimeError, "leaf"):
            change(x)
        close(x, BASE)
        assert x._version == 0

    def test_under_no_grad_it_may_be_changed(self):
        x = leaf(BASE)
        with tp.no_grad():
            x.mul_(2)
            x[0].zero_()
            x[1] = 5.0
        assert x.is_leaf
        assert x.requires_grad
        (x * x).sum().backward()
        close(x.grad, 2 * x.detach())

    def test_a_leaf_that_needs_no_grad_takes_over_history(self):
        w = leaf([1.0, 2.0])
        x = const([3.0, 4.0])
        x.mul_(w)
        assert x.requires_grad
        assert not x.is_leaf
        x.sum().backward()
        close(w.grad, [3.0, 4.0])


class TestCuttingHistory:
    @pytest.mark.parametrize(
        "cut",
        [
            lambda y: y.zero_(),
            lambda y: y.fill_(3.0),
            lambda y: y.copy_(const([5.0, 6.0])),
            lambda y: y.__setitem__(slice(None), 4.0),
        ],
    )
    def test_what_was_overwritten_gets_no_gradient(self, cut):
        x = leaf([1.0, 2.0])
        other = leaf([1.0, 1.0])
        y = x * 3
        cut(y)
        (y * other).sum().backward()
        if x.grad is not None:
            close(x.grad, [0.0, 0.0])
        close(other.grad, y)

    def test_copy_takes_over_the_history_of_the_source(self):
        x, source = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        y = x * 3
        y.copy_(source * 2)
        y.sum().backward()
        close(source.grad, [2.0, 2.0])
        if x.grad is not None:
            close(x.grad, [0.0, 0.0])

    def test_copy_broadcasts_and_converts(self):
        source = leaf([[1.0], [2.0]], tp.float64)
        y = tp.zeros(2, 3, dtype=tp.float32)
        y.copy_(source)
        assert y.dtype == tp.float32
        y.sum().backward()
        close(source.grad, [[3.0], [3.0]])
        assert source.grad.dtype == tp.float64

    def test_fill_with_a_tensor_is_differentiable(self):
        value = leaf(2.0)
        y = const([1.0, 2.0, 3.0])
        y.fill_(value)
        (y * const([1.0, 10.0, 100.0])).sum().backward()
        close(value.grad, 111.0)

    def test_detach_in_place(self):
        x = leaf([1.0])
        y = x * 2
        y.detach_()
        assert not y.requires_grad
        assert y.is_leaf
        y.requires_grad_()
        (y * 3).sum().backward()
        close(y.grad, [3.0])
        assert x.grad is None

    def test_a_view_cannot_be_detached_in_place(self):
        y = (leaf(BASE) * 1)[0]
        with raises(RuntimeError, "detach_"):
            y.detach_()

    def test_detach_shares_memory(self):
        x = leaf([1.0, 2.0])
        d = x.detach()
        assert not d.requires_grad
        d[0] = 9.0
        close(x, [9.0, 2.0])
        assert x._version == d._version == 1


class TestAssignment:
    def test_gradient_to_the_value_and_zero_to_what_was_overwritten(self):
        x, v = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
        y = x * 2
        y[1:] = v
        (y * const([1.0, 10.0, 100.0])).sum().backward()
        close(x.grad, [2.0, 0.0, 0.0])
        close(v.grad, [10.0, 100.0])

    def test_by_a_mask(self):
        x, v = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
        y = x * 2
        y[tp.tensor([True, False, True])] = v
        (y * const([1.0, 10.0, 100.0])).sum().backward()
        close(x.grad, [0.0, 20.0, 0.0])
        close(v.grad, [1.0, 100.0])

    def test_one_value_for_a_mask(self):
        x, v = leaf([1.0, 2.0, 3.0]), leaf(7.0)
        y = x * 2
        y[y > 3] = v
        y.sum().backward()
        close(x.grad, [2.0, 0.0, 0.0])
        close(v.grad, 2.0)

    def test_by_an_index_tensor(self):
        x, v = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
        y = x * 2
        y[tp.tensor([1, 0]), tp.tensor([0, 1])] = v
        (y * const([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
        close(v.grad, [3.0, 2.0])
        close(x.grad, [[2.0, 0.0], [0.0, 8.0]])

    def test_into_a_plain_tensor(self):
        v = leaf([5.0])
        y = tp.zeros(3, dtype=tp.float64)
        y[1:2] = v * 2
        assert y.requires_grad
        y.sum().backward()
        close(v.grad, [2.0])

    def test_a_tensor_of_itself(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * 1
        y[1:] = y[:-1] * 2
        close(y, [1.0, 2.0, 4.0])
        y.sum().backward()
        close(x.grad, [3.0, 2.0, 0.0])

    @beyond_torch
    def test_overlapping_without_grad(self):
        y = const([1.0, 2.0, 3.0])
        y[1:] = y[:-1]
        close(y, [1.0, 1.0, 2.0])

    def test_augmented_assignment(self):
        x = leaf([1.0, 2.0])
        y = x * 1
        y[0] *= 5
        y += 1
        y[1] -= x[0]
        y.sum().backward()
        close(x.grad, [4.0, 1.0])

    def test_growing_a_buffer_row_by_row(self):
        x = leaf([2.0])
        out = tp.zeros(4, 1, dtype=tp.float64)
        value = x
        for i in range(4):
            out[i] = value
            value = value * x
        out.sum().backward()
        close(x.grad, [1 + 4 + 12 + 32.0])


class TestSeveralViews:
    @pytest.mark.parametrize(
        "split",
        [
            lambda x: x.split(1),
            lambda x: x.chunk(3),
            lambda x: x.unbind(0),
            lambda x: x.split([1, 1, 1]),
        ],
    )
    def test_one_of_several_cannot_be_changed_in_place(self, split):
        x = leaf(BASE) * 1
        part = split(x)[1]
        with raises(RuntimeError, "mul_"):
            part.mul_(2)
        with raises(RuntimeError, "mul_"):
            part[0:1].mul_(2)
        close(x, BASE)

    def test_without_grad_they_are_ordinary_views(self):
        x = const(BASE)
        x.unbind(0)[1].mul_(2)
        close(x[1], 2 * BASE[1])

    @beyond_torch
    def test_they_follow_a_change_of_their_base(self):
        x = leaf(BASE)
        y = x * 1
        parts = y.unbind(0)
        y.mul_(3)
        (parts[1] * 2).sum().backward()
        expected = np.zeros((3, 4))
        expected[1] = 6.0
        close(x.grad, expected)

    def test_iteration_over_rows(self):
        x = leaf(BASE)
        total = 0
        for i, row in enumerate(x):
            total = total + (i + 1) * row.sum()
        total.backward()
        close(x.grad, np.repeat([[1.0], [2.0], [3.0]], 4, 1))


class TestNoGradViews:
    def test_a_view_made_under_no_grad_cannot_be_changed_with_grad(self):
        x = leaf(BASE) * 1
        with tp.no_grad():
            v = x[0]
        with raises(RuntimeError, "no_grad"):
            v.mul_(2)
        close(x, BASE)

    def test_nor_take_a_value_with_history(self):
        x = const(BASE)
        with tp.no_grad():
            v = x[0]
        with raises(RuntimeError, "no_grad"):
            v.mul_(leaf([2.0] * 4))
        close(x, BASE)
        v.mul_(2)
        close(x[0], 2 * BASE[0])

    def test_using_it_after_its_base_was_changed_with_grad_is_refused(self):
        x = leaf(BASE) * 1
        with tp.no_grad():
            v = x[0]
        x.mul_(2)
        with raises(RuntimeError, "no_grad"):
            (v * 2).sum()

    def test_changed_under_no_grad_it_is_data(self):
        x = leaf(BASE)
        with tp.no_grad():
            v = x[0]
            v.fill_(7.0)
            close(v * 2, np.full(4, 14.0))
        close(x[0], np.full(4, 7.0))
        (x * x).sum().backward()
        close(x.grad[0], np.full(4, 14.0))

    @beyond_torch
    def test_it_needs_no_grad(self):
        x = leaf(BASE) * 1
        with tp.no_grad():
            v = x[0]
        assert not v.requires_grad
        assert not (v * 2).requires_grad
        with tp.no_grad():
            x.mul_(2)
        assert not v.requires_grad

    def test_a_view_with_grad_of_what_was_changed_under_no_grad(self):
        x = leaf(BASE)
        y = x * 1
        v = y[0]
        with tp.no_grad():
            y.mul_(2)
        (v * 3).sum().backward()
        close(x.grad[0], np.full(4, 3.0))


class TestRequiresGrad:
    def test_only_floating_point_and_complex(self):
        with raises(RuntimeError, "requires_grad"):
            tp.tensor([1]).requires_grad_()

    def test_it_cannot_be_turned_off_inside_the_graph(self):
        y = leaf([1.0]) * 2
        with raises(RuntimeError, "detach"):
            y.requires_grad_(False)

    def test_on_a_view_of_a_plain_tensor(self):
        x = const(BASE)
        v = x[0]
        v.requires_grad_()
        assert v.is_leaf
        assert not x.requires_grad
        with raises(RuntimeError, "leaf"):
            v.mul_(2)
        x.mul_(2)
        assert v.requires_grad
        assert v.is_leaf
        (v * v).sum().backward()
        close(v.grad, 4 * BASE[0])

    def test_a_view_of_a_later_leaf_is_refused(self):
        x = const(BASE)
        v = x[0]
        x.requires_grad_()
        with raises(RuntimeError, "leaf"):
            v.mul_(2)


class TestOut:
    def test_without_grad(self):
        x, out = const([1.0, 4.0]), tp.empty(2, dtype=tp.float64)
        address = out.data_ptr()
        result = tp.sqrt(x, out=out)
        assert result is out
        assert out.data_ptr() == address
        close(out, [1.0, 2.0])

    def test_into_a_view(self):
        x = const(BASE)
        tp.add(x[0], 1, out=x[1])
        close(x[1], BASE[0] + 1)
        assert x._version == 1

    def test_with_grad_it_is_refused(self):
        x, out = leaf([1.0, 4.0]), tp.empty(2, dtype=tp.float64)
        with raises(RuntimeError, "out"):
            tp.sqrt(x, out=out)
        with raises(RuntimeError, "out"):
            tp.sqrt(const([1.0, 4.0]), out=leaf([0.0, 0.0]))
        with tp.no_grad():
            tp.sqrt(x, out=out)
        close(out, [1.0, 2.0])

    def test_another_shape_resizes_with_a_warning(self):
        out = tp.empty(3, dtype=tp.float64)
        with pytest.warns(UserWarning, match="resized"):
            tp.sqrt(const([1.0, 4.0]), out=out)
        close(out, [1.0, 2.0])

    def test_another_dtype(self):
        out = tp.empty(2, dtype=tp.int64)
        with raises(RuntimeError, "cast"):
            tp.sqrt(const([1.0, 4.0]), out=out)


class TestGradBuffers:
    def test_grad_shares_memory_with_nothing(self):
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        cotangent = const([1.0, 1.0])
        (x + y).backward(cotangent)
        x.grad.mul_(100)
        close(y.grad, [1.0, 1.0])
        close(cotangent, [1.0, 1.0])

    def test_accumulating_works_in_place(self):
        x = leaf([1.0, 2.0])
        (x * 2).sum().backward()
        grad = x.grad
        address = grad.data_ptr()
        (x * 3).sum().backward()
        assert x.grad is grad
        assert x.grad.data_ptr() == address
        close(grad, [5.0, 5.0])

    def test_with_create_graph_the_old_one_is_left_alone(self):
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        old = x.grad
        tp.autograd.backward((x * x).sum(), inputs=[x], retain_graph=True)
        assert x.grad is old
        old_values = old.clone()
        g = tp.autograd.grad((x * x).sum(), x, create_graph=True)[0]
        g.sum().backward()
        close(x.grad, old_values + 2)

    def test_an_expanded_cotangent_becomes_memory(self):
        x = leaf([1.0, 2.0, 3.0])
        x.sum().backward()
        x.grad[0] = 5.0
        close(x.grad, [5.0, 1.0, 1.0])

    def test_the_same_leaf_twice(self):
        x = leaf([1.0, 2.0])
        (x + x).backward(const([1.0, 1.0]))
        close(x.grad, [2.0, 2.0])

    def test_assigning_grad(self):
        x = leaf([1.0, 2.0])
        x.grad = const([1.0, 1.0])
        (x * 2).sum().backward()
        close(x.grad, [3.0, 3.0])
        x.grad = None
        assert x.grad is None
        for wrong, kind in (
            (tp.ones(3, dtype=tp.float64), RuntimeError),
            (tp.ones(2, dtype=tp.float32), RuntimeError),
            (5, TypeError),
        ):
            with raises(kind, "grad"):
                x.grad = wrong
        with raises(RuntimeError, "grad"):
            x.grad = x


class TestExpanded:
    def test_an_expanded_tensor_cannot_be_written(self):
        x = tp.zeros(3, 1, dtype=tp.float64).expand(3, 4)
        with raises(RuntimeError, "clone"):
            x.add_(1)
        with raises(RuntimeError, "clone"):
            x[:, 0:2] = 1.0

    def test_shapes_and_dtypes_stay(self):
        x = tp.zeros(3, dtype=tp.float64)
        with raises(RuntimeError, "add_", "[2, 3]", "[3]"):
            x.add_(tp.ones(2, 3, dtype=tp.float64))
        n = tp.zeros(3, dtype=tp.int64)
        with raises(RuntimeError, "add_", "int64"):
            n.add_(1.5)
        assert x._version == n._version == 0


class TestAnotherForm:
    """`t_`, `unsqueeze_` and their kin: the memory stays, with the history and with its views."""

    FORMS = {
        "t_": lambda x: x.t_(),
        "unsqueeze_": lambda x: x.unsqueeze_(1),
        "squeeze_": lambda x: x.unsqueeze_(0).squeeze_(),
        "transpose_": lambda x: x.transpose_(0, 1),
        "twice": lambda x: x.t_().unsqueeze_(0),
    }
    VIEWS = {
        "transpose": lambda x: x.t(),
        "row": lambda x: x[1],
        "column": lambda x: x[:, 1],
        "flat": lambda x: x.view(-1),
        "diagonal of a slice": lambda x: x[:, 1:].diagonal(),
    }

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("view", VIEWS)
    def test_views_made_before_follow_changes_made_after(self, form, view):
        start = np.arange(6.0).reshape(2, 3)
        weights = leaf(start + 1)
        x = weights * 1
        v = self.VIEWS[view](x)
        self.FORMS[form](x)
        x.mul_(3)
        close(v, 3 * array(self.VIEWS[view](const(start + 1))))
        v.sin().sum().backward()
        expected = leaf(start + 1)
        self.VIEWS[view](expected * 3).sin().sum().backward()
        close(weights.grad, expected.grad)

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("view", VIEWS)
    def test_changes_of_such_a_view_reach_the_tensor(self, form, view):
        start = np.arange(6.0).reshape(2, 3) / 5
        w = leaf(start)
        x = w * 1
        v = self.VIEWS[view](x)
        self.FORMS[form](x)
        v.mul_(2)
        (x.sin() * 5).sum().backward()
        expected = leaf(start)
        y = expected * 1
        self.VIEWS[view](y).mul_(2)
        (y.sin() * 5).sum().backward()
        close(w.grad, expected.grad)

    @beyond_torch  # which leaves the history behind: a gradient of the wrong shape, or elements
    @pytest.mark.parametrize("form", FORMS)
    def test_under_no_grad_the_history_follows(self, form):
        w = leaf(np.arange(6.0).reshape(2, 3))
        x = w * 2
        with tp.no_grad():
            self.FORMS[form](x)
        factor = np.random.default_rng(0).normal(size=tuple(x.shape))
        assert x.requires_grad
        (x * const(factor)).sum().backward()
        expected = leaf(np.arange(6.0).reshape(2, 3))
        y = expected * 2
        self.FORMS[form](y)
        (y * const(factor)).sum().backward()
        close(w.grad, expected.grad)

    def test_a_leaf_stays_one(self):
        w = leaf(np.ones((2, 3)))
        with tp.no_grad():
            w.t_()
        assert w.is_leaf and tuple(w.shape) == (3, 2)
        (w * 2).sum().backward()
        assert tuple(w.grad.shape) == (3, 2)

    @beyond_torch
    def test_inside_vmap(self):
        def f(x):
            y = x * 1
            row = y[0]
            y.t_()
            y.mul_(2)
            return row * 3

        x = const(np.arange(12.0).reshape(2, 2, 3))
        close(tp.vmap(f)(x), 6 * array(x)[:, 0])
        grads = tp.vmap(tp.func.grad(lambda x: f(x).sum()))(x)
        close(grads, np.stack([[[6.0] * 3, [0.0] * 3]] * 2))

    @beyond_torch
    def test_a_view_of_memory_that_is_gone_is_refused(self):
        x = const(np.ones((2, 3)))
        v = x[0]
        x.data = const(np.zeros((2, 3)))
        with raises(RuntimeError, "other memory", "again"):
            v.add_(leaf(np.ones(3)))


class TestRetainedViews:
    def test_the_gradient_is_that_of_the_view_as_it_is_now(self):
        w = leaf([1.0, 2.0, 3.0])
        x = w * 1
        v = x[:2]
        v.retain_grad()
        v.mul_(3)
        (v * 5 + x[:2]).sum().backward()
        close(v.grad, [5.0, 5.0])
        close(w.grad, [18.0, 18.0, 0.0])

    def test_after_a_change_of_its_base(self):
        w = leaf([1.0, 2.0, 3.0])
        x = w * 1
        v = x[:2]
        v.retain_grad()
        x.mul_(3)
        (v * 5).sum().backward()
        close(v.grad, [5.0, 5.0])
        close(w.grad, [15.0, 15.0, 0.0])


class TestValuesOfMasks:
    """`x[mask] = v`: v is broadcast to the elements that the mask chooses."""

    @pytest.mark.parametrize("shape", [(), (1,), (1, 1), (4,), (1, 4), (1, 1, 4)])
    @pytest.mark.parametrize("recorded", [True, False])
    def test_shapes_that_fit(self, shape, recorded):
        mask = tp.tensor([[True, False, True], [False, True, True]])
        values = np.arange(1.0, 5.0)[: int(np.prod(shape))].reshape(shape)
        w, v = leaf(np.zeros((2, 3))), leaf(values)
        if recorded:
            x = w * 1
            x[mask] = v
            (x * const([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
            weights = np.array([1.0, 3.0, 5.0, 6.0])
            full = np.broadcast_to(values, (1, 1, 4)).shape
            close(v.grad, weights.reshape(full).sum().reshape(shape) if values.size == 1
                  else weights.reshape(shape))  # fmt: skip
            close(w.grad, [[0.0, 2.0, 0.0], [4.0, 0.0, 0.0]])
        else:
            x = const(np.zeros((2, 3)))
            x[mask] = v.detach()
        expected = np.zeros((2, 3))
        expected[mask.numpy()] = values.reshape(-1)
        close(x, expected)

    @pytest.mark.parametrize("shape", [(4, 1), (3,), (2, 2), (2, 4), (0,), (1, 3)])
    @pytest.mark.parametrize("recorded", [True, False])
    def test_shapes_that_do_not(self, shape, recorded):
        mask = tp.tensor([[True, False, True], [False, True, True]])
        x = const(np.zeros((2, 3)))
        v = (leaf if recorded else const)(np.ones(shape))
        with raises(RuntimeError, "setitem", str(list(shape)), "[4]"):
            x[mask] = v
        close(x, np.zeros((2, 3)))
        assert x._version == 0


class TestFillingExpanded:
    def test_zeros_everywhere_are_fine(self):
        base = const([[1.0], [2.0]])
        base.expand(2, 3).zero_()
        close(base, [[0.0], [0.0]])

    @beyond_torch  # whose backward pass fails
    def test_also_with_a_history(self):
        w = leaf([[1.0], [2.0]])
        x = w * 1
        x.expand(2, 3).zero_()
        (x * 3 + w).sum().backward()
        close(w.grad, [[1.0], [1.0]])
