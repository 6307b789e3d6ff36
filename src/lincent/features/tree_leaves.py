"""TreeLeaves: the leaves of a tree ensemble as sparse indicator features.

Every tree of an ensemble partitions the samples into its leaves.  With T trees the features of a
sample are the indicators of its T leaves, divided by sqrt(T), so that each sample has norm one.  A
linear classifier on these features gives every leaf a weight of its own; the ensemble's prediction
is one such classifier (weights fixed by the training labels in the leaf), so a regularized fit on
all leaves at once can only be closer to the optimum of its loss (Ren, Cao, Wei and Sun, "Global
refinement of random forest", CVPR 2015; Moosmann, Triggs and Jurie, NIPS 2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

Ensemble = Literal["extra_trees", "random_forest", "hist_gradient_boosting"]
LEAVES = {"extra_trees": 128, "random_forest": 128, "hist_gradient_boosting": 31}


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
    learning_rate : float, default=0.1
        Shrinkage of boosting; forests have none.
    class_weight : dict, "balanced" or None, default="balanced"
        Weights of the classes while the trees are grown; ``"balanced"`` takes sample weights into
        account.
    n_jobs : int or None, default=None
        Trees of a forest that are grown at the same time. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the trees.

    Attributes
    ----------
    ensemble_ : estimator
        The fitted ensemble.
    n_leaves_ : ndarray of shape (n_trees,)
        Number of leaves of each tree, in the order of the features.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    Notes
    -----
    Missing values are passed to the trees, which send them to the side with the larger gain. The
    leaves of boosted trees are identified by the increments of scikit-learn's
    ``staged_decision_function``: samples with the same increment are in the same leaf, or in
    leaves that contribute the same.

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

    _parameter_constraints: dict[str, list[Any]] = {
        "kind": [StrOptions(set(LEAVES))],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kind: Ensemble = "extra_trees",
        n_estimators: int = 100,
        *,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 3,
        learning_rate: float = 0.1,
        class_weight: Any = "balanced",
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kind = kind
        self.n_estimators = n_estimators
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.learning_rate = learning_rate
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

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
        self._fit_leaves(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> sp.csr_array:
        """Grow the trees and return the leaves of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples.

        Returns
        -------
        csr_array of shape (n_samples, n_leaves)
            As `transform`.
        """
        return self._indicators(self._fit_leaves(X, y, sample_weight))

    def _fit_leaves(self, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
        """Fit the ensemble; return the leaf of each training sample in each tree."""
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
        if self.class_weight == "balanced":
            factors = weight.sum() / (len(classes) * np.maximum(totals, 1e-300))
        else:
            factors = compute_class_weight(self.class_weight, classes=classes, y=y)
        balanced = weight * factors[codes]
        common = {
            "max_leaf_nodes": self.max_leaf_nodes or LEAVES[self.kind],
            "random_state": self.random_state,
        }
        least = min(self.min_samples_leaf / weight.sum(), 0.5)
        if self.kind == "hist_gradient_boosting":
            self.ensemble_ = HistGradientBoostingClassifier(
                max_iter=self.n_estimators,
                learning_rate=self.learning_rate,
                min_samples_leaf=self.min_samples_leaf,
                early_stopping=False,
                **common,
            )
        elif self.kind == "extra_trees":
            self.ensemble_ = ExtraTreesClassifier(
                self.n_estimators,
                max_features=0.5,
                min_weight_fraction_leaf=least,
                n_jobs=self.n_jobs,
                **common,
            )
        else:
            self.ensemble_ = RandomForestClassifier(
                self.n_estimators,
                max_features="sqrt",
                min_weight_fraction_leaf=least,
                n_jobs=self.n_jobs,
                **common,
            )
        self.ensemble_.fit(training, classes[codes], balanced)
        if self.kind == "hist_gradient_boosting":
            increments = list(self._increments(X))
            self._leaf_values = [_distinct(values) for values in increments]
            self.n_leaves_ = np.array([len(values) for values in self._leaf_values])
            return np.column_stack(
                [
                    _nearest(values, increment)
                    for values, increment in zip(self._leaf_values, increments, strict=True)
                ]
            )
        self._leaf_nodes = [
            np.flatnonzero(tree.tree_.children_left < 0) for tree in self.ensemble_.estimators_
        ]
        self.n_leaves_ = np.array([len(nodes) for nodes in self._leaf_nodes])
        return self._forest_leaves(X)

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
        if self.kind != "hist_gradient_boosting":
            return self._indicators(self._forest_leaves(X))
        return self._indicators(
            np.column_stack(
                [
                    _nearest(values, increment)
                    for values, increment in zip(
                        self._leaf_values, self._increments(X), strict=True
                    )
                ]
            )
        )

    def _forest_leaves(self, X: np.ndarray) -> np.ndarray:
        nodes = self.ensemble_.apply(X)
        return np.column_stack(
            [
                np.searchsorted(leaves, nodes[:, tree])
                for tree, leaves in enumerate(self._leaf_nodes)
            ]
        )

    def _increments(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield what each boosted tree adds to the decision value of each sample."""
        before: Any = 0.0
        for number, values in enumerate(self.ensemble_.staged_decision_function(X)):
            values = values.reshape(len(X), -1)
            if number:  # the first stage has the prior in it, the same for all samples
                yield from (values - before).T
            else:
                yield from values.T
            before = values

    def _indicators(self, leaves: np.ndarray) -> sp.csr_array:
        n, trees = leaves.shape
        columns = leaves + (np.cumsum(self.n_leaves_) - self.n_leaves_)
        return sp.csr_array(
            (
                np.full(n * trees, 1 / np.sqrt(trees)),
                columns.ravel().astype(np.int32),
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
            ``"tree 3: age <= 41.5 and income > 1e+03"``; for boosted trees the tree and the value
            of the leaf.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.kind == "hist_gradient_boosting":
            return np.array(
                [
                    f"tree {number}: leaf of value {value:+.9g}"
                    for number, values in enumerate(self._leaf_values)
                    for value in values
                ],
                dtype=object,
            )
        return np.array(
            [
                f"tree {number}: {rule}"
                for number, tree in enumerate(self.ensemble_.estimators_)
                for rule in _rules(tree.tree_, names)
            ],
            dtype=object,
        )

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


def _distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values in increasing order; those equal up to rounding are one."""
    ordered = np.unique(values)
    apart = np.diff(ordered, prepend=-np.inf) > 1e-10 * max(float(np.ptp(ordered)), 1e-300)
    return np.asarray(ordered[apart])


def _nearest(values: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the position of the nearest of the increasing ``values``."""
    if len(values) == 1:
        return np.zeros(len(given), dtype=np.intp)
    return np.searchsorted((values[1:] + values[:-1]) / 2, given)


def _rules(tree: Any, names: np.ndarray) -> list[str]:
    """Return the conditions of each leaf of a tree, joined by "and", in the order of the nodes."""
    rules, conditions = [], {0: ""}
    for node in range(tree.node_count):
        left, right = tree.children_left[node], tree.children_right[node]
        rule = conditions.pop(node)
        if left < 0:
            rules.append(rule or "all samples")
            continue
        name, threshold = names[tree.feature[node]], f"{tree.threshold[node]:.3g}"
        prefix = f"{rule} and " if rule else ""
        conditions[left] = f"{prefix}{name} <= {threshold}"
        conditions[right] = f"{prefix}{name} > {threshold}"
    return rules
