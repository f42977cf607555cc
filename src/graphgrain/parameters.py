"""Declaration and validation of estimator parameters, and fits that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from inspect import get_annotations
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeVar, dataclass_transform

from .errors import InvalidParameterError


class Rule(Protocol):
    """A constraint on a value; its string describes the allowed values."""

    def allows(self, value: Any) -> bool: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Whole:
    """An integer from ``low`` to ``high``, or None if ``optional``."""

    low: int = 0
    high: int | None = None
    optional: bool = False

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if not _is_whole(value):
            return False
        return int(value) >= self.low and (self.high is None or int(value) <= self.high)

    def __str__(self) -> str:
        span = (
            f"from {self.low} to {self.high}" if self.high is not None else f"of {self.low} or more"
        )
        return f"an integer {span}" + (", or None" if self.optional else "")


@dataclass(frozen=True)
class Number:
    """A finite number above ``low``, or equal to it if ``closed``."""

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


@dataclass(frozen=True)
class OneOf:
    """One of a few values; ``note`` explains why others are excluded."""

    values: tuple[Any, ...]
    note: str = ""

    def allows(self, value: Any) -> bool:
        return any(
            value is option or (isinstance(value, type(option)) and value == option)
            for option in self.values
        )

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return "one of " + ", ".join(repr(value) for value in self.values) + note


@dataclass(frozen=True)
class Described:
    """A constraint given by its description and a test."""

    words: str
    allows: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.words


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


BOOLEAN = OneOf((True, False))
SHARE = Described(
    "a number above 0 and at most 1",
    lambda v: isinstance(v, Real) and not isinstance(v, bool) and 0.0 < float(v) <= 1.0,
)
#: Number of threads, with the conventions of scikit-learn's ``n_jobs``.
JOBS = Described(
    "None (one, or joblib's setting), a number of threads, or -1 for all cores",
    lambda v: v is None or (_is_whole(v) and int(v) != 0),
)
#: Verbosity level as in scikit-learn, also True and False.
VERBOSITY = Described("an integer of 0 or more", lambda v: isinstance(v, Integral) and int(v) >= 0)
SEED = Described(
    "an integer of 0 or more, or None for a different draw each time",
    lambda v: v is None or (_is_whole(v) and int(v) >= 0),
)

Value = TypeVar("Value")


def parameter(
    rule: Rule | None = None, *, default: Value, kw_only: bool = True, init: bool = True
) -> Value:
    """Declare a parameter of an estimator, with its rule and default.

    With ``init=False`` the value is fixed: the class does not take a parameter of its base class.
    """
    metadata = {} if rule is None else {"rule": rule}
    return field(default=default, kw_only=kw_only, init=init, metadata=metadata)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
class Declared:
    """Base class of estimators whose parameters are declared in the class body.

    ``n_iter: int = parameter(Whole(0), default=5)`` declares the argument of ``__init__``, the
    attribute and the rule. A class may define its own ``__init__``, which its subclasses inherit.
    """

    #: Rule of each parameter.
    parameter_rules: ClassVar[dict[str, Rule]] = {}
    _own_init: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_init = cls._own_init or "__init__" in vars(cls)
        # Annotations without a value, and private ones, are types of attributes, not parameters.
        annotations = get_annotations(cls)
        cls.__annotations__ = {
            name: of for name, of in annotations.items() if name in vars(cls) and name[0] != "_"
        }
        dataclass(init=not cls._own_init, repr=False, eq=False, match_args=False, kw_only=True)(cls)
        cls.__annotations__ = annotations
        rules = dict(cls.parameter_rules)
        for own in fields(cls):  # type: ignore[arg-type]
            rules.pop(own.name, None)
            if own.init and "rule" in own.metadata:
                rules[own.name] = own.metadata["rule"]
        cls.parameter_rules = rules


def check_parameters(owner: Declared) -> None:
    """Raise :class:`InvalidParameterError` for the first parameter that violates its rule."""
    for name, rule in owner.parameter_rules.items():
        value = getattr(owner, name)
        if not rule.allows(value):
            raise InvalidParameterError(
                f"{name} must be {rule}; got {value!r} ({type(value).__name__}). "
                f"Set it with {type(owner).__name__}({name}=...) or set_params({name}=...)."
            )


def check_value(name: str, value: Any, rule: Rule) -> Any:
    """Return the value of an argument, or raise an error if it violates its rule."""
    if not rule.allows(value):
        raise InvalidParameterError(f"{name} must be {rule}; got {value!r}.")
    return value


@contextmanager
def all_or_nothing(estimator: Declared) -> Iterator[None]:
    """Leave an estimator as an earlier fit left it if the fit in this block fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
