"""Where the class changes: asked for, chosen honestly, and the same at prediction."""

import numpy as np
import pytest

from lincent import AutoLCC
from lincent._errors import AppError
from lincent.cli.terminal import at_the_cut
from lincent.inspection.evaluation import describe_held_out
from lincent.inspection.held_out import HeldOut
from lincent.inspection.score_intervals import confusion, value_of
from lincent.inspection.thresholds import Cut, chosen_cut, given_cut, positive_code
from lincent.workflow import fit_table

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

CLASSES = np.array(["no", "yes"])


def held(n=2000, seed=0, chances=True):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.1
    scores = rng.normal(size=n) + 1.5 * truth
    p = 1 / (1 + np.exp(-scores))
    both = np.column_stack([1 - p, p]) if chances else None
    return HeldOut(np.arange(n), CLASSES[truth.astype(int)], scores, both, np.arange(n) % 5, "")


@pytest.mark.parametrize("chances", [True, False])
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_chosen_cut_is_the_best_one(chances, positive):
    data = held(chances=chances)
    cut, answers = chosen_cut("f1", data, CLASSES, positive)
    truth = np.searchsorted(CLASSES, data.labels)
    side = positive_code(CLASSES, positive)

    def figure(at):
        codes = Cut(positive, at, cut.scale, "").codes(CLASSES, data.scores, data.chances)
        return value_of("f1", confusion(truth, codes, 2), side)

    others = np.linspace(0.02, 0.98, 40) if chances else np.linspace(-2, 3, 40)
    assert figure(cut.at) >= max(figure(at) for at in others) - 0.01
    honest = value_of("f1", confusion(truth, answers, 2), side)
    assert honest <= figure(cut.at) + 1e-12


def test_a_given_threshold():
    data = held()
    cut = given_cut(0.3, CLASSES, None, chances=True)
    codes = cut.codes(CLASSES, data.scores, data.chances)
    np.testing.assert_array_equal(codes == 1, data.chances[:, 1] >= 0.3)
    other = given_cut(0.3, CLASSES, "no", chances=True)
    codes = other.codes(CLASSES, data.scores, data.chances)
    np.testing.assert_array_equal(codes == 0, data.chances[:, 0] >= 0.3)
    assert Cut.from_json(cut.to_json()) == cut
    assert Cut.from_json(None) is None
    with pytest.raises(AppError, match="needs probabilities"):
        given_cut(0.3, CLASSES, None, chances=False)
    with pytest.raises(AppError, match="no class 'maybe'"):
        positive_code(CLASSES, "maybe")


@pytest.mark.parametrize(
    ("asked", "option"), [({"threshold": 0.3}, "--threshold"), ({"metric": "f1"}, "--metric")]
)
def test_a_cut_of_three_classes_is_refused_before_anything_is_fitted(asked, option, monkeypatch):
    def fitted(*_, **__):
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(AutoLCC, "fit", fitted)
    frame = pandas.DataFrame({"x": np.arange(12.0), "y": list("abc") * 4})
    with pytest.raises(AppError, match=f"{option} moves the cut of two classes; .* has 3"):
        fit_table(frame, "y", **asked)


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_summary_counts_what_is_found_at_the_cut(positive):
    data = held(n=300)
    cut = given_cut(0.7, CLASSES, positive, chances=True)
    answers = cut.codes(CLASSES, data.scores, data.chances)
    found = describe_held_out(data, CLASSES, answers, positive, cut=cut)["at_cut"]
    own, called = data.labels == positive, CLASSES[answers] == positive
    assert found == {"found": sum(own & called), "rows": sum(own), "called": sum(called)}
    said = at_the_cut(positive, **found)
    assert f"{sum(own & called)} of {sum(own)} rows of {positive} are found" in said
    assert f"{sum(called & ~own)} of the {sum(called)} rows called {positive} are not." in said
