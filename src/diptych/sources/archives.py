"""Archives that the user names: files, folders, patterns, lists of files, and remote files.

A remote file is downloaded once, as a stream, into the run folder.  The responses that a run can
use are then copied into the run's own WARC files, and the download is deleted.  So a page never
needs the remote file again, and the disk holds one download at a time.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from diptych.engine.downloads import Downloads
from diptych.engine.patience import unreadable
from diptych.engine.replay import index_archive, is_page_of, require_answers
from diptych.errors import ArchiveError, SourceError, message_of, without_password
from diptych.files import parser_errors, reason_of, writing
from diptych.frontier.scope import Anywhere, Scope, group
from diptych.learn.libraries import library
from diptych.protocols import Watcher
from diptych.run.archived import ArchiveIndex
from diptych.run.scan import check_archive, scan
from diptych.run.store import Store
from diptych.run.warc import Origin, compose
from diptych.sources.graph_files import LISTS, listed_files, opened
from diptych.types import Response, Url

SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz")
_ATTEMPTS = 3  # to read a remote file; a download goes on where it ended
_PIECE = 1 << 20  # bytes of a remote file per request
_DOWNLOAD = "archive.part"
_WEB = ("http://", "https://")
_WANTED_FILES = ("robots.txt", "sitemap")


def is_remote(name: str) -> bool:
    """True for a URL, such as `s3://bucket/a.warc.gz`."""
    return "://" in name


def archive_names(names: Iterable[str | Path], downloads: Downloads) -> list[str]:
    """The archives in a list of files, folders, patterns, lists (`*.paths.gz`) and URLs.

    Local names are absolute paths.  What a folder or a pattern stands for is sorted, and an archive
    that is named twice is listed once.  Raises `ArchiveError` if a name stands for no archive, or
    if no local file is an archive; a bad file among others is left to those who read it.
    """
    found: dict[str, None] = {}
    for name in map(str, names):
        with _as_archive_error():
            files = _listed(name, downloads) if name.endswith(LISTS) else [name]
        for file in files:
            found.update(dict.fromkeys(_remote(file) if is_remote(file) else _local(file)))
    _require_one(list(found))
    return list(found)


class _as_archive_error:
    """Convert a `SourceError` to an `ArchiveError`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, SourceError):
            raise ArchiveError(str(error)) from error


def local_archives(names: Iterable[str | Path]) -> list[Path]:
    """The archives in a list of local files, folders and patterns."""
    given = list(map(str, names))
    for name in filter(is_remote, given):
        raise ArchiveError(f"{name} is a remote file; download it first")
    return [Path(name) for name in archive_names(given, Downloads(_no_settings))]


def _no_settings() -> NoReturn:
    raise AssertionError("local files are not downloaded")


def _listed(name: str, downloads: Downloads) -> list[str]:
    """The files in a list of files, which may be remote."""
    if not _is_of_web(name):
        return listed_files(name)
    with tempfile.TemporaryDirectory(prefix="diptych-") as folder:
        copy = Path(folder, "files.paths")
        _download(name, copy, downloads)
        return listed_files(name, str(copy))


def _is_of_web(name: str) -> bool:
    """True for the URL of a file on a web server; raises `ArchiveError` if it names a user."""
    if not name.lower().startswith(_WEB):
        return False
    if (shown := without_password(name)) != name:
        raise ArchiveError(f"cannot read {shown}: a user name in the URL is not supported")
    return True


def _local(name: str) -> list[str]:
    path = Path(name)
    if path.is_file():
        return [str(path.resolve())]
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES))
        if not found:
            raise ArchiveError(f"{path} contains no *.warc, *.warc.gz, *.warc.zst or *.wacz files")
        return [str(file.resolve()) for file in found]
    if not glob.has_magic(name):
        raise ArchiveError(f"there is no file {path}")
    matches = sorted(glob.glob(name, recursive=True))
    if not matches:
        raise ArchiveError(f"no file matches {name}")
    return [found for match in matches for found in _local(match)]


def _remote(name: str) -> list[str]:
    if _is_of_web(name):
        if "*" in name:
            raise ArchiveError(f"{name} is a pattern, but a web server does not list its files")
        return [name]
    if "::" in name:  # fsspec treats that as two chained addresses
        raise ArchiveError(f"{name} is not the URL of a file")
    fsspec = library("fsspec", name, error=ArchiveError)
    try:
        fs, inner = fsspec.core.url_to_fs(name)
        if glob.has_magic(inner):
            found = fs.glob(inner)
        elif fs.isdir(inner):
            found = [each for each in fs.find(inner) if each.endswith(SUFFIXES)]
        else:
            return [name]
        urls = sorted(fs.unstrip_protocol(each) for each in found)
    except parser_errors() as error:
        raise ArchiveError(f"cannot read {name}: {reason_of(error)}") from error
    if not urls:
        raise ArchiveError(f"no file matches {name}")
    return urls


def _require_one(names: Sequence[str]) -> None:
    """Raise the first error if none of the archives can be read; remote files are not asked."""
    first: ArchiveError | None = None
    for name in names:
        if is_remote(name):
            return
        try:
            check_archive(Path(name))
        except ArchiveError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def index_archives(
    store: Store, names: Sequence[str], downloads: Downloads, *, seeds: Sequence[str] = (),
    scope: str = "site",
) -> list[str]:  # fmt: skip
    """Index all responses in archives, and return messages about those that could not be read.

    Of remote archives, only responses of the sites of `seeds` are copied, if there are any seeds.
    """
    is_wanted = wanted_by(seeds, scope)
    for name in names:
        if is_remote(name):
            _index_remote(store, name, downloads, is_wanted)
        else:
            index_archive(store, Path(name))
    return require_answers(store)


def wanted_by(seeds: Sequence[str], scope: str) -> Callable[[Url], object]:
    """A function that is true for the URLs of the sites of seeds; for all, if there are none."""
    sites = group(map(Url, seeds), kind=scope)
    return Scope.of(sites, kind=scope).site_of if sites else Anywhere().site_of


def _index_remote(
    store: Store, url: str, downloads: Downloads, is_wanted: Callable[[Url], object]
) -> None:
    """Copy the useful responses of a remote archive into the run, all of them or none."""
    index = ArchiveIndex(store)
    if index.is_read(url):
        return
    download = store.folder / _DOWNLOAD
    try:
        size = downloaded(url, download, downloads)
        with store.transaction():
            error = _copy(store, index, url, download, is_wanted, downloads.watcher)
            index.finish(store.archive.add(url, size), size, error)
    except ArchiveError as fault:
        with store.transaction():  # it is tried again by the next command
            index.forget(store.archive.add(url, 0), message_of(fault))
    finally:
        download.unlink(missing_ok=True)


def downloaded(url: str, path: Path, downloads: Downloads) -> int:
    """Download a remote file, and return its size; a broken transfer is continued."""
    return _download(url, path, downloads) if _is_of_web(url) else _stored(url, path, downloads)


def _download(url: str, path: Path, downloads: Downloads) -> int:
    """Download a file from a web server."""
    with writing(path, error=ArchiveError), path.open("wb") as out:
        failure = downloads.download(url, out)
        size = out.tell()
    if failure is not None:
        raise ArchiveError(unreadable(url, failure))
    return size


def _stored(url: str, path: Path, downloads: Downloads) -> int:
    """Copy a file from any other store that fsspec knows."""
    watcher = downloads.watcher
    watcher.begin("downloading")
    with writing(path, error=ArchiveError), path.open("wb") as out:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with opened(url) as stream:
                    if out.tell():
                        stream.seek(out.tell())
                    for piece in _pieces(stream):
                        out.write(piece)
                        watcher.tick()
                return out.tell()
            except SourceError as error:
                if attempt == _ATTEMPTS:
                    raise ArchiveError(str(error)) from error
    raise AssertionError("unreachable")


def _pieces(stream: Any) -> Iterator[bytes]:
    while True:
        try:
            piece: bytes = stream.read(_PIECE)
        except parser_errors() as error:
            name = getattr(stream, "path", "a remote file")
            raise SourceError(f"cannot read {name}: {reason_of(error)}") from error
        if not piece:
            return
        yield piece


def _copy(
    store: Store, index: ArchiveIndex, url: str, path: Path, is_wanted: Callable[[Url], object],
    watcher: Watcher,
) -> str:  # fmt: skip
    """Copy the useful responses in a downloaded archive; return a message about damage."""
    watcher.begin("indexing")
    try:
        for offset, response in scan(path):
            watcher.tick()
            is_page = is_page_of(response)
            if is_wanted(response.url) and (is_page or is_useful(response)):
                record = compose(response, Origin(url, offset))
                place = store.archive.append(record, response.fetched_at)
                index.add(response.url, place.warc, place.offset, is_page=is_page)
    except ArchiveError as error:
        return str(error).replace(str(path), url)
    return ""


def is_useful(response: Response) -> bool:
    """True for a response that is no page, but tells a crawl something: most files do not."""
    return response.status != 200 or any(part in response.url for part in _WANTED_FILES)
