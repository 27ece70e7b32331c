"""Comparisons, logic, bits, and tests of single elements. None has a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kernels import is_half, typed
from tensorplay.ops.kinds import elementwise, public, publish, require_tensor, tensors_only

# --- comparisons ----------------------------------------------------------------------------------


def _quiet(function: Any) -> Any:
    # NumPy warns of nan in comparisons of half precision only.
    def kernel(*arrays: np.ndarray) -> Any:
        if is_half(arrays[0].dtype):
            with np.errstate(invalid="ignore"):
                return function(*arrays)
        return function(*arrays)

    return kernel


def _comparison(name: str, function: Any, doc: str, categories: str = "bif") -> Any:
    kernel = typed(name, _quiet(function), categories, widen=False)
    return elementwise(
        name, kernel, None, None, promote="same", quiet=True, loop=name, doc=doc
    )  # fmt: skip


eq = _comparison("eq", np.equal, "Whether `input` equals `other`, element by element.", "bifc")
ne = _comparison("ne", np.not_equal, "Whether `input` differs from `other`.", "bifc")
lt = _comparison("lt", np.less, "Whether `input` is less than `other`.")
le = _comparison("le", np.less_equal, "Whether `input` is at most `other`.")
gt = _comparison("gt", np.greater, "Whether `input` is greater than `other`.")
ge = _comparison("ge", np.greater_equal, "Whether `input` is at least `other`.")

isclose_op = elementwise(
    "isclose",
    lambda x, y, rtol, atol, equal_nan: _isclose(x, y, rtol, atol, equal_nan),
    None, None, params=("rtol", "atol", "equal_nan"), promote=None,
)  # fmt: skip


def _isclose(x: np.ndarray, y: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = x == y
    if equal_nan and x.dtype.kind in "fVc":
        close = close | ((x != x) & (y != y))
    if x.dtype == np.bool_ or (rtol == 0 and atol == 0):
        return close
    if x.dtype.kind in "iu" or x.dtype.kind == "V":
        x, y = x.astype(np.float64), y.astype(np.float64)
    distance = np.abs(x - y)
    return close | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * y)))


@public()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:  # fmt: skip
    """Whether `|input - other| <= atol + rtol * |other|`, element by element.

    Raises:
        RuntimeError: if the dtypes differ, or a tolerance is negative.

    >>> import tensorplay as tp
    >>> tp.isclose(tp.tensor([1., 2.]), tp.tensor([1., 2.1]))
    tensor([ True, False])
    """
    require_tensor(input, "isclose")
    require_tensor(other, "isclose", "other")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose(): dtypes differ: {input.dtype} and {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(
            f"isclose(): rtol and atol must not be negative, got rtol={rtol}, atol={atol}"
        )
    return isclose_op(input, other, rtol, atol, equal_nan)


# --- logic ----------------------------------------------------------------------------------------


def _logical(name: str, function: Any, inputs: int, doc: str) -> Any:
    kernel = typed(name, function, "bifc", widen=False)
    return elementwise(name, kernel, *[None] * inputs, promote="same", quiet=True, doc=doc)


logical_and = _logical("logical_and", np.logical_and, 2, "Whether both are nonzero.")
logical_or = _logical("logical_or", np.logical_or, 2, "Whether one or both are nonzero.")
logical_xor = _logical("logical_xor", np.logical_xor, 2, "Whether just one is nonzero.")
logical_not = _logical("logical_not", np.logical_not, 1, "Whether an element is zero.")

# --- bits -----------------------------------------------------------------------------------------


def _bitwise(name: str, function: Any, inputs: int, doc: str, categories: str = "bi") -> Any:
    kernel = typed(name, function, categories)
    return elementwise(name, kernel, *[None] * inputs, promote="same", doc=doc)


def _left_shift(x: np.ndarray, y: np.ndarray) -> Any:
    # Shifts by a negative number, or by all bits and more, leave nothing.
    inside = (y >= 0) & (y < 8 * x.dtype.itemsize)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0).astype(x.dtype)


def _right_shift(x: np.ndarray, y: np.ndarray) -> Any:
    # Shifts by a negative number, or by all bits and more, leave the sign.
    bits = 8 * x.dtype.itemsize
    if x.dtype.kind == "u":
        return np.where(y < bits, np.right_shift(x, np.minimum(y, bits - 1)), 0).astype(x.dtype)
    inside = (y >= 0) & (y < bits)
    return np.right_shift(x, np.where(inside, y, bits - 1).astype(x.dtype))


bitwise_and = _bitwise("bitwise_and", np.bitwise_and, 2, "The bits set in both.")
bitwise_or = _bitwise("bitwise_or", np.bitwise_or, 2, "The bits set in one or both.")
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor, 2, "The bits set in just one.")
bitwise_not = _bitwise("bitwise_not", np.invert, 1, "The bits not set; `logical_not` of bools.")
bitwise_left_shift = _bitwise(
    "bitwise_left_shift", _left_shift, 2, "The bits moved to the left by `other` places.", "i"
)
bitwise_right_shift = _bitwise(
    "bitwise_right_shift", _right_shift, 2,
    "The bits moved to the right by `other` places; the sign stays.", "i",
)  # fmt: skip

# --- tests of single elements ---------------------------------------------------------------------


def _test(name: str, function: Any, doc: str, categories: str = "bifc") -> Any:
    kernel = typed(name, function, categories, widen=False)
    return elementwise(name, kernel, None, promote="same", quiet=True, doc=doc)


def _false(x: np.ndarray) -> Any:
    return np.zeros(x.shape, np.bool_)


def _of_floats(function: Any, otherwise: Any) -> Any:
    return lambda x: function(x) if x.dtype.kind in "fVc" else otherwise(x)


isnan = _test("isnan", core.nan_kernel, "Whether an element is nan.")
isinf = _test("isinf", _of_floats(np.isinf, _false), "Whether an element is infinite.")
isfinite = _test(
    "isfinite", _of_floats(np.isfinite, lambda x: ~_false(x)),
    "Whether an element is neither infinite nor nan.",
)  # fmt: skip
isposinf = _test(
    "isposinf", _of_floats(lambda x: x == np.inf, _false), "Whether an element is inf.", "bif"
)
isneginf = _test(
    "isneginf", _of_floats(lambda x: x == -np.inf, _false), "Whether an element is -inf.", "bif"
)
isreal = _test(
    "isreal", lambda x: x.imag == 0 if x.dtype.kind == "c" else ~_false(x),
    "Whether an element has no imaginary part.",
)  # fmt: skip

for _primitive in (
    eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor, logical_not, bitwise_and,
    bitwise_or, bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift,
):  # fmt: skip
    publish(_primitive, _primitive.name, inplace=True)
for _primitive in (isnan, isinf, isfinite, isreal, isposinf, isneginf):
    publish(_primitive, _primitive.name)
for _alias, _primitive in (
    ("greater", gt), ("less", lt), ("greater_equal", ge), ("less_equal", le), ("not_equal", ne),
):  # fmt: skip
    publish(_primitive, _alias, inplace=True)

tensors_only(logical_and, logical_or, logical_xor)
