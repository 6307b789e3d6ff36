"""Feature maps of AutoLCC: blocks are fitted once and shared, transformers can be added."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_circles
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from lincent import AutoLCC
from lincent.estimators.auto_candidates import (
    BLOCKS,
    COLUMNS,
    FEATURE_MAPS,
    FeatureBlocks,
    SharedFeatures,
    common_units,
    suitable_maps,
)
from lincent.estimators.tabular import TrainingRows
from lincent.features import TreeLeaves

RNG = np.random.default_rng(0)
Z, CODES = RNG.normal(size=(120, 3)), np.arange(120) % 2


def rows_of(Z, codes=CODES):
    return TrainingRows(Z, np.arange(len(Z), dtype=np.uint64), codes, np.ones(len(Z)), None)


def training(weight=None):
    weight = np.ones(120) if weight is None else weight
    return TrainingRows(Z, np.arange(120, dtype=np.uint64) // 2, CODES // 2, weight, None)


def test_feature_maps_consist_of_blocks():
    assert {block for blocks in FEATURE_MAPS.values() for block in blocks} == {COLUMNS, *BLOCKS}


def test_feature_maps_share_their_blocks():
    blocks = FeatureBlocks(rows_of(Z), seed=0)
    both = blocks.features("splines + landmarks 1", Z)
    fitted = blocks.block("splines")
    alone = blocks.features("splines", Z)
    assert blocks.block("splines") is fitted
    np.testing.assert_array_equal(both[:, : alone.shape[1]], alone)
    assert blocks.features("columns", Z, np.float32).dtype == np.float32


@pytest.mark.parametrize("cache", [True, False])
def test_features_of_samples_do_not_depend_on_the_others(cache):
    blocks = FeatureBlocks(rows_of(Z), seed=0, cache=cache)
    whole = blocks.features("landmarks 1", Z)
    np.testing.assert_allclose(blocks.features("landmarks 1", Z[7:9]), whole[7:9], atol=1e-12)
    np.testing.assert_array_equal(blocks.features("landmarks 1", Z), whole)


def test_features_of_one_unit_are_recognized():
    pixels = RNG.uniform(0, 16, (50, 6)) * np.array([1, 1, 1, 1, 0.8, 0.1])
    units = common_units(np.ptp(pixels, axis=0), pixels.std(axis=0))
    assert units is not None
    assert units[5] < units[0]
    mixed = pixels * 10.0 ** np.arange(6)
    assert common_units(np.ptp(mixed, axis=0), mixed.std(axis=0)) is None
    many = np.array([300, 200])
    assert [name for name in FEATURE_MAPS if name not in suitable_maps(None, 6, many)] == [
        "even landmarks 1"
    ]
    assert suitable_maps(units, 6, many) == list(FEATURE_MAPS)
    assert not any(name.startswith("relevant") for name in suitable_maps(None, 1, many))


def test_leaves_need_samples_and_memory():
    def left_out(n_features, class_sizes):
        return set(suitable_maps(None, 6, np.array([300, 200]))) - set(
            suitable_maps(None, n_features, class_sizes)
        )

    leaves = {"forest leaves", "boosted leaves"}
    assert left_out(6, None) == leaves  # trees need X in memory
    assert left_out(6, np.array([491, 9])) == leaves
    assert left_out(6, np.array([300, 20])) == set()
    assert left_out(1, np.array([300, 200])) >= {"relevant landmarks 1"}


def test_many_features_have_few_feature_maps():
    sizes = np.array([300, 200])
    some, many = (suitable_maps(None, n, sizes) for n in (201, 1001))
    assert not any("splines" in name for name in some)
    assert {"columns", "centers", "landmarks 1", "forest leaves"} <= set(some)
    assert [name for name in many if not name.startswith("relevant")] == [
        "columns",
        "forest leaves",
        "boosted leaves",
    ]
    X = np.random.default_rng(0).normal(size=(60, 1001))
    model = AutoLCC().fit(X, X[:, 0] > 0)
    assert {one["feature_map"] for one in model.ensemble_} <= set(many)


def test_relevant_blocks_weight_the_relevant_features():
    telling = Z + 3.0 * CODES[:, None] * np.array([1.0, 0.0, 0.0])
    blocks = FeatureBlocks(rows_of(telling), seed=0)
    blocks.features("relevant landmarks 1", telling)
    assert blocks.factors["relevant"].argmax() == 0
    assert np.ptp(blocks.block("relevant landmarks 1").landmarks_, axis=0).argmax() == 0


def test_models_of_many_classes_have_twice_the_landmarks_of_the_search():
    codes = np.arange(120) % 4
    widths = [
        FeatureBlocks(rows_of(Z, codes), 0, searching=searching).width("landmarks 1")
        for searching in (True, False)
    ]
    assert widths == [60, 120]


def test_duplicates_are_merged_with_their_weight():
    rows = training(np.linspace(1, 2, 120))
    merged = rows.merged()
    assert len(merged.codes) < 120
    assert merged.weight.sum() == pytest.approx(rows.weight.sum())


def test_a_sample_keeps_duplicates_together_and_small_classes():
    weight = np.ones(120)
    weight[:4] = 0.0
    rows = training(weight)
    few = rows.sample(40, rows.totals)
    drawn = rows.drawn(few, rows.totals)
    assert drawn.weight.sum() == pytest.approx(rows.weight[few].sum())
    np.testing.assert_allclose(
        drawn.totals / drawn.totals.sum(), rows.totals / rows.totals.sum(), rtol=1e-6
    )
    assert 30 <= len(np.unique(rows.keys[few])) <= 44
    assert few.min() >= 4
    counts = np.unique(rows.keys[few], return_counts=True)[1]
    assert set(counts) == {2}
    assert len(rows.sample(1000, rows.totals)) == 116


def test_blocks_without_classes_are_fitted_to_the_samples_of_all_folds():
    rows = training()
    shared, half = SharedFeatures(rows, 0), np.arange(0, 120, 2)
    fold = FeatureBlocks(rows[half], 0, searching=True, shared=shared)
    everything = FeatureBlocks(rows.merged(), 0, searching=True)
    alone = FeatureBlocks(rows[half], 0, searching=True)
    for name in ("splines + landmarks 1", "centers"):
        expected = (alone if name == "centers" else everything).features(name, Z[half])
        found = fold.features(name, fold.Z, np.float32, half)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    assert fold.block("splines") is shared.blocks.block("splines")


class Radius(TransformerMixin, BaseEstimator):
    """Distance from the weighted mean of the first class."""

    def fit(self, X, y, sample_weight=None):
        assert set(y) == {0, 1}  # class codes
        self.center_ = np.average(X[y == 0], axis=0, weights=sample_weight[y == 0])
        return self

    def transform(self, X):
        return np.linalg.norm(X - self.center_, axis=1)


def test_a_search_grows_fewer_trees():
    rows = rows_of(Z)
    blocks = FeatureBlocks(rows, 0, {"own": TreeLeaves(n_estimators=5)})
    for name, count, fewer in (
        ("own", 5, 3),
        ("forest leaves", 50, 25),
        ("boosted leaves", 50, 50),
    ):
        assert len(blocks.grow(name, rows).n_leaves_) == count
        assert len(blocks.grow(name, rows, fewer=True).n_leaves_) == fewer


def test_transformers_of_the_user_are_candidates():
    X, y = make_circles(200, factor=0.5, noise=0.15, random_state=0)
    y = np.array(["in", "out"])[y]
    model = AutoLCC(feature_maps={"radius": Radius(), "squares": PolynomialFeatures(2)}).fit(X, y)
    names = set(model.cv_results_["param_feature_map"])
    assert {"radius", "squares", "columns", "splines"} <= names
    alone = AutoLCC(feature_maps=[("radius", Radius())]).fit(X, y, np.ones(200))
    assert {one["feature_map"] for one in alone.ensemble_} == {"radius"}
    assert alone.duality_gap_ <= 1e-9
    assert alone.score(X, y) > 0.9
    leaves = AutoLCC(feature_maps=[("leaves", TreeLeaves(n_estimators=5))]).fit(X, y)  # sparse
    assert leaves.score(X, y) > 0.8
    both = AutoLCC(feature_maps=["columns", ("radius", Radius())]).fit(X, y)
    assert set(both.cv_results_["param_feature_map"]) == {"columns", "radius"}
    assert both.best_params_["feature_map"] == "radius"
    assert alone.feature_importances_.shape == (2,)


def test_a_transformer_alone_gives_the_features_of_a_pipeline():
    """The features are those of the standardized columns; plain ones are the built-in map."""
    X = np.random.default_rng(0).normal(size=(90, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    same = FunctionTransformer()
    own = AutoLCC(feature_maps=[("identity", same)]).fit(X, y)
    plain = AutoLCC(feature_maps=["columns"]).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), plain.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("feature_maps", "message"),
    [
        (["nowhere"], "choose among"),
        (["columns", PolynomialFeatures()], r"a pair \(name, transformer\)"),
        ([], "choose among"),
        ({"columns": Radius()}, "a name of its own"),
        ({"even numbers": Radius()}, "a name of its own"),
        ({"mine": "nothing"}, "fit and transform"),
    ],
)
def test_unusable_feature_maps_are_refused(feature_maps, message):
    with pytest.raises(ValueError, match=message):
        AutoLCC(feature_maps=feature_maps).fit(Z, CODES)
