"""What becomes of damaged files and of processes that are killed, in numbers too large for the tests.

    python benchmarks/faults.py models --flips 10000      every truncation, and bytes flipped at random
    python benchmarks/faults.py pipeline --flips 2000     the same for the component of a pipeline
    python benchmarks/faults.py treebanks --faults 2000   CoNLL-U and brackets: bytes flipped, cut, NUL, not UTF-8
    python benchmarks/faults.py kills --times 200         a process that saves is killed: is the file whole?

Each campaign runs in a process of its own, so that a crash is seen as one; a case that takes longer than a minute ends
it too. Prints a line a campaign and the number of cases by what became of them; the exit code is 1 if one went wrong.
In treebanks, what is lost "in silence" leaves a good file behind: it was cut between two rows or two sentences, or two
trees became one.
Cases depend on --seed and nothing else.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
LONGEST = 60.0  # seconds that a case may take


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true", help="run in this process")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("models").add_argument("--flips", type=int, default=10_000)
    commands.add_parser("pipeline").add_argument("--flips", type=int, default=2000)
    commands.add_parser("treebanks").add_argument("--faults", type=int, default=2000)
    commands.add_parser("kills").add_argument("--times", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.here or arguments.command == "kills":
        sys.exit(COMMANDS[arguments.command](arguments))
    result = subprocess.run([sys.executable, __file__, "--here", *sys.argv[1:]], check=False)
    if result.returncode < 0:
        print(f"CRASH: {signal.Signals(-result.returncode).name}")
    sys.exit(int(result.returncode != 0))


class Campaign:
    """Counts what becomes of cases. One that raises is printed with its number and counts as wrong."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.start = time.perf_counter()

    def run(self, case: object, check: Callable[[], str]) -> None:
        import faulthandler

        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            self.counts[check()] += 1
        except Exception as problem:
            print(f"WRONG: {self.name}, case {case}: {type(problem).__name__}: {problem}")
            self.counts["WRONG"] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()

    def end(self) -> int:
        """Print the counts, and return those that are wrong."""
        counts = ", ".join(f"{n:,} {what}" for what, n in sorted(self.counts.items()))
        seconds = time.perf_counter() - self.start
        print(f"{self.name}: {self.counts.total():,} cases in {seconds:.0f} s: {counts}", flush=True)
        return self.counts["WRONG"]


def models(arguments: argparse.Namespace) -> int:
    """Model files of the three kinds that there are."""
    import damage

    sentences = damage.gold()
    wrong = 0
    for kind in damage.MODELS:
        model = damage.make_model(kind)

        def outcome(data: bytes) -> str:
            return "decode" if damage.decodes(data, sentences) else "refused"

        campaign = Campaign(f"{kind} model of {len(model)} bytes, every truncation")
        for length in range(len(model)):
            campaign.run(length, lambda model=model, length=length: outcome(model[:length]))
        wrong += campaign.end()
        for name, change in (
            ("a byte flipped", damage.flipped),
            ("a byte flipped behind a good checksum", damage.flipped_and_sealed),
        ):
            campaign = Campaign(f"{kind} model, {name}")
            for i in range(arguments.flips):
                rng = damage.rng_for(arguments.seed, kind, name, i)
                campaign.run(i, lambda model=model, rng=rng, change=change: outcome(change(model, rng)))
            wrong += campaign.end()
    return int(wrong > 0)


def pipeline(arguments: argparse.Namespace) -> int:
    """The file of a component's model, and the component's own bytes."""
    import damage
    import spacy

    small = damage.make_component()
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer").from_bytes(small)
    model = nlp.get_pipe("linearizer").model.to_bytes()

    def outcome(data: bytes) -> str:
        return "decode" if damage.pipeline_decodes(nlp, data) else "refused"

    wrong = 0
    # What is around the engine is small: the first bytes, and the table of spaces at the end.
    near_ends = [*range(2000), *range(len(model) - 2000, len(model))]
    campaign = Campaign(f"pipeline with a model of {len(model)} bytes, truncated near its ends")
    for length in near_ends[:: max(1, len(near_ends) // arguments.flips)]:
        campaign.run(length, lambda length=length: outcome(model[:length]))
    wrong += campaign.end()
    campaign = Campaign("pipeline, a byte flipped, half of them near the ends")
    for i in range(arguments.flips):
        rng = damage.rng_for(arguments.seed, "pipeline", i)
        near_end = rng.choice((0, len(model) - 2000))
        place = (near_end, near_end + 2000) if rng.random() < 0.5 else (0, len(model))
        campaign.run(i, lambda rng=rng, place=place: outcome(damage.flipped(model, rng, *place)))
    wrong += campaign.end()
    # The bytes of the component have the vocabulary, tags and labels before the model.
    component = spacy.blank("en").add_pipe("linearizer").from_bytes(small).to_bytes()
    end = component.index(b"model") + 200
    campaign = Campaign(f"component of {len(component)} bytes, a byte flipped, half of them before the model")
    for i in range(arguments.flips):
        rng = damage.rng_for(arguments.seed, "component", i)
        data = damage.flipped(component, rng, 0, end if rng.random() < 0.5 else None)
        campaign.run(i, lambda data=data: "decode" if damage.component_decodes(nlp, data) else "refused")
    wrong += campaign.end()
    return int(wrong > 0)


def treebanks(arguments: argparse.Namespace) -> int:
    """Treebank files: what is not touched must be there."""
    import damage

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("conllu", "mrg"):
            bank = damage.Treebank(kind, Path(folder))

            def outcome(start: int, end: int, new: bytes, bank: "damage.Treebank" = bank) -> str:
                n_docs, n_problems = bank.check(start, end, new)
                return "with reports" if n_problems else "read as a whole" if n_docs == len(bank.good) else "in silence"

            campaign = Campaign(f"{kind}, {len(bank.good)} sentences, damaged in one place")
            for i in range(arguments.faults):
                place = bank.damage(damage.rng_for(arguments.seed, kind, i))
                campaign.run(i, lambda place=place, outcome=outcome: outcome(*place))
            wrong += campaign.end()
            campaign = Campaign(f"{kind}, truncated")
            for i in range(min(arguments.faults, len(bank.data))):
                at = damage.rng_for(arguments.seed, kind, "cut", i).randrange(len(bank.data))
                campaign.run(at, lambda at=at, bank=bank, outcome=outcome: outcome(at, len(bank.data), b""))
            wrong += campaign.end()
            campaign = Campaign(f"{kind}, garbage")
            for i in range(arguments.faults):
                data = damage.garbage(damage.rng_for(arguments.seed, kind, "garbage", i))
                campaign.run(i, lambda data=data, bank=bank: "with reports" if bank.read(data)[1] else "no report")
            wrong += campaign.end()
    return int(wrong > 0)


def kill_a_saver(path: Path, sources: list[Path], delay: float) -> None:
    """Start a process that saves two files in turn to one path, and kill it."""
    import damage

    command = [sys.executable, "-c", damage.SAVER, *map(str, (path, *sources))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
        process.wait()


def kills(arguments: argparse.Namespace) -> int:
    """Kill a process that saves."""
    import damage

    from spacy_linearize.core.engine import Engine

    rng = random.Random(arguments.seed)
    campaign = Campaign("a process that saves is killed")
    with tempfile.TemporaryDirectory() as folder:
        path, sources = Path(folder) / "model", [Path(folder) / kind for kind in ("compact", "plain")]
        contents = [damage.make_model(source.name) for source in sources]
        for source, content in zip(sources, contents, strict=True):
            source.write_bytes(content)
        path.write_bytes(contents[0])

        def check() -> str:
            kill_a_saver(path, sources, rng.uniform(0, 0.05))
            Engine.load(path)
            which = ("first", "second")[contents.index(path.read_bytes())]
            left = [file for file in Path(folder).iterdir() if file not in (path, *sources)]
            for file in left:
                file.unlink()
            return f"{which} model, killed while writing" if left else f"{which} model"

        for i in range(arguments.times):
            campaign.run(i, check)
    return int(campaign.end() > 0)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "models": models,
    "pipeline": pipeline,
    "treebanks": treebanks,
    "kills": kills,
}

if __name__ == "__main__":
    main()
