"""PyTorch's autograd API, complete, as a small library over NumPy arrays."""

# Made by tools/make_stubs.py: do not edit.

import builtins
from collections.abc import Sequence
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any

import numpy as np

from tensorplay import autograd as autograd
from tensorplay import fft as fft
from tensorplay import func as func
from tensorplay import linalg as linalg
from tensorplay import masked as masked
from tensorplay import nn as nn
from tensorplay import ops as ops
from tensorplay import optim as optim
from tensorplay import random as random
from tensorplay import special as special
from tensorplay import utils as utils
from tensorplay._core.core import Size as Size
from tensorplay._core.core import Tensor as Tensor
from tensorplay._core.core import get_num_threads as get_num_threads
from tensorplay._core.core import is_grad_enabled as is_grad_enabled
from tensorplay._core.core import set_num_threads as set_num_threads
from tensorplay.autograd.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from tensorplay.autograd.anomaly import is_anomaly_enabled as is_anomaly_enabled
from tensorplay.autograd.grad_mode import enable_grad as enable_grad
from tensorplay.autograd.grad_mode import inference_mode as inference_mode
from tensorplay.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from tensorplay.autograd.grad_mode import no_grad as no_grad
from tensorplay.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from tensorplay.base import dtypes as _dtypes
from tensorplay.base import random as _random
from tensorplay.base.devices import channels_last as channels_last
from tensorplay.base.devices import channels_last_3d as channels_last_3d
from tensorplay.base.devices import contiguous_format as contiguous_format
from tensorplay.base.devices import device as device
from tensorplay.base.devices import layout as layout
from tensorplay.base.devices import memory_format as memory_format
from tensorplay.base.devices import preserve_format as preserve_format
from tensorplay.base.devices import strided as strided
from tensorplay.base.dtypes import bfloat16 as bfloat16
from tensorplay.base.dtypes import bool as bool
from tensorplay.base.dtypes import can_cast as can_cast
from tensorplay.base.dtypes import cdouble as cdouble
from tensorplay.base.dtypes import cfloat as cfloat
from tensorplay.base.dtypes import complex64 as complex64
from tensorplay.base.dtypes import complex128 as complex128
from tensorplay.base.dtypes import double as double
from tensorplay.base.dtypes import dtype as dtype
from tensorplay.base.dtypes import finfo as finfo
from tensorplay.base.dtypes import float as float
from tensorplay.base.dtypes import float16 as float16
from tensorplay.base.dtypes import float32 as float32
from tensorplay.base.dtypes import float64 as float64
from tensorplay.base.dtypes import get_default_dtype as get_default_dtype
from tensorplay.base.dtypes import half as half
from tensorplay.base.dtypes import iinfo as iinfo
from tensorplay.base.dtypes import int as int
from tensorplay.base.dtypes import int8 as int8
from tensorplay.base.dtypes import int16 as int16
from tensorplay.base.dtypes import int32 as int32
from tensorplay.base.dtypes import int64 as int64
from tensorplay.base.dtypes import long as long
from tensorplay.base.dtypes import promote_types as promote_types
from tensorplay.base.dtypes import set_default_dtype as set_default_dtype
from tensorplay.base.dtypes import short as short
from tensorplay.base.dtypes import uint8 as uint8
from tensorplay.base.dtypes import uint16 as uint16
from tensorplay.base.dtypes import uint32 as uint32
from tensorplay.base.dtypes import uint64 as uint64
from tensorplay.base.printing import get_printoptions as get_printoptions
from tensorplay.base.printing import set_printoptions as set_printoptions
from tensorplay.base.random import get_rng_state as get_rng_state
from tensorplay.base.random import initial_seed as initial_seed
from tensorplay.base.random import manual_seed as manual_seed
from tensorplay.base.random import seed as seed
from tensorplay.base.random import set_rng_state as set_rng_state
from tensorplay.ops import results as _results
from tensorplay.ops.randoms import Generator as Generator
from tensorplay.ops.randoms import default_generator as default_generator
from tensorplay.transforms.vmap import vmap as vmap

__version__: builtins.str
newaxis: None

def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    *rest: Any,
) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """native_batch_norm; also without running statistics: (..., training, momentum, eps)."""

def _safe_softmax(self: Tensor, dim: builtins.int, dtype: Any = None) -> Tensor:
    """softmax, with zeros where a whole row is -inf (everything is masked)."""

def _softmax_backward_data(
    grad_output: Tensor,
    output: Tensor,
    dim: builtins.int,
    input_dtype: Any,
) -> Tensor:
    """softmax's cotangent of the input, from that of the output and the output."""

def abs(input: Tensor, *, out: Any = None) -> Tensor:
    """The absolute value (real, for complex x too). The derivative is 0 at 0."""

def abs_(input: Tensor) -> Tensor:
    """In-place form of `abs`."""

def absolute(input: Tensor, *, out: Any = None) -> Tensor:
    """The absolute value (real, for complex x too). The derivative is 0 at 0."""

def acos(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse cosine, in radians."""

def acos_(input: Tensor) -> Tensor:
    """In-place form of `acos`."""

def acosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic cosine."""

def acosh_(input: Tensor) -> Tensor:
    """In-place form of `acosh`."""

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as `output_size` says, of (N, C, L) or (C, L)."""

def adaptive_max_pool1d(
    input: Tensor,
    output_size: Any,
    return_indices: builtins.bool = False,
) -> Any:
    """adaptive_max_pool1d() with return_indices=True."""

def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting and type promotion."""

def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2).sum(0)`."""

def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Any = 1,
    out: Any = None,
) -> Tensor:
    """`input + value * tensor1 / tensor2`, element by element."""

def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Any = 1,
    out: Any = None,
) -> Tensor:
    """`input + value * tensor1 * tensor2`, element by element."""

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` for matrices; input broadcasts to the product."""

def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """`beta * input + alpha * (mat @ vec)` for a matrix and a vector."""

def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place form of `addmv`."""

def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`."""

def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of a matrix, or of each matrix of a stack."""

def alias_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `alias`, but a copy and no view."""

def all(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Whether all elements over `dim` are nonzero, as bool (uint8 for a uint8 input)."""

def allclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool:
    """Whether `|input - other| <= atol + rtol * |other|` for all elements."""

def alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Dropout that keeps mean and variance after selu."""

def alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of `alpha_dropout`."""

def amax(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The largest element over `dim` (an int, a tuple of ints; None or (): all)."""

def amin(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The smallest element over `dim` (an int, a tuple of ints; None or (): all)."""

def aminmax(
    input: Tensor,
    *,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Any:
    """The smallest and the largest element, of all or along `dim`: (min, max)."""

def angle(input: Tensor, *, out: Any = None) -> Tensor:
    """The angle of a complex number in the plane, in radians; 0 or pi for a real one."""

def any(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Whether any element over `dim` is nonzero, as bool (uint8 for a uint8 input); see `all`."""

def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The numbers from `start` up to, but without, `end`, in steps of `step`."""

def arccos(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse cosine, in radians."""

def arccos_(input: Tensor) -> Tensor:
    """In-place form of `arccos`."""

def arccosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic cosine."""

def arccosh_(input: Tensor) -> Tensor:
    """In-place form of `arccosh`."""

def arcsin(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse sine, in radians."""

def arcsin_(input: Tensor) -> Tensor:
    """In-place form of `arcsin`."""

def arcsinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic sine."""

def arcsinh_(input: Tensor) -> Tensor:
    """In-place form of `arcsinh`."""

def arctan(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse tangent, in radians."""

def arctan2(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi. The derivatives at (0, 0) are 0."""

def arctan_(input: Tensor) -> Tensor:
    """In-place form of `arctan`."""

def arctanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic tangent."""

def arctanh_(input: Tensor) -> Tensor:
    """In-place form of `arctanh`."""

def argmax(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Where the largest element is (int64): in the flattened input, or along `dim`; the first."""

def argmin(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Where the smallest element is (int64): in the flattened input, or along `dim`; the first."""

def argsort(
    input: Tensor,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = False,
) -> Tensor:
    """The positions that sort `input` along a dim; nan counts as larger than any number."""

def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero, one a row, in order."""

def as_strided(
    input: Tensor,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    storage_offset: builtins.int | None = None,
) -> Tensor:
    """A view into the memory of `input` with any sizes and strides."""

def as_strided_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place form of `as_strided`: this tensor itself gets the new shape."""

def as_strided_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `as_strided`, but a copy and no view."""

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    storage_offset: builtins.int | None = None,
) -> Tensor:
    """A copy of `input` with `src` in the place of `input.as_strided(size, stride, ...)`."""

def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed."""

def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: builtins.bool | None = None,
    requires_grad: builtins.bool = False,
) -> Tensor: ...
def asin(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse sine, in radians."""

def asin_(input: Tensor) -> Tensor:
    """In-place form of `asin`."""

def asinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic sine."""

def asinh_(input: Tensor) -> Tensor:
    """In-place form of `asinh`."""

def atan(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse tangent, in radians."""

def atan2(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi. The derivatives at (0, 0) are 0."""

def atan_(input: Tensor) -> Tensor:
    """In-place form of `atan`."""

def atanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic tangent."""

def atanh_(input: Tensor) -> Tensor:
    """In-place form of `atanh`."""

def atleast_1d(*tensors: Any) -> Any:
    """The tensor, or the tuple of tensors, with 1 dims or more."""

def atleast_2d(*tensors: Any) -> Any:
    """The tensor, or the tuple of tensors, with 2 dims or more."""

def atleast_3d(*tensors: Any) -> Any:
    """The tensor, or the tuple of tensors, with 3 dims or more."""

def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
) -> Tensor:
    """Means over windows of (N, C, L) or (C, L)."""

def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2)`; input broadcasts to the product."""

def bartlett_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The Bartlett window, a triangle: 1 - |2 x - 1| for x from 0 to 1; periodic: without x = 1."""

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool,
) -> Tensor:
    """nn.functional.batch_norm, with PyTorch's lower-level signature."""

def bernoulli(
    input: Tensor,
    p: builtins.float | None = None,
    *,
    generator: _random.Generator | None = None,
    out: Any = None,
) -> Tensor:
    """Ones with the given probabilities, else zeros, in the shape and dtype of `input`."""

def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """input1 @ weight[k] @ input2, for every k, plus bias."""

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: builtins.str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The binary cross entropy of sigmoid(input) and targets from 0 to 1, without overflow."""

def bincount(
    input: Tensor,
    weights: Tensor | None = None,
    minlength: builtins.int = 0,
) -> Tensor:
    """How often each integer from 0 to the largest one (at least minlength - 1) occurs."""

def binomial(count: Tensor, prob: Tensor, generator: _random.Generator | None = None) -> Tensor:
    """Numbers of successes in `count` trials that succeed with probability `prob` each."""

def bitwise_and(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The bits set in both."""

def bitwise_left_shift(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The bits moved to the left by `other` places."""

def bitwise_not(input: Tensor, *, out: Any = None) -> Tensor:
    """The bits not set; `logical_not` of bools."""

def bitwise_or(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The bits set in one or both."""

def bitwise_right_shift(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The bits moved to the right by `other` places; the sign stays."""

def bitwise_xor(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The bits set in just one."""

def blackman_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The Blackman window, 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1."""

def block_diag(*tensors: Tensor) -> Tensor:
    """The matrices (or rows, or numbers) along the diagonal of a matrix of zeros."""

def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The products of two equally long batches of matrices, (b, n, k) and (b, k, m)."""

def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that the given shapes broadcast to."""

def broadcast_tensors(*tensors: Tensor) -> builtins.tuple[Tensor, ...]:
    """The tensors broadcast to their common shape, without copies."""

def broadcast_to(input: Tensor, size: Sequence[builtins.int]) -> Tensor:
    """`input` broadcast to `size`, without a copy."""

def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The number of the bucket that each value falls into, between ascending boundaries."""

def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of elements of the vectors, one a row, as itertools.product orders them."""

def cat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after the other along an existing dim, in their common dtype."""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    compute_mode: builtins.str | None = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor: ...
def ceil(input: Tensor, *, out: Any = None) -> Tensor:
    """The smallest integer not below each element."""

def ceil_(input: Tensor) -> Tensor:
    """In-place form of `ceil`."""

def celu(input: Tensor, alpha: builtins.float = 1.0) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483)."""

def celu_(input: Tensor, alpha: builtins.float = 1.0) -> Tensor:
    """In-place form of `celu`."""

def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The product of matrices, multiplied in the order that needs the fewest operations."""

def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """(N, groups * C, ...) with the channels of the groups interleaved (arXiv:1707.01083)."""

def cholesky(input: Tensor, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
    """The older form of `linalg.cholesky`."""

def cholesky_inverse(L: Tensor, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is L (upper: is the upper one)."""

def cholesky_solve(
    input: Tensor,
    L: Tensor,
    upper: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def chunk(
    input: Tensor,
    chunks: builtins.int,
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """At most `chunks` views of equal size along one dim (the last may be smaller)."""

def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """`input` limited to [min, max]; a bound is a number, a tensor, or None."""

def clamp_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place form of `clamp`."""

def clamp_max(input: Tensor, max: Any, *, out: Any = None) -> Tensor:
    """`input`, but at most the bound (a number or a tensor). The derivative is 1 at the bound."""

def clamp_max_(input: Tensor, max: Any) -> Tensor:
    """In-place form of `clamp_max`."""

def clamp_min(input: Tensor, min: Any, *, out: Any = None) -> Tensor:
    """`input`, but at least the bound (a number or a tensor). The derivative is 1 at the bound."""

def clamp_min_(input: Tensor, min: Any) -> Tensor:
    """In-place form of `clamp_min`."""

def clip(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """`input` limited to [min, max]; a bound is a number, a tensor, or None."""

def clip_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place form of `clip`."""

def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy in memory of its own, at the same place in the graph."""

def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The tensors side by side, vectors being columns."""

def combinations(
    input: Tensor,
    r: builtins.int = 2,
    with_replacement: builtins.bool = False,
) -> Tensor:
    """Every combination of `r` elements of a vector, one a row, as itertools orders them."""

def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """The complex tensor `real + 1j * imag`."""

def concat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after the other along an existing dim, in their common dtype."""

def concatenate(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after the other along an existing dim, in their common dtype."""

def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""

def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugate; a real tensor as it is."""

def conj_physical_(input: Tensor) -> Tensor:
    """In-place form of `conj_physical`."""

def constant_pad_nd(input: Tensor, pad: Sequence[builtins.int], value: Any = 0) -> Tensor:
    """`input` with places of a value before and after each of its last dims; see `pad`."""

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, L) or (C, L) with filters (O, C / groups, K)."""

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, H, W) or (C, H, W) with filters (O, C / groups, KH, KW)."""

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: builtins.int = 1,
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of conv1d: (N, C, L) or (C, L) with filters (C, O / groups, K)."""

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of conv2d: (N, C, H, W) or (C, H, W) with filters (C, O / groups, KH, KW)."""

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: builtins.int = 1,
    dilation: Any = 1,
) -> Tensor: ...
def copysign(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The absolute value of `input` with the sign of `other`. The derivative is 0 at 0."""

def corrcoef(input: Tensor) -> Tensor:
    """The matrix of Pearson's correlation coefficients of the rows of `input`; see `cov`."""

def cos(input: Tensor, *, out: Any = None) -> Tensor:
    """The cosine."""

def cos_(input: Tensor) -> Tensor:
    """In-place form of `cos`."""

def cosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic cosine."""

def cosh_(input: Tensor) -> Tensor:
    """In-place form of `cosh`."""

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: builtins.float = 0,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: builtins.str = "mean",
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1."""

def cosine_similarity(
    x1: Tensor,
    x2: Tensor,
    dim: builtins.int = 1,
    eps: builtins.float = 1e-08,
) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)), along `dim` of the broadcast inputs."""

def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements over `dim` that are not zero (int64)."""

def cov(
    input: Tensor,
    *,
    correction: builtins.int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of variables: rows of `input` (variables, observations)."""

def cross(
    input: Tensor,
    other: Tensor,
    dim: builtins.int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`linalg.cross` along `dim`, by default the first dim of size 3."""

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: builtins.int = 0,
    reduction: Any = "mean",
    zero_infinity: builtins.bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences, summed over all alignments with the input."""

def cummax(input: Tensor, dim: builtins.int, *, out: Any = None) -> Any:
    """The running maximum along `dim` and where it is (the last place, for equal elements)."""

def cummin(input: Tensor, dim: builtins.int, *, out: Any = None) -> Any:
    """The running minimum along `dim` and where it is (the last place, for equal elements)."""

def cumprod(
    input: Tensor,
    dim: builtins.int,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The running product along `dim`; integers and bools are multiplied as int64."""

def cumsum(
    input: Tensor,
    dim: builtins.int,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The running sum along `dim`; integers and bools are summed as int64."""

def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: Any = None,
    dim: builtins.int = -1,
) -> Tensor:
    """The running integral of samples `y` along `dim` by the trapezoidal rule; see `trapezoid`."""

def deg2rad(input: Tensor, *, out: Any = None) -> Tensor:
    """Degrees as radians."""

def deg2rad_(input: Tensor) -> Tensor:
    """In-place form of `deg2rad`."""

def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinants of square matrices A, (..., n, n)."""

def detach(input: Tensor) -> Tensor:
    """A tensor over the same memory that is not part of the graph and carries no tangents."""

def detach_(input: Tensor) -> Tensor:
    """Take this tensor out of the graph, and its tangents from it."""

def detach_copy(input, *args, **kwargs) -> Any:
    """As `detach`, but a copy and no view."""

def diag(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The matrix with a vector on its diagonal, or the diagonal of a matrix (a copy)."""

def diag_embed(
    input: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = -2,
    dim2: builtins.int = -1,
) -> Tensor:
    """Matrices of zeros with the last dim of `input` on a diagonal, in dims dim1 and dim2."""

def diagflat(input: Tensor, offset: builtins.int = 0) -> Tensor:
    """The matrix with the elements of `input` on a diagonal."""

def diagonal(
    input: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
) -> Tensor:
    """The diagonal of two dims, as the last dim of a view."""

def diagonal_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `diagonal`, but a copy and no view."""

def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
) -> Tensor:
    """A copy of `input` with `src` on a diagonal."""

def diff(
    input: Tensor,
    n: builtins.int = 1,
    dim: builtins.int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The differences of neighbours along `dim`, taken n times (of bools: whether they differ)."""

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma, -inf at 0 and nan at the negative integers."""

def dist(input: Tensor, other: Tensor, p: builtins.float = 2) -> Tensor: ...
def div(
    input: Any,
    other: Any,
    *,
    rounding_mode: builtins.str | None = None,
    out: Any = None,
) -> Tensor:
    """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

def divide(
    input: Any,
    other: Any,
    *,
    rounding_mode: builtins.str | None = None,
    out: Any = None,
) -> Tensor:
    """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Tensor:
    """The sum of products of two vectors of equal length (nothing is conjugated)."""

def dropout(
    input: Tensor,
    p: builtins.float,
    train: builtins.bool,
    *,
    generator: _random.Generator | None = None,
) -> Tensor:
    """Elements set to 0 with probability `p` when `train`ing, the others scaled by 1 / (1 - p)."""

def dropout_(
    input: Tensor,
    p: builtins.float,
    train: builtins.bool,
    *,
    generator: _random.Generator | None = None,
) -> Tensor:
    """In-place form of `dropout`."""

def dsplit(input: Tensor, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]:
    """Views of `input` along dim 2: equal parts, or those between indices."""

def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The tensors behind each other: along dim 2."""

def einsum(*args: Any) -> Tensor:
    """The sum of products of the operands over the subscripts that the result does not have."""

def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: builtins.int = -1,
    scale_grad_by_freq: builtins.bool = False,
    sparse: builtins.bool = False,
) -> Tensor:
    """nn.functional.embedding with PyTorch's lower-level signature (padding_idx -1: none)."""

def empty(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor whose elements are whatever its memory held; arguments as for `zeros`."""

def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor in the shape and (unless given) the dtype of another; its elements are arbitrary."""

def empty_strided(
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor: ...
def eq(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` equals `other`, element by element."""

def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether two tensors have the same shape and the same elements."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

def erf_(input: Tensor) -> Tensor:
    """In-place form of `erf`."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(x), accurate for large x."""

def erfc_(input: Tensor) -> Tensor:
    """In-place form of `erfc`."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of erf: infinite at -1 and 1, nan beyond."""

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e ** x, element by element; the derivative is the result itself."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 ** x."""

def exp2_(input: Tensor) -> Tensor:
    """In-place form of `exp2`."""

def exp_(input: Tensor) -> Tensor:
    """In-place form of `exp`."""

def expand_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `expand`, but a copy and no view."""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) - 1, accurate near 0."""

def expm1_(input: Tensor) -> Tensor:
    """In-place form of `expm1`."""

def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A matrix of n rows and m (by default n) columns with ones on the diagonal."""

def feature_alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """alpha_dropout of whole channels: (N, C, ...)."""

def feature_alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """In-place form of `feature_alpha_dropout`."""

def feature_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """dropout of whole channels: (N, C, ...)."""

def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input`, filled with a number or with a tensor without dimensions."""

def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill this tensor with a number, or with a tensor without dimensions, in place."""

def fix(input: Tensor, *, out: Any = None) -> Tensor:
    """Each element without its fractional part."""

def fix_(input: Tensor) -> Tensor:
    """In-place form of `fix`."""

def flatten(input: Tensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
    """`input` with the dims from start_dim to end_dim made one."""

def flip(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """`input` with the order along `dims` reversed, as a copy."""

def fliplr(input: Tensor) -> Tensor:
    """A matrix (or stack of rows) with its columns in reverse order: flip along dim 1."""

def flipud(input: Tensor) -> Tensor:
    """A tensor with its rows in reverse order: flip along dim 0."""

def float_power(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """`input ** exponent` in float64, or complex128 where either is complex."""

def floor(input: Tensor, *, out: Any = None) -> Tensor:
    """The largest integer not above each element."""

def floor_(input: Tensor) -> Tensor:
    """In-place form of `floor`."""

def floor_divide(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """`input / other` rounded down, element by element."""

def fmax(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The larger of two, element by element; where one is nan, the other."""

def fmin(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The smaller of two, element by element; where one is nan, the other."""

def fmod(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """What is left of `input` after division by `other`, with the sign of `input`."""

def frac(input: Tensor, *, out: Any = None) -> Tensor:
    """The fractional part, with the sign of the element."""

def frac_(input: Tensor) -> Tensor:
    """In-place form of `frac`."""

def frexp(input: Tensor, *, out: Any = None) -> Any: ...
def from_dlpack(
    ext_tensor: Any,
    *,
    device: Any = None,
    copy: builtins.bool | None = None,
) -> Tensor:
    """A tensor over the memory of an object of another library, through DLPack."""

def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor over the memory of an array: changes of either are seen in both."""

def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: builtins.int = -1,
    offset: builtins.int = 0,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of one dimension over the memory of an object with the buffer protocol."""

def full(
    size: Sequence[builtins.int],
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of one value, by default in the dtype that the value suggests."""

def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of one value in the shape and (unless given) the dtype of another."""

def gather(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    *,
    sparse_grad: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The elements of `input` that `index` names along one dim."""

def gcd(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The greatest common divisor of integers, element by element."""

def gcd_(input: Tensor, other: Any) -> Tensor:
    """In-place form of `gcd`."""

def ge(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is at least `other`."""

def geqrf(input: Tensor, *, out: Any = None) -> _results.geqrf:
    """The QR decomposition as LAPACK stores it: (a, tau)."""

def ger(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """The matrix (n, m) of products of the elements of two vectors, (n) and (m)."""

def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: Any = None,
    edge_order: builtins.int = 1,
) -> builtins.tuple[Tensor, ...]:
    """Estimates of the partial derivatives of a function sampled on a grid, one tensor per dim."""

def greater(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is greater than `other`."""

def greater_equal(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is at least `other`."""

def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
) -> Tensor:
    """grid_sample with the modes as numbers (0, 1, 2 in the order in which they are listed)."""

def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
) -> Tensor:
    """grid_sample with the modes as numbers (0, 1, 2 in the order in which they are listed)."""

def group_norm(
    input: Tensor,
    num_groups: builtins.int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
) -> Tensor: ...
def gru(*args: Any, **kwargs: Any) -> builtins.tuple[Tensor, ...]:
    """A gated recurrent network (arXiv:1406.1078) over a sequence: (output, last h)."""

def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The next state of a GRU for samples (N, features)."""

def gt(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is greater than `other`."""

def hamming_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    alpha: builtins.float = 0.54,
    beta: builtins.float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The Hamming window, alpha - beta cos(2 pi x) for x from 0 to 1; periodic: without x = 1."""

def hann_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The Hann window, 1/2 - 1/2 cos(2 pi x) for x from 0 to 1; periodic: without x = 1."""

def hardshrink(input: Tensor, lambd: builtins.float = 0.5) -> Tensor:
    """x, but 0 where |x| is at most `lambd`."""

def heaviside(input: Tensor, values: Any, *, out: Any = None) -> Tensor:
    """0 for negative input, 1 for positive, `values` at 0 and nan at nan."""

def histc(
    input: Tensor,
    bins: builtins.int = 100,
    min: builtins.float = 0,
    max: builtins.float = 0,
    *,
    out: Any = None,
) -> Tensor:
    """How many elements fall into each of equally wide bins between min and max."""

def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    out: Any = None,
) -> _results.histogram:
    """How much weight falls into each bin, and the edges of the bins: (hist, bin_edges)."""

def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
) -> _results.histogramdd:
    """How much weight of points (the rows of `input`) falls into each cell: (hist, bin_edges)."""

def hsplit(input: Tensor, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]:
    """Views of `input` along dim 1 (dim 0 of a vector): equal parts, or those between indices."""

def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The tensors side by side: along dim 1, or along dim 0 when they have only that one."""

def hypot(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """sqrt(input^2 + other^2), without overflow. The derivatives at (0, 0) are 0."""

def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""

def i0_(input: Tensor) -> Tensor:
    """In-place form of `i0`."""

def igamma(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The regularised lower incomplete gamma function of input (a) and other (x)."""

def igammac(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The regularised upper incomplete gamma function, 1 - gammainc(input, other)."""

def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view into the memory of `input`."""

def index_add(input: Tensor, *args, **kwargs) -> Any:
    """A copy of `input` with the slices of `alpha * source` added at the places `index` names."""

def index_copy(input: Tensor, *args, **kwargs) -> Any: ...
def index_fill(input: Tensor, *args, **kwargs) -> Any:
    """A copy of `input` with a value (a number or a 0-dim tensor) in the slices `index` names."""

def index_put(input: Tensor, *args, **kwargs) -> Any:
    """A copy of `input` with `values` written at (accumulate=True: added to) `input[indices]`."""

def index_put_(self, *args, **kwargs) -> Any:
    """In-place form of `index_put`."""

def index_reduce(input: Tensor, *args, **kwargs) -> Any: ...
def index_select(input: Tensor, dim: builtins.int, index: Tensor, *, out: Any = None) -> Tensor:
    """The slices of `input` along `dim` that an index vector names, as a copy."""

def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The sums of products over the last dims of both; a product where one is 0-dim."""

def inverse(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverses of square matrices A, (..., n, n)."""

def is_complex(input: Tensor) -> builtins.bool:
    """Whether the dtype is a complex one."""

def is_conj(input: Tensor) -> builtins.bool:
    """Whether a conjugate is pending: never."""

def is_floating_point(input: Tensor) -> builtins.bool:
    """Whether the dtype is a floating point one."""

def is_inference(input: Tensor) -> builtins.bool:
    """Whether the tensor was made under `inference_mode`."""

def is_nonzero(input: Tensor) -> builtins.bool:
    """Whether the one element of a tensor is not zero."""

def is_signed(input: Tensor) -> builtins.bool:
    """Whether the dtype can hold negative numbers."""

def is_tensor(obj: Any) -> builtins.bool:
    """Whether `obj` is a Tensor."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> Tensor:
    """Whether `|input - other| <= atol + rtol * |other|`, element by element."""

def isfinite(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is neither infinite nor nan."""

def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Whether each of `elements` is among `test_elements` (either may be a number)."""

def isinf(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is infinite."""

def isnan(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is nan."""

def isneginf(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is -inf."""

def isposinf(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is inf."""

def isreal(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element has no imaginary part."""

def istft(
    input: Tensor,
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
def kaiser_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    beta: builtins.float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """The Kaiser window, I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta) for x from 0 to 1."""

def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The Kronecker product: blocks of `other`, each times an element of `input`."""

def kthvalue(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> _results.kthvalue: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[builtins.int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
) -> Tensor: ...
def lcm(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The least common multiple of integers, element by element."""

def lcm_(input: Tensor, other: Any) -> Tensor:
    """In-place form of `lcm`."""

def ldexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """`input * 2 ** other`, exact and without intermediate overflow for integer `other`."""

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `ldexp`."""

def le(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is at most `other`."""

def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Any = None) -> Tensor: ...
def less(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is less than `other`."""

def less_equal(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is at most `other`."""

def lgamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def linspace(
    start: Any,
    end: Any,
    steps: builtins.int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """`steps` numbers at equal distances from `start` to `end`, both included."""

def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = ...,
    *,
    weights_only: builtins.bool = True,
) -> Any:
    """Read an object that `save` wrote."""

def lobpcg(
    A: Tensor,
    k: builtins.int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: builtins.int | None = None,
    iK: Tensor | None = None,
    niter: builtins.int | None = None,
    tol: builtins.float | None = None,
    largest: builtins.bool | None = None,
    method: builtins.str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> builtins.tuple[Tensor, Tensor]:
    """The k largest (or smallest) eigenvalues and their vectors of A x = lambda B x."""

def log(input: Tensor, *, out: Any = None) -> Tensor:
    """The natural logarithm; for complex x the branch with imaginary part in (-pi, pi]."""

def log10(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm to base 10."""

def log10_(input: Tensor) -> Tensor:
    """In-place form of `log10`."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + x), accurate near 0."""

def log1p_(input: Tensor) -> Tensor:
    """In-place form of `log1p`."""

def log2(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm to base 2."""

def log2_(input: Tensor) -> Tensor:
    """In-place form of `log2`."""

def log_(input: Tensor) -> Tensor:
    """In-place form of `log`."""

def log_softmax(
    input: Tensor,
    dim: builtins.int,
    dtype: Any = None,
    *,
    out: Any = None,
) -> Tensor:
    """log(softmax(x)) along `dim`, computed as x - logsumexp(x)."""

def logaddexp(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """log(exp(input) + exp(other)). Where both are -inf, or inf, each has derivative 1/2."""

def logaddexp2(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """log2(2^input + 2^other). Where both are -inf, or inf, each has derivative 1/2."""

def logcumsumexp(input: Tensor, dim: builtins.int, *, out: Any = None) -> Tensor:
    """The logarithm of the running sum of exponentials along `dim`, without overflow."""

def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: nan for a negative one, -inf for zero."""

def logical_and(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether both are nonzero."""

def logical_not(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether an element is zero."""

def logical_or(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether one or both are nonzero."""

def logical_xor(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether just one is nonzero."""

def logit(input: Tensor, eps: builtins.float | None = None, *, out: Any = None) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`; nan outside [0, 1]."""

def logit_(input: Tensor, eps: builtins.float | None = None) -> Tensor:
    """In-place form of `logit`."""

def logspace(
    start: Any,
    end: Any,
    steps: builtins.int | None = None,
    base: builtins.float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """`base` to the power of `steps` numbers at equal distances from `start` to `end`."""

def logsumexp(
    input: Tensor,
    dim: Any,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The logarithm of the sum of exponentials over `dim` (an int or a tuple), without overflow."""

def lstm(*args: Any, **kwargs: Any) -> builtins.tuple[Tensor, ...]: ...
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> builtins.tuple[Tensor, ...]:
    """The next (h, c) of an LSTM for samples (N, features); hx: (h, c)."""

def lt(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is less than `other`."""

def lu(A: Tensor, pivot: builtins.bool = True, get_infos: builtins.bool = False) -> Any:
    """The older form of `linalg.lu_factor_ex` (without get_infos: of its first two results)."""

def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    """The older form of `linalg.lu_solve`, with the right hand side first."""

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: builtins.bool = True,
    unpack_pivots: builtins.bool = True,
    *,
    out: Any = None,
) -> _results.lu_unpack:
    """(P, L, U) from what `linalg.lu_factor` returns; empty tensors for what is not wanted."""

def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`input` with a value (a number or a 0-dim tensor) where `mask` holds."""

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with the elements of `source`, in their order, where `mask` holds."""

def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements of `input` where `mask` holds, as a vector."""

def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The matrix product of two tensors, batched over leading dims, which broadcast."""

def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k!."""

def matrix_power(input: Tensor, n: builtins.int, *, out: Any = None) -> Tensor:
    """The n-th power of square matrices, by repeated squaring; of their inverses for negative n."""

def max(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    other: Any = None,
    out: Any = None,
) -> Any:
    """The largest element; along `dim` its (values, indices); or, given a tensor, `maximum`."""

def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of windows of (N, C, L) or (C, L)."""

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """max_pool1d() with return_indices=True."""

def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of windows of (N, C, H, W) or (C, H, W)."""

def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> Any:
    """The largest element of windows of (N, C, D, H, W) or (C, D, H, W)."""

def maximum(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The larger of two, element by element, nan where either is; a tie halves the gradient."""

def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The mean over `dim` (an int, a tuple of ints; None: all); NaN of no elements."""

def median(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Any:
    """The median of all elements, or along `dim` the (values, indices) of the medians."""

def meshgrid(*tensors: Any, indexing: builtins.str = "ij") -> builtins.tuple[Tensor, ...]:
    """Grids of coordinates from vectors, as views."""

def min(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    other: Any = None,
    out: Any = None,
) -> Any:
    """The smallest element; along `dim` its (values, indices); or, given a tensor, `minimum`."""

def minimum(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The smaller of two, element by element, nan where either is; a tie halves the gradient."""

def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """The product of two matrices, (n, k) and (k, m)."""

def mode(
    input: Tensor,
    dim: builtins.int = -1,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Any:
    """The most frequent element along `dim`: (values, indices)."""

def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """`input` with dims moved from `source` to `destination` (ints or tuples; a view)."""

def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """`input` with dims moved from `source` to `destination` (ints or tuples; a view)."""

def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in ascending order along the first dim."""

def mul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """`input * other`, element by element, with broadcasting and type promotion."""

def multinomial(
    input: Tensor,
    num_samples: builtins.int,
    replacement: builtins.bool = False,
    *,
    generator: _random.Generator | None = None,
    out: Any = None,
) -> Tensor:
    """Indices drawn with probabilities proportional to the weights in each row of `input`."""

def multiply(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """`input * other`, element by element, with broadcasting and type promotion."""

def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    """The product of a matrix (n, k) and a vector (k)."""

def mvlgamma(input: Tensor, p: builtins.int, *, out: Any = None) -> Tensor:
    """The logarithm of the p-variate gamma function."""

def nan_to_num(
    input: Tensor,
    nan: builtins.float | None = None,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`input` with nan, inf and -inf replaced, by 0 and the largest and smallest finite numbers."""

def nan_to_num_(
    input: Tensor,
    nan: builtins.float | None = None,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
) -> Tensor:
    """In-place form of `nan_to_num`."""

def nanmean(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The mean over `dim` of the elements that are not NaN."""

def nanmedian(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Any:
    """The median of the elements that are not NaN; see `median`."""

def nanquantile(
    input: Tensor,
    q: Any,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: builtins.str = "linear",
    out: Any = None,
) -> Tensor:
    """The quantiles of the elements that are not NaN; see `quantile`."""

def nansum(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The sum over `dim`, every NaN counting as zero."""

def narrow(input: Tensor, dim: builtins.int, start: Any, length: builtins.int) -> Tensor:
    """`length` places of one dim from `start` on (a view)."""

def narrow_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `narrow`, but a copy and no view."""

def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """batch_norm, and when training the means and one over the standard deviations (else empty)."""

def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: builtins.int,
    C: builtins.int,
    HxW: builtins.int,
    group: builtins.int,
    eps: builtins.float,
) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """group_norm, the means (N, group), and one over the standard deviations."""

def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[builtins.int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: builtins.float,
) -> builtins.tuple[Tensor, Tensor, Tensor]:
    """layer_norm, the mean, and one over the standard deviation."""

def ne(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` differs from `other`."""

def neg(input: Tensor, *, out: Any = None) -> Tensor: ...
def neg_(input: Tensor) -> Tensor:
    """In-place form of `neg`."""

def negative(input: Tensor, *, out: Any = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor:
    """In-place form of `negative`."""

def nextafter(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The next number of the dtype after `input` towards `other`; its derivative is 1."""

def nonzero(input: Tensor, *, as_tuple: builtins.bool = False, out: Any = None) -> Any:
    """The positions of the elements that are not zero, one a row, in order."""

def nonzero_static(
    input: Tensor,
    *,
    size: builtins.int,
    fill_value: builtins.int = -1,
    out: Any = None,
) -> Tensor:
    """The first `size` positions of elements that are not zero, filled up with `fill_value`."""

def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: builtins.bool = False,
    dtype: _dtypes.dtype | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The norm of order `p` of the elements over `dim` taken as one vector."""

def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: _random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Numbers drawn from normal distributions of the given means and standard deviations."""

def not_equal(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` differs from `other`."""

def numel(input: Tensor) -> builtins.int: ...
def ones(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of ones; arguments as for `zeros`."""

def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones in the shape and (unless given) the dtype of a tensor."""

def orgqr(A: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first n columns of the product of Householder reflections I - tau_i v_i v_i^H."""

def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: builtins.bool = True,
    transpose: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The product of `other` and the square Q that Householder reflections make."""

def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """The matrix (n, m) of products of the elements of two vectors, (n) and (m)."""

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    keepdim: builtins.bool = False,
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dim."""

def pca_lowrank(
    A: Tensor,
    q: builtins.int | None = None,
    center: builtins.bool = True,
    niter: builtins.int = 2,
) -> _results.svd:
    """`svd_lowrank` of A less the mean of its rows (if `center`): principal components in V."""

def pdist(input: Tensor, p: builtins.float = 2.0) -> Tensor:
    """The distances of order `p` between the N rows of `input` (N, M), each pair once."""

def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """`input` with its dims in another order (a view)."""

def permute_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `permute`, but a copy and no view."""

def pinverse(input: Tensor, rcond: builtins.float = 1e-15, *, out: Any = None) -> Tensor:
    """The older form of `linalg.pinv`."""

def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """(..., C * r^2, H, W) as (..., C, H * r, W * r) (arXiv:1609.05158)."""

def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """(..., C, H * r, W * r) as (..., C * r^2, H, W): pixel_shuffle's inverse."""

def poisson(input: Tensor, generator: _random.Generator | None = None) -> Tensor:
    """Counts drawn from Poisson distributions of the given rates, in their shape and dtype."""

def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """The complex tensor of absolute value `abs` and angle `angle` (in radians)."""

def polygamma(n: builtins.int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def positive(input: Tensor) -> Tensor:
    """`input` itself."""

def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """`input ** exponent`, element by element, with broadcasting and type promotion."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, else weight * x (arXiv:1502.01852)."""

def prod(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The product of all elements, or along `dim`; integers and bools multiply to int64."""

def put(input: Tensor, *args, **kwargs) -> Any:
    """A copy of `input` with `source` written (or added) at flat positions."""

def qr(input: Tensor, some: builtins.bool = True, *, out: Any = None) -> _results.qr:
    """The older form of `linalg.qr`: reduced if `some`, else complete."""

def quantile(
    input: Tensor,
    q: Any,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: builtins.str = "linear",
    out: Any = None,
) -> Tensor:
    """The quantiles `q` (a number or 1-dim tensor in [0, 1]) of all elements, or along `dim`."""

def rad2deg(input: Tensor, *, out: Any = None) -> Tensor:
    """Radians as degrees."""

def rad2deg_(input: Tensor) -> Tensor:
    """In-place form of `rad2deg`."""

def rand(
    *sizes: Any,
    size: Any = None,
    generator: _random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """Numbers drawn uniformly from 0 up to, but without, 1."""

def rand_like(
    input: Tensor,
    *,
    generator: _random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Numbers drawn uniformly from 0 to 1, in the shape and dtype of a tensor."""

def randint(
    *args: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: _random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """Integers drawn uniformly from `low` (by default 0) up to, but without, `high`."""

def randint_like(
    input: Tensor,
    *args: Any,
    low: Any = None,
    high: Any = None,
    generator: _random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from `low` to `high` - 1, in the shape and dtype of a tensor."""

def randn(
    *sizes: Any,
    size: Any = None,
    generator: _random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and variance 1; see `rand`."""

def randn_like(
    input: Tensor,
    *,
    generator: _random.Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Numbers drawn from the normal distribution, in the shape and dtype of a tensor."""

def randperm(
    n: builtins.int,
    *,
    generator: _random.Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order."""

def ravel(input: Tensor) -> Tensor:
    """`input` as one dimension; a view where possible."""

def real(input: Tensor) -> Tensor:
    """The real part, a view into the memory of `input`; a real tensor as it is."""

def reciprocal(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / x, element by element."""

def reciprocal_(input: Tensor) -> Tensor:
    """In-place form of `reciprocal`."""

def relu(input: Tensor, *, out: Any = None) -> Tensor:
    """max(x, 0), element by element. The derivative at 0 is 0, as in PyTorch."""

def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`."""

def remainder(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """What is left of `input` after division by `other`, with the sign of `other`."""

def renorm(
    input: Tensor,
    p: builtins.float,
    dim: builtins.int,
    maxnorm: builtins.float,
    *,
    out: Any = None,
) -> Tensor: ...
def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: builtins.int | None = None,
    *,
    output_size: builtins.int | None = None,
) -> Tensor:
    """`input` with each slice along `dim` repeated (without dim: each element, as a vector)."""

def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """`input` in another shape of as many elements; one size may be -1. A view where possible."""

def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give this tensor the sizes of another one, as `resize_` does."""

def resolve_conj(input: Tensor) -> Tensor:
    """`input`: conjugates are computed at once here, so that none is ever pending."""

def result_type(tensor1: Any, tensor2: Any) -> _dtypes.dtype:
    """The dtype of a sum of two tensors or numbers."""

def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[builtins.int],
    weight: Tensor | None = None,
    eps: builtins.float | None = None,
) -> Tensor: ...
def rnn_relu(*args: Any, **kwargs: Any) -> builtins.tuple[Tensor, ...]:
    """A recurrent network relu(W x + b + V h + c) over a sequence: (output, last h)."""

def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The next state relu(w_ih @ input + b_ih + w_hh @ hx + b_hh) of samples (N, features)."""

def rnn_tanh(*args: Any, **kwargs: Any) -> builtins.tuple[Tensor, ...]:
    """A recurrent network tanh(W x + b + V h + c) over a sequence: (output, last h)."""

def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """The next state tanh(w_ih @ input + b_ih + w_hh @ hx + b_hh) of samples (N, features)."""

def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """`input` rolled along dims: what leaves at the end comes in at the start."""

def rot90(input: Tensor, k: builtins.int = 1, dims: Sequence[builtins.int] = ...) -> Tensor:
    """`input` turned by k quarter turns, from the first of `dims` towards the second."""

def round(input: Tensor, *, decimals: builtins.int = 0, out: Any = None) -> Tensor:
    """Each element rounded to the nearest integer (halves to even), or to `decimals` places."""

def round_(input: Tensor, *, decimals: builtins.int = 0) -> Tensor:
    """In-place form of `round`."""

def row_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The tensors below each other: along dim 0, vectors being rows."""

def rrelu(
    input: Tensor,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
    generator: Any = None,
) -> Tensor:
    """x where positive, else x times a random slope from [lower, upper) (arXiv:1505.00853)."""

def rrelu_(
    input: Tensor,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
    generator: Any = None,
) -> Tensor:
    """In-place form of `rrelu`."""

def rsqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / sqrt(x), element by element."""

def rsqrt_(input: Tensor) -> Tensor:
    """In-place form of `rsqrt`."""

def rsub(input: Tensor, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """`other - alpha * input`."""

def save(obj: Any, f: Any, pickle_module: Any = ..., pickle_protocol: builtins.int = 5) -> None:
    """Write an object, such as a tensor or a `state_dict`, to a file."""

def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A number as a tensor without dimensions, by default in the default dtype."""

def scatter(input: Tensor, *args, **kwargs) -> Any: ...
def scatter_add(input: Tensor, *args, **kwargs) -> Any: ...
def scatter_reduce(input: Tensor, *args, **kwargs) -> Any:
    """A copy of `input` whose elements are reduced with the values of `src` scattered to them."""

def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    side: builtins.str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Where each value would be inserted into an ascending sequence, so that it stays ascending."""

def segment_reduce(
    data: Tensor,
    reduce: builtins.str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: builtins.int = 0,
    unsafe: builtins.bool = False,
    initial: Any = None,
) -> Tensor:
    """Reductions over runs of neighbouring elements of floating point `data` along `axis`."""

def select(input: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """The part of `input` at one place of one dim, without that dim (a view)."""

def select_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `select`, but a copy and no view."""

def select_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int,
    index: builtins.int,
) -> Tensor:
    """A copy of `input` with `src` in the place of `input.select(dim, index)`."""

def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor:
    """In-place form of `selu`."""

def sgn(input: Tensor, *, out: Any = None) -> Tensor:
    """The sign; of a complex number x / |x|, and 0 at 0."""

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""

def sigmoid_(input: Tensor) -> Tensor:
    """In-place form of `sigmoid`."""

def sign(input: Tensor, *, out: Any = None) -> Tensor:
    """-1, 0 or 1 by the sign of real x; nan at nan (PyTorch: 0)."""

def signbit(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether the sign bit is set: for negative numbers and for -0."""

def sin(input: Tensor, *, out: Any = None) -> Tensor:
    """The sine."""

def sin_(input: Tensor) -> Tensor:
    """In-place form of `sin`."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0, where its derivatives of every order are finite."""

def sinc_(input: Tensor) -> Tensor:
    """In-place form of `sinc`."""

def sinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic sine."""

def sinh_(input: Tensor) -> Tensor:
    """In-place form of `sinh`."""

def slice_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `slice`, but a copy and no view."""

def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int = 0,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
) -> Tensor:
    """A copy of `input` with `src` in the place of a slice of one dim."""

def slogdet(A: Tensor, *, out: Any = None) -> _results.linalg_slogdet:
    """Sign (for complex matrices: phase) and log of the absolute value of the determinants."""

def softmax(input: Tensor, dim: builtins.int, dtype: Any = None, *, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`, without overflow."""

def sort(
    input: Tensor,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = False,
    *,
    out: Any = None,
) -> _results.sort:
    """The elements in ascending order along a dim, and where they were: (values, indices)."""

def split(
    tensor: Tensor,
    split_size_or_sections: Any,
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """Views of `tensor` along one dim: of one size (the last may be smaller) or of listed sizes."""

def split_copy(input, *args, **kwargs) -> builtins.tuple[Tensor, ...]:
    """As `split`, but a copy and no view."""

def split_with_sizes(
    tensor: Tensor,
    split_sizes: Sequence[builtins.int],
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """Views of `tensor` of the listed sizes along one dim."""

def split_with_sizes_copy(input, *args, **kwargs) -> builtins.tuple[Tensor, ...]:
    """As `split_with_sizes`, but a copy and no view."""

def sqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """The (principal) square root. Its derivative at 0 is infinite."""

def sqrt_(input: Tensor) -> Tensor:
    """In-place form of `sqrt`."""

def square(input: Tensor, *, out: Any = None) -> Tensor:
    """x * x, element by element."""

def square_(input: Tensor) -> Tensor:
    """In-place form of `square`."""

def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """`input` without its dims of size one, or without those of `dim` that have size one."""

def squeeze_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `squeeze`, but a copy and no view."""

def stack(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape joined along a new dim."""

def std(
    input: Tensor,
    dim: Any = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Any = None,
) -> Tensor:
    """The standard deviation over `dim`; see `var`. Where it is 0 its gradient is taken as 0."""

def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Any = None,
) -> builtins.tuple[Tensor, Tensor]:
    """(standard deviation, mean) over `dim`; see `var`."""

def stft(
    input: Tensor,
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

def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """`input - alpha * other`, element by element, with broadcasting and type promotion."""

def subtract(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """`input - alpha * other`, element by element, with broadcasting and type promotion."""

def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: _dtypes.dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The sum over `dim` (an int, a tuple of ints; None: all); integers and bools sum to int64."""

def svd(
    input: Tensor,
    some: builtins.bool = True,
    compute_uv: builtins.bool = True,
    *,
    out: Any = None,
) -> _results.svd:
    """The older form of `linalg.svd`: (U, S, V) with input = U diag(S) V^H, reduced if `some`."""

def svd_lowrank(
    A: Tensor,
    q: builtins.int = 6,
    niter: builtins.int = 2,
    M: Tensor | None = None,
) -> _results.svd:
    """(U, S, V) with A (less M) approximately U diag(S) V^H, of rank q, by random projection."""

def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """`input` with two dims exchanged (a view); another name of `transpose`."""

def swapdims(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """`input` with two dims exchanged (a view)."""

def t(input: Tensor) -> Tensor:
    """The transpose of a tensor of at most two dims."""

def t_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `t`, but a copy and no view."""

def take(input: Tensor, index: Tensor, *, out: Any = None) -> Tensor:
    """The elements at flat positions of `input`, in the shape of `index`."""

def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: builtins.int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The elements of `input` that `indices` names along a dim, the other dims broadcast."""

def tan(input: Tensor, *, out: Any = None) -> Tensor:
    """The tangent."""

def tan_(input: Tensor) -> Tensor:
    """In-place form of `tan`."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic tangent."""

def tanh_(input: Tensor) -> Tensor:
    """In-place form of `tanh`."""

def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """A new tensor with a copy of the given numbers."""

def tensor_split(
    input: Tensor,
    indices_or_sections: Any,
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """Views of `input` along one dim: `n` nearly equal ones, or those between listed indices."""

def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """The sum of products of `a` and `b` over pairs of dims."""

def threshold(input: Tensor, threshold: builtins.float, value: builtins.float) -> Tensor: ...
def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float) -> Tensor:
    """In-place form of `threshold`."""

def tile(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """`input` laid out again and again: `dims[i]` times along each dim, counted from the last."""

def topk(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
    *,
    out: Any = None,
) -> _results.topk:
    """The k largest (or smallest) elements along a dim, and where they are: (values, indices)."""

def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""

def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """`input` with two dims exchanged (a view)."""

def transpose_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `transpose`, but a copy and no view."""

def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: Any = None,
    dim: builtins.int = -1,
) -> Tensor:
    """The integral of samples `y` along `dim` by the trapezoidal rule."""

def trapz(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: Any = None,
    dim: builtins.int = -1,
) -> Tensor:
    """The integral of samples `y` along `dim` by the trapezoidal rule."""

def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: builtins.bool = True,
    transpose: builtins.bool = False,
    unitriangular: builtins.bool = False,
    *,
    out: Any = None,
) -> _results.triangular_solve:
    """The solution of AX = input for a triangular A (of A^T X = input with transpose), and A."""

def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of matrices (the last two dims), zero above diagonal number `diagonal`."""

def tril_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: builtins.bool = False,
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: builtins.float = 1.0,
    p: builtins.float = 2,
    eps: builtins.float = 1e-06,
    swap: builtins.bool = False,
    size_average: builtins.bool | None = None,
    reduce: builtins.bool | None = None,
    reduction: builtins.str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin), in the p-norm of the last dim."""

def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of matrices (the last two dims), zero below diagonal number `diagonal`."""

def triu_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: builtins.bool = False,
) -> Tensor: ...
def true_divide(
    input: Any,
    other: Any,
    *,
    rounding_mode: builtins.str | None = None,
    out: Any = None,
) -> Tensor:
    """`input / other`, element by element; rounded with rounding_mode 'trunc' or 'floor'."""

def trunc(input: Tensor, *, out: Any = None) -> Tensor:
    """Each element without its fractional part."""

def trunc_(input: Tensor) -> Tensor:
    """In-place form of `trunc`."""

def unbind(input: Tensor, dim: builtins.int = 0) -> builtins.tuple[Tensor, ...]:
    """The parts of `input` along one dim, without that dim (views)."""

def unbind_copy(input: Tensor, *args, **kwargs) -> builtins.tuple[Tensor, ...]:
    """As `unbind`, but a copy and no view."""

def unflatten(input: Tensor, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
    """`input` with dim `dim` split into `sizes` (one may be -1)."""

def unfold_copy(input, *args, **kwargs) -> Tensor:
    """As `unfold`, but a copy and no view."""

def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """The distinct elements (with `dim`: slices) in ascending order."""

def unique_consecutive(
    input: Tensor,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """The elements (with `dim`: slices) that differ from the one before."""

def unravel_index(indices: Tensor, shape: Any) -> builtins.tuple[Tensor, ...]:
    """Flat positions in a tensor of a shape as one index tensor per dim."""

def unsafe_chunk(
    input: Tensor,
    chunks: builtins.int,
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """At most `chunks` views of equal size along one dim (the last may be smaller)."""

def unsafe_split(
    tensor: Tensor,
    split_size_or_sections: Any,
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """Views of `tensor` along one dim: of one size (the last may be smaller) or of listed sizes."""

def unsafe_split_with_sizes(
    tensor: Tensor,
    split_sizes: Sequence[builtins.int],
    dim: builtins.int = 0,
) -> builtins.tuple[Tensor, ...]:
    """Views of `tensor` of the listed sizes along one dim."""

def unsqueeze(input: Tensor, dim: builtins.int) -> Tensor:
    """`input` with a dim of size one inserted at `dim` (a view)."""

def unsqueeze_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `unsqueeze`, but a copy and no view."""

def vander(
    x: Tensor,
    N: builtins.int | None = None,
    increasing: builtins.bool = False,
) -> Tensor:
    """The powers of the elements of a vector, one row per element (a Vandermonde matrix)."""

def var(
    input: Tensor,
    dim: Any = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Any = None,
) -> Tensor:
    """The variance over `dim` (an int, a tuple of ints; None: all), real for complex inputs too."""

def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: builtins.bool | None = None,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
    out: Any = None,
) -> builtins.tuple[Tensor, Tensor]:
    """(variance, mean) over `dim`; see `var`."""

def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The sum of products of two vectors, the first one conjugated."""

def view_as_complex(input: Tensor) -> Tensor:
    """A real tensor with a last dim of size 2 (real, imaginary) as a complex one; a view."""

def view_as_complex_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `view_as_complex`, but a copy and no view."""

def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as a real one with a last dim of size 2 (real, imaginary); a view."""

def view_as_real_copy(input: Tensor, *args, **kwargs) -> Tensor:
    """As `view_as_real`, but a copy and no view."""

def view_copy(input, *args, **kwargs) -> Tensor:
    """As `view`, but a copy and no view."""

def vsplit(input: Tensor, indices_or_sections: Any) -> builtins.tuple[Tensor, ...]:
    """Views of `input` along dim 0: equal parts, or those between indices."""

def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The tensors below each other: along dim 0, vectors being rows."""

def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any: ...
def xlogy(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """input * log(other), and 0 where input is 0, with derivatives 0 where both are."""

def xlogy_(input: Tensor, other: Any) -> Tensor:
    """In-place form of `xlogy`."""

def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros, in place."""

def zeros(
    *sizes: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of zeros."""

def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: builtins.bool = False,
    requires_grad: builtins.bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros in the shape and (unless given) the dtype of a tensor."""
