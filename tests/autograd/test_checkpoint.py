"""Checkpointing: less is kept, the same comes out, in every mode and however calls nest."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pytest

import tensorplay as tp
import tensorplay.autograd.forward_ad as fwd
from tensorplay.autograd.graph import saved_tensors_hooks
from tensorplay.utils.checkpoint import (
    CheckpointError,
    CheckpointFunction,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

from .support import ON_TORCH, array, beyond_torch, close, leaf, no_collector, raises, watch


def deep(x):
    return (x.sin().exp() * x).tanh()


def kept(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=False, **kwargs)


def reentrant(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=True, **kwargs)


both = pytest.mark.parametrize("variant", [kept, reentrant])


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


class TestSame:
    @both
    def test_value_and_gradient(self, variant):
        x, y = leaf([0.3, -0.7]), leaf([0.3, -0.7])
        out = variant(deep, x)
        close(out, deep(y))
        out.sum().backward()
        deep(y).sum().backward()
        close(x.grad, y.grad)

    @both
    def test_parameters_that_the_function_reads_from_elsewhere(self, variant):
        w, x = leaf([2.0, 3.0]), leaf([0.3, -0.7])
        variant(lambda x: (x * w).sin(), x).sum().backward()
        close(w.grad, array(x) * np.cos(array(x) * array(w)))

    @both
    def test_it_runs_once_more_for_the_backward(self, variant):
        f = Counted(deep)
        x = leaf([0.3])
        y = variant(f, x)
        assert f.calls == 1
        y.sum().backward()
        assert f.calls == 2

    @both
    def test_several_inputs_and_outputs(self, variant):
        def f(a, factor, b):
            return a * b, factor, a.exp() * factor

        a, b = leaf([0.5]), leaf([2.0])
        first, factor, second = variant(f, a, 3.0, b)
        assert factor == 3.0
        (first + second).sum().backward()
        close(a.grad, [2.0 + 3 * np.exp(0.5)])
        close(b.grad, [0.5])

    @both
    def test_an_output_that_is_not_used(self, variant):
        a = leaf([0.5])
        first, _ = variant(lambda x: (x.sin(), x.exp()), a)
        first.sum().backward()
        close(a.grad, np.cos([0.5]))

    @both
    def test_a_module(self, variant):
        tp.manual_seed(3)
        net = tp.nn.Sequential(tp.nn.Linear(3, 4), tp.nn.Tanh(), tp.nn.Linear(4, 1))
        x = tp.ones(2, 3, requires_grad=True)
        variant(net, x).sum().backward()
        found = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        net(x).sum().backward()
        for p, g in zip(net.parameters(), found, strict=True):
            close(g, p.grad, rtol=1e-5)

    def test_keyword_arguments(self):
        x, scale = leaf([0.5]), leaf([2.0])
        kept(lambda x, *, scale, power=1: (x * scale) ** power, x, scale=scale, power=3) \
            .sum().backward()  # fmt: skip
        close(x.grad, [3 * 0.25 * 8.0])
        close(scale.grad, [3 * 4.0 * 0.125])

    def test_tensors_in_containers(self):
        a, b = leaf([0.5]), leaf([2.0])
        out = kept(lambda pair, named: {"y": (pair[0] * named["b"]).exp()}, [a, 1], {"b": b})
        out["y"].sum().backward()
        close(a.grad, 2.0 * np.exp([1.0]))
        close(b.grad, 0.5 * np.exp([1.0]))

    def test_no_input_needs_grad(self):
        w = leaf([2.0])
        kept(lambda x: (x * w).exp(), tp.ones(1, dtype=tp.float64)).sum().backward()
        close(w.grad, np.exp([2.0]))

    def test_no_argument_at_all(self):
        w = leaf([2.0])
        kept(lambda: w.exp().sin()).sum().backward()
        close(w.grad, np.exp([2.0]) * np.cos(np.exp([2.0])))

    def test_autograd_grad_and_inputs(self):
        x, w = leaf([0.3]), leaf([2.0])
        y = kept(lambda x: (x * w).sin().exp(), x)
        (g,) = tp.autograd.grad(y.sum(), x, retain_graph=True)
        close(g, np.exp(np.sin([0.6])) * np.cos([0.6]) * 2)
        y.sum().backward(inputs=[w])
        assert x.grad is None
        close(w.grad, np.exp(np.sin([0.6])) * np.cos([0.6]) * 0.3)

    def test_the_inputs_stand_where_they_stood(self):
        x = leaf([0.3])
        h = x * 2
        kept(deep, h).sum().backward()
        expected = leaf([0.6])
        deep(expected).sum().backward()
        close(x.grad, 2 * array(expected.grad))

    def test_results_are_what_the_function_returns(self):
        marker = object()
        x = leaf([0.3])
        assert kept(lambda x: (x, marker), x)[1] is marker
        assert kept(lambda x: None, x) is None


class TestHigherOrders:
    def test_double_backward(self):
        x = leaf([0.3, -0.7])
        (g,) = tp.autograd.grad(kept(deep, x).sum(), x, create_graph=True)
        (h,) = tp.autograd.grad((g * g).sum(), x)
        (g,) = tp.autograd.grad(deep(x).sum(), x, create_graph=True)
        (expected,) = tp.autograd.grad((g * g).sum(), x)
        close(h, expected)

    def test_a_retained_graph_is_recomputed_again(self):
        f = Counted(deep)
        x = leaf([0.3])
        y = kept(f, x)
        y.sum().backward(retain_graph=True)
        once = x.grad.clone()
        y.sum().backward()
        close(x.grad, 2 * array(once))
        assert f.calls == 3

    def test_a_second_pass_without_retaining_is_refused(self):
        x = leaf([0.3])
        y = kept(deep, x)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()

    def test_a_derivative_inside(self):
        def f(x):
            y = x.sin().exp()
            (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
            return g * y

        for early_stop in (True, False):
            x = leaf([1.0, 0.2])
            kept(f, x, early_stop=early_stop).sum().backward()
            expected = leaf([1.0, 0.2])
            f(expected).sum().backward()
            close(x.grad, expected.grad)

    def test_saved_values_can_be_looked_at(self):
        x = leaf([0.3])
        y = kept(lambda x: x.sin().exp(), x)
        close(y.grad_fn._saved_result, np.exp(np.sin([0.3])))
        close(y.grad_fn._saved_result, np.exp(np.sin([0.3])))
        y.sum().backward()

    def test_jacobian(self):
        x = leaf([0.3, -0.7])
        close(
            tp.autograd.functional.jacobian(lambda x: kept(deep, x), x),
            tp.autograd.functional.jacobian(deep, x),
        )


class TestNested:
    def test_two_levels(self):
        def inner(x):
            return (x.sin() * 2).exp()

        def outer(x, wrap):
            return wrap(inner, wrap(inner, x * 0.1).tanh()).cos()

        x, y = leaf([0.3, 0.9]), leaf([0.3, 0.9])
        kept(outer, x, kept).sum().backward()
        outer(y, lambda f, x: f(x)).sum().backward()
        close(x.grad, y.grad)

    def test_four_levels_and_double_backward(self):
        def level(n, wrap):
            if n == 0:
                return deep
            below = level(n - 1, wrap)
            return lambda x: wrap(below, wrap(below, x) + x).sin()

        x = leaf([0.3, 0.9])
        y = level(4, kept)(x)
        (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = tp.autograd.grad(g.sum(), x)
        z = level(4, lambda f, x: f(x))(x)
        close(y, z)
        (expected,) = tp.autograd.grad(z.sum(), x, create_graph=True)
        close(g, expected)
        (expected,) = tp.autograd.grad(expected.sum(), x)
        close(h, expected)

    def test_the_inner_one_keeps_nothing_of_its_own(self):
        # What the inner call needs to start from is itself recomputed by the outer one.
        alive = []

        def inner(x):
            return x.exp()

        def outer(x):
            h = x.sin()
            alive.extend(watch(h))
            return kept(inner, h).cos()

        x = leaf([0.3])
        with no_collector():
            y = kept(outer, x)
            assert alive[0]() is None
            y.sum().backward()
        close(x.grad, -np.sin(np.exp(np.sin(0.3))) * np.exp(np.sin(0.3)) * np.cos([0.3]))

    def test_reentrant_inside_and_outside(self):
        for outer, inner in ((reentrant, kept), (kept, kept), (reentrant, reentrant)):
            if ON_TORCH and inner is reentrant:
                continue  # it warns that the inner one has no input that requires grad
            x = leaf([0.3])
            outer(lambda x, inner=inner: inner(deep, x.sin()).exp(), x).sum().backward()
            y = leaf([0.3])
            deep(y.sin()).exp().sum().backward()
            close(x.grad, y.grad)


class TestMemory:
    def test_intermediates_are_freed_and_the_arguments_kept(self):
        alive = []

        def f(x):
            a = x.sin()
            b = a.exp()
            alive.extend(watch(a, b))
            return b.tanh()

        x = leaf([0.3])
        with no_collector():
            h = x * 1
            alive.extend(watch(h))
            y = kept(f, h)
            del h
            assert alive[1]() is None and alive[2]() is None
            y.sum().backward()
            del y
            assert not any(ref() is not None for ref in alive)

    @beyond_torch
    def test_bytes_kept(self):
        x = tp.ones(1000, requires_grad=True)

        def count(y):
            total, seen, waiting = 0, set(), [y.grad_fn]
            while waiting:
                node = waiting.pop()
                if node is not None and node not in seen:
                    seen.add(node)
                    waiting += [n for n, _ in node.next_functions]
                    total += getattr(node, "saved_bytes", lambda: 0)()
            return total

        assert count(deep(deep(x))) > 20_000
        assert count(kept(lambda x: deep(deep(x)), x)) == 0

    def test_recomputed_values_go_as_nodes_have_run(self):
        alive, counts = [], []

        def f(x):
            for _ in range(5):
                x = x.sin()
                alive.append(watch(x)[0])
            return x

        x = leaf([0.3])
        y = kept(f, x * 1)
        alive.clear()
        y.sum().backward()
        counts = [ref() for ref in alive]
        assert counts == [None] * len(counts)
        assert len(counts) >= 4

    def test_nothing_stays_alive_after_a_failed_recomputation(self):
        fail = [False]

        def f(x):
            h = x.sin()
            if fail[0]:
                raise ValueError("mine")
            return h.exp()

        with no_collector():
            x = leaf([0.3])
            y = kept(f, x)
            alive = watch(x, y)
            fail[0] = True
            try:
                y.sum().backward()
            except ValueError:
                pass
            else:
                raise AssertionError
            fail[0] = False
            y.sum().backward()  # the failed pass has left nothing behind
            close(x.grad, np.exp(np.sin([0.3])) * np.cos([0.3]))
            del x, y
            assert [ref() for ref in alive] == [None, None]

    def test_arguments_go_through_the_hooks_around(self):
        packed = []
        x = leaf([0.3])
        with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
            h = x * 2
            packed.clear()
            y = kept(deep, h)
        assert len(packed) == 1
        close(packed[0], h)
        y.sum().backward()
        expected = leaf([0.6])
        deep(expected).sum().backward()
        close(x.grad, 2 * array(expected.grad))


class TestRandomNumbers:
    @both
    def test_dropout_is_the_same_again(self, variant):
        x = tp.ones(50, requires_grad=True)
        tp.manual_seed(5)
        y = variant(lambda x: tp.nn.functional.dropout(x, 0.5) * x, x)
        y.sum().backward()
        close(x.grad, 2 * array(y))

    @both
    def test_the_generator_continues_as_if_nothing_had_been_recomputed(self, variant):
        x = tp.ones(50, requires_grad=True)
        tp.manual_seed(5)
        y = variant(lambda x: tp.nn.functional.dropout(x, 0.5) * x, x)
        after = tp.get_rng_state()
        y.sum().backward()
        assert (after == tp.get_rng_state()).all()

    @both
    def test_without_preserving_the_state(self, variant):
        x = tp.ones(200, requires_grad=True)
        tp.manual_seed(5)
        y = variant(lambda x: tp.nn.functional.dropout(x, 0.5) * x, x, preserve_rng_state=False)
        y.sum().backward()
        assert np.abs(array(x.grad) - 2 * array(y)).max() > 0.5


class TestGradModes:
    @both
    def test_nothing_is_recorded_without_grad_mode(self, variant):
        x = leaf([0.3])
        f = Counted(deep)
        with tp.no_grad():
            y = kept(f, x) if variant is kept else variant(f, x)
        assert not y.requires_grad and f.calls == 1
        close(y, deep(x))

    def test_inference_mode(self):
        x = leaf([0.3])
        with tp.inference_mode():
            assert not kept(deep, x).requires_grad

    def test_modes_inside_are_recomputed(self):
        seen = []

        def f(x):
            with tp.no_grad():
                factor = (x * 2).exp()
                seen.append(tp.is_grad_enabled())
            seen.append(tp.is_grad_enabled())
            return (x * factor).sin() * factor

        x, y = leaf([0.3]), leaf([0.3])
        kept(f, x, early_stop=False).sum().backward()
        assert seen == [False, True] * 2
        f(y).sum().backward()
        close(x.grad, y.grad)

    def test_a_detached_part(self):
        def f(x):
            return x.sin() * x.exp().detach()

        x, y = leaf([0.3]), leaf([0.3])
        kept(f, x).sum().backward()
        f(y).sum().backward()
        close(x.grad, y.grad)

    def test_the_backward_runs_in_another_thread(self):
        x = leaf([0.3])
        y = kept(deep, x).sum()
        thread = threading.Thread(target=y.backward)
        thread.start()
        thread.join()
        expected = leaf([0.3])
        deep(expected).sum().backward()
        close(x.grad, expected.grad)

    def test_a_pass_under_no_grad(self):
        x = leaf([0.3])
        y = kept(deep, x).sum()
        with tp.no_grad():
            y.backward()
        expected = leaf([0.3])
        deep(expected).sum().backward()
        close(x.grad, expected.grad)


class TestInPlace:
    def test_inside(self):
        def f(x):
            h = x * 2
            h.sin_()
            h[0] = h[1] * 3
            h[1:].mul_(h[0].clone())
            return h.exp()

        x, y = leaf([0.3, 0.4]), leaf([0.3, 0.4])
        kept(f, x).sum().backward()
        f(y).sum().backward()
        close(x.grad, y.grad)

    def test_a_changed_argument_is_noticed(self):
        x = leaf([0.3])
        h = x * 2
        y = kept(deep, h)
        h.add_(1)
        with raises(RuntimeError, "checkpoint", "in-place", "version"):
            y.sum().backward()

    def test_an_argument_changed_by_the_function_itself(self):
        x = leaf([0.3])
        y = kept(lambda h: h.sin_().exp(), x * 2)
        with pytest.raises(RuntimeError):
            y.sum().backward()


@beyond_torch
class TestTransforms:
    """PyTorch refuses hooks on saved tensors inside of its function transforms."""

    @pytest.mark.parametrize("early_stop", [True, False])
    @pytest.mark.parametrize(
        "transform",
        [
            lambda f: tp.func.grad(lambda x: f(x).sum()),
            lambda f: tp.func.grad(lambda x: tp.func.grad(lambda x: f(x).sum())(x).sum()),
            lambda f: tp.func.hessian(lambda x: f(x).sum()),
            lambda f: tp.func.jacrev(f),
            lambda f: tp.func.jacfwd(f),
            lambda f: tp.func.jacfwd(tp.func.jacrev(f)),
            lambda f: tp.func.jacrev(tp.func.jacfwd(f)),
            lambda f: lambda x: tp.func.jvp(tp.func.grad(lambda x: f(x).sum()), (x,), (x,))[1],
            lambda f: tp.func.grad(lambda x: tp.func.jvp(f, (x,), (x,))[1].sum()),
            lambda f: lambda x: tp.vmap(f)(tp.stack([x, 2 * x])),
            lambda f: lambda x: tp.vmap(tp.func.grad(lambda x: f(x).sum()))(tp.stack([x, 2 * x])),
            lambda f: tp.func.grad(lambda x: tp.vmap(f)(tp.stack([x, 2 * x])).sum()),
            lambda f: lambda x: tp.func.vjp(f, x)[1](x)[0],
        ],
    )
    def test_as_without(self, transform, early_stop):
        x = tp.tensor([0.3, -0.7], dtype=tp.float64)
        w = leaf([2.0, 0.5])

        def f(x):
            return deep(x * w).sin()

        expected = transform(f)(x)
        (expected_w,) = tp.autograd.grad(expected.sum(), w)
        actual = transform(lambda x: kept(f, x, early_stop=early_stop))(x)
        close(actual, expected)
        (actual_w,) = tp.autograd.grad(actual.sum(), w)  # after every level has ended
        close(actual_w, expected_w)

    def test_nested_inside_vmap_of_grad_of_jvp(self):
        w = leaf([2.0, 0.5])

        def build(wrap):
            def f(x):
                return wrap(deep, wrap(lambda x: (x * w).sin(), x).exp())

            def g(x):
                return tp.func.jvp(f, (x,), (x * x,))[1].sum()

            return tp.vmap(tp.func.grad(g))(tp.tensor([[0.3, -0.7], [0.1, 2.0]], dtype=tp.float64))

        actual, expected = build(kept), build(lambda f, x: f(x))
        close(actual, expected)
        (a,) = tp.autograd.grad(actual.sin().sum(), w)
        (b,) = tp.autograd.grad(expected.sin().sum(), w)
        close(a, b)

    def test_the_pullback_of_vjp_called_after_its_level_has_ended(self):
        x = tp.tensor([0.3, -0.7], dtype=tp.float64)
        _, pull = tp.func.vjp(lambda x: kept(deep, x), x)
        _, expected = tp.func.vjp(deep, x)
        close(pull(x)[0], expected(x)[0])
        close(tp.vmap(pull)(tp.eye(2, dtype=tp.float64))[0],
              tp.vmap(expected)(tp.eye(2, dtype=tp.float64))[0])  # fmt: skip

    def test_random_numbers_under_vmap(self):
        x = tp.ones(3, 40, requires_grad=True)
        tp.manual_seed(3)
        y = tp.vmap(
            lambda x: kept(lambda x: tp.nn.functional.dropout(x, 0.5) * x, x),
            randomness="different",
        )(x)
        y.sum().backward()
        close(x.grad, 2 * array(y))
        assert not (array(y)[0] == array(y)[1]).all()

    def test_forward_mode_and_backward(self):
        x = leaf([0.3])
        with fwd.dual_level():
            dual = fwd.make_dual(x, tp.ones(1, dtype=tp.float64))
            (g,) = tp.autograd.grad(kept(deep, dual).sum(), x)
            (expected,) = tp.autograd.grad(deep(dual).sum(), x)
            close(fwd.unpack_dual(g).tangent, fwd.unpack_dual(expected).tangent)

    def test_a_batched_backward(self):
        x = leaf([0.3, -0.7])
        y = kept(deep, x)
        eye = tp.eye(2, dtype=tp.float64)
        (found,) = tp.autograd.grad(y, x, eye, is_grads_batched=True)
        (expected,) = tp.autograd.grad(deep(x), x, eye, is_grads_batched=True)
        close(found, expected)

    def test_the_reentrant_variant_is_refused(self):
        x = tp.ones(2)
        with raises(RuntimeError, "checkpoint", "use_reentrant=False"):
            tp.func.grad(lambda x: reentrant(deep, x).sum())(x)
        with raises(RuntimeError, "checkpoint", "use_reentrant=False"):
            tp.func.jvp(lambda x: reentrant(deep, x), (x,), (x,))


class TestCustomFunctions:
    def test_inside(self):
        class Cube(tp.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 3 * x * x * g

        x = leaf([0.3])
        (g,) = tp.autograd.grad(kept(lambda x: Cube.apply(x.sin()).exp(), x).sum(), x,
                                create_graph=True)  # fmt: skip
        (h,) = tp.autograd.grad(g.sum(), x)
        y = x.sin() ** 3
        (expected,) = tp.autograd.grad(y.exp().sum(), x, create_graph=True)
        close(g, expected)
        (expected,) = tp.autograd.grad(expected.sum(), x)
        close(h, expected)


class TestEarlyStop:
    def test_the_end_of_the_function_is_not_run_again(self):
        reached = []

        def f(x):
            y = x.sin().exp()
            reached.append(1)
            return y + 1

        x = leaf([0.3])
        kept(f, x).sum().backward()
        assert len(reached) == 1

    @pytest.mark.parametrize("how", ["argument", "context"])
    def test_it_can_be_turned_off(self, how):
        reached = []

        def f(x):
            y = x.sin().exp()
            reached.append(1)
            return y + 1

        x = leaf([0.3])
        off = set_checkpoint_early_stop(False) if how == "context" else contextlib.nullcontext()
        with off:
            y = kept(f, x, **({"early_stop": False} if how == "argument" else {}))
        y.sum().backward()
        assert len(reached) == 2

    def test_a_function_that_catches_every_exception(self):
        def f(x):
            try:
                return x.sin().exp()
            except Exception:  # a careless one
                return x

        x, y = leaf([0.3]), leaf([0.3])
        kept(f, x).sum().backward()
        f(y).sum().backward()
        close(x.grad, y.grad)


class Flipping:
    """Alternates between two functions."""

    def __init__(self, first, second):
        self.functions = [first, second]

    def __call__(self, x):
        self.functions.reverse()
        return self.functions[1](x)


class TestDeterminism:
    def test_fewer_tensors(self):
        x = leaf([0.3, 0.4])
        y = kept(Flipping(lambda x: x.sin().exp(), lambda x: x.sin()), x)
        with raises(CheckpointError, "checkpoint", "2", "1"):
            y.sum().backward()

    def test_more_tensors(self):
        x = leaf([0.3, 0.4])
        y = kept(Flipping(lambda x: x.sin(), lambda x: x.sin().exp()), x, early_stop=False)
        with raises(CheckpointError, "checkpoint", "1"):
            y.sum().backward()

    def test_other_shapes(self):
        f = Flipping(lambda x: x.sin(), lambda x: x[:1].sin())
        x = leaf([0.3, 0.4])
        y = kept(f, x)
        with raises(CheckpointError, "checkpoint", "[2]", "[1]", "float64"):
            y.sum().backward()

    def test_other_dtypes(self):
        f = Flipping(lambda x: x.sin(), lambda x: x.float().sin())
        x = leaf([0.3, 0.4])
        y = kept(f, x)
        with raises(CheckpointError, "checkpoint", "float64", "float32"):
            y.sum().backward()

    def test_without_the_check(self):
        f = Flipping(lambda x: x.sin(), lambda x: x.float().sin())
        x = leaf([0.3, 0.4])
        kept(f, x, determinism_check="none").sum().backward()
        close(x.grad, np.cos([0.3, 0.4]), rtol=1e-6)

    def test_it_is_a_runtime_error(self):
        assert issubclass(CheckpointError, RuntimeError)


class TestDebug:
    def run(self, **options):
        f = Flipping(lambda x: x.sin().exp(), lambda x: x.cos())
        y = kept(f, leaf([0.3, 0.4]), **options)
        y.sum().backward()

    def test_the_operators_of_both_runs_are_listed(self):
        with raises(CheckpointError, "sin", "exp", "cos", "test_checkpoint.py") as caught:
            self.run(debug=True)
        text = str(caught.value)
        assert "sin" in text and "cos" in text and "original" in text

    def test_without_it_they_are_not(self):
        with pytest.raises(CheckpointError) as caught:
            self.run()
        assert "test_checkpoint.py" not in str(caught.value)
        assert "debug=True" in str(caught.value)

    @beyond_torch  # its log of operators does not work under pytest
    def test_the_context_overrides_the_argument(self):
        with set_checkpoint_debug_enabled(True), raises(CheckpointError, "exp", "cos"):
            self.run(debug=False)
        with pytest.raises(CheckpointError) as caught, set_checkpoint_debug_enabled(False):
            self.run(debug=True)
        assert "test_checkpoint.py" not in str(caught.value)

    @beyond_torch
    def test_a_right_function_is_not_disturbed(self):
        x, y = leaf([0.3]), leaf([0.3])
        kept(deep, x, debug=True).sum().backward()
        deep(y).sum().backward()
        close(x.grad, y.grad)


class TestContexts:
    def test_each_run_has_its_own(self):
        seen = []

        @contextlib.contextmanager
        def mark(name):
            seen.append(name)
            try:
                yield
            finally:
                seen.append("end of " + name)

        x = leaf([0.3])
        y = kept(deep, x, context_fn=lambda: (mark("forward"), mark("recomputation")))
        assert seen == ["forward", "end of forward"]
        y.sum().backward()
        assert seen[2:] == ["recomputation", "end of recomputation"]

    def test_not_together_with_debug(self):
        with raises(ValueError, "checkpoint", "debug", "context_fn"):
            kept(deep, leaf([0.3]), debug=True, context_fn=lambda: (None, None))


class TestArguments:
    def test_the_variant_should_be_said(self):
        x = leaf([0.3])
        with pytest.warns(UserWarning, match="use_reentrant"):
            checkpoint(deep, x)

    def test_unknown_keywords_of_the_reentrant_variant(self):
        with raises(ValueError, "checkpoint", "scale"):
            reentrant(deep, leaf([0.3]), scale=3)

    @pytest.mark.parametrize("options", [{"context_fn": lambda: None}, {"debug": True}])
    def test_what_the_reentrant_variant_cannot_do(self, options):
        with raises(ValueError, "checkpoint", next(iter(options)), "use_reentrant=False"):
            reentrant(deep, leaf([0.3]), **options)

    def test_an_unknown_check(self):
        with raises(ValueError, "checkpoint", "determinism_check", "'default'", "'all'"):
            kept(deep, leaf([0.3]), determinism_check="all")

    def test_something_that_cannot_be_called(self):
        with raises(TypeError, "checkpoint", "function", "int"):
            kept(3, leaf([0.3]))


class TestReentrant:
    def test_only_backward_without_inputs(self):
        x = leaf([0.3])
        with raises(RuntimeError, "checkpoint", "use_reentrant=False"):
            tp.autograd.grad(reentrant(deep, x).sum(), x)
        with raises(RuntimeError, "checkpoint", "use_reentrant=False"):
            reentrant(deep, x).sum().backward(inputs=[x])

    def test_an_input_must_need_grad(self):
        with pytest.warns(UserWarning, match="requires_grad"):
            y = reentrant(deep, tp.ones(2))
        assert not y.requires_grad

    def test_an_output_must_need_grad(self):
        y = reentrant(lambda x: x.detach() * 1, leaf([0.3]))
        with raises(RuntimeError, "checkpoint", "requires_grad"):
            y.sum().backward()

    def test_the_function_itself(self):
        x, y = leaf([0.3]), leaf([0.3])
        CheckpointFunction.apply(deep, True, x).sum().backward()
        deep(y).sum().backward()
        close(x.grad, y.grad)

    def test_detach_variable(self):
        x, y = leaf([0.3]), tp.ones(2)
        a, b, c = detach_variable((x * 2, y, 3))
        assert a.is_leaf and a.requires_grad and not b.requires_grad and c == 3
        with raises(RuntimeError, "tuple"):
            detach_variable([x])


class TestSequential:
    def layers(self):
        tp.manual_seed(1)
        return [tp.nn.Linear(4, 4), tp.nn.Tanh(), tp.nn.Linear(4, 4), tp.nn.Tanh(),
                tp.nn.Linear(4, 1)]  # fmt: skip

    @pytest.mark.parametrize("use_reentrant", [True, False])
    @pytest.mark.parametrize("segments", [1, 2, 3, 5])
    def test_as_without(self, segments, use_reentrant):
        net = tp.nn.Sequential(*self.layers())
        x = tp.ones(2, 4, requires_grad=True)
        y = checkpoint_sequential(net, segments, x, use_reentrant=use_reentrant)
        close(y, net(x))
        y.sum().backward()
        found = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        net(x).sum().backward()
        for p, g in zip(net.parameters(), found, strict=True):
            close(g, p.grad, rtol=1e-5)

    def test_a_list_of_functions_and_how_often_each_runs(self):
        functions = [Counted(lambda x: x.sin()) for _ in range(5)]
        x = leaf([0.3])
        y = checkpoint_sequential(functions, 2, x, use_reentrant=False)
        y.sum().backward()
        # The last segment (three functions of five) is not checkpointed.
        assert [f.calls for f in functions] == [2, 2, 1, 1, 1]
        z = leaf([0.3])
        z.sin().sin().sin().sin().sin().sum().backward()
        close(x.grad, z.grad)

    def test_bad_arguments(self):
        x = leaf([0.3])
        with raises(ValueError, "checkpoint_sequential", "foo"):
            checkpoint_sequential([deep], 1, x, use_reentrant=False, foo=1)
        with raises(ValueError, "checkpoint_sequential", "segments"):
            checkpoint_sequential([deep, deep], 5, x, use_reentrant=False)
        with pytest.warns(UserWarning, match="use_reentrant"):
            checkpoint_sequential([deep, deep], 2, x)
