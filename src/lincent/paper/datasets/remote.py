"""Data sets on servers: at most two addresses for each set, a short time limit, always a checksum.

Files come from the UCI repository, from the CSV export of the R packages, from the benchmark site
of the shapes, or from OpenML through scikit-learn. Servers of data sets go down and change their
paths, so each attempt is short and the error says what was tried.
"""

import contextlib
import http.client
import socket
import time
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lincent.paper.datasets.formats import (
    IONOSPHERE_FEATURES,
    PARKINSON_FEATURES,
    PIMA_FEATURES,
    breast_cancer_from_mass,
    breast_cancer_from_uci,
    crabs_from_mass,
    german_from_uci,
    glass_from_mass,
    glass_from_uci,
    ionosphere_reader,
    original_of,
    parkinson_from_uci,
    pima_from_csv,
    shape_reader,
)
from lincent.paper.datasets.registry import (
    DatasetChecksumError,
    DatasetNotFoundError,
    DataTable,
    Entry,
    build_table,
    verify_table,
)

TIMEOUT_SECONDS = 8.0
MAX_BYTES = 10_000_000
TOTAL_SECONDS = 60
CHUNK_BYTES = 1 << 16

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_R = "https://raw.githubusercontent.com/vincentarelbundock/Rdatasets/master/csv/MASS/"
_SIPU = "https://cs.joensuu.fi/sipu/datasets/"
_PIMA = "https://raw.githubusercontent.com/jbrownlee/Datasets/master/pima-indians-diabetes.data.csv"


def download_text(address: str) -> str:
    """Fetch a text file, within the time limit and a size that no set of ours reaches."""
    end = time.monotonic() + TOTAL_SECONDS
    content = bytearray()
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as response:
        # What has come is taken as it comes: a server that drips must not hold the fit.
        while part := response.read1(CHUNK_BYTES):
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES} bytes.")
            if time.monotonic() > end:
                raise TimeoutError(f"not complete after {TOTAL_SECONDS} seconds.")
    return content.decode("utf-8")


@dataclass(frozen=True)
class TextFile:
    """A file at an address, in one of the forms of `lincent.paper.datasets.formats`."""

    address: str
    read: Callable[[str], DataTable]

    @property
    def host(self) -> str:
        return urllib.parse.urlsplit(self.address).netloc

    def fetch(self) -> DataTable:
        return self.read(download_text(self.address))


@dataclass(frozen=True)
class OpenML:
    """A data set of OpenML, its columns in our order, its classes under our names."""

    host: ClassVar[str] = "openml.org"

    data_id: int
    features: Sequence[str]
    classes: Mapping[str, str]

    @property
    def address(self) -> str:
        return f"OpenML data set {self.data_id}"

    def fetch(self) -> DataTable:
        from sklearn.datasets import fetch_openml

        with _socket_timeout(TIMEOUT_SECONDS), warnings.catch_warnings():
            # A retry is announced by a warning; a failure in the end is our error to report.
            warnings.simplefilter("ignore")
            # liac-arff needs no pandas; our own cache holds what was checked.
            bunch = fetch_openml(
                data_id=self.data_id,
                as_frame=False,
                parser="liac-arff",
                cache=False,
                n_retries=1,
                delay=0.1,
            )
        return build_table(
            self.features, bunch.data.tolist(), [self.classes[str(code)] for code in bunch.target]
        )


@contextlib.contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    # fetch_openml has no time limit of its own.
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


_SHAPE = shape_reader({"1": "1", "2": "2", "3": "3"})

# By the name of the original set (`formats.original_of`).
REMOTES: dict[str, tuple[TextFile | OpenML, ...]] = {
    "breast_cancer_with_missing": (
        TextFile(
            f"{_UCI}breast-cancer-wisconsin/breast-cancer-wisconsin.data", breast_cancer_from_uci
        ),
        TextFile(f"{_R}biopsy.csv", breast_cancer_from_mass),
    ),
    "crab_gender": (TextFile(f"{_R}crabs.csv", crabs_from_mass),),
    "glass": (
        TextFile(f"{_UCI}glass/glass.data", glass_from_uci),
        TextFile(f"{_R}fgl.csv", glass_from_mass),
    ),
    "parkinson": (
        TextFile(f"{_UCI}parkinsons/parkinsons.data", parkinson_from_uci),
        OpenML(1488, PARKINSON_FEATURES, {"1": "healthy", "2": "parkinson"}),
    ),
    "ionosphere": (
        TextFile(f"{_UCI}ionosphere/ionosphere.data", ionosphere_reader("g", "b")),
        OpenML(59, IONOSPHERE_FEATURES, {"g": "good", "b": "bad"}),
    ),
    "pima_diabetes": (
        OpenML(37, PIMA_FEATURES, {"tested_negative": "negative", "tested_positive": "positive"}),
        TextFile(_PIMA, pima_from_csv),
    ),
    "german_credit": (TextFile(f"{_UCI}statlog/german/german.data-numeric", german_from_uci),),
    "jain": (TextFile(f"{_SIPU}jain.txt", _SHAPE),),
    "spiral": (TextFile(f"{_SIPU}spiral.txt", _SHAPE),),
    "flame": (TextFile(f"{_SIPU}flame.txt", _SHAPE),),
    "pathbased": (TextFile(f"{_SIPU}pathbased.txt", _SHAPE),),
}


def remotes_of(entry: Entry) -> tuple[TextFile | OpenML, ...]:
    """Return the addresses of a set in the order of trial."""
    return REMOTES.get(original_of(entry.name)[0], ())


def download(entry: Entry) -> tuple[DataTable, str]:
    """Fetch a set from the first address that answers with the published values.

    Raises
    ------
    DatasetChecksumError
        If an address answered, but with other values, and no other one was right.
    DatasetNotFoundError
        If no address answered; the message says what each one did.
    """
    derive = original_of(entry.name)[1]
    wrong: DatasetChecksumError | None = None
    failures = []
    for remote in remotes_of(entry):
        try:
            table = derive(remote.fetch())
            advice = "it was not stored; set LINCENT_DATA to a folder with the published file"
            return verify_table(table, entry, remote.address, advice), remote.address
        except DatasetChecksumError as error:
            wrong = error
        except (LookupError, OSError, ValueError, http.client.HTTPException) as error:
            failures.append(f"{remote.host}: {_short(error)}")
    if wrong is not None:
        raise wrong
    raise DatasetNotFoundError("; ".join(failures) or "no address is known")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
