"""Parameters that are functions of others: a module in the place of a tensor's values."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd.grad_mode import no_grad
from tensorplay.nn.containers import ModuleDict, ModuleList
from tensorplay.nn.module import Module
from tensorplay.nn.parameter import Parameter

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within it, a parametrized tensor is computed when first used, and then kept."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied in order, and what they start from.

    The start is `original`, or, where the first one's `right_inverse` gives several tensors,
    `original0`, `original1`, ...

    Raises:
        ValueError, TypeError: for parametrizations that change dtype or shape, unless `unsafe`.
    """

    def __init__(self, modules: list[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        was = core.detach(original)
        start: Any = original
        with no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        start = module.right_inverse(start)
        self.is_tensor = isinstance(start, Tensor)
        if self.is_tensor:
            if start is not original:
                with no_grad():
                    core.set_data(original, core.detach(start))
            self._keep("original", original)
        else:
            self.ntensors = len(start)
            for i, tensor in enumerate(start):
                kept = Parameter(core.detach(tensor), original.requires_grad)
                self._keep(f"original{i}", kept if isinstance(original, Parameter) else tensor)
        if not unsafe:
            self._check(was)

    def _keep(self, name: str, tensor: Tensor) -> None:
        if isinstance(tensor, Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def _check(self, was: Tensor) -> None:
        with no_grad():
            now = self()
        if not isinstance(now, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(now).__name__}.")
        for what in ("dtype", "shape"):
            if getattr(now, what) != getattr(was, what):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, "
                    "unless `unsafe` flag is enabled.\n"
                    f"unparametrized {what}: {getattr(was, what)}\n"
                    f"parametrized {what}: {getattr(now, what)}"
                )

    def originals(self) -> list[Tensor]:
        """What the parametrizations start from."""
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return [getattr(self, name) for name in names]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrized tensor becomes `value`.

        Raises:
            RuntimeError: if a parametrization has no right_inverse.
        """
        with no_grad():
            start: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse"
                    )
                start = module.right_inverse(start)
            for kept, new in zip(
                self.originals(), [start] if self.is_tensor else start, strict=True
            ):
                core.set_data(kept, core.detach(new))

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *others = list(self)
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value


def _class_with_properties(module: Module) -> type:
    """A class of the module's own, for properties, that copies like the one before."""
    before = type(module)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        made = memo.get(id(self))
        if made is None:
            made = self.__new__(self.__class__)
            memo[id(self)] = made
            made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def __getstate__(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    attributes: dict[str, Any] = {"__getstate__": __getstate__}
    if not hasattr(before, "__deepcopy__"):
        attributes["__deepcopy__"] = __deepcopy__
    return type(f"Parametrized{before.__name__}", (before,), attributes)


def _add_property(module: Module, name: str) -> None:
    def get(self: Any) -> Tensor:
        if not _cache_depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set_(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set_))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let `module.tensor_name` be a function of what it was, and return the module.

    parametrization: a module that is called with the original tensor; its `right_inverse`, if it
    has one, is called with values that are assigned, and now, and gives that tensor or several. A
    second parametrization is applied to the result of the first. unsafe: dtype and shape may
    change.

    Raises:
        ValueError: if the module has no such parameter or buffer; for another dtype or shape.

    >>> import tensorplay as tp
    >>> class Symmetric(tp.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = tp.nn.Linear(3, 3)
    >>> layer = tp.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        found: Any = module.parametrizations
        _add_to(found[tensor_name], parametrization, unsafe)
        return module
    holders = [h for h in (module._parameters, module._buffers) if tensor_name in h]
    if not holders or holders[0][tensor_name] is None:
        raise ValueError(
            f"Module '{module._get_name()}' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'"
        )
    made = ParametrizationList([parametrization], holders[0][tensor_name], unsafe)
    made.train(module.training)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        module.__class__ = _class_with_properties(module)
        module.parametrizations = ModuleDict()
    _add_property(module, tensor_name)
    module.parametrizations[tensor_name] = made
    return module


def _add_to(made: ParametrizationList, parametrization: Module, unsafe: bool) -> None:
    with no_grad():
        value = made()
        if hasattr(parametrization, "right_inverse"):
            start = parametrization.right_inverse(value)
            if not isinstance(start, Tensor):
                raise ValueError(
                    f"parametrization {type(parametrization).__name__}: right_inverse must return "
                    f"one tensor where there are parametrizations before, got "
                    f"{type(start).__name__}"
                )
            made.right_inverse(start)
    made.append(parametrization)
    made.unsafe |= unsafe
    if not unsafe:
        made._check(value)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrized tensors, or that one."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one again, and return the module.

    leave_parametrized: with its present value, rather than that of its original.

    Raises:
        ValueError: if the tensor is not parametrized, or has several originals to go back to.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {module._get_name()} does not have a parametrization on {tensor_name}"
        )
    everything: Any = module.parametrizations
    made = everything[tensor_name]
    originals = made.originals()
    original = originals[0]
    if leave_parametrized:
        with no_grad():
            value = core.detach(getattr(module, tensor_name)).clone()
        if made.is_tensor and value.dtype is original.dtype:
            core.set_data(original, value)  # the same parameter, as an optimiser knows it
        elif isinstance(original, Parameter):
            original = Parameter(value, original.requires_grad)
        else:
            original = value
    elif not made.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del everything[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module, without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)
