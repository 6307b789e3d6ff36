"""KernelLCC: the centralization classifier in the space of a kernel.

With beta = sum_i alpha_i phi(x_i) every projection is a sum over the kernel matrix K:

    x_hat = sum_i alpha_i k(x, x_i),     C_hat = (weighted mean of the class's rows of K) . alpha

so the problem (``Representer``) is that of LCC with the rows of K in the place of the samples, and
with the box constraints alpha_i in [-1, 1].  A sample of weight w is w equal samples, whose
coefficients act as their sum, in [-w, w].  For the same reason equal samples are one column of K,
and equal samples of one class one row.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from lincent.estimators.base import Classifier, EstimatorMixin, ProjectionMixin
from lincent.estimators.linear import (
    Direction,
    SolverMixin,
    controls,
    fit_discriminator_on,
    warn_of_offset,
)
from lincent.estimators.problem import BinaryProblem, HostTraining, Training, scaled_costs
from lincent.estimators.threshold import Line, fit_discriminator
from lincent.estimators.validation import (
    COUNT,
    PAPER_CONSTRAINTS,
    POSITIVE,
    Rule,
    SolverName,
    refuse_backend,
)
from lincent.features.similarity import similarity
from lincent.problems.centralization import Program, certify, difference_of, lcc_program
from lincent.problems.joint import SmoothedHinge
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Solution
from lincent.sources.dense import KernelMatrixRows, origin_of, some_rows
from lincent.sources.hashing import distinct_rows
from lincent.sources.landmarks import NystroemMap
from lincent.sources.rows import row_blocks_of
from lincent.sources.source import Kind, kind_of, namespace_of
from lincent.tables.weighted import check_magnitude

KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed")
MARGINS = (-0.5, 1.5)
"""The range of margins over which the hinge of ``norm="l2"`` is averaged.  Halving it is doubling
C; measured on 40 tables, where 26 small ones do not care and 14 larger ones gain a point."""
NEGLIGIBLE = 1e-5
"""Of a decision value, which is of order one.  The eigenvalues of most raw tables fall fast: a
third of the coordinates is left, in half the time of a fit."""
LARGEST_BOX = 3000
"""Distinct samples up to which the box form is solved over the kernel matrix: half a minute,
or two where the last digits of the certificate are hard to get."""
BLOCK_BYTES = 2**25
"""Of the kernel matrix at a time, and at most an eighth of it."""


@dataclass(eq=False, repr=False)
class KernelLCC(SolverMixin, ProjectionMixin, EstimatorMixin, Classifier):
    """Kernel centralization classifier.

    The centralization classifier in the feature space of a kernel, solved to certified optimality.
    By default it is :class:`RegularizedLCC` on the features of a Nyström map: as accurate as an SVM
    with the same kernel, in a time that grows linearly with the samples. ``norm="linf"`` is the
    paper's linear program.

    Parameters
    ----------
    C : float, default=2.0
        Misclassification cost on the sum over samples (the paper's lambda). ``np.inf`` is the hard
        margin of ``norm="linf"``.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)); ``norm="linf"`` alone uses it.
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, \
default="rbf"
        A callable takes two arrays of samples and returns the matrix of kernel values. With
        ``"precomputed"``, X is the kernel matrix: square in ``fit``, and in ``predict`` one column
        for each training sample.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly", "sigmoid" and "laplacian". The paper writes the RBF kernel
        with a width w: ``gamma = 1 / (2 * w**2)``. ``"scale"`` is 1 / (n_features * X.var()),
        ``"auto"`` is 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid" (scikit-learn's ``SVC`` has the same default).
    n_components : int, default=None
        Number of landmarks of the Nyström map, distinct training samples drawn at random. None is
        100 and one for each 8 samples (by their weight), at most 500, for ``norm="l2"``, and no map
        for ``"linf"``. With ``norm="linf"`` and a number the linear program is solved in the
        coordinates of the map, each in [-1, 1].
    norm : {"l2", "linf"}, default="l2"
        ``"l2"`` adds half the squared length of the direction in feature space to the loss of
        :class:`RegularizedLCC` (margins -0.5 to 1.5 and an intercept). ``"linf"`` is the paper's
        problem over the m x m kernel matrix: each coefficient in [-1, 1], so that nearly all
        samples are support vectors. It needs up to four such matrices in memory and time of order
        m**3 (seconds at 1000 samples), fits noisy labels closely, and is refused above 3000
        distinct samples.
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How classes are told apart on the projected line: by the midpoint of the class centers, by
        the nearest training sample, or by a one-dimensional SVM.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives both sides of each binary
        subproblem the same total cost. The paper has None.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid"} or None, default=None
        Method by which ``predict_proba`` is calibrated on out-of-fold scores; ``fit`` is then
        repeated in five folds. ``predict`` does not change: with imbalanced classes the predicted
        class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        Solver of ``norm="linf"``. All give the optimum; they differ in time.
    tol : float, default=1e-9
        Bound on ``duality_gap_``.
    max_iter : int, default=200
        Largest number of iterations in one solve.
    time_limit : float, default=None
        Seconds after which the best solution so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel.
    random_state : int, RandomState instance or None, default=0
        Seed for the landmarks, and for the subsample used to initialize the solver on large
        problems.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_support,)
        Indices of the training samples with a nonzero coefficient (with a map: the landmarks).
        Prediction uses no other sample.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        These samples; absent for ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (1, n_support) or (n_problems, n_support)
        Their coefficients: ``transform(X)`` is ``kernel(X, support_vectors_) @ dual_coef_.T``.
    centers_ : ndarray of shape (2,) or (n_problems, 2)
        The class centers on the projected line, negative class first.
    gamma_ : float
        ``gamma`` as a number. Absent for ``kernel="precomputed"``.
    n_components_ : int or None
        Number of landmarks of the map; None where there is no map.
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the objective of the problem that was solved (with a map, the one in its
        coordinates), and a lower bound on the optimum from the dual problem.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems.
    n_iter_ : int or ndarray of shape (n_problems,)
        Number of iterations.
    solver_ : str or list of str
        The solver that found the solution.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    See Also
    --------
    LCC : The linear form, with box constraints on the coefficients of the features.
    RegularizedLCC : The linear form of the default.
    sklearn.svm.SVC : The hinge with one margin, without a map.

    Notes
    -----
    ``gamma`` sets how local the boundary is, and is worth tuning.

    ``KernelLCC(kernel="linear", norm="linf", class_weight=None)`` and ``LCC`` minimize the same
    function over the same directions and differ in the box constraints alone: [-1, 1] on each
    coefficient alpha_i here, on each coefficient of beta there. Where no such constraint is active,
    their optimum and predictions agree; where one is, typically on separable classes, they need
    not.

    References
    ----------
    Bonyadi, Vegh, Reutens, "Linear centralization classifier", 2017, section "Kernelization for
    LCC".

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent import KernelLCC
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> model = KernelLCC(gamma=1.0).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.duality_gap_ <= 1e-9
    True
    """

    C: float = 2.0
    margin: float = 0.01
    _: KW_ONLY
    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    n_components: int | None = None
    norm: Literal["l2", "linf"] = "l2"
    discriminator: Rule = "distance"
    solver: SolverName = "auto"

    _reads_in_place = True
    _intercept: np.ndarray = field(init=False)
    _samples: tuple[np.ndarray, Any] = field(init=False)
    """Indices and values of the samples that may become support vectors, within ``fit``."""
    _mapping: NystroemMap = field(init=False)
    _kernel_reach: np.ndarray = field(init=False)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PAPER_CONSTRAINTS,
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
        "degree": [POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "n_components": [COUNT, None],
        "norm": [StrOptions({"l2", "linf"})],
    }

    @property
    def _accept_sparse(self) -> Any:  # type: ignore[override]
        return False if self._precomputed else "csr"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _has_map(self) -> bool:
        return self.norm == "l2" or self.n_components is not None

    def _check_params(self) -> None:
        if self.norm == "l2" and np.isinf(self.C):
            raise ValueError(
                "norm='l2' has no hard margin: give a finite C, not np.inf, or norm='linf'."
            )

    def _check_input_backend(self, X: Any) -> None:
        if kind_of(X) is Kind.DEVICE and callable(self.kernel):
            refuse_backend(self, X)
        if self._precomputed:
            raise ValueError(
                'kernel="precomputed" needs the kernel matrix in memory: compute() it first.'
            )
        if not self._has_map:
            raise ValueError(
                "KernelLCC(norm='linf') solves over the kernel matrix of all rows, which must be "
                "in memory: use norm='l2' to read X in place, or convert it (compute() or cpu()) "
                "first."
            )

    def _prepare(self, training: Training) -> Training:
        if self._precomputed:
            if training.shape[0] != training.shape[1]:
                raise ValueError(
                    f'kernel="precomputed" needs a square X in fit, but X has shape '
                    f"{training.shape}: give the kernel between all pairs of training rows."
                )
            function = self._function(1.0)
        else:
            if isinstance(training, HostTraining) and isinstance(training.X, np.ndarray):
                check_magnitude(training.X)
            variance = training.variance() if self.gamma == "scale" else 0.0
            self.gamma_ = kernel_gamma(self.gamma, training.shape[1], variance)
            function = self._function(self.gamma_)
        if not self._has_map:
            assert isinstance(training, HostTraining)
            self._samples = np.arange(training.shape[0]), training.X
            self.n_components_ = None
            return training.with_features(KernelSource.of(training.X, function))
        # On eight smooth boundaries at 500, 2,000 and 5,000 samples 0.2 to 0.3 points of balanced
        # accuracy above one landmark for each 20 samples, in about the time of SVC.
        # Weights count as repetitions: the total, not the rows, says how many samples there are.
        wanted = self.n_components or min(100 + int(training.totals.sum()) // 8, 500)
        seed = int(self._generator().integers(2**62))
        self._samples = index, rows = training.draw_distinct(wanted, seed)
        self.n_components_ = len(index)
        points = index if self._precomputed else rows
        between = function(rows, points)
        self._kernel_reach = np.abs(between).max(axis=0)
        # A coordinate z moves a decision value by at most C |z_i| sum_j |z_j|, about C m times its
        # eigenvalue over the number of landmarks: below NEGLIGIBLE it is left out.
        size = float(self.C * training.totals.sum() / len(index))
        least = NEGLIGIBLE / size if self.norm == "l2" else 0.0
        self._mapping = NystroemMap.of(function, points, between, least)
        return training.mapped(self._mapping)

    def _fit_task(self, problem: BinaryProblem) -> tuple[np.ndarray, Direction]:
        """Return the indices of training samples and the direction with their coefficients."""
        if problem.in_memory:  # remote samples of weight zero are left out as they are read
            problem = problem.drop_zero_weight()
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        if not self._has_map:
            return problem.X.index, self._fit_exact(problem)
        direction = self._fit_in_map(problem)
        coef = self._mapping.basis @ direction.beta
        warn_of_offset(problem, float(self._kernel_reach @ np.abs(coef)), direction.width)
        return self._samples[0], replace(direction, beta=coef)

    def _fit_exact(self, problem: BinaryProblem) -> Direction:
        """Fit the paper's linear program over the kernel matrix."""
        form = Representer(problem.X, problem.sign, problem.weight)
        if len(form.columns) > LARGEST_BOX:
            raise ValueError(
                f"KernelLCC(norm='linf') solves over the kernel matrix, which would take minutes "
                f"for {len(form.columns)} distinct samples ({problem.name}; at most "
                f"{LARGEST_BOX}): use norm='l2', or n_components (a few hundred) for the same "
                "problem in the coordinates of a Nyström map."
            )
        margin = self._check_margin(self.margin, form.largest_margin, problem)
        program = form.program(form.costs(problem.cost, float(self.C)), margin)
        limits = controls(self, problem.began)
        solution = dispatch.solve(program, self.solver, limits, self._generator())
        solution = drop_negligible(program, solution, self.tol)
        self._warn_if_not_converged(problem, margin, solution)
        alpha = solution.certificate.beta
        coef, projected = form.sample_coef(alpha), form.projected(program, alpha)
        low, high = (
            float(np.average(projected[side], weights=problem.weight[side]))
            for side in (problem.sign < 0, problem.sign > 0)
        )
        line = Line(projected, problem.sign, problem.weight, (low, high), problem.importance)
        shift = problem.X.shift(coef)
        reach = float(np.abs(form.centers).max(axis=0) @ np.abs(alpha)) + abs(shift)
        warn_of_offset(problem, reach, high - low)
        rule = fit_discriminator(self.discriminator, line).shifted(shift)
        centers = np.array([low, high]) + shift
        return Direction(coef, centers, line.midpoint + shift, high - low, rule, solution)

    def _fit_in_map(self, problem: BinaryProblem) -> Direction:
        if self.norm == "l2":
            seed = int(self._generator().integers(2**31))
            direction = self._fit_regularized(problem, MARGINS, seed)
            solution = direction.solution
        else:
            margin = self._check_margin(self.margin, problem.largest_margin, problem)
            program = problem.program(problem.costs(float(self.C)), margin)
            limits = controls(self, problem.began)
            solution = dispatch.solve(program, self.solver, limits, self._generator())
            self._warn_if_not_converged(problem, margin, solution)
        if self.norm == "linf" or self.discriminator != "distance":
            beta = solution.certificate.beta
            direction = fit_discriminator_on(problem, beta, solution, self.discriminator)
        half = direction.width / 2
        centers = np.array([direction.midpoint - half, direction.midpoint + half])
        return replace(direction, centers=centers)

    def _store(self, parts: list[tuple[np.ndarray, Direction]]) -> None:
        used = np.concatenate([index[part.beta != 0] for index, part in parts])
        # Of equal samples with equal costs none is used, but kernels accept no empty array.
        self.support_ = np.unique(used if len(used) else parts[0][0][:1])
        self.dual_coef_ = np.zeros((len(parts), len(self.support_)))
        for row, (index, part) in zip(self.dual_coef_, parts, strict=True):
            present = part.beta != 0
            row[np.searchsorted(self.support_, index[present])] = part.beta[present]
        index, rows = self._samples
        if not self._precomputed:
            order = np.argsort(index)
            position = order[np.searchsorted(index, self.support_, sorter=order)]
            self.support_vectors_ = rows[position]
        for name in ("_samples", "_mapping", "_kernel_reach"):
            self.__dict__.pop(name, None)
        self._store_directions([part for _, part in parts])

    def _project(self, X: Any) -> np.ndarray:
        if self._precomputed:
            return np.asarray(X[:, self.support_] @ self.dual_coef_.T)
        function = self._function(self.gamma_)
        projected = np.empty((X.shape[0], len(self.dual_coef_)))
        place = namespace_of(X)
        weights = place.send(self.dual_coef_.T)
        for part in row_blocks_of(X.shape[0], len(self.support_), BLOCK_BYTES):
            rows = place.doubles(X[part])
            projected[part] = place.fetch(function(rows, self.support_vectors_) @ weights)
        return projected

    def _midpoints(self) -> np.ndarray:
        middle = self.centers_.reshape(-1, 2).mean(axis=1)
        return np.asarray(middle if self.norm == "linf" else -self._intercept)

    def _violation(self, signed: np.ndarray, task: int) -> np.ndarray:
        if self.norm == "linf":
            return super()._violation(signed, task)
        return SmoothedHinge(*MARGINS).value(signed)

    def _function(self, gamma: float) -> KernelFunction:
        return KernelFunction(self.kernel, gamma, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags


# The kernel.


def kernel_gamma(gamma: Any, n_features: int, variance: float) -> float:
    """Return gamma as a number, for X with this variance over all entries."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / n_features
    return 1.0 / (n_features * variance) if variance > 0 else 1.0


@dataclass(frozen=True)
class KernelFunction:
    """The kernel k(X, Y) as a float64 matrix."""

    name: Any
    gamma: float
    degree: float
    coef0: float

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        if callable(self.name):
            matrix = np.array(self.name(X, Y), dtype=np.float64)
            shape = (X.shape[0], Y.shape[0])
            if matrix.shape != shape:
                raise ValueError(
                    f"The kernel function returned an array of shape {matrix.shape} for {shape[0]} "
                    f"and {shape[1]} rows; it must return shape {shape}."
                )
            if not np.all(np.isfinite(matrix)):
                raise ValueError("The kernel function returned values that are not finite.")
            return matrix
        if self.name == "precomputed":  # X is rows of the kernel matrix, Y indices of columns
            return np.asarray(X[:, Y], dtype=np.float64)
        if kind_of(X) is Kind.DEVICE:
            return self._on_device(X, np.asarray(Y, dtype=np.float64))
        from sklearn.metrics.pairwise import pairwise_kernels  # late: it is slow to import

        X, Y = (_double(A) for A in (X, Y))
        if self.name == "rbf" and kind_of(X) is kind_of(Y) is Kind.DENSE:
            return similarity(X, Y, self.gamma)
        values = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        matrix = pairwise_kernels(X, Y, metric=self.name, filter_params=True, **values)
        return np.asarray(matrix, dtype=np.float64)

    def _on_device(self, X: Any, Y: np.ndarray) -> Any:
        """Return the kernel between samples on a device and a few samples on the host."""
        if self.name == "rbf":
            return similarity(X, Y, self.gamma)
        place = namespace_of(X)
        xp = place.xp
        if self.name == "laplacian":
            columns = [xp.sum(xp.abs(X - place.send(row)), axis=1) for row in Y]
            return xp.exp(-self.gamma * xp.stack(columns, axis=1))
        product = X @ place.send(Y.T)
        if self.name == "linear":
            return product
        product = self.gamma * product + self.coef0
        return product**self.degree if self.name == "poly" else xp.tanh(product)


def _double(A: Any) -> Any:
    A = A if A.dtype == np.float64 else A.astype(np.float64)
    if kind_of(A) is Kind.SPARSE and A.indices.dtype != np.int32 and max(A.nnz, *A.shape) < 2**31:
        # Some of scikit-learn's kernels accept 32-bit indices only.
        parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
        return sp.csr_matrix(parts, shape=A.shape)
    return A


@dataclass(frozen=True)
class KernelSource:
    """Training samples and the kernel between them; ``index`` is their position in the data."""

    X: Any
    index: np.ndarray
    kernel: KernelFunction
    origin: np.ndarray | None = None
    """For the linear kernel: <x - origin, x_j> differs from <x, x_j> by a constant in each column,
    to which the problem is invariant, and is more precise where X is far from zero."""

    @classmethod
    def of(cls, X: Any, kernel: KernelFunction) -> KernelSource:
        linear = kernel.name == "linear" and kind_of(X) is Kind.DENSE
        origin = origin_of(X[some_rows(len(X))]) if linear else None
        return cls(X, np.arange(X.shape[0]), kernel, origin)

    def shift(self, alpha: np.ndarray) -> float:
        """Return the difference of projections with and without the origin."""
        return 0.0 if self.origin is None else float((self.X @ self.origin) @ alpha)

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel.name, str) and self.kernel.name == "precomputed"

    def __getitem__(self, rows: Any) -> KernelSource:
        X = self.X if self.precomputed else self.X[rows]
        return KernelSource(X, self.index[rows], self.kernel, self.origin)

    def matrix(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the kernel between these samples as a new array."""
        if self.precomputed:
            chosen = np.ix_(self.index[rows], self.index[columns])
            return np.array(self.X[chosen], dtype=np.float64, order="C")
        matrix = np.empty((len(rows), len(columns)))
        Y = self.X[columns]
        for part in row_blocks_of(*matrix.shape, min(BLOCK_BYTES, matrix.size)):
            some = self.X[rows[part]]
            matrix[part] = self.kernel(some if self.origin is None else some - self.origin, Y)
        return matrix

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the distinct samples, and for each sample which one it equals."""
        if self.precomputed:
            everything = np.arange(len(self.index))
            return everything, everything
        return distinct_rows(self.X)


class Representer:
    """A binary subproblem in the coefficients alpha, with box constraints.

    ``columns`` are the distinct samples, ``rows`` those of each class; ``column`` and ``row`` are
    the positions of each sample among them.
    """

    def __init__(self, source: KernelSource, sign: np.ndarray, weight: np.ndarray) -> None:
        self.source, self.weight = source, weight
        self.columns, self.column = source.distinct()
        kind = 2 * self.column + (sign > 0)
        _, self.rows, row = np.unique(kind, return_index=True, return_inverse=True)
        self.row, self.side = row.reshape(-1), sign[self.rows]
        self.box = np.asarray(np.bincount(self.column, weights=weight), dtype=np.float64)

    @cached_property
    def K(self) -> np.ndarray:
        return self.source.matrix(self.rows, self.columns)

    @cached_property
    def centers(self) -> np.ndarray:
        weight = np.bincount(self.row, weights=self.weight)
        sides = [np.where(self.side == side, weight, 0.0) for side in (-1.0, 1.0)]
        return np.stack([side @ self.K / side.sum() for side in sides])

    @property
    def difference(self) -> np.ndarray:
        return difference_of(self.centers)

    @property
    def largest_margin(self) -> float:
        return float(np.abs(self.difference) @ self.box)

    def costs(self, cost: np.ndarray, C: float) -> Any:
        """Return C times the sum of the costs of equal samples of one class."""
        return scaled_costs(np.bincount(self.row, weights=cost), C)

    def program(self, costs: np.ndarray, margin: float) -> Program:
        """Return the linear program; it overwrites the kernel matrix, so call it once."""
        K, middle = self.K, self.centers.mean(axis=0)
        K -= middle
        K *= self.side[:, None]
        program = lcc_program(KernelMatrixRows(K), self.difference, costs, margin)
        return replace(program, lower=-self.box, upper=self.box)

    def projected(self, program: Program, alpha: np.ndarray) -> np.ndarray:
        """Return the projected training samples."""
        line = self.side * program.rows.dot(alpha) + self.centers.mean(axis=0) @ alpha
        return np.asarray(line[self.row])

    def sample_coef(self, alpha: np.ndarray) -> np.ndarray:
        """Return a coefficient for each training sample: equal ones share theirs by weight."""
        return np.asarray((alpha / self.box)[self.column] * self.weight)


def drop_negligible(program: Program, solution: Solution, tol: float) -> Solution:
    """Set negligible coefficients to zero, and certify the rest."""
    answer = solution.certificate
    bound = max(tol, answer.relative_gap)
    for threshold in (1e-6, 1e-8, 1e-10, 1e-12):
        small = np.abs(answer.beta) <= threshold * program.upper
        if not np.any(small & (answer.beta != 0)):
            continue
        trial = certify(program, np.where(small, 0.0, answer.beta), answer.alpha, answer.t)
        if trial.relative_gap <= bound and np.all(trial.beta[small] == 0):
            proof = certify_with_rounding(program, trial, tol, scale=solution.scale)
            return replace(solution, certificate=proof)
    return solution
