"""The losses of very many classes, and batch norms without statistics, against PyTorch."""

import numpy as np
import pytest
import torch

import tensorplay as tp
from tensorplay import nn


def pair(name, *args, **options):
    ours = getattr(nn, name)(*args, **options).double()
    theirs = getattr(torch.nn, name)(*args, **options).double()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({k: tp.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    assert repr(ours) == repr(theirs)
    return ours, theirs


def same_gradients(ours, theirs, losses, inputs):
    losses[0].backward()
    losses[1].backward()
    np.testing.assert_allclose(inputs[0].grad.numpy(), inputs[1].grad.numpy(), atol=1e-12)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        if q.grad is None or not q.grad.any():
            assert p.grad is None or not p.grad.any()
        else:
            np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-12)


def both(shape):
    array = np.random.default_rng(0).normal(size=shape)
    return tp.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)


@pytest.mark.parametrize("options", [{}, {"div_value": 2.0, "head_bias": True}])
@pytest.mark.parametrize("target", [[0, 4, 5, 9, 10, 19], [19, 19], [1, 2, 3], 7])
def test_adaptive_log_softmax(options, target):
    ours, theirs = pair("AdaptiveLogSoftmaxWithLoss", 16, 20, [5, 10], **options)
    shape = (16,) if isinstance(target, int) else (len(target), 16)
    x, y = both(shape)
    a, b = ours(x, tp.tensor(target)), theirs(y, torch.tensor(target))
    np.testing.assert_allclose(a.output.detach().numpy(), b.output.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(a.loss.item(), b.loss.item())
    same_gradients(ours, theirs, (a.loss, b.loss), (x, y))
    if isinstance(target, list):
        probs = ours.log_prob(x), theirs.log_prob(y)
        np.testing.assert_allclose(probs[0].detach().numpy(), probs[1].detach().numpy(), atol=1e-12)
        np.testing.assert_allclose(probs[0].exp().sum(1).detach().numpy(), 1)
        assert ours.predict(x).tolist() == theirs.predict(y).tolist()


def test_adaptive_log_softmax_for_each_sample():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6]).double()
    x, target = both((4, 8))[0].detach(), tp.tensor([0, 4, 7, 11])
    each = tp.vmap(lambda a, t: layer(a, t).output)(x, target)
    np.testing.assert_allclose(
        each.detach().numpy(), layer(x, target).output.detach().numpy(), atol=1e-12
    )


@pytest.mark.parametrize("options, shape, target", [
    ({}, (3, 5), [0, 1, 3]),
    ({"bias": True, "reduction": "sum", "ignore_index": 1}, (3, 5), [0, 1, 3]),
    ({"label_smoothing": 0.2, "reduction": "none"}, (3, 5), [0, 1, 3]),
    ({"out_features": (2,)}, (3, 5), [[0, 1], [3, 2], [0, 0]]),
])  # fmt: skip
def test_linear_cross_entropy(options, shape, target):
    ours, theirs = pair("LinearCrossEntropyLoss", 5, 4, **options)
    x, y = both(shape)
    a, b = ours(x, tp.tensor(target)), theirs(y, torch.tensor(target))
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-12)
    same_gradients(ours, theirs, (a.sum(), b.sum()), (x, y))


def test_batch_norms_without_statistics_work_inside_vmap():
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2), nn.InstanceNorm1d(2,
                          track_running_stats=True))  # fmt: skip
    assert tp.func.replace_all_batch_norm_modules_(model) is model
    norm = model[0]
    assert (norm.running_mean, norm.running_var, norm.num_batches_tracked) == (None, None, None)
    assert not norm.track_running_stats
    assert model[2].running_mean is not None  # PyTorch leaves instance norms alone
    x = tp.randn(4, 5, 3)
    each = tp.vmap(norm)(x)
    for i in range(4):
        np.testing.assert_allclose(each[i].detach().numpy(), norm(x[i]).detach().numpy(), atol=1e-6)


BAD = [
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, []),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [6, 3]),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 3]),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [0, 3]),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 12]),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(2, 8), t.tensor([0, 12])),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(2, 8), t.tensor([0, -1])),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(2, 8), t.tensor([0])),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(8), t.tensor([0])),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(2, 8), t.tensor(0)),
    lambda m, t: m.AdaptiveLogSoftmaxWithLoss(8, 12, [3])(t.ones(2, 8), t.tensor([[0], [1]])),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input(number):
    types = []
    for library in (torch, tp):
        with pytest.raises(Exception) as error:
            BAD[number](library.nn, library)
        types.append(error.type)
    assert issubclass(types[1], types[0])
