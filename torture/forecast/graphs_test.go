package forecast_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// bench has the program and the graphs of the grid, each made once.
type bench struct {
	program, dir string
}

func newBench(t *testing.T) *bench {
	return &bench{command.Build(t, "graphmill"), t.TempDir()}
}

// run runs the program, which must succeed.
func (b *bench) run(t *testing.T, args ...string) command.Result {
	t.Helper()
	r := b.try(t, args...)
	if r.Status != 0 {
		t.Fatal(r)
	}
	return r
}

func (b *bench) try(t *testing.T, args ...string) command.Result {
	t.Helper()
	return command.Call{Program: b.program, Args: args, Dir: b.dir, Limit: limit}.Run(t)
}

// store is the path of a graph of the grid: rmatN (R-MAT of scale N), or one of wide, typed and skewed.
func (b *bench) store(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(b.dir, name+".store")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if scale, is := strings.CutPrefix(name, "rmat"); is {
		b.run(t, "generate", "rmat", "--scale", scale, "--edge-factor", "16", "--both", "--memory", "1GiB", "--out", path)
		return path
	}
	folder := filepath.Join(b.dir, name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	tables[name](t, folder)
	b.run(t, "import", filepath.Join(folder, "graph.yaml"), "--both", "--out", path)
	return path
}

// edges is the path of a CSV file of a million edges, whose ids are strings.
func (b *bench) edges(t *testing.T) string {
	t.Helper()
	path := filepath.Join(b.dir, "edges.csv")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	_, _ = w.WriteString("src,dst,weight\n")
	r := rand.New(rand.NewPCG(4, 1))
	src, dst := skewed(r, 100_000), even(r, 100_000)
	for range 1_000_000 {
		_, _ = fmt.Fprintf(w, "user-%d,item-%d,%.3f\n", src(), dst(), r.Float64())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// egonets is the path of a collection of 20,000 small subgraphs of the graph typed.
func (b *bench) egonets(t *testing.T) string {
	t.Helper()
	path := filepath.Join(b.dir, "egonets")
	if _, err := os.Stat(path); err != nil {
		b.run(t, "sample", b.store(t, "typed"), "--fanout", "5,5", "--scope", "seed", "--batch-size", "1", "--seeds", "paper", "--limit-seeds", "20000", "--out", path)
	}
	return path
}

// tables write the graphs that are not R-MAT.
var tables = map[string]func(t *testing.T, folder string){
	// Wide features, weights and times.
	"wide": func(t *testing.T, folder string) {
		const nodes, edges = 30_000, 450_000
		text(t, folder, "nodes:\n  a: {columns: {x: x.npy}}\nedges:\n  a:r:a: {table: e.npy, columns: {w: w.npy, t: t.npy}}\n")
		r := rand.New(rand.NewPCG(1, 1))
		array(t, folder, "x", "<f4", []int{nodes, 128}, func() uint64 { return uint64(math.Float32bits(r.Float32())) })
		ends(t, folder, "e", edges, skewed(r, nodes), even(r, nodes))
		array(t, folder, "w", "<f4", []int{edges}, func() uint64 { return uint64(math.Float32bits(r.Float32())) })
		array(t, folder, "t", "<i8", []int{edges}, func() uint64 { return r.Uint64N(1 << 20) })
	},
	// Three node types, five edge types.
	"typed": func(t *testing.T, folder string) {
		const papers, authors, venues = 60_000, 40_000, 300
		text(t, folder, `nodes:
  paper: {columns: {x: px.npy, year: year.npy}}
  author: {columns: {y: y.npy}}
  venue: {count: 300}
edges:
  paper:cites:paper: {table: c.npy}
  author:writes:paper: {table: w.npy, reverse: written}
  paper:in:venue: {table: v.npy, reverse: has}
`)
		r := rand.New(rand.NewPCG(2, 1))
		float := func() uint64 { return uint64(math.Float32bits(r.Float32())) }
		array(t, folder, "px", "<f4", []int{papers, 32}, float)
		array(t, folder, "year", "<i8", []int{papers}, func() uint64 { return r.Uint64N(100) })
		array(t, folder, "y", "<f4", []int{authors, 16}, float)
		ends(t, folder, "c", 500_000, even(r, papers), skewed(r, papers))
		ends(t, folder, "w", 250_000, skewed(r, authors), even(r, papers))
		ends(t, folder, "v", papers, even(r, papers), even(r, venues))
	},
	// Half of the edges lead to a hundredth of the nodes.
	"skewed": func(t *testing.T, folder string) {
		const nodes, edges = 400_000, 2_400_000
		text(t, folder, "nodes:\n  a: {columns: {x: x.npy}}\nedges:\n  a:r:a: {table: e.npy}\n")
		r := rand.New(rand.NewPCG(3, 1))
		array(t, folder, "x", "<f4", []int{nodes, 8}, func() uint64 { return uint64(math.Float32bits(r.Float32())) })
		ends(t, folder, "e", edges, even(r, nodes), func() uint64 {
			if r.Uint32()&1 == 0 {
				return r.Uint64N(nodes / 100)
			}
			return r.Uint64N(nodes)
		})
	},
}

func even(r *rand.Rand, n uint64) func() uint64 { return func() uint64 { return r.Uint64N(n) } }

func skewed(r *rand.Rand, n float64) func() uint64 {
	return func() uint64 { return uint64(n * math.Pow(r.Float64(), 3)) }
}

func text(t *testing.T, folder, yaml string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "graph.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ends writes an array of shape (2, edges).
func ends(t *testing.T, folder, name string, edges int, src, dst func() uint64) {
	t.Helper()
	i := 0
	array(t, folder, name, "<i8", []int{2, edges}, func() uint64 {
		i++
		if i <= edges {
			return src()
		}
		return dst()
	})
}

// array writes an .npy file of words of 4 or 8 bytes, a value at a time: the peak of a child is at least the peak of this process when it
// starts the child.
func array(t *testing.T, folder, name, dtype string, shape []int, next func() uint64) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, name+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	dims, count := "", 1
	for _, n := range shape {
		dims, count = dims+strconv.Itoa(n)+",", count*n
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, dims)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	_, _ = w.WriteString("\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header)
	var b [8]byte
	for range count {
		binary.LittleEndian.PutUint64(b[:], next())
		_, _ = w.Write(b[:dtype[2]-'0'])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
