"""The self-tuned Tree++ in an evaluation: it is the classifier that users import, fold by fold."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.evaluation.experiment import run, setting_grams
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.published import TABLE2
from graphgrain.evaluation.records import fold_records
from graphgrain.evaluation.results_file import ResultsFile
from graphgrain.evaluation.self_tuned import (
    AUTO_ROW,
    SELF_TUNED,
    best_competitor,
    classifier_for,
    compare,
    competitor,
    run_self_tuned,
)
from graphgrain.evaluation.summary import summarise
from graphgrain.kernels.registry import KERNELS, Setting

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "other_choices.py"
spec = importlib.util.spec_from_file_location("other_choices", SCRIPT)
other_choices = importlib.util.module_from_spec(spec)
spec.loader.exec_module(other_choices)

NESTED = Protocol(folds=3, inner_folds=2)


@pytest.fixture(scope="module")
def records(families, tmp_path_factory):
    with ResultsFile(tmp_path_factory.mktemp("tuned") / "r.jsonl") as results:
        run_self_tuned(families, NESTED, 2, results, n_jobs=2)
        for grid in (KERNELS["tree++"], competitor(families.name)):
            run(families, grid, NESTED, 2, results, n_jobs=2)
        return results.records


def tuned(records):
    return [r for r in fold_records(records) if r.variant == SELF_TUNED]


def test_a_fold_is_the_classifier_on_its_training_graphs(records, families):
    """Spelt out with the arguments of the documentation, not by the function under test."""
    for record in tuned(records)[:2]:
        split = NESTED.test_fold(families.codes, record.repetition, record.fold)
        assert record.test == split.test.tolist()
        model = gg.TreePlusPlusClassifier(cv=2, random_state=0)
        model.fit(families.graphs[split.train], families.codes[split.train])
        assert record.levels[0].predictions == model.predict(families.graphs[split.test]).tolist()
        np.testing.assert_allclose(
            record.levels[0].scores, model.decision_function(families.graphs[split.test]), rtol=1e-5
        )
        words = [m["counts"] + " + edge labels" * m["edge_labels"] for m in model.members_]
        assert record.members == words
        assert model.best_params_["C"] == record.levels[0].C
        assert max(record.levels[0].validation) == pytest.approx(model.best_score_)


def test_a_row_over_kernels_is_the_classifier_over_kernels(families, tmp_path):
    own = {"kernels": ["wl", "sp"], "max_level": 1, "counts": ["raw", "sqrt"]}
    own |= {"weights": "learned"}
    row = replace(AUTO_ROW, parameters=own)
    with ResultsFile(tmp_path / "r.jsonl") as results:
        assert run_self_tuned(families, NESTED, 1, results, estimator=row) == NESTED.folds
        assert run_self_tuned(families, NESTED, 1, results, estimator=row) == 0
        [record, *_] = fold_records(results.records)
    split = NESTED.test_fold(families.codes, record.repetition, record.fold)
    model = gg.GraphClassifier(**own, cv=2, random_state=0)
    model.fit(families.graphs[split.train], families.codes[split.train])
    assert record.levels[0].predictions == model.predict(families.graphs[split.test]).tolist()
    titles = {"wl": "WL", "sp": "SP"}
    words = [f"{titles[m['kernel']]} + {m['counts']}" for m in model.members_]
    edges = [" + edge labels" * m["edge_labels"] for m in model.members_]
    learned = [" + learned weights" * ("weights" in m) for m in model.members_]
    assert record.members == ["".join(each) for each in zip(words, edges, learned, strict=True)]
    assert any(learned)
    assert record.kernel == "auto"
    # no parameter may be forgotten: other parameters are another piece of work
    assert record.variant == (
        "self-tuned, kernels=['wl', 'sp'], max_level=1, counts=['raw', 'sqrt'], weights=learned"
    )


def test_a_view_is_offered_where_the_data_justifies_it(families):
    assert classifier_for(families, NESTED).views is None
    complete = replace(families, name="BZR_MD")
    nothing, bonds = classifier_for(complete, NESTED).views
    assert nothing is None
    assert bonds.get_params()["drop"] == [1]


def test_records_with_a_view_say_so(tmp_path):
    triangle = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])
    path = ([(0, 1), (1, 2)], ["C", "C", "N"], [2, 3])
    complete = prepare("COX2_MD", [triangle, path] * 6, [1, 2] * 6)
    with ResultsFile(tmp_path / "r.jsonl") as results:
        run_self_tuned(complete, Protocol(folds=2, inner_folds=2), 1, results)
        found = fold_records(results.records)
    assert {record.settings["view"] for record in found} == {"EdgeFilter(drop=[1])"}


def test_a_second_run_has_nothing_to_do(families, records, tmp_path):
    with ResultsFile(tmp_path / "r.jsonl") as results:
        for record in records:
            results.append(record)
        assert run_self_tuned(families, NESTED, 2, results) == 0


def test_a_filtered_setting_sees_filtered_graphs():
    triangle = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])
    path = ([(0, 1), (1, 2)], ["C", "C", "O"], [2, 3])
    complete = prepare("BZR_MD", [triangle, path] * 2, [1, 2, 1, 2])
    own = {"path_depth": 2, "tree_depth": 1, "edge_labels": True}
    filtered = Setting(own, gg.EdgeFilter(drop=[1]))
    seen = setting_grams(KERNELS["tree++"], filtered, complete.graphs)
    assert seen == pytest.approx(np.ones((2, 4, 4)))  # without the bond that is none: a path
    assert setting_grams(KERNELS["tree++"], Setting(own), complete.graphs).min() < 0.99


def test_the_sides_are_those_of_the_records(records, families):
    side = compare(records, families, NESTED)
    summaries = {(s.kernel, s.variant): s.accuracy for s in summarise(records)}
    assert side.tuned == summaries["tree++", SELF_TUNED]
    assert side.paper == summaries["tree++", ""]
    assert np.mean(side.differences) == pytest.approx(side.tuned.mean - side.paper.mean)
    assert (side.repetitions, side.folds, sum(side.chosen.values())) == (2, 3, 6 * 12)


def test_the_competitor_is_on_the_same_folds(records, families):
    side = compare(records, families, NESTED)
    [summary] = [s for s in summarise(records) if s.kernel == "wl"]
    assert side.competitor == summary.accuracy
    # All folds are equally large, so the mean difference is the difference of the means.
    assert len(families) % NESTED.folds == 0
    assert np.mean(side.lead) == pytest.approx(side.tuned.mean - side.competitor.mean)
    fewer = [r for r in fold_records(records) if (r.kernel, r.repetition) != ("wl", 1)]
    once = compare(fewer, families, NESTED)
    assert once.repetitions == 2
    assert once.competitor.each == side.competitor.each[:1]
    assert once.lead == side.lead[: NESTED.folds]
    alone = compare([r for r in fewer if r.kernel != "wl"], families, NESTED)
    assert (alone.competitor, alone.lead, alone.tuned) == (None, [], side.tuned)


def test_test_graphs_have_no_say(records, families):
    """Wrong answers on the test graphs change the accuracy, not what was chosen."""
    wrong = [
        replace(record, truth=[1 - answer for answer in record.truth])
        for record in fold_records(records)
    ]
    before, after = compare(records, families, NESTED), compare(wrong, families, NESTED)
    assert after.chosen == before.chosen
    assert after.tuned.each == pytest.approx([1 - value for value in before.tuned.each])


def test_nothing_is_shown_before_it_is_complete(records, families):
    folds = fold_records(records)
    assert compare([r for r in folds if r.variant != SELF_TUNED], families, NESTED) is None
    assert compare([r for r in folds if r.variant == SELF_TUNED], families, NESTED) is None
    one = [r for r in folds if (r.variant, r.repetition, r.fold) != (SELF_TUNED, 1, 2)]
    assert compare(one, families, NESTED).repetitions == 1
    assert compare(folds, families, Protocol(folds=3, inner_folds=3)) is None


def test_best_competitor():
    for dataset, row in TABLE2.items():
        name, mean, _ = best_competitor(dataset)
        assert name != "tree++"
        assert mean == max(figure for kernel, (figure, _) in row.items() if kernel != "tree++")
    assert best_competitor("PROTEINS")[:2] == ("sp", 76.00)
    assert best_competitor("drugs") is None
    assert competitor("drugs") == KERNELS["wl"]
    assert competitor("KKI") == KERNELS["pm"]


@pytest.fixture(scope="module")
def settings_file(families, tmp_path_factory):
    """Records of each setting on its own, as the script needs them."""
    path = tmp_path_factory.mktemp("settings") / "r.jsonl"
    tree = KERNELS["tree++"]
    with ResultsFile(path) as results:
        for own in ({}, {"counts": "sqrt"}, {"counts": "intersection"}, {"counts": "log"}):
            run(families, tree.with_parameters(**own) if own else tree, NESTED, 1, results)
    return path


def test_the_script_reads_records_in_other_ways(settings_file):
    with ResultsFile(settings_file) as results:
        trees = [r for r in fold_records(results.records) if r.variant != "counts=log"]
    rules = other_choices.RULES
    found = dict(zip(rules, other_choices.accuracies(trees, rules), strict=True))
    assert all(0.5 < share < 1 for (share,) in found.values())
    half = [r for r in trees if r.fold != 2]
    assert other_choices.accuracies(half, rules).size == 0
    # With nothing but the paper's setting, the best alone is what the summary validates.
    alone = [r for r in trees if not r.variant]
    [summary] = summarise(alone)
    [found] = other_choices.accuracies(alone, {"best": other_choices.best})
    assert found == pytest.approx(summary.accuracy.each)


def test_the_script_offers_further_settings(settings_file, monkeypatch, capsys):
    with ResultsFile(settings_file) as results:
        trees = fold_records(results.records)
    rules = {"in use": other_choices.offered(), "more": other_choices.offered("counts=log")}
    usual, more = other_choices.accuracies(trees, rules)
    [by_hand] = other_choices.accuracies(trees, {"all": other_choices.committee(12)})
    assert more == pytest.approx(by_hand)
    assert usual.shape == more.shape
    monkeypatch.setattr("sys.argv", ["other_choices", str(settings_file), "--offer", "counts=log"])
    other_choices.main()
    assert "counts=log" in capsys.readouterr().out
    wrong = ["other_choices", str(settings_file), "--offer", "counts=binary"]
    monkeypatch.setattr("sys.argv", wrong)
    with pytest.raises(SystemExit):
        other_choices.main()
    assert "counts=binary" in capsys.readouterr().err
