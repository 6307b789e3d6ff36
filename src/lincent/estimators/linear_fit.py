"""One direction by the paper's linear program, for LCC and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.answers import where_rows_live
from lincent.estimators.calibration import (
    METHODS,
    Calibrator,
    combine_probabilities,
    fit_calibrator,
    held_out_scores,
)
from lincent.estimators.certificates import controls, generator, judge, store_certificates
from lincent.estimators.direction import Direction, cut, project_all
from lincent.estimators.discriminators import DISCRIMINATORS
from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_choice, check_count, check_positive, check_rows
from lincent.solvers.lp import choose


def check_solve_params(model: Any) -> None:
    """The parameters of a solve."""
    check_positive("tol", model.tol)
    check_count("max_iter", model.max_iter)
    check_choice("solver", model.solver, choose.SOLVERS)
    if model.time_limit is not None:
        check_positive("time_limit", model.time_limit)


def check_line_params(model: Any) -> None:
    """The parameters of a line with one margin, and those of its solve."""
    check_positive("C", model.C, infinite=True)
    check_positive("margin", model.margin)
    check_choice("discriminator", model.discriminator, DISCRIMINATORS)
    check_solve_params(model)


def fit_direction(model: Any, problem: TwoClass, margin: float) -> Direction:
    """The certified direction of a problem, by the estimator's C, solver and rule."""
    program = problem.program(problem.costs(float(model.C)), margin)
    solution = choose.solve(program, model.solver, controls(model, problem.began), generator(model))
    judge(model, problem, margin, solution)
    return cut(problem, solution.certificate.beta, solution, str(model.discriminator))


def fit_calibrated(model: Any, problem: TwoClass, margin: float) -> Direction:
    """The same with a calibrator, where the estimator has ``probability``."""
    part = fit_direction(model, problem, margin)
    if model.probability is None:
        return part

    def without(kept: np.ndarray) -> list[Direction]:
        # The margin of a fold is the same share of the largest feasible one, so it is feasible.
        seen = problem.among(kept)
        seen = replace(seen, name=f"{problem.name}, a calibration fold")
        share = margin / problem.largest_margin * seen.largest_margin
        return [fit_direction(model, seen, share)]

    return calibrated(problem, [part], without, model.probability)[0] or part


def calibrated(
    problem: TwoClass,
    parts: Sequence[Direction | None],
    without: Callable[[np.ndarray], Sequence[Direction | None]],
    method: str,
) -> list[Direction | None]:
    """The directions, each with a calibrator; ``without`` fits the same to part of the rows."""
    counted = problem.weight > 0
    positive, weight = problem.sign[counted] > 0, problem.weight[counted]
    scores = held_out_scores(problem.X, problem.sign, problem.weight, parts, without)
    return [
        part
        if part is None or u is None
        else replace(
            part, calibrator=fit_calibrator(method, u[counted], positive, weight, part.width)
        )
        for part, u in zip(parts, scores, strict=True)
    ]


def store_directions(model: Any, parts: Sequence[Direction]) -> None:
    """Set ``coef_``, ``intercept_``, ``centers_`` and the certificate."""
    model.coef_ = np.array([part.beta for part in parts])
    model.intercept_ = np.array([part.intercept for part in parts])
    centers = np.array([part.centers for part in parts])
    model.centers_ = centers[0] if len(parts) == 1 else centers
    store_certificates(model, [part.solution for part in parts])


def midpoints(model: Any) -> np.ndarray:
    """The midpoints of the centers on the lines, by the stored attributes."""
    centers = model.centers_.reshape(-1, 2, model.n_features_in_)
    return np.asarray(np.einsum("kij,kj->ki", centers, model.coef_).mean(axis=1))


def refuse_probability(probability: str | None) -> None:
    """Say that calibration needs the rows in memory."""
    if probability is not None:
        raise ValueError(
            f"probability={probability!r} needs X in memory: give a NumPy array, or fit without it "
            "and calibrate decision_function yourself."
        )


def _offers_probabilities(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError(
            f"{type(model).__name__} has predict_proba only where it is asked for: give "
            "probability='sigmoid' (or 'isotonic'), or wrap it in CalibratedClassifierCV."
        )
    return True


class LinearLine:
    """What LCC and LCCCV keep of their directions, and ``predict_proba``: beside ``Classifier``."""

    probability: str | None
    _calibrators: list[Calibrator | None]

    def _check_probability(self) -> None:
        if self.probability is not None:
            check_choice("probability", self.probability, METHODS)

    def _store(self, parts: list[Direction]) -> None:
        self._rules = [part.rule for part in parts]
        self._calibrators = [part.calibrator for part in parts]
        store_directions(self, parts)

    def _project(self, X: Any) -> np.ndarray:
        return project_all(X, self.coef_)  # type: ignore[attr-defined]

    def _midpoints(self) -> np.ndarray:
        return midpoints(self)

    @available_if(_offers_probabilities)
    @where_rows_live
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        model: Any = self
        X = check_rows(self, X, accept_sparse=model._accept_sparse)
        scores = model._task_scores(X)
        columns = [c.probability(scores[:, k]) for k, c in enumerate(self._calibrators) if c]
        return combine_probabilities(
            np.stack(columns, axis=1), len(model.classes_), model.multi_class
        )
