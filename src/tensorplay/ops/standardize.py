"""Standardising over dims, fused: what layer, batch, group and instance norm are made of.

    y = h * w + b,   h = (x - mean(x)) * r,   r = 1 / sqrt(var(x) + eps)

with mean and variance over `dims`; w and b (or None) have as many dims as x and broadcast to it.
The Jacobian of h by x is J(v) = r * (v - mean(v) - h * mean(v * h)), which is symmetric. Three
primitives are closed under differentiation, but for the one rule that is written out:

    standardize(x, w, b) = y        standardize_input(v, x, w) = J(v * w)
    standardize_weight(v, x) = v * h, summed down to a shape

standardize_backward is the last two and the sum of v at once, in one pass over memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import batch_size, front, materialize, primitive
from tensorplay.ops.structure import expand_to, sum_to

_mean = core.ReduceKernel("mean", np.mean)
_rows = core.NormKernel("standardize", 1)
_rows_input = core.NormKernel("standardize_input", 2)
_rows_weight = core.NormKernel("standardize_weight", 2, 1)
_rows_backward = core.NormKernel("standardize_backward", 2, 2, True)


def count(x: Any, dims: Any) -> int:
    """How many elements each mean is over."""
    return math.prod(x.shape[d] for d in dims)


# --- kernels --------------------------------------------------------------------------------------
#
# Compiled where the dims are the last ones and the weight is one row of them (layer norm), and for
# images with a weight per channel (batch, group and instance norm); else with NumPy.


def _is_row(x: np.ndarray, dims: tuple[int, ...], *weights: np.ndarray | None) -> bool:
    """Whether the dims are the last ones, and each weight has their sizes, and no others."""
    lead = x.ndim - len(dims)
    shape = (1,) * lead + x.shape[lead:]
    return bool(dims) and dims[0] == lead and all(w is None or w.shape == shape for w in weights)


def _images(
    x: np.ndarray, dims: tuple[int, ...], *weights: np.ndarray | None
) -> tuple[tuple[int, int, int], int] | None:
    """x's sizes as (samples, channels, inner) and the number of groups, 0 for batch norm; or None.

    None where the dims or the shape of a weight are not of that kind.
    """
    if x.ndim < 2:
        return None
    if dims == (0, *range(2, x.ndim)):
        inner, groups = 2, 0
    elif dims and dims == tuple(range(2, x.ndim)):
        # A group is an entry of dim 1; its channels, with a weight each, are those of dim 2.
        split = any(w is not None and w.shape[2] != 1 for w in weights)
        inner, groups = 3 if split else 2, x.shape[1]
    else:
        return None
    shape = (1, *x.shape[1:inner]) + (1,) * (x.ndim - inner)
    if not all(w is None or w.shape == shape for w in weights):
        return None
    return (x.shape[0], math.prod(x.shape[1:inner]), math.prod(x.shape[inner:])), groups


def _mean_over(x: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    """The mean with the dims kept; over one run of neighbouring dims after the other."""
    runs: list[list[int]] = []
    for d in dims:
        if runs and runs[-1][-1] == d - 1:
            runs[-1].append(d)
        else:
            runs.append([d])
    for run in reversed(runs):
        x = np.asarray(_mean(x, tuple(run), True))
    return x


def _centred(x: np.ndarray, dims: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray]:
    """(x - mean, r)."""
    centred = x - _mean_over(x, dims)
    return centred, 1 / np.sqrt(_mean_over(np.square(centred), dims) + x.dtype.type(eps))


def _standardize_kernel(
    x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, dims: Any, eps: float
) -> np.ndarray:
    out = None
    if _is_row(x, dims, w, b):
        out = _rows(core.ordered(x), w, b, count(x, dims), eps)
    elif images := _images(x, dims, w, b):
        out = core.channels_kernel(None, core.ordered(x), w, b, *images, eps)
    if out is not None:
        return out
    centred, r = _centred(x, dims, eps)
    centred *= r
    if w is not None:
        centred *= w
    if b is not None:
        centred += b
    return centred


def _input_kernel(
    v: np.ndarray, x: np.ndarray, w: np.ndarray | None, dims: Any, eps: float
) -> np.ndarray:
    found = None
    if _is_row(x, dims, w):
        v, x = core.ordered(v), core.ordered(x)
        found = _rows_input(v, x, w, count(x, dims), eps)
    elif images := _images(x, dims, w):
        v, x = core.ordered(v), core.ordered(x)
        both = core.channels_kernel(v, x, w, None, *images, eps)
        found = None if both is None else both[0]
    if found is not None:
        return found
    h, r = _centred(x, dims, eps)
    h *= r
    scaled = v if w is None else v * w
    term = scaled * h
    h *= _mean_over(term, dims)
    np.subtract(scaled, h, out=term)
    term -= _mean_over(scaled, dims)
    term *= r
    return term


def _weight_kernel(v: np.ndarray, x: np.ndarray, dims: Any, eps: float, shape: Any) -> np.ndarray:
    if _is_row(x, dims) and shape == (1,) * dims[0] + x.shape[dims[0] :]:
        v, x = core.ordered(v), core.ordered(x)
        out = _rows_weight(v, x, None, count(x, dims), eps)
        if out is not None:
            return out.reshape(shape)
    h, r = _centred(x, dims, eps)
    h *= r
    h *= v
    return core.sum_to_kernel(h, shape)


def _backward_kernel(
    v: np.ndarray, x: np.ndarray, w: np.ndarray, dims: Any, eps: float, shape: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if shape == w.shape and _is_row(x, dims, w):
        v, x = core.ordered(v), core.ordered(x)
        out = _rows_backward(v, x, w, count(x, dims), eps)
        if out is not None:
            by_w, by_b = out[x.size :].reshape(2, *shape)
            return out[: x.size].reshape(x.shape), by_w, by_b
    elif shape == w.shape and (images := _images(x, dims, w)):
        v, x = core.ordered(v), core.ordered(x)
        both = core.channels_kernel(v, x, w, None, *images, eps)
        if both is not None:
            by_w, by_b = both[1].reshape(2, *shape)
            return both[0], by_w, by_b
    return (
        _input_kernel(v, x, w, dims, eps),
        _weight_kernel(v, x, dims, eps, shape),
        core.sum_to_kernel(v, shape),
    )


# --- rules ----------------------------------------------------------------------------------------


def _statistics(x: Any, dims: Any, eps: float) -> tuple[Any, Any]:
    """(h, r) in tensor operations."""
    centred = x - x.mean(dims, keepdim=True)
    r = ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    return centred * r, r


def _product(x: Any, w: Any) -> Any:
    return x if w is None else x * w


def _standardize_vjp(
    g: Any, x: Any, w: Any, dims: Any, eps: float, w_shape: Any, b_shape: Any, wanted: Any
) -> Any:
    if all(wanted) and w_shape == b_shape:
        return standardize_backward(g, x, w, dims, eps, tuple(w_shape))
    return (
        standardize_input(g, x, w, dims, eps) if wanted[0] else None,
        standardize_weight(g, x, dims, eps, tuple(w_shape)) if wanted[1] else None,
        sum_to(g, tuple(b_shape)) if wanted[2] else None,
    )


def _input_by_x_vjp(g: Any, v: Any, x: Any, w: Any, dims: Any, eps: float) -> Any:
    """The cotangent of x under <g, J(v w)>: both g and v w enter symmetrically."""
    h, r = _statistics(x, dims, eps)
    a, s = g, _product(v, w)

    def mean(z: Any) -> Any:
        return z.mean(dims, keepdim=True)

    a_along, s_along = mean(a * h), mean(s * h)
    both = a * s_along + s * a_along
    spread = mean(a * s) - mean(a) * mean(s) - a_along * s_along
    return -r * r * (both - mean(both) - h * mean(both * h) + h * spread)


def _input_by_x_jvp(t: Any, v: Any, x: Any, w: Any, dims: Any, eps: float) -> Any:
    # The third derivative of the same form is symmetric: the transpose is the form itself.
    return _input_by_x_vjp(t, v, x, w, dims, eps)


def _input_vjp(
    g: Any, v: Any, x: Any, w: Any, dims: Any, eps: float, w_shape: Any, wanted: Any
) -> Any:
    by_scaled = standardize_input(g, x, None, dims, eps) if wanted[0] or wanted[2] else None
    return (
        _product(by_scaled, w) if wanted[0] else None,
        _input_by_x_vjp(g, v, x, w, dims, eps) if wanted[1] else None,
        sum_to(by_scaled * v, tuple(w_shape)) if wanted[2] else None,
    )


def _joined(*terms: Any) -> Any:
    """The sum of the terms that are not None."""
    found = [term for term in terms if term is not None]
    return sum(found[1:], found[0]) if found else None


def _backward_vjp(
    g: Any, v: Any, x: Any, w: Any, dims: Any, eps: float, v_shape: Any, w_shape: Any, wanted: Any
) -> Any:
    a, b, c = g
    by_v = by_x = by_w = None
    if a is not None:
        by_v, by_x, by_w = _input_vjp(a, v, x, w, dims, eps, w_shape, wanted)
    return (
        _joined(
            by_v,
            None if b is None else standardize(x, b, None, dims, eps),
            None if c is None else expand_to(c, tuple(v_shape)),
        )
        if wanted[0]
        else None,
        _joined(by_x, None if b is None else standardize_input(v, x, b, dims, eps))
        if wanted[1]
        else None,
        by_w,
    )


def _backward_jvp(
    t: Any, v: Any, x: Any, w: Any, dims: Any, eps: float, shape: Any
) -> tuple[Any, Any, Any]:
    tv, tx, tw = t
    return (
        _joined(
            None if tv is None else standardize_input(tv, x, w, dims, eps),
            None if tx is None else _input_by_x_jvp(tx, v, x, w, dims, eps),
            None if tw is None else standardize_input(v, x, tw, dims, eps),
        ),
        _joined(
            None if tv is None else standardize_weight(tv, x, dims, eps, shape),
            None if tx is None else sum_to(v * standardize_input(tx, x, None, dims, eps), shape),
        ),
        None if tv is None else sum_to(tv, shape),
    )


# --- batching -------------------------------------------------------------------------------------


def _batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    """The batch in front of every input; an input the same for all samples broadcasts."""
    size = batch_size(values, bdims)
    full = p is not standardize  # all inputs of x's shape must have the batch
    moved: list[Any] = []
    for name, value, bdim in zip(p.arg_names, values, bdims, strict=True):
        if value is None:
            moved.append(None)
        elif bdim is None and name in ("w", "b"):
            moved.append(value.unsqueeze(0))
        elif bdim is None and (full or name == "x"):
            moved.append(materialize(value, None, size))
        else:
            moved.append(front(value, bdim))
    dims, eps, *shape = params
    shifted = tuple(d + 1 for d in dims)
    return p.apply(moved, shifted, eps, *((size, *s) for s in shape)), 0


# --- primitives -----------------------------------------------------------------------------------

standardize = primitive(
    "standardize",
    typed("standardize", _standardize_kernel, "f"),
    inputs=("x", "w", "b"),
    params=("dims", "eps"),
    vjp=_standardize_vjp,
    jvp=(
        lambda t, x, w, dims, eps: _product(standardize_input(t, x, None, dims, eps), w),
        lambda t, x, dims, eps: standardize(x, t, None, dims, eps),
        lambda t, x: t.expand(x.shape),
    ),
    batch=_batch,
    node_name="NativeLayerNormBackward0",
)
standardize_input = primitive(
    "standardize_input",
    typed("standardize", _input_kernel, "f"),
    inputs=("v", "x", "w"),
    params=("dims", "eps"),
    vjp=_input_vjp,
    jvp=(
        lambda t, x, w, dims, eps: standardize_input(t, x, w, dims, eps),
        _input_by_x_jvp,
        lambda t, v, x, dims, eps: standardize_input(v, x, t, dims, eps),
    ),
    batch=_batch,
    node_name="NativeLayerNormBackwardBackward0",
)
standardize_weight = primitive(
    "standardize_weight",
    typed("standardize", _weight_kernel, "f"),
    inputs=("v", "x"),
    params=("dims", "eps", "shape"),
    vjp=(
        lambda g, x, dims, eps: standardize(x, g, None, dims, eps),
        lambda g, v, x, dims, eps: standardize_input(v, x, g, dims, eps),
    ),
    jvp=(
        lambda t, x, dims, eps, shape: standardize_weight(t, x, dims, eps, shape),
        lambda t, v, x, dims, eps, shape: sum_to(
            v * standardize_input(t, x, None, dims, eps), shape
        ),
    ),
    batch=_batch,
    node_name="NativeLayerNormBackwardBackward0",
)

standardize_backward = primitive(
    "standardize_backward",
    typed("standardize", _backward_kernel, "f"),
    inputs=("v", "x", "w"),
    params=("dims", "eps", "shape"),
    vjp=_backward_vjp,
    jvp=_backward_jvp,
    batch=_batch,
    outputs=3,
    node_name="NativeLayerNormBackwardBackward0",
)
