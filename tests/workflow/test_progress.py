"""Progress in a terminal and in plain lines, and what long work reports."""

import pytest

from lincent import _console


def test_lines_in_a_pipe(capsys, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 4.0, 6.0])
    monkeypatch.setattr(_console.time, "monotonic", lambda: next(clock))
    with _console.progress_bar() as show:
        show("fitting X\x1b[2J on 5 rows", 0, 0)
        show("fold", 0, 3)
        show("fold", 1, 3, "map 'splines'")
        show("fold", 2, 3)
        show("fold", 3, 3)
    assert capsys.readouterr().err.splitlines() == [
        "lincent: fitting X\\x1b[2J on 5 rows",
        "lincent: fold 2 of 3 (map 'splines')",
        "lincent: fold 3 of 3",
    ]


def test_nothing_when_quiet(capsys):
    with _console.progress_bar(quiet=True) as show:
        show("fitting", 0, 0)
    assert capsys.readouterr().err == ""


def test_a_bar_in_a_terminal(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with _console.progress_bar() as show:
        show("held-out fold", 0, 2)
        show("held-out fold", 1, 2)
    assert "held-out fold 2 of 2" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["auto", "linear", "structured", "additive", "lcc"])
def test_a_fit_reports_its_folds(make_table, method):
    from lincent.workflow import fit_table

    told = []
    fit_table(
        make_table(90), "churn", method="LCCCV" if method == "lcc" else method,
        progress=lambda stage, done, total, detail="": told.append((stage, done, total, detail)),
    )  # fmt: skip
    steps = [entry for entry in told if entry[2]]
    assert len(steps) >= 4
    assert all(0 <= done < total for _, done, total, _ in steps)
    if method == "auto":
        assert "fold 1 of 4, columns" in {detail for *_, detail in steps}
        assert any(stage.startswith("fit to all rows") for stage, *_ in steps)


def test_nobody_listens_after_the_work():
    from lincent import _console

    heard = []
    with _console.listening(lambda *step: heard.append(step)):
        _console.step("fold", 0, 2, "one")
    _console.step("fold", 1, 2)
    assert heard == [("fold", 0, 2, "one")]
