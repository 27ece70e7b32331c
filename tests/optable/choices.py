"""Rows of choices between values: where, maximum and minimum, clamp, heaviside."""

import numpy as np

from tests.optable.pointwise import binary
from tests.optable.schema import Op, register, sample

INF, NAN = float("inf"), float("nan")

# --- choices --------------------------------------------------------------------------------------

register(
    binary(
        "maximum", np.maximum, complex=False, inplace=False, primitives=("maximum", "larger_share")
    ),
    binary(
        "minimum", np.minimum, complex=False, inplace=False, primitives=("minimum", "larger_share")
    ),
    binary("fmax", np.fmax, complex=False, inplace=False),
    binary("fmin", np.fmin, complex=False, inplace=False),
    Op(
        "maximum:ties",
        lambda make: [sample(make.fixed([1.0, 2.0, NAN, 1.0]), make.fixed([1.0, 3.0, 1.0, NAN]))],
        primitives=("maximum", "larger_share"),
        reference=np.maximum,
        nonsmooth=True,
        out=True,
        skip={"parity_jvp": "PyTorch's forward and reverse rules differ where an input is nan"},
    ),
    Op(
        "minimum:ties",
        lambda make: [sample(make.fixed([1.0, 2.0, NAN, 1.0]), make.fixed([1.0, 3.0, 1.0, NAN]))],
        primitives=("minimum", "larger_share"),
        reference=np.minimum,
        nonsmooth=True,
        out=True,
        skip={"parity_jvp": "PyTorch's forward and reverse rules differ where an input is nan"},
    ),
    Op(
        "fmax:ties",
        lambda make: [sample(make.fixed([1.0, 2.0, NAN, 1.0]), make.fixed([1.0, 3.0, 1.0, NAN]))],
        primitives=("fmax",),
        reference=np.fmax,
        nonsmooth=True,
        out=True,
        skip={"parity_jvp": "PyTorch's forward and reverse rules differ at a tie"},
    ),
    Op(
        "fmin:ties",
        lambda make: [sample(make.fixed([1.0, 2.0, NAN, 1.0]), make.fixed([1.0, 3.0, 1.0, NAN]))],
        primitives=("fmin",),
        reference=np.fmin,
        nonsmooth=True,
        out=True,
    ),
    Op(
        "clamp",
        lambda make: [
            sample(make(3, 4), -0.8, 0.9),
            sample(make(3, 4), min=-0.8),
            sample(make(3, 4), max=0.9),
            sample(make(3, 4), 0.8, -0.9),
            sample(make(3, 4), make(4), make(3, 1)),
            sample(make(0, 3), 0, 1),
        ],
        primitives=("clamp", "clamp_backward", "clamp_min", "clamp_max"),
        reference=lambda x, min=None, max=None: np.minimum(
            np.maximum(x, -INF if min is None else min), INF if max is None else max
        ),
        inplace=True,
        out=True,
    ),
    Op(
        "clamp:bounds",
        lambda make: [
            sample(make.fixed([-1.0, -0.5, 0.5, 1.0, NAN]), -0.5, 0.5),
            sample(make.fixed([-1.0, -0.5, 0.5]), min=make.fixed([-0.5, -0.5, -0.5])),
        ],
        primitives=("clamp", "clamp_min"),
        reference=lambda x, min=None, max=INF: np.minimum(np.maximum(x, min), max),
        nonsmooth=True,
        skip={"parity_jvp": "PyTorch's forward and reverse rules differ at a tensor bound"},
    ),
    Op(
        "clamp:equal bounds",
        lambda make: [sample(make.fixed([-1.0, 0.0, 2.0]), *[make.fixed([0.5] * 3)] * 2)],
        primitives=("clamp_min", "clamp_max"),
        reference=lambda x, min, max: np.minimum(np.maximum(x, min), max),
        nonsmooth=True,
        skip=dict.fromkeys(
            ("parity_grad", "parity_gradgrad", "parity_jvp"),
            "PyTorch gives neither bound the gradient where both are the result",
        ),
    ),
    Op(
        "clamp:integers",
        lambda make: [sample(make.int((3, 4)), -1, 3), sample(make.int(5), min=0.5)],
        primitives=("clamp_min", "clamp_max"),
        reference=lambda x, min, max=INF: np.minimum(np.maximum(x, min), max),
    ),
    binary("clamp_min", np.maximum, complex=False, torch=None),
    binary("clamp_max", np.minimum, complex=False, torch=None),
    Op(
        "where",
        lambda make: [
            sample(make.bool((3, 4)), make(3, 4), make(3, 4)),
            sample(make.bool((3, 1)), make(4), make(2, 1, 1)),
            sample(make.bool(4), make(4), 2.0),
            sample(make.bool(4), 0, make(3, 4)),
            sample(make.bool((0, 3)), make(3), make()),
        ],
        primitives=("where", "keep", "drop"),
        reference=np.where,
        complex=True,
        out=True,
        method=False,
    ),
    Op(
        "nan_to_num",
        lambda make: [sample(make(3, 4)), sample(make(0, 3))],
        primitives=("nan_to_num", "keep"),
        reference=np.nan_to_num,
        complex=True,
        inplace=True,
        out=True,
        skip={"parity_grad": "PyTorch has no derivative for complex dtypes"},
    ),
    Op(
        "nan_to_num:replaced",
        lambda make: [
            sample(make.fixed([NAN, INF, -INF, 1.0]), 2.0, 3.0, -4.0),
            sample(make.fixed([NAN, INF, -INF, 1.0]), posinf=3.0),
        ],
        primitives=("nan_to_num",),
        nonsmooth=True,
        inplace=True,
        out=True,
        reference=lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(
            x, nan=nan, posinf=posinf, neginf=neginf
        ),
        skip={"float32": "the largest finite number depends on the dtype"},
    ),
    Op(
        "heaviside",
        lambda make: [
            sample(make(3, 4), make(4)),
            sample(make.constant([0.0, -1.0, 0.0, 2.0]), make(4)),
        ],
        primitives=("heaviside", "keep"),
        reference=np.heaviside,
        inplace=True,
        out=True,
        skip={
            "parity_grad": "PyTorch has no derivative of heaviside",
            "parity_gradgrad": "PyTorch has no derivative of heaviside",
            "parity_jvp": "PyTorch has no derivative of heaviside",
        },
    ),
)

# Arrays that are large enough for the kernels without branches.
register(
    Op(
        "where:large",
        lambda make: [
            sample(make.bool((60, 50)), make(60, 50), make(60, 50)),
            sample(make.bool((60, 50)), make(50), make(60, 1)),
            sample(make.bool((50,)), make(60, 50), 2.0),
        ],
        primitives=("where", "keep", "drop"),
        reference=np.where,
        complex=True,
        method=False,
    ),
    Op(
        "maximum:large",
        lambda make: [sample(make(60, 50), make(50))],
        primitives=("maximum", "larger_share"),
        reference=np.maximum,
        nonsmooth=True,
    ),
    Op(
        "clamp:large",
        lambda make: [sample(make(60, 50), -0.5, 0.8)],
        primitives=("clamp", "clamp_backward"),
        reference=lambda x, a, b: np.clip(x, a, b),
        nonsmooth=True,
    ),
)
