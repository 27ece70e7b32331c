"""Gradients clipped, parameters as one vector or as functions of others, packed sequences."""

from tensorplay.nn.utils import parametrizations as parametrizations
from tensorplay.nn.utils import parametrize as parametrize
from tensorplay.nn.utils import rnn as rnn
from tensorplay.nn.utils.clipping import clip_grad_norm_ as clip_grad_norm_
from tensorplay.nn.utils.clipping import clip_grad_value_ as clip_grad_value_
from tensorplay.nn.utils.clipping import clip_grads_with_norm_ as clip_grads_with_norm_
from tensorplay.nn.utils.clipping import get_total_norm as get_total_norm
from tensorplay.nn.utils.clipping import parameters_to_vector as parameters_to_vector
from tensorplay.nn.utils.clipping import vector_to_parameters as vector_to_parameters
from tensorplay.nn.utils.hooked_norms import remove_spectral_norm as remove_spectral_norm
from tensorplay.nn.utils.hooked_norms import remove_weight_norm as remove_weight_norm
from tensorplay.nn.utils.hooked_norms import spectral_norm as spectral_norm
from tensorplay.nn.utils.hooked_norms import weight_norm as weight_norm
