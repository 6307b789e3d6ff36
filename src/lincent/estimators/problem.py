"""The training data of a fit and its binary subproblems.

One-vs-rest has one subproblem per class, over all samples; one-vs-one has one per pair of classes,
over the samples of that pair; with two classes both are the same single subproblem.  The joint
multiclass problem (see ``regularized``) has one linear classifier per class, combined as those of
one-vs-rest.

``BinaryTask``      which classes are on which side of a subproblem
``BinaryProblem``   the samples, signs, weights and costs of a subproblem: everything that
                    ``_fit_task`` of an estimator needs, whatever the kind of X
``HostTraining``    checked X, labels and weights in memory; ``remote`` has those of Dask
                    collections, batches and device arrays with the same methods
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from lincent import _threads
from lincent.estimators.validation import ClassCosts, check_training_data, plain
from lincent.features.similarity import column_moments
from lincent.problems.arrays import Rows
from lincent.problems.centralization import Program, difference_of, lcc_program
from lincent.problems.rounding import CertificateData, SparseCertificateData
from lincent.sources.gradients import SideCosts
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import RowMapping, mapped_rows
from lincent.sources.rows import SignedRows, Source
from lincent.sources.source import Kind, kind_of, open_source, to_numpy
from lincent.tables.weighted import check_weights

SAME = 1e-10
"""Class means of a feature with a smaller relative difference may be those of a constant."""
STRATEGIES = ("ovr", "ovo")


@dataclass(frozen=True)
class BinaryTask:
    """The classes on both sides of a binary subproblem."""

    negative: tuple[int, ...]
    positive: tuple[int, ...]
    whole: bool

    def rows(self, codes: np.ndarray) -> np.ndarray:
        """Return the indices of the samples that take part."""
        return np.flatnonzero(np.isin(codes, self.negative + self.positive))

    def sign(self, codes: np.ndarray) -> np.ndarray:
        """Return 1 for samples of the positive side and -1 for the others."""
        return np.where(codes == self.positive[0], 1.0, -1.0)

    @property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.negative, self.positive

    def weights(self, totals: np.ndarray) -> tuple[float, float]:
        """Return the weight of each side, given that of each class."""
        low, high = (float(totals[list(side)].sum()) for side in self.sides)
        return low, high

    def labels(self, classes: np.ndarray) -> tuple[Any, ...]:
        """Return the class of each side that has only one."""
        return tuple(classes[side[0]] for side in self.sides if len(side) == 1)


def binary_tasks(n_classes: int, strategy: str) -> list[BinaryTask]:
    """Return the binary subproblems for this number of classes."""
    if n_classes == 2:
        return [BinaryTask((0,), (1,), whole=True)]
    codes = range(n_classes)
    if strategy == "ovr":
        return [BinaryTask(tuple(j for j in codes if j != k), (k,), whole=True) for k in codes]
    return [BinaryTask((i,), (j,), whole=False) for i, j in combinations(codes, 2)]


def combine_scores(scores: np.ndarray, n_classes: int, strategy: str) -> np.ndarray:
    """Return ``decision_function`` from the scores of the subproblems, one column each."""
    if n_classes == 2:
        return scores[:, 0]
    if strategy == "ovr":
        return scores
    # Votes decide; the summed scores, squeezed below half a vote, break ties.
    votes = np.zeros((scores.shape[0], n_classes))
    sums = np.zeros_like(votes)
    scores = np.clip(scores, -1e300, 1e300)  # sums of scores must not overflow
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        score = scores[:, column]
        votes[:, j] += score > 0
        votes[:, i] += score <= 0
        sums[:, j] += score
        sums[:, i] -= score
    return votes + sums / (3 * (np.abs(sums) + 1))


def predicted_codes(scores: np.ndarray) -> np.ndarray:
    """Return the class index of each sample from the result of ``decision_function``."""
    if scores.ndim == 1:
        return (scores > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


@dataclass(frozen=True)
class BinaryProblem:
    """Two classes of samples, the weight and cost of each sample, and the class importances.

    ``sign`` is -1 or 1 and is stored with the samples; ``weight`` counts repetitions; ``cost`` is
    weight times the cost factor of the class.  Samples are seen from an origin that takes large
    offsets out of them (see ``sources.dense``): ``means`` are the class centers relative to it.
    """

    X: Any
    sign: Any
    weight: Any
    cost: Any
    importance: tuple[float, float] = (1.0, 1.0)
    labels: tuple[Any, ...] = (-1, 1)
    """The class of each side; a single one is that of the positive side, one-vs-rest."""
    within: str = ""
    totals: tuple[float, float] | None = None
    """The weight of each side, if known."""
    began: float = field(default_factory=time.monotonic)
    """When the fit began; all its subproblems share ``time_limit``."""

    @property
    def name(self) -> str:
        """The name of the subproblem in messages."""
        *others, own = (repr(plain(label)) for label in self.labels)
        if others:
            name = f"class {others[0]} against class {own}"
        else:
            name = f"class {own} against the rest"
        return f"{name}, {self.within}" if self.within else name

    @cached_property
    def source(self) -> Source:
        return open_source(self.X, centered=True, weight=self.weight)

    @cached_property
    def means(self) -> np.ndarray:
        return self.source.class_means(self.sign, self.weight)

    @cached_property
    def difference(self) -> np.ndarray:
        return difference_of(self.means, self.source.sampled_range)

    @property
    def offset(self) -> Any:
        """The offset of X relative to the samples as they are seen: zero, or the origin."""
        return 0.0 if self.source.origin is None else self.source.origin

    @property
    def largest_margin(self) -> float:
        return float(np.abs(self.difference).sum())

    @cached_property
    def rows(self) -> Rows:
        center = (self.means[0] + self.means[1]) / 2
        if self.source.formed:
            return self.source.take_all(self.sign, center)
        return SignedRows(self.source, self.sign, center)

    @property
    def in_memory(self) -> bool:
        """Whether samples and vectors are NumPy arrays in this process."""
        return isinstance(self.sign, np.ndarray)

    def costs(self, C: float) -> Any:
        """Return C times the cost of each sample; an infinite C is a hard margin."""
        cost, place = self.cost, self.source.namespace
        if isinstance(cost, SideCosts):
            cost = np.asarray(place.fetch(cost.on(place, self.sign)))
        return scaled_costs(cost, C)

    def balanced(self) -> BinaryProblem:
        """Return the problem with costs that give both sides half of the total weight."""
        totals = self.totals or [float(self.weight @ (k * self.sign > 0)) for k in (-1, 1)]
        low, high = (sum(totals) / 2 / total for total in totals)
        if self.in_memory:
            cost = np.where(self.sign > 0, high, low)
            cost *= self.weight
            return replace(self, cost=cost)
        if self.source.is_remote:
            source: Any = self.source
            source = source.priced(low, high)
            return replace(self, X=source, cost=source.costs)
        return replace(self, cost=SideCosts(self.weight, low, high))

    def program(self, costs: Any, margin: float) -> Program:
        """Return equation LCC of the paper."""
        return lcc_program(self.rows, self.difference, costs, margin)

    def certificate_data(self) -> CertificateData | None:
        """Return X unshifted, for a certificate that includes the class centers.

        None where X is not an array in memory.
        """
        kind = kind_of(self.X)
        if kind not in (Kind.DENSE, Kind.SPARSE):
            return None

        def read(part: slice | np.ndarray) -> Any:
            return self.X[part].astype(np.float64, copy=False)

        given = read, self.sign, np.asarray(self.weight), self.X.shape
        if kind is Kind.SPARSE:
            return SparseCertificateData(*given, int(self.X.nnz))
        return CertificateData(*given)

    def direction(self, beta: np.ndarray) -> np.ndarray:
        """Return the coefficients with zeros for constant features, which only rounding sets."""
        constant = self._constant
        return beta if not constant.any() else np.where(constant, 0.0, beta)

    @cached_property
    def _constant(self) -> np.ndarray:
        """Whether each feature is constant; most are excluded by their class means."""
        suspect = np.abs(self.difference) <= SAME * np.abs(self.means).max(axis=0)
        if suspect.any():  # seldom, so that X is seldom read for this
            suspect[suspect] = self.source.constant_columns(np.flatnonzero(suspect))
        return suspect

    def line(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the projected samples, relative to the origin, their signs and weights."""
        sign = np.asarray(self.source.namespace.fetch(self.sign))
        return self.source.project(beta), sign, np.asarray(self.weight)

    def drop_zero_weight(self) -> BinaryProblem:
        """Return the problem without the samples of weight zero, for samples in memory."""
        if np.all(self.weight > 0):
            return self
        kept = np.flatnonzero(self.weight > 0)
        some = {name: getattr(self, name)[kept] for name in ("X", "sign", "weight", "cost")}
        return replace(self, **some, totals=None)


def scaled_costs(costs: Any, scale: float) -> Any:
    """Return scale times the costs; an infinite scale makes positive costs infinite."""
    if not isinstance(costs, np.ndarray):
        return costs.scaled(scale)
    # One number, broadcast: a vector makes products faster, but is memory.
    if costs.strides == (0,):
        one = scale * costs[0]
        small = len(costs) <= 2**16
        return np.full(len(costs), one) if small else np.broadcast_to(one, costs.shape)
    return scale * costs if np.isfinite(scale) else np.where(costs > 0, np.inf, 0.0)


@dataclass(frozen=True)
class ArrayTraining:
    """Data in one piece, in memory or on a device; ``X`` can be indexed by samples."""

    X: Any
    codes: Any
    weight: np.ndarray
    classes: np.ndarray
    began: float = field(default_factory=time.monotonic)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether the samples have different weights."""
        return self.weight.strides != (0,)

    @cached_property
    def totals(self) -> np.ndarray:
        """The weight of each class."""
        return np.bincount(self.host_codes, self.weight, len(self.classes)).astype(float)

    @property
    def host_codes(self) -> np.ndarray:
        """The codes in memory."""
        return np.asarray(self.codes)

    def _index(self, rows: np.ndarray) -> Any:
        """Return indices in the namespace of X."""
        return rows

    def rows(self, index: np.ndarray) -> Any:
        """Return some samples of X."""
        return self.X[self._index(index)]

    def fold(self, rows: np.ndarray) -> Self:
        """Return the training data of some samples."""
        weight = self.weight[rows] if self.weighted else np.broadcast_to(1.0, len(rows))
        codes = self.codes[self._index(rows)]
        return replace(self, X=self.rows(rows), codes=codes, weight=weight)

    def sign(self, task: BinaryTask) -> Any:
        """Return the side of each sample, in the namespace of X."""
        return task.sign(self.codes)

    def task(self, task: BinaryTask, costs: ClassCosts, within: str = "") -> BinaryProblem:
        """Return a binary subproblem; ``within`` (a fold, say) is added to its name."""
        sides, labels = costs.of(task.sides, self.totals), task.labels(self.classes)
        part = self if task.whole else self.fold(task.rows(self.host_codes))
        weight, sign = part.weight, part.sign(task)
        cost = weight if (costs.factor == 1).all() else weight * costs.factor[part.host_codes]
        totals = task.weights(self.totals)
        return BinaryProblem(part.X, sign, weight, cost, sides, labels, within, totals, self.began)

    def with_features(self, X: Any) -> Self:
        """Return the same samples with other features."""
        return replace(self, X=X)

    def inner(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run jobs within a job: in parallel only where it saves passes over the data."""
        return [job() for job in jobs]

    def draw_distinct(self, count: int, seed: int) -> tuple[np.ndarray, Any]:
        """Return the indices of at most ``count`` distinct samples, and these."""
        index, _ = smallest_distinct(row_hashes(self.X, seed), self.weight, count)
        return index, to_numpy(self.rows(index))


@dataclass(frozen=True)
class HostTraining(ArrayTraining):
    """Data in the memory of this process."""

    @classmethod
    def open(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> HostTraining:
        X, classes, codes = check_training_data(estimator, X, y)
        # The smallest dtype: with few features the codes are much of the memory.
        codes = codes.astype(np.min_scalar_type(len(classes)), copy=False)
        m = X.shape[0]
        one = sample_weight is None
        weight = np.broadcast_to(1.0, m) if one else check_weights(sample_weight, m)
        return cls(X, codes, weight, classes)

    def mapped(self, mapping: RowMapping) -> HostTraining:
        """Return the same samples with mapped features."""
        return self.with_features(mapped_rows(self.X, mapping))

    def each(self, jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
        """Return the results of jobs on these samples, run in parallel where that helps."""
        return run_jobs(jobs, n_jobs)

    def variance(self) -> float:
        """Return the weighted variance over all entries of X."""
        mean, variance = column_moments(self.X, self.weight)
        return float(variance.mean() + np.var(mean))


def run_jobs(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """Return the results of jobs, run in threads where ``n_jobs`` asks for it."""
    if len(jobs) == 1 or effective_n_jobs(n_jobs) == 1:
        return [job() for job in jobs]
    with _threads.share_cores(n_jobs, len(jobs)):
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(job)() for job in jobs))
