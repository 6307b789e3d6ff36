"""Bad input, the optional package, wide data, and the settings of the paper."""

import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lincent.paper.baselines
from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
    paper_settings,
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
METHODS = ["LDA", "SVM", "DLS", "SMP", "TSV", "WSV", "DEL"]
X, y = random_problem(60, 4, seed=3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RegularizedLDA(-0.1), "shrinkage=-0.1 is not usable: give a number from 0 to 1."),
        (RegularizedLDA(float("nan")), "shrinkage=nan is not usable"),
        (RegularizedLDA(target="diag"), "target='diag' is not known: choose one of 'diagonal'"),
        (LinearSVM(C=0), "C=0 is not usable: give a number above 0 and finite."),
        (LinearSVM(C=np.inf), "C=inf is not usable"),
        (LinearSVM(multi_class="all"), "'multi_class' parameter of LinearSVM must be"),
        (LinearSVM(max_iter=0), "max_iter=0 is not usable"),
        (LinearSVM(class_weight={7: 1.0}), "class_weight names the class 7"),
        (DiscriminativeLeastSquares(ridge=-1), "ridge=-1 is not usable"),
        (DiscriminativeLeastSquares(discriminator="2nn"), "discriminator='2nn' is not known"),
        (DiscriminativeLeastSquares(solver="x"), "solver='x' is not known"),
        (
            MinimaxProbabilityMachine(ridge=-1e-9),
            "ridge=-1e-09 is not usable: give a finite number",
        ),
        (StructuralMPM(0), "n_components=0 is not usable: give a whole number of at least 1."),
        (StructuralMPM(ridge=0.0), "ridge=0.0 is not usable"),
        (TwinSVC(c3=0.0), "c3=0.0 is not usable"),
        (WeightedTwinSVC(c2=np.nan), "c2=nan is not usable"),
        (DiscriminativeElasticNet(nuclear=-1.0), "nuclear=-1.0 is not usable"),
        (DiscriminativeElasticNet(ridge=0.0), "ridge=0.0 is not usable"),
        (DiscriminativeElasticNet(tol="tight"), "tol='tight' is not usable"),
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
    with pytest.raises(ValueError, match="below zero; a weight counts repetitions"):
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


@pytest.mark.parametrize(
    "estimator",
    [RegularizedLDA, MinimaxProbabilityMachine, StructuralMPM, DiscriminativeElasticNet],
)
def test_dense_methods_refuse_sparse_rows_clearly(estimator):
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
except ImportError as error:
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


@pytest.mark.parametrize("method", METHODS)
def test_paper_settings_work_in_a_grid_search(method):
    setting = paper_settings(method, X.shape)
    model = make_pipeline(StandardScaler(), clone(setting.estimator)).fit(X, y)
    assert 0.5 < setting.scoring(model, X, y) <= 1
    grid = [{name: values[:2] for name, values in part.items()} for part in setting.grid[:2]]
    search = GridSearchCV(setting.estimator, grid or [{}], scoring=setting.scoring, cv=2).fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_paper_settings_are_those_of_the_paper():
    settings = paper_settings()
    assert list(settings) == METHODS
    sizes = {name: sum(np.prod([len(v) for v in part.values()]) for part in s.grid)
             for name, s in settings.items()}  # fmt: skip
    assert sizes == {"LDA": 15, "SVM": 15, "DLS": 15, "SMP": 0, "TSV": 225, "WSV": 225, "DEL": 15}
    costs = settings["SVM"].grid[0]["C"]
    assert costs[0] == pytest.approx(10**-2)
    assert costs[-1] == pytest.approx(10 ** (26 / 15))
    assert settings["WSV"].estimator.c1 == 10.0
    assert settings["DEL"].scoring is lincent.paper.baselines.column_mean_auc
    assert paper_settings("SMP", (40, 30)).estimator.ridge > settings["SMP"].estimator.ridge
    with pytest.raises(ValueError, match="method='KNN' is not known: choose one of 'LDA'"):
        paper_settings("KNN")
