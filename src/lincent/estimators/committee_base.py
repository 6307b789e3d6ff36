"""What the cross-validated estimators share: folds, tasks, weights of the settings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent import _progress
from lincent.estimators import committee
from lincent.estimators.committee import REPEATS_UP_TO, Known, Settings, Tally
from lincent.estimators.committee_data import open_parts
from lincent.estimators.committee_weights import Together, measure, soft_weights
from lincent.estimators.direction import controls
from lincent.estimators.probabilities import FoldFit, Unseen
from lincent.estimators.problem import HostTraining, Task, Training, tasks
from lincent.estimators.regularized import check_hinge_range
from lincent.estimators.regularized_fit import RegularizedFit
from lincent.estimators.renamed import margin_range_of
from lincent.estimators.validation import check_class_weight, check_count, check_positive
from lincent.model_selection.folds import calibration_folds
from lincent.sources.source import Kind

SMALL_ENTRIES = 20_000
SMALL_TOL = 1e-3
"""Up to so many entries rules are solved to this share of tol, a Newton step further: a gap within
tol leaves seven digits of a score, and a repeated row and a weight of two should agree in more."""


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


class Committee:
    """A classifier made of the rules of all folds and settings: beside ``Classifier``.

    Subclasses have the parameters ``Cs``, ``margin_range``, ``cv``, ``n_repeats``, ``scoring``,
    ``sharpness``, ``class_weight``, ``multi_class``, ``tol``, ``max_iter``, ``n_jobs``,
    ``random_state`` and ``verbose``; they say which features each member sees (``_maps``) and
    what is kept (``_keep``).
    """

    Cs: Any
    margin_range: Any
    sharpness: float
    tol: float
    max_iter: int
    n_repeats: int | None
    multi_class: str
    probability: str | None
    _folds_at_hand = True
    scoring: Any
    _default_repeats: int = 3

    def _maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        """The map of each member (None: the columns), and what is kept of how they came about."""
        raise NotImplementedError

    def _keep(
        self, tallies: list[Tally], weights: list[np.ndarray], made: list[Any], refit: Any
    ) -> float:
        """Set the fitted rule; ``refit(k, C)`` is the direction of task k over all rows.

        What is returned is half the distance of the centers in the rule's scores.
        """
        raise NotImplementedError

    def _check_params(self) -> None:
        check_costs(self.Cs)
        check_hinge_range(margin_range_of(self))
        check_positive("sharpness", self.sharpness)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.n_repeats is not None:
            check_count("n_repeats", self.n_repeats)

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Rows are read wherever they are."""

    def _known(self) -> tuple[int, float] | None:
        """Member and C of a setting that is known to do for several classes."""
        return None

    def _learn(self, training: Training, fitted: Sequence[FoldFit] = ()) -> None:
        model: Any = self
        costs = check_class_weight(model.class_weight, training.classes, training.totals)
        seed = int(check_random_state(model.random_state).randint(2**31))
        limits = controls(model, training.began)
        if training.shape[0] * training.shape[1] <= SMALL_ENTRIES:
            limits = replace(limits, tol=SMALL_TOL * limits.tol)
        fit = RegularizedFit(check_hinge_range(margin_range_of(model)), True, limits, seed)
        own = isinstance(model.class_weight, str)
        todo = tasks(len(training.classes), model.multi_class)
        settings = Settings(check_costs(model.Cs), fit, None if own else costs, len(todo) > 1)
        weight = float(training.totals.sum())
        if self._jointly(todo) and (known := self._known()) is not None:
            member, C = known
            place = int(np.searchsorted(settings.grid(weight), C))
            settings = replace(settings, known=Known(member, place, C))
        folds, made = self._folds(training, todo, settings, seed)
        tallies = committee.gather(folds, todo)
        weights = self._weigh(tallies, todo, settings, weight)
        if len(todo) > 1 and todo[0].whole:
            tried = weights[0].reshape(tallies[0].n_members, -1) > 0
            if not self._jointly(todo):
                tried = np.ones_like(tried)
            job = partial(self._rules, training, todo, settings, seed, tried)
            [(rules, whole)] = training.each([job], None)
            by_task = [[member[k] for member in rules] for k in range(len(todo))]
            tallies = [replace(t, rules=[r]) for t, r in zip(tallies, by_task, strict=True)]
            made = [whole]
        self._certify(tallies)

        def refit(k: int, C: float) -> Any:
            return fit.directions(settings.problem(training, todo[k]), (C,))[0]

        unit = self._keep(tallies, weights, made, refit)
        if self.probability is not None:
            self._calibrate(tallies, self._used(weights), training, unit)

    def _jointly(self, todo: list[Task]) -> bool:
        """Whether settings are judged by what they say of all classes together."""
        return self.scoring is None and len(todo) > 1 and todo[0].whole

    def _folds(
        self, training: Training, todo: list[Task], settings: Settings, seed: int
    ) -> tuple[list[committee.Fold], list[Any]]:
        """What the folds give, and how their maps came about."""
        model: Any = self
        repeats = self._repeats(training.shape[0] if len(training.classes) == 2 else np.inf)
        data = open_parts(training, model.cv, repeats, seed)

        def one(split: int, tried: np.ndarray | None) -> Any:
            _progress.step("search, fold", split, data.n_splits)
            part = data.part(split)
            maps, made = self._maps(part, seed)
            if tried is None:
                tried = np.ones((len(maps), len(settings.grid(1.0))), dtype=bool)
            return committee.fit_fold(data, split, part, maps, todo, settings, tried), made

        def several(splits: range, tried: np.ndarray | None = None) -> Any:
            return training.each([partial(one, split, tried) for split in splits], model.n_jobs)

        if self._jointly(todo):
            done = several(range(1))
            tallies = committee.gather([done[0][0]], todo)
            tried = Together.of(tallies).kept().reshape(tallies[0].n_members, -1)
            if settings.known is not None:
                tried[settings.known.member, settings.known.place] = True
            done += several(range(1, data.n_splits), tried)
        else:
            done = several(range(data.n_splits))
        return [fold for fold, _ in done], [made for _, made in done]

    def _rules(
        self, training: Training, todo: list[Task], settings: Settings, seed: int, tried: np.ndarray
    ) -> tuple[Any, Any]:
        """The rules of settings on all rows, and how their maps came about."""
        maps, made = self._maps(training, seed)
        return committee.fit_rules(training, maps, todo, settings, tried), made

    def _calibrate(
        self, tallies: list[Tally], weights: list[np.ndarray], training: Training, unit: float
    ) -> None:
        """Probabilities from the scores of held-out rows, by rules that had not seen them."""
        first, n_classes = tallies[0], len(training.classes)
        columns = [tally.blended(share) for share, tally in zip(weights, tallies, strict=True)]
        scores = np.stack(columns, axis=1)
        if not isinstance(training, HostTraining):  # nothing as long as the data is kept here
            unseen = Unseen(
                scores, first.codes, first.weight, first.rows, n_classes, self.multi_class
            )
            self._calibration = unseen.calibration(str(self.probability), unit)
            return
        whole = np.full((len(training.codes), scores.shape[1]), np.nan)
        whole[first.rows] = scores
        part = np.full(len(whole), -1)
        fold = calibration_folds(training.X, training.codes, training.weight)
        part[first.rows] = fold[first.rows]
        Unseen(whole, training.codes, training.weight, part, n_classes, self.multi_class).keep(
            self, unit
        )

    def _used(self, weights: list[np.ndarray]) -> list[np.ndarray]:
        """The weights of the settings in the rule that predicts."""
        return weights

    def _repeats(self, n_samples: float) -> int:
        if self.n_repeats is not None:
            return int(self.n_repeats)
        return self._default_repeats if n_samples <= REPEATS_UP_TO else 1

    def _weigh(
        self, tallies: list[Tally], todo: list[Task], settings: Settings, weight: float
    ) -> list[np.ndarray]:
        """Measures and weights of the settings; ``weight`` is that of all rows."""
        shape = (len(todo), tallies[0].n_members, tallies[0].n_costs)
        if self._jointly(todo):
            said, known = Together.of(tallies), settings.known
            place = None if known is None else known.member * shape[2] + known.place
            measures = [said.measures()] * len(todo)
            weights = [said.weights(float(self.sharpness), place)] * len(todo)
        else:
            pairs = zip(tallies, todo, strict=True)
            measures = [measure(self.scoring, tally, task) for tally, task in pairs]
            weights = [soft_weights(values, float(self.sharpness)) for values in measures]
        one = 0 if len(todo) == 1 else slice(None)
        best = np.array([values.argmax() for values in weights])
        self.Cs_ = settings.grid(weight)
        self.C_ = self.Cs_[best % shape[2]][one]
        self.best_member_ = (best // shape[2])[one]
        self.scores_ = np.reshape(measures, shape)[one]
        self.weights_ = np.reshape(weights, shape)[one]
        return weights

    def _certify(self, tallies: list[Tally]) -> None:
        """The worst gap of all rules."""
        solutions = [solution for tally in tallies for solution in tally.solutions]
        self.n_iter_ = max(1, sum(solution.iterations for solution in solutions))
        self.objectives_ = np.array([solution.certificate.objective for solution in solutions])
        self.duality_gap_ = max(solution.relative_gap for solution in solutions)
        if self.duality_gap_ > self.tol:
            warnings.warn(
                "Some of the cross-validated rules are not certified: the worst relative duality "
                f"gap is {self.duality_gap_:.1e} (tol {self.tol:g}). Raise max_iter or scale the "
                "columns.",
                ConvergenceWarning,
                stacklevel=2,
            )
