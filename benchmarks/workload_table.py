"""The tables of ``bench_solver.py --workloads``, from the file that it has written.

python benchmarks/workload_table.py results/workloads.json            every group, all figures
python benchmarks/workload_table.py results/workloads.json --short    the table of README
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from workload_ratios import GROUPS, Record

COLUMNS = (
    "data / competitor", "median (bar)", "worst (bar)", "worst / median seed", "reads",
    "memory beside X", "seeds", "not certified", "by HiGHS",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
SHORT_HEAD = """| rows × columns | divided by | median | worst |
|---|---|---|---|"""
MANY_SEEDS = 3
"""Fewer do not tell a worst seed from a median one."""


def write(found: Sequence[Record], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(record) for record in found], indent=1) + "\n")


def read(path: Path) -> list[Record]:
    return [Record(**fields) for fields in json.loads(path.read_text())]


def by_cell(found: Sequence[Record]) -> list[list[Record]]:
    """The seeds of one kind and shape together."""
    cells: dict[tuple[str, int, int], list[Record]] = {}
    for record in found:
        cells.setdefault((record.kind, record.rows, record.columns), []).append(record)
    return list(cells.values())


def median_kind(found: Sequence[Record]) -> float:
    """The median over kinds of the median over seeds."""
    return float(np.median([np.median([r.ratio for r in cell]) for cell in by_cell(found)]))


def spread(found: Sequence[Record]) -> str:
    """The worst seed's time over the median seed's, of the kind where that is largest."""
    ratios = [
        (max(r.ours for r in cell) / float(np.median([r.ours for r in cell])), cell[0].kind)
        for cell in by_cell(found)
        if len(cell) >= MANY_SEEDS
    ]
    return "{:.1f}, {}".format(*max(ratios)) if ratios else ""


def most(found: Sequence[Record], field: str, form: str) -> str:
    """The largest count, and whose it is."""
    counts = [(getattr(r, field), r.kind) for r in found if getattr(r, field) is not None]
    return f"{max(counts)[0]:{form}}, {max(counts)[1]}" if counts else ""


def line(key: str, found: Sequence[Record]) -> str:
    """One group: its bars, and whether they hold."""
    group = GROUPS[key]
    worst = max(found, key=lambda record: record.ratio)
    seeds = [len(cell) for cell in by_cell(found)]
    return (
        f"| {group.name} / {group.theirs} | {median_kind(found):.2f} ({group.median:g}) | "
        f"{worst.ratio:.2f} ({group.worst:g}): {worst.kind}, {worst.rows:,} x {worst.columns:,}, "
        f"seed {worst.seed} | {spread(found)} | {most(found, 'reads', 'd')} | "
        f"{most(found, 'extra', '.2f')} | {min(seeds)} to {max(seeds)} | "
        f"{sum(not r.certified for r in found)} of {len(found)} | "
        f"{sum('highs' in r.solver for r in found)} |"
    )


def table(found: Sequence[Record]) -> str:
    """Every group that was measured."""
    lines = [HEAD]
    for key in GROUPS:
        mine = [record for record in found if record.group == key]
        if mine:
            lines.append(line(key, mine))
    return "\n".join(lines) + "\n"


def short_table(found: Sequence[Record]) -> str:
    """A line for every shape: the median kind, and the worst kind and seed."""
    lines = [SHORT_HEAD]
    for key, group in GROUPS.items():
        for rows, columns in group.shapes:
            mine = [r for r in found if r.group == key and (r.rows, r.columns) == (rows, columns)]
            if not mine:
                continue
            worst = max(mine, key=lambda record: record.ratio)
            kind = worst.kind.removeprefix("real: ")
            lines.append(
                f"| {rows:,} × {columns:,} | {group.theirs.removesuffix('()')} | "
                f"{median_kind(mine):.2g} | {worst.ratio:.2g}, {kind} |"
            )
    open_ = sum(not record.certified for record in found)
    highs = sum("highs" in record.solver for record in found)
    lines.append(f"\n{len(found)} fits, {open_} not certified, {highs} by HiGHS.")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+", help="written by bench_solver.py --json")
    parser.add_argument("--short", action="store_true", help="a line for every shape")
    arguments = parser.parse_args()
    found = [record for path in arguments.results for record in read(path)]
    print(short_table(found) if arguments.short else table(found))


if __name__ == "__main__":
    main()
