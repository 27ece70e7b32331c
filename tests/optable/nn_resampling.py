"""Rows of padding, resampling, shuffling, attention, embedding and dropout."""

import numpy as np

from tensorplay._core import core
from tests.optable.schema import Op, register, sample

F = "nn.functional."


def _interpolations(make):
    """Every mode, larger and smaller, by size and by scale."""
    x1, x2, x3 = make(2, 3, 5), make(1, 2, 4, 5), make(1, 2, 3, 4, 3)
    return [
        sample(x1, 8),
        sample(x1, scale_factor=0.6, mode="nearest-exact"),
        sample(x1, 3, mode="linear"),
        sample(x1, scale_factor=1.7, mode="linear", align_corners=True),
        sample(x2, (7, 3)),
        sample(x2, (7, 3), mode="bilinear"),
        sample(x2, scale_factor=(0.7, 2.3), mode="bilinear", recompute_scale_factor=True),
        sample(x2, (2, 9), mode="bicubic"),
        sample(x2, (6, 6), mode="bicubic", align_corners=True),
        sample(
            x2,
            scale_factor=1.2,
            mode="bilinear",
            recompute_scale_factor=False,
            note="of the same size",
        ),
        sample(x2, (3, 2), mode="area"),
        sample(x2, (3, 2), mode="bilinear", antialias=True),
        sample(x2, (3, 2), mode="bicubic", antialias=True),
        sample(x3, (4, 2, 5), mode="trilinear"),
        sample(x3, scale_factor=2.0, mode="trilinear", align_corners=True),
        sample(x2, (1, 1), mode="bilinear", align_corners=True),
    ]


# Points inside and outside of a 3 x 4 image, off its elements and off the middle between them.
_POINTS = np.reshape([-0.61, 0.13, 0.28, -0.44, -1.42, 0.83, 1.31, -1.27], (1, 2, 2, 2))


def _grids(make):
    """Every interpolation and padding."""
    calls = []
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            for mode in ("bilinear", "nearest", "bicubic"):
                calls.append(
                    sample(make(1, 2, 3, 4), make.fixed(_POINTS), mode, padding, corners)
                )  # fmt: skip
    return [
        *calls,
        sample(make(1, 2, 2, 3, 3), make(1, 2, 1, 2, 3, low=-1.3, high=1.3), align_corners=False),
        sample(make(1, 2, 2, 3, 3), make(1, 2, 1, 2, 3, low=-1.3, high=1.3), "nearest", "border",
               True),
    ]  # fmt: skip


def _pads(make):
    x1, x2, x3 = make(2, 3, 4), make(2, 3, 4), make(1, 2, 3, 3, 2)
    return [
        sample(x1, (1, 2)),
        sample(x1, (1, 2), value=1.5),
        sample(x1, (1, -1, 0, 2)),
        *[sample(x1, (2, 1), mode) for mode in ("reflect", "replicate", "circular")],
        *[sample(x2, (2, 1, 1, 0), mode) for mode in ("reflect", "replicate", "circular")],
        *[sample(x3, (1, 1, 1, 0, 2, 1), mode) for mode in ("reflect", "replicate", "circular")],
        sample(x1, (-1, 2), "circular"),
    ]


register(
    Op(F + "interpolate", _interpolations, primitives=("matrix_along",),
       skip={"parity_dtype": "bytes are rounded once here, in PyTorch their weights are too"}),
    Op(F + "interpolate:not finite",
       lambda make: [sample(make.fixed([[[1.0, np.inf, 3.0, np.nan, 2.0]]]), size, mode="linear")
                     for size in (3, 9)],
       nonsmooth=True, skip={"jet": "finite numbers only"}),
    Op(F + "adaptive_avg_pool1d:not finite",
       lambda make: [sample(make.fixed([[[1.0, np.inf, 3.0, np.nan, 2.0]]]), 3)],
       nonsmooth=True, skip={"jet": "finite numbers only"}),
    Op(F + "grid_sample", _grids, primitives=("floor_index", "round_index", "pick", "put_add")),
    Op("floor_index", lambda make: [sample(make(3, 4))], primitives=("floor_index",), torch=None,
       reference=lambda x: np.floor(x).astype(np.int64)),
    Op("round_index", lambda make: [sample(make(3, 4))], primitives=("round_index",), torch=None,
       reference=lambda x: np.rint(x).astype(np.int64)),
    Op(F + "affine_grid",
       lambda make: [sample(make(2, 2, 3), (2, 1, 3, 2), True), sample(make(1, 2, 3), (1, 1, 2, 2)),
                     sample(make(1, 3, 4), (1, 1, 2, 3, 2), align_corners=False)]),
    Op(F + "pad", _pads, complex=True),
    Op(F + "pixel_shuffle", lambda make: [sample(make(2, 8, 2, 3), 2), sample(make(9, 1, 1), 3)]),
    Op(F + "pixel_unshuffle", lambda make: [sample(make(2, 2, 4, 6), 2), sample(make(1, 3, 3), 3)]),
    Op(F + "channel_shuffle", lambda make: [sample(make(2, 6, 3), 3), sample(make(1, 4, 2, 2), 2)]),
)  # fmt: skip

# --- attention ------------------------------------------------------------------------------------


def _attention(make):
    q, k, v = make(2, 3, 4), make(2, 5, 4), make(2, 5, 6)
    mask = make.bool((3, 5))
    return [
        sample(q, k, v),
        sample(q, k, v, is_causal=True),
        sample(q, k, v, scale=0.3),
        sample(q, k, v, make(3, 5)),
        sample(q, k, v, mask),
        sample(make(1, 4, 3, 2), make(1, 2, 3, 2), make(1, 2, 3, 2), enable_gqa=True),
    ]


def _heads(make):
    x, y = make(3, 2, 4), make(5, 2, 4)
    common = (4, 2, make(12, 4), make(12), None, None, False, 0.0, make(4, 4), make(4))
    extra = (4, 2, make(12, 4), make(12), make(1, 1, 4), make(1, 1, 4), True, 0.0, make(4, 4), None)
    return [
        sample(x, x, x, *common),
        sample(x, y, y, *common, average_attn_weights=False),
        sample(x, y, y, *extra, need_weights=False),
        sample(make(3, 4), make(3, 4), make(3, 4), *common, attn_mask=make(3, 3)),
        sample(
            x, make(5, 2, 3), make(5, 2, 5), 4, 2, None, make(12), None, None, False, 0.0,
            make(4, 4), make(4), use_separate_proj_weight=True, q_proj_weight=make(4, 4),
            k_proj_weight=make(4, 3), v_proj_weight=make(4, 5),
        ),
    ]  # fmt: skip


register(
    Op(F + "scaled_dot_product_attention", _attention,
       skip={"parity_gradgrad": "PyTorch has none for the kernel it takes without a mask"}),
    Op(F + "scaled_dot_product_attention:dropout",
       lambda make: [sample(make(2, 3, 4), make(2, 3, 4), make(2, 3, 4), dropout_p=0.5)],
       random=True),
    Op(F + "multi_head_attention_forward", _heads,
       skip={"parity_dtype": "PyTorch asserts where we multiply integers"}),
    Op(F + "bilinear",
       lambda make: [sample(make(2, 3), make(2, 4), make(5, 3, 4), make(5)),
                     sample(make(3), make(4), make(2, 3, 4)),
                     sample(make(0, 3), make(0, 4), make(2, 3, 4))]),
)  # fmt: skip

# --- embedding ------------------------------------------------------------------------------------


def _bags(make):
    table = make(6, 3)
    offsets = core.from_array(np.array([0, 2, 2]))
    return [
        sample(make.index((2, 3), 6), table),
        sample(make.index((2, 3), 6), table, mode="sum"),
        sample(make.index((2, 3), 6, unique=True), make.distinct(6, 3), mode="max"),
        sample(make.index(5, 6), table, offsets, mode="sum", per_sample_weights=make(5)),
        sample(make.index(5, 6), table, offsets, mode="mean"),
        sample(make.index((2, 3), 6), table, padding_idx=1, mode="mean"),
    ]


register(
    Op(F + "embedding",
       lambda make: [sample(make.index((2, 3), 5), make(5, 4)),
                     sample(make.index((), 5), make(5, 4)),
                     sample(make.index((0,), 5), make(5, 4))],
       primitives=("embedding", "embedding_grad", "embedding_pick"), complex=True),
    Op(F + "embedding:padding and frequency",
       lambda make: [sample(make.index((2, 6), 3), make(3, 4), padding_idx=1),
                     sample(make.index((7,), 3), make(3, 4), scale_grad_by_freq=True)],
       primitives=("embedding", "embedding_grad", "embedding_pick"), nonsmooth=True,
       gradgrad=False, forward=False),
    Op("embedding_grad",
       lambda make: [sample(make(2, 3, 4), make.index((2, 3), 5), 5, 5, None, False),
                     sample(make(6, 4), make.index((6,), 5), 5, 5, 2, True)],
       primitives=("embedding_grad",), torch=None),
    Op("embedding_pick",
       lambda make: [sample(make(5, 4), make.index((2, 3), 5), 5, 2, True)],
       primitives=("embedding_pick",), torch=None),
    Op(F + "embedding_bag", _bags),
    Op(F + "one_hot", lambda make: [sample(make.index((2, 3), 4), 4), sample(make.index((), 3), 5)],
       reference=lambda i, n: np.eye(n, dtype=np.int64)[i]),
)  # fmt: skip

# --- dropout --------------------------------------------------------------------------------------


def _dropped(*shape):
    return lambda make: [sample(make.positive(*shape), 0.4, True)]


register(
    Op("dropout", _dropped(3, 4), random=True),
    Op(F + "dropout", lambda make: [sample(make(3, 4)), sample(make(3, 4), 1.0)], random=True),
    Op(
        F + "dropout:evaluation",
        lambda make: [sample(make(3, 4), training=False)],
        reference=lambda x, training: x,
    ),
    Op(F + "dropout1d", lambda make: [sample(make(2, 3, 4)), sample(make(3, 4))], random=True),
    Op(F + "dropout2d", lambda make: [sample(make(2, 3, 2, 2))], random=True),
    Op(F + "dropout3d", lambda make: [sample(make(2, 3, 1, 2, 2))], random=True),
    Op("feature_dropout", _dropped(3, 4), random=True),
    Op("alpha_dropout", _dropped(3, 4), random=True),
    Op(F + "alpha_dropout", _dropped(3, 4), random=True),
    Op("feature_alpha_dropout", _dropped(3, 4), random=True),
    Op(F + "feature_alpha_dropout", _dropped(3, 4, 2), random=True),
)
