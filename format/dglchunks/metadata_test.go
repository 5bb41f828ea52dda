package dglchunks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// guide is modelled on the example of DGL's guide: author and paper, each cut into two chunks.
const guide = `{
  "graph_name": "mag",
  "node_type": ["author", "paper"],
  "num_nodes_per_chunk": [[3, 2], [4, 4]],
  "edge_type": ["author:writes:paper", "paper:cites:paper"],
  "num_edges_per_chunk": [[5, 5], [0, 0]],
  "edges": {
    "author:writes:paper": {"format": {"name": "csv", "delimiter": " "}, "data": ["edges/w0.csv", "edges/w1.csv"]},
    "paper:cites:paper": {"format": {"name": "parquet"}, "data": []}
  },
  "node_data": {"paper": {
    "feat": {"format": {"name": "numpy"}, "data": ["f0.npy", "f1.npy"]},
    "year": {"format": {"name": "numpy"}, "data": ["y.npy"]}
  }},
  "edge_data": {}
}`

func read(t testing.TB) *Metadata {
	t.Helper()
	m, err := parse([]byte(guide))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParse(t *testing.T) {
	want := &Metadata{
		GraphName: "mag",
		Nodes: []Nodes{
			{Type: "author", Counts: Counts{5, []uint64{3, 2}}},
			{Type: "paper", Counts: Counts{8, []uint64{4, 4}}, Data: []Data{
				{"feat", Files{Format: Numpy, Paths: []string{"f0.npy", "f1.npy"}}}, {"year", Files{Format: Numpy, Paths: []string{"y.npy"}}}}},
		},
		Edges: []Edges{
			{Type: "author:writes:paper", Counts: Counts{10, []uint64{5, 5}}, Files: Files{Format: CSV, Delimiter: " ", Paths: []string{"edges/w0.csv", "edges/w1.csv"}}},
			{Type: "paper:cites:paper", Counts: Counts{0, []uint64{0, 0}}, Files: Files{Format: Parquet}},
		},
	}
	m := read(t)
	if diff := cmp.Diff(want, m, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	b, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: %s", b, diff)
	}
	for _, key := range []string{"num_nodes_per_chunk", "num_nodes_per_type", "num_edges_per_chunk", "num_edges_per_type"} {
		if !strings.Contains(string(b), key) {
			t.Errorf("found no key %s in %s", key, b)
		}
	}
}

// Either way to give the counts is accepted.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ name, from, to string }{
		{"a type", `"num_nodes_per_chunk": [[3, 2], [4, 4]]`, `"num_nodes_per_type": [5, 8]`},
		{"both", `"node_type"`, `"num_nodes_per_type": [5, 8], "node_type"`},
		{"other keys", `"node_type"`, `"part_policy": 1, "node_type"`},
		{"null for no data", `"edge_data": {}`, `"edge_data": null`},
		{"left out", `,
  "edge_data": {}`, ``},
	} {
		m, err := parse([]byte(strings.Replace(guide, c.from, c.to, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Nodes[0].Total != 5 || m.Nodes[1].Total != 8 {
			t.Errorf("%s: found %+v", c.name, m.Nodes)
		}
		if want := c.name == "other keys"; want != (len(m.Unused) == 1) {
			t.Errorf("%s: found %q unused", c.name, m.Unused)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{guide, ``, ":1: found the end of the file"},
		{guide, "{\n\"node_type\": [", ":2: found the end of the file"},
		{guide, `[]`, `: found "[]", expected an object of names`},
		{guide, `{}`, `: found no key "node_type"`},
		{guide, `{"part-0": {}}`, `: found the key "part-0", which a partitioned graph has`},
		{"\"graph_name\": \"mag\",", "\"graph_name\": mag,", ":2: found text that is not JSON (invalid character 'm'"},
		{"\"edge_data\": {}\n}", "\"edge_data\": {}\n} {}", ":16: found text after the object"},
		{`"edge_data": {}`, `"edge_data": {}, "edges": {}`, `: found the key "edges" twice`},
		{`"year"`, `"feat"`, `node_data: paper: found the key "feat" twice`},
		{`"graph_name": "mag"`, `"graph_name": 1`, `: graph_name: found a JSON number, expected a string`},
		{`[[3, 2], [4, 4]]`, `[3, 4]`, `: num_nodes_per_chunk: found a JSON number, expected a list`},
		{`[[3, 2], [4, 4]]`, `[[3, -2], [4, 4]]`, `: num_nodes_per_chunk: found a JSON number -2, expected a number of rows`},
		{`[[3, 2], [4, 4]]`, `[[3, 2]]`, `: num_nodes_per_chunk: found 1 lists, expected 2, one for each of node_type`},
		{`[[3, 2], [4, 4]]`, `[[9223372036854775807, 9223372036854775807, 3], [4, 4]]`, `: num_nodes_per_chunk: found more than 2^62 rows of author`},
		{`"num_nodes_per_chunk": [[3, 2], [4, 4]],`, ``, `: found neither "num_nodes_per_chunk" nor "num_nodes_per_type"`},
		{`"node_type"`, `"num_nodes_per_type": [5, 9], "node_type"`, `: num_nodes_per_type: found 9 of paper, expected 8, the sum of num_nodes_per_chunk`},
		{`"node_type"`, `"num_nodes_per_type": [5], "node_type"`, `: num_nodes_per_type: found 1 numbers, expected 2`},
		{`["author", "paper"]`, `["paper", "paper"]`, `: node_type: found "paper" twice`},
		{`["author", "paper"]`, `["author", "papers"]`, `: edge_type: found "author:writes:paper", expected ends among the node types author, papers`},
		{`"paper:cites:paper"]`, `"cites"]`, `: edge_type: found "cites", expected src:rel:dst`},
		{`"paper:cites:paper"]`, `"author:writes:paper"]`, `: edge_type: found "author:writes:paper" twice`},
		{`"paper:cites:paper":`, `"paper:cite:paper":`, `: edges: found the type "paper:cite:paper", expected one of author:writes:paper, paper:cites:paper; did you mean`},
		{`,
    "paper:cites:paper": {"format": {"name": "parquet"}, "data": []}`, ``, `: edges: found no "paper:cites:paper"`},
		{`"node_data": {"paper"`, `"node_data": {"papers"`, `: node_data: found the type "papers"`},
		{`{"name": "parquet"}`, `{"name": "orc"}`, `: edges.paper:cites:paper: found format "orc"`},
		{`{"name": "parquet"}, "data": []`, `{"name": "parquet"}`, `: edges.paper:cites:paper: found no data, expected the list of files`},
		{`"delimiter": " "`, `"delimiter": "::"`, `: edges.author:writes:paper: found the delimiter "::"`},
		{`"delimiter": " "`, `"delimiter": "1"`, `found the delimiter "1"`},
		{`"edges/w1.csv"`, `"./edges/w0.csv"`, `: edges.author:writes:paper: found the file ./edges/w0.csv twice`},
		{`"y.npy"`, `""`, `: node_data.paper.year: found the file name ""`},
		{`"feat": {`, `"": {`, `: node_data.paper: found a feature without a name`},
		{`["y.npy"]`, `"y.npy"`, `node_data: paper: year: data: found a JSON string, expected a list`},
	} {
		text := strings.Replace(guide, c.from, c.to, 1)
		if text == guide {
			t.Fatalf("%s is not in the example", c.from)
		}
		_, err := parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrFormat) {
			t.Errorf("%s: found %v, expected %s", c.to, err, c.want)
		}
	}
}

func TestIsMetadata(t *testing.T) {
	for text, want := range map[string]bool{guide: true, `{"part-0": {}}`: false, `[]`: false, `{"node_type": [], "edge_type": []}`: true, ``: true} {
		file := filepath.Join(t.TempDir(), File)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := IsMetadata(vfs.OS, file); got != want {
			t.Errorf("%s: found %v", text, got)
		}
	}
	if IsMetadata(vfs.OS, t.TempDir()) {
		t.Error("a folder is metadata")
	}
}

// No text makes the parser panic, and accepted metadata stay the same when written and read.
func FuzzParse(f *testing.F) {
	f.Add(guide)
	f.Add(`{"node_type": ["a"], "num_nodes_per_type": [1], "edge_type": [], "num_edges_per_type": [], "edges": {}}`)
	f.Add(`{"node_type": ["_N"], "num_nodes_per_chunk": [[]], "edge_type": ["_N:_E:_N"], "num_edges_per_chunk": [[]], "edges": {"_N:_E:_N": {"format": {"name": "csv", "delimiter": ":"}, "data": ["/a", "../b"]}}, "x": 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			m, err := parse([]byte(text))
			if err != nil {
				return
			}
			for i := range m.Nodes {
				fill(&m.Nodes[i].Counts)
			}
			for i := range m.Edges {
				fill(&m.Edges[i].Counts)
			}
			m.Unused = nil
			b, err := m.JSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := parse(b)
			if err != nil {
				t.Fatalf("%v: %s", err, b)
			}
			if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", b, diff)
			}
		})
	})
}

// fill gives each of the counts at least one chunk.
func fill(c *Counts) {
	if c.Chunks == nil {
		c.Chunks = []uint64{c.Total}
	}
}
