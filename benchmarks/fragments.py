"""Measure how many fragments of molecules get a name of their own, and how fast.

``python -m benchmarks.fragments [molecules.smi ...]`` reads 2,000 molecules of each file, and the
bundled drugs. Agreement is the share of molecules for which RDKit's ``fr_*`` and we count the same.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

import graphgrain as gg
from graphgrain.explaining.fragments import cut

#: Names that say no more than which atoms there are, and ring systems by number and heteroatoms.
UNNAMED = re.compile(r".* atom|around.*|group.*")
GENERAL = re.compile(r"(fused|spiro|bridged) ring.*|ring of.*")
_MOST = 2_000
#: RDKit's counts, and the names that define the same group.
COUNTS = {
    "fr_nitro": r"nitro|nitramine|nitrate ester|nitroguanidine",
    "fr_nitrile": r"nitrile|acyl cyanide|cyanoguanidine",
    "fr_isocyan": r"isocyanate",
    "fr_isothiocyan": r"isothiocyanate",
    "fr_azide": r".*azide",
    "fr_aldehyde": r"aldehyde",
    "fr_barbitur": r"barbiturate",
    "fr_morpholine": r"morpholine",
    "fr_piperzine": r"piperazine",
    "fr_sulfone": r"sulfone|sulfolane|cyclic sulfone",
    "fr_SH": r"thiol|thiophenol",
    "fr_epoxide": r"epoxide",
    "fr_tetrazole": r"tetrazole",
    "fr_phenol": r"phenol",
    "fr_urea": r"urea|cyclic urea",
    "fr_halogen": r".*(fluoride|chloride|bromide|iodide)",
}


def measure(name: str, graphs: gg.GraphBatch) -> None:
    """Print the figures of one collection."""
    from rdkit import Chem
    from rdkit.Chem import Fragments

    cut(graphs[0])  # compiles the table
    start = time.perf_counter()
    parts = [cut(graph) for graph in graphs]
    seconds = time.perf_counter() - start
    fragments, atoms = Counter[str](), Counter[str]()
    for part in (part for each in parts for part in each):
        kind = "general" if GENERAL.fullmatch(part.name) else "named"
        kind = "unnamed" if UNNAMED.fullmatch(part.name) else kind
        fragments[kind] += 1
        atoms[kind] += len(part.vertices)
    print(f"{name}: {len(graphs):,} molecules, {1000 * seconds / len(graphs):.1f} ms each")
    for kind in ("named", "general", "unnamed"):
        print(
            f"  {kind:8} {100 * fragments[kind] / fragments.total():6.2f} % of fragments"
            f" {100 * atoms[kind] / atoms.total():6.2f} % of atoms"
        )
    molecules = [Chem.MolFromSmiles(smiles) for smiles in graphs.columns["smiles"]]
    for function, pattern in COUNTS.items():
        count = getattr(Fragments, function)
        equal = sum(
            count(molecule) == sum(bool(re.fullmatch(pattern, part.name)) for part in each)
            for molecule, each in zip(molecules, parts, strict=True)
        )
        print(f"  {function:15} {100 * equal / len(graphs):6.2f} % agree")


def main() -> None:
    measure("drugs", gg.load_drugs()[0])
    for path in sys.argv[1:]:
        graphs, _ = gg.load_molecules(path)
        measure(path, graphs[:: max(1, len(graphs) // _MOST)][:_MOST])


if __name__ == "__main__":
    main()
