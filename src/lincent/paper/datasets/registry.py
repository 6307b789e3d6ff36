"""What is known of each data set before it is loaded: names, size, licence, source, checksums.

The values themselves are third-party data and are not part of this package; the checksums are,
so that a table from any source is known to be the published one. ``file_sha256`` is that of the
CSV file kept in a data folder, ``table_sha256`` that of the canonical text of its values
(`lincent.paper.datasets.table`).
"""

import difflib
import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Entry:
    """The fixed facts of one data set."""

    name: str
    title: str
    n_rows: int
    n_features: int
    class_counts: tuple[tuple[str, int], ...]
    licence: str
    source: str
    description: str
    code: str = ""
    aliases: tuple[str, ...] = ()
    file_sha256: str = ""
    table_sha256: str = ""
    groups_file: str = ""
    groups_file_sha256: str = ""
    groups_sha256: str = ""
    generated: bool = False

    @property
    def file(self) -> str:
        """Name of the file in a data folder."""
        return f"{self.name}.csv"


def _read() -> dict[str, Entry]:
    """The facts of ``registry.toml``, in the order in which data sets are listed."""
    text = resources.files("lincent.paper.datasets").joinpath("registry.toml").read_text("utf-8")
    found = {}
    for name, facts in tomllib.loads(text).items():
        counts = tuple(facts.pop("class_counts").items())
        aliases = tuple(facts.pop("aliases", ()))
        found[name] = Entry(name=name, class_counts=counts, aliases=aliases, **facts)
    return found


ENTRIES = _read()
_NAMES: dict[str, str] = {
    alias.lower(): entry.name
    for entry in ENTRIES.values()
    for alias in (entry.name, entry.code, *entry.aliases)
    if alias
}


def find_entry(name: str) -> Entry:
    """Return the entry of a name, code or alias in any case, or suggest the closest ones."""
    if not isinstance(name, str):
        raise TypeError(f"The name of a data set is a string, got {type(name).__name__}.")
    key = name.strip().lower().replace("-", "_").replace(" ", "_").removesuffix(".csv")
    if key in _NAMES:
        return ENTRIES[_NAMES[key]]
    close = list(dict.fromkeys(_NAMES[k] for k in difflib.get_close_matches(key, _NAMES, 3, 0.6)))
    if close:
        hint = "did you mean " + " or ".join(repr(match) for match in close) + "?"
    else:
        hint = "the names are " + ", ".join(ENTRIES) + "."
    raise ValueError(f"Unknown data set {name!r}: {hint}")
