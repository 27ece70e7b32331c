from tensorplay.ops import structure, elementwise, shaping
from tensorplay._core import core
