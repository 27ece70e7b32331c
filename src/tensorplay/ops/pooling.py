"""Average and power-average pooling, over windows of one size or adapted to the output."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tensorplay._core.core import Tensor
from tensorplay.ops.elementwise import where
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import front, linear, public, publish
from tensorplay.ops.matrices import Matrix, matrix_along
from tensorplay.ops.windows import Pairs, out_sizes, padded, per_dim, plan_of, unpadded

# --- sums over windows, one dim after the other ---------------------------------------------------


def _sum_along(x: np.ndarray, axis: int, kernel: int, stride: int, count: int) -> np.ndarray:
    """Sums over `kernel` neighbours along an axis, `count` of them, `stride` apart."""
    lead = (slice(None),) * axis
    if kernel <= count:
        total = x[(*lead, slice(0, stride * (count - 1) + 1, stride))].copy()
        for k in range(1, kernel):
            total += x[(*lead, slice(k, k + stride * (count - 1) + 1, stride))]
        return total
    pieces = [
        x[(*lead, slice(i * stride, i * stride + kernel))].sum(axis, keepdims=True, dtype=x.dtype)
        for i in range(count)
    ]
    return np.concatenate(pieces, axis) if len(pieces) > 1 else pieces[0]


def _spread_along(y: np.ndarray, axis: int, kernel: int, stride: int, size: int) -> np.ndarray:
    """The transpose of `_sum_along`, with `size` elements along the axis."""
    count = y.shape[axis]
    lead = (slice(None),) * axis
    shape = y.shape[:axis] + (size,) + y.shape[axis + 1 :]
    if kernel == stride and kernel * count == size:
        return np.repeat(y, kernel, axis)
    out = np.zeros(shape, y.dtype)
    if kernel <= count:
        for k in range(kernel):
            out[(*lead, slice(k, k + stride * (count - 1) + 1, stride))] += y
    else:
        for i in range(count):
            out[(*lead, slice(i * stride, i * stride + kernel))] += y[(*lead, slice(i, i + 1))]
    return out


def _divisors(divisor: Any, lead: int, dtype: Any) -> np.ndarray:
    """A number, or the product of counts along each dim, as an array that broadcasts."""
    if not isinstance(divisor, tuple):
        return np.asarray(divisor, dtype)
    total = np.ones((1,) * lead, dtype)
    for counts in divisor:
        total = total[..., None] * np.asarray(counts, dtype)
    return total


def _mean_pool_kernel(
    x: np.ndarray, kernel: Any, stride: Any, padding: Pairs, divisor: Any
) -> np.ndarray:
    spatial = len(kernel)
    lead = x.ndim - spatial
    counts = out_sizes(x.shape[lead:], kernel, stride, padding, (1,) * spatial)
    total = padded(x, padding)
    for axis in range(spatial):
        total = _sum_along(total, lead + axis, kernel[axis], stride[axis], counts[axis])
    if total.dtype.kind in "iu":  # integers are divided as in C
        return np.trunc(total / _divisors(divisor, 0, np.float64)).astype(x.dtype)
    total /= _divisors(divisor, 0, total.real.dtype)
    return total


def _mean_pool_transpose_kernel(
    y: np.ndarray, sizes: Any, kernel: Any, stride: Any, padding: Pairs, divisor: Any
) -> np.ndarray:
    spatial = len(kernel)
    lead = y.ndim - spatial
    out = y / _divisors(divisor, 0, y.real.dtype)
    for axis in range(spatial):
        low, high = padding[axis]
        wide = sizes[axis] + low + high
        out = _spread_along(out, lead + axis, kernel[axis], stride[axis], wide)
    return np.ascontiguousarray(unpadded(out, sizes, padding))


def _batch_front(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    return p(front(values[0], bdims[0]), *params), 0


# divisor: a number, or for each dim the tuple of counts whose products divide.
mean_pool = linear(
    "mean_pool",
    typed("avg_pool", _mean_pool_kernel, "ifc"),
    lambda g, x_shape, kernel, stride, padding, divisor: mean_pool_transpose(
        g, tuple(x_shape[-len(kernel) :]), kernel, stride, padding, divisor
    ),
    params=("kernel", "stride", "padding", "divisor"),
    batch=_batch_front,
    node_name="AvgPoolBackward0",
)
mean_pool_transpose = linear(
    "mean_pool_transpose",
    typed("avg_pool", _mean_pool_transpose_kernel, "fc"),
    lambda g, kernel, stride, padding, divisor: mean_pool(g, kernel, stride, padding, divisor),
    params=("sizes", "kernel", "stride", "padding", "divisor"),
    batch=_batch_front,
    node_name="AvgPoolBackwardBackward0",
)

# --- sizes, for all poolings ----------------------------------------------------------------------


def pooled_sizes(
    name: str, sizes: Any, kernel: Any, stride: Any, pad: Any, dilation: Any, ceil_mode: bool
) -> tuple[tuple[int, ...], Pairs]:
    """(number of windows, padding that makes them fit) along each dim.

    Raises:
        RuntimeError: for sizes for which pooling is not defined.
    """
    for label, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if any(v <= 0 for v in value):
            raise RuntimeError(f"{name}(): {label} should be greater than zero, got {value}")
    counts, pads = [], []
    for size, k, s, p, d in zip(sizes, kernel, stride, pad, dilation, strict=True):
        reach = d * (k - 1) + 1
        if p < 0:
            raise RuntimeError(f"{name}(): pad must be non-negative, got padding={pad}")
        if p > reach // 2:
            raise RuntimeError(
                f"{name}(): pad should be at most half of effective kernel size, got "
                f"padding={pad}, kernel_size={kernel} and dilation={dilation}"
            )
        span = size + 2 * p - reach
        count = (span + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1  # the last window must start inside the input or its left padding
        if count < 1:
            raise RuntimeError(
                f"{name}(): with kernel_size={kernel}, stride={stride} and padding={pad} the "
                f"output of an input of sizes {tuple(sizes)} would be too small"
            )
        counts.append(count)
        pads.append((p, (count - 1) * s + reach - size - p))
    return tuple(counts), tuple(pads)


@functools.lru_cache(maxsize=1024, typed=True)
def plan_pool(
    name: str, spatial: int, shape: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any,
    dilation: Any, ceil_mode: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """(kernel, stride, padding, dilation, (number of windows, padding that makes them fit)).

    Raises:
        RuntimeError: for sizes for which pooling is not defined.
    """
    if len(shape) not in (spatial + 1, spatial + 2) or not all(shape[-spatial - 1 :]):
        raise RuntimeError(
            f"{name}(): expected an input of {spatial + 1} (unbatched) or {spatial + 2} dims with "
            f"non-zero sizes, got shape {list(shape)}"
        )
    kernel = per_dim(name, "kernel_size", kernel_size, spatial)
    step = kernel if stride is None or stride == () else per_dim(name, "stride", stride, spatial)
    pad = per_dim(name, "padding", padding, spatial)
    dil = per_dim(name, "dilation", dilation, spatial)
    fitting = pooled_sizes(name, shape[-spatial:], kernel, step, pad, dil, ceil_mode)
    return kernel, step, pad, dil, fitting


def check_pool_input(name: str, input: Tensor, spatial: int) -> None:
    """Refuse inputs that are not (C, *sizes) or (N, C, *sizes), or have no elements per sample."""
    shape = tuple(input.shape)
    if input.ndim not in (spatial + 1, spatial + 2) or not all(shape[-spatial - 1 :]):
        raise RuntimeError(
            f"{name}(): expected an input of {spatial + 1} (unbatched) or {spatial + 2} dims with "
            f"non-zero sizes, got shape {list(shape)}"
        )


def _avg_pool(
    name: str, spatial: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any,
    ceil_mode: bool, count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    kernel, step, pads, divisor = plan_of(
        _plan_avg, name, spatial, input.shape, kernel_size, stride, padding, ceil_mode,
        count_include_pad,
    )  # fmt: skip
    if divisor_override is not None:
        if divisor_override == 0:
            raise RuntimeError(f"{name}(): divisor must be not zero")
        divisor = float(divisor_override)
    return mean_pool(input, kernel, step, pads, divisor)


@functools.lru_cache(maxsize=1024, typed=True)
def _plan_avg(
    name: str, spatial: int, shape: tuple[int, ...], kernel_size: Any, stride: Any, padding: Any,
    ceil_mode: bool, count_include_pad: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """(kernel, stride, padding, divisor: a number, or per dim one for each window)."""
    kernel, step, pad, _, (counts, pads) = plan_pool(
        name, spatial, shape, kernel_size, stride, padding, 1, ceil_mode
    )
    if all(a == b == 0 for a, b in pads) or (count_include_pad and not ceil_mode):
        return kernel, step, pads, float(math.prod(kernel))
    divisor = tuple(
        _window_counts(size, k, s, p, count, count_include_pad)
        for size, k, s, p, count in zip(shape[-spatial:], kernel, step, pad, counts, strict=True)
    )
    return kernel, step, pads, divisor


def _window_counts(
    size: int, kernel: int, stride: int, pad: int, count: int, include_pad: bool
) -> tuple[int, ...]:
    """How many elements each window along a dim has, with or without those of the padding."""
    first, last = (-pad, size + pad) if include_pad else (0, size)
    starts = [i * stride - pad for i in range(count)]
    return tuple(min(s + kernel, last) - max(s, first) for s in starts)


@public(method=False)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Means over windows of (N, C, L) or (C, L).

    stride: between windows, by default kernel_size. ceil_mode: also a last, partial window.
    count_include_pad: zeros of the padding count as elements.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.avg_pool1d(tp.tensor([[1., 2., 3., 4.]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode,
                     count_include_pad, None)  # fmt: skip


@public(namespace="nn.functional", method=False)
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means over windows of (N, C, H, W) or (C, H, W).

    stride: between windows, by default kernel_size. ceil_mode: also last, partial windows.
    count_include_pad: zeros of the padding count as elements. divisor_override: divide by this.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.avg_pool2d(tp.ones(1, 4, 4), 2).shape
    tensorplay.Size([1, 2, 2])
    """
    return _avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode,
                     count_include_pad, divisor_override)  # fmt: skip


@public(namespace="nn.functional", method=False)
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means over windows of (N, C, D, H, W) or (C, D, H, W).

    stride: between windows, by default kernel_size. ceil_mode: also last, partial windows.
    count_include_pad: zeros of the padding count as elements. divisor_override: divide by this.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.avg_pool3d(tp.ones(1, 4, 4, 4), 2).shape
    tensorplay.Size([1, 2, 2, 2])
    """
    return _avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode,
                     count_include_pad, divisor_override)  # fmt: skip


# --- adaptive -------------------------------------------------------------------------------------


def adaptive_bounds(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(first, end) of `count` windows that cover `size` elements as evenly as possible."""
    i = np.arange(count)
    return i * size // count, -(-(i + 1) * size // count)


@functools.lru_cache(maxsize=128)
def _adaptive_matrix(size: int, count: int) -> Matrix:
    first, end = adaptive_bounds(size, count)
    lengths = end - first
    width = int(lengths.max()) if count else 0
    offset = np.arange(width)
    taps = np.minimum(first[:, None] + offset, size - 1)
    weights = np.where(offset < lengths[:, None], 1 / lengths[:, None], 0.0)
    return Matrix.from_taps(taps, weights, size)


def adaptive_sizes(name: str, input: Tensor, output_size: Any, spatial: int) -> tuple[int, ...]:
    """The output's sizes; None keeps the input's."""
    if input.ndim <= spatial and spatial > 1:  # a ValueError, as in PyTorch
        raise ValueError(
            f"{name}(): expected an input of {spatial + 1} (unbatched) or {spatial + 2} dims, got "
            f"shape {list(input.shape)}"
        )
    sizes = tuple(input.shape[-spatial:])
    if output_size is None or isinstance(output_size, int):
        output_size = (output_size,) * spatial
    if len(output_size) == 1:
        output_size = tuple(output_size) * spatial
    if len(output_size) != spatial:
        raise RuntimeError(
            f"{name}(): output_size must be {spatial} sizes, got {tuple(output_size)}"
        )
    wanted = tuple(s if o is None else o for s, o in zip(sizes, output_size, strict=True))
    if any(w < 0 for w in wanted):
        raise RuntimeError(f"{name}(): output_size must be greater than or equal to 0: {wanted}")
    return wanted


def _adaptive_avg(name: str, spatial: int, input: Tensor, output_size: Any) -> Tensor:
    wanted = adaptive_sizes(name, input, output_size, spatial)
    check_pool_input(name, input, spatial)
    sizes = tuple(input.shape[-spatial:])
    if all(wanted) and not any(s % w for s, w in zip(sizes, wanted, strict=True)):
        kernel = tuple(s // w for s, w in zip(sizes, wanted, strict=True))
        return mean_pool(input, kernel, kernel, ((0, 0),) * spatial, float(math.prod(kernel)))
    for axis, (size, count) in enumerate(zip(sizes, wanted, strict=True)):
        dim = input.ndim - spatial + axis
        input = matrix_along(input, _adaptive_matrix(size, count), dim)
    return input


@public(method=False)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says, of (N, C, L) or (C, L).

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.adaptive_avg_pool1d(tp.tensor([[1., 2., 3.]]), 2)
    tensor([[1.5000, 2.5000]])
    """
    return _adaptive_avg("adaptive_avg_pool1d", 1, input, output_size)


@public(namespace="nn.functional", method=False)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says (None: as many as elements), of
    (N, C, H, W) or (C, H, W).

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.adaptive_avg_pool2d(tp.ones(1, 5, 7), 1)
    tensor([[[1.]]])
    """
    return _adaptive_avg("adaptive_avg_pool2d", 2, input, output_size)


@public(namespace="nn.functional", method=False)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says (None: as many as elements), of
    (N, C, D, H, W) or (C, D, H, W).

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.adaptive_avg_pool3d(tp.ones(1, 5, 7, 3), 1)
    tensor([[[[1.]]]])
    """
    return _adaptive_avg("adaptive_avg_pool3d", 3, input, output_size)


# --- power averages -------------------------------------------------------------------------------


def _lp_pool(
    name: str, spatial: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any,
    ceil_mode: bool,
) -> Tensor:  # fmt: skip
    kernel = per_dim(name, "kernel_size", kernel_size, spatial)
    powers = input.pow(norm_type)
    mean = _avg_pool(name, spatial, powers, kernel, stride, 0, ceil_mode, True, None)
    # Sums that are negative (odd powers) count as 0; where the sum is 0 so is the derivative.
    total = mean.relu() * math.prod(kernel)
    empty = total == 0
    return where(empty, 0.0, where(empty, 1.0, total).pow(1.0 / norm_type))


@public(namespace="nn.functional", method=False)
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x^p)^(1/p) over windows of (N, C, L) or (C, L), with p = norm_type.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.lp_pool1d(tp.tensor([[3., 4.]]), 2, 2)
    tensor([[5.]])
    """
    return _lp_pool("lp_pool1d", 1, input, norm_type, kernel_size, stride, ceil_mode)


@public(namespace="nn.functional", method=False)
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x^p)^(1/p) over windows of (N, C, H, W) or (C, H, W), with p = norm_type.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.lp_pool2d(tp.tensor([[[3., 4.]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    return _lp_pool("lp_pool2d", 2, input, norm_type, kernel_size, stride, ceil_mode)


@public(namespace="nn.functional", method=False)
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x^p)^(1/p) over windows of (N, C, D, H, W) or (C, D, H, W), with p = norm_type.

    Raises:
        RuntimeError: for sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.lp_pool3d(tp.tensor([[[[3., 4.]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return _lp_pool("lp_pool3d", 3, input, norm_type, kernel_size, stride, ceil_mode)


for _name, _function in (
    ("avg_pool1d", avg_pool1d), ("adaptive_avg_pool1d", adaptive_avg_pool1d),
):  # fmt: skip
    publish(_function, _name, namespace="nn.functional", method=False)
