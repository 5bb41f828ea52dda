package graphmill_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// A column of a batch is read as numbers of its dtype, and as nothing else.
func TestColumn(t *testing.T) {
	st, err := graphmill.Import(t.Context(), "testdata/library", t.TempDir()+"/g.store", option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	all := st.Graph().Nodes[0]
	x := graph.View[float32](graph.FindColumn(all.Columns, "x").Values)
	width := len(x) / all.Count
	for b, err := range graphmill.Batches(t.Context(), st, option.Batches{Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{BatchSize: 2}}) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := graphmill.Column[float32](b, "paper", "x")
		if err != nil {
			t.Fatal(err)
		}
		var want []float32
		for _, v := range b.Nodes("paper") {
			want = append(want, x[int(v)*width:(int(v)+1)*width]...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("found %v, expected the rows of the nodes %v", got, want)
		}
		for text, read := range map[string]func() error{
			`no column "y" of paper`:             func() error { _, err := graphmill.Column[float32](b, "paper", "y"); return err },
			`no column "x" of nothing`:           func() error { _, err := graphmill.Column[float32](b, "nothing", "x"); return err },
			`found float64 for column "x" of pa`: func() error { _, err := graphmill.Column[float64](b, "paper", "x"); return err },
			`expected float32, since its dtype`:  func() error { _, err := graphmill.Column[uint32](b, "paper", "x"); return err },
		} {
			if err := read(); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("found %v, expected an error with %q", err, text)
			}
		}
	}
}
