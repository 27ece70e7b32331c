"""What a backward pass takes and gives back: measured in bytes, as NumPy reports them."""

from __future__ import annotations

import contextlib
import tracemalloc

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.utils.checkpoint import checkpoint

from .support import array, beyond_torch, close, no_collector, watch

MEGABYTE = 1 << 20
pytestmark = beyond_torch  # whose memory tracemalloc does not see


class Traced:
    """Megabytes in use, at most and at the end, more than at the start."""

    start = peak = end = 0.0


@pytest.fixture(autouse=True)
def tracing():
    tracemalloc.start()
    yield
    tracemalloc.stop()


@contextlib.contextmanager
def traced():
    found = Traced()
    found.start = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    yield found
    found.end, found.peak = (
        (value - found.start) / MEGABYTE for value in tracemalloc.get_traced_memory()
    )


def large(grad=True):
    """A tensor of one megabyte."""
    return tp.ones(MEGABYTE // 8, dtype=tp.float64, requires_grad=grad)


class TestAccumulation:
    def test_the_first_gradient_is_taken_over(self):
        x = large()
        loss = (x * 2).sum()
        with traced() as used:
            loss.backward()
        assert used.peak < 1.2  # what the rule has made is the gradient itself
        assert used.end < 1.2
        close(x.grad[:3], [2.0] * 3)

    def test_later_ones_are_added_in_place(self):
        x = large()
        (x * 2).sum().backward()
        address, version = x.grad.data_ptr(), x.grad._version
        loss = (x * 3).sum()
        with traced() as used:
            loss.backward()
        assert used.peak < 1.2
        assert used.end < 0.2
        assert x.grad.data_ptr() == address
        assert x.grad._version == version + 1
        close(x.grad[:3], [5.0] * 3)

    @pytest.mark.parametrize("of_leaf", [True, False], ids=["leaf", "result"])
    def test_many_consumers_take_three_buffers(self, of_leaf):
        x = large()
        y = x if of_leaf else x * 1
        total = tp.zeros((), dtype=tp.float64)
        for k in range(50):
            total = total + (y * float(k)).sum()
        with traced() as used:
            total.backward()
        assert used.peak < 3.2
        close(x.grad[:3], [sum(range(50))] * 3)

    def test_a_gradient_that_others_hold_is_copied(self):
        x, y = large(), large()
        seen = []
        s = x + y  # both get the same cotangent
        s.register_hook(seen.append)
        (s * 2).sum().backward()
        x.grad.zero_()
        close(y.grad[:3], [2.0] * 3)
        close(seen[0][:3], [2.0] * 3)


class TestFreeing:
    def test_recording_keeps_only_what_rules_need(self):
        x = large()
        with traced() as used:
            y = x + 1  # nothing
            y = y * 2  # a number
            y = y.view(-1, 2).t()  # nothing
            y = y.clone()  # nothing, but its result is in use
        assert used.end < 1.2
        del y
        with traced() as used:
            y = x.exp()  # its result
            y = y.sin()  # its input: the same memory
            y = y.sum()
        assert used.end < 1.2

    def test_node_by_node(self):
        alive = []
        x = large()
        y = x
        for _ in range(6):
            y = y.sin()
            alive.extend(watch(y))
        counts = []
        for node in chain_of(y):
            node.register_hook(lambda *_: counts.append(sum(r() is not None for r in alive)))
        loss = y.sum()
        del y
        loss.backward()
        # After each node has run, what the nodes before it had saved is gone.
        assert counts == [5, 4, 3, 2, 1, 0]
        assert sum(r() is not None for r in alive) == 0

    def test_peak_of_a_long_chain(self):
        x = large()
        y = x
        with traced() as used:
            for _ in range(20):
                y = y.sin()
            loss = y.sum()
            del y
        recorded = used.end
        assert 18 < recorded < 21
        with traced() as used:
            loss.backward()
        assert used.peak < 3.2
        assert used.end < -(recorded - 2.2)  # given back, but for the gradient

    def test_retained_graphs_keep_everything(self):
        x = large()
        loss = x.sin().sin().sin().sum()
        loss.backward(retain_graph=True)
        x.grad = None
        with traced() as used:
            loss.backward(retain_graph=True)
        assert 0.9 < used.end < 1.2  # the gradient; nothing was freed
        x.grad = None
        with traced() as used:
            del loss
        assert -2.2 < used.end < -1.8

    def test_grad_runs_only_what_it_needs(self):
        x, w = large(), large()
        h = x.sin()
        for _ in range(10):
            h = h.sin()
        loss = (h * w).sum()
        with traced() as used:
            (g,) = tp.autograd.grad(loss, w)
        assert used.peak < 2.2
        close(g[:2], h[:2])

    def test_a_step_inside_of_the_backward_pass(self):
        # Gradients that are used as they come are never all there.
        params = [large() for _ in range(20)]

        def step(p):
            with tp.no_grad():
                p.sub_(p.grad, alpha=0.1)
            p.grad = None

        for p in params:
            p.register_post_accumulate_grad_hook(step)
        y = large(grad=False)
        for p in params:
            y = y * p
        loss = y.sum()
        del y
        with traced() as used:
            loss.backward()
        assert used.peak < 6
        close(params[0][:2], [0.9, 0.9])
        assert all(p.grad is None for p in params)


def chain_of(y):
    """The nodes of a chain, from the last on."""
    node = y.grad_fn
    while node is not None and node.name() != "AccumulateGrad":
        yield node
        node = node.next_functions[0][0]


class TestCheckpointing:
    def test_it_takes_less(self):
        def block(x):
            for _ in range(10):
                x = x.sin()
            return x

        x = large()

        def run(wrap):
            y = x
            for _ in range(4):
                y = wrap(y)
            y.sum().backward()

        with traced() as plain:
            run(block)
        x.grad = None
        with traced() as used:
            run(lambda x: checkpoint(block, x, use_reentrant=False))
        assert plain.peak > 38
        assert used.peak < 19  # three inputs of blocks, and one block
        with no_collector():
            alive = watch(x.grad)
            x.grad = None
            assert alive[0]() is None


class TestSharing:
    def test_grad_never_aliases_anything(self):
        def different(*tensors):
            given = [array(t) for t in tensors]
            return not any(np.shares_memory(a, b) for i, a in enumerate(given) for b in given[:i])

        x, y = large(), large()
        g = large(grad=False)
        x.backward(g)
        y.backward(g)
        assert different(x.grad, y.grad, g, x, y)
        for combine in (
            lambda a, b: a + b, lambda a, b: tp.cat([a, b]), lambda a, b: tp.stack([a, b]).t(),
            lambda a, b: a.view(-1, 4) + b.view(-1, 4), lambda a, b: a.expand(2, -1) + b,
            lambda a, b: tp.where(a > 0, a, b), lambda a, b: a - b.flip(0), lambda a, b: (a, b),
        ):  # fmt: skip
            x.grad = y.grad = None
            out = combine(x, y)
            outs = out if isinstance(out, tuple) else (out,)
            cotangents = [tp.ones(o.shape, dtype=tp.float64) for o in outs]
            tp.autograd.backward(outs, cotangents)
            assert different(x.grad, y.grad, *cotangents, x, y)
            kept = [array(t).copy() for t in cotangents]
            x.grad.mul_(5)
            assert all((array(c) == k).all() for c, k in zip(cotangents, kept, strict=True))
