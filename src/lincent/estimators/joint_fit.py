"""Joint problems of all classes: costs, paths over C, fits to samples in memory and in blocks.

Two classes have one linear model, more have one for each class, fitted together
(``problems.joint``).  A model of many samples is begun at that of a sample of them: Newton's method
on sums over samples whose features are computed a few at a time, so that memory does not grow with
the feature map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lincent import _console
from lincent.estimators.auto_candidates import BlockMapping, FeatureBlocks, TrainingRows
from lincent.estimators.remote import RemoteTraining
from lincent.problems.joint import JointLoss, SeparateLoss, SmoothedHinge
from lincent.solvers.newton import in_place
from lincent.solvers.newton.joint import Design, JointSolution, Span, solve_path
from lincent.sources.gradients import LossStructure, in_basis
from lincent.sources.landmarks import RowMapping

TOTAL_COSTS = 10.0 ** np.arange(-1.0, 4.0, 0.75)
"""Candidates for C as totals over all samples, C times their weight, for two classes."""
JOINT_TOTAL_COSTS = 10.0 ** np.arange(1.75, 5.0)
"""The same for more classes, where the total is shared by all pairs of classes."""
SEARCH_TOL, JOINT_SEARCH_TOL = 1e-2, 0.1
"""Models this far from the optimum choose the same feature map and C: measured, on sets of the
leaderboard that take part in choices.  They are not begun at those of another fold, which have seen
the samples that are held out here: left so far from the optimum, they would remember them."""
MAX_SUM_BYTES = 2**28
"""Where a block would return more, for many classes and features, models stay those of the
sample."""
FLOAT32_STEPS = 25


class Limits(NamedTuple):
    """Stopping criteria of a solve."""

    tol: float
    max_iter: int
    out_of_time: Callable[[], bool]


def total_costs(n_classes: int) -> np.ndarray:
    """Return the candidates for C as totals over all samples."""
    return TOTAL_COSTS if n_classes == 2 else JOINT_TOTAL_COSTS


def search_tolerance(n_classes: int) -> float:
    """Return the relative gap to which candidates are solved in a search."""
    return SEARCH_TOL if n_classes == 2 else JOINT_SEARCH_TOL


@dataclass(frozen=True)
class Costs:
    """Costs of a unit of loss by class (of sum 1 over all weight), and the margin range."""

    by_class: np.ndarray
    margins: tuple[float, float]

    def loss(self, codes: np.ndarray, weight: np.ndarray) -> SeparateLoss | JointLoss:
        """Return the problem of these samples: one model for two classes, one each for more."""
        n = len(self.by_class)
        total = np.bincount(codes, weights=weight, minlength=n)
        cost = self.by_class / np.maximum(total, 1e-300)
        phi = SmoothedHinge(*self.margins)
        if n == 2:
            return SeparateLoss(codes, weight, np.array([[-1.0, 1.0]]), cost[None], phi)
        pairs = np.tile(cost[:, None] / (n - 1), (1, n))
        return JointLoss(codes, weight, pairs, phi)

    def loss_structure(self, totals: np.ndarray) -> LossStructure:
        """Return the same problem for samples in blocks, whose classes have these weights."""
        make = LossStructure.of_two if len(self.by_class) == 2 else LossStructure.native
        return make(self.by_class / np.maximum(totals, 1e-300), *self.margins)


@dataclass(frozen=True)
class JointModel:
    """One linear model (or one for each class) on a feature map; the last row is the intercept."""

    feature_map: str
    C: float
    rules: np.ndarray
    objective: np.ndarray
    gap: float
    iterations: int

    @classmethod
    def of(cls, feature_map: str, C: float, solution: JointSolution) -> JointModel:
        gap = float(solution.relative_gap.max())
        return cls(feature_map, C, solution.rules, solution.objective, gap, solution.iterations)


def fit_models(
    blocks: FeatureBlocks,
    costs: Costs,
    chosen: Mapping[str, Sequence[float]],
    limits: Limits,
) -> list[JointModel]:
    """Fit each feature map for some C (per sample); its features are freed before the next."""
    loss = costs.loss(blocks.codes, blocks.weight)
    models: list[JointModel] = []
    for done, (name, Cs) in enumerate(chosen.items()):
        _console.step("fit to all rows, map", done, len(chosen), f"{name}, {len(Cs)} of its C")
        features, ordered = blocks.features(name, blocks.Z), sorted(Cs)
        scales = [C * float(blocks.weight.sum()) for C in ordered]
        path = fit_path(features, loss, scales, limits, float32=True)
        models += [JointModel.of(name, *pair) for pair in zip(ordered, path, strict=True)]
        del features
    return models


def refit_models(
    models: Sequence[JointModel],
    blocks: FeatureBlocks,
    scaling: tuple[np.ndarray, np.ndarray],
    n_classes: int,
    solve: Callable[[BlockMapping, list[float], list[np.ndarray]], list[JointSolution]],
    run: Callable[[Sequence[Callable[[], list[JointModel]]]], list[list[JointModel]]] | None = None,
) -> list[JointModel]:
    """Fit models of a sample to all samples; feature maps are solved by ``run``, together.

    ``solve`` is given a mapping from samples to features, values of C and starting points;
    ``scaling`` is center and scale of the features of ``blocks``.
    """

    def refit(name: str) -> list[JointModel]:
        own = [model for model in models if model.feature_map == name]
        mapping = blocks.mapping(name, *scaling)
        pairs = 1 if n_classes == 2 else n_classes * (n_classes - 1) // 2
        if 8 * len(own) * pairs * (mapping.width + 1) ** 2 > MAX_SUM_BYTES:
            return own
        Cs = [model.C for model in own]
        solutions = solve(mapping, Cs, [model.rules for model in own])
        return [JointModel.of(name, *pair) for pair in zip(Cs, solutions, strict=True)]

    names = list(dict.fromkeys(model.feature_map for model in models))
    jobs = [partial(refit, name) for name in names]
    return [model for own in (run(jobs) if run else (job() for job in jobs)) for model in own]


def fit_in_place(
    samples: TrainingRows | RemoteTraining,
    costs: Costs,
    limits: Limits,
    mapping: RowMapping,
    Cs: Sequence[float],
    starts: Sequence[np.ndarray],
) -> list[JointSolution]:
    """Fit to all samples for each C (per sample); features are computed a few at a time."""
    structure, weight = costs.loss_structure(samples.totals), float(samples.totals.sum())
    read, scales = samples.joint_reader(mapping, structure), [C * weight for C in Cs]
    if isinstance(mapping, BlockMapping):
        read = in_basis(read, mapping.basis)
    return in_place.solve_joint_path(read, structure, scales, starts, samples.shape[0], *limits)


def fit_path(
    features: np.ndarray,
    loss: SeparateLoss | JointLoss,
    scales: Sequence[float],
    limits: Limits,
    *,
    float32: bool = False,
) -> list[JointSolution]:
    """Return certified models; with more features than samples as combinations of the samples.

    Steps in ``float32`` end near the optimum of an objective that is flat there: models of weighted
    samples then agree with those of duplicated samples to seven digits, not to nine.
    """
    span, rows = Span(features), (loss.codes, loss.weight)
    features, (tol, max_iter, out_of_time) = span.rows, limits
    if not float32:
        design = Design(features, *rows)
        path = solve_path(design, loss, scales, tol, max_iter, out_of_time=out_of_time)
    else:
        # Steps in single precision to points in double; what does not converge goes on in double.
        light = Design(features, *rows, light=features.astype(np.float32))
        most = min(max_iter, FLOAT32_STEPS)
        path = solve_path(light, loss, scales, tol, most, out_of_time=out_of_time)
        full = None
        for k, begun in enumerate(path):
            if begun.relative_gap.max() <= tol or max_iter <= most or out_of_time():
                continue
            full = Design(features, *rows) if full is None else full
            left = max_iter - begun.iterations
            [ended] = solve_path(
                full, loss, scales[k : k + 1], tol, left, start=begun.rules, out_of_time=out_of_time
            )
            path[k] = replace(ended, iterations=ended.iterations + begun.iterations)
    return [replace(one, rules=span.outer(one.rules)) for one in path]
