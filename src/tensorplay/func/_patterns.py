"""Sparsity patterns: which inputs each element of a result depends on, by one run of the function.

Tensors of the level carry a boolean sparse matrix, a row per element and a column per input. Each
primitive joins the rows of its inputs in the way its elements depend on theirs; a primitive of
which nothing is known joins all of them, which is always safe. For Hessians the same run collects
which pairs of inputs meet in a nonlinear operation (Walther, "Computing sparse Hessians with
automatic differentiation", ACM TOMS 34, 2008).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.lazy import lazy_module

sparse = lazy_module("scipy.sparse")

# Linear primitives that only move elements about: their kernel, run on element numbers, tells where
# each element comes from.
_MOVES = {
    "clone", "contiguous", "flip", "roll", "cat", "stack", "repeat", "pad", "index_select",
    "gather", "getitem", "slice", "select", "tril", "triu", "diag_embed", "take", "index",
    "to_dtype", "conj", "real", "unfold", "as_strided", "diagonal", "unbind", "split",
}  # fmt: skip
_REDUCTIONS = {"sum", "mean", "sum_to"}
# Elementwise primitives that are linear in all inputs together.
_LINEAR_ELEMENTWISE = {"add", "sub", "neg", "positive", "to_dtype", "conj", "clone", "contiguous"}


class PatternLevel:
    """One run that detects patterns; `pairs` (for Hessians): inputs that meet nonlinearly."""

    def __init__(self, inputs: int, second_order: bool = False) -> None:
        self.inputs = inputs
        self.pairs = sparse.csr_matrix((inputs, inputs), dtype=bool) if second_order else None

    def __enter__(self) -> PatternLevel:
        self.level = core.push_level("interpret", handler=self.run)
        return self

    def __exit__(self, *_: Any) -> None:
        core.pop_level(self.level)

    def box(self, value: Tensor, pattern: Any) -> Tensor:
        """A tensor at this level with its pattern."""
        boxed: Any = core.box(value, None, self.level)
        boxed.pattern = pattern
        return boxed

    def pattern(self, x: Any) -> Any:
        """The pattern of an input; None for one that depends on no input."""
        at_level = isinstance(x, Tensor) and core.level_of(x) is self.level
        return getattr(x, "pattern", None) if at_level else None

    def run(self, primitive: Any, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> Any:
        """The handler: compute, and join patterns."""
        patterns = [self.pattern(x) for x in inputs]
        values = [core.unbox(x, self.level)[0] for x in inputs]
        result = primitive.apply(values, *params)
        outs = (result,) if primitive.outputs == 1 else result
        if not primitive.differentiable or all(p is None for p in patterns):
            found = [None] * len(outs)
        else:
            found = self.join(primitive, values, patterns, params, outs)
        boxed = [x if p is None else self.box(x, p) for x, p in zip(outs, found, strict=True)]
        return boxed[0] if primitive.outputs == 1 else tuple(boxed)

    def join(self, primitive: Any, values: Any, patterns: Any, params: Any, outs: Any) -> list[Any]:
        """The patterns of the results."""
        if primitive.is_view or primitive.name in _MOVES:
            return moved(primitive, values, patterns, params, outs, self.inputs)
        if primitive.name in _REDUCTIONS:
            return [reduced(values[0], patterns[0], outs[0], primitive.name, params)]
        if primitive.kind == "elementwise":
            found = [broadcast(values[i], p, outs[0]) for i, p in enumerate(patterns)]
            self.meet(primitive, found)
            return [union(found)]
        if (
            primitive.name in ("matmul", "linear", "mm")
            and sum(p is not None for p in patterns) == 1
        ):
            found = product(primitive.name, values, patterns, outs[0])
            if found is not None:
                return [found]
        everything = sparse.csr_matrix(union([p.max(axis=0) for p in patterns if p is not None]))
        if primitive.kind != "linear":
            self.add_pairs(everything, everything)
        return [
            sparse.csr_matrix(np.ones((max(x.numel(), 0), 1), dtype=bool)) @ everything
            for x in outs
        ]

    def meet(self, primitive: Any, found: list[Any]) -> None:
        """Note which inputs meet in an elementwise operation that is not linear."""
        if self.pairs is None or primitive.name in _LINEAR_ELEMENTWISE:
            return
        if all(r is None or r.function is None for r in primitive.vjp_rules or [None]):
            return  # constant local derivatives
        active = [p for p in found if p is not None]
        if primitive.name == "mul":
            if len(active) == 2:
                self.add_pairs(active[0], active[1])
            return
        if primitive.name == "div" and found[1] is None:
            return
        if primitive.name == "where":
            return
        joined = union(active)
        self.add_pairs(joined, joined)

    def add_pairs(self, a: Any, b: Any) -> None:
        """Every input in a row of `a` meets every input in the same row of `b`."""
        if self.pairs is not None:
            both = as_bool(a.T @ b)
            self.pairs = as_bool(self.pairs + both + both.T)


def as_bool(matrix: Any) -> Any:
    """A boolean CSR matrix with the nonzeros of another."""
    found = sparse.csr_matrix(matrix)
    found.data = np.ones_like(found.data, dtype=bool)
    return found.astype(bool)


def union(patterns: Any) -> Any:
    """Element by element, what any of the patterns has."""
    total = None
    for p in patterns:
        if p is not None:
            total = p if total is None else total + p
    return as_bool(total)


def _numbers(x: Tensor) -> np.ndarray:
    return np.arange(x.numel()).reshape(tuple(x.shape))


def broadcast(x: Any, pattern: Any, out: Tensor) -> Any:
    """The pattern of an input in the shape of the output."""
    if pattern is None:
        return None
    if x.shape == out.shape:
        return pattern
    return pattern[np.broadcast_to(_numbers(x), tuple(out.shape)).ravel()]


def moved(
    primitive: Any, values: Any, patterns: Any, params: Any, outs: Any, inputs: int
) -> list[Any]:
    """Patterns of an operation that moves elements: run its kernel on numbered elements."""
    tags, rows, start = [], [sparse.csr_matrix((1, inputs), dtype=bool)], 1
    for value, pattern in zip(values, patterns, strict=True):
        if not isinstance(value, Tensor) or value.dtype.category < 2:
            tags.append(value if value is None else core.array_of(value))
        elif pattern is None:
            tags.append(np.zeros(tuple(value.shape), dtype=np.int64))
        else:
            tags.append(_numbers(value) + start)
            rows.append(pattern)
            start += value.numel()
    table = sparse.vstack(rows, format="csr")
    if primitive.name in ("to_dtype", "conj", "real"):
        result: Any = tags[0]
    else:
        result = primitive.kernel(tags, *params) if primitive.variadic else primitive.kernel(
            *tags, *params)  # fmt: skip
    results = (result,) if primitive.outputs == 1 else result
    return [table[np.asarray(r).astype(np.int64).ravel()] for r in results]


def reduced(x: Tensor, pattern: Any, out: Tensor, name: str, params: Any) -> Any:
    """The pattern of a sum: each result depends on what it adds."""
    shape = tuple(x.shape)
    if name == "sum_to":
        target = (1,) * (len(shape) - len(params[0])) + tuple(params[0])
    else:
        target = tuple(1 if i in params[0] else s for i, s in enumerate(shape))
    owner = np.broadcast_to(np.arange(math.prod(target)).reshape(target), shape).ravel()
    members = sparse.csr_matrix(
        (np.ones(owner.size, dtype=bool), (owner, np.arange(owner.size))),
        shape=(out.numel(), owner.size),
    )
    return as_bool(members @ pattern)


def product(name: str, values: Any, patterns: Any, out: Tensor) -> Any:
    """The pattern of a matrix product with a constant matrix: its zeros count."""
    if (
        any(v is not None and v.ndim > 2 for v in values[:2])
        or patterns[0] is None
        and name == "linear"
    ):
        return None
    a, b = values[0], values[1]
    if name == "linear":
        b = b.transpose(0, 1)
    if a.ndim != 2 or b.ndim != 2:
        return None
    if patterns[0] is not None:  # C[i, j] = sum_k A[i, k] b[k, j]
        weights = sparse.csr_matrix(core.array_of(b) != 0)
        eye = sparse.identity(a.shape[0], dtype=bool, format="csr")
        return as_bool(sparse.kron(eye, weights.T, format="csr") @ patterns[0])
    weights = sparse.csr_matrix(core.array_of(a) != 0)
    eye = sparse.identity(b.shape[1], dtype=bool, format="csr")
    return as_bool(sparse.kron(weights, eye, format="csr") @ patterns[1])
