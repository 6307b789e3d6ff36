"""Bad input, the optional package, wide data, and the settings of the paper."""

import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
)
from support.baseline_problems import random_problem

ESTIMATORS = [
    RegularizedLDA,
    LinearSVM,
    DiscriminativeLeastSquares,
    MinimaxProbabilityMachine,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
    DiscriminativeElasticNet,
]
X, y = random_problem(60, 4, seed=3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            RegularizedLDA(-0.1),
            "'shrinkage' parameter of RegularizedLDA must be a float in the range [0",
        ),
        (RegularizedLDA(float("nan")), "'shrinkage' parameter of"),
        (LinearSVM(C=0), "'C' parameter of LinearSVM must be a float in the range (0"),
        (LinearSVM(C=np.inf), "Got inf instead"),
        (LinearSVM(multi_class="all"), "'multi_class' parameter of LinearSVM must be"),
        (LinearSVM(max_iter=0), "'max_iter' parameter of"),
        (LinearSVM(class_weight={7: 1.0}), "class_weight names the class 7"),
        (DiscriminativeLeastSquares(ridge=-1), "'ridge' parameter of"),
        (DiscriminativeLeastSquares(discriminator="2nn"), "'discriminator' parameter of"),
        (DiscriminativeLeastSquares(solver="x"), "'solver' parameter of"),
        (
            MinimaxProbabilityMachine(ridge=-1e-9),
            "'ridge' parameter of",
        ),
        (
            StructuralMPM(0),
            "'n_components' parameter of StructuralMPM must be an int in the range [1",
        ),
        (StructuralMPM(ridge=0.0), "Got 0.0 instead"),
        (TwinSVC(c3=0.0), "'c3' parameter of"),
        (WeightedTwinSVC(c2=np.nan), "'c2' parameter of"),
        (DiscriminativeElasticNet(nuclear=-1.0), "'nuclear' parameter of"),
        (DiscriminativeElasticNet(ridge=0.0), "Got 0.0 instead"),
        (DiscriminativeElasticNet(tol="tight"), "'tol' parameter of"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_bad_parameters_get_a_sentence(model, words):
    with pytest.raises(ValueError) as error:
        model.fit(X, y)
    assert words in str(error.value)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_data_gets_a_sentence(estimator):
    with pytest.raises(ValueError, match="only one class"):
        estimator().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="contains NaN"):
        estimator().fit(np.where(X > 1, np.nan, X), y)
    if estimator is StructuralMPM:
        return
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        estimator().fit(X, y, sample_weight=-np.ones(len(X)))
    with pytest.raises(ValueError, match="All rows of class -1 have weight zero"):
        estimator().fit(X, y, sample_weight=(y > 0).astype(float))


def test_data_that_a_method_cannot_use_gets_a_sentence():
    same = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    for model in (MinimaxProbabilityMachine(), StructuralMPM()):
        with pytest.raises(ValueError, match=r"class means coincide \(class 0 against class 1\)"):
            model.fit(same, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"singular.*give a ridge above 0"):
        MinimaxProbabilityMachine(ridge=0.0).fit(np.c_[X, X[:, 0]], y)
    with pytest.raises(ValueError, match=r"needs more weight \(rows\) than classes"):
        RegularizedLDA().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_rows_are_refused_clearly(estimator):
    with pytest.raises(TypeError, match="dense data is required"):
        estimator().fit(sp.csr_array(X), y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_rows_and_constant_features(estimator):
    # The smallest data there is, with a constant column: no crash, no warning, the right side.
    rows = np.array([[0.0, 1.0], [0.1, 1.0], [4.0, 1.0], [4.1, 1.0]])
    model = estimator().fit(rows, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(rows), [0, 0, 1, 1])


WITHOUT_CLARABEL = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "clarabel":
            raise ModuleNotFoundError("No module named 'clarabel'", name="clarabel")
sys.meta_path.insert(0, Absent())
import numpy as np
from lincent.paper import baselines
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
X[y == 1] += 2
for name in baselines.__all__:
    estimator = getattr(baselines, name)
    if hasattr(estimator, "fit") and name != "StructuralMPM":
        assert estimator().fit(X, y).score(X, y) > 0.6, name
baselines.StructuralMPM(1).fit(X, y)
try:
    baselines.StructuralMPM().fit(X, y)
except ValueError as error:
    print(error)
"""


def test_without_clarabel_only_mixtures_are_out_of_reach():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CLARABEL],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 'pip install "lincent[baselines]"' in done.stdout


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_wide_data_is_quick(estimator):
    wide, labels = random_problem(500, 20, seed=4)
    wide = np.hstack([wide, np.random.default_rng(4).normal(size=(500, 3480))])
    start = time.process_time()
    model = estimator().fit(wide, labels)
    # About 0.3 s of a core, whoever else uses the machine; work on an n x n matrix takes far more.
    assert time.process_time() - start < 5
    assert model.score(wide, labels) > 0.99
