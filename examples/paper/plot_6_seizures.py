"""
How do EEG recordings become rows?
==================================

The paper's twelve subjects are one-second recordings with and without a seizure. Synthetic files
in the layout of one subject show the way from files to features, events and splits; with the
challenge's own files the same lines read those.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.io import savemat
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC
from lincent.paper import seizure as eeg
from lincent.paper.study import reproduce_seizure

root = Path(tempfile.mkdtemp())
subject: eeg.Subject = eeg.find_subject("Dog_1")
folder = root / "Synthetic_Dog_1"
folder.mkdir()
rng = np.random.default_rng(0)
times = np.arange(400) / 400
channels = {f"c{k}": f"channel {k}" for k in range(16)}
for kind, count in (("ictal", 36), ("interictal", 60)):
    for number in range(count):
        data = rng.normal(size=(16, 400)).cumsum(axis=1)  # slow waves are stronger than fast ones
        if kind == "ictal":
            data += 15 * rng.random() * np.sin(2 * np.pi * (3 * times + rng.random()))
        content = {"data": data, "freq": 400.0, "latency": number % 12, "channels": channels}
        savemat(folder / f"{folder.name}_{kind}_segment_{number + 1}.mat", content)
print(
    len(eeg.SUBJECTS),
    "subjects in the paper; folders here:",
    [p.name for p in eeg.find_subjects(root)],
)

# %%
# Files
# -----
files = eeg.list_segments(folder)
first = files[0]
same: eeg.Segment = eeg.read_segment(first.path)
print(same.data.shape, "samples at", round(same.rate), "Hz; kind:", first.kind)
(root / "broken.mat").write_bytes(first.path.read_bytes()[:400])
try:
    eeg.read_segment(root / "broken.mat")
except eeg.SegmentError as error:
    print("a broken file:", str(error).split(";")[0][:90].replace(str(root), "..."))

# %%
# Features
# --------
# Magnitudes of 1 to 49 Hz for every channel; segments of one seizure belong together.
table: eeg.SubjectFeatures = eeg.extract_features(folder)
print(table.X.shape, "features; one second:", eeg.fft_magnitude(same.data).shape)
print(
    "differs from the paper:",
    eeg.differences(subject, ictal=36, interictal=60, channels=16, rate=400)[0],
)
events = eeg.find_events(table.latency[table.y == "ictal"])
print(events.max() + 1, "seizures; groups:", len(np.unique(eeg.split_groups(table.events))))

# %%
# Splits that keep a seizure on one side
# --------------------------------------
splitter = eeg.EventShuffleSplit(n_splits=5, random_state=0)
Z = StandardScaler().fit_transform(table.X)
scores = []
for train, test in splitter.split(Z, table.y, table.events):
    scores.append(RegularizedLCC().fit(Z[train], table.y[train]).score(Z[test], table.y[test]))
print("held-out seizures:", np.round(scores, 2))

# %%
# The whole study by one function
# -------------------------------
study = reproduce_seizure(folder, methods=["LCC"], runs=2, folder=root / "study")
print(len(study.frame), "fits")

# %%
# What the two kinds look like
# ----------------------------
seconds = [eeg.read_segment(files[k].path) for k in (0, -1)]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
for second, color in zip(seconds, ("#B4421E", "#0072B2"), strict=True):
    left.plot(second.data[0], color=color, lw=0.8)
left.set(xlabel="sample", ylabel="first channel", title="one second: seizure (red), none (blue)")
for kind, color in (("ictal", "#B4421E"), ("interictal", "#0072B2")):
    spectrum = np.median(table.X[table.y == kind].reshape(-1, 16, 49), axis=(0, 1))
    right.semilogy(range(1, 50), spectrum, color=color, label=kind)
right.set(xlabel="Hz", ylabel="median magnitude")
right.legend(frameon=False)
plt.show()
