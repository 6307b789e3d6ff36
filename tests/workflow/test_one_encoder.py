"""A frame given to AutoLCC directly, and the same through ``fit_table``: the same answers."""

import numpy as np
import pandas as pd
import pytest

from lincent import AdditiveLCC, AutoLCC
from lincent.export import load_model, save_model
from lincent.tables.read import read_table
from lincent.tables.schema import to_frame
from lincent.workflow import fit_table

QUICK = {"feature_maps": ["columns", "splines", "centers"]}


def table(seed, m, classes=2):
    """Columns of every kind that both read; some are drawn to be there, some to have gaps."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, classes, m)
    words = np.array([f"w{k:02d}" for k in range(45)])
    columns = {
        "height": rng.normal(code, 1.5),
        "count": np.floor(rng.gamma(2.0 + code, 4.0)),
        "flag": rng.random(m) < 0.3 + 0.2 * (code == 1),
        "rare": (rng.random(m) < 0.02).astype(float),
        "city": rng.choice(["Rome", "Oslo", "(missing)", "missing", "Köln"], m).astype(object),
        "many": words[(45 * rng.beta(1.0, 3.0, m)).astype(int)].astype(object),
        "far": 1e6 + rng.normal(size=m),
    }
    frame = pd.DataFrame(columns)
    order = rng.permutation(len(columns))[: rng.integers(3, len(columns) + 1)]
    frame = frame[[list(columns)[k] for k in order]]
    for name in frame.columns:
        if frame[name].dtype != bool and rng.random() < 0.7:
            gaps = rng.random(m) < rng.uniform(0.05, 0.4)
            frame.loc[gaps, name] = None if frame[name].dtype == object else np.nan
    return frame, np.array(["a", "b", "c"])[code]


def strange(frame, seed):
    """New rows: categories that training did not have, and gaps in every column but flags."""
    rng = np.random.default_rng(seed)
    new = frame.sample(60, random_state=seed).reset_index(drop=True)
    for name in new.columns:
        there = new[name].dtype == object
        if there:
            new.loc[rng.random(60) < 0.2, name] = "never seen"
        if new[name].dtype != bool:
            new.loc[rng.random(60) < 0.2, name] = None if there else np.nan
    return new


def answers_of_both(frame, labels, new, data, **settings):
    direct = AutoLCC(**settings).fit(frame, labels)
    model = fit_table(data, "y", params=settings, keep=tuple(frame.columns))
    prepared = to_frame(model.schema, read_table(new))
    return direct, model, prepared


@pytest.mark.parametrize("seed", range(6))
def test_the_same_answers(seed):
    frame, labels = table(seed, 150)
    new = strange(frame, seed)
    direct, model, prepared = answers_of_both(frame, labels, new, frame.assign(y=labels), **QUICK)
    assert model.pipeline[0].names == direct._encoder.names
    for name in ("decision_function", "predict_proba", "predict"):
        expected = getattr(direct, name)(new)
        np.testing.assert_array_equal(getattr(model.pipeline, name)(prepared), expected)


def test_the_same_answers_by_way_of_files(tmp_path):
    frame, labels = table(3, 150, classes=3)
    path, new = tmp_path / "train.csv", strange(frame, 0)
    frame.assign(y=labels).to_csv(path, index=False)
    direct, model, prepared = answers_of_both(frame, labels, new, path, **QUICK)
    save_model(model, tmp_path / "model.lincent")
    loaded = load_model(tmp_path / "model.lincent")
    expected = direct.decision_function(new)
    np.testing.assert_array_equal(loaded.pipeline.decision_function(prepared), expected)


def with_odd_columns(frame, labels, seed):
    """Add columns that nobody should learn from, at random positions."""
    rng = np.random.default_rng(seed)
    m, known = len(frame), labels == "b"
    odd = {
        "number": rng.permutation(3 * m)[:m],
        "code": [f"K-{k:05d}" for k in rng.permutation(m)],
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, m), "D"),
        "written": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(
            rng.integers(0, 900, m), "D")).dt.strftime("%Y-%m-%d"),
        "same": "x",
        "later": np.where(known, rng.integers(1, 9, m), 0),
    }  # fmt: skip
    frame = frame.copy()
    names = [name for name in odd if rng.random() < 0.7] or ["number"]
    for name in names:
        frame.insert(int(rng.integers(0, len(frame.columns) + 1)), name, odd[name])
    return frame, names


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_are_left_out_are_the_same_both_ways(seed, tmp_path):
    frame, labels = table(20 + seed, 150)
    whole, odd = with_odd_columns(frame, labels, seed)
    new = with_odd_columns(frame, labels, seed)[0].sample(40, random_state=0)
    settings = QUICK if seed % 2 == 0 else {}
    kind = AutoLCC if seed % 2 == 0 else AdditiveLCC
    with pytest.warns(UserWarning, match="does not use these columns") as caught:
        direct = kind(**settings).fit(whole, labels)
    message = next(str(w.message) for w in caught if "does not use" in str(w.message))
    assert all(f"'{name}' (" in message for name in odd)
    whole.assign(y=labels).to_csv(tmp_path / "t.csv", index=False)
    model = fit_table(tmp_path / "t.csv", "y", method=kind.__name__, params=settings)
    assert [whole.columns[j] for j in direct._used] == model.schema.names
    expected = direct.decision_function(new)
    found = model.pipeline.decision_function(to_frame(model.schema, read_table(new)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)  # terms in another order
    # New rows need not have the columns that were left out: a leak is not known before.
    scores = direct.decision_function(new.drop(columns=list(odd)))
    np.testing.assert_array_equal(scores, expected)
    with pytest.raises(ValueError, match="feature names"):
        direct.decision_function(new.drop(columns=[*odd][:1]).assign(another=1.0))
    with pytest.raises(ValueError, match="feature names"):
        direct.decision_function(new.drop(columns=[model.schema.names[0]]))
    importances = dict(zip(whole.columns, direct.feature_importances_, strict=True))
    assert all(importances[name] == 0 for name in odd)


def test_columns_are_kept_by_name_or_all_and_dates_are_days():
    polars = pytest.importorskip("polars")
    frame, labels = table(3, 120)
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(120) * (labels == "b"))
    frame["number"] = np.arange(120)
    with pytest.warns(UserWarning, match="'number' "):
        some = AutoLCC(**QUICK, keep_columns=["when"]).fit(frame, labels)
    assert len(some._used) == frame.shape[1] - 1
    everything = AutoLCC(**QUICK, keep_columns="all").fit(frame, labels)
    assert len(everything._used) == frame.shape[1]
    same = AutoLCC(**QUICK, keep_columns="all").fit(polars.from_pandas(frame), labels)
    scores = same.decision_function(polars.from_pandas(frame))
    np.testing.assert_allclose(scores, everything.decision_function(frame), atol=1e-9)
    with pytest.raises(ValueError, match="keep_columns names 'wen'"):
        AutoLCC(keep_columns=["wen"]).fit(frame, labels)
    with pytest.raises(ValueError, match=r"drop='when' is one name: give a list"):
        fit_table(frame.assign(y=labels), "y", drop="when")
    for keep in ("when", 5):
        with pytest.raises(ValueError, match="neither a list of names nor 'all'"):
            AutoLCC(keep_columns=keep).fit(frame, labels)
    with pytest.raises(ValueError, match="keep_columns names 'when'"):
        AutoLCC(keep_columns=["when"]).fit(np.eye(4), [0, 1, 0, 1])


def test_a_left_out_column_changes_no_part_of_an_additive_model():
    frame, labels = table(5, 150)
    odd = frame.copy()
    odd.insert(1, "same", 1.0)
    odd["number"] = np.arange(150)
    alone = AdditiveLCC().fit(frame, labels)
    with pytest.warns(UserWarning, match="does not use"):
        model = AdditiveLCC(monotonic_cst=[0] * odd.shape[1]).fit(odd, labels)
    name = frame.columns[1]
    position = list(odd.columns).index(name)
    for asked in (name, position):
        np.testing.assert_array_equal(model.shape(asked)["value"], alone.shape(name)["value"])
    with pytest.raises(ValueError, match="that is used"):
        model.shape("number")
