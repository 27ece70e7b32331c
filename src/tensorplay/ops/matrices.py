"""Multiplying one dim by a constant matrix: averages over uneven windows, resampling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay.base.lazy import lazy_module
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import linear, shifting

_sparse = lazy_module("scipy.sparse")

_DENSE = 4096  # entries up to which a dense product is faster than a sparse one


class Matrix:
    """A constant matrix (outputs, inputs) with few entries in each row, and its transpose."""

    def __init__(
        self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> None:
        self.shape = shape
        self.rows, self.columns, self.values = rows, columns, values
        self._made: dict[Any, Any] = {}
        self._transposed: Matrix | None = None

    @classmethod
    def from_taps(cls, taps: np.ndarray, weights: np.ndarray, inputs: int) -> Matrix:
        """Row i weighs the inputs taps[i, k] (k = 0, 1, ...) by weights[i, k]."""
        outputs, width = taps.shape
        rows = np.repeat(np.arange(outputs), width)
        return cls((outputs, inputs), rows, taps.ravel(), weights.ravel())

    @property
    def transposed(self) -> Matrix:
        """The transpose."""
        if self._transposed is None:
            self._transposed = Matrix(self.shape[::-1], self.columns, self.rows, self.values)
            self._transposed._transposed = self
        return self._transposed

    def times(self, x: np.ndarray) -> np.ndarray:
        """The product with x (inputs, anything)."""
        # The zeros of a dense matrix would spread NaN and infinities to every output.
        dense = math.prod(self.shape) <= _DENSE and bool(np.isfinite(x).all())
        key = (x.real.dtype, dense)
        if key not in self._made:
            self._made[key] = self._dense(key[0]) if dense else self._sparse(key[0])
        return self._made[key] @ x

    def _dense(self, dtype: Any) -> Any:
        made = np.zeros(self.shape, dtype)
        np.add.at(made, (self.rows, self.columns), self.values.astype(dtype))
        return made

    def _sparse(self, dtype: Any) -> Any:
        values = self.values.astype(dtype)
        return _sparse.csr_array((values, (self.rows, self.columns)), shape=self.shape)


def _along_kernel(x: np.ndarray, matrix: Matrix, dim: int) -> np.ndarray:
    moved = np.moveaxis(x, dim, 0)
    rest = moved.shape[1:]
    flat = np.ascontiguousarray(moved).reshape(moved.shape[0], math.prod(rest))
    if x.dtype.kind in "iu":  # images of bytes
        out = np.rint(matrix.times(flat.astype(np.float64)))
        out = np.clip(out, np.iinfo(x.dtype).min, np.iinfo(x.dtype).max).astype(x.dtype)
    else:
        out = matrix.times(flat).astype(x.dtype, copy=False)
    return np.ascontiguousarray(np.moveaxis(out.reshape(matrix.shape[0], *rest), 0, dim))


matrix_along = linear(
    "matrix_along",
    typed("matrix_along", _along_kernel, "ifc"),
    lambda g, matrix, dim: matrix_along(g, matrix.transposed, dim),
    params=("matrix", "dim"),
    batch=shifting(dims=("dim",)),
)
