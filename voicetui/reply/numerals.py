"""English words for numbers, the way a person reads them out."""

_TEENS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_SMALL = tuple(_TEENS.split())
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LIMIT = 10**15


def integer_words(number: int) -> str:
    """Spell an integer ("one thousand two hundred thirty four"); from 10**15 on, digit by digit."""
    if number < 0:
        return f"minus {integer_words(-number)}"
    if number >= _LIMIT:
        return digit_words(str(number))
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens] + (f" {_SMALL[rest]}" if rest else "")
    for scale, name in _SCALES:
        if number >= scale:
            count, rest = divmod(number, scale)
            return f"{integer_words(count)} {name}" + (f" {integer_words(rest)}" if rest else "")
    raise AssertionError(number)


def digit_words(digits: str) -> str:
    """Spell digits one by one ("three one four"); anything that is no digit is left out."""
    return " ".join(_SMALL[int(digit)] for digit in digits if digit in "0123456789")


def number_words(text: str) -> str:
    """Spell a number written with digits: grouping commas, a sign and decimals are understood."""
    sign = "minus " if text[:1] in ("-", "−") else ""
    whole, _, decimals = text.lstrip("-−").replace(",", "").partition(".")
    # Reading it digit by digit also keeps int() away from absurdly long input.
    words = integer_words(int(whole or "0")) if len(whole) <= 15 else digit_words(whole)
    return sign + words + (f" point {digit_words(decimals)}" if decimals else "")


def ordinal_words(number: int) -> str:
    """Spell an ordinal ("twenty first")."""
    head, space, last = integer_words(number).rpartition(" ")
    if last not in _ORDINALS:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return head + space + _ORDINALS.get(last, last)


def clock_words(hour: int, minute: int) -> str:
    """Spell a time of day without "a.m." or "p.m." ("eight o'clock", "twelve oh five")."""
    if minute == 0:
        if hour == 0:
            return "midnight"
        return integer_words(hour) + (" hundred" if hour > 12 else " o'clock")
    return f"{integer_words(hour)} {'oh ' if minute < 10 else ''}{integer_words(minute)}"
