"""Extract the README code for type checkers: scripts/readme_code.py build/readme.py"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
#: Lines of an interactive session may be expressions whose value is only shown.
HEADER = "# pyright: strict, reportUnusedExpression=false\n"


def code() -> str:
    """Return the doctest input lines of the README."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return "".join(f"{line[4:]}\n" for line in lines if line[:3] in (">>>", "..."))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(exist_ok=True)
    target.write_text(HEADER + code(), encoding="utf-8")
