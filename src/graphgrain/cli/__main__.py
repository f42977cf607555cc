"""``python -m graphgrain.cli`` is the same as ``graphgrain``."""

from . import main

main()
