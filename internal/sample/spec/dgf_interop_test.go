//go:build interop

package spec_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/spec"
)

// dgfEdges are the edges of an edge set, without parallel ones, which DGF joins in some plans.
type dgfEdges struct {
	Source string   `json:"source"`
	Target string   `json:"target"`
	Ends   [][2]int `json:"ends"`
	Times  []int64  `json:"times"`
}

type dgfCase struct {
	Nodes map[string]int      `json:"nodes"`
	Edges map[string]dgfEdges `json:"edges"`
}

func randomDGFCase(r *rand.Rand) dgfCase {
	c := dgfCase{map[string]int{"a": 1 + r.IntN(6), "b": 1 + r.IntN(6)}, map[string]dgfEdges{}}
	for name, e := range map[string]dgfEdges{"follows": {Source: "a", Target: "a"}, "buys": {Source: "a", Target: "b"}, "z": {Source: "b", Target: "b"}} {
		e.Ends, e.Times = [][2]int{}, []int64{}
		for range r.IntN(12) {
			if ends := [2]int{r.IntN(c.Nodes[e.Source]), r.IntN(c.Nodes[e.Target])}; !slices.Contains(e.Ends, ends) {
				e.Ends, e.Times = append(e.Ends, ends), append(e.Times, r.Int64N(10))
			}
		}
		c.Edges[name] = e
	}
	return c
}

// build makes the graph of a case, with the edges in the order of their sources.
func (c *dgfCase) build() *graph.Graph {
	g := &graph.Graph{}
	for name, n := range c.Nodes {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: name, Count: n})
	}
	for name, e := range c.Edges {
		x := &graph.Edges{Type: graph.EdgeType{Src: e.Source, Rel: name, Dst: e.Target}, Count: len(e.Ends), Primary: graph.Out}
		indptr, far := []uint32{0}, []uint32{}
		times := &graph.Column{Name: "time", DType: graph.Int64, Rows: len(e.Ends)}
		for src := range c.Nodes[e.Source] {
			for i, ends := range e.Ends {
				if ends[0] == src {
					far = append(far, uint32(ends[1]))
					times.Values = binary.LittleEndian.AppendUint64(times.Values, uint64(e.Times[i]))
				}
			}
			indptr = append(indptr, uint32(len(far)))
		}
		x.Adj[graph.Out] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
		x.Columns = []*graph.Column{times}
		g.Edges = append(g.Edges, x)
	}
	g.Sort()
	return g
}

type dgfSubgraph struct {
	Nodes map[string][]uint32    `json:"nodes"`
	Edges map[string][][2]uint32 `json:"edges"`
}

// Where nothing is random, a plan of DGF gives the subgraphs that DGF itself samples.
func TestPeerDGFPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var cases []dgfCase
	for range 40 {
		cases = append(cases, randomDGFCase(r))
	}
	file := filepath.Join(t.TempDir(), "cases.json")
	b, err := json.Marshal(cases)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	peer := exec.Command("../../../bench/peers.sh", "frames")
	peer.Stderr = os.Stderr
	python, err := peer.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh frames: %v", err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(strings.TrimSpace(string(python)), "-W", "ignore", "../../../bench/peers/dgf_sample.py", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("DGF: %v\n%s", err, stderr.Bytes())
	}
	var answers [][]struct {
		Plan      json.RawMessage
		Temporal  bool
		Subgraphs []dgfSubgraph
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	for i, plans := range answers {
		g := cases[i].build()
		for _, a := range plans {
			d, err := dgf.ParsePlan("plan.json", a.Plan)
			if err != nil {
				t.Fatal(err)
			}
			column := ""
			if a.Temporal {
				column = "time"
			}
			p, err := spec.CompileDGF(d, g, column)
			if err != nil {
				t.Fatalf("%s: %v", a.Plan, err)
			}
			s, err := sample.New(g, p, sample.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for seed, want := range a.Subgraphs {
				in := sample.Input{Seeds: []uint32{uint32(seed)}, Unit: uint64(seed)}
				if a.Temporal {
					in.Time = sample.IntTime(5)
				}
				sub, err := s.NewContext().Sample(in)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, subgraphOf(g, sub)); diff != "" {
					t.Fatalf("graph %d, seed %d of %s: %s", i, seed, a.Plan, diff)
				}
			}
			s.Close()
		}
	}
}

func subgraphOf(g *graph.Graph, sub *sample.Subgraph) dgfSubgraph {
	out := dgfSubgraph{map[string][]uint32{}, map[string][][2]uint32{}}
	for i, n := range g.Nodes {
		out.Nodes[n.Type] = append([]uint32{}, sub.Nodes[i]...)
		slices.Sort(out.Nodes[n.Type])
	}
	for i, e := range g.Edges {
		list := [][2]uint32{}
		src, dst := sub.Nodes[g.NodeType(e.Type.Src)], sub.Nodes[g.NodeType(e.Type.Dst)]
		for k := range sub.Edges[i].Src {
			list = append(list, [2]uint32{src[sub.Edges[i].Src[k]], dst[sub.Edges[i].Dst[k]]})
		}
		slices.SortFunc(list, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		out.Edges[e.Type.Rel] = slices.Compact(list)
	}
	return out
}
