from tensorplay.ops import structure, elementwise, shaping, products
from tensorplay.ops import creation, ranges, conversion, interchange, protocol
from tensorplay._core import core
