"""The operator table and the registry of primitives name each other, both ways, truthfully."""

import pytest

from tensorplay._core import core
from tests.checks import variants
from tests.optable import ROWS
from tests.support import cases

NAMED = {name for op in ROWS.values() for name in op.primitives}

#: Primitives without a batching rule, and why.
NOT_BATCHED: dict[str, str] = {}

#: Differentiable primitives without a forward rule, and why.
NO_FORWARD: dict[str, str] = {}


def test_every_primitive_has_a_row():
    missing = sorted(set(core.registry) - NAMED)
    assert not missing, f"{len(missing)} primitives in no row of tests/optable: {missing}"


def test_every_named_primitive_exists():
    unknown = {op.name: sorted(set(op.primitives) - set(core.registry)) for op in ROWS.values()}
    unknown = {row: names for row, names in unknown.items() if names}
    assert not unknown, f"rows that name primitives which are not in the registry: {unknown}"


def test_every_row_finds_its_function():
    missing = []
    for op in ROWS.values():
        try:
            assert callable(op.call)
        except LookupError:
            missing.append(op.name)
    assert not missing, f"rows without a function: {missing}"


@pytest.mark.parametrize("op", cases("registry", lambda op: op.primitives))
def test_a_row_exercises_what_it_names(op):
    seen = variants.exercised(op)
    idle = sorted(set(op.primitives) - seen)
    assert not idle, f"row '{op.name}' names {idle}, but its calls run only {sorted(seen)}"


def test_every_primitive_can_be_batched():
    bare = {p.name for p in core.registry.values() if p.batch is None}
    assert bare == set(NOT_BATCHED)


def test_every_differentiable_primitive_has_a_forward_rule():
    bare = {p.name for p in core.registry.values() if p.differentiable and p.jvp is None}
    assert bare == set(NO_FORWARD)
