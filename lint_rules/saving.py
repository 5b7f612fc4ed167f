"""New bytes in the place of a file's old ones: all or none of them, and never over what others saved meanwhile.

A new file takes the old one's name, if it can be made to look like the old one in all but its bytes. Where it cannot
(several names, another owner), the old one is overwritten beside a copy, which stays until the file is whole.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO

from lint_rules.errors import reason

try:
    import fcntl
except ImportError:  # Windows, which lets nobody remove what another process has open
    fcntl = None  # type: ignore[assignment]

COPY = ".looplint-old"
"""Added to the name of a file, it names the copy beside which the file is overwritten."""
_TEMPORARY = re.compile(r"\.looplint-[0-9a-f]{16}\.tmp")


class Refused(OSError):
    """A file was left alone; the message says why, in half a sentence for people."""


class Torn(OSError):
    """A file is half-written, as what broke off could not be undone; the message says where its old bytes are."""


_CHANGED = "it was changed while it was checked; run looplint again"


def save(path: str, before: bytes, after: bytes) -> None:
    """Write `after` where `before` was read. A link stays a link; owner, mode and attributes stay what they are.

    Raises OSError if the system says no, and Refused if the file holds something else by now or cannot be written
    safely: it is then as it was, but for Torn. One that holds `after` already is left alone: another run was faster.
    """
    target = os.path.realpath(path)
    state, held = _look(target)
    if held == before:
        if not _replaced(target, state, after):
            _overwrite(target, before, after)
    elif held != after:
        raise Refused(_CHANGED)


def replace(path: str, source: bytes) -> None:
    """Put a file with these bytes where another is, or none. After a power cut it may be empty. Raises OSError."""
    with _beside(path, 0o666) as (file, temporary):
        _put(file, source)
        _renamed(file, temporary, path)


def clear(folder: str) -> Iterator[tuple[str, str]]:
    """Remove what killed runs left in a folder; gives the files that one may have left half-written, and advice.

    What a living run is at work on is locked by it, and stays.
    """
    with suppress(OSError), os.scandir(folder) as listing:
        for entry in list(listing):
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_abandoned(entry.path)
            elif entry.name.endswith(COPY) and _is_needed(entry.path):
                yield entry.path.removesuffix(COPY), f"a fix broke off while it was written; {_advice(entry.path)}"


# -- a new file takes the name ------------------------------------------------------------------------------------


def _look(target: str) -> tuple[os.stat_result, bytes]:
    """The state of a file, and its bytes. Raises OSError if it may not be written."""
    if not stat.S_ISREG(os.stat(target).st_mode):
        raise Refused("it is no regular file")
    with open(target, "r+b") as file:  # the folder alone would let us replace what is read-only
        return os.fstat(file.fileno()), file.read()


def _replaced(target: str, state: os.stat_result, after: bytes) -> bool:
    """Whether a new file could take the place of one that was seen in this state."""
    with _beside(target, 0o600) as (file, temporary):
        _put(file, after)
        os.fsync(file.fileno())
        if not _dressed(temporary, target, state):
            return False
        # The last moment. Editors write in place, or rename a file of their own.
        if _version(os.stat(target)) != _version(state) and _look(target)[1] != after:
            raise Refused(_CHANGED)
        try:
            _renamed(file, temporary, target)
        except OSError as error:
            if error.errno != errno.EBUSY:  # a file that is mounted by itself, as in containers
                raise
            return False
    return True


def _version(state: os.stat_result) -> tuple[int, ...]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


@contextmanager
def _beside(path: str, mode: int) -> Iterator[tuple[FileIO, str]]:
    """A new file in the folder of another; gone afterwards if it was not renamed."""
    try:
        file, name = _made(os.path.dirname(path), mode)
    except OSError as error:
        raise Refused(f"its folder takes no new files ({reason(error)}), so no write would be safe") from error
    try:
        with file:
            yield file, name
    finally:
        with suppress(OSError):
            os.unlink(name)


def _made(folder: str, mode: int) -> tuple[FileIO, str]:
    """A new file, locked, so that whoever clears the folder sees that it is in use."""
    while True:
        name = os.path.join(folder, f".looplint-{os.urandom(8).hex()}.tmp")
        file = _opened_new(name, mode)
        if _lock(file) is not False and os.fstat(file.fileno()).st_nlink:
            return file, name
        file.close()  # it was cleared before it was locked


def _opened_new(path: str, mode: int) -> FileIO:
    return FileIO(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def _put(file: FileIO, source: bytes) -> None:
    """Make these bytes all that a file holds."""
    file.seek(0)
    rest = memoryview(source)
    while rest:
        rest = rest[file.write(rest) or 0 :]
    file.truncate()


def _renamed(file: FileIO, temporary: str, target: str) -> None:
    if fcntl is None:
        file.close()  # Windows renames no open file
    os.replace(temporary, target)


def _dressed(new: str, old: str, state: os.stat_result) -> bool:
    """Give a new file the owner, mode and attributes of an old one; whether the two now look the same."""
    attributes = _attributes(old)
    with suppress(OSError):
        if hasattr(os, "chown"):
            os.chown(new, state.st_uid, state.st_gid)  # first, for it takes bits of the mode away
        os.chmod(new, stat.S_IMODE(state.st_mode))
        for name, value in attributes.items():
            os.setxattr(new, name, value)
    return _appearance(os.stat(new), _attributes(new)) == _appearance(state, attributes)


def _appearance(state: os.stat_result, attributes: dict[str, bytes]) -> tuple[object, ...]:
    return state.st_uid, state.st_gid, state.st_mode, state.st_nlink, attributes


def _attributes(path: str) -> dict[str, bytes]:
    """Extended attributes, access lists among them; none where there are none, or Python cannot tell."""
    with suppress(OSError, AttributeError):
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return {}


# -- the old file is overwritten ----------------------------------------------------------------------------------


def _overwrite(target: str, before: bytes, after: bytes) -> None:
    copy = target + COPY
    try:
        kept = _opened_new(copy, 0o600)
    except FileExistsError:
        raise Refused(f"a fix broke off before; {_advice(copy)}") from None
    try:
        with kept, FileIO(target, "r+b") as file:
            if _lock(kept) is False or not os.fstat(kept.fileno()).st_nlink:
                raise Refused("another run is at work in its folder")
            _put(kept, before)
            os.fsync(kept.fileno())
            if file.read() != before:
                raise Refused(_CHANGED)
            _put_or_restore(file, before, after)
    except Torn as error:
        raise Torn(f"half-written ({error}); {_advice(copy)}") from error
    except BaseException:
        with suppress(OSError):
            os.unlink(copy)
        raise
    os.unlink(copy)


def _put_or_restore(file: FileIO, before: bytes, after: bytes) -> None:
    try:
        _put(file, after)
        os.fsync(file.fileno())
    except BaseException:
        try:
            _put(file, before)
            os.fsync(file.fileno())
        except BaseException as error:  # Ctrl-C once more, it may be
            raise Torn(reason(error) if isinstance(error, OSError) else type(error).__name__) from error
        raise


def _advice(copy: str) -> str:
    return f"{os.path.basename(copy)} holds it as it was: put that back, or delete it"


# -- what killed runs left ----------------------------------------------------------------------------------------


def _lock(file: FileIO) -> bool | None:
    """Whether a file is now locked by us, which another living process can prevent; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_abandoned(temporary: str) -> None:
    with suppress(OSError):
        if fcntl is None:
            os.unlink(temporary)
            return
        with FileIO(temporary) as file:
            if _lock(file):
                os.unlink(temporary)


def _is_needed(copy: str) -> bool:
    """Whether a copy was left by a killed run and holds what its file does not; if its file is whole, it is removed."""
    try:
        with FileIO(copy) as kept:
            if _lock(kept) is False:
                return False
            source = kept.read()
        with FileIO(copy.removesuffix(COPY)) as file:
            if not file.read().startswith(source):
                return True
        os.unlink(copy)
    except OSError:
        return os.path.lexists(copy)
    return False
