"""What the commands print: answers on the output, progress and remarks on the error stream."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lincent.app.explain import explain_text
from lincent.app.model import Model
from lincent.app.predict import Scored


def remark(line: str) -> None:
    """One line for the person, not for the next program."""
    print(f"lincent: {line}", file=sys.stderr)


def answer(text: str) -> None:
    """What was asked for."""
    print(text, file=sys.stdout, flush=True)


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


def fit_summary(model: Model, path: str, page: str | None) -> dict[str, Any]:
    """What ``lincent fit`` says."""
    summary = {key: value for key, value in model.summary.items() if key not in ("line", "impact")}
    return {"model": path, "report": page, "lincent": model.version, **summary}


def fit_text(found: dict[str, Any]) -> str:
    """The summary of a fit in a few lines."""
    training = found["training"]
    lines = [
        f"{found['estimator']} on {found['rows']} rows, {found['features']} features after "
        f"encoding, classes {', '.join(f'{k} ({n})' for k, n in found['classes'].items())}; "
        f"{found['seconds']:.2f} s",
        f"relative duality gap {found['certificate']['relative_gap']:.1e}; on the training rows: "
        f"accuracy {training['accuracy']:.3f}, balanced accuracy "
        f"{training['balanced_accuracy']:.3f}",
    ]
    if "tuned" in found:
        tuned = found["tuned"]
        shares = ", ".join(f"{share:.3g}" for share in tuned["relative_margin"])
        lines.append(
            f"cross-validated {tuned['scoring']} {tuned['mean_test_score']:.3f} at {shares} of the "
            "largest margin"
        )
    lines.append(f"written to {found['model']}")
    if found["report"]:
        lines.append(f"report in {found['report']}")
    return "\n".join(lines)


def predict_text(run: Scored) -> str:
    """The summary of a prediction in a line."""
    found = run.to_json()
    classes = ", ".join(f"{name} {count}" for name, count in sorted(found["classes"].items()))
    speed = f"{found['rows_per_second']:,}" if found["rows_per_second"] else "–"
    return f"{found['rows']:,} rows in {found['seconds']:.2f} s ({speed} rows/s): {classes}"


def tell_new_categories(run: Scored) -> None:
    """Values that training did not have count as no category; the person should know."""
    for column, count in sorted(run.new_categories.items()):
        remark(f"{count} rows have a value of {column!r} that training did not have; it adds 0.")


__all__ = [
    "answer",
    "answer_json",
    "explain_text",
    "fit_summary",
    "fit_text",
    "predict_text",
    "remark",
    "row_counter",
    "tell_new_categories",
]
