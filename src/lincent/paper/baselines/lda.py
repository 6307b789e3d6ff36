"""LDA: the regularized linear discriminant (Fisher 1936; Friedman, JASA 84:165, 1989).

With class means mu_k, frequencies pi_k and the pooled covariance S = sum of squares within the
classes / (m - K), the covariance is shrunk towards its diagonal T,

    S(l) = (1 - l) S + l T,          l = shrinkage: 0 is plain LDA, 1 uses the target alone

and the score of class k is x.S(l)^-1 mu_k - mu_k.S(l)^-1 mu_k / 2 + log pi_k; with two classes the
difference of the two.

With the rows centered on their class means, scaled by T^(-1/2)
and divided by sqrt(m - K), their thin SVD U diag(s) V' gives

    S(l)^-1 = T^(-1/2) [ V diag(1/((1-l)s^2 + l) - 1/l) V' + I/l ] T^(-1/2)

in O(m n min(m, n)), so that n > m needs no n x n matrix.  At l = 0 the pseudo-inverse stands in.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from lincent.estimators.base import Classifier
from lincent.estimators.validation import Number
from lincent.paper.baselines._base import Baseline, ManyClasses


@dataclass(eq=False, repr=False)
class RegularizedLDA(ManyClasses, Baseline, Classifier):
    """Linear discriminant analysis with a covariance shrunk towards its diagonal.

    Parameters
    ----------
    shrinkage : float, default=0.5
        From 0 (plain LDA, pseudo-inverse) to 1 (the target alone). The paper's text suggests the
        opposite direction; at its value 0.5 both are the same.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    priors_ : ndarray of shape (n_classes,)
        Class frequencies, by weight.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent.paper.baselines import RegularizedLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> float(RegularizedLDA().fit(X, y).score(X, y))
    0.96
    """

    shrinkage: float = 0.5

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "shrinkage": [Number(numbers.Real, 0, 1, closed="both")],
    }

    def _fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        totals = np.bincount(codes, weights=weight)
        freedom = totals.sum() - len(totals)
        if freedom <= 0:
            raise ValueError(
                f"The rows weigh {totals.sum():g} together and there are {len(totals)} classes; "
                "the pooled covariance needs more weight (rows) than classes."
            )
        share = np.zeros((len(totals), len(X)))
        share[codes, np.arange(len(X))] = weight / totals[codes]
        # Seen from the first row a constant feature is exactly zero, without the rounding of a
        # mean.
        origin = X[0]
        X = X - origin
        means = share @ X
        rows = (X - means[codes]) * np.sqrt(weight / freedom)[:, None]
        scale = np.sqrt(self._target(rows, means, totals))
        _, s, axes = scipy.linalg.svd(rows / scale, full_matrices=False, check_finite=False)
        self.means_, self.priors_ = means + origin, totals / totals.sum()
        # Scores are relative, so the grand mean is taken out first: it costs only digits.
        middle = self.means_.mean(axis=0)
        coef = self._solve(s**2, axes, (self.means_ - middle) / scale) / scale
        half = (self.means_ + middle) / 2
        intercept = np.log(self.priors_) - np.einsum("ij,ij->i", coef, half)
        if len(totals) == 2:
            coef = coef[1:] - coef[:1]
            intercept = np.diff(np.log(self.priors_)) - coef @ middle
        self.coef_, self.intercept_ = coef, intercept

    def _solve(self, spread: np.ndarray, axes: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return S(shrinkage)^-1 applied to the rows of d, all in units of the target."""
        along = d @ axes.T
        if self.shrinkage > 0:
            gain = 1 / ((1 - self.shrinkage) * spread + self.shrinkage) - 1 / self.shrinkage
            return np.asarray((along * gain) @ axes + d / self.shrinkage)
        kept = spread > np.finfo(float).eps * max(axes.shape) * spread.max()
        gain = np.divide(1.0, spread, where=kept, out=np.zeros_like(spread))
        return np.asarray((along * gain) @ axes)

    def _target(self, rows: np.ndarray, means: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Return the diagonal of T, without zeros."""
        within = np.einsum("ij,ij->j", rows, rows)
        share = totals / totals.sum()
        between = share @ (means - share @ means) ** 2
        # A feature that is constant in every class but differs between them must count for much,
        # not be dropped; one that is constant everywhere gets any scale, its weight is zero.
        target = np.maximum(within, 1e-8 * (within + between))
        return np.where(target > 0, target, 1.0)

    def _task_scores(self, X: Any) -> np.ndarray:
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores
