"""Dask arrays and frames, and batches: X is read block by block where it is.

table       X, y and weights as given (``open_dask``): checked, classes and centers in one pass
source      a binary problem over the blocks, as solvers see it
schedule    a function over all blocks as one pass, on threads or on a cluster
blocks      what a pass computes on one block
folds       cross-validation over blocks
"""
