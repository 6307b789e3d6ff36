"""KernelLCC: the centralization classifier in the space of a kernel."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import EfficiencyWarning
from sklearn.utils._param_validation import Interval, StrOptions

from lincent.estimators.base import Classifier, ProbabilityMixin, ProjectionMixin
from lincent.estimators.direction import (
    Direction,
    check_margin,
    fit_discriminator_on,
    generator,
    solve_controls,
    store_certificates,
    warn_if_not_converged,
    warn_of_offset,
)
from lincent.estimators.kernel_problem import (
    KERNELS,
    ChosenRows,
    DistinctSamples,
    KernelFunction,
    KernelSource,
    Representer,
    SparseRepresenter,
    blocks,
    drop_negligible,
    kernel_gamma,
)
from lincent.estimators.problem import BinaryProblem, HostTraining, Training, scaled_costs
from lincent.estimators.threshold import Discriminator, Line, Threshold, fit_discriminator
from lincent.estimators.validation import (
    COUNT,
    PAPER_CONSTRAINTS,
    POSITIVE,
    Calibrated,
    Rule,
    SolverName,
    Strategy,
    refuse_backend,
)
from lincent.features.similarity import entry_variance
from lincent.solvers.lp import dispatch
from lincent.sources.hashing import draw_distinct
from lincent.sources.landmarks import NystroemMap, mapped_rows
from lincent.sources.source import Kind, namespace_of
from lincent.tables.weighted import check_magnitude

LARGE = 5000
"""Number of distinct samples above which a fit without ``n_components`` warns of its cost."""


class KernelLCC(ProbabilityMixin, ProjectionMixin, Classifier):
    """Kernel centralization classifier.

    The centralization classifier in the feature space of a kernel: the direction is a combination
    of the training samples with coefficients in [-1, 1], found by a linear program over the kernel
    matrix and solved to certified optimality.

    Parameters
    ----------
    C : float, default=2.0
        Misclassification cost on the sum over samples (the paper's lambda). ``np.inf`` is the hard
        margin.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)).
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
        None solves over the m x m kernel matrix: up to four such matrices in memory and time of
        order m**3. A number replaces the kernel by a Nyström map with that many landmarks,
        distinct training samples drawn at random, and solves the linear program in its coordinates,
        each in [-1, 1]: memory and time grow only linearly with the samples. Above 5000 distinct
        samples a fit without it warns of the cost. A Dask collection needs it.
    norm : {"linf", "l1"}, default="linf"
        Norm of the coefficients. ``"linf"`` is the paper's problem: each in [-1, 1], so that nearly
        all training samples are support vectors. ``"l1"`` adds the sum of their absolute values to
        the loss of :class:`RegularizedLCC` (margins -1 to 3 and an intercept; ``margin`` is not
        used): few samples are support vectors, and the kernel matrix is not formed above 5000
        samples (above 2500 where few samples violate the margins).
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How classes are told apart on the projected line: by the midpoint of the class centers, by
        the nearest training sample, or by a one-dimensional SVM.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Method by which ``predict_proba`` is calibrated on out-of-fold scores; ``fit`` is then
        repeated in five folds. ``predict`` does not change: with imbalanced classes the predicted
        class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        All give the optimum; they differ in time.
    tol : float, default=1e-9
        Bound on ``duality_gap_``.
    max_iter : int, default=200
        Largest number of interior-point iterations in one solve.
    time_limit : float, default=None
        Seconds after which the best solution so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel; each holds its own kernel matrices.
    random_state : int, RandomState instance or None, default=None
        Seed for the landmarks of ``n_components``, and for the subsample used to initialize the
        solver on large problems.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_support,)
        Indices of the training samples with a nonzero coefficient (with ``n_components``: the
        landmarks). Prediction uses no other sample.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        These samples; absent for ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (1, n_support) or (n_problems, n_support)
        Their coefficients: ``transform(X)`` is ``kernel(X, support_vectors_) @ dual_coef_.T``.
    centers_ : ndarray of shape (2,) or (n_problems, 2)
        The class centers on the projected line, negative class first.
    gamma_ : float
        ``gamma`` as a number.
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the objective of the problem that was solved (with ``n_components``, the
        one in the coordinates of the map), and a lower bound on the optimum from the dual problem.
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
    sklearn.svm.SVC : Sparse in its coefficients; not a linear program.

    Notes
    -----
    ``KernelLCC(kernel="linear")`` and ``LCC`` minimize the same function over the same directions
    and differ in the box constraints alone: [-1, 1] on each coefficient alpha_i here, on each
    coefficient of beta there. Where no such constraint is active, their optimum and predictions
    agree; where one is, typically on separable classes, they need not.

    The optimum moves the centers as far apart as the constraints allow, so on separable data most
    coefficients are at their bounds and few are zero. ``gamma`` sets how local the boundary is, and
    is worth tuning.

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

    _intercept: np.ndarray
    _line_centers: np.ndarray
    _training_rows: Any
    _mapping: NystroemMap
    _landmarks: np.ndarray

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PAPER_CONSTRAINTS,
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
        "degree": [POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "n_components": [COUNT, None],
        "norm": [StrOptions({"linf", "l1"})],
    }

    def __init__(
        self,
        C: float = 2.0,
        margin: float = 0.01,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        norm: Literal["linf", "l1"] = "linf",
        discriminator: Rule = "distance",
        class_weight: Any = None,
        multi_class: Strategy = "ovr",
        probability: Calibrated = None,
        solver: SolverName = "auto",
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.margin = margin
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.norm = norm
        self.discriminator = discriminator
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelLCC:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The samples. With ``n_components`` also a Dask array or dataframe, which is read in
            place and mapped as it is read; predictions are then lazy Dask arrays. Or a torch or
            CuPy array, which is mapped on its device (not with a callable kernel).
        y : array-like of shape (n_samples,)
            The class of each sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    @property
    def _accept_sparse(self) -> Any:  # type: ignore[override]
        return False if self._precomputed else "csr"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_params(self) -> None:
        if self.norm == "l1":
            if self.n_components is not None:
                raise ValueError(
                    "norm='l1' selects support vectors, and n_components="
                    f"{self.n_components!r} would select others before: give one of the two."
                )
            if np.isinf(self.C):
                raise ValueError("norm='l1' has no hard margin: give a finite C, not np.inf.")

    @property
    def _array_api_support(self) -> bool:
        mapped = self.n_components is not None and self.kernel != "precomputed"
        return super()._array_api_support and mapped and not callable(self.kernel)

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        if kind is Kind.DEVICE and callable(self.kernel):
            refuse_backend(self, X)
        if self._precomputed:
            raise ValueError(
                'kernel="precomputed" needs the kernel matrix in memory: compute() it first.'
            )
        if self.n_components is None:
            raise ValueError(
                "KernelLCC without n_components solves over the kernel matrix of all rows, which "
                "must be in memory: set n_components (a few hundred) to read X in place, or "
                "convert it (compute() or cpu()) first."
            )

    def _prepare(self, training: Training) -> Training:
        if self.n_components is not None and not self._precomputed:
            return self._mapped(training)
        assert isinstance(training, HostTraining)
        X, weight = training.X, training.weight
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f'kernel="precomputed" needs a square X in fit, but X has shape {X.shape}: '
                    "give the kernel between all pairs of training rows."
                )
            self._training_rows, function = None, self._function(1.0)
        else:
            if isinstance(X, np.ndarray):
                check_magnitude(X)
            variance = entry_variance(X, weight) if self.gamma == "scale" else 0.0
            self.gamma_ = kernel_gamma(self.gamma, X.shape[1], variance)
            self._training_rows, function = X, self._function(self.gamma_)
        if self.n_components is None:
            return training.with_features(KernelSource.of(X, function))
        self._landmarks = draw_distinct(X, weight > 0, self.n_components, self._seed())
        between = function(X[self._landmarks], self._landmarks)
        self._mapping = NystroemMap.of(function, self._landmarks, between)
        return training.with_features(mapped_rows(X, self._mapping))

    def _mapped(self, training: Training) -> Training:
        """Return the training data in the coordinates of the Nystroem map."""
        variance = training.variance() if self.gamma == "scale" else 0.0
        self.gamma_ = kernel_gamma(self.gamma, training.shape[1], variance)
        function = self._function(self.gamma_)
        self._landmarks, rows = training.draw_distinct(self.n_components or 1, self._seed())
        self._training_rows = ChosenRows(self._landmarks, rows)
        self._mapping = NystroemMap.of(function, rows, function(rows, rows))
        return training.mapped(self._mapping)

    def _seed(self) -> int:
        return int(generator(self).integers(2**62))

    def _fit_task(self, problem: BinaryProblem) -> tuple[np.ndarray, Direction]:
        """Return the indices of training samples and the direction with their coefficients."""
        if self.n_components is None:
            problem = problem.drop_zero_weight()
            fit = self._fit_sparse if self.norm == "l1" else self._fit_exact
            return problem.X.index, fit(problem)
        direction = self._fit_in_map(problem)
        return self._landmarks, replace(direction, beta=self._mapping.basis @ direction.beta)

    def _fit_exact(self, problem: BinaryProblem) -> Direction:
        distinct = DistinctSamples.of(problem.X, problem.sign)
        _warn_of_cost(len(distinct.columns), problem.name)
        form = Representer(problem.X, distinct, problem.sign, problem.weight)
        margin = check_margin(self, self.margin, form.largest_margin, problem)
        costs = scaled_costs(form.summed_costs(problem.cost), float(self.C))
        program = form.program(costs, margin)
        limits = solve_controls(self, problem)
        solution = dispatch.solve(program, self.solver, limits, generator(self))
        solution = drop_negligible(program, solution, self.tol)
        warn_if_not_converged(self, problem, margin, solution)
        alpha = solution.certificate.beta
        low, high = (float(c) for c in form.centers @ alpha)
        projected = form.projected(program, alpha)
        line = Line(projected, problem.sign, problem.weight, (low, high), problem.importance)
        rule = fit_discriminator(self.discriminator, line)
        coef = form.sample_coef(alpha)
        shift = problem.X.shift(coef)
        reach = float(np.abs(form.centers).max(axis=0) @ np.abs(alpha)) + abs(shift)
        warn_of_offset(problem, reach, high - low)
        ends = np.array([low, high]) + shift
        middle = line.midpoint + shift
        return Direction(coef, ends, middle, high - low, rule.shifted(shift), solution)

    def _fit_sparse(self, problem: BinaryProblem) -> Direction:
        """Fit the regularized problem with an L1 term on the coefficients."""
        form = SparseRepresenter(problem.X, problem.sign, problem.cost * float(self.C))
        solution = form.solve(solve_controls(self, problem), generator(self))
        warn_if_not_converged(self, problem, 0.0, solution)
        beta = form.sample_coef(solution.certificate.beta)
        projected = form.projected(solution.certificate.beta)
        shift = problem.X.shift(beta)
        sides = (problem.sign < 0, problem.sign > 0)
        low, high = (
            float(np.average(projected[side], weights=problem.weight[side])) for side in sides
        )
        line = Line(projected, problem.sign, problem.weight, (low, high), problem.importance)
        rule: Discriminator = Threshold(solution.certificate.t)
        if self.discriminator != "distance":
            rule = fit_discriminator(self.discriminator, line)
        ends, middle = np.array([low, high]) + shift, line.midpoint + shift
        return Direction(beta, ends, middle, high - low, rule.shifted(shift), solution)

    def _fit_in_map(self, problem: BinaryProblem) -> Direction:
        if problem.in_memory:  # remote samples of weight zero are left out as they are read
            problem = problem.drop_zero_weight()
        margin = check_margin(self, self.margin, problem.largest_margin, problem)
        program = problem.program(problem.costs(float(self.C)), margin)
        limits = solve_controls(self, problem)
        solution = dispatch.solve(program, self.solver, limits, generator(self))
        warn_if_not_converged(self, problem, margin, solution)
        beta = solution.certificate.beta
        direction = fit_discriminator_on(problem, beta, solution, self.discriminator)
        half = direction.width / 2
        centers = np.array([direction.midpoint - half, direction.midpoint + half])
        return replace(direction, centers=centers)

    def _store(self, parts: list[tuple[np.ndarray, Direction]]) -> None:
        used = np.concatenate([index[part.beta != 0] for index, part in parts])
        self.support_ = np.unique(used)
        self.dual_coef_ = np.zeros((len(parts), len(self.support_)))
        for row, (index, part) in zip(self.dual_coef_, parts, strict=True):
            present = part.beta != 0
            row[np.searchsorted(self.support_, index[present])] = part.beta[present]
        if self._training_rows is not None:
            self.support_vectors_ = self._training_rows[self.support_]
        for name in ("_training_rows", "_mapping", "_landmarks"):
            self.__dict__.pop(name, None)
        directions = [part for _, part in parts]
        self._intercept = np.array([part.intercept for part in directions])
        self._rules = [part.rule for part in directions]
        self._line_centers = np.array([part.centers for part in directions])
        self.centers_ = self._line_centers[0] if len(parts) == 1 else self._line_centers
        store_certificates(self, [part.solution for part in directions])

    def _project(self, X: Any) -> np.ndarray:
        if self._precomputed:
            return np.asarray(X[:, self.support_] @ self.dual_coef_.T)
        function = self._function(self.gamma_)
        projected = np.empty((X.shape[0], len(self.dual_coef_)))
        place = namespace_of(X)
        weights = place.send(self.dual_coef_.T)
        for part in blocks(X.shape[0], len(self.support_)):
            rows = place.doubles(X[part])
            projected[part] = place.fetch(function(rows, self.support_vectors_) @ weights)
        return projected

    def _midpoints(self) -> np.ndarray:
        return np.asarray(self._line_centers.mean(axis=1))

    def _function(self, gamma: float) -> KernelFunction:
        return KernelFunction(self.kernel, gamma, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags


def _warn_of_cost(m: int, name: str) -> None:
    if m <= LARGE:
        return
    gigabytes = 4 * 8.0 * m**2 / 1e9  # four matrices
    minutes = 2.0 * (m / LARGE) ** 3
    warnings.warn(
        f"KernelLCC solves over a {m} x {m} kernel matrix ({name}): up to {gigabytes:.1f} GB "
        f"of memory and on the order of {minutes:.0f} minutes. Set n_components (a few "
        "hundred) for a cost that grows linearly with the rows.",
        EfficiencyWarning,
        stacklevel=2,
    )
