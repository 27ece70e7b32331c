"""Several threads: graphs that cross from one to another, and backward passes at the same time."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd.graph import register_multi_grad_hook, saved_tensors_hooks

from .support import array, beyond_torch, close, leaf, no_collector, watch


def run_all(*functions):
    """Run functions at once, each in a thread, and give their results in order."""
    start = threading.Barrier(len(functions))
    results, errors = [None] * len(functions), []

    def work(i, function):
        try:
            start.wait(30)
            results[i] = function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=item) for item in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    return results


class TestFromOneThreadToAnother:
    def test_built_in_one_and_run_in_another_when_the_first_has_ended(self):
        x = leaf([0.5, 1.5])
        (y,) = run_all(lambda: (x.exp() * x).sin().sum())
        run_all(y.backward)
        value = np.exp([0.5, 1.5]) * [0.5, 1.5]
        close(x.grad, np.cos(value) * np.exp([0.5, 1.5]) * np.array([1.5, 2.5]))

    def test_grad_with_a_graph_of_its_own(self):
        x = leaf([0.5, 1.5])
        y = (x**3).sum()
        ((g,),) = run_all(lambda: tp.autograd.grad(y, x, create_graph=True))
        ((h,),) = run_all(lambda: tp.autograd.grad(g.sum(), x))
        close(h, 6 * array(x))

    def test_modes_do_not_cross(self):
        x = leaf([1.0])
        with tp.no_grad():
            (y,) = run_all(lambda: x * 2)
        assert y.requires_grad
        with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
            (y,) = run_all(lambda: x.exp())
        y.sum().backward()

    def test_hooks_run_in_the_thread_of_the_pass(self):
        seen = []
        x = leaf([1.0])

        def unpack(t):
            seen.append(threading.current_thread())
            return t

        with saved_tensors_hooks(lambda t: t, unpack):
            y = x.exp()
        y.register_hook(lambda g: seen.append(threading.current_thread()))
        thread = threading.Thread(target=y.sum().backward)
        thread.start()
        thread.join()
        assert seen == [thread, thread]

    def test_nothing_stays_alive(self):
        with no_collector():
            x = leaf([1.0])
            (y,) = run_all(functools.partial(lambda x: x.exp() * x, x))
            run_all(y.sum().backward)
            alive = watch(x, y)
            del x, y
            assert [ref() for ref in alive] == [None, None]


class TestEightAtOnce:
    """All numbers are whole, so that sums are exact in any order."""

    COUNT = 8
    TIMES = 40

    @pytest.mark.parametrize("size", [3, 100_000], ids=["small", "large"])
    def test_shared_leaves_add_up_exactly(self, size):
        w, v = leaf(np.ones(size)), leaf(np.ones(size))

        def work(k):
            def run():
                for _ in range(self.TIMES):
                    ((w * k) + v * w).sum().backward()

            return run

        run_all(*[work(k) for k in range(self.COUNT)])
        expected = self.TIMES * (sum(range(self.COUNT)) + self.COUNT)
        close(w.grad, np.full(size, expected), rtol=0, atol=0)
        close(v.grad, np.full(size, self.TIMES * self.COUNT), rtol=0, atol=0)

    def test_a_shared_part_of_the_graph(self):
        w = leaf([1.0, 2.0])
        shared = (w * 3).relu() * 2  # every pass goes through it

        def work(k):
            def run():
                for _ in range(self.TIMES):
                    (shared * k).sum().backward(retain_graph=True)

            return run

        run_all(*[work(k) for k in range(self.COUNT)])
        close(w.grad, [6.0 * self.TIMES * sum(range(self.COUNT))] * 2, rtol=0, atol=0)

    def test_the_very_same_graph(self):
        w = leaf([1.0, 2.0])
        y = ((w * w).tanh() * 3).sum()
        (expected,) = tp.autograd.grad(y, w, retain_graph=True)

        def run():
            found = [tp.autograd.grad(y, w, retain_graph=True)[0] for _ in range(self.TIMES)]
            return all((array(g) == array(expected)).all() for g in found)

        assert run_all(*[run] * self.COUNT) == [True] * self.COUNT

    def test_models_with_modules_and_hooks(self):
        net = tp.nn.Sequential(tp.nn.Linear(4, 8), tp.nn.ReLU(), tp.nn.Linear(8, 1)).double()
        with tp.no_grad():
            for p in net.parameters():
                p.copy_(tp.round(p * 10))
        calls = []
        net[0].weight.register_hook(lambda g: calls.append(1) or g)
        x = tp.ones(5, 4, dtype=tp.float64)
        net(x).sum().backward()
        once = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        calls.clear()

        def run():
            for _ in range(self.TIMES):
                net(x).sum().backward()

        run_all(*[run] * self.COUNT)
        assert len(calls) == self.COUNT * self.TIMES
        for p, g in zip(net.parameters(), once, strict=True):
            close(p.grad, self.COUNT * self.TIMES * array(g), rtol=0, atol=0)

    @beyond_torch  # whose forward-mode level is one for all threads
    def test_second_derivatives_and_transforms(self):
        def run():
            x = leaf([0.5, 1.5])
            (g,) = tp.autograd.grad((x**3).sum(), x, create_graph=True)
            (h,) = tp.autograd.grad(g.sum(), x)
            j = tp.vmap(tp.func.grad(lambda x: (x**3).sum()))(tp.tensor([[0.5], [1.5]]))
            k = tp.func.jvp(lambda x: x**3, (x.detach(),), (tp.ones(2, dtype=tp.float64),))[1]
            return array(h).tolist(), array(j).ravel().tolist(), array(k).tolist()

        expected = ([3.0, 9.0], [0.75, 6.75], [0.75, 6.75])
        for found in run_all(*[lambda: [run() for _ in range(20)]] * self.COUNT):
            assert found == [expected] * 20

    @beyond_torch  # which may run a multi-grad hook before all gradients are there
    def test_hooks_on_several_gradients_keep_the_passes_apart(self):
        a, b = leaf([1.0]), leaf([1.0])
        seen = []
        register_multi_grad_hook((a, b), lambda grads: seen.append([g.item() for g in grads]))

        def work(k):
            return lambda: [(a * k + b * (2 * k)).sum().backward() for _ in range(self.TIMES)]

        run_all(*[work(k) for k in range(1, self.COUNT + 1)])
        assert sorted(seen) == sorted(
            [[float(k), 2.0 * k] for k in range(1, self.COUNT + 1) for _ in range(self.TIMES)]
        )

    def test_an_error_in_one_of_them_is_its_own(self):
        w = leaf([1.0, 2.0])

        def good():
            for _ in range(self.TIMES):
                (w * 2).sum().backward()

        def bad():
            for _ in range(self.TIMES):
                y = w * 1
                y.register_hook(lambda g: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    y.sum().backward()

        run_all(*[good, bad] * 4)
        close(w.grad, [8.0 * self.TIMES] * 2, rtol=0, atol=0)

    def test_freeing_a_shared_graph_is_an_error_and_no_crash(self):
        def trial():
            w = leaf([1.0, 2.0])
            shared = w.exp()
            outcomes = []

            def run():
                try:
                    (shared * 1).sum().backward()
                    outcomes.append("ran")
                except RuntimeError as error:
                    outcomes.append("second time" in str(error))

            run_all(*[run] * 4)
            return outcomes

        for _ in range(30):
            outcomes = trial()
            assert "ran" in outcomes
            assert all(found in ("ran", True) for found in outcomes)
