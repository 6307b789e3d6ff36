"""MPM and SMP: minimax probability machines, with one or several components per class.

MPM: the minimax probability machine (Lanckriet et al., JMLR 3:555, 2002).

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

SMP: the structural minimax probability machine (Gu, Sun & Sheng, IEEE TNNLS 28:1646, 2017).

Each class is a mixture of components j with mean mu_j, covariance S_j and side s_j = +1 or -1:

    maximize k over w, b      s_j (w.mu_j - b) >= k sqrt(w'S_j w)    for every component j

One component per class is the minimax probability machine.  (This is our reading of the method:
known component moments, a sequence of second-order cone programs, these special cases.)

Generalized Dinkelbach: from a direction with value k and deviations d_j = sqrt(w'S_j w), solve

    minimize s    k sqrt(w'S_j w) <= s_j (w.mu_j - b) + s d_j,     w.(mu+ - mu-) = 1

and take the least ratio of its answer as the next k; 4 to 7 cone programs by Clarabel.

Components are found by EM.  A class keeps one component where its rows cannot carry more (a
component with fewer than n + 1 rows has no regular covariance), and both classes do where the
component means cannot be separated by a hyperplane, since then no k above 0 exists;
``n_components_`` tells.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import brentq
from sklearn import config_context
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state

from lincent._errors import import_optional
from lincent.estimators.base import Classifier
from lincent.estimators.linear import squeeze_single
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.validation import COMMON_CONSTRAINTS, COUNT, NONNEGATIVE, POSITIVE, Strategy
from lincent.paper.baselines._base import Baseline, Hyperplanes, as_float
from lincent.solvers.newton.joint import Span

EDGE = 1e-12


class MinimaxRule(NamedTuple):
    """The hyperplane w.x + intercept = 0, the factor k of the guarantee, components by class."""

    coef: np.ndarray
    intercept: float
    kappa: float
    components: tuple[int, int] = (1, 1)


class Moments(NamedTuple):
    """A mean, and the covariance (divided by the total weight) as root' root."""

    mean: np.ndarray
    root: np.ndarray


def moments(X: np.ndarray, weight: np.ndarray) -> Moments:
    """Return weighted moments of rows."""
    share = weight / weight.sum()
    mean = share @ X
    return Moments(mean, (X - mean) * np.sqrt(share)[:, None])


def minimax_rule(low: Moments, high: Moments, ridge: float, name: str) -> MinimaxRule:
    """Return the minimax hyperplane; ``ridge`` is added to the diagonals of the covariances."""
    d = high.mean - low.mean
    if not np.any(d):
        raise ValueError(
            f"The class means coincide ({name}), so no hyperplane separates them; the minimax "
            "machine needs classes with different means."
        )
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
    """Return V with V'(S+ + S-)V = I and V'S+V diagonal, and that diagonal.

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


class Guarantees:
    """The accuracy that hyperplanes guarantee, before ``Hyperplanes`` among the bases."""

    def _store(self, parts: list[MinimaxRule]) -> None:
        super()._store(parts)  # type: ignore[misc]
        self.kappa_ = squeeze_single([part.kappa for part in parts])
        self.alpha_ = squeeze_single([part.kappa**2 / (1 + part.kappa**2) for part in parts])


@dataclass(eq=False, repr=False)
class MinimaxProbabilityMachine(Guarantees, Hyperplanes, Baseline, Classifier):
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
        Distance of each class mean from the hyperplane, in standard deviations.
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

    ridge: float = 1e-8
    _: KW_ONLY
    multi_class: Strategy = "ovr"
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "ridge": [NONNEGATIVE],
    }

    def _fit_task(self, problem: BinaryProblem) -> MinimaxRule:
        X, ridge = as_float(problem.X), float(self.ridge)
        return fit_minimax(X, problem.sign, problem.weight, ridge, problem.name)


def fit_minimax(
    X: np.ndarray, sign: np.ndarray, weight: np.ndarray, ridge: float, name: str
) -> MinimaxRule:
    """Return the minimax hyperplane of labeled rows."""
    # Coordinates around the grand mean: nothing changes but rounding.
    center = np.average(X, axis=0, weights=weight)
    space = Span(X - center)
    Z = space.rows
    low, high = (moments(Z[sign == s], weight[sign == s]) for s in (-1.0, 1.0))
    variance = ((low.root**2).sum() + (high.root**2).sum()) / 2  # summed over the features
    spread = float(variance or ((high.mean - low.mean) ** 2).sum())
    rule = minimax_rule(low, high, ridge * spread / X.shape[1], name)
    coef = space.lift(rule.coef)
    return rule._replace(coef=coef, intercept=rule.intercept - float(coef @ center))


LEAST_KAPPA = 1e-6


class Components(NamedTuple):
    """Component moments of both classes."""

    side: np.ndarray
    means: np.ndarray
    roots: np.ndarray

    def deviations(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.norm(self.roots @ w, axis=1))

    def kappa(self, w: np.ndarray, b: float) -> float:
        return float(np.min(self.side * (self.means @ w - b) / self.deviations(w)))


def cone_program(
    parts: Components, d: np.ndarray, kappa: float, scale: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return (w, b) of one Dinkelbach round."""
    clarabel = import_optional("clarabel", "baselines", "StructuralMPM(n_components>1)")
    n = len(d)
    q = np.zeros(n + 2)
    q[-1] = 1.0
    blocks = [np.concatenate([d, [0.0, 0.0]])[None]]
    cones = [clarabel.ZeroConeT(1)]
    for side, mean, root, size in zip(parts.side, parts.means, parts.roots, scale, strict=True):
        block = np.zeros((n + 1, n + 2))
        block[0] = -np.concatenate([side * mean, [-side, size]])
        block[1:, :n] = -kappa * root
        blocks.append(block)
        cones.append(clarabel.SecondOrderConeT(n + 1))
    A = sp.csc_matrix(np.vstack(blocks))
    right = np.zeros(A.shape[0])
    right[0] = 1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    answer = clarabel.DefaultSolver(
        sp.csc_matrix((n + 2, n + 2)), q, A, right, cones, settings
    ).solve()
    x = np.array(answer.x)
    return x[:n], float(x[n])


def structural_rule(parts: Components, d: np.ndarray, start: MinimaxRule) -> MinimaxRule:
    """Return the best hyperplane, or the start where none separates the component means."""
    w, b, value = start.coef, -start.intercept, max(parts.kappa(start.coef, -start.intercept), 0.0)
    for _ in range(50):  # 4 to 7 are enough
        following = cone_program(parts, d, max(value, LEAST_KAPPA), parts.deviations(w))
        now = parts.kappa(*following) if np.all(np.isfinite(following[0])) else -np.inf
        grown = now - value
        if grown > 0:
            (w, b), value = following, now
        if not grown > 1e-10 * max(1.0, now):
            break
    if value <= LEAST_KAPPA:
        return start
    counts = (int((parts.side < 0).sum()), int((parts.side > 0).sum()))
    return MinimaxRule(w, -float(b), value, counts)


@dataclass(eq=False, repr=False)
class StructuralMPM(Guarantees, Hyperplanes, Baseline, Classifier):
    """Minimax probability machine for classes made of several components.

    Needs clarabel (``pip install "lincent[baselines]"``) unless ``n_components=1``.

    Parameters
    ----------
    n_components : int, default=2
        Components sought in each class; 1 is the minimax probability machine, which is what the
        paper's column SMP matches.
    ridge : float, default=1e-6
        Added to the diagonal of all covariances, as a multiple of the mean variance in the classes.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.
    random_state : int, RandomState instance or None, default=None
        Starts of EM. They depend on the order of the samples, too.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features)
    intercept_ : ndarray of shape (n_problems,)
    kappa_, alpha_ : float or ndarray of shape (n_problems,)
        Every component mean is kappa standard deviations from the hyperplane or more; alpha is the
        accuracy this guarantees on each component.
    n_components_ : ndarray of shape (n_problems, 2)
        Components used for the negative and the positive class.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent.paper.baselines import StructuralMPM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = StructuralMPM(n_components=1).fit(X[:, :5], y)
    >>> model.n_components_.tolist()
    [[1, 1]]
    """

    n_components: int = 2
    _: KW_ONLY
    ridge: float = 1e-6
    multi_class: Strategy = "ovr"
    n_jobs: int | None = None
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_components": [COUNT],
        "ridge": [POSITIVE],
    }

    def fit(self, X: Any, y: Any) -> StructuralMPM:  # type: ignore[override]
        """Find the components and the hyperplane.

        EM has no row weights here, so there is no ``sample_weight``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        # One seed for all two-class problems, drawn before they may run side by side.
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self._fit(X, y, None)

    def _fit_task(self, problem: BinaryProblem) -> MinimaxRule:
        X, sign, name = as_float(problem.X), problem.sign, problem.name
        center = X.mean(axis=0)
        X = X - center
        rule = fit_minimax(X, sign, problem.weight, float(self.ridge), name)
        classes = [X[sign == s] for s in (-1.0, 1.0)]
        if self.n_components > 1 and any(self._can_split(rows) for rows in classes):
            difference = classes[1].mean(axis=0) - classes[0].mean(axis=0)
            rule = structural_rule(self._components(classes), difference, rule)
        return rule._replace(intercept=rule.intercept - float(rule.coef @ center))

    def _can_split(self, rows: np.ndarray) -> bool:
        least = self.n_components * (rows.shape[1] + 1)
        return len(rows) >= least and len(np.unique(rows, axis=0)) >= least

    def _components(self, classes: list[np.ndarray]) -> Components:
        floor = self.ridge * float(np.mean([rows.var(axis=0).mean() for rows in classes]))
        parts = [
            (side, mean, np.linalg.cholesky(covariance).T)
            for side, rows in zip((-1.0, 1.0), classes, strict=True)
            for mean, covariance in self._mixture(rows, floor)
        ]
        return Components(*map(np.array, zip(*parts, strict=True)))

    def _mixture(self, rows: np.ndarray, floor: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return mean and covariance of each component of one class."""
        n = rows.shape[1]
        if self._can_split(rows):
            mixture = GaussianMixture(
                self.n_components,
                reg_covar=floor,
                n_init=5,
                max_iter=1000,
                random_state=self._seed,
            )
            # The rows are NumPy's here, and the mixture's first guess does not dispatch.
            with config_context(array_api_dispatch=False):
                mixture.fit(rows)
            if np.all(mixture.weights_ * len(rows) >= n + 1):
                return list(zip(mixture.means_, mixture.covariances_, strict=True))
        covariance = np.cov(rows, rowvar=False, bias=True).reshape(n, n)
        return [(rows.mean(axis=0), covariance + floor * np.eye(n))]

    def _store(self, parts: list[MinimaxRule]) -> None:
        super()._store(parts)
        self.n_components_ = np.array([part.components for part in parts])
