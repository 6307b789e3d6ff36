"""The seven methods the paper compares with."""

__all__: list[str] = []
