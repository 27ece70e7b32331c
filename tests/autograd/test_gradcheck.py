"""gradcheck and gradgradcheck: they accept right derivatives and reject wrong ones."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, gradcheck, gradgradcheck
from tensorplay.autograd.gradcheck import GradcheckError

from .support import ON_TORCH, beyond_torch, close, const, leaf, raises

RNG = np.random.default_rng(0)


def point(*shape):
    return leaf(RNG.normal(size=shape))


def complex_point(*shape):
    return leaf(RNG.normal(size=shape) + 1j * RNG.normal(size=shape), tp.complex128)


every_speed = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
FUNCTIONS = {
    "one": (lambda x: x.sin(), (3,)),
    "scalar": (lambda x: (x * x).sum(), (2, 3)),
    "two outputs": (lambda x: (x.exp(), x.sum()), (4,)),
    "a list": (lambda x: [x * 2, x], (2,)),
    "an index output": (lambda x: x.sort(0), (4,)),
    "in place inside": (lambda x: x.clone().sin_().mul_(x), (3,)),
    "matrix": (lambda x: x @ x.t(), (3, 2)),
    "empty": (lambda x: x * 2, (0,)),
    "no dims": (lambda x: x.exp(), ()),
}


class TestRight:
    @every_speed
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_functions(self, name, fast):
        function, shape = FUNCTIONS[name]
        assert gradcheck(function, point(*shape), fast_mode=fast)
        assert gradgradcheck(function, point(*shape), fast_mode=fast)

    @every_speed
    def test_every_option_at_once(self, fast):
        x, y = point(3), point(2, 3)
        options = {"check_batched_grad": True, "fast_mode": fast, "check_grad_dtypes": True}

        def f(x, y, scale):
            return (x * y).tanh() * scale, y.exp().sum()

        assert gradcheck(
            f, (x, y, 2.0), check_forward_ad=True, check_batched_forward_grad=True, **options
        )
        assert gradgradcheck(f, (x, y, 2.0), check_fwd_over_rev=True, **options)

    @every_speed
    @pytest.mark.parametrize(
        "function",
        [
            lambda z: z * z,
            lambda z: z.conj() * z,
            lambda z: z.abs(),
            lambda z: z.real * 2 + z.imag**2,
            lambda z: z.exp().sum(),
        ],
    )
    def test_complex(self, function, fast):
        z = complex_point(3)
        assert gradcheck(function, z, check_forward_ad=True, fast_mode=fast)
        assert gradgradcheck(function, z, fast_mode=fast)

    def test_real_to_complex(self):
        assert gradcheck(lambda x: tp.complex(x, x * x), point(3), check_forward_ad=True)

    def test_inputs_that_need_no_grad_are_left_alone(self):
        y = const([1.0, 2.0])
        assert gradcheck(lambda x, y: x * y, (point(2), y))
        close(y, [1.0, 2.0])

    def test_inputs_are_as_they_were(self):
        x = point(3)
        before = x.detach().clone()
        gradcheck(lambda x: x.sin(), x)
        close(x, before)
        assert x._version == 0
        assert x.grad is None

    def test_parameters_that_the_function_reads_from_elsewhere(self):
        w = point(3)
        assert gradcheck(lambda _: w.sin(), (w,))

    def test_a_strided_input(self):
        x = const(RNG.normal(size=(4, 3))).t().requires_grad_()
        assert gradcheck(lambda x: x.exp(), x)

    def test_given_cotangents(self):
        assert gradgradcheck(lambda x: x.sin(), point(2), leaf([1.0, 2.0]))
        assert gradgradcheck(lambda x: x.sin(), point(2), gen_non_contig_grad_outputs=True)


def wrong_by(factor, forward=lambda x: x.sin(), slope=lambda x: x.cos()):
    """A function whose backward is off by a factor."""

    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * slope(x) * factor

    return Wrong.apply


class TestWrong:
    @every_speed
    def test_a_factor(self, fast):
        with raises(GradcheckError, "output 0", "input 0", "numerical", "analytical"):
            gradcheck(wrong_by(1.01), point(3), fast_mode=fast)

    @beyond_torch
    def test_a_rule_that_is_a_thousandth_off(self):
        assert gradcheck(wrong_by(1.0), point(3), rtol=1e-4)
        with raises(GradcheckError):
            gradcheck(wrong_by(1.001), point(3), rtol=1e-4)

    @beyond_torch
    def test_the_message_names_the_entry_and_the_values(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, a, x):
                return a * 1, x * 2

            @staticmethod
            def backward(ctx, ga, gx):
                factor = const([[2.0, 2.0], [2.0, 5.0]])
                return ga, gx * factor

        with pytest.raises(GradcheckError) as caught:
            gradcheck(lambda a, x: Wrong.apply(a, x), (point(1), point(2, 2)))
        message = str(caught.value)
        for words in ("output 1", "input 1", "entry (1, 1)", "numerical: 2", "analytical: 5"):
            assert words in message

    @beyond_torch
    def test_the_message_names_the_part_of_a_complex_entry(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, z):
                return z * 1j

            @staticmethod
            def backward(ctx, g):
                return g * 1j

        with raises(GradcheckError, "imaginary part of entry"):
            gradcheck(Wrong.apply, complex_point(2))

    def test_false_in_place_of_an_error(self):
        assert gradcheck(wrong_by(2.0), point(3), raise_exception=False) is False
        assert gradgradcheck(wrong_by(2.0), point(3), raise_exception=True)

    def test_other_errors_are_not_swallowed(self):
        with pytest.raises(ZeroDivisionError):
            gradcheck(lambda x: 1 / 0, point(3), raise_exception=False)

    def test_a_wrong_second_derivative(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.sin()

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * x.detach().cos()

        assert gradcheck(Wrong.apply, point(3))
        with raises(GradcheckError):
            gradgradcheck(Wrong.apply, point(3))

    def test_a_detached_output(self):
        with raises(GradcheckError, "does not require grad"):
            gradcheck(lambda x: x.detach() * 2, point(2))

    def test_a_wrong_forward_rule(self):
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

            @staticmethod
            def jvp(ctx, t):
                return t * 3

        assert gradcheck(Wrong.apply, point(2))
        for fast in (False, True):
            with raises(GradcheckError, "forward mode"):
                gradcheck(Wrong.apply, point(2), check_forward_ad=True, fast_mode=fast)
        with pytest.raises(GradcheckError):
            gradcheck(Wrong.apply, point(2), check_forward_ad=True, check_backward_ad=False)

    def test_a_backward_that_is_not_the_same_twice(self):
        class Random(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return g * (1 + tp.rand(2, dtype=tp.float64) * 1e-9)

        with raises(GradcheckError, "nondet_tol"):
            gradcheck(Random.apply, point(2))
        assert gradcheck(Random.apply, point(2), nondet_tol=1e-6)

    def test_a_backward_that_is_not_linear(self):
        class Affine(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return g + (0 if float(g.abs().sum()) else 1)

        with raises(GradcheckError, "not multiplied by grad_output"):
            gradcheck(Affine.apply, point(2))

    def test_a_backward_that_cannot_be_batched(self):
        class Reads(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                g.sum().item()
                return g * 1

        assert gradcheck(Reads.apply, point(2))
        with raises(GradcheckError, "vmap"):
            gradcheck(Reads.apply, point(2), check_batched_grad=True)

    @beyond_torch
    def test_a_backward_that_fails_without_a_gradient(self):
        class Two(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1, x * 2

            @staticmethod
            def backward(ctx, g, h):
                if not float(g.abs().sum()) and not float(h.abs().sum()):
                    raise ValueError("nothing came")
                return g + 2 * h

        with pytest.raises((GradcheckError, ValueError)):
            gradcheck(Two.apply, point(2))


class TestArguments:
    def test_nothing_to_check(self):
        with raises(ValueError, "gradcheck", "requires grad"):
            gradcheck(lambda x: x * 2, const([1.0]))
        with raises(AssertionError, "check_backward_ad"):
            gradcheck(lambda x: x * 2, point(1), check_backward_ad=False)
        with raises(AssertionError, "check_forward_ad"):
            gradcheck(lambda x: x * 2, point(1), check_batched_forward_grad=True)
        with raises(AssertionError, "check_rev_over_rev"):
            gradgradcheck(lambda x: x * 2, point(1), check_rev_over_rev=False)

    @beyond_torch
    @pytest.mark.parametrize("result", [3, {"a": 1}, None])
    def test_results_must_be_tensors(self, result):
        with raises(ValueError, "gradcheck", type(result).__name__):
            gradcheck(lambda x: result, point(1))

    def test_single_precision_warns(self):
        x = tp.ones(2, dtype=tp.float32, requires_grad=True)
        with pytest.warns(UserWarning, match="double precision"):
            gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)

    def test_expanded_inputs_are_refused(self):
        x = tp.ones(1, dtype=tp.float64).expand(3).requires_grad_()
        with raises(RuntimeError, "stride 0", "contiguous"):
            gradcheck(lambda x: x * 2, x)

    def test_an_input_that_no_output_needs(self):
        assert gradcheck(lambda x, y: x * 2, (point(2), point(3)))
        assert issubclass(GradcheckError, RuntimeError)
        assert ON_TORCH or GradcheckError is tp.autograd.GradcheckError
