"""Certified fits on data in the memory of a GPU.

    python benchmarks/gpu.py                   on a machine with CUDA
    python benchmarks/gpu.py --quick           small sizes, on the CPU where there is no GPU
    python benchmarks/gpu.py --library cupy    the parts of a fit, and fits, in CuPy

Needs numpy, scipy, scikit-learn, torch and array-api-compat.  Every section stands for itself: one
that fails says so and the next goes on.  Ends with Markdown tables.
"""

import argparse
import datetime
import importlib
import json
import platform
import statistics
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
import torch

try:
    import array_api_compat
except ImportError:  # scikit-learn carries a copy
    from sklearn.externals import array_api_compat

    sys.modules["array_api_compat"] = array_api_compat
try:
    from lincent import LCC
except ImportError:  # run from a checkout without an installation
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    from lincent import LCC


LONG = 8.0
"""Seconds from which on what libraries compile at first does not count."""


def now():
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(function, repeats):
    """The answer and the seconds of each repeat, after one that is not counted if it is short."""
    begin = now()
    answer = function()
    first, seconds = now() - begin, []
    if first > LONG:
        return answer, [first]
    for _ in range(repeats):
        begin = now()
        answer = function()
        seconds.append(now() - begin)
    return answer, seconds


def generate(m, n, device, seed=0):
    """Normal rows and labels from a noisy linear score, made on the device."""
    generator = torch.Generator(device=device).manual_seed(seed)
    X = torch.randn((m, n), generator=generator, dtype=torch.float64, device=device)
    direction = torch.randn(n, generator=generator, dtype=torch.float64, device=device)
    score = X @ direction
    score += direction.norm() * torch.randn(
        m, generator=generator, dtype=torch.float64, device=device
    )
    return X, (score > 0).to(torch.int64)


def in_library(library, *tensors):
    """The same memory as arrays of the library."""
    if library == "torch":
        return tensors
    import cupy

    return tuple(cupy.from_dlpack(tensor) for tensor in tensors)


def gap(model):
    return model.duality_gap_


def fits(m, n, device, repeats, library):
    X, y = in_library(library, *generate(m, n, device))
    model, seconds = timed(lambda: LCC(random_state=0).fit(X, y), repeats)
    return {
        "rows x columns": f"{m:,} x {n}",
        "GB": f"{m * n * 8 / 1e9:.1f}",
        "seconds (median)": f"{statistics.median(seconds):.3f}",
        "seconds (least)": f"{min(seconds):.3f}",
        "relative gap": f"{gap(model):.1e}",
        "iterations": model.n_iter_,
        "solver": model.solver_,
    }


def verbs(m, n, device, repeats, library):
    """The parts of a fit: what one read costs, and what goes on around it."""
    from lincent.sources.array_namespace import DeviceNamespace
    from lincent.sources.device import DeviceSource, check_finite_on_device
    from lincent.sources.rows import SignedRows

    X, y = generate(m, n, device)
    X, sign = in_library(library, X, 2.0 * y.to(torch.float64) - 1.0)
    source, weight = DeviceSource(X, centered=True), np.broadcast_to(1.0, m)
    centers = source.class_means(sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0))
    whole = rows.all_rows(np.broadcast_to(2.0, m), 0.01)
    beta = centers[1] - centers[0]
    rng = np.random.default_rng(0)
    view = whole.look(beta)
    width = view.width(30 * n)
    band = view.split(width)
    there = DeviceNamespace(X).send(beta)
    cases = {
        "X @ v": lambda: X @ there,
        "X' w in pieces": lambda: source.local_combine(sign),
        "X' w by the library": lambda: X.T @ sign,
        "finite": lambda: check_finite_on_device(X),
        "centers": lambda: source.class_means(sign, weight),
        "look": lambda: whole.look(beta),
        "width": lambda: view.width(30 * n),
        "smoothed": lambda: view.smoothed(width, 100 * n, rng),
        "split": lambda: view.split(width),
        "check": lambda: band.check(beta),
        "sample": lambda: whole.sample(int(2 * (float(m) ** 2 * n) ** (1 / 3)), rng),
        "small Gram on the device": lambda: band.rows.gram(band.costs),
    }
    gigabytes = m * n * 8 / 1e9
    for name, function in cases.items():
        try:
            seconds = statistics.median(timed(function, repeats)[1])
        except Exception as error:
            print(f"{name} failed: {error!r}", flush=True)
            continue
        yield {
            "rows x columns": f"{m:,} x {n}",
            "part": name,
            "ms": f"{1e3 * seconds:.2f}",
            "X in GB/s": f"{gigabytes / seconds:,.0f}",
        }


def against_scikit_learn(m, n, device, repeats):
    """The same data on this machine's processor and on the device."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, y = generate(m, n, device)
    there, labels = X.cpu().numpy(), y.cpu().numpy()
    objective = None
    for name, model, rows, classes in [
        ("LCC, torch on the device", LCC(random_state=0), X, y),
        ("LCC, NumPy on the processor", LCC(random_state=0), there, labels),
        ("LogisticRegression, processor", LogisticRegression(max_iter=1000), there, labels),
        ("LinearSVC, processor", LinearSVC(), there, labels),
    ]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _, seconds = timed(lambda m=model, r=rows, c=classes: m.fit(r, c), repeats)
        except Exception as error:
            print(f"{name} failed: {error!r}", flush=True)
            continue
        line = {
            "rows x columns": f"{m:,} x {n}",
            "model": name,
            "seconds (median)": f"{statistics.median(seconds):.3f}",
            "accuracy": f"{np.mean(np.asarray(model.predict(there)) == labels):.4f}",
        }
        if isinstance(model, LCC):
            objective = model.objective_ if objective is None else objective
            difference = abs(model.objective_ - objective) / max(1.0, abs(objective))
            line["relative gap"] = f"{gap(model):.1e}"
            line["difference of objectives"] = f"{difference:.1e}"
        yield line


def table(lines):
    if not lines:
        return "(nothing measured)"
    names = list(dict.fromkeys(name for line in lines for name in line))
    rows = [[str(line.get(name, "")) for name in names] for line in lines]
    cells = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def environment(device, library="torch"):
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "CPU"
    return {
        "date": str(datetime.date.today()),
        "device": name,
        library: importlib.import_module(library).__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "array-api-compat": array_api_compat.__version__,
        "python": platform.python_version(),
    }


def section(title, make):
    """Run one section; what it had before an error still counts."""
    lines = []
    print(f"\n## {title}", flush=True)
    try:
        for line in make():
            lines.append(line)
            print("   ".join(f"{key}: {value}" for key, value in line.items()), flush=True)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return title, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--library", choices=["torch", "cupy"], default="torch")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    settings = parser.parse_args()
    device, how = settings.device, (settings.device, settings.repeats, settings.library)
    sizes = [(20_000, 20), (60_000, 20)] if settings.quick else [(10**7, 100), (5 * 10**7, 100)]
    small = (20_000, 20) if settings.quick else (1_000_000, 50)
    first = in_library(settings.library, *generate(20_000, 10, device))
    LCC(random_state=0).fit(*first)  # libraries start up
    print(table([environment(device, settings.library)]), flush=True)
    results = [
        section("Parts", lambda: (line for m, n in sizes for line in verbs(m, n, *how))),
        section("Fits", lambda: (fits(m, n, *how) for m, n in sizes)),
    ]
    if settings.library == "torch":
        few = min(settings.repeats, 2)
        against = section("Against scikit-learn", lambda: against_scikit_learn(*small, device, few))
        results.append(against)
    for title, lines in results:
        print(f"\n### {title}\n\n{table(lines)}", flush=True)
    if settings.json:
        figures = {"environment": environment(device, settings.library), **dict(results)}
        settings.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
