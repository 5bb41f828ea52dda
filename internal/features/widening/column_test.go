package widening_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/vfs"
)

// made writes the features.json of a store with a feature x of a node type n: 2 numbers of 4 bits, a place of 40, a bit per tag of 40.
func pieceFeatures(t *testing.T) *widening.Features {
	t.Helper()
	texts := func(n int) *features.Categories {
		c := &features.Categories{}
		for i := range n {
			c.Texts, c.Of = append(c.Texts, string(rune('A'+i))), append(c.Of, 1)
		}
		return c
	}
	f := features.NewFile(features.FitRows{})
	f.Nodes["n"] = &features.Type{Features: map[string]*features.Feature{"x": {
		DType: "float16", Bits: 4,
		Parts: []*features.State{
			{Part: features.Part{From: "v"}, Width: 2, Numbers: make([]features.Numbers, 2)},
			{Part: features.Part{From: "c", Encode: features.EncodeOneHot}, Width: 40, Categories: texts(38)},
			{Part: features.Part{From: "t", Encode: features.EncodeMultiHot}, Width: 41, Categories: texts(40)},
		},
		Pieces: []features.Piece{
			{Column: "#x.0", Kind: features.PieceLowBit, Width: 2, Bits: 4, Least: []float64{0, -1}, Greatest: []float64{15, 2}},
			{Column: "#x.1", Kind: features.PieceOneHot, Width: 40}, {Column: "#x.2", Kind: features.PieceMultiHot, Width: 41},
		},
	}}}
	f.Edges["n:e:n"] = f.Nodes["n"]
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "features.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := widening.Read(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// pieced is a node type with so many rows of random codes, and columns beside them.
func pieced(rows int, r *rand.Rand) *graph.Nodes {
	codes := func(name string, shape []int, most int) *graph.Column {
		c := &graph.Column{Name: name, DType: graph.Uint8, Shape: shape, Rows: rows}
		for range rows * c.RowValues() {
			c.Values = append(c.Values, byte(r.IntN(most)))
		}
		return c
	}
	return &graph.Nodes{Type: "n", Count: rows, Columns: []*graph.Column{
		codes("#x.0", []int{1}, 256), codes("#x.1", nil, 40), codes("#x.2", []int{6}, 256), codes("a", nil, 2), codes("y", nil, 2),
	}}
}

// A feature stands in place of its pieces, by its name, and its rows are those of the codes, at any cut, as its dtype and as float32.
func TestColumns(t *testing.T) {
	features := pieceFeatures(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := pieced(rapid.SampledFrom([]int{0, 1, 3, 700}).Draw(t, "rows"), r)
		columns, err := features.Nodes(n)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != "a x y" {
			t.Fatalf("found the columns %s, expected a x y", got)
		}
		x := columns[1]
		if !x.Wide() || x.DType != graph.Float16 || x.RowValues() != 83 || x.Rows != n.Count || x.RowsBytes() != int64(n.Count)*166 || x.StoredBytes() != int64(n.Count)*8 {
			t.Fatalf("found %+v of %d and %d bytes", x.Column, x.RowsBytes(), x.StoredBytes())
		}
		half, single := make([]uint16, 83*n.Count), make([]float32, 83*n.Count)
		x.Writer(graph.Float16, nil).Range(graph.Bytes(half), 166, 0, n.Count)
		cut := 0
		if n.Count > 0 {
			cut = r.IntN(n.Count)
		}
		write := x.Writer(graph.Float32, nil)
		write.Range(graph.Bytes(single[83*cut:]), 332, cut, n.Count)
		write.Range(graph.Bytes(single[:83*cut]), 332, 0, cut)
		for row := range n.Count {
			for k := range 83 {
				var want float64
				switch {
				case k < 2:
					code := float64(n.Columns[0].Values[row] >> (4 * k) & 15)
					want = [2]float64{code, -1 + code*3/15}[k]
				case k < 42 && int(n.Columns[1].Values[row]) == k-2, k >= 42 && n.Columns[2].Row(row)[(k-42)/8]>>((k-42)%8)&1 == 1:
					want = 1
				}
				if got := single[83*row+k]; float64(got)-want > 1e-3 || want-float64(got) > 1e-3 {
					t.Fatalf("row %d, number %d: found %g, expected %g", row, k, got, want)
				}
				if got := half[83*row+k]; (got == 0x3c00) != (single[83*row+k] == 1) {
					t.Fatalf("row %d, number %d: found %x as float16 and %g as float32", row, k, got, single[83*row+k])
				}
			}
		}
	})
}

// A store without features, or of another type, has its columns.
func TestOwn(t *testing.T) {
	n := pieced(2, rand.New(rand.NewPCG(1, 1)))
	n.Type = "other"
	for _, f := range []*widening.Features{nil, pieceFeatures(t)} {
		columns, err := f.Nodes(n)
		if err != nil || len(columns) != 2 || columns[0].Wide() || columns[0].Column != n.Columns[3] {
			t.Errorf("found %v, %v", columns, err)
		}
	}
	missing, err := widening.Read(vfs.OS, t.TempDir())
	if missing != nil || err != nil {
		t.Errorf("found %v, %v, expected no features", missing, err)
	}
}

// Columns of links have the features whose pieces are among them, and those of other tables have none.
func TestAmong(t *testing.T) {
	columns := pieced(3, rand.New(rand.NewPCG(1, 1))).Columns
	f := pieceFeatures(t)
	for _, c := range []struct {
		name    string
		of      *widening.Features
		typ     string
		columns []*graph.Column
		want    string
	}{
		{"all", f, "n:e:n", columns, "a x y"},
		{"none of the pieces", f, "n:e:n", columns[3:], "a y"},
		{"the pieces alone", f, "n:e:n", columns[:3], "x"},
		{"a file", f, "", columns[3:], "a y"},
		{"another type", f, "n:f:n", columns[3:], "a y"},
		{"a store without features", nil, "n:e:n", columns[3:], "a y"},
		{"damage", f, "n:e:n", columns[1:], `n:e:n: feature "x": found no column "#x.0", expected it in a store with the feature; graphmill verify finds damage`},
	} {
		got, err := c.of.Among(c.typ, c.columns)
		var names []string
		for _, x := range got {
			names = append(names, x.Name)
			if x.Wide() != (x.Name == "x") {
				t.Errorf("%s: found the column %s in pieces: %t", c.name, x.Name, x.Wide())
			}
		}
		text := strings.Join(names, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s: found %s, expected %s", c.name, text, c.want)
		}
	}
}

// A store whose columns are not those of its features is damaged.
func TestDamagedPieces(t *testing.T) {
	features := pieceFeatures(t)
	for want, change := range map[string]func(n *graph.Nodes){
		`n: feature "x": found no column "#x.1", expected it in a store with the feature; graphmill verify finds damage`:     func(n *graph.Nodes) { n.Columns = append(n.Columns[:1:1], n.Columns[2:]...) },
		`n: feature "x": column "#x.2": found uint8 rows of shape [7], expected uint8 of shape [6] for a feature`:            func(n *graph.Nodes) { n.Columns[2].Shape = []int{7} },
		`n: feature "x": found a column of this name beside its pieces, expected one of both; graphmill verify finds damage`: func(n *graph.Nodes) { n.Columns[4].Name = "x" },
	} {
		n := pieced(3, rand.New(rand.NewPCG(1, 1)))
		change(n)
		if _, err := features.Nodes(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	// Codes beyond the numbers of a one-hot piece change nothing else.
	n := pieced(1, rand.New(rand.NewPCG(1, 1)))
	n.Columns[1].Values[0] = 255
	columns, err := features.Nodes(n)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]byte, 166)
	columns[1].Writer(graph.Float16, nil).Range(row, 166, 0, 1)
	if !bytes.Equal(row[4:84], make([]byte, 80)) {
		t.Errorf("found %x, expected zeros", row[4:84])
	}
}
