"""The profiler: every call once, times that add up, bytes, tables and traces."""

import json
import re
import threading

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.autograd import Function
from tensorplay.autograd.profiler import profile, record_function

from .support import ON_TORCH, beyond_torch, close, leaf, raises


def names(prof):
    return [event.name.removeprefix("aten::") for event in prof.function_events]


def average(prof, name):
    (found,) = [a for a in prof.key_averages() if a.key.removeprefix("aten::") == name]
    return found


class TestEvents:
    def test_every_operator_is_recorded(self):
        x = tp.ones(3, 4)
        with profile() as prof:
            for _ in range(3):
                x.exp()
            x.sin().cos()
        assert average(prof, "exp").count == 3
        assert [n for n in names(prof) if n in ("exp", "sin", "cos")] == ["exp"] * 3 + [
            "sin",
            "cos",
        ]

    def test_the_results_are_those_without_a_profiler(self):
        x = leaf([1.0, 2.0])
        with profile():
            y = (x.exp() * x).sum()
            y.backward()
        close(x.grad, np.exp([1.0, 2.0]) * [2, 3])

    def test_nothing_is_recorded_outside(self):
        with profile() as prof:
            pass
        tp.ones(3).exp()
        assert names(prof) == []

    @beyond_torch
    def test_disabled(self):
        prof = profile(enabled=False)
        with prof:
            tp.ones(3).exp()
        assert not prof.function_events

    @beyond_torch
    def test_backward_nodes_hold_the_operators_that_they_run(self):
        x = leaf(np.ones((10, 10)))
        with profile() as prof:
            (x @ x).exp().sum().backward()
        events = {event.name: event for event in prof.function_events}
        assert "ExpBackward0" in events
        node = events["ExpBackward0"]
        assert [child.name for child in node.cpu_children] == ["mul"]
        assert node.cpu_children[0].cpu_parent is node

    @beyond_torch
    def test_custom_functions(self):
        class Twice(Function):
            @staticmethod
            def forward(ctx, x):
                return x + x

            @staticmethod
            def backward(ctx, g):
                return g * 2

        with profile() as prof:
            Twice.apply(leaf([1.0])).sum().backward()
        assert "Twice" in names(prof)
        assert "TwiceBackward" in names(prof)

    def test_times(self):
        x = tp.ones(300, 300)
        with profile() as prof:
            with record_function("all"):
                for _ in range(5):
                    x @ x
        whole, product = average(prof, "all"), average(prof, "matmul")
        assert whole.cpu_time_total >= product.cpu_time_total > 0
        assert whole.self_cpu_time_total < whole.cpu_time_total
        assert product.cpu_time == pytest.approx(product.cpu_time_total / 5)
        total = sum(event.self_cpu_time_total for event in prof.function_events)
        assert prof.self_cpu_time_total == pytest.approx(total)
        if not ON_TORCH:
            assert total <= whole.cpu_time_total * 1.01

    @beyond_torch
    def test_bytes(self):
        x = tp.ones(100, 10, dtype=tp.float64)
        with profile() as prof:
            x.exp()
            x.t()
            with record_function("two"):
                x.sin().sum()
        assert average(prof, "exp").cpu_memory_usage == 8000
        assert average(prof, "two").cpu_memory_usage == 8008
        assert average(prof, "two").self_cpu_memory_usage == 0
        assert sum(e.self_cpu_memory_usage for e in prof.function_events) == 16008

    def test_shapes(self):
        x, y = tp.ones(3, 4), tp.ones(4)
        with profile(record_shapes=True) as prof:
            x * y
            y * y
        shapes = [e.input_shapes for e in prof.function_events]
        assert shapes == [[[3, 4], [4]], [[4], [4]]]
        grouped = prof.key_averages(group_by_input_shape=True)
        assert sorted(a.count for a in grouped) == [1, 1]
        assert len(prof.key_averages()) == 1

    @beyond_torch
    def test_the_line_that_called(self):
        with profile(with_stack=True) as prof:
            tp.ones(3).exp()
        (event,) = [e for e in prof.function_events if e.name == "exp"]
        assert "test_profiler.py" in event.stack[0]
        assert "test_the_line_that_called" in event.stack[0]

    def test_an_error_inside_is_no_trouble(self):
        x = tp.ones(3)
        with profile() as prof:
            with pytest.raises(RuntimeError):
                x + tp.ones(4)
            x.exp()
        assert "exp" in names(prof)
        x.exp()

    def test_an_error_ends_the_profile(self):
        with pytest.raises(ValueError, match="mine"), profile() as prof:
            tp.ones(3).exp()
            raise ValueError("mine")
        assert "exp" in names(prof)
        with profile() as second:
            tp.ones(3).sin()
        assert "exp" not in names(second)

    @beyond_torch
    def test_profiles_nest(self):
        with profile() as outer:
            tp.ones(3).exp()
            with profile() as inner:
                tp.ones(3).sin()
        assert "sin" in names(outer)
        assert "exp" not in names(inner)
        assert "sin" in names(inner)

    def test_other_threads_are_left_alone(self):
        with profile() as prof:
            thread = threading.Thread(target=lambda: tp.ones(3).exp())
            thread.start()
            thread.join()
        assert "exp" not in names(prof)

    def test_under_vmap(self):
        with profile() as prof:
            tp.vmap(lambda x: x.exp())(tp.ones(3, 4))
        assert "exp" in names(prof)


class TestRecordFunction:
    def test_as_a_context(self):
        with profile() as prof:
            with record_function("block"):
                tp.ones(3).exp()
        assert names(prof)[0] == "block"
        assert average(prof, "block").count == 1

    def test_as_a_decorator(self):
        @record_function("mine")
        def f(x):
            """Doc."""
            return x * 2

        assert f.__name__ == "f"
        assert f.__doc__ == "Doc."
        with profile() as prof:
            f(tp.ones(3))
            f(tp.ones(3))
        assert average(prof, "mine").count == 2

    def test_without_a_profiler_it_does_nothing(self):
        with record_function("block"):
            close(tp.ones(3).double() * 2, [2.0] * 3)


class TestTable:
    def make(self):
        x = tp.ones(20, 20)
        with profile(record_shapes=False) as prof:
            for _ in range(4):
                x.exp()
            (x @ x).sum()
        return prof

    def test_columns_and_rows(self):
        text = self.make().key_averages().table(sort_by="count")
        for title in ("Name", "Self CPU", "CPU total", "CPU time avg", "# of Calls"):
            assert title in text
        lines = [line for line in text.splitlines() if re.search(r"\bexp\b", line)]
        assert len(lines) == 1
        assert lines[0].rstrip().endswith("4")
        assert "Self CPU time total" in text

    def test_sorting_and_limit(self):
        averages = self.make().key_averages()
        rows = averages.table(sort_by="count", row_limit=1)
        assert "exp" in rows
        assert "sum" not in rows.replace("Self CPU time", "")
        for key in ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count",
                    "cpu_memory_usage", "self_cpu_memory_usage"):  # fmt: skip
            assert "exp" in averages.table(sort_by=key)

    @beyond_torch
    def test_bad_sort_key(self):
        with raises(ValueError, "sort_by", "time"):
            self.make().key_averages().table(sort_by="time")

    @beyond_torch
    def test_every_line_fits_the_rule(self):
        lines = self.make().key_averages().table().splitlines()
        assert len({len(line) for line in lines[:-1]}) == 1
        assert str(self.make()).startswith("-")

    def test_total_average(self):
        prof = self.make()
        assert prof.total_average().count == len(prof.function_events)

    def test_results_before_the_end_are_refused(self):
        with profile() as prof:
            if not ON_TORCH:
                with raises(RuntimeError, "end of the with block"):
                    prof.key_averages()
        with pytest.raises(RuntimeError):
            prof.__enter__()


class TestTrace:
    def test_chrome_trace(self, tmp_path):
        x = leaf(np.ones((5, 5)))
        with profile() as prof:
            with record_function("block"):
                x.exp().sum().backward()
        path = tmp_path / "trace.json"
        prof.export_chrome_trace(str(path))
        data = json.loads(path.read_text())
        events = data["traceEvents"] if isinstance(data, dict) else data
        events = [e for e in events if e.get("ph") == "X"]
        by_name = {e["name"].removeprefix("aten::"): e for e in events}
        assert "exp" in by_name
        assert by_name["exp"]["dur"] >= 0
        if not ON_TORCH:
            block, inner = by_name["block"], by_name["exp"]
            assert block["ts"] <= inner["ts"]
            assert block["ts"] + block["dur"] >= inner["ts"] + inner["dur"]
            assert len(events) == len(prof.function_events)

    @beyond_torch
    def test_averages_have_no_place_in_time(self, tmp_path):
        with profile() as prof:
            tp.ones(3).exp()
        with raises(TypeError, "export_chrome_trace"):
            prof.key_averages().export_chrome_trace(tmp_path / "trace.json")

    @beyond_torch
    def test_every_event_lies_within_its_parent(self, tmp_path):
        x = leaf(np.ones((5, 5)))
        with profile() as prof:
            with record_function('a "quoted" name, 50 µs\n'):
                for _ in range(3):
                    (x @ x).exp().sum().backward()
        path = tmp_path / "trace.json"
        prof.export_chrome_trace(path)
        data = json.loads(path.read_text(encoding="utf-8"))
        events = data["traceEvents"]
        assert events[0]["name"] == 'a "quoted" name, 50 µs\n'
        for event in events:
            assert set(event) >= {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"}
            assert event["ts"] >= 0 and event["dur"] >= 0
            assert isinstance(event["args"]["bytes"], int)
        number = {id(event): i for i, event in enumerate(prof.function_events)}
        nested = 0
        for i, event in enumerate(prof.function_events):
            if event.cpu_parent is None:
                continue
            inner, outer = events[i], events[number[id(event.cpu_parent)]]
            nested += 1
            assert outer["ts"] <= inner["ts"] + 1e-6
            assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3
        assert nested >= 3 * 8  # the operators of the forward, and those inside of the nodes


class TestBytesAndTimesOfTheTable:
    @beyond_torch
    def test_the_numbers_are_those_of_the_events(self):
        x = tp.ones(256, 4, dtype=tp.float64)  # 8192 bytes
        with profile() as prof:
            for _ in range(3):
                x.exp()
            x.t()
            with record_function("outer"):
                x.sin()
        table = prof.key_averages().table(sort_by="self_cpu_memory_usage")
        titles, *rows = [
            re.split(r"\s{2,}", line.strip())
            for line in table.splitlines()
            if line.strip() and not line.startswith("-") and "Self CPU time total" not in line
        ]
        found = {row[0]: dict(zip(titles, row, strict=True)) for row in rows}
        assert found["exp"]["Self CPU Mem"] == found["exp"]["CPU Mem"] == "24.00 KB"
        assert found["exp"]["# of Calls"] == "3"
        assert found["outer"]["CPU Mem"] == "8.00 KB"
        assert found["outer"]["Self CPU Mem"] == "0 B"
        assert rows[0][0] == "exp"  # the most bytes first
        shares = [float(row["Self CPU %"].rstrip("%")) for row in found.values()]
        assert sum(shares) == pytest.approx(100, abs=0.1)
        for row in found.values():
            assert float(row["CPU total %"].rstrip("%")) >= float(row["Self CPU %"].rstrip("%"))
        average = next(a for a in prof.key_averages() if a.key == "exp")
        assert found["exp"]["CPU time avg"] == average.cpu_time_str
        assert found["exp"]["CPU total"] == average.cpu_time_total_str
