"""Bilingual sites found per 10,000 downloads on a simulated web: FC, FocC, OBFC and COBFC.

    python -m bench.tasks.discovery [--jobs 1] [--keep FILE] [--out bench/results/discovery.json]

`simulated_web.py` generates the web and states its assumptions.  Each policy begins with the same
seeds, one for every hundred downloads as in the paper (Barbosa et al. 2011: 1,000 seeds, 100,000
pages).  A site counts if it is reported and really bilingual.  Downloads are all responses: pages,
redirects and missing pages; as in the paper, robots.txt is not counted, and is shown separately.
Back links come from the web itself, as from a search engine, or from its host graph in the format
of Common Crawl.  With `--keep`, each finished crawl is saved in a file, and saved crawls are not
repeated; `--policies` repeats the crawls of some policies.  Exits with 1 if a target is missed: the
paper's order of policies, and COBFC at 1.5 times OBFC.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

from bench.support.machine import machine
from bench.support.tables import Tables, percent, show
from bench.web.engine import WebEngine
from bench.web.simulated_web import SimulatedWeb, check
from bench.web.sites import Assumptions
from diptych.frontier.politeness import Politeness
from diptych.frontier.search import Budget, Discovery, SearchSettings
from diptych.protocols import DiscoverPolicy, LinkSource
from diptych.run.store import Store
from diptych.sources.graph_index import index_graph
from diptych.sources.web_graph import WebGraph
from diptych.stages.detect.predictor.strategy import Detect
from diptych.stages.discover.backforth import Cobfc, Obfc
from diptych.stages.discover.focused import Focused
from diptych.stages.discover.forward import Forward

LANGS = ("en", "es")
TRAVEL = ("travel", "hotel", "tourism", "viajes", "turismo")
"""the topic of the focused crawler, as in the paper"""
POLICIES: dict[str, Callable[[], DiscoverPolicy]] = {
    "fc": Forward, "focc": partial(Focused, TRAVEL), "obfc": Obfc, "cobfc": Cobfc,
}  # fmt: skip
SEEDS = (7, 8, 9)
DOWNLOADS_PER_SEED = 100  # Barbosa et al. 2011, 3.1: 1,000 seeds for 100,000 pages
STEP = 1_000  # downloads between two points of the curve
GAIN = 1.5  # of COBFC over OBFC
SHORTER = 4  # times fewer downloads where assumptions are varied
VARIANTS: dict[str, dict[str, float]] = {
    "nothing else, a quarter of the downloads": {},
    "60% of the words are noise": {"noise": 0.6},
    "all words are noise": {"noise": 1.0},
    "communities half as different": {"concentration": 0.5},
    "communities all alike": {"concentration": 0.0, "scatter": 0.0},
    "no regard for the reader's language": {"homophily": 0.0},
    "links never tell languages": {"minded": 0.0, "noted": 0.0},
    "all three: noise, alike, links never tell": {
        "noise": 1.0,
        "concentration": 0.0,
        "scatter": 0.0,
        "minded": 0.0,
        "noted": 0.0,
    },
}
"""assumptions that differ from the default"""
LARGE = "a web of 100,000 sites"
SIZES = {LARGE: 100_000}
"""the other thing that is varied: how much of the web 10,000 downloads are"""


@dataclass(frozen=True, slots=True)
class Task:
    """A crawl to be measured."""

    policy: str
    source: str
    seed: int
    variant: str = ""
    downloads: int = 10_000
    sites: int = 30_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a crawl."""

    task: Task
    right: list[int]
    """for each bilingual site, the number of the download at which it was reported"""
    wrong: int
    """reported sites that are not bilingual"""
    overlooked: int
    """bilingual sites that were tested but not reported"""
    tested: int
    robots: int
    link_queries: int
    seconds: float
    web: dict[str, Any]


def run(task: Task) -> Outcome:
    """Run one crawl."""
    web = SimulatedWeb(task.seed, task.sites, Assumptions(**VARIANTS.get(task.variant, {})))
    setting = SearchSettings(Politeness("DiptychBot/0", delay=0.0), budget=Budget(task.downloads))
    seeds = web.seeds(task.downloads // DOWNLOADS_PER_SEED)
    with tempfile.TemporaryDirectory() as folder:
        source = _source(task.source, web, Path(folder))
        store = Store(Path(folder))
        started = time.perf_counter()
        policy = POLICIES[task.policy]()
        discovery = Discovery(store, seeds, policy, Detect(), LANGS, setting, now=0.0)
        engine = WebEngine(web, source)
        engine.run(discovery)
        seconds = time.perf_counter() - started
        store.close()
    # What was under way when the budget was spent was finished, and does not count.
    verdicts = [each for each in engine.verdicts if each[0] <= task.downloads]
    right = [at for at, site, accept in verdicts if accept and web.is_bilingual(site)]
    wrong = sum(accept and not web.is_bilingual(site) for _, site, accept in verdicts)
    overlooked = sum(not accept and web.is_bilingual(site) for _, site, accept in verdicts)
    stats = discovery.stats
    facts = {
        "seed of the web": task.seed, "sites": task.sites, "pages": web.pages,
        "bilingual": len(web.bilingual), "pages that cite": len(web.citations.site),
        "links between sites": len(web.citations.target),
    }  # fmt: skip
    return Outcome(
        task,
        right,
        wrong,
        overlooked,
        len(verdicts),
        stats.robots,
        engine.link_queries,
        seconds,
        facts,
    )


def _source(name: str, web: SimulatedWeb, folder: Path) -> LinkSource:
    if name == "pages":
        return web
    vertices, edges = web.write_graph(folder / "graph")
    index = folder / "index"
    index_graph([str(vertices)], [str(edges)], index)
    return WebGraph.open(index)


def tasks(options: argparse.Namespace) -> list[Task]:
    """All crawls; those that are compared with the paper come first."""

    def task(policy: str, source: str, seed: int, variant: str = "") -> Task:
        sites = SIZES.get(variant, options.sites)
        downloads = options.downloads // SHORTER if variant in VARIANTS else options.downloads
        return Task(policy, source, seed, variant, downloads, sites)

    plain = [task(name, "pages", seed) for seed in SEEDS for name in POLICIES]
    graph = [task(name, "graph", seed) for seed in SEEDS for name in ("obfc", "cobfc")]
    varied = [
        task(name, "pages", seed, variant)
        for variant in (*SIZES, *VARIANTS)
        for seed in SEEDS[: options.varied]
        for name in ("obfc", "cobfc")
    ]
    return [*plain, *graph, *varied]


# -- what was measured before ----------------------------------------------------------------------


def read_kept(file: Path | None) -> dict[Task, Outcome]:
    """The crawls saved in a file; of several equal ones, the last."""
    if file is None or not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    kept = [Outcome(**{**row, "task": Task(**row["task"])}) for row in rows]
    return {each.task: each for each in kept}


def measure(options: argparse.Namespace) -> list[Outcome]:
    """The outcomes of all crawls, in order; saved crawls are not repeated."""
    known = read_kept(options.keep)
    wanted = tasks(options)
    todo = [task for task in wanted if task not in known or task.policy in options.policies]
    with get_context("spawn").Pool(options.jobs, maxtasksperchild=4) as pool:
        for each in pool.imap(run, todo):
            known[each.task] = each
            row = (each.task.policy, each.task.source, each.task.seed, each.task.variant)
            print(*row, len(each.right), f"{each.seconds:.0f} s", file=sys.stderr, flush=True)
            if options.keep:
                with options.keep.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(each)) + "\n")
    return [known[task] for task in wanted]


# -- figures ---------------------------------------------------------------------------------------


def mean_found(outcomes: Sequence[Outcome]) -> float:
    """The mean over webs of bilingual sites found per 10,000 downloads."""
    return mean(10_000 * len(each.right) / each.task.downloads for each in outcomes)


def chosen(outcomes: Sequence[Outcome], policy: str, source: str, variant: str) -> list[Outcome]:
    """The outcomes of one policy."""
    wanted = policy, source, variant
    return [
        each
        for each in outcomes
        if (each.task.policy, each.task.source, each.task.variant) == wanted
    ]


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The row of one policy with one source of back links."""
    first = outcomes[0].task
    right = sum(len(each.right) for each in outcomes)
    reported = right + sum(each.wrong for each in outcomes)
    known = right + sum(each.overlooked for each in outcomes)
    return {
        "policy": first.policy,
        "back links": first.source if first.policy.endswith("bfc") else "",
        "bilingual sites": round(mean_found(outcomes)),
        "by web": " ".join(str(len(each.right)) for each in outcomes),
        "precision": percent(right / max(1, reported)),
        "recall of the test": percent(right / max(1, known)),
        "sites tested": round(mean(each.tested for each in outcomes)),
        "look-ups": round(mean(each.link_queries for each in outcomes)),
        "robots.txt": round(mean(each.robots for each in outcomes)),
        "seconds": round(mean(each.seconds for each in outcomes)),
    }


def curve(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The number of sites found after each number of downloads."""
    first = outcomes[0].task
    points = range(STEP, first.downloads + 1, STEP)
    return {
        "policy": first.policy, "back links": first.source if first.policy.endswith("bfc") else "",
        **{
            f"{point:,}": round(mean(sum(at <= point for at in each.right) for each in outcomes))
            for point in points
        },
    }  # fmt: skip


def variation(outcomes: Sequence[Outcome], variant: str) -> dict[str, Any]:
    """The row of one varied assumption."""
    unguided, guided = (
        mean_found(chosen(outcomes, name, "pages", variant)) for name in ("obfc", "cobfc")
    )
    return {
        "assumed": variant or "as in the other tables",
        "obfc": round(unguided),
        "cobfc": round(guided),
        "cobfc / obfc": round(guided / max(1.0, unguided), 2),
    }


def tables(outcomes: Sequence[Outcome]) -> Tables:
    """All tables."""
    groups = [chosen(outcomes, name, "pages", "") for name in POLICIES]
    groups += [chosen(outcomes, name, "graph", "") for name in ("obfc", "cobfc")]
    webs = {each.task.seed: each.web for each in outcomes if not each.task.variant}
    return {
        "Bilingual sites per 10,000 downloads": [summary(group) for group in groups],
        "Bilingual sites found, by downloads": [curve(group) for group in groups],
        "Bilingual sites per 10,000 downloads, by what is assumed of the web": [
            variation(outcomes, variant) for variant in ("", *SIZES, *VARIANTS)
        ],
        "Simulated webs": list(webs.values()),
        "Assumed": [asdict(Assumptions())],
    }


def missed(outcomes: Sequence[Outcome]) -> list[str]:
    """The targets that are missed, in words."""
    found = {name: mean_found(chosen(outcomes, name, "pages", "")) for name in POLICIES}
    short = [
        f"{low} finds {found[low]:.0f}, {high} {found[high]:.0f}: not the paper's order"
        for low, high in zip(list(POLICIES), list(POLICIES)[1:], strict=False)
        if found[low] >= found[high]
    ]
    for source in ("pages", "graph"):
        unguided, guided = (
            mean_found(chosen(outcomes, name, source, "")) for name in ("obfc", "cobfc")
        )
        if guided < GAIN * unguided:
            short.append(f"cobfc by {source}: {guided:.0f}, below {GAIN} times {unguided:.0f}")
    return short


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--downloads", type=int, default=10_000)
    parser.add_argument("--sites", type=int, default=30_000)
    parser.add_argument("--varied", type=int, default=1, help="webs for each varied assumption")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="crawls that were measured")
    parser.add_argument("--policies", nargs="*", default=(), choices=POLICIES, help="repeat these")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """Measure, print and save the results; returns 1 if a target is missed."""
    options = _options()
    check(SimulatedWeb(SEEDS[0], options.sites))
    outcomes = measure(options)
    shown = tables(outcomes)
    show(shown)
    short = missed(outcomes)
    print("\n".join(short), file=sys.stderr)
    if options.out:
        result = {"machine": machine(["numpy"]), "tables": shown, "missed": short}
        options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
