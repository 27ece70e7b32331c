"""Python's cyclic collector: it frees cycles through graphs, and does not slow long ones."""

import gc
import weakref

import pytest

import tensorplay as tp


@pytest.fixture
def collections():
    """The generations of the collections that have run so far, with the collector on."""
    found = []

    def note(phase, info):
        if phase == "start":
            found.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def test_cycles_are_collected_while_they_pile_up(collections):
    alive = weakref.WeakSet()
    most = 0
    for _ in range(15_000):
        x = tp.ones(2).requires_grad_()
        y = (x * 2).exp()
        x.result = y  # y leads to x, and x to y
        alive.add(x)
        most = max(most, len(alive))
    assert collections
    assert most < 12_000


def test_a_long_graph_does_not_call_the_collector_again_and_again(collections):
    x = tp.ones(1).requires_grad_()
    c = tp.ones(1)
    y = x
    for _ in range(300_000):
        y = y * c
    y.backward()
    assert x.grad.item() == 1
    assert len(collections) < 12  # its own schedule: 450 of the youngest generation alone


def test_a_collector_that_is_off_stays_off(collections):
    gc.disable()
    try:
        x = tp.ones(1).requires_grad_()
        y = x
        for _ in range(50_000):
            y = y * 1.0
        assert not collections
    finally:
        gc.enable()
