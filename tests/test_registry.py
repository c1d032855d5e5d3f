from __future__ import annotations

import dataclasses
import inspect

import pytest

from diptych import protocols
from diptych._version import VERSION
from diptych.errors import ConfigError
from diptych.registry import (
    RECIPE_STAGES,
    STRATEGIES,
    Strategies,
    build,
    exporter,
    make,
    signature,
    strategies,
)

PROTOCOLS = {
    "crawl": protocols.CrawlPolicy,
    "pair": protocols.Pairer,
    "verify": protocols.Verifier,
    "align_dom": protocols.TreeAligner,
    "align_sentences": protocols.SentenceAligner,
    "filter": protocols.Filter,
    "discover": protocols.DiscoverPolicy,
    "detect": protocols.Detector,
    "export": protocols.Exporter,
}
ALL = [
    pytest.param(stage, name, id=f"{stage}:{name}")
    for stage, known in STRATEGIES.items()
    for name in known
]
RECIPE = {
    stage: {"use": next(iter(known))}
    for stage, known in STRATEGIES.items()
    if stage in RECIPE_STAGES
}


def members(protocol: type) -> dict[str, object]:
    return {name: value for name, value in vars(protocol).items() if not name.startswith("_")}


@pytest.mark.parametrize(("stage", "name"), ALL)
def test_strategy_fulfils_the_protocol_of_its_stage(stage: str, name: str) -> None:
    cls = strategies(stage)[name]
    # A crawl policy that must remember gives guides: what those do the conformance tests say.
    is_guided = isinstance(cls(), protocols.GuidedPolicy)
    protocol = protocols.GuidedPolicy if is_guided else PROTOCOLS[stage]
    for member, wanted in members(protocol).items():
        assert hasattr(cls(), member), member
        if inspect.isfunction(wanted):
            asked = inspect.signature(wanted).parameters
            offered = inspect.signature(getattr(cls, member)).parameters
            assert list(offered) == list(asked)


@pytest.mark.parametrize(("stage", "name"), ALL)
def test_strategy_is_made_from_its_name_alone(stage: str, name: str) -> None:
    cls = strategies(stage)[name]
    assert make(stage, {"use": name}) == cls()


@pytest.mark.parametrize(("stage", "name"), ALL)
def test_strategy_takes_all_its_parameters_from_a_recipe(stage: str, name: str) -> None:
    cls = strategies(stage)[name]
    parameters = {
        field.name: getattr(cls(), field.name)
        for field in dataclasses.fields(cls)
        if isinstance(getattr(cls(), field.name), int | float | str | bool)
    }
    assert make(stage, {"use": name, **parameters}) == cls()


@pytest.mark.parametrize("stage", STRATEGIES)
def test_unknown_strategy_is_answered_with_those_there_are(stage: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(stage, {"use": "kesy"})
    message = str(caught.value)
    assert message.startswith(f"unknown {stage} strategy 'kesy'; available: ")
    assert all(name in message for name in STRATEGIES[stage])


@pytest.mark.parametrize(("stage", "name"), ALL)
def test_unknown_parameter_is_answered_with_those_there_are(stage: str, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(stage, {"use": name, "tua": 1})
    message = str(caught.value)
    assert f"{stage} strategy '{name}' has no parameter 'tua'; it has: " in message
    fields = [field.name for field in dataclasses.fields(strategies(stage)[name])]
    assert all(field in message for field in fields or ["none"])


@pytest.mark.parametrize("settings", [{}, {"use": 3}, {"use": None}, {"use": ["bfs"]}])
def test_stage_without_a_name_is_answered_with_those_there_are(settings: dict[str, object]) -> None:
    with pytest.raises(
        ConfigError, match=r'\[crawl\] requires use = "NAME"; available: bfs, bfs\+langs'
    ):
        make("crawl", settings)


@pytest.mark.parametrize("settings", ["bfs", 3, ["bfs"]])
def test_stage_that_is_no_table_is_answered_with_what_it_should_be(settings: object) -> None:
    with pytest.raises(ConfigError, match=r"\[crawl\] requires use"):
        make("crawl", settings)  # type: ignore[arg-type]


def test_strategies_inside_strategies_are_made_too() -> None:
    union = make("pair", {"use": "union", "pairers": [{"use": "langstrip"}, {"use": "links"}]})
    names = [type(pairer).__name__ for pairer in union.pairers]
    assert names == ["LangStrip", "Links"]
    with pytest.raises(ConfigError, match="unknown pair strategy 'nope'"):
        make("pair", {"use": "union", "pairers": [{"use": "nope"}]})


def test_recipe_is_built_into_one_strategy_per_stage() -> None:
    built = build(RECIPE)
    assert isinstance(built, Strategies)
    for stage in RECIPE_STAGES:
        assert type(getattr(built, stage)) is strategies(stage)[RECIPE[stage]["use"]]
    assert [field.name for field in dataclasses.fields(Strategies)] == list(RECIPE_STAGES)


def test_parameter_named_after_a_stage_is_given_that_stages_strategy() -> None:
    recipe = {**RECIPE, "crawl": {"use": "pplocator", "levels": 4}, "pair": {"use": "langstrip"}}
    built = build(recipe)
    assert built.crawl == strategies("crawl")["pplocator"](levels=4, pair=built.pair)
    assert type(built.pair) is strategies("pair")["langstrip"]
    # It is no part of the recipe, and so not of what a result is quoted with.
    assert signature(recipe, ["en", "fr"]).startswith("crawl:pplocator(levels=4)|pair:langstrip|")


def test_parameter_named_after_a_stage_may_be_set() -> None:
    inner = {"use": "pplocator", "similarity": 0.9}
    recipe = {**RECIPE, "crawl": {"use": "pplocator", "pair": inner}, "pair": {"use": "keys"}}
    built = build(recipe)
    assert built.crawl.pair == make("pair", inner)  # type: ignore[union-attr]
    assert type(built.pair) is strategies("pair")["keys"]
    assert "crawl:pplocator(pair=pplocator(similarity=0.9))|pair:keys|" in signature(recipe, [])
    with pytest.raises(ConfigError, match="unknown pair strategy 'bfs'"):
        build({**RECIPE, "crawl": {"use": "pplocator", "pair": {"use": "bfs"}}})


def test_recipe_without_a_stage_is_answered_with_its_name() -> None:
    with pytest.raises((ConfigError, KeyError), match="verify"):
        build({stage: use for stage, use in RECIPE.items() if stage != "verify"})


@pytest.mark.parametrize("name", STRATEGIES["export"])
def test_exporter_by_its_format(name: str) -> None:
    assert exporter(name) == strategies("export")[name]()


def test_exporter_with_a_parameter_that_only_some_formats_have() -> None:
    assert exporter("docs", markdown=True) == strategies("export")["docs"](markdown=True)
    with pytest.raises(ConfigError, match="tsv cannot store the texts of whole pages; use docs"):
        exporter("tsv", markdown=True)


def test_unknown_format_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"unknown export strategy 'docx'; available: .*tmx, tsv"):
        exporter("docx")


def test_signature_says_stages_languages_and_version() -> None:
    recipe = {
        "pair": {"use": "union", "pairers": [{"use": "links"}, {"use": "langstrip"}]},
        "crawl": {"use": "bfs"},
        "filter": {"use": "rules", "max_ratio": 2.5, "a": True},
    }
    assert signature(recipe, ["en", "fr"]) == (
        "crawl:bfs|pair:union(pairers=links+langstrip)|filter:rules(a=True,max_ratio=2.5)"
        f"|langs:en-fr|v:{VERSION}"
    )


def test_signature_does_not_depend_on_the_order_of_a_recipe() -> None:
    recipe = {"verify": {"use": "size_ratio", "a": 1, "b": 2}, "crawl": {"use": "bfs"}}
    other = {"crawl": {"use": "bfs"}, "verify": {"b": 2, "use": "size_ratio", "a": 1}}
    assert signature(recipe, ["en", "fr"]) == signature(other, ["en", "fr"])
    assert signature(recipe, ["en", "fr"]) != signature(recipe, ["fr", "en"])
    assert signature(recipe, ["en"]) != signature({"crawl": {"use": "bfs"}}, ["en"])
