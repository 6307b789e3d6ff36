"""Data sources: reading X wherever it is stored, and the only package that knows where."""
