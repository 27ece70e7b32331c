"""Reductions, scans and normalisations of the elements that a mask lets through.

As in `torch.masked`; every function takes `mask=`, a bool tensor that broadcasts to the input.

>>> import tensorplay as tp
>>> x, mask = tp.tensor([[1.0, 2.0], [3.0, 4.0]]), tp.tensor([[True, True], [False, True]])
>>> tp.masked.mean(x, 0, mask=mask)
tensor([1., 3.])
"""

from tensorplay.ops.masked import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmin,
    std,
    sum,
    var,
)
from tensorplay.ops.masked import masked_softmax as softmax

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
