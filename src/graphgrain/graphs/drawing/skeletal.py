"""Skeletal formulas of molecules, in units of the bond length.

Carbon atoms are drawn as corners, other atoms as symbols with hydrogens and charge on the free
side. Double and triple bonds have two and three lines, the second one inside the ring if there is
one; aromatic rings have an inner circle. Solid wedges point towards the reader, hashed wedges away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .layout import Placed
from .molecule import BOND_ORDERS, Atom, Molecule

#: Font size of symbols, distance between the lines of a bond, and margin around symbols.
FONT_SIZE = 0.46
_SPACING = 0.17
_FREE = 0.06
#: Height of capitals, and widths of characters, in units of the font size (Helvetica).
_CAPITAL = 0.716
_WIDTHS = {"I": 0.278, "l": 0.222, "i": 0.222, "r": 0.333, "t": 0.278, "f": 0.278, "O": 0.778}
_WIDTHS |= {"Q": 0.778, "G": 0.778, "F": 0.611, "T": 0.611, "Z": 0.611, "L": 0.556, "M": 0.833}
_WIDTHS |= {"S": 0.667, "P": 0.667, "B": 0.667, "A": 0.667, "E": 0.667, "V": 0.667, "W": 0.944}
_WIDTHS |= {"m": 0.833, "+": 0.584, "\u2212": 0.584, "\u2022": 0.35, "*": 0.389, "(": 0.333}
_WIDTHS |= {")": 0.333, "c": 0.5, "s": 0.5, "y": 0.5, "k": 0.5}


class Glyphs(NamedTuple):
    """A text whose baseline starts at (x, y)."""

    x: float
    y: float
    text: str
    size: float

    @property
    def width(self) -> float:
        return self.size * sum(
            _WIDTHS.get(sign, 0.722 if sign.isupper() else 0.556) for sign in self.text
        )


class Formula(NamedTuple):
    """A drawing in units of the bond length, with the second coordinate pointing down."""

    lines: list[tuple[float, float, float, float]]
    dashes: list[tuple[float, float, float, float]]
    wedges: list[list[tuple[float, float]]]
    circles: list[tuple[float, float, float]]  # centre and radius, inside aromatic rings
    texts: list[Glyphs]
    line_bonds: list[int]  # bond of each line, -1 for the lines of hashed wedges


def draw_formula(placed: Placed) -> Formula:
    """Draw the skeletal formula of a molecule with coordinates."""
    return _FormulaDrawing(placed).formula()


class _FormulaDrawing:
    def __init__(self, placed: Placed) -> None:
        assert placed.molecule is not None
        self.placed = placed
        self.molecule: Molecule = placed.molecule
        self.neighbours = self.molecule.neighbours
        self.points = placed.points
        self.drawn = Formula([], [], [], [], [], [])
        self.boxes: dict[int, list[tuple[float, float, float, float]]] = {}
        self.rings = self.molecule.rings()

    def formula(self) -> Formula:
        wedged = {start for start, _ in self.placed.wedges.values()}
        for vertex, atom in enumerate(self.molecule.atoms):
            if self._is_written(vertex, atom):
                self._write(vertex, atom)
        for vertex, atom in enumerate(self.molecule.atoms):
            if atom.stereo and vertex not in wedged:
                self._note(self.points[vertex], f"({atom.stereo})")
        circled = self._circles()
        for bond in range(len(self.molecule.pairs)):
            self._bond(bond, circled)
        return self.drawn

    # ---------------------------------------------------------------- atoms

    def _is_written(self, vertex: int, atom: Atom) -> bool:
        own = self.neighbours[vertex]
        if atom.symbol != "C" or atom.charge or atom.isotope or atom.radicals or not own:
            return True
        doubles = [bond for bond in own.values() if self.molecule.kinds[bond] == "double"]
        if len(doubles) == 2 and len(own) == 2:
            return True  # the central atom of an allene, where no corner is visible
        return len(own) == 1 and all(len(self.neighbours[other]) == 1 for other in own)

    def _write(self, vertex: int, atom: Atom) -> None:
        x, y = self.points[vertex].tolist()
        small = 0.7 * FONT_SIZE
        base = y + FONT_SIZE * _CAPITAL / 2
        width = Glyphs(0, 0, atom.symbol, FONT_SIZE).width
        left = x - width / 2
        right = left + width
        pieces = [Glyphs(left, base, atom.symbol, FONT_SIZE)]
        if atom.hydrogens:
            count = str(atom.hydrogens) if atom.hydrogens > 1 else ""
            letter = Glyphs(0, 0, "H", FONT_SIZE).width
            wide = letter + Glyphs(0, 0, count, small).width
            side, level = self._free_side(vertex), base
            if side == "right":
                start, right = right, right + wide
            elif side == "left":
                start = left = left - wide
            else:
                start = x - letter / 2
                level += (1.0 if side == "below" else -1.0) * 0.85 * FONT_SIZE
            pieces.append(Glyphs(start, level, "H", FONT_SIZE))
            if count:
                pieces.append(Glyphs(start + letter, level + 0.16 * FONT_SIZE, count, small))
        above = "\u2022" * atom.radicals
        if atom.charge:  # written as 2+, with a typographic minus sign
            size = str(abs(atom.charge)) if abs(atom.charge) > 1 else ""
            above = size + ("+" if atom.charge > 0 else "\u2212") + above
        if above:
            pieces.append(Glyphs(right + 0.01, base - 0.38 * FONT_SIZE, above, small))
        if atom.isotope:
            mass = Glyphs(0, 0, str(atom.isotope), small)
            pieces.append(mass._replace(x=left - mass.width, y=base - 0.38 * FONT_SIZE))
        self.drawn.texts.extend(pieces)
        self.boxes[vertex] = [
            (
                piece.x - _FREE,
                piece.y - _CAPITAL * piece.size - _FREE,
                piece.x + piece.width + _FREE,
                piece.y + _FREE,
            )
            for piece in pieces
        ]

    def _free_side(self, vertex: int) -> str:
        """Return the side for hydrogens: furthest from all bonds, preferably right or left."""
        sides = {"right": 0.0, "left": np.pi, "below": np.pi / 2, "above": -np.pi / 2}
        ahead = {"right": 0.5, "left": 0.45, "below": 0.0, "above": 0.0}
        angles = [
            float(np.arctan2(*(self.points[other] - self.points[vertex])[::-1]))
            for other in self.neighbours[vertex]
        ]

        def space(side: str) -> float:
            gaps = [abs((angle - sides[side] + np.pi) % (2 * np.pi) - np.pi) for angle in angles]
            return min(gaps, default=np.pi) + ahead[side]

        if not angles:
            symbol = self.molecule.atoms[vertex].symbol
            return "left" if symbol in ("O", "S", "F", "Cl", "Br", "I", "Se", "Te") else "right"
        if len(angles) == 1:
            return max(("right", "left"), key=space)
        return max(sides, key=space)

    def _note(self, point: np.ndarray, text: str) -> None:
        self.drawn.texts.append(
            Glyphs(float(point[0]) + 0.12, float(point[1]) - 0.14, text, 0.6 * FONT_SIZE)
        )

    # ---------------------------------------------------------------- bonds

    def _circles(self) -> set[int]:
        """Draw circles in aromatic rings and return the bonds of these rings."""
        circled = set()
        for ring in self.molecule.aromatic_rings:
            corners = self.points[list(ring)]
            centre = corners.mean(axis=0)
            middles = (corners + np.roll(corners, -1, axis=0)) / 2
            gaps = np.linalg.norm(middles - centre, axis=1)
            if gaps.max() > 1.45 * gaps.min():
                continue  # the ring is distorted
            self.drawn.circles.append((float(centre[0]), float(centre[1]), 0.66 * gaps.min()))
            circled |= {
                self.neighbours[a][b] for a, b in zip(ring, ring[1:] + ring[:1], strict=True)
            }
        return circled

    def _bond(self, bond: int, circled: set[int]) -> None:
        kind = self.molecule.kinds[bond]
        first, second = self.molecule.pairs[bond]
        if bond in self.placed.wedges:
            self._wedge(bond, *self.placed.wedges[bond])
            return
        order = BOND_ORDERS[kind]
        if kind == "aromatic":
            self._line(bond, first, second, 0.0)
            if bond not in circled:
                self._line(bond, first, second, self._inner_side(bond), dashed=True, inner=True)
        elif order == 0:
            self._line(bond, first, second, 0.0, dashed=True)
        elif order == 2 and (side := self._inner_side(bond)):
            self._line(bond, first, second, 0.0)
            self._line(bond, first, second, side, inner=True)
        else:
            lines = int(np.ceil(order))
            for number in range(lines):
                dashed = number == lines - 1 and order != lines
                self._line(bond, first, second, number - (lines - 1) / 2, dashed=dashed)
        if self.molecule.stereo[bond] and not self.placed.stereo_shown:
            middle = (self.points[first] + self.points[second]) / 2
            self._note(middle, f"({self.molecule.stereo[bond]})")

    def _inner_side(self, bond: int) -> float:
        """Return the side of the second line, 1 or -1; 0 if both lines are off-centre."""
        first, second = self.molecule.pairs[bond]
        rings = [ring for ring in self.rings if first in ring and second in ring]
        if rings:
            # prefer rings that are not aromatic, as those have a circle, and then smaller rings
            aromatic = self.molecule.aromatic_rings
            best = max(rings, key=lambda ring: (ring not in aromatic, -len(ring)))
            return self._side(bond, self.points[list(best)].mean(axis=0))
        others = [
            other
            for end in (first, second)
            for other in self.neighbours[end]
            if other not in (first, second)
        ]
        if not others or (
            any(len(self.neighbours[end]) == 1 for end in (first, second)) and len(others) != 1
        ):
            return 0.0
        sides = [self._side(bond, self.points[other]) for other in others]
        if len(others) == 1:
            end = first if len(self.neighbours[first]) == 1 else second
            return sides[0] if self.molecule.atoms[end].symbol == "C" else 0.0
        if len(others) == 4:
            return 0.0 if abs(sum(sides)) == 0 and sides[0] == sides[1] else sides[0]
        total = sum(sides)
        return float(np.sign(total)) if total else sides[0]

    def _side(self, bond: int, point: np.ndarray) -> float:
        first, second = self.molecule.pairs[bond]
        along = self.points[second] - self.points[first]
        away = point - self.points[first]
        return 1.0 if along[0] * away[1] - along[1] * away[0] > 0 else -1.0

    def _line(
        self,
        bond: int,
        first: int,
        second: int,
        offset: float,
        dashed: bool = False,
        inner: bool = False,
    ) -> None:
        start, along, across, length, begin, stop = self._axis(first, second)
        if length < 1e-9:
            return
        shift = across * offset * _SPACING
        if inner:
            begin = max(begin, 0.16 if len(self.neighbours[first]) > 1 else 0.0)
            stop = min(stop, length - (0.16 if len(self.neighbours[second]) > 1 else 0.0))
        if stop <= begin:
            begin, stop = 0.35 * length, 0.65 * length
        a, b = start + shift + along * begin, start + shift + along * stop
        target = self.drawn.dashes if dashed else self.drawn.lines
        target.append((*a.tolist(), *b.tolist()))
        if not dashed:
            self.drawn.line_bonds.append(bond)

    def _axis(self, first: int, second: int) -> tuple[Any, ...]:
        """Return start, direction, normal and length of a bond, and the range to draw."""
        start, end = self.points[first], self.points[second]
        length = float(np.linalg.norm(end - start))
        along = (end - start) / (length or 1.0)
        begin = self._end_of_text(first, start, along, length)
        stop = length - self._end_of_text(second, end, -along, length)
        return start, along, np.array([-along[1], along[0]]), length, begin, stop

    def _end_of_text(
        self, vertex: int, point: np.ndarray, along: np.ndarray, length: float
    ) -> float:
        """Return the length of a bond that is hidden so that it does not touch its atom's text."""
        reach = 0.0
        for x1, y1, x2, y2 in self.boxes.get(vertex, ()):
            enter, leave = 0.0, length
            for low, high, at, step in (
                (x1, x2, float(point[0]), float(along[0])),
                (y1, y2, float(point[1]), float(along[1])),
            ):
                if abs(step) < 1e-9:
                    if not low <= at <= high:
                        enter, leave = 1.0, 0.0
                    continue
                one, two = (low - at) / step, (high - at) / step
                enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
            if enter <= leave and enter < 0.5 * length:
                reach = max(reach, leave)
        return reach

    def _wedge(self, bond: int, start: int, towards_reader: bool) -> None:
        first, second = self.molecule.pairs[bond]
        end = second if start == first else first
        point, along, across, _, begin, stop = self._axis(start, end)
        tip, base = point + along * begin, point + along * stop
        half = 0.12
        if towards_reader:
            corners = [tip, base + across * half, base - across * half]
            self.drawn.wedges.append([tuple(corner.tolist()) for corner in corners])
            return
        steps = max(4, round(8 * (stop - begin)))
        for number in range(steps):
            share = (number + 0.7) / steps
            middle = tip + (base - tip) * share
            one, two = middle + across * half * share, middle - across * half * share
            self.drawn.lines.append((*one.tolist(), *two.tolist()))
            self.drawn.line_bonds.append(-1)
