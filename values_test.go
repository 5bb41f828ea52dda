package graphmill_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// write writes files into a new folder.
func writeTables(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func importTables(t *testing.T, source, out string, o option.Import) *graphmill.Store {
	t.Helper()
	s, err := graphmill.Import(t.Context(), source, out, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := graphmill.Verify(t.Context(), out, option.Verify{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// texts are the values of a column of categories or times.
func valuesOf(c *graph.Column) []string {
	var out []string
	for i := range c.Rows {
		switch {
		case c.Categories != nil:
			text := "-"
			if code := graph.View[int32](c.Values)[i]; code >= 0 {
				text = string(c.Categories.Text(int(code)))
			}
			out = append(out, text)
		case c.Unit != "":
			text := "-"
			if v := graph.View[int64](c.Values)[i]; v != graph.NoTime {
				text = fmt.Sprint(v)
			}
			out = append(out, text)
		case c.DType == graph.Bool:
			out = append(out, fmt.Sprint(c.Values[i]))
		default:
			out = append(out, fmt.Sprint(c.Row(i)))
		}
	}
	return out
}

const valuesYAML = `
nodes:
  user: {table: users.csv, id: id, columns: {born: datetime, kind: category, level: {categories: [low, mid, high]}}}
  item: {table: items.csv, id: id, columns: {kind: category}}
edges:
  "user:buys:item": {table: buys.csv, columns: {at: datetime, how: category}, reverse: bought}
`

func valueTables() map[string]string {
	return map[string]string{
		"graph.yaml": valuesYAML,
		"users.csv":  "id,born,kind,level\nu1,2000-01-01,b,high\nu2,,a,\nu3,1999-12-31T23:59:59.5Z,,low\n",
		"items.csv":  "id,kind\ni1,c\ni2,a\n",
		"buys.csv":   "src,dst,at,how\nu1,i1,2020-01-01,card\nu2,i1,,cash\nu1,i2,2020-01-03,\nu3,i1,2020-01-02,card\n",
	}
}

func TestImportValues(t *testing.T) {
	dir := writeTables(t, valueTables())
	s := importTables(t, dir, dir+"/out/g.store", option.Import{})
	g := s.Graph()
	user, item := g.Nodes[g.NodeType("user")], g.Nodes[g.NodeType("item")]
	for _, c := range []struct {
		columns    []*graph.Column
		name, want string
	}{
		{user.Columns, "born", "[946684800000 - 946684799500]"}, {user.Columns, "kind", "[b a -]"}, {user.Columns, "level", "[high - low]"}, {item.Columns, "kind", "[c a]"},
	} {
		if got := fmt.Sprint(valuesOf(graph.FindColumn(c.columns, c.name))); got != c.want {
			t.Errorf("%s: found %s, want %s", c.name, got, c.want)
		}
	}
	for _, e := range g.Edges {
		// The values follow their edges, in both edge types of the table.
		at, how := graph.FindColumn(e.Columns, "at"), graph.FindColumn(e.Columns, "how")
		var got []string
		for i, a := range valuesOf(at) {
			got = append(got, a+" "+valuesOf(how)[i])
		}
		slices.Sort(got)
		if want := []string{"- cash", "1577836800 card", "1577923200 card", "1578009600 -"}; !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", e.Type, got, want)
		}
	}
	d, err := s.Describe()
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, c := range slices.Concat(d.Nodes[0].Columns, d.Nodes[1].Columns) {
		shown = append(shown, c.String())
	}
	if diff := cmp.Diff([]string{"kind category (2: a, c)", "born datetime[ms]", "kind category (2: a, b)", "level category (3: low, mid, high)"}, shown); diff != "" {
		t.Error(diff)
	}
	// The store does not depend on threads and memory.
	sum := func(o option.Import, name string) string {
		out := dir + "/out/" + name
		importTables(t, dir, out, o)
		text, err := os.ReadFile(out + "/manifest.json")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one := option.Import{}
	one.Threads = 1
	four := option.Import{}
	four.Threads, four.Memory = 4, 128<<20
	if diff := cmp.Diff(sum(one, "one"), sum(four, "four")); diff != "" {
		t.Error(diff)
	}
}

// In a homogeneous graph, columns of categories of one name have the texts of all types.
func TestHomogeneousValues(t *testing.T) {
	dir := writeTables(t, valueTables())
	s := importTables(t, dir, dir+"/out/g.store", option.Import{Homogeneous: true, DanglingEdges: option.PolicyZeros})
	g := s.Graph()
	if got := fmt.Sprint(valuesOf(graph.FindColumn(g.Nodes[0].Columns, "kind"))); got != "[c a b a -]" {
		t.Errorf("found %s, want the texts of both types", got)
	}
	if c := graph.FindColumn(g.Edges[0].Columns, "at"); c == nil || c.Unit != graph.Seconds {
		t.Errorf("found %v, want times in seconds", c)
	}
}

// Columns of different units or fixed categories do not become one column: they are left out, and named.
func TestHomogeneousKeepsMeaning(t *testing.T) {
	tables := valueTables()
	tables["graph.yaml"] = strings.NewReplacer("kind: category, level", "kind: {categories: [a, b]}, level", "{table: items.csv, id: id, columns: {kind: category}}", "{table: items.csv, id: id, columns: {kind: {categories: [c, a]}}}").Replace(valuesYAML)
	dir := writeTables(t, tables)
	s := importTables(t, dir, dir+"/out/g.store", option.Import{Homogeneous: true})
	if c := graph.FindColumn(s.Graph().Nodes[0].Columns, "kind"); c != nil {
		t.Errorf("found %v, want no column of codes with two meanings", c)
	}
	r, err := s.Report()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(r)
	for _, name := range []string{"item.kind", "user.kind"} {
		if !strings.Contains(text, name) {
			t.Errorf("found no %s in the report, want it as left out", name)
		}
	}
}

// Nodes that only edges name have no time and no category.
func TestAddedNodesHaveNoValues(t *testing.T) {
	tables := valueTables()
	tables["buys.csv"] += "u9,i2,,\n"
	tables["graph.yaml"] = strings.Replace(valuesYAML, "born: datetime,", "born: {dtype: datetime, missing: column},", 1)
	dir := writeTables(t, tables)
	s := importTables(t, dir, dir+"/out/g.store", option.Import{DanglingEdges: option.PolicyZeros})
	g := s.Graph()
	user := g.Nodes[g.NodeType("user")]
	for name, want := range map[string]string{"born": "[946684800000 - 946684799500 -]", "born_missing": "[0 1 0 1]", "kind": "[b a - -]", "level": "[high - low -]"} {
		if got := fmt.Sprint(valuesOf(graph.FindColumn(user.Columns, name))); got != want {
			t.Errorf("%s: found %s, want %s", name, got, want)
		}
	}
}

func TestCollectionValues(t *testing.T) {
	dir := writeTables(t, map[string]string{
		"graph.yaml": `
graphs: {table: graphs.csv, columns: {made: datetime, split: category}}
nodes: {atom: {table: atoms.csv, graph_id: g, columns: {kind: category, w: {dtype: float32, missing: column}, v: {from: [w, c], dtype: float32, missing: -1}}}}
edges: {"atom:bond:atom": {table: bonds.csv, graph_id: g, ends: local, symmetrise: true, columns: {kind: category}}}
`,
		"graphs.csv": "made,split\n2020-01-01,train\n,test\n",
		"atoms.csv":  "g,kind,w,c\n0,C,1,2\n0,H,,3\n1,O,4,\n",
		"bonds.csv":  "g,src,dst,kind\n0,0,1,single\n",
	})
	s := importTables(t, dir, dir+"/out/c", option.Import{})
	c := s.Collection()
	for _, x := range []struct {
		columns    []*graph.Column
		name, want string
	}{
		{c.Context, "made", "[1577836800 -]"}, {c.Context, "split", "[train test]"}, {c.Nodes[0].Columns, "kind", "[C H O]"}, {c.Nodes[0].Columns, "w_missing", "[0 1 0]"},
		{c.Edges[0].Columns, "kind", "[single single]"},
	} {
		if got := fmt.Sprint(valuesOf(graph.FindColumn(x.columns, x.name))); got != x.want {
			t.Errorf("%s: found %s, want %s", x.name, got, x.want)
		}
	}
	if got := fmt.Sprint(graph.View[float32](graph.FindColumn(c.Nodes[0].Columns, "v").Values)); got != "[1 2 -1 3 4 -1]" {
		t.Errorf("found the vectors %s, want the values of both columns", got)
	}
}

// sampled is the edges' times in the samples of seeds, by seed.
func sampleTimes(t *testing.T, s *graphmill.Store, o option.Sample) (string, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "c")
	if _, err := graphmill.Sample(t.Context(), s, out, o); err != nil {
		return "", err
	}
	got, err := graphmill.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	var lines []string
	e := got.Collection().Edges
	at := map[string]*graph.Column{}
	for _, x := range s.Graph().Edges {
		at[x.Type.String()] = graph.FindColumn(x.Columns, "at")
	}
	for _, x := range e {
		values := valuesOf(at[x.Type.String()])
		for i := range x.Count {
			lines = append(lines, values[x.EdgeID.At(i)])
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, " "), nil
}

// An edge without a time is not drawn where times count, and a seed without a time draws no such edges. Units are
// compared as times.
func TestSamplesCompareTimes(t *testing.T) {
	const yaml = `
nodes: {u: {table: u.csv, columns: {when: "datetime[UNIT]", kind: category}}}
edges: {"u:e:u": {table: e.csv, columns: {at: "datetime[ms]"}}}
`
	store := func(unit string) *graphmill.Store {
		dir := writeTables(t, map[string]string{
			"graph.yaml": strings.Replace(yaml, "UNIT", unit, 1),
			"u.csv":      "id,when,kind\n0,2020-01-02,a\n1,,b\n2,2020-01-04,b\n",
			"e.csv":      "src,dst,at\n1,0,2020-01-01\n2,0,\n2,0,2020-01-02\n1,0,2020-01-03\n0,1,2020-01-01\n1,2,2020-01-03T12:00\n0,2,\n",
		})
		return importTables(t, dir, dir+"/out/g.store", option.Import{})
	}
	options := func(seeds, before string) option.Sample {
		o := option.Sample{}
		o.Seeds, o.Fanout, o.Before, o.SeedTime, o.Scope = seeds, []int{10}, before, "when", option.ScopeSeed
		return o
	}
	for _, unit := range []string{"s", "ms", "us"} {
		s := store(unit)
		for _, c := range []struct{ seeds, before, want string }{
			{"u", "at", "1577836800000 1578052800000"},
			{"u", "at<=", "1577836800000 1577923200000 1578052800000"},
			{"u:kind=b", "at<=", "1578052800000"},
			{"u:kind=a", "at", "1577836800000"},
			{"u:when=2020-01-02", "at", "1577836800000"},
			{"u:when=2020-01-02T02:00+02:00", "at", "1577836800000"},
		} {
			got, err := sampleTimes(t, s, options(c.seeds, c.before))
			if err != nil || got != c.want {
				t.Errorf("seeds %s in %s before %s: found %s and %v, want %s", c.seeds, unit, c.before, got, err, c.want)
			}
		}
		for seeds, want := range map[string]string{
			"u:kind=z":                           `found the category "z", expected one of a, b`,
			"u:when=2020-01-02T00:00:00.0000005": "expected one in whole " + unit,
		} {
			if _, err := sampleTimes(t, s, options(seeds, "at")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: found %v, want %s", seeds, err, want)
			}
		}
	}
}

func TestSamplesRefuseTwoUnits(t *testing.T) {
	dir := writeTables(t, map[string]string{
		"graph.yaml": "nodes: {u: {table: u.csv}}\nedges: {\"u:e:u\": {table: e.csv, columns: {at: \"datetime[ms]\"}}, \"u:f:u\": {table: e.csv, columns: {at: datetime}}}\n",
		"u.csv":      "id,at\n0,2020-01-02\n1,2020-01-02\n",
		"e.csv":      "src,dst,at\n1,0,2020-01-01\n",
	})
	s := importTables(t, dir, dir+"/out/g.store", option.Import{})
	o := option.Sample{}
	o.Seeds, o.Fanout, o.Before, o.Scope = "u", []int{1}, "at", option.ScopeSeed
	if _, err := sampleTimes(t, s, o); err == nil || !strings.Contains(err.Error(), "found column \"at\" of u:f:u in s, expected ms, as of the types before; import all of them in one unit") {
		t.Errorf("found %v, want the units", err)
	}
}

// A cancelled import of categories leaves nothing.
func TestCollectCancelled(t *testing.T) {
	dir := writeTables(t, valueTables())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := graphmill.Import(ctx, dir, dir+"/out", option.Import{}); err == nil {
		t.Fatal("found no error, want that of the context")
	}
	if _, err := os.Stat(dir + "/out"); err == nil {
		t.Error("found an output, want none")
	}
}
