"""The commands fit and predict."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg

from .running import SOURCE, call, fails

CHAINS = ["C" * size + end for size in range(1, 13) for end in ("O", "N", "F")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("learn")
    with open(place / "train.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["smiles", "mass", "kind", "dose"])
        for number, smiles in enumerate(CHAINS):
            rows.writerow([smiles, 12.5 * len(smiles), smiles[-1], number % 5])
    (place / "new.smi").write_text("CCCO first\nnonsense second\nCCCCCCN third\n\nCCF last\n")
    call("fit", place / "train.csv", "--target", "mass", "-o", place / "mass.ggm")
    call("fit", place / "train.csv", "--target", "kind", "-o", place / "kind.ggm")
    return place


@pytest.fixture(scope="module")
def with_columns(folder):
    """A model that takes two columns beside the molecules."""
    call(
        "fit", folder / "train.csv", "--target", "mass", "--columns", "dose,kind",
        "-o", folder / "columns.ggm",
    )  # fmt: skip
    (folder / "new.csv").write_text("dose,smiles,kind\n2,CCCO,O\n0,CCN,N\n")
    return folder / "columns.ggm"


def test_the_score_is_that_of_held_out_predictions(folder, tmp_path):
    smiles = ["C" * size for size in range(1, 21)]
    noise = np.random.default_rng(0).normal(size=len(smiles))
    rows = "".join(f"{text},{value:.3f}\n" for text, value in zip(smiles, noise, strict=True))
    (tmp_path / "noise.csv").write_text("smiles,y\n" + rows)
    words = ("fit", tmp_path / "noise.csv", "--target", "y", "-o", tmp_path / "m.ggm")
    score = json.loads(call(*words, "--json").stdout)["score"]
    held_out = gg.load_model(tmp_path / "m.ggm").held_out_
    assert score == pytest.approx(np.sqrt(np.mean((held_out - noise.round(3)) ** 2)))
    assert f"RMSE {score:.3g} when each graph is left out" in call(*words).stderr


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_numbers_with_their_intervals_and_neighbours(folder):
    found = call("predict", folder / "mass.ggm", folder / "new.smi", "-o", folder / "a.csv")
    assert "3 molecules" not in found.stderr
    rows = table(folder / "a.csv")
    assert [row["name"] for row in rows] == ["first", "second", "third", "last"]
    assert [row["row"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[1]["prediction"] == ""
    assert rows[1]["problem"]
    model = gg.load_model(folder / "mass.ggm")
    smiles = ["CCCO", "CCCCCCN", "CCF"]
    said = [rows[0], rows[2], rows[3]]
    low, high = model.predict_interval(smiles, 0.9)
    for row, value, least, most in zip(said, model.predict(smiles), low, high, strict=True):
        assert float(row["prediction"]) == pytest.approx(value, rel=1e-4)
        assert float(row["low"]) == pytest.approx(least, rel=1e-4)
        assert float(row["high"]) == pytest.approx(most, rel=1e-4)
        assert row["problem"] == ""
    # the nearest training molecule is itself
    assert [row["nearest"] for row in said] == smiles
    assert [float(row["similarity"]) for row in said] == [1.0, 1.0, 1.0]
    assert [float(row["unseen"]) for row in said] == [0.0, 0.0, 0.0]
    assert {row["in_training"] for row in said} == {"True"}


def test_what_the_model_does_not_know_is_said(folder):
    (folder / "far.smi").write_text("[Na+].[Cl-] salt\nCl[Pt](Cl)(N)N cisplatin\nCCCO propanol\n")
    call("predict", folder / "mass.ggm", folder / "far.smi", "-o", folder / "far.csv")
    *far, near = table(folder / "far.csv")
    for row in far:
        assert (row["in_domain"], row["in_training"]) == ("False", "False")
    assert "Cl" in far[0]["reason"] or "Na" in far[0]["reason"]
    assert "Pt" in far[1]["reason"] or "Cl" in far[1]["reason"]
    assert (near["in_domain"], near["in_training"], near["reason"]) == ("True", "True", "")


@pytest.mark.parametrize("share", ["0", "1", "-0.5", "nan"])
def test_intervals_are_shares(folder, share):
    where = folder / "none.csv"
    model, new = folder / "mass.ggm", folder / "new.smi"
    message = fails("predict", model, new, "-o", where, "--interval", share)
    assert "--interval is above 0 and below 1" in message
    assert not where.exists()


def test_classes_with_probabilities_and_sets(folder):
    found = call(
        "predict", folder / "kind.ggm", folder / "new.smi", "-o", folder / "b.csv", "--json"
    )
    assert json.loads(found.stdout)["unreadable"] == 1
    rows = table(folder / "b.csv")
    assert [row["prediction"] for row in rows] == ["O", "", "N", "F"]
    assert all(0 <= float(row["probability"]) <= 1 for row in rows if row["prediction"])
    assert "N" in rows[2]["set"].split("|")


def test_columns_take_part(folder, with_columns):
    call("predict", with_columns, folder / "new.csv", "-o", folder / "c.csv")
    assert len(table(folder / "c.csv")) == 2
    message = fails("predict", with_columns, folder / "new.smi", "-o", folder / "d.csv")
    assert "the column 'dose'" in message
    assert not (folder / "d.csv").exists()


def test_a_saved_model_is_explained(folder, with_columns):
    """With a model no target is needed, and its columns are read as at fit."""
    model = gg.load_model(folder / "mass.ggm")
    found = json.loads(
        call(
            "explain", folder / "new.smi", "--errors", "skip", "--model", folder / "mass.ggm",
            "--row", "1,4", "-o", folder / "why.html", "--json",
        ).stdout
    )  # fmt: skip
    assert [one["name"] for one in found] == ["first", "last"]
    said = model.predict(["CCCO", "CCF"])
    assert [one["prediction"] for one in found] == pytest.approx(said.tolist(), rel=1e-5)
    assert all(one["interval"][0] <= one["prediction"] <= one["interval"][1] for one in found)
    assert found[0]["truth"] is None
    page = (folder / "why.html").read_text()
    assert "Predictions for 2 graphs of new" in page
    assert "Nearest other graphs" in page  # of new.smi; the training graphs are not there
    shown = call("explain", folder / "new.csv", "--model", with_columns, "--row", 2).stdout
    assert "90 % interval" in " ".join(shown.split())
    call(
        "explain", folder / "new.csv", "--model", with_columns, "--row", 1,
        "-o", folder / "why.png",
    )  # fmt: skip
    assert (folder / "why.png").read_bytes()[:4] == b"\x89PNG"
    missing = fails("explain", folder / "new.smi", "--errors", "skip", "--row", 1)
    assert "--target" in missing


def test_molecules_are_read_as_at_fit(folder):
    """Options for labels belong to the model: `predict` and `explain` take them from it."""
    rows = [f"{'C' * n}{end},{n}.{n}" for n in range(1, 9) for end in ("[NH3+]", "N", "O", "[O-]")]
    (folder / "charged.csv").write_text("\n".join(["smiles,y", *rows]))
    call(
        "fit",
        folder / "charged.csv",
        "--target",
        "y",
        "--labels",
        "charge",
        "-o",
        folder / "charged.ggm",
    )
    call("predict", folder / "charged.ggm", folder / "charged.csv", "-o", folder / "charges.csv")
    found = json.loads(
        call(
            "explain", folder / "charged.csv", "--model", folder / "charged.ggm",
            "--row", "1-4", "--json",
        ).stdout
    )  # fmt: skip
    said = [float(row["prediction"]) for row in table(folder / "charges.csv")[:4]]
    assert [one["prediction"] for one in found] == pytest.approx(said, rel=1e-4)
    asked = ("explain", folder / "charged.csv", "--model", folder / "charged.ggm", "--row", "1")
    assert "Leave stereo out" in fails(*asked, "--labels", "stereo")


def test_an_interrupted_table_is_continued(folder, with_columns, monkeypatch):
    """The rows that are done are written, and the message says how to add the others."""
    monkeypatch.setattr("graphgrain.cli.predict.CHUNK", 2)
    new = folder / "doses.csv"
    new.write_text("smiles,dose,kind\n" + "CCO,1,O\n" * 4 + "CCN,lots,N\n" + "CCF,2,F\n" * 3)
    arguments = ("predict", with_columns, new, "-o", folder / "doses_out.csv")
    message = fails(*arguments)
    assert "row 5 has 'lots'" in message
    assert "rows 1 to 4 are written" in message
    assert "--skip 4 --append" in message
    new.write_text(new.read_text().replace("lots", "3"))
    for wrong in (("--skip", 3), ("--skip", 5), ()):
        assert "ends with row '4'" in fails(*arguments, "--append", *wrong)
    call(*arguments, "--skip", 4, "--append")
    call(*arguments[:-1], folder / "whole.csv")
    assert (folder / "doses_out.csv").read_text() == (folder / "whole.csv").read_text()
    assert "table of the same columns" in fails(*arguments, "--append", "--no-domain", "--skip", 4)
    assert "cannot be read" in fails(*arguments[:-1], folder / "none.csv", "--append")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_runs_leave_the_rows_that_are_done(folder, number):
    many, output = folder / "many.smi", folder / f"many{number}.csv"
    many.write_text("".join(f"{CHAINS[n % 36]} m{n}\n" for n in range(6000)))
    arguments = ["predict", str(folder / "mass.ggm"), str(many), "-o", str(output), "-j", "1"]
    running = subprocess.Popen(
        [sys.executable, "-m", "graphgrain", *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stderr=subprocess.PIPE,
        text=True,
    )
    while running.poll() is None and not (output.exists() and output.stat().st_size):
        time.sleep(0.01)
    running.send_signal(number)
    _, errors = running.communicate()
    done = len(table(output))
    if number == signal.SIGINT:
        assert running.returncode == 130
        assert f"--skip {done} --append" in " ".join(errors.split())
    assert 0 < done < 6000
    call(*arguments, "--skip", done, "--append")
    rows = table(output)
    assert [row["name"] for row in rows] == [f"m{n}" for n in range(6000)]
    assert len({row["prediction"] for row in rows[::36]}) == 1


def test_wrong_input(folder):
    new, model = folder / "new.smi", folder / "mass.ggm"
    assert "above 0 and below 1" in fails(
        "predict", model, new, "-o", folder / "x.csv", "--interval", 1.5
    )
    assert "There is no file" in fails("predict", folder / "no.ggm", new, "-o", folder / "x.csv")
    assert "is not a model of graphgrain" in fails("predict", new, new, "-o", folder / "x.csv")
    train = folder / "train.csv"
    assert "no column 'x'" in fails(
        "fit", train, "--target", "mass", "--columns", "x", "-o", folder / "x.ggm"
    )
    assert "must not name the target" in fails(
        "fit", train, "--target", "mass", "--columns", "mass", "-o", folder / "x.ggm"
    )
    assert not (folder / "x.csv").exists()
    assert not (folder / "x.ggm").exists()


# ---------------------------------------------------------------- columns are those of training


@pytest.fixture(scope="module")
def assays(folder):
    """A model of a value that depends on the assay: 1, 2 or x; and on a dose."""
    rows = ["smiles,assay,dose,y"]
    values = {"1": 0, "2": 10, "x": 5}
    for number, smiles in enumerate(CHAINS * 4):
        assay, dose = list(values)[number % 3], number % 7
        rows.append(f"{smiles},{assay},{dose},{values[assay] + dose}.5")
    (folder / "assays.csv").write_text("\n".join(rows) + "\n")
    call(
        "fit", folder / "assays.csv", "--target", "y", "--columns", "assay,dose",
        "-o", folder / "assays.ggm",
    )  # fmt: skip
    return folder / "assays.ggm"


def predictions(model, place, *rows):
    (place / "some.csv").write_text("\n".join(["smiles,assay,dose", *rows]) + "\n")
    call("predict", model, place / "some.csv", "-o", place / "some_out.csv")
    return [float(row["prediction"]) for row in table(place / "some_out.csv")]


def test_a_prediction_does_not_depend_on_the_other_rows(assays, folder):
    one, two, x = "CCCO,1,3", "CCCO,2,3", "CCCO,x,3"
    expected = predictions(assays, folder, one, two, x)
    assert predictions(assays, folder, one, two) == pytest.approx(expected[:2])
    assert predictions(assays, folder, one, "CCCO,,3")[0] == pytest.approx(expected[0])
    shown = call("explain", folder / "some.csv", "--model", assays, "--row", 1, "--json").output
    assert float(json.loads(shown)["prediction"]) == pytest.approx(expected[0], rel=1e-3)


def test_blank_and_damaged_numbers(assays, folder):
    medians = predictions(assays, folder, "CCCO,1,")
    assert medians == pytest.approx(predictions(assays, folder, "CCCO,1,NA", "CCCO,1,3")[:1])
    (folder / "some.csv").write_text("smiles,assay,dose\nCCCO,1,3\nCCCO,1,lots\n")
    message = fails("predict", assays, folder / "some.csv", "-o", folder / "some_out.csv")
    assert "row 2 has 'lots'" in message


def test_columns_of_the_file_with_names_of_ours_are_kept(folder):
    place, output = folder / "names.csv", folder / "names_out.csv"
    place.write_text("smiles,prediction,low,molecule\nCCCO,mine,lower,propanol\n")
    call("predict", folder / "mass.ggm", place, "-o", output)
    [row] = table(output)
    assert (row["input_prediction"], row["input_low"], row["input_molecule"]) == (
        "mine", "lower", "propanol",
    )  # fmt: skip
    assert float(row["low"]) <= float(row["prediction"])
    assert row["molecule"] == "CCCO"


def test_columns_of_all_records_of_an_sdf_file(folder, monkeypatch):
    """Fields can differ between records, so the first chunk need not have all of them."""
    monkeypatch.setattr("graphgrain.cli.predict.CHUNK", 2)
    Chem = pytest.importorskip("rdkit.Chem")
    text = ""
    for number, (name, value) in enumerate([("a", 1), ("b", 2), ("late", 3), ("a", 4), ("b", 5)]):
        block = Chem.MolToMolBlock(Chem.MolFromSmiles("C" * (number + 1) + "O"))
        text += f"{block}> <{name}>\n{value}\n\n$$$$\n"
    (folder / "fields.sdf").write_text(text)
    call("predict", folder / "mass.ggm", folder / "fields.sdf", "-o", folder / "fields.csv")
    found = [(row["a"], row["b"], row["late"]) for row in table(folder / "fields.csv")]
    assert found == [("1", "", ""), ("", "2", ""), ("", "", "3"), ("4", "", ""), ("", "5", "")]


def test_the_output_of_predict_is_predicted_again(folder):
    """Nothing is lost, however often: each prediction keeps its column."""
    first = folder / "again.csv"
    first.write_text("smiles,prediction,input_prediction\nCCCO,mine,older\n")
    call("predict", folder / "mass.ggm", first, "-o", folder / "again1.csv")
    call("predict", folder / "mass.ggm", folder / "again1.csv", "-o", folder / "again2.csv")
    [once], [twice] = table(folder / "again1.csv"), table(folder / "again2.csv")
    assert (once["input_prediction"], once["input_input_prediction"]) == ("older", "mine")
    assert set(once.values()) <= set(twice.values())
    ours = {"row", "molecule", "prediction", "low", "high", "problem"}
    ours |= {"nearest", "similarity", "unseen", "in_training", "in_domain", "reason"}
    assert len(twice) == len(once) + len(ours)
    call("predict", folder / "mass.ggm", folder / "again2.csv", "-o", folder / "again3.csv")
    [third] = table(folder / "again3.csv")
    assert len(third) == len(twice) + len(ours)


def test_a_column_called_molecule(folder):
    rows = [f"{smiles},{smiles[-1]},{len(smiles)}" for smiles in CHAINS]
    (folder / "m.csv").write_text("\n".join(["smiles,molecule,y", *rows]) + "\n")
    call("fit", folder / "m.csv", "--target", "y", "--columns", "molecule", "-o", folder / "m.ggm")
    call("predict", folder / "m.ggm", folder / "m.csv", "-o", folder / "m_out.csv")
    assert len(table(folder / "m_out.csv")) == len(CHAINS)


def test_a_view_belongs_to_the_model(folder):
    call(
        "fit", folder / "train.csv", "--target", "mass", "--view", "edge-filter:drop=double",
        "-o", folder / "view.ggm",
    )  # fmt: skip
    model = gg.load_model(folder / "view.ggm")
    assert [type(view).__name__ for view in model.views] == ["EdgeFilter"]
    smiles = [row["smiles"] for row in table(folder / "train.csv")]
    call("predict", folder / "view.ggm", folder / "train.csv", "-o", folder / "view.csv")
    found = [float(row["prediction"]) for row in table(folder / "view.csv")]
    np.testing.assert_allclose(found, model.predict(smiles), rtol=1e-4)
    assert {row["unseen"] for row in table(folder / "view.csv")} == {"0.0000"}
    message = fails(
        "explain", folder / "train.csv", "--model", folder / "view.ggm", "--row", 1,
        "--view", "edge-filter:drop=double",
    )  # fmt: skip
    assert "A model has its own view" in message


@pytest.mark.parametrize(
    ("header", "cell", "options", "words"),
    [
        ("smiles,d,y", "{s},{n}.5,lots", ("--target", "y"), "numbers and 'lots'"),
        ("smiles,d,y", "{s},lots,{n}", ("--target", "y", "--columns", "d"), "numbers and 'lots'"),
        ("smiles,d,y", "{s},,{n}", ("--target", "y", "--columns", "d"), None),
        ("smiles,d,y", "{s},1,{n}", ("--target", "y", "--columns", "line"), "no column 'line'"),
    ],
)
def test_mistakes_in_files(folder, header, cell, options, words):
    rows = [f"{s},{n / 3},{n / 7}" for n, s in enumerate(CHAINS)]
    rows.append(cell.format(s="CCCO", n=3))
    if words is None:  # the whole column is blank
        rows = [f"{s},,{n / 7}" for n, s in enumerate(CHAINS)]
        words = "'d' has none"
    (folder / "bad.csv").write_text("\n".join([header, *rows]) + "\n")
    assert words in fails("fit", folder / "bad.csv", *options, "-o", folder / "bad.ggm")
    assert not (folder / "bad.ggm").exists()


def test_models_fitted_in_python(folder):
    rows = [f"{smiles},{n % 5},{'ab'[n % 2]}" for n, smiles in enumerate(CHAINS)]
    (folder / "py.csv").write_text("\n".join(["smiles,dose,flag", *rows]) + "\n")
    columns = {
        "smiles": CHAINS,
        "dose": [float(n % 5) for n in range(len(CHAINS))],
        "flag": ["ab"[n % 2] for n in range(len(CHAINS))],
    }
    y = np.array([len(smiles) + n % 5 for n, smiles in enumerate(CHAINS)]) + 0.5
    several = np.column_stack([y, -y])
    for targets, names in ((y, [""]), (several, ["_0", "_1"])):
        model = gg.GraphRegressor(gg.WeisfeilerLehman(1)).fit(columns, targets)
        model.save(folder / "py.ggm")
        call("predict", folder / "py.ggm", folder / "py.csv", "-o", folder / "py_out.csv")
        expected = model.predict(columns).reshape(len(y), -1)
        low, high = (part.reshape(len(y), -1) for part in model.predict_interval(columns, 0.9))
        rows = table(folder / "py_out.csv")
        for number, end in enumerate(names):
            for name, values in (("prediction", expected), ("low", low), ("high", high)):
                found = [float(row[f"{name}{end}"]) for row in rows]
                np.testing.assert_allclose(found, values[:, number], rtol=1e-4)
    single = gg.GraphRegressor(gg.WeisfeilerLehman(1)).fit(columns, y)
    single.save(folder / "py.ggm")
    shown = call("explain", folder / "py.csv", "--model", folder / "py.ggm", "--row", 3, "--json")
    assert float(json.loads(shown.output)["prediction"]) == pytest.approx(
        single.predict({name: values[2:3] for name, values in columns.items()})[0], rel=1e-3
    )


def test_codes_stay_texts(folder):
    rows = [
        f"{smiles},{('001', '1', '02')[n % 3]},{len(smiles)}.5" for n, smiles in enumerate(CHAINS)
    ]
    (folder / "codes.csv").write_text("\n".join(["smiles,code,y", *rows]) + "\n")
    call(
        "fit", folder / "codes.csv", "--target", "y", "--columns", "code",
        "-o", folder / "codes.ggm",
    )  # fmt: skip
    assert gg.load_model(folder / "codes.ggm").columns_ == {"code": "category"}
    assert gg.load_molecules(folder / "codes.csv")[1]["code"].tolist()[:3] == ["001", "1", "02"]


def test_predictions_are_csv(folder):
    message = fails("predict", folder / "mass.ggm", folder / "new.smi", "-o", folder / "p.xlsx")
    assert "written as .csv" in message


def test_infinite_numbers_are_named_by_their_line(assays, folder):
    (folder / "some.csv").write_text("smiles,assay,dose\nnonsense,1,3\nCCCO,1,inf\n")
    message = fails("predict", assays, folder / "some.csv", "-o", folder / "some_out.csv")
    assert "row 2 has 'inf'" in message
