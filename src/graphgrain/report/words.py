"""Numbers in words that a person reads."""

from __future__ import annotations

from collections.abc import Sequence


def seconds(value: float) -> str:
    """A time, with the unit that suits it.

    Examples
    --------
    >>> from graphgrain.report.words import seconds
    >>> seconds(0.0042), seconds(3.14159), seconds(4088.53)
    ('4.2 ms', '3.14 s', '68.1 min')
    """
    if value >= 60:
        return f"{value / 60:.1f} min"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{1000 * value:.1f} ms" if value < 0.1 else f"{1000 * value:.0f} ms"


def size(value: float) -> str:
    """A number of bytes.

    Examples
    --------
    >>> from graphgrain.report.words import size
    >>> size(1536), size(30_000_000)
    ('1.5 KiB', '28.6 MiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def count(number: int, thing: str) -> str:
    """So many of a thing.

    Examples
    --------
    >>> from graphgrain.report.words import count
    >>> count(1, "kernel"), count(3, "kernel")
    ('1 kernel', '3 kernels')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def listed(words: Sequence[str]) -> str:
    """A list as it stands in a sentence.

    Examples
    --------
    >>> from graphgrain.report.words import listed
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def p_value(p: float) -> str:
    """A p-value.

    Examples
    --------
    >>> from graphgrain.report.words import p_value
    >>> p_value(0.0421), p_value(1e-9)
    ('0.042', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def compared_p(p: float) -> str:
    """A p-value after the letter p.

    Examples
    --------
    >>> from graphgrain.report.words import compared_p
    >>> compared_p(0.0421), compared_p(1e-9)
    ('= 0.042', '< 0.001')
    """
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"
