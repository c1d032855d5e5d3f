"""Output files of a corpus; the file name determines the format and the compression.

Files appear under their final names only when they are complete.
"""

from __future__ import annotations

import io
import os
import platform
import re
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from diptych.errors import ConfigError, DiptychError, option_name
from diptych.files import is_special, writing

STANDARD = "-"
"""the path that stands for standard output"""
_COMPRESSED = (".gz", ".zst")
_OTHER_COMPRESSIONS = frozenset(".bz2 .xz .zip .7z .lzma .lz4 .br .z .rar".split())
_FORMATS = {
    ".docs.jsonl": "docs",
    ".standoff.jsonl": "standoff",
    ".jsonl": "jsonl",
    ".moses": "moses",
    ".parquet": "parquet",
    ".tmx": "tmx",
    ".tsv": "tsv",
}
"""formats by the endings of file names, longer endings first"""
_MAX_LARGE_BUFFERS = 8  # files with a large buffer; all others have a small one
_LARGE_BUFFER, _SMALL_BUFFER = 1 << 20, 1 << 16  # bytes
_MAX_PACKED = 400  # files compressed at the same time: each takes some megabytes
_PART = re.compile(r".*\.([0-9a-f]{16})\.(\d{1,10})-[0-9a-f]{8}\.part", re.DOTALL)
_BINARY = getattr(os, "O_BINARY", 0)
_GZIP_LEVEL = 2  # ISA-L: a fifth of zlib's time at the same size
# Exporters derive endings from languages, which may come from a file: no ending leaves the folder.
_ENDING = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*")


def format_of(path: Path | str) -> str | None:
    """The format of a file, determined by its extension; None if the extension is unknown.

    >>> format_of("a/corpus.jsonl.zst"), format_of("b.docs.jsonl"), format_of("corpus.txt.gz")
    ('jsonl', 'docs', None)
    """
    name = split_compression(str(path))[0].lower()
    return next((format for end, format in _FORMATS.items() if name.endswith(end)), None)


def split_compression(name: str) -> tuple[str, str]:
    """Split a file name into its base and its compression extension, which may be empty.

    >>> split_compression("corpus.tsv.gz"), split_compression("corpus.tsv")
    (('corpus.tsv', '.gz'), ('corpus.tsv', ''))
    """
    stem, ending = os.path.splitext(name)
    return (stem, ending.lower()) if ending.lower() in _COMPRESSED else (name, "")


def require_compression(path: Path | str) -> None:
    """Raise `ConfigError` if a file name has the extension of an unsupported compression."""
    ending = os.path.splitext(path)[1].lower()
    if ending in _OTHER_COMPRESSIONS:
        raise ConfigError(
            f"cannot write {path}: a corpus can be compressed as .gz or .zst, not as {ending}"
        )


class _Opened(NamedTuple):
    target: Path
    """path as the user wrote it"""
    real: Path
    """path with symbolic links resolved"""
    part: Path | None
    """partial file that replaces `real` when complete; None if `real` is not a regular file"""
    layers: tuple[Any, ...]
    """streams, in the order in which they are closed"""


class OutFiles:
    """A context manager that opens the output files of one export.

    A format with one file is written to the given path, or to standard output.  If a format has
    several files, each adds an ending to that path, before any compression extension: `corpus.gz`
    becomes `corpus.en-fr.en.gz`.
    """

    def __init__(self, path: str | Path, suffix: str, standard: BinaryIO | None = None) -> None:
        self.path, self.suffix, self._standard_output = str(path), suffix, standard
        self.stem, self.compression = split_compression(self.path)
        self.targets: list[Path] = []
        """completed files"""
        self._opened: dict[str, _Opened] = {}
        require_compression(self.path)
        if suffix == "parquet" and self.compression:
            raise ConfigError(
                f"cannot write {path}: Parquet is already compressed internally; use a name"
                f" without {self.compression}"
            )

    def __call__(self, ending: str) -> BinaryIO:
        """Open a new file whose name has this ending."""
        if ending in self._opened or not _ENDING.fullmatch(ending):
            raise ConfigError(f"invalid corpus file name: {ending!r}")
        if self.compression and len(self._opened) >= _MAX_PACKED:
            raise ConfigError(
                f"cannot write {self.path}: at most {_MAX_PACKED} files can be compressed at the"
                f" same time; omit {self.compression} from the name, or export fewer languages"
            )
        is_standard = self.path == STANDARD
        opened = self._standard(ending) if is_standard else self._file(ending)
        self._opened[ending] = opened
        return cast(BinaryIO, opened.layers[0])

    def __enter__(self) -> OutFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._discard()

    def _standard(self, ending: str) -> _Opened:
        if ending != self.suffix:
            raise ConfigError(
                f"{self.suffix} consists of several files and cannot be written to standard output:"
                f" specify a file with {option_name('out')}"
            )
        assert self._standard_output is not None, "standard output (-) is only for the command line"
        stream = _StandardOutput(self._standard_output)
        return _Opened(Path("standard output"), Path(STANDARD), None, (stream,))

    def _file(self, ending: str) -> _Opened:
        name = self.stem
        if ending != self.suffix:
            name = f"{name.removesuffix('.' + self.suffix)}.{ending}"
        target = Path(name + self.compression)
        with writing(target):
            real = Path(os.path.realpath(target))
            # A device or pipe cannot be replaced; a folder is an error that is raised at once.
            part = None if is_special(real) else self._part(real)
            raw = _SpecialFile(target, real) if part is None else _PartialFile(target, part)
            size = _LARGE_BUFFER if len(self._opened) < _MAX_LARGE_BUFFERS else _SMALL_BUFFER
            layers = _layers(io.BufferedWriter(raw, size), self.compression)
        return _Opened(target, real, part, layers)

    def _part(self, real: Path) -> Path:
        """The path of a partial file that no other export uses."""
        if not self._opened:
            remove_stale(real.parent, self.path)
        return real.with_name(partial_name(real, self.path))

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
        """Close all streams, and remove incomplete files."""
        for opened in self._opened.values():
            for layer in opened.layers:
                with suppress(OSError, DiptychError, ValueError):
                    layer.close()
            if opened.part is not None:
                with suppress(OSError):
                    opened.part.unlink(missing_ok=True)


def _export_hash(path: str) -> str:
    """A hash of the output path and the machine name, which identifies the files of an export."""
    name = f"{platform.node()}\n{os.path.abspath(path)}"
    return blake2b(os.fsencode(name), digest_size=8).hexdigest()


def partial_name(real: Path, path: str) -> str:
    """A name for a partial file or folder that no other export uses.

    The name contains the process id and a hash of `path`, the output path of the export, so that
    partial files of a killed process can be found.  It contains only the start of the final file
    name, because a longer name might exceed the limit of the file system.
    """
    mark = _export_hash(path)
    return f"{real.name[:24]}.{mark}.{os.getpid()}-{secrets.token_hex(4)}.part"


def remove_stale(folder: Path, path: str) -> None:
    """Remove partial files of the export to `path` that were left by processes that have ended."""
    if os.name != "posix":  # on other systems os.kill terminates the process
        return
    mark = _export_hash(path)
    for name in os.listdir(folder):
        found = _PART.fullmatch(name)
        if found and found[1] == mark and not _is_alive(int(found[2])):
            with suppress(OSError):
                remove(folder / name)


def remove(path: Path) -> None:
    """Delete a file, or a folder with its files."""
    if path.is_dir() and not path.is_symlink():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _layers(file: io.BufferedWriter, compression: str) -> tuple[Any, ...]:
    """The streams of a file, in closing order: the compressor, if any, then the file."""
    if compression == ".gz":
        from isal import igzip

        # Without name and time, so that the same corpus gives the same bytes.
        packed: Any = igzip.IGzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
        return packed, file
    if compression == ".zst":
        import zstandard

        packer = zstandard.ZstdCompressor(write_checksum=True)
        return packer.stream_writer(file, closefd=False), file
    return (file,)


class _Counting(io.RawIOBase):
    """A stream that counts the bytes written to it."""

    written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.written


class _PartialFile(_Counting):
    """A partial file that is open only during writes, because an export may have 1,000 files.

    Writes are large, so opening the file for each write costs little.
    """

    def __init__(self, target: Path, path: Path) -> None:
        self.target, self.path = target, path
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666))

    def write(self, data: Any, /) -> int:
        with writing(self.target):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | _BINARY)
            try:
                count = os.write(file, data)
            finally:
                os.close(file)
        self.written += count
        return count


class _SpecialFile(io.FileIO):
    """A device or pipe; error messages show the path that the user gave."""

    def __init__(self, target: Path, path: Path) -> None:
        super().__init__(path, "wb")
        self.target = target

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        with writing(self.target):
            return super().write(data)


class _StandardOutput(_Counting):
    """Standard output as a stream that counts bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, data: Any, /) -> int:
        with writing(Path("standard output")):
            self.stream.write(data)
        self.written += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.stream.flush()
        super().close()
