"""The program graphgrain: answers, exit codes, messages, interruption."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli import app as shared
from graphgrain.cli.app import app
from graphgrain.cli.wide_tables import print_table
from graphgrain.evaluation import published
from graphgrain.evaluation.records import fold_records, kernel_records
from graphgrain.evaluation.results_file import read_results
from graphgrain.evaluation.summary import summarise

from . import real_data

SOURCE = str(Path(gg.__file__).parents[1])
COMMANDS = [
    "datasets",
    "info",
    "kernel",
    "features",
    "demo",
    "evaluate",
    "explain",
    "explore",
    "report",
    "reproduce",
]


def call(*arguments: object, code: int = 0):
    shared.options.debug = False
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    if result.exit_code != code:
        raise AssertionError(f"exit code {result.exit_code}\n{result.output}") from result.exception
    return result


def words(text: str) -> str:
    """Text as one line, however it was folded and framed."""
    return " ".join(text.replace("│", " ").split())


def fails(*arguments: object) -> str:
    """The message of a call with bad input."""
    result = call(*arguments, code=2)
    assert "Traceback" not in result.output
    return words(result.stderr)


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Path:
    """Two families of drugs as a TU zip."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    path = tmp_path_factory.mktemp("data") / "TOY.zip"
    gg.save_tu(path, graphs[pick], y[pick])
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- help and versions


def test_every_command_has_help_with_examples():
    assert all(name in call("--help").output for name in COMMANDS)
    for name in COMMANDS:
        text = call(name, "--help").output
        assert "Examples" in text
        assert f"$ graphgrain {name}" in words(text)


def test_version():
    assert call("--version").output == f"graphgrain {gg.__version__}\n"


def program(*arguments: str, script: str = "", **settings):
    """Run the program in a process of its own, after a script if there is one."""
    start = f"import sys\n{script}\nfrom graphgrain.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        **{"env": {**os.environ, "PYTHONPATH": SOURCE}, "text": True, "check": False, **settings},
    )


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_what_needs_no_computation_imports_none_of_it(argument):
    script = (
        "import atexit\natexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
    )
    done = program(argument, script=script, capture_output=True)
    assert done.returncode == 0
    assert "graphgrain" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "jinja2", "pooch"}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
@pytest.mark.parametrize("module", ["typer", "numpy", "sklearn", "numba"])
def test_ctrl_c_during_an_import_ends_quietly(module, here):
    script = (
        "import os, signal\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Watch())\n"
    )
    done = program("evaluate", "drugs", script=script, capture_output=True, cwd=here)
    assert done.returncode == 130
    assert done.stderr.strip() == "Interrupted."
    assert not list(here.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["datasets"], ["datasets", "--json"]])
def test_standard_output_that_takes_nothing(arguments):
    with open("/dev/full", "w") as full:
        done = program(*arguments, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert words(done.stderr) == (
        "Error: The answer cannot be written to standard output: No space left on device."
    )


@pytest.mark.skipif(os.name == "nt", reason="needs a pipe")
@pytest.mark.parametrize("arguments", [["datasets"], ["datasets", "--json"]])
def test_a_reader_that_has_seen_enough(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = program(*arguments, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_installed_program_answers():
    done = subprocess.run(
        [sys.executable, "-m", "graphgrain", "info", "nowhere", "--debug"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "InvalidParameterError" in done.stderr
    assert "Traceback" in done.stderr  # --debug, at the end of the line


# ---------------------------------------------------------------- datasets, info, kernel


def test_datasets():
    assert "MUTAG" in call("datasets").output
    assert "drugs" in call("datasets").output
    found = json.loads(call("datasets", "proteins", "--json").stdout)
    assert {item["name"] for item in found} >= {"PROTEINS"}


def test_info(toy, here):
    graphs, _ = gg.load_tu(toy)
    shown = json.loads(call("info", toy, "--json").stdout)
    assert shown["graphs"] == len(graphs)
    assert shown["classes"] == 2
    assert f"graphs {len(graphs)}" in words(call("info", toy).stdout)
    call("info", "drugs", "--plot", "drugs.svg")
    assert (here / "drugs.svg").read_text().startswith("<?xml")


def test_kernel_writes_the_matrix(toy, here):
    graphs, y = gg.load_tu(toy)
    shown = json.loads(call("kernel", toy, "-o", "K.npz", "--json").stdout)
    saved = np.load(here / "K.npz")
    np.testing.assert_array_equal(saved["K"], gg.TreePlusPlus().fit_transform(graphs))
    assert saved["y"].tolist() == y.tolist()
    assert json.loads(str(saved["about"]))["parameters"]["tree_depth"] == 3
    assert shown["graphs"] == len(graphs)
    call("kernel", toy, "-o", "K.csv", "--kernel", "wl", "--set", "n_iter=2")
    expected = gg.WeisfeilerLehman(n_iter=2).fit_transform(graphs)
    np.testing.assert_array_equal(np.loadtxt(here / "K.csv", delimiter=","), expected)
    call("kernel", "drugs", "-o", "K.npy", "--set", "tree_depth=0,counts=sqrt")
    expected = gg.TreePlusPlus(tree_depth=0, counts="sqrt").fit_transform(gg.load_drugs()[0])
    np.testing.assert_array_equal(np.load(here / "K.npy"), expected)
    assert sorted(path.name for path in here.iterdir()) == ["K.csv", "K.npy", "K.npz"]


# ---------------------------------------------------------------- evaluate


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
    path.write_text(path.read_text().replace(now, '"versions": {"graphgrain": "0.0.7"'))
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
    assert "m.csv, line 3, 'C1CC'" in fails(*arguments)
    skipped = call(*arguments, "--errors", "skip")
    assert "m.csv, line 3" in words(skipped.stderr)
    plain = json.loads(skipped.stdout)
    assert (plain["graphs"], plain["vertex_labels"]) == (2, 3)
    more = (*arguments, "--errors", "skip", "--charge", "--hydrogens")
    assert json.loads(call(*more).stdout)["vertex_labels"] == 4  # C, H, N+, O
    (here / "a.smi").write_text("c1ccccc1C\n")
    assert json.loads(call("info", "a.smi", "--json").stdout)["vertex_labels"] == 1
    assert json.loads(call("info", "a.smi", "--aromatic", "--json").stdout)["vertex_labels"] == 2
    (here / "s.smi").write_text("C[C@H](N)O\nC[C@@H](N)O\n[13CH4]\nC\n[CH3]\n")
    for option, alike in (("--stereo", 2), ("--isotopes", 2), ("--radicals", 2)):
        found = [json.loads(call("info", "s.smi", *o, "--json").stdout) for o in ((), (option,))]
        assert (found[0]["duplicates"], found[1]["duplicates"]) == (3, alike)


def test_an_option_takes_one_value_wherever_it_stands(toy):
    """The data may follow an option that takes a list."""
    arguments = ("evaluate", "--repeats", 1, "--folds", 2, "--kernel", "vertex-histogram", toy)
    [row] = json.loads(call(*arguments, "--json").stdout)
    assert row["dataset"] == "TOY"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "MUTAGG"], "no file, folder or data set 'MUTAGG'. Did you mean MUTAG?"),
        (["evaluate", "drug"], "Did you mean drugs?"),
        (["evaluate", "no/such.zip"], "There is no file or folder 'no/such.zip'"),
        (["evaluate", "x.csv", "--target", "y"], "There is no file or folder 'x.csv'"),
        (["evaluate", "drugs", "--errors", "ignore"], "--errors is one of raise, skip"),
        (["evaluate", "drugs", "--charge"], "--charge is for files of molecules"),
        (["evaluate", "drugs", "--kernel", "sp", "wl"], "wl is a kernel: options take one value"),
        (["reproduce", "table1", "-d", "KKI", "BZR"], "several are separated by commas"),
        (["reproduce", "table"], "Did you mean table"),
        (["evaluate", "drugs", "--kernel", "treepp"], "no kernel 'treepp'. Did you mean tree++?"),
        (["evaluate", "drugs", "--mode", "naive"], "mode must be one of"),
        (["evaluate", "drugs", "-k", "auto", "--mode", "paper"], "use --mode nested, not paper"),
        (["evaluate", "drugs", "-k", "auto", "--set", "level=3"], "Did you mean max_level?"),
        (["evaluate", "drugs", "-k", "auto", "--set", "max_level=-1"], "max_level must be an int"),
        (["evaluate", "drugs", "--select", "lucky"], "--select is one of validated"),
        (["evaluate", "drugs", "--set", "depth=3"], "Did you mean tree_depth or path_depth?"),
        (["evaluate", "drugs", "--set", "tree_depth=-1"], "tree_depth must be an integer of 0"),
        (["evaluate", "drugs", "--folds", "500"], "got 292 graphs for 500 folds"),
        (["evaluate", "drugs", "--target", "x"], "--target is for files of molecules"),
        (["evaluate", "drugs", "-r", "/proc/r.jsonl"], "'/proc/r.jsonl' cannot"),
        (["kernel", "drugs", "-o", "K.txt"], "written as .npz, .npy or .csv; got 'K.txt'"),
        (["kernel", "drugs", "-o", "no/K.npz"], "There is no folder 'no'"),
        (["reproduce", "table4"], "WHAT is one of table1, table2"),
        (["demo", "--drug", "morphin"], "Did you mean morphine or"),
        (["report", "nothing.jsonl"], "cannot be read: No such file"),
    ],
)
def test_bad_input_has_one_message_and_exit_code_2(arguments, message, here):
    if arguments[-1].startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("needs a folder that nobody can write to")
    assert message in fails(*arguments)
    assert not list(here.glob("*.jsonl"))  # nothing half-written


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 20, "at least two classes"),
        ([0] * 19 + [1], "class 1 has 1"),
        (np.linspace(0, 1, 20), "as for regression"),
        (None, "must be classes to learn"),
    ],
)
def test_data_that_cannot_be_classified(y, message, here):
    graphs = gg.load_drugs()[0][:20]
    gg.save_tu(here / "D.zip", graphs, y)
    assert message in fails("evaluate", "D.zip")


def test_wrong_usage_is_exit_code_2():
    assert "No such command" in fails("evaluat")
    assert "requires an argument" in fails("evaluate", "drugs", "--kernel")
    assert "Missing argument" in fails("evaluate")


def test_a_mistake_of_the_program_says_so(monkeypatch):
    monkeypatch.setattr("graphgrain.graphs.datasets.tu_collection.tu_datasets", lambda: 1 / 0)
    message = words(call("datasets", code=1).stderr)
    assert "ZeroDivisionError" in message
    assert "graphgrain --debug" in message
    result = CliRunner().invoke(app, ["--debug", "datasets"])
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(here):
    command = [sys.executable, "-m", "graphgrain", "evaluate", "drugs", "--repeats", "3"]
    command += ["--kernel", "tree++", "--results", "r.jsonl"]
    settings = {"env": {**os.environ, "PYTHONPATH": SOURCE}, "cwd": here, "text": True}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **settings)
    deadline = time.monotonic() + 120
    results = here / "r.jsonl"
    while time.monotonic() < deadline:
        if results.exists() and b'"kind": "fold"' in results.read_bytes():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "Run the same command again" in words(errors)
    finished = len(fold_records(read_results(results)))
    assert 1 <= finished < 30
    content = results.read_bytes()
    done = subprocess.run(
        [*command[:-5], "1", *command[-4:]], capture_output=True, check=False, **settings
    )
    assert done.returncode == 0, done.stderr
    assert results.read_bytes().startswith(content)


# ---------------------------------------------------------------- reproduce and demo


@pytest.fixture
def real(monkeypatch):
    if not (real_data.FOLDER / "KKI.zip").exists():
        pytest.skip("needs the data set KKI: it is not in the data folder")
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(real_data.FOLDER))


def test_reproduce_shows_the_papers_figures_next_to_ours(real, here):
    arguments = ("--datasets", "KKI", "--kernel", "tree++,wl", "--repeats", 1)
    shown = words(call("reproduce", "table2", *arguments).stdout)
    assert "55.63 ± 1.69" in shown
    assert "50.38 ± 2.77" in shown
    found = json.loads(call("reproduce", "table2", *arguments, "--json").stdout)["table2"]
    assert {row["select"] for row in found["reported-best"]} == {"reported-best"}
    before = len(read_results(here / "graphgrain-results.jsonl"))
    times = json.loads(call("reproduce", "table3", *arguments, "--json").stdout)["table3"]
    assert len(read_results(here / "graphgrain-results.jsonl")) == before
    assert [row["paper"] for row in times] == [2.00, 0.25]
    assert all(row["seconds"] > 0 for row in times)


def test_reproduce_table1_and_the_distributions(real, here):
    [row] = json.loads(call("reproduce", "table1", "-d", "KKI", "--json").stdout)["table1"]
    assert row["ours"] == pytest.approx(list(published.TABLE1["KKI"]), abs=0.005)
    assert "190" in call("reproduce", "table1", "-d", "KKI").output
    call("reproduce", "figure-distributions", "-d", "KKI", "--plot", "d.svg")
    assert (here / "d.svg").exists()
    assert not (here / "graphgrain-results.jsonl").exists()


def test_reproduce_looks_for_data_sets_where_it_is_told(real, here, monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(here))
    arguments = ("reproduce", "table1", "-d", "KKI", "--json", "--data", real_data.FOLDER)
    [row] = json.loads(call(*arguments).stdout)["table1"]
    assert row["ours"] == pytest.approx(list(published.TABLE1["KKI"]), abs=0.005)


def test_reproduce_a_figure(real, here):
    arguments = ("reproduce", "figure-d", "-d", "KKI", "--repeats", 1, "--folds", 3)
    [row] = json.loads(call(*arguments, "--json").stdout)["figure-d"]
    assert list(row["accuracy"]) == [str(depth) for depth in range(8)]
    assert "d = 7" in words(call(*arguments).stdout)
    assert len(kernel_records(read_results(here / "graphgrain-results.jsonl"))) == 8


def test_reproduce_beyond(toy, here):
    arguments = ("reproduce", "beyond", "-d", toy, "--repeats", 1, "--folds", 2)
    [row] = json.loads(call(*arguments, "--json").output)["beyond"]
    records = read_results(here / "graphgrain-results.jsonl")
    assert {record.mode for record in fold_records(records)} == {"nested"}
    assert row["published tree++"] is None
    assert 0 <= row["p"] <= 1
    plain = summarise([r for r in records if not r.variant and not r.deduplicated])
    assert row["tree++"]["mean"] == plain[0].accuracy.mean
    assert row["competitor"]["kernel"] == plain[1].kernel == "wl"
    assert row["competitor"]["mean"] == plain[1].accuracy.mean
    shown = words(call(*arguments).output)
    assert f"{100 * row['tuned']['mean']:.2f}" in shown
    assert "who decided" in shown
    better = row["tuned"]["mean"] > row["competitor"]["mean"]
    assert f"better than the competitor on {int(better)} of 1" in shown
    assert len(read_results(here / "graphgrain-results.jsonl")) == len(records)


def test_report_on_data_of_ones_own(toy, here):
    call("evaluate", toy, "--repeats", 1, "--folds", 3, "--set", "tree_depth=0", "-r", "r.jsonl")
    arguments = ("report", "r.jsonl", "--data", toy, "--title", "My graphs", "--no-paper")
    assert json.loads(call(*arguments, "--json").stdout) == {"output": ["report.html"]}
    assert "My graphs" in (here / "report.html").read_text()
    drawn = json.loads(call(*arguments, "--format", "svg", "-o", "f", "--json").stdout)["output"]
    assert all(Path(path).read_text().startswith("<?xml") for path in drawn)
    assert any("TOY" in path for path in drawn)  # the map of the graphs
    assert "--format is one of html, pdf, svg, png" in fails(*arguments, "--format", "gif")


def test_demo(here):
    shown = json.loads(call("demo", "--json").stdout)
    assert shown["drug"] == "morphine"
    assert [near["family"] for near in shown["neighbours"]][:3] == ["opioids"] * 3
    # The double bond and the ketone set them apart: with edge labels they are not the same.
    assert all(near["similarity"] < 0.95 for near in shown["neighbours"])
    assert shown["accuracy"]["tree++"] > 0.9 > shown["accuracy"]["vertex-histogram"]
    drawn = (here / "graphgrain-demo" / "neighbours.html").read_text()
    assert drawn.count("<svg") == 10
    assert (here / "graphgrain-demo" / "report.html").exists()
    text = words(call("demo", "--drug", "diazepam").stdout)
    assert "Most similar to diazepam (benzodiazepines)" in text


# ---------------------------------------------------------------- tables, views, threads


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_are_as_wide_as_the_terminal_and_lose_no_word(width):
    table = Table(title="A title", box=None, title_justify="left", pad_edge=False)
    table.add_column("data set")
    table.add_column("kernel")
    heads = ["accuracy", "paper", "balanced", "ROC AUC", "repetitions", "kernel s", "kernel MB"]
    for head in heads:
        table.add_column(head, justify="right")
    table.add_column("parameters")
    values = [f"{number}{number}.25 ± 0.55" for number in range(7)]
    table.add_row("Mutagenicity", "Tree++ (counts=sqrt)", *values, "tree_depth=3 (40% of folds)")
    stream = io.StringIO()
    print_table(Console(file=stream, width=width), table, keys=2)
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert all(text.count(word) == 1 for word in [*heads, *values, "A title"])
    assert text.count("Mutagenicity") == text.count("data set") >= 1
    assert "…" not in text


def test_one_repetition_has_no_spread(toy):
    shown = call("evaluate", toy, "--repeats", 1, "--folds", 3, "--set", "tree_depth=0").stdout
    assert "±" not in shown


def test_info_shows_the_balance_of_classes_and_what_rows_mean(toy):
    _, y = gg.load_tu(toy)
    found = json.loads(call("info", toy, "--json").stdout)["class_sizes"]
    assert found == {str(name): int((y == name).sum()) for name in np.unique(y)}
    shown = words(call("info", toy).stdout)
    for count in found.values():
        assert f"{count} ({100 * count / len(y):.1f} %)" in shown
    assert "graphs isomorphic to one of another class" in shown


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
    assert "D has 1 vertex attribute, which TreePlusPlus does not look at" in words(blind.stderr)
    [row] = json.loads(blind.stdout)
    assert row["accuracy"]["mean"] <= 0.5
    seeing = call(*arguments, "--view", "attribute-bins:n_bins=2", "--json")
    assert "does not look at" not in words(seeing.stderr)
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
    from threadpoolctl import threadpool_info

    found = []
    original = gg.TreePlusPlus.fit_transform

    def watched(*arguments, **options):
        found.append(max(pool["num_threads"] for pool in threadpool_info()))
        return original(*arguments, **options)

    monkeypatch.setattr(gg.TreePlusPlus, "fit_transform", watched)
    call("kernel", toy, "-o", "K.npz", "-j", jobs)
    assert found == [threads]


def test_a_figure_that_cannot_be_written_says_so(here):
    message = fails("info", "drugs", "--plot", "absent/d.png")
    assert "The figure cannot be written to 'absent/d.png': No such file" in message
    (here / "d.png").mkdir()
    assert "it is a folder" in fails("info", "drugs", "--plot", "d.png")
    assert "must end in one of" in fails("info", "drugs", "--plot", "d.xyz")


def test_reproduce_goes_on_without_a_kernel_whose_package_is_absent(real, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    arguments = ("reproduce", "table3", "-d", "KKI", "--kernel", "dgk,vertex-histogram")
    result = call(*arguments, "--json")
    found = json.loads(result.stdout)
    assert [row["seconds"] is None for row in found["table3"]] == [True, False]
    assert "graphgrain[deep]" in found["missing"]["dgk"]
    assert "Left out: DGK." in words(result.stderr)
