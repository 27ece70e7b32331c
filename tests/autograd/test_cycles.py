"""Reference cycles through a graph, which only the garbage collector can free: it frees them all.

PyTorch keeps such graphs for ever; its documentation warns of them.
"""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import pytest

import tensorplay as tp
import tensorplay.autograd.forward_ad as fwd


class Holder:
    """Something that can hold anything."""


def leaf() -> Any:
    return tp.ones(3, requires_grad=True)


def a_hook_that_holds_a_later_tensor() -> Any:
    x = leaf()
    h = x * 2
    y = h.sin().exp()
    h.register_hook(lambda g: g * y)
    return x, h, y


def a_hook_on_a_leaf() -> Any:
    x = leaf()
    y = x.sin().exp()
    x.register_hook(lambda g: g * y)
    return x, y


def a_hook_after_accumulation() -> Any:
    x = leaf()
    y = x.sin().exp()
    x.register_post_accumulate_grad_hook(lambda p: y.sum())
    return x, y


def hooks_of_a_node() -> Any:
    x = leaf()
    y = x.sin().exp()
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda *_: y)
    node.register_prehook(lambda *_: y)
    return x, y, node


def metadata_of_a_node() -> Any:
    y = leaf().sin().exp()
    node = y.grad_fn.next_functions[0][0]
    node.metadata["result"] = y
    return y, node


def an_attribute_of_a_leaf() -> Any:
    x = leaf()
    x.result = x.sin().exp()
    return x, x.result


def an_attribute_of_a_parameter() -> Any:
    p = tp.nn.Parameter(tp.ones(3))
    p.result = p.sin().exp()
    return p, p.result


def an_attribute_of_a_saved_tensor() -> Any:
    h = leaf() * 2
    y = h.sin().exp()
    h.results = [y]
    return h, y


def an_attribute_set_in_the_dictionary() -> Any:
    h = leaf() * 2
    y = h.sin().exp()
    h.__dict__["result"] = y
    return h, y


def a_gradient_with_a_history() -> Any:
    x = leaf()
    y = x.sin().exp()
    y.sum().backward(create_graph=True)
    return x, x.grad


def a_gradient_that_was_assigned() -> Any:
    x = leaf()
    x.grad = x.sin().exp()
    return x, x.grad


def a_gradient_that_gets_a_history_later() -> Any:
    x = leaf()
    x.grad = tp.zeros(3)
    x.grad.add_(x.sin().exp())
    return x, x.grad


def a_saved_tensor_changed_in_place() -> Any:
    h = leaf() * 2
    y = h.sin()
    h.add_(y)
    return h, y


def a_saved_constant_changed_in_place() -> Any:
    c = tp.ones(3)
    y = leaf() * c
    c.add_(y)
    return c, y


def the_base_of_a_saved_view_changed_in_place() -> Any:
    h = leaf() * 2
    y = h[:2].sin().sum()
    h.add_(y)
    return h, y


def another_view_of_the_base_changed_in_place() -> Any:
    h = leaf() * 2
    y = h[:2].sin().sum()
    h[1:].add_(y)
    return h, y


def a_packed_tensor() -> Any:
    holder: Any = Holder()
    x = leaf()
    with tp.autograd.graph.saved_tensors_hooks(lambda t: (t, holder), lambda pair: pair[0]):
        h = (x * 2).sin()
    holder.result = h.exp()
    return h, holder


def the_context_of_a_function() -> Any:
    class Twice(tp.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, holder: Any) -> Any:
            ctx.holder = holder
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, None

    holder: Any = Holder()
    y = Twice.apply(leaf().sin(), holder).exp()
    holder.result = y
    return y, holder


def tangents_of_saved_tensors() -> Any:
    x = leaf()
    with fwd.dual_level():
        y = fwd.make_dual(x, tp.ones(3)).exp()
        z = y.sin().tanh()
        (g,) = tp.autograd.grad(z.sum(), x, create_graph=True)
    return x, y, z, g


def a_tensor_that_a_freed_node_had_saved() -> Any:
    h = leaf() * 2
    y = h.sin()
    y.sum().backward(inputs=[h], retain_graph=False)
    del y
    h.grad_fn.register_hook(lambda *_: h)
    return h, h.grad_fn


CASES = [
    made for name, made in list(globals().items())
    if getattr(made, "__module__", None) == __name__ and name not in ("Holder", "leaf")
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_collector_frees_everything(case):
    other = leaf().sin().exp()  # a graph that is not part of it
    alive = [ref(item) for item in case()]
    gc.collect()
    assert [each() for each in alive] == [None] * len(alive)
    other.sum().backward()
