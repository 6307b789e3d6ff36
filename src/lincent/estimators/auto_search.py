"""The search of AutoLCC: every map and every C on a first fold, the best of them on all others.

For each fold and map the path over C is warm-started, in single precision and to a loose gap: what
it decides is which rules are fitted to all rows, and those are certified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from lincent import _progress, _threads
from lincent.estimators.portfolio import Blocks, Common, TrainingRows
from lincent.model_selection.folds import Split
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import Design, solve_path
from lincent.sources.gradients import LossStructure
from lincent.tables.weighted import merged

TOTALS = 10.0 ** np.arange(-1.0, 4.0, 0.75)
"""Costs as totals over all rows, C times their weight."""
NATIVE_TOTALS = 10.0 ** np.arange(1.75, 5.0)
"""The same for more than two classes, where the total is shared by all pairs of classes."""
SEARCH_TOL = 1e-2
NATIVE_TOL = 0.1
"""Rules this far from the optimum choose the same map and C: measured, on sets of the leaderboard
that take part in choices.  They are not begun at those of another fold, which have seen the rows
that are held out here: left so far from the optimum, they would remember them."""
SEARCH_STEPS = 12


def totals_for(n_classes: int) -> np.ndarray:
    """The costs to be tried."""
    return TOTALS if n_classes == 2 else NATIVE_TOTALS


@dataclass(frozen=True)
class Costs:
    """What a unit of loss costs by class (of sum 1 over all weight), and the margins."""

    by_class: np.ndarray
    margins: tuple[float, float]

    def coupling(self, codes: np.ndarray, weight: np.ndarray) -> SeparateLoss | JointLoss:
        """The program for these rows: one rule for two classes, one for each of more."""
        n = len(self.by_class)
        total = np.bincount(codes, weights=weight, minlength=n)
        cost = self.by_class / np.maximum(total, 1e-300)
        low, high = self.margins
        if n == 2:
            return SeparateLoss(codes, weight, np.array([[-1.0, 1.0]]), cost[None], low, high)
        pairs = np.tile(cost[:, None] / (n - 1), (1, n))
        return JointLoss(codes, weight, pairs, low, high)

    def faces(self, totals: np.ndarray) -> LossStructure:
        """The same program for rows in blocks, whose classes have these weights."""
        made = LossStructure.of_two if len(self.by_class) == 2 else LossStructure.native
        return made(self.by_class / np.maximum(totals, 1e-300), *self.margins)


@dataclass
class Search:
    """Out-of-fold scores by map: (C, rows, rules), NaN where a row was not held out."""

    folds: Sequence[Split]
    totals: np.ndarray
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    tried: dict[str, np.ndarray] = field(default_factory=dict)
    """On how many folds each C of each map was tried."""
    done: int = 0


@dataclass(frozen=True)
class Part:
    """What a fold is trained on, and the places of its different rows and of those held out."""

    blocks: Blocks
    coupling: SeparateLoss | JointLoss
    seen: np.ndarray
    held: np.ndarray


Alive = dict[str, np.ndarray]
"""For each map that is still tried, the places of its values of C."""


def run_search(
    data: TrainingRows,
    folds: Sequence[Split],
    costs: Costs,
    maps: Sequence[str],
    common: Common,
    value: Callable[[np.ndarray, np.ndarray], float],
    kept: int,
    n_jobs: Any = None,
    out_of_time: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda line: None,
) -> Search:
    """All settings on the first fold; then the ``kept`` best of them.

    ``value`` judges scores of rows, given with the places of these rows.
    """
    search = Search(folds, totals_for(len(costs.by_class)))
    n_costs, n_classes = len(search.totals), len(costs.by_class)
    for name in maps:
        shape = (n_costs, len(data.Z), 1 if n_classes == 2 else n_classes)
        search.scores[name] = np.full(shape, np.nan)
        search.tried[name] = np.zeros(n_costs, dtype=np.intp)
    alive: Alive = {name: np.arange(n_costs) for name in maps}
    for number, (train, held) in enumerate(folds):
        if number and out_of_time():
            tell(f"time is up after {number} of {len(folds)} folds")
            break
        index, weight = merged(train, data.keys, data.codes, data.weight)
        rows = replace(data[index], weight=weight)
        blocks = Blocks.of(rows, common.seed, choosing=True, common=common)
        part = Part(blocks, costs.coupling(rows.codes, weight.astype(np.float32)), index, held)
        place = (number, len(folds))
        found = _fold_scores(part, data.Z[held], alive, search.totals, n_jobs, place)
        for (name, places), scores in zip(alive.items(), found, strict=True):
            search.scores[name][np.ix_(places, held)] = scores
            search.tried[name][places] += 1
        search.done = number + 1
        count = sum(map(len, alive.values()))
        if search.done == 1 < len(folds):
            alive = _strongest(search, held, value, kept)
        left = sum(map(len, alive.values()))
        tell(f"fold {number + 1} of {len(folds)}: {count} settings, {left} kept")
    return search


def _strongest(
    search: Search, held: np.ndarray, value: Callable[[np.ndarray, np.ndarray], float], kept: int
) -> Alive:
    """The best settings on these rows, the earlier one where they are level."""
    settings = [(name, k) for name in search.scores for k in range(len(search.totals))]
    values = np.array([value(search.scores[name][k, held], held) for name, k in settings])
    best = [settings[place] for place in np.argsort(-values, kind="stable")[:kept]]
    return {
        name: np.sort([k for other, k in best if other == name])
        for name in search.scores
        if any(other == name for other, _ in best)
    }


def _fold_scores(
    part: Part,
    unseen: np.ndarray,
    alive: Alive,
    totals: np.ndarray,
    n_jobs: Any,
    place: tuple[int, int],
) -> list[np.ndarray]:
    """The scores of the unseen rows for each map; ``place`` is the fold and how many there are."""
    maps, (fold, folds), blocks = list(alive), place, part.blocks

    def one(name: str, places: np.ndarray) -> np.ndarray:
        done, which = fold * len(maps) + maps.index(name), f"fold {fold + 1} of {folds}, {name}"
        _progress.step("search, step", done, folds * len(maps), which)
        seen = blocks.features(name, blocks.Z, np.float32, part.seen)
        held = blocks.features(name, unseen, np.float32, part.held)
        return map_scores(seen, held, part.coupling, totals[places])

    with _threads.side_by_side(n_jobs, len(alive)):
        jobs = (delayed(one)(*item) for item in alive.items())
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(jobs))


def map_scores(
    seen: np.ndarray, unseen: np.ndarray, coupling: SeparateLoss | JointLoss, totals: np.ndarray
) -> np.ndarray:
    """Scores of the unseen rows for each C: (C, rows, rules)."""
    if seen.shape[1] > seen.shape[0]:
        # More columns than rows: the rules are combinations of the rows.
        basis, turned = np.linalg.qr(seen.T)
        seen, unseen = np.ascontiguousarray(turned.T), unseen @ basis
    design = Design(seen, coupling.codes, coupling.weight)
    tol = NATIVE_TOL if isinstance(coupling, JointLoss) else SEARCH_TOL
    path = solve_path(
        design, coupling, totals.tolist(), tol, SEARCH_STEPS, certify=False, least_steps=1
    )
    rules = [found.rules.astype(unseen.dtype) for found in path]
    return np.stack([unseen @ rule[:-1] + rule[-1] for rule in rules])
