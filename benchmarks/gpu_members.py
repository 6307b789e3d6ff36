"""Members of the family on data in the memory of a GPU, in torch or CuPy.

    python benchmarks/gpu_members.py                       all members, torch
    python benchmarks/gpu_members.py --library cupy
    python benchmarks/gpu_members.py --only LCC --profile  where the time of a fit goes
    python benchmarks/gpu_members.py --quick               small sizes, on the CPU without a GPU
    python benchmarks/gpu_members.py --json torch.json     keeps the table, also of what is done
    python benchmarks/gpu_members.py --from torch.json cupy.json --write  into doc/measured/scale.md

Ends with a Markdown table: median and least seconds of three fits after one that is not counted
(libraries compile what they need there; of a fit that takes long there is one), the relative gap,
and the largest memory of the device, the rows included.
"""

import argparse
import cProfile
import datetime
import json
import pstats
import statistics
from pathlib import Path

import gpu  # brings array-api-compat where scikit-learn carries it
import torch

from lincent import (
    LCC,
    LCCCV,
    AdditiveLCC,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
)

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "scale.md"
BEGIN, END = "<!-- gpu_members.py begins -->", "<!-- gpu_members.py ends -->"

double, single = torch.float64, torch.float32
CASES = {
    "LCC": (lambda: LCC(random_state=0), 50_000_000, 100, double),
    "LCC, 10,000,000 rows": (lambda: LCC(random_state=0), 10_000_000, 100, double),
    "RegularizedLCC": (lambda: RegularizedLCC(random_state=0), 50_000_000, 100, double),
    "RegularizedLCC, float32": (lambda: RegularizedLCC(random_state=0), 50_000_000, 100, single),
    "StructuredLCC(25 centers a class)": (
        lambda: StructuredLCC(n_centers=25), 10_000_000, 50, double),
    "StructuredLCC(50 centers a class)": (
        lambda: StructuredLCC(n_centers=50), 10_000_000, 50, double),
    "KernelLCC(norm='linf', n_components=100)": (
        lambda: KernelLCC(norm="linf", n_components=100), 5_000_000, 20, double),
    "RegularizedLCCCV": (lambda: RegularizedLCCCV(), 5_000_000, 50, double),
    "AdditiveLCC": (lambda: AdditiveLCC(), 10_000_000, 20, double),
    "AutoLCC": (lambda: AutoLCC(), 5_000_000, 20, double),
    "LCCCV": (lambda: LCCCV(random_state=0), 5_000_000, 50, double),
}  # fmt: skip


def rows_of(m, n, dtype, device, library):
    X, y = gpu.generate(m, n, device)
    X = X.to(dtype)
    free_memory("torch")
    return gpu.in_library(library, X, y)


def free_memory(library):
    """Free the memory that libraries keep, so that the next one has enough."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    if library == "cupy":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()


def largest_memory(library):
    if not torch.cuda.is_available():
        return float("nan")
    most = torch.cuda.max_memory_allocated()
    if library == "cupy":
        import cupy

        most += cupy.get_default_memory_pool().total_bytes()  # its pool has not shrunk meanwhile
    return most / 1e9


def measured(name, make, X, y, repeats, library):
    model, seconds = gpu.timed(lambda: make().fit(X, y), repeats)
    relative = gpu.gap(model) if hasattr(model, "objective_") else model.duality_gap_
    return {
        "model": name,
        "rows x columns": f"{X.shape[0]:,} x {X.shape[1]}",
        "library": library,
        "seconds (median)": f"{statistics.median(seconds):.3f}",
        "seconds (least)": f"{min(seconds):.3f}",
        "relative gap": f"{relative:.1e}",
        "device GB": f"{largest_memory(library):.1f}",
    }


def lines_of(settings, device):
    """One line for each case; one that fails says so, and the next goes on."""
    for name, (make, rows, n, dtype) in CASES.items():
        if settings.only and not name.startswith(settings.only):
            continue
        m = rows // 2_000 if settings.quick else rows
        try:
            X, y = rows_of(m, n, dtype, device, settings.library)
            line = measured(name, make, X, y, settings.repeats, settings.library)
            print(line, flush=True)
            yield line
            if settings.profile:
                with cProfile.Profile() as watch:
                    make().fit(X, y)
                pstats.Stats(watch).sort_stats("tottime").print_stats(18)
        except Exception as error:
            print(f"{name} failed: {error!r}", flush=True)
        X = y = None
        free_memory(settings.library)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=["torch", "cupy"], default="torch")
    parser.add_argument("--only", help="members whose names begin with this")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--profile", action="store_true", help="print the dearest calls of a fit")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="keep the table in this file")
    parser.add_argument("--from", dest="kept", type=Path, nargs="+", help="tables from such files")
    parser.add_argument(
        "--write", action="store_true", help="put the table into doc/measured/scale.md"
    )
    settings = parser.parse_args()
    device, lines = "cuda" if torch.cuda.is_available() else "cpu", []
    there = gpu.environment(device, settings.library)
    versions = f"{settings.library} {there[settings.library]}, NumPy {there['numpy']}"
    note = f"{datetime.date.today()}, {there['device']}, {versions}"
    if settings.kept:
        kept = [json.loads(path.read_text("utf-8")) for path in settings.kept]
        note = "; ".join(one["note"] for one in kept)
        lines = [line for one in kept for line in one["lines"]]
    else:
        for line in lines_of(settings, device):
            lines.append(line)
            if settings.json:
                settings.json.write_text(json.dumps({"note": note, "lines": lines}), "utf-8")
    text = f"{gpu.table(lines)}\n\n{note}, `benchmarks/gpu_members.py`."
    print(f"\n{text}")
    if settings.write:
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
