"""The public face: complete, explicit, without logic, and quick to import."""

import ast
import importlib
import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import tensorplay as tp
from tensorplay.ops.kinds import METHODS, PUBLIC

PACKAGE = pathlib.Path(tp.base.__file__).resolve().parent.parent

#: Registered names that are not functions of the package, and why.
NOT_EXPORTED = {
    "is_neg": "a method only: no tensor here is negated lazily",
    "resolve_neg": "a method only: no tensor here is negated lazily",
    "convolution": "a name of PyTorch's internals; nn.functional.conv1d ... are the public ones",
    "grid_sampler": "a name of PyTorch's internals; nn.functional.grid_sample is the public one",
    "affine_grid": "in nn.functional",
    "slice": "a name of PyTorch's internals; x[start:end] is the public form",
    "native_dropout_backward": "a name of PyTorch's internals",
    "_unsafe_masked_index": "a name of PyTorch's internals; where(mask, x[index], fill) is public",
    "_unsafe_masked_index_put_accumulate": "a name of PyTorch's internals; index_put is public",
    "_upsample_bilinear2d_aa": "a name of PyTorch's internals; interpolate() is public",
    "max_pool2d_with_indices_backward": "a name of PyTorch's internals",
    "_batch_norm_with_update": "a name of PyTorch's internals; nn.functional.batch_norm is public",
}


def test_every_function_is_exported():
    missing = []
    for namespace, name in PUBLIC:
        if name in NOT_EXPORTED or name.endswith("_"):  # in place: methods, some also functions
            continue
        module = importlib.import_module(f"tensorplay.{namespace}".rstrip("."))
        if getattr(module, name, None) is not PUBLIC[namespace, name]:
            missing.append(f"{namespace}.{name}".lstrip("."))
    assert not missing, f"add to the facade, or to NOT_EXPORTED with a reason: {missing}"


def test_exceptions_are_needed():
    assert not [name for name in NOT_EXPORTED if hasattr(tp, name)]


def test_methods_are_those_of_the_tables():
    assert [name for name, value in METHODS.items() if vars(tp.Tensor)[name] is not value] == []


def test_the_facade_is_a_list():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    docstring, *rest = tree.body
    assert isinstance(docstring, ast.Expr)
    for node in rest:
        if isinstance(node, ast.ImportFrom):
            # `import x as x` is how a type checker knows that a name is exported.
            assert all(alias.asname for alias in node.names), ast.unparse(node)
        else:
            assert isinstance(node, ast.Assign), ast.unparse(node)
            assert isinstance(node.value, ast.Constant), ast.unparse(node)


def test_every_family_is_imported():
    families = {path.stem for path in (PACKAGE / "ops").glob("*.py")} - {"__init__"}
    absent = [name for name in families if f"tensorplay.ops.{name}" not in sys.modules]
    assert not absent, f"list them in ops/__init__.py: {absent}"


def test_the_version_is_the_package_s():
    assert tp.__version__ == importlib.metadata.version("tensorplay")


@pytest.mark.parametrize("name", ["bool", "int", "float", "sum", "abs", "all", "any", "max"])
def test_names_of_builtins_are_ours(name):
    assert getattr(tp, name) is not getattr(__builtins__, name, None)


def test_slow_modules_wait_for_their_first_use():
    code = (
        "import sys, tensorplay\n"
        "slow = ['scipy', 'torch', 'matplotlib', 'sklearn', 'importlib.metadata']\n"
        "print([name for name in slow if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100
    )
    assert found.stdout.strip() == "[]"
