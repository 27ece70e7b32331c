"""Where and how tensors are stored, as far as PyTorch's signatures ask: one device, one layout."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class device:
    """The place of a tensor's memory: always the CPU.

    Args:
        type: ``'cpu'``, ``'cpu:0'``, or another `device`.
        index: 0 or None.

    Attributes:
        type: ``'cpu'``.
        index: as given.

    Raises:
        RuntimeError: for any other device.

    Also a context manager, as in PyTorch, where it says on which device new tensors are made.

    Example:
        >>> device('cpu')
        device(type='cpu')
        >>> device('cpu', 0) == device('cpu:0')
        True
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __new__(cls, type: Any = "cpu", index: int | None = None) -> Self:
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' must be str or device, not {type.__class__.__name__}"
            )
        kind, _, number = type.partition(":")
        if number and index is not None:
            raise RuntimeError(
                f"device(): type ({type!r}) must not include an index because index was passed "
                f"explicitly: {index}"
            )
        if number:
            if not number.isdecimal():
                raise RuntimeError(f"device(): invalid device string: {type!r}")
            index = int(number)
        if kind != "cpu" or index not in (None, 0, -1):
            raise RuntimeError(f"device(): only the device 'cpu' is available, got {type!r}")
        self = object.__new__(cls)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", None if index == -1 else index)
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"'tensorplay.device' object: attribute '{name}' cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


CPU = device("cpu")


class _Constant:
    """A named constant of which there is one object, also after copying and pickling."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tensorplay.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Constant):
    """How elements are laid out. `strided`, the only one, is an array with a step per dimension.

    Example:
        >>> strided
        tensorplay.strided
    """


class memory_format(_Constant):
    """In which order elements follow each other in memory.

    Accepted where PyTorch has it; results only have it where a docstring says so.

    Example:
        >>> contiguous_format
        tensorplay.contiguous_format
    """


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def check_placement(name: str, given: Any, layout_: Any = None) -> None:
    """Check the arguments ``device`` and ``layout`` of the function `name`.

    Raises:
        RuntimeError: for a device other than the CPU, or a layout other than `strided`.
        TypeError: if `given` does not name a device.

    Example:
        >>> check_placement('zeros', 'cpu')
    """
    if given is not None and given is not CPU:
        try:
            device(given)
        except (RuntimeError, TypeError) as error:
            reason = str(error).removeprefix("device(): ")
            raise type(error)(f"{name}(): argument 'device': {reason}") from None
    if layout_ is not None and layout_ is not strided:
        raise RuntimeError(f"{name}(): only the layout tensorplay.strided exists, got {layout_!r}")
