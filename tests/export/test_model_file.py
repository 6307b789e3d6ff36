"""Model files: a round trip, old files, and files that must be refused."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import lincent
from lincent._errors import AppError
from lincent.export import load_model, save_model
from lincent.export.model_file import HEADER, TREE, TRUSTED_TYPES, dump_model, parse_model
from lincent.workflow import fit_table, predict_table
from support.model_files import pack, repack
from support.small import make_small

MARK = "lincent_malice_mark"


class Malice:
    """Leaves a mark when it is rebuilt."""

    def __reduce__(self):
        return (exec, (f"import builtins; builtins.{MARK} = True",))


@pytest.fixture(autouse=True)
def no_code_was_run():
    import builtins

    yield
    assert not hasattr(builtins, MARK), "code of a refused file was run"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"method": "LCCCV"},
        {"params": {"probability": None, "discriminator": "nearest"}},
        {"params": {"discriminator": "svm", "multi_class": "ovo", "class_weight": "balanced"}},
    ],
)
def test_round_trip(tmp_path, make_table, classes, settings):
    table = make_table(150, classes=classes)
    model = fit_table(table, "churn", ids=["customer"], **{"method": "lcc"} | settings)
    save_model(model, tmp_path / "m.lincent")
    again = load_model(tmp_path / "m.lincent")
    assert again.schema == model.schema
    assert again.version == lincent.__version__
    assert again.summary == json.loads(json.dumps(model.summary))
    one, other = predict_table(model, table), predict_table(again, table)
    assert one.equals(other)


def public_estimators():
    import inspect

    from sklearn.base import BaseEstimator

    import lincent.paper.baselines

    for module in (lincent, lincent.paper.baselines):
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and issubclass(kind, BaseEstimator):
                yield kind


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", list(public_estimators()), ids=lambda kind: kind.__name__)
def test_every_public_estimator_needs_published_types_only(kind, classes):
    import skops.io

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])]
    fitted = make_small(kind).fit(X, y)
    again = skops.io.loads(skops.io.dumps(fitted), trusted=list(TRUSTED_TYPES))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["LCC", "LCCCV"])
def test_skops_alone_with_the_published_types(name, classes):
    import skops.io

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])]
    for settings in ({}, {"probability": "sigmoid"}):
        fitted = getattr(lincent, name)(**settings).fit(X, y)
        again = skops.io.loads(skops.io.dumps(fitted), trusted=list(TRUSTED_TYPES))
        np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
        if settings:
            np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_every_published_type_exists():
    import importlib

    for name in TRUSTED_TYPES:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), kind), type)


def test_no_pickle_inside(model):
    data = dump_model(model)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        header = json.loads(archive.read(HEADER))
        sizes = {len(archive.read(name)) % 8 for name in names[2:]}
    assert names == [HEADER, TREE, *map(str, range(len(names) - 2))]
    assert sizes <= {0}  # numbers of eight bytes and nothing else
    assert {"format", "lincent", "schema", "summary", "digest"} == set(header)
    assert "scikit-learn" in header["summary"]["versions"]
    assert header["schema"]["columns"][3]["categories"] == [None, "Lima's", "Oslo", "Rome"]


def test_pickle_works_too(model, table):
    again = pickle.loads(pickle.dumps(model))
    assert predict_table(again, table).equals(predict_table(model, table))


def refused(data, *words):
    with pytest.raises(AppError) as error:
        parse_model(data, "f.lincent")
    text = str(error.value)
    assert "\n" not in text
    for word in ("f.lincent", *words):
        assert word in text, text


def test_foreign_files(model):
    refused(b"", "not a lincent model")
    refused(b"hello", "not a lincent model")
    refused(pickle.dumps(Malice()), "not a lincent model")
    refused(pack({"a.txt": b"x"}), HEADER)
    refused(pack({HEADER: b"not json", TREE: b""}), "JSON")
    refused(pack({HEADER: b"\xff\xfe", TREE: b""}), "JSON")
    refused(pack({HEADER: b"[1]", TREE: b""}), "no format")


def test_truncated_at_any_length(model):
    data = dump_model(model)
    for length in range(0, len(data), max(1, len(data) // 40)):
        refused(data[:length])


def test_any_changed_byte_is_found_or_harmless(model, table):
    """A flipped byte is refused, or (in the archive's own bookkeeping) changes nothing."""
    data = dump_model(model)
    expected = predict_table(model, table)
    ends = [*range(40), *range(len(data) - 180, len(data))]  # the archive's own bookkeeping
    for place in [*range(0, len(data), max(1, len(data) // 60)), *ends]:
        changed = bytearray(data)
        changed[place] ^= 0xFF
        try:
            again = parse_model(bytes(changed), "f.lincent")
        except AppError:
            continue
        assert predict_table(again, table).equals(expected)


def test_a_changed_coefficient_is_found(model):
    data = dump_model(model)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts[HEADER])
    header["schema"]["target"] = "other"
    refused(pack(parts | {HEADER: json.dumps(header).encode()}), "digest")


def test_newer_format(model):
    data = dump_model(model)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read(HEADER))
    header["format"] = 99
    refused(repack(data, **{HEADER: json.dumps(header).encode()}), "format 99", "upgrade")
    header["format"], header["lincent"] = 3, 'x"""\nimport os'
    refused(repack(data, **{HEADER: json.dumps(header).encode()}), "no version")


def test_pickle_as_the_tree(model):
    refused(repack(dump_model(model), **{TREE: pickle.dumps(Malice())}), "damaged")


def test_malicious_types(model):
    """Types that would run code when rebuilt, with a right digest: refused by their name."""
    for planted, words in (
        ({"kind": "object", "class": "functools.partial", "content": {}}, "functools.partial"),
        ({"kind": "function", "class": "os.system", "content": {"function": "system"}}, "damaged"),
        ({"kind": "object", "class": "os.system", "content": {}}, "refused"),
        ({"kind": "object", "class": "subprocess.Popen", "content": None}, "subprocess.Popen"),
        ({"kind": "object", "class": ["os"], "content": None}, "refused"),
    ):
        refused(repack(dump_model(model), **{TREE: json.dumps(planted).encode()}), words)


def test_objects_that_are_no_model(model):
    refused(repack(dump_model(model), **{TREE: b'{"kind": "dict", "content": []}'}), "not a fitted")


def test_commands_print_one_line(files, lincent):
    for name, data in (
        ("pickle", pickle.dumps(Malice())),
        ("cut", (files / "model.lincent").read_bytes()[:500]),
        ("body", repack((files / "model.lincent").read_bytes(), **{TREE: b"json?"})),
    ):
        path = files / f"{name}.lincent"
        path.write_bytes(data)
        commands = (
            ("predict", path, files / "new.csv", "-o", files / "out.csv"),
            ("explain", path),
            ("export", path, files / "out.sql"),
        )
        for command in commands:
            answer = lincent(*command)
            assert answer.code == 2
            assert len(answer.err.strip().splitlines()) == 1
            assert path.name in answer.err
    assert not (files / "out.csv").exists()
