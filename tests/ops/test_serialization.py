"""Files of tensors: what goes in comes out, and nothing else is run."""

import io
import os
import pickle

import pytest

import tensorplay as tp


def through(value, **options):
    stream = io.BytesIO()
    tp.save(value, stream)
    stream.seek(0)
    return tp.load(stream, **options)


@pytest.mark.parametrize(
    "x",
    [
        tp.ones(2, 3),
        tp.zeros(0),
        tp.tensor(1 + 2j),
        tp.arange(6).reshape(2, 3).t(),
        tp.ones(2, dtype=tp.bfloat16),
        tp.tensor([True]),
    ],
)
def test_tensors(x):
    y = through(x)
    assert y.dtype is x.dtype
    assert tp.equal(y, x)


def test_containers():
    value = {"a": [tp.ones(1), (1, 2.5, None, "text")], "size": tp.ones(2, 3).shape, "d": tp.int8}
    loaded = through(value)
    assert loaded["a"][1] == (1, 2.5, None, "text")
    assert loaded["size"] == (2, 3)
    assert loaded["d"] is tp.int8


def test_leaves_and_parameters():
    assert through(tp.ones(2, requires_grad=True)).requires_grad
    parameter = through(tp.nn.Parameter(tp.ones(2)))
    assert isinstance(parameter, tp.nn.Parameter)
    assert parameter.requires_grad


def test_a_module_and_its_state():
    layer = tp.nn.Linear(2, 3)
    assert tp.equal(through(layer.state_dict())["weight"], layer.weight.detach())
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        through(layer)
    assert tp.equal(through(layer, weights_only=False).weight, layer.weight)


class Malicious:
    def __reduce__(self):
        return os.system, ("false",)


def test_code_is_not_run():
    with pytest.raises(pickle.UnpicklingError, match="system"):
        through([tp.ones(1), Malicious()])


def test_paths(tmp_path):
    tp.save(tp.ones(2), tmp_path / "x.tp")
    assert tp.equal(tp.load(str(tmp_path / "x.tp")), tp.ones(2))
