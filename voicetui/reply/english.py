"""Writing out in English words what is written in figures and signs: money, times, versions, addresses, operators."""

import re
import unicodedata
from collections.abc import Callable

from voicetui.reply.measures import write_measures
from voicetui.reply.money import SIGNS, write_money
from voicetui.reply.numerals import clock_words, integer_words, number_words, ordinal_words
from voicetui.reply.short_forms import write_out

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_INTEGER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
_NUMBER = rf"(?:(?<![\w.])[-−])?(?<![\d.]){_INTEGER}(?:\.\d+)?"
_APART = r"(?<![\w.,])"

_TOP_LEVEL = "com|org|net|edu|gov|mil|io|dev|ai|app|co|uk|de|fr|eu|jp|ru|ch|nl|se|info|biz|xyz|tv|ca|au|br|cn|es|pl"
_SUFFIXES = (
    "py|js|ts|tsx|jsx|mjs|json|jsonl|toml|yaml|yml|md|txt|html|css|csv|pdf|png|jpg|jpeg|gif|svg|exe|sh|rs|go|java|cpp"
    "|hpp|wav|flac|mp3|mp4|zip|gz|tar|log|cfg|ini|env|xml|sql|lock|onnx|gguf|docx|xlsx|pptx"
)


def _host(host: str) -> str:
    host = host.rpartition("@")[2].partition(":")[0].removeprefix("www.")
    return host.replace("-", " dash ").replace(".", " dot ").replace("_", " underscore ")


def _url(match: re.Match[str]) -> str:
    address = match["address"]
    kept = address.rstrip(".,;:!?…'\"*_~)")
    host = re.split(r"[/?#]", kept, maxsplit=1)[0]
    return f" {_host(host)} {address[len(kept) :]}"


def _email(match: re.Match[str]) -> str:
    name = (
        match["name"].replace("-", " dash ").replace(".", " dot ").replace("_", " underscore ").replace("+", " plus ")
    )
    return f"{name} at {_host(match['host'])}"


def _time(match: re.Match[str]) -> str:
    hour, minute, second = int(match["hour"]), int(match["minute"]), match["second"]
    words = integer_words(hour) if match["half"] and not minute else clock_words(hour, minute)
    if second:
        words += f" and {integer_words(int(second))} second{'' if int(second) == 1 else 's'}"
    return words + _half(match["half"])


def _half(half: str | None) -> str:
    """The half of the day, with the space before it; without its full stops it is read as letters."""
    return "" if not half else f" {half.strip()}" if "." in half else f" {half.strip().upper()}"


def _version(match: re.Match[str]) -> str:
    parts = match["parts"].split(".")
    is_address = len(parts) == 4 and all(len(part) < 4 and int(part) < 256 for part in parts)
    words = [
        " ".join(map(number_words, part)) if part[0] == "0" or len(part) > 4 else number_words(part) for part in parts
    ]
    grouped = len(parts) == 3 and parts[1:] == ["000", "000"]
    if grouped:  # a million, as the continent writes it
        return number_words("".join(parts))
    return ("version " if match["v"] else "") + (" dot " if is_address else " point ").join(words) + " "


def _degrees(match: re.Match[str]) -> str:
    number = match["number"]
    scale = {"c": " Celsius", "f": " Fahrenheit"}.get((match["scale"] or "").lower(), "")
    return f"{number_words(number)} degree{'' if number == '1' else 's'}{scale} "


def _range(match: re.Match[str]) -> str:
    return f"{match[1] or match[2]} to "


def _date(match: re.Match[str]) -> str:
    month, day = int(match["month"]), int(match["day"])
    if month > 12 and match["sign"] in "/-.":
        month, day = day, month
    if not (0 < month < 13 and 0 < day < 32):
        return match[0]
    return f"{_MONTHS[month - 1]} {ordinal_words(day)}, {match['year']}"


def _fraction(match: re.Match[str]) -> str:
    upper, lower = map(int, unicodedata.normalize("NFKD", match["part"]).replace("\u2044", "/").split("/"))
    if not _is_spoken(upper, lower):
        return match[0]
    if upper == 1:
        words = f"{'an' if lower == 8 else 'a'} {_PARTS.get(lower, ordinal_words(lower))}"
    else:
        words = f"{integer_words(upper)} {_PARTS.get(lower, ordinal_words(lower))}s"
    return f" {number_words(match['whole'])} and {words} " if match["whole"] else f" {words} "


def _is_spoken(upper: int, lower: int) -> bool:
    """Whether people say such a fraction, and not "four out of ten" or a date."""
    return 0 < upper < lower and lower in (2, 3, 4, 5, 6, 7, 8, 9, 16, 32, 64)


_UNITS = {
    "h": "hour",
    "hr": "hour",
    "s": "second",
    "sec": "second",
    "min": "minute",
    "mo": "month",
    "yr": "year",
    "wk": "week",
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_PARTS = {2: "half", 4: "quarter"}
_VULGAR = "¼½¾⅐⅑⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_HALF = r"(?P<half>\s?(?:[aApP]\.[mM]\.|[aApP][mM]\b))"

_ADDRESSES: list[Rule] = [
    (re.compile(r"\bmailto:", re.IGNORECASE), ""),
    (re.compile(r"\b(?:[a-z][a-z0-9+.-]{1,15}://|(?=www\.))(?P<address>[^\s<>\"`|\\^{}\[\]]+)", re.IGNORECASE), _url),
    (re.compile(r"(?<![\w.+-])(?P<name>[^\W_][\w.+-]*)@(?P<host>[\w-]+(?:\.[\w-]*\w)+)"), _email),
    (
        re.compile(
            rf"(?<![\w@./-])(?P<address>(?:[a-z0-9][a-z0-9-]*\.)+(?:{_TOP_LEVEL})\b(?!\.?\w)(?:[/:][^\s<>\"]*)?)", re.I
        ),
        _url,
    ),
    (re.compile(rf"(?<=[\w-])\.(?=(?:{_SUFFIXES})\b(?!\.\w))"), " dot "),
]
_GLUED: list[Rule] = [
    (re.compile(r"(?<=\d)([.])(?=[^\W\d_a-z])"), r"\1 "),
    (re.compile(r"(?<=[^\W\d_][^\W\d_])([.])(?=[^\W\d_a-z][^\W\d_A-Z]|[AI]\b)"), r"\1 "),
    (re.compile(r"(?<=[^\W\d_]{3})([.])(?=[a-z]{2})"), r"\1 "),
    (re.compile(r"(?<=[\w)\"”’])([!?,;…])(?=[^\W\d_])"), r"\1 "),
]
_DAY = r"(?P<day>\d\d?)"
_MONTH = r"(?P<month>\d\d?)"
_YEAR = r"(?P<year>(?:1[6-9]|20)\d\d)"
_VALUE = rf"[-−]?[{SIGNS}]?\.?\d"
_DATES: list[Rule] = [
    (re.compile(r"(?<![\w-])(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?Z?(?![\w:+-])"), r"\1 at \2"),
    (re.compile(r"(?<![\w-])(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d)(?![\w-])"), _date),
    (re.compile(rf"(?<![\w/-]){_MONTH}(?P<sign>[/-]){_DAY}(?P=sign){_YEAR}(?![\w/-])"), _date),
    (re.compile(rf"(?<![\w.]){_DAY}(?P<sign>\.){_MONTH}\.{_YEAR}(?!\w|\.\d)"), _date),
    (re.compile(r"(?<![\w.:,])(\d\d?)\.([0-5]\d)(?=\s?(?:[ap]\.m\.|[ap]m\b))", re.IGNORECASE), r"\1:\2"),
    (
        re.compile(
            r"(:\d\d(?:\s?[ap]\.?m\b\.?)?|\d\s?[ap]\.?m\b\.?)\s?[-–—]\s?(?=\d{1,2}(?::\d\d|\s?[ap]\.?m\b))", re.I
        ),
        r"\1 to ",
    ),
]
_BEFORE_FIGURES: list[Rule] = [
    (re.compile(rf"(?<!\w)[~≈]\s?(?={_VALUE})"), "about "),
    (re.compile(rf"(?<![<=])(?:<=|≤)\s?(?={_VALUE})"), " less than or equal to "),
    (re.compile(rf"(?<![>=-])(?:>=|≥)\s?(?={_VALUE})"), " greater than or equal to "),
    (re.compile(rf"(?<![<\w])<\s?(?={_VALUE})"), " less than "),
    (re.compile(rf"(?<![>=\w-])>\s?(?={_VALUE})"), " greater than "),
    (re.compile(r"(?<=\d) ?/ ?(?=\d+ ?=)|(?<=\d) / (?=\d)"), " divided by "),
    (re.compile(r"(?<=\d)-(?=\d+ ?=)"), " minus "),
]
_RANGES: list[Rule] = [
    (re.compile(r"(?<=\d)/(?=100?(?![\w/]|[.,]\d))"), " out of "),
    (re.compile(r"(?<=[\d%°CF])—(?=\d)"), " to "),
    (re.compile(r"(?<=\d[%°])\s?[-–]\s?(?=\d)|(?<=°[CF])\s?[-–]\s?(?=\d)"), " to "),
    (re.compile(r"(?<![\w.,-])(\d+\.\d+)[-–](?=\d+(?:\.\d+)?(?![\w-]|[.,]\d))"), r"\1 to "),
    (re.compile(r"(?<![\w.,-])(\d+)[-–](?=\d+\.\d+(?![\w.-]))"), r"\1 to "),
    (re.compile(rf"(?<=\d)\s?[-–]\s?(?={_INTEGER}(?:\.\d+)?\s?[%°])"), " to "),
]
_NUMBERS: list[Rule] = [
    (
        re.compile(r"(?:(?<![\w.,/])(?P<whole>\d{1,9})\s)?(?<![\w/.,])(?P<part>\d\d?/\d\d?)(?![\w/]|[.,]\d)"),
        _fraction,
    ),
    (re.compile(rf"(?:(?<![\w.,])(?P<whole>\d{{1,9}})\s?)?(?P<part>[{_VULGAR}])"), _fraction),
    (re.compile(rf"(?P<number>{_NUMBER})\s?°\s?(?P<scale>[CF]\b)?"), _degrees),
    (re.compile(rf"({_NUMBER})\s?%"), lambda match: f"{number_words(match[1])} percent"),
    (
        re.compile(
            rf"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:]){_HALF}?"
        ),
        _time,
    ),
    (
        re.compile(rf"{_APART}(1[0-2]|0?[1-9]){_HALF}"),
        lambda match: integer_words(int(match[1])) + _half(match["half"]),
    ),
    (re.compile(r"(?<![\w.])(?P<v>[vV](?:\.\s?)?)?(?P<parts>\d{1,6}(?:\.\d{1,6}){2,})(?!\.?\d)"), _version),
    (re.compile(r"(?:(?<=[vV]ersion )|(?<=Python ))(?P<v>(?!))?(?P<parts>\d{1,6}\.\d{2,6})(?!\.?\w)"), _version),
    (re.compile(r"(?<![\w.])(?P<v>[vV])(?P<parts>\d{1,6}(?:\.\d{1,6})?)(?!\.?\d)"), _version),
    (
        re.compile(rf"{_APART}({_INTEGER})(?:st|nd|rd|th)\b"),
        lambda match: ordinal_words(int(match[1].replace(",", "")[:15])),
    ),
    (
        re.compile(rf"((?:(?<![\w.)])[-−])?(?<![\w.,]){_INTEGER}\.\d+)(?!\.?\d)"),
        lambda match: f"{number_words(match[1])} ",
    ),
    (re.compile(r"(?<![\w.])\.(\d{1,15})\b"), lambda match: number_words(f"0.{match[1]}").removeprefix("zero ")),
    (re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,]*\d)"), lambda match: match[0].replace(",", "")),
    (re.compile(r"(?<=\d)\s?–\s?(?=\d)"), " to "),
    (re.compile(r"(?<![\w.,-])(\d{1,3})-(?=\d{1,3}(?![\w-]|[.,]\d))|(?<![\w-])(\d{3,4})-(?=\d{4}(?![\w-]))"), _range),
    (re.compile(r"(?<=\d):(?=\d)"), " to "),
]
_OPERATORS: list[Rule] = [
    (re.compile(r"(?<=\w) *(?:×|(?<=\d) ?\*) *(?=\d)"), " times "),
    (re.compile(r"(?<=[\d)]) - (?=[\d(])"), " minus "),
    (re.compile(r"(?<![\w.)])[-−](?=\d)"), " minus "),
    (re.compile(r"\s(?:[-–—]|--|–-)\s|\s?(?:—|--)\s?"), ", "),
    (re.compile(r"(?:<-+|<=+)>"), " "),
    (re.compile(r"\s?(?:-+>|=+>|→|⇒|➔)\s?"), " to "),
    (re.compile(r"(?<=[\s\w)])<=|≤"), " less than or equal to "),
    (re.compile(r"(?<=[\s\w)])>=|≥"), " greater than or equal to "),
    (re.compile(r"(?:^|(?<=[\s\d)]))<(?=[\s\d-])|(?<=\w)<(?=\w)"), " less than "),
    (re.compile(r"(?:^|(?<=[\s\d)]))>(?=[\s\d-])|(?<=\w)>(?=\w)"), " greater than "),
    (re.compile(r"!==?|≠"), " is not "),
    (re.compile(r"(?<=[\w)\]])\s?={1,3}\s?(?=[\w(\[\"'-])"), " equals "),
    (re.compile(r"²"), " squared"),
    (re.compile(r"³"), " cubed"),
    (re.compile(r"(?<=\b[A-GJ])#(?!\w)"), " sharp"),
    (re.compile(r"(?:#|№\s?)(?=\d)"), "number "),
    (re.compile(rf"(?<=\w)/({'|'.join(_UNITS)})\b"), lambda match: f" per {_UNITS[match[1]]}"),
    (
        re.compile(
            r"(?<=\w)/(?=(?:second|minute|hour|day|night|week|month|year|person|user|lb|kg|g|oz|l|L|ml|gal|each)\b)"
        ),
        " per ",
    ),
    (re.compile(r"\s?&\s?"), " and "),
    (re.compile(r"(?<=\w)\+{1,3}(?!\w)"), lambda match: " plus" * len(match[0])),
    (re.compile(r"\s?\+\s?(?=[\w(])"), " plus "),
    (re.compile(r"%"), " percent "),
    (re.compile(r"\s@\s|(?<=\w)@(?=\w)"), " at "),
    (re.compile(r"±"), " plus or minus "),
    (re.compile(r"÷"), " divided by "),
    (re.compile(r"×"), " by "),
    (re.compile(r"°"), " degrees "),
    (re.compile(r"§"), " section "),
]
_ONLY_WORDS = re.compile(r"(?:[A-Za-z'’]+[,.!?;:]?\s+)*[A-Za-z'’]+[,.!?;:…]?")


def spell_out(text: str) -> str:
    """Return `text` with figures and signs in English words; whole numbers and ordinary punctuation stay.

    Extra spaces may be left behind.
    """
    text = write_out(text)
    if _ONLY_WORDS.fullmatch(text):
        return text
    text = _apply(text.replace("℃", "°C").replace("℉", "°F"), _ADDRESSES, _GLUED, _DATES, _BEFORE_FIGURES)
    return _apply(write_measures(_apply(write_money(text), _RANGES)), _NUMBERS, _OPERATORS)


def _apply(text: str, *tables: list[Rule]) -> str:
    for rules in tables:
        for pattern, replacement in rules:
            text = pattern.sub(replacement, text)
    return text
