"""The cyclic garbage collector and graphs: its passes cost no time, and every cycle is freed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each case runs in a fork of one process")
def test_cycles_are_freed_however_they_are_made():
    run(str(Path(__file__).with_name("collected.py")))


def test_building_a_graph_causes_no_full_collections():
    # Unless the graph is left out, there are about 14 of them, each over all that is alive.
    run(
        "-c",
        """
import gc
import tensorplay as tp
full = []
gc.collect()
gc.callbacks.append(lambda phase, info: full.append(phase) if info["generation"] == 2 else None)
y = x = tp.ones(2, requires_grad=True)
for _ in range(300_000):
    y = y.sin()
assert len(full) <= 2, full      # one, with its start and its end
assert not gc.is_tracked(y.grad_fn)
y.sum().backward()
""",
    )


def test_the_collector_sees_graphs_once_a_cycle_could_close():
    run(
        "-c",
        """
import gc
import tensorplay as tp
x = tp.ones(2, requires_grad=True)
h = x * 2
y = h.sin()
old = [h, y.grad_fn, h.grad_fn]
assert not any(gc.is_tracked(item) for item in old)
h.register_hook(lambda g: g)
assert all(gc.is_tracked(item) for item in old)
assert gc.is_tracked(y.exp().grad_fn)
""",
    )


def test_tensors_are_seen_again_once_nothing_saves_them():
    run(
        "-c",
        """
import gc
import tensorplay as tp
x = tp.ones(2, requires_grad=True)
h, k = x * 2, x * 3
view = k[:1]
y = h.sin() + view.sin() + view.exp()
assert not gc.is_tracked(h) and not gc.is_tracked(view) and not gc.is_tracked(k)
y.sum().backward()
assert gc.is_tracked(h) and gc.is_tracked(view) and gc.is_tracked(k)
z = h.cos()
assert not gc.is_tracked(h)
del z
assert gc.is_tracked(h)
""",
    )
