"""Transformers (arXiv:1706.03762): layers of the encoder and the decoder, stacks, and the whole."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.nn import functional as F
from tensorplay.nn import init
from tensorplay.nn.containers import ModuleList
from tensorplay.nn.layers_attention import MultiheadAttention
from tensorplay.nn.layers_linear import Linear
from tensorplay.nn.layers_norm import LayerNorm
from tensorplay.nn.layers_other import Dropout
from tensorplay.nn.module import Module

Activation = str | Callable[[Tensor], Tensor]


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


def _added(mask: Tensor | None, dtype: Any) -> Tensor | None:
    """A mask to add: -inf where a bool mask is True."""
    if mask is None or mask.dtype is not dtypes.bool:
        return mask
    return mask.new_zeros(tuple(mask.shape), dtype=dtype).masked_fill(mask, -float("inf"))


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class _Layer(Module):
    """What the layers of encoder and decoder have in common: a feed-forward block at the end."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout: float,
        activation: Activation, layer_norm_eps: float, batch_first: bool, norm_first: bool,
        bias: bool, dtype: Any, attentions: tuple[str, ...],
    ) -> None:  # fmt: skip
        super().__init__()
        for name in attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        numbers = range(1, len(attentions) + 2)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _block(self, x: Tensor, number: int, function: Callable[[Tensor], Tensor]) -> Tensor:
        """x plus a block of it, normalised before or after."""
        norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + drop(function(norm(x)))
        return norm(x + drop(function(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a feed-forward block; each is added to what it gets.

    d_model: features. nhead: heads, which divide d_model. dim_feedforward: features within the
    block. activation: 'relu', 'gelu' or a function. batch_first: inputs are (N, L, d_model) rather
    than (L, N, d_model). norm_first: normalise before each block rather than after.

    Raises:
        RuntimeError: for another activation.

    >>> import tensorplay as tp
    >>> layer = tp.nn.TransformerEncoderLayer(8, 2, 16)
    >>> layer(tp.rand(10, 3, 8)).shape
    tensorplay.Size([10, 3, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, dtype, ("self_attn",),
        )  # fmt: skip

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None, is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        mask = _added(src_mask, src.dtype)
        padding = _added(src_key_padding_mask, src.dtype)

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)[0]

        return self._block(self._block(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, attention to a memory, then a feed-forward block.

    The options are those of `TransformerEncoderLayer`.

    >>> import tensorplay as tp
    >>> layer = tp.nn.TransformerDecoderLayer(8, 2, 16)
    >>> layer(tp.rand(4, 3, 8), tp.rand(10, 3, 8)).shape
    tensorplay.Size([4, 3, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, dtype, ("self_attn", "multihead_attn"),
        )  # fmt: skip

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        dtype = tgt.dtype
        masks = [_added(m, dtype) for m in (tgt_mask, memory_mask)]
        paddings = [_added(m, dtype) for m in (tgt_key_padding_mask, memory_key_padding_mask)]

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(
                x, x, x, paddings[0], False, masks[0], is_causal=tgt_is_causal
            )[0]  # fmt: skip

        def attend_memory(x: Tensor) -> Tensor:
            return self.multihead_attn(
                x, memory, memory, paddings[1], False, masks[1], is_causal=memory_is_causal
            )[0]

        x = self._block(self._block(tgt, 1, attend), 2, attend_memory)
        return self._block(x, 3, self._feed_forward)


def _is_causal(mask: Tensor | None, hint: bool | None, steps: int) -> bool:
    """Whether a mask hides exactly what comes later; the hint decides where there is one."""
    if hint is not None or mask is None:
        return bool(hint)
    if mask.is_box or tuple(mask.shape) != (steps, steps):
        return False
    causal = np.triu(np.full((steps, steps), -np.inf), 1)
    added = _added(mask, dtypes.float64)
    assert added is not None
    return np.array_equal(added.double().numpy(), causal)


class TransformerEncoder(Module):
    """Copies of one encoder layer, one after the other, and `norm` at the end if it is given.

    enable_nested_tensor, mask_check: accepted as PyTorch does; there are no nested tensors here.

    >>> import tensorplay as tp
    >>> encoder = tp.nn.TransformerEncoder(tp.nn.TransformerEncoderLayer(8, 2, 16), 2)
    >>> encoder(tp.rand(10, 3, 8)).shape
    tensorplay.Size([10, 3, 8])
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        causal = _is_causal(mask, is_causal, _steps(self.layers, src))
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal=causal)
        return src if self.norm is None else self.norm(src)


def _steps(layers: ModuleList, x: Tensor) -> int:
    """How long the sequences of x are."""
    first = len(layers) and getattr(layers[0], "self_attn", None)
    return x.shape[1 if x.ndim == 3 and first and first.batch_first else 0]


class TransformerDecoder(Module):
    """Copies of one decoder layer, one after the other, and `norm` at the end if it is given.

    >>> import tensorplay as tp
    >>> decoder = tp.nn.TransformerDecoder(tp.nn.TransformerDecoderLayer(8, 2, 16), 2)
    >>> decoder(tp.rand(4, 3, 8), tp.rand(10, 3, 8)).shape
    tensorplay.Size([4, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        causal = _is_causal(tgt_mask, tgt_is_causal, _steps(self.layers, tgt))
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                causal, memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence, and a decoder that makes another from it.

    custom_encoder, custom_decoder: in place of stacks of `TransformerEncoderLayer` and
    `TransformerDecoderLayer`, whose options the others are. Weights start Xavier-uniform.

    >>> import tensorplay as tp
    >>> model = tp.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(tp.rand(10, 3, 8), tp.rand(4, 3, 8)).shape
    tensorplay.Size([4, 3, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, custom_encoder: Any = None, custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            encoder_layer = TransformerEncoderLayer(*options, dtype=dtype)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, encoder_norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            decoder_layer = TransformerDecoderLayer(*options, dtype=dtype)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, decoder_norm)
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None, src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                "Transformer: the batch number of src and tgt must be equal, got shapes "
                f"{list(src.shape)} and {list(tgt.shape)}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                "Transformer: the feature number of src and tgt must be equal to d_model "
                f"{self.d_model}, got shapes {list(src.shape)} and {list(tgt.shape)}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask that hides what comes later: -inf above the diagonal, else 0.

        >>> import tensorplay as tp
        >>> tp.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        kind = dtypes.get_default_dtype() if dtype is None else dtype
        return core.from_array(np.triu(np.full((sz, sz), -np.inf, kind.numpy), 1))
