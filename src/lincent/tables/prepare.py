"""From the frame of a table to numbers for a classifier, as scikit-learn parts, not fitted.

    numbers      median for missing, then mean 0 and standard deviation 1
    categories   one column of 0 and 1 for each; a category that training did not have is all 0

Dates and words of a text are numbers by then.  What is learned here (medians, scales, categories)
is learned in ``fit``, so inside a cross-validation it is learned from the training part alone.
"""

from __future__ import annotations

from typing import Any

from lincent.tables.schema import Schema


def preparation(schema: Schema) -> Any:
    """The transformer from the frame of `convert.to_frame` to an array of numbers."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parts: list[tuple[str, Any, Any]] = []
    if schema.numeric:
        impute = SimpleImputer(strategy="median", keep_empty_features=True)
        numbers = Pipeline([("impute", impute), ("scale", StandardScaler())])
        parts.append(("numbers", numbers, schema.numeric))
    if schema.categorical:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", encoder, schema.categorical))
    return ColumnTransformer(parts, verbose_feature_names_out=False)


def with_preparation(schema: Schema, classifier: Any) -> Any:
    """The pipeline that is measured, printed and saved."""
    from sklearn.pipeline import Pipeline

    return Pipeline([("columns", preparation(schema)), ("classifier", classifier)])
