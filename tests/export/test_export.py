"""Exports give the answers of the Python model, in ONNX, SQL and plain Python."""

import os
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import lincent
import lincent.paper.baselines
from lincent._errors import AppError
from lincent.estimators.auto_candidates import FEATURE_MAPS, LEAVES
from lincent.export import export_model
from lincent.export.code import export_bytes
from lincent.tables.read import read_table
from lincent.tables.schema import to_frame
from lincent.workflow import fit_table, predict_table
from support.graphs import answers_of
from support.small import SMALL

ROWS = 10_000


def blobs(classes, seed=0, m=150, n=4):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(classes, n)) * 1.2
    codes = rng.integers(0, classes, m)
    return centers[codes] + rng.normal(size=(m, n)), codes


# Whether leaves are among the best depends on the processor, and SQL of many trees is refused.
WITHOUT_TREES = [name for name in FEATURE_MAPS if name not in LEAVES]
LINEAR = [
    ("LCC", {}),
    ("LCC", {"discriminator": "svm"}),
    ("LCC", {"multi_class": "ovo"}),
    ("LCC", {"probability": "sigmoid"}),
    ("LCC", {"probability": "sigmoid", "multi_class": "ovo"}),
    ("FQCC", {}),
    ("LCCCV", {"margins": 4, "probability": "sigmoid"}),
    ("RegularizedLCC", {}),
    ("RegularizedLCCCV", SMALL["RegularizedLCCCV"]),
    ("RegularizedLCCCV", SMALL["RegularizedLCCCV"] | {"multi_class": "ovo"}),
    ("StructuredLCC", {}),
    ("StructuredLCC", {"multi_class": "ovo"}),
    ("StructuredLCCCV", SMALL["StructuredLCCCV"]),
    ("AdditiveLCC", {}),
    ("AdditiveLCCCV", SMALL["AdditiveLCCCV"]),
    ("AutoLCC", SMALL["AutoLCC"] | {"feature_maps": WITHOUT_TREES}),
    ("LinearSVM", {}),
    ("DiscriminativeElasticNet", {}),
    ("DiscriminativeLeastSquares", {}),
    ("TwinSVC", {}),
    ("WeightedTwinSVC", {"multi_class": "ovo"}),
    ("MinimaxProbabilityMachine", {}),
    ("RegularizedLDA", {}),
    ("StructuralMPM", {"multi_class": "ovo"}),
    ("KernelLCC", {}),
    ("KernelLCC", {"kernel": "poly", "degree": 2, "coef0": 1.0}),
    ("KernelLCC", {"kernel": "sigmoid", "gamma": 0.01}),
    ("KernelLCC", {"kernel": "linear", "discriminator": "svm"}),
    ("KernelLCC", {"n_components": 20}),
    ("KernelLCC", {"kernel": "laplacian"}),
    ("KernelLCC", {"kernel": "laplacian", "multi_class": "ovo"}),
]


@pytest.mark.parametrize(
    ("name", "settings", "classes", "labels"),
    [(*one, *problem) for one in LINEAR for problem in ((2, "text"), (3, "numbers"))]
    + [(*LINEAR[0], 2, "numbers"), (*LINEAR[0], 3, "text")],
    ids=str,
)
def test_onnx_of_an_estimator(name, settings, classes, labels):
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    from skl2onnx import to_onnx

    from lincent.export.onnx import register_converters

    register_converters()
    X, codes = blobs(classes)
    y = codes if labels == "numbers" else np.array(["a", "b", "c"])[codes]
    home = lincent if hasattr(lincent, name) else lincent.paper.baselines
    model = getattr(home, name)(**settings).fit(X, y)
    graph = to_onnx(model, X[:1].astype(np.float32))
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    rows = (np.random.default_rng(1).normal(size=(ROWS, X.shape[1])) * 2).astype(np.float32)
    found = dict(
        zip([o.name for o in session.get_outputs()], session.run(None, {"X": rows}), strict=True)
    )
    expected = model.decision_function(rows.astype(np.float64))
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(found["score"], expected, atol=1e-5 * size)
    # A row on the threshold may fall to either side in single precision.
    ordered = np.sort(np.atleast_2d(expected.T).T, axis=1)
    gap = np.abs(expected) if classes == 2 else ordered[:, -1] - ordered[:, -2]
    clear = gap > 2e-5 * size
    assert clear.mean() > 0.99
    assert list(found["label"][clear]) == list(model.predict(rows)[clear])
    assert ("probability" in found) == hasattr(model, "predict_proba")
    if "probability" in found:
        chances = model.predict_proba(rows.astype(np.float64))
        np.testing.assert_allclose(found["probability"], chances, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "labels", "word"),
    [
        ("KernelLCC", {"kernel": lambda X, Y: X @ Y.T}, [0, 1, 2], "lambda"),
        ("LCC", {}, [0.5, 1.0, 2.0], "fractions"),
    ],
)
def test_what_onnx_cannot_say(name, settings, labels, word):
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    from skl2onnx import to_onnx

    from lincent.export.onnx import register_converters

    register_converters()
    X, codes = blobs(3)
    model = getattr(lincent, name)(**settings).fit(X, np.array(labels)[codes].astype(str))
    model.classes_ = np.array(labels)
    with pytest.raises(AppError, match=word):
        to_onnx(model, X[:1].astype(np.float32))


def test_onnx_has_every_public_classifier():
    from lincent.estimators.registry import BASELINES, ESTIMATORS

    named = {name for name, _ in LINEAR}
    assert {*ESTIMATORS, *BASELINES} == named
    public = {*lincent.__all__, *lincent.paper.baselines.__all__}
    classes = {n for n in public if hasattr(getattr(lincent, n, None), "fit")}
    assert classes <= named


def test_what_an_export_would_get_wrong_is_refused(make_table):
    frame = make_table(120)
    frame["since"] = pd.date_range("2020-01-01", periods=120)
    dated = fit_table(frame, "churn", method="quick", keep=["since"])
    with pytest.raises(AppError, match="'since' is a date, which"):
        export_bytes(dated, "python")
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    import onnxruntime

    graph = onnxruntime.InferenceSession(export_bytes(dated, "onnx"))
    names = {entry.name for entry in graph.get_inputs()}
    assert "since" in names


def test_onnx_of_a_given_kernel_matrix():
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    from skl2onnx import to_onnx

    from lincent.export.onnx import register_converters

    register_converters()
    X, y = blobs(2)
    model = lincent.KernelLCC(kernel="precomputed").fit(X @ X.T, y)
    rows = (np.random.default_rng(1).normal(size=(200, 4)) @ X.T).astype(np.float32)
    graph = to_onnx(model, rows[:1])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    expected = model.decision_function(rows.astype(np.float64))
    found = session.run(["score"], {"X": rows})[0]
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["onnx", "sql", "python"])
def test_discriminators_that_compare_with_all_rows_are_refused(tables_of, kind):
    base, table = tables_of(2)
    for classifier in (
        lincent.LCC(discriminator="nearest"),
        lincent.KernelLCC(discriminator="nearest"),
        lincent.paper.baselines.DiscriminativeLeastSquares(discriminator="1nn"),
    ):
        model = with_classifier(base, table, classifier)
        with pytest.raises(AppError, match="all training rows and cannot be exported"):
            export_bytes(model, kind)


@pytest.fixture(scope="module", params=[(2, "ovr"), (3, "ovr"), (3, "ovo")], ids=str)
def exported(request, make_table):
    classes, strategy = request.param
    table = make_table(200, seed=3, classes=classes)
    model = fit_table(
        table, "churn", ids=["customer"], method="lcc", params={"multi_class": strategy}
    )
    rows = make_table(400, seed=4, classes=classes)
    rows.loc[7, "city"] = "Nuuk"
    return model, rows, predict_table(model, rows)


def test_onnx_of_a_whole_model(exported):
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    model, rows, expected = exported
    session = onnxruntime.InferenceSession(export_bytes(model, "onnx"))
    found = answers_of(session, model, rows)
    score = found["score"] if found["score"].ndim == 1 else found["score"].max(axis=1)
    np.testing.assert_allclose(score, expected["score"], atol=2e-5)
    assert np.mean(found["label"] == expected["class"].to_numpy()) > 0.995


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["additive", "auto"])
def test_onnx_of_curves_after_the_preparation_of_a_table(make_table, method, classes):
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")

    def with_years(table, seed):
        # Scaled in single precision, these few values are no longer exactly those of training.
        return table.assign(year=2015.0 + np.random.default_rng(seed).integers(0, 5, len(table)))

    table = with_years(make_table(200, seed=3, classes=classes), 0)
    settings = {"feature_maps": ["splines"]} if method == "auto" else {}
    model = fit_table(table, "churn", ids=["customer"], method=method, params=settings)
    rows = with_years(make_table(400, seed=4, classes=classes), 1)
    rows.loc[7, "city"] = "Nuuk"
    expected = predict_table(model, rows)
    session = onnxruntime.InferenceSession(export_bytes(model, "onnx"))
    found = answers_of(session, model, rows)
    score = found["score"] if classes == 2 else found["score"].max(axis=1)
    np.testing.assert_allclose(score, expected["score"], atol=1e-5 * expected["score"].abs().max())
    assert np.mean(found["label"] == expected["class"].to_numpy()) > 0.995
    if method == "auto":
        chances = expected[[f"probability_{name}" for name in model.classes]]
        np.testing.assert_allclose(found["probability"], chances, atol=1e-5)


def test_sql(exported):
    model, rows, expected = exported
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    rows.to_sql("input_table", base, index=False)
    found = pd.read_sql_query(export_bytes(model, "sql").decode(), base)
    base.close()
    assert list(found["class"]) == list(expected["class"])
    if len(model.classes) == 2:
        np.testing.assert_allclose(found["score"], expected["score"], atol=1e-12)
        chance = expected["probability_yes"]
        np.testing.assert_allclose(found["probability_yes"], chance, atol=1e-12)


def test_python(exported):
    model, rows, expected = exported
    space = {}
    exec(compile(export_bytes(model, "python"), "snippet", "exec"), space)
    answers = [
        space["predict"]({k: None if v != v else v for k, v in row.items()})
        for row in rows.astype(object).to_dict("records")
    ]
    assert [answer["class"] for answer in answers] == list(expected["class"])
    scores = [answer["score"] for answer in answers]
    np.testing.assert_allclose(scores, expected["score"], atol=1e-12)


def with_classifier(model, table, classifier):
    """The same preparation of the columns with another classifier."""
    from dataclasses import replace

    from sklearn.pipeline import Pipeline

    columns = model.pipeline[0]
    rows = columns.transform(to_frame(model.schema, read_table(table)))
    fitted = classifier.fit(rows, table["churn"])
    return replace(model, pipeline=Pipeline([("columns", columns), ("classifier", fitted)]))


def run_sql(model, rows):
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    rows.to_sql("input_table", base, index=False)
    found = pd.read_sql_query(export_bytes(model, "sql").decode(), base)
    base.close()
    return found


def run_python(model, rows):
    space = {}
    exec(compile(export_bytes(model, "python"), "snippet", "exec"), space)
    records = rows.astype(object).to_dict("records")
    return [space["predict"]({k: None if v != v else v for k, v in r.items()}) for r in records]


@pytest.mark.parametrize(("name", "settings"), LINEAR, ids=lambda value: str(value))
def test_sql_and_python_of_an_estimator(make_table, tables_of, name, settings):
    classes = 3 if "ovo" in settings.values() else 2 + LINEAR.index((name, settings)) % 2
    home = lincent if hasattr(lincent, name) else lincent.paper.baselines
    base, table = tables_of(classes)
    model = with_classifier(base, table, getattr(home, name)(**settings))
    rows = make_table(60, seed=4, classes=classes)
    rows.loc[7, "city"] = "Nuuk"
    expected = predict_table(model, rows)
    answers = run_python(model, rows)
    assert [answer["class"] for answer in answers] == list(expected["class"])
    size = max(1.0, float(expected["score"].abs().max()))
    scores = [answer["score"] for answer in answers]
    np.testing.assert_allclose(scores, expected["score"], atol=1e-9 * size)
    new = [column for column in expected if column.startswith("probability_")][classes == 2 :]
    for column in new:
        label = column.removeprefix("probability_")
        shares = [answer["probability"] for answer in answers]
        shares = shares if classes == 2 else [share[label] for share in shares]
        np.testing.assert_allclose(shares, expected[column], atol=1e-9)
    found = run_sql(model, rows)
    assert list(found["class"]) == list(expected["class"])
    np.testing.assert_allclose(found["score"], expected["score"], atol=1e-9 * size)
    assert set(new) <= set(found)
    for column in new:
        np.testing.assert_allclose(found[column], expected[column], atol=1e-9)


@pytest.fixture(scope="module")
def tables_of(make_table):
    """A small table with two or three classes, and a model of it."""
    tables = {classes: make_table(90, seed=3, classes=classes) for classes in (2, 3)}
    settings = {"ids": ["customer"], "method": "lcc", "params": {"probability": None}}
    models = {k: fit_table(table, "churn", **settings) for k, table in tables.items()}
    return lambda classes: (models[classes], tables[classes])


def test_a_query_that_would_be_too_long_is_refused(make_table, tables_of, monkeypatch):
    from lincent.export import sql

    base, table = tables_of(2)
    model = with_classifier(base, table, lincent.KernelLCC())
    monkeypatch.setattr(sql, "MOST_CHARACTERS", 1_000)
    with pytest.raises(AppError, match=r"KernelLCC would have .* fit with --method additive"):
        export_bytes(model, "sql")


def test_trees_have_a_form_in_python_and_onnx():
    """Sums of leaves as Python and ONNX compute them, and as scikit-learn does."""
    onnxruntime = pytest.importorskip("onnxruntime")
    import onnx
    from sklearn.ensemble import ExtraTreesRegressor

    from lincent.export import evaluator
    from lincent.export.onnx import GraphWriter
    from lincent.features.tree_leaves import Trees
    from lincent.inspection.expression import Expr, concat, evaluate, plain_nodes, tree_scores

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    forest = ExtraTreesRegressor(5, max_leaf_nodes=9, random_state=0).fit(X, X.sum(axis=1))
    trees = Trees.of(forest)
    values = np.zeros((trees.n_leaves.sum(), 1))
    for leaves, tree in zip(trees.leaves(X).T, forest.estimators_, strict=True):
        values[leaves, 0] = tree.predict(X) / 5
    names = ["x0", "x1", "x2"]
    expr = concat(*(Expr("input", (), name).apply("fill", 0.0) for name in names))
    expr = tree_scores(trees, expr, values)
    threshold = forest.estimators_[0].tree_.threshold[:1]
    rows = np.vstack([X[:100], threshold * np.ones((1, 3))])
    expected = forest.predict(rows)
    inputs = {name: rows[:, j : j + 1] for j, name in enumerate(names)}
    np.testing.assert_allclose(evaluate(expr, inputs)[:, 0], expected, atol=1e-12)
    nodes = plain_nodes({"score": expr})["nodes"]
    cells = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    found = [evaluator.evaluate(nodes, row)[-1][0] for row in cells]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    graph = GraphWriter(names)
    graph.output(expr, "score")
    tensor, double = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    made = onnx.helper.make_graph(
        graph.nodes, "trees", [tensor(f"x{j}", double, [None, 1]) for j in range(3)],
        [tensor("score", double, [None, 1])], graph.constants,
    )  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 13)]
    whole = onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(whole.SerializeToString())
    np.testing.assert_allclose(session.run(None, inputs)[0][:, 0], expected, atol=1e-12)


def test_names_cannot_become_code(make_table):
    evil = 'x"; DROP TABLE input_table; --'
    quotes = '"""\nimport os; os.abort()\n"""'
    table = make_table(120).rename(columns={"age": evil, "income": quotes})
    table["churn"] = table["churn"].map({"yes": "'; DROP TABLE input_table; --", "no": quotes})
    model = fit_table(table, "churn", drop=["customer"], method="lcc")
    space = {}
    exec(compile(export_bytes(model, "python"), "snippet", "exec"), space)
    row = table.iloc[0].to_dict()
    assert space["predict"](row)["class"] in model.classes
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    table.to_sql("input_table", base, index=False)
    found = pd.read_sql_query(export_bytes(model, "sql").decode(), base)
    expected = predict_table(model, table)
    assert list(found["class"]) == list(expected["class"])
    assert len(pd.read_sql_query("SELECT * FROM input_table", base)) == 120
    base.close()


def test_export_writes_whole_files(model, tmp_path):
    export_model(model, tmp_path / "m.sql", "sql", table="clients")
    assert '"clients"' in (tmp_path / "m.sql").read_text()
    with pytest.raises(AppError, match="exists already"):
        export_model(model, tmp_path / "m.sql", "sql")
    with pytest.raises(AppError, match="not known"):
        export_model(model, tmp_path / "m.xml", "xml")
    assert not (tmp_path / "m.xml").exists()


@pytest.fixture(scope="module")
def in_seconds():
    """A model of a column of Unix seconds, a number and a category with gaps."""
    rng, y = np.random.default_rng(0), np.arange(400) % 2
    table = pd.DataFrame(
        {
            "at": 1_700_000_000 + rng.normal(0, 100, 400) + 80 * y,
            "z": np.where(rng.random(400) < 0.1, np.nan, rng.normal(size=400) + y),
            "c": rng.choice(np.array(["u", "v", "w", None], dtype=object), 400),
            "y": np.where(y, "yes", "no"),
        }
    )
    return fit_table(table, "y", method="linear"), table


def test_a_graph_reads_columns_with_a_large_offset(in_seconds):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, rows = in_seconds
    expected = predict_table(model, rows)
    found = answers_of(onnxruntime.InferenceSession(export_bytes(model, "onnx")), model, rows)
    np.testing.assert_allclose(found["score"], expected["score"], atol=1e-7)
    assert list(found["label"]) == list(expected["class"])


def test_a_table_that_was_scored_gives_new_scores_and_a_missing_column_is_an_error(in_seconds):
    model, rows = in_seconds
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    rows.to_sql("input_table", base, index=False)
    base.execute("CREATE TABLE scored AS " + export_bytes(model, "sql").decode())
    base.execute("UPDATE scored SET at = at + 50")
    query = export_bytes(model, "sql", "scored").decode()
    found = pd.read_sql_query(query, base)["score"].to_numpy()[:, 0]
    by_name = f"SELECT score FROM ({query.rstrip().rstrip(';')})"
    np.testing.assert_array_equal(pd.read_sql_query(by_name, base)["score"], found)
    expected = predict_table(model, rows.assign(at=rows["at"] + 50))["score"]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    base.execute("ALTER TABLE scored DROP COLUMN z")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(query)
    base.close()


def test_python_takes_nan_for_missing_text(in_seconds):
    model, rows = in_seconds
    space = {}
    exec(compile(export_bytes(model, "python"), "snippet", "exec"), space)
    rows = rows.astype({"c": object}).where(rows.notna(), np.nan)
    found = [space["predict"](row)["score"] for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, predict_table(model, rows)["score"], atol=1e-7)


def test_an_export_whose_scores_differ_is_refused(in_seconds, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    model, rows = in_seconds
    shifted = rows.assign(at=1e14 + (rows["at"] - 1.7e9))
    large = fit_table(shifted, "y", method="linear")
    for kind in ("onnx", "sql", "python"):
        assert export_model(model, tmp_path / f"m.{kind}", kind, data=rows) < 1e-7
        assert export_model(large, tmp_path / f"large.{kind}", kind, data=shifted) < 1e-7
    monkeypatch.setattr(
        type(model.classifier), "decision_function", lambda self, X: np.ones(len(X))
    )
    for kind in ("onnx", "sql", "python"):
        with pytest.raises(AppError, match="differ from those of predict by up to"):
            export_model(model, tmp_path / "wrong", kind)
    assert not (tmp_path / "wrong").exists()


def test_cells_that_mean_missing_are_missing_in_every_export(make_table):
    table = make_table(90, seed=3)
    model = fit_table(table, "churn", ids=["customer"], method="quick")
    rows = make_table(30, seed=4).assign(city=["NA", "", " null ", "Oslo", None] * 6)
    expected = predict_table(model, rows)["score"]
    np.testing.assert_allclose(run_sql(model, rows)["score"], expected, atol=1e-12)
    scores = [answer["score"] for answer in run_python(model, rows)]
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    numbers = re.findall(r"\d+\.\d+(?:e[+-]?\d+)?", export_bytes(model, "sql").decode()[40:])
    assert all("e" in number for number in numbers)  # doubles; decimals overflow in DuckDB


@pytest.mark.parametrize("offset", [0.0, 1e-8, 3e-6, 3e-5, 0.2])
def test_values_beside_the_levels_of_a_column_are_levels_everywhere_or_nowhere(offset):
    """A column of few values has indicators; predict and code ask for the same distance."""
    rng = np.random.default_rng(0)
    size = rng.integers(5, size=200)
    table = pd.DataFrame({"size": size + 0.0, "x": rng.normal(size=200)})
    table["target"] = np.where((size % 2 == 1) ^ (rng.random(200) < 0.1), "odd", "even")
    model = fit_table(table, "target", method="additive")
    rows = table.drop(columns="target").assign(size=table["size"] + offset)
    expected = predict_table(model, rows)["score"].to_numpy()
    np.testing.assert_allclose(
        [row["score"] for row in run_python(model, rows)], expected, atol=1e-9
    )


def test_an_export_leaves_nothing_in_the_cache_folder(tmp_path):
    """The telemetry of onnxruntime is off unless the user has chosen otherwise."""
    pytest.importorskip("onnxruntime")
    code = (
        "import os; from lincent.export.onnx import _no_telemetry\n"
        "with _no_telemetry(): import onnxruntime\n"
        "assert 'ORT_DISABLE_TELEMETRY' not in os.environ"
    )
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    kept = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env={**kept, **home}, check=True)
    assert not [*tmp_path.rglob("deviceid"), *tmp_path.rglob("onnxruntime.db")]
