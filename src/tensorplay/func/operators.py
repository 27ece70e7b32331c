"""Differential operators and products: diagonal, divergence, Laplacian, Hessian and Gauss-Newton.

They take functions and points, as the other functions of `tensorplay.func`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.base.random import numpy_generator
from tensorplay.func._trees import check_tensors, flatten, unflatten
from tensorplay.func.forward import jvp
from tensorplay.func.reverse import grad, vjp
from tensorplay.func.taylor import jet
from tensorplay.transforms.vmap import vmap


def _units(x: Tensor) -> Tensor:
    return core.identity(x.numel(), x.dtype).reshape((x.numel(), *x.shape))


def jacobian_diagonal(
    func: Callable[[Tensor], Tensor], *, chunk_size: int | None = None
) -> Callable[[Tensor], Tensor]:
    """A function that returns the diagonal of the Jacobian of `func`, shaped as its input.

    func: a function of a tensor that returns a tensor of as many elements. One forward product per
    element, `chunk_size` at a time; only the diagonal is kept.

    >>> import tensorplay as tp
    >>> tp.func.jacobian_diagonal(tp.sin)(tp.zeros(3))
    tensor([1., 1., 1.])
    """

    def diagonal(x: Tensor) -> Tensor:
        def entry(unit: Tensor) -> Tensor:
            out, moved = jvp(func, (x,), (unit,))
            if out.numel() != x.numel():
                raise RuntimeError(
                    f"jacobian_diagonal(): the output has shape {list(out.shape)}, the input "
                    f"{list(x.shape)}; they need as many elements"
                )
            return (moved.reshape(-1) * unit.reshape(-1)).sum()

        return vmap(entry, chunk_size=chunk_size)(_units(x)).reshape(tuple(x.shape))

    return diagonal


def divergence(
    func: Callable[[Tensor], Tensor], *, samples: int | None = None, generator: Any = None,
    chunk_size: int | None = None,
) -> Callable[[Tensor], Tensor]:  # fmt: skip
    """A function that returns the divergence of a vector field: the trace of its Jacobian.

    Args:
        func: a function of a tensor that returns a tensor of the same shape.
        samples: None for the exact trace; else how many random sign vectors estimate it without
            bias (Hutchinson, "A stochastic estimator of the trace", 1990).
        generator: the random generator of the estimate. Default: the global one.
        chunk_size: how many forward products at a time.

    >>> import tensorplay as tp
    >>> tp.func.divergence(lambda x: x * x)(tp.tensor([1., 2.]))
    tensor(6.)
    """

    def trace(x: Tensor) -> Tensor:
        if samples is None:
            return jacobian_diagonal(func, chunk_size=chunk_size)(x).sum()
        if samples < 1:
            raise ValueError(f"divergence(): samples must be at least 1, got {samples}")
        draws = numpy_generator(generator).integers(0, 2, size=(samples, *x.shape))
        signs = core.from_array((2 * draws - 1).astype(x.dtype.numpy))

        def estimate(sign: Tensor) -> Tensor:
            return (jvp(func, (x,), (sign,))[1] * sign).sum()

        return vmap(estimate, chunk_size=chunk_size)(signs).mean()

    return trace


def laplacian(
    func: Callable[[Tensor], Tensor], *, chunk_size: int | None = None
) -> Callable[[Tensor], Tensor]:
    """A function that returns the Laplacian of `func`: the sum of its second derivatives.

    One forward pass of second-order Taylor series along all unit vectors together; no Hessian is
    formed. `func` may return a tensor of any shape; the Laplacian has that shape.

    >>> import tensorplay as tp
    >>> tp.func.laplacian(lambda x: (x ** 2).sum())(tp.zeros(3))
    tensor(6.)
    """

    def summed(x: Tensor) -> Tensor:
        def second(unit: Tensor) -> Tensor:
            _, coefficients = jet(func, (x,), ((unit, core.zeros_of(x)),))
            return 2 * coefficients[1]

        return vmap(second, chunk_size=chunk_size)(_units(x)).sum(0)

    return summed


def hvp(func: Callable[..., Tensor], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The gradient of a scalar `func`, and the product of its Hessian with `tangents`.

    Forward over reverse mode: one pass, about the cost of two gradients.

    Args:
        func: a function that returns a tensor of one element.
        primals: a tensor or a tuple of its arguments.
        tangents: structured as primals.

    Returns:
        (gradient, product), each structured as primals.

    >>> import tensorplay as tp
    >>> tp.func.hvp(lambda x: (x ** 3).sum(), tp.tensor([1., 2.]), tp.tensor([1., 0.]))
    (tensor([ 3., 12.]), tensor([6., 0.]))
    """
    single = not isinstance(primals, tuple)
    points = (primals,) if single else primals
    directions = (tangents,) if single else tangents
    gradient, product = jvp(grad(func, tuple(range(len(points)))), points, directions)
    return (gradient[0], product[0]) if single else (gradient, product)


def ggnvp(
    model: Callable[..., Any], loss: Callable[[Any], Tensor], primals: Any, tangents: Any
) -> tuple[Tensor, Any]:
    """The loss, and the product of the generalised Gauss-Newton matrix with `tangents`.

    The matrix is J^T H J, with J the Jacobian of `model` at the primals and H the Hessian of `loss`
    at the model's output (Schraudolph, "Fast curvature matrix-vector products for second-order
    gradient descent", Neural Computation 14, 2002). It is positive semidefinite for a convex loss.

    Args:
        model: a function of the primals that returns a pytree of tensors.
        loss: a function of the model's output that returns a tensor of one element.
        primals: a tensor or a tuple of the model's arguments.
        tangents: structured as primals.

    >>> import tensorplay as tp
    >>> square = lambda y: (y * y).sum()
    >>> tp.func.ggnvp(lambda w: 3 * w, square, tp.tensor([1.]), tp.tensor([1.]))
    (tensor(9.), tensor([18.]))
    """
    single = not isinstance(primals, tuple)
    points = (primals,) if single else primals
    directions = (tangents,) if single else tangents
    output, pull = vjp(model, *points)
    _, moved = jvp(model, points, directions)
    _, curved = jvp(grad(loss), (output,), (moved,))
    product = pull(curved)
    return loss(output), (product[0] if single else product)


def linear_transpose(func: Callable[..., Any], *primals: Any) -> Callable[..., Any]:
    """The transpose of a linear function, as a function of cotangents.

    Args:
        func: a function that is linear in its arguments together.
        primals: arguments of the right shapes and dtypes; their values do not matter.

    Returns:
        A function that takes a cotangent structured as the output and returns a tuple with one
        cotangent per argument.

    >>> import tensorplay as tp
    >>> total = lambda x: x.sum()
    >>> tp.func.linear_transpose(total, tp.zeros(3))(tp.tensor(2.))
    (tensor([2., 2., 2.]),)
    """
    leaves, spec = flatten(primals)
    check_tensors(leaves, "the primals", "linear_transpose")
    _, pull = vjp(func, *unflatten(spec, [core.zeros_of(x) for x in leaves]))
    return pull
