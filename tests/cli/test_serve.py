"""spacy linearize serve"""

import json
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
from helpers.commands import run
from helpers.processes import ENVIRONMENT
from helpers.server import Client


def test_mistakes_are_one_line(trained_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for message, arguments in (
            ("[SL276] The port", ["--port", taken.getsockname()[1]]),
            ("[SL022] Setting 'port' is 70000", ["--port", 70000]),
            ("[SL022] Setting 'nbest' is 0", ["--n-best", 0]),
        ):
            code, out, err = run("serve", "--model", trained_path, *arguments)
            assert (code, out, err.count("\n")) == (1, "", 1)
            assert message in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_until_it_is_stopped(trained_path, tmp_path, how):
    """Also while a client hangs."""
    command = [sys.executable, "-m", "spacy", "linearize", "serve", "--model", str(trained_path), "--port", "0"]
    command += ["--reranker", "none"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=ENVIRONMENT)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("✔ The playground is at http://127.0.0.1:")
        port = int(said.split("127.0.0.1:")[1].split(".")[0])
        status, _, text = Client(SimpleNamespace(server_port=port)).post("/order", {"words": ["sleeps", "dog"]})
        assert status == 200
        assert sorted(json.loads(text)["words"]) == ["dog", "sleeps"]
        with socket.create_connection(("127.0.0.1", port)):
            process.send_signal(how)
            assert process.wait(30) == 130
        assert process.stderr.read() == "Stopped.\n"
    finally:
        process.kill()
        process.wait()
