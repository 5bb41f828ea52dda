package chunk

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// Options say how chunks are made.
type Options struct {
	ChunkBytes int64 // size of a chunk; see chunk.CheckBytes
	// Direction is "in", "out", or empty for each type's primary direction. An edge type that is not stored in the
	// direction is an error.
	Direction string
	// Progress, if not nil, receives the number of words of the graph in each step.
	Progress func(words int)
}

// Words is the sum of all words that Progress receives.
func Words(g *graph.Graph) int64 {
	n := int64(0)
	for _, e := range g.Edges {
		a := e.Adj[e.Primary]
		n += int64(a.Indptr.Len()) + int64(a.Far.Len())
	}
	return n
}

// Result describes what was written.
type Result struct {
	Metadata chunk.Metadata
	Edges    uint64
	Chunks   int
	Left     []string // columns and ids that the format cannot hold
}

// Write writes the chunks of all edge types. The caller calls Seal and Publish.
func Write(ctx context.Context, w *store.Writer, s *store.Store, o Options) (*Result, error) {
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store; export collections with `To` tfrecord", s.Dir)
	}
	if err := chunk.CheckBytes(o.ChunkBytes); err != nil {
		return nil, err
	}
	g := s.Graph
	r := &Result{Metadata: chunk.Metadata{Format: chunk.Format, ChunkBytes: o.ChunkBytes, Nodes: map[string]uint64{}, Edges: map[string]chunk.Edges{}}}
	for _, n := range g.Nodes {
		if uint64(n.Count) > chunk.None {
			return nil, fmt.Errorf("%s: node type %s: %w: found %d nodes, expected at most %d; ids of chunks are 32-bit", s.Dir, n.Type, chunk.ErrTooLarge, n.Count, uint64(chunk.None))
		}
		r.Metadata.Nodes[n.Type] = uint64(n.Count)
		if n.IDs != nil {
			r.Left = append(r.Left, "original ids of "+n.Type)
		}
		r.left(n.Type, n.Columns)
	}
	r.left("context", g.Context)
	for _, e := range g.Edges {
		if err := writeChunks(ctx, w, s, e, o, r); err != nil {
			return nil, fmt.Errorf("%s: edge type %s: %w", s.Dir, e.Type, err)
		}
		r.left(e.Type.String(), e.Columns)
	}
	text, err := r.Metadata.JSON()
	if err != nil {
		return nil, err
	}
	return r, w.WriteFile(chunk.File, text)
}

// left names the columns that are not written. The column with the positions of edges in their input is not named,
// since it says how the graph was made and not what it is.
func (r *Result) left(of string, columns []*graph.Column) {
	for _, c := range columns {
		if _, piece := graph.PieceOf(c.Name); !piece && c.Name != graph.PositionColumn {
			r.Left = append(r.Left, of+"."+c.Name)
		}
	}
	for _, feature := range graph.Pieced(columns) {
		r.Left = append(r.Left, of+"."+feature)
	}
}

// direction returns the direction to write an edge type in.
func direction(e *graph.Edges, asked string) (graph.Direction, error) {
	if asked == "" {
		return e.Primary, nil
	}
	d, err := graph.ParseDirection(asked)
	if err == nil && e.Adj[d] == nil {
		err = fmt.Errorf("found %s-edges alone, expected %s-edges too; import with `Both`, or leave the direction out", 1-d, d)
	}
	return d, err
}

// writeChunks writes the chunks of an edge type.
func writeChunks(ctx context.Context, w *store.Writer, s *store.Store, e *graph.Edges, o Options, r *Result) (err error) {
	d, err := direction(e, o.Direction)
	if err != nil {
		return err
	}
	meta := chunk.Edges{Count: uint64(e.Count), Dir: d.String(), Chunks: store.EdgesDir(e.Type) + "/chunks.bin", Info: store.EdgesDir(e.Type) + "/chunk-info.bin"}
	f, err := w.Create(meta.Chunks)
	if err != nil {
		return err
	}
	c := chunk.NewWriter(f, o.ChunkBytes)
	x := writer{ctx: ctx, s: s, a: e.Adj[d], far: r.Metadata.Nodes[e.Type.Far(d)], c: c, o: o}
	err = x.chunks()
	if err == nil {
		err = c.Close()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	r.Edges += uint64(e.Count)
	r.Chunks += len(c.Rows())
	r.Metadata.Edges[e.Type.String()] = meta
	return w.WriteFile(meta.Info, c.Info())
}

// writer writes the chunks of one edge type.
type writer struct {
	ctx context.Context
	s   *store.Store
	a   *graph.Adjacency
	far uint64
	c   *chunk.Writer
	o   Options
}

func (x *writer) chunks() error {
	nodes := x.a.Indptr.Len() - 1
	if err := x.largest(nodes); err != nil {
		return err
	}
	for start := 0; start < nodes; {
		n, err := chunk.Fit(x.o.ChunkBytes, start, nodes, x.a.Indptr.At)
		if err != nil {
			return err
		}
		if err := x.head(start, n); err != nil {
			return err
		}
		if err := x.neighbours(x.a.Indptr.At(start), x.a.Indptr.At(start+n)); err != nil {
			return err
		}
		start += n
	}
	return nil
}

// largest checks that the node with the most neighbours fits, so that the error names a size that is enough for all
// nodes.
func (x *writer) largest(nodes int) error {
	most, node := uint64(0), 0
	for i := range nodes {
		if n := x.a.Indptr.At(i+1) - x.a.Indptr.At(i); n > most && n <= uint64(x.a.Far.Len()) {
			most, node = n, i
		}
		if i%step == step-1 {
			if err := x.read(step, x.a.Indptr.U64 != nil); err != nil {
				return err
			}
		}
	}
	if nodes == 0 {
		return nil
	}
	_, err := chunk.Fit(x.o.ChunkBytes, node, nodes, x.a.Indptr.At)
	return err
}

// step is the number of words between two checks of the context.
const step = 1 << 20

// head writes the head of a chunk of nodes.
func (x *writer) head(start, n int) error {
	var failed error
	err := x.c.Begin(n, func(i int) uint64 {
		if i%step == step-1 && failed == nil {
			failed = x.wrote(step, x.a.Indptr.U64 != nil)
		}
		return x.a.Indptr.At(start + i)
	})
	return errors.Join(err, failed, x.wrote(n%step, x.a.Indptr.U64 != nil))
}

// neighbours writes the neighbours at [from, to), which must be ids of nodes.
func (x *writer) neighbours(from, to uint64) error {
	if to > uint64(x.a.Far.Len()) {
		return fmt.Errorf("%w: found neighbours up to %d, expected at most %d", store.ErrDamaged, to, x.a.Far.Len())
	}
	var narrow []uint32
	for ; from < to; from += uint64(len(narrow)) {
		end := min(to, from+step)
		if x.a.Far.U32 != nil {
			narrow = x.a.Far.U32[from:end]
		} else {
			narrow = narrow[:0]
			for _, v := range x.a.Far.U64[from:end] {
				narrow = append(narrow, uint32(min(v, chunk.None)))
			}
		}
		for i, v := range narrow {
			if uint64(v) >= x.far {
				return fmt.Errorf("%w: found the neighbour %d at %d, expected one below %d", store.ErrDamaged, v, from+uint64(i), x.far)
			}
		}
		if err := x.c.Neighbours(narrow); err != nil {
			return err
		}
		if err := x.wrote(len(narrow), x.a.Far.U64 != nil); err != nil {
			return err
		}
	}
	return nil
}

// wrote reports words of the store that were written.
func (x *writer) wrote(words int, wide bool) error {
	if x.o.Progress != nil {
		x.o.Progress(words)
	}
	return x.read(words, wide)
}

// read tells the store that words of its mapped arrays were read.
func (x *writer) read(words int, wide bool) error {
	bytes := 4 * int64(words)
	if wide {
		bytes *= 2
	}
	return errors.Join(x.ctx.Err(), x.s.Touched(bytes))
}
