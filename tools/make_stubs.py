"""Write the stubs: what editors and type checkers know of the compiled module and of methods.

    python tools/make_stubs.py            write the files
    python tools/make_stubs.py --check    fail where a file is not what would be written

`_core/core.pyi` describes the compiled module, with `Tensor` and every method that the tables of
`tensorplay.ops` install. The faces of the package (`tensorplay`, `tensorplay.linalg`, ...) list
functions that come from the tables too, and get a stub each. Signatures of the core are read from
its Cython sources, those of operators from their Python functions.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pathlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from tensorplay._core import core
from tensorplay.ops.kinds import METHODS, PUBLIC

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "src" / "tensorplay"
WIDTH = 100

#: The faces: modules that only list names.
FACES = ("", "linalg", "special", "fft")

#: Python types of what the core declares in C.
CYTHON_TYPES = {
    "bint": "builtins.bool", "int": "builtins.int", "long": "builtins.int",
    "Py_ssize_t": "builtins.int", "int64_t": "builtins.int", "uint64_t": "builtins.int",
    "double": "builtins.float", "str": "builtins.str", "tuple": "builtins.tuple[Any, ...]",
    "list": "builtins.list[Any]",
    "dict": "builtins.dict[Any, Any]", "set": "builtins.set[Any]", "frozenset": "frozenset[Any]",
    "object": "Any",
    "cnp.ndarray": "np.ndarray[Any, Any]",
}  # fmt: skip

#: What functions and attributes of the core return, where it is not Any.
RETURNS = {
    "is_grad_enabled": "builtins.bool", "set_grad_mode": "builtins.bool",
    "set_mode": "builtins.bool", "get_mode": "builtins.bool", "push_level": "Level",
    "pop_level": "None", "active_levels": "builtins.tuple[Level, ...]", "set_operator": "None",
    "install": "None", "from_array": "Tensor", "new_subclass": "Any", "detach": "Tensor",
    "alias_with_history": "Tensor", "zeros_of": "Tensor", "zeros_shaped": "Tensor",
    "is_differentiable_dtype": "builtins.bool", "can_view": "builtins.bool",
    "array_of": "np.ndarray[Any, Any]", "box_message": "builtins.str", "retain_grad": "None",
    "item": "Any", "numel": "builtins.int", "dim": "builtins.int", "data_ptr": "builtins.int",
    "storage_offset": "builtins.int", "is_contiguous": "builtins.bool", "weak_tensor": "Tensor",
    "box": "Tensor", "box_level": "builtins.int", "lift": "Tensor", "is_inference": "builtins.bool",
    "innermost_level": "Level | None", "batched_levels": "builtins.list[builtins.int]",
    "tangents_of": "builtins.dict[builtins.int, Tensor]", "with_tangents": "Tensor",
    "primal_below": "Tensor", "result_dtype": "_dtypes.dtype", "assign": "Tensor",
    "attributes_of": "builtins.dict[builtins.str, Any]", "register_layer": "None",
    "get_num_threads": "builtins.int", "set_num_threads": "None", "set_data": "None",
    "instruction_set": "builtins.str", "shape": "Size", "ndim": "builtins.int",
    "dtype": "_dtypes.dtype", "is_box": "builtins.bool", "_version": "builtins.int",
    "_base": "Tensor | None", "requires_grad": "builtins.bool", "grad_fn": "Node | None",
    "is_leaf": "builtins.bool", "output_number": "builtins.int", "grad": "Tensor | None",
    "retains_grad": "builtins.bool", "name": "builtins.str", "metadata": "builtins.dict[Any, Any]",
    "num_outputs": "builtins.int", "register_hook": "RemovableHandle",
    "register_prehook": "RemovableHandle", "_sequence_nr": "builtins.int",
    "next_functions": "builtins.tuple[builtins.tuple[Node | None, builtins.int], ...]",
    "apply": "Any", "__len__": "builtins.int", "__bool__": "builtins.bool",
    "__int__": "builtins.int", "__float__": "builtins.float", "__complex__": "builtins.complex",
    "__index__": "builtins.int", "__contains__": "builtins.bool", "__hash__": "builtins.int",
    "__iter__": "Iterator[Tensor]", "__repr__": "builtins.str", "__str__": "builtins.str",
    "__init__": "None", "__setitem__": "None", "__setattr__": "None", "__delattr__": "None",
    "remove": "None", "__exit__": "None", "__dir__": "builtins.list[builtins.str]",
}  # fmt: skip

#: Properties of Tensor that come from the tables; Tensor where nothing is said.
PROPERTIES = {
    "device": "_devices.device", "layout": "_devices.layout", "is_cpu": "builtins.bool",
    "is_cuda": "builtins.bool", "is_meta": "builtins.bool", "is_sparse": "builtins.bool",
    "itemsize": "builtins.int", "nbytes": "builtins.int", "output_nr": "builtins.int",
}  # fmt: skip

#: Special methods of classes other than Tensor that a type checker should know.
SPECIAL = ("__init__", "__call__", "__enter__", "__exit__")

ARITHMETIC = "add sub mul truediv pow matmul floordiv mod and or xor lshift rshift".split()
COMPARISONS = "lt le eq ne gt ge".split()


# --- one function ---------------------------------------------------------------------------------


class Stub:
    """The text of one stub file: imports are collected while functions are rendered."""

    def __init__(self, doc: str) -> None:
        self.doc = doc
        self.imports: set[str] = set()
        self.lines: list[str] = []

    def text(self) -> str:
        """The whole file."""
        head = [f'"""{self.doc}"""', "", "# Made by tools/make_stubs.py: do not edit.", ""]
        body = "\n".join([*head, *self.sorted_imports(), *self.lines]).rstrip() + "\n"
        return re.sub(r"\n{3,}", "\n\n", body)

    def sorted_imports(self) -> list[str]:
        """The imports as ruff sorts them: the standard library, NumPy, this package."""
        plain = {line for line in self.imports if line.startswith("import ")}
        named: dict[str, set[str]] = {}
        for line in self.imports - plain:
            _, module, _, names = line.split(" ", 3)
            if " as " in names:
                named.setdefault(line, set())
            else:
                named.setdefault(f"from {module} import", set()).add(names)
        froms = [f"{head} {', '.join(sorted(names, key=_case_last))}" if names else head
                 for head, names in named.items()]  # fmt: skip
        ours = sorted((line for line in froms if "tensorplay" in line), key=_natural)
        standard = sorted((line for line in froms if "tensorplay" not in line), key=_natural)
        numpy = sorted(line for line in plain if "numpy" in line)
        sections = [sorted(plain - set(numpy)) + standard, numpy, ours]
        return [line for section in sections if section for line in (*section, "")]

    def annotation(self, text: str, scope: dict[str, Any]) -> str:
        """An annotation of a function of another module, in names that this file has."""
        tree = ast.parse(text, mode="eval")
        return ast.unparse(_Renamed(self, scope).visit(tree))

    def reference(self, name: str, scope: dict[str, Any]) -> str:
        """How this file refers to what `name` means in a module."""
        if name in scope:
            value = scope[name]
        elif hasattr(builtins, name):
            self.imports.add("import builtins")
            return f"builtins.{name}"
        else:
            return self.typing("Any")
        if value is core.Tensor or value is core.Size:
            return self.core_name(value.__name__)
        if isinstance(value, types.ModuleType):
            return self.module(value)
        if value is None or value is Ellipsis:
            return name
        home = getattr(value, "__module__", None)
        if home in ("typing", "collections.abc"):
            self.imports.add(f"from {home} import {name}")
            return name
        if isinstance(value, type) and home == "builtins":
            self.imports.add("import builtins")
            return f"builtins.{value.__name__}"
        if isinstance(value, type) and home == core.__name__:
            return self.core_name(value.__name__)
        if isinstance(value, type):
            return f"{self.module(sys.modules[home])}.{value.__qualname__}"
        return self.typing("Any")  # a variable that only the module knows

    def module(self, module: types.ModuleType) -> str:
        """A name for a module."""
        if module.__name__ == "numpy":
            self.imports.add("import numpy as np")
            return "np"
        parent, _, last = module.__name__.rpartition(".")
        self.imports.add(f"from {parent} import {last} as _{last}" if parent else f"import {last}")
        return f"_{last}" if parent else last

    def typing(self, name: str) -> str:
        """A name of the module typing."""
        self.imports.add(f"from typing import {name}")
        return name

    def core_name(self, name: str) -> str:
        """A class of the core."""
        self.imports.add(f"from tensorplay._core.core import {name} as {name}")
        return name

    def function(self, name: str, value: Any, *, method: bool = False, indent: str = "") -> None:
        """Add the stub of a function or method, whatever object it is at run time."""
        parameters, returns, doc = self.signature(value)
        if method and parameters:
            first = parameters[0]
            parameters[0] = first if first.startswith("*") else "self"
            if len(parameters) > 1 and parameters[1] == "/":
                del parameters[1]
        self.define(name, parameters, returns, doc, indent)

    def define(
        self, name: str, parameters: list[str], returns: str, doc: str, indent: str = ""
    ) -> None:
        """Add a definition from its parts."""
        line = f"{indent}def {name}({', '.join(parameters)}) -> {returns}:"
        if len(line) + 4 > WIDTH:
            inner = "".join(f"{indent}    {each},\n" for each in parameters)
            line = f"{indent}def {name}(\n{inner}{indent}) -> {returns}:"
        summary = f'{indent}    """{doc}"""'
        if doc and len(summary) <= WIDTH and '"' not in doc:
            self.lines += [line, summary, ""]
        else:
            self.lines += [f"{line} ..."]

    def signature(self, value: Any) -> tuple[list[str], str, str]:
        """(parameters, return annotation, first sentence of the docstring) of a function."""
        doc = summary(getattr(value, "__doc__", None))
        if type(value) is core.Inplace:
            parameters, _, _ = self.signature(value.function)
            kept = [each for each in parameters if not each.startswith("out:")]
            if kept and kept[-1] == "*":
                kept.pop()
            return kept, self.core_name("Tensor"), doc
        if type(value) is core.Operation:
            parameters, returns, _ = self.signature(value.function)
            return self.with_out(parameters), returns, doc
        if type(value) is core.Primitive:
            if value.public is not None:
                parameters, returns, _ = self.signature(value.public)
            else:
                rest = [f"{each}: {self.typing('Any')}" for each in value.keywords[1:]]
                rest += [f"{each}: {self.typing('Any')}" for each in value.param_names]
                parameters = [f"{value.keywords[0]}: {self.core_name('Tensor')}", *rest]
                returns = self.core_name("Tensor")
            return self.with_out(parameters), returns, doc
        if isinstance(value, types.FunctionType):
            return *self.python_signature(value), doc
        parameters, returns = cython_signature(self, value.__name__)
        return parameters, returns, doc

    def with_out(self, parameters: list[str]) -> list[str]:
        """Parameters with `out=` added."""
        if any(each.startswith(("out:", "**")) for each in parameters):
            return parameters
        starred = any(each.startswith("*") for each in parameters)
        return [*parameters, *([] if starred else ["*"]), f"out: {self.typing('Any')} = None"]

    def python_signature(self, function: Callable[..., Any]) -> tuple[list[str], str]:
        """(parameters, return annotation) of a Python function."""
        scope = getattr(function, "__globals__", {})
        found = inspect.signature(function, follow_wrapped=False)
        result: list[str] = []
        seen_star = False
        for parameter in found.parameters.values():
            kind = parameter.kind
            if kind is kind.KEYWORD_ONLY and not seen_star:
                result.append("*")
                seen_star = True
            stars = {kind.VAR_POSITIONAL: "*", kind.VAR_KEYWORD: "**"}.get(kind, "")
            seen_star |= stars == "*"
            text = f"{stars}{parameter.name}"
            if parameter.annotation is not parameter.empty:
                text += f": {self.annotation(str(parameter.annotation), scope)}"
            if parameter.default is not parameter.empty:
                spaced = " = " if ":" in text else "="
                text += f"{spaced}{default(parameter.default)}"
            result.append(text)
        returns = found.return_annotation
        if returns is found.empty:
            return result, self.typing("Any")
        return result, self.annotation(str(returns), scope)


def _case_last(name: str) -> tuple[int, str]:
    # Constants, then classes, then functions.
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def _natural(line: str) -> tuple[Any, ...]:
    _, module, _, *names = line.split(" ")
    key = re.split(r"(\d+)", names[0])
    digits = tuple((int(part), "") if part.isdecimal() else (-1, part) for part in key)
    return module.lower(), _case_last(names[0])[0], digits, names


class _Renamed(ast.NodeTransformer):
    def __init__(self, stub: Stub, scope: dict[str, Any]) -> None:
        self.stub = stub
        self.scope = scope

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.parse(self.stub.reference(node.id, self.scope), mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str):  # a quoted annotation inside an annotation
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node


def default(value: Any) -> str:
    """A default as a stub shows it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        if isinstance(value, str) and '"' not in text:
            text = f'"{text[1:-1]}"'
        return text if text not in ("inf", "-inf", "nan") else "..."
    return "()" if value == () else "..."


def summary(doc: str | None) -> str:
    """The first sentence of a docstring, where it is one line."""
    lines = inspect.cleandoc(doc or "").split("\n\n")[0].splitlines()
    if lines and re.fullmatch(r"\w+\(.*\)(?: -> .*)?", lines[0]):  # a signature that Cython adds
        del lines[0]
    return lines[0].rstrip() if len(lines) == 1 else ""


# --- the compiled module --------------------------------------------------------------------------


def sources() -> str:
    """The Cython sources of the core, in the order in which they are included."""
    main = (PACKAGE / "_core" / "core.pyx").read_text()
    names = re.findall(r'^include "(.*)"', main, re.MULTILINE)
    return "\n".join((PACKAGE / "_core" / name).read_text() for name in names)


SOURCE = sources()


def cython_signature(stub: Stub, name: str) -> tuple[list[str], str]:
    """(parameters, return annotation) of a function of the core."""
    found = re.search(rf"^def {name}\((.*?)\):", SOURCE, re.MULTILINE | re.DOTALL)
    assert found, f"no function of the core is named {name}"
    return cython_parameters(stub, found[1]), returned(stub, name)


def cython_parameters(stub: Stub, text: str) -> list[str]:
    """Parameters as Cython declares them, as Python declares them."""
    result = []
    for part in re.split(r",\s*(?![^\[(]*[\])])", " ".join(text.split())):
        declared = re.fullmatch(r"(?:([\w.]+) )?(\*{0,2}\w*)(?:\s*=\s*(.*))?", part)
        assert declared, part
        kind, name, value = declared.groups()
        if not name:
            continue
        if name.lstrip("*") == "" or name == "self":
            result.append(name)
            continue
        annotation = cython_type(stub, kind)
        if value == "None" and annotation != "Any":
            annotation += " | None"
        text = f"{name}: {annotation}"
        result.append(text if value is None else f"{text} = {value}")
    return result


def cython_type(stub: Stub, kind: str | None) -> str:
    """A C type as an annotation."""
    known = CYTHON_TYPES.get(kind or "object", kind or "Any")
    return with_imports(stub, known)


def returned(stub: Stub, name: str) -> str:
    """What a function or attribute of the core returns."""
    return with_imports(stub, RETURNS.get(name, "Any"))


def with_imports(stub: Stub, annotation: str) -> str:
    """An annotation written in here; what it needs is imported."""
    for word, line in (
        ("builtins.", "import builtins"), ("np.", "import numpy as np"),
        ("Any", "from typing import Any"),
        ("_dtypes.", "from tensorplay.base import dtypes as _dtypes"),
        ("_devices.", "from tensorplay.base import devices as _devices"),
        ("Iterator", "from collections.abc import Iterator"),
    ):  # fmt: skip
        if word in annotation:
            stub.imports.add(line)
    return annotation


DOC = r'(?:\n\s+"""(.*?)""")?'


def classes() -> Iterator[tuple[str, str, str, str]]:
    """(name, bases, docstring, body) of the classes of the core."""
    pattern = rf"^(?:cdef )?class (\w+)(?:\(([^)]*)\))?:{DOC}\n((?:(?: {{4,}}[^\n]*)?\n)+)"
    for found in re.finditer(pattern, SOURCE, re.MULTILINE | re.DOTALL):
        yield found[1], found[2] or "", found[3] or "", found[4]


def add_class(stub: Stub, name: str, bases: str, doc: str, body: str) -> None:
    """Add the stub of a class of the core."""
    start = len(stub.lines)
    bases = {"tuple": "builtins.tuple[builtins.int, ...]", "dict": "builtins.dict[Any, Any]"}.get(
        bases, "" if bases in ("object", "threading.local") else bases
    )
    stub.lines.append(f"class {name}({with_imports(stub, bases)}):" if bases else f"class {name}:")
    line = f'    """{summary(doc)}"""'
    if summary(doc) and len(line) <= WIDTH:
        stub.lines += [line, ""]
    attributes = r"^    cdef (?:readonly|public) ([\w.]+) ([^#\n]*?)(?:\s+#.*)?$"
    for kind, names in re.findall(attributes, body, re.MULTILINE):
        for each in names.split(","):
            stub.lines.append(f"    {each.strip()}: {cython_type(stub, kind)}")
    if "cdef dict __dict__" in body:
        stub.lines += [
            "    def __getattr__(self, name: builtins.str) -> Any: ...",
            "    def __setattr__(self, name: builtins.str, value: Any) -> None: ...",
        ]
    if name == "Tensor":
        add_operators(stub)
    pattern = rf"^    (?:@([\w.]+)\n    )?def (\w+)\((.*?)\):{DOC}"
    for parts in re.findall(pattern, body, re.MULTILINE | re.DOTALL):
        hidden = parts[1].startswith("__") and (name == "Tensor" or parts[1] not in SPECIAL)
        if not hidden and not (name == "Tensor" and parts[1] in METHODS):
            add_member(stub, *parts)
    if name == "Tensor":
        add_methods(stub)
    if len(stub.lines) == start + 1:
        stub.lines[-1] += " ..."
    stub.lines.append("")


def add_member(stub: Stub, decorator: str, name: str, parameters: str, doc: str) -> None:
    """Add the stub of a method or property of a class of the core."""
    kind = returned(stub, name)
    if decorator == "property":
        stub.lines.append("    @property")
        stub.define(name, ["self"], kind, summary(doc), "    ")
    elif decorator.endswith(".setter"):
        stub.lines.append(f"    @{decorator}")
        stub.define(name, ["self", f"value: {kind}"], "None", "", "    ")
    elif not decorator:
        shown = cython_parameters(stub, parameters)
        stub.define(name, ["self", *shown[1:]], kind, summary(doc), "    ")


def add_operators(stub: Stub) -> None:
    """Add the interpreter's operators to Tensor."""
    stub.typing("Any")
    stub.imports.add("import builtins")
    for name in ARITHMETIC:
        for spelling in (name, f"r{name}", *([] if name == "matmul" else [f"i{name}"])):
            stub.lines.append(f"    def __{spelling}__(self, other: Any) -> Tensor: ...")
    for name in COMPARISONS:
        ignored = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        stub.lines.append(f"    def __{name}__(self, other: Any) -> Tensor: ...{ignored}")
    for name in ("neg", "pos", "abs", "invert"):
        stub.lines.append(f"    def __{name}__(self) -> Tensor: ...")
    for name in ("bool", "int", "float", "complex", "index", "len", "hash", "iter"):
        stub.lines.append(f"    def __{name}__(self) -> {returned(stub, f'__{name}__')}: ...")
    stub.lines.append("    def __contains__(self, element: Any) -> builtins.bool: ...")
    stub.lines.append("    def __getitem__(self, index: Any) -> Tensor: ...")
    stub.lines.append("    def __setitem__(self, index: Any, value: Any) -> None: ...")


def add_methods(stub: Stub) -> None:
    """Add the methods and properties that the tables install."""
    for name, value in sorted(METHODS.items()):
        if name == "__dict__":  # every object has it
            continue
        if isinstance(value, property):
            kind = with_imports(stub, PROPERTIES.get(name, "Tensor"))
            stub.lines.append("    @property")
            stub.define(name, ["self"], kind, summary(value.__doc__), "    ")
            if value.fset is not None:
                stub.lines += [
                    f"    @{name}.setter",
                    f"    def {name}(self, value: {kind}) -> None: ...",
                ]
        elif callable(value):
            if name in ("__repr__", "__dir__"):
                stub.lines.append(f"    def {name}(self) -> {returned(stub, name)}: ...")
            else:
                stub.function(name, value, method=True, indent="    ")
        else:
            stub.lines.append(f"    {name}: builtins.{type(value).__name__}")


def core_stub() -> str:
    """The text of core.pyi."""
    stub = Stub(core.__doc__.splitlines()[0])
    stub.lines.append("registry: builtins.dict[builtins.str, Primitive]")
    stub.lines.append("mode_data: Any")
    stub.lines.append("OPERATOR_NAMES: builtins.tuple[builtins.str, ...]")
    stub.lines.append("")
    stub.imports |= {"import builtins", "from typing import Any"}
    for name, bases, doc, body in classes():
        if not name.startswith("_"):
            add_class(stub, name, bases, doc, body)
    pattern = rf"^def (\w+)\((.*?)\):{DOC}"
    for name, parameters, doc in re.findall(pattern, SOURCE, re.MULTILINE | re.DOTALL):
        shown = cython_parameters(stub, parameters)
        stub.define(name, shown, returned(stub, name), summary(doc))
    stub.imports = {line for line in stub.imports if "tensorplay._core.core" not in line}
    return stub.text()


# --- faces ----------------------------------------------------------------------------------------


def face_stub(namespace: str) -> str:
    """The text of the stub of a face."""
    module = importlib.import_module(f"tensorplay.{namespace}".rstrip("."))
    assert module.__doc__
    stub = Stub(module.__doc__.splitlines()[0])
    path = PACKAGE / namespace / "__init__.py"
    rest: list[str] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                if PUBLIC.get((namespace, name)) is getattr(module, name, object()):
                    rest.append(name)
                else:
                    stub.imports.add(f"from {node.module} import {alias.name} as {name}")
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], getattr(module, ast.unparse(node.targets[0]))
            kind = "None" if value is None else stub.reference(type(value).__name__, {})
            stub.lines.append(f"{ast.unparse(target)}: {kind}")
    if stub.lines:
        stub.lines.append("")
    for name in sorted(rest):
        stub.function(name, PUBLIC[namespace, name])
    return stub.text()


def stubs() -> dict[pathlib.Path, str]:
    """Every stub file and its text."""
    found = {PACKAGE / "_core" / "core.pyi": core_stub()}
    for namespace in FACES:
        if (PACKAGE / namespace / "__init__.py").exists():
            found[PACKAGE / namespace / "__init__.pyi"] = face_stub(namespace)
    return found


def stale_stubs() -> dict[pathlib.Path, str]:
    """The stub files that are not up to date, and the text that they should have."""
    return {
        path: text
        for path, text in stubs().items()
        if not path.exists() or path.read_text() != text
    }


def main() -> None:
    """Write the stubs, or check them."""
    stale = stale_stubs()
    if "--check" in sys.argv[1:]:
        if stale:
            names = ", ".join(str(path.relative_to(PACKAGE)) for path in stale)
            sys.exit(f"not up to date: {names}; run python tools/make_stubs.py")
        return
    for path, text in stale.items():
        path.write_text(text)
        print(f"wrote {path.relative_to(PACKAGE)}")


if __name__ == "__main__":
    main()
