package ingest

import "testing"

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
			want: "found `NumNodes` with the id spaces Person and Movie", err: ErrUsage},
	})
}

// The names that a caller gives are those of a file without a header: a header is no edge.
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
