"""Blocks of features are learned once and shared by maps."""

import numpy as np
import pytest

from lincent.estimators.portfolio import (
    BLOCKS,
    COLUMNS,
    MAPS,
    Blocks,
    Common,
    TrainingRows,
    common_units,
    usable_maps,
)

RNG = np.random.default_rng(0)
Z, CODES = RNG.normal(size=(120, 3)), np.arange(120) % 2


def training(weight=None):
    weight = np.ones(120) if weight is None else weight
    return TrainingRows(Z, np.arange(120, dtype=np.uint64) // 2, CODES // 2, weight, None)


def test_every_map_is_made_of_known_blocks():
    assert {block for blocks in MAPS.values() for block in blocks} == {COLUMNS, *BLOCKS}


def test_maps_share_the_blocks_they_have_in_common():
    blocks = Blocks(Z, CODES, np.ones(120), seed=0)
    both = blocks.features("splines + landmarks 1", Z)
    learned = blocks.block("splines")
    alone = blocks.features("splines", Z)
    assert blocks.block("splines") is learned
    np.testing.assert_array_equal(both[:, : alone.shape[1]], alone)
    assert blocks.features("columns", Z, np.float32).dtype == np.float32


@pytest.mark.parametrize("remember", [True, False])
def test_features_of_rows_do_not_depend_on_the_others(remember):
    blocks = Blocks(Z, CODES, np.ones(120), seed=0, remember=remember)
    whole = blocks.features("landmarks 1", Z)
    np.testing.assert_allclose(blocks.features("landmarks 1", Z[7:9]), whole[7:9], atol=1e-12)
    np.testing.assert_array_equal(blocks.features("landmarks 1", Z), whole)


def test_columns_of_one_unit_are_recognized():
    pixels = RNG.uniform(0, 16, (50, 6)) * np.array([1, 1, 1, 1, 0.8, 0.1])
    units = common_units(np.ptp(pixels, axis=0), pixels.std(axis=0))
    assert units is not None
    assert units[5] < units[0]
    mixed = pixels * 10.0 ** np.arange(6)
    assert common_units(np.ptp(mixed, axis=0), mixed.std(axis=0)) is None
    assert [name for name in MAPS if name not in usable_maps(None, 6)] == ["even landmarks 1"]
    assert usable_maps(units, 6) == list(MAPS)
    assert not any(name.startswith("relevant") for name in usable_maps(None, 1))


def test_relevant_blocks_see_the_columns_that_tell_the_classes():
    telling = Z + 3.0 * CODES[:, None] * np.array([1.0, 0.0, 0.0])
    blocks = Blocks(telling, CODES, np.ones(120), seed=0)
    blocks.features("relevant landmarks 1", telling)
    assert blocks.views["relevant"].argmax() == 0
    assert np.ptp(blocks.block("relevant landmarks 1").landmarks_, axis=0).argmax() == 0


def test_members_for_many_classes_have_twice_the_landmarks_of_the_search():
    codes = np.arange(120) % 4
    widths = [
        Blocks(Z, codes, np.ones(120), 0, choosing=choosing).width("landmarks 1")
        for choosing in (True, False)
    ]
    assert widths == [60, 120]


def test_equal_rows_are_merged_with_their_weight():
    rows = training(np.linspace(1, 2, 120))
    merged = rows.merged()
    assert len(merged.codes) < 120
    assert merged.weight.sum() == pytest.approx(rows.weight.sum())


def test_a_sample_keeps_repetitions_together_and_small_classes():
    weight = np.ones(120)
    weight[:4] = 0.0
    rows = training(weight)
    few = rows.sample(40)
    assert 30 <= len(np.unique(rows.keys[few])) <= 44
    assert few.min() >= 4
    counts = np.unique(rows.keys[few], return_counts=True)[1]
    assert set(counts) == {2}
    assert len(rows.sample(1000)) == 116


def test_what_needs_no_classes_is_learned_from_the_rows_of_all_folds():
    rows = training()
    common, half = Common(rows, 0), np.arange(0, 120, 2)
    fold = Blocks.of(rows[half], 0, choosing=True, common=common)
    everything = Blocks.of(rows.merged(), 0, choosing=True)
    alone = Blocks.of(rows[half], 0, choosing=True)
    for name in ("splines + landmarks 1", "centers"):
        expected = (alone if name == "centers" else everything).features(name, Z[half])
        found = fold.features(name, fold.Z, np.float32, half)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    final = Blocks.of(rows.merged(), 0)
    common.known_to(final)
    assert final.block("splines") is common.blocks.block("splines")
