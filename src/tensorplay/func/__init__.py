"""Function transforms: each takes a function and returns the function of its derivatives."""

from tensorplay.func.choices import safe_where as safe_where
from tensorplay.func.forward import jvp as jvp
from tensorplay.func.forward import linearize as linearize
from tensorplay.func.jacobians import hessian as hessian
from tensorplay.func.jacobians import jacfwd as jacfwd
from tensorplay.func.jacobians import jacrev as jacrev
from tensorplay.func.modules import functional_call as functional_call
from tensorplay.func.modules import (
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
)
from tensorplay.func.modules import stack_module_state as stack_module_state
from tensorplay.func.operators import divergence as divergence
from tensorplay.func.operators import ggnvp as ggnvp
from tensorplay.func.operators import hvp as hvp
from tensorplay.func.operators import jacobian_diagonal as jacobian_diagonal
from tensorplay.func.operators import laplacian as laplacian
from tensorplay.func.operators import linear_transpose as linear_transpose
from tensorplay.func.reverse import grad as grad
from tensorplay.func.reverse import grad_and_value as grad_and_value
from tensorplay.func.reverse import vjp as vjp
from tensorplay.func.sparse import hessian_pattern as hessian_pattern
from tensorplay.func.sparse import jacobian_pattern as jacobian_pattern
from tensorplay.func.sparse import sparse_hessian as sparse_hessian
from tensorplay.func.sparse import sparse_jacobian as sparse_jacobian
from tensorplay.func.taylor import jet as jet
from tensorplay.transforms.vmap import vmap as vmap
