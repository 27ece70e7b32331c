"""Neural networks: modules, parameters, and the functions they are made of."""

from tensorplay.nn import functional as functional
from tensorplay.nn import init as init
from tensorplay.nn.containers import ModuleDict as ModuleDict
from tensorplay.nn.containers import ModuleList as ModuleList
from tensorplay.nn.containers import ParameterDict as ParameterDict
from tensorplay.nn.containers import ParameterList as ParameterList
from tensorplay.nn.containers import Sequential as Sequential
from tensorplay.nn.layers_linear import Flatten as Flatten
from tensorplay.nn.layers_linear import Identity as Identity
from tensorplay.nn.layers_linear import Linear as Linear
from tensorplay.nn.layers_linear import Unflatten as Unflatten
from tensorplay.nn.module import Module as Module
from tensorplay.nn.parameter import Buffer as Buffer
from tensorplay.nn.parameter import Parameter as Parameter
