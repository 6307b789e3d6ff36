"""Matplotlib drawings as SVG that takes its colors from the page.

Each color is drawn as a placeholder and replaced by a style variable: one drawing serves light,
dark and print. Text stays text, never read as mathematics: a column may be called ``$x``.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lincent._errors import import_optional, printable
from lincent.inspection.displays import COLORS, INK, LIGHT

_NAMES = (
    "ink", "muted", "line", "paper", "s1", "s2", "s3", "s4", "s5", "s6", "area1", "area2",
)  # fmt: skip
COLOR = {name: f"#0a0b{position + 16:02x}" for position, name in enumerate(_NAMES)}
_VARIABLE = {value: f"var(--{name})" for name, value in COLOR.items()}
# The colors of the two classes, and white under and around markers.
_THEME = ("s1", "s2", "area1", "area2", "ink", "paper")
for _color, _name in zip((*COLORS, *LIGHT, INK, "#ffffff"), _THEME, strict=True):
    _VARIABLE[_color] = f"var(--{_name})"
REM_PER_INCH = 5.75
"""Eleven points of matplotlib are then 14 pixels, the size of a table's letters."""
SERIES = tuple(COLOR[f"s{k}"] for k in range(1, 7))


@contextmanager
def drawing(width: float, height: float, **layout: Any) -> Iterator[tuple[Any, Any]]:
    """Open a figure with the look of the reports and close it after use."""
    matplotlib = import_optional("matplotlib", "app", "A report")
    from matplotlib.figure import Figure

    muted = ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "xtick.labelcolor")
    hidden = ("text.parse_math", "axes.spines.top", "axes.spines.right", "legend.frameon")
    settings: Any = {
        **dict.fromkeys(muted, COLOR["muted"]),
        **dict.fromkeys(("axes.titlecolor", "text.color", "ytick.labelcolor"), COLOR["ink"]),
        **dict.fromkeys(hidden, False),
        **{"grid.color": COLOR["line"], "svg.fonttype": "none"},
        **{"font.size": 11, "axes.titlesize": 11, "legend.fontsize": 10},
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        make = figure.subplot_mosaic if "mosaic" in layout else figure.subplots
        yield figure, make(**layout)


def to_svg(figure: Any, name: str) -> str:
    """Return a figure as an SVG element with colors from the page and ids of its own."""
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    buffer = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}),
        warnings.catch_warnings(),
    ):
        # The page's own fonts draw the text; which signs matplotlib's font has does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    for placeholder, variable in _VARIABLE.items():
        svg = re.sub(placeholder, variable, svg, flags=re.I)
    prefix = re.sub(r"[^a-z0-9]", "", name.lower())
    svg = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\1{prefix}-", svg)
    # One scale for all: letters of the page's size, and a narrow page shrinks a drawing.
    svg = re.sub(r' (?:width|height)="[^"]*"', "", svg, count=2)
    width = REM_PER_INCH * figure.get_figwidth()
    return svg.replace("<svg", f'<svg style="width: {width:.4g}rem"', 1)
