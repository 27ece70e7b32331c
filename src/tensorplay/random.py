"""The default random number generator: its seed and its state, as in `torch.random`."""

from tensorplay.base.random import fork_rng as fork_rng
from tensorplay.base.random import get_rng_state as get_rng_state
from tensorplay.base.random import initial_seed as initial_seed
from tensorplay.base.random import manual_seed as manual_seed
from tensorplay.base.random import seed as seed
from tensorplay.base.random import set_rng_state as set_rng_state
from tensorplay.ops.randoms import default_generator as default_generator
