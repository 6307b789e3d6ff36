"""TreeLeaves: the leaves of a tree ensemble as sparse indicator features.

Every tree of an ensemble partitions the samples into its leaves.  With T trees the features of a
sample are the indicators of its T leaves, divided by sqrt(T), so that each sample has norm one.  A
linear classifier on these features gives every leaf a weight of its own; the ensemble's prediction
is one such classifier (weights fixed by the training labels in the leaf), so a regularized fit on
all leaves at once can only be closer to the optimum of its loss (Ren, Cao, Wei and Sun, "Global
refinement of random forest", CVPR 2015; Moosmann, Triggs and Jurie, NIPS 2006).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from lincent.features.transformer import EncodedSamples
from lincent.sources.source import namespace_of

Ensemble = Literal["extra_trees", "random_forest", "hist_gradient_boosting"]
LEAVES = {"extra_trees": 128, "random_forest": 128, "hist_gradient_boosting": 31}
LEAF_ROWS = 1024
"""Samples that go down all trees at a time."""
MAX_LEVELS = 63
"""Values of a feature in a random forest and in boosting: nodes of few distinct values are sorted
faster, growth of histograms costs values times features for every leaf, and scikit-learn's weighted
quantiles of more cost more than the trees."""


@dataclass(eq=False, repr=False)
class TreeLeaves(TransformerMixin, BaseEstimator):
    """Leaves of a forest or of boosted histogram trees as a sparse feature map.

    Parameters
    ----------
    kind : {"extra_trees", "random_forest", "hist_gradient_boosting"}, default="extra_trees"
        The ensemble that grows the trees.
    n_estimators : int, default=100
        Number of trees; iterations for boosting, which has a tree per class and iteration with
        more than two classes.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree at most. None is 128 for forests and 31 for boosting.
    min_samples_leaf : int, default=3
        Least weight of the training samples of a leaf; their number for boosting.
    max_samples : int or None, default=None
        Distinct samples, drawn for each tree of a random forest, at most; the others have no
        such draws. None is as many as there are.
    learning_rate : float, default=0.1
        Shrinkage of boosting; forests have none.
    n_jobs : int or None, default=None
        Trees of a forest that are grown at the same time. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the trees.

    Attributes
    ----------
    ensemble_ : estimator
        The fitted ensemble.
    trees_ : object
        Its trees as arrays, from which the leaves are found.
    n_leaves_ : ndarray of shape (n_trees,)
        Number of leaves of each tree, in the order of the features.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    Notes
    -----
    Classes have equal total weight while the trees are grown. Missing values are passed to the
    trees, which send them to the side with the larger gain. A
    random forest and boosting are grown on values rounded to 63 quantiles of their feature.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.pipeline import make_pipeline
    >>> from lincent import RegularizedLCC
    >>> from lincent.features import TreeLeaves
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> leaves = TreeLeaves(n_estimators=10, max_leaf_nodes=4).fit(X, y)
    >>> leaves.transform(X).nnz  # one leaf per sample and tree
    2000
    >>> leaves.get_feature_names_out()[0]
    'tree 0: x...'
    >>> make_pipeline(TreeLeaves(), RegularizedLCC()).fit(X, y).score(X, y) > 0.95
    True
    """

    kind: Ensemble = "extra_trees"
    n_estimators: int = 100
    _: KW_ONLY
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 3
    max_samples: int | None = None
    learning_rate: float = 0.1
    n_jobs: int | None = None
    random_state: Any = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions(set(LEAVES))],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeLeaves:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; missing values (NaN) are allowed.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples.

        Returns
        -------
        self
            The fitted transformer.
        """
        # Imported late: scikit-learn's ensembles take a quarter of a second.
        from sklearn.ensemble import (
            ExtraTreesClassifier,
            HistGradientBoostingClassifier,
            RandomForestClassifier,
        )

        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        classes, codes = np.unique(y, return_inverse=True)
        training, codes, weight = _unique_samples(X, codes, weight)
        totals = np.bincount(codes, weight, len(classes))
        balanced = weight * (weight.sum() / (len(classes) * np.maximum(totals, 1e-300)))[codes]
        count, jobs = self.n_estimators, self.n_jobs
        least = min(self.min_samples_leaf / weight.sum(), 0.5)
        if self.kind == "hist_gradient_boosting":
            ensemble = HistGradientBoostingClassifier(
                max_iter=count,
                learning_rate=self.learning_rate,
                min_samples_leaf=self.min_samples_leaf,
                early_stopping=False,
                max_bins=MAX_LEVELS,
            )
        elif self.kind == "extra_trees":
            ensemble = ExtraTreesClassifier(
                count, max_features=0.5, min_weight_fraction_leaf=least, n_jobs=jobs
            )
        else:
            drawn = min(self.max_samples or len(training), len(training))
            least = min(least * len(training) / drawn, 0.5)
            ensemble = RandomForestClassifier(
                count, min_weight_fraction_leaf=least, max_samples=drawn, n_jobs=jobs
            )
        if self.kind != "extra_trees":
            training = _rounded(training)
        leaves = self.max_leaf_nodes or LEAVES[self.kind]
        self.ensemble_ = ensemble.set_params(max_leaf_nodes=leaves, random_state=self.random_state)
        self.ensemble_.fit(training, classes[codes], balanced)
        self.trees_ = Trees.of(self.ensemble_)
        self.n_leaves_ = self.trees_.n_leaves
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Return the indicators of the leaves, divided by the square root of their number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; missing values (NaN) are allowed.

        Returns
        -------
        csr_array of shape (n_samples, n_leaves)
            One entry per sample and tree.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, ensure_all_finite="allow-nan", reset=False)
        return self._indicators(self.trees_.leaves(X))

    def _fit(self, samples: EncodedSamples) -> TreeLeaves:
        """Fit to encoded samples as a feature map does; only the trees are kept."""
        limit = np.finfo(np.float32).max
        whole = clone(self).set_params(random_state=samples.seed)
        whole.fit(np.clip(samples.Z, -limit, limit), samples.codes, samples.weight)
        self.trees_ = whole.trees_
        self.n_leaves_ = whole.n_leaves_
        return self

    def _transform(self, Z: Any) -> sp.csr_array:
        """Return the features of encoded samples."""
        return self._indicators(self.trees_.leaves(namespace_of(Z).fetch(Z)))

    def _scores(self, Z: Any, coef: np.ndarray) -> Any:
        """Return the decision values of linear models on the features, one for each column."""
        place = namespace_of(Z)
        values = coef / np.sqrt(len(self.n_leaves_))
        return place.send(self.trees_.scores(place.fetch(Z), values))

    def _indicators(self, leaves: np.ndarray) -> sp.csr_array:
        n, trees = leaves.shape
        return sp.csr_array(
            (
                np.full(n * trees, 1 / np.sqrt(trees)),
                leaves.ravel(),
                np.arange(0, n * trees + 1, trees, dtype=np.int32),
            ),
            shape=(n, int(self.n_leaves_.sum())),
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the rule of each leaf in words.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where ``fit`` has not seen any.

        Returns
        -------
        ndarray of str
            ``"tree 3: age <= 41.5 and income > 1e+03"``.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(self.trees_.rules(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _unique_samples(
    X: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct samples in an order of their own, with the sum of their weights.

    The trees then depend neither on the order of the samples nor on whether a sample is repeated
    or weighted; samples of weight zero are left out.
    """
    counted = weight > 0
    table = np.column_stack([X[counted] + np.float32(0), codes[counted].astype(np.float32)])
    rows = np.ascontiguousarray(table).view(f"V{4 * table.shape[1]}").ravel()
    _, first, member = np.unique(rows, return_index=True, return_inverse=True)
    total = np.bincount(member.ravel(), weight[counted])
    return X[counted][first], codes[counted][first], total


def _rounded(X: np.ndarray) -> np.ndarray:
    """Return every value rounded to the nearest of at most ``MAX_LEVELS`` quantiles of its feature.

    A threshold half-way between two of them sends a value to the side of its quantile.
    """
    out = X.copy()
    places = np.linspace(0.0, 1.0, MAX_LEVELS)
    for values, rounded in zip(X.T, out.T, strict=True):
        ordered = np.sort(values[~np.isnan(values)])
        if np.count_nonzero(np.diff(ordered)) >= MAX_LEVELS:
            levels = np.unique(ordered[(places * (len(ordered) - 1)).round().astype(np.intp)])
            nearest = levels[np.searchsorted(levels[:-1] / 2 + levels[1:] / 2, values)]
            rounded[:] = np.where(np.isnan(values), values, nearest)
    return out


@dataclass(frozen=True)
class Trees:
    """Binary trees as arrays over all their nodes; the right child follows the left one.

    A leaf is its own left child, and ``column`` is its feature, -1 for other nodes.  A sample goes
    left where its value is at most the threshold.  scikit-learn rounds values to single precision
    first; here a threshold is the largest number that such rounding sends to the left.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    missing_left: np.ndarray
    column: np.ndarray

    @classmethod
    def of(cls, ensemble: Any) -> Trees:
        """Return the trees of a fitted ensemble of scikit-learn."""
        if hasattr(ensemble, "estimators_"):
            trees = [tree.tree_ for tree in ensemble.estimators_]
            parts = [
                (t.children_left, t.children_right, t.feature, t.threshold, t.missing_go_to_left)
                for t in trees
            ]
        else:  # histogram trees have no public form
            nodes = [tree.nodes for stage in ensemble._predictors for tree in stage]
            names = ("left", "right", "feature_idx", "num_threshold", "missing_go_to_left")
            parts = [
                (np.where(n["is_leaf"], -1, n["left"].astype(np.intp)), *(n[k] for k in names[1:]))
                for n in nodes
            ]
        found = [_in_order(*part) for part in parts]
        starts = np.cumsum([0] + [len(tree[0]) for tree in found])
        feature, threshold, left, missing_left = map(np.concatenate, zip(*found, strict=True))
        left += np.repeat(starts[:-1], np.diff(starts)).astype(np.int32)
        leaf = left == np.arange(len(left))
        column = np.where(leaf, np.cumsum(leaf) - 1, -1).astype(np.int32)
        return cls(starts[:-1].astype(np.int32), feature, threshold, left, missing_left, column)

    @property
    def n_leaves(self) -> np.ndarray:
        """The number of leaves of each tree."""
        return np.add.reduceat((self.column >= 0).astype(np.intp), self.roots)

    def leaves(self, X: np.ndarray) -> np.ndarray:
        """Return the feature of the leaf of each sample in each tree: (n_samples, n_trees)."""
        out = np.empty((len(X), len(self.roots)), dtype=np.int32)
        for start in range(0, len(X), LEAF_ROWS):
            rows = np.ascontiguousarray(X[start : start + LEAF_ROWS])
            flat, has_missing = rows.ravel(), bool(np.isnan(rows).any())
            node = np.tile(self.roots, len(rows))
            first = np.repeat(np.arange(len(rows), dtype=np.int32) * X.shape[1], len(self.roots))
            active = np.flatnonzero(self.column[node] < 0)
            while len(active):
                at = node[active]
                value = flat[first[active] + self.feature[at]]
                right = value > self.threshold[at]
                if has_missing:
                    right |= np.isnan(value) & ~self.missing_left[at]
                at = self.left[at] + right
                node[active] = at
                active = active[self.column[at] < 0]
            out[start : start + LEAF_ROWS] = self.column[node].reshape(len(rows), -1)
        return out

    def scores(self, X: Any, values: np.ndarray) -> np.ndarray:
        """Return the sum over trees of the values of the leaves: (n_samples, n_outputs)."""
        scores = np.zeros((len(X), values.shape[1]))
        for leaves in self.leaves(X).T:
            scores += values[leaves]
        return scores

    def rules(self, names: Any) -> list[str]:
        """Return the conditions of each leaf, joined by "and"."""
        rules: list[str] = []
        conditions: dict[int, str] = {}
        tree = {int(root): number for number, root in enumerate(self.roots)}
        for node, left in enumerate(self.left.tolist()):
            rule = f"tree {tree[node]}: " if node in tree else conditions.pop(node)
            if left == node:
                rules.append(f"{rule}all samples" if rule.endswith(": ") else rule)
                continue
            prefix = rule if rule.endswith(": ") else f"{rule} and "
            name, threshold = names[self.feature[node]], f"{self.threshold[node]:.3g}"
            conditions[left] = f"{prefix}{name} <= {threshold}"
            conditions[left + 1] = f"{prefix}{name} > {threshold}"
        return rules


def _in_order(
    left: np.ndarray,
    right: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    missing_left: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the nodes of a tree level by level: feature, threshold, left child, missing."""
    order, first = [0], list[int]()
    lefts, rights = left.tolist(), right.tolist()
    for node in order:
        inner = lefts[node] >= 0
        first.append(len(order) if inner else len(first))
        if inner:
            order += [lefts[node], rights[node]]
    position = np.array(first, dtype=np.int32)
    inner = left[order] >= 0
    limit = float(np.nextafter(np.finfo(np.float32).max, np.float32(0)))
    exact = np.clip(np.where(inner, threshold[order], 0.0), -limit, limit)
    single = exact.astype(np.float32)
    single = np.where(single > exact, np.nextafter(single, np.float32(-np.inf)), single)
    after = np.nextafter(single, np.float32(np.inf))
    half_way = (single.astype(np.float64) + after) / 2
    tied = half_way.astype(np.float32) > single  # a tie is rounded to the even neighbor
    half_way = np.where(tied, np.nextafter(half_way, -np.inf), half_way)
    missing = np.where(inner, missing_left[order], True).astype(bool)
    return np.where(inner, feature[order], 0).astype(np.int32), half_way, position, missing
