"""The paper's tables and figures, and the league of kernels: ``python -m experiments --help``."""
