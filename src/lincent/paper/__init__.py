"""Everything that reproduces the paper: baselines, data sets, the seizure data and the study."""

from lincent._lazy import lazily

__getattr__ = lazily(__name__, {}, modules=("baselines", "datasets", "seizure", "study"))
