"""Modules as functions of their parameters, for the function transforms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.ops.joining import stack


def _merged(given: Any) -> dict[str, Tensor]:
    """One dict of a dict or of several with different keys."""
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Sequence) or not all(isinstance(d, Mapping) for d in given):
        raise ValueError(
            "functional_call(): expected a dict of tensors or a sequence of such dicts, got "
            f"{type(given).__name__}"
        )
    merged: dict[str, Tensor] = {}
    for part in given:
        for name, tensor in part.items():
            if name in merged:
                raise ValueError(f"functional_call(): '{name}' appears in more than one dict")
            merged[name] = tensor
    return merged


def _named(module: Any) -> dict[str, tuple[dict[str, Any], str, Any]]:
    """Dotted name -> (the dict that holds it, the name there, the tensor)."""
    found = {}
    for path, owner in module.named_modules(remove_duplicate=False):
        for holder in (owner._parameters, owner._buffers):
            for name, tensor in holder.items():
                if tensor is not None:
                    found[f"{path}.{name}" if path else name] = (holder, name, tensor)
    return found


@contextlib.contextmanager
def _replaced(module: Any, tensors: dict[str, Tensor], tie: bool, strict: bool) -> Iterator[None]:
    """Within it, the module has other parameters and buffers."""
    named = _named(module)
    unknown = [name for name in tensors if name not in named]
    if unknown:
        raise RuntimeError(
            f"functional_call(): {type(module).__name__} has no parameter or buffer named "
            + ", ".join(repr(name) for name in unknown)
        )
    by_identity = {id(named[name][2]): tensor for name, tensor in tensors.items()}
    places = []
    for name, (holder, key, tensor) in named.items():
        if name in tensors:
            places.append((holder, key, tensor, tensors[name]))
        elif tie and id(tensor) in by_identity:
            places.append((holder, key, tensor, by_identity[id(tensor)]))
        elif strict:
            raise RuntimeError(f"functional_call(): with strict=True a tensor '{name}' is needed")
    try:
        for holder, key, _, new in places:
            holder[key] = new
        yield
    finally:
        for holder, key, old, _ in places:
            holder[key] = old


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    parameter_and_buffer_dicts: {dotted name: tensor}, or several such dicts; what is not named
    stays. args: the positional arguments, a tuple (or the only one). tie_weights: a tensor that the
    module has under several names is replaced under all of them. strict: all must be named.

    Raises:
        RuntimeError: for a name that the module does not have (or, strictly, lacks).
        ValueError: for a name given twice.

    >>> import tensorplay as tp
    >>> layer = tp.nn.Linear(1, 1, bias=False)
    >>> tp.func.functional_call(layer, {"weight": tp.tensor([[3.0]])}, tp.tensor([2.0]))
    tensor([6.])
    """
    tensors = _merged(parameter_and_buffer_dicts)
    positional = args if isinstance(args, tuple) else () if args is None else (args,)
    with _replaced(module, tensors, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of modules of one kind, stacked: for vmap over an ensemble.

    Raises:
        RuntimeError: for no modules, or modules of different classes or modes.

    >>> import tensorplay as tp
    >>> params, _ = tp.func.stack_module_state([tp.nn.Linear(2, 3) for _ in range(5)])
    >>> params["weight"].shape
    tensorplay.Size([5, 3, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state(): expected at least one model, got 0")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state(): expected all models to be of the same class")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError(
            "stack_module_state(): expected all models to have the same training/eval mode"
        )
    params = _stacked([dict(m.named_parameters()) for m in models])
    buffers = _stacked([dict(m.named_buffers()) for m in models])
    return params, buffers


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    stacked = {}
    for name, first in states[0].items():
        made = stack([core.detach(state[name]) for state in states])
        stacked[name] = made.requires_grad_(first.requires_grad)
    return stacked


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Take the running statistics away from every batch norm in a module, in place; gives it back.

    A batch norm that updates them cannot be called inside vmap.

    >>> import tensorplay as tp
    >>> model = tp.nn.Sequential(tp.nn.BatchNorm1d(3))
    >>> tp.func.replace_all_batch_norm_modules_(model)[0].running_mean is None
    True
    """
    for module in root.modules():
        if getattr(module, "track_running_stats", False) and hasattr(module, "drop_running_stats"):
            module.drop_running_stats()
    return root
