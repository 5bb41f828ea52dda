"""Molecules, which RDKit reads: a collection with the columns that OGB's smiles2graph makes."""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._command import GraphmillError
from .made import GRAPH, SOURCE, TARGET, Given, Graphs
from .rows import Rows
from .source import ending, opened, text

_BATCH = 1024  # molecules

# The values of OGB's columns, by their numbers; another value has the last number, "misc".
_CHIRALITY = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
_HYBRIDISATION = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_STEREO = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")

_Molecule = tuple[str, Any, dict[str, Any]]  # where it is, for errors; the molecule, None for an invalid one; its fields


def smiles(given: Given) -> Graphs:
    """A list of SMILES by RDKit, one per line, and perhaps a name after a blank or tab."""
    from rdkit import Chem

    def read() -> Iterator[_Molecule]:
        for number, line in enumerate(text(given.path).split("\n"), 1):
            words = line.split(None, 1)
            if not words or line.startswith("#") or (number == 1 and words[0].lower() in ("smiles", "smile", "canonical_smiles")):
                continue
            yield f"{given.path}:{number}", Chem.MolFromSmiles(words[0]), {"smiles": words[0], "name": words[1].strip() if len(words) > 1 else None}

    return _collection(given, read(), False)


def sdf(given: Given) -> Graphs:
    """A file of SDF or MOL by RDKit. Its properties become columns of the graphs, and positions the column pos of the atoms. Hydrogens stay if they are there."""
    from rdkit import Chem

    count: int | None = None  # of molecules, since RDKit takes blank lines after the last for one more
    if ending(given.path) != ".mol":
        count, last = 0, b""
        with opened(given.path) as f:
            while more := f.read(1 << 20):
                count += (last[-4:] + more).count(b"\n$$$$")  # one may lie across two reads
                last = (last + more)[-4096:]
        if last.rstrip()[-4:] != b"$$$$":
            raise GraphmillError(f"{given.path}: found no $$$$ at the end, expected it after each molecule; the file is cut off: write it again")

    def read() -> Iterator[_Molecule]:
        with opened(given.path) as f:
            for number, m in enumerate(itertools.islice(Chem.ForwardSDMolSupplier(f, removeHs=False), count), 1):
                fields = {} if m is None else {n: _number(str(m.GetProp(n))) for n in m.GetPropNames()}
                name = "" if m is None or not m.HasProp("_Name") else m.GetProp("_Name")
                yield f"{given.path}: molecule {number}", m, {"name": name or None, **fields}

    return _collection(given, read(), True)


def xyz(given: Given) -> Graphs:
    """A file of XYZ by RDKit, with one molecule after another. RDKit determines the bonds from the distances and the charge, which the comment line gives, or `given`."""
    from rdkit import Chem
    from rdkit.Chem import rdDetermineBonds

    def read() -> Iterator[_Molecule]:
        lines = text(given.path).split("\n")
        at = 0
        while at < len(lines):
            if not lines[at].strip():
                at += 1
                continue
            if not lines[at].strip().isdigit():
                raise GraphmillError(f"{given.path}:{at + 1}: found {lines[at][:40]!r}, expected the number of atoms; correct the line")
            count = int(lines[at])
            rows = [" ".join(line.split()[:4]).replace("*^", "e") for line in lines[at + 2 : at + 2 + count]]
            comment = lines[at + 1].strip() if at + 1 < len(lines) else ""
            where = f"{given.path}:{at + 1}"
            m = Chem.MolFromXYZBlock("\n".join([str(count), "", *rows]) + "\n") if len(rows) == count else None
            if m is not None:
                charge = _charge(comment, where, given.charge)
                try:
                    rdDetermineBonds.DetermineBonds(m, charge=charge)
                except ValueError as e:  # such as of an ion whose charge is unknown
                    if not given.drop_invalid:
                        raise GraphmillError(
                            f"{where}: found no bonds that fit the charge {charge} ({' '.join(str(e).split())[:100]}), expected the charge of the molecule; "
                            "write it in the comment line, as charge=-1, or give it with charge=, or leave such molecules out with drop_invalid="
                        ) from e
                    m = None
            yield where, m, {"name": comment or None}
            at += 2 + count

    return _collection(given, read(), True)


def _charge(comment: str, where: str, otherwise: int | None) -> int:
    """The charge that a comment line gives, as charge=-1 or charge: 1, or else another, or 0."""
    found = re.search(r"(?:^|[\s,;])(?:total_)?charge\s*[=:]\s*(\"?)([^\s,;\"]+)\1", comment, re.IGNORECASE)
    if not found:
        return otherwise or 0
    if not re.fullmatch(r"[+-]?\d+(\.0*)?", found[2]):
        raise GraphmillError(f"{where}: found the charge {found[2][:40]!r}, expected a whole number; correct the comment line")
    return int(float(found[2]))


def _number(x: str) -> Any:
    """A property as a number if it is written as one, without zeros that lead."""
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", x):
        return int(x)
    return float(x) if re.fullmatch(r"-?(0|[1-9]\d*)?\.\d+([eE][+-]?\d+)?", x) else x


def _collection(given: Given, molecules: Iterator[_Molecule], positions: bool) -> Graphs:
    """Write the atoms and the bonds of molecules to files of Arrow, and keep the fields of the graphs in memory."""
    import pyarrow
    from rdkit import RDLogger

    int64, float64 = pyarrow.int64(), pyarrow.float64()
    pos = [("pos", pyarrow.list_(float64, 3))] if positions else []
    of_atoms = pyarrow.schema([(GRAPH, int64), ("feat", pyarrow.list_(int64, 9)), *pos])
    of_bonds = pyarrow.schema([(GRAPH, int64), (SOURCE, int64), (TARGET, int64), ("feat", pyarrow.list_(int64, 3))])
    paths = [os.path.join(given.folder, f"{n}.arrow") for n in ("atoms", "bonds")]
    fields: list[dict[str, Any]] = []
    invalid: list[str] = []
    held: list[Any] = []
    with pyarrow.ipc.new_stream(paths[0], of_atoms) as to_atoms, pyarrow.ipc.new_stream(paths[1], of_bonds) as to_bonds:

        def write() -> None:
            feat, place, bond, ends = (np.concatenate(of) for of in zip(*held))
            first = len(fields) - len(held)
            for to, schema, at, arrays in ((to_atoms, of_atoms, 0, (feat, place)), (to_bonds, of_bonds, 2, (ends[:, 0], ends[:, 1], bond))):
                of_graph = np.repeat(np.arange(first, len(fields)), [len(h[at]) for h in held])
                made = [pyarrow.array(x) if x.ndim == 1 else pyarrow.FixedSizeListArray.from_arrays(x.ravel(), x.shape[1]) for x in (of_graph, *arrays)]
                to.write(pyarrow.RecordBatch.from_arrays(made[: len(schema)], schema=schema))
            held.clear()

        RDLogger.DisableLog("rdApp.*")
        try:
            for where, m, row in molecules:
                if m is None:
                    invalid.append(where)
                    if not given.drop_invalid:
                        raise GraphmillError(
                            f"{where}: found a molecule that RDKit cannot read, expected a valid one; correct it, or leave such molecules out with drop_invalid="
                        )
                    continue
                fields.append(row)
                held.append(_arrays(m, positions))
                if len(held) == _BATCH:
                    write()
            if held:
                write()
        finally:
            RDLogger.EnableLog("rdApp.*")
    if invalid:
        warnings.warn(f"{given.path}: {len(invalid)} molecules are left out, because RDKit cannot read them; the first is {invalid[0]}", stacklevel=2)
    streams = [pyarrow.ipc.open_stream(p) for p in paths]
    return Graphs(len(fields), Rows(lambda: fields) if any(v is not None for r in fields for v in r.values()) else None, *streams)


def _arrays(m: Any, positions: bool) -> tuple[Any, Any, Any, Any]:
    """The features of the atoms [N, 9] and their positions [N, 3]; the features of the bonds [2B, 3] and their ends [2B, 2], each bond in both directions."""

    def place(of: tuple[str, ...], value: Any) -> int:
        return of.index(str(value)) if str(value) in of else len(of)

    atoms = [
        (
            a.GetAtomicNum() - 1 if 1 <= a.GetAtomicNum() <= 118 else 118,
            place(_CHIRALITY, a.GetChiralTag()),
            min(a.GetTotalDegree(), 11),
            a.GetFormalCharge() + 5 if -5 <= a.GetFormalCharge() <= 5 else 11,
            min(a.GetTotalNumHs(), 9),
            min(a.GetNumRadicalElectrons(), 5),
            place(_HYBRIDISATION, a.GetHybridization()),
            int(a.GetIsAromatic()),
            int(a.IsInRing()),
        )
        for a in m.GetAtoms()
    ]
    bonds, ends = [], []
    for b in m.GetBonds():
        features = (place(_BONDS, b.GetBondType()), _STEREO.index(str(b.GetStereo())), int(b.GetIsConjugated()))
        i, j = b.GetBeginAtomIdx(), b.GetEndAtomIdx()
        bonds += [features, features]
        ends += [(i, j), (j, i)]
    pos = m.GetConformer().GetPositions() if positions and m.GetNumConformers() else np.full((len(atoms), 3), np.nan)
    return np.array(atoms, np.int64).reshape(-1, 9), pos, np.array(bonds, np.int64).reshape(-1, 3), np.array(ends, np.int64).reshape(-1, 2)
