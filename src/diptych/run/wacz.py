"""WACZ files (Webrecorder): ZIP files that contain WARC files, which are read where they are.

WACZ stores its WARC files without another compression, so that a record is a range of bytes of the
ZIP file.  Nothing is unpacked: the names in a ZIP file never become names of files, and no file can
unpack to more than its own size.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

SIGNATURE = b"PK"
_WARC_FILES = (".warc", ".warc.gz", ".warc.zst")
_FOLDER = "archive/"
_HEADER = struct.Struct("<4s22xHH")
"""signature, length of the name and length of the extra field in the header of a member"""
_MAX_DIRECTORY = 1 << 22  # bytes; the directory of a WACZ file lists a few dozen files
_ENCRYPTED = 1


class Member(NamedTuple):
    """A WARC file in a WACZ file, with the range of its bytes."""

    name: str
    start: int
    end: int


class _DirectoryFile(io.FileIO):
    """A file from which only a directory of limited size can be read at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        rest = _size(self) - self.tell()
        if (rest if size is None or size < 0 else min(size, rest)) > _MAX_DIRECTORY:
            raise ValueError("the directory of the ZIP file is too large")
        return super().read(size) or b""


def _size(stream: io.FileIO) -> int:
    place = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(place)
    return size


def members(path: Path) -> list[Member]:
    """The WARC files in a WACZ file, in the order of their bytes.

    Raises `ValueError` or `BadZipFile` if there are none, or if one cannot be read in its place.
    """
    with _DirectoryFile(path, "rb") as stream:
        with ZipFile(stream) as file:
            infos = [info for info in file.infolist() if _is_warc(info)]
        found = sorted((_member(stream, info) for info in infos), key=lambda each: each.start)
        size = _size(stream)
    if not found:
        raise ValueError("it has no WARC files in its folder archive/")
    ends = [0, *(each.end for each in found)]
    if ends[-1] > size or any(each.start < end for each, end in zip(found, ends, strict=False)):
        raise ValueError("files in it overlap, or are longer than the ZIP file")
    return found


def _is_warc(info: ZipInfo) -> bool:
    return info.filename.startswith(_FOLDER) and info.filename.endswith(_WARC_FILES)


def _member(stream: io.FileIO, info: ZipInfo) -> Member:
    if info.compress_type != ZIP_STORED or info.flag_bits & _ENCRYPTED:
        raise ValueError(
            f"{info.filename[:100]} in it is compressed or encrypted, but WACZ stores WARC files as"
            " they are; unpack it and mine the folder archive/"
        )
    stream.seek(info.header_offset)
    signature, name, extra = _HEADER.unpack(stream.read(_HEADER.size) or b"")
    if signature != b"PK\3\4":
        raise ValueError(f"{info.filename[:100]} is not where the directory of the ZIP file says")
    start = info.header_offset + _HEADER.size + name + extra
    return Member(info.filename, start, start + info.file_size)


class Window(io.RawIOBase):
    """A range of bytes of a file as a stream of its own; positions are those of the file."""

    def __init__(self, stream: BinaryIO, start: int, end: int) -> None:
        self._stream = stream
        self._end = end
        stream.seek(start)

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes, but none after the range."""
        rest = max(self._end - self._stream.tell(), 0)
        return self._stream.read(rest if size is None or size < 0 else min(size, rest))

    def tell(self) -> int:
        """The position in the file."""
        return self._stream.tell()
