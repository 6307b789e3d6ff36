"""
Texts: which part of scikit-learn does a docstring come from?
=============================================================

Real texts that every reader has: the docstrings of scikit-learn's classes and functions, cut into
paragraphs. Words become tf-idf columns, thousands of them and nearly all zero. A linear model is
the right tool, and its words can be read.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit

from lincent import RegularizedLCC

texts, parts, owners = [], [], []
for part in ("linear_model", "ensemble", "cluster", "preprocessing", "metrics"):
    module = importlib.import_module(f"sklearn.{part}")
    for name in module.__all__:
        doc = inspect.getdoc(getattr(module, name)) or ""
        paragraphs = [p for p in doc.split("\n\n") if len(p.split()) >= 12 and ">>>" not in p]
        texts += paragraphs
        parts += [part] * len(paragraphs)
        owners += [name] * len(paragraphs)
texts, parts = np.array(texts), np.array(parts)
print(f"{len(texts)} paragraphs")

# %%
# Paragraphs of one docstring stay on one side of the split
# ---------------------------------------------------------
train, test = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(texts, groups=owners))
words = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=r"[a-z]{3,}")
X_train, X_test = words.fit_transform(texts[train]), words.transform(texts[test])
print(f"{X_train.shape[1]} words, {X_train.nnz / np.prod(X_train.shape):.1%} of the cells are used")
for model in (RegularizedLCC(C=10.0), LogisticRegression(C=10.0, class_weight="balanced")):
    score = model.fit(X_train, parts[train]).score(X_test, parts[test])
    print(f"{type(model).__name__:20s} {score:.3f} of the paragraphs right")

# %%
# The words of each part
# ----------------------
model = RegularizedLCC(C=10.0, multi_class="ovr").fit(X_train, parts[train])
names = words.get_feature_names_out()
figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
for part, coef, ax in zip(model.classes_, model.coef_, axes, strict=True):
    top = np.argsort(coef)[-8:]
    ax.barh(names[top], coef[top], color="#0072B2")
    ax.set_title(part, fontsize=10)
plt.show()
