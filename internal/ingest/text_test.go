package ingest

import (
	"strconv"
	"strings"
	"testing"
)

// Neo4j's id spaces are node types where they differ, as 1 of one space is another node than 1 of another.
func TestIDSpaces(t *testing.T) {
	e := func(text string) map[string]string { return map[string]string{"e.csv": text} }
	run(t, []sourceCase{
		{name: "two", files: e(":START_ID(Person),role,:END_ID(Movie)\n1,Neo,1\n"), path: "e.csv",
			want: "Person - :uint64\nMovie - :uint64\nPerson:_E:Movie e.csv :START_ID(Person):uint64>:END_ID(Movie):uint64 role:string"},
		{name: "both ways", files: e(":START_ID(Person),:END_ID(Movie)\n1,1\n"), path: "e.csv", opts: Options{Symmetrise: true},
			want: "Person - :uint64\nMovie - :uint64\nPerson:_E:Movie e.csv :START_ID(Person):uint64>:END_ID(Movie):uint64\nMovie:rev__E:Person e.csv :END_ID(Movie):uint64>:START_ID(Person):uint64"},
		{name: "one", files: e(":START_ID(Person),:END_ID(Person)\n1,2\n"), path: "e.csv",
			want: "_N - :uint64\n_N:_E:_N e.csv :START_ID(Person):uint64>:END_ID(Person):uint64"},
		{name: "none", files: e(":START_ID,:END_ID\na,b\n"), path: "e.csv",
			want: "_N - :string\n_N:_E:_N e.csv :START_ID:string>:END_ID:string"},
		{name: "one of two ends", files: e(":START_ID(Person),:END_ID\na,b\n"), path: "e.csv",
			want: "Person - :string\n_N - :string\nPerson:_E:_N e.csv :START_ID(Person):string>:END_ID:string"},
		{name: "a number of nodes", files: e(":START_ID(Person),:END_ID(Movie)\n1,1\n"), path: "e.csv", opts: Options{NumNodes: 3},
			want: "found `NumNodes` with the node types Person and Movie", err: ErrUsage},
	})
}

// The names that a caller gives are for a file without a header: a header is no edge.
func TestHeaderIsNoEdge(t *testing.T) {
	e := func(text string) map[string]string { return map[string]string{"e.csv": text} }
	ab := Options{Columns: "a,b"}
	yaml := func(text, more string) map[string]string {
		return map[string]string{"e.csv": text, "graph.yaml": "nodes: {n: {}}\nedges: {\"n:e:n\": {table: e.csv, names: [a, b], src: a, dst: b" + more + "}}\n"}
	}
	bad := func(name string, files map[string]string, o Options, want string) sourceCase {
		c := sourceCase{name: name, files: files, path: "e.csv", opts: o, want: want, err: ErrUsage}
		if o.Columns == "" {
			c.path = ""
		}
		return c
	}
	run(t, []sourceCase{
		bad("usual names", e("From,To\nx,y\n"), ab, `found the first line "From,To", which looks like a header, expected data, as the names a,b are given for a file without a header; leave the names out`),
		bad("an index", e(",src,dst\n0,x,y\n"), Options{Columns: "i:string,a,b"}, `found the first line ",src,dst"`),
		bad("usual names in a graph.yaml", yaml("source,target\nx,y\n", ""), Options{}, `found the first line "source,target"`),
		bad("the given names in a graph.yaml", yaml("A,B\nx,y\n", ""), Options{}, `found the first line "A,B"`),
		bad("names and a header", yaml("c,d\nx,y\n", ", header: true"), Options{}, "found names of columns and a header that is to be read, expected one of them"),
		{name: "ids of one letter", files: e("u,v\nv,w\n"), path: "e.csv", opts: Options{Columns: "src,dst"}, want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "names of the header", files: e("src,dst\nv,w\n"), path: "e.csv", opts: Options{Columns: "dst,src"}, want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "one usual name", files: e("from,here\nv,w\n"), path: "e.csv", opts: Options{Columns: "src,dst"}, want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
	})
}

// A word for a missing value is an empty cell among numbers, bools and times, and a text among strings, ids and categories.
func TestMissingWords(t *testing.T) {
	for _, word := range []string{"NA", "N/A", "#N/A", "null", "NULL", "None", `\N`} {
		e := func(name, text, want string, o Options) importCase {
			return importCase{name: word + " " + name, files: map[string]string{"e.csv": strings.ReplaceAll(text, "NA", word)}, path: "e.csv", opts: o, want: strings.NewReplacer(`"NA"`, strconv.Quote(word), "NA", word).Replace(want)}
		}
		zero := Options{Missing: []Missing{{"", "0"}}}
		bad := e("without a rule", "src,dst,x\n0,1,1\n1,0,NA\n", "e.csv:3:5: found \"NA\" in column \"x\", expected an integer from -9223372036854775808 to 9223372036854775807; fill the cell, or give `Missing` a value for it", Options{})
		bad.fails = true
		given := e("times that must be there", "src,dst,t\n0,1,NA\n0,1,2024-01-01\n", "e.csv:2:5: found ", Options{Missing: []Missing{{"datetime", "error"}}})
		given.fails = true
		marks := "_N 2:\n_N:_E:_N: 0>1 t=1.7040672e+09 t_missing=0 x=7 x_missing=0 1>0 t=-9.223372036854776e+18 t_missing=1 x=0 x_missing=1"
		runImports(t, []importCase{
			bad, given,
			e("with a rule", "src,dst,i,f,b\n0,1,1,NA,NA\n1,0, NA ,2.5,true\n", "_N 2:\n_N:_E:_N: 0>1 b=0 f=0 i=1 1>0 b=1 f=2.5 i=0", zero),
			e("marked", "src,dst,x,t\n0,1,7,2024-01-01\n1,0,NA,NA\n", marks, Options{Missing: []Missing{{"int", "column"}, {"datetime", "column"}}}),
			e("strings", "src,dst,s,k,all\n0,1,NA,NA,NA\n1,0,x,1,NA\n", `_N 2:
_N:_E:_N: 0>1 all="NA" k="NA" s="NA" 1>0 all="NA" k="1" s="x"`, Options{Columns: "src,dst,s,k:category,all"}),
			e("ids", "src,dst\na,NA\nNA,a\n", "_N 2: a NA\n_N:_E:_N: 0>1 1>0", Options{}),
			e("ids alone", "src,dst\nNA,NA\n", "_N 1: NA\n_N:_E:_N: 0>0", Options{}),
		})
	}
}

// Numbers with decimal commas are strings, of which a warning says what to do.
func TestDecimalComma(t *testing.T) {
	const warning = "\nwarning: e.csv: column \"w\": its cells look like numbers with a decimal comma, and are read as strings; write a point instead of the comma"
	for text, want := range map[string]string{
		"0;1;0,5\n1;0;-12\n": `0>1 w="0,5" 1>0 w="-12"` + warning,
		"0;1;0,5\n1;0;\n":    `0>1 w="0,5" 1>0 w=""` + warning,
		"0;1;1,2,3\n":        `0>1 w="1,2,3"`,
		"0;1;0,5\n1;0;x\n":   `0>1 w="0,5" 1>0 w="x"`,
		"0;1;,5\n1;0;5,\n":   `0>1 w=",5" 1>0 w="5,"`,
		"0;1;5\n1;0;6\n":     `0>1 w=5 1>0 w=6`,
	} {
		runImports(t, []importCase{{name: text, files: map[string]string{"e.csv": "src;dst;w\n" + text}, path: "e.csv", want: "_N 2:\n_N:_E:_N: " + want}})
	}
}

// A chosen key that no object of JSON lines has is an error, and none of a file without objects.
func TestChosenKeys(t *testing.T) {
	e := func(text string) map[string]string { return map[string]string{"e.jsonl": text} }
	run(t, []sourceCase{
		{name: "a slip", files: e(`{"src": 0, "dst": 1, "weight": 2}`), path: "e.jsonl", opts: Options{Columns: "src,dst,wieght"}, err: ErrUsage,
			want: "found the column \"wieght\" in `Columns`, expected some of src, dst, weight, which "},
		{name: "a hint", files: e(`{"src": 0, "dst": 1, "weight": 2}`), path: "e.jsonl", opts: Options{Columns: "src,dst,wieght"}, err: ErrUsage, want: "e.jsonl has; correct `Columns`, or give the names of all columns if the file has no header; did you mean \"weight\"?"},
		{name: "no objects", files: e("\n"), path: "e.jsonl", opts: Options{Columns: "src,dst,w:float32"}, want: "_N - :uint64\n_N:_E:_N e.jsonl src:uint64>dst:uint64 w:float32"},
	})
}

// Lists of edges have many extensions, and any file of text is one where the caller says so.
func TestLists(t *testing.T) {
	e := func(name, text, want string, o Options) importCase {
		return importCase{name: name, files: map[string]string{name: text}, path: name, opts: o, want: want}
	}
	bad := func(name, text, want string, o Options) importCase {
		c := e(name, text, want, o)
		c.fails = true
		return c
	}
	const one = "_N 2:\n_N:_E:_N: 0>1 1>0"
	asked := Options{Format: "edge-list"}
	remedy := "of Python in the first line, expected columns; write the file with networkx.write_weighted_edgelist, or with write_edgelist and data=False or data=[\"weight\"]"
	runImports(t, []importCase{
		e("a.edgelist", "# a comment\n0 1\n1 0\n", one, Options{}),
		e("a.edges", "0 1\n1 0\n", one, Options{}),
		e("a.el", "0\t1\n1\t0\n", one, Options{}),
		e("u.data", "0\t1\n1\t0\n", one, asked),
		e("edges", "0 1\n1 0\n", one, asked),
		e("words", "src,dst\n0,1\n1,0\n", one, asked),
		bad("edges", "0 1\n1 0\n", "found a file of no known format", Options{}),
		bad("binary", "\x00\x01\x02", "binary: found bytes of no known kind that are no text", asked),
		e("a.txt", "0 1 {}\n1 0 {}\n", one, Options{}),
		e("b.txt", "a b {}\nb a {}\n", "_N 2: a b\n_N:_E:_N: 0>1 1>0", Options{}),
		bad("c.txt", "0 1 {'weight': 4}\n", "c.txt: found the dictionary {'weight': 4} "+remedy, Options{}),
		bad("d.edgelist", "a b {'weight': 4}\n", "d.edgelist: found the dictionary {'weight': 4} "+remedy, Options{}),
	})
}
