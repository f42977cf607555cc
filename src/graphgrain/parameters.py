"""Parameters of estimators: declared once, with their rules, which are checked at fit time."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from inspect import get_annotations
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeVar, dataclass_transform

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

Value = TypeVar("Value")


def parameter(
    rule: Rule | None = None, *, default: Value, kw_only: bool = True, init: bool = True
) -> Value:
    """A parameter of an estimator: what it may be, and its default.

    With ``init=False`` it is none: a class whose base has the parameter fixes its value.
    """
    metadata = {} if rule is None else {"rule": rule}
    return field(default=default, kw_only=kw_only, init=init, metadata=metadata)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
class Declared:
    """Base class of the estimators whose parameters are declared in the body of the class.

    ``n_iter: int = parameter(Whole(0), default=5)`` is a parameter of ``__init__``, the attribute
    and the rule. A class may write an ``__init__`` of its own, which its subclasses inherit.
    """

    #: What each parameter may be.
    parameter_rules: ClassVar[dict[str, Rule]] = {}
    _own_init: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_init = cls._own_init or "__init__" in vars(cls)
        # An annotation without a value tells the type of what is learned: it is no parameter.
        annotations = get_annotations(cls)
        cls.__annotations__ = {name: of for name, of in annotations.items() if name in vars(cls)}
        dataclass(init=not cls._own_init, repr=False, eq=False, match_args=False, kw_only=True)(cls)
        cls.__annotations__ = annotations
        rules = dict(cls.parameter_rules)
        for own in fields(cls):  # type: ignore[arg-type]
            rules.pop(own.name, None)
            if own.init and "rule" in own.metadata:
                rules[own.name] = own.metadata["rule"]
        cls.parameter_rules = rules


def check_parameters(owner: Declared) -> None:
    """Raise :class:`InvalidParameterError` for the first parameter that breaks its rule."""
    for name, rule in owner.parameter_rules.items():
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
