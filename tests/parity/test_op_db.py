"""The 547 differentiable entries of PyTorch's operator database, each in five aspects.

What is known not to agree is in `known_differences.py`, with a reason for each; anything else that
fails is a failure here, and so is a listed aspect that passes. The table of all entries is printed
at the end of the run. `python -m tests.parity.op_db_report --only NAME -v` shows one entry's calls.
"""

from __future__ import annotations

import pytest

from tests.parity.known_differences import KNOWN
from tests.parity.op_db_entries import entries
from tests.parity.op_db_report import isolated

FLOOR = 500  # entries that pass in all five aspects


def test_the_database_is_the_one_meant():
    names = {op.name for op in entries().values()}
    assert (len(entries()), len(names)) == (547, 487)


def test_known_differences_are_entries_with_reasons():
    assert set(KNOWN) <= set(entries())
    for name, (aspects, reason) in KNOWN.items():
        assert aspects, name
        assert len(reason) > 20, name


def test_the_floor_holds():
    assert len(entries()) - len(KNOWN) >= FLOOR


@pytest.mark.parametrize("name", list(entries()))
def test_entry(name, record_property):
    (outcome,) = isolated([name], seconds=120, scale=0.6)
    record_property("op_db", vars(outcome))
    known = set(KNOWN[name][0]) if name in KNOWN else set()
    failing = set(outcome.failing())
    unexpected = failing - known
    details = [f"{a}: {e}" for a in sorted(unexpected) for e in outcome.failures.get(a, [])[:3]]
    assert not unexpected, "\n".join(details) or outcome.missing
    assert failing == known, f"{sorted(known - failing)} pass now: correct known_differences.py"
