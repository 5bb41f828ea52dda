package sample

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
)

// A sampling case as the reference reads it, and its answer.

type refGraph struct {
	Nodes map[string]int                   `json:"nodes"`
	Edges map[string]map[string][]*float64 `json:"edges"`
	// Columns are columns of nodes. Primary is the direction by whose near ends the edges ascend.
	Columns map[string]map[string][]*float64 `json:"columns,omitempty"`
	Primary string                           `json:"primary,omitempty"`
}

type refCase struct {
	Name  string          `json:"name,omitempty"`
	Graph *refGraph       `json:"graph,omitempty"`
	Plan  json.RawMessage `json:"plan"`
	Seeds json.RawMessage `json:"seeds"`
	Seed  uint64          `json:"seed"`
	Epoch uint64          `json:"epoch"`
	Unit  uint64          `json:"unit"`
	Time  *float64        `json:"time,omitempty"`
	// Listed are the negatives of each link, where the plan says that they are listed.
	Listed [][][2]uint32 `json:"listed,omitempty"`

	Result *refResult `json:"result,omitempty"`

	// Fanouts is what Plan's "fanouts" says; Planned, that the plan was compared.
	Fanouts *refFanouts `json:"fanouts,omitempty"`
	Planned bool        `json:"-"`
}

type refFanouts struct {
	Each  []int
	Types []TypeFanouts
}

type refResult struct {
	Plan      json.RawMessage       `json:"plan,omitempty"`
	Nodes     map[string][]uint32   `json:"nodes"`
	SeedLocal json.RawMessage       `json:"seed_local"`
	Edges     map[string][][]uint32 `json:"edges"`
	Weights   map[string][]float32  `json:"weights,omitempty"`
	Ops       []refOp               `json:"ops"`
	Negatives *refNegatives         `json:"negatives,omitempty"`
}

type refNegatives struct {
	Nodes [][2]uint32 `json:"nodes"`
	Local [][2]uint32 `json:"local"`
	Edges int         `json:"edges"`
}

type refOp struct {
	Frontier []uint32   `json:"frontier"`
	Edges    [][]uint32 `json:"edges"`
}

// number is a value of a column in JSON.
func number(x float64) *float64 {
	if x != x {
		return nil
	}
	return &x
}

// build is the graph of a case with the given primary direction. The sampler builds the other one. The edge ids of a
// case ascend by the primary end.
func (r *refGraph) build(primary graph.Direction) *graph.Graph {
	g := &graph.Graph{}
	for t, n := range r.Nodes {
		nodes := &graph.Nodes{Type: t, Count: n}
		for c, x := range r.Columns[t] {
			nodes.Columns = append(nodes.Columns, testColumn(c, x))
		}
		g.Nodes = append(g.Nodes, nodes)
	}
	for name, columns := range r.Edges {
		et, err := graph.ParseEdgeType(name)
		if err != nil {
			panic(err)
		}
		near, far := columns["dst"], columns["src"]
		if primary == graph.Out {
			near, far = far, near
		}
		n := r.Nodes[et.Near(primary)]
		a := &graph.Adjacency{Indptr: graph.Index{U32: make([]uint32, n+1)}, Far: graph.Index{U32: make([]uint32, len(far))}}
		for i := range near {
			a.Indptr.U32[int(*near[i])+1]++
			a.Far.U32[i] = uint32(*far[i])
		}
		for i := range n {
			a.Indptr.U32[i+1] += a.Indptr.U32[i]
		}
		e := &graph.Edges{Type: et, Count: len(near), Primary: primary}
		e.Adj[primary] = a
		for c, x := range columns {
			if c == "src" || c == "dst" {
				continue
			}
			e.Columns = append(e.Columns, testColumn(c, x))
		}
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return g
}

// storeBoth adds the other direction to a graph, in 64 bits.
func storeBoth(t testing.TB, g *graph.Graph) {
	t.Helper()
	wide := func(x []uint32) graph.Index {
		out := make([]uint64, len(x))
		for i, v := range x {
			out[i] = uint64(v)
		}
		return graph.Index{U64: out}
	}
	for _, e := range g.Edges {
		count := func(d graph.Direction) int { return g.Nodes[g.NodeType(e.Type.Near(d))].Count }
		other := 1 - e.Primary
		a, err := readAdjacency(e, e.Adj[e.Primary], count(e.Primary), count(other), false)
		if err != nil {
			t.Fatal(err)
		}
		r := a.reverse(count(other))
		e.Adj[other] = &graph.Adjacency{Indptr: wide(narrow(r.indptr)), Far: wide(r.far), EdgeID: wide(narrow(r.eid))}
	}
}

// testColumn takes the dtype of a column from the first letter of its name: f and d are floats of 4 and 8 bytes, i and
// l are integers.
func testColumn(name string, x []*float64) *graph.Column {
	c := &graph.Column{Name: name, Rows: len(x)}
	for _, p := range x {
		v := math.NaN()
		if p != nil {
			v = *p
		}
		switch name[0] {
		case 'f':
			c.DType, c.Values = graph.Float32, binary.LittleEndian.AppendUint32(c.Values, math.Float32bits(float32(v)))
		case 'i':
			c.DType, c.Values = graph.Int32, binary.LittleEndian.AppendUint32(c.Values, uint32(int32(v)))
		case 'l':
			c.DType, c.Values = graph.Int64, binary.LittleEndian.AppendUint64(c.Values, uint64(int64(v)))
		default:
			c.DType, c.Values = graph.Float64, binary.LittleEndian.AppendUint64(c.Values, math.Float64bits(v))
		}
	}
	if len(x) == 0 {
		c.DType = graph.Float64
	}
	return c
}

// seedsOf flattens a case's seeds.
func (r *refCase) seeds(t testing.TB) []uint32 {
	t.Helper()
	var one []uint32
	if json.Unmarshal(r.Seeds, &one) == nil {
		return one
	}
	var pairs [][2]uint32
	if err := json.Unmarshal(r.Seeds, &pairs); err != nil {
		t.Fatal(err)
	}
	one = nil // clear the result of the first try
	for _, p := range pairs {
		one = append(one, p[0], p[1])
	}
	return one
}

func (r *refCase) input(t testing.TB) Input {
	in := Input{Seeds: r.seeds(t), Seed: r.Seed, Epoch: r.Epoch, Unit: r.Unit}
	for _, pairs := range r.Listed {
		for _, p := range pairs {
			in.Negatives.Nodes = append(in.Negatives.Nodes, p[0], p[1])
		}
		in.Negatives.Ends = append(in.Negatives.Ends, uint64(in.Negatives.Len()))
	}
	if r.Time != nil {
		in.Time = FloatTime(*r.Time)
		if math.Floor(*r.Time) == *r.Time {
			in.Time = IntTime(int64(*r.Time))
		}
	}
	return in
}

// answer is a subgraph in the form of the reference.
func answer(s *Sampler, sub *Subgraph) refResult {
	r := refResult{Nodes: map[string][]uint32{}, Edges: map[string][][]uint32{}}
	for i, n := range s.g.Nodes {
		r.Nodes[n.Type] = slices.Clone(sub.Nodes[i])
	}
	triples := func(e SubEdges) [][]uint32 {
		out := [][]uint32{}
		for i, id := range narrow(e.ID) {
			out = append(out, []uint32{id, e.Src[i], e.Dst[i]})
		}
		return out
	}
	for i, e := range s.g.Edges {
		r.Edges[e.Type.String()] = triples(sub.Edges[i])
		if s.opt.Weights {
			if r.Weights == nil {
				r.Weights = map[string][]float32{}
			}
			r.Weights[e.Type.String()] = append([]float32{}, sub.Edges[i].Weight...)
		}
	}
	for _, o := range sub.Ops {
		r.Ops = append(r.Ops, refOp{slices.Clone(o.Frontier), triples(o.SubEdges)})
	}
	if s.SeedWidth() == 2 {
		pairs := func(list []uint32) [][2]uint32 {
			out := [][2]uint32{}
			for i := 0; i < len(list); i += 2 {
				out = append(out, [2]uint32{list[i], list[i+1]})
			}
			return out
		}
		r.SeedLocal, _ = json.Marshal(pairs(sub.SeedLocal))
		if n := sub.Negatives; s.plan.Negatives != nil {
			r.Negatives = &refNegatives{pairs(n.Nodes), pairs(n.Local), n.Edges}
		}
	} else {
		r.SeedLocal, _ = json.Marshal(sub.SeedLocal)
	}
	return r
}

// sameAnswer is the difference of two answers, "" if there is none. Nil and empty lists are the same.
func sameAnswer(got, want refResult) string {
	canonical := func(r refResult) refResult {
		r.Plan = nil
		var x any
		if json.Unmarshal(r.SeedLocal, &x) == nil {
			r.SeedLocal, _ = json.Marshal(x)
		}
		for k, v := range r.Nodes {
			if v == nil {
				r.Nodes[k] = []uint32{}
			}
		}
		for i := range r.Ops {
			if r.Ops[i].Frontier == nil {
				r.Ops[i].Frontier = []uint32{}
			}
		}
		if r.Ops == nil {
			r.Ops = []refOp{}
		}
		return r
	}
	w, g := canonical(want), canonical(got)
	if reflect.DeepEqual(w, g) {
		return ""
	}
	return cmp.Diff(w, g)
}

// checkCase compares the sampler with the answer of a case, in both primary directions that the order of its edges
// allows, and twice with one context.
func checkCase(t *testing.T, r *refCase, g *refGraph, kind relabelKind) {
	t.Helper()
	plan, err := ParsePlan(r.Name, r.Plan)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	for _, primary := range []graph.Direction{graph.In, graph.Out} {
		if !g.ascends(primary) || plan.Kind == Induced && primary.String() != g.Primary {
			continue
		}
		built := g.build(primary)
		if kind == relabelWide {
			storeBoth(t, built)
		}
		opt := Options{Ops: true, Weights: plan.Weighs()}
		if kind == relabelWide && r.Epoch == 0 { // copies of large arrays
			defer func(n int) { hugeWords = n }(hugeWords)
			hugeWords, opt.Memory = 1, 1<<30
		}
		s, err := New(restricted(t, built, plan), plan, opt)
		if err != nil {
			t.Fatalf("%s: %v\n%s", r.Name, err, r.Plan)
		}
		s.relabel, s.noWaves = kind, kind == relabelDirect || kind == relabelNarrow
		c := s.NewContext()
		for range 2 {
			sub, err := c.Sample(r.input(t))
			if err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			if diff := sameAnswer(answer(s, sub), *r.Result); diff != "" {
				t.Fatalf("%s, primary %s, relabel %d: reference against sampler:\n%s\nplan %s\nseeds %s", r.Name, primary, kind, diff, r.Plan, r.Seeds)
			}
			checkCounts(t, s, sub)
		}
		checkRanges(t, r, s)
		s.Close()
	}
}

// restricted is Restrict with lists in memory.
func restricted(t testing.TB, g *graph.Graph, p *Plan) *graph.Graph {
	t.Helper()
	if err := p.Validate(g); err != nil {
		return g // New says so
	}
	create := func(_ graph.EdgeType, _ string, n int, limit uint64) (List, error) {
		return &heapList{want: n, narrow: Narrow(limit)}, nil
	}
	out, err := Restrict(t.Context(), g, p, Lists{Create: create})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// heapList is a List in memory.
type heapList struct {
	graph.Index
	want   int
	narrow bool
}

func (l *heapList) Append(values []uint64) error {
	if l.narrow {
		for _, x := range values {
			l.U32 = append(l.U32, uint32(x))
		}
		return nil
	}
	l.U64 = append(l.U64, values...)
	return nil
}

func (l *heapList) Close() (graph.Index, error) {
	if l.Len() != l.want {
		return l.Index, fmt.Errorf("found %d values, expected %d", l.Len(), l.want)
	}
	return l.Index, nil
}

// checkCounts checks the counts by hop, which the reference does not have, against the edges of each op and the hops of
// the plan.
func checkCounts(t *testing.T, s *Sampler, sub *Subgraph) {
	t.Helper()
	g, plan := s.Graph(), s.Plan()
	opHops := plan.OpHops()
	hops := max(plan.Hops, slices.Max(opHops))
	nodes, edges := make([][]uint32, len(g.Nodes)), make([][]uint32, len(g.Edges))
	found, kept := make([]uint32, len(g.Nodes)), make([]map[uint64]bool, len(g.Edges))
	for i := range nodes {
		nodes[i] = make([]uint32, hops+1)
		if slices.Contains(plan.SeedType, g.Nodes[i].Type) {
			found[i] = sub.NodesByHop[i][0]
			nodes[i][0] = found[i]
		}
	}
	for i := range edges {
		edges[i], kept[i] = make([]uint32, hops), map[uint64]bool{}
	}
	drawn := 0
	if slices.ContainsFunc(plan.Ops, func(o Op) bool { return o.How.Reaches() }) { // nodes are reached without edges
		for i, byHop := range sub.NodesByHop {
			sum := uint32(0)
			for _, n := range byHop {
				sum += n
			}
			if int(sum) != len(sub.Nodes[i]) {
				t.Fatalf("found nodes by hop %v of %d", byHop, len(sub.Nodes[i]))
			}
		}
		return
	}
	for k, o := range sub.Ops {
		op, hop := plan.Ops[k], opHops[k+1]
		e := slices.IndexFunc(g.Edges, func(e *graph.Edges) bool { return e.Type.String() == op.Edges })
		far, ends := g.NodeType(g.Edges[e].Type.Far(op.Dir)), o.Src
		if op.Dir == graph.Out {
			ends = o.Dst
		}
		for i, id := range narrow(o.ID) {
			if n := ends[i] + 1; n > found[far] {
				nodes[far][hop] += n - found[far]
				found[far] = n
			}
			if op.How == Replace || !kept[e][uint64(id)] {
				kept[e][uint64(id)] = true
				edges[e][hop-1]++
			}
		}
		drawn += o.ID.Len()
	}
	for i := range nodes {
		if !slices.Equal(sub.NodesByHop[i], nodes[i]) || int(found[i]) != len(sub.Nodes[i]) {
			t.Fatalf("found nodes by hop %v of %d, expected %v of %d", sub.NodesByHop[i], len(sub.Nodes[i]), nodes[i], found[i])
		}
	}
	for i := range edges {
		if !slices.Equal(sub.EdgesByHop[i], edges[i]) {
			t.Fatalf("found edges by hop %v, expected %v", sub.EdgesByHop[i], edges[i])
		}
	}
	if drawn != int(sub.Drawn) {
		t.Fatalf("found %d drawn edges, expected %d", sub.Drawn, drawn)
	}
}

// ascends says whether the edges have the order of a store with this primary direction.
func (r *refGraph) ascends(primary graph.Direction) bool {
	end := "dst"
	if primary == graph.Out {
		end = "src"
	}
	for _, e := range r.Edges {
		if !sort.SliceIsSorted(e[end], func(i, j int) bool { return *e[end][i] < *e[end][j] }) {
			return false
		}
	}
	return true
}

// randomCase draws a graph, a plan and seeds from everything that the draw law covers.
func randomCase(r *rand.Rand, name string) *refCase {
	c := &refCase{Name: name, Seed: r.Uint64(), Epoch: r.Uint64N(5), Unit: r.Uint64N(1000)}
	primary := []string{"dst", "src"}[r.IntN(2)]
	big := r.IntN(40) == 0
	c.Graph = randomGraph(r, primary, big)
	types := make([]string, 0, len(c.Graph.Nodes))
	for t := range c.Graph.Nodes {
		types = append(types, t)
	}
	slices.Sort(types)
	plan, link := randomPlan(r, c.Graph, types)
	c.Plan = plan.json()
	if plan.before != nil {
		at := float64(r.IntN(12)-1) + []float64{0, 0, 0.5}[r.IntN(3)]
		c.Time = &at
	}
	n := 1 + r.IntN(6)
	if big {
		n = 100 + r.IntN(300)
	}
	if plan.scope == ScopeSeed {
		n = 1
	}
	pick := func(t string) int { return r.IntN(c.Graph.Nodes[t]) }
	if link {
		if plan.scope != ScopeSeed {
			n++ // in-batch needs another link
		}
		pairs := make([][2]int, n)
		for i := range pairs {
			pairs[i] = [2]int{pick(plan.seedType[0]), pick(plan.seedType[1])}
			if name, known := plan.more["seed_edges"].(string); known && r.IntN(4) > 0 {
				if e := c.Graph.Edges[name]; len(e["src"]) > 0 {
					k := r.IntN(len(e["src"]))
					pairs[i] = [2]int{int(*e["src"][k]), int(*e["dst"][k])}
				}
			}
		}
		c.Seeds, _ = json.Marshal(pairs)
		if n, _ := plan.more["negatives"].(map[string]any); n["how"] == "listed" {
			c.Listed = make([][][2]uint32, len(pairs))
			for i := range c.Listed {
				c.Listed[i] = [][2]uint32{}
				for range r.IntN(n["each"].(int) + 1) {
					c.Listed[i] = append(c.Listed[i], [2]uint32{uint32(pick(plan.seedType[0])), uint32(pick(plan.seedType[1]))})
				}
			}
		}
	} else {
		ids := make([]int, n)
		for i := range ids {
			ids[i] = pick(plan.seedType[0])
		}
		c.Seeds, _ = json.Marshal(ids)
	}
	return c
}

func randomGraph(r *rand.Rand, primary string, big bool) *refGraph {
	g := &refGraph{Nodes: map[string]int{}, Edges: map[string]map[string][]*float64{}}
	types := []string{"b", "a", "é", "C"}[:1+r.IntN(4)]
	for _, t := range types {
		g.Nodes[t] = 1 + r.IntN(12)
		if big {
			g.Nodes[t] = 200 + r.IntN(400)
		}
	}
	ascending := r.IntN(2) == 0
	for i := range 1 + r.IntN(5) {
		et := fmt.Sprintf("%s:r%d:%s", types[r.IntN(len(types))], i, types[r.IntN(len(types))])
		if i > 0 && r.IntN(3) == 0 { // the reverse of an earlier type
			names := slices.Sorted(maps.Keys(g.Edges))
			of, _ := graph.ParseEdgeType(names[r.IntN(len(names))])
			et = fmt.Sprintf("%s:rev_%s:%s", of.Dst, of.Rel, of.Src)
		}
		p, _ := graph.ParseEdgeType(et)
		n := r.IntN(60)
		if big {
			n = 300 + r.IntN(500)
		}
		type edge struct{ src, dst, time float64 }
		hub := r.IntN(4) == 0
		if big && i == 0 {
			hub = true
			n += floydTable + r.IntN(1000)
		}
		list := make([]edge, n)
		for j := range list {
			list[j] = edge{float64(r.IntN(g.Nodes[p.Src])), float64(r.IntN(g.Nodes[p.Dst])), float64(r.IntN(10))}
			if hub && r.IntN(20) > 0 {
				list[j].dst = 0
			}
		}
		sort.SliceStable(list, func(a, b int) bool {
			x, y := list[a].dst, list[b].dst
			if primary == "src" {
				x, y = list[a].src, list[b].src
			}
			if x == y && ascending {
				return list[a].time < list[b].time
			}
			return x < y
		})
		e := map[string][]*float64{"src": {}, "dst": {}}
		add := func(name string, x float64) { e[name] = append(e[name], number(x)) }
		timeless := r.IntN(5) == 0
		heavy := r.IntN(2) == 0
		for _, x := range list {
			add("src", x.src)
			add("dst", x.dst)
			if !timeless {
				add("i_time", x.time)
				t := x.time
				if r.IntN(20) == 0 && !ascending {
					t = math.NaN()
				}
				add("f_time", t)
			}
			w := math.Round(r.ExpFloat64()*64+1) / 64
			if heavy && r.IntN(8) == 0 {
				w *= 1e9
			}
			add("f_weight", []float64{w, w, w, w, 0, -1, math.NaN(), 2}[r.IntN(8)])
			add("d_weight", float64(r.IntN(1000)+1)/10)
			add("l_rank", float64(r.IntN(6)-3))
		}
		if n == 0 {
			for _, name := range []string{"i_time", "f_time", "f_weight", "d_weight", "l_rank"} {
				e[name] = []*float64{}
			}
		}
		g.Edges[et] = e
	}
	g.Primary = map[string]string{"dst": "in", "src": "out"}[primary]
	g.Columns = map[string]map[string][]*float64{}
	for _, t := range types {
		c := map[string][]*float64{}
		some := r.IntN(g.Nodes[t])
		for v := range g.Nodes[t] {
			time := float64(r.IntN(10))
			c["i_time"], c["f_time"] = append(c["i_time"], number(time)), append(c["f_time"], number([]float64{time, time, time, math.NaN()}[r.IntN(4)]))
			w := float64(r.IntN(64)+1) / 8
			c["d_weight"] = append(c["d_weight"], number(w))
			if v != some {
				w = []float64{w, w, w, 0, -1, math.NaN()}[r.IntN(6)]
			}
			c["f_weight"] = append(c["f_weight"], number(w))
		}
		g.Columns[t] = c
	}
	return g
}

// testPlan is a plan in JSON text, so that the reader is tested, too.
type testPlan struct {
	seedType []string
	scope    Scope
	expand   Expand
	ops      []map[string]any
	before   map[string]any
	more     map[string]any // what it says about links, and the kind of subgraphs
}

func (p *testPlan) json() json.RawMessage {
	m := map[string]any{"seed_type": p.seedType[0], "scope": p.scope.String(), "expand": p.expand.String(), "ops": p.ops}
	if len(p.seedType) == 2 {
		m["seed_type"] = p.seedType
	}
	if p.before != nil {
		m["before"] = p.before
	}
	for field, x := range p.more {
		m[field] = x
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// links adds what a plan with link seeds may say about them.
func (p *testPlan) links(r *rand.Rand, g *refGraph, names []string) {
	known := r.IntN(4) > 0
	if known {
		name := names[r.IntN(len(names))]
		et, _ := graph.ParseEdgeType(name)
		p.seedType = []string{et.Src, et.Dst}
		p.more["seed_edges"] = name
		if r.IntN(2) == 0 {
			exclude := map[string]any{}
			for _, other := range names {
				if o, _ := graph.ParseEdgeType(other); o.Src == et.Dst && o.Dst == et.Src && r.IntN(2) == 0 {
					exclude["reverse"] = other
				}
			}
			p.more["exclude"] = exclude
		}
	}
	if r.IntN(4) == 0 {
		return
	}
	n := map[string]any{"how": corruptionNames[r.IntN(len(corruptionNames))], "each": 1 + r.IntN(4)}
	if n["each"] == 4 && n["how"] != "listed" {
		n["each"] = map[Scope]float64{ScopeEpoch: 0.5, ScopeBatch: 1.75, ScopeSeed: 2.25}[p.scope]
	}
	if n["how"] == "in-batch" && p.scope == ScopeSeed {
		n["how"] = "triplet"
	}
	if n["how"] == "listed" { // nothing is drawn
		p.more["negatives"] = n
		return
	}
	if n["how"] != "in-batch" {
		switch by := r.IntN(4); {
		case by == 0 && known && len(g.Edges[p.more["seed_edges"].(string)]["src"]) > 0:
			n["by"] = "degree"
		case by == 1:
			n["by"], n["column"] = "column", []string{"d_weight", "f_weight"}[r.IntN(2)]
		}
	}
	if known && r.IntN(2) == 0 {
		n["strict"] = "count"
	}
	if p.scope == ScopeSeed && r.IntN(2) == 0 { // for a plan with before
		times := map[string]string{}
		for _, t := range p.seedType {
			if r.IntN(3) > 0 {
				times[t] = []string{"i_time", "f_time"}[r.IntN(2)]
			}
		}
		n["times"] = times
	}
	p.more["negatives"] = n
}

// timed says whether the edges of a type have times in a plan with before.
func (p *testPlan) timed(g *refGraph, edges string) bool {
	columns, _ := p.before["columns"].(map[string]string)
	name := columns[edges]
	if name == "" {
		name, _ = p.before["column"].(string)
	}
	return name != "" && g.Edges[edges][name] != nil && !slices.Contains(p.before["untimed"].([]string), edges)
}

// times adds times of single types and a window to a plan's before.
func (p *testPlan) times(r *rand.Rand, g *refGraph, names, types []string) {
	columns, nodes := map[string]string{}, map[string]string{}
	untimed := p.before["untimed"].([]string)
	for _, e := range names {
		if g.Edges[e]["i_time"] != nil && !slices.Contains(untimed, e) && r.IntN(5) == 0 {
			columns[e] = []string{"i_time", "f_time"}[r.IntN(2)]
		}
	}
	for _, t := range types {
		if r.IntN(6) == 0 {
			nodes[t] = []string{"i_time", "f_time"}[r.IntN(2)]
		}
	}
	if len(columns) > 0 {
		p.before["columns"] = columns
	}
	if len(nodes) > 0 {
		p.before["node_columns"] = nodes
	}
	if len(columns)+len(nodes) > 0 && r.IntN(3) == 0 {
		delete(p.before, "column")
	}
	if r.IntN(3) == 0 {
		p.before["window"] = 1 + r.IntN(8)
		whole := p.before["column"] == "i_time"
		for _, named := range []map[string]string{columns, nodes} {
			for _, c := range named {
				whole = whole || c == "i_time"
			}
		}
		if !whole && r.IntN(2) == 0 {
			p.before["window"] = 2.25
		}
	}
}

func randomPlan(r *rand.Rand, g *refGraph, types []string) (p *testPlan, link bool) {
	p = &testPlan{scope: Scope(r.IntN(3)), expand: Expand(r.IntN(2)), ops: []map[string]any{}}
	names := make([]string, 0, len(g.Edges))
	for e := range g.Edges {
		names = append(names, e)
	}
	slices.Sort(names)
	p.more = map[string]any{}
	link = r.IntN(3) == 0
	p.seedType = []string{types[r.IntN(len(types))]}
	if link {
		p.seedType = append(p.seedType, types[r.IntN(len(types))])
		p.links(r, g, names)
	}
	weighs := r.IntN(6) == 0
	if kind := r.IntN(6); kind < len(kindNames) && !weighs {
		p.more["subgraph"] = kindNames[kind]
	}
	if p.scope == ScopeSeed && r.IntN(2) == 0 {
		untimed := []string{}
		for _, e := range names {
			if g.Edges[e]["i_time"] == nil || r.IntN(4) == 0 {
				untimed = append(untimed, e)
			}
		}
		p.before = map[string]any{"column": []string{"i_time", "f_time"}[r.IntN(2)], "or_equal": r.IntN(2) == 0, "untimed": untimed}
		p.times(r, g, names, types)
	}
	if n, _ := p.more["negatives"].(map[string]any); n != nil && p.before == nil {
		delete(n, "times")
	} else if n["strict"] == "count" && r.IntN(2) == 0 && p.timed(g, p.more["seed_edges"].(string)) {
		n["linked"] = "before"
	}
	reach, takes := [][]string{p.seedType}, map[string]any{}
	for range r.IntN(9) {
		name := names[r.IntN(len(names))]
		et, _ := graph.ParseEdgeType(name)
		dir := graph.Direction(r.IntN(2))
		from := []int{}
		for f, ts := range reach {
			if slices.Contains(ts, et.Near(dir)) && r.IntN(3) > 0 {
				from = append(from, f)
			}
		}
		if len(from) == 0 {
			continue
		}
		r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		if r.IntN(10) == 0 {
			from = append(from, from[0])
		}
		how := How(r.IntN(len(howNames)))
		if weighs {
			how = []How{Labor, Ladies, FastGCN}[r.IntN(3)]
		}
		op := map[string]any{"from": from, "edges": name, "dir": dir.String(), "take": r.IntN(8) - 1, "how": how.String()}
		if r.IntN(6) == 0 {
			op["take"] = 20 + r.IntN(40)
		}
		switch how {
		case Uniform:
			if r.IntN(2) == 0 {
				delete(op, "how")
			}
		case Weighted:
			op["column"] = []string{"f_weight", "d_weight", "l_rank"}[r.IntN(3)]
		case Top:
			op["column"] = []string{"f_weight", "d_weight", "l_rank"}[r.IntN(3)]
		case Recent:
			op["column"] = []string{"f_weight", "d_weight", "l_rank", "i_time", "f_time"}[r.IntN(5)]
			if g.Edges[name]["i_time"] == nil {
				op["column"] = "l_rank"
			}
			op["half_life"] = []float64{0.001, 0.5, 3, 1000, 1e30}[r.IntN(5)]
		case Labor:
			if r.IntN(2) == 0 {
				op["column"] = []string{"f_weight", "d_weight", "l_rank"}[r.IntN(3)]
			}
			if weighs {
				delete(op, "column")
			}
			if op["column"] == nil && (r.IntN(2) == 0 || weighs) {
				op["importance"] = 1 + r.IntN(3)
			}
		case Walk:
			op["walks"], op["length"], op["restart"] = 1+r.IntN(6), 1+r.IntN(5), []float64{0, 0.1, 0.7}[r.IntN(3)]
			if et.Src != et.Dst || p.before != nil || p.more["exclude"] != nil {
				op = map[string]any{"from": from, "edges": name, "dir": dir.String(), "take": op["take"]}
			}
		case PPR:
			op["alpha"], op["eps"] = []float64{0.05, 0.15, 0.5, 0.85}[r.IntN(4)], []float64{0.3, 0.01, 0.0001}[r.IntN(3)]
			if et.Src != et.Dst || p.before != nil || p.more["exclude"] != nil {
				op["how"] = "uniform"
				delete(op, "alpha")
				delete(op, "eps")
			}
		case Ladies, FastGCN, HGT:
			op["take"] = min(op["take"].(int), g.Nodes[et.Far(dir)])
			if at := how.String() + et.Far(dir); takes[at] == nil {
				takes[at] = op["take"]
			} else {
				op["take"] = takes[at] // the ops of a hop share a budget
			}
		}
		p.ops = append(p.ops, op)
		reach = append(reach, []string{et.Far(dir)})
	}
	if r.IntN(3) == 0 {
		p.messages(r, g, names)
	}
	return p, link
}

// messages restricts some edge types, mostly to a part of their edges.
func (p *testPlan) messages(r *rand.Rand, g *refGraph, names []string) {
	messages := map[string]any{}
	negatives, _ := p.more["negatives"].(map[string]any)
	for _, e := range names {
		if r.IntN(2) == 0 {
			var values []string
			passes := false
			for _, x := range r.Perm(7)[:1+r.IntN(6)] {
				values = append(values, strconv.Itoa(x-3)) // 3 is the rank of no edge
				passes = passes || slices.ContainsFunc(g.Edges[e]["l_rank"], func(rank *float64) bool { return *rank == float64(x-3) })
			}
			if negatives["by"] == "degree" && !passes {
				continue // no node would have a weight
			}
			messages[e] = map[string]any{"column": "l_rank", "values": values}
		}
	}
	if len(messages) > 0 {
		p.more["messages"] = messages
	}
}
