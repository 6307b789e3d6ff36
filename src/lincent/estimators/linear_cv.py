"""LCCCV: LCC with its margin, cost and rule chosen by cross-validation.

Each fold follows the path of margins (see ``solvers.lp.path``), so that a grid of margins costs a
few solves and not one each.  The default grid is relative: fractions of the largest feasible
margin of the problem at hand, the sum of absolute differences of the class centers.  At the
fraction 1 a single point is feasible, the signs of those differences; small fractions leave the
box inactive, where all margins predict the same.  So the fraction is a regularization that means
the same on any data.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from lincent import _progress
from lincent._lazy import public
from lincent.estimators.choices import Calibrated, SolverName, Strategy
from lincent.estimators.classifier import Classifier, ProjectedLine
from lincent.estimators.cv_data import FittedLines, open_folds
from lincent.estimators.cv_table import (
    BALANCED,
    SELECTIONS,
    Candidate,
    Found,
    asks_probabilities,
    best_candidate,
    check_grid,
    tabulate,
    takes_weights,
)
from lincent.estimators.direction import (
    Direction,
    alone,
    check_margin,
    controls,
    cut,
    fit_direction,
    generator,
)
from lincent.estimators.discriminators import DISCRIMINATORS
from lincent.estimators.linear import LinearLine
from lincent.estimators.probabilities import FoldFit, Probabilities, cross_fitted
from lincent.estimators.problem import HostTraining, Training, TwoClass, tasks
from lincent.estimators.search_time import FoldTime, search_ends
from lincent.estimators.validation import (
    check_choice,
    check_class_weight,
    check_count,
    check_solve_params,
    plain,
)
from lincent.model_selection.folds import N_SPLITS
from lincent.model_selection.metrics import balanced_accuracy
from lincent.solvers.lp import screening
from lincent.solvers.lp.block_path import SCALED, BlockFollower
from lincent.solvers.lp.path import Follower, follow
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.source import Kind

DEFAULT_MARGINS = 15


@public
class LCCCV(Probabilities, LinearLine, ProjectedLine, Classifier):
    """Linear centralization classifier with its margin chosen by cross-validation.

    Every fold follows the exact path of margins, which costs a few solves for the whole grid; the
    chosen model is then fitted to all rows.

    Parameters
    ----------
    margins : int or array-like, default=15
        A number of relative margins, halving from 1; or the margins themselves.
    relative : bool, default=True
        Whether margins are fractions of the largest feasible margin (of each problem in each fold),
        or margins as :class:`LCC` takes them. Infeasible ones score NaN and are not chosen.
    Cs : array-like, default=(2.0,)
        Costs of a unit of slack to choose from.
    discriminators : str or sequence of str, default=("distance",)
        Rules to choose from: "distance", "nearest", "svm".
    cv : int, splitter, iterable, array of fold numbers or None, default=None
        As in scikit-learn; None is stratified 5-fold, fewer where a class has fewer rows. An array
        has the number of the fold in which each row is held out, -1 for never, as
        ``PredefinedSplit``. For Dask collections: None, an int (the same folds as in memory), or
        fold numbers, in memory or as a Dask array.
    scoring : str or callable, default="balanced_accuracy"
        As in scikit-learn. Sample weights enter the scores where the scorer takes them. Rows of a
        Dask collection stay where they are for names that begin with accuracy, balanced_accuracy,
        f1, jaccard, matthews, precision and recall; any other score brings one number per held-out
        row, margin and problem to the client. A scorer of probabilities (such as "neg_log_loss")
        needs ``probability``: every point is then calibrated in every fold, which takes about six
        times as long.
    selection : {"best", "one-standard-error"}, default="best"
        "one-standard-error" takes the largest margin whose mean score is within one standard error
        of the best, at the best C and rule. Ties go to the smaller margin under "best".
    refit : bool, default=True
        Whether to fit the chosen model to all rows; without it there is nothing to predict with.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        As in :class:`LCC`.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, calibrated on rows that the rules had not seen, by the folds of the
        search and at no further fit (where ``cv`` does not hold out every row once, or time ended
        the search, the last fit is repeated in five folds). ``predict`` does not change; where
        classes differ in size the predicted class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        As in :class:`LCC`.
    tol : float, default=1e-9
        As in :class:`LCC`.
    max_iter : int, default=200
        As in :class:`LCC`.
    time_limit : float, default=None
        Seconds for search and refit together, a quarter of them kept for the refit. Where they end
        the search, nothing further is begun, and the choice is the best of the candidates that
        were finished, on the folds that finished the most of them; a warning has the numbers.
    n_jobs : int, default=None
        Parallel folds. With a Dask collection on a cluster, None is all folds at once.
    random_state : int, RandomState instance or None, default=None
        As in :class:`LCC`.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    C_, discriminator_ : float, str
        The choice.
    margin_, relative_margin_ : float or ndarray of shape (n_problems,)
        The chosen margin, and the fraction of the largest feasible margin that it is.
    best_index_ : int
        The chosen row of ``cv_results_``.
    best_score_ : float
        Its mean score.
    cv_results_ : dict of arrays
        As in ``GridSearchCV``, with ``feasible`` and ``relative_gap`` (the largest over folds).
        Scores that ``time_limit`` left open are NaN; means are over the folds compared.
    n_splits_ : int
    classes_, coef_, intercept_, centers_, objective_, dual_objective_, duality_gap_, n_iter_,
    solver_, held_out_scores_, held_out_probabilities_, n_features_in_, feature_names_in_
        As in :class:`LCC`.

    See Also
    --------
    lcc_path : The path itself.
    sklearn.model_selection.GridSearchCV : Tunes any estimator, one fit per point.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lincent import LCCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LCCCV()).fit(X, y)
    >>> round(model[-1].best_score_, 2)
    0.96
    """

    _chosen_margin: float
    _chosen = ("C_", "discriminator_", "_chosen_margin")

    def __init__(
        self,
        margins: Any = DEFAULT_MARGINS,
        *,
        relative: bool = True,
        Cs: Any = (2.0,),
        discriminators: Any = ("distance",),
        cv: Any = None,
        scoring: Any = "balanced_accuracy",
        selection: Literal["best", "one-standard-error"] = "best",
        refit: bool = True,
        class_weight: Any = None,
        multi_class: Strategy = "ovr",
        probability: Calibrated = None,
        solver: SolverName = "auto",
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.margins = margins
        self.relative = relative
        self.Cs = Cs
        self.discriminators = discriminators
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.refit = refit
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LCCCV:
        """Choose by cross-validation, then fit to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Also a Dask array or dataframe, which is read in place, or a torch or CuPy array.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    # The choice in the words of LCC, for what is inherited from it.

    @property
    def C(self) -> float:
        """The chosen cost."""
        return float(self.C_)

    @property
    def margin(self) -> Any:
        """The chosen margin."""
        return self.margin_

    @property
    def discriminator(self) -> str:
        """The chosen rule."""
        return str(self.discriminator_)

    def __sklearn_is_fitted__(self) -> bool:
        if hasattr(self, "cv_results_") and not hasattr(self, "coef_"):
            raise NotFittedError(
                "This LCCCV was fitted with refit=False: it has cv_results_ and a choice, but no "
                "model to predict with."
            )
        return hasattr(self, "coef_")

    def _check_params(self) -> None:
        self._grid()
        check_choice("selection", self.selection, SELECTIONS)
        check_solve_params(self)

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Rows are read wherever they are."""

    def _margins(self) -> np.ndarray:
        if isinstance(self.margins, (int, np.integer)) and not isinstance(self.margins, bool):
            if not self.relative:
                raise ValueError(
                    f"margins={self.margins} is a number of relative margins: with relative=False "
                    "give the margins themselves."
                )
            return 2.0 ** np.arange(1 - check_count("margins", self.margins), 1)
        margins = np.sort(check_grid("margins", self.margins))
        if self.relative and margins[-1] > 1:
            raise ValueError(
                f"margins has {margins[-1]:g}, above 1: with relative=True margins are fractions "
                "of the largest feasible margin; give relative=False for margins as in LCC."
            )
        return margins

    def _grid(self) -> list[Candidate]:
        rules = self.discriminators
        rules = (rules,) if isinstance(rules, str) else tuple(rules)
        if not rules:
            raise ValueError("discriminators is empty: give at least one rule.")
        for rule in rules:
            check_choice("discriminators", rule, DISCRIMINATORS)
        Cs = check_grid("Cs", self.Cs, infinite=True)
        points = product(rules, Cs.tolist(), self._margins().tolist())
        return [Candidate(C, margin, rule) for rule, C, margin in points]

    # The search.

    def _learn(self, training: Training, fitted: Sequence[FoldFit] = ()) -> None:
        fitted = self._search(training)
        if self.refit:
            super()._learn(training, fitted)

    def _search(self, training: Training) -> Sequence[FoldFit]:
        """Choose; the fits of the choice, where probabilities are asked for and they serve."""
        # Imported here: model selection takes longer to import than the rest of this package.
        from sklearn.metrics import check_scoring

        # All classes must count in the whole, before folds are looked at.
        check_class_weight(self.class_weight, training.classes, training.totals)
        scorer = check_scoring(self, scoring=self.scoring)
        weigh = training.weighted and takes_weights(scorer)
        data = open_folds(training, self.cv, weigh, self.scoring)
        grid = self._grid()
        measure = partial(self._measure, scorer)
        calibrate = self.probability is not None and asks_probabilities(scorer)
        limits = controls(self, training.began)
        limits = replace(limits, deadline=search_ends(limits, training.began, self.refit))

        def one_fold(split: int) -> tuple[Any, Any, Any, Any]:
            _progress.step("search, fold", split, data.n_splits, f"{len(grid)} candidates")
            if limits.out_of_time():
                nothing = np.full(len(grid), np.nan)
                return nothing, nothing, np.ones(len(grid), dtype=bool), ()
            times = self._times(limits.deadline, len(grid), calibrate)
            models, gaps, scaled = self._candidates(
                data.part(split), grid, f"fold {split + 1}", calibrate, times
            )
            # Of a model and the last in another unit one is asked: same predictions, same order.
            again = scaled & isinstance(self.scoring, str)
            asked = [k for k, model in enumerate(models) if model is not None and not again[k]]
            scores = np.full(len(grid), np.nan)
            scores[asked] = data.scores(split, [models[k] for k in asked], measure)
            for k in reversed(range(len(grid))):  # margins from the largest down, as followed
                if again[k]:
                    scores[k] = scores[k + 1]
            return scores, gaps, times.late, () if self.probability is None else models

        *table, models = zip(*data.each(one_fold, self.n_jobs), strict=True)
        found = Found(*map(np.array, table))
        self.n_splits_ = data.n_splits
        self.cv_results_ = tabulate(grid, self.relative, found)
        usable = self._feasible_on_all(training, grid)
        compared = int(found.folds.sum())
        best = best_candidate(grid, self.cv_results_, usable, compared, self.selection)
        found.warn(self.tol, self.time_limit)
        self.best_index_ = best
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        self.C_, self.discriminator_ = grid[best].C, grid[best].discriminator
        self._chosen_margin = grid[best].margin
        chosen = [of_fold[best] for of_fold in models if of_fold]
        return data.each_row_once([model for model in chosen if model is not None])

    def _measure(self, scorer: Any, model: Any, X: Any, y: Any, extra: dict[str, Any]) -> float:
        if self.scoring == BALANCED:
            codes, predicted = (np.searchsorted(self.classes_, v) for v in (y, model.predict(X)))
            weight = extra.get("sample_weight")
            return balanced_accuracy(codes, predicted, len(self.classes_), weight)
        try:
            return float(scorer(model, X, y, **extra))
        except AttributeError as error:
            if "predict_proba" not in str(error) or self.probability is not None:
                raise
            raise ValueError(
                f"scoring={self.scoring!r} needs probabilities: give probability='sigmoid' (or "
                "'isotonic') with X in memory, or choose by classes or by order (such as "
                "'roc_auc')."
            ) from error

    def _times(self, ends: float, points: int, calibrate: bool) -> FoldTime:
        """The time of a fold: one path for each problem, and one for each part of a calibration."""
        problems = len(tasks(len(self.classes_), self.multi_class))
        each = 1 + N_SPLITS if calibrate else 1
        return FoldTime(ends, problems * each, np.zeros(points, dtype=bool))

    def _candidates(
        self,
        part: Training,
        grid: list[Candidate],
        name: str,
        calibrate: bool,
        times: FoldTime,
    ) -> tuple[list[FittedLines | None], np.ndarray, np.ndarray]:
        """By point: a fitted model, its largest relative gap, and whether it is the last, scaled.

        A point that is infeasible, or was not begun in time, has None and NaN. With ``calibrate``
        the models have probabilities.
        """
        missing = part.missing()
        if len(missing):
            label = plain(self.classes_[missing[0]])
            raise ValueError(
                f"The training rows of {name} have none of class {label!r}: use fewer folds, or a "
                "cv that keeps all classes."
            )
        costs = check_class_weight(self.class_weight, part.classes, part.totals)
        parts: list[list[Direction | None]] = [[] for _ in grid]
        gaps = np.zeros(len(grid))
        scaled = np.ones(len(grid), dtype=bool)
        for task in tasks(len(self.classes_), self.multi_class):
            found = self._directions(part.task(task, costs, name), grid, times)
            for k, direction in enumerate(found):
                parts[k].append(direction)
                if direction is None:
                    gaps[k] = np.nan
                    scaled[k] = False
                else:
                    gaps[k] = max(gaps[k], direction.solution.relative_gap)
                    # Scaled as a whole; the folds of a calibration may not be.
                    scaled[k] &= direction.solution.solver == SCALED and not calibrate
        models = [self._assembled(*pair) for pair in zip(grid, parts, strict=True)]
        if calibrate:
            assert isinstance(part, HostTraining)
            self._calibrate(models, part, grid, name, times)
        return models, gaps, scaled

    def _calibrate(
        self,
        models: list[FittedLines | None],
        part: HostTraining,
        grid: list[Candidate],
        name: str,
        times: FoldTime,
    ) -> None:
        """Probabilities for the points that have a model; each part of the rows has its paths."""
        there = [k for k, model in enumerate(models) if model is not None]

        def fit(rows: HostTraining) -> list[FittedLines | None]:
            found = self._candidates(rows, grid, f"{name}, a part of it", False, times)[0]
            return [found[k] for k in there]

        whole = [models[k] for k in there]
        found = cross_fitted(whole, fit, part, self.multi_class)
        for model, (unseen, unit) in zip(whole, found, strict=True):
            assert model is not None
            model.calibration = unseen.calibration(str(self.probability), unit)

    def _assembled(
        self, point: Candidate, directions: Sequence[Direction | None]
    ) -> FittedLines | None:
        found = [part for part in directions if part is not None]
        if len(found) < len(directions):
            return None
        return FittedLines(point, found, self.classes_, self.multi_class)

    def _directions(
        self, problem: TwoClass, grid: list[Candidate], times: FoldTime
    ) -> list[Direction | None]:
        """By point the direction of a problem."""
        limits = replace(controls(self, problem.began), deadline=times.next_path())
        solved = self._path(problem, grid, limits)
        over = limits.out_of_time()
        found: list[Direction | None] = []
        for k, point in enumerate(grid):
            solution = solved[point.C, point.margin]
            if solution is None or solution.status is Status.INFEASIBLE:
                found.append(None)
                continue
            times.late[k] |= over and not solution.certified(self.tol)
            answer, rule = solution.certificate, point.discriminator
            there = np.isfinite(answer.objective)
            if not there and not over and np.isfinite(point.C):
                warnings.warn(
                    f"No solution was found for C={point.C:g} at margin {point.margin:g} "
                    f"({problem.name}): it takes no part in the choice.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            found.append(cut(problem, answer.beta, solution, rule) if there else None)
        return found

    def _path(
        self, problem: TwoClass, grid: list[Candidate], limits: Controls
    ) -> dict[tuple[float, float], Solution | None]:
        """The solutions of one problem by cost and margin; None where there is none."""
        Cs = sorted({candidate.C for candidate in grid})
        steps = sorted({candidate.margin for candidate in grid})
        if problem.largest_margin == 0.0:
            return {(C, step): None for C in Cs for step in steps}
        margins = np.array(steps) * (problem.largest_margin if self.relative else 1.0)
        costs = [problem.costs(C) for C in Cs]
        # Rows that are far and too many to be brought here are followed where they are.
        remote = problem.source.is_remote and screening.worthwhile(*problem.source.shape)
        follower = (BlockFollower if remote else Follower)(self.solver, limits, generator(self))
        table = follow(problem.rows, problem.difference, margins, costs, follower)
        return {
            (C, step): solution
            for C, line in zip(Cs, table, strict=True)
            for step, solution in zip(steps, line, strict=True)
        }

    def _feasible_on_all(self, whole: Training, grid: list[Candidate]) -> np.ndarray:
        """Which points of the grid the refit could use."""
        costs = check_class_weight(None, whole.classes, whole.totals)
        largest = min(
            whole.task(task, costs).largest_margin
            for task in tasks(len(self.classes_), self.multi_class)
        )
        if self.relative:
            return np.full(len(grid), largest > 0)
        return np.array([candidate.margin <= largest for candidate in grid])

    # The refit.

    def _fit_task(self, problem: TwoClass) -> Direction:
        share = problem.largest_margin if self.relative else 1.0
        margin = check_margin(self, self._chosen_margin * share, problem.largest_margin, problem)
        return fit_direction(self, problem, margin)

    def _store(self, parts: list[Direction]) -> None:
        super()._store(parts)
        largest = np.array([np.abs(part.centers[1] - part.centers[0]).sum() for part in parts])
        margins = self._chosen_margin * (largest if self.relative else np.ones_like(largest))
        self.margin_ = alone(margins.tolist())
        self.relative_margin_ = alone((margins / largest).tolist())

    def _missed(self, beyond: np.ndarray, task: int) -> np.ndarray:
        return np.maximum(np.atleast_1d(self.margin_)[task] - beyond, 0.0)
