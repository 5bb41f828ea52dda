package sample_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestListed checks that every subgraph of a job has the lists of its own links, in any order, and no others.
func TestListed(t *testing.T) {
	dir, met := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		p, job := sampletest.SparseCase(r, s.Graph)
		if p.Negatives == nil || p.Negatives.How != sample.Listed {
			return
		}
		sampler, err := sample.New(s.Graph, p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer sampler.Close()
		own := func(link int) (pairs []uint32) {
			from, to := link*p.Negatives.Most(), (link+1)*p.Negatives.Most()
			if ends := job.Negatives.Ends; ends != nil {
				if from = 0; link > 0 {
					from = int(ends[link-1])
				}
				to = int(ends[link])
			}
			if !job.Negatives.Targets {
				return job.Negatives.Nodes[2*from : 2*to]
			}
			for _, target := range job.Negatives.Nodes[from:to] {
				pairs = append(pairs, job.Seeds[2*link], target)
			}
			return pairs
		}
		_, err = sample.Run(context.Background(), sampler, job, func() int { return 0 }, func(_ int, b *sample.Batch, sub *sample.Subgraph) error {
			rows := b.Rows
			if p.Scope == sample.ScopeSeed {
				rows = rows[b.At : b.At+1]
			}
			var want []uint32
			for i, row := range rows {
				from, to := sub.Negatives.Span(i, len(rows))
				if !slices.Equal(sub.Negatives.Nodes[2*from:2*to], own(int(row))) {
					t.Fatalf("link %d: found %v, expected %v", row, sub.Negatives.Nodes[2*from:2*to], own(int(row)))
				}
				want = append(want, own(int(row))...)
			}
			if !slices.Equal(sub.Negatives.Nodes, want) {
				t.Fatalf("found %v, expected %v", sub.Negatives.Nodes, want)
			}
			for i, local := range sub.Negatives.Local {
				if nodes := sub.Nodes[s.Graph.NodeType(p.SeedType[i%2])]; nodes[local] != want[i] {
					t.Fatalf("negative end %d: found node %d, expected %d", i, nodes[local], want[i])
				}
			}
			met++
			return nil
		}, func(int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	})
	if met == 0 {
		t.Error("found no subgraph with lists, expected some")
	}
}

// TestListedRefused checks the errors of lists that do not fit a plan or a job.
func TestListedRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "g.store")
	sampletest.Write(t, out, map[string]int{"a": 3, "b": 2}, []sampletest.Edges{{Src: "a", Rel: "r", Dst: "b", Count: 4}}, assemble.Options{})
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	pairs := []string{"a", "b"}
	for _, test := range []struct {
		name  string
		how   sample.Corruption
		lists sample.NegativeLists
		want  string
	}{
		{"whole", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 8)}, ""},
		{"uneven", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 2), Ends: []uint64{0, 1}}, ""},
		{"too few", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 6)}, "found 3 listed negatives for 2 links, expected 2 per link"},
		{"none", sample.Listed, sample.NegativeLists{}, "found 0 listed negatives"},
		{"too long", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 6), Ends: []uint64{3, 3}}, "link 0: found a list of negatives from 0 to 3, expected at most 2"},
		{"descending", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 2), Ends: []uint64{2, 1}}, "link 1: found a list of negatives from 2 to 1"},
		{"other links", sample.Listed, sample.NegativeLists{Nodes: make([]uint32, 2), Ends: []uint64{1}}, "found 1 lists of 1 negatives for 2 links"},
		{"drawn", sample.Triplet, sample.NegativeLists{Nodes: make([]uint32, 8)}, "found lists of negatives and a plan that draws them"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &sample.Plan{SeedType: pairs, Scope: sample.ScopeBatch, Negatives: &sample.Negatives{How: test.how, Each: 2}}
			sampler, err := sample.New(s.Graph, p, sample.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer sampler.Close()
			_, err = sampler.Batches(&sample.Job{Seeds: make([]uint32, 4), BatchSize: 1, Negatives: test.lists})
			if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("found error %v, expected %q", err, test.want)
			}
		})
	}
}
