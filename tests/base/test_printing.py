"""Text of tensors. The expected strings are what PyTorch 2.13 prints for the same values."""

import math

import ml_dtypes
import numpy as np
import pytest

from tensorplay.base import dtypes
from tensorplay.base import printing as p

nan, inf = math.nan, math.inf
BF16 = ml_dtypes.bfloat16


@pytest.fixture(autouse=True)
def default_options():
    p.set_printoptions(profile="default")
    yield
    p.set_printoptions(profile="default")


def f32(values):
    return np.array(values, np.float32)


def c64(*values):
    return np.array(values, np.complex64)


def lines(*each):
    return "\n".join(each)


# --- one row: notation of the elements ------------------------------------------------------

ELEMENTS = [
    # integral, fixed point, scientific
    ([1, 2], "[1., 2.]"),
    ([0, 0], "[0., 0.]"),
    ([-0.0, 1], "[-0., 1.]"),
    ([-1.5, 2], "[-1.5000,  2.0000]"),
    ([6.309, 4.6742], "[6.3090, 4.6742]"),
    ([99999999.0], "[100000000.]"),
    ([1e10], "[1.0000e+10]"),
    ([1e-4], "[1.0000e-04]"),
    ([0.00011], "[0.0001]"),
    ([9e-5, 1], "[9.0000e-05, 1.0000e+00]"),
    ([-1e-10, 1], "[-1.0000e-10,  1.0000e+00]"),
    # the ratio of the largest and the smallest magnitude decides, zeros aside
    ([1, 1000], "[   1., 1000.]"),
    ([1, 1001], "[1.0000e+00, 1.0010e+03]"),
    ([0, 1001], "[   0., 1001.]"),
    ([1, 1001.5], "[1.0000e+00, 1.0015e+03]"),
    ([0.5, 499.5], "[  0.5000, 499.5000]"),
    ([0.5, 999.5], "[5.0000e-01, 9.9950e+02]"),
    ([1.5, 1e5], "[1.5000e+00, 1.0000e+05]"),
    ([100000.5, 100001.5], "[100000.5000, 100001.5000]"),
    # what is not finite decides nothing, and is not counted in the width
    ([nan, 1], "[nan, 1.]"),
    ([inf, 1.5], "[   inf, 1.5000]"),
    ([-inf, 1, nan], "[-inf, 1., nan]"),
    ([nan, nan], "[nan, nan]"),
    ([1e-10, nan], "[1.0000e-10,        nan]"),
    ([nan, inf, 0, -0.0], "[nan, inf, 0., -0.]"),
]


@pytest.mark.parametrize(("values", "expected"), ELEMENTS, ids=[str(v) for v, _ in ELEMENTS])
def test_float_elements(values, expected):
    assert p.format_tensor(f32(values)) == f"tensor({expected})"


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([True, False]), "[ True, False]"),
        (np.array([True]), "[True]"),
        (np.array([5, -10, 100]), "[  5, -10, 100]"),
        (np.array([2**63 - 1, -(2**63) + 1]), "[ 9223372036854775807, -9223372036854775807]"),
        (np.array([1, 200000], np.uint64), "[     1, 200000], dtype=tensorplay.uint64"),
        (np.array([1.5], BF16), "[1.5000], dtype=tensorplay.bfloat16"),
        (np.array([1, -2], BF16), "[ 1., -2.], dtype=tensorplay.bfloat16"),
        (np.array([0.1], np.float16), "[0.1000], dtype=tensorplay.float16"),
        (np.array([0.1]), "[0.1000], dtype=tensorplay.float64"),
        (c64(1 + 2j, -1.5 - 3.25j), "[ 1.0000+2.0000j, -1.5000-3.2500j]"),
        (c64(1 + 10j, 1 + 2j), "[1.+10.j, 1.+2.j]"),
        (c64(1e10 + 1j), "[1.0000e+10+1.j]"),
        (c64(complex(nan, inf), 1), "[nan+infj, 1.+0.j]"),
        (c64(complex(1, -0.0), complex(-0.0, nan)), "[1.-0.j, -0.+nanj]"),
        (np.array([1j]), "[0.+1.j], dtype=tensorplay.complex128"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_types(array, expected):
    assert p.format_tensor(array) == f"tensor({expected})"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(1), "1."),
        (np.float32(1.5), "1.5000"),
        (np.float32(nan), "nan"),
        (np.float32(-1e-7), "-1.0000e-07"),
        (np.int64(7), "7"),
        (np.bool_(True), "True"),
        (np.complex64(1 + 2j), "1.+2.j"),
        (np.float64(2.5), "2.5000, dtype=tensorplay.float64"),
        (BF16(2.5), "2.5000, dtype=tensorplay.bfloat16"),
    ],
    ids=repr,
)
def test_zero_dim(value, expected):
    assert p.format_tensor(np.array(value)) == f"tensor({expected})"


def test_unsupported_type():
    with pytest.raises(TypeError, match="can't convert"):
        p.format_tensor(np.array(["a"]))


# --- suffixes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "numpy_type", "expected"),
    [
        (0, np.float32, "tensor([])"),
        ((0, 3), np.float32, "tensor([], size=(0, 3))"),
        (0, np.int32, "tensor([], dtype=tensorplay.int32)"),
        ((2, 0), np.int64, "tensor([], size=(2, 0), dtype=tensorplay.int64)"),
        (0, np.bool_, "tensor([], dtype=tensorplay.bool)"),
        (0, np.complex64, "tensor([], dtype=tensorplay.complex64)"),
    ],
)
def test_empty(shape, numpy_type, expected):
    assert p.format_tensor(np.zeros(shape, numpy_type)) == expected


def test_dtype_is_shown_unless_it_is_the_default():
    ones = {each: np.ones(1, each.numpy) for each in dtypes.ALL}

    def shown():
        return {each.name for each in dtypes.ALL if "dtype=" in p.format_tensor(ones[each])}

    every = {each.name for each in dtypes.ALL}
    assert every - shown() == {"bool", "int64", "float32", "complex64"}
    dtypes.set_default_dtype(dtypes.float64)
    try:
        assert every - shown() == {"bool", "int64", "float64", "complex128"}
    finally:
        dtypes.set_default_dtype(dtypes.float32)


def test_given_suffixes_come_last():
    text = p.format_tensor(np.ones(2), suffixes=["requires_grad=True"])
    assert text == "tensor([1., 1.], dtype=tensorplay.float64, requires_grad=True)"
    text = p.format_tensor(np.zeros((0, 2), np.float32), suffixes=["grad_fn=<AddBackward0>"])
    assert text == "tensor([], size=(0, 2), grad_fn=<AddBackward0>)"


def test_long_suffixes_get_lines_of_their_own():
    text = p.format_tensor(np.full(2000, 1.5, np.float32), suffixes=["grad_fn=<MulBackward0>"])
    assert text == lines(
        "tensor([1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],",
        "       grad_fn=<MulBackward0>)",
    )
    p.set_printoptions(linewidth=20)
    text = p.format_tensor(np.array(3.5), suffixes=["requires_grad=True"])
    assert text == lines(
        "tensor(3.5000,",
        "       dtype=tensorplay.float64,",
        "       requires_grad=True)",
    )


def test_suffixes_break_at_the_column_where_pytorch_breaks():
    def text(linewidth):
        p.set_printoptions(linewidth=linewidth)
        return p.format_tensor(c64(-1000), suffixes=["requires_grad=True"])

    assert text(41) == "tensor([-1000.+0.j], requires_grad=True)"
    assert text(40) == "tensor([-1000.+0.j],\n       requires_grad=True)"


def test_prefix_sets_the_indentation():
    text = p.format_tensor(np.arange(4).reshape(2, 2), prefix="Dual(", suffixes=["level=0"])
    assert text == lines("Dual([[0, 1],", "      [2, 3]], level=0)")


# --- several rows ---------------------------------------------------------------------------


def test_rows_share_one_width():
    assert p.format_tensor(np.arange(12).reshape(3, 4)) == lines(
        "tensor([[ 0,  1,  2,  3],",
        "        [ 4,  5,  6,  7],",
        "        [ 8,  9, 10, 11]])",
    )


def test_blank_lines_between_blocks():
    assert p.format_tensor(np.zeros((2, 1, 2, 1), np.float32)) == lines(
        "tensor([[[[0.],",
        "          [0.]]],",
        "",
        "",
        "        [[[0.],",
        "          [0.]]]])",
    )


def test_long_rows_wrap():
    assert p.format_tensor(f32(np.arange(22) * 1.5)) == lines(
        "tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,",
        "        12.0000, 13.5000, 15.0000, 16.5000, 18.0000, 19.5000, 21.0000, 22.5000,",
        "        24.0000, 25.5000, 27.0000, 28.5000, 30.0000, 31.5000])",
    )
    p.set_printoptions(linewidth=20)
    assert p.format_tensor(np.arange(20).reshape(2, 10)) == lines(
        "tensor([[ 0,  1,  2,",
        "          3,  4,  5,",
        "          6,  7,  8,",
        "          9],",
        "        [10, 11, 12,",
        "         13, 14, 15,",
        "         16, 17, 18,",
        "         19]])",
    )
    two = c64(0.5 + 0.5j, 1 + 1j)
    one_row, two_rows = "0.5000+0.5000j, 1.0000+1.0000j", "0.5000+0.5000j,\n        1.0000+1.0000j"
    for linewidth, expected in [(36, two_rows), (37, one_row)]:
        p.set_printoptions(linewidth=linewidth)
        assert p.format_tensor(two) == f"tensor([{expected}])"
    p.set_printoptions(linewidth=5)
    assert p.format_tensor(c64(0.5 + 1j, 2)) == "tensor([0.5000+1.j,\n        2.0000+0.j])"


# --- shortened tensors ----------------------------------------------------------------------


def test_only_more_than_1000_elements_are_shortened():
    assert "..." not in p.format_tensor(np.zeros((10, 100), np.float32))
    assert p.format_tensor(np.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert p.format_tensor(np.zeros((1001, 1), np.float32)) == lines(
        "tensor([[0.],",
        "        [0.],",
        "        [0.],",
        "        ...,",
        "        [0.],",
        "        [0.],",
        "        [0.]])",
    )


def test_dimensions_that_are_short_stay_whole():
    assert p.format_tensor(np.arange(2000).reshape(2, 1000)) == lines(
        "tensor([[   0,    1,    2,  ...,  997,  998,  999],",
        "        [1000, 1001, 1002,  ..., 1997, 1998, 1999]])",
    )


def test_a_dimension_of_twice_the_edge_is_not_shortened():
    text = p.format_tensor(np.zeros((6, 200), np.float32))
    assert text.count("\n") == 5
    assert ",\n        ...," not in text
    assert p.format_tensor(np.zeros((7, 200), np.float32)).count(",\n        ...,") == 1


def test_elements_that_are_not_shown_decide_nothing():
    values = np.ones(2000, np.float32)
    values[1000] = 1e-9
    assert p.format_tensor(values) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_shortened_rows_wrap():
    assert p.format_tensor(np.arange(2000, dtype=np.float32)) == lines(
        "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,",
        "        1.9990e+03])",
    )


def test_threshold_and_edgeitems():
    p.set_printoptions(threshold=5, edgeitems=1)
    assert p.format_tensor(np.arange(30)) == "tensor([ 0,  ..., 29])"
    assert p.format_tensor(np.arange(5)) == "tensor([0, 1, 2, 3, 4])"
    assert p.format_tensor(np.arange(27).reshape(3, 3, 3)) == lines(
        "tensor([[[ 0,  ...,  2],",
        "         ...,",
        "         [ 6,  ...,  8]],",
        "",
        "        ...,",
        "",
        "        [[18,  ..., 20],",
        "         ...,",
        "         [24,  ..., 26]]])",
    )
    p.set_printoptions(threshold=5, edgeitems=0)
    assert p.format_tensor(np.ones((3, 4), np.float32)) == "tensor([...], size=(3, 4))"


# --- options --------------------------------------------------------------------------------


def test_precision():
    p.set_printoptions(precision=2)
    assert p.format_tensor(f32([1.234, 5])) == "tensor([1.23, 5.00])"
    assert p.format_tensor(f32([1e-9])) == "tensor([1.00e-09])"
    assert p.format_tensor(c64(1 + 2.345j)) == "tensor([1.+2.35j])"
    p.set_printoptions(precision=0)
    assert p.format_tensor(f32([1.234, 5])) == "tensor([1, 5])"
    assert p.format_tensor(f32([1])) == "tensor([1.])"


def test_sci_mode():
    p.set_printoptions(sci_mode=True)
    assert p.format_tensor(f32([1, nan])) == "tensor([1.0000e+00,        nan])"
    assert p.format_tensor(f32([0, nan])) == "tensor([0., nan])"
    assert p.format_tensor(np.array([1])) == "tensor([1])"
    assert p.format_tensor(c64(1.5 + 1j)) == "tensor([1.5000e+00+1.0000e+00j])"
    p.set_printoptions(sci_mode=False)
    assert p.format_tensor(f32([1e20])) == "tensor([100000002004087734272.])"
    assert p.format_tensor(f32([1e-9, 0.5])) == "tensor([0.0000, 0.5000])"


def test_profiles():
    p.set_printoptions(profile="short")
    assert p.format_tensor(np.full(2000, 0.123, np.float32)) == (
        "tensor([0.12, 0.12,  ..., 0.12, 0.12])"
    )
    p.set_printoptions(profile="full")
    assert "..." not in p.format_tensor(np.zeros(2000, np.float32))
    p.set_printoptions(profile="default", precision=1)
    assert p.get_printoptions() == p.PrintOptions(precision=1)


def test_options_stay_until_set_again_except_sci_mode():
    p.set_printoptions(precision=2, threshold=7, edgeitems=1, linewidth=50, sci_mode=True)
    p.set_printoptions()
    assert p.get_printoptions() == p.PrintOptions(2, 7, 1, 50, None)


def test_given_options_take_precedence():
    text = p.format_tensor(f32([1.5]), options=p.PrintOptions(precision=1, sci_mode=True))
    assert text == "tensor([1.5e+00])"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"precision": "x"}, TypeError),
        ({"precision": -1}, ValueError),
        ({"edgeitems": 1.5}, TypeError),
        ({"linewidth": -3}, ValueError),
        ({"threshold": "many"}, TypeError),
        ({"profile": "FULL"}, ValueError),
    ],
    ids=str,
)
def test_wrong_options_change_nothing(wrong, error):
    with pytest.raises(error, match=f"set_printoptions.*{next(iter(wrong))}"):
        p.set_printoptions(**{"linewidth": 70} | wrong)
    assert p.get_printoptions() == p.PrintOptions()
