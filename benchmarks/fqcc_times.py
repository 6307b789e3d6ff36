"""How much longer FQCC takes than LCC: by our convex-concave procedure and by a general solver.

    python benchmarks/fqcc_times.py  # prints, and writes its part of doc/measured/study.md
    python benchmarks/fqcc_times.py --splits 1 --limit 20

The paper reports "almost 250 times" for a general interior-point method on its seven sets. Here
the same program, one slack variable per row, goes to SciPy's SLSQP (``ramp_slsqp.py``); a fit
that passes the limit is stopped and its ratio is a lower bound. Splits and preparation are those of
procedure 1. Times are processor times of one fit on one thread, medians over the splits.
"""

import argparse
import datetime
import json
import platform
import re
import time
import warnings
from pathlib import Path

import numpy as np
from ramp_slsqp import GeneralFQCC

from lincent import FQCC, LCC
from lincent.paper.study import load_problem, paper

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "study.md"
BEGIN, END = "<!-- begin fqcc_times.py -->", "<!-- end fqcc_times.py -->"


def seconds(model, X, y):
    return timed(model, X, y)[0]


def timed(model, X, y):
    """Processor time of a fit, and whether the limit stopped it, which it says in a warning."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    spent = time.process_time() - start
    return spent, any("ended the search" in str(item.message) for item in caught)


def measured(code, splits, limit):
    """Medians over splits of one set: seconds of the three fits, and how often one was stopped."""
    problem = load_problem(code)
    rows = []
    for split in range(splits):
        train, _ = problem.split(split)
        X = problem.preparation().fit_transform(problem.rows(train))
        y = problem.y[train]
        seconds(LCC(), X, y)  # the first fit pays for imports
        general = GeneralFQCC(max_iter=1000, time_limit=limit)
        spent, stopped = timed(general, X, y)
        rows.append(
            {
                "lcc": min(seconds(LCC(), X, y) for _ in range(3)),
                "ours": min(seconds(FQCC(), X, y) for _ in range(3)),
                "general": spent,
                "stopped": stopped,
                "objective": float(FQCC().fit(X, y).objective_),
                "general_objective": float(general.objective_),
            }
        )
    return {
        "set": code,
        "rows": len(train),
        "columns": X.shape[1],
        **{k: float(np.median([r[k] for r in rows])) for k in ("lcc", "ours", "general")},
        "ours_ratio": float(np.median([r["ours"] / r["lcc"] for r in rows])),
        "general_ratio": float(np.median([r["general"] / r["lcc"] for r in rows])),
        "stopped": sum(r["stopped"] for r in rows),
        "splits": splits,
        "lower": sum(r["objective"] <= r["general_objective"] + 1e-9 for r in rows),
    }


def table(found):
    lines = [
        "| set | training rows × columns | LCC | FQCC, ours | FQCC, general | ours / LCC | "
        "general / LCC | ours at least as low |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in found:
        bound = "> " if r["stopped"] else ""
        lines.append(
            f"| {r['set']} | {r['rows']} × {r['columns']} | {1000 * r['lcc']:.1f} ms | "
            f"{1000 * r['ours']:.0f} ms | {bound}{r['general']:.2f} s | {r['ours_ratio']:.1f} | "
            f"{bound}{r['general_ratio']:.0f} | {r['lower']} of {r['splits']} |"
        )
    return "\n".join(lines)


def page(found, limit, when):
    ours, general = (
        f"{np.mean(ratios):.0f} times as long as LCC on average (set by set {min(ratios):.0f} to "
        f"{max(ratios):.0f})"
        for ratios in ([r[name] for r in found] for name in ("ours_ratio", "general_ratio"))
    )
    least = "at least " if any(r["stopped"] for r in found) else ""
    return "\n\n".join(
        [
            BEGIN,
            f"FQCC by the convex-concave procedure takes {ours}, by the general solver "
            f"{least}{general}; the paper has almost {paper.FQCC_TIME_RATIO:.0f}. A `>` marks sets "
            f"on which a fit was stopped after {limit:g} s of wall time. The last column counts "
            "the splits on which our objective is at most that of the general solver.",
            table(found),
            f"Processor times on one thread, {when}, by `benchmarks/fqcc_times.py`.",
            END,
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one general fit")
    parser.add_argument("--sets", default=",".join(paper.SETS))
    parser.add_argument(
        "--json", type=Path, help="keep the figures, for --from-json on another machine"
    )
    parser.add_argument("--from-json", type=Path, help="write the page from figures kept before")
    parser.add_argument("--no-page", action="store_true", help="print only")
    options = parser.parse_args()
    if options.from_json:
        kept = json.loads(options.from_json.read_text("utf-8"))
    else:
        found = []
        for code in options.sets.split(","):
            found.append(measured(code, options.splits, options.limit))
            print(found[-1], flush=True)
        when = f"{datetime.date.today().isoformat()}, Python {platform.python_version()}"
        kept = {"found": found, "limit": options.limit, "when": when}
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    text = page(kept["found"], kept["limit"], kept["when"])
    print(text)
    if not options.no_page:
        old = PAGE.read_text("utf-8")
        pattern = re.escape(BEGIN) + ".*" + re.escape(END)
        PAGE.write_text(re.sub(pattern, lambda _: text, old, flags=re.S), "utf-8")


if __name__ == "__main__":
    main()
