package arrayfiles

import (
	"context"
	"encoding/binary"
	"errors"
	"sort"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Chunks is a table of the edges of a set of chunk files, in their order. Its fields are near, the node whose
// neighbours a chunk lists, and far, the neighbour.
type Chunks struct {
	fsys  vfs.FS
	set   *chunk.Set
	edges []uint64 // number of edges before each chunk, and in all chunks
	bytes int64
	step  uint64 // edges per unit
}

// NewChunks makes the table of a set.
func NewChunks(fsys vfs.FS, set *chunk.Set) *Chunks {
	t := &Chunks{fsys: fsys, set: set, edges: []uint64{0}, step: table.ChunkSize / 16}
	for _, r := range set.Rows {
		t.edges = append(t.edges, t.edges[len(t.edges)-1]+r.Edges)
		t.bytes += r.Bytes()
	}
	return t
}

// Fields implements Table.
func (t *Chunks) Fields() []table.Field {
	return []table.Field{{Name: "near", DType: graph.Uint32}, {Name: "far", DType: graph.Uint32}}
}

// Files implements Table.
func (t *Chunks) Files() []string { return []string{t.set.Name, t.set.InfoName} }

// Bytes implements Table.
func (t *Chunks) Bytes() int64 { return t.bytes }

// of returns the chunk of an edge and the index of the edge's word in it.
func (t *Chunks) of(row uint64) (i int, word uint64) {
	i = sort.Search(len(t.set.Rows)-1, func(i int) bool { return t.edges[i+1] > row })
	return i, chunk.Words(uint64(t.set.Rows[i].Nodes), 0) + row - t.edges[i]
}

// Where implements Table: "chunks.bin: chunk 2, byte 8212".
func (t *Chunks) Where(row uint64, _ string) string {
	return t.set.Place(t.of(row))
}

// Scan implements Table. Columns are Uint64. Its memory is 2 MiB per thread.
func (t *Chunks) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (rows uint64, err error) {
	for _, c := range columns {
		if c.Name != "near" && c.Name != "far" || c.DType != graph.Uint64 || len(c.Shape) > 0 {
			return 0, badf("%s: found the columns near and far, expected %q as %s among them; read them as uint64", t.set.Name, c.Name, c.DType)
		}
	}
	if err := t.set.CheckOffsets(ctx, t.fsys); err != nil {
		return 0, err
	}
	f, err := t.fsys.Open(t.set.Name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first := make([]int, len(t.set.Rows)+1) // first unit of each chunk
	for i, r := range t.set.Rows {
		first[i+1] = first[i] + int((r.Edges+t.step-1)/t.step)
	}
	workers := make([]chunkWorker, max(threads, 1))
	err = table.Each(ctx, first[len(first)-1], len(workers), func(worker, unit int) error {
		i := sort.Search(len(t.set.Rows), func(i int) bool { return first[i+1] > unit })
		from := t.edges[i] + uint64(unit-first[i])*t.step
		w := &workers[worker]
		if err := w.read(t, f, i, from, min(t.step, t.edges[i+1]-from)); err != nil {
			return err
		}
		w.chunk.Columns = w.chunk.Columns[:0]
		for _, c := range columns {
			d := &w.near
			if c.Name == "far" {
				d = &w.far
			}
			w.chunk.Columns = append(w.chunk.Columns, table.Vector{Data: d.Bytes()[:d.N:d.N]})
		}
		return fn(worker, &w.chunk)
	})
	if err != nil {
		return 0, err
	}
	return t.edges[len(t.edges)-1], nil
}

// chunkWorker reads runs of edges of a chunk.
type chunkWorker struct {
	raw       []byte
	near, far scalar.Words
	chunk     table.Chunk
}

// read makes a chunk of n edges, all from chunk i of the chunk file.
func (w *chunkWorker) read(t *Chunks, f vfs.File, i int, from, n uint64) error {
	w.chunk.First, w.chunk.Rows, w.chunk.Bytes = from, int(n), 4*int64(n)
	_, word := t.of(from)
	raw, err := w.words(t, f, i, word, n)
	if err != nil {
		return err
	}
	w.far.N, w.near.N = 0, 0
	w.far.Add(8 * int(n))
	w.near.Add(8 * int(n))
	for k, far := 0, w.far.W[:n]; k < len(far); k++ {
		far[k] = uint64(binary.LittleEndian.Uint32(raw[4*k:]))
	}
	// Find the node of the first edge by bisection, and the nodes of the others by advancing.
	r := t.set.Rows[i]
	node := sort.Search(int(r.Nodes), func(node int) bool {
		raw, e := w.words(t, f, i, chunk.Offset(node+1), 1)
		if e != nil {
			err = e
			return true
		}
		return uint64(binary.LittleEndian.Uint32(raw)) > word
	})
	if err != nil {
		return err
	}
	const window = 8192
	near := w.near.W[:n]
	for done := uint64(0); done < n; {
		m := min(window, int(r.Nodes)-node)
		if m <= 0 {
			return badf("%s: found other offsets than in the first read, expected a file that does not change; run again", t.set.Name)
		}
		if raw, err = w.words(t, f, i, chunk.Offset(node+1), uint64(m)); err != nil {
			return err
		}
		for k := range m {
			end := uint64(binary.LittleEndian.Uint32(raw[4*k:]))
			for done < n && word+done < end {
				near[done] = uint64(r.Start) + uint64(node+k)
				done++
			}
		}
		node += m
	}
	return nil
}

// words reads n words of a chunk.
func (w *chunkWorker) words(t *Chunks, f vfs.File, i int, word, n uint64) ([]byte, error) {
	if uint64(cap(w.raw)) < 4*n {
		w.raw = make([]byte, 4*n)
	}
	b := w.raw[:4*n]
	return b, t.set.ReadWords(f, i, word, b)
}
