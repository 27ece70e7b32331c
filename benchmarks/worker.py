"""One process per library and thread count: it prepares workloads and times them on request.

Two libraries in one process would share an allocator, a garbage collector and the threads that
each OpenMP or BLAS runtime keeps spinning. Apart, neither can slow or help the other; the rounds
still alternate, because the parent asks one process at a time.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import timeit
from multiprocessing.connection import Connection
from typing import Any

import large  # noqa: F401  (importing it adds the large workloads to WORKLOADS)
import numpy as np
from workloads import WORKLOADS, Workload

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Unavailable(Exception):
    """The workload cannot run: 'missing' (the library lacks something) or 'error'."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


class Worker:
    """The parent's handle of a child process that has imported `library`."""

    def __init__(self, library: str, threads: int) -> None:
        # The runtimes read these once, when they load; the child inherits them.
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
        context = multiprocessing.get_context("spawn")
        self.library = library
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, library, threads), daemon=True)
        self.process.start()
        theirs.close()

    def _ask(self, *request: Any) -> Any:
        try:
            self.connection.send(request)
            kind, answer = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            self.process.join(5)
            code = self.process.exitcode
            raise Unavailable("error", f"{self.library}: process died, code {code}") from error
        if kind != "ok":
            raise Unavailable(kind, f"{self.library}: {answer}")
        return answer

    def prepare(self, index: int) -> list[list[float]]:
        """Set workload `index` up, run it once and return a fingerprint of its result."""
        return self._ask("prepare", index)

    def time(self, which: str) -> float:
        """Seconds per execution of the prepared 'statement' or 'baseline'."""
        return self._ask("time", which)

    def stop(self) -> None:
        self.connection.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.terminate()


def serve(connection: Connection, library: str, threads: int) -> None:
    """Answer requests until the parent closes the pipe."""
    session = Session(library, threads)
    while True:
        try:
            action, argument = connection.recv()
        except EOFError:
            return
        try:
            answer = ("ok", getattr(session, action)(argument))
        except (AttributeError, ImportError, NotImplementedError) as error:
            answer = ("missing", describe(error))
        except Exception as error:  # reported in the table; the run goes on
            answer = ("error", describe(error))
        connection.send(answer)


def describe(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:160]


class Session:
    """What the child keeps: the library and the one workload that is prepared."""

    def __init__(self, library: str, threads: int) -> None:
        self.library, self.threads = library, threads
        self.module: Any = None
        self.timers: dict[str, tuple[timeit.Timer, Workload]] = {}

    def prepare(self, index: int) -> list[list[float]]:
        self.timers.clear()
        gc.unfreeze()
        if self.module is None:
            self.module = importlib.import_module(self.library)
            if hasattr(self.module, "set_num_threads"):
                self.module.set_num_threads(self.threads)
        work = WORKLOADS[index]
        made = work.setup(self.module)
        names = made if isinstance(made, dict) else {"run": made}
        names["gc"] = gc
        marks = fingerprint(eval(work.statement, names))
        if work.baseline is not None:
            eval(work.baseline, names)
        for which, statement in (("statement", work.statement), ("baseline", work.baseline)):
            if statement is not None:
                # timeit turns the collector off; programs run with it on, so it stays on.
                self.timers[which] = (timeit.Timer(statement, "gc.enable()", globals=names), work)
        # What exists by now is no garbage of the workload's: spare the collector the walk.
        gc.collect()
        gc.freeze()
        return marks

    def time(self, which: str) -> float:
        timer, work = self.timers[which]
        return min(timer.repeat(work.repeats, work.loops)) / work.loops


def fingerprint(result: Any) -> list[list[float]]:
    """Per tensor of the result: sum, a sum with unequal weights, and the size to judge them by."""
    if isinstance(result, (tuple, list)):
        return [mark for part in result for mark in fingerprint(part)]
    values = np.asarray(result.detach().numpy(), dtype=np.float64).reshape(-1)
    weights = np.cos(np.arange(values.size))
    size = float(np.abs(values).sum())
    return [[float(values.size), float(values.sum()), float(values @ weights), size]]


def same(left: list[list[float]], right: list[list[float]], tolerance: float = 1e-3) -> bool:
    """Whether two fingerprints agree to float32 accuracy."""
    if len(left) != len(right):
        return False
    pairs = zip(left, right, strict=True)
    return all(
        a[0] == b[0]
        and all(abs(u - v) <= tolerance * (a[3] + 1e-6) for u, v in zip(a, b, strict=True))
        for a, b in pairs
    )
