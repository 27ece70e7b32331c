"""Compare with PyTorch's operator database and print what passes, fails and is missing.

    python -m tests.parity.op_db_report                     # all 547 entries
    python -m tests.parity.op_db_report --only 'linalg.*'   # names by pattern (several allowed)
    python -m tests.parity.op_db_report --only sum -v       # every failing call, with tracebacks

Each entry runs in a process of its own with a time limit, so a crash or a hang costs one entry.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import pickle
import select
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tensorplay._core import core
from tests.parity.aspects import ASPECTS
from tests.parity.op_db_entries import Outcome, check_entry, entries


def isolated(
    names: Sequence[str], seconds: float, jobs: int = 1, **options: Any
) -> Iterator[Outcome]:
    """Check entries in child processes, `jobs` at a time; outcomes as they arrive."""
    torch.set_num_threads(1)
    core.set_num_threads(1)
    waiting, running = list(names)[::-1], {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop()
            child, pipe = start(name, options)
            running[pipe] = (child, name, time.monotonic() + seconds, bytearray())
        ready, _, _ = select.select(list(running), [], [], 0.05)
        for pipe in ready:
            child, name, _, data = running[pipe]
            chunk = os.read(pipe, 1 << 16)
            data += chunk
            if not chunk:
                finish(pipe, running)
                yield pickle.loads(data) if data else failed(name, "the process died")
        for pipe, (child, name, end, _) in list(running.items()):
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                finish(pipe, running)
                yield failed(name, f"took more than {seconds:.0f} seconds")


def start(name: str, options: dict[str, Any]) -> tuple[int, int]:
    """Fork a child that checks one entry and writes the outcome into the pipe."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns where there are threads, as under xdist
        child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        try:
            outcome = check_entry(name, **options)
        except BaseException as error:
            outcome = failed(name, f"{type(error).__name__}: {error}")
        sys.stdout.flush()
        with os.fdopen(writing, "wb") as file:
            pickle.dump(outcome, file)
    finally:
        os._exit(0)


def finish(pipe: int, running: dict[int, Any]) -> None:
    """Forget a child that has ended."""
    child = running.pop(pipe)[0]
    os.close(pipe)
    os.waitpid(child, 0)


def failed(name: str, why: str) -> Outcome:
    """The outcome of an entry that could not be checked."""
    return Outcome(name, failures={aspect: [why] for aspect in ASPECTS})


def table(outcomes: Sequence[Outcome], aspects: Sequence[str] = ASPECTS) -> str:
    """How many entries pass, by aspect, and what does not."""
    total = len(outcomes)
    lines = [f"{'aspect':12} {'pass':>5} {'fail':>5} {'missing':>8}"]
    missing = [o for o in outcomes if o.missing]
    for aspect in aspects:
        good = sum(o.ok(aspect) for o in outcomes)
        lines.append(f"{aspect:12} {good:5} {total - good - len(missing):5} {len(missing):8}")
    good = sum(o.complete() for o in outcomes)
    lines.append(f"{'all five':12} {good:5} {total - good - len(missing):5} {len(missing):8}")
    if missing:
        lines.append(f"\nmissing ({len(missing)}): " + " ".join(o.name for o in missing))
    failing = [o for o in outcomes if not o.missing and not o.complete()]
    if failing:
        lines.append(f"\nfailing ({len(failing)}):")
    for o in failing:
        for aspect, errors in o.failures.items():
            passed = o.passed.get(aspect, 0)
            lines.append(f"  {o.name} {aspect} {len(errors)}/{len(errors) + passed}: {errors[0]}")
    mistaken = [o for o in outcomes if o.mistakes]
    if mistaken:
        lines.append(f"\nPyTorch contradicts differences of its own function ({len(mistaken)}):")
        lines += [f"  {o.name} {o.mistakes[0]}" for o in mistaken]
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", help="names or patterns of entries")
    parser.add_argument("--aspects", nargs="*", default=list(ASPECTS), choices=ASPECTS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="time limit of one entry")
    parser.add_argument("--scale", type=float, default=1, help="multiplies the number of calls")
    parser.add_argument("--json", help="also write the outcomes to this file")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failing call")
    options = parser.parse_args()
    names = list(entries())
    if options.only:
        names = [
            n for n in names
            if any(fnmatch.fnmatch(n, p) or n.split(":")[0] == p for p in options.only)
        ]  # fmt: skip
    settings = {
        "aspects": tuple(options.aspects), "scale": options.scale, "verbose": options.verbose,
    }  # fmt: skip
    outcomes = []
    for outcome in isolated(names, options.seconds, options.jobs, **settings):
        outcomes.append(outcome)
        if sys.stderr.isatty():
            print(f"\r{len(outcomes)}/{len(names)} {outcome.name:50}", end="", file=sys.stderr)
    order = {name: i for i, name in enumerate(names)}
    outcomes.sort(key=lambda o: order[o.name])
    print(table(outcomes, options.aspects))
    if options.json:
        with open(options.json, "w") as file:
            json.dump([vars(o) for o in outcomes], file, indent=1)


if __name__ == "__main__":
    main()
