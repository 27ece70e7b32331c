"""Transformers against PyTorch's: state, results and gradients, with masks of every kind."""

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn

OPTIONS = [
    {},
    {"norm_first": True, "batch_first": True},
    {"activation": "gelu", "bias": False},
    {"layer_norm_eps": 1e-3, "norm_first": True, "activation": "gelu"},
]
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

LAYER = (8, 2, 12, 0.0)  # features, heads, features within the block, dropout


def pair(name, *args, **options):
    """Our module and PyTorch's, with the same parameters."""
    ours, theirs = getattr(nn, name)(*args, **options), getattr(torch.nn, name)(*args, **options)
    return same_state(ours, theirs)


def same_state(ours, theirs):
    ours.double(), theirs.double()
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    rng = np.random.default_rng(3)
    for value in state.values():  # biases start at zero, which would hide mistakes
        value.add_(torch.tensor(rng.normal(scale=0.1, size=value.shape)))
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in state.items()})
    return ours, theirs


def both(shape, seed):
    array = np.random.default_rng(seed).normal(size=shape)
    return tp.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)


def compare(ours, theirs, inputs, masks):
    """Results and every gradient, on inputs and masks given as arrays."""
    xs, ys = zip(*inputs, strict=True)
    a = ours(*xs, **{k: v if isinstance(v, bool) else tp.tensor(v) for k, v in masks.items()})
    b = theirs(*ys, **{k: v if isinstance(v, bool) else torch.tensor(v) for k, v in masks.items()})
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-10)
    (a * a).sum().backward()
    (b * b).sum().backward()
    for x, y in inputs:
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-9)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-8, err_msg=name)


CAUSAL = np.triu(np.full((5, 5), -np.inf), 1)
PADDING = np.array([[False] * 5, [False, False, False, True, True]])
BIAS = np.random.default_rng(9).normal(size=(5, 5))

SELF_MASKS = [
    {},
    {"src_mask": CAUSAL},
    {"src_mask": CAUSAL, "is_causal": True},
    {"src_mask": np.isinf(CAUSAL), "src_key_padding_mask": PADDING},
    {"src_mask": BIAS},
    {"src_key_padding_mask": np.where(PADDING, -np.inf, 0.0)},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("masks", SELF_MASKS)
def test_encoder_layer(options, masks):
    ours, theirs = pair("TransformerEncoderLayer", *LAYER, **options)
    shape = (2, 5, 8) if options.get("batch_first") else (5, 2, 8)
    compare(ours, theirs, [both(shape, 0)], masks)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("masks", [
    {},
    {"tgt_mask": CAUSAL, "tgt_is_causal": True, "memory_mask": BIAS},
    {"tgt_key_padding_mask": PADDING, "memory_key_padding_mask": PADDING},
])  # fmt: skip
def test_decoder_layer(options, masks):
    ours, theirs = pair("TransformerDecoderLayer", *LAYER, **options)
    shape = (2, 5, 8) if options.get("batch_first") else (5, 2, 8)
    compare(ours, theirs, [both(shape, 0), both(shape, 1)], masks)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("masks", [{}, {"mask": CAUSAL}, {"mask": CAUSAL, "is_causal": True},
                                   {"src_key_padding_mask": PADDING}])  # fmt: skip
def test_encoder(norm, masks):
    made = []
    for library in (nn, torch.nn):
        layer = library.TransformerEncoderLayer(*LAYER)
        last = library.LayerNorm(8) if norm else None
        made.append(library.TransformerEncoder(layer, 2, last, enable_nested_tensor=False))
    ours, theirs = same_state(*made)
    compare(ours, theirs, [both((5, 2, 8), 0)], masks)


@pytest.mark.parametrize("options", OPTIONS[:2])
@pytest.mark.parametrize("masks", [
    {}, {"tgt_mask": CAUSAL}, {"tgt_mask": CAUSAL, "src_key_padding_mask": PADDING,
                               "memory_key_padding_mask": PADDING},
])  # fmt: skip
def test_transformer(options, masks):
    ours, theirs = pair("Transformer", 8, 2, 2, 2, 12, 0.0, **options)
    shape = (2, 5, 8) if options.get("batch_first") else (5, 2, 8)
    compare(ours, theirs, [both(shape, 0), both(shape, 1)], masks)


def test_one_sequence_without_a_batch():
    ours, theirs = pair("Transformer", 8, 2, 1, 1, 12, 0.0)
    compare(ours, theirs, [both((4, 8), 0), both((3, 8), 1)], {})


def test_the_causal_mask():
    ours = nn.Transformer.generate_square_subsequent_mask(4)
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(4)
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_dropout_differs_from_call_to_call_in_training_only():
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.5)
    x = tp.ones(3, 1, 8)
    assert (layer(x) != layer(x)).any()
    layer.eval()
    assert (layer(x) == layer(x)).all()


BAD = [
    lambda m, t: m.TransformerEncoderLayer(8, 2, activation="sin"),
    lambda m, t: m.TransformerEncoderLayer(8, 3),
    lambda m, t: m.Transformer(8, 2, 1, 1, 4)(t.ones(4, 2, 8), t.ones(4, 3, 8)),
    lambda m, t: m.Transformer(8, 2, 1, 1, 4)(t.ones(4, 2, 6), t.ones(4, 2, 8)),
    lambda m, t: m.TransformerEncoderLayer(8, 2, 4)(t.ones(5, 2, 8), t.ones(3, 3)),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input(number):
    with pytest.raises(Exception) as theirs:
        BAD[number](torch.nn, torch)
    with pytest.raises(theirs.type):
        BAD[number](nn, tp)
