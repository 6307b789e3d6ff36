"""Share the table and model fixtures."""

from support.model_fixtures import *  # noqa: F403
