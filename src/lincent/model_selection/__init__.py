"""Model selection: folds, metrics, scoring, search and ensembles of fold models."""
