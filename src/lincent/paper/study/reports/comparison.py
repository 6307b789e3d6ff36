"""The report of `lincent compare`: which method, by how much, is it real, how long, the code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lincent.paper.study.metrics import METRICS, TITLES
from lincent.paper.study.reports import figures
from lincent.paper.study.reports.notes import HARD_AND_SCORE, IMBALANCE, REAL
from lincent.paper.study.reports.settings import class_counts, settings_section, wall_time
from lincent.paper.study.reports.winner import fit_command, winner_lines, wish_options
from lincent.paper.study.results import StudyResult
from lincent.paper.study.summary import PairedDifference, Standing, lines, pairs
from lincent.report.blocks import (
    Bullets,
    Code,
    Figure,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    columns,
    number,
    probability,
    seconds,
    tabulated,
    text,
    yes_or_no,
)


class Comparison:
    """The numbers behind the report, computed once."""

    def __init__(self, result: StudyResult) -> None:
        self.result = result
        self.problem = result.problems[0]
        self.metric = result.config["metric"]
        self.procedure = result.config["procedure"]
        column = f"test_{self.metric}"
        self.lines = lines(result.frame, self.problem.name, column, self.procedure)
        scored = [line for line in self.lines if np.isfinite(line.mean)]
        self.best: Standing | None = scored[0] if scored else None
        self.second: Standing | None = scored[1] if len(scored) > 1 else None
        self.pairs: list[PairedDifference] = []
        if self.best is not None:
            found = pairs(result.frame, self.problem.name, self.best.method, column, self.procedure)
            order = {line.method: k for k, line in enumerate(self.lines)}
            self.pairs = sorted(found, key=lambda pair: order[pair.method])
        self.near = [pair.method for pair in self.pairs if not pair.real]
        self.behind = [pair.method for pair in self.pairs if pair.real]

    @property
    def scale(self) -> float:
        """Percent for scores, plain for a correlation."""
        return 1.0 if self.metric == "mcc" else 100.0

    @property
    def unit(self) -> str:
        """Name of a unit of difference."""
        return "" if self.metric == "mcc" else " points"

    def score(self, value: float) -> str:
        """Return a score for a sentence."""
        return f"{value:.3f}" if self.metric == "mcc" else f"{100 * value:.1f} %"

    def answer(self) -> tuple[str, ...]:
        """Return two sentences: what is best and by how much; is that real."""
        runs = self.result.config["runs"]
        if self.best is None:
            return ("No method gave a score.", "The table below says why, method by method.")
        first = (
            f"{self.best.method} is best here: {TITLES[self.metric]} {self.score(self.best.mean)} "
            f"on held-out rows, mean of {self.best.runs} splits"
        )
        if self.second is None:
            return (first + ".", "There is nothing to compare it with.")
        gap = self.scale * (self.best.mean - self.second.mean)
        first += f", {gap:.{2 if gap < 1 else 1}f}{self.unit} ahead of {self.second.method}."
        if runs < 3:
            return (first, f"With {runs} split{'s' if runs > 1 else ''} no difference is proved.")
        return (first, self._reality())

    def _reality(self) -> str:
        if not self.near:
            return f"The lead is real over all {len(self.behind)} other methods, after corrections."
        shown = ", ".join(self.near[:4])
        more = f" and {len(self.near) - 4} more" if len(self.near) > 4 else ""
        clear = (
            f"; it is clearly better than {len(self.behind)} other method"
            f"{'s' if len(self.behind) > 1 else ''}"
            if self.behind
            else ""
        )
        return f"It cannot be told apart from {shown}{more}{clear}."


def comparison_page(result: StudyResult) -> Page:
    """Return the report of a comparison."""
    found = Comparison(result)
    name = result.problems[0].name
    sections = [
        _scores(found),
        *([_differences(found)] if found.pairs else []),
        _times(found),
        *([_code(found)] if found.best else []),
        _data(found),
        settings_section(result, _command(result)),
    ]
    config, problem = result.config, found.problem
    facts = (
        ("Rows × columns", f"{problem.rows} × {problem.columns}"),
        ("Classes", class_counts(problem)),
        ("Splits", f"{config['runs']} stratified 70/30" + (" by group" if problem.grouped else "")),
        (
            "Parameters",
            "chosen inside the training part" if found.procedure == "nested" else "defaults",
        ),
        ("Wall time", wall_time(result)),
    )
    versions = config["versions"]
    return Page(
        f"Which classifier for {name}?",
        found.answer(),
        _lead(found),
        facts,
        tuple(sections),
        f"lincent {versions['lincent']}, scikit-learn {versions['scikit-learn']}, "
        f"{config['finished']}, seed {config['seed']}.",
    )


def _lead(found: Comparison) -> Figure | None:
    if found.best is None:
        return None
    title = TITLES[found.metric]
    xlabel = f"{title} on held-out rows" + ("" if found.metric == "mcc" else ", percent")
    svg = figures.score_dots(found.lines, set(found.near), found.best.method, xlabel, found.scale)
    caption = (
        f"Mean {title} over splits with one standard deviation. Strong blue: the best. Light blue: "
        "cannot be told from it. Gray: clearly behind."
    )
    return Figure("scores", svg, f"{title} of every method", caption, _score_table(found))


def _score_table(found: Comparison) -> Table:
    digits = 3 if found.metric == "mcc" else 1
    rows = []
    for line in found.lines:
        mark = "best" if found.best and line.method == found.best.method else ""
        rows.append(
            (
                text(line.method, mark),
                number(found.scale * line.mean, digits, mark=mark),
                number(found.scale * line.sd, digits),
                number(line.runs, 0),
                text(line.reason or "ok", "bad wrap" if line.reason else "quiet"),
            )
        )
    head = columns("Method", "Mean#", "SD#|standard deviation over splits", "Splits#", "Status")
    return Table(head, tuple(rows))


def _scores(found: Comparison) -> Section:
    frame = found.result.frame
    # Of two classes the hard-label AUC is the balanced accuracy, and would stand there twice.
    twice = {"paper_auc"} | ({"hard_auc"} if len(found.problem.classes) == 2 else set())
    metrics = [name for name in METRICS if name not in twice - {found.metric}]
    per_metric = {
        name: {
            line.method: line
            for line in lines(frame, found.problem.name, f"test_{name}", found.procedure)
        }
        for name in metrics
    }
    top = {
        name: max((line.mean for line in table.values() if np.isfinite(line.mean)), default=np.nan)
        for name, table in per_metric.items()
    }
    rows = []
    for line in found.lines:
        cells = [text(line.method)]
        for name in metrics:
            value = per_metric[name][line.method].mean
            scale, digits = (1.0, 3) if name == "mcc" else (100.0, 1)
            cells.append(number(scale * value, digits, mark="best" if value == top[name] else ""))
        failed = f"{line.failed} failed" if line.failed else "ok"
        cells.append(text(failed, "bad" if line.failed else "quiet", line.reason))
        rows.append(tuple(cells))
    head = columns("Method", *(f"{TITLES[name]}#" for name in metrics), "Status")
    caption = (
        "Mean on held-out rows; percent, the correlation apart. The best of each column is marked."
    )
    blocks: list[Any] = [Table(head, tuple(rows), caption), HARD_AND_SCORE]
    failures = [line for line in found.lines if line.reason]
    if failures:
        blocks.append(Paragraph("Marked cells, with the first reason of each method:"))
        blocks.append(
            Bullets(
                tuple(
                    f"{n.method}: {n.failed} of {n.failed + n.runs} splits, {n.reason}"
                    for n in failures
                )
            )
        )
    if found.result.missing:
        blocks.append(Paragraph("Not run:"))
        blocks.append(Bullets(tuple(f"{name}: {why}" for name, why in found.result.missing)))
    return Section("all-scores", "All scores", tuple(blocks))


def _differences(found: Comparison) -> Section:
    assert found.best is not None
    scale, best = found.scale, found.best.method
    digits = 3 if found.metric == "mcc" else 2
    xlabel = f"{best} minus method, {TITLES[found.metric]}" + found.unit
    interval = "95 % interval, corrected for overlapping splits"

    def points(value: float) -> Item:
        return number(scale * value, digits, signed=True)

    table = tabulated(
        found.pairs,
        ("Method", lambda pair: pair.method),
        ("Behind by#|mean paired difference", lambda pair: points(pair.difference.mean)),
        (f"from#|{interval}", lambda pair: points(pair.difference.low)),
        (f"to#|{interval}", lambda pair: points(pair.difference.high)),
        ("Real?", lambda pair: yes_or_no(pair.real, "good", "quiet")),
        ("p#|corrected t test", lambda pair: probability(pair.difference.p)),
        ("p, Holm#|for several comparisons", lambda pair: probability(pair.p_corrected_holm)),
        ("Wilcoxon p#|signed-rank, as in the paper", lambda pair: probability(pair.p_wilcoxon)),
        ("Wilcoxon, Holm#", lambda pair: probability(pair.p_wilcoxon_holm)),
        ("Effect#|rank-biserial correlation", lambda pair: number(pair.effect, 2, signed=True)),
        ("Won / tied / lost", lambda pair: f"{pair.wins} / {pair.ties} / {pair.losses}"),
        caption=f"{best} against each other method.",
    )
    figure = Figure(
        "differences",
        figures.forest(found.pairs, best, scale, xlabel),
        f"How far each method is behind {best}",
        f"How far each method is behind {best}, split by split, with corrected 95 % intervals. "
        "Blue: real after Holm's correction. Gray: could be chance.",
    )
    return Section("differences", "Is the difference real?", (figure, table, REAL))


def _times(found: Comparison) -> Section:
    rows = tuple(
        (text(line.method), seconds(line.seconds), number(line.runs, 0)) for line in found.lines
    )
    limit = found.result.config["time_limit"]
    what = "choice of parameters included" if found.procedure == "nested" else "one fit"
    figure = Figure(
        "times",
        figures.time_dots(found.lines),
        "Median time of one fit",
        f"Median time of a fit ({what}), one thread. A fit that passes {limit:g} s is stopped and "
        "marked.",
        Table(columns("Method", "Median fit#", "Fits#"), rows),
    )
    return Section("times", "How long each took", (figure,))


def _code(found: Comparison) -> Section:
    assert found.best is not None
    chosen = _most_chosen(found)
    method = found.result.method(found.best.method)
    if method.family == "own":
        intro = "The winner is your own method; these lines need its class to be importable."
    else:
        intro = "These lines fit the winner on all rows. They run as they are."
    if chosen:
        intro += " The parameters are those chosen most often inside the training parts."
    code = winner_lines(method, found.problem, found.result.config, chosen)
    blocks: list[Any] = [Paragraph(intro), Code(code)]
    command = best_command(found)
    if command:
        blocks += [
            Paragraph("The same from the command line, with a held-out score:"),
            Code(command),
        ]
    return Section("code", "The winner, ready to run", tuple(blocks))


def best_command(found: Comparison) -> str:
    """The ``lincent fit`` line of the winner, empty where no command fits it."""
    if found.best is None:
        return ""
    method = found.result.method(found.best.method)
    return fit_command(method, found.result.config, _most_chosen(found))


def _most_chosen(found: Comparison) -> dict[str, Any] | None:
    frame = found.result.frame
    assert found.best is not None
    chosen = frame[(frame["method"] == found.best.method) & (frame["chosen"] != "")]["chosen"]
    if chosen.empty:
        return None
    best: dict[str, Any] = json.loads(chosen.value_counts().index[0])
    return best


def _data(found: Comparison) -> Section:
    problem = found.problem
    total = sum(problem.classes.values())
    rows = tuple(
        (text(label), number(count, 0), number(100 * count / total, 1))
        for label, count in problem.classes.items()
    )
    classes = Table(columns("Class", "Rows#", "Percent#"), rows)
    largest, smallest = max(problem.classes.values()), min(problem.classes.values())
    blocks: list[Any] = [classes]
    if largest > 1.5 * smallest:
        blocks.append(
            Paragraph(
                f"The largest class is {largest / smallest:.1f} times the smallest; always "
                f"answering with it would be {100 * largest / total:.1f} % accurate."
            )
        )
    if problem.notes:
        blocks.append(Paragraph("Noticed in the data:"))
        blocks.append(Bullets(problem.notes))
    if problem.categories:
        blocks.append(Paragraph("Categories, one-hot: " + ", ".join(problem.categories) + "."))
    return Section("data", "The data", (*blocks, IMBALANCE))


def _command(result: StudyResult) -> str:
    import shlex

    config = result.config
    parts = ["lincent", "compare", config["data"]]
    if config["target"]:
        parts += ["--target", config["target"]]
    parts += wish_options(config.get("wishes", {}))
    codes = ",".join(method.code for method in result.methods)
    parts += ["--methods", codes, "--runs", str(config["runs"]), "--seed", str(config["seed"])]
    parts += ["--metric", config["metric"], "--time-limit", f"{config['time_limit']:g}"]
    if config["procedure"] == "nested":
        parts.append("--tune")
    return shlex.join(parts)
