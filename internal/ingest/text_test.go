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
