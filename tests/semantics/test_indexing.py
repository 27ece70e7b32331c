"""Reading and writing `x[index]`, for every kind of index, with the gradients of both."""

import numpy as np
import pytest

import tensorplay as tp

from .support import assert_close, beyond_torch, const, leaf, raises


def ints(*values):
    return tp.tensor(values, dtype=tp.int64)


def mask(*values):
    return tp.tensor(values, dtype=tp.bool)


SHAPE = (2, 3, 4)
BIG = np.arange(24.0).reshape(SHAPE)
ROW_MASK = np.array([True, False, True])
BIG_MASK = BIG % 3 == 1

# Name, index, the same index for NumPy.  None of them names an element twice.
SINGLE = [
    ("an integer", 1, 1),
    ("a negative integer", -1, -1),
    ("an integer of NumPy", np.int64(1), 1),
    ("a tuple of integers", (1, 2, 3), (1, 2, 3)),
    ("a slice", slice(1, 3), slice(1, 3)),
    ("a slice with a step", (0, slice(None), slice(0, 4, 2)), (0, slice(None), slice(0, 4, 2))),
    ("a negative slice", (0, slice(-2, None)), (0, slice(-2, None))),
    ("a slice beyond the end", slice(5, 9), slice(5, 9)),
    ("a bare colon", slice(None), slice(None)),
    ("an ellipsis", ..., ...),
    ("an ellipsis before an integer", (..., 2), (..., 2)),
    ("an ellipsis in the middle", (0, ..., 1), (0, ..., 1)),
    ("an ellipsis that stands for nothing", (1, ..., 2, 3), (1, ..., 2, 3)),
    ("a new dimension", None, None),
    ("new dimensions between others", (0, None, slice(1, 3), None), (0, None, slice(1, 3), None)),
    ("a tensor without dimensions", tp.tensor(1), 1),
    ("nothing at all", (), ()),
]
ADVANCED = [
    ("an index tensor", ints(1, 0), [1, 0]),
    ("a negative index tensor", ints(-1), [-1]),
    ("a list", [1, 0], [1, 0]),
    ("an array", np.array([1, 0]), [1, 0]),
    ("an empty index tensor", ints(), np.array([], dtype=np.int64)),
    ("a matrix of indices", tp.tensor([[1], [0]]), [[1], [0]]),
    ("two index tensors", (ints(0, 1), ints(2, 0)), ([0, 1], [2, 0])),
    ("index tensors that broadcast", (tp.tensor([[0], [1]]), ints(2, 0)), ([[0], [1]], [2, 0])),
    ("an index tensor after a slice", (slice(None), ints(2, 0)), (slice(None), [2, 0])),
    ("an index tensor after an ellipsis", (..., ints(3, 0)), (..., [3, 0])),
    (
        "index tensors with a slice between",
        (ints(0, 1), slice(None), ints(3, 2)),
        ([0, 1], slice(None), [3, 2]),
    ),
    (
        "an index tensor with a slice and a new dimension",
        (slice(0, 1), None, ints(2, 0)),
        (slice(0, 1), None, [2, 0]),
    ),
    ("a mask of one dimension", mask(True, False), [True, False]),
    ("a mask of an inner dimension", (1, mask(*ROW_MASK)), (1, ROW_MASK)),
    ("a mask after a slice", (slice(None), mask(*ROW_MASK)), (slice(None), ROW_MASK)),
    ("a mask of every dimension", tp.tensor(BIG_MASK), BIG_MASK),
    ("a mask that is false everywhere", tp.tensor(BIG < 0), BIG < 0),
    ("a mask and an index tensor", (mask(True, True), ints(2, 0)), ([0, 1], [2, 0])),
    ("a mask and a slice", (mask(False, True), slice(1, 3)), ([False, True], slice(1, 3))),
]


def cases(table):
    return pytest.mark.parametrize(
        ("index", "numpy_index"), [case[1:] for case in table], ids=[case[0] for case in table]
    )


class TestReading:
    @cases(SINGLE + ADVANCED)
    def test_it_agrees_with_numpy(self, index, numpy_index):
        assert_close(const(BIG)[index], BIG[numpy_index])

    @cases(SINGLE + ADVANCED)
    def test_its_gradient_is_zero_elsewhere(self, index, numpy_index):
        x = leaf(BIG)
        y = x[index]
        weights = np.arange(1.0, y.numel() + 1).reshape(tuple(y.shape))
        (y * const(weights)).sum().backward()
        expected = np.zeros(SHAPE)
        expected[numpy_index] = weights
        assert_close(x.grad, expected)

    @cases(SINGLE)
    def test_numbers_and_slices_give_views(self, index, numpy_index):
        x = const(BIG)
        x[index].fill_(-1)
        expected = BIG.copy()
        expected[numpy_index] = -1
        assert_close(x, expected)

    @cases(ADVANCED)
    def test_index_tensors_and_masks_give_copies(self, index, numpy_index):
        x = const(BIG)
        x[index].fill_(-1)
        assert_close(x, BIG)

    def test_an_element_named_twice_receives_both_gradients(self):
        x = leaf([1.0, 2.0, 3.0])
        (x[ints(0, 0, 2)] * const([1.0, 10.0, 100.0])).sum().backward()
        assert_close(x.grad, [11.0, 0.0, 100.0])

    def test_second_derivatives(self):
        x = leaf([1.0, 2.0, 3.0])
        y = (x[ints(0, 0, 2)] ** 3).sum() + (x[1:] ** 2).sum()
        (first,) = tp.autograd.grad(y, x, create_graph=True)
        assert_close(first, [6.0, 4.0, 27.0 + 6.0])
        assert_close(tp.autograd.grad(first.sum(), x)[0], [12.0, 2.0, 18.0 + 2.0])

    def test_the_result_is_a_tensor_even_for_one_element(self):
        y = const(BIG)[1, 2, 3]
        assert isinstance(y, tp.Tensor)
        assert y.shape == ()

    def test_uint8_counts_as_a_mask(self):
        with pytest.warns(UserWarning, match="bool"):
            y = const([1.0, 2.0, 3.0])[tp.tensor([1, 0, 1], dtype=tp.uint8)]
        assert_close(y, [1.0, 3.0])

    def test_true_and_false_add_a_dimension(self):
        x = const([1.0, 2.0])
        assert_close(x[True], [[1.0, 2.0]])
        assert x[False].shape == (0, 2)

    def test_a_tensor_without_dimensions(self):
        x = const(5.0)
        assert_close(x[...], 5.0)
        assert_close(x[None], [5.0])
        assert_close(x[tp.tensor(True)], [5.0])
        assert x[tp.tensor(False)].shape == (0,)

    def test_an_integer_is_taken_first_and_does_not_move_dimensions(self):
        # NumPy counts the integer as an index array and would give the shape (2, 3).
        y = const(BIG)[0, :, ints(1, 3)]
        assert_close(y, BIG[0][:, [1, 3]])

    def test_a_slice_bound_may_be_a_tensor(self):
        assert_close(const([1.0, 2.0, 3.0])[tp.tensor(1) : tp.tensor(3)], [2.0, 3.0])


class TestWriting:
    @cases(SINGLE + ADVANCED)
    def test_a_number(self, index, numpy_index):
        x = const(BIG)
        x[index] = -1.0
        expected = BIG.copy()
        expected[numpy_index] = -1.0
        assert_close(x, expected)

    @cases(SINGLE + ADVANCED)
    def test_a_tensor_of_the_shape_read(self, index, numpy_index):
        x = const(BIG)
        values = -1.0 - np.arange(x[index].numel()).reshape(tuple(x[index].shape))
        x[index] = const(values)
        expected = BIG.copy()
        expected[numpy_index] = values
        assert_close(x, expected)

    @cases(SINGLE + ADVANCED)
    def test_gradients_reach_what_stays_and_what_is_written(self, index, numpy_index):
        x, weights = leaf(BIG), np.arange(1.0, 25.0).reshape(SHAPE)
        y = x * 1
        values = leaf(np.zeros(tuple(y[index].shape)))
        y[index] = values
        (y * const(weights)).sum().backward()
        overwritten = weights.copy()
        overwritten[numpy_index] = 0.0
        assert_close(x.grad, overwritten)
        assert_close(values.grad, weights[numpy_index])

    def test_a_value_that_broadcasts(self):
        x = tp.zeros(2, 3, dtype=tp.float64)
        x[:, 1:] = const([1.0, 2.0])
        x[ints(1)] = const(5.0)
        assert_close(x, [[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]])

    def test_a_value_with_leading_ones(self):
        x = tp.zeros(2, 3, dtype=tp.float64)
        x[0] = const([[[1.0, 2.0, 3.0]]])
        assert_close(x, [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])

    def test_a_broadcast_value_receives_the_sum_of_the_gradients(self):
        x, value = leaf(BIG), leaf(5.0)
        y = x * 1
        y[:, 0] = value
        y.sum().backward()
        assert_close(value.grad, 8.0)
        assert_close(x.grad[:, 0], np.zeros((2, 4)))
        assert_close(x.grad[:, 1:], np.ones((2, 2, 4)))

    def test_a_value_of_another_dtype_is_converted(self):
        x = tp.zeros(2, dtype=tp.float32)
        x[0] = const(1.5, dtype=tp.float64)
        x[1:] = tp.tensor([3])
        assert x.dtype == tp.float32
        assert_close(x, [1.5, 3.0])

    def test_it_counts_as_one_change(self):
        x = const(BIG)
        x[0] = 1.0
        x[ints(0, 1), ints(1, 2)] = 2.0
        x[x > 5] = 3.0
        assert x._version == 3

    def test_augmented_assignment(self):
        x = const([1.0, 2.0, 3.0])
        x[1] += 10
        x[ints(0, 2)] *= 2
        assert_close(x, [2.0, 12.0, 6.0])

    def test_the_gradient_of_augmented_assignment(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x * x
        y[1] *= 10
        y[ints(0, 2)] += 1
        y.sum().backward()
        assert_close(x.grad, [2.0, 40.0, 6.0])

    def test_writing_into_constants_connects_them(self):
        x = leaf([1.0, 2.0])
        y = tp.zeros(3, dtype=tp.float64)
        y[1:] = x * x
        assert y.requires_grad
        (y * const([1.0, 10.0, 100.0])).sum().backward()
        assert_close(x.grad, [20.0, 400.0])

    def test_overwriting_everything_disconnects(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y[...] = 5.0
        y.sum().backward()
        assert_close(x.grad, [0.0, 0.0])

    def test_a_tensor_shifted_onto_itself(self):
        x = const([1.0, 2.0, 3.0, 4.0])
        x[1:] = x[:-1].clone()
        assert_close(x, [1.0, 1.0, 2.0, 3.0])

    def test_second_derivatives(self):
        x = leaf([1.0, 2.0])
        y = x**3
        y[0] = x[1] ** 2
        (first,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        assert_close(first, [0.0, 4.0 + 12.0])
        assert_close(tp.autograd.grad(first.sum(), x)[0], [0.0, 2.0 + 12.0])


class TestOtherWaysToIndex:
    def test_index_select(self):
        x = leaf(BIG)
        y = x.index_select(2, ints(3, 0, 3))
        assert_close(y, BIG[:, :, [3, 0, 3]])
        y.sum().backward()
        assert_close(x.grad, np.broadcast_to([1.0, 0.0, 0.0, 2.0], SHAPE))

    def test_gather_and_take_along_dim(self):
        x, index = leaf([[1.0, 2.0], [3.0, 4.0]]), tp.tensor([[1, 1], [0, 1]])
        assert_close(x.gather(1, index), [[2.0, 2.0], [3.0, 4.0]])
        y = x.take_along_dim(index, dim=0)
        assert_close(y, [[3.0, 4.0], [1.0, 4.0]])
        y.sum().backward()
        assert_close(x.grad, [[1.0, 0.0], [1.0, 2.0]])

    def test_masked_fill(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x.masked_fill(mask(False, True, False), -1.0)
        assert_close(y, [1.0, -1.0, 3.0])
        y.sum().backward()
        assert_close(x.grad, [1.0, 0.0, 1.0])

    def test_scatter_add(self):
        source = leaf([1.0, 2.0, 3.0])
        y = tp.zeros(2, dtype=tp.float64).scatter_add(0, ints(1, 0, 1), source)
        assert_close(y, [2.0, 4.0])
        (y * const([10.0, 1.0])).sum().backward()
        assert_close(source.grad, [1.0, 10.0, 1.0])


class TestWrongIndices:
    @pytest.mark.parametrize(
        ("index", "mentions"),
        [
            (2, ["2", SHAPE]),
            (-3, ["-3", SHAPE]),
            ((0, 3), ["3", SHAPE]),
            ((0, 0, 0, 0), [SHAPE]),
            ((ints(0, 1), ints(0, 1, 2)), [(2,), (3,)]),
            # PyTorch has written the first entry when it meets the second.
            pytest.param(ints(0, 2), ["2", SHAPE], marks=beyond_torch),
            (ints(-3), ["-3", SHAPE]),
            (mask(True, False, True), [(3,), SHAPE]),
            (tp.ones(2, 4, dtype=tp.bool), [(2, 4), SHAPE]),
            (tp.tensor([1.0]), ["float32"]),
            (1.0, ["float"]),
        ],
        ids=[
            "too large",
            "too small",
            "too large in an inner dimension",
            "too many",
            "tensors that do not broadcast",
            "a tensor with one too large",
            "a tensor with one too small",
            "a mask of another length",
            "a mask of another shape",
            "a tensor of floats",
            "a float",
        ],
    )
    def test_reading_and_writing_raise_and_change_nothing(self, index, mentions):
        x = const(BIG)
        with raises(IndexError, ("index", "getitem", "__getitem__"), mentions):
            x[index]
        with raises(IndexError, ("index", "setitem", "__setitem__"), mentions):
            x[index] = 7.0
        assert_close(x, BIG)
        assert x._version == 0

    @pytest.mark.parametrize("step", [-1, 0])
    def test_a_step_that_is_not_positive(self, step):
        with raises(ValueError, ("index", "getitem", "__getitem__"), ["step"]):
            const(BIG)[::step]

    def test_a_tensor_without_dimensions_has_nothing_to_index(self):
        with raises(IndexError, ("index", "getitem", "__getitem__"), ["item"]):
            const(1.0)[0]

    @pytest.mark.parametrize(
        ("index", "shapes"), [(0, [(3, 5), (3, 4)]), (ints(0, 1), [(3, 5), (2, 3, 4)])]
    )
    def test_a_value_that_does_not_fit(self, index, shapes):
        x = const(BIG)
        with raises(RuntimeError, ("index", "setitem", "__setitem__"), shapes):
            x[index] = tp.ones(3, 5, dtype=tp.float64)
        assert_close(x, BIG)
        assert x._version == 0

    def test_a_value_that_does_not_fit_a_mask(self):
        x = const([1.0, 2.0, 3.0])
        with raises(RuntimeError, ("index", "setitem", "__setitem__"), [(2,), (3,)]):
            x[mask(True, False, True)] = const([1.0, 2.0, 3.0])
        assert_close(x, [1.0, 2.0, 3.0])

    def test_a_value_that_is_no_number(self):
        x = const([1.0, 2.0])
        with raises(TypeError, ("index", "setitem", "__setitem__"), ["str"]):
            x[0] = "a"

    def test_a_leaf_that_requires_grad(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError):
            x[0] = 5.0
        assert_close(x, [1.0, 2.0])
        assert x._version == 0

    def test_the_other_functions_check_their_indices_too(self):
        x = const([1.0, 2.0, 3.0])
        with raises((IndexError, RuntimeError), "index_select", ["3"]):
            x.index_select(0, ints(3))
        with raises((IndexError, RuntimeError), "gather", ["3"]):
            x.gather(0, ints(3))
        assert_close(x, [1.0, 2.0, 3.0])
