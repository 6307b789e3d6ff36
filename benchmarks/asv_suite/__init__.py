"""Regressions of fit time, peak memory and certified gap over commits, by asv."""
