"""`diptych update` on a site that changes: requests, bytes and corpus, beside mining it anew.

    python -m bench.tasks.update [QUESTION...] [--sites DIR] [--out FILE]

A site is mined; a tenth of its pages changes, some vanish and some are new; it is updated, and then
mined anew into another folder, and the two corpora are compared (`bench.sites.changing`).  The
server sends ETag and Last-Modified, or nothing, or only a sitemap with dates.  The site is the one
of the demo.  With `--sites`, a question is SITE:LANG,LANG, and DIR has a folder for each real site;
these sites are no part of this repository.  Two runs that are mined anew may differ, too, if a site
has the same page under several URLs: `--twice` compares them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import diptych
from bench.sites.changing import ChangingSite, served
from bench.sites.real_sites import Question, questions
from bench.support.processes import give_up
from bench.support.tables import Tables, show_and_keep

MODES = {
    "ETag and Last-Modified": {"validators": True, "lastmod": False},
    "none": {"validators": False, "lastmod": False},
    "only lastmod in the sitemap": {"validators": False, "lastmod": True},
}
DEMO = Question("demo", ("en", "fr"), ("en", "fr"))


def run(*arguments: object) -> float:
    """Run a command of Diptych, and return the CPU seconds of all its processes."""
    before = _cpu()
    command = [sys.executable, "-m", "diptych", *map(str, arguments), "--quiet"]
    options = ["--delay", "0", "--allow-private", "--share", "100"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        give_up(f"{' '.join(command)}: {done.stderr}")
    return round(_cpu() - before, 1)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def corpus(folder: Path) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The segments and the page pairs of a run."""
    found = diptych.open(folder)
    return (
        {(segment.left, segment.right) for segment in found.segments()},
        {(pair.left_url, pair.right_url) for pair in found.pairs()},
    )


def measured(
    folder: Path, question: Question, mode: str, *, is_twice: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Mine, change, update and mine anew; returns the row of the costs and that of the corpora.

    If `is_twice`, the site is mined anew twice: the order of answers may matter in both.
    """
    site = ChangingSite(folder, **MODES[mode])
    langs = ",".join(question.langs)
    with tempfile.TemporaryDirectory(prefix="diptych-update-") as name, served(site) as url:
        old, new = Path(name, "old"), Path(name, "new")
        run("mine", url, "--langs", langs, "--out", old)
        site.change()
        seconds = run("update", old)
        update = site.answers, site.bytes
        site.count_anew()
        anew = run("mine", url, "--langs", langs, "--out", new)
        answers, size = site.answers, site.bytes
        twice: dict[str, int] = {}
        if is_twice:
            run("mine", url, "--langs", langs, "--out", Path(name, "again"))
            again, their_segments = corpus(Path(name, "again"))[0], corpus(new)[0]
            twice = {
                "only anew 1": len(their_segments - again),
                "only anew 2": len(again - their_segments),
            }
        ours, pairs = corpus(old)
        theirs, their_pairs = corpus(new)
        counts = diptych.open(old).summary.update
    assert counts is not None
    row = {"site": question.name, "validators": mode}
    cost = {
        **row,
        **{name: counts.pages.get(name, 0) for name in
           ("unchanged", "not_asked", "same_text", "changed", "new", "vanished")},
        "answers": update[0], "anew": answers,
        "kB": update[1] // 1000, "kB anew": size // 1000,
        "CPU s": seconds, "CPU s anew": anew,
    }  # fmt: skip
    compared = {
        **row,
        "pairs": len(pairs), "in both ": len(pairs & their_pairs), "anew ": len(their_pairs),
        "segments": len(ours), "in both": len(ours & theirs),
        "only update": len(ours - theirs), "only anew": len(theirs - ours),
        **twice,
    }  # fmt: skip
    return cost, compared


def _demo(folder: Path) -> Path:
    """The demo site in the format of built sites."""
    shipped = Path(diptych.__file__).parent / "demo" / "site"
    shutil.copytree(shipped, folder / "htdocs")
    meta = {"hosts": None, "pivot": "en", "home": "/"}
    (folder / "meta.json").write_text(json.dumps(meta), "utf-8")
    return folder


def main() -> None:
    """Measure the sites that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="*")
    parser.add_argument("--sites", type=Path, help="folder with one folder for each real site")
    parser.add_argument("--twice", action="store_true", help="mine anew twice, and compare that")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    os.environ.pop("HTTP_PROXY", None)
    if asked.questions and not asked.sites:
        give_up(
            "questions are asked of real sites, which are not here: name their folder (--sites)"
        )
    with tempfile.TemporaryDirectory(prefix="diptych-site-") as name:
        if asked.sites:
            chosen = [(each, asked.sites / each.site)
                      for each in questions(asked.sites, asked.questions)]  # fmt: skip
        else:
            chosen = [(DEMO, _demo(Path(name) / "demo"))]
        rows = [
            measured(folder, each, mode, is_twice=asked.twice)
            for each, folder in chosen
            for mode in MODES
        ]
    tables: Tables = {
        "Update after a tenth of the pages has changed": [cost for cost, _ in rows],
        "Corpora of the update and of mining anew": [compared for _, compared in rows],
    }
    show_and_keep(tables, asked.out)


if __name__ == "__main__":
    main()
