"""A fuzz campaign for the commands order and score: streams of good and bad bags, odd formats, odd descriptors.

    python benchmarks/fuzz_streams.py --cases 5000 --seed 1

Each case runs in a process of its own (a fork, so that the pipeline is loaded once) with real descriptors: files,
pipes, /dev/full, or closed ones. Whatever comes in: no traceback; an exit code that says whether all went well; each
line of standard error a report; as many results as good bags, with their words; the input stays as it was, and so does
the output of a run that was refused; no temporary file is left. For Unix.
"""

import argparse
import contextlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
from fuzz_cases import pipeline
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

import spacy_linearize
from spacy_linearize.cli import app
from spacy_linearize.files.conllu import BadSentence, read_sentences

WORDS = ("dog", "The", "sleeps", "a", "a", "opened", "?", ".", "Who", "ß", "日本", "e\u0301", "a\u00a0b", "#", "_", "0")
ODD_LINES = (
    b"",
    b" ",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x00",
    b"a\x00b",
    b"\xe2\x80\xa8 a",
    b"\x0c a\x1cb",
    b"\xef\xbb\xbf",
)
ODD_ROWS = (
    "1\tdog",
    "1\t\t_\t_\t_\t_\t0\troot\t_\t_",
    "1\tdog\tdog\tNN\tNNP\tsg|x\t0\troot\t_\t_",
    "1-9\tdog\t_\t_\t_\t_\t_\t_\t_\t_",
    "9-1\tdog\t_\t_\t_\t_\t_\t_\t_\t_",
    "1\tdog\t_\t_\t_\t_\t1\tx\t_\t_",
    "1\tdog\t_\t_\t_\t_\t7\tx\t_\t_",
    "1\tdog\t_\t_\t_\t_\t" + "9" * 5000 + "\tx\t_\t_",
    "1.1\tdog\t_\t_\t_\t_\t_\t_\t_\t_",
    "1\tdog\t_\t_\t_\tlin=+1\t0\troot\t_\tlin=+2",
    "1\tdog\t_\t_\t_\tlin=x\t0\troot\t_\t_",
    "١\tdog\t_\t_\t_\t_\t0\troot\t_\t_",
    "# sent_id = x",
    "# sent_id = x-2",
)
ODD_VALUES: tuple[Any, ...] = (
    5,
    "a",
    [[0]],
    [[0, 1], [1, 0]],
    {"a": 1},
    [None],
    [[0, 99]],
    [0.5],
    [[0, 1, 2]],
    True,
    [[]],
)
STREAMS = ("file", "file", "file", "file", "file", "pipe", "pipe", "pipe", "null", "full", "closed", "input")
REPORT = re.compile(r"✘ (\d+)(?: \(line \d+\))?: \S")


class Broken(Exception):
    """A promise is broken."""


@dataclass
class Case:
    """One run of a command.

    source (bytes): What stands in the input, or None if the bags are words.
    n_bags (Optional[int]): How many bags there are, where that is known beforehand.
    words (Optional[List[List[str]]]): Their words, likewise.
    """

    command: str
    options: list[str]
    kind: str
    data: bytes
    n_bags: int | None
    words: list[list[str]] | None
    target: str | None
    stdin: str
    stdout: str
    stderr: str
    old: bytes | None
    units: str | None = None


@dataclass
class Result:
    code: int
    crash: str
    out: bytes
    err: str
    target: bytes | None
    lines: list[str] = field(default_factory=list)


# Making cases


def random_words(rng: random.Random) -> list[str]:
    return [rng.choice(WORDS) for _ in range(rng.randint(0, 6))]


def random_bytes(rng: random.Random) -> bytes:
    return bytes(rng.choice((rng.randrange(256), 10, 32, 97, 9)) for _ in range(rng.randint(0, 60)))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Cut, or with some bytes changed."""
    if not data or rng.random() < 0.3:
        return data[: rng.randint(0, len(data))]
    broken = bytearray(data)
    for _ in range(rng.randint(1, 5)):
        broken[rng.randrange(len(broken))] = rng.randrange(256)
    return bytes(broken)


def random_text(rng: random.Random) -> tuple[bytes, int | None, list[list[str]] | None]:
    lines = []
    share = rng.choice((0, 0.4))
    for _ in range(rng.randint(0, 8)):
        odd = rng.choice((rng.choice(ODD_LINES), random_bytes(rng).replace(b"\n", b"")))
        lines.append(odd if rng.random() < share else " ".join(random_words(rng)).encode())
    data = b"\n".join(lines) + rng.choice((b"", b"\n"))
    rows = data.split(b"\n")[: data.count(b"\n") + (not data.endswith(b"\n") and bool(data))]
    with contextlib.suppress(UnicodeDecodeError):
        return data, len(rows), [row.decode().removeprefix("" if i else "\ufeff").split() for i, row in enumerate(rows)]
    return data, len(rows), None


def random_conllu(rng: random.Random) -> tuple[bytes, None, None]:
    blocks = []
    for i in range(rng.randint(0, 6)):
        words = random_words(rng)
        rows = [f"# sent_id = {rng.choice(('x', 'x-2', str(i)))}"] if rng.random() < 0.5 else []
        for k, word in enumerate(words, start=1):
            head = rng.choice(("_", "_", str(rng.randint(0, len(words)))))
            tag, label = rng.choice(("_", "NN", "ZZ")), rng.choice(("_", "det", "zz"))
            rows.append(f"{k}\t{word}\t_\t{tag}\t{tag}\t_\t{head}\t{label}\t_\t_")
        if rng.random() < 0.3:
            rows.insert(rng.randint(0, len(rows)), rng.choice(ODD_ROWS))
        blocks.append("\n".join(rows))
    data = "\n\n".join(blocks).encode() + rng.choice((b"", b"\n", b"\n\n"))
    return damaged(rng, data) if rng.random() < 0.3 else data, None, None


def random_spacy(rng: random.Random, nlp: Language) -> tuple[bytes, int | None, list[list[str]] | None]:
    docs = []
    for _ in range(rng.randint(0, 6)):
        words = [*random_words(rng), *rng.choice(([], [], ["\n"], ["a\tb", "New York"], ["x" * 300]))]
        n = len(words)
        heads = [rng.choice((None, None, rng.randrange(n))) for _ in words]
        deps = [rng.choice(("", "det", "zz", "ROOT")) if head is not None else "" for head in heads]
        tags = [rng.choice(("", "NN", "\u2028")) for _ in words]
        doc = Doc(nlp.vocab, words=words, tags=tags)
        with contextlib.suppress(ValueError):  # heads that spaCy itself will not have
            doc = Doc(nlp.vocab, words=words, tags=tags, heads=heads, deps=deps)
        if rng.random() < 0.5:
            doc.user_data["sent_id"] = rng.choice(("x", "x-2", 7, "a\nb", None, ["x"]))
        if n and rng.random() < 0.3:
            doc.user_data["._.", f"linearize_{rng.choice(('before', 'fixed', 'first', 'last'))}", None, None] = (
                rng.choice(ODD_VALUES)
            )
        if n and rng.random() < 0.2:
            doc.spans["units"] = [Span(doc, 0, rng.randint(1, n))]
        docs.append(doc)
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    chance = rng.random()
    if chance < 0.15:
        return damaged(rng, data), None, None
    if chance < 0.3:
        return zlib.compress(damaged(rng, zlib.decompress(data))), None, None
    return data, len(docs), [[token.text for token in doc] for doc in docs]


def random_jsonl(rng: random.Random) -> tuple[bytes, None, None]:
    lines = []
    for _ in range(rng.randint(0, 6)):
        words = random_words(rng)
        n = len(words) + 1
        bag: dict[str, object] = {"words": words}
        for key, value in (
            ("heads", [rng.choice((None, None, rng.randrange(n))) for _ in words]),
            ("tags", [rng.choice((None, "", "NN", "ZZ")) for _ in words]),
            ("labels", [rng.choice((None, None, None, "det")) for _ in words]),
            ("precedences", [[rng.randrange(n), rng.randrange(n)]]),
            ("units", [[rng.randrange(n), rng.randrange(n)]]),
            ("id", rng.choice((1, "x", "\u2028", None, [1]))),
        ):
            if rng.random() < 0.3:
                bag[key] = value if rng.random() < 0.9 else rng.choice((1, "x", [], {}, None, [[]], [None], "\ud800"))
        lines.append(json.dumps(bag).encode())
    data = b"\n".join(lines) + rng.choice((b"", b"\n", b"\n\n"))
    return damaged(rng, data) if rng.random() < 0.3 else data, None, None


def random_case(rng: random.Random, nlp: Language) -> Case:
    command = rng.choice(("order", "order", "score"))
    kind = rng.choice(("text", "text", "conllu", "spacy", "jsonl", "words"))
    data, n_bags, words = {
        "text": random_text,
        "conllu": random_conllu,
        "jsonl": random_jsonl,
        "spacy": lambda rng: random_spacy(rng, nlp),
        "words": lambda rng: (b"", 1, None),
    }[kind](rng)
    if rng.random() < 0.03:
        data, n_bags, words = random_bytes(rng), None, None
    options = []
    stderr = rng.choice(("file", "file", "file", "file", "file", "file", "null", "closed", "full"))
    if rng.random() < 0.3:
        options += [rng.choice(("--no-use-tags", "--no-use-heads", "--use-heads"))]
    if rng.random() < 0.2:
        options += [
            "--beam",
            rng.choice(("1", "2", "0", "x" if stderr in ("file", "null") else "3")),
        ]  # usage is typer's
    target = None
    if command == "score":
        options += ["--jsonl"] if rng.random() < 0.5 else []
    else:
        if rng.random() < 0.4:
            options += ["--format", rng.choice(("text", "jsonl", "conllu", "spacy"))]
        if rng.random() < 0.3:
            options += ["--n-best", rng.choice(("1", "2", "3", "0"))]
        if rng.random() < 0.2:
            options += ["--threads", "2"]
        if rng.random() < 0.5:
            target = rng.choice(("out.txt", "out.jsonl", "out.conllu", "out.spacy", "out", "new/out.txt", "IN"))
        options += ["--output", "-"] if target is None and rng.random() < 0.2 else []
    if kind == "words":
        some = random_words(rng) or ["dog"]
        # Bytes that are no UTF-8 come as Python has them in sys.argv.
        options += ["--", *some, *(["\udcff"] if rng.random() < 0.1 else [])]
    # All but words may come on standard input.
    stdin = rng.choice(("data", "data", "closed", "null")) if kind != "words" and rng.random() < 0.4 else "path"
    if stdin != "path":
        options += ["--input-format", kind, *(["--input", "-"] if rng.random() < 0.5 else [])]
    stdout = rng.choice(STREAMS)
    if kind == "words" or stdin in ("closed", "null"):  # the file is not read
        target = "out.txt" if target == "IN" else target
        stdout = "file" if stdout == "input" else stdout
        n_bags, words = (n_bags, words) if kind == "words" else (0, [])
    return Case(
        command=command,
        options=options,
        kind=kind,
        data=data,
        n_bags=n_bags,
        words=words,
        target=target,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        old=rng.choice((None, b"old\n")),
        units=rng.choice((None, None, None, "units", "ents")),
    )


# Running them


def run(case: Case, nlp: Language, folder: Path) -> Result:
    """Run a case in a child process, in an empty folder."""
    name = {"text": "in.txt", "words": "in.txt"}.get(case.kind, f"in.{case.kind}")
    source, out, err, crash = folder / name, folder / "stdout", folder / "stderr", folder / "crash"
    source.write_bytes(case.data)
    target = None if case.target is None else source if case.target == "IN" else folder / case.target
    if target is not None and target != source and case.old is not None and target.parent.exists():
        target.write_bytes(case.old)
    arguments = [case.command]
    if case.kind != "words" and case.stdin == "path":
        arguments += ["--input", str(source)]
    if target is not None:
        arguments += ["--output", str(target)]
    places = {"file": out, "null": Path("/dev/null"), "full": Path("/dev/full"), "input": source}
    reader, pipe = os.pipe()
    child = os.fork()
    if not child:
        code = 99
        try:
            signal.alarm(60)
            os.close(reader)
            _descriptor(0, source if case.stdin == "data" else None if case.stdin == "closed" else Path("/dev/null"))
            if case.stdout == "pipe":
                os.dup2(pipe, 1)
            else:
                _descriptor(1, places.get(case.stdout))
            _descriptor(2, {**places, "file": err}.get(case.stderr))
            if pipe > 2:
                os.close(pipe)
            nlp.get_pipe("linearizer").units = case.units
            code = _call([*arguments, *case.options], nlp, crash)
        finally:
            os._exit(code)
    os.close(pipe)
    with os.fdopen(reader, "rb") as file:
        piped = file.read()
    _, status = os.waitpid(child, 0)
    return Result(
        code=os.waitstatus_to_exitcode(status),
        crash=crash.read_text() if crash.exists() else "",
        out=piped if case.stdout == "pipe" else out.read_bytes() if out.exists() else b"",
        err=err.read_text(encoding="utf8") if err.exists() else "",
        target=target.read_bytes() if target is not None and target.is_file() else None,
    )


def _descriptor(number: int, path: Path | None) -> None:
    """Open a file as a standard stream, or close it."""
    if path is None:
        with contextlib.suppress(OSError):
            os.close(number)
        return
    flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
    opened = os.open(path, flags, 0o644)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


def _call(arguments: list[str], nlp: Language, crash: Path) -> int:
    """The command, between what Python does at the beginning of a process and at its end."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = None
        with contextlib.suppress(OSError):
            os.fstat(number)
            errors = "backslashreplace" if number == 2 else "strict"
            stream = open(number, "w" if number else "r", encoding="utf8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    spacy_linearize.load = lambda: nlp  # type: ignore[assignment]
    code: Any = 0
    try:
        app(arguments, prog_name="linearize")
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        crash.write_text(traceback.format_exc())
        return 98
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        crash.write_text(f"Python would complain at its end.\n{traceback.format_exc()}")
        return 120
    return int(code)


# What must be


def check(case: Case, nlp: Language) -> str:
    """Run a case and check what came of it. Returns in which way it ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = run(case, nlp, folder)
        if result.crash or result.code not in (0, 1, 2):
            raise Broken(f"exit code {result.code}, {result.crash or 'no traceback'}")
        left = [file.name for file in folder.rglob(".*")]
        if left:
            raise Broken(f"temporary files are left: {left}")
        sources = [file for file in folder.iterdir() if file.stem == "in"]
        if [file.read_bytes() for file in sources] != [case.data]:
            raise Broken("the input is no longer what it was")
        return check_result(case, result, folder)


def check_result(case: Case, result: Result, folder: Path) -> str:
    failures = [line for line in result.err.splitlines() if REPORT.match(line)]
    refusals = [line for line in result.err.splitlines() if line.startswith("✘") and not REPORT.match(line)]
    if result.code == 2:
        return "usage"
    is_heard = case.stderr == "file"
    if is_heard:
        odd = [line for line in result.err.split("\n")[:-1] if not line.startswith(("✘ ", "⚠ "))]
        if odd or "Traceback" in result.err:
            raise Broken(f"standard error has {odd or result.err}")
        if len(refusals) > 1:
            raise Broken(f"refused more than once: {refusals}")
        if (result.code != 0) != bool(failures or refusals):
            raise Broken(f"exit code {result.code} with the reports {result.err!r}")
        without_code = [line for line in failures if "[SL" not in line]
        if without_code:
            raise Broken(f"reports without a code: {without_code}")
    if refusals or (result.code and not is_heard):
        # A file that breaks off in the middle, or output that goes nowhere, may come after some results.
        is_late = not refusals or "SL180" in refusals[0] or "No space" in refusals[0]
        if not is_late and case.target not in (None, "IN") and result.target not in (None, case.old):
            raise Broken(f"refused, but the output was changed: {refusals}")
        return "refused" if refusals else "failed unheard"
    if case.target is None and case.stdout not in ("file", "pipe"):
        return "not seen"
    data = result.out if case.target is None else result.target
    if data is None:
        raise Broken("there is no output")
    if case.target is not None and result.out:
        raise Broken("something went to standard output, too")
    check_output(case, data, len(failures) if is_heard else None, folder)
    return "some bags failed" if failures else "all good"


def check_output(case: Case, data: bytes, n_failed: int | None, folder: Path) -> None:
    kind = "jsonl" if "--jsonl" in case.options else "table"
    n_best = 1
    if case.command == "order":
        suffix = Path(case.target or "").suffix
        kind = {".jsonl": "jsonl", ".conllu": "conllu", ".spacy": "spacy"}.get(suffix, "text")
        kind = case.options[case.options.index("--format") + 1] if "--format" in case.options else kind
        n_best = int(case.options[case.options.index("--n-best") + 1]) if "--n-best" in case.options else 1
    n_good = None if case.n_bags is None or n_failed is None else case.n_bags - n_failed
    if kind == "spacy":
        docs = list(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))
        if n_good is not None and not n_good <= len(docs) <= n_good * n_best:
            raise Broken(f"{len(docs)} Docs of {n_good} bags")
        return
    lines = data.decode("utf8").split("\n")
    if lines.pop():
        raise Broken("the last line is not whole")
    if kind == "conllu":
        ids = [line for line in lines if line.startswith("# sent_id")]
        if len(set(ids)) < len(ids):
            raise Broken(f"the same name twice: {ids}")
        bad = [
            problem
            for _, problem in read_sentences(data.splitlines(keepends=True), spacy.blank("en").vocab)
            if isinstance(problem, BadSentence)
        ]
        if bad:
            raise Broken(f"what was written cannot be read: {bad}")
        return
    if kind == "text":
        if n_best == 1 and case.n_bags is not None and len(lines) != case.n_bags:
            raise Broken(f"{len(lines)} lines for {case.n_bags} bags")
        if n_best > 1 and case.n_bags and n_failed == 0 and lines.count("") != case.n_bags - 1:
            raise Broken(f"{lines.count('')} empty lines between {case.n_bags} bags")
        if n_best == 1 and case.words is not None and n_failed == 0:
            for words, line in zip(case.words, lines, strict=True):
                if sorted("".join(words)) != sorted(line) and sorted("".join("".join(words).split())) != sorted(
                    "".join(line.split())
                ):
                    raise Broken(f"{words} became {line!r}")
        return
    if kind == "table":
        header = "number\tprobability\tgap per word\tsentence\tbetter"
        if lines[:1] != [header] or any(line.count("\t") != header.count("\t") for line in lines):
            raise Broken(f"no table: {lines}")
        numbers = [int(line.split("\t")[0]) for line in lines[1:]]
    else:
        records = [json.loads(line) for line in lines]
        if case.command == "order":
            check_answers(case, records, n_failed)
            return
        numbers = [record["number"] for record in records]
    if numbers != sorted(set(numbers)) or (n_good is not None and len(numbers) != n_good):
        raise Broken(f"the numbers {numbers} of {n_good} bags")


def check_answers(case: Case, records: list[dict[str, Any]], n_failed: int | None) -> None:
    """Every bag has its answers, best first, or an error."""
    number = -1
    for record in records:
        number += record.get("rank", 1) == 1
        is_checked = "error" not in record and case.words is not None
        if is_checked and sorted(record["words"]) != sorted(case.words[number]):
            raise Broken(f"not a permutation: {record}")
    if case.n_bags is not None and number + 1 != case.n_bags:
        raise Broken(f"{number + 1} answers for {case.n_bags} bags")
    if n_failed is not None and sum("error" in record for record in records) != n_failed:
        raise Broken(f"{n_failed} bags failed, but these were written: {records}")


# The campaign


def campaign(n_cases: int, seed: int, *, minutes: float = 1e9) -> tuple[Counter[str], list[str]]:
    """Check many random cases: how they ended, and what was broken."""
    nlp = pipeline("order_first", "both", True)
    counts: Counter[str] = Counter()
    violations = []
    start = time.monotonic()
    for i in range(n_cases):
        case = random_case(random.Random(f"{seed} {i}"), nlp)
        try:
            counts[check(case, nlp)] += 1
        except Broken as problem:
            counts["VIOLATION"] += 1
            violations.append(f"case {i}: {problem}\n    {case}")
        if time.monotonic() - start > 60 * minutes:
            break
    return counts, violations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    arguments = parser.parse_args()
    counts, violations = campaign(arguments.cases, arguments.seed, minutes=arguments.minutes)
    for name, count in sorted(counts.items()):
        print(f"{count:>9}  {name}")
    print(f"{counts.total()} cases, {len(violations)} violations")
    for violation in violations[:10]:
        print(violation)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
