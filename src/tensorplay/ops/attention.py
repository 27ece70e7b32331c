"""Attention: scaled dot products, and many heads of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.dropout import dropout
from tensorplay.ops.elementwise import where
from tensorplay.ops.joining import cat
from tensorplay.ops.kinds import public
from tensorplay.ops.products import linear
from tensorplay.ops.softmax import softmax

_INF = float("inf")


@public("_safe_softmax", method=False)
def safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """softmax, with zeros where a whole row is -inf (everything is masked)."""
    masked = (self == -_INF).all(dim, keepdim=True)
    return where(masked, 0.0, softmax(where(masked, 0.0, self), dim, dtype))


def _causal(rows: int, columns: int) -> Tensor:
    """True where a query may look: at its own place and before."""
    return core.from_array(np.tri(rows, columns, dtype=np.bool_))


def additive(mask: Tensor, dtype: Any) -> Tensor:
    """A mask to add to scores: of bools, 0 where True and -inf where False."""
    if mask.dtype is not dtypes.bool:
        return mask
    return where(mask, core.from_array(np.zeros((), dtype.numpy)), -_INF)


@public("scaled_dot_product_attention", namespace="nn.functional", method=False)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value (arXiv:1706.03762).

    query: (..., L, E). key: (..., S, E). value: (..., S, V). attn_mask: broadcasts to (..., L, S);
    bools (True may look), or numbers that are added. dropout_p: of the weights. is_causal: each
    query looks at keys up to its own place. scale: by default 1 / sqrt(E). enable_gqa: fewer heads
    (dim -3) of keys and values, each for several of queries. A query that may look nowhere gives 0.

    Raises:
        RuntimeError: for a mask together with is_causal, or shapes that do not fit.

    >>> import tensorplay as tp
    >>> x = tp.ones(1, 2, 4)
    >>> tp.nn.functional.scaled_dot_product_attention(x, x, x)[0, 0]
    tensor([1., 1., 1., 1.])
    """
    _check_attention(query, key, value, attn_mask, is_causal)
    weights = _attention_weights(query, key, attn_mask, is_causal, scale, enable_gqa)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    if enable_gqa:
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    return weights @ value


def _attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float | None, gqa: bool
) -> Tensor:
    if gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * factor) @ key.transpose(-2, -1)
    if causal:
        scores = where(_causal(query.shape[-2], key.shape[-2]), scores, -_INF)
        return scores.softmax(-1)
    if mask is None:
        return scores.softmax(-1)
    if mask.dtype is dtypes.bool:
        return safe_softmax(where(mask, scores, -_INF), -1)
    return safe_softmax(scores + mask, -1)


def _check_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool
) -> None:
    name = "scaled_dot_product_attention"
    if mask is not None and causal:
        raise RuntimeError(f"{name}(): explicit attn_mask should not be set when is_causal=True")
    shapes = f"{list(query.shape)}, {list(key.shape)} and {list(value.shape)}"
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"{name}(): query, key and value must be at least 2-dimensional, got shapes {shapes}"
        )
    if query.dtype is not key.dtype or query.dtype is not value.dtype:
        raise RuntimeError(
            f"{name}(): expected query, key and value to have the same dtype, got {query.dtype}, "
            f"{key.dtype} and {value.dtype}"
        )
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise RuntimeError(
            f"{name}(): expected query (..., L, E), key (..., S, E) and value (..., S, V), got "
            f"shapes {shapes}"
        )
    if mask is not None and mask.dtype not in (dtypes.bool, query.dtype):
        raise RuntimeError(
            f"{name}(): expected attn_mask of dtype bool or the query's {query.dtype}, got "
            f"{mask.dtype}"
        )


# --- heads ----------------------------------------------------------------------------------------


def _canonical_mask(
    mask: Tensor | None, name: str, other: Tensor | None, other_name: str, dtype: Any
) -> Tensor | None:
    """A mask whose True means 'may not look', as a mask to add."""
    if mask is None:
        return None
    if mask.dtype is not dtypes.bool and not mask.dtype.is_floating_point:
        raise AssertionError(
            f"multi_head_attention_forward(): only bool and floating types of {name} are "
            f"supported, got {mask.dtype}"
        )
    return additive(~mask, dtype) if mask.dtype is dtypes.bool else mask


def _projected(
    query: Tensor, key: Tensor, value: Tensor, in_weight: Tensor | None, in_bias: Tensor | None,
    separate: tuple[Tensor | None, Tensor | None, Tensor | None] | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Queries, keys and values from the inputs; in one product where the inputs are one."""
    width = query.shape[-1]
    biases: Sequence[Any] = (None, None, None) if in_bias is None else in_bias.chunk(3)
    if separate is None:
        assert in_weight is not None
        if query is key and key is value:
            q, k, v = linear(query, in_weight, in_bias).split(width, -1)
            return q, k, v
        weights: Sequence[Any] = in_weight.split(width, 0)
    else:
        weights = separate
        if any(w is None for w in weights):
            raise AssertionError(
                "multi_head_attention_forward(): with use_separate_proj_weight=True give "
                "q_proj_weight, k_proj_weight and v_proj_weight"
            )
    q, k, v = (
        linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)
    )
    return q, k, v


def _one_more_key(mask: Tensor | None) -> Tensor | None:
    """A mask with a last column of zeros: everyone may look at the key that was added."""
    if mask is None:
        return None
    return cat([mask, core.zeros_shaped(mask, (*mask.shape[:-1], 1))], -1)


def _check_heads(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, heads: int) -> bool:
    """Whether there is a batch, after checking shapes."""
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise AssertionError(
            "multi_head_attention_forward(): query, key and value must all be (L, E) or all "
            f"(L, N, E), got shapes {list(query.shape)}, {list(key.shape)} and "
            f"{list(value.shape)}"
        )
    if query.shape[-1] != embed_dim:
        raise AssertionError(
            f"multi_head_attention_forward(): was expecting embedding dimension of {embed_dim}, "
            f"but got {query.shape[-1]}"
        )
    if embed_dim % heads:
        raise AssertionError(
            f"multi_head_attention_forward(): embed_dim {embed_dim} not divisible by {heads} heads"
        )
    return query.ndim == 3


@public("multi_head_attention_forward", namespace="nn.functional", method=False)
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What nn.MultiheadAttention computes: (output (L, N, E), attention weights or None).

    query: (L, N, E). key, value: (S, N, E); all without N where there is no batch. Masks: bools
    whose True means 'may not look', or numbers that are added; key_padding_mask (N, S), attn_mask
    (L, S) or (N * heads, L, S). The weights are (N, L, S), averaged over the heads, or (N, heads,
    L, S).

    Raises:
        AssertionError, RuntimeError: for shapes that do not fit.

    >>> import tensorplay as tp
    >>> x, w = tp.ones(2, 1, 4), tp.ones(12, 4)
    >>> out, weights = tp.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, tp.eye(4), None
    ... )
    >>> weights.shape
    tensorplay.Size([1, 2, 2])
    """
    batched = _check_heads(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "multi_head_attention_forward(): need attn_mask if specifying the is_causal hint"
        )
    if not batched:
        same = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, separate)
    padding = _canonical_mask(
        key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query.dtype
    )
    mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype)
    length, batch, width = query.shape
    if bias_k is not None and bias_v is not None:
        k = cat([k, bias_k.expand((1, batch, width))])
        v = cat([v, bias_v.expand((1, batch, width))])
        mask, padding = _one_more_key(mask), _one_more_key(padding)
    heads = _Heads(num_heads, batch, width)
    q = heads.split(q)
    k = heads.split(k) if static_k is None else heads.given(static_k)
    v = heads.split(v) if static_v is None else heads.given(static_v)
    if add_zero_attn:
        nothing = core.zeros_shaped(k, (batch, num_heads, 1, k.shape[-1]))
        k, v = cat([k, nothing], -2), cat([v, nothing], -2)
        mask, padding = _one_more_key(mask), _one_more_key(padding)
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores + heads.mask(mask, length, k.shape[-2])
    if padding is not None:
        scores = scores + padding.reshape((batch, 1, 1, k.shape[-2]))
    weights = scores.softmax(-1) if need_weights else safe_softmax(scores, -1)
    if training and dropout_p > 0:
        weights = dropout(weights, dropout_p)
    joined = (weights @ v).permute(2, 0, 1, 3).reshape((length, batch, width))
    out = linear(joined, out_proj_weight, out_proj_bias)
    shown = None
    if need_weights:
        shown = weights.mean(1) if average_attn_weights else weights
    if batched:
        return out, shown
    return out.squeeze(1), None if shown is None else shown.squeeze(0)


class _Heads:
    """The sizes of many heads, and the shapes they go through."""

    def __init__(self, count: int, batch: int, width: int) -> None:
        self.count, self.batch, self.width = count, batch, width // count

    def split(self, x: Tensor) -> Tensor:
        """(L, N, E) as (N, heads, L, E / heads)."""
        shape = (x.shape[0], self.batch, self.count, self.width)
        return x.reshape(shape).permute(1, 2, 0, 3)

    def given(self, x: Tensor) -> Tensor:
        """(N * heads, S, E / heads), as static keys and values come."""
        if x.shape[0] != self.batch * self.count or x.shape[2] != self.width:
            raise AssertionError(
                f"multi_head_attention_forward(): expecting static_k and static_v of shape "
                f"({self.batch * self.count}, S, {self.width}), got {list(x.shape)}"
            )
        return x.reshape((self.batch, self.count, *x.shape[1:]))

    def mask(self, mask: Tensor, rows: int, columns: int) -> Tensor:
        """(L, S) or (N * heads, L, S) so that it broadcasts to the scores."""
        shape = tuple(mask.shape)
        if shape == (rows, columns):
            return mask
        if shape == (self.batch * self.count, rows, columns):
            return mask.reshape((self.batch, self.count, rows, columns))
        raise RuntimeError(
            f"multi_head_attention_forward(): the shape of the attn_mask is {list(shape)}, but "
            f"should be {[rows, columns]} or {[self.batch * self.count, rows, columns]}"
        )
