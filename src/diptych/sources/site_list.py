"""Read lists of sites, one per line, from files or standard input."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from diptych.errors import ConfigError, option_name
from diptych.files import read_file, reading
from diptych.text.sites import has_public_suffix, parse_site
from diptych.types import Url

STANDARD = "-"
"""the name of standard input"""
_MAX_BYTES = 1 << 28
_RUN_FILE = "run.toml"
_ARCHIVES = (".warc", ".warc.gz", ".warc.zst", ".wacz")


def named_sites(
    names: Sequence[str], lines: Iterable[str], lists: Sequence[Path] = ()
) -> list[Url]:
    r"""The URLs of the sites in `names` and in the files `lists`, in order.

    A name can be a site, a file that lists sites, or `-` for standard input, whose lines are passed
    as `lines`.  A host name under a public suffix, such as example.org, means the site even if a
    file or folder of that name exists.  If that folder is a run, an error is raised.

    In each line of a list, only the text before a tab is used.  Empty lines and comments are
    skipped.

    >>> named_sites(["a.org", "-"], ["b.org\t0.9", "", "# more", "c.org"])
    ['https://a.org/', 'https://b.org/', 'https://c.org/']
    """
    is_read = False
    found: list[Url] = []
    for name in (*names, *map(str, lists)):
        if name == STANDARD:
            if not is_read:
                found.extend(_standard_input(lines))
            is_read = True
        elif name in map(str, lists) or (Path(name).is_file() and not has_public_suffix(name)):
            found.extend(_read_list(Path(name)))
        else:
            _refuse_folder(name)
            found.append(parse_site(name))
    return found


def _refuse_folder(name: str) -> None:
    """Raise a `ConfigError` if a folder was given instead of a site."""
    path = Path(name)
    if name and path.is_dir() and ((path / _RUN_FILE).exists() or not has_public_suffix(name)):
        raise ConfigError(
            f"{name} is a folder; to show a run, use: diptych status {shlex.quote(name)}; to mine"
            f" archives, use {option_name('warc')}"
        )


def _standard_input(lines: Iterable[str]) -> list[Url]:
    with reading("standard input"):
        given = list(lines)
    return _parse_lines(given, "standard input")


def _read_list(path: Path) -> list[Url]:
    """Read the sites listed in a file."""
    if path.name.endswith(_ARCHIVES):
        raise ConfigError(f"{path} is an archive; pass it with {option_name('warc')}")
    data = read_file(path, _MAX_BYTES)
    if b"\0" in data:
        raise ConfigError(f"{path} is not a list of sites: it is binary")
    with reading(path, "list of sites", "it must have one site per line"):
        lines = data.decode("utf-8").splitlines()
    return _parse_lines(lines, str(path))


def _parse_lines(lines: Iterable[str], source: str) -> list[Url]:
    """Parse lines with one site each; raise a `ConfigError` that names the first invalid line."""
    found: list[Url] = []
    for number, line in enumerate(lines, 1):
        name = line.partition("\t")[0].strip("\ufeff \r\n")
        if not name or name.startswith("#"):
            continue
        try:
            found.append(parse_site(name))
        except ConfigError as error:
            raise ConfigError(error.with_context(f"{source}, line {number}")) from error
    if not found:
        raise ConfigError(f"{source} contains no site; it must have one site per line")
    return found
