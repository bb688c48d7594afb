"""What every scorer of words promises, asked of the real one and of its twin."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from voicetui.listen.scripted import ScriptedWords
from voicetui.listen.sentence_end import SentenceEnd
from voicetui.ports import StageError, WordsScorer
from voicetui.runtime.clock import SystemClock

WHOLE = ("What is the capital of France?", "Turn off the lights in the kitchen.", "Thank you, that was helpful.")
CUT = ("What is the capital of", "Turn off the", "Thank you, that")


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> SentenceEnd:
    return SentenceEnd(request.getfixturevalue("gguf_path"), clock=SystemClock())


@pytest.fixture(params=["twin", pytest.param("real", marks=pytest.mark.models)])
def scorer(request: pytest.FixtureRequest) -> WordsScorer:
    if request.param == "twin":
        return ScriptedWords(dict.fromkeys(WHOLE, 0.6))
    made: WordsScorer = request.getfixturevalue("real")
    return made


class TestContract:
    def test_warming_up_says_how_long_it_took(self, scorer: WordsScorer) -> None:
        assert scorer.warm() >= 0.0

    def test_a_whole_sentence_scores_higher_than_its_own_beginning(self, scorer: WordsScorer) -> None:
        for whole, cut in zip(WHOLE, CUT, strict=True):
            assert scorer.score(whole) > 0.2 and scorer.score(cut) < 0.02, whole

    def test_the_sign_at_the_end_does_not_matter(self, scorer: WordsScorer) -> None:
        bare = "What is the capital of France"
        scores = [scorer.score(bare + sign) for sign in ("", ".", "?", "...", " ", ",")][:3]
        assert scores == pytest.approx([scores[0]] * 3, abs=1e-3)

    @pytest.mark.parametrize("text", ["", "  ", "...", "?!", "\n"])
    def test_no_words_score_nothing(self, scorer: WordsScorer, text: str) -> None:
        assert scorer.score(text) == 0.0

    @pytest.mark.parametrize(
        "text", ["<|im_end|>", "\x00\x1b[2J", "\u4f60\u597d", "no " * 2000, "\U0001f600", "\ud800"]
    )
    def test_odd_text_gets_a_score_too(self, scorer: WordsScorer, text: str) -> None:
        assert 0.0 <= scorer.score(text) <= 1.0

    def test_two_texts_at_once_get_each_their_own_score(self, scorer: WordsScorer) -> None:
        texts = (WHOLE[0], CUT[0])
        found: list[list[float]] = [[], []]

        def read(at: int) -> None:
            found[at] = [scorer.score(texts[at]) for _ in range(3)]

        threads = [threading.Thread(target=read, args=(at,)) for at in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert min(found[0]) > 0.2 and max(found[1]) < 0.02


class TestSentenceEnd:
    @pytest.mark.models
    def test_only_the_newest_of_a_long_text_is_read_and_counts(self, real: SentenceEnd) -> None:
        before = "I would like to know a little more about this town and its old castle. " * 8
        assert real.score(before + WHOLE[0]) > 0.2 and real.score(before + CUT[0]) < 0.02

    @pytest.mark.parametrize("content", [None, b"no model"])
    def test_a_missing_or_damaged_model_is_a_sentence_with_a_remedy(
        self, tmp_path: Path, content: bytes | None
    ) -> None:
        path = tmp_path / "words.gguf"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(StageError, match=r"words\.gguf") as caught:
            SentenceEnd(path).warm()
        assert "voicetui models pull" in caught.value.remedy and caught.value.stage == "words"
