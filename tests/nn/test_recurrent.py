"""Recurrent networks: what they compute, step by step, in every mode of differentiation."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn
from tensorplay.nn.utils import rnn


def cell_of(layer, end=""):
    """A cell with the parameters of a layer in one direction."""
    kind = {"LSTM": nn.LSTMCell, "GRU": nn.GRUCell}.get(layer.mode, nn.RNNCell)
    cell = kind(layer.input_size, layer.hidden_size).double()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        with tp.no_grad():
            getattr(cell, name).copy_(getattr(layer, f"{name}_l0{end}"))
    return cell


def numbers(*shape):
    return tp.tensor(np.random.default_rng(0).normal(size=shape))


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_layer_is_its_cell_step_by_step(kind):
    layer = kind(3, 4, bidirectional=True).double()
    x = numbers(5, 2, 3)
    out, _ = layer(x)
    for end, steps, part in (("", range(5), out[..., :4]), ("_reverse", range(4, -1, -1),
                                                            out[..., 4:])):  # fmt: skip
        cell, state = cell_of(layer, end), None
        for t in steps:
            state = cell(x[t], state)
            h = state[0] if kind is nn.LSTM else state
            np.testing.assert_allclose(part[t].detach().numpy(), h.detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_packed_sequence_is_every_sequence_alone(kind):
    layer = kind(3, 4, num_layers=2, bidirectional=True).double()
    sequences = [numbers(n, 3) for n in (2, 5, 1)]
    packed, last = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    found = rnn.unpack_sequence(packed)
    for i, x in enumerate(sequences):
        out, alone = layer(x)
        np.testing.assert_allclose(found[i].detach().numpy(), out.detach().numpy(), atol=1e-12)
        for whole, own in zip(last, alone, strict=True) if kind is nn.LSTM else [(last, alone)]:
            np.testing.assert_allclose(
                whole[:, i].detach().numpy(), own.detach().numpy(), atol=1e-12
            )


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_derivatives_of_every_kind(kind):
    layer = kind(2, 2, num_layers=2, bidirectional=True).double()

    def function(x, *weights):
        names = [name for name, _ in layer.named_parameters()]
        out, _ = tp.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x,))
        return out

    inputs = [numbers(3, 1, 2), *(p.detach() for p in layer.parameters())]
    inputs = [x.requires_grad_() for x in inputs]
    assert tp.autograd.gradcheck(function, inputs, check_forward_ad=True, check_batched_grad=True)
    assert tp.autograd.gradgradcheck(lambda x: function(x, *inputs[1:]), inputs[:1])


def test_gradients_for_each_sample():
    layer = nn.GRU(2, 3).double()
    state = {name: p.detach() for name, p in layer.named_parameters()}
    x = numbers(4, 5, 2)  # four samples of five steps

    def loss(parameters, sample):
        out, _ = tp.func.functional_call(layer, parameters, (sample,))
        return (out * out).sum()

    each = tp.func.vmap(tp.func.grad(loss), in_dims=(None, 0))(state, x)
    for i in range(4):
        alone = tp.func.grad(loss)(state, x[i])
        for name, value in alone.items():
            np.testing.assert_allclose(each[name][i].numpy(), value.numpy(), atol=1e-12)


def test_dropout_is_between_layers_and_in_training_only():
    layer = nn.RNN(2, 3, num_layers=2, dropout=0.5).double()
    x = numbers(4, 2, 2)
    a, b = layer(x)[0], layer(x)[0]
    assert not np.allclose(a.detach().numpy(), b.detach().numpy())
    layer.eval()
    np.testing.assert_array_equal(layer(x)[0].detach().numpy(), layer(x)[0].detach().numpy())


def test_a_long_sequence_learns():
    tp.manual_seed(0)
    layer, head = nn.LSTM(1, 8, batch_first=True), nn.Linear(8, 1)
    optimizer = tp.optim.Adam([*layer.parameters(), *head.parameters()], 0.02)
    x = (tp.rand(32, 12, 1) > 0.5).float()
    wanted = x.cumsum(1) % 2  # parity of what came so far
    for _ in range(150):
        loss = nn.functional.binary_cross_entropy_with_logits(head(layer(x)[0]), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.5
