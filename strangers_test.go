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
			const dir = "testdata/strangers"
			source := filepath.Join(dir, c.Path)
			switch path, isDatabase := strings.CutPrefix(c.Path, "sqlite:"); {
			case isDatabase:
				source = "sqlite:" + filepath.Join(dir, path)
			case o.Indptr != "":
				o.Indptr, o.Indices, source = filepath.Join(source, o.Indptr), filepath.Join(source, o.Indices), ""
			case o.Format == "csv": // of a pipe
				f, err := os.Open(source)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				o.Input, source = f, "-"
			}
			s, err := graphmill.Import(t.Context(), source, filepath.Join(t.TempDir(), "out"), o)
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

// strangersElsewhere has files of other programs for the rows of docs/formats.md that testdata/strangers has none for: a file, and a test that imports it.
var strangersElsewhere = map[string][2]string{
	"table of Delta Lake":       {"internal/ingest/tablefiles/testdata/delta", "internal/ingest/tablefiles/delta_test.go"},
	"table of Apache Iceberg":   {"internal/lake/iceberg/testdata/pyiceberg2", "internal/lake/iceberg/golden_test.go"},
	"Neo4j's importer":          {"internal/ingest/testdata/strangers/neo4j", "internal/ingest/databases_test.go"},
	"Neptune":                   {"internal/ingest/testdata/strangers/neptune", "internal/ingest/databases_test.go"},
	"ArangoDB":                  {"internal/ingest/testdata/strangers/arangodb", "internal/ingest/databases_test.go"},
	"GraphAr":                   {"internal/ingest/testdata/strangers/graphar", "internal/ingest/databases_test.go"},
	"graph of Google's DGF":     {"internal/ingest/testdata/dgf", "internal/ingest/dgf_test.go"},
	"TFRecords of GraphTensors": {"testdata/golden/tfgnn/encoding", "internal/ingest/golden_test.go"},
	"DGL graphs":                {"internal/ingest/testdata/dgl", "internal/ingest/dgl_test.go"},
	"partitioned DGL graph":     {"testdata/golden/dgl/homo", "internal/ingest/goldenparts_test.go"},
	"chunked DGL graph":         {"testdata/golden/dgl/chunked_in", "internal/ingest/golden_test.go"},
	"chunk files":               {"docs/format-chunk.md", "internal/ingest/chunk_test.go"}, // Graphmill's own format, which no other program writes
}

// TestFormatsHaveStrangers holds each row of docs/formats.md to a file that another program wrote, and the files of testdata/strangers to their manifest.
func TestFormatsHaveStrangers(t *testing.T) {
	page, err := os.ReadFile("docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, c := range strangers(t) {
		if c.Error == "" {
			read[c.Row] = true
		} else if c.Tried == "" {
			t.Errorf("%s: found an error whose advice was not tried, expected what it gave", c.Path)
		}
	}
	_, text, _ := strings.Cut(string(page), "| kind | `--format` |")
	rows, _, _ := strings.Cut(text, "\n\n")
	count := 0
	for row := range strings.Lines(rows) {
		kind, _, is := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if !is || !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| recognised") {
			continue
		}
		count++
		if elsewhere, is := strangersElsewhere[kind]; is && !read[kind] {
			for _, path := range elsewhere {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		} else if is == read[kind] {
			t.Errorf("docs/formats.md: found the kind %q with no file of another program, or with one here and one elsewhere; add one to testdata/strangers/read.py", kind)
		}
	}
	if count < 40 {
		t.Errorf("docs/formats.md: found %d kinds, expected at least 40", count)
	}
	manifest, err := os.ReadFile("testdata/strangers/MANIFEST.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("testdata/strangers", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("testdata", "strangers")+string(filepath.Separator)))
		sum, err := os.ReadFile(path)
		if hash := sha256.Sum256(sum); err == nil && strings.Contains(name, "/") && !strings.HasPrefix(name, "written/") && !strings.Contains(string(manifest), fmt.Sprintf("| `%s` | %x |", name, hash[:8])) {
			t.Errorf("testdata/strangers/MANIFEST.md: found no line for %s as it is, expected its source and licence", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// filesStrangers has a file of another program for each kind of docs/files.md that a Python library reads. python/tests/test_files.py imports all of them.
var filesStrangers = map[string]string{
	"gml": "testdata/strangers/written/networkx/karate.gml", "gexf": "python/tests/testdata/files/v1_3.gexf", "pajek": "testdata/strangers/written/networkx/karate.net",
	"dot": "testdata/strangers/written/igraph/miserables.dot", "gdf": "python/tests/testdata/files/karate.gdf", "leda": "testdata/strangers/written/igraph/miserables.leda",
	"graph6": "testdata/strangers/written/networkx/karate.g6", "sparse6": "testdata/strangers/written/networkx/karate.s6",
	"turtle": "python/tests/testdata/files/test-query.ttl", "trig": "python/tests/testdata/files/IRI-resolution-01.trig", "n3": "python/tests/testdata/files/test-query.n3",
	"rdfxml": "python/tests/testdata/files/test004.rdf", "jsonld": "python/tests/testdata/files/test-query.jsonld", "obo": "python/tests/testdata/files/cio.obo",
	"mat": "python/tests/testdata/files/testsparse_7.4_GLNX86.mat", "hdf5": "python/tests/testdata/files/cells.h5ad",
	"orc": "testdata/strangers/written/arrow/edges.orc", "avro": "testdata/strangers/written/polars/edges.avro",
	"smiles": "python/tests/testdata/files/simple.smi", "sdf": "python/tests/testdata/files/two.sdf", "xyz": "python/tests/testdata/files/ion.xyz",
	"osm": "python/tests/testdata/files/crossing.osm",
	"dl":  "python/tests/test_files.py", // no program at hand writes it: the test has texts in the forms of UCINET's manual, which igraph reads
}

// TestFilesHaveStrangers holds each kind in the table of docs/files.md to a file that another program wrote, with one of the endings of its row, which the tests of these
// kinds read: each file of their folder, or of testdata/strangers with such an ending, or by its name.
func TestFilesHaveStrangers(t *testing.T) {
	page, err := os.ReadFile("docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("python/tests/test_files.py")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "| kind | `kind` |")
	rows, _, _ := strings.Cut(text, "\n\n")
	words := func(cell string) (list []string) {
		for i, part := range strings.Split(cell, "`") {
			if i%2 == 1 {
				list = append(list, part)
			}
		}
		return list
	}
	held := map[string]bool{}
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, "|")
		if len(cells) < 6 || !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| endings") {
			continue
		}
		for _, kind := range words(cells[2]) {
			held[kind] = true
			file := filesStrangers[kind]
			if _, err := os.Stat(file); err != nil {
				t.Errorf("docs/files.md: found no file of another program for the kind %q, expected one in filesStrangers: %v", kind, err)
				continue
			}
			if kind == "dl" {
				continue
			}
			ends := slices.ContainsFunc(words(cells[3]), func(ending string) bool { return strings.HasSuffix(file, ending) })
			read := strings.HasPrefix(file, "python/tests/testdata/files/") || strings.Contains(string(tests), strconv.Quote(strings.TrimPrefix(filepath.Ext(file), "."))) || strings.Contains(string(tests), filepath.Base(file))
			if kind != "pajek" && !ends || !read {
				t.Errorf("%s: found a file for the kind %q with none of its endings, or one that python/tests/test_files.py does not read", file, kind)
			}
		}
	}
	if len(held) < 20 {
		t.Errorf("docs/files.md: found %d kinds, expected at least 20", len(held))
	}
	for kind := range filesStrangers {
		if !held[kind] {
			t.Errorf("found a file for the kind %q, which docs/files.md does not have; remove it", kind)
		}
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
