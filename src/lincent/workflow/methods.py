"""The methods of ``lincent fit --method`` by name, and what their searches report.

    auto         model selection                     AutoLCC
    linear       a linear classifier, tuned          RegularizedLCCCV
    additive     a shape function per column, tuned  AdditiveLCCCV
    structured   linear and local centers, tuned     StructuredLCCCV
    kernel       an RBF kernel                       KernelLCC
    lcc          the paper's method                  LCC, or LCCCV with --tune
    quick        a linear classifier, not tuned      RegularizedLCC

The names of the classes and of the paper's methods (``lincent compare`` prints them) work as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lincent._errors import AppError, nearest
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class

CLASSES = {
    "auto": "AutoLCC",
    "linear": "RegularizedLCCCV",
    "additive": "AdditiveLCCCV",
    "structured": "StructuredLCCCV",
    "kernel": "KernelLCC",
    "lcc": "LCC",
    "quick": "RegularizedLCC",
    **{name: name for name in (*ESTIMATORS, *BASELINES) if name != "LCC"},
}
OF_THE_PAPER = ("LDA", "SVM", "DLS", "SMP", "WSV", "TSV", "DEL")
METHODS = (*CLASSES, "LCC-1NN", "LCC-1SV", "KernelLCC-box", *OF_THE_PAPER)


def method_name(name: str) -> str:
    """Return the name of a method as it is listed, whatever its case."""
    names = {method.lower(): method for method in METHODS}
    if name.lower() not in names:
        hint = nearest(name, METHODS).replace("the columns are", "there are")
        raise AppError(f"The method {name!r} (--method) is not known: {hint}")
    return names[name.lower()]


def make_classifier(
    name: str, params: Mapping[str, Any], *, random_state: int = 0, n_jobs: int | None = None
) -> Any:
    """Return the estimator of a method with these parameters, and probabilities by default."""
    name = method_name(name)
    if name in CLASSES:
        classifier = estimator_class(CLASSES[name])()
    else:
        from lincent.model_selection.methods import find_method

        classifier = find_method(name).estimator
    accepted = classifier.get_params(deep=False)
    for key in params:
        if key not in accepted:
            raise AppError(
                f"--method {name} ({type(classifier).__name__}) has no parameter {key!r}; it has "
                f"{', '.join(sorted(accepted))}."
            )
        if key in ("categorical_features", "keep_columns"):
            raise AppError(
                f"{key} is no parameter of a table's model, whose columns are encoded before: name "
                "categories by `roles` (--role COLUMN=category), columns to keep by `keep`."
            )
    shared = {"random_state": random_state, "n_jobs": n_jobs, "probability": "sigmoid"}
    return classifier.set_params(
        **{key: value for key, value in shared.items() if key in accepted} | dict(params)
    )


def search_summary(classifier: Any) -> dict[str, Any]:
    """Return ``tuned`` (the choice of a search) and ``tuning`` (the candidates), where known."""
    results = getattr(classifier, "cv_results_", {})
    if "param_relative_margin" in results:
        pairs = zip(results["param_relative_margin"], results["mean_test_score"], strict=True)
        points = sorted([float(x), float(y)] for x, y in pairs if np.isfinite(y))
        return {
            "tuned": {
                "scoring": str(classifier.scoring),
                "mean_test_score": float(classifier.best_score_),
                "relative_margin": np.atleast_1d(classifier.relative_margin_).tolist(),
                "margin": np.atleast_1d(classifier.margin_).tolist(),
                "folds": int(classifier.n_splits_),
            },
            "tuning": {"parameter": "relative margin", "points": points},
        }
    if hasattr(classifier, "Cs_"):
        scores = results["mean_test_score"].reshape(-1, len(classifier.Cs_)).max(axis=0)
        points = [[float(c), float(s)] for c, s in zip(classifier.Cs_, scores, strict=True)]
        return {"tuning": {"parameter": "C", "points": points}}
    if "param_feature_map" in results:
        candidates = [
            {
                "map": str(results["param_feature_map"][k]),
                "C": float(results["param_C"][k]),
                "score": float(results["mean_test_score"][k]),
                "folds": int(results["n_folds"][k]),
                "weight": float(results["weight"][k]),
            }
            for k in np.argsort(results["rank_test_score"])
            if np.isfinite(results["mean_test_score"][k])
        ]
        return {"tuning": {"maps": candidates}}
    return {}
