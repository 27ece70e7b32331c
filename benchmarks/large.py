"""More large operations to time: one record per workload, as in workloads.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import LARGE, Setup, add, forward_backward, in_place, square, tensors


def doubles(setup: Setup) -> Setup:
    """The setup with its floating-point leaves in float64."""

    class Wide:
        def __init__(self, m: Any) -> None:
            self._module = m

        def __getattr__(self, name: str) -> Any:
            return getattr(self._module, name)

        def tensor(self, values: Any) -> Any:
            wide = values.astype(np.float64) if values.dtype == np.float32 else values
            return self._module.tensor(wide)

    return lambda m: setup(Wide(m))


def differentiated(
    name: str, function: Callable[..., Any], *shapes: tuple[int, ...], wide: bool = False,
    **options: Any,
) -> None:  # fmt: skip
    """Add a row: `function(m, *leaves)` on leaves of these shapes, forward and backward.

    wide: in float64.
    """

    def setup(m: Any) -> Any:
        return forward_backward(m, lambda *leaves: function(m, *leaves), *shapes)

    add(f"{name}: forward + backward", LARGE, doubles(setup) if wide else setup, **options)


MATRIX = ((4096, 512),)
IMAGES = ((32, 64, 28, 28),)


def classes(m: Any) -> Any:
    return m.tensor(np.random.default_rng(4).integers(0, 1000, 4096))


differentiated("layer_norm 4096 x 512, no weight",
               lambda m, x: m.nn.functional.layer_norm(x, (512,)), *MATRIX)  # fmt: skip
differentiated("rms_norm 4096 x 512", lambda m, x, w: m.nn.functional.rms_norm(x, (512,), w),
               (4096, 512), (512,))  # fmt: skip
differentiated("log_softmax 4096 x 512", lambda m, x: m.log_softmax(x, -1), *MATRIX)
differentiated("softmax over dim 1 of 64 x 32 x 1024", lambda m, x: m.softmax(x, 1), (64, 32, 1024))
differentiated("gelu 1000 x 1000, tanh",
               lambda m, x: m.nn.functional.gelu(x, approximate="tanh"), (1000, 1000))  # fmt: skip
for _name in ("relu", "silu", "sigmoid", "tanh", "softplus", "elu"):
    differentiated(f"{_name} 1000 x 1000", lambda m, x, f=_name: getattr(m.nn.functional, f)(x),
                   (1000, 1000), loops=3)  # fmt: skip
differentiated("layer_norm 4096 x 512, float64",
               lambda m, x, w, b: m.nn.functional.layer_norm(x, (512,), w, b),
               (4096, 512), (512,), (512,), wide=True)  # fmt: skip
differentiated("softmax 4096 x 512, float64", lambda m, x: m.softmax(x, -1), *MATRIX, wide=True)
differentiated("gelu 1000 x 1000, float64", lambda m, x: m.nn.functional.gelu(x), (1000, 1000),
               wide=True)  # fmt: skip
differentiated("cross_entropy 4096 x 1000, float64",
               lambda m, x: m.nn.functional.cross_entropy(x, classes(m)), (4096, 1000),
               wide=True)  # fmt: skip

differentiated("batch_norm 32x64x28x28, training", lambda m, x, w, b: m.nn.functional.batch_norm(
    x, None, None, w, b, training=True), (32, 64, 28, 28), (64,), (64,))  # fmt: skip
differentiated("batch_norm 4096 x 512, training", lambda m, x, w, b: m.nn.functional.batch_norm(
    x, None, None, w, b, training=True), (4096, 512), (512,), (512,))  # fmt: skip
differentiated("group_norm 32x64x28x28, 8 groups", lambda m, x, w, b: m.nn.functional.group_norm(
    x, 8, w, b), (32, 64, 28, 28), (64,), (64,))  # fmt: skip
differentiated("instance_norm 32x64x28x28", lambda m, x: m.nn.functional.instance_norm(x), *IMAGES)
differentiated("max_pool2d 2 of 32x64x28x28", lambda m, x: m.nn.functional.max_pool2d(x, 2),
               *IMAGES)  # fmt: skip
differentiated("max_pool2d 3, stride 2, padding 1 of 32x64x28x28",
               lambda m, x: m.nn.functional.max_pool2d(x, 3, 2, 1), *IMAGES)  # fmt: skip
differentiated("avg_pool2d 2 of 32x64x28x28", lambda m, x: m.nn.functional.avg_pool2d(x, 2),
               *IMAGES)  # fmt: skip
differentiated("adaptive_avg_pool2d 1 of 32x64x28x28",
               lambda m, x: m.nn.functional.adaptive_avg_pool2d(x, 1), *IMAGES)  # fmt: skip
differentiated("depthwise conv2d 8x64x28x28, 3x3", lambda m, x, w: m.nn.functional.conv2d(
    x, w, padding=1, groups=64), (8, 64, 28, 28), (64, 1, 3, 3))  # fmt: skip
differentiated("conv2d 8x64x28x28, 64 filters 3x3", lambda m, x, w: m.nn.functional.conv2d(
    x, w, padding=1), (8, 64, 28, 28), (64, 64, 3, 3))  # fmt: skip
differentiated("conv1d 16x64x256, 64 filters 3", lambda m, x, w: m.nn.functional.conv1d(
    x, w, padding=1), (16, 64, 256), (64, 64, 3))  # fmt: skip


def indices(m: Any, high: int, *shape: int) -> Any:
    return m.tensor(np.random.default_rng(6).integers(0, high, shape))


differentiated("embedding of 64 x 128 in 10,000 x 256", lambda m, w: m.nn.functional.embedding(
    indices(m, 10_000, 64, 128), w), (10_000, 256))  # fmt: skip
differentiated("a.index_select(0, 4096 rows), 10,000 x 256",
               lambda m, x: x.index_select(0, indices(m, 10_000, 4096)), (10_000, 256))  # fmt: skip
differentiated("a[4096 rows], 10,000 x 256",
               lambda m, x: x[indices(m, 10_000, 4096)], (10_000, 256))  # fmt: skip
differentiated("a.gather(1, index), 1000 x 1000",
               lambda m, x: x.gather(1, indices(m, 1000, 1000, 1000)), (1000, 1000))  # fmt: skip
differentiated("m.cat((a, b)), 1000 x 1000", lambda m, a, b: m.cat((a, b)),
               (1000, 1000), (1000, 1000), loops=3)  # fmt: skip
differentiated("m.cat((a, b), 1), 1000 x 1000", lambda m, a, b: m.cat((a, b), 1),
               (1000, 1000), (1000, 1000), loops=3)  # fmt: skip
differentiated("m.where(a > 0, a, b), 1000 x 1000", lambda m, a, b: m.where(a > 0, a, b),
               (1000, 1000), (1000, 1000), loops=3)  # fmt: skip
differentiated("a * b, 1000 x 1000", lambda m, a, b: a * b, (1000, 1000), (1000, 1000), loops=3)
differentiated("a * row + column, 1000 x 1000", lambda m, a, b, c: a * b + c,
               (1000, 1000), (1000,), (1000, 1), loops=3)  # fmt: skip
differentiated("a.sum(), 1000 x 1000", lambda m, a: a.sum(), (1000, 1000), loops=3)
differentiated("(a * a).mean(), 1000 x 1000", lambda m, a: (a * a).mean(), (1000, 1000), loops=3)
differentiated("a.mean(1), 1000 x 1000", lambda m, a: a.mean(1), (1000, 1000), loops=3)
differentiated("a.var(1), 1000 x 1000", lambda m, a: a.var(1), (1000, 1000), loops=3)
differentiated("a.cumsum(1), 1000 x 1000", lambda m, a: a.cumsum(1), (1000, 1000), loops=3)
differentiated("a.logsumexp(1), 1000 x 1000", lambda m, a: a.logsumexp(1), (1000, 1000), loops=3)
differentiated("a.amax(1), 1000 x 1000", lambda m, a: a.amax(1), (1000, 1000), loops=3)
differentiated("mse_loss 1000 x 1000", lambda m, a, b: m.nn.functional.mse_loss(a, b),
               (1000, 1000), (1000, 1000), loops=3)  # fmt: skip
differentiated("binary_cross_entropy_with_logits 1000 x 1000",
               lambda m, a: m.nn.functional.binary_cross_entropy_with_logits(a, m.full(
                   (1000, 1000), 0.25)), (1000, 1000))  # fmt: skip
differentiated("scaled_dot_product_attention 8x8x128x64",
               lambda m, q, k, v: m.nn.functional.scaled_dot_product_attention(q, k, v),
               (8, 8, 128, 64), (8, 8, 128, 64), (8, 8, 128, 64))  # fmt: skip


def layouts(m: Any) -> dict[str, Any]:
    names = square(m)
    (x,) = tensors(m, (64, 32, 500), seed=7)
    return names | {"c": x, "i": indices(m, 1000, 1000), "mask": names["b"] > 0}


for _statement in (
    "a - b", "a / b", "-a", "a.abs()", "a ** 2", "(a * a).sqrt()", "m.log(c * c)", "m.sin(a)",
    "m.clamp(a, -1, 1)", "a.relu()", "m.maximum(a, b)", "a > b", "a == 0", "mask & mask", "~mask",
    "m.where(mask, a, b)", "a.masked_fill(mask, 0)", "m.isnan(a)",
    "a + b[0]", "a + b[:, :1]", "a.t() + b", "a[:, ::2] * 2", "a.t().contiguous()",
    "a.double()", "a.clone()", "a.to(m.bfloat16).float()", "a.to(m.float16)", "mask.float()",
    "a.sum(0)", "a.sum(1)", "c.sum(1)", "c.sum((0, 2))", "a.t().sum(0)", "a.t().sum(1)",
    "a[:, ::2].sum()", "a.prod(1)", "a.norm()", "a.std()", "a.var(0)", "a.max()", "a.amax(0)",
    "a.max(1)", "a.argmax(1)", "a.argmax(0)", "mask.sum()", "mask.any(1)",
    "a.cumsum(0)", "a.cumsum(1)", "a.sort(1)", "a.topk(5, 1)", "a.index_select(0, i)",
    "a.index_select(1, i)", "a[i]", "a[mask]", "m.cat((a, b))", "m.cat((a, b), 1)",
    "m.stack((a, b))", "a.flip(0)", "a.roll(1, 1)", "a.repeat(2, 1)", "a.tril()",
    "c.permute(2, 0, 1).contiguous()", "a @ b[0]", "m.addcmul(a, a, b, value=0.5)",
    "m.lerp(a, b, 0.3)", "a.add(b, alpha=2)",
):  # fmt: skip
    add(f"{_statement}, large", LARGE, layouts, _statement, loops=3)
for _statement in (
    "p.add_(g)", "p.mul_(0.999999)", "p.add_(g, alpha=1e-9)", "v.mul_(0.9).add_(g, alpha=0.1)",
    "p.addcmul_(g, v, value=1e-9)", "p.addcdiv_(g, v, value=1e-9)", "v.lerp_(g, 0.1)", "p.zero_()",
    "p.copy_(g)",
):  # fmt: skip
    add(f"{_statement}, 1000 x 1000", LARGE, lambda m: in_place(m, (1000, 1000)), _statement,
        loops=3)  # fmt: skip


def optimised(name: str, **options: Any) -> Setup:
    def setup(m: Any) -> Any:
        params = tensors(m, (1000, 1000), (1000,), grad=True)
        for p, g in zip(params, tensors(m, (1000, 1000), (1000,), seed=3), strict=True):
            p.grad = g
        optimiser = getattr(m.optim, name)(params, **options)

        def run() -> Any:
            optimiser.step()
            return params

        return run

    return setup


add("SGD with momentum: step, 1000 x 1000", LARGE, optimised("SGD", lr=1e-6, momentum=0.9), loops=3)
add("Adam: step, 1000 x 1000", LARGE, optimised("Adam", lr=1e-6), loops=3)
add("AdamW: step, 1000 x 1000", LARGE, optimised("AdamW", lr=1e-6), loops=3)
