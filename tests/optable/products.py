"""Rows of matrix products and sums of products."""

import numpy as np

from tests.optable.schema import Op, register, sample


def _matmul_samples(make):
    return [
        sample(make(2, 3), make(3, 4)),
        sample(make(3), make(3)),
        sample(make(2, 3), make(3)),
        sample(make(3), make(3, 4)),
        sample(make(5, 2, 3), make(3, 4)),
        sample(make(5, 2, 3), make(5, 3, 4)),
        sample(make(2, 3), make(5, 3, 4), note="left operand broadcast"),
        sample(make(3), make(5, 3, 4)),
        sample(make(5, 2, 3), make(3)),
        sample(make(4, 1, 2, 3), make(5, 3, 2), note="batch dims broadcast"),
        sample(make(0, 3), make(3, 4)),
        sample(make(2, 0), make(0, 4)),
        sample(make(2, 0, 3), make(3, 0)),
    ]


def _np_linear(x, w, b=None):
    out = x @ w.T
    return out if b is None else out + b


register(
    Op(
        "matmul", _matmul_samples, primitives=("matmul", "matmul_nt", "matmul_tn"),
        reference=np.matmul, complex=True, out=True,
    ),
    Op(
        "mm", lambda make: [sample(make(2, 3), make(3, 4)), sample(make(0, 3), make(3, 2))],
        reference=np.matmul, complex=True, out=True,
    ),
    Op(
        "bmm",
        lambda make: [
            sample(make(2, 2, 3), make(2, 3, 4)), sample(make(0, 2, 3), make(0, 3, 1)),
        ],
        reference=np.matmul, complex=True, out=True,
    ),
    Op(
        "mv", lambda make: [sample(make(2, 3), make(3)), sample(make(2, 0), make(0))],
        reference=np.matmul, complex=True, out=True,
    ),
    Op(
        "dot", lambda make: [sample(make(3), make(3)), sample(make(0), make(0))],
        reference=np.dot, complex=True, out=True,
    ),
    Op(
        "vdot", lambda make: [sample(make(3), make(3)), sample(make(0), make(0))],
        reference=np.vdot, complex=True, out=True,
    ),
    Op(
        "outer", lambda make: [sample(make(3), make(2)), sample(make(0), make(2))],
        primitives=("outer",), reference=np.outer, complex=True, out=True,
    ),
    Op("ger", lambda make: [sample(make(3), make(2))], reference=np.outer, complex=True, out=True),
    Op(
        "inner",
        lambda make: [
            sample(make(3), make(3)), sample(make(2, 3), make(4, 5, 3)),
            sample(make(2, 3), make(3)), sample(make(3), make(2, 3)),
            sample(make(), make(2, 3)), sample(make(2), make()),
        ],
        reference=np.inner, complex=True, out=True,
    ),
    Op(
        "nn.functional.linear",
        lambda make: [
            sample(make(5, 3), make(4, 3), make(4)), sample(make(5, 3), make(4, 3)),
            sample(make(3), make(4, 3), make(4)), sample(make(2, 5, 3), make(4, 3), make(4)),
            sample(make(2, 5, 3), make(3)),
            sample(make(0, 3), make(4, 3), make(4)), sample(make(5, 0), make(4, 0), make(4)),
        ],
        primitives=("linear",), reference=_np_linear, complex=True,
    ),
)  # fmt: skip


def _fused(product):
    def reference(x, a, b, beta=1, alpha=1):
        return beta * x + alpha * product(a, b)

    return reference


def _fused_row(name, product, shape, left, right):
    def samples(make):
        return [
            sample(make(*shape), make(*left), make(*right)),
            sample(make(*shape), make(*left), make(*right), beta=0.5, alpha=2),
            sample(make(*shape[1:]), make(*left), make(*right), note="input broadcast"),
            sample(make(*shape), make(*left), make(*right), beta=0, alpha=-1.5),
        ]

    return Op(
        name, samples, reference=_fused(product), complex=True, inplace=True, out=True,
        skip={"inplace": "the broadcast sample cannot hold the result"},
    )  # fmt: skip


register(
    _fused_row("addmm", np.matmul, (2, 4), (2, 3), (3, 4)),
    _fused_row("addmv", np.matmul, (2,), (2, 3), (3,)),
    _fused_row("addr", np.outer, (2, 3), (2,), (3,)),
    _fused_row("baddbmm", np.matmul, (5, 2, 4), (5, 2, 3), (5, 3, 4)),
    _fused_row("addbmm", lambda a, b: np.matmul(a, b).sum(0), (2, 4), (5, 2, 3), (5, 3, 4)),
)

_EQUATIONS = (
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("i,j->ij", (3,), (4,)),
    ("i,i->", (3,), (3,)),
    ("bn,anm,bm->ba", (2, 5), (3, 5, 4), (2, 4)),
    ("...ii->...i", (2, 3, 3)),
    ("ij,kj,lk->il", (2, 3), (4, 3), (5, 4)),
    ("iij,jk->k", (2, 2, 3), (3, 4)),
    ("b...,b->...", (3, 2, 2), (3,)),
    ("Aa,aA", (2, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 4)),
)

register(
    Op(
        "einsum",
        lambda make: [
            sample(equation, *[make(*s) for s in shapes]) for equation, *shapes in _EQUATIONS
        ],
        reference=np.einsum, complex=True,
    ),
    Op(
        "einsum:broadcast",
        lambda make: [
            sample("ij,jk->ik", make(2, 1), make(3, 4)),
            sample("ij,ij->ij", make(2, 3), make(2, 1)),
            sample("ij,jk,k->i", make(2, 3), make(1, 4), make(4)),
            sample("...ij,...jk->...ik", make(5, 2, 3), make(6, 1, 3, 4)),
        ],
        complex=True,
    ),
    Op(
        "einsum:sublists",
        lambda make: [
            sample(make(2, 3), [0, 1], make(3, 4), [1, 2], [0, 2]),
            sample(make(5, 2, 3), [..., 0, 1], make(3, 4), [..., 1, 2]),
        ],
        reference=np.einsum, complex=True,
    ),
    Op(
        "tensordot",
        lambda make: [
            sample(make(2, 3, 4), make(3, 4, 5)), sample(make(2, 3), make(3, 4), dims=1),
            sample(make(2, 3), make(4), dims=0),
            sample(make(2, 3, 4), make(4, 5, 2), ([0, 2], [2, 0])),
        ],
        reference=lambda a, b, dims=2: np.tensordot(a, b, dims), complex=True,
    ),
    Op(
        "kron",
        lambda make: [
            sample(make(2, 3), make(4, 2)), sample(make(2, 3), make(4)),
            sample(make(3), make(1, 2, 2)), sample(make(), make(2, 2)),
        ],
        reference=np.kron, complex=True, out=True,
    ),
    Op(
        "chain_matmul",
        lambda make: [
            sample(make(2, 3), make(3, 5), make(5, 2), make(2, 4)), sample(make(2, 3), make(3, 5)),
            sample(make(2, 3)),
        ],
        reference=lambda *a: a[0] if len(a) == 1 else np.linalg.multi_dot(a), complex=True,
    ),
)  # fmt: skip
