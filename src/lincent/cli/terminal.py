"""What the commands print: answers on the output, progress and remarks on the error stream."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lincent._errors import printable

if TYPE_CHECKING:
    from lincent.export.model import Model
    from lincent.workflow.predict import Scored


def remark(line: str) -> None:
    """One line for the person, not for the next program."""
    print(f"lincent: {printable(line)}", file=sys.stderr)


def silence(line: str) -> None:
    """Nothing, where the person wants to hear nothing."""


def answer(text: str) -> None:
    """What was asked for."""
    print(printable(text), file=sys.stdout, flush=True)


def answer_json(data: Any) -> None:
    """The same for the next program."""
    answer(json.dumps(data, indent=2, ensure_ascii=False, default=str, allow_nan=False))


@contextmanager
def row_counter() -> Iterator[Callable[[int], None]]:
    """Rows done, on the error stream and only where a person looks."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return

    def show(rows: int) -> None:
        print(f"\r{rows:,} rows", end="", file=sys.stderr, flush=True)

    yield show
    print(file=sys.stderr)


def fit_summary(model: Model, data: str, path: str, page: str | None) -> dict[str, Any]:
    """What ``lincent fit`` says."""
    summary = {key: value for key, value in model.summary.items() if key != "impact"}
    if summary["held_out"]:
        summary["held_out"] = {k: v for k, v in summary["held_out"].items() if k != "curves"}
    new = "new" + "".join(Path(data).suffixes[-2:]) if data != "-" else "new.csv"
    command = shlex.join(["lincent", "predict", path, new, "-o", "scored.csv"])
    return {"model": path, "report": page, "lincent": model.version, "next": command, **summary}


def fit_text(found: dict[str, Any]) -> str:
    """The summary of a fit in a few lines, the held-out score first."""
    from lincent.inspection.learning_curve import curve_text
    from lincent.report.text import scores_text

    held = found["held_out"]
    lines = scores_text(held, "held-out rows") if held else ["No row could be held out."]
    if held and "at_cut" in held:
        lines.append(at_the_cut(held["positive"], **held["at_cut"]))
    if found.get("learning_curve"):
        lines.append(curve_text(found["learning_curve"]))
    used = sum(bool(column["used_as"]) for column in found["columns"])
    classes = ", ".join(f"{k} ({n})" for k, n in found["classes"].items())
    proof = found["certificate"]
    gap = f"relative duality gap {proof['relative_gap']:.1e}; " if proof else ""
    lines.append(
        f"{found['estimator']} on {found['rows']} rows, {used} of {len(found['columns']) - 1} "
        f"columns, classes {classes}; {gap}{found['seconds']:.2f} s"
    )
    lines.append(f"written to {found['model']}")
    if found["report"]:
        lines.append(f"report in {found['report']}")
    lines.append(f"next: {found['next']}")
    return "\n".join(lines)


def at_the_cut(name: Any, found: int, rows: int, called: int) -> str:
    """What a decision on the cut is about: rows found, and false alarms."""
    return (
        f"At the cut: {found} of {rows} rows of {name} are found; {called - found} of the "
        f"{called} rows called {name} are not."
    )


def predict_text(run: Scored) -> str:
    """The summary of a prediction in a line."""
    found = run.to_json()
    classes = ", ".join(f"{name} {count}" for name, count in sorted(found["classes"].items()))
    speed = f"{found['rows_per_second']:,}" if found["rows_per_second"] else "–"
    return f"{found['rows']:,} rows in {found['seconds']:.2f} s ({speed} rows/s): {classes}"


def tell_unlikely(run: Scored, model: Model) -> None:
    """The class goes by the cut; where that is not the largest probability, the person is told."""
    if run.unlikely:
        cut = model.cut
        why = (
            "the cut counts both classes the same"
            if cut is None
            else f"the cut was set by {cut.by}"
        )
        remark(f"In {run.unlikely} rows the class is not the most probable one: {why}.")


def tell_new_categories(run: Scored) -> None:
    """Values that training did not have count as no category; the person should know."""
    for column, count in sorted(run.new_categories.items()):
        remark(f"{count} rows have a value of {column!r} that training did not have; it adds 0.")
