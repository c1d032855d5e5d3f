"""A target of the fuzzer, and the forms in which compressed files are given to it."""

from __future__ import annotations

import gzip
import hashlib
import io
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile, ZipInfo

from hypothesis import HealthCheck, settings

from diptych.errors import DiptychError

_SIZE = 4  # bytes of a length


class Target(NamedTuple):
    """A function of bytes that may raise only some errors, and bytes to begin with."""

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    errors: tuple[type[Exception], ...] = ()
    """what `read` may raise"""


def prepare(folder: Path) -> None:
    """Make the folders of a target, and let Hypothesis, which targets may use, run in peace."""
    for name in ("faults", "work"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    quiet = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    settings.register_profile("fuzzer", quiet)
    settings.load_profile("fuzzer")


def kind_of(error: BaseException) -> str:
    """The type of an error and the innermost line of Diptych, which tell faults apart."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/diptych/" in frame.filename] or list(frames)
    return (
        f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].name}:{own[-1].lineno}"
    )


def tried(target: Target, data: bytes, folder: Path) -> None:
    """Run a target; the first input of each kind of fault is kept in `folder/faults`."""
    try:
        target.read(data)
    except target.errors:
        pass
    except Exception as error:  # noqa: BLE001
        said = kind_of(error)
        file = folder / "faults" / hashlib.sha1(said.encode()).hexdigest()[:12]
        if not file.exists():
            file.write_bytes(data)
            file.with_suffix(".txt").write_text(f"{said}\n\n{traceback.format_exc()}", "utf-8")


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
    names = (name.decode("latin-1")[:100].replace("\0", "_") or "x" for name in parts[::2])
    contents = dict(zip(names, parts[1::2], strict=False))  # no name twice
    with suppress(ValueError):
        return zipped(contents.items())
    return b""


_FORMS = {"": (_same, _same), "gzip": (gzip.decompress, _gzip), "zip": (_from_zip, _to_zip)}
