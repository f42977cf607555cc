"""Benchmarks of molecules: splits, measures, records, and the commands that show them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.svm import SVR
from typer.testing import CliRunner

from graphgrain.cli.app import app
from graphgrain.errors import InvalidFileError, InvalidParameterError
from graphgrain.evaluation import moleculeace, molhiv
from graphgrain.evaluation.fingerprints import GaussianRegression, ecfp4
from graphgrain.evaluation.molecule_benchmark import Method, run_method
from graphgrain.evaluation.molecule_sets import molecules_folder, read_molecules
from graphgrain.evaluation.molecule_splits import has_classes, measures_of, parts_of
from graphgrain.evaluation.records import PredictionRecord, from_line, to_line
from graphgrain.evaluation.results_file import ResultsFile, read_results
from graphgrain.evaluation.scaffolds import scaffold_split, scaffolds
from tests.real_data import FOLDER

pytest.importorskip("rdkit")

RINGS = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1"]


@pytest.fixture
def table(tmp_path):
    """Chains and rings with a number, a class and a split."""
    rows = ["smiles,mass,active,part"]
    for number in range(40):
        ring, tail = RINGS[number % 4], "C" * (number % 7 + 1)
        part = "test" if number % 5 == 0 else "train"
        rows.append(f"{tail}{ring},{12.0 * (number % 7) + number % 4},{int(number % 4 < 2)},{part}")
    path = tmp_path / "molecules.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def call(*arguments):
    result = CliRunner().invoke(app, [str(item) for item in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_parts_have_no_scaffold_in_common():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, 300).astype(str)
    parts = scaffold_split(groups)
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))
    names = [set(groups[part]) for part in parts]
    assert all(not names[a] & names[b] for a, b in ((0, 1), (0, 2), (1, 2)))
    assert len(parts[0]) <= 240
    # The largest sets train, the smallest are tested.
    sizes = {name: int((groups == name).sum()) for name in set(groups)}
    assert min(sizes[n] for n in names[0]) >= max(sizes[n] for n in names[2]) - 1


def test_scaffolds_do_not_see_chirality():
    one, other = scaffolds(["C[C@H]1CCCCO1", "C[C@@H]1CCCCO1"])
    assert one == other == "C1CCOCC1"


def test_the_split_of_molhiv():
    path = FOLDER / "molecules" / "hiv.csv.gz"
    if not path.exists():
        pytest.skip("needs molecules/hiv.csv.gz in the data folder")
    import gzip

    with gzip.open(path, "rt") as file:
        rows = [line.rsplit(",", 1) for line in file.read().splitlines()[1:]]
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    # a twentieth of the set has the proportions that the whole has
    sample = [row for row in rows[::20] if Chem.MolFromSmiles(row[0])]
    parts = scaffold_split(scaffolds([text for text, _ in sample]))
    shares = [len(part) / len(sample) for part in parts]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)


def test_random_and_given_parts(table):
    data = read_molecules(table, "mass")
    train, test = parts_of(data, "random", 3)
    assert (len(train), len(test)) == (32, 4)
    assert not set(train) & set(test)
    assert parts_of(data, "random", 4)[1].tolist() != test.tolist()
    train, test = parts_of(data, "part", 0)
    assert test.tolist() == list(range(0, 40, 5))
    with pytest.raises(InvalidParameterError, match="must say train or test"):
        parts_of(data, "mass", 0)
    with pytest.raises(InvalidParameterError, match="got 'parts'"):
        parts_of(data, "parts", 0)


def test_targets(table):
    assert has_classes(read_molecules(table, "active"))
    assert not has_classes(read_molecules(table, "mass"))
    with pytest.raises(InvalidParameterError, match="must hold numbers"):
        read_molecules(table, "part")
    with pytest.raises(InvalidParameterError, match="name it with --target; got 'weight'"):
        read_molecules(table, "weight")


def test_a_method_is_trained_once(table, tmp_path):
    data = read_molecules(table, "mass")
    trained = []

    class Mean:
        def fit(self, X, y):
            trained.append(len(y))
            self.mean = y.mean()
            return self

        def predict(self, X):
            return np.full(len(X), self.mean)

    method = Method("mean", lambda seed, n_jobs: Mean())
    parts = parts_of(data, "part", 0)
    with ResultsFile(tmp_path / "r.jsonl") as results:
        first = run_method(data, method, "part", *parts, 0, results)
        assert run_method(data, method, "part", *parts, 0, results) == first
        run_method(data, method, "part", *parts, 1, results)
    assert trained == [32, 32]
    assert first.truth == data.y[parts[1]].tolist()
    assert from_line(to_line(first)) == first
    assert read_results(tmp_path / "r.jsonl") == []  # nothing of a cross-validation
    with pytest.raises(InvalidFileError, match="a number for each test graph"):
        from_line(to_line(first).replace('"predictions": [', '"predictions": [1.0, '))


def test_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, answers = rng.normal(size=30), rng.normal(size=30)

    def record(truth, answers):
        return PredictionRecord(
            dataset="d", fingerprint="f", split="random", kernel="k", variant="", seed=0,
            test=list(range(30)), truth=truth.tolist(), predictions=answers.tolist(), chosen=[],
            seconds=1.0,
        )  # fmt: skip

    found = {m.name: m.value for m in measures_of(record(truth, answers), classes=False)}
    assert found["R2"] == pytest.approx(r2_score(truth, answers))
    assert found["RMSE"] == pytest.approx(np.sqrt(np.mean((truth - answers) ** 2)))
    classes = (truth > 0).astype(float)
    found = {m.name: m.value for m in measures_of(record(classes, answers), classes=True)}
    assert found["ROC AUC"] == pytest.approx(roc_auc_score(classes, answers))


def test_the_gaussian_machine_is_scikit_learns():
    X = ecfp4([tail + ring for ring in RINGS for tail in ("", "C", "CC", "CCC", "CO")])
    y = X[:, ::7].sum(axis=1) + np.arange(len(X)) / 10
    ours = GaussianRegression().fit(X, y)
    best = ours.best_params_
    peer = SVR(C=best["C"], gamma=best["gamma"]).fit(X.astype(float), y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X.astype(float)), atol=0.02)


def test_a_split_on_the_command_line(table, tmp_path):
    arguments = ("evaluate", table, "--target", "mass", "--split", "part", "-j", 1)
    arguments += ("--results", tmp_path / "r.jsonl")
    rows = json.loads(call(*arguments, "--json").stdout)
    assert [row["method"] for row in rows] == ["tree++", "ecfp4 + svm", "ecfp4 + forest"]
    assert rows[0]["measures"]["R2"] > 0.9
    assert "RMSE" in call(*arguments).stdout


def test_moleculeace_on_the_command_line(table, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(tmp_path))  # what --data replaces
    folder = tmp_path / "data" / "molecules" / "moleculeace"
    folder.mkdir(parents=True)
    lines = table.read_text().splitlines()
    for name in ("CHEMBL1_Ki", "CHEMBL2_EC50"):
        rows = ["smiles,y,cliff_mol,split"]
        for number, line in enumerate(lines[1:]):
            smiles, mass, _, part = line.split(",")
            rows.append(f"{smiles},{mass},{number % 10 // 5},{part}")
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    published = ["dataset,algorithm,descriptor,augmentation,rmse,cliff_rmse"]
    published += [f"{n},SVM,ECFP,0,0.5,0.6\n{n},GCN,GRAPH,0,0.4,0.7" for n in
                  ("CHEMBL1_Ki", "CHEMBL2_EC50")]  # fmt: skip
    (folder / "published.csv").write_text("\n".join(published) + "\n")
    arguments = ("reproduce", "moleculeace", "--data", tmp_path / "data", "-j", 1)
    arguments += ("--results", tmp_path / "r.jsonl")
    found = json.loads(call(*arguments, "--json").stdout)["moleculeace"]
    [first, _] = found["sets"]
    assert first["published svm"] == {"all": 0.5, "cliffs": 0.6}
    assert first["published best"] == {"all": 0.4, "cliffs": 0.7}
    with ResultsFile(tmp_path / "r.jsonl") as results:
        record = next(r for r in results.records if r.kernel == "tree++")
    errors = np.array(record.truth) - np.array(record.predictions)
    assert first["tree++"]["all"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    cliff = np.array(record.test) % 10 // 5 == 1
    assert first["tree++"]["cliffs"] == pytest.approx(np.sqrt(np.mean(errors[cliff] ** 2)))
    assert "mean" in call(*arguments).stdout
    assert moleculeace.set_names(folder) == ["CHEMBL1_Ki", "CHEMBL2_EC50"]


def test_areas_of_molhiv():
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.3).astype(float)
    answers = truth + rng.normal(size=300)
    parts = molhiv.Parts(np.arange(5), np.arange(100), np.arange(100, 300))
    record = PredictionRecord(
        dataset="hiv", fingerprint="f", split="scaffold", kernel="k", variant="", seed=0,
        test=list(range(300)), truth=truth.tolist(), predictions=answers.tolist(), chosen=[],
        seconds=1.0,
    )  # fmt: skip
    areas = molhiv.areas_of(record, parts, draws=200)
    assert areas.validation == pytest.approx(roc_auc_score(truth[:100], answers[:100]))
    assert areas.test == pytest.approx(roc_auc_score(truth[100:], answers[100:]))
    assert areas.low < areas.test < areas.high


def test_no_data(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    with pytest.raises(InvalidParameterError, match="--data or the environment variable"):
        molecules_folder(tmp_path)
