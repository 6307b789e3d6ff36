"""``python -m lincent`` and ``lincent``: the command line."""

import os
import signal
import sys


def main() -> None:
    """Run the command line; an interrupt is exit code 130 from its first import on."""
    try:
        from lincent.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("lincent: interrupted; nothing was written.\n")
        sys.stderr.flush()
        # Python remembers an interrupt inside an import, and would end the process by the signal.
        os._exit(130)
    finally:  # the work is done, and the interpreter ends
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
