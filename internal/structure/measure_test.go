package structure

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

func csr(n int, src, dst []uint32) *graph.Graph {
	indptr := make([]uint32, n+1)
	for _, v := range dst {
		indptr[v+1]++
	}
	for v := range n {
		indptr[v+1] += indptr[v]
	}
	next := slices.Clone(indptr)
	far := make([]uint32, len(src))
	for i, v := range dst {
		far[next[v]] = src[i]
		next[v]++
	}
	e := &graph.Edges{Type: graph.HomogeneousEdge, Count: len(src)}
	e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: "_N", Count: n}}, Edges: []*graph.Edges{e}}
}

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}
func rss() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Maxrss) / 1024
}

func num(name string, d int) int {
	if v := os.Getenv(name); v != "" {
		x, _ := strconv.Atoi(v)
		return x
	}
	return d
}

func TestMeasure(t *testing.T) {
	var g *graph.Graph
	if sc := num("SCALE", 0); sc > 0 {
		m, _ := draw.NewRMAT(1, sc)
		src, dst := make([]uint32, 16<<sc), make([]uint32, 16<<sc)
		m.Fill(src, dst, 0)
		g = csr(1<<sc, src, dst)
	} else {
		n, m := num("N", 5000), num("M", 25000)
		r := rand.New(rand.NewPCG(1, 1))
		var src, dst []uint32
		for range m {
			a, b := uint32(r.IntN(n)), uint32(r.IntN(n))
			src, dst = append(src, a, b), append(dst, b, a)
		}
		g = csr(n, src, dst)
	}
	s := Spec{Structure: os.Getenv("KIND"), Method: os.Getenv("METHOD"), Direction: os.Getenv("DIR"), Steps: num("STEPS", 0), Dims: num("DIMS", 0)}
	before := cpu()
	t.Logf("rss before %.0f MiB", rss())
	rows, r := column(t, g, "_N", s, Options{Threads: num("THREADS", 1), Memory: int64(num("MEM", 0)) << 20, Temp: t.TempDir()})
	t.Logf("%.2f CPU s, rss %.0f MiB; %v", cpu()-before, rss(), r)
	if c := num("CHECK", 0); c > 0 {
		// exact of some rows against the estimate
		check(t, g, s, rows, r, c)
	}
}

func check(t *testing.T, g *graph.Graph, s Spec, rows [][]float64, r *Result, c int) {
	node, types, _ := s.resolve(g, "_N")
	q, _ := newSquare(g, node, types, s, Options{Threads: 1})
	j := &job{square: q, spec: s}
	rr, err := j.newReturnRows(t.Context(), nil, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	x := newReturner(rr)
	rnd := rand.New(rand.NewPCG(7, 7))
	sq, mean := make([]float64, s.Steps), make([]float64, s.Steps)
	out := make([]float64, lanes*s.Steps)
	for range c / lanes {
		var nodes []uint32
		for range lanes {
			nodes = append(nodes, uint32(rnd.IntN(q.nodes)))
		}
		if err := x.block(t.Context(), nodes, s.Steps, out); err != nil {
			t.Fatal(err)
		}
		for i, v := range nodes {
			for k := range s.Steps {
				d := rows[v][k] - out[i*s.Steps+k]
				sq[k] += d * d
				mean[k] += out[i*s.Steps+k]
			}
		}
	}
	for k := range s.Steps {
		e := 0.0
		if r.Errors != nil {
			e = r.Errors[k]
		}
		t.Logf("step %2d: mean %.3g, rms error %.3g of %d nodes; reported %.3g", k+1, mean[k]/float64(c), math.Sqrt(sq[k]/float64(c)), c, e)
	}
}
