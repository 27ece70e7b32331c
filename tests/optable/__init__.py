"""The table of operators that every generic test runs over.

One module per family; each registers rows (`schema.Op`). A module that appears in this folder is
part of the table, there is no list to keep.
"""

import importlib
import pkgutil

from tests.optable.schema import ROWS, Op, Sample, register, sample

__all__ = ["ROWS", "Op", "Sample", "register", "sample"]

for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
