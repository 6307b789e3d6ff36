"""Scores of the estimators that take tables, AdditiveLCC and AutoLCC, as ONNX sub-graphs.

Their own preparation comes first (see ``tables.encoder``): missing values, and categories where
they are numbers.  All of it is in double precision, so that knots, distances and sums are those of
the Python code; the scores are cast at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.additive import AdditiveModel
from lincent.estimators.auto import AutoLCC
from lincent.estimators.auto_candidates import COLUMNS
from lincent.estimators.softmax import Softmax
from lincent.export.contributions import Contributions
from lincent.export.onnx_curves import curve_scores, term_scores
from lincent.export.onnx_graph import Graph
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.tables.encoder import TableEncoder, category_text

TABLE_MODELS = (AdditiveModel, AutoLCC)


def check_table(model: Any) -> None:
    """A sentence for categories that are words: the input is numbers."""
    encoder = getattr(model, "encoder_", model)
    for column in encoder.columns_:
        for category in column.categories or ():
            if category != encoder.missing_ and _number(category) is None:
                raise AppError(
                    f"{type(model).__name__} reads the column {column.name!r} as words "
                    f"({category!r}), and its ONNX input is numbers: put a OneHotEncoder before "
                    "it in a pipeline, or use lincent fit and lincent export."
                )


def _number(category: str) -> float | None:
    """The number of which the encoder makes this word, if there is one."""
    try:
        number = float(category)
    except ValueError:
        return None
    return number if category_text(number) == category else None


def table_scores(g: Graph, model: Any, X: str) -> str:
    """(rows, rules) in double precision."""
    Z = encoded_table(g, model.encoder_, X)
    g = g.wide()
    if isinstance(model, AutoLCC):
        return _portfolio(g, model, Z)
    found = term_scores(g, model.terms_, Z, model.coef_)
    # The model's intercept is that of centered terms.
    return g.node("Add", found, g.constant(model.intercept_ - model.means_ @ model.coef_))


def encoded_table(
    g: Graph, encoder: TableEncoder, X: str | None, texts: Mapping[int, str] | None = None
) -> str:
    """The numbers of ``TableEncoder.encode``, in double precision.

    ``X`` has the columns that are given as numbers, ``texts`` the others by their places.
    Categories that are numbers are compared in single precision.
    """
    wide, texts, parts = g.wide(), texts or {}, []
    inside = [j for j in range(len(encoder.columns_)) if j not in texts]
    if X is not None:
        single = g.real_numbers(X)
        gone = g.node("IsNaN", single)
        fill = np.array([[encoder.columns_[j].fill for j in inside]])
        filled = wide.node("Where", gone, wide.constant(fill), wide.real_numbers(X))
        if encoder.plain:
            return filled
        parts = [filled, wide.real_numbers(gone)]
    n, order = len(inside), []
    end = 2 * n
    for j, column in enumerate(encoder.columns_):
        place = inside.index(j) if j not in texts else -1
        if column.categories is None:
            order += [place, n + place] if column.indicator else [place]
            continue
        if j in texts:
            same, missing = g.one_of(texts[j], column.categories), None
        else:
            numbers = [_number(category) for category in column.categories]
            values = np.array([np.nan if number is None else number for number in numbers])
            same = g.node("Equal", g.column(single, place), g.constant(values))
            missing = encoder.missing_
        parts.append(wide.real_numbers(same))
        order += [n + place if c == missing else end + k for k, c in enumerate(column.categories)]
        end += len(column.categories)
    return wide.node("Gather", wide.node("Concat", *parts, axis=1), wide.whole(order), axis=1)


def _portfolio(g: Graph, model: AutoLCC, encoded: str) -> str:
    """The blocks' features times their coefficients, block by block."""
    Z = g.node("Sub", encoded, g.constant(model._center))
    Z = g.node("Div", Z, g.constant(model._scale))
    total = g.constant(model._intercept)
    for name, coef in model._coef.items():
        factors = model._factors.get(name.split()[0])
        seen = Z if factors is None else g.node("Mul", Z, g.constant(factors))
        if name == COLUMNS:
            part = g.node("MatMul", seen, g.constant(coef))
        else:
            part = _block(g, model._blocks[name], seen, coef)
        total = g.node("Add", part, total)
    return total


def _block(g: Graph, block: Any, Z: str, coef: np.ndarray) -> str:
    if isinstance(block, SplineFeatures):
        return curve_scores(g, block.curves_, block.smoothing, Z, coef)
    if not isinstance(block, LocalCenters | KernelLandmarks):
        raise ValueError(
            "An AutoLCC with feature maps of its own cannot be exported: fit it without "
            "feature_maps, or keep the fitted estimator (joblib.dump)."
        )
    points = block.centers_ if isinstance(block, LocalCenters) else block.landmarks_
    distance = g.squared_distances(Z, points)
    near = g.node("Exp", g.node("Mul", distance, g.constant(-block.gamma / block.variance_)))
    return g.node("MatMul", near, g.constant(block.whitening_ @ coef))


def contribution_columns(g: Graph, model: Any, parts: Contributions, X: str) -> str:
    """What the columns add to the score (see ``app.contributions``), in double precision."""
    if not isinstance(model, AdditiveModel):
        return g.wide().affine(g.wide().real_numbers(X), parts.weights.T, -parts.shift)
    owners = model.terms_.owners
    coef = np.zeros((len(owners), len(parts.names)))
    coef[:] = model.coef_[:, :1] * parts.weights[owners]
    Z = encoded_table(g, model.encoder_, X)
    g = g.wide()
    found = term_scores(g, model.terms_, Z, coef)
    return g.node("Sub", found, g.constant(model.means_ @ coef + parts.shift))


def softmax_probabilities(g: Graph, calibrator: Softmax, scores: str) -> str:
    """``Softmax.probability`` of scores in double precision."""
    if len(calibrator.offset) == 2:
        scores = g.node("MatMul", scores, g.constant([[-0.5, 0.5]]))
    inner = g.node("Mul", scores, g.constant(calibrator.slope))
    return g.node("Softmax", g.node("Add", inner, g.constant(calibrator.offset)), axis=1)
