"""
NumPy or SciPy: which words give a sentence away?
=================================================

Text as a sparse matrix of word counts, thousands of columns, nearly all zeros. The L1 form keeps a
few words. The text is what is at hand without a network: the docstrings of two libraries.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from lincent import RegularizedLCC


def paragraphs(*modules):
    texts = {}
    for module in modules:
        for name in dir(module):
            doc = inspect.getdoc(getattr(module, name, None)) or ""
            for part in doc.split("\n\n"):
                if 80 < len(part) < 600 and ">>>" not in part:
                    texts[part] = None
    return list(texts)


numpy_text = paragraphs(np, np.linalg, np.fft, np.random)
scipy_text = paragraphs(scipy.linalg, scipy.optimize, scipy.signal, scipy.stats)
texts = np.array(numpy_text + scipy_text)
labels = np.repeat(["NumPy", "SciPy"], [len(numpy_text), len(scipy_text)])
pattern = r"(?u)\b(?!numpy|scipy|np\b)[a-z]{3,}\b"  # the names themselves would be too easy
words = TfidfVectorizer(token_pattern=pattern, min_df=5)
X = words.fit_transform(texts)
train, test, y_train, y_test = train_test_split(X, labels, stratify=labels, random_state=0)
print(f"{X.shape[0]} paragraphs, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} not zero")

# %%
# Few words or all
# ----------------
for norm, C in (("l2", 1.0), ("l1", 1.0)):
    model = RegularizedLCC(norm=norm, C=C).fit(train, y_train)
    kept = np.count_nonzero(model.coef_)
    print(f"{norm}: {kept:5d} words, held-out paragraphs right: {model.score(test, y_test):.3f}")

# %%
# The words
# ---------
names, coef = words.get_feature_names_out(), model.coef_[0]
order = np.argsort(coef)
chosen = np.concatenate([order[:12], order[-12:]])
figure, ax = plt.subplots(figsize=(7, 5.4), layout="constrained")
ax.barh(names[chosen], coef[chosen], color=np.where(coef[chosen] < 0, "#0072B2", "#E69F00"))
ax.set_xlabel("coefficient: NumPy (left), SciPy (right)")
plt.show()
