"""Derivatives: `backward`, `grad`, forward mode, custom functions, the graph, checking."""

from tensorplay.autograd import anomaly as anomaly_mode
from tensorplay.autograd import forward_ad as forward_ad
from tensorplay.autograd import function as function
from tensorplay.autograd import functional as functional
from tensorplay.autograd import graph as graph
from tensorplay.autograd import profiler as profiler
from tensorplay.autograd.anomaly import detect_anomaly as detect_anomaly
from tensorplay.autograd.anomaly import set_detect_anomaly as set_detect_anomaly
from tensorplay.autograd.backward import backward as backward
from tensorplay.autograd.backward import grad as grad
from tensorplay.autograd.function import Function as Function
from tensorplay.autograd.functional import hessian as hessian
from tensorplay.autograd.functional import hvp as hvp
from tensorplay.autograd.functional import jacobian as jacobian
from tensorplay.autograd.functional import jvp as jvp
from tensorplay.autograd.functional import vhp as vhp
from tensorplay.autograd.functional import vjp as vjp
from tensorplay.autograd.grad_mode import enable_grad as enable_grad
from tensorplay.autograd.grad_mode import inference_mode as inference_mode
from tensorplay.autograd.grad_mode import no_grad as no_grad
from tensorplay.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from tensorplay.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from tensorplay.autograd.gradcheck import GradcheckError as GradcheckError
from tensorplay.autograd.gradcheck import gradcheck as gradcheck
from tensorplay.autograd.gradcheck import gradgradcheck as gradgradcheck
from tensorplay.autograd.graph import GradientEdge as GradientEdge
