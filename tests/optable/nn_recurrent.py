"""Rows of the recurrent networks and their cells."""

import numpy as np

from tensorplay._core import core
from tests.optable.schema import Op, register, sample

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


def _params(make, name, features, hidden, layers, directions, biases, projected=0):
    """Weights, and biases, of every layer and direction."""
    rows, output = GATES[name] * hidden, projected or hidden
    found = []
    for layer in range(layers):
        inputs = features if layer == 0 else directions * output
        for _ in range(directions):
            found += [make(rows, inputs, low=-1, high=1), make(rows, output, low=-1, high=1)]
            if biases:
                found += [make(rows), make(rows)]
            if projected:
                found.append(make(projected, hidden))
    return found


def _hidden(make, name, count, batch, hidden, projected=0):
    h = make(count, batch, projected or hidden)
    return (h, make(count, batch, hidden)) if name == "lstm" else h


def _sequences(name):
    def samples(make):
        # (x, h, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
        calls = [
            sample(make(3, 2, 2), _hidden(make, name, 1, 2, 3),
                   _params(make, name, 2, 3, 1, 1, True), True, 1, 0.0, True, False, False),
            sample(make(2, 3, 2), _hidden(make, name, 4, 2, 2),
                   _params(make, name, 2, 2, 2, 2, False), False, 2, 0.5, False, True, True),
        ]  # fmt: skip
        if name == "lstm":
            calls.append(
                sample(make(2, 1, 2), _hidden(make, name, 2, 1, 3, 2),
                       _params(make, name, 2, 3, 1, 2, True, 2), True, 1, 0.0, True, True, False)
            )  # fmt: skip
        return calls

    return samples


def _packed(name):
    def samples(make):
        sizes = core.from_array(np.array([3, 2, 2]))
        return [
            sample(make(7, 2), sizes, _hidden(make, name, 2, 3, 2),
                   _params(make, name, 2, 2, 1, 2, True), True, 1, 0.0, True, True)
        ]  # fmt: skip

    return samples


def _cells(name):
    def samples(make):
        rows = GATES[name] * 3

        def state(*shape):
            return (make(*shape, 3), make(*shape, 3)) if name == "lstm" else make(*shape, 3)

        weights = make(rows, 2), make(rows, 3)
        return [
            sample(make(4, 2), state(4), *weights, make(rows), make(rows)),
            sample(make(1, 2), state(1), *weights),
        ]

    return samples


for _name in GATES:
    register(
        Op(_name, _sequences(_name)),
        Op(f"{_name}:packed", _packed(_name),
           skip={"vmap_ints": "the sizes of the steps say how the data is divided"}),
        Op(f"{_name}_cell", _cells(_name)),
    )  # fmt: skip
