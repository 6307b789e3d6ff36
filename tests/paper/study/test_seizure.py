"""The seizure study from files to report: subjects beside the paper, substitutes apart."""

import html

import numpy as np
import pytest

from lincent.model_selection import load_result
from lincent.paper.seizure import EventShuffleSplit, extract_features
from lincent.paper.study import paper, reproduce_seizure
from lincent.paper.study.seizure import CODES, seizure_page, seizure_problem, summary_lines
from lincent.report.rendering import write_page
from support.benchmarks import load_benchmark
from support.in_process import without_workers
from support.paper_marks import versus_lcc

write_synthetic = load_benchmark("synthetic_eeg").write_synthetic


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A synthetic substitute, and the same files under the name of the paper's first subject."""
    root = tmp_path_factory.mktemp("clips")
    write_synthetic(root, 1, ictal=40, interictal=60, random_state=1)
    written = write_synthetic(root / "x", 1, ictal=40, interictal=60)
    (root / "Dog_1").mkdir()
    for path in written.iterdir():
        path.rename(root / "Dog_1" / path.name.removeprefix("Synthetic_"))
    return root


@pytest.fixture(scope="module")
def result(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    with without_workers():
        outcome = reproduce_seizure(
            root, runs=3, methods=["LCC", "LDA"], folder=folder, cache=folder / "cache"
        )
    outcome.save(folder)
    return outcome, folder


def test_wins_and_losses_are_those_of_the_printed_marks():
    other = {}
    for row, table in paper.COMPACT_SEIZURE.items():
        for method, printed in table.items():
            marks = [versus_lcc(code, row, method) for code in CODES]
            counts = (marks.count("worse"), marks.count("better"))
            if counts != printed:
                other[row, method] = counts
    # The compact table prints 11 (1) for the time of DEL; its appendix marks it slower on all 12.
    assert other == {("time", "DEL"): (12, 0)}


def test_all_runs_are_on_whole_events(result, root):
    outcome, _ = result
    assert outcome.kind == "seizure"
    assert set(outcome.frame["dataset"]) == {"Subject1", "Synthetic_Dog_1"}
    assert (outcome.frame["status"] == "ok").all()
    features = extract_features(root / "Dog_1")
    problem = seizure_problem(features)
    for number in range(3):
        train, test = problem.split(number)
        ictal = features.y == "ictal"
        assert not set(features.events[train][ictal[train]]) & set(
            features.events[test][ictal[test]]
        )
        np.testing.assert_array_equal(np.sort([*train, *test]), np.arange(len(ictal)))


def test_segments_without_latency_are_noted(root):
    features = extract_features(root / "Dog_1")
    assert isinstance(seizure_problem(features).splitter, EventShuffleSplit)
    features.latency[:2] = np.nan
    assert "2 ictal segments have no latency" in " ".join(seizure_problem(features).notes)


def test_report_sets_subjects_beside_the_paper_and_substitutes_apart(result):
    outcome, folder = result
    written = write_page(seizure_page(load_result(folder)), folder)
    text = html.unescape(written.read_text("utf-8"))
    assert "Subject1 test" in text
    assert f"({paper.printed('Subject1', 'test', 'LCC'):.2f})" in text
    assert "Subject1 (Dog_1) has 40 ictal segments here and 178 in the paper" in text
    assert "Substitute: Synthetic_Dog_1" in text
    assert "not comparable with the paper's" in text
    assert "Subject2, Subject3" in text  # what is missing
    substitute = text.split("Substitute: Synthetic_Dog_1")[-1].split("<h2")[0]
    assert "(95" not in substitute
    summary = "\n".join(summary_lines(outcome))
    assert "Substitutes, not the paper's data: Synthetic_Dog_1" in summary
    assert "(95.20)" in summary


def test_some_subjects_and_a_damaged_file(root, in_process):
    broken = root / "Dog_1" / "Dog_1_interictal_segment_9.mat"
    content = broken.read_bytes()
    broken.write_bytes(content[:500])
    lines = []
    settings = {"subjects": ["Subject1"], "runs": 1, "methods": ["LDA"]}
    try:
        with pytest.raises(ValueError, match=r"Dog_1_interictal_segment_9.mat"):
            reproduce_seizure(root, **settings)
    finally:
        broken.write_bytes(content)
    outcome = reproduce_seizure(root, log=lines.append, **settings)
    assert [problem["name"] for problem in outcome.problems] == ["Subject1"]
    assert any("note: Subject1 (Dog_1) has 40 ictal segments here" in line for line in lines)


def test_command_line(root, tmp_path, in_process):
    testing = pytest.importorskip("typer.testing", reason="typer is not installed")
    from lincent.cli import make_app

    runner = testing.CliRunner()
    rest = ("--runs", "1", "--jobs", "1", "-o", str(tmp_path / "out"))
    done = runner.invoke(
        make_app(),
        ["reproduce", "--seizure", str(root), "--sets", "Dog_1", "--methods", "LDA", *rest],
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").is_file()
    bad = runner.invoke(make_app(), ["reproduce", "--seizure", str(tmp_path / "nowhere")])
    assert bad.exit_code == 2
    assert "is not a folder" in bad.output
