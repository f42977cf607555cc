"""Parameters are declared once, in the body of a class, or in an ``__init__`` of one's own."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.parameters import Whole, parameter

GRAPHS = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]


class Declared(gg.FeatureKernel):
    """A kernel with parameters of its own, one without a rule."""

    largest: int = parameter(Whole(1), default=4, kw_only=False)
    smallest: int = 0
    seen_: np.ndarray  # what is learned is no parameter

    def count_features(self, batch):
        degrees = np.clip(batch.degrees, self.smallest, self.largest)
        return [gg.count_hashes(batch.offsets, gg.hash_labels(degrees))]


class Written(Declared):
    """The same with an ``__init__``, which knows few parameters."""

    def __init__(self, largest=4, *, similarity="cosine", n_jobs=None):
        self.largest = largest
        self.similarity = similarity
        self.n_jobs = n_jobs


class Inherited(Written):
    """Takes over the ``__init__`` of its base."""


class Fixed(Declared):
    """Fixes a parameter of its base."""

    largest: int = parameter(default=2, init=False)


@pytest.mark.parametrize("Kernel", [Declared, Written, Inherited, Fixed])
def test_kernels_of_ones_own(Kernel):
    kernel = Kernel(similarity="minmax")
    K = kernel.fit_transform(GRAPHS)
    assert K.shape == (3, 3)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), Kernel(**kernel.get_params())):
        assert copy.get_params() == kernel.get_params()
        assert repr(copy) == repr(kernel) == f"{Kernel.__name__}(similarity='minmax')"
        np.testing.assert_array_equal(copy.fit(GRAPHS).transform(GRAPHS), K)
    with pytest.raises(InvalidParameterError, match="n_jobs must be"):
        kernel.set_params(n_jobs=0).fit(GRAPHS)
    with pytest.raises(TypeError, match="unexpected keyword"):
        Kernel(nonsense=1)


def test_declared_parameters_are_those_of_the_signature():
    shared = {"similarity", "output", "counts", "n_features", "n_jobs", "verbose"}
    assert set(Declared().get_params()) == shared | {"largest", "smallest"}
    assert next(iter(inspect.signature(Declared).parameters)) == "largest"
    assert Declared(3).largest == 3
    with pytest.raises(InvalidParameterError, match=r"largest must be .* Set it with Declared\("):
        Declared(0).fit(GRAPHS)


def test_an_init_of_ones_own_decides():
    assert set(Inherited().get_params()) == {"largest", "similarity", "n_jobs"}
    assert (Inherited().counts, Inherited().verbose) == ("raw", 0)
    with pytest.raises(InvalidParameterError, match="largest must be"):
        Inherited(0).fit(GRAPHS)


def test_a_fixed_parameter_is_none():
    assert "largest" not in Fixed().get_params()
    assert "largest" not in Fixed.parameter_rules
    assert Fixed().largest == 2
    with pytest.raises(TypeError, match="positional"):
        Fixed(3)


def test_words_from_arrays_are_words():
    """A grid of parameters may be an array, as in scikit-learn."""
    for counts in np.array(["raw", "log", "binary"]):
        kernel = gg.VertexHistogram(counts=counts)
        expected = gg.VertexHistogram(counts=counts.item()).fit_transform(GRAPHS)
        np.testing.assert_array_equal(kernel.fit_transform(GRAPHS), expected)
    with pytest.raises(InvalidParameterError, match="edge_labels must be one of True, False"):
        gg.TreePlusPlus(edge_labels=1).fit(GRAPHS)
