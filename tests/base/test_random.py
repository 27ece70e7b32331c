"""Generators: seeds, states, copies, the default generator."""

import copy
import pickle
import threading

import numpy as np
import pytest

from tensorplay.base import random as r


@pytest.fixture(autouse=True)
def default_generator_left_as_it_was():
    state = r.get_rng_state()
    yield
    r.set_rng_state(state)


def draw(generator, n=5):
    return generator.numpy.random(n).tolist()


# --- seeds ---------------------------------------------------------------------------------


def test_a_seed_fixes_the_sequence():
    generator = r.Generator()
    assert generator.manual_seed(3) is generator
    first = draw(generator)
    assert draw(generator) != first
    assert draw(generator.manual_seed(3)) == first
    assert draw(r.Generator().manual_seed(3)) == first
    assert draw(r.Generator().manual_seed(4)) != first


def test_seeding_forgets_half_used_words():
    # A 32-bit draw keeps the other half of a 64-bit word for later.
    generator = r.Generator().manual_seed(3)
    expected = generator.numpy.integers(0, 2**32, 3, dtype=np.uint32).tolist()
    assert (
        generator.manual_seed(3).numpy.integers(0, 2**32, 3, dtype=np.uint32).tolist() == expected
    )


def test_new_generators_are_alike():
    assert r.Generator().initial_seed() == r.DEFAULT_SEED == 67280421310721
    assert (
        draw(r.Generator())
        == draw(r.Generator())
        == draw(r.Generator().manual_seed(r.DEFAULT_SEED))
    )


@pytest.mark.parametrize(
    ("seed", "initial"),
    [
        (0, 0),
        (-1, 2**64 - 1),
        (2**63, 2**63),
        (2**64 - 1, 2**64 - 1),
        (-(2**63), 2**63),
        (np.int64(-2), 2**64 - 2),
    ],
)
def test_seeds_wrap_to_64_bits(seed, initial):
    generator = r.Generator().manual_seed(seed)
    assert generator.initial_seed() == initial
    assert draw(generator) == draw(r.Generator().manual_seed(initial))


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seed_out_of_range(seed):
    generator = r.Generator().manual_seed(1)
    with pytest.raises(ValueError, match="2\\*\\*64"):
        generator.manual_seed(seed)
    with pytest.raises(ValueError, match="2\\*\\*64"):
        r.manual_seed(seed)
    assert generator.initial_seed() == 1


@pytest.mark.parametrize("seed", [1.0, True, np.True_, "1", None])
def test_seed_of_wrong_type(seed):
    with pytest.raises(RuntimeError, match=f"expected an int, but got {type(seed).__name__}"):
        r.Generator().manual_seed(seed)


def test_seed_at_random():
    generator = r.Generator()
    seeds = {generator.seed() for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= each < 2**64 for each in seeds)
    assert generator.initial_seed() in seeds
    assert draw(generator) == draw(r.Generator().manual_seed(generator.initial_seed()))


def test_device():
    assert r.Generator().device == r.Generator("cpu").device == "cpu"
    with pytest.raises(RuntimeError, match="cuda"):
        r.Generator("cuda")


# --- states --------------------------------------------------------------------------------


def test_state_round_trip():
    generator = r.Generator().manual_seed(3)
    draw(generator)
    state = generator.get_state()
    assert state.dtype == np.uint8
    assert state.shape == (r.STATE_SIZE,)
    expected = draw(generator)
    assert generator.set_state(state) is generator
    assert draw(generator) == expected
    other = r.Generator().set_state(state)
    assert other.initial_seed() == 3
    assert draw(other) == expected


def test_state_holds_half_used_words():
    generator = r.Generator().manual_seed(3)
    generator.numpy.integers(0, 2**32, 1, dtype=np.uint32)
    state = generator.get_state()
    expected = generator.numpy.integers(0, 2**32, 4, dtype=np.uint32).tolist()
    generator.set_state(state)
    assert generator.numpy.integers(0, 2**32, 4, dtype=np.uint32).tolist() == expected


def test_state_is_a_copy():
    generator = r.Generator().manual_seed(3)
    state = generator.get_state()
    generator.set_state(state)
    expected = draw(generator.clone_state())
    state[:] = 255
    assert draw(generator) == expected


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (5, TypeError),
        (np.zeros(r.STATE_SIZE), TypeError),
        (np.zeros(3, np.uint8), RuntimeError),
        (np.zeros((1, r.STATE_SIZE), np.uint8), RuntimeError),
        (np.zeros(r.STATE_SIZE, np.uint8), RuntimeError),
        (np.full(r.STATE_SIZE, 255, np.uint8), RuntimeError),
    ],
    ids=["int", "float", "short", "2-d", "zeros", "ones"],
)
def test_wrong_state_changes_nothing(state, error):
    generator = r.Generator().manual_seed(3)
    before = generator.get_state()
    with pytest.raises(error, match="RNG state"):
        generator.set_state(state)
    assert np.array_equal(generator.get_state(), before)


@pytest.mark.parametrize(
    "clone",
    [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), r.Generator.clone_state],
    ids=["copy", "deepcopy", "pickle", "clone_state"],
)
def test_copies_continue_independently(clone):
    generator = r.Generator().manual_seed(3)
    draw(generator)
    other = clone(generator)
    assert type(other) is r.Generator
    assert (other.device, other.initial_seed()) == (generator.device, 3)
    expected = draw(generator)
    draw(generator)
    assert draw(other) == expected


def test_the_numpy_generator_stays():
    generator = r.Generator()
    source = generator.numpy
    generator.manual_seed(1)
    generator.seed()
    generator.set_state(r.Generator().get_state())
    assert generator.numpy is source
    assert source.random() == r.Generator().numpy.random()


def test_threads_share_a_generator():
    """No draw is lost or given twice, and no state is torn between two seeds."""
    generator = r.Generator().manual_seed(0)
    drawn, seeds = [], []

    def work():
        drawn.extend(generator.numpy.random(1)[0] for _ in range(500))

    def reseed():
        for seed in range(200):
            shared.manual_seed(seed)
            clone = shared.clone_state()
            seeds.append((clone.initial_seed(), clone.numpy.random()))

    shared = r.Generator()
    threads = [threading.Thread(target=f) for f in (work, work, work, reseed, reseed)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == sorted(draw(r.Generator().manual_seed(0), 1500))
    assert len(seeds) == 400
    assert all(x == r.Generator().manual_seed(seed).numpy.random() for seed, x in seeds)


# --- the default generator -----------------------------------------------------------------


def test_module_functions_use_the_default_generator():
    assert r.manual_seed(3) is r.default_generator
    assert r.initial_seed() == r.default_generator.initial_seed() == 3
    state = r.get_rng_state()
    expected = draw(r.default_generator)
    assert expected == draw(r.Generator().manual_seed(3))
    r.set_rng_state(state)
    assert draw(r.default_generator) == expected
    assert r.seed() == r.initial_seed() != 3


def test_module_manual_seed_converts():
    assert r.manual_seed(2.7).initial_seed() == 2
    assert r.manual_seed("11").initial_seed() == 11
    with pytest.raises(TypeError):
        r.manual_seed(None)


def test_numpy_generator():
    generator = r.Generator()
    assert r.numpy_generator() is r.numpy_generator(None) is r.default_generator.numpy
    assert r.numpy_generator(generator) is generator.numpy
    with pytest.raises(TypeError, match="not int"):
        r.numpy_generator(3)


def test_fork_rng():
    r.manual_seed(3)
    expected = draw(r.default_generator)
    r.manual_seed(3)
    with pytest.raises(KeyError), r.fork_rng():
        r.manual_seed(4)
        draw(r.default_generator)
        raise KeyError
    assert r.initial_seed() == 3
    assert draw(r.default_generator) == expected
    with r.fork_rng(enabled=False):
        r.manual_seed(4)
    assert r.initial_seed() == 4
