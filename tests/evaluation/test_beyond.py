"""Past the paper: what there is to choose from, and that the choice is made inside the folds."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.evaluation.beyond import (
    BEYOND,
    best_competitor,
    candidates,
    compare,
    competitor,
    readable,
    variants,
)
from graphgrain.evaluation.beyond import SELF_TUNED as TUNED
from graphgrain.evaluation.experiment import Variant, run
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.published import TABLE2
from graphgrain.evaluation.records import fold_records
from graphgrain.evaluation.results_file import ResultsFile
from graphgrain.evaluation.summary import summarise
from graphgrain.learning.candidates import COUNTS

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "other_choices.py"
spec = importlib.util.spec_from_file_location("other_choices", SCRIPT)
other_choices = importlib.util.module_from_spec(spec)
spec.loader.exec_module(other_choices)

NESTED = Protocol(folds=3, inner_folds=2)
USUAL = {"path_depth": 6, "tree_depth": 7}


@pytest.fixture(scope="module")
def records(families, tmp_path_factory):
    with ResultsFile(tmp_path_factory.mktemp("beyond") / "r.jsonl") as results:
        for variant in [*variants(families), competitor(families.name)]:
            run(families, variant, NESTED, 2, results, n_jobs=2)
        return results.records


def test_candidates(families):
    settings = candidates(families)
    assert settings[:2] == [USUAL, {**USUAL, "edge_labels": True}]
    assert len(settings) == 2 * len(COUNTS)
    bare = prepare("bare", [([(0, 1)], [1, 2]), ([], [1])] * 2, [1, 2, 1, 2])
    assert candidates(bare) == [USUAL] + [{**USUAL, "counts": how} for how in COUNTS[1:]]
    complete = replace(families, name="BZR_MD")
    views = [setting.get("edge_filter") for setting in candidates(complete)]
    assert views.count({"drop": [1]}) == 2 * len(COUNTS)
    assert candidates(complete)[0] == USUAL


def test_the_papers_tree_is_recorded_as_anywhere_else(families):
    first, further = variants(families)
    assert first == Variant.usual("tree++")
    assert further.name == BEYOND
    assert [*first.grid, *further.grid] == candidates(families)


def test_a_filtered_setting_sees_filtered_graphs():
    triangle = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])
    path = ([(0, 1), (1, 2)], ["C", "C", "O"], [2, 3])
    complete = prepare("BZR_MD", [triangle, path] * 2, [1, 2, 1, 2])
    setting = {"path_depth": 2, "tree_depth": 1, "edge_labels": True}
    variant = Variant("tree++", ({**setting, "edge_filter": {"drop": [1]}},))
    seen = variant.grams(complete, variant.grid[0], 1)
    assert seen == pytest.approx(np.ones((2, 4, 4)))  # without the bond that is none: a path
    assert variant.grams(complete, setting, 1).min() < 0.99
    assert gg.TreePlusPlus(**setting).get_params()["edge_labels"]


def test_the_choice_is_that_of_the_validation_in_each_fold(records, families):
    side = compare(records, families, NESTED)
    settings = candidates(families)
    tuned, paper, differences = [], [], []
    for repetition in range(2):
        right = plainly_right = 0
        for fold in range(3):
            here = [
                (max(level.validation), level.C, -settings.index(record.settings), -number, level)
                for record in fold_records(records)
                if (record.kernel, record.repetition, record.fold) == ("tree++", repetition, fold)
                for number, level in enumerate(record.levels)
            ]
            truth = next(
                np.array(record.truth)
                for record in fold_records(records)
                if (record.repetition, record.fold) == (repetition, fold)
            )
            # The dozen best of all settings and levels; of equal ones the plainer setting, then
            # the larger C, then the smaller depth.
            here.sort(key=lambda item: (item[0], item[2], item[1], item[3]), reverse=True)
            scores = np.mean([item[4].scores for item in here[:12]], axis=0)
            hits = int(((scores > 0) == truth).sum())
            plain = [item for item in here if item[2] == 0]
            alone = max(plain, key=lambda item: (item[0], item[1], item[3]))
            plain_hits = int((np.array(alone[4].predictions) == truth).sum())
            right += hits
            plainly_right += plain_hits
            differences.append((hits - plain_hits) / len(truth))
        tuned.append(right / len(families))
        paper.append(plainly_right / len(families))
    assert side.tuned.each == pytest.approx(tuned)
    assert side.paper.each == pytest.approx(paper)
    assert side.differences == pytest.approx(differences)
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


def test_tables_show_the_self_tuned_in_place_of_its_settings(records, families):
    shown = readable(records)
    assert {(r.kernel, r.variant) for r in shown} == {("tree++", ""), ("wl", ""), ("tree++", TUNED)}
    [summary] = [s for s in summarise(shown) if s.variant == TUNED]
    assert summary.accuracy == compare(records, families, NESTED).tuned
    assert summary.complete
    trained = [sum(r.fits for r in fold_records(given)) for given in (shown, records)]
    assert trained[0] == trained[1]
    # A fold that lacks a setting is not shown, and whoever has none is left alone.
    last = candidates(families)[-1]
    fewer = [r for r in records if (r.settings, getattr(r, "fold", 0)) != (last, 1)]
    assert sum(r.variant == TUNED for r in readable(fewer)) == 2 * 2
    usual = [r for r in records if r.variant != BEYOND]
    assert readable(usual) == usual


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
    last = candidates(families)[-1]
    assert compare([r for r in folds if r.settings != last], families, NESTED) is None
    one = [r for r in folds if (r.settings, r.repetition) != (last, 1)]
    assert compare(one, families, NESTED).repetitions == 1
    assert compare(folds, families, Protocol(folds=3, inner_folds=3)) is None


def test_best_competitor():
    for dataset, row in TABLE2.items():
        name, mean, _ = best_competitor(dataset)
        assert name != "tree++"
        assert mean == max(figure for kernel, (figure, _) in row.items() if kernel != "tree++")
    assert best_competitor("PROTEINS")[:2] == ("sp", 76.00)
    assert best_competitor("drugs") is None
    assert competitor("drugs") == Variant.usual("wl")
    assert competitor("KKI") == Variant.usual("pm")


def test_the_script_reads_the_same_records_in_other_ways(records, families):
    trees = [r for r in fold_records(records) if r.kernel == "tree++"]
    rules = other_choices.RULES
    found = dict(zip(rules, other_choices.accuracies(trees, rules), strict=True))
    assert found["in use"] == pytest.approx(compare(records, families, NESTED).tuned.each)
    half = [r for r in trees if (r.repetition, r.fold) != (1, 2)]
    assert other_choices.accuracies(half, rules).shape == (len(rules), 1)
    # With nothing but the paper's setting, the best alone is what the summary validates.
    alone = [r for r in trees if not r.variant]
    [summary] = summarise(alone)
    [found] = other_choices.accuracies(alone, {"best": other_choices.best})
    assert found == pytest.approx(summary.accuracy.each)


def test_the_script_offers_further_settings(records, families, tmp_path, monkeypatch, capsys):
    file = tmp_path / "r.jsonl"
    log = Variant.usual("tree++").changed({"counts": "log"})
    with ResultsFile(file) as results:
        for record in records:
            results.append(record)
        run(families, log, NESTED, 2, results)
        trees = [r for r in fold_records(results.records) if r.kernel == "tree++"]
    rules = {"in use": other_choices.offered(), "more": other_choices.offered(log.name)}
    usual, more = other_choices.accuracies(trees, rules)
    assert usual == pytest.approx(compare(records, families, NESTED).tuned.each)
    every = [replace(r, variant="") for r in trees]  # as if all of them had been offered
    [by_hand] = other_choices.accuracies(every, {"all": other_choices.committee(12)})
    assert more == pytest.approx(by_hand)
    monkeypatch.setattr("sys.argv", ["other_choices", str(file), "--offer", "counts=log"])
    other_choices.main()
    assert "counts=log" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["other_choices", str(file), "--offer", "counts=binary"])
    with pytest.raises(SystemExit):
        other_choices.main()
    assert "no repetition of ['beyond', 'counts=binary']" in capsys.readouterr().err
