"""Callbacks see a fit as a tree of tasks; ``verbose`` says folds, then steps."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import lincent.paper.baselines
from lincent import (
    FQCC,
    LCC,
    LCCCV,
    AdditiveLCCCV,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
)
from support.labeled import noisy

with_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="callbacks are of 1.9"
)


class Log:
    """Keeps what it is told."""

    max_propagation_depth = None

    def __init__(self):
        self.events, self.fitted = [], []

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def path(self, context):
        names = []
        while context is not None:
            names.insert(0, (context.task_name, context.task_id))
            context = context.parent
        return tuple(names)

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", self.path(context)))

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.events.append(("end", self.path(context), metadata))
        if fitted_estimator is not None:
            self.fitted.append(fitted_estimator)

    def points(self):
        return [event[2] for event in self.events if event[0] == "end" and event[2] is not None]

    def names(self, depth):
        """Names of the tasks that have so many above them."""
        begun = (event[1] for event in self.events if event[0] == "begin")
        return [path[-1][0] for path in begun if len(path) == depth + 1]


EVERY = [
    LCC(), LCC(probability="sigmoid"), LCCCV(margins=2, cv=2), FQCC(), KernelLCC(),
    KernelLCC(norm="linf"), RegularizedLCC(), RegularizedLCC(multi_class="joint"),
    RegularizedLCC(norm="l1"), RegularizedLCCCV(), StructuredLCC(n_centers=2),
    AdditiveLCCCV(cv=2), AutoLCC(feature_maps=["columns"]),
    lincent.paper.baselines.RegularizedLDA(),
    lincent.paper.baselines.TwinSVC(), lincent.paper.baselines.DiscriminativeLeastSquares(),
]  # fmt: skip


@with_callbacks
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
def test_every_task_that_begins_ends_and_nothing_changes(model, classes):
    X, y = noisy(m=90, n=3, classes=classes)
    log = Log()
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    silent = clone(model).fit(X, y)
    model.set_callbacks(log).fit(X, y)
    np.testing.assert_array_equal(silent.decision_function(X), model.decision_function(X))
    first, *tasks, last = log.events
    assert (first, last) == (("setup", "fit"), ("teardown", "fit"))
    begun = [event[1] for event in tasks if event[0] == "begin"]
    assert len(set(begun)) == len(begun)
    assert sorted(begun) == sorted(event[1] for event in tasks if event[0] == "end")
    assert begun[0] == tasks[-1][1] == (("fit", 0),)
    [fitted] = log.fitted
    np.testing.assert_array_equal(fitted.predict(X), model.predict(X))
    left = [name for name in vars(model) if "callback" in name or "tasks" in name]
    assert left == ["_skl_callbacks"]


@with_callbacks
def test_the_points_of_a_solve_have_its_objective_and_gap():
    X, y = noisy(m=200, n=8)
    log = Log()
    model = LCC(solver="interior-point").set_callbacks(log).fit(X, y)
    points = log.points()
    assert len(points) >= model.n_iter_
    gaps = [point["gap"] for point in points]
    assert points[-1]["objective"] == model.objective_
    assert gaps[-1] == model.duality_gap_
    for point in points:  # every gap is proved: no point is farther from the best than it says
        best = model.objective_ - model.duality_gap_ * max(1.0, abs(model.objective_))
        assert best >= point["objective"] - point["gap"] * max(1.0, abs(point["objective"])) - 1e-9


@with_callbacks
def test_folds_come_before_the_fit_to_all_rows():
    X, y = noisy(m=150, n=4)
    log = Log()
    LCCCV(margins=3, cv=4, probability="sigmoid").set_callbacks(log).fit(X, y)
    stages = log.names(1)
    assert stages[0] == "search, fold"
    assert "solve, class 0 against class 1" in stages
    folds = [name for name in log.names(2) if name.startswith("search, fold")]
    assert folds == [f"search, fold {k}: 3 candidates" for k in (1, 2, 3, 4)]


@with_callbacks
def test_problems_solved_side_by_side_have_tasks_of_their_own():
    X, y = noisy(m=200, n=4, classes=4)
    log = Log()
    LCC(n_jobs=2).set_callbacks(log).fit(X, y)
    assert sorted(log.names(1)) == [f"solve, class {k} against the rest" for k in range(4)]


@with_callbacks
def test_an_error_ends_with_the_teardown_and_leaves_the_callbacks():
    X, y = noisy(m=60, n=3)
    log = Log()
    model = LCC(margin=1e9).set_callbacks(log)
    with pytest.raises(ValueError, match="largest feasible margin"):
        model.fit(X, y)
    assert log.events[-1] == ("teardown", "fit")
    assert set(vars(model)) - set(LCC().get_params()) == {"_skl_callbacks"}


@with_callbacks
def test_inside_a_pipeline_the_tree_goes_on():
    X, y = noisy(m=60, n=3)
    log = Log()
    make_pipeline(StandardScaler(), LCC()).set_callbacks(log).fit(X, y)
    deepest = max((event[1] for event in log.events if event[0] == "begin"), key=len)
    assert [name for name, _ in deepest[:3]] == ["fit", "fit", "solve, class 0 against class 1"]


def test_verbose_speaks_of_folds_then_of_the_solver(capsys):
    X, y = noisy(m=120, n=3)
    model = LCCCV(margins=2, cv=3, solver="interior-point")
    told = []
    for verbose in (0, 1, 2):
        model.set_params(verbose=verbose).fit(X, y)
        told.append(capsys.readouterr().out.splitlines())
    silent, folds, steps = told
    assert silent == []
    assert folds[:3] == [f"search, fold {k} of 3: 2 candidates" for k in (1, 2, 3)]
    assert folds[3].startswith("class 0 against class 1: interior-point, ")
    assert len(folds) == 4
    assert set(folds) < set(steps)
    assert any(line.startswith("step 1: objective") for line in steps)
