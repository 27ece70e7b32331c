"""Linear algebra, as in `torch.linalg`: batched, real and complex, differentiable to any order.

>>> import tensorplay as tp
>>> a = tp.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
>>> tp.linalg.eigvalsh(a)
tensor([1., 3.], grad_fn=<LinalgEigvalshBackward0>)
>>> tp.linalg.det(a).backward()
>>> a.grad
tensor([[ 2., -1.],
        [-1.,  2.]])
"""

from tensorplay.ops.linalg_base import LinAlgError
from tensorplay.ops.linalg_cholesky import cholesky, cholesky_ex
from tensorplay.ops.linalg_det import det, slogdet
from tensorplay.ops.linalg_functions import (
    cond,
    cross,
    diagonal,
    matrix_exp,
    matrix_norm,
    matrix_power,
    multi_dot,
    norm,
    vander,
    vecdot,
    vector_norm,
)
from tensorplay.ops.linalg_lu import (
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    lu,
    lu_factor,
    lu_factor_ex,
    lu_solve,
)
from tensorplay.ops.linalg_pinv import lstsq, matrix_rank, pinv
from tensorplay.ops.linalg_qr import householder_product, qr
from tensorplay.ops.linalg_solve import (
    inv,
    inv_ex,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from tensorplay.ops.linalg_spectral import eig, eigh, eigvals, eigvalsh
from tensorplay.ops.linalg_svd import svd, svdvals
from tensorplay.ops.products import matmul

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
