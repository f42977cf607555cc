"""Colours of values: a diverging scale that colour-blind readers can tell apart, light and dark.

Positive values are orange, negative ones blue, nothing is the colour of the background. Pages in
both themes carry both colours of everything, through the CSS function ``light-dark``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import InvalidParameterError

_POSITIVE = {"light": (217, 95, 2), "dark": (245, 133, 24)}
_NEGATIVE = {"light": (33, 102, 172), "dark": (72, 149, 239)}
_PAGE = {"light": (255, 255, 255), "dark": (18, 22, 28)}
_INK = {"light": (24, 32, 43), "dark": (232, 236, 242)}
_GREY = {"light": (134, 142, 153), "dark": (122, 132, 145)}
_SOFT = {"light": (83, 96, 114), "dark": (163, 174, 189)}

#: Themes of a picture: one of both, as the system says, or as the page around it says.
THEMES = ("light", "dark", "auto", "page")


def check_theme(theme: str) -> None:
    if theme not in THEMES:
        raise InvalidParameterError(f"theme must be one of {', '.join(THEMES)}; got {theme!r}.")


@dataclass(frozen=True)
class Palette:
    """The colours of one picture, as CSS."""

    theme: str

    @property
    def page(self) -> str:
        return self._both(_PAGE)

    @property
    def ink(self) -> str:
        return self._both(_INK)

    @property
    def soft(self) -> str:
        return self._both(_SOFT)

    @property
    def grey(self) -> str:
        """Of what is there but is not what the picture is about."""
        return self._both(_GREY)

    @property
    def root_style(self) -> str:
        """What the outermost element needs so that the colours mean what they should."""
        scheme = "color-scheme:light dark;" if self.theme == "auto" else ""
        return f"{scheme}background:{self.page};color:{self.ink}"

    def of(self, strength: float) -> str:
        """The colour of a value between -1 and 1.

        Examples
        --------
        >>> from graphgrain.graphs.drawing.colours import Palette
        >>> Palette("light").of(0.0), Palette("light").of(1.0)
        ('#ffffff', '#d95f02')
        """
        strength = max(-1.0, min(1.0, strength))
        ends = _POSITIVE if strength > 0 else _NEGATIVE
        amount = abs(strength)
        mixed = {
            theme: tuple(
                round(amount * high + (1 - amount) * low)
                for low, high in zip(_PAGE[theme], ends[theme], strict=True)
            )
            for theme in _PAGE
        }
        return self._both(mixed)

    def _both(self, colours: Mapping[str, tuple[int, ...]]) -> str:
        if self.theme in colours:
            return _hex(colours[self.theme])
        return f"light-dark({_hex(colours['light'])},{_hex(colours['dark'])})"


def _hex(colour: tuple[int, ...]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)
