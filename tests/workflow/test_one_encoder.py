"""A frame given to AutoLCC directly, and the same through ``fit_table``: the same answers."""

import numpy as np
import pandas as pd
import pytest

from lincent import AutoLCC
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
