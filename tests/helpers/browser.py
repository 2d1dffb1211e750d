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
# Elements that stick out of the window at a side, but for those in boxes that scroll.
OUTSIDE = """[...document.querySelectorAll("body *")].filter(e => !e.parentElement.closest(".scroll, pre")).filter(
  e => { const box = e.getBoundingClientRect(); return box.width && (box.left < -1 || box.right > innerWidth + 1); }
).map(e => e.outerHTML.slice(0, 80))"""
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

    def open(self, page, width=1200, height=900, scheme="light", media="", motion="reduce"):
        """Load a page, a path or an address, in a window of this size."""
        self.send("Page.navigate", url="about:blank")  # or an address that differs in its fragment would not be loaded
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        answer = self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        assert "errorText" not in answer, answer
        deadline = time.monotonic() + self.timeout
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive(deadline))

    def evaluate(self, expression):
        """The value of an expression of JavaScript."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, expression, timeout=20):
        """Wait until an expression is true, and return its value."""
        deadline = time.monotonic() + timeout
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, f"still not true: {expression}"
            time.sleep(0.02)
        return value

    def middle(self, selector, share=0.5):
        """A point of an element in the window: its middle, or a share of its width from its left."""
        return self.evaluate(f"""(() => {{
          const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
          return [box.left + {share} * box.width, box.top + box.height / 2];
        }})()""")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{"button": "left", "clickCount": 1, **more})

    def click(self, selector, **more):
        """Click with a mouse on what the window shows."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        x, y = self.middle(selector)
        self.mouse("mousePressed", x, y, **more)
        self.mouse("mouseReleased", x, y, **more)

    def drag(self, start, end, share=0.5):
        """Drag with a mouse from the middle of an element to a point of another."""
        self.evaluate(f"document.querySelector({json.dumps(start)}).scrollIntoView({{block: 'center'}})")
        (x, y), (to_x, to_y) = self.middle(start), self.middle(end, share)
        self.mouse("mousePressed", x, y)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * step / 5, y + (to_y - y) * step / 5, buttons=1)
        self.mouse("mouseReleased", to_x, to_y)

    def key(self, key, modifiers=0):
        """Press a key. Modifiers: 2 for Ctrl, 8 for Shift."""
        text = {"Enter": "\r", "Tab": ""}.get(key, key if len(key) == 1 else "")
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "Delete": 46, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
        codes |= {"ArrowUp": 38, "ArrowDown": 40}
        code = codes.get(key, ord(key[0].upper()))
        common = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text="" if modifiers & 2 else text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

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
