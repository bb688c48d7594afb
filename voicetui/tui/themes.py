"""The program's own looks: dark, light, the terminal's sixteen colours only, and one safe for colour-blind eyes."""

from __future__ import annotations

from textual.theme import Theme

_INK_NAMES = (
    "strong", "dim", "faint", "you", "reply", "provisional", "rejected", "work", "speculative", "discarded",
    "guide", "mark", "notice", "alert", "conversation", "quick", "workable", "slow", "late", "chosen",
)  # fmt: skip


def _inks(*colours: str) -> dict[str, str]:
    """Theme variables for the inks, in the order of ``_INK_NAMES``."""
    return {f"ink-{name}": colour for name, colour in zip(_INK_NAMES, colours, strict=True)}


DARK = Theme(
    name="voicetui",
    primary="#7aa2f7",
    secondary="#9d8cf2",
    accent="#7dcfff",
    warning="#e5c07b",
    error="#ef7a85",
    success="#6fd3a8",
    foreground="#d6dbe6",
    background="#12151c",
    surface="#181c25",
    panel="#20252f",
    variables=_inks(
        "#f4f6fb", "#8f99ad", "#6b758a", "#7dcfff", "#d7a6ff", "#a9b4c8", "#7c8597", "#7aa2f7", "#6f86bd", "#83748a",
        "#3a4354", "#e5c07b", "#e5c07b", "#ef7a85", "#6fd3a8", "#b6d86b", "#ecc65d", "#f0985c", "#ef6f7b", "#242b38",
    ),
)  # fmt: skip

LIGHT = Theme(
    name="voicetui-light",
    primary="#2f5fc4",
    secondary="#6f4bc7",
    accent="#00708f",
    warning="#8a5a00",
    error="#b3263b",
    success="#14734a",
    foreground="#23272f",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#eae7e0",
    dark=False,
    variables=_inks(
        "#0b0d11", "#5c6470", "#7e838b", "#00708f", "#8432a8", "#5c6470", "#6c727e", "#2f5fc4", "#5f7fcc", "#967f85",
        "#d3cfc7", "#8a5a00", "#8a5a00", "#b3263b", "#14734a", "#4f7200", "#8a6200", "#b04a00", "#b3263b", "#e3e8f2",
    ),
)  # fmt: skip

ANSI = Theme(
    name="voicetui-ansi",
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    accent="ansi_cyan",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "border-blurred": "ansi_bright_black",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_white",
        "input-cursor-background": "ansi_white",
        "input-cursor-foreground": "ansi_black",
        "input-selection-background": "ansi_blue",
        "input-selection-foreground": "ansi_white",
        **_inks(
            "ansi_default", "ansi_bright_black", "ansi_bright_black", "ansi_cyan", "ansi_magenta", "ansi_default",
            "ansi_bright_black", "ansi_blue", "ansi_blue", "ansi_bright_black", "ansi_bright_black", "ansi_yellow",
            "ansi_yellow", "ansi_red", "ansi_green", "ansi_bright_green", "ansi_yellow", "ansi_bright_red", "ansi_red",
            "ansi_default",
        ),
    },
)  # fmt: skip

COLOUR_BLIND = Theme(
    name="voicetui-cvd",
    primary="#56b4e9",
    secondary="#cc79a7",
    accent="#56b4e9",
    warning="#f0e442",
    error="#d55e00",
    success="#56b4e9",
    foreground="#e2e4e8",
    background="#101216",
    surface="#171a20",
    panel="#20242c",
    variables=_inks(
        "#ffffff", "#9aa1ad", "#6b7380", "#56b4e9", "#e0a3c4", "#b4bac5", "#7f8794", "#e2e4e8", "#8f96a3", "#69707d",
        "#3b424e", "#f0e442", "#f0e442", "#e8762c", "#56b4e9", "#8fd0f5", "#f0e442", "#e69f00", "#d55e00", "#252b36",
    ),
)  # fmt: skip
"""Blue to vermilion by way of yellow: the hues of Okabe & Ito, "Color Universal Design" (2008)."""

THEMES: tuple[Theme, ...] = (DARK, LIGHT, ANSI, COLOUR_BLIND)
