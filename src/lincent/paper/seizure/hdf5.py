"""MAT v7.3, which is HDF5: the same variables as in v5, read by h5py.

MATLAB writes columns first, so matrices come transposed; text is an array of character codes, and a
structure is a group whose members keep the order of creation.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from lincent.paper.seizure.layout import SegmentError


def read_hdf5(path: Path, content: bytes, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the wanted variables; ``channels`` as a tuple of names."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f'{path.name} is a MAT v7.3 file and needs h5py: pip install "lincent[eeg]".'
        ) from error
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            found: dict[str, Any] = {
                name: np.asarray(file[name]).T
                for name in wanted
                if name in file and name != "channels"
            }
            if "channels" in file:
                found["channels"] = _names(file, file["channels"])
            return found
    except Exception as error:  # a damaged file can make the reader raise nearly anything
        raise SegmentError(
            f"{path.name} ({len(content)} bytes) cannot be read as a MAT v7.3 file, it is "
            f"truncated or not one ({type(error).__name__}: {' '.join(str(error).split())})."
        ) from error


def _names(file: Any, channels: Any) -> tuple[str, ...]:
    if hasattr(channels, "keys"):
        fields = channels.attrs.get("MATLAB_fields")
        order = ["".join(_char(c) for c in name) for name in fields] if fields is not None else None
        return tuple(_text(file, channels[key]) for key in order or list(channels))
    return tuple(_text(file, file[reference]) for reference in np.ravel(channels[()]))


def _text(file: Any, item: Any) -> str:
    codes = np.ravel(np.asarray(item).T)
    if codes.dtype.kind == "O":  # a cell that points to the text
        return _text(file, file[codes[0]])
    return "".join(_char(code) for code in codes)


def _char(code: Any) -> str:
    return code.decode() if isinstance(code, bytes) else chr(int(code))
