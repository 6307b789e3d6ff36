"""The figures of doc/measured/seizure.md: Bonn end to end, the twelve shapes, reading speed.

    python benchmarks/seizure.py                    every section
    python benchmarks/seizure.py bonn reading       some of them
    python benchmarks/seizure.py bonn --splits 10   fewer splits

LINCENT_DATA must name the folder that has seizure/bonn_eeg.npz. Each section is written into
doc/measured/seizure.md between the marks that bear its name. Synthetic recordings are substitutes:
only their
times and certificates are reported, no scores.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import platform
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from synthetic_eeg import make_synthetic_features, write_segment, write_synthetic
from threadpoolctl import threadpool_limits

from lincent import LCC
from lincent.model_selection import Problem, find_method, plan_runs, run_plan
from lincent.model_selection.statistics import interval
from lincent.paper.seizure import (
    SUBJECTS,
    EventShuffleSplit,
    extract_features,
    find_events,
    read_segment,
)
from lincent.paper.study import paper

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "seizure.md"
METHODS = ("LCC", "LDA", "SVM", "DLS", "SMP", "WSV", "TSV", "DEL", "LogReg-bal", "RegularizedLCC")


def stamp() -> str:
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    load = os.getloadavg()[0]
    return (
        f"{day}, {os.cpu_count()} shared CPU cores (load {load:.1f} when written), one thread, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}."
    )


def seizure_folder() -> Path:
    folder = os.environ.get("LINCENT_DATA")
    if not folder:
        sys.exit("Set LINCENT_DATA to the folder that has seizure/bonn_eeg.npz.")
    return Path(folder) / "seizure"


def clip(splits: int) -> list[str]:
    segment = read_segment(seizure_folder() / "sample_clip.mat")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "Dog_0"
        folder.mkdir()
        whole = (seizure_folder() / "sample_clip.mat").read_bytes()
        (folder / "Dog_0_ictal_segment_1.mat").write_bytes(whole)
        found = extract_features(folder)
    return [
        f"{len(found.channels)} channels, {segment.data.shape[1]} samples at {segment.rate:.4f} "
        f"Hz, {found.X.shape[1]} features, latency {found.latency[0]:g}; names "
        f"{found.channels[0]} to {found.channels[-1]}."
    ]


# R. G. Andrzejak et al., Phys. Rev. E 64, 061907, 2001: five sets of 100 recordings of one channel,
# 23.6 s at 173.61 Hz. S is ictal, N and F are interictal, all three intracranial. A recording gives
# 23 segments of 178 samples; the last three samples are left over.
SHA256 = "0d495014fd2e5ce6842cdfc9d6c9d2a90d37c7e598c64237cc9f70cf9edc0a5d"
SAMPLES, SEGMENTS_PER_RECORDING = 178, 23
SETS = {"S": "ictal", "N": "interictal", "F": "interictal"}


def read_bonn(path: Path) -> dict[str, np.ndarray]:
    """Read the segments of S, N and F, by recording, after a check that they are the published."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{path} does not hold the published recordings (sha256 {digest}).")
    used = SAMPLES * SEGMENTS_PER_RECORDING
    with np.load(path, allow_pickle=False) as arrays:
        return {
            name: arrays[name][:, :used].reshape(-1, SEGMENTS_PER_RECORDING, SAMPLES)
            for name in SETS
        }


def write_bonn(source: Path, root: str, rate: float = 173.61) -> Path:
    """Write the Bonn recordings in the challenge's layout; a recording of S becomes an event."""
    folder = Path(root) / "Bonn"
    folder.mkdir()
    written = dict.fromkeys(SETS.values(), 0)
    for name, recordings in read_bonn(source).items():
        kind = SETS[name]
        for recording in recordings:
            for position, samples in enumerate(recording):
                written[kind] += 1
                latency = position * SAMPLES / rate if kind == "ictal" else None
                path = folder / f"Bonn_{kind}_segment_{written[kind]}.mat"
                write_segment(path, samples[None], rate, ("single channel",), latency)
    return folder


def bonn(splits: int) -> list[str]:
    with tempfile.TemporaryDirectory() as temporary:
        start = time.perf_counter()
        folder = write_bonn(seizure_folder() / "bonn_eeg.npz", temporary)
        written = time.perf_counter()
        found = extract_features(folder, cache=Path(temporary) / "cache")
        read = time.perf_counter()
        extract_features(folder, cache=Path(temporary) / "cache")
        cached = time.perf_counter()
        problem = Problem(
            "Bonn",
            found.X,
            found.y,
            groups=np.arange(len(found.y)) // SEGMENTS_PER_RECORDING,
            splitter=EventShuffleSplit(),
        )
        plan = plan_runs([problem], METHODS, n_splits=splits)
        frame = run_plan(plan, time_limit=300, progress=show)
    lines = [
        f"{len(found.X)} segments written in {written - start:.1f} s, read with features in "
        f"{read - written:.1f} s ({len(found.X) / (read - written):.0f} a second), from the cache "
        f"in {cached - read:.2f} s. {splits} splits by recording.",
        "",
        "| method | hard-label AUC | score AUC | fit, median | splits |",
        "|---|---|---|---|---|",
    ]
    for method in METHODS:
        part = frame[(frame["method"] == method) & (frame["status"] == "ok")]
        if part.empty:
            error = frame[frame["method"] == method]["error"].iloc[0]
            lines.append(f"| {method} | – | – | – | 0: {error} |")
            continue
        share = float((part["n_test"] / part["n_train"]).mean())
        cells = []
        for column in ("test_hard_auc", "test_score_auc"):
            gap = interval(100 * part[column].to_numpy(), share)
            cells.append(f"{gap.mean:.1f} [{gap.low:.1f}, {gap.high:.1f}]")
        seconds = part["fit_seconds"].median()
        lines.append(f"| {method} | {cells[0]} | {cells[1]} | {seconds:.3f} s | {len(part)} |")
    return lines


def show(done: int, total: int, row: dict) -> None:
    if done % 25 == 0 or done == total:
        print(f"{done} of {total}: {row['method']} {row['status']}", flush=True)


def shapes(splits: int) -> list[str]:
    lines = [
        "| subject | training | LCC, CPU | certified (relative gap) | LDA / LCC (paper) "
        "| SVM / LCC (paper) | SVC of scikit-learn / LCC | made in |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for subject in SUBJECTS:
        start = time.perf_counter()
        X, y, latency = make_synthetic_features(subject)
        made = time.perf_counter() - start
        events = np.full(len(y), -1)
        events[y == "ictal"] = find_events(latency[y == "ictal"])
        train, _ = next(EventShuffleSplit(1, random_state=0).split(X, y, events))
        A = StandardScaler().fit_transform(X[train].astype(float))
        models = {
            "LCC": LCC(),
            "LDA": find_method("LDA").estimator,
            "SVM": find_method("SVM").estimator,
            "SVC": SVC(kernel="linear"),
        }
        spent, complaint = {}, ""
        for name, model in models.items():
            start = time.process_time()  # a shared machine makes the clock on the wall useless
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(A, y[train])
            spent[name] = time.process_time() - start
            if name == "LCC":
                complaint = "; ".join(str(item.message) for item in caught)
        lcc = models["LCC"]
        gap = lcc.duality_gap_
        certified = "yes" if gap <= lcc.tol and not complaint else f"NO {complaint}"
        theirs = {name: paper.printed(subject.code, "time", name) for name in ("LCC", "LDA", "SVM")}
        ratio = {name: spent[name] / spent["LCC"] for name in spent}
        lines.append(
            f"| {subject.code} | {A.shape[0]} × {A.shape[1]} | {spent['LCC']:.2f} s "
            f"| {certified} ({gap:.0e}, {lcc.solver_}) "
            f"| {ratio['LDA']:.2f} ({theirs['LDA'] / theirs['LCC']:.2f}) "
            f"| {ratio['SVM']:.2f} ({theirs['SVM'] / theirs['LCC']:.2f}) "
            f"| {ratio['SVC']:.2f} | {made:.0f} s |"
        )
        print(lines[-1], flush=True)
    return lines


def reading(splits: int) -> list[str]:
    lines = ["| run | segments a second |", "|---|---|"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_synthetic(temporary, 3, ictal=480, interictal=1520)
        total = 2000
        for jobs in (1, 2):
            extract_features(folder, n_jobs=jobs)  # processes are started, files are in memory
            rates = []
            for repeat in range(3):
                start = time.perf_counter()
                extract_features(folder, n_jobs=jobs, cache=Path(temporary) / f"c{jobs}{repeat}")
                rates.append(total / (time.perf_counter() - start))
            lines.append(
                f"| raw files to features and cache, {jobs} process(es) "
                f"| {np.median(rates):.0f} (least of three {min(rates):.0f}) |"
            )
            print(lines[-1], flush=True)
        start = time.perf_counter()
        extract_features(folder, cache=Path(temporary) / "c10")
        lines.append(
            f"| second run, from the cache | {total / (time.perf_counter() - start):.0f} |"
        )
    return lines


def write(name: str, lines: list[str]) -> None:
    page = PAGE.read_text("utf-8")
    body = "\n".join(
        [f"<!-- begin {name} -->", "", *lines, "", stamp(), "", f"<!-- end {name} -->"]
    )
    pattern = rf"<!-- begin {name} -->.*?<!-- end {name} -->"
    page, count = re.subn(pattern, lambda _: body, page, flags=re.DOTALL)
    if count != 1:
        sys.exit(f"{PAGE} has no marks for {name}.")
    PAGE.write_text(page, "utf-8")


SECTIONS = {"clip": clip, "reading": reading, "bonn": bonn, "shapes": shapes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--splits", type=int, default=50)
    given = parser.parse_args()
    for name in given.sections or SECTIONS:
        if name not in SECTIONS:
            sys.exit(f"Unknown section {name!r}: of {', '.join(SECTIONS)}.")
        print(f"== {name}", flush=True)
        with threadpool_limits(1):
            lines = SECTIONS[name](given.splits)
        write(name, lines)


if __name__ == "__main__":
    main()
