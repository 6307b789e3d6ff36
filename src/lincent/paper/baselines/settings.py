"""What reproduces the paper's table, for each of its seven methods.

The paper leaves much unsaid; these interpretations were found by comparison with its figures:

    LDA   covariance shrunk half-way to its diagonal, class frequencies as priors
    SVM   lambda = 1 is the cost C = 1 of the usual form, not the printed formula
    DLS   one nearest neighbor among the regressions, where the published program stops
    SMP   one component per class
    TSV   all four constants 0.1, distances divided by |w|
    WSV   the program divides by c1 = 0.1, so c1 = c2 = 10
    DEL   the nuclear norm is inert in the program, so 0; each column scored by its sign

and the score is the area under the ROC curve of the hard labels, which is balanced accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import balanced_accuracy_score

from lincent.estimators.validation import check_choice
from lincent.paper.baselines.dls import DiscriminativeLeastSquares
from lincent.paper.baselines.elastic import DiscriminativeElasticNet
from lincent.paper.baselines.lda import RegularizedLDA
from lincent.paper.baselines.minimax import MinimaxProbabilityMachine
from lincent.paper.baselines.svm import LinearSVM
from lincent.paper.baselines.twin import TwinSVC, WeightedTwinSVC

METHODS = ("LDA", "SVM", "DLS", "SMP", "TSV", "WSV", "DEL")
# The fifteen values of each parameter in the paper's second procedure.
FIFTEENTHS = [k / 15 for k in range(1, 16)]
POWERS_OF_TEN = [10.0 ** (k / 15) for k in range(-30, 27, 4)]


def hard_auc(estimator: Any, X: Any, y: Any) -> float:
    """The paper's score: the AUC of the predicted labels, which is balanced accuracy.

    Parameters
    ----------
    estimator : fitted classifier
        A fitted classifier.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The class of each row.

    Returns
    -------
    float
        The area under the ROC curve of the predicted labels.
    """
    return float(balanced_accuracy_score(y, estimator.predict(X)))


def column_mean_auc(estimator: Any, X: Any, y: Any) -> float:
    """The paper's score of DEL: the AUC of the sign of each regression f_k, averaged over classes.

    Parameters
    ----------
    estimator : fitted classifier with ``responses``
        A fitted classifier.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The class of each row.

    Returns
    -------
    float
        The mean over the two regressions of the AUC of their signs.
    """
    if not hasattr(estimator, "responses"):
        if hasattr(estimator, "steps"):
            return column_mean_auc(estimator[-1], estimator[:-1].transform(X), y)
        raise TypeError(
            f"{type(estimator).__name__} has no responses(X), which column_mean_auc needs; use "
            "hard_auc."
        )
    positive = estimator.responses(X) > 0
    y = np.asarray(y)
    scores = [
        balanced_accuracy_score(y == label, positive[:, k])
        for k, label in enumerate(estimator.classes_)
    ]
    return float(np.mean(scores))


@dataclass(frozen=True)
class PaperSettings:
    """One method as the paper ran it.

    Parameters
    ----------
    method : str
        The paper's code.
    estimator : estimator
        Not fitted; give it z-scored features.
    scoring : callable
        ``scoring(estimator, X, y)``, for any ``scoring`` parameter of scikit-learn.
    grid : list of dict
        The values of procedure 2, for ``GridSearchCV``; empty for a method without parameters.
    """

    method: str
    estimator: BaseEstimator
    scoring: Any
    grid: list[dict[str, list[Any]]]


def paper_settings(
    method: str | None = None, shape: tuple[int, int] | None = None
) -> PaperSettings | dict[str, PaperSettings]:
    """What reproduces the paper's figures for a method, so that nobody has to know.

    Parameters
    ----------
    method : str, default=None
        One of the paper's codes LDA, SVM, DLS, SMP, TSV, WSV, DEL; None for all of them.
    shape : tuple (n_samples, n_features), default=None
        Shape of the training data. It decides the ridge of SMP, the only setting that depends on
        it: with fewer than two rows per feature a class covariance is singular and needs a real
        one. None stands for more rows than that, as in the paper's seven tables.

    Returns
    -------
    PaperSettings, or dict of method to PaperSettings
        The settings of one method, or of all by code.

    Examples
    --------
    >>> from lincent.paper.baselines import paper_settings
    >>> paper_settings("WSV").estimator
    WeightedTwinSVC(c1=10.0, c2=10.0)
    >>> sorted(paper_settings())
    ['DEL', 'DLS', 'LDA', 'SMP', 'SVM', 'TSV', 'WSV']
    """
    if method is None:
        return {name: _settings(name, shape) for name in METHODS}
    return _settings(check_choice("method", method, METHODS), shape)


def _settings(method: str, shape: tuple[int, int] | None) -> PaperSettings:
    scoring = column_mean_auc if method == "DEL" else hard_auc
    return PaperSettings(method, _estimator(method, shape), scoring, _grid(method))


def _estimator(method: str, shape: tuple[int, int] | None) -> BaseEstimator:
    if method == "LDA":
        return RegularizedLDA(shrinkage=0.5, target="diagonal")
    if method == "SVM":
        return LinearSVM(C=1.0)
    if method == "DLS":
        return DiscriminativeLeastSquares(ridge=0.5, discriminator="1nn", solver="alternating")
    if method == "SMP":
        return MinimaxProbabilityMachine(ridge=_ridge(shape))
    if method == "TSV":
        return TwinSVC(c1=0.1, c2=0.1, c3=0.1, c4=0.1)
    if method == "WSV":
        return WeightedTwinSVC(c1=10.0, c2=10.0, c3=0.1, c4=0.1)
    return DiscriminativeElasticNet(nuclear=0.0, ridge=0.5)


def _ridge(shape: tuple[int, int] | None) -> float:
    """1e-8 of the mean variance heals collinear features; singular covariances need more."""
    if shape is None:
        return 1e-8
    m, n = shape
    return 1e-8 if m > 2 * n else 1e-6


def _grid(method: str) -> list[dict[str, list[Any]]]:
    if method in ("TSV", "WSV"):
        # The program of WSV divides by c1, so its value is the inverse of ours.
        losses = [1 / c for c in POWERS_OF_TEN] if method == "WSV" else POWERS_OF_TEN
        return [
            {"c1": [loss], "c2": [loss], "c3": [ridge], "c4": [ridge]}
            for loss in losses
            for ridge in POWERS_OF_TEN
        ]
    grids: dict[str, dict[str, list[Any]]] = {
        "LDA": {"shrinkage": FIFTEENTHS},
        "SVM": {"C": POWERS_OF_TEN},
        "DLS": {"ridge": FIFTEENTHS},
        "DEL": {"ridge": FIFTEENTHS},
    }
    return [grids[method]] if method in grids else []
