"""Describe a fitted model as an expression of its input columns.

Every model is described here once, as a graph of operations on matrices with one row per sample.
``evaluate`` computes those of encoded rows with NumPy; ``export.onnx``, ``export.sql``,
``export.evaluator`` and the script of ``report.model_report`` compute all of them, and none of
these knows models.  The operations, with their constants:

    input, text           name: a column or matrix of numbers, a column of text
    one_of                (values, missing, tokens): indicators of the values of a text column; a
                          missing cell and one of the tokens have the value ``missing``
    missing, fill         indicators of missing numbers; values in their place
    equal                 (values, tolerance): indicators of values
    affine, scale         (W, b): x W + b; (a, b): a x + b by column
    concat, take          columns side by side; some of the columns
    add, mul              of two matrices, a single column counting for all
    clip, power           (low, high); exponent
    exp, abs, positive, softmax
    distances             (points, norm): squared Euclidean distances; with "l1" sums of differences
    trees                 (values, roots, feature, threshold, left, right): the sum over all trees
                          of the values of the leaf that a row reaches; it goes left where its
                          feature is at most the threshold, and a leaf has left = right = itself
    shapley, tree_shapley Shapley values of a sum of products, of leaves (see ``attribution``)

As plain data (``plain_nodes``; JSON holds it) a graph is a list of nodes [operation, positions of
the arguments in the list, constants], arguments before their node; arrays are nested lists, a
constant by column is a list or a number for all, and None is no bound.

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

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from lincent._errors import AppError
from lincent.estimators.additive import BOUND, LEADING, AdditiveModel, Curve, Terms
from lincent.estimators.auto import AutoLCC
from lincent.estimators.auto_candidates import COLUMNS
from lincent.estimators.base import binary_coefficients, has_pairs
from lincent.estimators.calibration import LEAK
from lincent.estimators.kernel import KERNELS, KernelLCC
from lincent.estimators.tabular import TableClassifier
from lincent.features import SplineFeatures, TreeLeaves
from lincent.features.similarity import RBFFeatures
from lincent.features.splines import LEAST_SPREAD, RANKED, ColumnCurve, IncreasingCurve
from lincent.features.tree_leaves import Trees
from lincent.sources.source import Kind, kind_of
from lincent.tables.encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class Expr:
    """An operation on matrices with one row per sample; ``data`` are its constants."""

    op: str
    args: tuple[Expr, ...] = ()
    data: Any = None

    def __add__(self, other: Expr) -> Expr:
        return Expr("add", (self, other))

    def __sub__(self, other: Expr) -> Expr:
        return self + other.scale(-1.0)

    def __mul__(self, other: Expr) -> Expr:
        return Expr("mul", (self, other))

    def __truediv__(self, other: Expr) -> Expr:
        return self * other.apply("power", -1.0)

    def affine(self, weights: np.ndarray, constant: Any = 0.0) -> Expr:
        """Return x W + b."""
        return Expr("affine", (self,), (np.asarray(weights, dtype=np.float64), constant))

    def scale(self, factor: Any, constant: Any = 0.0) -> Expr:
        """Return a x + b, by column."""
        return Expr("scale", (self,), (factor, constant))

    def standardize(self, center: Any, scale: Any) -> Expr:
        """Return (x - center) / scale; the difference of large numbers is exact."""
        return self.scale(1.0, -np.asarray(center)).scale(1.0 / np.asarray(scale))

    def take(self, *columns: int) -> Expr:
        """Return some of the columns."""
        return Expr("take", (self,), [int(column) for column in columns])

    def clip(self, low: Any, high: Any) -> Expr:
        """Return the entries within bounds; infinite bounds are none."""
        return Expr("clip", (self,), (low, high))

    def is_affine(self) -> bool:
        """Return whether this is an affine function of its inputs."""
        ops = ("input", "affine", "scale", "take", "add")
        return self.op in ops and all(arg.is_affine() for arg in self.args)

    def apply(self, op: str, data: Any = None) -> Expr:
        """Return another operation of one argument."""
        return Expr(op, (self,), data)


def concat(*parts: Expr) -> Expr:
    """Return columns side by side."""
    return parts[0] if len(parts) == 1 else Expr("concat", parts)


def add_up(parts: Iterable[Expr]) -> Expr:
    """Return the sum of expressions."""
    return reduce(add, parts)


def fold(expr: Expr, visit: Callable[[Expr, list[Any]], Any], known: dict[Expr, Any]) -> Any:
    """Return ``visit(node, values of its arguments)`` for the last node, visiting each once."""
    if expr not in known:
        known[expr] = visit(expr, [fold(arg, visit, known) for arg in expr.args])
    return known[expr]


# Tables.


def encoded(
    encoder: TableEncoder,
    columns: Sequence[Expr] | Expr,
    tokens: Mapping[str, list[str]] | None = None,
) -> Expr:
    """Describe ``TableEncoder.transform``; ``columns`` are one matrix, or numbers and text.

    ``tokens`` are the cells of each column that mean missing, such as NA.
    """
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
            elif x.op != "text":
                raise AppError(
                    f"The column {column.name!r} is read as categories, and the input of this "
                    "export is numbers: put a OneHotEncoder before the classifier in a pipeline, "
                    "or use lincent fit and lincent export."
                )
            else:
                cells = (tokens or {}).get(column.name, [])
                parts.append(x.apply("one_of", (list(column.categories), encoder.missing_, cells)))
        Z = concat(*parts)
    return Z.standardize(encoder.center_, encoder.scale_) if encoder.scale else Z


def own_encoding(model: Any, X: Expr) -> Expr:
    """Describe the columns that a classifier computes with; those of tables encode them first."""
    if not isinstance(model, TableClassifier):
        return X
    used = X.take(*model._used) if len(model._used) < model.n_features_in_ else X
    return encoded(model._encoder, used)


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

        def piece(power: int, at: float, factor: float, low: float, high: float, row: Any) -> None:
            pieces[power].append(((column, at, factor, low, high), row))  # noqa: B023

        if isinstance(curve, IncreasingCurve):
            # Integrated hat functions: over an interval of length s one rises by s u^2/2, the other
            # by the rest of s u, where u is the fraction of the interval.
            knots, size = curve.knots, curve.way / curve.scale * np.eye(curve.width) @ weights
            constant -= curve.centers @ size
            piece(1, knots[0], 1.0, -np.inf, 0.0, size[0])
            piece(1, knots[-1], 1.0, 0.0, np.inf, size[-1])
            for j, step in enumerate(np.diff(knots)):
                piece(1, knots[j], 1.0 / step, 0.0, 1.0, step * size[j])
                piece(2, knots[j], 1.0 / step, 0.0, 1.0, step / 2 * (size[j + 1] - size[j]))
            continue
        mean, deviation = curve.mean, curve.deviation
        slope = weights[0]
        if len(curve.levels):
            spread = np.sqrt(np.maximum(curve.shares, LEAST_SPREAD))
            constant -= curve.shares / spread @ weights[1:]
            for level, row in zip(curve.levels, weights[1:] / spread[:, None], strict=True):
                levels.append(((column, float(level), curve.level_distance), row))
        elif curve.basis.shape[1]:
            knots, length = curve.knots, curve.knots[-1] - curve.knots[0]
            basis = curve.basis / np.sqrt(1.0 + smoothing * curve.roughness) @ weights[1:]
            constant += basis[0]
            slope = slope + basis[1]
            top = (knots[-1] - knots[:-1]) / length
            cubes = np.concatenate([basis[2:], -basis[2:].sum(axis=0)[None]]) / top[:, None]
            for knot, high, row in zip(knots, top, cubes, strict=False):
                piece(3, mean + deviation * knot, 1.0 / (deviation * length), 0.0, high, row)
            end = 3.0 * (top[:-1] - top[-1]) / length @ basis[2:]
            piece(1, mean + deviation * knots[-1], 1.0 / deviation, 0.0, np.inf, end)
        piece(1, mean, 1.0 / deviation, -np.inf, np.inf, slope)
    parts = []
    for power, rows in pieces.items():
        if rows:
            column, at, factor, low, high = np.array([shape for shape, _ in rows]).T
            along = Z.take(*column.astype(int)).scale(1.0, -at).scale(factor).clip(low, high)
            raised = along if power == 1 else along.apply("power", power)
            parts.append(raised.affine(np.array([row for _, row in rows])))
    if levels:
        column, level, near = np.array([shape for shape, _ in levels]).T
        same = Z.take(*column.astype(int)).apply("equal", (level, near))
        parts.append(same.affine(np.array([row for _, row in levels])))
    return add_up(parts).scale(1.0, constant)


def equalized(curves: Sequence[Curve], Z: Expr) -> Expr:
    """Describe ``ColumnCurve.equalized`` of all columns."""
    columns = [Z.take(j) for j in range(len(curves))]
    for j, curve in enumerate(curves):
        if isinstance(curve, ColumnCurve) and curve.ranks.size:
            low, high, rise = curve.ranks
            steps = Z.take(*[j] * len(low)).standardize(low, high - low).clip(0.0, 1.0)
            columns[j] = columns[j].scale(1.0 - RANKED) + steps.affine(rise[:, None])
    return concat(*columns)


def additive(terms: Terms, Z: Expr, coef: np.ndarray) -> Expr:
    """Describe terms(Z) coef: shape functions, and products of the features of pairs."""
    Z = equalized(terms.curves, Z)
    owner = np.repeat(terms.sources, [curve.width for curve in terms.curves])
    parts = [shape_functions(terms.curves, terms.smoothing, Z, coef[: len(owner)])]
    factors: dict[int, tuple[Expr, int]] = {}  # the features of a column in products
    for column in {k for pair in terms.pairs for k in pair}:
        chosen = np.eye(len(owner))[:, np.flatnonzero(owner == column)[:LEADING]]
        features = shape_functions(terms.curves, terms.smoothing, Z, chosen)
        factors[column] = features.clip(-BOUND, BOUND), chosen.shape[1]
    end = len(owner)
    for j, k in terms.pairs:  # sum_ab left_a right_b w_ab = sum_a left_a (right w_a)
        (left, width), (right, other) = factors[j], factors[k]
        start, end = end, end + width * other
        for a, weights in enumerate(coef[start:end].reshape(width, other, -1)):
            parts.append(left.take(a) * right.affine(weights))
    return add_up(parts)


def tree_scores(trees: Trees, Z: Expr, values: np.ndarray) -> Expr:
    """Describe the sum over trees of the values of the leaves, of shape (leaves, outputs)."""
    leaf = trees.column >= 0
    by_node = np.zeros((len(leaf), values.shape[1]))
    by_node[leaf] = values[trees.column[leaf]]
    nodes = trees.roots, trees.feature, trees.threshold, trees.left, trees.left + ~leaf
    return Z.apply("trees", (by_node, *nodes))


# Scores of the binary problems.


def check_scores(model: Any) -> None:
    """Raise an error for a score that has no description."""
    if isinstance(model, KernelLCC) and model.kernel not in KERNELS:
        name = getattr(model.kernel, "__name__", model.kernel)
        raise AppError(f"kernel={name!r} cannot be exported: use one of {', '.join(KERNELS)}.")
    rule = getattr(model, "discriminator", None)
    if rule in ("nearest", "1nn"):
        raise AppError(
            f"{type(model).__name__} compares each row with all training rows and cannot be "
            f"exported: fit it with another discriminator than {rule!r}."
        )


def problem_scores(model: Any, X: Expr) -> Expr:
    """Describe the scores of the binary problems, one column for each."""
    check_scores(model)
    X = own_encoding(model, X)
    if isinstance(model, AutoLCC):
        blocks = (block_scores(*block) for block in auto_blocks(model, X))
        return add_up(blocks).scale(1.0, model._intercept)
    if isinstance(model, AdditiveModel):
        # The model's intercept is that of centered terms.
        intercept = model._intercept - model._means @ model._coef
        return additive(model._terms, X, model._coef).scale(1.0, intercept)
    if hasattr(model, "local_centers_"):
        squared = X.apply("distances", (model.local_centers_, "l2"))
        _, scales, coef = model._local_model()
        similar = [squared.scale(-scale).apply("exp") for scale in scales]
        local = [similarity.affine(coef[:, k].T) for k, similarity in enumerate(similar)]
        return add_up([X.affine(model._coef.T, model._intercept), *local])
    if hasattr(model, "plane_coef_"):  # twin support vector machines
        norms = np.linalg.norm(model.plane_coef_, axis=2)
        norms[norms == 0] = 1.0
        coef, intercept = model.plane_coef_ / norms[:, :, None], model.plane_intercept_ / norms
        first, second = (X.affine(coef[:, k].T, intercept[:, k]).apply("abs") for k in (0, 1))
        return first - second
    if type(model).__name__ in ("DiscriminativeElasticNet", "DiscriminativeLeastSquares"):
        outputs = X.affine(model.coef_.T, model.intercept_)  # one regression for each class
        return outputs if len(model.classes_) > 2 else outputs.take(1) - outputs.take(0)
    if isinstance(model, KernelLCC):
        X, weights, intercept = _kernel(model, X), model.dual_coef_, model._intercept
    else:
        weights, intercept = binary_coefficients(model)
    return X.affine(weights.T, intercept)


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
        # tanh(x) = 2 / (1 + exp(-2 x)) - 1
        exps = inner.scale(-2.0).clip(-700.0, 700.0).apply("exp")
        return exps.scale(1.0, 1.0).apply("power", -1.0).scale(2.0, -1.0)
    return inner.apply("power", float(model.degree))


def block_scores(seen: Expr, block: Any, coef: np.ndarray) -> Expr:
    """Describe the features of a block of AutoLCC times their coefficients."""
    if block is None:
        return seen.affine(coef)
    if isinstance(block, SplineFeatures):
        return shape_functions(block.curves_, block.smoothing, seen, coef)
    if isinstance(block, RBFFeatures):
        distances = seen.apply("distances", (block._points(), "l2"))
        similarities = distances.scale(-block.gamma / block.variance_).apply("exp")
        return similarities.affine(block.whitening_ @ coef)
    if isinstance(block, TreeLeaves):
        return tree_scores(block.trees_, seen, coef / np.sqrt(len(block.n_leaves_)))
    raise AppError(
        "An AutoLCC with feature maps of its own cannot be exported: fit it without feature_maps, "
        "or keep the fitted estimator (joblib.dump)."
    )


def auto_blocks(model: AutoLCC, Z: Expr) -> list[tuple[Expr, Any, np.ndarray]]:
    """Return the scaled columns, the feature map (None: the columns) and the coefficients."""
    Z = Z.standardize(model._center, model._scale)
    blocks = []
    for name, coef in model._coef.items():
        factors = model._factors.get(name.split()[0])
        seen = Z if factors is None else Z.scale(factors)
        blocks.append((seen, None if name == COLUMNS else model._blocks[name], coef))
    return blocks


# From scores to classes and probabilities.


def classifier_outputs(model: Any, X: Expr) -> dict[str, Expr | None]:
    """Describe ``decision_function`` and ``predict_proba`` (None if there is none)."""
    scores = problem_scores(model, X)
    shifted = scores.scale(1.0, model._shift) if isinstance(model, AutoLCC) else scores
    shares = probabilities(model, scores) if hasattr(model, "predict_proba") else None
    return {"score": class_scores(model, shifted), "probability": shares}


def class_scores(model: Any, scores: Expr) -> Expr:
    """Describe ``decision_function``: one column for two classes, else one for each class.

    Pairs of classes vote, with the summed scores below half a vote (``problem.combine_scores``).
    """
    if not has_pairs(model):
        return scores
    n_classes = len(model.classes_)
    first, second = (np.eye(n_classes)[of_pairs] for of_pairs in np.triu_indices(n_classes, 1))
    won = scores.apply("positive").affine(second - first, first.sum(axis=0))
    sums = scores.affine(second - first)
    return won + sums / sums.apply("abs").scale(3.0, 3.0)


def probabilities(model: Any, scores: Expr) -> Expr:
    """Describe ``predict_proba`` from the scores of the binary problems."""
    softmax = model._calibration
    if not isinstance(model, AutoLCC):
        scores = class_scores(model, scores.scale(1.0 / softmax.scale))
        softmax = softmax.softmax
    clipped = scores.clip(softmax.low, softmax.high)
    scores = clipped.scale(1.0 - LEAK) + scores.scale(LEAK)
    if len(softmax.offset) == 2:
        scores = scores.affine(np.array([[-0.5, 0.5]]))
    p = scores.scale(softmax.slope, softmax.offset).apply("softmax")
    return p.scale(1.0 - softmax.floor.sum(), softmax.floor)


# Values: scores and contributions of encoded rows.

CDIST = {"l1": "cityblock", "l2": "sqeuclidean"}
FUNCTIONS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "exp": np.exp,
    "abs": np.abs,
    "positive": lambda x: x > 0,
    "concat": lambda *parts: np.concatenate(parts, axis=1),
    "take": lambda x, data: x[:, data],
    "affine": lambda x, data: x @ data[0] + data[1],
    "scale": lambda x, data: x * data[0] + data[1],
    "clip": lambda x, data: np.clip(x, *data),
    "power": np.power,
    "fill": lambda x, data: np.where(np.isnan(x), data, x),
    "distances": lambda x, data: cdist(x, data[0], CDIST[data[1]]),
    "tree_shapley": lambda x, game: game.values(x),
    "trees": lambda x, data: _tree_values(x, data),
    "shapley": lambda *arguments: shapley_values(*arguments),
    "equal": lambda x, data: np.abs(x - data[0]) <= data[1],
}


def _tree_values(x: np.ndarray, data: Any) -> np.ndarray:
    values, roots, feature, threshold, left, right = (np.asarray(array) for array in data)
    nodes, rows = np.tile(roots, (len(x), 1)), np.arange(len(x))[:, None]
    while np.any(left[nodes] != nodes):
        below = x[rows, feature[nodes]] <= threshold[nodes]
        nodes = np.where(below, left[nodes], right[nodes])
    return np.asarray(values[nodes].sum(axis=1))


def plain_nodes(outputs: Mapping[str, Expr | None]) -> dict[str, Any]:
    """Return expressions as plain data: a list of nodes, and the position of each output."""
    nodes: list[list[Any]] = []
    places: dict[str, int] = {}
    known: dict[Expr, int] = {}

    def place(node: Expr, args: list[int]) -> int:
        shapley = node.op == "tree_shapley"
        data = node.data.plain() if shapley else plain_value(node.data, bound=node.op == "clip")
        text = repr((node.op, args, data))  # equal parts of a model are described once
        if text not in places:
            places[text] = len(nodes)
            nodes.append([node.op, args, data])
        return places[text]

    named = {name: expr and fold(expr, place, known) for name, expr in outputs.items()}
    return {**named, "nodes": nodes}


def plain_value(value: Any, *, bound: bool = False) -> Any:
    """Return constants as plain data; infinite bounds are None."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in "fiu" and np.isfinite(value).all():
            return value.tolist()
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_value(entry, bound=bound) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        if not bound:
            raise AppError("The model has a number that is not finite and cannot be exported.")
        return None
    if type(value) not in (type(None), bool, int, float, str) or "\0" in str(value):
        raise AppError(f"The model has the name {ascii(value)[:60]}, which cannot be exported.")
    return value


def evaluate(expr: Expr, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the value of an expression, one row per sample, for inputs by name."""

    def value(node: Expr, args: list[np.ndarray]) -> np.ndarray:
        if node.op == "input":
            return inputs[node.data]
        return np.asarray(FUNCTIONS[node.op](*args, *(() if node.data is None else (node.data,))))

    return np.asarray(fold(expr, value, {}), dtype=np.float64)


def substitute(expr: Expr, name: str, other: Expr) -> Expr:
    """Return an expression with another one in place of an input."""

    def copied(node: Expr, args: list[Expr]) -> Expr:
        is_input = node.op == "input" and node.data == name
        return other if is_input else Expr(node.op, tuple(args), node.data)

    result: Expr = fold(expr, copied, {})
    return result


def shapley_values(*arguments: Any) -> np.ndarray:
    """Return (n_samples, n_columns * n_outputs) Shapley values of products over columns.

    The arguments are the factors of each column, of shape (n_samples, n_terms), and (means, coef,
    nodes, weights).
    """
    *factors, (means, coef, nodes, weights) = arguments
    values = product_game(np.stack(factors), means[:, None], nodes, weights)
    return np.asarray((values @ coef).transpose(1, 0, 2).reshape(values.shape[1], -1))


def product_game(
    factors: np.ndarray, means: np.ndarray, nodes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the Shapley value of each factor of products over the first axis.

    The game of a row x is prod_(j in S) a_j(x) prod_(j not in S) m_j, where m_j is the mean of a_j
    over the background.  With the multilinear extension (Owen 1972) the value of column j is the
    integral over u from 0 to 1 of

        (a_j - m_j) prod_(l != j) (u a_l + (1 - u) m_l),

    a polynomial of u, which Gauss's quadrature integrates without error if it has half as many
    nodes as there are columns.
    """
    change = factors - means
    values, before = np.zeros_like(change), np.ones_like(change)
    for node, weight in zip(nodes, weights, strict=True):
        mixed = node * change + means
        before[0] = 1.0
        for j in range(1, len(mixed)):
            np.multiply(before[j - 1], mixed[j - 1], out=before[j])
        after = np.full_like(mixed[0], weight)
        for j in range(len(mixed) - 1, -1, -1):
            values[j] += before[j] * after
            after *= mixed[j]
    values *= change
    return values


def gauss_nodes(n_columns: int, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of ``product_game``, at most so many."""
    count = (n_columns + 1) // 2
    nodes, weights = np.polynomial.legendre.leggauss(min(count, most or count))
    return (nodes + 1) / 2, weights / 2
