"""Optimisers and learning rate schedules step by step against PyTorch's."""

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import optim

STEPS = 7

OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "betas": (0.5, 0.8), "eps": 0.1, "maximize": True}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.2}),
    ("AdamW", {"lr": 0.1, "amsgrad": True}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.1, "betas": (0.5, 0.6)}),
    ("RMSprop", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "initial_accumulator_value": 0.3}),
    ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "lambd": 0.3, "alpha": 0.5, "t0": 2, "weight_decay": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 0, "maximize": True}),
    ("Adafactor", {"lr": 0.1}),
    (
        "Adafactor",
        {"lr": 0.9, "beta2_decay": -0.3, "eps": (1e-3, 0.1), "d": 1.5, "weight_decay": 0.1},
    ),
    ("Adafactor", {"lr": 0.1, "maximize": True}),
]

SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9}),
    ("StepLR", {"step_size": 2, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [1, 4, 4], "gamma": 0.5}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 3}),
    ("LinearLR", {"start_factor": 0.2, "end_factor": 0.8, "total_iters": 4}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("PolynomialLR", {"total_iters": 4, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 12}),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 3, "steps_per_epoch": 4, "three_phase": True,
                    "base_momentum": 0.5, "max_momentum": 0.7, "pct_start": 0.25}),
    ("OneCycleLR", {"max_lr": [0.5], "total_steps": 12, "div_factor": 5.0,
                    "final_div_factor": 10.0}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "step_size_down": 3,
                  "mode": "triangular2", "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": [0.1], "max_lr": [0.5], "step_size_up": 2, "mode": "exp_range",
                  "gamma": 0.9, "base_momentum": 0.3, "max_momentum": 0.6}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2,
                  "scale_fn": lambda x: 1 / x, "scale_mode": "cycle"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 12, "anneal_strategy": "linear",
                    "cycle_momentum": False}),
]  # fmt: skip


def losses(x, y, library):
    return ((x - 1) ** 2 * library.arange(1.0, 4.0)).sum() + (x * y).sum() + (y**4).sum()


def starts():
    rng = np.random.default_rng(0)
    return rng.normal(size=(2, 3)), rng.normal(size=3)


def train(library, optimizer, xs, steps=STEPS, schedule=None):
    """The parameters after each step."""
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        losses(*xs, library).backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        path.append([x.detach().numpy().copy() for x in xs])
    return path


def both(make_ours, make_theirs):
    ours = [tp.tensor(a, requires_grad=True) for a in starts()]
    theirs = [torch.tensor(a, requires_grad=True) for a in starts()]
    return ours, theirs, make_ours(ours), make_theirs(theirs)


def assert_same_path(a, b):
    for step, (one, other) in enumerate(zip(a, b, strict=True)):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6, err_msg=f"step {step}")


@pytest.mark.parametrize("name, options", OPTIMIZERS)
def test_every_step_is_pytorchs(name, options):
    ours, theirs, mine, reference = both(
        lambda xs: getattr(optim, name)(xs, **options),
        lambda xs: getattr(torch.optim, name)(xs, **options),
    )
    assert_same_path(train(tp, mine, ours), train(torch, reference, theirs))


@pytest.mark.parametrize("name, options", OPTIMIZERS)
def test_saved_state_has_pytorchs_names_and_continues(name, options):
    ours, theirs, mine, reference = both(
        lambda xs: getattr(optim, name)(xs, **options),
        lambda xs: getattr(torch.optim, name)(xs, **options),
    )
    train(tp, mine, ours, 3)
    train(torch, reference, theirs, 3)
    saved, expected = mine.state_dict(), reference.state_dict()
    assert {k: set(v) for k, v in saved["state"].items()} == {
        k: {n for n, value in v.items() if value is not None} for k, v in expected["state"].items()
    }
    assert saved["param_groups"][0]["params"] == expected["param_groups"][0]["params"]
    copies = [x.detach().clone().requires_grad_() for x in ours]
    other = getattr(optim, name)(copies, **options)
    other.load_state_dict(saved)
    assert_same_path(train(tp, mine, ours, 2), train(tp, other, copies, 2))


def test_groups_have_options_of_their_own():
    ours, theirs, mine, reference = both(
        lambda xs: optim.SGD([{"params": [xs[0]]}, {"params": [xs[1]], "lr": 0.5}], lr=0.01),
        lambda xs: torch.optim.SGD([{"params": [xs[0]]}, {"params": [xs[1]], "lr": 0.5}], lr=0.01),
    )
    assert_same_path(train(tp, mine, ours), train(torch, reference, theirs))


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("history", [100, 2])
def test_lbfgs_takes_pytorchs_steps(search, history):
    options = {"max_iter": 5, "line_search_fn": search, "history_size": history, "lr": 0.1}
    ours, theirs, mine, reference = both(
        lambda xs: optim.LBFGS(xs, **options), lambda xs: torch.optim.LBFGS(xs, **options)
    )

    def closure(library, optimizer, xs):
        def evaluate():
            optimizer.zero_grad()
            loss = losses(*xs, library)
            loss.backward()
            return loss

        return evaluate

    for _ in range(4):
        a = mine.step(closure(tp, mine, ours))
        b = reference.step(closure(torch, reference, theirs))
        np.testing.assert_allclose(a.item(), b.item(), rtol=1e-6)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, options", SCHEDULES)
def test_every_learning_rate_is_pytorchs(name, options):
    ours, theirs, mine, reference = both(
        lambda xs: optim.SGD(xs, lr=0.1, momentum=0.9),
        lambda xs: torch.optim.SGD(xs, lr=0.1, momentum=0.9),
    )
    a = getattr(optim.lr_scheduler, name)(mine, **options)
    b = getattr(torch.optim.lr_scheduler, name)(reference, **options)
    rates = []
    for _ in range(11):
        rates.append(
            (
                [*a.get_last_lr(), mine.param_groups[0]["momentum"]],
                [*b.get_last_lr(), reference.param_groups[0]["momentum"]],
            )
        )
        mine.step()
        reference.step()
        a.step()
        b.step()
    np.testing.assert_allclose([x for x, _ in rates], [y for _, y in rates], rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_schedules_one_after_the_other_and_together():
    rates = []
    for library, kinds in ((tp, optim), (torch, torch.optim)):
        s = kinds.lr_scheduler
        x = library.zeros(1, requires_grad=True)
        optimizer = kinds.SGD([x], lr=0.1)
        parts = [s.ConstantLR(optimizer, 0.1, 3), s.ExponentialLR(optimizer, 0.9)]
        schedule = s.SequentialLR(optimizer, parts, milestones=[3])
        chained_optimizer = kinds.SGD([x], lr=0.1)
        chained = s.ChainedScheduler(
            [s.ConstantLR(chained_optimizer, 0.1, 3), s.ExponentialLR(chained_optimizer, 0.9)]
        )
        mine = []
        for _ in range(7):
            mine.append([schedule.get_last_lr()[0], chained.get_last_lr()[0]])
            optimizer.step()
            chained_optimizer.step()
            schedule.step()
            chained.step()
        rates.append(mine)
    np.testing.assert_allclose(*rates, rtol=1e-9)


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("threshold_mode", ["rel", "abs"])
def test_a_plateau_lowers_the_rate_as_in_pytorch(mode, threshold_mode):
    metrics = [1.0, 0.9, 0.95, 0.95, 0.95, -0.5, -0.5, -0.5, -0.5, 2.0, 2.0, 2.0, 2.0, 2.0]
    rates = []
    for library, kinds in ((tp, optim), (torch, torch.optim)):
        optimizer = kinds.SGD([library.zeros(1, requires_grad=True)], lr=0.1)
        schedule = kinds.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode, 0.5, patience=1, threshold_mode=threshold_mode, cooldown=1,
            min_lr=0.01,
        )  # fmt: skip
        mine = []
        for metric in metrics:
            schedule.step(metric)
            mine.append(optimizer.param_groups[0]["lr"])
        rates.append(mine)
    np.testing.assert_allclose(*rates)


@pytest.mark.parametrize("name", ["CyclicLR", "OneCycleLR"])
def test_cycles_of_the_first_beta(name):
    options = {"CyclicLR": {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3},
               "OneCycleLR": {"max_lr": 0.5, "total_steps": 9}}[name]  # fmt: skip
    found = []
    for library in (tp, torch):
        optimizer = library.optim.Adam([library.zeros(1, requires_grad=True)], lr=0.1)
        schedule = getattr(library.optim.lr_scheduler, name)(optimizer, **options)
        path = []
        for _ in range(8):
            path.append([optimizer.param_groups[0]["lr"], *optimizer.param_groups[0]["betas"]])
            optimizer.step()
            schedule.step()
        found.append(path)
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 3)])
@pytest.mark.parametrize("options", [
    {"lr": 0.1}, {"lr": 0.1, "nesterov": False, "weight_decay": 0.3, "momentum": 0.5},
    {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
])  # fmt: skip
def test_muon_follows_pytorch_as_closely_as_half_precision(shape, options):
    rng = np.random.default_rng(0)
    start, target = rng.normal(size=shape), rng.normal(size=shape)
    ends = []
    for library in (tp, torch):
        x = library.tensor(start, requires_grad=True)
        optimizer = library.optim.Muon([x], **options)
        for _ in range(4):
            optimizer.zero_grad()
            ((x - library.tensor(target)) ** 2).sum().backward()
            optimizer.step()
        ends.append(x.detach().numpy())
    moved = np.abs(ends[1] - start).max()
    assert np.abs(ends[0] - ends[1]).max() < 0.05 * moved


BAD = [
    lambda o, x: o.ASGD([x], lr=-1),
    lambda o, x: o.ASGD([x], weight_decay=-1),
    lambda o, x: o.Adafactor([x], beta2_decay=0.5),
    lambda o, x: o.Adafactor([x], eps=(-1, 1e-3)),
    lambda o, x: o.Adafactor([x], d=0.5),
    lambda o, x: o.Muon([x]),
    lambda o, x: o.Muon([x.reshape(1, 2).detach().requires_grad_()], lr=-1),
    lambda o, x: o.Muon([x.reshape(1, 2).detach().requires_grad_()], adjust_lr_fn="no"),
    lambda o, x: o.lr_scheduler.CyclicLR(o.Adagrad([x]), 0.1, 0.5),
    lambda o, x: o.lr_scheduler.CyclicLR(o.SGD([x], lr=0.1, momentum=0.5), 0.1, 0.5, mode="no"),
    lambda o, x: o.lr_scheduler.CyclicLR(o.SGD([x], lr=0.1, momentum=0.5), [0.1, 0.2], 0.5),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adagrad([x]), 0.1, 5),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adam([x]), 0.1),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adam([x]), 0.1, 0),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adam([x]), 0.1, epochs=3),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adam([x]), 0.1, 5, pct_start=2.0),
    lambda o, x: o.lr_scheduler.OneCycleLR(o.Adam([x]), 0.1, 5, anneal_strategy="no"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_options_that_are_refused(number):
    types = []
    for library in (torch, tp):
        with pytest.raises(Exception) as error:
            BAD[number](library.optim, library.zeros(2, requires_grad=True))
        types.append(error.type)
    assert issubclass(types[1], types[0])
