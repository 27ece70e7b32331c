"""The public names of PyTorch are ours, except those listed with a reason."""

from __future__ import annotations

import fnmatch
import importlib
import types

import pytest
import torch
import torch.optim.lr_scheduler

import tensorplay as tp
from tests.parity.surface_exceptions import EXCEPTIONS, IMPORTS


def public_names(namespace):
    """What PyTorch has under a dotted name, without submodules."""
    found = torch
    for part in namespace.split(".") if namespace else []:
        found = getattr(found, part)
    return {
        name
        for name in dir(found)
        if not name.startswith("_") and not isinstance(getattr(found, name, None), types.ModuleType)
    }


def ours(namespace):
    """Our module or class of that name."""
    if namespace == "Tensor":
        return tp.Tensor
    return importlib.import_module(f"tensorplay.{namespace}".rstrip("."))


def excepted(namespace):
    """The names that the exceptions of a namespace cover."""
    patterns = [p for _, listed in EXCEPTIONS[namespace] for p in listed.split()]
    return {n for n in public_names(namespace) if any(fnmatch.fnmatchcase(n, p) for p in patterns)}


@pytest.mark.parametrize("namespace", EXCEPTIONS)
def test_nothing_is_missing(namespace):
    have = ours(namespace)
    missing = sorted(
        name for name in public_names(namespace) - excepted(namespace) if not hasattr(have, name)
    )
    assert not missing, f"tensorplay.{namespace} lacks {len(missing)}: {' '.join(missing)}"


@pytest.mark.parametrize("namespace", EXCEPTIONS)
def test_every_exception_is_needed(namespace):
    names, have = public_names(namespace), ours(namespace)
    idle, ours_now = [], []
    for reason, listed in EXCEPTIONS[namespace]:
        assert len(reason) > 20
        for pattern in listed.split():
            if not fnmatch.filter(names, pattern):
                idle.append(pattern)
            elif "*" not in pattern and reason != IMPORTS and hasattr(have, pattern):
                ours_now.append(pattern)
    assert not idle, f"match no name of torch.{namespace}: {idle}"
    assert not ours_now, f"tensorplay.{namespace} has these now: {ours_now}"
