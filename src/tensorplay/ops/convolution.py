"""Convolution: one trilinear form of input, weight and output, and its three partial sums.

convolution(x, w) gives the output y, convolution_input(y, w) what is multiplied with the input,
convolution_weight(x, y) what is multiplied with the weight. Each is the transpose of the others, so
reverse, forward and higher derivatives of all of them, and transposed convolution, are these
three. x is (N, C, *sizes), w is (O, C / groups, *kernel), y is (N, O, *outputs); padding is a pair
per dim.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import batch_size, front, multilinear, primitive
from tensorplay.ops.windows import Pairs, add_windows, out_sizes, padded, unpadded, windows

# Bytes of the matrix of all windows that is made at once. More samples go piece by piece through
# one buffer, which stays in the processor's cache.
_PIECE = 1 << 20


class _Layout:
    """The sizes of one convolution, and its matrix of windows (im2col)."""

    def __init__(
        self, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> None:
        self.samples, self.channels, *self.sizes = x
        self.kernel, self.stride, self.padding = kernel, stride, padding
        self.dilation, self.groups = dilation, groups
        self.outputs = out_sizes(self.sizes, kernel, stride, padding, dilation)
        self.per_group = self.channels // groups
        self.rows = self.per_group * math.prod(kernel)
        self.places = math.prod(self.outputs)
        # Each window is one element: the matrix is the array itself.
        self.trivial = (
            math.prod(kernel) == 1 and set(stride) <= {1} and not any(a or b for a, b in padding)
        )
        self.loops = core.Windows(self.sizes, kernel, stride, padding, dilation, self.outputs)
        self.buffer: np.ndarray | None = None

    def matrix(self, x: np.ndarray) -> np.ndarray:
        """(n, groups, rows, places) of samples x, valid until the next call."""
        shape = (x.shape[0], self.groups, self.rows, self.places)
        if self.trivial:
            return x.reshape(shape)
        filled = self.scratch(x.shape[0], x.dtype)
        if self.loops.takes(x, filled):
            self.loops.matrix(x, filled, x.shape[0] * self.channels)
            return filled
        source = padded(x, self.padding)
        view = windows(source, self.kernel, self.stride, self.dilation, self.outputs)
        np.copyto(filled.reshape(view.shape), view)
        return filled

    def add_up(self, columns: np.ndarray, out: np.ndarray) -> None:
        """The transpose of `matrix`: add up the windows to samples, written to `out`."""
        if self.loops.takes(columns, out):
            self.loops.add(columns, out, out.shape[0] * self.channels)
            return
        wide = [n + low + high for n, (low, high) in zip(self.sizes, self.padding, strict=True)]
        total = np.zeros((*out.shape[:2], *wide), out.dtype)
        split_columns = (*out.shape[:2], *self.kernel, *self.outputs)
        add_windows(total, columns.reshape(split_columns), self.stride, self.dilation)
        out[...] = unpadded(total, self.sizes, self.padding)

    def scratch(self, samples: int, dtype: Any) -> np.ndarray:
        """Memory for the matrix of some samples."""
        if self.buffer is None:
            self.buffer = core.empty((samples, self.groups, self.rows, self.places), dtype)
        return self.buffer[:samples]

    def pieces(self, itemsize: int) -> list[slice]:
        """Slices of samples whose matrices are not too large."""
        size = self.groups * self.rows * self.places * itemsize
        step = max(1, _PIECE // max(size, 1))
        return [slice(i, i + step) for i in range(0, self.samples, step)]

    def channelwise(self, *arrays: np.ndarray) -> bool:
        """Whether each group is one channel, which takes no matrix products."""
        return self.per_group == 1 and not self.trivial and self.loops.takes(*arrays)


def _conv_kernel(
    x: np.ndarray, w: np.ndarray, stride: Any, padding: Pairs, dilation: Any, groups: int
) -> np.ndarray:
    plan = _Layout(x.shape, w.shape[2:], stride, padding, dilation, groups)
    filters = w.shape[0] // groups
    x, w = core.ordered(x), core.ordered(w)
    out = core.empty((plan.samples, groups, filters, plan.places), x.dtype)
    if plan.channelwise(x, w, out):
        plan.loops.single(x, w, out, filters, 0)
    else:
        flat = w.reshape(groups, filters, plan.rows)
        for piece in plan.pieces(x.itemsize):
            np.matmul(flat, plan.matrix(x[piece]), out=out[piece])
    return out.reshape(plan.samples, w.shape[0], *plan.outputs)


def _conv_input_kernel(
    y: np.ndarray, w: np.ndarray, sizes: Any, stride: Any, padding: Pairs, dilation: Any,
    groups: int,
) -> np.ndarray:  # fmt: skip
    shape = (y.shape[0], w.shape[1] * groups, *sizes)
    plan = _Layout(shape, w.shape[2:], stride, padding, dilation, groups)
    filters = w.shape[0] // groups
    y, w = core.ordered(y), core.ordered(w)
    flat = w.reshape(groups, filters, plan.rows).transpose(0, 2, 1)
    source = y.reshape(plan.samples, groups, filters, plan.places)
    if plan.trivial:
        return np.matmul(flat, source).reshape(shape)
    out = core.empty(shape, y.dtype)
    if plan.channelwise(y, w, out):
        plan.loops.single(out, w, y, filters, 1)
    elif plan.places:
        for piece in plan.pieces(y.itemsize):
            columns = plan.scratch(source[piece].shape[0], y.dtype)
            np.matmul(flat, source[piece], out=columns)
            plan.add_up(columns, out[piece])
    else:
        out[...] = 0
    return out


def _conv_weight_kernel(
    x: np.ndarray, y: np.ndarray, kernel: Any, stride: Any, padding: Pairs, dilation: Any,
    groups: int,
) -> np.ndarray:  # fmt: skip
    plan = _Layout(x.shape, kernel, stride, padding, dilation, groups)
    filters = y.shape[1] // groups
    x, y = core.ordered(x), core.ordered(y)
    other = y.reshape(plan.samples, groups, filters, plan.places)
    total = np.zeros((groups, filters, plan.rows), x.dtype)
    if plan.channelwise(x, y, total):
        plan.loops.single(x, total, y, filters, 2)
    else:
        for piece in plan.pieces(x.itemsize):
            columns = plan.matrix(x[piece])
            total += np.matmul(other[piece], columns.transpose(0, 1, 3, 2)).sum(0)
    return total.reshape(groups * filters, plan.per_group, *kernel)


# --- batching: the batch joins the samples, the channels, or the groups ---------------------------


def merge(x: Any, at: int) -> Any:
    """x with its first dim (the batch) moved just before dim `at` + 1, and the two made one."""
    x = x.movedim(0, at)
    shape = tuple(x.shape)
    return x.reshape(shape[:at] + (shape[at] * shape[at + 1],) + shape[at + 2 :])


def split(x: Any, at: int, size: int) -> Any:
    """x with dim `at` split into (size, rest)."""
    shape = tuple(x.shape)
    rest = shape[at] // size if size else 0
    return x.reshape(shape[:at] + (size, rest) + shape[at + 1 :])


def _into_groups(x: Any, at: int, groups: int) -> Any:
    """A batch (in front) and dim `at` + 1 of `groups` groups as one dim: group, batch, rest."""
    if groups == 1:
        return merge(x, at)
    x = split(x, at + 1, groups).movedim(0, at + 1)
    shape = tuple(x.shape)
    return x.reshape(shape[:at] + (shape[at] * shape[at + 1] * shape[at + 2],) + shape[at + 3 :])


def _out_of_groups(x: Any, at: int, groups: int, size: int) -> tuple[Any, int]:
    """The reverse: (x with the batch as a dim of its own, that dim)."""
    x = split(x, at, groups)
    x = split(x, at + 1, size).movedim(at + 1, at)
    shape = tuple(x.shape)
    return x.reshape(shape[: at + 1] + (shape[at + 1] * shape[at + 2],) + shape[at + 3 :]), at


def _also_of_none(rule: Any) -> Any:
    """The batching rule, also of a batch of no samples: of one of zeros, which is taken away.

    Merged into the groups, no samples would be no groups.
    """

    def batch(p: Any, values: Any, bdims: Any, params: Any) -> Any:
        if batch_size(values, bdims):
            return rule(p, values, bdims, params)
        one = [
            v if b is None else v.sum(b, keepdim=True) for v, b in zip(values, bdims, strict=True)
        ]
        result, bdim = rule(p, one, bdims, params)
        return result.narrow(bdim, 0, 0), bdim

    return batch


@_also_of_none
def _batch_conv(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x, w = (v if b is None else front(v, b) for v, b in zip(values, bdims, strict=True))
    *rest, groups = params
    if bdims[1] is None:
        return split(p(merge(x, 0), w, *params), 0, x.shape[0]), 0
    size = w.shape[0]
    if bdims[0] is None:
        return _out_of_groups(p(x, _into_groups(w, 0, groups), *params), 1, groups, size)
    y = p(merge(x, 1), merge(w, 0), *rest, groups * size)
    return split(y, 1, size), 1


@_also_of_none
def _batch_conv_input(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    y, w = (v if b is None else front(v, b) for v, b in zip(values, bdims, strict=True))
    *rest, groups = params
    if bdims[1] is None:
        return split(p(merge(y, 0), w, *params), 0, y.shape[0]), 0
    size = w.shape[0]
    if bdims[0] is None:
        return _out_of_groups(p(y, merge(w, 1), *params), 1, groups, size)
    x = p(merge(y, 1), merge(w, 0), *rest, groups * size)
    return split(x, 1, size), 1


@_also_of_none
def _batch_conv_weight(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x, y = (v if b is None else front(v, b) for v, b in zip(values, bdims, strict=True))
    *rest, groups = params
    if bdims[1] is None:
        return split(p(_into_groups(x, 1, groups), y, *params), 1, x.shape[0]), 1
    size = y.shape[0]
    if bdims[0] is None:
        return _out_of_groups(p(x, _into_groups(y, 1, groups), *params), 0, groups, size)
    return split(p(merge(x, 1), merge(y, 1), *rest, groups * size), 0, size), 0


# --- primitives -----------------------------------------------------------------------------------


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.is_complex else x


_PARAMS = ("stride", "padding", "dilation", "groups")

conv_op = multilinear(
    "convolution",
    typed("convolution", _conv_kernel, "bifc"),
    lambda g, x_shape, y, stride, padding, dilation, groups: conv_input(
        g, _conj(y), x_shape[2:], stride, padding, dilation, groups
    ),
    lambda g, x, y_shape, stride, padding, dilation, groups: conv_weight(
        _conj(x), g, y_shape[2:], stride, padding, dilation, groups
    ),
    params=_PARAMS,
    batch=_batch_conv,
)
conv_input = multilinear(
    "convolution_input",
    typed("convolution", _conv_input_kernel, "ifc"),
    lambda g, y, stride, padding, dilation, groups: conv_op(
        g, _conj(y), stride, padding, dilation, groups
    ),
    lambda g, x, y_shape, stride, padding, dilation, groups: conv_weight(
        g, _conj(x), y_shape[2:], stride, padding, dilation, groups
    ),
    params=("sizes", *_PARAMS),
    batch=_batch_conv_input,
    node_name="ConvolutionBackward0",
)
conv_weight = multilinear(
    "convolution_weight",
    typed("convolution", _conv_weight_kernel, "ifc"),
    lambda g, x_shape, y, stride, padding, dilation, groups: conv_input(
        _conj(y), g, x_shape[2:], stride, padding, dilation, groups
    ),
    lambda g, x, stride, padding, dilation, groups: conv_op(
        _conj(x), g, stride, padding, dilation, groups
    ),
    params=("kernel", *_PARAMS),
    batch=_batch_conv_weight,
    node_name="ConvolutionBackward0",
)


def add_bias(y: Any, bias: Any) -> Any:
    """y plus a bias per channel (dim 1)."""
    return y + bias.reshape((-1,) + (1,) * (y.ndim - 2))


def _biased_kernel(x: np.ndarray, w: np.ndarray, b: np.ndarray, *params: Any) -> np.ndarray:
    out = _conv_kernel(x, w, *params)
    out += b.reshape((-1,) + (1,) * (out.ndim - 2))
    return out


def _over_channels(g: Any) -> Any:
    return g.sum((0, *range(2, g.ndim)))


@_also_of_none
def _batch_biased(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    y, bdim = _batch_conv(conv_op, values[:2], bdims[:2], params) if any(
        b is not None for b in bdims[:2]
    ) else (conv_op(*values[:2], *params), None)  # fmt: skip
    bias = values[2] if bdims[2] is None else front(values[2], bdims[2])
    y = y.unsqueeze(0) if bdim is None else front(y, bdim)
    return y + bias.reshape((*bias.shape[: bias.ndim - 1], 1, -1) + (1,) * (y.ndim - 3)), 0


# With the bias added while the output is at hand.
conv_biased = primitive(
    "convolution_biased",
    typed("convolution", _biased_kernel, "bifc"),
    inputs=("x", "y", "z"),
    params=_PARAMS,
    vjp=(
        lambda g, x_shape, y, stride, padding, dilation, groups: conv_input(
            g, _conj(y), x_shape[2:], stride, padding, dilation, groups
        ),
        lambda g, x, y_shape, stride, padding, dilation, groups: conv_weight(
            _conj(x), g, y_shape[2:], stride, padding, dilation, groups
        ),
        lambda g: _over_channels(g),
    ),
    jvp=(
        lambda t, y, stride, padding, dilation, groups: conv_op(
            t, y, stride, padding, dilation, groups
        ),
        lambda t, x, stride, padding, dilation, groups: conv_op(
            x, t, stride, padding, dilation, groups
        ),
        lambda t, out: t.reshape((-1,) + (1,) * (out.ndim - 2)).expand(out.shape),
    ),
    batch=_batch_biased,
    node_name="ConvolutionBackward0",
)


def convolve(x: Tensor, w: Tensor, bias: Tensor | None, *params: Any) -> Tensor:
    """Convolution with an optional bias."""
    return conv_op(x, w, *params) if bias is None else conv_biased(x, w, bias, *params)
