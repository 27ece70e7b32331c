"""Tools around training: checkpointing."""

from tensorplay.utils import checkpoint as checkpoint
