package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
)

// edgesText is the edges of all types, as "type: src>dst ...", sorted.
func edgesText(s *store.Store) string {
	var out []string
	for _, e := range s.Graph.Edges {
		a := e.Adj[e.Primary]
		for near := range a.Indptr.Len() - 1 {
			for k := int(a.Indptr.At(near)); k < int(a.Indptr.At(near+1)); k++ {
				ends := [2]int{int(a.Far.At(k)), near}
				if e.Primary == graph.Out {
					ends[0], ends[1] = ends[1], ends[0]
				}
				var names [2]string
				for i, typ := range []string{e.Type.Src, e.Type.Dst} {
					names[i] = fmt.Sprint(ends[i])
					if n := s.Graph.Nodes[s.Graph.NodeType(typ)]; n.IDs != nil {
						names[i] = string(n.IDs.Text(ends[i]))
					}
				}
				out = append(out, fmt.Sprintf("%s %s>%s", e.Type, names[0], names[1]))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// TestFirstLines checks that the first line decides the format of a list, whatever its name is. The edges of the
// matrix come from scipy.io.mmread 1.17; the edges of KONECT and Gephi follow from the formats' descriptions.
func TestFirstLines(t *testing.T) {
	const (
		sym  = "% sym unweighted\n1 2\n2 3\n"
		bip  = "% bip weighted\n1 1 3\n1 2 4\n2 1 5\n"
		mtx  = "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n3 3 2\n2 1\n3 2\n"
		self = "_N:_E:_N "
	)
	for name, test := range map[string]struct{ file, text, format, want, warns string }{
		"KONECT .edges":          {"g.edges", sym, "konect", self + "0>1, " + self + "1>0, " + self + "1>2, " + self + "2>1", "the network is undirected"},
		"KONECT .txt CRLF":       {"g.txt", strings.ReplaceAll(sym, "\n", "\r\n"), "konect", self + "0>1, " + self + "1>0, " + self + "1>2, " + self + "2>1", ""},
		"KONECT .edgelist":       {"g.edgelist", bip, "konect", "left:_E:right 0>0, left:_E:right 0>1, left:_E:right 1>0", ""},
		"KONECT without a name":  {"g.konect", bip, "konect", "left:_E:right 0>0, left:_E:right 0>1, left:_E:right 1>0", ""},
		"KONECT .tsv":            {"g.tsv", bip, "konect", "left:_E:right 0>0, left:_E:right 0>1, left:_E:right 1>0", ""},
		"Matrix Market .edges":   {"g.edges", mtx, "matrix-market", self + "0>1, " + self + "1>0, " + self + "1>2, " + self + "2>1", ""},
		"Matrix Market .txt":     {"g.txt", mtx, "matrix-market", self + "0>1, " + self + "1>0, " + self + "1>2, " + self + "2>1", ""},
		"a comment of its own":   {"g.txt", "% symmetric things\n1 2\n2 3\n", "edge-list", self + "1>2, " + self + "2>3", ""},
		"numbers of nodes, rows": {"g.txt", "4 3\n0 1\n1 2\n2 3\n", "edge-list", self + "0>1, " + self + "1>2, " + self + "2>3, " + self + "4>3", `g.txt:1: found the first line "4 3", which is read as an edge, above 3 others: it looks like the numbers of nodes and edges`},
		"just an edge":           {"g.txt", "4 2\n0 1\n1 2\n2 3\n", "edge-list", self + "0>1, " + self + "1>2, " + self + "2>3, " + self + "4>2", ""},
		"Gephi, undirected":      {"g.csv", "Source,Target,Type,weight\na,b,Undirected,1\nb,c,Undirected,2\n", "edge-list", self + "a>b, " + self + "b>a, " + self + "b>c, " + self + "c>b", `column "Type" says that the edges are undirected`},
		"Gephi, directed":        {"g.csv", "Source,Target,Type,weight\na,b,Directed,1\nb,c,Directed,2\n", "edge-list", self + "a>b, " + self + "b>c", ""},
		"Gephi, both":            {"g.csv", "Source,Target,Type\na,b,Directed\nb,c,Undirected\n", "edge-list", self + "a>b, " + self + "b>c", "found directed and undirected edges, and reads each in the direction of its row"},
		"another column Type":    {"g.csv", "Source,Target,Type\na,b,Undirected\nb,c,friend\n", "edge-list", self + "a>b, " + self + "b>c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, source, err := built(t, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := edgesText(s); got != test.want || source.Format != test.format {
				t.Errorf("found %s: %s, expected %s: %s", source.Format, got, test.format, test.want)
			}
			rows := uint64(strings.Count(test.text, "\n") - strings.Count(test.text, "%"))
			warns := strings.Join(append(slices.Clone(source.Warnings), source.Review(&assemble.Result{Edges: []assemble.EdgesResult{{Type: graph.HomogeneousEdge, Rows: rows}}})...), "\n")
			if !strings.Contains(warns, test.warns) || test.warns == "" && strings.Contains(warns, "first line") {
				t.Errorf("found the warnings %q, expected %q", warns, test.warns)
			}
		})
	}
}

// TestGephiTables checks that the column Type of Gephi's tables counts in graph.yaml too, unless the file says what the edges are.
func TestGephiTables(t *testing.T) {
	const self = "n:e:n "
	const both = self + "a>b, " + self + "b>a"
	for name, test := range map[string]struct {
		types, keys string
		want, warns string
	}{
		"undirected":    {"Undirected", "", both, `column "Type" says that the edges are undirected`},
		"directed":      {"Directed", "", self + "a>b", ""},
		"not":           {"Undirected", ", symmetrise: false", self + "a>b", ""},
		"symmetrised":   {"Directed", ", symmetrise: true", both, ""},
		"another table": {"Undirected", ", where: {Type: Undirected}", self + "a>b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"n.csv":      "id\na\nb\n",
				"e.csv":      "Source,Target,Type\na,b," + test.types + "\n",
				"graph.yaml": "nodes: {n: {table: n.csv}}\nedges: {\"n:e:n\": {table: e.csv" + test.keys + "}}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, source, err := built(t, filepath.Join(dir, "graph.yaml"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := edgesText(s); got != test.want {
				t.Errorf("found %s, expected %s", got, test.want)
			}
			if warns := strings.Join(source.Warnings, "\n"); !strings.Contains(warns, test.warns) || test.warns == "" && warns != "" {
				t.Errorf("found the warnings %q, expected %q", warns, test.warns)
			}
		})
	}
}
