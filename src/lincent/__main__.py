"""``python -m lincent`` is the command line."""

from lincent.cli import main

main()
