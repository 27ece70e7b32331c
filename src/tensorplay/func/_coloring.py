"""Colourings of sparse matrices: groups of columns (or rows) that one product recovers together.

Sources: Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974);
Gebremedhin, Manne and Pothen, "What color is your Jacobian?", SIAM Review 47 (2005),
algorithms 3.1 and 4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay.base.lazy import lazy_module

sparse = lazy_module("scipy.sparse")


def column_colors(pattern: Any) -> np.ndarray:
    """A colour per column, so that columns of one colour share no row (greedy, distance two)."""
    rows, columns = pattern.tocsr(), pattern.tocsc()
    return min(
        (_greedy_columns(rows, columns, order) for order in _orders(np.diff(columns.indptr))),
        key=lambda colors: colors.max(initial=-1),
    )


def _orders(degrees: np.ndarray) -> list[np.ndarray]:
    """The natural order, and (for matrices small enough to try both) the largest first."""
    natural = np.arange(len(degrees))
    if len(degrees) > 20_000:
        return [natural]
    return [natural, np.argsort(-degrees, kind="stable")]


def _greedy_columns(rows: Any, columns: Any, order: np.ndarray) -> np.ndarray:
    colors = [-1] * columns.shape[1]
    row_ptr, row_idx = rows.indptr.tolist(), rows.indices.tolist()
    col_ptr, col_idx = columns.indptr.tolist(), columns.indices.tolist()
    for j in order.tolist():
        taken = {
            colors[k]
            for i in col_idx[col_ptr[j] : col_ptr[j + 1]]
            for k in row_idx[row_ptr[i] : row_ptr[i + 1]]
        }
        color = 0
        while color in taken:
            color += 1
        colors[j] = color
    return np.asarray(colors, dtype=np.int64)


def star_colors(pattern: Any) -> np.ndarray:
    """A colour per column of a symmetric pattern, such that every entry can be read off directly.

    Neighbours differ, and no path of four vertices has two colours only.
    """
    matrix = pattern.tocsr()
    size = matrix.shape[0]
    ptr, idx = matrix.indptr.tolist(), matrix.indices.tolist()
    neighbours = [[k for k in idx[ptr[v] : ptr[v + 1]] if k != v] for v in range(size)]
    colors = [-1] * size
    for v in range(size):
        forbidden: set[int] = set()
        for w in neighbours[v]:
            if colors[w] < 0:
                # Two coloured neighbours of an uncoloured w must differ from v's colour ...
                forbidden.update(colors[x] for x in neighbours[w] if colors[x] >= 0 and x != v)
                continue
            forbidden.add(colors[w])
            for x in neighbours[w]:
                if x == v or colors[x] < 0:
                    continue
                # ... and v - w - x - y must not alternate between two colours.
                if any(colors[y] == colors[w] for y in neighbours[x] if y != w):
                    forbidden.add(colors[x])
        color = 0
        while color in forbidden:
            color += 1
        colors[v] = color
    return np.asarray(colors, dtype=np.int64)


def seeds(colors: np.ndarray) -> np.ndarray:
    """One row per colour: ones at its members."""
    count = int(colors.max(initial=-1)) + 1
    table = np.zeros((count, len(colors)))
    table[colors, np.arange(len(colors))] = 1.0
    return table


def recover_columns(pattern: Any, colors: np.ndarray, products: np.ndarray) -> Any:
    """The matrix from its products with the seeds: entry (i, j) stands in product color[j] at i."""
    found = pattern.tocoo()
    values = products[colors[found.col], found.row]
    return sparse.csr_array((values, (found.row, found.col)), shape=found.shape)


def recover_symmetric(pattern: Any, colors: np.ndarray, products: np.ndarray) -> Any:
    """The symmetric matrix from its products with the seeds of a star colouring."""
    found = pattern.tocoo()
    rows, cols = found.row, found.col
    size = found.shape[0]
    # How many neighbours (itself included) of row i have colour c: entry (i, j) can be read from
    # product color[j] at i where j is the only one.
    counts = sparse.csr_array(
        (np.ones(len(rows), dtype=np.int64), (rows, colors[cols])),
        shape=(size, int(colors.max(initial=0)) + 1),
    )
    alone = np.asarray(counts[rows, colors[cols]]).ravel() == 1
    values = np.where(alone, products[colors[cols], rows], products[colors[rows], cols])
    return sparse.csr_array((values, (rows, cols)), shape=found.shape)
