"""Long runs: does memory stay flat, do threads agree, does a lost worker end in an error?

    python benchmarks/soak.py --docs 1000000 [--new-words 0]
    python benchmarks/soak.py --docs 1000000 --blank
    python benchmarks/soak.py --threads 8 --minutes 10
    python benchmarks/soak.py --kill-worker

The first sends Docs with ever new words through nlp.pipe in memory zones, and fits a line to the resident memory over
the second half. The second does the same to spaCy alone, whose tables keep the places of strings that they have
forgotten: they grow in steps, each as large as the table. The third orders the same Docs on one pipeline from several
threads, and compares with one thread. The fourth kills one of two worker processes of nlp.pipe, and does the same to
spaCy alone: what becomes of that is spaCy's to say. Exit code 1, if something is not as it should be.
"""

import argparse
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize

BATCH = 1000  # Docs in a memory zone
MAX_GROWTH = 20.0  # bytes a Doc, beyond spaCy's own: below this the memory counts as flat
KILL_LIMIT = 60  # seconds after which a run with a killed worker counts as hanging
KNOWN = ("the", "a", "dog", "house", "saw", "sees", "in", "of", "and", "big", ",", ".", "he", "she", "was", "?", "Who")


def make_docs(nlp: Language, n_docs: int, seed: int = 0, new_words: float = 0.2) -> Iterator[Doc]:
    """Docs of 3 to 20 words, of which a share was never seen before; half of them with some tags and arcs."""
    rng = random.Random(seed)
    for i in range(n_docs):
        n = rng.randint(3, 20)
        words = [rng.choice(KNOWN) if rng.random() >= new_words else f"new{seed}x{i}x{k}" for k in range(n)]
        if i % 2:
            yield Doc(nlp.vocab, words=words)
            continue
        heads = [rng.randrange(k) if k and rng.random() < 0.5 else None for k in range(n)]
        deps = ["" if head is None else "dep" for head in heads]
        yield Doc(nlp.vocab, words=words, tags=[rng.choice(["NN", ""]) for _ in words], heads=heads, deps=deps)


def resident() -> int:
    """Bytes of memory that this process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource  # the largest so far: good enough to see growth

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def soak_memory(nlp: Language, n_docs: int, n_points: int = 20, new_words: float = 0.2) -> float:
    """Order many Docs. Returns by how many bytes the memory grew for each Doc, over the second half."""
    points: list[tuple[int, int]] = []
    done, start = 0, time.monotonic()
    step = max(BATCH, n_docs // n_points)
    for batch in range(0, n_docs, BATCH):
        with nlp.memory_zone():
            size = min(BATCH, n_docs - batch)
            for doc in nlp.pipe(make_docs(nlp, size, batch, new_words)):
                done += 1
                assert not nlp.pipe_names or len(doc._.linearization["order"]) == len(doc)
        if done // step > len(points) or done == n_docs:
            points.append((done, resident()))
            rate = done / (time.monotonic() - start)
            print(f"{done:>9} Docs, {points[-1][1] / 2**20:.1f} MB resident, {rate:.0f} Docs a second", flush=True)
    later = points[len(points) // 2 :]
    growth = float(np.polyfit(*np.array(later, dtype=float).T, 1)[0]) if len(later) > 1 else 0.0
    print(f"grows by {growth:.1f} bytes a Doc over the second half")
    return growth


def growth_alone(n_docs: int, new_words: float) -> float:
    """The same for spaCy without a linearizer, in a process of its own."""
    command = [sys.executable, __file__, "--blank", "--docs", str(n_docs), "--new-words", str(new_words)]
    last = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()[-1]
    print(f"without a linearizer: {last}")
    return float(last.split()[2])


def outcome(doc: Doc) -> tuple[object, ...]:
    return (doc.text, doc._.linearization["score"], *((token.tag_, token.dep_, token.head.i) for token in doc))


def soak_threads(nlp: Language, n_threads: int, minutes: float, n_docs: int = 500) -> int:
    """Order the same Docs from several threads at once. Returns how many results differ from those of one thread."""
    docs = list(make_docs(nlp, n_docs))
    expected = [outcome(nlp(doc)) for doc in docs]
    end = time.monotonic() + 60 * minutes
    counts = [0] * n_threads
    wrong = [0] * n_threads

    def work(number: int) -> None:
        rng = random.Random(number)
        while time.monotonic() < end:
            k = rng.randrange(n_docs)
            counts[number] += 1
            wrong[number] += outcome(nlp(docs[k])) != expected[k]

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, range(n_threads)))
    print(f"{sum(counts)} Docs from {n_threads} threads, {sum(wrong)} differ from one thread")
    return sum(wrong)


def kill_worker(nlp: Language, n_docs: int = 20_000) -> None:
    """Kill one of two worker processes of nlp.pipe, and print what became of it."""
    texts = (" ".join(token.text for token in doc) for doc in make_docs(nlp, n_docs))
    stream = nlp.pipe(texts, n_process=2, batch_size=50)
    try:
        list(islice(stream, 10))
        victim = multiprocessing.active_children()[0]
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        n_more = sum(1 for _ in stream)
        print(f"finished, with {n_more + 10} of {n_docs} Docs", flush=True)
    except Exception as problem:
        print(f"{type(problem).__name__}: {problem}", flush=True)
    # What is left of the workers may wait for ever for a reader.
    os.killpg(0, signal.SIGKILL)


def killed_worker(name: str) -> str:
    """What `kill_worker` says, run in a process of its own, or "hangs".

    name (str): "linearizer" for the bundled pipeline, "spacy" for one without any component of ours.
    """
    command = [sys.executable, __file__, "--kill-worker-of", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.stdout is not None
    try:
        said, _ = process.communicate(timeout=KILL_LIMIT)
        return said.decode().strip()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "hangs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=1_000_000)
    parser.add_argument("--new-words", type=float, default=0.2, help="share of words that were never seen before")
    parser.add_argument("--blank", action="store_true", help="spaCy without a linearizer")
    parser.add_argument("--threads", type=int, help="order from so many threads at once")
    parser.add_argument("--minutes", type=float, default=10, help="for so long")
    parser.add_argument("--kill-worker", action="store_true", help="kill one of two worker processes")
    parser.add_argument("--kill-worker-of", choices=["linearizer", "spacy"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kill_worker:
        ours, spacys = killed_worker("linearizer"), killed_worker("spacy")
        print(f"a worker was killed: {ours}\nthe same without a linearizer: {spacys}")
        sys.exit(ours != spacys)
    if arguments.kill_worker_of:
        kill_worker(spacy_linearize.load() if arguments.kill_worker_of == "linearizer" else spacy.blank("en"))
    nlp = spacy.blank("en") if arguments.blank else spacy_linearize.load()
    if arguments.threads:
        sys.exit(soak_threads(nlp, arguments.threads, arguments.minutes) > 0)
    growth = soak_memory(nlp, arguments.docs, new_words=arguments.new_words)
    if not arguments.blank:
        sys.exit(growth - growth_alone(arguments.docs, arguments.new_words) > MAX_GROWTH)


if __name__ == "__main__":
    main()
