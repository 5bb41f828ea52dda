//go:build interopdata

package ingest

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/golden"
)

// Tables of edges of other programs have the rows that encoding/csv reads in them. Cells that are numbers are compared as numbers.
func TestDataTables(t *testing.T) {
	for _, c := range []struct {
		path, src, dst string
		comma          rune
	}{
		{"gephi/edges_table_repeated_with_ids.csv", "source", "target", ','},
		{"gephi/edges_table_dynamic_weights.csv", "source", "target", ','},
		{"gephi/exp_quotes.csv", "Source", "Target", ','},
		{"gephi/exp_single.csv", "Source", "Target", ','},
		{"gephi/exp_decimal_separator.csv", "Source", "Target", ','},
		{"gephi/edges_table_types_test.csv", "source", "target", ','},
		{"graphar/knows.csv", "src_id", "dst_id", '|'},
		{"vega/flights-airport.csv", "origin", "destination", ','},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := golden.Data(t, "strangers", c.path)
			s, _, err := built(t, path, Options{Src: c.src, Dst: c.dst})
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			r := csv.NewReader(b)
			r.Comma = c.comma
			rows, err := r.ReadAll()
			if err := errors.Join(err, b.Close()); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for _, row := range rows[1:] {
				m := map[string]string{}
				for i, cell := range row {
					m[rows[0][i]] = asNumber(cell)
				}
				m["src"], m["dst"] = m[c.src], m[c.dst]
				delete(m, c.src)
				delete(m, c.dst)
				want = append(want, fmt.Sprint(m))
			}
			for _, row := range edgesOf(t, s, "src", "dst") {
				m := map[string]string{}
				for k, v := range row {
					m[k] = asNumber(fmt.Sprint(v))
				}
				got = append(got, fmt.Sprint(m))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("encoding/csv reads other rows (- expected, + found)\n%s", diff)
			}
		})
	}
}

// asNumber is the text of a number as float32, and any other text itself.
func asNumber(text string) string {
	if v, err := strconv.ParseFloat(text, 32); err == nil {
		return fmt.Sprint(float32(v))
	}
	return text
}

// GraphML of other programs has the nodes and edges that encoding/xml finds in it.
func TestDataGraphML(t *testing.T) {
	for _, name := range []string{
		"gephi/withdesc.graphml", "graphio/grafo1853.13.graphml", "igraph/cattr_bool_bug.graphml", "igraph/cattr_bool_bug2.graphml", "igraph/graphml-default-attrs.graphml",
		"igraph/graphml-namespace.graphml", "igraph/wa1.graphml", "igraph/wa2.graphml", "igraph/wa3.graphml", "igraph/wa4.graphml", "igraph/wa5.graphml",
	} {
		path := golden.Data(t, "strangers", filepath.FromSlash(name))
		s, _, err := built(t, path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		nodes, edges, undirected := 0, 0, false
		d := xml.NewDecoder(f)
		d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // only ASCII is counted
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			x, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			attr := map[string]string{}
			for _, a := range x.Attr {
				attr[a.Name.Local] = a.Value
			}
			switch x.Name.Local {
			case "graph":
				undirected = attr["edgedefault"] == "undirected"
			case "node":
				nodes++
			case "edge":
				if edges++; undirected && attr["source"] != attr["target"] {
					edges++
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := [2]int{s.Graph.Nodes[0].Count, int(s.Graph.Edges[0].Count)}; got != [2]int{nodes, edges} {
			t.Errorf("%s: found %d nodes and edges, expected %d and %d", name, got, nodes, edges)
		}
	}
}
