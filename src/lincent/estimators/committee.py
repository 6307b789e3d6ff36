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
out more than they gain by a mean over folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lincent.estimators.committee_data import Held, LinearScores, Parts
from lincent.estimators.cv_data import Answered
from lincent.estimators.direction import Direction
from lincent.estimators.problem import Task, Training, TwoClass
from lincent.estimators.regularized_fit import RegularizedFit
from lincent.estimators.softmax import balanced_likelihood
from lincent.estimators.validation import ClassCosts
from lincent.passes.landmarks import RowMapping

GRID = 10.0 ** np.arange(-1.5, 3.75, 0.5)
"""The default costs, as totals over all rows: C times the weight of the training part."""
REPEATS_UP_TO = 2000


@dataclass(frozen=True)
class Settings:
    """What is the same for every rule of a committee."""

    Cs: np.ndarray | None
    fit: RegularizedFit
    costs: ClassCosts | None
    """What the classes cost, or None where each problem balances its own."""

    many: bool = False
    """Several problems on the same rows: every second default C will do for each."""

    def grid(self, weight: float) -> np.ndarray:
        """The values of C for rows of this weight."""
        return GRID[:: 1 + self.many] / weight if self.Cs is None else self.Cs

    def problem(self, training: Training, task: Task) -> TwoClass:
        """A two-class problem with its costs."""
        if self.costs is not None:
            return training.task(task, self.costs)
        ones = np.ones(len(training.classes))
        return training.task(task, ClassCosts(ones, ones)).balanced()

    def directions(self, training: Training, task: Task) -> list[Direction]:
        """The directions of a problem, one for each C."""
        grid = self.grid(sum(task.weights(training.totals)))
        return self.fit.directions(self.problem(training, task), grid.tolist())


@dataclass(frozen=True)
class Fold:
    """What one fold gives: the rules by member, task and C, and what they say of rows held out."""

    rules: list[list[list[Direction]]]
    held: Held


def fit_fold(
    data: Parts,
    split: int,
    part: Training,
    maps: Sequence[RowMapping | None],
    tasks: Sequence[Task],
    settings: Settings,
) -> Fold:
    """All rules of a fold, and their scores of the rows held out."""
    rules = fit_rules(part, maps, tasks, settings)
    return Fold(rules, data.held(split, [_scores(m, r) for m, r in zip(maps, rules, strict=True)]))


def fit_rules(
    part: Training,
    maps: Sequence[RowMapping | None],
    tasks: Sequence[Task],
    settings: Settings,
) -> list[list[list[Direction]]]:
    """The rules by member, task and C; a map of None leaves the rows as they are."""

    def member(mapping: RowMapping | None) -> list[list[Direction]]:
        seen = part if mapping is None else part.mapped(mapping)
        jobs: list[Callable[[], Any]] = [partial(settings.directions, seen, task) for task in tasks]
        found = part.inner(jobs)
        return found if len(tasks) == 1 or not tasks[0].whole else _in_one_unit(found)

    return part.inner([partial(member, mapping) for mapping in maps])


def _in_one_unit(rules: Sequence[Sequence[Direction]]) -> list[list[Direction]]:
    """Rules of one-vs-rest, whose scores are compared: for each C the mean of their units."""
    units = np.mean([[rule.half for rule in task] for task in rules], axis=0)
    return [
        [replace(rule, width=2 * unit) for rule, unit in zip(task, units, strict=True)]
        for task in rules
    ]


def _scores(mapping: RowMapping | None, rules: Sequence[Sequence[Direction]]) -> LinearScores:
    """f of each rule of a member, task by task."""
    every = [rule for task in rules for rule in task]
    directions = np.stack([rule.beta / rule.half for rule in every], axis=1)
    return LinearScores(mapping, directions, np.array([r.intercept / r.half for r in every]))


@dataclass(frozen=True)
class Tally:
    """What one task collects: the rules of each fold, and the pooled scores of rows held out."""

    rules: list[list[list[Direction]]]  # by fold, member, C
    pooled: np.ndarray  # settings by rows
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
        return [rule.solution for fold in self.rules for member in fold for rule in member]


def gather(folds: Sequence[Fold], tasks: Sequence[Task]) -> list[Tally]:
    """The results of all folds, task by task; the scores of a row are averaged over repeats."""
    every = np.concatenate([fold.held.rows for fold in folds])
    numbers, first, place = np.unique(every, return_index=True, return_inverse=True)
    seen = np.bincount(place.reshape(-1))
    scores = np.concatenate([fold.held.scores for fold in folds])
    total = np.zeros((len(first), scores.shape[1]))
    np.add.at(total, place.reshape(-1), scores)
    pooled = (total / seen[:, None]).T
    codes = np.concatenate([fold.held.codes for fold in folds])[first]
    weight = np.concatenate([fold.held.weight for fold in folds])[first]
    members, costs = len(folds[0].rules), len(folds[0].rules[0][0])
    columns = np.arange(len(pooled)).reshape(members, len(tasks), costs)
    out = []
    for k in range(len(tasks)):
        rules = [[member[k] for member in fold.rules] for fold in folds]
        mine = pooled[columns[:, k].reshape(-1)]
        out.append(Tally(rules, mine, numbers, codes, weight))
    return out


def joint_measure(tallies: Sequence[Tally]) -> np.ndarray:
    """Of each setting for all classes: how well its one-vs-rest scores together tell the class.

    The area under the curve of each class by itself does not see how scores of different classes
    compare, which decides what is predicted, and it is close to one for most C.
    """
    first = tallies[0]
    labels = (first.codes, first.weight, len(tallies))
    together = np.stack([tally.pooled for tally in tallies], axis=2)
    return np.array([balanced_likelihood(scores, *labels) for scores in together])


def measure(scoring: Any, tally: Tally, task: Task) -> np.ndarray:
    """The measure of each setting on its pooled out-of-fold scores."""
    rows = np.arange(len(tally.codes)) if task.whole else task.rows(tally.codes)
    sign, counted, pooled = task.sign(tally.codes[rows]), tally.weight[rows], tally.pooled[:, rows]
    if scoring in (None, "roc_auc"):
        return np.array([area(score, sign > 0, counted) for score in pooled])
    from sklearn.metrics import get_scorer  # late, as it is slow to import and rarely needed

    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    classes = np.array([-1, 1])
    labels = classes[(sign > 0).astype(int)]
    # A scorer of the user's own may not know weights; it is asked to only where they matter.
    named = {} if np.all(counted == counted[0]) else {"sample_weight": counted}
    models = [Answered(classes, score) for score in pooled]
    return np.array([float(scorer(m, m.scores[:, None], labels, **named)) for m in models])


def area(score: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    """The weighted area under the ROC curve; ties count half."""
    _, place = np.unique(score, return_inverse=True)
    up = np.bincount(place, weights=weight * positive)
    down = np.bincount(place, weights=weight * ~positive)
    below = np.cumsum(down) - down
    return float(up @ (below + down / 2)) / (float(up.sum()) * float(down.sum()))


def soft_weights(measures: np.ndarray, sharpness: float) -> np.ndarray:
    """Weights of the settings, of sum 1."""
    weights = np.exp(sharpness * (measures - measures.max()))
    return np.asarray(weights / weights.sum())


def mean_rule(
    tally: Tally, weights: np.ndarray, member: int, fold: int
) -> tuple[np.ndarray, float]:
    """The weighted sum, over C, of one fold's rules of one member: direction and intercept."""
    rules = tally.rules[fold][member]
    share = weights.reshape(tally.n_members, tally.n_costs)[member] / len(tally.rules)
    scale = share / np.array([rule.half for rule in rules])
    direction = scale @ np.array([rule.beta for rule in rules])
    return direction, float(scale @ np.array([rule.intercept for rule in rules]))
