"""Which files a fit goes through, in which order, and how often one calls another.

    python benchmarks/flow.py                  the fits that doc/measured/flow.md shows, in short
    python benchmarks/flow.py LCC              one of them in full: every call, indented
    python benchmarks/flow.py --all            all of them in full
    python benchmarks/flow.py --write          writes the short ones to doc/measured/flow.md

A call counts where a function of one file of lincent calls a function of another, directly or
through other packages, and counts once however often it is repeated.  Properties count,
comprehensions and what is imported on the way do not: every fit is run once before it is watched.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import inspect
import io
import sys
import tempfile
from pathlib import Path

import numpy as np

import lincent

SOURCE = Path(lincent.__file__).resolve().parent
ROWS, COLUMNS = 300, 5
PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "flow.md"


class Flow:
    """Calls between files, in order."""

    def __init__(self):
        self.calls = []
        self._known = set()
        self._stack = []

    def watch(self, frame, event, _):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(SOURCE)):
            return
        if code.co_name.startswith("<"):
            return
        if event == "call" and code.co_flags & inspect.CO_GENERATOR and frame.f_lasti > 0:
            resumed = True  # a generator that goes on is no new call
        else:
            resumed = False
        if event == "return":
            if self._stack:
                self._stack.pop()
            return
        file = Path(code.co_filename).relative_to(SOURCE).with_suffix("").as_posix()
        caller, depth = self._stack[-1] if self._stack else ((None, None), 0)
        callee = (file, code.co_qualname)
        if file != caller[0]:
            depth += 1
            if caller[0] and not resumed and (caller, callee) not in self._known:
                self._known.add((caller, callee))
                self.calls.append((depth, *callee))
        self._stack.append((callee, depth))

    @property
    def files(self):
        return list(dict.fromkeys(file for _, file, _ in self.calls))

    def __str__(self):
        lines = [f"{'  ' * (depth - 1)}{file}: {name}" for depth, file, name in self.calls]
        return "\n".join(lines)

    def short(self):
        """Each file once, in the order of the first call, with the functions it is entered by."""
        entries = {file: [] for file in self.files}
        depths = {}
        for depth, file, name in self.calls:
            depths.setdefault(file, depth)
            if name not in entries[file]:
                entries[file].append(name)
        return "\n".join(
            f"{'  ' * (depths[file] - 1)}{file}: {', '.join(names[:3])}"
            + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            for file, names in entries.items()
        )


def flow_of(job):
    """The flow of a job, run a second time so that imports are not part of it."""
    job()
    flow = Flow()
    before = sys.getprofile()
    sys.setprofile(flow.watch)
    try:
        job()
    finally:
        sys.setprofile(before)
    return flow


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    return X, (X[:, 0] + rng.standard_normal(ROWS) > 0).astype(int)


def on_dask():
    import dask
    import dask.array as da

    X, y = data()
    # One thread: a profile belongs to a thread.
    with dask.config.set(scheduler="synchronous"):
        lincent.LCC().fit(da.from_array(X, chunks=(ROWS // 2, COLUMNS)), y)


def on_the_command_line():
    from lincent.cli import main

    X, y = data()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        header = ",".join(f"x{k}" for k in range(COLUMNS)) + ",target"
        np.savetxt(table, np.c_[X, y], delimiter=",", header=header, comments="")
        arguments = ["fit", str(table), "--target", "target", "-o", str(Path(folder) / "m.lincent")]
        quiet, given = io.StringIO(), sys.argv
        sys.argv = ["lincent", *arguments]
        try:
            with contextlib.redirect_stdout(quiet), contextlib.suppress(SystemExit):
                main()
        finally:
            sys.argv = given


JOBS = {
    "LCC": lambda: lincent.LCC().fit(*data()),
    "LCCCV": lambda: lincent.LCCCV().fit(*data()),
    "RegularizedLCC": lambda: lincent.RegularizedLCC().fit(*data()),
    "AutoLCC": lambda: lincent.AutoLCC().fit(*data()),
    "LCC on Dask": on_dask,
    "lincent fit": on_the_command_line,
}


def job_of(name):
    """A job of the list, or the fit of any public estimator."""
    if name in JOBS:
        return JOBS[name]
    from lincent.paper import baselines

    kind = getattr(lincent, name, None) or getattr(baselines, name)
    return lambda: kind().fit(*data())


def write():
    """Write the page of traces."""
    parts = [
        "# Call traces",
        "Which files a fit goes through, each once in the order of its first call, with the "
        "functions by which it is entered. A call counts once, where a function of one file calls "
        f"a function of another. Written by `benchmarks/flow.py` on {datetime.date.today()}.",
    ]
    for name in JOBS:
        flow = flow_of(job_of(name))
        parts.append(f"## {name}: {len(flow.files)} files, {len(flow.calls)} calls between files")
        parts.append(f"```text\n{flow.short()}\n```")
    PAGE.write_text("\n\n".join(parts) + "\n", "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("estimator", nargs="?", help="a public class, or a name of the list")
    parser.add_argument("--all", action="store_true", help="all of the list in full")
    parser.add_argument("--write", action="store_true", help="write doc/measured/flow.md")
    settings = parser.parse_args()
    if settings.write:
        return write()
    for name in [settings.estimator] if settings.estimator else JOBS:
        flow = flow_of(job_of(name))
        print(f"{name}: {len(flow.files)} files, {len(flow.calls)} calls from file to file\n")
        print(flow if settings.all or settings.estimator else flow.short(), end="\n\n")


if __name__ == "__main__":
    main()
