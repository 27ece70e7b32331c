"""Max pooling with its indices (windows of one size, adaptive, fractional) and its inverse."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, zeros_shaped
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import constant, front, materialize, publish
from tensorplay.ops.noise import noise
from tensorplay.ops.picking import picked, put
from tensorplay.ops.pooling import (
    adaptive_bounds,
    adaptive_sizes,
    check_pool_input,
    plan_pool,
)
from tensorplay.ops.windows import Pairs, out_sizes, padded, per_dim, plan_of

# --- which elements are the largest ---------------------------------------------------------------


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _flat_index(along: list[np.ndarray], sizes: Any) -> np.ndarray:
    """Flat indices of the grid of indices along each dim."""
    total = np.zeros((1,) * len(sizes), np.int64)
    for axis, (index, size) in enumerate(zip(along, sizes, strict=True)):
        shape = [1] * len(sizes)
        shape[axis] = -1
        total = total * size + index.reshape(shape)
    return total


def _first_inside(starts: list[np.ndarray], dilation: Any) -> list[np.ndarray]:
    """Along each dim, the number of the first element of each window that is not padding."""
    return [-(-np.maximum(-start, 0) // d) for start, d in zip(starts, dilation, strict=True)]


def _max_windows_kernel(
    x: np.ndarray, kernel: Any, stride: Any, padding: Pairs, dilation: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(largest values, their flat indices), one element of the window after the other."""
    lead = x.ndim - len(kernel)
    sizes = x.shape[lead:]
    counts = out_sizes(sizes, kernel, stride, padding, dilation)
    wide: Any = padded(x, padding, _lowest(x.dtype))
    starts = [
        np.arange(n) * s - low for n, s, (low, _) in zip(counts, stride, padding, strict=True)
    ]
    # The number of the largest element within its window; at first the first one in the input.
    number = np.empty(x.shape[:lead] + counts, np.uint8 if math.prod(kernel) <= 256 else np.int32)
    number[...] = _flat_index(_first_inside(starts, dilation), kernel)
    best = np.full(number.shape, _lowest(x.dtype), x.dtype)
    has_nan = x.dtype.kind not in "iu" and bool((x != x).any())
    for k, at in enumerate(itertools.product(*map(range, kernel))):
        slices = tuple(
            slice(i * d, i * d + s * (n - 1) + 1, s)
            for i, d, s, n in zip(at, dilation, stride, counts, strict=True)
        )
        part = np.ascontiguousarray(wide[(..., *slices)])
        better = part > best
        if has_nan:  # which wins, the last one of several
            better |= part != part
        np.maximum(best, part, out=best)
        # number = where(better, k, number), in operations that are vectorised
        number *= ~better
        number += better.view(np.uint8) * number.dtype.type(k)
    steps = _flat_index([np.arange(k) * d for k, d in zip(kernel, dilation, strict=True)], sizes)
    return best, _flat_index(starts, sizes) + steps.ravel().take(number)


def _batch_front(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    return p(front(values[0], bdims[0]), *params), 0


max_windows = constant(
    "max_windows",
    core.MaxWindowsKernel(typed("max_pool", _max_windows_kernel, "if", widen=False)),
    params=("kernel", "stride", "padding", "dilation"),
    outputs=2,
    quiet=True,
    batch=_batch_front,
)


def _gathered_max(x: np.ndarray, taps: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The largest of x (rows, *sizes) over windows given by their indices along each dim.

    taps: per dim (rows or 1, outputs, width); an index that repeats does no harm.
    """
    spatial = len(taps)
    sizes = x.shape[1:]
    values = x
    flat = np.zeros((1,) * (2 * spatial + 1), np.int64)
    for axis, tap in enumerate(taps):
        _, count, width = tap.shape
        # (rows, ..., count, width, ...): the two dims of earlier axes stand in front.
        at = 1 + 2 * axis
        shape = [1] * values.ndim
        shape[0], shape[at] = tap.shape[0], count * width
        index = np.broadcast_to(
            tap.reshape(shape), (*values.shape[:at], count * width, *values.shape[at + 1 :])
        )
        values = np.take_along_axis(values, index, at)
        values = values.reshape(*values.shape[:at], count, width, *values.shape[at + 1 :])
        wide = [1] * (2 * spatial + 1)
        wide[0], wide[at], wide[at + 1] = tap.shape[0], count, width
        flat = flat * sizes[axis] + tap.reshape(wide)
    order = (0, *range(1, 2 * spatial, 2), *range(2, 2 * spatial + 1, 2))
    values, flat = values.transpose(order), flat.transpose(order)
    kernel = values.shape[1 + spatial :]
    values = np.ascontiguousarray(values).reshape(*values.shape[: 1 + spatial], math.prod(kernel))
    flat = np.broadcast_to(flat, (flat.shape[0], *values.shape[1:-1], *kernel))
    flat = flat.reshape(flat.shape[0], *values.shape[1:])
    chosen = np.argmax(values, -1)[..., None]
    missing = values != values
    if missing.any():  # NaN counts as largest, the last one is taken
        last = values.shape[-1] - 1 - np.argmax(missing[..., ::-1], -1)[..., None]
        chosen = np.where(missing.any(-1, keepdims=True), last, chosen)
    index = np.take_along_axis(np.broadcast_to(flat, values.shape), chosen, -1)[..., 0]
    return np.take_along_axis(values, chosen, -1)[..., 0], index


def _adaptive_taps(size: int, count: int) -> np.ndarray:
    first, end = adaptive_bounds(size, count)
    width = int((end - first).max()) if count else 1
    return np.minimum(first[:, None] + np.arange(width), end[:, None] - 1)[None]


def _adaptive_windows_kernel(x: np.ndarray, counts: Any) -> tuple[np.ndarray, np.ndarray]:
    lead = x.shape[: x.ndim - len(counts)]
    sizes = x.shape[len(lead) :]
    taps = [_adaptive_taps(size, count) for size, count in zip(sizes, counts, strict=True)]
    best, index = _gathered_max(x.reshape(math.prod(lead), *sizes), taps)
    return best.reshape(*lead, *counts), index.reshape(*lead, *counts)


adaptive_windows = constant(
    "adaptive_windows",
    typed("adaptive_max_pool", _adaptive_windows_kernel, "if", widen=False),
    params=("counts",),
    outputs=2,
    batch=_batch_front,
)


def _fractional_starts(u: np.ndarray, size: int, count: int, kernel: int) -> np.ndarray:
    """(rows, count): where windows start, spread by a random u from each row (arXiv:1412.6071)."""
    last = np.full((u.size, 1), size - kernel)
    if count == 1:
        return last
    alpha = (size - kernel) / (count - 1)
    u = u.reshape(-1, 1).astype(np.float64)
    first = np.trunc((np.arange(count - 1) + u) * alpha) - np.trunc(u * alpha)
    return np.concatenate([first.astype(np.int64), last], 1)


def _fractional_windows_kernel(
    x: np.ndarray, u: np.ndarray, kernel: Any, counts: Any
) -> tuple[np.ndarray, np.ndarray]:
    spatial = len(kernel)
    lead, sizes = x.shape[:-spatial], x.shape[-spatial:]
    taps = []
    for axis, (size, count, k) in enumerate(zip(sizes, counts, kernel, strict=True)):
        # As in PyTorch: of two samples the first is the last dim's, of three the first dim's.
        own = u.reshape(-1, spatial)[:, axis if spatial == 3 else 1 - axis]
        taps.append(_fractional_starts(own, size, count, k)[:, :, None] + np.arange(k))
    best, index = _gathered_max(x.reshape(math.prod(lead), *sizes), taps)
    return best.reshape(*lead, *counts), index.reshape(*lead, *counts)


def _batch_both(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    size = values[0].shape[bdims[0]] if bdims[0] is not None else values[1].shape[bdims[1]]
    moved = [materialize(x, b, size) for x, b in zip(values, bdims, strict=True)]
    return p.apply(moved, *params), 0


fractional_windows = constant(
    "fractional_windows",
    _fractional_windows_kernel,
    inputs=("x", "u"),
    params=("kernel", "counts"),
    outputs=2,
    batch=_batch_both,
)


def _attached(x: Tensor, found: tuple[Tensor, Tensor], spatial: int) -> tuple[Tensor, Tensor]:
    """(the largest elements as a function of x, their flat indices)."""
    if core.is_constant(x):
        return found
    best, index = found
    lead = tuple(x.shape[: x.ndim - spatial])
    flat = [
        t.reshape((*lead, math.prod(t.shape[len(lead) :]))) if spatial > 1 else t
        for t in (x, index, best)
    ]
    values = picked(*flat)
    return (values.reshape(best.shape) if spatial > 1 else values), index


# --- windows of one size --------------------------------------------------------------------------


def _max_pool(
    name: str, spatial: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any,
    dilation: Any, ceil_mode: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    kernel, step, _, dil, (_, pads) = plan_of(
        plan_pool, name, spatial, input.shape, kernel_size, stride, padding, dilation, ceil_mode
    )
    return _attached(input, max_windows(input, kernel, step, pads, dil), spatial)


def _window_pools(spatial: int, sizes: str) -> tuple[Any, Any]:
    """max_pool{n}d and max_pool{n}d_with_indices, which differ in number of dims only."""
    name = f"max_pool{spatial}d"

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return _max_pool(name, spatial, input, kernel_size, stride, padding, dilation, ceil_mode)

    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        both = _max_pool(name, spatial, input, kernel_size, stride, padding, dilation, ceil_mode)
        return both if return_indices else both[0]

    max_pool.__doc__ = f"""The largest element of windows of (N, C, {sizes}) or (C, {sizes}).

    stride: between windows, by default kernel_size. padding: elements below all others. ceil_mode:
    also last, partial windows. return_indices: also the flat index of each element in its channel.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> x = tp.arange({4**spatial}.).reshape(1, {", ".join(["4"] * spatial)})
    >>> tp.nn.functional.{name}(x, 2).shape
    tensorplay.Size([1, {", ".join(["2"] * spatial)}])
    """
    with_indices.__doc__ = f"{name}() with return_indices=True."
    max_pool.__name__ = max_pool.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    return max_pool, with_indices


max_pool1d, max_pool1d_with_indices = _window_pools(1, "L")
max_pool2d, max_pool2d_with_indices = _window_pools(2, "H, W")
max_pool3d, max_pool3d_with_indices = _window_pools(3, "D, H, W")


# --- as many windows as the output has elements ---------------------------------------------------


def _adaptive_max(
    name: str, spatial: int, input: Tensor, output_size: Any
) -> tuple[Tensor, Tensor]:
    wanted = adaptive_sizes(name, input, output_size, spatial)
    check_pool_input(name, input, spatial)
    sizes = tuple(input.shape[-spatial:])
    if all(wanted) and not any(s % w for s, w in zip(sizes, wanted, strict=True)):
        kernel = tuple(s // w for s, w in zip(sizes, wanted, strict=True))
        ones = (1,) * spatial
        found = max_windows(input, kernel, kernel, ((0, 0),) * spatial, ones)
    else:
        found = adaptive_windows(input, wanted)
    return _attached(input, found, spatial)


def _adaptive_pools(spatial: int, sizes: str) -> tuple[Any, Any]:
    """adaptive_max_pool{n}d and adaptive_max_pool{n}d_with_indices."""
    name = f"adaptive_max_pool{spatial}d"

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        return _adaptive_max(name, spatial, input, output_size)

    def adaptive(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        both = _adaptive_max(name, spatial, input, output_size)
        return both if return_indices else both[0]

    adaptive.__doc__ = f"""The largest element of as many windows as `output_size` says, of
    (N, C, {sizes}) or (C, {sizes}).

    return_indices: also the flat index of each element in its channel.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> x = tp.arange({5**spatial}.).reshape(1, {", ".join(["5"] * spatial)})
    >>> tp.nn.functional.{name}(x, 2).shape
    tensorplay.Size([1, {", ".join(["2"] * spatial)}])
    """
    with_indices.__doc__ = f"{name}() with return_indices=True."
    adaptive.__name__ = adaptive.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    return adaptive, with_indices


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_pools(1, "L")
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_pools(2, "H, W")
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_pools(3, "D, H, W")


# --- windows at random places ---------------------------------------------------------------------


def _fractional(
    name: str, spatial: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any,
    samples: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    check_pool_input(name, input, spatial)
    kernel = per_dim(name, "kernel_size", kernel_size, spatial)
    sizes = tuple(input.shape[-spatial:])
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name}(): give one of output_size and output_ratio")
    if output_size is None:
        ratio = (
            (output_ratio,) * spatial if isinstance(output_ratio, float) else tuple(output_ratio)
        )
        if not all(0 < r < 1 for r in ratio):
            raise ValueError(f"{name}(): output_ratio must be between 0 and 1, got {output_ratio}")
        counts = tuple(int(s * r) for s, r in zip(sizes, ratio, strict=True))
    else:
        counts = per_dim(name, "output_size", output_size, spatial)
    for size, count, k in zip(sizes, counts, kernel, strict=True):
        if count < 1 or count + k - 1 > size:
            raise RuntimeError(
                f"{name}(): kernel_size {kernel} and output_size {counts} are too large (or "
                f"empty) for an input of sizes {sizes}"
            )
    lead = tuple(input.shape[:-spatial])
    if samples is None and max(counts) <= 2:  # the first and the last window: nothing is random
        samples = zeros_shaped(input, (*lead, spatial))
    if samples is None:
        shape = (*((1,) if len(lead) == 1 else ()), *lead, spatial)
        samples = noise(name, shape, input.dtype, lambda rng, size: rng.random(size))
    u = samples.reshape((*lead, spatial))
    return _attached(input, fractional_windows(input, u, kernel, counts), spatial)


def _fractional_pools(spatial: int, sizes: str) -> tuple[Any, Any]:
    """fractional_max_pool{n}d and fractional_max_pool{n}d_with_indices."""
    name = f"fractional_max_pool{spatial}d"

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        return _fractional(
            name, spatial, input, kernel_size, output_size, output_ratio, _random_samples
        )

    def fractional(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        both = _fractional(
            name, spatial, input, kernel_size, output_size, output_ratio, _random_samples
        )
        return both if return_indices else both[0]

    fractional.__doc__ = f"""The largest element of windows at random places (arXiv:1412.6071), of
    (N, C, {sizes}) or (C, {sizes}).

    output_size, output_ratio: one of the two. return_indices: also the flat index of each element
    in its channel. _random_samples: (N, C, {spatial}) numbers from [0, 1) in place of random ones.

    Raises:
        RuntimeError: for sizes that do not fit.
        ValueError: unless one of output_size and output_ratio is given.

    >>> import tensorplay as tp
    >>> x = tp.ones(1, {", ".join(["5"] * spatial)})
    >>> tp.nn.functional.{name}(x, 2, output_size=3).shape
    tensorplay.Size([1, {", ".join(["3"] * spatial)}])
    """
    with_indices.__doc__ = f"{name}() with return_indices=True."
    fractional.__name__ = fractional.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    return fractional, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_pools(2, "H, W")
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_pools(3, "D, H, W")


# --- the inverse ----------------------------------------------------------------------------------


def _max_unpool(
    name: str, spatial: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any,
    padding: Any, output_size: Any,
) -> Tensor:  # fmt: skip
    kernel = per_dim(name, "kernel_size", kernel_size, spatial)
    step = kernel if stride is None else per_dim(name, "stride", stride, spatial)
    pad = per_dim(name, "padding", padding, spatial)
    if input.shape != indices.shape:
        raise RuntimeError(
            f"{name}(): expected indices of the input's shape {list(input.shape)}, got shape "
            f"{list(indices.shape)}"
        )
    default = tuple(
        (n - 1) * s + k - 2 * p
        for n, s, k, p in zip(input.shape[-spatial:], step, kernel, pad, strict=True)
    )
    sizes = default if output_size is None else tuple(output_size)[-spatial:]
    for size, usual, s in zip(sizes, default, step, strict=True):
        if output_size is not None and not usual - s < size < usual + s:
            raise ValueError(
                f"{name}(): invalid output_size {tuple(output_size)}: each size must be within a "
                f"stride of {default}"
            )
    total = math.prod(sizes)
    if not indices.is_box and indices.numel():
        low, high = int(indices.min()), int(indices.max())
        if low < 0 or high >= total:
            raise RuntimeError(
                f"{name}(): found an invalid index {low if low < 0 else high} for an output of "
                f"sizes {sizes}"
            )
    lead = tuple(input.shape[:-spatial])
    flat_shape = (*lead, math.prod(input.shape[len(lead) :]))
    flat = put(input.reshape(flat_shape), indices.reshape(flat_shape), total)
    return flat.reshape((*lead, *sizes))


def _unpool(spatial: int, sizes: str) -> Any:
    name = f"max_unpool{spatial}d"

    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        return _max_unpool(name, spatial, input, indices, kernel_size, stride, padding, output_size)

    max_unpool.__doc__ = f"""The elements of a max_pool{spatial}d back where they were, zeros
    elsewhere; (N, C, {sizes}) or (C, {sizes}).

    indices: as max_pool{spatial}d gave them. output_size: where several sizes pool to the input's.

    Raises:
        RuntimeError: for an index outside of the output.
        ValueError: for an output_size that cannot have been pooled.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> x = tp.ones(1, {", ".join(["4"] * spatial)})
    >>> F.{name}(*F.max_pool{spatial}d(x, 2, return_indices=True), 2).shape
    tensorplay.Size([1, {", ".join(["4"] * spatial)}])
    """
    max_unpool.__name__ = max_unpool.__qualname__ = name
    return max_unpool


max_unpool1d = _unpool(1, "L")
max_unpool2d = _unpool(2, "H, W")
max_unpool3d = _unpool(3, "D, H, W")

for _function in (
    max_pool1d, max_pool2d, max_pool3d, max_pool1d_with_indices, max_pool2d_with_indices,
    max_pool3d_with_indices, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d,
    adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices, fractional_max_pool2d, fractional_max_pool3d,
    fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices, max_unpool1d,
    max_unpool2d, max_unpool3d,
):  # fmt: skip
    publish(_function, _function.__name__, namespace="nn.functional", method=False)
for _function in (max_pool1d, max_pool2d, max_pool3d, max_pool1d_with_indices):
    publish(_function, _function.__name__, method=False)
publish(adaptive_max_pool1d_with_indices, "adaptive_max_pool1d", method=False)
