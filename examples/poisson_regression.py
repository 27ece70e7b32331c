"""Fit a Poisson regression by Newton's method and get its standard errors from the Hessian.

    python examples/poisson_regression.py

Real counts: the sit-ups that twenty men of a fitness club did, with their weight, waist and pulse
(Linnerud's data, in scikit-learn). The model says count ~ Poisson(exp(x . beta)). Write down one
person's log-likelihood; every statistic below is a derivative of it.
"""

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_linnerud
from sklearn.linear_model import PoissonRegressor

import tensorplay as tp
from tensorplay.func import grad, hessian, vmap


def load():
    """Standardised predictors with a column of ones (20, 4), counts (20,), names of the columns."""
    data = load_linnerud()
    body = (data.target - data.target.mean(0)) / data.target.std(0)
    x = np.column_stack([np.ones(len(body)), body])
    counts = data.data[:, data.feature_names.index("Situps")]
    return tp.tensor(x), tp.tensor(counts), ["intercept", *data.target_names]


def negative_log_likelihood(beta, x, count):
    """-log P(count | x) up to a constant; sums over the rows when `x` is (n, k)."""
    score = x @ beta
    return (tp.exp(score) - count * score).sum()


def fit(x, counts):
    """Newton's method from the mean count: solve H step = gradient until the gradient is gone."""
    start = np.zeros(x.shape[1])
    start[0] = np.log(counts.mean().item())
    beta = tp.tensor(start)
    for step in range(1, 50):
        slope = grad(negative_log_likelihood)(beta, x, counts)
        curvature = hessian(negative_log_likelihood)(beta, x, counts)
        beta = beta - tp.from_numpy(np.linalg.solve(curvature.numpy(), slope.numpy()))
        print(f"  step {step}: largest entry of the gradient was {slope.abs().max():.1e}")
        if slope.abs().max() < 1e-9:
            return beta
    raise RuntimeError("fit: no convergence in 50 Newton steps")


def covariances(beta, x, counts):
    """Of the estimate: by Fisher's information, and the sandwich that forgives a wrong variance."""
    information = hessian(negative_log_likelihood)(beta, x, counts).numpy()
    by_fisher = np.linalg.inv(information)
    # One gradient ("score") per person: what vmap over grad gives.
    scores = vmap(grad(negative_log_likelihood), in_dims=(None, 0, 0))(beta, x, counts).numpy()
    return by_fisher, by_fisher @ (scores.T @ scores) @ by_fisher


def main():
    x, counts, names = load()
    print("Newton's method")
    beta = fit(x, counts)

    by_fisher, sandwich = covariances(beta, x, counts)
    estimate = beta.numpy()
    errors, robust = np.sqrt(np.diag(by_fisher)), np.sqrt(np.diag(sandwich))
    print(f"\n{'':12}{'estimate':>10}{'std error':>11}{'p':>9}{'robust':>10}{'p':>9}")
    for name, b, e, r in zip(names, estimate, errors, robust, strict=True):
        p, p_robust = (2 * norm.sf(abs(b / size)) for size in (e, r))
        print(f"{name:12}{b:10.4f}{e:11.4f}{p:9.4f}{r:10.4f}{p_robust:9.4f}")

    means = np.exp(x.numpy() @ estimate)
    dispersion = ((counts.numpy() - means) ** 2 / means).sum() / (len(means) - len(names))
    print(
        f"\nThe counts vary {dispersion:.0f} times as much as a Poisson law says (ratio 1), so the"
    )
    print("robust errors are the ones to trust.")
    # How does the expected count change with each predictor, for an average man?
    effects = grad(lambda row: tp.exp(row @ beta))(x.mean(0)).numpy()[1:]
    listed = ", ".join(f"{n.lower()} {e:+.0f}" for n, e in zip(names[1:], effects, strict=True))
    print(f"Sit-ups per standard deviation, for an average man: {listed}.")

    peer = PoissonRegressor(alpha=0, tol=1e-12, max_iter=1000, fit_intercept=False)
    peer.fit(x.numpy(), counts.numpy())
    print(f"Largest difference from scikit-learn: {np.abs(peer.coef_ - estimate).max():.1e}")


if __name__ == "__main__":
    main()
