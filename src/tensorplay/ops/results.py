"""Named tuples that functions with several results return, with PyTorch's field names.

They are tuples in every way (unpacking, `optree`, pickling) and print field by field.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def _show(self: Any) -> str:
    fields = ",\n".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
    return f"tensorplay.return_types.{type(self).__name__}(\n{fields})"


def _result(name: str, *fields: str) -> Any:
    made = namedtuple(name, fields, module=__name__)
    made.__repr__ = _show  # type: ignore[method-assign]
    made.__doc__ = f"What {name}() returns: ({', '.join(fields)})."
    return made


max = _result("max", "values", "indices")
min = _result("min", "values", "indices")
aminmax = _result("aminmax", "min", "max")
median = _result("median", "values", "indices")
nanmedian = _result("nanmedian", "values", "indices")
mode = _result("mode", "values", "indices")
cummax = _result("cummax", "values", "indices")
cummin = _result("cummin", "values", "indices")
sort = _result("sort", "values", "indices")
topk = _result("topk", "values", "indices")
kthvalue = _result("kthvalue", "values", "indices")
frexp = _result("frexp", "mantissa", "exponent")
