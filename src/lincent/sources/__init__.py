"""How rows are read: the only room that knows where X lives."""
