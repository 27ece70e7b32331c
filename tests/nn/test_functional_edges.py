"""nn.functional at its edges: finite derivatives, ignored targets, randomness, bad input."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.nn import functional as F


def grad(function, *values):
    xs = [tp.tensor(v, dtype=tp.float64, requires_grad=True) for v in values]
    return [g.numpy() for g in tp.autograd.grad(function(*xs).sum(), xs)]


class TestFiniteDerivatives:
    def test_normalize_and_distances_of_zero_vectors(self):
        zero = [[0.0, 0.0]]
        assert np.isfinite(grad(F.normalize, zero)[0]).all()
        assert np.isfinite(grad(F.cosine_similarity, zero, zero)[0]).all()
        assert (grad(lambda x, y: F.pairwise_distance(x, y, eps=0.0), zero, zero)[0] == 0).all()

    def test_binary_cross_entropy_of_certainty(self):
        g = grad(lambda x: F.binary_cross_entropy(x, tp.tensor([1.0, 0.0]).double()), [1.0, 0.0])
        assert (g[0] == 0).all()
        wrong = F.binary_cross_entropy(tp.tensor([0.0]), tp.tensor([1.0]))
        assert wrong.item() == 100.0

    def test_cross_entropy_far_away(self):
        logits = [[1000.0, -1000.0], [-1e30, 1e30]]
        g = grad(lambda x: F.cross_entropy(x, tp.tensor([1, 1]), reduction="none"), logits)[0]
        assert g.tolist() == [[1.0, -1.0], [0.0, 0.0]]

    def test_logsigmoid_softplus_and_logits_far_away(self):
        big = [-1e4, 0.0, 1e4]
        assert grad(F.logsigmoid, big)[0].tolist() == [1.0, 0.5, 0.0]
        assert grad(F.softplus, big)[0].tolist() == [0.0, 0.5, 1.0]
        loss = F.binary_cross_entropy_with_logits(tp.tensor(big), tp.zeros(3), reduction="none")
        assert loss.tolist() == pytest.approx([0.0, np.log(2), 1e4])

    def test_power_averages_of_zeros(self):
        assert grad(lambda x: F.lp_pool1d(x, 2, 2), [[0.0, 0.0, 3.0, 4.0]])[0].tolist() == [
            pytest.approx([0.0, 0.0, 0.6, 0.8])
        ]

    def test_attention_that_may_look_nowhere(self):
        q = tp.ones(1, 2, 2, requires_grad=True)
        mask = tp.tensor([[True, True], [False, False]])
        out = F.scaled_dot_product_attention(q, q, q, mask)
        assert out[0, 1].tolist() == [0.0, 0.0]
        assert np.isfinite(tp.autograd.grad(out.sum(), q)[0].numpy()).all()

    def test_layer_norm_of_equal_elements(self):
        first, _ = grad(lambda x, w: F.layer_norm(x, (3,), w), [[2.0, 2.0, 2.0]], [1.0, 1.0, 1.0])
        assert np.isfinite(first).all()

    def test_no_alignment(self):
        log_probs = tp.zeros(1, 1, 3).log_softmax(-1).requires_grad_()
        loss = F.ctc_loss(log_probs, tp.tensor([[1, 2]]), [1], [2], reduction="sum")
        assert loss.item() == float("inf")
        assert tp.autograd.grad(loss, log_probs)[0].abs().sum().item() == 0.0
        loss = F.ctc_loss(log_probs, tp.tensor([[1, 2]]), [1], [2], zero_infinity=True)
        assert loss.item() == 0.0

    def test_ctc_over_a_long_time(self):
        rng = np.random.default_rng(0)
        logits = tp.tensor(rng.normal(size=(1000, 1, 4)), requires_grad=True)
        loss = F.ctc_loss(logits.log_softmax(-1), tp.tensor([[1, 2, 2]]), [1000], [3])
        (g,) = tp.autograd.grad(loss, logits, create_graph=True)
        assert np.isfinite(g.detach().numpy()).all()
        np.testing.assert_allclose(g.detach().numpy().sum(-1), 0, atol=1e-12)
        (h,) = tp.autograd.grad((g * g).sum(), logits)
        assert np.isfinite(h.numpy()).all()


class TestCornersAndTies:
    def test_derivatives_at_corners_are_pytorchs(self):
        for function, at, expected in [
            (F.relu, 0.0, 0.0), (F.relu6, 6.0, 0.0), (F.hardtanh, 1.0, 0.0),
            (F.leaky_relu, 0.0, 0.01), (F.hardswish, 3.0, 1.0), (F.hardswish, -3.0, 0.0),
            (F.hardsigmoid, 3.0, 0.0), (F.softshrink, 0.5, 0.0), (F.hardshrink, 0.5, 0.0),
            (F.elu, 0.0, 1.0),
        ]:  # fmt: skip
            assert grad(function, [at])[0].tolist() == [expected], function

    def test_max_pool_takes_the_first_of_equal_elements(self):
        values, index = F.max_pool1d(tp.ones(1, 4), 2, return_indices=True)
        assert index.tolist() == [[0, 2]]
        assert grad(lambda x: F.max_pool1d(x, 2), [[1.0] * 4])[0].tolist() == [[1, 0, 1, 0]]

    def test_max_pool_passes_nan_on(self):
        out = F.max_pool1d(tp.tensor([[1.0, float("nan"), 2.0, 3.0]]), 2)
        assert np.isnan(out.numpy()).tolist() == [[True, False]]

    def test_repeated_rows_of_an_embedding_add_up(self):
        w = tp.zeros(3, 2, requires_grad=True)
        F.embedding(tp.tensor([1, 1, 1, 0]), w).sum().backward()
        assert w.grad.tolist() == [[1.0, 1.0], [3.0, 3.0], [0.0, 0.0]]


class TestTargets:
    def test_ignored_targets_count_neither_above_nor_below(self):
        x = tp.tensor([[0.0, 1.0], [5.0, 2.0]])
        one = F.cross_entropy(x[:1], tp.tensor([1]))
        assert F.cross_entropy(x, tp.tensor([1, -100])).item() == pytest.approx(one.item())
        assert F.cross_entropy(x, tp.tensor([1, 7]), ignore_index=7).item() == pytest.approx(
            one.item()
        )

    def test_nothing_left_gives_nan_and_no_gradient(self):
        x = tp.zeros(1, 2, requires_grad=True)
        loss = F.cross_entropy(x, tp.tensor([-100]))
        assert np.isnan(loss.item())

    def test_a_target_that_is_no_class(self):
        with pytest.raises(IndexError, match="3"):
            F.nll_loss(tp.zeros(1, 3), tp.tensor([3]))
        with pytest.raises(IndexError, match="-1"):
            F.nll_loss(tp.zeros(1, 3), tp.tensor([-1]))

    def test_unknown_reductions(self):
        with pytest.raises(ValueError, match="average"):
            F.mse_loss(tp.zeros(1), tp.zeros(1), reduction="average")

    def test_a_target_of_another_shape_warns(self):
        with pytest.warns(UserWarning, match=r"\[3, 1\]"):
            F.mse_loss(tp.zeros(3, 1), tp.zeros(3))


class TestRandomness:
    def test_the_seed_decides(self):
        results = []
        for seed in (1, 1, 2):
            tp.manual_seed(seed)
            results.append(F.dropout(tp.ones(50)).tolist())
        assert results[0] == results[1] != results[2]
        assert set(results[0]) == {0.0, 2.0}

    def test_vmap_says_what_to_do(self):
        x = tp.ones(3, 40)
        with pytest.raises(RuntimeError, match="randomness"):
            tp.vmap(F.dropout)(x)
        same = tp.vmap(F.dropout, randomness="same")(x).tolist()
        assert same[0] == same[1] == same[2]
        different = tp.vmap(F.dropout, randomness="different")(x).tolist()
        assert different[0] != different[1]

    def test_whole_channels(self):
        tp.manual_seed(0)
        out = F.dropout2d(tp.ones(4, 8, 3, 3)).numpy()
        assert ((out == 0).all((2, 3)) | (out == 2).all((2, 3))).all()


class TestBadInput:
    @pytest.mark.parametrize(
        "call, error, mentions",
        [
            (lambda: F.conv2d(tp.ones(1, 3, 5, 5), tp.ones(2, 4, 3, 3)), RuntimeError,
             ["conv2d", "[1, 3, 5, 5]", "[2, 4, 3, 3]"]),
            (lambda: F.conv2d(tp.ones(1, 1, 2, 2), tp.ones(1, 1, 3, 3)), RuntimeError,
             ["conv2d", "(3, 3)", "(2, 2)"]),
            (lambda: F.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 2).double()), RuntimeError,
             ["conv1d", "float32", "float64"]),
            (lambda: F.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 2), stride=0), RuntimeError,
             ["conv1d", "stride"]),
            (lambda: F.conv1d(tp.ones(1, 1, 4), tp.ones(1, 1, 2), padding="same", stride=2),
             RuntimeError, ["conv1d", "same", "stride"]),
            (lambda: F.max_pool2d(tp.ones(1, 2, 2), 2, padding=2), RuntimeError,
             ["max_pool2d", "pad"]),
            (lambda: F.avg_pool1d(tp.ones(1, 2), 5), RuntimeError, ["avg_pool1d", "(5,)"]),
            (lambda: F.layer_norm(tp.ones(2, 3), (4,)), RuntimeError,
             ["layer_norm", "[4]", "[2, 3]"]),
            (lambda: F.group_norm(tp.ones(2, 3), 2), RuntimeError, ["group_norm", "3", "2"]),
            (lambda: F.batch_norm(tp.ones(1, 3), None, None, training=True), ValueError,
             ["batch_norm", "[1, 3]"]),
            (lambda: F.embedding(tp.tensor([5]), tp.ones(3, 2)), IndexError,
             ["embedding", "5", "3"]),
            (lambda: F.embedding(tp.tensor([0.5]), tp.ones(3, 2)), RuntimeError,
             ["embedding", "float32"]),
            (lambda: F.one_hot(tp.tensor([-1])), RuntimeError, ["one_hot", "-1"]),
            (lambda: F.pad(tp.ones(1, 2), (2, 0), mode="reflect"), RuntimeError,
             ["pad", "reflect", "[1, 2]"]),
            (lambda: F.interpolate(tp.ones(1, 1, 2), scale_factor=2, size=3), ValueError,
             ["interpolate", "size"]),
            (lambda: F.interpolate(tp.ones(1, 1, 2), 3, mode="bilinear"), NotImplementedError,
             ["interpolate", "bilinear"]),
            (lambda: F.grid_sample(tp.ones(1, 1, 2, 2), tp.ones(2, 1, 1, 2)), RuntimeError,
             ["grid_sample", "[1, 1, 2, 2]", "[2, 1, 1, 2]"]),
            (lambda: F.pixel_shuffle(tp.ones(1, 3, 2, 2), 2), RuntimeError,
             ["pixel_shuffle", "[1, 3, 2, 2]"]),
            (lambda: F.glu(tp.ones(3)), RuntimeError, ["glu", "3"]),
            (lambda: F.dropout(tp.ones(1), 1.5), ValueError, ["dropout", "1.5"]),
            (lambda: F.prelu(tp.ones(2, 3), tp.ones(2)), RuntimeError, ["prelu", "3", "2"]),
            (lambda: F.binary_cross_entropy(tp.tensor([1.5]), tp.ones(1)), RuntimeError,
             ["binary_cross_entropy", "0 and 1"]),
            (lambda: F.scaled_dot_product_attention(tp.ones(1, 2, 3), tp.ones(1, 2, 4),
                                                    tp.ones(1, 2, 4)), RuntimeError,
             ["scaled_dot_product_attention", "[1, 2, 3]", "[1, 2, 4]"]),
        ],
    )  # fmt: skip
    def test_the_message_names_the_operator_and_the_values(self, call, error, mentions):
        with pytest.raises(error) as caught:
            call()
        message = str(caught.value)
        assert message.startswith(mentions[0])
        for mention in mentions[1:]:
            assert mention in message


class TestExpandedCotangents:
    @pytest.mark.parametrize("dtype", [tp.float32, tp.float64])
    @pytest.mark.parametrize("shape", [(3, 4), (1, 5), (7,), (0, 3), (1, 1), (40, 50)])
    @pytest.mark.parametrize(
        "function",
        [F.gelu, F.silu, F.relu, tp.tanh, tp.sigmoid, F.softplus, tp.abs,
         lambda x: F.layer_norm(x, x.shape[-1:]), lambda x: F.softmax(x, -1)],
    )  # fmt: skip
    def test_the_cotangent_of_a_sum_is_as_good_as_one_in_memory(self, function, shape, dtype):
        x = tp.randn(shape, dtype=dtype, requires_grad=True)
        y = function(x)
        (a,) = tp.autograd.grad(y.sum(), x)
        (b,) = tp.autograd.grad(function(x), x, tp.ones(shape, dtype=dtype))
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
        (c,) = tp.autograd.grad(function(x), x, tp.full((), 2.0, dtype=dtype).expand(shape))
        np.testing.assert_allclose(c.numpy(), 2 * b.numpy(), rtol=1e-5, atol=1e-6)
