"""LCC over the shapes that take different ways through the solvers."""

import scipy.sparse as sp

from lincent import LCC
from lincent.datasets import make_noisy_classes


class Fit:
    """Small, wide, tall and very tall dense data."""

    params = [["200x6", "1000x24", "400x784", "20000x30", "200000x50"]]
    param_names = ["shape"]

    def setup(self, shape):
        rows, columns = (int(number) for number in shape.split("x"))
        self.X, self.y = make_noisy_classes(rows, columns, random_state=0)

    def time_fit(self, shape):
        LCC(random_state=0).fit(self.X, self.y)

    def peakmem_fit(self, shape):
        LCC(random_state=0).fit(self.X, self.y)

    def track_relative_gap(self, shape):
        model = LCC(random_state=0).fit(self.X, self.y)
        return model.duality_gap_ / max(1.0, abs(model.objective_))


class FitSparse:
    """Sparse rows, which are never made dense as a whole."""

    def setup(self):
        X, self.y = make_noisy_classes(5000, 300, random_state=0)
        X[abs(X) < 2.0] = 0.0
        self.X = sp.csr_array(X)

    def time_fit(self):
        LCC(random_state=0).fit(self.X, self.y)

    def peakmem_fit(self):
        LCC(random_state=0).fit(self.X, self.y)
