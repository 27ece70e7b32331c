from tensorplay.ops import structure, elementwise, shaping, products, contractions, linalg_solve, linalg_det
from tensorplay.ops import creation, ranges, conversion, interchange, protocol
from tensorplay._core import core
