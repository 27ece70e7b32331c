"""Rows of Fourier transforms."""

import numpy as np

import tensorplay as tp
from tests.optable.schema import Op, register, sample


def _numpy(name):
    function = getattr(np.fft, name)

    def reference(x, n=None, dim=-1, norm=None):
        return function(x, n, dim, norm)

    return reference


def _numpy_many(name, default=None):
    function = getattr(np.fft, name)

    def reference(x, s=None, dim=default, norm=None):
        axes = dim
        if s is not None and dim is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return function(x, s, axes, norm)

    return reference


def _one_dim(make):
    return [
        sample(make(5)), sample(make(2, 4)), sample(make(4, 3), dim=0),
        sample(make(2, 4), 6), sample(make(2, 4), n=3), sample(make(2, 5), n=7, dim=-1),
        *[sample(make(2, 4), norm=norm) for norm in ("backward", "ortho", "forward")],
        *[sample(make(2, 5), norm=norm) for norm in ("ortho", "forward")],
        sample(make(1, 2)),
    ]  # fmt: skip


def _many(make):
    return [
        sample(make(3, 4)), sample(make(2, 3, 4), dim=(0, 2)), sample(make(2, 4, 3), s=(5, 2)),
        sample(make(2, 3, 5), s=(3, 4), dim=(2, 1)), sample(make(4, 5), norm="ortho"),
        sample(make(4, 4), norm="forward"), sample(make(3, 4), dim=(0,)),
        sample(make(3, 4), s=(-1, 6)),
    ]  # fmt: skip


def _two(make):
    return [
        sample(make(3, 4)), sample(make(2, 3, 4)), sample(make(2, 4, 3), s=(5, 2)),
        sample(make(2, 3, 5), s=(3, 4), dim=(2, 0)), sample(make(4, 5), norm="ortho"),
        sample(make(4, 4), norm="forward"),
    ]  # fmt: skip


def _one(name, **options):
    return Op(f"fft.{name}", _one_dim, reference=_numpy(name), out=True, **options)


register(
    _one("fft", primitives=("fft_c2c", "fft_r2c"), complex=True),
    _one("ifft", complex=True),
    _one("rfft", primitives=("fft_r2c",)),
    _one("irfft", primitives=("fft_c2r",), complex=True),
    _one("hfft", complex=True),
    _one("ihfft"),
)

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _hermitian = "hfft" in _name
    _complex = _name not in ("rfft", "ihfft")
    register(
        Op(
            f"fft.{_name}n", _many, complex=_complex, out=True,
            reference=None if _hermitian or "i" in _name else _numpy_many(f"{_name}n"),
        ),
        Op(
            f"fft.{_name}2", _two, complex=_complex, out=True,
            reference=None if _hermitian else _numpy_many(f"{_name}2", (-2, -1)),
        ),
        Op(  # PyTorch's library refuses empty inputs
            f"fft.{_name}n:empty", lambda make: [sample(make(0, 3, 4), dim=(1, 2))], torch=None,
            complex=_complex,
        ),
    )  # fmt: skip

register(
    Op(
        "fft.fftshift",
        lambda make: [
            sample(make(4)), sample(make(5)), sample(make(3, 4)), sample(make(3, 4), dim=1),
            sample(make(3, 4), dim=(0, 1)),
        ],
        complex=True, reference=lambda x, dim=None: np.fft.fftshift(x, dim),
    ),
    Op(
        "fft.ifftshift",
        lambda make: [sample(make(5)), sample(make(3, 4)), sample(make(3, 5), dim=1)],
        complex=True, reference=lambda x, dim=None: np.fft.ifftshift(x, dim),
    ),
    Op(
        "fft.fftfreq", lambda make: [sample(5), sample(4, 0.5), sample(4, dtype=tp.float64)],
        vmap=False, float32=False,
    ),
    Op(
        "fft.rfftfreq", lambda make: [sample(5), sample(4, 0.5), sample(4, dtype=tp.float64)],
        vmap=False, float32=False,
    ),
)  # fmt: skip


def _windowed(make, shape, *args, **options):
    return sample(make(*shape), *args, window=make.real(4, low=0.5, high=1.0), **options)


def _istft_samples(make):
    spectrum = make(3, 6)
    return [
        _windowed(make, (3, 6), 4, 1), _windowed(make, (2, 3, 6), 4, 2),
        _windowed(make, (3, 6), 4, 2, center=False), _windowed(make, (3, 6), 4, 1, length=5),
        _windowed(make, (3, 6), 4, 1, normalized=True),
        sample(make(4, 6), 6, 2, 4, make.real(4, low=0.5, high=1.0)),
        _windowed(make, (4, 6), 4, 1, onesided=False),
        _windowed(make, (4, 6), 4, 1, onesided=False, return_complex=True),
        sample(spectrum, 4, 1),
    ]  # fmt: skip


register(
    Op(
        "stft",
        lambda make: [
            _windowed(make, (12,), 4, return_complex=True),
            _windowed(make, (2, 12), 4, 2, return_complex=True),
            _windowed(make, (12,), 4, 3, center=False, return_complex=True),
            _windowed(make, (12,), 6, 2, 4, normalized=True, return_complex=True),
            _windowed(make, (12,), 4, onesided=False, pad_mode="constant", return_complex=True),
            _windowed(make, (12,), 6, 2, 4, center=False, align_to_window=True,
                      return_complex=True),
            sample(make(12), 5, return_complex=True), sample(make(12), 5, return_complex=False),
            sample(make(12), 6, 2, 4, return_complex=True),
        ],
    ),
    Op(
        "stft:complex",
        lambda make: [sample(make(12), 5), _windowed(make, (2, 12), 4, 2, onesided=False)],
        function=lambda x, *args, **options: tp.stft(
            x if x.dtype.is_complex else x + 0j, *args, **options
        ),
        complex=True,
    ),
    Op(
        "istft", _istft_samples, complex=True, torch="istft",
        function=lambda x, *args, **options: tp.istft(x + 0j, *args, **options),
        skip=dict.fromkeys(
            ("parity_value", "parity_grad", "parity_gradgrad", "parity_jvp", "parity_vmap",
             "parity_dtype"),
            "PyTorch takes complex inputs only; the row below compares",
        ),
    ),
    Op(
        "istft:complex", lambda make: _istft_samples(make) if make.dtype.is_complex else [],
        complex=True, skip={"parity_dtype": "samples are complex only"},
    ),
)  # fmt: skip


def _numpy_window(function, *parameters):
    def reference(length, periodic=True, dtype=None):
        if length == 1:
            return np.ones(1)
        return function(length + 1, *parameters)[:-1] if periodic else function(length, *parameters)

    return reference


for _name, _function, *_parameters in (
    ("hann", np.hanning), ("hamming", np.hamming), ("blackman", np.blackman),
    ("bartlett", np.bartlett), ("kaiser", np.kaiser, 12.0),
):  # fmt: skip
    register(
        Op(
            f"{_name}_window",
            lambda make: [
                sample(6, dtype=tp.float64), sample(5, False, dtype=tp.float64),
                sample(1, dtype=tp.float64),
            ],
            reference=_numpy_window(_function, *_parameters), vmap=False, float32=False,
        )
    )  # fmt: skip
