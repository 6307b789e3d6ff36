"""Linear programs with many features: active-set identification without a matrix of their size."""
