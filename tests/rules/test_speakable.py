"""What a voice says of a clause: the words, and never the marks around them."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicetui.reply.clauses import ClauseCutter
from voicetui.reply.speakable import Speakable


def say(*clauses: str) -> str:
    """What is said of `clauses` in turn, joined by " | " where something is said."""
    speakable = Speakable()
    return " | ".join(filter(None, [speakable.spoken(clause) for clause in clauses]))


def reply(*tokens: str) -> str:
    """What is said of a reply that streams in."""
    cutter = ClauseCutter()
    return say(*[clause for token in tokens for clause in cutter.feed(token)], *cutter.close())


SPOKEN_WORDS = ["title", "bold", "and", "it", "x", "one", "q", "label", "hi", "a", "b"]
MARKDOWN = "# Title\n**bold** and *it* `x`\n- one\n> q\n[label](http://u) ==hi== ✅ |a|b|\n|---|---|"


def test_markdown_emoji_and_tables_are_not_read_out() -> None:
    assert say(MARKDOWN) == "Title. bold and it x. one. q. label hi, a, b"
    streamed = reply(*MARKDOWN)
    assert re.sub(r"[^a-z ]", "", streamed.lower()).split() == SPOKEN_WORDS
    assert not re.search(r"[*#>`=✅]|http|check", streamed)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("## A heading ##\nText here.", "A heading. Text here."),
        ("***Both*** __under__ _it_ ~~gone~~ ||spoiler||", "Both under it gone, spoiler"),
        ("**a bold. | clause** goes on", "a bold., clause goes on"),
        ("- [x] done\n- [ ] to do\n* more\n+ plus\n• dot", "done. to do. more. plus. dot"),
        ("> quoted\n>> twice", "quoted. twice"),
        ("![a picture](http://x/y.png) of [that][1] [^1]", "a picture of that"),
        ('[link](https://a.b/c_(d) "title"), then [x]', "link, then x"),
        ("[1]: http://example.com/x", ""),
        ("| Name | Age |\n|:---|---:|\n| Bob | 5 |", "Name, Age. Bob, 5"),
        ("one\n\n---\n***\n\ntwo", "one. two"),
        ("Title\n=====\ntext", "Title. text"),
        ("snake_case and __init__ and `a_b`", "snake case and init and a b"),
        ("\\*literal\\* and \\#1", "literal and number 1"),
        ("R&amp;D &lt;ok&gt; &nbsp;x", "R and D ok x"),
        ("first line\ngoes on\nNext one", "first line goes on. Next one"),
        ("==marked text== here", "marked text here"),
        ("> - **quoted** item\n1) first", "quoted item. 1, first"),
        ("Done :white_check_mark: at 12:30:45", "Done at twelve thirty and forty five seconds"),
    ],
)
def test_marks_are_dropped_and_words_kept(text: str, spoken: str) -> None:
    assert say(text) == spoken


def test_line_prefixes_count_only_at_the_beginning_of_a_line() -> None:
    assert say("Is it so that x", " > 3 or # 4") == "Is it so that x | greater than 3 or 4"
    assert say("One line\n", "# Title") == "One line | Title"
    assert say("It is 5", " - one", "\n- two") == "It is 5 | one | two"


def test_code_fences_are_skipped_over_any_number_of_clauses() -> None:
    assert say("Run ", "``", "`py\nprint('a. b')\n", "```", " then stop.") == "Run | then stop."
    assert reply("Run ", "``", "`py\nprint('a. b')\n", "```", " then stop.") == "Run | then stop."
    assert say("Run ```py\nprint(1)\n", "more()\n", "```\nDone.", " Bye.") == "Run | Done. | Bye."
    assert say("~~~\ncode\n~~~\nText.") == "Text."
    assert say("````md\n```py\nx\n```\ny\n````\nText.") == "Text."


def test_an_unclosed_fence_says_nothing_of_the_code() -> None:
    assert say("Run ```py\nx = 1", "\ny. Z", "\nlast") == "Run"
    assert reply("Run ```py\nx = 1\ny. Z\nlast words here") == "Run"


def test_fenced_code_is_silent_however_it_streams() -> None:
    text = "Take this function and use it:\n\n```python\ndef f(x):\n    return `x`. Y\n```\n\nIt returns nothing. Good."
    for tokens in ([text], list(text), re.findall(r"\s*\S+", text)):
        assert reply(*tokens) == "Take this function and use it: | It returns nothing. Good."


# -- figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("$49.95", "forty nine dollars and ninety five cents"),
        ("It is $1,234.56.", "It is one thousand two hundred thirty four dollars and fifty six cents."),
        ("$3.5 or $5.", "three dollars and fifty cents or five dollars."),
        ("$1 $1.01 $0.50 $.05", "one dollar one dollar and one cent fifty cents five cents"),
        ("-$5 and US$20", "minus five dollars and twenty dollars"),
        ("£1.50, €20, ¥500", "one pound and fifty pence, twenty euros, five hundred yen"),
        ("49,95 € or 10€", "forty nine euros and ninety five cents or ten euros"),
        ("$5M, $3.5 million, $10k", "five million dollars, three point five million dollars, ten thousand dollars"),
        ("$5-$10 or $5–10", "five to ten dollars or five to ten dollars"),
        (
            "€3,50 and 1.234,56 €",
            "three euros and fifty cents and one thousand two hundred thirty four euros and fifty six cents",
        ),
        ("50¢, $5/month", "fifty cents, five dollars per month"),
        ("$1.999", "one point nine nine nine dollars"),
        ("$HOME costs $", "HOME costs"),
    ],
)
def test_money_is_read_as_one_amount(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("8:00", "eight o'clock"),
        ("12:05", "twelve oh five"),
        ("9:30", "nine thirty"),
        ("at 9:30 a.m. near", "at nine thirty a.m. near"),
        ("8:00 PM, 9:30pm, 5pm", "eight PM, nine thirty PM, five PM"),
        ("14:00, 14:20, 0:00, 00:05", "fourteen hundred, fourteen twenty, midnight, zero oh five"),
        ("12:05:30", "twelve oh five and thirty seconds"),
        ("8:00-9:30, 9am–5pm", "eight o'clock to nine thirty, nine AM to five PM"),
        ("At 8:00.", "At eight o'clock."),
        ("a 3:1 ratio", "a 3 to 1 ratio"),
        (
            "on 2024-05-06, 03/15/2024 or 15/3/2024",
            "on May sixth, 2024, March fifteenth, 2024 or March fifteenth, 2024",
        ),
        ("2024-13-45 or 1/2/3", "2024-13-45 or 1 2 3"),
    ],
)
def test_times_are_read_as_times(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("2.4.1", "two point four point one"),
        ("v2.4.1 or V3 or v1.0", "version two point four point one or version three or version one point zero"),
        ("Python 3.11.7.", "Python three point eleven point seven."),
        ("192.168.0.1", "one hundred ninety two dot one hundred sixty eight dot zero dot one"),
        ("98.6 and 3.14.", "ninety eight point six and three point one four."),
        ("-3.5, -4 and .5", "minus three point five, minus 4 and point five"),
        ("2.5GB", "two point five gigabytes"),
        ("1,234,567 of 12345", "1234567 of 12345"),
        ("50%, 3.5 % and 5-10%", "fifty percent, three point five percent and 5 to ten percent"),
        ("72°F, -5 °C.", "seventy two degrees Fahrenheit, minus five degrees Celsius."),
        ("1° and 45°.", "one degree and forty five degrees."),
        ("20℃", "twenty degrees Celsius"),
        ("1st 2nd 3rd 4th", "first second third fourth"),
        ("12th 20th 21st 100th", "twelfth twentieth twenty first one hundredth"),
        ("½ cup, 1½ cups, 3/4 full", "a half cup, one and a half cups, three quarters full"),
        ("5–7 days, 2-3 hours, 1990-1999, 5 - 3", "5 to 7 days, 2 to 3 hours, 1990 to 1999, 5 minus 3"),
        ("1. Open it.", "1, Open it."),
        ("\n2. Close it.\n10. Go.", "2, Close it. 10, Go."),
        ("So: 1. Open it. 2) Go.", "So: 1, Open it. 2) Go."),
        ("It is 5. Then 6.", "It is 5. Then 6."),
        ("x² and m³", "x squared and m cubed"),
    ],
)  # fmt: skip
def test_figures_are_read_the_way_people_do(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("a@b.co", "a at b dot co"),
        ("Mail john.doe+x@my-site.com, please.", "Mail john dot doe plus x at my dash site dot com, please."),
        ("See https://www.example.com/path?q=1#x.", "See example dot com."),
        ("http://localhost:8000/x, ok", "localhost, ok"),
        ("https://user:secret@example.com/", "example dot com"),
        ("(www.example.org)", "(example dot org)"),
        ("<https://example.com> <a@b.co>", "example dot com a at b dot co"),
        (
            "example.com and main.py, node.js, config.toml.",
            "example dot com and main dot py, node dot js, config dot toml.",
        ),
        ("Reach @bob", "Reach bob"),
    ],
)
def test_addresses_are_read_sensibly(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Q&A: is 3 < 5 & x > y?", "Q and A: is 3 less than 5 and x greater than y?"),
        (
            "3<5, x >= 4, a <= b, a != b",
            "3 less than 5, x greater than or equal to 4, a less than or equal to b, a is not b",
        ),
        ("1 + 1 = 2, a == b, 2 * 3, 4×5, 6 ÷ 2", "1 plus 1 equals 2, a equals b, 2 times 3, 4 times 5, 6 divided by 2"),
        ("if x<y or 5>3 or List<int>", "if x less than y or 5 greater than 3 or List"),
        ("C++, C# and #1 of #tags", "C plus plus, C sharp and number 1 of tags"),
        ("y -> z → w", "y to z to w"),
        ("and/or at 5 km/h", "and or at 5 kilometers per hour"),
        ("well - yes, so—no – ok", "well, yes, so, no, ok"),
        ("~5, ±2, §3", "about 5, plus or minus 2, section 3"),
        ("{a} [b] | c \\ d ^ e ™ ©", "a b, c d e"),
    ],
)
def test_signs_become_words_or_nothing(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    "tag", ['<break time="1.5s"/>', "<b>", "</b>", "<br>", "<a href='x'>", "<!-- no -->", "<|im_end|>", "<speak>"]
)
def test_tags_are_neither_said_nor_obeyed(tag: str) -> None:
    assert say(f"Wait {tag} now.") == "Wait now."
    for place in range(1, len(tag)):
        assert say(f"Wait {tag[:place]}", f"{tag[place:]} now.") == "Wait | now."
    assert reply(*f"Wait {tag} now.") == "Wait now."


def test_less_than_is_no_tag() -> None:
    assert say("if a <b then c", " and d.") == "if a b then c | and d."
    assert say("x <", " 5 is so") == "x | less than 5 is so"


# -- joins, scripts, silence --------------------------------------------------------------------------------------


def test_sentences_run_together_are_said_apart() -> None:
    assert reply("Perfect", ",", " 12345.", "Let", " ", "me") == "Perfect, 12345. Let me"
    assert say("Hi!How are you?I am fine.Great.So") == "Hi! How are you? I am fine. Great. So"
    assert say("The U.S. law, e.g. a Ph.D. of J.R. Ray") == "The U.S. law, e.g. a PhD of J R Ray"


@pytest.mark.parametrize(
    "text",
    [
        "今天天气真好。我们出去走走吧！",
        "「はい」、そうです。",
        "नमस्ते। आप कैसे हैं?",
        "สวัสดีครับ ผมชื่อสมชาย",
        "مرحبا، كيف حالك؟",
        "Привет, как дела?",
        "שלום, מה שלומך?",
        "می\u200cخواهم",
        "क्\u200dष",
        "안녕하세요. 만나서 반갑습니다.",
        "Ça va très bien, señor Müller!",
    ],
)
def test_other_scripts_are_left_alone(text: str) -> None:
    assert say(text) == text


def test_marks_are_dropped_in_other_scripts_too_but_no_english_is_added() -> None:
    assert say("# **今天**的天气：`25%` 👍\n- $5 & 6") == "今天的天气：25% $5 & 6"
    assert say("今天", " $5") == "今天 | $5"
    assert say("Привет <b>мир</b> 9:30") == "Привет мир 9:30"
    assert Speakable(language="de").spoken("Das kostet **5,50 €** & mehr.") == "Das kostet 5,50 € & mehr."


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("A\x1b[2J B \x1b[1;31mred\x1b[0m", "A B red"),
        ("\x1b]52;c;aGk=\x07x \x1b]0;t\x1b\\y", "x y"),
        ("A \x1b] B \x1b[6n\x1bc C \x1b", "A B C"),
        ("zero\u200bwidth \u202eback\u202c so\u00adft \ufeffx", "zerowidth back soft x"),
        ("bell\x07 null\x00 \ud83d half \ufffd", "bell null half"),
        ("1️⃣ one 👨‍👩‍👧 🇫🇷 👍🏽 ❤️", "1 one"),
        ("tab\there\u00a0and\u2003there\r\nnext", "tab here and there next"),
    ],
)
def test_escapes_control_characters_and_emoji_are_dropped(text: str, spoken: str) -> None:
    assert say(text) == spoken


SILENT = [
    "",
    "   ",
    "\n",
    "...",
    "—",
    "?!",
    "🙂",
    "**",
    "…",
    "---",
    "* * *",
    "```",
    "`",
    "<br>",
    "()",
    "- ",
    "#",
    "\x1b[2J",
    "\u200b",
    "👍 🎉!",
    '""',
]


@pytest.mark.parametrize("text", SILENT)
def test_nothing_to_say_is_the_empty_text(text: str) -> None:
    assert Speakable().spoken(text) == ""


def test_silent_clauses_do_not_disturb_the_next_one() -> None:
    for text in SILENT:
        if text not in ("```", "<br>"):
            assert say(text, "\nHello there.") == "Hello there."


def is_odd(character: str) -> bool:
    if character == "°":  # other languages read it
        return False
    return character in "*#`|\\{}[]<>^~_" or unicodedata.category(character) in ("Cc", "Cs", "So", "Sk", "Co", "Cn")


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), max_size=4))
def test_no_text_raises_or_lets_marks_through(clauses: list[str]) -> None:
    speakable = Speakable()
    for clause in clauses:
        spoken = speakable.spoken(clause)
        assert not [character for character in spoken if is_odd(character)]
        assert spoken == spoken.strip()
        assert not spoken or any(character.isalnum() for character in spoken)


PIECES = [
    "word ",
    "**",
    "# ",
    "\n",
    "- ",
    "`",
    "```",
    "~~~\n",
    "<b>",
    "<",
    "3.14 ",
    "$5 ",
    "Hi. ",
    "[a](b) ",
    "| ",
    "x",
    "_",
    "&",
    "今天。",
    "🙂 ",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_what_is_said_does_not_depend_on_the_tokens(pieces: list[str]) -> None:
    assert reply(*pieces) == reply(*"".join(pieces)) == reply("".join(pieces))


WORDS = ["yes", "I", "can", "do", "that", "for", "you", "today", "it's", "fine", "naïve"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=60))
def test_plain_words_are_said_once_and_in_order(words: list[str]) -> None:
    assert reply(*[f" {word}" for word in words]).replace(" | ", " ").split() == words
