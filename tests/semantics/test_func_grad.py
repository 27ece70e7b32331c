"""`tensorplay.func.grad`: the gradient of a function as a function."""

import pytest

import tensorplay as tp

from .support import assert_close, const, leaf, raises

grad = tp.func.grad


def sum_of_cubes(x):
    return (x**3).sum()


class TestTheGradientFunction:
    def test_it_has_the_shape_of_its_argument(self):
        assert_close(grad(sum_of_cubes)(const([[1.0, 2.0]])), [[3.0, 12.0]])

    def test_it_keeps_the_dtype(self):
        result = grad(sum_of_cubes)(const([1.0, 2.0], dtype=tp.float32))
        assert result.dtype == tp.float32

    def test_further_arguments_are_constants(self):
        def loss(w, x, scale):
            return scale * (w * x).sum()

        assert_close(grad(loss)(const([1.0, 2.0]), const([3.0, 4.0]), 10), [30.0, 40.0])

    def test_keyword_arguments_are_constants(self):
        def loss(w, *, x):
            return (w * w * x).sum()

        assert_close(grad(loss)(const([1.0, 2.0]), x=const([3.0, 4.0])), [6.0, 16.0])

    def test_closed_over_tensors_are_constants(self):
        x = const([3.0, 4.0])
        assert_close(grad(lambda w: (w * x).sum())(const([1.0, 2.0])), [3.0, 4.0])

    def test_an_argument_that_is_not_used_has_zeros(self):
        assert_close(grad(lambda x: const(5.0))(const([1.0, 2.0])), [0.0, 0.0])

    def test_a_closed_over_use_of_the_argument_is_a_constant(self):
        x = const(3.0)
        assert_close(grad(lambda y: y * x)(x), 3.0)

    def test_nothing_else_is_changed(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        grad(lambda x: (w * x).sum())(x)
        assert x.grad is None
        assert w.grad is None

    def test_a_plain_argument_gives_a_plain_result(self):
        x = const([1.0, 2.0])
        result = grad(sum_of_cubes)(x)
        assert not result.requires_grad
        assert not x.requires_grad


class TestArgnums:
    def test_a_number_chooses_the_argument(self):
        def f(x, y):
            return (x * y * y).sum()

        x, y = const([1.0, 2.0]), const([3.0, 4.0])
        assert_close(grad(f, argnums=0)(x, y), [9.0, 16.0])
        assert_close(grad(f, argnums=1)(x, y), [6.0, 16.0])

    def test_a_negative_number_counts_from_the_end(self):
        result = grad(lambda x, y: (x * y * y).sum(), argnums=-1)(const(2.0), const(3.0))
        assert_close(result, 12.0)

    def test_a_tuple_gives_a_tuple(self):
        result = grad(lambda x, y: x * y * y, argnums=(1, 0))(const(2.0), const(3.0))
        assert type(result) is tuple
        assert_close(result[0], 12.0)
        assert_close(result[1], 9.0)

    def test_one_that_is_not_there_is_an_error(self):
        with raises(RuntimeError, "grad", ["argnum", "1"]):
            grad(sum_of_cubes, argnums=1)(const([1.0]))

    def test_one_named_twice_is_an_error(self):
        with raises(RuntimeError, "grad", ["argnums", "(0, 0)"]):
            grad(lambda x, y: x * y, argnums=(0, 0))(const(1.0), const(2.0))


class TestContainers:
    def test_a_dict_of_parameters_gives_a_dict_of_gradients(self):
        def loss(params, x):
            return ((params["w"] * x).sum() + params["b"]) ** 2

        params = {"w": const([1.0, 2.0]), "b": const(3.0)}
        result = grad(loss)(params, const([1.0, -1.0]))
        assert set(result) == {"w", "b"}
        assert_close(result["w"], [4.0, -4.0])
        assert_close(result["b"], 4.0)

    def test_nested_lists_and_tuples_keep_their_form(self):
        def loss(nested):
            (x, y), z = nested
            return x * y * z

        result = grad(loss)([(const(2.0), const(3.0)), const(4.0)])
        assert type(result) is list
        assert type(result[0]) is tuple
        assert_close(result[0][0], 12.0)
        assert_close(result[0][1], 8.0)
        assert_close(result[1], 6.0)


class TestHasAux:
    def test_the_second_result_is_passed_on(self):
        def loss(x):
            return (x * x).sum(), x + 1

        gradient, aux = grad(loss, has_aux=True)(const([1.0, 2.0]))
        assert_close(gradient, [2.0, 4.0])
        assert_close(aux, [2.0, 3.0])
        assert not aux.requires_grad

    def test_it_may_be_a_container(self):
        _, aux = grad(lambda x: (x * x, {"double": 2 * x}), has_aux=True)(const(3.0))
        assert_close(aux["double"], 6.0)

    def test_a_function_without_it_is_an_error(self):
        with raises(RuntimeError, "grad", ["has_aux"]):
            grad(sum_of_cubes, has_aux=True)(const([1.0]))


class TestNesting:
    def test_derivatives_of_every_order(self):
        f = tp.sin
        for expected in (0.8775825618903728, -0.479425538604203, -0.8775825618903728):
            f = grad(f)  # cos, -sin, -cos
            assert_close(f(const(0.5)), expected)

    def test_levels_are_not_confused(self):
        # d/dx [x * d/dy (x + y)] = d/dx [x * 1] = 1, where a confused level would give 2.
        assert_close(grad(lambda x: x * grad(lambda y: x + y)(const(1.0)))(const(1.0)), 1.0)

    def test_an_inner_gradient_depends_on_the_outer_argument(self):
        # d/dx [d/dy (x y^2) at y = x] = d/dx [2 x^2] = 4 x
        def outer(x):
            return grad(lambda y: x * y * y)(x)

        assert_close(grad(outer)(const(3.0)), 12.0)

    def test_mixed_partial_derivatives(self):
        def f(x, y):
            return x**2 * y**3

        mixed = grad(grad(f, argnums=0), argnums=1)
        assert_close(mixed(const(2.0), const(3.0)), 2 * 2.0 * 27.0)

    def test_a_hessian_vector_product(self):
        v = const([1.0, 10.0])
        result = grad(lambda x: tp.dot(grad(sum_of_cubes)(x), v))(const([1.0, 2.0]))
        assert_close(result, [6.0, 120.0])


class TestTogetherWithAutograd:
    def test_the_result_is_differentiable_where_the_argument_requires_grad(self):
        x = leaf([1.0, 2.0])
        result = grad(sum_of_cubes)(x)
        assert_close(result, [3.0, 12.0])
        result.sum().backward()
        assert_close(x.grad, [6.0, 12.0])

    def test_the_result_is_differentiable_in_closed_over_leaves(self):
        w = leaf([3.0, 4.0])
        result = grad(lambda x: (w * x**2).sum())(const([1.0, 2.0]))
        result.sum().backward()
        assert_close(w.grad, [2.0, 4.0])

    def test_no_grad_around_it_does_not_concern_it(self):
        with tp.no_grad():
            result = grad(sum_of_cubes)(leaf([1.0, 2.0]))
        assert_close(result, [3.0, 12.0])
        assert not result.requires_grad

    def test_no_grad_inside_it_makes_constants(self):
        def f(x):
            with tp.no_grad():
                factor = x**2
            return (factor * x).sum()

        assert_close(grad(f)(const([1.0, 2.0])), [1.0, 4.0])

    def test_detach_makes_constants(self):
        assert_close(grad(lambda x: (x.detach() * x).sum())(const([1.0, 2.0])), [1.0, 2.0])

    def test_in_place_steps_inside(self):
        def f(x):
            y = x.clone()
            y.mul_(x)
            y[0] = 0.0
            return y.sum()

        assert_close(grad(f)(const([1.0, 2.0])), [0.0, 4.0])

    def test_indexing_inside(self):
        assert_close(grad(lambda x: x[0] * x[1:].sum())(const([1.0, 2.0, 3.0])), [5.0, 1.0, 1.0])


class TestTogetherWithVmap:
    def test_one_gradient_per_sample(self):
        def loss(w, x):
            return tp.dot(w, x) ** 2  # gradient: 2 (w . x) x

        w, samples = const([1.0, -1.0]), const([[1.0, 2.0], [3.0, 1.0]])
        result = tp.vmap(grad(loss), in_dims=(None, 0))(w, samples)
        assert_close(result, [[-2.0, -4.0], [12.0, 4.0]])

    def test_one_gradient_per_sample_of_a_dict_of_parameters(self):
        def loss(params, x, y):
            return ((params["w"] * x).sum() + params["b"] - y) ** 2

        params = {"w": const([1.0, 0.0]), "b": const(0.5)}
        x, y = const([[1.0, 2.0], [3.0, 4.0]]), const([1.0, 5.0])
        result = tp.vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
        assert_close(result["w"], [[1.0, 2.0], [-9.0, -12.0]])  # residuals 0.5 and -1.5
        assert_close(result["b"], [1.0, -3.0])

    def test_per_sample_gradients_add_up_to_the_gradient_of_the_sum(self):
        def loss(w, x):
            return (w * x).sin().sum()

        w, samples = const([0.5, -0.25]), const([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        per_sample = tp.vmap(grad(loss), in_dims=(None, 0))(w, samples)
        whole = grad(lambda w: tp.vmap(loss, in_dims=(None, 0))(w, samples).sum())(w)
        assert_close(per_sample.sum(dim=0), whole.numpy())

    def test_the_gradient_of_a_mapped_function(self):
        result = grad(lambda x: tp.vmap(lambda v: v**3)(x).sum())(const([1.0, 2.0]))
        assert_close(result, [3.0, 12.0])

    def test_a_mapped_second_derivative(self):
        second = tp.vmap(grad(grad(lambda x: x**3)))
        assert_close(second(const([1.0, 2.0, 3.0])), [6.0, 12.0, 18.0])

    def test_gradients_of_gradients_per_sample(self):
        # |grad|^2 of (w x)^2 is (2 w x^2)^2, whose gradient in w is 8 w x^4.
        def penalty(w, x):
            return grad(lambda w: (w * x) ** 2)(w) ** 2

        result = tp.vmap(grad(penalty), in_dims=(None, 0))(const(3.0), const([1.0, 2.0]))
        assert_close(result, [24.0, 384.0])


class TestErrors:
    def test_a_result_that_is_no_scalar(self):
        with raises(RuntimeError, "grad", [(2,)]):
            grad(lambda x: x * 2)(const([1.0, 2.0]))

    def test_a_result_of_one_element_with_a_dimension(self):
        with raises(RuntimeError, "grad", [(1,)]):
            grad(lambda x: x * 2)(const([1.0]))

    def test_a_result_that_is_no_tensor(self):
        with raises(RuntimeError, "grad", ["float"]):
            grad(lambda x: 2.0)(const([1.0]))

    def test_a_complex_result(self):
        with raises(RuntimeError, "grad", ["complex128"]):
            grad(lambda x: (x * 1j).sum())(const([1.0]))

    def test_an_integer_argument(self):
        with raises(RuntimeError, "grad", ["int64"]):
            grad(tp.sum)(const([1, 2], dtype=tp.int64))

    def test_an_argument_that_is_no_tensor(self):
        with raises(ValueError, "grad", ["float"]):
            grad(lambda x: const(1.0))(1.0)

    def test_a_failing_function_leaves_no_level_behind(self):
        def fail(x):
            raise ZeroDivisionError

        x = const([1.0, 2.0])
        with pytest.raises(ZeroDivisionError):
            grad(fail)(x)
        assert tp.is_grad_enabled()
        assert not (x * 2).requires_grad
        assert_close(grad(sum_of_cubes)(x), [3.0, 12.0])
