"""Weight and spectral normalisation by hooks before forward: PyTorch's older form."""

from __future__ import annotations

import warnings
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.nn.module import Module
from tensorplay.nn.parameter import Parameter
from tensorplay.nn.utils import norms


class _WeightNorm:
    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def value(self, module: Module) -> Tensor:
        g, v = (getattr(module, self.name + end) for end in ("_g", "_v"))
        return v * (g / norms.norm_except(v, self.dim))

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.value(module))


class _SpectralNorm:
    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        norms.check_iterations("spectral_norm", n_power_iterations)
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def value(self, module: Module, iterate: bool) -> Tensor:
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = norms.as_matrix(weight, self.dim)
        if iterate:
            norms.iterate(matrix, u, v, self.n_power_iterations, self.eps, v_first=True)
        return weight / norms.largest(matrix, u, v)

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.value(module, module.training))


def _hook(module: Module, kind: Any, name: str) -> tuple[int, Any] | None:
    """The key and the hook of a kind for a weight."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook.function, kind) and hook.function.name == name:
            return key, hook.function
    return None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """As `parametrizations.weight_norm`, with parameters `weight_g` and `weight_v` and a hook.

    Raises:
        RuntimeError: if the weight is normalised already.
    """
    warnings.warn(
        "weight_norm() is deprecated in favor of nn.utils.parametrizations.weight_norm()",
        FutureWarning,
        stacklevel=2,
    )
    if _hook(module, _WeightNorm, name):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    made, weight = _WeightNorm(name, dim), core.detach(getattr(module, name))
    del module._parameters[name]
    size = norms.norm_except(weight, made.dim)
    module.register_parameter(name + "_g", Parameter(size))
    module.register_parameter(name + "_v", Parameter(weight))
    setattr(module, name, made.value(module))
    module.register_forward_pre_hook(made)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight that `weight_norm` split a parameter again.

    Raises:
        ValueError: if it was not.
    """
    found = _hook(module, _WeightNorm, name)
    if found is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    key, hook = found
    value = core.detach(hook.value(module))
    delattr(module, name)
    for end in ("_g", "_v"):
        delattr(module, name + end)
    module.register_parameter(name, Parameter(value))
    del module._forward_pre_hooks[key]
    return module


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Module:  # fmt: skip
    """As `parametrizations.spectral_norm`, with a parameter `weight_orig` and a hook.

    Raises:
        RuntimeError: if the weight is normalised already.
        ValueError: for no such weight, or no iterations.
    """
    if _hook(module, _SpectralNorm, name):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    made = _SpectralNorm(name, n_power_iterations, norms.spectral_dim(module, dim), eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    u, v = norms.start_vectors(norms.as_matrix(core.detach(weight), made.dim), eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, core.detach(weight))
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(made)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight that `spectral_norm` changed a parameter again, with its present value.

    Raises:
        ValueError: if it was not.
    """
    found = _hook(module, _SpectralNorm, name)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = found
    value = core.detach(hook.value(module, False))
    delattr(module, name)
    for end in ("_u", "_v", "_orig"):
        delattr(module, name + end)
    module.register_parameter(name, Parameter(value))
    del module._forward_pre_hooks[key]
    return module
