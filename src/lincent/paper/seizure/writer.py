"""Writes segment files in the challenge's layout, as its own files are: MAT v5, uncompressed.

The names of the electrodes are the values of a structure, and its field names are mangled as in the
original files, so that a reader that takes the wrong ones is found out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lincent._files import whole_file


def write_segment(
    path: str | os.PathLike[str],
    data: np.ndarray,
    rate: float,
    channels: Sequence[str],
    latency: float | None = None,
) -> Path:
    """Write one segment, whole or not at all.

    Parameters
    ----------
    path : path
        ``<Subject>/<Subject>_<kind>_segment_<N>.mat``.
    data : ndarray of shape (n_channels, n_samples)
        The samples, one line per channel.
    rate : float
        Samples per second.
    channels : sequence of str
        The electrodes.
    latency : float or None
        Only for ictal segments.

    Returns
    -------
    Path
        The file.
    """
    from scipy.io import savemat

    if len(channels) != len(data):
        raise ValueError(f"{len(channels)} channel names for {len(data)} rows of data.")
    fields = {f"X.{re.sub(r'[^A-Za-z0-9_]', '.', name)}.": name for name in channels}
    if len(fields) != len(channels):
        raise ValueError("Two channels have the same name; give each its own.")
    variables = {"data": np.asarray(data, dtype=float), "freq": np.array([float(rate)])}
    variables["channels"] = fields  # type: ignore[assignment]
    if latency is not None:
        variables["latency"] = np.array([float(latency)])
    with whole_file(path, force=True) as sink:
        savemat(sink, variables, long_field_names=True, oned_as="row")
    return Path(path)
