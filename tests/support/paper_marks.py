"""The marks of the paper's appendix tables: its test of each method against LCC."""

from lincent.paper.study import paper

MARKS = {"*": "worse", "-": "same", "+": "better"}


def versus_lcc(dataset: str, row: str, method: str) -> str:
    """Return better, same or worse; empty for LCC itself."""
    table = paper._DATA["seizure" if dataset.startswith("Subject") else "tabular"]
    header, *lines = (line.split() for line in table.strip().splitlines())
    (cells,) = [cells for cells in lines if cells[:2] == [dataset, row]]
    return MARKS.get(cells[header.index(method)][-1], "")
