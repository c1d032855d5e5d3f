"""`diptych train langid`, and `--langid`: languages that no identifier knows are taught."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from diptych.commands.options import FOUND
from diptych.errors import ConfigError
from diptych.files import read_file, reading, replace_file
from diptych.language.codes import may_be_code, parse_lang
from diptych.language.identify import can_identify
from diptych.language.train import TrainingResult, pieces_of, train_language

_MAX_TEXT = 100_000_000  # bytes of a file of text


def train_langid(lang: str, files: Sequence[Path], out: Path) -> int:
    """Learn a language from files of text in it, and write what was learned; the exit code."""
    code = _code(lang)
    pieces = pieces_of("\n".join(_text(path) for path in files))
    try:
        result = train_language(code, pieces)
    except ValueError as error:
        names = ", ".join(str(path) for path in files)
        raise ConfigError(f"{names}: {error}") from error
    replace_file(out, result.language.to_bytes())
    click.echo(_report(result, out))
    return FOUND


def _code(lang: str) -> str:
    """A code in canonical form; one of three letters need not be listed anywhere."""
    try:
        return parse_lang(lang)
    except ConfigError as error:
        if may_be_code(lowered := lang.strip().lower()):
            return lowered
        raise ConfigError(f"{error}, or for a language that has none, one of qaa to qtz") from error


def _text(path: Path) -> str:
    with reading(path, "text in UTF-8", "convert it first"):
        return read_file(path, _MAX_TEXT, "a tenth will do").decode("utf-8-sig")


def _report(result: TrainingResult, out: Path) -> str:
    lang, quality = result.language.lang, result.quality
    before = ", ".join(f"{label} {share:.0%}" for label, share in quality.before)
    near = ", ".join(f"{label} {weight:.0%}" for label, weight in result.near)
    lines = [
        f"{lang} learned from {result.pieces:,} lines, {result.letters:,} letters -> {out}",
        f"  of lines that were held back {quality.lines:.1%} are told to be {lang},"
        f" of texts as long as a page's {quality.pages:.1%}",
        f"  without it they were taken for: {before}",
        f"  it is like: {near}; how often text in those is taken for {lang} cannot be known from"
        " these files",
    ]
    if can_identify(lang):
        lines.append(f"  {lang} was known before; this takes the place of what was known")
    return "\n".join(lines)
