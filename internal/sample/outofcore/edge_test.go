package outofcore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// wideStore is a store with arrays of 64 bits and headers of other lengths, as other writers may make them.
func wideStore(t *testing.T) *store.Store {
	t.Helper()
	s := makeStore(t, map[string]int{"a": 40, "b": 500}, []sampletest.Edges{
		{Rel: "aa", Src: "a", Dst: "a", Count: 300_000}, {Rel: "ab", Src: "a", Dst: "b", Count: 50_000},
		{Rel: "ba", Src: "b", Dst: "a", Count: 2000}, {Rel: "bb", Src: "b", Dst: "b"},
	}, assemble.Options{Both: true})
	wide := map[string][]byte{}
	long := 64
	widen := func(name string, x graph.Index) {
		if name == "" {
			return
		}
		long = 128 + (long+712)%8192 // NumPy allows 10,000
		header := fmt.Sprintf("{'descr': '<u8', 'fortran_order': False, 'shape': (%d,), }", x.Len())
		header += strings.Repeat(" ", long-11-len(header)) + "\n"
		out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
		out = append(out, header...)
		for i := range x.Len() {
			out = binary.LittleEndian.AppendUint64(out, x.At(i))
		}
		wide[name] = out
	}
	for _, e := range s.Graph.Edges {
		arrays := s.Meta.Edges[e.Type.String()].Arrays
		for dir, a := range e.Adj {
			prefix := ""
			if graph.Direction(dir) != e.Primary {
				prefix = "other_"
			}
			widen(arrays[prefix+"far"], a.Far)
			widen(arrays[prefix+"edge_id"], a.EdgeID)
			widen(arrays[prefix+"indptr"], a.Indptr)
		}
	}
	out := filepath.Join(t.TempDir(), "wide.store")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(vfs.OS, s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for name := range m.Files {
		data := wide[name]
		if data == nil {
			if data, err = os.ReadFile(filepath.Join(s.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if name != store.MetaFile {
			if err := w.WriteFile(name, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Seal(t.Context(), s.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	got, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	})
	return got
}

// TestWideArrays checks that nothing changes, in any design, with arrays of 64 bits, with far ends that start before or
// after the first page, and with nodes whose edges fill several blocks.
func TestWideArrays(t *testing.T) {
	s := wideStore(t)
	if a := s.Graph.Edges[0].Adj; a[0].Far.U64 == nil || a[1].Far.U64 == nil {
		t.Fatal("found no arrays of 64 bits")
	}
	scratch := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		p := sampletest.Plan(r, s.Graph)
		for i := range p.Ops {
			if rapid.IntRange(0, 2).Draw(r, "whole") == 0 && len(p.Ops) < 4 {
				p.Ops[i].Take = sample.All
			}
		}
		job := sampletest.Job(r, s.Graph, p)
		opt := Options{Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Window: rapid.IntRange(1, 12).Draw(r, "window"), Ops: rapid.Bool().Draw(r, "ops"), Scratch: scratch}
		sampletest.KeepFirst(p, &job, 12/len(p.SeedType))
		want, stats := memory(t, s, p, job, opt)
		designs := []Design{Windows, Spilled}
		if p.Scope == sample.ScopeEpoch {
			designs = append(designs, Condensed)
		}
		opt.Design = rapid.SampledFrom(designs).Draw(r, "design")
		if opt.Design == Spilled {
			opt.spill = drawSpill(r)
		}
		got, counted, _ := streamed(t, s, p, job, opt)
		if !slices.Equal(got, want) {
			r.Fatalf("found\n%q\nexpected\n%q", got, want)
		}
		if counted != stats {
			r.Fatalf("found counts %+v, expected %+v", counted, stats)
		}
	})
}

// TestNothing checks jobs and plans that sample nothing, and the ends of jobs.
func TestNothing(t *testing.T) {
	s := typedStore(t)
	seeds := []uint32{1, 2, 3, 4, 5, 6, 7}
	hop := sample.Op{From: []int{0}, Edges: "a:aa:a", Dir: graph.In, Take: 3}
	none := sample.Op{From: []int{0, 1}, Edges: "a:aa:a", Dir: graph.In}
	empty := sample.Op{From: []int{0}, Edges: "b:bb:b", Dir: graph.In, Take: 3}
	for name, c := range map[string]struct {
		types []string
		ops   []sample.Op
		job   sample.Job
	}{
		"no ops":             {[]string{"a"}, nil, sample.Job{Seeds: seeds, BatchSize: 2, Epochs: 2}},
		"no seeds":           {[]string{"a"}, []sample.Op{hop}, sample.Job{BatchSize: 2, Epochs: 2}},
		"no batch of a rank": {[]string{"a"}, []sample.Op{hop}, sample.Job{Seeds: seeds, BatchSize: 4, Rank: 2, Ranks: 3}},
		"after the end":      {[]string{"a"}, []sample.Op{hop}, sample.Job{Seeds: seeds, BatchSize: 4, From: 99}},
		"the last batch":     {[]string{"a"}, []sample.Op{hop}, sample.Job{Seeds: seeds, BatchSize: 4, Epochs: 3, From: 5}},
		"take 0":             {[]string{"a"}, []sample.Op{hop, none, none}, sample.Job{Seeds: seeds, BatchSize: 4, Epochs: 2}},
		"take 0 first":       {[]string{"a"}, []sample.Op{{From: []int{0}, Edges: "a:aa:a", Dir: graph.In}, {From: []int{0, 1}, Edges: "a:aa:a", Dir: graph.In, Take: 2}}, sample.Job{Seeds: seeds, BatchSize: 4}},
		"no edges":           {[]string{"b"}, []sample.Op{empty, {From: []int{1}, Edges: "b:bb:b", Dir: graph.In, Take: 3}}, sample.Job{Seeds: seeds, BatchSize: 4, Epochs: 2}},
		"from nothing":       {[]string{"a"}, []sample.Op{{Edges: "a:aa:a", Dir: graph.In, Take: 3}, hop}, sample.Job{Seeds: seeds, BatchSize: 4, Epochs: 2}},
		"links":              {[]string{"a", "b"}, []sample.Op{hop, empty}, sample.Job{Seeds: append(seeds, 1), BatchSize: 3, Epochs: 2}},
	} {
		for scope := range sample.Scope(3) {
			p := &sample.Plan{SeedType: c.types, Scope: scope, Ops: c.ops}
			for _, design := range []Design{Auto, Windows, Condensed, Spilled} {
				if design == Condensed && scope != sample.ScopeEpoch {
					continue
				}
				for _, budget := range []int64{0, 200 << 20} {
					opt := Options{Threads: 2, Design: design, Memory: budget, Scratch: t.TempDir()}
					want, stats := memory(t, s, p, c.job, opt)
					got, counted, _ := streamed(t, s, p, c.job, opt)
					if !slices.Equal(got, want) || counted != stats {
						t.Errorf("%s, scope %s, design %s, memory %d: found %q %+v, expected %q %+v", name, scope, design, budget, got, counted, want, stats)
					}
				}
			}
		}
	}
}

// TestWindowsOfSortedSeeds checks that windows have about as many edges whether the seeds with most edges come first or
// last. If the first batches stood for all, a run would exceed its memory, or sweep more often.
func TestWindowsOfSortedSeeds(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 200_000)
	job.BatchSize, job.Epochs, job.Shuffle = 1024, 1, false
	for i, take := range []int{15, 10, 5} {
		plan.Ops[i].Take = take
	}
	indptr := s.Graph.Edges[0].Adj[graph.In].Indptr.U32
	slices.SortStableFunc(job.Seeds, func(a, b uint32) int { return int(indptr[a+1]-indptr[a]) - int(indptr[b+1]-indptr[b]) })
	var sweeps [2]int64
	for i := range sweeps {
		x, err := Open(t.Context(), vfs.OS, s, plan, Options{Threads: 2, Memory: 100 << 20, Design: Windows})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := Run(t.Context(), x, job, newLines, func(context.Context, *lines, *sample.Batch, *sample.Subgraph) error { return nil }, func(*lines) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		average := float64(stats.Drawn) / float64(stats.Batches)
		if forecast := x.Forecast(); forecast.BatchEdges < 0.7*average || forecast.BatchEdges > 1.5*average {
			t.Errorf("found a forecast of %.0f edges per batch, expected about %.0f", forecast.BatchEdges, average)
		}
		sweeps[i] = x.Counts().Sweeps
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		slices.Reverse(job.Seeds)
	}
	if sweeps[0] < 6 || sweeps[1] > 2*sweeps[0] {
		t.Errorf("found %d sweeps with the seeds of most edges last and %d with these first, expected about as many", sweeps[0], sweeps[1])
	}
}

// TestEdgesAskedForAlone checks that windows of strategies that read columns are computed with a request per edge.
func TestEdgesAskedForAlone(t *testing.T) {
	s := plainStore(t)
	windows := map[sample.How]Window{}
	for _, how := range []sample.How{sample.Replace, sample.Weighted} {
		plan, job := fanout(t, s, sample.ScopeBatch, 20_000)
		for i := range plan.Ops {
			if plan.Ops[i].How = how; how == sample.Weighted {
				plan.Ops[i].Column = "w"
			}
		}
		x, err := Open(t.Context(), vfs.OS, s, plan, Options{Threads: 2, Memory: 80 << 20, Design: Windows})
		if err != nil {
			t.Fatal(err)
		}
		forecast, err := x.Foretell(t.Context(), job)
		if err = errors.Join(err, x.Close()); err != nil {
			t.Fatal(err)
		}
		windows[how] = forecast.Window
	}
	edges := func(how sample.How) float64 { return float64(windows[how].Batches) * windows[how].BatchEdges }
	if edges(sample.Weighted) > 0.65*edges(sample.Replace) { // the column takes memory, too
		t.Errorf("found windows %+v, expected fewer edges in those of weighted ones", windows)
	}
}

// TestKeptWithoutEdgeIDs checks that results that were kept without edge ids are not used where edge ids are wanted.
func TestKeptWithoutEdgeIDs(t *testing.T) {
	s := typedStore(t)
	_, job := fanout(t, s, sample.ScopeBatch, 600)
	plan, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{5, 4}}, sample.FanoutOptions{Dir: graph.Out, SeedType: []string{"a"}, Scope: sample.ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	opt := spilled(t)
	opt.Keep, opt.NoEdgeIDs = filepath.Join(t.TempDir(), "kept"), true
	if _, _, _, err := runKept(t, quick, s, plan, job, opt, 0); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	opt.NoEdgeIDs = false
	want, _ := memory(t, s, plan, job, Options{})
	if got, _, _, err := runKept(t, quick, s, plan, job, opt, -1); err != nil || !slices.Equal(got, want) {
		t.Errorf("found error %v, or other subgraphs", err)
	}
}
