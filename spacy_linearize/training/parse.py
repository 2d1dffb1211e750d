"""From raw text to a treebank: a pipeline with a parser annotates sentences, and .spacy files in a folder hold them.

The folder is written shard by shard. Each shard is written atomically. A small file beside them says how far the run
has come. A run that was killed resumes after its last complete shard, and ends with the same files as one that was not
interrupted.
"""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly
from spacy.attrs import DEP, HEAD, ORTH, SPACY, TAG
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..atomic import open_alone, save
from ..core.keyset import KeySet
from ..core.records import Array
from ..doc.components import components_for, hash_of
from ..doc.spacy_files import read_docbin, read_spacy
from ..errors import error
from ..lines import DOCS, STDIN, TEXT_SUFFIXES, Progress, find_files, read_lines
from ..processes import in_processes
from ..trees import FREE, ROOT, is_projective

STATE, LOCK = "parse.json", ".parse.lock"
ATTRS = DocBin(attrs=["TAG", "DEP", "HEAD"]).attrs
_FORM, _TAG, _DEP, _HEAD = map(ATTRS.index, (ORTH, TAG, DEP, HEAD))
ARCS = ["token.dep", "token.head"]
WANTED = [*ARCS, "token.tag", "token.is_sent_start"]
KEPT = 0
REASONS = ("kept", "too_short", "too_long", "few_letters", "not_one_root", "not_projective")  # by number, from KEPT


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which sentences to keep.

    min_words, max_words (int): The length of a sentence, in tokens.
    min_letters (float): The share of letters among its characters, not counting spaces: from 0 to 1.
    one_root (bool): Leave out sentences whose tree does not have exactly one root, or lacks arcs.
    projective (bool): Leave out sentences whose arcs cross. A linearizer learns from these only if it lifts.
    unique (bool): Leave out sentences that have come up before.
    """

    min_words: int = 3
    max_words: int = 60
    min_letters: float = 0.5
    one_root: bool = True
    projective: bool = True
    unique: bool = True

    def __post_init__(self) -> None:
        if self.min_words < 1:
            raise error("SL022", key="min_words", value=self.min_words, expected="1 or more")
        if self.max_words < self.min_words:
            raise error("SL022", key="max_words", value=self.max_words, expected=f"{self.min_words} or more")
        if not 0 <= self.min_letters <= 1:
            raise error("SL022", key="min_letters", value=self.min_letters, expected="a share from 0 to 1")

    def judge(self, text: str, heads: list[int]) -> int:
        """The number of the first reason in REASONS to leave a sentence out, or KEPT.

        heads (List[int]): Of its tokens: positions, FREE or ROOT.
        """
        n_characters = sum(map(len, text.split()))
        reasons = (
            False,
            len(heads) < self.min_words,
            len(heads) > self.max_words,
            sum(map(str.isalpha, text)) < self.min_letters * n_characters,
            self.one_root and (heads.count(ROOT) != 1 or FREE in heads),
        )
        if any(reasons):
            return reasons.index(True)
        return len(reasons) if self.projective and not is_projective(heads) else KEPT


@dataclass(kw_only=True)
class Counts:
    """What a run has found. A sentence is either kept, or counted under the first reason to leave it out."""

    lines: int = 0
    sentences: int = 0
    kept: int = 0
    words: int = 0  # of the sentences that were kept
    too_short: int = 0
    too_long: int = 0
    few_letters: int = 0
    not_one_root: int = 0
    not_projective: int = 0
    duplicates: int = 0


@dataclass(kw_only=True)
class State:
    """How far a run has come: what is in complete shards."""

    settings: dict[str, Any]
    shards: int = 0
    is_done: bool = False
    counts: Counts = field(default_factory=Counts)


def parse_text(
    nlp: Language,
    paths: str | Path | Iterable[str | Path],
    folder: str | Path,
    *,
    filters: Filters | None = None,
    keep_tokens: bool = False,
    shard_size: int = 5000,
    limit: int = 0,
    n_process: int = 1,
    batch_size: int = 100,
    disable: Iterable[str] = (),
    progress: Progress | None = None,
) -> Counts:
    """Parse text into a folder of .spacy files, one sentence a Doc, with the tags, arcs and labels that the pipeline
    gives. What it does not give is left empty. The result does not depend on n_process.

    nlp (Language): A pipeline with a parser. Only the components that are needed run, see `components_for`.
    paths (Union[str, Path, Iterable[Union[str, Path]]]): The text, see `lines.read_lines`. With `keep_tokens` it may be
        .spacy files, too: their sentences are parsed anew.
    folder (Union[str, Path]): Where to write. If it holds an earlier run with the same settings, that run is
        resumed, if components and text are the same, too; of standard input this is not known.
    filters (Optional[Filters]): Which sentences to keep. None for the defaults.
    keep_tokens (bool): Whether the text is tokenised already, one sentence a line: it is split at spaces, and no
        further. Then it is not known where spaces belong.
    shard_size (int): The largest number of sentences in a file.
    limit (int): Stop after this many sentences. 0 for all.
    n_process (int): In how many processes to parse.
    batch_size (int): How many lines go to a process at a time.
    disable (Iterable[str]): Further components to leave out.
    progress (Optional[Callable[[int], object]]): Is told the number of bytes read since it was last told.
    """
    for key, value, least in (
        ("shard_size", shard_size, 1),
        ("limit", limit, 0),
        ("n_process", n_process, 1),
        ("batch_size", batch_size, 1),
    ):
        if type(value) is not int or value < least:
            raise error("SL022", key=key, value=value, expected=f"a whole number from {least}")
    filters, folder = filters or Filters(), Path(folder)
    disable = list(disable)
    for name in disable:
        if name not in nlp.component_names:
            raise error("SL022", key="disable", value=name, expected=f"one of {', '.join(nlp.component_names)}")
    with nlp.select_pipes(disable=disable):
        needed = components_for(nlp, WANTED)
        if not set(needed) & set(components_for(nlp, ["token.head"])):
            raise error("SL217", model=nlp.meta["name"])
    settings = {
        "pipeline": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
        "components": needed,
        "hash of the components": hash_of(nlp, needed),
        "text": [str(path) for path in ([paths] if isinstance(paths, (str, Path)) else list(paths))],
        "keep_tokens": keep_tokens,
        "shard_size": shard_size,
        "batch_size": batch_size,
        "limit": limit,
        **asdict(filters),
    }
    files = find_files(settings["text"], (*TEXT_SUFFIXES, DOCS) if keep_tokens else TEXT_SUFFIXES)
    settings["bytes of text"] = sum(file.stat().st_size for file in files if file != STDIN and file.exists())
    lines = read_tokens(files, progress) if keep_tokens else read_lines(files, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    _read_state(folder, settings)  # says what is wrong before there is a lock
    with open_alone(folder / LOCK):
        shards = _Shards(folder, settings)
        if shards.state.is_done:
            return shards.state.counts
        for _ in islice(lines, shards.state.counts.lines):  # they are in the shards
            pass
        with nlp.select_pipes(enable=needed):
            arguments = (pickle.dumps(nlp), filters, keep_tokens)
        batches = iter(lambda: list(islice(lines, batch_size)), [])
        with closing(in_processes(_ParseWorker, arguments, batches, n_process=n_process)) as results:
            for batch in results:
                if shards.add(batch):
                    break
        shards.finish()
        return shards.state.counts


def read_tokens(files: Iterable[Path], progress: Progress | None) -> Iterator[str]:
    """Tokenised sentences: lines of text, and the sentences of .spacy files as such lines."""
    for file in files:
        if file.suffix.lower() != DOCS:
            yield from read_lines(file, progress=progress)
            continue
        for doc in read_spacy(file, Vocab()):
            yield from (" ".join(token.text for token in doc[start:end]) for start, end in _spans(doc))
        if progress is not None:
            progress(file.stat().st_size)


class _Parsed(NamedTuple):
    """The result for a batch of lines.

    verdicts (ndarray): For each sentence, the number of the reason to leave it out, or KEPT.
    tokens (List[ndarray]): The sentences that are kept, as DocBin stores them, with the columns ATTRS.
    spaces (List[ndarray]): Likewise, whether a space follows each token. Empty if this is not known.
    strings (Set[str]): Their words, tags and labels.
    hashes (ndarray): For each of them, a hash of its words.
    """

    n_lines: int
    verdicts: Array
    tokens: list[Array]
    spaces: list[Array]
    strings: set[str]
    hashes: Array


class _ParseWorker:
    """Parses lines with its own copy of a pipeline. Strings that are new in them are forgotten after each call."""

    def __init__(self, packed: bytes, filters: Filters, keep_tokens: bool) -> None:
        self.nlp: Language = pickle.loads(packed)
        self.filters = filters
        self.keep_tokens = keep_tokens

    def __call__(self, lines: list[str]) -> _Parsed:
        verdicts: list[int] = []
        tokens: list[Array] = []
        spaces: list[Array] = []
        strings: set[str] = set()
        with self.nlp.memory_zone():
            for doc in self.nlp.pipe(self._docs(lines)):
                table, space = doc.to_array(ATTRS), doc.to_array(SPACY).astype(bool)
                for start, end in _spans(doc):
                    part = table[start:end]
                    heads = _heads(part)
                    verdict = self.filters.judge(doc[start:end].text, heads)
                    verdicts.append(verdict)
                    if verdict == KEPT:
                        tokens.append(_only_inside(part, heads))
                        spaces.append(space[start:end] & (np.arange(start, end) < end - 1))
            if tokens:
                keys = np.unique(np.concatenate([part[:, [_FORM, _TAG, _DEP]].ravel() for part in tokens]))
                strings.update(self.nlp.vocab.strings[key] for key in keys.tolist() if key)
        hashes = np.array([sentence_hash(part[:, _FORM]) for part in tokens], dtype=np.uint64)
        spaces = [] if self.keep_tokens else spaces
        return _Parsed(len(lines), np.array(verdicts, dtype=np.uint8), tokens, spaces, strings, hashes)

    def _docs(self, lines: list[str]) -> Iterator[Doc]:
        vocab = self.nlp.vocab
        for line in lines:
            words = line.split()
            if self.keep_tokens:
                # The parser starts no sentence where a start is ruled out.
                yield Doc(vocab, words=words, sent_starts=[True, *[False] * (len(words) - 1)])
            else:
                yield self.nlp.make_doc(" ".join(words))  # no tokens of space


def _spans(doc: Doc) -> list[tuple[int, int]]:
    return [(sent.start, sent.end) for sent in doc.sents] if doc.has_annotation("SENT_START") else [(0, len(doc))]


def _heads(table: Array) -> list[int]:
    """Heads as positions in the sentence, FREE or ROOT. A head outside the sentence is FREE."""
    offsets, deps = table[:, _HEAD].astype(np.int64).tolist(), table[:, _DEP].tolist()
    heads = [ROOT if not offset else i + offset for i, offset in enumerate(offsets)]
    n = len(heads)
    return [head if dep and (head == ROOT or 0 <= head < n) else FREE for head, dep in zip(heads, deps, strict=True)]


def _only_inside(table: Array, heads: list[int]) -> Array:
    """A table without the arcs that lead outside the sentence."""
    if FREE not in heads:
        return table
    table = table.copy()
    table[np.array(heads) == FREE, _HEAD] = table[np.array(heads) == FREE, _DEP] = 0
    return table


def sentence_hash(forms: Array) -> int:
    """A 64-bit hash of a sentence, computed from the keys of its words."""
    return int.from_bytes(blake2b(np.ascontiguousarray(forms).tobytes(), digest_size=8).digest(), "little")


class _Shards:
    """The folder of a run, and the sentences that wait to be written to it."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.state = _read_state(folder, settings)
        self.counts = replace(self.state.counts)  # with what waits
        self.seen = KeySet()
        self.waiting = DocBin(attrs=ATTRS)
        self._save_state()  # from now on the folder is that of this run
        for path in sorted(folder.glob("*.spacy"))[self.state.shards :]:  # after the last state that was written
            path.unlink()
        for number in range(self.state.shards):
            tokens = read_docbin(self._path(number)).tokens
            self.seen.add(np.unique(np.array([sentence_hash(part[:, 0]) for part in tokens], dtype=np.uint64)))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.spacy"

    def add(self, batch: _Parsed) -> bool:
        """Add a batch. RETURNS (bool): Whether the limit is reached."""
        kept = np.arange(len(batch.hashes))
        if self.state.settings["unique"]:
            found, first = np.unique(batch.hashes, return_index=True)
            kept = np.sort(first[self.seen.add(found)])
        limit, size = self.state.settings["limit"], self.state.settings["shard_size"]
        is_last = bool(limit) and self.counts.kept + len(kept) >= limit
        if len(self.waiting) + len(kept) > size:
            self._write(len(self.waiting))
        verdicts = batch.verdicts
        if is_last:
            kept = kept[: limit - self.counts.kept]
            last = np.flatnonzero(verdicts == KEPT)[kept[-1]]
            verdicts = verdicts[: last + 1]  # what comes after it does not count
        self._count(batch, verdicts, kept)
        self.waiting.strings |= batch.strings
        for k in kept.tolist():
            tokens = batch.tokens[k]
            self.waiting.tokens.append(tokens)
            known = batch.spaces[k] if batch.spaces else np.ones(len(tokens), dtype=bool)
            self.waiting.spaces.append(known.reshape(-1, 1))
            self.waiting.flags.append({"has_unknown_spaces": not batch.spaces})
            self.waiting.cats.append({})
            self.waiting.span_groups.append(b"")
        while len(self.waiting) > size:  # of one batch
            self._write(size)
        return is_last

    def _count(self, batch: _Parsed, verdicts: Array, kept: Array) -> None:
        counts = self.counts
        counts.lines += batch.n_lines
        counts.sentences += len(verdicts)
        for number, reason in enumerate(REASONS):
            n = int((verdicts == number).sum())
            setattr(counts, reason, getattr(counts, reason) + (len(kept) if number == KEPT else n))
        counts.duplicates += int((verdicts == KEPT).sum()) - len(kept)
        counts.words += sum(len(batch.tokens[k]) for k in kept.tolist())

    def _write(self, n: int) -> None:
        """Write the first n of the waiting sentences. If none is left, the state is written, too."""
        shard, rest = DocBin(attrs=ATTRS), DocBin(attrs=ATTRS)
        shard.strings = rest.strings = self.waiting.strings
        for name in ("tokens", "spaces", "flags", "cats", "span_groups"):
            column = getattr(self.waiting, name)
            setattr(shard, name, column[:n])
            setattr(rest, name, column[n:])
        if n:
            save(self._path(self.state.shards), shard.to_bytes())
            self.state.shards += 1
        if not len(rest):
            rest.strings = set()
            self.state.counts = replace(self.counts)
            self._save_state()
        self.waiting = rest

    def finish(self) -> None:
        self._write(len(self.waiting))
        self.state.is_done = True
        self._save_state()

    def _save_state(self) -> None:
        save(self.folder / STATE, srsly.json_dumps(asdict(self.state), indent=2).encode("utf8"))


def _read_state(folder: Path, settings: dict[str, Any]) -> State:
    path = folder / STATE
    if not path.exists():
        if any(not file.name.startswith(".") for file in folder.iterdir()):
            raise error("SL218", path=folder)
        return State(settings=settings)
    try:
        found = srsly.read_json(path)
        state = State(**{**found, "counts": Counts(**found["counts"])})
        old, shards = dict(state.settings), int(state.shards)
    except (OSError, ValueError, TypeError, KeyError) as broken:
        raise error("SL219", path=path) from broken
    for key in sorted({*old, *settings}):
        if old.get(key) != settings.get(key):
            raise error("SL220", path=folder, key=key, old=old.get(key), new=settings.get(key))
    if not all((folder / f"{number:06}.spacy").exists() for number in range(shards)):
        raise error("SL219", path=path)
    return state
