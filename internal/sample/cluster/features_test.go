package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// Examples made elsewhere have the numbers of features that the store holds in pieces, by both methods: workers hand on codes, and widen
// them where they encode.
func TestFeaturesInPieces(t *testing.T) {
	dir := t.TempDir()
	users, follows := "id,v,city\n", "s,d,w\n"
	for i := range 40 {
		users += fmt.Sprintf("%d,%d,c%d\n", i, i*i, i)
		follows += fmt.Sprintf("%d,%d,%d\n%d,%d,%d\n", i, (i+1)%40, i, i, (3*i+2)%40, i%7)
	}
	for name, text := range map[string]string{"u.csv": users, "e.csv": follows, "graph.yaml": `
nodes: {u: {table: u.csv, id: id, columns: {v: float32, city: string}, features: {x: {bits: 4, parts: [v, {from: city, encode: one-hot}]}}}}
edges: {u:e:u: {table: e.csv, src: s, dst: d, columns: {w: float32}, features: {e: {bits: 8, dtype: float16, parts: [w]}}}}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := importing.Import(t.Context(), dir, filepath.Join(dir, "g.store"), option.Import{Build: option.Build{Run: option.Run{NoReport: true}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made, err := widening.Read(vfs.OS, s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	fanouts, err := sample.ParseFanouts("2,1")
	if err != nil {
		t.Fatal(err)
	}
	links, err := seeds.Find(t.Context(), vfs.OS, s, "u:e:u", nil, "", nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		types  []string
		seeds  []uint32
		output output.RecordsOptions
	}{
		{types: []string{"u"}, seeds: []uint32{0, 7, 7, 39, 12}},
		{types: links.Types, seeds: links.Nodes, output: output.RecordsOptions{SeedColumns: links.Columns, SeedEdges: links.Edges}},
	} {
		p, err := sample.FromFanouts(s.Graph, fanouts, sample.FanoutOptions{SeedType: c.types, Scope: sample.ScopeSeed, Dir: graph.In})
		if err != nil {
			t.Fatal(err)
		}
		job := sample.Job{Seeds: c.seeds, BatchSize: 2, Epochs: 1, Ranks: 1, Threads: 1}
		records := c.output
		records.Shards, records.Components, records.Examples, records.Features = 1, 1, 5, made
		want := outputs(t, s, p, job, &records, sample.Options{}, nil)
		for name, without := range map[string]func(o *output.RecordsOptions){
			"features":             func(o *output.RecordsOptions) { o.Features = nil },
			"features of the link": func(o *output.RecordsOptions) { o.SeedEdges = "" },
		} {
			bare := records
			without(&bare)
			if other := outputs(t, s, p, job, &bare, sample.Options{}, nil); strings.Count(other, "\n") != strings.Count(want, "\n") || (other == want) != (bare.Features != nil && !p.Link()) {
				t.Errorf("seeds %v: found Examples without the %s that are like those with them", c.types, name)
			}
		}
		for _, method := range []Method{Local, Shuffle} {
			e := newEngine(2)
			e.Twice = true
			run := &Run{Engine: e, Options: Options{Method: method, GroupSeeds: 2, WaveSeeds: 1, RangeNodes: 3}}
			if got := outputs(t, s, p, job, &records, sample.Options{}, run); got != want {
				t.Errorf("seeds %v, method %v: found\n%s\nexpected\n%s", c.types, method, got, want)
			}
		}
	}
}
