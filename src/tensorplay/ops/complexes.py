"""Complex numbers: their parts as views, conjugates, angles, and numbers made from parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor, weak_tensor
from tensorplay.base import dtypes
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import (
    batch_elementwise,
    elementwise,
    install_method,
    linear,
    public,
    require_tensor,
)
from tensorplay.ops.structure import cast, convert, expand_to

# --- conjugates -----------------------------------------------------------------------------------

conj_op = elementwise(
    "conj", np.conj, vjp=lambda g: _conj(g), jvp=lambda t: _conj(t), promote="same"
)


def _conj(x: Any) -> Any:
    return conj_op(x) if x.dtype.is_complex else x


@public(out=False)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return _conj(input)


@public(inplace=True, out=True)
def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return _conj(input)


@public()
def resolve_conj(input: Tensor) -> Tensor:
    """`input`: conjugates are computed at once here, so that none is ever pending."""
    return input


@public()
def resolve_neg(input: Tensor) -> Tensor:
    """`input`: negatives are computed at once here, so that none is ever pending."""
    return input


@public()
def is_conj(input: Tensor) -> bool:
    """Whether a conjugate is pending: never."""
    return False


@public()
def is_neg(input: Tensor) -> bool:
    """Whether a negation is pending: never."""
    return False


# --- parts ----------------------------------------------------------------------------------------

real_view = linear(
    "real", lambda x: x.real, lambda g: cast(g, g.dtype.to_complex()),
    batch=batch_elementwise, view=True, quiet=True,
)  # fmt: skip
imag_view = linear(
    "imag", lambda x: x.imag, lambda g: from_imag(g), batch=batch_elementwise, view=True,
    quiet=True,
)  # fmt: skip


def _from_imag(x: np.ndarray) -> np.ndarray:
    made = np.zeros(x.shape, np.complex128 if x.dtype == np.float64 else np.complex64)
    made.imag = x
    return made


from_imag = linear("from_imag", _from_imag, lambda g: g.imag, batch=batch_elementwise, quiet=True)


@public(method=False)
def real(input: Tensor) -> Tensor:
    """The real part, a view into the memory of `input`; a real tensor as it is.

    >>> import tensorplay as tp
    >>> z = tp.tensor([1+2j])
    >>> z.real.mul_(10)
    tensor([10.])
    >>> z
    tensor([10.+2.j])
    """
    return real_view(input) if input.dtype.is_complex else input


@public(method=False)
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view into the memory of `input`.

    Raises:
        RuntimeError: for a real tensor.
    """
    if not input.dtype.is_complex:
        raise RuntimeError(
            f"imag(): not implemented for tensors of real dtype, got {input.dtype}; "
            "zeros_like(x) is the imaginary part of a real x"
        )
    return imag_view(input)


def _set_part(part: Tensor, value: Any, name: str) -> None:
    value = convert(value if isinstance(value, Tensor) else weak_tensor(value), part.dtype)
    if value.shape != part.shape:
        value = expand_to(value, tuple(part.shape))
    core.assign(part, value, name)


install_method(
    "real", property(real, lambda self, value: _set_part(real(self), value, "real"),
                     doc="The real part (a view); assigning writes into this tensor."),
)  # fmt: skip
install_method(
    "imag", property(imag, lambda self, value: _set_part(imag(self), value, "imag"),
                     doc="The imaginary part (a view); assigning writes into this tensor."),
)  # fmt: skip


def _view_as_real(x: np.ndarray) -> np.ndarray:
    parts = x.real
    half = x.dtype.itemsize // 2
    return np.lib.stride_tricks.as_strided(
        parts, (*x.shape, 2), (*x.strides, half), writeable=x.flags.writeable
    )


def _view_as_complex(x: np.ndarray) -> np.ndarray:
    kind = np.complex128 if x.dtype == np.float64 else np.complex64
    return x.view(kind)[..., 0]


def _batch_view_as_complex(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    x = values[0].movedim(bdims[0], 0)
    return view_as_complex_op(x if _is_paired(x) else x.contiguous()), 0


def _batch_view_as_real(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    return view_as_real_op(values[0]), bdims[0]


view_as_real_op = linear(
    "view_as_real", _view_as_real, lambda g: view_as_complex_op(g.contiguous()),
    batch=_batch_view_as_real, view=True, quiet=True,
)  # fmt: skip
view_as_complex_op = linear(
    "view_as_complex", _view_as_complex, lambda g: view_as_real_op(g),
    batch=_batch_view_as_complex, view=True, quiet=True,
)  # fmt: skip


@public(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as a real one with a last dim of size 2 (real, imaginary); a view.

    Raises:
        RuntimeError: for a real tensor.
    """
    if not input.dtype.is_complex:
        raise RuntimeError(f"view_as_real(): only for complex tensors, got dtype {input.dtype}")
    return view_as_real_op(input)


def _is_paired(x: Tensor) -> bool:
    """Whether pairs along the last dim can be seen as complex numbers."""
    *outer, last = x.stride()
    return last == 1 and not any(s % 2 for s in outer)


@public(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """A real tensor with a last dim of size 2 (real, imaginary) as a complex one; a view.

    Raises:
        RuntimeError: if the last dim has another size, is not contiguous, or the dtype is neither
            float32 nor float64.

    >>> import tensorplay as tp
    >>> tp.view_as_complex(tp.tensor([[1., 2.], [3., 4.]]))
    tensor([1.+2.j, 3.+4.j])
    """
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"view_as_complex(): only for float32 and float64 tensors, got dtype {input.dtype}"
        )
    if input.ndim == 0 or input.shape[-1] != 2:
        raise RuntimeError(
            f"view_as_complex(): expected a last dimension of size 2, got shape {list(input.shape)}"
        )
    if not _is_paired(input) and input.is_box:
        input = input.contiguous()  # how a sample lies in memory is not the caller's choice
    if not _is_paired(input) and not input.is_box:
        raise RuntimeError(
            "view_as_complex(): the last dimension must have stride 1 and the others even "
            f"strides, got strides {input.stride()}; use .contiguous() first"
        )
    return view_as_complex_op(input)


# --- numbers from parts ---------------------------------------------------------------------------


def _complex_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    made = np.empty(
        np.broadcast_shapes(x.shape, y.shape),
        np.complex128 if x.dtype == np.float64 else np.complex64,
    )
    made.real = x
    made.imag = y
    return made


complex_op = linear(
    "complex", _complex_kernel, (lambda g: g.real, lambda g: g.imag), inputs=("x", "y"),
    batch=batch_elementwise, broadcasts=True, quiet=True,
)  # fmt: skip


def _check_parts(name: str, **parts: Any) -> None:
    for argument, x in parts.items():
        require_tensor(x, name, argument)
    first, second = parts.values()
    for x in (first, second):
        if not x.dtype.is_floating_point or x.dtype is dtypes.bfloat16:
            raise RuntimeError(
                f"{name}(): expected both inputs to be of dtype float16, float32 or float64, got "
                f"{first.dtype} and {second.dtype}"
            )
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"{name}(): expected both inputs to have one dtype, got {first.dtype} and "
            f"{second.dtype}; convert the second, e.g. with .to(...)"
        )


@public(out=True, method=False, name="complex")
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """The complex tensor `real + 1j * imag`.

    Raises:
        RuntimeError: unless both have the same floating-point dtype.
    """
    _check_parts("complex", real=real, imag=imag)
    return complex_op(real, imag)


@public(out=True, method=False)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex tensor of absolute value `abs` and angle `angle` (in radians).

    Raises:
        RuntimeError: unless both have the same floating-point dtype.
    """
    _check_parts("polar", abs=abs, angle=angle)
    return complex_op(abs * angle.cos(), abs * angle.sin())


# --- angles ---------------------------------------------------------------------------------------


def _angle_of_real(x: np.ndarray) -> Any:
    return np.where(x < 0, x.dtype.type(math.pi), np.where(x != x, x, x.dtype.type(0)))


angle_real = elementwise(
    "angle",
    typed("angle", _angle_of_real, "f"),
    0,
)  # fmt: skip


@public(out=True)
def angle(input: Tensor) -> Tensor:
    """The angle of a complex number in the plane, in radians; 0 or pi for a real one.

    The derivative is 0 at 0.

    >>> import tensorplay as tp
    >>> tp.angle(tp.tensor([1j, -1., 0.]))
    tensor([1.5708, 3.1416, 0.0000])
    """
    if input.dtype.is_complex:
        return input.imag.atan2(input.real)
    return angle_real(input)


install_method("H", property(lambda self: self.conj().t() if self.ndim == 2 else _refuse_h(self)))
install_method("mH", property(lambda self: self.conj().transpose(-2, -1)))


def _refuse_h(x: Tensor) -> Any:
    if x.ndim == 0:
        return x.conj()
    raise RuntimeError(
        f"Tensor.H: only defined for 0 or 2 dims, got {x.ndim}; use .mH for stacks of matrices"
    )


@public()
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of a matrix, or of each matrix of a stack."""
    if input.ndim < 2:
        raise RuntimeError(f"adjoint(): expected at least 2 dims, got {input.ndim}")
    return input.conj().transpose(-2, -1)
