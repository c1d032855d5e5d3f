"""URLs for Hypothesis, put together from what makes reading them hard."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = """fr en-us fr_CA zh-Hant ca-fr francais english e f index home main news red wine rouge
 vin hebergement hebergements 2024 2023 12 007 999999999999999 1234567890123456 a1b2 www x org
 %C3%A9t%C3%A9 %E9 %00 %2F %3F Łódź новости 新闻 été ß İ lang id sid 1 html a.html b.php -- a--b
 _ . .. fr--ca""".split()
SEPARATORS = [
    "/",
    "/",
    "/",
    "//",
    "-",
    "_",
    ".",
    "?",
    "&",
    "&",
    "=",
    "?lang=",
    "&id=",
    "+",
    ";",
    "#",
    ":",
]
HOSTS = [
    "http://x.org",
    "http://www.x.org",
    "https://fr.x.org:80",
    "http://en.a.b.x.co.uk",
    "//x.org",
    "x.fr",
    "",
]
ODD = [
    "", "\0", "/", "?", "http://", "http://?", "mailto:a@x.org", "data:text/html,fr",
    "javascript:f()",
    "http://x.org?fr", "http://x.org/?", "http://x.org/.html", "http://x.org/fr", "http://x.org/-",
    "http://" + "fr." * 20 + "org/a",
    "http://x.org/" + "/".join(f"s{n}" for n in range(100)),
    "http://x.org/" + "fr/" * 100 + "a",
    "http://x.org/a?" + "&".join(f"p{n}={n}" for n in range(100)),
    "http://x.org/a?" + "lang=fr&" * 100,
    "http://x.org/" + "-".join(f"word{n}" for n in range(200)),
    "http://x.org/" + "-".join("en" if n % 2 else "fr" for n in range(200)) + ".html",
    "http://x.org/" + "ab" * 500_000,
    "http://x.org/" + "é" * 3000,
    "http://x.org/" + "7" * 400,
]  # fmt: skip


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs of the same few words again and again, and odd ones."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(ODD) | st.text())
    pieces = draw(
        st.lists(st.tuples(st.sampled_from(SEPARATORS), st.sampled_from(WORDS)), max_size=14)
    )
    return draw(st.sampled_from(HOSTS)) + "".join(sep + word for sep, word in pieces)
