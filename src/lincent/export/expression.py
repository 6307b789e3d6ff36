"""Describe a fitted model as an expression of its input columns.

Every model is described here once, as a tree of operations on matrices with one row per sample;
``onnx`` and ``code`` write the operations and know no models.  The operations:

    input, text           a column or matrix of numbers, a column of text
    one_of                indicators of the values of a text column
    missing, fill         indicators of missing numbers; constants in their place
    equal                 indicators of values, up to a tolerance
    affine, scale         x W + b; a x + b by column
    concat, take          columns side by side, some of the columns
    add, sub, mul, div    of two matrices, a single column counting for all
    clip, power, min      by entry; the smallest entry of each row
    exp, abs, sqrt, tanh, sigmoid, positive, softmax
    distances             squared Euclidean distances to points; with "l1" the sum of differences
    pairwise              coupled probabilities of pairs of classes

Scores of the binary problems of each model:

    linear          X coef' + intercept
    kernel          k(X, support) dual'
    local centers   X coef' + intercept + sum of coefficient * exp(-scale |x - c|^2)
    planes          the difference of the distances to two planes
    regressions     one per class; with two classes their difference
    additive, auto  shape functions and similarities of an encoded table

Every shape function of ``features.splines`` is a sum of pieces

    clip((z - at) * factor, low, high) ^ power,      power 1, 2 or 3

and, where a column has few values, of indicators [z = level].  So a linear function of all features
is one matrix product of the pieces.  A natural spline is cubic up to its last knot and continues
linearly: clipped cubes are bounded, and so nothing cancels far out.  With w_i = (k_q - k_i) / range
and c_i = clip((x - k_i) / range, 0, w_i)^3 its m-th basis function is

    c_m / w_m - c_(q-1) / w_(q-1) + 3 (w_m - w_(q-1)) / range * max(x - k_q, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.additive import AdditiveModel
from lincent.estimators.additive_problem import PAIR_TERMS, Curve, Terms
from lincent.estimators.auto import AutoLCC
from lincent.estimators.auto_candidates import COLUMNS
from lincent.estimators.calibration import JointCalibration, Softmax
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.threshold import Nearest, Threshold
from lincent.export.contributions import Contributions
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.features.splines import LEAST_SPREAD, IncreasingCurve
from lincent.sources.source import Kind, kind_of
from lincent.tables.encoder import TableEncoder, category_text

TABLE_MODELS = (AdditiveModel, AutoLCC)
KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
MOST_POINTS = 50_000  # training rows that a nearest-neighbor rule may compare with
LEVEL_TOLERANCE = 1e-3
"""A value is a level if it is closer than this fraction of the smallest distance of two levels: a
graph may be given columns that were scaled in single precision."""


@dataclass(frozen=True, eq=False)
class Expr:
    """An operation on matrices with one row per sample; ``data`` are its constants."""

    op: str
    args: tuple[Expr, ...] = ()
    data: Any = None

    def __add__(self, other: Expr) -> Expr:
        return Expr("add", (self, other))

    def __sub__(self, other: Expr) -> Expr:
        return Expr("sub", (self, other))

    def __mul__(self, other: Expr) -> Expr:
        return Expr("mul", (self, other))

    def __truediv__(self, other: Expr) -> Expr:
        return Expr("div", (self, other))

    def affine(self, weights: np.ndarray, constant: Any = 0.0) -> Expr:
        """Return x W + b."""
        return Expr("affine", (self,), (np.asarray(weights, dtype=np.float64), constant))

    def scale(self, factor: Any, constant: Any = 0.0) -> Expr:
        """Return a x + b, by column."""
        return Expr("scale", (self,), (factor, constant))

    def take(self, *columns: int) -> Expr:
        """Return some of the columns."""
        return Expr("take", (self,), list(columns))

    def clip(self, low: Any, high: Any) -> Expr:
        """Return the entries within bounds; infinite bounds are none."""
        return Expr("clip", (self,), (low, high))

    def apply(self, op: str, data: Any = None) -> Expr:
        """Return another operation of one argument."""
        return Expr(op, (self,), data)


def concat(*parts: Expr) -> Expr:
    """Return columns side by side."""
    return parts[0] if len(parts) == 1 else Expr("concat", parts)


# Tables.


def category_number(category: str) -> float | None:
    """Return the number that the encoder reads as this category, if there is one."""
    try:
        number = float(category)
    except ValueError:
        return None
    return number if category_text(number) == category else None


def check_numeric(model: Any) -> None:
    """Raise an error for categories that are text: the input is a matrix of numbers."""
    encoder: TableEncoder = getattr(model, "_encoder", model)
    for column in encoder.columns_:
        for category in column.categories or ():
            if category != encoder.missing_ and category_number(category) is None:
                raise AppError(
                    f"{type(model).__name__} reads the column {column.name!r} as words "
                    f"({category!r}), and its ONNX input is numbers: put a OneHotEncoder before "
                    "it in a pipeline, or use lincent fit and lincent export."
                )


def encoded(encoder: TableEncoder, columns: Sequence[Expr] | Expr, *, scaled: bool = False) -> Expr:
    """Describe ``TableEncoder.transform``; ``columns`` are one matrix, or numbers and text."""
    fills = np.array([column.fill for column in encoder.columns_])
    if isinstance(columns, Expr) and encoder.plain:
        Z = columns.apply("fill", fills)
    else:
        parts = []
        for j, column in enumerate(encoder.columns_):
            x = columns.take(j) if isinstance(columns, Expr) else columns[j]
            if column.categories is None:
                parts.append(x.apply("fill", fills[j]))
                if column.indicator:
                    parts.append(x.apply("missing"))
            elif x.op == "text":
                parts.append(x.apply("one_of", (column.categories, encoder.missing_)))
            else:
                parts += [
                    x.apply("missing")
                    if category == encoder.missing_
                    else x.apply("equal", (category_number(category), None))
                    for category in column.categories
                ]
        Z = concat(*parts)
    if scaled and encoder.scale:
        Z = Z.scale(1.0 / encoder.scale_, -encoder.center_ / encoder.scale_)
    return Z


def shape_functions(curves: Sequence[Curve], smoothing: float, Z: Expr, coef: np.ndarray) -> Expr:
    """Describe features(Z) coef, for coefficients of shape (features, outputs)."""
    ends = np.cumsum([0, *(curve.width for curve in curves)])
    constant = np.zeros(coef.shape[1])
    pieces: dict[int, list[tuple[tuple[float, ...], np.ndarray]]] = {1: [], 2: [], 3: []}
    levels: list[tuple[tuple[int, float, float], np.ndarray]] = []
    for column, curve in enumerate(curves):
        weights = coef[ends[column] : ends[column + 1]]
        # The first column stays whatever its weight: it gives the result its rows.
        if column > 0 and not np.any(weights):
            continue

        def add(power: int, at: float, factor: float, low: float, high: float, row: Any) -> None:
            pieces[power].append(((column, at, factor, low, high), row))  # noqa: B023

        if isinstance(curve, IncreasingCurve):
            # Integrated hat functions: over an interval of length s one rises by s u^2/2, the other
            # by the rest of s u, where u is the fraction of the interval.
            knots, size = curve.knots, curve.way / curve.scale * np.eye(curve.width) @ weights
            constant -= curve.centers @ size
            add(1, knots[0], 1.0, -np.inf, 0.0, size[0])
            add(1, knots[-1], 1.0, 0.0, np.inf, size[-1])
            for j, step in enumerate(np.diff(knots)):
                add(1, knots[j], 1.0 / step, 0.0, 1.0, step * size[j])
                add(2, knots[j], 1.0 / step, 0.0, 1.0, step / 2 * (size[j + 1] - size[j]))
            continue
        mean, deviation = curve.mean, curve.deviation
        slope = weights[0]
        if len(curve.levels):
            spread = np.sqrt(np.maximum(curve.shares, LEAST_SPREAD))
            near = LEVEL_TOLERANCE * float(np.diff(curve.levels).min())
            constant -= curve.shares / spread @ weights[1:]
            for level, row in zip(curve.levels, weights[1:] / spread[:, None], strict=True):
                levels.append(((column, float(level), near), row))
        elif curve.basis.shape[1]:
            knots, length = curve.knots, curve.knots[-1] - curve.knots[0]
            basis = curve.basis / np.sqrt(1.0 + smoothing * curve.roughness) @ weights[1:]
            constant += basis[0]
            slope = slope + basis[1]
            top = (knots[-1] - knots[:-1]) / length
            cubes = np.concatenate([basis[2:], -basis[2:].sum(axis=0)[None]]) / top[:, None]
            for knot, high, row in zip(knots, top, cubes, strict=False):
                add(3, mean + deviation * knot, 1.0 / (deviation * length), 0.0, high, row)
            end = 3.0 * (top[:-1] - top[-1]) / length @ basis[2:]
            add(1, mean + deviation * knots[-1], 1.0 / deviation, 0.0, np.inf, end)
        add(1, mean, 1.0 / deviation, -np.inf, np.inf, slope)
    parts = []
    for power, rows in pieces.items():
        if rows:
            column, at, factor, low, high = np.array([shape for shape, _ in rows]).T
            along = Z.take(*column.astype(int)).scale(factor, -at * factor).clip(low, high)
            raised = along if power == 1 else along.apply("power", power)
            parts.append(raised.affine(np.array([row for _, row in rows])))
    if levels:
        column, level, near = np.array([shape for shape, _ in levels]).T
        same = Z.take(*column.astype(int)).apply("equal", (level, near))
        parts.append(same.affine(np.array([row for _, row in levels])))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total.scale(1.0, constant)


def additive(terms: Terms, Z: Expr, coef: np.ndarray) -> Expr:
    """Describe terms(Z) coef: shape functions, and products of the features of pairs."""
    widths = [curve.width for curve in terms.curves]
    start = sum(widths)
    total = shape_functions(terms.curves, terms.smoothing, Z, coef[:start])
    owner = np.repeat(terms.sources, widths)

    def leading(column: int) -> tuple[Expr, int]:
        """Describe the first features of a column, clipped as ``additive_terms.products`` does."""
        mine = np.flatnonzero(owner == column)[:PAIR_TERMS]
        chosen = np.zeros((len(owner), len(mine)))
        chosen[mine, np.arange(len(mine))] = 1.0
        features = shape_functions(terms.curves, terms.smoothing, Z, chosen)
        return features.clip(-3.0, 3.0), len(mine)

    features = {column: leading(column) for column in {k for pair in terms.pairs for k in pair}}
    for first, second in terms.pairs:
        (left, width), (right, other) = features[first], features[second]
        weights = coef[start : start + width * other].reshape(width, other, -1)
        start += width * other
        # sum_ab left_a right_b w_ab = sum_a left_a (right w_a), for every output.
        for a, block in enumerate(weights):
            total = total + left.take(a) * right.affine(block)
    return total


# Scores of the binary problems.


def check_scores(model: Any) -> None:
    """Raise an error for a score that has no description."""
    if isinstance(model, KernelLCC) and model.kernel not in KERNELS:
        name = getattr(model.kernel, "__name__", model.kernel)
        raise AppError(f"kernel={name!r} has no ONNX form: use one of {', '.join(KERNELS)}.")
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


def problem_scores(model: Any, X: Expr) -> Expr:
    """Describe the scores of the binary problems, one column for each."""
    check_scores(model)
    if isinstance(model, AutoLCC):
        return _auto_scores(model, encoded(model._encoder, X))
    if isinstance(model, AdditiveModel):
        scores = additive(model._terms, encoded(model._encoder, X), model._coef)
        # The model's intercept is that of centered terms.
        return scores.scale(1.0, model._intercept - model._means @ model._coef)
    if hasattr(model, "local_centers_"):
        return _local_scores(model, X)
    if hasattr(model, "plane_coef_"):  # twin support vector machines
        norms = np.linalg.norm(model.plane_coef_, axis=2)
        norms[norms == 0] = 1.0
        distances = [
            X.affine(
                (model.plane_coef_[:, side] / norms[:, side, None]).T,
                model.plane_intercept_[:, side] / norms[:, side],
            ).apply("abs")
            for side in (0, 1)
        ]
        return distances[0] - distances[1]
    if type(model).__name__ in ("DiscriminativeElasticNet", "DiscriminativeLeastSquares"):
        return _regression_scores(model, X)  # one regression for each class
    if isinstance(model, KernelLCC):
        X, weights, intercept = _kernel(model, X), model.dual_coef_, model._intercept
    else:
        weights, intercept = model.coef_, model.intercept_
    rules = vars(model).get("_rules", [])
    if all(isinstance(rule, Threshold) for rule in rules):
        return X.affine(weights.T, intercept)
    line = X.affine(weights.T)
    return concat(*(_nearest_score(rule, line.take(k)) for k, rule in enumerate(rules)))


def _nearest_score(rule: Nearest, line: Expr) -> Expr:
    away = [
        line.apply("distances", (points[:, None], "l1")).apply("min")
        for points in (rule.negative, rule.positive)
    ]
    return (away[0] - away[1]).scale(1.0, -rule.shift)


def _kernel(model: KernelLCC, X: Expr) -> Expr:
    """Describe k(X, support vectors)."""
    if model.kernel == "precomputed":
        return X.take(*model.support_)
    Z = model.support_vectors_
    Z = np.asarray(Z.toarray() if kind_of(Z) is Kind.SPARSE else Z, dtype=np.float64)
    if model.kernel in ("rbf", "laplacian"):
        norm = "l2" if model.kernel == "rbf" else "l1"
        return X.apply("distances", (Z, norm)).scale(-model.gamma_).apply("exp")
    if model.kernel == "linear":
        return X.affine(Z.T)
    inner = X.affine(model.gamma_ * Z.T, model.coef0)
    if model.kernel == "sigmoid":
        return inner.apply("tanh")
    return inner.apply("power", float(model.degree))


def _local_scores(model: Any, X: Expr) -> Expr:
    if isinstance(model, StructuredLCC):
        scales = np.full((1, len(model.local_centers_)), model.gamma / model._variance)
        coefs = model.local_coef_[:, None, :]
    else:
        scales, coefs = model._scales, model.local_coef_
    score = X.affine(model._coef.T, model._intercept)
    distances = X.apply("distances", (model.local_centers_, "l2"))
    for k, scale in enumerate(scales):
        score = score + distances.scale(-scale).apply("exp").affine(coefs[:, k].T)
    return score


def _regression_scores(model: Any, X: Expr) -> Expr:
    if hasattr(model, "mean_"):
        outputs = X.affine(model.coef_.T, -model.mean_ @ model.coef_.T)
    else:
        outputs = X.affine(model.coef_.T, model.intercept_)
    if getattr(model, "discriminator", None) == "1nn":
        away = [
            outputs.apply("distances", (model.images_[model._codes == k], "l2"))
            for k in range(len(model.classes_))
        ]
        outputs = concat(*(x.apply("min").apply("sqrt").scale(-1.0) for x in away))
    return outputs if len(model.classes_) > 2 else outputs.take(1) - outputs.take(0)


def _auto_scores(model: AutoLCC, Z: Expr) -> Expr:
    """Describe the features of each block times their coefficients."""
    Z = Z.scale(1.0 / model._scale, -model._center / model._scale)
    parts = []
    for name, coef in model._coef.items():
        factors = model._factors.get(name.split()[0])
        seen = Z if factors is None else Z.scale(factors)
        block: Any = model._blocks.get(name)
        if name == COLUMNS:
            parts.append(seen.affine(coef))
        elif isinstance(block, SplineFeatures):
            parts.append(shape_functions(block.curves_, block.smoothing, seen, coef))
        else:
            if not isinstance(block, LocalCenters | KernelLandmarks):
                raise AppError(
                    "An AutoLCC with feature maps of its own cannot be exported: fit it without "
                    "feature_maps, or keep the fitted estimator (joblib.dump)."
                )
            points = block.centers_ if isinstance(block, LocalCenters) else block.landmarks_
            distances = seen.apply("distances", (points, "l2"))
            near = distances.scale(-block.gamma / block.variance_).apply("exp")
            parts.append(near.affine(block.whitening_ @ coef))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total.scale(1.0, model._intercept)


# From scores to classes and probabilities.


def has_pairs(model: Any) -> bool:
    """Return whether a classifier has one score for each pair of its classes."""
    return len(model.classes_) > 2 and getattr(model, "multi_class", "ovr") == "ovo"


def has_probabilities(model: Any) -> bool:
    """Return whether a classifier was fitted with probabilities."""
    return isinstance(model, AutoLCC) or getattr(model, "probability", None) is not None


def class_scores(model: Any, scores: Expr) -> Expr:
    """Describe ``decision_function``: one column for two classes, else one for each class."""
    return votes(scores, len(model.classes_)) if has_pairs(model) else scores


def votes(scores: Expr, classes: int) -> Expr:
    """Describe votes, and the summed scores squeezed below half a vote (see ``multiclass``)."""
    pairs = list(combinations(range(classes), 2))
    first, second = np.zeros((2, len(pairs), classes))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1.0
    won = scores.apply("positive").affine(second - first, first.sum(axis=0))
    sums = scores.affine(second - first)
    return won + sums / sums.apply("abs").scale(3.0, 3.0)


def probabilities(model: Any, scores: Expr) -> Expr:
    """Describe ``predict_proba`` from the scores of the binary problems."""
    if isinstance(model, AutoLCC):
        return _softmax(model._calibration, scores)
    calibration = model._calibration
    if isinstance(calibration, JointCalibration):
        scores = scores.scale(1.0 / calibration.scale)
        if has_pairs(model):
            scores = votes(scores, len(model.classes_))
        return _softmax(calibration.softmax, scores)
    columns = [_calibrated(part, scores.take(k)) for k, part in enumerate(calibration.parts)]
    if len(columns) == 1:
        return concat(columns[0].scale(-1.0, 1.0), columns[0])
    together = concat(*columns)
    if calibration.strategy == "ovo":
        return together.apply("pairwise", calibration.n_classes)
    # Where all are zero, all are equal.
    total = together.affine(np.ones((len(columns), 1)))
    empty = total.apply("positive").scale(-1.0, 1.0)
    ones = np.ones((1, len(columns)))
    return (together + empty.affine(ones)) / (total + empty.scale(float(len(columns))))


def _softmax(calibrator: Softmax, scores: Expr) -> Expr:
    if len(calibrator.offset) == 2:
        scores = scores.affine(np.array([[-0.5, 0.5]]))
    return scores.scale(calibrator.slope, calibrator.offset).apply("softmax")


def _calibrated(calibrator: Any, score: Expr) -> Expr:
    # A piecewise linear curve: the first height and a clipped ramp for each interval.
    at, height = calibrator.at, calibrator.height
    if len(at) == 1:
        return score.scale(0.0, height[0])
    width = np.diff(at)
    u = score.affine(np.full((1, len(width)), 1.0 / calibrator.scale))
    ramps = u.scale(1.0 / width, -at[:-1] / width).clip(0.0, 1.0)
    return ramps.affine(np.diff(height)[:, None], height[0])


def contributions(model: Any, parts: Contributions, X: Expr) -> Expr:
    """Describe what each column adds to the score (see ``contributions``)."""
    if not isinstance(model, AdditiveModel):
        return X.affine(parts.weights, -parts.shift)
    owners = model._terms.owners
    coef = np.zeros((len(owners), len(parts.names)))
    coef[:] = model._coef[:, :1] * parts.weights[owners]
    Z = encoded(model._encoder, X)
    return additive(model._terms, Z, coef).scale(1.0, -(model._means @ coef + parts.shift))


class NotAffine(ValueError):
    """An expression is not an affine function of filled numbers and indicators."""


Atom = tuple[str, str, Any]
"""Column, operation (fill, missing or is) and value: a single column of numbers."""


def affine_form(expr: Expr) -> tuple[list[Atom], np.ndarray, np.ndarray]:
    """Return atoms, weights W and constants b with expr = atoms W + b."""
    op, data = expr.op, expr.data
    if op in ("fill", "missing", "one_of"):
        [x] = expr.args
        if x.op not in ("input", "text"):
            raise NotAffine(x.op)
        values = list(data[0]) if op == "one_of" else [data]
        atoms: list[Atom] = [(x.data, "is" if op == "one_of" else op, value) for value in values]
        return atoms, np.eye(len(atoms)), np.zeros(len(atoms))
    if op not in ("affine", "scale", "take", "concat", "add", "sub"):
        raise NotAffine(op)
    forms = [affine_form(arg) for arg in expr.args]
    atoms, weights, constant = forms[0]
    if op == "affine":
        return atoms, weights @ data[0], constant @ data[0] + data[1]
    if op == "scale":
        return atoms, weights * data[0], constant * data[0] + data[1]
    if op == "take":
        return atoms, weights[:, data], constant[data]
    merged = list(dict.fromkeys(atom for atoms, _, _ in forms for atom in atoms))
    parts = []
    for atoms, weights, constant in forms:
        rows = np.zeros((len(merged) + 1, weights.shape[1]))
        rows[[merged.index(atom) for atom in atoms]] = weights
        rows[-1] = constant
        parts.append(rows)
    if op == "concat":
        rows = np.hstack(parts)
    else:
        rows = parts[0] + parts[1] if op == "add" else parts[0] - parts[1]
    return merged, rows[:-1], rows[-1]
