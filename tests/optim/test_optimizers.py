"""Optimisers: what they accept, and that they find minima."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay import optim


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


@pytest.mark.parametrize(
    "make, steps",
    [
        (lambda ps: optim.SGD(ps, 0.1, momentum=0.8), 200),
        (lambda ps: optim.Adam(ps, 0.1), 500),
        (lambda ps: optim.AdamW(ps, 0.1, weight_decay=0.0), 500),
        (lambda ps: optim.RMSprop(ps, 0.01), 800),
        (lambda ps: optim.Adagrad(ps, 1.0), 300),
        (lambda ps: optim.NAdam(ps, 0.1), 500),
        (lambda ps: optim.RAdam(ps, 0.1), 500),
        (lambda ps: optim.Adamax(ps, 0.1), 500),
        (lambda ps: optim.Rprop(ps, 0.1), 200),
    ],
)
def test_a_bowl_is_descended(make, steps):
    x = tp.tensor([3.0, -2.0], requires_grad=True)
    optimizer = make([x])
    for _ in range(steps):
        optimizer.zero_grad()
        ((x - tp.tensor([1.0, 2.0])) ** 2 * tp.tensor([1.0, 0.3])).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(x.detach().numpy(), [1.0, 2.0], atol=0.05)


def test_lbfgs_finds_the_minimum_of_a_curved_valley():
    p = tp.tensor([-1.2, 1.0], dtype=tp.float64, requires_grad=True)
    optimizer = optim.LBFGS(
        [p], max_iter=100, line_search_fn="strong_wolfe", tolerance_change=1e-15
    )

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(p)
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(p.detach().numpy(), [1.0, 1.0], atol=1e-5)


def test_a_step_changes_parameters_in_place_and_is_not_recorded():
    x = tp.ones(2, requires_grad=True)
    optimizer = optim.Adam([x])
    x.sum().backward()
    version = x._version
    optimizer.step()
    assert x.is_leaf
    assert x.requires_grad
    assert x._version > version


def test_parameters_without_gradient_stay():
    x, y = tp.ones(1, requires_grad=True), tp.ones(1, requires_grad=True)
    optimizer = optim.SGD([x, y], lr=0.5)
    x.sum().backward()
    optimizer.step()
    assert (x.item(), y.item()) == (0.5, 1.0)


def test_a_closure_is_evaluated_with_grad_mode_on():
    x = tp.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with tp.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert x.item() == 0.0


def test_hooks_around_a_step():
    seen = []
    x = tp.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5)
    optimizer.register_step_pre_hook(lambda *args: seen.append("before"))
    with optimizer.register_step_post_hook(lambda *args: seen.append("after")):
        optimizer.step()
    optimizer.step()
    assert seen == ["before", "after", "before"]


def test_zero_grad():
    x = tp.ones(1, requires_grad=True)
    optimizer = optim.SGD([x])
    x.sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert x.grad is None


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda x: optim.SGD(x), TypeError),
        (lambda x: optim.SGD([]), ValueError),
        (lambda x: optim.SGD([x, x]), ValueError),
        (lambda x: optim.SGD([x * 2]), ValueError),
        (lambda x: optim.SGD([3]), TypeError),
        (lambda x: optim.SGD([x], lr=-1), ValueError),
        (lambda x: optim.SGD([x], nesterov=True), ValueError),
        (lambda x: optim.Adam([x], betas=(1.0, 0.9)), ValueError),
        (lambda x: optim.Adam([x], eps=-1), ValueError),
        (lambda x: optim.LBFGS([x], line_search_fn="other"), RuntimeError),
        (lambda x: optim.SGD([{"params": [x]}, {"params": [x]}]), ValueError),
        (lambda x: optim.lr_scheduler.StepLR(x, 1), TypeError),
    ],
)
def test_what_cannot_be_optimised_is_refused(make, error):
    with pytest.raises(error):
        make(tp.ones(1, requires_grad=True))


def test_state_of_another_shape_is_refused():
    one = optim.SGD([tp.ones(1, requires_grad=True)])
    two = optim.SGD([tp.ones(1, requires_grad=True), tp.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="size"):
        two.load_state_dict(one.state_dict())


def test_it_prints_its_options():
    text = repr(optim.SGD([tp.ones(1, requires_grad=True)], lr=0.5))
    assert text.startswith("SGD (\nParameter Group 0\n")
    assert "    lr: 0.5\n" in text


def test_a_schedule_saves_and_continues():
    def make():
        optimizer = optim.SGD([tp.ones(1, requires_grad=True)], lr=1.0)
        return optimizer, optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    optimizer, schedule = make()
    schedule.step()
    other_optimizer, other = make()
    other.load_state_dict(schedule.state_dict())
    other_optimizer.load_state_dict(optimizer.state_dict())
    other.step()
    assert other.get_last_lr() == [0.25]
