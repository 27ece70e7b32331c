"""`no_grad`, `enable_grad` and `set_grad_enabled`: as context managers and as decorators."""

import threading

import pytest

import tensorplay as tp

from .support import assert_close, leaf, raises


@pytest.fixture(autouse=True)
def _each_test_starts_and_ends_with_grad_enabled():
    assert tp.is_grad_enabled()
    yield
    left_as_found = tp.is_grad_enabled()
    tp.set_grad_enabled(True)
    assert left_as_found


class TestNoGrad:
    def test_results_require_no_grad(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            y = x * 2
        assert not y.requires_grad
        assert y.grad_fn is None
        assert y.is_leaf

    def test_values_are_the_same(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            assert_close(x * 2, [2.0, 4.0])

    def test_the_mode_is_restored(self):
        with tp.no_grad():
            assert not tp.is_grad_enabled()
        assert tp.is_grad_enabled()

    def test_the_mode_is_restored_after_an_exception(self):
        with pytest.raises(ZeroDivisionError):
            with tp.no_grad():
                raise ZeroDivisionError
        assert tp.is_grad_enabled()

    def test_leaves_made_inside_may_require_grad(self):
        with tp.no_grad():
            x = leaf([1.0, 2.0])
            y = tp.zeros(2).requires_grad_()
        assert x.requires_grad
        assert y.requires_grad

    def test_a_leaf_can_be_updated_in_place_inside(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            x.sub_(1.0)
            x[0] = 5.0
            x *= 2
        assert x.requires_grad
        assert x.is_leaf
        assert_close(x, [10.0, 2.0])

    def test_a_leaf_cannot_be_updated_in_place_outside(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "sub_"):
            x.sub_(1.0)

    def test_a_graph_recorded_before_still_runs(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        with tp.no_grad():
            z = y * 2
            y.backward()
        assert not z.requires_grad
        assert_close(x.grad, [2.0, 4.0])

    def test_it_cuts_the_graph_only_where_it_stands(self):
        x = leaf(3.0)
        with tp.no_grad():
            factor = x * x
        (factor * x).backward()
        assert_close(x.grad, 9.0)

    def test_one_object_can_be_entered_again_later(self):
        mode = tp.no_grad()
        for _ in range(2):
            with mode:
                assert not tp.is_grad_enabled()
            assert tp.is_grad_enabled()


class TestEnableGrad:
    def test_it_records_inside_no_grad(self):
        x = leaf(3.0)
        with tp.no_grad():
            with tp.enable_grad():
                y = x * x
            assert not tp.is_grad_enabled()
        y.backward()
        assert_close(x.grad, 6.0)

    def test_it_changes_nothing_where_grad_is_enabled(self):
        with tp.enable_grad():
            assert tp.is_grad_enabled()
        assert tp.is_grad_enabled()


class TestSetGradEnabled:
    def test_as_a_function_it_acts_at_once(self):
        tp.set_grad_enabled(False)
        assert not tp.is_grad_enabled()
        tp.set_grad_enabled(True)
        assert tp.is_grad_enabled()

    @pytest.mark.parametrize("mode", [True, False])
    def test_as_a_context_manager_it_restores_the_mode(self, mode):
        x = leaf([1.0, 2.0])
        with tp.set_grad_enabled(mode):
            assert tp.is_grad_enabled() is mode
            assert (x * 2).requires_grad is mode
        assert tp.is_grad_enabled()

    def test_it_nests(self):
        with tp.set_grad_enabled(False):
            with tp.set_grad_enabled(True):
                assert tp.is_grad_enabled()
            assert not tp.is_grad_enabled()

    def test_the_mode_is_restored_after_an_exception(self):
        with pytest.raises(ZeroDivisionError):
            with tp.set_grad_enabled(False):
                raise ZeroDivisionError
        assert tp.is_grad_enabled()

    def test_as_a_decorator_it_acts_on_the_calls_only(self):
        @tp.set_grad_enabled(False)
        def mode():
            return tp.is_grad_enabled()

        assert tp.is_grad_enabled()
        assert mode() is False
        assert tp.is_grad_enabled()


class TestNesting:
    def test_each_level_restores_the_one_around_it(self):
        seen = []
        with tp.no_grad():
            seen.append(tp.is_grad_enabled())
            with tp.enable_grad():
                seen.append(tp.is_grad_enabled())
                with tp.no_grad():
                    seen.append(tp.is_grad_enabled())
                seen.append(tp.is_grad_enabled())
            seen.append(tp.is_grad_enabled())
        assert seen == [False, True, False, True, False]


class TestDecorators:
    @pytest.mark.parametrize("decorator", [tp.no_grad, tp.no_grad()])
    def test_with_and_without_parentheses(self, decorator):
        @decorator
        def double(x):
            return x * 2

        assert not double(leaf([1.0])).requires_grad
        assert tp.is_grad_enabled()

    @pytest.mark.parametrize("decorator", [tp.enable_grad, tp.enable_grad()])
    def test_enable_grad_decorates_too(self, decorator):
        @decorator
        def double(x):
            return x * 2

        with tp.no_grad():
            assert double(leaf([1.0])).requires_grad
            assert not tp.is_grad_enabled()

    def test_arguments_and_result_pass_through(self):
        @tp.no_grad()
        def collect(first, *rest, named=None, **others):
            return first, rest, named, others

        assert collect(1, 2, 3, named=4, other=5) == (1, (2, 3), 4, {"other": 5})

    def test_name_and_docstring_are_kept(self):
        @tp.no_grad()
        def documented():
            """What it does."""

        assert documented.__name__ == "documented"
        assert documented.__doc__ == "What it does."

    def test_the_mode_is_restored_after_an_exception(self):
        @tp.no_grad()
        def fail():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert tp.is_grad_enabled()

    def test_a_recursive_function(self):
        @tp.no_grad()
        def count(n):
            assert not tp.is_grad_enabled()
            return 0 if n == 0 else 1 + count(n - 1)

        assert count(5) == 5
        assert tp.is_grad_enabled()

    def test_a_method(self):
        class Model:
            scale = 3

            @tp.no_grad()
            def predict(self, x):
                return x * self.scale

        y = Model().predict(leaf([1.0]))
        assert not y.requires_grad
        assert_close(y, [3.0])


class TestDecoratedGenerators:
    def test_the_body_runs_in_the_mode_and_the_caller_does_not(self):
        @tp.no_grad()
        def generate():
            for _ in range(3):
                yield tp.is_grad_enabled()

        for inside in generate():
            assert inside is False
            assert tp.is_grad_enabled()

    def test_a_caller_that_changes_the_mode_keeps_its_own(self):
        @tp.enable_grad()
        def generate():
            yield tp.is_grad_enabled()
            yield tp.is_grad_enabled()

        generator = generate()
        with tp.no_grad():
            assert next(generator) is True
            assert not tp.is_grad_enabled()
        assert next(generator) is True
        assert tp.is_grad_enabled()

    def test_sent_values_and_the_return_value_pass_through(self):
        @tp.no_grad()
        def echo():
            received = yield "ready"
            assert not tp.is_grad_enabled()
            received = yield received
            return received

        generator = echo()
        assert next(generator) == "ready"
        assert generator.send("a") == "a"
        with pytest.raises(StopIteration) as stop:
            generator.send("b")
        assert stop.value.value == "b"

    def test_thrown_exceptions_reach_the_body(self):
        @tp.no_grad()
        def forgiving():
            try:
                yield 1
            except ValueError:
                yield tp.is_grad_enabled()

        generator = forgiving()
        next(generator)
        assert generator.throw(ValueError) is False
        assert tp.is_grad_enabled()

    def test_an_exception_in_the_body_restores_the_mode(self):
        @tp.no_grad()
        def fail():
            yield 1
            raise ZeroDivisionError

        generator = fail()
        next(generator)
        with pytest.raises(ZeroDivisionError):
            next(generator)
        assert tp.is_grad_enabled()

    def test_closing_runs_the_cleanup_of_the_body(self):
        cleaned = []

        @tp.no_grad()
        def generate():
            try:
                yield 1
            finally:
                cleaned.append(tp.is_grad_enabled())

        generator = generate()
        next(generator)
        generator.close()
        assert cleaned == [False]
        assert tp.is_grad_enabled()


class TestThreads:
    def test_each_thread_has_a_mode_of_its_own(self):
        seen = []
        with tp.no_grad():
            thread = threading.Thread(target=lambda: seen.append(tp.is_grad_enabled()))
            thread.start()
            thread.join()
            assert not tp.is_grad_enabled()
        assert seen == [True]
