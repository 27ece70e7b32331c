"""Random draws: their distributions, and what vmap's randomness modes mean."""

import math
import pickle

import numpy as np
import pytest
import scipy.stats

import tensorplay as tp

N = 20_000


@pytest.fixture(autouse=True)
def _seed():
    tp.manual_seed(0)


# --- distributions --------------------------------------------------------------------------------

CONTINUOUS = {
    "uniform_": ((2.0, 5.0), scipy.stats.uniform(2, 3)),
    "normal_": ((1.0, 2.0), scipy.stats.norm(1, 2)),
    "exponential_": ((0.5,), scipy.stats.expon(scale=2)),
    "cauchy_": ((1.0, 2.0), scipy.stats.cauchy(1, 2)),
    "log_normal_": ((0.5, 0.25), scipy.stats.lognorm(0.25, scale=math.exp(0.5))),
}


@pytest.mark.parametrize("dtype", [tp.float32, tp.float64])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    arguments, distribution = CONTINUOUS[name]
    x = getattr(tp.empty(N, dtype=dtype), name)(*arguments)
    assert scipy.stats.kstest(x.numpy().astype(np.float64), distribution.cdf).pvalue > 1e-4


DISCRETE = [
    (lambda: tp.poisson(tp.full((N,), 0.3)), scipy.stats.poisson(0.3)),
    (lambda: tp.poisson(tp.full((N,), 40.0)), scipy.stats.poisson(40)),
    (lambda: tp.binomial(tp.full((N,), 7.0), tp.tensor(0.2)), scipy.stats.binom(7, 0.2)),
    (lambda: tp.empty(N).geometric_(0.3), scipy.stats.geom(0.3)),
    (lambda: tp.bernoulli(tp.full((N,), 0.2)), scipy.stats.bernoulli(0.2)),
    (lambda: tp.empty(N, dtype=tp.int8).bernoulli_(0.2), scipy.stats.bernoulli(0.2)),
    (lambda: tp.empty(N).random_(2, 7), scipy.stats.randint(2, 7)),
    (lambda: tp.randint(2, 7, (N,)), scipy.stats.randint(2, 7)),
]


@pytest.mark.parametrize(("draw", "distribution"), DISCRETE)
def test_discrete(draw, distribution):
    values, counts = np.unique(draw().numpy(), return_counts=True)
    expected = distribution.pmf(values) * N
    often = expected > 5
    assert often.any()
    statistic = (((counts - expected) ** 2 / expected)[often]).sum()
    assert scipy.stats.chi2.sf(statistic, often.sum()) > 1e-4
    assert expected[often].sum() > 0.99 * N


def test_multinomial_with_replacement_draws_by_weight():
    drawn = tp.multinomial(tp.tensor([1.0, 0.0, 3.0]), N, replacement=True).numpy()
    counts = np.bincount(drawn, minlength=3) / N
    np.testing.assert_allclose(counts, [0.25, 0, 0.75], atol=0.02)


def test_multinomial_without_replacement_draws_each_once():
    weights = tp.tensor([[1.0, 1.0, 0.0, 8.0]]).expand(N, 4)
    drawn = tp.multinomial(weights, 3).numpy()
    assert (np.sort(drawn, 1) == [0, 1, 3]).all()
    np.testing.assert_allclose((drawn[:, 0] == 3).mean(), 0.8, atol=0.02)
    np.testing.assert_allclose((drawn[:, 2] == 3).mean(), 0.1 * 2 * 1 / 9, atol=0.02)


def test_rows_of_multinomial_have_their_own_weights():
    drawn = tp.multinomial(tp.eye(4), 5, replacement=True)
    assert drawn.tolist() == [[i] * 5 for i in range(4)]


@pytest.mark.parametrize("dtype", [tp.float16, tp.bfloat16])
def test_small_dtypes_stay_below_one(dtype):
    x = tp.rand(N, dtype=dtype)
    assert x.dtype is dtype
    assert float(x.float().max()) < 1
    assert abs(float(x.float().mean()) - 0.5) < 0.02


def test_complex_normal_numbers_have_variance_one():
    x = tp.randn(N, dtype=tp.complex128).numpy()
    assert abs((np.abs(x) ** 2).mean() - 1) < 0.05
    assert abs(x.real.var() - 0.5) < 0.02


def test_integers_of_the_whole_range():
    x = tp.empty(N, dtype=tp.int64).random_()
    assert x.min().item() >= 0
    assert x.max().item() > 2**62
    assert set(tp.empty(99, dtype=tp.bool).random_().tolist()) == {True, False}
    assert tp.randint(0, 2**64 - 1, (9,), dtype=tp.uint64).dtype is tp.uint64


# --- generators -----------------------------------------------------------------------------------


def test_a_state_is_a_tensor():
    state = tp.get_rng_state()
    assert state.dtype is tp.uint8
    first = tp.rand(3)
    tp.set_rng_state(state)
    assert tp.equal(tp.rand(3), first)


def test_pickled_and_cloned_generators_go_on_alike():
    one = tp.Generator().manual_seed(3)
    tp.rand(5, generator=one)
    others = [pickle.loads(pickle.dumps(one)), one.clone_state()]
    expected = tp.rand(3, generator=one)
    assert all(tp.equal(tp.rand(3, generator=other), expected) for other in others)


# --- inside vmap ----------------------------------------------------------------------------------

# Draws that take no tensor, and draws whose parameters differ from sample to sample.
PLAIN = {
    "rand": lambda x: tp.rand(8),
    "randn": lambda x: tp.randn(8),
    "randint": lambda x: tp.randint(10**6, (8,)),
    "randperm": lambda x: tp.randperm(30),
    "normal": lambda x: tp.normal(0.0, 1.0, (8,)),
    "rand_like": tp.rand_like,
    "randint_like": lambda x: tp.randint_like(x, 10**6),
    "multinomial": lambda x: tp.multinomial(tp.ones(9), 30, True),
    "uniform_": lambda x: x.clone().uniform_(),
    "exponential_": lambda x: x.clone().exponential_(),
    "random_": lambda x: x.clone().random_(),
}
BATCHED = {
    "bernoulli": lambda x: tp.bernoulli(x),
    "poisson": lambda x: tp.poisson(x * 1000),
    "binomial": lambda x: tp.binomial(x.round() + 10**6, tp.tensor(0.5)),
    "normal of tensors": lambda x: tp.normal(x, 1.0),
    "multinomial of tensors": lambda x: tp.multinomial(x, 30, True),
    "bernoulli_": lambda x: x.clone().bernoulli_(x),
}
DRAWS = [pytest.param(f, id=name) for name, f in {**PLAIN, **BATCHED}.items()]


@pytest.mark.parametrize("draw", DRAWS)
def test_by_default_it_is_an_error_with_advice(draw):
    with pytest.raises(RuntimeError, match="randomness='different'"):
        tp.vmap(draw)(tp.full((3, 64), 0.5))


@pytest.mark.parametrize("draw", DRAWS)
def test_different_draws_for_each_sample(draw):
    rows = tp.vmap(draw, randomness="different")(tp.full((3, 64), 0.5)).tolist()
    assert len({tuple(row) for row in rows}) == 3


@pytest.mark.parametrize("draw", DRAWS)
def test_the_same_draws_for_all_samples(draw):
    rows = tp.vmap(draw, randomness="same")(tp.full((3, 64), 0.5)).tolist()
    assert len({tuple(row) for row in rows}) == 1


def test_samples_of_other_parameters_share_the_noise():
    means = tp.tensor([[0.0, 0.0], [10.0, 20.0]])
    rows = tp.vmap(lambda x: tp.normal(x, 1.0), randomness="same")(means)
    np.testing.assert_allclose((rows[1] - rows[0]).numpy(), [10.0, 20.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("outer", "inner", "kinds"),
    [("different", "different", 6), ("different", "same", 2), ("same", "different", 3)],
)
def test_nested_vmaps_have_a_mode_each(outer, inner, kinds):
    one = tp.vmap(lambda x: x + tp.rand(()), randomness=inner)
    drawn = tp.vmap(one, randomness=outer)(tp.zeros(2, 3, dtype=tp.float64))
    assert len(set(drawn.flatten().tolist())) == kinds


def test_draws_inside_a_gradient():
    tp.manual_seed(1)
    noise = tp.rand(3)
    tp.manual_seed(1)
    gradient = tp.func.grad(lambda x: (x * tp.rand(3)).sum())(tp.ones(3))
    assert tp.equal(gradient, noise)


def test_per_sample_gradients_with_noise_of_their_own():
    gradient = tp.func.grad(lambda w, x: (w * x * tp.rand(2)).sum())
    rows = tp.vmap(gradient, in_dims=(None, 0), randomness="different")(tp.ones(2), tp.ones(5, 2))
    assert len(set(rows.flatten().tolist())) == 10


# --- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        tp.bernoulli,
        tp.poisson,
        lambda p: tp.normal(p, 1.0),
        lambda p: tp.normal(0.0, p),
        lambda p: tp.binomial(tp.full((2,), 4.0), p),
        lambda p: (p * 1).uniform_(),
    ],
)
def test_parameters_have_zero_gradients(draw):
    p = tp.tensor([0.25, 0.75], requires_grad=True)
    (draw(p) * float("inf")).nansum().backward()
    assert p.grad.tolist() == [0.0, 0.0]
