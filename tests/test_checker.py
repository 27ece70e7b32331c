"""The generic tests notice a rule that is wrong by 0.1 %: each kind of rule, in each test of it."""

import contextlib

import numpy as np
import pytest

from tensorplay._core import core
from tensorplay.ops import kinds
from tests import test_registry
from tests.checks import batching, first_order, second_order, variants
from tests.optable.schema import Op, register, sample

WRONG = 1.001


@contextlib.contextmanager
def primitive_named(name, build):
    """A primitive for the time of a test; it leaves the registry again."""
    assert name not in core.registry
    try:
        yield build(name)
    finally:
        core.registry.pop(name, None)


def row(primitive, samples=None):
    """A row of the table around a primitive."""
    return Op(
        primitive.name, samples or (lambda make: [sample(make(3, 4))]), function=primitive,
        complex=True,
    )  # fmt: skip


def passes(check, *args):
    """Whether a check passes."""
    try:
        check(*args)
    except AssertionError:
        return False
    return True


def sine(name, factor=1.0, order=1):
    """sin, with its derivative (order 1) or only its second derivative (order 2) off."""
    if order == 1:
        return kinds.elementwise(name, np.sin, lambda x: x.cos() * factor)
    # The gradient is right; differentiating it goes through a cosine that is wrong.
    cosine = kinds.elementwise(name + "_cos", np.cos, lambda x: -x.sin() * factor)
    return kinds.elementwise(name, np.sin, lambda x: cosine(x))


def double(name, factor=1.0):
    """Twice x, as a linear operator."""
    return kinds.linear(name, lambda x: 2 * x, lambda g: g * (2 * factor), batch=kinds.shifting())


def product(name, factor=1.0):
    """x y, as a multilinear operator whose second transpose is off."""
    return kinds.multilinear(
        name, np.multiply, lambda g, y: g * conj(y), lambda g, x: g * conj(x) * factor,
        batch=kinds.batch_elementwise,
    )  # fmt: skip


def cube(name, reverse=1.0, forward=1.0):
    """x ** 3, with every rule stated."""
    return kinds.primitive(
        name, lambda x: x**3, vjp=lambda g, x: g * conj(x * x) * (3 * reverse),
        jvp=lambda t, x: t * (x * x) * (3 * forward), batch=kinds.batch_elementwise,
    )  # fmt: skip


def conj(x):
    """x, conjugate where complex."""
    return x.conj() if x.dtype.is_complex else x


def pair(make):
    return [sample(make(3, 4), make(3, 4))]


BUILDERS = {
    "elementwise": (sine, "factor", None),
    "linear": (double, "factor", None),
    "multilinear": (product, "factor", pair),
    "primitive": (cube, "reverse", None),
}


@pytest.mark.parametrize("kind", BUILDERS)
@pytest.mark.parametrize("factor", [1.0, WRONG, 1 / WRONG])
def test_reverse_rule(kind, factor):
    build, argument, samples = BUILDERS[kind]
    with primitive_named(f"{kind}_off", lambda n: build(n, **{argument: factor})) as made:
        op = row(made, samples)
        assert passes(first_order.check_reverse, op, op.make()[0]) == (factor == 1)


@pytest.mark.parametrize("factor", [1.0, WRONG])
def test_forward_rule(factor):
    with primitive_named("forward_off", lambda n: cube(n, forward=factor)) as made:
        op = row(made)
        assert passes(first_order.check_reverse, op, op.make()[0])
        assert passes(first_order.check_forward, op, op.make()[0]) == (factor == 1)


@pytest.mark.parametrize("aspect", second_order.COMPOSITIONS)
@pytest.mark.parametrize("factor", [1.0, WRONG])
def test_second_derivative(aspect, factor):
    with primitive_named("second_off", lambda n: sine(n, factor, order=2)) as made:
        op = row(made)
        try:
            assert passes(first_order.check_reverse, op, op.make()[0])
            assert passes(first_order.check_forward, op, op.make()[0])
            assert passes(second_order.check_second, op, op.make()[0], aspect) == (factor == 1)
        finally:
            core.registry.pop("second_off_cos")


@pytest.mark.parametrize("aspect", second_order.COMPOSITIONS)
def test_second_derivative_of_a_forward_rule(aspect):
    """A forward rule right at first order and wrong when it is differentiated itself."""

    def build(name):
        cosine = kinds.elementwise(name + "_cos", np.cos, lambda x: -x.sin() * WRONG)
        return kinds.primitive(
            name, np.sin, vjp=lambda g, x: g * conj(x).cos(), jvp=lambda t, x: t * cosine(x),
            batch=kinds.batch_elementwise,
        )  # fmt: skip

    with primitive_named("forward_second_off", build) as made:
        op = row(made)
        try:
            assert passes(first_order.check_forward, op, op.make()[0])
            differentiated = aspect in ("grad_of_jvp", "forward_forward")
            assert passes(second_order.check_second, op, op.make()[0], aspect) != differentiated
        finally:
            core.registry.pop("forward_second_off_cos")


@pytest.mark.parametrize("check", [batching.check_vmap_reverse, batching.check_vmap_vmap])
def test_batching_rule_that_mixes_up_samples(check):
    def batch(p, values, bdims, params):
        x = kinds.front(values[0], bdims[0])
        return p.apply([x.flip(0)], *params), 0

    with primitive_named(
        "mixed_up",
        lambda n: kinds.primitive(n, np.sin, vjp=lambda g, x: g * conj(x).cos(), batch=batch),
    ) as made:
        op = row(made)
        assert not passes(check, op, op.make()[0])


def test_rule_that_depends_on_memory():
    """A kernel that reads its input in the order of memory."""
    with primitive_named(
        "memory_off",
        lambda n: kinds.elementwise(n, lambda x: x.ravel(order="K").reshape(x.shape), 1),
    ) as made:
        op = row(made)
        assert passes(first_order.check_reverse, op, op.make()[0])
        assert not passes(variants.check_layout, op, op.make()[0])


def test_primitive_without_a_row():
    with primitive_named("rowless", lambda n: kinds.elementwise(n, np.sin, lambda x: x.cos())):
        with pytest.raises(AssertionError, match="rowless"):
            test_registry.test_every_primitive_has_a_row()


def test_row_that_names_what_it_does_not_run():
    op = Op("sin", lambda make: [sample(make(3))], primitives=("sin", "cosh"))
    with pytest.raises(AssertionError, match="cosh"):
        test_registry.test_a_row_exercises_what_it_names(op)


def test_row_that_skips_without_a_reason():
    with pytest.raises(ValueError, match="must say why"):
        register(Op("sin:unreasonable", lambda make: [], skip={"vmap": ""}))


def test_conjugation_forgotten():
    """A reverse rule without its conjugate is right for real numbers only."""
    with primitive_named(
        "conjugate_off",
        lambda n: kinds.primitive(
            n, lambda x: x**3, vjp=lambda g, x: g * (x * x) * 3,
            jvp=lambda t, x: t * (x * x) * 3, batch=kinds.batch_elementwise,
        ),
    ) as made:  # fmt: skip
        op = row(made)
        assert passes(first_order.check_reverse, op, op.make()[0])
        assert not passes(first_order.check_reverse, op, op.make(core._dtypes.complex128)[0])


def test_value():
    with primitive_named("value_off", lambda n: kinds.elementwise(n, np.sin)) as made:
        op = row(made)
        op.reference = np.sin
        assert passes(first_order.check_value, op, op.make()[0])
        op.reference = lambda x: np.sin(x) * WRONG
        assert not passes(first_order.check_value, op, op.make()[0])


@pytest.mark.parametrize("wrong", [False, True])
def test_batching_rule(wrong):
    def batch(p, values, bdims, params):
        result = p.apply([kinds.front(values[0], bdims[0])], *params)
        return (result.flip(0) if wrong else result), 0

    with primitive_named(
        "batch_off",
        lambda n: kinds.primitive(n, np.sin, vjp=lambda g, x: g * x.cos(), batch=batch),
    ) as made:
        op = row(made)
        assert passes(batching.check_vmap, op, op.make()[0]) == (not wrong)


def test_reference_with_wrong_shape():
    with primitive_named("shape_off", lambda n: kinds.elementwise(n, np.sin)) as made:
        op = row(made)
        op.reference = lambda x: np.sin(x)[:1]
        assert not passes(first_order.check_value, op, op.make()[0])
