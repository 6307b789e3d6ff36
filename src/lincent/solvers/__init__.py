"""Problem in, certified solution out: no estimator, no file, no label."""
