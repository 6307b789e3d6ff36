"""Command lines in processes that are forked from one that has imported what they need.

Most of what a short command takes are the two seconds in which scikit-learn, pandas and pyarrow
are imported.  A fork is a process like any other, with its own streams, signals and exit code, and
it ends as the interpreter ends.  What depends on how an interpreter starts needs a fresh one.
"""

import io
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
IMPORTS = """
import numpy, scipy.optimize, pandas, pyarrow.parquet, pyarrow.csv
import sklearn.compose, sklearn.ensemble, sklearn.model_selection, sklearn.pipeline
import lincent.workflow, lincent.workflow.fit, lincent.workflow.predict, lincent.cli
lincent.AutoLCC, lincent.LCCCV, lincent.RegularizedLCCCV
"""
START = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
{IMPORTS}
from support.warm import serve
serve(int(sys.argv[1]))
"""
PATIENCE = 300.0
"""Seconds for any command on a busy machine: a bound, not a wait."""
NAMES = ("stdin", "stdout", "stderr")


def serve(descriptor):
    """Fork a process for each order, and report its identifier and its exit code."""
    line = socket.socket(fileno=descriptor)
    while True:
        message, given, *_ = socket.recv_fds(line, 1 << 16, len(NAMES))
        if not message:
            return
        order = json.loads(message)
        child = os.fork()
        if not child:
            line.close()
            _become(order, given)
            return
        for one in given:
            os.close(one)
        line.send(str(child).encode())
        line.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _become(order, given):
    """Make this process the command: folder, environment and streams, as after a fresh start."""
    import lincent.cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    open_streams = dict(zip(order["open"], given, strict=True))
    buffered = not os.environ.get("PYTHONUNBUFFERED")
    for number, name in enumerate(NAMES):
        stream = None
        if name in open_streams:
            os.dup2(open_streams[name], number)
            mode, size = ("wb", -1 if buffered else 0) if number else ("rb", -1)
            stream = io.TextIOWrapper(
                open(number, mode, size, closefd=False),  # noqa: SIM115
                errors="backslashreplace" if name == "stderr" else "strict",
                line_buffering=name == "stderr",
                write_through=not buffered,
            )
        else:
            with suppress(OSError):
                os.close(number)
        setattr(sys, name, stream)
    for one in given:
        os.close(one)
    exec(order["before"], {})
    sys.argv = ["lincent", *order["arguments"]]
    lincent.cli.main()


class Command:
    """A command line at work."""

    def __init__(self, line, stderr):
        self.line, self.pid, self.stderr = line, int(line.recv(64)), stderr
        self.code = None

    def poll(self):
        """Return None while it runs, as processes of ``subprocess`` do."""
        with suppress(BlockingIOError):
            self.line.setblocking(False)
            self.wait()
        self.line.settimeout(PATIENCE)
        return self.code

    def wait(self):
        if self.code is None:
            self.code = int(self.line.recv(64))
        return self.code

    def read_error(self):
        """Return all that it writes to its error stream, where that is not redirected."""
        with open(self.stderr, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()


class WarmInterpreter:
    """Starts command lines, one after the other."""

    def __init__(self):
        self.line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.line.settimeout(PATIENCE)
        with other:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START, str(other.fileno())], pass_fds=[other.fileno()]
            )

    @contextmanager
    def start(self, *arguments, folder, before="", environment=None, **streams):
        """Start a command; a stream is a descriptor or None, which is a closed one."""
        read, write = os.pipe()
        with open(os.devnull, "r+b") as null:
            given = {"stdin": null.fileno(), "stdout": null.fileno(), "stderr": write} | streams
            opened = {name: one for name, one in given.items() if one is not None}
            order = {
                "arguments": [str(one) for one in arguments],
                "folder": str(folder),
                "environment": environment or {},
                "before": before,
                "open": list(opened),
            }
            socket.send_fds(self.line, [json.dumps(order).encode()], list(opened.values()))
            command = Command(self.line, read)
        os.close(write)
        try:
            yield command
        except BaseException:
            with suppress(ProcessLookupError):
                os.kill(command.pid, signal.SIGKILL)
            raise
        finally:
            command.wait()

    def close(self):
        self.line.close()
        self.process.wait()
