"""`diptych lexicon`: imports dictionaries as lexicons, and shows the entries of lexicons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from diptych.api.declare import argument, count_option, option
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING, Group, as_lines, two_langs_option
from diptych.files import replace_file

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

_EXAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of `diptych lexicon import`."""

    files: tuple[Path, ...] = argument("FILE...")
    langs: str = two_langs_option()
    format: str | None = option(
        "dictd: FreeDict or dictd; dic: hunalign; tsv: left TAB right [TAB probability];"
        " default: inferred from the file name.",
        choices=("dictd", "dic", "tsv"),
    )  # fmt: skip
    reverse: bool = option(
        "The files translate from the second language into the first.", default=False
    )
    out: Path | None = option(
        "Lexicon file to write; default: named after LANGS, such as de-fr.lexicon.npz.",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of `diptych lexicon show`."""

    file: Path = argument()
    words: tuple[str, ...] = argument("[WORD...]", default=())
    limit: int = count_option("Maximum number of translations per word.", 10)
    as_json: bool = as_lines()


class WordLink(NamedTuple):
    """Two words and their translation probabilities."""

    left: str
    right: str
    forward: float
    """p(right | left)"""
    backward: float
    """p(left | right)"""


@click.group(cls=Group)
def lexicon() -> None:
    """Import and show lexicons (translation probabilities of words)."""


@command(ImportOptions, "import", lexicon)
def lexicon_import(asked: ImportOptions) -> int:
    """Import dictionaries as a lexicon.

    Several FILEs are combined into one lexicon.  A file whose name states the opposite direction,
    such as fra-deu, is reversed.
    """
    from diptych.api.align import two_languages
    from diptych.learn.lexicon.dictionaries import read_dictionaries

    left_lang, right_lang = two_languages(asked.langs)
    made = read_dictionaries(
        asked.files, left_lang, right_lang, format=asked.format, reverse=asked.reverse
    )
    if not len(made):
        names = ", ".join(str(file) for file in asked.files)
        click.echo(f"no translations in {names}; try another --format", err=True)
        return NOTHING
    path = asked.out or Path(f"{left_lang}-{right_lang}.lexicon.npz")
    replace_file(path, made.to_bytes())
    click.echo(
        f"{len(made):,} links between {len(made.left_words):,} {left_lang} and "
        f"{len(made.right_words):,} {right_lang} words -> {path}"
    )
    for word in _examples(made):
        best = ", ".join(found for found, _ in made.best(word, n=3))
        click.echo(f"  {word}: {best}")
    return FOUND


@command(ShowOptions, "show", lexicon)
def lexicon_show(asked: ShowOptions) -> int:
    """Print the translations of WORDs, in either language, or of all words.

    FILE is a lexicon, or the folder of a run, whose learned lexicons are shown.

    Each output line has tab-separated columns: left, right, p(right | left), p(left | right).
    """
    found = False
    for known in _lexicons(asked.file):
        for link in _shown(known, asked.words, asked.limit):
            found = True
            click.echo(_spelled(link, as_json=asked.as_json))
    if not found:
        what = f"no translation of {', '.join(asked.words)}" if asked.words else "no words"
        click.echo(f"{what} in {asked.file}", err=True)
    return FOUND if found else NOTHING


def _lexicons(path: Path) -> list[Lexicon]:
    """The lexicon in a file, or all learned lexicons of a run."""
    from diptych.learn.lexicon.lexicon import read_lexicon

    if not path.is_dir():
        return [read_lexicon(path)]
    from diptych.run.terms import open_to_read

    with open_to_read(path) as store:
        return list(store.learned_lexicons().values())


def _examples(lexicon: Lexicon) -> list[str]:
    """A few left words, spread evenly over the vocabulary."""
    step = max(len(lexicon.left_words) // _EXAMPLES, 1)
    return list(lexicon.left_words[step // 2 :: step][:_EXAMPLES])


def _shown(lexicon: Lexicon, words: Sequence[str], limit: int) -> Iterator[WordLink]:
    """Yield the translations of `words`, which may be in either language of the lexicon.

    Without `words`, yield the translations of all left words.  At most `limit` translations are
    given for each word and direction.
    """
    from diptych.text.tokens import tokens

    back = lexicon.reversed()
    asked = [token for word in words for token in tokens(word, lexicon.left_lang)]
    for word in asked if words else lexicon.left_words:
        for other, value in lexicon.best(word, n=limit):
            yield WordLink(word, other, value, _probability(back, other, word))
        if words:
            for other, value in back.best(word, n=limit):
                yield WordLink(other, word, _probability(lexicon, other, word), value)


def _probability(lexicon: Lexicon, left: str, right: str) -> float:
    """The translation probability p(right | left)."""
    row, column = lexicon.left_ids.get(left), lexicon.right_ids.get(right)
    if row is None or column is None:
        return 0.0
    start, end = lexicon.forward.offsets[row : row + 2].tolist()
    place = start + int(lexicon.forward.columns[start:end].searchsorted(column))
    is_there = place < end and lexicon.forward.columns[place] == column
    return float(lexicon.forward.values[place]) if is_there else 0.0


def _spelled(link: WordLink, *, as_json: bool) -> str:
    if as_json:
        import orjson

        rounded = link._replace(forward=round(link.forward, 4), backward=round(link.backward, 4))
        return orjson.dumps(rounded._asdict()).decode()
    return f"{link.left}\t{link.right}\t{link.forward:.4f}\t{link.backward:.4f}"
