"""The server as programs see it: what it answers, and what it refuses."""

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import spacy
from helpers.page import DOOR, ODD, Page
from helpers.server import Client, running

import spacy_linearize
from spacy_linearize.serve import playground as playground_module
from spacy_linearize.serve import server as server_module


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


@pytest.fixture(scope="module")
def server(nlp):
    with running(nlp) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return Client(server)


def problem(answer):
    """The status and the message of an answer that is an error."""
    status, headers, text = answer
    assert headers.get_content_type() == "application/json"
    return status, json.loads(text)


class TestOrder:
    def test_a_bag(self, client):
        answer = client.order({"id": "d1", "words": DOOR})
        assert answer["text"] == "Who opened the door?"
        assert (answer["id"], answer["rank"], answer["order"]) == ("d1", 1, [4, 2, 1, 0, 3])
        assert len(answer["tags"]) == len(answer["heads"]) == len(answer["labels"]) == 5

    def test_an_answer_is_a_bag_again(self, client):
        answer = client.order({"words": DOOR})
        again = client.order(answer)
        assert (again["text"], again["heads"]) == (answer["text"], answer["heads"])

    def test_the_best_orders(self, client):
        answers = client.order({"words": DOOR}, "/order?n_best=3")
        assert [answer["rank"] for answer in answers] == [1, 2, 3]
        assert len({answer["text"] for answer in answers}) == 3
        assert answers[0] == client.order({"words": DOOR})

    def test_a_text_is_tokenised(self, client):
        assert sorted(client.order({"text": " Who opened  the door?\n"})["words"]) == sorted(DOOR)

    def test_everything_given_is_kept(self, client):
        bag = {
            "words": ["dog", "the", "old", "sleeps"],
            "tags": ["NN", None, "", None],
            "heads": [3, None, None, None],
            "labels": ["nsubj", None, None, None],
            "precedences": [[3, 0]],
            "first": 1,
            "units": [[1, 3]],
        }
        answer = client.order(bag)
        at = {source: place for place, source in enumerate(answer["order"])}
        assert (at[1], at[2]) == (0, 1)
        assert at[3] < at[0]
        assert answer["tags"][at[0]] == "NN"
        assert answer["heads"][at[0]] == at[3]
        assert answer["labels"][at[0]] == "nsubj"

    def test_a_list_of_bags(self, client):
        bags = [
            {"words": DOOR},
            {"id": 7, "words": ["a"], "heads": [3]},
            3,
            {"words": []},
            {"words": ["sleeps", "dog"]},
        ]
        answers = client.order(bags)
        assert answers[0]["text"] == "Who opened the door?"
        assert (answers[1]["id"], answers[1]["error"][:7]) == (7, "[SL221]")
        assert answers[2]["error"].startswith("[SL271]")
        assert answers[3]["words"] == []
        assert sorted(answers[4]["words"]) == ["dog", "sleeps"]
        several = client.order(bags[:2], "/order?n_best=2")
        assert [len(answer) for answer in several] == [2, 1]

    @pytest.mark.parametrize(
        ("content", "status", "code"),
        [
            (b"{", 400, "SL271"),
            (b"\xff\xfe{", 400, "SL271"),
            (b"[" * 100_000, 400, "SL271"),
            (b"3", 400, "SL271"),
            (b'{"text": "a \\ud800"}', 400, "SL271"),
            (b'{"words": ["a", "\\ud800"]}', 422, "SL221"),
            ({"tags": ["NN"]}, 422, "SL221"),
            ({"words": ["a", 3]}, 422, "SL221"),
            ({"words": ["a"], "wrods": []}, 422, "SL221"),
            ({"words": ["a", "b"], "first": 2}, 422, "SL221"),
            ({"words": ["a", "b"], "heads": [1, 0]}, 422, "SL001"),
            ({"words": ["a", "b"], "precedences": [[0, 1], [1, 0]]}, 422, "SL008"),
            ({"words": ["a"] * (playground_module.MAX_WORDS + 1)}, 422, "SL005"),
        ],
    )
    def test_what_is_wrong_is_said(self, client, content, status, code):
        found, message = problem(client.post("/order", content))
        assert (found, message["code"]) == (status, code)
        assert message["error"].startswith(f"[{code}] ")
        assert client.order({"words": DOOR})["text"] == "Who opened the door?"  # nothing has happened to it

    def test_too_large(self, client):
        status, message = problem(client.post("/order", b" " * (server_module.MAX_BYTES + 1)))
        assert (status, message["code"]) == (413, "SL272")

    @pytest.mark.filterwarnings("ignore:.*SL058")
    def test_new_words_do_not_stay(self, client, nlp):
        client.order({"words": DOOR})
        n_strings = len(nlp.vocab.strings)
        for i in range(20):
            client.order({"words": [f"word{i}", f"other{i}"], "tags": [f"TAG{i}", None]})
        assert len(nlp.vocab.strings) == n_strings


class TestScore:
    def test_a_sentence(self, client):
        answer = client.order({"id": "s1", "text": "the  opened door Who?"}, "/score")
        assert (answer["id"], answer["better"]) == ("s1", "Who opened the door ?")
        assert answer["gap"] > 0
        assert answer["text"] == "the  opened door Who?"
        for move in answer["moves"]:
            assert answer["text"][move["start_char"] : move["end_char"]] in move["text"]
        assert answer["moves"]

    def test_words(self, client):
        answer = client.order({"words": ["Who", "opened", "the", "door", "?"]}, "/score")
        assert (answer["gap"], answer["better"], answer["moves"]) == (0, None, [])

    def test_a_list(self, client):
        answers = client.order([{"text": "Who opened the door?"}, {"id": 2}, {"text": ""}], "/score")
        assert answers[0]["better"] is None
        assert (answers[1]["id"], answers[1]["error"][:7]) == (2, "[SL221]")
        assert (answers[2]["text"], answers[2]["gap"]) == ("", 0)

    def test_too_long(self, client):
        content = {"words": ["a"] * (playground_module.MAX_WORDS + 1)}
        assert problem(client.post("/score", content))[1]["code"] == "SL005"

    def test_a_calibrated_pipeline(self):
        with running(spacy_linearize.load()) as server:
            right, moved = Client(server).order(
                [{"text": "He is always late."}, {"text": "He always is late."}], "/score"
            )
        assert moved["probability"] < 0.5 < right["probability"]
        assert moved["moves"] == [
            {"start": 2, "end": 3, "before": 1, "text": "'is' before 'always'", "start_char": 10, "end_char": 12}
        ]


class TestRefused:
    """A page of another site, or a name that points to this computer, gets nothing."""

    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "example.com"},
            {"Host": "example.com:5000"},
            {"Host": "127.0.0.1"},
            {"Origin": "http://example.com"},
            {"Origin": "null"},
            {"Origin": "https://localhost"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ],
    )
    @pytest.mark.parametrize("path", ["/", "/order", "/page"])
    def test_others(self, client, headers, path):
        answer = client.post(path, {"words": DOOR}, **headers) if path != "/" else client.ask("GET", "/", **headers)
        status, message = problem(answer)
        assert (status, message["code"]) == (403, "SL270")
        assert "Access-Control-Allow-Origin" not in answer[1]

    def test_its_own_page_is_none_of_them(self, client):
        for host in (f"127.0.0.1:{client.port}", f"localhost:{client.port}"):
            own = {"Host": host, "Origin": f"http://{host}", "Sec_Fetch_Site": "same-origin"}
            assert client.post("/order", {"words": DOOR}, **own)[0] == 200

    def test_a_form_of_another_site(self, client):
        """A browser sends these without asking the server first."""
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            status, message = problem(client.post("/order", {"words": DOOR}, Content_Type=kind))
            assert (status, message["code"]) == (415, "SL275")

    def test_no_other_computer(self, server):
        assert server.server_address[0] == "127.0.0.1"

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/../secret", 404),
            ("GET", "/order", 404),
            ("POST", "/x", 404),
            ("PUT", "/order", 404),
        ],
    )
    def test_other_places(self, client, method, path, status):
        assert problem(client.ask(method, path, b"{}", Content_Type="application/json"))[0] == status

    @pytest.mark.parametrize("query", ["n_best=0", "n_best=6", "n_best=x", "n_best=", "x=1", "n_best=" + "9" * 5000])
    def test_other_questions(self, client, query):
        status, message = problem(client.post(f"/order?{query}", {"words": DOOR}))
        assert (status, message["code"]) == (400, "SL271")

    def test_methods(self, client):
        assert problem(client.ask("DELETE", "/order"))[1]["code"] == "SL274"
        status, headers, text = client.ask("HEAD", "/")
        assert (status, text) == (200, "")
        assert int(headers["Content-Length"]) > 10_000

    @pytest.mark.parametrize("text", ["(" * 20_000, "word " * 5000])
    def test_a_text_that_would_take_long(self, client, text):
        started = time.monotonic()
        status, message = problem(client.post("/page", {"text": text}))
        assert (status, message["code"]) == (400, "SL271")
        assert time.monotonic() - started < 5

    def test_an_address_that_is_none(self, client):
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            connection.sendall(f"GET http://[::1 HTTP/1.0\r\nHost: localhost:{client.port}\r\n\r\n".encode())
            assert b"SL271" in connection.makefile("rb").read()

    def test_a_body_that_is_cut_short(self, client):
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            head = f"POST /order HTTP/1.0\r\nHost: localhost:{client.port}\r\nContent-Type: application/json\r\n"
            connection.sendall((head + 'Content-Length: 50\r\n\r\n{"words": ["a"]}').encode())
            connection.shutdown(socket.SHUT_WR)
            assert b"Content-Length is 50" in connection.makefile("rb").read()

    def test_no_length(self, client):
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            head = f"POST /order HTTP/1.0\r\nHost: localhost:{client.port}\r\nContent-Type: application/json\r\n"
            connection.sendall((head + "Content-Length: -5\r\n\r\n").encode())
            assert b"SL271" in connection.makefile("rb").read()

    def test_not_http(self, client):
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            connection.sendall(b"\x16\x03\x01 what\r\n\r\n")
            assert b"SL271" in connection.makefile("rb").read()


class TestMany:
    def test_a_hundred_at_once(self, client):
        bags = [{"id": i, "words": DOOR if i % 2 else ["sleeps", "dog", "The", "."]} for i in range(100)]
        with ThreadPoolExecutor(100) as pool:
            answers = list(pool.map(client.order, bags))
        assert [answer["id"] for answer in answers] == list(range(100))
        assert {answer["text"] for answer in answers[1::2]} == {"Who opened the door?"}
        assert {answer["text"] for answer in answers[::2]} == {"The dog sleeps."}

    def test_clients_that_hang(self, nlp, monkeypatch):
        """Others are answered in the meantime, and their time ends, also if they send a letter now and then."""
        monkeypatch.setattr(server_module, "SECONDS", 0.5)
        with running(nlp) as server:
            client = Client(server)
            head = f"POST /order HTTP/1.0\r\nHost: localhost:{server.server_port}\r\nContent-Type: application/json\r\n"
            begun = ["", "POST", head, head + "Content-Length: 100\r\n\r\n{"]
            hanging = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in begun for _ in range(5)]
            for i, connection in enumerate(hanging):
                connection.sendall(begun[i % len(begun)].encode())
            assert client.order({"words": DOOR})["text"] == "Who opened the door?"
            start = time.monotonic()
            ended: set[int] = set()
            while len(ended) < len(hanging):
                assert time.monotonic() < start + 20
                for i, connection in enumerate(hanging):
                    if i not in ended and i % len(begun) == 3:
                        try:
                            connection.sendall(b" ")  # it lives
                        except OSError:
                            ended.add(i)
                    elif i not in ended:
                        connection.settimeout(0.01)
                        with suppress(TimeoutError):
                            ended |= {i} if connection.recv(1000) == b"" else set()
                time.sleep(0.05)
            for connection in hanging:
                connection.close()

    def test_more_than_it_takes(self, nlp, monkeypatch):
        monkeypatch.setattr(server_module, "MAX_CONNECTIONS", 3)
        with running(nlp) as server:
            client = Client(server)
            hanging = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(3)]
            time.sleep(0.2)
            # It does not wait for a request, so that a client may be cut off while it sends one.
            with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
                answer = b"".join(iter(lambda: connection.recv(4096), b""))
            assert answer.startswith(b"HTTP/1.0 503 ")
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "SL273"
            for connection in hanging:
                connection.close()
            deadline, status = time.monotonic() + 20, None
            while status != 200:
                assert time.monotonic() < deadline
                with suppress(ConnectionError):
                    status = client.post("/order", {"words": DOOR})[0]

    def test_busy(self, server, client, monkeypatch):
        monkeypatch.setattr(playground_module, "PATIENCE", 0.05)
        with server.playground._alone():
            status, message = problem(client.post("/order", {"words": DOOR}))
        assert (status, message["code"]) == (503, "SL273")

    def test_an_error_inside(self, server, client, monkeypatch):
        monkeypatch.setattr(server.playground, "_read", lambda record: 1 / 0)
        status, message = problem(client.post("/order", {"words": DOOR}))
        assert (status, message["code"]) == (500, "SL200")
        assert "ZeroDivisionError" in message["error"]
        assert "Traceback" not in message["error"]


class TestPage:
    def test_home(self, client):
        status, headers, text = client.ask("GET", "/")
        assert (status, headers.get_content_type()) == (200, "text/html")
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        found = Page(text)
        (policy,) = [meta["content"] for meta in found.find("meta") if "Content-Security" in meta.get("http-equiv", "")]
        assert "default-src 'none'" in policy
        assert re.search(r"script-src 'sha256-[\w+/]+='; connect-src 'self';", policy)
        ids = [element["id"] for element in found.elements if "id" in element]
        assert len(set(ids)) == len(ids)
        labelled = {label["for"] for label in found.find("label") if "for" in label}
        assert {area["id"] for area in found.find("textarea")} == labelled

    def test_the_parts_of_a_bag(self, client):
        status, headers, text = client.post("/page", {"words": DOOR, "first": 4, "precedences": [[0, 3]]})
        assert status == 200
        assert float(re.search(r"dur=([\d.]+)", headers["Server-Timing"])[1]) > 0
        found = Page(text)
        assert [h1["text"] for h1 in found.find("h1")] == ["Who opened the door?"]
        assert [button["data-remove"] for button in found.find("button") if "data-remove" in button] == [
            "first",
            "precedences/0",
        ]
        assert len(list(found.find("button", "tile"))) == 5
        assert json.loads(next(pre for pre in found.find("pre") if pre["id"] == "json")["text"])["first"] == 4

    def test_hostile_words(self, client):
        bag = {"words": ODD, "tags": ["<b>&"] * len(ODD)}
        status, _, text = client.post("/page", bag)
        assert status == 200
        found = Page(text)
        assert not [one for one in (*found.elements, *found.kept) if one["tag"] in ("script", "b", "img")]
        assert not [key for one in (*found.elements, *found.kept) for key in one if key.startswith("on")]
        status, _, text = client.post("/why", {"bag": bag, "word": 0})
        assert status == 200
        assert not list(Page(text).find("script"))

    @pytest.mark.parametrize(
        ("path", "content", "code"),
        [
            ("/page", {"words": []}, "SL070"),
            ("/page", {"text": " "}, "SL070"),
            ("/page", [], "SL271"),
            ("/why", {"words": DOOR}, "SL271"),
            ("/why", {"bag": {"words": DOOR}, "word": 5}, "SL271"),
            ("/why", {"bag": {"words": DOOR}, "word": True}, "SL271"),
            ("/why", {"bag": {"words": DOOR}, "word": 0, "rank": 6}, "SL271"),
        ],
    )
    def test_mistakes(self, client, path, content, code):
        assert problem(client.post(path, content))[1]["code"] == code
