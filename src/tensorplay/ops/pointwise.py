"""Elementwise operators of several inputs that are more than one step of arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops import results
from tensorplay.ops.arithmetic import conjugate, is_number, mul
from tensorplay.ops.choices import where
from tensorplay.ops.kernels import refuse, typed
from tensorplay.ops.kinds import (
    batch_elementwise,
    elementwise,
    primitive,
    public,
    publish,
    tensors_only,
)
from tensorplay.ops.powers import exp2
from tensorplay.ops.sigmoids import sigmoid
from tensorplay.ops.structure import cast, convert
from tensorplay.ops.trigonometry import divide_or_zero

# --- interpolation, products and quotients added --------------------------------------------------


def _lerp(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> Any:
    # From the nearer end, so that weight 1 gives `end` exactly.
    step = y - x
    if w.ndim == 0:
        return _lerp_number(x, y, w[()])
    return np.where(np.abs(w) < 0.5, x + w * step, y - step * (1 - w))


def _lerp_number(x: np.ndarray, y: np.ndarray, weight: Any) -> Any:
    step = np.asarray(y - x)
    near = abs(weight) < 0.5
    step *= weight if near else weight - 1
    return np.add(step, x if near else y, out=step)


_lerp_map = core.MapKernel("lerp", 2, typed("lerp", _lerp_number, "fc"))
lerp_tensor = elementwise(
    "lerp", typed("lerp", _lerp, "fc"), lambda w: 1 - w, lambda w: w, lambda x, y: y - x,
    inputs=("x", "y", "w"),
)  # fmt: skip
lerp_number = elementwise(
    "lerp_number", _lerp_map, lambda weight: 1 - weight,
    lambda weight: weight, params=("weight",), quiet=True, node_name="LerpBackward0",
)  # fmt: skip


@public(inplace=True, out=True, direct=core.MapInplace(_lerp_map, "weight"))
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input), exactly `end` for weight 1; weight is a number or a tensor.

    Raises:
        RuntimeError: if the dtypes of input and end differ.

    >>> import tensorplay as tp
    >>> tp.lerp(tp.tensor([0., 10.]), tp.tensor([10., 20.]), 0.25)
    tensor([ 2.5000, 12.5000])
    """
    if not isinstance(input, Tensor) or not isinstance(end, Tensor):
        raise TypeError("lerp(): arguments 'input' and 'end' must be Tensor")
    if input.dtype is not end.dtype:
        raise RuntimeError(
            f"lerp(): end must have the dtype of input, got {end.dtype} for {input.dtype}; convert "
            "it with .to(input.dtype)"
        )
    if isinstance(weight, (int, float)):
        return lerp_number(input, end, weight)
    return lerp_tensor(input, end, weight)


def _scaled(x: Any, value: Any) -> Any:
    return x if is_number(value, 1) else x * value


def _addcmul(x: np.ndarray, y: np.ndarray, z: np.ndarray, value: Any) -> Any:
    product = np.asarray(np.multiply(y, z))
    if not is_number(value, 1):
        product *= _number_like(value, x)
    return _onto(product, x)


def _onto(term: np.ndarray, x: np.ndarray) -> Any:
    """x + term, in term's memory where that holds the result."""
    if term.shape == x.shape and term.dtype == x.dtype:
        return np.add(x, term, out=term)
    return x + term


def _number_like(value: Any, x: np.ndarray) -> Any:
    # Integers take the integer part of the number, as in PyTorch.
    return int(value) if x.dtype.kind in "iu" else value


def _addcdiv(x: np.ndarray, y: np.ndarray, z: np.ndarray, value: Any) -> Any:
    if x.dtype.kind not in "fVc":
        refuse("addcdiv", x.dtype)
    quotient = np.asarray(np.true_divide(y, z))
    if not is_number(value, 1):
        quotient *= value
    return _onto(quotient, x)


_addcmul_map = core.MapKernel("addcmul", 3, typed("addcmul", _addcmul, "ifc"))
_addcdiv_map = core.MapKernel("addcdiv", 3, typed("addcdiv", _addcdiv, "ifc"))
addcmul_op = elementwise(
    "addcmul", _addcmul_map,
    1, lambda z, value: _scaled(z, value), lambda y, value: _scaled(y, value),
    params=("value",), promote="same", quiet=True,
)  # fmt: skip
addcdiv_op = elementwise(
    "addcdiv", _addcdiv_map,
    vjp=(
        lambda g: g,
        lambda g, z, value: _scaled(g, value.conjugate()) / conjugate(z),
        lambda g, y, z, value: _scaled(-g, value.conjugate()) * conjugate(y / z / z),
    ),
    jvp=(
        lambda t: t,
        lambda t, z, value: _scaled(t, value) / z,
        lambda t, y, z, value: _scaled(-t, value) * (y / z / z),
    ),
    params=("value",), promote="same", quiet=True,
)  # fmt: skip


@public(inplace=True, out=True, direct=core.MapInplace(_addcmul_map, "value", 1))
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """`input + value * tensor1 * tensor2`, element by element."""
    return addcmul_op(input, tensor1, tensor2, value)


@public(inplace=True, out=True, direct=core.MapInplace(_addcdiv_map, "value", 1))
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """`input + value * tensor1 / tensor2`, element by element.

    Raises:
        NotImplementedError: for integer tensors.
    """
    return addcdiv_op(input, tensor1, tensor2, value)


# --- sums of exponentials -------------------------------------------------------------------------

# x - y, but 0 where both are the same infinity: the weights of a sum of exponentials at a tie.
difference = elementwise(
    "difference", lambda x, y: np.where(x == y, np.zeros((), x.dtype), x - y), 1, -1,
    node_name="SubBackward0",
)  # fmt: skip


def _logaddexp_real(x: np.ndarray, y: np.ndarray) -> Any:
    distance = np.asarray(np.abs(x - y))
    np.negative(distance, out=distance)
    result = np.maximum(x, y) + np.log1p(np.exp(distance, out=distance), out=distance)
    # np.logaddexp is ten times slower, but knows what to do with infinities.
    return result if np.isfinite(result).all() else np.logaddexp(x, y)


def _logaddexp(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind != "c":
        return _logaddexp_real(x, y)
    larger, smaller = np.where(x.real >= y.real, x, y), np.where(x.real >= y.real, y, x)
    same = larger == smaller  # infinities of one sign
    result = larger + np.log1p(np.exp(np.where(same, 0, smaller - larger)))
    return result.astype(x.dtype, copy=False)


logaddexp = elementwise(
    "logaddexp", typed("logaddexp", _logaddexp, "fc"),
    lambda x, y: sigmoid(difference(x, y)), lambda x, y: sigmoid(difference(y, x)),
    doc="log(exp(input) + exp(other)). Where both are -inf, or inf, each has derivative 1/2.",
)  # fmt: skip
logaddexp2 = elementwise(
    "logaddexp2", typed("logaddexp2", np.logaddexp2, "f"),
    lambda x, y: sigmoid(difference(x, y) * math.log(2)),
    lambda x, y: sigmoid(difference(y, x) * math.log(2)),
    doc="log2(2^input + 2^other). Where both are -inf, or inf, each has derivative 1/2.",
)  # fmt: skip

# --- products with a logarithm --------------------------------------------------------------------


def _xlogy(x: np.ndarray, y: np.ndarray) -> Any:
    return np.where((x == 0) & (y == y), np.zeros((), x.dtype), x * np.log(y))


def _xlog1py(x: np.ndarray, y: np.ndarray) -> Any:
    return np.where((x == 0) & (y == y), np.zeros((), x.dtype), x * np.log1p(y))


def _factor(x: Any, y: Any, lowest: float) -> Any:
    # The derivative by x is log(y); 0 where x is 0 and log(y) is not finite.
    return cast((x != 0).logical_or(y > lowest), x.dtype)


xlogy = elementwise(
    "xlogy", typed("xlogy", _xlogy, "f"),
    lambda x, y: xlogy(_factor(x, y, 0.0), y), lambda x, y: divide_or_zero(x, y),
    doc="input * log(other), and 0 where input is 0, with derivatives 0 where both are.",
)  # fmt: skip
xlog1py = elementwise(
    "xlog1py", typed("xlog1py", _xlog1py, "f"),
    lambda x, y: xlog1py(_factor(x, y, -1.0), y), lambda x, y: divide_or_zero(x, y + 1),
    doc="input * log1p(other), and 0 where input is 0.",
)  # fmt: skip

# --- logit ----------------------------------------------------------------------------------------

logit_op = elementwise(
    "logit", typed("logit", lambda x: np.log(x / (1 - x)), "f"),
    vjp=lambda g, x: where(x * (1 - x) < 0, math.nan, g / (x * (1 - x))),
)  # fmt: skip


@public(inplace=True, out=True)
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`; nan outside [0, 1].

    eps: limit the input to [eps, 1 - eps] first; the derivative outside is then 0.

    >>> import tensorplay as tp
    >>> tp.logit(tp.tensor([0.5, 1.]), eps=0.01)
    tensor([0.0000, 4.5951])
    """
    if eps is None:
        return logit_op(input)
    if not input.dtype.is_floating_point:
        input = convert(input, dtypes.get_default_dtype())
    return logit_op(input.clamp(eps, 1 - eps))


# --- powers of two --------------------------------------------------------------------------------


def _ldexp_kernel(x: np.ndarray, n: np.ndarray) -> Any:
    # NumPy's exponents are C ints; beyond +-5000 every result is 0 or infinite in any dtype.
    return np.ldexp(x, np.clip(n, -5000, 5000).astype(np.int32))


ldexp_op = elementwise(
    "ldexp", typed("ldexp", _ldexp_kernel, "f"),
    vjp=(lambda g, n: ldexp_op(g, n), None), inputs=("x", "n"), promote=None,
)  # fmt: skip


@public(inplace=True, out=True)
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """`input * 2 ** other`, exact and without intermediate overflow for integer `other`.

    >>> import tensorplay as tp
    >>> tp.ldexp(tp.tensor([1.]), tp.tensor([1, 2, 3]))
    tensor([2., 4., 8.])
    """
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise TypeError("ldexp(): arguments 'input' and 'other' must be Tensor")
    if other.dtype.category > dtypes.INTEGER:
        return mul(input, exp2(other))
    if input.dtype.is_complex:
        return mul(input, exp2(convert(other, input.dtype.to_real())))
    if not input.dtype.is_floating_point:
        input = convert(input, dtypes.get_default_dtype())
    return ldexp_op(input, other)


def _frexp_kernel(x: np.ndarray) -> Any:
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0).astype(np.int32)


frexp_op = primitive(
    "frexp", typed("frexp", _frexp_kernel, "f"),
    vjp=lambda g, out: ldexp_op(g[0], -out[1]), jvp=lambda t, out: (ldexp_op(t, -out[1]), None),
    batch=batch_elementwise, outputs=2, fixed=(1,),
)  # fmt: skip


@public(out=True)
def frexp(input: Tensor) -> Any:
    """Mantissa (0.5 <= |m| < 1, or 0) and int32 exponent with `input = mantissa * 2 ** exponent`.

    >>> import tensorplay as tp
    >>> tp.frexp(tp.tensor([8.])).exponent
    tensor([4], dtype=tensorplay.int32)
    """
    found = frexp_op(input)
    return results.frexp(*found)


publish(xlogy, "xlogy", inplace=True)
for _primitive in (logaddexp, logaddexp2):
    publish(_primitive, _primitive.name)
for _name, _function in (("xlogy", xlogy), ("xlog1py", xlog1py), ("logit", logit)):
    publish(_function, _name, namespace="special", method=False)

tensors_only(logaddexp, logaddexp2)
