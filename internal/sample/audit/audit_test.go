package audit_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/audit"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampled is a collection of a job, in a new folder of dir.
func sampled(t *testing.T, dir string, s *store.Store, p *sample.Plan, job sample.Job, opt sample.Options) *store.Store {
	t.Helper()
	view, done := sampletest.WithMessages(t, s, p)
	defer done()
	m, err := sample.New(view.Graph, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out := filepath.Join(dir, "c")
	w, err := store.Create(vfs.OS, out, true)
	if err != nil {
		t.Fatal(err)
	}
	c, err := output.NewCollection(w, m, output.CollectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	meta, err := c.Finish(store.Made{})
	if err := errors.Join(err, w.Seal(t.Context(), meta, 1), w.Publish(), c.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestCollection checks that collections of any plan agree with their store, and that any other end of an edge is
// found, by any number of threads, as the first fault.
func TestCollection(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		p, job := sampletest.SparseCase(r, s.Graph)
		sampletest.AddMessages(r, s.Graph, p)
		sampletest.AddTimes(r, s.Graph, p)
		if n := p.Negatives; n != nil && (n.Uneven() || job.Negatives.Ends != nil) {
			return // a collection has one number of negatives per link
		}
		c := sampled(t, dir, s, p, job, sample.Options{})
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		compare := func() audit.Result {
			opt := audit.Options{Plan: p, Threads: rapid.IntRange(1, 3).Draw(r, "threads")}
			got, err := audit.Collection(t.Context(), c, s, opt)
			if err != nil {
				r.Fatal(err)
			}
			return got
		}
		edges := int64(0)
		for _, e := range c.Collection.Edges {
			edges += int64(e.Count)
		}
		if got := compare(); got != (audit.Result{Edges: edges}) {
			r.Fatalf("found %+v, expected %d edges without a fault", got, edges)
		}
		if edges == 0 {
			return
		}
		e := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(c.Collection.Edges), func(e *graph.CollectionEdges) bool { return e.Count == 0 })).Draw(r, "edges")
		at := rapid.IntRange(0, e.Count-1).Draw(r, "edge")
		ids := slices.Clone(e.EdgeID.U32)
		ids[at] = uint32(s.Graph.Edges[slices.IndexFunc(s.Graph.Edges, func(x *graph.Edges) bool { return x.Type == e.Type })].Count)
		e.EdgeID = graph.Index{U32: ids}
		if got := compare(); !strings.Contains(got.Fault, "found edge id ") || !strings.Contains(got.Fault, e.Type.String()) {
			r.Errorf("found %+v, expected an edge id of %s out of range", got, e.Type)
		}
	})
}

// TestEnds checks the fault of edges whose ends are others than those in the store.
func TestEnds(t *testing.T) {
	dir := t.TempDir()
	sampletest.Write(t, filepath.Join(dir, "g"), map[string]int{"a": 50, "b": 20}, []sampletest.Edges{{Rel: "ab", Src: "a", Dst: "b", Count: 400}}, assemble.Options{})
	s, err := store.Open(vfs.OS, filepath.Join(dir, "g"))
	if err != nil {
		t.Fatal(err)
	}
	p := &sample.Plan{SeedType: []string{"b"}, Scope: sample.ScopeSeed, Ops: []sample.Op{{From: []int{0}, Edges: "a:ab:b", Dir: graph.In, Take: 3}}}
	job := sample.Job{Seeds: []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, BatchSize: 4}
	c := sampled(t, dir, s, p, job, sample.Options{})
	a := c.Collection.Nodes[0]
	whole := a.NodeID
	for node := range a.Count {
		ids := slices.Clone(whole.U32)
		ids[node] = (ids[node] + 1) % 50
		a.NodeID = graph.Index{U32: ids}
		at := 0
		for i := range 10 {
			if uint64(node) >= a.GraphPtr.At(i) {
				at = i
			}
		}
		got, err := audit.Collection(t.Context(), c, s, audit.Options{Plan: p, Threads: 2})
		if want := "the ends of the edge in the store"; err != nil || !strings.Contains(got.Fault, want) || !strings.HasPrefix(got.Fault, fmt.Sprintf("graph %d: ", at)) {
			t.Errorf("node %d: found %+v, %v, expected a fault of graph %d: %s", node, got, err, at, want)
		}
	}
	a.NodeID = whole
	held := *p
	held.Messages = map[string]sample.Messages{"a:ab:b": {Column: "w", Values: []string{"0", "1"}}}
	if got, err := audit.Collection(t.Context(), c, s, audit.Options{Plan: &held}); err != nil || !strings.Contains(got.Fault, "no message of the plan, expected w=0,1") {
		t.Errorf("found %+v, %v, expected an edge that is no message", got, err)
	}
	c.Collection.Edges[0].EdgeID = graph.Index{}
	if _, err := audit.Collection(t.Context(), c, s, audit.Options{Plan: p}); !errors.Is(err, audit.ErrIDs) {
		t.Errorf("found %v, expected an error without ids of edges", err)
	}
	if err := errors.Join(c.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
