"""The page to play with solves LCC itself, in the browser: the optimum must be lincent's."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from lincent import FQCC, LCC
from support.browser import Browser, find_browser

SCRIPT = Path(__file__).resolve().parents[2] / "doc" / "_static" / "play" / "solver.js"
CLOUDS = 200


def clouds():
    """Clouds of every kind that a hand can make: outliers, rows on a grid, tiny classes."""
    rng = np.random.default_rng(0)
    for number in range(CLOUDS):
        sizes = rng.integers(2 if number % 7 == 0 else 5, 120, 2)
        X = np.vstack([rng.normal(rng.normal(0, 2, 2), rng.uniform(0.2, 2), (m, 2)) for m in sizes])
        y = np.repeat([-1, 1], sizes)
        if number % 4 == 0:
            X[:5] *= 10
        if number % 5 == 0:
            X = np.round(X) + rng.normal(0, 1e-3, 2)
        largest = np.abs(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)).sum()
        yield X, y, float(10 ** rng.uniform(-2, 1.5)), float(largest * 10 ** rng.uniform(-4, -0.01))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Each cloud with what the browser finds for it."""
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium here: the play page's solver is not compared")
    cases = list(clouds())
    page = tmp_path_factory.mktemp("play") / "page.html"
    page.write_text(f"<!doctype html><script>{SCRIPT.read_text('utf-8')}</script>", "utf-8")
    data = json.dumps([[X.tolist(), y.tolist(), C, margin] for X, y, C, margin in cases])
    browser = Browser(program)
    try:
        browser.open(page)
        found = browser.run(
            "const S = LincentSolver, pick = (r) => [r.coef, r.intercept, r.objective];"
            f"{data}.map(([X, y, C, s]) => [S.lcc(X, y, C, s), S.fqcc(X, y, C, s), S.lda(X, y),"
            " S.logistic(X, y, 1), S.svm(X, y, 1)].map(pick))"
        )
        assert browser.problems() == []
    finally:
        browser.close()
    return [(*case, *rules) for case, rules in zip(cases, found, strict=True)]


def test_lcc_is_the_optimum_of_lincent(answers):
    assert len(answers) == CLOUDS
    for X, y, C, margin, (_, _, objective), *_ in answers:
        model = LCC(C=C, margin=margin).fit(X, y)
        assert objective == pytest.approx(model.objective_, rel=1e-9, abs=1e-9)


def test_lcc_predicts_as_lincent_does_where_the_optimum_is_one_point(answers):
    agreed = 0
    for X, y, C, margin, (coef, intercept, _), *_ in answers:
        model = LCC(C=C, margin=margin).fit(X, y)
        if np.allclose(coef, model.coef_[0], rtol=1e-6, atol=1e-9):
            agreed += 1
            assert intercept == pytest.approx(model.intercept_[0], rel=1e-5, abs=1e-8)
    assert agreed >= 0.9 * CLOUDS  # on a grid some optima are whole edges


def test_fqcc_is_as_good_as_that_of_lincent(answers):
    worse = [
        objective - model.objective_
        for X, y, C, margin, _, (_, _, objective), *_ in answers[::4]
        for model in [FQCC(C=C, margin=margin, n_init=2).fit(X, y)]
    ]
    assert np.mean(np.array(worse) > 1e-6) <= 0.05  # local optima may differ


def test_the_others_are_those_of_scikit_learn(answers):
    for X, y, _, _, _, _, lda, logistic, svm in answers[::8]:
        for (coef, intercept, _), model, precision in (
            (lda, LinearDiscriminantAnalysis(), 1e-5),
            (logistic, LogisticRegression(tol=1e-9, max_iter=10_000), 1e-4),
            (svm, SVC(kernel="linear", tol=1e-6), 2e-2),
        ):
            model.fit(X, y)
            scale = max(1.0, np.abs(model.coef_).max())
            assert np.allclose(coef, model.coef_[0], atol=precision * scale)
            assert intercept == pytest.approx(model.intercept_[0], abs=precision * 10 * scale)
