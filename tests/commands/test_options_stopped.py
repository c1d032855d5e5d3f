"""What Ctrl-C makes a command say: how to continue it, if that is possible."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import run

CONTINUE = "Stopped immediately. Saved results are kept; run the same command again to continue.\n"
SITE = ("http://a.org/", "--langs", "en,fr")


@pytest.mark.parametrize(
    ("place", "arguments", "said"),
    [
        ("mine.mine_sites", ("mine", *SITE, "--quiet"), CONTINUE),
        ("discover.discover_sites", ("discover", *SITE, "--policy", "fc", "--quiet"), CONTINUE),
        ("detect.detect_sites", ("detect", *SITE, "--quiet", "--out", "run"), CONTINUE),
        ("detect.detect_sites", ("detect", *SITE, "--quiet"), "Stopped.\n"),
        ("_url_lines.answer_lines", ("url-lang", "urls.txt"), "Stopped.\n"),
    ],
)
def test_only_commands_with_a_run_folder_can_be_continued(
    place: str, arguments: tuple[str, ...], said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def interrupted(*given: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"diptych.commands.{place}", interrupted)
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (130, said)


def _set_name_is_interrupted(*given: object, **more: object) -> None:
    """Python 3.11 makes a RuntimeError of what `__set_name__` raises."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise RuntimeError("Error calling __set_name__") from error


def test_interrupt_of_an_import_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diptych.commands.mine.mine_sites", _set_name_is_interrupted)
    result = run("mine", *SITE, "--quiet")
    assert (result.exit_code, result.stderr) == (130, CONTINUE)


def test_other_errors_are_not_taken_for_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("diptych.commands.mine.mine_sites", broken)
    with pytest.raises(RuntimeError, match="broken"):
        run("mine", *SITE, "--quiet")
