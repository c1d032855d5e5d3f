"""`diptych train langid` and `--langid`, called as functions."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import strange

from diptych.api.languages import use_language_files
from diptych.commands.train.langid import train_langid
from diptych.errors import ConfigError
from diptych.language.identify import identify, use_learned_languages


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Remove trained languages after each test."""
    yield
    use_learned_languages(())


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(strange.lines()[:100]), "utf-8")  # five of them come twice
    return path


@pytest.mark.parametrize("lang", ["tet", "qaa", "xyz", "NDS", "kok-Latn"])
def test_a_trained_language_is_identified(
    lang: str, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model.json"
    assert train_langid(lang, [text], out) == 0
    said = capsys.readouterr().out
    code = lang if "-" in lang else lang.lower()
    assert said.startswith(f"{code} learned from 95 lines")
    assert f"  identified as {code}: " in said
    use_language_files([out])
    assert identify(strange.lines()[110])[0].lang == code


def test_a_model_is_written_atomically(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "model.json"
    out.write_bytes(b"before")

    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ConfigError, match=r"cannot write .*model\.json: No space left"):
        train_langid("qaa", [text], out)
    assert out.read_bytes() == b"before"


def test_several_files_are_one_text(text: Path, tmp_path: Path) -> None:
    halves = [tmp_path / "one", tmp_path / "two"]
    lines = text.read_text("utf-8").splitlines()
    halves[0].write_text("\n".join(lines[:50]), "utf-8")
    halves[1].write_text("\n".join(lines[50:]), "utf-8")
    train_langid("qaa", halves, tmp_path / "a")
    train_langid("qaa", [text], tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_mistakes_are_one_line_with_what_to_do(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    short, latin = tmp_path / "short.txt", tmp_path / "latin.txt"
    short.write_text("a line of text\n")
    latin.write_bytes("déjà vu\n".encode("latin-1") * 100)
    for lang, file, target, wrong in (
        ("english", text, out, "unknown language code 'english'.* qaa to qtz"),
        ("mul", text, out, "unknown language code 'mul'"),
        ("tet", short, out, r"short.txt: 0 lines .* not enough .* 30 different lines"),
        ("tet", latin, out, "latin.txt is not a UTF-8 text file"),
        ("tet", tmp_path / "none", out, "cannot read .*none: No such file"),
        ("tet", tmp_path, out, "cannot read .*: Is a directory"),
        ("tet", text, tmp_path / "no" / "model", "cannot write .*model: there is no folder"),
    ):
        with pytest.raises(ConfigError, match=wrong) as caught:
            train_langid(lang, [file], target)
        assert "\n" not in str(caught.value)


def test_invalid_models_are_mistakes(text: Path, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(5_000_000))
    for path, wrong in (
        (text, "is not a langid model: it is not JSON; make one with: diptych train langid"),
        (large, "larger than 4 MB"),
        (tmp_path / "none", "cannot read"),
    ):
        with pytest.raises(ConfigError, match=wrong):
            use_language_files([path])
