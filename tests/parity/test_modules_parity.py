"""Modules against PyTorch's: the same state, results, gradients, state_dict keys and repr."""

import warnings

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn

# (class, arguments, options, shapes of the inputs)
MODULES = [
    ("Identity", (3,), {}, [(2, 3)]),
    ("Linear", (3, 4), {}, [(2, 3)]),
    ("Linear", (3, 4), {"bias": False}, [(2, 5, 3)]),
    ("Bilinear", (3, 4, 2), {}, [(5, 3), (5, 4)]),
    ("Flatten", (), {}, [(2, 3, 4)]),
    ("Unflatten", (1, (2, 3)), {}, [(2, 6)]),
    ("Conv1d", (4, 6, 3), {"padding": "same", "groups": 2}, [(2, 4, 7)]),
    ("Conv2d", (3, 4, (3, 2)), {"stride": 2, "padding": 1, "dilation": 2}, [(2, 3, 8, 8)]),
    ("Conv2d", (3, 4, 3), {"padding": 1, "padding_mode": "reflect"}, [(2, 3, 5, 5)]),
    ("Conv2d", (3, 4, 3), {"padding": (2, 1), "padding_mode": "circular", "bias": False},
     [(3, 5, 5)]),
    ("Conv3d", (2, 2, 2), {}, [(1, 2, 3, 3, 3)]),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1, "groups": 2}, [(2, 4, 5)]),
    ("ConvTranspose2d", (3, 4, 2), {"dilation": 2, "padding": 1}, [(2, 3, 4, 4)]),
    ("ConvTranspose3d", (2, 2, 2), {"bias": False}, [(1, 2, 2, 2, 2)]),
    ("BatchNorm1d", (3,), {}, [(4, 3)]),
    ("BatchNorm1d", (3,), {"momentum": None}, [(4, 3, 2)]),
    ("BatchNorm2d", (3,), {"affine": False}, [(2, 3, 4, 4)]),
    ("BatchNorm3d", (3,), {"track_running_stats": False}, [(2, 3, 2, 2, 2)]),
    ("InstanceNorm1d", (3,), {"affine": True, "track_running_stats": True}, [(2, 3, 4)]),
    ("InstanceNorm2d", (3,), {}, [(3, 4, 4)]),
    ("InstanceNorm3d", (2,), {"affine": True}, [(1, 2, 2, 2, 2)]),
    ("LayerNorm", (4,), {}, [(2, 3, 4)]),
    ("LayerNorm", ((3, 4),), {"bias": False}, [(2, 3, 4)]),
    ("RMSNorm", (4,), {}, [(2, 4)]),
    ("GroupNorm", (2, 4), {}, [(3, 4, 2)]),
    ("LocalResponseNorm", (2,), {}, [(2, 4, 3)]),
    ("MaxPool1d", (2,), {}, [(2, 3, 6)]),
    ("MaxPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, [(2, 3, 6, 6)]),
    ("MaxPool3d", (2,), {"dilation": 1}, [(1, 2, 4, 4, 4)]),
    ("AvgPool1d", (2,), {"padding": 1}, [(2, 3, 6)]),
    ("AvgPool2d", (2,), {"count_include_pad": False, "padding": 1}, [(2, 3, 6, 6)]),
    ("AvgPool3d", (2,), {"divisor_override": 3}, [(1, 2, 4, 4, 4)]),
    ("AdaptiveAvgPool1d", (3,), {}, [(2, 3, 7)]),
    ("AdaptiveAvgPool2d", ((3, None),), {}, [(2, 3, 7, 5)]),
    ("AdaptiveAvgPool3d", (2,), {}, [(1, 2, 3, 4, 5)]),
    ("AdaptiveMaxPool1d", (3,), {}, [(2, 3, 7)]),
    ("AdaptiveMaxPool2d", (2,), {}, [(2, 3, 7, 5)]),
    ("AdaptiveMaxPool3d", (2,), {}, [(1, 2, 3, 4, 5)]),
    ("LPPool1d", (2, 2), {}, [(2, 3, 6)]),
    ("LPPool2d", (2, 2), {"stride": 1}, [(2, 3, 4, 4)]),
    *[(f"{kind}Pad{n}d", (1,), {}, [(1, 2, *(3,) * n)])
      for kind in ("Zero", "Reflection", "Replication", "Circular") for n in (1, 2, 3)],
    *[(f"ConstantPad{n}d", (1, 2.5), {}, [(1, 2, *(3,) * n)]) for n in (1, 2, 3)],
    *[(name, (), {}, [(3, 4)]) for name in (
        "ReLU", "ReLU6", "Sigmoid", "Tanh", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish",
        "Hardtanh", "Hardsigmoid", "Hardswish", "Hardshrink", "Softshrink", "Softsign", "Softplus",
        "Tanhshrink", "LeakyReLU", "LogSigmoid", "PReLU", "GLU")],
    ("ReLU", (), {"inplace": True}, [(3, 4)]),
    ("GELU", ("tanh",), {}, [(3, 4)]),
    ("PReLU", (4,), {}, [(3, 4)]),
    ("Threshold", (0.1, 2.0), {}, [(3, 4)]),
    ("Softmax", (1,), {}, [(3, 4)]),
    ("LogSoftmax", (1,), {}, [(3, 4)]),
    ("Softmin", (1,), {}, [(3, 4)]),
    ("Softmax2d", (), {}, [(2, 3, 2, 2)]),
    ("Upsample", (), {"scale_factor": 2, "mode": "bilinear"}, [(1, 2, 3, 3)]),
    ("UpsamplingNearest2d", (), {"size": (4, 5)}, [(1, 2, 3, 3)]),
    ("UpsamplingBilinear2d", (), {"scale_factor": 2}, [(1, 2, 3, 3)]),
    ("PixelShuffle", (2,), {}, [(1, 4, 2, 2)]),
    ("PixelUnshuffle", (2,), {}, [(1, 1, 4, 4)]),
    ("ChannelShuffle", (2,), {}, [(1, 4, 2, 2)]),
    ("Unfold", (2,), {}, [(1, 2, 3, 3)]),
    ("Fold", ((3, 3), 2), {}, [(1, 8, 4)]),
    ("CosineSimilarity", (), {}, [(3, 4), (3, 4)]),
    ("PairwiseDistance", (), {}, [(3, 4), (3, 4)]),
    ("MSELoss", (), {}, [(3, 4), (3, 4)]),
    ("L1Loss", (), {"reduction": "sum"}, [(3, 4), (3, 4)]),
    ("SmoothL1Loss", (), {}, [(3, 4), (3, 4)]),
    ("HuberLoss", (), {"delta": 0.5}, [(3, 4), (3, 4)]),
    ("BCEWithLogitsLoss", (), {}, [(3, 4), (3, 4)]),
    ("KLDivLoss", (), {"reduction": "batchmean", "log_target": True}, [(3, 4), (3, 4)]),
    ("PoissonNLLLoss", (), {}, [(3, 4), (3, 4)]),
    ("TripletMarginLoss", (), {"swap": True}, [(3, 4), (3, 4), (3, 4)]),
    ("TripletMarginWithDistanceLoss", (), {}, [(3, 4), (3, 4), (3, 4)]),
    ("MultiheadAttention", (4, 2), {}, [(3, 2, 4)] * 3),
    ("MultiheadAttention", (4, 2), {"batch_first": True, "add_bias_kv": True,
                                    "add_zero_attn": True}, [(2, 3, 4)] * 3),
    ("MultiheadAttention", (4, 2), {"kdim": 3, "vdim": 5}, [(3, 2, 4), (6, 2, 3), (6, 2, 5)]),
]  # fmt: skip

# Modules with integer inputs: (class, arguments, options, the inputs)
INDEXED = [
    ("Embedding", (5, 3), {"padding_idx": 1}, [[0, 1, 4]]),
    ("EmbeddingBag", (5, 3), {"mode": "sum"}, [[[0, 1], [4, 4]]]),
    ("NLLLoss", (), {}, [(3, 4), [0, 3, 1]]),
    ("CrossEntropyLoss", (), {"label_smoothing": 0.2, "ignore_index": 3}, [(3, 4), [0, 3, 1]]),
    ("MultiMarginLoss", (), {}, [(3, 4), [0, 3, 1]]),
]

REPR_DIFFERS = {
    "MultiheadAttention": "PyTorch prints the class of its output projection, which is internal",
    "TripletMarginWithDistanceLoss": "PyTorch keeps the default distance as a module",
}


def same_state(ours, theirs):
    """Give both the same parameters: ours as float64 copies of PyTorch's."""
    theirs.double()
    ours.double()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in theirs.state_dict().items()})


def first(value):
    return value[0] if isinstance(value, tuple) else value


def compare(ours, theirs, arrays):
    xs, ys = [], []
    for a in arrays:
        floating = a.dtype.kind == "f"
        xs.append(tp.tensor(a, requires_grad=floating))
        ys.append(torch.tensor(a, requires_grad=floating))
    inplace = getattr(theirs, "inplace", False)
    a = first(ours(*[x * 1 if inplace else x for x in xs]))
    b = first(theirs(*[y * 1 if inplace else y for y in ys]))
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)
    if b.requires_grad:
        a.sum().backward()
        b.sum().backward()
    for x, y in zip(xs, ys, strict=True):
        if y.grad is not None:
            np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-7, atol=1e-10)
    grads = {n: p.grad for n, p in ours.named_parameters()}
    for name, p in theirs.named_parameters():
        if p.grad is not None:
            np.testing.assert_allclose(grads[name].numpy(), p.grad.numpy(), rtol=1e-8, atol=1e-10)
    for name, value in theirs.state_dict().items():  # running statistics too
        np.testing.assert_allclose(ours.state_dict()[name].numpy(), value.numpy(), rtol=1e-9)


@pytest.mark.parametrize("name, args, options, shapes", MODULES)
def test_results_gradients_state_and_repr(name, args, options, shapes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (
            getattr(nn, name)(*args, **options),
            getattr(torch.nn, name)(*args, **options),
        )
    same_state(ours, theirs)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in shapes]
    if name == "MultiheadAttention" and len(set(shapes)) == 1:
        arrays = arrays[:1] * 3
    for _ in range(2):
        compare(ours, theirs, arrays)
    ours.eval(), theirs.eval()
    if name != "MultiheadAttention":  # PyTorch takes a path of its own there, without gradients
        compare(ours, theirs, arrays)
    if name not in REPR_DIFFERS:
        assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name, args, options, inputs", INDEXED)
def test_modules_of_indices(name, args, options, inputs):
    ours, theirs = getattr(nn, name)(*args, **options), getattr(torch.nn, name)(*args, **options)
    same_state(ours, theirs)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=i) if isinstance(i, tuple) else np.array(i) for i in inputs]
    compare(ours, theirs, arrays)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name, args", [
    ("Linear", (50, 400)), ("Conv2d", (8, 400, 3)), ("ConvTranspose2d", (8, 400, 3)),
    ("Bilinear", (20, 10, 400)), ("Embedding", (100, 20)), ("MultiheadAttention", (64, 4)),
])  # fmt: skip
def test_starting_values_have_pytorchs_range(name, args):
    ours, theirs = getattr(nn, name)(*args), getattr(torch.nn, name)(*args)
    for (key, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        a, b = p.detach().numpy(), q.detach().numpy()
        assert a.std() == pytest.approx(b.std(), rel=0.2, abs=1e-9), key
        assert abs(a).max() == pytest.approx(abs(b).max(), rel=0.35, abs=1e-9), key


@pytest.mark.parametrize("name", [
    "uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
    "kaiming_normal_", "orthogonal_", "eye_", "ones_", "zeros_",
])  # fmt: skip
def test_init_functions_have_pytorchs_moments(name):
    ours, theirs = tp.empty(60, 40), torch.empty(60, 40)
    getattr(nn.init, name)(ours)
    getattr(torch.nn.init, name)(theirs)
    a, b = ours.numpy(), theirs.numpy()
    assert a.mean() == pytest.approx(b.mean(), abs=0.06)
    assert a.std() == pytest.approx(b.std(), rel=0.1, abs=1e-9)


def test_clipping_gradients():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 4)), rng.normal(size=5)]
    for norm in (2.0, 1.0, float("inf")):
        results = []
        for library, utils in ((tp, nn.utils), (torch, torch.nn.utils)):
            ps = [library.zeros(a.shape, dtype=library.float64, requires_grad=True) for a in arrays]
            for p, a in zip(ps, arrays, strict=True):
                p.grad = library.tensor(a)
            total = utils.clip_grad_norm_(ps, 0.7, norm)
            results.append([total.numpy(), *[p.grad.numpy() for p in ps]])
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
