"""MPM: the minimax probability machine (Lanckriet et al., JMLR 3:555, 2002).

Of each class only the mean mu and the covariance S are used.  The hyperplane w.x = b maximizes the
probability alpha of the right side under the worst law with these moments, for both classes:

    alpha = k^2 / (1 + k^2),   b = w.mu+ - k sqrt(w'S+w)
    1/k = min over w of  sqrt(w'S+w) + sqrt(w'S-w)   with w.(mu+ - mu-) = 1

Since (p + q)^2 = min over 0 < t < 1 of p^2/t + q^2/(1 - t), the direction for a given t is that of
the linear system (S+/t + S-/(1-t)) w ~ mu+ - mu-.  In a basis V with V'(S+ + S-)V = I and
V'S+V = diag(e) it is diagonal, and t is the root of one decreasing scalar function,

    sd+ / (sd+ + sd-) = t.

This is exact, needs no conic solver, and treats both classes alike.  Without the ridge the rule
does not change under any invertible affine map of the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import brentq

from lincent.estimators.choices import Strategy
from lincent.estimators.classifier import Classifier
from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_nonnegative
from lincent.paper.baselines._base import Hyperplanes, one_or_all
from lincent.paper.baselines._rows import RowSpace, as_float

EDGE = 1e-12


@dataclass(frozen=True)
class MinimaxRule:
    """The hyperplane w.x + intercept = 0, with the factor k of the guarantee."""

    coef: np.ndarray
    intercept: float
    kappa: float


@dataclass(frozen=True)
class Moments:
    """A mean, and the covariance (divided by the total weight) as root' root."""

    mean: np.ndarray
    root: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        return np.asarray(self.root.T @ self.root)

    @property
    def spread(self) -> float:
        """The sum of the variances."""
        return float((self.root**2).sum())


def moments(X: np.ndarray, weight: np.ndarray) -> Moments:
    """Weighted moments of rows."""
    share = weight / weight.sum()
    mean = share @ X
    return Moments(mean, (X - mean) * np.sqrt(share)[:, None])


def difference_of(low: np.ndarray, high: np.ndarray, name: str) -> np.ndarray:
    """mu+ - mu-, which must not vanish."""
    difference = high - low
    if not np.any(difference):
        raise ValueError(
            f"The class means coincide ({name}), so no hyperplane separates them; the minimax "
            "machine needs classes with different means."
        )
    return difference


def minimax_rule(low: Moments, high: Moments, ridge: float, name: str) -> MinimaxRule:
    """The minimax hyperplane; ``ridge`` is added to the diagonal of both covariances."""
    d = difference_of(low.mean, high.mean, name)
    V, share = _joint_basis(low.root, high.root, ridge, name)
    share = np.clip(share, 0.0, 1.0)
    a = V.T @ d

    def direction(t: float) -> np.ndarray:
        return np.asarray(a / (share * (1 - t) + (1 - share) * t))

    def deviations(z: np.ndarray) -> tuple[float, float]:
        return float(np.sqrt(share @ z**2)), float(np.sqrt((1 - share) @ z**2))

    def excess(t: float) -> float:
        up, down = deviations(direction(t))
        return up / (up + down) - t

    if excess(EDGE) <= 0:
        t = EDGE
    elif excess(1 - EDGE) >= 0:
        t = 1 - EDGE
    else:
        t = float(brentq(excess, EDGE, 1 - EDGE, xtol=1e-15, rtol=1e-15))
    z = direction(t)
    z /= z @ a
    up, down = deviations(z)
    w = V @ z
    kappa = 1 / (up + down)
    # Between the means at the ratio of the deviations: the same as b above, and symmetric.
    b = (down * (w @ high.mean) + up * (w @ low.mean)) / (up + down)
    return MinimaxRule(w, -float(b), kappa)


def _joint_basis(
    low: np.ndarray, high: np.ndarray, ridge: float, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """V with V'(S+ + S-)V = I and V'S+V diagonal, and that diagonal.

    From the roots, by a singular value decomposition: the covariances themselves would have lost
    the digits below the square root of rounding, which is where a small ridge lives.
    """
    _, s, axes = scipy.linalg.svd(np.vstack([low, high]), full_matrices=False, check_finite=False)
    total = s**2 + 2 * ridge
    if len(s) < low.shape[1] or total[-1] <= (np.finfo(float).eps * len(total)) ** 2 * total[0]:
        raise ValueError(
            f"The class covariances are singular ({name}), so no worst case exists in some "
            "direction; give a ridge above 0, for example ridge=1e-8."
        )
    whitening = axes.T / np.sqrt(total)
    white = high @ whitening
    share, turn = scipy.linalg.eigh(white.T @ white + np.diag(ridge / total), check_finite=False)
    return whitening @ turn, share


class MinimaxProbabilityMachine(Hyperplanes, Classifier):
    """Hyperplane with the best guaranteed accuracy, from the mean and covariance of each class.

    It is the structural machine with one component per class, and what the paper's column SMP
    matches.

    Parameters
    ----------
    ridge : float, default=1e-8
        Added to the diagonal of both covariances, as a multiple of their mean variance. Zero is
        allowed where the sum of the covariances is regular.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features)
        Scaled so that the class means are 1 apart.
    intercept_ : ndarray of shape (n_problems,)
    kappa_ : float or ndarray of shape (n_problems,)
        Distance of each class mean from the cut, in standard deviations.
    alpha_ : float or ndarray of shape (n_problems,)
        Guaranteed accuracy on each class if its moments are right.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from lincent.paper.baselines import MinimaxProbabilityMachine
    >>> model = MinimaxProbabilityMachine().fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    >>> round(model.kappa_, 6), round(model.alpha_, 6)
    (2.0, 0.8)
    """

    _accept_sparse = False

    def __init__(
        self, ridge: float = 1e-8, *, multi_class: Strategy = "ovr", n_jobs: int | None = None
    ) -> None:
        self.ridge = ridge
        self.multi_class = multi_class
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MinimaxProbabilityMachine:
        """Estimate the moments and find the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_params(self) -> None:
        check_nonnegative("ridge", self.ridge)

    def _fit_task(self, problem: TwoClass) -> MinimaxRule:
        X, ridge = as_float(problem.X), float(self.ridge)
        return fit_minimax(X, problem.sign, problem.weight, ridge, problem.name)

    def _store_more(self, parts: list[MinimaxRule]) -> None:
        self.kappa_ = one_or_all([part.kappa for part in parts])
        self.alpha_ = one_or_all([part.kappa**2 / (1 + part.kappa**2) for part in parts])


def fit_minimax(
    X: np.ndarray, sign: np.ndarray, weight: np.ndarray, ridge: float, name: str
) -> MinimaxRule:
    """The minimax hyperplane of labeled rows."""
    # Coordinates around the grand mean: nothing changes but rounding.
    center = np.average(X, axis=0, weights=weight)
    space = RowSpace(X - center)
    Z = space.coordinates
    low, high = (moments(Z[sign == s], weight[sign == s]) for s in (-1.0, 1.0))
    spread = (low.spread + high.spread) / 2 or float(((high.mean - low.mean) ** 2).sum())
    rule = minimax_rule(low, high, ridge * spread / X.shape[1], name)
    coef = space.lift(rule.coef)
    return MinimaxRule(coef, rule.intercept - float(coef @ center), rule.kappa)
