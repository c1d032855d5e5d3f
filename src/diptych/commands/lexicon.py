"""`diptych lexicon`: dictionaries become lexicons, and what they say is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import orjson

from diptych.api import two_languages
from diptych.cli_parts import FOUND, NOTHING
from diptych.errors import ConfigError
from diptych.learn.lexicon.dictionaries import read_dictionaries
from diptych.learn.lexicon.file import read_lexicon
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.text.tokens import tokens

__all__ = ["import_dictionaries", "show"]

_EXAMPLES = 5


class Link(NamedTuple):
    """Two words and what each makes of the other."""

    left: str
    right: str
    forward: float
    """p(right | left)"""
    backward: float
    """p(left | right)"""


def import_dictionaries(
    files: Sequence[Path], langs: str, format: str | None, out: Path | None, *, reverse: bool
) -> int:
    """Write the lexicon of some dictionaries; the exit code."""
    left_lang, right_lang = two_languages(langs)
    lexicon = read_dictionaries(files, left_lang, right_lang, format=format, reverse=reverse)
    if not len(lexicon):
        names = ", ".join(str(file) for file in files)
        click.echo(f"no word is translated in {names}; is it of another --format?", err=True)
        return NOTHING
    path = out or Path(f"{left_lang}-{right_lang}.lexicon.npz")
    try:
        path.write_bytes(lexicon.to_bytes())
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    click.echo(
        f"{len(lexicon):,} links between {len(lexicon.left_words):,} {left_lang} and "
        f"{len(lexicon.right_words):,} {right_lang} words -> {path}"
    )
    for word in _examples(lexicon):
        best = ", ".join(found for found, _ in lexicon.best(word, n=3))
        click.echo(f"  {word}: {best}")
    return FOUND


def show(file: Path, words: Sequence[str], limit: int, *, as_json: bool) -> int:
    """Print the translations of some words, or of all, best first; the exit code."""
    found = False
    for lexicon in _lexicons(file):
        for link in _shown(lexicon, words, limit):
            found = True
            click.echo(_spelled(link, as_json=as_json))
    if not found:
        what = f"no translation of {', '.join(words)}" if words else "no word"
        click.echo(f"{what} in {file}", err=True)
    return FOUND if found else NOTHING


def _lexicons(path: Path) -> list[Lexicon]:
    """The lexicon of a file, or all that a run has learned."""
    if not path.is_dir():
        return [read_lexicon(path)]
    from diptych.run.store import Store
    from diptych.run.terms import read_terms

    read_terms(path)
    with Store(path, write=False) as store:
        learned = store.lexicons()
    return [Lexicon.from_bytes(data) for data in learned.values()]


def _examples(lexicon: Lexicon) -> list[str]:
    """Some words from all over the vocabulary."""
    step = max(len(lexicon.left_words) // _EXAMPLES, 1)
    return list(lexicon.left_words[step // 2 :: step][:_EXAMPLES])


def _shown(lexicon: Lexicon, words: Sequence[str], limit: int) -> Iterator[Link]:
    """The links of some words, which may be of either side; else of all left words."""
    back = lexicon.reversed()
    asked = [token for word in words for token in tokens(word, lexicon.left_lang)]
    for word in asked if words else lexicon.left_words:
        for other, value in lexicon.best(word, n=limit):
            yield Link(word, other, value, _probability(back, other, word))
        if words:
            for other, value in back.best(word, n=limit):
                yield Link(other, word, _probability(lexicon, other, word), value)


def _probability(lexicon: Lexicon, left: str, right: str) -> float:
    """p(right | left)."""
    row, column = lexicon.left_ids.get(left), lexicon.right_ids.get(right)
    if row is None or column is None:
        return 0.0
    start, end = lexicon.forward.offsets[row : row + 2].tolist()
    place = start + int(lexicon.forward.columns[start:end].searchsorted(column))
    is_there = place < end and lexicon.forward.columns[place] == column
    return float(lexicon.forward.values[place]) if is_there else 0.0


def _spelled(link: Link, *, as_json: bool) -> str:
    if as_json:
        rounded = link._replace(forward=round(link.forward, 4), backward=round(link.backward, 4))
        return orjson.dumps(rounded._asdict()).decode()
    return f"{link.left}\t{link.right}\t{link.forward:.4f}\t{link.backward:.4f}"
