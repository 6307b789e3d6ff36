"""Members of the family on data in the memory of a GPU, in torch or CuPy.

    python benchmarks/gpu_members.py                       all members, torch
    python benchmarks/gpu_members.py --library cupy
    python benchmarks/gpu_members.py --only LCC --profile  where the time of a fit goes
    python benchmarks/gpu_members.py --quick               small sizes, on the CPU without a GPU

Ends with a Markdown table: median and least seconds of three fits after one that is not counted
(libraries compile what they need there), the relative gap, and the largest memory of the device.
"""

import argparse
import cProfile
import datetime
import pstats
import statistics

import gpu  # brings array-api-compat where scikit-learn carries it
import torch

from lincent import LCC, LCCCV, KernelLCC, RegularizedLCC, RegularizedLCCCV, StructuredLCC

CASES = {
    "LCC": (lambda: LCC(random_state=0), 50_000_000, 100, torch.float64),
    "LCC, 10,000,000 rows": (lambda: LCC(random_state=0), 10_000_000, 100, torch.float64),
    "RegularizedLCC": (lambda: RegularizedLCC(random_state=0), 50_000_000, 100, torch.float64),
    "RegularizedLCC, float32": (
        lambda: RegularizedLCC(random_state=0), 50_000_000, 100, torch.float32),
    "StructuredLCC(25 centers a class)": (
        lambda: StructuredLCC(n_centers=25), 10_000_000, 50, torch.float64),
    "StructuredLCC(50 centers a class)": (
        lambda: StructuredLCC(n_centers=50), 10_000_000, 50, torch.float64),
    "KernelLCC(n_components=100)": (
        lambda: KernelLCC(n_components=100, random_state=0), 5_000_000, 20, torch.float64),
    "LCCCV": (lambda: LCCCV(random_state=0), 5_000_000, 50, torch.float64),
    "RegularizedLCCCV": (lambda: RegularizedLCCCV(), 5_000_000, 50, torch.float64),
}  # fmt: skip


def rows_of(m, n, dtype, device, library):
    X, y = gpu.generate(m, n, device)
    X = X.to(dtype)
    if library == "cupy":
        import cupy

        return cupy.from_dlpack(X), cupy.from_dlpack(y)
    return X, y


def measured(name, make, X, y, repeats):
    model, seconds = gpu.timed(lambda: make().fit(X, y), repeats)
    relative = model.duality_gap_
    if hasattr(model, "objective_"):
        relative = gpu.gap(model)
    most = torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else float("nan")
    return {
        "model": name,
        "rows x columns": f"{X.shape[0]:,} x {X.shape[1]}",
        "seconds (median)": f"{statistics.median(seconds):.3f}",
        "seconds (least)": f"{min(seconds):.3f}",
        "relative gap": f"{relative:.1e}",
        "device GB": f"{most:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=["torch", "cupy"], default="torch")
    parser.add_argument("--only", help="members whose names begin with this")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--profile", action="store_true", help="print the dearest calls of a fit")
    parser.add_argument("--repeats", type=int, default=3)
    settings = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    lines = []
    for name, (make, m, n, dtype) in CASES.items():
        if settings.only and not name.startswith(settings.only):
            continue
        m = m // 2_000 if settings.quick else m
        try:
            X, y = rows_of(m, n, dtype, device, settings.library)
            lines.append(measured(name, make, X, y, settings.repeats))
            print(lines[-1], flush=True)
            if settings.profile:
                with cProfile.Profile() as watch:
                    make().fit(X, y)
                pstats.Stats(watch).sort_stats("tottime").print_stats(18)
        except Exception as error:  # the next member goes on
            print(f"{name} failed: {error!r}", flush=True)
        X = y = None
        if device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
    print(f"\n{datetime.date.today()}, {gpu.environment(device)['device']}, {settings.library}\n")
    print(gpu.table(lines))


if __name__ == "__main__":
    main()
