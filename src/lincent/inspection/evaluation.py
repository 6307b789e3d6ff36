"""Evaluation of held-out predictions: metrics with intervals, curves, suspected label errors.

accuracy             Wilson's interval of a proportion
balanced accuracy    the mean of the recalls r_k, each a proportion of n_k rows: its variance is
                     sum r_k (1 - r_k) / n_k / K^2, with the proportions drawn a little to the
                     middle (Agresti and Coull), so that 0 errors in few rows are not certainty
roc_auc              DeLong's variance; the mean over one-vs-rest problems of more classes, whose
                     errors are taken as fully correlated
log_loss, brier      the mean over the rows, by the variance of a row; beside predicting the class
                     frequencies
f1, mcc              the middle 95 % of 400 resamples of the rows of each class

These hold for rows that one model has not seen.  Out-of-fold rows are each scored by a model that
was fitted to the other folds; these models share rows, and the final model is yet another.  The
variance of such a metric is that of a fold times 1/k + 1/(k - 1), not 1/k (Nadeau and Bengio 2003):
``1 + k / (k - 1)`` times as large, 2.25 for five folds.  So intervals are those of as many times
fewer rows: ``HeldOut.effective`` is the fraction.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import precision_recall_curve, roc_curve

from lincent.estimators.validation import plain
from lincent.inspection.thresholds import DecisionThreshold, HeldOut, own_margin, positive_code
from lincent.model_selection.metrics import label_score
from lincent.tables.infer import PreparedTable

Z = 1.959963984540054
MAX_GROUPS = 20
THRESHOLDS = tuple(k / 200 for k in range(1, 200))


def evaluate(
    held: HeldOut,
    predicted: np.ndarray,
    positive: Any = None,
    metric: str = "balanced_accuracy",
    threshold: DecisionThreshold | None = None,
) -> dict[str, Any]:
    """Return metrics with intervals and baselines, the confusion matrix, curves of two classes.

    Parameters
    ----------
    held : HeldOut
        Held-out predictions.
    predicted : ndarray of int
        Predicted class codes.
    positive : label, default=None
        The positive class of two; the second one if None.
    metric : str, default="balanced_accuracy"
        The metric that comes first.
    threshold : DecisionThreshold, default=None
        The threshold behind ``predicted``; None is the classifier's own.
    """
    codes, classes = held.codes, held.classes
    side = positive_code(classes, positive)
    confusion, counts = held.confusion(predicted), np.bincount(codes, minlength=len(classes))
    names = dict.fromkeys([metric, "balanced_accuracy", "accuracy"])
    scores = [label_metric(name, confusion, side, held.effective, counts) for name in names]
    confusion = np.rint(confusion).astype(int)
    result: dict[str, Any] = {"how": held.how, "rows": len(codes), "metric": metric}
    present = [side]
    if len(classes) > 2:
        present = [k for k in range(len(classes)) if 0 < (codes == k).sum() < len(codes)]
    if present:
        areas = [auc_metric(_of_class(held, k), codes == k, held.effective) for k in present]
        value, low, high = (np.mean([a[key] for a in areas]) for key in ("value", "low", "high"))
        scores.append(_metric("roc_auc", value, low, high, 0.5))
        by_class = {str(plain(classes[k])): class_curves(held, k) for k in present}
        result["curves"] = {"by_class": by_class}
    if len(classes) == 2:
        found, rows, called = confusion[side, side], confusion[side].sum(), confusion[:, side].sum()
        result["at_threshold"] = {"found": int(found), "rows": int(rows), "called": int(called)}
        histogram = score_histogram(held)
        at = threshold.on_score(held) if threshold else 0.0
        result["curves"]["histogram"] = histogram | {"threshold": at / histogram["scale"]}
    if held.probabilities is not None:
        scores += probability_metrics(held, held.probabilities)
        if len(classes) == 2:
            thresholds = threshold_table(held.probabilities[:, side], codes == side, held.weight)
            result["curves"]["thresholds"] = thresholds
    more = {"positive": plain(classes[side]), "scores": scores, "confusion": confusion.tolist()}
    return result | more


def errors_by_group(
    groups: Any, held: HeldOut, predicted: np.ndarray, positive: Any = None
) -> list[dict[str, Any]]:
    """Return the errors in each group of rows with their 95 % intervals.

    Quarters of numbers come in their order, other groups from the largest on; of more than 20 the
    others are one.

    Parameters
    ----------
    groups : pandas Series
        The group of each row; numbers with more than ten different values are cut into quarters.
    held : HeldOut
        Held-out predictions.
    predicted : ndarray of int
        Predicted class codes.
    positive : label, default=None
        The positive class of two, whose errors are ``missed`` and ``false_alarms``.
    """
    import pandas as pd

    present, ordered = groups.notna(), []
    if pd.api.types.is_numeric_dtype(groups.dtype) and groups.nunique() > 10:
        quarters, ends = pd.qcut(groups, 4, labels=False, duplicates="drop", retbins=True)
        ordered = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(ends)]
        groups = quarters[present].map(lambda k: ordered[int(k)]).reindex(groups.index)
    names = groups.astype(object).where(present, "(missing)").astype(str).to_numpy()
    sizes = pd.Series(names).value_counts()
    shown = [*(name for name in ordered if name in sizes), *sizes.index.difference(ordered, False)]
    if len(shown) > MAX_GROUPS + 1:
        rest = f"({len(shown) - MAX_GROUPS} others)"
        names = np.where(np.isin(names, shown[:MAX_GROUPS]), names, rest)
        shown = [*shown[:MAX_GROUPS], rest]
    wrong, parts = predicted != held.codes, {"errors": np.ones(len(predicted), dtype=bool)}
    if len(held.classes) == 2:
        own = held.codes == positive_code(held.classes, positive)
        parts |= {"missed": own, "false_alarms": ~own}
    result = []
    for name in shown:
        entry: dict[str, Any] = {"group": str(name), "rows": int((names == name).sum())}
        for part, rows in parts.items():
            own = rows & (names == name)
            if own.any():
                rate = float(np.average(wrong[own], weights=held.weight[own]))
                rows_as_good = effective_rows(held.weight[own])
                low, high = wilson_interval(rate, held.effective * rows_as_good)
                entry[part] = {"value": rate, "low": low, "high": high, "rows": int(own.sum())}
        result.append(entry)
    return result


def label_metric(
    name: str,
    confusion: np.ndarray,
    positive: int = 1,
    effective: float = 1.0,
    counts: np.ndarray | None = None,
) -> dict[str, Any]:
    """Return a metric of predicted labels with its interval and that of the best constant.

    It is the majority class for the accuracy, and the positive class for F1.  ``counts`` are the
    numbers of rows of each class, where the confusion matrix has weights.
    """
    rows = confusion.sum(axis=1)
    counts = rows if counts is None else counts
    present = rows > 0
    each = np.divide(rows, counts, out=np.zeros(len(rows)), where=present)
    value = label_score(name, confusion, positive)
    constants = [np.outer(rows, called) for called in np.eye(len(rows), dtype=rows.dtype)]
    baseline = max(label_score(name, constant, positive) for constant in constants)
    if name == "accuracy":
        low, high = wilson_interval(value, effective * rows.sum() ** 2 / (rows @ each))
    elif name == "balanced_accuracy":
        count = effective * counts[present] + Z**2
        right = np.diag(confusion)[present] / each[present]
        recall = (effective * right + Z**2 / 2) / count
        half = Z * np.sqrt((recall * (1 - recall) / count).sum()) / present.sum()
        low, high = max(0.0, value - half), min(1.0, value + half)
    else:  # resample each row of the confusion matrix
        rng = np.random.default_rng(0)
        probabilities = confusion / np.where(present, rows, 1)[:, None]
        drawn = np.ceil(effective * counts).astype(int)
        pairs = zip(drawn, probabilities, strict=True)
        resampled = np.stack([rng.multinomial(n, p, 400) for n, p in pairs], axis=1)
        resampled = resampled * each[:, None]
        values = [label_score(name, matrix, positive) for matrix in resampled]
        low, high = np.quantile(values, [0.025, 0.975])
    return _metric(name, value, low, high, baseline)


def effective_rows(weight: np.ndarray) -> float:
    """Return Kish's effective sample size: how many rows of equal weight say as much."""
    return float(weight.sum() ** 2 / (weight @ weight))


def wilson_interval(proportion: float, rows: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion."""
    weight = 1 + Z**2 / rows
    middle = (proportion + Z**2 / (2 * rows)) / weight
    half = Z / weight * np.sqrt(proportion * (1 - proportion) / rows + Z**2 / (4 * rows**2))
    return float(middle - half), float(middle + half)


def auc_metric(scores: np.ndarray, positive: np.ndarray, effective: float = 1.0) -> dict[str, Any]:
    """Return the area under the ROC curve of two classes with DeLong's interval."""
    plus, minus = scores[positive], scores[~positive]
    m, n = len(plus), len(minus)
    ranks = rankdata(np.concatenate([plus, minus]))
    above = (ranks[:m] - rankdata(plus)) / n
    below = 1 - (ranks[m:] - rankdata(minus)) / m
    area = float(above.mean())
    shares = ((above, m), (below, n))
    variance = sum(part.var(ddof=1) / size if size > 1 else 0.25 for part, size in shares)
    half = Z * float(np.sqrt(variance / effective))
    return _metric("roc_auc", area, max(0.0, area - half), min(1.0, area + half), 0.5)


def probability_metrics(held: HeldOut, probabilities: np.ndarray) -> list[dict[str, Any]]:
    """Return log loss and Brier score (that of the second class for two) with intervals."""
    truth, rows = np.eye(probabilities.shape[1])[held.codes], np.arange(len(held.codes))
    n_rows = max(1.0, held.effective * effective_rows(held.weight))
    share = held.weight / held.weight.sum()

    def losses(p: np.ndarray) -> dict[str, np.ndarray]:
        squares = ((p - truth) ** 2).sum(axis=1) * (0.5 if truth.shape[1] == 2 else 1.0)
        return {"log_loss": -np.log(np.clip(p[rows, held.codes], 1e-15, 1.0)), "brier": squares}

    constant, metrics = losses(np.broadcast_to(share @ truth, truth.shape)), []
    for name, loss in losses(probabilities).items():
        value = share @ loss
        error = Z * np.sqrt(share @ (loss - value) ** 2 / n_rows)
        low, high = max(0.0, value - error), value + error
        metrics.append(_metric(name, value, low, high, share @ constant[name]))
    return metrics


def _metric(name: str, value: float, low: float, high: float, baseline: float) -> dict[str, Any]:
    numbers = {"value": value, "low": low, "high": high, "baseline": baseline}
    return {"name": name, **{key: float(number) for key, number in numbers.items()}}


def _of_class(held: HeldOut, code: int) -> np.ndarray:
    """Return what ranks the rows by a class: the score of two, the probability of more."""
    if held.scores.ndim == 1:
        return held.scores if code == 1 else -held.scores
    return (held.scores if held.probabilities is None else held.probabilities)[:, code]


def class_curves(held: HeldOut, code: int) -> dict[str, Any]:
    """Return ROC, precision and recall, and calibration of a class against the others."""
    positive = held.codes == code
    curves: dict[str, Any] = dict(threshold_curves(_of_class(held, code), positive, held.weight))
    if held.probabilities is not None:
        probability = held.probabilities[:, code]
        curves["calibration"] = calibration_bins(probability, positive, held.weight)
    return curves


def threshold_curves(
    values: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> dict[str, list[list[float]]]:
    """Return (false positive rate, true positive rate) and (recall, precision) by threshold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may be missing in given data
        false_rate, true_rate, _ = roc_curve(positive, values, drop_intermediate=False)
        precision, recall, _ = precision_recall_curve(positive, values, sample_weight=weight)
    # From the largest threshold on, without scikit-learn's end point (0, 1).
    pairs = np.column_stack([recall, precision])[-2::-1]
    rates = np.column_stack([false_rate, true_rate])
    return {"roc": _thinned(rates), "precision_recall": _thinned(pairs)}


def spread(count: int, most: int) -> np.ndarray:
    """Return at most so many positions of a sequence, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _thinned(points: np.ndarray) -> list[list[float]]:
    points = points[spread(len(points), 100)]
    return [[round(float(x), 6), round(float(y), 6)] for x, y in np.nan_to_num(points)]


def calibration_bins(
    probability: np.ndarray, positive: np.ndarray, weight: np.ndarray
) -> list[dict[str, float]]:
    """Return predicted and observed frequency of the positive class by tenths of probability."""
    bins, result = np.minimum((probability * 10).astype(int), 9), []
    for k in np.unique(bins).tolist():
        own = bins == k
        predicted, observed = (
            float(np.average(values[own], weights=weight[own]))
            for values in (probability, positive)
        )
        ends = {"from": k / 10, "to": (k + 1) / 10, "rows": int(own.sum())}
        result.append(ends | {"predicted": predicted, "observed": observed})
    return result


def threshold_table(
    probability: np.ndarray, positive: np.ndarray, weight: np.ndarray
) -> dict[str, list[Any]]:
    """Return positive predictions, and right ones among them, from each probability on."""
    called = [round(float(weight @ (probability >= at))) for at in THRESHOLDS]
    right = [round(float(weight @ (positive & (probability >= at)))) for at in THRESHOLDS]
    return {"at": list(THRESHOLDS), "called": called, "found": right}


def score_histogram(held: HeldOut) -> dict[str, Any]:
    """Return the counts of each class along the normalized score."""
    scale = class_distance(held.scores, held.codes)
    positions = held.scores / scale
    low, high = np.quantile(positions, [0.002, 0.998])
    edges = np.linspace(min(low, -0.05), max(high, 0.05), 31)
    inside = np.clip(positions, edges[0], edges[-1])
    counts = {
        str(plain(label)): np.histogram(inside[held.codes == k], edges)[0].tolist()
        for k, label in enumerate(held.classes)
    }
    return {"scale": scale, "edges": [round(float(at), 4) for at in edges], "counts": counts}


def score_scale(scores: np.ndarray, codes: np.ndarray) -> float:
    """Return the distance between the classes on the score; the mean over those of several."""
    if scores.ndim == 1:
        return class_distance(scores, codes)
    columns = enumerate(scores.T)
    return float(np.mean([class_distance(column, codes == k) for k, column in columns]))


def class_distance(scores: np.ndarray, codes: np.ndarray) -> float:
    """Return the distance between the mean scores of two classes, 1 where there is none."""
    if not (codes == 0).any() or not (codes == 1).any():
        return 1.0
    return abs(float(scores[codes == 1].mean() - scores[codes == 0].mean())) or 1.0


def notable_rows(held: HeldOut, table: PreparedTable) -> dict[str, list[dict[str, Any]]]:
    """Return suspected label errors, and examples of rows to start from.

    Parameters
    ----------
    held : HeldOut
        Held-out predictions.
    table : PreparedTable
        The table.

    Returns
    -------
    dict of list of dict
        ``suspected_label_errors``: the rows farthest on the wrong side, with their ``distance`` and
        ``values``.  ``examples``: these and some along the score, with ``inputs``, a value for each
        input of the model.  Both have the ``row``, which counts from 1, and its ``label``.
    """
    distance = -own_margin(held.scores, held.codes)
    if held.scores.ndim == 1:
        distance = distance / class_distance(held.scores, held.codes)
    farthest = np.argsort(-distance, kind="stable")[:10]
    suspected = farthest[distance[farthest] > 0].tolist()
    names, data = [*table.schema.ids, *table.schema.names][:12], table.table.data
    numbers, labels = table.table.rows(held.rows).tolist(), held.classes[held.codes]
    suspects, examples = [], []
    for k in suspected:
        cells = {name: data.column(name)[int(held.rows[k])].as_py() for name in names}
        values = {name: "" if cell is None else str(cell)[:80] for name, cell in cells.items()}
        suspect = {"row": numbers[k], "label": plain(labels[k])}
        suspects.append(suspect | {"distance": float(distance[k]), "values": values})
    if len(table.schema.columns) <= 300:  # a report can show no more
        scores = held.scores if held.scores.ndim == 1 else held.scores.max(axis=1)
        along = np.argsort(scores, kind="stable")[spread(len(scores), 12)]
        for k in dict.fromkeys([*suspected, *along.tolist()]):
            row = table.frame.iloc[int(held.rows[k])].items()
            inputs = {name: None if c is None or c != c else plain(c) for name, c in row}
            example = {"row": numbers[k], "label": str(plain(labels[k]))}
            examples.append(example | {"inputs": inputs})
    return {"suspected_label_errors": suspects, "examples": examples}


def evaluation_warnings(
    held: HeldOut, evaluation: dict[str, Any], threshold: DecisionThreshold | None
) -> list[str]:
    """Return what a reader of the evaluation should keep in mind."""
    messages = []
    if held.probabilities is not None and held.scores.ndim == 1:
        probability = held.probabilities[:, 1]
        other = (held.scores > 0) != (probability > 0.5)
        differ = 100 * np.average(other, weights=held.weight)
        if threshold is None and differ >= 1.0:
            at = probability[np.abs(held.scores).argmin()]
            messages.append(
                f"The class changes where the probability of {plain(held.classes[1])} is about "
                f"{at:.2f}, not 0.5, since both classes count the same; {differ:.1f} % of the "
                "held-out rows lie between (--threshold 0.5 moves the threshold)."
            )
    first = evaluation["scores"][0]
    if first["low"] <= first["baseline"]:
        messages.append(
            "On held-out rows the model cannot be told from a constant prediction: its interval "
            f"reaches down to {first['low']:.3f}."
        )
    least = np.bincount(held.codes, minlength=len(held.classes)).min()
    if least < 20:
        messages.append(f"The smallest class has {least} held-out rows: its rates are rough.")
    return messages
