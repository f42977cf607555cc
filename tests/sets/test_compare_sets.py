"""compare_sets against brute force, known effects and the null."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score

import graphgrain as gg
from graphgrain.sets.classifier import _held_out
from graphgrain.sets.permutations import mmd_statistics, signed_sets, smallest_p


@pytest.fixture(scope="module")
def drugs():
    return gg.load_drugs()


def random_graphs(rng, count, edge=0.25, extra=()):
    """Return random labelled graphs, with extra edges."""
    graphs = []
    for _ in range(count):
        n = int(rng.integers(5, 12))
        edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < edge]
        labels = [str(label) for label in rng.choice(["C", "N", "O"], n)]
        graphs.append((sorted({*edges, *extra}), labels))
    return gg.as_graphs(graphs)


def mmd_by_hand(K, n):
    """Return the unbiased squared MMD by three loops."""
    within = [
        np.mean([K[i, j] for i in side for j in side if i != j])
        for side in (range(n), range(n, len(K)))
    ]
    return sum(within) - 2 * K[:n, n:].mean()


@pytest.mark.parametrize("similarity", ["cosine", "minmax", "dot"])
@pytest.mark.parametrize("counts", ["raw", "sqrt", "log", "binary"])
def test_mmd_is_that_of_the_kernel_and_the_sum_over_patterns(drugs, similarity, counts):
    graphs = gg.GraphBatch.concatenate(
        [drugs[0][:20], gg.as_graphs([([], [])] * 2), drugs[0][90:120]]
    )
    kernel = gg.TreePlusPlus(2, 1, similarity=similarity, counts=counts)
    test = gg.compare_sets(graphs[:24], graphs[24:], kernel=kernel, permutations=9)
    expected = mmd_by_hand(kernel.fit_transform(graphs), 24)
    assert test.mmd == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert sum(part.sum() for part in test.contributions()) == pytest.approx(expected, rel=1e-9)


def test_intersection_counts_and_default_kernels_add_up_too(drugs):
    graphs = drugs[0]
    for kernel in (gg.WLOptimalAssignment(2), None):
        test = gg.compare_sets(graphs[:30], graphs[60:90], kernel=kernel, permutations=9)
        total = sum(part.sum() for part in test.contributions())
        assert total == pytest.approx(test.mmd, rel=1e-9)


def test_permuted_statistics_equal_those_of_the_permuted_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    second = np.arange(30) >= 12
    signs = signed_sets(second, np.arange(30), 20, 1)
    statistics = mmd_statistics(X @ X.T, signs)
    for column in (0, 3, 20):
        order = np.argsort(-signs[:, column].astype(int), kind="stable")
        assert statistics[column] == pytest.approx(mmd_by_hand((X @ X.T)[np.ix_(order, order)], 12))


def test_kernels_have_weights_that_give_equal_variance_under_permutations(drugs):
    graphs = drugs[0][::6]
    kernels = [gg.WeisfeilerLehman(2), gg.ShortestPath(), gg.VertexHistogram()]
    total = gg.compare_sets(graphs[:24], graphs[24:], kernel=kernels, permutations=9).total
    second = np.arange(len(graphs)) >= 24
    signs = signed_sets(second, np.arange(len(graphs)), 2000, 0)
    deviations = [
        term.weight * mmd_statistics(kernel.fit_transform(graphs), signs).std()
        for term, kernel in zip(total.terms, kernels, strict=True)
    ]
    assert max(deviations) < 1.25 * min(deviations)


def test_groups_are_permuted_as_wholes_and_pairs_exchanged():
    second = np.repeat([False, True], 12)
    units = np.repeat(np.arange(8), 3)
    signs = signed_sets(second, units, 200, 0)
    assert all((signs[units == unit] == signs[units == unit][0]).all() for unit in range(8))
    assert ((signs > 0).sum(axis=0) == 12).all()
    pairs = np.tile(np.arange(12), 2)
    paired = signed_sets(second, pairs, 200, 0)
    assert (paired[:12] == -paired[12:]).all()
    assert abs((paired[0, 1:] > 0).mean() - 0.5) < 0.12


def test_smallest_p_counts_the_permutations():
    assert smallest_p(np.repeat([False, True], 3), np.arange(6)) == pytest.approx(2 / 20)
    assert smallest_p(np.repeat([False, True], [2, 3]), np.arange(5)) == pytest.approx(1 / 10)
    assert smallest_p(np.repeat([False, True], 4), np.tile(np.arange(4), 2)) == pytest.approx(1 / 8)


def test_held_out_decisions_are_those_of_models_without_the_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    folds = np.arange(40) % 5
    K = X @ X.T
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    weights = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    targets = y - np.average(y, weights=weights)
    scale = np.trace(centred) / 40
    losses, predictions = [], []
    for alpha in 10.0 ** np.arange(-4, 3) * scale:
        held_out = np.empty(40)
        for fold in range(5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            model = KernelRidge(alpha=alpha, kernel="precomputed")
            model.fit(centred[np.ix_(train, train)], targets[train])
            held_out[test] = model.predict(centred[np.ix_(test, train)])
        losses.append(np.average((held_out - targets) ** 2, weights=weights))
        predictions.append(held_out)
    best = predictions[int(np.argmin(losses))]
    assert np.allclose(_held_out(K, y, folds), best, atol=1e-8)


def test_auc_and_interval(drugs):
    graphs, family = drugs
    test = gg.compare_sets(graphs[family == "opioids"], graphs[family == "nsaids"])
    decisions = test.separation.decisions
    assert test.separation.auc == pytest.approx(
        roc_auc_score(np.repeat([1, 0], [27, 27]), decisions)
    )
    low, high = test.separation.interval
    assert 0.9 < low <= test.separation.auc <= high <= 1
    assert test.p_value == pytest.approx(1 / 1001)
    assert test.separation.divergence > 0.6


def test_a_planted_pattern_is_the_reason():
    rng = np.random.default_rng(3)
    plain = random_graphs(rng, 60)
    other = [
        (
            g.edges.tolist(),
            ["S" if i < 12 and v == 0 else label for v, label in enumerate(g.labels)],
        )
        for i, g in enumerate(random_graphs(rng, 60))
    ]
    test = gg.compare_sets(plain, other, kernel=gg.VertexHistogram())
    [pattern] = test.patterns(level=0.01)
    assert pattern.name == "S"
    assert pattern.shares == (0.0, 0.2)
    assert pattern.effect == pytest.approx(0.2)
    assert 0.05 < pattern.interval[0] < 0.2 < pattern.interval[1] < 0.35
    assert other[pattern.example][1][0] == "S"
    assert [p.name for p in test.patterns(level=0.01, correction="fdr")] == ["S"]


def test_a_pattern_that_says_the_same_is_listed_under_the_stronger(drugs):
    graphs, family = drugs
    test = gg.compare_sets(graphs[family == "opioids"], graphs[family == "corticosteroids"])
    patterns = test.patterns()
    assert any(pattern.same for pattern in patterns)
    assert not {p.name for p in patterns} & {name for p in patterns for name in p.same}
    every = test.fragments()
    assert {"steroid", "morphinan"} <= {name for p in every for name in (p.name, *p.same)}


def test_nothing_is_found_between_random_halves_of_one_set(drugs):
    """Under the null p-values are uniform and at most 5 % of comparisons list a pattern."""
    rng = np.random.default_rng(0)
    graphs = drugs[0]
    p_values, listed, aucs = [], 0, []
    for _ in range(60):
        order = rng.permutation(80)
        test = gg.compare_sets(
            graphs[order[:40]], graphs[order[40:]], kernel=gg.WeisfeilerLehman(1), permutations=99
        )
        p_values.append(test.p_value)
        listed += bool(test.patterns())
        aucs.append(test.separation.auc)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.12
    assert 0.35 < np.mean(p_values) < 0.65
    assert listed <= 8
    assert abs(np.mean(aucs) - 0.5) < 0.05


def test_subjects_measured_twice_need_groups():
    """Copies of a graph in one set are no evidence once they are one group."""
    rng = np.random.default_rng(5)
    subjects = random_graphs(rng, 16)
    rows = np.repeat(np.arange(16), 6)
    A, B = subjects[rows[:48]], subjects[rows[48:]]
    naive = gg.compare_sets(A, B, permutations=199)
    grouped = gg.compare_sets(A, B, groups=(rows[:48], rows[48:]), permutations=199)
    assert naive.p_value <= 0.01 < 0.05 < grouped.p_value
    assert naive.patterns()
    assert not grouped.patterns()


def test_paired_sets_find_what_unpaired_ones_miss():
    rng = np.random.default_rng(1)
    before = random_graphs(rng, 24)
    after = [
        (g.edges.tolist(), [*g.labels[:-1].tolist(), "N" if rng.random() < 0.5 else g.labels[-1]])
        for g in before
    ]
    kernel = gg.VertexHistogram()
    paired = gg.compare_sets(before, after, paired=True, kernel=kernel, permutations=499)
    unpaired = gg.compare_sets(before, after, kernel=kernel, permutations=499)
    assert paired.p_value < 0.01 < unpaired.p_value
    assert paired.mmd == unpaired.mmd


def test_labels_of_one_set(drugs):
    graphs, family = drugs
    some = np.isin(family, ["opioids", "nsaids", "tricyclics"])
    tests = gg.compare_sets(graphs[some], by=family[some], permutations=99)
    assert list(tests) == ["nsaids", "opioids", "tricyclics"]
    assert all(test.p_value == 0.01 for test in tests.values())
    mmd = tests.matrix("mmd")
    assert np.allclose(mmd, mmd.T)
    assert (np.diag(mmd) == 0).all()
    assert (tests.matrix("auc")[np.triu_indices(3, 1)] > 0.9).all()
    pair = gg.compare_sets(
        graphs[family == "nsaids"], graphs[family == "opioids"], kernel=gg.WeisfeilerLehman(2)
    )
    by = gg.compare_sets(graphs[some], by=family[some], kernel=gg.WeisfeilerLehman(2))
    assert by.matrix()[0, 1] == pytest.approx(pair.mmd)


def test_the_same_graphs_twice(drugs):
    graphs = drugs[0][:30]
    test = gg.compare_sets(graphs, graphs, permutations=99)
    assert test.p_value == 1.0
    assert "hold the same graphs" in repr(test)
    assert test.neighbours.copies == (30, 30)
    assert test.neighbours.coverage == (1.0, 1.0)
    assert 0.4 < test.separation.auc < 0.6
    assert test.patterns() == []


def test_many_graphs_are_sampled_and_dealt_to_rows(drugs, monkeypatch):
    graphs, family = drugs
    A, B = graphs[family == "opioids"], graphs[family != "opioids"]
    whole = gg.compare_sets(A, B)
    reference = {p.name: p for p in whole.patterns()}
    monkeypatch.setattr("graphgrain.sets.comparison._LARGEST", 20)
    monkeypatch.setattr("graphgrain.sets.tables._MOST_ROWS", 100)
    test = gg.compare_sets(A, B)
    assert test.sizes == (20, 20)
    assert "20 and 20 graphs" in repr(test)
    common = [p for p in test.patterns() if p.name in reference]
    assert common
    for pattern in common:
        if pattern.by == reference[pattern.name].by == "share":
            assert pattern.effect == pytest.approx(reference[pattern.name].effect, abs=0.06)


def test_examples_are_ranked_by_the_witness(drugs):
    graphs, family = drugs
    A, B = graphs[family == "opioids"], graphs[family == "nsaids"]
    kernel = gg.WeisfeilerLehman(1)
    test = gg.compare_sets(A, B, kernel=kernel, permutations=9)
    K = kernel.fit_transform(gg.GraphBatch.concatenate([A, B]))
    witness = [(K[i, :27].sum() - K[i, i]) / 26 - K[i, 27:].mean() for i in range(27)]
    assert [e.graph for e in test.examples(0, 3)] == np.argsort(-np.array(witness))[:3].tolist()
    [least] = test.examples(0, 1, typical=False)
    assert least.witness == pytest.approx(min(witness))


GRAPH = ([(0, 1)], ["C", "O"])


@pytest.mark.parametrize(
    ("arguments", "options", "rule"),
    [
        (([GRAPH] * 3,), {}, "two sets"),
        (([GRAPH] * 3, [GRAPH] * 3), {"by": [0, 1, 0]}, "two sets"),
        (([GRAPH] * 3, [GRAPH]), {}, "at least two graphs"),
        (([GRAPH] * 3, []), {}, "at least two graphs"),
        (([GRAPH] * 3,), {"by": [0, 1]}, "one value per graph"),
        (([GRAPH] * 3,), {"by": [1, 1, 1]}, "two different labels"),
        (([GRAPH] * 3, [GRAPH] * 4), {"paired": True}, "equally many"),
        (([GRAPH] * 3, [GRAPH] * 3), {"groups": [0, 0, 1]}, "pair of columns"),
        (([GRAPH] * 3, [GRAPH] * 3), {"groups": ([0, 0, 0], [1, 1, 2])}, "independent group"),
        (([GRAPH] * 3, [([(0, 1)], [1, 2])] * 3), {}, "no pattern in common"),
        (([GRAPH] * 3, [GRAPH] * 3), {"kernel": "wl"}, "must be a kernel"),
        (([GRAPH] * 3, [GRAPH] * 3), {"permutations": 0}, "permutations must be"),
        (([GRAPH] * 3, [GRAPH] * 3), {"names": ["a"]}, "two names"),
    ],
)
def test_bad_input_gets_an_error_that_states_the_rule(arguments, options, rule):
    with pytest.raises(gg.GraphgrainError, match=rule):
        gg.compare_sets(*arguments, **options)


def test_no_common_label_is_said():
    with pytest.warns(gg.GraphgrainWarning, match="No pattern in common"):
        gg.compare_sets([GRAPH] * 3, [([(0, 1)], ["X", "Y"])] * 3)


def test_constant_and_empty_graphs_have_an_answer():
    test = gg.compare_sets([GRAPH] * 6, [([], [])] * 6, permutations=99)
    assert test.p_value < 0.05
    assert gg.compare_sets([GRAPH] * 6, [GRAPH] * 7, permutations=99).p_value == 1.0
    kernel = gg.ReturnProbability()
    test = gg.compare_sets([GRAPH] * 6, [GRAPH] * 6, kernel=kernel, permutations=9)
    with pytest.raises(gg.GraphgrainError, match="no patterns"):
        test.patterns()
