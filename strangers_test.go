package graphmill_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// stranger is a file or folder that another program wrote, and what a library of others reads in it: a case of testdata/strangers/expected.json,
// which read.py beside it writes.
type stranger struct {
	Path string // within testdata/strangers
	Row  string // the kind in docs/formats.md, or in the list of what is refused
	// Options are those of Import, by their names.
	Options option.Import
	// Program read the nodes and edges, with their values, whose lines have this digest; "": the file is refused.
	Program      string
	Nodes, Edges int
	Digest       string
	Warning      string // is in one of the warnings, and each warning has it; "": there are none
	Error        string // is in the error, which is one line
	// Tried says what the advice of the error gave.
	Tried string
}

// strangers returns the cases.
func strangers(t *testing.T) (list []stranger) {
	t.Helper()
	b, err := os.ReadFile("testdata/strangers/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestStrangers imports files that others made. Each has the nodes, edges and values that another library reads in it, or is refused with one line of advice.
func TestStrangers(t *testing.T) {
	for _, c := range strangers(t) {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			o, found := c.Options, c.Warning == ""
			o.Warn = func(text string) {
				if found = true; c.Warning == "" || !strings.Contains(text, c.Warning) {
					t.Errorf("found the warning %q, expected %q", text, c.Warning)
				}
			}
			s, err := graphmill.Import(t.Context(), filepath.Join("testdata/strangers", c.Path), filepath.Join(t.TempDir(), "out"), o)
			if c.Error != "" || err != nil {
				if err == nil || c.Error == "" || !strings.Contains(err.Error(), c.Error) || strings.Contains(err.Error(), "\n") {
					t.Errorf("found the error %v, expected %q", err, c.Error)
				}
				if err == nil {
					t.Error(s.Close())
				}
				return
			}
			defer s.Close()
			if !found {
				t.Errorf("found no warning, expected %q", c.Warning)
			}
			nodes, edges := storeLines(s)
			slices.Sort(nodes)
			slices.Sort(edges)
			text := strings.Join(append(nodes, edges...), "\n")
			sum := sha256.Sum256([]byte(text))
			if got := hex.EncodeToString(sum[:8]); len(nodes) != c.Nodes || len(edges) != c.Edges || got != c.Digest {
				t.Errorf("found %d nodes, %d edges and the digest %s, expected %d, %d and %s, which %s reads (read.py %s); found\n%.3000s", len(nodes), len(edges), got, c.Nodes, c.Edges, c.Digest, c.Program, c.Path, text)
			}
		})
	}
}

// storeLines returns a line for each node of a store or collection, with its type, id and values, and for each edge, with its type, the ids of its ends and its values.
func storeLines(s *graphmill.Store) (nodes, edges []string) {
	if c := s.Collection(); c != nil {
		return collectionLines(c)
	}
	ids := map[string]func(i int) string{}
	for _, n := range s.Graph().Nodes {
		id := strconv.Itoa
		if n.IDs != nil {
			id = func(i int) string { return valueText(n.IDs, i) }
		}
		ids[n.Type] = id
		for i := range n.Count {
			nodes = append(nodes, n.Type+"\t"+id(i)+rowText(n.Columns, i))
		}
	}
	for _, e := range s.Graph().Edges {
		a := e.Adj[e.Primary]
		for near := range a.Indptr.Len() - 1 {
			for k := int(a.Indptr.At(near)); k < int(a.Indptr.At(near+1)); k++ {
				src, dst := int(a.Far.At(k)), near
				if e.Primary == graph.Out {
					src, dst = dst, src
				}
				edges = append(edges, e.Type.String()+"\t"+ids[e.Type.Src](src)+"\t"+ids[e.Type.Dst](dst)+rowText(e.Columns, k))
			}
		}
	}
	return nodes, edges
}

// collectionLines is storeLines for a collection: a line begins with the number of its graph, and the ids count from 0 in each graph. The first line of a
// graph has its values.
func collectionLines(c *graph.Collection) (nodes, edges []string) {
	for i := range c.Graphs {
		nodes = append(nodes, strconv.Itoa(i)+rowText(c.Context, i))
	}
	for _, n := range c.Nodes {
		for g := range c.Graphs {
			for i := int(n.GraphPtr.At(g)); i < int(n.GraphPtr.At(g+1)); i++ {
				nodes = append(nodes, fmt.Sprintf("%d\t%s\t%d%s", g, n.Type, i-int(n.GraphPtr.At(g)), rowText(n.Columns, i)))
			}
		}
	}
	for _, e := range c.Edges {
		for g := range c.Graphs {
			for i := int(e.GraphPtr.At(g)); i < int(e.GraphPtr.At(g+1)); i++ {
				edges = append(edges, fmt.Sprintf("%d\t%s\t%d\t%d%s", g, e.Type, e.Src.At(i), e.Dst.At(i), rowText(e.Columns, i)))
			}
		}
	}
	return nodes, edges
}

// rowText returns the values of a row by the names of their columns. A value that is missing is left out.
func rowText(columns []*graph.Column, row int) string {
	var b strings.Builder
	for _, c := range columns {
		if strings.HasPrefix(c.Name, "#") || strings.HasSuffix(c.Name, "_missing") {
			continue
		}
		if gone := graph.FindColumn(columns, c.Name+"_missing"); gone != nil && gone.Values[row] == 1 {
			continue
		}
		from, to := c.Span(row, row+1)
		var values []string
		for i := from; i < to; i++ {
			values = append(values, valueText(c, i))
		}
		if text := strings.Join(values, ","); text != "" {
			b.WriteString("\t" + c.Name + "=" + text)
		}
	}
	return b.String()
}

// valueText is value i of a column: a text; a whole number in decimal; the bits of another number as float32; "" for what is missing.
func valueText(c *graph.Column, i int) string {
	escape := strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r")
	if c.Categories != nil {
		if k := graph.View[int32](c.Values)[i]; k >= 0 {
			return escape.Replace(string(c.Categories.Text(int(k))))
		}
		return ""
	}
	var f float64
	switch c.DType {
	case graph.String:
		return escape.Replace(string(c.Text(i)))
	case graph.Bool:
		return strconv.FormatBool(c.Values[i] == 1)
	case graph.Int8:
		return strconv.Itoa(int(graph.View[int8](c.Values)[i]))
	case graph.Uint8:
		return strconv.Itoa(int(c.Values[i]))
	case graph.Int16:
		return strconv.Itoa(int(graph.View[int16](c.Values)[i]))
	case graph.Uint16:
		return strconv.Itoa(int(graph.View[uint16](c.Values)[i]))
	case graph.Int32:
		return strconv.Itoa(int(graph.View[int32](c.Values)[i]))
	case graph.Uint32:
		return strconv.Itoa(int(graph.View[uint32](c.Values)[i]))
	case graph.Int64:
		v := graph.View[int64](c.Values)[i]
		if c.Unit != "" && v == graph.NoTime {
			return ""
		}
		return strconv.FormatInt(v, 10)
	case graph.Uint64:
		return strconv.FormatUint(graph.View[uint64](c.Values)[i], 10)
	case graph.Float32:
		f = float64(graph.View[float32](c.Values)[i])
	case graph.Float64:
		f = graph.View[float64](c.Values)[i]
	default:
		return "?" + c.DType.String()
	}
	switch {
	case math.IsNaN(f):
		return ""
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	return fmt.Sprintf("%08x", math.Float32bits(float32(f)))
}
