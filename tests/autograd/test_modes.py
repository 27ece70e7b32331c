"""Modes: grad mode, inference mode, multithreading; decorators; threads of their own."""

import asyncio
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import set_multithreading_enabled

from .support import ON_TORCH, beyond_torch, close, const, leaf, raises

MODES = {
    "no_grad": (tp.no_grad, False),
    "enable_grad": (tp.enable_grad, True),
    "set_grad_enabled(False)": (lambda: tp.set_grad_enabled(False), False),
    "inference_mode": (tp.inference_mode, False),
}
every_mode = pytest.mark.parametrize(("mode", "enabled"), MODES.values(), ids=list(MODES))


class TestDecorators:
    @every_mode
    def test_functions(self, mode, enabled):
        @mode()
        def f(x, *, y=1):
            """Doc."""
            return tp.is_grad_enabled(), x + y

        assert f.__name__ == "f"
        assert f.__doc__ == "Doc."
        with tp.set_grad_enabled(not enabled):
            assert f(1, y=2) == (enabled, 3)
            assert tp.is_grad_enabled() is not enabled

    @every_mode
    def test_methods(self, mode, enabled):
        class Thing:
            @mode()
            def method(self):
                return self, tp.is_grad_enabled()

            @classmethod
            @mode()
            def of_class(cls):
                return cls, tp.is_grad_enabled()

            @staticmethod
            @mode()
            def static():
                return tp.is_grad_enabled()

        with tp.set_grad_enabled(not enabled):
            thing = Thing()
            assert thing.method() == (thing, enabled)
            assert Thing.of_class() == (Thing, enabled)
            assert Thing.static() is enabled

    @every_mode
    def test_generators(self, mode, enabled):
        seen = []

        @mode()
        def generate():
            seen.append(tp.is_grad_enabled())
            received = yield 1
            seen.append((received, tp.is_grad_enabled()))
            try:
                yield 2
            except ValueError:
                seen.append(("thrown", tp.is_grad_enabled()))
            yield 3
            return 4

        with tp.set_grad_enabled(not enabled):
            generator = generate()
            assert next(generator) == 1
            assert tp.is_grad_enabled() is not enabled
            assert generator.send("sent") == 2
            assert generator.throw(ValueError()) == 3
            with pytest.raises(StopIteration) as stop:
                next(generator)
            assert stop.value.value == 4
            assert tp.is_grad_enabled() is not enabled
        assert seen == [enabled, ("sent", enabled), ("thrown", enabled)]

    @every_mode
    def test_closing_a_generator(self, mode, enabled):
        seen = []

        @mode()
        def generate():
            try:
                yield 1
            finally:
                seen.append(tp.is_grad_enabled())

        with tp.set_grad_enabled(not enabled):
            generator = generate()
            next(generator)
            generator.close()
            assert tp.is_grad_enabled() is not enabled
        assert seen == [enabled]

    @beyond_torch
    @every_mode
    def test_async_functions_and_generators(self, mode, enabled):
        seen = []

        @mode()
        async def task(number):
            seen.append((number, tp.is_grad_enabled()))
            await asyncio.sleep(0)
            seen.append((number, tp.is_grad_enabled()))
            return number

        @mode()
        async def numbers():
            for i in range(2):
                seen.append(("yields", tp.is_grad_enabled()))
                yield i

        async def other():
            for _ in range(3):
                seen.append(("other", tp.is_grad_enabled()))
                await asyncio.sleep(0)

        async def main():
            found = [i async for i in numbers()]
            return await asyncio.gather(task(1), other(), task(2)), found

        with tp.set_grad_enabled(not enabled):
            results, found = asyncio.run(main())
        assert results == [1, None, 2]
        assert found == [0, 1]
        assert all(mode_was is (name != "other") == enabled for name, mode_was in seen) or all(
            mode_was is (enabled if name != "other" else not enabled) for name, mode_was in seen
        )

    def test_without_parentheses(self):
        @tp.no_grad
        def f():
            return tp.is_grad_enabled()

        @tp.inference_mode
        def g():
            return tp.is_inference_mode_enabled()

        assert f() is False
        assert g() is True
        assert tp.is_grad_enabled()

    def test_recursion_and_errors(self):
        @tp.no_grad()
        def f(n):
            if n == 0:
                raise ValueError("mine")
            return f(n - 1)

        with pytest.raises(ValueError, match="mine"):
            f(5)
        assert tp.is_grad_enabled()

    def test_set_grad_enabled_as_a_function_and_as_a_decorator(self):
        tp.set_grad_enabled(False)
        try:
            assert not tp.is_grad_enabled()
        finally:
            tp.set_grad_enabled(True)

        @tp.set_grad_enabled(False)
        def f():
            return tp.is_grad_enabled()

        assert tp.is_grad_enabled()
        assert f() is False

    @beyond_torch
    def test_one_manager_used_twice_and_nested(self):
        mode = tp.no_grad()
        with mode:
            with mode:
                assert not tp.is_grad_enabled()
            assert not tp.is_grad_enabled()
        assert tp.is_grad_enabled()


class TestGradMode:
    def test_results_need_no_grad(self):
        x = leaf([1.0])
        with tp.no_grad():
            y = x * 2
            assert not y.requires_grad
            with tp.enable_grad():
                assert (x * 2).requires_grad
        assert not y.requires_grad

    def test_new_leaves_may_need_grad(self):
        with tp.no_grad():
            x = leaf([1.0])
            assert x.requires_grad

    def test_each_thread_has_its_own(self):
        seen = []
        with tp.no_grad():
            thread = threading.Thread(target=lambda: seen.append(tp.is_grad_enabled()))
            thread.start()
            thread.join()
        assert seen == [True]

        def turn_off():
            tp.set_grad_enabled(False)

        thread = threading.Thread(target=turn_off)
        thread.start()
        thread.join()
        assert tp.is_grad_enabled()


class TestInferenceMode:
    def test_tensors_made_inside(self):
        x = leaf([1.0])
        with tp.inference_mode():
            assert tp.is_inference_mode_enabled()
            assert not tp.is_grad_enabled()
            y = x * 2
            fresh = tp.ones(2)
        assert y.is_inference()
        assert fresh.is_inference()
        assert not y.requires_grad
        assert not x.is_inference()
        assert not tp.is_inference_mode_enabled()

    def test_they_may_be_used_but_not_saved(self):
        with tp.inference_mode():
            i = const([2.0])
        x = leaf([3.0])
        (x + i).sum().backward()
        close(x.grad, [1.0])
        assert not (i * 2).is_inference()
        with raises(RuntimeError, "inference", "clone"):
            x * i
        (x * i.clone()).sum().backward()
        close(x.grad, [3.0])

    def test_they_cannot_need_grad_outside(self):
        with tp.inference_mode():
            i = const([2.0])
            inside = leaf([1.0])
        assert inside.requires_grad
        with raises(RuntimeError, "inference"):
            i.requires_grad_()
        i.requires_grad_(False)

    def test_they_cannot_be_changed_in_place_outside(self):
        with tp.inference_mode():
            i = const([2.0, 3.0])
            i.mul_(2)
        for change in (
            lambda: i.mul_(2),
            lambda: i.__setitem__(0, 5.0),
            lambda: i[0:1].add_(1),
            lambda: i.zero_(),
            lambda: i.copy_(const([1.0, 1.0])),
            lambda: tp.mul(const([1.0, 1.0]), 2, out=i),
            lambda: i.normal_(),
        ):
            with raises(RuntimeError, "inference"):
                change()
        if not ON_TORCH:  # where the last of them has changed it before the error
            close(i, [4.0, 6.0])
        close(i.clone().mul_(2), 2 * i)

    def test_views(self):
        with tp.inference_mode():
            i = const([2.0, 3.0])
        assert i[0:1].is_inference()
        x = const([1.0, 2.0])
        with tp.inference_mode():
            v = x[0:1]
        assert not v.is_inference()

    def test_ordinary_tensors_may_be_changed_inside(self):
        x = leaf([1.0]) * 1
        y = x * x
        with tp.inference_mode():
            x.mul_(3)
        assert not x.is_inference()
        assert x._version == 1
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_grad_mode_inside(self):
        x = leaf([1.0])
        with tp.inference_mode():
            with tp.enable_grad():
                assert not (x * 2).requires_grad
            with tp.inference_mode(False):
                assert not tp.is_inference_mode_enabled()
                y = x * 2
                assert y.requires_grad
                assert not y.is_inference()
            assert tp.is_inference_mode_enabled()
        assert tp.is_grad_enabled()

    def test_off_switches_grad_mode_on(self):
        with tp.no_grad(), tp.inference_mode(False):
            assert tp.is_grad_enabled()

    def test_detach_of_an_ordinary_tensor_is_ordinary(self):
        x = leaf([1.0])
        with tp.inference_mode():
            d = x.detach()
        assert not d.is_inference()

    @beyond_torch
    def test_a_custom_function_cannot_save_one(self):
        class Scale(tp.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(y)
                return x * y

            @staticmethod
            def backward(ctx, g):
                return g * ctx.saved_tensors[0], None

        with tp.inference_mode():
            i = const([2.0])
        with raises(RuntimeError, "inference"):
            Scale.apply(leaf([1.0]), i)


class TestMultithreading:
    def test_as_context_function_and_decorator(self):
        @set_multithreading_enabled(False)
        def f(x):
            (x * x).sum().backward()
            return x.grad

        with set_multithreading_enabled(False):
            x = leaf(np.ones(3))
            (x * 2).sum().backward()
        close(x.grad, np.full(3, 2.0))
        close(f(leaf(np.ones(3))), np.full(3, 2.0))
        set_multithreading_enabled(True)

    @beyond_torch
    def test_it_remembers(self):
        from tensorplay.autograd.grad_mode import is_multithreading_enabled  # noqa: PLC0415

        with set_multithreading_enabled(False):
            assert not is_multithreading_enabled()
        assert is_multithreading_enabled()
        assert not ON_TORCH
