"""softmax and log_softmax: fused forward and backward, each with rules of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import FLOAT32
from tensorplay.ops.kinds import primitive, public, shifting, wrap_dim
from tensorplay.ops.structure import convert

# --- kernels --------------------------------------------------------------------------------------


def _softmax(x: np.ndarray, dim: int) -> np.ndarray:
    exps = np.exp(x - np.max(x, axis=dim, keepdims=True, initial=-np.inf))
    return exps / np.sum(exps, axis=dim, keepdims=True)


def _log_softmax(x: np.ndarray, dim: int) -> np.ndarray:
    shifted = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))


def _softmax_backward(g: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def _log_softmax_backward(g: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    return g - np.exp(y) * np.sum(g, axis=dim, keepdims=True)


def _along_dim(loop: str, fallback: Callable[..., Any], two: bool = False) -> Callable[..., Any]:
    """A kernel `(*arrays, dim)`: the compiled loop, or else NumPy.

    Half precision is computed in float32, as PyTorch does.
    """

    def general(*args: Any) -> np.ndarray:
        *arrays, dim = args
        dtype = arrays[0].dtype
        if dtype.itemsize == 2:
            arrays = [core.cast(x, FLOAT32) for x in arrays]
        arrays = [core.ordered(x) for x in arrays]
        out = (plain if arrays[0].ndim and arrays[0].size else fallback)(*arrays, dim)
        return out if out.dtype == dtype else core.cast(out, dtype)

    plain = core.RowKernel(loop, fallback, two)
    return core.RowKernel(loop, general, two)


# --- primitives -----------------------------------------------------------------------------------

# Both Jacobians by the saved output: diag(y) - y y^T is symmetric, so it serves both directions.
softmax_op = primitive(
    "softmax",
    _along_dim("softmax", _softmax),
    params=("dim",),
    vjp=lambda g, out, dim: softmax_backward(g, out, dim),
    jvp=lambda t, out, dim: softmax_backward(t, out, dim),
    batch=shifting(dims=("dim",)),
    promote="float",
    quiet=True,
)
softmax_backward = primitive(
    "softmax_backward",
    _along_dim("softmax_backward", _softmax_backward, two=True),
    inputs=("u", "y"),
    params=("dim",),
    vjp=(
        lambda g, y, dim: softmax_backward(g, y, dim),
        lambda g, u, y, dim: (
            g * (u - (u * y).sum(dim, keepdim=True)) - u * (g * y).sum(dim, keepdim=True)
        ),
    ),
    jvp=(
        lambda t, y, dim: softmax_backward(t, y, dim),
        lambda t, u, y, dim: (
            t * (u - (u * y).sum(dim, keepdim=True)) - y * (u * t).sum(dim, keepdim=True)
        ),
    ),
    batch=shifting(dims=("dim",)),
    promote="same",
    quiet=True,
)
log_softmax_op = primitive(
    "log_softmax",
    _along_dim("log_softmax", _log_softmax),
    params=("dim",),
    vjp=lambda g, out, dim: log_softmax_backward(g, out, dim),
    jvp=lambda t, out, dim: t - (out.exp() * t).sum(dim, keepdim=True),
    batch=shifting(dims=("dim",)),
    promote="float",
    quiet=True,
)
log_softmax_backward = primitive(
    "log_softmax_backward",
    _along_dim("log_softmax_backward", _log_softmax_backward, two=True),
    inputs=("u", "y"),
    params=("dim",),
    vjp=(
        lambda g, y, dim: g - (y.exp() * g).sum(dim, keepdim=True),
        lambda g, u, y, dim: -(g * y.exp() * u.sum(dim, keepdim=True)),
    ),
    jvp=(
        lambda t, y, dim: log_softmax_backward(t, y, dim),
        lambda t, u, y, dim: -(t * y.exp() * u.sum(dim, keepdim=True)),
    ),
    batch=shifting(dims=("dim",)),
    promote="same",
    quiet=True,
)


# --- public functions -----------------------------------------------------------------------------


def _normalised(op: Any, name: str, input: Tensor, dim: int, dtype: Any) -> Tensor:
    """Check, convert and run: what softmax and log_softmax have in common."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    if not isinstance(dim, int):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")
    if dtype is not None:
        input = convert(input, dtype)
    if input.dtype.category != dtypes.FLOAT:
        raise NotImplementedError(
            f"{name}(): expected a floating point input, got dtype {input.dtype}; convert it, "
            "e.g. with .float(), or give dtype="
        )
    dim = wrap_dim(dim, input, name)
    if input.ndim == 0:
        return op(input.reshape(1), 0).reshape(())
    return op(input, dim)


@public(out=True)
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`, without overflow.

    dtype: the dtype to compute in, by default the input's (a floating point one).

    Raises:
        IndexError: for a `dim` out of range.
        NotImplementedError: for a dtype that is not floating point.

    >>> import tensorplay as tp
    >>> tp.softmax(tp.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    return _normalised(softmax_op, "softmax", input, dim, dtype)


@public(out=True)
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """log(softmax(x)) along `dim`, computed as x - logsumexp(x).

    dtype: the dtype to compute in, by default the input's (a floating point one).

    Raises:
        IndexError: for a `dim` out of range.
        NotImplementedError: for a dtype that is not floating point.

    >>> import tensorplay as tp
    >>> tp.log_softmax(tp.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    return _normalised(log_softmax_op, "log_softmax", input, dim, dtype)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    # PyTorch's choice from before `dim` was an argument; it warns.
    warnings.warn(
        f"{name}(): the choice of a dim has been deprecated; give dim=", stacklevel=stacklevel
    )
    return 0 if ndim in (0, 1, 3) else 1


@public("softmax", namespace="nn.functional", method=False)
def functional_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """softmax along `dim`: exp(x) / sum(exp(x)).

    >>> import tensorplay as tp
    >>> tp.nn.functional.softmax(tp.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    dim = _implicit_dim("softmax", input.ndim, _stacklevel) if dim is None else dim
    return _normalised(softmax_op, "softmax", input, dim, dtype)


@public("log_softmax", namespace="nn.functional", method=False)
def functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)) along `dim`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.log_softmax(tp.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    dim = _implicit_dim("log_softmax", input.ndim, _stacklevel) if dim is None else dim
    return _normalised(log_softmax_op, "log_softmax", input, dim, dtype)


@public(namespace="nn.functional", method=False)
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """softmax of the negated input along `dim`.

    >>> import tensorplay as tp
    >>> tp.nn.functional.softmin(tp.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    dim = _implicit_dim("softmin", input.ndim, _stacklevel) if dim is None else dim
    return _normalised(softmax_op, "softmin", -input, dim, dtype)


@public("_softmax_backward_data", method=False)
def softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """softmax's cotangent of the input, from that of the output and the output."""
    result = softmax_backward(grad_output, output, wrap_dim(dim, output.ndim, "softmax"))
    return convert(result, input_dtype)
