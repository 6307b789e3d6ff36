"""What can go wrong on the way to a data set. Each message is one sentence that says what to do."""


class DatasetNotFoundError(FileNotFoundError):
    """The data set is known but not in reach: no folder, cache, package or network has it."""


class DatasetChecksumError(ValueError):
    """A table was found, but its values are not those of the published data set."""
