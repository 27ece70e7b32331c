"""Devices, layouts, memory formats, and modules that wait for their first use."""

import copy
import pickle
import sys

import pytest

from tensorplay.base import devices as d
from tensorplay.base.lazy import lazy_module


def test_the_one_device():
    assert d.device("cpu") == d.device(d.CPU) == d.device(type="cpu")
    assert d.device("cpu", 0) == d.device("cpu:0") != d.CPU
    assert len({d.device("cpu"), d.CPU, d.device("cpu:0")}) == 2
    assert (str(d.device("cpu:0")), repr(d.CPU)) == ("cpu:0", "device(type='cpu')")
    assert d.CPU != "cpu"


@pytest.mark.parametrize("wrong", ["cuda", "cuda:1", "cpu:1", "meta", "", "cpu:x"])
def test_there_is_no_other(wrong):
    with pytest.raises(RuntimeError, match="device"):
        d.device(wrong)
    with pytest.raises(RuntimeError, match=r"zeros\(\): argument 'device'"):
        d.check_placement("zeros", wrong)


def test_what_is_no_device():
    with pytest.raises(TypeError, match="float"):
        d.device(1.5)
    with pytest.raises(RuntimeError, match="index"):
        d.device("cpu:0", 0)


def test_devices_do_not_change():
    with pytest.raises(AttributeError):
        d.CPU.index = 3


def test_a_device_is_a_context():
    with d.device("cpu") as entered:
        assert entered == d.CPU


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_constants_stay_themselves(copied):
    for name in ("strided", "contiguous_format", "preserve_format", "channels_last"):
        constant = getattr(d, name)
        assert copied(constant) is constant
        assert repr(constant) == f"tensorplay.{name}"
    assert copied(d.device("cpu:0")) == d.device("cpu:0")


def test_other_layouts_are_refused():
    d.check_placement("zeros", None, d.strided)
    with pytest.raises(RuntimeError, match="strided"):
        d.check_placement("zeros", None, "sparse")


def test_a_lazy_module_is_imported_at_first_use():
    sys.modules.pop("this_is_no_module", None)
    missing = lazy_module("this_is_no_module")
    with pytest.raises(ModuleNotFoundError):
        missing.anything  # noqa: B018
    colors = lazy_module("colorsys")
    assert "colorsys" in repr(colors)
    assert colors.rgb_to_hls is colors.rgb_to_hls
    with pytest.raises(AttributeError):
        colors.nothing  # noqa: B018
