"""Swing a pendulum up with a motor too weak to lift it: trajectory optimisation by shooting.

    python examples/pendulum_control.py --output pendulum.png

The equation of motion is integrated by Runge-Kutta's method, step by step, in ordinary code;
`tensorplay` differentiates through the whole simulation. SciPy's SLSQP chooses the torques: the
least effort that ends upright and at rest, within the motor's limit.
"""

import argparse
import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import tensorplay as tp
from tensorplay.func import jacfwd, jacrev

GRAVITY, LENGTH, MASS, FRICTION = 9.81, 1.0, 1.0, 0.1  # SI units; a point mass on a rod
LIMIT = 3.0  # the motor's torque in N m; holding the rod level would take 9.81
SECONDS, STEPS = 5.0, 50
HANGING = tp.zeros(2, dtype=tp.float64)
UPRIGHT = tp.tensor([math.pi, 0.0], dtype=tp.float64)


def motion(state, torque):
    """Time derivative of (angle, speed); angle 0 hangs down, pi stands upright."""
    angle, speed = state[0], state[1]
    turning = torque - FRICTION * speed - MASS * GRAVITY * LENGTH * tp.sin(angle)
    return tp.stack([speed, turning / (MASS * LENGTH**2)])


def simulate(state, torques):
    """The states (STEPS + 1, 2) from `state` (2,) on; each of `torques` (STEPS,) acts one step."""
    h = SECONDS / STEPS
    states = [state]
    for torque in torques:
        k1 = motion(state, torque)
        k2 = motion(state + h / 2 * k1, torque)
        k3 = motion(state + h / 2 * k2, torque)
        k4 = motion(state + h * k3, torque)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
    return tp.stack(states)


def miss(torques):
    """Angle and speed (2,) by which the end of the swing misses the upright rest."""
    return simulate(HANGING, torques)[-1] - UPRIGHT


def optimise(start):
    """Least mean squared torque with no miss; `start` and the result's `x` are NumPy (STEPS,)."""
    arrive = {
        "type": "eq",
        "fun": lambda u: miss(tp.from_numpy(u)).numpy(),
        # Two outputs, many inputs: reverse mode gets both rows from two passes in one vmap.
        "jac": lambda u: jacrev(miss)(tp.from_numpy(u)).numpy(),
    }
    return minimize(
        lambda u: u @ u / STEPS, start, jac=lambda u: 2 * u / STEPS, method="SLSQP",
        bounds=[(-LIMIT, LIMIT)] * STEPS, constraints=arrive,
        options={"maxiter": 300, "ftol": 1e-4},
    )  # fmt: skip


def draw(states, torques, output):
    matplotlib.rcParams.update(
        {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
         "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.titlesize": 10}
    )  # fmt: skip
    times = np.linspace(0, SECONDS, STEPS + 1)
    x, y = LENGTH * np.sin(states[:, 0]), -LENGTH * np.cos(states[:, 0])
    figure = Figure(figsize=(9.5, 4.2), dpi=130, layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 1.3])
    path = figure.add_subplot(grid[:, 0], title="The swing, from light to dark", aspect="equal")
    shades = matplotlib.colormaps["Blues"](np.linspace(0.2, 1, len(x)))
    for k in range(len(x)):
        path.plot([0, x[k]], [0, y[k]], color=shades[k], lw=1, alpha=0.7)
    path.scatter(x, y, c=shades, s=22, zorder=3)
    path.axis("off")
    angle = figure.add_subplot(grid[0, 1], title="Angle, degrees (180 is upright)")
    angle.set_yticks([-90, 0, 90, 180])
    angle.axhline(180, color="#c8443c", lw=1, ls="--")
    angle.plot(times, np.degrees(states[:, 0]), color="#2f6db0", lw=2)
    motor = figure.add_subplot(grid[1, 1], title="Torque, N m", xlabel="seconds", sharex=angle)
    motor.stairs(torques, times, color="#2f6db0", lw=1.5, baseline=None)
    motor.set_ylim(-1.1 * LIMIT, 1.1 * LIMIT)
    figure.savefig(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("pendulum.png"))
    options = parser.parse_args()

    found = optimise(0.3 * np.random.default_rng(0).standard_normal(STEPS))
    torques = tp.from_numpy(found.x)
    states = simulate(HANGING, torques).numpy()
    off, speed = miss(torques).tolist()
    turns = int((np.diff(np.sign(states[1:, 1])) != 0).sum())
    print(f"Optimiser     {found.message}: {found.nit} steps, {found.nfev} swings")
    print(f"Torque        root mean square {found.fun**0.5:.2f} N m, limit {LIMIT} N m")
    print(f"At the end    {math.degrees(off):+.4f} degrees off upright, {speed:+.5f} rad/s")
    print(f"On the way    the pendulum turned back {turns} times to gather energy")
    # How far does the end move when the start does? Two inputs: forward mode.
    sensitivity = jacfwd(lambda state: simulate(state, torques)[-1])(HANGING)
    stretch = np.linalg.norm(sensitivity.numpy(), 2)
    print(
        f"Sensitivity   an error at the start is {stretch:.1f} times as large at the end, at worst"
    )
    draw(states, found.x, options.output)
    print(f"Picture       {options.output}")


if __name__ == "__main__":
    main()
