"""Train the tag table and the deletion probability of the tree alignment, and ship them.

    python -m bench.training.tree [--pages 6] [--seed 3]

Page pairs of the training families of `block_pairs`, in all language pairs they have, whatever
their structure; each also with a fifth of the blocks of one side taken away where their blocks are
alike, since manuals are kept in step more than the web is.
"""

from __future__ import annotations

import argparse

from bench.support.block_pairs import KINDS, LANGS, TRAINING, pairs_of, samples
from bench.support.paths import SOURCE
from bench.training.tree_em import train
from diptych.types import Page

WEIGHTS = SOURCE / "stages/align_dom/domtree/weights"
CARD = """# Tree alignment: parameters

`tree.json`: the tag table Pr(l | l'), the distribution of tags without a counterpart, and the
probability of deletion (Shi et al. 2006), by EM over page pairs that were not aligned.
Trained by `python -m bench.training.tree --pages {most} --seed {seed}` without a lexicon on
{count} page pairs of {families}; the other families are the benchmark's.

Deletion probability {deletion:.3f} after {rounds} rounds; log-likelihood {first:.0f} before,
{last:.0f} after.
The families are built from packages of Debian, and none of their text is here.
"""


def training_pairs(most: int, seed: int) -> list[tuple[Page, Page]]:
    """Pages as they are, and made worse."""
    found: list[tuple[Page, Page]] = []
    for family in TRAINING:
        for langs in LANGS:
            whole = pairs_of(family, langs, most, seed, alike=False)
            found += [(pair.sources[0].page, pair.sources[1].page) for pair in whole]
            alike = pairs_of(family, langs, most, seed + 1)
            for kind in KINDS[1:2]:
                found += [(made.left, made.right) for made in samples(alike, kind, seed)]
    return found


def main() -> None:
    """Train, and write the parameters and their card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=6, help="of a family and language pair")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    pairs = training_pairs(options.pages, options.seed)
    history = train(pairs, rounds=6)
    for number, done in enumerate(history):
        print(number, round(done.log_likelihood, 1), round(done.parameters.deletion, 4))
    best = history[-1].parameters
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / "tree.json").write_text(best.to_json() + "\n", "utf-8")
    card = CARD.format(
        most=options.pages, seed=options.seed, count=len(pairs), families=", ".join(TRAINING),
        deletion=best.deletion, rounds=len(history) - 1, first=history[0].log_likelihood,
        last=history[-1].log_likelihood,
    )  # fmt: skip
    (WEIGHTS / "tree.md").write_text(card, "utf-8")


if __name__ == "__main__":
    main()
