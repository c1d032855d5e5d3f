"""Read web graph and WAT files: plain or gzipped, lists of files, and remote files via fsspec.

Downloads may be truncated or damaged; the data before the damage is used, and the damage is
reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

from diptych.errors import SourceError
from diptych.files import parser_errors, reason_of
from diptych.learn.libraries import library
from diptych.text.urls import origin_of

BLOCK = 1 << 20  # bytes of text at a time
_READ = 1 << 16
_INFLATED = 1 << 15  # bytes that may be lost before damage
_LONGEST_LINE = 1 << 16
_GZIP = b"\x1f\x8b"
LISTS = (".paths.gz", ".paths")
"""endings of the names of lists of files"""


class CutOffError(Exception):
    """Raised if a file is truncated or damaged."""


def part_files(paths: Iterable[str]) -> list[str]:
    """Replace each list of files (`*.paths.gz`) with the files it names; other paths are kept."""
    found: list[str] = []
    for path in paths:
        found.extend(listed_files(path) if path.endswith(LISTS) else [path])
    return found


def listed_files(path: str, copy: str = "") -> list[str]:
    """The files in the list at `path`, which is read from `copy`, if there is one."""
    try:
        text = b"".join(blocks(copy or path)).decode("utf-8", "replace")
    except CutOffError as error:
        raise SourceError(f"{path} is truncated ({error}); download it again") from error
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise SourceError(f"{path} lists no files; it should have one path per line")
    return [_beside(path, name) for name in names]


def _beside(path: str, name: str) -> str:
    """The location of the file `name`, which is listed in the file at `path`.

    Common Crawl's lists name files relative to the root of its bucket.  A partial copy of the
    bucket may have the same folders, or only the innermost ones.

    >>> _beside("https://a.org/graph/r/host/r.paths.gz", "graph/r/host/edges/part-0.gz")
    'https://a.org/graph/r/host/edges/part-0.gz'
    """
    if not _may_be_named(path, name):
        raise SourceError(
            f"{path} lists {name[:100]!r}; it may list only files below its own folder, "
            "or URLs on its own host"
        )
    if "://" in name:
        return name
    folder = path.rpartition("/")[0] if "/" in path else "."
    parts = name.split("/")
    for count in range(len(parts) - 1, 0, -1):
        shared = "/".join(parts[:count])
        if folder == shared or folder.endswith("/" + shared):
            return "/".join([folder, *parts[count:]])
    if "://" not in folder:
        for start in range(len(parts)):
            if Path(folder, *parts[start:]).is_file():
                return str(Path(folder, *parts[start:]))
    return f"{folder}/{name}"


def _may_be_named(path: str, name: str) -> bool:
    """True if the list of files at `path` is allowed to name the file `name`.

    A list may name only files below its own folder, or URLs on its own host.

    >>> _may_be_named("a.paths", "b/part-0.gz"), _may_be_named("a.paths", "/etc/passwd")
    (True, False)
    >>> _may_be_named("https://a.org/a.paths", "https://b.org/part-0.gz")
    False
    """
    if not name.isprintable() or "::" in name:  # fsspec treats that as two chained addresses
        return False
    if "://" in name:
        return "://" in path and origin_of(name) == origin_of(path)
    parts = PureWindowsPath(name)  # handles both kinds of separators, and drives
    return not parts.anchor and ".." not in parts.parts


def _fsspec(path: str) -> Any:
    """Import and return fsspec, which is required to read the remote file `path`."""
    return library("fsspec", path, error=SourceError)


def _open(path: str) -> Any:
    return _fsspec(path).open(path, "rb").open() if "://" in path else Path(path).open("rb")


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a local or remote file for reading; raise a `SourceError` if that fails."""
    try:
        stream = _open(path)
    except parser_errors() as error:
        raise SourceError(f"cannot read {path}: {reason_of(error)}") from error
    with stream:
        yield stream


def size_of(path: str) -> int:
    """The size of a file in bytes; -1 if it is unknown."""
    try:
        if "://" not in path:
            return Path(path).stat().st_size
        fs, inner = _fsspec(path).core.url_to_fs(path)
        return int(fs.info(inner).get("size") or -1)
    except parser_errors() as error:
        raise SourceError(f"cannot read {path}: {reason_of(error)}") from error


def blocks(path: str) -> Iterator[bytes]:
    """Yield the decompressed content of a file in blocks; raise `CutOffError` if it is damaged."""
    with opened(path) as stream:
        first = _read(stream)
        if first.startswith(_GZIP):
            yield from _inflated(first, stream)
            return
        while first:
            yield first
            first = _read(stream, BLOCK)


def _read(stream: BinaryIO, size: int = _READ) -> bytes:
    try:
        return stream.read(size)
    except parser_errors() as error:
        raise CutOffError(reason_of(error)) from error


def _inflated(data: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed content of a gzip file in blocks of about `BLOCK` bytes.

    `data` is the start of the file, which has already been read from `stream`.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in _members(data, stream):
            pieces.append(piece)
            size += len(piece)
            if size >= BLOCK:
                yield b"".join(pieces)
                pieces, size = [], 0
    except CutOffError:
        yield b"".join(pieces)
        raise
    yield b"".join(pieces)


def _members(data: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed content of all members of a gzip file in order, in small pieces.

    `data` is the start of the file, which has already been read from `stream`.
    """
    from isal import isal_zlib

    while data:
        member = isal_zlib.decompressobj(31)
        while not member.eof:
            try:
                text = member.decompress(data, _INFLATED)
            except parser_errors() as error:
                raise CutOffError(reason_of(error)) from error
            yield text
            data = member.unconsumed_tail
            if not member.eof and not data and len(text) < _INFLATED:
                data = _read(stream)
                if not data:
                    raise CutOffError("the gzip stream is truncated")
        data = (member.unused_data or _read(stream)).lstrip(b"\0")  # some are padded
        if data and not data.startswith(_GZIP[: len(data)]):
            raise CutOffError("other data follows the gzip stream")


class Lines:
    """Reads several files block by block, and yields the complete lines of each block.

    Any damage to the files is recorded in `notes`.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.notes: list[str] = []
        self.count = 0
        """number of lines used so far, which the caller updates; needed for the notes on damage"""

    def __iter__(self) -> Iterator[bytes]:
        for path in self.paths:
            before = self.count
            try:
                yield from _whole_lines(blocks(path))
            except CutOffError as error:
                self.notes.append(
                    f"{path} is damaged after line {self.count - before:,}: {error}; "
                    "the lines before that are used"
                )


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Regroup pieces of text so that each piece ends at the end of a line.

    The start of an overlong line is replaced with `?`, which makes the line invalid.

    >>> list(_whole_lines([b"a\nb", b"c\nd"]))
    [b'a\n', b'bc\n', b'd\n']
    """
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            rest = b"?"  # the rest belongs to an unreadable line
    if rest:
        yield rest + b"\n"
