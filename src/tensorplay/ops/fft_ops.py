"""Discrete Fourier transforms.

Three primitives: complex to complex, real to complex, complex to real. Each is linear, and the
transpose of each is another one in the opposite direction at the same scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.base.devices import check_placement
from tensorplay.base.lazy import lazy_module
from tensorplay.ops.arrange import constant_pad, roll
from tensorplay.ops.creation import finished, target_dtype
from tensorplay.ops.kinds import linear, public, shifting, wrap_dim
from tensorplay.ops.structure import convert

# SciPy's transforms vectorise over the lanes, which makes them several times as fast as NumPy's.
scipy_fft = lazy_module("scipy.fft")

# How a transform is scaled, by n = the product of the sizes: 'none', 'root' (1 / sqrt n) or 'full'
# (1 / n); what SciPy calls that depends on the direction.
_FORWARD = {"none": "backward", "root": "ortho", "full": "forward"}
_INVERSE = {"none": "forward", "root": "ortho", "full": "backward"}

Dims = tuple[int, ...]


# --- primitives -----------------------------------------------------------------------------------


def _complex_kernel(x: np.ndarray, dims: Dims, scale: str, forward: bool) -> np.ndarray:
    if x.size == 0:
        return x.copy()
    if len(dims) == 1:
        if forward:
            return scipy_fft.fft(x, axis=dims[0], norm=_FORWARD[scale])
        return scipy_fft.ifft(x, axis=dims[0], norm=_INVERSE[scale])
    if forward:
        return scipy_fft.fftn(x, axes=dims, norm=_FORWARD[scale])
    return scipy_fft.ifftn(x, axes=dims, norm=_INVERSE[scale])


complex_op = linear(
    "fft_c2c",
    core.FourierKernel(_complex_kernel),
    lambda g, dims, scale, forward: complex_op(g, dims, scale, not forward),
    params=("dims", "scale", "forward"),
    batch=shifting(dims=("dims",)),
    quiet=True,
)


def _real_kernel(x: np.ndarray, dims: Dims, scale: str, half: bool) -> np.ndarray:
    if x.size == 0:
        shape = list(x.shape)
        if half:
            shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return np.zeros(shape, np.result_type(x.dtype, np.complex64))
    if len(dims) == 1:
        transform = scipy_fft.rfft if half else scipy_fft.fft
        return transform(x, axis=dims[0], norm=_FORWARD[scale])
    transform = scipy_fft.rfftn if half else scipy_fft.fftn
    return transform(x, axes=dims, norm=_FORWARD[scale])


def _paired(x: Any, dim: int, size: int, factor: float) -> Any:
    """x with the frequencies that have a negative partner times a factor.

    Of a half spectrum along `dim`, of a real signal of `size` samples, all but the first and, where
    the size is even, the last.
    """
    weights = np.ones(size // 2 + 1, x.dtype.to_real().numpy)
    weights[1 : (size + 1) // 2] = factor
    return x * core.from_array(weights.reshape((-1,) + (1,) * (x.ndim - 1 - dim)))


def _real_transpose(g: Any, x_shape: Any, dims: Dims, scale: str, half: bool) -> Any:
    if not half:
        return complex_op(g, dims, scale, False).real
    size = x_shape[dims[-1]]
    return half_op(_paired(g, dims[-1], size, 0.5), dims, scale, size)


#: Forward, of a real signal; half: without the negative frequencies of the last of the dims.
real_op = linear(
    "fft_r2c",
    core.FourierKernel(_real_kernel),
    _real_transpose,
    params=("dims", "scale", "half"),
    batch=shifting(dims=("dims",)),
    quiet=True,
)


def _half_kernel(x: np.ndarray, dims: Dims, scale: str, size: int) -> np.ndarray:
    if x.size == 0:
        shape = list(x.shape)
        shape[dims[-1]] = size
        return np.zeros(shape, x.real.dtype)
    if len(dims) == 1:
        return scipy_fft.irfft(x, size, axis=dims[0], norm=_INVERSE[scale])
    sizes = [x.shape[d] for d in dims[:-1]] + [size]
    return scipy_fft.irfftn(x, s=sizes, axes=dims, norm=_INVERSE[scale])


def _half_transpose(g: Any, dims: Dims, scale: str, size: int) -> Any:
    return _paired(real_op(g, dims, scale, True), dims[-1], size, 2.0)


#: Inverse, of a half spectrum, with `size` real samples along the last of the dims.
half_op = linear(
    "fft_c2r",
    _half_kernel,
    _half_transpose,
    params=("dims", "scale", "size"),
    batch=shifting(dims=("dims",)),
    quiet=True,
)


# --- arguments ------------------------------------------------------------------------------------


def _scale(name: str, norm: str | None, forward: bool) -> str:
    if norm is None:
        return "none" if forward else "full"
    table = _FORWARD if forward else _INVERSE
    for scale, word in table.items():
        if word == (norm or "backward"):
            return scale
    raise RuntimeError(
        f"{name}(): norm must be 'backward', 'ortho', 'forward' or None, got {norm!r}"
    )


def _one_dim(name: str, x: Any, n: int | None, dim: int) -> tuple[Dims, list[int]]:
    """The dim and the size to transform."""
    _check_input(name, x)
    if x.ndim == 0:
        raise IndexError(f"{name}(): the input has no dims to transform; dim={dim}")
    dim = wrap_dim(dim, x, name)
    return (dim,), [x.shape[dim] if n is None else int(n)]


def _check_input(name: str, x: Any) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"{name}(): unsupported dtype {x.dtype}; convert with .float()")


def _many_dims(
    name: str, x: Any, s: Sequence[int] | None, dim: Any, *, least: int = 0
) -> tuple[Dims, list[int]]:
    """The dims to transform, in order, and their sizes."""
    _check_input(name, x)
    sizes = None if s is None else ([s] if isinstance(s, int) else [int(n) for n in s])
    if dim is not None:
        given = (dim,) if isinstance(dim, int) else tuple(dim)
        if given and not x.ndim:
            raise IndexError(f"{name}(): the input has no dims to transform; dim={given}")
        dims = tuple(wrap_dim(int(d), x, name) for d in given)
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"{name}(): a dim appears more than once in dim={given}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                f"{name}(): dim {given} and s {tuple(sizes)} must have the same length"
            )
    elif sizes is not None:
        if len(sizes) > x.ndim:
            raise RuntimeError(
                f"{name}(): s {tuple(sizes)} has more entries than the input of shape "
                f"{list(x.shape)} has dims"
            )
        dims = tuple(range(x.ndim - len(sizes), x.ndim))
    else:
        dims = tuple(range(x.ndim))
    if len(dims) < least:
        raise RuntimeError(f"{name}(): must transform at least one dim")
    shape = x.shape
    if sizes is None:
        return dims, [shape[d] for d in dims]
    return dims, [shape[d] if n == -1 else n for d, n in zip(dims, sizes, strict=True)]


def _resized(name: str, x: Any, dims: Dims, sizes: Sequence[int]) -> Any:
    """x cut off, or continued with zeros, to the given sizes."""
    if len(dims) == 1 and 0 < sizes[0] == x.shape[dims[0]]:
        return x
    if sizes and min(sizes) < 1:
        raise RuntimeError(
            f"{name}(): sizes to transform must be at least 1, got {list(sizes)} for dims {dims} "
            f"of the input of shape {list(x.shape)}"
        )
    shape = x.shape
    changes = {d: n - shape[d] for d, n in zip(dims, sizes, strict=True)}
    if not any(changes.values()):
        return x
    first = min(d for d, change in changes.items() if change)
    pads: list[int] = []
    for d in range(x.ndim - 1, first - 1, -1):
        pads += (0, changes.get(d, 0))
    return constant_pad(x, pads, 0)


def _as_complex(x: Any) -> Any:
    if x.dtype.is_complex:
        return x
    return convert(_as_floating(x), _as_floating(x).dtype.to_complex())


def _as_floating(x: Any) -> Any:
    return x if x.dtype.category >= dtypes.FLOAT else convert(x, dtypes.get_default_dtype())


def _need_real(name: str, x: Any) -> None:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name}(): expected a real input, got dtype {x.dtype}")


# --- what the functions share ---------------------------------------------------------------------


def _transform(name: str, x: Any, plan: Any, norm: Any, forward: bool) -> Tensor:
    """Complex result of any input."""
    dims, sizes = plan
    scale = _scale(name, norm, forward)
    x = _resized(name, x, dims, sizes)
    if not dims:
        return _as_complex(x).clone()
    if x.dtype.is_complex:
        return complex_op(x, dims, scale, forward)
    spectrum = real_op(_as_floating(x), dims, scale, False)
    return spectrum if forward else spectrum.conj()


def _half_spectrum(name: str, x: Any, plan: Any, norm: Any, forward: bool) -> Tensor:
    """Half the spectrum of a real input."""
    _need_real(name, x)
    dims, sizes = plan
    x = _as_floating(_resized(name, x, dims, sizes))
    if forward:
        return real_op(x, dims, _scale(name, norm, True), True)
    return real_op(x, dims, _scale(name, norm, False), True).conj()


def _from_half(name: str, x: Any, plan: Any, size: int | None, norm: Any, forward: bool) -> Tensor:
    """Real result of half a spectrum; `size` of it along the last dim."""
    dims, sizes = plan
    size = 2 * (sizes[-1] - 1) if size is None else size
    if size < 1:
        raise RuntimeError(
            f"{name}(): the size of the result in dim {dims[-1]} must be at least 1, got {size}; "
            f"the input has shape {list(x.shape)}"
        )
    x = _as_complex(_resized(name, x, dims, [*sizes[:-1], size // 2 + 1]))
    return half_op(x.conj() if forward else x, dims, _scale(name, norm, forward), size)


def _last_size(s: Any) -> int | None:
    """The size that was asked for along the last dim, if any."""
    if s is None:
        return None
    last = s if isinstance(s, int) else (list(s) or [-1])[-1]
    return None if last == -1 else int(last)


# --- one dim --------------------------------------------------------------------------------------


@public(namespace="fft", method=False, out=True)
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along a dim: sum over j of x_j exp(-2 pi i j k / n).

    n: the input is cut off or continued with zeros to this size. norm: 'backward' (no factor),
    'ortho' (1 / sqrt n) or 'forward' (1 / n). Real inputs give the full spectrum too.

    Raises:
        IndexError: if dim is out of range.
        RuntimeError: if n is not positive; for another norm.

    >>> import tensorplay as tp
    >>> tp.fft.fft(tp.tensor([1., 0., 0., 0.])).real
    tensor([1., 1., 1., 1.])
    """
    return _transform("fft.fft", input, _one_dim("fft.fft", input, n, dim), norm, True)


@public(namespace="fft", method=False, out=True)
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`; norm: 'backward' (1 / n), 'ortho' (1 / sqrt n) or 'forward' (none)."""
    return _transform("fft.ifft", input, _one_dim("fft.ifft", input, n, dim), norm, False)


@public(namespace="fft", method=False, out=True)
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of a real input without the negative frequencies: n // 2 + 1 values.

    Raises:
        RuntimeError: for a complex input; if n is not positive; for an unknown norm.
    """
    return _half_spectrum("fft.rfft", input, _one_dim("fft.rfft", input, n, dim), norm, True)


@public(namespace="fft", method=False, out=True)
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: n real values, by default 2 * (size - 1).

    Imaginary parts of the zero frequency, and for an even n of the last one, are ignored.
    """
    return _from_half("fft.irfft", input, _one_dim("fft.irfft", input, None, dim), n, norm, False)


@public(namespace="fft", method=False, out=True)
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of a signal that is Hermitian in time, given by its first half: n real values."""
    return _from_half("fft.hfft", input, _one_dim("fft.hfft", input, None, dim), n, norm, True)


@public(namespace="fft", method=False, out=True)
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: half of `ifft` of a real input, n // 2 + 1 values."""
    return _half_spectrum("fft.ihfft", input, _one_dim("fft.ihfft", input, n, dim), norm, False)


# --- several dims ---------------------------------------------------------------------------------


@public(namespace="fft", method=False, out=True)
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along several dims, by default all.

    s: sizes of those dims (-1: as they are), to which the input is cut off or continued with zeros;
    without dim, of the last dims. norm as for `fft`, with n the product of the sizes.

    Raises:
        IndexError: if a dim is out of range.
        RuntimeError: if dims repeat, s does not fit, or a size is not positive.
    """
    return _transform("fft.fftn", input, _many_dims("fft.fftn", input, s, dim), norm, True)


@public(namespace="fft", method=False, out=True)
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`."""
    return _transform("fft.ifftn", input, _many_dims("fft.ifftn", input, s, dim), norm, False)


def _rfftn(name: str, x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    return _half_spectrum(name, x, _many_dims(name, x, s, dim, least=1), norm, True)


def _irfftn(name: str, x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    plan = _many_dims(name, x, s, dim, least=1)
    if _last_size(s) is not None:
        plan = plan[0], [*plan[1][:-1], x.shape[plan[0][-1]]]
    return _from_half(name, x, plan, _last_size(s), norm, False)


def _hfftn(name: str, x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    # Only the last dim is Hermitian; in the others this is a plain forward transform.
    dims, sizes = _many_dims(name, x, s, dim, least=1)
    x = _as_complex(_resized(name, x, dims[:-1], sizes[:-1]))
    if len(dims) > 1:
        x = complex_op(x, dims[:-1], _scale(name, norm, True), True)
    last = (dims[-1],), [x.shape[dims[-1]]]
    return _from_half(name, x, last, _last_size(s), norm, True)


def _ihfftn(name: str, x: Any, s: Any, dim: Any, norm: Any) -> Tensor:
    dims, sizes = _many_dims(name, x, s, dim, least=1)
    x = _resized(name, x, dims, sizes)
    half = _half_spectrum(name, x, ((dims[-1],), sizes[-1:]), norm, False)
    if len(dims) == 1:
        return half
    return complex_op(half, dims[:-1], _scale(name, norm, False), False)


@public(namespace="fft", method=False, out=True)
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """`fftn` of a real input without the negative frequencies of the last dim.

    Raises:
        RuntimeError: for a complex input; for dims and sizes that do not fit.
    """
    return _rfftn("fft.rfftn", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`; s holds the sizes of the real result."""
    return _irfftn("fft.irfftn", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """`fftn` of a signal that is Hermitian in the last dim, given by its first half there."""
    return _hfftn("fft.hfftn", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`: half of `ifftn` of a real input."""
    return _ihfftn("fft.ihfftn", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` along two dims."""
    return _transform("fft.fft2", input, _many_dims("fft.fft2", input, s, dim), norm, True)


@public(namespace="fft", method=False, out=True)
def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` along two dims."""
    return _transform("fft.ifft2", input, _many_dims("fft.ifft2", input, s, dim), norm, False)


@public(namespace="fft", method=False, out=True)
def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` along two dims."""
    return _rfftn("fft.rfft2", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` along two dims."""
    return _irfftn("fft.irfft2", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` along two dims."""
    return _hfftn("fft.hfft2", input, s, dim, norm)


@public(namespace="fft", method=False, out=True)
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` along two dims."""
    return _ihfftn("fft.ihfft2", input, s, dim, norm)


# --- frequencies and their order ------------------------------------------------------------------


def _frequencies(
    name: str, values: Any, dtype: Any, layout: Any, device: Any, grad: bool, out: Any
) -> Tensor:
    check_placement(name, device, layout)
    target = target_dtype(dtype, out, dtypes.get_default_dtype(), name)
    return finished(values.astype(target.numpy), name, grad, out)


@public(namespace="fft", method=False)
def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the n values of `fft`, for samples at a distance d.

    >>> import tensorplay as tp
    >>> tp.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    values = np.fft.fftfreq(n, d)
    return _frequencies("fft.fftfreq", values, dtype, layout, device, requires_grad, out)


@public(namespace="fft", method=False)
def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the n // 2 + 1 values of `rfft`, for samples at a distance d."""
    values = np.fft.rfftfreq(n, d)
    return _frequencies("fft.rfftfreq", values, dtype, layout, device, requires_grad, out)


def _shift_dims(x: Any, dim: Any) -> Dims:
    if dim is None:
        return tuple(range(x.ndim))
    return (dim,) if isinstance(dim, int) else tuple(dim)


@public(namespace="fft", method=False)
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The spectrum with the zero frequency moved to the middle of the dims (by default of all)."""
    dims = _shift_dims(input, dim)
    return roll(input, tuple(input.shape[d] // 2 for d in dims), dims)


@public(namespace="fft", method=False)
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    dims = _shift_dims(input, dim)
    return roll(input, tuple((input.shape[d] + 1) // 2 for d in dims), dims)
