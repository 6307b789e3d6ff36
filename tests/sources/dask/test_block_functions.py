"""The answers of blocks, merged, are those of all rows at once."""

import numpy as np
import pytest

from lincent.sources.dask import blocks as block
from lincent.sources.dask import blocks as blocks
from lincent.sources.dense import DenseRows
from lincent.sources.evaluation import InMemoryRows
from lincent.sources.shared_reads import merge_results
from support.blocks import in_blocks, labeled, same_numbers, setting, taking_part

BETA, FURTHER = np.array([0.5, -0.3, 0.2, 0.1]), np.array([-0.2, 0.4, 0.3, 0.0])
RULER = np.random.default_rng(5).normal(size=(4, 2))


@pytest.fixture(params=["whole", "sliced", "copied"], autouse=True)
def slices(request, monkeypatch):
    """Blocks at once, in slices, and in slices that are copied to one place in turn."""
    monkeypatch.setattr(block, "SLICE_ROWS", 8192 if request.param == "whole" else 7)
    if request.param == "copied":
        monkeypatch.setattr(block, "_aligned", lambda rows: rows.copy(order="K"))


@pytest.fixture(params=[None, RULER], ids=["unsized", "sized"])
def ruler(request):
    return request.param


def asked(function, ruler=None, **how):
    parts = [function(*some, setting=setting(ruler=ruler), **how) for some in in_blocks(*labeled())]
    return merge_results(parts)


def at_once(ruler=None):
    A, _, costs = taking_part()
    return InMemoryRows(DenseRows(A), costs, 0.3).sized(ruler)


def test_a_look_gives_the_loss_and_about_the_widths(ruler):
    seen, view = (
        asked(blocks.look, ruler, beta=BETA),
        at_once(ruler).look(BETA),
    )
    assert seen.loss == pytest.approx(view.loss)
    m = int(seen.counts.sum())
    assert m == len(view.distance)
    for k in (0, 10, m - 1):
        exact = np.sort(view.away())[k]
        assert exact <= seen.width(k, m) <= 1.02 * exact + 1e-5 * seen.away / m
    assert seen.below(np.inf) == m


@pytest.mark.parametrize("small", [True, False])
def test_the_next_answer_comes_with_the_look(small, ruler):
    ahead = asked(blocks.look, ruler, beta=BETA, width=0.4, small=small).ahead
    if small:
        known = asked(blocks.split, ruler, points=[BETA], width=0.4)
        same_numbers(ahead.summed, known.summed)
        np.testing.assert_array_equal(ahead.taken.rows, known.taken.rows)
    else:
        known = asked(blocks.smoothed, ruler, beta=BETA, width=0.4)
        same_numbers(ahead[0], known[0])


def test_sums_of_the_smoothed_program_and_along_a_line(ruler):
    view = at_once(ruler).look(BETA)
    combined, hessian = asked(blocks.smoothed, ruler, beta=BETA, width=0.4)
    wanted = view.smoothed(0.4, 10**6, np.random.default_rng(0))
    same_numbers(combined, wanted[0])
    same_numbers(hessian, wanted[1])
    lengths = np.array([0.0, 0.5, 1.0])
    losses = asked(blocks.along, ruler, ends=[BETA, FURTHER], lengths=lengths)
    same_numbers(losses, view.along(at_once(ruler).look(FURTHER), lengths))


def test_a_split_and_its_check_and_its_multipliers(ruler):
    split = at_once(ruler).look(BETA).split(0.1)
    part = asked(blocks.split, ruler, points=[BETA], width=0.1)
    same_numbers(part.summed, split.summed)
    assert part.summed_cost == pytest.approx(split.summed_cost)
    np.testing.assert_allclose(
        part.taken.signed(setting().center).dense(), split.rows.dense(), atol=1e-12
    )
    points = [BETA, FURTHER]
    checked = split.check(FURTHER)
    found = asked(blocks.split, ruler, points=points, width=0.1)
    assert len(found.taken.sign) == checked.misplaced > 0
    grown = split.grow(checked)
    same_numbers(part.summed + found.summed, grown.summed)
    pairs = asked(blocks.multipliers, ruler, points=points, width=0.1)
    outside, joined = (np.concatenate(side) for side in zip(*pairs, strict=True))
    np.testing.assert_allclose(outside, grown.multipliers(np.zeros(len(grown.costs)), BETA))
    np.testing.assert_array_equal(np.flatnonzero(joined >= 0), grown.index)


def test_plain_products():
    A, sign, costs = taking_part()
    X = sign[:, None] * A + setting().center
    v = np.array([1.0, 2.0, -1.0, 0.5])
    same_numbers(np.concatenate(asked(blocks.project, v=v)), X @ v)
    spread = asked(blocks.spread)
    same_numbers(spread.squares, (A**2).sum(axis=0))
    taken = asked(blocks.collect)
    same_numbers(taken.rows, X)
    pairs = asked(blocks.signs_and_costs)
    same_numbers(np.concatenate([pair[0] for pair in pairs]), sign)
    same_numbers(np.concatenate([pair[1] for pair in pairs]), costs)
    same_numbers(spread.low, X.min(axis=0))
    same_numbers(spread.high, X.max(axis=0))
