"""Pages: blocks, drawing and rendering. Knows no study and no model."""
