"""Learning rates that change with time."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tensorplay.optim.cyclic import CyclicLR as CyclicLR
from tensorplay.optim.cyclic import OneCycleLR as OneCycleLR
from tensorplay.optim.optimizer import Optimizer
from tensorplay.optim.scheduler import LRScheduler as LRScheduler


class _Factor(LRScheduler):
    """Rates that are a factor of the first one; changes made by others are kept (chainable)."""

    def factor(self, epoch: int) -> float:
        """What the first rate is multiplied with at a step."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        now = self.factor(self.last_epoch)
        last = self.factor(self.last_epoch - 1) if self.last_epoch > 0 else 1.0
        return [
            rate if now == last else rate * (now / last) if last else base * now
            for rate, base in zip(self._current(), self.base_lrs, strict=True)
        ]


class LambdaLR(LRScheduler):
    """The first rate times `lr_lambda(epoch)` (or one function per group)."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else (
            [lr_lambda] * count
        )  # fmt: skip
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [
            base * function(self.last_epoch)
            for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(LambdaLR):
    """The last rate times `lr_lambda(epoch)`."""

    def get_lr(self) -> list[float]:
        if self.last_epoch <= 0:
            return self._current()
        return [
            rate * function(self.last_epoch)
            for rate, function in zip(self._current(), self.lr_lambdas, strict=True)
        ]


class StepLR(_Factor):
    """Times `gamma` every `step_size` steps.

    >>> import tensorplay as tp
    >>> optimizer = tp.optim.SGD([tp.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tp.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     optimizer.step()
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Factor):
    """Times `gamma` at each of the milestones."""

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        passed = sorted(self.milestones.elements())
        return self.gamma ** bisect.bisect_right(passed, epoch)


class ConstantLR(_Factor):
    """Times `factor` for the first `total_iters` steps."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.start, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.start if epoch < self.total_iters else 1.0


class LinearLR(_Factor):
    """Times a factor that goes from start_factor to end_factor in `total_iters` steps."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        total_iters: int = 5, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        share = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share


class ExponentialLR(_Factor):
    """Times `gamma` at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.gamma**epoch


class PolynomialLR(_Factor):
    """Times (1 - epoch / total_iters) ** power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate down to `eta_min` in `T_max` steps (arXiv:1608.03983)."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        epoch, least = self.last_epoch, self.eta_min
        if epoch == 0:
            return self._current()
        wave = 1 + math.cos(math.pi * epoch / self.T_max)
        last = 1 + math.cos(math.pi * (epoch - 1) / self.T_max)
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the bottom: rise again
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                rate + (base - least) * rise
                for rate, base in zip(self._current(), self.base_lrs, strict=True)
            ]
        return [(rate - least) * wave / last + least for rate in self._current()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to `eta_min`, again and again, each `T_mult` times as long as the last
    (arXiv:1608.03983)."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if T_0 <= 0 or T_mult < 1:
            raise ValueError(f"Expected positive T_0 and T_mult >= 1, got {T_0} and {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        epoch, length = self.last_epoch, self.T_0
        while epoch >= length:
            epoch -= length
            length *= self.T_mult
        wave = (1 + math.cos(math.pi * epoch / length)) / 2
        return [self.eta_min + (base - self.eta_min) * wave for base in self.base_lrs]


class SequentialLR(LRScheduler):
    """One scheduler after the other, changed at the milestones."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, got {len(schedulers)} and {len(milestones)}"
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.optimizer, self.last_epoch = optimizer, last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0].step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        self.last_epoch += 1
        which = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[which]
        if which and self._milestones[which - 1] == self.last_epoch:
            for group, base in zip(self.optimizer.param_groups, scheduler.base_lrs, strict=True):
                group["lr"] = base
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(LRScheduler):
    """Several schedulers at every step."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or self._schedulers[0].optimizer
        self._last_lr = self._current()

    def step(self, epoch: int | None = None) -> None:
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` once a metric has not improved for `patience` steps.

    mode: 'min' or 'max'. threshold, threshold_mode: what counts as better, relative ('rel') or
    absolute ('abs'). cooldown: steps after a change before counting again. min_lr, eps: the least
    rate and the least change.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        count = len(optimizer.param_groups)
        self.optimizer, self.mode, self.factor = optimizer, mode, factor
        self.patience, self.threshold, self.threshold_mode = patience, threshold, threshold_mode
        self.cooldown, self.cooldown_counter, self.num_bad_epochs = cooldown, 0, 0
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * count
        self.eps, self.last_epoch = eps, 0
        self.best = math.inf if mode == "min" else -math.inf
        self._last_lr = self._current()

    def is_better(self, value: float, best: float) -> bool:
        """Whether a metric has improved."""
        limit = self.threshold
        if self.mode == "min":
            return value < (best - limit if self.threshold_mode == "abs" else best * (1 - limit))
        return value > (best + limit if self.threshold_mode == "abs" else best * (1 + limit))

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Count a metric, and lower the rates where it has not improved for too long."""
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._current()

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            lower = max(group["lr"] * self.factor, least)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower
