"""Equations: a problem as data, its objective, its dual, its certificate."""
