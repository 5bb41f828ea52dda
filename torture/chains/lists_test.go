package chains

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// lister writes a list of edges between n nodes in a format, and returns what Import reads.
type lister struct {
	name  string
	write func(w *sourceWriter, n int, ends [][2]int) string
	// num says that the format does not hold the number of nodes.
	num bool
}

// lines of text, one per edge; ids count from first.
func edgeLines(head, form string, first int, ends [][2]int) []byte {
	var b strings.Builder
	b.WriteString(head)
	for _, e := range ends {
		fmt.Fprintf(&b, form, e[0]+first, e[1]+first)
	}
	return []byte(b.String())
}

// zipped is b as gzip.
func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		panic(err) // a buffer does not fail
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// twoRows is an array of shape (2, edges).
func twoRows(ends [][2]int) []byte {
	list := make([]int64, 2*len(ends))
	for i, e := range ends {
		list[i], list[len(ends)+i] = int64(e[0]), int64(e[1])
	}
	b, err := npy.AppendHeader(nil, "i8", []int{2, len(ends)})
	if err != nil {
		panic(err) // the shape is short
	}
	return append(b, graph.Bytes(list)...)
}

// text is a format of one file of lines.
func text(name, file, head, form string, first int, num bool) lister {
	return lister{name, func(w *sourceWriter, n int, ends [][2]int) string {
		b := edgeLines(strings.NewReplacer("{N}", fmt.Sprint(n), "{E}", fmt.Sprint(len(ends))).Replace(head), form, first, ends)
		if strings.HasSuffix(file, ".gz") {
			b = zipped(b)
		}
		w.file(file, b)
		return filepath.Join(w.dir, file)
	}, num}
}

var listers = []lister{
	text("csv", "e.csv", "src,dst\n", "%d,%d\n", 0, true),
	text("csv.gz", "e.csv.gz", "source,target\n", "%d,%d\n", 0, true),
	text("tsv", "e.tsv", "src\tdst\n", "%d\t%d\n", 0, true),
	text("jsonl", "e.jsonl", "", "{\"src\": %d, \"dst\": %d}\n", 0, true),
	text("SNAP", "e.txt", "# Nodes: {N} Edges: {E}\n# FromNodeId\tToNodeId\n", "%d\t%d\n", 0, true),
	text("Matrix Market", "e.mtx", "%%MatrixMarket matrix coordinate pattern general\n{N} {N} {E}\n", "%d %d\n", 1, false),
	text("KONECT", "out.e", "% asym unweighted\n% {E} {N} {N}\n", "%d %d\n", 1, false),
	{"npy", func(w *sourceWriter, _ int, ends [][2]int) string {
		w.file("e.npy", twoRows(ends))
		return filepath.Join(w.dir, "e.npy")
	}, true},
	{"npz", func(w *sourceWriter, n int, ends [][2]int) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		num, err := npy.AppendHeader(nil, "i8", nil)
		if err != nil {
			panic(err) // the shape is short
		}
		for name, data := range map[string][]byte{"edge_index.npy": twoRows(ends), "num_nodes.npy": append(num, graph.Bytes([]int64{int64(n)})...)} {
			f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = f.Write(data)
			}
			if err != nil {
				panic(err) // a buffer does not fail
			}
		}
		if err := z.Close(); err != nil {
			panic(err)
		}
		w.file("e.npz", b.Bytes())
		return filepath.Join(w.dir, "e.npz")
	}, false},
	{"OGB", func(w *sourceWriter, n int, ends [][2]int) string {
		w.file("edge.csv.gz", zipped(edgeLines("", "%d,%d\n", 0, ends)))
		w.file("num-node-list.csv.gz", zipped(fmt.Appendln(nil, n)))
		w.file("num-edge-list.csv.gz", zipped(fmt.Appendln(nil, len(ends))))
		return w.dir
	}, false},
	{"graph.yaml", func(w *sourceWriter, n int, ends [][2]int) string {
		w.file("e.npy", twoRows(ends))
		w.file("graph.yaml", fmt.Appendf(nil, "nodes: {_N: {count: %d}}\nedges: {\"_N:_E:_N\": {table: e.npy}}\n", n))
		return w.dir
	}, false},
}

// TestLists imports one list of edges from every format that holds one: the stores have the same bytes.
func TestLists(t *testing.T) {
	t.Parallel()
	check(t, "lists", func(c *chain) {
		n := rapid.IntRange(1, 20).Draw(c.t, "nodes")
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<32).Draw(c.t, "ends"), 10))
		var ends [][2]int
		for range rapid.IntRange(1, 40).Draw(c.t, "edges") {
			ends = append(ends, [2]int{r.IntN(n), r.IntN(n)})
		}
		o := option.Import{Primary: rapid.SampledFrom([]option.Direction{"in", "out"}).Draw(c.t, "primary"), Symmetrise: sometimes(c.t, 3, "symmetrise")}
		o.Both = rapid.Bool().Draw(c.t, "both")
		o.SelfLoops = rapid.SampledFrom([]option.Policy{"", "drop", "add"}).Draw(c.t, "self-loops")
		o.DuplicateEdges = rapid.SampledFrom([]option.Policy{"", "drop", "count"}).Draw(c.t, "duplicates")
		o.LargestComponent = sometimes(c.t, 4, "largest component")
		first := ""
		for i, k := range rapid.Permutation(indices(len(listers))).Draw(c.t, "formats")[:3] {
			l := listers[k]
			in := l.write(&sourceWriter{dir: filepath.Join(c.dir, fmt.Sprintf("in-%d", i))}, n, ends)
			o := o
			if l.num {
				o.NumNodes = uint64(n)
			}
			make := func(out string, run option.Run) *call {
				o := o
				o.Run = run
				return importing(in, out, o)
			}
			out := c.out("store")
			c.must("import of "+l.name, make(out, c.run()))
			c.again(out, make)
			c.verifies(out, "")
			if first == "" {
				first = out
				continue
			}
			c.equalOutputs("import of a list of edges: the same bytes from "+l.name+" as from others", first, out)
		}
		c.metis(first)
		c.goesBack(trips[rapid.IntRange(0, len(trips)-1).Draw(c.t, "trip")], first, o.Both)
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// metis is the law of export --to metis and back: the pairs of neighbours, each in both directions.
func (c *chain) metis(in string) {
	const law = "export --to metis, import: each pair of neighbours once in each direction"
	m := c.load(in)
	e := m.edges["_N:_E:_N"]
	file, back := filepath.Join(c.dir, "g.graph"), c.out("store")
	c.must(law, exporting(in, file, option.Export{Run: c.run(), To: option.FormatMETIS}))
	c.must(law, importing(file, back, option.Import{Build: option.Build{Run: c.run()}}))
	got := c.load(back)
	pairs := func(src, dst []uint64, both bool) (list [][2]uint64) {
		for i := range src {
			if src[i] != dst[i] {
				list = append(list, [2]uint64{src[i], dst[i]})
				if both {
					list = append(list, [2]uint64{dst[i], src[i]})
				}
			}
		}
		slices.SortFunc(list, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
		if both {
			list = slices.Compact(list)
		}
		return list
	}
	x, problem := got.edges["_N:_E:_N"], ""
	if found, want := pairs(x.src, x.dst, false), pairs(e.src, e.dst, true); !slices.Equal(found, want) || got.nodes["_N"].count != m.nodes["_N"].count {
		problem = fmt.Sprintf("found %d nodes and %v, expected %d and %v", got.nodes["_N"].count, found, m.nodes["_N"].count, want)
	}
	c.holds(law, problem)
}
