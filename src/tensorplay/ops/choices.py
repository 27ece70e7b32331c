"""Choices between values: where, maximum and minimum, clamp, and replacing what is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, weak_tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import is_half, masked, select, typed
from tensorplay.ops.kinds import elementwise, method, public, publish, tensors_only
from tensorplay.ops.structure import cast


def _fits(number: Any, dtype: dtypes.dtype) -> bool:
    """Whether a number takes the dtype of the tensors that it meets."""
    return dtype.is_complex or (dtype.is_floating_point and not isinstance(number, complex))


def promote_together(*values: Any) -> list[Tensor]:
    """Tensors and numbers as tensors of their common dtype."""
    if core.one_dtype(*values):
        return list(values)
    dtypes_seen = {x.dtype for x in values if isinstance(x, Tensor)}
    if len(dtypes_seen) == 1:
        (only,) = dtypes_seen
        if all(isinstance(x, Tensor) or _fits(x, only) for x in values):
            return [x if isinstance(x, Tensor) else core.from_array(np.array(x, only.numpy))
                    for x in values]  # fmt: skip
    tensors = [x if isinstance(x, Tensor) else weak_tensor(x) for x in values]
    target = core.result_dtype(tensors)
    return [x if x.dtype is target else cast(x, target) for x in tensors]


# --- where ----------------------------------------------------------------------------------------

where_select = elementwise(
    "where",
    select,
    vjp=(None, lambda g, c: keep(g, c), lambda g, c: drop(g, c)),
    jvp=(None, lambda t, c: keep(t, c), lambda t, c: drop(t, c)),
    inputs=("c", "x", "y"), promote=None, quiet=True, node_name="WhereBackward0",
)  # fmt: skip

# A cotangent where a condition holds, and 0 elsewhere, whatever it is there (inf, nan): what rules
# of operators that choose are made of.
keep = elementwise(
    "keep",
    lambda u, c: masked(c, u),
    vjp=(lambda g, c: keep(g, c), None),
    inputs=("u", "c"), promote=None, quiet=True, node_name="WhereBackward0",
)  # fmt: skip
drop = elementwise(
    "drop",
    lambda u, c: masked(~c, u),
    vjp=(lambda g, c: drop(g, c), None),
    inputs=("u", "c"), promote=None, quiet=True, node_name="WhereBackward0",
)  # fmt: skip


@public(out=True, method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` holds, else `other`; with the condition alone, its nonzero indices.

    condition: bool tensor. input, other: tensors or numbers, broadcast with the condition and
    promoted to a common dtype. Both branches are computed before the choice: where the branch that
    is not taken has an infinite derivative, its gradient is nan. Choose the operand first, as in
    `sqrt(where(x > 0, x, 1))`, or use `func.safe_where`.

    Raises:
        RuntimeError: if the condition is not bool.

    >>> import tensorplay as tp
    >>> tp.where(tp.tensor([True, False]), tp.tensor([1., 2.]), 0)
    tensor([1., 0.])
    """
    if not isinstance(condition, Tensor):
        raise TypeError(
            f"where(): argument 'condition' must be Tensor, not {type(condition).__name__}"
        )
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise TypeError("where(): give both 'input' and 'other', or neither")
    if condition.dtype is not dtypes.bool:
        if condition.dtype is not dtypes.uint8:
            raise RuntimeError(
                f"where(): expected condition to be a bool tensor, got dtype {condition.dtype}; "
                "compare first, e.g. condition != 0"
            )
        condition = condition.bool()
    if core.one_dtype(input, other):
        return where_select(condition, input, other)
    return where_select(condition, *promote_together(input, other))


@method("where")
def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor where `condition` holds, else `other`."""
    return where(condition, self, other)


# --- the larger and the smaller -------------------------------------------------------------------


# The cotangent of the side `x` of a choice of the larger: half of it where both are equal. (A nan
# on either side passes it to both, as in PyTorch.)
def _larger_share(u: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    share, tie = masked(~np.less(x, y), u), np.equal(x, y)
    return select(tie, u * u.dtype.type(0.5), share) if np.any(tie) else share


larger_share = elementwise(
    "larger_share", _larger_share,
    vjp=(lambda g, x, y: larger_share(g, x, y), None, None),
    inputs=("u", "x", "y"), promote="same", node_name="MaximumBackward0",
)  # fmt: skip
maximum = elementwise(
    "maximum", typed("maximum", np.maximum, widen=False),
    vjp=(lambda g, x, y: larger_share(g, x, y), lambda g, x, y: larger_share(g, y, x)),
    promote="same", loop="maximum",
    doc="The larger of two, element by element, nan where either is; a tie halves the gradient.",
)  # fmt: skip
minimum = elementwise(
    "minimum", typed("minimum", np.minimum, widen=False),
    vjp=(lambda g, x, y: larger_share(g, y, x), lambda g, x, y: larger_share(g, x, y)),
    promote="same", loop="minimum",
    doc="The smaller of two, element by element, nan where either is; a tie halves the gradient.",
)  # fmt: skip
# A tie gives its gradient to the first input.
fmax = elementwise(
    "fmax", typed("fmax", np.fmax, widen=False),
    vjp=(
        lambda g, x, y: keep(g, (x >= y).logical_or(y != y)),
        lambda g, x, y: drop(g, (x >= y).logical_or(y != y)),
    ),
    promote="same",
    doc="The larger of two, element by element; where one is nan, the other.",
)  # fmt: skip
fmin = elementwise(
    "fmin", typed("fmin", np.fmin, widen=False),
    vjp=(
        lambda g, x, y: keep(g, (x <= y).logical_or(y != y)),
        lambda g, x, y: drop(g, (x <= y).logical_or(y != y)),
    ),
    promote="same",
    doc="The smaller of two, element by element; where one is nan, the other.",
)  # fmt: skip

# --- clamp ----------------------------------------------------------------------------------------

clamp_min = elementwise(
    "clamp_min", typed("clamp_min", np.maximum, widen=False),
    vjp=(lambda g, x, y: keep(g, x >= y), lambda g, x, y: keep(g, x < y)),
    promote="same", loop="maximum",
    doc="`input`, but at least the bound (a number or a tensor). The derivative is 1 at the bound.",
)  # fmt: skip
clamp_max = elementwise(
    "clamp_max", typed("clamp_max", np.minimum, widen=False),
    vjp=(lambda g, x, y: keep(g, x <= y), lambda g, x, y: keep(g, x > y)),
    promote="same", loop="minimum",
    doc="`input`, but at most the bound (a number or a tensor). The derivative is 1 at the bound.",
)  # fmt: skip
clamp_min.keywords = ("input", "min")
clamp_max.keywords = ("input", "max")
# Between two numbers, in one pass.
clamp_between = elementwise(
    "clamp",
    core.MapKernel(
        "hardtanh", 1, typed("clamp", lambda x, min, max: _clip(x, min, max), widen=False)
    ),
    vjp=lambda g, x, min, max: clamp_backward(g, x, min, max),
    params=("min", "max"), promote="same", quiet=True,
)  # fmt: skip
clamp_backward = elementwise(
    "clamp_backward",
    lambda u, x, min, max: masked((x >= x.dtype.type(min)) & (x <= x.dtype.type(max)), u),
    vjp=(lambda g, x, min, max: clamp_backward(g, x, min, max), None),
    inputs=("u", "x"), params=("min", "max"), promote="same",
)  # fmt: skip


def _clip(x: np.ndarray, min: float, max: float) -> Any:
    if x.size < 2048 or is_half(x.dtype):  # np.clip is a slow Python function
        return np.minimum(np.maximum(x, x.dtype.type(min)), x.dtype.type(max))
    return np.clip(x, x.dtype.type(min), x.dtype.type(max))


@public(inplace=True, out=True, aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`input` limited to [min, max]; a bound is a number, a tensor, or None.

    Where min is above max, the result is max. The derivative is 1 from min to max, bounds
    included, and 0 outside.

    Raises:
        RuntimeError: when both bounds are None.

    >>> import tensorplay as tp
    >>> tp.clamp(tp.tensor([-2., 0.5, 3.]), -1, 1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of 'min' or 'max' must not be None")
    if isinstance(input, Tensor) and input.dtype.is_complex:
        raise RuntimeError(
            f"clamp(): not implemented for dtype {input.dtype.name}, whose numbers have no order; "
            "clamp the real and imaginary parts"
        )
    if min is None:
        return clamp_max(input, max)
    if max is None:
        return clamp_min(input, min)
    if (
        isinstance(min, (int, float))
        and isinstance(max, (int, float))
        and min <= max
        and isinstance(input, Tensor)
        and input.dtype.is_floating_point
    ):
        return clamp_between(input, min, max)
    return clamp_max(clamp_min(input, min), max)


# --- values that are not finite -------------------------------------------------------------------


def _nan_to_num_kernel(x: np.ndarray, nan: float, posinf: Any, neginf: Any) -> Any:
    if x.dtype.kind in "biu":
        return x.copy()
    limits = dtypes.finfo(dtypes.from_numpy(x.dtype))
    result = x.copy()
    if np.isfinite(x).all():
        return result
    for part in (result.real, result.imag) if x.dtype.kind == "c" else (result,):
        for chosen, value in (
            (part != part, nan),
            (part == np.inf, limits.max if posinf is None else posinf),
            (part == -np.inf, limits.min if neginf is None else neginf),
        ):
            part[chosen] = value
    return result


nan_to_num_op = elementwise(
    "nan_to_num",
    typed("nan_to_num", _nan_to_num_kernel, "bifc", widen=False),
    vjp=lambda g, x: _keep_finite(g, x),
    jvp=lambda t, x: _keep_finite(t, x),
    params=("nan", "posinf", "neginf"), promote="same",
)  # fmt: skip


def _keep_finite(g: Any, x: Any) -> Any:
    # The parts of a complex number are replaced one by one.
    if x.dtype.is_complex:
        return keep(g.real, x.real.isfinite()) + 1j * keep(g.imag, x.imag.isfinite())
    return keep(g, x.isfinite())


@public(inplace=True, out=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:  # fmt: skip
    """`input` with nan, inf and -inf replaced, by 0 and the largest and smallest finite numbers.

    The derivative is 0 where a value was replaced.

    >>> import tensorplay as tp
    >>> tp.nan_to_num(tp.tensor([1., float('nan'), float('inf')]), posinf=9.)
    tensor([1., 0., 9.])
    """
    return nan_to_num_op(input, 0.0 if nan is None else nan, posinf, neginf)


# --- steps ----------------------------------------------------------------------------------------


def _heaviside(x: np.ndarray, y: np.ndarray) -> Any:
    step = np.where(x != x, x, x > 0)
    return np.where(x == 0, y, step).astype(x.dtype, copy=False)


heaviside = elementwise(
    "heaviside",
    typed("heaviside", _heaviside, widen=False),
    vjp=(lambda g: g * 0, lambda g, x: keep(g, x == 0)),
    promote="same",
    doc="0 for negative input, 1 for positive, `values` at 0 and nan at nan.",
)  # fmt: skip
heaviside.keywords = ("input", "values")

for _primitive in (maximum, minimum, fmax, fmin):
    publish(_primitive, _primitive.name)
for _primitive in (clamp_min, clamp_max, heaviside):
    publish(_primitive, _primitive.name, inplace=True)

tensors_only(fmax, fmin, heaviside)
