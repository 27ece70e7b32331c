"""Custom functions: both styles, the context, what may be returned, and what is refused."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function
from tensorplay.autograd.function import (
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)

from .support import beyond_torch, close, const, leaf, raises


class Cube(Function):
    """With `ctx` in forward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Exp(Function):
    """With `setup_context`, saving an output."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Scaled(Function):
    """A product with an argument that is no tensor."""

    @staticmethod
    def forward(ctx, x, y, factor=2.0, label=None):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        ctx.label = label
        return x * y * factor

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.factor, g * x * ctx.factor, None, None


class TestStyles:
    @pytest.mark.parametrize(("function", "slope"), [(Cube, 12.0), (Exp, np.exp(2.0))])
    def test_gradient(self, function, slope):
        x = leaf([2.0, 2.0])
        y = function.apply(x)
        assert y.requires_grad
        assert not y.is_leaf
        y.sum().backward()
        close(x.grad, [slope, slope])

    @pytest.mark.parametrize(("function", "second"), [(Cube, 12.0), (Exp, np.exp(2.0))])
    def test_double_backward(self, function, second):
        x = leaf([2.0])
        (g,) = tp.autograd.grad(function.apply(x).sum(), x, create_graph=True)
        (h,) = tp.autograd.grad(g.sum(), x)
        close(h, [second])

    def test_the_fourth_derivative(self):
        x = leaf(2.0)
        y = Exp.apply(x)
        for _ in range(4):
            (y,) = tp.autograd.grad(y, x, create_graph=True)
        close(y, np.exp(2.0))

    def test_vjp_is_another_name_of_backward(self):
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def vjp(ctx, g):
                return g * 2

        x = leaf([1.0])
        Double.apply(x).sum().backward()
        close(x.grad, [2.0])

    def test_both_names_at_once_are_refused(self):
        class Both(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g

            @staticmethod
            def vjp(ctx, g):
                return g

        y = Both.apply(leaf([1.0]))
        with raises(RuntimeError, "backward", "vjp"):
            y.sum().backward()

    def test_rules_are_inherited(self):
        class Again(Cube):
            pass

        x = leaf([2.0])
        y = Again.apply(x)
        y.sum().backward()
        close(x.grad, [12.0])
        assert y.grad_fn.name() == "AgainBackward"

    def test_no_backward(self):
        class Only(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        y = Only.apply(leaf([1.0]))
        with raises(NotImplementedError, "Only", "backward"):
            y.sum().backward()

    def test_no_forward(self):
        class Empty(Function):
            pass

        with raises(NotImplementedError, "forward"):
            Empty.apply(leaf([1.0]))

    def test_an_instance_warns_and_cannot_be_called(self):
        with pytest.warns(DeprecationWarning):
            made = Cube()
        with raises(RuntimeError, "apply"):
            made(leaf([1.0]))

    def test_inplace_function_is_a_base_class_too(self):
        class Negate(InplaceFunction):
            @staticmethod
            def forward(ctx, x):
                return -x

            @staticmethod
            def backward(ctx, g):
                return -g

        x = leaf([2.0])
        Negate.apply(x).sum().backward()
        close(x.grad, [-1.0])


class TestArguments:
    def test_arguments_that_are_no_tensors(self):
        x, y = leaf([2.0]), leaf([3.0])
        Scaled.apply(x, y, 5.0, "name").sum().backward()
        close(x.grad, [15.0])
        close(y.grad, [10.0])

    @pytest.mark.parametrize(
        "call",
        [
            lambda x, y: Scaled.apply(x, y=y, factor=5.0),
            lambda x, y: Scaled.apply(y=y, x=x, factor=5.0),
            lambda x, y: Scaled.apply(x, y, factor=5.0, label=None),
        ],
    )
    def test_keywords(self, call):
        x, y = leaf([2.0]), leaf([3.0])
        call(x, y).sum().backward()
        close(x.grad, [15.0])
        close(y.grad, [10.0])

    def test_keywords_and_defaults_reach_setup_context(self):
        seen = []

        class Power(Function):
            @staticmethod
            def forward(x, exponent=2, offset=0):
                return x**exponent + offset

            @staticmethod
            def setup_context(ctx, inputs, output):
                seen.append(inputs[1:])
                ctx.save_for_backward(inputs[0])
                ctx.exponent = inputs[1]

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * ctx.exponent * x ** (ctx.exponent - 1), None, None

        x = leaf([2.0])
        Power.apply(x, offset=1).sum().backward()
        Power.apply(x, exponent=3).sum().backward()
        close(x.grad, [4.0 + 12.0])
        assert seen == [(2, 1), (3, 0)]

    @beyond_torch
    def test_keyword_only_arguments_come_last(self):
        class Times(Function):
            @staticmethod
            def forward(x, *, factor):
                return x * factor

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, g):
                x, factor = ctx.saved_tensors
                return g * factor, (g * x).sum()

        x, factor = leaf([2.0]), leaf(3.0)
        Times.apply(x, factor=factor).sum().backward()
        close(x.grad, [3.0])
        close(factor.grad, 2.0)

    def test_a_missing_argument_is_a_type_error(self):
        with raises(TypeError):
            Scaled.apply(leaf([1.0]), factor=3.0)

    def test_needs_input_grad(self):
        seen = []

        class Look(Function):
            @staticmethod
            def forward(ctx, x, y, k):
                seen.append(ctx.needs_input_grad)
                return x + y

            @staticmethod
            def backward(ctx, g):
                seen.append(ctx.needs_input_grad)
                return g, None, None

        Look.apply(leaf([1.0]), const([1.0]), 3).sum().backward()
        assert seen == [(True, False, False)] * 2

    @beyond_torch
    def test_needs_input_grad_is_what_this_pass_wants(self):
        seen = []

        class Look(Function):
            @staticmethod
            def forward(ctx, x, y):
                return x + y

            @staticmethod
            def backward(ctx, g):
                seen.append(ctx.needs_input_grad)
                return g, g

        x, y = leaf([1.0]), leaf([1.0])
        tp.autograd.grad(Look.apply(x, y).sum(), y)
        assert seen == [(False, True)]

    def test_the_forward_gets_the_tensors_themselves_and_records_nothing(self):
        seen = []

        class Look(Function):
            @staticmethod
            def forward(ctx, x):
                seen.append(x)
                assert not tp.is_grad_enabled()
                assert not (x * 2).requires_grad
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = leaf([1.0])
        Look.apply(x)
        assert seen[0] is x

    def test_without_grad_mode_nothing_is_recorded(self):
        with tp.no_grad():
            y = Cube.apply(leaf([2.0]))
        assert not y.requires_grad
        assert not Cube.apply(const([2.0])).requires_grad

    @beyond_torch
    def test_tensors_in_containers_are_tracked(self):
        class Combine(Function):
            @staticmethod
            def forward(ctx, parts, weights):
                ctx.save_for_backward(*parts, weights["a"])
                return (parts[0] + parts[1]) * weights["a"]

            @staticmethod
            def backward(ctx, g):
                x, y, w = ctx.saved_tensors
                return [g * w, g * w], {"a": g * (x + y)}

        x, y, w = leaf([1.0]), leaf([2.0]), leaf([3.0])
        Combine.apply([x, y], {"a": w}).sum().backward()
        close(x.grad, [3.0])
        close(y.grad, [3.0])
        close(w.grad, [3.0])

    @beyond_torch
    def test_results_in_containers_are_tracked(self):
        class Powers(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return {"one": x * 1, "rest": [x**2, x**3]}

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g["one"] + g["rest"][0] * 2 * x + g["rest"][1] * 3 * x**2

        x = leaf([2.0])
        out = Powers.apply(x)
        (out["one"] + 10 * out["rest"][1]).sum().backward()
        close(x.grad, [121.0])

    @beyond_torch
    def test_nested_function_of_the_older_spelling(self):
        class Pair(NestedIOFunction):
            @staticmethod
            def forward_extended(ctx, pair):
                return pair[0] * 2, [pair[1] * 3]

            @staticmethod
            def backward_extended(ctx, g, rest):
                return ((g * 2, rest[0] * 3),)

        x, y = leaf([1.0]), leaf([1.0])
        a, (b,) = Pair.apply((x, y))
        (a + b).sum().backward()
        close(x.grad, [2.0])
        close(y.grad, [3.0])


class TestContext:
    def test_only_tensors_and_none_are_saved(self):
        class Bad(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, 3)
                return x * 2

        with raises(TypeError, "save_for_backward", "int"):
            Bad.apply(leaf([1.0]))

    def test_none_may_be_saved(self):
        class WithNone(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(None, x)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                nothing, x = ctx.saved_tensors
                assert nothing is None
                return g * x

        x = leaf([5.0])
        WithNone.apply(x).sum().backward()
        close(x.grad, [5.0])

    def test_saved_tensors_stand_where_they_stood(self):
        class Look(Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                assert x is given
                assert y.requires_grad
                assert y.grad_fn is out.grad_fn
                return g

        given = leaf([1.0])
        out = Look.apply(given)
        out.sum().backward()

    def test_a_saved_tensor_changed_in_place_is_an_error(self):
        x = leaf([1.0])
        y = x.clone()
        z = Cube.apply(y)
        y.mul_(2)
        with raises(RuntimeError, "in-place", "version 1", "version 0"):
            z.sum().backward()

    def test_a_saved_output_changed_in_place_is_an_error(self):
        y = Exp.apply(leaf([1.0]))
        y.mul_(2)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_the_second_pass_needs_retain_graph(self):
        x = leaf([2.0])
        y = Cube.apply(x)
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        with raises(RuntimeError, "retain_graph"):
            y.sum().backward()
        close(x.grad, [24.0])

    def test_without_saved_tensors_a_second_pass_is_fine(self):
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = leaf([1.0])
        y = Double.apply(x)
        y.backward(const([1.0]))
        y.backward(const([1.0]))
        close(x.grad, [4.0])

    def test_missing_cotangents_are_zeros(self):
        seen = []

        class Two(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2, x.new_zeros(2, 3)

            @staticmethod
            def backward(ctx, g, h):
                seen.append((g, h))
                return g * 2

        a, _ = Two.apply(leaf([1.0]))
        a.sum().backward()
        close(seen[0][1], np.zeros((2, 3)))

    def test_missing_cotangents_may_be_none(self):
        seen = []

        class Two(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(False)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, g, h):
                seen.append(h)
                return g * 2

        a, _ = Two.apply(leaf([1.0]))
        a.sum().backward()
        assert seen == [None]

    def test_a_cotangent_that_never_came_still_runs_the_backward(self):
        seen = []

        class Stop(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return None

        class Up(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                seen.append(g)
                return g

        Stop.apply(Up.apply(leaf([1.0, 2.0]))).sum().backward()
        close(seen[0], [0.0, 0.0])

    def test_marked_outputs_have_no_gradient(self):
        seen = []

        class Sort(Function):
            @staticmethod
            def forward(ctx, x):
                rounded = x.round()
                ctx.mark_non_differentiable(rounded)
                return x * 2, rounded, x.long()

            @staticmethod
            def backward(ctx, g, h, k):
                seen.append((h, k))
                return g * 2

        x = leaf([1.4])
        a, b, c = Sort.apply(x)
        assert a.requires_grad
        assert not b.requires_grad
        assert not c.requires_grad
        a.sum().backward()
        close(x.grad, [2.0])
        close(seen[0][0], [0.0])
        assert seen[0][1].dtype == tp.int64

    def test_attributes_are_shared_between_the_rules_and_the_node(self):
        y = Scaled.apply(leaf([1.0]), const([1.0]), 7.0, "here")
        assert y.grad_fn.factor == 7.0
        assert y.grad_fn.label == "here"
        assert y.grad_fn.needs_input_grad == (True, False, False, False)
        close(y.grad_fn.saved_tensors[0], [1.0])

    def test_attributes_may_have_any_name(self):
        class Busy(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.name = ctx.label = ctx.run = ctx.context = ctx.outputs = "taken"
                ctx.metas = ctx.inputs = ctx.shape = "taken"
                return x * 2

            @staticmethod
            def backward(ctx, g):
                assert ctx.name == ctx.run == ctx.shape == "taken"
                return g * 2

        x = leaf([1.0])
        Busy.apply(x).sum().backward()
        close(x.grad, [2.0])

    def test_saved_tensors_go_through_hooks(self):
        seen = []

        def pack(x):
            seen.append(("pack", tp.is_grad_enabled()))
            return x.detach().numpy().copy() * 10

        def unpack(data):
            seen.append("unpack")
            return tp.from_numpy(data) / 10

        x = leaf([2.0])
        with tp.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = Cube.apply(x)
        (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        close(g, [12.0])
        (h,) = tp.autograd.grad(g.sum(), x)
        close(h, [12.0])
        assert seen == [("pack", False), "unpack"]


class TestNode:
    def test_name_and_edges(self):
        x = leaf([1.0])
        z = x.exp()
        node = Scaled.apply(z, x).grad_fn
        assert node.name() == "ScaledBackward"
        assert type(node).__name__ == "ScaledBackward"
        assert node.next_functions[0] == (z.grad_fn, 0)
        assert type(node.next_functions[1][0]).__name__ == "AccumulateGrad"
        assert node.metadata == {}
        assert isinstance(node, tp.autograd.graph.Node)

    def test_hooks_on_the_node(self):
        seen = []
        x = leaf([2.0])
        y = Cube.apply(x)
        y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
        y.grad_fn.register_hook(lambda gi, go: seen.append((float(gi[0]), float(go[0]))))
        y.sum().backward()
        close(x.grad, [120.0])
        assert seen == [(120.0, 10.0)]


class TestWrongGradients:
    @pytest.mark.parametrize(
        ("gradients", "kind", "words"),
        [
            ((), RuntimeError, ("expected 2", "got 0")),
            ((1.0,), RuntimeError, ("expected 2", "got 1")),
            ((None, None, 1.0), RuntimeError, ("expected 2", "got 3")),
            ((3, None), RuntimeError, ("int",)),
        ],
    )
    def test_number_and_type(self, gradients, kind, words):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x, k):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return tuple(g if each == 1.0 else each for each in gradients)

        y = Wrong.apply(leaf([1.0]), 3)
        with raises(kind, "Wrong", *words):
            y.sum().backward()

    def test_none_may_follow(self):
        class Longer(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2, None, None

        x = leaf([1.0])
        Longer.apply(x).sum().backward()
        close(x.grad, [2.0])

    def test_a_gradient_for_what_is_no_tensor(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x, k):
                return x * k

            @staticmethod
            def backward(ctx, g):
                return g, g

        y = Wrong.apply(leaf([1.0]), 3)
        with raises(RuntimeError, "Wrong", "position 1"):
            y.sum().backward()

    def returning(self, gradient):
        class Given(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return gradient

        x = leaf([1.0, 2.0, 3.0])
        Given.apply(x).sum().backward()
        return x.grad

    @pytest.mark.parametrize("shape", [(2,), (), (1,), (3, 2)])
    def test_shapes_that_do_not_fit(self, shape):
        with raises(RuntimeError, "Given", "[3]"):
            self.returning(tp.ones(shape, dtype=tp.float64))

    def test_a_larger_gradient_is_summed(self):
        close(self.returning(tp.ones(2, 3, dtype=tp.float64)), [2.0, 2.0, 2.0])

    def test_another_dtype_is_converted(self):
        assert self.returning(tp.ones(3, dtype=tp.float32)).dtype == tp.float64
        assert self.returning(tp.ones(3, dtype=tp.int64)).dtype == tp.float64

    def test_a_complex_gradient_of_a_real_input(self):
        with raises(RuntimeError, "complex"):
            self.returning(tp.ones(3, dtype=tp.complex128))


class TestOnceDifferentiable:
    def make(self):
        class Sin(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return tp.from_numpy(np.sin(x.detach().numpy()))

            @staticmethod
            @once_differentiable
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                assert not tp.is_grad_enabled()
                return g * tp.from_numpy(np.cos(x.detach().numpy()))

        return Sin

    def test_the_first_derivative(self):
        x = leaf([0.5])
        self.make().apply(x).sum().backward()
        close(x.grad, [np.cos(0.5)])

    def test_the_second_is_refused(self):
        x = leaf([0.5])
        scale = leaf([1.0])
        (g,) = tp.autograd.grad((self.make().apply(x) * scale).sum(), x, create_graph=True)
        with raises(RuntimeError, "once_differentiable"):
            g.sum().backward()

    @beyond_torch
    def test_the_second_is_refused_by_what_was_saved(self):
        x = leaf([0.5])
        (g,) = tp.autograd.grad(self.make().apply(x).sum(), x, create_graph=True)
        with raises(RuntimeError, "once_differentiable"):
            tp.autograd.grad((g + x).sum(), x)


class TestErrors:
    def test_an_error_in_forward_leaves_no_state(self):
        class Fails(Function):
            @staticmethod
            def forward(ctx, x):
                raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            Fails.apply(leaf([1.0]))
        assert tp.is_grad_enabled()
        x = leaf([2.0])
        Cube.apply(x).sum().backward()
        close(x.grad, [12.0])

    def test_an_error_in_backward_leaves_a_retained_graph_usable(self):
        fail = [True]

        class Fails(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                if fail[0]:
                    raise ValueError("mine")
                (x,) = ctx.saved_tensors
                return 2 * x * g

        x = leaf([2.0])
        y = Fails.apply(x).sum()
        with pytest.raises(ValueError, match="mine"):
            y.backward(retain_graph=True)
        fail[0] = False
        y.backward()
        close(x.grad, [4.0])
