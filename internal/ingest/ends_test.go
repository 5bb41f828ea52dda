package ingest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestEndsByIDs checks that the columns with the names of the ids of two node types are the ends, after a pair of usual names, by
// the rule that from_tables has, too.
func TestEndsByIDs(t *testing.T) {
	files := func(yaml, edges string) map[string]string {
		return map[string]string{"graph.yaml": yaml, "u.csv": "user,age,best\na,1,x\nb,2,\n", "i.csv": "item,price\nx,1\ny,2\n", "e.csv": edges}
	}
	const (
		nodes  = "nodes: {u: {table: u.csv, id: user, columns: {}}, i: {table: i.csv, id: item, columns: {}}}\n"
		bought = nodes + "edges:\n  u:bought:i: {table: e.csv}\n"
		want   = "i 2: x y\nu 2: a b\nu:bought:i: 1>0 0>1"
	)
	runImports(t, []importCase{
		{name: "ids", files: files(bought, "user,item\nb,x\na,y\n"), path: ".", want: want},
		{name: "the other order", files: files(bought, "item,user\nx,b\ny,a\n"), path: ".", want: want},
		{name: "one id", files: files(bought, "user,dst\nb,x\na,y\n"), path: ".", want: want},
		{name: "usual names first", files: files(bought, "src,dst,user,item\nb,x,0,5\na,y,0,6\n"), path: ".", want: "i 2: x y\nu 2: a b\nu:bought:i: 1>0 item=5 user=0 0>1 item=6 user=0"},
		{name: "TYPE_id", files: files("nodes: {u: {}, i: {}}\nedges:\n  u:bought:i: {table: e.csv}\n", "u_id,i_id\nb,x\na,y\n"), path: ".", want: "i 2: x y\nu 2: b a\nu:bought:i: 0>0 1>1"},
		{name: "a foreign key", files: files("nodes: {u: {table: u.csv, id: user, columns: {}}, best: {table: i.csv, id: item, columns: {}}}\nedges:\n  u:likes:best: {table: u.csv}\n", ""), path: ".", want: "name the column of the destination with src and dst", fails: true},
		{name: "a foreign key with the name of the ids", files: map[string]string{"graph.yaml": "nodes: {u: {table: u.csv, columns: {}}, i: {table: i.csv, id: item, columns: {}}}\nedges:\n  u:likes:i: {table: u.csv}\n", "u.csv": "id,item\na,x\nb,\n", "i.csv": "item\nx\ny\n"}, path: ".", want: "i 2: x y\nu 2: a b\nu:likes:i: 0>0"},
		{name: "one type", files: files(nodes+"edges:\n  u:knows:u: {table: e.csv}\n", "user,item\nb,x\n"), path: ".", want: "name the column of the source with src and dst", fails: true},
		{name: "no names", files: files(bought, "a,b\nb,x\n"), path: ".", want: "found the columns a, b, expected one of", fails: true},
	})
}

// TestTwoTypes checks the warning where ids of two columns with names of no pair are ids of one type, and the names of two.
func TestTwoTypes(t *testing.T) {
	shop := map[string]string{"e.csv": "user,item\n0,1\n1,0\n"}
	const (
		merged = "_N 2:\n_N:_E:_N: 0>1 1>0"
		warned = "\nwarning: e.csv: found equal ids in the columns \"user\" and \"item\", which are read as one node each; if the columns are of two types of nodes, name them with `SrcType` and `DstType`, and give both the same name otherwise"
	)
	runImports(t, []importCase{
		{name: "merged", files: shop, path: "e.csv", opts: Options{Src: "user", Dst: "item"}, want: merged + warned},
		{name: "two types", files: shop, path: "e.csv", opts: Options{Src: "user", Dst: "item", SrcType: "u", DstType: "i"}, want: "i 2:\nu 2:\nu:_E:i: 0>1 1>0"},
		{name: "one type", files: shop, path: "e.csv", opts: Options{Src: "user", Dst: "item", SrcType: "p", DstType: "p"}, want: "p 2:\np:_E:p: 0>1 1>0"},
		{name: "no equal ids", files: map[string]string{"e.csv": "user,item\na,x\nb,y\n"}, path: "e.csv", opts: Options{Src: "user", Dst: "item"}, want: "_N 4: a x b y\n_N:_E:_N: 0>1 2>3"},
		{name: "equal texts", files: map[string]string{"e.csv": "user,item\na,x\nx,a\n"}, path: "e.csv", opts: Options{Src: "user", Dst: "item"}, want: "_N 2: a x\n_N:_E:_N: 0>1 1>0" + warned},
		{name: "a pair", files: map[string]string{"e.csv": "Source,Target\n0,1\n1,0\n"}, path: "e.csv", opts: Options{Src: "Source", Dst: "Target"}, want: merged},
		{name: "bad name", files: shop, path: "e.csv", opts: Options{Src: "user", Dst: "item", SrcType: "a:b"}, want: "`SrcType` and `DstType`: ", fails: true},
		{name: "two pairs", files: map[string]string{"e.csv": "src,dst,from,to\n0,1,1,0\n"}, path: "e.csv", want: `found the columns "src" and "from", which can both be that one`, fails: true},
		{name: "two destinations", files: map[string]string{"e.csv": "source,target,destination\n0,1,1\n"}, path: "e.csv", want: `found the columns "target" and "destination", which can both be that one`, fails: true},
	})
}

// TestEndsOfClient checks that from_tables of the Python client has the same names of ends.
func TestEndsOfClient(t *testing.T) {
	text, err := os.ReadFile("../../python/src/graphmill/_whole/tables.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"_SOURCES": srcNames, "_TARGETS": dstNames} {
		_, list, _ := strings.Cut(string(text), "\n"+name+" = (")
		list, _, _ = strings.Cut(list, ")")
		var got []string
		for n := range strings.SplitSeq(list, ",") {
			got = append(got, strings.Trim(strings.TrimSpace(n), `"`))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, expected %q, as in header.go", name, got, want)
		}
	}
}

// TestRules checks the policies of a graph.yaml.
func TestRules(t *testing.T) {
	text := "nodes: {u: {}}\nedges:\n  u:e:u: {table: e.csv}\ndangling_edges: zeros\nduplicate_nodes: drop\n"
	s, err := Open(t.Context(), vfs.OS, folder(t, map[string]string{"graph.yaml": text, "e.csv": "src,dst\n0,1\n"}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Rules{DanglingEdges: "zeros", DuplicateNodes: "drop"}); s.Rules != want {
		t.Errorf("found %v, expected %v", s.Rules, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for bad, want := range map[string]string{"dangling_edges: keep": `found "keep", expected one of error, drop, zeros`, "duplicate_nodes: [drop]": "found a list"} {
		runImports(t, []importCase{{name: bad, files: map[string]string{"graph.yaml": "nodes: {u: {}}\nedges:\n  u:e:u: {table: e.csv}\n" + bad + "\n", "e.csv": "src,dst\n0,1\n"}, path: ".", want: want, fails: true}})
	}
}
