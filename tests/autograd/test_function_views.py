"""Custom functions that return inputs or views, or change inputs in place: tracked or refused."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function

from .support import ON_TORCH, beyond_torch, close, const, leaf, raises


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 10


class FirstRow(Function):
    """Returns a view, with a backward that is not the view's."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = tuple(x.shape)
        return x[0]

    @staticmethod
    def backward(ctx, g):
        out = tp.zeros(ctx.shape, dtype=g.dtype)
        out[0] = 10 * g
        return out


class TestReturningInputsAndViews:
    def test_an_input_as_it_is(self):
        x = leaf([1.0])
        y = Same.apply(x)
        assert y is not x
        assert y.grad_fn.name() == "SameBackward"
        y.sum().backward()
        close(x.grad, [10.0])
        assert x.is_leaf

    def test_an_input_that_is_no_leaf_keeps_its_own_history(self):
        x = leaf([1.0])
        z = x * 3
        y = Same.apply(z)
        z.sum().backward(retain_graph=True)
        close(x.grad, [3.0])
        y.sum().backward()
        close(x.grad, [33.0])

    def test_the_returned_input_shares_memory_and_cannot_be_changed_in_place(self):
        x = leaf([1.0]).clone()
        y = Same.apply(x)
        with tp.no_grad():
            assert y.data_ptr() == x.data_ptr()
        with raises(RuntimeError, "Same", "clone"):
            y.mul_(2)
        close(x, [1.0])

    def test_using_it_after_its_input_was_changed_is_refused(self):
        x = leaf([1.0]).clone()
        y = Same.apply(x)
        x.mul_(2)
        with raises(RuntimeError, "Same"):
            (y * 1).sum().backward()

    def test_a_view_of_an_input_keeps_the_functions_backward(self):
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        y = FirstRow.apply(x)
        assert y.grad_fn.name() == "FirstRowBackward"
        y.sum().backward()
        close(x.grad, [[10.0, 10.0], [0.0, 0.0]])

    def test_a_view_of_an_input_cannot_be_changed_in_place(self):
        x = leaf([[1.0, 2.0], [3.0, 4.0]]).clone()
        y = FirstRow.apply(x)
        with raises(RuntimeError, "FirstRow"):
            y.mul_(2)
        with raises(RuntimeError, "FirstRow"):
            y[0].mul_(2)
        x.add_(1)
        with raises(RuntimeError, "FirstRow"):
            y.grad_fn  # noqa: B018

    def test_without_grad_such_a_view_is_an_ordinary_one(self):
        x = const([[1.0, 2.0], [3.0, 4.0]])
        y = FirstRow.apply(x)
        y.mul_(2)
        close(x, [[2.0, 4.0], [3.0, 4.0]])

    def test_one_tensor_returned_twice(self):
        class Twice(Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                return y, y

            @staticmethod
            def backward(ctx, g, h):
                return 2 * (g + h)

        x = leaf([1.0])
        a, b = Twice.apply(x)
        (a + 3 * b).sum().backward()
        close(x.grad, [8.0])

    def test_results_that_are_no_tensors_are_passed_on(self):
        class Mixed(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2, 5, None, "text"

            @staticmethod
            def backward(ctx, *gs):
                assert gs[1:] == (None, None, None)
                return gs[0] * 2

        x = leaf([1.0])
        out = Mixed.apply(x)
        assert out[1:] == (5, None, "text")
        out[0].sum().backward()
        close(x.grad, [2.0])

    def test_a_named_tuple_comes_back_as_a_tuple(self):
        class Max(Function):
            @staticmethod
            def forward(ctx, x):
                return x.max(0)

            @staticmethod
            def backward(ctx, g, _):
                return g * tp.ones(2, dtype=tp.float64)

        values, indices = Max.apply(leaf([1.0, 2.0]))
        assert values.requires_grad
        assert not indices.requires_grad

    @beyond_torch
    def test_a_tensor_from_elsewhere_is_left_alone(self):
        weight = leaf([1.0])

        class Constant(Function):
            @staticmethod
            def forward(ctx, x):
                return weight

            @staticmethod
            def backward(ctx, g):
                return g * 5

        x = leaf([1.0])
        y = Constant.apply(x)
        assert weight.is_leaf
        y.sum().backward()
        close(x.grad, [5.0])
        assert weight.grad is None


class Doubled(Function):
    """Changes its input in place, and says so."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


class TestChangingInputs:
    def test_the_input_becomes_the_output(self):
        w = leaf([1.0])
        x = w.clone()
        y = Doubled.apply(x)
        assert y is x
        assert x.grad_fn.name() == "DoubledBackward"
        x.sum().backward()
        close(w.grad, [2.0])
        close(x, [2.0])

    def test_a_leaf_is_refused_before_it_is_changed(self):
        x = leaf([1.0])
        with raises(RuntimeError, "leaf"):
            Doubled.apply(x)
        if not ON_TORCH:
            close(x, [1.0])

    def test_a_view_of_a_leaf_is_refused(self):
        x = leaf([[1.0], [2.0]])
        with raises(RuntimeError, "leaf"):
            Doubled.apply(x[0])

    def test_a_view_passes_the_change_on_to_its_base(self):
        w = leaf([[1.0], [2.0]])
        x = w.clone()
        v = x[0]
        y = Doubled.apply(v)
        assert y is v
        (x * const([[1.0], [10.0]])).sum().backward()
        close(w.grad, [[2.0], [10.0]])
        close(x, [[2.0], [2.0]])

    def test_a_tensor_that_needed_no_grad(self):
        class AddInto(Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.mark_dirty(x)
                x.add_(y)
                return x

            @staticmethod
            def backward(ctx, g):
                return g, g * 1

        x, y = const([1.0]), leaf([2.0])
        out = AddInto.apply(x, y)
        assert out is x
        assert x.requires_grad
        x.sum().backward()
        close(y.grad, [1.0])

    def test_the_version_counts_the_change(self):
        x = leaf([1.0]).clone()
        y = x * x
        Doubled.apply(x)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_marked_but_not_returned(self):
        class Lost(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.mul_(2)
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                return g

        with raises(RuntimeError, "Lost", "dirty"):
            Lost.apply(leaf([1.0]).clone())

    def test_marking_something_else_warns(self):
        class Odd(Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.mark_dirty(y)
                return y

            @staticmethod
            def backward(ctx, g):
                return g * 2

        with pytest.warns(UserWarning, match="mark_dirty"):
            Odd.apply(leaf([1.0]).clone())

    @beyond_torch
    def test_an_unannounced_change_is_refused(self):
        class Silent(Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(2)
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return g

        with raises(RuntimeError, "Silent", "mark_dirty"):
            Silent.apply(leaf([1.0]).clone())

    def test_buffers_that_need_no_grad_may_be_updated(self):
        class Running(Function):
            @staticmethod
            def forward(ctx, x, mean):
                mean.mul_(0.5).add_(x)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2, None

        x, mean = leaf([1.0]), const([2.0])
        Running.apply(x, mean).sum().backward()
        close(x.grad, [2.0])
        close(mean, [2.0])
        assert not mean.requires_grad

    def test_a_saved_changed_input_is_the_new_value(self):
        class ExpInto(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.exp_()
                ctx.save_for_backward(x)
                return x

            @staticmethod
            def backward(ctx, g):
                (y,) = ctx.saved_tensors
                return g * y

        w = leaf([1.0])
        x = ExpInto.apply(w.clone())
        (g,) = tp.autograd.grad(x.sum(), w, create_graph=True)
        close(g, [np.e])
        (h,) = tp.autograd.grad(g.sum(), w)
        close(h, [np.e])
