"""The language of a page by codes in its URL: the baseline of Garcia-Romero et al., section 2.1.

Components of the URL are compared with the codes of ISO 639-1 and 639-2 in the order they found
best: values of parameters, names of directories, the public suffix, the subdomain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import unquote, urlsplit

from diptych.language.codes import primary
from diptych.learn.url.data import UNKNOWN
from diptych.text.urls import site_name
from diptych.types import LangScore

__all__ = ["components", "predict", "rule_language"]


# ISO 639-1, and what ISO 639-2 has beyond it.
_TWO_LETTERS = (
    "aa ab af ak am ar an as av ae ay az ba bm be bn bh bi bo bs br bg ca cs ch ce cu cv kw"
    " co cr cy da de dv dz el en eo et eu ee fo fa fj fi fr fy ff gd ga gl gv gn gu ht ha he"
    " hz hi ho hr hu hy ig io ii iu ie ia id ik is it jv ja kl kn ks ka kr kk km ki rw ky kv"
    " kg ko kj ku lo la lv li ln lt lb lu lg mh ml mr mk mg mt mn mi ms my na nv nr nd ng ne"
    " nl nn nb no ny oc oj or om os pa pi pl pt ps qu rm ro rn ru sg sa si sk sl se sm sn sd"
    " so st es sq sc sr ss su sw sv ty ta tt te tg tl th ti to tn ts tk tr tw ug uk ur uz ve"
    " vi vo wa wo xh yi yo za zh zu"
)
_THREE_LETTERS = (
    "ace ach ada ady afa afh ain akk ale alg alt ang anp apa arc arn arp art arw ast ath aus"
    " awa bad bai bal ban bas bat bej bem ber bho bik bin bla bnt bra btk bua bug byn cad cai"
    " car cau ceb cel chb chg chk chm chn cho chp chr chy cmc cnr cop cpe cpf cpp crh crp csb"
    " cus dak dar day del den dgr din doi dra dsb dua dum dyu efi egy eka elx enm ewo fan fat"
    " fil fiu fon frm fro frr frs fur gaa gay gba gem gez gil gmh goh gon gor got grb grc gsw"
    " gwi hai haw hil him hit hmn hsb hup iba ijo ilo inc ine inh ira iro jbo jpr jrb kaa kab"
    " kac kam kar kaw kbd kha khi kho kmb kok kos kpe krc krl kro kru kum kut lad lah lam lez"
    " lol loz lua lui lun luo lus mad mag mai mak man map mas mdf mdr men mga mic min mkh mnc"
    " mni mno moh mos mun mus mwl mwr myn myv nah nai nap nds new nia nic niu nog non nqo nso"
    " nub nwc nym nyn nyo nzi osa ota oto paa pag pal pam pap pau peo phi phn pon pra pro raj"
    " rap rar roa rom rup sad sah sai sal sam sas sat scn sco sel sem sga sgn shn sid sio sit"
    " sla sma smi smj smn sms snk sog son srn srr ssa suk sus sux syc syr tai tem ter tet tig"
    " tiv tkl tlh tli tmh tog tpi tsi tum tup tut tvl tyv udm uga umb vai vot wak wal war was"
    " wen xal yao yap ypk zap zbl zen zgh znd zun zza"
)


def rule_language(url: str) -> str:
    """The language the first component that is a code names; `und` when there is none.

    >>> rule_language("http://www.example.de/fr/index.html?lang=en")
    'en'
    >>> rule_language("http://www.example.de/fr/index.html"), rule_language("http://example.com/")
    ('fr', 'und')
    """
    codes = _codes()
    return next((codes[part] for part in components(url) if part in codes), UNKNOWN)


def predict(urls: Sequence[str]) -> list[LangScore]:
    """As the model's `predict`: a rule is certain or does not know."""
    return [LangScore(rule_language(url), 1.0) for url in urls]


def components(url: str) -> Iterator[str]:
    """What is compared, in order.

    >>> list(components("http://fr.shop.example.co.uk/a/b.html?x=1&lang=EN"))
    ['1', 'en', 'a', 'co.uk', 'uk', 'fr', 'shop']
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return
    if parts.scheme not in ("http", "https") or not host:
        return
    for parameter in parts.query.split("&"):
        if "=" in parameter:
            yield unquote(parameter.partition("=")[2]).lower()
    yield from (unquote(name).lower() for name in parts.path.split("/")[1:-1] if name)
    site = site_name(f"http://{host}/")
    suffix = site.partition(".")[2]
    yield suffix
    if "." in suffix:
        yield suffix.rpartition(".")[2]
    yield from host.removesuffix(site).strip(".").split(".") if host != site else ()


@cache
def _codes() -> dict[str, str]:
    """Codes of ISO 639-1 and 639-2, the latter in both of its forms -> our code."""
    from langcodes import Language

    found = {code: primary(code) for code in f"{_TWO_LETTERS} {_THREE_LETTERS}".split()}
    for two in _TWO_LETTERS.split():
        for variant in ("T", "B"):
            three = Language.make(two).to_alpha3(variant=variant)
            found.setdefault(three, primary(two))
    return {code: lang for code, lang in found.items() if lang}
