"""
How do EEG recordings become rows?
==================================

The paper's twelve subjects are one-second recordings with and without a seizure. Synthetic
substitutes of one subject's shape show the way from files to features, events and splits; with the
challenge's own files the same lines read those.
"""

import shutil
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC
from lincent.paper import seizure as eeg
from lincent.paper.study import reproduce_seizure

root = Path(tempfile.mkdtemp())
subject: eeg.Subject = eeg.find_subject("Dog_1")
folder = eeg.write_synthetic(root, subject, ictal=36, interictal=60, random_state=0)
print(
    len(eeg.SUBJECTS),
    "subjects in the paper; folders here:",
    [p.name for p in eeg.find_subjects(root)],
)

# %%
# Files
# -----
files = eeg.list_segments(folder)
path, segment = next(iter(eeg.iter_segments(files)))
same: eeg.Segment = eeg.read_segment(segment.path)
print(same.data.shape, "samples at", round(same.rate), "Hz; kind:", path.kind)
copy = eeg.write_segment(root / "copy.mat", same.data, same.rate, same.channels, same.latency)
(root / "broken.mat").write_bytes(copy.read_bytes()[:400])
try:
    eeg.read_segment(root / "broken.mat")
except eeg.SegmentError as error:
    print("a broken file:", str(error).split(";")[0][:90].replace(str(root), "..."))

# %%
# Features
# --------
# Magnitudes of 1 to 49 Hz for every channel; segments of one seizure belong together.
table: eeg.SubjectFeatures = eeg.extract_features(folder)
pieces = sum(1 for _ in eeg.iter_features(folder))
print(table.X.shape, "features,", pieces, "pieces when read piece by piece")
spectrum = eeg.fft_magnitude(same.data)
as_a_step = eeg.FFTMagnitude(n_channels=len(same.channels)).fit_transform(same.data.reshape(1, -1))
print("one second:", spectrum.shape, "and as a step of a pipeline:", as_a_step.shape)
print(
    "differs from the paper:",
    eeg.differences(subject, ictal=36, interictal=60, channels=16, rate=400)[0],
)
events = eeg.find_events(table.latency[table.y == "ictal"])
print(
    events.max() + 1, "seizures; groups:", len(np.unique(eeg.split_groups(table.y, table.events)))
)

# %%
# Splits that keep a seizure on one side
# --------------------------------------
splitter = eeg.EventShuffleSplit(n_splits=5, random_state=0)
recordings = eeg.by_recording(n_splits=1)
Z = StandardScaler().fit_transform(table.X)
scores = []
for train, test in splitter.split(Z, table.y, table.events):
    scores.append(RegularizedLCC().fit(Z[train], table.y[train]).score(Z[test], table.y[test]))
print("held-out seizures:", np.round(scores, 2), type(recordings).__name__)

# %%
# The whole study by one function
# -------------------------------
# A damaged recording is an error, or with ``lenient`` it is left out and counted.
shutil.copy(root / "broken.mat", folder / "Synthetic_Dog_1_ictal_segment_99.mat")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", eeg.SkippedSegmentsWarning)
    warnings.simplefilter("ignore", eeg.DamagedCacheWarning)
    study = reproduce_seizure(folder, methods=["LCC"], runs=2, lenient=True, folder=root / "study")
print(len(study.frame), "fits")

# %%
# What the two kinds look like
# ----------------------------
X, y, _ = eeg.make_synthetic_features(subject, ictal=36, interictal=60, random_state=0)
seconds = list(eeg.synthetic_seconds(subject, ictal=1, interictal=1, random_state=0))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
for second, color in zip(seconds[:1] + seconds[-1:], ("#B4421E", "#0072B2"), strict=True):
    left.plot(np.asarray(second.data)[0], color=color, lw=0.8)
left.set(xlabel="sample", ylabel="first channel", title="one second: seizure (red), none (blue)")
for kind, color in (("ictal", "#B4421E"), ("interictal", "#0072B2")):
    spectrum = np.median(X[y == kind].reshape(-1, 16, 49), axis=(0, 1))
    right.semilogy(range(1, 50), spectrum, color=color, label=kind)
right.set(xlabel="Hz", ylabel="median magnitude")
right.legend(frameon=False)
plt.show()
