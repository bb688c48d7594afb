"""Fences, tags, links, inline code and addresses stay whole when a reply is cut into clauses."""

import pytest

from tests.rules.test_clauses import SENTENCES, cut, feed, stripped
from voicetui.reply.clauses import ClauseCutter


def test_a_code_fence_is_a_clause_of_its_own_however_it_is_cut() -> None:
    pieces = ["Run ", "``", "`py\nprint('a. b')\n", "```", " then stop."]
    assert feed(pieces) == ["Run", " ```py\nprint('a. b')\n```", " then stop."]
    assert cut("".join(pieces)) == feed(pieces)
    for fence in (
        "```\na. b\n\nc.\n```",
        "~~~\na. b\n~~~",
        "````md\n```py\nx. y\n```\n````",
        "```py\nf()```",
        "```x. y```",
    ):
        clauses = cut(f"Do this now:\n{fence}\nThat is all. Bye.")
        assert [clause.strip() for clause in clauses][1] == fence


def test_words_before_a_fence_do_not_wait_for_its_end() -> None:
    cutter = ClauseCutter()
    assert cutter.feed("Run this ```py\nx = 1") == ["Run this"]
    assert cutter.feed("\ny. Z") == []
    assert cutter.close() == [" ```py\nx = 1\ny. Z"]


@pytest.mark.parametrize(
    "unit",
    ['<break time="1.5s"/>', "<a href='x. y, z'>", "<!-- no. cut, here -->", "`a. b, c`", "``a`. b``", "<|im_end|>",
     "[a label, with. Stops](http://u.v/w.x 'A. b')", "![alt. text](x.png)", "[x](http://a.b/c_(d))"],
)  # fmt: skip
def test_tags_links_and_inline_code_are_not_cut(unit: str) -> None:
    text = f"Now we see the thing {unit} and so on. Then {unit} is it. And {unit}."
    for options in (SENTENCES, {}, {"max_chars": 80}):
        assert sum(clause.count(unit) for clause in cut(text, **options)) == 3


def test_addresses_are_not_cut() -> None:
    url = "https://example.com/a,b;c?d=e.f&g=h!#" + "i" * 300
    assert any(url in clause for clause in cut(f"Please see {url}, and then go. Bye."))
    assert any("a.b@c.d.com" in clause for clause in cut("Please write to a.b@c.d.com, or not. Bye."))


@pytest.mark.parametrize(
    "text",
    ["if 3 < 5 then. Stop here now.", "[INST] ok. Yes.", "a ` bee. See dee.", "x <b then stop. Go.", "arr[0]. Then."],
)
def test_marks_that_open_nothing_do_not_hold_the_text_back(text: str) -> None:
    assert len(cut(text, **SENTENCES)) > 1


def test_emphasis_and_bullets_do_not_count_as_words() -> None:
    assert stripped("* * *\n- **Yes**, *it*, does. Good then.")[0] == "* * *\n- **Yes**, *it*, does."
