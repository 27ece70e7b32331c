"""Learning rates, and momenta, that go up and down."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorplay.optim.optimizer import Optimizer
from tensorplay.optim.scheduler import LRScheduler


def _each(optimizer: Optimizer, value: Any, name: str) -> list[float]:
    """One number for each group of parameters."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups: {count}")
    return list(value)


def _with_momentum(optimizer: Optimizer) -> str:
    """The option of an optimiser that is its momentum: 'momentum' or 'betas'.

    Raises:
        ValueError: if it has none.
    """
    for name in ("momentum", "betas"):
        if name in optimizer.defaults:
            return name
    raise ValueError(
        "optimizer must support momentum or beta1 with cycle_momentum option enabled, but "
        f"{type(optimizer).__name__} has neither; give cycle_momentum=False"
    )


def _set_momentum(group: dict[str, Any], name: str, value: float) -> None:
    group[name] = (value, *group["betas"][1:]) if name == "betas" else value


class CyclicLR(LRScheduler):
    """Between base_lr and max_lr, up and down again and again (arXiv:1506.01186); step per batch.

    step_size_up, step_size_down: steps of each half (the second by default as the first). mode:
    'triangular', 'triangular2' (half the height in each cycle) or 'exp_range' (height times
    gamma^step); or scale_fn, a function of the number of the cycle or, as scale_mode says, of the
    step ('iterations'). cycle_momentum: momentum goes from max_momentum to base_momentum meanwhile.

    Raises:
        ValueError: for another mode, or an optimiser without momentum.

    >>> import tensorplay as tp
    >>> optimizer = tp.optim.SGD([tp.zeros(1)], lr=0.1, momentum=0.9)
    >>> schedule = tp.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.3, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(round(schedule.get_last_lr()[0], 4))
    ...     schedule.step()
    >>> rates
    [0.1, 0.2, 0.3, 0.2, 0.1]
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode!r}")
        self.max_lrs = _each(optimizer, max_lr, "max_lr")
        bases = _each(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, bases, strict=True):
                group["lr"] = rate
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._momentum = _with_momentum(optimizer)
            self.base_momentums = _each(optimizer, base_momentum, "base_momentum")
            self.max_momentums = _each(optimizer, max_momentum, "max_momentum")
            for group, value in zip(optimizer.param_groups, self.max_momentums, strict=True):
                _set_momentum(group, self._momentum, value)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def scale_fn(self, x: float) -> float:
        """How high the cycle number x (or, by scale_mode, the one at step x) goes."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self.gamma**x
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                _set_momentum(group, self._momentum, high - (high - low) * height)
        return [
            base + (top - base) * height
            for base, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again, once (arXiv:1708.07120); step per batch.

    total_steps: of the cycle; or epochs and steps_per_epoch. pct_start: the share of the steps that
    go up. anneal_strategy: 'cos' or 'linear'. cycle_momentum: momentum goes from max_momentum to
    base_momentum and back. div_factor, final_div_factor: how much lower than max_lr the first rate
    is, and the last one than the first. three_phase: down to the first rate as fast as up, then to
    the last.

    Raises:
        ValueError: for options that are out of range or contradict each other.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85,
        max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        self._ends = _phase_ends(self.total_steps, pct_start, three_phase)
        self._lr_values = ["initial_lr", "max_lr", "min_lr"]
        self._momentum_values = ["max_momentum", "base_momentum", "max_momentum"]
        if three_phase:
            self._lr_values.insert(2, "initial_lr")
            self._momentum_values.append("max_momentum")
        groups = optimizer.param_groups
        self.cycle_momentum = cycle_momentum
        if last_epoch == -1:
            for group, top in zip(groups, _each(optimizer, max_lr, "max_lr"), strict=True):
                first = top / div_factor
                group.update(initial_lr=first, max_lr=top, min_lr=first / final_div_factor)
        if cycle_momentum:
            self._momentum = _with_momentum(optimizer)
            lows = _each(optimizer, base_momentum, "base_momentum")
            highs = _each(optimizer, max_momentum, "max_momentum")
            for group, low, high in zip(groups, lows, highs, strict=True):
                if last_epoch == -1:
                    _set_momentum(group, self._momentum, high)
                    group.update(max_momentum=high, base_momentum=low)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return start + (end - start) * share
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        phase = next((i for i, end in enumerate(self._ends) if step <= end), len(self._ends) - 1)
        start = 0.0 if phase == 0 else self._ends[phase - 1]
        share = (step - start) / (self._ends[phase] - start)
        rates = []
        for group in self.optimizer.param_groups:
            first, last = (group[self._lr_values[phase + i]] for i in (0, 1))
            rates.append(self._between(first, last, share))
            if self.cycle_momentum:
                first, last = (group[self._momentum_values[phase + i]] for i in (0, 1))
                _set_momentum(group, self._momentum, self._between(first, last, share))
        return rates


def _total_steps(total: Any, epochs: Any, per_epoch: Any) -> int:
    if total is None and epochs is None and per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = (("total_steps", total),) if total is not None else (
        ("epochs", epochs), ("steps_per_epoch", per_epoch),
    )  # fmt: skip
    for name, value in given:
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return total if total is not None else epochs * per_epoch


def _phase_ends(total: int, share: float, three: bool) -> list[float]:
    """The last step of each phase."""
    if three:
        return [share * total - 1, 2 * share * total - 2, total - 1]
    return [share * total - 1, total - 1]
