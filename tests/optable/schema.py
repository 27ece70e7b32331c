"""A row of the operator table, and the factory that its samples are made with.

    register(
        Op("sum", lambda make: [sample(make(3, 4), dim=1), sample(make(0, 3)), sample(make())],
           primitives=("sum",), reference=lambda x, dim=None: np.sum(x, axis=dim), complex=True),
    )

`make` gives tensors with reproducible random elements; what it is called with is a shape, either
as separate sizes or as one tuple. The tests call a row's `samples` once per dtype they need.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optree

import tensorplay as tp
from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.kinds import PUBLIC

#: Every row by its name.
ROWS: dict[str, Op] = {}

#: What a row may skip, each with a reason: the names of the generic tests.
ASPECTS = (
    "value", "dtype", "reverse", "gradgrad", "forward", "forward_forward", "jvp_of_grad",
    "grad_of_jvp", "vmap", "vmap_ints", "vmap_empty", "vmap_reverse", "vmap_forward", "vmap_vmap",
    "layout", "empty", "zero_dim", "broadcast", "method", "inplace", "out", "float32", "complex",
    "parity", "parity_value", "parity_grad", "parity_gradgrad", "parity_jvp", "parity_vmap",
    "parity_dtype", "compose", "jet",
)  # fmt: skip


@dataclass
class Sample:
    """Arguments of one call; tensors may be nested in lists, tuples and dicts."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    note: str = ""
    constants: frozenset[int] = frozenset()
    """Positions among `tensors()` that are never differentiated."""

    def tensors(self) -> list[Tensor]:
        """Every tensor among the arguments, in order."""
        leaves = optree.tree_leaves((self.args, self.kwargs), none_is_leaf=True)
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def replaced(self, tensors: Sequence[Any]) -> Sample:
        """The same call on other tensors."""
        source = iter(tensors)
        args, kwargs = optree.tree_map(
            lambda leaf: next(source) if isinstance(leaf, Tensor) else leaf,
            (self.args, self.kwargs),
            none_is_leaf=True,
        )
        return Sample(args, kwargs, self.note, self.constants)

    def differentiable(self) -> list[int]:
        """Positions among `tensors()` that are differentiated."""
        return [
            i
            for i, x in enumerate(self.tensors())
            if is_differentiable(x) and i not in self.constants
        ]

    def arrays(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with a NumPy array (a copy) for each tensor."""
        return self.mapped(lambda x: core.array_of(x).copy())

    def mapped(self, function: Callable[[Tensor], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with each tensor replaced by `function` of it."""
        return optree.tree_map(
            lambda leaf: function(leaf) if isinstance(leaf, Tensor) else leaf,
            (self.args, self.kwargs),
            none_is_leaf=True,
        )

    def __repr__(self) -> str:
        args, kwargs = self.mapped(lambda x: _Shown(x))
        shown = [repr(a) for a in args] + [f"{k}={v!r}" for k, v in kwargs.items()]
        return f"({', '.join(shown)})" + (f"  # {self.note}" if self.note else "")


class _Shown:
    """Prints a tensor as its dtype and shape, as in f64[3, 4]."""

    def __init__(self, x: Tensor) -> None:
        self.text = f"{x.dtype.abbr}{list(x.shape)}"

    def __repr__(self) -> str:
        return self.text


def sample(*args: Any, note: str = "", **kwargs: Any) -> Sample:
    """The arguments of one call; `note` says what is special about it."""
    return Sample(args, kwargs, note)


def is_differentiable(x: Tensor) -> bool:
    """Whether x has a dtype that gradients are defined for."""
    return x.dtype.is_floating_point or x.dtype.is_complex


@dataclass
class Op:
    """One row: an operator, how to call it, and what holds for it.

    name: unique. Without `function` it says where the function is: `tensorplay.<name>`, with dots
        for namespaces (`linalg.svd`, `Tensor.expand`), or the primitive of that name. What follows
        a colon tells rows of one operator apart (`pow:zero base`).
    samples: make -> the calls.
    primitives: names of primitives in the registry that this row exercises.
    reference: the same function on NumPy arrays, or None where the comparison with PyTorch is
        the only test of the value.
    torch: PyTorch's function: a dotted name below `torch`, a callable, or None for none;
        by default the same name.
    complex, float32, gradgrad, forward, vmap: what is tested (float64 reverse mode always is where
        an output is differentiable).
    nonsmooth: the samples hold points without a derivative, so finite differences do not apply.
    random: results differ from call to call: only shapes, dtypes and determinism under a seed.
    method: True: also a method of the same name; a string: under that name; False: none.
        Default: whatever Tensor has under the name.
    inplace: also `name_` in place, of the first argument.
    out: accepts `out=`.
    results: picks what is compared and differentiated from the value (singular vectors, say, are
        defined up to a phase): result -> tensor or tuple of tensors. Default: everything.
    skip: aspect -> reason. `vmap_ints` leaves out batches of what is not differentiated (masks,
        say, where the shape of the result would differ from sample to sample).
    """

    name: str
    samples: Callable[[Make], list[Sample]]
    primitives: tuple[str, ...] = ()
    reference: Callable[..., Any] | None = None
    torch: Any = ""
    function: Any = None
    complex: bool = False
    float32: bool = True
    gradgrad: bool = True
    forward: bool = True
    vmap: bool = True
    nonsmooth: bool = False
    random: bool = False
    method: bool | str | None = None
    inplace: bool = False
    out: bool = False
    results: Callable[[Any], Any] | None = None
    atol: float | None = None
    rtol: float | None = None
    skip: dict[str, str] = field(default_factory=dict)
    family: str = ""

    @property
    def path(self) -> str:
        """The dotted public name: the row's name without what tells rows apart."""
        return self.name.split(":")[0].strip()

    @functools.cached_property
    def call(self) -> Callable[..., Any]:
        """The function."""
        if callable(self.function):
            return self.function
        return find_function(self.function or self.path)

    def run(self, one: Sample) -> Any:
        """Call on a sample, with `results` applied."""
        value = self.call(*one.args, **one.kwargs)
        return value if self.results is None else self.results(value)

    def make(self, dtype: Any = dtypes.float64) -> list[Sample]:
        """The samples in a dtype, the same ones at each call."""
        maker = Make(dtype, zlib.crc32(self.name.encode()))
        made = []
        for one in self.samples(maker):
            fixed = [i for i, x in enumerate(one.tensors()) if id(x) in maker.constants]
            made.append(Sample(one.args, one.kwargs, one.note, frozenset(fixed)))
        return made

    def __repr__(self) -> str:
        return self.name


def find_function(path: str) -> Callable[..., Any]:
    """`tensorplay.<path>`, or else what is registered under that public or primitive name.

    Raises:
        LookupError: if there is no such function.
    """
    found: Any = tp
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            break
    if found is None:
        namespace, _, name = path.rpartition(".")
        found = PUBLIC.get((namespace, name))
    if found is None and path.startswith("Tensor."):
        found = getattr(Tensor, path.removeprefix("Tensor."), None)
    if found is None:
        found = core.registry.get(path)
    if found is None:
        raise LookupError(f"no function, method or primitive of tensorplay is named '{path}'")
    return found


def register(*rows: Op) -> None:
    """Add rows to the table.

    Raises:
        ValueError: for a name that is taken, or a skip that is unknown or has no reason.
    """
    for row in rows:
        if row.name in ROWS:
            raise ValueError(f"the operator table has two rows named '{row.name}'")
        for aspect, reason in row.skip.items():
            if aspect not in ASPECTS:
                raise ValueError(f"'{row.name}' skips '{aspect}', which is none of {ASPECTS}")
            if not isinstance(reason, str) or len(reason) < 10:
                raise ValueError(f"'{row.name}' must say why it skips '{aspect}'")
        if not row.family:
            row.family = getattr(row.samples, "__module__", "").rpartition(".")[2]
        ROWS[row.name] = row


def rows(predicate: Callable[[Op], bool] = lambda row: True) -> Iterator[Op]:
    """The rows for which `predicate` holds, in order of registration."""
    return (row for row in ROWS.values() if predicate(row))


class Make:
    """Makes the tensors of samples, of one dtype, reproducibly.

    Elements are uniform in [low, high) (real and imaginary part alike), by default [-2, 2), and
    kept away from small integers and halves, where many functions are not smooth.
    """

    def __init__(self, dtype: Any, seed: int = 0) -> None:
        self.dtype = dtype
        self.rng = np.random.default_rng(seed)
        self.spread = 0.0
        self.constants: dict[int, Tensor] = {}  # id -> the tensor, kept so that ids stay unique

    def __call__(self, *shape: Any, low: float = -2.0, high: float = 2.0) -> Tensor:
        """A random tensor."""
        return self._tensor(self._uniform(_shape(shape), low, high))

    def positive(self, *shape: Any, low: float = 0.3, high: float = 2.0) -> Tensor:
        """Positive elements (complex: in the right half plane), away from 0."""
        size = _shape(shape)
        values = self.rng.uniform(low, high, size)
        if self.dtype.is_complex:
            values = values + 1j * self.rng.uniform(-0.5, 0.5, size)
        return self._tensor(values)

    def distinct(self, *shape: Any, low: float = -2.0, high: float = 2.0) -> Tensor:
        """All elements different, evenly spread from low to high in random order."""
        size = _shape(shape)
        count = math.prod(size)
        self.spread = (self.spread + 0.618) % 1  # no value is shared by two tensors either
        shift = 0.2 + 0.6 * self.spread
        values = low + (high - low) * (self.rng.permutation(count) + shift) / max(count, 1)
        values = values.reshape(size)
        if self.dtype.is_complex:
            values = values + 1j * self.rng.uniform(-1, 1, size)
        return self._tensor(values)

    def fixed(self, values: Any) -> Tensor:
        """Exactly these values, in this dtype."""
        return self._tensor(np.array(values))

    def real(self, *shape: Any, low: float = -2.0, high: float = 2.0) -> Tensor:
        """As calling, but real also where the dtype is complex."""
        values = Make(self.real_dtype, int(self.rng.integers(2**31)))
        return values(*shape, low=low, high=high)

    @property
    def real_dtype(self) -> Any:
        """The dtype of a real part."""
        return self.dtype.to_real()

    def constant(self, x: Any) -> Tensor:
        """`x` (a tensor, or values) as an argument that is not differentiated."""
        tensor = x if isinstance(x, Tensor) else self.fixed(x)
        self.constants[id(tensor)] = tensor
        return tensor

    def spd(self, *shape: Any) -> Tensor:
        """Positive definite (Hermitian) matrices of this shape; spd(n) is one n x n matrix."""
        size = _square(_shape(shape))
        a = self._normal(size)
        n = size[-1]
        return self._tensor(a @ _adjoint(a) / max(n, 1) + np.eye(n))

    def symmetric(self, *shape: Any) -> Tensor:
        """Symmetric (Hermitian) matrices with well separated eigenvalues."""
        size = _square(_shape(shape))
        q = self._unitary(size)
        eigenvalues = np.linspace(-2, 2.5, size[-1]) if size[-1] else np.zeros(0)
        return self._tensor((q * eigenvalues) @ _adjoint(q))

    def invertible(self, *shape: Any) -> Tensor:
        """Well-conditioned square matrices with distinct eigenvalues and singular values."""
        size = _square(_shape(shape))
        n = size[-1]
        values = np.linspace(0.8, 2.4, n) if n else np.zeros(0)
        return self._tensor((self._unitary(size) * values) @ self._unitary(size))

    def full_rank(self, *shape: Any) -> Tensor:
        """Matrices of any shape with distinct singular values away from 0."""
        *batch, m, n = _shape(shape)
        k = min(m, n)
        u = self._unitary((*batch, m, m))[..., :, :k]
        v = self._unitary((*batch, n, n))[..., :k, :]
        values = np.linspace(0.8, 2.4, k) if k else np.zeros(0)
        return self._tensor((u * values) @ v)

    def int(self, shape: Any, low: int = -5, high: int = 6, dtype: Any = None) -> Tensor:
        """Random integers in [low, high), int64 by default."""
        values = self.rng.integers(low, high, _shape((shape,)))
        return core.from_array(values.astype((dtype or dtypes.int64).numpy))

    def bool(self, shape: Any) -> Tensor:
        """Random bools, some of each where there are two elements."""
        values = self.rng.random(_shape((shape,))) < 0.5
        if values.size > 1:
            values.flat[0], values.flat[-1] = True, False
        return core.from_array(values)

    def index(self, shape: Any, size: int, unique: bool = False, negative: bool = False) -> Tensor:
        """Random int64 indices into a dim of `size`; unique: no repeats along the last dim."""
        wanted = _shape((shape,))
        if unique:
            count = math.prod(wanted[:-1])
            picks = [self.rng.permutation(size)[: wanted[-1]] for _ in range(count)]
            values = np.array(picks, np.int64).reshape(wanted)
        else:
            values = self.rng.integers(0, max(size, 1), wanted)
        if negative:
            values = np.where(self.rng.random(wanted) < 0.5, values - size, values)
        return core.from_array(np.asarray(values, np.int64))

    def _tensor(self, values: Any) -> Tensor:
        values = np.asarray(values)
        if values.dtype.kind == "c" and not self.dtype.is_complex:
            raise TypeError(f"complex values for a sample in {self.dtype}")
        if self.dtype.category < dtypes.FLOAT and not np.isfinite(values).all():
            raise ValueError(f"infinite or missing values for a sample in {self.dtype}")
        return core.from_array(np.array(values, dtype=self.dtype.numpy, order="C"))

    def _uniform(self, size: tuple[Any, ...], low: float, high: float) -> np.ndarray:
        values = self.rng.uniform(low, high, size)
        if high - low > 0.5:
            # Away from the multiples of 1/2, still all different and within the bounds.
            nearest = np.round(values * 2) / 2
            distance = np.abs(values - nearest)
            sign = np.where(values < nearest, -1, 1)
            sign = np.where(nearest + 0.06 >= high, -1, np.where(nearest - 0.06 <= low, 1, sign))
            values = np.where(distance < 0.03, nearest + sign * (0.03 + distance), values)
        if self.dtype.is_complex:
            values = values + 1j * self.rng.uniform(low, high, size)
        return values

    def _normal(self, size: tuple[Any, ...]) -> np.ndarray:
        values = self.rng.standard_normal(size)
        if self.dtype.is_complex:
            values = values + 1j * self.rng.standard_normal(size)
        return values

    def _unitary(self, size: tuple[Any, ...]) -> np.ndarray:
        if math.prod(size) == 0:
            return np.zeros(size)
        return np.linalg.qr(self._normal(size))[0]


def _shape(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return tuple(sizes[0])
    return tuple(sizes)


def _square(size: tuple[Any, ...]) -> tuple[Any, ...]:
    return (size[0], size[0]) if len(size) == 1 else size


def _adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))
