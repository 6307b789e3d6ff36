"""Every display draws every estimator in from_estimator, or raises an error that says why not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lincent
import lincent.inspection

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pandas = pytest.importorskip("pandas")

import matplotlib.pyplot as plt  # noqa: E402

from lincent.inspection import (  # noqa: E402
    BoundaryDisplay,
    CoefficientsDisplay,
    PathDisplay,
    ProjectionDisplay,
    ScoresDisplay,
)

CHEAP = {
    "AutoLCC": {"feature_maps": ["columns"]},
    "AdditiveLCC": {},
    "AdditiveLCCCV": {"interactions": 0},
    "StructuredLCCCV": {"Cs": (0.1, 1.0)},
}
ESTIMATORS = sorted(
    name for name in lincent.__all__ if hasattr(getattr(lincent, name), "decision_function")
)
DISPLAYS = [name for name in lincent.inspection.__all__ if name.endswith("Display")]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(80, 2, n_informative=2, n_redundant=0, random_state=0)
    return pandas.DataFrame(X, columns=["Length", "Width"]), np.array(["no", "yes"])[y]


@pytest.fixture(scope="module", params=ESTIMATORS)
def model(request, rows):
    return getattr(lincent, request.param)(**CHEAP.get(request.param, {})).fit(*rows)


def arguments(display, model, rows):
    if display == "CoefficientsDisplay":
        return (model,)
    return (model, "Length") if display == "ShapeDisplay" else (model, *rows)


@pytest.mark.parametrize("display", DISPLAYS)
def test_drawn_or_said_without_a_warning(model, rows, display):
    kind = getattr(lincent.inspection, display)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            few = {"resolution": 20} if kind is BoundaryDisplay else {}
            made = kind.from_estimator(*arguments(display, model, rows), **few)
        except ValueError as error:
            said = str(error)
            assert said.startswith(f"{display} cannot show {type(model).__name__}: ")
            assert said.endswith(".")
            assert not plt.get_fignums()
            return
    assert len(plt.get_fignums()) == 1
    axes = np.atleast_1d(np.asarray(made.ax_, dtype=object))
    assert all(axis.get_ylabel()[0].isupper() for axis in axes)


@pytest.mark.parametrize("display", [ProjectionDisplay, ScoresDisplay])
def test_these_show_every_estimator(model, rows, display):
    assert display.from_estimator(model, *rows).ax_ is not None


def test_axes_that_are_given_are_used_and_no_figure_is_left(rows):
    model = lincent.LCC().fit(*rows)
    figure, axis = plt.subplots()
    made = ProjectionDisplay.from_estimator(model, *rows, ax=axis)
    assert made.ax_ is axis
    assert plt.get_fignums() == [figure.number]
    again = BoundaryDisplay.from_estimator(model, *rows, resolution=10)
    before = again.figure_
    assert again.plot().figure_ is not before
    assert [len(drawn.axes) for drawn in (before, again.figure_)] == [1, 1]


def test_the_line_of_a_model_without_one_is_its_score(rows):
    model = lincent.AdditiveLCC().fit(*rows)
    found = ProjectionDisplay.from_estimator(model, *rows)
    np.testing.assert_allclose(found.line, model.decision_function(rows[0]))
    assert found.threshold == 0.0


def test_coefficients_have_names_and_order():
    X, y = make_classification(100, 6, random_state=0)
    table = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(6)])
    pipeline = make_pipeline(StandardScaler(), lincent.RegularizedLCC()).fit(table, y)
    found = CoefficientsDisplay.from_estimator(pipeline, n_largest=3)
    np.testing.assert_array_equal(found.coefs, pipeline[-1].coef_[0])
    largest = np.argsort(-np.abs(found.coefs))[:3]
    drawn = [text.get_text() for text in found.ax_.get_yticklabels()]
    assert drawn == list(table.columns[largest])
    widths = sorted(bar.get_width() for bar in found.ax_.patches)
    np.testing.assert_allclose(widths, sorted(found.coefs[largest]))
    assert "speaks for 1" in found.ax_.get_xlabel()


def test_path_of_an_estimator_ends_at_the_signs_of_the_centers():
    X, y = make_classification(100, 5, random_state=0)
    weight = {"a": 2.0, "b": 1.0}
    model = lincent.LCC(class_weight=weight).fit(X, np.array(["a", "b"])[y])
    found = PathDisplay.from_estimator(model, X, np.array(["a", "b"])[y])
    centers = model.centers_
    signs = np.sign(centers[1] - centers[0])
    np.testing.assert_allclose(found.coefs[-1], signs, atol=1e-4)
    assert len(found.ax_) == 2
    assert len(found.margins) == len(found.coefs) == len(found.objective) == 20


def test_scores_of_many_classes_are_right_on_the_right(rows):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + 2 * np.eye(4)[y]
    model = lincent.RegularizedLCC(multi_class="ovo").fit(X, y)
    scores = ScoresDisplay.from_estimator(model, X, y).scores
    right = model.predict(X) == y
    assert (scores[right] >= 0).all()
    assert (scores[~right] <= 0).all()
