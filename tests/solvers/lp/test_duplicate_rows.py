"""Equal rows become one, and the answer comes back row by row."""

import numpy as np
import pytest

from lincent.solvers.lp import dispatch, duplicate_rows
from lincent.solvers.solution import Controls
from support.degenerate import program_of


def repeated(seed=0, times=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (40, 3)).astype(float)
    sign = np.where(np.arange(40) % 2, 1.0, -1.0)
    X = X + 0.5 * sign[:, None]
    return program_of(np.tile(X, (times, 1)), np.tile(sign, times), rng.uniform(1, 4, 40 * times))


def test_the_merged_program_has_every_row_once_and_all_the_cost():
    program = repeated()
    merged = duplicate_rows.merge(program)
    rows = merged.program.rows.dense()
    assert len(np.unique(rows, axis=0)) == len(rows) < program.shape[0]
    np.testing.assert_array_equal(rows[merged.group], program.rows.dense())
    assert merged.program.costs.sum() == pytest.approx(program.costs.sum())


def test_the_answer_is_that_of_the_original_rows():
    program = repeated()
    merged = duplicate_rows.merge(program)
    rng = np.random.default_rng(0)
    small = dispatch.solve(merged.program, "highs", Controls(), rng)
    found = merged.expand(small).certificate
    assert found.relative_gap <= 1e-9
    assert found.objective == pytest.approx(small.certificate.objective, rel=1e-10)
    assert np.all((found.alpha >= 0) & (found.alpha <= program.costs * (1 + 1e-12)))


def test_few_repetitions_are_left_alone():
    rng = np.random.default_rng(1)
    X, sign = rng.normal(size=(100, 3)), np.where(np.arange(100) % 2, 1.0, -1.0)
    X[:2] = X[2:4]
    assert duplicate_rows.merge(program_of(X, sign)) is None


def test_rows_that_agree_in_one_projection_alone_stay_single(monkeypatch):
    program = repeated()
    project = program.rows.dot
    seen = []

    def dot(v):
        """The first row has the first projection of the second, which is another row."""
        key = project(v)
        if not seen:
            key[0] = key[1]
        seen.append(v)
        return key

    monkeypatch.setattr(program.rows, "dot", dot)
    merged = duplicate_rows.merge(program)
    monkeypatch.undo()
    np.testing.assert_array_equal(merged.program.rows.dense()[merged.group], program.rows.dense())
