"""The stubs say what is there: every method and function, with its signature."""

import ast
import importlib.util
import pathlib
import sys

import pytest

import tensorplay as tp
from tensorplay.ops.kinds import METHODS

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "make_stubs.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("make_stubs", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_stubs"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make_stubs"]


def test_they_are_up_to_date(tool):
    stale = [str(path.relative_to(ROOT)) for path in tool.stale_stubs()]
    assert not stale, f"run python tools/make_stubs.py: {stale} are not what it writes"


def test_they_are_python(tool):
    for text in tool.stubs().values():
        ast.parse(text)
        assert max(map(len, text.splitlines())) <= 100


def test_tensor_has_every_method(tool):
    tree = ast.parse((tool.PACKAGE / "_core" / "core.pyi").read_text())
    (tensor,) = [node for node in tree.body if getattr(node, "name", "") == "Tensor"]
    names = {node.name for node in tensor.body if isinstance(node, ast.FunctionDef)}
    names |= {node.target.id for node in tensor.body if isinstance(node, ast.AnnAssign)}
    public = {name for name in dir(tp.Tensor) if not name.startswith("_")}
    assert public - names == set()
    assert set(METHODS) - names <= {"__dict__"}


def test_the_package_has_every_name(tool):
    tree = ast.parse((tool.PACKAGE / "__init__.pyi").read_text())
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    facade = ast.parse((tool.PACKAGE / "__init__.py").read_text())
    exported = {
        alias.asname
        for node in facade.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert exported - names == set()
