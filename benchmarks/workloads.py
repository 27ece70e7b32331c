"""What is timed: one record per workload, the same code for both libraries.

A record's `setup(m)` receives the library as a module (`torch` or `tensorplay`) and returns the
names that its `statement` uses. The statement is compiled into the timing loop, as `timeit` does,
so that an operator of 150 ns is not hidden behind the call of a wrapper. Inputs come from NumPy
with a fixed seed: both libraries compute the same numbers, and `run.py` compares them first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Setup = Callable[[Any], Any]


@dataclass(frozen=True)
class Workload:
    """One row of the table: how to prepare, what to run, how often, and what to reach."""

    name: str
    group: str
    setup: Setup  # library module -> dict of names, or one callable, timed as `run()`
    statement: str = "run()"
    loops: int = 1  # executions per repeat; a round keeps the fastest of its repeats
    repeats: int = 5
    most_rounds: int = 100  # for the rows that take many seconds a round
    threads: int = 1
    target: float | None = None  # PyTorch's time / tensorplay's time, at least
    # With a baseline the row is a cost *within* each library: statement / (scale * baseline).
    baseline: str | None = None
    scale: float = 1.0
    at_most: float | None = None


WORKLOADS: list[Workload] = []


def add(name: str, group: str, setup: Setup, statement: str = "run()", **options: Any) -> None:
    WORKLOADS.append(Workload(name, group, setup, statement, **options))


def workload(name: str, group: str, **options: Any) -> Callable[[Setup], Setup]:
    """Register the decorated setup function under `name`."""

    def register(setup: Setup) -> Setup:
        add(name, group, setup, **options)
        return setup

    return register


def tensors(
    m: Any, *shapes: tuple[int, ...], seed: int = 0, scale: float = 1.0, grad: bool = False
) -> list[Any]:
    """Normal float32 tensors; with `grad` they are leaves that require it."""
    generator = np.random.default_rng(seed)
    made = [m.tensor((scale * generator.standard_normal(s)).astype(np.float32)) for s in shapes]
    return [t.requires_grad_() for t in made] if grad else made


# ---------------------------------------------------------------- small operations

SMALL = "4x4 float32, not recorded"
RECORDED = "4x4 float32, recorded"


def small(m: Any, grad: bool = False) -> dict[str, Any]:
    a, b = tensors(m, (4, 4), (4, 4), grad=grad)
    positive = m.tensor(np.linspace(0.5, 2, 16, dtype=np.float32).reshape(4, 4))
    mask = m.tensor(np.eye(4, dtype=bool))
    index = m.tensor(np.array([2, 0]))
    return {"a": a, "b": b, "p": positive, "mask": mask, "index": index, "m": m}


def small_recorded(m: Any) -> dict[str, Any]:
    return small(m, grad=True)


for _statement in ("a + b", "m.add(a, b)", "a.add(b)"):
    add(_statement, SMALL, small, _statement, loops=10_000, target=6)
    add(_statement, RECORDED, small_recorded, _statement, loops=10_000, target=7)
for _statement in ("a * b", "a * 2", "m.exp(a)", "m.tanh(a)", "a @ b", "a.sum()"):
    add(_statement, SMALL, small, _statement, loops=10_000)
    add(_statement, RECORDED, small_recorded, _statement, loops=10_000)
for _statement in (
    "a - b",
    "a / p",
    "-a",
    "a ** 2",
    "a.mean(1)",
    "a.amax(1)",
    "m.softmax(a, 1)",
    "m.where(mask, a, b)",
    "m.cat((a, b))",
    "a > b",
):
    add(_statement, SMALL, small, _statement, loops=5_000)
for _statement in ("a[1]", "a[1:3, 0]", "a[mask]", "a[index]", "a.t()", "a.reshape(2, 8)"):
    add(_statement, SMALL, small, _statement, loops=5_000)

# One statement of each family whose arguments take some checking.
CHECKED = "small tensors, families of operators"


def families(m: Any, grad: bool = False) -> dict[str, Any]:
    image, kernel, vector = tensors(m, (1, 3, 8, 8), (4, 3, 3, 3), (4,))
    target = m.tensor(np.arange(4))
    symmetric = m.tensor((np.eye(4) * 3 + 1).astype(np.float32))
    functional = m.nn.functional
    return small(m, grad) | {
        "F": functional, "x": image, "k": kernel, "v": vector, "target": target, "s": symmetric
    }  # fmt: skip


for _statement in (
    "a.max(1)",
    "a.argmax(1)",
    "a.var(0)",
    "a.norm()",
    "a.cumsum(0)",
    "a.topk(2, 1)",
    "mask.all()",
    "F.cross_entropy(a, target)",
    "F.layer_norm(a, (4,))",
    "F.elu(a)",
    "F.dropout(a, 0.5) * 0",  # what is drawn differs
    "F.conv2d(x, k)",
    "F.max_pool2d(x, 2)",
    "F.embedding(index, a)",
    "F.one_hot(target, 4)",
    "F.pad(a, (1, 1))",
    "a.clamp(0, 1)",
    "a.masked_fill(mask, 0.0)",
    "a.permute(1, 0)",
    "a.flatten()",
    "a.split(2)",
    "a.diagonal()",
    "a.tril()",
    "a.roll(1, 0)",
    "m.zeros(4, 4)",
    "m.arange(5)",
    "m.full((2, 2), 3.0)",
    "m.randn(4, 4) * 0",
    "m.tensor([1.0, 2.0])",
    "a.double()",
    "m.dot(v, v)",
    "a @ v",
    "m.outer(v, v)",
    "m.fft.fft(v)",
    "m.linalg.eigvalsh(s)",
    "m.linalg.inv(s)",
):
    add(_statement, CHECKED, families, _statement, loops=5_000)

# ---------------------------------------------------------------- small programs

PROGRAMS = "small programs"


def affine_chain(m: Any, every: bool) -> Callable[[], Any]:
    x, b, a = tensors(m, (4, 4), (4, 4), (4, 4), scale=0.5, grad=every)
    x.requires_grad_()
    leaves = (x, b, a) if every else (x,)

    def run() -> Any:
        y = x
        for _ in range(50):
            y = y * b + a
        for leaf in leaves:
            leaf.grad = None
        y.sum().backward()
        return [leaf.grad for leaf in leaves]

    return run


@workload("50x x*b+a, forward + backward to x", PROGRAMS, loops=20, target=8)
def _(m: Any) -> Any:
    return affine_chain(m, every=False)


@workload("50x x*b+a, forward + backward to x, a and b", PROGRAMS, loops=20, target=8)
def _(m: Any) -> Any:
    return affine_chain(m, every=True)


def small_network(m: Any, grad: bool = True) -> tuple[list[Any], Any, Any]:
    shapes = (16, 32), (32,), (32, 1), (1,)
    params = tensors(m, *shapes, seed=1, scale=0.2, grad=grad)
    x, y = tensors(m, (8, 16), (8, 1), seed=2)
    return params, x, y


@workload("16-32-1 tanh network, batch 8: loss and gradients", PROGRAMS, loops=100, target=6)
def _(m: Any) -> Any:
    params, x, y = small_network(m)
    w1, b1, w2, b2 = params

    def run() -> Any:
        error = m.tanh(x @ w1 + b1) @ w2 + b2 - y
        return m.autograd.grad((error * error).mean(), params)

    return run


@workload("16-32-1 nn.Module, batch 8: mse_loss, backward()", PROGRAMS, loops=100, target=6)
def _(m: Any) -> Any:
    class Network(m.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = m.nn.Linear(16, 32)
            self.out = m.nn.Linear(32, 1)

        def forward(self, x: Any) -> Any:
            return self.out(m.tanh(self.hidden(x)))

    params, x, y = small_network(m)
    model = Network()
    own = list(model.parameters())
    with m.no_grad():
        for mine, given in zip(own, params, strict=True):
            mine.copy_(given.t() if given.dim() == 2 else given)

    def run() -> Any:
        for p in own:
            p.grad = None
        loss = m.nn.functional.mse_loss(model(x), y)
        loss.backward()
        return [p.grad for p in own]

    return run


@workload("16-32-1 network, batch 8: a step of SGD with momentum", PROGRAMS, loops=100)
def _(m: Any) -> Any:
    params, x, y = small_network(m)
    w1, b1, w2, b2 = params
    velocity = [m.zeros_like(p) for p in params]

    def run() -> Any:
        error = m.tanh(x @ w1 + b1) @ w2 + b2 - y
        loss = (error * error).mean()
        loss.backward()
        with m.no_grad():
            for p, v in zip(params, velocity, strict=True):
                v.mul_(0.9).add_(p.grad)
                p.sub_(v, alpha=1e-3)
                p.grad = None
        return loss

    return run


def in_place(m: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    p, g, v = tensors(m, shape, shape, shape)
    return {"p": p, "g": g, "v": v}


add("p.sub_(g, alpha=1e-9), 4x4", PROGRAMS, lambda m: in_place(m, (4, 4)),
    "p.sub_(g, alpha=1e-9)", loops=10_000)  # fmt: skip
add("v.mul_(0.9).add_(g), 4x4", PROGRAMS, lambda m: in_place(m, (4, 4)),
    "v.mul_(0.9).add_(g)", loops=5_000)  # fmt: skip


# ---------------------------------------------------------------- long graphs

GRAPHS = "long graphs"
COSTS = "costs within each library"
LARGE = "large operations"


def chains(m: Any) -> dict[str, Any]:
    c = m.tensor([1.0000001])
    x = m.tensor([1.0]).requires_grad_()

    def chain(length: int) -> Any:
        y = x
        for _ in range(length):
            y = y * c
        (gradient,) = m.autograd.grad(y, x)
        return gradient  # leaving the function frees the graph: that is timed too

    return {"chain": chain}


add("chain of 1,000,000 operations: build, backward, free", GRAPHS, chains,
    "chain(1_000_000)", repeats=1, most_rounds=3)  # fmt: skip


@workload("one tensor used 10,000 times: sum and backward", GRAPHS, repeats=3)
def _(m: Any) -> Any:
    (x,) = tensors(m, (16,), grad=True)

    def run() -> Any:
        total = x * 0.5
        for _ in range(10_000):
            total = total + x
        return m.autograd.grad(total.sum(), x)

    return run


# ---------------------------------------------------------------- transforms

TRANSFORMS = "functional transforms"


def five_operations(m: Any) -> dict[str, Any]:
    x, v = tensors(m, (16,), (16,))

    def f(x: Any) -> Any:
        return (m.sin(x) * m.exp(x) + x).sum()

    return {"f": f, "x": x, "v": v, "m": m}


add("functional.jvp of a five-operation function", TRANSFORMS, five_operations,
    "m.autograd.functional.jvp(f, x, v)", loops=200, target=5)  # fmt: skip
add("func.jvp of a five-operation function", TRANSFORMS, five_operations,
    "m.func.jvp(f, (x,), (v,))", loops=200)  # fmt: skip
add("functional.hvp of a five-operation function", TRANSFORMS, five_operations,
    "m.autograd.functional.hvp(f, x, v)", loops=100)  # fmt: skip
add("func.grad of a five-operation function", TRANSFORMS, five_operations,
    "m.func.grad(f)(x)", loops=200)  # fmt: skip


def rosenbrock(m: Any) -> dict[str, Any]:
    (x,) = tensors(m, (10,))

    def f(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    return {"f": f, "x": x, "m": m}


add("functional.hessian, 10-dim Rosenbrock", TRANSFORMS, rosenbrock,
    "m.autograd.functional.hessian(f, x)", loops=10, target=8)  # fmt: skip
add("functional.hessian(vectorize=True), 10-dim Rosenbrock", TRANSFORMS, rosenbrock,
    "m.autograd.functional.hessian(f, x, vectorize=True)", loops=20)  # fmt: skip
add("func.hessian, 10-dim Rosenbrock", TRANSFORMS, rosenbrock,
    "m.func.hessian(f)(x)", loops=20)  # fmt: skip


def per_sample(m: Any) -> dict[str, Any]:
    params, _, _ = small_network(m, grad=False)
    x, y = tensors(m, (64, 16), (64, 1), seed=2)

    def loss(params: Any, x: Any, y: Any) -> Any:
        w1, b1, w2, b2 = params
        return ((m.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()

    gradients = m.func.vmap(m.func.grad(loss), in_dims=(None, 0, 0))
    return {"gradients": gradients, "params": tuple(params), "x": x, "y": y}


add("vmap(grad), 16-32-1 network: 64 per-sample gradients", TRANSFORMS, per_sample,
    "gradients(params, x, y)", loops=50, target=3)  # fmt: skip


def tanh_layer(m: Any) -> dict[str, Any]:
    w, x = tensors(m, (512, 512), (512,), scale=0.2)
    return {"f": lambda x: m.tanh(w @ x), "x": x, "m": m}


add("functional.jacobian(vectorize=True), tanh(W x), 512", TRANSFORMS, tanh_layer,
    "m.autograd.functional.jacobian(f, x, vectorize=True)", loops=5, target=1)  # fmt: skip
add("func.jacfwd, tanh(W x), 512", TRANSFORMS, tanh_layer, "m.func.jacfwd(f)(x)", loops=5)


# ---------------------------------------------------------------- the cheap-gradient bound


def mlp(m: Any) -> dict[str, Any]:
    shapes = (784, 128), (128,), (128, 10), (10,)
    (x,) = tensors(m, (256, 784))
    labels = m.tensor(np.random.default_rng(3).integers(0, 10, 256))
    params = tensors(m, *shapes, seed=4, scale=0.05)
    leaves = tensors(m, *shapes, seed=4, scale=0.05, grad=True)
    tangents = tensors(m, *shapes, seed=5)

    def loss(*params: Any) -> Any:
        w1, b1, w2, b2 = params
        return m.nn.functional.cross_entropy(m.tanh(x @ w1 + b1) @ w2 + b2, labels)

    def gradient() -> Any:
        return m.autograd.grad(loss(*leaves), leaves)

    def jvp() -> Any:
        return m.func.jvp(loss, tuple(params), tuple(tangents))

    return {"loss": loss, "params": params, "gradient": gradient, "jvp": jvp}


add("jvp of the loss of MLP 784-128-10, batch 256", COSTS, mlp, "jvp()", loops=5,
    baseline="loss(*params)", at_most=3)  # fmt: skip
add("gradient and loss of MLP 784-128-10, batch 256", COSTS, mlp, "gradient()", loops=5,
    baseline="loss(*params)", at_most=4)  # fmt: skip
add("time of 1,000,000 operations / 10 x that of 100,000", COSTS, chains,
    "chain(1_000_000)", repeats=1, most_rounds=3,
    baseline="chain(100_000)", scale=10, at_most=1.5)  # fmt: skip
add("MLP 784-128-10, batch 256: loss", LARGE, mlp, "loss(*params)", loops=5)
add("MLP 784-128-10, batch 256: loss and gradient", LARGE, mlp,
    "gradient()", loops=5)  # fmt: skip


# ---------------------------------------------------------------- large operations


def square(m: Any, size: int = 1000) -> dict[str, Any]:
    a, b = tensors(m, (size, size), (size, size))
    return {"a": a, "b": b, "m": m}


add("m.exp(a), 1000 x 1000", LARGE, square, "m.exp(a)", loops=5, repeats=20, threads=2, target=2)
add("m.tanh(a), 1000 x 1000", LARGE, square, "m.tanh(a)", loops=5, repeats=20, threads=2, target=2)
for _statement in ("m.exp(a)", "m.tanh(a)", "a + b", "a * 2", "a.sum()", "a.mean(0)", "a.amax(1)"):
    add(f"{_statement}, 1000 x 1000", LARGE, square, _statement, loops=5)
add("a @ b, 512 x 512", LARGE, lambda m: square(m, 512), "a @ b", loops=3)
add("p.sub_(g, alpha=1e-9), 1000 x 1000", LARGE, lambda m: in_place(m, (1000, 1000)),
    "p.sub_(g, alpha=1e-9)", loops=5)  # fmt: skip


def forward_backward(
    m: Any, function: Callable[..., Any], *shapes: tuple[int, ...]
) -> Callable[[], Any]:
    """Run `function` on leaves of these shapes and pull a fixed cotangent back to all of them."""
    leaves = tensors(m, *shapes, grad=True)
    outcome = function(*leaves)
    (cotangent,) = tensors(m, tuple(outcome.shape), seed=9)

    def run() -> Any:
        return m.autograd.grad(function(*leaves), leaves, cotangent)

    return run


@workload("conv2d 16x3x32x32, 32 filters 3x3: forward + backward", LARGE, loops=3, target=1 / 1.5)
def _(m: Any) -> Any:
    conv2d = m.nn.functional.conv2d
    return forward_backward(m, conv2d, (16, 3, 32, 32), (32, 3, 3, 3), (32,))


@workload("conv2d the same, padding=1: forward + backward", LARGE, loops=3, target=1 / 1.5)
def _(m: Any) -> Any:
    return forward_backward(
        m,
        lambda x, w, b: m.nn.functional.conv2d(x, w, b, padding=1),
        (16, 3, 32, 32),
        (32, 3, 3, 3),
        (32,),
    )


@workload("layer_norm 4096 x 512: forward + backward", LARGE, loops=1, target=1)
def _(m: Any) -> Any:
    return forward_backward(
        m,
        lambda x, w, b: m.nn.functional.layer_norm(x, (512,), w, b),
        (4096, 512),
        (512,),
        (512,),
    )


@workload("softmax 4096 x 512: forward + backward", LARGE, loops=1, target=1)
def _(m: Any) -> Any:
    return forward_backward(m, lambda x: m.softmax(x, -1), (4096, 512))


@workload("gelu 1000 x 1000: forward + backward", LARGE, loops=2, target=1)
def _(m: Any) -> Any:
    return forward_backward(m, m.nn.functional.gelu, (1000, 1000))


@workload("cross_entropy 4096 x 1000: forward + backward", LARGE, loops=1, target=1)
def _(m: Any) -> Any:
    labels = m.tensor(np.random.default_rng(4).integers(0, 1000, 4096))
    return forward_backward(m, lambda x: m.nn.functional.cross_entropy(x, labels), (4096, 1000))
