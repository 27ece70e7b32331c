"""Anomaly detection: the error itself says which forward operation it belongs to."""

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function, detect_anomaly, set_detect_anomaly

from .support import ON_TORCH, beyond_torch, close, const, leaf, raises

pytestmark = [
    pytest.mark.filterwarnings("ignore:Anomaly Detection"),
    pytest.mark.filterwarnings("ignore:detect_anomaly"),
    pytest.mark.filterwarnings("ignore:Error detected"),
]


def story(error):
    return "".join(error.__notes__)


def the_line_at_fault(x):
    return (x - 1.0).sqrt()


class TestNan:
    def test_a_nan_is_an_error(self):
        with detect_anomaly():
            y = (the_line_at_fault(leaf([1.0, 2.0])) * 0).sum()
            with raises(RuntimeError, "SqrtBackward0", "NaN", "[2]", "float64"):
                y.backward()

    @beyond_torch
    def test_the_error_carries_the_traceback_of_the_forward(self):
        with detect_anomaly():
            y = (the_line_at_fault(leaf([1.0, 2.0])) * 0).sum()
            with pytest.raises(RuntimeError) as caught:
                y.backward()
        text = story(caught.value)
        assert "SqrtBackward0" in text
        assert "the_line_at_fault" in text
        assert "test_anomaly.py" in text
        assert text.count("Error detected in") == 1

    def test_without_the_check_nan_passes(self):
        with detect_anomaly(check_nan=False):
            x = leaf([1.0])
            (the_line_at_fault(x) * 0).sum().backward()
        assert np.isnan(x.grad.numpy()).all()

    def test_outside_nan_passes(self):
        x = leaf([1.0])
        (the_line_at_fault(x) * 0).sum().backward()
        assert np.isnan(x.grad.numpy()).all()

    def test_infinity_is_no_nan(self):
        with detect_anomaly():
            x = leaf([1.0])
            the_line_at_fault(x).sum().backward()
        assert np.isinf(x.grad.numpy()).all()

    @beyond_torch
    def test_the_forward_outside_the_context(self):
        y = (the_line_at_fault(leaf([1.0])) * 0).sum()
        with detect_anomaly(), pytest.raises(RuntimeError) as caught:
            y.backward()
        assert "outside of anomaly detection" in story(caught.value)

    def test_complex_and_half(self):
        for dtype in (tp.complex128, tp.float16, tp.bfloat16):
            with detect_anomaly(), raises(RuntimeError, "NaN"):
                x = tp.zeros(2, dtype=dtype, requires_grad=True)
                y = (x.sqrt() * 0).sum()
                (y.real if dtype == tp.complex128 else y).backward()

    @beyond_torch
    def test_inside_vmap_of_grad(self):
        with detect_anomaly(), raises(RuntimeError, "SqrtBackward0"):
            tp.vmap(tp.func.grad(lambda x: (x.sqrt() * 0).sum()))(const(np.zeros((2, 3))))


class TestErrors:
    @beyond_torch
    def test_any_error_gets_the_note(self):
        class Fails(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                raise ValueError("mine")

        def called_here(x):
            return Fails.apply(x)

        with detect_anomaly():
            y = called_here(leaf([1.0]))
            with pytest.raises(ValueError, match="mine") as caught:
                y.sum().backward()
        assert "FailsBackward" in story(caught.value)
        assert "called_here" in story(caught.value)

    @beyond_torch
    def test_in_a_second_derivative_both_places_are_told(self):
        def first_place(x):
            return x**1.5

        def second_place(y, x):
            return tp.autograd.grad(y.sum(), x, create_graph=True)[0]

        with detect_anomaly():
            x = leaf([0.0])
            g = second_place(first_place(x), x)
            with pytest.raises(RuntimeError, match="NaN") as caught:
                (g * 0).sum().backward()
        text = story(caught.value)
        assert "second_place" in text
        assert "first_place" in text
        assert "part of the backward of PowBackward" in text

    def test_afterwards_everything_is_off(self):
        with pytest.raises(RuntimeError), detect_anomaly():
            (the_line_at_fault(leaf([1.0])) * 0).sum().backward()
        assert not tp.is_anomaly_enabled()
        y = leaf([1.0]) * 2
        assert y.grad_fn.metadata == {}
        x = leaf([1.0])
        (x * 2).sum().backward()
        close(x.grad, [2.0])


class TestSwitch:
    def test_entering_warns(self):
        with pytest.warns(UserWarning, match="Anomaly|anomaly"):
            with detect_anomaly():
                pass

    def test_as_a_function_and_as_a_context(self):
        set_detect_anomaly(True)
        assert tp.is_anomaly_enabled()
        assert tp.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(True, check_nan=False):
            assert not tp.is_anomaly_check_nan_enabled()
            with set_detect_anomaly(False):
                assert not tp.is_anomaly_enabled()
            assert tp.is_anomaly_enabled()
        assert tp.is_anomaly_check_nan_enabled()
        set_detect_anomaly(False)
        assert not tp.is_anomaly_enabled()

    def test_results_are_the_same(self):
        x = leaf([1.0, 2.0])
        with set_detect_anomaly(True):
            y = x.exp() * x
            y[0].mul_(2)
            (g,) = tp.autograd.grad(y.sum(), x, create_graph=True)
            (h,) = tp.autograd.grad(g.sum(), x)
        e = np.exp([1.0, 2.0])
        close(g, [2, 1] * (e * [2, 3]))
        close(h, [2, 1] * (e * [3, 4]))

    def test_the_trace_is_in_the_metadata(self):
        with set_detect_anomaly(True):
            y = leaf([1.0]).exp()
        lines = y.grad_fn.metadata["traceback_"]
        assert any("test_anomaly.py" in line for line in lines)
        assert ON_TORCH or "_on_record" not in lines[-1]
