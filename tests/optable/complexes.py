"""Rows of complex numbers: parts, conjugates, angles, numbers made from parts."""

import numpy as np

from tensorplay.ops.complexes import view_as_real
from tests.optable.schema import Op, register, sample

ZERO = "PyTorch gives nan at 0, here the derivatives are 0"


def _some(make):
    return [sample(make(3, 4)), sample(make()), sample(make(0, 3))]


FACTOR = 1 + 2j  # makes a real sample complex, so that the row is tested in both

HALVES = {"parity_dtype": "there is no complex dtype of two halves here, as in NumPy"}


def _turned(name, function, *primitives, reference, **options):
    """A function of a complex argument as a function of a tensor of any dtype."""
    return Op(
        name, _some, primitives=primitives, function=lambda x: function(x * FACTOR), torch=None,
        reference=lambda x: reference(x * FACTOR), complex=True, method=False, **options,
    )  # fmt: skip


register(
    Op("conj", _some, reference=np.conj, complex=True),
    Op("conj_physical", _some, reference=np.conj, complex=True, inplace=True, out=True),
    Op("resolve_conj", _some, reference=np.array, complex=True),
    Op("resolve_neg", _some, reference=np.array, complex=True),
    Op("real", _some, reference=np.real, complex=True, method=False),
    Op("angle", _some, primitives=("angle",), reference=np.angle, complex=True, out=True),
    Op(
        "angle:zero", lambda make: [sample(make.fixed([0.0, 1.0, -1.0]))], primitives=("angle",),
        reference=np.angle, complex=True, nonsmooth=True, skip={"parity_gradgrad": ZERO},
    ),
    Op("adjoint", lambda make: [sample(make(3, 4)), sample(make(2, 1, 3))], complex=True,
       primitives=("permute",), reference=lambda x: np.conj(np.swapaxes(x, -1, -2))),
    _turned("conj:of complex", lambda x: x.conj(), "conj", reference=np.conj),
    _turned("real:of complex", lambda x: x.real, "real", reference=np.real),
    _turned("imag:of complex", lambda x: x.imag, "imag", "from_imag", reference=np.imag),
    _turned("angle:of complex", lambda x: x.angle(), "atan2", "real", "imag", reference=np.angle),
    _turned("abs:of complex", lambda x: x.abs(), "abs", "sgn", reference=np.abs),
    _turned("sgn:of complex", lambda x: x.sgn(), "sgn", reference=lambda x: x / np.abs(x)),
    _turned(
        "view_as_real", view_as_real, "view_as_real", "view_as_complex",
        reference=lambda x: np.stack([x.real, x.imag], -1),
    ),
    Op(
        "view_as_complex", lambda make: [sample(make.real(3, 2)), sample(make.real(2))],
        primitives=("view_as_complex", "view_as_real"), method=False,
        reference=lambda x: x[..., 0] + 1j * x[..., 1],
        skip={**HALVES, "layout": "the real and imaginary parts must be neighbours in memory"},
    ),
    Op(
        "complex",
        lambda make: [
            sample(make.real(3, 4), make.real(3, 4)), sample(make.real(3, 1), make.real(4)),
            sample(make.real(0, 3), make.real(3)),
        ],
        primitives=("complex",), reference=lambda x, y: x + 1j * y, method=False, out=True,
        skip=HALVES,
    ),
    Op(
        "polar:zero",
        lambda make: [sample(make.fixed([0.0, 1.0]), make.fixed([0.5, 0.0]))],
        primitives=("complex",), method=False,
        skip=HALVES | {"parity_gradgrad": "PyTorch takes the mixed derivative at 0 for 0"},
    ),
    Op(
        "polar",
        lambda make: [
            sample(make.positive(3, 4), make.real(4)), sample(make.positive(3, 1), make.real(4))
        ],
        primitives=("complex",), reference=lambda r, t: r * np.exp(1j * t), method=False, out=True,
        skip=HALVES,
    ),
)  # fmt: skip
