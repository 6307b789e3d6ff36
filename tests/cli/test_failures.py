"""Errors are one message with exit code 2 and leave nothing half-written."""

import contextlib
import os
import resource
import subprocess
import sys

import pytest

from lincent._files import OutputError

COMMAND = [sys.executable, "-m", "lincent"]
QUICK = ("--target", "churn", "--method", "quick")


def fails(answer, *words):
    """One message on the error stream, no traceback, exit code 2."""
    assert answer.code == 2, answer.err
    said = ("lincent: read", "lincent: column")
    lines = [line for line in answer.err.splitlines() if not line.startswith(said)]
    lines = [line for line in lines if not line.startswith(("lincent: fitting", "lincent: held"))]
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("lincent: ")
    assert "Traceback" not in answer.err
    for word in words:
        assert word in lines[0], lines[0]


def write(path, text):
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("a,b,y\n", ["no rows"]),
        ("a,b\n1,2\n", ["no column 'y'", "'a', 'b'"]),
        ("a,y\n1,p\n2,p\n", ["one class", "p"]),
        ("a,y\n1,p\n2,\n", ["all 1 rows have one class"]),
        ("a,y\n1,\n2,\n", ["missing", "row 2", "column 2 ('y')", "2 such rows"]),
        ("a,b,y\n1,2\n", ["Row #2: Expected 3 columns, got 2"]),
        ("a,a,y\n1,2,p\n1,3,q\n", ["'a' stands in columns 1 and 2"]),
        ("e,y\n,p\n,q\n", ["'e'", "every cell is empty", "no column beside"]),
        ("a,y\n1,0.5\n2,0.7\n", ["not classes"]),
        ("w,y\n2020-01-01,p\n2021-01-01,q\n", ["'w'", "holds dates", "--keep"]),
        ("a,y\n1,inf\n2,1\n", ["not classes"]),
        ("a,y\n1,1e300\n2,1\n", ["not classes"]),
        ("y\np\nq\n", ["no column beside"]),
        ("a,y\n1,p\n1,q\n", ["'a'", "it is 1 in every row", "--keep"]),
    ],
)
def test_bad_training_tables(tmp_path, lincent, text, words):
    path = write(tmp_path / "t.csv", text)
    output = tmp_path / "m.lincent"
    fails(lincent("fit", path, "--target", "y", "-o", output, "--method", "lcc"), *words)
    assert sorted(os.listdir(tmp_path)) == ["t.csv"]


def test_a_class_of_one_row_is_enough(tmp_path, lincent):
    """Its probability cannot be cross-fitted; the model is made all the same."""
    path = write(tmp_path / "t.csv", "a,y\n1,p\n2,q\n3,q\n")
    done = lincent("fit", path, "--target", "y", "-o", tmp_path / "m", "--method", "lcc")
    assert not done.code
    assert "No row could be held out" in done.out
    assert (tmp_path / "m").exists()


def test_text_with_too_many_values(tmp_path, lincent):
    rows = "".join(f"t{k},{k},{'p' if k % 2 else 'q'}\n" for k in range(400))
    path = write(tmp_path / "t.csv", "name,a,y\n" + rows)
    done = lincent("fit", path, "--target", "y", "-o", tmp_path / "m")
    assert done.code == 2
    assert "'name') is left out as identifier: 400 of 400 cells are different" in done.err
    assert "'a') is left out as identifier: no two rows" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.csv",), ["nowhere.csv", "no such file"]),
        (("folder",), ["folder"]),
        (("table.xlsx",), ["table.xlsx cannot be read as a workbook"]),
        (("train.csv", "--drop", "missing"), ["no column 'missing'"]),
        (("train.csv", "--set", "margin=1e9"), ["largest feasible margin"]),
        (
            ("train.csv", "--method", "lcccv", "--set", "margin=1"),
            ["(LCCCV) has no parameter 'margin'"],
        ),
        (("train.csv", "--set", "discriminator=best"), ["'discriminator'", "Got 'best'"]),
        (("train.csv", "--set", "probability=maybe"), ["'probability'", "Got 'maybe'"]),
        (("train.csv", "--format", "text"), ["'text' (--format) is not one of"]),
        (("train.csv", "--format", "parquet"), ["cannot be read as parquet"]),
        (("table.xlsx", "--method", "best"), ["'best' (--method) is not known", "structured"]),
        (
            ("table.xlsx", "--method", "linear", "--set", "margin=1"),
            ["--method linear (RegularizedLCCCV) has no parameter 'margin'; it has"],
        ),
        (
            ("table.xlsx", "--method", "auto", "--set", "C=5"),
            ["has no parameter 'C'", "costs of errors are --costs CLASS=COST"],
        ),
        (("table.xlsx", "--metric", "auc"), ["--metric auc"]),
        (("table.xlsx", "--threshold", "2"), ["--threshold 2 is no probability"]),
        (("table.xlsx", "--threshold", "0.5", "--metric", "f1"), ["exclude each other"]),
        (("table.xlsx", "--set", "C"), ["write NAME=VALUE"]),
        (("table.xlsx", "--role", "age"), ["write COLUMN=ROLE"]),
        (("train.csv", "--positive", "maybe"), ["no class 'maybe' (--positive)"]),
    ],
)
def test_bad_arguments_of_fit(files, lincent, monkeypatch, arguments, words):
    monkeypatch.chdir(files)
    (files / "folder").mkdir()
    write(files / "table.xlsx", "x")
    before = sorted(os.listdir(files))
    command = ("fit", *arguments, "--target", "churn", "--id", "customer", "-o", "new.lincent")
    if "--method" not in arguments:
        command += ("--method", "lcc")
    fails(lincent(*command), *words)
    assert sorted(os.listdir(files)) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="age"), ["lacks the column 'age'"]),
        (lambda t: t.drop(columns=["age", "city"]), ["lacks the columns 'age', 'city'"]),
        (lambda t: t.assign(age="old"), ["old"]),
        (lambda t: t.assign(age=t.age.astype(object).where(t.index != 7, "x")), ["x"]),
        (lambda t: t.assign(age=float("inf")), ["'age'", "no finite number", "row 2"]),
        (lambda t: t[:0], ["no rows"]),
        (lambda t: t.assign(**{"class": 1}), ["'class' already", "rename"]),
    ],
)
def test_bad_tables_for_predict(files, lincent, fresh, change, words):
    change(fresh).to_csv(files / "bad.csv", index=False)
    before = sorted(os.listdir(files))
    extra = ["--all-columns"] if "rename" in words else []
    command = ("predict", files / "model.lincent", files / "bad.csv", "-o", files / "out.csv")
    fails(lincent(*command, "--strict", *extra), *words)
    assert sorted(os.listdir(files)) == before


@pytest.mark.parametrize("column", ["age", "city"])
def test_wrong_type_in_parquet(files, lincent, fresh, column):
    wrong = "young" if column == "age" else 3
    fresh.assign(**{column: wrong}).to_parquet(files / "bad.parquet")
    command = ("predict", files / "model.lincent", files / "bad.parquet", "-o", files / "o.csv")
    fails(lincent(*command, "--strict"), repr(column), "trained on")


def test_empty_and_broken_inputs_of_predict(files, lincent):
    for name, data in (("empty.csv", b""), ("broken.parquet", b"PAR1 no"), ("none.parquet", b"")):
        (files / name).write_bytes(data)
        before = sorted(os.listdir(files))
        command = ("predict", files / "model.lincent", files / name, "-o", files / "o.csv")
        fails(lincent(*command), name)
        assert sorted(os.listdir(files)) == before


def test_bad_row_late_in_the_file_leaves_no_output(files, lincent, fresh, monkeypatch):
    """The first batches are good; the output must not appear."""
    import pandas as pd

    from lincent.tables import read

    monkeypatch.setattr(read, "BATCH_ROWS", 1_000)
    long = pd.concat([fresh] * 400, ignore_index=True).astype({"age": object})
    long.loc[len(long) - 1, "age"] = "x"
    long.to_csv(files / "long.csv", index=False)
    before = sorted(os.listdir(files))
    command = ("predict", files / "model.lincent", files / "long.csv", "-o", files / "o.csv")
    fails(lincent(*command, "--strict"), "long.csv", "x")
    assert sorted(os.listdir(files)) == before


def test_existing_output_needs_force(files, lincent):
    model, table = files / "model.lincent", files / "new.csv"
    old = write(files / "out.csv", "precious")
    commands = [
        ("predict", model, table, "-o", old),
        ("fit", files / "train.csv", *QUICK, "-o", old),
        ("explain", model, "-o", old),
        ("export", model, old, "--output-format", "sql"),
    ]
    for command in commands:
        fails(lincent(*command), "exists already", "--force")
        assert old.read_text() == "precious"
    assert lincent(*commands[0], "--force").code == 0
    assert old.read_text() != "precious"


def test_output_folder_must_exist(files, lincent):
    command = ("predict", files / "model.lincent", files / "new.csv", "-o", files / "no" / "o.csv")
    fails(lincent(*command), "does not exist")


@contextlib.contextmanager
def small_files_only():
    """A limit on the size of files stands for a disk that is full.

    Only around the command: the test runner writes its own log, perhaps to a file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("kind", ["csv", "parquet", "html", "fit"])
def test_full_disk_leaves_nothing(files, lincent, kind):
    model = str(files / "model.lincent")
    output = str(files / f"out.{kind}")
    command = {
        "csv": ["predict", model, str(files / "new.csv"), "-o", output],
        "parquet": ["predict", model, str(files / "new.csv"), "-o", output],
        "html": ["explain", model, "-o", output],
        "fit": ["fit", str(files / "train.csv"), "--target", "churn", "--method", "quick",
                "-o", output],
    }[kind]  # fmt: skip
    before = sorted(os.listdir(files))
    with small_files_only():
        outcome = lincent(*command)
    fails(outcome, "was not written", "too large")
    assert sorted(os.listdir(files)) == before


def test_broken_pipe(files, fresh, warm):
    import pandas as pd

    # Megabytes, where a pipe holds some sixty kilobytes.
    pd.concat([fresh] * 400, ignore_index=True).to_csv(files / "long.csv", index=False)
    read, write = os.pipe()
    command = ("predict", "model.lincent", "long.csv", "-o", "-")
    with warm.start(*command, folder=files, stdout=write) as process:
        os.close(write)
        with open(read, encoding="utf-8") as stream:
            assert stream.readline().startswith('"customer",')
        error = process.read_error()
    assert process.code == 0, error
    assert error == ""


def test_interrupt_leaves_nothing(files, model, monkeypatch):
    from lincent.workflow import predict_file

    before = sorted(os.listdir(files))

    def stop(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_file(model, files / "new.csv", files / "out.csv", progress=stop)
    assert sorted(os.listdir(files)) == before


def test_unusable_outputs_are_refused(files, model):
    from lincent.workflow import predict_file

    with pytest.raises(ValueError, match="name such a file"):
        predict_file(model, files / "new.csv", files / "o.xyz")
    assert not (files / "o.xyz").exists()


def test_explain_needs_known_classes(files, lincent, fresh):
    fresh.assign(churn="perhaps").to_csv(files / "p.csv", index=False)
    fails(lincent("explain", files / "model.lincent", files / "p.csv"), "perhaps", "no, yes")
    fresh.drop(columns="churn").to_csv(files / "q.csv", index=False)
    fails(lincent("explain", files / "model.lincent", files / "q.csv"), "no column 'churn'")


@pytest.fixture
def in_shell(tmp_path):
    """Run a command line of a shell on a small table; ``$L`` is the command."""
    rows = "".join(
        f"{k % 7},{(3 * k) % 11 + 4 * (k % 2)},{'été日'[: k % 2 + 1]}\n" for k in range(60)
    )
    write(tmp_path / "t.csv", "a,b,y\n" + rows)
    fit = f"{' '.join(COMMAND)} fit --target y --method quick -q --force"

    def run(line, **environment):
        line = line.replace("$FIT", fit).replace("$L", " ".join(COMMAND))
        return subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=os.environ | environment, capture_output=True
        )

    return run


def test_file_names_and_classes_in_any_encoding(tmp_path, in_shell):
    name = os.fsdecode(b"bad\xff.csv")
    os.rename(tmp_path / "t.csv", tmp_path / name)
    found = in_shell("$FIT $'bad\\xff.csv' --report -o $'m\\xff.lincent'", PYTHONIOENCODING="ascii")
    assert found.returncode == 0, found.stderr
    assert b"\\xe9t" in found.stdout
    assert (tmp_path / os.fsdecode(b"m\xff.html")).exists()
    found = in_shell("$L explain $'m\\xff.lincent'", PYTHONIOENCODING="cp1252")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("$FIT t.csv -o m.lincent >&-", 2, "model was written to m.lincent. Standard output"),
        ("$L --help >/dev/full", 2, "no space left"),
        ("$L --version >&-", 2, "not writable"),
    ],
)
def test_streams_that_a_shell_closes_or_fills(in_shell, line, code, words):
    found = in_shell(line)
    assert found.returncode == code, found.stderr
    assert words in found.stderr.decode()
    assert found.stderr.count(b"\n") <= 1, found.stderr


FIT = "fit train.csv --target churn --method quick --force -o m.lincent"


@pytest.mark.parametrize(
    ("arguments", "stream", "state", "code", "words"),
    [
        ("predict model.lincent - -o -", "stdin", "closed", 2, "is empty"),
        ("predict model.lincent new.csv -o -", "stdout", "closed", 2, "output is closed"),
        (f"{FIT} -q", "stdout", "full", 2, "model was written to m.lincent. Standard"),
        (FIT, "stderr", "closed", 0, ""),
        (FIT, "stderr", "full", 0, ""),
    ],
)
def test_closed_and_full_streams(files, warm, arguments, stream, state, code, words):
    with open("/dev/full", "w") as full:
        streams = {stream: full.fileno() if state == "full" else None}
        with warm.start(*arguments.split(), folder=files, **streams) as process:
            error = process.read_error()
    assert process.code == code, error
    assert words in error
    assert error.count("\n") <= 1, error


def test_a_pipe_in_the_folder_stops_nothing(files, lincent):
    """A file of that name is a partial one of another process."""
    os.mkfifo(files / ".x.lincent-partial")
    assert lincent("fit", files / "train.csv", *QUICK, "-o", files / "m").code == 0


def test_force_replaces_no_other_file_of_the_command(files, lincent):
    before = {path: path.read_bytes() for path in files.iterdir()}
    model, data = files / "model.lincent", files / "new.csv"
    for command in (
        ("fit", data, "--target", "churn", "-o", data),
        ("fit", data, "--target", "churn", "-o", files / "n.html", "--report"),
        ("predict", model, data, "-o", model),
        ("predict", model, data, "-o", files / "." / "new.csv"),
        ("explain", model, "-o", model),
        ("export", model, model, "--output-format", "sql"),
    ):
        fails(lincent(*command, "--force"), "another file of this command")
    assert before == {path: path.read_bytes() for path in files.iterdir()}


def test_a_model_is_named_when_its_report_fails(files, lincent, monkeypatch):
    def full(path, content, **options):
        raise OutputError(f"{path} was not written: no space left on device.")

    monkeypatch.setattr("lincent.cli.models.write_file", full)
    output = files / "other.lincent"
    command = ("fit", files / "train.csv", *QUICK, "-o", output, "--report")
    fails(lincent(*command), f"The model was written to {output}", "other.html was not written")
    assert output.exists()
