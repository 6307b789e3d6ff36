"""Pure functions from a finished study to HTML and Markdown."""

from __future__ import annotations

import os
from pathlib import Path

from lincent.paper.study.results import StudyResult
from lincent.report.blocks import Page

__all__ = ["make_page", "write_report"]


def make_page(result: StudyResult) -> Page:
    """Return the report of a study, independent of its format."""
    if result.kind == "compare":
        from lincent.paper.study.reports.comparison import comparison_page

        return comparison_page(result)
    if result.kind == "seizure":
        from lincent.paper.study.reports.seizure import seizure_page

        return seizure_page(result)
    from lincent.paper.study.reports.reproduction import reproduction_page

    return reproduction_page(result)


def write_report(result: StudyResult, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write report.html and report.md to a folder and return their paths.

    Parameters
    ----------
    result : StudyResult
    folder : path
        Made if it is not there.
    """
    from lincent.report.rendering import write_page

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return write_page(make_page(result), folder)
