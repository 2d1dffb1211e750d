"""A server in this process, and a client."""

import json
import threading
from contextlib import contextmanager
from http.client import HTTPConnection

from spacy_linearize.serve.playground import Playground
from spacy_linearize.serve.server import Server


@contextmanager
def running(nlp, **settings):
    """A server of a pipeline, on a free port."""
    playground = Playground(nlp, "linearizer", **{"model": None, "n_best": 5, **settings})
    with Server(playground, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Client:
    """Asks a server. Every answer is its status, its headers and its text."""

    def __init__(self, server):
        self.port = server.server_port

    def ask(self, method, path, body=None, timeout=60, **headers):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode("utf8")
        finally:
            connection.close()

    def post(self, path, content, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode("utf8")
        return self.ask("POST", path, body, **{"Content_Type": "application/json", **headers})

    def order(self, content, path="/order"):
        """The answer to bags."""
        status, _, text = self.post(path, content)
        assert status == 200, text
        return json.loads(text)
