"""Invalid input gets an error message that names what is wrong; unusual input just works."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from lincent import FQCC, LCC, AutoLCC, RegularizedLCC, lcc_path
from support.samples import apart, two_classes

X, Y = two_classes(m=40, n=3)


def spoiled(value):
    bad = X.copy()
    bad[7, 1] = value
    return bad


def weight(**changes):
    w = np.ones(len(Y))
    for row, value in changes.items():
        w[int(row.removeprefix("row"))] = value
    return w


class TestData:
    @pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
    @pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
    def test_not_finite(self, value, word, container):
        with pytest.raises(ValueError, match=word):
            LCC().fit(container(spoiled(value)), Y)
        model = LCC().fit(X, Y)
        with pytest.raises(ValueError, match=word):
            model.predict(container(spoiled(value)))

    def test_one_class(self):
        with pytest.raises(ValueError, match=r"only one class \(3\); .* at least two classes"):
            LCC().fit(X, np.full(len(Y), 3))
        with pytest.raises(ValueError, match=r"only one class \('yes'\)"):
            LCC().fit(X, np.full(len(Y), "yes"))

    def test_one_row(self):
        with pytest.raises(ValueError, match=r"1 sample\(s\).* minimum of 2 is required"):
            LCC().fit(X[:1], Y[:1])

    def test_wrong_number_of_features(self):
        model = LCC().fit(X, Y)
        for ask in (model.predict, model.decision_function, model.transform):
            with pytest.raises(ValueError, match=r"2 features.* 3 features"):
                ask(X[:, :2])

    def test_continuous_target(self):
        with pytest.raises(ValueError, match="continuous"):
            LCC().fit(X, X[:, 0])

    def test_rows_and_labels_of_different_number(self):
        with pytest.raises(ValueError, match=r"\[40, 39\]"):
            LCC().fit(X, Y[:-1])

    def test_large_single_precision_is_finite(self):
        """Its sum is not: that is no reason to refuse the rows."""
        rows = np.full((40, 1), 3e37, dtype=np.float32)
        rows[Y == 0] = 2e37
        with np.errstate(over="ignore"):
            assert np.isinf(rows.sum())
        assert LCC(margin=1e30).fit(rows, Y).score(rows, Y) == 1.0

    def test_an_array_forgets_the_names_of_a_frame(self):
        pandas = pytest.importorskip("pandas")
        model = LCC().fit(pandas.DataFrame(X, columns=["a", "b", "c"]), Y)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        model.fit(X[:, :2], Y)
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 2

    @pytest.mark.parametrize("labels", [Y.astype(np.int8), Y.astype(bool), Y.astype(str), list(Y)])
    @pytest.mark.parametrize("rows", [X, np.asfortranarray(X), X.tolist(), X.astype(">f8")])
    def test_however_rows_and_labels_come_the_optimum_is_the_same(self, rows, labels):
        model, plain = LCC().fit(rows, labels), LCC().fit(X, Y)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        assert len(model.classes_) == 2

    @pytest.mark.parametrize("estimator", [LCC, AutoLCC])
    @pytest.mark.parametrize("dtype", [None, "string", "category"])
    def test_missing_text(self, estimator, dtype):
        labels = np.array(["no", "yes"], dtype=object)[Y]
        labels[3] = None
        if dtype is not None:
            labels = pytest.importorskip("pandas").Series(labels, dtype=dtype)
        with pytest.raises(ValueError, match=r"contains NaN: 1 of 40 are missing.* row 3 \(from 0"):
            estimator().fit(X, labels)

    @pytest.mark.parametrize("estimator", [LCC, RegularizedLCC])
    def test_cells_that_are_no_number(self, estimator):
        pandas = pytest.importorskip("pandas")
        missing, text = pandas.DataFrame(X), pandas.DataFrame(X)
        missing.iloc[3, 1] = np.nan
        text[1] = "word"
        date = text.assign(**{"1": pandas.Timestamp("2020-01-01")}).drop(columns=1)
        date.columns = date.columns.astype(str)
        for frame in (missing, text, date):
            with pytest.raises(ValueError, match=r"(NaN|text or dates \().*: fill, .* to AutoLCC"):
                estimator().fit(frame, Y)

    def test_missing_labels(self):
        labels = Y.astype(float)
        labels[0] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            LCC().fit(X, labels)


class TestWeights:
    def test_all_zero(self):
        with pytest.raises(ValueError, match=r"at least one non-zero|sample weight is 0"):
            LCC().fit(X, Y, np.zeros(len(Y)))

    def test_negative(self):
        with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
            LCC().fit(X, Y, weight(row5=-0.5))

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_not_finite(self, value):
        with pytest.raises(ValueError, match=r"sample_weight contains (NaN|infinity)"):
            LCC().fit(X, Y, weight(row5=value))

    def test_wrong_shape(self):
        with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\), expected \(40,\)"):
            LCC().fit(X, Y, np.ones(3))

    def test_text(self):
        with pytest.raises(ValueError, match="could not convert string to float"):
            LCC().fit(X, Y, ["a"] * len(Y))

    def test_a_class_without_weight(self):
        with pytest.raises(ValueError, match="rows of class 1 have weight zero"):
            LCC().fit(X, Y, np.where(Y == 1, 0.0, 1.0))

    @pytest.mark.parametrize(
        ("class_weight", "sentence"),
        [
            ("heavy", r"'class_weight' parameter .*'balanced'.* Got 'heavy'"),
            ([1.0, 2.0], r"'class_weight' parameter .* Got \[1.0, 2.0\]"),
            ({7: 2.0}, r"names the class 7, which y does not have; its classes are \[0, 1\]"),
            ({1: 0.0}, "every class weight must be above 0"),
            ({1: -2.0}, "every class weight must be above 0"),
            ({1: np.inf}, "every class weight must be above 0 and finite"),
        ],
    )
    def test_class_weight(self, class_weight, sentence):
        with pytest.raises(ValueError, match=sentence):
            LCC(class_weight=class_weight).fit(X, Y)


class TestParameters:
    @pytest.mark.parametrize(
        ("parameter", "value"),
        [
            ("margin", 0.0),
            ("margin", -0.01),
            ("margin", np.inf),
            ("margin", np.nan),
            ("margin", "wide"),
            ("C", 0.0),
            ("C", -1.0),
            ("C", np.nan),
            ("C", None),
            ("C", True),
            ("tol", 0.0),
            ("max_iter", 0),
            ("max_iter", 2.5),
            ("time_limit", 0.0),
            ("time_limit", -3.0),
            ("discriminator", "closest"),
            ("solver", "simplex"),
            ("multi_class", "ecoc"),
        ],
    )
    def test_the_sentence_names_parameter_and_value(self, parameter, value):
        with pytest.raises(ValueError) as caught:
            LCC(**{parameter: value}).fit(X, Y)
        assert str(caught.value).startswith(f"The '{parameter}' parameter of LCC must be")
        assert str(caught.value).endswith(f"Got {value!r} instead.")

    def test_an_unknown_word_is_answered_with_the_known_ones(self):
        with pytest.raises(ValueError, match="must be a str among") as caught:
            LCC(discriminator="closest").fit(X, Y)
        assert all(name in str(caught.value) for name in ("'distance'", "'nearest'", "'svm'"))


class TestProblem:
    def test_coinciding_centers(self):
        rows = np.array([[1.0], [-1.0], [2.0], [-2.0]])
        with pytest.raises(ValueError, match=r"centers coincide \(class 0 against class 1\)"):
            LCC().fit(rows, [0, 0, 1, 1])

    def test_centers_that_coincide_up_to_rounding(self):
        """0.1 + 0.2 is not 0.3, but no direction separates these classes either."""
        rows = np.array([[0.1], [0.2], [0.3], [0.15], [0.15], [0.3]])
        with pytest.raises(ValueError, match=r"centers coincide|largest feasible margin"):
            LCC().fit(rows, [0, 0, 0, 1, 1, 1])

    def test_constant_data(self):
        with pytest.raises(ValueError, match="centers coincide"):
            LCC().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])

    def test_margin_above_the_largest_feasible_one(self):
        centers = [X[c == Y].mean(axis=0) for c in (0, 1)]
        largest = np.abs(centers[1] - centers[0]).sum()
        with pytest.raises(ValueError, match=f"margin=100 .* {largest:.6g}"):
            LCC(margin=100.0).fit(X, Y)
        for share in (1.0, 1 - 1e-12, 0.999):
            LCC(margin=share * largest).fit(X, Y)
        with pytest.raises(ValueError, match="largest feasible margin"):
            LCC(margin=1.001 * largest).fit(X, Y)

    def test_hard_margin_on_data_that_is_not_separable(self):
        with pytest.raises(ValueError, match=r"C=np.inf .* hard margin of 0.01.* give a finite C"):
            LCC(C=np.inf).fit(X, Y)

    @pytest.mark.parametrize("solver", ["auto", "interior-point", "highs"])
    def test_hard_margin_by_every_solver(self, solver):
        with pytest.raises(ValueError, match="cannot be separated"):
            LCC(C=np.inf, solver=solver).fit(X, Y)

    def test_hard_margin_wider_than_the_data_allows(self):
        rows, labels = apart(distance=2.5)
        LCC(C=np.inf, margin=0.1).fit(rows, labels)
        with pytest.raises(ValueError, match="hard margin of 6"):
            LCC(C=np.inf, margin=6.0).fit(rows, labels)


class TestNotBad:
    """Unusual, and it works."""

    def certified(self, rows, labels, **parameters):
        model = LCC(**parameters).fit(rows, labels)
        assert model.duality_gap_ <= 1e-9
        assert np.all(np.isfinite(model.coef_))
        return model

    @pytest.mark.parametrize("solver", ["auto", "highs"])
    def test_constant_and_collinear_columns(self, solver):
        wide = np.column_stack(
            [X, np.full(len(Y), 5.0), X[:, 0], X @ [1.0, -2.0, 0.5], X[:, 1] * 0]
        )
        model = self.certified(wide, Y, solver=solver)
        # A linear combination of columns offers the same lines at other prices in the box.
        assert model.objective_ <= LCC().fit(X, Y).objective_ + 1e-9
        assert model.score(wide, Y) > 0.6

    @pytest.mark.parametrize("times", [1, 80])
    def test_a_constant_column_has_no_coefficient(self, times):
        """Its mean is rounded, and what is left of the column would choose any coefficient."""
        rows, labels = np.tile(X, (times, 1)), np.tile(Y, times)
        rows = rows + 0.01 * np.random.default_rng(0).standard_normal(rows.shape)
        model = self.certified(np.column_stack([rows, np.full(len(labels), 0.3)]), labels)
        assert model.coef_[0, -1] == 0.0
        np.testing.assert_allclose(model.coef_[0, :-1], LCC().fit(rows, labels).coef_[0], rtol=1e-6)
        model = FQCC()
        model.fit(np.column_stack([rows[:300], np.full(len(rows[:300]), 0.3)]), labels[:300])
        assert model.coef_[0, -1] == 0.0
        path = lcc_path(np.column_stack([rows, np.full(len(labels), 0.3)]), labels)
        assert np.all(path.coefs[:, path.feasible, -1] == 0.0)

    @pytest.mark.parametrize("power", [-12, -6, 3])
    @pytest.mark.parametrize("rule", ["distance", "nearest", "svm"])
    def test_one_scale_for_all_features(self, power, rule):
        """Small features need a small margin; the answer is the same in other units."""
        margin = 0.01 * min(1.0, 10.0**power)
        model = self.certified(X * 10.0**power, Y, margin=margin, discriminator=rule)
        plain = LCC(discriminator=rule).fit(X, Y)
        np.testing.assert_array_equal(model.predict(X * 10.0**power), plain.predict(X))

    @pytest.mark.parametrize("power", [6, 9, 12])
    def test_features_so_large_that_the_proof_is_rounded(self, power):
        """The optimum is exact; the proof adds terms of the size of X, and rounds at their size.

        The bound is sum_j |g_j - sum_i alpha_i a_ij - t d_j| below the optimum, and doubles leave
        about 1e-16 * C * sum_i |a_ij| of each term.  The warning says how much that is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LCC().fit(X * 10.0**power, Y)
        plain = LCC().fit(X, Y)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        gap = model.duality_gap_ * max(1.0, abs(model.objective_))
        assert gap <= 1e-14 * 2.0 * np.abs(X).sum() * 10.0**power
        np.testing.assert_array_equal(model.predict(X * 10.0**power), plain.predict(X))

    @pytest.mark.parametrize("spread", [3, 6, 12])
    def test_features_of_very_different_scales(self, spread):
        scales = 10.0 ** np.array([-spread, 0, spread])
        model = self.certified(X * scales, Y)
        assert model.score(X * scales, Y) > 0.5

    @pytest.mark.parametrize("solver", ["auto", "interior-point", "highs"])
    @pytest.mark.parametrize("rule", ["distance", "nearest", "svm"])
    def test_two_rows(self, solver, rule):
        model = self.certified([[0.0, 1.0], [1.0, 3.0]], [0, 1], solver=solver, discriminator=rule)
        np.testing.assert_array_equal(model.predict([[0.0, 1.0], [1.0, 3.0]]), [0, 1])

    @pytest.mark.parametrize("columns", [41, 200, 1000])
    @pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
    def test_more_columns_than_rows(self, columns, container):
        rng = np.random.default_rng(0)
        wide = rng.standard_normal((40, columns)) * (rng.random((40, columns)) < 0.3)
        wide[:, 0] = Y - 0.5
        model = self.certified(container(wide), Y)
        assert model.score(container(wide), Y) == 1.0

    def test_one_row_of_a_class(self):
        labels = np.zeros(len(Y), dtype=int)
        labels[3] = 1
        self.certified(X, labels)

    def test_one_column(self):
        self.certified(X[:, :1], Y)

    def test_rows_of_weight_zero_and_tiny_weights(self):
        model = LCC().fit(X, Y, weight(row0=0.0, row1=1e-300, row2=1e-12))
        assert model.duality_gap_ <= 1e-9

    def test_lists_and_integers(self):
        model = self.certified([[0, 1], [1, 0], [3, 4], [4, 3]], [0, 0, 1, 1])
        assert model.predict([[5, 5]]) == [1]
