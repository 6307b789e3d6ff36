"""Committees of rules from cross-validation.

Every setting (a member, that is a way to make features, and a C) is fitted on every training
part.  A rule's score is in units of half the distance of its centers,

    f(x) = ((x - l).beta - t) / (d.beta/2),

so that the scores of different rules can be pooled and averaged.  With f_j the out-of-fold scores
of setting j, averaged over repeats, and a_j their AUC (for one-vs-rest of several classes how well
they tell the class together; or another measure),

    weight of setting j    proportional to exp(sharpness * (a_j - max a))
    committee              the weighted mean of the rules of all settings and folds

and nothing is refitted.  With several classes, one against the rest, folds choose the weights, and
the committee is that of the same settings fitted to all rows: classes of few rows miss those held
out more than they gain by a mean over folds.  Settings that are clearly behind on the first fold
are tried on no other, and a setting that is known to do is taken unless the best one is better by
more than a standard error (``clearly_better``): among settings that are nearly level the best on
some rows is no better on others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lincent.estimators.committee_data import Held, LinearScores, Parts
from lincent.estimators.problem import Task, Training, TwoClass
from lincent.estimators.regularized_fit import RegularizedFit
from lincent.estimators.validation import ClassCosts
from lincent.sources.landmarks import RowMapping

GRID = 10.0 ** np.arange(-1.5, 3.75, 0.5)
"""The default costs, as totals over all rows: C times the weight of the training part."""
REPEATS_UP_TO = 2000


@dataclass(frozen=True)
class Known:
    """A setting that is known to do: its member, its C and the place of this among the others."""

    member: int
    place: int
    C: float


@dataclass(frozen=True)
class Settings:
    """What is the same for every rule of a committee."""

    Cs: np.ndarray | None
    fit: RegularizedFit
    costs: ClassCosts | None
    """What the classes cost, or None where each problem balances its own."""

    many: bool = False
    """Several problems on the same rows: every second default C will do for each."""

    known: Known | None = None

    def grid(self, weight: float) -> np.ndarray:
        """The values of C for rows of this weight."""
        grid = GRID[:: 1 + self.many] / weight if self.Cs is None else self.Cs
        return grid if self.known is None else np.insert(grid, self.known.place, self.known.C)

    def problem(self, training: Training, task: Task) -> TwoClass:
        """A two-class problem with its costs."""
        if self.costs is not None:
            return training.task(task, self.costs)
        ones = np.ones(len(training.classes))
        return training.task(task, ClassCosts(ones, ones)).balanced()

    def directions(self, training: Training, task: Task, tried: np.ndarray) -> list[Any]:
        """The directions of a problem, one for each C, None for those that are not tried."""
        grid = self.grid(sum(task.weights(training.totals)))
        found: list[Any] = [None] * len(grid)
        places = np.flatnonzero(tried)
        path = self.fit.directions(self.problem(training, task), grid[places].tolist())
        for place, direction in zip(places, path, strict=True):
            found[place] = direction
        return found


Rules = list[list[list[Any]]]
"""Directions by member, task and C; None where a setting is not tried."""


@dataclass(frozen=True)
class Fold:
    """What one fold gives: the rules, and what they say of rows held out."""

    rules: Rules
    held: Held


def fit_fold(
    data: Parts,
    split: int,
    part: Training,
    maps: Sequence[RowMapping | None],
    tasks: Sequence[Task],
    settings: Settings,
    tried: np.ndarray,
) -> Fold:
    """All rules of a fold, and their scores of the rows held out."""
    rules = fit_rules(part, maps, tasks, settings, tried)
    scores = [_scores(m, r) for m, r in zip(maps, rules, strict=True)]
    held = data.held(split, [one for one in scores if one.width])
    shape = (len(held.rows), len(tasks), -1)
    whole = np.full((len(held.rows), len(maps), len(tasks), tried.shape[1]), np.nan)
    start = 0
    for member, one in enumerate(scores):
        mine = held.scores[:, start : start + one.width].reshape(shape)
        whole[:, member, :, tried[member]] = np.moveaxis(mine, 2, 0)
        start += one.width
    return Fold(rules, replace(held, scores=whole))


def fit_rules(
    part: Training,
    maps: Sequence[RowMapping | None],
    tasks: Sequence[Task],
    settings: Settings,
    tried: np.ndarray,
) -> Rules:
    """The rules; a map of None leaves the rows as they are, ``tried`` is members by C."""

    def member(mapping: RowMapping | None, costs: np.ndarray) -> list[list[Any]]:
        if not costs.any():
            return [[None] * len(costs) for _ in tasks]
        seen = part if mapping is None else part.mapped(mapping)
        jobs: list[Callable[[], Any]] = [
            partial(settings.directions, seen, task, costs) for task in tasks
        ]
        found = part.inner(jobs)
        return found if len(tasks) == 1 or not tasks[0].whole else _in_one_unit(found)

    return part.inner([partial(member, *one) for one in zip(maps, tried, strict=True)])


def _in_one_unit(rules: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rules of one-vs-rest, whose scores are compared: for each C the mean of their units."""
    by_cost = zip(*rules, strict=True)
    units = [0.0 if one[0] is None else float(np.mean([r.half for r in one])) for one in by_cost]
    return [
        [rule and replace(rule, width=2 * unit) for rule, unit in zip(task, units, strict=True)]
        for task in rules
    ]


def _scores(mapping: RowMapping | None, rules: Sequence[Sequence[Any]]) -> LinearScores:
    """f of each rule of a member, task by task."""
    every = [rule for task in rules for rule in task if rule is not None]
    if not every:
        return LinearScores(mapping, np.empty((0, 0)), np.empty(0))
    directions = np.stack([rule.beta / rule.half for rule in every], axis=1)
    return LinearScores(mapping, directions, np.array([r.intercept / r.half for r in every]))


@dataclass(frozen=True)
class Tally:
    """What one task collects: the rules of each fold, and the pooled scores of rows held out."""

    rules: Rules  # by fold, member, C
    pooled: np.ndarray  # settings by rows, NaN where a setting was not tried
    rows: np.ndarray  # their numbers in the data
    codes: np.ndarray
    weight: np.ndarray

    @property
    def n_members(self) -> int:
        return len(self.rules[0])

    @property
    def n_costs(self) -> int:
        return len(self.rules[0][0])

    @property
    def solutions(self) -> list[Any]:
        every = (rule for fold in self.rules for member in fold for rule in member)
        return [rule.solution for rule in every if rule is not None]

    def blended(self, weights: np.ndarray) -> np.ndarray:
        """The scores of the committee."""
        used = weights > 0
        return np.asarray(weights[used] @ self.pooled[used])


def gather(folds: Sequence[Fold], tasks: Sequence[Task]) -> list[Tally]:
    """The results of all folds, task by task; the scores of a row are averaged over repeats."""
    every = np.concatenate([fold.held.rows for fold in folds])
    numbers, first, place = np.unique(every, return_index=True, return_inverse=True)
    scores = np.concatenate([fold.held.scores for fold in folds])
    there = np.isfinite(scores)
    total, seen = (np.zeros((len(first), *scores.shape[1:])) for _ in range(2))
    np.add.at(total, place.reshape(-1), np.where(there, scores, 0.0))
    np.add.at(seen, place.reshape(-1), there)
    pooled = np.divide(total, seen, where=seen > 0, out=np.full_like(total, np.nan))
    codes = np.concatenate([fold.held.codes for fold in folds])[first]
    weight = np.concatenate([fold.held.weight for fold in folds])[first]
    out = []
    for k in range(len(tasks)):
        rules = [[member[k] for member in fold.rules] for fold in folds]
        mine = pooled[:, :, k].reshape(len(numbers), -1).T
        out.append(Tally(rules, mine, numbers, codes, weight))
    return out


def mean_rule(
    tally: Tally, weights: np.ndarray, member: int, fold: int
) -> tuple[np.ndarray, float]:
    """The weighted sum, over C, of one fold's rules of one member: direction and intercept."""
    share = weights.reshape(tally.n_members, tally.n_costs)[member] / len(tally.rules)
    rules = [rule for rule, part in zip(tally.rules[fold][member], share, strict=True) if part]
    scale = share[share > 0] / np.array([rule.half for rule in rules])
    direction = scale @ np.array([rule.beta for rule in rules])
    return direction, float(scale @ np.array([rule.intercept for rule in rules]))
