"""Selective checkpointing: what a policy keeps is not computed again, and nothing else changes."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.utils._selective as selective
from tensorplay.autograd.profiler import profile
from tensorplay.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from .support import array, close, leaf, no_collector, raises, watch


def run(function, *args, policy, **options):
    context = functools.partial(create_selective_checkpoint_contexts, policy, **options)
    return checkpoint(function, *args, use_reentrant=False, context_fn=context)


class Kernels:
    """Counts how often the kernels of some operators run."""

    def __init__(self):
        self.asked = []

    def policy(self, *saved):
        def decide(ctx, op, *args, **kwargs):
            assert not ctx.is_recompute
            assert ctx.op_output is not None
            self.asked.append(op.name)
            return (
                CheckpointPolicy.MUST_SAVE
                if op.name in saved
                else CheckpointPolicy.PREFER_RECOMPUTE
            )

        return decide


def block(x, w):
    return ((x @ w).sin() @ w).exp() * x


class TestSame:
    @pytest.mark.parametrize("saved", [[], ["matmul"], ["sin", "exp"], ["mul", "matmul", "exp"]])
    def test_gradients_and_second_derivatives(self, saved):
        w = leaf([[0.2, 0.1], [0.3, -0.4]])
        x = leaf([[1.0, 2.0], [0.5, 0.1]])
        y = run(block, x, w, policy=saved)
        z = block(x, w)
        close(y, z)
        first = tp.autograd.grad(y.sum(), [x, w], create_graph=True)
        expected = tp.autograd.grad(z.sum(), [x, w], create_graph=True)
        for a, b in zip(first, expected, strict=True):
            close(a, b)
        second = tp.autograd.grad(sum((g * g).sum() for g in first), [x, w])
        expected = tp.autograd.grad(sum((g * g).sum() for g in expected), [x, w])
        for a, b in zip(second, expected, strict=True):
            close(a, b)

    def test_a_retained_graph(self):
        x = leaf([0.3])
        y = run(lambda x: x.sin().exp().tanh(), x, policy=["exp"])
        y.sum().backward(retain_graph=True)
        once = x.grad.clone()
        y.sum().backward()
        close(x.grad, 2 * array(once))

    def test_inside_transforms(self):
        def f(x, wrap):
            return wrap(lambda x: x.sin().exp().tanh().exp(), x).sum()

        x = tp.tensor([[0.3, 0.1], [0.2, 0.9]], dtype=tp.float64)
        for transform in (
            lambda f: tp.vmap(tp.func.grad(f)),
            lambda f: tp.func.hessian(f),
            lambda f: lambda x: tp.func.jvp(tp.func.grad(f), (x,), (x,))[1],
        ):
            kept = transform(lambda x: f(x, functools.partial(run, policy=["exp", "tanh"])))(x)
            close(kept, transform(lambda x: f(x, lambda g, x: g(x)))(x))

    def test_nested(self):
        def inner(x):
            return x.sin().exp().cos()

        def outer(x, wrap):
            return wrap(inner, x.tanh()).exp().sin()

        x, y = leaf([0.3]), leaf([0.3])
        save = functools.partial(run, policy=["exp"])
        save(lambda x: outer(x, save), x).sum().backward()
        outer(y, lambda f, x: f(x)).sum().backward()
        close(x.grad, y.grad)


class TestKept:
    def test_kept_results_are_not_computed_again(self):
        calls = []

        def f(x):
            calls.append(1)
            return x.sin().exp().sin().exp().tanh()

        x = leaf([0.3])
        with profile() as first:
            y = run(f, x, policy=["exp"])
        assert [e.name for e in first.function_events].count("exp") == 2
        kernels = count_kernels("exp", "sin")
        with kernels:
            y.sum().backward()
        assert calls == [1, 1]
        assert kernels.counts == {"exp": 0, "sin": 2}

    def test_every_new_result_is_asked_about_and_views_are_not(self):
        kernels = Kernels()
        x = leaf([[0.3, 0.4]])
        run(lambda x: x.t()[0].sin() * 2, x, policy=kernels.policy()).sum().backward()
        assert kernels.asked == ["sin", "mul"]

    def test_a_policy_may_depend_on_the_arguments(self):
        def policy(ctx, op, *args):
            large = ctx.op_output.numel() > 2
            assert any(isinstance(x, tp.Tensor) for x in args)
            return CheckpointPolicy.PREFER_SAVE if large else CheckpointPolicy.MUST_RECOMPUTE

        x = leaf([0.3, 0.4, 0.5])
        y = run(lambda x: x.exp().sum().exp(), x, policy=policy)
        kernels = count_kernels("exp")
        with kernels:
            y.backward()
        assert kernels.counts == {"exp": 1}
        close(x.grad, np.exp(np.exp(array(x)).sum()) * np.exp(array(x)))

    def test_several_results(self):
        x = leaf([[2.0, 0.3], [0.3, 1.0]])
        y = run(lambda x: sum(part.sin().sum() for part in tp.linalg.eigh(x)), x,
                policy=lambda ctx, op, *args: CheckpointPolicy.MUST_SAVE)  # fmt: skip
        (g,) = tp.autograd.grad(y, x)
        (expected,) = tp.autograd.grad(sum(part.sin().sum() for part in tp.linalg.eigh(x)), x)
        close(g, expected)

    def test_they_go_with_the_graph(self):
        alive = []

        def f(x):
            h = x.sin().exp()
            return h.tanh()

        def policy(ctx, op, *args):
            alive.extend(watch(ctx.op_output))
            return CheckpointPolicy.MUST_SAVE

        with no_collector():
            x = leaf([0.3])
            y = run(f, x, policy=policy)
            assert all(ref() is not None for ref in alive)
            del y
            assert not any(ref() is not None for ref in alive)


class TestRandomNumbers:
    def test_kept_ones_are_not_drawn_again(self):
        def f(x):
            first = tp.bernoulli(0.5 * x.detach())  # an operator that draws
            return (x * first).exp() * tp.nn.functional.dropout(x, 0.5)

        x = tp.ones(20, dtype=tp.float64, requires_grad=True)
        assert "bernoulli" in operators_of(lambda: f(x))
        tp.manual_seed(7)
        y = run(f, x, policy=lambda ctx, op, *args: CheckpointPolicy.MUST_SAVE
                if op.name == "bernoulli"
                else CheckpointPolicy.PREFER_RECOMPUTE)  # fmt: skip
        (g,) = tp.autograd.grad(y.sum(), x)
        tp.manual_seed(7)
        (expected,) = tp.autograd.grad(f(x).sum(), x)
        close(g, expected)


class TestChanges:
    def test_a_kept_result_that_was_changed_is_refused(self):
        y = run(lambda x: x.sin().exp().mul_(2).tanh(), leaf([0.3]), policy=["exp"])
        with raises(RuntimeError, "create_selective_checkpoint_contexts", "exp", "in-place"):
            y.sum().backward()

    def test_unless_it_is_allowed(self):
        x = leaf([0.3])

        def f(x):  # exp's result is changed after its last use
            h = x.sin().exp()
            y = h + 1
            h.detach().zero_()
            return y.tanh()

        y = run(f, x, policy=["exp"], allow_cache_entry_mutation=True)
        y.sum().backward()
        assert x.grad is not None


class TestArguments:
    def test_operators_and_names(self):
        x = leaf([0.3])
        for item in ("exp", tp.exp):
            run(lambda x: x.exp().sin(), x, policy=[item]).sum().backward()
        for item in ("no such operator", tp.einsum, 3):
            with raises(TypeError, "create_selective_checkpoint_contexts", "primitive"):
                run(lambda x: x, x, policy=[item])

    def test_what_a_policy_returns(self):
        with raises(TypeError, "create_selective_checkpoint_contexts", "CheckpointPolicy", "str"):
            run(lambda x: x.exp(), leaf([0.3]), policy=lambda *_: "save")

    def test_bools_mean_save_and_recompute(self):
        x = leaf([0.3])
        y = run(lambda x: x.exp().sin(), x, policy=lambda ctx, op, *args: op.name == "exp")
        kernels = count_kernels("exp")
        with kernels:
            y.sum().backward()
        assert kernels.counts == {"exp": 0}


def operators_of(function):
    with profile() as found:
        function()
    return [event.name for event in found.function_events]


def count_kernels(*names):
    return _KernelCount(names)


class _KernelCount:
    """Context manager that counts kernel runs of some primitives, through a policy of its own."""

    def __init__(self, names):
        self.counts = dict.fromkeys(names, 0)
        self.patch = None

    def __enter__(self):
        count, original = self.counts, selective._Recomputation.select

        def select(this, key, p, arguments, compute):
            def counted():
                if p.name in count:
                    count[p.name] += 1
                return compute()

            return original(this, key, p, arguments, counted)

        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(selective._Recomputation, "select", select)

    def __exit__(self, *_):
        self.patch.undo()
