"""Displays: the numbers behind the figures, and that every figure says what it shows."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import FQCC, LCC, KernelLCC
from lincent.paper.datasets import make_paper_example

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("pandas")

import matplotlib.pyplot as plt  # noqa: E402

from lincent.inspection import (  # noqa: E402
    BoundaryDisplay,
    DirectionDisplay,
    ImpactDisplay,
    PathDisplay,
    ProjectionDisplay,
    ScoresDisplay,
)
from lincent.inspection.displays import COLORS  # noqa: E402
from support.devices import torch_far_away  # noqa: E402, F401


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def example():
    X, y = make_paper_example(120, random_state=0)
    return X, y, LCC().fit(X, y)


def labels_of(ax):
    return ax.get_xlabel(), ax.get_ylabel()


def path():
    margins = np.geomspace(0.01, 1, 7)
    coefs = np.outer(margins, np.linspace(-1, 1, 10))
    return PathDisplay(margins, coefs, -margins, [f"gene {j}" for j in range(10)])


def all_displays(example):
    X, y, model = example
    yield ProjectionDisplay.from_estimator(model, X, y)
    yield DirectionDisplay.from_estimator(model, X, y)
    yield ImpactDisplay.from_estimator(LCC(margin=9.0).fit(X, y), X, y)
    yield path()
    yield BoundaryDisplay.from_estimator(model, X, y, resolution=20)


def test_every_axis_is_labeled_in_words_and_the_figure_draws(example):
    for display in all_displays(example):
        assert display.plot() is display
        display.figure_.canvas.draw()
        axes = np.atleast_1d(np.asarray(display.ax_, dtype=object))
        assert axes[-1].get_xlabel()[0].isupper()
        for ax in axes:
            assert ax.get_ylabel()[0].isupper()


def test_given_axes_are_used(example):
    for display in all_displays(example):
        panels = len(np.atleast_1d(np.asarray(display.plot().ax_, dtype=object)))
        figure, axes = plt.subplots(panels, 1)
        display.plot(axes)
        assert display.figure_ is figure
        wrong = plt.subplots(panels + 1, 1)[1]
        with pytest.raises(ValueError, match="panels"):
            display.plot(wrong)


def test_projection_shows_the_line_of_the_model(example):
    X, y, model = example
    display = ProjectionDisplay.from_estimator(model, X, y)
    line = display.line
    np.testing.assert_allclose(line, model.transform(X)[:, 0])
    np.testing.assert_allclose(display.centers, [line[y == k].mean() for k in (-1, 1)])
    assert display.threshold == pytest.approx(np.mean(display.centers))
    heights = [bar.get_height() for bar in display.plot().ax_.patches]
    assert len(heights) == 80
    assert sum(heights) == len(y)


def test_projection_of_a_kernel_model():
    X, y = make_circles(100, factor=0.4, noise=0.05, random_state=0)
    model = KernelLCC(gamma=1.0).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y)
    line = display.line
    np.testing.assert_allclose(display.centers, [line[y == 0].mean(), line[y == 1].mean()])


def test_feet_are_at_right_angles_and_on_the_line(example):
    X, y, model = example
    display = DirectionDisplay.from_estimator(model, X, y)
    beta = model.coef_[0]
    np.testing.assert_allclose((X - display.feet) @ (beta / np.linalg.norm(beta)), 0, atol=1e-9)
    across = np.array([-beta[1], beta[0]])
    np.testing.assert_allclose(np.ptp(display.feet @ across), 0, atol=1e-9)
    np.testing.assert_allclose(display.feet @ beta - X @ beta, 0, atol=1e-9)


def test_impact_names_the_worst_rows():
    X, y = make_classification(100, 4, flip_y=0.2, random_state=0)
    model = make_pipeline(StandardScaler(), FQCC()).fit(X, y)
    display = ImpactDisplay.from_estimator(model, X, y, n_largest=5)
    impact = model[-1].misclassification_impact(model[:-1].transform(X), y)
    worst = np.argsort(-impact, kind="stable")[:5]
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [f"row {row}" for row in worst]


def test_impact_without_any_says_so(example):
    X, y, model = example
    display = ImpactDisplay.from_estimator(model, X, y).plot()
    assert "No sample" in display.ax_.get_title(loc="left")


def test_path_names_the_largest_coefficients():
    ax = path().plot().ax_[0]
    named = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"gene 0", "gene 9"} <= named
    assert "gene 4" not in named


def test_boundary_regions_are_the_predictions():
    X, y = make_circles(100, factor=0.4, noise=0.05, random_state=0)
    model = make_pipeline(StandardScaler(), KernelLCC(gamma=1.0)).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, resolution=15)
    points = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(display.scores.ravel() > 0, model.predict(points) == 1)


def test_data_frames_give_their_names(example):
    pandas = pytest.importorskip("pandas")
    X, y, _ = example
    table = pandas.DataFrame(X, columns=["Length", "Width"])
    model = LCC().fit(table, y)
    assert labels_of(DirectionDisplay.from_estimator(model, table, y).plot().ax_) == (
        "Length",
        "Width",
    )


def test_two_classes_and_two_columns_are_asked_for(example):
    X, y = make_classification(90, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    model = LCC().fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        ProjectionDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match="two columns"):
        BoundaryDisplay.from_estimator(model, X, y)


def test_colors_differ_in_lightness():
    # What is left of a color in a grey copy (CIE luminance of the sRGB values).
    def lightness(color):
        channels = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        return float((channels**2.2) @ [0.2126, 0.7152, 0.0722]) ** (1 / 2.2)

    assert abs(lightness(COLORS[0]) - lightness(COLORS[1])) > 0.2


def test_missing_matplotlib_is_a_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from lincent.inspection import PathDisplay\n"
        "try:\n    PathDisplay([1], [[1]], [1]).plot()\n"
        "except ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "lincent[app]" in out.stdout


def test_shapes_are_drawn_with_their_band():
    import pandas as pd

    from lincent import AdditiveLCC
    from lincent.inspection import ShapeDisplay

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=120), "word": rng.choice(["p", "q"], 120)})
    model = AdditiveLCC().fit(table, (table["a"] > 0) | (table["word"] == "p"))
    curve = ShapeDisplay.from_estimator(model, "a")
    np.testing.assert_array_equal(curve.ax_.lines[0].get_ydata(), model.shape("a")["value"])
    assert curve.ax_.get_xlabel() == "a"
    words = ShapeDisplay.from_estimator(model, 1)
    assert [tick.get_text() for tick in words.ax_.get_xticklabels()] == ["p", "q"]
    assert len(words.ax_.patches) == 2


@pytest.mark.parametrize("kind", ["Path", "Impact", "Scores", "Projection", "Direction"])
def test_rows_on_a_device_are_drawn_as_those_here(torch_far_away, kind):  # noqa: F811
    import lincent.inspection

    X, y = make_classification(80, 2, n_informative=2, n_redundant=0, random_state=0)
    there = torch_far_away.asarray(X), torch_far_away.asarray(y)
    display = getattr(lincent.inspection, f"{kind}Display")
    model = LCC().fit(X, y)
    found, expected = (display.from_estimator(model, *data) for data in (there, (X, y)))
    for name, value in vars(expected).items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "bif":
            np.testing.assert_allclose(vars(found)[name], value, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "display", [BoundaryDisplay, DirectionDisplay, PathDisplay, ProjectionDisplay, ScoresDisplay]
)
def test_labels_that_the_model_does_not_know_are_refused(example, display):
    X, y, model = example
    for labels in (y + 7, np.array(["a", "b"])[y]):
        with pytest.raises(ValueError, match="a class unknown to this model"):
            display.from_estimator(model, X, labels)
    with pytest.raises(ValueError, match="one label for each of the 120 rows"):
        display.from_estimator(model, X, y[:-1])
