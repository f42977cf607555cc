"""Benchmarks of molecules: peers against other libraries, records, measures, tables, commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import average_precision_score, mean_absolute_error, roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVR

pytest.importorskip("rdkit")

from benchmarks import admet, moleculeace, molhiv, splits, training_parts
from benchmarks.molecules import (
    MEASURES,
    MoleculeSet,
    PredictionRecord,
    Task,
    given_task,
    molecules_folder,
    read_set,
    report,
    result_of,
    run,
)
from experiments.markdown import average_ranks, better_on, markdown, write_between
from experiments.peers import (
    COUNTS,
    GaussianSvm,
    Method,
    MinMaxCounts,
    MinMaxRidge,
    ecfp4,
    ecfp4_counts,
    maplight_features,
)
from experiments.records import Records

RINGS = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1"]
SMILES = [tail + ring for ring in RINGS for tail in ("", "C", "CC", "CCC", "CO", "CCCN")]


class Mean:
    """Always the mean of the training molecules."""

    trained: list[int] = []  # noqa: RUF012 - watched by the tests

    def fit(self, smiles, y):
        Mean.trained.append(len(y))
        self.mean = float(np.mean(y))
        return self

    def predict(self, smiles):
        return np.full(len(smiles), self.mean)


MEAN = Method("mean", lambda classes, seed, n_jobs: Mean(), seeded=True)


@pytest.fixture
def data() -> MoleculeSet:
    rows = [
        (tail + ring, 12.0 * tail.count("C") + number, "test" if number == 3 else "train")
        for number, ring in enumerate(RINGS)
        for tail in ("", "C", "CC", "CCC", "CCCC")
    ]
    columns = {
        "smiles": [row[0] for row in rows],
        "split": [row[2] for row in rows],
        "cliff_mol": [str(n % 2) for n in range(len(rows))],
    }
    return MoleculeSet("toy", columns["smiles"], np.array([row[1] for row in rows]), columns)


# ---------------------------------------------------------------- peers


def test_count_tanimoto_is_rdkits():
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    generator = GetMorganGenerator(radius=2)
    prints = [generator.GetSparseCountFingerprint(MolFromSmiles(text)) for text in SMILES]
    kernel = MinMaxCounts().fit(SMILES[:15])
    expected = [[TanimotoSimilarity(a, b) for b in prints[:15]] for a in prints]
    np.testing.assert_allclose(kernel.gram(SMILES), expected)
    assert ecfp4_counts(SMILES[:1])[0] == prints[0].GetNonzeroElements()


def test_features_of_maplight_do_not_depend_on_each_other():
    """Descriptors computed first from the same molecule object change this ErG fingerprint."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdReducedGraphs import GetErGFingerprint

    sugar = "OC[C@@H]1O[C@@](O)(CO)[C@H](O)[C@H]1O[C@@H]1O[C@H](CO)[C@H](O)[C@H](O)[C@H]1O"
    [row] = maplight_features([sugar])
    expected = GetErGFingerprint(MolFromSmiles(sugar))
    np.testing.assert_allclose(row[2048 : 2048 + 315], expected, rtol=1e-6)


def test_ridge_is_scikit_learns_with_the_alpha_that_leaving_out_by_hand_prefers():
    rng = np.random.default_rng(0)
    y = np.array([len(text) for text in SMILES]) + rng.normal(size=len(SMILES))
    ours = MinMaxRidge().fit(SMILES, y)
    K = MinMaxCounts().fit(SMILES).gram(SMILES)
    errors = {}
    for alpha in MinMaxRidge.alphas:
        model = KernelRidge(alpha=alpha, kernel="precomputed")
        # The mean is that of all molecules, as in the closed form.
        held_out = cross_val_predict(model, K, y - y.mean(), cv=LeaveOneOut())
        errors[alpha] = np.mean((held_out - (y - y.mean())) ** 2)
    assert ours.best_params_["alpha"] == min(errors, key=errors.get)
    peer = KernelRidge(alpha=ours.best_params_["alpha"], kernel="precomputed").fit(K, y - y.mean())
    np.testing.assert_allclose(ours.predict(SMILES), peer.predict(K) + y.mean(), rtol=1e-6)


def test_the_gaussian_machine_is_scikit_learns():
    X = ecfp4(SMILES).astype(float)
    y = X[:, ::7].sum(axis=1) + np.arange(len(X)) / 10
    ours = GaussianSvm().fit(SMILES, y)
    best = ours.best_params_
    peer = SVR(C=best["C"], gamma=best["gamma"]).fit(X, y)
    np.testing.assert_allclose(ours.predict(SMILES), peer.predict(X), atol=0.02)


# ---------------------------------------------------------------- records


def test_a_method_is_trained_once_for_each_seed(data, tmp_path):
    Mean.trained.clear()
    task = given_task(data, "rmse")
    path = tmp_path / "r.jsonl"
    for _ in range(2):
        results = Records(path)
        run([task], [MEAN], 2, results, say=lambda words: None)
        first, second = results.records
    assert Mean.trained == [15, 15]
    assert (first["seed"], second["seed"]) == (0, 1)
    assert first["truth"] == data.y[task.test].tolist()


def record(truth, predictions, seed=0):
    return PredictionRecord(
        dataset="toy", fingerprint="f", split="given", method="m", variant="", seed=seed,
        test=list(range(len(truth))), truth=list(truth), predictions=list(predictions), seconds=1.0,
    )  # fmt: skip


def test_measures_are_those_of_scikit_learn_and_scipy():
    rng = np.random.default_rng(0)
    truth, answers = rng.normal(size=40), rng.normal(size=40)
    classes = (truth > 0).astype(float)
    expected = {
        "rmse": np.sqrt(np.mean((truth - answers) ** 2)),
        "mae": mean_absolute_error(truth, answers),
        "spearman": stats.spearmanr(truth, answers)[0],
        "roc_auc": roc_auc_score(classes, answers),
        "average_precision": average_precision_score(classes, answers),
    }
    assert set(expected) == set(MEASURES)
    for name, value in expected.items():
        own = classes if name in ("roc_auc", "average_precision") else truth
        assert MEASURES[name].of(own, answers) == pytest.approx(value)


@pytest.fixture
def few_draws(monkeypatch):
    """Intervals are rougher, and made in a tenth of the time."""
    monkeypatch.setattr("benchmarks.molecules.DRAWS", 100)


def test_intervals_hold_the_truth_about_as_often_as_they_say(few_draws):
    """Of many samples of one population, 95 % of the intervals hold its RMSE, about."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(60):
        errors = rng.normal(size=100)
        found = result_of([record(errors, np.zeros(100))], "rmse")
        held += found.low <= 1.0 <= found.high
    assert 50 <= held <= 60


def test_several_seeds_are_averaged():
    truth = np.array([0.0, 1.0, 2.0])
    found = result_of([record(truth, truth + 1), record(truth, truth + 3, 1)], "mae")
    assert (found.mean, found.spread, found.seeds) == (2.0, 1.0, 2)
    assert (found.low, found.high) == (2.0, 2.0)  # whatever is drawn, the error is the same


# ---------------------------------------------------------------- tables


def test_ranks_are_over_what_all_have():
    scores = {"a": {"x": 3, "y": 1, "z": 9}, "b": {"x": 2, "y": 1}, "c": {"x": 1, "y": 0}}
    ranks, sets = average_ranks(scores)
    assert sets == ["x", "y"]
    assert ranks == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert better_on(scores["a"], scores["b"]) == {"better": 1, "sets": 2, "p": None}
    many = {str(n): float(n) for n in range(8)}
    found = better_on(many, {name: value - 1 - value / 9 for name, value in many.items()})
    assert found["p"] == pytest.approx(stats.wilcoxon([1 + n / 9 for n in range(8)]).pvalue)


def test_a_page_is_changed_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a: begin -->\nold\n<!-- a: end -->\nafter\n")
    write_between(page, "a", markdown(["x"], [["1"]]))
    text = page.read_text()
    assert text.startswith("before\n<!-- a: begin -->\n\n| x |")
    assert text.endswith("| 1 |\n\n<!-- a: end -->\nafter\n")
    with pytest.raises(SystemExit, match="b: begin"):
        write_between(page, "b", "")


def test_the_report_says_who_is_best(data, tmp_path):
    task = given_task(data, "rmse")
    right = Method("right", lambda classes, seed, n_jobs: Right(data))
    results = Records(tmp_path / "r.jsonl")
    run([task], [right, MEAN], 1, results, say=lambda words: None)
    text = report([task], [right, MEAN], results)
    assert "**0.000 (0.000 to 0.000)**" in text
    assert "| right | 1.00 |" in text
    assert "right is better than mean on 1 of 1 sets." in text


class Right:
    """Knows the answers."""

    def __init__(self, data):
        self.known = dict(zip(data.smiles, data.y, strict=True))

    def fit(self, smiles, y):
        return self

    def predict(self, smiles):
        return np.array([self.known[text] for text in smiles])


# ---------------------------------------------------------------- commands


@pytest.fixture
def folder(data, tmp_path, monkeypatch):
    """A data folder with a set for every benchmark."""
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(tmp_path))
    ace = tmp_path / "molecules" / "moleculeace"
    ace.mkdir(parents=True)
    (tmp_path / "admet").mkdir()
    rows = ["smiles,y,cliff_mol,split"]
    for number, text in enumerate(data.smiles):
        columns = (text, data.y[number], data.columns["cliff_mol"][number])
        rows.append(",".join(map(str, (*columns, data.columns["split"][number]))))
    table = "\n".join(rows) + "\n"
    published = ["dataset,algorithm,descriptor,augmentation,rmse,cliff_rmse"]
    for name in ("CHEMBL1_Ki", "CHEMBL2_EC50"):
        (ace / f"{name}.csv").write_text(table)
        published += [f"{name},SVM,ECFP,0,0.5,0.6", f"{name},GCN,GRAPH,0,0.4,0.7"]
    (ace / "published.csv").write_text("\n".join(published) + "\n")
    import gzip

    with gzip.open(tmp_path / "admet" / "herg.csv.gz", "wt") as file:
        file.write(table)
    (tmp_path / "admet" / "tasks.csv").write_text("name,metric,better\nherg,mae,lower\n")
    return tmp_path


def test_moleculeace(folder, data, tmp_path, capsys):
    arguments = ["-m", COUNTS.name, "-r", str(tmp_path / "r.jsonl")]
    text = moleculeace.main(arguments)
    results = Records(tmp_path / "r.jsonl")
    found = results.records[0]
    errors = np.array(found["truth"]) - np.array(found["predictions"])
    cliff = np.array(data.columns["cliff_mol"])[found["test"]] == "1"
    means = f"{np.sqrt(np.mean(errors**2)):.3f} | {np.sqrt(np.mean(errors[cliff] ** 2)):.3f}"
    assert f"| {COUNTS.name} | {means} | 2 |" in text
    assert "| the best of the 24 published, picked for each set | 0.400 | 0.700 | 2 |" in text
    assert "| ECFP + SVM (published, the best mean of its 24) | 0.500 | 0.600 | 2 |" in text
    assert "| CheMeleon (published) | 0.666 |" in text
    before = (tmp_path / "r.jsonl").read_bytes()
    page = tmp_path / "page.md"
    page.write_text("<!-- moleculeace: begin -->\n<!-- moleculeace: end -->\n")
    moleculeace.main([*arguments, "--show", "--page", str(page)])
    assert means in page.read_text()
    assert (tmp_path / "r.jsonl").read_bytes() == before
    with pytest.raises(SystemExit, match="There is no 'CHEMBL3'"):
        moleculeace.main(["-d", "CHEMBL3"])


def test_admet(folder, tmp_path, capsys):
    arguments = ["-m", COUNTS.name, "-r", str(tmp_path / "r.jsonl"), "--json"]
    found = json.loads(admet.main(arguments))
    results = Records(tmp_path / "r.jsonl")
    [own] = results.records
    assert found[COUNTS.name]["herg"]["mean"] == pytest.approx(
        mean_absolute_error(own["truth"], own["predictions"])
    )


def test_training_parts_see_no_test_molecule(folder):
    whole = admet.task_of("herg", "mae")
    tasks = training_parts.tasks_of("herg", "mae", 3)
    assert len({task.name for task in tasks}) == 3
    for task in tasks:
        assert len(task.train)
        assert len(task.test)
        assert sorted([*task.train, *task.test]) == sorted(whole.train)


def test_draws_of_a_split_are_one_row(data, tmp_path, few_draws):
    tasks = [
        Task(data, f"random {seed}", *splits.parts(data, "random", seed), "mae", "toy, random")
        for seed in range(3)
    ]
    assert all(not set(task.train) & set(task.test) for task in tasks)
    results = Records(tmp_path / "r.jsonl")
    run(tasks, [MEAN], 1, results, say=lambda words: None)
    text = report(tasks, [MEAN], results)
    expected = np.mean([mean_absolute_error(r["truth"], r["predictions"]) for r in results.records])
    [row] = [line for line in text.splitlines() if line.startswith("| toy, random")]
    assert f"{expected:.3f}" in row


def test_areas_of_molhiv(few_draws):
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.3).astype(float)
    answers = truth + rng.normal(size=300)
    parts = molhiv.Parts(np.arange(5), np.arange(100), np.arange(100, 300))
    validation, test = molhiv.areas_of([record(truth, answers)], parts)
    assert validation.mean == pytest.approx(roc_auc_score(truth[:100], answers[:100]))
    assert test.mean == pytest.approx(roc_auc_score(truth[100:], answers[100:]))
    assert test.low < test.mean < test.high


def test_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="that GRAPHGRAIN_DATA names"):
        molecules_folder()
    (tmp_path / "bad.csv").write_text("smiles,z\nCCO,1\n")
    with pytest.raises(SystemExit, match="the column y"):
        read_set(tmp_path / "bad.csv", "y")
