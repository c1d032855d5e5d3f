"""The requested languages, and language models that the user has trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diptych.api.declare import REQUIRED, option
from diptych.errors import ConfigError, option_name
from diptych.files import read_file, reading

if TYPE_CHECKING:
    from diptych.language.learned import LearnedLanguage


def langs_option() -> Any:
    """Declare the option for the requested languages."""
    return option("Two or more languages, as ISO 639 codes.", default=REQUIRED, metavar="en,fr")


def langid_option() -> Any:
    """Declare the option for language models that the user has trained."""
    return option(
        "Model for an additional language, made with diptych train langid (repeatable).",
        default=(), metavar="FILE",
    )  # fmt: skip


def languages(langs: str | Sequence[str], taught: Sequence[Path] = ()) -> tuple[str, ...]:
    """Load the language models in the files `taught`, and parse `langs` into language codes."""
    from diptych.language import identify
    from diptych.language.codes import parse_langs

    if taught or identify.learned_languages():
        use_language_files(taught)
    return parse_langs(as_text(langs))


def as_text(langs: str | Sequence[str]) -> str:
    """Join languages into a comma-separated list.

    >>> as_text(["en", "fr"]), as_text("en,fr")
    ('en,fr', 'en,fr')
    """
    return langs if isinstance(langs, str) else ",".join(langs)


def use_language_files(files: Sequence[Path]) -> None:
    """Use the language models in these files; raise `ConfigError` if a model is invalid."""
    from diptych.language.identify import use_learned_languages

    models = [_learned(path) for path in files]
    try:
        use_learned_languages(models)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _learned(path: Path) -> LearnedLanguage:
    from diptych.language.learned import MAX_BYTES, LearnedLanguage

    advice = "make one with: diptych train langid LANG FILE --out MODEL"
    with reading(path, "langid model", advice):
        return LearnedLanguage.from_bytes(read_file(path, MAX_BYTES, advice))


def learned_names() -> tuple[str, ...]:
    """The names under which `run.toml` lists the user's language models: code and digest."""
    from hashlib import blake2b

    from diptych.language import identify

    return tuple(
        f"{each.lang}:{blake2b(each.to_bytes(), digest_size=8).hexdigest()}"
        for each in identify.learned_languages()
    )


def first_notes(langs: Sequence[str]) -> list[str]:
    """Notes to show when a run begins, about its languages and the installation.

    They warn of language codes that are also country codes, of languages that cannot be identified
    from text, and of missing compiled kernels.
    """
    from diptych.kernels import slow_kernels
    from diptych.language import identify
    from diptych.language.mistakes import code_of_country

    notes = [note for lang in langs if (note := code_of_country(lang))]
    notes += [
        f"cannot identify {lang} from text, so only pages that declare it are used; to train a"
        f" model for it, run: diptych train langid {lang} FILE --out MODEL, then mine with"
        f" {option_name('langid')} MODEL"
        for lang in langs
        if not identify.can_identify(lang)
    ]
    return [*notes, *filter(None, [slow_kernels()])]
