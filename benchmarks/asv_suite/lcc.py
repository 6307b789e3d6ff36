"""LCC over kinds of data and over the shapes that take different ways through the solvers."""

import sys
from pathlib import Path

import scipy.sparse as sp

from lincent import LCC

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from reads import counted
from workloads import make

KINDS = ["normal", "noise", "one-hot", "separable", "outlier cells", "heavy correlated skewed"]


class Fit:
    """Small, wide, tall and very tall dense data; kinds that need no package."""

    params = [["200x6", "1000x24", "5000x20", "400x784", "20000x30", "50000x100"], KINDS]
    param_names = ["shape", "kind"]

    def setup(self, shape, kind):
        rows, columns = (int(number) for number in shape.split("x"))
        self.X, self.y = make(kind, rows, columns, seed=0)

    def fitted(self):
        return LCC(random_state=0).fit(self.X, self.y)

    def time_fit(self, shape, kind):
        self.fitted()

    def peakmem_fit(self, shape, kind):
        self.fitted()

    def track_relative_gap(self, shape, kind):
        model = self.fitted()
        return model.duality_gap_

    def track_reads(self, shape, kind):
        with counted(len(self.X)) as reads:
            self.fitted()
        return reads.count


class FitSparse:
    """Sparse samples, which are never all made dense."""

    params = ["text-like", "uniform sparse"]
    param_names = ["kind"]

    def setup(self, kind):
        X, self.y = make(kind, 4000, 1000, seed=0)
        self.X = sp.csr_array(X)

    def time_fit(self, kind):
        LCC(random_state=0).fit(self.X, self.y)

    def peakmem_fit(self, kind):
        LCC(random_state=0).fit(self.X, self.y)
