"""What every classifier of the package does the same way.

``Classifier`` reduces a fit to two-class problems: a subclass says how to fit one (``_fit_task``),
what is kept of the fitted parts (``_store``) and how they score rows (``_task_scores``).
``ProjectedLine`` is for those whose rows end on a line between two centers: the line itself and
what each row costs on it.  ``whole_or_nothing`` is how any fit of the package ends.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from lincent import _threads
from lincent.estimators import dispatch, multiclass
from lincent.estimators.answers import score, where_rows_live
from lincent.estimators.discriminators import Discriminator
from lincent.estimators.native import check_native
from lincent.estimators.probabilities import (
    FoldFit,
    already_fitted,
    check_probability,
    cross_fitted,
    unfitted_copy,
)
from lincent.estimators.problem import HostTraining, Task, Training, TwoClass, open_training, tasks
from lincent.estimators.renamed import warn_of_old_names
from lincent.estimators.validation import (
    ClassCosts,
    check_choice,
    check_class_weight,
    check_labels,
    check_rows,
    refuse_elsewhere,
)
from lincent.estimators.watching import CallbackSupportMixin, watching, with_callbacks
from lincent.problems.centralization import HARD_FEASIBILITY
from lincent.sources.source import Kind, kind_of, open_source


@contextmanager
def whole_or_nothing(model: Any, X: Any, y: Any = None) -> Iterator[None]:
    """A fit as a whole or not at all, with as many threads as pay for X.

    An error leaves the estimator as it was: a model fitted earlier is not lost to bad input.  An
    interrupt leaves it unfitted, since the fit that was asked for did not happen.  What others have
    put on the estimator stays in either case.  Arithmetic that fails is told in a sentence.  Where
    ``fit`` is ``with_callbacks``, the callbacks of the estimator are told of its steps.
    """
    with watching(model, X, y), _as_it_was(model), _threads.limits_for_data(X):
        yield


@contextmanager
def _as_it_was(model: Any) -> Iterator[None]:
    """After an error or an interrupt, the estimator without what the fit has put on it."""
    before = dict(vars(model))
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        model.__dict__ = before
        raise ValueError(
            f"{type(model).__name__} was not fitted: a step of its solver cannot be computed "
            f"({' '.join(str(error).split()) or type(error).__name__}). Columns of very different "
            "sizes or nearly equal columns can cause this: standardize them, or leave some out."
        ) from error
    except Exception:
        model.__dict__ = before
        raise
    except BaseException:
        fitted = _private_results(type(model))
        model.__dict__ = {
            name: value
            for name, value in before.items()
            if not name.endswith("_") and name not in fitted
        }
        raise


F = TypeVar("F", bound=Callable[..., Any])


def as_a_whole(fit: F) -> F:
    """A ``fit(self, X, ...)`` that is ``whole_or_nothing``."""

    @with_callbacks
    @wraps(fit)
    def guarded(self: Any, X: Any, y: Any, *rest: Any, **named: Any) -> Any:
        with whole_or_nothing(self, X, y):
            return fit(self, X, y, *rest, **named)

    return guarded  # type: ignore[return-value]


def _private_results(kind: type) -> set[str]:
    """The private attributes that a fit sets: classes declare them."""
    names = (name for cls in kind.__mro__ for name in inspect.get_annotations(cls))
    return {name for name in names if name.startswith("_")}


ELSEWHERE = (Kind.DASK, Kind.BATCHES, Kind.DEVICE)


class Classifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier made of two-class problems.

    Subclasses have the parameters ``multi_class`` and ``n_jobs`` and, if they offer it,
    ``class_weight`` and ``probability``.
    """

    _accept_sparse: Any = "csr"
    _folds_at_hand = False
    """Whether scores of unseen rows come from a search, wherever the rows are."""
    _chosen: tuple[str, ...] = ()
    """What a search has set and a fit to part of the rows takes over."""
    _in_a_fold = False
    """Whether this is a copy for part of the rows: its margin is as large as they allow."""
    _strategies: tuple[str, ...] = ("ovr", "ovo")

    @property
    def _dispatches(self) -> bool:
        """Whether the tag ``array_api_support`` is set: a fit reads rows on a device, and keeps no
        scores of held-out rows, which are for rows in memory.
        """
        anywhere = type(self)._check_elsewhere is not Classifier._check_elsewhere
        return anywhere and getattr(self, "probability", None) is None

    def _check_params(self) -> None:
        """Raise a sentence for any unusable parameter."""

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Raise a sentence where this estimator cannot read a Dask or device array."""
        refuse_elsewhere(self, X)

    def _prepare(self, training: Training) -> Training:
        """The training data in the form in which the tasks see them."""
        return training

    def _fit_task(self, problem: TwoClass) -> Any:
        """Fit one two-class problem."""
        raise NotImplementedError

    def _fit_native(self, training: HostTraining, costs: ClassCosts) -> list[Any]:
        """Fit all classes at once, for those that have "native" among their strategies."""
        raise NotImplementedError

    def _store(self, parts: list[Any]) -> None:
        """Set the fitted attributes from the fitted tasks, in order."""
        raise NotImplementedError

    def _task_scores(self, X: Any) -> np.ndarray:
        """Signed scores, one column per task."""
        raise NotImplementedError

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        with whole_or_nothing(self, X, y):
            if get_config()["array_api_dispatch"]:
                return dispatch.fit(self, X, y, sample_weight)
            return self._fit_rows(X, y, sample_weight)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if hasattr(self, "margin_range"):
            warn_of_old_names(self)
        self._check_params()
        check_choice("multi_class", self.multi_class, self._strategies)
        if getattr(self, "probability", None) is not None:
            check_probability(self, self._folds_at_hand or kind_of(X) not in ELSEWHERE)
        self._learn(open_training(self, X, y, sample_weight))
        return self

    def _learn(self, training: Training, fitted: Sequence[FoldFit] = ()) -> None:
        """From checked data to fitted attributes; ``fitted`` hold out each row once."""
        weights = getattr(self, "class_weight", None)
        costs = check_class_weight(weights, training.classes, training.totals)
        seen = self._prepare(training)

        def fit_one(task: Task) -> Any:
            return self._fit_task(seen.task(task, costs))

        todo = tasks(len(self.classes_), self.multi_class)
        if self.multi_class == "native" and len(todo) > 1:
            self._store(self._fit_native(check_native(seen), costs))
        else:
            self._store(seen.each([partial(fit_one, task) for task in todo], self.n_jobs))
        if getattr(self, "probability", None) is not None:
            assert isinstance(training, HostTraining)
            if fitted:
                unseen, unit = already_fitted(self, fitted, training, self.multi_class)
            else:
                pairwise = self.__sklearn_tags__().input_tags.pairwise
                [(unseen, unit)] = cross_fitted(
                    [self], self._without_a_fold, training, self.multi_class, pairwise=pairwise
                )
            unseen.keep(self, unit)

    def _without_a_fold(self, part: HostTraining) -> list[Any]:
        """The same estimator, fitted to part of the rows, for scores of the others."""
        made = unfitted_copy(self, self.classes_)
        made._in_a_fold = True
        for name in ("n_features_in_", *self._chosen):
            setattr(made, name, getattr(self, name))
        Classifier._learn(made, part)
        return [made]

    def _rows_scores(self, X: Any) -> np.ndarray:
        return self._task_scores(check_rows(self, X, accept_sparse=self._accept_sparse))

    def _combined(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        scores = self._rows_scores(X)
        return multiclass.combine_scores(scores, len(self.classes_), self.multi_class)

    score = score

    @where_rows_live
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed scores: positive means ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores; with more than two classes one column per class.
        """
        return self._combined(X)

    @where_rows_live
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The class of each row.
        """
        scores = self._combined(X)
        return np.asarray(self.classes_[multiclass.pick(scores)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accept_sparse)
        tags.array_api_support = self._dispatches
        return tags


class ProjectedLine(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A classifier that cuts a line: beside ``Classifier``, for those with ``_rules`` on it.

    A subclass says how rows are projected (``_project``) and where the midpoint between the
    centers lies (``_midpoints``); it has a ``C`` and a ``margin``.
    """

    _rules: list[Discriminator]

    def _project(self, X: Any) -> np.ndarray:
        """The projected rows, one column per task."""
        raise NotImplementedError

    def _midpoints(self) -> np.ndarray:
        """The midpoint between the projected centers, one per task."""
        raise NotImplementedError

    def _missed(self, beyond: np.ndarray, task: int) -> np.ndarray:
        """epsilon - sigma, from how far each row is on its own side of the midpoint."""
        return np.maximum(self.margin - beyond, 0.0)  # type: ignore[attr-defined]

    def _task_scores(self, X: Any) -> np.ndarray:
        projected = self._project(X)
        return np.stack([rule.score(projected[:, k]) for k, rule in enumerate(self._rules)], axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self._rules)

    @where_rows_live
    def transform(self, X: Any) -> np.ndarray:
        """The projected line: one column per two-class problem.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_problems)
            One column per feature of the map.
        """
        check_is_fitted(self)
        X = check_rows(self, X, accept_sparse=self._accept_sparse)  # type: ignore[attr-defined]
        return self._project(X).astype(open_source(X).dtype, copy=False)

    @where_rows_live
    def misclassification_impact(self, X: Any, y: Any) -> np.ndarray:
        """How much each row costs: ``C * (epsilon - sigma)`` of the paper, zero where well placed.

        The largest values are the rows most at odds with their label. With more than two classes
        the impacts in the two-class problems of the row are added.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            What each row costs; zero for rows beyond their margin.
        """
        check_is_fitted(self)
        model: Any = self
        X = check_rows(self, X, accept_sparse=model._accept_sparse)
        codes = check_labels(y, model.classes_, X.shape[0])
        return self._impacts(X, codes)

    def _impacts(self, X: Any, codes: np.ndarray) -> np.ndarray:
        """What each row costs in its two-class problems."""
        model: Any = self
        projected, midpoints = self._project(X), self._midpoints()
        impact = np.zeros(X.shape[0])
        for k, task in enumerate(tasks(len(model.classes_), model.multi_class)):
            rows = slice(None) if task.whole else task.rows(codes)
            beyond = task.sign(codes[rows]) * (projected[rows, k] - midpoints[k])
            missed = self._missed(beyond, k)
            if np.isinf(model.C):  # rounding is no violation, or rows on the margin would cost inf
                size = model.margin + abs(midpoints[k]) + np.abs(beyond)
                missed[missed <= HARD_FEASIBILITY * size] = 0.0
            # A row that meets the margin costs nothing, also where C is infinite.
            impact[rows] += np.multiply(model.C, missed, where=missed > 0, out=missed)
        return impact
