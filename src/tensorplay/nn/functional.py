"""Functions of neural networks, without state: activations, losses, layers."""

from tensorplay.ops.classification import cross_entropy, nll_loss
from tensorplay.ops.losses import mse_loss
from tensorplay.ops.products import linear
from tensorplay.ops.softmax import functional_log_softmax as log_softmax
from tensorplay.ops.softmax import functional_softmax as softmax
from tensorplay.ops.softmax import softmin

__all__ = [
    "cross_entropy",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "softmax",
    "softmin",
]
