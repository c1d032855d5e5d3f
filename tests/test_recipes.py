from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from diptych import recipes
from diptych.errors import ConfigError
from diptych.registry import DISCOVERY_STAGES, RECIPE_STAGES, build, signature


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_builds_and_says_what_it_is(name: str) -> None:
    about = recipes.read(name)["about"]
    assert isinstance(about, str)
    assert about.endswith(".")
    recipe = recipes.load(name, {})
    assert set(recipe) == set(RECIPE_STAGES)
    build(recipe)
    assert signature(recipe, ["en", "fr"]).count("|") == len(RECIPE_STAGES) + 1


def test_recipes_differ_in_their_signatures() -> None:
    signatures = {signature(recipes.load(name, {}), ["en", "fr"]) for name in recipes.names()}
    # `bfs` names nothing but a crawl; a recipe that equals another one would be a mistake.
    assert len(signatures) >= len(recipes.names()) - 1


def test_names_are_those_of_the_files() -> None:
    folder = resources.files("diptych.recipes")
    files = {entry.name for entry in folder.iterdir() if entry.name.endswith(".toml")}
    assert {f"{name}.toml" for name in (*recipes.names(), recipes.DISCOVERY)} == files
    assert recipes.names() == sorted(recipes.names())
    assert recipes.DEFAULT in recipes.names()


def test_default_names_every_stage() -> None:
    assert set(recipes.read(recipes.DEFAULT)) - {"about"} == set(RECIPE_STAGES)


def test_unknown_recipe_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        recipes.load("hybird", {})
    message = str(caught.value)
    assert message.startswith("unknown recipe 'hybird'; available: ")
    assert all(name in message for name in recipes.names())
    assert ".toml" in message


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_file_of_the_users_is_completed_from_the_default(tmp_path: Path) -> None:
    path = write(tmp_path, 'about = "Mine."\n[crawl]\nuse = "bfs"\n')
    recipe = recipes.load(path, {})
    assert recipe["crawl"] == {"use": "bfs"}
    default = recipes.load(recipes.DEFAULT, {})
    assert {stage: recipe[stage] for stage in recipe if stage != "crawl"} == {
        stage: default[stage] for stage in default if stage != "crawl"
    }
    assert "about" not in recipe


def test_override_replaces_a_stage_and_its_parameters(tmp_path: Path) -> None:
    path = write(tmp_path, '[pair]\nuse = "union"\npairers = [{ use = "links" }]\n')
    assert recipes.load(path, {"pair": "langstrip"})["pair"] == {"use": "langstrip"}


def test_override_with_the_same_strategy_keeps_its_parameters(tmp_path: Path) -> None:
    path = write(tmp_path, '[pair]\nuse = "union"\npairers = [{ use = "links" }]\n')
    recipe = recipes.load(path, {"pair": "union"})
    assert recipe["pair"] == {"use": "union", "pairers": [{"use": "links"}]}


def test_unknown_stage_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        recipes.load(write(tmp_path, '[craw]\nuse = "bfs"\n'), {})
    message = str(caught.value)
    assert "has an unknown stage 'craw'; available: " in message
    assert all(stage in message for stage in RECIPE_STAGES)


@pytest.mark.parametrize("text", ['crawl = "bfs"', "crawl = 3", "[[crawl]]\nuse = 'bfs'"])
@pytest.mark.parametrize("overrides", [{}, {"crawl": "bfs"}])
def test_stage_that_is_no_table_is_the_users_mistake(
    tmp_path: Path, text: str, overrides: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match="crawl"):
        build(recipes.load(write(tmp_path, text), overrides))


def test_file_that_is_missing_or_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*none\.toml: No such file"):
        recipes.read(str(tmp_path / "none.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ConfigError, match=r"cannot read .*folder\.toml"):
        recipes.read(str(tmp_path / "folder.toml"))
    with pytest.raises(ConfigError, match=r"bad\.toml is not a valid recipe: Expected"):
        recipes.read(write(tmp_path, "[crawl", "bad.toml"))


def test_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes("about = 'été'".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.toml"):
        recipes.read(str(path))


def test_reading_a_recipe_gives_what_its_file_says() -> None:
    text = resources.files("diptych.recipes").joinpath(f"{recipes.DEFAULT}.toml").read_text("utf-8")
    assert recipes.read(recipes.DEFAULT) == tomllib.loads(text)


def test_the_recipe_for_discovery_is_none_for_mining() -> None:
    assert recipes.DISCOVERY not in recipes.names()
    assert set(recipes.load_discovery(recipes.DISCOVERY, {})) == set(DISCOVERY_STAGES)
    with pytest.raises(ConfigError, match="has an unknown stage 'detect'"):
        recipes.load(recipes.DISCOVERY, {})
    with pytest.raises(ConfigError, match="has an unknown stage"):
        recipes.load_discovery(recipes.DEFAULT, {})


def test_a_recipe_for_discovery_may_leave_a_stage_out(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[discover]\nuse = "focc"\ntopic = ["museum"]\n')
    recipe = recipes.load_discovery(str(own), {})
    assert recipe["discover"] == {"use": "focc", "topic": ["museum"]}
    assert recipe["detect"] == {"use": "predictor"}
