"""Programs of plain or sparse rows, as they come."""

import numpy as np

from lincent.passes.signed_rows import SignedRows
from lincent.passes.source import open_source
from lincent.programs.centralization import lcc_program


def program_of_rows(X, sign, weight=None, C=2.0, margin=0.01):
    """Equation LCC on rows that are read where they are."""
    source = open_source(X)
    weight = np.ones(len(sign)) if weight is None else weight
    centers = source.class_means(sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0))
    return lcc_program(rows, centers[1] - centers[0], C * weight, margin)
