"""Makes subgraphs bidirectional by the real PyG, and compares their edges: argv[1] is a JSON file with a list of
{"drawn": {edge type: [[source, target], ...]}, "bidirectional": the same}. It exits with 1 where edges differ."""

import json
import sys

import torch
from torch_geometric.sampler.base import HeteroSamplerOutput, SamplerOutput

cases = json.load(open(sys.argv[1]))
edges = 0
for number, case in enumerate(cases):
    ends = {tuple(t.split(":")): torch.tensor(e, dtype=torch.long).reshape(-1, 2) for t, e in case["drawn"].items()}
    row, col = ({t: e[:, i].clone() for t, e in ends.items()} for i in (0, 1))
    if len(ends) == 1:
        ((only, _),) = ends.items()
        out = SamplerOutput(node=None, row=row[only], col=col[only], edge=None).to_bidirectional()
        found = {only: (out.row, out.col)}
    else:
        out = HeteroSamplerOutput(node={}, row=row, col=col, edge=None, batch=None).to_bidirectional()
        found = {t: (out.row[t], out.col[t]) for t in ends}
    for t, (a, b) in found.items():
        want, got = sorted(zip(a.tolist(), b.tolist())), sorted(map(tuple, case["bidirectional"][":".join(t)]))
        edges += len(want)
        if want != got:
            sys.exit(f"case {number}, {t}: found edges {got}, expected those of PyG, {want}")
print(len(cases), "subgraphs,", edges, "edges")
