package graphmill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// linesYAML says which types the tables of lines have: nodes, edges, and one with both.
const linesYAML = `nodes:
  person: {table: people.csv, id: {column: id, dtype: string}, columns: {year: int64, name: string}}
  place: {table: places.csv, id: {column: id, dtype: integer}, columns: {x: float32}}
  order: {table: orders.csv, id: {column: id, dtype: integer}, columns: {total: float64}}
  tag: {}
edges:
  person:placed:order: {table: orders.csv, src: person}
  person:calls:person: {table: calls.csv, src: from, dst: to, columns: {w: int64}}
  person:visits:place: {table: visits.csv, src: who, dst: where, reverse: visited_by}
  person:said:tag: {table: tags.csv, src: who, dst: tag}
  person:shouted:person: {table: calls.csv, src: from, dst: to, where: {loud: 1}, columns: {w: int64}}
`

// wholeYAML is linesYAML for tables that have all in the order of the lines.
var wholeYAML = strings.Replace(linesYAML, "{table: orders.csv, src: person}", "{table: placed.csv, src: person, dst: order}", 1)

// lineModel is a graph that lines change.
type lineModel struct {
	people, places, orders []string            // ids
	values                 map[string][]string // of a node, by table and id
	calls                  [][4]string         // who, whom, w, loud
	visits, placed, tags   [][2]string
	lines                  []string
	offsets                map[string]int
}

// write adds a line for a row or an event of a table: in an envelope, with a payload in one of its forms.
func (m *lineModel) write(t *rapid.T, table, text string, event bool) {
	topic := table
	if event {
		topic = rapid.SampledFrom([]string{"shop", "shop." + table}).Draw(t, "topic")
		if rapid.Bool().Draw(t, "schema") {
			text = `{"schema":{"type":"struct","fields":[]},"payload":` + text + `}`
		}
	}
	if rapid.Bool().Draw(t, "as a text") {
		text = fmt.Sprintf("%q", text)
	}
	payloads := []string{text}
	if rapid.IntRange(0, 9).Draw(t, "tombstone") == 0 {
		payloads = []string{"null", text}
	}
	partition := rapid.IntRange(0, 2).Draw(t, "partition")
	at := fmt.Sprint(topic, "/", partition)
	for _, payload := range payloads {
		m.offsets[at] += rapid.IntRange(1, 3).Draw(t, "gap")
		m.lines = append(m.lines, fmt.Sprintf(`{"topic":%q,"partition":%d,"offset":%d,"key":null,"payload":%s}`, topic, partition, m.offsets[at], payload))
	}
}

// event is a change event of Debezium.
func event(op, table, before, after string) string {
	return fmt.Sprintf(`{"before":%s,"after":%s,"op":%q,"source":{"db":"shop","table":%q},"ts_ms":1}`, before, after, op, table)
}

// cellsOf are the cells of a node of a table as keys of an object.
func (m *lineModel) cellsOf(table, id string) string {
	v := m.values[table+id]
	switch table {
	case "people":
		return fmt.Sprintf(`{"id":%q,"year":%s,"name":%q,"other":[1,{"a":null}]}`, id, v[0], v[1])
	case "places":
		return fmt.Sprintf(`{"x":%s,"id":%s}`, v[0], id)
	}
	person := "null"
	for _, p := range m.placed {
		if p[1] == id {
			person = fmt.Sprintf("%q", p[0])
		}
	}
	return fmt.Sprintf(`{"id":%s,"total":%s,"person":%s}`, id, v[0], person)
}

// add writes a new row.
func (m *lineModel) add(t *rapid.T, table, row string) {
	if rapid.Bool().Draw(t, "plain") {
		m.write(t, table, row, false)
		return
	}
	m.write(t, table, event(rapid.SampledFrom([]string{"c", "r"}).Draw(t, "op"), table, "null", row), true)
}

// step draws what happens next, and writes its line.
func (m *lineModel) step(t *rapid.T) {
	number := func(what string) string { return fmt.Sprint(rapid.IntRange(0, 99).Draw(t, what)) }
	pick := func(ids []string) string { return rapid.SampledFrom(ids).Draw(t, "id") }
	newID := func(first int, ids *[]string) string {
		id := fmt.Sprint(first + 3*len(*ids))
		*ids = append(*ids, id)
		return id
	}
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0:
		id := "p" + fmt.Sprint(len(m.people))
		m.people = append(m.people, id)
		m.values["people"+id] = []string{number("year"), rapid.SampledFrom([]string{"", "é\"\\", "a name"}).Draw(t, "name")}
		m.add(t, "people", m.cellsOf("people", id))
	case 1:
		id := newID(100, &m.places)
		m.values["places"+id] = []string{number("x")}
		m.add(t, "places", m.cellsOf("places", id))
	case 2, 3:
		id := newID(500, &m.orders)
		m.values["orders"+id] = []string{number("total")}
		if rapid.Bool().Draw(t, "of a person") {
			m.placed = append(m.placed, [2]string{pick(m.people), id})
		}
		m.add(t, "orders", m.cellsOf("orders", id))
	case 4, 5:
		c := [4]string{pick(m.people), pick(m.people), number("w"), fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "loud"))}
		for _, of := range m.calls { // rows with the same ends change and go together, so that they are equal
			if of[0] == c[0] && of[1] == c[1] {
				c[3] = of[3]
			}
		}
		m.calls = append(m.calls, c)
		m.add(t, "calls", rowOfCall(c))
	case 6:
		v := [2]string{pick(m.people), pick(m.places)}
		m.visits = append(m.visits, v)
		m.add(t, "visits", fmt.Sprintf(`{"who":%q,"where":%s}`, v[0], v[1]))
	case 7:
		id := pick(m.people)
		before := m.cellsOf("people", id)
		m.values["people"+id] = []string{number("year"), "renamed"}
		if rapid.Bool().Draw(t, "no before") {
			before = "null"
		}
		m.write(t, "people", event("u", "people", before, m.cellsOf("people", id)), true)
	case 8:
		if len(m.orders) == 0 {
			return
		}
		id := pick(m.orders)
		before := m.cellsOf("orders", id)
		m.values["orders"+id] = []string{number("total")}
		if rapid.Bool().Draw(t, "moves") {
			m.placed = slices.DeleteFunc(m.placed, func(p [2]string) bool { return p[1] == id })
			if rapid.Bool().Draw(t, "to a person") {
				person := pick(m.people)
				if !strings.Contains(before, fmt.Sprintf(`"person":%q`, person)) { // it moves, and is the last edge then
					m.placed = append(m.placed, [2]string{person, id})
				}
			}
		}
		m.write(t, "orders", event("u", "orders", before, m.cellsOf("orders", id)), true)
	case 9:
		if len(m.calls) == 0 {
			return
		}
		c := rapid.SampledFrom(m.calls).Draw(t, "call")
		before := rowOfCall(c)
		c[2] = number("w")
		for i := range m.calls {
			if m.calls[i][0] == c[0] && m.calls[i][1] == c[1] {
				m.calls[i][2] = c[2]
			}
		}
		m.write(t, "calls", event("u", "calls", before, rowOfCall(c)), true)
	case 10:
		if len(m.calls) == 0 {
			return
		}
		c := rapid.SampledFrom(m.calls).Draw(t, "call")
		m.calls = slices.DeleteFunc(m.calls, func(x [4]string) bool { return x[0] == c[0] && x[1] == c[1] })
		for range rapid.IntRange(1, 2).Draw(t, "rows") { // that had the same ends
			m.write(t, "calls", event("d", "calls", rowOfCall(c), "null"), true)
		}
	case 11:
		if len(m.orders) == 0 {
			return
		}
		id := pick(m.orders)
		before := m.cellsOf("orders", id)
		m.placed = slices.DeleteFunc(m.placed, func(p [2]string) bool { return p[1] == id })
		m.write(t, "orders", event("d", "orders", before, "null"), true)
	case 12:
		id := pick(m.people)
		if slices.ContainsFunc(m.tags, func(x [2]string) bool { return x[0] == id }) { // an import would not have tags of nobody
			return
		}
		m.calls = slices.DeleteFunc(m.calls, func(x [4]string) bool { return x[0] == id || x[1] == id })
		m.visits = slices.DeleteFunc(m.visits, func(x [2]string) bool { return x[0] == id })
		m.placed = slices.DeleteFunc(m.placed, func(x [2]string) bool { return x[0] == id })
		m.write(t, "people", event("d", "people", fmt.Sprintf(`{"id":%q,"year":null,"name":null}`, id), "null"), true)
	case 13:
		v := [2]string{pick(m.people), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "tag")}
		m.tags = append(m.tags, v)
		m.add(t, "tags", fmt.Sprintf(`{"tag":%q,"who":%q}`, v[1], v[0]))
	}
}

// rowOfCall is a call as an object.
func rowOfCall(c [4]string) string {
	return fmt.Sprintf(`{"from":%q,"loud":%s,"to":%q,"w":%s}`, c[0], c[3], c[1], c[2])
}

// tables writes the tables of the graph to a folder, with a graph.yaml.
func (m *lineModel) tables(t rapid.TB, dir, yaml string) {
	files := map[string]string{"graph.yaml": yaml, "people.csv": "id,year,name\n", "places.csv": "id,x\n", "orders.csv": "id,total,person\n", "placed.csv": "person,order\n", "calls.csv": "from,to,w,loud\n", "visits.csv": "who,where\n", "tags.csv": "who,tag\n"}
	for table, ids := range map[string][]string{"people": m.people, "places": m.places, "orders": m.orders} {
		for _, id := range ids {
			cells := append([]string{id}, m.values[table+id]...)
			for i := range cells {
				cells[i] = `"` + strings.ReplaceAll(cells[i], `"`, `""`) + `"`
			}
			if table == "orders" {
				cells = append(cells, "")
			}
			files[table+".csv"] += strings.Join(cells, ",") + "\n"
		}
	}
	for _, c := range m.calls {
		files["calls.csv"] += strings.Join(c[:], ",") + "\n"
	}
	for _, v := range m.tags {
		files["tags.csv"] += strings.Join(v[:], ",") + "\n"
	}
	for _, v := range m.visits {
		files["visits.csv"] += strings.Join(v[:], ",") + "\n"
	}
	for _, p := range m.placed {
		files["placed.csv"] += strings.Join(p[:], ",") + "\n"
	}
	writeFolder(t, dir, files)
}

// writeFolder makes a folder with some files.
func writeFolder(t rapid.TB, dir string, files map[string]string) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newLineModel is a graph with a node of each type that edges lead to.
func newLineModel() *lineModel {
	return &lineModel{people: []string{"p0"}, tags: [][2]string{{"p0", "first"}}, places: []string{"100"}, orders: []string{"500"}, values: map[string][]string{"peoplep0": {"1", "first"}, "places100": {"1"}, "orders500": {"1"}}, offsets: map[string]int{}}
}

// Lines in any batches, and lines that come again, make the store that each line on its own makes, and the one of an import of all.
func TestAppendLines(t *testing.T) {
	dir := t.TempDir()
	n, most := 0, proof.Count(t, 8, 400) // each line is an append that syncs its files
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > most {
			return
		}
		dir := filepath.Join(dir, fmt.Sprint(n))
		m := newLineModel()
		base, yaml := filepath.Join(dir, "base"), filepath.Join(dir, "base", "graph.yaml")
		m.tables(t, base, linesYAML)
		build := option.Build{Run: option.Run{NoReport: rapid.Bool().Draw(t, "no report")}, Both: rapid.Bool().Draw(t, "both")}
		importFrom := func(from, out string) {
			s, err := graphmill.Import(context.Background(), from, out, option.Import{Build: build})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		batched, alone, whole := filepath.Join(dir, "batched.store"), filepath.Join(dir, "alone.store"), filepath.Join(dir, "whole.store")
		importFrom(base, batched)
		importFrom(base, alone)
		for range rapid.IntRange(1, 25).Draw(t, "lines") {
			m.step(t)
		}
		m.tables(t, filepath.Join(dir, "all"), wholeYAML)
		importFrom(filepath.Join(dir, "all"), whole)
		feed := func(in string, rows int, lines ...string) {
			o := option.Append{Run: build.Run, Follow: "-", Rows: rows, Input: strings.NewReader(strings.Join(lines, "\n"))}
			if _, err := graphmill.Append(context.Background(), in, yaml, o); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
			}
		}
		for _, line := range m.lines {
			feed(alone, 1, line)
		}
		for range rapid.IntRange(0, 2).Draw(t, "kills") { // after some batches the writer begins anew
			feed(batched, rapid.IntRange(1, 9).Draw(t, "rows before"), m.lines[:rapid.IntRange(0, len(m.lines)).Draw(t, "killed after")]...)
		}
		feed(batched, rapid.IntRange(1, 30).Draw(t, "rows"), m.lines...)
		noneLeft(t, dir)
		opened := func(in string) *store.Store {
			s, err := store.OpenMerged(vfs.OS, in, -1)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		b, a, w := opened(batched), opened(alone), opened(whole)
		sameGraph(t, b.Graph, a.Graph)
		if got, want := b.Meta.History().LastMarks(), a.Meta.History().LastMarks(); len(m.lines) > 0 && len(got) > 0 {
			for mark, last := range want {
				if got[mark] == "" {
					t.Fatalf("found the marks %v, expected %s for %s", got, last, mark)
				}
			}
		}
		withoutPositions(b.Graph)
		withoutPositions(w.Graph)
		sameGraph(t, b.Graph, w.Graph)
		if err := errors.Join(b.Close(), a.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		versions, err := store.ReadHistory(vfs.OS, batched)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range versions {
			if v.Segments != i+1 {
				t.Fatalf("found the version %d after %d segments, expected one for each", i, v.Segments)
			}
		}
		if v, err := store.Verify(context.Background(), vfs.OS, batched, 1, nil); err != nil || len(v.Damage) > 0 {
			t.Fatalf("found %v, %v, expected no damage", v, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// filesOf are the files of a folder with their contents.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// importLineModel imports the tables of a model that no line has changed, and returns the store and the folder of the tables.
func importLineModel(t *testing.T, dir string) (in, base string) {
	t.Helper()
	in, base = filepath.Join(dir, "g.store"), filepath.Join(dir, "base")
	newLineModel().tables(t, base, linesYAML)
	s, err := graphmill.Import(t.Context(), base, in, option.Import{})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return in, base
}

// Lines that cannot be appended are errors that say where, and nothing of their batch is appended.
func TestAppendLinesRefuses(t *testing.T) {
	dir := t.TempDir()
	in, base := importLineModel(t, dir)
	yaml := filepath.Join(base, "graph.yaml")
	envelope := func(topic string, offset int, payload string) string {
		return fmt.Sprintf(`{"topic":%q,"partition":0,"offset":%d,"payload":%s}`, topic, offset, payload)
	}
	person := func(id string) string { return fmt.Sprintf(`{"id":%q,"year":1,"name":""}`, id) }
	before := filesOf(t, dir)
	for _, c := range []struct{ name, lines, want string }{
		{"bad JSON", envelope("people", 1, person("a")) + "\n\n{\"x\"", "standard input:3: found the end of the line, expected a colon after the key"},
		{"a row of no table", person("a"), "standard input:1: found a row without the name of its table"},
		{"another table", envelope("peple", 1, person("a")), `standard input:1: found the table "peple", expected one of people, places, orders, calls, visits, tags; did you mean "people"?`},
		{"a node that is there", envelope("people", 1, person("a")) + "\n" + envelope("people", 2, person("p0")), `standard input:2: found the id "p0", which a node of type person in the store has, expected new nodes`},
		{"a node twice", envelope("people", 1, person("a")) + "\n\n" + envelope("people", 2, person("a")), `standard input:3`},
		{"an edge of no node", envelope("people", 1, person("a")) + "\n" + envelope("calls", 1, `{"from":"a","to":"zed","w":1}`), `standard input:2`},
		{"a bad value", envelope("people", 1, person("a")) + "\n" + envelope("people", 2, `{"id":"b","year":"x","name":""}`), `standard input:2: found "\"x\"`},
		{"a value that is missing", envelope("people", 1, `{"id":"b","name":""}`), `standard input:1: found no key "year", expected an integer`},
		{"a change of no node", envelope("people", 1, person("a")) + "\n" + envelope("shop", 1, event("u", "people", "null", person("b"))), `standard input:2: found the id "b", expected one of the nodes of type person in the store`},
		{"a change of no edge", envelope("people", 1, person("a")) + "\n" + envelope("shop", 1, event("u", "calls", `{"from":"a","to":"a","w":0,"loud":0}`, `{"from":"a","to":"a","w":1,"loud":0}`)), `standard input:2: found an edge of type person:calls:person to change that the store does not have`},
		{"an edge of no node to drop", envelope("shop", 1, event("d", "calls", `{"from":"zed","to":"a","w":1,"loud":0}`, "null")), `standard input:1`},
		{"a truncation", envelope("shop", 1, event("t", "calls", "null", "null")), `standard input:1: found a table that was emptied`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := graphmill.Append(t.Context(), in, yaml, option.Append{Follow: "-", Input: strings.NewReader(c.lines)})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), ".jsonl") {
				t.Errorf("found %v, expected %s", err, c.want)
			}
			if now := filesOf(t, dir); !maps.Equal(now, before) {
				t.Error("found other files than before")
			}
		})
	}
	input := strings.NewReader("")
	for _, c := range []struct {
		name, source string
		o            option.Append
		want         string
	}{
		{"no source", "", option.Append{Follow: "-", Input: input}, "found `Follow` - without a source, expected the graph.yaml"},
		{"no input", yaml, option.Append{Follow: "-"}, "found `Follow` - without `Input`"},
		{"drop", yaml, option.Append{Follow: "-", Input: input, Drop: yaml}, "found `Drop` or several sources with `Follow` -"},
		{"rows", yaml, option.Append{Follow: "-", Input: input, Rows: -1}, "found `Rows` -1, expected a number from 1"},
		{"rows of a folder", "", option.Append{Follow: dir, Rows: 5}, "found `Rows` without `Follow` -"},
		{"a table", filepath.Join(dir, "base", "calls.csv"), option.Append{Follow: "-", Input: input}, "found no graph.yaml, expected one that says which table each line belongs to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := graphmill.Append(t.Context(), in, c.source, c.o); !errors.Is(err, option.ErrUsage) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %s", err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, yaml, want string }{
		{"a query", "source: sqlite:x.db\nnodes: {person: {query: SELECT 1, id: id}}\nedges: {'person:a:person': {table: a}}", "graph.yaml:2:9: found a query of person, expected table: NAME"},
		{"no id", "nodes: {person: {table: p}}\nedges: {'person:a:person': {table: a, src: x, dst: y}}", "graph.yaml:1:9: found no id of person, expected the column that names its nodes"},
		{"row numbers", "nodes: {person: {table: p, id: null}}\nedges: {'person:a:person': {table: a, src: x, dst: y}}", "graph.yaml:1:9: found no id of person"},
		{"no dst", "nodes: {person: {table: p, id: id}}\nedges: {'person:a:person': {table: a, src: x}}", "graph.yaml:2:9: found no dst of person:a:person, expected the column that has it"},
		{"an array", "nodes: {person: {table: p, id: id, columns: {f: f.npy}}}\nedges: {'person:a:person': {table: a, src: x, dst: y}}", `graph.yaml:1:46: found the file f.npy of column "f"`},
		{"a matrix", "nodes: {person: {}}\nedges: {'person:a:person': {indptr: a.npy, indices: b.npy}}", "graph.yaml:2:9: found indptr and indices of person:a:person, expected table: NAME"},
		{"pairs", "nodes: {person: {}}\nedges: {'person:a:person': {table: a.npy}}", "graph.yaml:2:9: found the table a.npy of person:a:person, expected the name of one file"},
		{"a glob", "nodes: {person: {}}\nedges: {'person:a:person': {table: 'a-*.csv', src: x, dst: y}}", "graph.yaml:2:9: found the table a-*.csv of person:a:person, expected the name of one file"},
		{"several files", "nodes: {person: {}}\nedges: {'person:a:person': {table: [a.csv, b.csv], src: x, dst: y}}", "graph.yaml:2:9: found 2 tables of person:a:person, expected one"},
		{"two files of one name", "nodes: {person: {table: a.csv, id: id}}\nedges: {'person:a:person': {table: b/a.jsonl, src: x, dst: y}}", "found the tables a.csv and b/a.jsonl, expected one of the name a"},
		{"many graphs", "graphs: {table: a}\nnodes: {person: {table: p, id: id}}", "graph.yaml:1:1: found many graphs, expected nodes and edges of one"},
		{"no tables", "nodes: {person: {}}", "found no tables, expected one for each type whose rows come as lines"},
		{"an unknown node type", "nodes: {person: {}}\nedges: {'person:a:persn': {table: a, src: x, dst: y}}", `found the node type "persn" in person:a:persn, expected one of the nodes person`},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "graph.yaml")
			if err := os.WriteFile(at, []byte(c.yaml), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := graphmill.Append(t.Context(), in, at, option.Append{Follow: "-", Input: strings.NewReader("")}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %s", err, c.want)
			}
		})
	}
	if now := filesOf(t, dir); !maps.Equal(now, before) {
		t.Error("found other files than before")
	}
}

// Batches that were appended stay where a later line is wrong, and where the context ends.
func TestAppendLinesEnds(t *testing.T) {
	in, yaml := importLineModel(t, t.TempDir())
	people := func(want int) {
		t.Helper()
		s, err := store.OpenOutline(vfs.OS, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Graph.Nodes[s.Graph.NodeType("person")].Count; got != want {
			t.Errorf("found %d people, expected %d", got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	line := func(i int) string {
		return fmt.Sprintf(`{"topic":"people","partition":0,"offset":%d,"payload":{"id":"n%d","year":1,"name":""}}`+"\n", i, i)
	}
	o := option.Append{Follow: "-", Rows: 2, Input: strings.NewReader(line(0) + line(1) + line(2) + "no line\n")}
	if _, err := graphmill.Append(t.Context(), in, yaml, o); err == nil || !strings.HasPrefix(err.Error(), "standard input:4: found ") {
		t.Fatalf("found %v, expected an error in line 4", err)
	}
	people(3)
	o.Input = strings.NewReader(line(0) + line(1) + line(2) + strings.Repeat(" ", 17<<20) + "\n")
	if _, err := graphmill.Append(t.Context(), in, yaml, o); err == nil || !strings.HasPrefix(err.Error(), "standard input:4: found a line of more than") {
		t.Fatalf("found %v, expected an error about a long line", err)
	}
	people(3)
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	var notes []string
	o.Input, o.Note = r, func(text string) {
		if notes = append(notes, text); strings.HasPrefix(text, "appended") {
			go func() {
				_, err := w.Write([]byte(line(4)))
				cancel(errors.Join(errors.New("enough"), err))
			}()
		}
	}
	go func() { _, _ = w.Write([]byte(line(0) + line(1) + line(2) + line(3))) }()
	if _, err := graphmill.Append(ctx, in, yaml, o); err == nil || !strings.HasPrefix(err.Error(), "enough") {
		t.Fatalf("found %v, expected the end of the context", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(notes) == 0 || notes[0] != "appended 2 lines, up to people/0:3" {
		t.Errorf("found the notes %q, expected that two lines were appended", notes)
	}
	people(5)
	o.Note, o.Every = nil, 1 // a batch ends at once
	o.Input = strings.NewReader(line(3) + line(4) + line(5))
	rep, err := graphmill.Append(t.Context(), in, yaml, o)
	if err != nil {
		t.Fatal(err)
	}
	people(7)
	if _, err := graphmill.Compact(t.Context(), in, option.Run{}); err != nil {
		t.Fatal(err)
	}
	var all string
	for i := range 7 {
		all += line(i)
	}
	o.Input, o.Compact = strings.NewReader(all), true
	if _, err := graphmill.Append(t.Context(), in, yaml, o); err != nil { // a compaction forgets no place
		t.Fatal(err)
	}
	people(8)
	if text, err := rep.JSON(); err != nil || !strings.Contains(string(text), "1 line was left out, because") {
		t.Errorf("found %s, %v, expected that a line was left out", text, err)
	}
}

// The places of a batch that changes nothing are kept by the next one: its lines would change something if they came again.
func TestAppendLinesOfNothing(t *testing.T) {
	in, yaml := importLineModel(t, t.TempDir())
	const order = `{"id":500,"total":1,"person":null}`
	lines := fmt.Sprintf(`{"topic":"one","partition":0,"offset":7,"payload":%s}`, event("d", "orders", order, "null")) + "\n" +
		fmt.Sprintf(`{"topic":"two","partition":0,"offset":7,"payload":%s}`, event("u", "orders", order, `{"id":500,"total":2,"person":"p0"}`))
	for range 2 {
		if _, err := graphmill.Append(t.Context(), in, yaml, option.Append{Follow: "-", Rows: 1, Input: strings.NewReader(lines)}); err != nil {
			t.Fatal(err)
		}
		s, err := store.OpenMerged(vfs.OS, in, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Graph.Edges {
			if e.Type.Rel == "placed" && e.Count != 1 {
				t.Errorf("found %d edges, expected the one of the last line", e.Count)
			}
		}
		if got, want := s.Meta.History().LastMarks(), map[string]string{"lines::one/0": "7", "lines::two/0": "7"}; !maps.Equal(got, want) {
			t.Errorf("found the marks %v, expected %v", got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
