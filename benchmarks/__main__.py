"""Run the benchmarks of Tree++: ``python -m benchmarks [DATASET ...]``, or ``make bench``.

``python -m benchmarks.competitors`` compares the other kernels with GraKeL's,
``python -m benchmarks.startup`` measures the time to the first kernel value.
"""

from __future__ import annotations

import argparse

from . import tree_plus_plus

SETS = ["MUTAG", "PTC_MM", "COX2_MD", "PROTEINS", "NCI1", "Mutagenicity"]


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS, help="names of TU data sets")
    parser.add_argument("--jobs", type=int, default=2, help="threads (default: 2)")
    parser.add_argument("--repeats", type=int, default=5, help="runs per stage; the best counts")
    parser.add_argument("--without-grakel", action="store_true", help="skip the slow comparison")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    tree_plus_plus.main(
        options.datasets, options.jobs, options.repeats, not options.without_grakel, options.json
    )


if __name__ == "__main__":
    main()
