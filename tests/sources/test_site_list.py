"""Lists of sites in files and on standard input."""

from __future__ import annotations

from pathlib import Path

import pytest

from diptych.errors import ConfigError
from diptych.sources.site_list import named_sites


def test_a_list_takes_the_place_of_a_dash() -> None:
    lines = ["\ufeffb.org\tbilingual\t0.9\n", "\n", "  # a comment\n", "http://c.org/x\r\n"]
    b, c = "https://b.org/", "http://c.org/x"
    assert named_sites(["a.org", "-", "d.org"], lines) == [
        "https://a.org/", b, c, "https://d.org/",
    ]  # fmt: skip
    assert named_sites(["-", "-"], lines) == named_sites([], lines, [Path("-")]) == [b, c]


def test_without_a_dash_nothing_is_read() -> None:
    def lines():
        raise AssertionError("nobody asked for it")
        yield ""

    assert named_sites(["a.org"], lines()) == ["https://a.org/"]


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "sites.txt"
    path.write_text("# ours\na.org\n\nhttp://b.org/\t0.9\n", "utf-8")
    return path


def test_a_file_is_a_list_of_sites(listed: Path) -> None:
    assert named_sites([str(listed)], []) == ["https://a.org/", "http://b.org/"]
    assert named_sites([], [], [listed]) == ["https://a.org/", "http://b.org/"]


def test_a_file_whose_name_is_a_host_is_a_list_only_if_it_is_named_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("example.net", "sites.csv", "sites", "sites.mine"):
        Path(name).write_text("a.org\n", "utf-8")
    assert named_sites(["example.net"], []) == ["https://example.net/"]
    for name in ("sites.csv", "sites", "sites.mine", "./example.net"):
        assert named_sites([name], []) == ["https://a.org/"]
    assert named_sites([], [], [Path("example.net")]) == ["https://a.org/"]
    assert named_sites(["https://example.net"], []) == ["https://example.net/"]


def test_a_folder_is_no_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my run", "copy.org", "run.org"):
        Path(name).mkdir()
    Path("run.org", "run.toml").touch()
    assert named_sites(["copy.org"], []) == ["https://copy.org/"]
    for name, quoted in (("my run", "'my run'"), ("run.org", "run.org"), ("./copy.org",) * 2):
        with pytest.raises(ConfigError) as caught:
            named_sites([name], [])
        assert caught.value.for_command_line() == (
            f"{name} is a folder; to show a run, use: diptych status {quoted}; to mine archives,"
            " use --warc"
        )


def test_a_bad_line_is_named(listed: Path) -> None:
    with listed.open("a", encoding="utf-8") as stream:
        stream.write("https//c.org\n")
    with pytest.raises(ConfigError) as caught:
        named_sites([str(listed)], [])
    assert str(caught.value) == (
        f"{listed}, line 5: 'https//c.org' is not a URL; did you mean https://c.org/?"
    )
    with pytest.raises(ConfigError, match=r"^standard input, line 2: 'a@b.org' is an e-mail"):
        named_sites(["-"], ["a.org\n", "a@b.org\n"])


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"\n# nothing\n", "contains no site; it must have one site per line"),
        ("a.pdf", b"%PDF-1.4\n\xe2\xe3\xcf\xd3\n", "is not a list of sites: it is not UTF-8"),
        ("a.bin", b"\0\1", "is not a list of sites: it is binary"),
        ("a.warc.gz", b"\x1f\x8b", "is an archive; pass it with warc"),
        ("a.html", b"<!DOCTYPE html>\n", "line 1: '<!DOCTYPE html>' is not an http or https URL"),
    ],
)
def test_other_files_are_no_lists(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        named_sites([str(path)], [])
    assert said in str(caught.value)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        named_sites([], [], [tmp_path / "sites.txt"])
