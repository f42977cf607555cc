"""graphgrain: how similar are graphs, at every grain."""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: What to use instead of the names of version 0.3 that are gone or have moved.
_INSTEAD = {
    "Chunk": "streams yield GraphBatch, which holds its columns; write GraphBatch.with_columns",
    **dict.fromkeys(("DataSet", "Statistics"), "it is in graphgrain.graphs"),
    **dict.fromkeys(
        ("Counts", "Occurrences"),
        "it is in graphgrain.kernels",
    ),
    "CountedGraphs": "it is in graphgrain.learning",
    **dict.fromkeys(
        (
            "ClassFragment",
            "ClassFragments",
            "ClassPattern",
            "ClassPatterns",
            "class_fragments",
            "class_patterns",
        ),
        "use gg.compare_sets(graphs, by=y) with patterns() and fragments()",
    ),
    **dict.fromkeys(
        ("Comparison", "Explanation", "Fragment", "Pattern", "SharedPattern"),
        "it is in graphgrain.explaining",
    ),
    **dict.fromkeys(
        ("Cliffs", "Clusters", "NearDuplicates", "Pairs"),
        "it is in graphgrain.searching",
    ),
    "Cliff": "gg.pairs(graphs, y=...) returns arrays",
    "cliffs": "use gg.pairs(graphs, y=...)",
    **dict.fromkeys(
        ("Change", "Surroundings", "changes"),
        "use gg.pairs(graphs, y=...) and gg.compare; RDKit's rdMMPA finds matched molecular pairs",
    ),
    **dict.fromkeys(
        ("FittedSetting", "KernelGrid", "Setting"),
        "evaluate chooses the parameters of a kernel; scikit-learn's GridSearchCV takes any grid",
    ),
    "Estimate": "fit refuses work that memory cannot hold; measure time on a part of the graphs",
    "KernelMachine": "use gg.GraphClassifier or gg.GraphRegressor",
    "Shard": "it is in graphgrain.scaling",
    "FeatureShards": "open features with gg.load_features; the class is in graphgrain.scaling",
    "dask_partial_fit": "use dask_ml.wrappers.Incremental, or partial_fit on each block of "
    "gg.dask_features",
    "save_gram": "search and compare more graphs than a matrix can hold with gg.GraphIndex, or "
    "train linear models on gg.save_features",
}


def __getattr__(name: str) -> Any:
    """Load a public name; the error for a name that is gone says what to use instead."""
    if name in _INSTEAD:
        raise AttributeError(
            f"Since version 0.4 graphgrain has no {name!r}: {_INSTEAD[name]}.", name=name
        )
    return _load(name)


__version__ = "0.3.0"
