"""Feature maps among which AutoLCC chooses.

A feature map is a concatenation of blocks, fitted transformers that feature maps share: a block is
fitted once to some training samples and applied once to any samples, whichever feature maps use it.
Which one is best varies over data sets: landmarks suit smooth decision boundaries in few features,
splines skewed features, plain features wide data with little noise, leaves of trees boundaries
parallel to the axes and features that act together.  Transformers of the user are blocks as well,
each a feature map of its own.

Blocks get features normalized by their standard deviation, or further weighted by factors that the
first word of their name selects.  Where all features have the same unit (pixels, channels, votes),
the standard deviation of a feature tells how much it matters, and "even" blocks get them in that
common unit; such feature maps are candidates on such data only.  "relevant" blocks get features the
larger, the more they depend on the class (``features.pairs``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from lincent import _console
from lincent.estimators.tabular import Costs, TrainingRows, search_tolerance
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures, TreeLeaves
from lincent.features.pairs import mutual_relevance_weights
from lincent.features.transformer import EncodedSamples, FeatureMap, by_blocks
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import Design, JointSolution, Span, solve_path
from lincent.solvers.solution import Controls
from lincent.sources.hashing import row_hashes
from lincent.sources.source import Kind, dense_rows, kind_of, namespace_of

COLUMNS, SPLINES = "columns", "splines"
BOOSTED = "boosted leaves"
LEAVES = ("forest leaves", BOOSTED)
EVEN, RELEVANT = "even", "relevant"
N_LANDMARKS, N_LANDMARKS_JOINT = 300, 800
"""For two classes and for more, where each has a fraction of them.  Half as many in a search."""
N_CENTERS = 300
"""Local centers of all classes together, at most 30 for each."""
MAX_SPLINES, MAX_LANDMARKS, MAX_BOOSTED = 200, 1_000, 2_000
"""Splines of every feature, landmarks beside all features, and boosted trees are candidates up to
so many: at 2,000 samples of 500 features splines took 12 of 20 seconds and had no weight, and of
thousands of features, at each of which they look, boosted trees took nearly all the time."""
LEAST_CLASS = 10
"""Leaves are candidates if every class has so many samples, as trees need some of each; one fold is
enough if it holds out so many."""
SEARCH_STEPS = 12
"""Of a model in a search, at most."""
FLOAT32_STEPS = 25
COMMON_UNIT = 0.5
"""Features have one unit if this fraction of them has at least this fraction of the largest
range."""


def _landmarks(gamma: float) -> Callable[[int, bool], FeatureMap]:
    def make(n_classes: int, searching: bool) -> FeatureMap:
        count, fraction = (N_LANDMARKS, 0.5) if n_classes == 2 else (N_LANDMARKS_JOINT, 1.0)
        if searching:
            count, fraction = count // 2, max(fraction / 2, 0.5)
        return KernelLandmarks(count, gamma, max_share=fraction, include_columns=False)

    return make


BLOCKS: dict[str, Callable[[int, bool], Any]] = {
    "splines": lambda n_classes, searching: SplineFeatures(5, 0.05),
    "centers": lambda n_classes, searching: LocalCenters(
        max(2, min(30, N_CENTERS // n_classes)), 1.0, include_columns=False
    ),
    "landmarks 0.3": _landmarks(0.3),
    "landmarks 1": _landmarks(1.0),
    "landmarks 3": _landmarks(3.0),
    "even landmarks 1": _landmarks(1.0),
    "relevant landmarks 0.3": _landmarks(0.3),
    "relevant landmarks 1": _landmarks(1.0),
    "relevant landmarks 3": _landmarks(3.0),
    "forest leaves": lambda n_classes, searching: TreeLeaves("random_forest", 50, max_samples=5000),
    BOOSTED: lambda n_classes, searching: TreeLeaves(
        "hist_gradient_boosting", 50, learning_rate=0.2
    ),
}
"""From the number of classes, and whether this is for a search, to an unfitted block."""
FEATURE_MAPS: dict[str, tuple[str, ...]] = {
    "columns": (COLUMNS,),
    "splines": ("splines",),
    "centers": (COLUMNS, "centers"),
    "splines + centers": ("splines", "centers"),
    "landmarks 0.3": (COLUMNS, "landmarks 0.3"),
    "landmarks 1": (COLUMNS, "landmarks 1"),
    "landmarks 3": (COLUMNS, "landmarks 3"),
    "splines + landmarks 1": ("splines", "landmarks 1"),
    "splines + landmarks 3": ("splines", "landmarks 3"),
    "even landmarks 1": ("even landmarks 1",),
    "relevant landmarks 0.3": ("relevant landmarks 0.3",),
    "relevant landmarks 1": ("relevant landmarks 1",),
    "relevant landmarks 3": ("relevant landmarks 3",),
    "forest leaves": ("forest leaves",),
    BOOSTED: (BOOSTED,),
}
BINARY_ONLY = ("splines + centers", "splines + landmarks 3", BOOSTED)
"""Candidates for two classes only: never among the best for more, where a fit costs more."""


def check_feature_maps(feature_maps: Any) -> tuple[list[str] | None, dict[str, Any]]:
    """Return the names of the candidates (None: those that suit the data) and own transformers."""
    if feature_maps is None:
        return None, {}
    whole = not isinstance(feature_maps, Mapping)
    entries = list(feature_maps if whole else feature_maps.items())
    for entry in entries:
        pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        if not pair and not isinstance(entry, str):
            raise ValueError(
                f"feature_maps has {entry!r}: give the name of a built-in feature map, or a pair "
                "(name, transformer)."
            )
    own = dict(entry for entry in entries if not isinstance(entry, str))
    for name, transformer in own.items():
        taken = not name or name in FEATURE_MAPS or name.split()[0] in (EVEN, RELEVANT)
        if taken or not hasattr(transformer, "transform"):
            raise ValueError(
                f"feature_maps has {name!r}: {transformer!r}, which is not usable: give a "
                "transformer with fit and transform under a name of its own (the names in use are "
                f"{', '.join(map(repr, FEATURE_MAPS))})."
            )
    names = [entry if isinstance(entry, str) else entry[0] for entry in entries]
    if not names or not set(names) <= {*FEATURE_MAPS, *own}:
        raise ValueError(
            f"feature_maps={feature_maps!r} is not usable: choose among "
            f"{', '.join(map(repr, FEATURE_MAPS))}, or give transformers by name."
        )
    return names if whole else None, own


def suitable_maps(
    common: np.ndarray | None, n_features: int, class_sizes: np.ndarray | None = None
) -> list[str]:
    """Return the names of the built-in feature maps for such data.

    ``class_sizes`` are the numbers of samples of each class; None for data that is read in place,
    where trees cannot be grown.
    """
    unsuitable = {EVEN} if common is None else set()
    if n_features == 1:
        unsuitable.add(RELEVANT)
    if n_features > MAX_SPLINES:
        unsuitable.add(SPLINES)
    if n_features > MAX_LANDMARKS:
        unsuitable |= {"centers", "landmarks"}
    if n_features > MAX_BOOSTED:
        unsuitable.add(BOOSTED.split()[0])
    names = [name for name in FEATURE_MAPS if name.split()[0] not in unsuitable]
    if class_sizes is None or class_sizes.min() < LEAST_CLASS:
        names = [name for name in names if name not in LEAVES]
    return names


def is_sparse(feature_map: str, own: Mapping[str, Any]) -> bool:
    """Return whether the features are indicators of leaves, which are kept sparse."""
    return feature_map in LEAVES or isinstance(own.get(feature_map), TreeLeaves)


def common_units(ranges: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """Return factors from features normalized by ``scale`` to a common unit, if they have one.

    ``ranges`` are the differences of the largest and the smallest value of each feature.
    """
    wide = ranges >= COMMON_UNIT * max(float(ranges.max()), 1e-300)
    if len(ranges) < 2 or np.mean(wide) < COMMON_UNIT or np.allclose(scale, scale[0]):
        return None
    return np.asarray(scale / np.sqrt(np.mean(scale**2)))


def scaled_for(name: str, Z: Any, factors: Mapping[str, np.ndarray]) -> Any:
    """Return the samples with the features weighted for a block."""
    own = factors.get(name.partition(" ")[0])
    return Z if own is None else Z * namespace_of(Z).send(own)


class TransformerMap(FeatureMap):
    """A transformer of the user as a block; it is fitted to class codes and frequency weights."""

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def _fit(self, samples: EncodedSamples) -> TransformerMap:
        self.transformer_ = clone(self.transformer)
        weighted = has_fit_parameter(self.transformer_, "sample_weight")
        weight = {"sample_weight": samples.weight} if weighted else {}
        self.transformer_.fit(samples.Z, samples.codes, **weight)
        return self

    def _transform(self, Z: Any) -> Any:
        place = namespace_of(Z)
        features = self.transformer_.transform(np.asarray(place.fetch(Z)))
        features = dense_rows(features) if kind_of(features) is Kind.SPARSE else features
        return place.send(np.asarray(features, dtype=np.float64).reshape(len(Z), -1))


@dataclass(frozen=True)
class BlockMapping:
    """From numeric samples, wherever they are stored, to the features of a feature map."""

    center: np.ndarray
    scale: np.ndarray
    factors: Mapping[str, np.ndarray]
    blocks: Sequence[tuple[str, Callable[[Any], Any]]]
    width: int
    basis: np.ndarray
    """Features are those of the blocks, times this matrix."""

    @property
    def columns(self) -> int:
        return len(self.center)

    def __call__(self, X: Any) -> Any:
        place = namespace_of(X)
        Z = (dense_rows(X) - place.send(self.center)) / place.send(self.scale)
        parts = []
        for name, function in self.blocks:
            parts.append(function(scaled_for(name, Z, self.factors)))
        return place.beside(parts) if len(parts) > 1 else parts[0]


def _identity(Z: Any) -> Any:
    return Z


class FeatureBlocks:
    """Blocks fitted to some training samples.

    Parameters
    ----------
    rows : TrainingRows
        Samples that blocks are fitted to.
    seed : int
        Seeds landmarks and k-means.
    own : dict, default={}
        Transformers of the user by name.
    cache : bool, default=True
        Whether features are kept for the next feature map.
    searching : bool, default=False
        Whether blocks have half the size.
    shared : SharedFeatures, default=None
        Blocks that all folds of a search have in common.
    """

    def __init__(
        self,
        rows: TrainingRows,
        seed: int,
        own: Mapping[str, Any] | None = None,
        *,
        cache: bool = True,
        searching: bool = False,
        shared: SharedFeatures | None = None,
    ) -> None:
        self.Z, self.codes, self.weight, self.seed = rows.Z, rows.codes, rows.weight, seed
        self._samples: dict[str, EncodedSamples] = {}
        """By the kind of factors on the features."""
        self.factors = {} if rows.units is None else {EVEN: rows.units}
        self.own = own or {}
        self.fitted: dict[str, Any] = {}
        self._cache, self._searching, self._shared = cache, searching, shared
        self._cached: dict[tuple[str, int, type], np.ndarray] = {}
        self._widths: dict[str, int] = {}

    def names(self, feature_map: str) -> tuple[str, ...]:
        """Return the names of the blocks of a feature map."""
        return (feature_map,) if feature_map in self.own else FEATURE_MAPS[feature_map]

    def shared(self, name: str) -> SharedFeatures | None:
        """Return what all folds have in common, for a block that is fitted without class codes."""
        with_codes = name in ("centers", *LEAVES, *self.own) or name.startswith(RELEVANT)
        return None if name == COLUMNS or with_codes else self._shared

    def block(self, name: str) -> Any:
        """Return the fitted block of this name."""
        if shared := self.shared(name):
            return shared.blocks.block(name)
        if name not in self.fitted:
            block = self.unfitted(name)
            if name.startswith(RELEVANT) and RELEVANT not in self.factors:
                weights = mutual_relevance_weights(self.Z, self.codes, self.weight)
                self.factors[RELEVANT] = weights
            kind = name.split()[0]
            kind = kind if kind in self.factors else ""
            if kind not in self._samples:
                Z = scaled_for(kind, self.Z, self.factors)
                given = Z, self.codes, self.weight, self.seed, row_hashes(Z, self.seed)
                self._samples[kind] = EncodedSamples(*given)
            self.fitted[name] = block._fit(self._samples[kind])
        return self.fitted[name]

    def unfitted(self, name: str) -> Any:
        """Return a block that is not fitted."""
        if name not in self.own:
            return BLOCKS[name](int(self.codes.max()) + 1, self._searching)
        own = self.own[name]
        return clone(own) if isinstance(own, TreeLeaves) else TransformerMap(own)

    def grow(self, name: str, rows: TrainingRows, *, fewer: bool = False) -> Any:
        """Return leaves of trees that are grown on other samples.

        Fewer are half of a forest, whose trees repeat each other.
        """
        block = self.unfitted(name)
        if fewer and block.kind != "hist_gradient_boosting":
            block.n_estimators = -(-block.n_estimators // 2)
        return block._fit(EncodedSamples(rows.Z, rows.codes, rows.weight, self.seed, rows.keys))

    def scores(self, feature_map: str, Z: np.ndarray, rules: np.ndarray) -> np.ndarray:
        """Return the decision values of linear models, whose last row is the intercept."""
        if is_sparse(feature_map, self.own):
            return np.asarray(self.block(feature_map)._scores(Z, rules[:-1]) + rules[-1])
        return self.features(feature_map, Z) @ rules[:-1] + rules[-1]

    def mapping(self, feature_map: str, center: np.ndarray, scale: np.ndarray) -> BlockMapping:
        """Return a feature map, up to its basis, as a function of samples that are not scaled."""
        functions, matrices = [], []
        for name in self.names(feature_map):
            function, matrix = _identity, None
            if name != COLUMNS:
                function, matrix = self.block(name)._factored()
            functions.append((name, function))
            matrices.append(np.eye(self.width(name)) if matrix is None else matrix)
        basis = block_diag(*matrices)
        return BlockMapping(center, scale, self.factors, functions, len(basis), basis)

    def features(
        self,
        feature_map: str,
        Z: np.ndarray,
        dtype: type = np.float64,
        positions: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the features of samples, which have these positions in ``SharedFeatures``."""
        parts = []
        for name in self.names(feature_map):
            if positions is not None and (shared := self.shared(name)):
                parts.append(shared.features(name, positions))
            else:
                parts.append(self.block_features(name, Z, dtype))
        return np.concatenate(parts, axis=1)

    def width(self, name: str) -> int:
        """Return the number of features of a block."""
        if name not in self._widths:
            one = self.Z[:1]
            if name != COLUMNS:
                block = self.block(name)  # first: it brings its factors
                one = block._transform(scaled_for(name, one, self.factors))
            self._widths[name] = int(one.shape[1])
        return self._widths[name]

    def block_features(self, name: str, Z: np.ndarray, dtype: type) -> np.ndarray:
        """Return the features of a block, computed for some samples at a time."""
        if name == COLUMNS:
            return Z.astype(dtype, copy=False)
        key = (name, id(Z), dtype)
        if key in self._cached:
            return self._cached[key]
        transform = self.block(name)._transform  # first: it brings the factors
        features = by_blocks(lambda rows: transform(scaled_for(name, rows, self.factors)), Z)
        features = features.astype(dtype, copy=False)
        if self._cache:
            self._cached[key] = features
        return features


class SharedFeatures:
    """Blocks without class codes: fitted once, and applied once, for all folds of a search.

    Held-out samples take part as they do in the scales of the features: by their values.  Each
    unique sample is mapped once.
    """

    def __init__(self, rows: TrainingRows, seed: int) -> None:
        self.blocks = FeatureBlocks(rows.merged(), seed, searching=True)
        _, first, unique = np.unique(rows.keys, return_index=True, return_inverse=True)
        self._Z, self._unique = rows.Z[first], unique.reshape(-1)

    def features(self, name: str, positions: np.ndarray) -> np.ndarray:
        """Return the features of a block for some samples, in single precision."""
        return self.blocks.block_features(name, self._Z, np.float32)[self._unique[positions]]


# Linear models on feature maps.


@dataclass(frozen=True)
class JointModel:
    """One linear model (or one for each class) on a feature map; the last row is the intercept."""

    feature_map: str
    C: float
    rules: np.ndarray
    objective: np.ndarray
    gap: float
    iterations: int

    @classmethod
    def of(cls, feature_map: str, C: float, solution: JointSolution) -> JointModel:
        gap = float(solution.relative_gap.max())
        return cls(feature_map, C, solution.rules, solution.objective, gap, solution.iterations)


def fit_models(
    blocks: FeatureBlocks, costs: Costs, chosen: Mapping[str, Sequence[float]], limits: Controls
) -> list[JointModel]:
    """Fit each feature map for some C (per sample); its features are freed before the next."""
    loss = costs.loss(blocks.codes, blocks.weight)
    models: list[JointModel] = []
    for done, (name, Cs) in enumerate(chosen.items()):
        _console.step("fit to all rows, map", done, len(chosen), f"{name}, {len(Cs)} of its C")
        ordered = sorted(Cs)
        scales = [C * float(blocks.weight.sum()) for C in ordered]
        path = fit_path(blocks.features(name, blocks.Z), loss, scales, limits)
        models += [JointModel.of(name, *pair) for pair in zip(ordered, path, strict=True)]
    return models


def fit_path(
    features: np.ndarray,
    loss: SeparateLoss | JointLoss,
    scales: Sequence[float],
    limits: Controls,
) -> list[JointSolution]:
    """Return certified models; with more features than samples as combinations of the samples.

    Steps in single precision lead to points in double; what does not converge goes on in double.
    Such steps end near the optimum of an objective that is flat there: models of weighted samples
    then agree with those of duplicated samples to seven digits, not to nine.
    """
    span, tol, most = Span(features), limits.tol, min(limits.max_iter, FLOAT32_STEPS)
    design = Design(span.rows, loss.codes, loss.weight, light=span.rows.astype(np.float32))
    path = solve_path(design, loss, scales, tol, most, out_of_time=limits.out_of_time)
    design = Design(span.rows, loss.codes, loss.weight)
    for k, begun in enumerate(path):
        left = limits.max_iter - begun.iterations
        if begun.relative_gap.max() > tol and limits.max_iter > most and not limits.out_of_time():
            scale, start = scales[k : k + 1], begun.rules
            [ended] = solve_path(
                design, loss, scale, tol, left, start=start, out_of_time=limits.out_of_time
            )
            path[k] = replace(ended, iterations=ended.iterations + begun.iterations)
    return [replace(one, rules=span.outer(one.rules)) for one in path]


@np.errstate(invalid="ignore")  # of float32 products: see solvers/newton/joint.py
def path_scores(
    features: np.ndarray,
    held_out: np.ndarray,
    loss: SeparateLoss | JointLoss,
    totals: np.ndarray,
) -> np.ndarray:
    """Return decision values of held-out samples for each C: (C, samples, outputs)."""
    span = Span(features)
    held_out = held_out if span.basis is None else held_out @ span.basis
    design = Design(span.rows, loss.codes, loss.weight)
    tol = search_tolerance(3 if isinstance(loss, JointLoss) else 2)
    path = solve_path(
        design, loss, totals.tolist(), tol, SEARCH_STEPS, certify=False, least_steps=1
    )
    models = [solution.rules.astype(held_out.dtype) for solution in path]
    return np.stack([held_out @ model[:-1] + model[-1] for model in models])
