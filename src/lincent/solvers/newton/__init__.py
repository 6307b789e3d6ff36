"""The regularized program, by Newton's method."""
