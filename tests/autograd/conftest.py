"""Choose the library under test.

The tests of this folder are black-box: they use documented behaviour only, and most of it is
PyTorch's.  Setting `TENSORPLAY_TEST_BACKEND=torch` runs them on PyTorch instead, which is how the
expectations themselves are checked.  Tests marked `beyond_torch` state where tensorplay means to
differ (its own reference, or mathematics, says more than PyTorch does); they are skipped there.
"""

import importlib
import os
import sys

import pytest

BACKEND = os.environ.get("TENSORPLAY_TEST_BACKEND", "tensorplay")

# Done on import, before pytest collects the test modules, so that they can say
# `import tensorplay as tp` as any user would.
if BACKEND != "tensorplay":
    sys.modules["tensorplay"] = importlib.import_module(BACKEND)
    for _name in (
        "autograd", "autograd.forward_ad", "autograd.function", "autograd.functional",
        "autograd.gradcheck", "autograd.graph", "autograd.profiler", "func", "utils",
        "utils.checkpoint",
    ):  # fmt: skip
        sys.modules["tensorplay." + _name] = importlib.import_module(f"{BACKEND}.{_name}")


def pytest_configure(config):
    if BACKEND == "torch":
        config.addinivalue_line("filterwarnings", "ignore:.torch.jit:DeprecationWarning")


def pytest_collection_modifyitems(items):
    if BACKEND != "torch":
        return
    skip = pytest.mark.skip(reason="tensorplay differs from PyTorch here on purpose")
    for item in items:
        if "beyond_torch" in item.keywords:
            item.add_marker(skip)
