"""Give SciPy's optimisers exact derivatives: gradient, Hessian, Hessian-vector product.

    python examples/rosenbrock_scipy.py --size 20

SciPy's `minimize` works on NumPy arrays and takes derivatives as functions. Without them it
estimates gradients by differences: one call of the function per dimension, and few digits.
The curved valley of Rosenbrock's function (1960) shows what exact ones are worth.
"""

import argparse
import time

import numpy as np
from scipy.optimize import minimize

import tensorplay as tp
from tensorplay.autograd import functional
from tensorplay.func import grad_and_value


def rosenbrock(x):
    """A long curved valley; the minimum is 0, at (1, ..., 1). `x` is (n,), the result a scalar."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


class ForScipy:
    """What `minimize` asks for, from NumPy to NumPy: a function of tensors and its derivatives."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def value(self, x):
        self.calls += 1
        return self.function(tp.from_numpy(x)).item()

    def value_and_gradient(self, x):
        self.calls += 1
        gradient, value = grad_and_value(self.function)(tp.from_numpy(x))
        return value.item(), gradient.numpy()

    def hessian(self, x):
        return functional.hessian(self.function, tp.from_numpy(x), vectorize=True).numpy()

    def hessian_product(self, x, v):
        """H(x) v without forming H: about the cost of two gradients, whatever the dimension."""
        return functional.hvp(self.function, tp.from_numpy(x), tp.from_numpy(v))[1].numpy()


def report(name, method, start, **derivatives):
    """Minimise from `start` with the named members of `ForScipy` and print one line."""
    problem = ForScipy(rosenbrock)
    chosen = {key: getattr(problem, member) for key, member in derivatives.items()}
    function = chosen.pop("fun", problem.value)
    exact = "fun" in derivatives  # the function returns its gradient too
    started = time.perf_counter()
    found = minimize(function, start, method=method, jac=exact or None, tol=1e-10, **chosen)
    elapsed = 1e3 * (time.perf_counter() - started)
    error = np.abs(found.x - 1).max()
    print(
        f"{method:13}{name:22}{found.nit:6}{problem.calls:7}{found.fun:10.0e}{error:10.0e}"
        f"{elapsed:9.0f} ms"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=20, help="number of variables, at least 2")
    options = parser.parse_args()
    if options.size < 2:
        parser.error("--size must be at least 2")
    start = np.zeros(options.size)

    print(f"Rosenbrock's function in {options.size} dimensions, from the origin\n")
    print(f"{'method':13}{'derivatives':22} steps  calls     value     error        time")
    report("differences by SciPy", "BFGS", start)
    exact = "value_and_gradient"
    report("gradient", "BFGS", start, fun=exact)
    report("gradient", "L-BFGS-B", start, fun=exact)
    report("gradient and H v", "Newton-CG", start, fun=exact, hessp="hessian_product")
    report("gradient and H v", "trust-krylov", start, fun=exact, hessp="hessian_product")
    report("gradient and Hessian", "trust-exact", start, fun=exact, hess="hessian")


if __name__ == "__main__":
    main()
