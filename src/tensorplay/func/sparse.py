"""`sparse_jacobian` and `sparse_hessian`: as many products as the pattern has colours.

The pattern is found by one run of the function on index sets, or given. Columns that share no row
are recovered from one product; the colouring is kept for later calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.lazy import lazy_module
from tensorplay.func._coloring import (
    column_colors,
    recover_columns,
    recover_symmetric,
    seeds,
    star_colors,
)
from tensorplay.func._patterns import PatternLevel, as_bool
from tensorplay.func.forward import jvp
from tensorplay.func.reverse import grad, vjp
from tensorplay.transforms.vmap import vmap

sparse = lazy_module("scipy.sparse")


def _check_input(x: Any, name: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): the input must be a Tensor, got {type(x).__name__}")
    if not x.dtype.is_floating_point:
        raise RuntimeError(f"{name}(): the input must be real floating point, got {x.dtype}")


def jacobian_pattern(func: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    """The sparsity pattern of the Jacobian of `func` at any point like x.

    Returns:
        A boolean scipy.sparse matrix of shape (output elements, input elements). It may have more
        entries than the Jacobian, never fewer, as long as the function's control flow and integer
        indices do not depend on x.
    """
    _check_input(x, "jacobian_pattern")
    count = x.numel()
    with PatternLevel(count) as run:
        out = func(run.box(x.detach(), sparse.identity(count, dtype=bool, format="csr")))
        pattern = run.pattern(out)
    if pattern is None:
        return sparse.csr_matrix((out.numel(), count), dtype=bool)
    return pattern


def hessian_pattern(func: Callable[[Tensor], Tensor], x: Tensor) -> Any:
    """The sparsity pattern of the Hessian of a scalar `func`, as `jacobian_pattern` finds it."""
    _check_input(x, "hessian_pattern")
    count = x.numel()
    with PatternLevel(count, second_order=True) as run:
        func(run.box(x.detach(), sparse.identity(count, dtype=bool, format="csr")))
        return run.pairs


def _checked_pattern(pattern: Any, shape: tuple[int, int] | None, name: str) -> Any:
    found = as_bool(sparse.csr_matrix(pattern))
    if shape is not None and found.shape != shape:
        raise RuntimeError(
            f"{name}(): the pattern has shape {found.shape}, the matrix has shape {shape}"
        )
    return found


class _Plan:
    """A pattern with its colouring, found once."""

    def __init__(self, pattern: Any, symmetric: bool) -> None:
        self.pattern = pattern
        self.by_rows = False
        if symmetric:
            self.colors = star_colors(pattern)
            return
        columns = column_colors(pattern)
        rows = columns if pattern.shape[0] * 4 < pattern.shape[1] else None
        # Products with rows (reverse mode) where they need fewer, as for few outputs.
        if columns.max(initial=-1) > 8 or rows is not None:
            rows = column_colors(pattern.T.tocsr())
            self.by_rows = bool(rows.max(initial=-1) < columns.max(initial=-1))
        self.colors = rows if self.by_rows and rows is not None else columns

    @property
    def count(self) -> int:
        """How many products the matrix takes."""
        return int(self.colors.max(initial=-1)) + 1


def sparse_jacobian(
    func: Callable[[Tensor], Tensor], pattern: Any = None, *, chunk_size: int | None = None
) -> Callable[[Tensor], Any]:
    """A function that returns the Jacobian of `func` as a `scipy.sparse.csr_array`.

    Args:
        func: a function of a real tensor that returns a tensor.
        pattern: a (boolean) sparse or dense matrix of shape (output elements, input elements) with
            the entries that may be nonzero. Default: found by one run at the first call.
        chunk_size: how many products to compute at a time. Default: all.

    Returns:
        A function of x. It keeps the colouring in `plan` and reuses it while x has the same shape.

    Raises:
        RuntimeError: from the returned function, if a given pattern has another shape.

    >>> import tensorplay as tp
    >>> second_difference = lambda x: x[2:] - 2 * x[1:-1] + x[:-2]
    >>> tp.func.sparse_jacobian(second_difference)(tp.zeros(5)).toarray()
    array([[ 1., -2.,  1.,  0.,  0.],
           [ 0.,  1., -2.,  1.,  0.],
           [ 0.,  0.,  1., -2.,  1.]], dtype=float32)
    """
    plans: dict[tuple[int, ...], _Plan] = {}

    def jacobian(x: Tensor) -> Any:
        _check_input(x, "sparse_jacobian")
        shape = tuple(x.shape)
        if shape not in plans:
            found = jacobian_pattern(func, x) if pattern is None else pattern
            plans[shape] = _Plan(_checked_pattern(found, None, "sparse_jacobian"), False)
            jacobian.plan = plans[shape]  # type: ignore[attr-defined]
        plan = plans[shape]
        if plan.pattern.shape[1] != x.numel():
            raise RuntimeError(
                f"sparse_jacobian(): the pattern has shape {plan.pattern.shape}, but the input has "
                f"{x.numel()} elements"
            )
        directions = core.from_array(seeds(plan.colors).astype(x.dtype.numpy))
        if plan.by_rows:
            out, pull = vjp(func, x)
            _check_shape(plan, out, x)
            units = directions.reshape((plan.count, *out.shape))
            products = vmap(lambda u: pull(u)[0], chunk_size=chunk_size)(units)
            rows = core.array_of(products.detach().reshape(plan.count, -1))
            return recover_columns(plan.pattern.T.tocsr(), plan.colors, rows).T.tocsr()
        units = directions.reshape((plan.count, *shape))
        products = vmap(lambda u: jvp(func, (x,), (u,))[1], chunk_size=chunk_size)(units)
        _check_shape(plan, products[0], x)
        columns = core.array_of(products.detach().reshape(plan.count, -1))
        return recover_columns(plan.pattern, plan.colors, columns)

    return jacobian


def _check_shape(plan: _Plan, out: Tensor, x: Tensor) -> None:
    _checked_pattern(plan.pattern, (out.numel(), x.numel()), "sparse_jacobian")


def sparse_hessian(
    func: Callable[[Tensor], Tensor], pattern: Any = None, *, chunk_size: int | None = None
) -> Callable[[Tensor], Any]:
    """A function that returns the Hessian of a scalar `func` as a `scipy.sparse.csr_array`.

    The symmetric pattern is star coloured, and each colour takes one product in forward over
    reverse mode. Arguments as for `sparse_jacobian`.

    >>> import tensorplay as tp
    >>> chain = lambda x: ((x[1:] - x[:-1]) ** 2).sum()
    >>> tp.func.sparse_hessian(chain)(tp.zeros(3)).toarray()
    array([[ 2., -2.,  0.],
           [-2.,  4., -2.],
           [ 0., -2.,  2.]], dtype=float32)
    """
    plans: dict[tuple[int, ...], _Plan] = {}

    def hessian(x: Tensor) -> Any:
        _check_input(x, "sparse_hessian")
        shape, count = tuple(x.shape), x.numel()
        if shape not in plans:
            found = hessian_pattern(func, x) if pattern is None else pattern
            plans[shape] = _Plan(_checked_pattern(found, (count, count), "sparse_hessian"), True)
            hessian.plan = plans[shape]  # type: ignore[attr-defined]
        plan = plans[shape]
        if plan.pattern.nnz == 0:
            return sparse.csr_array((count, count), dtype=x.dtype.numpy)
        directions = core.from_array(seeds(plan.colors).astype(x.dtype.numpy))
        units = directions.reshape((plan.count, *shape))
        products = vmap(lambda u: jvp(grad(func), (x,), (u,))[1], chunk_size=chunk_size)(units)
        rows = np.ascontiguousarray(core.array_of(products.detach())).reshape(plan.count, -1)
        return recover_symmetric(plan.pattern, plan.colors, rows)

    return hessian
