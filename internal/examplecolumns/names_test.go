package examplecolumns_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

func TestTypeName(t *testing.T) {
	for set, want := range map[string]string{
		"paper": "paper", "_readout/source": "_readout/source", "a.b": "a.b", "Käse": "Käse", "\ufffd": "\ufffd",
		"a:b": "a%3Ab", "%3A": "%253A", "tab\there": "tab%09here", "\x7f": "%7F", "\xff\xfe": "%FF%FE",
	} {
		if got := examplecolumns.TypeName(set); got != want {
			t.Errorf("%q: found %q, expected %q", set, got, want)
		}
	}
}

// Different sets have different types, and every type has a valid name.
func TestTypeNamesAreDistinct(t *testing.T) {
	names := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune{'%', ':', '3', 'A', 'a', '\n', 'é'}), 1, 6, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 6), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		if x, y := examplecolumns.TypeName(a), examplecolumns.TypeName(b); (x == y) != (a == b) {
			t.Fatalf("%q and %q: found %q and %q", a, b, x, y)
		}
		if err := graph.CheckName(examplecolumns.TypeName(a)); err != nil {
			t.Fatal(err)
		}
	})
}

// Sets are named by the relation of their type as long as that distinguishes them.
func TestSetNames(t *testing.T) {
	if a, b := examplecolumns.NodeSet("paper"), examplecolumns.NodeSet(graph.HomogeneousNode); a != "paper" || b != "node" {
		t.Errorf("found %q and %q", a, b)
	}
	for _, c := range []struct{ types, want []string }{
		{nil, nil},
		{[]string{"_N:_E:_N"}, []string{"edge"}},
		{[]string{"a:r:b", "b:s:a"}, []string{"r", "s"}},
		{[]string{"a:r:b", "b:r:a", "b:s:a"}, []string{"a_r_b", "b_r_a", "s"}},
		{[]string{"_N:_E:_N", "a:edge:b"}, []string{"node__E_node", "a_edge_b"}},
	} {
		var types []graph.EdgeType
		for _, name := range c.types {
			e, err := graph.ParseEdgeType(name)
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, e)
		}
		if got := examplecolumns.EdgeSets(types); !slices.Equal(got, c.want) {
			t.Errorf("%q: found %q, expected %q", c.types, got, c.want)
		}
	}
}
