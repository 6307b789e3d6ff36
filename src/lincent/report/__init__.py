"""HTML pages and plain text: blocks and rendering; reports of models and comparisons."""
