"""Rows in the blocks of a Dask collection, on threads or on a cluster."""
