"""Modules that hold modules or parameters: in order, by index or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from tensorplay._core.core import Tensor
from tensorplay.nn.module import Module
from tensorplay.nn.parameter import Parameter


def _position(index: Any, length: int) -> int:
    """A possibly negative index as one from 0 to length - 1.

    Raises:
        IndexError: if it is out of range.
    """
    number = index.__index__()
    if not -length <= number < length:
        raise IndexError(f"index {number} is out of range")
    return number % length


class _Ordered(Module):
    """What Sequential and ModuleList have in common: children named '0', '1', ..."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        children = list(self._modules.items())
        if isinstance(index, slice):
            return self._sliced(children[index])
        return children[_position(index, len(children))][1]

    def _sliced(self, children: list[tuple[str, Any]]) -> Any:
        return type(self)(child for _, child in children)  # type: ignore[call-arg]

    def __setitem__(self, index: Any, module: Module) -> None:
        name = list(self._modules)[_position(index, len(self))]
        setattr(self, name, module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        chosen = names[index] if isinstance(index, slice) else [names[_position(index, len(self))]]
        for name in chosen:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, children: Iterable[Any]) -> None:
        # In place: the dictionary may be shared with a replica.
        kept = list(children)
        self._modules.clear()
        for i, child in enumerate(kept):
            self._modules[str(i)] = child

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Add a module before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        children = list(self._modules.values())
        if not -len(children) <= index <= len(children):
            raise IndexError(f"index out of range: {index}")
        children.insert(index, module)
        self._renumber(children)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, index: int = -1) -> Module:
        """Remove a module and return it."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Ordered):
    """Modules called one after the other.

    >>> import tensorplay as tp
    >>> tp.nn.Sequential(tp.nn.Linear(2, 3), tp.nn.Tanh())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): Tanh()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else None
        for name, module in named.items() if named is not None else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        modules: Iterable[Any] = self._modules.values()
        for module in modules:
            input = module(input)
        return input

    def _sliced(self, children: list[tuple[str, Any]]) -> Sequential:
        return type(self)(OrderedDict(children))

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports Sequential only, got {type(other).__name__}")
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports Sequential only, got {type(other).__name__}")
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*(list(self) * _repeats(other)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (_repeats(other) - 1))


def _repeats(count: Any) -> int:
    if not isinstance(count, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(count).__name__}")
    if count <= 0:
        raise ValueError(f"Non-positive multiplication factor {count} for Sequential")
    return count


class ModuleList(_Ordered):
    """A list of modules.

    >>> import tensorplay as tp
    >>> layers = tp.nn.ModuleList([tp.nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers)
    3
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Add a module before position `index`."""
        children = list(self._modules.values())
        children.insert(index, module)
        self._renumber(children)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Runs of equal modules are printed once, with their number."""
        runs: list[list[Any]] = []
        for i, text in enumerate(repr(child) for child in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in runs:
            label = f"({first})" if first == last else f"({first}-{last})"
            count = "" if first == last else f"{last - first + 1} x "
            lines.append(f"  {label}: {count}" + text.replace("\n", "\n  "))
        return f"{self._get_name()}(\n" + "\n".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, in order of insertion.

    >>> import tensorplay as tp
    >>> list(tp.nn.ModuleDict({"a": tp.nn.Identity()}).keys())
    ['a']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or an iterable of pairs."""
        if not isinstance(modules, (Mapping, ModuleDict)) and not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for key, module in pairs:
            self[key] = module


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _describe(name: Any, value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        size = "x".join(map(str, value.shape))
        return f"  ({name}): {kind} containing: [{value.dtype} of size {size}]"
    return f"  ({name}): Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters; tensors that are appended become parameters.

    >>> import tensorplay as tp
    >>> len(tp.nn.ParameterList([tp.zeros(2), tp.zeros(3)]))
    2
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(i)) for i in range(self._size))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(_position(index, self._size)))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_position(index, self._size)), _as_parameter(value))

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add several values at the end."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(_describe(i, value) for i, value in enumerate(self))


class ParameterDict(Module):
    """A dictionary of parameters; tensors that are put in become parameters.

    >>> import tensorplay as tp
    >>> list(tp.nn.ParameterDict({"a": tp.zeros(2)}).keys())
    ['a']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def get(self, key: str, default: Any = None) -> Any:
        """The value under `key`, or `default`."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under `key`, which becomes `default` where there is none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a value and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last pair and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """(name, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or an iterable of pairs."""
        if isinstance(parameters, Tensor) or not isinstance(parameters, Iterable):
            raise TypeError(
                "ParameterDict.update should be called with an iterable of key/value pairs, but "
                f"got {type(parameters).__name__}"
            )
        pairs: Iterable[Any] = parameters
        if isinstance(parameters, (Mapping, ParameterDict)):
            pairs = parameters.items()
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_describe(key, value) for key, value in self.items())
