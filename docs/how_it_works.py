"""How tensorplay works, in one runnable file: tensors, a graph, duals and batches.

Nothing here is used by the library; it is the library's idea, small enough to read in one sitting.
Run it: it checks itself. The names are those of the real thing, so that a reader who has seen this
file finds the way around `src/tensorplay`.

1. An operator is a *primitive*: a kernel on arrays, and rules written with operators again.
2. Reverse mode: a tensor that requires grad remembers the node that made it.
3. Forward mode: a tensor carries a tangent for every level that is open.
4. vmap and grad levels: a tensor may be a *box* around another tensor, one level down.
"""

import numpy as np

# --- 1. tensors and primitives --------------------------------------------------------------------


class Tensor:
    """An array, or a box around a tensor; with the state of reverse and forward mode."""

    def __init__(self, value, level=0, bdim=None, requires_grad=False):
        self.value = value  # an ndarray (level 0), or the tensor inside a box
        self.level = level  # which transform the box belongs to
        self.bdim = bdim  # where the batch is in the value; None: not batched
        self.requires_grad = requires_grad
        self.node = None  # what made it, when that was recorded
        self.grad = None
        self.tangents = {}  # forward level -> tangent, a tensor

    @property
    def shape(self):
        """The shape as code at this level sees it: a batch dimension is hidden."""
        shape = self.value.shape
        return shape if self.bdim is None else shape[: self.bdim] + shape[self.bdim + 1 :]

    def __add__(self, other):
        return add(self, other)

    def __radd__(self, other):
        return add(self, other)

    def __mul__(self, other):
        return mul(self, other)

    def __rmul__(self, other):
        return mul(self, other)

    def __neg__(self):
        return mul(self, -1.0)


def as_tensor(x):
    return x if isinstance(x, Tensor) else Tensor(np.asarray(x, dtype=float))


class Primitive:
    """A kernel with its rules.

    vjps[i](g, out, *inputs): the cotangent of input i. jvp(tangents, out, *inputs): the tangent of
    the output. batch(values, bdims): the result on batched values and where its batch is. All are
    written with operators on tensors, so they can be differentiated and batched themselves.
    """

    def __init__(self, kernel, vjps, jvp, batch, **params):
        self.kernel, self.vjps, self.jvp, self.batch = kernel, vjps, jvp, batch

    def __call__(self, *inputs, **params):
        inputs = [as_tensor(x) for x in inputs]
        level = max(x.level for x in inputs)
        if level == 0:
            out = Tensor(self.kernel(*[x.value for x in inputs], **params))
        else:
            out = self.on_boxes(inputs, level, params)
        if GRAD_MODE[-1] and any(is_recorded(x, level) for x in inputs):
            out.requires_grad = True
            out.node = Node(self, inputs, out, params, level)
        self.push_tangents(inputs, out, params)
        return out

    def on_boxes(self, inputs, level, params):
        """Take the boxes of the innermost level off, compute below it, and box the result."""
        values = [x.value if x.level == level else x for x in inputs]
        bdims = [x.bdim if x.level == level else None for x in inputs]
        # What is below a gradient level is computed with the grad mode from outside of it.
        with grad_mode(OUTER_MODE.get(level, GRAD_MODE[-1])):
            if all(b is None for b in bdims):
                return Tensor(self(*values, **params), level)
            value, bdim = self.batch(values, bdims, **params)
            return Tensor(value, level, bdim)

    def push_tangents(self, inputs, out, params):
        """For each open forward level: the forward rule, on primals with lower levels' tangents."""
        levels = sorted({level for x in inputs for level in x.tangents if level in FORWARD_LEVELS})
        for level in levels:
            primals = [below(x, level) for x in inputs]
            tangents = [x.tangents.get(level) for x in inputs]
            out.tangents[level] = self.jvp(tangents, below(out, level), *primals, **params)


def is_recorded(x, level):
    """Whether x takes part in recording at a level: what is inside a box is recorded below."""
    return x.requires_grad and x.level == level


def below(x, level):
    """x with the tangents of lower levels only, at the same place in the graph."""
    if all(k < level for k in x.tangents):
        return x
    alias = Tensor(x.value, x.level, x.bdim, x.requires_grad)
    alias.node = x.node if x.node is not None else x if x.requires_grad else None
    alias.tangents = {k: t for k, t in x.tangents.items() if k < level}
    return alias


# --- 2. reverse mode ------------------------------------------------------------------------------

GRAD_MODE = [True]


class grad_mode:
    def __init__(self, enabled):
        self.enabled = enabled

    def __enter__(self):
        GRAD_MODE.append(self.enabled)

    def __exit__(self, *_):
        GRAD_MODE.pop()


class Node:
    """A recorded call. Edges lead to the nodes (or leaves) that the inputs came from."""

    count = 0

    def __init__(self, primitive, inputs, out, params, level):
        Node.count += 1
        self.order = Node.count
        self.primitive, self.inputs, self.out, self.params = primitive, inputs, out, params
        self.edges = [edge_of(x) if is_recorded(x, level) else None for x in inputs]

    def pull(self, g):
        """The cotangents of the inputs, each summed to its input's shape."""
        for i, edge in enumerate(self.edges):
            if edge is not None:
                x = self.inputs[i]
                found = self.primitive.vjps[i](g, self.out, *self.inputs, **self.params)
                yield edge, sum_to(found, shape=x.shape)


def edge_of(x):
    """Where cotangents of x go: the node that made it, or the leaf itself."""
    return x if x.node is None else x.node


def backward(out, wanted, cotangent=None, create_graph=False):
    """Gradients of `out` by the tensors in `wanted`: nodes in reverse order of creation."""
    cotangents = {edge_of(out): as_tensor(np.ones(out.shape)) if cotangent is None else cotangent}
    waiting = [edge_of(out)]
    with grad_mode(create_graph):
        while waiting:
            node = max(waiting, key=lambda n: n.order if isinstance(n, Node) else 0)
            waiting.remove(node)
            if not isinstance(node, Node):
                continue
            for edge, g in node.pull(cotangents[node]):
                if edge not in cotangents:
                    cotangents[edge] = g
                    waiting.append(edge)
                else:
                    cotangents[edge] = cotangents[edge] + g
    return [cotangents.get(edge_of(x)) for x in wanted]


# --- operators ------------------------------------------------------------------------------------


def front(x, bdim, rank):
    """A batched x with its batch first and size-1 dims after it, so that it broadcasts."""
    if bdim is None:
        return x
    order = (bdim, *[d for d in range(len(x.shape)) if d != bdim])
    x = transpose(x, order=order)
    return reshape(x, shape=(x.shape[0],) + (1,) * (rank - len(x.shape) + 1) + x.shape[1:])


def batch_elementwise(primitive):
    def batch(values, bdims, **params):
        rank = max(len(x.shape) - (b is not None) for x, b in zip(values, bdims, strict=True))
        return primitive()(*[front(x, b, rank) for x, b in zip(values, bdims, strict=True)]), 0

    return batch


def elementwise(kernel, derivatives, name):
    """A primitive from its local derivatives: everything else follows from them."""

    def vjp(i):
        return lambda g, out, *inputs: g * derivatives[i](out, *inputs)

    def jvp(tangents, out, *inputs):
        terms = [
            t * d(out, *inputs) for t, d in zip(tangents, derivatives, strict=True) if t is not None
        ]
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]

    batch = batch_elementwise(lambda: globals()[name])
    return Primitive(kernel, [vjp(i) for i in range(len(derivatives))], jvp, batch)


add = elementwise(np.add, [lambda out, x, y: 1.0, lambda out, x, y: 1.0], "add")
mul = elementwise(np.multiply, [lambda out, x, y: y, lambda out, x, y: x], "mul")
exp = elementwise(np.exp, [lambda out, x: out], "exp")
sin = elementwise(np.sin, [lambda out, x: cos(x)], "sin")
cos = elementwise(np.cos, [lambda out, x: -sin(x)], "cos")


def linear(kernel, transpose_rule, batch, name):
    """A linear primitive from its transpose: forward mode is the operator itself."""
    return Primitive(
        kernel,
        [transpose_rule],
        lambda tangents, out, x, **params: globals()[name](tangents[0], **params),
        batch,
    )


def _sum_to_kernel(x, shape):
    extra = x.ndim - len(shape)
    x = x.sum(tuple(range(extra)))
    return x.sum(tuple(i for i, s in enumerate(shape) if s == 1 and x.shape[i] != 1), keepdims=True)


def _batch_sum_to(values, bdims, shape):
    x = front(values[0], bdims[0], len(values[0].shape) - 1)
    extra = len(x.shape) - 1 - len(shape)
    if extra:  # dims between the batch and what stays: bring them to the front and sum them
        x = transpose(x, order=(*range(1, extra + 1), 0, *range(extra + 1, len(x.shape))))
    return sum_to(x, shape=(values[0].shape[bdims[0]], *shape)), 0


sum_to = linear(
    _sum_to_kernel,
    lambda g, out, x, shape: expand(g, shape=x.shape),
    _batch_sum_to,
    "sum_to",
)
expand = linear(
    lambda x, shape: np.broadcast_to(x, shape),
    lambda g, out, x, shape: sum_to(g, shape=x.shape),
    lambda values, bdims, shape: (
        expand(
            front(values[0], bdims[0], len(shape)),
            shape=(values[0].shape[bdims[0]], *shape),
        ),
        0,
    ),
    "expand",
)
transpose = linear(
    lambda x, order: np.transpose(x, order),
    lambda g, out, x, order: transpose(g, order=tuple(int(i) for i in np.argsort(order))),
    lambda values, bdims, order: (
        transpose(
            front(values[0], bdims[0], len(values[0].shape) - 1),
            order=(0, *[d + 1 for d in order]),
        ),
        0,
    ),
    "transpose",
)
reshape = linear(
    lambda x, shape: x.reshape(shape),
    lambda g, out, x, shape: reshape(g, shape=x.shape),
    lambda values, bdims, shape: (
        reshape(
            front(values[0], bdims[0], len(values[0].shape) - 1),
            shape=(values[0].shape[bdims[0]], *shape),
        ),
        0,
    ),
    "reshape",
)

# --- 3. forward mode ------------------------------------------------------------------------------

FORWARD_LEVELS = []
LEVELS = [0]


def new_level():
    LEVELS[0] += 1
    return LEVELS[0]


def jvp(f, x, tangent):
    """The value of f and its derivative along a tangent, by one run on a dual tensor."""
    level = new_level()
    FORWARD_LEVELS.append(level)
    try:
        dual = Tensor(x.value, x.level, x.bdim, x.requires_grad)
        dual.node = edge_of(x) if x.requires_grad else None
        dual.tangents = {**x.tangents, level: tangent}
        out = f(dual)
        return below(out, level), out.tangents.get(level)
    finally:
        FORWARD_LEVELS.remove(level)


# --- 4. boxes: vmap and grad ----------------------------------------------------------------------

OUTER_MODE = {}  # gradient level -> the grad mode outside of it


def vmap(f):
    """f on every entry of the first dim, in one run: inside, the batch is hidden in a box."""

    def mapped(x):
        level = new_level()
        out = f(Tensor(x, level, 0))
        return out.value if out.bdim == 0 else expand(out.value, shape=x.shape[:1] + out.shape)

    return mapped


def grad(f):
    """The gradient of a scalar f, recorded at a level of its own, above every open one."""

    def gradient(x):
        level = new_level()
        OUTER_MODE[level] = GRAD_MODE[-1]
        boxed = Tensor(x, level, None, requires_grad=True)
        with grad_mode(True):
            out = f(boxed)
        (found,) = backward(out, [boxed])
        return found.value if found.level == level else found

    return gradient


# --- it works -------------------------------------------------------------------------------------


def number(x):
    while isinstance(x, Tensor):
        x = x.value
    return x


def check():
    """Derivatives in every way and nesting, against what calculus says."""
    point = as_tensor(0.7)
    one = as_tensor(1.0)

    def f(x):
        return exp(sin(x) * x)

    s, c = np.sin(0.7), np.cos(0.7)
    first = np.exp(0.7 * s) * (s + 0.7 * c)
    second = np.exp(0.7 * s) * ((s + 0.7 * c) ** 2 + 2 * c - 0.7 * s)

    x = Tensor(np.asarray(0.7), requires_grad=True)
    y = f(x)
    np.testing.assert_allclose(number(backward(y, [x])[0]), first)
    (g,) = backward(y, [x], create_graph=True)  # a gradient that is recorded itself
    np.testing.assert_allclose(number(backward(g, [x])[0]), second)

    np.testing.assert_allclose(number(jvp(f, point, one)[1]), first)
    nested = jvp(lambda x: jvp(f, x, one)[1], point, one)[1]
    np.testing.assert_allclose(number(nested), second)
    np.testing.assert_allclose(number(grad(grad(f))(point)), second)
    np.testing.assert_allclose(number(jvp(grad(f), point, one)[1]), second)
    np.testing.assert_allclose(number(grad(lambda x: jvp(f, x, one)[1])(point)), second)

    points = as_tensor([0.1, 0.7, 2.0])
    many = number(vmap(grad(f))(points))  # one gradient per entry, not their sum
    np.testing.assert_allclose(many[1], first)
    np.testing.assert_allclose(number(vmap(grad(grad(f)))(points))[1], second)

    w = as_tensor([2.0, 3.0])

    def loss(x):  # a sum of two terms of a batched number
        return sum_to(x * w * x, shape=())

    np.testing.assert_allclose(number(vmap(grad(loss))(points)), 10 * number(points))


if __name__ == "__main__":
    check()
    print("all derivatives agree")
