"""Custom functions: operations with derivative rules of one's own.

>>> import tensorplay as tp
>>> class Exp(tp.autograd.Function):
...     @staticmethod
...     def forward(x):
...         return x.exp()
...     @staticmethod
...     def setup_context(ctx, inputs, output):
...         ctx.save_for_backward(output)
...     @staticmethod
...     def backward(ctx, g):
...         y, = ctx.saved_tensors
...         return g * y
>>> x = tp.tensor([0., 1.], requires_grad=True)
>>> Exp.apply(x).sum().backward()
>>> x.grad
tensor([1.0000, 2.7183])

The one rule is enough: forward mode transposes it, `vmap` runs it on batched tensors, and all of
them nest.

>>> tp.vmap(tp.func.grad(lambda x: Exp.apply(x).sum()))(tp.zeros(2, 3))
tensor([[1., 1., 1.],
        [1., 1., 1.]])
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import optree

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._context import FunctionCtx as FunctionCtx
from tensorplay.autograd._dispatch import apply_rule
from tensorplay.autograd._observe import Observed
from tensorplay.autograd._rules import FunctionNode, UserRule
from tensorplay.autograd._rules import VmapInfo as VmapInfo
from tensorplay.autograd._saved import INPUT

__all__ = [
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "VmapInfo",
    "once_differentiable",
]

_OBSERVED_BIT = 2
_PULLING_BIT = 16


class FunctionMeta(type):
    """Looks at which rules a Function gives, and makes the type of its graph nodes."""

    backward: Callable[..., Any]
    vjp: Callable[..., Any]
    generate_vmap_rule: bool

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        super().__init__(name, bases, attributes)
        cls._node_class = type(name + "Backward", (FunctionNode,), {"__module__": __name__})
        cls._signature: inspect.Signature | None = None

    def _given(cls, name: str) -> bool:
        return getattr(cls, name) is not getattr(Function, name)

    @property
    def _has_setup(cls) -> bool:
        return cls._given("setup_context")

    @property
    def _has_jvp(cls) -> bool:
        return cls._given("jvp")

    @property
    def _has_backward(cls) -> bool:
        return cls._given("backward") or cls._given("vjp")

    @property
    def _has_vmap(cls) -> bool:
        own = cls._given("vmap")
        if own and cls.generate_vmap_rule:
            raise RuntimeError(
                f"{cls.__name__}: it has both generate_vmap_rule=True and a vmap staticmethod; "
                "set generate_vmap_rule=False, or delete the vmap staticmethod"
            )
        return own

    def _backward_rule(cls) -> Callable[..., Any]:
        if cls._given("backward") and cls._given("vjp"):
            raise RuntimeError(
                f"{cls.__name__}: it implements both backward and vjp, which are two names of the "
                "same rule; implement only one of them"
            )
        return cls.backward if cls._given("backward") else cls.vjp


class Function(metaclass=FunctionMeta):
    """Base class of operations with derivative rules of their own; call them with `apply`.

    Subclasses give staticmethods: `forward`, and `backward` (or `vjp`, the same rule) or `jvp`.
    With one derivative rule the other mode follows by transposition, if the rule is written with
    tensor operations. `vmap` runs forward and rules on batched tensors, unless a `vmap`
    staticmethod says how to do better.

    `forward` comes in two styles: `forward(ctx, *args)`, or `forward(*args)` together with
    `setup_context(ctx, inputs, output)`, which is the one to use where derivatives of derivatives
    are taken inside `tensorplay.func`. It runs unrecorded. Arguments may be anything; the tensors
    among them, also those in lists, tuples and dicts, are what it is differentiated by.

    >>> import tensorplay as tp
    >>> class Scale(tp.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * ctx.factor, None
    >>> x = tp.ones(2, requires_grad=True)
    >>> Scale.apply(x, 3.)
    tensor([3., 3.], grad_fn=<ScaleBackward>)
    """

    #: PyTorch's switch. Here the rule of vmap is always derived, unless a staticmethod gives it.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self).__name__}: a Function should not be instantiated; its methods are "
            "static, call them on the class, as in apply()",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{type(self).__name__}: a Function is not called on an instance; use "
            f"{type(self).__name__}.apply(...) with a static forward"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result: `forward(ctx, *args)`, or `forward(*args)` with `setup_context`."""
        raise NotImplementedError(
            "forward(): a custom Function must implement forward as a staticmethod"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep on `ctx` what the rules need, for a `forward` without `ctx`."""
        raise NotImplementedError("setup_context(): it is not implemented")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Cotangents of the outputs in, one gradient (or None) per input of forward out."""
        raise NotImplementedError("backward(): it is not implemented")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of the inputs in (None for what is no tensor), one per output out."""
        raise NotImplementedError("jvp(): it is not implemented")

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The result for a whole batch, and the dims of the batch in it: (output, out_dims).

        `in_dims` says per argument which dim is the batch (None: it has none).
        """
        raise NotImplementedError("vmap(): it is not implemented")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record it, so that the rules of this class differentiate it.

        Raises:
            RuntimeError: if forward changes an input in place without `ctx.mark_dirty`, changes a
                leaf that requires grad, or does not return what it marked.
        """
        keywords: tuple[str, ...] = ()
        if kwargs or cls._has_setup:
            args, keywords = _bind(cls, args, kwargs)
        rule = UserRule(cls, args, keywords)
        if core.get_mode(_OBSERVED_BIT):
            with Observed(cls.__name__, rule.flat) as observed:
                outputs, _ = apply_rule(rule, rule.flat)
                observed.outputs = outputs
        else:
            outputs, _ = apply_rule(rule, rule.flat)
        rule.forget_arguments()
        return rule.give(outputs)


def _bind(cls: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Positional arguments with those given by keyword in their places, keyword-only ones last."""
    if cls._signature is None or "_signature" not in cls.__dict__:
        cls._signature = inspect.signature(cls.forward)
    signature = cls._signature
    lead: tuple[Any, ...] = () if cls._has_setup else (None,)
    bound = signature.bind(*lead, *args, **kwargs)
    parameters = signature.parameters.values()
    skipped = any(p.kind is p.POSITIONAL_OR_KEYWORD and p.name in bound.kwargs for p in parameters)
    if cls._has_setup or skipped:  # else what was left out stays out, as PyTorch has it
        bound.apply_defaults()
    return (*bound.args[len(lead) :], *bound.kwargs.values()), tuple(bound.kwargs)


# --- once_differentiable --------------------------------------------------------------------------


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a backward that must not be differentiated itself, such as one through NumPy.

    Differentiating its results raises an error, in place of giving wrong numbers.

    >>> import numpy as np
    >>> import tensorplay as tp
    >>> class Sin(tp.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return tp.from_numpy(np.sin(x.numpy()))
    ...     @staticmethod
    ...     @tp.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         x, = ctx.saved_tensors
    ...         return g * tp.from_numpy(np.cos(x.numpy()))
    """

    @functools.wraps(function)
    def wrapper(ctx: FunctionCtx, *args: Any) -> Any:
        previous = core.set_grad_mode(False)
        try:
            found = function(ctx, *args)
        finally:
            core.set_grad_mode(previous)
        given: Any = args
        tensors = [x for x in optree.tree_leaves(given) if isinstance(x, Tensor)] + _kept(ctx)
        if any(_has_tangent(x) for x in tensors):
            raise RuntimeError(_once_message(ctx))
        tracked: dict[int, list[Tensor]] = {}
        for x in tensors:
            _find_tracked(x, previous, tracked)
        if not tracked:
            return found
        message = _once_message(ctx)
        if isinstance(found, tuple):
            return tuple(_guard(x, tracked, message) for x in found)
        return _guard(found, tracked, message)

    return wrapper


def _once_message(ctx: FunctionCtx) -> str:
    return (
        f"{ctx._state.name}: trying to differentiate twice a function whose backward was marked "
        "with @once_differentiable"
    )


def _kept(ctx: FunctionCtx) -> list[Tensor]:
    """The saved tensors, as far as they tell whether they are part of a graph."""
    if ctx._given is not None:
        return [x for x in ctx._given if x is not None]
    state = ctx._state
    node = None if state.node is None else state.node()
    if node is None or not state.saved:
        return []
    found = []
    for saved in state.saved:
        if saved.hooked:  # not unpacked twice: the edge of an input says the same
            edge = node.next_functions[saved.index] if saved.kind == INPUT else (node, saved.index)
            if edge[0] is not None:
                found.append(core.at_edge(core.ones_shaped((), None), *edge))
        elif saved.value is not None:
            found.append(saved.get(node, state.name))
    return found


def _walk(x: Tensor) -> Any:
    """x, the value in it when it is a box, and so on down."""
    while True:
        yield x
        if not x.is_box:
            return
        x = core.unboxed(x)


def _has_tangent(x: Tensor) -> bool:
    return any(core.tangents_of(part) for part in _walk(x))


def _find_tracked(x: Tensor, recording: bool, tracked: dict[int, list[Tensor]]) -> None:
    """Collect, per transform level, the tensors whose operations are being recorded there."""
    modes = {level.id: level.grad_mode for level in core.active_levels()}
    pulling = core.get_mode(_PULLING_BIT)
    for part in _walk(x):
        number = core.box_level(part)
        if recording and part.requires_grad:
            tracked.setdefault(number, []).append(part)
        mode = modes.get(number, -1)
        recording = recording if mode < 0 else bool(mode) and (recording or pulling)


def _guard(x: Any, tracked: dict[int, list[Tensor]], message: str) -> Any:
    """x with history that raises when it is differentiated, at every level that records."""
    if not isinstance(x, Tensor):
        return x
    if x.is_box:
        guarded = core.map_box(x, lambda value: _guard(value, tracked, message))
    else:
        guarded = core.without_history(x)
    sources = tracked.get(core.box_level(x))
    if sources and core.is_differentiable_dtype(x):

        def refuse(*_: Any) -> Any:
            raise RuntimeError(message)

        metas = [(tuple(x.shape), x.dtype)]
        node = core.make_node(core.PythonNode, "DelayedError", refuse, sources, metas, None)
        core.attach(guarded, node, 0)
    return guarded


# --- PyTorch's older classes ----------------------------------------------------------------------


class InplaceFunction(Function):
    """A Function that may work in place; kept for code that derives from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A Function of nested arguments and results, in PyTorch's older spelling.

    Give static `forward_extended(ctx, *args)` and `backward_extended(ctx, *grad_outputs)`. Every
    `Function` takes nested arguments and results, so this adds the names only.
    """

    @staticmethod
    def forward_extended(ctx: Any, *args: Any) -> Any:
        """As `Function.forward`, with `ctx`."""
        raise NotImplementedError("forward_extended(): it is not implemented")

    @staticmethod
    def backward_extended(ctx: Any, *grad_outputs: Any) -> Any:
        """As `Function.backward`."""
        raise NotImplementedError("backward_extended(): it is not implemented")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "forward_extended" in cls.__dict__:
            cls.forward = staticmethod(cls.forward_extended)  # type: ignore[method-assign]
        if "backward_extended" in cls.__dict__:
            cls.backward = staticmethod(cls.backward_extended)  # type: ignore[method-assign]
