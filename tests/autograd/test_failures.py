"""Errors and Ctrl-C in the middle of a pass: nothing leaks, nothing sticks, the next call works."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import tensorplay as tp
from tensorplay.autograd.graph import saved_tensors_hooks

from .support import ON_TORCH, beyond_torch, close, leaf, no_collector, watch

if not ON_TORCH:
    from tensorplay._core.core import Primitive


class Switch:
    """Raises when it is on, whatever it is called with."""

    def __init__(self, kind=ValueError):
        self.on = False
        self.kind = kind

    def __call__(self, *_):
        if self.on:
            raise self.kind("mine")


class Checked(tp.autograd.Function):
    @staticmethod
    def forward(ctx, x, switch):
        ctx.save_for_backward(x)
        ctx.switch = switch
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        ctx.switch()
        return 2 * x * g, None


def primitive_rule(switch):
    def rule(g, x):
        switch()
        return g * 2 * x

    square = Primitive("square_of_the_test", lambda x: x * x, ("x",), vjp=(rule,), register=False)
    x = leaf([3.0])
    return x, square(x * 1)


def function_backward(switch):
    x = leaf([3.0])
    return x, Checked.apply(x * 1, switch)


def tensor_hook(switch):
    x = leaf([3.0])
    h = x * 1
    h.register_hook(switch)
    return x, h * h


def tensor_hook_of_the_result(switch):
    x = leaf([3.0])
    y = x * x
    y.register_hook(switch)
    return x, y


def leaf_hook(switch):
    x = leaf([3.0])
    x.register_hook(switch)
    return x, x * x


def node_hook(switch):
    x = leaf([3.0])
    y = x * x
    y.grad_fn.register_hook(switch)
    return x, y


def node_prehook(switch):
    x = leaf([3.0])
    y = x * x
    y.grad_fn.register_prehook(switch)
    return x, y


def unpack_hook(switch):
    x = leaf([3.0])
    with saved_tensors_hooks(lambda t: t, lambda t: switch() or t):
        y = (x * 1) ** 2
    return x, y


def unpack_hook_of_a_function(switch):
    x = leaf([3.0])
    with saved_tensors_hooks(lambda t: t, lambda t: switch() or t):
        y = Checked.apply(x * 1, lambda: None)
    return x, y


def post_accumulate_hook(switch):
    x = leaf([3.0])
    x.register_post_accumulate_grad_hook(switch)
    return x, x * x


PLACES = [function_backward, tensor_hook, tensor_hook_of_the_result, leaf_hook, node_hook,
          node_prehook, unpack_hook, unpack_hook_of_a_function]  # fmt: skip
if not ON_TORCH:
    PLACES.append(primitive_rule)


def nodes(y):
    """The graph node of a tensor, where weak references to nodes exist."""
    return [] if ON_TORCH else [y.grad_fn]


def fails(switch, call):
    """The call raises what the switch raises; the error itself is gone afterwards."""
    switch.on = True
    try:
        call()
    except switch.kind as error:
        assert str(error) == "mine"
    else:
        raise AssertionError("no error")
    finally:
        switch.on = False


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("place", [*PLACES, post_accumulate_hook])
class TestEveryPlace:
    def test_the_same_pass_again_with_retain_graph(self, place, kind):
        switch = Switch(kind)
        x, y = place(switch)
        fails(switch, lambda: y.sum().backward(retain_graph=True))
        x.grad = None
        y.sum().backward()
        close(x.grad, [6.0])

    def test_another_graph_right_after(self, place, kind):
        switch = Switch(kind)
        x, y = place(switch)
        fails(switch, lambda: (y * 5 + y).sum().backward(retain_graph=True))
        assert tp.is_grad_enabled()
        other = leaf([2.0])
        (other.exp() * other).sum().backward()
        close(other.grad, [3 * 7.38905609893065])
        x.grad = None
        (g,) = tp.autograd.grad(y.sum(), x)  # no cotangent of the failed pass is left behind
        close(g, [6.0])

    def test_nothing_stays_alive(self, place, kind):
        switch = Switch(kind)
        with no_collector():
            x, y = place(switch)
            alive = watch(x, y, *nodes(y))
            fails(switch, y.sum().backward)
            del x, y
            assert not any(ref() is not None for ref in alive)


@pytest.mark.parametrize("place", [p for p in PLACES if p not in (leaf_hook, tensor_hook)])
def test_a_node_that_failed_keeps_what_it_saved(place):
    # As in PyTorch: values are freed after a node has run, so a node that failed can run again
    # even without retain_graph (those that ran before it cannot, if they saved anything).
    switch = Switch()
    x, y = place(switch)
    fails(switch, lambda: y.sum().backward())
    y.sum().backward()
    close(x.grad, [6.0])


def test_a_node_that_ran_before_the_failure_is_freed():
    switch = Switch()
    x, y = leaf_hook(switch)
    fails(switch, lambda: y.sum().backward())
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    assert x.grad is None


def test_in_pack_nothing_is_recorded_and_hooks_are_off_again():
    switch = Switch(KeyboardInterrupt)
    packed = []
    x = leaf([2.0])

    def pack(t):
        switch()
        packed.append(t)
        return t

    with no_collector():
        with saved_tensors_hooks(pack, lambda t: t):
            h = x * 1
            fails(switch, h.exp)
            y = h.exp()
        assert len(packed) == 1
        x.exp()
        assert len(packed) == 1
        y.sum().backward()
        close(x.grad, [7.38905609893065])
        alive = watch(x, h, y, *nodes(y))
        packed.clear()
        del x, h, y
        assert not any(ref() is not None for ref in alive)


def test_inside_a_nested_pass():
    switch = Switch()
    x, y = tensor_hook(switch)
    loss = y.sum()
    outer = leaf([1.0])
    z = outer * 2
    z.register_hook(lambda g: loss.backward(retain_graph=True))
    fails(switch, lambda: z.sum().backward(retain_graph=True))
    z.sum().backward()
    close(outer.grad, [2.0])
    close(x.grad, [6.0])


@beyond_torch
def test_gradients_found_before_the_failure_stay_and_nothing_is_added_twice():
    # Leaves are filled as the pass reaches them: a pass that fails has filled some.
    switch = Switch()
    a, b = leaf([1.0]), leaf([1.0])
    h = b * 1
    h.register_hook(switch)
    y = h * 3 + a * 2
    fails(switch, lambda: y.sum().backward(retain_graph=True))
    a.grad = b.grad = None
    y.sum().backward()
    close(a.grad, [2.0])
    close(b.grad, [3.0])


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.fixture
def ctrl_c():
    """A function that sends the signal of Ctrl-C soon, to this process.

    The default handler is put in place: a launcher may have told the process to ignore it.
    """
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    threads = []

    def send(after):
        def later():
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=later))
        threads[-1].start()

    yield send
    for thread in threads:
        thread.join()
    signal.signal(signal.SIGINT, previous)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
@pytest.mark.parametrize("step", [lambda y: y + 1, lambda y: y.sin()], ids=["compiled", "python"])
@beyond_torch
def test_ctrl_c_during_backward(ctrl_c, step):
    x = leaf([0.5])
    y = x
    for _ in range(400_000):
        y = step(y)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ctrl_c(0.05)
        for _ in range(50):  # the machine may be fast
            y.backward(tp.ones(1, dtype=tp.float64), retain_graph=True)
    assert time.perf_counter() - start < 20
    assert tp.is_grad_enabled()
    x.grad = None
    (x * 3).sum().backward()
    close(x.grad, [3.0])
    x.grad = None
    y.backward(tp.ones(1, dtype=tp.float64))
    assert x.grad is not None
    if step(leaf([2.0])).item() == 3.0:
        close(x.grad, [1.0])
    with no_collector():
        alive = watch(y, y.grad_fn)
        del y
        assert not any(ref() is not None for ref in alive)
