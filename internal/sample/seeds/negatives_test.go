package seeds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestNegatives reads negatives of two links from an author to a paper, from columns and files.
func TestNegatives(t *testing.T) {
	dir := t.TempDir()
	file := func(name, descr string, values []byte, shape ...int) string {
		return writeArray(t, dir, name, descr, shape, values)
	}
	long := func(v ...int64) []byte { return graph.Bytes(v) }
	offsets := file("offsets.npy", "i8", long(0, 3, 3), 3)
	column := func(name string, dtype graph.DType, shape []int, values []byte, offsets ...uint64) *graph.Column {
		c := &graph.Column{Name: name, DType: dtype, Shape: shape, Rows: 2, Values: values}
		if offsets != nil {
			c.Offsets = []graph.Index{{U64: offsets}}
		}
		return c
	}
	texts := column("texts", graph.String, []int{-1}, []byte("302"), 0, 1, 3)
	texts.StringOffsets = graph.Index{U64: []uint64{0, 1, 2, 3}}
	links := &seeds.Seeds{Types: []string{"author", "paper"}, Nodes: []uint32{1, 0, 0, 2}, Columns: []*graph.Column{
		column("list", graph.Int32, []int{-1}, graph.Bytes([]int32{3, 1, 2}), 0, 3, 3),
		column("vector", graph.Uint64, []int{2}, graph.Bytes([]uint64{3, 1, 2, 0})),
		column("unknown", graph.Int64, []int{2}, long(3, 1, 2, 4)),
		column("below", graph.Int8, []int{1}, []byte{0, 255}),
		column("score", graph.Float32, []int{2}, make([]byte, 16)),
		column("one", graph.Int64, nil, long(1, 2)),
		texts,
	}}
	for _, test := range []struct {
		name, text string
		want       sample.NegativeLists
		most       int
		err        string
	}{
		{"list", "list", sample.NegativeLists{Nodes: []uint32{3, 1, 2}, Targets: true, Ends: []uint64{3, 3}}, 3, ""},
		{"vector", "vector", sample.NegativeLists{Nodes: []uint32{3, 1, 2, 0}, Targets: true}, 2, ""},
		{"texts", "texts", sample.NegativeLists{Nodes: []uint32{3, 0, 2}, Targets: true, Ends: []uint64{1, 3}}, 2, ""},
		{"targets", file("t.npy", "u1", []byte{3, 2, 1, 0}, 2, 2), sample.NegativeLists{Nodes: []uint32{3, 2, 1, 0}, Targets: true}, 2, ""},
		{"of more links", file("more.npy", "i8", long(3, 2, 9), 3, 1), sample.NegativeLists{Nodes: []uint32{3, 2}, Targets: true}, 1, ""},
		{"both ends", file("b.npy", "i8", long(1, 3, 0, 2), 2, 1, 2), sample.NegativeLists{Nodes: []uint32{1, 3, 0, 2}}, 1, ""},
		{"lists of targets", file("l.npy", "u8", long(3, 0, 1), 3) + "," + offsets, sample.NegativeLists{Nodes: []uint32{3, 0, 1}, Targets: true, Ends: []uint64{3, 3}}, 3, ""},
		{"lists of both ends", file("lb.npy", "i8", long(1, 3, 0, 0, 1, 1), 3, 2) + "," + offsets, sample.NegativeLists{Nodes: []uint32{1, 3, 0, 0, 1, 1}, Ends: []uint64{3, 3}}, 3, ""},

		{"unknown id", "unknown", sample.NegativeLists{}, 0, `column "unknown" of the links: row 1: found id "4", expected the id of a node of type paper`},
		{"negative id", "below", sample.NegativeLists{}, 0, `row 1: found id "-1"`},
		{"no ids", "score", sample.NegativeLists{}, 0, `column "score" of the links: found float32 of shape [2], expected a list of ids`},
		{"no list", "one", sample.NegativeLists{}, 0, "found int64 of shape []"},
		{"no column", "other", sample.NegativeLists{}, 0, `found no column "other" of the links, expected one of list, vector, unknown, below, score, texts, or an .npy file`},
		{"no file", filepath.Join(dir, "none.npy"), sample.NegativeLists{}, 0, "none.npy: no such file"},
		{"flat", file("f.npy", "i8", long(1, 2), 2), sample.NegativeLists{}, 0, "f.npy: found int64 rows of shape [], expected integers [links, negatives]"},
		{"triples", file("x.npy", "i8", make([]byte, 48), 2, 1, 3), sample.NegativeLists{}, 0, "found int64 rows of shape [1 3]"},
		{"floats", file("fl.npy", "f4", make([]byte, 16), 2, 2), sample.NegativeLists{}, 0, "found float32 rows"},
		{"few", file("few.npy", "i8", long(1, 2), 1, 2), sample.NegativeLists{}, 0, "found the negatives of 1 links, expected 2"},
		{"outside", file("o.npy", "i8", long(1, 2, 3, 4), 2, 2), sample.NegativeLists{}, 0, "o.npy[1]: found node 4 of type paper, expected 0 to 3"},
		{"author outside", file("ao.npy", "i8", long(1, 3, 2, 2), 2, 1, 2), sample.NegativeLists{}, 0, "found node 2 of type author, expected 0 to 1"},
		{"minus", file("m.npy", "i8", long(1, 2, 3, -1), 2, 2), sample.NegativeLists{}, 0, "found node -1 of type paper"},
		{"far outside", file("fo.npy", "u8", graph.Bytes([]uint64{1, 1 << 63}), 2, 1), sample.NegativeLists{}, 0, "fo.npy[1]: found node"},
		{"no offsets", file("l2.npy", "i8", long(3, 0, 1), 3) + "," + filepath.Join(dir, "none.npy"), sample.NegativeLists{}, 0, "none.npy: no such file"},
		{"bad offsets", file("l3.npy", "i8", long(3, 0), 2) + "," + offsets, sample.NegativeLists{}, 0, "offsets.npy"},
		{"empty", file("e.npy", "i8", nil, 0) + "," + file("eo.npy", "i8", long(0, 0, 0), 3), sample.NegativeLists{}, 0, "found no negative for any of 2 links"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lists, most, err := seeds.Negatives(t.Context(), vfs.OS, papers(), links, test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("found error %v, expected %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, lists, cmpopts.EquateEmpty()); d != "" || most != test.most {
				t.Errorf("most %d, expected %d: %s", most, test.most, d)
			}
		})
	}
	if _, _, err := seeds.Negatives(t.Context(), vfs.OS, papers(), &seeds.Seeds{Types: []string{"paper"}, Nodes: []uint32{1}}, "list"); err == nil || !strings.Contains(err.Error(), "seeds that are nodes of type paper") {
		t.Errorf("found error %v", err)
	}
}
