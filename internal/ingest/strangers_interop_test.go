//go:build interopdata

package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
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

// Files of other programs that are no graph of two-ended edges of one kind give one line that says what to do.
func TestDataRefused(t *testing.T) {
	for path, want := range map[string]string{
		"jgf/car_graphs.json":     "found a second graph, expected one; write a file for each graph",
		"jgf/hyper-directed.json": "found hyperedges, expected edges of two ends; write a node for each hyperedge",
		"gephi/exp_mixed.json":    "found 1 directed and 1 undirected edges, expected edges of one kind; write each undirected edge as two directed ones",
	} {
		_, err := imported(t, golden.Data(t, "strangers", path), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || bytes.Contains([]byte(err.Error()), []byte("\n")) {
			t.Errorf("%s: found the error %v, expected %q", path, err, want)
		}
	}
}
