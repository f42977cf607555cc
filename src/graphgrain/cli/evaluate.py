"""The command evaluate: kernels and estimators on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..errors import InvalidParameterError
from ..evaluation.candidates import candidates
from ..evaluation.evaluate import MODEL, evaluate as compute
from ..evaluation.result import Evaluation
from ..evaluation.splits import NAMED, without_duplicates
from ..graphs.batch import counted
from ..graphs.files.molecules import typed
from ..kernels.registry import KERNELS
from ..learning.inputs import GRAPH_COLUMN, are_classes
from ..pages.evaluation import evaluation_page
from ..writing import atomic_write, check_output
from .app import Interrupted, answer, command, err, out
from .arguments import Data, Jobs, Json, Reading, Set, listed, nearest
from .kernel_options import given_of, kernel_parameters
from .learn import Columns, Descriptors, training_table
from .loading import Loaded, load, note_ignored_attributes
from .tables import print_table, text_table
