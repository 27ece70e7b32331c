"""Norms, condition numbers, powers and the exponential of matrices, and products of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, conjugate
from tensorplay.base import dtypes
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.contractions import product_of_chain
from tensorplay.ops.elementwise import drop, where
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import (
    leading,
    multilinear,
    primitive,
    public,
    publish,
    shifting,
    wrap_dim,
)
from tensorplay.ops.linalg_base import (
    adjoint,
    check_dtype,
    check_matrix,
    check_same_dtype,
    identity,
)
from tensorplay.ops.linalg_solve import inv, inverse_op
from tensorplay.ops.linalg_svd import svdvals_op
from tensorplay.ops.moments import vector_norm as _vector_norm
from tensorplay.ops.products import matmul
from tensorplay.ops.shaping import broadcast_shapes_of
from tensorplay.ops.structure import convert

scipy_linalg = lazy_module("scipy.linalg")

# --- norms ----------------------------------------------------------------------------------------


@public(namespace="linalg", method=False, out=True)
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """(sum |x| ** ord) ** (1 / ord) over `dim` (by default over all elements).

    ord: any number; inf and -inf give the largest and the smallest size, 0 counts what is not zero.
    dtype: of the computation and the result. The gradient is 0 where the norm is 0.

    Raises:
        RuntimeError: for integers and bools; for no elements if ord is negative or infinite.

    >>> import tensorplay as tp
    >>> tp.linalg.vector_norm(tp.tensor([3., -4.])), tp.linalg.vector_norm(tp.tensor([3., -4.]), 1)
    (tensor(5.), tensor(7.))
    """
    if not isinstance(ord, (int, float)):
        raise RuntimeError(f"linalg.vector_norm(): ord must be a number, got {ord!r}")
    return _vector_norm(x, ord, dim, keepdim, dtype, "linalg.vector_norm")


_MATRIX_ORDERS = (2, -2, 1, -1, math.inf, -math.inf)


def _two_dims(name: str, dim: Any, ndim: int) -> tuple[int, int]:
    dims = tuple(wrap_dim(int(d), ndim, name) for d in dim)
    if len(dims) != 2 or dims[0] == dims[1]:
        raise RuntimeError(f"{name}(): dim must be two different dims, got {tuple(dim)}")
    return dims


@public(namespace="linalg", method=False, out=True)
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norms of matrices in the two dims `dim`.

    ord: 'fro' (Frobenius), 'nuc' (sum of the singular values), 2 and -2 (largest and smallest
    singular value), 1 and -1 (largest and smallest sum of sizes in a column), inf and -inf (in a
    row). The gradient is 0 where the Frobenius norm is 0.

    Raises:
        RuntimeError: for another ord, integers and bools, or if A has less than two dims.
    """
    return _matrix_norm("linalg.matrix_norm", A, ord, dim, keepdim, dtype)


def _matrix_norm(name: str, a: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    if a.ndim < 2:
        raise RuntimeError(f"{name}(): A must have at least 2 dims, got shape {list(a.shape)}")
    rows, columns = _two_dims(name, dim, a.ndim)
    if ord == "fro":
        return _vector_norm(a, 2, (rows, columns), keepdim, dtype, name)
    if ord != "nuc" and (isinstance(ord, str) or ord not in _MATRIX_ORDERS):
        raise RuntimeError(
            f"{name}(): ord must be 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2, got {ord!r}"
        )
    if dtype is not None:
        a = convert(a, dtypes.as_dtype(dtype))
    if ord in ("nuc", 2, -2):
        check_dtype(name, a)
        sizes = svdvals_op(a.movedim((rows, columns), (-2, -1)))
        if ord == "nuc" or (ord > 0 and sizes.shape[-1] == 0):
            found = sizes.sum(-1)
        else:
            found = sizes.amax(-1) if ord > 0 else sizes.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                found = found.unsqueeze(d)
        return found
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _vector_norm(a, 1, summed, True, None, name)
    if ord > 0 and sums.shape[compared] == 0:
        found = sums.sum(compared, keepdim=True)  # the largest of no sizes is 0
    else:
        found = (sums.amax if ord > 0 else sums.amin)(compared, keepdim=True)
    return found if keepdim else found.squeeze((rows, columns))


@public(namespace="linalg", method=False, out=True)
def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The norm of vectors or of matrices.

    ord: None for the 2-norm of all elements in `dim`; else as in `matrix_norm` where dim names two
    dims (or A has two and dim is None), and as in `vector_norm` where it names one (or A has one).

    Raises:
        RuntimeError: if ord and the number of dims do not go together.
    """
    name = "linalg.norm"
    if dim is not None and not isinstance(dim, int):
        dim = tuple(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(f"{name}(): dim must be None or name 1 or 2 dims, got {dim}")
    elif dim is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            f"{name}(): with ord={ord!r} and no dim the input must have 1 or 2 dims, got shape "
            f"{list(A.shape)}"
        )
    matrix = len(dim) == 2 if isinstance(dim, tuple) else dim is None and A.ndim == 2
    if ord is not None and matrix:
        return _matrix_norm(name, A, ord, dim or (-2, -1), keepdim, dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"{name}(): ord={ord!r} is a norm of matrices, but one dim was given")
    return _vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype, name)


@public(namespace="linalg", method=False, out=True)
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition numbers of matrices: norm(A, p) * norm(inv(A), p); inf for a singular one.

    A: (..., m, n) for p None, 2 and -2 (the ratio of the largest and smallest singular value), else
    (..., n, n). p: an order of `matrix_norm`.

    Raises:
        RuntimeError: for another order; if A is not square where it must be.
    """
    name = "linalg.cond"
    check_matrix(name, A)
    if p is None or p in (2, -2):
        if A.numel() == 0:
            return svdvals_op(A).sum(-1)
        sizes = svdvals_op(A)
        largest, smallest = sizes.narrow(-1, 0, 1), sizes.narrow(-1, sizes.shape[-1] - 1, 1)
        ratio = smallest / largest if p == -2 else largest / smallest
        return ratio.squeeze(-1)
    check_matrix(name, A, square=True)
    if A.shape[-1] == 0:
        return A.abs().sum((-2, -1))
    inverse, info = inverse_op(A, None)
    singular = (info != 0).unsqueeze(-1).unsqueeze(-1)
    inverse = where(singular, identity(A.shape[-1], A), inverse)
    product = _matrix_norm(name, A, p, (-2, -1), False, None) * _matrix_norm(
        name, inverse, p, (-2, -1), False, None
    )
    return where(info != 0, math.inf, product)


# --- powers and the exponential -------------------------------------------------------------------


@public(out=True)
def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of square matrices, by repeated squaring; of their inverses for negative n.

    Raises:
        LinAlgError: for a negative n and a singular matrix.
        RuntimeError: if input is not a batch of square matrices.
    """
    name = "linalg.matrix_power"
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"{name}(): A must be batches of square matrices, got shape {list(input.shape)}"
        )
    if n == 0:
        # Constant, yet recorded, so that a loss of it alone can be differentiated.
        return drop(input, core.from_array(np.array(True))) + identity(input.shape[-1], input)
    if n == 1:
        return input.clone()
    base = input if n > 0 else inv(input)
    result: Any = None  # set at the last bit at the latest
    count = abs(n)
    while True:
        if count & 1:
            result = base if result is None else matmul(result, base)
        count >>= 1
        if not count:
            return result
        base = matmul(base, base)


publish(matrix_power, "matrix_power", namespace="linalg", method=False)


def _exp_kernel(a: np.ndarray) -> np.ndarray:
    if a.size == 0:
        return a.copy()
    return np.asarray(scipy_linalg.expm(a), a.dtype)


def _exp_derivative(a: Any, direction: Any) -> Any:
    # The exponential of [[A, E], [0, A]] has the derivative in direction E in its right upper
    # block: R. Mathias, "A chain rule for matrix functions and applications", 1996.
    n = a.shape[-1]
    top = cat((a, direction), -1)
    bottom = cat((direction * 0, a), -1)
    return matrix_exp_op(cat((top, bottom), -2)).narrow(-2, 0, n).narrow(-1, n, n)


matrix_exp_op = primitive(
    "linalg_matrix_exp",
    _exp_kernel,
    inputs=("a",),
    vjp=lambda g, a: _exp_derivative(adjoint(a), g),
    jvp=lambda t, a: _exp_derivative(a, t),
    batch=leading(2),
)


@public()
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k!.

    Raises:
        RuntimeError: if input is not a batch of square matrices of a floating point or complex
            dtype.

    >>> import tensorplay as tp
    >>> tp.linalg.matrix_exp(tp.tensor([[0., 1.], [0., 0.]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    check_matrix("linalg.matrix_exp", input, square=True)
    return matrix_exp_op(input)


publish(matrix_exp, "matrix_exp", namespace="linalg", method=False)


# --- products -------------------------------------------------------------------------------------


@public(namespace="linalg", method=False)
def multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of two and more matrices, multiplied in the order that needs the least work.

    The first may be a row vector, the last a column vector; their dims are not in the result.

    Raises:
        RuntimeError: for fewer than two tensors; if shapes or dtypes do not fit.
    """
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"linalg.multi_dot(): expected at least 2 tensors, got {len(chain)}")
    result = product_of_chain("linalg.multi_dot", chain)
    return result if out is None else core.write_out("linalg.multi_dot", out, result)


@public(namespace="linalg", method=False)
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The matrices (..., n, N) whose columns are the powers 0, 1, ..., N - 1 of x, (..., n).

    Raises:
        RuntimeError: if N is less than 2.
    """
    if x.ndim == 0:
        x = x.reshape(1)
    count = x.shape[-1] if N is None else N
    if N is not None and N <= 1:
        raise RuntimeError(f"linalg.vander(): N must be greater than 1, got {N}")
    first = x.new_ones((*x.shape, 1))
    if count <= 1:
        return first.narrow(-1, 0, count)
    powers = x.unsqueeze(-1).expand((*x.shape, count - 1)).cumprod(-1)
    return cat((first.to(powers.dtype), powers), -1)


@public(namespace="linalg", method=False, out=True)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of conjugate(x) * y over a dim; the others broadcast.

    Raises:
        RuntimeError: if the dtypes differ or the shapes do not fit.
    """
    check_same_dtype("linalg.vecdot", x=x, y=y)
    return (conjugate(x) * y).sum(dim)


def _cross_kernel(x: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    return np.cross(x, y, axis=dim)


cross_op = multilinear(
    "linalg_cross",
    core.CrossKernel(_cross_kernel),
    lambda g, y, dim: cross_op(conjugate(y), g, dim),
    lambda g, x, dim: cross_op(g, conjugate(x), dim),
    params=("dim",),
    batch=shifting(dims=("dim",)),
    quiet=True,
)


def _cross(name: str, input: Any, other: Any, dim: int | None) -> Tensor:
    check_same_dtype(name, input=input, other=other)
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"{name}(): inputs must have as many dims, got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    shape = broadcast_shapes_of(name, input.shape, other.shape)
    if dim is None:
        sizes = [i for i, size in enumerate(shape) if size == 3]
        if not sizes:
            raise RuntimeError(f"{name}(): no dim of size 3 in shape {list(shape)}")
        dim = sizes[0]
    dim = wrap_dim(dim, input.ndim, name)
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"{name}(): dim {dim} must have size 3, got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    if input.shape != other.shape:
        input, other = input.expand(shape), other.expand(shape)
    return cross_op(input, other, dim)


@public(namespace="linalg", method=False, out=True)
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product of vectors of length 3 along `dim`; the other dims broadcast.

    Raises:
        RuntimeError: if dim has another size, or dtypes or numbers of dims differ.

    >>> import tensorplay as tp
    >>> tp.linalg.cross(tp.tensor([1., 0., 0.]), tp.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    return _cross("linalg.cross", input, other, dim)


@public("cross", out=True)
def cross_older(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """`linalg.cross` along `dim`, by default the first dim of size 3."""
    return _cross("cross", input, other, dim)


@public(namespace="linalg", method=False)
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices in dims dim1 and dim2, as a view; see `tensorplay.diagonal`."""
    return A.diagonal(offset, dim1, dim2)


publish(core.registry["matmul"], "matmul", namespace="linalg", method=False)
