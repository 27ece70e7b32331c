"""L-BFGS: Newton's method with curvature learnt from the last steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd.grad_mode import enable_grad, no_grad
from tensorplay.ops.joining import cat
from tensorplay.optim.optimizer import Optimizer


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal & Wright, Numerical Optimization, 2006, section 7.2).

    lr: step size. max_iter: iterations of one step(). max_eval: evaluations of one step(), by
    default 5 / 4 max_iter. tolerance_grad, tolerance_change: stop at a gradient, or a change, whose
    largest element is below. history_size: how many steps are remembered. line_search_fn: None or
    'strong_wolfe'.

    >>> import tensorplay as tp
    >>> x = tp.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = tp.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> x.detach()
    tensor([3.0000, 3.0000])
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(f"only 'strong_wolfe' is supported, got {line_search_fn!r}")
        super().__init__(
            params,
            {
                "lr": lr, "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
                "history_size": history_size, "line_search_fn": line_search_fn,
            },
        )  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # --- all parameters as one vector ---

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        return cat(
            [
                (core.zeros_of(p) if p.grad is None else core.detach(p.grad)).reshape(-1)
                for p in self._params
            ]
        )

    def _move(self, step: float, direction: Tensor) -> None:
        at = 0
        for p in self._params:
            size = p.numel()
            p.add_(direction[at : at + size].reshape(p.shape), alpha=step)
            at += size

    def _set(self, values: list[Tensor]) -> None:
        for p, value in zip(self._params, values, strict=True):
            p.copy_(value)

    # --- one step ---

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to max_iter iterations; `closure` evaluates the model and its gradients."""
        if closure is None:
            raise TypeError("LBFGS.step(): a closure that reevaluates the model is required")
        evaluate: Any = closure
        with no_grad():
            return self._step(evaluate)

    def _step(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state.setdefault("old_dirs", [])
        state.setdefault("old_stps", [])

        def evaluate() -> Any:
            state["func_evals"] += 1
            with enable_grad():
                return closure()

        before = state["func_evals"]
        first_loss = evaluate()
        loss = float(first_loss)
        gradient = self._gradient()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss
        for _ in range(group["max_iter"]):
            state["n_iter"] += 1
            direction = self._direction(gradient, state, group["history_size"])
            slope = float(gradient @ direction)
            if slope > -group["tolerance_change"]:
                break
            if state["n_iter"] == 1:
                step = min(1.0, 1.0 / float(gradient.abs().sum())) * group["lr"]
            else:
                step = group["lr"]
            state["prev_flat_grad"], previous = gradient, loss
            if group["line_search_fn"]:
                step, loss, gradient = self._search(
                    evaluate, direction, step, loss, gradient, slope, group
                )
                self._move(step, direction)
            else:
                self._move(step, direction)
                loss, gradient = float(evaluate()), self._gradient()
            state["d"], state["t"] = direction, step
            if (
                state["func_evals"] - before >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(direction * step) <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, gradient: Tensor, state: dict[str, Any], history: int) -> Tensor:
        """Minus the inverse Hessian, as the last steps know it, times the gradient."""
        if state["n_iter"] == 1:
            state["H_diag"] = 1.0
            return -gradient
        change = gradient - state["prev_flat_grad"]
        moved = state["d"] * state["t"]
        curvature = float(change @ moved)
        if curvature > 1e-10:
            state["old_dirs"].append(change)
            state["old_stps"].append(moved)
            if len(state["old_dirs"]) > history:
                state["old_dirs"].pop(0)
                state["old_stps"].pop(0)
            state["H_diag"] = curvature / float(change @ change)
        pairs = list(zip(state["old_dirs"], state["old_stps"], strict=True))
        inverse = [1 / float(y @ s) for y, s in pairs]
        q, weights = -gradient, []
        for (y, s), r in zip(reversed(pairs), reversed(inverse), strict=True):
            weights.append(float(s @ q) * r)
            q = q - y * weights[-1]
        q = q * state["H_diag"]
        for (y, s), r, weight in zip(pairs, inverse, reversed(weights), strict=True):
            q = q + s * (weight - float(y @ q) * r)
        return q

    def _search(
        self, evaluate: Callable[[], Any], direction: Tensor, step: float, loss: float,
        gradient: Tensor, slope: float, group: dict[str, Any],
    ) -> tuple[float, float, Tensor]:  # fmt: skip
        start = [p.clone() for p in self._params]

        def at(size: float) -> tuple[float, Tensor, float]:
            self._move(size, direction)
            value, g = float(evaluate()), self._gradient()
            self._set(start)
            return value, g, float(g @ direction)

        return strong_wolfe(
            at, step, loss, gradient, slope, _largest(direction), group["tolerance_change"]
        )


def _largest(x: Tensor) -> float:
    return float(x.abs().max())


# --- line search ----------------------------------------------------------------------------------


def cubic_minimum(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float,
    bounds: tuple[float, float] | None = None,
) -> float:  # fmt: skip
    """Where the cubic through two values and slopes is least, within bounds."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if x1 <= x2:
        best = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        best = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(best, low), high)


def strong_wolfe(
    at: Callable[[float], tuple[float, Tensor, float]], step: float, loss: float,
    gradient: Tensor, slope: float, size: float, tolerance: float, sufficient: float = 1e-4,
    curvature: float = 0.9, limit: int = 25,
) -> tuple[float, float, Tensor]:  # fmt: skip
    """A step with the strong Wolfe conditions (Nocedal & Wright, 2006, algorithms 3.5 and 3.6).

    at: step -> (loss, gradient, slope along the direction). Gives (step, loss, gradient).
    """
    before = (0.0, loss, gradient, slope)
    bracket: list[tuple[float, float, Tensor, float]] = []
    tried = 0
    while True:
        value, g, along = at(step)
        now = (step, value, g, along)
        tried += 1
        too_high = value > loss + sufficient * step * slope
        if too_high or (tried > 1 and value >= before[1]):
            bracket = [before, now]
            break
        if abs(along) <= -curvature * slope:
            return now[:3]
        if along >= 0:
            bracket = [before, now]
            break
        if tried >= limit:
            bracket = [(0.0, loss, gradient, slope), now]
            break
        bounds = (step + 0.01 * (step - before[0]), step * 10)
        following = cubic_minimum(before[0], before[1], before[3], step, value, along, bounds)
        before, step = now, following
    return _zoom(at, bracket, loss, slope, size, tolerance, sufficient, curvature, limit - tried)


def _zoom(
    at: Any, bracket: Any, loss: float, slope: float, size: float, tolerance: float,
    sufficient: float, curvature: float, limit: int,
) -> tuple[float, float, Tensor]:  # fmt: skip
    """Shrink a bracket until a point in it will do."""
    low, high = sorted(bracket, key=lambda point: point[1])
    stuck = False
    for _ in range(limit):
        if abs(high[0] - low[0]) * size < tolerance:
            break
        step = cubic_minimum(low[0], low[1], low[3], high[0], high[1], high[3])
        ends = sorted((low[0], high[0]))
        margin = 0.1 * (ends[1] - ends[0])
        if min(ends[1] - step, step - ends[0]) < margin:
            # Too close to an end: allowed once, then moved inside.
            if stuck or step >= ends[1] or step <= ends[0]:
                near_end = abs(step - ends[1]) < abs(step - ends[0])
                step = ends[1] - margin if near_end else ends[0] + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        value, g, along = at(step)
        now = (step, value, g, along)
        if value > loss + sufficient * step * slope or value >= low[1]:
            high = now
        else:
            if abs(along) <= -curvature * slope:
                return now[:3]
            if along * (high[0] - low[0]) >= 0:
                high = low
            low = now
        if high[1] < low[1]:
            low, high = high, low
    return low[:3]
