package output

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store/shards"
)

// pieceOf makes a piece of two batches of a small graph.
func pieceOf(tb testing.TB, records bool) ([]byte, *Pieces) {
	tb.Helper()
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: 4}}, Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: 3}}}
	g.Edges[0].Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: []uint32{0, 1, 2, 3, 3}}, Far: graph.Index{U32: []uint32{1, 2, 3}}}
	plan := &sample.Plan{SeedType: []string{"a"}, Scope: sample.ScopeSeed, Ops: []sample.Op{{From: []int{0}, Edges: "a:r:a", Take: 2}}}
	s, err := sample.New(g, plan, sample.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	job := sample.Job{Seeds: []uint32{0, 1, 2, 3}, BatchSize: 2}
	var p *Pieces
	if records {
		p, err = RecordPieces(s, RecordsOptions{Shards: 2, Examples: 4}, job)
	} else {
		p, err = CollectionPieces(s, CollectionOptions{}, job)
	}
	if err != nil {
		tb.Fatal(err)
	}
	w, err := p.NewWriter()
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	c := s.NewContext()
	batches, _ := s.Batches(&p.job)
	if err := w.Write(tb.Context(), &b, 0, batches.Len(), func(b *sample.Batch, i int) (*sample.Subgraph, error) { return c.Sample(s.Input(b, 0, i)) }); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes(), p
}

// TestPieceIsChecked checks that a piece of which any byte was changed, or that was cut, is refused.
func TestPieceIsChecked(t *testing.T) {
	for _, records := range []bool{false, true} {
		piece, p := pieceOf(t, records)
		join := func(b []byte) error {
			out, _ := p.begin()
			_, err := joinPiece(bytes.NewReader(b), out, 0, func(parcel) error { return nil })
			return err
		}
		if err := errors.Join(join(piece), CheckPiece(bytes.NewReader(piece))); err != nil {
			t.Fatal(err)
		}
		for i := range piece {
			changed := bytes.Clone(piece)
			changed[i] ^= 0x41
			if join(changed) == nil || CheckPiece(bytes.NewReader(changed)) == nil {
				t.Errorf("found no error after byte %d was changed", i)
			}
			if join(piece[:i]) == nil || CheckPiece(bytes.NewReader(piece[:i])) == nil {
				t.Errorf("found no error for %d of %d bytes", i, len(piece))
			}
		}
	}
}

// TestCheckPieceOfAnySize checks the checksum where the piece ends near the end of a read.
func TestCheckPieceOfAnySize(t *testing.T) {
	for size := 1<<16 - 20; size < 1<<16+20; size++ {
		for _, body := range [][]byte{make([]byte, size), make([]byte, 2*size)} {
			piece := binary.LittleEndian.AppendUint64(body, xxh3.Hash(body))
			if err := CheckPiece(bytes.NewReader(piece)); err != nil {
				t.Fatalf("%d bytes: %v", len(body), err)
			}
		}
	}
}

// FuzzPiece reads any bytes as the parcels of a piece.
func FuzzPiece(f *testing.F) {
	for _, records := range []bool{false, true} {
		b, _ := pieceOf(f, records)
		f.Add(b[pieceHeader+4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			w, err := shards.New(nil, shards.Options{Shards: 2, Records: 4})
			if err != nil {
				panic(err)
			}
			_ = (&chunk{records: w.NewChunk()}).readFrom(b)
			_ = (&graphs{values: make([][]uint32, 8)}).readFrom(b)
		})
	})
}
