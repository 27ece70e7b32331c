"""`tensorplay.vmap`: which dimension is mapped, where it reappears, and what runs in between."""

import pytest

import tensorplay as tp

from .support import array, assert_close, beyond_torch, const, leaf, raises

MATRIX = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


class TestTheMappedFunction:
    def test_it_sees_one_entry_at_a_time(self):
        seen = []

        def record(row):
            seen.append((tuple(row.shape), row.dim(), row.dtype))
            return row * 2

        assert_close(tp.vmap(record)(const(MATRIX)), 2 * array(const(MATRIX)))
        assert seen == [((3,), 1, tp.float64)]  # and runs once, not in a loop

    def test_a_reduction_reduces_the_entry_only(self):
        x = const(MATRIX)
        assert_close(tp.vmap(tp.sum)(x), [6.0, 15.0])
        assert_close(tp.vmap(lambda row: row.mean(dim=0))(x), [2.0, 5.0])
        assert_close(tp.vmap(lambda row: row.max(dim=-1).values)(x), [3.0, 6.0])

    def test_dimensions_count_without_the_mapped_one(self):
        x = tp.arange(24, dtype=tp.float64).reshape(2, 3, 4)
        assert tp.vmap(lambda m: m.transpose(0, 1))(x).shape == (2, 4, 3)
        assert tp.vmap(lambda m: m.reshape(-1))(x).shape == (2, 12)
        assert tp.vmap(lambda m: m.unsqueeze(0))(x).shape == (2, 1, 3, 4)

    def test_a_dot_product_becomes_many(self):
        x, y = const(MATRIX), const([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
        assert_close(tp.vmap(tp.dot)(x, y), [4.0, 10.0])

    def test_entries_broadcast_against_each_other_not_against_the_batch(self):
        scalars, vectors = const([10.0, 100.0]), const([[1.0, 2.0], [3.0, 4.0]])
        assert_close(tp.vmap(tp.mul)(scalars, vectors), [[10.0, 20.0], [300.0, 400.0]])

    def test_a_batch_of_the_size_of_an_entry_is_not_mistaken_for_it(self):
        scalars, vectors = const([1.0, 10.0, 100.0]), tp.ones(3, 3, dtype=tp.float64)
        expected = [[1.0] * 3, [10.0] * 3, [100.0] * 3]
        assert_close(tp.vmap(tp.mul)(scalars, vectors), expected)
        assert_close(tp.vmap(tp.mul)(vectors, scalars), expected)

    def test_numbers_and_closed_over_tensors_are_shared(self):
        shift = const([10.0, 20.0, 30.0])
        result = tp.vmap(lambda row: 2 * row + shift)(const(MATRIX))
        assert_close(result, [[12.0, 24.0, 36.0], [18.0, 30.0, 42.0]])

    def test_several_results_come_back_as_a_tuple(self):
        total, largest = tp.vmap(lambda row: (row.sum(), row.amax()))(const(MATRIX))
        assert_close(total, [6.0, 15.0])
        assert_close(largest, [3.0, 6.0])

    def test_nested_containers_of_results_keep_their_form(self):
        result = tp.vmap(lambda row: {"sum": row.sum(), "parts": [row[0], (row[1],)]})(
            const(MATRIX)
        )
        assert_close(result["sum"], [6.0, 15.0])
        assert_close(result["parts"][0], [1.0, 4.0])
        assert_close(result["parts"][1][0], [2.0, 5.0])

    def test_a_result_that_does_not_depend_on_the_batch_is_repeated(self):
        assert_close(tp.vmap(lambda row: const([7.0, 8.0]))(const(MATRIX)), [[7.0, 8.0]] * 2)

    def test_an_empty_batch(self):
        assert tp.vmap(lambda row: row * 2)(tp.ones(0, 3)).shape == (0, 3)

    def test_keyword_arguments_are_shared(self):
        x, y = const([1.0, 2.0]), const([10.0, 100.0])
        result = tp.vmap(lambda x, y: x * y)(x, y=y)
        assert_close(result, [[10.0, 100.0], [20.0, 200.0]])

    def test_where_chooses_per_entry(self):
        x = const([-1.0, 2.0, -3.0])
        assert_close(tp.vmap(lambda v: tp.where(v > 0, v, -10 * v))(x), [10.0, 2.0, 30.0])


class TestInDims:
    def test_a_number_counts_for_every_input(self):
        x, y = const(MATRIX), const([[1.0, 10.0, 100.0], [0.0, 0.0, 1.0]])
        result = tp.vmap(tp.dot, in_dims=1)(x, y)
        assert_close(result, [1.0, 20.0, 306.0])

    def test_a_negative_number_counts_from_the_end(self):
        x = const(MATRIX)
        assert_close(tp.vmap(tp.sum, in_dims=-1)(x), [5.0, 7.0, 9.0])
        assert_close(tp.vmap(tp.sum, in_dims=-2)(x), [6.0, 15.0])

    def test_none_shares_an_input(self):
        weights, rows = const([1.0, 0.0, -1.0]), const(MATRIX)
        assert_close(tp.vmap(tp.dot, in_dims=(None, 0))(weights, rows), [-2.0, -2.0])
        assert_close(tp.vmap(tp.dot, in_dims=(0, None))(rows, weights), [-2.0, -2.0])

    def test_each_input_has_a_dimension_of_its_own(self):
        x, y = const(MATRIX), const([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        assert_close(tp.vmap(tp.dot, in_dims=(0, 1))(x, y), [4.0, 11.0])

    def test_a_nested_tuple_follows_a_nested_input(self):
        def combine(pair, z):
            x, y = pair
            return x * y + z

        x, y, z = const([1.0, 2.0]), const(10.0), const([0.5, 0.25])
        result = tp.vmap(combine, in_dims=((0, None), 0))((x, y), z)
        assert_close(result, [10.5, 20.25])

    def test_a_dict_follows_a_dict(self):
        inputs = {"x": const([1.0, 2.0]), "y": const([3.0, 4.0])}
        result = tp.vmap(lambda d: d["x"] * d["y"], in_dims=({"x": 0, "y": None},))(inputs)
        assert_close(result, [[3.0, 4.0], [6.0, 8.0]])

    def test_a_number_stands_for_a_whole_container(self):
        inputs = [const([1.0, 2.0]), const([3.0, 4.0])]
        assert_close(tp.vmap(lambda pair: pair[0] * pair[1], in_dims=(0,))(inputs), [3.0, 8.0])

    def test_none_stands_for_a_whole_container(self):
        shared = {"w": const([1.0, 2.0]), "b": const(3.0)}
        result = tp.vmap(lambda p, x: p["w"].sum() * x + p["b"], in_dims=(None, 0))(
            shared, const([1.0, 10.0])
        )
        assert_close(result, [6.0, 33.0])

    def test_a_number_may_be_shared_as_none(self):
        assert_close(tp.vmap(tp.mul, in_dims=(0, None))(const([1.0, 2.0]), 3.0), [3.0, 6.0])


class TestOutDims:
    def test_a_number_places_the_mapped_dimension(self):
        x = tp.arange(6, dtype=tp.float64).reshape(2, 3)
        assert_close(tp.vmap(lambda row: row * 1, out_dims=1)(x), array(x).T)

    def test_a_negative_number_counts_from_the_end_of_the_result(self):
        x = tp.ones(2, 3, 4)
        assert tp.vmap(lambda m: m * 1, out_dims=-1)(x).shape == (3, 4, 2)
        assert tp.vmap(lambda m: m * 1, out_dims=-2)(x).shape == (3, 2, 4)

    def test_one_per_result(self):
        x = tp.ones(2, 3)
        first, second = tp.vmap(lambda row: (row * 1, row * 2), out_dims=(0, 1))(x)
        assert (tuple(first.shape), tuple(second.shape)) == ((2, 3), (3, 2))

    def test_a_number_counts_for_every_result(self):
        x = tp.ones(2, 3)
        first, second = tp.vmap(lambda row: (row * 1, row * 2), out_dims=1)(x)
        assert (tuple(first.shape), tuple(second.shape)) == ((3, 2), (3, 2))

    def test_they_follow_nested_results(self):
        def f(row):
            return {"a": row * 1, "b": row * 2}

        result = tp.vmap(f, out_dims={"a": 0, "b": 1})(tp.ones(2, 3))
        assert tuple(result["a"].shape) == (2, 3)
        assert tuple(result["b"].shape) == (3, 2)

    def test_none_returns_a_shared_result_once(self):
        shared = const([7.0, 8.0])
        first, second = tp.vmap(lambda row: (row, shared), out_dims=(0, None))(const(MATRIX))
        assert first.shape == (2, 3)
        assert_close(second, [7.0, 8.0])

    def test_none_for_a_mapped_result_is_an_error(self):
        with raises(ValueError, "vmap", ["out_dims"]):
            tp.vmap(lambda row: row * 1, out_dims=None)(const(MATRIX))

    @pytest.mark.parametrize("out_dims", [2, -3])
    def test_one_out_of_range_is_an_error(self, out_dims):
        with raises(IndexError, "vmap", ["out_dims", out_dims]):
            tp.vmap(lambda row: row * 1, out_dims=out_dims)(const(MATRIX))

    def test_more_than_there_are_results_is_an_error(self):
        with raises(ValueError, "vmap", ["out_dims"]):
            tp.vmap(lambda row: row * 1, out_dims=(0, 0))(const(MATRIX))

    def test_fewer_than_there_are_results_is_an_error(self):
        with raises(ValueError, "vmap", ["out_dims"]):
            tp.vmap(lambda row: (row * 1, row * 2), out_dims=(0,))(const(MATRIX))

    def test_what_is_no_number_is_an_error(self):
        with raises(ValueError, "vmap", ["out_dims"]):
            tp.vmap(lambda row: row * 1, out_dims="0")(const(MATRIX))


class TestWrongInDimsAndInputs:
    @pytest.mark.parametrize("in_dims", [2, -3])
    def test_one_out_of_range(self, in_dims):
        with raises(ValueError, "vmap", ["in_dim", in_dims, (2, 3)]):
            tp.vmap(tp.sum, in_dims=in_dims)(const(MATRIX))

    def test_an_input_without_dimensions(self):
        with raises(ValueError, "vmap", ["in_dim"]):
            tp.vmap(tp.sum)(const(1.0))

    @pytest.mark.parametrize("in_dims", ["0", 0.5])
    def test_what_is_no_number(self, in_dims):
        with raises(ValueError, "vmap", ["in_dims"]):
            tp.vmap(tp.sum, in_dims=in_dims)(const(MATRIX))

    @pytest.mark.parametrize("in_dims", [None, (None,)])
    def test_nothing_to_map(self, in_dims):
        with raises(ValueError, "vmap", ["in_dims"]):
            tp.vmap(tp.sum, in_dims=in_dims)(const(MATRIX))

    def test_more_entries_than_inputs(self):
        with raises(ValueError, "vmap", ["in_dims"]):
            tp.vmap(tp.sum, in_dims=(0, 0))(const(MATRIX))

    def test_fewer_entries_than_inputs(self):
        with raises(ValueError, "vmap", ["in_dims"]):
            tp.vmap(tp.dot, in_dims=(0,))(const(MATRIX), const(MATRIX))

    def test_a_structure_unlike_that_of_the_inputs(self):
        with raises(ValueError, "vmap", ["in_dims"]):
            tp.vmap(lambda pair: pair[0], in_dims=((0, 0, 0),))((const([1.0]), const([1.0])))

    def test_inputs_of_different_sizes(self):
        with raises(ValueError, "vmap", ["2", "3"]):
            tp.vmap(tp.mul)(const([1.0, 2.0]), const([1.0, 2.0, 3.0]))

    def test_a_number_cannot_be_mapped(self):
        with raises(ValueError, "vmap", ["in_dim", "float", "None"]):
            tp.vmap(tp.mul)(const([1.0, 2.0]), 3.0)

    def test_no_inputs_at_all(self):
        with raises(ValueError, "vmap"):
            tp.vmap(lambda: const(1.0))()

    def test_a_result_that_is_no_tensor(self):
        with raises(ValueError, "vmap", ["float"]):
            tp.vmap(lambda row: 1.0)(const(MATRIX))

    def test_func_is_not_called(self):
        calls = []
        with pytest.raises(ValueError):
            tp.vmap(calls.append, in_dims=5)(const(MATRIX))
        assert calls == []


class TestNesting:
    def test_two_levels_give_every_pair(self):
        x, y = const([1.0, 2.0]), const([10.0, 20.0, 30.0])
        table = tp.vmap(lambda a: tp.vmap(lambda b: a * b)(y))(x)
        assert_close(table, [[10.0, 20.0, 30.0], [20.0, 40.0, 60.0]])

    def test_composition_maps_two_dimensions(self):
        x = tp.arange(24, dtype=tp.float64).reshape(2, 3, 4)
        assert_close(tp.vmap(tp.vmap(tp.sum))(x), array(x).sum(axis=2))

    def test_in_dims_of_each_level_count_what_that_level_sees(self):
        x = tp.arange(24, dtype=tp.float64).reshape(2, 3, 4)
        result = tp.vmap(tp.vmap(tp.sum, in_dims=1), in_dims=1)(x)  # over 3, then over 4
        assert_close(result, array(x).sum(axis=0))

    def test_out_dims_of_each_level(self):
        x = tp.arange(6, dtype=tp.float64).reshape(2, 3)
        result = tp.vmap(tp.vmap(lambda v: v * 2, out_dims=0), out_dims=1)(x)
        assert_close(result, 2 * array(x).T)

    def test_a_matrix_product_from_dot(self):
        a, b = const(MATRIX), const([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        mv = tp.vmap(tp.dot, in_dims=(0, None))
        mm = tp.vmap(mv, in_dims=(None, 1), out_dims=1)
        assert_close(mm(a, b), array(a) @ array(b))

    def test_three_levels(self):
        x = const([1.0, 2.0])
        cube = tp.vmap(lambda a: tp.vmap(lambda b: tp.vmap(lambda c: a * b + c)(x))(x))(x)
        assert_close(cube[1], [[3.0, 4.0], [5.0, 6.0]])


class TestIndexing:
    def test_reading_by_number_slice_and_none(self):
        x = tp.arange(12, dtype=tp.float64).reshape(2, 2, 3)
        data = array(x)
        assert_close(tp.vmap(lambda m: m[0])(x), data[:, 0])
        assert_close(tp.vmap(lambda m: m[:, 1:])(x), data[:, :, 1:])
        assert_close(tp.vmap(lambda m: m[..., -1])(x), data[..., -1])
        assert_close(tp.vmap(lambda m: m[None, :, ::2])(x), data[:, None, :, ::2])

    def test_reading_by_a_shared_index_tensor(self):
        index = const([2, 0, 0], dtype=tp.int64)
        result = tp.vmap(lambda row: row[index])(const(MATRIX))
        assert_close(result, [[3.0, 1.0, 1.0], [6.0, 4.0, 4.0]])

    def test_reading_by_an_index_tensor_per_entry(self):
        indices = const([[0, 1], [2, 2]], dtype=tp.int64)
        result = tp.vmap(lambda row, index: row[index])(const(MATRIX), indices)
        assert_close(result, [[1.0, 2.0], [6.0, 6.0]])

    def test_one_row_per_entry_of_a_shared_table(self):
        table, index = const(MATRIX), const([1, 0, 1], dtype=tp.int64)
        result = tp.vmap(lambda i: table[i])(index)
        assert_close(result, [MATRIX[1], MATRIX[0], MATRIX[1]])

    def test_mixed_reading_per_entry(self):
        x = tp.arange(24, dtype=tp.float64).reshape(2, 3, 4)
        index = const([[0, 2], [1, 1]], dtype=tp.int64)
        result = tp.vmap(lambda m, i: m[i, 1:3])(x, index)
        assert_close(result, [array(x)[0, [0, 2], 1:3], array(x)[1, [1, 1], 1:3]])

    def test_writing(self):
        def write(row, value):
            row = row.clone()
            row[1:] = value
            return row

        result = tp.vmap(write)(const(MATRIX), const([0.0, 9.0]))
        assert_close(result, [[1.0, 0.0, 0.0], [4.0, 9.0, 9.0]])

    def test_a_mask_would_give_entries_of_different_sizes(self):
        with raises(RuntimeError):
            tp.vmap(lambda row: row[row > 2])(const(MATRIX))


class TestInPlace:
    def test_on_a_mapped_tensor_changes_the_batch(self):
        x = const(MATRIX)
        tp.vmap(lambda row: row.mul_(2))(x)
        assert_close(x, [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]])

    def test_with_a_mapped_operand(self):
        def update(row, scale):
            row = row.clone()
            row.mul_(scale).add_(1)
            row -= scale
            return row

        result = tp.vmap(update)(const(MATRIX), const([10.0, 0.0]))
        assert_close(result, [[1.0, 11.0, 21.0], [1.0, 1.0, 1.0]])

    def test_through_a_view(self):
        def update(row):
            row = row.clone()
            row[0].mul_(100)
            row[1:].zero_()
            return row

        assert_close(tp.vmap(update)(const(MATRIX)), [[100.0, 0.0, 0.0], [400.0, 0.0, 0.0]])

    def test_a_shared_tensor_cannot_hold_the_values_of_a_batch(self):
        shared = const([0.0, 0.0, 0.0])
        with raises(RuntimeError):
            tp.vmap(lambda row: shared.add_(row))(const(MATRIX))
        assert_close(shared, [0.0, 0.0, 0.0])
        assert shared._version == 0


class TestValuesCannotBeReadInside:
    def test_item(self):
        with raises(RuntimeError):
            tp.vmap(lambda v: v.item())(const([1.0, 2.0]))

    def test_a_branch_on_a_value(self):
        with raises(RuntimeError):
            tp.vmap(lambda v: v if v > 0 else -v)(const([1.0, -2.0]))

    def test_an_array(self):
        with raises(RuntimeError):
            tp.vmap(lambda v: v.numpy())(const([1.0, 2.0]))


class TestGradients:
    def test_backward_runs_through(self):
        x, w = leaf(MATRIX), leaf([1.0, 0.0, -1.0])
        tp.vmap(tp.dot, in_dims=(0, None))(x, w).sum().backward()
        assert_close(x.grad, [[1.0, 0.0, -1.0]] * 2)
        assert_close(w.grad, [5.0, 7.0, 9.0])

    def test_a_closed_over_leaf_receives_the_sum(self):
        w = leaf(2.0)
        tp.vmap(lambda v: v * w * w)(const([1.0, 2.0, 3.0])).sum().backward()
        assert_close(w.grad, 24.0)

    def test_second_derivatives_run_through(self):
        x = leaf([1.0, 2.0])
        (first,) = tp.autograd.grad(tp.vmap(lambda v: v**3)(x).sum(), x, create_graph=True)
        assert_close(tp.autograd.grad(first.sum(), x)[0], [6.0, 12.0])

    def test_per_sample_gradients(self):
        def loss(w, x):
            return tp.dot(w, x) ** 2  # gradient: 2 (w . x) x

        w, samples = const([1.0, -1.0]), const([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]])
        per_sample = tp.vmap(tp.func.grad(loss), in_dims=(None, 0))(w, samples)
        assert_close(per_sample, [[-2.0, -4.0], [12.0, 4.0], [0.0, -2.0]])

    def test_no_grad_holds_inside(self):
        x = leaf([1.0, 2.0])
        with tp.no_grad():
            assert not tp.vmap(lambda v: v * 2)(x).requires_grad

    @beyond_torch
    def test_autograd_grad_inside_is_per_entry(self):
        def slope(v):
            v = v.detach().requires_grad_()
            return tp.autograd.grad((v**3).sum(), v)[0]

        assert_close(tp.vmap(slope)(const([1.0, 2.0])), [3.0, 12.0])

    @beyond_torch
    def test_autograd_grad_inside_of_a_shared_leaf_is_per_entry(self):
        samples = const([[1.0, 2.0], [3.0, 1.0]])

        def per_sample(x):
            w = const([1.0, -1.0]).requires_grad_()
            return tp.autograd.grad(tp.dot(w, x) ** 2, w)[0]

        assert_close(tp.vmap(per_sample)(samples), [[-2.0, -4.0], [12.0, 4.0]])


class TestAfterAnErrorNothingIsHalfDone:
    def test_a_failing_function_leaves_no_level_behind(self):
        def fail(row):
            raise ZeroDivisionError

        x = const(MATRIX)
        with pytest.raises(ZeroDivisionError):
            tp.vmap(fail)(x)
        assert_close(x * 1, MATRIX)
        assert_close(tp.vmap(tp.sum)(x), [6.0, 15.0])
