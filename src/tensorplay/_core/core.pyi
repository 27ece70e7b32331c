"""The compiled core: tensors, graph nodes, primitives, the backward engine."""

# Made by tools/make_stubs.py: do not edit.

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tensorplay.base import devices as _devices
from tensorplay.base import dtypes as _dtypes
from tensorplay.base import random as _random
from tensorplay.ops import results as _results

registry: builtins.dict[builtins.str, Primitive]
mode_data: Any
OPERATOR_NAMES: builtins.tuple[builtins.str, ...]

class Level:
    """One active transform: a vmap, a function-transform gradient, or a forward-mode level."""

    id: builtins.int
    kind: builtins.str
    size: Any
    randomness: Any
    handler: Any
    grad_mode: builtins.int

class Version:
    """Counts in-place changes; shared by a tensor, its views and its detached aliases."""

    value: builtins.int

class ViewInfo:
    """How a view comes from its base: `primitive(parent, *params)`, parent itself maybe a view."""

    base: Tensor
    parent: Tensor
    primitive: Primitive
    params: builtins.tuple[Any, ...]
    output_nr: builtins.int

class Tensor:
    """A multi-dimensional array that records how it was computed."""

    def __add__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __iadd__(self, other: Any) -> Tensor: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __isub__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __imul__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __itruediv__(self, other: Any) -> Tensor: ...
    def __pow__(self, other: Any) -> Tensor: ...
    def __rpow__(self, other: Any) -> Tensor: ...
    def __ipow__(self, other: Any) -> Tensor: ...
    def __matmul__(self, other: Any) -> Tensor: ...
    def __rmatmul__(self, other: Any) -> Tensor: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __ifloordiv__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __imod__(self, other: Any) -> Tensor: ...
    def __and__(self, other: Any) -> Tensor: ...
    def __rand__(self, other: Any) -> Tensor: ...
    def __iand__(self, other: Any) -> Tensor: ...
    def __or__(self, other: Any) -> Tensor: ...
    def __ror__(self, other: Any) -> Tensor: ...
    def __ior__(self, other: Any) -> Tensor: ...
    def __xor__(self, other: Any) -> Tensor: ...
    def __rxor__(self, other: Any) -> Tensor: ...
    def __ixor__(self, other: Any) -> Tensor: ...
    def __lshift__(self, other: Any) -> Tensor: ...
    def __rlshift__(self, other: Any) -> Tensor: ...
    def __ilshift__(self, other: Any) -> Tensor: ...
    def __rshift__(self, other: Any) -> Tensor: ...
    def __rrshift__(self, other: Any) -> Tensor: ...
    def __irshift__(self, other: Any) -> Tensor: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __gt__(self, other: Any) -> Tensor: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> builtins.complex: ...
    def __index__(self) -> builtins.int: ...
    def __len__(self) -> builtins.int: ...
    def __hash__(self) -> builtins.int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, element: Any) -> builtins.bool: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    @property
    def shape(self) -> Size:
        """Sizes of the dimensions, a `Size` (a tuple)."""

    @property
    def ndim(self) -> builtins.int:
        """Number of dimensions."""

    @property
    def dtype(self) -> _dtypes.dtype:
        """Element type."""

    @property
    def is_box(self) -> builtins.bool:
        """Whether this is a tensor inside a vmap or a function transform."""

    @property
    def _version(self) -> builtins.int:
        """How many in-place operations have changed this tensor's memory."""

    @property
    def _base(self) -> Tensor | None:
        """The tensor this is a view of; None when it is not a view."""

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether operations on this tensor are recorded for reverse mode."""

    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    @property
    def grad_fn(self) -> Node | None:
        """The graph node that made this tensor; None for a leaf."""

    @property
    def is_leaf(self) -> builtins.bool:
        """True unless this tensor was made by a recorded operation."""

    @property
    def output_number(self) -> builtins.int:
        """Which output of `grad_fn` this is."""

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; None until a backward pass has reached this tensor."""

    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def retains_grad(self) -> builtins.bool:
        """True for a non-leaf whose gradient will be kept."""

    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> np.ndarray: ...
    __array_priority__: builtins.int
    def __array_wrap__(
        self,
        array: np.ndarray,
        context: Any = None,
        return_scalar: builtins.bool = False,
    ) -> Tensor: ...
    def __copy__(self) -> Tensor:
        """Another tensor over the same memory: a leaf of its own, where this is one."""

    def __deepcopy__(self, memo: builtins.dict[builtins.int, Any]) -> Tensor: ...
    def __div__(
        self,
        other: Any,
        *,
        rounding_mode: builtins.str | None = None,
        out: Any = None,
    ) -> Tensor:
        """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: builtins.bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> builtins.tuple[builtins.int, builtins.int]: ...
    def __format__(self, format_spec: builtins.str) -> builtins.str: ...
    def __idiv__(self, other: Any, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of `div`."""

    def __rdiv__(self, other) -> Any: ...
    def __reduce_ex__(self, protocol: Any) -> builtins.tuple[Any, ...]: ...
    def __repr__(self) -> builtins.str: ...
    def __reversed__(self) -> Tensor: ...
    def abs(self, *, out: Any = None) -> Tensor:
        """The absolute value (real, for complex x too). The derivative is 0 at 0."""

    def abs_(self) -> Tensor:
        """In-place form of `abs`."""

    def absolute(self, *, out: Any = None) -> Tensor:
        """The absolute value (real, for complex x too). The derivative is 0 at 0."""

    def absolute_(self) -> Tensor:
        """In-place form of `absolute`."""

    def acos(self, *, out: Any = None) -> Tensor:
        """The inverse cosine, in radians."""

    def acos_(self) -> Tensor:
        """In-place form of `acos`."""

    def acosh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic cosine."""

    def acosh_(self) -> Tensor:
        """In-place form of `acosh`."""

    def add(self, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
        """`input + alpha * other`, element by element, with broadcasting and type promotion."""

    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """In-place form of `add`."""

    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`beta * input + alpha * bmm(batch1, batch2).sum(0)`."""

    def addbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
    ) -> Tensor:
        """In-place form of `addbmm`."""

    def addcdiv(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`input + value * tensor1 / tensor2`, element by element."""

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
        """In-place form of `addcdiv`."""

    def addcmul(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`input + value * tensor1 * tensor2`, element by element."""

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
        """In-place form of `addcmul`."""

    def addmm(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`beta * input + alpha * (mat1 @ mat2)` for matrices; input broadcasts to the product."""

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of `addmm`."""

    def addmv(
        self,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`beta * input + alpha * (mat @ vec)` for a matrix and a vector."""

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of `addmv`."""

    def addr(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`beta * input + alpha * outer(vec1, vec2)`."""

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """In-place form of `addr`."""

    def adjoint(self) -> Tensor:
        """The conjugate transpose of a matrix, or of each matrix of a stack."""

    def all(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor:
        """Whether all elements over `dim` are nonzero, as bool (uint8 for a uint8 input)."""

    def allclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Whether `|input - other| <= atol + rtol * |other|` for all elements."""

    def amax(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor:
        """The largest element over `dim` (an int, a tuple of ints; None or (): all)."""

    def amin(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor:
        """The smallest element over `dim` (an int, a tuple of ints; None or (): all)."""

    def aminmax(
        self,
        *,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        out: Any = None,
    ) -> Any:
        """The smallest and the largest element, of all or along `dim`: (min, max)."""

    def angle(self, *, out: Any = None) -> Tensor:
        """The angle of a complex number in the plane, in radians; 0 or pi for a real one."""

    def any(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it, in place; slow."""

    def arccos(self, *, out: Any = None) -> Tensor:
        """The inverse cosine, in radians."""

    def arccos_(self) -> Tensor:
        """In-place form of `arccos`."""

    def arccosh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic cosine."""

    def arccosh_(self) -> Tensor:
        """In-place form of `arccosh`."""

    def arcsin(self, *, out: Any = None) -> Tensor:
        """The inverse sine, in radians."""

    def arcsin_(self) -> Tensor:
        """In-place form of `arcsin`."""

    def arcsinh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic sine."""

    def arcsinh_(self) -> Tensor:
        """In-place form of `arcsinh`."""

    def arctan(self, *, out: Any = None) -> Tensor:
        """The inverse tangent, in radians."""

    def arctan2(self, other: Any, *, out: Any = None) -> Tensor: ...
    def arctan2_(self, other: Any) -> Tensor:
        """In-place form of `arctan2`."""

    def arctan_(self) -> Tensor:
        """In-place form of `arctan`."""

    def arctanh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic tangent."""

    def arctanh_(self) -> Tensor:
        """In-place form of `arctanh`."""

    def argmax(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def argmin(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
    ) -> Tensor:
        """The positions that sort `input` along a dim; nan counts as larger than any number."""

    def argwhere(self) -> Tensor:
        """The positions of the elements that are not zero, one a row, in order."""

    def as_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """A view into the memory of `input` with any sizes and strides."""

    def as_strided_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `as_strided`: this tensor itself gets the new shape."""

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """A copy of `input` with `src` in the place of `input.as_strided(size, stride, ...)`."""

    def asin(self, *, out: Any = None) -> Tensor:
        """The inverse sine, in radians."""

    def asin_(self) -> Tensor:
        """In-place form of `asin`."""

    def asinh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic sine."""

    def asinh_(self) -> Tensor:
        """In-place form of `asinh`."""

    def atan(self, *, out: Any = None) -> Tensor:
        """The inverse tangent, in radians."""

    def atan2(self, other: Any, *, out: Any = None) -> Tensor: ...
    def atan2_(self, other: Any) -> Tensor:
        """In-place form of `atan2`."""

    def atan_(self) -> Tensor:
        """In-place form of `atan`."""

    def atanh(self, *, out: Any = None) -> Tensor:
        """The inverse hyperbolic tangent."""

    def atanh_(self) -> Tensor:
        """In-place form of `atanh`."""

    def backward(
        self,
        gradient: Any = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradients of this tensor by the leaves of its graph, into `.grad`."""

    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
        out: Any = None,
    ) -> Tensor:
        """`beta * input + alpha * bmm(batch1, batch2)`; input broadcasts to the product."""

    def baddbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Any = 1,
        alpha: Any = 1,
    ) -> Tensor:
        """In-place form of `baddbmm`."""

    def bernoulli(
        self,
        p: builtins.float | None = None,
        *,
        generator: _random.Generator | None = None,
        out: Any = None,
    ) -> Tensor:
        """Ones with the given probabilities, else zeros, in the shape and dtype of `input`."""

    def bernoulli_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with ones of probability `p` (a number or a tensor that broadcasts), else zeros."""

    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.bfloat16."""

    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """How often each integer from 0 to the largest one (at least minlength - 1) occurs."""

    def bitwise_and(self, other: Any, *, out: Any = None) -> Tensor:
        """The bits set in both."""

    def bitwise_and_(self, other: Any) -> Tensor:
        """In-place form of `bitwise_and`."""

    def bitwise_left_shift(self, other: Any, *, out: Any = None) -> Tensor:
        """The bits moved to the left by `other` places."""

    def bitwise_left_shift_(self, other: Any) -> Tensor:
        """In-place form of `bitwise_left_shift`."""

    def bitwise_not(self, *, out: Any = None) -> Tensor:
        """The bits not set; `logical_not` of bools."""

    def bitwise_not_(self) -> Tensor:
        """In-place form of `bitwise_not`."""

    def bitwise_or(self, other: Any, *, out: Any = None) -> Tensor:
        """The bits set in one or both."""

    def bitwise_or_(self, other: Any) -> Tensor:
        """In-place form of `bitwise_or`."""

    def bitwise_right_shift(self, other: Any, *, out: Any = None) -> Tensor:
        """The bits moved to the right by `other` places; the sign stays."""

    def bitwise_right_shift_(self, other: Any) -> Tensor:
        """In-place form of `bitwise_right_shift`."""

    def bitwise_xor(self, other: Any, *, out: Any = None) -> Tensor:
        """The bits set in just one."""

    def bitwise_xor_(self, other: Any) -> Tensor:
        """In-place form of `bitwise_xor`."""

    def bmm(self, mat2: Tensor, *, out: Any = None) -> Tensor:
        """The products of two equally long batches of matrices, (b, n, k) and (b, k, m)."""

    def bool(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.bool."""

    def broadcast_to(self, size: Sequence[builtins.int]) -> Tensor:
        """`input` broadcast to `size`, without a copy."""

    def byte(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.uint8."""

    def cauchy_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with numbers drawn from a Cauchy distribution."""

    def cdouble(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.complex128."""

    def ceil(self, *, out: Any = None) -> Tensor:
        """The smallest integer not below each element."""

    def ceil_(self) -> Tensor:
        """In-place form of `ceil`."""

    def celu(self, alpha: builtins.float = 1.0) -> Tensor:
        """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483)."""

    def celu_(self, alpha: builtins.float = 1.0) -> Tensor:
        """In-place form of `celu`."""

    def cfloat(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.complex64."""

    def char(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.int8."""

    def cholesky(self, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
        """The older form of `linalg.cholesky`."""

    def cholesky_inverse(self, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
        """The inverse of the matrix whose Cholesky factor is L (upper: is the upper one)."""

    def cholesky_solve(
        self,
        L: Tensor,
        upper: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """At most `chunks` views of equal size along one dim (the last may be smaller)."""

    def clamp(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """`input` limited to [min, max]; a bound is a number, a tensor, or None."""

    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        """In-place form of `clamp`."""

    def clamp_max(self, max: Any, *, out: Any = None) -> Tensor: ...
    def clamp_max_(self, max: Any) -> Tensor:
        """In-place form of `clamp_max`."""

    def clamp_min(self, min: Any, *, out: Any = None) -> Tensor: ...
    def clamp_min_(self, min: Any) -> Tensor:
        """In-place form of `clamp_min`."""

    def clip(self, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
        """`input` limited to [min, max]; a bound is a number, a tensor, or None."""

    def clip_(self, min: Any = None, max: Any = None) -> Tensor:
        """In-place form of `clip`."""

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy in memory of its own, at the same place in the graph."""

    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor as it is."""

    def conj_physical(self, *, out: Any = None) -> Tensor:
        """The complex conjugate; a real tensor as it is."""

    def conj_physical_(self) -> Tensor:
        """In-place form of `conj_physical`."""

    def contiguous(self, memory_format: Any = None) -> Any: ...
    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> Tensor:
        """Write the elements of `src`, broadcast and converted to this tensor's dtype, into it."""

    def copysign(self, other: Any, *, out: Any = None) -> Tensor:
        """The absolute value of `input` with the sign of `other`. The derivative is 0 at 0."""

    def copysign_(self, other: Any) -> Tensor:
        """In-place form of `copysign`."""

    def corrcoef(self) -> Tensor:
        """The matrix of Pearson's correlation coefficients of the rows of `input`; see `cov`."""

    def cos(self, *, out: Any = None) -> Tensor:
        """The cosine."""

    def cos_(self) -> Tensor:
        """In-place form of `cos`."""

    def cosh(self, *, out: Any = None) -> Tensor:
        """The hyperbolic cosine."""

    def cosh_(self) -> Tensor:
        """In-place form of `cosh`."""

    def count_nonzero(self, dim: Any = None) -> Tensor:
        """The number of elements over `dim` that are not zero (int64)."""

    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """The covariance matrix of variables: rows of `input` (variables, observations)."""

    def cpu(self, memory_format: Any = None) -> Tensor:
        """This tensor itself: every tensor is on the CPU."""

    def cross(
        self,
        other: Tensor,
        dim: builtins.int | None = None,
        *,
        out: Any = None,
    ) -> Tensor:
        """`linalg.cross` along `dim`, by default the first dim of size 3."""

    def cummax(self, dim: builtins.int, *, out: Any = None) -> Any:
        """The running maximum along `dim` and where it is (the last place, for equal elements)."""

    def cummin(self, dim: builtins.int, *, out: Any = None) -> Any:
        """The running minimum along `dim` and where it is (the last place, for equal elements)."""

    def cumprod(
        self,
        dim: builtins.int,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The running product along `dim`; integers and bools are multiplied as int64."""

    def cumprod_(self, dim: builtins.int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
        """In-place form of `cumprod`."""

    def cumsum(
        self,
        dim: builtins.int,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The running sum along `dim`; integers and bools are summed as int64."""

    def cumsum_(self, dim: builtins.int, *, dtype: _dtypes.dtype | None = None) -> Tensor:
        """In-place form of `cumsum`."""

    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int: ...
    def deg2rad(self, *, out: Any = None) -> Tensor:
        """Degrees as radians."""

    def deg2rad_(self) -> Tensor:
        """In-place form of `deg2rad`."""

    def det(self, *, out: Any = None) -> Tensor:
        """The determinants of square matrices A, (..., n, n)."""

    def detach(self) -> Tensor:
        """A tensor over the same memory that is not part of the graph and carries no tangents."""

    def detach_(self) -> Tensor:
        """Take this tensor out of the graph, and its tangents from it."""

    @property
    def device(self) -> _devices.device:
        """Where the memory is: the CPU."""

    def diag(self, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
        """The matrix with a vector on its diagonal, or the diagonal of a matrix (a copy)."""

    def diag_embed(
        self,
        offset: builtins.int = 0,
        dim1: builtins.int = -2,
        dim2: builtins.int = -1,
    ) -> Tensor:
        """Matrices of zeros with the last dim of `input` on a diagonal, in dims dim1 and dim2."""

    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """The matrix with the elements of `input` on a diagonal."""

    def diagonal(
        self,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> Tensor:
        """The diagonal of two dims, as the last dim of a view."""

    def diagonal_scatter(
        self,
        src: Tensor,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> Tensor:
        """A copy of `input` with `src` on a diagonal."""

    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def digamma(self, *, out: Any = None) -> Tensor:
        """The derivative of lgamma, -inf at 0 and nan at the negative integers."""

    def digamma_(self) -> Tensor:
        """In-place form of `digamma`."""

    def dim(self) -> builtins.int: ...
    def dist(self, other: Tensor, p: builtins.float = 2) -> Tensor: ...
    def div(
        self,
        other: Any,
        *,
        rounding_mode: builtins.str | None = None,
        out: Any = None,
    ) -> Tensor:
        """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

    def div_(self, other: Any, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of `div`."""

    def divide(
        self,
        other: Any,
        *,
        rounding_mode: builtins.str | None = None,
        out: Any = None,
    ) -> Tensor:
        """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

    def divide_(self, other: Any, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of `divide`."""

    def dot(self, tensor: Tensor, *, out: Any = None) -> Tensor:
        """The sum of products of two vectors of equal length (nothing is conjugated)."""

    def double(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.float64."""

    def dsplit(self, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]:
        """Views of `input` along dim 2: equal parts, or those between indices."""

    def element_size(self) -> builtins.int:
        """The number of bytes of an element."""

    def eq(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` equals `other`, element by element."""

    def eq_(self, other: Any) -> Tensor:
        """In-place form of `eq`."""

    def equal(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape and the same elements."""

    def erf(self, *, out: Any = None) -> Tensor:
        """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

    def erf_(self) -> Tensor:
        """In-place form of `erf`."""

    def erfc(self, *, out: Any = None) -> Tensor:
        """1 - erf(x), accurate for large x."""

    def erfc_(self) -> Tensor:
        """In-place form of `erfc`."""

    def erfinv(self, *, out: Any = None) -> Tensor:
        """The inverse of erf: infinite at -1 and 1, nan beyond."""

    def erfinv_(self) -> Tensor:
        """In-place form of `erfinv`."""

    def exp(self, *, out: Any = None) -> Tensor:
        """e ** x, element by element; the derivative is the result itself."""

    def exp2(self, *, out: Any = None) -> Tensor:
        """2 ** x."""

    def exp2_(self) -> Tensor:
        """In-place form of `exp2`."""

    def exp_(self) -> Tensor:
        """In-place form of `exp`."""

    def expand(self, *sizes: Any, size: Any = None) -> Tensor:
        """This tensor repeated along dims of size one, without a copy; -1 keeps a size."""

    def expand_as(self, other: Tensor) -> Tensor:
        """This tensor expanded to the shape of `other`."""

    def expm1(self, *, out: Any = None) -> Tensor:
        """exp(x) - 1, accurate near 0."""

    def expm1_(self) -> Tensor:
        """In-place form of `expm1`."""

    def exponential_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with numbers drawn from the exponential distribution of rate `lambd`."""

    def fill_(self, value: Any) -> Tensor:
        """Fill this tensor with a number, or with a tensor without dimensions, in place."""

    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """Write a number on the main diagonal; with `wrap`, again below it in a tall matrix."""

    def fix(self, *, out: Any = None) -> Tensor:
        """Each element without its fractional part."""

    def fix_(self) -> Tensor:
        """In-place form of `fix`."""

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """`input` with the dims from start_dim to end_dim made one."""

    def flip(self, dims: Any, *more: Any) -> Tensor:
        """`input` with the order along `dims` reversed, as a copy."""

    def fliplr(self) -> Tensor:
        """A matrix (or stack of rows) with its columns in reverse order: flip along dim 1."""

    def flipud(self) -> Tensor:
        """A tensor with its rows in reverse order: flip along dim 0."""

    def float(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.float32."""

    def float_power(self, exponent: Any, *, out: Any = None) -> Tensor:
        """`input ** exponent` in float64, or complex128 where either is complex."""

    def float_power_(self, exponent: Any) -> Tensor:
        """In-place form of `float_power`."""

    def floor(self, *, out: Any = None) -> Tensor:
        """The largest integer not above each element."""

    def floor_(self) -> Tensor:
        """In-place form of `floor`."""

    def floor_divide(self, other: Any, *, out: Any = None) -> Tensor:
        """`input / other` rounded down, element by element."""

    def floor_divide_(self, other: Any) -> Tensor:
        """In-place form of `floor_divide`."""

    def fmax(self, other: Any, *, out: Any = None) -> Tensor:
        """The larger of two, element by element; where one is nan, the other."""

    def fmin(self, other: Any, *, out: Any = None) -> Tensor:
        """The smaller of two, element by element; where one is nan, the other."""

    def fmod(self, other: Any, *, out: Any = None) -> Tensor:
        """What is left of `input` after division by `other`, with the sign of `input`."""

    def fmod_(self, other: Any) -> Tensor:
        """In-place form of `fmod`."""

    def frac(self, *, out: Any = None) -> Tensor:
        """The fractional part, with the sign of the element."""

    def frac_(self) -> Tensor:
        """In-place form of `frac`."""

    def frexp(self, *, out: Any = None) -> Any: ...
    def gather(
        self,
        dim: builtins.int,
        index: Tensor,
        *,
        sparse_grad: builtins.bool = False,
        out: Any = None,
    ) -> Tensor:
        """The elements of `input` that `index` names along one dim."""

    def gcd(self, other: Any, *, out: Any = None) -> Tensor:
        """The greatest common divisor of integers, element by element."""

    def gcd_(self, other: Any) -> Tensor:
        """In-place form of `gcd`."""

    def ge(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is at least `other`."""

    def ge_(self, other: Any) -> Tensor:
        """In-place form of `ge`."""

    def geometric_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with the numbers of trials up to the first success, each of probability `p`."""

    def geqrf(self, *, out: Any = None) -> _results.geqrf:
        """The QR decomposition as LAPACK stores it: (a, tau)."""

    def ger(self, vec2: Tensor, *, out: Any = None) -> Tensor:
        """The matrix (n, m) of products of the elements of two vectors, (n) and (m)."""

    def greater(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is greater than `other`."""

    def greater_(self, other: Any) -> Tensor:
        """In-place form of `greater`."""

    def greater_equal(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is at least `other`."""

    def greater_equal_(self, other: Any) -> Tensor:
        """In-place form of `greater_equal`."""

    def gt(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is greater than `other`."""

    def gt_(self, other: Any) -> Tensor:
        """In-place form of `gt`."""

    def half(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.float16."""

    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """x, but 0 where |x| is at most `lambd`."""

    def heaviside(self, values: Any, *, out: Any = None) -> Tensor:
        """0 for negative input, 1 for positive, `values` at 0 and nan at nan."""

    def heaviside_(self, values: Any) -> Tensor:
        """In-place form of `heaviside`."""

    def histc(
        self,
        bins: builtins.int = 100,
        min: builtins.float = 0,
        max: builtins.float = 0,
        *,
        out: Any = None,
    ) -> Tensor:
        """How many elements fall into each of equally wide bins between min and max."""

    def histogram(
        self,
        bins: Any,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: builtins.bool = False,
        out: Any = None,
    ) -> _results.histogram:
        """How much weight falls into each bin, and the edges of the bins: (hist, bin_edges)."""

    def hsplit(self, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]: ...
    def hypot(self, other: Any, *, out: Any = None) -> Tensor:
        """sqrt(input^2 + other^2), without overflow. The derivatives at (0, 0) are 0."""

    def hypot_(self, other: Any) -> Tensor:
        """In-place form of `hypot`."""

    def i0(self, *, out: Any = None) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""

    def i0_(self) -> Tensor:
        """In-place form of `i0`."""

    def igamma(self, other: Any, *, out: Any = None) -> Tensor:
        """The regularised lower incomplete gamma function of input (a) and other (x)."""

    def igamma_(self, other: Any) -> Tensor:
        """In-place form of `igamma`."""

    def igammac(self, other: Any, *, out: Any = None) -> Tensor:
        """The regularised upper incomplete gamma function, 1 - gammainc(input, other)."""

    def igammac_(self, other: Any) -> Tensor:
        """In-place form of `igammac`."""

    @property
    def imag(self) -> Tensor:
        """The imaginary part (a view); assigning writes into this tensor."""

    @imag.setter
    def imag(self, value: Tensor) -> None: ...
    def index_add(self, *args, **kwargs) -> Any: ...
    def index_add_(self, *args, **kwargs) -> Any:
        """In-place form of `index_add`."""

    def index_copy(self, *args, **kwargs) -> Any: ...
    def index_copy_(self, *args, **kwargs) -> Any:
        """In-place form of `index_copy`."""

    def index_fill(self, *args, **kwargs) -> Any: ...
    def index_fill_(self, *args, **kwargs) -> Any:
        """In-place form of `index_fill`."""

    def index_put(self, *args, **kwargs) -> Any: ...
    def index_put_(self, *args, **kwargs) -> Any:
        """In-place form of `index_put`."""

    def index_reduce(self, *args, **kwargs) -> Any: ...
    def index_reduce_(self, *args, **kwargs) -> Any:
        """In-place form of `index_reduce`."""

    def index_select(self, dim: builtins.int, index: Tensor, *, out: Any = None) -> Tensor:
        """The slices of `input` along `dim` that an index vector names, as a copy."""

    def inner(self, other: Tensor, *, out: Any = None) -> Tensor:
        """The sums of products over the last dims of both; a product where one is 0-dim."""

    def int(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.int32."""

    def inverse(self, *, out: Any = None) -> Tensor:
        """The inverses of square matrices A, (..., n, n)."""

    def is_complex(self) -> builtins.bool:
        """Whether the dtype is a complex one."""

    def is_conj(self) -> builtins.bool:
        """Whether a conjugate is pending: never."""

    def is_contiguous(self, memory_format: Any = None) -> builtins.bool: ...
    @property
    def is_cpu(self) -> builtins.bool:
        """Whether the memory is the CPU's: always."""

    @property
    def is_cuda(self) -> builtins.bool:
        """Always False: there is no such device or layout."""

    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a floating point one."""

    def is_inference(self) -> builtins.bool:
        """Whether the tensor was made under `inference_mode`."""

    @property
    def is_meta(self) -> builtins.bool:
        """Always False: there is no such device or layout."""

    def is_neg(self) -> builtins.bool:
        """Whether a negation is pending: never."""

    def is_nonzero(self) -> builtins.bool:
        """Whether the one element of a tensor is not zero."""

    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape."""

    def is_signed(self) -> builtins.bool:
        """Whether the dtype can hold negative numbers."""

    @property
    def is_sparse(self) -> builtins.bool:
        """Always False: there is no such device or layout."""

    def isclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor:
        """Whether `|input - other| <= atol + rtol * |other|`, element by element."""

    def isfinite(self, *, out: Any = None) -> Tensor:
        """Whether an element is neither infinite nor nan."""

    def isinf(self, *, out: Any = None) -> Tensor:
        """Whether an element is infinite."""

    def isnan(self, *, out: Any = None) -> Tensor:
        """Whether an element is nan."""

    def isneginf(self, *, out: Any = None) -> Tensor:
        """Whether an element is -inf."""

    def isposinf(self, *, out: Any = None) -> Tensor:
        """Whether an element is inf."""

    def isreal(self, *, out: Any = None) -> Tensor:
        """Whether an element has no imaginary part."""

    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> Tensor: ...
    def item(self) -> Any: ...
    @property
    def itemsize(self) -> builtins.int:
        """The number of bytes of an element."""

    def kron(self, other: Tensor, *, out: Any = None) -> Tensor:
        """The Kronecker product: blocks of `other`, each times an element of `input`."""

    def kthvalue(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> _results.kthvalue: ...
    @property
    def layout(self) -> _devices.layout:
        """How elements are laid out: with a step per dimension."""

    def lcm(self, other: Any, *, out: Any = None) -> Tensor:
        """The least common multiple of integers, element by element."""

    def lcm_(self, other: Any) -> Tensor:
        """In-place form of `lcm`."""

    def ldexp(self, other: Tensor, *, out: Any = None) -> Tensor:
        """`input * 2 ** other`, exact and without intermediate overflow for integer `other`."""

    def ldexp_(self, other: Tensor) -> Tensor:
        """In-place form of `ldexp`."""

    def le(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is at most `other`."""

    def le_(self, other: Any) -> Tensor:
        """In-place form of `le`."""

    def lerp(self, end: Tensor, weight: Any, *, out: Any = None) -> Tensor: ...
    def lerp_(self, end: Tensor, weight: Any) -> Tensor:
        """In-place form of `lerp`."""

    def less(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is less than `other`."""

    def less_(self, other: Any) -> Tensor:
        """In-place form of `less`."""

    def less_equal(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is at most `other`."""

    def less_equal_(self, other: Any) -> Tensor:
        """In-place form of `less_equal`."""

    def lgamma(self, *, out: Any = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""

    def lgamma_(self) -> Tensor:
        """In-place form of `lgamma`."""

    def log(self, *, out: Any = None) -> Tensor:
        """The natural logarithm; for complex x the branch with imaginary part in (-pi, pi]."""

    def log10(self, *, out: Any = None) -> Tensor:
        """The logarithm to base 10."""

    def log10_(self) -> Tensor:
        """In-place form of `log10`."""

    def log1p(self, *, out: Any = None) -> Tensor:
        """log(1 + x), accurate near 0."""

    def log1p_(self) -> Tensor:
        """In-place form of `log1p`."""

    def log2(self, *, out: Any = None) -> Tensor:
        """The logarithm to base 2."""

    def log2_(self) -> Tensor:
        """In-place form of `log2`."""

    def log_(self) -> Tensor:
        """In-place form of `log`."""

    def log_normal_(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def log_softmax(self, dim: builtins.int, dtype: Any = None, *, out: Any = None) -> Tensor:
        """log(softmax(x)) along `dim`, computed as x - logsumexp(x)."""

    def logaddexp(self, other: Any, *, out: Any = None) -> Tensor:
        """log(exp(input) + exp(other)). Where both are -inf, or inf, each has derivative 1/2."""

    def logaddexp2(self, other: Any, *, out: Any = None) -> Tensor:
        """log2(2^input + 2^other). Where both are -inf, or inf, each has derivative 1/2."""

    def logcumsumexp(self, dim: builtins.int, *, out: Any = None) -> Tensor:
        """The logarithm of the running sum of exponentials along `dim`, without overflow."""

    def logdet(self) -> Tensor:
        """The logarithms of determinants: nan for a negative one, -inf for zero."""

    def logical_and(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether both are nonzero."""

    def logical_and_(self, other: Any) -> Tensor:
        """In-place form of `logical_and`."""

    def logical_not(self, *, out: Any = None) -> Tensor:
        """Whether an element is zero."""

    def logical_not_(self) -> Tensor:
        """In-place form of `logical_not`."""

    def logical_or(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether one or both are nonzero."""

    def logical_or_(self, other: Any) -> Tensor:
        """In-place form of `logical_or`."""

    def logical_xor(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether just one is nonzero."""

    def logical_xor_(self, other: Any) -> Tensor:
        """In-place form of `logical_xor`."""

    def logit(self, eps: builtins.float | None = None, *, out: Any = None) -> Tensor:
        """log(x / (1 - x)), the inverse of `sigmoid`; nan outside [0, 1]."""

    def logit_(self, eps: builtins.float | None = None) -> Tensor:
        """In-place form of `logit`."""

    def logsumexp(self, dim: Any, keepdim: builtins.bool = False, *, out: Any = None) -> Tensor: ...
    def long(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.int64."""

    def lt(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` is less than `other`."""

    def lt_(self, other: Any) -> Tensor:
        """In-place form of `lt`."""

    def lu(self, pivot: builtins.bool = True, get_infos: builtins.bool = False) -> Any:
        """The older form of `linalg.lu_factor_ex` (without get_infos: of its first two results)."""

    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
        """The older form of `linalg.lu_solve`, with the right hand side first."""

    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """`input` with a value (a number or a 0-dim tensor) where `mask` holds."""

    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """In-place form of `masked_fill`."""

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """`input` with the elements of `source`, in their order, where `mask` holds."""

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place form of `masked_scatter`."""

    def masked_select(self, mask: Tensor, *, out: Any = None) -> Tensor:
        """The elements of `input` where `mask` holds, as a vector."""

    def matmul(self, other: Tensor, *, out: Any = None) -> Tensor:
        """The matrix product of two tensors, batched over leading dims, which broadcast."""

    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices: the sum of A^k / k!."""

    def matrix_power(self, n: builtins.int, *, out: Any = None) -> Tensor: ...
    def max(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        other: Any = None,
        out: Any = None,
    ) -> Any:
        """The largest element; along `dim` its (values, indices); or, given a tensor, `maximum`."""

    def maximum(self, other: Any, *, out: Any = None) -> Tensor:
        """The larger of two, element by element, nan where either is; a tie halves the gradient."""

    def mean(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The mean over `dim` (an int, a tuple of ints; None: all); NaN of no elements."""

    def median(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Any:
        """The median of all elements, or along `dim` the (values, indices) of the medians."""

    def min(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        other: Any = None,
        out: Any = None,
    ) -> Any: ...
    def minimum(self, other: Any, *, out: Any = None) -> Tensor: ...
    def mm(self, mat2: Tensor, *, out: Any = None) -> Tensor:
        """The product of two matrices, (n, k) and (k, m)."""

    def mode(
        self,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Any:
        """The most frequent element along `dim`: (values, indices)."""

    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """`input` with dims moved from `source` to `destination` (ints or tuples; a view)."""

    def movedim(self, source: Any, destination: Any) -> Tensor:
        """`input` with dims moved from `source` to `destination` (ints or tuples; a view)."""

    def msort(self, *, out: Any = None) -> Tensor:
        """The elements in ascending order along the first dim."""

    def mul(self, other: Any, *, out: Any = None) -> Tensor:
        """`input * other`, element by element, with broadcasting and type promotion."""

    def mul_(self, other: Any) -> Tensor:
        """In-place form of `mul`."""

    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: _random.Generator | None = None,
        out: Any = None,
    ) -> Tensor:
        """Indices drawn with probabilities proportional to the weights in each row of `input`."""

    def multiply(self, other: Any, *, out: Any = None) -> Tensor:
        """`input * other`, element by element, with broadcasting and type promotion."""

    def multiply_(self, other: Any) -> Tensor:
        """In-place form of `multiply`."""

    def mv(self, vec: Tensor, *, out: Any = None) -> Tensor:
        """The product of a matrix (n, k) and a vector (k)."""

    def mvlgamma(self, p: builtins.int, *, out: Any = None) -> Tensor:
        """The logarithm of the p-variate gamma function."""

    def mvlgamma_(self, p: builtins.int) -> Tensor:
        """In-place form of `mvlgamma`."""

    def nan_to_num(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def nan_to_num_(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor:
        """In-place form of `nan_to_num`."""

    def nanmean(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The mean over `dim` of the elements that are not NaN."""

    def nanmedian(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Any:
        """The median of the elements that are not NaN; see `median`."""

    def nanquantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
        out: Any = None,
    ) -> Tensor:
        """The quantiles of the elements that are not NaN; see `quantile`."""

    def nansum(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The sum over `dim`, every NaN counting as zero."""

    def narrow(self, dim: builtins.int, start: Any, length: builtins.int) -> Tensor:
        """`length` places of one dim from `start` on (a view)."""

    def narrow_copy(self, *args, **kwargs) -> Tensor:
        """As `narrow`, but a copy and no view."""

    @property
    def nbytes(self) -> builtins.int:
        """The number of bytes of all elements."""

    def ndimension(self) -> builtins.int: ...
    def ne(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` differs from `other`."""

    def ne_(self, other: Any) -> Tensor:
        """In-place form of `ne`."""

    def neg(self, *, out: Any = None) -> Tensor: ...
    def neg_(self) -> Tensor:
        """In-place form of `neg`."""

    def negative(self, *, out: Any = None) -> Tensor: ...
    def negative_(self) -> Tensor:
        """In-place form of `negative`."""

    def nelement(self) -> builtins.int: ...
    def new_empty(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: builtins.bool = False,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """A tensor of the given size, by default in this tensor's dtype."""

    def new_empty_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """`empty_strided`, by default in this tensor's dtype."""

    def new_full(
        self,
        size: Sequence[builtins.int],
        fill_value: Any,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: builtins.bool = False,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """A tensor of the given size and value, by default in this tensor's dtype."""

    def new_ones(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: builtins.bool = False,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Ones of the given size, by default in this tensor's dtype."""

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: Any = None,
        device: Any = None,
        requires_grad: builtins.bool = False,
        layout: Any = None,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A new tensor from data, by default in the dtype of this tensor."""

    def new_zeros(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: builtins.bool = False,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Zeros of the given size, by default in this tensor's dtype."""

    def nextafter(self, other: Any, *, out: Any = None) -> Tensor:
        """The next number of the dtype after `input` towards `other`; its derivative is 1."""

    def nextafter_(self, other: Any) -> Tensor:
        """In-place form of `nextafter`."""

    def nonzero(self, *, as_tuple: builtins.bool = False, out: Any = None) -> Any:
        """The positions of the elements that are not zero, one a row, in order."""

    def nonzero_static(
        self,
        *,
        size: builtins.int,
        fill_value: builtins.int = -1,
        out: Any = None,
    ) -> Tensor:
        """The first `size` positions of elements that are not zero, filled up with `fill_value`."""

    def norm(
        self,
        p: Any = "fro",
        dim: Any = None,
        keepdim: builtins.bool = False,
        dtype: _dtypes.dtype | None = None,
        *,
        out: Any = None,
    ) -> Tensor:
        """The norm of order `p` of the elements over `dim` taken as one vector."""

    def normal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with numbers drawn from a normal distribution."""

    def not_equal(self, other: Any, *, out: Any = None) -> Tensor:
        """Whether `input` differs from `other`."""

    def not_equal_(self, other: Any) -> Tensor:
        """In-place form of `not_equal`."""

    def numel(self) -> builtins.int: ...
    def numpy(self, *, force: builtins.bool = False) -> np.ndarray:
        """An array over the memory of this tensor."""

    def orgqr(self, tau: Tensor, *, out: Any = None) -> Tensor:
        """The first n columns of the product of Householder reflections I - tau_i v_i v_i^H."""

    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
        *,
        out: Any = None,
    ) -> Tensor:
        """The product of `other` and the square Q that Householder reflections make."""

    def outer(self, vec2: Tensor, *, out: Any = None) -> Tensor:
        """The matrix (n, m) of products of the elements of two vectors, (n) and (m)."""

    @property
    def output_nr(self) -> builtins.int:
        """Which output of its `grad_fn` this tensor is."""

    def permute(self, *order: Any, dims: Any = None) -> Tensor:
        """`input` with its dims in another order (a view)."""

    def pinverse(self, rcond: builtins.float = 1e-15, *, out: Any = None) -> Tensor:
        """The older form of `linalg.pinv`."""

    def polygamma(self, n: builtins.int) -> Tensor:
        """The n-th derivative of digamma of this tensor."""

    def polygamma_(self, n: builtins.int) -> Tensor:
        """In-place form of `polygamma`."""

    def positive(self) -> Tensor:
        """`input` itself."""

    def pow(self, exponent: Any, *, out: Any = None) -> Tensor:
        """`input ** exponent`, element by element, with broadcasting and type promotion."""

    def pow_(self, exponent: Any) -> Tensor:
        """In-place form of `pow`."""

    def prelu(self, weight: Tensor) -> Tensor:
        """x where positive, else weight * x (arXiv:1502.01852)."""

    def prod(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor:
        """The product of all elements, or along `dim`; integers and bools multiply to int64."""

    def put(self, *args, **kwargs) -> Any:
        """A copy of `input` with `source` written (or added) at flat positions."""

    def put_(self, *args, **kwargs) -> Any:
        """In-place form of `put`."""

    def qr(self, some: builtins.bool = True, *, out: Any = None) -> _results.qr:
        """The older form of `linalg.qr`: reduced if `some`, else complete."""

    def quantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
        out: Any = None,
    ) -> Tensor: ...
    def rad2deg(self, *, out: Any = None) -> Tensor:
        """Radians as degrees."""

    def rad2deg_(self) -> Tensor:
        """In-place form of `rad2deg`."""

    def random_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with integers drawn uniformly from `low` (also `from=`) up to, but without, `to`."""

    def ravel(self) -> Tensor:
        """`input` as one dimension; a view where possible."""

    @property
    def real(self) -> Tensor:
        """The real part (a view); assigning writes into this tensor."""

    @real.setter
    def real(self, value: Tensor) -> None: ...
    def reciprocal(self, *, out: Any = None) -> Tensor:
        """1 / x, element by element."""

    def reciprocal_(self) -> Tensor:
        """In-place form of `reciprocal`."""

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call `hook(grad)` whenever the gradient of this tensor has been computed."""

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any: ...
    def relu(self, *, out: Any = None) -> Tensor:
        """max(x, 0), element by element. The derivative at 0 is 0, as in PyTorch."""

    def relu_(self) -> Tensor:
        """In-place form of `relu`."""

    def remainder(self, other: Any, *, out: Any = None) -> Tensor:
        """What is left of `input` after division by `other`, with the sign of `other`."""

    def remainder_(self, other: Any) -> Tensor:
        """In-place form of `remainder`."""

    def renorm(
        self,
        p: builtins.float,
        dim: builtins.int,
        maxnorm: builtins.float,
        *,
        out: Any = None,
    ) -> Tensor: ...
    def renorm_(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """In-place form of `renorm`."""

    def repeat(self, repeats: Any, *more: Any) -> Tensor:
        """This tensor repeated along each dim; more repeats than dims add dims in front."""

    def repeat_interleave(
        self,
        repeats: Any = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """`input` with each slice along `dim` repeated (without dim: each element, as a vector)."""

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Say whether operations on this tensor are recorded; returns the tensor itself."""

    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """This tensor in the shape of `other`."""

    def resize_(self, *sizes: Any, memory_format: Any = None) -> Tensor:
        """Give this tensor other sizes: the first elements stay, new ones are zero."""

    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """Give this tensor the sizes of another one, as `resize_` does."""

    def resolve_conj(self) -> Tensor:
        """`input`: conjugates are computed at once here, so that none is ever pending."""

    def resolve_neg(self) -> Tensor:
        """`input`: negatives are computed at once here, so that none is ever pending."""

    def retain_grad(self) -> None: ...
    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """`input` rolled along dims: what leaves at the end comes in at the start."""

    def rot90(self, k: builtins.int = 1, dims: Sequence[builtins.int] = ...) -> Tensor:
        """`input` turned by k quarter turns, from the first of `dims` towards the second."""

    def round(self, *, decimals: builtins.int = 0, out: Any = None) -> Tensor:
        """Each element rounded to the nearest integer (halves to even), or to `decimals` places."""

    def round_(self, *, decimals: builtins.int = 0) -> Tensor:
        """In-place form of `round`."""

    def rrelu(
        self,
        lower: builtins.float = 0.125,
        upper: builtins.float = 0.3333333333333333,
        training: builtins.bool = False,
        generator: Any = None,
    ) -> Tensor:
        """x where positive, else x times a random slope from [lower, upper) (arXiv:1505.00853)."""

    def rrelu_(
        self,
        lower: builtins.float = 0.125,
        upper: builtins.float = 0.3333333333333333,
        training: builtins.bool = False,
        generator: Any = None,
    ) -> Tensor:
        """In-place form of `rrelu`."""

    def rsqrt(self, *, out: Any = None) -> Tensor:
        """1 / sqrt(x), element by element."""

    def rsqrt_(self) -> Tensor:
        """In-place form of `rsqrt`."""

    def scatter(self, *args, **kwargs) -> Any: ...
    def scatter_(self, *args, **kwargs) -> Any:
        """In-place form of `scatter`."""

    def scatter_add(self, *args, **kwargs) -> Any: ...
    def scatter_add_(self, *args, **kwargs) -> Any:
        """In-place form of `scatter_add`."""

    def scatter_reduce(self, *args, **kwargs) -> Any: ...
    def scatter_reduce_(self, *args, **kwargs) -> Any:
        """In-place form of `scatter_reduce`."""

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """The part of `input` at one place of one dim, without that dim (a view)."""

    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """A copy of `input` with `src` in the place of `input.select(dim, index)`."""

    def selu(self) -> Tensor: ...
    def selu_(self) -> Tensor:
        """In-place form of `selu`."""

    def sgn(self, *, out: Any = None) -> Tensor:
        """The sign; of a complex number x / |x|, and 0 at 0."""

    def sgn_(self) -> Tensor:
        """In-place form of `sgn`."""

    def short(self, memory_format: Any = None) -> Tensor:
        """This tensor in dtype tensorplay.int16."""

    def sigmoid(self, *, out: Any = None) -> Tensor:
        """The logistic function 1 / (1 + exp(-x))."""

    def sigmoid_(self) -> Tensor:
        """In-place form of `sigmoid`."""

    def sign(self, *, out: Any = None) -> Tensor:
        """-1, 0 or 1 by the sign of real x; nan at nan (PyTorch: 0)."""

    def sign_(self) -> Tensor:
        """In-place form of `sign`."""

    def signbit(self, *, out: Any = None) -> Tensor:
        """Whether the sign bit is set: for negative numbers and for -0."""

    def sin(self, *, out: Any = None) -> Tensor:
        """The sine."""

    def sin_(self) -> Tensor:
        """In-place form of `sin`."""

    def sinc(self, *, out: Any = None) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0, where its derivatives of every order are finite."""

    def sinc_(self) -> Tensor:
        """In-place form of `sinc`."""

    def sinh(self, *, out: Any = None) -> Tensor:
        """The hyperbolic sine."""

    def sinh_(self) -> Tensor:
        """In-place form of `sinh`."""

    def size(self, dim: Any = None) -> Any: ...
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """A copy of `input` with `src` in the place of a slice of one dim."""

    def slogdet(self, *, out: Any = None) -> _results.linalg_slogdet:
        """Sign (for complex matrices: phase) and log of the absolute value of the determinants."""

    def softmax(self, dim: builtins.int, dtype: Any = None, *, out: Any = None) -> Tensor:
        """exp(x) / sum(exp(x)) along `dim`, without overflow."""

    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        *,
        out: Any = None,
    ) -> _results.sort:
        """The elements in ascending order along a dim, and where they were: (values, indices)."""

    def split(
        self,
        split_size_or_sections: Any,
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]: ...
    def split_with_sizes(
        self,
        split_sizes: Sequence[builtins.int],
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]:
        """Views of `tensor` of the listed sizes along one dim."""

    def sqrt(self, *, out: Any = None) -> Tensor:
        """The (principal) square root. Its derivative at 0 is infinite."""

    def sqrt_(self) -> Tensor:
        """In-place form of `sqrt`."""

    def square(self, *, out: Any = None) -> Tensor:
        """x * x, element by element."""

    def square_(self) -> Tensor:
        """In-place form of `square`."""

    def squeeze(self, dim: Any = None) -> Tensor:
        """`input` without its dims of size one, or without those of `dim` that have size one."""

    def squeeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `squeeze`: this tensor itself gets the new shape."""

    def std(
        self,
        dim: Any = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: Any = None,
    ) -> Tensor: ...
    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: builtins.str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> Tensor:
        """The Fourier transforms of windows of a signal: (batch, frequencies, frames), complex."""

    def storage_offset(self) -> builtins.int: ...
    def stride(self, dim: Any = None) -> Any: ...
    def sub(self, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
        """`input - alpha * other`, element by element, with broadcasting and type promotion."""

    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """In-place form of `sub`."""

    def subtract(self, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
        """`input - alpha * other`, element by element, with broadcasting and type promotion."""

    def subtract_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """In-place form of `subtract`."""

    def sum(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: _dtypes.dtype | None = None,
        out: Any = None,
    ) -> Tensor: ...
    def sum_to_size(self, *size: Any) -> Tensor:
        """This tensor summed down to `size`, which broadcasts to its shape; integers as int64."""

    def svd(
        self,
        some: builtins.bool = True,
        compute_uv: builtins.bool = True,
        *,
        out: Any = None,
    ) -> _results.svd: ...
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """`input` with two dims exchanged (a view); another name of `transpose`."""

    def swapaxes_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `transpose`: this tensor itself gets the new shape."""

    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """`input` with two dims exchanged (a view)."""

    def swapdims_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `transpose`: this tensor itself gets the new shape."""

    def t(self) -> Tensor:
        """The transpose of a tensor of at most two dims."""

    def t_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `t`: this tensor itself gets the new shape."""

    def take(self, index: Tensor, *, out: Any = None) -> Tensor:
        """The elements at flat positions of `input`, in the shape of `index`."""

    def take_along_dim(
        self,
        indices: Tensor,
        dim: builtins.int | None = None,
        *,
        out: Any = None,
    ) -> Tensor:
        """The elements of `input` that `indices` names along a dim, the other dims broadcast."""

    def tan(self, *, out: Any = None) -> Tensor:
        """The tangent."""

    def tan_(self) -> Tensor:
        """In-place form of `tan`."""

    def tanh(self, *, out: Any = None) -> Tensor:
        """The hyperbolic tangent."""

    def tanh_(self) -> Tensor:
        """In-place form of `tanh`."""

    def tensor_split(
        self,
        indices_or_sections: Any,
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]: ...
    def tile(self, dims: Any, *more: Any) -> Tensor: ...
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """This tensor in another dtype; itself when nothing changes, unless `copy=True`."""

    def tolist(self) -> Any: ...
    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
        *,
        out: Any = None,
    ) -> _results.topk: ...
    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix."""

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """`input` with two dims exchanged (a view)."""

    def transpose_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `transpose`: this tensor itself gets the new shape."""

    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
        *,
        out: Any = None,
    ) -> _results.triangular_solve: ...
    def tril(self, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor: ...
    def tril_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place form of `tril`."""

    def triu(self, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor: ...
    def triu_(self, diagonal: builtins.int = 0) -> Tensor:
        """In-place form of `triu`."""

    def true_divide(
        self,
        other: Any,
        *,
        rounding_mode: builtins.str | None = None,
        out: Any = None,
    ) -> Tensor:
        """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

    def true_divide_(self, other: Any, *, rounding_mode: builtins.str | None = None) -> Tensor:
        """In-place form of `true_divide`."""

    def trunc(self, *, out: Any = None) -> Tensor:
        """Each element without its fractional part."""

    def trunc_(self) -> Tensor:
        """In-place form of `trunc`."""

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """The name of this tensor's type, such as 'tensorplay.FloatTensor', or a conversion."""

    def type_as(self, other: Tensor) -> Tensor:
        """This tensor in the dtype of `other`."""

    def unbind(self, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
        """The parts of `input` along one dim, without that dim (views)."""

    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
        """`input` with dim `dim` split into `sizes` (one may be -1)."""

    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Windows of `size` places along a dim, `step` apart, as a new last dim (a view)."""

    def uniform_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Fill with numbers drawn uniformly from `low` (also `from=`) up to `to`."""

    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """The distinct elements (with `dim`: slices) in ascending order."""

    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """The elements (with `dim`: slices) that differ from the one before."""

    def unsafe_chunk(
        self,
        chunks: builtins.int,
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]:
        """At most `chunks` views of equal size along one dim (the last may be smaller)."""

    def unsafe_split(
        self,
        split_size_or_sections: Any,
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]: ...
    def unsafe_split_with_sizes(
        self,
        split_sizes: Sequence[builtins.int],
        dim: builtins.int = 0,
    ) -> builtins.tuple[Tensor, ...]:
        """Views of `tensor` of the listed sizes along one dim."""

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """`input` with a dim of size one inserted at `dim` (a view)."""

    def unsqueeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place form of `unsqueeze`: this tensor itself gets the new shape."""

    def var(
        self,
        dim: Any = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: Any = None,
    ) -> Tensor: ...
    def vdot(self, other: Tensor, *, out: Any = None) -> Tensor:
        """The sum of products of two vectors, the first one conjugated."""

    def view(self, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """This tensor's memory in the shape of `other`."""

    def vsplit(self, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]:
        """Views of `input` along dim 0: equal parts, or those between indices."""

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """This tensor where `condition` holds, else `other`."""

    def xlogy(self, other: Any, *, out: Any = None) -> Tensor:
        """input * log(other), and 0 where input is 0, with derivatives 0 where both are."""

    def xlogy_(self, other: Any) -> Tensor:
        """In-place form of `xlogy`."""

    def zero_(self) -> Tensor:
        """Fill this tensor with zeros, in place."""

class Size(builtins.tuple[builtins.int, ...]):
    """The sizes of a tensor's dimensions: a tuple of ints with `numel()`."""

    def numel(self) -> builtins.int:
        """The number of elements of a tensor of this size."""

class Registered:
    """An attribute of a module that is found among its parameters, without `__getattr__`."""

    def __init__(self, name: builtins.str) -> None: ...

class Extras:
    """What few nodes have: hooks, tensors that retain their gradient, the user's notes."""

class Node:
    """One recorded operation: a step of the backward pass."""

    def name(self) -> builtins.str:
        """The operation's name, such as 'MulBackward0'."""

    @property
    def metadata(self) -> builtins.dict[Any, Any]:
        """A dictionary for the user's own notes about this node."""

    @property
    def next_functions(self) -> builtins.tuple[builtins.tuple[Node | None, builtins.int], ...]:
        """Where the inputs came from: ((Node or None, output number), ...)."""

    def _sequence_nr(self) -> builtins.int:
        """Order of creation: a node is younger than the nodes that its inputs came from."""

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node ran in a backward pass."""

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node runs in a backward pass."""

    @property
    def num_outputs(self) -> builtins.int:
        """How many outputs the operation had."""

    @property
    def requires_grad(self) -> builtins.bool:
        """True: only operations that do are recorded."""

    def output_meta(self, number: builtins.int = 0) -> Any:
        """(shape, dtype) of an output; None where the node does not know."""

    @property
    def _input_metadata(self) -> Any:
        """What each output was like: an object with `shape`, `dtype` and `device` per output."""

    def hooks_of(self, number: builtins.int) -> Any:
        """The dictionary of tensor hooks of one output (made when asked for)."""

    def node_hooks(self, before: builtins.bool) -> Any:
        """The dictionary of hooks run before (or after) this node."""

class InputMetadata:
    """Shape, dtype and device of one output of a recorded operation."""

    def __init__(self, shape: Any, dtype: Any) -> None: ...

class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; a context manager too."""

    def __init__(self, hooks: Any, hook: Any) -> None: ...
    def remove(self) -> None:
        """Take the hook away; removing twice does nothing."""

    def __enter__(self) -> Any: ...
    def __exit__(self, *_: Any) -> None: ...

class HookDict(builtins.dict[Any, Any]):
    """Hooks by id; a dict that weak references can point to."""

class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the cotangent to the leaf's `.grad`."""

    variable: Tensor
    def output_meta(self, number: builtins.int = 0) -> Any:
        """(shape, dtype) of the leaf."""

class LinkedNode(Node):
    """A node with edges to the nodes that made its inputs, and what a PrimitiveNode keeps."""

class PrimitiveNode(LinkedNode):
    """A recorded primitive: which one, its static parameters, and what its rules asked to keep."""

    def name(self) -> builtins.str:
        """The operation's name, such as 'MulBackward0'."""

    @property
    def parameters(self) -> Any:
        """The static parameters of the operation, in the primitive's order."""

    def output_meta(self, number: builtins.int = 0) -> Any:
        """(shape, dtype) of an output."""

    def saved_values(self) -> Any:
        """{name: value} of what this node keeps for the backward pass."""

    def saved_bytes(self) -> Any:
        """Bytes that this node keeps alive for the backward pass, views counted by their size."""

    @property
    def is_released(self) -> Any:
        """Whether the saved values were freed by a backward pass."""

class PythonNode(LinkedNode):
    """A node whose backward is a Python callable: custom Functions, what refuses a second pass."""

    _run: Any
    _release: Any
    _label: Any
    _metas: builtins.tuple[Any, ...]
    _context: Any
    def name(self) -> builtins.str:
        """The operation's name."""

    def output_meta(self, number: builtins.int = 0) -> Any:
        """(shape, dtype) of an output."""

class Rule:
    """A rule's function with the plan of its arguments."""

    function: Any
    constant: Any
    saves: builtins.int
    saves_out: builtins.bool
    needs_shapes: builtins.bool
    def __init__(
        self,
        function: Any,
        inputs: builtins.tuple[Any, ...],
        params: builtins.tuple[Any, ...],
        where: Any,
        variadic: builtins.bool = False,
    ) -> None: ...
    def call(
        self,
        primals: Any,
        params: builtins.tuple[Any, ...],
        out: Any,
        cotangent: Any,
        wanted: Any = None,
    ) -> Any:
        """The rule's value for given inputs; a constant rule gives its number."""

class Primitive:
    """An operation: a kernel on arrays and the rules that make it differentiable and batchable."""

    name: builtins.str
    node_name: builtins.str
    arg_names: builtins.tuple[Any, ...]
    param_names: builtins.tuple[Any, ...]
    variadic: builtins.bool
    outputs: builtins.int
    kernel: Any
    vjp_rules: builtins.list[Any]
    vjp_joint: Rule
    partials: builtins.bool
    jvp: Any
    batch: Any
    promote: builtins.str
    broadcasts: builtins.bool
    is_view: builtins.bool
    quiet: builtins.bool
    fixed: frozenset[Any]
    differentiable: builtins.bool
    kind: builtins.str
    keywords: builtins.tuple[Any, ...]
    naming: Any
    public: Any
    check: Any
    def __getattr__(self, name: builtins.str) -> Any: ...
    def __setattr__(self, name: builtins.str, value: Any) -> None: ...
    def __init__(
        self,
        name: builtins.str,
        kernel: Any,
        inputs: builtins.tuple[Any, ...],
        params: builtins.tuple[Any, ...] = (),
        *,
        vjp: Any = None,
        jvp: Any = None,
        batch: Any = None,
        outputs: builtins.int = 1,
        variadic: builtins.bool = False,
        promote: Any = None,
        partials: builtins.bool = False,
        broadcasts: builtins.bool = False,
        view: builtins.bool = False,
        quiet: builtins.bool = False,
        fixed: Any = (),
        kind: builtins.str = "",
        node_name: builtins.str | None = None,
        loop: Any = None,
        register: Any = True,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def apply(self, inputs: Any, *params: Any) -> Any:
        """Run on a sequence of inputs and static parameters."""

class Operation:
    """A public function made of other operations, with `out=` where that is offered."""

    function: Any
    name: builtins.str
    def __getattr__(self, name: builtins.str) -> Any: ...
    def __setattr__(self, name: builtins.str, value: Any) -> None: ...
    def __init__(self, function: Any, name: builtins.str) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Kernel:
    """A compiled kernel: called with arrays and parameters, by position."""

    def __call__(self, *args: Any) -> Any:
        """The kernel's result. (Calls go to `run` through the vectorcall slot.)"""

class Packed:
    """A saved tensor of which a pack hook keeps the values, and this object everything else."""

class Layer:
    """One of the tensors that a saved tensor is made of, apart from its values."""

class SavedTensor:
    """A tensor that a graph node keeps for the backward pass (`node._raw_saved_self`, ...)."""

    def __init__(self, node: Any, name: Any) -> None: ...
    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> Any:
        """Keep `pack_hook(tensor)` in its place; `unpack_hook` makes a tensor of that again."""

class Inplace:
    """The in-place form of an operation: `x.add_(y)` computes `add(x, y)` and writes it into x."""

    function: Any
    name: builtins.str
    def __getattr__(self, name: builtins.str) -> Any: ...
    def __setattr__(self, name: builtins.str, value: Any) -> None: ...
    def __init__(
        self,
        function: Any,
        name: builtins.str,
        direct: MapInplace | None = None,
    ) -> None: ...
    def __call__(self, x: Tensor, *args: Any, **kwargs: Any) -> Any: ...

class Run:
    """One backward pass. The first of several at a time keeps its slots inside the nodes."""

class SmallKernel(Kernel):
    """A kernel of small arrays: `small` says what it does, `fallback` does the rest."""

    def __init__(self, fallback: Any, parameter: Any = None) -> None: ...

class VarianceKernel(SmallKernel):
    """`kernel(x, dims, correction, keepdim)`: the variance; its root where `parameter`."""

class NormOfKernel(SmallKernel):
    """`kernel(x, p, dims, keepdim)`: the vector norm of order 2; others by the fallback."""

class ScanKernel(SmallKernel):
    """`kernel(x, dim, reverse)`: running sums; products where `parameter`."""

class TruthKernel(SmallKernel):
    """`kernel(x, dims, keepdim)`: whether any element is not zero; whether all, for `parameter`."""

class ExtremumKernel(SmallKernel):
    """`kernel(x, dim, keepdim)`: (largest elements, places), or the places alone."""

class TopKernel(SmallKernel):
    """`kernel(x, k, dim, largest, ordered)`: the places of the k largest (smallest) elements."""

class CrossKernel(SmallKernel):
    """`kernel(x, y, dim)`: vector products along a dim of size 3."""

class ClassLossKernel(SmallKernel):
    """`kernel(x, target, dim, lead, ignore_index, reduction)`: minus the elements of classes."""

class ClassSpreadKernel(SmallKernel):
    """`kernel(g, target, classes, dim, lead, ignore_index, reduction)`: its transpose."""

class ReduceKernel(Kernel):
    """`kernel(x, dims, keepdim)`: a reduction over sorted, non-negative dims, or a single one."""

    def __init__(
        self,
        loop: builtins.str,
        fallback: Any,
        empty_ok: builtins.bool = True,
    ) -> None: ...

class RowKernel(Kernel):
    """`kernel(*arrays, dim)`: one or two arrays to one of their shape (softmax and its kin)."""

    def __init__(self, loop: builtins.str, fallback: Any, two: builtins.bool = False) -> None: ...

class NormKernel:
    def __init__(
        self,
        loop: builtins.str,
        full: builtins.int,
        sums: builtins.int = 0,
        both: builtins.bool = False,
    ) -> None: ...
    def __call__(
        self,
        a: np.ndarray[Any, Any],
        b: Any,
        c: Any,
        cols: builtins.int,
        eps: builtins.float,
    ) -> Any: ...

class StandardizeKernel(SmallKernel):
    """`kernel(x, w, b, dims, eps)`: rows of the last dims standardised, times w, plus b."""

class ProductKernel(Kernel):
    def __init__(
        self,
        fallback: Any,
        a_transposed: builtins.bool = False,
        b_transposed: builtins.bool = False,
    ) -> None: ...

class LinearKernel(Kernel):
    """`kernel(x, w, b)`: x @ w.T + b for a matrix of rows x, with b a row or None."""

    def __init__(self, fallback: Any) -> None: ...

class MaxWindowsKernel(SmallKernel):
    """`kernel(x, kernel, stride, padding, dilation)`: (largest elements of windows, places)."""

class ConvolutionKernel(SmallKernel):
    """`kernel(x, w, stride, padding, dilation, groups)`: convolution over one or two dims."""

class FourierKernel(SmallKernel):
    """`kernel(x, dims, scale, choice)`: the transform of real or complex x along its last dim."""

class MapKernel(Kernel):
    """`kernel(*arrays, *numbers)`: a compiled loop over arrays of one shape, or `fallback`."""

    def __init__(self, loop: builtins.str, count: builtins.int, fallback: Any) -> None: ...

class MapInplace:
    """How an in-place method computes straight into its tensor: a kernel, and its one number."""

    def __init__(self, kernel: MapKernel, keyword: builtins.str, default: Any = None) -> None: ...

class Windows:
    """How windows slide over images of up to three spatial dims, for compiled loops."""

    fits: builtins.bool
    def __init__(
        self,
        sizes: Any,
        kernel: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        outputs: Any,
    ) -> None: ...
    def takes(self, *arrays: Any) -> Any:
        """Whether the loops take these arrays."""

    def matrix(
        self,
        x: np.ndarray[Any, Any],
        out: np.ndarray[Any, Any],
        images: builtins.int,
    ) -> Any:
        """Write all windows of single-channel images x into out (images, *kernel, *out)."""

    def add(
        self,
        matrix: np.ndarray[Any, Any],
        x: np.ndarray[Any, Any],
        images: builtins.int,
    ) -> Any:
        """The transpose of `matrix`: add the windows up to images, which x is overwritten with."""

    def single(
        self,
        x: np.ndarray[Any, Any],
        w: np.ndarray[Any, Any],
        y: np.ndarray[Any, Any],
        filters: builtins.int,
        which: builtins.int,
    ) -> Any:
        """Convolution of each channel by itself, with its `filters` kernels, contiguous arrays."""

def is_grad_enabled() -> builtins.bool:
    """Whether operations on this thread are recorded for reverse mode."""

def set_grad_mode(enabled: builtins.bool) -> builtins.bool:
    """Set the grad mode of this thread and return the previous one; off in inference mode."""

def set_mode(bit: builtins.int, enabled: builtins.bool) -> builtins.bool:
    """Turn a rare mode (a power of two) on or off in this thread; returns its old state."""

def get_mode(bit: builtins.int) -> builtins.bool:
    """Whether one of the rare modes is on in this thread."""

def push_level(
    kind: builtins.str,
    size: Any = None,
    randomness: Any = None,
    handler: Any = None,
) -> Level:
    """Enter a transform level and return it; `pop_level` must follow."""

def pop_level(level: Level) -> None:
    """Leave a transform level (and any level left open inside it)."""

def active_levels() -> builtins.tuple[Level, ...]:
    """The active levels of this thread, outermost first."""

def open_forward_levels() -> Any:
    """The forward levels that are open in any thread, outermost first."""

def set_forward_floor(level_id: builtins.int) -> Any:
    """Switch off, in this thread, the forward levels up to one; returns what was set before."""

def last_level() -> Any:
    """The id of the level that was opened last, in any thread."""

def set_operator(name: builtins.str, function: Any) -> None:
    """Make `function` what the interpreter's operator `name` (as in `__name__`) calls."""

def install(name: builtins.str, value: Any) -> None:
    """Set attribute `name` of the Tensor type (methods come from the tables of `ops`)."""

def from_array(array: Any) -> Tensor:
    """A plain tensor that shares memory with `array`: the one place where arrays become tensors."""

def new_subclass(kind: Any, array: Any) -> Any:
    """An instance of a Tensor subclass over `array`."""

def is_differentiable_dtype(x: Tensor) -> builtins.bool:
    """Whether gradients are defined for tensors of x's dtype (floating point or complex)."""

def detach(x: Tensor, tangents: builtins.bool = True) -> Tensor:
    """A tensor over the same memory that is not part of the graph; its tangents are not either."""

def alias_with_history(x: Tensor) -> Tensor:
    """Another object for the same tensor: memory, version and place in the graph are shared."""

def retain_grad(self) -> None:
    """Keep the gradient of this non-leaf tensor in `.grad` when a backward pass reaches it."""

def zeros_of(x: Tensor) -> Tensor:
    """Zeros of x's shape and dtype that take no memory (a broadcast, read-only array)."""

def zeros_shaped(like: Tensor, shape: builtins.tuple[Any, ...]) -> Tensor:
    """Zeros of a given shape, in the dtype of `like`, that take no memory."""

def can_view(x: Tensor, shape: builtins.tuple[Any, ...]) -> builtins.bool:
    """Whether the memory of x can be seen in another shape without a copy."""

def array_of(x: Tensor, wanted: builtins.str = "its values") -> np.ndarray[Any, Any]:
    """The array behind a tensor."""

def box_message(x: Tensor, wanted: builtins.str) -> builtins.str:
    """What to say when the concrete values of a tensor inside a transform are asked for."""

def item(self) -> Any:
    """The one element of this tensor as a Python number."""

def numel(input: Tensor) -> builtins.int:
    """The number of elements."""

def size(self, dim: Any = None) -> Any:
    """The shape, or the size of one dimension."""

def dim(self) -> builtins.int:
    """The number of dimensions."""

def stride(self, dim: Any = None) -> Any:
    """How many elements lie between neighbours, along each dimension or along one."""

def is_contiguous(self, memory_format: Any = None) -> builtins.bool:
    """Whether the elements lie in memory without gaps, in the order of their indices."""

def data_ptr(self) -> builtins.int:
    """The address of the first element."""

def storage_offset(self) -> builtins.int:
    """How many elements of the memory that this tensor looks into lie before its first one."""

def attributes_of(x: Tensor) -> builtins.dict[builtins.str, Any]:
    """The dictionary of attributes that users set on a tensor (made when first asked for)."""

def broadcast_kernel(x: np.ndarray[Any, Any], shape: builtins.tuple[Any, ...]) -> Any:
    """x seen in a larger shape, with stride 0 where it repeats; writable where x is."""

def require_tensor(x: Any, name: Any, argument: builtins.str = "input") -> Any:
    """Check an argument."""

def refuse_complex(name: Any, input: Tensor) -> Any:
    """Check that elements can be ordered."""

def wrap_dim(dim: Any, of: Any, name: Any, *, added: builtins.int = 0) -> Any:
    """A dim of `of` (a tensor, or a number of dims) as a non-negative int."""

def wrap_dims(dims: Any, of: Any, name: Any, *, empty_is_all: builtins.bool = True) -> Any:
    """Dims as a sorted tuple of non-negative ints; None (and an empty list) means all."""

def reduced_dims(dim: Any, input: Any, name: Any) -> Any:
    """The dims that a reduction's argument `dim` means, as a sorted tuple; see `wrap_dims`."""

def order_of_dims(dims: builtins.tuple[Any, ...], x: Tensor, name: builtins.str) -> Any:
    """Every dim of x once, in the order given, as non-negative ints."""

def exchanged_dims(x: Tensor, dim0: Any, dim1: Any, name: builtins.str) -> Any:
    """The dims of x with two exchanged."""

def reversed_dims(x: Tensor) -> Any:
    """The dims of x, the last one first."""

def dims_of_size_one(x: Tensor, dims: builtins.tuple[Any, ...]) -> Any:
    """Those of the dims along which x has one entry."""

def joined_dims(x: Tensor, first: builtins.int, last: builtins.int) -> Any:
    """x's shape with the dims from first to last as one."""

def sizes_of(args: builtins.tuple[Any, ...], name: builtins.str) -> Any:
    """Sizes given one by one or as one sequence, as a tuple of ints."""

def broadcast_shapes_of(name: Any, *shapes: Any) -> Any:
    """The shape that `shapes` broadcast to."""

def can_reshape(x: Tensor, shape: builtins.tuple[Any, ...]) -> Any:
    """Whether x is plain, its elements are in order, and `shape` (without -1) holds them all."""

def broadcasts_to(x: Tensor, shape: builtins.tuple[Any, ...]) -> Any:
    """Whether x is plain and its shape broadcasts to `shape`, which has no -1."""

def fits_product(a: Any, a_dims: builtins.int, b: Any, b_dims: builtins.int) -> Any:
    """Whether two tensors of one dtype have so many dims, and shapes whose product is defined."""

def are_vectors(a: Any, b: Any) -> Any:
    """Whether both are tensors of one dim."""

def of_one_shape(a: Tensor, b: Tensor) -> Any:
    """Whether two tensors have the same shape."""

def trailing_dims(x: Tensor, shape: builtins.tuple[Any, ...], weight: Any, bias: Any) -> Any: ...
def is_constant(x: Tensor) -> Any:
    """Whether operations on x alone are neither recorded nor transformed, nor watched."""

def plain_pads(x: Tensor, pad: Any) -> Any:
    """Per dim of x what `pad` says, which begins with the last dim; None unless all are plain."""

def like_number(value: Any, x: Tensor) -> Any:
    """A float as a 0-dim tensor of the dtype of x, where that is float32 or float64; else None."""

def is_mask(x: Any) -> Any:
    """Whether x is a bool tensor."""

def contiguous(self, memory_format: Any = None) -> Any:
    """This tensor with its elements in order in memory: itself when they are, else a copy."""

def permute_kernel(x: np.ndarray[Any, Any], dims: builtins.tuple[Any, ...]) -> Any:
    """x with its dims in the given order."""

def reshape_kernel(x: np.ndarray[Any, Any], shape: builtins.tuple[Any, ...]) -> Any:
    """x in another shape of as many elements."""

def unsqueeze_kernel(x: np.ndarray[Any, Any], dim: builtins.int) -> Any:
    """x with a dim of size one inserted at `dim`."""

def squeeze_kernel(x: np.ndarray[Any, Any], dims: builtins.tuple[Any, ...]) -> Any:
    """x without the given dims, which have size one."""

def diagonal_kernel(
    x: np.ndarray[Any, Any],
    offset: builtins.int,
    dim1: builtins.int,
    dim2: builtins.int,
) -> Any:
    """The diagonal of two dims, as the last dim."""

def split_kernel(
    x: np.ndarray[Any, Any],
    sizes: builtins.tuple[Any, ...],
    dim: builtins.int,
) -> Any:
    """Parts of the given sizes along a dim, one after the other."""

def unbind_kernel(x: np.ndarray[Any, Any], dim: builtins.int) -> Any:
    """The entries along a dim, without that dim."""

def copy_kernel(x: np.ndarray[Any, Any]) -> Any:
    """x in memory of its own, in the same order of its dims."""

def concatenate_kernel(arrays: builtins.list[Any], dim: builtins.int) -> Any:
    """The arrays one after the other along a dim."""

def stack_kernel(arrays: builtins.list[Any], dim: builtins.int) -> Any:
    """The arrays one after the other along a new dim."""

def select_small(condition: Any, x: Any, y: Any) -> Any: ...
def one_dtype(*values: Any) -> Any:
    """Whether all values are tensors of one dtype."""

def _weak_dict(hooks: Any) -> Any: ...
def gradient_edge(x: Tensor) -> Any:
    """(node, output number) that cotangents of `x` flow to; (None, 0) without a graph."""

def gradient_edges(items: Any) -> Any:
    """[(node, output number), ...] of tensors and of pairs that are such edges already."""

def kept_bytes(item: Any) -> Any:
    """Bytes of the arrays and tensors in what a node, or a pair of hooks, keeps."""

def released_message(node: Node) -> Any:
    """The error of a second backward pass through a freed graph."""

def attach(x: Tensor, node: Node, output_number: builtins.int = 0) -> Any:
    """Make `x` the given output of `node`: x then requires grad and is not a leaf."""

def _find_primitive(name: Any) -> Any: ...
def default_node_name(name: builtins.str) -> Any:
    """'log_softmax' -> 'LogSoftmaxBackward0', as graph nodes print."""

def empty(shape: builtins.tuple[Any, ...], dtype: Any) -> Any:
    """A C-contiguous array (of NumPy's) of any contents."""

def copied(x: np.ndarray[Any, Any]) -> Any:
    """A C-contiguous copy of an array."""

def as_contiguous(x: np.ndarray[Any, Any]) -> Any:
    """x itself where it is C-contiguous and aligned, else a copy."""

def cast(x: np.ndarray[Any, Any], dtype: Any) -> Any:
    """x as an array of a dtype (of NumPy's): a copy."""

def flip_kernel(x: np.ndarray[Any, Any], dims: builtins.tuple[Any, ...]) -> Any:
    """A copy of x with the order along some dims reversed."""

def roll_kernel(
    x: np.ndarray[Any, Any],
    shifts: builtins.tuple[Any, ...],
    dims: builtins.tuple[Any, ...],
) -> Any: ...
def repeat_kernel(x: np.ndarray[Any, Any], repeats: builtins.tuple[Any, ...]) -> Any:
    """x laid out again and again; `repeats` has an entry for each dim, and for more in front."""

def pad_kernel(x: np.ndarray[Any, Any], pads: builtins.tuple[Any, ...], value: Any) -> Any:
    """x with `pads[d]` = (before, after) places of a value added to, or taken off, each dim."""

def lower_kernel(x: np.ndarray[Any, Any], diagonal: builtins.int) -> Any:
    """Matrices with zeros above a diagonal."""

def upper_kernel(x: np.ndarray[Any, Any], diagonal: builtins.int) -> Any:
    """Matrices with zeros below a diagonal."""

def diagonal_embed_kernel(
    x: np.ndarray[Any, Any],
    shape: builtins.tuple[Any, ...],
    offset: builtins.int,
    dim1: builtins.int,
    dim2: builtins.int,
) -> Any:
    """Zeros of a shape with x on a diagonal of two dims."""

def no_levels() -> Any:
    """Whether no function transform is active in this thread."""

def filled(sizes: Any, value: Any, dtype: Any, special: Any, requires_grad: Any) -> Any:
    """A tensor of one number, or None."""

def filled_like_plain(x: Any, value: Any, dtype: Any, special: Any, requires_grad: Any) -> Any:
    """A tensor of one number in the shape of x, and in its dtype unless one is given; or None."""

def identity_array(rows: builtins.int, columns: builtins.int, dtype: Any) -> Any:
    """A matrix with ones on its diagonal, as an array."""

def counting(start: Any, end: Any, step: Any, special: Any, requires_grad: Any) -> Any:
    """The ints from start up to, but without, end (None: from 0 to start), or None."""

def evenly_spaced(first: builtins.float, last: builtins.float, steps: builtins.int) -> Any:
    """`steps` (at least 2) numbers from first to last, each computed from the nearer end."""

def spaced(start: Any, end: Any, steps: Any, special: Any, requires_grad: Any) -> Any:
    """`evenly_spaced` as a tensor of the default dtype, or None."""

def array_of_numbers(data: Any, dtype: Any) -> Any:
    """Nested lists of a few floats and ints as a new array, or None."""

def register_layer(**functions: Any) -> None:
    """Give the core what the Python layers define: cast, sum_to, expand, conj, neg, mul, ..."""

def weak_tensor(value: Any) -> Tensor:
    """A 0-dim tensor made from a Python number that stays weak in dtype promotion."""

def batch_elementwise(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    """Batching of elementwise operators: line the batch up in front, pad shorter inputs."""

def box(value: Tensor, bdim: Any, level: Level) -> Tensor:
    """`value` inside a transform level; `bdim` is its batch dimension, None when not batched."""

def unbox(x: Any, level: Level) -> Any:
    """(value, bdim) of a tensor at a level; (x, None) for anything that is not boxed there."""

def box_level(x: Tensor) -> builtins.int:
    """The id of the level a tensor is boxed at; 0 for a plain tensor."""

def innermost_level() -> Level | None:
    """The innermost vmap or function-gradient level; None outside of them."""

def lift(x: Tensor) -> Tensor:
    """`x`, boxed (unbatched) at the innermost level where it is not yet a value of it."""

def batched_levels(x: Tensor) -> builtins.list[builtins.int]:
    """Ids of the vmap levels over which x differs from sample to sample, innermost first."""

def conjugate(x: Any) -> Any:
    """The conjugate of a tensor or number, for rules; a real one as it is."""

def pack_tensor(x: Tensor) -> Any:
    """What the innermost pair of hooks in force makes of a tensor that is to be saved."""

def unpack_tensor(packed: Packed) -> Any:
    """The tensor that was packed by `pack_tensor`."""

def jvp_partials(p: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """Forward rule of an elementwise operator: the sum of tangent times local derivative."""

def keep_tangents(copy: Any, tangents: builtins.dict[Any, Any]) -> Any:
    """Let a saved output (a tensor, or what hooks made of one) carry tangents, while they last."""

def tangents_of(x: Tensor) -> builtins.dict[builtins.int, Tensor]:
    """{forward level id: tangent} of a tensor, of the levels that are active."""

def with_tangents(x: Tensor, tangents: builtins.dict[Any, Any]) -> Tensor:
    """An alias of x at the same place in the graph that carries exactly these tangents."""

def primal_below(x: Tensor, level: builtins.int) -> Tensor:
    """x without the tangents of `level` and of levels inside it."""

def result_dtype(tensors: Any) -> _dtypes.dtype:
    """The dtype that PyTorch's promotion gives for tensors (0-dim ones and numbers are weak)."""

def map_box(x: Tensor, function: Any) -> Any:
    """`function` of the value inside a box, boxed likewise; None where it gives None."""

def view_chain(x: Tensor) -> Any:
    """((primitive, params, output number), ...) that lead from the base of a view to it."""

def check_inplace(x: Tensor, name: builtins.str) -> Any:
    """Raise, before anything is changed, where an in-place change of `x` is not allowed."""

def assign(x: Tensor, value: Tensor, name: builtins.str) -> Tensor:
    """Write `value` (the result of an operation) into x's memory and give x its history."""

def write_out(name: Any, out: Any, result: Any) -> Any:
    """Store a result in `out=`: a tensor, or a tuple of tensors for several results."""

def overwrite(x: Tensor, source: Any) -> Any: ...
def is_plain(x: Tensor) -> Any:
    """Whether x is outside of every transform, and nothing done to it now would be recorded."""

def bump_version(x: Tensor, by: builtins.int = 1) -> Any:
    """Count an in-place change made outside the library's sight."""

def set_data(x: Tensor, value: Tensor) -> None:
    """Let x stand over the memory of another tensor, outside of the graph (`x.data = value`)."""

def become(x: Tensor, function: Any, name: builtins.str) -> Any:
    """Let x be `function(x)`, which is a view of what x was (`t_`, `unsqueeze_` and their kin)."""

def share_version(x: Tensor, other: Tensor) -> Any:
    """Let two tensors over the same memory count their changes together."""

def is_inference(x: Tensor) -> builtins.bool:
    """Whether x was made under inference_mode."""

def forget_history(x: Tensor) -> Any:
    """Take x out of the graph in place (`detach_`)."""

def run_backward(
    roots: builtins.list[Any],
    keep: builtins.bool,
    create_graph: builtins.bool,
    targets: Any = None,
    accumulate: Any = (),
    allow_unused: builtins.bool = True,
    unused_message: Any = None,
    name: builtins.str = "backward",
) -> Any:
    """Run the graph backward."""

def leaf_hooks(x: Tensor, post: builtins.bool) -> Any:
    """The dictionary of hooks of a leaf: on its gradient, or after accumulation."""

def accumulate_into(x: Tensor, cotangent: Tensor) -> Any:
    """Add a cotangent to `x.grad`, as the engine does at a leaf."""

def unit_cotangent(x: Any) -> Any:
    """The one that the backward pass of a real scalar starts with; None for anything else."""

def scalar_root(x: Any) -> Any:
    """[(node, output number, one)] of a scalar tensor in a graph; None for anything else."""

def ones_shaped(shape: builtins.tuple[Any, ...], dtype: Any) -> Any:
    """Ones of a shape and dtype, the cotangent that a scalar starts with."""

def new_zeros(shape: builtins.tuple[Any, ...], dtype: Any) -> Any:
    """Zeros of a shape and dtype, in memory of their own."""

def identity(size: builtins.int, dtype: Any) -> Any:
    """The identity matrix, as a plain tensor."""

def unit_block(
    total: builtins.int,
    start: builtins.int,
    count: builtins.int,
    dtype: Any,
) -> Any:
    """`count` columns, from `start` on, of the identity matrix of size `total`."""

def level_of(x: Tensor) -> Any:
    """The active level that x is boxed at; None for a plain tensor or when that has ended."""

def unit_vector(like: Tensor, index: builtins.int) -> Any:
    """Zeros like a tensor with a one at a flat index."""

def make_node(
    kind: Any,
    label: Any,
    run: Any,
    inputs: Any,
    metas: Any,
    context: Any,
    release: Any = None,
) -> Any:
    """A node of a PythonNode subclass whose edges lead to `inputs` (tensors, or None)."""

def without_history(x: Tensor) -> Any:
    """Another tensor over the same values that is outside of x's graph; boxes keep theirs."""

def at_edge(x: Tensor, node: Node, output_number: builtins.int) -> Any:
    """An alias of x, with its tangents, that stands at a given place in the graph."""

def replace_tangents(x: Tensor, tangents: builtins.dict[Any, Any]) -> Any:
    """Give x itself exactly these tangents: {forward level id: tangent}."""

def adopt_history(x: Tensor, value: Tensor, before: Tensor | None = None) -> Any:
    """x holds the values of `value` already: give it that history too."""

def base_alias(x: Tensor) -> Any:
    """An alias, with its history, of the tensor that x is a view of; None for other tensors."""

def mark_custom_view(x: Tensor, base: Tensor, name: builtins.str) -> Any:
    """Forbid changes in place that would bypass the custom function which returned this view."""

def about_to_write(x: Tensor, name: builtins.str) -> Any:
    """To be called before the memory of a plain tensor is changed directly."""

def version_object(x: Tensor) -> Any:
    """The counter of in-place changes that x shares with its views and aliases."""

def apart(x: Tensor, source: Tensor) -> Any:
    """x, copied where it shares memory with `source`."""

def hide_forward_levels() -> Any:
    """Turn forward mode off for the levels that are open; `show_forward_levels` undoes it."""

def show_forward_levels(hidden: builtins.list[Any]) -> Any:
    """Turn forward mode on again for levels that were hidden."""

def unboxed(x: Tensor) -> Any:
    """The value inside a box."""

def levels_below(level: Level) -> Any:
    """The active levels without the vmap and gradient levels from `level` on inwards."""

def exchange_levels(active: builtins.list[Any]) -> Any:
    """Let these be the active levels of this thread; returns the list of those that were."""

def reopen_levels(levels: Any) -> Any:
    """Let these levels be the active ones, also where they have ended; `close_levels` undoes it."""

def close_levels(before: Any) -> Any:
    """Undo `reopen_levels`, given what it returned."""

def current_run() -> Any:
    """The backward pass that runs in this thread, an object without content; None outside."""

def fills_every_leaf() -> Any:
    """Whether a backward pass runs in this thread that was not asked for particular gradients."""

def will_run(node: Node) -> Any:
    """Whether the backward pass that runs in this thread reaches a node."""

def small_trace(x: Any) -> Any:
    """The trace of a small real matrix that is neither recorded nor transformed; else None."""

def same_elements(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Any:
    """Whether two arrays of one shape and dtype have equal elements; NaN equals nothing."""

def nan_kernel(x: np.ndarray[Any, Any]) -> Any:
    """Whether each element is NaN."""

def cast_kernel(x: np.ndarray[Any, Any], dtype: Any, source: Any) -> Any:
    """x in another dtype, as a copy; complex numbers lose their imaginary part for a real one."""

def names_classes(input: Any, target: Any) -> Any:
    """Whether `target` holds integers, in the shape of `input` (2 dims or more) without dim 1."""

def one_hot_array(index: np.ndarray[Any, Any], classes: builtins.int) -> Any:
    """1 at the class that each entry of an int64 array names, else 0; None where one is outside."""

def rows_of_table(table: np.ndarray[Any, Any], index: np.ndarray[Any, Any]) -> Any:
    """The rows of a matrix that an index names, or None for what is not plain or out of range."""

def drawn(
    source: Any,
    normal: builtins.bool,
    sizes: Any,
    dtype: Any,
    special: Any,
    requires_grad: Any,
) -> Any:
    """A small tensor of uniform or normal numbers from a NumPy bit generator, or None."""

def kept_factors(
    source: Any,
    size: builtins.tuple[Any, ...],
    p: float,
    scale: builtins.float,
    dtype: Any,
) -> Any:
    """`scale` where a uniform float32 is at least p, else 0; None unless small and real."""

def channels_kernel(
    v: Any,
    x: np.ndarray[Any, Any],
    w: Any,
    b: Any,
    sizes: builtins.tuple[Any, ...],
    groups: builtins.int,
    eps: builtins.float,
) -> Any: ...
def sum_to_kernel(x: np.ndarray[Any, Any], shape: builtins.tuple[Any, ...]) -> Any:
    """x summed over the dims that broadcasting from `shape` added or stretched."""

def get_num_threads() -> builtins.int:
    """The number of threads that compiled loops over large tensors use."""

def set_num_threads(count: builtins.int) -> None:
    """Set how many threads compiled loops over large tensors use."""

def instruction_set() -> builtins.str:
    """Which build of the compiled loops runs here: 'baseline', 'avx2' or 'avx512'."""

def outer_kernel(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Any:
    """The products of every element of a (..., n) with every element of b (..., m)."""

def is_within(index: np.ndarray[Any, Any], size: builtins.int) -> Any:
    """Whether all entries of an int64 array are in 0 .. size - 1."""

def gather_kernel(
    x: np.ndarray[Any, Any],
    index: np.ndarray[Any, Any],
    dim: builtins.int,
    name: builtins.str,
) -> Any:
    """`out[i, j] = x[index[i, j], j]` (for dim 0), for int64 indices that are not negative."""

def scatter_into(
    out: np.ndarray[Any, Any],
    index: np.ndarray[Any, Any],
    src: np.ndarray[Any, Any],
    dim: builtins.int,
    add: builtins.bool,
    name: builtins.str,
) -> Any:
    """`out[index[i, j], j] = src[i, j]` (for dim 0), or `+=`; False for types it cannot add."""

def index_rows(
    shape: Any,
    index: np.ndarray[Any, Any],
    dims: builtins.tuple[Any, ...],
    name: builtins.str,
) -> Any:
    """Indices for adjacent dims of an array as one index of all their elements together."""

def put_at_rows(
    out: np.ndarray[Any, Any],
    rows: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any],
    outer: builtins.int,
    size: builtins.int,
    add: builtins.bool,
) -> Any:
    """`out[o, rows[r], i] = values[o, r, i]`, or `+=`; False for what it cannot do."""

def entries_kernel(
    x: np.ndarray[Any, Any],
    index: np.ndarray[Any, Any],
    dim: builtins.int,
) -> Any: ...
