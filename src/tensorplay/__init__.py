from tensorplay.ops import structure, elementwise, shaping, products
from tensorplay._core import core
