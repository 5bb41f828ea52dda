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
		join := func(b []byte) (joined, checked error) {
			at := bytes.NewReader(b)
			e, err := readEnd(at, at.Size())
			if err != nil {
				return err, err
			}
			out, _ := p.begin()
			_, joined = joinPiece(at, e, out, 0, func(parcel) error { return nil })
			return joined, e.check(at)
		}
		if err := errors.Join(join(piece)); err != nil {
			t.Fatal(err)
		}
		for i := range piece {
			changed := bytes.Clone(piece)
			changed[i] ^= 0x41
			for _, b := range [][]byte{changed, piece[:i], piece[i+1:]} {
				if joined, checked := join(b); !errors.Is(joined, errPiece) || !errors.Is(checked, errPiece) {
					t.Errorf("byte %d of %d: found %v and %v, expected errors about a damaged piece", i, len(piece), joined, checked)
				}
			}
		}
	}
}

// FuzzPiece reads any bytes as a piece, and as one whose checksums are right.
func FuzzPiece(f *testing.F) {
	pieces := map[bool]*Pieces{}
	for _, records := range []bool{false, true} {
		b, p := pieceOf(f, records)
		pieces[records] = p
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			for _, p := range pieces {
				for _, b := range [][]byte{b, summed(b)} {
					at := bytes.NewReader(b)
					e, err := readEnd(at, at.Size())
					if err != nil {
						continue
					}
					out, _ := p.begin()
					if e.fits(out) == nil {
						_, _ = joinPiece(at, e, out, 0, func(parcel) error { return nil })
					}
					_ = e.check(at)
				}
			}
		})
	})
}

// summed is a piece with checksums of its own bytes, as far as its foot leads to them.
func summed(b []byte) []byte {
	if len(b) < pieceFoot {
		return b
	}
	b = bytes.Clone(b)
	copy(b[len(b)-len(pieceMagic):], pieceMagic)
	foot := b[len(b)-pieceFoot:]
	index, sums, sections := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:]), binary.LittleEndian.Uint64(foot[32:])
	if index > sums || sums > uint64(len(b)-pieceFoot) || sections == 0 {
		return b
	}
	frames := b[:index]
	for rest := b[index:sums]; len(rest) > 0; {
		n, width := binary.Uvarint(rest)
		if width <= 0 || len(rest) < width+8 || n > uint64(len(frames)) {
			break
		}
		binary.LittleEndian.PutUint64(rest[width:], xxh3.Hash(frames[:n]))
		frames, rest = frames[n:], rest[width+8:]
	}
	binary.LittleEndian.PutUint64(foot[40:], xxh3.Hash(b[index:sums]))
	binary.LittleEndian.PutUint64(foot[48:], xxh3.Hash(b[sums:len(b)-16]))
	return b
}
