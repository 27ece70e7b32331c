"""Rows of the losses and of distances between vectors."""

import numpy as np
import scipy.special as sp

from tests.optable.schema import Op, register, sample

F = "nn.functional."


def _reduced(loss, reduction="mean"):
    return {"mean": np.mean, "sum": np.sum, "none": lambda x: x}[reduction](loss)


def _pairs(make):
    """Input and target of one shape, with every reduction."""
    return [
        sample(make(3, 4), make(3, 4)),
        sample(make(3, 4), make(3, 4), reduction="sum"),
        sample(make(3, 4), make(3, 4), reduction="none"),
        sample(make(), make(), note="0-dim"),
        sample(make(0, 3), make(0, 3), reduction="sum"),
    ]


def _signs(make, shape):
    return make.fixed(np.where(make.rng.random(shape) < 0.5, -1.0, 1.0))


register(
    Op(
        F + "mse_loss",
        lambda make: [
            *_pairs(make),
            sample(make(3, 4), make(3, 4), weight=make.constant(make.positive(3, 4))),
        ],
        reference=lambda x, t, reduction="mean", weight=None: (
            _reduced((x - t) ** 2, reduction)
            if weight is None
            else ((x - t) ** 2 * weight).sum() / weight.sum()
        ),
    ),
    Op(F + "l1_loss", _pairs,
       reference=lambda x, t, reduction="mean": _reduced(np.abs(x - t), reduction)),
    Op(F + "smooth_l1_loss",
       lambda make: [*_pairs(make), sample(make(3, 4), make(3, 4), beta=0.6),
                     sample(make(3, 4), make(3, 4), beta=0.0)]),
    Op(F + "huber_loss", lambda make: [*_pairs(make), sample(make(3, 4), make(3, 4), delta=0.6)]),
    Op(F + "huber_loss:at zero difference",
       lambda make: [sample(make.fixed([1.0, 2.0]), make.fixed([1.0, 2.5]))]),
    Op(F + "poisson_nll_loss",
       lambda make: [*_pairs(make),
                     sample(make.positive(3, 4), make.positive(3, 4), log_input=False),
                     sample(make(3, 4), make.positive(3, 4, low=1.2, high=4.0), full=True)]),
    Op(F + "gaussian_nll_loss:too small a variance",
       lambda make: [sample(make(3), make(3), make.fixed([0.0, 1e-9, 1.0]), eps=0.1)],
       primitives=("limited",), nonsmooth=True,
       skip={"parity_jvp": "PyTorch's tangents are cut off there, its gradients are not",
             "jet": "its derivative is not that of its value"}),
    Op("limited", lambda make: [sample(make(3, 4), 0.5)], primitives=("limited",), torch=None,
       reference=np.maximum, nonsmooth=True),
    Op("limited_log", lambda make: [sample(make.positive(3, 4)), sample(make.fixed([0.0, 1e-20]))],
       primitives=("limited_log",), torch=None, nonsmooth=True,
       reference=lambda x: np.log(np.maximum(x, 1e-300)).clip(-100)),
    Op(F + "gaussian_nll_loss",
       lambda make: [sample(make(3, 4), make(3, 4), make.positive(3, 4)),
                     sample(make(3, 4), make(3, 4), make.positive(3, 1), full=True),
                     sample(make(3, 4), make(3, 4), make.positive(3), reduction="sum"),
                     sample(make(3, 4), make(3, 4), 0.5, reduction="none")]),
)  # fmt: skip

# --- probabilities --------------------------------------------------------------------------------


def _unit(make, *shape):
    return make(*shape, low=0.1, high=0.9)


register(
    Op(
        F + "binary_cross_entropy",
        lambda make: [
            sample(_unit(make, 3, 4), _unit(make, 3, 4)),
            sample(_unit(make, 3, 4), _unit(make, 3, 4), make.constant(make.positive(3, 4))),
            sample(_unit(make, 3, 4), _unit(make, 3, 4), reduction="sum"),
            sample(_unit(make, 2), _unit(make, 2), reduction="none"),
            sample(_unit(make), _unit(make)),
        ],
        primitives=("binary_cross_entropy",),
        skip={
            "empty": "the mean of nothing is NaN, and so are its derivatives",
            "broadcast": "input and target must have one shape",
        },
    ),
    Op(
        F + "binary_cross_entropy:at certainty",
        lambda make: [sample(make.fixed([0.0, 1.0, 1.0]), make.fixed([0.0, 1.0, 0.5]))],
        nonsmooth=True,
        skip=dict.fromkeys(
            ("parity_grad", "parity_gradgrad", "parity_jvp"),
            "PyTorch's derivatives are infinite or NaN there, ours are finite",
        ),
    ),
    Op(
        F + "binary_cross_entropy_with_logits",
        lambda make: [
            sample(make(3, 4), _unit(make, 3, 4)),
            sample(make(3, 4, low=-40, high=40), _unit(make, 3, 4), reduction="sum"),
            sample(make(3, 4), _unit(make, 3, 4), make.constant(make.positive(3, 4))),
            sample(make(3, 4), _unit(make, 3, 4), pos_weight=make.constant(make.positive(4))),
            sample(make(2), _unit(make, 2), reduction="none"),
        ],
        primitives=("binary_cross_entropy_with_logits",),
        skip={
            "empty": "the mean of nothing is NaN, and so are its derivatives",
            "broadcast": "input and target must have one shape",
        },
    ),
    Op(
        F + "kl_div",
        lambda make: [
            sample(make(3, 4), make.positive(3, 4), reduction="batchmean"),
            sample(make(3, 4), make.positive(3, 4), reduction="sum"),
            sample(make(3, 4), make(3, 4), reduction="none", log_target=True),
        ],
    ),
    Op(
        F + "kl_div:zero probability",
        lambda make: [sample(make(2), make.constant([0.0, 1.0]), reduction="sum")],
        reference=lambda x, t, reduction: (sp.xlogy(t, t) - t * x).sum(),
    ),
)

# --- classes --------------------------------------------------------------------------------------


def _classes(make):
    weight = make.constant(make.positive(4))
    return [
        sample(make(3, 4), make.index(3, 4)),
        sample(make(3, 4), make.index(3, 4), reduction="sum"),
        sample(make(3, 4), make.index(3, 4), reduction="none"),
        sample(make(3, 4), make.index(3, 4), weight),
        sample(make(3, 4), make.index(3, 4), weight, reduction="none"),
        sample(make(3, 4), make.index(3, 4), ignore_index=1),
        sample(make(3, 4), make.index(3, 4), weight, ignore_index=1, reduction="sum"),
        sample(make(2, 4, 3), make.index((2, 3), 4)),
        sample(make(2, 4, 3, 2), make.index((2, 3, 2), 4), weight),
        sample(make(4), make.index((), 4), note="one sample"),
        sample(make(0, 4), make.index((0,), 4), reduction="sum"),
    ]


def _smoothed(make):
    weight = make.constant(make.positive(4))
    return [
        sample(make(3, 4), make.index(3, 4), label_smoothing=0.3),
        sample(make(3, 4), make.index(3, 4), weight, label_smoothing=0.3),
        sample(make(2, 4, 3), make.index((2, 3), 4), label_smoothing=0.3, ignore_index=2),
        sample(make(3, 4), make.positive(3, 4)),
        sample(make(3, 4), make.positive(3, 4), weight, reduction="none"),
        sample(make(2, 4, 3), make.positive(2, 4, 3), label_smoothing=0.2, reduction="sum"),
        sample(make(4), make.positive(4)),
    ]


def _hinges(make):
    return [
        sample(make(3, 4), make.index(3, 4)),
        sample(make(3, 4), make.index(3, 4), p=2, margin=0.7),
        sample(make(3, 4), make.index(3, 4), weight=make.constant(make.positive(4))),
        sample(make(4), make.index((), 4), reduction="sum"),
        sample(make(3, 4), make.index(3, 4), reduction="none"),
    ]


register(
    Op(F + "nll_loss", _classes, primitives=("nll_loss", "nll_loss_transpose")),
    Op(F + "cross_entropy", lambda make: [*_classes(make), *_smoothed(make)],
       primitives=("log_softmax", "log_softmax_backward", "nll_loss", "nll_loss_transpose")),
    Op(F + "linear_cross_entropy",
       lambda make: [sample(make(3, 2), make(4, 2), make.index(3, 4)),
                     sample(make(3, 2), make(4, 2, 2), make.index((3, 2), 4),
                            linear_bias=make(4, 2))]),
    Op("nll_loss_transpose",
       lambda make: [sample(make(3), make.index(3, 4), 4, 1, 0, -100, "none"),
                     sample(make(), make.index(3, 4), 4, 1, 0, 2, "mean")],
       primitives=("nll_loss_transpose",), torch=None),
    Op(F + "multi_margin_loss", _hinges),
    Op(F + "multilabel_margin_loss",
       lambda make: [
           sample(make.distinct(2, 4, low=-1.3), make.constant(make.index((2, 4), 4, unique=True))),
           sample(make.distinct(4, low=-1.3), make.int((4,), 0, 4) * 0 + 2, reduction="sum"),
       ]),
    Op(F + "multilabel_soft_margin_loss",
       lambda make: [sample(make(3, 4), _unit(make, 3, 4)),
                     sample(make(3, 4), _unit(make, 3, 4), make.constant(make.positive(4)),
                            reduction="none")]),
    Op(F + "ctc_loss",
       lambda make: [
           sample(make(6, 2, 4).log_softmax(-1), make.int((2, 3), 1, 4), (6, 5), (3, 2)),
           sample(make(5, 2, 3).log_softmax(-1), make.int((3,), 1, 3), (5, 4), (1, 2),
                  reduction="sum"),
           sample(make(4, 3).log_softmax(-1), make.int((2,), 1, 3), (4,), (2,),
                  reduction="none"),
           sample(make(2, 1, 3).log_softmax(-1), make.int((1, 2), 1, 2), (2,), (2,),
                  zero_infinity=True, reduction="sum", note="no alignment"),
       ],
       primitives=("log_scan", "band_scan"),
       skip={
           "parity_grad": "PyTorch gives the gradient by the logits before a log_softmax",
           "parity_gradgrad": "PyTorch has no second derivative",
           "parity_jvp": "PyTorch gives the gradient by the logits before a log_softmax",
           "parity_dtype": "its samples are made with log_softmax, of real numbers only",
       }),
    Op("log_scan",
       lambda make: [sample(make(4, 2, 5), make.bool((2, 5)))],
       primitives=("log_scan",), torch=None),
    Op("band_scan",
       lambda make: [sample(make(4, 2, 3), make(4, 2, 3), make(4, 2, 3), make(4, 2, 3))],
       primitives=("band_scan",), torch=None),
)  # fmt: skip

# --- margins and distances ------------------------------------------------------------------------


def _vectors(make, *extra):
    return [sample(make(3, 4), make(3, 4), *extra), sample(make(4), make(4), *extra)]


register(
    Op(F + "margin_ranking_loss",
       lambda make: [sample(make(3), make(3), make.constant(_signs(make, 3)), 0.3),
                     sample(make(2, 3), make(2, 3), make.constant(_signs(make, (2, 3))),
                            reduction="none")]),
    Op(F + "hinge_embedding_loss",
       lambda make: [sample(make(3, 4), make.constant(_signs(make, (3, 4))), margin=0.9),
                     sample(make(3), make.constant(_signs(make, 3)), reduction="sum")],
       skip={"parity_dtype": "PyTorch's result for integers depends on the reduction"}),
    Op(F + "soft_margin_loss",
       lambda make: [sample(make(3, 4), make.constant(_signs(make, (3, 4)))),
                     sample(make(3, low=-50, high=50), make.constant(_signs(make, 3)),
                            reduction="none")],
       skip={"parity_dtype": "PyTorch takes complex numbers too, with overflow"}),
    Op(F + "cosine_embedding_loss",
       lambda make: [sample(make(3, 4), make(3, 4), make.constant(_signs(make, 3))),
                     sample(make(4), make(4), make.constant(_signs(make, ())), margin=-0.4)]),
    Op(F + "triplet_margin_loss",
       lambda make: [sample(make(3, 4), make(3, 4), make(3, 4), margin=9.0),
                     sample(make(3, 4), make(3, 4), make(3, 4), 9.0, 3, swap=True,
                            reduction="none")]),
    Op(F + "triplet_margin_with_distance_loss",
       lambda make: [sample(make(3, 4), make(3, 4), make(3, 4), margin=9.0, swap=True)]),
    Op(F + "pairwise_distance",
       lambda make: [*_vectors(make), sample(make(3, 4), make(3, 4), 1.0),
                     sample(make(3, 4), make(1, 4), 3.0, keepdim=True)]),
    Op(F + "cosine_similarity",
       lambda make: [sample(make(3, 4), make(3, 4)), sample(make(3, 4), make(4, ), -1),
                     sample(make(2, 3, 4), make(2, 3, 4), dim=0)]),
    Op(F + "normalize",
       lambda make: [sample(make(3, 4)), sample(make(3, 4), 1.0, 0), sample(make(2, 3, 4), dim=2)],
       reference=lambda x, p=2.0, dim=1: (
           x / np.linalg.norm(x, p, dim, keepdims=True)
       )),
    Op(F + "normalize:zero", lambda make: [sample(make.fixed([[0.0, 0.0], [3.0, 4.0]]))],
       nonsmooth=True, skip={"parity_gradgrad": "PyTorch's second derivative at zero is NaN"}),
)  # fmt: skip
