from __future__ import annotations

import subprocess
import sys

import pytest

from diptych.files import shipped_table
from diptych.language.names import alpha3_codes, derive_codes, derive_name, language_names


@pytest.mark.parametrize("reader", ["en", "fr", "zh", "sr"])
def test_shipped_names_match_the_library(reader: str) -> None:
    (_, *readers), *rows = shipped_table("diptych.language", "names.tsv")
    assert [lang for lang, *_ in rows] == readers
    shipped = {lang: names[readers.index(reader)] for lang, *names in rows}
    derived = {lang: derive_name(lang, reader) for lang in readers}
    # Names change a little with every version of CLDR.
    assert sum(derived[lang] == name for lang, name in shipped.items()) >= 0.9 * len(readers)


def test_shipped_codes_match_the_library() -> None:
    (_, *langs), *_ = shipped_table("diptych.language", "names.tsv")
    assert {lang: alpha3_codes(lang) for lang in langs} == {
        lang: derive_codes(lang) for lang in langs
    }


def test_names_missing_in_the_table_are_derived() -> None:
    assert language_names("cy", ("fr",)) == {"cymraeg", "gallois"}
    assert language_names("fr", ("cy",)) == {"français", "ffrangeg"}
    assert "繁體中文" in language_names("zh", ("zh-TW",))


def test_common_names_load_no_table_of_names() -> None:
    code = (
        "import sys; from diptych.language.switchers import declared_language;"
        "from diptych.types import Link;"
        "print(declared_language(Link('http://x.org/', anchor='Allemand'), ('de', 'fr')).lang,"
        " 'language_data.name_data' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["de", "False"]


def test_marks_and_names_of_common_languages_load_no_table_of_codes() -> None:
    code = (
        "import sys; from diptych.language.switchers import declared_language;"
        "from diptych.stages.pair.keys.mark_meaning import mark_reader;"
        "from diptych.types import Link;"
        "mark_reader(('de', 'fr'));"
        "print(declared_language(Link('http://x.org/', anchor='Allemand'), ('de', 'fr')).lang,"
        " 'langcodes' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["de", "False"]
