package assemble

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// within takes writes to an array of a number of bytes.
type within struct {
	t *testing.T
	n int64
}

func (w within) WriteAt(b []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(b)) > w.n {
		w.t.Fatalf("found %d bytes at %d, expected them within %d", len(b), at, w.n)
	}
	return len(b), nil
}

// drop takes rows.
type drop struct{}

func (drop) Append([]byte, []uint32, ...[]uint32) error { return nil }

// FuzzPiece joins any bytes as the piece of a range, and reads them as the chunks of rows that a worker left.
func FuzzPiece(f *testing.F) {
	weight, text := table.Column{Name: "w", DType: graph.Float32}, table.Column{Name: "s", DType: graph.String, Shape: []int{-1}}
	id := table.Column{Name: "src", DType: graph.Uint64}
	edges := &memTable{name: "e"}
	for _, c := range []table.Column{id, {Name: "dst", DType: graph.Uint64}, weight, text} {
		edges.add(c, nil)
	}
	e := graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}
	share, err := NewShare(vfs.OS, f.TempDir(), Input{Nodes: []Nodes{{Type: "a", Count: 10}},
		Edges: []Edges{{Type: e, Table: edges, Src: id, Dst: edges.fields[1], Columns: []table.Column{weight, text}}}}, Options{Threads: 1, DuplicateEdges: Keep, SelfLoops: Keep})
	if err != nil {
		f.Fatal(err)
	}
	if err := share.Know(&Numbers{Types: []TypeNumbers{{Rows: 10, Count: 10}}, Parts: []uint64{3}}); err != nil {
		f.Fatal(err)
	}
	if err := share.Place(f.Context(), []uint64{0}); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "piece")
	r := share.Range(0, 0, 1, nil)
	lay := r.s.lay
	records := []byte{rawRecords}
	vectors := []table.Vector{{Data: make([]byte, 12)}, {Data: []byte("xyz"), Ends: []uint32{1, 1, 3}, Lengths: [][]uint32{{1, 0, 2}}}}
	rows := newCursor(&text, &vectors[1])
	for i := range uint64(3) {
		rec := make([]byte, lay.fixed)
		lay.put(rec, i, 9-i, i)
		blob := rows.blob(nil)
		rec = binary.LittleEndian.AppendUint32(rec, uint32(len(blob)))
		records = append(append(records, rec...), blob...)
	}
	if err := r.Add(records, 0); err != nil {
		f.Fatal(err)
	}
	file, err := vfs.OS.Create(path)
	if err != nil {
		f.Fatal(err)
	}
	if err := r.Write(f.Context(), file, 0, nil); err != nil {
		f.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.Fatal(err)
	}
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	piece, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(piece)
	chunk := make([]byte, 16)
	for i := range vectors {
		chunk = appendVector(chunk, &vectors[i])
	}
	binary.LittleEndian.PutUint32(chunk[8:], 3)
	binary.LittleEndian.PutUint32(chunk[12:], uint32(len(chunk)-16))
	f.Add(chunk)
	var whole strings.Builder
	w := NewChunkWriter(&whole)
	if err := errors.Join(w.Write(&table.Chunk{Rows: 3, Columns: vectors}), w.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(whole.String()))
	columns := []table.Column{weight, text}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			grp := *share.groups[0]
			s := &sink{group: &grp, lay: lay, way: grp.opt.Primary, drops: make([]atomic.Uint64, 1)}
			s.widths(3, 3)
			size := func(n uint64, width int) io.WriterAt { return within{t, int64(n) * int64(width)} }
			s.indptr = &tail{dtype: graph.Uint64, out: size(s.nearTop, 8)}
			s.far, s.seq = size(1<<40, 4), size(1<<40, 4)
			for _, c := range lay.cols {
				if c.width > 0 {
					s.columns = append(s.columns, outColumn{at: size(1<<40, c.width)})
				} else {
					s.columns = append(s.columns, outColumn{vars: drop{}})
				}
			}
			var piece pieceEnd
			err := readEnd(vfs.OS, path, &piece)
			if err == nil {
				err = s.joinRange(t.Context(), path, &piece, 0, 0)
			}
			if err == nil && piece.Kept > uint64(len(b)) {
				t.Fatalf("found %d edges in %d bytes", piece.Kept, len(b))
			}
			end := chunkEnd{End: int64(len(b))}
			_ = readEnd(vfs.OS, path, &end) // with it, or without
			_, _ = (&chunks{fs: vfs.OS, columns: columns, files: []string{path}, ends: []*chunkEnd{&end}}).Scan(t.Context(), columns, 1, func(_ int, c *table.Chunk) error {
				for i := range c.Columns {
					if c.Columns[i].Ends == nil && columns[i].DType != graph.String && len(c.Columns[i].Data) != 4*c.Rows {
						t.Fatalf("found %d bytes of %d rows", len(c.Columns[i].Data), c.Rows)
					}
				}
				return nil
			})
		})
	})
}
