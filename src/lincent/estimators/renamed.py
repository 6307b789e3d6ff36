"""Parameters under the names of version 0.1.0: they work for one release, and warn.

``margins`` had three meanings.  It is now what scikit-learn's ``Cs`` is to ``C``: the candidates of
a search for ``margin``.  The range over which a hinge is averaged is ``margin_range``.
"""

from __future__ import annotations

import warnings
from typing import Any

UNUSED = "deprecated"
"""The default of an old name, by scikit-learn's habit."""


def _unused(value: Any) -> bool:
    return isinstance(value, str) and value == UNUSED


def margin_range_of(model: Any) -> Any:
    """``margin_range``, or what was given under its old name."""
    old = getattr(model, "margins", UNUSED)
    return model.margin_range if _unused(old) else old


def warn_of_old_names(model: Any) -> None:
    """Say the new name of a parameter that was given under its old one."""
    if not _unused(getattr(model, "margins", UNUSED)):
        warnings.warn(
            f"The parameter margins of {type(model).__name__} is now called margin_range; the old "
            f"name goes in version 0.3. Give margin_range={model.margins!r}.",
            FutureWarning,
            stacklevel=2,
        )
