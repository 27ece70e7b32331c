"""The smallest useful part of `tensorplay.nn`: Parameter, Module and Linear."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp

from .support import array, assert_close, assert_tensor, const, leaf, raises

nn = tp.nn


class Affine(nn.Module):
    """Scale and shift, at module level so that it can be pickled."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(const([2.0, 3.0]))
        self.shift = nn.Parameter(const([1.0, 1.0]))
        self.note = "not a parameter"

    def forward(self, x):
        return x * self.scale + self.shift


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 3)
        self.output = nn.Linear(3, 1)

    def forward(self, x):
        return self.output(self.hidden(x).tanh())


class TestParameter:
    def test_it_is_a_leaf_tensor_that_requires_grad(self):
        p = nn.Parameter(const([1.0, 2.0]))
        assert isinstance(p, tp.Tensor)
        assert isinstance(p, nn.Parameter)
        assert p.requires_grad
        assert p.is_leaf

    def test_it_can_be_frozen(self):
        assert not nn.Parameter(const([1.0]), requires_grad=False).requires_grad

    def test_it_shares_the_memory_of_its_data(self):
        data = const([1.0, 2.0])
        p = nn.Parameter(data)
        data[0] = 5.0
        assert_close(p, [5.0, 2.0])

    def test_results_are_plain_tensors_with_gradients(self):
        p = nn.Parameter(const([1.0, 2.0]))
        y = p * p
        assert type(y) is tp.Tensor
        y.sum().backward()
        assert_close(p.grad, [2.0, 4.0])

    def test_it_prints_that_it_is_one(self):
        p = nn.Parameter(tp.tensor([1.0, 2.0]))
        assert repr(p) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"

    def test_copies_stay_parameters(self):
        p = nn.Parameter(const([1.0, 2.0]))
        for q in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
            assert isinstance(q, nn.Parameter)
            assert q.requires_grad
            with tp.no_grad():
                q[0] = 5.0
            assert_close(p, [1.0, 2.0])


class TestModule:
    def test_calling_it_calls_forward(self):
        assert_close(Affine()(const([1.0, 10.0])), [3.0, 31.0])

    def test_without_forward_it_cannot_be_called(self):
        with pytest.raises(NotImplementedError):
            nn.Module()(const([1.0]))

    def test_named_parameters_come_in_the_order_of_assignment(self):
        assert [name for name, _ in Affine().named_parameters()] == ["scale", "shift"]

    def test_names_of_submodules_are_joined_by_dots(self):
        names = [name for name, _ in Net().named_parameters()]
        assert names == ["hidden.weight", "hidden.bias", "output.weight", "output.bias"]

    def test_parameters_are_the_same_objects_without_names(self):
        net = Net()
        named = [p for _, p in net.named_parameters()]
        plain = list(net.parameters())
        assert len(plain) == 4
        assert all(p is q for p, q in zip(plain, named, strict=True))

    def test_a_shared_parameter_is_named_once(self):
        net = Net()
        net.again = net.hidden
        net.tied = net.output.weight
        assert len(list(net.named_parameters())) == 4

    def test_only_parameters_are_registered(self):
        model = Affine()
        model.buffer = const([1.0])
        assert [name for name, _ in model.named_parameters()] == ["scale", "shift"]

    def test_assigning_another_parameter_replaces_the_first(self):
        model = Affine()
        model.scale = nn.Parameter(const([5.0, 5.0]))
        assert len(list(model.parameters())) == 2
        assert_close(model(const([1.0, 1.0])), [6.0, 6.0])

    def test_a_parameter_can_be_deleted(self):
        model = Affine()
        del model.shift
        assert [name for name, _ in model.named_parameters()] == ["scale"]
        with pytest.raises(AttributeError):
            model.shift  # noqa: B018

    def test_a_tensor_cannot_take_the_place_of_a_parameter(self):
        model = Affine()
        with raises(TypeError):
            model.scale = const([1.0, 1.0])
        assert isinstance(model.scale, nn.Parameter)

    def test_parameters_need_the_constructor_of_module(self):
        class Forgetful(nn.Module):
            def __init__(self):
                self.weight = nn.Parameter(const([1.0]))

        with raises(AttributeError):
            Forgetful()

    def test_an_unknown_attribute_is_an_error_that_names_it(self):
        with pytest.raises(AttributeError, match="missing"):
            Affine().missing  # noqa: B018

    def test_zero_grad_clears_gradients(self):
        model = Affine()
        model(const([1.0, 1.0])).sum().backward()
        assert model.scale.grad is not None
        model.zero_grad()
        assert model.scale.grad is None

    def test_requires_grad_in_place_concerns_all_parameters(self):
        model = Net()
        assert model.requires_grad_(False) is model
        assert not any(p.requires_grad for p in model.parameters())

    def test_copies_are_independent(self):
        model = Affine()
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            with tp.no_grad():
                twin.scale.zero_()
            assert_close(model.scale, [2.0, 3.0])
            assert [name for name, _ in twin.named_parameters()] == ["scale", "shift"]


class TestLinear:
    def test_it_multiplies_by_the_transposed_weight_and_adds_the_bias(self):
        layer = nn.Linear(2, 3)
        with tp.no_grad():
            layer.weight.copy_(tp.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
            layer.bias.copy_(tp.tensor([0.5, 0.0, -0.5]))
        assert_close(layer(tp.tensor([[1.0, 1.0], [0.0, 2.0]])), [[3.5, 7, 10.5], [4.5, 8, 11.5]])

    def test_shapes_and_dtype_of_its_parameters(self):
        layer = nn.Linear(2, 3)
        assert layer.weight.shape == (3, 2)
        assert layer.bias.shape == (3,)
        assert layer.weight.dtype == layer.bias.dtype == tp.float32
        assert nn.Linear(2, 3, dtype=tp.float64).weight.dtype == tp.float64

    @pytest.mark.parametrize("leading", [(), (4,), (4, 5)])
    def test_any_leading_dimensions(self, leading):
        assert nn.Linear(2, 3)(tp.ones(*leading, 2)).shape == (*leading, 3)

    def test_without_bias(self):
        layer = nn.Linear(2, 3, bias=False)
        assert layer.bias is None
        assert [name for name, _ in layer.named_parameters()] == ["weight"]
        assert_close(layer(tp.zeros(2)), np.zeros(3))

    def test_parameters_start_uniform_within_one_over_the_root_of_the_inputs(self):
        tp.manual_seed(0)
        layer = nn.Linear(100, 50)
        for p in layer.parameters():
            values = array(p)
            assert abs(values).max() <= 0.1
            assert abs(values).max() > 0.08
            assert abs(values.mean()) < 0.03

    def test_the_seed_decides_the_start(self):
        starts = []
        for seed in (1, 1, 2):
            tp.manual_seed(seed)
            starts.append(nn.Linear(2, 2).weight.tolist())
        assert starts[0] == starts[1] != starts[2]

    def test_gradients_of_input_weight_and_bias(self):
        layer = nn.Linear(2, 1)
        with tp.no_grad():
            layer.weight.copy_(tp.tensor([[3.0, 4.0]]))
        x = leaf([[1.0, 2.0], [5.0, 6.0]], dtype=tp.float32)
        layer(x).sum().backward()
        assert_close(x.grad, [[3.0, 4.0], [3.0, 4.0]])
        assert_tensor(layer.weight.grad, [[6.0, 8.0]], tp.float32)
        assert_close(layer.bias.grad, [2.0])

    def test_a_wrong_input_is_an_error_that_names_both_shapes(self):
        with raises(RuntimeError, "linear", [(2, 4), (2, 3)]):
            nn.Linear(3, 2)(tp.ones(2, 4))

    def test_a_wrong_dtype_is_an_error_that_names_both(self):
        with raises(RuntimeError, "linear", ["float32", "float64"]):
            nn.Linear(3, 2)(tp.ones(2, 3, dtype=tp.float64))

    def test_it_describes_itself(self):
        assert repr(nn.Linear(2, 3)) == "Linear(in_features=2, out_features=3, bias=True)"


class TestTraining:
    def test_gradient_descent_finds_a_line(self):
        tp.manual_seed(0)
        model = nn.Linear(1, 1)
        x = tp.linspace(-1, 1, 20)[:, None]
        y = 3 * x - 2
        for _ in range(200):
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            with tp.no_grad():
                for p in model.parameters():
                    p -= 0.3 * p.grad
                    p.grad = None
        assert_close(model.weight, [[3.0]], rtol=1e-3)
        assert_close(model.bias, [-2.0], rtol=1e-3)
        assert loss.item() < 1e-6

    def test_per_sample_gradients_of_a_model_written_as_a_function(self):
        tp.manual_seed(0)
        model = Net()
        params = {name: p.detach() for name, p in model.named_parameters()}
        x = tp.tensor([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]])

        def loss(params, sample):
            linear = nn.functional.linear
            hidden = linear(sample, params["hidden.weight"], params["hidden.bias"]).tanh()
            return linear(hidden, params["output.weight"], params["output.bias"]).sum()

        per_sample = tp.vmap(tp.func.grad(loss), in_dims=(None, 0))(params, x)
        for i, sample in enumerate(x):
            expected = tp.autograd.grad(model(sample).sum(), dict(model.named_parameters()))
            for name, gradient in expected.items():
                assert_close(per_sample[name][i], gradient.numpy(), rtol=1e-4, atol=1e-6)
