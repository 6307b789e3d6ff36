"""Which rows sit on the kink, without a matrix."""

import numpy as np

from lincent.solvers.lp.augmented_lagrangian import identify
from lincent.solvers.solution import Controls
from support.programs import overlapping


def test_the_hinges_in_doubt_shrink_towards_the_columns():
    program = overlapping(3000, 80, 2)
    near = identify(program, Controls(), 1.1 * 80)
    assert near.between <= 1.1 * 80 + 1
    assert near.best.relative_gap < 1e-2
    on = np.argsort(near.doubt(program.costs))[:80]
    assert np.median(np.abs(near.missed[on])) < 0.05 * np.median(np.abs(near.missed))


def test_the_gap_only_falls_from_round_to_round():
    lines = []
    identify(overlapping(2000, 60, 4), Controls(tell=lines.append), 0.0)
    gaps = [float(line.split("gap")[1].split()[0]) for line in lines]
    assert len(gaps) > 3
    assert gaps == sorted(gaps, reverse=True)
