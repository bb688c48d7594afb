"""What a voice says of short forms, measures and comparisons: as a person would, without a sentence's end in a name."""

import pytest

from tests.absent import need_package
from tests.rules.test_speakable import reply, say

NAMES = "Dr. Lee met Mrs. Ito at 9:30 a.m. near St. Anne. They left the U.S. office, e.g. by cab. J. R. Ray paid."


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        (
            NAMES,
            "Doctor Lee met Missis Ito at nine thirty a.m. near Saint Anne. They left the U.S. office, e.g. by cab. "
            "J R Ray paid.",
        ),
        ("Mr. & Mrs. Fox, Ms. Doe and Prof. Ada.", "Mister and Missis Fox, Miz Doe and Professor Ada."),
        ("The U.S. Army and J.R.R. Tolkien.", "The U S Army and J R R Tolkien."),
        ("I was born in the U.S. He was not.", "I was born in the U.S. He was not."),
        ("He works at Acme Inc. She works at Foo Ltd. in Old Town.",
         "He works at Acme Inc. She works at Foo Ltd in Old Town."),
        ("On Main St. in St. Louis. By 5th Ave. It rains.",
         "On Main Street in Saint Louis. By fifth Avenue. It rains."),
        ("Plan B. Then vitamin C. It helps.", "Plan B. Then vitamin C. It helps."),
        ("See No. 5, p. 7, Fig. 2 and vol. 3 vs. theirs, etc. And so on.",
         "See number 5, page 7, figure 2 and volume 3 versus theirs, et cetera. And so on."),
        ("On Jan. 5 and Sept. 9, approx. ten.", "On January 5 and September 9, approximately ten."),
        ("No. I will not. That is no. 5.", "No. I will not. That is number 5."),
        ("World War II, World War I, Chapter IV and Type II.",
         "World War two, World War one, Chapter four and Type two."),
        ("Henry VIII, Louis XIV and Elizabeth II was there.",
         "Henry the eighth, Louis the fourteenth and Elizabeth the second was there."),
        ("Charles and I, Part I can do, an IV drip, XX, Xi, X and a vitamin.",
         "Charles and I, Part I can do, an IV drip, XX, Xi, X and a vitamin."),
    ],
)  # fmt: skip
def test_short_forms_are_written_out(text: str, spoken: str) -> None:
    assert say(text) == spoken


def test_the_voice_hears_as_many_sentences_as_there_are() -> None:
    need_package("piper")
    from piper.phonemize_espeak import EspeakPhonemizer

    phonemizer = EspeakPhonemizer()
    for text, count in [
        (NAMES, 3),
        ("Ask Gen. Grant, Sen. Ray or Capt. Fox of Acme Inc. at No. 10, vs. Mr. Lee on Jan. 5.", 1),
        ("The U.S. Army and J.R.R. Tolkien, a Ph.D. or so, approx. 5 ft. of it, cf. p. 5.", 1),
        ("It is 5 p.m. now. It weighs 3 lb. and costs $3.50. Done.", 3),
    ]:
        assert len(phonemizer.phonemize("en-us", say(text))) == count, say(text)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("5 km, 1 km, 5km/h, 9.8 m/s², 20 m², 100 mph",
         "5 kilometers, 1 kilometer, 5 kilometers per hour, nine point eight meters per second squared, "
         "20 square meters, 100 miles per hour"),
        ("5-10 lbs. of it, a 10-km run, 2.5–5 kg",
         "5 to 10 pounds of it, a 10 kilometer run, two point five to 5 kilograms"),
        ("In 5 min. we go, 3 hrs. later, 120 ms, 16 GB.",
         "In 5 minutes we go, 3 hours later, 120 milliseconds, 16 gigabytes."),
        ("It took 5 min. We left.", "It took 5 minutes. We left."),
        ("10 m away, 3 in a row, 10s, model M3 and 5G", "10 m away, 3 in a row, 10s, model M3 and 5G"),
        ("6'2\" tall, 3 ft", "6 foot 2 tall, 3 feet"),
        ("the 1990s, the '60s, 90's, in her 80s, 2000s",
         "the nineteen nineties, the 'sixties, nineties, in her eighties, two thousands"),
        ("2^10, x^2, 10^-6, 10⁶, 6.02×10^23, 1.5e-3, e^x, √2",
         "2 to the ten, x squared, 10 to the minus six, 10 to the six, six point zero two times 10 "
         "to the twenty three, one point five times 10 to the minus three, e to the x, the square root of 2"),
        ("5/8, 2/5, 1 3/4, ⅝, 24/7, 9/11, 8/10, 10/2 = 5",
         "five eighths, two fifths, one and three quarters, five eighths, 24 7, 9 11, 8 out of 10, "
         "10 divided by 2 equals 5"),
    ],
)  # fmt: skip
def test_measures_are_said_in_full(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Call 555-0199 or (555) 123-4567.",
         "Call five five five, zero one nine nine or five five five, one two three, four five six seven."),
        ("1-800-555-0199", "one, eight zero zero, five five five, zero one nine nine"),
        ("+49 30 1234567 or 0171 2345678",
         "plus four nine, three zero, one two three four five six seven "
         "or zero one seven one, two three four five six seven eight"),
        ("Dial 911, your code is 4829, order #12345678",
         "Dial nine one one, your code is four eight two nine, order one two three four five six seven eight"),
        ("4111 1111 1111 1111", "four one one one, one one one one, one one one one, one one one one"),
        ("100-200 pages, 500-1000 words, 1990-1999, 1-2-3, $911",
         "100 to 200 pages, 500 to 1000 words, 1990 to 1999, 1-2-3, nine hundred eleven dollars"),
    ],
)  # fmt: skip
def test_what_is_dialled_is_said_digit_by_digit(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<5% of it, over >90%, ≤ 5, >= 3.5",
         "less than five percent of it, over greater than ninety percent, less than or equal to 5, "
         "greater than or equal to three point five"),
        ("~$5, ~3.5 hours, ≈3.14", "about five dollars, about three point five hours, about three point one four"),
        ("10%-20%, 20°C–25°C, 3.5-4.5, 3—5",
         "ten percent to twenty percent, twenty degrees Celsius to twenty five degrees Celsius, "
         "three point five to four point five, 3 to 5"),
        ("9:00 AM - 5:00 PM, 10.30 a.m.", "nine AM to five PM, ten thirty a.m."),
        ("5 - 3 = 2, 5-3=2, GPT-4.1", "5 minus 3 equals 2, 5 minus 3 equals 2, GPT-four point one"),
    ],
)  # fmt: skip
def test_ranges_and_comparisons_before_any_figure(text: str, spoken: str) -> None:
    assert say(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("A$5.50, C$7, $-5, 10$", "five dollars and fifty cents, seven dollars, minus five dollars, ten dollars"),
        ("19.99 USD or EUR 5.50", "nineteen dollars and ninety nine cents or five euros and fifty cents"),
        ("$1.5–2 million, $5K-$10K, $2T",
         "one point five to two million dollars, five to ten thousand dollars, two trillion dollars"),
        ("$19.99–$29.99", "nineteen dollars and ninety nine cents to twenty nine dollars and ninety nine cents"),
        ("€1.000, ₩5000, ₽1", "one thousand euros, five thousand won, one ruble"),
        ("2024-05-06T10:20:30Z, 06.05.2024, 12-25-2024, 2024/05/06",
         "May sixth, 2024 at ten twenty and thirty seconds, May sixth, 2024, December twenty fifth, 2024, "
         "May sixth, 2024"),
        ("Python 3.12, version 1.10, 1.000.000, 2.0.0rc1",
         "Python three point twelve, version one point ten, one million, two point zero point zero rc1"),
    ],
)  # fmt: skip
def test_amounts_dates_and_versions_of_other_makes(text: str, spoken: str) -> None:
    assert say(text) == spoken


def test_a_dash_between_figures_is_no_place_to_cut() -> None:
    assert reply(*"It will take you 3—5 days, and so on.") == "It will take you 3 to 5 days, | and so on."
