"""Recurrent networks, cells and packed sequences against PyTorch's."""

import warnings

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn

OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"num_layers": 3, "batch_first": True, "bias": False},
]
KINDS = [
    *[(kind, options) for kind in ("RNN", "LSTM", "GRU") for options in OPTIONS],
    ("RNN", {"nonlinearity": "relu", "bidirectional": True}),
    ("LSTM", {"proj_size": 2}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True, "bias": False}),
]


def flat(value):
    """The tensors in nested tuples, a packed sequence's data among them."""
    if isinstance(value, (nn.utils.rnn.PackedSequence, torch.nn.utils.rnn.PackedSequence)):
        return [value.data]
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in flat(item)]
    return [value]


def pair(kind, *args, **options):
    """Our module and PyTorch's, with the same parameters."""
    ours = getattr(nn, kind)(*args, **options).double()
    theirs = getattr(torch.nn, kind)(*args, **options).double()
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in state.items()})
    assert repr(ours) == repr(theirs)
    return ours, theirs


def same(ours, theirs, ours_module, theirs_module, *inputs):
    """Results, gradients of inputs and of parameters."""
    a, b = flat(ours), flat(theirs)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), atol=1e-11)
    sum((x * x).sum() for x in a).backward()
    sum((y * y).sum() for y in b).backward()
    for x, y in inputs:
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-10)
    for p, q in zip(ours_module.parameters(), theirs_module.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-9)


def both(shape, seed=0):
    array = np.random.default_rng(seed).normal(size=shape)
    return tp.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)


def states(kind, options, batch):
    """A first state in both libraries."""
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    sizes = [options.get("proj_size") or 4] + ([4] if kind == "LSTM" else [])
    pairs = [both((count, *batch, size), seed) for seed, size in enumerate(sizes)]
    if kind == "LSTM":
        return tuple(x for x, _ in pairs), tuple(y for _, y in pairs), pairs
    return *pairs[0], pairs


@pytest.mark.parametrize("kind, options", KINDS)
@pytest.mark.parametrize("shape", [(5, 2, 3), (1, 1, 3), (5, 3)])
@pytest.mark.parametrize("given", [False, True])
def test_sequences(kind, options, shape, given):
    ours, theirs = pair(kind, 3, 4, **options)
    x, y = both(shape)
    if not given:
        same(ours(x), theirs(y), ours, theirs, (x, y))
        return
    batch = () if len(shape) == 2 else (shape[0 if options.get("batch_first") else 1],)
    h, k, pairs = states(kind, options, batch)
    same(ours(x, h), theirs(y, k), ours, theirs, (x, y), *pairs)


@pytest.mark.parametrize("kind, options", KINDS)
@pytest.mark.parametrize("lengths", [[5, 3, 1], [2, 5, 5]])
def test_packed_sequences(kind, options, lengths):
    ours, theirs = pair(kind, 3, 4, **options)
    x, y = both((3, 5, 3))
    pack = {"batch_first": True, "enforce_sorted": lengths == sorted(lengths, reverse=True)}
    ours_packed = nn.utils.rnn.pack_padded_sequence(x, lengths, **pack)
    theirs_packed = torch.nn.utils.rnn.pack_padded_sequence(y, lengths, **pack)
    assert ours_packed.batch_sizes.tolist() == theirs_packed.batch_sizes.tolist()
    h, k, _ = states(kind, options, (3,))
    same(ours(ours_packed, h), theirs(theirs_packed, k), ours, theirs, (x, y))


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("total", [None, 7])
def test_padding_and_packing(batch_first, total):
    arrays = [np.arange(n * 2.0).reshape(n, 2) for n in (2, 4, 3)]
    results = []
    for library in (tp, torch):
        rnn = library.nn.utils.rnn
        xs = [library.tensor(a) for a in arrays]
        packed = rnn.pack_sequence(xs, enforce_sorted=False)
        padded, lengths = rnn.pad_packed_sequence(packed, batch_first, -1.0, total)
        left = rnn.pad_sequence(xs, batch_first, 9.0, "left")
        unpadded = rnn.unpad_sequence(padded.clone(), lengths, batch_first)
        results.append([packed.data, packed.sorted_indices, packed.unsorted_indices, padded,
                        lengths, left, *unpadded, *rnn.unpack_sequence(packed)])  # fmt: skip
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("kind, options", [
    ("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu", "bias": False}), ("LSTMCell", {}),
    ("LSTMCell", {"bias": False}), ("GRUCell", {}), ("GRUCell", {"bias": False}),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_cells(kind, options, shape):
    ours, theirs = pair(kind, 3, 4, **options)
    x, y = both(shape)
    same(ours(x), theirs(y), ours, theirs, (x, y))
    h, k, pairs = states("LSTM" if kind == "LSTMCell" else "", {}, shape[:-1])
    h, k = (
        tuple(s.squeeze(0) for s in v) if isinstance(v, tuple) else v.squeeze(0) for v in (h, k)
    )
    for module in (ours, theirs):
        module.zero_grad()
    x, y = both(shape)
    same(ours(x, h), theirs(y, k), ours, theirs, (x, y), *pairs)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU", "LSTMCell"])
def test_starting_values(kind):
    tp.manual_seed(0), torch.manual_seed(0)
    ours, theirs = getattr(nn, kind)(50, 40), getattr(torch.nn, kind)(50, 40)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        a, b = p.detach().numpy(), q.detach().numpy()
        assert abs(a).max() == pytest.approx(abs(b).max(), rel=0.3), name
        assert a.std() == pytest.approx(b.std(), rel=0.3), name


BAD = [
    lambda m, t: m.RNN(3, 0),
    lambda m, t: m.RNN(3, 2.0),
    lambda m, t: m.RNN(3, 4, num_layers=0),
    lambda m, t: m.LSTM(3, 4, dropout=1.5),
    lambda m, t: m.LSTM(3, 4, dropout=True),
    lambda m, t: m.LSTM(3, 4, proj_size=4),
    lambda m, t: m.LSTM(3, 4, proj_size=-1),
    lambda m, t: m.RNN(3, 4, nonlinearity="sin"),
    lambda m, t: m.GRU(3, 4)(t.ones(2, 2, 5)),
    lambda m, t: m.GRU(3, 4)(t.ones(3)),
    lambda m, t: m.GRU(3, 4)(t.ones(2, 2, 3), t.ones(1, 2, 5)),
    lambda m, t: m.GRU(3, 4)(t.ones(2, 2, 3), t.ones(1, 4)),
    lambda m, t: m.GRU(3, 4)(t.ones(2, 3), t.ones(1, 1, 4)),
    lambda m, t: m.LSTM(3, 4)(t.ones(2, 2, 3), (t.ones(1, 2, 4), t.ones(2, 2, 4))),
    lambda m, t: m.LSTM(3, 4)(t.ones(0, 2, 3)),
    lambda m, t: m.RNNCell(3, 4)(t.ones(2, 2, 3)),
    lambda m, t: m.RNNCell(3, 4)(t.ones(2, 5)),
    lambda m, t: m.GRUCell(3, 4)(t.ones(2, 3), t.ones(3, 4)),
    lambda m, t: m.LSTMCell(3, 4)(t.ones(2, 3), (t.ones(2, 4), t.ones(2, 5))),
    lambda m, t: m.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [1, 3]),
    lambda m, t: m.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [3, 0]),
    lambda m, t: m.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [3]),
    lambda m, t: m.utils.rnn.pad_packed_sequence(
        m.utils.rnn.pack_sequence([t.ones(3)]), total_length=2
    ),
    lambda m, t: m.utils.rnn.pad_sequence([t.ones(3)], padding_side="top"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input(number):
    call = BAD[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as theirs:
            call(torch.nn, torch)
        with pytest.raises(theirs.type) as ours:
            call(nn, tp)
    assert len(str(ours.value)) > 20


def test_dropout_in_one_layer_warns():
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
        nn.GRU(3, 4, dropout=0.5)
