"""Other values for the constants of a module, for the length of a test."""


def set_constants(monkeypatch, module, **values):
    """Set constants of a module, named in lower case; each must exist."""
    for name, value in values.items():
        monkeypatch.setattr(module, name.upper(), value)
