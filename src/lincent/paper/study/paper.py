"""The numbers printed in the paper (``paper.toml``), for the comparison of ours with theirs.

Scores are in percent, times in milliseconds.
"""

from __future__ import annotations

from lincent._files import read_toml

_DATA = read_toml("lincent.paper.study", "paper.toml")
CITATION: str = _DATA["citation"]
SETS: tuple[str, ...] = tuple(_DATA["sets"])
METHODS: tuple[str, ...] = tuple(_DATA["methods"])
BASELINES = METHODS[1:]
"""The methods that the paper compares LCC with."""
RUNS_APPENDIX: int = _DATA["runs_appendix"]
FQCC_TIME_RATIO: float = _DATA["fqcc_time_ratio"]
SIZES: dict[str, list[int]] = _DATA["sizes"]
MEAN_RANKS: dict[str, float] = _DATA["mean_ranks"]
KERNEL: dict[str, tuple[float, float]] = {k: (a, b) for k, (a, b) in _DATA["kernel"].items()}


def _parse_table(text: str) -> dict[tuple[str, str, str], float]:
    """Return the numbers of an appendix table by (set, row, method), without their marks."""
    (_, _, *methods), *lines = (line.split() for line in text.strip().splitlines())
    return {
        (dataset, row, method): float(cell.rstrip("*-+"))
        for dataset, row, *cells in lines
        for method, cell in zip(methods, cells, strict=True)
    }


def _parse_counts(text: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Return a compact table: by row and method, the sets on which LCC is better and worse."""
    (_, *methods), *lines = (line.split() for line in text.strip().splitlines())
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for row, *cells in lines:
        pairs = {m: c.split(":") for m, c in zip(methods, cells, strict=True) if c != "."}
        counts[row] = {method: (int(a), int(b)) for method, (a, b) in pairs.items()}
    return counts


TABULAR, SEIZURE = _parse_table(_DATA["tabular"]), _parse_table(_DATA["seizure"])
COMPACT, COMPACT_SEIZURE = _parse_counts(_DATA["compact"]), _parse_counts(_DATA["compact_seizure"])


def printed_ranks() -> dict[str, float]:
    """Return the mean ranks of procedure 2 with the best at 1, as everywhere in this package."""
    return {method: rank + 1 for method, rank in MEAN_RANKS.items()}


def printed(dataset: str, row: str, method: str) -> float:
    """Return one number of the appendix tables; the row is time, train or test.

    Examples
    --------
    >>> from lincent.paper.study.paper import printed
    >>> printed("BC", "test", "LCC")
    95.58
    """
    table = SEIZURE if dataset.startswith("Subject") else TABULAR
    return table[dataset, row, method]
