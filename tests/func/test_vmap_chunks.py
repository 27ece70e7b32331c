"""`vmap` with `chunk_size` does what it does without; `out_dims` are checked."""

import pytest

import tensorplay as tp
from tests.semantics.support import assert_close, const

DRAWS = {
    "rand": lambda x: tp.rand(5),
    "normal": lambda x: tp.normal(x, 0.5),
    "dropout": lambda x: tp.nn.functional.dropout(x),
    "multinomial": lambda x: tp.multinomial(x, 3),
    "in place": lambda x: x.clone().uniform_(),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, None])
def test_same_randomness_is_the_same_in_every_chunk(draw, chunk_size):
    x = tp.ones(5, 5, dtype=tp.float64)
    tp.manual_seed(2)
    whole = tp.vmap(draw, randomness="same")(x)
    after = tp.rand(2)
    tp.manual_seed(2)
    found = tp.vmap(draw, randomness="same", chunk_size=chunk_size)(x)
    assert_close(found, whole)
    assert all(bool((row == found[0]).all()) for row in found)
    assert_close(tp.rand(2), after)


@pytest.mark.parametrize("chunk_size", [1, 2, None])
def test_different_randomness_differs_across_chunks(chunk_size):
    drawn = tp.vmap(lambda x: tp.rand(5), randomness="different", chunk_size=chunk_size)
    found = drawn(const([0.0] * 4))
    assert len({tuple(row.tolist()) for row in found}) == 4


@pytest.mark.parametrize("out_dims", ["a", ("a",), 0.5, {"x": 0}, (0.5,), (0, 0)])
def test_out_dims_that_are_no_ints(out_dims):
    with pytest.raises(ValueError, match=r"vmap\(\): out_dims="):
        tp.vmap(lambda x: x * 2, out_dims=out_dims)(tp.ones(2, 3))


def test_out_dims_of_several_outputs_that_are_no_ints():
    with pytest.raises(ValueError, match=r"vmap\(\): out_dims="):
        tp.vmap(lambda x: (x, x), out_dims=(0, "a"))(tp.ones(2, 3))
