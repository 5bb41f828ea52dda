package parts

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
)

// part is a part in memory, whose edges are the rows of a matrix.
type part struct{ Part }

func (p *part) add(values []int64) (a dgl.Array) {
	a.DType, a.Shape, a.Offset, a.Size = dgl.Int64, []int64{int64(len(values))}, int64(len(p.graph)), 8*int64(len(values))
	for _, x := range values {
		p.graph = binary.LittleEndian.AppendUint64(p.graph, uint64(x))
	}
	return a
}

func newPart(rows [][]int64, ids []int64, csc bool) *part {
	p := &part{}
	p.Nodes = int64(len(rows))
	offsets, columns := []int64{0}, []int64(nil)
	for _, row := range rows {
		columns = append(columns, row...)
		offsets = append(offsets, int64(len(columns)))
	}
	p.Edges = int64(len(columns))
	m := &dgl.Rows{Indptr: p.add(offsets), Indices: p.add(columns), EdgeIDs: p.add(ids)}
	r := dgl.Relation{Edges: p.Edges, CSR: m}
	if csc {
		r.CSR, r.CSC = nil, m
	}
	p.Part.Graph = &dgl.Graph{Relations: []dgl.Relation{r}}
	return p
}

// The ends of a matrix of rows are the ends of its entries, whatever the order of its ids.
func TestEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 300).Draw(t, "nodes")
		var rows [][]int64
		edges := 0
		for range nodes {
			degree := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 70, 200}).Draw(t, "degree")
			row := make([]int64, degree)
			for i := range row {
				row[i] = int64((edges + i*i) % nodes)
			}
			rows, edges = append(rows, row), edges+degree
		}
		var ids []int64
		order := rapid.SampledFrom([]string{"none", "ascending", "descending"}).Draw(t, "ids")
		for i := range edges {
			switch order {
			case "ascending":
				ids = append(ids, int64(i))
			case "descending":
				ids = append(ids, int64(edges-1-i))
			}
		}
		csc := rapid.Bool().Draw(t, "csc")
		p := newPart(rows, ids, csc)
		if err := p.Ends(context.Background()); err != nil {
			t.Fatal(err)
		}
		if looked := p.Src.rows != nil || p.Dst.rows != nil; looked != (order != "descending" || edges < 2) {
			t.Fatalf("rows are looked up: %v, with ids %s", looked, order)
		}
		at := 0
		for row, columns := range rows {
			for _, column := range columns {
				id := int64(at)
				if ids != nil {
					id = ids[at]
				}
				src, dst := int64(row), column
				if csc {
					src, dst = dst, src
				}
				if p.Src.At(id) != src || p.Dst.At(id) != dst {
					t.Fatalf("edge %d: found %d to %d, expected %d to %d", id, p.Src.At(id), p.Dst.At(id), src, dst)
				}
				at++
			}
		}
	})
}

// Damaged offsets give some row.
func TestRowIndexDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offsets := rapid.SliceOfN(rapid.Int64Range(-5, 500), 1, 20).Draw(t, "offsets")
		rows, places := int64(len(offsets)-1), rapid.Int64Range(0, 300).Draw(t, "places")
		x := NewRowIndex(rows, places, func(row int64) int64 { return offsets[row] })
		for place := range places {
			if row := x.At(place); row < 0 || row > max(rows-1, 0) {
				t.Fatalf("place %d: found row %d of %d", place, row, rows)
			}
		}
	})
}

func TestEndsDamaged(t *testing.T) {
	for want, p := range map[string]*part{
		"found the ends 1 and 2":             newPart([][]int64{{0, 1}, {2}}, nil, false),
		"found edge id 0 twice":              newPart([][]int64{{0, 1}, {0}}, []int64{0, 1, 0}, false),
		"found no edges, expected COO":       {Part: Part{Graph: &dgl.Graph{Relations: []dgl.Relation{{}}}}},
		"found the offset 7 after row 1":     damaged(),
		"edge 0: found the ends -1 and 0":    newPart([][]int64{{-1}}, nil, true),
		"out of range, expected each below ": newPart([][]int64{{0}}, []int64{9}, true),
	} {
		if err := p.Ends(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

func damaged() *part {
	p := newPart([][]int64{{0, 1}, {0}}, nil, true)
	binary.LittleEndian.PutUint64(p.graph[16:], 7)
	return p
}
