"""Import of dictionaries as lexicons, from dictd (FreeDict), hunalign or tab-separated files.

The translations of a word are equally probable, regardless of their order.  In an entry of several
words, each left word is linked to each right word; the more words there are, the lower the weight
of each link.  Entries of many words are skipped, because they are explanations, not translations.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise, product
from pathlib import Path

from diptych.errors import ConfigError, option_name
from diptych.files import reading
from diptych.language.codes import primary, same_language
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.tokens import tokens

FORMATS = ("dictd", "dic", "tsv")
MAX_BYTES = 1 << 29  # size limit of an unpacked file; the largest in FreeDict has 100 MB
MAX_LINKS = 20_000_000
MAX_LINE = 2_000  # characters; no entry is longer
MAX_WORD_PAIRS = 4  # one word to four, two to two: compounds, but not explanations

_DIGITS = {
    char: place
    for place, char in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_PHONETICS = re.compile(r"(?:^|(?<=\s))/[^\n]*?/(?=[\s,;/]|$)")
_REMARK = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)")
# A number at the start of a line marks a sense; an indented one marks an explanation.
_NUMBERED = re.compile(r"\d{1,3}\.(?:\s+|$)")
_EXPLAINED = re.compile(r"\s+\d{1,3}\.\s*$")
_LAST_NUMBER = re.compile(r"\s\d{1,3}\.\s*$")  # of a sense that has only an explanation
_REFERENCE = re.compile(r"\s*(?:see|see also|synonyms?|antonyms?|note|cf\.?)\s*:", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;|]")

Entry = tuple[str, str, float]
"""left words, right words, weight"""


def read_dictionaries(
    paths: Sequence[Path],
    left_lang: str,
    right_lang: str,
    *,
    format: str | None = None,
    reverse: bool = False,
) -> Lexicon:
    """Read dictionary files for two languages, and merge them into one lexicon.

    If `format` is None, the format is inferred from the file name.  The sides of a file are swapped
    if `reverse` is True or if its name contains the languages in the opposite order.  In hunalign
    files, a line is `right words @ left words`.
    """
    for path in paths:
        _check_name(path, left_lang, right_lang)
    links = [
        link
        for path in paths
        for link in _links(
            path, left_lang, right_lang, format,
            reverse=reverse or is_reversed(path, left_lang, right_lang),
        )
    ]  # fmt: skip
    # A link in both directions of a dictionary counts once.
    largest: dict[tuple[str, str], float] = {}
    for left, right, weight in links:
        largest[left, right] = max(weight, largest.get((left, right), 0.0))
    return Lexicon.of_links(left_lang, right_lang, ((*words, w) for words, w in largest.items()))


def is_reversed(path: Path, left_lang: str, right_lang: str) -> bool:
    """True if a file name contains the language codes in the opposite order.

    >>> is_reversed(Path("freedict-fra-deu.index"), "de", "fr")
    True
    >>> is_reversed(Path("freedict-deu-fra.index"), "de", "fr"), is_reversed(Path("x"), "de", "fr")
    (False, False)
    """
    return any(
        same_language(first, right_lang) and same_language(second, left_lang)
        for first, second in pairwise(_codes(path))
    )


def _codes(path: Path) -> list[str]:
    """The parts of a file name that may be language codes."""
    parts = re.split(r"[^a-z]+", path.name.lower())
    return [part for part in parts if 2 <= len(part) <= 3]


def _check_name(path: Path, left_lang: str, right_lang: str) -> None:
    """Raise ConfigError if the name of a FreeDict file does not contain both language codes."""
    if not path.name.startswith("freedict-"):
        return
    known = [code for code in _codes(path) if code not in ("dz", "gz")]
    for lang in (left_lang, right_lang):
        if not any(same_language(code, lang) for code in known):
            raise ConfigError(
                f"judging by its name, {path.name} is for {','.join(known)},"
                f" not {left_lang},{right_lang}"
            )


def format_of(path: Path) -> str:
    """Infer the format of a dictionary from its file name, or raise ConfigError if it is unclear.

    >>> format_of(Path("freedict-deu-fra.dict.dz")), format_of(Path("hu-en.stem.dic.gz"))
    ('dictd', 'dic')
    """
    name = path.name.lower().removesuffix(".gz").removesuffix(".dz")
    endings = {".index": "dictd", ".dict": "dictd", ".dic": "dic", ".tsv": "tsv", ".txt": "tsv"}
    for ending, format in endings.items():
        if name.endswith(ending):
            return format
    raise ConfigError(
        f"the name of {path} does not indicate a format;"
        f" add {option_name('format')} {'|'.join(FORMATS)}"
    )


def _links(
    path: Path, left_lang: str, right_lang: str, format: str | None, *, reverse: bool
) -> list[tuple[str, str, float]]:
    """Read the word links of a dictionary as (left word, right word, weight)."""
    readers = {"dictd": _dictd, "dic": _dic, "tsv": _tsv}
    chosen = format or format_of(path)
    if chosen not in readers:
        raise ConfigError(f"unknown dictionary format '{chosen}'; available: {', '.join(FORMATS)}")
    given, other = (right_lang, left_lang) if reverse else (left_lang, right_lang)
    pairs = _word_links(readers[chosen](path), given, other)
    found = list(islice(pairs, MAX_LINKS))
    return [(right, left, weight) for left, right, weight in found] if reverse else found


def _word_links(entries: Iterable[Entry], left_lang: str, right_lang: str) -> Iterator[Entry]:
    """Convert dictionary entries to weighted links between single words."""
    for left, right, weight in entries:
        ours, theirs = _words(left, left_lang), _words(right, right_lang)
        count = len(ours) * len(theirs)
        if 1 <= count <= MAX_WORD_PAIRS:
            for one, other in product(ours, theirs):
                # Squared, or "et" would be lost among the words of phrases that contain "und".
                yield one, other, weight / count**2


@lru_cache(maxsize=1 << 14)
def _words(text: str, lang: str) -> tuple[str, ...]:
    """The words of one side of an entry, without the "to" of English infinitives."""
    found = tuple(tokens(text, lang))
    return found[1:] if len(found) > 1 and found[0] == "to" and primary(lang) == "en" else found


def _tsv(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file whose lines are `left TAB right [TAB probability]`.

    Other lines are skipped.
    """
    for line in _lines(path):
        columns = line.split("\t")
        if len(columns) >= 2:
            weight = _weight(columns[2]) if len(columns) > 2 else 1.0
            yield columns[0], columns[1], weight


def _weight(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 1.0
    return value if 0 < value <= 1 else 0.0


def _dic(path: Path) -> Iterator[Entry]:
    """Yield the entries of a hunalign dictionary, whose lines are `right words @ left words`."""
    for line in _lines(path):
        right, at, left = line.partition(" @ ")
        if at:
            yield left, right, 1.0


def _lines(path: Path) -> Iterator[str]:
    for line in _read(path).decode("utf-8", "replace").removeprefix("\ufeff").split("\n"):
        if len(line) <= MAX_LINE:
            yield line.rstrip("\r")


def _dictd(path: Path) -> Iterator[Entry]:
    """Yield the entries of a dictd dictionary, which consists of an index file and a text file."""
    index, text = _files(path)
    body, places = _read(text), sorted(set(_places(_read(index))))
    for start, size in places:
        entry = body[start : start + min(size, MAX_LINE * 10)].decode("utf-8", "replace")
        heads, translations = read_entry(entry)
        for head, translation in product(heads, translations):
            yield head, translation, 1.0


def _places(index: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offset and size of each entry from the content of a dictd index.

    A line is `headword TAB offset TAB size`, with both numbers in base 64.
    """
    for line in index.decode("utf-8", "replace").split("\n"):
        columns = line.rstrip("\r").split("\t")
        is_info = columns[0].startswith(("00database", "00-database"))
        if len(columns) >= 3 and not is_info:
            numbers = [_number(column) for column in columns[1:3]]
            if numbers[0] is not None and numbers[1] is not None:
                yield numbers[0], numbers[1]


def _number(text: str) -> int | None:
    """Parse a number in dictd's base-64 notation, or return None if it is malformed.

    >>> _number("DIa"), _number("?")
    (12826, None)
    """
    value = 0
    for char in text[:12]:
        if char not in _DIGITS:
            return None
        value = value * 64 + _DIGITS[char]
    return value if text else None


def read_entry(text: str) -> tuple[list[str], list[str]]:
    r"""Extract the headwords and the translations from a dictd entry.

    The first line contains the headwords.  Translations are on the first line with words after it
    and, if senses are numbered, on the first line with words in each sense.  All other lines are
    explanations in the language of the headword.

    >>> read_entry("Boot /boːt/ <n, neut>\n1. bateau, barque\nkleines Schiff\n see: {Schiff}")
    (['Boot'], ['bateau', 'barque'])
    """
    first, *lines = text.split("\n")
    translations: list[str] = []
    is_open = True
    for line in lines:
        number = _NUMBERED.match(line)
        is_open = (is_open or number is not None) and not _EXPLAINED.match(line)
        bare = "" if _REFERENCE.match(line) else _bare(line[number.end() :] if number else line)
        if is_open and bare:
            translations += _split(bare)
            is_open = False
    return _split(_bare(first)), translations


def _bare(line: str) -> str:
    """Remove phonetics, bracketed remarks and a final sense number from a line."""
    plain = _PHONETICS.sub("", line[:MAX_LINE])
    for _ in range(3):  # nested brackets
        plain = _REMARK.sub(" ", plain)
    return _LAST_NUMBER.sub("", plain).strip()


def _split(line: str) -> list[str]:
    return [part.strip(" .") for part in _BETWEEN.split(line) if part.strip(" .")]


def _files(path: Path) -> tuple[Path, Path]:
    """The paths of a dictionary's index and text files, given the path of either one."""
    stem = re.sub(r"\.(?:index(?:\.gz)?|dict(?:\.dz|\.gz)?)$", "", path.name)
    index = _first(path, stem, (".index", ".index.gz"))
    return index, _first(path, stem, (".dict.dz", ".dict", ".dict.gz"))


def _first(path: Path, stem: str, endings: Sequence[str]) -> Path:
    """The first existing file in the folder of `path` that is named `stem` plus an ending."""
    names = [path.with_name(stem + ending) for ending in endings]
    for name in names:
        if name.is_file():
            return name
    raise ConfigError(
        f"no {names[0]}; a dictd dictionary has two files, NAME.index and NAME.dict.dz"
    )


def _read(path: Path) -> bytes:
    """Read a file, and decompress it if it is in gzip or dictzip format."""
    with reading(path), path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        source = gzip.GzipFile(fileobj=stream) if packed else stream
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_BYTES >> 20} MB; split it")
    return data
