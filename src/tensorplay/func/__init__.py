"""Function transforms: each takes a function and returns the function of its derivatives."""

from tensorplay.func.forward import jvp as jvp
from tensorplay.func.forward import linearize as linearize
from tensorplay.func.jacobians import hessian as hessian
from tensorplay.func.jacobians import jacfwd as jacfwd
from tensorplay.func.jacobians import jacrev as jacrev
from tensorplay.func.reverse import grad as grad
from tensorplay.func.reverse import grad_and_value as grad_and_value
from tensorplay.func.reverse import vjp as vjp
from tensorplay.transforms.vmap import vmap as vmap
from tensorplay.func.taylor import jet as jet
