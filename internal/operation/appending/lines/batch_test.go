package lines

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// shopTypes are types of three tables: people, orders with a foreign key, and likes.
func shopTypes() []ingest.LineType {
	return []ingest.LineType{
		{Name: "person", Table: "people", ID: "id"},
		{Name: "order", Table: "orders", ID: "id"},
		{Name: "person:placed:order", Table: "orders", Edge: true, Src: "person", Dst: "id", SrcType: "person", DstType: "order", OfRow: true, Optional: true, Bare: true},
		{Name: "person:likes:person", Table: "likes", Edge: true, Src: "who", Dst: "whom", SrcType: "person", DstType: "person"},
		{Name: "person:loves:person", Table: "likes", Edge: true, Src: "who", Dst: "whom", SrcType: "person", DstType: "person", Where: "kind", Value: "love", Bare: true},
	}
}

// event is a line of Debezium.
func event(op, table, before, after string) string {
	text := fmt.Sprintf(`{"op":%q,"source":{"table":%q}`, op, table)
	if before != "" {
		text += `,"before":` + before
	}
	if after != "" {
		text += `,"after":` + after
	}
	return text + "}"
}

// groupsOf describes the groups of a batch as text.
func groupsOf(t *testing.T, types []ingest.LineType, texts []string) (string, error) {
	t.Helper()
	b := NewBatch(vfs.OS, t.TempDir(), types)
	p := Parser{}
	for _, x := range types {
		if !slices.Contains(p.Tables, x.Table) {
			p.Tables = append(p.Tables, x.Table)
		}
	}
	for i, text := range texts {
		l, err := p.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(&l, uint64(i+1)); err != nil {
			return "", errors.Join(err, b.Close())
		}
	}
	groups, err := b.Groups()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range groups {
		text := eventNames[g.Kind]
		for i, x := range types {
			s := g.spools[i]
			if s == nil {
				continue
			}
			rows, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			text += " " + x.Name + " " + strings.ReplaceAll(strings.TrimSpace(string(rows)), "\n", " ") + fmt.Sprint(s.numbers)
			if got, want := b.Text(s.path+":1:7: found"), fmt.Sprintf("standard input:%d: found", s.numbers[0]); got != want {
				t.Errorf("found %q, expected %q", got, want)
			}
		}
		out = append(out, text)
	}
	dir := b.dir
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("found %v and %v, expected an empty folder", left, err)
	}
	return strings.Join(out, "\n"), nil
}

// What lines do goes to the earliest group in which it does the same.
func TestGroups(t *testing.T) {
	const ann, bob = `{"id":"ann"}`, `{"id":"bob"}`
	likes := func(who, whom string) string { return fmt.Sprintf(`{"who":%q,"whom":%q}`, who, whom) }
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nodes, and edges of them", []string{event("c", "people", "", ann), event("c", "likes", "", likes("ann", "bob")), event("r", "people", "", bob)},
			`add person {"id":"ann"} {"id":"bob"}[1 3] person:likes:person {"who":"ann","whom":"bob"}[2]`},
		{"an order of nobody, and of somebody", []string{event("c", "orders", "", `{"id":1,"person":null}`), event("c", "orders", "", `{"id":2,"person":"ann"}`)},
			`add order {"id":1,"person":null} {"id":2,"person":"ann"}[1 2] person:placed:order {"id":2,"person":"ann"}[2]`},
		{"new values of one node", []string{event("u", "people", "", `{"id":"ann","x":1,"y":2}`), event("u", "people", "", `{"id":"bob","x":5}`), event("u", "people", "", `{"x":3,"id":"ann"}`)},
			`change person {"id":"bob","x":5} {"x":3,"id":"ann","y":2}[2 3]`},
		{"a new node, its new values, and another", []string{event("c", "people", "", ann), event("u", "people", "", `{"id":"ann","x":1}`), event("c", "people", "", bob)},
			"add person {\"id\":\"ann\"} {\"id\":\"bob\"}[1 3]\nchange person {\"id\":\"ann\",\"x\":1}[2]"},
		{"an edge that comes, goes and comes again", []string{event("c", "likes", "", likes("a", "b")), event("d", "likes", `{"who":"a","whom":"b","kind":"x"}`, ""), event("c", "likes", "", likes("a", "b")), event("c", "likes", "", likes("a", "c")), event("c", "people", "", ann)},
			"add person {\"id\":\"ann\"}[5] person:likes:person {\"who\":\"a\",\"whom\":\"b\"}[1]\n" +
				"drop person:likes:person {\"who\":\"a\",\"whom\":\"b\",\"kind\":\"x\"}[2]\n" +
				"add person:likes:person {\"who\":\"a\",\"whom\":\"b\"} {\"who\":\"a\",\"whom\":\"c\"}[3 4]"},
		{"a node that loses its edges", []string{event("c", "likes", "", likes("a", "b")), event("d", "people", `{"id":"b"}`, ""), event("c", "likes", "", likes("b", "c"))},
			"add person:likes:person {\"who\":\"a\",\"whom\":\"b\"}[1]\ndrop person {\"id\":\"b\"}[2]\nadd person:likes:person {\"who\":\"b\",\"whom\":\"c\"}[3]"},
		{"an order moves", []string{event("u", "orders", `{"id":1,"person":"a","x":1}`, `{"id":1,"person":"b","x":2}`)},
			"change order {\"id\":1,\"person\":\"b\",\"x\":2}[1]\ndrop person:placed:order {\"id\":1,\"person\":\"a\",\"x\":1}[1]\nadd person:placed:order {\"id\":1,\"person\":\"b\",\"x\":2}[1]"},
		{"an order stays", []string{event("u", "orders", `{"id":1,"person":"a","x":1}`, `{"id":1,"person":"a","x":2}`)}, `change order {"id":1,"person":"a","x":2}[1]`},
		{"an order loses its person", []string{event("u", "orders", `{"id":1,"person":"a"}`, `{"id":1,"person":null}`)}, "change order {\"id\":1,\"person\":null}[1]\ndrop person:placed:order {\"id\":1,\"person\":\"a\"}[1]"},
		{"an order goes", []string{event("d", "orders", `{"id":1}`, "")}, `drop order {"id":1}[1]`},
		{"a node gets another id", []string{event("u", "people", ann, bob)}, "drop person {\"id\":\"ann\"}[1]\nadd person {\"id\":\"bob\"}[1]"},
		{"new values of an edge", []string{event("u", "likes", `{"who":"a","whom":"b","kind":"x","w":1}`, `{"who":"a","whom":"b","kind":"love","w":2}`)},
			"change person:likes:person {\"who\":\"a\",\"whom\":\"b\",\"kind\":\"love\",\"w\":2}[1]\nadd person:loves:person {\"who\":\"a\",\"whom\":\"b\",\"kind\":\"love\",\"w\":2}[1]"},
		{"numbers and texts are one id", []string{event("u", "people", "", `{"id":7,"x":1}`), event("u", "people", "", `{"id":"7","x":2}`)}, `change person {"id":"7","x":2}[2]`},

		{"no id", []string{event("c", "people", "", `{"name":"x"}`)}, `error: found no "id" in a row of person, expected the id of a node`},
		{"an id that is an array", []string{event("c", "people", "", `{"id":[1]}`)}, `error: found an array in the column "id", expected the id of a node`},
		{"an id twice", []string{event("c", "people", "", `{"id":1,"id":2}`)}, `error: found the key "id" twice`},
		{"an end that is empty", []string{event("c", "likes", "", `{"who":"a","whom":null}`)}, `error: found no "whom" in a row of person:likes:person`},
		{"a row to drop without its ends", []string{event("d", "likes", `{"number":7}`, "")}, `error: found a row to drop without all of the columns that say which edge of person:likes:person it is, expected them; let the database log whole rows`},
		{"new values without those before", []string{event("u", "orders", "", `{"id":1,"person":"a"}`)}, `error: found new values of a row without the ones before, expected both, because an edge of person:placed:order may have other ends now`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := groupsOf(t, shopTypes(), c.lines)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) {
				t.Errorf("found\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

// A batch is full after as many groups as it may have.
func TestFull(t *testing.T) {
	b := NewBatch(vfs.OS, t.TempDir(), shopTypes())
	p := Parser{Tables: []string{"likes"}}
	for i := 0; !b.Full(); i++ {
		if i > MostGroups {
			t.Fatal("found no end of the batch")
		}
		text := event("c", "likes", "", `{"who":"a","whom":"b"}`)
		if i%2 == 1 {
			text = event("d", "likes", `{"who":"a","whom":"b","kind":"x"}`, "")
		}
		l, err := p.Parse([]byte(text))
		if err == nil {
			err = b.Add(&l, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
