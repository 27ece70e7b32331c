"""A picture of the graph behind a tensor, in the language of Graphviz."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tensorplay._core import core
from tensorplay._core.core import Node, Tensor

#: Larger graphs are summarised, one box per kind of operation.
MAX_NODES = 500


class Drawing:
    """What `draw` returns: a graph in the DOT language, shown as SVG by notebooks."""

    def __init__(self, source: str, nodes: int, summarised: bool) -> None:
        #: The text in the DOT language; it needs no Graphviz.
        self.source = source
        #: How many nodes the graph has.
        self.nodes = nodes
        #: Whether there were too many of them to draw each.
        self.summarised = summarised

    def __repr__(self) -> str:
        kind = "summarised" if self.summarised else "drawn"
        return f"<Drawing of a graph of {self.nodes} nodes, {kind}>"

    def __str__(self) -> str:
        return self.source

    def _repr_svg_(self) -> str | None:
        """The picture for a notebook; None (it then shows the text) without Graphviz."""
        try:
            return self.pipe("svg").decode()
        except (ImportError, RuntimeError):
            return None

    def pipe(self, format: str = "svg") -> bytes:
        """The picture in a format of Graphviz, such as 'svg', 'png' or 'pdf'.

        Raises:
            ImportError: without the `graphviz` package.
            RuntimeError: without the Graphviz programs that it calls.
            ValueError: for a format that Graphviz does not know.
        """
        try:
            graphviz = importlib.import_module("graphviz")
        except ImportError as error:
            raise ImportError(
                "draw(): making a picture needs the graphviz package: pip install "
                "'tensorplay[viz]'; the attribute .source has the graph as text"
            ) from error
        try:
            made: bytes = graphviz.Source(self.source).pipe(format=format)
        except graphviz.ExecutableNotFound as error:
            raise RuntimeError(
                "draw(): the Graphviz programs were not found; install them, for instance with "
                "'apt install graphviz' or 'brew install graphviz'; the attribute .source has the "
                "graph as text"
            ) from error
        except ValueError as error:
            raise ValueError(
                f"draw(): Graphviz knows no format '{format}'; use 'svg', 'png' or 'pdf'"
            ) from error
        return made

    def render(self, path: Any, format: str | None = None) -> str:
        """Write the picture to a file and return its path.

        path: the file; its ending says the format ('.svg' when it has none). format: the format,
        whatever the ending is.

        Raises:
            ImportError, RuntimeError: without Graphviz, as `pipe`.
        """
        name = os.fspath(path)
        ending = os.path.splitext(name)[1].lstrip(".")
        if format is None:
            format = ending or "svg"
            name = name if ending else name + ".svg"
        data = self.pipe(format)
        with open(name, "wb") as file:
            file.write(data)
        return name


def draw(
    tensor: Tensor | Sequence[Tensor] | Mapping[str, Tensor],
    params: Mapping[str, Tensor] | None = None,
    *,
    max_nodes: int = MAX_NODES,
) -> Drawing:
    """A picture of the graph that a backward pass from `tensor` would run through.

    Every box is a recorded operation with shape and dtype of its result and the bytes that it keeps
    alive for the backward pass; arrows go the way of the values, from the leaves to the outputs.

    Args:
        tensor: one output, several in a sequence, or a dict that names them.
        params: names of leaves, as in `dict(model.named_parameters())`.
        max_nodes: a graph of more nodes is summarised: one box per kind of operation.

    Raises:
        TypeError: if `tensor` holds something else than tensors.
        RuntimeError: if no output requires grad.

    >>> import tensorplay as tp
    >>> w = tp.ones(3, requires_grad=True)
    >>> picture = tp.autograd.graph.draw((w * 2).sum(), params={"w": w})
    >>> picture
    <Drawing of a graph of 3 nodes, drawn>
    >>> "MulBackward0" in picture.source
    True
    """
    outputs = _named_outputs(tensor)
    roots = [(name, core.gradient_edge(x)[0], x) for name, x in outputs]
    present = [node for _, node, _ in roots if node is not None]
    if not present:
        raise RuntimeError(
            "draw(): no output requires grad, so there is no graph behind it; call "
            "requires_grad_() on an input before computing it"
        )
    names = {id(x): name for name, x in (params or {}).items()}
    nodes = _reachable(present)
    if len(nodes) > max_nodes:
        return Drawing(_summary(nodes), len(nodes), True)
    return Drawing(_picture(nodes, roots, names), len(nodes), False)


def _named_outputs(tensor: Any) -> list[tuple[str, Tensor]]:
    if isinstance(tensor, Tensor):
        found: list[tuple[str, Any]] = [("output", tensor)]
    elif isinstance(tensor, Mapping):
        found = [(str(name), x) for name, x in tensor.items()]
    elif isinstance(tensor, Sequence):
        found = [(f"output {i}", x) for i, x in enumerate(tensor)]
    else:
        found = [("output", tensor)]
    for _, x in found:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"draw(): argument 'tensor' must be a tensor, or a sequence or dict of tensors, "
                f"got {type(x).__name__}"
            )
    return found


def _reachable(roots: list[Node]) -> list[Node]:
    """Every node behind some nodes, each once."""
    seen: dict[int, Node] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        waiting += [child for child, _ in node.next_functions if child is not None]
    return list(seen.values())


# --- what is written in the boxes -----------------------------------------------------------------


class _Facts(NamedTuple):
    title: str
    metas: list[Any]
    bytes: int
    freed: bool


def _facts(node: Node) -> _Facts:
    title = type(node).name(node)
    metas = [node.output_meta(i) for i in range(node.num_outputs)]
    freed = bool(getattr(node, "is_released", False))
    kept = getattr(type(node), "saved_bytes", None)
    return _Facts(title, metas, 0 if kept is None else kept(node), freed)


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{count} B"


def _meta_text(meta: Any) -> str:
    if meta is None or meta[1] is None:
        return ""
    shape, dtype = meta
    return f"{list(shape)} {str(dtype).rpartition('.')[2]}"


def _label(facts: _Facts) -> str:
    lines = [facts.title, *[text for text in map(_meta_text, facts.metas) if text][:4]]
    if len(facts.metas) > 4:
        lines.append(f"and {len(facts.metas) - 4} more outputs")
    if facts.freed:
        lines.append("freed")
    elif facts.bytes:
        lines.append(f"keeps {_size(facts.bytes)}")
    return "\\n".join(_escaped(line) for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# --- the two pictures -----------------------------------------------------------------------------

_HEAD = (
    "digraph graph_of_a_tensor {",
    "  rankdir=TB;",
    '  node [shape=box, style=filled, fillcolor="#eeeeee", fontname="monospace", fontsize=10];',
)


def _picture(nodes: list[Node], roots: list[Any], names: dict[int, str]) -> str:
    lines = list(_HEAD)
    place = {id(node): f"n{i}" for i, node in enumerate(nodes)}
    for node in nodes:
        leaf = getattr(node, "variable", None) if isinstance(node, core.AccumulateGrad) else None
        if leaf is None:
            lines.append(f'  {place[id(node)]} [label="{_label(_facts(node))}"];')
            continue
        name = names.get(id(leaf), "leaf")
        meta = _meta_text((leaf.shape, leaf.dtype))
        lines.append(
            f'  {place[id(node)]} [label="{_escaped(name)}\\n{meta}\\n'
            f'{_size(leaf.numel() * leaf.element_size())}", fillcolor="#b8d8f0"];'
        )
    for node in nodes:
        for child, number in node.next_functions:
            if child is not None:
                label = f' [label="{number}"]' if child.num_outputs > 1 else ""
                lines.append(f"  {place[id(child)]} -> {place[id(node)]}{label};")
    for i, (name, node, x) in enumerate(roots):
        if node is None:
            continue
        lines.append(
            f'  out{i} [label="{_escaped(name)}\\n{_meta_text((x.shape, x.dtype))}", '
            'fillcolor="#cfe8b0"];'
        )
        lines.append(f"  {place[id(node)]} -> out{i};")
    return "\n".join([*lines, "}"]) + "\n"


def _summary(nodes: list[Node]) -> str:
    """One box per kind of operation, with how often it occurs and what it keeps."""
    count: Counter[str] = Counter()
    size: Counter[str] = Counter()
    edges: Counter[tuple[str, str]] = Counter()
    titles = {id(node): type(node).name(node) for node in nodes}
    for node in nodes:
        title = titles[id(node)]
        count[title] += 1
        size[title] += _facts(node).bytes
        for child, _ in node.next_functions:
            if child is not None:
                edges[titles[id(child)], title] += 1
    place = {title: f"n{i}" for i, (title, _) in enumerate(count.most_common())}
    lines = [
        *_HEAD,
        f'  label="{len(nodes)} nodes, summarised by operation; {_size(sum(size.values()))} kept";',
    ]
    for title, number in count.most_common():
        kept = f"\\nkeeps {_size(size[title])}" if size[title] else ""
        lines.append(f'  {place[title]} [label="{_escaped(title)}\\n{number} times{kept}"];')
    for (source, title), number in edges.items():
        lines.append(f'  {place[source]} -> {place[title]} [label="{number}"];')
    return "\n".join([*lines, "}"]) + "\n"
