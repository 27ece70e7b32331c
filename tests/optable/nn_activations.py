"""Rows of the activation functions, softmax and its relatives."""

import numpy as np
import scipy.special as sp

from tests.optable.schema import Op, register, sample

F = "nn.functional."


def _plain(make):
    """A function of one tensor: shapes, and values far from 0."""
    return [
        sample(make(3, 4)),
        sample(make(2, 5, low=-30, high=30)),
        sample(make()),
        sample(make(0, 3)),
    ]


def _with(*calls):
    """The plain samples, and one with each of some keyword arguments."""

    def samples(make):
        return [*_plain(make), *[sample(make(3, 4, low=-4, high=4), **call) for call in calls]]

    return samples


def _elementwise(name, reference, *calls, primitives, **options):
    register(Op(F + name, _with(*calls), primitives=primitives, reference=reference, **options))


def _phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def _softplus(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.log1p(np.exp(np.minimum(x * beta, 50))) / beta)


def _gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * sp.ndtr(x)


def _elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


_elementwise(
    "gelu", _gelu, {"approximate": "tanh"},
    primitives=("gelu", "gelu_backward", "gelu_tanh", "gelu_tanh_backward"),
)  # fmt: skip
_elementwise("silu", lambda x: x * sp.expit(x), primitives=("silu", "silu_backward"))
_elementwise("mish", lambda x: x * np.tanh(_softplus(x)), primitives=("mish",))
_elementwise(
    "softplus", _softplus, {"beta": 2.0}, {"beta": 0.5, "threshold": 1.0},
    primitives=("softplus_scaled", "softplus_scaled_backward"),
)  # fmt: skip
_elementwise("logsigmoid", sp.log_expit, primitives=("log_sigmoid", "log_sigmoid_backward"))
_elementwise("softsign", lambda x: x / (1 + np.abs(x)), primitives=(), complex=True)
_elementwise("tanhshrink", lambda x: x - np.tanh(x), primitives=())
_elementwise("elu", _elu, {"alpha": 0.5}, primitives=("elu", "elu_backward"))
_elementwise("leaky_relu", lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
             {"negative_slope": 0.3}, primitives=("leaky_relu", "slopes"))  # fmt: skip
_elementwise("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, primitives=("hardsigmoid",))
_elementwise(
    "hardswish",
    lambda x: x * np.clip(x + 3, 0, 6) / 6,
    primitives=("hardswish", "hardswish_backward"),
)
_elementwise("relu6", lambda x: np.clip(x, 0, 6), primitives=("hardtanh",))
_elementwise("hardtanh", lambda x, min_val=-1, max_val=1: np.clip(x, min_val, max_val),
             {"min_val": -0.3, "max_val": 2.1}, primitives=("hardtanh",))  # fmt: skip
_elementwise(
    "softshrink",
    lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x - np.sign(x) * lambd, 0),
    {"lambd": 1.2}, primitives=("softshrink",),
)  # fmt: skip
_elementwise(
    "hardshrink", lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0),
    {"lambd": 1.2}, primitives=("hardshrink",),
)  # fmt: skip
_elementwise("relu", lambda x: np.maximum(x, 0), primitives=())
_elementwise("sigmoid", lambda x: 1 / (1 + np.exp(-x)), primitives=(), torch="sigmoid",
             complex=True)  # fmt: skip
_elementwise("tanh", np.tanh, primitives=(), torch="tanh", complex=True)
_elementwise("selu", None, primitives=("elu",))
_elementwise("celu", None, {"alpha": 0.7}, primitives=("elu",))

register(
    Op(
        F + "threshold",
        lambda make: [sample(make(3, 4), 0.3, 1.7), sample(make(), 0.0, 0.0)],
        primitives=("threshold",),
        reference=lambda x, threshold, value: np.where(x > threshold, x, value),
    ),
    Op(
        F + "prelu",
        lambda make: [
            sample(make(2, 3, 4), make(3)),
            sample(make(2, 3), make(1)),
            sample(make(4), make(1)),
            sample(make(), make()),
            sample(make(0, 3), make(3)),
        ],
        primitives=("prelu",),
    ),
    Op(
        F + "glu",
        lambda make: [sample(make(3, 4)), sample(make(4, 3), 0), sample(make(2, 0))],
    ),
    Op(
        F + "rrelu",
        lambda make: [sample(make(3, 4), training=True), sample(make(3, 4), 0.2, 0.4, True)],
        random=True,
    ),
    Op(F + "rrelu:evaluation", lambda make: [sample(make(3, 4)), sample(make())]),
    Op(
        F + "gumbel_softmax",
        lambda make: [sample(make(3, 4)), sample(make(3, 4), tau=0.5, dim=0)],
        random=True,
    ),
    Op(F + "relu:at its corner", lambda make: [sample(make.fixed([-1.0, 0.0, 1.0]))],
       nonsmooth=True),
    Op(F + "prelu:at its corner",
       lambda make: [sample(make.fixed([-1.0, 0.0, 1.0]), make.fixed([0.3]))], nonsmooth=True,
       skip=dict.fromkeys(("parity_jvp", "parity_gradgrad"),
                          "PyTorch's rules differ in what they take for the derivative at 0")),
    Op(F + "hardtanh:at its corners", lambda make: [sample(make.fixed([-1.0, 0.0, 1.0]))],
       nonsmooth=True),
    Op(F + "hardswish:at its corners", lambda make: [sample(make.fixed([-3.0, 0.0, 3.0]))],
       nonsmooth=True),
    Op(F + "leaky_relu:at its corner", lambda make: [sample(make.fixed([-1.0, 0.0, 1.0]))],
       nonsmooth=True),
    Op(F + "elu:at its corner", lambda make: [sample(make.fixed([-1.0, 0.0, 1.0]), 0.5)],
       nonsmooth=True,
       skip={"parity_gradgrad": "a second derivative where the first has a step"}),
)  # fmt: skip

# --- fused backward formulas ----------------------------------------------------------------------

register(
    Op("gelu_backward", lambda make: [sample(make(3, 4), make(3, 4)), sample(make(3), make(2, 3))],
       primitives=("gelu_backward",), torch=None,
       reference=lambda u, x: u * (sp.ndtr(x) + x * _phi(x))),
    Op("gelu_tanh_backward", lambda make: [sample(make(3, 4), make(3, 4))],
       primitives=("gelu_tanh_backward",), torch=None),
    Op("silu_backward", lambda make: [sample(make(3, 4), make(3, 4))],
       primitives=("silu_backward",), torch=None,
       reference=lambda u, x: u * sp.expit(x) * (1 + x * (1 - sp.expit(x)))),
)  # fmt: skip


# --- softmax --------------------------------------------------------------------------------------


def _soft(make):
    return [
        sample(make(3, 4), 1),
        sample(make(3, 4), 0),
        sample(make(2, 3, 4, low=-40, high=40), -2),
        sample(make(), 0),
        sample(make(0, 3), 1),
        sample(make(3, 0), 1),
        sample(make(2, 1), 1),
    ]


_COMPLEX = {"parity_dtype": "PyTorch takes complex numbers along some dims and not along others"}


def _softmax(x, dim):
    exps = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return exps / exps.sum(dim, keepdims=True) if x.ndim else np.ones(())


def _log_softmax(x, dim):
    return np.log(_softmax(x, dim))


def _backward(make):
    y = np.exp(make.rng.normal(size=(3, 4)))
    return [
        sample(make(3, 4), make.fixed(y / y.sum(1, keepdims=True)), 1),
        sample(make(2, 3), make(2, 3), 0),
    ]


register(
    Op("softmax", _soft, primitives=("softmax", "softmax_backward"), reference=_softmax,
       out=True, skip=_COMPLEX),
    Op("log_softmax", _soft, primitives=("log_softmax", "log_softmax_backward"),
       reference=_log_softmax, out=True, skip=_COMPLEX),
    Op(F + "softmin", lambda make: [sample(make(3, 4), 1), sample(make(3, 4), dim=0)],
       reference=lambda x, dim: sp.softmax(-x, dim)),
    Op(F + "softmax", lambda make: [sample(make(3, 4), dim=1)], primitives=("softmax",)),
    Op(F + "log_softmax", lambda make: [sample(make(3, 4), dim=1)], primitives=("log_softmax",)),
    Op("softmax_backward", _backward, primitives=("softmax_backward",), torch=None,
       reference=lambda u, y, dim: y * (u - (u * y).sum(dim, keepdims=True))),
    Op("log_softmax_backward", _backward, primitives=("log_softmax_backward",), torch=None,
       reference=lambda u, y, dim: u - np.exp(y) * u.sum(dim, keepdims=True)),
    Op("_safe_softmax", lambda make: [
           sample(make(3, 4), 1),
           sample(make.fixed([[0.5, -np.inf, 1.0], [-np.inf, -np.inf, -np.inf]]), 1),
       ], torch="ops.aten._safe_softmax", nonsmooth=True),
    Op("identities", lambda make: [sample([make(3), make(2, 2)])], primitives=("identities",),
       torch=None),
)  # fmt: skip
