"""Hooks around forward and backward: the part of Module that lets others watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core.core import RemovableHandle, Tensor
from tensorplay.ops.identity import identities


class ModuleHooks:
    """What Module knows about hooks."""

    _HOOKS = (
        "_forward_pre_hooks",
        "_forward_hooks",
        "_backward_pre_hooks",
        "_backward_hooks",
        "_state_dict_pre_hooks",
        "_state_dict_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    )
    _forward_pre_hooks: dict[int, Any]
    _forward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _backward_hooks: dict[int, Any]

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pending = [hook for hook in self._forward_hooks.values() if hook.always_call]
        try:
            for hook in list(self._forward_pre_hooks.values()):
                args, kwargs = hook.before(self, args, kwargs)
            watch = None
            if self._backward_hooks or self._backward_pre_hooks:
                watch = _BackwardWatch(self)
                args = watch.enter(args)
            result = self.forward(*args, **kwargs)  # type: ignore[attr-defined]
            for hook in list(self._forward_hooks.values()):
                if hook in pending:
                    pending.remove(hook)
                result = hook.after(self, args, kwargs, result)
            return result if watch is None else watch.leave(result)
        except Exception:
            for hook in pending:  # these run even when something before them failed
                hook.after(self, args, kwargs, None)
            raise

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments.

        prepend: run before the hooks registered so far. with_kwargs: call
        `hook(module, args, kwargs)`, which returns both.
        """
        return _add(self._forward_pre_hooks, _Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output.

        prepend: run before the hooks registered so far. with_kwargs: call
        `hook(module, args, kwargs, output)`. always_call: also when forward fails.
        """
        return _add(self._forward_hooks, _Hook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` once the gradients of the inputs are there.

        What it returns replaces the gradients of the (positional) inputs.
        """
        return _add(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients of the inputs are computed.

        What it returns replaces the gradients of the outputs.
        """
        return _add(self._backward_pre_hooks, hook, prepend)


class _Hook:
    """A forward hook with how it wants to be called."""

    def __init__(
        self, function: Callable[..., Any], with_kwargs: bool, always_call: bool = False
    ) -> None:
        self.function = function
        self.with_kwargs = with_kwargs
        self.always_call = always_call

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if self.with_kwargs:
            changed = self.function(module, args, kwargs)
            if changed is None:
                return args, kwargs
            if isinstance(changed, tuple) and len(changed) == 2:
                return changed
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), got "
                f"{changed!r}"
            )
        changed = self.function(module, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def after(self, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
        changed = (
            self.function(module, args, kwargs, result)
            if self.with_kwargs
            else self.function(module, args, result)
        )
        return result if changed is None else changed


def _add(hooks: Any, hook: Any, prepend: bool) -> RemovableHandle:
    before = list(hooks.items()) if prepend else []
    handle = RemovableHandle(hooks, hook)
    for key, earlier in before:  # move those that come later to the end
        del hooks[key]
        hooks[key] = earlier
    return handle


class _BackwardWatch:
    """Puts one graph node around a module's inputs and one around its outputs.

    The gradients of all outputs arrive at the one, those of all inputs leave from the other.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        self.post = list(module._backward_hooks.values())
        self.pre = list(module._backward_pre_hooks.values())
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs = 0

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        args, tensors, places = _through_identity(args)
        if tensors is not None:
            self.inputs = len(args)
            tensors[0].grad_fn.register_hook(self._at_inputs(places))
        self.watches_inputs = tensors is not None
        return args

    def leave(self, result: Any) -> Any:
        alone = not isinstance(result, tuple)
        results, tensors, places = _through_identity((result,) if alone else result)
        if tensors is not None:
            self.outputs = len(results)
            tensors[0].grad_fn.register_prehook(self._at_outputs(places))
        return results[0] if alone else results

    def _at_outputs(self, places: list[int]) -> Callable[..., Any]:
        def arrived(grads: tuple[Any, ...]) -> Any:
            full = _spread(grads, places, self.outputs)
            for hook in self.pre:
                changed = hook(self.module, full)
                if changed is not None:
                    full = changed if isinstance(changed, tuple) else (changed,)
            self.grad_output = full
            if not self.watches_inputs:
                for hook in self.post:
                    hook(self.module, (), full)
            return tuple(full[i] for i in places)

        return arrived

    def _at_inputs(self, places: list[int]) -> Callable[..., Any]:
        def arrived(grad_inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> Any:
            full = _spread(grad_inputs, places, self.inputs)
            for hook in self.post:
                changed = hook(self.module, full, self.grad_output)
                if changed is not None:
                    full = changed if isinstance(changed, tuple) else (changed,)
            self.grad_output = None
            return tuple(full[i] for i in places)

        return arrived


def _spread(grads: Any, places: list[int], count: int) -> tuple[Any, ...]:
    full: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        full[place] = grad
    return tuple(full)


def _through_identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int]]:
    """`values` with its tensors sent through one node; those tensors, and where they are."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not any(values[i].requires_grad for i in places):
        return values, None, places
    sent = identities([values[i] for i in places])
    changed = list(values)
    for place, tensor in zip(places, sent, strict=True):
        changed[place] = tensor
    tensors = [x for x in sent if x.grad_fn is not None]
    return tuple(changed), tensors or None, places
