"""A tensor as a Python object: printing, conversion, copies, interchange, and its attributes."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp

from .support import assert_close, assert_tensor, beyond_torch, const, leaf, raises

NAME = tp.__name__
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


class TestPrinting:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (5, "tensor(5)"),
            (5.0, "tensor(5.)"),
            (3.14159, "tensor(3.1416)"),
            (True, "tensor(True)"),
            (1e10, "tensor(1.0000e+10)"),
            (1 + 2j, "tensor(1.+2.j)"),
            ([], "tensor([])"),
            ([1, 2, 30], "tensor([ 1,  2, 30])"),
            ([-1, 20], "tensor([-1, 20])"),
            ([True, False], "tensor([ True, False])"),
            ([1.0, 2.0], "tensor([1., 2.])"),
            ([1.0, 1000.0], "tensor([   1., 1000.])"),
            ([-1.0, 0.5], "tensor([-1.0000,  0.5000])"),
            ([6.309, 4.6742, 7.91138, 8.2106], "tensor([6.3090, 4.6742, 7.9114, 8.2106])"),
            ([0.001, 1.0], "tensor([0.0010, 1.0000])"),
            ([1e-5, 1e5], "tensor([1.0000e-05, 1.0000e+05])"),
            ([1e8, 2e8], "tensor([1.0000e+08, 2.0000e+08])"),
            ([float("nan"), float("inf"), -float("inf")], "tensor([nan, inf, -inf])"),
            ([1.5, float("inf")], "tensor([1.5000,    inf])"),
            ([1 + 2j, 3 - 1j], "tensor([1.+2.j, 3.-1.j])"),
            ([[1.0, -2.0], [100.0, 0.5]], "tensor([[  1.0000,  -2.0000],\n"
             "        [100.0000,   0.5000]])"),
            ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "tensor([[[1, 2],\n"
             "         [3, 4]],\n"
             "\n"
             "        [[5, 6],\n"
             "         [7, 8]]])"),
        ],
    )  # fmt: skip
    def test_numbers(self, data, text):
        assert repr(tp.tensor(data)) == text
        assert str(tp.tensor(data)) == text

    def test_lines_end_before_the_eightieth_column(self):
        assert repr(tp.arange(20.0)) == (
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19.])"
        )

    def test_long_tensors_are_summarised(self):
        text = "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
        assert repr(tp.arange(2000)) == text
        rows = ",\n        ".join(["[0., 0.]"] * 3)
        text = f"tensor([{rows},\n        ...,\n        {rows}])"
        assert repr(tp.zeros(1001, 2)) == text

    def test_a_size_that_cannot_be_seen_is_named(self):
        assert repr(tp.zeros(0, 3)) == "tensor([], size=(0, 3))"

    def test_a_dtype_that_cannot_be_seen_is_named(self):
        assert repr(const([1.0, 2.0])) == f"tensor([1., 2.], dtype={NAME}.float64)"
        assert repr(tp.tensor([1], dtype=tp.int32)) == f"tensor([1], dtype={NAME}.int32)"
        assert (
            repr(tp.tensor([1.5], dtype=tp.bfloat16)) == f"tensor([1.5000], dtype={NAME}.bfloat16)"
        )
        assert repr(tp.zeros(0, dtype=tp.int64)) == f"tensor([], dtype={NAME}.int64)"

    def test_a_leaf_that_requires_grad(self):
        x = tp.tensor([1.0, 2.0], requires_grad=True)
        assert repr(x) == "tensor([1., 2.], requires_grad=True)"

    def test_the_operation_that_made_it(self):
        x = tp.tensor([1.0, 2.0], requires_grad=True)
        assert repr(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
        y = x * 1
        y[0].mul_(2)
        assert repr(y) == "tensor([2., 2.], grad_fn=<CopySlices>)"

    def test_dtype_and_operation_together(self):
        text = f"tensor(3., dtype={NAME}.float64, grad_fn=<SumBackward0>)"
        assert repr(leaf([1.0, 2.0]).sum()) == text

    def test_format(self):
        assert f"{tp.tensor(3.14159):.2f}" == "3.14"
        assert f"{tp.tensor([1.0, 2.0])}" == "tensor([1., 2.])"


class TestNamesOfOperations:
    def test_a_leaf_has_none(self):
        assert leaf([1.0]).grad_fn is None
        assert (const([1.0]) * 2).grad_fn is None

    @pytest.mark.parametrize(
        ("name", "operation"),
        [
            ("AddBackward0", lambda x: x + 1),
            ("SubBackward0", lambda x: x - 1),
            ("MulBackward0", lambda x: x * x),
            ("DivBackward0", lambda x: x / 2),
            ("NegBackward0", lambda x: -x),
            ("PowBackward0", lambda x: x**2),
            ("ExpBackward0", lambda x: x.exp()),
            ("LogBackward0", lambda x: x.log()),
            ("SqrtBackward0", lambda x: x.sqrt()),
            ("TanhBackward0", lambda x: x.tanh()),
            ("SigmoidBackward0", lambda x: x.sigmoid()),
            ("ReluBackward0", lambda x: x.relu()),
            ("SumBackward0", lambda x: x.sum()),
            ("SumBackward1", lambda x: x.sum(dim=0)),
            ("MeanBackward0", lambda x: x.mean()),
            ("MmBackward0", lambda x: x[None] @ x[:, None]),
            ("DotBackward0", lambda x: x @ x),
            ("ViewBackward0", lambda x: x.view(3, 1)),
            ("TransposeBackward0", lambda x: x[None].transpose(0, 1)),
            ("SelectBackward0", lambda x: x[0]),
            ("SliceBackward0", lambda x: x[1:]),
            ("IndexBackward0", lambda x: x[tp.tensor([0])]),
            ("CatBackward0", lambda x: tp.cat([x, x])),
            ("StackBackward0", lambda x: tp.stack([x, x])),
            ("SoftmaxBackward0", lambda x: x.softmax(0)),
            ("CloneBackward0", lambda x: x.clone()),
            ("WhereBackward0", lambda x: tp.where(x > 1, x, -x)),
        ],
    )
    def test_they_are_those_of_pytorch(self, name, operation):
        assert operation(leaf([1.0, 2.0, 3.0])).grad_fn.name() == name


class TestPythonNumbers:
    @pytest.mark.parametrize("value", [True, 3, 2.5, 1 + 2j])
    def test_item_is_a_python_number(self, value):
        number = tp.tensor(value).item()
        assert type(number) is type(value)
        assert number == value
        assert tp.tensor([[value]]).item() == value

    @pytest.mark.parametrize("size", [0, 3])
    def test_item_wants_exactly_one_element(self, size):
        with raises(RuntimeError, "item", [(size,)]):
            tp.zeros(size).item()

    def test_tolist_nests_like_the_tensor(self):
        assert tp.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
        assert tp.tensor(2.5).tolist() == 2.5
        assert tp.tensor([True]).tolist() == [True]
        assert tp.zeros(2, 0).tolist() == [[], []]
        assert type(tp.tensor([1.0]).tolist()[0]) is float

    def test_a_tensor_of_one_element_converts(self):
        assert float(tp.tensor([2.5])) == 2.5
        assert int(tp.tensor(2.7)) == 2
        assert complex(tp.tensor(1j)) == 1j
        assert ["a", "b", "c"][tp.tensor(1)] == "b"

    def test_no_other_does(self):
        with pytest.raises((ValueError, RuntimeError)):
            float(tp.tensor([1.0, 2.0]))
        with pytest.raises(TypeError):
            ["a", "b"][tp.tensor(1.0)]

    @pytest.mark.parametrize("value", [0, 1, 0.0, 0.5, True, False, 1j])
    def test_truth_of_one_element(self, value):
        assert bool(tp.tensor(value)) is bool(value)
        assert bool(tp.tensor([[value]])) is bool(value)

    @pytest.mark.parametrize("data", [[], [1.0, 2.0]])
    def test_truth_of_none_or_several_is_an_error(self, data):
        with raises(RuntimeError, ("bool", "__bool__"), [(len(data),)]):
            bool(tp.tensor(data))

    @pytest.mark.filterwarnings("ignore:Converting a tensor")  # PyTorch's advice to detach
    def test_they_read_tensors_that_require_grad(self):
        x = leaf([1.5])
        assert x.item() == float(x) == 1.5
        assert x.tolist() == [1.5]
        assert bool(x)


class TestSequenceProtocol:
    def test_len_is_the_first_size(self):
        assert len(tp.zeros(3, 2)) == 3
        with raises(TypeError):
            len(tp.tensor(1.0))

    def test_iteration_gives_views_along_the_first_dimension(self):
        x = const([[1.0, 2.0], [3.0, 4.0]])
        rows = list(x)
        assert_close(rows[1], [3.0, 4.0])
        rows[0].zero_()
        assert_close(x, [[0.0, 0.0], [3.0, 4.0]])

    def test_unpacking_and_gradients(self):
        x = leaf([2.0, 3.0])
        a, b = x
        (a * b).backward()
        assert_close(x.grad, [3.0, 2.0])

    def test_a_tensor_without_dimensions_does_not_iterate(self):
        with raises(TypeError):
            iter(tp.tensor(1.0))

    def test_in_compares_elements(self):
        x = tp.tensor([1.0, 2.0])
        assert 2.0 in x
        assert 5.0 not in x


class TestIdentityAndComparison:
    def test_equality_is_elementwise(self):
        assert_tensor(tp.tensor([1, 2]) == tp.tensor([1, 3]), [True, False], tp.bool)
        assert_tensor(tp.tensor([1, 2]) != 2, [True, False], tp.bool)

    def test_a_tensor_does_not_equal_none(self):
        x = tp.tensor([1, 2])
        assert (x == None) is False  # noqa: E711
        assert (x != None) is True  # noqa: E711

    def test_the_hash_is_that_of_the_object(self):
        x, y = tp.tensor([1.0]), tp.tensor([1.0])
        table = {x: "x", y: "y"}
        assert table[x] == "x"
        assert table[y] == "y"
        assert len({x, y, x}) == 2

    def test_operators_with_foreign_objects_are_type_errors(self):
        for other in ("a", None, object()):
            with pytest.raises(TypeError):
                tp.ones(2) + other
            with pytest.raises(TypeError):
                other * tp.ones(2)


class TestSizes:
    def test_shape_is_a_tuple(self):
        x = tp.zeros(2, 3)
        assert isinstance(x.shape, tuple)
        assert x.shape == (2, 3) == x.size()
        assert x.size(-1) == 3
        assert x.shape[0] == 2

    def test_dimensions_and_elements(self):
        x = tp.zeros(2, 3, 4)
        assert x.dim() == x.ndim == 3
        assert x.numel() == x.nelement() == 24
        assert tp.tensor(1.0).numel() == 1

    def test_strides_count_elements(self):
        x = tp.zeros(2, 3)
        assert tuple(x.stride()) == (3, 1)
        assert tuple(x.transpose(0, 1).stride()) == (1, 3)


class TestNumPy:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_numpy_keeps_dtype_and_shares_memory(self, dtype):
        x = tp.zeros(2, dtype=getattr(tp, dtype))
        a = x.numpy()
        assert a.dtype == dtype
        a[0] = 1
        x[1] = 1
        assert_close(x, [1, 1])
        assert_close(a, [1, 1])

    def test_numpy_keeps_strides(self):
        x = tp.arange(6).reshape(2, 3).transpose(0, 1)
        a = x.numpy()
        a[0, 1] = 100
        assert x[0, 1].item() == 100

    def test_numpy_refuses_a_tensor_that_requires_grad(self):
        x = leaf([1.0])
        with raises(RuntimeError, "numpy", ["detach"]):
            x.numpy()
        with pytest.raises(RuntimeError):
            np.asarray(x)
        assert_close(x.detach().numpy(), [1.0])

    def test_asarray_shares_memory(self):
        x = tp.zeros(2)
        np.asarray(x)[0] = 5
        assert_close(x, [5.0, 0.0])

    @pytest.mark.filterwarnings("ignore:__array__ implementation")  # PyTorch's, of NumPy 1
    def test_array_takes_a_dtype_and_copies(self):
        x = tp.ones(2)
        a = np.array(x, dtype=np.float64)
        a[0] = 5
        assert a.dtype == np.float64
        assert_close(x, [1.0, 1.0])

    @beyond_torch
    def test_the_array_protocol_is_that_of_numpy_2(self):
        x = tp.ones(2)
        np.array(x, copy=False)[0] = 5
        assert_close(x, [5.0, 1.0])
        np.array(x, copy=True)[0] = 7
        assert_close(x, [5.0, 1.0])
        with pytest.raises(ValueError):
            np.array(x, dtype=np.float64, copy=False)

    def test_functions_of_numpy_take_tensors(self):
        assert np.linalg.norm(np.asarray(tp.tensor([3.0, 4.0]))) == 5.0
        assert_close(np.concatenate([tp.ones(1), tp.zeros(1)]), [1.0, 0.0])

    @beyond_torch  # where most of these are TypeErrors
    @pytest.mark.parametrize(
        ("operation", "expected"),
        [
            (lambda a, t: a + t, [4.0, 5.0]),
            (lambda a, t: a - t, [2.0, 1.0]),
            (lambda a, t: a * t, [3.0, 6.0]),
            (lambda a, t: a / t, [3.0, 1.5]),
            (lambda a, t: a**t, [3.0, 9.0]),
            (lambda a, t: a // t, [3.0, 1.0]),
            (lambda a, t: a % t, [0.0, 1.0]),
            (lambda a, t: a @ t, 9.0),
            (lambda a, t: a > t, [True, True]),
            (lambda a, t: a == t, [False, False]),
        ],
        ids="+ - * / ** // % @ > ==".split(),
    )
    def test_an_array_on_the_left_gives_a_tensor(self, operation, expected):
        result = operation(np.full(2, 3.0), const([1.0, 2.0]))
        assert_tensor(result, expected)

    @beyond_torch
    def test_an_array_beside_a_leaf_keeps_the_graph(self):
        x = leaf([1.0, 2.0])
        (np.array([3.0, 4.0]) * x + x * np.array([10.0, 10.0])).sum().backward()
        assert_close(x.grad, [13.0, 14.0])

    @beyond_torch
    def test_an_array_counts_as_a_tensor_for_the_dtype(self):
        assert (np.ones(2) * tp.ones(2)).dtype == tp.float64
        assert (tp.ones(2) * np.ones(2)).dtype == tp.float64

    def test_a_scalar_of_numpy_counts_as_a_number(self):
        for result in (np.float64(3.0) * tp.ones(2), tp.ones(2) * np.float64(3.0)):
            assert_tensor(result, [3.0, 3.0], tp.float32)


class TestDLPack:
    def test_numpy_reads_a_tensor_without_copying(self):
        x = tp.tensor([1.0, 2.0])
        a = np.from_dlpack(x)
        x[0] = 5.0
        assert_close(a, [5.0, 2.0])

    def test_a_tensor_reads_an_array_without_copying(self):
        a = np.array([1.0, 2.0])
        x = tp.from_dlpack(a)
        a[0] = 5.0
        assert_tensor(x, [5.0, 2.0], tp.float64)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes_survive_the_round_trip(self, dtype):
        x = tp.tensor([0, 1]).to(getattr(tp, dtype))
        assert_tensor(tp.from_dlpack(np.from_dlpack(x)), [0, 1], getattr(tp, dtype))
        assert_tensor(tp.from_dlpack(x), [0, 1], getattr(tp, dtype))

    def test_strides_survive(self):
        x = tp.arange(6).reshape(2, 3).transpose(0, 1)
        assert_close(np.from_dlpack(x), [[0, 3], [1, 4], [2, 5]])

    def test_a_tensor_that_requires_grad_is_refused(self):
        with raises(BufferError, ("__dlpack__", "dlpack"), ["detach"]):
            np.from_dlpack(leaf([1.0]))

    def test_it_lives_on_the_cpu(self):
        kind, number = tp.ones(1).__dlpack_device__()
        assert (int(kind), number) == (1, 0)


class TestCopies:
    def test_copy_shares_memory(self):
        x = tp.tensor([1.0, 2.0])
        y = copy.copy(x)
        y[0] = 5.0
        assert y is not x
        assert_close(x, [5.0, 2.0])

    def test_deepcopy_does_not(self):
        x = leaf([1.0, 2.0])
        x.grad = const([3.0, 4.0])
        y = copy.deepcopy(x)
        with tp.no_grad():
            y[0] = 5.0
        y.grad[0] = 6.0
        assert_close(x, [1.0, 2.0])
        assert_close(x.grad, [3.0, 4.0])
        assert y.requires_grad
        assert y.is_leaf

    def test_deepcopy_keeps_one_object_one(self):
        x = tp.tensor([1.0])
        first, second = copy.deepcopy([x, x])
        assert first is second

    def test_deepcopy_of_a_result_is_an_error(self):
        with raises(RuntimeError, ("deepcopy", "__deepcopy__"), ["detach"]):
            copy.deepcopy(leaf([1.0]) * 2)

    @pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
    def test_pickle_keeps_values_and_dtype(self, dtype):
        x = tp.tensor([[0, 1], [1, 0]]).to(getattr(tp, dtype))
        assert_tensor(pickle.loads(pickle.dumps(x)), [[0, 1], [1, 0]], getattr(tp, dtype))

    def test_pickle_keeps_requires_grad_and_copies(self):
        x = leaf([1.0, 2.0])
        y = pickle.loads(pickle.dumps(x))
        assert y.requires_grad
        assert y.is_leaf
        with tp.no_grad():
            y[0] = 5.0
        assert_close(x, [1.0, 2.0])

    @pytest.mark.parametrize("view", [lambda x: x.transpose(0, 1), lambda x: x[:, ::2]])
    def test_pickle_of_views(self, view):
        x = tp.arange(6.0).reshape(2, 3)
        assert_close(pickle.loads(pickle.dumps(view(x))), view(x).numpy())
        assert_close(pickle.loads(pickle.dumps(tp.zeros(2, 0))), np.zeros((2, 0)))

    def test_dtypes_pickle_to_themselves(self):
        assert pickle.loads(pickle.dumps(tp.float64)) is tp.float64
        assert copy.deepcopy(tp.bfloat16) is tp.bfloat16


class TestRequiresGradAndLeaves:
    def test_requires_grad_in_place_returns_the_tensor(self):
        x = const([1.0])
        assert x.requires_grad_() is x
        assert x.requires_grad
        assert not x.requires_grad_(False).requires_grad

    def test_the_attribute_can_be_set(self):
        x = const([1.0])
        x.requires_grad = True
        (x * 2).sum().backward()
        assert_close(x.grad, [2.0])

    def test_a_result_cannot_stop_requiring_it(self):
        y = leaf([1.0]) * 2
        with raises(RuntimeError, ("requires_grad", "requires_grad_"), ["detach"]):
            y.requires_grad_(False)
        assert y.requires_grad

    @pytest.mark.parametrize("dtype", ["bool", "int64"])
    def test_a_tensor_that_is_no_float_cannot_require_it(self, dtype):
        x = tp.zeros(2, dtype=getattr(tp, dtype))
        with raises(RuntimeError, ("requires_grad", "requires_grad_"), [dtype]):
            x.requires_grad_()
        with raises(RuntimeError, ("requires_grad", "requires_grad_"), [dtype]):
            x.requires_grad = True
        assert not x.requires_grad
        x.requires_grad_(False)

    def test_leaves_are_what_no_recorded_operation_made(self):
        x = leaf([1.0])
        assert x.is_leaf
        assert const([1.0]).is_leaf
        assert (const([1.0]) * 2).is_leaf
        assert not (x * 2).is_leaf
        assert (x * 2).detach().is_leaf


class TestGradAttribute:
    def test_it_is_none_at_first(self):
        assert leaf([1.0]).grad is None

    def test_reading_it_from_a_result_warns(self):
        y = leaf([1.0]) * 2
        with pytest.warns(UserWarning, match="leaf"):
            assert y.grad is None

    def test_it_can_be_set_and_cleared(self):
        x = leaf([1.0, 2.0])
        x.grad = const([3.0, 4.0])
        assert_close(x.grad, [3.0, 4.0])
        x.grad = None
        assert x.grad is None

    def test_it_must_fit(self):
        x = leaf([1.0, 2.0])
        with raises(RuntimeError, "grad", [(3,), (2,)]):
            x.grad = const([1.0, 2.0, 3.0])
        with raises(RuntimeError, "grad", ["float32", "float64"]):
            x.grad = const([1.0, 2.0], dtype=tp.float32)
        with raises(TypeError, "grad", ["float"]):
            x.grad = 1.0
        assert x.grad is None


class TestRetainGrad:
    def test_a_result_keeps_its_gradient(self):
        x = leaf([1.0, 2.0])
        y = x * 3
        y.retain_grad()
        assert y.retains_grad
        (y * y).sum().backward()
        assert_close(y.grad, [6.0, 12.0])
        assert_close(x.grad, [18.0, 36.0])

    def test_it_accumulates(self):
        y = leaf([1.0, 2.0]) * 3
        y.retain_grad()
        z = (y * y).sum()
        z.backward(retain_graph=True)
        z.backward()
        assert_close(y.grad, [12.0, 24.0])

    def test_a_leaf_keeps_it_anyway(self):
        x = leaf([1.0])
        x.retain_grad()
        (x * 2).sum().backward()
        assert_close(x.grad, [2.0])

    def test_a_tensor_that_requires_none_cannot(self):
        with raises(RuntimeError, "retain_grad", ["requires_grad"]):
            const([1.0]).retain_grad()
