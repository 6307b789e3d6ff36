"""Base classes of all estimators.

``Classifier``         ``fit`` as an atomic operation, ``predict``, ``decision_function`` and
                       ``score`` of a classifier made of binary subproblems; a subclass fits one
                       (``_fit_task``), stores the results (``_store``) and scores samples
                       (``_task_scores``)
``EstimatorMixin``     parameters of all estimators of the package, and ``predict_proba`` of those
                       with ``probability``
``ProjectionMixin``    ``transform`` and ``misclassification_impact`` of estimators that project
                       samples on a line between two class centers

Public methods return the kind of array that they are given (``output_like_input``): a Dask
collection gives a lazy Dask array, a torch or CuPy array one on the same device, batches a NumPy
array.  Fitted attributes are NumPy arrays.  All this is so with scikit-learn's
``array_api_dispatch`` as well, which is switched off inside.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial, wraps
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import config_context
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lincent import _console, _threads
from lincent.estimators.calibration import FoldFit, fit_without_folds, scores_of_folds
from lincent.estimators.problem import (
    BinaryProblem,
    BinaryTask,
    HostTraining,
    Training,
    binary_tasks,
    combine_scores,
    open_remote,
    predicted_codes,
)
from lincent.estimators.threshold import Discriminator
from lincent.estimators.validation import (
    COMMON_CONSTRAINTS,
    ClassCosts,
    check_batch_columns,
    check_class_weight,
    check_dask_columns,
    check_hinge_range,
    check_labels,
    check_rows,
    refuse_backend,
)
from lincent.model_selection.folds import group_folds
from lincent.problems.centralization import HARD_FEASIBILITY
from lincent.sources.source import Kind, is_streamed, kind_of, namespace_of, open_source, to_numpy
from lincent.tables.weighted import check_magnitude

Method = Callable[..., Any]
log: Callable[[str], None] = print


# Atomic fits.


@contextmanager
def atomic_fit(model: Any, X: Any) -> Iterator[None]:
    """Make the fit in the body of the statement atomic.

    On an error or an interrupt the previous state of the estimator is restored: a model fitted
    earlier is not lost.  A failed computation is raised as a ValueError.  The number of BLAS
    threads is limited to what the size of X needs, and steps are printed by ``verbose``.
    """
    listeners = [_printer(model.verbose)] if getattr(model, "verbose", 0) else []
    before = dict(vars(model))
    try:
        with _console.listening(*listeners), _threads.limits_for_data(X):
            yield
    except (ArithmeticError, ValueError) as error:
        model.__dict__ = before
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isfinite(X).all():
            check_magnitude(X)  # where that is the reason, the message names the cell
        if isinstance(error, ValueError) and not isinstance(error, np.linalg.LinAlgError):
            raise
        raise ValueError(
            f"{type(model).__name__} was not fitted: a step of its solver cannot be computed "
            f"({' '.join(str(error).split()) or type(error).__name__}). Columns of very different "
            "sizes or nearly equal columns can cause this: standardize them, or leave some out."
        ) from error
    except BaseException:
        model.__dict__ = before
        raise


def _printer(verbose: int) -> _console.Listener:
    """Return a listener that prints folds with ``verbose=1``, every step with 2."""

    def show(what: str, done: int, total: int, detail: str) -> None:
        if what.endswith("fold") or verbose > 1:
            log(f"{what} {done + 1} of {total}" + (f": {detail}" if detail else ""))

    return show


# Results in the kind of array of the input.


def output_like_input(method: Method) -> Method:
    """Return a method of samples X that accepts and returns Dask, device and NumPy arrays."""

    @wraps(method)
    @config_context(array_api_dispatch=False)
    def wrapper(self: Any, X: Any, *rest: Any) -> Any:
        kind = kind_of(X)
        if kind is Kind.DASK:
            return _lazy_result(self, method, X, *rest)
        if kind is Kind.BATCHES:
            return _result_of_batches(self, method, X, *rest)
        result = method(self, X, *rest)
        if kind is Kind.DEVICE and isinstance(result, np.ndarray) and result.dtype.kind in "biuf":
            return namespace_of(X).send(result)
        return result

    return wrapper


def _result_of_batches(model: Any, method: Method, X: Any, *rest: Any) -> np.ndarray:
    check_is_fitted(model)
    check_batch_columns(model, X, reset=False)
    results = []
    for rows, labels, _ in X.start():
        given = [labels if one is X.target else one for one in rest]
        with warnings.catch_warnings():
            # The names were compared above; a batch is an array without names.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            results.append(np.asarray(method(model, rows, *given)))
    return np.concatenate(results)


def _lazy_result(model: Any, method: Method, X: Any, *rest: Any) -> Any:
    """Return a Dask array with a lazy block for each block of X (and of labels, if there are any).

    The shape of the result is that for one sample of zeros.
    """
    import dask.array as da

    from lincent.sources.dask.table import pieces

    check_is_fitted(model)
    check_dask_columns(model, X, reset=False)
    is_frame = hasattr(X, "columns")
    zeros = np.zeros((1, model.n_features_in_), dtype=np.float64 if is_frame else X.dtype)
    example = X._meta_nonempty.iloc[:1] if is_frame else zeros
    one = np.asarray(method(model, example, *(model.classes_[:1] for _ in rest)))
    block = partial(_result_of_block, model, method.__name__, one[:0])
    name = f"lincent-{method.__name__}"
    if is_frame:
        from dask.dataframe import from_dask_array

        for y in rest:
            pieces("y", y, X.npartitions, None)  # as many, or an error
        given = [from_dask_array(y) if isinstance(y, da.Array) else y for y in rest]
        how = {"align_dataframes": False, "meta": one[:0], "token": name}
        return X.map_partitions(block, *given, **how)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    labels = [
        y if kind_of(y) is Kind.DASK else da.from_array(np.asarray(y), chunks=X.chunks[0])
        for y in rest
    ]
    axes = "ikl"[: one.ndim]
    return da.blockwise(
        block,
        axes,
        *(X, "ij"),
        *(argument for y in labels for argument in (y, "i")),
        new_axes=dict(zip(axes[1:], one.shape[1:], strict=True)),
        concatenate=True,
        align_arrays=not np.isnan(X.chunks[0]).any(),
        dtype=one.dtype,
        meta=one[:0],
        token=name,
    )


def _result_of_block(model: Any, name: str, empty: np.ndarray, X: Any, *rest: Any) -> np.ndarray:
    return empty if X.shape[0] == 0 else np.asarray(getattr(model, name)(X, *rest))


# Classifiers.


def open_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Check X, y and weights; sets ``classes_`` and the names of the features."""
    training: Training
    if is_streamed(X):
        estimator._check_input_backend(X)
        training = open_remote(estimator, X, y, sample_weight)
    else:
        training = HostTraining.open(estimator, X, y, sample_weight)
    estimator.classes_ = training.classes
    return training


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier made of binary subproblems.

    Subclasses have the parameters ``multi_class`` and ``n_jobs`` and, if they offer it,
    ``class_weight`` and ``probability``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS
    _accept_sparse: Any = "csr"
    _reads_in_place = False
    """Whether Dask collections, batches and device arrays are read."""
    _searches_folds = False
    """Whether out-of-fold scores come from a search, also for remote data."""
    _coef: Any
    _intercept: np.ndarray
    cv: Any
    _searched: tuple[str, ...] = ()
    """Attributes that a search has set and a fit to some of the samples takes over."""
    _clip_margin = False
    """Whether a margin above the largest feasible one is clipped, in copies fitted to a fold."""

    def _check_params(self) -> None:
        """Raise an error for parameters that ``_parameter_constraints`` cannot describe."""

    def _check_input_backend(self, X: Any) -> None:
        """Raise an error where this estimator cannot read a Dask or device array."""
        if not self._reads_in_place:
            refuse_backend(self, X)

    def _prepare(self, training: Training) -> Training:
        """Return the training data with the features that the binary subproblems use."""
        return training

    def _fit_task(self, problem: BinaryProblem) -> Any:
        """Fit one binary subproblem."""
        raise NotImplementedError

    def _store(self, parts: list[Any]) -> None:
        """Set the fitted attributes from the fitted subproblems, in order."""
        raise NotImplementedError

    def _task_scores(self, X: Any) -> np.ndarray:
        """Return signed scores, one column per subproblem."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples. Also a Dask array or dataframe or batches, which are read in place, or a
            torch or CuPy array, which stays on its device; predictions are then arrays of the same
            kind. In memory alone: FQCC, ``norm="l1"``, kernels without a map and, on a device,
            kernels of one's own.
        y : array-like of shape (n_samples,)
            The class of each sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Any:
        if groups is not None:
            if not hasattr(self, "cv"):
                raise ValueError(f"{type(self).__name__} has no cv: groups have no use there.")
            cv = self.cv
            self.cv = group_folds(cv, X, y, groups)
            try:
                return self._fit(X, y, sample_weight)
            finally:
                self.cv = cv
        with atomic_fit(self, X), config_context(array_api_dispatch=False):
            return self._fit_rows(X, y, sample_weight)

    def _validate_params(self) -> None:
        # As in scikit-learn, without its look at the signature: a tenth of a small fit.
        constraints = {k: v for k, v in self._parameter_constraints.items() if hasattr(self, k)}
        values = {name: getattr(self, name) for name in constraints}
        validate_parameter_constraints(constraints, values, type(self).__name__)
        if hasattr(self, "margin_range"):
            check_hinge_range(self.margin_range)
        self._check_params()

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._validate_params()
        probability = getattr(self, "probability", None)
        if probability is not None and not self._searches_folds and is_streamed(X):
            raise ValueError(
                f"probability={probability!r} needs X in memory: give a NumPy array, or fit "
                "without it and calibrate decision_function yourself."
            )
        self._learn(open_training(self, X, y, sample_weight))
        return self

    def _learn(self, training: Training, fold_fits: Sequence[FoldFit] = ()) -> None:
        """Fit to checked data; ``fold_fits`` hold out each sample once."""
        weights = getattr(self, "class_weight", None)
        costs = check_class_weight(weights, training.classes, training.totals)
        self._store(self._fit_parts(self._prepare(training), costs))
        if getattr(self, "probability", None) is not None:
            assert isinstance(training, HostTraining)
            folds = fold_fits or fit_without_folds(self, training)
            scores, scale = scores_of_folds(self, folds, training)
            scores.calibrate(self, scale)

    def _fit_parts(self, training: Training, costs: ClassCosts) -> list[Any]:
        """Fit the binary subproblems."""

        def fit_one(task: BinaryTask) -> Any:
            return self._fit_task(training.task(task, costs))

        tasks = binary_tasks(len(self.classes_), self.multi_class)
        return training.each([partial(fit_one, task) for task in tasks], self.n_jobs)

    def _fit_fold(self, part: HostTraining) -> Any:
        """Return a silent copy fitted to some of the samples, for scores of the others."""
        quiet = {"probability": None, "verbose": 0}
        model = clone(self).set_params(**{k: v for k, v in quiet.items() if hasattr(self, k)})
        model._clip_margin = True
        for name in ("classes_", "n_features_in_", *self._searched):
            setattr(model, name, getattr(self, name))
        Classifier._learn(model, part)
        return model

    def _rows_scores(self, X: Any) -> np.ndarray:
        return self._task_scores(check_rows(self, X))

    def _decision(self, X: Any) -> np.ndarray:
        """Return the result of ``decision_function`` as a NumPy array."""
        return combine_scores(self._rows_scores(X), len(self.classes_), self.multi_class)

    @output_like_input
    def decision_function(self, X: Any) -> np.ndarray:
        """Compute signed scores of the samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one score, positive for ``classes_[1]``; with more classes one column
            per class, of which the largest wins.
        """
        check_is_fitted(self)
        return self._decision(X)

    @output_like_input
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each sample.

        With ``class_weight="balanced"``, and in LCC, LCCCV and FQCC with None as well, classes
        count equally, however frequent they are. With imbalanced classes this is then not always
        the class of the largest ``predict_proba``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted classes.
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[predicted_codes(self._decision(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of ``predict``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            The fraction of samples whose class is predicted.
        """
        from sklearn.metrics import accuracy_score

        labels, predicted, weight = map(to_numpy, (y, self.predict(X), sample_weight))
        return float(accuracy_score(labels, predicted, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        return tags


def _has_probability(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError(
            f"{type(model).__name__} has predict_proba only with probability='sigmoid': set it, or "
            "wrap the estimator in CalibratedClassifierCV."
        )
    return True


@dataclass(eq=False, repr=False)
class EstimatorMixin:
    """Parameters of all estimators, with defaults, and probabilities where ``probability`` is set.

    Estimators have ``_rows_scores``, which returns the scores of the binary subproblems, one column
    each, and ``_calibration``: a ``Calibration`` or, for scores without a scale, a ``Softmax``.
    """

    _: KW_ONLY
    class_weight: Any = "balanced"
    tol: float = 1e-9
    max_iter: int = 200
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    @available_if(_has_probability)
    @output_like_input
    def predict_proba(self, X: Any) -> np.ndarray:
        """Estimate the probability of each class.

        The estimates are calibrated on out-of-fold scores, and samples with outlying scores do not
        flatten them. They depend on the class frequencies, while for ``predict`` all classes count
        equally: with imbalanced classes the predicted class is not always the most probable one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._probabilities(X)

    @available_if(_has_probability)
    @output_like_input
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Estimate the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return np.log(np.maximum(self._probabilities(X), np.finfo(np.float64).tiny))

    def _probabilities(self: Any, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(self._calibration.probability(self._rows_scores(X)))


def has_pairs(model: Any) -> bool:
    """Return whether a classifier has one score for each pair of its classes."""
    several = len(getattr(model, "classes_", ())) > 2
    return several and getattr(model, "multi_class", "ovr") == "ovo"


def is_linear(model: Any) -> bool:
    """Return whether the binary problems of a model have coefficients of the columns of X."""
    return hasattr(type(model), "coef_") or hasattr(model, "coef_")


def binary_coefficients(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and intercepts of the binary problems of a linear model."""
    own = hasattr(type(model), "coef_")
    return (model._coef, model._intercept) if own else (model.coef_, model.intercept_)


class ProjectionMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The projected line of classifiers with a threshold or another discriminator on it.

    A subclass says how samples are projected (``_project``) and where the midpoint between the
    class centers lies (``_midpoints``); it has a ``C`` and a ``margin``.
    """

    _rules: list[Discriminator]
    _intercept: np.ndarray

    def _project(self, X: Any) -> np.ndarray:
        """Return the projected samples, one column per subproblem."""
        raise NotImplementedError

    def _midpoints(self) -> np.ndarray:
        """Return the midpoint between the projected centers of each subproblem."""
        raise NotImplementedError

    def _violation(self: Any, signed: np.ndarray, task: int) -> np.ndarray:
        """Return epsilon - sigma from the signed distance of samples to the midpoint."""
        return np.maximum(self.margin - signed, 0.0)

    def _task_scores(self, X: Any) -> np.ndarray:
        projected = self._project(X)
        if not hasattr(self, "_rules"):
            return np.asarray(projected + self._intercept)
        return np.stack([rule.score(projected[:, k]) for k, rule in enumerate(self._rules)], axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self._intercept)

    @output_like_input
    def transform(self, X: Any) -> np.ndarray:
        """Project the samples on the line of each binary subproblem.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_problems)
            The projections, one column per binary subproblem.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        return self._project(X).astype(open_source(X).dtype, copy=False)

    @output_like_input
    def misclassification_impact(self: Any, X: Any, y: Any) -> np.ndarray:
        """Compute the loss of each sample: ``C * (epsilon - sigma)`` of the paper.

        The samples with the largest values are suspected label errors. With more than two classes
        the impacts in the binary subproblems of the sample are added.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            The class of each sample.

        Returns
        -------
        ndarray of shape (n_samples,)
            The loss of each sample; zero for samples beyond their margin.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        codes = check_labels(y, self.classes_, X.shape[0])
        projected, midpoints = self._project(X), self._midpoints()
        impact = np.zeros(X.shape[0])
        for k, task in enumerate(binary_tasks(len(self.classes_), self.multi_class)):
            rows = slice(None) if task.whole else task.rows(codes)
            signed = task.sign(codes[rows]) * (projected[rows, k] - midpoints[k])
            violation = self._violation(signed, k)
            if np.isinf(self.C):  # rounding is no violation, or samples on the margin cost inf
                size = self.margin + abs(midpoints[k]) + np.abs(signed)
                violation[violation <= HARD_FEASIBILITY * size] = 0.0
            # A sample that meets the margin costs nothing, also where C is infinite.
            impact[rows] += np.multiply(self.C, violation, where=violation > 0, out=violation)
        return impact
