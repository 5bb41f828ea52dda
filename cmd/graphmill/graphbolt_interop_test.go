//go:build interop

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
)

// graphboltCheck converts parts with DGL's own tool, and compares its output with the parts.
const graphboltCheck = `
import os, sys
os.environ["DGLBACKEND"] = "pytorch"
import json, dgl, torch
import dgl.distributed as dd
config = sys.argv[1]
before = json.load(open(config))
dd.dgl_partition_to_graphbolt(config, store_eids=True, store_inner_node=True, store_inner_edge=True)
after = json.load(open(config))
assert {k: v for k, v in after.items() if k in before and not k.startswith("part-")} == {k: v for k, v in before.items() if not k.startswith("part-")}
for p in range(before["num_parts"]):
  g = dd.load_partition(config, p)[0]
  b = dd.load_partition(config, p, use_graphbolt=True)[0]
  indptr, indices, eids = g.adj_tensors("csc")
  assert torch.equal(b.csc_indptr.long(), indptr) and torch.equal(b.indices.long(), indices)
  assert torch.equal(b.node_attributes["_ID"].long(), g.ndata["_ID"]) and torch.equal(b.node_attributes["inner_node"], g.ndata["inner_node"])
  assert torch.equal(b.edge_attributes["_ID"].long(), g.edata["_ID"][eids]) and torch.equal(b.edge_attributes["inner_edge"], g.edata["inner_edge"][eids])
  if b.type_per_edge is not None:
    assert torch.equal(b.type_per_edge.long(), g.edata["_TYPE"][eids].long())
print("equal")
`

// docs/graphbolt.md: DGL's tool accepts dispatched parts, typed or not. verify then still finds no damage, and ignores
// the files that the tool added.
func TestPeerGraphBolt(t *testing.T) {
	for _, name := range []string{"homo", "hetero_hop1"} {
		dir := t.TempDir()
		s, out := filepath.Join(dir, "g.store"), filepath.Join(dir, "parts")
		must(t, "import", golden.Dir(t, "dgl", name, "graph.bin"), "--out", s)
		must(t, "partition-graph", s, "--parts", "3", "--graph-name", "g", "--return-mapping", "--out", out)
		python(t, "dgl", graphboltCheck, filepath.Join(out, "metadata.json"))
		must(t, "import", out, "--out", filepath.Join(dir, "again.store"))
		for _, f := range []string{"manifest.json", "manifest.json.xxh3"} { // which the changed configuration is not in
			if err := os.Remove(filepath.Join(out, f)); err != nil {
				t.Fatal(err)
			}
		}
		must(t, "verify", filepath.Join(out, "metadata.json"), "--against", s)
	}
}
