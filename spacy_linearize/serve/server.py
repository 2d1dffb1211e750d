"""HTTP on this computer alone, with nothing but the standard library.

    GET  /           the playground
    POST /order      bags as JSON -> their best orders as JSON; with ?n_best=3 the three best of each
    POST /score      sentences as JSON -> how good their order is, and what to move
    POST /page       a bag as JSON -> what the playground shows of it
    POST /why        a bag and a word of it -> why the word stands there

It listens on 127.0.0.1 and trusts no page of another site: the Host must be this computer (another name that was
pointed at it would let a foreign page in), an Origin must be its own, and what is posted must be JSON, which a plain
form of another site cannot send. A client has SECONDS for its request: one that hangs holds a thread for no longer.
"""

import io
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from ..errors import LinearizeError, error
from .playground import Playground, as_linearize_error

HOST = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")
MAX_BYTES = 1 << 20  # of a request
SECONDS = 10.0  # for a request to arrive, and for its answer to be taken
MAX_CONNECTIONS = 256
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# What is not the fault of the bag.
STATUSES = {
    "SL270": HTTPStatus.FORBIDDEN,
    "SL271": HTTPStatus.BAD_REQUEST,
    "SL272": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "SL273": HTTPStatus.SERVICE_UNAVAILABLE,
    "SL274": HTTPStatus.NOT_FOUND,
    "SL275": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "SL200": HTTPStatus.INTERNAL_SERVER_ERROR,
}


TOO_MANY = "HTTP/1.0 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n"


def _as_json(problem: LinearizeError) -> bytes:
    """An error as an answer."""
    content = {"error": str(problem), "code": problem.code, "words": list(problem.words or ())}
    return (json.dumps(content, ensure_ascii=False) + "\n").encode("utf8", "backslashreplace")


class Server(ThreadingHTTPServer):
    """Serves a playground until `shutdown`.

    playground (Playground): What answers.
    port (int): The port; 0 for one that is free.
    """

    daemon_threads = True  # a client that hangs must not keep the server from ending
    request_queue_size = 128

    def __init__(self, playground: Playground, port: int) -> None:
        self.playground = playground
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__((HOST, port), Handler)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            with suppress(OSError):  # a few bytes, for which there is always room
                request.sendall(TOO_MANY.encode("ascii") + _as_json(error("SL273")))
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class Timed(io.RawIOBase):
    """What a client sends, until its time is over: a time-out of the socket alone would begin anew with each byte."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.until = time.monotonic() + SECONDS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.connection.settimeout(max(self.until - time.monotonic(), 0.001))
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    server_version = "spacy_linearize"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self.rfile = io.BufferedReader(Timed(self.connection))

    def do_GET(self) -> None:
        self._answer({"/": (self.server.playground.home, "text/html")}, lambda home: home())

    do_HEAD = do_GET

    def do_POST(self) -> None:
        playground = self.server.playground
        routes: dict[str, tuple[Callable[..., Any], str]] = {
            "/order": (lambda content: playground.order(content, self._n_best()), "application/json"),
            "/score": (playground.score, "application/json"),
            "/page": (playground.page, "text/html"),
            "/why": (playground.why, "text/html"),
        }
        self._answer(routes, lambda function: function(self._read_json()))

    def _answer(self, routes: dict[str, tuple[Callable[..., Any], str]], call: Callable[..., Any]) -> None:
        started = time.perf_counter()
        try:
            self._check_sender()
            path = self._address().path
            if path not in routes:
                raise error("SL274", method=self.command, path=path[:100])
            function, kind = routes[path]
            answer = call(function)
        except TimeoutError:
            return  # of the client: nobody listens
        except Exception as problem:
            self._send_problem(as_linearize_error(problem))
            return
        text = answer if kind == "text/html" else json.dumps(answer, ensure_ascii=False) + "\n"
        data = text.encode("utf8", "backslashreplace")
        self._send(HTTPStatus.OK, kind, data, f"total;dur={1000 * (time.perf_counter() - started):.1f}")

    def _n_best(self) -> int | None:
        """What the address asks for, as in /order?n_best=3."""
        asked = parse_qs(self._address().query, keep_blank_values=True)
        if not asked:
            return None
        value = asked.get("n_best", [""])[-1]
        if set(asked) != {"n_best"} or not value.isascii() or not value.isdigit():
            raise error("SL271", problem=f"the address has {self._address().query[:100]!r}, not n_best=...")
        return int(value[:9])

    def _address(self) -> SplitResult:
        try:
            return urlsplit(self.path)
        except ValueError as problem:
            raise error("SL271", problem=f"its address is none: {problem}"[:200]) from None

    def _check_sender(self) -> None:
        """Refuse what does not come from this computer, or from a page of ours."""
        hosts = {f"{name}:{self.server.server_port}" for name in NAMES}
        hosts |= set(NAMES) if self.server.server_port == 80 else set()
        if (self.headers.get("Host") or "").lower() not in hosts:
            raise error("SL270", what=f"the host {self.headers.get('Host')!r}"[:100])
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in hosts:
            raise error("SL270", what=f"a page of {origin!r}"[:100])
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise error("SL270", what="a page of another site")

    def _read_json(self) -> Any:
        if self.headers.get_content_type() != "application/json":
            raise error("SL275", kind=self.headers.get_content_type()[:100])
        length = self.headers.get("Content-Length") or ""
        if not length.isascii() or not length.isdigit():
            raise error(
                "SL271", problem="it has no Content-Length, which it needs even where it could be sent in chunks"
            )
        if int(length[:20]) > MAX_BYTES:
            self._drain(int(length[:20]))
            raise error("SL272", limit=MAX_BYTES)
        try:
            data = self.rfile.read(int(length))
        except TimeoutError:
            raise error("SL271", problem=f"it did not arrive within {SECONDS:g} seconds") from None
        if len(data) < int(length):
            raise error("SL271", problem=f"it has {len(data)} bytes, and its Content-Length is {length}")
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as problem:
            raise error("SL271", problem=f"it is not JSON: {problem}"[:200]) from None

    def _drain(self, length: int) -> None:
        """Read what is too much, if there is not far too much: whoever is cut off while sending does not see why."""
        length = min(length, 16 * MAX_BYTES)
        while length > 0 and (chunk := self.rfile.read1(min(length, MAX_BYTES))):
            length -= len(chunk)

    def _send_problem(self, problem: LinearizeError) -> None:
        self._send(STATUSES.get(problem.code, HTTPStatus.UNPROCESSABLE_ENTITY), "application/json", _as_json(problem))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses, in the same form as everything else."""
        status = HTTPStatus(code)
        if status == HTTPStatus.NOT_IMPLEMENTED and self.command:  # of a method
            self._send_problem(error("SL274", method=self.command[:20], path=self.path[:100]))
            return
        self._send(status, "application/json", _as_json(error("SL271", problem=message or status.phrase)))

    def _send(self, status: HTTPStatus, kind: str, data: bytes, timing: str | None = None) -> None:
        self.connection.settimeout(SECONDS)
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        if timing:
            self.send_header("Server-Timing", timing)
        for key, value in HEADERS.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""
