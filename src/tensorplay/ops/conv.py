"""conv1d to conv3d, their transposes, and the general convolution: PyTorch's signatures."""

from __future__ import annotations

import functools
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.ops.convolution import add_bias, conv_input, convolve
from tensorplay.ops.kinds import publish
from tensorplay.ops.windows import Pairs, per_dim, plan_of, require_positive


def _check(
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, spatial: int, groups: int,
    transposed: bool,
) -> None:  # fmt: skip
    """Refuse what no convolution fits, naming shapes and dtypes."""
    _check_ranks(name, input.shape, weight.shape, spatial)
    if input.dtype is not weight.dtype or (bias is not None and bias.dtype is not weight.dtype):
        third = "" if bias is None else f" and bias of {bias.dtype}"
        raise RuntimeError(
            f"{name}(): expected one dtype, got input of {input.dtype}, weight of {weight.dtype}"
            f"{third}; convert with .to(dtype)"
        )
    third_shape = None if bias is None else bias.shape
    _check_shapes(name, input.shape, weight.shape, third_shape, spatial, groups, transposed)


def _check_ranks(name: str, shape: Any, weight: Any, spatial: int) -> None:
    given = f"got input of shape {list(shape)} and weight of shape {list(weight)}"
    if len(weight) != spatial + 2:
        raise RuntimeError(f"{name}(): expected weight of {spatial + 2} dims, {given}")
    if len(shape) not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): expected input of {spatial + 1} (unbatched) or {spatial + 2} dims, {given}"
        )


def _check_shapes(
    name: str, shape: Any, weight: Any, bias: Any, spatial: int, groups: int, transposed: bool
) -> None:
    given = f"got input of shape {list(shape)} and weight of shape {list(weight)}"
    if groups <= 0:
        raise RuntimeError(f"{name}(): non-positive groups is not supported, got {groups}")
    channels = shape[-spatial - 1]
    if weight[0] % groups:
        raise RuntimeError(
            f"{name}(): expected weight's size at dim 0 to be divisible by groups={groups}, {given}"
        )
    wanted = weight[0] if transposed else weight[1] * groups
    if channels != wanted:
        raise RuntimeError(
            f"{name}(): with groups={groups} this weight takes an input of {wanted} channels, "
            f"{given}"
        )
    filters = weight[1] * groups if transposed else weight[0]
    if bias is not None and tuple(bias) != (filters,):
        raise RuntimeError(f"{name}(): expected bias of shape {[filters]}, got shape {list(bias)}")


def _padding(
    name: str, padding: Any, kernel: Any, stride: Any, dilation: Any, spatial: int
) -> Pairs:
    """Padding as (before, after) for each dim."""
    if isinstance(padding, str):
        if padding == "valid":
            return ((0, 0),) * spatial
        if padding != "same":
            raise RuntimeError(f"{name}(): padding must be 'valid' or 'same', got {padding!r}")
        if any(s != 1 for s in stride):
            raise RuntimeError(
                f"{name}(): padding='same' is not supported for strided convolutions, got "
                f"stride={stride}"
            )
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        return tuple((t // 2, t - t // 2) for t in total)
    pads = per_dim(name, "padding", padding, spatial)
    if any(p < 0 for p in pads):
        raise RuntimeError(f"{name}(): negative padding is not supported, got {pads}")
    return tuple((p, p) for p in pads)


def _conv(
    name: str, spatial: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, dilation: Any, groups: int,
) -> Tensor:  # fmt: skip
    if input.dtype is not weight.dtype or (bias is not None and bias.dtype is not weight.dtype):
        _check(name, input, weight, bias, spatial, groups, transposed=False)  # raises
    stride, pads, dilation = plan_of(
        _plan, name, spatial, input.shape, weight.shape, None if bias is None else bias.shape,
        stride, padding, dilation, groups,
    )  # fmt: skip
    if input.ndim == spatial + 1:
        return convolve(input.unsqueeze(0), weight, bias, stride, pads, dilation, groups).squeeze(0)
    return convolve(input, weight, bias, stride, pads, dilation, groups)


@functools.lru_cache(maxsize=1024, typed=True)
def _plan(
    name: str, spatial: int, shape: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    dilation: Any, groups: int,
) -> tuple[Any, Pairs, Any]:  # fmt: skip
    """(stride, padding, dilation) per dim, after checking all shapes."""
    _check_ranks(name, shape, weight, spatial)
    _check_shapes(name, shape, weight, bias, spatial, groups, False)
    kernel = tuple(weight[2:])
    stride = per_dim(name, "stride", stride, spatial)
    dilation = per_dim(name, "dilation", dilation, spatial)
    require_positive(name, stride=stride, dilation=dilation)
    pads = _padding(name, padding, kernel, stride, dilation, spatial)
    _check_fits(name, tuple(shape[-spatial:]), kernel, pads, dilation)
    return stride, pads, dilation


def _check_fits(name: str, sizes: Any, kernel: Any, pads: Pairs, dilation: Any) -> None:
    if not all(kernel):
        raise RuntimeError(f"{name}(): kernel size should be greater than zero, got {kernel}")
    for size, k, (low, high), d in zip(sizes, kernel, pads, dilation, strict=True):
        if size + low + high < d * (k - 1) + 1:
            raise RuntimeError(
                f"{name}(): kernel size {kernel} with dilation {dilation} can't be greater than "
                f"the padded input size {tuple(s + a + b for s, (a, b) in zip(sizes, pads))}"  # noqa: B905
            )


def _conv_transpose(
    name: str, spatial: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    _check(name, input, weight, bias, spatial, groups, transposed=True)
    kernel = tuple(weight.shape[2:])
    stride = per_dim(name, "stride", stride, spatial)
    dilation = per_dim(name, "dilation", dilation, spatial)
    extra = per_dim(name, "output_padding", output_padding, spatial)
    require_positive(name, stride=stride, dilation=dilation)
    pads = _padding(name, padding, kernel, stride, dilation, spatial)
    for e, s, d in zip(extra, stride, dilation, strict=True):
        if not 0 <= e < max(s, d):
            raise RuntimeError(
                f"{name}(): output_padding must be smaller than either stride or dilation, got "
                f"output_padding={extra}, stride={stride}, dilation={dilation}"
            )
    sizes = tuple(
        (n - 1) * s - low - high + d * (k - 1) + e + 1
        for n, s, (low, high), d, k, e in zip(
            input.shape[-spatial:], stride, pads, dilation, kernel, extra, strict=True
        )
    )
    if any(n <= 0 for n in sizes):
        raise RuntimeError(f"{name}(): the output size would be {sizes}; it must be positive")
    x = input.unsqueeze(0) if input.ndim == spatial + 1 else input
    # Output padding of a stride or more (where dilation allows it) makes room for another window,
    # which the input has no value for: then the last elements belong to no window.
    pads = tuple(
        (low, high - max(0, e - s + 1))
        for (low, high), e, s in zip(pads, extra, stride, strict=True)
    )
    y = conv_input(x, weight, sizes, stride, pads, dilation, groups)
    if bias is not None:
        y = add_bias(y, bias)
    return y if x is input else y.squeeze(0)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, L) or (C, L) with filters (O, C / groups, K).

    padding: ints, 'valid' (none) or 'same' (as many outputs as inputs, stride 1 only).

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 3))
    tensor([[[3., 3.]]])
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, H, W) or (C, H, W) with filters (O, C / groups, KH, KW).

    padding: ints, 'valid' (none) or 'same' (as many outputs as inputs, stride 1 only).

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.conv2d(tp.ones(1, 1, 3, 3), tp.ones(1, 1, 3, 3), padding=1).shape
    tensorplay.Size([1, 1, 3, 3])
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, D, H, W) or (C, D, H, W) with filters (O, C / groups, *kernel).

    padding: ints, 'valid' (none) or 'same' (as many outputs as inputs, stride 1 only).

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.conv3d(tp.ones(1, 1, 2, 2, 2), tp.ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of conv1d: (N, C, L) or (C, L) with filters (C, O / groups, K).

    output_padding: added to the size of the output at its end.

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.conv_transpose1d(tp.ones(1, 1, 2), tp.ones(1, 1, 3))
    tensor([[[1., 2., 2., 1.]]])
    """
    return _conv_transpose("conv_transpose1d", 1, input, weight, bias, stride, padding,
                           output_padding, groups, dilation)  # fmt: skip


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of conv2d: (N, C, H, W) or (C, H, W) with filters (C, O / groups, KH, KW).

    output_padding: added to the size of the output at its end.

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> F = tp.nn.functional
    >>> F.conv_transpose2d(tp.ones(1, 1, 2, 2), tp.ones(1, 1, 2, 2), stride=2).shape
    tensorplay.Size([1, 1, 4, 4])
    """
    return _conv_transpose("conv_transpose2d", 2, input, weight, bias, stride, padding,
                           output_padding, groups, dilation)  # fmt: skip


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of conv3d: (N, C, D, H, W) or (C, D, H, W), filters (C, O / groups, *kernel).

    output_padding: added to the size of the output at its end.

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.conv_transpose3d(tp.ones(1, 1, 1, 1, 1), tp.ones(1, 1, 2, 2, 2)).shape
    tensorplay.Size([1, 1, 2, 2, 2])
    """
    return _conv_transpose("conv_transpose3d", 3, input, weight, bias, stride, padding,
                           output_padding, groups, dilation)  # fmt: skip


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Tensor:
    """Convolution, or (transposed) its transpose, over as many dims as the weight has after two.

    Raises:
        RuntimeError: for shapes, dtypes or sizes that do not fit.
    """
    spatial = weight.ndim - 2
    if transposed:
        return _conv_transpose("convolution", spatial, input, weight, bias, stride, padding,
                               output_padding, groups, dilation)  # fmt: skip
    return _conv("convolution", spatial, input, weight, bias, stride, padding, dilation, groups)


for _function in (
    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d,
):  # fmt: skip
    publish(_function, _function.__name__, method=False)
    publish(_function, _function.__name__, namespace="nn.functional", method=False)
publish(convolution, "convolution", method=False)
