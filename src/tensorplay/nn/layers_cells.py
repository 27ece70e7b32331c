"""Cells of recurrent networks: one step of one layer, to write loops of one's own."""

from __future__ import annotations

import math
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import init
from tensorplay.nn.layers_linear import new_parameter
from tensorplay.nn.module import Module
from tensorplay.ops.recurrent import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell


class RNNCellBase(Module):
    """What the cells have in common: weight_ih, weight_hh, and with bias bias_ih, bias_hh."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = new_parameter((rows, input_size), dtype)
        self.weight_hh = new_parameter((rows, hidden_size), dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, new_parameter((rows,), dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _check(self, input: Tensor, *states: Tensor) -> None:
        for x, what in ((input, "input"), *((s, "hidden") for s in states)):
            if x.ndim not in (1, 2):
                raise ValueError(
                    f"{self._get_name()}: Expected {what} to be 1D or 2D, got {x.ndim}D instead"
                )

    def _first_state(self, input: Tensor) -> Tensor:
        return input.new_zeros((*input.shape[:-1], self.hidden_size))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, of samples (N, input_size) or of one.

    >>> import tensorplay as tp
    >>> tp.nn.RNNCell(10, 20)(tp.ones(3, 10)).shape
    tensorplay.Size([3, 20])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        hx = self._first_state(input) if hx is None else hx
        self._check(input, hx)
        cell = rnn_tanh_cell if self.nonlinearity == "tanh" else rnn_relu_cell
        return cell(input, hx, *self._weights())


class LSTMCell(RNNCellBase):
    """The next (h, c) of long short-term memory, of samples (N, input_size) or of one.

    >>> import tensorplay as tp
    >>> h, c = tp.nn.LSTMCell(10, 20)(tp.ones(3, 10))
    >>> h.shape, c.shape
    (tensorplay.Size([3, 20]), tensorplay.Size([3, 20]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
        hx = (self._first_state(input),) * 2 if hx is None else hx
        self._check(input, *hx)
        return lstm_cell(input, hx, *self._weights())


class GRUCell(RNNCellBase):
    """The next state of a gated recurrent unit, of samples (N, input_size) or of one.

    >>> import tensorplay as tp
    >>> tp.nn.GRUCell(10, 20)(tp.ones(3, 10)).shape
    tensorplay.Size([3, 20])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        hx = self._first_state(input) if hx is None else hx
        self._check(input, hx)
        return gru_cell(input, hx, *self._weights())
