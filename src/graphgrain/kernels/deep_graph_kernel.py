"""The deep graph kernel: substructures of graphs as words with learned embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.hashing import GOLDEN, mix_array, segment_sums
from ..core.memory import require_memory
from ..errors import needed
from ..graphs.batch import GraphBatch
from ..parameters import SEED, OneOf, Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import GraphKernel, normalized
from .shortest_path import ShortestPath
from .weisfeiler_lehman import WeisfeilerLehman

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: gensim truncates sentences after this number of words.
_LONGEST_SENTENCE = 10_000


class DeepGraphKernel(GraphKernel):
    """Deep graph kernel: also compares substructures that are similar but not equal.

    A graph is treated as a sentence whose words are its substructures: the colours of
    Weisfeiler-Lehman refinement, or pairs of vertices with their labels and distance. word2vec
    (skip-gram with hierarchical softmax) learns a vector for every word, the rows of V. With the
    word counts P the kernel is P M P^T, where M = V V^T contains the similarities of the words.

    Parameters
    ----------
    substructure : {"wl", "sp"}, default="wl"
        Type of the words: features of :class:`WeisfeilerLehman`, as counts, or of
        :class:`ShortestPath`, as relative frequencies.
    n_iter : int, default=2
        Number of refinement steps; only used if ``substructure="wl"``.
    dimension : int, default=10
        Dimension of the word vectors (2, 5, 10, 25 or 50 in the paper).
    window : int, default=5
        Context of a word: number of words before and after it (2, 5, 10, 25 or 50 in the paper).
    word_similarity : {"vectors", "norms", "identity"}, default="vectors"
        M: dot products of the word vectors, the diagonal matrix of their norms, or the identity,
        which gives the plain kernel of the substructures and needs no vectors.
    random_state : int or None, default=0
        Seed of word2vec.
    n_jobs : int, optional
        Number of threads for the substructures; -1 means all cores. word2vec runs on one thread
        to be reproducible.
    similarity, verbose
        As in :class:`GraphKernel`.

    Attributes
    ----------
    vectors_ : array of shape (words, dimension)
        V, one row for each column of ``substructures_``. Not set if M is the identity.
    substructures_ : WeisfeilerLehman or ShortestPath
        The kernel whose features are the words.

    See Also
    --------
    WeisfeilerLehman : Kernel of the same words, for ``substructure="wl"``.
    ShortestPath : Kernel of the same words, for ``substructure="sp"``.

    Notes
    -----
    Needs gensim (``pip install graphgrain[deep]``) unless ``word_similarity="identity"``. Words of
    new graphs that were not seen in ``fit`` have no vector and are ignored.

    The authors order the words of a sentence by iteration and then by vertex number. Here the words
    of an iteration are sorted by their hashes, so that the result does not depend on the numbering
    of the vertices. The authors present graphs in the order of the file. Since the learning rate of
    word2vec decreases, the vector of a rare word then reveals its position in the file; on ENZYMES,
    which is sorted by class, this alone gave 80 % accuracy. Here graphs are sorted by a hash of
    their words, so that the result does not depend on their order. Pairs of vertices are ordered,
    as in the shortest-path kernel, while the authors merge (a, b) and (b, a). word2vec uses the
    settings of the authors' code of 2015 (one epoch, no subsampling), which differ from gensim's
    current defaults.

    References
    ----------
    Yanardag, Vishwanathan: Deep Graph Kernels. KDD 2015.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]
    >>> gg.DeepGraphKernel(word_similarity="identity").fit_transform(graphs).round(2).tolist()
    [[1.0, 0.49, 0.17], [0.49, 1.0, 0.24], [0.17, 0.24, 1.0]]
    """

    substructure: str = parameter(OneOf(("wl", "sp")), default="wl", kw_only=False)
    n_iter: int = parameter(Whole(0), default=2)
    dimension: int = parameter(Whole(1), default=10)
    window: int = parameter(Whole(1), default=5)
    word_similarity: str = parameter(OneOf(("vectors", "norms", "identity")), default="vectors")
    random_state: int | None = parameter(SEED, default=0)

    def _fit(self, batch: GraphBatch) -> None:
        self.substructures_: FeatureKernel
        if self.substructure == "wl":
            self.substructures_ = WeisfeilerLehman(
                self.n_iter, output="features", n_jobs=self.n_jobs
            )
        else:
            self.substructures_ = ShortestPath(output="features", n_jobs=self.n_jobs)
        self.substructures_.set_output(transform="default")  # ignore the global setting
        counts = self.substructures_.fit_transform(batch)
        if self.word_similarity != "identity":
            self.vectors_ = self._word_vectors(counts)
        self._fitted = self._embedded(counts)

    def _gram_of_fitted(self) -> np.ndarray:
        K = _product(self._fitted, self._fitted)
        return normalized(K, _squares(self._fitted)) if self.similarity == "cosine" else K

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        new = self._embedded(self.substructures_.transform(batch))
        K = _product(new, self._fitted)
        if self.similarity == "dot":
            return K
        own = _squares(new)
        sizes = batch.vertex_counts if self.substructure == "wl" else batch.edge_counts
        own[(own == 0) & (sizes > 0)] = 1.0  # has words, but none seen in fit
        return normalized(K, own, _squares(self._fitted))

    def _embedded(self, counts: csr_array) -> Any:
        """Return E with E E^T = P M P^T: dense with few columns for word vectors, else sparse."""
        P = counts
        if self.substructure == "sp":
            totals = np.maximum(P.sum(axis=1), 1.0)
            P = P.copy()
            P.data /= np.repeat(totals, np.diff(P.indptr))
        if self.word_similarity == "identity":
            return P
        if self.word_similarity == "vectors":
            return P @ self.vectors_
        P = P.copy()
        P.data *= np.sqrt(np.linalg.norm(self.vectors_, axis=1))[P.indices]
        return P

    def _word_vectors(self, counts: csr_array) -> np.ndarray:
        """Learn the vectors of all columns, with the graphs as sentences."""
        instead = "graphgrain[deep], or use word_similarity='identity'."
        with needed("DeepGraphKernel learns its word vectors with gensim", instead):
            from gensim.models import Word2Vec
        if not counts.nnz:
            return np.zeros((counts.shape[1], self.dimension))
        if counts.shape[1] == 1:  # there is nothing to predict, and gensim would hang
            return np.eye(1, self.dimension)
        require_memory(
            # gensim holds two vectors for each word, single precision
            8.0 * counts.shape[1] * self.dimension,
            f"Vectors of {self.dimension:,} dimensions for {counts.shape[1]:,} words",
            "Use a smaller dimension",
        )
        seed = np.random.SeedSequence(self.random_state).generate_state(1)[0]
        model = Word2Vec(
            _Sentences(counts, self.substructures_),
            vector_size=self.dimension,
            window=self.window,
            min_count=0,
            sg=1,
            hs=1,
            negative=0,
            sample=0,
            epochs=1,
            workers=1,
            seed=int(seed),
        )
        words = [str(column) for column in range(counts.shape[1])]
        return model.wv[words].astype(np.float64)


class _Sentences:
    """The graphs as lists of words, which are column numbers; regenerated for every pass.

    Graphs are sorted by a hash of their words, which is a random order independent of the input.
    The learning rate of word2vec decreases, so vectors of rare words depend on when the words are
    seen. Datasets are often sorted by class; in that order the vectors would leak the class of
    test graphs.
    """

    def __init__(self, counts: csr_array, kernel: FeatureKernel) -> None:
        self.counts = counts
        self.hashes = np.concatenate(kernel.vocabulary_)
        sizes = [len(vocabulary) for vocabulary in kernel.vocabulary_]
        self.levels = np.repeat(np.arange(len(sizes)), sizes)
        with np.errstate(over="ignore"):
            times = counts.data.astype(np.uint64)
            words = mix_array(self.hashes[counts.indices] + times * GOLDEN)
            contents = segment_sums(words, counts.indptr)
        self.order = np.argsort(contents, kind="stable")

    def __iter__(self) -> Iterator[list[str]]:
        indptr, indices = self.counts.indptr, self.counts.indices
        for graph in self.order:
            begin, end = int(indptr[graph]), int(indptr[graph + 1])
            words = self._in_order(indices[begin:end], self.counts.data[begin:end].astype(np.int64))
            for start in range(0, len(words), _LONGEST_SENTENCE):
                yield [str(word) for word in words[start : start + _LONGEST_SENTENCE].tolist()]

    def _in_order(self, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Repeat each column by its count; sort by level, pseudorandomly within a level."""
        words = np.repeat(columns, counts)
        ends = np.cumsum(counts)
        times = np.arange(len(words)) - np.repeat(ends - counts, counts)
        with np.errstate(over="ignore"):
            keys = mix_array(self.hashes[words] + times.astype(np.uint64) * GOLDEN)
        return words[np.lexsort((keys, self.levels[words]))]


def _product(left: Any, right: Any) -> np.ndarray:
    K = left @ right.T
    return np.asarray(K) if isinstance(K, np.ndarray) else K.toarray()


def _squares(rows: Any) -> np.ndarray:
    """Return the squared norm of each row."""
    squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
    return np.asarray(squares.sum(axis=1)).ravel()
