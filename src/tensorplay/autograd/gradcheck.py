"""Checking derivatives against finite differences: `gradcheck` and `gradgradcheck`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorplay._core import core
from tensorplay._core.core import Tensor
from tensorplay.autograd import _finite as finite
from tensorplay.autograd.backward import grad
from tensorplay.autograd.function import Function
from tensorplay.transforms.vmap import vmap

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A derivative does not agree with finite differences, or breaks a rule that all must keep."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check gradients against finite differences, entry by entry.

    Args:
        func: a function of `inputs` that returns a tensor or a sequence of tensors.
        inputs: its arguments. Those that require grad are checked; use float64 or complex128.
        eps: step of the finite differences.
        atol, rtol: a derivative a and a difference n agree if |a - n| <= atol + rtol |n|.
        raise_exception: False returns False for a failure, in place of raising.
        nondet_tol: by how much two backward passes of the same graph may differ.
        check_undefined_grad: also check that an output which gets no gradient counts as zero.
        check_grad_dtypes: also check that gradients have the dtypes of their inputs.
        check_batched_grad: also check gradients of a batch of cotangents, by `vmap`.
        check_batched_forward_grad: also check a batch of tangents, by `vmap`.
        check_forward_ad: check forward mode.
        check_backward_ad: check reverse mode.
        fast_mode: check one random direction, in place of every entry; the entries are looked at
            only when that fails.
        masked: of sparse tensors; accepted as PyTorch has it, and without effect.

    Returns:
        True if all agree.

    Raises:
        GradcheckError: if something does not, saying which input, which entry, and the values.
        ValueError: if no input requires grad, or func returns something else than tensors.
        AssertionError: if neither mode is to be checked.

    >>> import tensorplay as tp
    >>> x = tp.rand(3, dtype=tp.float64, requires_grad=True)
    >>> tp.autograd.gradcheck(lambda x: x.exp().sin(), (x,))
    True
    """
    assert check_forward_ad or check_backward_ad, (
        "gradcheck(): at least one of check_forward_ad and check_backward_ad must be True"
    )
    assert check_forward_ad or not check_batched_forward_grad, (
        "gradcheck(): check_batched_forward_grad=True needs check_forward_ad=True"
    )
    check = _Check(func, _as_tuple(inputs), eps, atol, rtol)
    try:
        if check_backward_ad:
            check.reverse(fast_mode)
            check.repeated(nondet_tol)
            check.zero_cotangents(check_grad_dtypes)
            if check_batched_grad:
                check.batched_reverse()
            if check_undefined_grad:
                check.undefined_cotangents()
        if check_forward_ad:
            check.forward(fast_mode)
            if check_undefined_grad:
                check.undefined_tangents()
            if check_batched_forward_grad:
                check.batched_forward()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives: the gradients of a backward pass, against finite differences.

    Args:
        func, inputs: as in `gradcheck`.
        grad_outputs: the cotangents of the backward pass that is differentiated. Default: random.
        gen_non_contig_grad_outputs: make those non-contiguous.
        check_fwd_over_rev: check forward mode through the backward pass.
        check_rev_over_rev: check reverse mode through it.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes,
            check_batched_grad, fast_mode, masked: as in `gradcheck`.

    Returns:
        True if all agree.

    Raises:
        GradcheckError, ValueError: as `gradcheck`.
        AssertionError: if neither mode is to be checked.

    >>> import tensorplay as tp
    >>> x = tp.rand(3, dtype=tp.float64, requires_grad=True)
    >>> tp.autograd.gradgradcheck(lambda x: x.exp().sin(), (x,))
    True
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "gradgradcheck(): at least one of check_fwd_over_rev and check_rev_over_rev must be True"
    )
    arguments = _as_tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(_outputs(func(*arguments), "gradgradcheck"))
        cotangents = tuple(_random_like(x, gen_non_contig_grad_outputs) for x in outputs)
    else:
        cotangents = _as_tuple(grad_outputs)
    for g in cotangents:
        if isinstance(g, Tensor) and g.is_leaf:
            g.requires_grad_()
    count = len(cotangents)

    def backward_pass(*everything: Any) -> tuple[Tensor, ...]:
        args, given = everything[: len(everything) - count], everything[len(everything) - count :]
        outputs = _differentiable(_outputs(func(*args), "gradgradcheck"))
        wanted = [x for x in args if isinstance(x, Tensor) and x.requires_grad]
        found = grad(outputs, wanted, given, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        backward_pass,
        (*arguments, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


# --- arguments and results ------------------------------------------------------------------------


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    return (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)


def _outputs(result: Any, name: str) -> list[Tensor]:
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    for x in found:
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{name}(): the function must return a tensor or a sequence of tensors, got "
                f"{type(x).__name__}"
            )
    return found


def _differentiable(outputs: list[Tensor]) -> list[Tensor]:
    return [x for x in outputs if core.is_differentiable_dtype(x) and x.requires_grad]


def _random_like(x: Tensor, strided: bool = False) -> Tensor:
    """Random values like x, away from zero; a plain leaf."""
    rng = np.random.default_rng(0)
    made = finite.from_real(rng.uniform(0.5, 1.5, finite.coordinates(x)), x)
    if strided and x.ndim and x.numel() > 1:
        made = made.repeat_interleave(2, -1)[..., ::2]
    return made


class _Undefined(Function):
    """The identity whose backward gives nothing."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return None


# --- the checks -----------------------------------------------------------------------------------


class _Check:
    """One call of `gradcheck`: the function at its inputs, and what must hold for it."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
    ) -> None:
        self.func = func
        self.inputs = inputs
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        if not self.places:
            raise ValueError(
                "gradcheck(): none of the inputs requires grad, so there is nothing to check; call "
                "requires_grad_() on one"
            )
        self.wanted = [inputs[i] for i in self.places]
        for i, x in zip(self.places, self.wanted, strict=True):
            _check_input(i, x)
        self.all_outputs = self.evaluate()
        self.outputs = _differentiable(self.all_outputs)
        self.numbers = [
            k for k, x in enumerate(self.all_outputs) if any(x is y for y in self.outputs)
        ]
        self._numerical: dict[int, list[np.ndarray]] = {}

    def evaluate(self) -> list[Tensor]:
        """The outputs at the inputs as they are now."""
        return _outputs(self.func(*self.inputs), "gradcheck")

    def watched(self) -> list[Tensor]:
        """The outputs that are checked, at the inputs as they are now."""
        found = self.evaluate()
        return [found[k] for k in self.numbers]

    def apply(self, wanted: list[Tensor]) -> list[Tensor]:
        """The outputs that are checked, for other values of the checked inputs."""
        args = list(self.inputs)
        for i, x in zip(self.places, wanted, strict=True):
            args[i] = x
        found = _outputs(self.func(*args), "gradcheck")
        return [found[k] for k in self.numbers]

    def numerical(self, position: int) -> list[np.ndarray]:
        """Finite differences by one input, per output."""
        if position not in self._numerical:
            self._numerical[position] = finite.numerical(
                self.watched, self.wanted[position], self.outputs, self.eps
            )
        return self._numerical[position]

    # --- reverse mode ---

    def reverse(self, fast: bool) -> None:
        """Gradients agree with finite differences."""
        if not self.outputs:
            self._constant()
        elif fast:
            self._reverse_fast()
        else:
            self._reverse_slow()

    def _constant(self) -> None:
        """A function whose outputs need no grad must not depend on its inputs."""
        real = [k for k, x in enumerate(self.all_outputs) if core.is_differentiable_dtype(x)]
        for position, x in enumerate(self.wanted):
            direction = np.random.default_rng(0).normal(size=finite.coordinates(x))
            found = finite.directional(
                lambda: [self.evaluate()[k] for k in real], x, direction, self.eps
            )
            for k, slope in zip(real, found, strict=True):
                if np.abs(slope).max(initial=0.0) > self.atol:
                    raise GradcheckError(
                        f"gradcheck(): output {k} does not require grad, but finite differences "
                        f"show that it depends on input {self.places[position]}; it was detached "
                        "on the way"
                    )

    def _reverse_slow(self) -> None:
        analytical = [finite.by_reverse(out, self.wanted) for out in self.outputs]
        for position in range(len(self.wanted)):
            differences = self.numerical(position)
            for o in range(len(self.outputs)):
                self._compare(o, position, differences[o], analytical[o][position], "reverse")

    def _reverse_fast(self) -> None:
        rng = np.random.default_rng(0)
        for position, x in enumerate(self.wanted):
            u = _unit(rng, finite.coordinates(x))
            slopes = finite.directional(self.watched, x, u, self.eps)
            for o, out in enumerate(self.outputs):
                v = _unit(rng, finite.coordinates(out))
                (g,) = finite.pull(out, [x], v)
                value, expected = float(finite.as_real(g, x) @ u), float(slopes[o] @ v)
                if not self._near(value, expected, np.abs(u).sum() * np.abs(v).sum()):
                    self._explain(o, position, value, expected, "reverse")

    def repeated(self, tolerance: float) -> None:
        """A second backward pass of the same graph gives the same."""
        for o, out in enumerate(self.outputs):
            v = np.random.default_rng(1).normal(size=finite.coordinates(out))
            first = finite.pull(out, self.wanted, v)
            second = finite.pull(out, self.wanted, v)
            for position, (a, b) in enumerate(zip(first, second, strict=True)):
                x = self.wanted[position]
                change = np.abs(finite.as_real(a, x) - finite.as_real(b, x)).max(initial=0.0)
                if not change <= tolerance:
                    raise GradcheckError(
                        f"gradcheck(): the backward of output {self.numbers[o]} by input "
                        f"{self.places[position]} is not the same the second time: it changed by "
                        f"{change:.3g}, more than nondet_tol={tolerance}"
                    )

    def zero_cotangents(self, check_dtypes: bool) -> None:
        """Gradients are linear in the cotangent, and have the shapes and dtypes of the inputs."""
        for o, out in enumerate(self.outputs):
            found = finite.pull(out, self.wanted, np.zeros(finite.coordinates(out)))
            for position, g in enumerate(found):
                x = self.wanted[position]
                where = f"output {self.numbers[o]} by input {self.places[position]}"
                if g is None:
                    continue
                if np.any(finite.as_real(g, x) != 0):
                    raise GradcheckError(
                        f"gradcheck(): the backward of {where} is not multiplied by grad_output: a "
                        "zero cotangent gave a gradient that is not zero"
                    )
                if check_dtypes and g.dtype is not x.dtype:
                    raise GradcheckError(
                        f"gradcheck(): the gradient of {where} has dtype {g.dtype}, the input "
                        f"{x.dtype}"
                    )

    def batched_reverse(self) -> None:
        """A batch of cotangents, under vmap, gives what they give one by one."""
        for o, out in enumerate(self.outputs):
            rng = np.random.default_rng(2)
            vectors = [rng.normal(size=finite.coordinates(out)) for _ in range(2)]
            single = [finite.pull(out, self.wanted, v) for v in vectors]
            cotangents = _stacked([finite.from_real(v, out) for v in vectors])
            try:
                batched = grad(
                    out, self.wanted, cotangents, retain_graph=True, allow_unused=True,
                    is_grads_batched=True,
                )  # fmt: skip
            except Exception as error:
                raise GradcheckError(
                    f"gradcheck(): the backward of output {self.numbers[o]} failed for a batch of "
                    f"cotangents, under vmap: {error}"
                ) from error
            for position, x in enumerate(self.wanted):
                self._compare_batches(
                    [s[position] for s in single], batched[position], x,
                    f"gradients of output {self.numbers[o]} by input {self.places[position]}",
                )  # fmt: skip

    def undefined_cotangents(self) -> None:
        """An output that gets no cotangent counts as one that gets zeros."""
        if not self.outputs:
            return
        rng = np.random.default_rng(3)
        vectors = [rng.normal(size=finite.coordinates(out)) for out in self.outputs]
        for missing in [None, *range(len(self.outputs))]:
            gone = set(range(len(self.outputs))) if missing is None else {missing}
            what = "all outputs" if missing is None else f"output {self.numbers[missing]}"
            outputs = self.watched()
            shown = [_Undefined.apply(x) if o in gone else x for o, x in enumerate(outputs)]
            given = [finite.from_real(v, x) for v, x in zip(vectors, outputs, strict=True)]
            zeroed = [core.zeros_of(g) if o in gone else g for o, g in enumerate(given)]
            try:
                found = grad(shown, self.wanted, given, retain_graph=True, allow_unused=True)
            except Exception as error:
                raise GradcheckError(
                    f"gradcheck(): the backward failed where {what} had no gradient (None in place "
                    f"of zeros): {error}"
                ) from error
            expected = grad(outputs, self.wanted, zeroed, retain_graph=True, allow_unused=True)
            for position, x in enumerate(self.wanted):
                a = finite.as_real(found[position], x)
                b = finite.as_real(expected[position], x)
                if not np.allclose(a, b, self.rtol, self.atol):
                    raise GradcheckError(
                        f"gradcheck(): where {what} had no gradient, input {self.places[position]} "
                        "got another one than for a gradient of zeros"
                    )

    # --- forward mode ---

    def forward(self, fast: bool) -> None:
        """Tangents agree with finite differences."""
        if fast:
            rng = np.random.default_rng(4)
            for position, x in enumerate(self.wanted):
                u = _unit(rng, finite.coordinates(x))
                slopes = finite.directional(self.watched, x, u, self.eps)
                found = self._push(position, u)
                for o, out in enumerate(self.outputs):
                    v = _unit(rng, finite.coordinates(out))
                    value = float(finite.as_real(found[o], out) @ v)
                    expected = float(slopes[o] @ v)
                    if not self._near(value, expected, np.abs(u).sum() * np.abs(v).sum()):
                        self._explain(o, position, value, expected, "forward")
            return
        for position in range(len(self.wanted)):
            analytical = finite.by_forward(self.apply, self.wanted, position)
            differences = self.numerical(position)
            for o in range(len(self.outputs)):
                self._compare(o, position, differences[o], analytical[o], "forward")

    def _push(self, position: int, u: np.ndarray) -> list[Tensor | None]:
        tangents: list[Tensor | None] = [None] * len(self.wanted)
        tangents[position] = finite.from_real(u, self.wanted[position])
        return finite.push(self.apply, self.wanted, tangents)[1]

    def undefined_tangents(self) -> None:
        """An input without a tangent counts as one with a tangent of zeros."""
        if len(self.wanted) < 2:
            return
        for position, x in enumerate(self.wanted):
            u = np.random.default_rng(5).normal(size=finite.coordinates(x))
            found = self._push(position, u)
            tangents = [
                finite.from_real(u, y) if k == position else finite.from_real(0 * finite.as_real(
                    y.detach(), y), y)
                for k, y in enumerate(self.wanted)
            ]  # fmt: skip
            _, expected = finite.push(self.apply, self.wanted, list(tangents))
            for o, out in enumerate(self.outputs):
                a, b = finite.as_real(found[o], out), finite.as_real(expected[o], out)
                if not np.allclose(a, b, self.rtol, self.atol):
                    raise GradcheckError(
                        f"gradcheck(): output {self.numbers[o]} has another tangent where inputs "
                        f"other than {self.places[position]} have none than where theirs are zero"
                    )

    def batched_forward(self) -> None:
        """A batch of tangents, under vmap, gives what they give one by one."""
        for position, x in enumerate(self.wanted):
            rng = np.random.default_rng(6)
            vectors = [rng.normal(size=finite.coordinates(x)) for _ in range(2)]
            single = [self._push(position, v) for v in vectors]

            def one(tangent: Tensor, position: int = position) -> tuple[Tensor, ...]:
                tangents: list[Tensor | None] = [None] * len(self.wanted)
                tangents[position] = tangent
                outputs, found = finite.push(self.apply, self.wanted, tangents)
                return tuple(
                    core.zeros_of(out.detach()) if t is None else t
                    for out, t in zip(outputs, found, strict=True)
                )

            try:
                batched = vmap(one)(_stacked([finite.from_real(v, x) for v in vectors]))
            except Exception as error:
                raise GradcheckError(
                    f"gradcheck(): forward mode by input {self.places[position]} failed for a "
                    f"batch of tangents, under vmap: {error}"
                ) from error
            for o, out in enumerate(self.outputs):
                self._compare_batches(
                    [s[o] for s in single], batched[o], out,
                    f"tangents of output {self.numbers[o]} by input {self.places[position]}",
                )  # fmt: skip

    # --- comparing ---

    def _near(self, value: float, expected: float, scale: float) -> bool:
        return abs(value - expected) <= self.atol * max(scale, 1.0) + self.rtol * abs(expected)

    def _compare(
        self, o: int, position: int, difference: np.ndarray, analytical: np.ndarray, mode: str
    ) -> None:
        wrong = ~(np.abs(analytical - difference) <= self.atol + self.rtol * np.abs(difference))
        if not wrong.any():
            return
        error = np.where(wrong, np.nan_to_num(np.abs(analytical - difference), nan=np.inf), -1)
        row, column = (int(k) for k in np.unravel_index(int(error.argmax()), error.shape))
        out, x = self.outputs[o], self.wanted[position]
        raise GradcheckError(
            f"gradcheck(): Jacobian mismatch for output {self.numbers[o]} with respect to input "
            f"{self.places[position]}, in {mode} mode; worst at {finite.name_of(out, row)} of the "
            f"output and {finite.name_of(x, column)} of the input:\n"
            f"numerical: {difference[row, column]:.8g}\n"
            f"analytical: {analytical[row, column]:.8g}\n"
            f"({int(wrong.sum())} of {wrong.size} entries differ by more than atol={self.atol}, "
            f"rtol={self.rtol})\n"
            f"numerical Jacobian:\n{difference}\nanalytical Jacobian:\n{analytical}"
        )

    def _explain(self, o: int, position: int, value: float, expected: float, mode: str) -> None:
        """Fast mode failed: look at the entries."""
        if mode == "reverse":
            self._reverse_slow()
        else:
            self.forward(False)
        raise GradcheckError(
            f"gradcheck(): mismatch for output {self.numbers[o]} with respect to input "
            f"{self.places[position]}, in {mode} mode, along a random direction (fast_mode):\n"
            f"numerical: {expected:.8g}\nanalytical: {value:.8g}\n"
            "(entry by entry, without fast_mode, they agree within the tolerances)"
        )

    def _compare_batches(
        self, single: list[Tensor | None], batched: Tensor | None, like: Tensor, what: str
    ) -> None:
        for k, one in enumerate(single):
            a = finite.as_real(one, like)
            b = finite.as_real(None if batched is None else batched[k].detach(), like)
            if not np.allclose(a, b, self.rtol, self.atol):
                raise GradcheckError(
                    f"gradcheck(): the {what} are others for a batch, under vmap, than one by one: "
                    f"entry {k} of the batch is\n{b}\nexpected\n{a}"
                )


def _check_input(i: int, x: Tensor) -> None:
    if x.dtype.itemsize < (16 if x.dtype.is_complex else 8):
        warnings.warn(
            f"gradcheck(): input {i} has dtype {x.dtype}; finite differences need double "
            "precision, so the check will likely fail",
            UserWarning,
            stacklevel=4,
        )
    array = core.array_of(x)
    if any(step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)):
        raise RuntimeError(
            f"gradcheck(): input {i} has a dimension with stride 0 (it was expanded), so its "
            "entries cannot be changed one by one; call .contiguous() on it first"
        )


def _unit(rng: np.random.Generator, size: int) -> np.ndarray:
    vector = rng.normal(size=size)
    return vector / (np.linalg.norm(vector) or 1.0)


def _stacked(tensors: list[Tensor]) -> Tensor:
    return core.from_array(np.stack([core.array_of(x) for x in tensors]))
