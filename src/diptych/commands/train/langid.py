"""`diptych train langid`: trains a model for a new language, to be used with `--langid`."""

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

_MAX_TEXT = 100_000_000  # maximum bytes of a text file


def train_langid(lang: str, files: Sequence[Path], out: Path) -> int:
    """Learn a language from text files, write the model to `out`, and return the exit code."""
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
    """The language code in canonical form; unregistered three-letter codes are accepted."""
    try:
        return parse_lang(lang)
    except ConfigError as error:
        if may_be_code(lowered := lang.strip().lower()):
            return lowered
        raise ConfigError(
            f"{error}, or a code from qaa to qtz for a language without one"
        ) from error


def _text(path: Path) -> str:
    with reading(path, "UTF-8 text file", "convert it first"):
        return read_file(path, _MAX_TEXT, "a tenth of it is enough").decode("utf-8-sig")


def _report(result: TrainingResult, out: Path) -> str:
    lang, quality = result.language.lang, result.quality
    before = ", ".join(f"{label} {share:.0%}" for label, share in quality.before)
    near = ", ".join(f"{label} {weight:.0%}" for label, weight in result.near)
    lines = [
        f"{lang} learned from {result.pieces:,} lines, {result.letters:,} letters -> {out}",
        f"  identified as {lang}: {quality.lines:.1%} of held-out lines, {quality.pages:.1%} of"
        " held-out texts as long as a page",
        f"  identified without this model as: {before}",
        f"  similar languages: {near}; these files do not show how often texts in these languages"
        f" are misidentified as {lang}",
    ]
    if can_identify(lang):
        lines.append(f"  the learned model replaces the built-in one for {lang}")
    return "\n".join(lines)
