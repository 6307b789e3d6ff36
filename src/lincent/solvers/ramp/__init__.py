"""The ramp program, by a short sequence of linear programs."""
