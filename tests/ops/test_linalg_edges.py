"""Linear algebra at its edges: singular and degenerate matrices, phases, messages, dtypes."""

import numpy as np
import pytest

import tensorplay as tp

F64 = tp.float64


def matrix(values, grad=True, dtype=F64):
    return tp.tensor(values, dtype=dtype, requires_grad=grad)


def gradient(function, x):
    return tp.autograd.grad(function(x), x)[0]


# --- determinants ---------------------------------------------------------------------------------


def test_gradient_of_det_at_a_singular_matrix_is_the_cofactors():
    a = matrix([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(gradient(tp.det, a).numpy(), [[4, -2], [-2, 1]], atol=1e-14)
    # Of rank n - 2 and less all cofactors vanish.
    np.testing.assert_allclose(
        gradient(tp.det, matrix(np.diag([1.0, 0.0, 0.0]))).numpy(), np.zeros((3, 3))
    )


@pytest.mark.parametrize(
    "diagonal", [(0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 1.0, 1.0)]
)
def test_hessian_of_det_is_finite_at_any_rank(diagonal):
    n = len(diagonal)
    hessian = tp.func.hessian(tp.det)(tp.tensor(np.diag(diagonal))).numpy()
    expected = np.zeros((n, n, n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                others = np.prod([d for k, d in enumerate(diagonal) if k not in (i, j)])
                expected[i, i, j, j] += others
                expected[i, j, j, i] -= others
    np.testing.assert_allclose(hessian, expected, atol=1e-12)


def test_slogdet_of_a_singular_matrix():
    a = matrix([[1.0, 2.0], [2.0, 4.0]])
    sign, size = tp.linalg.slogdet(a)
    assert (sign.item(), size.item()) == (0.0, -np.inf)
    assert not np.isfinite(tp.autograd.grad(size, a)[0].numpy()).any()
    assert tp.logdet(matrix([[-1.0]])).isnan()


def test_det_of_per_sample_batches_mixes_regular_and_singular():
    a = tp.tensor([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]], dtype=F64)
    found = tp.func.vmap(tp.func.grad(tp.det))(a)
    np.testing.assert_allclose(found.numpy(), [[[4, -2], [-2, 1]], [[4, -3], [-2, 1]]], atol=1e-13)


# --- repeated eigenvalues and singular values -----------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tp.linalg.eigvalsh(a).sum(),
        lambda a: tp.linalg.eigh(a)[0].sum(),
        lambda a: tp.linalg.eigvals(a).sum().real,
    ],
)
def test_sums_of_eigenvalues_at_repeated_ones(function):
    found = gradient(function, matrix(np.eye(3)))
    np.testing.assert_allclose(found.numpy(), np.eye(3), atol=1e-14)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tp.linalg.svdvals(a).sum(),
        lambda a: tp.linalg.svd(a, full_matrices=False)[1].sum(),
        lambda a: tp.linalg.matrix_norm(a, "nuc"),
    ],
)
def test_sums_of_singular_values_at_repeated_ones(function):
    found = gradient(function, matrix(np.eye(3, 2)))
    np.testing.assert_allclose(found.numpy(), np.eye(3, 2), atol=1e-14)


def test_vectors_at_repeated_eigenvalues_have_no_finite_gradient():
    a = matrix(np.eye(2))
    found = gradient(lambda a: (tp.linalg.eigh(a)[1] * tp.tensor([1.0, 2.0])).sum(), a)
    assert not np.isfinite(found.numpy()).all()


# --- the phase of complex vectors -----------------------------------------------------------------

HERMITIAN = [[2.0, 1j, 0.5], [-1j, 3.0, 0.2], [0.5, 0.2, 1.0]]


@pytest.mark.parametrize(
    ("name", "vectors"),
    [
        ("linalg.eigh", lambda a: tp.linalg.eigh(a)[1]),
        ("linalg.eig", lambda a: tp.linalg.eig(a)[1]),
        ("linalg.svd", lambda a: tp.linalg.svd(a)[0]),
    ],
)
def test_functions_of_the_phase_of_complex_vectors_raise(name, vectors):
    a = matrix(HERMITIAN, dtype=tp.complex128)
    weights = tp.tensor(np.arange(9.0).reshape(3, 3) * (1 + 2j))
    with pytest.raises(RuntimeError, match=rf"{name}\(\): .*phase"):
        gradient(lambda a: (vectors(a) * weights).real.sum(), a)
    assert np.isfinite(gradient(lambda a: (vectors(a).abs() ** 2).sum(), a).numpy()).all()


# --- errors ---------------------------------------------------------------------------------------

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("linalg.inv", lambda a: tp.linalg.inv(a)),
        ("linalg.inv_ex", lambda a: tp.linalg.inv_ex(a, check_errors=True)),
        ("linalg.solve", lambda a: tp.linalg.solve(a, tp.ones(2, dtype=F64))),
        ("linalg.solve_ex", lambda a: tp.linalg.solve_ex(a, a, check_errors=True)),
        ("linalg.lu_factor", lambda a: tp.linalg.lu_factor(a)),
        ("linalg.cholesky", lambda a: tp.linalg.cholesky(-a)),
        ("linalg.cholesky_ex", lambda a: tp.linalg.cholesky_ex(-a, check_errors=True)),
        ("cholesky", lambda a: tp.cholesky(-a)),
        ("linalg.svd", lambda a: tp.linalg.svd(a * float("nan"))),
        ("linalg.svdvals", lambda a: tp.linalg.svdvals(a * float("nan"))),
    ],
)
def test_numerical_failures_raise_linalg_error(name, call):
    with pytest.raises(tp.linalg.LinAlgError, match=rf"^{name}\(\): ") as raised:
        call(matrix(SINGULAR))
    assert isinstance(raised.value, RuntimeError)
    batch = tp.stack([tp.eye(2, dtype=F64), tp.tensor(SINGULAR, dtype=F64)])
    if name not in ("linalg.svd", "linalg.svdvals", "linalg.solve") and "chol" not in name:
        with pytest.raises(tp.linalg.LinAlgError, match="batch element 1"):
            call(batch)
    with pytest.raises(tp.linalg.LinAlgError):
        tp.func.vmap(call)(batch)


def test_variants_with_info_do_not_raise():
    batch = tp.stack([tp.eye(2, dtype=F64), tp.tensor(SINGULAR, dtype=F64)])
    inverse, info = tp.linalg.inv_ex(batch)
    assert info.dtype is tp.int32 and info.tolist() == [0, 2]
    np.testing.assert_allclose(inverse[0].numpy(), np.eye(2))
    assert not np.isfinite(inverse[1].numpy()).any()
    assert tp.linalg.solve_ex(batch, tp.ones(2, 2, 1, dtype=F64)).info.tolist() == [0, 2]
    factor, info = tp.linalg.cholesky_ex(tp.tensor([[1.0, 0.0], [0.0, -1.0]]))
    assert info.item() == 2
    assert tp.linalg.lu_factor_ex(batch).info.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (r"linalg\.inv\(\): A .*square.*3 by 2", lambda: tp.linalg.inv(tp.ones(3, 2))),
        (r"linalg\.inv\(\): A .*at least 2 dims.*\[3\]", lambda: tp.linalg.inv(tp.ones(3))),
        (r"linalg\.inv\(\): .*int64", lambda: tp.linalg.inv(tp.ones(2, 2).long())),
        (r"linalg\.eigh\(\): .*float16", lambda: tp.linalg.eigh(tp.ones(2, 2).half())),
        (r"linalg\.solve\(\): .*\[2, 2\].*\[3\]", lambda: tp.linalg.solve(tp.eye(2), tp.ones(3))),
        (
            r"linalg\.solve\(\): .*dtypes.*float32.*float64",
            lambda: tp.linalg.solve(tp.eye(2), tp.ones(2, dtype=F64)),
        ),
        (r"linalg\.qr\(\): mode .*'x'", lambda: tp.linalg.qr(tp.eye(2), mode="x")),
        (r"linalg\.lu\(\): LU without piv", lambda: tp.linalg.lu(tp.eye(2), pivot=False)),
        (r"linalg\.eigh\(\): UPLO .*'X'", lambda: tp.linalg.eigh(tp.eye(2), "X")),
        (r"linalg\.matrix_norm\(\): ord .*3", lambda: tp.linalg.matrix_norm(tp.eye(2), 3)),
        (r"linalg\.multi_dot\(\): .*\[2, 3\].*\[2, 3\]",
         lambda: tp.linalg.multi_dot([tp.ones(2, 3), tp.ones(2, 3)])),
        (r"linalg\.cross\(\): dim 0 .*size 3.*\[2\]",
         lambda: tp.linalg.cross(tp.ones(2), tp.ones(2))),
        (r"matmul\(\): .*\[2, 3\].*\[2, 3\]", lambda: tp.ones(2, 3) @ tp.ones(2, 3)),
        (r"matmul\(\): .*float32 and float64", lambda: tp.ones(2, 2) @ tp.ones(2, 2, dtype=F64)),
        (r"mm\(\): expected input to have 2 dims.*\[2\]", lambda: tp.mm(tp.ones(2), tp.ones(2, 2))),
        (r"addmm\(\): input of shape \[3\]",
         lambda: tp.addmm(tp.ones(3), tp.ones(2, 2), tp.ones(2, 2))),
        (r"linear\(\): .*\[2, 3\].*\[4, 2\]",
         lambda: tp.nn.functional.linear(tp.ones(2, 3), tp.ones(4, 2))),
        (r"einsum\(\): subscript 'j' has size 2 .*\[2, 3\].*3",
         lambda: tp.einsum("ij,jk->ik", tp.ones(2, 3), tp.ones(2, 3))),
        (r"einsum\(\): .*2 operands, but 1", lambda: tp.einsum("ij,jk", tp.ones(2, 3))),
        (r"einsum\(\): output subscript 'k' is in no", lambda: tp.einsum("ij->k", tp.ones(2, 3))),
        (r"tensordot\(\): .*sizes 3 and 2", lambda: tp.tensordot(tp.ones(2, 3), tp.ones(2, 3), 1)),
        (r"fft\.rfft\(\): .*real.*complex64", lambda: tp.fft.rfft(tp.ones(2) + 0j)),
        (r"fft\.fft\(\): norm .*'x'", lambda: tp.fft.fft(tp.ones(2), norm="x")),
        (r"fft\.fft\(\): sizes .*\[0\]", lambda: tp.fft.fft(tp.ones(2), n=0)),
        (r"fft\.fftn\(\): .*same length", lambda: tp.fft.fftn(tp.ones(2, 2), s=(2,), dim=(0, 1))),
        (r"stft\(\): return_complex", lambda: tp.stft(tp.ones(8), 4)),
        (r"istft\(\): .*3.* frequencies", lambda: tp.istft(tp.ones(5, 3) + 0j, 4, onesided=True)),
    ],
)  # fmt: skip
def test_messages_name_the_function_and_the_values(message, call):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_dims_out_of_range_are_index_errors():
    with pytest.raises(IndexError, match=r"fft\.fft\(\): dim 3"):
        tp.fft.fft(tp.ones(2), dim=3)
    with pytest.raises(IndexError):
        tp.linalg.vector_norm(tp.ones(2), dim=2)


# --- dtypes and conventions -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [tp.float32, tp.complex64])
def test_single_precision_stays(dtype):
    a = tp.eye(3, dtype=dtype) * 2
    complex_dtype, real_dtype = dtype.to_complex(), dtype.to_real()
    assert tp.linalg.inv(a).dtype is dtype
    assert tp.linalg.svdvals(a).dtype is real_dtype
    assert tp.linalg.eig(a)[0].dtype is complex_dtype
    assert tp.linalg.eigh(a)[0].dtype is real_dtype
    assert tp.linalg.matrix_exp(a).dtype is dtype
    assert tp.linalg.pinv(a).dtype is dtype
    assert tp.fft.fft(a).dtype is complex_dtype
    assert tp.fft.irfft(a).dtype is real_dtype
    assert tp.linalg.cond(a).dtype is real_dtype
    assert tp.linalg.slogdet(a)[1].dtype is real_dtype


def test_half_products_accumulate_in_single_precision():
    ones = tp.ones(1, 4096, dtype=tp.float16)
    assert (ones @ ones.T).item() == 4096.0
    assert (ones @ ones.T).dtype is tp.float16
    narrow = tp.ones(1, 512, dtype=tp.bfloat16)
    assert (narrow @ narrow.T).item() == 512.0


def test_addmm_with_beta_zero_ignores_what_is_in_the_input():
    x = tp.full((2, 2), float("nan"))
    found = tp.addmm(x, tp.eye(2), tp.eye(2), beta=0)
    assert found.tolist() == [[1, 0], [0, 1]]


def test_results_are_named_tuples():
    assert tp.linalg.svd(tp.eye(2))._fields == ("U", "S", "Vh")
    assert tp.svd(tp.eye(2))._fields == ("U", "S", "V")
    assert tp.linalg.qr(tp.eye(2))._fields == ("Q", "R")
    assert tp.linalg.slogdet(tp.eye(2))._fields == ("sign", "logabsdet")
    assert tp.linalg.lu(tp.eye(2))._fields == ("P", "L", "U")


def test_inverse_transforms_recover_the_signal():
    x = tp.tensor(np.random.default_rng(0).standard_normal(64))
    window = tp.hann_window(16, dtype=F64)
    spectrum = tp.stft(x, 16, 4, window=window, return_complex=True)
    assert spectrum.shape == (9, 17)
    back = tp.istft(spectrum, 16, 4, window=window, length=64)
    np.testing.assert_allclose(back.numpy(), x.numpy(), atol=1e-13)
    np.testing.assert_allclose(tp.fft.irfft(tp.fft.rfft(x[:63]), 63).numpy(), x[:63].numpy())
