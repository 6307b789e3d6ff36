"""The public names, by section. The API pages are written from this list and from nothing else.

A test compares it with every ``__all__``: a name that is public and not here, or here and not
public, fails.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass

PRESENT = "0.1.0"
"""The version of names that ADDED does not list."""

ADDED = {
    "lincent.AdditiveLCC": "0.2.0",
    "lincent.AdditiveLCCCV": "0.2.0",
    "lincent.AutoLCC": "0.2.0",
    "lincent.batches": "0.2.0",
    "lincent.show_versions": "0.2.0",
    "lincent.features.KernelLandmarks": "0.2.0",
    "lincent.features.LocalCenters": "0.2.0",
    "lincent.features.SplineFeatures": "0.2.0",
    "lincent.features.TableEncoder": "0.2.0",
    "lincent.features.TreeLeaves": "0.3.0",
    "lincent.inspection.contributions": "0.3.0",
    "lincent.problems.MarginLoss": "0.3.0",
}
"""Full name: the version it came with."""


@dataclass(frozen=True)
class Group:
    """Names that belong together on a page."""

    title: str
    names: tuple[str, ...]
    text: str = ""


@dataclass(frozen=True)
class Module:
    """One public module: one page."""

    name: str
    title: str
    text: str
    groups: tuple[Group, ...]

    def names(self):
        return [name for group in self.groups for name in group.names]


FIRST = (
    "lincent.AutoLCC",
    "lincent.AdditiveLCCCV",
    "lincent.RegularizedLCC",
    "lincent.RegularizedLCCCV",
    "lincent.StructuredLCC",
    "lincent.LCC",
    "lincent.workflow.fit_table",
    "lincent.workflow.predict_table",
    "lincent.model_selection.compare",
)
"""What most people look up, at the top of the index."""

MODULES = (
    Module(
        "lincent",
        "Classifiers",
        "The centralization family. All are scikit-learn classifiers; which one to take is the "
        "question of :doc:`/guide/which`.",
        (
            Group(
                "Automatic model selection",
                ("AutoLCC",),
                "For tables as they are, with missing values and categories: selects and averages "
                "the best of several models by cross-validation.",
            ),
            Group(
                "Regularized classifiers",
                (
                    "AdditiveLCC",
                    "AdditiveLCCCV",
                    "RegularizedLCC",
                    "RegularizedLCCCV",
                    "StructuredLCC",
                    "StructuredLCCCV",
                ),
                "A smooth loss, balanced classes and a free threshold: linear, with a curve per "
                "column, or with local centers.",
            ),
            Group(
                "The paper's methods",
                ("LCC", "LCCCV", "lcc_path", "FQCC", "KernelLCC"),
                "Optima of linear programs, each with a certificate (FQCC: a local optimum).",
            ),
            Group("Data in pieces, and versions", ("batches", "show_versions")),
        ),
    ),
    Module(
        "lincent.workflow",
        "From a table to answers",
        "The functions behind ``lincent fit``, ``predict``, ``explain`` and ``check``.",
        (
            Group(
                "Models of tables",
                (
                    "fit_table",
                    "predict_table",
                    "predict_file",
                    "explain_model",
                    "check_table",
                    "Model",
                ),
            ),
        ),
    ),
    Module(
        "lincent.export",
        "Model files and exports",
        "Models stored safely, and written as ONNX, SQL or Python.",
        (Group("Files", ("save_model", "load_model", "export_model")),),
    ),
    Module(
        "lincent.inspection",
        "Figures and contributions",
        "Figures as objects: ``from_estimator``, ``plot(ax=)``, and ``frame()``: the numbers.",
        (
            Group(
                "Displays",
                (
                    "ProjectionDisplay",
                    "DirectionDisplay",
                    "BoundaryDisplay",
                    "ImpactDisplay",
                    "PathDisplay",
                    "CoefficientsDisplay",
                    "ScoresDisplay",
                    "ShapeDisplay",
                ),
            ),
            Group(
                "Contributions",
                ("contributions",),
                "What each column adds to the score of a row, for any classifier.",
            ),
        ),
    ),
    Module(
        "lincent.model_selection",
        "Model selection",
        "Comparisons of methods with splits, statistics and a table of results.",
        (
            Group("Comparisons", ("compare", "make_problem", "Problem")),
            Group("Methods", ("Method", "list_methods", "find_method")),
            Group("Plans and runs", ("Plan", "plan_runs", "run_plan")),
            Group("Results", ("ExperimentResult", "load_result", "read_runs")),
        ),
    ),
    Module(
        "lincent.features",
        "Feature maps",
        "The feature maps of the nonlinear estimators as transformers: a linear classifier on the "
        "mapped features is nonlinear in the original ones.",
        (
            Group(
                "Transformers",
                ("SplineFeatures", "LocalCenters", "KernelLandmarks", "TreeLeaves", "TableEncoder"),
            ),
        ),
    ),
    Module(
        "lincent.problems",
        "Losses",
        "What a loss has to provide to be minimized, with a certificate, by the solvers here.",
        (Group("Base class", ("MarginLoss",)),),
    ),
    Module(
        "lincent.paper.study",
        "The paper's study",
        "The experiments of the paper, run again.",
        (Group("Studies", ("reproduce", "reproduce_seizure", "Extent", "load_problem")),),
    ),
    Module(
        "lincent.paper.baselines",
        "Baselines",
        "The seven methods that the paper compares with, and a plain minimax probability machine.",
        (
            Group(
                "Classifiers",
                (
                    "RegularizedLDA",
                    "LinearSVM",
                    "DiscriminativeLeastSquares",
                    "MinimaxProbabilityMachine",
                    "StructuralMPM",
                    "TwinSVC",
                    "WeightedTwinSVC",
                    "DiscriminativeElasticNet",
                ),
            ),
            Group("As the paper scores one of them", ("column_mean_auc",)),
        ),
    ),
    Module(
        "lincent.paper.datasets",
        "Data sets",
        "The paper's data sets by name, looked up offline first, and generators.",
        (
            Group(
                "Real data",
                (
                    "load_dataset",
                    "list_datasets",
                    "DatasetRecord",
                    "cache_folder",
                    "DatasetNotFoundError",
                    "DatasetChecksumError",
                ),
            ),
            Group("Generators", ("make_noisy_classes", "make_paper_example", "paper_covariances")),
        ),
    ),
    Module(
        "lincent.paper.seizure",
        "EEG recordings",
        "From raw recordings of the seizure study to features, events and splits.",
        (
            Group(
                "Recordings",
                (
                    "SUBJECTS",
                    "Subject",
                    "find_subject",
                    "find_subjects",
                    "Segment",
                    "list_segments",
                    "read_segment",
                    "SegmentError",
                ),
            ),
            Group(
                "Features",
                (
                    "extract_features",
                    "SubjectFeatures",
                    "fft_magnitude",
                    "differences",
                ),
            ),
            Group(
                "Events and splits",
                ("find_events", "split_groups", "EventShuffleSplit"),
            ),
        ),
    ),
)


def _title(text, line="="):
    return [text, line * len(text), ""]


def _listing(module, group):
    things = {name: getattr(importlib.import_module(module.name), name) for name in group.names}
    documented = [n for n, t in things.items() if inspect.isclass(t) or inspect.isroutine(t)]
    lines = [*_title(group.title, "-"), group.text, ""]
    lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in documented] + [""]
    for name in (n for n in group.names if n not in documented):
        lines += [f".. autodata:: {name}", "   :no-value:", ""]
    return lines


def sections():
    """Page name: text, for the index and each module."""
    index = [
        *_title("API reference"),
        "Every public class and function, with its examples. All other names are private.",
        "",
        *_title("Start here", "-"),
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *(f"   ~{name}" for name in FIRST),
        "",
        *_title("All modules", "-"),
        ".. toctree::",
        "   :maxdepth: 2",
        "",
        *(f"   {module.name}" for module in MODULES),
        "",
    ]
    pages = {"index": "\n".join(index)}
    for module in MODULES:
        lines = [*_title(f"{module.name}: {module.title.lower()}"), module.text, ""]
        lines += [f".. currentmodule:: {module.name}", ""]
        for group in module.groups:
            lines += _listing(module, group)
        pages[module.name] = "\n".join(lines)
    return pages
