"""HTML pages and plain text: blocks, drawing and rendering; reports of models and comparisons."""
