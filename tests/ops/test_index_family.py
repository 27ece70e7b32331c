"""Indexing, gather and scatter, joining and sorting: what the operator table does not say."""

import contextlib
import re

import numpy as np
import pytest

import tensorplay as tp


def leaf(values):
    return tp.tensor(values, dtype=tp.float64, requires_grad=True)


def const(values):
    return tp.tensor(values, dtype=tp.float64)


def assert_close(actual, expected):
    actual, expected = (
        v.detach().numpy() if isinstance(v, tp.Tensor) else np.asarray(v)
        for v in (actual, expected)
    )
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-9)


@contextlib.contextmanager
def raises(kind, names, mentions=()):
    """An error whose message starts with one of the names and mentions strings and shapes."""
    with pytest.raises(kind) as caught:
        yield
    message = str(caught.value)
    names = (names,) if isinstance(names, str) else names
    assert re.match("|".join(map(re.escape, names)), message), message
    for mention in mentions:
        if isinstance(mention, tuple):
            mention = str(list(mention))
        assert mention in message, message


def ints(*values):
    return tp.tensor(values, dtype=tp.int64)


X = np.arange(12.0).reshape(3, 4)
ROWS = np.full((2, 4), -1.0)

# Name, arguments of the function and of its in-place form.
CHANGES = [
    ("index_add", (0, ints(0, 2), const(ROWS))),
    ("index_copy", (0, ints(0, 2), const(ROWS))),
    ("index_fill", (1, ints(0, -1), 5.0)),
    ("index_put", ((ints(0, 2),), const(ROWS))),
    ("index_reduce", (0, ints(0, 0), const(ROWS), "mean")),
    ("masked_fill", (const(X) > 4, -1.0)),
    ("masked_scatter", (const(X) > 4, const(-X))),
    ("put", (ints(0, 11), const([5.0, 6.0]))),
    ("scatter", (1, tp.tensor([[0], [1]]), const([[5.0], [6.0]]))),
    ("scatter_add", (1, tp.tensor([[0], [1]]), const([[5.0], [6.0]]))),
    ("scatter_reduce", (1, tp.tensor([[0], [1]]), const([[5.0], [6.0]]), "prod")),
]
changes = pytest.mark.parametrize(("name", "args"), CHANGES, ids=[c[0] for c in CHANGES])


class TestChangingAPart:
    @changes
    def test_the_function_leaves_its_input_alone(self, name, args):
        x = const(X)
        y = getattr(x, name)(*args)
        assert_close(x, X)
        assert not np.array_equal(y.numpy(), X)
        assert x._version == 0

    @changes
    def test_in_place_is_the_same_change_of_the_same_memory(self, name, args):
        x = const(X)
        array = x.numpy()
        y = getattr(x, name + "_")(*args)
        assert y is x
        assert_close(array, getattr(const(X), name)(*args))
        assert x._version == 1

    @changes
    def test_in_place_of_a_view_that_is_not_contiguous(self, name, args):
        base = const(np.zeros((4, 3)))
        base.t().copy_(const(X))
        getattr(base.t(), name + "_")(*args)
        assert_close(base.t(), getattr(const(X), name)(*args))

    @changes
    def test_in_place_on_a_recorded_tensor(self, name, args):
        x, y = leaf(X), leaf(X)
        weights = const(X * X - 7)
        (getattr(x * 1, name + "_")(*args) * weights).sum().backward()
        (getattr(y, name)(*args) * weights).sum().backward()
        assert_close(x.grad, y.grad)

    @changes
    def test_a_leaf_that_requires_grad_is_not_changed(self, name, args):
        x = leaf(X)
        with raises(RuntimeError, name + "_", ["leaf"]):
            getattr(x, name + "_")(*args)
        assert_close(x, X)

    def test_a_tensor_added_into_itself(self):
        x = const([1.0, 2.0, 3.0])
        x.index_add_(0, ints(0, 1, 2), x)
        assert_close(x, [2.0, 4.0, 6.0])

    def test_an_expanded_tensor_is_refused(self):
        x = const([1.0]).expand(3)
        with raises(RuntimeError, "scatter_add_", ["expanded"]):
            x.scatter_add_(0, ints(0), const([1.0]))

    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.scatter_(0, ints(0, 3), const([7.0, 7.0])),
            lambda x: x.scatter_add_(0, ints(0, 3), const([7.0, 7.0])),
            lambda x: x.index_put_((ints(0, 3),), const([7.0, 7.0])),
            lambda x: x.index_add_(0, ints(0, 3), const([7.0, 7.0])),
            lambda x: x.index_copy_(0, ints(0, -4), const([7.0, 7.0])),
            lambda x: x.put_(ints(0, 3), const([7.0, 7.0])),
        ],
    )
    def test_an_index_out_of_range_changes_nothing(self, change):
        x = const([1.0, 2.0, 3.0])
        with pytest.raises((IndexError, RuntimeError), match="out of (bounds|range)"):
            change(x)
        assert_close(x, [1.0, 2.0, 3.0])
        assert x._version == 0


class TestRepeatedIndices:
    def test_the_last_value_stays_and_receives_the_gradient(self):
        x, values = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0, 30.0])
        for y in (
            x.index_put((ints(1, 0, 1),), values),
            x.scatter(0, ints(1, 0, 1), values),
            x.put(ints(1, 0, 1), values),
            x.index_copy(0, ints(1, 0, 1), values),
        ):
            assert_close(y, [20.0, 30.0, 3.0])
            got = tp.autograd.grad((y * const([1.0, 2.0, 4.0])).sum(), (x, values))
            assert_close(got[0], [0.0, 0.0, 4.0])
            assert_close(got[1], [0.0, 1.0, 2.0])

    @pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16, tp.int8, tp.uint8, tp.complex64])
    def test_every_dtype_accumulates(self, dtype):
        x = tp.zeros(3, 2, dtype=dtype)
        ones = tp.ones(4, 2, dtype=dtype)
        for y in (
            x.index_add(0, ints(1, 1, 1, 2), ones),
            x.index_put((ints(1, 1, 1, 2),), ones, accumulate=True),
            x.scatter_add(0, ints(1, 1, 1, 2).reshape(4, 1).expand(4, 2), ones),
        ):
            assert y.dtype is dtype
            assert_close(y.to(tp.complex64), [[0, 0], [3, 3], [1, 1]])

    def test_integers_wrap_around(self):
        x = tp.full((1,), 127, dtype=tp.int8).index_add(0, ints(0), tp.ones(1, dtype=tp.int8))
        assert x.tolist() == [-128]


class TestInsideVmap:
    def test_a_batched_mask_cannot_be_read(self):
        x = const(X)
        with raises(RuntimeError, ("index", "mask_index", "mask_select"), ["vmap", "where"]):
            tp.vmap(lambda x: x[x > 4])(x)
        with raises(RuntimeError, ("masked_select", "index", "mask_select"), ["vmap"]):
            tp.vmap(lambda x: x.masked_select(x > 4))(x)
        with raises(RuntimeError, "nonzero", ["vmap"]):
            tp.vmap(lambda x: x.nonzero())(x)
        with raises(RuntimeError, "unique", ["vmap"]):
            tp.vmap(lambda x: x.unique())(x)

    def test_a_batched_mask_can_be_written_with_one_value(self):
        def clip(x):
            x = x * 1
            x[x > 4] = 0.0
            return x

        assert_close(tp.vmap(clip)(const(X)), np.where(X > 4, 0, X))

    def test_a_value_for_each_true_element_is_refused(self):
        def fill(x):
            x = x * 1
            x[x > 4] = const([1.0, 2.0])
            return x

        with raises(RuntimeError, "setitem", ["vmap", "where"]):
            tp.vmap(fill)(const(X))

    def test_a_shared_mask_may_choose(self):
        keep = tp.tensor([True, False, True, False])
        assert_close(tp.vmap(lambda x: x[keep])(const(X)), X[:, ::2])

    def test_a_batched_number_as_index(self):
        places = ints(3, 0, 1)
        assert_close(tp.vmap(lambda x, i: x[i])(const(X), places), X[range(3), [3, 0, 1]])

        def write(x, i):
            x = x * 1
            x[i] = -1.0
            return x

        expected = X.copy()
        expected[range(3), [3, 0, 1]] = -1
        assert_close(tp.vmap(write)(const(X), places), expected)

    def test_one_tensor_looked_up_by_many_indices(self):
        index = tp.tensor([[0, 1], [2, 2]])
        assert_close(tp.vmap(lambda i: const(X)[i])(index), X[index.numpy()])
        assert_close(tp.vmap(lambda i: const(X)[:, 0].gather(0, i))(index), X[:, 0][index.numpy()])

    def test_an_unbatched_tensor_does_not_take_batched_values(self):
        x = const(X)

        def write(v):
            x[0] = v
            return v

        with raises(RuntimeError, "setitem", ["vmap"]):
            tp.vmap(write)(const(X))
        assert_close(x, X)

    def test_per_sample_gradients_of_a_write(self):
        def loss(x, v):
            y = x * x
            y[1:3] = v
            y[0] *= 3
            return (y * const([1.0, 2.0, 4.0, 8.0])).sum()

        gx, gv = tp.vmap(tp.func.grad(loss, argnums=(0, 1)))(const(X), const(X[:, :2]))
        expected = 2 * X * np.array([3.0, 0.0, 0.0, 8.0])
        assert_close(gx, expected)
        assert_close(gv, np.broadcast_to([2.0, 4.0], (3, 2)))


class TestTangents:
    def test_they_follow_a_write(self):
        with tp.autograd.forward_ad.dual_level():
            x = tp.autograd.forward_ad.make_dual(const([1.0, 2.0, 3.0]), const([1.0, 1.0, 1.0]))
            v = tp.autograd.forward_ad.make_dual(const(5.0), const(7.0))
            y = x * x
            y[1] = v
            y[ints(2)] = 4.0
            primal, tangent = tp.autograd.forward_ad.unpack_dual(y)
        assert_close(primal, [1.0, 5.0, 4.0])
        assert_close(tangent, [2.0, 7.0, 0.0])

    def test_a_constant_that_is_written_to_gets_one(self):
        with tp.autograd.forward_ad.dual_level():
            v = tp.autograd.forward_ad.make_dual(const(5.0), const(7.0))
            y = tp.zeros(2, dtype=tp.float64)
            y[1] = v
            tangent = tp.autograd.forward_ad.unpack_dual(y).tangent
        assert_close(tangent, [0.0, 7.0])


class TestViews:
    @pytest.mark.parametrize(
        "view",
        [
            lambda x: x.diagonal(),
            lambda x: x.unfold(1, 2, 2),
            lambda x: x.as_strided((2, 2), (4, 1), 1),
            lambda x: x.split(2, 1)[1],
            lambda x: x.unbind()[2],
            lambda x: x.tensor_split(2)[0],
            lambda x: x.narrow(1, 1, 2),
            lambda x: x.select(0, -1),
            lambda x: x.view(tp.int64),
        ],
    )
    def test_they_share_memory(self, view):
        x = const(X)
        part = view(x)
        assert np.shares_memory(part.numpy(), x.numpy())
        part.fill_(0)
        assert (x.numpy() != X).any()

    @pytest.mark.parametrize("view", [lambda x: x.diagonal(), lambda x: x.unfold(1, 2, 2)])
    def test_a_write_through_a_view_is_recorded(self, view):
        x = leaf(X)
        y = x * 1
        view(y).mul_(3)
        y.sum().backward()
        expected = const(np.ones((3, 4)))
        view(expected).mul_(3)
        assert_close(x.grad, expected)

    def test_as_strided_counts_from_the_start_of_the_memory(self):
        x = const(X)[1]
        assert_close(x.as_strided((2,), (1,)), [4.0, 5.0])
        assert_close(x.as_strided((2,), (1,), 1), [1.0, 2.0])
        with raises(RuntimeError, "as_strided", ["12"]):
            x.as_strided((20,), (1,))

    def test_the_shape_can_change_in_place(self):
        x = leaf(X)
        y = x * 1
        assert y.t_() is y
        y.unsqueeze_(0)
        assert y.shape == (1, 4, 3)
        y.squeeze_(0).transpose_(0, 1)
        (y * const(X)).sum().backward()
        assert_close(x.grad, X)

    def test_resize(self):
        x = tp.arange(6)
        assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
        assert x.resize_(5).shape == (5,)
        with raises(RuntimeError, "resize_", ["requires grad"]):
            leaf(X).resize_(2)

    def test_fill_diagonal(self):
        x = tp.zeros(5, 2).fill_diagonal_(1, wrap=True)
        assert x.tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
        assert tp.zeros(2, 2, 2).fill_diagonal_(3).sum().item() == 6
        with raises(RuntimeError, "fill_diagonal_", [(2,)]):
            tp.zeros(2).fill_diagonal_(1)


class TestOrder:
    def test_nan_is_the_largest(self):
        x = const([2.0, np.nan, -np.inf, 2.0])
        assert x.argsort().tolist() == [2, 0, 3, 1]
        assert x.argsort(descending=True).tolist() == [1, 0, 3, 2]
        assert np.isnan(x.topk(1).values.item())
        assert x.kthvalue(2).values.item() == 2.0

    def test_the_results_have_names(self):
        x = const([2.0, 1.0])
        for found in (x.sort(), x.topk(1), x.kthvalue(1)):
            values, indices = found
            assert found.values is values
            assert found.indices is indices

    def test_changing_the_values_does_not_spoil_the_gradient(self):
        x = leaf([3.0, 1.0, 2.0])
        values, _ = (x * 1).sort()
        values.mul_(const([1.0, 10.0, 100.0]))
        values.sum().backward()
        assert_close(x.grad, [100.0, 1.0, 10.0])

    def test_half_precision(self):
        x = tp.tensor([2.0, 1.0, 3.0], dtype=tp.bfloat16)
        assert x.sort().values.tolist() == [1.0, 2.0, 3.0]
        assert x.unique().dtype is tp.bfloat16
        assert tp.searchsorted(x.sort().values, x).tolist() == [1, 0, 2]


class TestBadInput:
    @pytest.mark.parametrize(
        ("kind", "name", "call", "mentions"),
        [
            (RuntimeError, "gather", lambda x: x.gather(0, ints(0)), [(1,), (3, 4)]),
            (RuntimeError, "gather", lambda x: x.gather(0, const([[0.0]])), ["float64"]),
            (IndexError, "gather", lambda x: x.gather(2, tp.tensor([[0]])), ["2"]),
            (RuntimeError, "gather", lambda x: x.gather(1, tp.zeros(4, 1).long()), [(4, 1)]),
            (IndexError, "index_select", lambda x: x.index_select(0, ints(3)), ["3"]),
            (IndexError, "index_select", lambda x: x.index_select(0, ints(-1)), ["-1"]),
            (IndexError, "index_select", lambda x: x.index_select(0, tp.tensor([[0]])), [(1, 1)]),
            (IndexError, "take", lambda x: x.take(ints(12)), ["12"]),
            (RuntimeError, "index_add", lambda x: x.index_add(0, ints(3), const(ROWS[:1])), ["3"]),
            (RuntimeError, "index_add", lambda x: x.index_add(0, ints(0), const(ROWS)), [(2, 4)]),
            (IndexError, "index_copy", lambda x: x.index_copy(0, ints(3), const(ROWS[:1])), ["3"]),
            (IndexError, "index_fill", lambda x: x.index_fill(0, ints(3), 1), ["3"]),
            (RuntimeError, "index_fill", lambda x: x.index_fill(0, ints(0), const([1.0])), [(1,)]),
            (
                RuntimeError, "scatter",
                lambda x: x.scatter(0, tp.tensor([[0]]), tp.ones(1, 1)), ["float32", "float64"],
            ),
            (
                RuntimeError, "scatter_reduce",
                lambda x: x.scatter_reduce(0, tp.tensor([[0]]), const([[1.0]]), "max"), ["'max'"],
            ),
            (IndexError, "put", lambda x: x.put(ints(1), const([1.0, 2.0])), [(1,), (2,)]),
            (RuntimeError, "masked_fill", lambda x: x.masked_fill(ints(1), 1.0), ["int64"]),
            (RuntimeError, "masked_select", lambda x: x.masked_select(ints(1)), ["int64"]),
            (
                RuntimeError, "masked_scatter",
                lambda x: x.masked_scatter(x > 4, const([1.0])), ["7", "1"],
            ),
            (ValueError, "cat", lambda x: tp.cat([]), []),
            (RuntimeError, "cat", lambda x: tp.cat([x, x[0]]), [(3, 4), (4,)]),
            (RuntimeError, "cat", lambda x: tp.cat([x, x.t()]), [(3, 4), (4, 3)]),
            (RuntimeError, "cat", lambda x: tp.cat([x.sum(), x.sum()]), ["stack"]),
            (TypeError, "cat", lambda x: tp.cat([x, 1.0]), ["float"]),
            (TypeError, "cat", lambda x: tp.cat(x), ["Tensor"]),
            (IndexError, "cat", lambda x: tp.cat([x, x], 2), ["2"]),
            (RuntimeError, "stack", lambda x: tp.stack([x, x[0]]), [(3, 4), (4,)]),
            (RuntimeError, "stack", lambda x: tp.stack([]), []),
            (RuntimeError, "split", lambda x: x.split(0), ["3"]),
            (RuntimeError, "split", lambda x: x.split([1, 1]), ["[1, 1]", "3"]),
            (RuntimeError, "chunk", lambda x: x.chunk(0), ["0"]),
            (RuntimeError, "tensor_split", lambda x: x.tensor_split(0), ["0"]),
            (RuntimeError, "hsplit", lambda x: x.hsplit(3), ["4", "3"]),
            (RuntimeError, "vsplit", lambda x: x[0].vsplit(1), ["2"]),
            (IndexError, "unbind", lambda x: x.sum().unbind(), []),
            (IndexError, "select", lambda x: x.select(0, 3), ["3", (3, 4)]),
            (RuntimeError, "narrow", lambda x: x.narrow(0, 1, 3), ["1", "3"]),
            (IndexError, "narrow", lambda x: x.narrow(0, 4, 0), ["4"]),
            (RuntimeError, "unfold", lambda x: x.unfold(0, 4, 1), ["4", "3"]),
            (RuntimeError, "unfold", lambda x: x.unfold(0, 1, 0), ["0"]),
            (RuntimeError, "diagonal", lambda x: x.diagonal(0, 1, 1), ["1"]),
            (RuntimeError, "roll", lambda x: x.roll((1, 2)), ["2"]),
            (RuntimeError, "roll", lambda x: x.roll((1, 2), 0), ["(1, 2)"]),
            (RuntimeError, "flip", lambda x: x.flip(0, 0), ["0"]),
            (IndexError, "flip", lambda x: x.flip(2), ["2"]),
            (RuntimeError, "rot90", lambda x: x.rot90(1, (0, 0)), ["[0, 0]"]),
            (RuntimeError, "repeat", lambda x: x.repeat(2), ["[2]", "2"]),
            (RuntimeError, "tril", lambda x: x[0].tril(), ["2", (4,)]),
            (RuntimeError, "trace", lambda x: x[0].trace(), ["1"]),
            (RuntimeError, "topk", lambda x: x.topk(5), ["5", (3, 4)]),
            (RuntimeError, "kthvalue", lambda x: x.kthvalue(0), ["0", (3, 4)]),
            (RuntimeError, "sort", lambda x: x.to(tp.complex128).sort(), ["complex128"]),
            (RuntimeError, "bincount", lambda x: tp.bincount(ints(-1)), ["-1"]),
            (RuntimeError, "histc", lambda x: tp.histc(x, 0), ["0"]),
            (RuntimeError, "view", lambda x: x[:, :3].view(tp.complex128), ["complex128", "3"]),
            (
                RuntimeError, "searchsorted",
                lambda x: tp.searchsorted(x, const([1.0])), [(3, 4), (1,)],
            ),
        ],
    )  # fmt: skip
    def test_it_raises_what_pytorch_raises(self, kind, name, call, mentions):
        with raises(kind, name, mentions):
            call(const(X))
