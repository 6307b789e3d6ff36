"""From a table to a model: ``lincent fit``."""

from __future__ import annotations

import datetime
import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from lincent import _progress, _versions
from lincent._console import Stage
from lincent._errors import AppError, first_line
from lincent.estimators.validation import plain
from lincent.export.model import Model
from lincent.export.onnx_tables import TABLE_MODELS
from lincent.inspection.curves import score_unit
from lincent.inspection.evaluation import describe_held_out, disagreement, most_at_odds
from lincent.inspection.held_out import HeldOut, held_out, make_splits
from lincent.inspection.learning_curve import measure_growth
from lincent.inspection.permutation_importance import column_effects
from lincent.inspection.score_intervals import CUT_METRICS
from lincent.inspection.thresholds import Cut, check_classes, chosen_cut, codes_of, given_cut
from lincent.tables.encoder import table_pipeline
from lincent.tables.infer import DEFAULT_OPTIONS, ColumnOptions, PreparedTable, infer_schema
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_table
from lincent.workflow.large_file import LargeFit, about_memory, find_large
from lincent.workflow.methods import AUTO, PAPER_METHOD, QUICK, find_method, make_classifier
from lincent.workflow.tuning import tuning_of

Tell = Callable[[str], None]


def silent(line: str) -> None:
    """Say nothing."""


def unseen(stage: str, done: int, total: int, detail: str = "") -> None:
    """Show nothing."""


def fit_table(
    data: Any,
    target: str,
    *,
    method: str | None = None,
    quick: bool = False,
    tune: bool = False,
    settings: Mapping[str, Any] | None = None,
    C: float | None = None,
    margin: float | None = None,
    discriminator: str | None = None,
    balanced: bool = False,
    multi_class: str | None = None,
    probability: str | None = "",
    metric: str | None = None,
    threshold: float | None = None,
    positive: Any = None,
    wishes: ColumnOptions = DEFAULT_OPTIONS,
    drop: Iterable[str] = (),
    ids: Iterable[str] = (),
    reading: ReadOptions = DEFAULT_READ,
    learning_curve: bool = False,
    jobs: int | None = None,
    seed: int = 0,
    tell: Tell = silent,
    stage: Stage = unseen,
) -> Model:
    """Fit a classifier, preprocessing included, to a table, and judge it on held-out rows.

    Parameters
    ----------
    data : path, "-" or frame
        CSV, Parquet, Feather, Excel or JSON lines, standard input, or a frame of pandas, polars or
        Arrow.
    target : str
        The column to predict.
    method : str, default=None
        "auto", "linear", "additive", "structured", "kernel", "lcc", the name of a class of this
        package or a method of the paper. None is "auto", or "lcc" where a setting of it is given.
    quick : bool, default=False
        The same as ``method="quick"``: one line, not tuned.
    tune : bool, default=False
        For ``method="lcc"``: choose the margin by cross-validation.
    settings : dict, default=None
        Parameters of the estimator, by their names.
    C : float, default=None
        Cost of a unit of slack.
    margin : float, default=None
        For ``method="lcc"``: the margin.
    discriminator : str, default=None
        For ``method="lcc"``: "distance", "nearest" or "svm".
    balanced : bool, default=False
        Give the classes equal total cost.
    multi_class : str, default=None
        "ovr" or "ovo", where the method has the choice.
    probability : str, default=""
        "sigmoid" or "isotonic", where the method has the choice; None leaves probabilities out.
    metric : {"balanced_accuracy", "accuracy", "f1", "mcc"}, default=None
        Move the cut of two classes to where this figure is best on held-out rows.
    threshold : float, default=None
        Move the cut to this probability of the positive class.
    positive : label, default=None
        The class that probability and F1 are about; the second one in sorted order where None.
    wishes : ColumnOptions
        What is known of the columns; without it they are judged by what they hold.
    drop : list of str, default=()
        Columns to ignore. Added to the wishes.
    ids : list of str, default=()
        Columns that identify a row, kept for ``predict``. Added to the wishes.
    reading : ReadOptions
        How the file is written, where that is not to be found out.
    learning_curve : bool, default=False
        Also fit growing parts of the rows: ``summary["learning_curve"]`` has the held-out score
        along their number. About eight times the time of the fit.
    jobs : int, default=None
        Parallel folds, where the method has them.
    seed : int, default=0
        Deals the folds.
    tell : callable, default=silent
        Is given a line about what was done to the table.
    stage : callable, default=unseen
        Is given what is being done, steps done, steps in all, and which it is.

    Returns
    -------
    Model
        With figures from rows that its rules had not seen in ``summary["held_out"]``.
    """
    name = _method_name(method, quick, tune, [C, margin, discriminator])
    said = _said(settings, C=C, margin=margin, discriminator=discriminator, multi_class=multi_class)
    classifier = _classifier(name, said, tune, balanced, probability, seed, jobs)
    _check_cut(metric, threshold)
    started = time.perf_counter()
    wishes = replace(wishes, drop=(*wishes.drop, *drop), ids=(*wishes.ids, *ids))
    known, large = _understood(data, target, reading, wishes, seed, tell)
    check_classes(np.unique(known.labels), metric, threshold, positive)
    pipeline, held, caught = _fitted(classifier, known, seed, stage, large)
    unit, held = _in_units(pipeline, known, held)
    summary: dict[str, Any] = {
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": name,
        **(_facts(pipeline[-1], known) | ({} if large is None else large.facts())),
        **_judgement(pipeline[-1], known, held, metric, threshold, positive),
        "unit": unit,
        "effects": column_effects(pipeline, known.frame, known.schema, unit, seed),
        "learning_curve": measure_growth(pipeline, known, seed, stage) if learning_curve else None,
    }
    _forget_training_rows(pipeline[-1])
    summary["warnings"] = sorted({*caught, *summary["warnings"]})
    summary["seconds"] = round(time.perf_counter() - started, 3)
    return Model(pipeline, known.schema, summary, _versions.lincent())


def _understood(
    data: Any, target: str, reading: ReadOptions, wishes: ColumnOptions, seed: int, tell: Tell
) -> tuple[PreparedTable, LargeFit | None]:
    """The table, read and its columns judged; what was done to it is told.

    Of a file that memory has no room for, a sample is judged, and how to fit the rest comes along.
    """
    file, large = find_large(data, reading, wishes, seed), None
    if file is None:
        table = read_table(data, reading)
        tell(f"read {table.data.num_rows} rows, {table.data.num_columns} columns")
        known = infer_schema(table, target, wishes)
    else:
        tell(about_memory(file))
        large = LargeFit(file, target, wishes)
        known = large.known
    for remark in known.warnings:
        tell(remark)
    return known, large


def _fitted(
    classifier: Any, known: PreparedTable, seed: int, stage: Stage, large: LargeFit | None
) -> tuple[Any, HeldOut | None, list[str]]:
    """The fitted pipeline, what it says of held-out rows, and what was warned of on the way."""
    if known.groups is not None and "cv" in classifier.get_params(deep=False):
        classifier.set_params(cv=make_splits(known, seed))
    pipeline = table_pipeline(classifier, scale=not isinstance(classifier, TABLE_MODELS))
    rows, columns = known.frame.shape
    those = f"{rows} rows" if large is None else "all rows"
    stage(f"fitting {type(classifier).__name__} on {those}, {columns} columns", 0, 0)
    caught: list[str] = []
    with _noting(caught), _progress.listening(stage):
        if large is not None:
            return pipeline, large.fitted(pipeline), caught
        pipeline.fit(known.frame, known.labels)
        held = held_out(pipeline, known, seed, lambda k, n: stage("held-out fold", k, n))
    return pipeline, held, caught


def _forget_training_rows(classifier: Any) -> None:
    """Take out what tells about the training rows, one by one: no part of a model to hand on."""
    for name in ("out_of_fold_scores_", "out_of_fold_probabilities_"):
        vars(classifier).pop(name, None)


def _said(settings: Mapping[str, Any] | None, **usual: Any) -> dict[str, Any]:
    """The settings with those among the usual ones that were said."""
    return dict(settings or {}) | {k: value for k, value in usual.items() if value is not None}


def _method_name(method: str | None, quick: bool, tune: bool, of_lcc: list[Any]) -> str:
    if quick and method is not None:
        raise AppError("--quick and --method exclude each other: --quick is a method of its own.")
    if quick:
        return QUICK
    if method is not None:
        return find_method(method)[0]
    asked = tune or any(value is not None for value in of_lcc)
    return PAPER_METHOD if asked else AUTO


def _classifier(
    name: str,
    given: dict[str, Any],
    tune: bool,
    balanced: bool,
    probability: str | None,
    seed: int,
    jobs: int | None,
) -> Any:
    if tune:
        if name not in (PAPER_METHOD, "LCCCV"):
            raise AppError(f"--tune goes with --method lcc; {name} chooses by itself.")
        if "margin" in given:
            raise AppError("--margin and --tune exclude each other: tuning chooses the margin.")
        name = "LCCCV"
        for one, many in (("C", "Cs"), ("discriminator", "discriminators")):
            if one in given:
                given[many] = (given.pop(one),)
    if balanced:
        given["class_weight"] = "balanced"
    if probability not in ("", None):
        given["probability"] = probability
    made = make_classifier(name, given, seed=seed, jobs=jobs)
    if probability is None and "probability" in made.get_params(deep=False):
        made.set_params(probability=None)
    return made


def _check_cut(metric: str | None, threshold: float | None) -> None:
    if metric is not None and threshold is not None:
        raise AppError("--metric and --threshold exclude each other: each of them sets the cut.")
    if metric is not None and metric not in CUT_METRICS:
        raise AppError(f"--metric {metric}: the cut is chosen by {', '.join(CUT_METRICS)}.")
    if threshold is not None and not 0 < threshold < 1:
        raise AppError(f"--threshold {threshold:g} is no probability between 0 and 1.")


@contextmanager
def _noting(lines: list[str]) -> Iterator[None]:
    """Keep what is warned of as lines; what the data make impossible is a sentence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except ValueError as error:
            raise AppError(first_line(error, 400)) from error
    lines += sorted({first_line(warning.message, 400) for warning in caught})


def _judgement(
    classifier: Any,
    known: PreparedTable,
    held: HeldOut | None,
    metric: str | None,
    threshold: float | None,
    positive: Any,
) -> dict[str, Any]:
    """What held-out rows say, and the cut."""
    classes = classifier.classes_
    if held is None:
        if metric is not None:
            raise AppError("--metric needs held-out rows, and a class has one row only.")
        cut = None
        if threshold is not None:
            has = hasattr(classifier, "predict_proba")
            cut = given_cut(threshold, classes, positive, chances=has)
        why = "There is no held-out score: a class has too few rows to be held out."
        return {"held_out": None, "cut": cut and cut.to_json(), "impact": [], "warnings": [why]}
    answers, cut = codes_of(held.scores), None
    if threshold is not None:
        cut = given_cut(threshold, classes, positive, chances=held.chances is not None)
        answers = cut.codes(classes, held.scores, held.chances)
    elif metric is not None:
        cut, answers = chosen_cut(metric, held, classes, positive)
    figure = metric or "balanced_accuracy"
    said = describe_held_out(held, classes, answers, positive, figure, cut)
    doubts = [disagreement(held, classes, cut), *_doubts(said)]
    return {
        "held_out": said,
        "cut": cut.to_json() if isinstance(cut, Cut) else None,
        "impact": most_at_odds(held, classes, known),
        "warnings": [line for line in doubts if line],
    }


def _score_unit(pipeline: Any, known: PreparedTable, held: HeldOut | None) -> float:
    """The distance between the classes on the score, by held-out rows where there are any."""
    if len(pipeline[-1].classes_) > 2 and getattr(pipeline[-1], "multi_class", "ovr") == "ovo":
        return 1.0  # votes have a unit
    if held is None:
        scores, labels = np.asarray(pipeline.decision_function(known.frame)), known.labels
    else:
        scores, labels = held.scores, held.labels
    return score_unit(scores, np.searchsorted(pipeline[-1].classes_, labels))


def _in_units(
    pipeline: Any, known: PreparedTable, held: HeldOut | None
) -> tuple[float, HeldOut | None]:
    """The unit of the scores, and held-out scores in it."""
    unit = _score_unit(pipeline, known, held)
    return unit, None if held is None else held.in_units(unit)


def _doubts(said: dict[str, Any]) -> list[str]:
    """What an honest reader would ask."""
    first = said["scores"][0]
    found = []
    if first["low"] <= first["baseline"]:
        found.append(
            f"On held-out rows the model cannot be told from always answering "
            f"{said['largest_class']}: its interval reaches down to {first['low']:.3f}."
        )
    least = min(sum(row) for row in said["confusion"])
    if least < 20:
        found.append(f"The smallest class has {least} held-out rows: its rates are rough.")
    return found


def _facts(classifier: Any, known: PreparedTable) -> dict[str, Any]:
    """What was fitted, to what."""
    classes, counts = np.unique(known.labels, return_counts=True)
    return {
        "estimator": type(classifier).__name__,
        "settings": {
            key: value
            for key, value in classifier.get_params(deep=False).items()
            if isinstance(value, (str, int, float, bool, type(None)))
        },
        "rows": len(known.labels),
        "classes": {str(plain(c)): int(n) for c, n in zip(classes, counts, strict=True)},
        "features": int(classifier.n_features_in_),
        "certificate": _certificate(classifier),
        "columns": [
            {"column": c.name, "role": c.role, "used_as": c.kind, "remark": c.reason}
            for c in known.columns
        ],
        "remarks": list(known.warnings),
        "shares": _shares(known),
        "data": {"name": known.table.name, "fingerprint": fingerprint(known)},
        "versions": _versions.versions(),
        **tuning_of(classifier),
    }


def _certificate(classifier: Any) -> dict[str, Any] | None:
    """How far from the optimum the model can be; None where the method bounds no distance."""
    if not hasattr(classifier, "duality_gap_"):
        return None
    size = np.maximum(1.0, np.abs(getattr(classifier, "objective_", 1.0)))
    gap = float(np.max(classifier.duality_gap_ / size))
    return {"relative_gap": gap, "certified": gap <= getattr(classifier, "tol", np.inf)}


def _shares(known: PreparedTable) -> dict[str, dict[str, float]]:
    """How often each category occurs, and how often numbers are missing where some are."""
    schema, frame = known.schema, known.frame
    gone = frame[schema.numeric].isna().mean()
    numbers = {name: {schema.missing: float(share)} for name, share in gone.items() if share}
    return numbers | {
        name: {str(k): float(v) for k, v in frame[name].value_counts(normalize=True).items()}
        for name in schema.categorical
    }


def fingerprint(known: PreparedTable) -> str:
    """A digest of what was learned from: equal tables have the same, whatever their format."""
    from pandas.util import hash_pandas_object

    state = hashlib.sha256("\x1f".join(known.frame.columns).encode())
    state.update(np.ascontiguousarray(hash_pandas_object(known.frame, index=False)).tobytes())
    state.update("\x1f".join(map(str, known.labels)).encode())
    return state.hexdigest()[:16]
