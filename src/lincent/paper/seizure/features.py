"""The paper's features of a segment: FFT magnitudes, 1 to 49 Hz, channels one after another.

With N samples x_0 ... x_{N-1} of one channel in one second,

    X_k = | sum_t x_t exp(-2 pi i k t / N) |,        k = 1 ... 49

where bin k lies at k · rate / N hertz: k Hz for a segment of one second. Sixteen channels give
16 × 49 = 784 features. The paper writes "1 to 50 Hz" and 49 values, so 50 is left out, and so is
the constant part, k = 0. A channel without movement has 49 zeros.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from lincent.paper.seizure.layout import SegmentError
from lincent.paper.seizure.reader import Segment

LOW, HIGH = 1, 49
SECOND_TOLERANCE = 0.1


def fft_magnitude(data: np.ndarray, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return the magnitudes of bins ``low`` to ``high``, channels one after another.

    Parameters
    ----------
    data : ndarray of shape (..., n_channels, n_samples)
        The samples, one line per channel.
    low : int, default=LOW
        The first frequency.
    high : int, default=HIGH
        The last frequency.

    Returns
    -------
    ndarray of shape (..., n_channels * (high - low + 1))
        The magnitudes.
    """
    from scipy.fft import rfft

    part = np.abs(rfft(data, axis=-1)[..., low : high + 1])
    return np.asarray(part.reshape(*data.shape[:-2], -1))


def segment_features(segment: Segment, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return the features of one segment, which must be about one second long."""
    if abs(segment.duration - 1) > SECOND_TOLERANCE:
        raise SegmentError(
            f"{segment.path.name} lasts {segment.duration:.3g} s ({segment.data.shape[1]} samples "
            f"at {segment.rate:g} Hz); FFT bin k means k Hz only for one second."
        )
    if segment.data.shape[1] // 2 < high:
        raise SegmentError(
            f"{segment.path.name} has {segment.data.shape[1]} samples, which reach "
            f"{segment.data.shape[1] // 2} Hz; {high} Hz are asked for."
        )
    return fft_magnitude(segment.data, low, high)


class FFTMagnitude(TransformerMixin, BaseEstimator):
    """FFT magnitudes of one-second segments, channels one after another.

    Parameters
    ----------
    n_channels : int, default=1
        Channels in a row of a two-dimensional X; a three-dimensional X has its own.
    low, high : int, default=1, 49
        First and last bin, both included; a bin is a hertz for segments of one second.

    Attributes
    ----------
    n_channels_, n_samples_ : int
        Shape of a segment.
    n_features_in_ : int
        Their product.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.seizure import FFTMagnitude
    >>> wave = np.sin(2 * np.pi * 10 * np.arange(400) / 400)
    >>> features = FFTMagnitude().fit_transform(wave[None])
    >>> features.shape, int(features.argmax()) + 1
    ((1, 49), 10)
    """

    def __init__(self, n_channels: int = 1, *, low: int = LOW, high: int = HIGH) -> None:
        self.n_channels = n_channels
        self.low = low
        self.high = high

    def fit(self, X: Any, y: Any = None) -> FFTMagnitude:
        """Learn the shape of a segment.

        Parameters
        ----------
        X : array-like of shape (n_segments, n_channels * n_samples) or \
                (n_segments, n_channels, n_samples)
            The segments.
        y : ignored
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = self._checked(X)
        channels = X.shape[1] if X.ndim == 3 else self._channels()
        width = int(np.prod(X.shape[1:]))
        if width % channels:
            raise ValueError(f"A row has {width} values, which {channels} channels do not divide.")
        samples = width // channels
        if not all(isinstance(bin, Integral) for bin in (self.low, self.high)) or not (
            0 <= self.low <= self.high <= samples // 2
        ):
            raise ValueError(
                f"Bins {self.low!r} to {self.high!r} are not in 0 to {samples // 2}, what "
                f"{samples} samples have; give segments of one second, or other bins."
            )
        self.n_channels_, self.n_samples_, self.n_features_in_ = channels, samples, width
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the magnitudes.

        Parameters
        ----------
        X : array-like, as in `fit`
            The rows.

        Returns
        -------
        ndarray of shape (n_segments, n_channels * (high - low + 1))
            One column per feature of the map.
        """
        check_is_fitted(self)
        X = self._checked(X)
        width = int(np.prod(X.shape[1:]))
        if width != self.n_features_in_ or (X.ndim == 3 and X.shape[1] != self.n_channels_):
            raise ValueError(
                f"X has {width} features, but FFTMagnitude is expecting {self.n_features_in_} "
                f"features as input: {self.n_channels_} channels of {self.n_samples_} samples."
            )
        shape = (len(X), self.n_channels_, self.n_samples_)
        return fft_magnitude(X.reshape(shape), self.low, self.high)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return ``channel Hz`` names; ``input_features`` may name the channels.

        Parameters
        ----------
        input_features : object, default=None
            Ignored: the names follow from the channels.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self)
        names = [f"ch{k}" for k in range(self.n_channels_)]
        if input_features is not None and len(input_features) == self.n_channels_:
            names = [str(name) for name in input_features]
        return feature_names(names, self.low, self.high)

    def _channels(self) -> int:
        if not isinstance(self.n_channels, Integral) or self.n_channels < 1:
            raise ValueError(f"n_channels is a number of channels, got {self.n_channels!r}.")
        return int(self.n_channels)

    def _checked(self, X: Any) -> np.ndarray:
        X = check_array(X, allow_nd=True, dtype=[np.float64, np.float32], estimator=self)
        if X.ndim > 3:
            raise ValueError(f"X has {X.ndim} dimensions, expected 2 or 3.")
        return np.asarray(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


def feature_names(channels: Any, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return ``"<channel> <k>Hz"`` for each feature, in order."""
    return np.array([f"{name} {k}Hz" for name in channels for k in range(low, high + 1)], object)
