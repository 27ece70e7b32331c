"""Recurrent networks over sequences: RNN, LSTM and GRU; their cells are in layers_cells."""

from __future__ import annotations

import math
import warnings
from typing import Any

from tensorplay._core.core import Tensor
from tensorplay.nn import init
from tensorplay.nn.layers_linear import new_parameter
from tensorplay.nn.module import Module
from tensorplay.nn.utils.rnn import PackedSequence
from tensorplay.ops import recurrent

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common; `mode` says which.

    Parameters of layer k: weight_ih_lk (gates * hidden_size, input size), weight_hh_lk
    (gates * hidden_size, hidden_size), bias_ih_lk, bias_hh_lk (gates * hidden_size,), and with
    proj_size weight_hr_lk (proj_size, hidden_size); those of the backward direction end in
    `_reverse`. All start uniform within 1 / sqrt(hidden_size).

    Raises:
        TypeError, ValueError: for sizes that are no positive ints, a dropout outside of [0, 1], a
            proj_size that is not less than hidden_size or not of an LSTM.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _check_sizes(mode, hidden_size, num_layers, dropout, proj_size)
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={num_layers}",
                stacklevel=3,
            )
        self.mode = mode
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        self._names: list[list[str]] = []
        rows, output = _GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else output * (2 if bidirectional else 1)
            for end in ("", "_reverse")[: 1 + bidirectional]:
                shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, output)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                self._names.append([f"{name}_l{layer}{end}" for name in shapes])
                for name, shape in zip(self._names[-1], shapes.values(), strict=True):
                    setattr(self, name, new_parameter(shape, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing to do here: there is no accelerator that wants parameters in one piece."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """(output of every step, last state).

        input: (L, N, input_size), with batch_first (N, L, input_size), one sequence
        (L, input_size), or a PackedSequence. hx: the first state (layers * directions, N, size),
        by default zeros; of an LSTM a pair.

        Raises:
            ValueError, RuntimeError: for shapes that do not fit.
        """
        function = getattr(recurrent, self.mode.lower())
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        weights = [w for group in self.all_weights for w in group]
        if isinstance(input, PackedSequence):
            batch = int(input.batch_sizes[0])
            state = self._state(input.data, hx, batch, input.sorted_indices)
            out, *last = function(input.data, input.batch_sizes, state, weights, *options)
            order = input.unsorted_indices
            last = [x if order is None else x.index_select(1, order) for x in last]
            return input._replace(data=out), self._given(last)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        single = input.ndim == 2
        where = 0 if self.batch_first else 1
        if hx is not None:
            hx = self._batched_state(hx, single)
        x = input.unsqueeze(where) if single else input
        state = self._state(x, hx, x.shape[where], None)
        out, *last = function(x, state, weights, *options, self.batch_first)
        if single:
            out, last = out.squeeze(where), [h.squeeze(1) for h in last]
        return out, self._given(last)

    def _given(self, states: list[Tensor]) -> Any:
        return tuple(states) if self.mode == "LSTM" else states[0]

    def _state_sizes(self) -> list[int]:
        sizes = [self.proj_size or self.hidden_size]
        return [*sizes, self.hidden_size] if self.mode == "LSTM" else sizes

    def _batched_state(self, hx: Any, single: bool) -> Any:
        states = list(hx) if self.mode == "LSTM" else [hx]
        for h in states:
            if h.ndim != 3 - single:
                what = "hx and cx" if self.mode == "LSTM" else "hx"
                raise RuntimeError(
                    f"{self._get_name()}: for {'unbatched 2' if single else 'batched 3'}-D input, "
                    f"{what} should also be {3 - single}-D but got {h.ndim}-D tensor of shape "
                    f"{list(h.shape)}"
                )
        return self._given([h.unsqueeze(1) for h in states] if single else states)

    def _state(self, x: Tensor, hx: Any, batch: int, order: Tensor | None) -> Any:
        """The first state, checked, in the order of a packed sequence; zeros by default."""
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{self._get_name()}: input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {x.shape[-1]}"
            )
        count = self.num_layers * (2 if self.bidirectional else 1)
        shapes = [(count, batch, size) for size in self._state_sizes()]
        if hx is None:
            return self._given([x.new_zeros(shape) for shape in shapes])
        states = list(hx) if self.mode == "LSTM" else [hx]
        for h, shape, name in zip(states, shapes, ("hidden[0]", "hidden[1]"), strict=False):
            if tuple(h.shape) != shape:
                name = name if self.mode == "LSTM" else "hidden"
                raise RuntimeError(
                    f"{self._get_name()}: Expected {name} size {shape}, got {list(h.shape)}"
                )
        return self._given([h if order is None else h.index_select(1, order) for h in states])

    def extra_repr(self) -> str:
        parts = [str(self.input_size), str(self.hidden_size)]
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
            ("dropout", 0.0), ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


def _check_sizes(mode: str, hidden: Any, layers: Any, dropout: Any, projected: int) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            f"being zeroed, got {dropout!r}"
        )
    for name, value in (("hidden_size", hidden), ("num_layers", layers)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero, got {value}")
    if projected < 0:
        raise ValueError(f"proj_size should be a positive integer or zero, got {projected}")
    if projected and mode != "LSTM":
        raise ValueError(f"proj_size argument is only supported for LSTM, not {mode}")
    if projected >= hidden:
        raise ValueError(
            f"proj_size has to be smaller than hidden_size, got {projected} and {hidden}"
        )


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) along sequences, in several layers.

    nonlinearity: 'tanh' or 'relu'. bias: False without b_ih, b_hh. batch_first: input and output
    are (N, L, features). dropout: between layers, in training. bidirectional: also backward in
    time; outputs are side by side.

    >>> import tensorplay as tp
    >>> out, h = tp.nn.RNN(10, 20, num_layers=2)(tp.ones(5, 3, 10))
    >>> out.shape, h.shape
    (tensorplay.Size([5, 3, 20]), tensorplay.Size([2, 3, 20]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
        bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first,
            dropout, bidirectional, dtype=dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory along sequences (Hochreiter and Schmidhuber, 1997).

    Its state is a pair (h, c). proj_size: h is projected to so many features (arXiv:1402.1128).
    The other options are those of `RNN`.

    >>> import tensorplay as tp
    >>> out, (h, c) = tp.nn.LSTM(10, 20, bidirectional=True)(tp.ones(5, 3, 10))
    >>> out.shape, h.shape, c.shape
    (tensorplay.Size([5, 3, 40]), tensorplay.Size([2, 3, 20]), tensorplay.Size([2, 3, 20]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, dtype=dtype,
        )  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent units along sequences (arXiv:1406.1078); the options are those of `RNN`.

    >>> import tensorplay as tp
    >>> out, h = tp.nn.GRU(10, 20, batch_first=True)(tp.ones(3, 5, 10))
    >>> out.shape, h.shape
    (tensorplay.Size([3, 5, 20]), tensorplay.Size([1, 3, 20]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            dtype=dtype,
        )  # fmt: skip
