//go:build interop

package sample

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestPeerBidirectionalPyG compares the edges of bidirectional subgraphs with those that the real PyG makes of the drawn edges:
// of one edge type, and of several with their reverses. The graphs have no parallel edges, which PyG would join.
func TestPeerBidirectionalPyG(t *testing.T) {
	type ends map[string][][2]uint32
	var cases []map[string]ends
	r := rand.New(rand.NewPCG(1, 2))
	edgesOf := func(s *Sampler, sub *Subgraph) ends {
		out := ends{}
		for i, e := range s.g.Edges {
			list := [][2]uint32{}
			for k := range sub.Edges[i].Src {
				list = append(list, [2]uint32{sub.Edges[i].Src[k], sub.Edges[i].Dst[k]})
			}
			out[e.Type.String()] = list
		}
		return out
	}
	for i := range 300 {
		types := []string{"a:s:a"}
		if i%2 == 0 {
			types = []string{"a:r:b", "b:rev_r:a", "a:s:a", "b:t:b", "b:rev_t:b"}
		}
		g := &refGraph{Nodes: map[string]int{"a": 8, "b": 6}, Edges: map[string]map[string][]*float64{}}
		var last [][2]int
		for _, name := range types {
			et, _ := graph.ParseEdgeType(name)
			var list [][2]int
			if strings.HasPrefix(et.Rel, "rev_") { // of the type before
				for _, p := range last {
					list = append(list, [2]int{p[1], p[0]})
				}
			} else {
				for range 20 {
					if p := [2]int{r.IntN(g.Nodes[et.Src]), r.IntN(g.Nodes[et.Dst])}; !slices.Contains(list, p) {
						list = append(list, p)
					}
				}
			}
			last = list
			slices.SortStableFunc(list, func(a, b [2]int) int { return a[1] - b[1] })
			e := map[string][]*float64{"src": {}, "dst": {}}
			for _, p := range list {
				e["src"], e["dst"] = append(e["src"], number(float64(p[0]))), append(e["dst"], number(float64(p[1])))
			}
			g.Edges[name] = e
		}
		built := g.build(graph.In)
		plan, err := FromFanouts(built, Fanouts{Each: []int{[]int{1, 2, All}[r.IntN(3)], 2}}, FanoutOptions{SeedType: []string{"a"}, Scope: ScopeBatch})
		if err != nil {
			t.Fatal(err)
		}
		c := map[string]ends{}
		for name, kind := range map[string]SubgraphKind{"drawn": Directional, "bidirectional": Bidirectional} {
			p := *plan
			p.Kind = kind
			s, err := New(built, &p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			sub, err := s.NewContext().Sample(Input{Seeds: []uint32{0, 1, 2}, Unit: uint64(i)})
			if err != nil {
				t.Fatal(err)
			}
			c[name] = edgesOf(s, sub)
			s.Close()
		}
		cases = append(cases, c)
	}
	file := filepath.Join(t.TempDir(), "cases.json")
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	peer := exec.Command("../../bench/peers.sh", "pyg")
	peer.Stderr = os.Stderr
	python, err := peer.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh pyg: %v", err)
	}
	out, err := exec.Command(strings.TrimSpace(string(python)), "../../bench/peers/pyg_bidirectional.py", file).CombinedOutput()
	if err != nil {
		t.Fatalf("PyG: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
