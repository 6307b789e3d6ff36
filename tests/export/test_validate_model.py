"""Model files that were tampered with and have a right digest: refused with one message."""

import copy
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import lincent as package
from lincent._errors import AppError
from lincent.export import load_model, save_model
from lincent.export.code import export_bytes
from lincent.export.model_file import TREE, dump_model, parse_model
from lincent.paper import baselines
from lincent.workflow import fit_table, predict_table
from support.model_files import repack, unchecked, unzip, with_header, with_tree
from support.small import make_small


def refused(data, *words):
    with pytest.raises(AppError) as error:
        parse_model(data, "f.lincent")
    text = str(error.value)
    assert text.startswith("f.lincent ")
    assert text.isprintable(), text
    assert len(text) < 500
    for word in words:
        assert word in text, text


def tampered(model, change):
    """The file of a copy of the model that a function has changed."""
    other = replace(model, pipeline=copy.deepcopy(model.pipeline))
    change(other.pipeline)
    return unchecked(other)


def public_classifiers():
    for module in (package, baselines):
        for name in module.__all__:
            kind = getattr(module, name)
            if hasattr(kind, "decision_function") and hasattr(kind, "get_params"):
                yield kind


@pytest.mark.parametrize("kind", list(public_classifiers()), ids=lambda kind: kind.__name__)
def test_every_classifier_comes_back(kind, model, make_table):
    for classes in (2, 3):
        table = make_table(80, classes=classes)
        rows = fit_table(
            table, "churn", ids=["customer"], method="lcc", params={"probability": None}
        )
        prepared = rows.pipeline[0]
        frame = table[rows.schema.names].copy()
        frame["member"] = frame["member"].astype(float)
        classifier = make_small(kind).fit(prepared.transform(frame), table["churn"].to_numpy(str))
        made = replace(rows, pipeline=Pipeline([("columns", prepared), ("classifier", classifier)]))
        again = parse_model(dump_model(made))
        assert predict_table(again, table).equals(predict_table(made, table))


def test_no_code_in_exported_modules(model, table):
    """``multi_class`` was written as ``repr`` gives it, unchecked."""
    code = "z" * 500 + "'})if(0)else(print('CODE_RAN'))#"

    def plant(pipeline):
        pipeline[-1].multi_class = SVC(class_weight={"A" * 500: code})

    refused(tampered(model, plant), "SVC")
    other = replace(model, pipeline=copy.deepcopy(model.pipeline))
    plant(other.pipeline)
    assert b"CODE_RAN" not in export_bytes(other, "python")
    for value in (code, 7, None, ["ovr"]):
        refused(tampered(model, lambda p, v=value: setattr(p[-1], "multi_class", v)), "multi_class")


def test_no_estimator_that_lincent_does_not_write(model, tmp_path):
    """Native code of an SVC with a broken count of support vectors ended the process."""
    svc = SVC().fit(np.random.default_rng(0).normal(size=(90, 8)), ["no", "yes"] * 45)
    svc._n_support = np.array([-(10**8), 10**8 + len(svc.support_)], np.int32)
    broken = replace(model, pipeline=Pipeline([("columns", model.pipeline[0]), ("c", svc)]))
    refused(unchecked(broken), "sklearn.svm._classes.SVC")
    words = CountVectorizer(input="filename").fit([__file__])
    opener = Pipeline([("columns", words), ("c", model.pipeline[-1])])
    refused(unchecked(replace(model, pipeline=opener)), "CountVectorizer")
    with pytest.raises(AppError, match="not one that lincent stores"):
        save_model(broken, tmp_path / "m.lincent")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_bomb_in_little_memory(model, tmp_path):
    """14 KB of file took gigabytes: an inner archive was not measured."""
    data, path = dump_model(model), tmp_path / "bomb.lincent"
    path.write_bytes(repack(data, **{TREE: unzip(data)[TREE] + b" " * (300 << 20)}))
    assert path.stat().st_size < 1 << 20
    code = (
        "import sys\nfrom lincent._errors import AppError\nfrom lincent.export import load_model\n"
        "try: load_model(sys.argv[1])\nexcept AppError as error: print(error)\n"
        "status = dict(line.split(':') for line in open('/proc/self/status'))\n"
        "print(status['VmHWM'].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    said, memory = done.stdout.splitlines()
    assert "MiB" in said
    assert int(memory) < 400_000  # kB


NAN = np.array([[np.nan] * 8])


def changed_code(pipeline, place, **change):
    columns = pipeline[0].columns_
    columns[place] = replace(columns[place], **change)


CHANGES = {
    "NaN coefficients": lambda p: setattr(p[-1], "coef_", NAN),
    "infinite intercept": lambda p: setattr(p[-1], "intercept_", np.array([np.inf])),
    "huge coefficients": lambda p: setattr(p[-1], "coef_", np.full((1, 8), 1e308)),
    "coefficients of another width": lambda p: setattr(p[-1], "coef_", np.ones((1, 7))),
    "two rows of coefficients": lambda p: setattr(p[-1], "coef_", np.ones((2, 8))),
    "text as coefficients": lambda p: setattr(p[-1], "coef_", np.array([["a"] * 8])),
    "two intercepts": lambda p: setattr(p[-1], "intercept_", np.zeros(2)),
    "one class": lambda p: setattr(p[-1], "classes_", np.array(["a"])),
    "a class twice": lambda p: setattr(p[-1], "classes_", np.array(["a", "a"])),
    "three classes": lambda p: setattr(p[-1], "classes_", np.array(["a", "b", "c"])),
    "classes as text": lambda p: setattr(p[-1], "classes_", "ab"),
    "no classes": lambda p: delattr(p[-1], "classes_"),
    "no coefficients": lambda p: delattr(p[-1], "coef_"),
    "no rules": lambda p: setattr(p[-1], "_rules", []),
    "a number as rule": lambda p: setattr(p[-1], "_rules", [1.0]),
    "a broken calibrator": lambda p: object.__setattr__(p[-1]._calibration, "unit", 0.0),
    "a NaN calibrator": lambda p: object.__setattr__(p[-1]._calibration.softmax, "slope", np.nan),
    "a list as slope": lambda p: object.__setattr__(p[-1]._calibration.softmax, "slope", [1.0]),
    "a calibrator that is none": lambda p: object.__setattr__(p[-1]._calibration, "softmax", 1.0),
    "an unknown strategy": lambda p: object.__setattr__(p[-1]._calibration, "strategy", "all"),
    "an attribute too many": lambda p: object.__setattr__(p[-1]._calibration, "columns", 1.0),
    "an impossible setting": lambda p: setattr(p[-1], "C", -1.0),
    "text as a setting": lambda p: setattr(p[-1], "margin", "x"),
    "a missing setting": lambda p: delattr(p[-1], "tol"),
    "a method replaced": lambda p: setattr(p[-1], "decision_function", 1.0),
    "features as text": lambda p: setattr(p[-1], "n_features_in_", "8"),
    "other categories": lambda p: changed_code(p, 3, categories=("x", "y", "z", "w")),
    "categories as a list": lambda p: changed_code(p, 3, categories=["x"]),
    "a category twice": lambda p: changed_code(p, 3, categories=("Oslo",) * 4),
    "a category that is a number": lambda p: changed_code(p, 1, categories=("Oslo",)),
    "text as fill": lambda p: changed_code(p, 0, fill="x"),
    "a fill that is none": lambda p: changed_code(p, 0, fill=float("nan")),
    "an indicator too many": lambda p: changed_code(p, 1, indicator=True),
    "an indicator that is a number": lambda p: changed_code(p, 0, indicator=1.0),
    "no scale": lambda p: setattr(p[0], "scale_", p[0].scale_ * 0),
    "a NaN as scale": lambda p: setattr(p[0], "scale_", p[0].scale_ * np.nan),
    "a scale less": lambda p: setattr(p[0], "scale_", p[0].scale_[1:]),
    "text as center": lambda p: setattr(p[0], "center_", "x"),
    "no encoder": lambda p: delattr(p[0], "columns_"),
    "an encoder that is none": lambda p: setattr(p[0], "columns_", p[-1]),
    "an encoder with more": lambda p: setattr(p[0], "encode", 1.0),
    "columns in another order": lambda p: p[0].columns_.reverse(),
    "names in another order": lambda p: setattr(
        p[0], "feature_names_in_", p[0].feature_names_in_[::-1]
    ),
    "no steps": lambda p: setattr(p, "steps", []),
    "steps that are none": lambda p: setattr(p, "steps", [1, 2]),
    "a step twice": lambda p: p.steps.append(p.steps[-1]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_parts(model, name):
    refused(tampered(model, CHANGES[name]))


def nothing_is_lost(header):
    header["schema"]["columns"] = header["schema"]["columns"][:-1]


DESCRIPTIONS = {
    "no schema": lambda h: h.pop("schema"),
    "no summary": lambda h: h.pop("summary"),
    "summary as list": lambda h: h.update(summary=[1]),
    "schema as text": lambda h: h.update(schema="x"),
    "a column less": nothing_is_lost,
    "a column of no kind": lambda h: h["schema"]["columns"][0].update(kind="x"),
    "a column of another kind": lambda h: h["schema"]["columns"][0].update(kind="flag", name="x"),
    "a column without a name": lambda h: h["schema"]["columns"][0].update(name=None),
    "a column twice": lambda h: h["schema"]["columns"].append(h["schema"]["columns"][0]),
    "other categories": lambda h: h["schema"]["columns"][3]["categories"].append("Bonn"),
    "a number among them": lambda h: h["schema"]["columns"][3]["categories"].append(1),
    "no target": lambda h: h["schema"].update(target=None),
    "ids as text": lambda h: h["schema"].update(ids="abc"),
    "a broken letter": lambda h: h["schema"].update(target="\ud800"),
    "a broken version": lambda h: h.update(lincent=["1"]),
    "a format that is none": lambda h: h.update(format=True),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_changed_descriptions(model, name):
    refused(with_header(dump_model(model), DESCRIPTIONS[name]))


def nodes(tree):
    if isinstance(tree, dict):
        if "kind" in tree:
            yield tree
        for value in tree.values():
            yield from nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from nodes(value)


def test_every_node_broken_in_turn(model, table):
    """Each node of the tree replaced by another, or robbed of its content: refused or harmless."""
    data = dump_model(model)
    count = len(list(nodes(json.loads(unzip(data)[TREE]))))
    expected = predict_table(model, table)
    rng = np.random.default_rng(0)
    outcomes = {True: 0, False: 0}
    for place in range(count):

        def change(tree, place=place):
            found = list(nodes(tree))
            node, other = found[place], found[rng.integers(count)]
            key = ("content", "class", "kind", "file", "type", "shape")[rng.integers(6)]
            kept = copy.deepcopy(other)
            if key in node and rng.random() < 0.5:
                node[key] = [None, {}, [], "x", -1, 1e308][rng.integers(6)]
            else:
                node.clear()
                node.update(kept)

        try:
            again = parse_model(with_tree(data, change), "f.lincent")
        except AppError:
            outcomes[False] += 1
            continue
        outcomes[True] += 1
        assert len(predict_table(again, table)) == len(expected)
        for kind in ("sql", "python"):
            export_bytes(again, kind)
    assert outcomes[False] > 10


def test_a_file_without_end(tmp_path):
    with pytest.raises(AppError, match="larger"):
        load_model("/dev/zero")


def test_a_broken_summary_is_a_sentence(files, lincent):
    """Every entry of the summary replaced in turn: ``explain`` shows it or says what is wrong."""
    data = (files / "model.lincent").read_bytes()
    path = files / "broken.lincent"

    def places(value, at=()):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in items:
            yield (*at, key)
            if isinstance(entry, (dict, list)):
                yield from places(entry, (*at, key))

    header = json.loads(unzip(data)["lincent.json"])
    found = list(places(header["summary"]))
    rng = np.random.default_rng(0)
    for at in [found[k] for k in rng.permutation(len(found))[:60]]:

        def change(header, at=at):
            place = header["summary"]
            for key in at[:-1]:
                place = place[key]
            place[at[-1]] = [None, "x", -1, [], {}, 1e308, {"a": 1}][rng.integers(7)]

        path.write_bytes(with_header(data, change))
        answer = lincent("explain", path)
        assert answer.code in (0, 2), answer.err
        if answer.code == 2:
            assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", lambda left: np.zeros_like(left)),  # a way that never ends
        ("roots", lambda roots: roots + 10**6),
        ("feature", lambda feature: feature - 1),
        ("column", lambda column: column[:-1]),
        ("left", lambda left: left.astype(float)),
    ],
)
def test_trees_whose_ways_do_not_end_are_refused(leaves, name, change):
    def swap(pipeline):
        trees = pipeline[-1]._blocks["forest leaves"].trees_
        trees.__dict__[name] = change(trees.__dict__[name])

    refused(tampered(leaves, swap), "its Trees is not what it should be")


@pytest.fixture(scope="module")
def leaves(make_table):
    table, how = make_table(80), {"feature_maps": ["forest leaves"]}
    model = fit_table(table, "churn", ids=["customer"], params=how)
    back = parse_model(dump_model(model))
    again, first = (predict_table(one, table)["score"] for one in (back, model))
    np.testing.assert_array_equal(again, first)
    return model
