"""The graph and what it keeps: nodes, edges, and hooks on saved tensors and gradients.

>>> import tensorplay as tp
>>> x = tp.tensor([1., 2.], requires_grad=True)
>>> y = x.exp() * x
>>> y.grad_fn.name(), [node.name() for node, _ in y.grad_fn.next_functions]
('MulBackward0', ['ExpBackward0', 'AccumulateGrad'])
>>> y.grad_fn._saved_self
tensor([2.7183, 7.3891], grad_fn=<ExpBackward0>)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tensorplay._core import core
from tensorplay._core.core import Node as Node
from tensorplay._core.core import RemovableHandle, Tensor
from tensorplay.autograd._mutation import (
    allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors,
)
from tensorplay.autograd._offload import save_on_cpu as save_on_cpu
from tensorplay.autograd._offload import save_to_disk as save_to_disk
from tensorplay.autograd._saved import (
    disable_saved_tensors_hooks as disable_saved_tensors_hooks,
)
from tensorplay.autograd._saved import saved_tensors_hooks as saved_tensors_hooks
from tensorplay.autograd.backward import GradientEdge as GradientEdge
from tensorplay.autograd.backward import get_gradient_edge as get_gradient_edge
from tensorplay.autograd.draw import draw as draw

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "draw",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "save_to_disk",
    "saved_tensors_hooks",
]


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of a tensor's memory that was made outside of the library's sight.

    A backward pass that needs the old values then raises, as it does after `x.add_(1)`.

    Raises:
        RuntimeError: if `tensor` is neither a tensor nor an iterable of tensors.

    >>> import tensorplay as tp
    >>> x = tp.ones(2)
    >>> x.numpy()[0] = 5.
    >>> tp.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    given: Any = tensor
    alone = isinstance(given, Tensor) or not isinstance(given, Iterable)
    tensors = [given] if alone else list(given)
    for x in tensors:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                "increment_version(): expected a tensor or an iterable of tensors, got "
                f"{type(x).__name__}"
            )
    for x in tensors:
        core.bump_version(x)


# --- hooks on several gradients -------------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """Several handles that are removed together."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take all the hooks away."""
        for handle in self.handles:
            handle.remove()


class _Gathering:
    """What has arrived of the gradients during one backward pass."""

    def __init__(self, expected: int, count: int) -> None:
        self.expected = expected
        self.arrived = 0
        self.grads: list[Tensor | None] = [None] * count


def register_multi_grad_hook(
    tensors: Sequence[Tensor] | Sequence[GradientEdge],
    fn: Callable[..., None],
    *,
    mode: str = "all",
) -> RemovableHandle:
    """Call `fn` in every backward pass that computes gradients of some of `tensors`.

    Args:
        tensors: tensors that require grad, or gradient edges.
        fn: with mode 'all' it gets, when the last gradient of this pass has been computed, the
            gradients of all the tensors (None where this pass computes none). With mode 'any' it
            gets the first gradient of the pass. It must not change them.
        mode: 'all' or 'any'.

    Returns:
        A handle with `remove()`.

    Raises:
        ValueError: for another mode.
        RuntimeError: if a tensor does not require grad.

    >>> import tensorplay as tp
    >>> a, b = tp.ones(2, requires_grad=True), tp.ones(2, requires_grad=True)
    >>> handle = tp.autograd.graph.register_multi_grad_hook((a, b), lambda grads: print(grads))
    >>> (a * 2).sum().backward()
    (tensor([2., 2.]), None)
    """
    if mode not in ("all", "any"):
        raise ValueError(
            f"register_multi_grad_hook(): mode must be one of ('all', 'any'), got {mode!r}"
        )
    edges = [x if isinstance(x, GradientEdge) else get_gradient_edge(x) for x in tensors]
    lock = threading.Lock()
    passes: WeakKeyDictionary[Any, _Gathering] = WeakKeyDictionary()

    def take(position: int, grad: Tensor) -> None:
        run = core.current_run()
        with lock:
            state = passes.get(run)
            if state is None:
                expected = sum(core.will_run(edge.node) for edge in edges)
                state = passes.setdefault(run, _Gathering(expected, len(edges)))
            state.arrived += 1
            state.grads[position] = grad
            complete = state.arrived == state.expected
        if complete:
            fn(tuple(state.grads))

    def take_first(grad: Tensor) -> None:
        run = core.current_run()
        with lock:
            first = run not in passes
            if first:
                passes[run] = _Gathering(0, 0)
        if first:
            fn(grad)

    def hook_for(position: int) -> Callable[[Tensor], None]:
        if mode == "any":
            return take_first
        return lambda grad: take(position, grad)

    return _MultiHandle([_hook_edge(edge, hook_for(i)) for i, edge in enumerate(edges)])


def _hook_edge(edge: GradientEdge, hook: Callable[[Tensor], Any]) -> Any:
    node = edge.node
    if isinstance(node, core.AccumulateGrad):
        hooks = core.leaf_hooks(node.variable, False)
    else:
        hooks = node.hooks_of(edge.output_nr)
    return RemovableHandle(hooks, hook)
