"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

import warnings
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.ops.arrange import constant_pad
from tensorplay.ops.complexes import view_as_real
from tensorplay.ops.fft_ops import complex_op, half_op, real_op
from tensorplay.ops.kinds import public
from tensorplay.ops.padding import pad
from tensorplay.ops.strided import fold_windows, unfold_op


def _hop_and_window(
    name: str, x: Any, n_fft: int, hop_length: int | None, win_length: int | None, window: Any
) -> tuple[int, int, Any]:
    """The step, the window's length, and the window centred in n_fft places (None: all ones)."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{name}(): hop_length must be positive, got {hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}(): win_length must be from 1 to n_fft={n_fft}, got {length}")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{name}(): window must have shape [{length}], that is win_length, got "
            f"{list(window.shape)}"
        )
    if length < n_fft:
        if window is None:
            window = x.new_ones((length,), dtype=x.dtype.to_real())
        left = (n_fft - length) // 2
        window = constant_pad(window, (left, n_fft - length - left))
    return hop, length, window


@public()
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of windows of a signal: (batch, frequencies, frames), complex.

    input: (samples) or (batch, samples). n_fft: the size of each transform. hop_length: the
    distance of windows, n_fft // 4 by default. window: (win_length), centred in n_fft places; ones
    by default. center: window t is centred at sample t * hop_length, the signal being continued at
    both ends by `pad_mode`; else it begins there (with align_to_window: without the places that
    centre the window). normalized: with the factor 1 / sqrt(n_fft). onesided: no negative
    frequencies, the default for real signals and windows. return_complex must be True, or False for
    a last dim of real and imaginary parts.

    Raises:
        RuntimeError: for sizes that do not fit; a one-sided transform of complex values; without
            return_complex for a real input.
    """
    name = "stft"
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                f"{name}(): return_complex must be given for real inputs; use return_complex=True"
            )
        return_complex = True
    if input.ndim not in (1, 2) or not (input.dtype.is_complex or input.dtype.is_floating_point):
        raise RuntimeError(
            f"{name}(): expected input of floating point or complex dtype with 1 or 2 dims, got "
            f"{input.dtype} of shape {list(input.shape)}"
        )
    if center and align_to_window is not None:
        raise RuntimeError(f"{name}(): align_to_window goes with center=False only")
    if onesided and is_complex:
        raise RuntimeError(f"{name}(): onesided=True needs a real input and a real window")
    hop, length, window = _hop_and_window(name, input, n_fft, hop_length, win_length, window)
    x = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        half = n_fft // 2
        x = pad(x.unsqueeze(1), (half, half), mode=pad_mode).squeeze(1)
    elif align_to_window:
        left = (n_fft - length) // 2
        x = constant_pad(x, (left, n_fft - length - left))
    if not 0 < n_fft <= x.shape[1]:
        raise RuntimeError(
            f"{name}(): n_fft must be from 1 to {x.shape[1]}, the length of the signal of shape "
            f"{list(input.shape)}, padding included; got {n_fft}"
        )
    frames = unfold_op(x, 1, n_fft, hop)
    frames = frames if window is None else frames * window
    scale = "root" if normalized else "none"
    if is_complex:
        spectrum = complex_op(frames, (2,), scale, True)
    else:
        spectrum = real_op(frames, (2,), scale, onesided is not False)
    spectrum = spectrum.transpose(1, 2)
    spectrum = spectrum if input.ndim == 2 else spectrum.squeeze(0)
    return spectrum if return_complex else view_as_real(spectrum)


def _check_spectrum(
    name: str, x: Any, window: Any, n_fft: int, onesided: bool, return_complex: bool
) -> None:
    if not x.dtype.is_complex or x.ndim not in (2, 3) or not x.numel():
        raise RuntimeError(
            f"{name}(): expected a complex input, (frequencies, frames) or (batch, frequencies, "
            f"frames), as stft returns it; got {x.dtype} of shape {list(x.shape)}"
        )
    expected = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != expected:
        raise RuntimeError(
            f"{name}(): input of shape {list(x.shape)} must have {expected} frequencies for "
            f"n_fft={n_fft} and onesided={onesided}"
        )
    if return_complex and onesided:
        raise RuntimeError(f"{name}(): a complex result needs onesided=False")
    if not return_complex and window is not None and window.dtype.is_complex:
        raise RuntimeError(f"{name}(): a complex window needs return_complex=True")


@public()
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose `stft` (with the same arguments) is nearest to the input, in least squares.

    input: (frequencies, frames) or (batch, frequencies, frames), complex. length: of the result;
    by default all samples that windows cover. D. Griffin and J. Lim, "Signal estimation from
    modified short-time Fourier transform", 1984.

    Raises:
        RuntimeError: for sizes that do not fit, or where windows leave samples uncovered.
    """
    name = "istft"
    one_sided = input.ndim > 1 and input.shape[-2] != n_fft if onesided is None else onesided
    _check_spectrum(name, input, window, n_fft, one_sided, return_complex)
    hop, _, window = _hop_and_window(name, input, n_fft, hop_length, win_length, window)
    spectrum = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    scale = "root" if normalized else "full"
    if return_complex:
        frames = complex_op(spectrum, (2,), scale, False)
    else:
        frames = half_op(spectrum.narrow(2, 0, n_fft // 2 + 1), (2,), scale, n_fft)
    batch, count = frames.shape[:2]
    total = n_fft + hop * (count - 1)
    window = frames.new_ones((n_fft,)) if window is None else window
    y = fold_windows(frames * window, (batch, total), 1, n_fft, hop)
    weights = (window * window).unsqueeze(0).expand((count, n_fft))
    weights = fold_windows(weights, (total,), 0, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = total - (n_fft // 2 if center else 0) if length is None else start + length
    kept = min(end, total) - start
    y, weights = y.narrow(1, start, kept), weights.narrow(0, start, kept)
    if not weights.is_box and bool((weights.abs() < 1e-11).any()):
        raise RuntimeError(
            f"{name}(): the windows leave samples uncovered, with hop_length={hop} and a window "
            f"of {n_fft} places; use a smaller hop_length, or another window"
        )
    y = y / weights
    if end > total:
        warnings.warn(
            f"{name}(): length {length} is more than the windows cover; zeros are added at the end",
            UserWarning,
            stacklevel=2,
        )
        y = constant_pad(y, (0, end - total))
    return y if input.ndim == 3 else y.squeeze(0)
