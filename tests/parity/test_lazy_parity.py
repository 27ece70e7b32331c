"""Lazy layers against PyTorch's: sizes, class, state and results after the first call."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn

pytestmark = pytest.mark.filterwarnings("ignore:Lazy modules")

LAYERS = [
    ("LazyLinear", (3,), {}, (2, 5)),
    ("LazyLinear", (3,), {"bias": False}, (2, 4, 5)),
    *[(f"LazyConv{n}d", (4, 2), {}, (1, 2, *(4,) * n)) for n in (1, 2, 3)],
    ("LazyConv2d", (4, 2), {"groups": 2, "stride": 2, "bias": False}, (1, 2, 4, 4)),
    ("LazyConv2d", (4, 2), {"padding": "same", "dilation": 2}, (2, 4, 4)),
    *[(f"LazyConvTranspose{n}d", (4, 2), {}, (1, 2, *(3,) * n)) for n in (1, 2, 3)],
    ("LazyConvTranspose1d", (4, 3), {"stride": 2, "output_padding": 1, "groups": 2}, (1, 2, 3)),
    *[(f"LazyBatchNorm{n}d", (), {}, (3, 2, *(3,) * n)) for n in (1, 2, 3)],
    ("LazyBatchNorm1d", (), {"affine": False, "eps": 0.1}, (3, 2)),
    *[(f"LazyInstanceNorm{n}d", (), {}, (3, 2, *(3,) * n)) for n in (1, 2, 3)],
    ("LazyInstanceNorm1d", (), {"track_running_stats": False}, (3, 2, 4)),
]  # fmt: skip


@pytest.mark.parametrize("name, args, options, shape", LAYERS)
def test_the_first_call_finds_the_sizes(name, args, options, shape):
    ours = getattr(nn, name)(*args, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(torch.nn, name)(*args, **options)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert ours.has_uninitialized_params() == theirs.has_uninitialized_params()
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    ours(tp.tensor(x)), theirs(torch.tensor(x))
    assert type(ours).__name__ == type(theirs).__name__ == name.removeprefix("Lazy")
    assert repr(ours) == repr(theirs)
    shapes = {k: tuple(v.shape) for k, v in theirs.state_dict().items()}
    assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == shapes
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    a, b = ours(tp.tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-5)
    assert all(type(p) is nn.Parameter and p.requires_grad for p in ours.parameters())
    assert not ours._forward_pre_hooks


def test_starting_values_are_those_of_the_layer():
    layer = nn.LazyLinear(400)
    layer(tp.ones(1, 100))
    assert layer.weight.abs().max().item() == pytest.approx(0.1, rel=0.05)


def test_a_state_dict_gives_the_shapes():
    source, layer = nn.Linear(5, 3), nn.LazyLinear(3)
    layer.load_state_dict(source.state_dict())
    assert not layer.has_uninitialized_params()
    x = tp.rand(2, 5)
    assert (layer(x) == source(x)).all()
    assert type(layer) is nn.Linear and layer.in_features == 5


def test_states_without_shapes():
    lazy = nn.LazyLinear(3)
    other = nn.LazyLinear(3)
    other.load_state_dict(lazy.state_dict())
    assert other.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="uninitialized"):
        nn.Linear(5, 3).load_state_dict(lazy.state_dict())


@pytest.mark.parametrize("copies", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_wait_too(copies):
    layer = copies(nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()))
    assert layer(tp.rand(4, 5)).shape == (4, 3)
    assert isinstance(layer[0], nn.Linear) and not isinstance(layer[0], nn.LazyLinear)


def test_uninitialized_tensors():
    p = nn.UninitializedParameter(dtype=tp.float64)
    assert repr(p) == repr(torch.nn.UninitializedParameter())
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        p.shape  # noqa: B018
    p.materialize((2, 3))
    assert type(p) is nn.Parameter and p.shape == (2, 3) and p.dtype is tp.float64
    b = nn.UninitializedBuffer()
    b.materialize((4,))
    assert type(b) is nn.Buffer and b.shape == (4,)


BAD = [
    lambda m, t: m.LazyConv2d(4, 2)(t.ones(3, 3)),
    lambda m, t: m.LazyConv2d(4, 2, groups=2)(t.ones(1, 3, 3, 3)),
    lambda m, t: m.LazyConv2d(4, 2, padding_mode="no"),
    lambda m, t: m.LazyBatchNorm2d()(t.ones(2, 3)),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input(number):
    types = []
    for library in (torch, tp):
        with pytest.raises(Exception) as error:
            BAD[number](library.nn, library)
        types.append(error.type)
    assert issubclass(types[1], types[0])
