"""Writing out amounts of money in English words, each as one amount."""

import re
from typing import NamedTuple

from voicetui.reply.numerals import integer_words, number_words

_INTEGER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)"


class _Currency(NamedTuple):
    one: str
    many: str
    cent: str
    cents: str


_CURRENCIES = {
    "$": _Currency("dollar", "dollars", "cent", "cents"),
    "€": _Currency("euro", "euros", "cent", "cents"),
    "£": _Currency("pound", "pounds", "penny", "pence"),
    "¥": _Currency("yen", "yen", "sen", "sen"),
    "₹": _Currency("rupee", "rupees", "paisa", "paise"),
    "₩": _Currency("won", "won", "jeon", "jeon"),
    "₽": _Currency("ruble", "rubles", "kopeck", "kopecks"),
    "₪": _Currency("shekel", "shekels", "agora", "agorot"),
    "₺": _Currency("lira", "lira", "kurush", "kurush"),
    "₴": _Currency("hryvnia", "hryvnias", "kopeck", "kopecks"),
    "฿": _Currency("baht", "baht", "satang", "satang"),
}
SIGNS = "".join(_CURRENCIES)
_CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩"}
_CODE = "|".join(_CODES)
_LETTERS = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "t": "trillion"}
_SCALE = r"(?:\s?(?:thousand|million|billion|trillion|bn|mn)\b|[kKmMbBtT]\b)"
_AMOUNT = rf"(?:{_INTEGER}(?:\.\d+)?|\.\d+)"

_CODE_BEFORE = re.compile(rf"\b(?P<code>{_CODE})\s?(?=\d)")
_CODE_AFTER = re.compile(rf"(?<![\d.,{SIGNS}])(?P<number>{_AMOUNT})\s?(?P<code>{_CODE})\b")
_CONTINENTAL = re.compile(
    rf"(?<![\d.,])\d{{1,3}}(?:\.\d{{3}})+,\d\d(?![\d,])|(?<=[{SIGNS}])\d+,\d\d(?![\d,])"
    r"|(?<=€)\d{1,3}(?:\.\d{3})+(?!\d|[.,]\d)|(?<![\d.,])\d{1,3}(?:\.\d{3})+(?=\s?€)"
)
_CENTS = re.compile(rf"(?P<whole>{_INTEGER})\s?¢")
_RANGE = re.compile(
    rf"(?<!\w)(?P<sign>[{SIGNS}])(?P<first>{_AMOUNT})(?P<one>{_SCALE})?(?:\s?[–—]\s?|-|\s-\s(?=[{SIGNS}]))"
    rf"(?P=sign)?(?P<last>{_AMOUNT})(?P<two>{_SCALE})?(?![\d-]|[.,]\d)"
)
_BEFORE = re.compile(
    rf"(?P<minus>(?<!\w)[-−])?(?:\b(?:US|CA|AU|NZ|HK|SG|[ACS]))?(?P<sign>[{SIGNS}])\s?(?P<less>[-−])?"
    rf"(?P<number>{_AMOUNT})(?P<scale>{_SCALE})?"
)
_AFTER = re.compile(
    rf"(?P<minus>(?<![\w.])[-−])?(?<![\d.,])(?P<number>{_INTEGER}(?:[.,]\d\d)?)\s?(?P<sign>[{SIGNS[1:]}])(?!\w)"
    rf"|(?:(?<=\s)|(?<=\()|^)(?P<dollars>{_INTEGER}(?:\.\d\d)?)\$(?![\w$])"
)


def write_money(text: str) -> str:
    """Return English ``text`` with amounts of money in words."""
    text = _CODE_BEFORE.sub(lambda match: _CODES[match["code"]], text)
    text = _CODE_AFTER.sub(lambda match: _CODES[match["code"]] + match["number"], text)
    text = _CONTINENTAL.sub(lambda match: match[0].replace(".", "").replace(",", "."), text)
    text = _CENTS.sub(lambda match: f"{number_words(match['whole'])} cents", text)
    text = _RANGE.sub(_range, text)
    text = _BEFORE.sub(_before, text)
    return _AFTER.sub(_after, text)


def _before(match: re.Match[str]) -> str:
    sign = "minus " if match["minus"] or match["less"] else ""
    return sign + _amount(match["number"].replace(",", ""), match["scale"] or "", _CURRENCIES[match["sign"]])


def _after(match: re.Match[str]) -> str:
    number = re.sub(r",(?=\d\d\Z)", ".", match["number"] or match["dollars"]).replace(",", "")
    return ("minus " if match["minus"] else "") + _amount(number, "", _CURRENCIES[match["sign"] or "$"])


def _range(match: re.Match[str]) -> str:
    """ "five to ten dollars", or both amounts in full where they have cents."""
    currency, one, two = _CURRENCIES[match["sign"]], match["one"] or "", match["two"] or ""
    first, last = match["first"].replace(",", ""), match["last"].replace(",", "")
    if not two and (one or "." in first + last):
        return f"{_amount(first, one, currency)} to {_amount(last, two, currency)}"
    lower = number_words(first) + (f" {_scale(one)}" if one and _scale(one) != _scale(two) else "")
    return f"{lower} to {number_words(last)} {_scale(two)} {currency.many}".replace("  ", " ")


def _amount(number: str, scale: str, currency: _Currency) -> str:
    whole, _, cents = number.partition(".")
    if scale or len(cents) > 2 or len(whole) > 15:
        return f"{number_words(number)} {_scale(scale)} {currency.many}".replace("  ", " ")
    units, small = int(whole or "0"), int(cents.ljust(2, "0"))
    parts = [f"{integer_words(units)} {currency.one if units == 1 else currency.many}"] if units or not small else []
    if small:
        parts.append(f"{integer_words(small)} {currency.cent if small == 1 else currency.cents}")
    return " and ".join(parts)


def _scale(scale: str) -> str:
    scale = scale.strip().lower()
    return _LETTERS.get(scale, scale)
