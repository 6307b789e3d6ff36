"""Smoke test of the built wheel: imports, one fit, its certificate, a pickle round trip."""

import pickle
import warnings
from importlib.metadata import requires, version
from importlib.resources import files

import numpy as np
from sklearn.datasets import make_classification

warnings.simplefilter("error")

import lincent  # noqa: E402  (after the filter: import must not warn either)
from lincent import LCC  # noqa: E402

assert files("lincent").joinpath("py.typed").is_file(), "the wheel lost py.typed"
core = [line for line in requires("lincent") or [] if "extra ==" not in line]
assert len(core) == 3, f"the core depends on numpy, scipy and scikit-learn only, not {core}"

X, y = make_classification(n_samples=400, n_features=12, flip_y=0.05, random_state=0)
model = LCC().fit(X, y)
gap = model.duality_gap_
assert 0.0 <= gap <= 1e-9, f"relative duality gap {gap:.1e}"
accuracy = model.score(X, y)
assert accuracy > 0.8, f"training accuracy {accuracy:.3f}"

copy = pickle.loads(pickle.dumps(model))
assert np.array_equal(copy.decision_function(X), model.decision_function(X))

print(f"lincent {version('lincent')} from {lincent.__file__}")
print(f"solver {model.solver_}, gap {gap:.1e}, training accuracy {accuracy:.3f}: smoke test passed")
