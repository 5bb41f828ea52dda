package graphmill_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// takeover opens each version of a store beside the one before, as a server does.
type takeover struct {
	dir   string
	store *store.Store
	taken *sampling.Answering
	plans []sampling.Plan
	apart *int // counts edge types whose lists are shared with the version before
}

// next takes the version that is there now over, and checks that it is the one that is opened alone, and that it gives its answers.
func (x *takeover) next(t *rapid.T) {
	s, err := store.OpenAfter(vfs.OS, x.dir, x.store)
	if err != nil {
		t.Fatal(err)
	}
	if x.store != nil {
		if err := x.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	x.store = s
	s.ReadAtRandom() // changes nothing
	alone, err := store.OpenMerged(vfs.OS, x.dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alone.Close() }()
	for i, e := range s.Graph.Edges {
		x.sameLists(t, e, alone.Graph.Edges[i])
	}
	if x.plans == nil {
		x.plans = plansOf(t, s.Graph)
	}
	var taken *sampling.Answering
	if x.taken == nil {
		taken, err = sampling.OpenAnswering(context.Background(), vfs.OS, x.dir, x.plans, true)
	} else {
		taken, err = sampling.OpenBeside(context.Background(), vfs.OS, x.dir, x.plans, true, x.taken)
		x.taken.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	x.taken = taken
	for i, p := range x.plans {
		p.Name = ""
		want, err := sampling.OpenAnswering(context.Background(), vfs.OS, x.dir, []sampling.Plan{p}, true)
		if err != nil {
			t.Fatal(err)
		}
		for v := range alone.Graph.Nodes[alone.Graph.NodeType(p.Batches.SeedType[0])].Count {
			if got, want := answerOf(t, taken.Loader(i), v), answerOf(t, want.Loader(0), v); !bytes.Equal(got, want) {
				t.Fatalf("plan %d, node %d: found another answer from a version that was taken over: %v, expected %v", i, v, got, want)
			}
		}
		want.Close()
	}
}

// plansOf are one to four plans: from any node type, of in-edges or out-edges, and with all edges between their nodes, for which lists of edges must be one after the other.
func plansOf(t *rapid.T, g *graph.Graph) (plans []sampling.Plan) {
	for i := range rapid.IntRange(1, 4).Draw(t, "plans") {
		o := option.Batches{Run: option.Run{Threads: 2}}
		o.Features, o.EdgeFeatures = []string{"all"}, []string{"all"}
		o.Fanout, o.BatchSize, o.Epochs = []int{2, 2}, 3, 1
		o.SeedType = []string{rapid.SampledFrom(g.Nodes).Draw(t, "asked type").Type}
		if i > 0 {
			o.Direction = rapid.SampledFrom([]option.Direction{option.DirectionIn, option.DirectionOut}).Draw(t, "direction")
			o.Subgraph = rapid.SampledFrom([]string{"", "induced"}).Draw(t, "subgraph")
		}
		plans = append(plans, sampling.Plan{Name: fmt.Sprint("plan", i), Batches: o})
	}
	return plans
}

// answerOf is the batch of a seed.
func answerOf(t *rapid.T, l *sampling.Loader, v int) []byte {
	m := l.Source().Maker()
	n, err := m.Of([]int64{int64(v)}, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	m.Write(b, 2)
	return b
}

// sameLists compares the lists of each node, with the columns of their edges.
func (x *takeover) sameLists(t *rapid.T, got, want *graph.Edges) {
	a, b := got.Adj[got.Primary], want.Adj[want.Primary]
	if a.Ends.Len() == 0 {
		if !sameIndex(a.Indptr, b.Indptr) || !sameIndex(a.Far, b.Far) {
			t.Fatalf("%s: found other lists, %v, expected %v", got.Type, *a, *b)
		}
		return
	}
	*x.apart++
	for v := range b.Indptr.Len() - 1 {
		from, to, first, last := int(a.Indptr.At(v)), int(a.Ends.At(v)), int(b.Indptr.At(v)), int(b.Indptr.At(v+1))
		if from > to || !slices.Equal(a.Far.U32[from:to], b.Far.U32[first:last]) {
			t.Fatalf("%s: node %d: found the neighbours from %d to %d, expected %v", got.Type, v, from, to, b.Far.U32[first:last])
		}
		for k, c := range want.Columns {
			d := got.Columns[k]
			if n := c.RowBytes(); d.Name != c.Name || d.Rows < to || !bytes.Equal(d.Values[from*n:to*n], c.Values[first*n:last*n]) {
				t.Fatalf("%s: node %d: found other values in %s: %v, expected %v", got.Type, v, d.Name, d.Values[from*n:to*n], c.Values[first*n:last*n])
			}
			if c.Categories != nil {
				sameColumns(t, c.Name, []*graph.Column{d.Categories}, []*graph.Column{c.Categories})
			}
		}
	}
}

// close closes the last version.
func (x *takeover) close(t *rapid.T) {
	if err := x.store.Close(); err != nil {
		t.Fatal(err)
	}
	x.taken.Close()
}
