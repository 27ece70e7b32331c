"""Attention with many heads, as a module."""

from __future__ import annotations

from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import functional as F
from tensorplay.nn import init
from tensorplay.nn.layers_linear import Linear, new_parameter
from tensorplay.nn.module import Module


class MultiheadAttention(Module):
    """Attention of several heads, each on its own projection of queries, keys and values
    (arXiv:1706.03762).

    embed_dim: of the queries and the output; num_heads must divide it. dropout: of the weights, in
    training. bias: of the projections. add_bias_kv: a learnt key and value more. add_zero_attn: one
    of zeros more. kdim, vdim: sizes of keys and values, by default embed_dim. batch_first: inputs
    are (N, L, E) rather than (L, N, E).

    >>> import tensorplay as tp
    >>> x = tp.ones(5, 2, 4)
    >>> out, weights = tp.nn.MultiheadAttention(4, 2)(x, x, x)
    >>> out.shape, weights.shape
    (tensorplay.Size([5, 2, 4]), tensorplay.Size([2, 5, 5]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.head_dim = embed_dim // num_heads
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self.one_projection = self.kdim == embed_dim == self.vdim
        shapes: dict[str, Any] = dict.fromkeys(
            ("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_weight")
        )
        if self.one_projection:
            shapes["in_proj_weight"] = (3 * embed_dim, embed_dim)
        else:
            shapes["q_proj_weight"] = (embed_dim, embed_dim)
            shapes["k_proj_weight"] = (embed_dim, self.kdim)
            shapes["v_proj_weight"] = (embed_dim, self.vdim)
        shapes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name in ("bias_k", "bias_v"):
            shapes[name] = (1, 1, embed_dim) if add_bias_kv else None
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else new_parameter(shape, dtype))
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None,
        average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        swap = self.batch_first and query.ndim == 3
        if swap:
            same = query is key, key is value
            query = query.transpose(0, 1)
            key = query if same[0] else key.transpose(0, 1)
            value = key if same[1] else value.transpose(0, 1)
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self.one_projection, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (out.transpose(0, 1) if swap else out), weights
