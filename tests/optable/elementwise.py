"""Rows of the elementwise operators."""

import numpy as np

from tests.optable.schema import Op, register, sample

register(
    Op(
        "exp",
        lambda make: [sample(make(3, 4)), sample(make()), sample(make(0, 3))],
        primitives=("exp",),
        reference=np.exp,
        complex=True,
        inplace=True,
        out=True,
    ),
)
