"""New tensors inside transforms, conversion and interchange beyond what PyTorch documents."""

import copy
import pickle

import numpy as np
import pytest

import tensorplay as tp


def filled(make):
    """A function that fills a new tensor with values that depend on its input."""

    def function(x):
        z = make(x)
        z[0] = x[0] * 2
        z[1] = x[1] ** 2
        return z

    return function


MAKERS = {
    "zeros": lambda x: tp.zeros(3),
    "full": lambda x: tp.full((3,), 7.0),
    "tensor": lambda x: tp.tensor([0.0, 1.0, 2.0]),
    "arange": lambda x: tp.arange(3.0),
    "zeros_like": tp.zeros_like,
    "new_zeros": lambda x: x.new_zeros(3),
    "as_tensor": lambda x: tp.as_tensor(np.zeros(3, np.float32)),
    "rand": lambda x: tp.rand(3),
}


class TestInPlaceInsideTransforms:
    @pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
    def test_a_tensor_made_inside_a_gradient_takes_its_values(self, make):
        x = tp.tensor([1.0, 3.0, 5.0])
        total = lambda x: filled(make)(x).sum()  # noqa: E731
        assert tp.func.grad(total)(x).tolist() == [2.0, 6.0, 0.0]
        twice = tp.func.grad(lambda x: tp.func.grad(total)(x).sum())(x)
        assert twice.tolist() == [0.0, 2.0, 0.0]

    @pytest.mark.parametrize("name", ["zeros_like", "new_zeros"])
    def test_a_tensor_made_like_a_batched_one_takes_batched_values(self, name):
        x = tp.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
        rows = tp.vmap(filled(MAKERS[name]))(x)
        assert rows.tolist() == [[2.0, 9.0, 0.0], [4.0, 16.0, 0.0]]
        gradients = tp.vmap(tp.func.grad(lambda x: filled(MAKERS[name])(x).sum()))(x)
        assert gradients.tolist() == [[2.0, 6.0, 0.0], [2.0, 8.0, 0.0]]

    def test_a_jacobian_through_writes(self):
        jacobian = tp.func.jacrev(filled(MAKERS["zeros"]))(tp.tensor([1.0, 3.0, 5.0]))
        assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 0.0]]


class TestReadingInsideTransforms:
    def test_a_gradient_level_has_values(self):
        seen = []

        def loss(x):
            y = x * 2
            seen.extend([y.tolist(), float(y[0]), bool(y[0] > 1), y.detach().numpy().tolist()])
            seen.extend([f"{y[0]:.1f}", y.shape, y.is_contiguous(), y.stride(), 4.0 in y])
            return y.sum()

        tp.func.grad(loss)(tp.tensor([1.0, 2.0]))
        assert seen == [[2.0, 4.0], 2.0, True, [2.0, 4.0], "2.0", (2,), True, (1,), True]

    @pytest.mark.parametrize(
        "read",
        [
            lambda x: x.item(),
            lambda x: x.tolist(),
            lambda x: x.numpy(),
            float,
            bool,
            lambda x: x.data_ptr(),
            lambda x: tp.equal(x, x),
            lambda x: tp.allclose(x, x),
            pickle.dumps,
        ],
    )
    def test_a_batched_tensor_has_none(self, read):
        with pytest.raises(RuntimeError, match="inside vmap"):
            tp.vmap(read)(tp.ones(3))

    def test_they_print(self):
        texts = []
        tp.vmap(lambda x: texts.append(repr(x)) or x)(tp.ones(2))
        tp.func.grad(lambda x: texts.append(str(x)) or x.sum())(tp.ones(2))
        assert "BatchedTensor(lvl=" in texts[0]
        assert "GradTrackingTensor(lvl=" in texts[1]
        assert all("tensor([1., 1.])" in text for text in texts)

    def test_one_that_escaped_prints(self):
        escaped = []
        tp.vmap(lambda x: escaped.append(x) or x)(tp.ones(2))
        assert "has ended" in repr(escaped[0])


class TestSubclasses:
    class Special(tp.Tensor):
        pass

    def make(self):
        x = tp.Tensor.__new__(self.Special)
        x.data = tp.ones(2)
        x.label = "a"
        return x

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
    def test_copies_keep_class_and_attributes(self, copied):
        y = copied(self.make())
        assert type(y) is self.Special
        assert y.label == "a"
        assert y.tolist() == [1.0, 1.0]

    def test_they_print_their_name(self):
        assert repr(self.make()) == "Special([1., 1.])"


def test_attributes_of_tensors():
    x = tp.ones(2)
    x.note = [1]
    assert vars(x) == {"note": [1]}
    y = copy.deepcopy(x)
    assert y.note == [1]
    assert y.note is not x.note
    assert pickle.loads(pickle.dumps(x)).note == [1]


def test_data_is_not_counted_as_a_change():
    x = tp.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data[0] = 5.0
    assert x._version == 0
    y.backward()
    assert x.grad.tolist() == [10.0, 4.0]
    x.data = tp.tensor([7.0, 8.0, 9.0])
    assert x.tolist() == [7.0, 8.0, 9.0]
    assert x.requires_grad


def test_a_copied_leaf_shares_memory_and_counts_changes_together():
    x = tp.ones(2)
    y = copy.copy(x)
    y.add_(1)
    assert x.tolist() == [2.0, 2.0]
    assert x._version == 1


def test_functions_of_numpy_give_tensors():
    assert isinstance(np.exp(tp.ones(2)), tp.Tensor)
    assert isinstance(np.ones(2) + tp.ones(2), tp.Tensor)


def test_dlpack_of_a_read_only_array():
    array = np.arange(3.0)
    array.flags.writeable = False
    x = tp.from_dlpack(array)
    with pytest.raises(RuntimeError, match="read-only"):
        x.add_(1)


def test_a_number_too_large_for_its_dtype_says_so():
    with pytest.raises(RuntimeError, match=r"300.*uint8"):
        tp.tensor([1, 300], dtype=tp.uint8)
    with pytest.raises(ValueError, match="floating point"):
        tp.tensor(2**70)
    assert tp.tensor(2**70, dtype=tp.float64).item() == 2.0**70
