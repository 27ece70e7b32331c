"""Forward mode outside of the function transforms: what ends a tangent, modes, threads."""

import threading

import pytest

import tensorplay as tp
import tensorplay.autograd.forward_ad as fwAD
from tensorplay import func
from tests.semantics.support import assert_close, const


def tangent(x, **level):
    return fwAD.unpack_dual(x, **level).tangent


class TestDetach:
    """A detached tensor is a constant to forward mode as it is to reverse mode."""

    def test_has_no_tangent(self):
        with fwAD.dual_level():
            x = fwAD.make_dual(const([1.0, 2.0]), const([3.0, 4.0]))
            assert tangent(x.detach()) is None
            assert_close(tangent(x * x.detach()), [3.0, 8.0])
            assert_close(tangent(x), [3.0, 4.0])

    def test_in_place(self):
        with fwAD.dual_level():
            x = fwAD.make_dual(const([1.0, 2.0]), const([3.0, 4.0])) * 2
            x.detach_()
            assert tangent(x) is None

    def test_has_none_at_any_level(self):
        with fwAD.dual_level() as outer, fwAD.dual_level() as inner:
            x = fwAD.make_dual(const([2.0]), const([1.0]), level=outer)
            x = fwAD.make_dual(x, const([1.0]), level=inner).detach()
            assert tangent(x, level=outer) is None and tangent(x, level=inner) is None

    @pytest.mark.parametrize(
        "derivative",
        [
            lambda f, x: func.jvp(f, (x,), (tp.ones_like(x),))[1],
            lambda f, x: func.jacfwd(f)(x).sum(1),
            lambda f, x: func.jacrev(f)(x).sum(1),
            lambda f, x: func.vmap(func.grad(f))(x),
            lambda f, x: func.vmap(func.jacfwd(f))(x),
            lambda f, x: func.linearize(f, x)[1](tp.ones_like(x)),
            lambda f, x: tp.autograd.functional.jvp(f, x, tp.ones_like(x))[1],
        ],
    )
    def test_inside_transforms_of_every_kind(self, derivative):
        x = const([1.0, 2.0])
        assert_close(derivative(lambda x: x.detach() * x, x), [1.0, 2.0])

    def test_a_straight_through_estimate_has_the_tangent_of_its_gradient(self):
        logits, direction = const([[0.3, -1.0, 0.7]]), const([[1.0, 0.0, 0.0]])

        def sample(x):
            tp.manual_seed(4)
            return tp.nn.functional.gumbel_softmax(x, hard=True)

        pushed = func.jvp(sample, (logits,), (direction,))[1]
        (pulled,) = func.vjp(sample, logits)[1](pushed)
        assert pushed.abs().max() > 1e-3
        assert_close((pulled * direction).sum(), (pushed * pushed).sum())


class TestInferenceMode:
    """Entering inference mode switches forward mode off, as PyTorch documents."""

    def test_results_have_no_tangent(self):
        with fwAD.dual_level():
            x = fwAD.make_dual(const([1.0]), const([1.0]))
            with tp.inference_mode():
                y = x * 2
                with tp.inference_mode(False):
                    assert_close(tangent(x * 2), [2.0])
                z = x * 2
            assert tangent(y) is None and tangent(z) is None
            assert_close(tangent(x * 2), [2.0])

    def test_levels_opened_inside_work(self):
        with tp.inference_mode():
            assert_close(func.jvp(lambda x: x**3, (const(2.0),), (const(1.0),))[1], 12.0)
            with fwAD.dual_level():
                x = fwAD.make_dual(const([3.0]), const([1.0]))
                assert_close(tangent(x * x), [6.0])

    def test_no_grad_does_not(self):
        with fwAD.dual_level(), tp.no_grad():
            assert_close(tangent(fwAD.make_dual(const([1.0]), const([1.0])) * 2), [2.0])


class TestThreads:
    """A dual tensor keeps its tangent in other threads while its level is open."""

    @staticmethod
    def elsewhere(function):
        found = []
        thread = threading.Thread(target=lambda: found.append(function()))
        thread.start()
        thread.join()
        return found[0]

    def test_operations_carry_tangents(self):
        with fwAD.dual_level():
            x = fwAD.make_dual(const([2.0]), const([1.0]))
            assert_close(tangent(self.elsewhere(lambda: x**3)), [12.0])
            assert_close(self.elsewhere(lambda: tangent(x**3)), [12.0])
        assert tangent(self.elsewhere(lambda: x**3)) is None

    def test_each_thread_has_levels_of_its_own(self):
        x = const([2.0])
        with fwAD.dual_level():
            outer = fwAD.make_dual(x, const([1.0]))

            def other():
                with fwAD.dual_level() as level:
                    inner = fwAD.make_dual(x, const([5.0]))
                    return level, tangent(inner * outer)

            level, found = self.elsewhere(other)
            assert level == 0
            assert_close(found, [10.0])
            assert_close(tangent(outer * x), [2.0])

    def test_a_thread_cannot_close_the_level_of_another(self):
        def close():
            with pytest.raises(RuntimeError, match=r"exit_dual_level\(\): no dual level"):
                fwAD.exit_dual_level()
            return True

        with fwAD.dual_level():
            assert self.elsewhere(close)
