"""Classifiers that misbehave, for tests of the runner; importable by worker processes."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Majority(ClassifierMixin, BaseEstimator):
    """Answers with the most frequent class; well behaved, and fast."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)

    def decision_function(self, X):
        return X[:, 0] + self.shift


class Sleeper(Majority):
    def fit(self, X, y):
        time.sleep(600)
        return super().fit(X, y)


class Failing(Majority):
    def fit(self, X, y):
        raise ValueError(f"no solution for {len(X)} rows")


class Dying(Majority):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Chatty(Majority):
    def fit(self, X, y):
        print("a method may print", flush=True)
        os.write(1, b"even past Python\n")
        return super().fit(X, y)


class Napping(Majority):
    """Takes a moment, so that a study can be killed in the middle."""

    def fit(self, X, y):
        time.sleep(0.03)
        return super().fit(X, y)


class Endless(Majority):
    """Marks the process that fits it, in a folder, and does not end."""

    def __init__(self, folder=""):
        self.folder = folder

    def fit(self, X, y):
        with open(os.path.join(self.folder, str(os.getpid())), "w"):
            time.sleep(300)
