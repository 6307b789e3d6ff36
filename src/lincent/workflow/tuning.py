"""How parameters were chosen, as far as an estimator tells: a curve, or maps with their figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def tuning_of(classifier: Any) -> dict[str, Any]:
    """What a summary has of a search: ``tuned`` (the choice) and ``tuning`` (what was tried)."""
    results = getattr(classifier, "cv_results_", {})
    if "param_relative_margin" in results:
        return {
            "tuned": {
                "scoring": str(classifier.scoring),
                "mean_test_score": float(classifier.best_score_),
                "relative_margin": np.atleast_1d(classifier.relative_margin_).tolist(),
                "margin": np.atleast_1d(classifier.margin_).tolist(),
                "folds": int(classifier.n_splits_),
            },
            "tuning": _curve("relative margin", results, "param_relative_margin"),
        }
    if hasattr(classifier, "Cs_"):
        scores = results["mean_test_score"].reshape(-1, len(classifier.Cs_)).max(axis=0)
        points = [[float(c), float(s)] for c, s in zip(classifier.Cs_, scores, strict=True)]
        return {"tuning": {"parameter": "C", "points": points}}
    if "map" in results:
        return {"tuning": {"maps": _maps(results)}}
    return {}


def _curve(title: str, results: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name not in results:
        return {}
    points = [
        [float(x), float(y)]
        for x, y in zip(results[name], results["mean_test_score"], strict=True)
        if np.isfinite(y)
    ]
    return {"parameter": title, "points": sorted(points)}


def _maps(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings of a portfolio (a map and a C), the best first."""
    order = [int(k) for k in np.argsort(results["rank"]) if np.isfinite(results["score"][k])]
    return [
        {
            "map": str(results["map"][k]),
            "C": float(results["C"][k]),
            "score": float(results["score"][k]),
            "folds": int(results["folds"][k]),
            "weight": float(results["weight"][k]),
        }
        for k in order
    ]
