"""Maps of rows to features, on which the classifiers are linear."""
