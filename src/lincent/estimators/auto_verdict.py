"""What a search comes to: the members of AutoLCC and all that cross-validation says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent.estimators.auto_choice import (
    Measure,
    Rows,
    Setting,
    best,
    blend,
    choose_shift,
    deviation,
    fit_probability,
    honest_score,
)
from lincent.estimators.auto_search import Search


@dataclass(frozen=True)
class Verdict:
    """Settings in the order of the search; ``judged`` are the rows that were held out."""

    settings: list[Setting]
    values: np.ndarray
    folds_tried: np.ndarray
    members: list[int]
    judged: np.ndarray
    blended: np.ndarray
    shift: np.ndarray
    honest: float
    calibrator: Any

    def by_map(self) -> dict[str, list[float]]:
        """For each map of a member the C of its members."""
        found: dict[str, list[float]] = {}
        for setting in (self.settings[k] for k in self.members):
            found.setdefault(setting.map, []).append(setting.C)
        return found

    def narrowed(
        self, few: Sequence[Setting], blended: np.ndarray, shift: np.ndarray, calibrator: Any
    ) -> Verdict:
        """With these members alone, and what other unseen rows say about their mean."""
        unit = {(one.map, one.C): one.deviation for one in few}
        settings = [
            replace(one, deviation=unit.get((one.map, one.C), one.deviation))
            for one in self.settings
        ]
        members = [k for k, one in enumerate(settings) if (one.map, one.C) in unit]
        return replace(
            self, settings=settings, members=members, judged=np.arange(len(blended)),
            blended=blended, shift=shift, calibrator=calibrator,
        )  # fmt: skip

    def table(self) -> dict[str, np.ndarray]:
        """``cv_results_``: one entry for each setting."""
        weight = np.zeros(len(self.settings))
        weight[self.members] = 1.0 / len(self.members)
        order = np.argsort(-self.values, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(1, len(order) + 1)
        return {
            "map": np.array([setting.map for setting in self.settings], dtype=object),
            "C": np.array([setting.C for setting in self.settings]),
            "score": self.values,
            "rank": rank,
            "folds": self.folds_tried,
            "weight": weight,
        }


def judge(search: Search, labels: Rows, measure: Measure, count: int, by_labels: bool) -> Verdict:
    """Members, cut, calibration and honest estimate; ``by_labels``: the measure moves the cut."""
    per_row = search.totals / labels.weight.sum()
    settings = [
        _setting(name, float(C), scores, labels)
        for name, by_cost in search.scores.items()
        for C, scores in zip(per_row, by_cost, strict=True)
    ]
    tried = np.concatenate([search.tried[name] for name in search.scores])
    values = np.array([_value(setting, labels, measure) for setting in settings])
    whole = [int(k) for k in np.flatnonzero(tried == search.done)]
    judged = np.flatnonzero(np.isfinite(settings[whole[0]].scores[:, 0]))
    place = np.full(len(labels.codes), -1)
    place[judged] = np.arange(len(judged))
    folds = [place[held][place[held] >= 0] for _, held in search.folds]
    unseen = [replace(settings[k], scores=settings[k].scores[judged]) for k in whole]
    chosen = best(values[whole], count)
    blended = blend(unseen, chosen)
    shift = np.zeros(blended.shape[1])
    if by_labels:
        shift = choose_shift(blended, labels[judged], folds, measure)
    return Verdict(
        settings,
        values,
        tried,
        [whole[k] for k in chosen],
        judged,
        blended,
        shift,
        honest_score(unseen, labels[judged], folds, measure, count, by_labels),
        fit_probability(blended, labels[judged]),
    )


def _setting(name: str, C: float, scores: np.ndarray, labels: Rows) -> Setting:
    there = np.isfinite(scores[:, 0])
    return Setting(name, C, scores, deviation(scores[there], labels.weight[there]))


def _value(setting: Setting, labels: Rows, measure: Measure) -> float:
    there = np.flatnonzero(np.isfinite(setting.scores[:, 0]))
    return measure(setting.scores[there], labels[there])
