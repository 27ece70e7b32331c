"""PyTorch's operator database, entry by entry: our function for each, and the calls to compare.

An entry is named as PyTorch names it, with its variant after a colon: `div:floor_rounding`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal import common_methods_invocations as database

import tensorplay as tp
from tensorplay.ops.kinds import PUBLIC
from tests.parity.aspects import ASPECTS, CHECKS, Case, TheirMistake
from tests.parity.bridge import Mismatch, map_tensors, substitute, tensors, translate
from tests.parity.random_ops import RANDOM_CHECKS, is_random

#: How many calls each aspect is checked on, in real and in complex numbers.
LIMITS = {
    "value": (14, 5), "gradient": (8, 4), "gradgrad": (4, 2), "jvp": (6, 3), "vmap": (4, 2),
}  # fmt: skip


#: Decompositions from a random sketch are accurate, and depend on the sketch, to about this.
RTOL = {"svd_lowrank": 1e-4, "pca_lowrank": 1e-4}

DTYPES = (torch.float64, torch.complex128)


def entry_name(op: Any) -> str:
    """'div:floor_rounding'."""
    return op.name + (f":{op.variant_test_name}" if op.variant_test_name else "")


@functools.cache
def entries() -> dict[str, Any]:
    """Every differentiable entry by its name, in the order of the database."""
    return {entry_name(op): op for op in database.op_db if op.supports_autograd}


# --- our function ---------------------------------------------------------------------------------


class _MissingFunction(LookupError):
    """tensorplay has no such function."""


def our_path(op: Any) -> str:
    """The dotted name below `tensorplay`."""
    if op.op is torch.segment_reduce:  # which the database calls by the name of an internal
        return "segment_reduce"
    return op.name.removeprefix("torch.ops.aten.").removesuffix(".default")


def of_the_database(function: Any) -> bool:
    """Whether a function is one of the database's own, which calls PyTorch's."""
    return isinstance(function, types.FunctionType) and (
        function.__name__ == "<lambda>" or function.__module__ == database.__name__
    )


def our_function(op: Any) -> Callable[..., Any]:
    """Our function for an entry.

    Raises:
        LookupError: if we have none.
    """
    if of_the_database(op.op):
        return retargeted(op.op)
    found = find(our_path(op))
    if found is None:
        raise _MissingFunction(f"tensorplay.{our_path(op)}")
    return found


def find(path: str) -> Any:
    """A function of the package, or else a method of Tensor, by its dotted name; or None."""
    for start in (tp, tp.Tensor):
        found: Any = start
        for part in path.split("."):
            found = getattr(found, part, None)
        if isinstance(found, property) or type(found).__name__ == "getset_descriptor":
            return functools.partial(getattr_of, path)
        if callable(found):
            return found
    # Names that are not public in PyTorch either are registered, but in no namespace of ours.
    return PUBLIC.get(("", path)) if path.startswith("_") or not hasattr(torch, path) else None


def getattr_of(name: str, x: Any) -> Any:
    """The attribute of a tensor, as a function."""
    return getattr(x, name)


class _Ours:
    """Stands for the module `torch` in a function of the database: attributes are tensorplay's."""

    def __getattr__(self, name: str) -> Any:
        if name == "ops":
            return types.SimpleNamespace(aten=_OurSteps())
        found = getattr(tp, name, None)
        if found is None:
            raise _MissingFunction(f"tensorplay.{name}")
        return found


class _OurSteps:
    """Stands for `torch.ops.aten`, where each function has its overloads as attributes."""

    def __getattr__(self, name: str) -> Any:
        found = find(name)
        if found is None:
            raise _MissingFunction(f"tensorplay.{name}")
        return types.SimpleNamespace(default=found)


def retargeted(function: types.FunctionType) -> Callable[..., Any]:
    """A lambda of the database that calls tensorplay where it calls torch."""
    names = dict(function.__globals__)
    names.update(torch=_Ours(), wrapper_set_seed=unseeded, F=tp.nn.functional)
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def unseeded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """In place of the database's `wrapper_set_seed`: seeds are set outside, by the checks."""
    return function(*args, **kwargs)


def their_function(op: Any) -> Callable[..., Any]:
    """PyTorch's function, seeded only from outside."""
    if of_the_database(op.op):
        names = dict(op.op.__globals__)
        names["wrapper_set_seed"] = unseeded
        return types.FunctionType(
            op.op.__code__, names, op.op.__name__, op.op.__defaults__, op.op.__closure__
        )
    return op.op


#: Functions that read one triangle of a matrix. Their derivatives are those of Hermitian or of
#: triangular matrices, and differ between libraries in directions that leave these.
_ONE_TRIANGLE = (
    "cholesky", "cholesky_inverse", "cholesky_solve", "linalg.cholesky", "linalg.cholesky_ex",
    "linalg.eigh", "linalg.eigvalsh", "linalg.pinv:hermitian",
)  # fmt: skip


def in_its_domain(op: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the Hermitian or triangular part, which the database differentiates too."""
    if entry_name(op) not in _ONE_TRIANGLE:
        return function
    wrapper = op.gradcheck_wrapper
    ours = function is not their_function(op)
    return functools.partial(retargeted(wrapper) if ours else wrapper, function)


# --- calls ----------------------------------------------------------------------------------------


def samples(op: Any, dtype: torch.dtype, limit: int) -> list[Any]:
    """Up to `limit` of an entry's samples, as different from each other as possible."""
    torch.manual_seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=True), 300))
    kept, seen = [], set()
    for one in every:
        given = (one.input, one.args, one.kwargs)
        if sum(x.numel() for x in tensors(given)) > 20_000:
            continue
        key = signature(given)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return spread(kept, limit)


def spread(items: list[Any], limit: int) -> list[Any]:
    """Up to `limit` items, evenly from first to last."""
    if len(items) <= limit:
        return items
    return [items[round(i * (len(items) - 1) / (limit - 1))] for i in range(limit)]


def signature(value: Any) -> str:
    """What tells one sample from another: everything but the elements."""
    described = map_tensors(value, lambda x: f"{x.dtype}{tuple(x.shape)}{x.stride()}")
    return re.sub(r"0x[0-9a-f]+", "", repr(described))


def case_of(op: Any, one: Any, seed: int) -> Case:
    """A sample as a call in both libraries."""
    given = (one.input, tuple(one.args), dict(one.kwargs))
    inputs = tensors(given)
    ours, theirs = in_its_domain(op, our_function(op)), in_its_domain(op, their_function(op))
    translated = translate(given, lambda x: x)

    def call(function: Any, arguments: Any) -> Any:
        first, rest, named = arguments
        return function(first, *rest, **named)

    pick = one.output_process_fn_grad
    trivial = pick is None or pick.__code__.co_code == (lambda x: x).__code__.co_code
    return Case(
        ours=lambda *xs: call(ours, substitute(translated, xs)),
        theirs=lambda *xs: call(theirs, substitute(given, xs)),
        inputs=[x.detach() for x in inputs],
        diff=[i for i, x in enumerate(inputs) if x.requires_grad],
        pick_ours=None if trivial else retargeted(pick),
        pick_theirs=None if trivial else pick,
        seed=seed,
        rtol=RTOL.get(op.name),
        their_gradgrad=op.supports_gradgrad,
        their_jvp=op.supports_forward_ad,
    )


# --- checking -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Outcome:
    """What became of an entry: for each aspect how many calls passed, and what failed."""

    name: str
    missing: str = ""
    passed: dict[str, int] = dataclasses.field(default_factory=dict)
    failures: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    mistakes: list[str] = dataclasses.field(default_factory=list)
    """Where PyTorch contradicts its own function and we do not."""

    def ok(self, aspect: str) -> bool:
        """Whether everything in an aspect passed."""
        return not self.missing and not self.failures.get(aspect)

    def complete(self) -> bool:
        """Whether all five aspects passed."""
        return all(self.ok(aspect) for aspect in ASPECTS)

    def failing(self) -> list[str]:
        """The aspects that failed; ['missing'] where there is no function."""
        return ["missing"] if self.missing else [a for a in ASPECTS if not self.ok(a)]


def check_entry(
    name: str, aspects: tuple[str, ...] = ASPECTS, scale: float = 1, verbose: bool = False
) -> Outcome:
    """Run the checks of an entry, all in this process. `scale` multiplies the number of calls."""
    op, outcome = entries()[name], Outcome(name)
    try:
        our_function(op)
    except LookupError as error:
        outcome.missing = str(error)
        return outcome
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own
        for dtype, aspect, case, label, random in planned(op, aspects, scale):
            checks = RANDOM_CHECKS if random else CHECKS
            try:
                checks[aspect](case)
            except TheirMistake as error:
                outcome.mistakes.append(f"{aspect} {label}: {error}")
            except Exception as error:
                if is_missing(error):
                    outcome.missing = str(error)
                    return outcome
                line = f"{str(dtype)[6:]} {label}: {in_short(error)}"
                outcome.failures.setdefault(aspect, []).append(line)
                if verbose:
                    print(f"--- {name} {aspect} {line}", flush=True)
                    if not isinstance(error, Mismatch):
                        traceback.print_exception(error)
            else:
                outcome.passed[aspect] = outcome.passed.get(aspect, 0) + 1
    return outcome


def is_missing(error: Exception) -> bool:
    """Whether an error says that tensorplay has no such function or method."""
    absent = isinstance(error, AttributeError) and "has no attribute" in str(error)
    return absent or isinstance(error, _MissingFunction)


def in_short(error: Exception) -> str:
    """An error in one line."""
    text = str(error) if isinstance(error, Mismatch) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:300]


def planned(op: Any, aspects: Any, scale: float) -> Iterator[tuple[Any, str, Case, str, bool]]:
    """(dtype, aspect, call, description, whether random) of everything to check for an entry."""
    for which, dtype in enumerate(DTYPES):
        if dtype not in op.dtypes or (which and dtype not in op.backward_dtypes):
            continue
        limits = {aspect: max(2, round(LIMITS[aspect][which] * scale)) for aspect in aspects}
        calls = [
            (case_of(op, one, i), describe(one))
            for i, one in enumerate(samples(op, dtype, max(limits.values())))
        ]
        random = any(is_random(case) for case, _ in calls)
        for aspect, limit in limits.items():
            for case, label in spread(calls, limit):
                yield dtype, aspect, case, label, random


def describe(one: Any) -> str:
    """The arguments of a sample in one line."""
    shown = map_tensors(
        (one.input, tuple(one.args), dict(one.kwargs)), lambda x: _Text(str(list(x.shape)))
    )
    first, rest, named = shown
    parts = [repr(a) for a in (first, *rest)] + [f"{k}={v!r}" for k, v in named.items()]
    return f"({', '.join(parts)})"[:160]


class _Text(str):
    def __repr__(self) -> str:
        return str(self)
