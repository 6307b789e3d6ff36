"""Classifiers of tables: what AutoLCC and the additive models share.

They encode tables with missing values, text and categories (``TrainingRows``), and have one linear
classifier of encoded features for two classes and one for each class, fitted together, for more
(``Costs``, ``problems.joint``).

Remote data (Dask, batches, devices) is numbers without missing values.  A random sample of it is
transferred to the host: knots, centers, landmarks and hyperparameters come from that sample.  The
linear classifiers are then fitted to all samples in place, started from those of the sample
(``fit_in_place``): Newton's method on sums over samples whose features are computed a few at a
time, so that memory does not grow with the feature map.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from lincent import _threads
from lincent.estimators.base import open_training
from lincent.estimators.problem import RemoteTraining
from lincent.estimators.validation import check_class_weight, check_device_rows, read_labels
from lincent.features.transformer import by_blocks
from lincent.model_selection.folds import number_of_folds
from lincent.problems.joint import JointLoss, SeparateLoss, SmoothedHinge
from lincent.solvers.newton import in_place
from lincent.solvers.newton.joint import JointSolution
from lincent.solvers.solution import Controls
from lincent.sources.batches import BATCH_ROWS, batches_of
from lincent.sources.gradients import (
    JointPoint,
    JointReader,
    JointSums,
    LossStructure,
    in_basis,
    joint_sums,
)
from lincent.sources.hashing import candidates_by_hash, row_hashes
from lincent.sources.landmarks import RowMapping
from lincent.sources.shared_reads import merge_results
from lincent.sources.source import Kind, in_memory, kind_of, open_source
from lincent.tables.encoder import (
    NamedColumns,
    TableEncoder,
    frame_columns,
    named_columns,
    select_categorical,
)
from lincent.tables.infer import columns_left_out
from lincent.tables.weighted import (
    Columns,
    check_weights,
    merged,
    poststratified,
    shares_of_classes,
)

READ_ROWS, READ_PARTS = 4_096, 4
"""Samples that are mapped, or scored, at a time; such parts that a thread reads one by one."""
PER_SAMPLE = ("Z", "keys", "codes", "weight")


@dataclass(frozen=True)
class TrainingRows:
    """Encoded samples with hashes (of their values), class codes and weights."""

    Z: np.ndarray
    keys: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    units: np.ndarray | None
    n_jobs: int | None = None
    """Threads of a pass over the samples."""

    def __getitem__(self, index: np.ndarray) -> TrainingRows:
        own: dict[str, Any] = {name: getattr(self, name)[index] for name in PER_SAMPLE}
        return replace(self, **own)

    def joined(self, other: TrainingRows) -> TrainingRows:
        """Return these samples and others."""
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in PER_SAMPLE
        }
        return replace(self, **both)

    @property
    def shape(self) -> tuple[int, int]:
        return self.Z.shape[0], self.Z.shape[1]

    @property
    def totals(self) -> np.ndarray:
        """The weight of each class."""
        return np.bincount(self.codes, weights=self.weight)

    def joint_reader(self, mapping: RowMapping, structure: LossStructure) -> JointReader:
        """Return the sums over mapped samples, mapped a few at a time in each pass."""

        def sums(part: slice, points: list[JointPoint]) -> tuple[JointSums, ...]:
            given = mapping(self.Z[part]), self.codes[part], self.weight[part], structure
            return tuple(joint_sums(*given, point) for point in points)

        def add(parts: Iterable[tuple[JointSums, ...]]) -> tuple[JointSums, ...]:
            return reduce(lambda one, two: merge_results([one, two]), parts)

        def block_sums(block: list[slice], points: list[JointPoint]) -> tuple[JointSums, ...]:
            return add(sums(part, points) for part in block)

        def read(points: list[JointPoint]) -> list[JointSums]:
            # In an order that does not depend on the number of threads.
            parts = list(gen_batches(len(self.codes), READ_ROWS))
            blocks = [parts[k : k + READ_PARTS] for k in range(0, len(parts), READ_PARTS)]
            with _threads.share_cores(self.n_jobs, len(blocks)):
                workers = Parallel(self.n_jobs, prefer="threads", return_as="generator")
                return list(add(workers(delayed(block_sums)(block, points) for block in blocks)))

        return read

    def drawn(self, index: np.ndarray, totals: np.ndarray) -> TrainingRows:
        """Return a sample of ``sample`` with the class frequencies of the population."""
        rows = self[index]
        return replace(rows, weight=poststratified(rows.codes, rows.weight, totals))

    def merged(self) -> TrainingRows:
        """Return the unique samples in the order of their hashes, with total weights."""
        everything = np.arange(len(self.codes))
        index, weight = merged(everything, self.keys, self.codes, self.weight)
        return replace(self[index], weight=weight)

    def sample(self, count: int, totals: np.ndarray) -> np.ndarray:
        """Return the indices of about ``count`` unique samples, stratified by class weight.

        Drawn by hash, so duplicates stay together and the order of the samples does not matter.
        ``totals`` are the weights of the classes in the population.  Rare classes have more than
        their share: ``drawn`` mends their weights.
        """
        used = self.weight > 0
        classes = [np.flatnonzero(used & (self.codes == k)) for k in np.unique(self.codes)]
        # One more than are drawn tells whether there are more.
        small = [rows[candidates_by_hash(self.keys[rows], count + 1)] for rows in classes]
        unique = [np.unique(self.keys[rows]) for rows in small]
        counts = shares_of_classes([len(hashes) for hashes in unique], totals.tolist(), count)
        drawn = [
            rows[self.keys[rows] <= hashes[some - 1]]
            for rows, hashes, some in zip(small, unique, counts, strict=True)
            if some
        ]
        return np.sort(np.concatenate(drawn))


@dataclass(frozen=True)
class Costs:
    """Costs of a unit of loss by class (of sum 1 over all weight), and the margin range."""

    by_class: np.ndarray
    margins: tuple[float, float]

    def loss(self, codes: np.ndarray, weight: np.ndarray) -> SeparateLoss | JointLoss:
        """Return the problem of these samples: one model for two classes, one each for more."""
        n = len(self.by_class)
        total = np.bincount(codes, weights=weight, minlength=n)
        cost = self.by_class / np.maximum(total, 1e-300)
        phi = SmoothedHinge(*self.margins)
        if n == 2:
            return SeparateLoss(codes, weight, np.array([[-1.0, 1.0]]), cost[None], phi)
        pairs = np.tile(cost[:, None] / (n - 1), (1, n))
        return JointLoss(codes, weight, pairs, phi)

    def loss_structure(self, totals: np.ndarray) -> LossStructure:
        """Return the same problem for samples in blocks, whose classes have these weights."""
        make = LossStructure.of_two if len(self.by_class) == 2 else LossStructure.native
        return make(self.by_class / np.maximum(totals, 1e-300), *self.margins)


def total_costs(n_classes: int) -> np.ndarray:
    """Return the candidates for C as totals over all samples, C times their weight.

    Of more than two classes all pairs share the total.
    """
    return 10.0 ** (np.arange(-1.0, 4.0, 0.75) if n_classes == 2 else np.arange(1.75, 5.0))


def search_tolerance(n_classes: int) -> float:
    """Return the relative gap to which candidates are solved in a search.

    Models this far from the optimum choose the same feature map and C: measured, on sets of the
    leaderboard that take part in choices.  They are not begun at those of another fold, which have
    seen the samples that are held out here: left so far from the optimum, they would remember them.
    """
    return 1e-2 if n_classes == 2 else 0.1


def fit_in_place(
    samples: TrainingRows | RemoteTraining,
    costs: Costs,
    limits: Controls,
    mapping: RowMapping,
    Cs: Sequence[float],
    starts: Sequence[np.ndarray],
    basis: np.ndarray | None = None,
) -> list[JointSolution]:
    """Fit to all samples for each C (per sample); features are computed a few at a time.

    ``basis``: features are those of the mapping, times this matrix.
    """
    structure, weight = costs.loss_structure(samples.totals), float(samples.totals.sum())
    read, scales = samples.joint_reader(mapping, structure), [C * weight for C in Cs]
    read = read if basis is None else in_basis(read, basis)
    stop = limits.tol, limits.max_iter, limits.out_of_time
    return in_place.solve_joint_path(read, structure, scales, starts, samples.shape[0], *stop)


def sample_of_remote(
    training: RemoteTraining, seed: int, count: int
) -> tuple[TrainingRows, Columns]:
    """Return about ``count`` distinct samples, and the statistics of the columns of all samples.

    One pass over the data; the samples are those of ``TrainingRows.sample``.
    """
    totals = training.totals
    most = shares_of_classes([count] * len(totals), totals.tolist(), count)
    sample = training.sample_classes(count, seed, most)
    drawn = sample.classes
    rows = TrainingRows(
        np.concatenate([open_source(part.rows).array() for part in drawn]).astype(np.float64),
        np.concatenate([part.keys for part in drawn]),
        np.repeat(np.arange(len(totals)), [len(part.keys) for part in drawn]),
        np.concatenate([part.weights for part in drawn]),
        None,
    )
    spread = sample.spread
    deviation = np.sqrt(spread.squares / totals.sum())
    flat = deviation <= 1e-12 * np.maximum(np.abs(spread.mean), 1e-300)
    columns = Columns(spread.mean, np.where(flat, 1.0, deviation), spread.low, spread.high)
    return rows.merged(), columns


class TableClassifier(BaseEstimator):
    """A classifier of tables, beside ``Classifier``.

    Subclasses have ``margin_range``, ``categorical_features``, ``keep_columns``, ``tol``,
    ``max_iter``, ``time_limit``, ``random_state``, ``_fit_table`` and ``_block_scores``: from
    encoded samples to scores, one column per linear classifier.
    """

    _reads_in_place = True
    _searches_folds = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted. Also a Dask array or
            dataframe of numbers, batches, or a torch or CuPy array, which are read in place, five
            to nine times.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples; any nonnegative numbers.
        groups : array-like of shape (n_samples,), default=None
            For estimators with `cv`: samples of one group are never split between folds. `cv` is a
            splitter that takes groups, such as ``GroupKFold()``, or a number of folds, stratified
            as far as groups allow.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, groups)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._validate_params()
        ends = time.monotonic() + (np.inf if self.time_limit is None else self.time_limit)
        limits = Controls(self.tol, self.max_iter, ends)
        seed = int(check_random_state(self.random_state).randint(2**31))
        self._fit_table(*self._sparse_to_batches(X, y, sample_weight), seed, limits)
        return self

    @property
    def _own_folds(self) -> bool:
        """Whether the user's folds are indices of samples of X, which must be in memory then."""
        cv = getattr(self, "cv", None)
        return not (cv is None or isinstance(cv, int | np.integer))

    def _costs(self, totals: np.ndarray) -> Costs:
        """Return the costs, of sum one, for classes with these weights."""
        totals = totals * check_class_weight(self.class_weight, self.classes_, totals).factor
        return Costs(totals / totals.sum(), self.margin_range)

    def _sparse_to_batches(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return a sparse X as batches, since all its columns get dense features; others as is."""
        if kind_of(X) is not Kind.SPARSE:
            return X, y, sample_weight
        if self._own_folds:
            return X.toarray(), y, sample_weight
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        codes = self._codes(y, X.shape[0])
        weight = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        batches = batches_of(X, self.classes_[codes], weight)
        return batches, batches.target, None

    def _open_table(self, X: Any, y: Any, sample_weight: Any, seed: int) -> TrainingRows:
        table = named_columns(self, X, self.categorical_features, reset=True)
        codes = self._codes(y, table.shape[0])
        self._used = self._select_columns(table, codes)
        table = table.select(self._used) if len(self._used) < len(table.names) else table
        weight = check_weights(sample_weight, table.shape[0])
        self._encoder = TableEncoder(scale=False)
        Z = self._encoder.fit_columns(table, weight)
        return TrainingRows(Z, row_hashes(Z, seed), codes, weight, None, self.n_jobs)

    def _select_columns(self, table: NamedColumns, codes: np.ndarray) -> np.ndarray:
        """Return the positions of the columns that are used; warn of the others of a frame."""
        everything = np.arange(len(table.names))
        keep = self.keep_columns
        if isinstance(keep, str) and keep == "all":
            return everything
        if isinstance(keep, str) or not np.iterable(keep):
            raise ValueError(f"keep_columns={keep!r} is neither a list of names nor 'all'.")
        unknown = [name for name in keep if name not in table.names]
        if unknown:
            raise ValueError(f"keep_columns names {unknown[0]!r}, which X has not.")
        if table.matrix is not None:
            return everything
        stated = select_categorical(
            self.categorical_features, table.names, [False] * len(everything)
        )
        stated_names = (name for name, chosen in zip(table.names, stated, strict=True) if chosen)
        left_out = columns_left_out(table.frame, codes, (*keep, *stated_names))
        if left_out:
            listed = "; ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
            warnings.warn(
                f"{type(self).__name__} does not use these columns: {listed}. keep_columns names "
                "those to use all the same, or is 'all'.",
                UserWarning,
                stacklevel=6,
            )
        return everything[[name not in left_out for name in table.names]]

    def _named(self, X: Any) -> NamedColumns:
        """Return the columns of X that are used; a frame may lack those that ``fit`` left out."""
        if len(self._used) == self.n_features_in_:
            return named_columns(self, X, None, reset=False)
        used = self.feature_names_in_[self._used].tolist()
        given = {*getattr(X, "columns", ())}
        if {*used} <= given < {*self.feature_names_in_}:
            return frame_columns(in_memory(X)[used], None)
        return named_columns(self, X, None, reset=False).select(self._used)

    @property
    def _sources(self) -> np.ndarray:
        """For each encoded column, the index of its column of X."""
        return np.asarray(self._used[self._encoder.sources])

    def _codes(self, y: Any, n_samples: int) -> np.ndarray:
        self.classes_, codes = read_labels(type(self).__name__, y, n_samples)
        return codes

    def _open_remote(self, X: Any, y: Any, sample_weight: Any) -> RemoteTraining:
        """Open data that is read in place."""
        number_of_folds(getattr(self, "cv", None), remote=True)
        if self.categorical_features is not None:
            raise ValueError(
                "categorical_features needs X as a table in memory: encode these columns first, or "
                "compute() X."
            )
        training = open_training(self, X, y, sample_weight)
        assert isinstance(training, RemoteTraining)
        self._encoder = TableEncoder.for_numbers(self._column_names())
        self._used = np.arange(self.n_features_in_)
        return training

    def _column_names(self) -> list[str]:
        """Return the names of the columns, x0, x1, ... where X has none."""
        numbered = [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", numbered)]

    def _rows_scores(self, X: Any) -> np.ndarray:
        """Return the scores (n_samples, n_outputs)."""
        return self._apply_encoded(self._block_scores, X)

    def _apply_encoded(self, function: Callable[[Any], Any], X: Any) -> np.ndarray:
        """Return a function of encoded samples, one row each, as a NumPy array.

        Device arrays of numbers stay on their device; where the model has categories, or a number
        is missing, they are transferred to the host in parts, as sparse matrices are.
        """
        check_is_fitted(self)

        def on_host(rows: Any) -> np.ndarray:
            return by_blocks(function, self._encoder.encode(self._named(rows)))

        kind = kind_of(X)
        if kind not in (Kind.DEVICE, Kind.SPARSE) or X.ndim != 2 or not X.shape[0]:
            return on_host(X)
        if kind is Kind.DEVICE and self._encoder.plain:
            from lincent.sources.array_namespace import DeviceNamespace
            from lincent.sources.device import not_finite, parts_of

            checked = check_device_rows(self, X, reset=False, finite=False)
            if not_finite(checked) is None:
                device = DeviceNamespace(checked)
                coef = self._coef.values() if isinstance(self._coef, dict) else [self._coef]
                parts = parts_of((checked.shape[0], checked.shape[1] + sum(map(len, coef))))
                return np.concatenate(
                    [device.fetch(function(device.doubles(checked[part]))) for part in parts]
                )
        X = X.tocsr() if kind is Kind.SPARSE else X
        parts = gen_batches(X.shape[0], BATCH_ROWS)
        return np.concatenate([on_host(open_source(X[part]).array()) for part in parts])

    def _decision(self, X: Any) -> np.ndarray:
        return flat(self._rows_scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def flat(scores: np.ndarray) -> np.ndarray:
    """Return a single column of scores as a vector."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
