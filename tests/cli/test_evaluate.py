"""The command evaluate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.evaluation.records import fold_records, read_results
from graphgrain.evaluation.summary import summarise

from ..evaluation.test_damaged_results import sealed
from .running import call, fails, words


def test_evaluate(toy, here):
    arguments = ("evaluate", toy, "--kernel", "tree++,vertex-histogram", "--repeats", 2)
    rows = json.loads(call(*arguments, "--folds", 5, "--json").stdout)
    results = here / "graphgrain-results.jsonl"
    assert [row["kernel"] for row in rows] == ["tree++", "vertex-histogram"]
    assert rows == [row.as_dict() for row in summarise(read_results(results))]
    assert rows[0]["accuracy"]["mean"] > 0.8
    before = results.read_bytes()
    table = words(call(*arguments, "--folds", 5).stdout)
    assert results.read_bytes() == before  # nothing was computed again
    assert f"{100 * rows[0]['accuracy']['mean']:.2f} ±" in table
    best = json.loads(call(*arguments, "--folds", 5, "--select", "reported-best", "--json").stdout)
    assert results.read_bytes() == before
    assert best[0]["accuracy"]["mean"] >= rows[0]["accuracy"]["mean"]


def test_evaluate_lets_the_training_graphs_choose(toy, here):
    options = ("--kernel", "vertex-histogram,auto", "--repeats", 1, "--folds", 3)
    chosen = ("--set", "kernels=['wl', 'sp'],max_level=1")
    assert "kernels" in fails("evaluate", toy, *options, *chosen)  # no parameter of a histogram
    rows = json.loads(call("evaluate", toy, *options[2:], "-k", "auto", *chosen, "--json").stdout)
    [row] = rows
    assert (row["kernel"], row["complete"], row["repetitions"]) == ("auto", True, 1)
    assert row["variant"] == "self-tuned, kernels=['wl', 'sp'], max_level=1"
    shown = call("evaluate", toy, *options[2:], "-k", "auto", *chosen).stdout
    assert "All kernels (self-tuned" in words(shown)


def test_evaluate_tree_plus_plus_that_tunes_itself(toy, here):
    options = ("--kernel", "self-tuned,tree++", "--repeats", 1, "--folds", 3)
    rows = json.loads(call("evaluate", toy, *options, "--json").stdout)
    assert {(row["kernel"], row["variant"]) for row in rows} == {
        ("tree++", "self-tuned"),
        ("tree++", ""),
    }
    assert "Tree++ (self-tuned)" in words(call("evaluate", toy, *options).stdout)


def test_evaluate_with_parameters_and_without_duplicates(toy, here):
    call(
        *(
            "evaluate",
            toy,
            "drugs",
            "--set",
            "tree_depth=1",
            "--set",
            "edge_labels=True",
            "--repeats",
            1,
        ),
        *("--mode", "paper", "--folds", 3, "--remove-duplicates", "-r", "mine.jsonl"),
    )
    records = read_results(here / "mine.jsonl")
    assert {r.dataset for r in records} == {"TOY", "drugs"}
    assert {r.variant for r in records} == {"edge_labels=True, tree_depth=1"}
    assert all(r.deduplicated for r in records)
    assert len(fold_records(records)) == 6
    assert len(fold_records(records)[0].levels) == 2


def test_results_of_another_version_are_told(toy, here):
    arguments = ("evaluate", toy, "--repeats", 1, "--folds", 3, "--set", "tree_depth=0")
    assert "holds results" not in call(*arguments).stderr
    path = here / "graphgrain-results.jsonl"
    now = f'"versions": {{"graphgrain": "{gg.__version__}"'
    assert now in path.read_text()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for values in lines:
        values["versions"]["graphgrain"] = "0.0.7"
    path.write_text("".join(map(sealed, lines)))
    assert "holds results of graphgrain 0.0.7" in words(call(*arguments).stderr)


def test_evaluate_a_table_of_molecules(here):
    pytest.importorskip("rdkit")
    rows = ["name,smiles,active"]
    rows += [f"alkane{n},{'C' * n},0" for n in range(2, 12)]
    rows += [f"ether{n},{'C' * n}OC,1" for n in range(2, 12)]
    (here / "molecules.csv").write_text("\n".join(rows) + "\n")
    arguments = ("evaluate", "molecules.csv", "--repeats", 1, "--folds", 4)
    [row] = json.loads(call(*arguments, "--target", "active", "--json").stdout)
    assert row["dataset"] == "molecules: active"
    assert row["accuracy"]["mean"] == 1.0
    message = fails(*arguments)
    assert "with --target. The columns of molecules are name, smiles, active." in message
    assert "Did you mean active?" in fails(*arguments, "--target", "activ")


def test_molecules_that_cannot_be_read_are_skipped_on_request(here):
    pytest.importorskip("rdkit")
    (here / "m.csv").write_text("id,structure\na,CCO\nb,C1CC\nc,C[N+](C)(C)C\n")
    arguments = ("info", "m.csv", "--smiles", "structure", "--json")
    assert "m.csv, line 3 (row 2), 'C1CC'" in fails(*arguments)
    skipped = call(*arguments, "--errors", "skip")
    assert "m.csv, line 3" in words(skipped.stderr)
    plain = json.loads(skipped.stdout)
    assert (plain["graphs"], plain["vertex_labels"]) == (2, 3)
    more = (*arguments, "--errors", "skip", "--labels", "charge,hydrogens")
    assert json.loads(call(*more).stdout)["vertex_labels"] == 4  # C, H, N+, O
    (here / "a.smi").write_text("c1ccccc1C\n")
    assert json.loads(call("info", "a.smi", "--json").stdout)["vertex_labels"] == 1
    aromatic = json.loads(call("info", "a.smi", "--labels", "aromatic", "--json").stdout)
    assert aromatic["vertex_labels"] == 2
    (here / "s.smi").write_text("C[C@H](N)O\nC[C@@H](N)O\n[13CH4]\nC\n[CH3]\n")
    for option, alike in (("stereo", 2), ("isotopes", 2), ("radicals", 2)):
        plain = json.loads(call("info", "s.smi", "--json").stdout)
        labelled = json.loads(call("info", "s.smi", "--labels", option, "--json").stdout)
        assert (plain["duplicates"], labelled["duplicates"]) == (3, alike)


def test_one_repetition_has_no_spread(toy):
    shown = call("evaluate", toy, "--repeats", 1, "--folds", 3, "--set", "tree_depth=0").stdout
    assert "±" not in shown


def test_two_targets_of_one_table_keep_their_names(here):
    pytest.importorskip("rdkit")
    rows = ["smiles,a,b", *(f"{'C' * n}{'O' * (n % 2)},{n % 2},{n // 6}" for n in range(2, 12))]
    (here / "m.csv").write_text("\n".join(rows) + "\n")
    for target in "ab":
        call("evaluate", "m.csv", "--target", target, "--repeats", 1, "--folds", 2)
    call("report", "graphgrain-results.jsonl")
    text = (here / "report.html").read_text()
    assert '<th scope="row" data-value="m: a">' in text
    assert '<th scope="row" data-value="m: b">' in text


@pytest.fixture
def coordinates(here) -> Path:
    """Two classes of triangles that differ in nothing but where their vertices are."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    edges = [(0, 1), (1, 2), (0, 2)]
    graphs = gg.as_graphs([(edges, [1, 1, 1])] * 24)
    places = rng.normal(size=(72, 1)) * 0.1 + np.repeat(y, 3)[:, np.newaxis]
    gg.save_tu(here / "D.zip", graphs._replace(vertex_attributes=places), y)
    return here / "D.zip"


def test_views_and_attributes_on_the_command_line(coordinates, here):
    arguments = ("evaluate", "D.zip", "--repeats", 1, "--folds", 3, "--set", "tree_depth=0")
    blind = call(*arguments, "--json")
    assert "D has 1 vertex attribute, which TreePlusPlus does not use" in words(blind.stderr)
    [row] = json.loads(blind.stdout)
    assert row["accuracy"]["mean"] <= 0.5
    seeing = call(*arguments, "--view", "attribute-bins:n_bins=2", "--json")
    assert "does not use" not in words(seeing.stderr)
    [row] = json.loads(seeing.stdout)
    assert row["dataset"] == "D > AttributeBins(n_bins=2)"
    assert row["accuracy"]["mean"] == 1.0
    call("kernel", "D.zip", "-o", "K.npz", "--view", "attribute-bins:n_bins=2")
    bins = gg.AttributeBins(n_bins=2).fit_transform(gg.load_tu(coordinates)[0])
    expected = gg.TreePlusPlus().fit_transform(bins)
    np.testing.assert_array_equal(np.load(here / "K.npz")["K"], expected)
    lengths = ("--view", "edge-lengths", "--view", "edge-filter:above=0.2", "--json")
    filtered = gg.EdgeFilter(above=0.2).fit_transform(
        gg.EdgeLengths().fit_transform(gg.load_tu(coordinates)[0])
    )
    shown = json.loads(call("info", "D.zip", *lengths).stdout)
    assert shown["edges"] == pytest.approx(filtered.edge_counts.mean())
    assert "Did you mean edge-filter or" in fails("info", "D.zip", "--view", "edge-filtre")
    assert "The parameters of edge-filter" in fails("info", "D.zip", "--view", "edge-filter:x=1")


def test_graphs_that_a_kernel_cannot_tell_apart_are_not_drawn(coordinates, here):
    call("evaluate", "D.zip", "--repeats", 1, "--folds", 3, "--set", "tree_depth=0")
    call("report", "graphgrain-results.jsonl", "--data", "D.zip")
    text = (here / "report.html").read_text()
    data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    assert [item["alike"] for item in data["maps"][0]["items"]] == [True]


@pytest.mark.parametrize(("jobs", "threads"), [(1, 1), (2, 2)])
def test_linear_algebra_follows_the_number_of_threads(jobs, threads, toy, monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    found = []
    original = gg.TreePlusPlus.fit_transform

    def watched(*arguments, **options):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        found.append(max(pool["num_threads"] for pool in pools))
        return original(*arguments, **options)

    monkeypatch.setattr(gg.TreePlusPlus, "fit_transform", watched)
    with threadpool_limits(4, "blas"):  # as many as a machine with four cores has
        call("kernel", toy, "-o", "K.npz", "-j", jobs)
    assert found == [threads]


@pytest.fixture
def molecules(here) -> Path:
    """Chains and rings with a number, a class and a split."""
    pytest.importorskip("rdkit")
    rings = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1", "C1CC1", "C1CCC1", "N1CCC1", "C1OCC1"]
    rows = ["smiles,mass,active,part"]
    for number in range(48):
        ring, tail = rings[number % 8], "C" * (number % 7 + 1)
        part = "test" if number % 5 == 0 else "train"
        rows.append(f"{tail}{ring},{12.5 * (number % 7) + number % 4},{int(number % 4 < 2)},{part}")
    path = here / "molecules.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_one_evaluation_whatever_the_split(molecules, here):
    """The same options, records, table and report as a cross-validation."""
    for split in ("scaffold", "part", "random"):
        arguments = ("evaluate", molecules, "--target", "active", "--split", split)
        arguments += ("-k", "vertex-histogram,wl", "-r", f"{split}.jsonl", "-j", 1)
        rows = json.loads(call(*arguments, "--json").stdout)
        assert [row["kernel"] for row in rows] == ["vertex-histogram", "wl"]
        assert {row["split"] for row in rows} == {split}
        records = fold_records(read_results(here / f"{split}.jsonl"))
        assert {record.split for record in records} == {split}
        before = (here / f"{split}.jsonl").read_bytes()
        shown = words(call(*arguments).stdout)
        assert f"split {split}, validated" in shown
        assert f"{100 * rows[0]['accuracy']['mean']:.2f}" in shown
        assert (here / f"{split}.jsonl").read_bytes() == before
        call("report", f"{split}.jsonl")
        page = (here / "report.html").read_text()
        assert "molecules: active" in page
        assert {"scaffold": "by scaffold", "part": "the column part", "random": "at random"}[
            split
        ] in page
    assert len(fold_records(read_results(here / "random.jsonl"))) == 20  # ten draws, two kernels
    assert records[0].test != records[2].test


def test_numbers_are_evaluated_too(molecules, here):
    arguments = ("evaluate", molecules, "--target", "mass", "-k", "vertex-histogram", "-j", 1)
    for more in (("--split", "part"), ("--folds", 3, "--repeats", 1)):
        [row] = json.loads(call(*arguments, *more, "--json").stdout)
        assert row["r2"]["mean"] > 0.5
        assert row["accuracy"]["mean"] is None
        assert "RMSE" in call(*arguments, *more).stdout
    records = fold_records(read_results(here / "graphgrain-results.jsonl"))
    [part] = [record for record in records if record.split == "part"]
    assert part.test == list(range(0, 48, 5))
    errors = np.array(part.truth) - np.array(part.levels[0].predictions)
    [row] = json.loads(call(*arguments, "--split", "part", "--json").stdout)
    assert row["rmse"]["mean"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    call("report", "graphgrain-results.jsonl", "--data", molecules, "--target", "mass")
    page = (here / "report.html").read_text()
    assert f"{row['rmse']['mean']:.4g}" in page
    assert "RMSE" in page
    call("report", "graphgrain-results.jsonl", "--format", "svg", "-o", "figures")
    assert (here / "figures" / "accuracy.svg").exists()


def test_a_split_does_not_ignore_other_options(molecules):
    arguments = ("evaluate", molecules, "--target", "active", "--split", "scaffold")
    assert "no kernel 'nosuchkernel'" in fails(*arguments, "-k", "nosuchkernel")
    assert "--split scaffold is always the same" in fails(*arguments, "--repeats", 7)
    assert "--folds is for cross-validation" in fails(*arguments, "--folds", 5)
    assert "leave it out with --split scaffold" in fails(*arguments, "--mode", "paper")
    message = fails("evaluate", molecules, "--target", "active", "--split", "parts")
    assert "--split must be folds, random, scaffold" in message
    assert "The columns of molecules: active are smiles, mass, active, part" in message
    assert "must say train or test" in fails(*arguments[:-1], "mass")


def test_the_bundled_drugs_can_be_split_by_scaffold(here):
    pytest.importorskip("rdkit")
    arguments = ("evaluate", "drugs", "--split", "scaffold", "-k", "vertex-histogram")
    [row] = json.loads(call(*arguments, "--json").stdout)
    assert (row["repetitions"], row["split"]) == (1, "scaffold")
    graphs, _ = gg.load_drugs()
    gg.save_tu(here / "D.zip", graphs[:30], np.arange(30) % 2)
    message = fails("evaluate", "D.zip", "--split", "scaffold")
    assert "needs molecules with their SMILES; D has none" in message


def test_columns_and_descriptors_take_part(molecules, here):
    """The target is a dose that only its column tells."""
    lines = molecules.read_text().splitlines()
    doses = np.random.default_rng(0).uniform(0, 10, len(lines) - 1)
    rows = [f"{line},{dose},{2 * dose + 0.25}" for line, dose in zip(lines[1:], doses, strict=True)]
    table = here / "assays.csv"
    table.write_text("\n".join([lines[0] + ",dose,y", *rows]) + "\n")
    arguments = ("evaluate", table, "--target", "y", "--split", "part", "-j", 1, "--json")
    arguments += ("--set", "max_level=1,path_depth=0")
    [without] = json.loads(call(*arguments, "-k", "self-tuned").stdout)
    [row] = json.loads(call(*arguments, "--columns", "dose").stdout)
    assert (row["kernel"], row["variant"]) == (
        "tree++",
        "self-tuned, max_level=1, path_depth=0, columns dose",
    )
    assert row["rmse"]["mean"] < 0.3 * without["rmse"]["mean"]
    [both] = json.loads(call(*arguments, "--columns", "dose", "--descriptors", "rdkit").stdout)
    assert "descriptors=rdkit" in both["variant"]
    assert both["rmse"]["mean"] < without["rmse"]["mean"]
    arguments = ("evaluate", table, "--target", "active", "--columns", "dose")
    assert "--kernel self-tuned or auto, not wl" in fails(*arguments, "-k", "wl")
    assert "no column 'nosuch'" in fails(*arguments[:-1], "nosuch")
    assert "must not name the target" in fails(*arguments[:-1], "active")
    assert "--descriptors" in fails(*arguments, "--descriptors", "mordred")


def test_what_results_depend_on_is_part_of_the_data(here):
    """Changed splits, columns and SMILES are other data, also where the graphs are the same."""
    pytest.importorskip("rdkit")
    rng = np.random.default_rng(0)
    smiles = [("C" * (n % 9 + 1)) + ("O" if n % 2 else "N") for n in range(40)]

    def write(split, dose):
        rows = [
            f"{s},{n % 2},{p},{d}"
            for n, (s, p, d) in enumerate(zip(smiles, split, dose, strict=True))
        ]
        Path("data.csv").write_text("\n".join(["smiles,y,split,dose", *rows]) + "\n")

    def fingerprints(*options):
        call("evaluate", "data.csv", "--target", "y", "-r", "r.jsonl", *options)
        return {record.fingerprint for record in read_results(Path("r.jsonl"))}

    split = np.where(np.arange(40) < 30, "train", "test")
    dose = rng.normal(size=40).round(3)
    given = ("-k", "vertex-histogram", "--split", "split")
    write(split, dose)
    first = fingerprints(*given)
    write(split[::-1], dose)
    second = fingerprints(*given)
    assert len(first) == 1
    assert len(second) == 2
    write(split[::-1], dose)
    assert fingerprints(*given) == second
    write(split[::-1], dose + 1)  # a column that is not used
    assert fingerprints(*given) == second


def test_only_the_rows_that_were_asked_for(molecules, here):
    """The same graphs under another name, or without duplicates, are other rows."""
    (here / "copy.csv").write_bytes(molecules.read_bytes())
    arguments = ("--target", "part", "-k", "vertex-histogram", "--repeats", 1, "--folds", 3)
    for name in (molecules, "copy.csv"):
        [row] = json.loads(call("evaluate", name, *arguments, "--json").stdout)
        assert row["dataset"] == f"{Path(name).stem}: part"
    unique = here / "unique.csv"  # removing duplicates changes nothing
    unique.write_text("".join(["smiles,y\n", *(f"{'C' * n},{n % 2}\n" for n in range(1, 13))]))
    arguments = (unique, "--target", "y", "-k", "vertex-histogram", "--repeats", 1, "--folds", 3)
    for more in ((), ("--remove-duplicates",)):
        [row] = json.loads(call("evaluate", *arguments, *more, "--json").stdout)
        assert row["deduplicated"] == bool(more)
    message = fails("evaluate", unique, "--target", "y", "--repeats", 1, "--folds", 0)
    assert "--folds must be 2 or more" in message


def test_molecules_of_one_scaffold_are_not_split_by_it(here):
    pytest.importorskip("rdkit")
    rows = "".join(f"{'C' * (n + 1)}{'ON'[n % 2]},{n % 2}\n" for n in range(20))
    (here / "chains.csv").write_text("smiles,y\n" + rows)
    message = fails("evaluate", "chains.csv", "--target", "y", "--split", "scaffold")
    assert "leave 0 for training and 20 for testing" in message


def test_a_report_on_any_split_shows_the_graphs(molecules, here):
    """Results of a scaffold split also depend on SMILES, those of a column on that column."""
    for split in ("scaffold", "part"):
        file = f"{split}.jsonl"
        arguments = ("evaluate", molecules, "--target", "active", "-k", "vertex-histogram")
        call(*arguments, "--split", split, "-r", file, "-j", 1)
        call("report", file, "--data", molecules, "--target", "active", "-o", f"{split}.html")
        page = (here / f"{split}.html").read_text()
        assert "have changed since" not in page
        assert ">nan<" not in page  # the recall of a class without test graphs
        assert 'data-figure="maps:0"' in page
    call(*arguments, "--split", "scaffold", "-r", file, "-j", 1)
    call("report", file, "-o", "both.html")
    assert "1 kernel on 1 data set" in (here / "both.html").read_text()


def test_a_report_on_estimators_that_tune_themselves(molecules, here):
    arguments = ("--kernel", "self-tuned", "--repeats", 1, "--folds", 3, "-r", "r.jsonl", "-j", 1)
    for target, words_of in (("mass", "Mean: error of"), ("active", "Majority: accuracy of")):
        (here / "r.jsonl").unlink(missing_ok=True)
        call("evaluate", molecules, "--target", target, *arguments)
        call("report", "r.jsonl", "--data", molecules, "--target", target)
        page = (here / "report.html").read_text()
        assert words_of in page
        assert "support vector machine" not in page
        assert ("Majority" in page) == (target == "active")
