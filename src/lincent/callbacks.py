"""Callbacks for ``set_callbacks``, by the protocol of scikit-learn 1.9."""

from __future__ import annotations

from numbers import Real
from typing import Any

__all__ = ["StopAtGap"]


class StopAtGap:
    """Ends a solve as soon as its relative duality gap is small enough.

    What ``tol`` says when an estimator is made, this says from outside, for one fit, and through a
    pipeline or a search: a callback is passed on to the estimators inside. The answer is the best
    point so far; ``duality_gap_`` has its proof. No warning says that it is short of ``tol``.
    Estimators of the paper's program and ``RegularizedLCC``, ``StructuredLCC`` and ``KernelLCC``
    have gaps to stop at; where C or margins are searched, the fit to all rows is the one that ends.

    Parameters
    ----------
    gap : float, default=1e-3
        The gap, divided by ``max(1, abs(objective))``, at which a solve may end.

    Attributes
    ----------
    max_propagation_depth : None
        The callback goes down to estimators at any depth.

    See Also
    --------
    lincent.LCC : Has ``tol`` and ``time_limit``.

    Notes
    -----
    Needs scikit-learn 1.9 or newer, whose estimators have ``set_callbacks``; before that, ``tol``
    is the way.

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

    # What scikit-learn calls.

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            Its root task.
        """

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clean up.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that was fitted.
        context : sklearn.callback.CallbackContext
            Its root task.
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to see yet.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            The task.
        """

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        """Whether the solver has come to a point that is good enough.

        Parameters
        ----------
        estimator : estimator instance
            The estimator that is fitted.
        context : sklearn.callback.CallbackContext
            The task.
        metadata : dict or None, default=None
            ``gap`` and ``objective``, where the task is a point of the solver.

        Returns
        -------
        bool
            True where the gap is at most that of this callback.
        """
        reached = None if metadata is None else metadata.get("gap")
        return reached is not None and reached <= self.gap
