"""Train the model for pairs of URLs that comes with the package, on all data.

    python -m bench.training.url_pair --phrases phrases.tsv.gz [--data FOLDER] [--out FOLDER]

`bench.tasks.url_pair` measures the same model on domains it was not trained on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.support.paths import SOURCE
from bench.support.url_data import check, learner, options
from bench.training.cross_fitting import train
from diptych.learn.url import language as url_lang
from diptych.learn.url.data import read_pairs

SHIPPED = SOURCE / "learn" / "url" / "weights" / "url_pair"


def main() -> None:
    """Read, train, save."""
    parser = options(__doc__ or "")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    check(arguments)
    rows = list(read_pairs(arguments.data / "url_pairs.tsv.gz"))
    model = train(rows, learner(arguments, rows, set()))
    replace(model, languages=url_lang.load()).save(str(arguments.out))
    print(f"{len(rows):,} pairs -> {arguments.out}")


if __name__ == "__main__":
    main()
