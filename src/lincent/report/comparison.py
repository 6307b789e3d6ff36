"""The report of an experiment: which method, by how much, is it real, and how long.

`comparison_page` is the page of ``lincent compare``; `settings_section`, `wall_time` and `footer`
are shared with the pages of the paper's study.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from lincent._console import duration
from lincent._errors import listed
from lincent.model_selection.experiment import METRICS
from lincent.model_selection.runner import ExperimentResult
from lincent.model_selection.statistics import compare_pairs, pivot, summarize
from lincent.report.blocks import (
    Bullets,
    Code,
    Figure,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    chart_figure,
    dots,
    note,
    number,
    probability,
    prose,
    seconds,
    section,
    tabulated,
    text,
    texts_of,
    yes_or_no,
)
from lincent.report.rendering import table_text


class Comparison:
    """The numbers of the report, computed once from the table of results.

    ``lines`` has a row per method, best first (`summarize`); ``pairs`` compares the best with each
    other method (`compare_pairs`); ``near`` are the methods that are not worse than the best by a
    real difference.
    """

    def __init__(self, result: ExperimentResult) -> None:
        self.result, self.config = result, result.config
        self.problem = result.problems[0]
        self.metric, self.procedure = self.config["metric"], self.config["procedure"]
        self.title = METRICS[self.metric]
        frame, name, column = result.frame, self.problem["name"], f"test_{self.metric}"
        self.lines = summarize(frame, name, column, self.procedure)
        self.scored = self.lines[np.isfinite(self.lines["mean"])]
        self.best = str(self.scored["method"].iloc[0]) if len(self.scored) else ""
        order = list(self.lines["method"])
        self.pairs = compare_pairs(frame, name, self.best, column, self.procedure).sort_values(
            "method", key=lambda methods: methods.map(order.index)
        )
        self.near = list(self.pairs["method"][~self.pairs["real"]])
        self.n_worse = int(self.pairs["real"].sum())

    @cached_property
    def method(self) -> dict[str, Any]:
        """The description of the best method."""
        return next(m for m in self.result.methods if m["code"] == self.best)

    @cached_property
    def chosen(self) -> dict[str, Any]:
        """The hyperparameters of the best method that were chosen most often; empty if untuned."""
        frame = self.result.frame
        chosen = frame[(frame["method"] == self.best) & (frame["chosen"] != "")]["chosen"]
        return json.loads(chosen.value_counts().index[0]) if len(chosen) else {}

    def answer(self) -> tuple[str, ...]:
        """Return two sentences: what is best and by how much; is that real."""
        if not self.best:
            return (_text("no-score"), _text("reasons"))
        top, n_splits = self.scored.iloc[0], self.config["runs"]
        splits = "one split" if top["runs"] == 1 else f"mean of {top['runs']} splits"
        lead, real = "", _text("alone")
        if len(self.scored) > 1:
            second = self.scored.iloc[1]
            lead = _text("ahead", gap=top["mean"] - second["mean"], second=second["method"])
            real = _text("real", worse=self.n_worse)
            if n_splits < 3:
                real = _text("few-splits", splits=f"{n_splits} split{'s' * (n_splits > 1)}")
            elif self.near:
                plural = "s" * (self.n_worse > 1)
                worse = f"; {self.n_worse} other method{plural} are behind" if self.n_worse else ""
                real = _text("near", near=listed(self.near, 4), worse=worse)
        fields = {"best": self.best, "title": self.title, "score": top["mean"], "splits": splits}
        return (_text("best", lead=lead, **fields), real)

    def command(self) -> str:
        """Return the ``lincent fit`` line of the best method, empty where no command fits it."""
        config = self.config
        in_file = "reading" in config and config["data"] != "in memory"
        if not (self.best and in_file) or self.method["family"] not in ("centralization", "paper"):
            return ""
        options = {"target": config["target"], "method": self.best, "set": self.chosen}
        options |= table_options(config)
        return command_line("fit", config["data"], **options) + " -o model.lincent"


_text = partial(prose, "comparison")


# ------------------------------------------------------------------------------------- the page


def comparison_page(result: ExperimentResult) -> Page:
    """Return the report of a comparison."""
    comparison = Comparison(result)
    config, problem = result.config, comparison.problem
    sections = [_scores(comparison)]
    if len(comparison.pairs):
        sections.append(_differences(comparison))
    sections.append(_times(comparison))
    if comparison.best:
        sections.append(_winner(comparison))
    sections += [_data(comparison), settings_section(result, _command(result))]
    by_group = " by group" if problem["grouped"] else ""
    nested = comparison.procedure == "nested"
    facts = (
        ("Rows × columns", f"{problem['rows']} × {problem['columns']}"),
        ("Classes", class_counts(problem)),
        ("Splits", f"{config['runs']} stratified 70/30{by_group}"),
        ("Parameters", "chosen inside the training part" if nested else "defaults"),
        ("Wall time", wall_time(result)),
    )
    title = _text("title", name=problem["name"])
    lead = _lead(comparison) if comparison.best else None
    return Page(title, comparison.answer(), lead, facts, tuple(sections), footer(result))


def _lead(comparison: Comparison) -> Figure:
    scored = comparison.scored
    marks = dict.fromkeys(comparison.near, "near") | {comparison.best: "best"}
    mean, sd = (scored[name].fillna(0) for name in ("mean", "sd"))
    chart = dots(
        list(scored["method"]),
        mean.tolist(),
        [marks.get(method, "far") for method in scored["method"]],
        ranges=list(zip(mean - sd, mean + sd, strict=True)),
        shown=[number(value, 3).text for value in mean],
    )
    return chart_figure("scores", chart, numbers=_means(comparison), title=comparison.title)


def _means(comparison: Comparison) -> Table:
    """Return the mean score of each method, and what failed."""

    def best(line: Any) -> str:
        return "best" if line.method == comparison.best else ""

    def status(line: Any) -> Item:
        if not line.failed:
            return text("ok", "quiet")
        return text(f"{line.failed} failed, {line.reason}", "bad wrap")

    return tabulated(
        comparison.lines.itertuples(),
        ("Method", lambda line: text(line.method, best(line))),
        ("Mean#", lambda line: number(line.mean, 3, mark=best(line))),
        ("SD#|standard deviation over splits", lambda line: number(line.sd, 3)),
        ("Splits#", lambda line: number(line.runs, 0)),
        ("Status", status),
    )


def _scores(comparison: Comparison) -> Section:
    # Of two classes the hard-label AUC is the balanced accuracy, and would be shown twice.
    twice = {"paper_auc"} | ({"hard_auc"} if len(comparison.problem["classes"]) == 2 else set())
    metrics = [name for name in METRICS if name not in twice - {comparison.metric}]
    frame, name = comparison.result.frame, comparison.problem["name"]
    table = {m: pivot(frame, name, f"test_{m}", comparison.procedure).mean() for m in metrics}

    def cell(line: Any, metric: str) -> Item:
        value = table[metric].get(line.method, np.nan)
        return number(value, 3, mark="best" if value == table[metric].max() else "")

    scores = tabulated(
        comparison.lines.itertuples(),
        ("Method", lambda line: line.method),
        *((f"{METRICS[m]}#", lambda line, m=m: cell(line, m)) for m in metrics),
        caption=_text("scores"),
    )
    blocks: list[Any] = [scores, note("auc")]
    if comparison.result.missing:
        missing = tuple(f"{name}: {reason}" for name, reason in comparison.result.missing)
        blocks += [Paragraph("Not run:"), Bullets(missing)]
    return section("all-scores", *blocks)


def _differences(comparison: Comparison) -> Section:
    best, pairs = comparison.best, list(comparison.pairs.itertuples())
    interval = "95 % interval, corrected for overlapping splits"
    difference = partial(number, digits=3, signed=True)
    table = tabulated(
        pairs,
        ("Method", lambda pair: pair.method),
        ("Behind by#|mean paired difference", lambda pair: difference(pair.mean)),
        (f"from#|{interval}", lambda pair: difference(pair.low)),
        (f"to#|{interval}", lambda pair: difference(pair.high)),
        ("Real?", lambda pair: yes_or_no(pair.real, "good", "quiet")),
        ("p#|corrected t test", lambda pair: probability(pair.p)),
        ("p, Holm#|for several comparisons", lambda pair: probability(pair.p_holm)),
        ("Wilcoxon p#|signed-rank, as in the paper", lambda pair: probability(pair.wilcoxon)),
        ("Wilcoxon, Holm#", lambda pair: probability(pair.wilcoxon_holm)),
        ("Effect#|rank-biserial correlation", lambda pair: number(pair.effect, 2, signed=True)),
        ("Won / tied / lost", lambda pair: f"{pair.wins} / {pair.ties} / {pair.losses}"),
        caption=_text("differences", best=best),
    )
    mean, low, high = (comparison.pairs[name] for name in ("mean", "low", "high"))
    finite = np.isfinite(low)
    chart = dots(
        list(comparison.pairs["method"]),
        mean.tolist(),
        ["best" if real else "far" for real in comparison.pairs["real"]],
        ranges=list(zip(low.where(finite, mean), high.where(finite, mean), strict=True)),
        shown=[difference(value).text for value in mean],
    )
    figure = chart_figure("differences", chart, best=best, title=comparison.title)
    return section("differences", figure, table, note("real"))


def _times(comparison: Comparison) -> Section:
    lines = comparison.lines.dropna(subset="seconds").sort_values("seconds", kind="stable")
    values = lines["seconds"].clip(lower=1e-5).tolist()
    shown = [seconds(value).text for value in values]
    chart = dots(list(lines["method"]), values, ["near"] * len(values), shown=shown, log=True)
    what = "choice of parameters included" if comparison.procedure == "nested" else "one fit"
    table = tabulated(
        comparison.lines.itertuples(),
        ("Method", lambda line: line.method),
        ("Median fit#", lambda line: seconds(line.seconds)),
        ("Fits#", lambda line: number(line.runs, 0)),
    )
    limit = comparison.config["time_limit"]
    return section("times", chart_figure("times", chart, numbers=table, what=what, limit=limit))


def _winner(comparison: Comparison) -> Section:
    intro, code = _text("command"), comparison.command()
    if not code:
        intro, code = _text("estimator"), estimator_call(comparison.method, comparison.chosen)
    if comparison.chosen:
        intro = _text("chosen", intro=intro)
    return section("winner", Paragraph(intro), Code(code))


def _data(comparison: Comparison) -> Section:
    """Return what was noticed in the data; its classes are among the facts at the top."""
    problem, counts = comparison.problem, comparison.problem["classes"].values()
    blocks: list[Any] = []
    ratio, percent = max(counts) / min(counts), 100 * max(counts) / sum(counts)
    if ratio > 1.5:
        text = _text("imbalance", ratio=ratio, percent=percent)
        blocks += [Paragraph(text), note("imbalance")]
    if problem["notes"]:
        blocks += [Paragraph("Noticed in the data:"), Bullets(tuple(problem["notes"]))]
    if problem["categories"]:
        names = ", ".join(problem["categories"])
        blocks.append(Paragraph(_text("categories", names=names)))
    return section("data", *blocks)


def _command(result: ExperimentResult) -> str:
    config = result.config
    options = {"target": config["target"], **table_options(config)}
    options["methods"] = ",".join(method["code"] for method in result.methods)
    options |= {name: str(config[name]) for name in ("runs", "seed", "metric")}
    options |= {"time-limit": f"{config['time_limit']:g}", "tune": config["procedure"] == "nested"}
    return command_line("compare", config["data"], **options)


def table_options(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a table was read as options of the command line."""
    options, names = config["options"], {"roles": "role", "separator": "sep"}
    given = {name: options.get(name) for name in ("drop", "keep", "roles", "group")}
    return {names.get(k, k): v for k, v in (given | config.get("reading", {})).items()}


# ------------------------------------------------------------------- shared with the paper's pages


def command_line(*words: str, **options: Any) -> str:
    """Return a command of lincent: a flag for True, an option for each entry, none for nothing.

    Examples
    --------
    >>> command_line("fit", "a.csv", drop=["b", "c d"], role={"e": "text"}, dates=True, group=None)
    "lincent fit a.csv --drop b --drop 'c d' --role e=text --dates"
    """
    parts = ["lincent", *words]
    for name, value in options.items():
        if isinstance(value, Mapping):
            value = [f"{key}={entry}" for key, entry in value.items()]
        if value is True:
            parts.append(f"--{name}")
        elif value:
            for entry in [value] if isinstance(value, str) else value:
                parts += [f"--{name}", entry]
    return shlex.join(parts)


def class_counts(problem: Mapping[str, Any]) -> str:
    """Return the classes of a data set with their rows."""
    return ", ".join(f"{label} {count}" for label, count in problem["classes"].items())


def wall_time(result: ExperimentResult) -> str:
    """Return the time of this call and of all fits; a resumed experiment has more of the latter."""
    fits = float(result.frame[["fit_seconds", "score_seconds"]].sum().sum())
    wall, jobs = duration(result.config["wall_seconds"]), result.config["jobs"]
    return _text("wall-time", wall=wall, jobs=jobs, fits=duration(fits))


def footer(result: ExperimentResult) -> str:
    """Return versions, date and seed."""
    config, versions = result.config, result.config["versions"]
    named = {"lincent": versions["lincent"], "sklearn": versions["scikit-learn"]}
    return _text("footer", finished=config["finished"], seed=config["seed"], **named)


def estimator_call(method: Mapping[str, Any], chosen: Mapping[str, Any] = {}) -> str:
    """Return the estimator of a method as it is printed, with the parameters that were chosen."""
    settings = json.loads(method["settings"])
    params = settings["params"] | dict(chosen)
    arguments = ", ".join(f"{name}={value!r}" for name, value in params.items())
    return f"{settings['class'].rpartition('.')[2]}({arguments})"


def settings_section(result: ExperimentResult, command: str) -> Section:
    """Return methods, settings, statistics, versions and the command: all that repeats a run."""
    methods = tabulated(
        result.methods,
        ("Method", lambda method: method["code"]),
        ("What it is", lambda method: text(method["title"], "wrap")),
        ("Settings", lambda method: text(estimator_call(method), "wrap")),
        ("Grid values#|how many values tuning tries", lambda method: number(method["grid"], 0)),
        ("Note", lambda method: text(method["note"], "wrap")),
        caption=_text("methods"),
    )
    problems = tabulated(
        result.problems,
        ("Set", lambda problem: problem["name"]),
        ("What it is", lambda problem: text(problem["title"], "wrap")),
        ("Rows#", lambda problem: number(problem["rows"], 0)),
        ("Columns#", lambda problem: number(problem["columns"], 0)),
        ("Classes", lambda problem: text(class_counts(problem), "wrap")),
        ("Taken from", lambda problem: problem["origin"]),
        ("Licence", lambda problem: text(problem["licence"], "wrap")),
        ("Fingerprint", lambda problem: text(problem["digest"], "quiet")),
    )
    config = result.config
    fields = {key: config[key] for key in ("seed", "jobs", "machine")}
    fields |= {"tests": config["statistics"], "limit": config["time_limit"]}
    versions = ", ".join(f"{name} {version}" for name, version in config["versions"].items())
    facts = [fact.format(**fields, versions=versions) for fact in texts_of("comparison")["facts"]]
    blocks = (Paragraph(_text("repeat")), Code(command), methods, problems, Bullets(tuple(facts)))
    return section("settings", *blocks)


# ------------------------------------------------------------------------ for the command line


def summary_lines(result: ExperimentResult) -> list[str]:
    """Return the answer of a comparison for a terminal."""
    comparison = Comparison(result)
    lines = [*comparison.answer(), "", *table_text(_means(comparison))]
    failed = comparison.lines[comparison.lines["failed"] > 0]
    lines += [f"{line.method}: {line.reason[:80]}" for line in failed.itertuples()]
    return lines + [f"Not run: {name}: {reason}" for name, reason in result.missing]


def summary_dict(result: ExperimentResult) -> dict[str, Any]:
    """Return the winner, every method's mean, and how far each is behind, for a program."""
    comparison = Comparison(result)
    means = comparison.scored.set_index("method")[["mean", "sd", "runs"]]
    behind = comparison.pairs.set_index("method").rename(columns={"mean": "by"})
    return {
        "metric": comparison.metric,
        "winner": comparison.best or None,
        "not_told_apart": comparison.near,
        "means": means.to_dict("index"),
        "behind": behind[["by", "low", "high", "real"]].to_dict("index"),
        "roles": result.config["roles"],
        "fit": comparison.command(),
    }
