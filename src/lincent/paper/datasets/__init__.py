"""Data sets of the paper and generators of test data.

The sets are third-party data and are not part of this package; `load_dataset` finds them in a
folder, in installed packages or on the network, and checks that they are the published ones.
"""

from lincent.paper.datasets.generators import (
    make_noisy_classes,
    make_paper_example,
    paper_covariances,
)
from lincent.paper.datasets.loader import DatasetRecord, list_datasets, load_dataset
from lincent.paper.datasets.registry import DatasetChecksumError, DatasetNotFoundError, cache_folder

__all__ = [
    "DatasetChecksumError",
    "DatasetNotFoundError",
    "DatasetRecord",
    "cache_folder",
    "list_datasets",
    "load_dataset",
    "make_noisy_classes",
    "make_paper_example",
    "paper_covariances",
]
