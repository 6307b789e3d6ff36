"""lcc_path as users see it: what it takes, what it refuses, what stands in its table."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC, lcc_path
from support.devices import torch_far_away  # noqa: F401
from support.labeled import noisy
from support.samples import along_a_line


def test_the_table_has_a_place_for_every_cost_and_margin():
    X, y = noisy()
    path = lcc_path(X, np.array(["no", "yes"])[y], margins=[0.3, 0.01, 1e6], Cs=[0.1, 5.0])
    assert path.coefs.shape == (2, 3, 6)
    np.testing.assert_array_equal(path.feasible, [True, True, False])
    np.testing.assert_array_equal(path.classes, ["no", "yes"])
    assert np.isnan(path.objectives[:, 2]).all()
    assert not path.certified[:, 2].any()
    single = LCC(5.0, 0.3).fit(X, y)
    assert path.objectives[1, 0] == pytest.approx(single.objective_, rel=1e-8)
    assert path.intercepts[1, 0] == pytest.approx(
        -path.coefs[1, 0] @ single.centers_.mean(axis=0), abs=1e-9
    )
    assert np.isnan(path.duality_gaps[:, 2]).all()
    gaps = (path.objectives - path.dual_objectives) / np.maximum(path.objectives, 1.0)
    np.testing.assert_allclose(path.duality_gaps[:, :2], gaps[:, :2], atol=1e-12)
    assert path.duality_gaps[1, 0] <= 1e-9


def test_weights_classes_and_sparse_rows_are_those_of_lcc():
    X, y = noisy()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    how = {"sample_weight": weight, "class_weight": "balanced", "margins": [0.05]}
    single = LCC(margin=0.05, class_weight="balanced").fit(X, y, sample_weight=weight)
    for rows in (X, sp.csr_array(X)):
        path = lcc_path(rows, y, **how)
        assert path.objectives[0, 0] == pytest.approx(single.objective_, rel=1e-8)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"margins": [0.1, -1]}, "margins"),
        ({"Cs": []}, "Cs"),
        ({"solver": "simplex"}, "Got 'simplex'"),
        ({"tol": 0}, "tol"),
        ({"time_limit": -1}, "time_limit"),
        ({"y": np.arange(400) % 3}, "3 classes: pass the rows of two"),
    ],
)
def test_what_is_unusable_is_named(wrong, told):
    X, y = noisy()
    with pytest.raises(ValueError, match=told):
        lcc_path(X, **{"y": y, **wrong})


def test_centers_that_coincide_leave_no_margin():
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    with pytest.raises(ValueError, match="centers coincide"):
        lcc_path(X, [0, 0, 1, 1])


def test_rows_stay_on_their_device(torch_far_away):  # noqa: F811
    X, y = noisy(300, 4)
    rows, labels = torch_far_away.asarray(X), torch_far_away.asarray(y)
    found, expected = lcc_path(rows, labels), lcc_path(X, y)
    np.testing.assert_array_equal(found.feasible, expected.feasible)
    np.testing.assert_allclose(found.objectives, expected.objectives, rtol=1e-9)
    assert found.certified[:, found.feasible].all()


def test_smaller_margins_are_not_read_on_a_device(torch_far_away, monkeypatch):  # noqa: F811
    """Point and certificate scale with the margin, by sums that are known."""
    from lincent.sources.device import DeviceSource

    reads, project = [], DeviceSource.local_project
    monkeypatch.setattr(
        DeviceSource,
        "local_project",
        lambda source, v: reads.append(1) or project(source, v),
    )
    X, y = along_a_line(9_000, 6)
    rows, counts = torch_far_away.asarray(X), []
    for margins in ([0.01], [0.01, 0.004, 0.001, 0.0002]):
        reads.clear()
        path = lcc_path(rows, y, margins=margins, random_state=0)
        counts.append(len(reads))
        assert path.certified.all()
    assert path.solvers[0].tolist().count("scaled") == 3
    assert counts[0] == counts[1]
