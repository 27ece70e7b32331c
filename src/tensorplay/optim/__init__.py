"""Optimisers: they change parameters by their gradients."""

from tensorplay.optim import lr_scheduler as lr_scheduler
from tensorplay.optim.adam import Adam as Adam
from tensorplay.optim.adam import Adamax as Adamax
from tensorplay.optim.adam import AdamW as AdamW
from tensorplay.optim.adam import NAdam as NAdam
from tensorplay.optim.adam import RAdam as RAdam
from tensorplay.optim.adaptive import Adadelta as Adadelta
from tensorplay.optim.adaptive import Adagrad as Adagrad
from tensorplay.optim.adaptive import RMSprop as RMSprop
from tensorplay.optim.adaptive import Rprop as Rprop
from tensorplay.optim.averaged import ASGD as ASGD
from tensorplay.optim.lbfgs import LBFGS as LBFGS
from tensorplay.optim.matrices import Adafactor as Adafactor
from tensorplay.optim.matrices import Muon as Muon
from tensorplay.optim.optimizer import Optimizer as Optimizer
from tensorplay.optim.sgd import SGD as SGD
