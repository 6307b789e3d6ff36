"""The search of AutoLCC: every map and every C on every fold, weak maps dropped on the way.

For each fold and map the path over C is warm-started, in single precision and to a loose gap: what
it decides is which rules are fitted to all rows, and those are certified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from lincent import _threads
from lincent.estimators.folds import Split
from lincent.estimators.portfolio import Blocks, TrainingRows
from lincent.passes.pair_pulls import Faces
from lincent.programs.joint import Native, Separate
from lincent.solvers.newton.joint import Design, solve_path

TOTALS = 10.0 ** np.arange(-1.0, 4.0, 0.75)
"""Costs as totals over all rows, C times their weight."""
NATIVE_TOTALS = 10.0 ** np.arange(1.75, 4.5, 0.75)
"""The same for more than two classes, where the total is shared by all pairs of classes."""
SEARCH_TOL = 1e-3
NATIVE_TOL = 0.1
"""Measured on ten classes: rules this far from the optimum choose the same map and C."""
SEARCH_STEPS = 12


def totals_for(n_classes: int) -> np.ndarray:
    """The costs to be tried."""
    return TOTALS if n_classes == 2 else NATIVE_TOTALS


@dataclass(frozen=True)
class Costs:
    """What a unit of loss costs by class (of sum 1 over all weight), and the margins."""

    by_class: np.ndarray
    margins: tuple[float, float]

    def coupling(self, codes: np.ndarray, weight: np.ndarray) -> Separate | Native:
        """The program for these rows: one rule for two classes, one for each of more."""
        n = len(self.by_class)
        total = np.bincount(codes, weights=weight, minlength=n)
        cost = self.by_class / np.maximum(total, 1e-300)
        low, high = self.margins
        if n == 2:
            return Separate(codes, weight, np.array([[-1.0, 1.0]]), cost[None], low, high)
        pairs = np.tile(cost[:, None] / (n - 1), (1, n))
        return Native(codes, weight, pairs, low, high)

    def faces(self, totals: np.ndarray) -> Faces:
        """The same program for rows in blocks, whose classes have these weights."""
        made = Faces.of_two if len(self.by_class) == 2 else Faces.native
        return made(self.by_class / np.maximum(totals, 1e-300), *self.margins)


@dataclass
class Search:
    """Out-of-fold scores by map: (C, rows, rules), NaN where a row was not held out."""

    folds: Sequence[Split]
    totals: np.ndarray
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    """For each map that was dropped, after how many folds."""
    done: int = 0


def run_search(
    data: TrainingRows,
    folds: Sequence[Split],
    costs: Costs,
    maps: Sequence[str],
    seed: int,
    keep: Callable[[Search, Sequence[str]], list[str]],
    n_jobs: Any = None,
    out_of_time: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda line: None,
) -> Search:
    """All maps on the first fold; then those that ``keep`` keeps."""
    search = Search(folds, totals_for(len(costs.by_class)))
    rules = 1 if len(costs.by_class) == 2 else len(costs.by_class)
    alive = list(maps)
    for name in alive:
        search.scores[name] = np.full((len(search.totals), len(data.Z), rules), np.nan)
    for number, (train, held) in enumerate(folds):
        if number and out_of_time():
            tell(f"time is up after {number} of {len(folds)} folds")
            break
        blocks = Blocks.of(data[train].merged(), seed)
        found = _fold_scores(blocks, data.Z[held], costs, alive, n_jobs)
        for name, scores in zip(alive, found, strict=True):
            search.scores[name][:, held] = scores
        search.done = number + 1
        kept = keep(search, alive) if search.done == 1 < len(folds) else alive
        search.dropped |= {name: number + 1 for name in alive if name not in kept}
        tell(f"fold {number + 1} of {len(folds)}: {len(alive)} maps, {len(kept)} kept")
        alive = kept
    return search


def _fold_scores(
    blocks: Blocks, unseen: np.ndarray, costs: Costs, maps: Sequence[str], n_jobs: Any
) -> list[np.ndarray]:
    """The scores of the unseen rows for each map."""
    coupling = costs.coupling(blocks.codes, blocks.weight.astype(np.float32))

    def one(name: str) -> np.ndarray:
        seen = blocks.features(name, blocks.Z, np.float32)
        return map_scores(seen, blocks.features(name, unseen), coupling)

    with _threads.side_by_side(n_jobs, len(maps)):
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(n) for n in maps))


def map_scores(seen: np.ndarray, unseen: np.ndarray, coupling: Separate | Native) -> np.ndarray:
    """Scores of the unseen rows for each C: (C, rows, rules)."""
    if seen.shape[1] > seen.shape[0]:
        # More columns than rows: the rules are combinations of the rows.
        basis, turned = np.linalg.qr(seen.T)
        seen, unseen = np.ascontiguousarray(turned.T), unseen @ basis
    design = Design(seen, coupling.codes, coupling.weight)
    native = isinstance(coupling, Native)
    path = solve_path(
        design,
        coupling,
        (NATIVE_TOTALS if native else TOTALS).tolist(),
        NATIVE_TOL if native else SEARCH_TOL,
        SEARCH_STEPS,
        certify=False,
    )
    out = np.empty((len(path), len(unseen), path[0].rules.shape[1]))
    for k, solution in enumerate(path):
        out[k] = unseen @ solution.rules[:-1] + solution.rules[-1]
    return out
