"""The table of operators that every generic test runs over.

One module per family; each registers rows (`schema.Op`). A module that appears in this folder is
part of the table, there is no list to keep.
"""

import importlib
import pkgutil

import tensorplay.ops
from tests.optable.schema import ROWS, Op, Sample, register, sample

__all__ = ["ROWS", "Op", "Sample", "register", "sample"]

# While families are being written: those that the package does not import yet.
for _found in pkgutil.iter_modules(tensorplay.ops.__path__):
    try:
        importlib.import_module("tensorplay.ops." + _found.name)
    except Exception as _error:
        print("cannot import", _found.name, repr(_error)[:300])

for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
