from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.markdown import markdown
from diptych.types import Block

MAIN = "/html/body/main[1]"
TABLE = f"{MAIN}/table[1]"
PAGE = [
    ("Tides | Shores", "/html/head/title"),
    ("Home", "/html/body/nav[1]/ul[1]/li[1]"),
    ("Tides", "/html/body/nav[1]/ul[1]/li[2]"),
    ("Tides", f"{MAIN}/h1[1]"),
    ("The sea comes in.", f"{MAIN}/p[1]"),
    ("a wave", f"{MAIN}/p[1]/img[1]"),
    ("Causes", f"{MAIN}/h2[1]"),
    ("The moon", f"{MAIN}/ol[1]/li[1]/p[1]"),
    ("which is near", f"{MAIN}/ol[1]/li[1]/p[2]"),
    ("full", f"{MAIN}/ol[1]/li[1]/ul[1]/li[1]"),
    ("new", f"{MAIN}/ol[1]/li[1]/ul[1]/li[2]"),
    ("and so on", f"{MAIN}/ol[1]/li[1]/text()[3]"),
    ("The sun", f"{MAIN}/ol[1]/li[2]"),
    ("the sun's disc", f"{MAIN}/ol[1]/li[2]/img[1]"),
    ("another list", f"{MAIN}/ul[1]/li[1]"),
    ("Heights", f"{TABLE}/caption[1]"),
    ("Port", f"{TABLE}/thead[1]/tr[1]/th[1]"),
    ("High", f"{TABLE}/thead[1]/tr[1]/th[3]"),
    ("Brest", f"{TABLE}/tbody[1]/tr[1]/td[1]"),
    ("the port", f"{TABLE}/tbody[1]/tr[1]/td[1]/img[1]"),
    ("7 m", f"{TABLE}/tbody[1]/tr[1]/td[3]/p[1]"),
    ("and more", f"{TABLE}/tbody[1]/tr[1]/td[3]/p[2]"),
    ("Other", f"{MAIN}/table[2]/thead[1]/tr[1]/th[1]"),
    ("Time and tide.", f"{MAIN}/blockquote[1]/p[1]"),
    ("tide(now)", f"{MAIN}/pre[1]"),
    ("Imprint", "/html/body/footer[1]/p[1]"),
]
BLOCKS = [Block(*one) for one in PAGE]
TEXT = """\
Tides | Shores

- Home
- Tides

# Tides

The sea comes in.

![a wave]

## Causes

1. The moon
   which is near
    - full
    - new
   and so on
2. The sun
   ![the sun's disc]

- another list

Heights

| Port |  | High |
| Brest ![the port] |  | 7 m and more |

| Other |

> Time and tide.

`tide(now)`

Imprint"""


def test_page_is_rendered() -> None:
    assert markdown(BLOCKS) == TEXT


def test_regions_restrict_the_text() -> None:
    assert markdown(BLOCKS, ["nav", "footer"]) == "- Home\n- Tides\n\nImprint"
    assert markdown(BLOCKS, ["aside"]) == markdown([]) == ""


@pytest.mark.parametrize("path", ["/html/body/p[1]", "/html/body/ul[1]/li[1]", "/html/body/h1[1]"])
def test_text_is_not_escaped(path: str) -> None:
    assert markdown([Block("# 1 * _2_ | `3`", path)]).endswith("# 1 * _2_ | `3`")


STEPS = st.sampled_from(
    "ul[1] ol[1] li[1] li[2] dl[1] dt[1] dd[1] table[1] thead[1] tbody[1] tr[1] tr[2] td[1] td[2]"
    " th[1] h2[1] p[1] div[1] blockquote[1] a[1] main[1] nav[1] img[1] button[1] pre[1]".split()
)


@given(st.lists(st.lists(STEPS, max_size=9).map("/".join), max_size=12))
def test_each_text_is_rendered_once(tails: list[str]) -> None:
    words = [f"w{number}x" for number in range(len(tails))]
    text = markdown(
        [Block(word, f"/html/body/{tail}") for word, tail in zip(words, tails, strict=True)]
    )
    assert [text.count(word) for word in words] == [1] * len(words)
    assert "\n\n\n" not in text
    if not any("/t" in tail for tail in tails):  # cells of a row stand in the order of columns
        assert sorted(words, key=text.index) == words
