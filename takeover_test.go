package graphmill_test

import (
	"bytes"
	"context"
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
	dir    string
	store  *store.Store
	loader *sampling.Loader
	seeds  string
	apart  *int // counts edge types whose lists are shared with the version before
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
	o := option.Batches{Run: option.Run{Threads: 2}}
	o.Features, o.EdgeFeatures = []string{"all"}, []string{"all"}
	o.Fanout, o.BatchSize, o.Epochs = []int{2, 2}, 3, 1
	if x.seeds == "" {
		x.seeds = rapid.SampledFrom(s.Graph.Nodes).Draw(t, "asked type").Type
	}
	o.SeedType = []string{x.seeds}
	var l *sampling.Loader
	if x.loader == nil {
		l, _, err = sampling.OpenAnswering(context.Background(), vfs.OS, x.dir, o, true)
	} else {
		l, _, err = sampling.OpenBeside(context.Background(), vfs.OS, x.dir, o, true, x.loader)
		x.loader.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	x.loader = l
	want, _, err := sampling.OpenAnswering(context.Background(), vfs.OS, x.dir, o, true)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	for v := range alone.Graph.Nodes[alone.Graph.NodeType(x.seeds)].Count {
		if got, want := answerOf(t, l, v), answerOf(t, want, v); !bytes.Equal(got, want) {
			t.Fatalf("node %d: found another answer from a version that was taken over: %v, expected %v", v, got, want)
		}
	}
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
	x.loader.Close()
}
