"""Lines of text, as a stream: from files, compressed or not, from folders of them, and from standard input.

One line is one paragraph or one utterance. If a line cannot be decoded, only this line is lost.
"""

import bz2
import gzip
import io
import lzma
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from .errors import error

STDIN = Path("-")
DOCS = ".spacy"
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
TEXT_SUFFIXES = (".txt", *OPENERS)
MAX_BYTES = 1 << 16  # of a line; a longer one is read in parts, so that memory stays flat and a Doc short
MAX_WARNINGS = 10
ARPA = "\\data\\"  # with which a language model in ARPA format begins
MOVES = 64  # lines between two reports of progress

Progress = Callable[[int], object]


def find_files(paths: str | Path | Iterable[str | Path], suffixes: Iterable[str] = TEXT_SUFFIXES) -> list[Path]:
    """All files under these paths. Folders are searched recursively, and sorted by name. A missing path is an error.

    paths (Union[str, Path, Iterable[Union[str, Path]]]): Files, folders, or "-" for standard input.
    suffixes (Iterable[str]): Of the files to take from a folder. A file that is named itself may have any.
    """
    suffixes = tuple(suffixes)
    found: list[Path] = []
    for path in map(Path, [paths] if isinstance(paths, (str, Path)) else paths):
        if path == STDIN or (path.exists() and not path.is_dir()):
            found.append(path)
        elif path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in suffixes and file.is_file()]
            files = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
            if not files:
                raise error("SL211", path=path, suffixes=", ".join(suffixes))
            found += files
        else:
            raise error("SL210", path=path)
    return found


def count_bytes(files: Iterable[Path]) -> int | None:
    """The size of files on disk, which is what `progress` counts. None if it is not known in advance."""
    files = list(files)
    return sum(file.stat().st_size for file in files) if all(file.is_file() for file in files) else None


def read_lines(paths: str | Path | Iterable[str | Path], *, progress: Progress | None = None) -> Iterator[str]:
    """The lines of texts that are not blank, without leading and trailing space.

    A line that is not UTF-8 is left out with a warning that says where it is. A file that is not there, or is damaged,
    is an error.

    paths (Union[str, Path, Iterable[Union[str, Path]]]): See `find_files`. Files that end in .gz, .xz or .bz2 are
        unpacked.
    progress (Optional[Callable[[int], object]]): Is told the number of bytes read since it was last told. They are
        counted as they are on the disk.
    """
    files = find_files(paths)
    for file in files:
        if file.suffix.lower() == DOCS:
            raise error("SL212", path=file)
    return _decoded(files, progress)


def _decoded(files: list[Path], progress: Progress | None) -> Iterator[str]:
    n_bad = 0
    try:
        for file in files:
            is_first = True
            for number, raw in _raw_lines(file, progress):
                try:
                    text = raw.decode("utf8")
                except UnicodeDecodeError:
                    n_bad += 1
                    if n_bad <= MAX_WARNINGS:
                        warnings.warn(str(error("SL213", path=_name(file), line=number)), stacklevel=2)
                    continue
                text = text.removeprefix("\ufeff").strip() if number == 1 else text.strip()
                if text == ARPA and is_first:
                    raise error("SL224", path=_name(file))
                if text:
                    is_first = False
                    yield text
    finally:
        if n_bad > MAX_WARNINGS:
            warnings.warn(str(error("SL214", n=n_bad - MAX_WARNINGS)), stacklevel=2)


def _name(file: Path) -> str:
    return "standard input" if file == STDIN else str(file)


def _raw_lines(path: Path, progress: Progress | None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers. Parts of a very long one have the same number."""
    number, told = 1, 0
    with ExitStack() as stack:
        packed, unpacked = _open(path, stack)

        def tell() -> None:
            nonlocal told
            if progress is not None and path != STDIN and packed.seekable():
                at = packed.tell()
                progress(at - told)
                told = at

        try:
            for k, (raw, is_whole) in enumerate(_pieces(unpacked)):
                yield number, raw
                number += is_whole
                if k % MOVES == 0:
                    tell()
            tell()
        except (EOFError, zlib.error, lzma.LZMAError) as broken:
            raise error("SL215", path=path, line=number, problem=broken) from broken
        except OSError as broken:
            if broken.errno is not None or path.suffix.lower() not in OPENERS:
                raise
            raise error("SL215", path=path, line=number, problem=broken) from broken  # what gzip and bz2 raise


def _open(path: Path, stack: ExitStack) -> tuple[IO[bytes], Any]:
    """A file as it is on disk, and as a stream of decompressed bytes."""
    if path == STDIN:
        if sys.stdin is None:
            raise error("SL189", stream="Standard input", advice="Name a file instead of '-'")
        return sys.stdin.buffer, sys.stdin.buffer
    packed = stack.enter_context(path.open("rb"))
    opener = OPENERS.get(path.suffix.lower())
    if opener is None:
        return packed, packed
    return packed, stack.enter_context(io.BufferedReader(opener(packed, "rb"), MAX_BYTES))


def _pieces(file: Any) -> Iterator[tuple[bytes, bool]]:
    """Lines, and parts of very long lines. Each comes with a flag: whether the line ends there."""
    rest = b""
    while new := file.readline(MAX_BYTES - len(rest)):
        raw, rest = rest + new, b""
        is_whole = raw.endswith(b"\n")
        if not is_whole and len(raw) >= MAX_BYTES:
            cut = raw.rfind(b" ") + 1 or len(raw)
            while cut == len(raw) or (cut > len(raw) - 4 and raw[cut] & 0xC0 == 0x80):  # not within a character
                cut -= 1
            raw, rest = raw[:cut], raw[cut:]
        yield raw, is_whole
    if rest:
        yield rest, True
