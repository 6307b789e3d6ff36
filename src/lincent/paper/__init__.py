"""Everything that reproduces the paper: baselines, data sets, the seizure data and the study."""
