package graphmill_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// TestVerifyAgainst checks that TFRecords whose files are as they were written, but whose subgraphs are not subgraphs of the
// store, are found: here each output gets the random seed of another one.
func TestVerifyAgainst(t *testing.T) {
	st := rated(t)
	dir := t.TempDir()
	for name, o := range map[string]option.Sample{
		"seeds":      {Draw: option.Draw{Scope: option.ScopeSeed}, Batching: option.Batching{Shuffle: true, Epochs: 2, LimitSeeds: 40}},
		"components": {Draw: option.Draw{Scope: option.ScopeSeed}, Batching: option.Batching{LimitSeeds: 20}, Records: option.Records{Components: 3, Gzip: true, Shards: 2, Name: "x.tfrecord"}},
		"batches":    {Draw: option.Draw{Scope: option.ScopeBatch, Weight: "stars"}, Batching: option.Batching{Seeds: "item", BatchSize: 16, LimitSeeds: 64, Rank: 1, Ranks: 2}},
		"times":      {Draw: option.Draw{Scope: option.ScopeSeed, Before: "day", Untimed: []string{"user:knows:user"}}, Batching: option.Batching{Seeds: "user:rates:item", LimitSeeds: 30}},
		"all edges":  {Draw: option.Draw{Scope: option.ScopeSeed}, Batching: option.Batching{LimitSeeds: 10}, Records: option.Records{Aggregation: option.AggregationNode}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Format, o.Seed = option.FormatTFRecord, 5
			if o.Seeds == "" {
				o.Seeds = "user"
			}
			if o.Weight != "" {
				o.FanoutByType = map[string][]int{"rates": {3, 2}}
			} else {
				o.Fanout = []int{3, 2}
			}
			out := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if _, err := graphmill.Sample(t.Context(), st, out, o); err != nil {
				t.Fatal(err)
			}
			v, err := graphmill.Verify(t.Context(), out, option.Verify{Against: st.Dir()})
			if err != nil || !v.OK || v.Compared.Records == 0 {
				t.Fatalf("found %+v, %v, expected records drawn from the store", v, err)
			}
			rewrite(t, out, "made.json", func(b []byte) []byte { return bytes.Replace(b, []byte(`"seed": 5`), []byte(`"seed": 6`), 1) })
			v, err = graphmill.Verify(t.Context(), out, option.Verify{Against: st.Dir()})
			if err != nil || v.OK || len(v.Damage) > 0 || !strings.Contains(v.Compared.Fault, "found another subgraph") {
				t.Errorf("found %+v, %v, expected a record that is another one", v, err)
			}
		})
	}
}

// rewrite changes a file of an output and its checksums.
func rewrite(t *testing.T, out, name string, edit func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	changed := edit(slices.Clone(b))
	if bytes.Equal(b, changed) {
		t.Fatalf("%s: found nothing to change", name)
	}
	if err := os.WriteFile(filepath.Join(out, name), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for n := range m.Files {
		names = append(names, n)
	}
	if m, err = store.SumFiles(t.Context(), vfs.OS, out, names, 1); err != nil {
		t.Fatal(err)
	}
	text, sum, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n, b := range map[string][]byte{store.ManifestFile: text, store.ManifestSumFile: sum} {
		if err := os.WriteFile(filepath.Join(out, n), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
