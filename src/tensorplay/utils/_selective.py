"""Selective checkpointing: results of some operators are kept, so that they need not be recomputed.

It works at the kernels: where a result is kept, the recomputation takes it in place of running the
kernel. Recording, transforms and everything else above go on as always.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Primitive, Tensor
from tensorplay.base import random

_SELECTED_BIT = 64


class CheckpointPolicy(enum.Enum):
    """What is to be done with the result of an operator.

    `MUST_SAVE` and `PREFER_SAVE` keep it, `MUST_RECOMPUTE` and `PREFER_RECOMPUTE` compute it again.
    (The two that move it to the CPU keep it: it is there.)
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTED = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """What a policy learns about a call, besides the operator and its arguments."""

    def __init__(self, *, is_recompute: bool = False, op_output: Any = None) -> None:
        #: Always False: a policy is asked in the first run only.
        self.is_recompute = is_recompute
        #: The result.
        self.op_output = op_output


Policy = Callable[..., Any]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:
    """The two contexts that a `context_fn` of `checkpoint` returns, for a policy.

    Args:
        policy_fn_or_list: a function of a `SelectiveCheckpointContext`, an operator (a primitive of
            this library, or its name) and its arguments, that returns a `CheckpointPolicy`; or the
            list of operators whose results are kept. It is asked for every primitive that makes new
            memory (views are cheap). `tensorplay.autograd.profiler` lists those that a function
            runs.
        allow_cache_entry_mutation: results that were kept may be changed in place by the function.

    Raises:
        TypeError: if an operator of the list is not a primitive, nor the name of one.

    >>> import functools
    >>> import tensorplay as tp
    >>> from tensorplay.utils.checkpoint import checkpoint
    >>> keep = functools.partial(create_selective_checkpoint_contexts, ["matmul"])
    >>> x = tp.ones(3, 3, requires_grad=True)
    >>> y = checkpoint(lambda x: (x @ x).sin().exp(), x, use_reentrant=False, context_fn=keep)
    >>> y.sum().backward()
    """
    if callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        policy = _policy_of_list([_operator(item) for item in policy_fn_or_list])
    kept = _Kept(policy, bool(allow_cache_entry_mutation))
    return _FirstRun(kept), _Recomputation(kept)


def _operator(item: Any) -> Primitive:
    found = core.registry.get(item) if isinstance(item, str) else item
    if not isinstance(found, Primitive):
        raise TypeError(
            "create_selective_checkpoint_contexts(): the list must hold primitive operators or "
            f"their names, got {item!r}"
        )
    return found


def _policy_of_list(operators: list[Primitive]) -> Policy:
    def policy(ctx: Any, op: Any, *args: Any) -> CheckpointPolicy:
        if any(op is each for each in operators):
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE

    return policy


class _Kept:
    """The results that are kept, by operator and by how often it had run before."""

    def __init__(self, policy: Policy, may_change: bool) -> None:
        self.policy = policy
        self.may_change = may_change
        self.results: dict[tuple[str, int], Any] = {}


class _Selecting:
    """Context manager: kernels run through `self.select`."""

    def __init__(self, kept: _Kept) -> None:
        self.kept = kept
        self.runs: Counter[str] = Counter()

    def __enter__(self) -> None:
        self.runs.clear()
        core.mode_data.selecting.append(self._call)
        core.set_mode(_SELECTED_BIT, True)

    def __exit__(self, *_: Any) -> None:
        core.mode_data.selecting.pop()
        core.set_mode(_SELECTED_BIT, bool(core.mode_data.selecting))

    def _call(self, p: Any, inputs: Any, params: Any, compute: Callable[[], Any]) -> Any:
        key = p.name, self.runs[p.name]
        self.runs[p.name] += 1
        core.set_mode(_SELECTED_BIT, False)
        try:
            return self.select(key, p, (*inputs, *params), compute)
        finally:
            core.set_mode(_SELECTED_BIT, True)

    def select(self, key: Any, p: Any, arguments: Any, compute: Callable[[], Any]) -> Any:
        """The result of a call."""
        raise NotImplementedError


class _FirstRun(_Selecting):
    def select(self, key: Any, p: Any, arguments: Any, compute: Callable[[], Any]) -> Any:
        before = random.get_rng_state()
        result = compute()
        shown = _mapped(core.without_history, result)
        answer = self.kept.policy(SelectiveCheckpointContext(op_output=shown), p, *arguments)
        if isinstance(answer, bool):
            answer = CheckpointPolicy.MUST_SAVE if answer else CheckpointPolicy.PREFER_RECOMPUTE
        if not isinstance(answer, CheckpointPolicy):
            raise TypeError(
                "create_selective_checkpoint_contexts(): the policy must return a "
                f"CheckpointPolicy, got {type(answer).__name__}"
            )
        if answer not in _RECOMPUTED:
            after = random.get_rng_state()
            drawn = None if (before == after).all() else after
            self.kept.results[key] = shown, drawn
        return result


class _Recomputation(_Selecting):
    def select(self, key: Any, p: Any, arguments: Any, compute: Callable[[], Any]) -> Any:
        if key not in self.kept.results:
            return compute()
        result, drawn = self.kept.results[key]
        if drawn is not None:  # what is random later gets the numbers that it had
            random.set_rng_state(drawn)
        return _mapped(lambda x: self._fresh(x, p.name), result)

    def _fresh(self, x: Tensor, name: str) -> Tensor:
        if x._version and not self.kept.may_change:
            raise RuntimeError(
                f"create_selective_checkpoint_contexts(): the result of {name} that was kept has "
                f"been changed by an in-place operation ({x.dtype} of shape {list(x.shape)}); let "
                "it be recomputed, or give allow_cache_entry_mutation=True"
            )
        return core.without_history(x)


def _mapped(function: Callable[[Tensor], Any], result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(function(x) for x in result)
    return function(result)
