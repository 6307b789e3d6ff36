"""How often does the score that `lincent fit` prints hold on rows that it has not seen?

    python benchmarks/held_out_coverage.py              # ten random tables; two minutes
    python benchmarks/held_out_coverage.py --tables 40 --method linear

Each table is drawn with its warts: 150 to 1,500 rows, 2 to 4 classes from even to 1 : 12, normal,
heavy-tailed, counted and correlated numbers, categories of 2 to 60 values (text, some rare), gaps
at random or where the value is large, marks for missing, identifiers, dates, constants, columns of
noise, and a class that follows a line, single columns, products or nearness.  Written as CSV with
some separator and decimal mark, or as Excel or Parquet.  Each is fitted once, and its printed
95 % interval is held against the balanced accuracy on 6,000 further rows, which has no error to
speak of.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from lincent.workflow import explain_model, fit_table

ASIDE = 6_000


def numbers(rng, n):
    """Columns of several kinds, and what the class may follow, one standard column for each."""
    mixed = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    kinds = [
        lambda: rng.normal(rng.uniform(-50, 50), 10.0 ** rng.integers(-2, 4), n),
        lambda: rng.standard_t(2.2, n),
        lambda: rng.lognormal(3, 1.2, n).round(2),
        lambda: rng.poisson(rng.uniform(0.3, 6), n),
        lambda: mixed[:, rng.integers(3)] + 0.3 * rng.normal(size=n),
    ]
    found = [kinds[rng.integers(len(kinds))]() for _ in range(rng.integers(2, 14))]
    ranked = [(np.argsort(np.argsort(x, kind="stable")) + 0.5) / n for x in found]
    return {f"x{k}": x for k, x in enumerate(found)}, [3.4 * (u - 0.5) for u in ranked]


def categories(rng, n):
    """Text with a frequent value and rare ones, and the effect of each value."""
    found, told = {}, []
    for k in range(rng.integers(0, 4)):
        count = int(rng.choice([2, 3, 7, 20, 60]))
        code = rng.choice(count, n, p=rng.dirichlet(np.full(count, 0.7)))
        found[f"kind {k}"] = np.array([f"{'ABCDEFG'[c % 7]}{c}" for c in range(count)])[code]
        told.append(rng.normal(size=count)[code])
    return found, told


def score(rng, told):
    """A line, single columns, products or nearness: what the class follows."""
    Z = np.stack(told, axis=1)
    used = Z[:, rng.permutation(Z.shape[1])[: rng.integers(1, 6)]]
    pairs = used * np.roll(used, 1, axis=1)
    form = rng.integers(4)
    if form == 0:
        return used @ rng.normal(size=used.shape[1])
    if form == 1:
        return np.sin(2 * used).sum(axis=1) + used[:, 0]
    if form == 2:
        return pairs.sum(axis=1) + used[:, 0]
    return np.exp(-((used - rng.normal(size=used.shape[1])) ** 2).mean(axis=1)) * 3


def with_warts(rng, frame):
    """Gaps, marks, identifiers, dates and constants."""
    n = len(frame)
    for name in list(frame.columns):
        if rng.random() < 0.4:
            values = frame[name]
            likely = rng.uniform(0.005, 0.25)
            if pd.api.types.is_numeric_dtype(values) and rng.random() < 0.3:
                missing = values > values.quantile(1 - likely)  # not at random
            else:
                missing = rng.random(n) < likely
            mark = "?" if rng.random() < 0.4 else None
            frame[name] = values.astype(object).where(~missing, mark)
    if rng.random() < 0.5:
        frame.insert(0, "no", np.arange(n) + rng.integers(1, 1000))
    if rng.random() < 0.5:
        frame["customer"] = [f"C{code:07d}" for code in rng.permutation(10**7)[:n]]
    if rng.random() < 0.4:
        days = pd.Timestamp("2021-02-03") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
        frame["since"] = days.strftime("%Y-%m-%d")
    if rng.random() < 0.3:
        frame["unit"] = "kg"
    return frame


def table(seed):
    """Training rows and further ones, and how the first are written."""
    rng = np.random.default_rng(seed)
    rows = int(np.exp(rng.uniform(np.log(150), np.log(1_500))))
    n = rows + ASIDE
    columns, told = numbers(rng, n)
    words, effects = categories(rng, n)
    raw = score(rng, told + effects)
    raw = rng.uniform(0.6, 3) * (raw - raw.mean()) / raw.std() + rng.logistic(size=n)
    classes = int(rng.choice([2, 2, 2, 3, 4]))
    least = rng.uniform(1 / 13, 1 / classes)
    shares = np.append(np.full(classes - 1, (1 - least) / (classes - 1)), least)
    code = np.digitize(raw, np.quantile(raw, np.cumsum(shares)[:-1]))
    frame = with_warts(rng, pd.DataFrame(columns | words))
    frame["class"] = np.array(["no", "yes", "perhaps", "later"])[code]
    frame = frame.iloc[:, rng.permutation(frame.shape[1])]
    return frame, rows, rng


def write(frame, path, form):
    if form == "xlsx":
        frame.to_excel(path, index=False)
    elif form == "parquet":
        mixed = [name for name in frame if frame[name].dtype == object]
        texts = {name: [None if v is None else str(v) for v in frame[name]] for name in mixed}
        frame.assign(**texts).to_parquet(path)
    else:
        sep, decimal = {"csv": (",", "."), "ssv": (";", ","), "tsv": ("\t", ".")}[form]
        frame.to_csv(path, index=False, sep=sep, decimal=decimal)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--method", default=None)
    asked = parser.parse_args()
    inside, off = 0, []
    for k in range(asked.tables):
        frame, rows, rng = table(asked.seed + k)
        form = str(rng.choice(["csv", "ssv", "tsv", "xlsx", "parquet"]))
        suffix = "csv" if form == "ssv" else form
        with tempfile.TemporaryDirectory() as folder:
            path, aside = (Path(folder) / f"{name}.{suffix}" for name in ("train", "aside"))
            write(frame[:rows], path, form)
            write(frame[rows:].reset_index(drop=True), aside, form)
            began = time.process_time()
            model = fit_table(path, "class", method=asked.method)
            took = time.process_time() - began
            said = model.summary["held_out"]["scores"][0]
            truth = explain_model(model, aside)["evaluation"]["scores"][0]["value"]
        holds = said["low"] <= truth <= said["high"]
        inside += holds
        off.append(said["value"] - truth)
        used = sum(bool(c["used_as"]) for c in model.summary["columns"])
        print(f"{asked.seed + k}: {form}, {rows} x {used} of {frame.shape[1] - 1}, "
              f"{len(model.classes)} classes: said {said['value']:.3f} ({said['low']:.3f} to "
              f"{said['high']:.3f}), was {truth:.3f}; {took:.1f} s"
              f"{'' if holds else '  OUTSIDE'}", flush=True)  # fmt: skip
    print(f"{inside} of {asked.tables} within their interval; said minus was: mean "
          f"{np.mean(off):+.4f}, largest {np.max(np.abs(off)):.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
