"""`tensorplay.autograd.jvp`, sentence by sentence of the reference, in both of its modes."""

import functools
import inspect

import numpy as np
import pytest

import tensorplay as tp

from .support import ON_TORCH, assert_close, beyond_torch, const, leaf, raises


@pytest.fixture(params=["forward", "reversed"])
def jvp(request):
    if ON_TORCH:  # which has the one mode, under another name
        return tp.autograd.functional.jvp
    return functools.partial(tp.autograd.jvp, mode=request.param)


def cube(x):
    return x**3


def adder(x, y):
    return 2 * x + 3 * y


class TestTheExamplesOfTheReference:
    def test_exp_reducer(self, jvp):
        def exp_reducer(x):
            return x.exp().sum(dim=1)

        inputs, v = tp.rand(4, 4), tp.ones(4, 4)
        output, product = jvp(exp_reducer, inputs, v)
        expected = np.exp(inputs.numpy()).sum(axis=1)
        assert_close(output, expected)
        assert_close(product, expected)

    def test_adder(self, jvp):
        inputs = (tp.rand(2), tp.rand(2))
        output, product = jvp(adder, inputs, (tp.ones(2), tp.ones(2)))
        assert_close(output, 2 * inputs[0].numpy() + 3 * inputs[1].numpy())
        assert_close(product, [5.0, 5.0])


class TestMode:
    @beyond_torch
    def test_forward_is_the_default(self):
        assert inspect.signature(tp.autograd.jvp).parameters["mode"].default == "forward"

    @beyond_torch
    def test_another_mode_is_an_error(self):
        with raises(ValueError, "jvp", ["mode", "sideways", "forward", "reversed"]):
            tp.autograd.jvp(cube, const(1.0), mode="sideways")

    @beyond_torch
    def test_the_module_of_pytorch_has_it_too(self):
        output, product = tp.autograd.functional.jvp(cube, const(2.0), const(1.0))
        assert_close(output, 8.0)
        assert_close(product, 12.0)

    def test_func_runs_once(self, jvp):
        calls = []

        def counted(x):
            calls.append(x)
            return x**3

        jvp(counted, const(2.0))
        assert len(calls) == 1


class TestTheProduct:
    def test_of_an_elementwise_function(self, jvp):
        output, product = jvp(cube, const([1.0, 2.0]), const([10.0, 100.0]))
        assert_close(output, [1.0, 8.0])
        assert_close(product, [30.0, 1200.0])

    def test_of_a_matrix_product(self, jvp):
        a, b = const([[1.0, 2.0], [3.0, 4.0]]), const([[1.0], [-1.0]])
        da, db = const([[1.0, 0.0], [0.0, 1.0]]), const([[0.0], [2.0]])
        output, product = jvp(tp.matmul, (a, b), (da, db))
        assert_close(output, [[-1.0], [-1.0]])
        assert_close(product, [[1.0 + 4.0], [-1.0 + 8.0]])  # da @ b + a @ db

    def test_of_indexing_and_joining(self, jvp):
        def rearrange(x):
            return tp.cat([x[1:] * x[:-1], x[[0, 0]]])

        _, product = jvp(rearrange, const([1.0, 2.0, 3.0]), const([1.0, 10.0, 100.0]))
        assert_close(product, [10.0 + 2.0, 200.0 + 30.0, 1.0, 1.0])

    def test_of_in_place_steps(self, jvp):
        def in_place(x):
            y = x * 1
            y.mul_(x)
            y[0] = 0.0
            y[1:] += x[1:]
            return y

        output, product = jvp(in_place, const([1.0, 2.0]), const([1.0, 10.0]))
        assert_close(output, [0.0, 6.0])
        assert_close(product, [0.0, 50.0])  # 2 x + 1 at x = 2, times 10

    def test_of_broadcasting(self, jvp):
        x, y = const([[1.0], [2.0]]), const([3.0, 4.0])
        _, product = jvp(tp.mul, (x, y), (const([[1.0], [0.0]]), const([0.0, 1.0])))
        assert_close(product, [[3.0, 5.0], [0.0, 2.0]])

    def test_a_zero_vector_gives_zero(self, jvp):
        assert_close(jvp(cube, const([1.0, 2.0]), const([0.0, 0.0]))[1], [0.0, 0.0])

    def test_it_has_the_shape_and_dtype_of_the_output(self, jvp):
        x = tp.ones(2, 3, dtype=tp.float32)
        output, product = jvp(lambda x: x.sum(dim=0), x, x)
        assert product.shape == output.shape == (3,)
        assert product.dtype == output.dtype == tp.float32

    def test_it_works_under_no_grad(self, jvp):
        with tp.no_grad():
            output, product = jvp(cube, const([1.0, 2.0]), const([1.0, 1.0]))
        assert_close(output, [1.0, 8.0])
        assert_close(product, [3.0, 12.0])

    def test_a_closed_over_tensor_is_a_constant(self, jvp):
        w = leaf([3.0, 4.0])
        _, product = jvp(lambda x: x * w * w, const([1.0, 2.0]), const([1.0, 1.0]))
        assert_close(product, [9.0, 16.0])
        assert w.grad is None


class TestTupleOrTensor:
    def test_a_tensor_out_of_func_gives_tensors(self, jvp):
        output, product = jvp(cube, const([1.0]), const([1.0]))
        assert isinstance(output, tp.Tensor)
        assert isinstance(product, tp.Tensor)

    def test_a_tuple_out_of_func_gives_tuples(self, jvp):
        x = const([1.0, 2.0])
        outputs, products = jvp(lambda x: (x * x, x.sum()), x, const([1.0, 10.0]))
        assert type(outputs) is tuple
        assert type(products) is tuple
        assert_close(outputs[0], [1.0, 4.0])
        assert_close(outputs[1], 3.0)
        assert_close(products[0], [2.0, 40.0])
        assert_close(products[1], 11.0)

    def test_a_tuple_of_one_stays_a_tuple(self, jvp):
        outputs, products = jvp(lambda x: (x * x,), const(3.0), const(1.0))
        assert len(outputs) == len(products) == 1
        assert_close(products[0], 6.0)

    def test_inputs_of_several_shapes(self, jvp):
        inputs = (const([[1.0, 2.0]]), const(3.0))
        v = (const([[1.0, 1.0]]), const(10.0))
        _, product = jvp(lambda x, s: x * s, inputs, v)
        assert_close(product, [[13.0, 23.0]])

    def test_inputs_that_are_no_tensors_are_an_error(self, jvp):
        with raises(TypeError, "jvp", ["inputs", "float"]):
            jvp(cube, 1.0)

    def test_a_list_of_inputs_is_an_error(self, jvp):
        x = const([1.0])
        with raises(TypeError, "jvp", ["inputs", "list"]):
            jvp(adder, [x, x], (x, x))

    def test_a_vector_that_is_no_tensor_is_an_error(self, jvp):
        with raises(TypeError, "jvp", ["v", "float"]):
            jvp(cube, const(1.0), 1.0)

    def test_an_output_that_is_no_tensor_is_an_error(self, jvp):
        with raises(TypeError, "jvp", ["func", "float"]):
            jvp(lambda x: 1.0, const(1.0), const(1.0))

    def test_an_integer_input_is_an_error(self, jvp):
        x = const([1, 2], dtype=tp.int64)
        with raises(RuntimeError, "jvp", ["inputs", "int64"]):
            jvp(cube, x, x)


class TestTheVector:
    @pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
    def test_it_is_a_one_by_default_for_an_input_of_a_single_element(self, jvp, shape):
        x = const(2.0).reshape(shape)
        output, product = jvp(cube, x)
        assert_close(output, np.full(shape, 8.0))
        assert_close(product, np.full(shape, 12.0))

    def test_a_larger_input_needs_it(self, jvp):
        with raises(RuntimeError, "jvp", ["v", (2,)]):
            jvp(cube, const([1.0, 2.0]))

    def test_several_inputs_need_it(self, jvp):
        with raises(RuntimeError, "jvp", ["v"]):
            jvp(adder, (const(1.0), const(2.0)))

    def test_its_size_must_match(self, jvp):
        with raises(RuntimeError, "jvp", ["v", (2,), (3,)]):
            jvp(cube, const([1.0, 2.0]), const([1.0, 1.0, 1.0]))

    def test_a_shape_that_would_broadcast_does_not_match(self, jvp):
        with raises(RuntimeError, "jvp", ["v", (2,), (1,)]):
            jvp(cube, const([1.0, 2.0]), const([1.0]))

    def test_there_must_be_one_per_input(self, jvp):
        x = const([1.0, 2.0])
        with raises(RuntimeError, "jvp", ["v"]):
            jvp(adder, (x, x), (x,))
        with raises(RuntimeError, "jvp", ["v"]):
            jvp(cube, x, (x, x))


class TestStrict:
    def test_outputs_independent_of_every_input_are_an_error(self, jvp):
        x = const([1.0, 2.0])
        with raises(RuntimeError, "jvp", ["strict"]):
            jvp(lambda x: tp.ones(2), x, x, strict=True)

    def test_one_input_no_output_depends_on_is_an_error(self, jvp):
        x, y = const([1.0, 2.0]), const([3.0, 4.0])
        with raises(RuntimeError, "jvp", ["strict", "1"]):
            jvp(lambda x, y: (x * 2, x * x), (x, y), (x, y), strict=True)

    def test_a_detached_use_does_not_count(self, jvp):
        x = const([1.0, 2.0])
        with raises(RuntimeError, "jvp", ["strict"]):
            jvp(lambda x: x.detach() * 2, x, x, strict=True)

    def test_inputs_that_are_all_used_pass(self, jvp):
        x, y = const([1.0, 2.0]), const([3.0, 4.0])
        _, product = jvp(lambda x, y: (x * 2, y * y), (x, y), (x, y), strict=True)
        assert_close(product[0], [2.0, 4.0])
        assert_close(product[1], [18.0, 32.0])

    def test_a_derivative_that_happens_to_be_zero_passes(self, jvp):
        x = const([1.0, 2.0])
        assert_close(jvp(lambda x: x * 0, x, x, strict=True)[1], [0.0, 0.0])

    def test_without_it_an_independent_output_has_zeros(self, jvp):
        x = const([1.0, 2.0])
        output, product = jvp(lambda x: const([5.0, 6.0, 7.0]), x, x)
        assert_close(output, [5.0, 6.0, 7.0])
        assert_close(product, [0.0, 0.0, 0.0])

    def test_without_it_an_independent_output_among_others_has_zeros(self, jvp):
        x = const([1.0, 2.0])
        _, products = jvp(lambda x: (x * 2, tp.ones(3)), x, x)
        assert_close(products[0], [2.0, 4.0])
        assert_close(products[1], [0.0, 0.0, 0.0])

    def test_without_it_an_unused_input_contributes_nothing(self, jvp):
        x, y = const([1.0, 2.0]), const([3.0, 4.0])
        assert_close(jvp(lambda x, y: x * x, (x, y), (x, y))[1], [2.0, 8.0])


class TestCreateGraph:
    def test_by_default_nothing_returned_requires_grad(self, jvp):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        output, product = jvp(lambda x: w * x**3, x, leaf([1.0, 1.0]))
        assert not output.requires_grad
        assert not product.requires_grad

    def test_the_inputs_are_left_as_they_were(self, jvp):
        x, v = const([1.0, 2.0]), const([1.0, 1.0])
        jvp(cube, x, v)
        assert not x.requires_grad
        assert not v.requires_grad
        assert x.grad is None
        assert_close(x, [1.0, 2.0])

    def test_output_and_product_are_differentiable_in_the_inputs(self, jvp):
        x = leaf([1.0, 2.0])
        output, product = jvp(cube, x, const([1.0, 10.0]), create_graph=True)
        assert_close(tp.autograd.grad(output.sum(), x, retain_graph=True)[0], [3.0, 12.0])
        assert_close(tp.autograd.grad(product.sum(), x)[0], [6.0, 120.0])  # 6 x v

    def test_the_product_is_differentiable_in_the_vector(self, jvp):
        x, v = const([1.0, 2.0]), leaf([1.0, 10.0])
        _, product = jvp(cube, x, v, create_graph=True)
        assert_close(tp.autograd.grad(product.sum(), v)[0], [3.0, 12.0])

    def test_the_product_is_differentiable_in_a_closed_over_tensor(self, jvp):
        x, w = const([1.0, 2.0]), leaf([3.0, 4.0])
        _, product = jvp(lambda x: w * x**3, x, const([1.0, 10.0]), create_graph=True)
        product.sum().backward()
        assert_close(w.grad, [3.0, 120.0])

    def test_second_derivatives_by_nesting(self, jvp):
        def slope(x):
            return jvp(lambda x: x**4, x, create_graph=True)[1]

        first, second = jvp(slope, const(2.0))
        assert_close(first, 32.0)
        assert_close(second, 48.0)

    def test_third_derivatives_by_nesting(self, jvp):
        def slope(x):
            return jvp(lambda x: x**4, x, create_graph=True)[1]

        def curvature(x):
            return jvp(slope, x, create_graph=True)[1]

        second, third = jvp(curvature, const(2.0))
        assert_close(second, 48.0)
        assert_close(third, 48.0)

    def test_nested_directions_are_not_confused(self, jvp):
        # d/dx [x * d/dy (x + y)] = d/dx [x * 1] = 1
        def outer(x):
            return x * jvp(lambda y: x + y, const(1.0), create_graph=True)[1]

        assert_close(jvp(outer, const(1.0))[1], 1.0)

    @beyond_torch
    @pytest.mark.parametrize("outer", ["forward", "reversed"])
    @pytest.mark.parametrize("inner", ["forward", "reversed"])
    def test_the_modes_nest_in_any_order(self, outer, inner):
        def slope(x):
            return tp.autograd.jvp(lambda x: x.exp() * x, x, create_graph=True, mode=inner)[1]

        first, second = tp.autograd.jvp(slope, const(0.0), mode=outer)
        assert_close(first, 1.0)  # e^x (x + 1)
        assert_close(second, 2.0)  # e^x (x + 2)


class TestTogetherWithVmap:
    @beyond_torch
    def test_a_vmap_over_the_vector_gives_the_columns_of_the_jacobian(self, jvp):
        matrix = const([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        x = const([1.0, -1.0])
        columns = tp.vmap(lambda v: jvp(matrix.mv, x, v)[1])(tp.eye(2, dtype=tp.float64))
        assert_close(columns, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])

    @beyond_torch
    def test_a_vmap_over_the_inputs(self, jvp):
        points, v = const([1.0, 2.0, 3.0]), const(1.0)
        slopes = tp.vmap(lambda x: jvp(cube, x, v)[1])(points)
        assert_close(slopes, [3.0, 12.0, 27.0])


class TestAfterAnErrorNothingIsHalfDone:
    def test_a_failing_func_leaves_no_state_behind(self, jvp):
        def fail(x):
            assert (x * 2).shape == x.shape
            raise ZeroDivisionError

        x = leaf([1.0, 2.0])
        with pytest.raises(ZeroDivisionError):
            jvp(fail, x, const([1.0, 1.0]))
        assert x.grad is None
        assert tp.is_grad_enabled()
        assert_close(jvp(cube, x, const([1.0, 1.0]))[1], [3.0, 12.0])

    def test_func_is_not_called_with_a_wrong_vector(self, jvp):
        calls = []
        with pytest.raises(RuntimeError):
            jvp(calls.append, const([1.0, 2.0]), const([1.0]))
        assert calls == []
