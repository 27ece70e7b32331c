"""Rows of convolution, normalisation and pooling."""

import numpy as np

from tests.optable.schema import Op, register, sample

F = "nn.functional."


# --- convolution ----------------------------------------------------------------------------------


def _conv1d(make):
    return [
        sample(make(2, 3, 7), make(4, 3, 3)),
        sample(make(2, 3, 7), make(4, 3, 3), make(4), stride=2, padding=1),
        sample(make(3, 7), make(4, 3, 2), dilation=2, note="no batch"),
        sample(make(2, 4, 6), make(6, 2, 3), make(6), padding="same", groups=2),
        sample(make(2, 4, 6), make(4, 1, 3), groups=4, note="channelwise"),
        sample(make(2, 3, 5), make(4, 3, 1), make(4), note="one element"),
        sample(make(0, 3, 5), make(4, 3, 2), make(4)),
        sample(make(1, 2, 3), make(2, 2, 3), padding="valid"),
    ]


def _conv2d(make):
    return [
        sample(make(2, 3, 5, 4), make(2, 3, 3, 2), make(2)),
        sample(make(2, 2, 5, 5), make(3, 2, 2, 3), stride=(2, 1), padding=(1, 2)),
        sample(make(1, 4, 5, 5), make(4, 2, 2, 2), make(4), groups=2, dilation=(1, 2)),
        sample(make(2, 3, 4, 4), make(6, 1, 3, 3), make(6), padding=1, groups=3),
        sample(make(3, 4, 5), make(2, 3, 2, 2), padding="same"),
    ]


def _conv3d(make):
    return [
        sample(make(1, 2, 3, 4, 3), make(2, 2, 2, 2, 2), make(2)),
        sample(make(1, 2, 3, 3, 3), make(2, 1, 2, 2, 2), stride=2, padding=1, groups=2),
    ]


def _transposed(*sizes):
    """Samples of a transposed convolution of that many dims."""
    d = len(sizes)

    def samples(make):
        return [
            sample(make(2, 3, *sizes), make(3, 4, *(3,) * d), make(4)),
            sample(make(2, 4, *sizes), make(4, 1, *(3,) * d), stride=2, padding=1,
                   output_padding=1, groups=2),
            sample(make(2, *sizes), make(2, 2, *(2,) * d), dilation=2, note="no batch"),
            sample(make(1, 2, *sizes), make(2, 2, *(2,) * d), stride=2, dilation=3,
                   output_padding=2, note="output padding of a stride"),
        ]  # fmt: skip

    return samples


_PARAMS = ((1, 1), ((1, 0), (0, 1)), (1, 2))

_WITH_NAN = np.arange(9.0).reshape(1, 3, 3)
_WITH_NAN[0, [0, 1, 2], [0, 0, 2]] = np.nan

register(
    Op(F + "conv1d", _conv1d, primitives=("convolution", "convolution_biased"), complex=True),
    Op(F + "conv2d", _conv2d, primitives=("convolution", "convolution_input",
                                          "convolution_weight", "convolution_biased")),
    Op(F + "conv3d", _conv3d, primitives=("convolution",)),
    Op(F + "conv_transpose1d", _transposed(4), primitives=("convolution_input",), complex=True),
    Op(F + "conv_transpose2d", _transposed(3, 2), primitives=("convolution_input",)),
    Op(F + "conv_transpose3d", _transposed(2, 2, 2), primitives=("convolution_input",)),
    Op("convolution_input",
       lambda make: [sample(make(2, 4, 4, 2), make(4, 2, 2, 2), (4, 3), *_PARAMS, 2)],
       primitives=("convolution_input",), torch=None),
    Op("convolution_weight",
       lambda make: [sample(make(2, 4, 4, 3), make(2, 4, 4, 2), (2, 2), *_PARAMS, 2)],
       primitives=("convolution_weight",), torch=None),
    Op(F + "unfold",
       lambda make: [sample(make(2, 3, 4, 5), (2, 3)), sample(make(3, 4, 5), 2, 1, 1, 2),
                     sample(make(1, 2, 5, 5), 2, dilation=2)],
       primitives=("im2col", "col2im"), complex=True),
    Op(F + "fold",
       lambda make: [sample(make(2, 12, 6), (3, 4), 2), sample(make(8, 9), (5, 4), 2, 1, 1, 2)],
       primitives=("im2col", "col2im"), complex=True),
)  # fmt: skip

# --- normalisation --------------------------------------------------------------------------------


def _standardized(x, dims, eps):
    mean = x.mean(dims, keepdims=True)
    return (x - mean) / np.sqrt(x.var(dims, keepdims=True) + eps)


def _layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    y = _standardized(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    shape = (1, -1) + (1,) * (x.ndim - 2)
    if training:
        y = _standardized(x, (0, *range(2, x.ndim)), eps)
    else:
        y = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps)
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


register(
    Op(
        F + "layer_norm",
        lambda make: [
            sample(make(3, 4), (4,)),
            sample(make(2, 3, 4), (3, 4), make(3, 4), make(3, 4), eps=0.3),
            sample(make(3, 4), (4,), make(4)),
            sample(make(3, 4), (4,), None, make(4)),
            sample(make(0, 4), (4,), make(4), make(4)),
        ],
        primitives=("standardize", "standardize_input", "standardize_weight",
                    "standardize_backward"),
        reference=_layer_norm,
    ),
    Op(
        F + "rms_norm",
        lambda make: [sample(make(3, 4), (4,)), sample(make(2, 3, 4), (3, 4), make(3, 4), 0.2)],
        complex=True,
    ),
    Op(
        F + "batch_norm",
        lambda make: [
            sample(make(4, 3, 2), None, None, make(3), make(3), True, eps=0.1),
            sample(make(4, 3), None, None, training=True),
            sample(make(2, 3, 2, 2), None, None, make(3), None, True),
            sample(make(4, 3, 2), make.constant(make(3)), make.constant(make.positive(3)),
                   make(3), make(3)),
        ],
        primitives=("standardize",),
        reference=_batch_norm,
    ),
    Op(
        F + "instance_norm",
        lambda make: [
            sample(make(2, 3, 4)), sample(make(2, 3, 2, 2), weight=make(3), bias=make(3)),
        ],
    ),
    Op(
        F + "group_norm",
        lambda make: [sample(make(2, 4, 3), 2, make(4), make(4)), sample(make(2, 6), 3),
                      sample(make(2, 4, 2, 2), 1, make(4))],
    ),
    Op(
        F + "local_response_norm",
        lambda make: [sample(make(2, 4, 3), 2), sample(make(1, 5, 2, 2), 3, 0.5, 0.6, 2.0)],
    ),
    Op("standardize",
       lambda make: [sample(make(2, 3, 4), make(1, 3, 1), make(1, 1, 4), (0, 2), 0.1),
                     sample(make(2, 3, 4), make(2, 1, 1), None, (2,), 0.1)],
       primitives=("standardize",), torch=None),
    Op("standardize_input",
       lambda make: [sample(make(2, 3, 4), make(2, 3, 4), make(1, 3, 1), (0, 2), 0.1),
                     sample(make(3, 4), make(3, 4), make(1, 4), (1,), 0.1),
                     sample(make(3, 4), make(3, 4), None, (1,), 0.1)],
       primitives=("standardize_input",), torch=None),
    Op("standardize_weight",
       lambda make: [sample(make(2, 3, 4), make(2, 3, 4), (0, 2), 0.1, (1, 3, 1)),
                     sample(make(3, 4), make(3, 4), (1,), 0.1, (1, 4))],
       primitives=("standardize_weight",), torch=None),
    Op("standardize_backward",
       lambda make: [sample(make(2, 3, 4), make(2, 3, 4), make(1, 3, 1), (0, 2), 0.1, (1, 3, 1)),
                     sample(make(3, 4), make(3, 4), make(1, 4), (1,), 0.1, (1, 4))],
       primitives=("standardize_backward",), torch=None),
    Op("native_layer_norm", lambda make: [sample(make(3, 4), (4,), make(4), make(4), 0.1)],
       results=lambda r: r[0]),
    Op("native_group_norm",
       lambda make: [sample(make(2, 4, 3), make(4), make(4), 2, 4, 3, 2, 0.1)]),
    Op("native_batch_norm",
       lambda make: [sample(make(4, 3), make(3), make(3), None, None, True, 0.1, 0.1)],
       results=lambda r: r[0]),
)  # fmt: skip

# --- pooling --------------------------------------------------------------------------------------


def _windows(*sizes):
    """Samples of an average pooling of that many dims."""
    d = len(sizes)

    def samples(make):
        return [
            sample(make(2, 3, *sizes), 2),
            sample(make(2, *sizes), 3, 2, 1, note="no batch"),
            sample(make(1, 2, *sizes), (2,) * d, (1,) * d, (1,) * d, count_include_pad=False),
            sample(make(1, 2, *sizes), 2, 2, ceil_mode=True),
            sample(make(1, 2, *sizes), 3, 2, 1, True, False),
        ]

    return samples


def _adaptive(*sizes):
    d = len(sizes)
    half = tuple(s // 2 if s % 2 == 0 else s for s in sizes)

    def samples(make):
        return [
            sample(make.distinct(2, 3, *sizes), 1),
            sample(make.distinct(2, *sizes), tuple(s - 1 for s in sizes), note="no batch"),
            sample(make.distinct(1, 2, *sizes), half),
            sample(make.distinct(0, 2, *sizes), (2,) * d),
        ]

    return samples


_ROUNDED = {"parity_dtype": "means of integers: PyTorch rounds them differently dim by dim"}


def _max(*sizes):
    d = len(sizes)

    def samples(make):
        return [
            sample(make.distinct(2, 3, *sizes), 2),
            sample(make.distinct(2, *sizes), 3, 2, 1, note="no batch"),
            sample(make.distinct(1, 2, *sizes), (2,) * d, 1, dilation=2, return_indices=True),
            sample(make.distinct(1, 2, *sizes), 3, 2, ceil_mode=True, return_indices=True),
        ]

    return samples


register(
    Op(F + "avg_pool1d", _windows(5), primitives=("mean_pool", "mean_pool_transpose")),
    Op(F + "avg_pool2d", lambda make: [*_windows(5, 4)(make),
                                       sample(make(1, 2, 4, 4), 2, divisor_override=3)],
       primitives=("mean_pool",)),
    Op(F + "avg_pool3d", _windows(3, 4, 3), primitives=("mean_pool",)),
    Op(F + "adaptive_avg_pool1d", _adaptive(5), primitives=("matrix_along",), skip=_ROUNDED),
    Op(F + "adaptive_avg_pool2d", _adaptive(5, 4), primitives=("matrix_along", "mean_pool"),
       skip=_ROUNDED),
    Op(F + "adaptive_avg_pool3d", _adaptive(3, 4, 2), primitives=("matrix_along",),
       skip=_ROUNDED),
    Op(F + "max_pool1d", _max(6), primitives=("max_windows", "picked", "pick", "put_add")),
    Op(F + "max_pool2d", _max(6, 5), primitives=("max_windows",)),
    Op(F + "max_pool3d", _max(4, 3, 4), primitives=("max_windows",)),
    Op(F + "max_pool2d:all of them minus infinity",
       lambda make: [sample(make.fixed(np.full((1, 3, 3), -np.inf)), 2, 1, 1,
                            return_indices=True)],
       nonsmooth=True),
    Op(F + "max_pool2d:nan",
       lambda make: [sample(make.fixed(_WITH_NAN), 2, 1, 1, return_indices=True),
                     sample(make.fixed(_WITH_NAN), 2, ceil_mode=True, return_indices=True)],
       nonsmooth=True, skip={"jet": "finite numbers only"}),
    Op(F + "adaptive_max_pool2d:nan",
       lambda make: [sample(make.fixed(_WITH_NAN), 2, return_indices=True)],
       nonsmooth=True, skip={"jet": "finite numbers only"}),
    Op(F + "adaptive_max_pool1d", _adaptive(5), primitives=("adaptive_windows",)),
    Op(F + "adaptive_max_pool2d", _adaptive(5, 4), primitives=("adaptive_windows",)),
    Op(F + "adaptive_max_pool3d", _adaptive(3, 4, 2), primitives=("adaptive_windows",)),
    Op(F + "fractional_max_pool2d",
       lambda make: [sample(make.distinct(2, 3, 6, 5), 2, output_size=3, return_indices=True,
                            _random_samples=make.constant(make(2, 3, 2, low=0.0, high=0.4))),
                     sample(make.distinct(3, 7, 7), (2, 3), output_ratio=(0.5, 0.4),
                            _random_samples=make.constant(make(1, 3, 2, low=0.0, high=0.4)))],
       primitives=("fractional_windows",)),
    Op(F + "fractional_max_pool3d",
       lambda make: [sample(make.distinct(1, 2, 5, 5, 6), 2, output_size=3,
                            _random_samples=make.constant(make(1, 2, 3, low=0.0, high=0.4)))],
       primitives=("fractional_windows",)),
    Op(F + "fractional_max_pool2d:random",
       lambda make: [sample(make.distinct(1, 2, 9, 9), 2, output_size=4)], random=True),
    Op(F + "max_unpool1d",
       lambda make: [sample(make(2, 3, 2), make.index((2, 3, 2), 4, unique=True), 2)],
       primitives=("put_elements",)),
    Op(F + "max_unpool1d:repeated",
       lambda make: [sample(make(1, 4), make.constant(make.index((1, 4), 2)), 1, 1,
                            output_size=(4,), note="the last value stays")],
       primitives=("put_elements", "scatter_last"),
       skip=dict.fromkeys(
           ("parity_grad", "parity_gradgrad"), "PyTorch's gradient reaches values overwritten too"
       )),
    Op(F + "max_unpool2d",
       lambda make: [sample(make(2, 1, 4), make.index((2, 1, 4), 8, unique=True), (2, 2),
                            output_size=(2, 8))],
       primitives=("put_elements",)),
    Op(F + "max_unpool3d",
       lambda make: [sample(make(1, 1, 1, 4), make.index((1, 1, 1, 4), 8, unique=True), 2)],
       primitives=("put_elements",)),
    Op(F + "lp_pool1d", lambda make: [sample(make.positive(2, 3, 6), 2.0, 2),
                                      sample(make.positive(2, 6), 3.0, 3, 2, True)]),
    Op(F + "lp_pool2d", lambda make: [sample(make.positive(1, 2, 4, 5), 2.0, (2, 3), 1)]),
    Op(F + "lp_pool3d", lambda make: [sample(make.positive(1, 2, 2, 3, 2), 1.5, 2)]),
    Op(F + "lp_pool1d:zeros", lambda make: [sample(make.fixed([[0.0, 0.0, 1.0, 2.0]]), 2.0, 2)],
       nonsmooth=True,
       skip=dict.fromkeys(("parity_grad", "parity_gradgrad", "parity_jvp"),
                          "PyTorch's derivative at zero is NaN, ours 0")),
    Op("pick", lambda make: [sample(make(2, 5), make.index((2, 3), 5))], primitives=("pick",),
       torch=None, reference=lambda x, i: np.take_along_axis(x, i, -1)),
    Op("put_add", lambda make: [sample(make(2, 3), make.index((2, 3), 5), 5)],
       primitives=("put_add",), torch=None),
    Op("put_elements", lambda make: [sample(make(2, 3), make.index((2, 3), 5, unique=True), 5)],
       primitives=("put_elements",), torch=None),
)  # fmt: skip
