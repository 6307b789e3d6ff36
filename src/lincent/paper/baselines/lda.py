"""LDA: the regularized linear discriminant (Fisher 1936; Friedman, JASA 84:165, 1989).

With class means mu_k, frequencies pi_k and the pooled covariance S = sum of squares within the
classes / (m - K), the covariance is shrunk towards a diagonal target T,

    S(l) = (1 - l) S + l T,          l = shrinkage: 0 is plain LDA, 1 uses the target alone

and the score of class k is x.S(l)^-1 mu_k - mu_k.S(l)^-1 mu_k / 2 + log pi_k; with two classes the
difference of the two.

One factorization serves every l.  With the rows centered on their class means, scaled by T^(-1/2)
and divided by sqrt(m - K), their thin SVD U diag(s) V' gives

    S(l)^-1 = T^(-1/2) [ V diag(1/((1-l)s^2 + l) - 1/l) V' + I/l ] T^(-1/2)

in O(m n min(m, n)), so that n > m needs no n x n matrix.  At l = 0 the pseudo-inverse stands in.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg

from lincent.estimators.base import atomic
from lincent.estimators.validation import check_choice
from lincent.paper.baselines._base import ManyClasses

TARGETS = ("diagonal", "identity", "scaled-identity")
SMALLEST_SHARE = 1e-8
"""A feature without spread inside the classes counts with this share of its overall variance."""


def check_shrinkage(value: Any) -> float:
    """A number from 0 to 1."""
    number = not isinstance(value, bool) and isinstance(value, numbers.Real)
    ok = number and 0 <= float(value) <= 1
    if not ok:
        raise ValueError(f"shrinkage={value!r} is not usable: give a number from 0 to 1.")
    return float(value)


@dataclass(frozen=True)
class _Factored:
    """Everything about the data that does not depend on the shrinkage."""

    means: np.ndarray
    log_priors: np.ndarray
    scale: np.ndarray
    axes: np.ndarray
    spread: np.ndarray

    def solve(self, shrinkage: float, d: np.ndarray) -> np.ndarray:
        """S(shrinkage)^-1 applied to the rows of d."""
        scaled = d / self.scale
        along = scaled @ self.axes.T
        if shrinkage > 0:
            gain = 1 / ((1 - shrinkage) * self.spread + shrinkage) - 1 / shrinkage
            scaled = (along * gain) @ self.axes + scaled / shrinkage
        else:
            kept = self.spread > np.finfo(float).eps * max(self.axes.shape) * self.spread.max()
            gain = np.divide(1.0, self.spread, where=kept, out=np.zeros_like(self.spread))
            scaled = (along * gain) @ self.axes
        return np.asarray(scaled / self.scale)

    def rule(self, shrinkage: float) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept): one row per class, or a single one for two classes."""
        if len(self.means) == 2:
            coef = self.solve(shrinkage, self.means[1:] - self.means[:1])
            middle = self.means.mean(axis=0)
            return coef, self.log_priors[1:] - self.log_priors[:1] - coef @ middle
        # Scores are relative, so the grand mean is taken out first: it costs only digits.
        middle = self.means.mean(axis=0)
        coef = self.solve(shrinkage, self.means - middle)
        half = (self.means + middle) / 2
        return coef, self.log_priors - np.einsum("ij,ij->i", coef, half)


class RegularizedLDA(ManyClasses):
    """Linear discriminant analysis with a covariance shrunk towards a diagonal target.

    Parameters
    ----------
    shrinkage : float, default=0.5
        From 0 (plain LDA, pseudo-inverse) to 1 (the target alone). The paper's text suggests the
        opposite direction; at its value 0.5 both are the same.
    target : {"diagonal", "identity", "scaled-identity"}, default="diagonal"
        The diagonal of the pooled covariance (the paper's variant), the identity, or the identity
        times the mean variance (scikit-learn's choice).

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

    def __init__(
        self,
        shrinkage: float = 0.5,
        *,
        target: Literal["diagonal", "identity", "scaled-identity"] = "diagonal",
    ) -> None:
        self.shrinkage = shrinkage
        self.target = target

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegularizedLDA:
        """Estimate means and covariance, and solve for the rule.

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
        factored = self._factor(X, y, sample_weight)
        self.coef_, self.intercept_ = factored.rule(float(self.shrinkage))
        self.means_ = factored.means
        self.priors_ = np.exp(factored.log_priors)
        return self

    def path(
        self, X: Any, y: Any, shrinkages: Any, sample_weight: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rules for many values of ``shrinkage`` at the price of one factorization.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        shrinkages : array-like of shape (n_values,)
            The shrinkages to try.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples.

        Returns
        -------
        coefs : ndarray of shape (n_values, 1 or n_classes, n_features)
            One column per shrinkage.
        intercepts : ndarray of shape (n_values, 1 or n_classes)
            One column per shrinkage.
        """
        values = [check_shrinkage(value) for value in np.asarray(shrinkages).tolist()]
        factored = type(self)(target=self.target)._factor(X, y, sample_weight)
        rules = [factored.rule(value) for value in values]
        return np.array([coef for coef, _ in rules]), np.array([b for _, b in rules])

    def _check_params(self) -> None:
        check_shrinkage(self.shrinkage)
        check_choice("target", self.target, TARGETS)

    def _factor(self, X: Any, y: Any, sample_weight: Any) -> _Factored:
        X, codes, weight = self._validated(X, y, sample_weight)
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
        rows /= scale
        _, s, axes = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
        return _Factored(means + origin, np.log(totals / totals.sum()), scale, axes, s**2)

    def _target(self, rows: np.ndarray, means: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The diagonal of T, without zeros."""
        within = np.einsum("ij,ij->j", rows, rows)
        if self.target == "identity":
            return np.ones_like(within)
        if self.target == "scaled-identity":
            return np.full_like(within, within.mean() if within.any() else 1.0)
        share = totals / totals.sum()
        between = share @ (means - share @ means) ** 2
        # A feature that is constant in every class but differs between them must count for much,
        # not be dropped; one that is constant everywhere gets any scale, its weight is zero.
        target = np.maximum(within, SMALLEST_SHARE * (within + between))
        return np.where(target > 0, target, 1.0)

    def _scores(self, X: Any) -> np.ndarray:
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores
