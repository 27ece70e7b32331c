"""Products of matrices and vectors: matmul and its relatives, linear, and sums of products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Primitive, Tensor, conjugate
from tensorplay.base import dtypes
from tensorplay.ops.elementwise import add, promote_together
from tensorplay.ops.kinds import (
    batch_elementwise,
    front,
    leading,
    multilinear,
    public,
    publish,
    signature,
)
from tensorplay.ops.shaping import broadcast_shapes_of

_HALF = 23  # NumPy's number of float16; bfloat16 and other added types come after it


# --- matmul ---------------------------------------------------------------------------------------

# Three primitives, closed under differentiation: a @ b, a @ b^H and a^H @ b. So no transposed view
# is made in a backward pass.


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    check_product("matmul", a, b)
    if a.dtype.num >= _HALF:  # accumulated in float32, as PyTorch does
        return _product(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    with np.errstate(all="ignore"):
        if a.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous:
            # One product of tall matrices is faster than many of small ones.
            return np.matmul(rows_of(a), b).reshape(*a.shape[:-1], b.shape[1])
        return np.matmul(a, b)


def _adjoint(x: np.ndarray) -> np.ndarray:
    return (x.conjugate() if x.dtype.kind == "c" else x).swapaxes(-1, -2)


_matmul_kernel = core.ProductKernel(_product)
_matmul_nt_kernel = core.ProductKernel(lambda a, b: _product(a, _adjoint(b)), False, True)
_matmul_tn_kernel = core.ProductKernel(lambda a, b: _product(_adjoint(a), b), True, False)


def check_product(name: str, a: Any, b: Any) -> None:
    """Refuse operands (arrays or tensors) whose matrix product is not defined.

    Raises:
        RuntimeError: if dtypes differ, one is 0-dim, or the shapes do not fit.
    """
    shapes = f"input of shape {list(a.shape)} and other of shape {list(b.shape)}"
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(f"{name}(): both arguments need at least 1 dim, got {shapes}")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}(): expected input and other to have the same dtype, got {a.dtype} and "
            f"{b.dtype}; convert one with .to(dtype)"
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise RuntimeError(
            f"{name}(): {shapes} cannot be multiplied: {a.shape[-1]} columns against {inner} rows"
        )
    broadcast_shapes_of(name, a.shape[:-2], b.shape[:-2])


def rows_of(x: Any) -> Any:
    """x as a matrix whose rows are its last dim."""
    if x.ndim == 2:
        return x
    shape = x.shape
    return x.reshape(math.prod(shape[:-1]), shape[-1])


def _matmul_by_left(g: Any, x_shape: Any, y: Any) -> Any:
    if y.ndim == 1:
        return outer_op(g, conjugate(y)) if g.ndim else g * conjugate(y)
    if len(x_shape) == 1:
        return matmul(conjugate(y), g.unsqueeze(-1)).squeeze(-1)
    return matmul_nt(g, y)


def _matmul_by_right(g: Any, x: Any, y_shape: Any) -> Any:
    if len(y_shape) == 1:
        x = conjugate(x)
        return x * g if x.ndim == 1 else matmul(g.reshape(-1), rows_of(x))
    if x.ndim == 1:
        return outer_op(conjugate(x), g)
    if len(y_shape) == 2 and x.ndim > 2:  # one product over all rows, not a sum of many
        return matmul_tn(rows_of(x), rows_of(g))
    return matmul_tn(x, g)


outer_op = multilinear(
    "outer",
    core.outer_kernel,
    lambda g, y: matmul(g, conjugate(y).unsqueeze(-1)).squeeze(-1),
    lambda g, x: matmul(conjugate(x).unsqueeze(-2), g).squeeze(-2),
    batch=leading(1, 1),
    promote="same",
    broadcasts=True,
    quiet=True,
)


def _batch_matmul(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (x, y), (bx, by) = values, bdims
    left = x.ndim - (bx is not None)
    right = y.ndim - (by is not None)
    if by is None and right <= 2 and left > 0:  # the batch is one more dim of rows
        x = front(x, bx)
        return p(x, y), 0
    if bx is None and left == 2 and right == 1:
        return p(x, front(y, by).mT), 1
    x, y = (x if bx is None else front(x, bx)), (y if by is None else front(y, by))
    x = x.unsqueeze(-2) if left == 1 else x
    y = y.unsqueeze(-1) if right == 1 else y
    bdims = (None if bx is None else 0, None if by is None else 0)
    out, bdim = leading(2, 2)(p, (x, y), bdims, params)
    if right == 1:
        out = out.squeeze(-1)
    return (out.squeeze(-1 if right == 1 else -2) if left == 1 else out), bdim


matmul = multilinear(
    "matmul",
    _matmul_kernel,
    _matmul_by_left,
    _matmul_by_right,
    batch=_batch_matmul,
    broadcasts=True,
    quiet=True,
    loop="product",
)
matmul_nt = multilinear(
    "matmul_nt",
    _matmul_nt_kernel,
    lambda g, y: matmul(g, y),
    lambda g, x: matmul_tn(g, x),
    batch=leading(2, 2),
    broadcasts=True,
    quiet=True,
    loop="product_nt",
)
matmul_tn = multilinear(
    "matmul_tn",
    _matmul_tn_kernel,
    lambda g, y: matmul_nt(y, g),
    lambda g, x: matmul(x, g),
    batch=leading(2, 2),
    broadcasts=True,
    quiet=True,
    loop="product_tn",
)


@signature(matmul)
def _matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product of two tensors, batched over leading dims, which broadcast.

    input: (..., n, k) or (k). other: (..., k, m) or (k). A 1-dim operand is a row (left) or a
    column (right), and that dim is not in the result; two of them give their 0-dim dot product.

    Raises:
        RuntimeError: if the dtypes differ, an operand is 0-dim, or the shapes do not fit.

    >>> import tensorplay as tp
    >>> tp.matmul(tp.tensor([[1., 2.], [3., 4.]]), tp.tensor([1., 1.]))
    tensor([3., 7.])
    """
    return core.registry["matmul"](input, other)


_PRODUCT_NAMES = ("DotBackward0", "MvBackward0", "MmBackward0", "BmmBackward0")
matmul.naming = lambda node: _PRODUCT_NAMES[min(len(node.output_meta()[0]), 3)]

publish(matmul, "matmul")
core.set_operator("matmul", matmul)


def _need_ndim(name: str, **operands: tuple[Any, int]) -> None:
    for label, (x, ndim) in operands.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument '{label}' must be Tensor, not {type(x).__name__}")
        if x.ndim != ndim:
            raise RuntimeError(
                f"{name}(): expected {label} to have {ndim} dims, got shape {list(x.shape)}"
            )


@public(out=True)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n, k) and (k, m).

    Raises:
        RuntimeError: if one is not a matrix, the dtypes differ or the shapes do not fit.
    """
    if not core.fits_product(input, 2, mat2, 2):
        _need_ndim("mm", input=(input, 2), mat2=(mat2, 2))
        check_product("mm", input, mat2)
    return matmul(input, mat2)


@public(out=True)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two equally long batches of matrices, (b, n, k) and (b, k, m).

    Raises:
        RuntimeError: if one has not three dims, the dtypes differ or the shapes do not fit.
    """
    if not core.fits_product(input, 3, mat2, 3):
        _need_ndim("bmm", input=(input, 3), mat2=(mat2, 3))
        check_product("bmm", input, mat2)
        raise RuntimeError(
            f"bmm(): input of shape {list(input.shape)} and mat2 of shape {list(mat2.shape)} "
            "are batches of different length; use matmul() to broadcast"
        )
    return matmul(input, mat2)


@public(out=True)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n, k) and a vector (k).

    Raises:
        RuntimeError: if the numbers of dims, the dtypes or the shapes do not fit.
    """
    if not core.fits_product(input, 2, vec, 1):
        _need_ndim("mv", input=(input, 2), vec=(vec, 1))
        check_product("mv", input, vec)
    return matmul(input, vec)


@public(out=True)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of products of two vectors of equal length (nothing is conjugated).

    Raises:
        RuntimeError: if one is not a vector, the dtypes or the lengths differ.
    """
    if not core.fits_product(input, 1, tensor, 1):
        _need_ndim("dot", input=(input, 1), tensor=(tensor, 1))
        check_product("dot", input, tensor)
    return matmul(input, tensor)


@public(out=True)
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products of two vectors, the first one conjugated.

    Raises:
        RuntimeError: if one is not a vector, the dtypes or the lengths differ.
    """
    _need_ndim("vdot", input=(input, 1), other=(other, 1))
    check_product("vdot", input, other)
    return matmul(conjugate(input), other)


@public(out=True, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The matrix (n, m) of products of the elements of two vectors, (n) and (m).

    Raises:
        RuntimeError: if one is not a vector.
    """
    if not core.are_vectors(input, vec2):
        _need_ndim("outer", input=(input, 1), vec2=(vec2, 1))
    return outer_op(input, vec2)


@public(out=True)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last dims of both; a product where one is 0-dim.

    Raises:
        RuntimeError: if the last dims or the dtypes differ.
    """
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner(): the last dims of input, shape {list(input.shape)}, and of other, shape "
            f"{list(other.shape)}, must be equal"
        )
    if other.ndim == 1:
        return matmul(input, other)
    product = matmul(rows_of(input), rows_of(other).mT)
    return product.reshape(*input.shape[:-1], *other.shape[:-1])


# --- sums of products -----------------------------------------------------------------------------


def scaled_sum(name: str, input: Any, product: Any, beta: Any, alpha: Any) -> Tensor:
    """`beta * input + alpha * product`, where input broadcasts to the product's shape.

    With beta 0 the input is left out, so its infinities and nans do not spread. For integers beta
    and alpha lose their fractions.

    Raises:
        RuntimeError: if input has another dtype, or does not broadcast.
    """
    shape = tuple(product.shape)
    try:
        fits = np.broadcast_shapes(tuple(input.shape), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"{name}(): input of shape {list(input.shape)} does not broadcast to the product's "
            f"shape {list(shape)}"
        )
    if input.dtype is not product.dtype:
        raise RuntimeError(
            f"{name}(): expected equal dtypes, got input of {input.dtype} and factors of "
            f"{product.dtype}; convert one with .to(dtype)"
        )
    if not core.is_differentiable_dtype(product):
        number = bool if product.dtype is dtypes.bool else int
        beta, alpha = number(beta), number(alpha)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (input if beta == 1 else input * beta)


@public(inplace=True, out=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` for matrices; input broadcasts to the product."""
    _need_ndim("addmm", mat1=(mat1, 2), mat2=(mat2, 2))
    check_product("addmm", mat1, mat2)
    return scaled_sum("addmm", input, matmul(mat1, mat2), beta, alpha)


@public(inplace=True, out=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * (mat @ vec)` for a matrix and a vector."""
    _need_ndim("addmv", mat=(mat, 2), vec=(vec, 1))
    check_product("addmv", mat, vec)
    return scaled_sum("addmv", input, matmul(mat, vec), beta, alpha)


@public(inplace=True, out=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`."""
    _need_ndim("addr", vec1=(vec1, 1), vec2=(vec2, 1))
    product, input = promote_together(outer(vec1, vec2), input)
    return scaled_sum("addr", input, product, beta, alpha)


@public(inplace=True, out=True)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2)`; input broadcasts to the product."""
    return scaled_sum("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@public(inplace=True, out=True)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2).sum(0)`."""
    _need_ndim("addbmm", batch1=(batch1, 3), batch2=(batch2, 3))
    check_product("addbmm", batch1, batch2)
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            f"addbmm(): batch1 of shape {list(batch1.shape)} and batch2 of shape "
            f"{list(batch2.shape)} are batches of different length"
        )
    # The sum over the batch is part of the inner sum of one wide product.
    wide = batch1.transpose(0, 1).reshape(batch1.shape[1], -1)
    product = matmul(wide, batch2.reshape(-1, batch2.shape[2]))
    return scaled_sum("addbmm", input, product, beta, alpha)


# --- linear layers --------------------------------------------------------------------------------


def _linear_general(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
    fits = w.ndim in (1, 2) and x.ndim > 0 and x.shape[-1] == w.shape[-1]
    if not fits or (b is not None and b.shape not in ((), (1,), w.shape[:-1])):
        bias = "None" if b is None else f"of shape {list(b.shape)}"
        raise RuntimeError(
            f"linear(): input of shape {list(x.shape)}, weight of shape {list(w.shape)} and bias "
            f"{bias} do not fit: expected (..., in_features), (out_features, in_features) and "
            "(out_features)"
        )
    if b is not None and b.dtype != x.dtype:
        raise RuntimeError(f"linear(): input has dtype {x.dtype}, but bias has dtype {b.dtype}")
    out = _product(x, w.T)
    return out if b is None else out + b


def _linear_by_input(g: Any, w: Any) -> Any:
    return matmul(g, conjugate(w)) if w.ndim == 2 else g.unsqueeze(-1) * conjugate(w)


def _linear_by_weight(g: Any, x: Any, w_shape: Any) -> Any:
    if len(w_shape) == 1:
        return matmul(g.reshape(-1), conjugate(rows_of(x)))
    if g.ndim != 2:
        g, x = rows_of(g), rows_of(x)
    return conjugate(matmul_tn(g, x))


def _linear_jvp(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    x, w, _ = primals
    dx, dw, db = tangents
    total = None if db is None else db.expand(out.shape)
    for left, right in ((dx, w), (x, dw)):
        if left is not None and right is not None:
            term = p(left, right, None)
            total = term if total is None else term + total
    return total


def _batch_linear(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    (x, w, b), (bx, bw, bb) = values, bdims
    if bw is None and bb is None:  # the batch is one more dim of rows
        return p(front(x, bx), w, b), 0
    if bw is None:
        out, bdim = p(front(x, bx), w, None), None if bx is None else 0
    else:
        w = front(w, bw)
        out, bdim = _batch_matmul(matmul, (x, w.mT if w.ndim == 3 else w), (bx, 0), ())
    return (out, bdim) if b is None else batch_elementwise(add, (out, b), (bdim, bb), ())


# One primitive, because layers call it all the time; jointly linear in weight and bias.
linear = Primitive(
    "linear",
    core.LinearKernel(_linear_general),
    ("x", "w", "b"),
    vjp=(_linear_by_input, _linear_by_weight, lambda g: g),
    jvp=_linear_jvp,
    batch=_batch_linear,
    kind="multilinear",
    broadcasts=True,
    quiet=True,
    node_name="AddmmBackward0",
)


@signature(linear)
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`.

    input: (..., in_features). weight: (out_features, in_features) or (in_features). bias:
    (out_features), or without that dim for a weight of one dim, or None.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.

    >>> import tensorplay as tp
    >>> x, w = tp.ones(2, 3), tp.ones(1, 3)
    >>> tp.nn.functional.linear(x, w, tp.tensor([0.5]))
    tensor([[3.5000],
            [3.5000]])
    """
    return core.registry["linear"](input, weight, bias)


publish(linear, "linear", namespace="nn.functional", method=False)
