"""The questions that an index answers: which graphs are most similar to these?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.threads import call
from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel
from ..parameters import Number, OneOf, Rule, Whole
from .columns import as_array
from .keyed_features import keyed_features
from .ranking import KINDS, Hits, Ranker
from .snapshot import Snapshot

#: Queries that are answered together.
_BATCH = 256


class SearchMixin:
    """The part of an index that searches."""

    n_jobs: int | None
    kernel: FeatureKernel
    _snapshot: Snapshot
    _recalls: dict[tuple[int, str], float]

    def __len__(self) -> int:
        return len(self._snapshot)

    @property
    def similarity(self) -> str:
        """The default similarity of this index."""
        return self._snapshot.manifest.similarity

    def search(
        self,
        queries: Any,
        k: int | None = 10,
        threshold: float | None = None,
        *,
        similarity: str | None = None,
        approximate: bool = False,
        return_columns: bool = False,
    ) -> Any:
        """Find the graphs that are most similar to each query.

        Parameters
        ----------
        queries : graphs, or list of SMILES if the index holds molecules
        k : int or None
            How many graphs to find; fewer if the index holds fewer. None, which needs a
            ``threshold``: all that reach it.
        threshold : float, optional
            The least similarity.
        similarity : {"minmax", "cosine", "containment"}, optional
            "cosine" is the kernel's normalised value, "minmax" the sum of minima over the sum of
            maxima of values (for 0 and 1: Tanimoto), "containment" the part of the query's values
            that the other graph has. By default that of the index.
        approximate : bool
            Look at fewer candidates: faster, and some of the best may be missing. :meth:`recall`
            tells how many; similarities are exact all the same.
        return_columns : bool
            Return also what is known of the graphs found: a dictionary of arrays per query.

        Returns
        -------
        ids : array of shape (queries, k), or with a ``threshold`` a list of arrays
            Best first; equal ones in the order of the index.
        similarities : array, or list of arrays
        columns : list of dictionaries, if ``return_columns``

        Notes
        -----
        Patterns that the index has never seen make a query less similar to everything in it, as
        in the kernel itself. A query without anything in common with any graph, such as an empty
        one, finds graphs with similarity 0, in the order of the index, and a warning tells.
        """
        if k is None and threshold is None:
            raise InvalidParameterError("k=None asks for all graphs above a threshold; give it.")
        checked("k", k, Whole(1, optional=True))
        checked("threshold", threshold, Number(0.0, closed=True, optional=True))
        hits = self._hits(self.as_queries(queries), k, threshold, similarity, approximate)
        ids: Any = [as_array(self._snapshot.ids(hit.places)) for hit in hits]
        values: Any = [hit.similarities for hit in hits]
        columns = [self._snapshot.columns(hit.places) for hit in hits] if return_columns else []
        if threshold is None:
            width = min(k or 0, len(self))
            flat = [value for row in ids for value in row.tolist()]
            ids = as_array(flat).reshape(len(hits), width)
            values = np.array(values).reshape(len(hits), width)
        return (ids, values, columns) if return_columns else (ids, values)

    def recall(self, k: int = 10, similarity: str | None = None, sample: int = 100) -> float:
        """The part of the k best graphs that ``approximate=True`` finds.

        Measured on a random sample of the graphs of this index, once.
        """
        name = self._similarity(similarity)
        if (k, name) not in self._recalls:
            if not len(self):
                raise InvalidParameterError("An index without graphs has no recall to measure.")
            rng = np.random.default_rng(0)
            live = self._snapshot.live
            chosen = np.sort(rng.choice(live, min(sample, len(live)), replace=False))
            queries = self._ranker().graphs(chosen)
            exact = self._hits(queries, k, None, name, False)
            quick = self._hits(queries, k, None, name, True)
            # Equal similarities are equally good, whichever graph has them.
            found = [
                np.sum(fast.similarities >= slow.similarities[-1])
                for fast, slow in zip(quick, exact, strict=True)
            ]
            self._recalls[k, name] = float(np.sum(found)) / sum(len(hit.places) for hit in exact)
        return self._recalls[k, name]

    def as_queries(self, queries: Any) -> GraphBatch:
        """Graphs from whatever a query may be."""
        manifest = self._snapshot.manifest
        if isinstance(queries, str):
            queries = [queries]
        items = list(queries) if not isinstance(queries, GraphBatch) else []
        if items and all(isinstance(item, str) for item in items):
            if manifest.molecules is None:
                raise InvalidGraphError(
                    "SMILES are queries for an index of molecules; this one holds other graphs. "
                    "Give graphs, such as graphgrain.from_smiles(list)."
                )
            from ..graphs.convert.rdkit import from_smiles

            options: dict[str, Any] = dict(manifest.molecules)
            return from_smiles(items, **options)
        batch = as_graphs(items or queries)
        if batch.n_vertices and manifest.label_kind and batch.label_kind != manifest.label_kind:
            raise InvalidGraphError(
                f"Queries must have labels of the kind in the index ({manifest.label_kind}); got "
                f"{batch.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return batch

    def _similarity(self, name: str | None) -> str:
        return self.similarity if name is None else checked_similarity(name)

    def _ranker(self, similarity: str | None = None) -> Ranker:
        name = self._similarity(similarity)
        return Ranker(self.kernel, self._snapshot.segments, name, self.n_jobs)

    def _hits(
        self,
        graphs: GraphBatch,
        k: int | None,
        threshold: float | None,
        similarity: str | None,
        approximate: bool = False,
    ) -> list[Hits]:
        """The answers to all queries; without a threshold exactly k, if the index has as many."""
        ranker = self._ranker(similarity)
        found: list[Hits] = []
        nothing = []
        for begin in range(0, len(graphs), _BATCH):
            part = graphs[begin : begin + _BATCH]
            # As one piece of work: small ones would each start a thread of their own.
            found += call(self._answers, ranker, part, k, threshold, approximate)
        if threshold is None or not threshold:
            for number, hits in enumerate(found):
                if not len(hits.places) and len(self):
                    nothing.append(number)
                found[number] = self._filled(hits, k)
        if nothing:
            several = f" and {len(nothing) - 1} more have" if len(nothing) > 1 else " has"
            warnings.warn(
                f"Query {nothing[0]}{several} nothing in common with any graph of the index: all "
                "similarities are 0.",
                GraphgrainWarning,
                stacklevel=3,
            )
        return found

    def _answers(
        self,
        ranker: Ranker,
        graphs: GraphBatch,
        k: int | None,
        threshold: float | None,
        approximate: bool,
    ) -> list[Hits]:
        features = keyed_features(self.kernel, graphs).sorted()
        wanted = None if k is None else min(k, max(1, len(self)))
        return ranker.search(features, wanted, threshold or 0.0, approximate)

    def _filled(self, hits: Hits, k: int | None) -> Hits:
        """With graphs of similarity 0, in the order of the index, where others are missing."""
        positive = hits.similarities > 0.0
        hits = Hits(hits.places[positive], hits.similarities[positive])
        missing = (len(self) if k is None else min(k, len(self))) - len(hits.places)
        if missing <= 0:
            return hits
        live = self._snapshot.live[: missing + len(hits.places)] if k is not None else (
            self._snapshot.live
        )  # fmt: skip
        others = live[~np.isin(live, hits.places)][:missing]
        zeros = np.zeros(len(others))
        return Hits(
            np.concatenate((hits.places, others)), np.concatenate((hits.similarities, zeros))
        )


def checked(name: str, value: Any, rule: Rule) -> Any:
    """A parameter that follows its rule."""
    if not rule.allows(value):
        raise InvalidParameterError(f"{name} must be {rule}; got {value!r}.")
    return value


def checked_similarity(name: Any) -> str:
    """The name of a similarity."""
    return checked("similarity", name, OneOf(tuple(KINDS)))
