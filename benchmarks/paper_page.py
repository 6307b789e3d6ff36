"""Fills in the measured figures of doc/paper.md, the page that goes through the paper item by item.

    python benchmarks/paper_page.py results/full            # a folder of `lincent reproduce`
    python benchmarks/paper_page.py results/full --splits 2 --no-page

The page marks each figure as <!--f:name-->value<!--/f-->. The functions below measure those that
need no study (the printed programs solved literally, identities, counts); the others follow from
the rows of the study. A name on the page that nothing here measures is an error.
"""

import argparse
import datetime
import re
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from lincent import FQCC, LCC, KernelLCC
from lincent.model_selection import load_result
from lincent.model_selection.statistics import means
from lincent.paper.datasets import make_paper_example, paper_covariances
from lincent.paper.datasets.generators import PAPER_MATRICES
from lincent.paper.seizure import SUBJECTS, fft_magnitude
from lincent.paper.study import load_problem, paper
from lincent.paper.study.compare_with_paper import (
    agreements,
    best_width,
    conclusions,
    mean_ranks,
    tuned_scores,
)
from lincent.paper.study.figures import example_plot_data

PAGE = Path(__file__).resolve().parent.parent / "doc" / "paper.md"
MARK = re.compile(r"<!--f:([a-z0-9-]+)-->(.*?)<!--/f-->", re.S)
COST, MARGIN = 2.0, 0.01


def training_parts(splits):
    """(set, rows, signs) of the first splits of procedure 1 on every set."""
    for code in paper.SETS:
        problem = load_problem(code)
        for split in range(splits):
            train, _ = problem.split(split)
            X = problem.preparation().fit_transform(problem.rows(train))
            sign = np.where(problem.y[train] == np.unique(problem.y)[1], 1.0, -1.0)
            yield code, X, sign


def centers(X, sign):
    return X[sign < 0].mean(axis=0), X[sign > 0].mean(axis=0)


def literal_lcc(X, sign):
    """Equation LCC exactly as printed, variables (beta, epsilon), by HiGHS."""
    low, high = centers(X, sign)
    m, n = X.shape
    middle, sigma = (low + high) / 2, -MARGIN
    return linprog(
        np.concatenate([low - high, np.full(m, COST)]),
        A_ub=np.vstack(
            [
                np.hstack([sign[:, None] * (middle - X), -np.eye(m)]),
                np.concatenate([low - high, np.zeros(m)]),
            ]
        ),
        b_ub=np.concatenate([np.zeros(m), [sigma]]),
        bounds=[(-1, 1)] * n + [(sigma, None)] * m,
        method="highs",
    )


def literal_fqcc(X, sign, beta):
    """The objective of equation FQCC as printed, at a direction."""
    low, high = (center @ beta for center in centers(X, sign))
    line = X @ beta
    left = sign * (np.abs(line - high) - np.abs(line - low))
    return -abs(low - high) + COST * np.maximum(left, -MARGIN).sum()


def literal_kernel(K, sign):
    """Equation LCC with beta = sum alpha_i phi(x_i), -1 <= alpha <= 1, by HiGHS."""
    m = len(K)
    low, high = K[sign < 0].mean(axis=0), K[sign > 0].mean(axis=0)
    middle = (low + high) / 2
    return linprog(
        np.concatenate([low - high, np.full(m, COST)]),
        A_ub=np.vstack(
            [
                np.hstack([sign[:, None] * (middle - K), -np.eye(m)]),
                np.concatenate([low - high, np.zeros(m)]),
            ]
        ),
        b_ub=np.concatenate([np.zeros(m), [-MARGIN]]),
        bounds=[(-1, 1)] * m + [(-MARGIN, None)] * m,
        method="highs",
    )


def apart(found, literal):
    return abs(found - literal) / max(1.0, abs(literal))


def programs(splits):
    """The printed programs solved literally beside ours, on all sets."""
    lcc, fqcc, impact, boxed, fits = [], [], [], {}, 0
    for code, X, sign in training_parts(splits):
        model, quadratic = LCC().fit(X, sign), FQCC().fit(X, sign)
        printed = literal_lcc(X, sign)
        lcc.append(apart(float(model.objective_), printed.fun))
        fqcc.append(apart(float(quadratic.objective_), literal_fqcc(X, sign, quadratic.coef_[0])))
        slack = np.maximum(sign * ((model.centers_.mean(axis=0) - X) @ model.coef_[0]), -MARGIN)
        gap = np.abs(model.misclassification_impact(X, sign) - COST * (slack + MARGIN))
        impact.append(float(gap.max()))
        boxed[code] = boxed.get(code, 0) + int(np.abs(model.coef_).max() > 1 - 1e-9)
        fits += 1
    m, n = X.shape
    sets = [code for code, count in boxed.items() if count]
    return {
        "lcc-literal": f"{fits} fits, largest relative difference of the objective {max(lcc):.0e}",
        "fqcc-literal": f"{fits} fits, largest relative difference {max(fqcc):.0e}",
        "impact-literal": f"largest difference {max(impact):.0e} over {fits} fits",
        "lcc-sizes": f"on GR {len(printed.ineqlin.residual)} inequalities (m + 1, m = {m}), "
        f"{m + n} bounds and {len(printed.x)} variables (m + n, n = {n})",
        "box-active": f"a coefficient sits at the box on {', '.join(sets)} and on no other set",
    }


def margin_bound():
    """The largest feasible margin is the sum of absolute differences, not the distance."""
    _, X, sign = next(training_parts(1))
    low, high = centers(X, sign)
    euclid, absolute = np.linalg.norm(high - low), np.abs(high - low).sum()
    LCC(margin=0.999 * absolute).fit(X, sign)
    try:
        LCC(margin=1.001 * absolute).fit(X, sign)
        beyond = "accepted"
    except ValueError:
        beyond = "refused"
    return {
        "margin-bound": f"on BC the distance of the centers is {euclid:.2f}, the sum of absolute "
        f"differences {absolute:.2f}; LCC fits at 0.999 of the latter and at 1.001 is {beyond}"
    }


def kernels():
    """The kernel form solved literally on flame."""
    problem = load_problem("Flame")
    X = problem.preparation().fit_transform(problem.X)
    sign = np.where(problem.y == np.unique(problem.y)[1], 1.0, -1.0)
    gamma = 1.0
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    found = KernelLCC(gamma=gamma, norm="linf", class_weight=None).fit(X, sign)
    literal = literal_kernel(K, sign).fun
    return {
        "kernel-literal": f"flame, {len(X)} rows: relative difference of the objective "
        f"{apart(float(found.objective_), literal):.0e}"
    }


def example():
    drawn = example_plot_data()
    X, _ = make_paper_example()
    even = [np.linalg.eigvalsh((A + A.T) / 2).round(2).tolist() for A in PAPER_MATRICES]
    taken = [np.linalg.eigvalsh(S).round(2).tolist() for S in paper_covariances()]
    return {
        "example": f"AUC {drawn['auc_before']:.2f} before, {drawn['auc_after']:.2f} after, "
        f"{drawn['wrong']} of {len(X)} rows on the wrong side",
        "example-matrices": f"eigenvalues of the symmetric parts {even[0]} and {even[1]}; of the "
        f"covariances taken {taken[0]} and {taken[1]}",
    }


def seizure():
    features = fft_magnitude(np.random.default_rng(0).normal(size=(1, 16, 400)))
    ratio = sum(s.ictal for s in SUBJECTS) / sum(s.interictal for s in SUBJECTS)
    return {
        "fft-size": f"{features.shape[1]} = 16 × {features.shape[1] // 16}",
        "seizure-ratio": f"{sum(s.ictal for s in SUBJECTS)} to "
        f"{sum(s.interictal for s in SUBJECTS)}, {ratio:.3f}; 2 : 19 is {2 / 19:.3f}",
    }


# ------------------------------------------------------------------------------------- the study


def from_study(result):
    frame, cells = result.frame, agreements(result.frame)
    near, inside = sum(c.within_points for c in cells), sum(c.within_error for c in cells)
    found = conclusions(frame)
    claims = {item.claim: item for item in found}
    own = [c for c in cells if c.method == "LCC"]
    worst = max(cells, key=lambda c: abs(c.difference))
    ranks = mean_ranks(tuned_scores(frame, paper.SETS))
    figures = {
        "agreement": f"{near} of {len(cells)} figures within 1.5 points, {inside} within two "
        f"combined standard errors ({max(c.runs for c in cells)} runs)",
        "agreement-worst": f"{worst.method} on {worst.dataset}, {worst.row}: {worst.ours:.2f} "
        f"against {worst.theirs:.2f}",
        "agreement-lcc": f"largest difference {max(abs(c.difference) for c in own):.2f} points",
        "conclusions": f"{sum(item.holds for item in found)} of {len(found)}",
        "conclusions-not": "; ".join(item.claim for item in found if not item.holds),
        "ranks-tuned": ", ".join(f"{m} {ranks[m]:.2f}" for m in paper.METHODS),
        "measured": f"{result.config['finished'][:10]}, {len(frame)} fits, "
        f"{result.config['machine']['cores']} cores",
    }
    figures |= {f"claim-{name}": told(claims, words) for name, words in CLAIMS.items()}
    for shape, (train, test) in paper.KERNEL.items():
        best = best_width(frame, shape)
        figures[f"kernel-{shape.lower()}"] = (
            f"{100 * best.train:.1f} and {100 * best.test:.1f} (paper {train} and {test})"
        )
    table = 100 * means(frame, "test_paper_auc").loc[list(paper.SETS)]
    figures["structural"] = ", ".join(
        f"{code} {table.at[code, 'StructuralMPM']:.1f} ({table.at[code, 'SMP']:.1f})"
        for code in paper.SETS
    )
    score = 100 * means(frame, "test_score_auc").loc[list(paper.SETS)].mean()
    hard = 100 * means(frame, "test_hard_auc").loc[list(paper.SETS)].mean()
    figures["score-auc"] = ", ".join(
        f"{m} {hard[m]:.1f} and {score[m]:.1f}" for m in ("LCC", "LDA", "SVM", "LogReg-bal")
    )
    return figures


CLAIMS = {
    "most-accurate": "most accurate of the eight",
    "tuned": "tuned parameters (procedure 2)",
    "fqcc-same": "do not differ significantly",
    "fqcc-slow": "almost 250 times",
    "discriminators": "Of the discriminators",
    "close": "competes closely",
    "smp-test": "LCC against SMP on test",
    "svm-time": "LCC against SVM in time",
    "smp-time": "LCC against SMP in time",
    "del-time": "LCC against DEL in time",
}


def told(claims, words):
    (item,) = [item for claim, item in claims.items() if words in claim][:1]
    return f"{'holds' if item.holds else 'does not hold'}: {item.ours} (paper: {item.theirs})"


def fill(page, figures):
    unknown = sorted({name for name, _ in MARK.findall(page)} - set(figures))
    if unknown:
        raise SystemExit(f"doc/paper.md has figures that nothing measures: {', '.join(unknown)}")
    return MARK.sub(lambda m: f"<!--f:{m[1]}-->{figures[m[1]]}<!--/f-->", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--no-page", action="store_true", help="print only")
    options = parser.parse_args()
    figures = {"date": datetime.date.today().isoformat()}
    for part in (programs(options.splits), margin_bound(), kernels(), example(), seizure()):
        figures |= part
    figures |= from_study(load_result(options.folder))
    for name, value in figures.items():
        print(f"{name}: {value}")
    if not options.no_page:
        PAGE.write_text(fill(PAGE.read_text("utf-8"), figures), "utf-8")


if __name__ == "__main__":
    main()
