"""The base of all optimisers: groups of parameters, their state, and saving both."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import HookDict, RemovableHandle, Tensor
from tensorplay.autograd.grad_mode import enable_grad, no_grad


class Optimizer:
    """Changes parameters by their gradients; write `update(param, grad, state, group)`.

    params: an iterable of tensors, of (name, tensor) pairs, or of dicts (groups) with 'params' and
    options that replace the `defaults`.

    Raises:
        TypeError: for a parameter that is not a tensor.
        ValueError: for no parameters, one that appears twice, or one that is not a leaf.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {type(params).__name__}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks: dict[int, Any] = HookDict()
        self._step_post_hooks: dict[int, Any] = HookDict()
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(given[0], dict):
            given = [{"params": given}]
        for group in given:
            self.add_param_group(group)

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            options = [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
            lines.append("\n".join([f"Parameter Group {i}", *options]))
        return f"{type(self).__name__} (\n" + "\n\n".join(lines) + "\n)"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own.

        Raises:
            TypeError: for anything but a dict of tensors.
            ValueError: for parameters that cannot be optimised here.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections")
        params = list(params)
        if params and isinstance(params[0], tuple):
            group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but got {type(p).__name__}")
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        if len({id(p) for p in params}) != len(params):
            raise ValueError("optimizer contains a parameter group with duplicate parameters")
        taken = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in taken for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = params
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self.param_groups.append(group)

    # --- steps ---

    def update(self, param: Tensor, grad: Tensor, state: Any, group: dict[str, Any]) -> None:
        """Change one parameter in place, given its gradient; every optimiser writes its own."""
        raise NotImplementedError(f"{type(self).__name__} does not write update()")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        closure: evaluates the model and its gradients again; its loss is returned.
        """
        args = (closure,)
        for hook in list(self._step_pre_hooks.values()):
            hook(self, args, {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is not None:
                        grad = core.detach(grad)
                        if group.get("maximize"):
                            grad = -grad
                        self.update(param, grad, self.state[param], group)
        for hook in list(self._step_post_hooks.values()):
            hook(self, args, {})
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else core.detach(p.grad) * 0

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    # --- saving ---

    def _numbers(self) -> dict[int, int]:
        """id of a parameter -> its number over all groups."""
        everything = [p for group in self.param_groups for p in group["params"]]
        return {id(p): i for i, p in enumerate(everything)}

    def state_dict(self) -> dict[str, Any]:
        """{'state': per parameter number, 'param_groups': options and parameter numbers}."""
        numbers = self._numbers()
        groups = [
            {**group, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {
            numbers[id(p)] if isinstance(p, Tensor) else p: value
            for p, value in self.state.items()
            if value
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and state from a `state_dict`.

        Raises:
            ValueError: if its groups do not have as many parameters as this optimiser's.
        """
        groups = copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for mine, theirs in zip(self.param_groups, groups, strict=True):
            if len(mine["params"]) != len(theirs["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
        params: dict[Any, Tensor] = {}
        for mine, theirs in zip(self.param_groups, groups, strict=True):
            params.update(zip(theirs["params"], mine["params"], strict=True))
        self.state = defaultdict(dict)
        for key, value in copy.deepcopy(state_dict["state"]).items():
            param = params.get(key)
            self.state[key if param is None else param] = _cast_state(value, param)
        self.param_groups = [
            {**theirs, "params": mine["params"]}
            for mine, theirs in zip(self.param_groups, groups, strict=True)
        ]


def _cast_state(state: dict[str, Any], param: Tensor | None) -> dict[str, Any]:
    """State in the parameter's dtype, but for the number of steps."""
    if param is None or not param.dtype.is_floating_point:
        return state
    return {
        name: value.to(param.dtype)
        if isinstance(value, Tensor) and name != "step" and value.dtype.is_floating_point
        else value
        for name, value in state.items()
    }


def require(condition: bool, name: str, value: Any) -> None:
    """Refuse an option.

    Raises:
        ValueError: naming it, unless the condition holds.
    """
    if not condition:
        raise ValueError(f"Invalid {name}: {value}")


def zeros(param: Tensor) -> Tensor:
    """State of a parameter's shape, to start with."""
    return core.detach(param) * 0


def count_step(state: dict[str, Any]) -> int:
    """One step more; the number of steps so far."""
    state["step"] += 1
    return int(state["step"])


def decayed(param: Tensor, grad: Tensor, weight_decay: float) -> Tensor:
    """The gradient with that of a penalty on the square of the parameter."""
    return grad.add(param, alpha=weight_decay) if weight_decay else grad
