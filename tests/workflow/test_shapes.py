"""Data of every shape people have: frames, orders, new categories, extra columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from lincent import LCC, LCCCV
from lincent._errors import AppError
from lincent.workflow import fit_table, predict_file, predict_table

KINDS = {
    "pandas": lambda frame: frame,
    "pandas-arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas-categories": lambda frame: frame.astype({"city": "category"}),
    "polars": lambda frame: pl.from_pandas(frame),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_in_frames_out(table, fresh, model, kind):
    made = fit_table(KINDS[kind](table), "churn", ids=["customer"], method="lcc")
    given = KINDS[kind](fresh)
    answers = predict_table(made, given)
    assert type(answers) is type(given)
    expected = predict_table(model, fresh)
    for name in ("class", "score", "probability_yes"):
        found = answers[name].to_numpy() if kind != "arrow" else answers[name].to_pylist()
        wanted = list(expected[name])
        assert list(found) == (wanted if name == "class" else pytest.approx(wanted))


def test_index_of_a_pandas_frame_stays(model, fresh):
    shuffled = fresh.sample(frac=1.0, random_state=0)
    assert list(predict_table(model, shuffled).index) == list(shuffled.index)


def test_order_and_extra_columns_do_not_matter(model, fresh):
    expected = predict_table(model, fresh)
    other = fresh[fresh.columns[::-1]].assign(noise=1, when=pd.Timestamp("2020-01-01"))
    pd.testing.assert_frame_equal(predict_table(model, other), expected)


def test_integers_where_floats_were_and_back(model, fresh):
    other = fresh.assign(visits=fresh.visits.astype(float), income=fresh.income.round())
    whole = other.assign(income=other.income.astype(int))
    pd.testing.assert_frame_equal(predict_table(model, whole), predict_table(model, other))


def test_new_categories_add_nothing_and_are_counted(files, model, fresh, lincent):
    strange = fresh.assign(city=fresh.city.where(fresh.index % 2 == 0, "Nuuk"))
    strange.to_csv(files / "strange.csv", index=False)
    run = predict_file(model, files / "strange.csv", files / "out.csv")
    assert run.odd.unknown == {"city": 60}
    command = ("predict", files / "model.lincent", files / "strange.csv", "-o", files / "p.csv")
    answer = lincent(*command)
    assert answer.code == 0
    assert "60 rows have a value of 'city'" in answer.err


def test_missing_values_everywhere(model, fresh):
    empty = fresh.assign(age=np.nan, city=None, income=np.nan)
    answers = predict_table(model, empty)
    assert np.isfinite(answers["score"]).all()


def test_identifier_stays_text(files, lincent, fresh):
    fresh.assign(customer=[f"{k:05d}" for k in range(len(fresh))]).to_csv(
        files / "ids.csv", index=False
    )
    out = files / "o.csv"
    assert lincent("predict", files / "model.lincent", files / "ids.csv", "-o", out).code == 0
    assert pd.read_csv(out, dtype=str)["customer"][7] == "00007"


def test_not_a_table():
    with pytest.raises(AppError, match="list is not a table"):
        fit_table([1, 2], "y")


@pytest.mark.parametrize("estimator", [LCC(), LCCCV(margins=4)])
def test_estimators_take_frames_and_sparse(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * (rng.random((80, 4)) < 0.5)
    y = np.where(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=80) > 0, "up", "down")
    names = list("abcd")
    expected = estimator.fit(X, y).predict(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        assert list(estimator.fit(frame, y).feature_names_in_) == names
        assert list(estimator.predict(frame)) == list(expected)
        with pytest.raises(ValueError, match="order"):
            estimator.predict(frame[names[::-1]])
    for form in (sp.csr_matrix, sp.csr_array, sp.coo_array):
        assert list(estimator.fit(form(X), y).predict(form(X))) == list(expected)
    estimator.fit(pd.DataFrame(X, columns=names), y).set_output(transform="polars")
    assert isinstance(estimator.transform(pd.DataFrame(X, columns=names)), pl.DataFrame)


def test_a_polars_frame_with_missing_classes():
    frame = pl.DataFrame(
        {"a": list(range(60)), "t": ["x", "y", "z"] * 20, "y": ["u", "v", None] * 20}
    )
    answers = predict_table(fit_table(frame, "y", method="quick"), frame)
    expected = predict_table(fit_table(frame.to_pandas(), "y", method="quick"), frame.to_pandas())
    assert answers["class"].to_list() == expected["class"].tolist()
