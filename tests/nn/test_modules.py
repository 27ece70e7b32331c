"""Modules: state, hooks, containers, conversions."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import nn


class Tied(nn.Module):
    """Two names for one parameter, a buffer that is saved and one that is not."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("count", tp.zeros(1))
        self.register_buffer("scratch", tp.zeros(1), persistent=False)

    def forward(self, x):
        return self.second(self.first(x))


class TestState:
    def test_a_state_dict_has_parameters_and_persistent_buffers(self):
        assert list(Tied().state_dict()) == ["count", "first.weight", "second.weight"]

    def test_its_tensors_share_the_memory_of_the_module(self):
        layer = nn.Linear(2, 2)
        state = layer.state_dict()
        state["bias"].fill_(3.0)
        assert layer.bias.tolist() == [3.0, 3.0]
        assert not state["bias"].requires_grad
        assert layer.state_dict(keep_vars=True)["bias"] is layer.bias

    def test_loading_copies_values(self):
        source, target = nn.Linear(2, 2), nn.Linear(2, 2)
        kept = target.weight
        assert repr(target.load_state_dict(source.state_dict())) == (
            "<All keys matched successfully>"
        )
        assert target.weight is kept
        assert target.weight.tolist() == source.weight.tolist()
        source.weight.data.fill_(9.0)
        assert target.weight.tolist() != source.weight.tolist()

    def test_loading_can_assign_the_tensors_themselves(self):
        target = nn.Linear(2, 1)
        weight = tp.ones(1, 2)
        target.load_state_dict({"weight": weight, "bias": tp.zeros(1)}, assign=True)
        weight.fill_(5.0)
        assert target.weight.tolist() == [[5.0, 5.0]]
        assert isinstance(target.weight, nn.Parameter)
        assert target.weight.requires_grad

    def test_what_does_not_fit_is_listed_at_once(self):
        target = nn.Sequential(nn.Linear(2, 3))
        with pytest.raises(RuntimeError) as caught:
            target.load_state_dict({"0.weight": tp.zeros(2, 2), "other": tp.zeros(1)})
        message = str(caught.value)
        assert 'Missing key(s) in state_dict: "0.bias"' in message
        assert 'Unexpected key(s) in state_dict: "other"' in message
        assert "size mismatch for 0.weight" in message
        assert "[2, 2]" in message and "[3, 2]" in message

    def test_not_strictly_the_rest_is_loaded(self):
        target = nn.Linear(2, 1)
        result = target.load_state_dict({"bias": tp.ones(1), "other": tp.ones(1)}, strict=False)
        assert result.missing_keys == ["weight"]
        assert result.unexpected_keys == ["other"]
        assert target.bias.tolist() == [1.0]

    def test_only_mappings_are_loaded(self):
        with pytest.raises(TypeError):
            nn.Linear(1, 1).load_state_dict([1])

    def test_extra_state_goes_along(self):
        class Counting(nn.Module):
            count = 0

            def get_extra_state(self):
                return {"count": self.count}

            def set_extra_state(self, state):
                self.count = state["count"]

        source, target = Counting(), Counting()
        source.count = 7
        target.load_state_dict(source.state_dict())
        assert target.count == 7

    def test_hooks_around_saving_and_loading(self):
        seen = []
        layer = nn.Linear(1, 1)
        layer.register_state_dict_pre_hook(lambda *args: seen.append("before saving"))
        layer.register_state_dict_post_hook(lambda m, state, *rest: state.update(extra=1))
        layer.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("extra"))
        layer.register_load_state_dict_post_hook(lambda m, keys: seen.append("after loading"))
        layer.load_state_dict(layer.state_dict())
        assert seen == ["before saving", "after loading"]

    def test_pickles_and_copies_keep_ties(self):
        model = Tied()
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert twin.first.weight is twin.second.weight
            assert twin.first.weight is not model.first.weight


class TestConversions:
    def test_dtypes(self):
        model = Tied()
        weight = model.first.weight
        assert model.double() is model
        assert model.first.weight is weight
        assert weight.dtype == model.count.dtype == tp.float64
        assert model.to(tp.float16).first.weight.dtype == tp.float16
        assert model.to(tp.zeros(1)).first.weight.dtype == tp.float32
        assert model.float().bfloat16().first.weight.dtype == tp.bfloat16

    def test_integers_stay(self):
        norm = nn.BatchNorm1d(2).double()
        assert norm.num_batches_tracked.dtype == tp.int64
        assert norm.running_mean.dtype == tp.float64

    def test_gradients_are_converted_too(self):
        layer = nn.Linear(1, 1)
        layer(tp.ones(1)).sum().backward()
        layer.double()
        assert layer.weight.grad.dtype == tp.float64

    def test_an_integer_dtype_is_refused(self):
        with pytest.raises(TypeError):
            nn.Linear(1, 1).to(tp.int64)

    def test_training_mode_reaches_all(self):
        model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout()))
        assert model.eval() is model
        assert not any(m.training for m in model.modules())
        assert all(m.training for m in model.train().modules())
        with pytest.raises(ValueError):
            model.train(1)

    def test_apply_visits_children_first(self):
        order = []
        nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(
            lambda m: order.append(type(m).__name__)
        )
        assert order == ["ReLU", "Tanh", "Sequential", "Sequential"]


class TestFinding:
    def test_paths(self):
        model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.BatchNorm1d(1)))
        assert model.get_submodule("1.0") is model[1][0]
        assert model.get_submodule("") is model
        assert model.get_parameter("0.bias") is model[0].bias
        assert model.get_buffer("1.0.running_mean") is model[1][0].running_mean
        for wrong in ("1.5", "0.bias"):
            with pytest.raises(AttributeError):
                model.get_submodule(wrong)
        with pytest.raises(AttributeError):
            model.get_parameter("0.nothing")

    def test_shared_modules_are_listed_once(self):
        shared = nn.Linear(1, 1)
        model = nn.Sequential(shared, nn.ReLU(), shared)
        assert [name for name, _ in model.named_modules()] == ["", "0", "1"]
        assert [name for name, _ in model.named_modules(remove_duplicate=False)] == [
            "", "0", "1", "2",
        ]  # fmt: skip
        assert len(list(model.children())) == 2
        assert len(list(model.parameters())) == 2

    def test_names_that_are_refused(self):
        module = nn.Module()
        with pytest.raises(KeyError):
            module.register_parameter("a.b", nn.Parameter(tp.zeros(1)))
        with pytest.raises(KeyError):
            module.register_buffer("", tp.zeros(1))
        with pytest.raises(KeyError):
            module.register_buffer("forward", tp.zeros(1))
        with pytest.raises(TypeError):
            module.register_parameter("p", tp.zeros(1))
        with pytest.raises(TypeError):
            module.add_module("m", 3)
        p = nn.Parameter(tp.zeros(1))
        assert module.__dir__() is not None
        with pytest.raises(TypeError):
            module.register_parameter("q", p * 1)

    def test_a_buffer_is_replaced_by_assignment(self):
        module = nn.Module()
        module.b = nn.Buffer(tp.zeros(1), persistent=False)
        assert dict(module.named_buffers()).keys() == {"b"}
        assert not module.state_dict()
        module.b = tp.ones(1)
        assert module.b.tolist() == [1.0]
        assert "b" in dict(module.named_buffers())
        with pytest.raises(TypeError):
            module.b = 3
        module.b = nn.Parameter(tp.zeros(1))
        assert [n for n, _ in module.named_parameters()] == ["b"]
        assert not list(module.buffers())


class TestForwardHooks:
    def test_before_and_after(self):
        layer = nn.Identity()
        layer.register_forward_pre_hook(lambda m, args: args[0] + 1)
        layer.register_forward_hook(lambda m, args, out: out * 10)
        assert layer(tp.ones(1)).tolist() == [20.0]

    def test_removed(self):
        layer = nn.Identity()
        with layer.register_forward_hook(lambda m, args, out: out * 10):
            assert layer(tp.ones(1)).tolist() == [10.0]
        assert layer(tp.ones(1)).tolist() == [1.0]

    def test_keywords_and_order(self):
        class Plus(nn.Module):
            def forward(self, x, *, y):
                return x + y

        layer, order = Plus(), []
        layer.register_forward_pre_hook(
            lambda m, args, kwargs: (args, {"y": kwargs["y"] * 2}), with_kwargs=True
        )
        layer.register_forward_hook(lambda m, args, out: order.append("second"))
        layer.register_forward_hook(lambda m, args, out: order.append("first"), prepend=True)
        layer.register_forward_hook(
            lambda m, args, kwargs, out: order.append(kwargs["y"].item()), with_kwargs=True
        )
        assert layer(tp.ones(1), y=tp.ones(1)).tolist() == [3.0]
        assert order == ["first", "second", 2.0]

    def test_always_called(self):
        class Failing(nn.Module):
            def forward(self, x):
                raise ValueError("no")

        layer, seen = Failing(), []
        layer.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
        layer.register_forward_hook(lambda m, args, out: seen.append("not called"))
        with pytest.raises(ValueError, match="no"):
            layer(tp.ones(1))
        assert seen == [None]


class TestBackwardHooks:
    def test_gradients_of_inputs_and_outputs(self):
        layer, seen = nn.Linear(2, 1), []
        layer.register_full_backward_hook(lambda m, gin, gout: seen.append((gin, gout)))
        x = tp.ones(3, 2, requires_grad=True)
        (layer(x) * 2).sum().backward()
        ((gin,), (gout,)) = seen[0]
        assert gout.tolist() == [[2.0]] * 3
        np.testing.assert_allclose(gin.numpy(), x.grad.numpy())

    def test_they_may_change_them(self):
        layer = nn.Identity()
        layer.register_full_backward_pre_hook(lambda m, gout: (gout[0] * 3,))
        layer.register_full_backward_hook(lambda m, gin, gout: (gin[0] + gout[0],))
        x = tp.ones(1, requires_grad=True)
        layer(x).sum().backward()
        assert x.grad.tolist() == [6.0]

    def test_without_gradients_of_inputs(self):
        layer, seen = nn.Linear(1, 1), []
        layer.register_full_backward_hook(lambda m, gin, gout: seen.append(gout[0].tolist()))
        layer(tp.ones(1, 1)).sum().backward()
        assert seen == [[[1.0]]]

    def test_several_inputs_and_outputs(self):
        class Swap(nn.Module):
            def forward(self, x, y):
                return y, x * 2

        layer, seen = Swap(), []
        layer.register_full_backward_hook(
            lambda m, gin, gout: seen.append([g.item() for g in (*gin, *gout)])
        )
        x, y = (tp.tensor(v, requires_grad=True) for v in (1.0, 2.0))
        a, b = layer(x, y)
        (a * 3 + b * 5).backward()
        assert seen == [[10.0, 3.0, 3.0, 5.0]]
        assert (x.grad.item(), y.grad.item()) == (10.0, 3.0)


class TestContainers:
    def test_sequential_is_a_list(self):
        model = nn.Sequential(nn.ReLU(), nn.Tanh())
        model.append(nn.Sigmoid()).insert(0, nn.Identity())
        assert [type(m).__name__ for m in model] == ["Identity", "ReLU", "Tanh", "Sigmoid"]
        assert [type(m).__name__ for m in model[1:3]] == ["ReLU", "Tanh"]
        assert isinstance(model[-1], nn.Sigmoid)
        del model[1]
        assert list(model._modules) == ["0", "1", "2"]
        assert isinstance(model.pop(0), nn.Identity)
        assert len(model + model) == 4
        assert len(model * 3) == 6
        model[0] = nn.ELU()
        assert isinstance(model[0], nn.ELU)
        with pytest.raises(IndexError):
            model[5]

    def test_module_list(self):
        layers = nn.ModuleList([nn.Linear(1, 1)])
        layers += [nn.ReLU(), nn.ReLU()]
        layers.insert(0, nn.Tanh())
        assert len(layers) == 4
        assert len(list(layers.parameters())) == 2
        assert repr(layers).splitlines()[-2] == "  (2-3): 2 x ReLU()"
        with pytest.raises(NotImplementedError):
            layers(tp.ones(1))

    def test_module_dict(self):
        layers = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
        layers.update([("c", nn.Tanh())])
        assert list(layers) == ["a", "b", "c"]
        assert "a" in layers and len(layers) == 3
        assert isinstance(layers.pop("a"), nn.ReLU)
        assert list(layers.keys()) == ["b", "c"]
        assert [n for n, _ in layers.named_parameters()] == ["b.weight", "b.bias"]

    def test_parameter_list(self):
        values = nn.ParameterList([tp.zeros(2), nn.Parameter(tp.ones(1))])
        values.append(tp.ones(3))
        assert len(values) == 3
        assert all(isinstance(p, nn.Parameter) for p in values)
        assert list(values.state_dict()) == ["0", "1", "2"]
        values[0] = tp.ones(4)
        assert values[0].shape == (4,)
        assert len(values[1:]) == 2

    def test_parameter_dict(self):
        values = nn.ParameterDict({"a": tp.zeros(2)})
        values["b"] = tp.ones(1)
        assert list(values.items())[1][1] is values["b"]
        assert isinstance(values["b"], nn.Parameter)
        assert values.get("c") is None
        assert values.setdefault("c", tp.ones(2)).shape == (2,)
        del values["a"]
        assert list(values.state_dict()) == ["b", "c"]
        assert "b" in values.copy()


class TestFunctionalCall:
    def test_gradients_by_the_parameters_that_are_given(self):
        layer = nn.Linear(2, 1)
        params = {name: p.detach() * 0 + 2 for name, p in layer.named_parameters()}

        def loss(params, x):
            return tp.func.functional_call(layer, params, (x,)).sum()

        x = tp.tensor([[1.0, 2.0], [3.0, 4.0]])
        grads = tp.vmap(tp.func.grad(loss), in_dims=(None, 0))(params, x)
        assert grads["weight"].tolist() == [[[1.0, 2.0]], [[3.0, 4.0]]]
        assert loss(params, x).item() == 24.0
        assert layer.weight.grad is None

    def test_ties_are_replaced_together(self):
        model = Tied()
        out = tp.func.functional_call(model, {"first.weight": tp.eye(2) * 2}, tp.ones(2))
        assert out.tolist() == [4.0, 4.0]
        assert model.first.weight is model.second.weight

    def test_errors_leave_the_module_as_it_was(self):
        model = Tied()
        weight = model.first.weight
        with pytest.raises(RuntimeError):
            tp.func.functional_call(model, {"first.weight": tp.eye(2)}, tp.ones(3))
        with pytest.raises(RuntimeError, match="nothing"):
            tp.func.functional_call(model, {"nothing": tp.eye(2)}, tp.ones(2))
        with pytest.raises(RuntimeError, match="strict"):
            tp.func.functional_call(model, {"first.weight": weight}, tp.ones(2), strict=True)
        assert model.first.weight is weight

    def test_an_ensemble_by_vmap(self):
        models = [nn.Linear(2, 1) for _ in range(3)]
        params, buffers = tp.func.stack_module_state(models)
        x = tp.ones(4, 2)
        out = tp.vmap(
            lambda p, b: tp.func.functional_call(models[0], (p, b), (x,))
        )(params, buffers)  # fmt: skip
        for i, model in enumerate(models):
            np.testing.assert_allclose(out[i].detach().numpy(), model(x).detach().numpy(), 1e-6)
