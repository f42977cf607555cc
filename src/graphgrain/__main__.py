"""``python -m graphgrain`` is the same as ``graphgrain``."""

from .cli import main

main()
