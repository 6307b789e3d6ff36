"""Callbacks for ``set_callbacks``, by the protocol of scikit-learn 1.9."""

from __future__ import annotations

from numbers import Real
from typing import Any

__all__ = ["StopAtGap"]


class StopAtGap:
    """Stop a solve as soon as its relative duality gap is small enough.

    Like ``tol``, but set from outside, for one fit, and through a pipeline or a search: a callback
    is passed on to the estimators inside. The result is the best solution so far, certified by
    ``duality_gap_``; no warning is issued where that is above ``tol``. Works for the estimators of
    the paper, ``RegularizedLCC``, ``StructuredLCC`` and ``KernelLCC``; in a search it stops the fit
    to all samples.

    Parameters
    ----------
    gap : float, default=1e-3
        The relative duality gap at which a solve may stop.

    Attributes
    ----------
    max_propagation_depth : None
        The callback is propagated to estimators at any depth.

    See Also
    --------
    lincent.LCC : Has ``tol`` and ``time_limit``.

    Notes
    -----
    Needs scikit-learn 1.9 or newer, whose estimators have ``set_callbacks``; use ``tol`` before.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from lincent import RegularizedLCC
    >>> from lincent.callbacks import StopAtGap
    >>> X, y = make_classification(random_state=0)
    >>> model = RegularizedLCC()
    >>> if hasattr(model, "set_callbacks"):
    ...     model = model.set_callbacks(StopAtGap(0.01))
    >>> model = model.fit(X, y)
    >>> bool(model.duality_gap_ <= 0.01)
    True
    """

    gap: float
    max_propagation_depth = None

    def __init__(self, gap: float = 1e-3) -> None:
        if not isinstance(gap, Real) or not gap > 0:
            raise ValueError(f"gap={gap!r} is not usable: give a number above 0.")
        self.gap = float(gap)

    def __repr__(self) -> str:
        return f"StopAtGap({self.gap:g})"

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            Its root task.
        """

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that was fitted.
        context : sklearn.callback.CallbackContext
            Its root task.
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            The task.
        """

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        """Return whether the gap of the solver is small enough.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            The task.
        metadata : dict or None, default=None
            ``gap`` and ``objective``, for tasks that are points of the solver.

        Returns
        -------
        bool
            True where the gap is at most that of this callback.
        """
        reached = None if metadata is None else metadata.get("gap")
        return reached is not None and reached <= self.gap
