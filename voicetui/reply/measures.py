"""Writing out in English words what is measured or dialled: units, phone numbers, powers, decades."""

import re

from voicetui.reply.numerals import digit_words, integer_words

_FORMS = {
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "kg": "kilogram", "mg": "milligram", "lb": "pound",
    "lbs": "pound", "oz": "ounce", "yd": "yard", "mi": "mile", "ml": "milliliter", "mL": "milliliter",
    "tbsp": "tablespoon", "tsp": "teaspoon", "ms": "millisecond", "µs": "microsecond", "μs": "microsecond",
    "ns": "nanosecond", "sec": "second", "secs": "second", "min": "minute", "mins": "minute", "h": "hour",
    "hr": "hour", "hrs": "hour", "yr": "year", "yrs": "year", "wk": "week", "KB": "kilobyte", "kB": "kilobyte",
    "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "dB": "decibel", "kW": "kilowatt", "kWh": "kilowatt hour",
    "mAh": "milliamp hour", "kcal": "kilocalorie", "sq ft": "square foot",
}  # fmt: skip
_FIXED = {
    "ft": ("foot", "feet"), "sq ft": ("square foot", "square feet"), "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"), "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"), "GHz": ("gigahertz", "gigahertz"),
    "kbps": ("kilobit per second", "kilobits per second"), "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"), "fps": ("frame per second", "frames per second"),
    "m": ("meter", "meters"),
}  # fmt: skip
_UNITS = {name: (one, f"{one}s") for name, one in _FORMS.items()} | _FIXED
UNIT_NAMES = frozenset(_UNITS)
_NAMES = "|".join(sorted((name for name in _UNITS if name != "m"), key=len, reverse=True))
_UNIT = re.compile(
    rf"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<apart>\s?|-)(?P<unit>(?:{_NAMES})(?![\w'’])|m(?=/s|²|³))"
    r"(?:\.(?=\s+[a-z]))?(?P<power>[²³])?"
)
_POWERS = {"²": "square ", "³": "cubic ", None: ""}

_GROUP = r"(?:\(\d{3}\)\s?|\d{3}[-. ])"
_PHONE = re.compile(
    rf"(?<![\w.,$€£#/-])(?P<phone>(?:\+?1[-. ])?{_GROUP}\d{{3}}[-. ]\d{{4}}"  # North America
    r"|\d{3}-\d{4}"
    r"|\+\d{1,3}(?:[-. ]?\(?\d{1,4}\)?){2,6}"  # with a country code
    r"|0\d{1,4}(?:[ -]\d{2,8}){1,4}"  # with a trunk zero
    r"|\d{4}(?:[ -]\d{4}){2,3}|\d{3}-\d{2}-\d{4})"  # cards
    r"(?![\w-]|[.,]\d)"
)
_CODE = re.compile(r"(?<=#)\d{5,12}\b|\b((?:code|PIN|zip|ZIP)(?: code)?(?: is|:)? )(\d{3,12})(?![\w-]|[.,]\d)")
_EMERGENCY = re.compile(r"(?<![\w.,$€£-])(?:911|988)(?![\w%°-]|[.,:]\d)")

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"(?<=[\d)])(?:⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[⁰¹²³⁴⁵⁶⁷⁸⁹]{2,}|[⁰¹⁴⁵⁶⁷⁸⁹])")
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?:\s?[x×*]\s?10\s?\^|[eE](?=[-+−]?\d{1,3}\b))\+?")
_POWER = re.compile(r"(?<=[\w)])\s?\^\s?[({]?([-−]?)(\d{1,4}|(?<=\^)[a-z])[)}]?(?!\w)")

_DECADE = re.compile(
    r"(?<![\w.,$-])(?:(?P<century>1[1-9]|20)(?P<tens>\d)0|(?:(?<=['’])|(?<=the )|(?<=mid-)|(?<=early )|(?<=late )|"
    r"(?<=her )|(?<=his )|(?<=their ))(?P<short>[2-9])0)['’]?s\b|(?<![\w.,$-])(?P<plain>[2-9])0['’]s\b"
)
_TENS = (
    "hundreds",
    "tens",
    "twenties",
    "thirties",
    "forties",
    "fifties",
    "sixties",
    "seventies",
    "eighties",
    "nineties",
)
_FEET = re.compile(r"(?<![\w'’.])(\d)['’′]\s?(\d{1,2})[\"”″]")


def write_measures(text: str) -> str:
    """Return English ``text`` with these written out; the numbers before units stay figures."""
    text = _PHONE.sub(_phone, text)
    text = _CODE.sub(lambda match: (match[1] or "") + digit_words(match[2] or match[0]), text)
    text = _EMERGENCY.sub(lambda match: digit_words(match[0]), text)
    text = _SUPERSCRIPT.sub(lambda match: f"^{match[0].translate(_RAISED)}", text)
    text = _SCIENTIFIC.sub(r"\1 times 10^", text)
    text = _UNIT.sub(_unit, text)
    text = _POWER.sub(_power, text)
    text = _FEET.sub(r"\1 foot \2", text)
    text = text.replace("√", " the square root of ")
    return _DECADE.sub(_decade, text)


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match["phone"])
    digits = sum(map(len, groups))
    if digits < 7 or (digits == 7 and groups[-1].endswith("00") and int(groups[0]) < int(groups[-1])):
        return match[0]  # a time table, or a range of round numbers
    return ("plus " if "+" in match["phone"] else "") + ", ".join(map(digit_words, groups))


def _unit(match: re.Match[str]) -> str:
    one, many = _UNITS[match["unit"]]
    single = match["number"] == "1" or match["apart"] == "-"
    return f"{match['number']} {_POWERS[match['power']]}{one if single else many}"


def _power(match: re.Match[str]) -> str:
    power = match[2]
    if not match[1] and power in ("2", "3"):
        return " squared" if power == "2" else " cubed"
    return f" to the {'minus ' if match[1] else ''}{integer_words(int(power)) if power.isdecimal() else power}"


def _decade(match: re.Match[str]) -> str:
    if short := match["short"] or match["plain"]:
        return _TENS[int(short)]
    century, tens = int(match["century"]), int(match["tens"])
    if century == 20 and not tens:
        return "two thousands"
    return f"{integer_words(century)} {_TENS[tens]}"
