"""Share the table and model fixtures, and a process that starts commands."""

import pytest

from support.model_fixtures import *  # noqa: F403
from support.warm import WarmInterpreter


@pytest.fixture(scope="session")
def warm():
    interpreter = WarmInterpreter()
    yield interpreter
    interpreter.close()
