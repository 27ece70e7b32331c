"""Connectionist temporal classification, as a scan over time that can be differentiated again.

The forward variables of Graves et al. (ICML 2006) over the labels with blanks between them are

    a[0] = p[0],   a[t, s] = p[t, s] + log(exp a[t-1, s] + exp a[t-1, s-1] + exp a[t-1, s-2])

(the last term only where a blank may be skipped). Differentiated, this is a linear recurrence with
three bands, whose derivatives are linear recurrences with three bands again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base import dtypes
from tensorplay.ops.arrange import pad_op
from tensorplay.ops.elementwise import where
from tensorplay.ops.joining import stack
from tensorplay.ops.kernels import typed
from tensorplay.ops.kinds import batch_size, front, primitive, public, publish
from tensorplay.ops.losses import reduced, reduction_of

# The logarithm of "impossible": finite, so that differences of it are.
_NEVER = -1e30
_BANDS = (0, 1, 2)


def _shifted_array(x: np.ndarray, by: int, fill: float) -> np.ndarray:
    """x[..., s - by], `fill` where that is before the first."""
    if not by:
        return x
    out = np.full_like(x, fill)
    out[..., by:] = x[..., :-by]
    return out


def _log_scan_kernel(p: np.ndarray, skip: np.ndarray) -> np.ndarray:
    out = np.empty(np.broadcast_shapes(p.shape, skip.shape), p.dtype)
    out[0] = p[0]
    for t in range(1, len(p)):
        last = out[t - 1]
        terms = [
            last,
            _shifted_array(last, 1, _NEVER),
            np.where(skip, _shifted_array(last, 2, _NEVER), _NEVER).astype(p.dtype),
        ]
        top = np.maximum(np.maximum(terms[0], terms[1]), terms[2])
        total = np.exp(terms[0] - top) + np.exp(terms[1] - top) + np.exp(terms[2] - top)
        out[t] = p[t] + (top + np.log(total))
    return out


def _band_scan_kernel(b: np.ndarray, *bands: np.ndarray) -> np.ndarray:
    out = np.empty(np.broadcast_shapes(b.shape, *[c.shape for c in bands]), b.dtype)
    out[0] = b[0]
    for t in range(1, len(b)):
        out[t] = b[t]
        for by, band in zip(_BANDS, bands, strict=True):
            out[t] += band[t] * _shifted_array(out[t - 1], by, 0)
    return out


# --- rules ----------------------------------------------------------------------------------------


def _back(x: Any, times: int, places: int, fill: float) -> Any:
    """x[t - times, ..., s - places], `fill` outside (negative: later ones)."""
    for dim, by in ((0, times), (x.ndim - 1, places)):
        if by:
            pads = [(0, 0)] * x.ndim
            count = min(abs(by), x.shape[dim])
            pads[dim] = (count, -count) if by > 0 else (-count, count)
            x = pad_op(x, tuple(pads), fill)
    return x


def _weights(skip: Any, out: Any) -> Any:
    """How much each earlier state contributes to each state: they sum to 1."""
    terms = [_back(out, 1, by, _NEVER) for by in _BANDS]
    terms[2] = where(skip, terms[2], _NEVER)
    return stack(terms).softmax(0).unbind(0)


def _adjoint(g: Any, bands: Any) -> Any:
    """The transposed recurrence: the same one, backwards in time and place."""
    turned = [
        _back(band, -1, -by, 0.0).flip((0, g.ndim - 1))
        for by, band in zip(_BANDS, bands, strict=True)
    ]
    return band_scan(g.flip((0, g.ndim - 1)), *turned).flip((0, g.ndim - 1))


def _band_vjp(g: Any, b: Any, c0: Any, c1: Any, c2: Any, out: Any, wanted: Any) -> Any:
    z = _adjoint(g, [c0, c1, c2])
    return (
        z if wanted[0] else None,
        *(z * _back(out, 1, by, 0.0) if wanted[1 + by] else None for by in _BANDS),
    )


def _band_jvp(t: Any, b: Any, c0: Any, c1: Any, c2: Any, out: Any) -> Any:
    total = t[0]
    for by, tangent in zip(_BANDS, t[1:], strict=True):
        if tangent is not None:
            term = tangent * _back(out, 1, by, 0.0)
            total = term if total is None else total + term
    return band_scan(total, c0, c1, c2)


def _batch_scan(p: Any, values: Any, bdims: Any, params: Any) -> Any:
    """The batch goes behind time."""
    size = batch_size(values, bdims)
    moved = []
    for name, x, bdim in zip(p.arg_names, values, bdims, strict=True):
        if name == "skip":  # has no time
            moved.append(x if bdim is None else front(x, bdim))
        elif bdim is None:
            moved.append(x.unsqueeze(1).expand((x.shape[0], size, *x.shape[1:])))
        else:
            moved.append(x.movedim(bdim, 1))
    return p.apply(moved, *params), 1


log_scan = primitive(
    "log_scan",
    typed("ctc_loss", _log_scan_kernel, "f", widen=False),
    inputs=("p", "skip"),
    vjp=(lambda g, skip, out: _adjoint(g, _weights(skip, out)), None),
    jvp=(lambda t, skip, out: band_scan(t, *_weights(skip, out)), None),
    batch=_batch_scan,
    node_name="CtcLossBackward0",
)
band_scan = primitive(
    "band_scan",
    typed("ctc_loss", _band_scan_kernel, "fc", widen=False),
    inputs=("b", "c0", "c1", "c2"),
    vjp=_band_vjp,
    jvp=_band_jvp,
    batch=_batch_scan,
    node_name="CtcLossBackwardBackward0",
)


# --- the loss -------------------------------------------------------------------------------------


def _lengths(name: str, given: Any, batch: int) -> Tensor:
    if not isinstance(given, Tensor):
        given = core.from_array(np.asarray(given, np.int64).reshape(-1))
    given = given.long().reshape(-1)
    if given.shape[0] != batch:
        raise RuntimeError(
            f"ctc_loss(): {name} must have one entry for each of the {batch} samples, got "
            f"{given.shape[0]}"
        )
    return given


def _padded_targets(targets: Tensor, lengths: Tensor, batch: int) -> Tensor:
    """(N, S) targets from (N, S), or from all of them one after the other."""
    if targets.ndim == 2:
        if targets.shape[0] != batch:
            raise RuntimeError(
                f"ctc_loss(): expected targets of shape ({batch}, S) or (sum of target_lengths,), "
                f"got shape {list(targets.shape)}"
            )
        return targets
    counts = core.array_of(lengths)
    if counts.sum() != targets.shape[0] and batch != 1:
        raise RuntimeError(
            f"ctc_loss(): the target_lengths sum to {counts.sum()}, but there are "
            f"{targets.shape[0]} targets"
        )
    longest = int(counts.max()) if counts.size else 0
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    places = np.minimum(first[:, None] + np.arange(longest), max(targets.shape[0] - 1, 0))
    if not longest:
        return targets.new_zeros((batch, 0))
    index = core.from_array(places.astype(np.int64).ravel())
    return targets.index_select(0, index).reshape(places.shape)


def _extended(targets: Tensor, blank: int) -> Tensor:
    """(N, 2 S + 1) labels with blanks around each."""
    both = pad_op(targets.unsqueeze(-1), ((0, 0), (0, 0), (1, 0)), blank)
    flat = both.reshape((targets.shape[0], 2 * targets.shape[1]))
    return pad_op(flat, ((0, 0), (0, 1)), blank)


def _negative_log_likelihood(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int
) -> Tensor:
    """(N,) losses; inf where no alignment is possible."""
    steps, batch, _ = log_probs.shape
    labels = _extended(targets, blank)
    states = labels.shape[1]
    index = labels.unsqueeze(0).expand((steps, batch, states))
    p = log_probs.gather(2, index).clamp(min=_NEVER)
    start = np.zeros((steps, 1, states), np.bool_)
    start[0, :, 2:] = True  # paths begin with the first blank or the first label
    p = where(core.from_array(start), _NEVER, p)
    earlier = pad_op(labels, ((0, 0), (2, -2)) if states > 2 else ((0, 0), (0, 0)), blank)
    odd = core.from_array(np.arange(states) % 2 == 1)
    skip = odd & (labels != earlier) & core.from_array(np.arange(states) >= 2)
    scanned = log_scan(p, skip)
    last = (input_lengths - 1).clamp(min=0).reshape((1, batch, 1)).expand((1, batch, states))
    final = scanned.gather(0, last).squeeze(0)
    end = (2 * target_lengths).unsqueeze(1)
    blank_end = final.gather(1, end)
    label_end = where(end > 0, final.gather(1, (end - 1).clamp(min=0)), _NEVER)
    loss = -blank_end.logaddexp(label_end).squeeze(1)
    # Nothing to read: certain if there is nothing to write, else impossible.
    loss = where((input_lengths == 0) & (target_lengths == 0), 0.0, loss)
    impossible = (loss > -_NEVER / 10) | ((input_lengths == 0) & (target_lengths > 0))
    return where(impossible, float("inf"), loss)


@public(method=False)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: Any = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences, summed over all alignments with the input.

    log_probs: (T, N, C) or (T, C), logarithms of probabilities. targets: (N, S), or all targets one
    after the other; class numbers other than `blank`. input_lengths, target_lengths: (N,) or ().
    reduction: 'mean' divides by the target lengths first. zero_infinity: losses without a possible
    alignment are 0 rather than inf; their gradient is 0 in any case. The gradient is that by
    log_probs as independent variables. (PyTorch gives the one by the logits before a log_softmax,
    which is the same once it has gone back through that log_softmax.)

    Raises:
        RuntimeError: for shapes that do not fit, or a blank that is no class.
        ValueError: for an unknown reduction.

    >>> import tensorplay as tp
    >>> log_probs = tp.full((2, 1, 2), 0.5).log()
    >>> tp.nn.functional.ctc_loss(log_probs, tp.tensor([[1]]), [2], [1])
    tensor(0.2877)
    """
    if isinstance(reduction, int):
        reduction = ("none", "mean", "sum")[reduction]
    reduction = reduction_of("ctc_loss", reduction)
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3) or not log_probs.dtype.is_floating_point:
        raise RuntimeError(
            "ctc_loss(): expected floating point log_probs of shape (T, N, C) or (T, C), got "
            f"{log_probs.dtype} of shape {list(log_probs.shape)}"
        )
    if not 0 <= blank < log_probs.shape[-1]:
        raise RuntimeError(
            f"ctc_loss(): blank must be one of the {log_probs.shape[-1]} classes, got {blank}"
        )
    if targets.dtype.category != dtypes.INTEGER:
        raise RuntimeError(f"ctc_loss(): targets must be integers, got {targets.dtype}")
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.ndim == 1 else targets
    batch = log_probs.shape[1]
    inputs = _lengths("input_lengths", input_lengths, batch)
    outputs = _lengths("target_lengths", target_lengths, batch)
    _check_lengths(inputs, log_probs.shape[0])
    targets = _padded_targets(targets.long(), outputs, batch)
    loss = _negative_log_likelihood(log_probs, targets, inputs, outputs, blank)
    if zero_infinity:
        loss = where(loss == float("inf"), 0.0, loss)
    if reduction == "mean":
        loss = loss / outputs.clamp(min=1).to(loss.dtype)
    if not batched and reduction == "none":
        return loss.squeeze(0)
    return reduced(loss, reduction)


def _check_lengths(lengths: Tensor, steps: int) -> None:
    if lengths.is_box or not lengths.numel():
        return
    low, high = int(lengths.min()), int(lengths.max())
    if low < 0 or high > steps:
        raise RuntimeError(
            f"ctc_loss(): input_lengths must be from 0 to the {steps} steps of log_probs, got "
            f"{low if low < 0 else high}"
        )


publish(ctc_loss, "ctc_loss", namespace="nn.functional", method=False)
