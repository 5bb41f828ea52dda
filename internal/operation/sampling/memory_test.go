package sampling

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
)

// codedEdges is a store of nodes with columns of several dtypes, and two edge types, of which u:e:u has a feature in codes.
func codedEdges(t *testing.T) *store.Store {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"u.csv": "id,a,b,w\n0,1,2,0.5\n1,3,4,1.5\n2,5,6,2.5\n", "e.csv": "s,d,w\n0,1,0.5\n1,2,1.5\n2,0,3\n", "f.csv": "s,d\n1,0\n2,1\n",
		"graph.yaml": `
nodes: {u: {table: u.csv, id: id, columns: {a: uint8, b: uint8, w: float32}}}
edges:
  u:e:u: {table: e.csv, src: s, dst: d, columns: {w: float32}, features: {e: {bits: 8, parts: [w]}}}
  u:f:u: {table: f.csv, src: s, dst: d}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := importing.Import(t.Context(), dir, filepath.Join(dir, "g.store"), option.Import{Build: option.Build{Run: option.Run{NoReport: true}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// numberBytes is what the numbers of the codes of the edges take: a number per code.
const numberBytes = 256 * 8

// The numbers of the codes of links count as memory of Examples.
func TestMemoryOfCodedLinks(t *testing.T) {
	s := codedEdges(t)
	draw, links := option.Draw{FanoutByType: map[string][]int{"u:f:u": {1}}}, option.Batching{Seeds: "u:e:u"}
	o := ofSample(&option.Sample{Draw: draw, Batching: links, Format: option.FormatTFRecord}, nil)
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	p, err := o.resolve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	bare := *p
	bare.features = nil
	with, without := o.choose(s, p, nil), o.choose(s, &bare, nil)
	if columns, touched := with.columns-without.columns, with.touched-without.touched; columns != numberBytes || touched != numberBytes {
		t.Errorf("found %d and %d bytes for the numbers of codes, expected %d", columns, touched, numberBytes)
	}
}

// With Memory, copies of columns and tables of joined ones take what it leaves beside the sampler and the numbers of the codes of links.
func TestRoom(t *testing.T) {
	s := codedEdges(t)
	for _, c := range []struct {
		seeds        string
		memory, held int64
	}{
		{"u", 1 << 30, 0},
		{"u", 3 << 30, 0},
		{"u:e:u", 1 << 30, numberBytes},
		{"u:f:u", 1 << 30, 0},
	} {
		l, err := NewLoader(t.Context(), s, option.Batches{Run: option.Run{Memory: c.memory}, Draw: option.Draw{Fanout: []int{1}}, Batching: option.Batching{Seeds: c.seeds},
			Columns: option.Columns{Joined: map[string][]string{"u/x": {"a", "b", "w"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.memory - c.held - samplerBytes(s.Graph, l.executor.sampler.Plan(), l.o.Threads); l.room() != want {
			t.Errorf("seeds %s: found room for %d bytes, expected %d", c.seeds, l.room(), want)
		}
		l.Close()
	}
}
