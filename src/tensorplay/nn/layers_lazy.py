"""Layers that find the number of input features or channels at their first call."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.nn.layers_conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from tensorplay.nn.layers_linear import Linear
from tensorplay.nn.layers_norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from tensorplay.nn.lazy import LazyModule, UninitializedBuffer, UninitializedParameter


class _Lazy(LazyModule):
    """A layer of ours that waits for its sizes."""

    def reset_parameters(self) -> None:
        """Draw new starting values, if there are any."""
        if not self.has_uninitialized_params() and self._sizes_known():
            super().reset_parameters()  # type: ignore[misc]

    def _sizes_known(self) -> bool:
        raise NotImplementedError

    def _fill(self, **shapes: tuple[int, ...]) -> None:
        """Materialize what is uninitialized, and draw starting values."""
        if self.has_uninitialized_params():
            for name, shape in shapes.items():
                tensor = getattr(self, name)
                if tensor is not None:
                    tensor.materialize(shape)
            self.reset_parameters()


class LazyLinear(_Lazy, Linear):
    """A `Linear` that finds in_features at its first call.

    >>> import tensorplay as tp
    >>> layer = tp.nn.LazyLinear(3)
    >>> layer(tp.ones(2, 5)).shape, layer
    (tensorplay.Size([2, 3]), Linear(in_features=5, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.register_parameter("weight", UninitializedParameter(dtype=dtype))
        self.out_features = out_features
        if bias:
            self.register_parameter("bias", UninitializedParameter(dtype=dtype))
        self._wait()

    def _sizes_known(self) -> bool:
        return self.in_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Take in_features from the input's last dim."""
        self.in_features = input.shape[-1]
        self._fill(weight=(self.out_features, self.in_features), bias=(self.out_features,))


class _LazyConv(_Lazy):
    spatial: int
    transposed: bool
    kernel_size: tuple[int, ...]
    groups: int

    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(  # type: ignore[call-arg]
            0, 0, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=False,
            padding_mode=padding_mode,
        )  # fmt: skip
        self._become_lazy(out_channels, bias, dtype)

    def _become_lazy(self, out_channels: int, bias: bool, dtype: Any) -> None:
        self.register_parameter("weight", UninitializedParameter(dtype=dtype))
        self.out_channels = out_channels
        if bias:
            self.register_parameter("bias", UninitializedParameter(dtype=dtype))
        self._wait()

    def _sizes_known(self) -> bool:
        return self.in_channels != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Take in_channels from the input's dim of channels.

        Raises:
            RuntimeError: for an input of too few or many dims.
            ValueError: if groups does not divide the channels.
        """
        if input.ndim not in (self.spatial + 1, self.spatial + 2):
            raise RuntimeError(
                f"Expected {self.spatial + 1}D (unbatched) or {self.spatial + 2}D (batched) input "
                f"to {type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        self.in_channels = channels = input.shape[-self.spatial - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        outer, inner = (
            (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        )
        self._fill(
            weight=(outer, inner // self.groups, *self.kernel_size), bias=(self.out_channels,)
        )


class _LazyConvTranspose(_LazyConv):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super(_LazyConv, self).__init__(  # type: ignore[call-arg]
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation,
            padding_mode,
        )  # fmt: skip
        self._become_lazy(out_channels, bias, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that finds in_channels at its first call."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that finds in_channels at its first call.

    >>> import tensorplay as tp
    >>> tp.nn.LazyConv2d(4, 3)(tp.ones(1, 2, 5, 5)).shape
    tensorplay.Size([1, 4, 3, 3])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that finds in_channels at its first call."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` that finds in_channels at its first call."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` that finds in_channels at its first call."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` that finds in_channels at its first call."""

    cls_to_become = ConvTranspose3d


class _LazyNorm(_Lazy):
    affine: bool
    track_running_stats: bool

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False)  # type: ignore[call-arg]
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.register_parameter("weight", UninitializedParameter(dtype=dtype))
            if bias:
                self.register_parameter("bias", UninitializedParameter(dtype=dtype))
        if track_running_stats:
            self.register_buffer("running_mean", UninitializedBuffer(dtype=dtype))
            self.register_buffer("running_var", UninitializedBuffer(dtype=dtype))
            del self.num_batches_tracked  # which is the last one in PyTorch's state
            self.register_buffer("num_batches_tracked", core.from_array(np.array(0, np.int64)))
        self._wait()

    def _sizes_known(self) -> bool:
        return self.num_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Take num_features from the input's dim 1."""
        self.num_features = channels = input.shape[1]
        names = ("weight", "bias", "running_mean", "running_var")
        self._fill(**dict.fromkeys(names, (channels,)))


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A `BatchNorm1d` that finds num_features at its first call."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A `BatchNorm2d` that finds num_features at its first call."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A `BatchNorm3d` that finds num_features at its first call."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that finds num_features at its first call."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that finds num_features at its first call."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that finds num_features at its first call."""

    cls_to_become = InstanceNorm3d
