package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// rowStore is a store of two node types with columns, and four edge types with columns.
func rowStore(t testing.TB) *store.Store {
	t.Helper()
	out := filepath.Join(t.TempDir(), "g.store")
	sampletest.WriteRows(t, out, map[string]int{"a": 3000, "b": 500},
		[]sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 60_000}, {Rel: "ab", Src: "a", Dst: "b", Count: 30_000}, {Rel: "ba", Src: "b", Dst: "a", Count: 2000}, {Rel: "bb", Src: "b", Dst: "b"}},
		assemble.Options{Both: true})
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// whole is a batch as it is in a slot.
type whole struct {
	epoch  uint64
	number int
	bytes  []byte
}

// sources are a source in memory and a streamed one of the same batches.
func sources(fsys vfs.FS, s *store.Store, p *sample.Plan, job sample.Job, f Features, ops bool, opt outofcore.Options) (mem, stream *Source, end func(), err error) {
	opt.Ops, opt.NoEdgeIDs = ops, f.NoEdgeIDs && !f.OfEdges()
	m, err := sample.New(s.Graph, p, sample.Options{Ops: ops, NoEdgeIDs: opt.NoEdgeIDs})
	if err != nil {
		return nil, nil, nil, err
	}
	x, err := outofcore.Open(context.Background(), fsys, s, p, opt)
	if err != nil {
		m.Close()
		return nil, nil, nil, err
	}
	end = func() { m.Close(); _ = x.Close() }
	if mem, err = NewSource(m, job, f, ops); err == nil {
		stream, err = NewStreamed(x, job, f, ops)
	}
	if err != nil {
		end()
		return nil, nil, nil, err
	}
	return mem, stream, end, nil
}

// inMemory is the batches of a pass from a Maker.
func inMemory(src *Source, p Pass) (all []whole, err error) {
	m := src.Maker()
	for e := range uint64(p.Epochs) {
		order := src.Epoch(p.Epoch + e)
		first := p.First
		if e > 0 {
			first %= p.Step
		}
		for b := first; b < p.End; b += p.Step {
			n, err := m.Batch(order, p.Epoch+e, b)
			if err != nil {
				return nil, err
			}
			dst := graph.Bytes(make([]uint64, (n+7)/8))[:n]
			m.write(dst, ticket{seq: uint64(b)})
			all = append(all, whole{p.Epoch + e, b, dst})
		}
	}
	return all, nil
}

// swept is the batches of a pass from a stream.
func sweptOf(src *Source, p Pass) (all []whole, err error) {
	st, err := src.NewStream(1)
	if err != nil {
		return nil, err
	}
	err = RunStream(context.Background(), st, p, func() *whole { return &whole{} },
		func(_ context.Context, w *whole, m *Maker, epoch uint64, b, size int) error {
			*w = whole{epoch, b, graph.Bytes(make([]uint64, (size+7)/8))[:size]}
			m.write(w.bytes, ticket{seq: uint64(b)})
			return nil
		},
		func(w *whole) error { all = append(all, *w); return nil })
	return all, errors.Join(err, st.Close())
}

// TestStreamEqualsMemory checks that streams make the batches of Makers, byte for byte: for any plan, columns, order, ranks and
// tails, any window and memory, and from any batch on.
func TestStreamEqualsMemory(t *testing.T) {
	s, scratch := rowStore(t), t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		p := sampletest.Plan(r, s.Graph)
		job := sampletest.Job(r, s.Graph, p)
		ranks := max(job.Ranks, 1)
		rank := job.Rank
		job.Rank, job.Ranks = 0, 0
		some := func(what string) bool { return rapid.Bool().Draw(r, what) }
		f := Features{Nodes: map[string][]string{}, Edges: map[string][]string{}, NoEdgeIDs: some("no edge ids")}
		for _, n := range s.Graph.Nodes {
			for _, name := range []string{"x", "k"} {
				if some("column of " + n.Type) {
					f.Nodes[n.Type] = append(f.Nodes[n.Type], name)
				}
			}
			if some("joined of " + n.Type) {
				f.Joined = append(f.Joined, Joined{Type: n.Type, Name: "both", Columns: partsOf([]string{"k", "x"})})
			}
		}
		for _, e := range s.Graph.Edges {
			if name := e.Type.String(); some("columns of " + name) {
				f.Edges[name] = []string{"w", "t"}
			}
		}
		f.Kept = someKept(r, s.Graph)
		ops := some("ops") && p.Scope != sample.ScopeSeed
		opt := outofcore.Options{Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Epochs: 1, Slots: rapid.IntRange(1, 5).Draw(r, "slots")}
		if some("budget") {
			opt.Memory = int64(rapid.IntRange(64, 200).Draw(r, "MiB")) << 20
		} else {
			opt.Window = rapid.IntRange(1, 12).Draw(r, "window")
			opt.Scratch = rapid.SampledFrom([]string{"", scratch}).Draw(r, "scratch")
			opt.Rows = rapid.SampledFrom([]int64{0, 1 << 20, 4 << 20}).Draw(r, "rows")
		}
		mem, stream, end, err := sources(vfs.OS, s, p, job, f, ops, opt)
		if err != nil {
			r.Fatal(err)
		}
		defer end()
		if n := uint64(mem.Seeds()); n > 0 && some("windowed") {
			o, err := batch.Windowed(n, 4, 3)
			if err == nil {
				err = errors.Join(mem.SetOrder(o), stream.SetOrder(o))
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		tail := rapid.SampledFrom([]batch.Tail{batch.Fill, batch.Drop, batch.Short}).Draw(r, "tail")
		pass := Pass{Epoch: job.Epoch, First: rank, Step: ranks, Epochs: job.Epochs, End: mem.End(tail, 0, ranks)}
		if some("later") {
			from := rapid.IntRange(0, mem.Batches()).Draw(r, "from")
			pass.First, pass.End, pass.Epochs = from+rank, mem.End(tail, from, ranks), 1
		}
		want, err := inMemory(mem, pass)
		if err != nil {
			r.Fatal(err)
		}
		got, err := sweptOf(stream, pass)
		if err != nil {
			r.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b whole) bool {
			return a.epoch == b.epoch && a.number == b.number && bytes.Equal(a.bytes, b.bytes)
		}) {
			r.Fatalf("found %s, expected %s", listed(got, want), listed(want, got))
		}
	})
}

// listed lists batches, with a mark for those that differ.
func listed(all, from []whole) (text string) {
	for i, w := range all {
		text += fmt.Sprintf(" %d/%d", w.epoch, w.number)
		if i >= len(from) || !bytes.Equal(w.bytes, from[i].bytes) {
			text += "*"
		}
	}
	return text
}

// someKept are random nodes of some types.
func someKept(r *rapid.T, g *graph.Graph) map[string]*Kept {
	kept := map[string]*Kept{}
	for _, n := range g.Nodes {
		share := rapid.SampledFrom([]int{0, 0, 1, 50, 100}).Draw(r, "percent kept of "+n.Type)
		if share == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "kept of "+n.Type), 1))
		var ids []uint32
		for v := range uint32(n.Count) {
			if random.IntN(100) < share {
				ids = append(ids, v)
			}
		}
		k, err := NewKept(ids, n.Count)
		if err != nil {
			r.Fatal(err)
		}
		kept[n.Type] = k
	}
	return kept
}
