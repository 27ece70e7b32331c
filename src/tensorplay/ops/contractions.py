"""Sums of products over named dims: einsum, tensordot, kron and chains of matrix products.

All of them are compositions: a contraction of two tensors is a permutation, a reshape and one
(batched) matrix product.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public, wrap_dim
from tensorplay.ops.products import check_product, matmul

_LETTERS = string.ascii_uppercase + string.ascii_lowercase

# A label is an int: 0 to 51 for letters, from 52 on for the dims that an ellipsis stands for.
Labels = tuple[int, ...]


# --- contraction of labelled tensors --------------------------------------------------------------


def contract(
    a: Any, a_labels: Labels, b: Any, b_labels: Labels, kept: set[int]
) -> tuple[Any, Labels]:
    """The product of two labelled tensors, summed over the labels that are not in `kept`.

    A dim of size one counts as broadcast. Returns the tensor and its labels.
    """
    shared = set(a_labels) & set(b_labels)
    a, a_labels = drop_dims(a, a_labels, _stretched(a, a_labels, b, b_labels))
    b, b_labels = drop_dims(b, b_labels, _stretched(b, b_labels, a, a_labels))
    a, a_labels = sum_labels(a, a_labels, kept | set(b_labels))
    b, b_labels = sum_labels(b, b_labels, kept | set(a_labels))
    shared &= set(a_labels) & set(b_labels)
    batch = tuple(s for s in a_labels if s in shared and s in kept)
    summed = tuple(s for s in a_labels if s in shared and s not in kept)
    rows = tuple(s for s in a_labels if s not in shared)
    columns = tuple(s for s in b_labels if s not in shared)
    sizes = dict(zip(a_labels, a.shape, strict=True)) | dict(zip(b_labels, b.shape, strict=True))
    labels = batch + rows + columns
    if not summed:
        left = to_labels(a, a_labels, batch + rows).reshape(
            *_sizes(sizes, batch + rows), *(1,) * len(columns)
        )
        right = to_labels(b, b_labels, batch + columns).reshape(
            *_sizes(sizes, batch), *(1,) * len(rows), *_sizes(sizes, columns)
        )
        return left * right, labels
    left = _grouped(to_labels(a, a_labels, batch + rows + summed), sizes, batch, rows, summed)
    right = _grouped(
        to_labels(b, b_labels, batch + summed + columns), sizes, batch, summed, columns
    )
    return matmul(left, right).reshape(_sizes(sizes, labels)), labels


def _sizes(sizes: dict[int, int], labels: Labels) -> tuple[int, ...]:
    return tuple(sizes[s] for s in labels)


def _grouped(x: Any, sizes: dict[int, int], *groups: Labels) -> Any:
    """x with each group of labels made one dim; an empty batch in front is left out."""
    shape = [math.prod(_sizes(sizes, group)) for group in groups]
    return x.reshape(shape if groups[0] else shape[1:])


def _stretched(a: Any, a_labels: Labels, b: Any, b_labels: Labels) -> Labels:
    """Labels of size one in a that have another size in b."""
    b_sizes = dict(zip(b_labels, b.shape, strict=True))
    return tuple(
        s for s, size in zip(a_labels, a.shape, strict=True) if size == 1 and b_sizes.get(s, 1) != 1
    )


def drop_dims(x: Any, labels: Labels, dropped: Labels) -> tuple[Any, Labels]:
    """x without the dims (of size one) of some labels."""
    if not dropped:
        return x, labels
    x = x.squeeze(tuple(i for i, s in enumerate(labels) if s in dropped))
    return x, tuple(s for s in labels if s not in dropped)


def sum_labels(x: Any, labels: Labels, kept: set[int]) -> tuple[Any, Labels]:
    """x summed over the labels that are not in `kept`."""
    dims = tuple(i for i, s in enumerate(labels) if s not in kept)
    if not dims:
        return x, labels
    return x.sum(dims), tuple(s for s in labels if s in kept)


def to_labels(x: Any, labels: Labels, order: Labels) -> Any:
    """x with its dims in another order of its labels."""
    return x if labels == order else x.permute(tuple(labels.index(s) for s in order))


def take_diagonals(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """x with dims of equal label made one, their diagonal."""
    for label in sorted({s for s in labels if labels.count(s) > 1}):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = x.diagonal(0, first, second)
            labels = tuple(s for i, s in enumerate(labels) if i not in (first, second)) + (label,)
    return x, labels


# --- einsum ---------------------------------------------------------------------------------------


def _parse_term(term: str, equation: str) -> list[Any]:
    """Labels of one term of an equation, with Ellipsis for '...'."""
    head, dots, tail = term.partition("...")
    labels: list[Any] = []
    for part, after in ((head, dots), (tail, "")):
        for letter in part:
            if letter not in _LETTERS:
                raise RuntimeError(
                    f"einsum(): invalid subscript {letter!r} in equation {equation!r}: subscripts "
                    "are letters, and '...' may appear once per operand"
                )
            labels.append(_LETTERS.index(letter))
        if after:
            labels.append(Ellipsis)
    return labels


def _parse_equation(equation: str) -> tuple[list[list[Any]], list[Any] | None]:
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = [_parse_term(term, equation) for term in left.split(",")]
    return terms, _parse_term(right, equation) if arrow else None


def _parse_sublists(args: tuple[Any, ...]) -> tuple[list[Any], list[list[Any]], list[Any] | None]:
    """Operands, terms and output of `einsum(x, [0, 1], y, [1, 2], [0, 2])`."""
    operands, terms = list(args[: len(args) // 2 * 2 : 2]), [list(a) for a in args[1::2]]
    output = list(args[-1]) if len(args) % 2 else None
    for term in (*terms, output or ()):
        for label in term:
            if label is not Ellipsis and not 0 <= label < len(_LETTERS):
                raise RuntimeError(
                    f"einsum(): subscript {label} is out of range: sublists hold ints from 0 to "
                    f"{len(_LETTERS) - 1} and Ellipsis"
                )
    return operands, terms, output


def _fill_ellipsis(term: list[Any], ndim: int, place: int, widest: int) -> Labels:
    """A term's labels with its ellipsis as the labels of the last dims of the widest ellipsis."""
    named = [s for s in term if s is not Ellipsis]
    hidden = ndim - len(named)
    if term.count(Ellipsis) > 1:
        raise RuntimeError(f"einsum(): operand {place} has more than one ellipsis")
    if hidden < 0 or (hidden and Ellipsis not in term):
        raise RuntimeError(
            f"einsum(): operand {place} has {ndim} dims, but its subscripts name {len(named)}"
            + (" (without an ellipsis they must name all)" if hidden > 0 else "")
        )
    dots = range(len(_LETTERS) + widest - hidden, len(_LETTERS) + widest)
    labels: list[int] = []
    for s in term:
        labels.extend(dots if s is Ellipsis else (s,))
    return tuple(labels)


def _output_labels(terms: list[Labels], output: list[Any] | None, widest: int) -> Labels:
    """Labels of the result: as written, or the ellipsis and then what appears once, sorted."""
    dots = tuple(range(len(_LETTERS), len(_LETTERS) + widest))
    everything = [s for term in terms for s in term]
    if output is None:
        return dots + tuple(
            sorted(s for s in set(everything) if everything.count(s) == 1 and s < len(_LETTERS))
        )
    labels: list[int] = []
    for s in output:
        labels.extend(dots if s is Ellipsis else (s,))
    for s in labels:
        if labels.count(s) > 1 or s not in everything:
            reason = "appears more than once" if labels.count(s) > 1 else "is in no operand"
            raise RuntimeError(f"einsum(): output subscript {_shown(s)} {reason}")
    return tuple(labels)


def _shown(label: int) -> str:
    return repr(_LETTERS[label]) if label < len(_LETTERS) else "'...'"


def _check_sizes(operands: list[Any], terms: list[Labels]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for place, (x, term) in enumerate(zip(operands, terms, strict=True)):
        own: dict[int, int] = {}
        for label, size in zip(term, x.shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {_shown(label)} is repeated in operand {place}, of shape "
                    f"{list(x.shape)}, for dims of different sizes {own[label]} and {size}"
                )
        for label, size in own.items():
            known = sizes.get(label, 1)
            if 1 not in (known, size) and known != size:
                raise RuntimeError(
                    f"einsum(): subscript {_shown(label)} has size {size} in operand {place}, of "
                    f"shape {list(x.shape)}, which does not broadcast with size {known} before"
                )
            sizes[label] = size if known == 1 else known
    return sizes


def _contraction_order(terms: list[Labels], output: Labels, sizes: dict[int, int]) -> list[Any]:
    """Which operands are multiplied when: NumPy's greedy search over the sizes."""
    names = sorted(sizes)
    if len(terms) < 3 or len(names) > len(_LETTERS):
        return [(0, 1)] * (len(terms) - 1)
    letter = dict(zip(names, _LETTERS, strict=False))
    spelled = [",".join("".join(letter[s] for s in term) for term in terms), ""]
    spelled[1] = "".join(letter[s] for s in output)
    shapes = [np.broadcast_to(np.float32(0), [sizes[s] for s in term]) for term in terms]
    path, _ = np.einsum_path("->".join(spelled), *shapes, optimize="greedy")
    return [step for step in path[1:] if len(step) > 1]


@public(method=False)
def einsum(*args: Any) -> Tensor:
    """The sum of products of the operands over the subscripts that the result does not have.

    `einsum("ij,jk->ik", x, y)`, or with sublists `einsum(x, [0, 1], y, [1, 2], [0, 2])`. A
    subscript that an operand repeats takes its diagonal; '...' stands for any number of dims, which
    broadcast. Without '->' the result has the subscripts that appear once, sorted. Three and more
    operands are multiplied pairwise in an order that keeps the work small.

    Raises:
        RuntimeError: if the subscripts do not fit the operands.

    >>> import tensorplay as tp
    >>> tp.einsum("ii->i", tp.tensor([[1., 2.], [3., 4.]]))
    tensor([1., 4.])
    """
    if not args:
        raise ValueError("einsum(): needs an equation and operands, or operands and sublists")
    if isinstance(args[0], str):
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
        written, output = _parse_equation(args[0])
    else:
        operands, written, output = _parse_sublists(args)
    if len(written) != len(operands) or not operands:
        raise RuntimeError(
            f"einsum(): the subscripts are for {len(written)} operands, but {len(operands)} were "
            "given"
        )
    hidden = [
        x.ndim - len(term) + 1 if Ellipsis in term else 0
        for x, term in zip(operands, written, strict=True)
    ]
    widest = max(0, *hidden) if hidden else 0
    terms = [
        _fill_ellipsis(term, x.ndim, i, widest)
        for i, (x, term) in enumerate(zip(operands, written, strict=True))
    ]
    labels = _output_labels(terms, output, widest)
    sizes = _check_sizes(operands, terms)
    return _evaluate(operands, terms, labels, sizes)


def _evaluate(
    operands: list[Any], terms: list[Labels], output: Labels, sizes: dict[int, int]
) -> Tensor:
    pairs = [take_diagonals(x, term) for x, term in zip(operands, terms, strict=True)]
    for step in _contraction_order([term for _, term in pairs], output, sizes):
        chosen = [pairs[i] for i in sorted(step)]
        pairs = [pair for i, pair in enumerate(pairs) if i not in step]
        while len(chosen) > 1:
            (a, a_labels), (b, b_labels), *chosen = chosen
            others = [s for _, term in (*pairs, *chosen) for s in term]
            chosen.append(contract(a, a_labels, b, b_labels, {*output, *others}))
        pairs.append(chosen[0])
    x, found = sum_labels(*pairs[0], set(output))
    return to_labels(x, found, output)


# --- tensordot and products of chains -------------------------------------------------------------


@public(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """The sum of products of `a` and `b` over pairs of dims.

    dims: how many of the last dims of a and the first of b, or two lists of dims that are paired.
    The result has the other dims of a, then those of b.

    Raises:
        RuntimeError: if the sizes of paired dims differ (and neither is one), or dims repeat.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise RuntimeError(
                f"tensordot(): dims must be from 0 to {min(a.ndim, b.ndim)} for inputs of shapes "
                f"{list(a.shape)} and {list(b.shape)}, got {dims}"
            )
        dims = (range(a.ndim - dims, a.ndim), range(dims))
    first = [wrap_dim(int(d), a, "tensordot") for d in _as_list(dims[0])]
    second = [wrap_dim(int(d), b, "tensordot") for d in _as_list(dims[1])]
    if len(first) != len(second) or len({*first}) < len(first) or len({*second}) < len(second):
        raise RuntimeError(
            f"tensordot(): dims must pair dims of a with as many of b, got {first} and {second}"
        )
    for i, j in zip(first, second, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(
                f"tensordot(): dim {i} of a, of shape {list(a.shape)}, and dim {j} of b, of shape "
                f"{list(b.shape)}, are contracted but have sizes {a.shape[i]} and {b.shape[j]}"
            )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"tensordot(): expected both inputs to have the same dtype, got {a.dtype} and {b.dtype}"
        )
    a_labels = tuple(range(a.ndim))
    b_labels = [a.ndim + j for j in range(b.ndim)]
    for i, j in zip(first, second, strict=True):
        b_labels[j] = i
    kept = (set(a_labels) | set(b_labels)) - set(first)
    result, labels = contract(a, a_labels, b, tuple(b_labels), kept)
    order = tuple(s for s in (*a_labels, *b_labels) if s in kept)
    result = to_labels(result, labels, order)
    return result if out is None else out.copy_(result)


def _as_list(dims: Any) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)


@public(out=True)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: blocks of `other`, each times an element of `input`.

    The result's sizes are the products of both inputs' sizes; the one with fewer dims gets dims of
    size one in front.

    >>> import tensorplay as tp
    >>> tp.kron(tp.eye(2), tp.ones(1, 2))
    tensor([[1., 1., 0., 0.],
            [0., 0., 1., 1.]])
    """
    rank = max(input.ndim, other.ndim)
    a = (1,) * (rank - input.ndim) + tuple(input.shape)
    b = (1,) * (rank - other.ndim) + tuple(other.shape)
    left = input.reshape([s for size in a for s in (size, 1)])
    right = other.reshape([s for size in b for s in (1, size)])
    return (left * right).reshape([m * n for m, n in zip(a, b, strict=True)])


def product_of_chain(name: str, tensors: Sequence[Any]) -> Tensor:
    """The product of matrices (the first and the last may be vectors) in the cheapest order.

    Raises:
        RuntimeError: if there are none, or shapes or dtypes do not fit.
    """
    if not tensors:
        raise RuntimeError(f"{name}(): expected at least one tensor, got none")
    if len(tensors) == 1:
        return tensors[0]
    for i, x in enumerate(tensors):
        allowed = (1, 2) if i in (0, len(tensors) - 1) else (2,)
        if x.ndim not in allowed:
            raise RuntimeError(
                f"{name}(): tensor {i} must have {' or '.join(map(str, allowed))} dims, got shape "
                f"{list(x.shape)}"
            )
    for x, y in zip(tensors[:-1], tensors[1:], strict=True):
        check_product(name, x, y)
    first = tensors[0].unsqueeze(0) if tensors[0].ndim == 1 else tensors[0]
    last = tensors[-1].unsqueeze(1) if tensors[-1].ndim == 1 else tensors[-1]
    chain = [first, *tensors[1:-1], last]
    sizes = [x.shape[0] for x in chain] + [chain[-1].shape[1]]
    product = _multiply(chain, _best_splits(sizes), 0, len(chain) - 1)
    if tensors[-1].ndim == 1:
        product = product.squeeze(-1)
    return product.squeeze(0) if tensors[0].ndim == 1 else product


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain (Cormen et al., Introduction to Algorithms, ch. 15)."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    return split


def _multiply(chain: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return chain[i]
    k = split[i, j]
    return matmul(_multiply(chain, split, i, k), _multiply(chain, split, k + 1, j))


@public(method=False)
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of matrices, multiplied in the order that needs the fewest operations.

    Raises:
        RuntimeError: if one is not a matrix, or shapes or dtypes do not fit.
    """
    for i, x in enumerate(matrices):
        if x.ndim != 2:
            raise RuntimeError(f"chain_matmul(): tensor {i} must be a matrix, got {list(x.shape)}")
    result = product_of_chain("chain_matmul", matrices)
    return result if out is None else out.copy_(result)
