"""Past the paper: the sides that are compared are those of the records, fold by fold."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.beyond import best_competitor, compare, competitor, over_all
from benchmarks.limits import Entrant
from graphgrain.evaluation.experiment import TREE_ROW, run
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.paper import TABLE2
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import SELF_TUNED, ResultsFile, fold_records, read_results
from graphgrain.evaluation.summary import summarise

import graphgrain as gg
from benchmarks import beyond
from graphgrain.kernels.registry import KERNELS

NESTED = Protocol(folds=3, inner_folds=2)


@pytest.fixture(scope="module")
def records(families, tmp_path_factory):
    with ResultsFile(tmp_path_factory.mktemp("tuned") / "r.jsonl") as results:
        for row in (TREE_ROW, KERNELS["tree++"], competitor(families.name)):
            run(families, row, NESTED, 2, results, n_jobs=2)
        return results.records


def test_a_view_is_offered_where_the_data_justifies_it(families, tmp_path):
    assert "views" not in Entrant(TREE_ROW).on(families).fixed
    triangle = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])
    path = ([(0, 1), (1, 2)], ["C", "C", "N"], [2, 3])
    complete = prepare("COX2_MD", [triangle, path] * 6, [1, 2] * 6)
    nothing, bonds = Entrant(TREE_ROW).on(complete).fixed["views"]
    assert nothing is None
    assert bonds.get_params()["drop"] == [1]
    assert Entrant(KERNELS["wl"]).on(complete) == KERNELS["wl"]
    with ResultsFile(tmp_path / "r.jsonl") as results:
        run(complete, Entrant(TREE_ROW).on(complete), Protocol(folds=2, inner_folds=2), 1, results)
        found = fold_records(results.records)
    assert all("EdgeFilter(drop=[1])" in record.settings["view"] for record in found)
    assert {record.variant for record in found} == {SELF_TUNED}  # one column of a table


def test_sets_with_a_view_are_told_apart():
    rows = [
        {"tuned": {"mean": mine}, "competitor": {"mean": theirs}, "tree++": {"mean": 0.0}}
        for mine, theirs in ((0.9, 0.8), (0.7, 0.8), (0.9, 0.7))
    ]
    assert over_all(rows, "competitor") == "self-tuned better than the competitor on 2 of 3"


def test_the_command(tmp_path, capsys):
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    gg.save_tu(tmp_path / "TOY.zip", graphs[pick], y[pick])
    arguments = ["-d", str(tmp_path / "TOY.zip"), "--repeats", "1", "--folds", "2"]
    arguments += ["-r", str(tmp_path / "r.jsonl")]
    [row] = beyond.main([*arguments, "--json"])
    assert json.loads(capsys.readouterr().out) == [row]
    records = read_results(tmp_path / "r.jsonl")
    assert {record.mode for record in fold_records(records)} == {"nested"}
    assert row["published tree++"] is None
    assert 0 <= row["p"] <= 1
    plain = summarise([r for r in records if not r.variant and not r.deduplicated])
    assert row["tree++"]["mean"] == plain[0].accuracy.mean
    assert row["competitor"]["kernel"] == plain[1].kernel == "wl"
    assert row["competitor"]["mean"] == plain[1].accuracy.mean
    beyond.main(arguments)
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{100 * row['tuned']['mean']:.2f}" in shown
    better = row["tuned"]["mean"] > row["competitor"]["mean"]
    assert f"better than the competitor on {int(better)} of 1" in shown
    assert len(read_results(tmp_path / "r.jsonl")) == len(records)


def test_the_sides_are_those_of_the_records(records, families):
    side = compare(records, families, NESTED)
    summaries = {(s.kernel, s.variant): s.accuracy for s in summarise(records)}
    assert side.tuned == summaries["tree++", SELF_TUNED]
    assert side.paper == summaries["tree++", ""]
    assert np.mean(side.differences) == pytest.approx(side.tuned.mean - side.paper.mean)
    assert (side.repetitions, side.folds) == (2, 3)


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
