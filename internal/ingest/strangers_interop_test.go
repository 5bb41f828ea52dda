//go:build interopdata

package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/golden"
)

// document reads a file of JSON by encoding/json.
func document(t *testing.T, path string) (v map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// row is an object without what is no column: lists and objects, but for the members of inner ones.
func row(v any, inner string) map[string]any {
	out := map[string]any{}
	for k, x := range v.(map[string]any) {
		switch y := x.(type) {
		case []any:
		case map[string]any:
			if k == inner {
				for k, x := range row(y, "") {
					out[k] = x
				}
			}
		default:
			out[k] = x
		}
	}
	return out
}

// Documents of other programs have the edges that encoding/json reads in them.
func TestDataGraphJSON(t *testing.T) {
	for _, c := range []struct {
		path, edges, inner string
		texts              string // column of texts that some edges lack
		warning            string
	}{
		{"vega/miserables.json", "links", "", "", ""},
		{"jgf/usual_suspects.json", "graph.edges", "metadata", "", ""},
		{"jgf/les_miserables.json", "graph.edges", "metadata", "", ""},
		{"jgf/test.network.json", "graph.edges", "metadata", "", "lists and objects are left out: evidences"},
		{"gephi/exp_tiny.json", "edges", "attributes", "", ""},
		{"gephi/exp_column.json", "edges", "attributes", "", ""},
		{"gephi/exp_multi.json", "edges", "attributes", "type", ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := golden.Data(t, "strangers", c.path)
			s, src, err := built(t, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(src.Warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("found the warnings %q, expected %q", got, c.warning)
			}
			v := any(document(t, path))
			for name := range strings.SplitSeq(c.edges, ".") {
				v = v.(map[string]any)[name]
			}
			var want []map[string]any
			for _, e := range v.([]any) {
				r := row(e, c.inner)
				r["src"], r["dst"] = fmt.Sprint(r["source"]), fmt.Sprint(r["target"])
				delete(r, "source")
				delete(r, "target")
				if _, has := r[c.texts]; !has && c.texts != "" {
					r[c.texts] = ""
				}
				want = append(want, r)
			}
			if diff := cmp.Diff(want, edgesOf(t, s, "src", "dst")); diff != "" {
				t.Errorf("encoding/json reads other edges (- expected, + found)\n%s", diff)
			}
		})
	}
	undirected, err := imported(t, golden.Data(t, "strangers", "gephi/exp_undirected.json"), Options{})
	if err != nil || !strings.Contains(undirected, " 1>0 key=\"1\" weight=1 0>1 key=\"1\" weight=1") && !strings.Contains(undirected, " 0>1 key=\"1\" weight=1 1>0 key=\"1\" weight=1") {
		t.Errorf("found %s, %v, expected both directions", undirected, err)
	}
}

// wordsOf returns the words of the lines of a file that are no comments.
func wordsOf(t *testing.T, path string) (lines [][]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "%") {
			lines = append(lines, words)
		}
	}
	return lines
}

// Lists of other programs have the edges that are the words of their lines.
func TestDataLists(t *testing.T) {
	for _, c := range []struct {
		path string
		skip int // lines before the edges
		base int // number of the first node; -1: nodes have names
		from int // word of a line that is the source
	}{
		{"gapbs/4.el", 0, 0, 0}, {"gapbs/4.wel", 0, 0, 0}, {"gapbs/4.mtx", 1, 1, 0}, {"gapbs/4w.mtx", 1, 1, 0}, {"igraph/graph2.ncol", 0, -1, 0}, {"igraph/t5.el", 0, -1, 0}, {"gapbs/4.gr", 2, 1, 1},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := golden.Data(t, "strangers", c.path)
			s, _, err := built(t, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var want []map[string]any
			for _, words := range wordsOf(t, path)[c.skip:] {
				words = words[c.from:]
				id := func(word string) string {
					if n, err := strconv.Atoi(word); err == nil && c.base >= 0 {
						return strconv.Itoa(n - c.base)
					}
					return word
				}
				r := map[string]any{"src": id(words[0]), "dst": id(words[1])}
				if len(words) > 2 {
					w, err := strconv.ParseFloat(words[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					r["weight"] = w
				}
				want = append(want, r)
			}
			if diff := cmp.Diff(want, edgesOf(t, s, "src", "dst")); diff != "" {
				t.Errorf("found other edges (- expected, + found)\n%s", diff)
			}
		})
	}
	// Weights of some edges need a rule.
	for path, want := range map[string]string{
		"igraph/graph1.ncol":                 "_N 3: a b c\n_N:_E:_N: 0>1 weight=1 1>2 weight=1.23e+06 0>2 weight=1\n",
		"igraph/igraph_read_graph_lgl-1.lgl": "_N 5: tab foo bar foobar bat\n_N:_E:_N: 1>2 weight=1 1>3 weight=5 3>4 weight=1 3>0 weight=1\n", // tab has no neighbours below it
	} {
		got, err := imported(t, golden.Data(t, "strangers", path), Options{Missing: []Missing{{"weight", "1"}}})
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: found %s, %v, expected %s", path, got, err, want)
		}
	}
}

// A matrix of other people has the entries that its cells are.
func TestDataDense(t *testing.T) {
	path := golden.Data(t, "strangers", "gephi/matrix.csv")
	s, _, err := built(t, path, Options{Format: "dense-matrix"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	names := strings.Split(rows[0], ",")
	for _, row := range rows[1:] {
		cells := strings.Split(row, ",")
		for j, cell := range cells[1:] {
			if v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err != nil {
				t.Fatal(err)
			} else if v != 0 {
				want = append(want, map[string]any{"src": cells[0], "dst": strings.TrimSpace(names[j+1]), "weight": float64(float32(v))})
			}
		}
	}
	if diff := cmp.Diff(want, edgesOf(t, s, "src", "dst")); diff != "" {
		t.Errorf("found other edges (- expected, + found)\n%s", diff)
	}
}

// Files of other programs that are no graph of two-ended edges of one kind give one line that says what to do.
func TestDataRefused(t *testing.T) {
	for path, want := range map[string]string{
		"jgf/car_graphs.json":      "found a second graph, expected one; name one by its number",
		"jgf/hyper-directed.json":  "found hyperedges, expected edges of two ends; write a node for each hyperedge",
		"igraph/pajek1.net":        "a Pajek file, expected a format of graphs or tables; read it in Python: python -m graphmill import FILE --out STORE",
		"igraph/links.net":         "a Pajek file",
		"igraph/bipartite.net":     "a Pajek file",
		"igraph/utf8_with_bom.net": "a Pajek file",
		"igraph/pajek_signed.net":  "a Pajek file",
		"graphio/kinship.net":      "a Pajek file",
		"igraph/edgelist1.dl":      "a UCINET DL file, expected a format of graphs or tables; read it in Python: python -m graphmill import FILE --out STORE",
		"gephi/exp_basic.vna":      "a VNA file, expected a format of graphs or tables; open it in Gephi and export the graph as GraphML",
		"graphio/twographs.g6":     "a file of graph6 or sparse6, expected a format of graphs or tables; read it in Python: python -m graphmill import FILE --out STORE",
		"gephi/exp_mixed.json":     "found 1 directed and 1 undirected edges, expected edges of one kind; write each undirected edge as two directed ones",
	} {
		_, err := imported(t, golden.Data(t, "strangers", path), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || bytes.Contains([]byte(err.Error()), []byte("\n")) {
			t.Errorf("%s: found the error %v, expected %q", path, err, want)
		}
	}
}
