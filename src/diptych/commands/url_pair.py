"""`diptych url-pair`: estimates the probability that two URLs lead to translations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diptych.commands.declare import command
from diptych.commands.options import UrlModelOptions

if TYPE_CHECKING:
    from diptych.commands._url_lines import Line

_NO_PAIR = "without two tab-separated http or https URLs"


@command(UrlModelOptions, "url-pair")
def url_pair(asked: UrlModelOptions) -> int:
    """Estimate the probability that the pages at two URLs are translations of each other.

    Each line of FILE has two URLs, separated by a tab; without FILE, or if it is -, standard input
    is read.  Each output line has tab-separated columns: both URLs and the probability.
    """
    from diptych.api.urls import pair_model
    from diptych.commands._url_lines import answer_lines, askable

    model = pair_model(asked.model)

    def answer(batch: Sequence[Line]) -> list[dict[str, Any] | None]:
        urls = [(askable(line.column(0)), askable(line.column(1))) for line in batch]
        both = [pair for pair in urls if all(pair)]
        found = iter(model.probabilities([left for left, _ in both], [right for _, right in both]))
        return [
            {"probability": round(float(next(found)), 4)} if all(pair) else None for pair in urls
        ]

    return answer_lines(asked, ("left", "right"), answer, {"probability": 0.0}, _NO_PAIR)
