"""Rules for the parameters of estimators: what each may be, checked in one place at fit time."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

from .errors import InvalidParameterError


class Rule(Protocol):
    """Says whether a value is allowed, and in words which ones are."""

    def allows(self, value: Any) -> bool: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Whole:
    """An integer of at least ``low``, at most ``high``; None too if ``optional``."""

    low: int = 0
    high: int | None = None
    optional: bool = False

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if not isinstance(value, Integral) or isinstance(value, bool):
            return False
        return int(value) >= self.low and (self.high is None or int(value) <= self.high)

    def __str__(self) -> str:
        span = (
            f"from {self.low} to {self.high}" if self.high is not None else f"of {self.low} or more"
        )
        return f"an integer {span}" + (", or None" if self.optional else "")


@dataclass(frozen=True)
class Number:
    """A finite number above ``low`` (or equal to it, if ``closed``)."""

    low: float = 0.0
    closed: bool = False
    optional: bool = False

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        number = float(value)
        inside = number >= self.low if self.closed else number > self.low
        return inside and number < float("inf")

    def __str__(self) -> str:
        relation = "of at least" if self.closed else "above"
        return f"a finite number {relation} {self.low:g}" + (", or None" if self.optional else "")


class Share:
    """A number above 0 and at most 1."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) <= 1.0

    def __str__(self) -> str:
        return "a number above 0 and at most 1"


@dataclass(frozen=True)
class OneOf:
    """One of a few values; ``note`` says why others are not among them."""

    values: tuple[Any, ...]
    note: str = ""

    def allows(self, value: Any) -> bool:
        return any(
            value is option or (type(value) is type(option) and value == option)
            for option in self.values
        )

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return "one of " + ", ".join(repr(value) for value in self.values) + note


class Jobs:
    """A number of threads as scikit-learn counts them."""

    def allows(self, value: Any) -> bool:
        return value is None or (
            isinstance(value, Integral) and not isinstance(value, bool) and int(value) != 0
        )

    def __str__(self) -> str:
        return "None (one, or joblib's setting), a number of threads, or -1 for all cores"


class Verbosity:
    """How much to show of the work, as scikit-learn has it: 0 is nothing."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, Integral) and int(value) >= 0

    def __str__(self) -> str:
        return "an integer of 0 or more"


class Seed:
    """What numpy.random.default_rng accepts as a reproducible seed, or None."""

    def allows(self, value: Any) -> bool:
        return value is None or (
            isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0
        )

    def __str__(self) -> str:
        return "an integer of 0 or more, or None for a different draw each time"


BOOLEAN = OneOf((True, False))


def check_parameters(owner: object, rules: dict[str, Rule]) -> None:
    """Raise :class:`InvalidParameterError` for the first parameter that breaks its rule."""
    for name, rule in rules.items():
        value = getattr(owner, name)
        if not rule.allows(value):
            raise InvalidParameterError(
                f"{name} must be {rule}; got {value!r} ({type(value).__name__}). "
                f"Set it with {type(owner).__name__}({name}=...) or set_params({name}=...)."
            )


def check_value(name: str, value: Any, rule: Rule) -> Any:
    """The value of an argument, if it follows its rule."""
    if not rule.allows(value):
        raise InvalidParameterError(f"{name} must be {rule}; got {value!r}.")
    return value
