"""The scripts in examples/: each runs, and prints what it promises."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

import spacy_linearize
from spacy_linearize.files.conllu import read_conllu

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples"
BAGS = ["door the opened ? Who", "dog barks the .", "", "naïve was He ."]


def load_example(name, monkeypatch):
    """An example as a module. Dataclasses and pickles look for it among the loaded ones."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def example(monkeypatch):
    return lambda name: load_example(name, monkeypatch)


@pytest.fixture(scope="module")
def nlp():
    return spacy_linearize.load()


@pytest.fixture(scope="module")
def web():
    return spacy_linearize.load("en_core_web")


def test_every_example_is_listed_and_says_how_to_run_it():
    listed = (FOLDER / "README.md").read_text(encoding="utf8")
    for path in FOLDER.glob("*.py"):
        assert f"({path.name})" in listed
        assert f"python examples/{path.name}" in path.read_text(encoding="utf8").split('"""')[1]


def test_generator(example, nlp, capsys):
    module = example("behind_a_generator")
    module.main()
    out = capsys.readouterr().out
    assert "-> The train to Leeds leaves from platform 4 at 10:15." in out
    assert "-> The train to Hull leaves at 11:05 and is five minutes late." in out
    for doc, record in zip(module.generate(nlp, module.RECORDS), module.RECORDS, strict=True):
        assert {(t.text, t.dep_) for t in doc} >= {(record["to"], "nmod"), ("leaves", "ROOT")}
        assert next(t.head.text for t in doc if t.text == record["time"]) == "leaves"


def test_paraphrase(example, web, capsys):
    module = example("paraphrase")
    module.main([])
    lines = capsys.readouterr().out.splitlines()
    found = {line[7:].strip() for line in lines if line.startswith(" ")}
    assert "The old clock in the hall stopped yesterday." in found
    assert "Every morning the old man feeds the ducks in the park." in found
    inputs = {line for line in lines if not line.startswith(" ")}
    assert len(inputs) == 7
    assert not inputs & found
    assert lines[-1] == "Dogs bark."  # has no other order
    parsed = next(read_conllu(module.PARSED, web.vocab))
    few, many = (module.paraphrases(web, parsed, max_gap=gap) for gap in (module.MAX_GAP, 1000.0))
    assert len(few) < len(many)
    assert [gap for gap, _ in many] == sorted(gap for gap, _ in many)


def test_text_goes_through_a_parser(example, tmp_path, capsys):
    """Any pipeline will do: here one that gives nothing."""
    spacy.blank("en").to_disk(tmp_path / "parser")
    example("paraphrase").main(["Yesterday we went home.", "--parser", str(tmp_path / "parser")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Yesterday we went home."
    assert "We went home yesterday." in {line[7:].strip() for line in lines[1:]}


def test_edit(example, web, capsys):
    module = example("edit")
    module.main([])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "drop_clause     The baker sells the best bread in town." in lines
    assert "swap_arguments  The student praised the teacher because the answer was right." in lines
    assert "put_first       Every morning the old man feeds the ducks in the park." in lines
    for parsed in read_conllu(module.PARSED, web.vocab):
        words = sorted(token.lower_ for token in parsed)
        for name, text in module.edits(web, parsed):
            kept = sorted(token.lower_ for token in web.tokenizer(text))
            if name == "swap_arguments":  # without the comma behind a clause that comes last now
                assert [word for word in kept if word != ","] == [word for word in words if word != ","]
            else:
                assert set(kept) < set(words) if name == "drop_clause" else kept == words
    assert "The best bread in town sells the baker, who gets up at three." in "\n".join(lines)
    assert "feeds the old man" not in "\n".join(lines)  # the verb would have another form


def test_glosses(example, nlp, capsys):
    module = example("glosses")
    module.main()
    out = capsys.readouterr().out
    assert "-> she opened the door with a key." in out
    assert "-> the old man wrote a letter to his son." in out
    for gloss in module.GLOSSES:
        words = [token.text for token in nlp(module.to_doc(nlp, gloss))]
        assert all(words.index(first) < words.index(second) for first, second in gloss.before)
        assert all(_is_within(entry.split(), words) for entry in gloss.fixed)


def _is_within(some, words):
    """Whether some words stand among others in this sequence."""
    rest = iter(words)
    return all(word in rest for word in some)


def test_checker(example, web, capsys):
    module = example("checker")
    module.main([])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("I have never seen such a mess.")
    assert lines[3].endswith("He always is late.  ('is' before 'always')  ->  He is always late.")
    assert lines[7].endswith("->  The teacher gave a long list of words to the children.")
    # Of the second, the parser makes another sentence: a mess that is seen. The words alone know better.
    assert lines[1].endswith("->  I have never seen such a mess.")
    assert [line.split()[0] for line in lines] == ["ok", "odd", "odd", "odd", "ok", "odd", "ok", "odd", "ok"]
    doc = web.make_doc("He always is late.")
    strict, mild = (list(module.check(web, [doc], least=least)) for least in (1.0, 0.0))
    assert strict[0].better
    assert not mild[0].better


@pytest.mark.parametrize("name", ["-", "sentences.txt"])
def test_checker_reads_standard_input_and_files(tmp_path, name):
    """As a process, as its description says."""
    (tmp_path / "sentences.txt").write_text("\nHe always is late.\n", encoding="utf8")
    script = [sys.executable, FOLDER / "checker.py", name]
    text = "\nHe always is late.\n"
    done = subprocess.run(script, input=text, capture_output=True, encoding="utf8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("->  He is always late.\n")


def test_exercise(example, nlp, capsys):
    module = example("exercise")
    module.main()
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "right: yesterday we went to the beach." in lines
    assert "wrong: we went to beach the yesterday. Hint: move 'the' before 'beach'." in lines
    assert "right: She usually sings in the kitchen." in lines
    assert "wrong: my father me gave a book. Hint: move 'gave' before 'me'." in lines
    sentence = next(iter(module.SENTENCES))
    exercise = module.make_exercise(nlp, sentence)
    own = [token.text for token in nlp.make_doc(sentence)]
    assert nlp.get_pipe("linearizer").n_best == 1
    assert sorted(exercise.jumbled) == sorted(own)
    assert exercise.accepted[0] == own
    assert len(exercise.accepted) == len(set(map(tuple, exercise.accepted))) > 1
    for answer in ("", "we went to beach yesterday.", "we went to the the beach yesterday."):
        assert not exercise.is_right(nlp, answer)
        assert exercise.hint(nlp, answer) == "use each word once"


@pytest.mark.parametrize("options", [[], ["--threads", "2"], ["--processes", "2"]], ids=" ".join)
def test_batch(tmp_path, options):
    (tmp_path / "bags.txt").write_text("\n".join(BAGS * 3) + "\n", encoding="utf8")
    command = [sys.executable, FOLDER / "batch.py", "bags.txt", "sentences.txt", "--chunk", "5", *options]
    done = subprocess.run(command, capture_output=True, encoding="utf8", cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 lines")
    lines = (tmp_path / "sentences.txt").read_text(encoding="utf8").split("\n")
    assert lines == [*["Who opened the door?", "the dog barks.", "", "He was naïve."] * 3, ""]


def test_batch_with_bad_arguments(example, tmp_path, capsys):
    """The input is still there."""
    path = tmp_path / "bags.txt"
    path.write_text("door the\n")
    for options in ([path], [tmp_path / "out.txt", "--chunk", 0], [tmp_path / "out.txt", "--processes", 0]):
        with pytest.raises(SystemExit):
            example("batch").main([str(path), *map(str, options)])
        assert "error: " in capsys.readouterr().err
    assert (path.read_text(), [file.name for file in tmp_path.iterdir()]) == ("door the\n", ["bags.txt"])


# A process that kills its first worker, as a system does that is out of memory.
KILLER = """
import multiprocessing, sys, threading, time
import batch

def kill():
    while not (workers := multiprocessing.active_children()):
        time.sleep(0.01)
    time.sleep(1)
    workers[0].kill()

if __name__ == "__main__":
    threading.Thread(target=kill, daemon=True).start()
    batch.main([*sys.argv[1:], "--processes", "2", "--chunk", "100"])
"""


def test_batch_with_a_worker_killed(tmp_path):
    """An error, not a job that never ends."""
    (tmp_path / "bags.txt").write_text("door the opened ? Who\n" * 200_000, encoding="utf8")
    (tmp_path / "killer.py").write_text(KILLER, encoding="utf8")
    done = subprocess.run(
        [sys.executable, "killer.py", "bags.txt", "sentences.txt"],
        capture_output=True,
        encoding="utf8",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, sys.path)])},
        timeout=300,
    )
    assert done.returncode == 1
    n_lines = (tmp_path / "sentences.txt").read_text(encoding="utf8").count("Who opened the door?\n")
    assert n_lines < 200_000
    assert done.stderr.splitlines()[-1] == f"A worker process was killed: sentences.txt ends after {n_lines} lines."


# A process that kills one of the workers of its cluster when the first block is done.
CLUSTER_KILLER = """
import os, signal, sys, threading, time
from pathlib import Path
import cluster

def kill(client, folder):
    while not list(folder.glob("[0-9]*.jsonl")):
        time.sleep(0.01)
    os.kill(sorted(client.run(os.getpid).values())[0], signal.SIGKILL)
    print("killed", flush=True)

if __name__ == "__main__":
    from distributed import Client, LocalCluster
    path, folder = map(Path, sys.argv[1:3])
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as nodes, Client(nodes) as client:
        killer = threading.Thread(target=kill, args=(client, folder))
        killer.start()
        print(cluster.run(client, "order", "en_ud", path, folder, block=50))
        killer.join()
"""


@pytest.fixture
def dask():
    for name in ("dask.bag", "distributed"):
        pytest.importorskip(name, reason="Dask is not installed: pip install -e '.[dask]'")


def run_cluster(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        encoding="utf8",
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, sys.path)])},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_results(folder):
    paths = sorted(folder.glob("[0-9]*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf8").splitlines()]


def test_cluster_orders_words_and_trees(dask, tmp_path):
    tree = {"words": ["barks", "dog", "the"], "heads": [0, 0, 1], "labels": ["root", "nsubj", "det"]}
    cycle = {"words": ["dog", "the"], "heads": [1, 0], "labels": ["dep", "dep"]}
    lines = [*BAGS, json.dumps(tree), json.dumps(cycle), "{"]
    (tmp_path / "bags.jsonl").write_text("\n".join(lines) + "\n", encoding="utf8")
    command = (FOLDER / "cluster.py", "order", "bags.jsonl", "out", "--block", 2)
    assert "2 lines and 0 blocks failed" in run_cluster(*command, cwd=tmp_path)
    found = read_results(tmp_path / "out")
    assert [record["id"] for record in found] == list(range(1, 8))
    texts = ["Who opened the door?", "the dog barks.", "", "He was naïve.", "the dog barks", None, None]
    assert [record.get("text") for record in found] == texts
    assert found[4]["labels"] == ["det", "nsubj", "root"]
    failed = [json.loads(line) for line in (tmp_path / "out" / "failed.jsonl").read_text(encoding="utf8").splitlines()]
    assert failed == found[5:]
    assert "SL001" in failed[0]["error"]
    # Given again, it does only what is missing.
    (tmp_path / "out" / "000001.jsonl").unlink()
    (tmp_path / "out" / "000000.jsonl").write_text('{"id": 1, "text": "kept"}\n', encoding="utf8")
    run_cluster(*command, cwd=tmp_path)
    assert [record["text"] for record in read_results(tmp_path / "out")[:3]] == ["kept", "", "He was naïve."]


def test_cluster_parses(dask, tmp_path, parser_path):
    (tmp_path / "text.txt").write_text("The dog barks. The cat sleeps.\nWho opened the door?\n", encoding="utf8")
    run_cluster(FOLDER / "cluster.py", "parse", "text.txt", "trees", "--pipeline", parser_path, cwd=tmp_path)
    found = read_results(tmp_path / "trees")
    parser = spacy.load(parser_path)
    for line, text in enumerate((tmp_path / "text.txt").read_text(encoding="utf8").splitlines(), start=1):
        own = [record for record in found if record["id"].startswith(f"{line}-")]
        assert [record["text"] for record in own] == [sent.text for sent in parser(text).sents]
        heads = [[token.head.i - sent.start for token in sent] for sent in parser(text).sents]
        assert [record["heads"] for record in own] == heads
    # What one writes, the other reads.
    run_cluster(FOLDER / "cluster.py", "order", "trees/000000.jsonl", "out", cwd=tmp_path)
    ordered = read_results(tmp_path / "out")
    assert [sorted(record["words"]) for record in ordered] == [sorted(record["words"]) for record in found]


def test_cluster_with_a_worker_killed(dask, tmp_path):
    """Its blocks go to another worker: nothing is lost, nothing comes twice."""
    (tmp_path / "bags.txt").write_text("door the opened ? Who\n" * 5_000, encoding="utf8")
    (tmp_path / "killer.py").write_text(CLUSTER_KILLER, encoding="utf8")
    out = run_cluster("killer.py", "bags.txt", "out", cwd=tmp_path)
    assert out.split("\n")[:2] in (["killed", "(0, 0)"], ["(0, 0)", "killed"])
    found = read_results(tmp_path / "out")
    assert [record["id"] for record in found] == list(range(1, 5_001))
    assert {record["text"] for record in found} == {"Who opened the door?"}
