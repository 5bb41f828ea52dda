package options

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	has := func(flag string) bool {
		return slices.Contains([]string{"memory", "edge-features", "ip-config", "ids", "no-edge-ids", "force", "balance-types", "ssh-port", "save-orig-nids"}, flag)
	}
	for _, c := range []struct{ text, flags, keywords string }{
		{"found `Memory` 1, give more `Memory`", "found --memory 1, give more --memory", "found memory=1, give more memory"},
		{"found `Memory` 1.0 MiB; try `Memory` 24", "found --memory 1.0 MiB; try --memory 24", "found memory 1.0 MiB; try memory=24"},
		{"found 0 of `Fanout` and `Plan`; try `Fanout` 15,10", "found 0 of Fanout and Plan; try Fanout 15,10", "found 0 of fanout and plan; try fanout=[15, 10]"},
		{"`EdgeFeatures`, `IPConfig`, `SSHPort`", "--edge-features, --ip-config, --ssh-port", "edge_features, ip_config, ssh_port"},
		{"`IDs` and `NoEdgeIDs` and `SaveOrigNids`", "--ids and --no-edge-ids and --save-orig-nids", "ids and no_edge_ids and save_orig_nids"},
		{"found `Subgraph` induced; see `ListFormats`", "found Subgraph induced; see graphmill import --list-formats", "found subgraph_type induced; see graphmill import --list-formats"},
		{"give `Overwrite`", "give --force", "give overwrite"},
		{"`TypesTogether`", "--balance-types=false", "types_together"},
		{"set `DanglingEdges` drop", "set graphmill import --dangling-edges drop", "set dangling_edges drop"},
		{"give it as `Seeds`, with `SeedType` a,b", "give it as graphmill sample --seeds, with --seed-type a,b", "give it as seeds, with seed_type a,b"},
		{"import with `Both`", "import with --both", "import with both"},
		{"no `Unknown` field, and `graphmill import` is no field", "no Unknown field, and `graphmill import` is no field", "no unknown field, and `graphmill import` is no field"},
	} {
		if got := Flags(c.text, has); got != c.flags {
			t.Errorf("found %q, expected %q", got, c.flags)
		}
		if got := Keywords(c.text); got != c.keywords {
			t.Errorf("found %q, expected %q", got, c.keywords)
		}
	}
}
