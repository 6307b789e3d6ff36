"""The centralization program: which solver when, and the solvers."""
