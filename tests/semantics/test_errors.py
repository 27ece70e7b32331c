"""Bad input: PyTorch's type of exception, a message that helps, and nothing left half-done."""

import warnings

import numpy as np
import pytest

import tensorplay as tp

from .support import assert_close, beyond_torch, const, leaf, raises

F = tp.nn.functional


def index(*values):
    return tp.tensor(values, dtype=tp.int64)


def bad(name, call, *mentions, error=RuntimeError, id=None):
    """A row of a table: who complains, about what call, and what the message must mention."""
    names = (name,) if isinstance(name, str) else name
    return pytest.param(call, error, names, mentions, id=id or names[0])


# Each call is given a of shape (2, 3), b of shape (4,), m of shape (3, 5), v of shape (3,) and
# t of shape (2, 3, 4): leaves that require grad.
SHAPES = [
    bad("add", lambda a, b, m, v, t: a + b, (2, 3), (4,)),
    bad("sub", lambda a, b, m, v, t: a - b, (2, 3), (4,)),
    bad("mul", lambda a, b, m, v, t: a * m, (2, 3), (3, 5)),
    bad("div", lambda a, b, m, v, t: tp.div(a, b), (2, 3), (4,)),
    bad("pow", lambda a, b, m, v, t: a**b, (2, 3), (4,)),
    bad("maximum", lambda a, b, m, v, t: tp.maximum(a, b), (2, 3), (4,)),
    bad("atan2", lambda a, b, m, v, t: tp.atan2(a, b), (2, 3), (4,)),
    bad("where", lambda a, b, m, v, t: tp.where(a > 0, a, b), (2, 3), (4,)),
    bad(("lt", "less"), lambda a, b, m, v, t: a < b, (2, 3), (4,)),
    bad(("matmul", "mm"), lambda a, b, m, v, t: a @ a, (2, 3), id="matmul"),
    bad("mm", lambda a, b, m, v, t: tp.mm(m, a), (3, 5), (2, 3)),
    bad("mm", lambda a, b, m, v, t: tp.mm(v, m), (3,), id="mm of a vector"),
    bad("mv", lambda a, b, m, v, t: tp.mv(a, b), (2, 3), (4,)),
    bad("bmm", lambda a, b, m, v, t: tp.bmm(t, t), (2, 3, 4)),
    bad("bmm", lambda a, b, m, v, t: tp.bmm(a, m), (2, 3), id="bmm of matrices"),
    bad("dot", lambda a, b, m, v, t: tp.dot(v, b), (3,), (4,)),
    bad("dot", lambda a, b, m, v, t: tp.dot(a, v), (2, 3), id="dot of a matrix"),
    bad("matmul", lambda a, b, m, v, t: t @ m, (2, 3, 4), (3, 5), id="matmul of a batch"),
    bad("outer", lambda a, b, m, v, t: tp.outer(a, v), (2, 3)),
    bad("einsum", lambda a, b, m, v, t: tp.einsum("ij,jk->ik", a, a), "j", "2", "3"),
    bad("einsum", lambda a, b, m, v, t: tp.einsum("ij->ik", a), "k", id="einsum of no label"),
    bad("tensordot", lambda a, b, m, v, t: tp.tensordot(a, a, 1), (2, 3)),
    bad("linear", lambda a, b, m, v, t: F.linear(a, m), (2, 3), (3, 5)),
    bad("view", lambda a, b, m, v, t: a.view(4), (4,), (2, 3)),
    bad("reshape", lambda a, b, m, v, t: a.reshape(-1, 4), (-1, 4), (2, 3)),
    bad("reshape", lambda a, b, m, v, t: a.reshape(-1, -1), (-1, -1), id="reshape twice -1"),
    bad("expand", lambda a, b, m, v, t: a.expand(2, 4), (2, 4), (2, 3)),
    bad("expand", lambda a, b, m, v, t: a.expand(3), (3,), (2, 3), id="expand to fewer"),
    bad("broadcast_to", lambda a, b, m, v, t: tp.broadcast_to(a, (2, 4)), (2, 4), (2, 3)),
    bad("cat", lambda a, b, m, v, t: tp.cat([a, m]), "tensors", (2, 3), (3, 5)),
    bad("stack", lambda a, b, m, v, t: tp.stack([v, b]), "tensors", (3,), (4,)),
    bad("permute", lambda a, b, m, v, t: a.permute(0), "dims", (2, 3)),
    bad("permute", lambda a, b, m, v, t: a.permute(0, 0), "dims", id="permute twice the same"),
    bad("flatten", lambda a, b, m, v, t: a.flatten(1, 0), "start_dim", "end_dim"),
    bad("split", lambda a, b, m, v, t: a.split([1, 2]), "2", (2, 3)),
    bad("chunk", lambda a, b, m, v, t: a.chunk(0), "chunks"),
    bad("topk", lambda a, b, m, v, t: a.topk(4), "k", "4", (2, 3)),
    bad("repeat", lambda a, b, m, v, t: a.repeat(2), (2, 3)),
    bad("tril", lambda a, b, m, v, t: v.tril(), (3,)),
    bad("diag", lambda a, b, m, v, t: t.diag(), (2, 3, 4)),
    bad("sum", lambda a, b, m, v, t: a.sum(dim=(0, 0)), "dim"),
    bad("gather", lambda a, b, m, v, t: a.gather(1, index(0)), (2, 3), (1,)),
    bad("scatter_add", lambda a, b, m, v, t: v.scatter_add(0, index(0, 0, 0, 0), v), (4,), (3,)),
    bad("masked_fill", lambda a, b, m, v, t: a.masked_fill(b > 0, 0.0), "mask", (2, 3), (4,)),
    bad("pad", lambda a, b, m, v, t: F.pad(a, (1,)), "pad"),
    bad("pad", lambda a, b, m, v, t: F.pad(v, (1, 1, 1, 1)), "pad", (3,), id="pad too many"),
    bad("max", lambda a, b, m, v, t: v[:0].max(), (0,)),
    bad(
        "cross_entropy",
        lambda a, b, m, v, t: F.cross_entropy(a, index(0, 1, 2)),
        "target",
        (2, 3),
        (3,),
        error=ValueError,
    ),
    bad(
        "cross_entropy",
        lambda a, b, m, v, t: F.cross_entropy(a, index(0, 3)),
        "target",
        "3",
        error=IndexError,
        id="cross_entropy of a class that is not there",
    ),
]

DIMENSIONS = [
    bad(name, lambda a, b, m, v, t, f=call: f(a), "dim", value, (2, 3), error=IndexError)
    for name, value, call in [
        ("sum", "2", lambda a: a.sum(2)),
        ("mean", "-3", lambda a: a.mean(-3)),
        ("prod", "2", lambda a: a.prod(2)),
        ("max", "2", lambda a: a.max(2)),
        ("amax", "2", lambda a: a.amax(2)),
        ("argmax", "2", lambda a: a.argmax(2)),
        ("cumsum", "2", lambda a: a.cumsum(2)),
        ("logsumexp", "2", lambda a: a.logsumexp(2)),
        ("softmax", "2", lambda a: a.softmax(2)),
        ("log_softmax", "2", lambda a: a.log_softmax(2)),
        ("transpose", "2", lambda a: a.transpose(0, 2)),
        ("squeeze", "2", lambda a: a.squeeze(2)),
        ("unsqueeze", "3", lambda a: a.unsqueeze(3)),
        ("flip", "2", lambda a: a.flip(2)),
        ("roll", "2", lambda a: a.roll(1, 2)),
        ("cat", "2", lambda a: tp.cat([a, a], dim=2)),
        ("stack", "3", lambda a: tp.stack([a, a], dim=3)),
        ("unbind", "2", lambda a: a.unbind(2)),
        ("split", "2", lambda a: a.split(1, dim=2)),
        ("sort", "2", lambda a: a.sort(2)),
        ("topk", "2", lambda a: a.topk(1, dim=2)),
        ("diagonal", "2", lambda a: a.diagonal(0, 0, 2)),
        ("index_select", "2", lambda a: a.index_select(2, index(0))),
        ("gather", "2", lambda a: a.gather(2, index(0, 0)[None])),
    ]
]

DTYPES = [
    bad(
        ("matmul", "mm"),
        lambda a, b, m, v, t: a @ m.float(),
        "float32",
        "float64",
        id="matmul",
    ),
    bad("dot", lambda a, b, m, v, t: tp.dot(v, v.float()), "float32", "float64"),
    bad("mean", lambda a, b, m, v, t: a.long().mean(), "int64"),
    bad(("var", "std"), lambda a, b, m, v, t: a.bool().var(), "bool"),
    bad("softmax", lambda a, b, m, v, t: a.long().softmax(0), "int64"),
    bad("sub", lambda a, b, m, v, t: (a > 0) - (a > 1), "bool"),
    bad("neg", lambda a, b, m, v, t: -(a > 0), "bool"),
    bad(("lt", "less"), lambda a, b, m, v, t: (a * 1j) < 0, "complex128"),
    bad("max", lambda a, b, m, v, t: (a * 1j).max(), "complex128"),
    bad("clamp", lambda a, b, m, v, t: (a * 1j).clamp(0), "complex128"),
    bad("floor", lambda a, b, m, v, t: (a * 1j).floor(), "complex128"),
    bad("sort", lambda a, b, m, v, t: (a * 1j).sort(), "complex128"),
    bad("masked_fill", lambda a, b, m, v, t: a.masked_fill(a, 0.0), "mask", "float64"),
    bad("gather", lambda a, b, m, v, t: a.gather(0, a), "index", "float64"),
    bad("index_select", lambda a, b, m, v, t: a.index_select(0, v), "index", "float64"),
    bad("take_along_dim", lambda a, b, m, v, t: a.take_along_dim(a, 0), "indices", "float64"),
    bad(
        "scatter_add",
        lambda a, b, m, v, t: v.scatter_add(0, index(0), v.float()),
        "src",
        "float32",
        "float64",
    ),
    bad("cross_entropy", lambda a, b, m, v, t: F.cross_entropy(a, v[:2]), "target", "float64"),
]

TYPES = [
    bad("exp", lambda a, b, m, v, t: tp.exp("a"), "input", "str", error=TypeError),
    bad("sum", lambda a, b, m, v, t: tp.sum([1, 2]), "input", "list", error=TypeError),
    bad("add", lambda a, b, m, v, t: tp.add(a, "a"), "other", "str", error=TypeError),
    bad("sum", lambda a, b, m, v, t: a.sum(dim=0.5), "dim", "float", error=TypeError, id="dim"),
    bad("cat", lambda a, b, m, v, t: tp.cat(a), "tensors", error=TypeError),
    bad("cat", lambda a, b, m, v, t: tp.cat([a, 1]), "tensors", "int", error=TypeError, id="item"),
    bad("reshape", lambda a, b, m, v, t: a.reshape("a"), "shape", "str", error=TypeError),
    bad("arange", lambda a, b, m, v, t: tp.arange("a"), "end", "str", error=TypeError),
    bad("cat", lambda a, b, m, v, t: tp.cat([]), "tensors", error=ValueError, id="empty cat"),
    bad("stack", lambda a, b, m, v, t: tp.stack([]), "tensors", id="empty stack"),
    bad("clamp", lambda a, b, m, v, t: a.clamp(), "min", "max"),
]


@pytest.mark.parametrize(
    ("call", "error", "names", "mentions"), SHAPES + DIMENSIONS + DTYPES + TYPES
)
def test_an_operator_refuses(call, error, names, mentions):
    shapes = [(2, 3), (4,), (3, 5), (3,), (2, 3, 4)]
    inputs = [leaf(np.arange(1.0, np.prod(shape) + 1).reshape(shape)) for shape in shapes]
    with raises(error, names, mentions):
        call(*inputs)
    for x in inputs:
        assert x.is_leaf
        assert x.grad is None
        assert x._version == 0
        (x * x).sum().backward()
        assert_close(x.grad, 2 * x.detach().numpy())


class TestInPlace:
    @pytest.mark.parametrize(
        ("name", "call", "mentions"),
        [
            ("add_", lambda x: x.add_(const([1.0, 2.0, 3.0])), [(2,), (3,)]),
            ("mul_", lambda x: x.mul_(tp.ones(2, 2, dtype=tp.float64)), [(2,), (2, 2)]),
            ("add_", lambda x: x.add_(1j), ["float64", "complex"]),
            ("copy_", lambda x: x.copy_(const([1.0, 2.0, 3.0])), [(2,), (3,)]),
            ("masked_fill_", lambda x: x.masked_fill_(x, 0.0), ["mask", "float64"]),
        ],
        ids="a_shape a_larger_shape a_dtype copy_ masked_fill_".split(),
    )
    def test_neither_values_nor_history_change(self, name, call, mentions):
        x = leaf([1.0, 2.0])
        y = x * x
        made_by = y.grad_fn.name()
        with raises(RuntimeError, name, mentions):
            call(y)
        assert_close(y, [1.0, 4.0])
        assert y._version == 0
        assert y.grad_fn.name() == made_by
        (y * y).sum().backward()
        assert_close(x.grad, [4.0, 32.0])

    def test_an_integer_tensor_does_not_become_a_float_one(self):
        x = tp.tensor([1, 2])
        with raises(RuntimeError, "exp_", ["int64", "float32"]):
            x.exp_()
        assert x.tolist() == [1, 2]
        assert x._version == 0

    def test_out_of_a_wrong_dtype_is_not_written(self):
        out = tp.zeros(2, dtype=tp.int64)
        with raises(RuntimeError, "add", ["out", "int64"]):
            tp.add(tp.ones(2), tp.ones(2), out=out)
        assert out.tolist() == [0, 0]
        assert out._version == 0

    def test_out_does_not_record(self):
        x, out = leaf([1.0, 2.0]), tp.zeros(2, dtype=tp.float64)
        with raises(RuntimeError, "add", ["out", "grad"]):
            tp.add(x, x, out=out)
        assert out.tolist() == [0.0, 0.0]
        assert not out.requires_grad


class TestANonScalarWithoutAVector:
    def test_backward(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with raises(RuntimeError, "backward", ["grad_tensors", (2,)]):
            y.backward()
        assert x.grad is None
        y.backward(const([1.0, 1.0]))  # and nothing was freed
        assert_close(x.grad, [2.0, 4.0])

    def test_grad(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with raises(RuntimeError, "grad", ["grad_outputs", (2,)]):
            tp.autograd.grad(y, x)
        assert_close(tp.autograd.grad(y, x, const([1.0, 1.0]))[0], [2.0, 4.0])

    def test_an_empty_tensor_is_no_scalar_either(self):
        x = leaf([])
        with raises(RuntimeError, "backward", ["grad_tensors", (0,)]):
            (x * x).backward()


class TestAGraphUsedTwice:
    def test_backward(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        y.backward()
        for _ in range(2):
            with raises(RuntimeError, "backward", ["retain_graph=True"]):
                y.backward()
        assert_close(x.grad, [2.0, 4.0])

    def test_grad(self):
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        tp.autograd.grad(y, x)
        with raises(RuntimeError, "grad", ["retain_graph=True"]):
            tp.autograd.grad(y, x)
        assert x.grad is None

    @beyond_torch  # where the leaf that comes first in the order of the engine has its gradient
    def test_a_half_freed_graph_gives_no_leaf_a_gradient(self):
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        freed = (w * w).sum()
        freed.backward()
        w.grad = None
        with raises(RuntimeError, "backward", ["retain_graph=True"]):
            (freed + (x * x).sum()).backward()
        assert x.grad is None
        assert w.grad is None

    def test_the_values_computed_before_are_still_there(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y.sum().backward()
        with pytest.raises(RuntimeError):
            y.sum().backward()
        assert_close(y, [1.0, 4.0])
        assert y.requires_grad


class TestAnUnusedInput:
    def test_the_message_names_it_and_the_way_out(self):
        x, unused = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        with raises(RuntimeError, "grad", ["inputs", "1", "allow_unused=True"]):
            tp.autograd.grad((x * x).sum(), [x, unused])
        assert x.grad is None
        assert unused.grad is None


class TestAChangedSavedTensor:
    def test_the_message_names_the_operation_and_the_versions(self):
        x = leaf([1.0, 2.0])
        y = x.exp()
        y.add_(1)
        with raises(RuntimeError, "backward", [(2,), "version 1", "version 0"]):
            y.sum().backward()
        assert x.grad is None
        assert y._version == 1

    def test_undoing_the_change_by_hand_does_not_help(self):
        x = leaf([1.0, 2.0])
        y = x.exp()
        y.add_(1)
        y.sub_(1)
        with raises(RuntimeError, "backward", ["version 2"]):
            y.sum().backward()

    def test_other_parts_of_the_graph_still_run(self):
        x = leaf([1.0, 2.0])
        y = x * 1
        spoiled, sound = (y * y).sum(), (x * 3).sum()
        y.add_(1)
        with pytest.raises(RuntimeError):
            spoiled.backward()
        sound.backward()
        assert_close(x.grad, [3.0, 3.0])


class TestAnIntegerTensorAskedToRequireGrad:
    @pytest.mark.parametrize(
        ("name", "make"),
        [
            ("tensor", lambda: tp.tensor([1, 2], requires_grad=True)),
            ("zeros", lambda: tp.zeros(2, dtype=tp.int32, requires_grad=True)),
            ("ones_like", lambda: tp.ones_like(index(1), requires_grad=True)),
            ("arange", lambda: tp.arange(3, requires_grad=True)),
            ("requires_grad_", lambda: index(1, 2).requires_grad_()),
        ],
    )
    def test_it_stays_as_it_is(self, name, make):
        with raises(RuntimeError, name, ["requires_grad", "int"]):
            make()

    def test_a_parameter_of_integers(self):
        with raises(RuntimeError, ("Parameter", "requires_grad_"), ["int64"]):
            tp.nn.Parameter(index(1, 2))


class TestWrongInDims:
    @pytest.mark.parametrize("in_dims", [2, -3, "0", (0, 0), None, (None,)])
    def test_the_message_names_it_and_nothing_runs(self, in_dims):
        calls = []
        with raises(ValueError, "vmap", ["in_dim"]):
            tp.vmap(calls.append, in_dims=in_dims)(tp.ones(2, 3))
        assert calls == []
        assert_close(tp.vmap(tp.sum)(tp.ones(2, 3)), [3.0, 3.0])  # no level was left open


class TestHooks:
    def test_a_tensor_without_gradient_takes_none(self):
        with raises(RuntimeError, "register_hook", ["requires_grad"]):
            const([1.0]).register_hook(print)

    def test_a_gradient_of_another_shape_is_refused(self):
        x = leaf([1.0, 2.0])
        y = x * 2
        y.register_hook(lambda grad: const([1.0, 2.0, 3.0]))
        with raises(RuntimeError, ("backward", "register_hook", "hook")):
            y.sum().backward()
        assert x.grad is None


class TestOrdinaryMathematicsDoesNotWarn:
    @pytest.mark.parametrize(
        "compute",
        [
            lambda: const([1.0, -1.0, 0.0]) / 0,
            lambda: const([0.0, -1.0]).log(),
            lambda: const([-1.0]).sqrt(),
            lambda: const([1000.0]).exp(),
            lambda: const([0.0]) ** -1,
            lambda: tp.tensor([127], dtype=tp.int8) + 1,
            lambda: const([float("inf")]) - float("inf"),
            lambda: tp.zeros(0).mean(),
            lambda: const([float("nan")]).max(),
            lambda: const([1e300]).float(),
            lambda: tp.zeros(2, dtype=tp.float64) @ const([float("inf"), 1.0]),
        ],
    )
    def test_it_has_values_like_nan_and_inf(self, compute):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert isinstance(compute(), tp.Tensor)

    def test_nor_does_its_gradient(self):
        x = leaf([0.0, -1.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (x.sqrt() + x.log() + 1 / x).sum().backward()
        assert not np.isfinite(x.grad.numpy()).all()
