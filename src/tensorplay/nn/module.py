"""Module: a function with parameters, made of other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

from tensorplay._core import core
from tensorplay._core.core import HookDict, Tensor
from tensorplay.base import dtypes
from tensorplay.nn.module_hooks import ModuleHooks
from tensorplay.nn.module_state import ModuleState
from tensorplay.nn.parameter import Buffer, Parameter

_Layer = TypeVar("_Layer", bound=type)


def reading(*names: str) -> Callable[[_Layer], _Layer]:
    """Decorator of a layer that reads these parameters in every call: they are found at once.

    (`__getattr__` is asked last, after an AttributeError has been made, which costs as much as a
    small operation.)
    """

    def decorate(layer: _Layer) -> _Layer:
        for name in names:
            setattr(layer, name, core.Registered(name))
        return layer

    return decorate


class Module(ModuleState, ModuleHooks):
    """The base class of everything that has parameters: write `__init__` and `forward`.

    Attributes that are a `Parameter`, a `Module` or a registered buffer are found by
    `parameters()`, `modules()`, `buffers()`, `state_dict()` and the conversions.

    >>> import tensorplay as tp
    >>> class Scale(tp.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tp.nn.Parameter(tp.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(tp.tensor([1.0, 2.0]))
    tensor([2., 4.], grad_fn=<MulBackward0>)
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent: set[str]

    def __init__(self) -> None:
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_modules"] = {}
        attributes["_non_persistent"] = set()
        for name in self._HOOKS:
            attributes[name] = HookDict()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What calling the module computes; every subclass writes its own."""
        raise NotImplementedError(f"Module [{type(self).__name__}] is missing 'forward'")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        d = self.__dict__
        if (
            d["_forward_hooks"] or d["_forward_pre_hooks"] or d["_backward_hooks"]
            or d["_backward_pre_hooks"]
        ):  # fmt: skip
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    # --- attributes ---

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not an ordinary attribute.
        attributes = self.__dict__
        if "_parameters" in attributes:
            if name in attributes["_parameters"]:
                return attributes["_parameters"][name]
            if name in attributes["_modules"]:
                return attributes["_modules"][name]
            if name in attributes["_buffers"]:
                return attributes["_buffers"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, (Parameter, Module)) and "_parameters" not in attributes:
            kind = "parameters" if isinstance(value, Parameter) else "module"
            raise AttributeError(
                f"{type(self).__name__}: cannot assign {kind} before Module.__init__() call; "
                "start __init__ with super().__init__()"
            )
        if isinstance(value, Buffer):
            self._forget(name)
            self.register_buffer(name, value, value.persistent)
        elif isinstance(value, Parameter):
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, keep="_modules")
            attributes["_modules"][name] = value
        elif name in attributes.get("_parameters", ()):
            self._refuse(value, name, "parameter", Parameter)
            attributes["_parameters"][name] = value
        elif name in attributes.get("_modules", ()):
            self._refuse(value, name, "child module", Module)
            attributes["_modules"][name] = value
        elif name in attributes.get("_buffers", ()):
            self._refuse(value, name, "buffer", Tensor)
            attributes["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    @staticmethod
    def _refuse(value: Any, name: str, role: str, kind: type) -> None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(
                f"cannot assign a {type(value).__name__} as {role} '{name}': expected a "
                f"{kind.__name__} or None"
            )

    def _forget(self, name: str, keep: str = "") -> None:
        """Take `name` out of wherever it is (but `keep`)."""
        attributes = self.__dict__
        attributes.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != keep:
                attributes[kind].pop(name, None)
        attributes["_non_persistent"].discard(name)

    def __delattr__(self, name: str) -> None:
        for kind in (self._parameters, self._buffers, self._modules):
            if name in kind:
                del kind[name]
                self._non_persistent.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if name and not name[0].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # --- registration ---

    def _check_name(self, name: str, role: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{role} name must be a string, got {type(name).__name__}")
        if "." in name:
            raise KeyError(f"{role} name can't contain '.', got '{name}'")
        if name == "":
            raise KeyError(f"{role} name can't be the empty string")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None reserves the name.

        Raises:
            TypeError: if it is not a Parameter.
            KeyError: for a name that is taken or contains a dot.
            ValueError: for a parameter that an operation made.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name(name, "parameter")
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"attribute '{name}' already exists")
        self._refuse(param, name, "parameter", Parameter)
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"cannot assign a tensor that an operation made as parameter '{name}': parameters "
                "are leaves; compute it in forward() instead"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer: a tensor that is state but is not learnt.

        persistent: whether it is part of the state_dict.

        Raises:
            TypeError: if it is not a tensor.
            KeyError: for a name that is taken or contains a dot.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name(name, "buffer")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        self._refuse(tensor, name, "buffer", Tensor)
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under `name`.

        Raises:
            TypeError: if it is not a Module.
            KeyError: for a name that is taken or contains a dot.
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, "module")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        self._modules[name] = module

    register_module = add_module

    # --- finding ---

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path; this one for ''.

        Raises:
            AttributeError: if there is none.
        """
        found: Any = self
        for part in target.split(".") if target else ():
            owner, found = found, getattr(found, part, None)
            if not isinstance(found, Module):
                what = "has no attribute" if found is None else "has no module"
                raise AttributeError(f"{type(owner).__name__} {what} `{part}`")
        return found

    def _get_member(self, target: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        members = getattr(owner, f"_{kind}s")
        if name not in members:
            raise AttributeError(f"{type(owner).__name__} has no {kind} `{name}`")
        return members[name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        return self._get_member(target, "parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        return self._get_member(target, "buffer")

    def set_submodule(self, target: str, module: Module) -> None:
        """Put `module` at a dotted path.

        Raises:
            ValueError: for the empty path.
        """
        if not target:
            raise ValueError("set_submodule(): cannot set the submodule without a target name")
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(path, module) of this module and of all inside it, parents first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all inside it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules directly inside this one."""
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        return (child for _, child in self.named_children())

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        owners: Iterable[tuple[str, Module]] = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, owner in owners:
            for name, member in getattr(owner, kind).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter), in the order of assignment."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer), in the order of registration."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    # --- changing everything inside ---

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module inside, children first, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the values of parameters, their gradients and buffers by `fn` of them."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            grad = param.grad
            core.set_data(param, fn(core.detach(param)))
            if grad is not None:
                param.grad = None
                param.grad = fn(core.detach(grad)).requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _convert(self, dtype: Any) -> Self:
        return self._apply(lambda x: x.to(dtype) if x.dtype.is_floating_point else x)

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self._convert(dtypes.float32)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self._convert(dtypes.float64)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self._convert(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert floating point parameters and buffers to bfloat16."""
        return self._convert(dtypes.bfloat16)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.to(dst_type))

    def cpu(self) -> Self:
        """This module: all memory is the processor's."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating point parameters and buffers: `to(dtype)`, `to(tensor)`, `to('cpu')`.

        Raises:
            TypeError: for a dtype that is neither floating point nor complex.
        """
        dtype = kwargs.get("dtype")
        for value in args:
            if isinstance(value, dtypes.dtype):
                dtype = value
            elif isinstance(value, Tensor):
                dtype = value.dtype
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"to(): modules convert to floating point or complex dtypes only, got {dtype}"
            )
        return self._apply(
            lambda x: x.to(dtype) if x.dtype.is_floating_point or x.dtype.is_complex else x
        )

    def train(self, mode: bool = True) -> Self:
        """Set training mode (dropout drops, batch norm uses the batch) here and inside.

        Raises:
            ValueError: if `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode here and inside."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say for all parameters whether operations on them are recorded."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for param in self.parameters():
            if param.grad is None:
                continue
            param.grad = None if set_to_none else core.detach(param.grad) * 0

    # --- printing ---

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed between the parentheses; for subclasses to write."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(child))}" for name, child in self._modules.items()]
        lines = extra_lines + children
        if not lines:
            return f"{self._get_name()}()"
        if len(extra_lines) == 1 and not children:
            return f"{self._get_name()}({extra_lines[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
