"""Data frames, output containers, pipelines, searches, metadata routing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import (
    FQCC,
    LCC,
    LCCCV,
    AdditiveLCC,
    AdditiveLCCCV,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)
from lincent.features import TableEncoder
from support.samples import three_classes, two_classes, weights

pa = pytest.importorskip("pyarrow")

NAMES = ["age", "height", "mass", "score"]


@pytest.fixture(params=["pandas", "polars"])
def library(request):
    return request.param


def frame(X, library):
    if library == "pandas":
        return pd.DataFrame(X, columns=NAMES)
    return pl.DataFrame(X, schema=NAMES)


def column(values, library):
    return pd.Series(values) if library == "pandas" else pl.Series(values)


class TestFrames:
    def test_same_model_and_names(self, library):
        X, y = two_classes()
        model = LCC().fit(frame(X, library), column(y, library), column(weights(len(y)), library))
        plain = LCC().fit(X, y, weights(len(y)))
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
        assert list(model.feature_names_in_) == NAMES
        np.testing.assert_array_equal(model.predict(frame(X, library)), plain.predict(X))
        np.testing.assert_allclose(
            model.misclassification_impact(frame(X, library), column(y, library)),
            plain.misclassification_impact(X, y),
            atol=1e-12,
        )

    def test_columns_in_another_order_are_refused(self):
        X, y = two_classes()
        model = LCC().fit(frame(X, "pandas"), y)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame(X, "pandas")[NAMES[::-1]])

    def test_set_output(self, library):
        X, y = two_classes()
        line = LCC().set_output(transform=library).fit_transform(X, y)
        expected = pd.DataFrame if library == "pandas" else pl.DataFrame
        assert isinstance(line, expected)
        assert list(line.columns) == ["lcc0"]
        X, y = three_classes()
        lines = LCC().set_output(transform=library).fit(X, y).transform(X)
        assert list(lines.columns) == ["lcc0", "lcc1", "lcc2"]

    def test_string_target_of_a_frame(self, library):
        X, y = two_classes()
        names = np.array(["no", "yes"])[y]
        model = LCC().fit(frame(X, library), column(names, library))
        assert set(model.predict(frame(X, library))) <= {"no", "yes"}


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_input(container):
    X, y = two_classes()
    X = X * (np.abs(X) > 0.5)
    model = LCC().fit(container(X), y)
    plain = LCC().fit(X, y)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=2e-9)
    np.testing.assert_array_equal(model.predict(container(X)), plain.predict(X))
    np.testing.assert_allclose(model.transform(container(X)), X @ model.coef_.T, atol=1e-12)


class TestComposition:
    def test_last_step_of_a_pipeline(self):
        X, y = two_classes()
        assert cross_val_score(make_pipeline(StandardScaler(), LCC()), X, y).mean() > 0.7

    def test_transformer_in_the_middle(self):
        X, y = three_classes()
        both = make_pipeline(LCC(), LCC())
        assert both.fit(X, y)[-1].n_features_in_ == 3
        lines = make_column_transformer((LCC(), [0, 1]), remainder="passthrough").fit(X, y)
        assert lines.transform(X).shape == (len(y), 4)

    def test_grid_search(self):
        X, y = two_classes()
        grid = {"C": [0.01, 2.0], "discriminator": ["distance", "svm"], "margin": [0.01, 0.1]}
        search = GridSearchCV(LCC(), grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.7

    def test_an_infeasible_margin_does_not_kill_a_grid_search(self):
        """The paper's grid of margins goes past the largest feasible one."""
        X, y = two_classes()
        search = GridSearchCV(LCC(), {"margin": [0.01, 1e6]}, cv=3)
        with (
            pytest.warns(sklearn.exceptions.FitFailedWarning, match="largest feasible margin"),
            pytest.warns(UserWarning, match="non-finite"),
        ):
            search.fit(X, y)
        assert search.best_params_ == {"margin": 0.01}


class TestRouting:
    def test_weights_reach_the_fit_through_a_search_and_a_pipeline(self):
        X, y = two_classes(m=120)
        weight = weights(len(y)) ** 3
        with sklearn.config_context(enable_metadata_routing=True):
            lcc = LCC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            search = GridSearchCV(make_pipeline(scaler, lcc), {"lcc__C": [2.0]}, cv=3)
            search.fit(X, y, sample_weight=weight)
        direct = LCC().fit(StandardScaler().fit_transform(X), y, weight)
        found = search.best_estimator_[-1]
        np.testing.assert_allclose(found.objective_, direct.objective_, rtol=2e-9)
        assert found.objective_ != LCC().fit(StandardScaler().fit_transform(X), y).objective_

    def test_unrequested_weights_are_an_error_and_never_ignored(self):
        X, y = two_classes()
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(LCC(), {"C": [2.0]}, cv=3)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
                search.fit(X, y, sample_weight=weights(len(y)))


class TestFramesOfAllKinds:
    """Frames with numbers and text, in every form that packages give them."""

    def kinds(self, frame):
        nw = pytest.importorskip("narwhals")

        def typed(type):
            words = pa.array(frame["k"]).cast(type)
            return frame.assign(k=pd.arrays.ArrowExtensionArray(pa.chunked_array([words])))

        table = pa.Table.from_pandas(frame)
        yield typed(pa.large_string())
        if hasattr(pa, "string_view"):
            yield typed(pa.string_view())
        yield typed(pa.dictionary(pa.int32(), pa.string()))
        yield from (table, table.to_batches()[0], nw.from_native(table), nw.from_native(frame))
        yield pl.from_pandas(frame).with_columns(pl.col("k").cast(pl.Categorical))
        yield from (pl.from_pandas(frame).lazy(), nw.from_native(pl.from_pandas(frame).lazy()))

    def test_categories(self):
        frame = pd.DataFrame({"x": [0.5, 1.0, 2.0], "k": ["1", "2", "1"]})
        expected = TableEncoder().fit_transform(frame)
        assert expected.shape == (3, 3)
        for given in self.kinds(frame):
            encoder = TableEncoder().fit(given)
            np.testing.assert_array_equal(encoder.transform(given), expected)
            assert list(encoder.feature_names_in_) == ["x", "k"]

    def test_numbers(self):
        nw = pytest.importorskip("narwhals")
        X, y = two_classes()
        table = pa.table(dict(zip(NAMES, X.T, strict=True)))
        plain = LCC().fit(X, y)
        for given in (table, nw.from_native(table), frame(X, "polars").lazy()):
            model = LCC().fit(given, y)
            np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
            np.testing.assert_array_equal(model.predict(given), plain.predict(X))

    def test_models_of_every_kind(self):
        X, y = two_classes()
        frame = pd.DataFrame({"x": X[:, 0], "k": np.where(X[:, 1] > 0, "a", "b")})
        expected = AdditiveLCC().fit(frame, y).decision_function(frame)
        for given in self.kinds(frame):
            found = AdditiveLCC().fit(given, y).decision_function(given)
            np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("cell", [[1.0, 2.0], 10**400])
    def test_cells_that_are_no_number(self, cell):
        X, y = two_classes()
        frame = pd.DataFrame({"x": X[:, 0], "c": pd.Series([cell] * len(y), dtype=object)})
        with pytest.raises(ValueError, match="give one number per cell"):
            LCC().fit(frame, y)

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ([1 + 2j, 1j, 0], "complex128 values that are not numbers"),
            ([10**400, 1, 2], "an integer beyond 1.8e308"),
            ([[1], [2], [3]], "not numbers"),
            ([[1], [2, 3], [3]], "not numbers"),
            (pd.array([[1], [2], [3]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "not numbers"),
        ],
    )
    def test_what_are_no_numbers_is_named(self, values, words):
        with pytest.raises(ValueError, match=f"Column 'c' holds .*{words}"):
            TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": values}))
        if isinstance(values, list) and isinstance(values[0], list):
            with pytest.raises(ValueError, match=r"Column 'c' holds .*not numbers"):
                TableEncoder().fit(pl.DataFrame({"x": [1.0, 2.0, 3.0], "c": values}))

    def test_masked_entries_are_missing(self):
        X, y = two_classes()
        masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
        np.testing.assert_array_equal(LCC().fit(masked, y).coef_, LCC().fit(X, y).coef_)
        masked.mask[0, 1] = True
        with pytest.raises(ValueError, match="NaN"):
            LCC().fit(masked, y)
        encoded = TableEncoder(scale=False).fit_transform(masked)
        assert encoded[0, 1] == np.median(X[1:, 1])

    @pytest.mark.parametrize("model", [LCC(), TableEncoder()])
    def test_weights_are_real_and_not_masked(self, model):
        X, y = two_classes()
        for weight in (np.ones(len(y)) + 1j, np.ma.masked_equal(np.arange(len(y)), 1)):
            with pytest.raises(ValueError, match=r"Complex data not supp|sample_weight has masked"):
                model.fit(X, y, sample_weight=weight)


SELECTING = {
    "LCC": LCC(),
    "LCCCV": LCCCV(),
    "FQCC": FQCC(),
    "RegularizedLCC": RegularizedLCC(),
    "RegularizedLCCCV": RegularizedLCCCV(),
    "StructuredLCC": StructuredLCC(),
    "StructuredLCCCV": StructuredLCCCV(10, Cs=(0.01, 0.1), cv=2),
    "AdditiveLCC": AdditiveLCC(),
    "AdditiveLCCCV": AdditiveLCCCV(interactions=0),
    "AutoLCC": AutoLCC(feature_maps=["columns", "splines", "centers"], cv=2),
}
LINEAR = ("LCC", "LCCCV", "FQCC", "RegularizedLCC", "RegularizedLCCCV")


@pytest.mark.parametrize("name", SELECTING)
def test_feature_selection_keeps_the_columns_with_signal(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)
    selected = RFE(SELECTING[name], n_features_to_select=2, step=2).fit(X, y)
    assert selected.get_support(indices=True).tolist() == [0, 1]
    assert hasattr(selected.estimator_, "coef_") == (name in LINEAR)
    assert hasattr(selected.estimator_, "intercept_") == (name in LINEAR)
    if name not in LINEAR:
        selected = SelectFromModel(SELECTING[name]).fit(X, y)  # above the mean importance
        assert selected.get_support(indices=True).tolist() == [0, 1]
        importances = selected.estimator_.feature_importances_
        assert importances.shape == (6,)
        assert importances.sum() == pytest.approx(1.0)


def test_a_kernel_model_has_dual_coefficients_only():
    X, y = load_breast_cancer(return_X_y=True)
    model = KernelLCC().fit(X[::10], y[::10])
    assert model.dual_coef_.shape == (1, len(model.support_))
    for name in ("coef_", "intercept_", "feature_importances_"):
        assert not hasattr(model, name)
