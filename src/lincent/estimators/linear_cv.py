"""LCCCV: LCC with its margin, cost and discriminator chosen by cross-validation; ``lcc_path``.

Each fold solves a path over the margin (see ``solvers.lp.path``), so that a grid of margins costs a
few solves and not one each.  Margins are relative: fractions of the largest feasible margin of the
problem at hand, the sum of absolute differences of the class centers.  At the fraction 1 a single
point is feasible, the signs of those differences; small fractions leave the box constraints
inactive, where all margins predict the same.  So the fraction is a regularization parameter that
means the same on any data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import validate_parameter_constraints

from lincent import _console
from lincent.estimators.base import Classifier, EstimatorMixin, ProjectionMixin
from lincent.estimators.calibration import FoldFit
from lincent.estimators.linear import (
    LCC,
    Direction,
    LinearMixin,
    SolverMixin,
    controls,
    fit_discriminator_on,
    squeeze_single,
)
from lincent.estimators.problem import (
    BinaryProblem,
    HostTraining,
    Training,
    binary_tasks,
    open_remote,
    predicted_codes,
)
from lincent.estimators.threshold import DISCRIMINATORS
from lincent.estimators.validation import COUNT, PAPER_CONSTRAINTS, SolverName, check_class_weight
from lincent.model_selection.metrics import balanced_accuracy
from lincent.model_selection.scoring import Labels, takes_weights
from lincent.model_selection.search import (
    check_grid,
    make_cv_results,
    make_training_folds,
    search_folds,
    warn_uncertified,
)
from lincent.solvers.lp import screening
from lincent.solvers.lp.path import SCALED, PathSolver, StreamedPathSolver, solve_path
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.source import Kind, kind_of

PAPER_MARGINS = 2.0 ** np.arange(-7, 8)
"""The margins of the paper's parameter search."""
REFIT_FRACTION = 0.25
"""Of a time limit, reserved for the refit."""


class Candidate(NamedTuple):
    """Hyperparameters of one candidate."""

    C: float
    relative_margin: float
    discriminator: str


@dataclass(eq=False, repr=False)
class FittedCandidate(LCC):
    """A candidate as a fitted LCC, for a scorer to call with samples that are checked already.

    It has no solutions: on a cluster it is transferred, and their multipliers stay.  Results are
    NumPy arrays; probabilities are calibrated on the ``labels`` of the samples to be scored.
    """

    labels: Labels = field(init=False)

    @classmethod
    def of(
        cls, candidate: Candidate, parts: Sequence[Direction], classes: np.ndarray, strategy: Any
    ) -> FittedCandidate:
        """Return the model of these directions."""
        model = cls(*candidate, multi_class=strategy)
        model.classes_, model.n_features_in_ = classes, len(parts[0].beta)
        model._coef = np.array([part.beta for part in parts])
        model._intercept = np.array([part.intercept for part in parts])
        model._rules = [part.rule for part in parts]
        return model

    def _rows_scores(self, X: Any) -> np.ndarray:
        return self._task_scores(X)

    def decision_function(self, X: Any) -> np.ndarray:
        return self._decision(X)

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes_[predicted_codes(self._decision(X))])

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.labels.calibrated(self._decision(X))


@dataclass(eq=False, repr=False)
class LCCCV(SolverMixin, LinearMixin, ProjectionMixin, EstimatorMixin, Classifier):
    """Linear centralization classifier with its margin chosen by cross-validation.

    Every fold solves the exact path over the margin, which costs a few solves for the whole grid;
    the chosen candidate is then fitted to all samples.

    Parameters
    ----------
    margins : int or array-like, default=15
        Candidates for the margin, as fractions of the largest feasible margin of each problem in
        each fold; a number is that many of them, halving from 1.
    Cs : array-like, default=(2.0,)
        Candidates for C, the paper's λ on the sum of slacks.
    discriminators : str or sequence of str, default=("distance",)
        Candidates for the discriminator: "distance", "nearest", "svm".
    cv : int, splitter, iterable, array of fold numbers or None, default=None
        None is 5 hash-based stratified folds, an int that many, fewer where a class has fewer
        distinct samples: equal samples share a fold, and neither their order nor weights instead of
        repetitions change the folds. Splitters and (train, test) pairs as in scikit-learn. An
        array has the number of the fold in which each sample is held out, -1 for never, as
        ``PredefinedSplit``. For Dask collections: None, an int (the same folds as in memory), or
        fold numbers, in memory or as a Dask array.
    scoring : str or callable, default="balanced_accuracy"
        As in scikit-learn; ties go to the smaller margin. Sample weights enter the scores where
        the scorer takes them. Samples of a Dask collection are read in place for names that begin
        with accuracy, balanced_accuracy, f1, jaccard, matthews, precision and recall; any other
        score transfers one number per held-out sample, margin and problem to the client. For a
        scorer of probabilities (such as "neg_log_loss") the decision values of the held-out samples
        are calibrated on their labels, as in the other searches.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        As in :class:`LCC`.
    probability : {"sigmoid"} or None, default=None
        Offer ``predict_proba``, calibrated on out-of-fold decision values of the search at no
        further fit (where ``cv`` does not hold out every sample once, or time ended the search, the
        last fit is repeated in five folds). ``predict`` does not change; where classes differ in
        size the predicted class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        As in :class:`LCC`.
    tol : float, default=1e-9
        As in :class:`LCC`.
    max_iter : int, default=200
        As in :class:`LCC`.
    time_limit : float, default=None
        Seconds for search and refit together, a quarter of them reserved for the refit. Where they
        end the search, nothing further is begun, and the choice is the best of the candidates that
        were finished, on the folds that finished the most of them; a warning has the numbers.
    n_jobs : int, default=None
        Number of folds fitted in parallel. With a Dask collection on a cluster, None is all folds.
    random_state : int, RandomState instance or None, default=None
        As in :class:`LCC`.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    C_, discriminator_ : float, str
        The chosen values.
    margin_, relative_margin_ : float or ndarray of shape (n_problems,)
        The chosen margin, and the fraction of the largest feasible margin that it is.
    best_index_, best_params_, best_score_ : int, dict, float
        The chosen candidate in ``cv_results_``, its parameters and its mean score.
    cv_results_ : dict of arrays
        As in ``GridSearchCV``, with ``feasible`` and ``relative_gap`` (the largest over folds).
        Scores that ``time_limit`` left open are NaN; means are over the folds compared.
    n_splits_ : int
    classes_, coef_, intercept_, centers_, objective_, dual_objective_, duality_gap_, n_iter_,
    solver_, out_of_fold_scores_, out_of_fold_probabilities_, n_features_in_, feature_names_in_
        As in :class:`LCC`.

    See Also
    --------
    lcc_path : The path itself.
    sklearn.model_selection.GridSearchCV : Tunes any estimator, one fit per candidate.

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

    margins: Any = 15
    _: KW_ONLY
    Cs: Any = (2.0,)
    discriminators: Any = ("distance",)
    cv: Any = None
    scoring: Any = "balanced_accuracy"
    class_weight: Any = None
    solver: SolverName = "auto"
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        # `margin` is a property here, the chosen one.
        **{name: kinds for name, kinds in PAPER_CONSTRAINTS.items() if name != "margin"},
        "margins": [COUNT, "array-like"],
    }
    _chosen_margin: float = field(init=False)
    _reads_in_place = True
    _searched = ("C_", "discriminator_", "_chosen_margin")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> LCCCV:
        """Choose by cross-validation, then fit to all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Also a Dask array or dataframe, which is read in place, or a torch or CuPy array.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights; any nonnegative numbers.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group are never split between folds: `cv` is a splitter that takes
            groups, such as ``GroupKFold()``, or a number of folds, stratified as far as groups
            allow.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups)

    # The chosen values under the names of LCC, for inherited methods.

    @property
    def C(self) -> float:
        """The chosen C."""
        return float(self.C_)

    @property
    def margin(self) -> Any:
        """The chosen margin."""
        return self.margin_

    @property
    def discriminator(self) -> str:
        """The chosen discriminator."""
        return str(self.discriminator_)

    def _check_params(self) -> None:
        self._grid()

    def _grid(self) -> list[Candidate]:
        """Return the candidates; for each discriminator and C the margins increase."""
        if isinstance(self.margins, (int, np.integer)) and not isinstance(self.margins, bool):
            margins = 2.0 ** np.arange(1 - self.margins, 1)
        else:
            margins = np.sort(check_grid("margins", self.margins))
        if margins[-1] > 1:
            raise ValueError(
                f"margins has {margins[-1]:g}, above 1: margins are fractions of the largest "
                "feasible margin; lcc_path takes margins as in LCC."
            )
        names = self.discriminators
        names = (names,) if isinstance(names, str) else tuple(names)
        if not names or set(names) - set(DISCRIMINATORS):
            raise ValueError(
                f"discriminators={self.discriminators!r} is not usable: give one or more of "
                f"{', '.join(DISCRIMINATORS)}."
            )
        Cs = check_grid("Cs", self.Cs, infinite=True)
        points = product(names, Cs.tolist(), margins.tolist())
        return [Candidate(C, margin, name) for name, C, margin in points]

    # The search.

    def _learn(self, training: Training, fitted: Sequence[FoldFit] = ()) -> None:
        super()._learn(training, self._search(training))

    def _search(self, training: Training) -> Sequence[FoldFit]:
        """Choose a candidate; return its fold models where they serve to calibrate it."""
        # Imported here: it takes longer to import than the rest of this package.
        from sklearn.metrics import check_scoring

        # All classes must have weight in the whole data, before folds are looked at.
        check_class_weight(self.class_weight, training.classes, training.totals)
        scorer = check_scoring(self, scoring=self.scoring)
        weigh = training.weighted and takes_weights(scorer)
        # Every fold is scored on its own, so it must test every class.
        data = make_training_folds(training, self.cv, every_class=True)
        grid = self._grid()
        score = partial(self._score_model, scorer)
        limits = controls(self, training.began)
        limits = replace(limits, deadline=search_deadline(limits, training.began))

        def evaluate(split: int, _: Any) -> tuple[Any, Any, Any, Any]:
            _console.step("search, fold", split, len(data.splits), f"{len(grid)} candidates")
            scores, late = np.full(len(grid), np.nan), np.zeros(len(grid), dtype=bool)
            if limits.out_of_time():
                return scores, scores, ~late, ()
            part, name = data.train(split), f"fold {split + 1}"
            models, gaps, scaled = self._fit_candidates(part, grid, name, limits.deadline, late)
            # A model that only scales the next one has its predictions and ranking.
            same = scaled & isinstance(self.scoring, str)
            asked = [k for k, model in enumerate(models) if model is not None and not same[k]]
            asked_models = [models[k] for k in asked]
            scores[asked] = data.score(split, asked_models, score, weigh, self.scoring)
            for k in reversed(range(len(grid))):  # margins from the largest down, as solved
                if same[k]:
                    scores[k] = scores[k + 1]
            return scores, gaps, late, () if self.probability is None else models

        run = partial(training.each, n_jobs=self.n_jobs)
        *table, models = zip(*search_folds(len(data.splits), evaluate, run), strict=True)
        results = FoldScores(*map(np.array, table))
        self.n_splits_ = len(data.splits)
        self.cv_results_ = results.cv_results([candidate._asdict() for candidate in grid])
        best = best_candidate(grid, self.cv_results_)
        results.warn(self.tol, self.time_limit)
        self.best_index_, self.best_params_ = best, self.cv_results_["params"][best]
        self.best_score_ = float(self.cv_results_["mean_test_score"][best])
        self.C_, self._chosen_margin, self.discriminator_ = grid[best]
        chosen = [of_fold[best] for of_fold in models if of_fold]
        return data.partition([model for model in chosen if model is not None])

    def _score_model(self, scorer: Any, model: Any, X: Any, y: Any, extra: dict[str, Any]) -> float:
        codes, n_classes = np.searchsorted(self.classes_, y), len(self.classes_)
        weight = extra.get("sample_weight")
        if self.scoring == "balanced_accuracy":
            predicted = np.searchsorted(self.classes_, model.predict(X))
            return balanced_accuracy(codes, predicted, n_classes, weight)
        model.labels = Labels(codes, np.ones(len(codes)) if weight is None else weight, n_classes)
        return float(scorer(model, X, y, **extra))

    def _fit_candidates(
        self, part: Training, grid: list[Candidate], name: str, ends: float, late: np.ndarray
    ) -> tuple[list[FittedCandidate | None], np.ndarray, np.ndarray]:
        """Return by candidate a fitted model, its largest relative gap, and whether it only scales.

        A candidate that is infeasible, or was not begun in time, has None and NaN; ``late`` is set
        for those whose solve was stopped.
        """
        costs = check_class_weight(self.class_weight, part.classes, part.totals)
        models: list[FittedCandidate | None] = [None] * len(grid)
        gaps, scaled = np.full(len(grid), np.nan), np.zeros(len(grid), dtype=bool)
        tasks = binary_tasks(len(self.classes_), self.multi_class)
        paths = [
            self._directions(
                part.task(task, costs, name), grid, next_deadline(ends, len(tasks) - k), late
            )
            for k, task in enumerate(tasks)
        ]
        for k, directions in enumerate(zip(*paths, strict=True)):
            if None in directions:
                continue
            solutions = [direction.solution for direction in directions]
            gaps[k] = max(solution.relative_gap for solution in solutions)
            scaled[k] = all(one.solver == SCALED for one in solutions)
            models[k] = FittedCandidate.of(grid[k], directions, self.classes_, self.multi_class)
        return models, gaps, scaled

    def _directions(
        self, problem: BinaryProblem, grid: list[Candidate], deadline: float, late: np.ndarray
    ) -> list[Any]:
        """Return by candidate the direction of a binary problem, or None."""
        limits = replace(controls(self, problem.began), deadline=deadline)
        directions: list[Any] = [None] * len(grid)
        if problem.largest_margin == 0.0:
            return directions
        Cs = sorted({candidate.C for candidate in grid})
        margins = sorted({candidate.relative_margin for candidate in grid})
        # Remote samples that are too many to be transferred are followed in place.
        remote = problem.source.is_remote and screening.is_applicable(*problem.source.shape)
        path_solver = (StreamedPathSolver if remote else PathSolver)(
            self.solver, limits, self._generator()
        )
        absolute = np.array(margins) * problem.largest_margin
        costs = [problem.costs(C) for C in Cs]
        table = solve_path(problem.rows, problem.difference, absolute, costs, path_solver)
        over = limits.out_of_time()
        for k, candidate in enumerate(grid):
            solution = table[Cs.index(candidate.C)][margins.index(candidate.relative_margin)]
            if solution.status is Status.INFEASIBLE:
                continue
            late[k] |= over and not solution.certified(self.tol)
            answer = solution.certificate
            if np.isfinite(answer.objective):
                rule = candidate.discriminator
                directions[k] = fit_discriminator_on(problem, answer.beta, solution, rule)
            elif not over and np.isfinite(candidate.C):
                warnings.warn(
                    f"No solution was found for C={candidate.C:g} at margin "
                    f"{candidate.relative_margin:g} ({problem.name}): it takes no part in the "
                    "choice.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return directions

    # The refit.

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        margin = self._chosen_margin * problem.largest_margin
        margin = self._check_margin(margin, problem.largest_margin, problem)
        return self._fit_direction(problem, margin)

    def _store(self, parts: list[Direction]) -> None:
        super()._store(parts)
        largest = np.array([np.abs(part.centers[1] - part.centers[0]).sum() for part in parts])
        self.margin_ = squeeze_single((self._chosen_margin * largest).tolist())
        self.relative_margin_ = squeeze_single((self._chosen_margin * largest / largest).tolist())

    def _violation(self, beyond: np.ndarray, task: int) -> np.ndarray:
        return np.maximum(np.atleast_1d(self.margin_)[task] - beyond, 0.0)


# The results of the search.


@dataclass(frozen=True)
class FoldScores:
    """Scores and relative gaps of candidates (columns) on folds (rows).

    A candidate is late on a fold where the time limit stopped its solve or it was not begun.
    Candidates are compared on the same folds, those that finished the most of them: a fold that was
    stopped early does not exclude the candidates that others finished.
    """

    scores: np.ndarray
    gaps: np.ndarray
    late: np.ndarray

    @cached_property
    def done(self) -> np.ndarray:
        """What can be compared: what was finished; where nothing was, what has a score."""
        scored = np.isfinite(self.scores)
        return ~self.late if np.any(scored & ~self.late) or not self.late.any() else scored

    @cached_property
    def folds(self) -> np.ndarray:
        """The folds on which candidates are compared."""
        count = self.done.sum(axis=1)
        return np.asarray(count == count.max())

    @cached_property
    def candidates(self) -> np.ndarray:
        """The candidates that are compared."""
        return np.asarray(self.done[self.folds].all(axis=0))

    def cv_results(self, params: list[dict[str, Any]]) -> dict[str, Any]:
        """Return ``cv_results_``; means are over the folds that are compared."""
        splits = {f"split{k}_test_score": line for k, line in enumerate(self.scores)}
        compared = np.where(self.candidates, self.scores[self.folds], np.nan)
        return make_cv_results(
            params,
            compared.mean(axis=0),
            std_test_score=compared.std(axis=0),
            feasible=~(np.isnan(self.scores) & ~self.late).any(axis=0),
            relative_gap=self.gaps[self.folds].max(axis=0),
            **splits,
        )

    def warn(self, tol: float, time_limit: float | None) -> None:
        """Warn of candidates that were not finished or not certified."""
        total = self.scores.shape[1]
        if not self.late.any():
            if short := int((self.gaps.max(axis=0) > tol).sum()):
                warn_uncertified(f"{short} of {total} points of the search are not certified")
            return
        finished = int((~self.late[self.folds]).all(axis=0).sum())
        if finished:
            folds = f"{self.folds.sum()} of {len(self.folds)} folds"
            choice = f", in {folds}, and the choice is the best of these"
        else:
            begun = "the best of those begun" if self.candidates.any() else "the largest margin"
            choice = f", and the choice is {begun}"
        warnings.warn(
            f"time_limit={time_limit} s ended the search: {finished} of {total} candidates were "
            f"finished{choice}. Give a larger time_limit or fewer candidates.",
            ConvergenceWarning,
            stacklevel=2,
        )


def best_candidate(grid: list[Candidate], results: dict[str, Any]) -> int:
    """Return the index of the best candidate; ties go to the first, of the smaller margin.

    Where no candidate was scored in time it is the largest margin, the first of the path.
    """
    usable = results["feasible"]
    mean = results["mean_test_score"]
    mean = np.where(usable & np.isfinite(mean), mean, -np.inf)
    if not np.any(usable):
        raise ValueError(
            "No margin of the grid is feasible in every fold: check that the class centers differ."
        )
    if not np.any(np.isfinite(mean)):
        return max(np.flatnonzero(usable).tolist(), key=lambda k: grid[k].relative_margin)
    return int(np.argmax(mean))


# Time limits.


def search_deadline(limits: Controls, began: float) -> float:
    """Return when the search must end, so that there is time for the refit."""
    if not np.isfinite(limits.deadline):
        return limits.deadline
    return limits.deadline - REFIT_FRACTION * (limits.deadline - began)


def next_deadline(ends: float, n_left: int) -> float:
    """Return the deadline of the next of ``n_left`` binary problems of a fold that ends then.

    It gets an equal part of the time that is left.  A candidate is finished when all problems have
    it, so none of them may take the time of the others.
    """
    now = time.monotonic()
    return now + (ends - now) / n_left


# The path.


@dataclass(frozen=True)
class LCCPath:
    """Solutions of a binary problem by C and margin.

    Attributes
    ----------
    margins : ndarray of shape (n_margins,)
    Cs : ndarray of shape (n_Cs,)
    largest_margin : float
        Margins above it have no solution.
    feasible : ndarray of shape (n_margins,), dtype=bool
    coefs : ndarray of shape (n_Cs, n_margins, n_features)
        The directions; NaN where infeasible.
    intercepts : ndarray of shape (n_Cs, n_margins)
        Minus the midpoint between the projected centers.
    objectives, dual_objectives : ndarray of shape (n_Cs, n_margins)
    duality_gaps : ndarray of shape (n_Cs, n_margins)
        Relative to the objectives, as ``duality_gap_`` of the estimators.
    certified : ndarray of shape (n_Cs, n_margins), dtype=bool
        Whether the relative gap is within ``tol``.
    n_iters : ndarray of shape (n_Cs, n_margins)
    solvers : ndarray of shape (n_Cs, n_margins), dtype=object
        "scaled" and "vertex" are the shortcuts, "none" is an infeasible margin. The largest margin
        comes first; shortcuts start from the next larger one.
    classes : ndarray of shape (2,)
    """

    margins: np.ndarray
    Cs: np.ndarray
    largest_margin: float
    feasible: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    dual_objectives: np.ndarray
    duality_gaps: np.ndarray
    certified: np.ndarray
    n_iters: np.ndarray
    solvers: np.ndarray
    classes: np.ndarray


def lcc_path(
    X: Any,
    y: Any,
    *,
    margins: Any = None,
    Cs: Any = (2.0,),
    sample_weight: Any = None,
    class_weight: Any = None,
    solver: SolverName = "auto",
    tol: float = 1e-9,
    max_iter: int = 200,
    time_limit: float | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> LCCPath:
    """Compute exact LCC solutions along the margin, each warm-started and certified.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples; also a torch or CuPy array, which stays on its device.
    y : array-like of shape (n_samples,)
        Two classes.
    margins : array-like, default=None
        The margins, in any order. None is the paper's grid, 2**-7 to 2**7. Margins above the
        largest feasible one are reported, not solved.
    Cs : array-like, default=(2.0,)
        Values of C, the paper's λ on the sum of slacks.
    sample_weight : array-like of shape (n_samples,), default=None
        Frequency weights; any nonnegative numbers.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`lincent.LCC`.
    solver : str, default='auto'
        As in :class:`LCC`.
    tol : float, default=1e-09
        As in :class:`LCC`.
    max_iter : int, default=200
        As in :class:`LCC`.
    time_limit : float, default=None
        Seconds for the whole path; points not solved in time are NaN.
    random_state : object, default=None
        As in :class:`LCC`.
    verbose : int, default=0
        As in :class:`LCC`.

    Returns
    -------
    LCCPath
        Every margin with its coefficients, objective and certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import lcc_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = lcc_path((X - X.mean(axis=0)) / X.std(axis=0), y)
    >>> path.coefs.shape
    (1, 15, 30)
    >>> bool(path.certified[:, path.feasible].all())
    True
    """
    given = {"class_weight": class_weight, "solver": solver, "tol": tol, "max_iter": max_iter}
    given |= {"time_limit": time_limit}
    constraints = {name: PAPER_CONSTRAINTS[name] for name in given}
    validate_parameter_constraints(constraints, given, "lcc_path")
    model = LCC(**given, random_state=random_state, verbose=verbose)
    limits = controls(model, time.monotonic())
    margins = check_grid("margins", PAPER_MARGINS if margins is None else margins)
    Cs = check_grid("Cs", Cs, infinite=True)
    open_rows = open_remote if kind_of(X) is Kind.DEVICE else HostTraining.open
    training: Any = open_rows(model, X, y, sample_weight)
    if len(training.classes) != 2:
        raise ValueError(
            f"lcc_path follows one two-class problem and y has {len(training.classes)} classes: "
            "pass the rows of two of them, or use LCCCV, which takes any number."
        )
    class_costs = check_class_weight(class_weight, training.classes, training.totals)
    problem = training.task(binary_tasks(2, "ovr")[0], class_costs)
    if problem.largest_margin == 0.0:
        raise ValueError("The class centers coincide, so no margin is feasible.")
    costs = [problem.costs(float(C)) for C in Cs]
    path_solver = PathSolver(solver, limits, model._generator())
    table = solve_path(problem.rows, problem.difference, margins, costs, path_solver)
    feasible = margins <= problem.largest_margin

    def each(value: Callable[[Solution], Any], dtype: Any = np.float64) -> np.ndarray:
        return np.array([[value(solution) for solution in line] for line in table], dtype=dtype)

    coefs = each(lambda solution: problem.direction(solution.certificate.beta))
    objectives = each(lambda solution: solution.certificate.objective)
    duals = each(lambda solution: solution.certificate.dual_objective)
    gaps = each(lambda solution: solution.relative_gap)
    for values in (coefs, objectives, duals, gaps):
        values[:, ~feasible] = np.nan
    certified = feasible & each(lambda solution: solution.certified(tol), bool)
    short = int((~certified[:, feasible]).sum())
    if short:
        warn_uncertified(
            f"{short} of {certified[:, feasible].size} points of the path are not certified"
        )
    return LCCPath(
        margins=margins,
        Cs=Cs,
        largest_margin=problem.largest_margin,
        feasible=feasible,
        coefs=coefs,
        intercepts=-(coefs @ (problem.means.mean(axis=0) + problem.offset)),
        objectives=objectives,
        dual_objectives=duals,
        duality_gaps=gaps,
        certified=certified,
        n_iters=each(lambda solution: solution.iterations, int),
        solvers=each(lambda solution: solution.solver, object),
        classes=training.classes,
    )
