"""KernelLCC: the centralization classifier in the space of a kernel."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import EfficiencyWarning

from lincent.estimators.choices import Calibrated, Rule, SolverName, Strategy
from lincent.estimators.classifier import Classifier, ProjectedLine
from lincent.estimators.direction import (
    Direction,
    check_margin,
    cut,
    generator,
    judge,
    solve_controls,
    store_certificates,
    warn_of_offset,
)
from lincent.estimators.discriminators import Cut, Discriminator, Line, fit_discriminator
from lincent.estimators.few_rows import FewRows
from lincent.estimators.kernels import (
    ChosenRows,
    KernelFunction,
    KernelSource,
    blocks,
    check_kernel,
    kernel_width,
    width_of,
)
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import HostTraining, Training, TwoClass, scaled_costs
from lincent.estimators.representer import Kinds, Representer, without_negligible
from lincent.estimators.validation import (
    check_choice,
    check_count,
    check_line_params,
    refuse_elsewhere,
)
from lincent.solvers.lp import dispatch
from lincent.sources.hashing import draw_distinct
from lincent.sources.landmarks import NystroemMap, mapped_rows
from lincent.sources.source import Kind, namespace_of

LARGE = 5000
"""Different rows above which a fit without ``n_components`` warns of its cost."""
NORMS = ("linf", "l1")
MATRICES = 4
SECONDS_AT_LARGE = 120.0


class KernelLCC(Probabilities, ProjectedLine, Classifier):
    """Kernel centralization classifier.

    The centralization classifier in the space of a kernel: the direction is a combination of the
    training rows with coefficients in [-1, 1], found by a linear program over the kernel matrix
    and solved to certified optimality.

    Parameters
    ----------
    C : float, default=2.0
        Cost of a unit of slack, on the sum over rows (the paper's lambda). ``np.inf`` is the hard
        margin.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)).
    kernel : {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"} or callable, \
default="rbf"
        A callable takes two arrays of rows and returns the matrix of kernel values. With
        ``"precomputed"``, X is the kernel matrix: square in ``fit``, and in ``predict`` one column
        for each training row.
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
        different training rows drawn at random, and solves the linear program in its coordinates,
        each in [-1, 1]: memory and time grow only linearly with the rows. Above 5000 different
        rows a fit without it warns of the cost. A Dask collection needs it.
    norm : {"linf", "l1"}, default="linf"
        What keeps the coefficients small. ``"linf"`` is the paper's program: each in [-1, 1], so
        that nearly all training rows are in use. ``"l1"`` is the sum of their absolute values, with
        the loss of :class:`RegularizedLCC` (margins -1 to 3 and a free threshold; ``margin`` is not
        used): few training rows are in use, and the kernel matrix is not formed above 5000 rows
        (above 2500 where few rows lie within the margins).
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How the projected line is cut: half-way between the centers, by the nearest training row, or
        by a one-dimensional SVM.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, calibrated on rows that the rules had not seen: ``fit`` is then
        repeated in five folds. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        All give the optimum; they differ in time.
    tol : float, default=1e-9
        Bound on ``duality_gap_ / max(1, abs(objective_))``.
    max_iter : int, default=200
        Largest number of interior-point iterations in one solve.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Parallel two-class problems; each holds its own kernel matrices.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks of ``n_components`` and the sample from which a large problem starts.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_support,)
        Indices of the training rows with a coefficient other than zero (with ``n_components``: the
        landmarks). Prediction touches no other row.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; absent for ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (1, n_support) or (n_problems, n_support)
        Their coefficients: ``transform(X)`` is ``kernel(X, support_vectors_) @ dual_coef_.T``.
    intercept_ : ndarray of shape (1,) or (n_problems,)
        Minus the cut on the projected line (for ``"nearest"``: minus the midpoint).
    centers_ : ndarray of shape (2,) or (n_problems, 2)
        The class centers on the projected line, negative class first.
    gamma_ : float
        ``gamma`` as a number.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_problems,)
        The certificate of the stored coefficients, for the program that was solved (with
        ``n_components``, the one in the coordinates of the map).
    n_iter_ : int or ndarray of shape (n_problems,)
    solver_ : str or list of str
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LCC : The linear form, with the box on the coefficients of the features.
    sklearn.svm.SVC : Sparse in its coefficients; not a linear program.

    Notes
    -----
    ``KernelLCC(kernel="linear")`` and ``LCC`` minimize the same function over the same directions
    and differ in the box alone: [-1, 1] on each coefficient alpha_i here, on each coefficient of
    beta there. Where neither box is reached, their optimum and predictions agree; where one is,
    typically on separable classes, they need not.

    The optimum pushes the centers as far apart as the box allows, so on separable data most
    coefficients sit at the box and few are zero. ``gamma`` sets how local the boundary is, and
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
    >>> bool(model.duality_gap_ <= 1e-9 * max(1, abs(model.objective_)))
    True
    """

    _line_centers: np.ndarray
    _training_rows: Any
    _mapping: NystroemMap
    _landmarks: np.ndarray

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
        """Find the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            With ``n_components`` also a Dask array or dataframe, which is read in place and mapped
            as it is read; predictions are then lazy Dask arrays. Or a torch or CuPy array, which is
            mapped on its device (not with a kernel function of your own).
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    # The contract with Classifier and ProjectedLine.

    @property
    def _accept_sparse(self) -> Any:  # type: ignore[override]
        return False if self._precomputed else "csr"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_params(self) -> None:
        check_line_params(self)
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        if check_choice("norm", self.norm, NORMS) == "l1":
            if self.n_components is not None:
                raise ValueError(
                    f"norm='l1' chooses few rows by itself, and n_components="
                    f"{self.n_components!r} would choose others before: give one of the two."
                )
            if np.isinf(self.C):
                raise ValueError("norm='l1' has no hard margin: give a finite C, not np.inf.")

    @property
    def _dispatches(self) -> bool:
        mapped = self.n_components is not None and self.kernel != "precomputed"
        return super()._dispatches and mapped and not callable(self.kernel)

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        if kind is Kind.DEVICE and callable(self.kernel):
            refuse_elsewhere(self, X)
        if self._precomputed:
            raise ValueError(
                'kernel="precomputed" needs the kernel matrix in memory: compute() it first.'
            )
        if self.n_components is None:
            raise ValueError(
                "KernelLCC without n_components solves over the kernel matrix of all rows, which "
                "must be in memory: set n_components (a few hundred) to read X where it is, or "
                "bring it here (compute() or cpu()) first."
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
            self.gamma_ = kernel_width(self.gamma, X, weight)
            self._training_rows, function = X, self._function(self.gamma_)
        if self.n_components is None:
            return training.seen_as(KernelSource.of(X, function))
        # Landmarks are columns of the kernel matrix.
        self._landmarks = draw_distinct(X, weight > 0, self.n_components, self._seed())
        between = function(X[self._landmarks], self._landmarks)
        self._mapping = NystroemMap.of(function, self._landmarks, between)
        return training.seen_as(mapped_rows(X, self._mapping))

    def _mapped(self, training: Training) -> Training:
        """The rows through a map to landmarks, wherever they are."""
        spread = training.variance() if self.gamma == "scale" else 0.0
        self.gamma_ = width_of(self.gamma, training.shape[1], spread)
        function = self._function(self.gamma_)
        self._landmarks, rows = training.draw_distinct(self.n_components or 1, self._seed())
        self._training_rows = ChosenRows(self._landmarks, rows)
        self._mapping = NystroemMap.of(function, rows, function(rows, rows))
        return training.mapped(self._mapping)

    def _seed(self) -> int:
        return int(generator(self).integers(2**62))

    def _fit_task(self, problem: TwoClass) -> tuple[np.ndarray, Direction]:
        """Coefficients on training rows, which the index names."""
        if self.n_components is None:
            problem = problem.counted()
            fit = self._fit_few if self.norm == "l1" else self._fit_exact
            return problem.X.index, fit(problem)
        direction = self._fit_in_map(problem)
        return self._landmarks, replace(direction, beta=self._mapping.basis @ direction.beta)

    def _fit_exact(self, problem: TwoClass) -> Direction:
        kinds = Kinds.of(problem.X, problem.sign)
        self._warn_of_cost(len(kinds.columns), problem.name)
        form = Representer(problem.X, kinds, problem.sign, problem.weight)
        margin = check_margin(self, self.margin, form.largest_margin, problem)
        costs = scaled_costs(form.cost_of_kinds(problem.cost), float(self.C))
        program = form.program(costs, margin)
        limits = solve_controls(self, problem)
        solution = dispatch.solve(program, self.solver, limits, generator(self))
        solution = without_negligible(program, solution, self.tol)
        judge(self, problem, margin, solution)
        alpha = solution.certificate.beta
        low, high = (float(c) for c in form.centers @ alpha)
        projected = form.projected(program, alpha)
        line = Line(projected, problem.sign, problem.weight, (low, high), problem.importance)
        rule = fit_discriminator(self.discriminator, line)
        spread = form.spread(alpha)
        shift = problem.X.shift(spread)
        reach = float(np.abs(form.centers).max(axis=0) @ np.abs(alpha)) + abs(shift)
        warn_of_offset(problem, reach, high - low)
        ends = np.array([low, high]) + shift
        middle = line.midpoint + shift
        return Direction(spread, ends, middle, high - low, rule.shifted(shift), solution)

    def _fit_few(self, problem: TwoClass) -> Direction:
        """Few rows in use: the regularized program with an L1 term on the columns of the kernel."""
        form = FewRows(problem.X, problem.sign, problem.cost * float(self.C))
        solution = form.solve(solve_controls(self, problem), generator(self))
        judge(self, problem, 0.0, solution)
        beta, shift = form.spread(solution.certificate.beta), 0.0
        projected = form.projected(solution.certificate.beta)
        shift = problem.X.shift(beta)
        sides = (problem.sign < 0, problem.sign > 0)
        low, high = (
            float(np.average(projected[side], weights=problem.weight[side])) for side in sides
        )
        line = Line(projected, problem.sign, problem.weight, (low, high), problem.importance)
        rule: Discriminator = Cut(solution.certificate.t)
        if self.discriminator != "distance":
            rule = fit_discriminator(self.discriminator, line)
        ends, middle = np.array([low, high]) + shift, line.midpoint + shift
        return Direction(beta, ends, middle, high - low, rule.shifted(shift), solution)

    def _fit_in_map(self, problem: TwoClass) -> Direction:
        if problem.in_memory:  # elsewhere rows without weight are left out as they are read
            problem = problem.counted()
        margin = check_margin(self, self.margin, problem.largest_margin, problem)
        program = problem.program(problem.costs(float(self.C)), margin)
        limits = solve_controls(self, problem)
        solution = dispatch.solve(program, self.solver, limits, generator(self))
        judge(self, problem, margin, solution)
        found = cut(problem, solution.certificate.beta, solution, self.discriminator)
        low, high = found.midpoint - found.width / 2, found.midpoint + found.width / 2
        return replace(found, centers=np.array([low, high]))

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
        self.intercept_ = np.array([part.intercept for part in directions])
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

    # Helpers.

    def _function(self, gamma: float) -> KernelFunction:
        return KernelFunction(self.kernel, gamma, self.degree, self.coef0)

    def _warn_of_cost(self, m: int, name: str) -> None:
        if m <= LARGE:
            return
        gigabytes = MATRICES * 8.0 * m**2 / 1e9
        minutes = SECONDS_AT_LARGE * (m / LARGE) ** 3 / 60
        warnings.warn(
            f"KernelLCC solves over a {m} x {m} kernel matrix ({name}): up to {gigabytes:.1f} GB "
            f"of memory and on the order of {minutes:.0f} minutes. Set n_components (a few "
            "hundred) for a cost that grows linearly with the rows.",
            EfficiencyWarning,
            stacklevel=2,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags
