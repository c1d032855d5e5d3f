"""`diptych url-lang`: identifies the languages of pages from their URLs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diptych.commands.declare import command
from diptych.commands.options import UrlModelOptions

if TYPE_CHECKING:
    from diptych.commands._url_lines import Line


@command(UrlModelOptions, "url-lang")
def url_lang(asked: UrlModelOptions) -> int:
    """Identify the languages of pages from their URLs.

    FILE has one URL per line; without FILE, or if it is -, standard input is read.  Each
    output line has tab-separated columns: the URL, the language and its probability.
    """
    from diptych.api.urls import best_languages, language_model
    from diptych.commands._url_lines import NO_URL, answer_lines, askable
    from diptych.learn.url.data import UNKNOWN

    model = language_model(asked.model)

    def answer(batch: Sequence[Line]) -> list[dict[str, Any] | None]:
        urls = [askable(line.column(0)) for line in batch]
        found = iter(best_languages(model, [url for url in urls if url]))
        scores = [next(found) if url else None for url in urls]
        return [
            score and {"lang": score.lang, "probability": round(score.score, 4)} for score in scores
        ]

    nothing = {"lang": UNKNOWN, "probability": 0.0}
    return answer_lines(asked, ("url",), answer, nothing, NO_URL)
