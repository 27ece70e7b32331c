"""`tensorplay.autograd.grad`, sentence by sentence of the reference."""

import warnings

import pytest

import tensorplay as tp

from .support import Counter, assert_close, beyond_torch, const, gradient_edge, leaf, raises

grad = tp.autograd.grad


class TestWhatItReturns:
    def test_a_tuple_even_for_a_single_input(self):
        x = leaf([1.0, 2.0])
        result = grad((x * x).sum(), x)
        assert type(result) is tuple
        assert len(result) == 1
        assert_close(result[0], [2.0, 4.0])

    def test_one_gradient_per_input_in_their_order(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        gw, gx = grad((x * w).sum(), [w, x])
        assert_close(gw, [1.0, 2.0])
        assert_close(gx, [3.0, 4.0])

    def test_the_sum_of_the_gradients_of_all_outputs(self):
        x = leaf([1.0, 2.0])
        (gx,) = grad([(x * x).sum(), (3 * x).sum()], x)
        assert_close(gx, [5.0, 7.0])

    def test_a_dict_keyed_like_a_dict_of_inputs(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        result = grad((x * w).sum(), {"weight": w, "data": x})
        assert type(result) is dict
        assert list(result) == ["weight", "data"]
        assert_close(result["weight"], [1.0, 2.0])
        assert_close(result["data"], [3.0, 4.0])

    def test_the_parameters_of_a_model_by_name(self):
        model = tp.nn.Linear(2, 1)
        loss = model(const([[1.0, 2.0]], dtype=tp.float32)).sum()
        result = grad(loss, dict(model.named_parameters()))
        assert set(result) == {"weight", "bias"}
        assert_close(result["weight"], [[1.0, 2.0]])
        assert_close(result["bias"], [1.0])

    def test_nothing_is_accumulated(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        x.grad = const([7.0, 7.0])
        grad((x * w).sum(), [x, w])
        assert_close(x.grad, [7.0, 7.0])
        assert w.grad is None

    def test_gradients_have_the_shape_and_dtype_of_their_inputs(self):
        x = leaf([[1.0], [2.0]], dtype=tp.float32)
        (gx,) = grad((x * const([1.0, 10.0, 100.0])).sum(), x)
        assert gx.dtype == tp.float32
        assert_close(gx, [[111.0], [111.0]])

    def test_a_named_input_twice_is_answered_twice(self):
        x = leaf([1.0, 2.0])
        first, second = grad((x * x).sum(), [x, x])
        assert_close(first, [2.0, 4.0])
        assert_close(second, [2.0, 4.0])

    def test_complex_gradients_are_conjugate_wirtinger(self):
        # |z^2| = |z|^2, whose steepest ascent is along 2 z.
        z = leaf([3 + 4j, 1j], dtype=tp.complex128)
        (gz,) = grad((z * z).abs().sum(), z)
        assert_close(gz, [6 + 8j, 2j])

    def test_the_vector_of_a_complex_output_meets_the_conjugate_derivative(self):
        z = leaf([1 + 1j, 2j], dtype=tp.complex128)
        w = const([2 - 1j, 3j], dtype=tp.complex128)
        vector = const([1.0, 1j], dtype=tp.complex128)
        (gz,) = grad(z * w, z, vector)
        assert_close(gz, [2 + 1j, 1j * -3j])


class TestInputs:
    def test_a_non_leaf_can_be_asked_for(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        (gy,) = grad((y * y).sum(), y)
        assert_close(gy, [6.0, 12.0])

    def test_a_non_leaf_and_its_leaf_together(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        gx, gy = grad((y * y).sum() + (y * x).sum(), [x, y])
        assert_close(gy, [6.0 + 1.0, 12.0 + 2.0])
        assert_close(gx, [3 * 7.0 + 3.0, 3 * 14.0 + 6.0])

    def test_an_output_can_be_its_own_input(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        assert_close(grad(x, x, const([5.0, 6.0]))[0], [5.0, 6.0])
        assert_close(grad(y, y, const([5.0, 6.0]))[0], [5.0, 6.0])

    def test_only_the_part_that_leads_to_them_runs(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        asked, other = Counter(), Counter()
        left, right = asked.watch(x * 2), other.watch(w * 3)
        (gx,) = grad((left * right).sum(), x)
        assert_close(gx, [18.0, 24.0])
        assert (asked.count, other.count) == (1, 0)

    def test_nothing_below_a_non_leaf_runs(self):
        x = leaf([1.0, 2.0])
        below = Counter()
        y = below.watch(x * x) * 3
        grad((y * y).sum(), y)
        assert below.count == 0

    def test_a_gradient_edge_stands_for_its_tensor(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        gy, gx = grad((y * y).sum(), [gradient_edge(y), gradient_edge(x)])
        assert_close(gy, [6.0, 12.0])
        assert_close(gx, [18.0, 36.0])

    def test_edges_and_tensors_mix(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        gx, gw = grad((x * w).sum(), [gradient_edge(x), w])
        assert_close(gx, [3.0, 4.0])
        assert_close(gw, [1.0, 2.0])

    def test_an_edge_names_one_of_several_results_of_an_operation(self):
        x = leaf([1.0, 2.0, 3.0])
        first, second = x.split([2, 1])
        loss = (first * first).sum() + 5 * second.sum()
        g_first, g_second = grad(loss, [gradient_edge(first), gradient_edge(second)])
        assert_close(g_first, [2.0, 4.0])
        assert_close(g_second, [5.0])

    def test_an_edge_is_a_node_and_the_number_of_its_result(self):
        y = leaf([1.0, 2.0]) * 3
        edge = gradient_edge(y)
        assert isinstance(edge, tp.autograd.graph.GradientEdge)
        assert edge.output_nr == 0
        assert edge.node is not None

    def test_there_is_no_edge_to_a_tensor_that_needs_no_gradient(self):
        with raises(RuntimeError, "get_gradient_edge"):
            gradient_edge(const([1.0]))

    @pytest.mark.parametrize("empty", [[], (), {}])
    def test_naming_none_at_all_is_an_error(self, empty):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["inputs"]):
            grad((x * x).sum(), empty)

    @pytest.mark.parametrize("allow_unused", [None, True])
    def test_one_that_needs_no_gradient_is_an_error(self, allow_unused):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        with raises(RuntimeError, "grad", ["inputs"]):
            grad((x * c).sum(), [x, c], allow_unused=allow_unused)


class TestOutputs:
    def test_a_gradient_edge_stands_for_its_tensor(self):
        x = leaf([1.0, 2.0])
        edge = gradient_edge(x * x)  # the tensor itself is gone
        (gx,) = grad(edge, x, const([10.0, 100.0]))
        assert_close(gx, [20.0, 400.0])

    def test_an_edge_of_a_scalar_needs_no_vector(self):
        x = leaf([1.0, 2.0])
        assert_close(grad(gradient_edge((x * x).sum()), x)[0], [2.0, 4.0])

    def test_an_edge_of_a_non_scalar_needs_one(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["grad_outputs"]):
            grad(gradient_edge(x * x), x)

    def test_an_edge_knows_its_shape(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["grad_outputs", (3,), (2,)]):
            grad(gradient_edge(x * x), x, const([1.0, 1.0, 1.0]))

    def test_the_same_output_twice_counts_twice(self):
        x = leaf(3.0)
        y = x * x
        assert_close(grad([y, y], x)[0], 12.0)

    def test_it_is_an_error_when_none_needs_a_gradient(self):
        x, c = leaf(1.0), const(3.0)
        with raises(RuntimeError, "grad", ["outputs"]):
            grad([c, c * 2], x)


class TestGradOutputs:
    def test_it_is_the_vector_of_the_vector_jacobian_product(self):
        x = leaf([1.0, 2.0])
        assert_close(grad([x * x], [x], [const([10.0, 100.0])])[0], [20.0, 400.0])

    def test_a_single_tensor_is_accepted(self):
        x = leaf([1.0, 2.0])
        assert_close(grad(x * x, x, grad_outputs=const([10.0, 100.0]))[0], [20.0, 400.0])

    def test_none_stands_for_a_scalar(self):
        x = leaf([1.0, 2.0])
        (gx,) = grad([x * x, (3 * x).sum()], x, [const([10.0, 100.0]), None])
        assert_close(gx, [23.0, 403.0])

    @beyond_torch
    def test_none_stands_for_an_output_that_needs_no_gradient(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        (gx,) = grad([x * x, c], x, [const([10.0, 100.0]), None])
        assert_close(gx, [20.0, 400.0])

    @beyond_torch
    def test_it_is_optional_when_none_would_do_for_all(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        assert_close(grad([c, (x * x).sum()], x)[0], [2.0, 4.0])

    def test_an_explicit_vector_for_an_output_that_needs_none_is_an_error(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        with raises(RuntimeError, "grad", ["grad_outputs"]):
            grad([(x * x).sum(), c], x, [None, const([1.0, 1.0])])

    def test_a_non_scalar_needs_one(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["grad_outputs", (2,)]):
            grad(x * x, x)

    def test_its_length_must_match(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["grad_outputs"]):
            grad([x.sum(), x.sum()], x, [const(1.0)])

    def test_its_shape_must_match(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", ["grad_outputs", (1, 2), (2,)]):
            grad(x * x, x, const([[1.0, 1.0]]))

    def test_one_that_requires_grad_is_differentiated_through(self):
        x, vector = leaf([1.0, 2.0]), leaf([10.0, 100.0])
        (gx,) = grad(x * x, x, vector, create_graph=True)  # 2 x v
        g_vector, gx2 = grad(gx.sum(), [vector, x])
        assert_close(g_vector, [2.0, 4.0])
        assert_close(gx2, [20.0, 200.0])


class TestRetainGraph:
    @pytest.mark.parametrize("options", [{}, {"retain_graph": False}])
    def test_the_graph_is_freed(self, options):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        grad(y, x, **options)
        with raises(RuntimeError, "grad", ["retain_graph"]):
            grad(y, x)

    def test_true_keeps_the_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        for _ in range(3):
            assert_close(grad(y, x, retain_graph=True)[0], [2.0, 4.0])

    def test_its_default_is_the_value_of_create_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        grad(y, x, create_graph=True)
        assert_close(grad(y, x)[0], [2.0, 4.0])

    def test_a_graph_that_saved_nothing_can_always_run_again(self):
        x = leaf([1.0, 2.0])
        y = (x + 1).reshape(2, 1).sum()
        assert_close(grad(y, x)[0], [1.0, 1.0])
        assert_close(grad(y, x)[0], [1.0, 1.0])

    def test_the_part_that_did_not_run_is_not_freed(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        other = (w * w).sum()
        grad((x * x).sum() + other, x)
        assert_close(grad(other, w)[0], [6.0, 8.0])

    def test_an_explicit_false_frees_the_first_graph_but_not_that_of_the_derivative(self):
        x = leaf([1.0, 2.0])
        y = (x**3).sum()
        (first,) = grad(y, x, create_graph=True, retain_graph=False)
        with raises(RuntimeError, "grad", ["retain_graph"]):
            grad(y, x)
        assert_close(grad(first.sum(), x)[0], [6.0, 12.0])


class TestCreateGraph:
    def test_derivatives_of_every_order(self):
        x = leaf(2.0)
        y = x**4
        for expected in (32.0, 48.0, 48.0, 24.0):
            (y,) = grad(y, x, create_graph=True)
            assert_close(y, expected)

    def test_a_constant_derivative_has_no_further_graph_to_the_input(self):
        x = leaf(2.0)
        (first,) = grad(3 * x, x, create_graph=True)
        assert_close(first, 3.0)
        assert not first.requires_grad

    def test_mixed_partial_derivatives(self):
        x, y = leaf(2.0), leaf(3.0)
        (dx,) = grad(x * x * y**3, x, create_graph=True)  # 2 x y^3
        dxx, dxy = grad(dx, [x, y])
        assert_close(dxx, 54.0)
        assert_close(dxy, 2 * 2.0 * 27.0)

    def test_a_hessian_vector_product(self):
        matrix = const([[2.0, 1.0], [1.0, 4.0]])
        x, v = leaf([1.0, -1.0]), const([3.0, 5.0])
        (gx,) = grad((x * matrix.mv(x)).sum() / 2, x, create_graph=True)
        assert_close(grad((gx * v).sum(), x)[0], [11.0, 23.0])

    def test_nothing_is_recorded_by_default(self):
        x = leaf(2.0)
        (first,) = grad(x**3, x)
        assert not first.requires_grad
        assert first.grad_fn is None

    def test_it_records_under_no_grad_too(self):
        x = leaf(2.0)
        y = x**3
        with tp.no_grad():
            (first,) = grad(y, x, create_graph=True)
        assert_close(grad(first, x)[0], 12.0)

    def test_a_derivative_of_an_in_place_computation(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y.mul_(x)  # x^3
        (first,) = grad(y.sum(), x, create_graph=True)
        assert_close(first, [3.0, 12.0])
        assert_close(grad(first.sum(), x)[0], [6.0, 12.0])


class TestOnlyInputs:
    def test_the_deprecated_option_warns_and_is_ignored(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        with pytest.warns(FutureWarning, match="only_inputs"):
            (gx,) = grad((x * w).sum(), x, only_inputs=False)
        assert_close(gx, [3.0, 4.0])
        assert w.grad is None

    def test_its_default_does_not_warn(self):
        x = leaf([1.0, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            grad((x * x).sum(), x)


class TestUnusedInputs:
    @pytest.mark.parametrize("options", [{}, {"allow_unused": False}])
    def test_one_is_an_error(self, options):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        y = (x * x).sum()
        with raises(RuntimeError, "grad", ["inputs", "allow_unused"]):
            grad(y, [x, unused], **options)

    def test_the_gradient_is_none_where_allowed(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        gx, gu = grad((x * x).sum(), [x, unused], allow_unused=True)
        assert_close(gx, [2.0, 4.0])
        assert gu is None

    def test_the_gradient_is_none_in_a_dict_too(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        result = grad((x * x).sum(), {"x": x, "unused": unused}, allow_unused=True)
        assert_close(result["x"], [2.0, 4.0])
        assert result["unused"] is None

    def test_a_zero_gradient_is_not_an_unused_input(self):
        x = leaf([1.0, 2.0])
        assert_close(grad((x * 0).sum(), x)[0], [0.0, 0.0])

    def test_materialize_grads_returns_zeros(self):
        x, unused = leaf([1.0, 2.0]), leaf([[3.0], [4.0]], dtype=tp.float32)
        gx, gu = grad((x * x).sum(), [x, unused], materialize_grads=True)
        assert_close(gx, [2.0, 4.0])
        assert_close(gu, [[0.0], [0.0]])
        assert gu.dtype == tp.float32

    def test_the_default_of_allow_unused_is_the_value_of_materialize_grads(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        y = (x * x).sum()
        with pytest.raises(RuntimeError):
            grad(y, [x, unused], materialize_grads=False, retain_graph=True)
        assert_close(grad(y, unused, materialize_grads=True)[0], [0.0, 0.0])

    def test_materialize_grads_with_allow_unused_true(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        _, gu = grad((x * x).sum(), [x, unused], allow_unused=True, materialize_grads=True)
        assert_close(gu, [0.0, 0.0])

    def test_materialize_grads_contradicts_allow_unused_false(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        with raises(ValueError, "grad", ["allow_unused", "materialize_grads"]):
            grad(y, x, allow_unused=False, materialize_grads=True)
        assert_close(grad(y, x)[0], [2.0, 4.0])  # nothing was freed

    def test_materialized_zeros_can_be_differentiated_with_create_graph(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        first = grad((x**3).sum(), [x, unused], create_graph=True, materialize_grads=True)
        total = first[0].sum() + first[1].sum()
        second = grad(total, [x, unused], materialize_grads=True)
        assert_close(second[0], [6.0, 12.0])
        assert_close(second[1], [0.0, 0.0])


class TestIsGradsBatched:
    def test_it_equals_a_loop(self):
        x = leaf([1.0, 2.0, 3.0])
        y = x.exp() * x[0]
        vectors = const([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5], [3.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
        (batched,) = grad(y, x, vectors, is_grads_batched=True, retain_graph=True)
        assert batched.shape == (4, 3)
        for vector, row in zip(vectors, batched, strict=True):
            assert_close(row, grad(y, x, vector, retain_graph=True)[0].numpy())

    def test_the_rows_of_the_identity_give_the_jacobian(self):
        matrix = const([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        x = leaf([1.0, -1.0])
        (jacobian,) = grad(matrix.mv(x), x, tp.eye(3, dtype=tp.float64), is_grads_batched=True)
        assert_close(jacobian, matrix.numpy())

    def test_the_whole_batch_is_one_backward_pass(self):
        x = leaf([1.0, 2.0])
        passes = Counter()
        y = passes.watch(x * 2) * 3
        grad(y, x, tp.eye(2, dtype=tp.float64), is_grads_batched=True)
        assert passes.count == 1

    def test_several_outputs_and_inputs(self):
        x, w = leaf([1.0, 2.0]), leaf(3.0)
        vectors = [const([[1.0, 0.0], [0.0, 1.0]]), const([10.0, 100.0])]
        gx, gw = grad([x * w, x.sum() * w], [x, w], vectors, is_grads_batched=True)
        assert_close(gx, [[33.0, 30.0], [300.0, 303.0]])
        assert_close(gw, [1.0 + 30.0, 2.0 + 300.0])

    def test_a_dict_in_gives_a_dict_out(self):
        x = leaf([1.0, 2.0])
        result = grad(x * 3, {"x": x}, tp.eye(2, dtype=tp.float64), is_grads_batched=True)
        assert_close(result["x"], [[3.0, 0.0], [0.0, 3.0]])

    def test_an_unused_input_is_none_or_zeros(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        eye = tp.eye(2, dtype=tp.float64)
        options = {"grad_outputs": eye, "is_grads_batched": True}
        _, gu = grad(x * 3, [x, unused], allow_unused=True, **options)
        assert gu is None
        _, gu = grad(x * 3, [x, unused], materialize_grads=True, **options)
        assert not gu.numpy().any()

    def test_with_create_graph_the_result_is_differentiable(self):
        x = leaf([1.0, 2.0])
        eye = tp.eye(2, dtype=tp.float64)
        (jacobian,) = grad(x**3, x, eye, is_grads_batched=True, create_graph=True)
        assert_close(jacobian, [[3.0, 0.0], [0.0, 12.0]])
        assert_close(grad(jacobian.sum(), x)[0], [6.0, 12.0])

    def test_a_hessian(self):
        x = leaf([1.0, 2.0])
        (gx,) = grad(x[0] ** 2 * x[1], x, create_graph=True)
        (hessian,) = grad(gx, x, tp.eye(2, dtype=tp.float64), is_grads_batched=True)
        assert_close(hessian, [[4.0, 2.0], [2.0, 0.0]])

    def test_the_dimensions_after_the_batch_must_match(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with raises(RuntimeError, "grad", ["grad_outputs", (4, 3), (2,)]):
            grad(y, x, tp.ones(4, 3, dtype=tp.float64), is_grads_batched=True)
        assert_close(grad(y, x, const([1.0, 1.0]))[0], [2.0, 4.0])

    def test_all_batches_must_have_one_size(self):
        x = leaf([1.0, 2.0])
        vectors = [tp.ones(3, 2, dtype=tp.float64), tp.ones(4, dtype=tp.float64)]
        with raises(ValueError, "grad", ["grad_outputs", "3", "4"]):
            grad([x * 2, x.sum()], x, vectors, is_grads_batched=True)


class TestAfterAnErrorNothingIsHalfDone:
    @beyond_torch  # which notices only after it has run
    def test_an_unused_input_frees_nothing(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        y = (x * x).sum()
        with pytest.raises(RuntimeError):
            grad(y, [x, unused])
        assert_close(grad(y, x)[0], [2.0, 4.0])

    def test_a_wrong_vector_frees_nothing(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with pytest.raises(RuntimeError):
            grad(y, x, const([1.0, 1.0, 1.0]))
        assert_close(grad(y, x, const([1.0, 1.0]))[0], [2.0, 4.0])

    def test_a_failing_hook_does_not_leave_a_gradient_behind(self):
        def fail(grad):
            raise ValueError("hook")

        x = leaf([1.0, 2.0])
        y = x * x
        handle = y.register_hook(fail)
        loss = (y * 3).sum()
        with pytest.raises(ValueError, match="hook"):
            grad(loss, x, retain_graph=True)
        handle.remove()
        assert_close(grad(loss, x)[0], [6.0, 12.0])
        assert x.grad is None
