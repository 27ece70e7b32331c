"""`tensorplay.autograd.backward` and `Tensor.backward`, sentence by sentence of the reference."""

import warnings
from collections import OrderedDict

import pytest

import tensorplay as tp

from .support import Counter, assert_close, beyond_torch, const, gradient_edge, leaf, raises


@pytest.fixture(autouse=True)
def _no_warning_about_reference_cycles():
    # PyTorch warns that backward(create_graph=True) makes a cycle; whether to is a free choice.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*create_graph=True.*")
        yield


class TestTheSumOfGradientsWithRespectToLeaves:
    def test_the_gradient_of_one_scalar_lands_in_the_leaf(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward((x * x).sum())
        assert_close(x.grad, [2.0, 4.0])

    def test_gradients_of_all_tensors_are_summed(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward([(x * x).sum(), (3 * x).sum()])
        assert_close(x.grad, [5.0, 7.0])

    def test_every_path_from_a_leaf_counts(self):
        x = leaf(3.0)
        y = x * x
        (y + y * x + x).backward()
        assert_close(x.grad, 2 * 3.0 + 3 * 9.0 + 1.0)

    def test_all_leaves_receive_a_gradient(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        tp.autograd.backward((x * w).sum())
        assert_close(x.grad, [3.0, 4.0])
        assert_close(w.grad, [1.0, 2.0])

    def test_a_tensor_that_needs_no_gradient_gets_none(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        (x * c).sum().backward()
        assert c.grad is None

    def test_a_result_of_an_operation_keeps_no_gradient(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y.sum().backward()
        with warnings.catch_warnings():  # reading .grad of a non-leaf may warn
            warnings.simplefilter("ignore")
            assert y.grad is None

    def test_a_leaf_is_its_own_derivative(self):
        x = leaf(5.0)
        tp.autograd.backward(x)
        assert_close(x.grad, 1.0)

    def test_the_same_tensor_twice_counts_twice(self):
        x = leaf(5.0)
        y = 3 * x
        tp.autograd.backward([y, y])
        assert_close(x.grad, 6.0)

    def test_a_tensor_and_one_it_was_made_from_both_count(self):
        x = leaf(2.0)
        y = x * x
        z = y * 3
        tp.autograd.backward([z, y])
        assert_close(x.grad, 16.0)

    def test_a_broadcast_leaf_gets_a_gradient_of_its_own_shape(self):
        x, bias = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([1.0, 1.0])
        (x * bias).sum().backward()
        assert_close(bias.grad, [4.0, 6.0])

    def test_the_gradient_has_the_dtype_of_the_leaf(self):
        x = leaf([1.0, 2.0], dtype=tp.float32)
        (x * const([3.0, 4.0])).sum().backward()
        assert x.grad.dtype == tp.float32
        assert_close(x.grad, [3.0, 4.0])

    def test_the_gradient_itself_requires_none(self):
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        assert not x.grad.requires_grad

    def test_it_runs_under_no_grad(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        with tp.no_grad():
            y.backward()
        assert_close(x.grad, [2.0, 4.0])

    def test_it_returns_nothing(self):
        x = leaf(1.0)
        assert tp.autograd.backward(x * 2) is None
        assert (x * 2).backward() is None


class TestAccumulation:
    def test_a_second_call_adds_to_the_first(self):
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        (3 * x).sum().backward()
        assert_close(x.grad, [5.0, 7.0])

    def test_it_adds_to_a_gradient_set_by_hand(self):
        x = leaf([1.0, 2.0])
        x.grad = const([10.0, 20.0])
        (x * x).sum().backward()
        assert_close(x.grad, [12.0, 24.0])

    def test_setting_the_gradient_to_none_starts_anew(self):
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        x.grad = None
        (3 * x).sum().backward()
        assert_close(x.grad, [3.0, 3.0])

    def test_without_create_graph_the_same_tensor_is_added_to_in_place(self):
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        first = x.grad
        (3 * x).sum().backward()
        assert x.grad is first
        assert_close(first, [5.0, 7.0])

    def test_with_create_graph_a_new_tensor_replaces_the_gradient(self):
        x = leaf([1.0, 2.0])
        (3 * x).sum().backward()
        first = x.grad
        (x * x).sum().backward(create_graph=True)
        assert x.grad is not first
        assert_close(first, [3.0, 3.0])
        assert_close(x.grad, [5.0, 7.0])

    def test_the_gradient_does_not_alias_the_vector_passed_in(self):
        x, vector = leaf([1.0, 2.0]), const([1.0, 1.0])
        (x + 0).backward(vector)
        (x + 0).backward(vector)
        assert_close(vector, [1.0, 1.0])
        assert_close(x.grad, [2.0, 2.0])

    def test_two_leaves_do_not_share_one_gradient(self):
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        (x + y).sum().backward()
        x.grad.mul_(10)
        assert_close(y.grad, [1.0, 1.0])


class TestGradTensors:
    def test_it_is_the_vector_of_the_vector_jacobian_product(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward([x * x], [const([10.0, 100.0])])
        assert_close(x.grad, [20.0, 400.0])

    def test_a_single_tensor_is_accepted(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward(x * x, const([10.0, 100.0]))
        assert_close(x.grad, [20.0, 400.0])

    def test_it_can_be_named(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward(tensors=x * x, grad_tensors=const([10.0, 100.0]))
        assert_close(x.grad, [20.0, 400.0])

    def test_the_method_calls_it_gradient(self):
        x = leaf([1.0, 2.0])
        (x * x).backward(gradient=const([10.0, 100.0]))
        assert_close(x.grad, [20.0, 400.0])

    @pytest.mark.parametrize("sequence", [list, tuple])
    def test_both_arguments_are_sequences_of_one_length(self, sequence):
        x = leaf([1.0, 2.0])
        vectors = sequence([const([1.0, 0.0]), const([0.0, 5.0])])
        tp.autograd.backward(sequence([x * x, 3 * x]), vectors)
        assert_close(x.grad, [2.0, 15.0])

    def test_none_stands_for_a_scalar(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward([x * x, (3 * x).sum()], [const([10.0, 100.0]), None])
        assert_close(x.grad, [23.0, 403.0])

    def test_a_scalar_may_be_weighted_too(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward((x * x).sum(), const(10.0))
        assert_close(x.grad, [20.0, 40.0])

    @pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
    def test_any_tensor_of_one_element_counts_as_scalar(self, shape):
        x = leaf(3.0)
        (x * x).reshape(shape).backward()
        assert_close(x.grad, 6.0)

    def test_a_non_scalar_needs_one(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["grad_tensors", (2,)]):
            tp.autograd.backward(x * x)
        assert x.grad is None

    def test_none_for_a_non_scalar_is_an_error(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["grad_tensors"]):
            tp.autograd.backward([x.sum(), x * x], [None, None])
        assert x.grad is None

    def test_its_length_must_match(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["grad_tensors"]):
            tp.autograd.backward([x.sum(), x.sum()], [None])
        assert x.grad is None

    def test_its_shape_must_match(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["grad_tensors", (3,), (2,)]):
            tp.autograd.backward(x * x, const([1.0, 1.0, 1.0]))
        assert x.grad is None

    @pytest.mark.parametrize("dtype", ["float32", "int64"])
    def test_a_real_vector_of_another_dtype_is_converted(self, dtype):
        x = leaf([1.0, 2.0])
        tp.autograd.backward(x * x, const([10, 100], dtype=getattr(tp, dtype)))
        assert x.grad.dtype == tp.float64
        assert_close(x.grad, [20.0, 400.0])

    def test_a_complex_vector_for_a_real_tensor_is_an_error(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["grad_tensors", "complex128", "float64"]):
            tp.autograd.backward(x * x, const([1j, 1j], dtype=tp.complex128))
        assert x.grad is None

    def test_a_complex_scalar_needs_an_explicit_vector(self):
        z = leaf(1 + 2j, dtype=tp.complex128)
        with raises(RuntimeError, "backward", ["grad_tensors"]):
            (z * z).backward()
        assert z.grad is None


class TestTensorsThatNeedNoGradient:
    @beyond_torch
    def test_one_is_skipped_when_its_entry_is_none(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        tp.autograd.backward([(x * x).sum(), c], [None, None])
        assert_close(x.grad, [2.0, 4.0])

    @beyond_torch
    def test_one_is_skipped_when_grad_tensors_is_left_out(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        tp.autograd.backward([c, (x * x).sum(), c.sum()])
        assert_close(x.grad, [2.0, 4.0])

    def test_an_explicit_gradient_for_one_is_an_error(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        with raises(RuntimeError, "backward", ["grad_tensors"]):
            tp.autograd.backward([(x * x).sum(), c], [None, const([1.0, 1.0])])
        assert x.grad is None

    def test_it_is_an_error_when_no_tensor_needs_a_gradient(self):
        c = const(3.0)
        with raises(RuntimeError, "backward", ["tensors"]):
            tp.autograd.backward([c, c * 2])

    def test_the_method_of_such_a_tensor_is_an_error(self):
        with raises(RuntimeError, "backward"):
            const(3.0).backward()


class TestRetainGraph:
    def test_by_default_the_graph_is_freed(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        y.backward()
        with raises(RuntimeError, "backward", ["retain_graph"]):
            y.backward()
        assert_close(x.grad, [2.0, 4.0])

    def test_false_frees_the_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        y.backward(retain_graph=False)
        with raises(RuntimeError, "backward", ["retain_graph"]):
            y.backward()

    def test_true_keeps_the_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        for _ in range(3):
            tp.autograd.backward(y, retain_graph=True)
        assert_close(x.grad, [6.0, 12.0])

    def test_its_default_is_the_value_of_create_graph(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        y.backward(create_graph=True)
        y.backward()
        assert_close(x.grad, [4.0, 8.0])
        x.grad = None

    def test_a_graph_that_saved_nothing_can_always_run_again(self):
        x = leaf([1.0, 2.0])
        y = (x + 1).sum()
        y.backward()
        y.backward()
        assert_close(x.grad, [2.0, 2.0])

    def test_a_shared_part_that_was_freed_is_an_error_too(self):
        x = leaf([1.0, 2.0])
        shared = x * x
        first, second = shared.sum(), (shared * 2).sum()
        first.backward()
        with raises(RuntimeError, "backward", ["retain_graph"]):
            second.backward()


class TestCreateGraph:
    def test_the_gradient_can_be_differentiated_again(self):
        x = leaf([1.0, 2.0])
        (x**3).sum().backward(create_graph=True)
        first = x.grad
        x.grad = None
        assert first.requires_grad
        first.sum().backward()
        assert_close(first, [3.0, 12.0])
        assert_close(x.grad, [6.0, 12.0])

    def test_a_gradient_penalty_reaches_the_parameter(self):
        w, x = leaf([2.0, 3.0]), leaf([1.0, 1.0])
        ((w * x) ** 2).sum().backward(create_graph=True)
        penalty = (x.grad**2).sum()  # x.grad = 2 w^2 x, so penalty = 4 w^4
        w.grad = x.grad = None
        penalty.backward()
        assert_close(w.grad, [16 * 8.0, 16 * 27.0])
        w.grad = x.grad = None

    def test_nothing_is_recorded_without_it(self):
        x = leaf([1.0, 2.0])
        (x**3).sum().backward(retain_graph=True)
        assert not x.grad.requires_grad
        assert x.grad.grad_fn is None


class TestGradVariables:
    def test_the_deprecated_spelling_warns_and_works(self):
        x = leaf([1.0, 2.0])
        with pytest.warns(FutureWarning, match="grad_tensors"):
            tp.autograd.backward(x * x, grad_variables=const([10.0, 100.0]))
        assert_close(x.grad, [20.0, 400.0])

    def test_both_spellings_together_are_an_error(self):
        x = leaf([1.0, 2.0])
        vector = const([1.0, 1.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            with raises(RuntimeError, "backward", ["grad_tensors", "grad_variables"]):
                tp.autograd.backward(x * x, vector, grad_variables=vector)
        assert x.grad is None


class TestInputs:
    def test_a_single_tensor_is_accepted(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        tp.autograd.backward((x * w).sum(), inputs=x)
        assert_close(x.grad, [3.0, 4.0])

    @pytest.mark.parametrize("sequence", [list, tuple])
    def test_a_sequence_is_accepted(self, sequence):
        x, w, b = leaf([1.0, 2.0]), leaf([3.0, 4.0]), leaf(1.0)
        tp.autograd.backward((x * w + b).sum(), inputs=sequence([x, b]))
        assert_close(x.grad, [3.0, 4.0])
        assert_close(b.grad, 2.0)
        assert w.grad is None

    def test_a_dict_names_its_values(self):
        model = tp.nn.Linear(2, 1)
        x = leaf([[1.0, 2.0]], dtype=tp.float32)
        tp.autograd.backward(model(x).sum(), inputs=dict(model.named_parameters()))
        assert_close(model.weight.grad, [[1.0, 2.0]])
        assert_close(model.bias.grad, [1.0])
        assert x.grad is None

    def test_the_method_takes_it_too(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        (x * w).sum().backward(inputs={"w": w})
        assert_close(w.grad, [1.0, 2.0])
        assert x.grad is None

    def test_all_other_tensors_are_ignored(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        w.grad = const([7.0, 7.0])
        tp.autograd.backward((x * w).sum(), inputs=[x])
        assert_close(w.grad, [7.0, 7.0])

    def test_the_gradient_is_accumulated(self):
        x = leaf([1.0, 2.0])
        x.grad = const([10.0, 10.0])
        tp.autograd.backward((x * x).sum(), inputs=[x])
        assert_close(x.grad, [12.0, 14.0])

    def test_a_non_leaf_keeps_its_gradient(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        tp.autograd.backward((y * y).sum(), inputs=[y])
        assert_close(y.grad, [6.0, 12.0])
        assert x.grad is None

    def test_a_non_leaf_accumulates_like_one_that_retains_its_gradient(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        z = (y * y).sum()
        tp.autograd.backward(z, inputs=[y], retain_graph=True)
        tp.autograd.backward(z, inputs=[y])
        assert_close(y.grad, [12.0, 24.0])

    def test_a_non_leaf_and_its_leaf_can_be_named_together(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        tp.autograd.backward((y * y).sum(), inputs=[x, y])
        assert_close(y.grad, [6.0, 12.0])
        assert_close(x.grad, [18.0, 36.0])

    def test_the_branch_that_leads_elsewhere_does_not_run(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        asked, other = Counter(), Counter()
        left, right = asked.watch(x * 2), other.watch(w * 3)
        tp.autograd.backward((left * right).sum(), inputs=[x])
        assert (asked.count, other.count) == (1, 0)

    def test_nothing_below_a_named_non_leaf_runs(self):
        x = leaf([1.0, 2.0])
        below = Counter()
        deep = below.watch(x * x)
        y = deep * 3
        tp.autograd.backward((y * y).sum(), inputs=[y])
        assert below.count == 0

    def test_the_part_that_did_not_run_is_not_freed(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        other = (w * w).sum()
        tp.autograd.backward((x * x).sum() + other, inputs=[x])
        other.backward()
        assert_close(w.grad, [6.0, 8.0])

    def test_a_changed_tensor_saved_elsewhere_does_no_harm(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        saved = w * 1
        loss = (x * x).sum() + (saved * saved).sum()
        saved.mul_(2)
        tp.autograd.backward(loss, inputs=[x])
        assert_close(x.grad, [2.0, 4.0])

    def test_an_input_that_is_not_reached_stays_without_gradient(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        tp.autograd.backward((x * x).sum(), inputs=[x, w])
        assert_close(x.grad, [2.0, 4.0])
        assert w.grad is None

    def test_a_gradient_edge_of_a_leaf_is_accepted(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        tp.autograd.backward((x * w).sum(), inputs=[gradient_edge(x)])
        assert_close(x.grad, [3.0, 4.0])
        assert w.grad is None

    @pytest.mark.parametrize("empty", [[], (), {}])
    def test_naming_none_at_all_is_an_error(self, empty):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "backward", ["inputs"]):
            tp.autograd.backward((x * x).sum(), inputs=empty)
        assert x.grad is None

    def test_one_that_needs_no_gradient_is_an_error(self):
        x, c = leaf([1.0, 2.0]), const([3.0, 4.0])
        with raises(RuntimeError, "backward", ["inputs"]):
            tp.autograd.backward((x * c).sum(), inputs=[c])
        assert c.grad is None

    @beyond_torch  # which takes the exact type only
    def test_a_subclass_of_dict_is_a_dict(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward((x * x).sum(), inputs=OrderedDict(x=x))
        assert_close(x.grad, [2.0, 4.0])


class TestGradientEdgesAsTensors:
    def test_an_edge_stands_for_its_tensor(self):
        x = leaf([1.0, 2.0])
        edge = gradient_edge(x * x)  # the tensor itself is gone
        tp.autograd.backward([edge], [const([10.0, 100.0])])
        assert_close(x.grad, [20.0, 400.0])

    def test_an_edge_of_a_scalar_needs_no_vector(self):
        x = leaf([1.0, 2.0])
        tp.autograd.backward(gradient_edge((x * x).sum()))
        assert_close(x.grad, [2.0, 4.0])


class TestAfterAnErrorNothingIsHalfDone:
    def test_a_failing_hook_leaves_a_retained_graph_usable(self):
        def fail(grad):
            raise ValueError("hook")

        x = leaf([1.0, 2.0])
        y = x * x
        handle = y.register_hook(fail)
        z = (y * 3).sum()
        with pytest.raises(ValueError, match="hook"):
            z.backward(retain_graph=True)
        assert x.grad is None
        handle.remove()
        z.backward()
        assert_close(x.grad, [6.0, 12.0])

    @beyond_torch
    def test_no_leaf_has_a_gradient_when_a_later_step_fails(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        saved = w.exp()  # keeps its output
        loss = (x * 2).sum() + saved.sum()  # the step to x runs before the one to w
        saved.mul_(2)
        with raises(RuntimeError, "backward"):
            loss.backward()
        assert x.grad is None
        assert w.grad is None

    def test_grad_mode_is_as_before_after_an_error(self):
        x = leaf([1.0, 2.0])
        with pytest.raises(RuntimeError):
            (x * x).backward(create_graph=True)
        assert tp.is_grad_enabled()
        assert (x * x).requires_grad
