"""The documentation names all there is, and what programs can write in it is up to date."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import click
import generate
import pytest
from support.fakes import FakeSite, paths
from transcripts import FENCE as CONSOLE

from diptych import errors, recipes, registry
from diptych._version import VERSION
from diptych.commands import main
from diptych.commands.mine import mine, to_json
from diptych.engine.fetch import FetchSettings
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.queue import State
from diptych.language.model_file import open_model
from diptych.pipeline import STAGES
from diptych.reports.summary import Summary
from diptych.stages.filter.quality.strategy import Quality
from diptych.types import Kind

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted(DOCS.rglob("*.md"))
STRATEGIES = [(stage, name) for stage in registry.STRATEGIES for name in registry.STRATEGIES[stage]]
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
NAMED_LINK = re.compile(r"\[`([\w/.-]+\.(?:py|md|toml|tsv|sql|json))`\]\(([^)]+)\)")
LINK = re.compile(r"\[[^\]\[]*\]\(([^()\s]+)\)")


def load(path: Path) -> ModuleType:
    """A Python file that is in no package."""
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look a class's module up
    spec.loader.exec_module(module)
    return module


BLOCKS: dict[str, str] = generate.blocks_from_code()
SHARE = {each.name: each.default for each in mine.params}["share"]
KNOWN_LANGUAGES = len(set(open_model().labels) - {"zxx"})  # zxx: no language


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


def by_hand(path: Path) -> str:
    """What people wrote of a page: without its generated parts."""
    return generate.MARKED.sub("", text_of(path))


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", main.list_commands(click.Context(main)))
def test_every_command_is_explained_and_has_help(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.help
    assert f"\n## {name}\n" in text_of(DOCS / "cli.md")
    assert any(f"diptych {name}" in by_hand(page) for page in PAGES)


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_is_explained(name: str) -> None:
    assert f"\n- `{name}` " in by_hand(DOCS / "strategies/index.md")
    assert recipes.read(name)["about"]


@pytest.mark.parametrize(("stage", "name"), STRATEGIES)
def test_every_strategy_has_a_page_with_all_sections(stage: str, name: str) -> None:
    page = text_of(DOCS / f"strategies/{name}.md")
    # A name may stand for the parts of one paper in several stages: they share a page.
    stages = [each for each in registry.STRATEGIES if name in registry.STRATEGIES[each]]
    shown = " and ".join(f"`{each}`" for each in stages)
    assert page.startswith(f"# {name}\n\nStage{'s' if stages != [stage] else ''}: {shown}.\n")
    assert generate.names_in(page) == [f"parameters {each} {name}" for each in stages]
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert {"Idea", "Parameters", "Deviations", "When not to use it"} <= set(headings)
    assert f"(strategies/{name}.md)" in text_of(DOCS / "how-it-works.md")


@pytest.mark.parametrize(("stage", "name"), STRATEGIES)
def test_departures_from_a_paper_are_on_the_page_of_the_strategy(stage: str, name: str) -> None:
    module = sys.modules[registry.strategies(stage)[name].__module__]
    section = text_of(DOCS / f"strategies/{name}.md").partition("## Deviations\n\n")[2]
    if "DEVIATION(" in inspect.getsource(module):
        assert not section.startswith("None")


@pytest.mark.parametrize(("stage", "name"), STRATEGIES)
def test_every_parameter_is_explained(stage: str, name: str) -> None:
    page = text_of(DOCS / f"strategies/{name}.md")
    cls = registry.strategies(stage)[name]
    for field in dataclasses.fields(cls):
        row = re.search(rf"^\| `{field.name}` \|.*\| (.*) \|$", page, re.MULTILINE)
        assert row is not None
        assert row[1].strip() or f"`{field.name}` is " in by_hand(DOCS / f"strategies/{name}.md")


def test_no_page_is_left_of_a_strategy_that_is_gone() -> None:
    pages = {path.stem for path in (DOCS / "strategies").glob("*.md")} - {"index"}
    assert pages == {name for _, name in STRATEGIES}


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_explained(stage: str) -> None:
    assert f"\n| `{stage}` |" in by_hand(DOCS / "how-it-works.md")
    assert f"\n| `{stage}` |" in by_hand(DOCS / "extending.md")
    assert f"`{stage}`" in text_of(DOCS / "glossary.md")


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name.endswith("Error")])
def test_every_error_is_explained(name: str) -> None:
    assert f"\n| `{name}` |" in by_hand(DOCS / "data-formats.md")


def tables() -> set[str]:
    run = ROOT / "src/diptych/run"
    schema = text_of(run / "schema.sql") + text_of(run / "indexes.sql")
    made = r"^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)"
    return set(re.findall(made, schema, re.MULTILINE))


def test_every_table_is_explained_and_no_other() -> None:
    page = by_hand(DOCS / "data-formats.md").partition("\n## run.sqlite\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == tables()


def test_stages_name_tables_that_there_are() -> None:
    rows = re.findall(r"^\| `\w+` \|.*\| (.*) \|$", text_of(DOCS / "how-it-works.md"), re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert named
    assert named <= tables()


@pytest.mark.parametrize("item", [*State, *Kind])
def test_every_number_in_the_database_is_explained(item: State | Kind) -> None:
    column = "kind" if isinstance(item, Kind) else "state"
    line = re.search(rf"^`urls\.{column}` is .*$", text_of(DOCS / "data-formats.md"), re.MULTILINE)
    assert line is not None
    assert re.search(rf"\b{item.value} \({item.name.lower()}[:)]", line[0])


def test_every_key_of_the_json_result_is_explained() -> None:
    summary = Summary(0, 0, 0, 0, 0, (), (), ())
    keys = re.findall(r'"(\w+)":', to_json(summary, seconds=0, crawl_seconds=0, out="", notes=[]))
    page = by_hand(DOCS / "data-formats.md")
    assert len(keys) > 8
    assert [key for key in keys if f"\n| `{key}` |" not in page] == []


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("seconds between requests to a host", Politeness(agent="").delay),
        ("connections to a host at a time", Politeness(agent="").connections),
        ("longest `Crawl-delay` kept", Politeness(agent="").max_crawl_delay),
        ("longest `Retry-After` obeyed by waiting", Politeness(agent="").max_wait),
        ("wait after a refusal", Politeness(agent="").backoff),
        ("refusals in a row until a host is left alone", Limits().refusals),
        ("attempts for a URL", Limits().attempts),
        ("redirects in a row", Limits().redirects),
        ("sitemaps of a site", Limits().sitemaps),
        ("seconds for connecting, and without a byte", FetchSettings("").stall),
        ("seconds for a whole answer", FetchSettings("").timeout),
        ("bytes of a page", FetchSettings("").page_bytes),
    ],
)
def test_defaults_of_politeness_are_as_described(row: str, value: float) -> None:
    page = text_of(DOCS / "politeness-and-rights.md")
    assert re.search(rf"^\| {re.escape(row)} \| {value:,.0f}\b", page, re.MULTILINE)


def test_this_version_is_in_the_changelog() -> None:
    assert f"## [{VERSION}]" in text_of(ROOT / "CHANGELOG.md")


# -- generated parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    text = text_of(path)
    assert generate.fill(text, BLOCKS) == text, "run: make docs"


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_markers_come_in_pairs_and_ask_for_what_there_is(path: Path) -> None:
    text = text_of(path)
    known = set(BLOCKS) | set(demo_names())
    assert set(generate.names_in(text)) <= known
    assert not re.search(r"^<!--", by_hand(path), re.MULTILINE)


def demo_names() -> list[str]:
    """The parts that the demo is run for, without running it."""
    return re.findall(r'"(demo[ \w]*)":', inspect.getsource(generate))


def test_everything_that_is_generated_is_shown_somewhere() -> None:
    used = {name for path in PAGES for name in generate.names_in(text_of(path))}
    assert (set(BLOCKS) | set(demo_names())) - used == set()


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_figures_are_generated_and_not_typed(path: Path) -> None:
    text = CONSOLE.sub("", by_hand(path))
    if path.parent.name != "strategies":  # there they are constants of a formula
        assert "--:" not in text
    assert not re.search(r"\d pages/s|\d pages per second|\d\.\d\d per verified pair", text)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("docs/tutorial.md", f"Segments below {Quality().threshold} are not in the corpus"),
        ("docs/translator.md", f"whose score is at least {Quality().threshold}."),
        ("docs/corpus-builder.md", f"The default is {Quality().threshold}:"),
        ("README.md", f"stops when {SHARE:.0f}% are probably found"),
        ("docs/tutorial.md", f"or when {SHARE:.0f}% of its pairs are probably found"),
        ("docs/how-it-works.md", f"{SHARE:.0f}% of its pairs are probably found"),
        ("README.md", f"It recognises {KNOWN_LANGUAGES} languages by their text"),
        ("docs/languages.md", f"knows {KNOWN_LANGUAGES} languages"),
        ("docs/corpus-builder.md", f"one of the {KNOWN_LANGUAGES} that can be recognised"),
    ],
)
def test_defaults_named_in_sentences_are_those_of_the_code(page: str, told: str) -> None:
    assert told in by_hand(ROOT / page)


def test_readme_takes_its_figures_from_kept_results() -> None:
    assert "figures" in generate.names_in(text_of(ROOT / "README.md"))
    assert "`python -m bench.tasks." in BLOCKS["figures"]


def test_every_kept_result_is_shown() -> None:
    results = sorted((ROOT / "bench/results").glob("*.json"))
    for path in results:
        assert f"(../bench/results/{path.name})" in text_of(DOCS / "benchmarks.md")


def test_segments_and_pairs_shown_are_those_of_the_demo(tmp_path: Path) -> None:
    fresh = generate.demo_result(tmp_path)
    for path in (ROOT / "README.md", DOCS / "tutorial.md"):
        text = text_of(path)
        assert generate.fill(text, fresh) == text, "run: make docs"


# -- links, pictures, code -----------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    targets = LINK.findall(FENCE.sub("", text_of(path)))
    relative = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [to for to in relative if not (path.parent / to.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_a_link_that_is_named_after_a_file_leads_to_it(path: Path) -> None:
    for name, target in NAMED_LINK.findall(text_of(path)):
        assert target.partition("#")[0].endswith(name), name


def test_every_page_can_be_reached_from_the_index_or_the_readme() -> None:
    reached = {ROOT / "README.md", DOCS / "index.md"}
    while True:
        linked = {
            (page.parent / target.partition("#")[0]).resolve()
            for page in reached
            for target in LINK.findall(text_of(page))
            if target.endswith(".md") and "://" not in target
        }
        if linked <= reached:
            break
        reached |= linked
    assert [shown(page) for page in PAGES if page not in reached] == []


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_no_page_names_a_place_on_a_machine(path: Path) -> None:
    assert not re.search(r"(?<![\w.])/(?:work|tmp|root|home|Users)/", text_of(path))


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.svg")), ids=shown)
def test_pictures_are_whole_and_load_nothing(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox")
    assert "prefers-color-scheme: dark" in text_of(path)
    urls = re.findall(r"https?://[^\"' ]+", text_of(path))
    assert urls == ["http://www.w3.org/2000/svg"]


def test_pairer_of_the_extending_page_passes_the_conformance_tests(tmp_path: Path) -> None:
    page = text_of(DOCS / "extending.md")
    code = re.search(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 28
    assert "`src/diptych/stages/pair/same_name.py`" in page
    assert '"same_name": "diptych.stages.pair.same_name:SameName"' in page
    assert "`tests/stages/pair/test_same_name.py`" in page
    file = tmp_path / "same_name.py"
    file.write_text(code[1], "utf-8")
    pairer = load(file).SameName()
    conformance = load(ROOT / "tests/conformance/test_pairer.py")
    conformance.test_pairs_are_one_to_one_and_strongest_first(pairer)
    conformance.test_competing_claims_leave_one_partner_each(pairer, conformance.competing())
    conformance.test_order_of_pages_does_not_matter(pairer)
    site = FakeSite("en", "fr").page("/en/x", "en").page("/old/fr/x", "fr").page("/fr/y", "fr")
    assert paths(pairer.pair(site)) == [("/en/x", "/old/fr/x")]
