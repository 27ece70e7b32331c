"""Sums of products over named dims: einsum, tensordot, kron and chains of matrix products.

All of them are compositions: a contraction of two tensors is a permutation, a reshape and one
(batched) matrix product.
"""

from __future__ import annotations

import functools
import math
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public, require_tensor, wrap_dim
from tensorplay.ops.products import check_product, matmul
from tensorplay.ops.shaping import permute_op, reshape_to, squeeze_op
from tensorplay.ops.structure import convert

_LETTERS = string.ascii_uppercase + string.ascii_lowercase

# A label is an int: 0 to 51 for letters, from 52 on for the dims that an ellipsis stands for.
Labels = tuple[int, ...]
Shape = tuple[int, ...]


# --- contraction of labelled tensors --------------------------------------------------------------


class Arrangement(NamedTuple):
    """How an operand becomes the factor of a product; None: that step is not needed."""

    squeezed: tuple[int, ...] | None
    summed: tuple[int, ...] | None
    order: tuple[int, ...] | None
    shape: Shape | None

    def __call__(self, x: Any) -> Any:
        if self.squeezed:
            x = squeeze_op(x, self.squeezed)
        if self.summed:
            x = x.sum(self.summed)
        if self.order:
            x = permute_op(x, self.order)
        return reshape_to(x, self.shape) if self.shape is not None else x


class Contraction(NamedTuple):
    """The product of two labelled tensors, summed over some labels."""

    left: Arrangement
    right: Arrangement
    summed: bool
    shape: Shape | None  # of the result, where it is not that of the matrix product
    labels: Labels

    def __call__(self, a: Any, b: Any) -> Any:
        a, b = self.left(a), self.right(b)
        product = matmul(a, b) if self.summed else a * b
        return product if self.shape is None else reshape_to(product, self.shape)


def plan_contraction(
    a_labels: Labels, a_shape: Shape, b_labels: Labels, b_shape: Shape, kept: set[int]
) -> Contraction:
    """How to multiply two labelled tensors, summed over the labels that are not in `kept`.

    A dim of size one counts as broadcast.
    """
    a = _Operand(a_labels, a_shape)
    b = _Operand(b_labels, b_shape)
    a_sizes, b_sizes = dict(a.sizes), dict(b.sizes)
    a.squeeze(lambda s: a_sizes[s] == 1 and b_sizes.get(s, 1) != 1)
    b.squeeze(lambda s: b_sizes[s] == 1 and a_sizes.get(s, 1) != 1)
    a.sum(kept | set(b.labels))
    b.sum(kept | set(a.labels))
    shared = set(a.labels) & set(b.labels)
    batch = tuple(s for s in a.labels if s in shared and s in kept)
    summed = tuple(s for s in a.labels if s in shared and s not in kept)
    rows = tuple(s for s in a.labels if s not in shared)
    columns = tuple(s for s in b.labels if s not in shared)
    sizes = a.sizes | b.sizes
    labels = batch + rows + columns
    shape = tuple(sizes[s] for s in labels)
    if not summed:
        first = tuple(sizes[s] for s in batch + rows) + (1,) * len(columns)
        second = tuple(sizes[s] for s in batch) + (1,) * len(rows)
        second += tuple(sizes[s] for s in columns)
        left, right = a.arranged(batch + rows, first), b.arranged(batch + columns, second)
        return Contraction(left, right, False, None, labels)
    groups = [math.prod(sizes[s] for s in group) for group in (batch, rows, summed, columns)]
    lead = (groups[0],) if batch else ()
    left = a.arranged(batch + rows + summed, (*lead, groups[1], groups[2]))
    right = b.arranged(batch + summed + columns, (*lead, groups[2], groups[3]))
    product = (*lead, groups[1], groups[3])
    return Contraction(left, right, True, None if product == shape else shape, labels)


class _Operand:
    """The labels of an operand while its arrangement is planned."""

    def __init__(self, labels: Labels, shape: Shape) -> None:
        self.labels = labels
        self.sizes = dict(zip(labels, shape, strict=True))
        self.squeezed: tuple[int, ...] | None = None
        self.summed: tuple[int, ...] | None = None

    def squeeze(self, drops: Callable[[int], bool]) -> None:
        self.squeezed = self._drop(drops)

    def sum(self, kept: set[int]) -> None:
        self.summed = self._drop(lambda s: s not in kept)

    def _drop(self, drops: Callable[[int], bool]) -> tuple[int, ...] | None:
        dims = tuple(i for i, s in enumerate(self.labels) if drops(s))
        self.labels = tuple(s for s in self.labels if not drops(s))
        self.sizes = {s: self.sizes[s] for s in self.labels}
        return dims or None

    def arranged(self, order: Labels, shape: Shape) -> Arrangement:
        moved = None
        if order != self.labels:
            moved = tuple(self.labels.index(s) for s in order)
        given = tuple(self.sizes[s] for s in order)
        return Arrangement(self.squeezed, self.summed, moved, None if given == shape else shape)


def plan_result(labels: Labels, wanted: Labels) -> Arrangement:
    """How a labelled tensor becomes the result: sums, then an order of its dims."""
    operand = _Operand(labels, (0,) * len(labels))
    operand.sum(set(wanted))
    return operand.arranged(wanted, (0,) * len(wanted))


def plan_diagonals(labels: Labels) -> tuple[list[tuple[int, int]], Labels]:
    """Pairs of dims whose diagonals make every label single, and the labels then."""
    pairs = []
    for label in sorted({s for s in labels if labels.count(s) > 1}):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            pairs.append((first, second))
            labels = tuple(s for i, s in enumerate(labels) if i not in (first, second)) + (label,)
    return pairs, labels


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


def _check_sublists(terms: Iterable[Sequence[Any]]) -> None:
    for term in terms:
        for label in term:
            if label is not Ellipsis and not 0 <= label < len(_LETTERS):
                raise RuntimeError(
                    f"einsum(): subscript {label} is out of range: sublists hold ints from 0 to "
                    f"{len(_LETTERS) - 1} and Ellipsis"
                )


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


def _check_sizes(terms: list[Labels], shapes: Sequence[Shape]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for place, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        own: dict[int, int] = {}
        for label, size in zip(term, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {_shown(label)} is repeated in operand {place}, of shape "
                    f"{list(shape)}, for dims of different sizes {own[label]} and {size}"
                )
        for label, size in own.items():
            known = sizes.get(label, 1)
            if 1 not in (known, size) and known != size:
                raise RuntimeError(
                    f"einsum(): subscript {_shown(label)} has size {size} in operand {place}, of "
                    f"shape {list(shape)}, which does not broadcast with size {known} before"
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
        operands: Sequence[Any] = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        subscripts: Any = args[0]
    else:
        operands = args[: len(args) // 2 * 2 : 2]
        terms = tuple(tuple(term) for term in args[1::2])
        subscripts = terms, tuple(args[-1]) if len(args) % 2 else None
    diagonals, steps, finish = _plan(subscripts, tuple([tuple(x.shape) for x in operands]))
    values = list(operands)
    for place, dims in diagonals:
        values[place] = values[place].diagonal(0, *dims)
    for i, j, contraction in steps:
        product = contraction(values[i], values[j])
        values = [x for k, x in enumerate(values) if k not in (i, j)]
        values.append(product)
    return finish(values[0])


@functools.lru_cache(maxsize=1024)
def _plan(subscripts: Any, shapes: tuple[Shape, ...]) -> tuple[list[Any], list[Any], Arrangement]:
    """What to do with operands of these shapes: diagonals, products of pairs, the last step."""
    if isinstance(subscripts, str):
        written, output = _parse_equation(subscripts)
    else:
        _check_sublists((*subscripts[0], subscripts[1] or ()))
        written = [list(term) for term in subscripts[0]]
        output = None if subscripts[1] is None else list(subscripts[1])
    if len(written) != len(shapes) or not shapes:
        raise RuntimeError(
            f"einsum(): the subscripts are for {len(written)} operands, but {len(shapes)} were "
            "given"
        )
    hidden = [
        len(shape) - len(term) + 1 if Ellipsis in term else 0
        for shape, term in zip(shapes, written, strict=True)
    ]
    widest = max(0, *hidden)
    terms = [
        _fill_ellipsis(term, len(shape), i, widest)
        for i, (shape, term) in enumerate(zip(shapes, written, strict=True))
    ]
    result = _output_labels(terms, output, widest)
    sizes = _check_sizes(terms, shapes)
    found = [dict(zip(term, shape, strict=True)) for term, shape in zip(terms, shapes, strict=True)]
    diagonals = []
    for place, term in enumerate(terms):
        pairs, terms[place] = plan_diagonals(term)
        diagonals += [(place, pair) for pair in pairs]
    state = [(term, tuple(own[s] for s in term)) for term, own in zip(terms, found, strict=True)]
    steps = _plan_products(state, _contraction_order(terms, result, sizes), result)
    return diagonals, steps, plan_result(state[0][0], result)


def _plan_products(
    state: list[tuple[Labels, Shape]], order: list[Any], result: Labels
) -> list[tuple[int, int, Contraction]]:
    """The products of pairs; `state`, labels and shapes of the operands, becomes the last one's."""
    steps = []
    for step in order:
        places = sorted(step)
        while len(places) > 1:  # more than two at once: one after the other
            i, j, *rest = places
            (a, a_shape), (b, b_shape) = state[i], state[j]
            others = [s for k, (term, _) in enumerate(state) if k not in (i, j) for s in term]
            contraction = plan_contraction(a, a_shape, b, b_shape, {*result, *others})
            sizes = dict(zip(b, b_shape, strict=True))
            for s, size in zip(a, a_shape, strict=True):
                sizes[s] = max(size, sizes.get(s, 1)) if 0 not in (size, sizes.get(s, 1)) else 0
            steps.append((i, j, contraction))
            state[:] = [pair for k, pair in enumerate(state) if k not in (i, j)]
            state.append((contraction.labels, tuple(sizes[s] for s in contraction.labels)))
            places = [k - 2 for k in rest] + [len(state) - 1]
    return steps


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
    contraction = plan_contraction(a_labels, tuple(a.shape), tuple(b_labels), tuple(b.shape), kept)
    order = tuple(s for s in (*a_labels, *b_labels) if s in kept)
    result = convert(plan_result(contraction.labels, order)(contraction(a, b)), a.dtype)
    return result if out is None else core.write_out("tensordot", out, result)


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
    require_tensor(input, "kron")
    require_tensor(other, "kron", "other")
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
        return tensors[0].clone()
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
