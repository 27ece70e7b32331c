"""The bilinear form of two inputs."""

from __future__ import annotations

from tensorplay._core.core import Tensor
from tensorplay.ops.kinds import public, publish


@public(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2, for every k, plus bias.

    input1: (..., I). input2: (..., J). weight: (K, I, J). bias: (K,). Gives (..., K).

    Raises:
        RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> tp.nn.functional.bilinear(tp.ones(2), tp.ones(3), tp.ones(1, 2, 3))
    tensor([6.])
    """
    lead = tuple(input1.shape[:-1])
    fits = (
        weight.ndim == 3
        and input1.ndim == input2.ndim
        and lead == tuple(input2.shape[:-1])
        and (input1.shape[-1], input2.shape[-1]) == tuple(weight.shape[1:])
        and (bias is None or tuple(bias.shape) == (weight.shape[0],))
    )
    if not fits:
        raise RuntimeError(
            "bilinear(): expected inputs (..., I) and (..., J), weight (K, I, J) and bias (K,), "
            f"got shapes {list(input1.shape)}, {list(input2.shape)}, {list(weight.shape)} and "
            f"{None if bias is None else list(bias.shape)}"
        )
    outputs, first, second = weight.shape
    matrix = weight.permute(1, 0, 2).reshape((first, outputs * second))
    by_first = (input1 @ matrix).reshape((*lead, outputs, second))
    result = (by_first @ input2.unsqueeze(-1)).squeeze(-1)
    return result if bias is None else result + bias


publish(bilinear, "bilinear", namespace="nn.functional", method=False)
