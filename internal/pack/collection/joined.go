package collection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
)

const schemaFile = "schema.pbtxt"

// joinedBytes is about the size of a chunk of joined packs.
const joinedBytes = 4 << 20

// chunkOf is the number of packs per chunk.
func chunkOf(s *store.Store, packs int64) int64 {
	c, size := s.Collection, int64(0)
	columns := func(cs []*graph.Column) {
		for _, x := range cs {
			size += x.Bytes()
		}
	}
	columns(c.Context)
	for _, n := range c.Nodes {
		columns(n.Columns)
		size += n.NodeID.Bytes()
	}
	for _, e := range c.Edges {
		columns(e.Columns)
		size += e.Src.Bytes() + e.Dst.Bytes() + e.EdgeID.Bytes()
	}
	return min(max(joinedBytes/(size/packs+1), 1), fillPacks)
}

// joinedChunk has the packs of a chunk.
type joinedChunk struct {
	dealt
	packs    *joined
	records  *shards.Chunk                   // of Examples
	encode   func(graph int) ([]byte, error) // encodes a pack
	narrowed *examplecolumns.Narrowed        // set by encode
}

// gather joins the packs of the chunk.
func (k *joinedChunk) gather(d *layout.Deal, ids graph.DType) error {
	k.deal(d)
	k.bytes = appendIDs(k.bytes[:0], k.ids, ids)
	k.packs.reset()
	at := 0
	for i, n := range k.lengths {
		if err := k.packs.add(k.ids[at : at+n]); err != nil {
			return fmt.Errorf("pack %d: %w", k.first+int64(i), err)
		}
		at += n
	}
	return nil
}

// Joined writes the packs of an epoch as a collection into w, together with the files of Fill. The caller
// seals w with the result. Each pack is a graph whose components are the graphs of the pack, in order. left
// names the data on the graphs that packs cannot hold. The caller must have checked the collection
// (store.Check).
func Joined(ctx context.Context, fsys vfs.FS, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, opt Options) (meta *store.Meta, left []string, err error) {
	out, err := newJoinedWriter(w, s.Collection)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	newChunk := func() *joinedChunk { return &joinedChunk{packs: newJoined(s.Collection)} }
	err = gatherPacks(ctx, w, l, s, g, seed, epoch, opt, newChunk, func(*joinedChunk) error { return nil }, func(k *joinedChunk) error { return out.write(k.packs) })
	if err != nil {
		return nil, nil, err
	}
	if meta, err = out.finish(); err != nil {
		return nil, nil, err
	}
	if name := s.Meta.Schema; name != "" {
		b, err := vfs.ReadFile(vfs.Confine(fsys, s.Dir), filepath.Join(s.Dir, filepath.FromSlash(name)), 1<<30)
		if err != nil {
			return nil, nil, err
		}
		meta.Schema = schemaFile
		if err := w.WriteFile(schemaFile, b); err != nil {
			return nil, nil, err
		}
	}
	return meta, unjoined(s), nil
}

// unjoined names the data of a collection that packs lack.
func unjoined(s *store.Store) []string {
	var left []string
	for _, n := range s.Collection.Nodes {
		if n.NumSampled != nil {
			left = append(left, n.Type+": num_sampled_nodes")
		}
	}
	for _, e := range s.Collection.Edges {
		if e.NumSampled != nil {
			left = append(left, e.Type.String()+": num_sampled_edges")
		}
	}
	ops := 0
	for name := range s.Meta.Context.Arrays {
		if strings.HasPrefix(name, "op_") {
			ops++
		}
	}
	if ops > 0 {
		left = append(left, fmt.Sprintf("context: %d arrays of ops", ops))
	}
	if s.Collection.ExampleForm != nil {
		left = append(left, "context: example_form")
	}
	return left
}

// gatherPacks gathers packs in several goroutines: it calls work for each chunk, then sink in the order of the chunks.
// It also writes the files of Fill.
func gatherPacks(ctx context.Context, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, opt Options,
	newChunk func() *joinedChunk, work, sink func(*joinedChunk) error) (err error) {
	d := l.Deal(g, seed, epoch)
	packs := chunkOf(s, d.Packs())
	fill, err := newFillWriter(w, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fill.close()) }()
	next := int64(0)
	err = ordered.Run(ctx, opt.threads(), func() struct{} { return struct{}{} }, newChunk, ordered.Stages[struct{}, *joinedChunk]{
		Fill: func(k *joinedChunk) error { return k.next(&next, packs, d.Packs()) },
		Work: func(_ context.Context, _ struct{}, k *joinedChunk) error {
			if err := k.gather(d, fill.dtype); err != nil {
				return err
			}
			return work(k)
		},
		Sink: func(k *joinedChunk) error {
			opt.tell(len(k.lengths))
			if err := sink(k); err != nil {
				return err
			}
			return fill.write(&k.dealt)
		},
	})
	if err != nil {
		return err
	}
	return fill.end(l, g, Epochs{seed, epoch, 1})
}
