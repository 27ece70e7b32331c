"""Every option of gradcheck and gradgradcheck: a rule that is wrong in just that respect.

Each passes all the checks without the option, and the error with it says where it is wrong, and
what was found and expected.
"""

from __future__ import annotations

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, gradcheck, gradgradcheck
from tensorplay.autograd.gradcheck import GradcheckError

from .support import ON_TORCH, beyond_torch, leaf, raises

if not ON_TORCH:
    from tensorplay._core.core import Primitive


def point(*values):
    return leaf(list(values))


class Twice(Function):
    """x -> 2 x and y -> 2 y, right in every respect; the tests below spoil one rule at a time."""

    @staticmethod
    def forward(x, y):
        return x * 2, y * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g, h):
        return g * 2, h * 2

    @staticmethod
    def jvp(ctx, t, u):
        return t * 2, u * 2

    @staticmethod
    def vmap(info, in_dims, x, y):
        return Twice.apply(x, y), in_dims


def inputs():
    return point(1.0, 2.0), point(3.0, 4.0)


ALL = {
    "check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True,
    "check_undefined_grad": True, "check_grad_dtypes": True,
}  # fmt: skip


def without(*names):
    """All the options but some."""
    options = {name: value for name, value in ALL.items() if name not in names}
    if "check_forward_ad" in names:
        options.pop("check_batched_forward_grad", None)
    return {**options, **dict.fromkeys([n for n in names if n == "check_undefined_grad"], False)}


def test_nothing_is_wrong_with_the_right_one():
    for fast in (False, True):
        assert gradcheck(Twice.apply, inputs(), fast_mode=fast, **ALL)
        assert gradgradcheck(Twice.apply, inputs(), fast_mode=fast, check_fwd_over_rev=True)


@beyond_torch
@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
def test_reverse_mode(fast):
    class Wrong(Twice):
        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * tp.tensor([2.0, 2.5], dtype=tp.float64)

        vmap = Function.vmap

    options = {"check_backward_ad": False, "check_forward_ad": True}
    assert gradcheck(Wrong.apply, inputs(), fast_mode=fast, **options)
    with raises(GradcheckError, "output 1", "input 1", "reverse mode", "entry (1,)",
                "numerical: 2\n", "analytical: 2.5"):  # fmt: skip
        gradcheck(Wrong.apply, inputs(), fast_mode=fast)


@beyond_torch
@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
def test_forward_mode(fast):
    class Wrong(Twice):
        @staticmethod
        def jvp(ctx, t, u):
            return t * tp.tensor([1.5, 2.0], dtype=tp.float64), u * 2

        vmap = Function.vmap

    assert gradcheck(Wrong.apply, inputs(), fast_mode=fast, **without("check_forward_ad"))
    with raises(GradcheckError, "output 0", "input 0", "forward mode", "entry (0,)",
                "numerical: 2\n", "analytical: 1.5"):  # fmt: skip
        gradcheck(Wrong.apply, inputs(), fast_mode=fast, **ALL)


class WrongWhenBatched(Function):
    """Right for one sample, and for a batch wrong by its vmap staticmethod."""

    @staticmethod
    def forward(g):
        return g * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 2

    @staticmethod
    def vmap(info, in_dims, g):
        return g * 3, in_dims[0]


@beyond_torch  # whose check does not use the vmap staticmethod
def test_a_batch_of_cotangents():
    class Wrong(Twice):
        @staticmethod
        def backward(ctx, g, h):
            return g * 2, WrongWhenBatched.apply(h)

        vmap = Function.vmap

    assert gradcheck(Wrong.apply, inputs(), **without("check_batched_grad"))
    with raises(GradcheckError, "output 1", "input 1", "vmap", "expected"):
        gradcheck(Wrong.apply, inputs(), **ALL)


@beyond_torch
def test_a_batch_of_tangents():
    class Wrong(Twice):
        @staticmethod
        def jvp(ctx, t, u):
            return WrongWhenBatched.apply(t), u * 2

        vmap = Function.vmap

    assert gradcheck(Wrong.apply, inputs(), **without("check_batched_forward_grad"))
    with raises(GradcheckError, "tangents of output 0", "input 0", "vmap", "expected"):
        gradcheck(Wrong.apply, inputs(), **ALL)


@beyond_torch  # which warns besides
def test_missing_cotangents():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if g is None:  # which counts as zero, and must not give 7
                return tp.full((2,), 7.0, dtype=tp.float64)
            return g * 2

    x = point(1.0, 2.0)
    assert gradcheck(Wrong.apply, x, check_undefined_grad=False)
    with raises(GradcheckError, "no gradient", "input 0", "zeros"):
        gradcheck(Wrong.apply, x)


@beyond_torch
def test_missing_cotangents_that_raise():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2  # None * 2

    x = point(1.0, 2.0)
    assert gradcheck(Wrong.apply, x, check_undefined_grad=False)
    with raises(GradcheckError, "failed where", "no gradient", "None in place", "NoneType"):
        gradcheck(Wrong.apply, x)


@pytest.mark.skipif(ON_TORCH, reason="makes an operator")
def test_dtypes_of_gradients():
    single = Primitive(
        "single_of_the_test", lambda x: x * 2, ("x",), vjp=(lambda g: (g * 2).float(),),
        register=False,
    )  # fmt: skip
    x = point(1.0, 2.0)
    assert gradcheck(lambda x: single(x), x, atol=1e-4, check_undefined_grad=False)
    with raises(GradcheckError, "output 0", "input 0", "float32", "float64"):
        gradcheck(
            lambda x: single(x), x, atol=1e-4, check_undefined_grad=False, check_grad_dtypes=True
        )


def test_repeated_passes():
    calls = []

    class Wrong(Twice):
        @staticmethod
        def backward(ctx, g, h):
            calls.append(1)
            return g * 2, h * (2 + 1e-8 * len(calls))

        vmap = Function.vmap

    with raises(GradcheckError, "output 1", "input 1", "second time", "nondet_tol=0"):
        gradcheck(Wrong.apply, inputs())
    assert gradcheck(Wrong.apply, inputs(), nondet_tol=1e-5)


@pytest.mark.parametrize(("atol", "rtol", "good"), [
    (1e-5, 1e-3, False), (0.5, 1e-3, True), (0.05, 1e-3, False), (1e-5, 0.06, True),
    (1e-5, 0.04, False), (0.0, 0.06, True),
])  # fmt: skip
def test_tolerances(atol, rtol, good):
    class Off(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2.1  # by 0.1, a twentieth

    x = point(1.0)
    options = {"check_undefined_grad": False, "raise_exception": False}
    assert gradcheck(Off.apply, x, atol=atol, rtol=rtol, **options) is good


def test_the_step_of_the_differences():
    x = point(0.5)
    steps = []

    def f(x):
        steps.append(x.item())
        return x.exp()

    assert gradcheck(f, x, eps=1e-3, atol=1e-4)
    moved = {round(abs(value - 0.5), 9) for value in steps} - {0.0}
    assert moved == {1e-3}
    # x |x| is smooth only to first order: a large step sees that.
    assert gradcheck(lambda x: x.abs() * x, point(1e-4), eps=1e-6)
    assert not gradcheck(lambda x: x.abs(), point(1e-4), eps=1e-2, raise_exception=False)


def test_complex_inputs_and_outputs():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, z):
            return z * 1j

        @staticmethod
        def backward(ctx, g):
            return g * 1j  # the conjugate is missing

    z = leaf([1.0 + 2.0j, 0.5], tp.complex128)
    for fast in (False, True):
        with raises(GradcheckError, "output 0", "input 0", "part of entry"):
            gradcheck(Wrong.apply, z, fast_mode=fast)


class TestSecondDerivatives:
    def cube(self, second, forward=None):
        """x^3 whose derivative 3 x^2 has a derivative of its own, and a forward rule."""

        class Slope(Function):
            @staticmethod
            def forward(x, g):
                return 3 * x * x * g

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)

            @staticmethod
            def backward(ctx, h):
                x, g = ctx.saved_tensors
                return second(x, g) * h, 3 * x * x * h

            @staticmethod
            def jvp(ctx, t, u):
                x, g = ctx.saved_tensors
                return (forward or second)(x, g) * t + 3 * x * x * u

        class Cube(Function):
            @staticmethod
            def forward(x):
                return x**3

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return Slope.apply(x, g)

        return Cube.apply

    @staticmethod
    def right(x, g):
        return 6 * x * g

    @beyond_torch  # whose forward mode needs a jvp rule in every Function
    @pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
    def test_reverse_over_reverse(self, fast):
        x = point(1.0, 2.0)
        wrong = self.cube(lambda x, g: 7 * x * g, self.right)
        assert gradcheck(wrong, x, fast_mode=fast)
        assert gradgradcheck(self.cube(self.right), x, fast_mode=fast, check_fwd_over_rev=True)
        options = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
        assert gradgradcheck(wrong, x, fast_mode=fast, **options)
        with raises(GradcheckError, "input 0", "reverse mode", "numerical", "analytical"):
            gradgradcheck(wrong, x, fast_mode=fast)

    @beyond_torch
    @pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
    def test_forward_over_reverse(self, fast):
        x = point(1.0, 2.0)
        wrong = self.cube(self.right, lambda x, g: 7 * x * g)
        assert gradgradcheck(wrong, x, fast_mode=fast)
        with raises(GradcheckError, "input 0", "forward mode", "numerical", "analytical"):
            gradgradcheck(wrong, x, fast_mode=fast, check_fwd_over_rev=True)

    @beyond_torch
    def test_batches(self):
        x = point(1.0, 2.0)

        class Wrong(Function):
            """x -> x^2 / 2, whose second derivative is wrong for a batch of cotangents."""

            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x / 2

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return First.apply(x, g)

        class First(Function):
            @staticmethod
            def forward(ctx, x, g):
                ctx.save_for_backward(x, g)
                return x * g

            @staticmethod
            def backward(ctx, h):
                x, g = ctx.saved_tensors
                return WrongWhenBatched.apply(h * g) / 2, h * x

        assert gradcheck(Wrong.apply, x, check_batched_grad=True)
        assert gradgradcheck(Wrong.apply, x)
        with raises(GradcheckError, "output 0", "input 0", "vmap", "expected"):
            gradgradcheck(Wrong.apply, x, check_batched_grad=True)

    def test_given_cotangents_decide_where_it_is_checked(self):
        # The second derivative is right where the cotangent is 1 only.
        x = point(1.0, 2.0)
        wrong = self.cube(lambda x, g: 6 * x * g * g)
        assert gradgradcheck(wrong, x, point(1.0, 1.0))
        with raises(GradcheckError, "input 0"):
            gradgradcheck(wrong, x, point(1.0, 3.0))

    def test_cotangents_that_are_not_contiguous(self):
        seen = []

        class Looks(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                seen.append(g.is_contiguous())
                return g * 2

        assert gradgradcheck(Looks.apply, point(1.0, 2.0, 3.0))
        assert all(seen)
        seen.clear()
        x = point(1.0, 2.0, 3.0)
        assert gradgradcheck(Looks.apply, x, gen_non_contig_grad_outputs=True)
        assert not all(seen)


class TestOutcome:
    @pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
    def test_true_false_or_an_error(self, check):
        def wrong(x):
            y = x.exp()
            y.register_hook(lambda g: g * 3)
            return y

        x = point(1.0, 2.0)
        assert check(lambda x: x.exp(), x) is True
        assert check(wrong, x, raise_exception=False) is False
        with pytest.raises(GradcheckError):
            check(wrong, x)

    @beyond_torch
    def test_inputs_are_put_back_after_an_error(self):
        x = point(1.0, 2.0)
        calls = []

        def f(x):
            calls.append(1)
            if len(calls) == 4:
                raise ValueError("mine")
            return x.exp()

        with pytest.raises(ValueError, match="mine"):
            gradcheck(f, x)
        assert np.array_equal(x.detach().numpy(), [1.0, 2.0])
        assert x.grad is None
