"""JSON looked at as bytes before it is parsed, in time and memory proportional to them.

Without its escapes every quote of a text opens or closes a string, so that what is outside of
strings, and how deep it lies, is a matter of running sums.  Text that is no JSON is seen right up
to its first error, where a parser stops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
BLANKS = b" \t\r\n"


def outside_strings(data: bytes) -> Bytes:
    """The bytes that are not in strings, the quotes that open one among them."""
    plain = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    quotes = plain == ord('"')
    within = np.logical_xor.accumulate(quotes)
    return np.asarray(plain[within == quotes])


def only_objects(data: bytes) -> bool:
    """Whether nothing but objects and blanks is at the top of a text."""
    bare = outside_strings(data)
    change = (bare == ord("{")).astype(np.int8) - (bare == ord("}")).astype(np.int8)
    top = bare[(np.cumsum(change, dtype=np.int32) <= 0) & (bare != ord("}"))]
    return not top.tobytes().strip(BLANKS)
