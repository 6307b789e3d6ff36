"""A real Chromium, driven over its debugging pipe: no driver and no package is needed."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser():
    """Return the program to start, or None."""
    given = os.environ.get("LINCENT_BROWSER")
    if given:
        return given
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a headless browser."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def place_pipes():
            # The browser reads from descriptor 3 and writes to 4.
            os.dup2(to_browser, 103)
            os.dup2(from_browser, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile.name}",
                "about:blank",
            ],
            preexec_fn=place_pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._numbers = b"", itertools.count(1)
        self.events = []
        target = self._call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = None
        answer = self._call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
        self.session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._write)
        os.close(self._read)
        self.profile.cleanup()

    def call(self, method, **parameters):
        return self._call(method, parameters, self.session)

    def _call(self, method, parameters, session):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer.get("result", {})
            self.events.append(answer)

    def _receive(self, patience=60.0):
        end = time.monotonic() + patience
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key, code=None):
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code or key,
                windowsVirtualKeyCode=codes[key],
                **extra,
            )

    def size(self, width, height, mobile=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        Path(path).write_bytes(base64.b64decode(data["data"]))

    def pdf(self):
        data = self.call("Page.printToPDF", printBackground=False)
        return base64.b64decode(data["data"])

    def problems(self):
        """Console errors, exceptions, log entries and every request beyond the file itself."""
        found = []
        for event in self.events:
            name, body = event.get("method"), event.get("params", {})
            if name == "Runtime.exceptionThrown":
                found.append(str(body["exceptionDetails"]))
            if name == "Runtime.consoleAPICalled" and body["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(str(body["args"]))
            if name == "Log.entryAdded" and body["entry"]["level"] in ("error", "warning"):
                found.append(body["entry"]["text"])
            if name == "Network.requestWillBeSent":
                address = body["request"]["url"]
                if not address.startswith(("file:", "data:")):
                    found.append("request: " + address)
        return found


def one_browser():
    """A browser for a fixture: skipped where there is none, closed at the end."""
    import pytest

    program = find_browser()
    if program is None:
        pytest.skip("no Chromium or Chrome on this machine (set LINCENT_BROWSER to its program)")
    opened = Browser(program)
    yield opened
    opened.close()
