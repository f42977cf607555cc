"""The command predict: apply a model to new molecules."""

from __future__ import annotations

import csv
import io
import os
from collections import deque
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GraphgrainError, InvalidFileError, InvalidParameterError
from ..writing import check_form, is_standard_output, unwritable
from . import options as opt
from .app import Interrupted, command
from .console import answer, err, written

if TYPE_CHECKING:
    from ..graphs.files.molecules import MoleculeFile, Record

#: Number of molecules predicted at a time; finished chunks are written.
CHUNK = 500
#: Columns that compare a molecule with the training molecules.
DOMAIN = ("nearest", "similarity", "unseen", "in_training", "in_domain", "reason")


@command(
    [
        "graphgrain predict model.ggm new.csv -o out.csv --interval 0.9",
        "graphgrain predict model.ggm library.smi.gz -o out.csv",
        "graphgrain predict model.ggm library.smi.gz -o out.csv --skip 12500 --append",
    ]
)
def predict(
    model: opt.Model,
    data: opt.MoleculeData,
    output: opt.Output,
    interval: opt.Interval = 0.9,
    smiles: opt.Smiles = None,
    domain: opt.Domain = True,
    skip: opt.Skip = 0,
    append: opt.Append = False,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Predict any number of molecules, with an interval for each, to a .csv file.

    The table has one row per molecule: its row in the file (counted from 1 without the header), the
    molecule, the columns of the file, prediction, low and high (regression) or probability and set
    (classification), nearest (the most similar training molecule), similarity, unseen (the share of
    patterns that no training molecule has), in_training, in_domain (whether it is as similar to a
    training molecule as they are among each other), reason (why it is not in the domain) and
    problem (why a molecule cannot be read). Columns of the file that have one of these names are
    written as input_NAME.

    After an interruption the rows that are done are in the file; --skip and --append add the
    others.
    """
    if not 0 < interval < 1:
        raise InvalidParameterError(f"--interval is above 0 and below 1; got {interval:g}.")
    check_form(output, "The table of predictions", (".csv",))
    from ..graphs.batch import counted
    from ..graphs.files.molecules import MoleculeFile
    from ..graphs.processes import progress_bar
    from ..learning.model_file import load_model

    loaded = load_model(model).set_params(n_jobs=jobs)
    file = MoleculeFile.opened(data, smiles)
    fields: dict[str, None] = {}
    if file.blocks:  # fields can differ between the records of an .sdf file
        for record in MoleculeFile.opened(data).records:
            fields.update(dict.fromkeys(record.fields))
    records = islice(file.records, skip, None)
    predictor = _Predictor(loaded, file, list(fields), interval, domain)
    done = unreadable = 0
    with ExitStack() as stack:
        table = _Table(output, skip if append else None)
        stack.callback(table.close)
        bar = stack.enter_context(progress_bar(err().is_terminal, None))
        try:
            while chunk := list(islice(records, CHUNK)):
                columns = predictor(chunk)
                table.write(columns)
                done += len(chunk)
                unreadable += sum(map(bool, columns["problem"]))
                bar.update(len(chunk))
        except KeyboardInterrupt:
            raise Interrupted(_how_to_go_on(skip, done)) from None
        except GraphgrainError as error:
            error.add_note(_how_to_go_on(skip, done))
            raise
    if not done:
        rest = f" after row {skip:,}" if skip else ""
        raise InvalidFileError(f"{file.name} contains no molecule{rest}. Is it the right file?")
    if as_json:
        answer({"molecules": done, "unreadable": unreadable, "output": str(output)})
        return
    words = f", {unreadable:,} of them unreadable (see the column problem)," if unreadable else ""
    written(f"{counted(done, 'molecule')}{words}", output)


def _how_to_go_on(skip: int, done: int) -> str:
    if not done:
        return ""
    return (
        f"The predictions of rows {skip + 1:,} to {skip + done:,} are written. Run the command "
        f"again with --skip {skip + done} --append to continue."
    )


class _Table:
    """A .csv file that is written in chunks; with ``after`` a row, it is continued there."""

    def __init__(self, output: Path, after: int | None) -> None:
        self.output, self.after = output, after
        self.stream: io.FileIO | None = None

    def write(self, columns: dict[str, list[Any]]) -> None:
        """Write the rows of a chunk, given as columns."""
        text = io.StringIO(newline="")
        rows = csv.writer(text)
        if self.stream is None:  # before the first chunk is done, an existing file is left alone
            if self.after is None:
                rows.writerow(columns)
            self.stream = self._opened(list(columns))
        rows.writerows(zip(*columns.values(), strict=True))
        try:
            rest = memoryview(text.getvalue().encode())
            while rest:  # a pipe can take a part
                rest = rest[self.stream.write(rest) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unwritable("The table of predictions", self.output, error) from None

    def _opened(self, header: list[str]) -> io.FileIO:
        if is_standard_output(self.output):
            return open(os.dup(1), "wb", buffering=0)
        if self.after is not None:
            self._check(header, self.after)
        return open(self.output, "wb" if self.after is None else "ab", buffering=0)

    def _check(self, header: list[str], after: int) -> None:
        """Raise an error if the rows of the file do not end where the next ones begin."""
        try:
            with open(self.output, newline="", encoding="utf-8") as file:
                rows = csv.reader(file)
                before = next(rows, [])
                last = next(iter(deque(rows, maxlen=1)), [""])
        except OSError as error:
            raise InvalidFileError(
                f"--append adds rows to a file; {str(self.output)!r} cannot be read: "
                f"{error.strerror}. Leave it out."
            ) from None
        if before != header:
            raise InvalidParameterError(
                f"--append adds rows to a table of the same columns; {str(self.output)!r} has "
                f"{', '.join(before) or 'none'}, not {', '.join(header)}."
            )
        if len(last) != len(header) or last[0] != str(after):
            torn = " (which is not complete: delete it)" if len(last) != len(header) else ""
            raise InvalidParameterError(
                f"--skip is the last row of the table that is continued; {str(self.output)!r} "
                f"ends with row {last[0]!r}{torn}; got {after}."
            )

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()


class _Predictor(NamedTuple):
    """Predicts chunks of a file of molecules."""

    model: Any
    file: MoleculeFile
    fields: list[str]
    interval: float
    domain: bool

    def __call__(self, records: list[Record]) -> dict[str, list[Any]]:
        """Return the rows of the table, as columns."""
        from ..graphs.convert.rdkit import LabelOptions, parse_molecules
        from ..graphs.files.molecules import record_columns
        from ..graphs.tables import names_beside
        from .models import labels_of, model_input

        structures = [record.structure for record in records]
        options = LabelOptions(**dict.fromkeys(labels_of(self.model), True))
        parsed = parse_molecules(structures, options, self.file.blocks)
        readable = parsed.positions.tolist()
        fields = record_columns(records, self.fields)
        del fields["line"]
        results: dict[str, list[Any]] = {}
        if readable:
            molecules: Any = parsed.graphs
            if self.model.descriptors is not None:
                molecules = [structures[position].strip() for position in readable]
            columns = {name: values[readable] for name, values in fields.items()}
            rows = [records[position].row for position in readable]
            X = self.model.count(model_input(self.model, molecules, columns, rows))
            results = self._predicted(X) | (self._domain(X) if self.domain else {})
        names = self._names()
        ours = {"row", "molecule", *names, "problem"}
        table: dict[str, list[Any]] = {
            "row": [record.row for record in records],
            "molecule": [text.strip().split("\n")[0] for text in structures],
        }
        for name, shown in names_beside(ours, list(fields)).items():
            table[shown] = fields[name].tolist()
        for name in names:
            by_position = dict(zip(readable, results.get(name, ()), strict=True))
            table[name] = [by_position.get(position, "") for position in range(len(records))]
        problems = dict(parsed.problems)
        table["problem"] = [problems.get(position, "") for position in range(len(records))]
        return table

    def _targets(self) -> list[str]:
        """Return the endings of the names of columns, one for each target."""
        outputs = self.model.n_outputs_
        return [""] if outputs == 1 else [f"_{number}" for number in range(outputs)]

    def _names(self) -> list[str]:
        """Return the names of the columns of results."""
        parts = ("probability", "set") if hasattr(self.model, "classes_") else ("low", "high")
        names = [f"{name}{end}" for end in self._targets() for name in ("prediction", *parts)]
        return [*names, *DOMAIN] if self.domain else names

    def _predicted(self, X: Any) -> dict[str, list[Any]]:
        """Predict counted molecules."""
        if not hasattr(self.model, "classes_"):
            low, high = self.model.predict_interval(X, self.interval)
            results = {}
            for name, values in (
                ("prediction", self.model.predict(X)),
                ("low", low),
                ("high", high),
            ):
                columns = values.reshape(len(values), -1).T.tolist()
                for end, numbers in zip(self._targets(), columns, strict=True):
                    results[f"{name}{end}"] = [f"{number:.6g}" for number in numbers]
            return results
        probabilities = self.model.predict_proba(X)
        best = probabilities.argmax(axis=1)
        return {
            "prediction": self.model.classes_[best].tolist(),
            "probability": [f"{value:.4f}" for value in probabilities.max(axis=1).tolist()],
            "set": ["|".join(map(str, one)) for one in self.model.predict_set(X, self.interval)],
        }

    def _domain(self, X: Any) -> dict[str, list[Any]]:
        """Compare counted molecules with the training molecules."""
        domain = {name: values.tolist() for name, values in self.model.domain(X).items()}
        molecules = getattr(self.model, "reading_", {}).get("molecules")
        training = molecules or range(1, self.model.n_graphs_ + 1)
        return {
            "nearest": [training[position] for position in domain["nearest"]],
            "similarity": [f"{value:.4f}" for value in domain["similarity"]],
            "unseen": [f"{value:.4f}" for value in domain["unseen"]],
            "in_training": domain["in_training"],
            "in_domain": domain["inside"],
            "reason": domain["reason"],
        }
