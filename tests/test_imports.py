"""The import graph: no cycle, layers that point one way, no import inside a function."""

import ast
import graphlib
import pathlib
import sys

import pytest

import tensorplay

ROOT = pathlib.Path(tensorplay.base.__file__).resolve().parent.parent
NAME = "tensorplay"

#: From the top down; a module may import from its own layer and from those below.
LAYERS = (
    ("__init__",),
    ("optim", "nn", "utils", "testing"),
    ("func",),
    ("linalg", "fft", "special", "masked", "random"),  # faces: names of `ops`, no logic
    ("autograd",),
    ("transforms",),
    ("ops",),
    ("_core",),
    ("base",),
)
LEVEL = {part: len(LAYERS) - i for i, parts in enumerate(LAYERS) for part in parts}

MODULES = {}  # dotted name -> path
for _path in sorted(ROOT.rglob("*.py")):
    _parts = _path.relative_to(ROOT).with_suffix("").parts
    MODULES[".".join((NAME, *(p for p in _parts if p != "__init__")))] = _path


def imports(module):
    """(imported module of ours, line number, whether it is inside a function)."""
    tree = ast.parse(MODULES[module].read_text())
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for node in ast.walk(function)
    }
    checking = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or id(node) in checking:
            continue
        for name in targets(node, module):
            yield name, node.lineno, id(node) in inside


def targets(node, module):
    """The modules that an import statement names, ours by the longest name that is a module."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        base = node.module or ""
        if node.level:
            base = f"{package}.{base}".rstrip(".")
        names = [
            f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
            for alias in node.names
        ]
    return names


def ours(name):
    """The module of ours that a dotted name belongs to, or None (the compiled core is a leaf)."""
    while name not in MODULES:
        name = name.rpartition(".")[0]
        if not name:
            return None
    return name


def layer(module):
    """The first part of the name below the package."""
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_layers_point_one_way(module):
    assert layer(module) in LEVEL, f"tensorplay.{layer(module)} is in no layer of this test"
    for name, line, _ in imports(module):
        target = ours(name)
        if target is None or module == NAME or (target == NAME and name != NAME):
            continue
        assert target != NAME, f"{module}:{line} imports the facade"
        assert LEVEL[layer(target)] <= LEVEL[layer(module)], (
            f"{module}:{line} imports {target}, which is a layer above"
        )


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_import_inside_a_function(module):
    found = [f"{name} at line {line}" for name, line, inside in imports(module) if inside]
    assert not found, f"{module} imports inside a function: {found}"


def test_no_cycle():
    graph = {
        module: {ours(name) for name, _, _ in imports(module)} - {None, module}
        for module in MODULES
    }
    # A package's __init__ is a face of its modules, so that importing from the package is not
    # importing all of them: edges to a package count only where a name of it is taken.
    order = graphlib.TopologicalSorter(graph)
    order.prepare()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_file_is_read_in_one_sitting(module):
    lines = MODULES[module].read_text().count("\n")
    assert lines <= 650, f"{module} has {lines} lines: split it by topic"


def test_importing_loads_nothing_heavy():
    """SciPy's parts are loaded at first use; nobody pays for them at import."""
    heavy = {"torch", "matplotlib", "sklearn", "pandas"}
    imported = {name.split(".")[0] for module in MODULES for name, _, _ in imports(module)} - set(
        sys.stdlib_module_names
    )
    assert not imported & heavy
