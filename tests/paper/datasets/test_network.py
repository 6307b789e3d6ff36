"""Downloads end: a server that drips, or sends without end, does not hold a program."""

import http.server
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from lincent.paper.datasets import loader
from support.clock import least_seconds

DOWNLOAD = loader.download_text  # before the tests are sealed


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@contextmanager
def server(send):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                send(self.wfile)

        def log_message(self, *_):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_address[1]}/"
    finally:
        made.shutdown()
        made.server_close()


def drip(stream):
    for _ in range(100):
        stream.write(b"x")
        stream.flush()
        time.sleep(0.1)


def test_a_whole_text():
    with server(lambda stream: stream.write("ä,b\n".encode() * 50_000)) as address:
        assert DOWNLOAD(address) == "ä,b\n" * 50_000


def test_a_server_that_drips(monkeypatch):
    monkeypatch.setattr(loader, "TOTAL_SECONDS", 0.5)

    def download():
        with server(drip) as address, pytest.raises(TimeoutError, match="not complete"):
            DOWNLOAD(address)

    assert least_seconds(download, enough=3) < 3


def test_a_server_without_end(monkeypatch):
    monkeypatch.setattr(loader, "MAX_BYTES", 1000)
    with (
        server(lambda stream: stream.write(b"x" * 10_000)) as address,
        pytest.raises(ValueError, match="more than 1000"),
    ):
        DOWNLOAD(address)
