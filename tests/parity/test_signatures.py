"""Parameters and defaults of what PyTorch writes in Python are ours: layers, optimisers ..."""

from __future__ import annotations

import importlib
import inspect

import pytest
import torch
import torch.optim.lr_scheduler

NAMESPACES = (
    "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize",
    "nn.utils.parametrizations", "optim", "optim.lr_scheduler", "func", "autograd",
    "autograd.functional",
)  # fmt: skip

#: What PyTorch has for purposes that do not exist here.
ACCEPTED = {
    "nn.Hardtanh": "min_value and max_value are deprecated names",
    "nn.RNNBase.forward": "PyTorch's base takes anything",
    "nn.RNNCellBase.forward": "PyTorch's base takes anything",
    "nn.ModuleDict.forward": "not called", "nn.ModuleList.forward": "not called",
    "nn.ParameterDict.forward": "not called", "nn.ParameterList.forward": "not called",
    "func.jacrev": "PyTorch has a private argument",
}  # fmt: skip


def parameters(function):
    """{name: (kind, default)}, or None where there is no signature."""
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    kinds = {p.kind for p in found.values()}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return None  # a wrapper
    return {name: p for name, p in found.items() if name not in ("self", "cls")}


def default(parameter):
    """A default as text, without the library's name."""
    value = parameter.default
    text = getattr(value, "__name__", None) or repr(value)
    return text.replace("torch.", "").replace("tensorplay.", "").replace("functional_", "")


def differences(theirs, ours):
    """How our parameters differ from PyTorch's; more of our own are allowed at the end."""
    found = []
    for name, p in theirs.items():
        if name == "out" and name not in ours:
            continue  # given by the class of our function
        if name not in ours:
            found.append(f"lacks {name}")
        elif default(p) != default(ours[name]):
            found.append(f"{name}={default(ours[name])}, PyTorch has {default(p)}")
        elif p.kind != ours[name].kind:
            found.append(f"{name} is {ours[name].kind}, in PyTorch {p.kind}")
    order = [name for name in ours if name in theirs]
    if not found and order != [name for name in theirs if name in ours]:
        found.append(f"order {order}, PyTorch has {list(theirs)}")
    return found


def pairs():
    """(label, PyTorch's callable, ours)."""
    for namespace in NAMESPACES:
        there = importlib.import_module(f"torch.{namespace}")
        here = importlib.import_module(f"tensorplay.{namespace}")
        for name in sorted(dir(there)):
            theirs, ours = getattr(there, name), getattr(here, name, None)
            if name.startswith("_") or ours is None or not callable(theirs):
                continue
            if not inspect.isclass(theirs):
                yield f"{namespace}.{name}", theirs, ours
            elif theirs.__module__.startswith("torch") and name not in ("Module", "Parameter"):
                yield f"{namespace}.{name}", theirs.__init__, ours.__init__
                if namespace == "nn" and hasattr(theirs, "forward"):
                    yield f"nn.{name}.forward", theirs.forward, ours.forward


@pytest.mark.parametrize("label, theirs, ours", [pytest.param(*p, id=p[0]) for p in pairs()])
def test_signature(label, theirs, ours):
    wanted, found = parameters(theirs), parameters(ours)
    if wanted is None or found is None:
        return
    differing = differences(wanted, found)
    if label in ACCEPTED:
        assert differing, f"{label} agrees now"
    else:
        assert not differing, "; ".join(differing)


def test_a_difference_is_noticed():
    def theirs(a, b=1): ...

    def ours(a, b=2): ...

    assert differences(parameters(theirs), parameters(ours)) == ["b=2, PyTorch has 1"]
    assert torch.__version__.startswith("2.13")
