"""Convolutions as modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn import init
from tensorplay.nn.layers_linear import new_parameter
from tensorplay.nn.module import Module, reading

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def sized(value: Any, count: int) -> tuple[int, ...]:
    """An int, or a sequence of ints, as `count` ints."""
    return tuple(value) if isinstance(value, Sequence) else (value,) * count


@reading("weight", "bias")
class _Conv(Module):
    """What convolutions and transposed convolutions have in common."""

    spatial = 0
    transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, groups: int, bias: bool, padding_mode: str, output_padding: Any = 0,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode="
                f"{padding_mode!r}"
            )
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of ('same', 'valid')"
            )
        count = self.spatial
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = sized(kernel_size, count), sized(stride, count)
        self.padding: Any = padding if isinstance(padding, str) else sized(padding, count)
        self.dilation = sized(dilation, count)
        self.output_padding = sized(output_padding, count)
        self.padding_mode = padding_mode
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        outer, inner = (
            (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        )
        self.weight = new_parameter((outer, inner // groups, *self.kernel_size), dtype)
        if bias:
            self.bias: Any = new_parameter((out_channels,), dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform within 1 / sqrt(inputs of an output)."""
        inputs = self.weight.shape[1] * math.prod(self.kernel_size)
        if inputs > 0:
            bound = 1 / math.sqrt(inputs)
            init.uniform_(self.weight, -bound, bound)
            if self.bias is not None:
                init.uniform_(self.bias, -bound, bound)

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input with any padding but zeros done, and the padding that is left to do."""
        if self.padding_mode == "zeros":
            return input, self.padding
        if isinstance(self.padding, str):
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            same = self.padding == "same"
            pads = [(t // 2, t - t // 2) if same else (0, 0) for t in total]
        else:
            pads = [(p, p) for p in self.padding]
        flat = [p for pair in reversed(pads) for p in pair]
        return F.pad(input, flat, mode=self.padding_mode), 0

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * self.spatial:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.spatial:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.spatial:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Direct(_Conv):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, 0, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        x, padding = self._padded(input)
        run = (F.conv1d, F.conv2d, F.conv3d)[self.spatial - 1]
        return run(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Direct):
    """Convolution of (N, C, L) or (C, L)."""

    spatial = 1


class Conv2d(_Direct):
    """Convolution of (N, C, H, W) or (C, H, W).

    >>> import tensorplay as tp
    >>> tp.nn.Conv2d(3, 8, 3, padding=1)(tp.ones(1, 3, 5, 5)).shape
    tensorplay.Size([1, 8, 5, 5])
    """

    spatial = 2


class Conv3d(_Direct):
    """Convolution of (N, C, D, H, W) or (C, D, H, W)."""

    spatial = 3


class _Transposed(_Conv):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
        dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, output_padding, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        run = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.spatial - 1]
        return run(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip

    def _extra(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives an output size."""
        wanted = tuple(output_size)[-self.spatial :]
        sizes = input.shape[-self.spatial :]
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                sizes, self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        extra = tuple(w - m for w, m in zip(wanted, least, strict=True))
        if any(not 0 <= e < s for e, s in zip(extra, self.stride, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to "
                f"{[m + s - 1 for m, s in zip(least, self.stride, strict=True)]} (for an input of "
                f"{tuple(sizes)})"
            )
        return extra


class ConvTranspose1d(_Transposed):
    """Transposed convolution of (N, C, L) or (C, L)."""

    spatial = 1


class ConvTranspose2d(_Transposed):
    """Transposed convolution of (N, C, H, W) or (C, H, W)."""

    spatial = 2


class ConvTranspose3d(_Transposed):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W)."""

    spatial = 3
