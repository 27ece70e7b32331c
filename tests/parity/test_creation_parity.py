"""Creation, conversion and the Python protocol do what PyTorch does: same calls, same answers.

A case is written for a module `m`, which is tensorplay or torch. The answers must agree in kind:
tensors in dtype, shape and elements; other values by equality; errors in type.
"""

import array
import copy
import io
import pickle

import numpy as np
import pytest
import torch

import tensorplay as tp
from tests.parity.bridge import their_dtype

ERRORS = (NotImplementedError, RuntimeError, IndexError, ValueError, TypeError, BufferError)


def comparable(value):
    """What two answers are compared by."""
    if isinstance(value, (tp.Tensor, torch.Tensor)):
        dtype = their_dtype(value.dtype) if isinstance(value, tp.Tensor) else value.dtype
        value = value.detach()
        if dtype == torch.bfloat16:
            value = value.float()
        return str(dtype), tuple(value.shape), value.numpy().tolist()
    if isinstance(value, (tp.dtype, torch.dtype, tp.device, torch.device)):
        return str(value).removeprefix("tensorplay.").removeprefix("torch.")
    if isinstance(value, str):
        return value.replace("tensorplay.", "torch.")
    if isinstance(value, (tuple, list)):
        return [comparable(item) for item in value]
    return value


def outcome(case, module):
    """The answer, or the type of the error."""
    try:
        return comparable(case(module))
    except Exception as error:
        return next(
            kind
            for kind in ERRORS
            if isinstance(error, kind)
        )


def same(a, b):
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, complex) and isinstance(b, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-6 * abs(b) + 1e-7
    return a == b


DATA = [
    "3", "2.5", "True", "1j", "[]", "[[], []]", "[[[]]]", "[1, 2]", "[1, 2.5]", "[True, 2]",
    "[True, False]", "[1j, 2]", "(1, (2))", "[[1, 2], [3, 4]]", "((1, 2), [3, 4.5])", "range(4)",
    "[[1, 2], [3]]", "[1, [2]]", "[[1], 2]", "'a'", "['a']", "None", "[None]", "{}", "{1}",
    "b'ab'", "bytearray(b'ab')", "object()", "2 ** 63", "[2 ** 64]", "-2 ** 63", "10 ** 400",
    "float('nan')", "[float('inf'), 1]", "np.float64(1)", "np.float32(1)", "np.int16(3)",
    "np.bool_(True)", "np.complex64(1j)", "[np.float64(1)]", "[np.float32(1), 2]",
    "[np.int16(1), 2.5]", "np.arange(3)", "np.ones((2, 0))", "np.float16([1, 2])", "np.array(5)",
    "np.array(['a'])", "np.array([1, None])", "[np.array([1, 2]), np.array([1.5, 2])]",
    "[1, np.array(2.5)]", "np.arange(6).reshape(2, 3).T", "array.array('d', [1, 2])",
    "[m.tensor(1.0), m.tensor(2)]", "[m.tensor([1.0])]", "[m.tensor(1.0, dtype=m.float64), 2]",
    "np.array([1, 2], dtype=np.uint16)", "np.array([1, 2], dtype=np.uint64)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", DATA)
def test_tensor_of(data):
    def case(m):
        return m.tensor(eval(data, {"np": np, "array": array, "m": m}))

    mine, theirs = outcome(case, tp), outcome(case, torch)
    if data in ("['a']", "10 ** 400"):  # TypeError says more than PyTorch's ValueError
        assert isinstance(mine, type)
        assert isinstance(theirs, type)
        return
    assert same(mine, theirs), (mine, theirs)


CONVERTED = ["300", "-1", "-300", "2.7", "-2.7", "1e20", "float('nan')", "True", "1j", "0j", "0.0",
             "70000", "1e300", "2 ** 40", "2 ** 63", "2 ** 70", "[300, 1]", "[1, 2.5]", "[]",
             "np.array([300, -1])", "np.array([2.7, -2.7])", "np.array([1 + 2j])"]  # fmt: skip
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("data", CONVERTED)
def test_tensor_in_a_dtype(data, dtype):
    def case(m):
        return m.tensor(eval(data, {"np": np}), dtype=getattr(m, dtype))

    mine, theirs = outcome(case, tp), outcome(case, torch)
    if isinstance(mine, type) and isinstance(theirs, type):
        return  # out of range: of which type the error is differs from dtype to dtype in PyTorch
    assert same(mine, theirs), (mine, theirs)


CREATION = [
    lambda m: m.zeros(2, 3), lambda m: m.zeros((2, 3)), lambda m: m.zeros([2]), lambda m: m.zeros(()),
    lambda m: m.zeros(), lambda m: m.zeros(None), lambda m: m.zeros(2.5), lambda m: m.zeros("a"),
    lambda m: m.zeros(size=(2,)), lambda m: m.zeros(m.tensor(2)), lambda m: m.zeros(2, dtype="f"),
    lambda m: m.zeros(2, -1), lambda m: m.zeros(2, device="foo"), lambda m: m.zeros(2, device="cpu"),
    lambda m: m.zeros(2, dtype=float), lambda m: m.zeros(2, dtype=int),
    lambda m: m.zeros(2, out=m.ones(2)), lambda m: m.zeros(2, out=m.ones(2, dtype=m.int64)),
    lambda m: m.zeros(2, out=m.ones(2, dtype=m.int64), dtype=m.float32),
    lambda m: m.zeros(2, dtype=m.int64, requires_grad=True), lambda m: m.ones(2, dtype=m.bool),
    lambda m: m.full((2,), 3), lambda m: m.full((2,), 3.0), lambda m: m.full((2,), True),
    lambda m: m.full((2,), 1j), lambda m: m.full(2, 3), lambda m: m.full((2,), "a"),
    lambda m: m.full((2,), m.tensor(3.0)), lambda m: m.full((2,), 3, dtype=m.float16),
    lambda m: m.full((2,), 300, dtype=m.uint8), lambda m: m.full((2,), 2.5, dtype=m.int32),
    lambda m: m.full((2,), 1j, dtype=m.float32), lambda m: m.full((2,), 3, out=m.empty(2)),
    lambda m: m.full((), float("nan")), lambda m: m.full_like(m.ones(2), 3),
    lambda m: m.full_like(m.ones(2, dtype=m.int64), 2.5), lambda m: m.ones_like([1]),
    lambda m: m.zeros_like(m.ones(2, 3), dtype=m.int8), lambda m: m.zeros_like(m.ones(4, 2).t()).stride(),
    lambda m: m.empty_like(m.ones(2, 3)).shape == (2, 3),
    lambda m: m.ones(2).new_zeros(3), lambda m: m.ones(2).new_zeros((3, 1)),
    lambda m: m.ones(2).new_ones(3, dtype=m.int64), lambda m: m.ones(2).new_full((3,), 7),
    lambda m: m.ones(2).new_full((3,), m.tensor(7)), lambda m: m.ones(2).new_tensor([1, 2]),
    lambda m: m.ones(2).new_empty(3).shape == (3,), lambda m: m.ones(2, dtype=m.int8).new_tensor(2.5),
    lambda m: m.scalar_tensor(5), lambda m: m.scalar_tensor(True, dtype=m.bool),
    lambda m: m.empty_strided((2, 3), (1, 2)).stride(), lambda m: m.empty_strided((2, 3), (1,)),
    lambda m: m.as_tensor([1, 2]), lambda m: m.as_tensor(np.arange(2), dtype=m.float32),
    lambda m: m.as_tensor(m.ones(2), dtype=m.float64), lambda m: m.as_tensor(2.5),
    lambda m: m.asarray([1, 2]), lambda m: m.asarray(np.arange(2), dtype=m.float32),
    lambda m: m.asarray(np.arange(2), dtype=m.float32, copy=False), lambda m: m.asarray(3),
    lambda m: m.asarray(bytearray(b"ab"), dtype=m.uint8), lambda m: m.asarray(m.ones(2), copy=True),
    lambda m: m.asarray(m.ones(2), requires_grad=True).requires_grad,
    lambda m: m.asarray([1], requires_grad=True),
    lambda m: m.frombuffer(bytearray(b"abcd"), dtype=m.uint8),
    lambda m: m.frombuffer(bytearray(b"abcd"), dtype=m.int16, offset=2),
    lambda m: m.frombuffer(bytearray(b"abcd"), dtype=m.uint8, count=2, offset=1),
    lambda m: m.frombuffer(bytearray(b"abc"), dtype=m.int16),
    lambda m: m.frombuffer(bytearray(b""), dtype=m.int16),
    lambda m: m.frombuffer(bytearray(b"ab"), dtype=m.int16, count=5),
    lambda m: m.from_numpy([1]), lambda m: m.from_numpy(np.array(["a"])),
    lambda m: m.from_numpy(np.arange(2, dtype=">i4")), lambda m: m.from_numpy(np.array(3)),
    lambda m: m.from_dlpack(np.arange(3)), lambda m: m.from_dlpack(3),
    lambda m: m.from_dlpack(m.arange(3).__dlpack__()),
    lambda m: m.eye(2), lambda m: m.eye(2, 3), lambda m: m.eye(0), lambda m: m.eye(-1),
    lambda m: m.eye(2, dtype=m.int64), lambda m: m.eye(2, -1), lambda m: m.eye(2, out=m.ones(2, 2)),
    lambda m: m.tril_indices(3, 3), lambda m: m.tril_indices(3, 2, 1), lambda m: m.tril_indices(0, 3),
    lambda m: m.tril_indices(3, 4, -1), lambda m: m.triu_indices(3, 4, -1), lambda m: m.triu_indices(2, 2, 5),
    lambda m: m.tril_indices(-1, 3), lambda m: m.triu_indices(2, 3, dtype=m.int32),
]  # fmt: skip
RANGES = [
    "4", "4.0", "1, 4", "1, 4.0", "5, 0, -2", "0", "1, 2, 0.25", "True", "3, dtype=m.float64",
    "0, 2.5, dtype=m.int64", "0.5, 5, 1.5, dtype=m.int32", "1, 5, -1", "1, 5, 0", "-3", "5, 5",
    "start=1, end=6, step=2", "end=3", "float('inf')", "float('nan')", "0, 1, 0.1", "m.tensor(3)",
    "1j", "'a'", "3, out=m.empty(3)", "3, out=m.empty(3, dtype=m.int64)", "3, requires_grad=True",
    "3.0, requires_grad=True", "10, 0, -3", "-1, 1, 0.3", "0, 1, 1 / 3", "3, dtype=m.bfloat16",
]  # fmt: skip
SPACED = [
    "0, 1, 5", "1, -1, 3", "3, 10, 1", "3, 10, 0", "3, 10, -1", "0, 10, 5, dtype=m.int64",
    "0, 7, 4, dtype=m.int32", "0, 1j, 3", "0, 1, 3, dtype=m.float64", "m.tensor(0.0), 1, 3",
    "0, 1", "0, 1, 2.5", "-1, 1, 7", "0, 1, 4, out=m.empty(4)", "1, 2, steps=2",
]  # fmt: skip


def ranges(name, texts):
    for text in texts:
        yield pytest.param(
            lambda m, text=text: eval(f"m.{name}({text})", {"m": m}), id=f"{name}({text})"
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "case",
    [
        *[pytest.param(case, id=str(i)) for i, case in enumerate(CREATION)],
        *ranges("arange", RANGES),
        *ranges("linspace", SPACED),
        *ranges("logspace", SPACED),
        *ranges("logspace", ["0, 3, 4, 2", "0, 2, 3, base=2.0", "0, 2, 3, dtype=m.int64"]),
    ],
)
def test_creation(case):
    mine, theirs = outcome(case, tp), outcome(case, torch)
    assert same(mine, theirs), (mine, theirs)


def saved(value):
    stream = io.BytesIO()
    pickle.dump(value, stream)
    return pickle.loads(stream.getvalue())


def leaf(m):
    return m.tensor([1.0, 2.0], requires_grad=True)


PROTOCOL = [
    lambda m: m.tensor([[2.5]]).item(), lambda m: m.ones(2).item(), lambda m: m.ones(0).item(),
    lambda m: m.tensor([[1, 2]]).tolist(), lambda m: m.tensor(1.5).tolist(),
    lambda m: m.tensor([1.5], dtype=m.bfloat16).tolist(), lambda m: m.tensor(1.5, dtype=m.bfloat16).item(),
    lambda m: float(m.tensor([2.5])), lambda m: int(m.tensor(2.7)), lambda m: int(m.tensor(-2.7)),
    lambda m: complex(m.tensor(1j)), lambda m: complex(m.tensor(2.0)), lambda m: float(m.tensor(1j)),
    lambda m: float(m.tensor(1 + 0j)), lambda m: int(m.tensor(float("nan"))), lambda m: float(m.ones(2)),
    lambda m: int(m.tensor(True)), lambda m: bool(m.tensor([])), lambda m: bool(m.tensor([0.0])),
    lambda m: bool(m.ones(2)), lambda m: "abc"[m.tensor(1)], lambda m: "abc"[m.tensor(1.0)],
    lambda m: "abc"[m.tensor([2])], lambda m: "abc"[m.tensor(True)], lambda m: "abc"[m.ones(2).long()],
    lambda m: len(m.ones(3, 2)), lambda m: len(m.tensor(1)), lambda m: [x.item() for x in m.arange(3)],
    lambda m: list(m.tensor(1)), lambda m: 2.0 in m.arange(4), lambda m: 7 in m.arange(4),
    lambda m: m.tensor(2) in m.arange(4), lambda m: "a" in m.arange(4), lambda m: None in m.arange(4),
    lambda m: list(reversed(m.arange(3))), lambda m: reversed(m.tensor(3)),
    lambda m: f"{m.tensor(3.14159):.2f}", lambda m: f"{m.tensor(3)}", lambda m: f"{m.ones(2)}",
    lambda m: f"{m.ones(2):.2f}", lambda m: f"{m.ones(()):>8}", lambda m: str(m.ones(2) * 2),
    lambda m: repr(leaf(m)), lambda m: repr(leaf(m) * 2), lambda m: repr(leaf(m).detach()),
    lambda m: repr(m.zeros(2, 0)), lambda m: repr(m.tensor(1j)),
    lambda m: m.ones(2, 3).size(), lambda m: m.ones(2, 3).size(1), lambda m: m.ones(2, 3).size(-1),
    lambda m: m.ones(2, 3).size(2), lambda m: m.ones(2, 3).stride(), lambda m: m.ones(2, 3).stride(0),
    lambda m: m.ones(2, 3).t().stride(), lambda m: m.ones(2, 3).stride(5), lambda m: m.ones(()).stride(),
    lambda m: m.ones(2, 3).numel(), lambda m: m.numel(m.ones(2, 0)), lambda m: m.ones(2, 3).nelement(),
    lambda m: m.ones(2, 3).dim(), lambda m: m.ones(2, 3).ndimension(), lambda m: m.ones(2, 3).shape.numel(),
    lambda m: m.ones(2, 3).element_size(), lambda m: m.ones(2, 3).nbytes, lambda m: m.ones(2).itemsize,
    lambda m: m.ones(4, 2)[1:].storage_offset(), lambda m: m.ones(4, 2)[1:, 1].storage_offset(),
    lambda m: m.ones(2, 3).is_contiguous(), lambda m: m.ones(2, 3).t().is_contiguous(),
    lambda m: m.ones(1, 3).t().is_contiguous(), lambda m: m.ones(0, 3).t().is_contiguous(),
    lambda m: m.ones(1, 2, 3, 4).is_contiguous(memory_format=m.channels_last),
    lambda m: m.ones(1, 2, 3, 4).permute(0, 3, 1, 2).is_contiguous(memory_format=m.channels_last),
    lambda m: m.ones(2).device, lambda m: m.ones(2).is_cpu, lambda m: m.ones(2).is_cuda,
    lambda m: str(m.ones(2).layout), lambda m: m.ones(2).type(), lambda m: m.ones(2).type(m.int64),
    lambda m: m.ones(2).type(f"{m.__name__}.DoubleTensor"), lambda m: m.ones(2).type("foo"),
    lambda m: m.ones(2).long().type(), lambda m: m.ones(2).type_as(m.ones(1).double()),
    lambda m: m.ones(2).to(m.float64), lambda m: m.ones(2).to("cpu"),
    lambda m: m.ones(2).to("cpu", m.int32), lambda m: m.ones(2).to(m.ones(1).double()),
    lambda m: m.ones(2).to(device="cpu", dtype=m.int8), lambda m: m.ones(2).to(None, m.int8),
    lambda m: m.ones(2).to(dtype=m.int8, copy=True), lambda m: m.ones(2).to("foo"),
    lambda m: m.ones(2).to(m.int8, m.int8), lambda m: m.ones(2).to(foo=1), lambda m: m.ones(2).to(float),
    lambda m: m.is_floating_point(m.ones(2)), lambda m: m.is_complex(m.ones(2)), lambda m: m.ones(2).is_signed(),
    lambda m: m.tensor([1], dtype=m.uint8).is_signed(), lambda m: m.is_tensor(3), lambda m: m.is_nonzero(m.ones(2)),
    lambda m: m.is_nonzero(m.tensor([0.0])), lambda m: m.equal(m.ones(2), m.ones(2)),
    lambda m: m.equal(m.ones(2), m.ones(3)), lambda m: m.equal(m.ones(2), m.zeros(2)), lambda m: m.equal(m.ones(2), 1),
    lambda m: m.allclose(m.ones(2), m.ones(2) + 1e-7), lambda m: m.allclose(m.ones(2), m.ones(2) + 1e-3),
    lambda m: m.allclose(m.tensor(float("nan")), m.tensor(float("nan"))),
    lambda m: m.allclose(m.tensor(float("nan")), m.tensor(float("nan")), equal_nan=True),
    lambda m: m.allclose(m.ones(2), m.ones(2).double()), lambda m: m.allclose(m.ones(2), m.ones(2), rtol=-1),
    lambda m: m.result_type(m.ones(2), 1j), lambda m: m.result_type(m.arange(2), 1.0), lambda m: m.result_type(1, 2.5),
    lambda m: m.result_type(m.tensor(1.0).double(), m.ones(2)), lambda m: m.can_cast(m.int8, m.float16),
    lambda m: m.promote_types(m.int8, m.float16), lambda m: m.promote_types(m.uint16, m.int8),
    lambda m: m.ones(2).fill_(3), lambda m: m.ones(2).fill_(m.tensor(3)), lambda m: m.ones(2).fill_(m.ones(1)),
    lambda m: m.ones(2).fill_(1j), lambda m: m.ones(2).long().fill_(2.5), lambda m: m.fill(m.ones(2), 3),
    lambda m: m.ones(2).zero_(), lambda m: m.ones(2, 3).copy_(m.arange(3)), lambda m: m.ones(3).copy_(m.ones(2, 3)),
    lambda m: m.ones(2).copy_(m.ones(3)), lambda m: m.ones(2).copy_(1), lambda m: m.ones(2).long().copy_(m.tensor([1.9, -1.9])),
    lambda m: copy.copy(leaf(m)).requires_grad, lambda m: copy.deepcopy(leaf(m)), lambda m: copy.deepcopy(leaf(m) * 2),
    lambda m: saved(leaf(m)).requires_grad, lambda m: saved(m.arange(6).reshape(2, 3).t()), lambda m: saved(m.ones(2).bfloat16()),
    lambda m: leaf(m).data.requires_grad, lambda m: (leaf(m) * 2).detach_().is_leaf, lambda m: (leaf(m) * 2).retain_grad(),
    lambda m: m.ones(2).retain_grad(), lambda m: leaf(m).view(2, 1).detach_(), lambda m: m.ones(2).long().requires_grad_(),
    lambda m: (leaf(m) * 2).requires_grad_(False), lambda m: leaf(m).numpy(), lambda m: leaf(m).numpy(force=True).tolist(),
    lambda m: np.asarray(m.ones(2)).tolist(), lambda m: np.asarray(leaf(m)), lambda m: np.exp(m.zeros(2)),
    lambda m: m.ones(2).register_hook(print), lambda m: leaf(m).register_post_accumulate_grad_hook(print) is None,
    lambda m: (leaf(m) * 2).register_post_accumulate_grad_hook(print), lambda m: m.ones(2).__dlpack_device__()[1],
    lambda m: leaf(m).__dlpack__(), lambda m: m.finfo(m.bfloat16).max, lambda m: m.iinfo(m.uint8).max,
    lambda m: m.finfo(m.int8), lambda m: m.device("cpu"), lambda m: m.device("cpu", 0), lambda m: m.device("foo"),
    lambda m: m.device("cpu:0") == m.device("cpu", 0), lambda m: repr(m.device("cpu")), lambda m: m.device(1.5),
    lambda m: str(m.strided), lambda m: str(m.preserve_format), lambda m: m.ones(2).is_same_size(m.ones(2)),
    lambda m: m.Size([2, 3])[1:], lambda m: m.Size([2, 3]).numel(), lambda m: str(m.Size([2, 3])),
    lambda m: m.clone(m.ones(2)), lambda m: m.ones(2, 3).t().clone().stride(), lambda m: m.ones(2).output_nr,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [pytest.param(c, id=str(i)) for i, c in enumerate(PROTOCOL)])
def test_protocol(case):
    mine, theirs = outcome(case, tp), outcome(case, torch)
    assert same(mine, theirs), (mine, theirs)


DRAWS = [
    lambda m: m.rand(2, 3), lambda m: m.rand((2, 3), dtype=m.float16), lambda m: m.rand(2, dtype=m.int64),
    lambda m: m.randn(2, dtype=m.complex64), lambda m: m.randn(2, dtype=m.int64), lambda m: m.randn(()),
    lambda m: m.randint(5, (2,)), lambda m: m.randint(2, 5, (2,)), lambda m: m.randint(5, 5, (2,)),
    lambda m: m.randint(5, (2,), dtype=m.float32), lambda m: m.randint(0, 300, (2,), dtype=m.uint8),
    lambda m: m.randint(5), lambda m: m.randint(low=2, high=5, size=(2,)), lambda m: m.randperm(4),
    lambda m: m.randperm(-1), lambda m: m.randperm(4, dtype=m.int32), lambda m: m.rand_like(m.ones(2, 3)),
    lambda m: m.rand_like(m.ones(2).long()), lambda m: m.randn_like(m.ones(2, dtype=m.float64)),
    lambda m: m.randint_like(m.ones(2), 5), lambda m: m.randint_like(m.ones(2), 2, 5),
    lambda m: m.normal(0.0, 1.0, (2,)), lambda m: m.normal(0.0, -1.0, (2,)), lambda m: m.normal(0.0, 1.0),
    lambda m: m.normal(m.ones(2), 1.0), lambda m: m.normal(1.0, m.ones(2)), lambda m: m.normal(m.ones(2), m.ones(3, 1)),
    lambda m: m.normal(m.ones(2), -m.ones(2)), lambda m: m.normal(m.arange(2), 1.0), lambda m: m.normal(m.ones(2).double(), m.ones(2)),
    lambda m: m.bernoulli(m.rand(3)), lambda m: m.bernoulli(m.tensor([1])), lambda m: m.bernoulli(m.tensor([1.5])),
    lambda m: m.bernoulli(m.rand(3), 0.3), lambda m: m.poisson(m.rand(3) * 9), lambda m: m.poisson(-m.rand(3)),
    lambda m: m.poisson(m.tensor([1])), lambda m: m.binomial(m.tensor([3.0]), m.tensor([0.5])),
    lambda m: m.binomial(m.tensor([3]), m.tensor([0.5])), lambda m: m.multinomial(m.rand(4), 2),
    lambda m: m.multinomial(m.rand(3, 4), 6, True), lambda m: m.multinomial(m.rand(3, 4), 6), lambda m: m.multinomial(m.zeros(3), 1),
    lambda m: m.multinomial(-m.rand(4), 2), lambda m: m.multinomial(m.rand(2, 3, 4), 2), lambda m: m.multinomial(m.rand(4), 0),
    lambda m: m.multinomial(m.arange(4), 1), lambda m: m.ones(3).uniform_(2, 1), lambda m: m.ones(3).uniform_(2, 3),
    lambda m: m.ones(3).normal_(0, -1), lambda m: m.ones(3).exponential_(-1), lambda m: m.ones(3).bernoulli_(2.0),
    lambda m: m.ones(3).random_(5, 2), lambda m: m.ones(3).cauchy_(0, -1), lambda m: m.ones(3).geometric_(1.5),
    lambda m: m.ones(3).geometric_(1.0), lambda m: m.ones(3).log_normal_(0, -1), lambda m: m.ones(3).long().uniform_(),
    lambda m: m.ones(3).long().normal_(), lambda m: m.ones(3).long().geometric_(0.5), lambda m: m.ones(3).bool().random_(),
    lambda m: m.ones(3).int().bernoulli_(0.5), lambda m: m.ones(3).bernoulli_(m.ones(3)), lambda m: leaf(m).uniform_(),
    lambda m: (leaf(m) * 1).uniform_().requires_grad, lambda m: m.bernoulli(leaf(m) / 2).requires_grad,
    lambda m: m.normal(leaf(m), 1.0).requires_grad, lambda m: m.rand(2, requires_grad=True).requires_grad,
    lambda m: m.rand(2, out=m.empty(2)), lambda m: m.Generator().manual_seed(3).initial_seed(),
    lambda m: m.Generator("cuda:7") and None, lambda m: m.Generator().get_state().dtype, lambda m: m.get_rng_state().dtype,
    lambda m: m.Generator().set_state(m.ones(3)) and None, lambda m: m.rand(2, generator=3), lambda m: m.manual_seed(4).initial_seed(),
    lambda m: m.initial_seed(), lambda m: m.Generator().device, lambda m: m.manual_seed("a") and None,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [pytest.param(c, id=str(i)) for i, c in enumerate(DRAWS)])
def test_draws_agree_in_all_but_their_numbers(case):
    for module in (tp, torch):
        module.manual_seed(5)

    def shown(m):
        drawn = case(m)
        return m.zeros_like(drawn) if isinstance(drawn, m.Tensor) else drawn

    mine, theirs = outcome(shown, tp), outcome(shown, torch)
    assert same(mine, theirs), (mine, theirs)
