"""`FunctionCtx`: the object that the rules of a custom function share."""

from __future__ import annotations

import weakref
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd._saved import Reference, SavedValue


class _State:
    """What a context holds for the library, apart from the user's attributes."""

    __slots__ = (
        "__weakref__", "dirty", "extra", "forward_request", "materialize", "name", "node",
        "non_differentiable", "recording", "released", "request", "saved",
    )  # fmt: skip

    def __init__(self, name: str, recording: bool) -> None:
        self.name = name
        self.recording = recording
        self.request: tuple[Any, ...] = ()
        self.forward_request: tuple[Any, ...] | None = None
        self.dirty: tuple[Tensor, ...] = ()
        self.non_differentiable: tuple[Tensor, ...] = ()
        self.materialize = True
        self.saved: list[SavedValue] | None = None
        self.released = False
        self.node: Any = None  # weak reference of the graph node
        self.extra: Any = None  # of a batched function: how its saved values are batched


class FunctionCtx:
    """What the rules of one application of a `Function` share, as their first argument `ctx`.

    Any attribute may be set on it. Tensors belong into `save_for_backward`, which checks them for
    changes in place and makes no reference cycle.
    """

    __slots__ = ("__dict__", "__weakref__", "_given", "_needs", "_state")

    def __init__(
        self, name: str = "Function", needs: tuple[bool, ...] = (), recording: bool = False
    ) -> None:
        self._state = _State(name, recording)
        self._given: tuple[Any, ...] | None = None
        self._needs = needs

    def _view(self, *, given: Any = None, needs: Any = None) -> FunctionCtx:
        """The same context, with other saved tensors or other wanted inputs for one call."""
        view = object.__new__(type(self))
        view._state = self._state
        view._given = self._given if given is None else given
        view._needs = self._needs if needs is None else needs
        view.__dict__ = self.__dict__  # attributes set by one rule are seen by the others
        return view

    # --- what a forward says about its tensors ---

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for the backward; call it at most once.

        Save inputs and outputs. An intermediate result may be saved too, but counts as a constant
        when the backward is itself differentiated.

        Raises:
            TypeError: if something is neither a tensor nor None.

        >>> import tensorplay as tp
        >>> class Square(tp.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         x, = ctx.saved_tensors
        ...         return 2 * x * g
        >>> x = tp.tensor(3., requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)
        """
        _check_tensors("save_for_backward", tensors, True)
        self._state.request = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for the `jvp` rule, where `saved_tensors` gives them.

        Raises:
            TypeError: if something is neither a tensor nor None.
        """
        _check_tensors("save_for_forward", tensors, True)
        self._state.forward_request = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs the forward changes in place; they must be returned as outputs.

        Called before the change, it refuses what cannot be changed while that is still whole.

        Raises:
            RuntimeError: if one is a leaf that requires grad, or a view of one.
        """
        _check_tensors("mark_dirty", tensors, False)
        if self._state.recording:
            for x in tensors:
                check_changeable(x, "mark_dirty")
        self._state.dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient. (Those of integer and bool dtype never have.)

        The backward still gets a cotangent for each: zeros.
        """
        _check_tensors("mark_non_differentiable", tensors, False)
        self._state.non_differentiable = tensors

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated, and without effect: outputs that share memory are noticed by themselves."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a missing cotangent or tangent is given to the rules as zeros (the default) or
        as None."""
        self._state.materialize = bool(value)

    # --- what the rules read ---

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Per input, whether a gradient is wanted. In a backward: by this very backward pass."""
        return self._needs

    @needs_input_grad.setter
    def needs_input_grad(self, value: Any) -> None:
        self._needs = tuple(value)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, at their places in the graph.

        Raises:
            RuntimeError: if they were freed by a backward pass, or changed in place since.
        """
        if self._given is not None:
            return self._given
        state = self._state
        if state.released:
            raise RuntimeError(
                f"{state.name}: the saved tensors were freed by a backward pass through the graph; "
                "give retain_graph=True to that pass to go through it a second time"
            )
        if state.saved is None:
            return state.request
        node = None if state.node is None else state.node()
        return tuple(saved.get(node, state.name) for saved in state.saved)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Old spelling of `saved_tensors`."""
        return self.saved_tensors

    @property
    def to_save(self) -> tuple[Any, ...]:
        """What was handed to `save_for_backward`, during the forward."""
        return self._state.request

    @property
    def dirty_tensors(self) -> tuple[Tensor, ...]:
        """What was handed to `mark_dirty`, during the forward."""
        return self._state.dirty

    @property
    def non_differentiable(self) -> tuple[Tensor, ...]:
        """What was handed to `mark_non_differentiable`, during the forward."""
        return self._state.non_differentiable

    @property
    def materialize_grads(self) -> bool:
        """What `set_materialize_grads` was last called with."""
        return self._state.materialize

    # --- the library's side ---

    def _keep(self, references: list[Reference], values: list[Any], node: Any) -> None:
        """Store what was asked for, now that inputs and outputs have their final form."""
        state = self._state
        if node is not None:
            for value in values:
                if isinstance(value, Tensor) and core.is_inference(value):
                    raise RuntimeError(
                        f"{state.name}: an inference tensor cannot be saved for backward; make a "
                        "normal tensor of it with .clone() outside inference_mode"
                    )
            state.node = weakref.ref(node)
        state.saved = [
            SavedValue(reference, value)
            for reference, value in zip(references, values, strict=True)
        ]
        state.request = state.dirty = state.non_differentiable = ()
        state.forward_request = None

    def _release(self) -> None:
        """Let go of the saved tensors: a backward pass has used them."""
        if self._state.saved:
            self._state.saved = None
            self._state.released = True


def check_changeable(x: Tensor, name: str) -> None:
    """Raise where x could not be changed in place with grad mode on."""
    previous = core.set_grad_mode(True)
    try:
        core.check_inplace(x, name)
    finally:
        core.set_grad_mode(previous)


def _check_tensors(name: str, values: tuple[Any, ...], optional: bool) -> None:
    for i, value in enumerate(values):
        if not isinstance(value, Tensor) and not (optional and value is None):
            raise TypeError(
                f"{name}(): expected tensors{' or None' if optional else ''}, but argument {i} is "
                f"of type {type(value).__name__}; keep other values as attributes of ctx"
            )
