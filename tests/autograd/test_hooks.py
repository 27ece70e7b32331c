"""Hooks on tensors: order, replacement, removal, leaves and tensors changed in place."""

import numpy as np
import pytest

import tensorplay as tp

from .support import beyond_torch, close, const, leaf, no_collector, raises, watch


class TestRegisterHook:
    def test_it_sees_the_gradient(self):
        seen = []
        x = leaf([1.0, 2.0])
        y = x * 3
        y.register_hook(lambda g: seen.append(g.tolist()))
        x.register_hook(lambda g: seen.append(g.tolist()))
        (y * y).sum().backward()
        assert seen == [[6.0, 12.0], [18.0, 36.0]]

    def test_it_may_replace_the_gradient(self):
        x = leaf([1.0])
        y = x * 2
        y.register_hook(lambda g: g * 10)
        x.register_hook(lambda g: g + 1)
        y.sum().backward()
        close(x.grad, [21.0])

    def test_hooks_run_in_order_and_each_sees_what_the_last_returned(self):
        seen = []
        x = leaf([1.0])
        y = x * 1
        y.register_hook(lambda g: g + 1)
        y.register_hook(lambda g: seen.append(float(g)))
        y.register_hook(lambda g: g * 2)
        y.register_hook(lambda g: seen.append(float(g)))
        y.sum().backward()
        assert seen == [2.0, 4.0]

    def test_it_runs_once_with_the_sum_of_all_contributions(self):
        seen = []
        x = leaf([1.0])
        y = x * 1
        y.register_hook(lambda g: seen.append(float(g)))
        (y * 2 + y * 3 + y.exp() * 0).sum().backward()
        assert seen == [5.0]

    def test_a_hook_may_remove_itself_or_others(self):
        seen = []
        x = leaf([1.0])
        y = x * 1
        handles = {}

        def first(g):
            seen.append("first")
            handles["first"].remove()
            handles["third"].remove()

        handles["first"] = y.register_hook(first)
        handles["second"] = y.register_hook(lambda g: seen.append("second"))
        handles["third"] = y.register_hook(lambda g: seen.append("third"))
        y.sum().backward(retain_graph=True)
        first_pass = list(seen)
        y.sum().backward()
        assert first_pass[:2] == ["first", "second"]
        assert seen[len(first_pass) :] == ["second"]

    def test_the_handle_is_a_context_manager(self):
        seen = []
        x = leaf([1.0])
        with x.register_hook(lambda g: seen.append(1)):
            (x * 1).sum().backward()
        (x * 1).sum().backward()
        assert seen == [1]

    @pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
    def test_hooks_run_without_grad_mode_unless_a_graph_is_made(self):
        seen = []
        x = leaf([1.0])
        x.register_hook(lambda g: seen.append(tp.is_grad_enabled()))
        (x * x).sum().backward()
        (x * x).sum().backward(create_graph=True)
        x.grad = None
        assert seen == [False, True]

    def test_a_hook_is_differentiated_too(self):
        x = leaf([3.0])
        y = x * x
        y.register_hook(lambda g: g * x)
        (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        close(g, [18.0])
        (h,) = tp.autograd.grad(g.sum(), x)
        close(h, [12.0])

    @beyond_torch  # which captures y's gradient before its hook when x is asked for as well
    def test_it_runs_under_grad_for_the_asked_inputs(self):
        x = leaf([1.0])
        y = x * 2
        y.register_hook(lambda g: g * 10)
        x.register_hook(lambda g: g + 1)
        gx, gy = tp.autograd.grad(y.sum(), (x, y))
        close(gy, [10.0])
        close(gx, [21.0])

    def test_a_tensor_without_grad_is_refused(self):
        with raises(RuntimeError, "register_hook"):
            const([1.0]).register_hook(print)

    @pytest.mark.parametrize(
        ("result", "kind"),
        [
            (lambda g: 3, (TypeError, RuntimeError)),
            (lambda g: g.reshape(1, 1), RuntimeError),
            (lambda g: g.float(), RuntimeError),
        ],
    )
    def test_wrong_results(self, result, kind):
        x = leaf([1.0])
        y = x * 2
        y.register_hook(result)
        with raises(kind, "register_hook"):
            y.sum().backward()

    def test_a_hook_on_an_output_of_several(self):
        seen = []
        x = leaf([1.0, 2.0])
        a, b = x.unbind(0)
        b.register_hook(lambda g: seen.append(float(g)))
        (a * 2 + b * 3).backward()
        assert seen == [3.0]
        close(x.grad, [2.0, 3.0])

    @beyond_torch
    def test_an_output_that_gets_no_gradient_calls_no_hook(self):
        seen = []
        x = leaf([1.0, 2.0])
        a, b = x.unbind(0)
        b.register_hook(lambda g: seen.append(1))
        (a * 2).backward()
        assert seen == []

    def test_an_error_in_a_hook_leaves_the_graph_usable(self):
        x = leaf([1.0])
        y = x * 2

        def fail(g):
            raise ValueError("mine")

        handle = y.register_hook(fail)
        with pytest.raises(ValueError, match="mine"):
            y.sum().backward(retain_graph=True)
        handle.remove()
        y.sum().backward()
        close(x.grad, [2.0])

    def test_a_backward_inside_a_hook(self):
        x, other = leaf([1.0]), leaf([5.0])
        y = x * 2

        def hook(g):
            with tp.enable_grad():
                (other * other).sum().backward()
            return g * other.grad

        y.register_hook(hook)
        y.sum().backward()
        close(x.grad, [20.0])

    def test_a_backward_through_the_same_graph_inside_a_hook(self):
        seen = []
        x = leaf([2.0])
        y = x * x
        z = y * 3

        def hook(g):
            if not seen:
                seen.append(None)
                one = tp.ones(1, dtype=tp.float64)
                seen[0] = tp.autograd.grad(y, x, one, retain_graph=True)[0]

        y.register_hook(hook)
        z.sum().backward()
        close(seen[0], [4.0])
        close(x.grad, [12.0])


class TestLeaves:
    def test_hooks_on_a_leaf_stay_for_later_graphs(self):
        seen = []
        x = leaf([1.0])
        x.register_hook(lambda g: seen.append(float(g)))
        (x * 2).sum().backward()
        (x * 3).sum().backward()
        assert seen == [2.0, 3.0]

    def test_registered_after_the_graph_was_made(self):
        x = leaf([1.0])
        y = x * 2
        x.register_hook(lambda g: g * 10)
        y.sum().backward()
        close(x.grad, [20.0])

    def test_post_accumulate(self):
        seen = []
        x = leaf([1.0])

        def hook(p):
            assert p is x
            seen.append(float(p.grad))
            p.grad = None

        handle = x.register_post_accumulate_grad_hook(hook)
        (x * 2).sum().backward()
        assert x.grad is None
        (x * 3).sum().backward()
        assert seen == [2.0, 3.0]
        handle.remove()
        (x * 4).sum().backward()
        close(x.grad, [4.0])

    def test_post_accumulate_is_for_leaves(self):
        with raises(RuntimeError, "leaf"):
            (leaf([1.0]) * 2).register_post_accumulate_grad_hook(print)
        with raises(RuntimeError, "require"):
            const([1.0]).register_post_accumulate_grad_hook(print)

    def test_grad_accumulates_nothing_and_calls_no_such_hook(self):
        seen = []
        x = leaf([1.0])
        x.register_post_accumulate_grad_hook(lambda p: seen.append(1))
        tp.autograd.grad((x * 2).sum(), x)
        assert seen == []
        assert x.grad is None

    def test_an_optimizer_inside_the_backward(self):
        parameters = [leaf([1.0]), leaf([2.0])]

        def step(p):
            with tp.no_grad():
                p.sub_(p.grad, alpha=0.1)
            p.grad = None

        for p in parameters:
            p.register_post_accumulate_grad_hook(step)
        (parameters[0] * 3 + parameters[1] * 5).sum().backward()
        close(parameters[0], [0.7])
        close(parameters[1], [1.5])


class TestChangedInPlace:
    def test_a_hook_stays_with_the_value_it_was_registered_on(self):
        seen = []
        x = leaf([1.0])
        y = x * 2
        y.register_hook(lambda g: seen.append(("before", float(g))))
        y.mul_(3)
        y.register_hook(lambda g: seen.append(("after", float(g))))
        y.sum().backward()
        assert seen == [("after", 1.0), ("before", 3.0)]

    def test_through_a_view(self):
        seen = []
        x = leaf([1.0, 2.0])
        y = x * 2
        y.register_hook(lambda g: seen.append(("before", g.tolist())))
        y[0].mul_(3)
        y.register_hook(lambda g: seen.append(("after", g.tolist())))
        y.sum().backward()
        assert seen == [("after", [1.0, 1.0]), ("before", [3.0, 1.0])]

    def test_a_hook_on_a_view_that_is_then_changed(self):
        seen = []
        x = leaf([1.0, 2.0])
        y = x * 2
        v = y[0]
        v.register_hook(lambda g: seen.append(("old view", float(g))))
        v.mul_(3)
        v.register_hook(lambda g: seen.append(("new view", float(g))))
        (v * 5).backward()
        assert ("new view", 5.0) in seen
        close(x.grad, [30.0, 0.0])


class TestRetainGrad:
    def test_of_a_non_leaf(self):
        x = leaf([1.0])
        y = x * 2
        assert not y.retains_grad
        y.retain_grad()
        y.retain_grad()
        assert y.retains_grad
        (y * 3).sum().backward()
        close(y.grad, [3.0])

    def test_of_a_leaf_changes_nothing(self):
        x = leaf([1.0])
        x.retain_grad()
        assert not x.retains_grad
        (x * 3).sum().backward()
        close(x.grad, [3.0])

    def test_without_grad_it_is_refused(self):
        with raises(RuntimeError, "retain_grad"):
            const([1.0]).retain_grad()

    def test_it_accumulates(self):
        x = leaf([1.0])
        y = x * 2
        y.retain_grad()
        (y * 3).sum().backward(retain_graph=True)
        (y * 4).sum().backward()
        close(y.grad, [7.0])

    def test_it_keeps_the_gradient_after_the_hooks_whatever_the_order(self):
        x = leaf([1.0])
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: g * 10)
        y.sum().backward()
        close(y.grad, [10.0])

    def test_it_follows_a_tensor_that_is_changed_in_place(self):
        x = leaf([1.0])
        y = x * 2
        y.retain_grad()
        y.mul_(3)
        (y * 5).sum().backward()
        close(y.grad, [5.0])
        close(x.grad, [30.0])

    def test_the_gradient_is_not_shared_with_anything(self):
        x = leaf([1.0])
        y = x * 1
        y.retain_grad()
        y.sum().backward()
        y.grad.mul_(100)
        close(x.grad, [1.0])

    def test_reading_grad_of_another_non_leaf_warns(self):
        y = leaf([1.0]) * 2
        with pytest.warns(UserWarning, match="not a leaf"):
            assert y.grad is None

    def test_several_outputs(self):
        x = leaf([1.0, 2.0])
        a, b = x.unbind(0)
        a.retain_grad()
        b.retain_grad()
        (a * 2).backward()
        close(a.grad, 2.0)
        assert b.grad is None


class TestLifetime:
    def test_a_hook_lives_as_long_as_the_graph(self):
        class Hook:
            def __call__(self, g):
                return g * 10

        with no_collector():
            x = leaf([1.0])
            y = x * 2
            hook = Hook()
            y.register_hook(hook)
            (reference,) = watch(hook)
            del hook
            z = y * 1
            del y  # the graph keeps the hook
            z.sum().backward()
            close(x.grad, [20.0])
            del z
            assert reference() is None

    def test_a_handle_keeps_nothing_alive(self):
        with no_collector():
            x = leaf([1.0])
            y = x * 2
            handle = y.register_hook(lambda g: None)
            references = watch(y)
            del y
            assert references[0]() is None
            handle.remove()

    @beyond_torch
    def test_a_graph_made_inside_a_hook_is_freed(self):
        with no_collector():
            kept = []
            x = leaf(np.ones(3))
            y = x * 2

            def hook(g):
                with tp.enable_grad():
                    z = (x * 3).exp()
                    kept.extend(watch(z))
                    return g * z

            y.register_hook(hook)
            y.sum().backward()
            del y
            assert kept[0]() is None
