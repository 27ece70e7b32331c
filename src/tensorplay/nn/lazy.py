"""Parameters and buffers whose shape is not known yet, and what modules with them share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.nn.module import Module
from tensorplay.nn.parameter import Buffer, Parameter

_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized module. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)


class _Uninitialized(Tensor):
    """A tensor without a shape."""

    becomes: ClassVar[type[Any]]
    wanted_dtype: Any

    @property
    def shape(self) -> Any:
        """Not known yet.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SHAPE)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor a shape, with zeros in it; it is an ordinary one then."""
        kind = dtype or self.wanted_dtype or dtypes.get_default_dtype()
        core.set_data(self, core.from_array(np.zeros(tuple(shape), kind.numpy)))
        self.__class__ = self.becomes

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is found when its module is first called.

    >>> import tensorplay as tp
    >>> p = tp.nn.UninitializedParameter()
    >>> p.materialize((2, 3))
    >>> p.shape
    tensorplay.Size([2, 3])
    """

    becomes = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        made: Any = Parameter.__new__(cls, None, requires_grad)
        made.wanted_dtype = dtype
        return made

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(self.requires_grad, None, self.wanted_dtype)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.wanted_dtype)


class UninitializedBuffer(_Uninitialized, Buffer):
    """A buffer whose shape is found when its module is first called."""

    becomes = Buffer

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:  # fmt: skip
        made: Any = Buffer.__new__(cls, None, persistent=persistent)
        made.wanted_dtype = dtype
        return made

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None,
        persistent: bool = True,
    ) -> None:  # fmt: skip
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedBuffer:
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(False, None, self.wanted_dtype, self.persistent)
        return made


def is_lazy(tensor: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(tensor, _Uninitialized)


class LazyModule(Module):
    """A module that finds its sizes from its first input, and is of the class `cls_to_become` then.

    Subclasses write `initialize_parameters(input)`, which materializes what is uninitialized.
    """

    cls_to_become: ClassVar[type[Any]]

    def _wait(self) -> None:
        """Have what is uninitialized found at the first call, or taken from a state_dict."""
        self.register_forward_pre_hook(LazyModule._infer)
        self.register_load_state_dict_pre_hook(LazyModule._take_shapes)

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(x) for h in (self._parameters, self._buffers) for x in h.values())

    def initialize_parameters(self, input: Tensor) -> None:
        """Give everything its shape; every lazy module writes its own."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def _infer(self, args: Any) -> None:
        if len(args) != 1:
            raise RuntimeError(
                f"{type(self).__name__}: expected one input to find the sizes from, got {len(args)}"
            )
        self.initialize_parameters(args[0])
        for hooks in (self._forward_pre_hooks, self._load_state_dict_pre_hooks):
            for key, hook in list(hooks.items()):
                own = (LazyModule._infer, LazyModule._take_shapes)
                if getattr(hook, "function", hook) in own:
                    del hooks[key]
        self.__class__ = self.cls_to_become

    def _take_shapes(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for holder in (self._parameters, self._buffers):
            for name, tensor in holder.items():
                given = state_dict.get(prefix + name)
                if is_lazy(tensor) and given is not None and not is_lazy(given):
                    tensor.materialize(given.shape, dtype=given.dtype)  # type: ignore[union-attr]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, tensor in self._saved().items():
            if is_lazy(tensor):
                destination[prefix + name] = tensor

    def _load_one(self, name: str, tensor: Tensor, value: Any, key: str, assign: bool) -> str:
        if is_lazy(tensor) and is_lazy(value):
            return ""
        return super()._load_one(name, tensor, value, key, assign)
