"""What the centralization classifiers share: their parameters' checks, the line, the certificate.

Each of them ends with rows projected on a line, two centers on it, a rule that cuts it, and a
certified solve.  A subclass says how rows are projected (``_project``) and where the midpoint
between the centers lies (``_midpoints``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.answers import where_rows_live
from lincent.estimators.base import TwoClassReduction
from lincent.estimators.discriminators import DISCRIMINATORS, Discriminator
from lincent.estimators.multiclass import tasks
from lincent.estimators.validation import (
    check_choice,
    check_count,
    check_positive,
    check_rows,
    plain,
)
from lincent.passes.band import scaled_costs
from lincent.passes.source import open_source
from lincent.programs.arrays import Certificate
from lincent.programs.centralization import HARD_FEASIBILITY
from lincent.solvers.lp import choose
from lincent.solvers.solution import Controls, Solution, Status, silent


class CentralizationClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, TwoClassReduction
):
    """A classifier that cuts a certified line.

    Subclasses have the parameters ``C``, ``margin``, ``discriminator``, ``solver``, ``tol``,
    ``max_iter``, ``time_limit``, ``random_state`` and ``verbose``, and set ``_rules`` in
    ``_store``.
    """

    _rules: list[Discriminator]

    def _project(self, X: Any) -> np.ndarray:
        """The projected rows, one column per task."""
        raise NotImplementedError

    def _midpoints(self) -> np.ndarray:
        """The midpoint between the projected centers, one per task."""
        raise NotImplementedError

    @where_rows_live
    def transform(self, X: Any) -> np.ndarray:
        """The projected line: one column per two-class problem.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_problems)
        """
        check_is_fitted(self)
        X = check_rows(self, X, accept_sparse=self._accept_sparse)
        return self._project(X).astype(open_source(X).dtype, copy=False)

    @where_rows_live
    def misclassification_impact(self, X: Any, y: Any) -> np.ndarray:
        """How much each row costs: ``C * (epsilon - sigma)`` of the paper, zero where well placed.

        The largest values are the rows most at odds with their label. With more than two classes
        the impacts in the two-class problems of the row are added.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = check_rows(self, X, accept_sparse=self._accept_sparse)
        codes = self._codes(y, X.shape[0])
        projected, midpoints = self._project(X), self._midpoints()
        impact = np.zeros(X.shape[0])
        for k, task in enumerate(tasks(len(self.classes_), self.multi_class)):
            rows = slice(None) if task.whole else task.rows(codes)
            beyond = task.sign(codes[rows]) * (projected[rows, k] - midpoints[k])
            missed = self._missed(beyond, k)
            if np.isinf(self.C):  # rounding is no violation, or rows on the margin would cost inf
                size = self.margin + abs(midpoints[k]) + np.abs(beyond)
                missed[missed <= HARD_FEASIBILITY * size] = 0.0
            # A row that meets the margin costs nothing, also where C is infinite.
            impact[rows] += np.multiply(self.C, missed, where=missed > 0, out=missed)
        return impact

    def _missed(self, beyond: np.ndarray, task: int) -> np.ndarray:
        """epsilon - sigma, from how far each row is on its own side of the midpoint."""
        return np.maximum(self.margin - beyond, 0.0)

    def _check_params(self) -> None:
        check_positive("C", self.C, infinite=True)
        check_positive("margin", self.margin)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        check_choice("discriminator", self.discriminator, DISCRIMINATORS)
        check_choice("solver", self.solver, choose.SOLVERS)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)

    def _task_scores(self, X: Any) -> np.ndarray:
        projected = self._project(X)
        return np.stack([rule.score(projected[:, k]) for k, rule in enumerate(self._rules)], axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self._rules)

    def _store_certificates(self, solutions: list[Solution]) -> None:
        certificates = [solution.certificate for solution in solutions]
        self.objective_ = alone([c.objective for c in certificates])
        self.dual_objective_ = alone([c.dual_objective for c in certificates])
        self.duality_gap_ = alone([c.gap for c in certificates])
        self.n_iter_ = alone([solution.iterations for solution in solutions])
        solvers = [solution.solver for solution in solutions]
        self.solver_ = solvers[0] if len(solvers) == 1 else solvers

    def _costs(self, cost: np.ndarray) -> np.ndarray:
        """C times the cost of each row; an infinite C makes hard rows of those that cost."""
        return scaled_costs(cost, float(self.C))

    def _controls(self) -> Controls:
        limit = self._ends_at(self.time_limit)
        tell = print if self.verbose else silent
        return Controls(tol=self.tol, max_iter=self.max_iter, deadline=limit, tell=tell)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        y = np.asarray(y)
        if y.shape != (n_samples,):
            raise ValueError(
                f"y has shape {y.shape}; give one label for each of the {n_samples} rows."
            )
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        strange = self.classes_[codes] != y
        if np.any(strange):
            row = int(np.flatnonzero(strange)[0])
            raise ValueError(
                f"y[{row}] is {plain(y[row])!r}, a class unknown to this model; it knows "
                f"{self.classes_.tolist()!r}."
            )
        return codes

    def _check_margin(self, largest: float, name: str) -> None:
        if largest == 0.0:
            raise ValueError(
                f"The class centers coincide ({name}), so no direction separates them; "
                f"{type(self).__name__} needs classes with different means."
            )
        if self.margin > largest:
            raise ValueError(
                f"margin={self.margin:g} is above the largest feasible margin {largest:.6g} "
                f"({name}): give a smaller margin, or scale the features up."
            )

    def _judge(self, solution: Solution, name: str) -> None:
        """Turn the status of a solve into nothing, a warning or an error."""
        answer: Certificate = solution.certificate
        if np.isinf(self.C) and not np.isfinite(answer.objective):
            raise ValueError(
                f"C=np.inf asks for a hard margin of {self.margin:g}, but the rows cannot be "
                f"separated by it ({name}): give a finite C."
            )
        if solution.certified(self.tol):
            return
        cause = {
            Status.TIME_LIMIT: f"time_limit={self.time_limit} s ended the solve",
            Status.ITERATION_LIMIT: f"max_iter={self.max_iter} ended the solve",
        }.get(solution.status, "the solvers stalled")
        warnings.warn(
            f"The optimum is not certified ({name}): {cause} at a duality gap of {answer.gap:.3g} "
            f"(relative {answer.relative_gap:.1e}, tol {self.tol:g}). The model is usable; its "
            f"objective is within that gap of the best.",
            ConvergenceWarning,
            stacklevel=2,
        )


def alone(values: list[Any]) -> Any:
    """One number per task as an array, or the number itself where there is one task."""
    array = np.array(values)
    return array[0].item() if len(array) == 1 and array.ndim == 1 else array
