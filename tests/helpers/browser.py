"""Chromium without a window, through its DevTools protocol over two pipes: needs nothing else."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

import pytest

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe")


def find_browser():
    """The path of a Chromium or Chrome, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def require_browser():
    """The path of a browser. Without one a test is skipped, but not in CI, where nobody would see it."""
    if program := find_browser():
        return program
    say = pytest.fail if os.environ.get("CI") else pytest.skip
    return say("no Chromium or Chrome was found")


class Browser:
    """One page in a browser. `events` holds what the browser told without having been asked."""

    def __init__(self, program, folder, timeout=60):
        import fcntl  # not on Windows, where the file must still be there to import

        self.timeout = timeout
        self.number = 0
        self.buffer = b""
        self.events = []
        self.session = None
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()
        # The browser reads from 3 and writes to 4. Copies above these, so that one does not overwrite the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]

        def connect():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        """Call a method, and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while (answer := self._receive(deadline)).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reading], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            chunk = os.read(self.reading, 1 << 20)
            assert chunk, "the browser has ended"
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1200, height=900, scheme="light", media=""):
        """Load a page in a window of this size."""
        self.events.clear()
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)
        answer = self.send("Page.navigate", url=path.as_uri())
        assert "errorText" not in answer, answer
        deadline = time.monotonic() + self.timeout
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive(deadline))

    def evaluate(self, expression):
        """The value of an expression of JavaScript."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def requests(self):
        """The addresses that the page asked for, without its own."""
        events = (event for event in self.events if event.get("method") == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in events if event["params"].get("type") != "Document"]

    def complaints(self):
        """What the browser logged: errors of scripts, refused requests."""
        return [event for event in self.events if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def screenshot(self):
        """The whole page as PNG."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        return base64.b64decode(data)

    def pdf(self):
        """The page on paper."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.reading)
        os.close(self.writing)
