"""Parametrizations, weight and spectral normalisation against PyTorch's."""

import copy
import warnings

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")

MODULES = [
    ("Linear", (3, 4), (2, 3)),
    ("Conv2d", (2, 3, 2), (1, 2, 4, 4)),
    ("ConvTranspose1d", (2, 3, 2), (1, 2, 4)),
]


def pair(name, args):
    """The same module in both libraries, with equal parameters."""
    ours, theirs = getattr(nn, name)(*args).double(), getattr(torch.nn, name)(*args).double()
    copy_state(ours, theirs)
    return ours, theirs


def copy_state(ours, theirs):
    state = theirs.state_dict()
    assert sorted(ours.state_dict()) == sorted(state)
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in state.items()})


def same_step(ours, theirs, shape, seed=0):
    """Results, gradients and state of one call."""
    x = np.random.default_rng(seed).normal(size=shape)
    a, b = ours(tp.tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-10)
    for module, out in ((ours, a), (theirs, b)):
        module.zero_grad()
        (out * out).sum().backward()
    mine = dict(ours.named_parameters())
    for name, q in theirs.named_parameters():
        np.testing.assert_allclose(mine[name].grad.numpy(), q.grad.numpy(), atol=1e-9)
    for name, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[name].numpy(), value.numpy(), atol=1e-10)


@pytest.mark.parametrize("name, args, shape", MODULES)
@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.parametrize("form", ["hooks", "parametrization"])
def test_weight_norm(name, args, shape, dim, form):
    ours, theirs = pair(name, args)
    for library, module in ((nn, ours), (torch.nn, theirs)):
        utils = library.utils if form == "hooks" else library.utils.parametrizations
        assert utils.weight_norm(module, dim=dim) is module
    copy_state(ours, theirs)
    same_step(ours, theirs, shape)
    with tp.no_grad():  # the weight follows its parameters
        size = next(p for n, p in ours.named_parameters() if n.endswith(("_g", "original0")))
        size.mul_(2)
        size = next(p for n, p in theirs.named_parameters() if n.endswith(("_g", "original0")))
        size.data.mul_(2)
    same_step(ours, theirs, shape, 1)
    if form == "hooks":
        nn.utils.remove_weight_norm(ours), torch.nn.utils.remove_weight_norm(theirs)
    else:
        nn.utils.parametrize.remove_parametrizations(ours, "weight")
        torch.nn.utils.parametrize.remove_parametrizations(theirs, "weight")
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    same_step(ours, theirs, shape)


@pytest.mark.parametrize("name, args, shape", MODULES)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("form", ["hooks", "parametrization"])
def test_spectral_norm(name, args, shape, times, form):
    ours, theirs = pair(name, args)
    for library, module in ((nn, ours), (torch.nn, theirs)):
        utils = library.utils if form == "hooks" else library.utils.parametrizations
        utils.spectral_norm(module, n_power_iterations=times)
    ours.double()
    theirs.double()
    copy_state(ours, theirs)
    for seed in range(3):
        same_step(ours, theirs, shape, seed)
    ours.eval(), theirs.eval()
    same_step(ours, theirs, shape)
    if form == "hooks":
        nn.utils.remove_spectral_norm(ours), torch.nn.utils.remove_spectral_norm(theirs)
        same_step(ours, theirs, shape)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (2, 3)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivialized", [False, True])
def test_orthogonal(shape, kind, trivialized):
    ours, theirs = pair("Linear", shape[::-1])
    for library, module in ((nn, ours), (torch.nn, theirs)):
        library.utils.parametrizations.orthogonal(
            module, orthogonal_map=kind, use_trivialization=trivialized
        )
    state = theirs.state_dict()
    assert sorted(ours.state_dict()) == sorted(state)
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in state.items()})
    same_step(ours, theirs, (2, shape[1]))
    weight = ours.weight.detach().numpy()
    product = weight @ weight.T if shape[0] < shape[1] else weight.T @ weight
    np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-10)
    if trivialized:
        target = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))[0][
            : shape[0], : shape[1]
        ]
        if shape[0] == shape[1]:
            target = np.linalg.qr(target)[0]
            ours.weight = tp.tensor(target)
            np.testing.assert_allclose(ours.weight.detach().numpy(), target, atol=1e-8)


class OurDouble(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class TheirDouble(torch.nn.Module):
    forward, right_inverse = OurDouble.forward, OurDouble.right_inverse


class OurShift(nn.Module):
    def forward(self, x):
        return x + 1


class TheirShift(torch.nn.Module):
    forward = OurShift.forward


def test_several_parametrizations_of_one_tensor():
    ours, theirs = pair("Linear", (2, 2))
    before = theirs.weight.detach().clone()
    for library, module, kinds in (
        (nn, ours, (OurDouble, OurShift)), (torch.nn, theirs, (TheirDouble, TheirShift)),
    ):  # fmt: skip
        for kind in kinds:
            library.utils.parametrize.register_parametrization(module, "weight", kind())
    assert repr(ours).replace("Our", "") == repr(theirs).replace("Their", "")
    np.testing.assert_allclose(ours.weight.detach().numpy(), (before + 1).numpy())
    same_step(ours, theirs, (3, 2))
    copied = copy.deepcopy(ours)
    np.testing.assert_allclose(copied.weight.detach().numpy(), ours.weight.detach().numpy())
    parametrize = nn.utils.parametrize
    assert parametrize.is_parametrized(ours) and parametrize.is_parametrized(ours, "weight")
    assert not parametrize.is_parametrized(ours, "bias")
    assert parametrize.type_before_parametrizations(ours) is nn.Linear
    original = ours.parametrizations.weight.original
    parametrize.remove_parametrizations(ours, "weight", leave_parametrized=False)
    assert ours.weight is original and type(ours) is nn.Linear


def test_assigning_goes_through_the_inverse():
    layer = nn.Linear(2, 2)
    nn.utils.parametrize.register_parametrization(layer, "weight", OurDouble())
    layer.weight = tp.ones(2, 2)
    assert (layer.parametrizations.weight.original == 0.5).all()
    assert (layer.weight == 1).all()


def test_cached_values_are_computed_once():
    calls = []

    class Counting(nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 1

    layer = nn.Linear(2, 2)
    nn.utils.parametrize.register_parametrization(layer, "weight", Counting())
    calls.clear()
    with nn.utils.parametrize.cached():
        assert layer.weight is layer.weight
    assert len(calls) == 1
    assert layer.weight is not layer.weight


class OurWider(nn.Module):
    def forward(self, x):
        return x.reshape(-1)


class TheirWider(torch.nn.Module):
    forward = OurWider.forward


BAD = [
    lambda m, k: m.utils.parametrize.register_parametrization(m.Linear(2, 2), "no", k[0]()),
    lambda m, k: m.utils.parametrize.register_parametrization(m.Linear(2, 2), "weight", k[1]()),
    lambda m, k: m.utils.parametrize.remove_parametrizations(m.Linear(2, 2), "weight"),
    lambda m, k: m.utils.parametrize.remove_parametrizations(
        m.utils.parametrizations.weight_norm(m.Linear(2, 2)), "weight", False
    ),
    lambda m, k: m.utils.parametrizations.spectral_norm(m.Linear(2, 2), n_power_iterations=0),
    lambda m, k: m.utils.parametrizations.spectral_norm(m.Linear(2, 2), "no"),
    lambda m, k: m.utils.parametrizations.spectral_norm(m.Linear(2, 2), dim=5),
    lambda m, k: m.utils.parametrizations.orthogonal(m.Linear(2, 2), "bias"),
    lambda m, k: m.utils.parametrizations.orthogonal(m.Linear(2, 2), orthogonal_map="no"),
    lambda m, k: m.utils.weight_norm(m.utils.weight_norm(m.Linear(2, 2))),
    lambda m, k: m.utils.spectral_norm(m.utils.spectral_norm(m.Linear(2, 2))),
    lambda m, k: m.utils.remove_weight_norm(m.Linear(2, 2)),
    lambda m, k: m.utils.remove_spectral_norm(m.Linear(2, 2)),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input(number):
    types = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library, kinds in (
            (torch.nn, (TheirShift, TheirWider)), (nn, (OurShift, OurWider)),
        ):  # fmt: skip
            with pytest.raises(Exception) as error:
                BAD[number](library, kinds)
            types.append(error.type)
    assert issubclass(types[1], types[0])
