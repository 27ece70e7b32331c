"""Time tensorplay against PyTorch in alternating rounds of one run.

    python benchmarks/run.py                   every workload (a few minutes)
    python benchmarks/run.py --only 'exp|tanh' those whose "group: name" matches the pattern
    python benchmarks/run.py --markdown        also write the table into benchmarks/README.md

benchmarks/README.md says how to read what this prints.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from probes import import_time, installed_size
from worker import Unavailable, Worker, same
from workloads import WORKLOADS, Workload

THEIRS, OURS = "torch", "tensorplay"
README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- table: written by run.py --markdown -->", "<!-- end of table -->"
SETUP_GROUP, IMPORT, SIZE = "import and size", "import in a fresh process", "installed size, MB"


@dataclass
class Row:
    """One line of the table. `ratios` holds one figure per round; which, `kind` says."""

    name: str
    group: str
    threads: int = 1
    kind: str = "speedup"  # or "cost" (derivative / function) or "size" (MB)
    target: float | None = None
    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def figures(self) -> list[float]:
        if self.kind == "speedup":
            return [t / o for t, o in zip(self.theirs, self.ours, strict=True)]
        return self.ours

    @property
    def verdict(self) -> str:
        if self.note:
            return self.note.split(":")[0]
        if self.target is None:
            return ""
        median = statistics.median(self.figures)
        reached = median >= self.target if self.kind == "speedup" else median <= self.target
        return "PASS" if reached else "miss"

    def cells(self) -> list[str]:
        """Name, threads, PyTorch, tensorplay, ratio, quartiles, target, verdict."""
        sign = {"speedup": ">=", "cost": "<=", "size": "<="}[self.kind]
        target = "" if self.target is None else f"{sign} {self.target:.3g}"
        show = seconds if self.kind == "speedup" else "{:.2f}".format
        theirs = show(statistics.median(self.theirs)) if self.theirs else ""
        ours = show(statistics.median(self.ours)) if self.ours else ""
        ratio = spread = ""
        if self.figures and self.kind != "size":
            ratio = f"{statistics.median(self.figures):.2f}"
            low, high = quartiles(self.figures)
            spread = f"{low:.2f} to {high:.2f}"
        return [self.name, str(self.threads), theirs, ours, ratio, spread, target, self.verdict]


HEADINGS = ["workload", "threads", "PyTorch", "tensorplay", "ratio", "quartiles", "target", ""]
WIDTHS = [55, 7, 8, 10, 6, 14, 7, 4]


def quartiles(figures: list[float]) -> tuple[float, float]:
    if len(figures) < 2:
        return figures[0], figures[0]
    cuts = statistics.quantiles(figures, n=4, method="inclusive")
    return cuts[0], cuts[2]


def seconds(value: float) -> str:
    """A time with three significant digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


# ---------------------------------------------------------------- measuring


class Pool:
    """The worker processes, started when first needed and replaced after a failure."""

    def __init__(self) -> None:
        self.workers: dict[tuple[str, int], Worker] = {}

    def get(self, library: str, threads: int) -> Worker:
        key = library, threads
        if key in self.workers and not self.workers[key].process.is_alive():
            self.workers.pop(key).stop()
        if key not in self.workers:
            self.workers[key] = Worker(library, threads)
        return self.workers[key]

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


def measure(index: int, work: Workload, rounds: int, pool: Pool) -> Row:
    """Prepare in both libraries, compare the results, then time them turn and turn about."""
    kind = "speedup" if work.baseline is None else "cost"
    target = work.target if work.baseline is None else work.at_most
    row = Row(work.name, work.group, work.threads, kind, target)
    pair = [pool.get(library, work.threads) for library in (THEIRS, OURS)]
    try:
        marks = [worker.prepare(index) for worker in pair]
        if not same(*marks):
            raise Unavailable("differs", "the two libraries computed different results")
        for _ in range(min(rounds, work.most_rounds)):
            for worker, times in zip(pair, (row.theirs, row.ours), strict=True):
                times.append(cost(worker, work))
    except Unavailable as failure:
        row.theirs, row.ours = [], []
        row.note = f"{failure.kind}: {failure.reason}"
    return row


def cost(worker: Worker, work: Workload) -> float:
    spent = worker.time("statement")
    return spent if work.baseline is None else spent / (work.scale * worker.time("baseline"))


def probe(row: Row, measured: Callable[[str], float], rounds: int) -> Row:
    """Fill `row` by asking `measured(library)` turn and turn about."""
    try:
        for _ in range(rounds):
            for library, figures in ((THEIRS, row.theirs), (OURS, row.ours)):
                figures.append(measured(library))
    except subprocess.CalledProcessError as failure:
        row.theirs, row.ours = [], []
        row.note = f"error: {(failure.stderr.strip().splitlines() or ['no message'])[-1]}"
    return row


def jobs(rounds: int, pool: Pool) -> Iterable[tuple[str, str, Callable[[], Row]]]:
    """Group, name and what measures it, in the order of the table."""
    groups = list(dict.fromkeys(work.group for work in WORKLOADS))
    for index, work in sorted(enumerate(WORKLOADS), key=lambda pair: groups.index(pair[1].group)):
        yield work.group, work.name, lambda i=index, w=work: measure(i, w, rounds, pool)
    imported = Row(IMPORT, SETUP_GROUP, target=4)
    yield SETUP_GROUP, IMPORT, lambda: probe(imported, import_time, rounds)
    installed = Row(SIZE, SETUP_GROUP, kind="size", target=10)
    yield SETUP_GROUP, SIZE, lambda: probe(installed, installed_size, 1)


# ---------------------------------------------------------------- reporting


def print_row(cells: list[str]) -> None:
    name, *rest = (cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))
    print("  ".join([cells[0].ljust(len(name)), *rest]).rstrip(), flush=True)


def summary(rows: list[Row]) -> str:
    judged = [row for row in rows if row.target is not None]
    reached = sum(row.verdict == "PASS" for row in judged)
    absent = sum(bool(row.note) for row in rows)
    text = f"{reached} of {len(judged)} targets reached"
    return text + (f"; {absent} workloads could not run" if absent else "")


def description(rounds: int) -> str:
    """The machine and the versions, so that a table can be judged later."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = found[1] if found else model
    versions = ", ".join(f"{name} {version(name)}" for name in (OURS, THEIRS, "numpy"))
    python = platform.python_version()
    load = f"load {os.getloadavg()[0]:.1f} at the start, " if hasattr(os, "getloadavg") else ""
    cores = f"{model}, {os.cpu_count()} cores"
    return f"{cores}; {load}{rounds} rounds; Python {python}, {versions}"


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed as a distribution)"


def write_markdown(rows: list[Row], about: str) -> None:
    lines = [BEGIN, "", f"{datetime.date.today():%d %B %Y}; {about}. {summary(rows)}.", ""]
    for group in dict.fromkeys(row.group for row in rows):
        lines += [f"**{group}**", "", "| " + " | ".join(HEADINGS) + " |"]
        lines += ["|---|--:|--:|--:|--:|--:|--:|---|"]
        for row in (row for row in rows if row.group == group):
            name, *rest = row.cells()
            lines.append("| " + " | ".join([f"`{name}`" if code(name) else name, *rest]) + " |")
        lines.append("")
    text = README.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"run.py: {README} has lost its markers {BEGIN} and {END}")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    README.write_text(head + "\n".join(lines) + "\n" + END + tail)


def code(name: str) -> bool:
    """Whether a workload is named by its own statement."""
    return any(work.name == name == work.statement for work in WORKLOADS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="PATTERN", help="regular expression on 'group: name'")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds (default 7)")
    parser.add_argument("--markdown", action="store_true", help="write benchmarks/README.md")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.markdown and options.only:
        parser.error("--markdown writes the whole table; it does not go with --only")
    # Set on some machines for the sake of old OpenBLAS builds; they slow a current NumPy.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)

    pool = Pool()
    pattern = re.compile(options.only or "", re.IGNORECASE)
    chosen = [j for j in jobs(options.rounds, pool) if pattern.search(f"{j[0]}: {j[1]}")]
    if options.list:
        print("\n".join(f"{group}: {name}" for group, name, _ in chosen))
        return
    for library in (THEIRS, OURS):
        if importlib.util.find_spec(library) is None:
            sys.exit(f"run.py: {library} is not installed; pip install 'tensorplay[parity]'")

    about = description(options.rounds)
    print(about)
    rows, group = [], None
    for job_group, _, job in chosen:
        if job_group != group:
            group = job_group
            print(f"\n{group}")
            print_row(HEADINGS)
        rows.append(job())
        print_row(rows[-1].cells())
        if rows[-1].note:
            print(f"    {rows[-1].note}")
    pool.stop()
    print(f"\n{summary(rows)}")
    if options.markdown:
        write_markdown(rows, about)
        print(f"wrote {README}")


if __name__ == "__main__":
    main()
