"""Recurrent networks over sequences and their cells: RNN with tanh or relu, LSTM, GRU.

A layer multiplies all of a sequence by its input weights at once; a step then adds what comes from
the state before. A state is a tuple: (h,), or (h, c) of an LSTM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorplay._core.core import Tensor
from tensorplay.ops.dropout import dropout as drop_out
from tensorplay.ops.joining import cat, stack
from tensorplay.ops.kinds import public, require_tensor
from tensorplay.ops.products import linear
from tensorplay.ops.sigmoids import relu, sigmoid
from tensorplay.ops.trigonometry import tanh

State = tuple[Tensor, ...]


class _Weights(NamedTuple):
    """Of one layer in one direction."""

    of_input: Tensor
    of_state: Tensor
    input_bias: Tensor | None = None
    state_bias: Tensor | None = None
    projection: Tensor | None = None

    def from_input(self, x: Tensor) -> Tensor:
        return linear(x, self.of_input, self.input_bias)

    def from_state(self, h: Tensor) -> Tensor:
        return linear(h, self.of_state, self.state_bias)


# --- one step -------------------------------------------------------------------------------------


def _rnn_step(activation: Callable[[Tensor], Tensor]) -> Any:
    def step(x: Tensor, state: State, weights: _Weights) -> State:
        return (activation(x + weights.from_state(state[0])),)

    return step


def _lstm_step(x: Tensor, state: State, weights: _Weights) -> State:
    h, c = state
    enter, keep, new, leave = (x + weights.from_state(h)).chunk(4, -1)
    c = sigmoid(keep) * c + sigmoid(enter) * tanh(new)
    h = sigmoid(leave) * tanh(c)
    return (h if weights.projection is None else linear(h, weights.projection)), c


def _gru_step(x: Tensor, state: State, weights: _Weights) -> State:
    h = state[0]
    x_reset, x_keep, x_new = x.chunk(3, -1)
    h_reset, h_keep, h_new = weights.from_state(h).chunk(3, -1)
    new = tanh(x_new + sigmoid(x_reset + h_reset) * h_new)
    return (new + sigmoid(x_keep + h_keep) * (h - new),)


_STEPS = {
    "rnn_tanh": _rnn_step(tanh), "rnn_relu": _rnn_step(relu), "lstm": _lstm_step, "gru": _gru_step,
}  # fmt: skip
_GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


# --- one layer in one direction -------------------------------------------------------------------


def _scan(
    x: Tensor, state: State, weights: _Weights, step: Any, backward: bool
) -> tuple[Tensor, State]:
    """(h at every step, last state) over a sequence (L, N, features)."""
    found = []
    parts = weights.from_input(x).unbind(0)
    for part in reversed(parts) if backward else parts:
        state = step(part, state, weights)
        found.append(state[0])
    return stack(found[::-1] if backward else found), state


def _scan_packed(
    data: Tensor, sizes: list[int], state: State, weights: _Weights, step: Any, backward: bool
) -> tuple[Tensor, State]:
    """As `_scan`, over steps of shrinking batches that lie one after the other in `data`."""
    parts = weights.from_input(data).split(sizes)
    first, found = state, []
    if backward:
        # Sequences that are shorter begin later, with their own first state.
        state = tuple(s.narrow(0, 0, sizes[-1]) for s in first)
        for part in reversed(parts):
            more = part.shape[0] - state[0].shape[0]
            if more:
                at = state[0].shape[0]
                state = tuple(
                    cat([s, f.narrow(0, at, more)]) for s, f in zip(state, first, strict=True)
                )
            state = step(part, state, weights)
            found.append(state[0])
        return cat(found[::-1]), state
    ended: list[State] = []
    for part in parts:
        now, before = part.shape[0], state[0].shape[0]
        if now < before:
            ended.append(tuple(s.narrow(0, now, before - now) for s in state))
            state = tuple(s.narrow(0, 0, now) for s in state)
        state = step(part, state, weights)
        found.append(state[0])
    return cat(found), tuple(cat(whole) for whole in zip(state, *ended[::-1], strict=True))


# --- all layers -----------------------------------------------------------------------------------


def _layers(
    name: str, params: Sequence[Tensor], has_biases: bool, num_layers: int, bidirectional: bool
) -> list[_Weights]:
    """The weights, layer by layer, of each the forward direction first."""
    count = num_layers * (2 if bidirectional else 1)
    each = 4 if has_biases else 2
    projected = name == "lstm" and len(params) == count * (each + 1)
    if len(params) != count * (each + projected):
        raise RuntimeError(
            f"{name}(): expected {each} params for each of {count} layers and directions, got "
            f"{len(params)}"
        )
    found = []
    for i in range(count):
        own = list(params[i * (each + projected) : (i + 1) * (each + projected)])
        projection = own.pop() if projected else None
        biases = (own[2], own[3]) if has_biases else (None, None)
        found.append(_Weights(own[0], own[1], biases[0], biases[1], projection))
    return found


def _check(name: str, x: Tensor, states: State, weights: list[_Weights], batch: int) -> None:
    features, gates = x.shape[-1], _GATES[name]
    if features != weights[0].of_input.shape[1]:
        raise RuntimeError(
            f"{name}(): input has {features} features (shape {list(x.shape)}), but the weights "
            f"take {weights[0].of_input.shape[1]}"
        )
    hidden = weights[0].of_input.shape[0] // gates
    outputs = weights[0].of_state.shape[1]
    for s, size, what in zip(states, (outputs, hidden), ("h", "c"), strict=False):
        wanted = [len(weights), batch, size]
        if list(s.shape) != wanted:
            raise RuntimeError(
                f"{name}(): expected hx ({what}) of shape {wanted} (layers and directions, batch, "
                f"hidden size), got {list(s.shape)}"
            )


def _run(
    name: str, x: Tensor, sizes: list[int] | None, states: State, params: Sequence[Tensor],
    has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Tensor, State]:  # fmt: skip
    weights = _layers(name, params, has_biases, num_layers, bidirectional)
    _check(name, x, states, weights, x.shape[1] if sizes is None else sizes[0])
    directions = 2 if bidirectional else 1
    last: list[State] = []
    for layer in range(num_layers):
        if layer and train and dropout > 0:
            x = drop_out(x, dropout, True)
        found = []
        for direction in range(directions):
            i = layer * directions + direction
            state = tuple(s.select(0, i) for s in states)
            how = state, weights[i], _STEPS[name], bool(direction)
            out, state = _scan(x, *how) if sizes is None else _scan_packed(x, sizes, *how)
            found.append(out)
            last.append(state)
        x = found[0] if directions == 1 else cat(found, -1)
    return x, tuple(stack(whole) for whole in zip(*last, strict=True))


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of both signatures by name; `batch_sizes` of a packed sequence, or None."""
    packed = "batch_sizes" in kwargs or (
        len(args) > 2 and isinstance(args[1 if name == "lstm" else 2], Tensor)
    )
    names = ["input", "hx", "params", "has_biases", "num_layers", "dropout", "train",
             "bidirectional"]  # fmt: skip
    names = ["data", "batch_sizes", *names[1:]] if packed else [*names, "batch_first"]
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(given) & set(kwargs) or {*given, *kwargs} != set(names):
        raise TypeError(f"{name}(): expected the arguments {', '.join(names)}")
    return {**given, **kwargs}


def _sequence(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, State]:
    given = _arguments(name, args, kwargs)
    states = tuple(given["hx"]) if name == "lstm" else (given["hx"],)
    rest = [given[key] for key in ("has_biases", "num_layers", "dropout", "train", "bidirectional")]
    if "batch_sizes" in given:
        sizes = given["batch_sizes"].tolist()
        require_tensor(given["data"], name, "data")
        return _run(name, given["data"], sizes, states, given["params"], *rest)
    x = given["input"]
    require_tensor(x, name)
    if x.ndim != 3:
        raise RuntimeError(f"{name}(): expected input of 3 dims, got shape {list(x.shape)}")
    if given["batch_first"]:
        x = x.transpose(0, 1)
    if not x.shape[0]:
        raise RuntimeError(
            f"{name}(): the sequence must have at least one step, got input of shape "
            f"{list(given['input'].shape)}"
        )
    out, last = _run(name, x, None, states, given["params"], *rest)
    return (out.transpose(0, 1) if given["batch_first"] else out), last


def _public_sequence(name: str, what: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        out, last = _sequence(name, args, kwargs)
        return (out, *last)

    function.__name__ = function.__qualname__ = name
    state = "(h, c)" if name == "lstm" else "h"
    function.__doc__ = f"""{what} over a sequence: (output, last {state.strip("()")}).

    Called as {name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or for a packed sequence as {name}(data, batch_sizes, hx, params, has_biases,
    num_layers, dropout, train, bidirectional). input: (L, N, features), with batch_first
    (N, L, features). hx: {state}, each (layers * directions, N, size). params: per layer and
    direction the weights of the input and of the state, then with has_biases their biases. See
    `nn.{name.split("_")[0].upper()}`.

    Raises:
        RuntimeError: if shapes or the number of params do not fit, or there is no step.
        TypeError: for other arguments.
    """
    return public(name, method=False)(function)


rnn_tanh = _public_sequence("rnn_tanh", "A recurrent network tanh(W x + b + V h + c)")
rnn_relu = _public_sequence("rnn_relu", "A recurrent network relu(W x + b + V h + c)")
lstm = _public_sequence("lstm", "Long short-term memory (Hochreiter and Schmidhuber, 1997)")
gru = _public_sequence("gru", "A gated recurrent network (arXiv:1406.1078)")


# --- cells ----------------------------------------------------------------------------------------


def _cell(name: str, input: Tensor, hx: Any, *weights: Tensor | None) -> State:
    """One step of one layer."""
    cell = f"{name}_cell"
    require_tensor(input, cell)
    own = _Weights(*weights)  # type: ignore[arg-type]
    hidden, gates = own.of_state.shape[1], _GATES[name]
    states = tuple(hx) if name == "lstm" else (hx,)
    if input.shape[-1] != own.of_input.shape[1]:
        raise RuntimeError(
            f"{cell}(): input has inconsistent input_size: got {input.shape[-1]} (shape "
            f"{list(input.shape)}), expected {own.of_input.shape[1]}"
        )
    for s in states:
        require_tensor(s, cell, "hx")
        if s.shape[-1] != hidden or tuple(s.shape[:-1]) != tuple(input.shape[:-1]):
            raise RuntimeError(
                f"{cell}(): expected hx of shape {[*input.shape[:-1], hidden]}, got {list(s.shape)}"
            )
    if own.of_state.shape[0] != gates * hidden:
        raise RuntimeError(
            f"{cell}(): expected w_hh of shape {[gates * hidden, hidden]}, got "
            f"{list(own.of_state.shape)}"
        )
    return _STEPS[name](own.from_input(input), states, own)


@public(method=False)
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The next state tanh(w_ih @ input + b_ih + w_hh @ hx + b_hh) of samples (N, features).

    Raises:
        RuntimeError: if shapes do not fit.
    """
    return _cell("rnn_tanh", input, hx, w_ih, w_hh, b_ih, b_hh)[0]


@public(method=False)
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The next state relu(w_ih @ input + b_ih + w_hh @ hx + b_hh) of samples (N, features).

    Raises:
        RuntimeError: if shapes do not fit.
    """
    return _cell("rnn_relu", input, hx, w_ih, w_hh, b_ih, b_hh)[0]


@public(method=False)
def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The next (h, c) of an LSTM for samples (N, features); hx: (h, c).

    w_ih: (4 * hidden, features), w_hh: (4 * hidden, hidden), for the gates that let in, keep, make
    new and let out.

    Raises:
        RuntimeError: if shapes do not fit.
    """
    return _cell("lstm", input, hx, w_ih, w_hh, b_ih, b_hh)


@public(method=False)
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The next state of a GRU for samples (N, features).

    w_ih: (3 * hidden, features), w_hh: (3 * hidden, hidden), for the gates that reset, keep and
    make new.

    Raises:
        RuntimeError: if shapes do not fit.
    """
    return _cell("gru", input, hx, w_ih, w_hh, b_ih, b_hh)[0]
