"""The logistic function, softplus and the rectifier; their backward passes are fused operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay.ops.arithmetic import conjugate
from tensorplay.ops.choices import drop
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import elementwise, publish
from tensorplay.ops.powers import square


def _logistic(x: np.ndarray) -> Any:
    return np.reciprocal(1 + np.exp(-x))


sigmoid = elementwise(
    "sigmoid", typed("sigmoid", _logistic, "fc"),
    vjp=lambda g, out: sigmoid_backward(g, conjugate(out)), loop="sigmoid",
    doc="The logistic function 1 / (1 + exp(-x)).",
)  # fmt: skip
sigmoid_backward = elementwise(
    "sigmoid_backward",
    lambda u, y: u * (y * (1 - y)),
    lambda y: y * (1 - y),
    lambda u, y: u * (1 - 2 * y),
    inputs=("u", "y"), loop="sigmoid_backward",
)  # fmt: skip


def _rectify(x: np.ndarray) -> Any:
    return np.where(x <= 0, np.zeros((), x.dtype), x)


relu = elementwise(
    "relu", typed("relu", _rectify, "if", widen=False),
    vjp=lambda g, out: relu_backward(g, out), promote="same", loop="relu",
    doc="max(x, 0), element by element. The derivative at 0 is 0, as in PyTorch.",
)  # fmt: skip
relu_backward = elementwise(
    "relu_backward",
    lambda u, y: np.where(y <= 0, np.zeros((), u.dtype), u),
    vjp=(lambda g, y: relu_backward(g, y), None),
    inputs=("u", "y"), loop="relu_backward", promote="same", node_name="ThresholdBackward0",
)  # fmt: skip


def _softplus(x: np.ndarray) -> Any:
    return np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, 20)))).astype(x.dtype, copy=False)


def _softplus_backward(u: np.ndarray, x: np.ndarray) -> Any:
    return np.where(x > 20, u, u * _logistic(x)).astype(u.dtype, copy=False)


# log(1 + exp(x)), and x itself above 20, as in PyTorch.
softplus_unit = elementwise(
    "softplus", typed("softplus", _softplus, "f"), vjp=lambda g, x: softplus_backward(g, x),
    loop="softplus",
)  # fmt: skip
softplus_backward = elementwise(
    "softplus_backward",
    typed("softplus_backward", _softplus_backward, "f"),
    vjp=(
        lambda g, x: softplus_backward(g, x),
        lambda g, u, x: drop(g * u * (lambda y: y - square(y))(sigmoid(x)), x > 20),
    ),
    inputs=("u", "x"), loop="softplus_backward",
)  # fmt: skip

for _primitive in (sigmoid, relu):
    publish(_primitive, _primitive.name, inplace=True)
