"""Files and pipelines that are there as a whole or not at all, and files that one process writes at a time."""

import errno
import json
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .errors import error

if TYPE_CHECKING:
    from spacy.language import Language

CONFIG, META = "config.cfg", "meta.json"  # what makes a folder a pipeline


def save(path: str | Path, data: bytes) -> None:
    """Write a file so that at any moment either the old content or the new one is there, whole. It keeps its mode."""
    path = Path(path)
    old = path.stat() if path.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # a device or a pipe, which nothing may replace
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays one
    # Until it has the mode of the old file, nobody else may read it.
    temporary, file = _new_file(path.parent, 0o666 if old is None else 0o600)
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            if hasattr(os, "chown"):
                with suppress(OSError):  # only some may give files away
                    os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _new_file(folder: Path, mode: int) -> tuple[Path, IO[bytes]]:
    """A file under a short name that nobody can foresee. A link of that name is not followed."""
    while True:
        path = folder / f".{secrets.token_hex(8)}.tmp"
        with suppress(FileExistsError):
            return path, open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def write_all(file: Any, data: bytes) -> None:
    """Add data to an open file without a buffer, all of it or nothing: the disk may be full halfway."""
    written = 0
    try:
        while written < len(data):
            written += file.write(data[written:])
    except OSError:
        if written and file.seekable():
            file.truncate(file.tell() - written)
        raise


def open_alone(path: Path) -> IO[bytes]:
    """Open a file to write it from its beginning, without a buffer. Refused while another process does the same: the
    two would write over each other's lines."""
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)  # what is there stays until it is ours
    file = os.fdopen(os.open(path, flags, 0o666), "wb", buffering=0)
    try:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            _lock(file, path)
            file.truncate(0)
    except BaseException:
        file.close()
        raise
    return file


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep other processes out until the file is closed. Where the file system has no locks, there is none."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 62)  # a lock keeps others from reading what it covers: nothing is there
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                file.seek(0)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise error("SL186", path=path) from problem


def save_pipeline(nlp: "Language", path: Path, *, exclude: Iterable[str] = ()) -> None:
    """Write a pipeline to a folder, where it appears as a whole: it is put together beside it first.

    Of a pipeline that is there already, all goes that the new one has or lacks: what spaCy wrote for the old one would
    be loaded with the new one. Other files, such as a README, stay.

    exclude (Iterable[str]): What to leave out, see `Language.to_disk`.
    """
    path = path.resolve()
    check_pipeline_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Nobody else may look into it: the old files may be private.
    workshop = Path(tempfile.mkdtemp(prefix=".", dir=path.parent))
    try:
        staged, old = workshop / "new", workshop / "old"
        old.mkdir()
        nlp.to_disk(staged, exclude=list(exclude))
        if not path.exists():
            staged.rename(path)
            return
        for file in staged.rglob("*"):
            twin = path / file.relative_to(staged)
            if twin.exists():
                shutil.copymode(twin, file)
        with ExitStack() as undo:  # if anything fails, all goes back to its place

            def move(name: str, source: Path, target: Path) -> None:
                os.replace(source / name, target / name)
                undo.callback(os.replace, target / name, source / name)

            new = {file.name for file in staged.iterdir()}
            for name in sorted(_parts(path) | (new & {file.name for file in path.iterdir()})):
                move(name, path, old)
            for name in sorted(new):
                move(name, staged, path)
            undo.pop_all()
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def check_pipeline_folder(path: Path) -> None:
    """Refuse a folder that holds something else than a pipeline."""
    if path.is_dir() and any(path.iterdir()) and not ((path / META).is_file() and (path / CONFIG).is_file()):
        raise error("SL187", path=path)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def _parts(path: Path) -> set[str]:
    """The names in the folder of a pipeline that spaCy wrote."""
    parts = {CONFIG, META, "tokenizer", "vocab"}
    with suppress(OSError, ValueError, AttributeError, TypeError):  # whatever stands there
        meta = json.loads((path / META).read_bytes())
        parts.update(str(name) for key in ("components", "pipeline", "disabled") for name in meta.get(key) or ())
    # Some components write a folder, others a file with a suffix. And one may have any name, even that of a path.
    return {file.name for file in path.iterdir() if file.name in parts or file.stem in parts}
