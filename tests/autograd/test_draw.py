"""Pictures of graphs: text in the DOT language, and what the real Graphviz makes of it."""

from __future__ import annotations

import importlib
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import tensorplay as tp
from tensorplay.autograd.graph import draw

from .support import leaf, no_collector, raises, watch

needs_graphviz = pytest.mark.skipif(
    shutil.which("dot") is None, reason="needs Graphviz: apt install graphviz"
)


def boxes(source):
    """{name of a node: its label, a list of lines} of a text in the DOT language."""
    return {
        name: label.split("\\n")
        for name, label in re.findall(r'^  (\w+) \[label="((?:[^"\\]|\\.)*)"', source, re.M)
    }


def arrows(source):
    """The arrows between labelled nodes, by the first lines of their labels."""
    labels = boxes(source)
    return sorted(
        (labels[a][0], labels[b][0]) for a, b in re.findall(r"^  (\w+) -> (\w+)", source, re.M)
    )


def lines(picture, title):
    """The label of the one node with a title."""
    (found,) = [label for label in boxes(picture.source).values() if label[0] == title]
    return found


def svg_texts(data):
    """Every piece of text of an SVG picture."""
    root = ElementTree.fromstring(data)
    return [e.text for e in root.iter() if e.tag.endswith("text") and e.text]


def mlp():
    params = {
        "w1": tp.ones(4, 3, requires_grad=True), "b1": tp.zeros(4, requires_grad=True),
        "w2": tp.ones(1, 4, requires_grad=True),
    }  # fmt: skip
    x = tp.ones(5, 3)
    hidden = tp.tanh(x @ params["w1"].t() + params["b1"])
    return (hidden @ params["w2"].t()).sum(), params


class TestSource:
    def test_arrows_go_the_way_of_the_values(self):
        w = leaf([1.0, 2.0])
        picture = draw((w.exp() * w).sum(), params={"w": w})
        assert arrows(picture.source) == sorted(
            [("w", "ExpBackward0"), ("w", "MulBackward0"), ("ExpBackward0", "MulBackward0"),
             ("MulBackward0", "SumBackward0"), ("SumBackward0", "output")]
        )  # fmt: skip
        assert picture.nodes == 4
        assert not picture.summarised

    def test_boxes_say_shape_dtype_and_bytes(self):
        w = tp.ones(5, 3, requires_grad=True)
        picture = draw((w.exp() + 1).sum(), params={"w": w})
        assert lines(picture, "w") == ["w", "[5, 3] float32", "60 B"]
        assert lines(picture, "ExpBackward0") == ["ExpBackward0", "[5, 3] float32", "keeps 60 B"]
        assert lines(picture, "AddBackward0") == ["AddBackward0", "[5, 3] float32"]
        assert lines(picture, "SumBackward0") == ["SumBackward0", "[] float32"]
        assert lines(picture, "output") == ["output", "[] float32"]

    def test_large_amounts_are_readable(self):
        w = tp.ones(1000, 500, requires_grad=True)
        assert lines(draw(w.exp()), "ExpBackward0")[-1] == "keeps 2.0 MB"

    def test_what_hooks_keep_counts_too(self):
        w = tp.ones(1000, requires_grad=True)
        with tp.autograd.graph.saved_tensors_hooks(lambda t: t.numpy()[:10].copy(), tp.from_numpy):
            y = w.exp()
        assert lines(draw(y), "ExpBackward0")[-1] == "keeps 40 B"

    def test_after_a_backward_pass_it_is_freed(self):
        w = tp.ones(3, requires_grad=True)
        y = w.exp().sin()
        y.sum().backward()
        for title in ("ExpBackward0", "SinBackward0"):
            assert lines(draw(y), title)[-1] == "freed"

    def test_custom_functions(self):
        class Cube(tp.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 3 * x * x * g

        y = Cube.apply(tp.ones(2, 5, requires_grad=True))
        assert lines(draw(y), "CubeBackward") == ["CubeBackward", "[2, 5] float32", "keeps 40 B"]

    def test_several_outputs_of_an_operation(self):
        x = tp.ones(6, requires_grad=True)
        a, b = x.split(3)
        picture = draw(a.exp() * b)
        label = lines(picture, "SplitBackward0")
        assert label[1:3] == ["[3] float32", "[3] float32"]
        assert re.search(r'-> \w+ \[label="1"\]', picture.source)
        many = draw(tp.ones(9, requires_grad=True).unbind()[0])
        assert "and 5 more outputs" in many.source

    def test_named_outputs_and_leaves(self):
        a, b = leaf([1.0]), leaf([2.0])
        picture = draw({"loss": a * b, "size": a.abs()}, params={"a": a, "unused": leaf([1.0])})
        titles = {label[0] for label in boxes(picture.source).values()}
        assert {"loss", "size", "a", "leaf"} <= titles
        assert "unused" not in titles
        titles = {label[0] for label in boxes(draw([a * b, a.abs()]).source).values()}
        assert {"output 0", "output 1"} <= titles

    @needs_graphviz
    def test_names_with_special_characters(self):
        w = leaf([1.0])
        for name in ('a "quoted" name', "back\\slash", "layers.0.weight", "größe <b>"):
            picture = draw(w * 2, params={name: w})
            assert name in svg_texts(picture.pipe("svg"))

    def test_a_module(self):
        net = tp.nn.Sequential(tp.nn.Linear(3, 4), tp.nn.ReLU(), tp.nn.Linear(4, 1))
        picture = draw(net(tp.ones(2, 3)), params=dict(net.named_parameters()))
        titles = {label[0] for label in boxes(picture.source).values()}
        assert {"0.weight", "0.bias", "2.weight", "2.bias"} <= titles

    def test_it_is_the_text(self):
        picture = draw(leaf([1.0]) * 2)
        assert str(picture) == picture.source
        assert repr(picture) == "<Drawing of a graph of 2 nodes, drawn>"

    def test_it_keeps_no_tensor_alive(self):
        with no_collector():
            x = leaf([1.0])
            y = x.exp()
            picture = draw(y, params={"x": x})
            alive = watch(x, y, y.grad_fn)
            del x, y
            assert [ref() for ref in alive] == [None] * 3
        assert "ExpBackward0" in picture.source


class TestSummary:
    def chain(self, length):
        x = tp.ones(10, requires_grad=True)
        y = x
        for _ in range(length):
            y = y.sin() * 2
        return y

    def test_up_to_500_nodes_each_is_drawn(self):
        picture = draw(self.chain(249) + 0)  # 2 * 249 nodes, the sum, and the leaf
        assert picture.nodes == 500
        assert not picture.summarised
        assert sum(label[0] == "SinBackward0" for label in boxes(picture.source).values()) == 249

    def test_larger_graphs_are_summarised_by_operation(self):
        picture = draw(self.chain(250))
        assert picture.nodes == 501
        assert picture.summarised
        assert repr(picture) == "<Drawing of a graph of 501 nodes, summarised>"
        assert lines(picture, "SinBackward0") == ["SinBackward0", "250 times", "keeps 10.0 kB"]
        assert lines(picture, "AccumulateGrad") == ["AccumulateGrad", "1 times"]
        assert "501 nodes, summarised by operation" in picture.source
        assert arrows(picture.source) == sorted(
            [("AccumulateGrad", "SinBackward0"), ("SinBackward0", "MulBackward0"),
             ("MulBackward0", "SinBackward0")]
        )  # fmt: skip
        assert '[label="249"]' in picture.source  # how often a product goes into a sine

    @needs_graphviz
    def test_a_huge_graph_is_no_trouble(self):
        picture = draw(self.chain(20_000))
        assert picture.nodes == 40_001
        assert len(picture.source) < 2000
        assert "SinBackward0" in " ".join(svg_texts(picture.pipe("svg")))

    def test_the_limit_can_be_given(self):
        y = self.chain(5)
        assert draw(y, max_nodes=10).summarised
        assert not draw(y, max_nodes=11).summarised


@needs_graphviz
class TestGraphviz:
    """The pictures themselves, made by the programs of Graphviz."""

    def test_notebooks_show_svg(self):
        loss, params = mlp()
        picture = draw(loss, params=params)
        texts = svg_texts(picture._repr_svg_().encode())
        for expected in ("w1", "b1", "w2", "TanhBackward0", "[4, 3] float32", "output"):
            assert expected in texts
        shown = [text for text in texts if text.endswith("Backward0")]
        drawn = [label for label in boxes(picture.source).values() if label[0].endswith("0")]
        assert len(shown) == len([label for label in drawn if "Backward" in label[0]])

    @pytest.mark.parametrize(
        ("name", "format", "start"),
        [("graph.svg", None, b"<?xml"), ("graph.png", None, b"\x89PNG\r\n\x1a\n"),
         ("graph", None, b"<?xml"), ("graph.out", "png", b"\x89PNG\r\n\x1a\n"),
         ("graph.pdf", None, b"%PDF")],
    )  # fmt: skip
    def test_render_writes_a_file(self, tmp_path, name, format, start):
        loss, params = mlp()
        path = draw(loss, params=params).render(tmp_path / name, format)
        data = pathlib.Path(path).read_bytes()
        assert data.startswith(start)
        assert path == str(tmp_path / (name if "." in name else "graph.svg"))
        assert [p.name for p in tmp_path.iterdir()] == [path.rpartition("/")[2]]
        if start.startswith(b"\x89"):
            width, height = struct.unpack(">II", data[16:24])
            assert width > 50 and height > 200  # a chain of operations is a tall picture

    def test_an_unknown_format(self, tmp_path):
        with raises(ValueError, "draw", "'nonsense'", "'svg'"):
            draw(leaf([1.0]) * 2).render(tmp_path / "graph.nonsense")
        assert list(tmp_path.iterdir()) == []


class TestWithoutGraphviz:
    def test_without_the_package(self, monkeypatch):
        picture = draw(leaf([1.0]) * 2)
        original = importlib.import_module

        def refuse(name, *args):
            if name == "graphviz":
                raise ImportError("none here")
            return original(name, *args)

        monkeypatch.setattr(importlib, "import_module", refuse)
        with raises(ImportError, "draw", "pip install", "tensorplay[viz]", ".source"):
            picture.pipe("svg")
        assert picture._repr_svg_() is None
        assert "MulBackward0" in picture.source

    def test_without_the_programs(self, monkeypatch, tmp_path):
        picture = draw(leaf([1.0]) * 2)
        monkeypatch.setenv("PATH", str(tmp_path))
        with raises(RuntimeError, "draw", "apt install graphviz", ".source"):
            picture.render(tmp_path / "graph.svg")
        assert picture._repr_svg_() is None
        assert list(tmp_path.iterdir()) == []

    def test_importing_the_library_does_not_import_it(self):
        code = "import sys, tensorplay; sys.exit('graphviz' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestArguments:
    def test_nothing_to_draw(self):
        with raises(RuntimeError, "draw", "requires grad"):
            draw(tp.ones(2))
        with raises(RuntimeError, "draw"):
            draw([])

    @pytest.mark.parametrize("given", [3, [leaf([1.0]), 3], {"a": 3}, None, "text"])
    def test_only_tensors(self, given):
        with raises(TypeError, "draw", "tensor"):
            draw(given)

    def test_outputs_without_a_graph_are_left_out(self):
        x = leaf([1.0])
        titles = {label[0] for label in boxes(draw({"a": x * 2, "b": tp.ones(2)}).source).values()}
        assert "a" in titles and "b" not in titles

    def test_a_leaf_alone(self):
        w = leaf([1.0])
        assert arrows(draw(w, params={"w": w}).source) == [("w", "output")]
