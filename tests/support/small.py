"""Searches with few candidates, for tests of what is common to all estimators."""

SMALL = {
    "AdditiveLCCCV": {"cv": 2, "n_knots": 4, "interactions": 1},
    "AutoLCC": {"cv": 2},
    "LCCCV": {"cv": 3, "margins": 4},
    "RegularizedLCCCV": {"cv": 2, "Cs": (0.01, 0.1)},
    "StructuredLCCCV": {"cv": 2, "Cs": (0.01, 0.1), "gammas": (0.3, 1.0), "n_centers": 5},
}


def make_small(kind):
    """Return an estimator of a class, with its defaults where it does not search."""
    return kind(**SMALL.get(kind.__name__, {}))
