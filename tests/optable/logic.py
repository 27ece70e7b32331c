"""Rows of comparisons, logic, bits and tests of single elements."""

import numpy as np

from tensorplay.base import dtypes
from tests.optable.schema import Op, register, sample

INF, NAN = float("inf"), float("nan")


def _compared(make):
    return [
        sample(make(3, 4), make(3, 4)),
        sample(make(3, 1), make(2, 1, 4)),
        sample(make.fixed([1.0, 2.0, NAN, INF]), make.fixed([1.0, 3.0, NAN, INF])),
        sample(make.int((3, 4)), make.int(4)),
        sample(make.bool((3, 4)), make.bool(4)),
        sample(make(3, 4), 0.5),
        sample(make.int((3, 4)), 0.5),
        sample(make(0, 3), make(3)),
        sample(make(), make()),
    ]


def _comparison(name, reference, complex=False):
    return Op(
        name, _compared, primitives=(name,), reference=reference, complex=complex, out=True,
        inplace=True,
    )  # fmt: skip


register(
    _comparison("eq", np.equal, True),
    _comparison("ne", np.not_equal, True),
    _comparison("lt", np.less),
    _comparison("le", np.less_equal),
    _comparison("gt", np.greater),
    _comparison("ge", np.greater_equal),
    Op(
        "isclose",
        lambda make: [
            sample(make.fixed([1.0, 2.0, NAN, INF]), make.fixed([1.0 + 1e-9, 2.1, NAN, INF])),
            sample(make.fixed([1.0, NAN]), make.fixed([1.1, NAN]), rtol=0.2, equal_nan=True),
            sample(make(3, 4), make(4), atol=1.0),
            sample(make.int((3, 4)), make.int(4), atol=1.0),
        ],
        primitives=("isclose",), complex=True,
        reference=lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(
            x, y, rtol, atol, equal_nan
        ),
        skip={
            "float32": "the tolerance is finer than float32",
            "parity_dtype": "PyTorch rounds the distance to half precision before it compares",
        },
    ),
)  # fmt: skip

# --- logic ----------------------------------------------------------------------------------------


def _truths(make):
    return [
        sample(make.bool((3, 4)), make.bool(4)),
        sample(make.int((3, 4), -1, 2), make.int((3, 1), -1, 2)),
        sample(make.fixed([0.0, 1.0, NAN, 0.0]), make.fixed([0.0, 0.0, 1.0, -2.0])),
        sample(make.bool((0, 3)), make.bool(3)),
    ]


register(
    *[
        Op(
            name, _truths, primitives=(name,), reference=getattr(np, name), complex=True, out=True,
            inplace=True,
        )
        for name in ("logical_and", "logical_or", "logical_xor")
    ],
    Op(
        "logical_not",
        lambda make: [
            sample(make.bool((3, 4))), sample(make.int((3, 4), -1, 2)),
            sample(make.fixed([0.0, 1.0, NAN])),
        ],
        primitives=("logical_not",), reference=np.logical_not, complex=True, out=True,
        inplace=True,
    ),
)  # fmt: skip

# --- bits -----------------------------------------------------------------------------------------


def _bits(make):
    return [
        sample(make.int((3, 4)), make.int(4)),
        sample(make.bool((3, 4)), make.bool(4)),
        sample(make.int((3, 4), 0, 9, dtypes.uint8), make.int(4, 0, 9, dtypes.int32)),
        sample(make.int((3, 4)), 3),
        sample(make.int((0, 3)), make.int(3)),
    ]


register(
    *[
        Op(name, _bits, primitives=(name,), reference=getattr(np, name), out=True, inplace=True)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ],
    Op(
        "bitwise_not",
        lambda make: [sample(make.int((3, 4))), sample(make.bool(4))],
        primitives=("bitwise_not",),
        reference=np.invert,
        out=True,
        inplace=True,
    ),
    *[
        Op(
            name,
            lambda make: [
                sample(make.int((3, 4), -99, 99), make.int(4, 0, 6)),
                sample(make.int((3, 4), -99, 99), 2),
                sample(make.int((3, 4), 0, 99, dtypes.uint8), make.int(4, 0, 6, dtypes.uint8)),
            ],
            primitives=(name,),
            reference=getattr(np, name[8:]),
            out=True,
            inplace=True,
        )
        for name in ("bitwise_left_shift", "bitwise_right_shift")
    ],
    Op(
        "bitwise_left_shift:beyond",
        primitives=("bitwise_left_shift",),
        samples=lambda make: [sample(make.int(3, 1, 9), make.fixed([64, -1, 70]).long())],
        reference=lambda x, y: np.zeros_like(x),
    ),
    Op(
        "bitwise_right_shift:beyond",
        primitives=("bitwise_right_shift",),
        samples=lambda make: [sample(make.int(3, -9, 9), make.fixed([64, -1, 70]).long())],
        reference=lambda x, y: np.where(x < 0, -1, 0),
    ),
)

# --- tests of single elements ---------------------------------------------------------------------


def _elements(make):
    return [
        sample(make.fixed([0.0, NAN, INF, -INF, -2.0])),
        sample(make.int((3, 4))),
        sample(make(3, 4)),
        sample(make.bool(3)),
        sample(make(0, 3)),
    ]


register(
    *[
        Op(
            name, _elements, primitives=(name,), reference=getattr(np, name),
            complex=name in ("isnan", "isinf", "isfinite"), out=True,
        )
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf")
    ],
    Op(
        "isreal", lambda make: [sample(make(3, 4)), sample(make.fixed([0.0, 1.0])),
                                sample(make.int(3))],
        primitives=("isreal",), reference=np.isreal, complex=True,
    ),
)  # fmt: skip
