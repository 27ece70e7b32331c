"""Rows of the copying forms of views."""

from tests.optable.schema import Op, register, sample

_CALLS = {
    "alias_copy": lambda make: [sample(make(2, 3)), sample(make())],
    "as_strided_copy": lambda make: [sample(make(6), (3, 2), (2, 1))],
    "diagonal_copy": lambda make: [sample(make(3, 4)), sample(make(3, 4), 1)],
    "expand_copy": lambda make: [sample(make(3, 1), (3, 4)), sample(make(3, 1), (2, -1, 4))],
    "narrow_copy": lambda make: [sample(make(3, 4), 1, 1, 2)],
    "permute_copy": lambda make: [sample(make(2, 3, 4), (2, 0, 1))],
    "select_copy": lambda make: [sample(make(3, 4), 0, 1)],
    "slice_copy": lambda make: [sample(make(3, 4), 1, 1, 4, 2), sample(make(3))],
    "split_copy": lambda make: [sample(make(5, 2), 2)],
    "split_with_sizes_copy": lambda make: [sample(make(5, 2), (1, 4))],
    "squeeze_copy": lambda make: [sample(make(2, 1, 3, 1)), sample(make(2, 1), 1)],
    "t_copy": lambda make: [sample(make(2, 3))],
    "transpose_copy": lambda make: [sample(make(2, 3, 4), 0, 2)],
    "unbind_copy": lambda make: [sample(make(3, 2), 1)],
    "unfold_copy": lambda make: [sample(make(7), 0, 3, 2)],
    "unsqueeze_copy": lambda make: [sample(make(2, 3), 1)],
    "view_copy": lambda make: [sample(make(2, 6), (3, 4))],
}

register(
    *[
        Op(
            name,
            samples,
            primitives=("clone",),
            complex=True,
            skip=dict.fromkeys(
                ("layout", "vmap_vmap", "vmap_empty") if name == "as_strided_copy" else (),
                "what strides mean depends on how the elements lie in memory",
            ),
        )
        for name, samples in _CALLS.items()
    ],
)
