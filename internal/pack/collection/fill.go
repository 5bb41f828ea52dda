package collection

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
)

// Graphs sorts the graphs of a collection by the shapes of a layout.
func Graphs(l *layout.Layout, c *graph.Collection) (*layout.Graphs, error) {
	sizes, err := NewSizes(c, l.Meta.Components)
	if err != nil {
		return nil, err
	}
	bad := -1
	g, err := l.NewGraphs(uint64(c.Graphs), func(i uint64, to []int) {
		if !sizes.Of(int(i), to) && bad < 0 {
			bad = int(i)
		}
	})
	if bad >= 0 {
		return nil, sizes.none(bad)
	}
	return g, err
}

// Names of the files of a fill.
const (
	FillFile    = "fill.json"
	PackPtrFile = "pack_ptr.npy"
	GraphIDFile = "graph_id.npy"
	AloneFile   = "alone_id.npy"
)

// FillMeta is fill.json.
type FillMeta struct {
	Format int    `json:"format"`
	Seed   uint64 `json:"seed"`
	Epoch  uint64 `json:"epoch"` // the first one
	Epochs int    `json:"epochs"`
	Packs  int64  `json:"packs"`  // per epoch
	Graphs int64  `json:"graphs"` // per epoch, in packs
	// Oversize says what happened to OversizeGraphs graphs that are in no pack.
	Oversize       string `json:"oversize,omitempty"`
	OversizeGraphs int64  `json:"oversize_graphs,omitempty"`
}

// Epochs is a range of epochs, from First on, of a random seed.
type Epochs struct {
	Seed, First uint64
	Count       int
}

// Options are common to all writers of packs.
type Options struct {
	Threads  int             // 0 is 1
	Progress func(packs int) // receives the number of packs written; may be nil
}

func (o *Options) threads() int { return max(1, o.Threads) }

func (o *Options) tell(packs int) {
	if o.Progress != nil {
		o.Progress(packs)
	}
}

// fillPacks is the number of packs per chunk, enough for a large write.
const fillPacks = 1024

// dealt has the graphs of the packs [first, end) of a deal.
type dealt struct {
	first, end int64
	ids        []uint64
	lengths    []int
	bytes      []byte
}

// Fill writes the graph ids of each pack, one epoch after another, into w, which the caller seals:
//
//	fill.json      FillMeta
//	pack_ptr.npy   uint64 [epochs * packs + 1], bounds the graphs of each pack
//	graph_id.npy   uint32 (uint64 from 2^32 graphs on) [epochs * graphs]
//	alone_id.npy   uint64 [graphs], each a pack of its own, where the layout has any
func Fill(ctx context.Context, w *store.Writer, l *layout.Layout, g *layout.Graphs, e Epochs, opt Options) (err error) {
	out, err := newFillWriter(w, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	for n := range e.Count {
		d := l.Deal(g, e.Seed, e.First+uint64(n))
		next := int64(0)
		err := ordered.Run(ctx, opt.threads(), func() struct{} { return struct{}{} }, func() *dealt { return &dealt{} }, ordered.Stages[struct{}, *dealt]{
			Fill: func(k *dealt) error { return k.next(&next, fillPacks, d.Packs()) },
			Work: func(_ context.Context, _ struct{}, k *dealt) error {
				k.deal(d)
				k.bytes = appendIDs(k.bytes[:0], k.ids, out.dtype)
				return nil
			},
			Sink: func(k *dealt) error {
				opt.tell(len(k.lengths))
				return out.write(k)
			},
		})
		if err != nil {
			return err
		}
	}
	return out.end(l, g, e)
}

// fillWriter writes the files of a fill.
type fillWriter struct {
	w        *store.Writer
	ptr, ids *store.Array
	dtype    graph.DType // of ids
	at       uint64
	ends     []byte
}

func newFillWriter(w *store.Writer, l *layout.Layout) (f *fillWriter, err error) {
	f = &fillWriter{w: w, dtype: graph.Uint32}
	if graphs := l.Meta.Graphs + l.Meta.OversizeGraphs; graphs > math.MaxUint32 {
		f.dtype = graph.Uint64
	}
	if f.ptr, err = w.Array(PackPtrFile, graph.Uint64); err != nil {
		return nil, err
	}
	if _, err = f.ptr.Write(make([]byte, 8)); err == nil {
		f.ids, err = w.Array(GraphIDFile, f.dtype)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// write appends packs.
func (f *fillWriter) write(k *dealt) error {
	f.ends = f.ends[:0]
	for _, n := range k.lengths {
		f.at += uint64(n)
		f.ends = binary.LittleEndian.AppendUint64(f.ends, f.at)
	}
	if _, err := f.ptr.Write(f.ends); err != nil {
		return err
	}
	_, err := f.ids.Write(k.bytes)
	return err
}

// end writes the files that are not arrays of packs.
func (f *fillWriter) end(l *layout.Layout, g *layout.Graphs, e Epochs) error {
	meta := FillMeta{Format: 1, Seed: e.Seed, Epoch: e.First, Epochs: e.Count, Packs: l.Meta.Packs, Graphs: l.Meta.Graphs,
		Oversize: l.Meta.Oversize, OversizeGraphs: l.Meta.OversizeGraphs}
	text, err := json.MarshalIndent(meta, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(f.w.WriteFile(FillFile, append(text, '\n')), writeAlone(f.w, l, g))
}

func (f *fillWriter) close() error {
	err := f.ptr.Close()
	if f.ids != nil {
		err = errors.Join(err, f.ids.Close())
	}
	return err
}

// next sets k to the packs after at: packs of them, or all that remain.
func (k *dealt) next(at *int64, packs, all int64) error {
	if *at == all {
		return io.EOF
	}
	k.first, k.end = *at, min(*at+packs, all)
	*at = k.end
	return nil
}

// deal looks up the graphs of the packs.
func (k *dealt) deal(d *layout.Deal) {
	k.ids, k.lengths = k.ids[:0], k.lengths[:0]
	for p := k.first; p < k.end; p++ {
		n := len(k.ids)
		k.ids = d.Pack(p, k.ids)
		k.lengths = append(k.lengths, len(k.ids)-n)
	}
}

func appendIDs(b []byte, ids []uint64, dtype graph.DType) []byte {
	for _, id := range ids {
		if dtype == graph.Uint32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		} else {
			b = binary.LittleEndian.AppendUint64(b, id)
		}
	}
	return b
}

// writeAlone lists the graphs that are packs of their own.
func writeAlone(w *store.Writer, l *layout.Layout, g *layout.Graphs) error {
	if l.Meta.Oversize != layout.Alone {
		return nil
	}
	a, err := w.Array(AloneFile, graph.Uint64)
	if err != nil {
		return err
	}
	_, err = a.Write(graph.Bytes(g.Over))
	return errors.Join(err, a.Close())
}
