"""Exports of random models on random tables: the answers of predict, or a refusal at export.

Columns have offsets of any size, missing values, odd names and categories that look alike; the rows
that are scored have them in another order, beside columns of the names that a query uses (a table
that was scored before), and with categories that training did not have.  A table that lacks a
column is an error on every engine.
"""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from campaigns.outcome import Outcome
from lincent import LCC, AdditiveLCC, AutoLCC, KernelLCC, RegularizedLCC, StructuredLCC
from lincent._errors import AppError
from lincent.estimators.base import has_pairs
from lincent.export.code import FORMATS, export_bytes, export_model
from lincent.export.model import Model
from lincent.export.sql import ROW, quoted
from lincent.paper.baselines import LinearSVM, RegularizedLDA, TwinSVC
from lincent.tables.encoder import TableEncoder
from lincent.tables.infer import ColumnOptions, infer_schema
from lincent.tables.read import read_table
from lincent.tables.schema import OddCells, to_frame
from lincent.workflow import predict_table
from lincent.workflow.check import reference
from lincent.workflow.fit import training_summary

NAMES = ("x", "v1", "score", "class", "a b", 'q"uote', "it's", "größe", "lincent_input", "s1", "V2")
WORDS = ("red", "Red", "blue ", "", "0", "00", "it's", '"', "v1", "(missing)", "naïve", "NA", "1e3")
LABELS = (
    ["no", "yes"],
    ["01", "1", "2"],
    ["a", "A", "ä"],
    ["'; --", '"""', "\\"],
    [1, 2],
    [0, 1, 2],
)


def classifier(rng: np.random.Generator) -> Any:
    """An estimator with random parameters."""
    strategy = str(rng.choice(["ovr", "ovo"]))
    probability = rng.choice(np.array([None, "sigmoid"], dtype=object))
    kinds = [
        lambda: LCC(multi_class=strategy, probability=probability),
        lambda: LCC(multi_class=strategy, discriminator="svm"),
        lambda: LCC(discriminator="nearest"),
        lambda: RegularizedLCC(multi_class=strategy, probability=probability),
        lambda: AdditiveLCC(interactions=int(rng.integers(3))),
        lambda: StructuredLCC(n_centers=3, multi_class=strategy),
        lambda: KernelLCC(n_components=8, kernel=str(rng.choice(["rbf", "laplacian", "poly"]))),
        lambda: AutoLCC(feature_maps=[str(rng.choice(["splines", "centers", "landmarks"]))], cv=2),
        lambda: LinearSVM(),
        lambda: RegularizedLDA(),
        lambda: TwinSVC(multi_class=strategy),
    ]
    chances = np.array([4, 2, 1, 4, 4, 2, 2, 1, 1, 1, 1], dtype=float)
    return kinds[rng.choice(len(kinds), p=chances / chances.sum())]()


def draw_table(rng: np.random.Generator, rows: int = 60) -> pd.DataFrame:
    labels = LABELS[rng.integers(len(LABELS))]
    codes = np.arange(rows) % len(labels)
    table: dict[str, Any] = {}
    names = rng.permutation(np.array(NAMES, dtype=object))[: rng.integers(2, 6)]
    for k, name in enumerate(names):
        kind = rng.choice(["number", "number", "few", "words", "flag"]) if k else "number"
        if kind == "words":
            values: Any = rng.choice(np.array(WORDS, dtype=object), rows)
            table[name] = np.where(rng.random(rows) < 0.1, None, values)
        elif kind == "flag":
            table[name] = rng.random(rows) < 0.3 + 0.4 * (codes > 0)
        else:
            size = 10.0 ** rng.integers(-6, 7)
            offset = size * rng.choice([0.0, 1.0, 1e3, 1e7, 1e10])
            values = rng.normal(size=rows) + codes
            values = np.round(values) if kind == "few" else values
            gaps = rng.random(rows) < rng.choice([0.0, 0.02, 0.3])
            table[name] = np.where(gaps, np.nan, offset + size * values)
    table["the target"] = np.array(labels, dtype=object)[codes]
    return pd.DataFrame(table)


def fitted(table: pd.DataFrame, estimator: Any, rng: np.random.Generator) -> Model:
    prepared = infer_schema(read_table(table), "the target", ColumnOptions(keep=tuple(table)[:-1]))
    pipeline = make_pipeline(TableEncoder(), estimator)
    pipeline.fit(prepared.frame, prepared.labels)
    labels = pipeline.classes_
    summary: dict[str, Any] = {
        **training_summary(pipeline, prepared),
        "reference": reference(prepared, None, labels),
        "score_scale": float(10.0 ** rng.uniform(-2, 2)),
    }
    if len(labels) == 2 and hasattr(pipeline[-1], "predict_proba") and rng.random() < 0.3:
        side = labels[rng.integers(2)].item() if labels.dtype != object else labels[0]
        summary["threshold"] = {"positive": side, "at": 0.3, "by": "--threshold"}
    return Model(pipeline, prepared.schema, summary, "0.3.0")


def answers(model: Model, format: str, content: bytes, rows: pd.DataFrame) -> tuple[Any, Any]:
    """Class and score of rows by an export, in the engine it is for."""
    if format == "python":
        space: dict[str, Any] = {}
        exec(compile(content, "export", "exec"), space)
        found = [space["predict"](row) for row in rows.to_dict("records")]
        for missing in (None, np.nan):  # the same for numbers and for words
            cells = rows.astype(object).where(rows.notna(), missing).to_dict("records")
            if [space["predict"](row) for row in cells] != found:
                raise RuntimeError(f"{missing} is not read as missing")
        return [a["class"] for a in found], [a["score"] for a in found]
    if format == "onnx":
        from lincent.export.onnx import graph_answers

        frame = to_frame(model.schema, read_table(rows))
        token = model.pipeline[0].missing_  # missing text of a graph; the word itself is unknown
        words = frame[model.schema.categorical].replace(token, token + "'").fillna(token)
        frame = frame.assign(**{name: words[name] for name in words})
        found = graph_answers(content, [frame[name].to_numpy() for name in frame])
        score = found["score"]
        return found["label"].tolist(), score if score.ndim == 1 else score.max(axis=1)
    query = content.decode().rstrip().rstrip(";")
    outer = f"SELECT * FROM ({query}) AS scored"
    needed = next((name for name in model.schema.names if f"{ROW}.{quoted(name)}" in query), None)
    lacking = rows.drop(columns=[name for name in rows if name.lower() == str(needed).lower()])
    missing = contextlib.nullcontext if needed is None else raises
    if format == "duckdb":
        import duckdb

        with duckdb.connect() as base:
            base.register("given", rows)
            base.execute("CREATE TABLE input_table AS SELECT * FROM given")
            found = base.execute(query).fetchall()
            base.register("fewer", lacking)
            with missing(duckdb.Error):
                base.execute(query.replace('"input_table"', "fewer"))
    else:
        base = sqlite3.connect(":memory:")
        rows.to_sql("input_table", base, index=False)
        found = base.execute(outer).fetchall()
        lacking.to_sql("fewer", base, index=False)
        with missing(sqlite3.Error):
            base.execute(query.replace('"input_table"', "fewer"))
        base.close()
    columns = list(zip(*found, strict=True))
    return (columns[1], columns[0]) if len(model.classes) == 2 else columns[:2]


@contextlib.contextmanager
def raises(error: type[Exception]) -> Iterator[None]:
    """Ask for an error: a table without one of the columns is not scored."""
    try:
        yield
    except error:
        return
    raise RuntimeError("a table that lacks a column was scored")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    seed = int(rng.integers(2**31))
    return check({"seed": seed})


def check(instance: dict[str, Any]) -> Outcome:
    rng = np.random.default_rng(int(instance["seed"]))
    table, estimator = draw_table(rng), classifier(rng)
    name = type(estimator).__name__
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = fitted(table, estimator, rng)
        except ValueError:
            return Outcome("not fitted", checks=0)
        rows = draw_table(rng, 40).reindex(columns=table.columns[:-1])
        for column in rows:  # of other tables: where a column is missing, that of training
            other = table[column].sample(40, replace=True, random_state=seed_of(rng)).to_numpy()
            same = rows[column].dtype == table[column].dtype and rows[column].notna().any()
            rows[column] = rows[column] if same and rng.random() < 0.3 else other
        rows = rows[rng.permutation(list(rows))]
        if rng.random() < 0.3:  # scored before, or with columns of the names in a query
            others = {"score": 7.0, "class": "old", "v1": 3.0, "lincent_0": -1.0}
            rows = rows.assign(**{k: v for k, v in others.items() if k not in rows})
        try:
            expected = predict_table(model, rows)
        except AppError:
            return Outcome("not scored", checks=0)
        faults, checks, refused = [], 0, 0
        for format in (*FORMATS, "duckdb"):
            try:
                content = export_bytes(model, "sql" if format == "duckdb" else format)
                if format != "duckdb":
                    export_model(model, "/dev/null", format, data=table, force=True)
                labels, score = answers(model, format, content, rows)
            except AppError:
                refused += 1
                continue
            except ModuleNotFoundError:
                continue
            checks += 1
            close = undecided(model, rows, expected)
            faults += compare(expected, close, labels, np.asarray(score, dtype=float), format)
    fault = "; ".join(faults)
    return Outcome(f"{name}: {refused} refused" if refused else name, fault and f"{name}: {fault}",
                   instance if fault else {}, checks)  # fmt: skip


def seed_of(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def undecided(model: Model, rows: pd.DataFrame, expected: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose score, and those whose class, may differ by rounding."""
    frame = to_frame(model.schema, read_table(rows[model.schema.names]), OddCells())
    encoded = model.pipeline[:-1].transform(frame)
    scores = np.asarray(model.classifier.decision_function(encoded))
    votes = np.zeros(len(rows), dtype=bool)
    if has_pairs(model.classifier):  # a score of about zero may give its vote to either class
        pairs = np.abs(model.classifier._rows_scores(encoded))
        votes = pairs.min(axis=1) <= 1e-6 * pairs.max()
    threshold = model.threshold
    if scores.ndim > 1:
        best = np.sort(scores, axis=1)
        return votes, votes | (best[:, -1] - best[:, -2] <= 1e-6 * np.abs(best).max())
    if threshold is None:
        return votes, np.abs(scores) <= 1e-6 * np.abs(scores).max()
    if threshold.scale == "score":
        return votes, np.abs(np.abs(expected["score"]) - abs(threshold.at)).to_numpy() < 1e-6
    share = expected[f"probability_{threshold.positive}"].to_numpy()
    return votes, np.abs(share - threshold.at) < 1e-6


def compare(expected: Any, close: Any, labels: Any, score: np.ndarray, format: str) -> list[str]:
    wanted = expected["score"].to_numpy()
    off = (np.abs(score - wanted) / np.maximum(1.0, np.abs(wanted)))[~close[0]]
    faults = [] if not len(off) or off.max() <= 1e-6 else [f"{format} differs by {off.max():.1e}"]
    other = np.array([str(a) != str(b) for a, b in zip(labels, expected["class"], strict=True)])
    if count := int(np.sum(other & ~close[1])):
        faults.append(f"{format} has {count} other classes")
    return faults
