"""embedding, embedding_bag and one_hot: rows of a table by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.elementwise import where
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import front, primitive, public

_sparse = lazy_module("scipy.sparse")

# --- primitives -----------------------------------------------------------------------------------
#
# The rows of a batch of tables are the rows of one table: `period` is the number of rows of each,
# so that a padding row is one whose number is `padding` modulo the period.


def _check_bags(index: Tensor, rows: int) -> None:
    if index.is_box or not index.numel():
        return
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= rows:
        raise RuntimeError(
            f"embedding_bag(): index {low if low < 0 else high} of input is out of range for a "
            f"weight of {rows} rows"
        )


def _check_index(index: np.ndarray, rows: int) -> None:
    if index.size and (index.min() < 0 or index.max() >= rows):
        bad = index[(index < 0) | (index >= rows)].flat[0]
        raise IndexError(f"embedding(): index {bad} is out of range for a table of {rows} rows")


def _embedding_kernel(
    table: np.ndarray, index: np.ndarray, period: int, padding: Any, by_frequency: bool
) -> np.ndarray:
    rows = core.rows_of_table(table, index)
    if rows is None:
        _check_index(index, table.shape[0])
        rows = table[index]
    return rows


def _factors(
    index: np.ndarray, rows: int, period: int, padding: Any, by_frequency: bool, dtype: Any
) -> np.ndarray | None:
    """What each gradient row is multiplied with (n,); None: nothing."""
    factor = None
    if by_frequency:
        counts = np.bincount(index, minlength=rows)
        factor = 1 / counts[index]
    if padding is not None:
        kept = index % period != padding
        factor = kept if factor is None else factor * kept
    return None if factor is None else factor.astype(dtype)


def _embedding_grad_kernel(
    u: np.ndarray, index: np.ndarray, rows: int, period: int, padding: Any, by_frequency: bool
) -> np.ndarray:
    flat = index.ravel()
    width = u.shape[-1]
    if not flat.size or not width:
        return np.zeros((rows, width), u.dtype)
    factor = _factors(flat, rows, period, padding, by_frequency, u.dtype)
    if factor is None:
        factor = np.ones(flat.size, u.dtype)
    # A product with a sparse matrix: the fastest way to add up rows.
    entries = (factor, (flat, np.arange(flat.size)))
    return _sparse.csr_array(entries, shape=(rows, flat.size)) @ u.reshape(-1, width)


def _embedding_pick_kernel(
    table: np.ndarray, index: np.ndarray, period: int, padding: Any, by_frequency: bool
) -> np.ndarray:
    """The transpose of the gradient: rows times the same factors."""
    out = table[index]
    flat = index.ravel()
    factor = _factors(flat, table.shape[0], period, padding, by_frequency, out.dtype)
    return out if factor is None else out * factor.reshape(*index.shape, 1)


def _offset(index: Any, bdim: int | None, size: int, period: int) -> Any:
    """Indices of a batch of tables as indices of the one table that they make."""
    base = core.from_array(np.arange(size) * period)
    if bdim is None:
        return index + base.reshape((size,) + (1,) * index.ndim)
    index = front(index, bdim)
    return index + base.reshape((size,) + (1,) * (index.ndim - 1))


def _batch_table(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    table, index = values
    period, *rest = params
    if bdims[0] is None:
        return p(table, front(index, bdims[1]), *params), 0
    table = front(table, bdims[0])
    size, rows, width = table.shape
    if bdims[1] is None and p is embedding_op:
        out = p(table.movedim(0, 1).reshape((rows, size * width)), index, *params)
        return out.reshape((*index.shape, size, width)), index.ndim
    index = _offset(index, bdims[1], size, rows)
    return p(table.reshape((size * rows, width)), index, period, *rest), 0


def _batch_grad(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    u, index = values
    rows, *rest = params
    if bdims[1] is None:
        u = front(u, bdims[0])
        size, width = u.shape[0], u.shape[-1]
        flat = u.movedim(0, -2).reshape((*index.shape, size * width))
        return p(flat, index, *params).reshape((rows, size, width)), 1
    size = index.shape[bdims[1]]
    index = _offset(index, bdims[1], size, rows)
    u = u.unsqueeze(0).expand((size, *u.shape)) if bdims[0] is None else front(u, bdims[0])
    out = p(u, index, size * rows, *rest)
    return out.reshape((size, rows, out.shape[-1])), 0


_PARAMS = ("period", "padding", "by_frequency")

embedding_op = primitive(
    "embedding",
    _embedding_kernel,
    inputs=("x", "index"),
    params=_PARAMS,
    vjp=(
        lambda g, x_shape, index, period, padding, by_frequency: embedding_grad(
            g, index, x_shape[0], period, padding, by_frequency
        ),
        None,
    ),
    jvp=(
        lambda t, index, period, padding, by_frequency: embedding_op(
            t, index, period, padding, by_frequency
        ),
        None,
    ),
    batch=_batch_table,
)
embedding_grad = primitive(
    "embedding_grad",
    typed("embedding", _embedding_grad_kernel, "fc"),
    inputs=("u", "index"),
    params=("rows", *_PARAMS),
    vjp=(
        lambda g, index, period, padding, by_frequency: embedding_pick(
            g, index, period, padding, by_frequency
        ),
        None,
    ),
    jvp=(
        lambda t, index, rows, period, padding, by_frequency: embedding_grad(
            t, index, rows, period, padding, by_frequency
        ),
        None,
    ),
    batch=_batch_grad,
    node_name="EmbeddingBackwardBackward0",
)
embedding_pick = primitive(
    "embedding_pick",
    _embedding_pick_kernel,
    inputs=("x", "index"),
    params=_PARAMS,
    vjp=(
        lambda g, x_shape, index, period, padding, by_frequency: embedding_grad(
            g, index, x_shape[0], period, padding, by_frequency
        ),
        None,
    ),
    jvp=(
        lambda t, index, period, padding, by_frequency: embedding_pick(
            t, index, period, padding, by_frequency
        ),
        None,
    ),
    batch=_batch_table,
    node_name="EmbeddingBackward0",
)

# --- embedding ------------------------------------------------------------------------------------


def _check(name: str, index: Tensor, weight: Tensor, padding_idx: int | None) -> int | None:
    """The padding row as a non-negative number, after checking dtypes and shapes."""
    if index.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(
            f"{name}(): expected indices of dtype int64 or int32, got {index.dtype}; convert with "
            ".long()"
        )
    if weight.ndim != 2:
        raise RuntimeError(f"{name}(): weight must be 2-D, got shape {list(weight.shape)}")
    if padding_idx is None:
        return None
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise AssertionError(
            f"{name}(): padding_idx must be within num_embeddings={rows}, got {padding_idx}"
        )
    return padding_idx % rows


def _limit_norms(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are used down to `max_norm`, in place and unrecorded."""
    table = core.detach(weight)
    used = table.new_zeros(table.shape[0]).scatter(0, index.long().reshape(-1), 1.0) > 0
    norms = table.norm(norm_type, 1)
    factor = where(used & (norms > max_norm), max_norm / (norms + 1e-7), 1.0)
    table.mul_(factor.to(table.dtype).unsqueeze(1))


@public("embedding", namespace="nn.functional", method=False)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` (V, D) by their numbers: (...) integers give (..., D).

    padding_idx: a row whose gradient stays zero. max_norm: rows that are used and longer (in the
    `norm_type`-norm) are first scaled to it, in place. scale_grad_by_freq: divide gradients by how
    often the row is used. sparse: ignored, gradients are dense.

    Raises:
        IndexError: for a number that is no row.
        RuntimeError: for dtypes or shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.embedding(tp.tensor([2, 0]), tp.eye(3))
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    padding = _check("embedding", input, weight, padding_idx)
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    return embedding_op(weight, input, weight.shape[0], padding, bool(scale_grad_by_freq))


@public("embedding", method=False)
def embedding_plain(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """nn.functional.embedding with PyTorch's lower-level signature (padding_idx -1: none)."""
    padding = None if padding_idx < 0 else padding_idx
    return embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq)


# --- bags -----------------------------------------------------------------------------------------


def _bag_numbers(offsets: Tensor, count: int, include_last: bool) -> tuple[np.ndarray, int]:
    """(the bag of each index, number of bags) from where the bags start."""
    starts = core.array_of(offsets).astype(np.int64)
    if not starts.size:
        return np.zeros(count, np.int64), 0
    if starts[0] != 0:
        raise RuntimeError(
            f"embedding_bag(): offsets[0] has to be 0, the first bag starts at 0, got {starts[0]}"
        )
    if starts[-1] > count or np.any(np.diff(starts) < 0):
        raise RuntimeError(
            f"embedding_bag(): offsets must increase and end within the {count} indices, got "
            f"{starts.tolist()}"
        )
    bags = starts.size - 1 if include_last else starts.size
    number = np.searchsorted(starts[:bags], np.arange(count), side="right") - 1
    return number, bags


def _largest_of_bags(rows: Tensor, kept: Any, number: np.ndarray, bags: int) -> Tensor:
    """The largest of each column over each bag's rows (the first of equal ones); 0 if empty."""
    lengths = np.bincount(number, minlength=bags)
    longest = int(lengths.max()) if lengths.size else 0
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if bags else np.zeros(0, np.int64)
    places = np.minimum(first[:, None] + np.arange(longest), max(number.size - 1, 0))
    real = core.from_array(np.arange(longest) < lengths[:, None])
    index = core.from_array(places.astype(np.int64).ravel())
    if kept is not None:
        real = real & kept.index_select(0, index).reshape(places.shape)
    width = rows.shape[-1]
    if longest == 0:
        return rows.new_zeros((bags, width)) + rows.sum() * 0
    spread = rows.index_select(0, index).reshape((*places.shape, width))
    masked = where(real.unsqueeze(-1), spread, -float("inf"))
    largest = masked.max(1)[0]
    return where(real.any(1).unsqueeze(-1), largest, 0.0)


@public("embedding_bag", namespace="nn.functional", method=False)
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of `weight` (V, D).

    input: (B, n), bags of one size; or (n,), bags that start at `offsets` (include_last_offset: the
    last one is the end). mode: 'sum', 'mean' or 'max'. per_sample_weights: of the input's shape,
    factors of the rows, for 'sum'. padding_idx: a row that does not count. The others: as in
    embedding().

    Raises:
        ValueError: for arguments that contradict each other.
        IndexError: for a number that is no row.

    >>> import tensorplay as tp
    >>> tp.nn.functional.embedding_bag(tp.tensor([[0, 2]]), tp.eye(3), mode="sum")
    tensor([[1., 0., 1.]])
    """
    padding = _check_bag(input, weight, offsets, mode, per_sample_weights, padding_idx)
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    index = input.reshape(-1)
    _check_bags(index, weight.shape[0])
    rows = embedding_op(weight, index, weight.shape[0], padding, bool(scale_grad_by_freq))
    kept = None if padding is None else index != padding
    if offsets is not None and offsets.is_box:
        return _batched_bags(rows, kept, offsets, mode, per_sample_weights, include_last_offset)
    if offsets is None:
        bags = input.shape[0]
        number = np.repeat(np.arange(bags), input.shape[1])
    else:
        number, bags = _bag_numbers(offsets, index.shape[0], include_last_offset)
    if mode == "max":
        return _largest_of_bags(rows, kept, number, bags)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1).unsqueeze(-1)
    if kept is not None:
        rows = where(kept.unsqueeze(-1), rows, 0.0)
    place = core.from_array(number)
    total = rows.new_zeros((bags, weight.shape[1])).index_add(0, place, rows)
    if mode == "sum":
        return total
    ones = rows.new_ones(index.shape[0]) if kept is None else kept.to(rows.dtype)
    counts = rows.new_zeros(bags).index_add(0, place, ones)
    return total / counts.clamp(min=1).unsqueeze(-1)


def _batched_bags(
    rows: Tensor, kept: Any, offsets: Tensor, mode: str, per_sample: Tensor | None,
    include_last: bool,
) -> Tensor:  # fmt: skip
    """Bags whose starts are not known (inside vmap): every row is asked for by every bag."""
    count = rows.shape[0]
    place = core.from_array(np.arange(count))
    starts = offsets.narrow(0, 0, offsets.shape[0] - 1) if include_last else offsets
    number = (starts.unsqueeze(1) <= place).long().sum(0) - 1
    inside = number == core.from_array(np.arange(starts.shape[0])).unsqueeze(1)
    if kept is not None:
        inside = inside & kept
    if mode == "max":
        largest = where(inside.unsqueeze(-1), rows, -float("inf")).max(1)[0]
        return where(inside.any(1).unsqueeze(-1), largest, 0.0)
    weights = inside.to(rows.dtype)
    if per_sample is not None:
        weights = weights * per_sample
    total = weights @ rows
    return total if mode == "sum" else total / weights.sum(1).clamp(min=1).unsqueeze(-1)


def _check_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None, mode: str, per_sample: Tensor | None,
    padding_idx: int | None,
) -> int | None:  # fmt: skip
    name = "embedding_bag"
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{name}(): mode has to be one of sum, mean or max, got {mode!r}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(f"{name}(): if input is 2D, then offsets has to be None")
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError(f"{name}(): for a 1D input offsets has to be a 1D Tensor")
    if input.ndim not in (1, 2):
        raise ValueError(
            f"{name}(): input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if per_sample is not None:
        if mode != "sum":
            raise NotImplementedError(
                f"{name}(): per_sample_weights are only supported for mode='sum', got {mode!r}"
            )
        if per_sample.shape != input.shape:
            raise ValueError(
                f"{name}(): expected per_sample_weights of the input's shape "
                f"{list(input.shape)}, got {list(per_sample.shape)}"
            )
    return _check(name, input, weight, padding_idx)


# --- one_hot --------------------------------------------------------------------------------------


@public("one_hot", namespace="nn.functional", method=False)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """(..., num_classes) int64: 1 at the class that each number names, else 0.

    num_classes: by default one more than the largest number.

    Raises:
        RuntimeError: for a tensor that is not int64, a negative number, or one that is too large.

    >>> import tensorplay as tp
    >>> tp.nn.functional.one_hot(tp.tensor([2, 0]))
    tensor([[0, 0, 1],
            [1, 0, 0]])
    """
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError(
            f"one_hot(): only applicable to an index tensor of type int64, got {tensor.dtype}"
        )
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError(
                "one_hot(): cannot infer the total number of classes from an empty tensor; give "
                "num_classes"
            )
    elif not tensor.is_box:
        made = None
        if core.is_constant(tensor):
            made = core.one_hot_array(core.array_of(tensor), num_classes)
        if made is not None:
            return core.from_array(made)
        low, high = int(tensor.min()), int(tensor.max())
        if low < 0:
            raise RuntimeError(f"one_hot(): class values must be non-negative, got {low}")
        if num_classes == -1:
            num_classes = high + 1
        elif high >= num_classes:
            raise RuntimeError(
                f"one_hot(): class values must be smaller than num_classes={num_classes}, got "
                f"{high}"
            )
    elif num_classes == -1:
        raise RuntimeError("one_hot(): inside vmap give num_classes; it is a shape")
    return (tensor.unsqueeze(-1) == core.from_array(np.arange(num_classes))).long()
