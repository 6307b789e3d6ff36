"""Contributions: what each column adds to the score of a row.

    score = base + sum over columns of contribution.

They are Shapley values of the game in which the columns outside a set are drawn independently, each
from its values in the background (the training rows), so ``base`` is the mean score of such draws.

    linear, splines    coef (x - mean), f(x) - mean f: exact
    additive models    shape functions and, as one entry, pairs of columns: exact
    Gaussian kernels   exp(-g |x - c|^2) is a product over columns: exact, by quadrature
                       (``expression.product_game``)
    leaves of trees    a leaf is a box, a product over the columns on its path: exact, the same way
    others             sampled: columns change from a draw to the row in a random order and its
                       reverse; the standard error is over these pairs of orders.  The contributions
                       still add up to the score, with the base of the same draws

AutoLCC is a sum of such parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent._errors import AppError
from lincent.estimators.additive import AdditiveModel
from lincent.estimators.auto import AutoLCC
from lincent.estimators.tabular import TableClassifier
from lincent.inspection.displays import classifier_of, last_step, names_of
from lincent.inspection.expression import (
    Expr,
    add_up,
    additive,
    auto_blocks,
    block_scores,
    class_scores,
    evaluate,
    fold,
    gauss_nodes,
    problem_scores,
    product_game,
)

ROWS = "rows"
N_ORDERS = 32


@dataclass(frozen=True)
class Contributions:
    """What columns add to the scores of some rows.

    Attributes
    ----------
    names : tuple of str
        Columns, and pairs of columns joined by " & ".
    base : ndarray of shape (n_outputs,)
        The score of the average row.
    values : ndarray of shape (n_rows, n_names) or (n_rows, n_names, n_classes)
        Contributions; ``base`` and their sum over the names are ``decision_function``.
    standard_error : ndarray or None
        Of sampled values, in the shape of ``values``; None where they are exact.
    """

    names: tuple[str, ...]
    base: np.ndarray
    values: np.ndarray
    standard_error: np.ndarray | None = None


def contributions(
    estimator: Any, X: Any, *, background: Any = None, random_state: int = 0
) -> Contributions:
    """Compute what each column adds to the score of each row.

    Parameters
    ----------
    estimator : classifier or pipeline
        A fitted classifier with ``decision_function``, of this package or another.
    X : array-like or data frame of shape (n_rows, n_columns)
        Rows to explain.
    background : array-like or data frame of shape (n_background, n_columns), default=None
        Rows that contributions compare with. None is what the estimator keeps of its training
        rows (AutoLCC, AdditiveLCC), else X.
    random_state : int, default=0
        Seeds what is sampled.

    Returns
    -------
    Contributions
        Exact for linear and additive models and for Gaussian kernels, else sampled, with a standard
        error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent import AutoLCC
    >>> from lincent.inspection import contributions
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoLCC().fit(X, y)
    >>> parts = contributions(model, X[:3])
    >>> parts.values.shape  # rows, columns, classes
    (3, 4, 3)
    >>> gaps = parts.values.sum(axis=1) + parts.base - model.decision_function(X[:3])
    >>> bool(abs(gaps).max() < 1e-6)
    True
    """
    model = classifier_of(estimator)
    tables = [X] if background is None else [X, background]
    tables = [last_step(estimator, table)[1] for table in tables]
    names = names_of(tables[0], tables[0].shape[1])
    if isinstance(model, TableClassifier):
        tables = [model._encoder.encode(model._named(table)) for table in tables]
        names = [names[source] for source in model._sources]
    rows, *given = (np.asarray(table, dtype=np.float64) for table in tables)
    background = given[0] if given else getattr(model, "_reference", rows)
    return Explainer(model, names, background, random_state=random_state).explain(rows)


class Explainer:
    """How the score of a classifier, divided by ``scale``, is a sum over its columns.

    ``exact`` describes the contributions of the encoded rows (the input ``ROWS``): a column for
    each name and output; ``rest`` are functions that compute the scores which it does not contain,
    to be divided by the scale.

    ``owners`` are the names of the encoded columns; ``means`` their means over all training rows,
    of which the background are some.
    """

    def __init__(
        self,
        model: Any,
        owners: Sequence[str],
        background: np.ndarray,
        means: np.ndarray | None = None,
        scale: float = 1.0,
        random_state: int = 0,
    ) -> None:
        self.names = tuple(dict.fromkeys(owners))
        self.background, self.means = background, means
        self.scale, self.random_state = scale, random_state
        self.index = np.array([self.names.index(owner) for owner in owners])
        self.groups = [np.flatnonzero(self.index == k) for k in range(len(self.names))]
        self.base: Any = 0.0
        self.parts: list[Expr] = []
        self.rest: list[Callable[..., np.ndarray]] = []
        self.known: dict[Expr, np.ndarray] = {}
        self.product_size = 0  # the largest number of factors of products over columns
        X = Expr("input", (), ROWS)
        if isinstance(model, AdditiveModel):
            self._add_terms(model, X)
        elif isinstance(model, AutoLCC):
            for seen, block, coef in auto_blocks(model, X):
                try:
                    self.add(block_scores(seen, block, coef), np.eye(coef.shape[1]))
                except AppError:  # a feature map of the user's own
                    own = partial(block._scores, coef=coef)
                    self.rest.append(lambda rows, own=own, Z=seen: own(evaluate(Z, {ROWS: rows})))
            self.base = self.base + model._intercept + model._shift
        elif (scores := _described(model, X, background)) is None:
            self.rest.append(lambda rows: _scores(model, rows))
        else:
            self.add(scores, np.eye(self.depends(scores).shape[0]))
        self.base = np.atleast_1d(np.asarray(self.base, dtype=np.float64)) / scale
        nothing = X.affine(np.zeros((len(owners), len(self.names) * len(self.base))))
        self.exact = add_up(self.parts or [nothing]).scale(1.0 / scale)

    def _add_terms(self, model: AdditiveModel, X: Expr) -> None:
        """Add shape functions and pairs, centered over the training rows."""
        columns = [self.names[k] for k in self.index]
        pairs = [" & ".join(dict.fromkeys((columns[a], columns[b]))) for a, b in model._terms.pairs]
        self.names = tuple(dict.fromkeys([*self.names, *pairs]))
        owned = np.array([*self.index, *(self.names.index(pair) for pair in pairs)])
        weights = _by_group(model._coef, owned[model._terms.owners], len(self.names))
        self.parts.append(additive(model._terms, X, weights).scale(1.0, -model._means @ weights))
        self.base = self.base + model._intercept

    def explain(self, rows: np.ndarray) -> Contributions:
        """Return the contributions of encoded rows."""
        base, error = self.base, None
        step = max(1, 2_000_000 // (4 * self.product_size + 100))  # rows that fit in the memory
        batches = (rows[k : k + step] for k in range(0, len(rows), step))
        values = np.concatenate([evaluate(self.exact, {ROWS: batch}) for batch in batches])
        values = values.reshape(len(rows), len(self.names), len(base))
        if self.rest:
            sampled, error, mean = self._sampled(rows)
            values, base = values + sampled, base + mean
        if values.shape[2] == 1:
            values, error = values[:, :, 0], None if error is None else error[:, :, 0]
        return Contributions(self.names, base, values, error)

    def _sampled(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Shapley values of ``rest``, their standard errors, and the mean of its draws."""
        rng, n_groups = np.random.default_rng(self.random_state), len(self.groups)
        changes, means = [], []
        for _ in range(N_ORDERS):
            drawn = np.empty(rows.shape[1])
            for group in self.groups:
                drawn[group] = self.background[rng.integers(len(self.background)), group]
            order = rng.permutation(n_groups)
            change: Any = 0.0
            for way in (order, order[::-1]):
                chain = np.empty((n_groups + 1, *rows.shape))
                chain[:] = drawn
                for step, j in enumerate(way):
                    chain[step + 1 :, :, self.groups[j]] = rows[:, self.groups[j]]
                flat = chain.reshape(-1, rows.shape[1])
                scores = np.sum([score(flat) for score in self.rest], axis=0) / self.scale
                scores = scores.reshape(n_groups + 1, len(rows), -1)
                one = np.zeros((len(rows), len(self.names), scores.shape[2]))
                one[:, way] = np.diff(scores, axis=0).transpose(1, 0, 2)
                change = change + one / 2
            changes.append(change)
            means.append(scores[0, 0])
        stacked = np.stack(changes)
        error = stacked.std(axis=0, ddof=1) / np.sqrt(N_ORDERS)
        return stacked.mean(axis=0), error, np.mean(means, axis=0)

    # Take an expression apart: exact contributions, their base, and what has to be sampled.

    def mean(self, expr: Expr) -> np.ndarray:
        exact = self.means is not None and expr.is_affine()
        rows = np.asarray(self.means)[None] if exact else self.background
        return np.asarray(evaluate(expr, {ROWS: rows}).mean(axis=0))

    def depends(self, node: Expr) -> np.ndarray:
        """Return which groups each column of an expression is a function of, as indicators."""
        return np.asarray(fold(node, self._depends, self.known))

    def _depends(self, node: Expr, args: list[np.ndarray]) -> Any:
        if node.op == "input":
            return np.eye(len(self.groups), dtype=bool)[self.index]
        if node.op == "affine":
            return np.abs(node.data[0]).T @ args[0] > 0
        if node.op == "take":
            return args[0][node.data]
        if node.op in ("distances", "trees"):
            width = evaluate(node, {ROWS: self.background[:1]}).shape[1]
            return np.tile(args[0].any(axis=0), (width, 1))
        # Of each column alone; a single column of two arguments counts for all.
        return np.logical_or.reduce(np.broadcast_arrays(*args))

    def add(self, node: Expr, weights: np.ndarray) -> None:
        """Add ``node @ weights``, taken apart into sums of functions that have an exact form."""
        op, args, data, depends = node.op, node.args, node.data, self.depends(node)
        one, groups = bool(depends.sum(axis=1).max() <= 1), depends.argmax(axis=1)
        if op == "affine":
            self.base = self.base + np.broadcast_to(data[1], len(weights)) @ weights
            self.add(args[0], data[0] @ weights)
        elif op == "add":
            for arg in args:
                single = len(self.depends(arg)) < len(weights)
                self.add(arg, weights.sum(axis=0, keepdims=True) if single else weights)
        elif one:
            expr = node.affine(_by_group(weights, groups, len(self.groups)))
            mean = self.mean(expr)
            self.parts.append(expr.scale(1.0, -mean))
            self.base = self.base + mean.reshape(len(self.groups), -1).sum(axis=0)
        elif op == "scale":
            factor, constant = (np.broadcast_to(part, len(weights)) for part in data)
            self.base = self.base + constant @ weights
            self.add(args[0], factor[:, None] * weights)
        elif op == "exp" and args[0].op == "scale" and args[0].args[0].op == "distances":
            self.add_kernel(args[0].args[0], args[0].data[0], weights)
        elif op == "trees":
            self.add_trees(args[0], data, weights)
        else:
            self.rest.append(lambda rows: evaluate(node, {ROWS: rows}) @ weights)

    def add_kernel(self, distances: Expr, factor: Any, weights: np.ndarray) -> None:
        """Add exp(factor distances) of columns, a product over the groups."""
        seen, (points, norm) = distances.args[0], distances.data
        own = self.depends(seen).argmax(axis=1)
        factors = [
            seen.take(*columns).apply("distances", (points[:, columns], norm)).scale(factor)
            .apply("exp")
            for columns in (np.flatnonzero(own == k) for k in range(len(self.groups)))
        ]  # fmt: skip
        means = np.stack([self.mean(factor) for factor in factors])
        self.product_size = max(self.product_size, means.size)
        # Exact up to 32 columns, and beyond them to rounding where no column alone decides.
        data = (means, weights, *gauss_nodes(len(factors), most=16))
        self.parts.append(Expr("shapley", tuple(factors), data))
        self.base = self.base + means.prod(axis=0) @ weights

    def add_trees(self, seen: Expr, data: Any, weights: np.ndarray) -> None:
        """Add the values of the leaves of trees, each a product over the groups."""
        values, _, feature, threshold, left, _ = data
        leaf = left == np.arange(len(left))
        values = values[leaf] @ weights
        if leaf.all():  # nothing but roots
            self.base = self.base + values.sum(axis=0)
            return
        boxes = _leaf_boxes(feature, threshold, left)
        own = self.depends(seen).argmax(axis=1)
        rows = evaluate(seen, {ROWS: self.background})
        game = LeafGame(boxes, values, own, len(self.groups), rows)
        self.product_size = max(self.product_size, game.means.size)
        self.parts.append(seen.apply("tree_shapley", game))
        self.base = self.base + game.means.prod(axis=1) @ values


def background_of(encoded: np.ndarray, sources: np.ndarray, random_state: int = 0) -> Any:
    """Return what a model keeps of its training rows: means, and values of each column.

    The values of the columns are in different orders, so that no row is kept: 64 of each, or fewer
    of many columns.
    """
    rng = np.random.default_rng(random_state)
    count = min(len(encoded), 64, max(2, 20_000 // encoded.shape[1]))
    rows = np.empty((count, encoded.shape[1]))
    for source in np.unique(sources):
        drawn = rng.permutation(len(encoded))[:count]
        rows[:, sources == source] = encoded[drawn][:, sources == source]
    return {"means": encoded.mean(axis=0).tolist(), "rows": rows.tolist()}


class LeafGame:
    """Leaves as products over columns: the columns of each leaf, padded, and their means.

    ``column``, ``low`` and ``high`` are the conditions low < x <= high of all leaves, those of one
    column of the table together from each of ``starts`` on: a factor of the leaf ``leaf``, of the
    group ``group``.  ``slot`` are the positions of factors in ``means``, of shape (leaves, columns
    of a leaf).  ``weights`` add leaves up by column.

    ``boxes`` and ``outputs`` are the bounds and values of the leaves, ``index`` the groups of
    columns, ``rows`` the scaled background.
    """

    def __init__(
        self, boxes: list[Any], outputs: np.ndarray, index: np.ndarray, n_groups: int, rows: Any
    ) -> None:
        self.outputs = outputs
        entries = sorted(
            (leaf, int(index[column]), column, *bounds)
            for leaf, box in enumerate(boxes)
            for column, bounds in box.items()
        )
        parts = (np.array(part) for part in zip(*entries, strict=True))
        leaf, group, self.column, self.low, self.high = parts
        self.starts = np.flatnonzero(np.diff(leaf, prepend=-1) | np.diff(group, prepend=-1))
        self.leaf, self.group = leaf, group = leaf[self.starts], group[self.starts]
        position = np.arange(len(leaf)) - np.searchsorted(leaf, leaf)
        self.means = np.ones((len(outputs), int(position.max()) + 1))
        self.slot = leaf * self.means.shape[1] + position
        n_outputs = outputs.shape[1]
        places = group[:, None] * n_outputs + np.arange(n_outputs)
        self.weights = sp.csr_array(
            (outputs[leaf].ravel(), (np.repeat(self.slot, n_outputs), places.ravel())),
            shape=(self.means.size, n_groups * n_outputs),
        )
        self.means = self.inside(rows).mean(axis=0)

    def inside(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each column of each leaf is in its interval; 1 where it is padded."""
        x = rows[:, self.column]
        inside = np.logical_and.reduceat((x > self.low) & (x <= self.high), self.starts, axis=1)
        out = np.ones((len(rows), self.means.size))
        out[:, self.slot] = inside
        return out.reshape(len(rows), *self.means.shape)

    def plain(self) -> list[Any]:
        """Return leaves, bounds, nodes and weights of the quadrature, and the number of values.

        A leaf is its outputs and its columns, each a list of group, mean, and triples of column,
        low and high, which are positions in the bounds; -1 is no bound.
        """
        limits = np.stack([self.low, self.high])
        bounds = np.unique(limits[np.isfinite(limits)])
        places = np.where(np.isfinite(limits), np.searchsorted(bounds, limits), -1)
        triples = np.stack([self.column, *places], axis=1).astype(int)
        means, parts = self.means.flat[self.slot].tolist(), np.split(triples, self.starts[1:])
        factors: list[list[Any]] = [[] for _ in self.outputs]
        for leaf, group, mean, own in zip(self.leaf, self.group, means, parts, strict=True):
            factors[leaf].append([int(group), mean, *own.ravel().tolist()])
        pairs = zip(self.outputs.tolist(), factors, strict=True)
        leaves = [[outputs, own] for outputs, own in pairs if own]  # a root adds to the base alone
        rule = [part.tolist() for part in gauss_nodes(self.means.shape[1])]
        return [leaves, bounds.tolist(), *rule, int(self.weights.shape[1])]

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return Shapley values of scaled rows, by column and output."""
        factors = np.ascontiguousarray(np.moveaxis(self.inside(rows), 2, 0))
        means = np.ascontiguousarray(self.means.T)[:, None]
        result = product_game(factors, means, *gauss_nodes(self.means.shape[1]))
        return np.asarray(np.moveaxis(result, 0, 2).reshape(len(rows), -1) @ self.weights)


def _leaf_boxes(feature: np.ndarray, threshold: np.ndarray, left: np.ndarray) -> list[Any]:
    """Return for each leaf the bounds low < x <= high of the columns on its path."""
    boxes: list[dict[int, tuple[float, float]]] = [{} for _ in left]
    leaves = []
    for node, child in enumerate(left.tolist()):
        if child == node:
            leaves.append(boxes[node])
            continue
        column, at = int(feature[node]), float(threshold[node])
        low, high = boxes[node].get(column, (-np.inf, np.inf))
        boxes[child] = boxes[node] | {column: (low, min(at, high))}
        boxes[child + 1] = boxes[node] | {column: (max(low, at), high)}
    return leaves


def _by_group(coef: np.ndarray, own: np.ndarray, n_groups: int) -> np.ndarray:
    """Return coefficients (n_features, n_groups * n_outputs), zero outside the own group."""
    weights = np.zeros((len(coef), n_groups, coef.shape[1]))
    weights[np.arange(len(coef)), own] = coef
    return weights.reshape(len(coef), -1)


def _scores(model: Any, rows: np.ndarray) -> np.ndarray:
    return np.asarray(model.decision_function(rows)).reshape(len(rows), -1)


def _described(model: Any, X: Expr, background: np.ndarray) -> Expr | None:
    """Return the score as an expression; None where there is none, or one that differs."""
    try:
        scores = class_scores(model, problem_scores(model, X))
    except (AppError, AttributeError):
        return None  # a classifier of another package, or a kernel without a description
    own, described = _scores(model, background[:3]), evaluate(scores, {ROWS: background[:3]})
    same = described.shape == own.shape and np.allclose(described, own, rtol=1e-6, atol=1e-6)
    return scores if same else None  # coefficients of another meaning
