"""Figures of the documentation, generated from the stored results of the benchmarks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """A Markdown table; the columns named in `right` are right-aligned."""
    lines = [head, [("--:" if name in right else "---") for name in head]]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (*lines, *cells))


def benchmarks() -> str:
    """The stored results of all benchmarks."""
    parts = [_result(file, _read(file.stem)) for file in sorted(RESULTS.glob("*.json"))]
    return "\n\n".join(parts) or "No result is kept yet."


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return found


def _result(file: Path, result: Mapping[str, Any]) -> str:
    parts = [f"### {file.stem}", *_picture(file.stem)]
    facts = {key: value for key, value in result.items() if isinstance(value, int | float)}
    facts |= {f"site {key}": value for key, value in result.get("site", {}).items()}
    if facts:
        cells = [[_words(key), _number(value)] for key, value in facts.items()]
        parts.append(table(["figure", "value"], cells, right=["value"]))
    if result.get("rows"):
        parts.append(rows_table(result["rows"]))
    for title, rows in result.get("tables", {}).items():
        parts += [f"#### {title}", rows_table(rows)]
    path = file.relative_to(ROOT).as_posix()
    parts.append(f"[`{path}`](../{path}), measured on {machine_words(result.get('machine', {}))}.")
    return "\n\n".join(parts)


def _picture(name: str) -> list[str]:
    """The image that a benchmark draws; empty if it draws none."""
    file = ROOT / "docs" / f"{name.replace('_', '-')}.svg"
    title = re.search(r"<title[^>]*>([^<]+)<", file.read_text("utf-8")) if file.exists() else None
    return [f"![{title[1]}]({file.name})"] if title else []


def rows_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of a result as a Markdown table with the names of the columns in words."""
    columns = [key for key, value in rows[0].items() if not isinstance(value, list | dict)]
    numbers = [_words(key) for key in columns if isinstance(rows[0][key], int | float)]
    cells = ([_number(row[key]) for key in columns] for row in rows)
    return table([_words(key) for key in columns], cells, right=numbers)


def _words(key: str) -> str:
    return key.replace("_", " ")


def _number(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def machine_words(machine: Mapping[str, Any]) -> str:
    """The machine of a measurement in words."""
    known = f"{machine.get('cpus', '?')} processors ({machine.get('cpu', 'unknown')})"
    return f"{known}, {machine.get('system', '?')}, Python {machine.get('python', '?')}"


# -- the table of the README ---------------------------------------------------------------------


def readme_figures() -> str:
    """The table of the README: task, result of Diptych, result of a baseline, and command."""
    rows = [*_crawl(), *_pages(), *_sentences(), *_corpus(), *_speed()]
    cells = [[what, ours, other, f"`{_command(task)}`"] for what, ours, other, task in rows]
    return table(["what", "Diptych", "for comparison", "measured by"], cells)


Figure = tuple[str, str, str, str]
"""description, figure of Diptych, figure of a baseline, and the task that measures both"""


def _crawl() -> list[Figure]:
    guided, plain = (_row("real_sites", "Policies", policy=name) for name in ("hybrid", "bfs"))
    test, words = (
        _row("detect", "methods", method=name, families="held")
        for name in ("predictor", "triggers")
    )
    return [
        (
            f"Downloads per page pair until 95% are found, mean of {guided['sites']} real sites",
            f"**{guided['downloads per pair']}**",
            f"{plain['downloads per pair']} for a breadth-first crawl; 2 is the minimum",
            "real_sites",
        ),
        (
            "Page pairs with both pages downloaded by the time the crawl stops on its own",
            f"**{_percent(guided['mean recall'])}**, on the worst site "
            f"{_percent(guided['lowest recall'])}",
            f"{_percent(plain['mean recall'])} for a crawl of the whole site",
            "real_sites",
        ),
        (
            "Is a site bilingual? Downloads, precision, recall",
            f"**{_test(test)}**",
            f"{_test(words)} for a list of trigger words",
            "detect",
        ),
    ]


def _test(row: Mapping[str, Any]) -> str:
    return f"{row['downloads']:.1f}, {row['precision']:.0f}%, {row['recall']:.0f}%"


def _pages() -> list[Figure]:
    title = "Page pairs, precision / recall, micro-averaged"
    ours, other = (
        _row("page_pairs", title, method=name) for name in ("diptych", "wmt16 (langstrip)")
    )
    return [
        (
            f"Page pairs, precision / recall, {what}",
            f"**{ours[column]}**",
            f"{other[column]} for the URL baseline of WMT16",
            "page_pairs",
        )
        for column, what in (
            ("all sites and schemes", "on sites covering ten URL schemes"),
            ("opaque, nothing declared", "where URLs and links give no clue"),
        )
    ]


def _sentences() -> list[Figure]:
    title = "textberg-dev/de-fr, strict"
    ours, other, encoder = (
        _row("sentences", title, aligner=name)
        for name in ("length_lexicon", "gale_church", "embedding")
    )
    return [
        (
            "Sentence alignment without a dictionary: strict F1 on one German-French article",
            f"**{ours['F1']}**",
            f"{other['F1']} for Gale-Church; {encoder['F1']} with a sentence encoder",
            "sentences",
        )
    ]


def _corpus() -> list[Figure]:
    title = "Filters on families nothing was trained on"
    ours, rules = (
        _row("filter", title, filter=name) for name in ("quality, settled", "bicleaner-hardrules")
    )
    places = next(iter(_read("provenance")["tables"].values()))
    found = min(row["exact by its places, %"] for row in places)
    sides = sum(row["sides looked for"] for row in places)
    return [
        (
            "Precision / recall of the segments kept, when one in five candidates is wrong",
            f"**{ours['precision, 20% noise']}% / {ours['recall']}%**",
            f"{rules['precision, 20% noise']}% / {rules['recall']}% for bicleaner-hardrules "
            "without its language models",
            "filter",
        ),
        (
            f"Of {sides:,} texts, share found in the archive at the location given in the corpus",
            f"**{found:g}%**",
            "",
            "provenance",
        ),
    ]


def _speed() -> list[Figure]:
    sizes = _read("archive_mining")["tables"]["From archive to corpus, by size"]
    waits = _read("resume")["tables"]["Until a crawl that was killed fetches again"]
    return [
        (
            f"Processor time from archive to corpus, for {sizes[-1]['pages']:,} pages",
            f"**{sizes[-1]['CPU s']:.0f} s**, {sizes[-1]['peak MB']} MB of memory",
            "",
            "archive_mining",
        ),
        (
            "Maximum time for a killed crawl to resume fetching",
            f"**{max(row['s'] for row in waits)} s**",
            "",
            "resume",
        ),
    ]


def _row(task: str, title: str, **known: str) -> dict[str, Any]:
    """The row of a table with the given values."""
    rows: list[dict[str, Any]] = _read(task)["tables"][title]
    return next(row for row in rows if all(row[key] == known[key] for key in known))


def _percent(share: str) -> str:
    return f"{float(share):.1%}"


def _command(task: str) -> str:
    """The command that measures a task, from bench/README.md."""
    text = (ROOT / "bench/README.md").read_text("utf-8")
    found = re.search(rf"^\| `{task}\.py` \|.*\| `(python -m bench\.tasks\.[^`]+)` \|$", text, re.M)
    assert found, f"bench/README.md has no command for {task}"
    return found[1].partition(" --out ")[0]
