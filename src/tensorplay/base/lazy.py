"""Modules that are imported when they are first used, so that importing the package is fast."""

from __future__ import annotations

import importlib
from typing import Any


class LazyModule:
    """Stands for a module and imports it when an attribute is first asked for.

    Attributes that were read once are kept here, so that later reads cost what any attribute does.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value

    def __repr__(self) -> str:
        return f"<lazy module '{self.__name__}'>"


def lazy_module(name: str) -> Any:
    """Return a stand-in for the module `name` that imports it at first use.

    Kernels must look functions up when they run, ``lambda x: special.erf(x)``: a function taken
    from the module while a file is being imported would import the module then.

    Example:
        >>> special = lazy_module('scipy.special')
        >>> float(special.erf(0.0))
        0.0
    """
    return LazyModule(name)
