"""The options of the command line by name: those of several commands, and the long list of fit."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from lincent._errors import AppError

Names = list[str] | None

Jobs = Annotated[int, typer.Option(help="Worker processes; 0: one per core.", min=0)]
Seed = Annotated[int, typer.Option(help="Seed of all splits.", min=0)]
TimeLimit = Annotated[float, typer.Option(help="Seconds for one fit.")]
Folder = Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the results.")]
Retry = Annotated[bool, typer.Option("--retry", help="Run marked cells of an earlier run again.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]

# How a file is written: found out unless said.
Format = Annotated[
    str | None, typer.Option(help="csv, parquet, arrow, excel or json; else by name or content.")
]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator of a text file, such as ';' or tab.")
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as latin-1.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of a text file: '.' or ','.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook, by title or number.")]

# What the columns are: judged unless said.
Drop = Annotated[Names, typer.Option(help="Column to leave out; repeat.")]
Keep = Annotated[Names, typer.Option(help="Column to use whatever it looks like; repeat.")]
Role = Annotated[
    Names, typer.Option(help="COLUMN=number, category, text, date, identifier or drop; repeat.")
]
Dates = Annotated[bool, typer.Option("--dates", help="Use columns of dates, as numbers.")]
Text = Annotated[bool, typer.Option("--text", help="Use columns of free text, by their words.")]
Id = Annotated[Names, typer.Option("--id", help="Column that identifies a row; repeat.")]
Group = Annotated[
    str | None, typer.Option(help="Column whose equal values stay on one side of a split.")
]

# Of fit: what is fitted to what.
Table = Annotated[
    str,
    typer.Argument(
        help="CSV (any separator, also gzip or zip), Parquet, Feather, Excel or JSON lines; "
        "- is stdin."
    ),
]
Target = Annotated[str, typer.Option(help="Column to predict.")]
NewModel = Annotated[str, typer.Option("-o", "--output", help="Model file to write.")]
Report = Annotated[bool, typer.Option("--report", help="Write an HTML page beside the model.")]
LearningCurve = Annotated[
    bool,
    typer.Option("--learning-curve", help="Also say how the score grows with the rows."),
]
Method = Annotated[
    str | None,
    typer.Option(help="auto (default), linear, additive, structured, kernel, lcc or a class."),
]
Quick = Annotated[bool, typer.Option("--quick", help="One line, not tuned.")]

# Of fit: where the cut between two classes lies.
CutMetric = Annotated[
    str | None,
    typer.Option(help="Move the cut to the best balanced_accuracy, accuracy, f1 or mcc."),
]
Threshold = Annotated[float | None, typer.Option(help="Move the cut to this probability.")]
Positive = Annotated[str | None, typer.Option(help="Class that probability and F1 are about.")]

# Of fit: parameters of the estimator.
Set = Annotated[Names, typer.Option("--set", help="NAME=VALUE of the estimator; repeat.")]
TuneMargin = Annotated[bool, typer.Option("--tune", help="With lcc: choose the margin.")]
Cost = Annotated[float | None, typer.Option("--cost", help="Cost of a unit of slack.")]
Margin = Annotated[float | None, typer.Option(help="With lcc: margin.")]
Discriminator = Annotated[str | None, typer.Option(help="With lcc: distance, nearest or svm.")]
Balanced = Annotated[bool, typer.Option("--balanced", help="Give the classes equal total cost.")]
MultiClass = Annotated[str | None, typer.Option(help="ovr or ovo, for many classes.")]
Probability = Annotated[
    str, typer.Option(help="sigmoid, isotonic or none, where there is a choice.")
]

# Of reproduce and compare.
FewSplits = Annotated[bool, typer.Option("--quick", help="A few splits, under two minutes.")]
TableOrSet = Annotated[str, typer.Argument(help="A table (see fit), or a data set's name.")]
Classes = Annotated[str | None, typer.Option(help="Column with the classes.")]
Methods = Annotated[str, typer.Option(help="Names, or package.module:Class, comma-separated.")]
Score = Annotated[str, typer.Option(help="The score that decides.")]
Runs = Annotated[int, typer.Option(help="Stratified 70/30 splits.", min=1)]
TuneInside = Annotated[bool, typer.Option("--tune", help="Choose parameters inside training.")]
Contributions = Annotated[
    bool,
    typer.Option("--contributions", help="What each column adds to the score, for sums of them."),
]


def parse_settings(said: list[str] | None) -> dict[str, Any]:
    """``["C=2", "norm=l1"]`` as ``{"C": 2, "norm": "l1"}``."""
    found: dict[str, Any] = {}
    for text in said or ():
        name, mark, value = text.partition("=")
        if not mark or not name.isidentifier():
            raise AppError(f"--set {text}: write NAME=VALUE, such as C=2.")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
