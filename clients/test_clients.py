"""Other packages at work with lincent's estimators: each test runs the package for real.

They need the extra ``[clients]`` (``make clients``) and are no part of ``make test``.
"""

import json
import sqlite3
import subprocess
import sys
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import (
    LCC,
    LCCCV,
    AdditiveLCC,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    batches,
)

client = pytest.mark.client


@cache
def cancer():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = frame.iloc[:, :8]
    frame.columns = [name.replace(" ", "_") for name in frame.columns]
    return train_test_split(frame, y, random_state=0, stratify=y)


@cache
def mixed():
    """Numbers with gaps, words and a date: a table as it comes."""
    rng = np.random.default_rng(0)
    n = 400
    age = rng.normal(40, 12, n)
    plan = rng.choice(["basic", "plus", "pro"], n)
    joined = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    y = (age + 12 * (plan == "pro") + rng.normal(0, 8, n) > 45).astype(int)
    frame = pd.DataFrame({"age": age, "plan": plan, "joined": joined})
    frame.loc[::17, "age"] = np.nan
    return frame, y


@cache
def fitted(kind):
    X, _, y, _ = cancer()
    return {
        "linear": RegularizedLCC(probability="sigmoid"),
        "additive": AdditiveLCC(probability="sigmoid"),
        "auto": AutoLCC(),
    }[kind].fit(X, y)


# -- explanation -----------------------------------------------------------------------------


@client("shap", "Explainer and LinearExplainer on linear members, three classes by one-vs-rest")
def test_shap_takes_linear_members_for_linear():
    import shap

    X, new, y, _ = cancer()
    for model in (LCC().fit(X, y), fitted("linear")):
        explanation = shap.LinearExplainer(model, X)(new)
        total = explanation.values.sum(1) + explanation.base_values
        np.testing.assert_allclose(total, model.decision_function(new), atol=1e-8)
    flowers, species = load_iris(return_X_y=True)
    model = RegularizedLCC(multi_class="ovr").fit(flowers, species)
    explanation = shap.LinearExplainer(model, flowers)(flowers)
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(flowers), atol=1e-8)


@client("shap", "contributions() as an Explanation: equal to shap's values, waterfall and beeswarm")
def test_contributions_are_the_values_of_shap():
    import matplotlib as mpl

    mpl.use("Agg")
    import shap

    from lincent.inspection import contributions

    X, new, y, _ = cancer()
    X, new = X.iloc[:60, :4], new.iloc[:20, :4]
    y = y[:60]
    masker = shap.maskers.Independent(X, max_samples=len(X))
    for model in (RegularizedLCC().fit(X, y), AdditiveLCC().fit(X, y)):
        parts = contributions(model, new, background=X)

        def score(rows, model=model):
            return model.decision_function(pd.DataFrame(rows, columns=X.columns))

        expected = shap.explainers.Exact(score, masker)(new)
        np.testing.assert_allclose(parts.values, expected.values, atol=1e-8)
        explanation = shap.Explanation(
            parts.values, parts.base, data=new.to_numpy(), feature_names=list(new)
        )
        shap.plots.waterfall(explanation[0], show=False)
        shap.plots.beeswarm(explanation, show=False)


@client("shap", "Explainer on a model that is not linear (permutation of its probabilities)")
@pytest.mark.parametrize("kind", ["additive", "auto"])
def test_shap_explains_probabilities(kind):
    import shap

    X, new, _, _ = cancer()
    model = fitted(kind)

    def probability(rows):
        return model.predict_proba(pd.DataFrame(rows, columns=X.columns))[:, 1]

    explainer = shap.Explainer(probability, shap.maskers.Independent(X, max_samples=20))
    explanation = explainer(new[:5])
    total = explanation.values.sum(1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(new[:5])[:, 1], atol=1e-6)


@client("lime", "LimeTabularExplainer on AutoLCC")
def test_lime():
    from lime.lime_tabular import LimeTabularExplainer

    X, new, _, _ = cancer()
    explainer = LimeTabularExplainer(X.to_numpy(), feature_names=list(X), random_state=0)
    model = fitted("auto")

    def probability(rows):
        return model.predict_proba(pd.DataFrame(rows, columns=X.columns))

    assert explainer.explain_instance(new.to_numpy()[0], probability, num_samples=300).as_list()


# -- uncertainty and fairness ----------------------------------------------------------------


@client("mapie", "SplitConformalClassifier and CrossConformalClassifier")
def test_mapie_conformal_sets_cover():
    from mapie.classification import CrossConformalClassifier, SplitConformalClassifier

    covered = []
    for seed in range(10):
        X, y = make_classification(900, 8, n_informative=4, flip_y=0.15, random_state=seed)
        X, new, y, truth = train_test_split(X, y, test_size=400, random_state=seed)
        half = len(y) // 2
        model = RegularizedLCC(probability="sigmoid").fit(X[:half], y[:half])
        split = SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
        sets = split.conformalize(X[half:], y[half:]).predict_set(new)[1][:, :, 0]
        covered.append(sets[np.arange(len(truth)), truth].mean())
    assert 0.87 < np.mean(covered) < 0.94
    cross = CrossConformalClassifier(
        RegularizedLCC(probability="sigmoid"), confidence_level=0.9, cv=3, random_state=0
    )
    sets = cross.fit_conformalize(X, y).predict_set(new)[1][:, :, 0]
    assert sets[np.arange(len(truth)), truth].mean() > 0.85


@client("mapie", "coverage of conformal sets from out_of_fold_probabilities_, without refitting")
def test_mapie_measures_sets_from_out_of_fold_probabilities():
    from mapie.metrics.classification import classification_coverage_score

    covered = []
    for seed in range(10):
        X, y = make_classification(900, 8, n_informative=4, flip_y=0.15, random_state=seed)
        X, new, y, truth = train_test_split(X, y, test_size=400, random_state=seed)
        model = RegularizedLCCCV().fit(X, y)
        error = np.sort(1 - model.out_of_fold_probabilities_[np.arange(len(y)), y])
        limit = error[min(len(y) - 1, int(np.ceil(0.9 * (len(y) + 1))) - 1)]
        sets = model.predict_proba(new) >= 1 - limit
        covered.append(float(classification_coverage_score(truth, sets[:, :, None])[0]))
    assert 0.87 < np.mean(covered) < 0.94


@client("fairlearn", "ThresholdOptimizer and ExponentiatedGradient")
def test_fairlearn():
    from fairlearn.metrics import demographic_parity_difference
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 600)
    X = np.c_[rng.normal(size=(600, 3)) + 0.7 * group[:, None], group]
    y = (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0.7).astype(int)
    plain = RegularizedLCC(probability="sigmoid").fit(X, y)
    before = demographic_parity_difference(y, plain.predict(X), sensitive_features=group)
    optimizer = ThresholdOptimizer(
        estimator=plain,
        constraints="demographic_parity",
        prefit=True,
        predict_method="predict_proba",
    ).fit(X, y, sensitive_features=group)
    fair = optimizer.predict(X, sensitive_features=group, random_state=0)
    assert demographic_parity_difference(y, fair, sensitive_features=group) < before / 2
    reduction = ExponentiatedGradient(RegularizedLCC(), DemographicParity(), max_iter=10)
    fair = reduction.fit(X, y, sensitive_features=group).predict(X, random_state=0)
    assert demographic_parity_difference(y, fair, sensitive_features=group) < before / 2


# -- tracking, search and reports ------------------------------------------------------------

LOAD = """
import sys, numpy as np, pandas as pd, mlflow
model = mlflow.sklearn.load_model(sys.argv[1])
table = pd.read_parquet(sys.argv[2])
np.save(sys.argv[3], model.predict_proba(table))
"""


@client("mlflow", "log_model with skops, signature, autolog, loaded in another process")
def test_mlflow(tmp_path, monkeypatch):
    import mlflow
    from mlflow.models import infer_signature

    from lincent.export.model_file import TRUSTED_TYPES

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    X, new, y, _ = cancer()
    with mlflow.start_run():
        mlflow.sklearn.autolog(log_models=False)
        model = AutoLCC().fit(X, y)
        mlflow.sklearn.autolog(disable=True)
        expected = model.predict_proba(new)
        info = mlflow.sklearn.log_model(
            model, name="auto", signature=infer_signature(X, expected),
            serialization_format="skops", skops_trusted_types=list(TRUSTED_TYPES),
        )  # fmt: skip
    run = mlflow.get_run(info.run_id)
    assert "random_state" in run.data.params
    new.to_parquet("new.parquet")
    local = mlflow.artifacts.download_artifacts(info.model_uri)
    command = [sys.executable, "-c", LOAD, local, "new.parquet", "answer.npy"]
    subprocess.run(command, check=True, capture_output=True)
    np.testing.assert_array_equal(np.load("answer.npy"), expected)


@client("optuna", "a study over RegularizedLCC and AdditiveLCC")
def test_optuna():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, _, y, _ = cancer()

    def objective(trial):
        C = trial.suggest_float("C", 1e-2, 1e2, log=True)
        kind = trial.suggest_categorical("model", ["linear", "additive"])
        model = RegularizedLCC(C=C) if kind == "linear" else AdditiveLCC(C=C)
        return cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=6)
    assert study.best_value > 0.95


@client("skore", "EstimatorReport and CrossValidationReport")
@pytest.mark.parametrize("kind", ["linear", "auto"])
def test_skore(kind):
    from skore import CrossValidationReport, EstimatorReport

    X, new, y, truth = cancer()
    report = EstimatorReport(fitted(kind), X_test=new, y_test=truth, pos_label=1)
    assert report.metrics.summarize().frame()["roc_auc"] > 0.9
    if kind == "linear":
        assert report.inspection.coefficients().frame().shape[0] == X.shape[1] + 1
    assert len(report.metrics.roc().frame())
    cross = CrossValidationReport(RegularizedLCC(probability="sigmoid"), X, y, splitter=3)
    assert len(cross.metrics.summarize().frame())


# -- tables ----------------------------------------------------------------------------------


@client("skrub", "TableVectorizer, tabular_pipeline and TableReport")
def test_skrub():
    from skrub import TableReport, TableVectorizer, tabular_pipeline

    frame, y = mixed()
    for model in (
        make_pipeline(TableVectorizer(), AutoLCC()),
        tabular_pipeline(RegularizedLCC()),
        tabular_pipeline(AutoLCC()),
    ):
        assert cross_val_score(model, frame, y, cv=3).mean() > 0.75
    predicted = frame.assign(
        probability=AutoLCC()
        .fit(frame[["age", "plan"]], y)
        .predict_proba(frame[["age", "plan"]])[:, 1]
    )
    assert "probability" in TableReport(predicted, verbose=0).html()


@client(
    "imbalanced-learn", "pipelines with SMOTE and RandomUnderSampler, BalancedBaggingClassifier"
)
def test_imbalanced_learn():
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as make_sampling_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    X, y = make_classification(600, 6, weights=[0.9], random_state=0)
    for model in (
        make_sampling_pipeline(SMOTE(random_state=0), LCC()),
        make_sampling_pipeline(RandomUnderSampler(random_state=0), RegularizedLCC()),
        BalancedBaggingClassifier(RegularizedLCC(), n_estimators=5, random_state=0),
    ):
        assert cross_val_score(model, X, y, scoring="balanced_accuracy", cv=3).mean() > 0.7


def as_polars(frame):
    import polars as pl

    return pl.from_pandas(frame)


def as_arrow(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def as_arrow_backed(frame):
    return as_arrow(frame).to_pandas(types_mapper=pd.ArrowDtype)


def as_narwhals(frame):
    import narwhals as nw

    return nw.from_native(frame)


def as_duckdb(frame):
    import duckdb

    return duckdb.sql("select * from frame").arrow().read_all()


@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(as_polars, marks=client("polars", "data frames as X")),
        pytest.param(as_arrow, marks=client("pyarrow", "tables as X")),
        pytest.param(as_arrow_backed, marks=client("pandas", "data frames backed by Arrow as X")),
        pytest.param(as_narwhals, marks=client("narwhals", "data frames as X")),
        pytest.param(as_duckdb, marks=client("duckdb", "results of queries as Arrow tables")),
    ],
)
def test_frames(convert):
    frame, y = mixed()
    frame = frame[["age", "plan"]]
    expected = AutoLCC().fit(frame, y).predict_proba(frame)
    given = convert(frame)
    model = AutoLCC().fit(given, y)
    np.testing.assert_allclose(model.predict_proba(given), expected, atol=1e-9)


@client("duckdb", "the SQL export of a model, run as a query")
def test_sql_in_duckdb(tmp_path):
    import duckdb

    frame, predicted = exported(tmp_path, "sql")
    connection = duckdb.connect()
    connection.register("training", frame)
    scored = connection.sql((tmp_path / "model.sql").read_text()).df()
    assert list(scored["class"].astype(str)) == list(predicted)


def exported(folder, format):
    """Fit a linear model on a table, export it, return the table and its predictions."""
    from lincent.export import export_model
    from lincent.workflow import fit_table, predict_table

    frame, y = mixed()
    table = frame[["age", "plan"]].assign(target=np.where(y == 1, "yes", "no"))
    model = fit_table(table, "target", method="linear")
    export_model(model, folder / f"model.{format}", format, table="training")
    return table, predict_table(model, table.drop(columns="target"))["class"].astype(str)


# -- processes and services ------------------------------------------------------------------


@client("joblib", "back ends loky, threading and dask; deterministic over n_jobs")
def test_joblib_backends():
    from dask.distributed import Client

    X, new, y, _ = cancer()
    expected = RegularizedLCCCV().fit(X, y).decision_function(new)
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
        for backend in ("loky", "threading", "dask"):
            with joblib.parallel_backend(backend, n_jobs=2):
                model = RegularizedLCCCV(n_jobs=2).fit(X, y)
            np.testing.assert_array_equal(model.decision_function(new), expected)


@client("dask", "arrays as X and y on a local cluster")
def test_dask_arrays():
    import dask.array as da
    from dask.distributed import Client

    X, _, y, _ = cancer()
    X, y = X.to_numpy(), y.to_numpy()
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
        model = RegularizedLCC().fit(da.from_array(X, (100, 8)), da.from_array(y, 100))
    assert np.abs(model.coef_ - RegularizedLCC().fit(X, y).coef_).max() < 1e-4


@client("cloudpickle", "round trip of fitted models")
def test_cloudpickle():
    import cloudpickle

    _, new, _, _ = cancer()
    for kind in ("linear", "additive", "auto"):
        model = cloudpickle.loads(cloudpickle.dumps(fitted(kind)))
        np.testing.assert_array_equal(model.predict_proba(new), fitted(kind).predict_proba(new))


@client("skops", "dump and load with TRUSTED_TYPES")
def test_skops():
    import skops.io

    from lincent.export.model_file import TRUSTED_TYPES

    _, new, _, _ = cancer()
    for kind in ("linear", "additive", "auto"):
        model = skops.io.loads(skops.io.dumps(fitted(kind)), trusted=list(TRUSTED_TYPES))
        np.testing.assert_array_equal(model.predict_proba(new), fitted(kind).predict_proba(new))


@client("onnxruntime", "the ONNX export of a model, against predict")
def test_onnxruntime(tmp_path):
    import onnxruntime

    frame, predicted = exported(tmp_path, "onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    feeds = {}
    for given in session.get_inputs():
        column = frame[given.name].to_numpy()
        kind = {"tensor(double)": np.float64, "tensor(float)": np.float32}.get(given.type, object)
        feeds[given.name] = column.astype(kind).reshape(-1, 1)
    label = session.run(None, feeds)[0]
    assert list(np.asarray(label).ravel().astype(str)) == list(predicted)


@client("skl2onnx", "to_onnx of a pipeline with a scaler")
def test_skl2onnx_pipeline():
    import onnxruntime
    from skl2onnx import to_onnx

    from lincent.export.onnx import register_converters

    register_converters()
    X, new, y, _ = cancer()
    model = make_pipeline(StandardScaler(), RegularizedLCC(probability="sigmoid")).fit(
        X.to_numpy(), y
    )
    onx = to_onnx(model, X.to_numpy()[:1])
    session = onnxruntime.InferenceSession(onx.SerializeToString())
    label, _, probability = session.run(None, {session.get_inputs()[0].name: new.to_numpy()})
    assert (label == model.predict(new.to_numpy())).all()
    np.testing.assert_allclose(probability, model.predict_proba(new.to_numpy()), atol=1e-6)


@client("fastapi", "an endpoint of twenty lines with a model file")
def test_fastapi(tmp_path):
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    from lincent.export import load_model, save_model
    from lincent.workflow import fit_table, predict_table

    frame, y = mixed()
    table = frame[["age", "plan"]].assign(target=np.where(y == 1, "yes", "no"))
    save_model(fit_table(table, "target"), tmp_path / "model.lincent")

    app = FastAPI()
    model = load_model(tmp_path / "model.lincent")

    @app.post("/predict")
    def predict(rows: list[dict]) -> list[dict]:
        return json.loads(predict_table(model, pd.DataFrame(rows)).to_json(orient="records"))

    answer = TestClient(app).post(
        "/predict", json=[{"age": 61, "plan": "pro"}, {"age": None, "plan": "?"}]
    )
    assert answer.status_code == 200
    assert answer.json()[0]["class"] == "yes"


# -- scikit-learn ----------------------------------------------------------------------------


@client(
    "scikit-learn", "CalibratedClassifierCV, TunedThresholdClassifierCV, FixedThresholdClassifier"
)
@pytest.mark.parametrize("model", [LCC(), RegularizedLCC(), AdditiveLCC()], ids=str)
def test_calibration_and_thresholds(model):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    X, new, y, truth = cancer()
    assert CalibratedClassifierCV(model, cv=3).fit(X, y).score(new, truth) > 0.85
    assert TunedThresholdClassifierCV(model, cv=3).fit(X, y).score(new, truth) > 0.85
    fixed = FixedThresholdClassifier(
        model, threshold=0.0, response_method="decision_function", pos_label=1
    )
    assert (fixed.fit(X, y).predict(new) == clone(model).fit(X, y).predict(new)).mean() > 0.99


@client(
    "scikit-learn", "StackingClassifier, VotingClassifier, BaggingClassifier, AdaBoostClassifier"
)
def test_ensembles():
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        StackingClassifier,
        VotingClassifier,
    )

    X, new, y, truth = cancer()
    members = [
        ("linear", RegularizedLCC(probability="sigmoid")),
        ("kernel", StructuredLCC(probability="sigmoid")),
    ]
    for model in (
        StackingClassifier(members, cv=3),
        VotingClassifier(members, voting="soft"),
        BaggingClassifier(RegularizedLCC(), n_estimators=3, random_state=0),
        AdaBoostClassifier(RegularizedLCC(), n_estimators=3, random_state=0),
    ):
        assert model.fit(X, y).score(new, truth) > 0.85


@client("scikit-learn", "RFECV, SelectFromModel, SequentialFeatureSelector")
def test_feature_selection():
    from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    for model in (LCC(), RegularizedLCC(), AdditiveLCC()):
        for selector in (
            RFECV(model, cv=3, min_features_to_select=2),
            SelectFromModel(model, max_features=2),
            SequentialFeatureSelector(model, n_features_to_select=2, cv=3),
        ):
            assert selector.fit(X, y).get_support()[:2].all(), (model, selector)


@client("scikit-learn", "GridSearchCV, HalvingGridSearchCV, metadata routing of sample_weight")
def test_searches():
    import sklearn
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV

    X, _, y, _ = cancer()
    grid = {"C": [0.1, 1.0]}
    assert HalvingGridSearchCV(RegularizedLCC(), grid, random_state=0).fit(X, y).best_score_ > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        model = RegularizedLCC().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        weight = np.where(y == 1, 2.0, 1.0)
        search = GridSearchCV(model, grid, cv=3).fit(X, y, sample_weight=weight)
    expected = RegularizedLCC(C=search.best_params_["C"]).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(search.best_estimator_.coef_, expected.coef_)


@client("scikit-learn", "SelfTrainingClassifier, OneVsRestClassifier, ClassifierChain")
def test_meta_estimators():
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import ClassifierChain
    from sklearn.semi_supervised import SelfTrainingClassifier

    X, new, y, truth = cancer()
    partly = y.to_numpy().copy()
    partly[::2] = -1
    model = SelfTrainingClassifier(RegularizedLCC(probability="sigmoid"), threshold=0.9)
    assert model.fit(X, partly).score(new, truth) > 0.85
    wine, kind = load_wine(return_X_y=True)
    assert OneVsRestClassifier(LCC()).fit(wine, kind).score(wine, kind) > 0.9
    both = np.c_[kind == 0, kind == 1].astype(int)
    assert ClassifierChain(RegularizedLCC()).fit(wine, both).predict(wine).shape == both.shape


@client("scikit-learn", "learning_curve, validation_curve, permutation_importance")
def test_curves():
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import learning_curve, validation_curve

    X, new, y, truth = cancer()
    assert learning_curve(LCC(), X, y, cv=3, train_sizes=[0.3, 1.0])[2].mean() > 0.85
    scores = validation_curve(RegularizedLCC(), X, y, param_name="C", param_range=[0.1, 1], cv=3)
    assert scores[1].mean() > 0.85
    importance = permutation_importance(fitted("auto"), new, truth, n_repeats=2, random_state=0)
    assert importance.importances_mean.max() > 0


@client(
    "scikit-learn",
    "PartialDependenceDisplay, DecisionBoundaryDisplay, CalibrationDisplay, RocCurveDisplay",
)
def test_displays():
    import matplotlib as mpl

    mpl.use("Agg")
    from sklearn.calibration import CalibrationDisplay
    from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay
    from sklearn.metrics import RocCurveDisplay

    X, new, y, truth = cancer()
    model = fitted("auto")
    assert PartialDependenceDisplay.from_estimator(
        model, X, [0, (0, 1)], grid_resolution=5
    ).axes_.size
    assert CalibrationDisplay.from_estimator(model, new, truth).line_
    assert RocCurveDisplay.from_estimator(model, new, truth).roc_auc > 0.9
    two = X.iloc[:, :2]
    kernel = KernelLCC().fit(two, y)
    assert DecisionBoundaryDisplay.from_estimator(kernel, two, grid_resolution=20).surface_


@client("scikit-learn", "set_output of the feature maps with pandas and polars")
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output(container):
    from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures

    X, _, y, _ = cancer()
    for transformer in (SplineFeatures(), LocalCenters(), KernelLandmarks()):
        result = transformer.set_output(transform=container).fit(X, y).transform(X)
        assert list(result.columns) == list(transformer.get_feature_names_out())


@client("scikit-learn", "HTML representation of fitted and unfitted estimators")
def test_html():
    from sklearn.utils import estimator_html_repr

    for model in (LCC(), LCCCV(), fitted("auto")):
        assert type(model).__name__ in estimator_html_repr(model)


@client("sqlite3", "the SQL export of a model, run as a query")
def test_sql_in_sqlite(tmp_path):
    frame, predicted = exported(tmp_path, "sql")
    connection = sqlite3.connect(":memory:")
    frame.to_sql("training", connection, index=False)
    scored = pd.read_sql((tmp_path / "model.sql").read_text(), connection)
    assert list(scored["class"].astype(str)) == list(predicted)


@client("pyarrow", "a stream of record batches as X, and scores batch by batch")
def test_streams():
    import pyarrow as pa

    X, _, y, _ = cancer()
    table = pa.Table.from_pandas(X.assign(target=y), preserve_index=False)
    check_stream(lambda: pa.RecordBatchReader.from_batches(table.schema, table.to_batches(100)))


@client("polars", "lazy frames, read piece by piece")
def test_lazy_frames():
    import polars as pl

    X, _, y, _ = cancer()
    check_stream(pl.from_pandas(X.assign(target=y).reset_index(drop=True)).lazy())


@client("duckdb", "relations, read as Arrow streams")
def test_relations():
    import duckdb

    X, _, y, _ = cancer()
    table = X.assign(target=y)
    connection = duckdb.connect()
    connection.register("training", table)
    check_stream(lambda: connection.sql("select * from training"))


def check_stream(data):
    X, _, y, _ = cancer()
    stream = batches(data, target="target", rows=100)
    model = RegularizedLCC().fit(stream, stream.target)
    assert list(model.feature_names_in_) == list(X.columns)
    expected = RegularizedLCC().fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4 * abs(expected.coef_).max())
    only = batches(data, columns=list(X.columns))
    np.testing.assert_array_equal(model.predict(only), model.predict(X))
