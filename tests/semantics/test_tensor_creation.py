"""How tensors come to be: from data, filled, as ranges, and at random."""

import numpy as np
import pytest

import tensorplay as tp

from .support import array, assert_close, assert_tensor, beyond_torch, const, leaf, raises

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]


class TestTensorFromPythonData:
    def test_a_number_has_no_dimensions(self):
        assert tp.tensor(3.5).shape == ()

    def test_nested_sequences_give_dimensions(self):
        assert_close(tp.tensor([[1, 2, 3], [4, 5, 6]]), [[1, 2, 3], [4, 5, 6]])
        assert_close(tp.tensor(((1, 2), (3, 4))), [[1, 2], [3, 4]])

    def test_an_empty_list_is_an_empty_float_tensor(self):
        assert_tensor(tp.tensor([]), np.zeros(0), tp.float32)

    @pytest.mark.parametrize(
        ("data", "dtype"),
        [
            (True, "bool"),
            (1, "int64"),
            (1.0, "float32"),
            (1j, "complex64"),
            ([True, 2], "int64"),
            ([1, 2.5], "float32"),
            ([1.0, 2j], "complex64"),
        ],
    )
    def test_the_dtype_follows_from_the_data(self, data, dtype):
        assert tp.tensor(data).dtype == getattr(tp, dtype)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_an_explicit_dtype_is_kept(self, dtype):
        x = tp.tensor([0, 1], dtype=getattr(tp, dtype))
        assert_tensor(x, [0, 1], getattr(tp, dtype))

    def test_float_data_is_truncated_to_an_integer_dtype(self):
        assert_close(tp.tensor([1.9, -1.9], dtype=tp.int32), [1, -1])

    def test_zero_dim_tensors_in_a_list_are_numbers(self):
        assert_tensor(tp.tensor([tp.tensor(1.0), tp.tensor(2.0)]), [1.0, 2.0], tp.float32)

    def test_a_ragged_list_is_an_error(self):
        with raises(ValueError, "tensor", ["data"]):
            tp.tensor([[1, 2], [3]])

    def test_a_string_is_an_error(self):
        with raises(TypeError, "tensor", ["str"]):
            tp.tensor("1")

    def test_nothing_is_an_error(self):
        with raises(RuntimeError, "tensor", ["NoneType"]):
            tp.tensor(None)

    def test_what_is_no_dtype_is_an_error(self):
        with raises(TypeError, "tensor", ["dtype", "str"]):
            tp.tensor([1], dtype="float32")


class TestTensorFromArrays:
    @pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
    def test_the_dtype_of_the_array_is_kept(self, dtype):
        x = tp.tensor(np.array([0, 1]).astype(dtype))
        assert_tensor(x, [0, 1], getattr(tp, dtype))

    def test_a_numpy_scalar_keeps_its_dtype(self):
        assert tp.tensor(np.float64(1)).dtype == tp.float64
        assert tp.tensor(np.float32(1)).dtype == tp.float32
        assert tp.tensor(np.int16(1)).dtype == tp.int16

    def test_tensor_copies(self):
        source = np.array([1.0, 2.0])
        x = tp.tensor(source)
        source[0] = 9.0
        assert_close(x, [1.0, 2.0])

    def test_from_numpy_shares_memory_both_ways(self):
        source = np.array([1.0, 2.0])
        x = tp.from_numpy(source)
        source[0] = 9.0
        x[1] = 7.0
        assert_close(x, [9.0, 7.0])
        assert_close(source, [9.0, 7.0])

    def test_from_numpy_keeps_strides(self):
        source = np.arange(12.0).reshape(3, 4).T[::2]
        x = tp.from_numpy(source)
        assert_tensor(x, source, tp.float64)
        x.zero_()
        assert not source.any()

    def test_from_numpy_takes_arrays_only(self):
        with raises(TypeError, "from_numpy", ["list"]):
            tp.from_numpy([1.0, 2.0])

    def test_from_numpy_refuses_dtypes_tensors_do_not_have(self):
        with raises(TypeError, "from_numpy"):
            tp.from_numpy(np.array(["a", "b"]))

    @beyond_torch
    def test_from_numpy_shares_a_reversed_array(self):
        source = np.array([1.0, 2.0, 3.0])
        x = tp.from_numpy(source[::-1])
        x[0] = 9.0
        assert_close(x, [9.0, 2.0, 1.0])
        assert_close(source, [1.0, 2.0, 9.0])

    def test_as_tensor_shares_an_array_and_returns_a_tensor_itself(self):
        source = np.array([1.0, 2.0])
        x = tp.as_tensor(source)
        source[0] = 9.0
        assert_close(x, [9.0, 2.0])
        assert tp.as_tensor(x) is x

    def test_as_tensor_copies_for_another_dtype(self):
        source = np.array([1.0, 2.0])
        x = tp.as_tensor(source, dtype=tp.float32)
        source[0] = 9.0
        assert_tensor(x, [1.0, 2.0], tp.float32)

    def test_as_tensor_of_a_tensor_keeps_the_graph(self):
        x = leaf([1.0, 2.0], dtype=tp.float32)
        y = tp.as_tensor(x * 2, dtype=tp.float64)
        y.sum().backward()
        assert_close(x.grad, [2.0, 2.0])

    def test_as_tensor_takes_python_data(self):
        assert_tensor(tp.as_tensor([1.0, 2.0]), [1.0, 2.0], tp.float32)


class TestRequiresGrad:
    def test_it_is_off_by_default(self):
        assert not tp.tensor([1.0]).requires_grad
        assert not tp.ones(2).requires_grad

    @pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
    def test_any_float_or_complex_tensor_can_require_grad(self, dtype):
        x = tp.zeros(2, dtype=getattr(tp, dtype), requires_grad=True)
        assert x.requires_grad
        assert x.is_leaf

    @pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
    def test_no_other_can(self, dtype):
        with raises(RuntimeError, "tensor", ["requires_grad", dtype]):
            tp.tensor([0, 1], dtype=getattr(tp, dtype), requires_grad=True)
        with raises(RuntimeError, "zeros", ["requires_grad", dtype]):
            tp.zeros(2, dtype=getattr(tp, dtype), requires_grad=True)


class TestFilled:
    def test_zeros_and_ones(self):
        assert_tensor(tp.zeros(2, 3), np.zeros((2, 3)), tp.float32)
        assert_tensor(tp.ones(2, 3, dtype=tp.int64), np.ones((2, 3)), tp.int64)

    def test_the_size_is_numbers_or_one_sequence(self):
        assert tp.zeros(2, 3).shape == tp.zeros((2, 3)).shape == tp.zeros([2, 3]).shape == (2, 3)
        assert tp.zeros(()).shape == ()
        assert tp.zeros(2, 0, 3).shape == (2, 0, 3)

    def test_a_negative_size_is_an_error(self):
        with raises(RuntimeError, "zeros", ["-1"]):
            tp.zeros(2, -1)

    @pytest.mark.parametrize(
        ("value", "dtype"),
        [(True, "bool"), (3, "int64"), (3.0, "float32"), (1j, "complex64")],
    )
    def test_full_has_the_dtype_of_its_value(self, value, dtype):
        assert_tensor(tp.full((2, 2), value), np.full((2, 2), value), getattr(tp, dtype))

    def test_full_with_a_dtype(self):
        assert_tensor(tp.full((2,), 3, dtype=tp.float64), [3.0, 3.0], tp.float64)

    def test_empty_has_a_size_and_a_dtype(self):
        x = tp.empty(2, 3, dtype=tp.int16)
        assert x.shape == (2, 3)
        assert x.dtype == tp.int16

    @pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
    def test_the_like_functions_take_size_and_dtype_from_a_tensor(self, name):
        x = tp.ones(2, 3, dtype=tp.int32)
        assert getattr(tp, name)(x).shape == (2, 3)
        assert getattr(tp, name)(x).dtype == tp.int32
        assert getattr(tp, name)(x, dtype=tp.float64).dtype == tp.float64

    def test_the_values_of_the_like_functions(self):
        x = tp.full((2,), 5.0)
        assert_close(tp.zeros_like(x), [0.0, 0.0])
        assert_close(tp.ones_like(x), [1.0, 1.0])
        assert_close(tp.full_like(x, 7), [7.0, 7.0])

    def test_the_like_functions_do_not_take_over_the_graph(self):
        x = leaf([1.0, 2.0])
        assert not tp.zeros_like(x).requires_grad
        assert tp.zeros_like(x, requires_grad=True).is_leaf


class TestRanges:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ((4,), [0, 1, 2, 3]),
            ((1, 4), [1, 2, 3]),
            ((5, 0, -2), [5, 3, 1]),
            ((0,), []),
            ((1, 2, 0.25), [1.0, 1.25, 1.5, 1.75]),
            ((1, 4.0), [1.0, 2.0, 3.0]),
        ],
    )
    def test_arange(self, arguments, expected):
        x = tp.arange(*arguments)
        floating = any(isinstance(a, float) for a in arguments)
        assert_tensor(x, np.array(expected), tp.float32 if floating else tp.int64)

    def test_arange_with_a_dtype(self):
        assert_tensor(tp.arange(3, dtype=tp.float64), [0.0, 1.0, 2.0], tp.float64)

    def test_arange_takes_names(self):
        assert_close(tp.arange(start=1, end=6, step=2), [1, 3, 5])

    def test_arange_that_never_arrives_is_an_error(self):
        with raises(RuntimeError, "arange", ["step"]):
            tp.arange(1, 5, -1)
        with raises(RuntimeError, "arange", ["step"]):
            tp.arange(1, 5, 0)

    def test_linspace_includes_both_ends(self):
        assert_tensor(tp.linspace(0, 1, 5), [0.0, 0.25, 0.5, 0.75, 1.0], tp.float32)
        assert_tensor(tp.linspace(1, -1, 3, dtype=tp.float64), [1.0, 0.0, -1.0], tp.float64)

    def test_linspace_of_few_steps(self):
        assert_close(tp.linspace(3, 10, 1), [3.0])
        assert tp.linspace(3, 10, 0).shape == (0,)

    def test_eye(self):
        assert_tensor(tp.eye(2), [[1.0, 0.0], [0.0, 1.0]], tp.float32)
        assert_close(tp.eye(2, 3), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        assert tp.eye(0).shape == (0, 0)


class TestDefaultDtype:
    @pytest.fixture(autouse=True)
    def _restore(self):
        yield
        tp.set_default_dtype(tp.float32)

    def test_it_is_float32(self):
        assert tp.get_default_dtype() == tp.float32

    def test_it_decides_for_numbers_and_filled_tensors(self):
        tp.set_default_dtype(tp.float64)
        assert tp.tensor(1.0).dtype == tp.float64
        assert tp.tensor(1j).dtype == tp.complex128
        assert tp.ones(2).dtype == tp.rand(2).dtype == tp.eye(2).dtype == tp.float64
        assert tp.tensor(1).dtype == tp.int64

    def test_it_must_be_a_floating_dtype(self):
        with raises(TypeError, "set_default_dtype", ["int64"]):
            tp.set_default_dtype(tp.int64)
        assert tp.get_default_dtype() == tp.float32


class TestRandom:
    N = 10_000

    @pytest.fixture(autouse=True)
    def _seed(self):
        tp.manual_seed(0)

    def test_rand_is_uniform_between_zero_and_one(self):
        x = array(tp.rand(self.N))
        assert x.dtype == np.float32
        assert 0 <= x.min() and x.max() < 1
        assert abs(x.mean() - 1 / 2) < 0.02
        assert abs(x.var() - 1 / 12) < 0.01

    def test_randn_is_standard_normal(self):
        x = array(tp.randn(self.N, dtype=tp.float64))
        assert x.dtype == np.float64
        assert abs(x.mean()) < 0.05
        assert abs(x.std() - 1) < 0.05
        assert abs((np.abs(x) < 1).mean() - 0.683) < 0.03

    def test_randint_is_at_least_low_and_less_than_high(self):
        x = tp.randint(2, 5, (self.N,))
        assert x.dtype == tp.int64
        assert set(x.tolist()) == {2, 3, 4}
        assert set(tp.randint(2, (100,)).tolist()) == {0, 1}

    def test_randint_of_an_empty_range_is_an_error(self):
        with raises(RuntimeError, "randint", ["low", "high"]):
            tp.randint(5, 5, (2,))

    def test_randperm_is_a_permutation(self):
        x = tp.randperm(100)
        assert x.dtype == tp.int64
        assert sorted(x.tolist()) == list(range(100))
        assert x.tolist() != list(range(100))

    def test_normal_has_a_mean_and_a_deviation(self):
        x = array(tp.normal(5.0, 2.0, (self.N,)))
        assert abs(x.mean() - 5) < 0.1
        assert abs(x.std() - 2) < 0.1

    def test_normal_takes_them_from_tensors(self):
        mean, std = const([0.0, 100.0]), const([0.0, 1.0])
        x = array(tp.normal(mean, std))
        assert x[0] == 0
        assert abs(x[1] - 100) < 8
        assert tp.normal(mean, 1.0).shape == (2,)

    def test_normal_refuses_a_negative_deviation(self):
        with raises(RuntimeError, "normal", ["std"]):
            tp.normal(0.0, -1.0, (2,))

    def test_bernoulli_draws_ones_with_the_given_probabilities(self):
        assert_close(tp.bernoulli(const([0.0, 1.0, 0.0])), [0.0, 1.0, 0.0])
        x = tp.bernoulli(tp.full((self.N,), 0.25))
        assert x.dtype == tp.float32
        assert abs(array(x).mean() - 0.25) < 0.03

    def test_bernoulli_refuses_what_is_no_probability(self):
        with raises(RuntimeError, "bernoulli", ["0", "1"]):
            tp.bernoulli(const([0.5, 1.5]))

    @pytest.mark.parametrize(
        "draw",
        [
            lambda **kw: tp.rand(5, **kw),
            lambda **kw: tp.randn(5, **kw),
            lambda **kw: tp.randint(100, (5,), **kw),
            lambda **kw: tp.randperm(50, **kw),
            lambda **kw: tp.normal(0.0, 1.0, (5,), **kw),
            lambda **kw: tp.bernoulli(tp.full((50,), 0.5), **kw),
        ],
        ids=["rand", "randn", "randint", "randperm", "normal", "bernoulli"],
    )
    def test_seeds_and_generators_make_draws_repeatable(self, draw):
        tp.manual_seed(7)
        first, second = draw().tolist(), draw().tolist()
        assert first != second
        tp.manual_seed(7)
        assert [draw().tolist(), draw().tolist()] == [first, second]

        mine = [draw(generator=tp.Generator().manual_seed(3)).tolist() for _ in range(2)]
        assert mine[0] == mine[1]

    def test_a_generator_of_ones_own_leaves_the_common_one_alone(self):
        tp.manual_seed(7)
        expected = tp.rand(3).tolist()
        tp.manual_seed(7)
        tp.rand(100, generator=tp.Generator().manual_seed(1))
        assert tp.rand(3).tolist() == expected

    def test_different_seeds_differ(self):
        first, second = (tp.Generator().manual_seed(seed) for seed in (1, 2))
        assert tp.rand(3, generator=first).tolist() != tp.rand(3, generator=second).tolist()

    def test_the_seed_can_be_asked(self):
        assert tp.Generator().manual_seed(42).initial_seed() == 42

    @pytest.mark.parametrize("name", ["rand", "randn"])
    def test_a_random_leaf_may_require_grad(self, name):
        x = getattr(tp, name)(3, requires_grad=True)
        assert x.requires_grad
        assert x.is_leaf

    def test_like_another_tensor(self):
        x = tp.ones(2, 3, dtype=tp.float64)
        for name in ("rand_like", "randn_like"):
            drawn = getattr(tp, name)(x)
            assert drawn.shape == (2, 3)
            assert drawn.dtype == tp.float64
