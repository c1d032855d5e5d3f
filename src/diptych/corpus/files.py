"""Output files of a corpus: format and compression by name, written whole or not at all."""

from __future__ import annotations

import io
import os
import platform
import re
import secrets
import signal
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, BinaryIO, NamedTuple, cast

from diptych.errors import ConfigError, DiptychError
from diptych.files import is_special, writing

STANDARD = "-"
"""the name of standard output"""
_COMPRESSED = (".gz", ".zst")
_OTHERWISE = frozenset(".bz2 .xz .zip .7z .lzma .lz4 .br .z .rar".split())
_FORMATS = {
    ".docs.jsonl": "docs",
    ".standoff.jsonl": "standoff",
    ".jsonl": "jsonl",
    ".moses": "moses",
    ".parquet": "parquet",
    ".tmx": "tmx",
    ".tsv": "tsv",
}
"""formats by the ends of names, longer ones first"""
_BUFFERS = 8  # files that are written in large pieces
_LARGE, _SMALL = 1 << 20, 1 << 16  # bytes
_MAX_PACKERS = 400  # files that are compressed at a time: each takes some megabytes
_PART = re.compile(r".*\.([0-9a-f]{16})\.(\d{1,10})-[0-9a-f]{8}\.part", re.DOTALL)
_BINARY = getattr(os, "O_BINARY", 0)
_GZIP_LEVEL = 2  # ISA-L: a fifth of the time of zlib at the same size
# An exporter makes it of languages, which may come from a file: it cannot lead out of the folder.
_ENDING = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*")


def format_of(path: Path | str) -> str | None:
    """The format of a file by the ending of its name, or nothing if that says none.

    >>> format_of("a/corpus.jsonl.zst"), format_of("b.docs.jsonl"), format_of("corpus.txt.gz")
    ('jsonl', 'docs', None)
    """
    name = split_compression(str(path))[0].lower()
    return next((format for end, format in _FORMATS.items() if name.endswith(end)), None)


def split_compression(name: str) -> tuple[str, str]:
    """A name, and the ending that says how it is compressed.

    >>> split_compression("corpus.tsv.gz"), split_compression("corpus.tsv")
    (('corpus.tsv', '.gz'), ('corpus.tsv', ''))
    """
    stem, ending = os.path.splitext(name)
    return (stem, ending.lower()) if ending.lower() in _COMPRESSED else (name, "")


def require_compression(path: Path | str) -> None:
    """Refuse a name that promises a compression that is not written."""
    ending = os.path.splitext(path)[1].lower()
    if ending in _OTHERWISE:
        raise ConfigError(
            f"cannot write {path}: a corpus is compressed as .gz or .zst, not as {ending}"
        )


class _Opened(NamedTuple):
    target: Path
    """as the user calls it"""
    real: Path
    """where links lead"""
    part: Path | None
    """what it is until it is whole; nothing for what is no regular file"""
    layers: tuple[Any, ...]
    """streams to be closed in order"""


class OutFiles:
    """The files of one export: a context that an exporter asks for files.

    A format of one file is written to the path itself, or to standard output.  Of several files
    each has its own ending behind that path; one that says how they are compressed stays the last:
    `corpus.gz` becomes `corpus.en-fr.en.gz`.
    """

    def __init__(self, path: str | Path, suffix: str) -> None:
        self.path, self.suffix = str(path), suffix
        self.stem, self.compression = split_compression(self.path)
        self.targets: list[Path] = []
        """what was written, once it is there"""
        self._opened: dict[str, _Opened] = {}
        self._is_watching = False
        require_compression(self.path)
        if suffix == "parquet" and self.compression:
            raise ConfigError(
                f"cannot write {path}: Parquet is compressed inside; give it a name without"
                f" {self.compression}"
            )

    def __call__(self, ending: str) -> BinaryIO:
        """A new file, by the ending of its name."""
        if ending in self._opened or not _ENDING.fullmatch(ending):
            raise ConfigError(f"no file of a corpus can be called {ending!r}")
        if self.compression and len(self._opened) >= _MAX_PACKERS:
            raise ConfigError(
                f"cannot write {self.path}: more than {_MAX_PACKERS} files cannot be compressed at"
                f" a time; give it a name without {self.compression}, or export fewer languages"
            )
        is_standard = self.path == STANDARD
        opened = self._standard(ending) if is_standard else self._file(ending)
        self._opened[ending] = opened
        return cast(BinaryIO, opened.layers[0])

    def __enter__(self) -> OutFiles:
        self._is_watching = _watch()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._discard()
            if self._is_watching:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _standard(self, ending: str) -> _Opened:
        if ending != self.suffix:
            raise ConfigError(
                f"{self.suffix} is several files, which standard output cannot be: say --out NAME"
            )
        return _Opened(Path("standard output"), Path(STANDARD), None, (_StandardOutput(),))

    def _file(self, ending: str) -> _Opened:
        name = self.stem
        if ending != self.suffix:
            name = f"{name.removesuffix('.' + self.suffix)}.{ending}"
        target = Path(name + self.compression)
        with writing(target):
            real = Path(os.path.realpath(target))
            # A device or a pipe cannot be replaced; a folder is an error that comes at once.
            part = None if is_special(real) else self._part(real)
            raw = _Raw(target, real) if part is None else _Part(target, part)
            size = _LARGE if len(self._opened) < _BUFFERS else _SMALL
            layers = _layers(io.BufferedWriter(raw, size), self.compression)
        return _Opened(target, real, part, layers)

    def _part(self, real: Path) -> Path:
        """A name for what is not whole yet, which no other export has.

        It says which export it is of and which process writes it, so that what a process left that
        was killed can be told; it is short, since the name itself may be as long as names can be.
        """
        mark = _mark(self.path)
        if not self._opened:
            _remove_stale(real.parent, mark)
        return real.with_name(f"{real.name[:24]}.{mark}.{os.getpid()}-{secrets.token_hex(4)}.part")

    def _finish(self) -> None:
        for opened in self._opened.values():
            with writing(opened.target):
                for layer in opened.layers:
                    layer.close()
        for opened in self._opened.values():
            if opened.part is not None:
                with writing(opened.target):
                    os.replace(opened.part, opened.real)
            self.targets.append(opened.target)

    def _discard(self) -> None:
        """Close and remove what is not whole; of what is, nothing is left to do."""
        for opened in self._opened.values():
            for layer in opened.layers:
                with suppress(OSError, DiptychError, ValueError):
                    layer.close()
            if opened.part is not None:
                with suppress(OSError):
                    opened.part.unlink(missing_ok=True)
                _parts.discard(opened.part)


_parts: set[Path] = set()
"""what this process writes and is not whole yet"""


def _watch() -> bool:
    """See to it that who ends this process finds no parts; whether that was needed.

    Who has another way to end, which raises an exception, needs none; and only the main thread can.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGTERM, _end)
    except ValueError:  # in another thread
        return False
    return True


def _end(number: int, frame: FrameType | None) -> None:
    """Remove all parts, and end as if nobody had listened."""
    for part in list(_parts):
        with suppress(OSError):
            part.unlink()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _mark(path: str) -> str:
    """What tells the parts of an export from all others: its name, and that of the machine."""
    told = f"{platform.node()}\n{os.path.abspath(path)}"
    return blake2b(os.fsencode(told), digest_size=8).hexdigest()


def _remove_stale(folder: Path, mark: str) -> None:
    """Remove what processes left of this export that are no more."""
    if os.name != "posix":  # elsewhere one cannot ask for a process without ending it
        return
    for name in os.listdir(folder):
        found = _PART.fullmatch(name)
        if found and found[1] == mark and not _is_alive(int(found[2])):
            with suppress(OSError):
                (folder / name).unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    return True


def _layers(file: io.BufferedWriter, compression: str) -> tuple[Any, ...]:
    """What is written to, and what that writes to."""
    if compression == ".gz":
        from isal import igzip

        # Without name and time, so that the same corpus is the same bytes.
        packed: Any = igzip.IGzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
        return packed, file
    if compression == ".zst":
        import zstandard

        packer = zstandard.ZstdCompressor(write_checksum=True)
        return packer.stream_writer(file, closefd=False), file
    return (file,)


class _Part(io.RawIOBase):
    """A file that is open only while it is written to: an export may have a thousand of them.

    It is written in large pieces, so that this costs nothing.
    """

    def __init__(self, target: Path, path: Path) -> None:
        self.target, self.path = target, path
        self.written = 0
        _parts.add(path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666))

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.written

    def write(self, data: Any, /) -> int:
        with writing(self.target):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | _BINARY)
            try:
                count = os.write(file, data)
            finally:
                os.close(file)
        self.written += count
        return count


class _Raw(io.FileIO):
    """A device or a pipe whose faults are told with the name the user gave."""

    def __init__(self, target: Path, path: Path) -> None:
        super().__init__(path, "wb")
        self.target = target

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        with writing(self.target):
            return super().write(data)


class _StandardOutput(io.RawIOBase):
    """Standard output, which knows how much was written as files do."""

    def __init__(self) -> None:
        self.stream = sys.stdout.buffer
        self.written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.written

    def write(self, data: Any, /) -> int:
        with writing(Path("standard output")):
            self.stream.write(data)
        self.written += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.stream.flush()
        super().close()
