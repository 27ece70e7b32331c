"""state_dict and load_state_dict: the part of Module that saves and restores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tensorplay._core import core
from tensorplay._core.core import RemovableHandle, Tensor
from tensorplay.nn.parameter import Parameter

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found too little and too much."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class ModuleState:
    """What Module knows about saving and restoring."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent: set[str]
    _state_dict_hooks: dict[int, Any]
    _state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]

    # --- extra state ---

    def get_extra_state(self) -> Any:
        """State besides parameters and buffers, for `state_dict`; for subclasses to write."""
        raise RuntimeError("get_extra_state(): write it, and set_extra_state(), in the subclass")

    def set_extra_state(self, state: Any) -> None:
        """Restore what `get_extra_state` gave; for subclasses to write."""
        raise RuntimeError("set_extra_state(): write it, and get_extra_state(), in the subclass")

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not ModuleState.get_extra_state

    # --- saving ---

    def _saved(self) -> dict[str, Any]:
        """Parameters and persistent buffers of this module alone."""
        kept = {
            name: b
            for name, b in self._buffers.items()
            if b is not None and name not in self._non_persistent
        }
        return {name: p for name, p in self._parameters.items() if p is not None} | kept

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._saved().items():
            destination[prefix + name] = tensor if keep_vars else core.detach(tensor)
        if self._has_extra_state():
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """{dotted name: tensor} of all parameters and persistent buffers.

        The tensors share the module's memory; keep_vars: they are the parameters themselves.
        """
        if destination is None:
            destination = OrderedDict()
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            hook(self, destination, prefix, {"version": self._version})
        return destination

    # --- restoring ---

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in self._saved().items():
            key = prefix + name
            if key in state_dict:
                message = self._load_one(name, tensor, state_dict[key], key, assign)
                if message:
                    error_msgs.append(message)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if self._has_extra_state():
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            self._note_unexpected(state_dict, prefix, unexpected_keys)

    def _note_unexpected(self, state_dict: Any, prefix: str, unexpected_keys: list[str]) -> None:
        own = self._saved()
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + _EXTRA:
                continue
            head, *rest = key[len(prefix) :].split(".", 1)
            known = head in self._modules if rest else head in own
            if not known:
                unexpected_keys.append(key)

    def _load_one(self, name: str, tensor: Tensor, value: Any, key: str, assign: bool) -> str:
        """Take one value over; what is wrong with it, or ''."""
        if not isinstance(value, Tensor):
            return f"for {key}: expected a Tensor in the state_dict, got {type(value).__name__}."
        if value.shape != tensor.shape and not (value.shape == (1,) and tensor.ndim == 0):
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {tensor.shape}."
            )
        if assign:
            if name in self._parameters and not isinstance(value, Parameter):
                value = Parameter(value, requires_grad=tensor.requires_grad)
            (self._parameters if name in self._parameters else self._buffers)[name] = value
        else:
            core.detach(tensor).copy_(core.detach(value).reshape(tensor.shape))
        return ""

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy values from a `state_dict` into the parameters and buffers.

        strict: keys must match exactly. assign: take the tensors themselves, not their values.

        Raises:
            TypeError: if `state_dict` is not a mapping.
            RuntimeError: for keys that do not match (when strict) or shapes that do not.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict).__name__}."
            )
        source = OrderedDict(state_dict)
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        result = IncompatibleKeys(missing, unexpected)

        def load(module: Any, part: Any, prefix: str) -> None:
            metadata = {"version": self._version, "assign_to_params_buffers": assign}
            arguments = (part, prefix, metadata, True, missing, unexpected, errors)
            for hook in module._load_state_dict_pre_hooks.values():
                hook(module, *arguments)
            module._load_from_state_dict(*arguments)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    load(child, {k: v for k, v in part.items() if k.startswith(below)}, below)
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, result)

        load(self, source, "")
        if strict:
            errors[:0] = [
                f"{title} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". "
                for title, keys in (("Unexpected", unexpected), ("Missing", missing))
                if keys
            ]
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
            )
        return result

    # --- hooks ---

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state is saved."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata)` after the state was saved."""
        return RemovableHandle(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)`
        before a state is loaded."""
        return RemovableHandle(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after a state was loaded."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)
