"""From the frame of a table to numbers for a classifier, not fitted.

    numbers      median for missing and a column that tells them, then mean 0 and deviation 1
    categories   one column of 0 and 1 for each; a category that training did not have is all 0

Dates and words of a text are numbers by then.  What is learned here (medians, scales, categories)
is learned in ``fit``, so inside a cross-validation it is learned from the training part alone.  It
is what the estimators that take frames do with one (``tables.encoder``), and no second encoder.
"""

from __future__ import annotations

from typing import Any


def preparation(*, scale: bool = True) -> Any:
    """The transformer from the frame of `convert.to_frame` to an array of numbers."""
    from lincent.features import TableNumbers

    return TableNumbers(scale)


def with_preparation(classifier: Any, *, scale: bool = True) -> Any:
    """The pipeline that is measured, printed and saved; some classifiers ``scale`` by themselves.

    These are given the very numbers that they make of a frame, and so give the same answers.
    """
    from sklearn.pipeline import Pipeline

    return Pipeline([("columns", preparation(scale=scale)), ("classifier", classifier)])
