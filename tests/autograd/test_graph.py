"""The graph: nodes and edges, hooks on saved tensors, hooks on several gradients."""

import os
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd.graph import (
    GradientEdge,
    Node,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)

from .support import ON_TORCH, beyond_torch, close, const, leaf, no_collector, raises, watch

if not ON_TORCH:
    from tensorplay.autograd.graph import save_to_disk


class TestNodes:
    def test_names_and_edges(self):
        x = leaf([1.0, 2.0])
        z = x.exp()
        node = (z * x).grad_fn
        assert isinstance(node, Node)
        assert node.name() == "MulBackward0"
        assert node.next_functions[0] == (z.grad_fn, 0)
        accumulate = node.next_functions[1][0]
        assert isinstance(accumulate, Node)
        assert accumulate.variable is x
        assert accumulate.next_functions == ()
        assert "MulBackward0 object at 0x" in repr(node)

    def test_inputs_without_grad_have_no_edge(self):
        node = (leaf([1.0]) * const([2.0])).grad_fn
        assert node.next_functions[1] == (None, 0)

    def test_output_numbers(self):
        x = leaf([1.0, 2.0])
        parts = x.exp().unbind(0)
        node = (parts[1] * 2).grad_fn
        assert node.next_functions[0] == (parts[1].grad_fn, 1)
        assert parts[0].grad_fn is parts[1].grad_fn

    def test_a_leaf_has_one_accumulator_while_a_graph_needs_it(self):
        x = leaf([1.0])
        a, b = x * 2, x * 3
        assert a.grad_fn.next_functions[0][0] is b.grad_fn.next_functions[0][0]

    def test_what_each_output_was_like(self):
        x = leaf([[1.0, 2.0, 3.0]])
        for y, shape in ((x.t() * 2, (3, 1)), (x.sum(), ()), (x.split(1, 1)[1], (1, 1))):
            metas = y.grad_fn._input_metadata
            assert len(metas) == (3 if shape == (1, 1) else 1)
            for meta in metas:
                assert tuple(meta.shape) == shape
                assert meta.dtype is tp.float64
                assert str(meta.device) == "cpu"
                assert meta.is_nested_tensor is False
        accumulator = (x * 2).grad_fn.next_functions[0][0]
        assert tuple(accumulator._input_metadata[0].shape) == (1, 3)
        assert accumulator.requires_grad

    def test_metadata_is_the_users(self):
        node = leaf([1.0]).exp().grad_fn
        node.metadata["note"] = 5
        assert node.metadata == {"note": 5}

    def test_saved_values(self):
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        node = (x * y).grad_fn
        assert node._saved_self is x
        assert node._saved_other is y
        out = x.exp()
        close(out.grad_fn._saved_result, out)
        assert out.grad_fn._saved_result.grad_fn is out.grad_fn
        with pytest.raises(AttributeError):
            node._saved_nothing  # noqa: B018

    def test_saved_parameters(self):
        x = leaf([[1.0, 2.0]])
        node = x.softmax(1).grad_fn
        assert node._saved_dim == 1

    def test_what_is_not_needed_is_not_saved(self):
        x, y = leaf([1.0, 2.0]), const([3.0, 4.0])
        node = (x * y).grad_fn
        assert node._saved_other is y
        if ON_TORCH:
            assert node._saved_self is None
        else:
            with pytest.raises(AttributeError):
                node._saved_self  # noqa: B018

    def test_saved_values_are_freed_by_the_pass(self):
        y = leaf([1.0]).exp()
        node = y.grad_fn
        y.sum().backward()
        with raises(RuntimeError, "ExpBackward0", "retain_graph"):
            node._saved_result  # noqa: B018

    def test_each_node_frees_as_soon_as_it_has_run(self):
        alive = []
        x = leaf(np.ones(3))
        a = x.exp()
        b = a.exp()
        (kept,) = watch(b)
        x.register_hook(lambda g: alive.append(kept() is not None))
        out = b.exp().sum()
        del b
        out.backward()
        assert alive == [False]


class TestNodeHooks:
    def test_the_order_of_all_hooks(self):
        seen = []
        x = leaf([1.0])
        y = x * 2
        y.register_hook(lambda g: seen.append("tensor"))
        y.grad_fn.register_prehook(lambda gs: seen.append("before"))
        y.grad_fn.register_hook(lambda gi, go: seen.append("after"))
        y.register_hook(lambda g: seen.append("tensor, later"))
        x.register_hook(lambda g: seen.append("leaf"))
        x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
        y.backward(const([1.0]))
        assert seen == ["tensor", "tensor, later", "before", "after", "leaf", "accumulated"]

    def test_arguments_and_replacement(self):
        seen = []
        x, y = leaf([2.0]), const([3.0])
        z = x * y
        z.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))

        def after(grad_inputs, grad_outputs):
            seen.append((float(grad_inputs[0]), grad_inputs[1], float(grad_outputs[0])))
            return grad_inputs[0] + 1, None

        z.grad_fn.register_hook(after)
        z.backward(const([1.0]))
        close(x.grad, [31.0])
        assert seen == [(30.0, None, 10.0)]

    def test_removal(self):
        x = leaf([1.0])
        y = x * 2
        before = y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
        after = y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, None))
        y.sum().backward(retain_graph=True)
        close(x.grad, [2000.0])
        before.remove()
        before.remove()
        after.remove()
        y.sum().backward()
        close(x.grad, [2002.0])

    @pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
    def test_wrong_results(self, register):
        y = leaf([1.0]) * leaf([2.0])
        wrong = {"number": lambda *a: (None,) * 3, "kind": lambda *a: 3}
        handle = getattr(y.grad_fn, register)(wrong["number"])
        with raises(RuntimeError, register, "MulBackward0", "3"):
            y.sum().backward(retain_graph=True)
        handle.remove()
        getattr(y.grad_fn, register)(wrong["kind"])
        with raises(TypeError, register, "int"):
            y.sum().backward()

    def test_hooks_of_an_accumulator(self):
        seen = []
        x = leaf([1.0])
        y = x * 2
        node = get_gradient_edge(x).node
        node.register_prehook(lambda gs: (gs[0] * 10,))
        node.register_hook(lambda gi, go: seen.append((gi, float(go[0]))))
        y.sum().backward()
        close(x.grad, [20.0])
        assert seen == [((), 20.0)]

    def test_grad_runs_hooks_of_the_input_but_not_of_its_node(self):
        seen = []
        x = leaf([1.0])
        y = x * 2
        z = y * 3
        y.register_hook(lambda g: seen.append("tensor"))
        y.grad_fn.register_hook(lambda gi, go: seen.append("node"))
        tp.autograd.grad(z.sum(), y)
        assert seen == ["tensor"]

    def test_an_error_in_a_hook_leaves_the_graph_usable(self):
        x = leaf([1.0])
        y = x * 2

        def fail(*args):
            raise ValueError("mine")

        handle = y.grad_fn.register_hook(fail)
        with pytest.raises(ValueError, match="mine"):
            y.sum().backward(retain_graph=True)
        handle.remove()
        y.sum().backward()
        close(x.grad, [2.0])


class TestEdges:
    def test_of_tensors(self):
        x = leaf([1.0])
        y = x * 2
        edge = get_gradient_edge(y)
        assert edge == GradientEdge(y.grad_fn, 0)
        assert edge.output_nr == 0
        assert get_gradient_edge(x).node.variable is x

    def test_a_tensor_without_grad_has_none(self):
        with raises(RuntimeError, "get_gradient_edge"):
            get_gradient_edge(const([1.0]))

    def test_as_inputs_and_outputs_of_grad(self):
        x = leaf([1.0, 2.0])
        y = x.exp()
        z = (y * 3).sum()
        middle = get_gradient_edge(y)
        end = get_gradient_edge(z)
        del y, z
        (g,) = tp.autograd.grad(end, middle, retain_graph=True)
        close(g, [3.0, 3.0])
        tp.autograd.backward(end)
        close(x.grad, 3 * np.exp([1.0, 2.0]))

    def test_edges_can_be_told_apart_by_output(self):
        x = leaf([1.0, 2.0])
        a, b = x.exp().unbind(0)
        z = 2 * a + 3 * b
        found = tp.autograd.grad(z, [get_gradient_edge(a), get_gradient_edge(b)])
        close(found[0], 2.0)
        close(found[1], 3.0)


class TestVersions:
    def test_increment_version(self):
        x = const([1.0])
        increment_version(x)
        increment_version([x, x])
        assert x._version == 3

    def test_it_is_seen_by_a_backward(self):
        x = leaf([1.0])
        y = x * x
        increment_version(x)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()

    def test_only_tensors_have_versions(self):
        with raises(RuntimeError, "increment_version", "int"):
            increment_version(3)


class TestSavedTensorHooks:
    def test_what_is_saved_goes_through_them(self):
        packed = []
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: packed.append(t) or t.detach().numpy(), tp.from_numpy):
            y = x.exp() * x
        assert len(packed) == 3
        (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
        close(g, [3 * np.exp(2.0)])
        (h,) = tp.autograd.grad(g.sum(), x)
        close(h, [4 * np.exp(2.0)])

    def test_the_value_that_unpack_gives_is_what_counts(self):
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t * 10):
            y = x * x
        y.sum().backward()
        close(x.grad, [40.0])

    def test_pack_hooks_run_unrecorded_and_without_hooks(self):
        seen = []

        def pack(t):
            seen.append(tp.is_grad_enabled())
            return (t * t).sqrt()

        x = leaf([2.0])
        with saved_tensors_hooks(pack, lambda t: t):
            y = x * x
        assert seen == [False, False]
        y.sum().backward()
        close(x.grad, [4.0])

    def test_the_innermost_pair_takes_all(self):
        seen = []
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: t):
            with saved_tensors_hooks(lambda t: seen.append("inner") or t, lambda t: t):
                x.exp()
            x.exp()
        x.exp()
        assert seen == ["inner", "outer"]

    def test_saved_attributes_are_unpacked(self):
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t.detach().numpy(), lambda a: tp.from_numpy(a) + 1):
            y = x.exp()
        close(y.grad_fn._saved_result, [np.exp(2.0) + 1])

    def test_a_retained_graph_unpacks_again(self):
        count = []
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t, lambda t: count.append(1) or t):
            y = x.exp()
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        assert len(count) == 2

    def test_an_error_in_pack(self):
        x = leaf([2.0])

        def fail(t):
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"), saved_tensors_hooks(fail, lambda t: t):
            x.exp()
        assert tp.is_grad_enabled()
        y = x.exp()
        y.sum().backward()
        close(x.grad, [np.exp(2.0)])

    def test_an_error_in_unpack_can_be_recovered_from(self):
        broken = [True]

        def unpack(t):
            if broken[0]:
                raise ValueError("mine")
            return t

        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t, unpack):
            y = x.exp()
        with pytest.raises(ValueError, match="mine"):
            y.sum().backward(retain_graph=True)
        broken[0] = False
        y.sum().backward()
        close(x.grad, [np.exp(2.0)])

    def test_an_error_in_unpack_frees_nothing_even_without_retain_graph(self):
        broken = [True]

        def unpack(t):
            if broken[0]:
                raise ValueError("mine")
            return t

        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t, unpack):
            y = x.exp()
        with pytest.raises(ValueError, match="mine"):
            y.sum().backward()
        broken[0] = False
        y.sum().backward()
        close(x.grad, [np.exp(2.0)])

    def test_unpack_must_give_a_tensor(self):
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: t, lambda t: 3):
            y = x.exp()
        with raises(TypeError, "saved_tensors_hooks", "int"):
            y.sum().backward()

    def test_hooks_belong_to_their_thread(self):
        seen = []
        x = leaf([2.0])
        with saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
            thread = threading.Thread(target=lambda: x.exp())
            thread.start()
            thread.join()
        assert seen == []

    def test_disabling(self):
        x = leaf([2.0])
        with disable_saved_tensors_hooks("not here"):
            x.exp()
            with pytest.raises(RuntimeError, match="not here"):
                with saved_tensors_hooks(lambda t: t, lambda t: t):
                    x.exp()
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            with pytest.raises(RuntimeError, match="not here"):
                with disable_saved_tensors_hooks("not here"):
                    x.exp()
            x.exp()

    def test_hooks_on_one_saved_tensor(self):
        x = leaf([2.0])
        y = x.exp()
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy(), lambda a: tp.from_numpy(a))
        with raises(RuntimeError, "register_hooks"):
            y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
        y.sum().backward()
        close(x.grad, [np.exp(2.0)])

    def test_nothing_stays_alive(self):
        with no_collector():
            x = leaf([2.0])
            with saved_tensors_hooks(lambda t: t, lambda t: t):
                a = x.exp()
                b = a.exp()
            references = watch(a, b)
            b.sum().backward()
            del a, b
            assert [r() for r in references] == [None, None]


class TestSaveOnCpu:
    @pytest.mark.parametrize("pin", [False, pytest.param(True, marks=beyond_torch)])
    def test_gradients(self, pin):
        x = leaf([2.0])
        with save_on_cpu(pin_memory=pin):
            y = (x.exp() * x).sum()
        y.backward()
        close(x.grad, [3 * np.exp(2.0)])

    @beyond_torch
    def test_changes_in_place_are_noticed(self):
        x = leaf([2.0])
        with save_on_cpu():
            y = x.exp()
        y.mul_(2)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()


@beyond_torch
class TestSaveToDisk:
    def test_gradients_and_files(self, tmp_path):
        x = leaf(np.arange(1000.0) / 1000)
        with save_to_disk(tmp_path, min_bytes=1000):
            y = x.exp()
            z = (y * y).sin().sum()
        files = os.listdir(tmp_path)
        assert len(files) == 2  # exp and mul save one tensor, sin another
        (g,) = tp.autograd.grad(z, x, retain_graph=True)
        e = np.exp(x.detach().numpy())
        close(g, np.cos(e * e) * 2 * e * e)
        del y, z
        assert os.listdir(tmp_path) == []

    def test_files_go_as_nodes_have_run(self, tmp_path):
        x = leaf(np.ones(100))
        with save_to_disk(str(tmp_path), min_bytes=1):
            y = x.exp().exp().exp().sum()
        left = []
        x.register_hook(lambda g: left.append(len(os.listdir(tmp_path))))
        assert len(os.listdir(tmp_path)) == 3
        y.backward()
        assert left == [0]

    def test_small_tensors_and_leaves_stay(self, tmp_path):
        x = leaf(np.ones(100))
        with save_to_disk(tmp_path, min_bytes=10_000):
            x.exp().exp()
        with save_to_disk(tmp_path, min_bytes=1):
            y = x * x
        assert os.listdir(tmp_path) == []
        y.sum().backward()
        close(x.grad, np.full(100, 2.0))

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
    def test_dtypes(self, tmp_path, dtype):
        x = tp.ones(10, dtype=getattr(tp, dtype), requires_grad=True)
        with save_to_disk(tmp_path, min_bytes=20):
            y = (x * 1).square()
        assert len(os.listdir(tmp_path)) == 1
        (g,) = tp.autograd.grad(y, x, tp.ones_like(y))
        assert g.dtype == x.dtype
        close(g.to(tp.complex128), np.full(10, 2.0 + 0j))

    def test_strided_values(self, tmp_path):
        x = leaf(np.arange(6.0).reshape(2, 3))
        with save_to_disk(tmp_path, min_bytes=1):
            y = (x * 1).t().square()
        y.sum().backward()
        close(x.grad, 2 * np.arange(6.0).reshape(2, 3))

    def test_a_change_in_place_before_the_next_use_makes_another_file(self, tmp_path):
        x = leaf(np.ones(10))
        with save_to_disk(tmp_path, min_bytes=1):
            y = x * 1
            a = y * y
            y.mul_(3)
            b = y * y
        (a + b).sum().backward()
        close(x.grad, np.full(10, 2.0 + 18.0))

    def test_under_vmap_of_grad(self, tmp_path):
        counts = []

        def f(x):
            y = x.exp()
            z = y.sin().sum()
            counts.append(len(os.listdir(tmp_path)))
            return z

        x = const(np.ones((4, 5)))
        with save_to_disk(tmp_path, min_bytes=1):
            g = tp.vmap(tp.func.grad(f))(x)
        close(g, x.exp().cos() * x.exp())
        assert counts == [1]

    def test_bad_arguments(self):
        with raises(ValueError, "min_bytes"):
            save_to_disk(min_bytes=-1)


class TestMutationOfSavedTensors:
    def test_saved_values_are_copied_before_a_change(self):
        with allow_mutation_on_saved_tensors():
            a = leaf([1.0, 1.0])
            b = a.clone()
            c = b**2
            b.sin_()
            (c.sum() + b.sum()).backward()
        close(a.grad, np.full(2, 2 + np.cos(1.0)))

    @beyond_torch
    def test_through_views_and_assignment(self):
        with allow_mutation_on_saved_tensors():
            a = leaf([1.0, 2.0])
            b = a.clone()
            c = b * b
            b[0] = 7.0
            d = b * b
            b[1:].zero_()
            (c + 10 * d).sum().backward()
        close(a.grad, [2.0, 44.0])

    def test_a_saved_output(self):
        with allow_mutation_on_saved_tensors():
            a = leaf([1.0])
            b = a.exp()
            c = b * 1
            b.mul_(100)
            c.sum().backward()
        close(a.grad, [np.e])

    def test_outside_of_the_context_it_is_refused(self):
        with allow_mutation_on_saved_tensors():
            a = leaf([1.0])
            c = a.exp()
        with raises(AssertionError, "allow_mutation_on_saved_tensors"):
            c.sum().backward()

    def test_no_nesting(self):
        with allow_mutation_on_saved_tensors():
            with raises(RuntimeError, "nested"), allow_mutation_on_saved_tensors():
                pass
        with allow_mutation_on_saved_tensors():
            pass

    def test_afterwards_changes_are_errors_again(self):
        with allow_mutation_on_saved_tensors():
            pass
        x = leaf([1.0]).clone()
        y = x * x
        x.mul_(2)
        with raises(RuntimeError, "in-place"):
            y.sum().backward()


class TestMultiGradHook:
    def setup_method(self):
        self.a, self.b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        self.c, self.d = self.a * self.b, self.a * self.b
        self.tensors = (self.a, self.b, self.c, self.d)
        self.seen = []

    def all_hook(self):
        return register_multi_grad_hook(
            self.tensors, lambda gs: self.seen.append([g is not None for g in gs])
        )

    def test_all_waits_for_those_that_this_pass_computes(self):
        self.all_hook()
        self.c.sum().backward(retain_graph=True)
        (self.c + self.d).sum().backward(retain_graph=True)
        self.a.sum().backward()
        assert self.seen == [
            [True, True, True, False], [True] * 4, [True, False, False, False]
        ]  # fmt: skip

    @beyond_torch
    def test_all_in_grad(self):
        self.all_hook()
        tp.autograd.grad(self.c.sum(), self.c, retain_graph=True)
        tp.autograd.grad(self.c.sum(), self.a)
        assert self.seen == [[False, False, True, False], [True, False, True, False]]

    def test_any_takes_the_first_of_each_pass(self):
        register_multi_grad_hook(self.tensors, self.seen.append, mode="any")
        self.c.sum().backward(retain_graph=True)
        self.c.sum().backward()
        assert len(self.seen) == 2
        close(self.seen[0], [1.0, 1.0])

    def test_removal(self):
        handle = self.all_hook()
        handle.remove()
        self.c.sum().backward()
        assert self.seen == []

    @beyond_torch
    def test_gradient_edges(self):
        edges = [get_gradient_edge(self.c), get_gradient_edge(self.a)]
        register_multi_grad_hook(edges, lambda gs: self.seen.append(len(gs)))
        self.c.sum().backward()
        assert self.seen == [2]

    def test_a_backward_inside_the_hook(self):
        other = leaf([1.0])

        def hook(gs):
            self.seen.append(len(gs))
            with tp.enable_grad():
                (other * 2).sum().backward()

        register_multi_grad_hook(self.tensors, hook)
        self.c.sum().backward()
        assert self.seen == [4]
        close(other.grad, [2.0])

    def test_bad_arguments(self):
        with raises(ValueError, "mode"):
            register_multi_grad_hook(self.tensors, print, mode="some")
        with pytest.raises((RuntimeError, AssertionError)):
            register_multi_grad_hook((const([1.0]),), print)
