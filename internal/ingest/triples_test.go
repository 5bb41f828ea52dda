package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestNTriples(t *testing.T) {
	one := func(lines ...string) map[string]string {
		return map[string]string{"g.nt": strings.Join(lines, "\n") + "\n"}
	}
	family := one("# a comment", "<http://e/ada> <http://e/knows> <http://e/bob> .", `<http://e/ada> <http://e/name> "Ada \"A\""@en .`, "",
		"<http://e/bob> <http://e/likes> _:x .", "<http://e/b\\u006fb> <http://e/knows> <http://e/ada> .")
	runImports(t, []importCase{
		{name: "types", files: family, path: "g.nt", want: `
entity 3: http://e/ada http://e/bob _:x
entity:knows:entity: 0>1 1>0
entity:likes:entity: 1>2
warning: g.nt: 1 triples are left out, because their object is a literal and not a node`},
		{name: "column", files: family, path: "g.nt", opts: Options{Relations: "column"}, want: `
entity 3: http://e/ada http://e/bob _:x
entity:to:entity: 0>1 relation="http://e/knows" 1>2 relation="http://e/likes" 1>0 relation="http://e/knows"
warning: g.nt: 1 triples are left out, because their object is a literal and not a node`},
		{name: "local names that are equal", files: one("<a> <http://e/x#p> <b> .", "<a> <http://f/x#p> <c> .", "<a> <urn:q> <c> ."), path: "g.nt", want: `
entity 3: a b c
entity:http%3A//e/x#p:entity: 0>1
entity:http%3A//f/x#p:entity: 0>2
entity:q:entity: 0>2`},
		{name: "quads", files: map[string]string{"g.nq.gz": gzipped("<a> <p> <b> <g> .\n<a> <p> \"l\" .\n")}, path: "g.nq.gz", want: `
entity 2: a b
entity:p:entity: 0>1
warning: g.nq.gz: the labels of graphs are not imported
warning: g.nq.gz: 1 triples are left out, because their object is a literal and not a node`},
		{name: "no full stop", files: one("<a> <p> <b> .", "<a> <p> <b>"), path: "g.nt", want: "g.nt:2:12: found the end of the line, expected a full stop", fails: true},
		{name: "literals alone", files: one(`<a> <p> "b" .`), path: "g.nt", want: "g.nt: found no triples between nodes", fails: true},
		{name: "integer ids", files: family, path: "g.nt", opts: Options{IDs: idsInteger}, want: "their ids are strings", fails: true},
		{name: "relations of other formats", files: map[string]string{"e.csv": "src,dst\n"}, path: "e.csv", opts: Options{Relations: "column"}, want: "expected it with triples", fails: true},
		{name: "relations", files: family, path: "g.nt", opts: Options{Relations: "edges"}, want: "expected types or column", fails: true},
	})
}

// More than 1,000 relations become a column, unless the caller wants types.
func TestManyRelations(t *testing.T) {
	var lines []string
	for i := range 1001 {
		lines = append(lines, fmt.Sprintf("<a%d> <p%d> <b> .\n", i%7, i))
	}
	dir := folder(t, map[string]string{"g.nt": strings.Join(lines, "")})
	got, err := imported(t, dir+"/g.nt", Options{})
	if err != nil || strings.Count(got, "\nentity:") != 1 || !strings.Contains(got, `relation="p1000"`) || !strings.Contains(got, "warning: g.nt: found more than 1000 relations, so they become the column relation") {
		t.Errorf("found %.300q, %v, expected one edge type with a column", got, err)
	}
	src, err := Open(t.Context(), vfs.OS, dir+"/g.nt", Options{Relations: "types"})
	if err != nil || len(src.Input.Edges) != 1001 || src.Input.Edges[1000].Type.Rel != "p1000" {
		t.Errorf("found %d edge types, %v, expected 1001", len(src.Input.Edges), err)
	}
}

func TestTriples(t *testing.T) {
	files := map[string]string{"train.txt": "a\tr\tb\nb\ts\tc \"q\"\n", "valid.txt": "a\tr\tc \"q\"\n", "test.txt": "c \"q\"\t/x/y\ta"}
	with := func(more ...string) map[string]string {
		m := map[string]string{}
		for name, text := range files {
			m[name] = text
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	want := `
entity:/x/y:entity: 2>0 split="test"
entity:r:entity: 0>1 split="train" 0>2 split="valid"
entity:s:entity: 1>2 split="train"`
	runImports(t, []importCase{
		{name: "folder", files: files, path: ".", want: "entity 3: a b c \"q\"" + strings.Replace(want, "2>0", "2>0", 1)},
		{name: "column", files: files, path: ".", opts: Options{Relations: "column"}, want: `
entity 3: a b c "q"
entity:to:entity: 0>1 relation="r" split="train" 1>2 relation="s" split="train" 0>2 relation="r" split="valid" 2>0 relation="/x/y" split="test"`},
		{name: "dictionaries", files: with("entities.dict", "0\tc \"q\"\n1\tb\n2\ta\n3\tz\n", "relations.dict", "0\ts\n1\tr\n2\t/x/y\n3\tunused\n"), path: ".", want: `
entity 4: c "q" b a z
entity:/x/y:entity: 0>2 split="test"
entity:r:entity: 2>1 split="train" 2>0 split="valid"
entity:s:entity: 1>0 split="train"
entity:unused:entity:`},
		{name: "a file", files: files, path: "train.txt", opts: Options{Format: "triples"}, want: `
entity 3: a b c "q"
entity:r:entity: 0>1
entity:s:entity: 1>2`},
		{name: "two cells", files: with("valid.txt", "a\tr\tb\na\tr\n"), path: ".", want: "valid.txt:2:1: found 2 cells, expected a head, a relation and a tail, separated by tabs", fails: true},
		{name: "an empty cell", files: with("valid.txt", "a\tr\tb\n\tr\tb\n"), path: ".", want: "valid.txt:2: found an empty head, expected an id", fails: true},
		{name: "an entity that the dictionary lacks", files: with("entities.dict", "0\ta\n1\tb\n"), path: ".", want: `test.txt:1: found source "c \"q\"", expected an id of node type entity`, fails: true},
		{name: "numbers out of order", files: with("entities.dict", "0\ta\n2\tb\n"), path: ".", want: `entities.dict:2: found number "2", expected 1`, fails: true},
		{name: "no train", files: map[string]string{"a.txt": "a\tr\tb\n"}, path: ".", opts: Options{Format: "triples"}, want: "found no train.txt", fails: true},
		{name: "two columns are no triples", files: map[string]string{"train.txt": "1\t2\n"}, path: ".", want: `
_N 3:
_N:_E:_N: 1>2`},
	})
}
