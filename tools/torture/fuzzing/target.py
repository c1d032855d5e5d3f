"""A target of the fuzzer, and the forms in which compressed files are given to it."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile, ZipInfo

from diptych.errors import DiptychError

_SIZE = 4  # bytes of a length


class Target(NamedTuple):
    """A function of bytes that may raise only some errors, and bytes to begin with."""

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    errors: tuple[type[Exception], ...] = ()
    """what `read` may raise"""


Maker = Callable[[Path], Target]
"""makes a target, with a folder to work in"""
Made = tuple[Path, Callable[[], object]]
"""a file that is whole, and a reader of it"""


def of_file(make: Callable[[Path], Made], packed: str = "") -> Maker:
    """A target that writes its bytes to a file and reads it.

    A changed byte in a compressed file is nearly always a wrong checksum, so that nothing behind
    the decompression is reached.  With `packed`, the bytes are those before the compression.
    """
    unpack, pack = _FORMS[packed]

    def target(folder: Path) -> Target:
        path, read = make(folder)
        seed = unpack(path.read_bytes())

        def fuzz(data: bytes) -> None:
            path.write_bytes(pack(data))
            read()

        return Target(fuzz, [seed], (DiptychError,))

    return target


def parts_of(data: bytes) -> Iterator[bytes]:
    r"""The parts of bytes, each with its length before it; the last may be shorter.

    >>> list(parts_of(b"\1\0\0\0a\2\0\0\0bc\5\0\0\0d"))
    [b'a', b'bc', b'd']
    """
    while data:
        end = _SIZE + int.from_bytes(data[:_SIZE], "little")
        yield data[_SIZE:end]
        data = data[end:]


def joined(parts: Iterable[bytes]) -> bytes:
    """The bytes that `parts_of` divides."""
    return b"".join(len(part).to_bytes(_SIZE, "little") + part for part in parts)


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A ZIP file, uncompressed and always the same."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in files:
            archive.writestr(ZipInfo(name), content)
    return stream.getvalue()


def _same(data: bytes) -> bytes:
    return data


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def _from_zip(data: bytes) -> bytes:
    with ZipFile(io.BytesIO(data)) as archive:
        return joined(
            part for name in archive.namelist() for part in (name.encode(), archive.read(name))
        )


def _to_zip(data: bytes) -> bytes:
    parts = list(parts_of(data))
    names = (name.decode("latin-1")[:100] or "x" for name in parts[::2])
    contents = dict(zip(names, parts[1::2], strict=False))  # no name twice
    with suppress(ValueError):
        return zipped(contents.items())
    return b""


_FORMS = {"": (_same, _same), "gzip": (gzip.decompress, _gzip), "zip": (_from_zip, _to_zip)}
