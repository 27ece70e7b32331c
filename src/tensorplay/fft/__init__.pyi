"""Discrete Fourier transforms, as in `torch.fft`; float32 inputs are computed in complex64."""

# Made by tools/make_stubs.py: do not edit.

import builtins
from typing import Any

from tensorplay._core.core import Tensor as Tensor

__all__: builtins.list

def fft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The discrete Fourier transform along a dim: sum over j of x_j exp(-2 pi i j k / n)."""

def fft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`fftn` along two dims."""

def fftfreq(
    n: builtins.int,
    d: builtins.float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The frequencies of the n values of `fft`, for samples at a distance d."""

def fftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The discrete Fourier transform along several dims, by default all."""

def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The spectrum with the zero frequency moved to the middle of the dims (by default of all)."""

def hfft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`fft` of a signal that is Hermitian in time, given by its first half: n real values."""

def hfft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`hfftn` along two dims."""

def hfftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`fftn` of a signal that is Hermitian in the last dim, given by its first half there."""

def ifft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `fft`; norm: 'backward' (1 / n), 'ortho' (1 / sqrt n) or 'forward' (none)."""

def ifft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`ifftn` along two dims."""

def ifftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `fftn`."""

def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""

def ihfft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `hfft`: half of `ifft` of a real input, n // 2 + 1 values."""

def ihfft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`ihfftn` along two dims."""

def ihfftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `hfftn`: half of `ifftn` of a real input."""

def irfft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `rfft`: n real values, by default 2 * (size - 1)."""

def irfft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`irfftn` along two dims."""

def irfftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of `rfftn`; s holds the sizes of the real result."""

def rfft(
    input: Tensor,
    n: builtins.int | None = None,
    dim: builtins.int = -1,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`fft` of a real input without the negative frequencies: n // 2 + 1 values."""

def rfft2(
    input: Tensor,
    s: Any = None,
    dim: Any = ...,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`rfftn` along two dims."""

def rfftfreq(
    n: builtins.int,
    d: builtins.float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The frequencies of the n // 2 + 1 values of `rfft`, for samples at a distance d."""

def rfftn(
    input: Tensor,
    s: Any = None,
    dim: Any = None,
    norm: builtins.str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`fftn` of a real input without the negative frequencies of the last dim."""
