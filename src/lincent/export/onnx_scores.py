"""The scores of the two-class problems as ONNX sub-graphs, one function per kind of model.

    linear          X coef' + intercept
    kernel          k(X, support) dual', with the Gram matrix as a sub-graph
    local centers   X coef' + intercept + sum of pull * exp(-scale |x - c|^2)
    planes          the difference of the distances to two planes
    regressions     one per class; with two classes their difference
    tables          curves, similarities and missing values (see ``onnx_tables``)

Similarities are computed in double precision: what they add up to can be small against its parts.
A rule by the nearest training row compares with all of them, so it needs rows x training rows of
memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.discriminators import Cut, Nearest
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.structured_cv import StructuredLCCCV
from lincent.export.onnx_graph import Graph
from lincent.export.onnx_tables import TABLE_MODELS, check_table, table_scores
from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    TwinSVC,
    WeightedTwinSVC,
)
from lincent.sources.source import Kind, kind_of

GRAMS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
MOST_POINTS = 50_000
"""Training rows that a nearest-row rule may compare with."""


def check_scores(model: Any) -> None:
    """A sentence for a score that ONNX cannot express."""
    if isinstance(model, KernelLCC) and model.kernel not in GRAMS:
        name = getattr(model.kernel, "__name__", model.kernel)
        raise AppError(f"kernel={name!r} has no ONNX form: use one of {', '.join(GRAMS)}.")
    if isinstance(model, TABLE_MODELS):
        check_table(model)
    points = [
        len(rule.negative) + len(rule.positive)
        for rule in vars(model).get("_rules", [])
        if isinstance(rule, Nearest)
    ]
    points.append(len(getattr(model, "images_", ())))
    if max(points) > MOST_POINTS:
        raise AppError(
            f"{type(model).__name__} compares each row with {max(points)} training rows, above "
            f"{MOST_POINTS}: use discriminator='distance' or 'svm' for ONNX."
        )


def task_scores(g: Graph, model: Any, X: str) -> str:
    """One column per two-class problem; in double precision for tables, else in single."""
    if isinstance(model, TABLE_MODELS):
        return table_scores(g, model, X)
    X = g.real_numbers(X)
    if isinstance(model, (StructuredLCC, StructuredLCCCV)):
        return _local(g, model, X)
    if isinstance(model, (TwinSVC, WeightedTwinSVC)):
        away = [_plane_distance(g, model, X, side) for side in (0, 1)]
        return g.node("Sub", *away)
    if isinstance(model, (DiscriminativeLeastSquares, DiscriminativeElasticNet)):
        return _regressions(g, model, X)
    return _rules(g, model, X)


def _rules(g: Graph, model: Any, X: str) -> str:
    """The projected line of each problem, cut or compared with the training rows."""
    if isinstance(model, KernelLCC):
        X, weights = _gram(g, model, X), model.dual_coef_
    else:
        weights = model.coef_
    rules = vars(model).get("_rules", [])
    if all(isinstance(rule, Cut) for rule in rules):
        return g.affine(X, weights, model.intercept_)
    line = g.node("MatMul", X, g.constant(weights.T))
    return g.node(
        "Concat", *(_nearest(g, rule, g.column(line, k)) for k, rule in enumerate(rules)), axis=1
    )


def _nearest(g: Graph, rule: Nearest, line: str) -> str:
    def away(points: np.ndarray) -> str:
        distance = g.node("Abs", g.node("Sub", line, g.constant(points[None, :])))
        return g.least(distance)

    toward = g.node("Sub", away(rule.negative), away(rule.positive))
    return g.node("Sub", toward, g.constant(rule.shift))


def _gram(g: Graph, model: KernelLCC, X: str) -> str:
    """k(X, support vectors)."""
    if model.kernel == "precomputed":
        return g.node("Gather", X, g.whole(model.support_), axis=1)
    Z = model.support_vectors_
    Z = np.asarray(Z.toarray() if kind_of(Z) is Kind.SPARSE else Z, dtype=np.float64)
    wide = g.wide()
    X = wide.real_numbers(X)
    if model.kernel == "rbf":
        scaled = wide.node("Mul", wide.squared_distances(X, Z), wide.constant(-model.gamma_))
        return g.real_numbers(wide.node("Exp", scaled))
    if model.kernel == "laplacian":
        rows = wide.node("Unsqueeze", X, wide.whole([1]))
        away = wide.node("Abs", wide.node("Sub", rows, wide.constant(Z[None])))
        scaled = wide.node("Mul", wide.total(away, 2, keep=False), wide.constant(-model.gamma_))
        return g.real_numbers(wide.node("Exp", scaled))
    product = wide.node("MatMul", X, wide.constant(Z.T))
    if model.kernel == "linear":
        return g.real_numbers(product)
    inner = wide.node("Mul", product, wide.constant(model.gamma_))
    inner = wide.node("Add", inner, wide.constant(model.coef0))
    if model.kernel == "sigmoid":
        # onnxruntime has no Tanh of doubles.
        return g.node("Tanh", g.real_numbers(inner))
    return g.real_numbers(wide.node("Pow", inner, wide.constant(float(model.degree))))


def _local(g: Graph, model: StructuredLCC | StructuredLCCCV, X: str) -> str:
    n = model.n_features_in_
    if isinstance(model, StructuredLCC):
        scales = np.full((1, len(model.local_centers_)), model.gamma / model._variance)
        pulls = model.pulls_[:, None, :]
    else:
        scales, pulls = model._scales, model.pulls_
    wide = g.wide()
    X = wide.real_numbers(X)
    score = wide.affine(X, model.coef_[:, :n], model.intercept_)
    distance = wide.squared_distances(X, model.local_centers_)
    for width, scale in enumerate(scales):
        near = wide.node("Exp", wide.node("Mul", distance, wide.constant(-scale)))
        pulled = wide.node("MatMul", near, wide.constant(pulls[:, width].T))
        score = wide.node("Add", score, pulled)
    return g.real_numbers(score)


def _plane_distance(g: Graph, model: Any, X: str, side: int) -> str:
    coef, intercept = model.plane_coef_[:, side], model.plane_intercept_[:, side]
    norm = np.linalg.norm(coef, axis=1)
    norm[norm == 0] = 1.0
    return g.node("Abs", g.affine(X, coef / norm[:, None], intercept / norm))


def _regressions(g: Graph, model: Any, X: str) -> str:
    if isinstance(model, DiscriminativeElasticNet):
        X = g.node("Sub", X, g.constant(model.mean_))
        found = g.node("MatMul", X, g.constant(model.coef_.T))
    else:
        found = g.affine(X, model.coef_, model.intercept_)
    if getattr(model, "discriminator", None) == "1nn":
        rows = g.node("Unsqueeze", found, g.whole([1]))
        found = g.node(
            "Concat",
            *(
                g.negative(_nearest_image(g, rows, model.images_[model._codes == k]))
                for k in range(len(model.classes_))
            ),
            axis=1,
        )
    if len(model.classes_) > 2:
        return found
    return g.node("Sub", g.column(found, 1), g.column(found, 0))


def _nearest_image(g: Graph, rows: str, images: np.ndarray) -> str:
    away = g.node("Sub", rows, g.constant(images[None]))
    distance = g.node("Sqrt", g.total(g.node("Mul", away, away), 2, keep=False))
    return g.least(distance)
