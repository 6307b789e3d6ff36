"""What the cross-validated estimators share: folds, tasks, weights of the settings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from lincent import _threads
from lincent.estimators import committee, multiclass
from lincent.estimators.base import TwoClassReduction
from lincent.estimators.committee import REPEATS_UP_TO, Settings, Tally
from lincent.estimators.folds import Split, make_folds
from lincent.estimators.regularized import check_margins
from lincent.estimators.validation import (
    check_choice,
    check_class_weight,
    check_count,
    check_positive,
    check_training_data,
    check_weights,
)
from lincent.solvers.solution import Controls, silent


def check_costs(Cs: Any) -> np.ndarray | None:
    """None, or positive numbers in rising order."""
    if Cs is None:
        return None
    values = np.sort(np.atleast_1d(np.asarray(Cs, dtype=np.float64)))
    if values.ndim != 1 or not values.size:
        raise ValueError(f"Cs={Cs!r} is not usable: give None or a list of positive numbers.")
    for value in values:
        check_positive("Cs", float(value))
    return values


class CommitteeClassifier(TwoClassReduction):
    """A classifier made of the rules of all folds and settings.

    Subclasses have the parameters ``Cs``, ``margins``, ``cv``, ``n_repeats``, ``scoring``,
    ``sharpness``, ``class_weight``, ``multi_class``, ``tol``, ``max_iter``, ``n_jobs``,
    ``random_state`` and ``verbose``; they say which features each member sees (``_designs``) and
    what is kept (``_keep``).
    """

    _default_repeats = 3

    def _designs(
        self, X: Any, codes: np.ndarray, weight: np.ndarray, split: Split, seed: int
    ) -> tuple[list[tuple[Any, Any]], Any]:
        """Features of training and held-out part for each member, and how they came about."""
        raise NotImplementedError

    def _keep(
        self, tallies: list[Tally], weights: list[np.ndarray], made: list[Any], whole: Any
    ) -> None:
        """Set the fitted rule.  ``whole`` is (X, codes, weight, tasks, settings)."""
        raise NotImplementedError

    def _check_params(self) -> None:
        check_costs(self.Cs)
        low, high = check_margins(self.margins)
        if low == high:
            raise ValueError(
                f"margins={self.margins!r} is a hinge with a corner, which Newton's method does "
                "not solve: give low below high."
            )
        check_positive("sharpness", self.sharpness)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.n_repeats is not None:
            check_count("n_repeats", self.n_repeats)

    def _fit_tasks(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._check_params()
        strategy = check_choice("multi_class", self.multi_class, multiclass.STRATEGIES)
        X, codes = check_training_data(self, X, y, accept_sparse=self._accept_sparse)
        weight = check_weights(sample_weight, X.shape[0])
        factor, _ = check_class_weight(self, self.class_weight, codes, weight)
        seed = int(check_random_state(self.random_state).randint(2**31))
        folds = make_folds(self.cv, X, codes, weight, self._repeats(X.shape[0]), seed)
        settings = Settings(
            Cs=check_costs(self.Cs),
            margins=check_margins(self.margins),
            free=True,
            class_factor=None if isinstance(self.class_weight, str) else factor,
            controls=Controls(self.tol, self.max_iter, tell=print if self.verbose else silent),
            seed=seed,
        )
        todo = multiclass.tasks(len(self.classes_), strategy)

        def one(split: Split) -> Any:
            designs, made = self._designs(X, codes, weight, split, seed)
            return committee.fit_fold(split, designs, todo, codes, weight, settings), made

        with _threads.side_by_side(self.n_jobs, len(folds)):
            done = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(one)(s) for s in folds)
        tallies = committee.gather([result for result, _ in done], len(todo), X.shape[0])
        self._weigh(tallies, todo, codes, weight, settings)
        whole = (X, codes, weight, todo, settings)
        self._keep(tallies, list(self._setting_weights), [made for _, made in done], whole)
        del self._setting_weights
        return self

    def _repeats(self, n_samples: int) -> int:
        if self.n_repeats is not None:
            return int(self.n_repeats)
        return self._default_repeats if n_samples <= REPEATS_UP_TO else 1

    def _weigh(
        self,
        tallies: list[Tally],
        todo: list[multiclass.Task],
        codes: np.ndarray,
        weight: np.ndarray,
        settings: Settings,
    ) -> None:
        """Measures and weights of the settings; the worst gap of all rules."""
        measures = [
            committee.measure(self.scoring, tally, task, codes, weight)
            for tally, task in zip(tallies, todo, strict=True)
        ]
        weights = [committee.soft_weights(values, float(self.sharpness)) for values in measures]
        shape = (len(todo), tallies[0].n_members, tallies[0].n_costs)
        one = 0 if len(todo) == 1 else slice(None)
        best = np.array([values.argmax() for values in measures])
        self.Cs_ = settings.costs(weight)
        self.C_ = self.Cs_[best % shape[2]][one]
        self.best_member_ = (best // shape[2])[one]
        self.scores_ = np.reshape(measures, shape)[one]
        self.weights_ = np.reshape(weights, shape)[one]
        self.n_iter_ = max(1, sum(tally.iterations for tally in tallies))
        self.duality_gap_ = max(tally.gap for tally in tallies)
        self._setting_weights = weights
        if self.duality_gap_ > self.tol:
            warnings.warn(
                "Some of the cross-validated rules are not certified: the worst relative duality "
                f"gap is {self.duality_gap_:.1e} (tol {self.tol:g}). Raise max_iter or scale the "
                "columns.",
                ConvergenceWarning,
                stacklevel=2,
            )
