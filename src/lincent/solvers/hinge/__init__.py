"""The hinge programs of the rivals."""
