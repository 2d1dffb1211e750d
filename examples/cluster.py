"""Large files on a cluster: Dask spreads their lines over its workers, to parse text into trees, or to order bags.

    pip install -e ".[dask]"
    python examples/cluster.py parse text.txt trees --pipeline en_core_web_sm --workers 4
    python examples/cluster.py order bags.jsonl sentences --pipeline en_core_web --workers 4

`parse` reads text, one paragraph a line. `order` reads bags: lines of words set apart by spaces, or objects such as
{"words": ["barks", "dog", "the"], "heads": [0, 0, 1], "labels": ["root", "nsubj", "det"]}, as `spacy linearize order`
reads them, too. Both write such objects: a folder of numbered .jsonl files, one for each block of lines. What one
writes, the other reads.

A line that fails costs itself alone: an object with its number and the "error" stands in its place, and failed.jsonl
lists all of these. If a worker dies, its block goes to another one. Given again, the same command does only what is
missing.

Here the workers are processes of this computer. On a real cluster, give `Client` the address of its scheduler; each
worker needs the packages installed. Every worker loads the pipeline once.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from distributed import Client, LocalCluster, as_completed, get_worker
from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.bundled import bundled_names
from spacy_linearize.files.jsonl import doc_to_object, object_to_doc, parse_line

Record = dict[str, Any]
FAILED = "failed.jsonl"


def parse(nlp: Language, line: str, number: int) -> list[Record]:
    """The sentences of a line of text."""
    return [doc_to_object(sent.as_doc(), identity=f"{number}-{i}") for i, sent in enumerate(nlp(line).sents, start=1)]


def order(nlp: Language, line: str, number: int) -> list[Record]:
    """The order of a bag: an object, or words."""
    is_object = line.startswith("{")
    doc = object_to_doc(parse_line(line), nlp.vocab) if is_object else Doc(nlp.vocab, words=line.split())
    return [doc_to_object(nlp(doc), identity=number)]


TASKS: dict[str, Callable[[Language, str, int], list[Record]]] = {"parse": parse, "order": order}


def load(name: str) -> Language:
    """A pipeline, loaded once by each worker."""
    loaded: dict[str, Language] = get_worker().__dict__.setdefault("pipelines", {})
    if name not in loaded:
        loaded[name] = spacy_linearize.load(name) if name in bundled_names() else spacy.load(name)
    return loaded[name]


def work(task: str, pipeline: str, lines: list[str], first: int) -> list[Record]:
    """The results of a block of lines, each with its id, or the number of its line. Runs on a worker.

    first (int): The number of the first line.
    """
    nlp, found = load(pipeline), []
    with nlp.memory_zone():
        for number, line in enumerate(lines, start=first):
            try:
                line.encode("utf8")
                found += TASKS[task](nlp, line, number)
            except Exception as problem:
                found.append({"id": number, "error": str(problem), "input": line.encode("utf8", "replace").decode()})
    return found


def read_blocks(path: Path, size: int) -> Iterator[tuple[int, list[str]]]:
    """Blocks of lines with their numbers."""
    with path.open(encoding="utf8", errors="surrogateescape") as file:  # so that bad bytes fail in their line
        lines = (line.rstrip("\n") for line in file)
        yield from enumerate(iter(lambda: list(islice(lines, size)), []))


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """Write objects, one a line. The file appears when it is complete."""
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf8")
    part.replace(path)


def run(client: Client, task: str, pipeline: str, path: Path, folder: Path, *, block: int = 1000) -> tuple[int, int]:
    """Parse or order a file. Returns how many lines failed, and how many blocks got no answer.

    task (str): One of TASKS.
    pipeline (str): A bundled pipeline, or one that `spacy.load` finds.
    block (int): How many lines are one task.
    """
    folder.mkdir(parents=True, exist_ok=True)
    todo = (
        (number, lines) for number, lines in read_blocks(path, block) if not (folder / f"{number:06}.jsonl").exists()
    )

    waiting: dict[Any, int] = {}
    lost: list[Record] = []

    def submit(number: int, lines: list[str]) -> Any:
        future = client.submit(work, task, pipeline, lines, number * block + 1, pure=False)
        waiting[future] = number
        return future

    # A few blocks for each worker are under way, so that memory stays flat.
    n_ahead = 2 * max(1, len(client.scheduler_info()["workers"]))
    running = as_completed([submit(*item) for item in islice(todo, n_ahead)])
    for future in running:
        number = waiting.pop(future)
        try:
            write_lines(folder / f"{number:06}.jsonl", future.result())
        except Exception as problem:  # one worker after the other died of it, or the pipeline is not there
            lost.append({"lines": [number * block + 1, (number + 1) * block], "error": str(problem)})
        for item in islice(todo, 1):
            running.add(submit(*item))
    write_lines(folder / FAILED, [*failed_lines(folder), *lost])
    return sum(1 for _ in failed_lines(folder)), len(lost)


def failed_lines(folder: Path) -> Iterator[Record]:
    """What is written instead of a result."""
    for path in sorted(folder.glob("[0-9]*.jsonl")):
        with path.open(encoding="utf8") as file:
            yield from (record for record in map(json.loads, file) if "error" in record)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("input", type=Path, help="a text file, or .jsonl")
    parser.add_argument("output", type=Path, help="a folder")
    parser.add_argument("--pipeline", default="en_ud", help="a bundled pipeline, a package or a folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--block", type=int, default=1000, help="how many lines are one task")
    options = parser.parse_args(arguments)
    with (
        LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        failed, lost = run(client, options.task, options.pipeline, options.input, options.output, block=options.block)
    print(f"{failed} lines and {lost} blocks failed, see {options.output / FAILED}; all others are beside it")


if __name__ == "__main__":
    main()
