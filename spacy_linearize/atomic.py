"""Atomic writes of files and pipelines, and files that only one process may write."""

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
    """Replace a file atomically: at any moment it has the old content or the new one. It keeps its mode."""
    path = Path(path)
    old = path.stat() if path.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # a device or a pipe must not be replaced
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays one
    # Private until it has the mode of the old file.
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
    except BaseException as problem:
        temporary.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno and problem.filename is None:
            problem.filename = str(path)  # a write that fails does not say of what
        raise


def _new_file(folder: Path, mode: int) -> tuple[Path, IO[bytes]]:
    """Create a file under an unpredictable name. A symbolic link of that name is not followed."""
    while True:
        path = folder / f".{secrets.token_hex(8)}.tmp"
        with suppress(FileExistsError):
            return path, open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def write_all(file: Any, data: bytes) -> None:
    """Append data to an unbuffered file, all of it or nothing: the disk may fill up halfway."""
    written = 0
    try:
        while written < len(data):
            written += file.write(data[written:])
    except OSError:
        if written and file.seekable():
            file.truncate(file.tell() - written)
        raise


def open_alone(path: Path) -> IO[bytes]:
    """Open a file for writing, unbuffered and locked. If another process writes it, this is refused: the two would
    overwrite each other's lines."""
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
    """Lock a file until it is closed, if the file system has locks."""
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
    """Write a pipeline to a folder atomically: it is assembled beside the folder first.

    An old pipeline in the folder is removed completely, since spaCy would load its leftovers with the new one. Other
    files, such as a README, stay.

    exclude (Iterable[str]): What to leave out, see `Language.to_disk`.
    """
    path = path.resolve()
    check_pipeline_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Private, since the old files may be.
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
        with ExitStack() as undo:  # if anything fails, every file returns to its place

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
    """The names of what spaCy wrote to the folder of a pipeline."""
    parts = {CONFIG, META, "tokenizer", "vocab"}
    with suppress(OSError, ValueError, AttributeError, TypeError):  # whatever meta.json holds
        meta = json.loads((path / META).read_bytes())
        parts.update(str(name) for key in ("components", "pipeline", "disabled") for name in meta.get(key) or ())
    # Some components write a folder, others a file with a suffix. Their names may even look like paths.
    return {file.name for file in path.iterdir() if file.name in parts or file.stem in parts}
