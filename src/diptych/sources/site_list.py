"""Lists of sites: a file or standard input with a site a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from diptych.errors import ConfigError, option_name
from diptych.files import read_file, reading
from diptych.text.sites import parse_site
from diptych.types import Url

STANDARD = "-"
"""the name of standard input"""
_MAX_BYTES = 1 << 28
_ARCHIVES = (".warc", ".warc.gz")


def named_sites(
    names: Sequence[str], lines: Iterable[str], lists: Sequence[Path] = ()
) -> list[Url]:
    r"""Sites in order: those named, those of a file that is named like a site, those of lists.

    `lines` are those of standard input, which `-` stands for.  Of a line only the text before a tab
    counts; empty lines and comments are skipped.

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
        elif name in map(str, lists) or Path(name).is_file():
            found.extend(_read_list(Path(name)))
        else:
            found.append(parse_site(name))
    return found


def _standard_input(lines: Iterable[str]) -> list[Url]:
    with reading("standard input"):
        given = list(lines)
    return _parse_lines(given, "standard input")


def _read_list(path: Path) -> list[Url]:
    """The sites of a file."""
    if path.name.endswith(_ARCHIVES):
        raise ConfigError(f"{path} is an archive; name it with {option_name('warc')}")
    data = read_file(path, _MAX_BYTES)
    if b"\0" in data:
        raise ConfigError(f"{path} is not a list of sites: it is binary")
    with reading(path, "list of sites", "it needs one site per line"):
        lines = data.decode("utf-8").splitlines()
    return _parse_lines(lines, str(path))


def _parse_lines(lines: Iterable[str], source: str) -> list[Url]:
    """The sites of some lines; a `ConfigError` names the line that is none."""
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
        raise ConfigError(f"{source} names no site; it needs one site per line")
    return found
