"""Moving elements between channels and space."""

from __future__ import annotations

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public, publish


@public(method=False)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r^2, H, W) as (..., C, H * r, W * r) (arXiv:1609.05158).

    Raises:
        RuntimeError: for shapes that do not fit, or a factor that is not positive.

    >>> import tensorplay as tp
    >>> tp.nn.functional.pixel_shuffle(tp.ones(1, 9, 4, 4), 3).shape
    tensorplay.Size([1, 1, 12, 12])
    """
    r = upscale_factor
    if input.ndim < 3 or r <= 0 or input.shape[-3] % (r * r):
        raise RuntimeError(
            f"pixel_shuffle(): expected input of at least 3 dims whose channels are divisible by "
            f"upscale_factor squared, got shape {list(input.shape)} and upscale_factor={r}"
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape((*lead, c // (r * r), r, r, h, w))
    x = x.permute((*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return core.apart(x.reshape((*lead, c // (r * r), h * r, w * r)), input)


@public(method=False)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H * r, W * r) as (..., C * r^2, H, W): pixel_shuffle's inverse.

    Raises:
        RuntimeError: for shapes that do not fit, or a factor that is not positive.

    >>> import tensorplay as tp
    >>> tp.nn.functional.pixel_unshuffle(tp.ones(1, 1, 12, 12), 3).shape
    tensorplay.Size([1, 9, 4, 4])
    """
    r = downscale_factor
    if input.ndim < 3 or r <= 0 or input.shape[-2] % r or input.shape[-1] % r:
        raise RuntimeError(
            f"pixel_unshuffle(): expected input of at least 3 dims whose height and width are "
            f"divisible by downscale_factor, got shape {list(input.shape)} and "
            f"downscale_factor={r}"
        )
    *lead, c, h, w = input.shape
    n = len(lead)
    x = input.reshape((*lead, c, h // r, r, w // r, r))
    x = x.permute((*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return core.apart(x.reshape((*lead, c * r * r, h // r, w // r)), input)


@public(method=False)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """(N, groups * C, ...) with the channels of the groups interleaved (arXiv:1707.01083).

    Raises:
        RuntimeError: for fewer than 3 dims, or channels that `groups` does not divide.

    >>> import tensorplay as tp
    >>> tp.nn.functional.channel_shuffle(tp.arange(4.).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    if input.ndim < 3 or groups <= 0 or input.shape[1] % groups:
        raise RuntimeError(
            f"channel_shuffle(): expected input of at least 3 dims whose channels are divisible "
            f"by groups, got shape {list(input.shape)} and groups={groups}"
        )
    n, c, *rest = input.shape
    x = input.reshape((n, groups, c // groups, *rest)).transpose(1, 2)
    return x.reshape((n, c, *rest))


for _name, _function in (
    ("pixel_shuffle", pixel_shuffle), ("pixel_unshuffle", pixel_unshuffle),
    ("channel_shuffle", channel_shuffle), ("native_channel_shuffle", channel_shuffle),
):  # fmt: skip
    publish(_function, _name, namespace="nn.functional", method=False)
native_channel_shuffle = channel_shuffle
