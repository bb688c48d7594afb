"""Cutting a streamed reply: exact text, the same cuts however it is fed, and no cut in a bad place."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.clauses import ClauseCutter

SENTENCES = {"first_min_words": 1, "first_max_words": 1000, "min_words": 1, "soft_min_words": 1000}
"""Cuts at every sentence end, and at clause boundaries in the first sentence."""


def feed(pieces: list[str], **options: float) -> list[str]:
    cutter = ClauseCutter(**options)  # type: ignore[arg-type]
    return [clause for piece in pieces for clause in cutter.feed(piece)] + cutter.close()


def cut(text: str, **options: float) -> list[str]:
    """The clauses of `text`, which must be the same whole, word by word and character by character."""
    clauses = feed([text], **options)
    assert "".join(clauses) == text
    assert "" not in clauses
    assert feed(re.findall(r"\s*\S+|\s+", text), **options) == clauses
    assert feed(list(text), **options) == clauses
    return clauses


def stripped(text: str, **options: float) -> list[str]:
    return [clause.strip() for clause in cut(text, **options)]


# -- sentence ends ------------------------------------------------------------------------------------------------

ABBREVIATIONS = (
    "Dr. Lee met Mrs. Ito at 9:30 a.m. near St. Anne. They left the U.S. office, e.g. by cab. J. R. Ray paid."
)


def test_abbreviations_and_initials_end_no_clause() -> None:
    sentences = stripped(ABBREVIATIONS, **SENTENCES)
    assert sentences == [
        "Dr. Lee met Mrs. Ito at 9:30 a.m. near St. Anne.",
        "They left the U.S. office, e.g. by cab.",
        "J. R. Ray paid.",
    ]
    for clause in stripped(ABBREVIATIONS):
        assert not clause.endswith(("Dr.", "Mrs.", "a.m.", "St.", "U.S.", "e.g.", "J.", "R."))


@pytest.mark.parametrize(
    "text",
    [
        "See Prof. Ada and Gen. Grant vs. Rep. Ray, i.e. Sen. Ray of Acme Inc. in Old D.C. on Jan. 5 at No. 10.",
        'The Ph.D. holder, Mt. Ida, approx. ten, etc. and (e.g. this) or **Mr. Fox** or "Ms. Doe" and p. 5, fig. 3.',
        "It took 5 min. after that, about 3 ft. of it, max. 10 people, est. 1999.",
        "Das ist z.B. gut, d.h. ca. zehn bzw. elf, usw. und Hr. Maier.",
        "El Sr. López y la Sra. Ruiz con el Dr. Paz.",
    ],
)
def test_abbreviations_of_every_kind_stay_inside(text: str) -> None:
    assert len(stripped(text, **SENTENCES | {"first_min_words": 1000})) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("That is all. We can go.", 2),
        ("No. I will not.", 2),
        ("He sat. Then he left in the sun. Gone.", 3),
        ("Just between you and I. Fine then.", 2),
        ("It was in 1999. Then it ended.", 2),
        ("sure. i can help you. let me see.", 3),
        ("Really? yes. Wow! ok.", 4),
        ("What?! No... Yes.", 3),
    ],
)
def test_ordinary_words_before_a_full_stop_do_end_a_sentence(text: str, count: int) -> None:
    assert len(stripped(text, **SENTENCES)) == count


def test_numbers_and_prices_are_never_cut() -> None:
    text = "It is 98.6 degrees. Tea is $3.5 or $5. Pi is 3.14."
    assert stripped(text, **SENTENCES) == ["It is 98.6 degrees.", "Tea is $3.5 or $5.", "Pi is 3.14."]
    pieces = ["Pi is 3.", "14", " or so. Then", " 1,", "000 at 9:", "30, version 2.", "4.1. End"]
    assert feed(pieces, **SENTENCES) == ["Pi is 3.14 or so.", " Then 1,000 at 9:30, version 2.4.1.", " End"]


def test_a_full_stop_at_the_end_of_the_buffer_waits_for_what_follows() -> None:
    cutter = ClauseCutter(**SENTENCES)  # type: ignore[arg-type]
    assert cutter.feed("I will say pi is 3.") == []
    assert cutter.feed(" ") == []
    assert cutter.feed("N") == ["I will say pi is 3."]
    assert cutter.close() == [" N"]


def test_a_line_end_settles_a_sentence_at_once() -> None:
    assert ClauseCutter().feed("Here is the list:\n") == ["Here is the list:"]


def test_a_date_is_not_cut_at_its_comma() -> None:
    assert stripped("It was on March 3, 2024, I think so.")[0] == "It was on March 3, 2024,"


LIST = "Steps:\n\n1. Open it.\n2. Close it.\n10. Go."


def test_list_numbers_stay_with_their_items() -> None:
    assert stripped(LIST, **SENTENCES) == ["Steps:", "1. Open it.", "2. Close it.", "10. Go."]
    inline = "Do this: 1. Open it. 2. Close it now. **3.** Go. a. First one. (iv) x. B. Last one."
    steps = "Now do this thing. Step 1. Open the app. Step 2. Close it again. Day 3. Rest now, please."
    for text in (LIST, inline, steps, "1. One\n\n2. Two", "- 1. One. - 2. Two."):
        for options in ({}, SENTENCES):
            for clause in stripped(text, **options):
                assert not re.search(r"(^|\s)\W*(\d+|[a-zA-Z])\.\W*$", clause)


def test_an_ellipsis_before_a_small_letter_is_no_end() -> None:
    assert stripped("The sky is... blue. Well… maybe. Wait…", **SENTENCES) == [
        "The sky is... blue.",
        "Well… maybe.",
        "Wait…",
    ]
    assert stripped("Wait . . . what now? Yes.", **SENTENCES) == ["Wait . . . what now?", "Yes."]
    assert stripped("Wait... What? Well .. ok.", **SENTENCES) == ["Wait...", "What?", "Well .. ok."]


def test_closing_quotes_and_brackets_stay_with_their_sentence() -> None:
    pieces = ["(Say when.", ")", ' Then he said "Stop.', '" We left.']
    for options in ({}, SENTENCES):
        clauses = feed(pieces, **options)
        assert "".join(clauses) == "".join(pieces)
        assert not any(clause.lstrip().startswith((")", '"')) for clause in clauses)
    assert stripped("".join(pieces), **SENTENCES) == ["(Say when.)", 'Then he said "Stop."', "We left."]
    assert stripped('He said "Stop. " We left (all. ) Then.', **SENTENCES) == [
        'He said "Stop. "',
        "We left (all. )",
        "Then.",
    ]
    assert stripped("**Done.** “Is it?” she said. «Oui.» Fin !» Bon.", **SENTENCES) == [
        "**Done.**",
        "“Is it?” she said.",
        "«Oui.»",
        "Fin !»",
        "Bon.",
    ]


# -- scripts ------------------------------------------------------------------------------------------------------


def test_cjk_sentences_end_without_a_space() -> None:
    assert cut("今天天气真好。我们出去走走吧！好吗？") == ["今天天气真好。", "我们出去走走吧！", "好吗？"]
    assert cut("「はい。」と言った。本当？！うん。") == ["「はい。」", "と言った。", "本当？！", "うん。"]
    assert cut("好。走！他说：“走。”（好。）") == ["好。", "走！", "他说：“走。”", "（好。）"]
    assert cut("你好吗?我们走吧.好的") == ["你好吗?", "我们走吧.", "好的"]


def test_cjk_clauses_come_before_the_end_of_the_text() -> None:
    cutter = ClauseCutter()
    assert cutter.feed("今天天气真好。我们") == ["今天天气真好。"]
    assert cutter.feed("出去走走吧！好") == ["我们出去走走吧！"]


def test_other_scripts_survive_and_use_their_own_marks() -> None:
    hindi = "नमस्ते। आप कैसे हैं? मैं ठीक हूँ।"
    assert stripped(hindi, **SENTENCES) == ["नमस्ते।", "आप कैसे हैं?", "मैं ठीक हूँ।"]
    arabic = "مرحبا، كيف حالك؟ أنا بخير."
    assert stripped(arabic, **SENTENCES) == ["مرحبا،", "كيف حالك؟", "أنا بخير."]
    cut("สวัสดีครับ ผมชื่อสมชาย ยินดีที่ได้รู้จัก " * 20)
    cut("안녕하세요. 만나서 반갑습니다. " * 20)


# -- lengths ------------------------------------------------------------------------------------------------------


def test_the_first_clause_comes_early_at_a_boundary() -> None:
    assert stripped("Sure, I can help, of course. Then we see.")[0] == "Sure, I can help,"
    assert stripped("Yes. That is a fine idea. Go on.")[0] == "Yes. That is a fine idea."
    assert stripped("The answer is simple — you take the first one.")[0] == "The answer is simple —"
    assert stripped("There are two ways: one is short.")[0] == "There are two ways:"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I was going to the store and then the shop closed", "I was going to the store"),
        ("Sure I can help you with that problem today", "Sure I can help you"),
        ("The biggest city of France is called Paris by everyone", "The biggest city of France is called"),
        ("My friend wants to know what is the matter here", "My friend wants"),
    ],
)
def test_a_first_clause_without_a_boundary_is_cut_before_a_new_phrase(text: str, first: str) -> None:
    assert stripped(text)[0] == first


NOUNS = ["red", "dog", "runs", "hills"]
FUNCTION_WORDS = ["the", "a", "and", "to", "is", "over", "with", "my", "because"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(NOUNS + FUNCTION_WORDS), min_size=10))
def test_a_first_clause_is_short_and_leaves_no_function_word_dangling(words: list[str]) -> None:
    first = feed([" ".join(words)])[0].split()
    assert 3 <= len(first) <= 10
    if any(word in NOUNS for word in words[2:7]):
        assert first[-1] in NOUNS


def test_later_clauses_are_whole_sentences_of_some_length() -> None:
    text = "I can do that for you. I see. That is fine. Let me check the list, please. One moment and I am back."
    assert stripped(text) == [
        "I can do that for you.",
        "I see. That is fine. Let me check the list, please.",
        "One moment and I am back.",
    ]


def test_long_sentences_are_cut_at_a_comma() -> None:
    long = "Then we walked along the river, saw the old mill, crossed the bridge by the church, and came home late."
    clauses = stripped("That was a day. " + long)
    assert clauses[1].endswith("church,")
    assert clauses[2] == "and came home late."


def test_text_without_punctuation_is_cut_at_spaces_below_the_limit() -> None:
    text = " ".join(["hello"] * 100 + ["world"] * 33)
    clauses = cut(text, max_chars=200)
    assert all(len(clause) <= 200 for clause in clauses)
    assert " ".join(clauses).split() == text.split()


def test_a_giant_word_is_cut_hard_and_nothing_is_lost() -> None:
    clauses = cut("Look: " + "x" * 5000 + " end", max_chars=200)
    assert all(len(clause) <= 200 for clause in clauses)


@pytest.mark.parametrize(
    "cluster", ["👨‍👩‍👧‍👦", "🇫🇷", "👍🏽", "e\u0301\u0323", "가", "\u1112\u1161\u11ab", "क्षि", "❤️", "\ud83d\ude00"]
)
@pytest.mark.parametrize("offset", range(4))
def test_hard_cuts_never_divide_what_reads_as_one_character(cluster: str, offset: int) -> None:
    clauses = feed(["x" * offset + cluster * 300], max_chars=101)
    assert len(clauses) > 2
    for clause in clauses:
        assert clause.lstrip("x") == cluster * clause.count(cluster)
        assert len(clause) <= 101


def test_an_endless_cluster_is_cut_all_the_same() -> None:
    assert all(len(clause) <= 100 for clause in cut("a" + "\u0301" * 1000, max_chars=100))


def test_long_input_takes_linear_time() -> None:
    text = "The quick fox, aged 3.5, jumps over Dr. Smith's dog `a.b` and <b>more</b>. ```py\nx\n``` "
    assert len(feed([text * 500])) > 500
    fence = "Look: ```\n" + "print('a. b')\n" * 3000 + "```\nDone."
    assert [len(clause) for clause in feed(list(fence))][::2] == [5, 6]


def test_an_impossible_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="max_chars"):
        ClauseCutter(max_chars=5)


# -- joins --------------------------------------------------------------------------------------------------------


def test_spaces_are_kept_as_the_model_sent_them() -> None:
    pieces = ["Perfect", ",", " 12345.", "Let", " ", "me", "  ", "\n", " go.", " "]
    assert "".join(feed(pieces)) == "Perfect, 12345.Let me  \n go. "
    assert feed(["", " ", ""]) == [" "]
    assert feed([""]) == []


def test_nothing_stays_in_the_buffer_at_the_end() -> None:
    assert feed(["Sure thing"]) == ["Sure thing"]
    assert stripped("Hello! I am here. How are you?", **SENTENCES) == ["Hello!", "I am here.", "How are you?"]
    cutter = ClauseCutter()
    cutter.feed("Sure")
    assert (cutter.close(), cutter.close()) == (["Sure"], [])


FRAGMENTS = [
    "word",
    "Dr.",
    "a.m.",
    "U.S.",
    "3.",
    "14",
    "$5",
    ". ",
    ", ",
    "? ",
    "…",
    "...",
    "\n",
    "\n\n",
    " ",
    "— ",
    "—",
]
FRAGMENTS += [
    "1. ",
    "- ",
    "(",
    ")",
    '"',
    "”",
    "**",
    "_",
    "`",
    "``",
    "```",
    "```py\n",
    "~~~\n",
    "<b>",
    "<",
    "</",
    "[",
    "](",
]
FRAGMENTS += [
    "[a b](http://x.y/z)",
    "http://x.y/z?a=b. ",
    "。",
    "，",
    "今天",
    "？",
    "」",
    "你好吗?我们",
    "नमस्ते",
    "।",
    "สวัสดี",
]
FRAGMENTS += [
    "👨‍👩‍👧",
    "🇫🇷",
    "e\u0301",
    "\u0301",
    "I ",
    "and ",
    "Hello",
    "x" * 90,
    "字" * 130,
    " " * 70,
    "\r\n",
    "<!-- c",
    "-->",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40), st.sampled_from([{}, SENTENCES, {"max_chars": 80}]))
def test_cuts_depend_on_the_text_and_not_on_the_tokens(pieces: list[str], options: dict[str, float]) -> None:
    assert feed(pieces, **options) == cut("".join(pieces), **options)


@settings(deadline=None)
@given(st.text(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_any_text_comes_back_exactly(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(place, len(text)) for place in cuts), len(text)]
    clauses = feed([text[a:b] for a, b in pairwise(edges)], max_chars=80)
    assert clauses == cut(text, max_chars=80)
