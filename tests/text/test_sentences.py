from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.text.boundaries import sentence_boundaries
from diptych.text.lengths import text_length
from diptych.text.sentences import MAX_SENTENCE, _is_one, split_sentences

# Sentences as they stand in a text, separated by a blank.
SENTENCES = [
    ("en", "He came. | She left! | Why? | Nobody knows."),
    ("en", "Mr. Smith met Dr. J. R. Jones on p. 5. | They talked."),
    ("en", "See Fig. 3 for details. | It costs 3.50 euros."),
    ("en", '"Stop!" he said. | Then he left.'),
    ("en", "The maps are on GEO.CA. | Or ask us."),
    ("en", "Maps - GEO.CA"),
    ("en", "We use ASP.NET and Node.js here. | Both work."),
    ("en", "It runs on Microsoft .NET today. | It is fast."),
    ("en", "OPENGIS.ch made it. | Write to info@opengis.ch now."),
    ("en", "J. R. R. Tolkien wrote it. | C. S. Lewis read it."),
    ("en", "The prize went to A. Miller and B. Cook. | Both smiled."),
    ("en", "It happened in the U.S. Army. | Nobody knew."),
    ("en", "She lives in the U.S. | The house is old."),
    ("en", "We open at 9 a.m. | The doors close at 5 p.m. | We wait."),
    ("en", "Bring pens, paper, etc. | Lunch is free."),
    ("en", "It belongs to Acme Inc. Holdings. | Acme Inc. | The firm is old."),
    ("en", "1. Agency | 2. Ministry | 3. Court"),
    ("en", "Ask one of these: 1. Agency | 2. Ministry"),
    ("en", "1. The agency opens. | 2. The ministry closes. | 3. The court waits."),
    ("en", "Chapter 2 was long. | 3. The end"),
    ("en", "1) yes | 2) no | 3) perhaps"),
    ("en", "We must 1) go home, 2) eat and 3) sleep. | Then we rest."),
    ("en", "He has 2. | She has 5."),
    ("en", "That was in 1999. | Later it changed."),
    ("en", "He waited for hours. | 20 people came."),
    ("en", "He said: “Go.” | Then he left."),
    ("en", "(It rained.) | He slept."),
    ("en", "He slept (it rained). | She woke."),
    ("en", "He slept... then woke. | She did not."),
    ("en", "And so… | The end."),
    ("en", "Wait… what? | No."),
    ("en", "Bring milk; bring bread; bring cheese. | Thank you."),
    ("en", "What?! | Really?? | Yes!!!"),
    ("en", "He left the house.Then | she came."),
    ("en", "Open https://example.org/a.html?Query=Yes!No now. | Then wait."),
    ("en", "Version 2.0 is out. | It is free."),
    ("en", "Is 5 > 3? | Yes, vs. 2."),
    ("en", "The speed is 5 kbit/s. | That is slow."),
    ("en", "Gov. Brown spoke. | Sen. White left."),
    ("en", "He came.[1] | She left.[2][3] | They said.[4] and wrote."),
    ("en", "It was grant No. P2-0016 here. | She said no. | Then he left."),
    ("en", "4.a.1.c. Share of schools"),
    ("en", "Take vitamin C. | It helps."),
    ("en", "1. Take 2. apples"),
    ("xx", "He came. | She left."),
    ("", "He came. | She left."),
    ("fr", "M. Dupont est parti. | Cf. p. 12 et l'art. 3 du code. | Voilà."),
    ("fr", "« Adieu. » dit-il. | Il est 5 h. | Elle dort."),
    ("fr", "Il a dit : « Adieu. » | Puis rien."),
    ("fr", "Mme. Curie vint. | Il y en a, p.ex. ici."),
    ("fr", "Où es-tu ? | Je suis là ! | Bien."),
    ("de", "Das ist z.B. gut. | Vgl. S. 12. | Am 3. Mai kam Dr. Müller."),
    ("de", "Der 1. FC Köln gewann. | Das war im 19. Jahrhundert."),
    ("de", "Er feierte den 50. Geburtstag. | Sie war 50. | Er nicht."),
    ("de", "Er starb 44 v. Chr. in Rom. | Sie lebte."),
    ("de", "Im XIX. Jahrhundert war das so. | Heute nicht."),
    ("de", "Er kommt z. B. heute. | Sie kommt u. a. morgen."),
    ("de", "„Geh!“ | Dann ging er."),
    ("de", "Das kostet 3 Mio. Franken. | Das ist viel."),
    ("de", "Vom 1. Mai bis 2. Juni ist zu. | Danach ist offen."),
    ("de", "Open-Access-Tage 2024, 10.–12. September 2024, Köln"),
    ("fr", "« Où sont les fichiers ? » explique cela. | Voilà."),
    ("hr", "To radi modul SAP-a. | Ovo ne."),
    ("sv", "Innan de loggar ut. | Möjliga värden."),
    ("de", "1. Treffen am 2. Mai"),
    ("de", "1. Das Amt | 2. Das Gericht"),
    ("es", "¿Cómo está? | ¡Hola! | Bien."),
    ("es", "El Sr. García llegó. | Vive en la pág. 5."),
    ("it", "Il sig. Rossi arriva. | Ecco pane, vino ecc. | Poi basta."),
    ("pt", "A Dra. Silva chegou. | O que houve?"),
    ("nl", "Dat is o.a. goed. | Hij komt niet."),
    ("sl", "To je bilo v 19. stoletju. | Konec 19. stoletja je prišel."),
    ("cs", "Přišel 3. 5. 2024 domů. | Pak odešel."),
    ("pl", "Urodził się w XX w. w Polsce. | Potem wyjechał."),
    ("fi", "Se oli 1900-luvulla, esim. keväällä. | Hän lähti 3. toukokuuta. | Muut jäivät."),
    ("hu", "2010. május 3-án jött. | Aztán elment."),
    ("tr", "Dr. Yılmaz 3. katta oturuyor. | Kapı açık mı? | Evet."),
    ("hr", "Došao je 5. svibnja. | Otišao je kasnije."),
    ("da", "Han kom den 5. maj. | Hun gik kl. 7."),
    ("vi", "Tôi đi học. | Anh ấy ở nhà. | Tại sao?"),
    ("ru", "Он пришёл. | Она ушла. | Почему?"),
    ("ru", "А. С. Пушкин родился в 1799 г. в Москве. | Он писал стихи и т. д. | Потом уехал."),
    ("ru", "Он живёт на ул. Ленина. | Дом старый."),
    ("ru", "Он сказал: «Иди!» | Потом ушёл."),
    ("ru", "Это было в 1905 г. | Она помнит."),
    ("uk", "Він прийшов. | Вона пішла додому."),
    ("bg", "Той дойде. | Тя си отиде."),
    ("sr", "Дошао је 5. маја. | Отишла је."),
    ("el", "Τι κάνεις; | Είμαι καλά. | Ο κ. Παπαδόπουλος ήρθε."),
    ("el", "Πού πας\u037e | Σπίτι."),
    ("el", "Πήρε ψωμί, τυρί κλπ. | Μετά έφυγε."),
    ("hy", "Ես գնացի։ | Նա մնաց։ | Ինչո՞ւ գնաց։"),
    ("hy", "Ես գնացի: | Նա մնաց:"),
    ("ka", "მე წავედი. | ის დარჩა. | რატომ?"),
    ("ar", "ذهبت إلى البيت. | هل أنت هنا؟ | نعم!"),
    ("ar", "جاء د. محمد اليوم. | ثم ذهب."),
    ("ar", "أحب الخبز؛ والجبن؛ والشاي. | شكرا."),
    ("fa", "من رفتم. | او ماند؟ | نه."),
    ("ur", "میں گیا۔ | وہ رہا۔ | کیوں؟ | معلوم نہیں۔"),
    ("he", "הלכתי הביתה. | הוא נשאר. | למה?"),
    ("hi", "यह एक वाक्य है। | यह दूसरा वाक्य है। | क्यों?"),
    ("hi", "डॉ. शर्मा आए। | ए. पी. जे. कलाम गए।"),
    ("hi", "वह घर पर है. | वह यहाँ नहीं है."),
    ("hi", "राम गया॥ | सीता आई॥"),
    ("mr", "तो घरी आला। | ती गेली."),
    ("ne", "ऊ घर गयो। | ऊ बस्यो।"),
    ("bn", "আমি বাড়ি গেলাম। | সে এল না। | কেন?"),
    ("pa", "ਉਹ ਘਰ ਗਿਆ। | ਉਹ ਰਿਹਾ।"),
    ("ta", "நான் வந்தேன். | அவள் போனாள். | ஏன்?"),
    ("te", "నేను వచ్చాను. | ఆమె వెళ్ళింది."),
    ("si", "මම ගියා. | ඔහු ආවා."),
    ("am", "እኔ ሄድኩ። | እሱ ቀረ፤ እና ተኛ። | ለምን፧ | አላውቅም።"),
    ("am", "እኔ ሄድኩ፡፡ | እሱ ቀረ፡፡"),
    ("am", "እኔ ሄድኩ:: | እሱ ቀረ::"),
    ("ti", "ኣነ ከይደ። | ንሱ ተሪፉ።"),
    ("bo", "ང་འགྲོ་གི་ཡིན། | ཁྱེད་རང་སྡོད། །"),
    ("dz", "ང་འགྱོ་ནི་ཨིན། | ཁྱོད་སྡོད།"),
    ("km", "ខ្ញុំទៅផ្ទះ។ | គាត់នៅទីនេះ៕ | តើអ្នកសុខសប្បាយទេ?"),
    ("km", "ខ្ញុំទិញបាយ ទឹក ។ល។ | គាត់ទៅ។"),
    ("km", "ខ្ញុំទៅផ្ទះ ហើយគាត់នៅទីនេះ"),
    ("my", "ကျွန်တော်သွားတယ်။ | သူလာတယ်၊ ပြီးတော့ ပြန်တယ်။ | ဘာလဲ။"),
    ("th", "ฉันไปบ้าน เขาอยู่ที่นี่"),
    ("th", "พ.ศ. 2540 เขาเกิดที่ จ. เชียงใหม่"),
    ("lo", "ຂ້ອຍໄປເຮືອນ ລາວຢູ່ນີ້"),
    ("ko", "나는 간다. | 그는 왔다. | 왜?"),
    ("ko", "이것은 형식입니다. | use-time 값이 참입니다. | -1 값도 됩니다."),
    ("ko", "회의는 2024. 3. 15. 10시에 열린다. | 모두 온다."),
    ("mn", "Би явлаа. | Тэр үлдсэн."),
    ("kk", "Мен бардым. | Ол қалды."),
]  # fmt: skip
assert len(SENTENCES) >= 100

# Sentences without a blank between them.
GLUED = [
    ("zh", "你好。|我是学生！|你呢？"),
    ("zh-Hant", "你好。|我是學生！|你呢？"),
    ("zh", "他说：“走吧。”|然后走了。"),
    ("zh", "这是第一句。|“你好”是第二句。|iPhone很好。"),
    ("zh", "买面包；买牛奶；买奶酪。|谢谢。"),
    ("ja", "彼は「行け。」と言った。|そして去った。"),
    ("ja", "保存します。|[新規]を押します。|やった!|次へ。"),
    ("ja", "青です。|(赤です。)|「白」です。"),
    ("ja", "本当ですか?|RGBを使います。"),
    ("my", "သူလာတယ်။|ဘာလဲ။"),
    ("hi", "वह आया।|वह गया।"),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "sentences"), SENTENCES)
def test_sentences_with_blanks_between_them(lang: str, sentences: str) -> None:
    # A word without a blank before it is written with the bar behind it.
    text = sentences.replace(".Then | ", ".Then ").replace(" | ", " ")
    expected = sentences.replace("house.Then | ", "house. | Then ").split(" | ")
    assert split_sentences(text, lang) == expected


@pytest.mark.parametrize(("lang", "sentences"), GLUED)
def test_sentences_without_blanks_between_them(lang: str, sentences: str) -> None:
    assert split_sentences(sentences.replace("|", ""), lang) == sentences.split("|")


def test_a_lower_case_start_continues_the_sentence() -> None:
    text = "The firm yahoo.com Inc. grew. i.e. it became large."
    assert split_sentences(text, "en")[-1].endswith("grew. i.e. it became large.")


def test_thai_is_cut_at_blanks_between_long_phrases() -> None:
    first = "กระทรวงสาธารณสุขประกาศมาตรการใหม่สำหรับผู้เดินทางเข้าประเทศ"
    second = "นักท่องเที่ยวทุกคนต้องกรอกแบบฟอร์มก่อนเดินทางอย่างน้อยสามวัน"
    assert split_sentences(f"{first} {second}", "th") == [first, second]
    assert split_sentences(f"{first} ครับ", "th") == [f"{first} ครับ"]


@pytest.mark.parametrize("phrase", ["ຂ້ອຍໄປເຮືອນ", "ខ្ញុំទៅផ្ទះ", "သူလာတယ်", "ฉันไปบ้าน"])
def test_no_sentence_without_full_stops_is_long(phrase: str) -> None:
    text = " ".join([phrase] * 300)
    sentences = split_sentences(text, "th")
    assert " ".join(sentences) == text
    assert max(map(text_length, sentences)) <= 300


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert split_sentences("One\ntwo\n \nthree", "en") == ["One\ntwo", "three"]


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_empty_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text, "en") == []


@pytest.mark.parametrize("unit", ["word; word, word ", "word, word ", "word ", "字，", "x"])
def test_overlong_sentences_are_cut_at_the_strongest_boundary(unit: str) -> None:
    text = (unit * (3 * MAX_SENTENCE // len(unit))).strip()
    parts = split_sentences(text, "en")
    assert len(parts) >= 3
    assert all(MAX_SENTENCE // 2 < text_length(part) <= MAX_SENTENCE for part in parts[:-1])
    assert "".join("".join(parts).split()) == "".join(text.split())
    strongest = (
        ";" if ";" in unit else "," if "," in unit else "，" if "，" in unit else unit.strip()
    )
    assert all(part.endswith(strongest) for part in parts[:-1])


def test_a_strong_boundary_far_from_the_limit_is_not_used() -> None:
    parts = split_sentences("So: " + "word, " * 1000, "en")
    assert len(parts[0]) > MAX_SENTENCE // 2


SIGNS = "aAbé.?! \n»«\"'()M5z中。…“”「」།ก ก፡:;12)្ខ។၊။\ud800"
LANGS = ["en", "fr", "zh", "de", "th", "bo", "am", "hy", "el", "ko", "qq", ""]


@given(st.text(st.sampled_from(SIGNS), max_size=200), st.sampled_from(LANGS))
def test_sentences_cover_the_text_exactly(text: str, lang: str) -> None:
    end = 0
    for sentence in split_sentences(text, lang):
        assert sentence == sentence.strip() != ""
        start = text.index(sentence, end)
        assert not text[end:start].strip()
        end = start + len(sentence)
    assert not text[end:].strip()


@given(st.text(max_size=100), st.text(max_size=5))
def test_any_text_and_language_can_be_split(text: str, lang: str) -> None:
    split_sentences(text, lang)
    split_sentences(text + "\ud800. A", lang)


@pytest.mark.parametrize(
    ("unit", "lang"),
    [
        ("A. ", "en"), ("! ", "en"), ("a.B", "de"), ("1. A ", "en"), ("… A ", "en"), ("ก ", "th"),
        ("། ", "bo"), ("\n\n", "en"), (". 1 ", "ko"), ("“", "en"), ("a” ", "en"), ("。[", "ja"),
        ("x", "en"), ("๏ ", "th"), ("()", "en"), ("།", "bo"), ("a. " + ")! " * 33_000 + "a", "en"),
    ],
)  # fmt: skip
def test_time_is_linear_in_the_length_of_the_text(unit: str, lang: str) -> None:
    text = unit * (100_000 // len(unit))
    with processor_seconds():
        split_sentences(text, lang)


@pytest.mark.parametrize("blank", ["\xa0", "\u2009", "\u3000", " \u202f", "\x85\xa0"])
def test_multi_byte_space_before_a_full_stop_is_handled(blank: str) -> None:
    text = f"Plan A{blank}. Then B{blank}."
    for lang in ("en", "ru", "da", "zh"):
        assert "".join("".join(split_sentences(text, lang)).split()) == "PlanA.ThenB."
    # What is there stays as it is.
    assert split_sentences(f"Plan A{blank}.", "en") == [f"Plan A{blank}."]


PLAIN = st.text(st.sampled_from("aB éЯж1)(,;:!?.«»\"'’–-ß€\n"), max_size=14)


@given(PLAIN, st.sampled_from(["en", "fr", "hy", "el", "ja"]))
def test_text_recognised_as_one_sentence_is_not_split(text: str, lang: str) -> None:
    if _is_one(text):
        assert sentence_boundaries(text, lang) == []
