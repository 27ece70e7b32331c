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
    made: Any = namedtuple(name, fields, module=__name__)  # type: ignore[misc]
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
histogram = _result("histogram", "hist", "bin_edges")
histogramdd = _result("histogramdd", "hist", "bin_edges")
frexp = _result("frexp", "mantissa", "exponent")

linalg_solve_ex = _result("linalg_solve_ex", "result", "info")
linalg_inv_ex = _result("linalg_inv_ex", "inverse", "info")
linalg_slogdet = _result("linalg_slogdet", "sign", "logabsdet")
linalg_cholesky_ex = _result("linalg_cholesky_ex", "L", "info")
linalg_qr = _result("linalg_qr", "Q", "R")
linalg_lu = _result("linalg_lu", "P", "L", "U")
linalg_lu_factor = _result("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _result("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_ldl_factor = _result("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _result("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_eig = _result("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _result("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_svd = _result("linalg_svd", "U", "S", "Vh")
linalg_lstsq = _result("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
svd = _result("svd", "U", "S", "V")
qr = _result("qr", "Q", "R")
geqrf = _result("geqrf", "a", "tau")
lu_unpack = _result("lu_unpack", "P", "L", "U")
triangular_solve = _result("triangular_solve", "solution", "cloned_coefficient")
