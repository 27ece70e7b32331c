"""Poolings as modules."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn.layers_conv import sized
from tensorplay.nn.module import Module


class _MaxPool(Module):
    """What max_pool1d to max_pool3d have in common."""

    run: Any = None

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self).run(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest elements of windows of (N, C, L) or (C, L)."""

    run = F.max_pool1d


class MaxPool2d(_MaxPool):
    """The largest elements of windows of (N, C, H, W) or (C, H, W).

    >>> import tensorplay as tp
    >>> tp.nn.MaxPool2d(2)(tp.ones(1, 4, 4)).shape
    tensorplay.Size([1, 2, 2])
    """

    run = F.max_pool2d


class MaxPool3d(_MaxPool):
    """The largest elements of windows of (N, C, D, H, W) or (C, D, H, W)."""

    run = F.max_pool3d


class _AvgPool(Module):
    """What avg_pool1d to avg_pool3d have in common."""

    run: Any = None
    spatial = 0

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return type(self).run(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """Means over windows of (N, C, L) or (C, L)."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        step = kernel_size if stride is None else stride
        super().__init__(
            sized(kernel_size, 1), sized(step, 1), sized(padding, 1), ceil_mode, count_include_pad
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class AvgPool2d(_AvgPool):
    """Means over windows of (N, C, H, W) or (C, H, W)."""

    run = F.avg_pool2d


class AvgPool3d(_AvgPool):
    """Means over windows of (N, C, D, H, W) or (C, D, H, W)."""

    run = F.avg_pool3d


class _Adaptive(Module):
    """Poolings that are given the output's size."""

    run: Any = None

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        return type(self).run(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means over as many windows as output_size says."""

    run = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_Adaptive):
    """Means over as many windows as output_size says."""

    run = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_Adaptive):
    """Means over as many windows as output_size says."""

    run = F.adaptive_avg_pool3d


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self).run(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest elements of as many windows as output_size says."""

    run = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest elements of as many windows as output_size says."""

    run = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest elements of as many windows as output_size says."""

    run = F.adaptive_max_pool3d


class _Fractional(Module):
    """Max pooling with windows at random places."""

    run: Any = None
    spatial = 0

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = sized(kernel_size, self.spatial)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else sized(output_size, self.spatial)
        self.output_ratio = None if output_ratio is None else sized(output_ratio, self.spatial)

    def forward(self, input: Tensor) -> Any:
        return type(self).run(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            _random_samples=self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_Fractional):
    """The largest elements of windows at random places of (N, C, H, W) or (C, H, W)."""

    run = F.fractional_max_pool2d
    spatial = 2


class FractionalMaxPool3d(_Fractional):
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W)."""

    run = F.fractional_max_pool3d
    spatial = 3


class _LPPool(Module):
    """Power sums over windows."""

    run: Any = None

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return type(self).run(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """(sum of x^p)^(1/p) over windows of (N, C, L) or (C, L)."""

    run = F.lp_pool1d


class LPPool2d(_LPPool):
    """(sum of x^p)^(1/p) over windows of (N, C, H, W) or (C, H, W)."""

    run = F.lp_pool2d


class LPPool3d(_LPPool):
    """(sum of x^p)^(1/p) over windows of (N, C, D, H, W) or (C, D, H, W)."""

    run = F.lp_pool3d


class _Unpool(Module):
    """Elements back where max pooling took them from."""

    run: Any = None
    spatial = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = sized(kernel_size, self.spatial)
        self.stride = sized(kernel_size if stride is None else stride, self.spatial)
        self.padding = sized(padding, self.spatial)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return type(self).run(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_Unpool):
    """The inverse of MaxPool1d, given its indices."""

    run = F.max_unpool1d
    spatial = 1


class MaxUnpool2d(_Unpool):
    """The inverse of MaxPool2d, given its indices."""

    run = F.max_unpool2d
    spatial = 2


class MaxUnpool3d(_Unpool):
    """The inverse of MaxPool3d, given its indices."""

    run = F.max_unpool3d
    spatial = 3
