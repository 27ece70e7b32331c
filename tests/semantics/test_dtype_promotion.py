"""Which dtype a result has: the lattice, weak numbers, and what each kind of operator does."""

import itertools

import numpy as np
import pytest

import tensorplay as tp

from .support import assert_close, assert_tensor, beyond_torch, leaf, raises

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]

# Row by row, the result with every dtype from the row's own on, in the order of DTYPES.
LATTICE = {
    "bool": DTYPES,
    "uint8": ["uint8", "int16", "int16", "int32", "int64", *FLOATS, *COMPLEX],
    "int8": ["int8", "int16", "int32", "int64", *FLOATS, *COMPLEX],
    "int16": ["int16", "int32", "int64", *FLOATS, *COMPLEX],
    "int32": ["int32", "int64", *FLOATS, *COMPLEX],
    "int64": ["int64", *FLOATS, *COMPLEX],
    "float16": ["float16", "float32", "float32", "float64", *COMPLEX],
    "bfloat16": ["bfloat16", "float32", "float64", *COMPLEX],
    "float32": ["float32", "float64", *COMPLEX],
    "float64": ["float64", "complex128", "complex128"],
    "complex64": ["complex64", "complex128"],
    "complex128": ["complex128"],
}
PAIRS = [
    (first, second, result)
    for position, first in enumerate(DTYPES)
    for second, result in zip(DTYPES[position:], LATTICE[first], strict=True)
]


def dtype(name):
    return getattr(tp, name)


def ones(name, *size):
    return tp.ones(*(size or (2,)), dtype=dtype(name))


class TestTheLattice:
    @pytest.mark.parametrize(("first", "second", "result"), PAIRS)
    def test_promote_types_is_symmetric(self, first, second, result):
        assert tp.promote_types(dtype(first), dtype(second)) == dtype(result)
        assert tp.promote_types(dtype(second), dtype(first)) == dtype(result)

    @pytest.mark.parametrize(("first", "second", "result"), PAIRS)
    def test_arithmetic_follows_it(self, first, second, result):
        assert (ones(first) * ones(second)).dtype == dtype(result)
        assert (ones(second) * ones(first)).dtype == dtype(result)

    @pytest.mark.parametrize("name", DTYPES)
    def test_a_tensor_with_itself_keeps_its_dtype(self, name):
        assert_tensor(ones(name) * ones(name), [1, 1], dtype(name))

    def test_it_is_a_lattice(self):
        for a, b, c in itertools.combinations(["uint8", "int16", "float32", "complex64"], 3):
            left = tp.promote_types(tp.promote_types(dtype(a), dtype(b)), dtype(c))
            right = tp.promote_types(dtype(a), tp.promote_types(dtype(b), dtype(c)))
            assert left == right

    def test_result_type_and_can_cast(self):
        assert tp.result_type(ones("int8"), 2.0) == tp.float32
        assert tp.result_type(ones("float32"), ones("float64")) == tp.float64
        assert tp.can_cast(tp.int64, tp.float16)
        assert not tp.can_cast(tp.float32, tp.int64)
        assert not tp.can_cast(tp.complex64, tp.float64)


class TestPythonNumbersAreWeak:
    @pytest.mark.parametrize("name", ["uint8", "int32", *FLOATS, *COMPLEX])
    def test_an_int_keeps_the_dtype(self, name):
        assert (ones(name) * 2).dtype == dtype(name)
        assert (2 + ones(name)).dtype == dtype(name)

    @pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
    def test_a_float_keeps_a_float_or_complex_dtype(self, name):
        assert (ones(name) * 2.5).dtype == dtype(name)

    @pytest.mark.parametrize("name", ["bool", *INTEGERS])
    def test_a_float_makes_the_default_dtype_of_the_others(self, name):
        assert (ones(name) * 2.5).dtype == tp.float32

    def test_an_int_makes_int64_of_bool(self):
        assert (ones("bool") * 2).dtype == tp.int64

    def test_a_complex_number_makes_the_complex_dtype_of_the_same_precision(self):
        assert (ones("float32") * 1j).dtype == tp.complex64
        assert (ones("float64") * 1j).dtype == tp.complex128
        assert (ones("int64") * 1j).dtype == tp.complex64

    def test_integers_wrap_around(self):
        x = tp.tensor([250], dtype=tp.uint8)
        assert_tensor(x + 10, [4], tp.uint8)

    def test_a_float64_number_of_numpy_is_a_python_number(self):
        assert (ones("float32") * np.float64(2)).dtype == tp.float32


class TestTensorsWithoutDimensionsAreWeak:
    def test_within_a_category_the_dtype_of_the_other_counts(self):
        assert (ones("float32") * tp.tensor(2.0, dtype=tp.float64)).dtype == tp.float32
        assert (ones("int8") * tp.tensor(2, dtype=tp.int64)).dtype == tp.int8
        assert (ones("complex64") * tp.tensor(2j, dtype=tp.complex128)).dtype == tp.complex64

    def test_a_higher_category_wins_with_its_own_dtype(self):
        assert (ones("int64") * tp.tensor(2.0, dtype=tp.float64)).dtype == tp.float64
        assert (ones("int64") * tp.tensor(2.0, dtype=tp.float16)).dtype == tp.float16
        assert (ones("bool") * tp.tensor(2, dtype=tp.int8)).dtype == tp.int8

    def test_among_themselves_the_lattice_counts(self):
        product = tp.tensor(2, dtype=tp.int8) * tp.tensor(3, dtype=tp.int64)
        assert product.dtype == tp.int64
        product = tp.tensor(2.0, dtype=tp.float32) * tp.tensor(3.0, dtype=tp.float64)
        assert product.dtype == tp.float64

    def test_they_still_outrank_python_numbers(self):
        assert (tp.tensor(2.0, dtype=tp.float64) * 2.5).dtype == tp.float64
        assert (tp.tensor(2, dtype=tp.int8) * 100).dtype == tp.int8


class TestKindsOfOperators:
    @pytest.mark.parametrize("name", ["bool", *INTEGERS])
    def test_true_division_and_functions_of_analysis_make_floats(self, name):
        x = ones(name)
        for result in (x / x, x.exp(), x.sqrt(), x.sin(), x.sigmoid(), tp.atan2(x, x)):
            assert result.dtype == tp.float32

    def test_floor_division_and_remainder_keep_integers(self):
        x = tp.tensor([-7, 7])
        assert_tensor(x // 2, [-4, 3], tp.int64)
        assert_tensor(x % 3, [2, 1], tp.int64)

    def test_rounding_keeps_integers(self):
        x = tp.tensor([-7, 7], dtype=tp.int8)
        for result in (x.floor(), x.round(), x.abs().neg(), x.sign()):
            assert result.dtype == tp.int8

    def test_powers(self):
        x = tp.tensor([2, 3])
        assert_tensor(x**2, [4, 9], tp.int64)
        assert_tensor(2**x, [4, 8], tp.int64)
        assert_tensor(x**0.5, np.sqrt([2.0, 3.0]), tp.float32)
        with raises(RuntimeError, "pow", ["exponent", "int64"]):
            x**-1

    @pytest.mark.parametrize("name", ["bool", *INTEGERS])
    def test_sums_products_and_cumulative_sums_of_integers_are_int64(self, name):
        x = ones(name)
        assert_tensor(x.sum(), 2, tp.int64)
        assert_tensor(x.prod(), 1, tp.int64)
        assert_tensor(x.cumsum(0), [1, 2], tp.int64)

    @pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
    def test_sums_and_means_of_floats_keep_their_dtype(self, name):
        assert_tensor(ones(name).sum(), 2, dtype(name))
        assert_tensor(ones(name).mean(), 1, dtype(name))

    def test_a_reduction_takes_a_dtype(self):
        assert_tensor(ones("int64").sum(dtype=tp.float64), 2, tp.float64)
        assert_tensor(ones("int64").mean(dtype=tp.float32), 1, tp.float32)

    def test_comparisons_and_logic_give_bool(self):
        x = tp.tensor([1, 2])
        assert_tensor(x < 1.5, [True, False], tp.bool)
        assert_tensor(x == ones("float64"), [True, False], tp.bool)
        assert_tensor(tp.logical_and(x, ones("bool")), [True, True], tp.bool)

    def test_positions_are_int64(self):
        x = ones("float32", 3)
        assert x.argmax().dtype == x.argmin().dtype == tp.int64
        assert x.sort().indices.dtype == x.topk(1).indices.dtype == tp.int64

    def test_the_modulus_of_a_complex_number_is_real(self):
        assert_tensor(tp.tensor([3 + 4j]).abs(), [5.0], tp.float32)
        assert ones("complex128").abs().dtype == tp.float64

    def test_where_promotes_its_two_values(self):
        mask = tp.tensor([True, False])
        assert tp.where(mask, ones("float32"), ones("float64")).dtype == tp.float64
        assert tp.where(mask, ones("int64"), ones("float16")).dtype == tp.float16
        assert_tensor(tp.where(mask, ones("float16"), 2.0), [1.0, 2.0], tp.float16)

    def test_cat_and_stack_promote(self):
        assert tp.cat([ones("float32"), ones("int64"), ones("float64")]).dtype == tp.float64
        assert tp.stack([ones("float32"), ones("int64")]).dtype == tp.float32

    def test_maximum_and_clamp_promote(self):
        assert tp.maximum(ones("int64"), ones("float32")).dtype == tp.float32
        assert ones("int64").clamp(0.5).dtype == tp.float32

    def test_bool_arithmetic_is_logic(self):
        t = ones("bool")
        assert_tensor(t + t, [True, True], tp.bool)
        assert_tensor(~t, [False, False], tp.bool)
        assert_tensor(t & t, [True, True], tp.bool)
        assert_tensor(t ^ t, [False, False], tp.bool)

    def test_bool_has_no_minus(self):
        with raises(RuntimeError, "sub", ["bool"]):
            ones("bool") - ones("bool")
        with raises(RuntimeError, "neg", ["bool"]):
            -ones("bool")


class TestOperatorsThatWantOneDtype:
    def test_matrix_products(self):
        with raises(RuntimeError, ("matmul", "mm"), ["float32", "float64"]):
            ones("float32", 2, 2) @ ones("float64", 2, 2)
        with raises(RuntimeError, "dot", ["float32", "float64"]):
            tp.dot(ones("float32"), ones("float64"))

    def test_means_want_floats(self):
        with raises(RuntimeError, "mean", ["int64"]):
            ones("int64").mean()
        with raises(RuntimeError, ("var", "std"), ["int64"]):
            ones("int64").var()


class TestInPlaceResultsKeepTheirDtype:
    def test_a_lower_operand_is_converted(self):
        x = ones("float32")
        x += ones("int64")
        x += ones("float64")
        assert_tensor(x, [3.0, 3.0], tp.float32)

    def test_a_wider_one_of_the_same_category_is_converted(self):
        x = ones("int8")
        x += ones("int64")
        assert_tensor(x, [2, 2], tp.int8)

    @pytest.mark.parametrize(("name", "operand"), [("int64", 1.5), ("float32", 1j), ("bool", 1)])
    def test_a_higher_category_is_an_error_and_changes_nothing(self, name, operand):
        x = ones(name)
        with raises(RuntimeError, "add_", [name]):
            x.add_(operand)
        assert_tensor(x, [1, 1], dtype(name))
        assert x._version == 0

    def test_true_division_of_integers_in_place_is_an_error(self):
        x = ones("int64")
        with raises(RuntimeError, "div_", ["int64"]):
            x /= 2
        assert_tensor(x, [1, 1], tp.int64)

    def test_writing_by_index_converts(self):
        x = tp.tensor([1, 2])
        x[0] = 7.9
        assert_tensor(x, [7, 2], tp.int64)


class TestConversion:
    @pytest.mark.parametrize("target", DTYPES)
    def test_to_gives_the_dtype_asked_for(self, target):
        assert_tensor(tp.tensor([0, 1]).to(dtype(target)), [0, 1], dtype(target))

    def test_to_its_own_dtype_is_the_tensor_itself(self):
        x = ones("float32")
        assert x.to(tp.float32) is x
        assert x.float() is x

    def test_named_conversions(self):
        x = tp.tensor([1.5, 0.0])
        assert_tensor(x.double(), [1.5, 0.0], tp.float64)
        assert_tensor(x.long(), [1, 0], tp.int64)
        assert_tensor(x.int(), [1, 0], tp.int32)
        assert_tensor(x.bool(), [True, False], tp.bool)
        assert_tensor(x.half(), [1.5, 0.0], tp.float16)
        assert_tensor(x.bfloat16(), [1.5, 0.0], tp.bfloat16)

    def test_bfloat16_keeps_eight_bits_of_precision(self):
        x = tp.tensor([1.00390625, 1.0078125], dtype=tp.bfloat16)  # 1 + 2^-8, 1 + 2^-7
        assert_close(x, [1.0, 1.0078125])


class TestDtypeObjects:
    def test_their_properties(self):
        assert tp.float16.is_floating_point
        assert tp.bfloat16.is_floating_point
        assert not tp.complex64.is_floating_point
        assert tp.complex64.is_complex
        assert not tp.int64.is_floating_point
        assert (tp.bfloat16.itemsize, tp.float64.itemsize, tp.complex128.itemsize) == (2, 8, 16)

    def test_aliases_are_the_same_objects(self):
        assert tp.float is tp.float32
        assert tp.double is tp.float64
        assert tp.half is tp.float16
        assert tp.long is tp.int64
        assert tp.int is tp.int32

    def test_they_name_themselves(self):
        assert repr(tp.float32) == f"{tp.__name__}.float32"

    def test_tensors_know_their_kind(self):
        assert ones("bfloat16").is_floating_point()
        assert ones("complex64").is_complex()
        assert not ones("int64").is_floating_point()


class TestGradientsThroughPromotion:
    def test_each_input_gets_a_gradient_of_its_own_dtype(self):
        x, y = leaf([1.0, 2.0], dtype=tp.float32), leaf([3.0, 4.0], dtype=tp.float64)
        (x * y).sum().backward()
        assert_tensor(x.grad, [3.0, 4.0], tp.float32)
        assert_tensor(y.grad, [1.0, 2.0], tp.float64)

    def test_a_real_input_of_a_complex_result_gets_a_real_gradient(self):
        x = leaf([3.0], dtype=tp.float64)
        (x * (3 + 4j)).abs().sum().backward()
        assert_tensor(x.grad, [5.0], tp.float64)

    def test_conversion_is_differentiable(self):
        x = leaf([1.0, 2.0], dtype=tp.float32)
        (x.double() * 3).sum().backward()
        assert_tensor(x.grad, [3.0, 3.0], tp.float32)

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_floating_dtype_has_gradients(self, name):
        x = leaf([1.0, 2.0], dtype=dtype(name))
        (x * x).sum().backward()
        assert_tensor(x.grad, [2.0, 4.0], dtype(name))

    @pytest.mark.parametrize("name", COMPLEX)
    def test_every_complex_dtype_has_gradients(self, name):
        x = leaf([3 + 4j], dtype=dtype(name))
        x.abs().sum().backward()
        assert_tensor(x.grad, [0.6 + 0.8j], dtype(name))

    def test_a_result_that_is_no_float_requires_no_grad(self):
        x = leaf([1.0, 2.0])
        assert not (x > 1).requires_grad
        assert not x.argmax().requires_grad
        assert not x.long().requires_grad

    @beyond_torch  # which has no complex dtype above float16 that it can compute with
    def test_half_precision_times_a_complex_number(self):
        assert (ones("float16") * 1j).dtype == tp.complex64
