"""TableNumbers: a table as the numbers that a linear rule takes, as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.features.transformer import RowMap
from lincent.tables.weighted import mean_and_deviation


class TableNumbers(RowMap):
    """Numbers without gaps for the rows of a table with missing values and categories.

    A missing number becomes the median of its column; where at least a hundredth of the training
    rows has none, the column gains one of 0 and 1 that tells it.  A column of text or categories
    becomes one of 0 and 1 for each of its 30 most frequent categories, a missing one among them; in
    any other category all of these are 0.

    Parameters
    ----------
    scale : bool, default=True
        Columns of numbers get mean 0 and deviation 1; those of 0 and 1 made here stay as they are.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.

    Attributes
    ----------
    center_, unit_ : ndarray of shape (n_features_out,)
        What is subtracted from each column, and what it is then divided by.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    lincent.AutoLCC : Reads tables by itself, in the same way.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincent.features import TableNumbers
    >>> table = pd.DataFrame({"age": [30.0, None, 50.0], "city": ["Rome", "Oslo", "Rome"]})
    >>> made = TableNumbers(scale=False).fit(table)
    >>> made.get_feature_names_out().tolist()
    ['age', 'age missing', 'city=Oslo', 'city=Rome']
    >>> made.transform(table).tolist()
    [[30.0, 0.0, 0.0, 1.0], [30.0, 1.0, 1.0, 0.0], [50.0, 0.0, 0.0, 1.0]]
    """

    random_state = 0  # nothing is drawn

    def __init__(self, scale: bool = True, *, categorical_features: Any = None) -> None:
        self.scale = scale
        self.categorical_features = categorical_features

    def learn(
        self, Z: np.ndarray, codes: np.ndarray | None, weight: np.ndarray, seed: int
    ) -> TableNumbers:
        if self.scale:
            return self.in_units(*mean_and_deviation(Z, weight))
        return self.in_units(np.zeros(Z.shape[1]), np.ones(Z.shape[1]))

    def in_units(self, mean: np.ndarray, deviation: np.ndarray) -> TableNumbers:
        """Take these means and deviations of the encoded columns for those of numbers.

        Parameters
        ----------
        mean, deviation : ndarray of shape (n_features_out,)
            As ``fit`` finds them; a table too large for memory has them from a read of all rows.

        Returns
        -------
        self
            The fitted map.
        """
        made = np.array(self.encoder_.indicators)
        self.center_, self.unit_ = np.where(made, 0.0, mean), np.where(made, 1.0, deviation)
        return self

    def apply(self, Z: np.ndarray) -> np.ndarray:
        return (Z - self.center_) / self.unit_ if self.scale else Z

    def _names(self, columns: list[str]) -> list[str]:
        return columns
