"""Functions of neural networks, without state: activations, losses, layers."""

from tensorplay.ops.activations import functional_sigmoid as sigmoid
from tensorplay.ops.activations import functional_tanh as tanh
from tensorplay.ops.activations import (
    gelu,
    glu,
    gumbel_softmax,
    logsigmoid,
    mish,
    silu,
    softplus,
    softsign,
    tanhshrink,
)
from tensorplay.ops.classification import cross_entropy, nll_loss
from tensorplay.ops.conv import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from tensorplay.ops.distances import cosine_similarity, normalize, pairwise_distance, pdist
from tensorplay.ops.entropies import binary_cross_entropy, binary_cross_entropy_with_logits, kl_div
from tensorplay.ops.losses import (
    gaussian_nll_loss,
    huber_loss,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from tensorplay.ops.margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from tensorplay.ops.products import linear
from tensorplay.ops.rectifiers import (
    celu_,
    elu,
    elu_,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    prelu,
    relu6,
    rrelu_,
    selu_,
    softshrink,
    threshold,
    threshold_,
)
from tensorplay.ops.rectifiers import functional_celu as celu
from tensorplay.ops.rectifiers import functional_relu as relu
from tensorplay.ops.rectifiers import functional_rrelu as rrelu
from tensorplay.ops.rectifiers import functional_selu as selu
from tensorplay.ops.softmax import functional_log_softmax as log_softmax
from tensorplay.ops.softmax import functional_softmax as softmax
from tensorplay.ops.softmax import softmin

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "elu",
    "elu_",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "pairwise_distance",
    "pdist",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
