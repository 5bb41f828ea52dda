package sample

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Options says how a plan is compiled, and what its subgraphs have.
type Options struct {
	// Memory bounds the bytes of copies that only serve speed (large adjacencies in huge pages); 0 makes none. Arrays
	// that the plan needs (a missing direction, prefix sums of weights) are built in any case and do not count.
	Memory int64
	// Ops keeps, for each op, its frontier and every edge it drew (Subgraph.Ops).
	Ops bool
	// NoEdgeIDs leaves the ids of edges out of subgraphs. With Fetch, edges are then not drawn again.
	NoEdgeIDs bool
	// Weights adds the weights of edges (SubEdges.Weight). New refuses it where Plan.Weighs is false.
	Weights bool
	// Fetch leaves neighbours and edge ids on the disk. New does not read them, and the caller gives a context the neighbours and ids of
	// the edges that it takes (Context.SampleFrom). Offsets and columns are read. New refuses a direction that is not
	// stored, and what needs other neighbours than those: Induced, Exclude, times of nodes and strict negatives (ErrFetch).
	Fetch bool
	// Given leaves the whole graph where it is: New reads only the numbers of nodes, and the caller gives a context the
	// edges that each op takes (Context.SampleGiven). Contexts do not sample what Fetch refuses, nor negatives by weights;
	// the caller only encodes.
	Given bool
	// Small says that subgraphs are those of a few seeds: contexts then hold no arrays over all nodes.
	Small bool
	// After is a sampler of the version of the graph before this one, which shares the rows of edges with it (graph.Adjacency.Ends); nil: there is none. What was found about lists
	// that are unchanged is not looked for again. It is not used after New.
	After *Sampler
	// Shared is what samplers of the same graph have in common, which then copy nothing into huge pages; nil, or of another graph: nothing.
	Shared *Shared
	// Touched, if set, is called with the number of bytes of the graph's arrays that were read and copied, so that the
	// memory of mapped files can be given back (store.Store.Touched).
	Touched func(bytes int64) error
	// Warn receives messages for the user; nil drops them.
	Warn func(string)
}

// hugeWords is the length from which a copy into huge pages pays: 32 MiB is more than the TLB covers with small pages.
// Tests lower it.
var hugeWords = 8 << 20

// Sampler is a plan compiled against a graph. It is immutable and safe for concurrent use. Each goroutine samples
// through its own Context.
type Sampler struct {
	g    *graph.Graph
	plan *Plan
	opt  Options

	seedTypes []int
	ops       []op // ops[i] is op i+1
	hops      int
	opHop     []int
	adj       [][2]*adjacency
	free      []func()
	waves     []wave
	induced   []induced  // of a plan with Induced
	reversed  []reversed // of a plan with Bidirectional
	negatives *negatives
	sorted    map[*adjacency]bool // far ends ascend within each node

	cannotGive error // Plan.CanGive, with Options.Given

	// Tests set these to compare the ways that give the same results.
	relabel relabelKind
	noWaves bool
}

// takeAll is All in a compiled op: more than any degree.
const takeAll = math.MaxUint32

// op is a compiled Op.
type op struct {
	number    uint64
	near, far int // node types
	edges     int // edge type
	dir       graph.Direction
	from      []int // without repeats
	take      uint32
	traits
	adj       *adjacency
	drawer    drawer       // nil with Options.Given
	byDegree  degreeDrawer // the drawer, where it is one
	byBlock   blockDrawer  // the drawer, where it is one and no times are read
	times     *values      // nil where the edge type is untimed
	ascending bool         // times ascend within each node
	nodeTimes *values      // by far end; nil where the far type has no times
	excluded  [2]bool      // Sampler.excluded
	sorted    bool         // with excluded: far ends ascend within each node
	dedupe    bool         // an edge may have been drawn by an earlier op
	oneWay    bool         // all ops of the edge type walk it in the same direction
	fetchIDs  bool         // edge ids are fetched with far ends
	every     bool         // a later op starts from all nodes that this one reaches
}

// New compiles a plan. The graph must outlive the Sampler.
func New(g *graph.Graph, p *Plan, opt Options) (*Sampler, error) {
	if err := tooLarge(g); err != nil {
		return nil, err
	}
	if err := p.Validate(g); err != nil {
		return nil, err
	}
	if opt.Weights && !p.Weighs() {
		return nil, tagged.Errorf(ErrPlan, "found weights of edges with ops that draw alike, expected ops with how ladies, how fastgcn, or how labor with importance; leave the weights out, because all edges have the same")
	}
	after := opt.After
	opt.After = nil
	s := &Sampler{g: g, plan: p, opt: opt, adj: make([][2]*adjacency, len(g.Edges)), opHop: p.OpHops()}
	s.hops = max(p.Hops, slices.Max(s.opHop))
	for _, t := range p.SeedType {
		s.seedTypes = append(s.seedTypes, g.NodeType(t))
	}
	if opt.Fetch {
		if err := p.CanFetch(g); err != nil {
			return nil, err
		}
	}
	if err := p.TakesPlaces(g); err != nil {
		return nil, err
	}
	if opt.Given {
		s.cannotGive = p.CanGive(g)
	} else if err := s.checkRestricted(); err != nil {
		return nil, err
	}
	if err := s.compileAll(after); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// compileAll compiles the ops, after a sampler or nil, and what else the plan asks for, and copies to huge pages what is read at random.
func (s *Sampler) compileAll(after *Sampler) (err error) {
	defer guard.Catch(&err)()
	p, opt := s.plan, s.opt
	columns := s.columnCache(after)
	for i := range p.Ops {
		o, err := s.compile(&p.Ops[i], i+1, columns)
		if err != nil {
			return err
		}
		s.ops = append(s.ops, o)
	}
	s.compileLayers()
	if err := s.compileNegatives(columns); err != nil {
		return err
	}
	if p.Kind == Induced && !opt.Given {
		if err := s.compileInduced(); err != nil {
			return err
		}
	}
	if err := s.compileReverses(); err != nil {
		return err
	}
	s.markRepeats()
	if p.Expand == ExpandAll {
		for i := range s.ops {
			for _, f := range s.ops[i].from {
				if f > 0 {
					s.ops[f-1].every = true
				}
			}
		}
	}
	for i := range s.ops {
		s.ops[i].fetchIDs = opt.Given || opt.Fetch && s.apart(&s.ops[i])
	}
	s.waves = wavesOf(s.ops)
	return s.useHugePages()
}

func (s *Sampler) compile(p *Op, number int, columns *columnCache) (op, error) {
	edges := edgesOf(s.g, p.Edges)
	e := slices.Index(s.g.Edges, edges)
	o := op{
		number: uint64(number),
		near:   s.g.NodeType(edges.Type.Near(p.Dir)),
		far:    s.g.NodeType(edges.Type.Far(p.Dir)),
		edges:  e,
		dir:    p.Dir,
		from:   unique(p.From),
		take:   uint32(p.Take), // All is takeAll
		traits: p.traits(),
	}
	if o.near < 0 || o.far < 0 {
		return op{}, tagged.Errorf(ErrPlan, "found edge type %s without its node types in the graph", edges.Type)
	}
	if s.opt.Given {
		return o, nil
	}
	var err error
	if o.adj, err = s.adjacencyOf(e, p.Dir); err != nil {
		return op{}, err
	}
	if own := edges.Adj[p.Dir]; own != nil && o.adj.apart && o.adj.eid.Len() == 0 && (p.Column != "" || s.plan.timed(p.Edges)) {
		// Columns are by edge id.
		if o.adj.eid, err = readEdgeIDs(edges, own); err != nil {
			return op{}, err
		}
	}
	if o.excluded = s.excluded(p.Edges, p.Dir); o.excluded != [2]bool{} {
		o.sorted = s.ascendsFar(o.adj)
	}
	if name := s.plan.nodeTimes(edges.Type.Far(p.Dir)); name != "" {
		if o.nodeTimes, err = columns.nodeValues(s.g.Nodes[o.far], name); err != nil {
			return op{}, err
		}
	}
	return o, o.compile(&opSource{s.plan, p, edges, columns})
}

// compile makes the drawer of an op, and reads the times of its edges.
func (o *op) compile(from *opSource) (err error) {
	if o.drawer, err = strategies[from.op.How].compile(o, from); err != nil {
		return err
	}
	o.byDegree, _ = o.drawer.(degreeDrawer)
	if name := from.plan.timeColumn(from.op.Edges); name != "" {
		if o.times, err = from.columns.values(from.edges, name); err != nil {
			return err
		}
		o.ascending = from.columns.ascending(o.adj, o.times)
	}
	if o.times == nil && o.nodeTimes == nil {
		o.byBlock, _ = o.drawer.(blockDrawer)
	}
	return nil
}

// unique is the list without repeats.
func unique(list []int) []int {
	var out []int
	seen := map[int]bool{}
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}

// markRepeats finds the ops that may draw an edge that an earlier op drew: those that walk the same edge type in the
// other direction, or from nodes that both may expand. Under ExpandNew the frontiers of two ops have no node in common
// if their inputs have no op in common.
func (s *Sampler) markRepeats() {
	type walk struct {
		edges int
		dir   graph.Direction
	}
	inputs := map[walk]map[int]bool{} // of the ops so far
	for i := range s.ops {
		o := &s.ops[i]
		same := inputs[walk{o.edges, o.dir}]
		o.dedupe = inputs[walk{o.edges, 1 - o.dir}] != nil || same != nil && s.plan.Expand == ExpandAll ||
			slices.ContainsFunc(o.from, func(f int) bool { return same[f] })
		if same == nil {
			same = map[int]bool{}
			inputs[walk{o.edges, o.dir}] = same
		}
		for _, f := range o.from {
			same[f] = true
		}
	}
	for i := range s.ops {
		o := &s.ops[i]
		o.oneWay = inputs[walk{o.edges, 1 - o.dir}] == nil
	}
}

// useHugePages copies the large arrays that are read at random into huge pages, as far as Options.Memory and the
// address space allow.
func (s *Sampler) useHugePages() error {
	if s.shared() != nil {
		return nil // the lists are not the sampler's own
	}
	for e := range s.adj {
		for _, a := range s.adj[e] {
			if a == nil {
				continue
			}
			joined, err := s.joinEnds(a)
			if err != nil {
				return err
			}
			if joined { // far ends and ids are hardly read beside them
				if err := useHuge(s, &a.indptr.U32); err != nil {
					return err
				}
				continue
			}
			for _, x := range []*[]uint32{&a.far, &a.indptr.U32, &a.eid.U32} { // empty where they are not in memory
				if err := useHuge(s, x); err != nil {
					return err
				}
			}
			for _, x := range []*[]uint64{&a.indptr.U64, &a.eid.U64} {
				if err := useHuge(s, x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// joinEnds makes the ends of a large adjacency whose edge ids are apart, as far as Options.Memory and the address space allow.
func (s *Sampler) joinEnds(a *adjacency) (bool, error) {
	size := 8 * int64(len(a.far))
	if a.eid.U32 == nil || !s.EdgeIDs() || len(a.far) < hugeWords || size > s.opt.Memory {
		return false, nil
	}
	ends, free, err := direct.Array[uint64](len(a.far))
	if err != nil {
		return false, nil //nolint:nilerr // the copy only serves speed
	}
	s.free = append(s.free, free)
	s.opt.Memory -= size
	for from := 0; from < len(ends); from += copyWords {
		to := min(from+copyWords, len(ends))
		far, eid := a.far[from:to], a.eid.U32[from:to]
		for i, x := range far {
			ends[from+i] = uint64(eid[i])<<32 | uint64(x)
		}
		if err := s.touched(8 * len(far)); err != nil {
			return false, err
		}
	}
	a.ends = ends
	return true, nil
}

// useHuge copies a large array into huge pages, as far as Options.Memory and the address space allow.
func useHuge[T direct.Word](s *Sampler, x *[]T) error {
	width := int64(unsafe.Sizeof(T(0)))
	size := int64(len(*x)) * width
	if len(*x) < hugeWords || size > s.opt.Memory {
		return nil
	}
	words, free, err := direct.Array[T](len(*x))
	if err != nil {
		return nil //nolint:nilerr // the copy only serves speed
	}
	s.free = append(s.free, free)
	s.opt.Memory -= size
	for from := 0; from < len(words); {
		n := copy(words[from:min(from+copyWords, len(words))], (*x)[from:])
		from += n
		if err := s.touched(int(width) * n); err != nil {
			return err
		}
	}
	*x = words
	return nil
}

// copyWords is the number of words that are copied between two calls of Options.Touched.
const copyWords = 1 << 20

func (s *Sampler) touched(bytes int) error {
	if s.opt.Touched == nil {
		return nil
	}
	return s.opt.Touched(int64(bytes))
}

// Graph is the graph that the sampler reads.
func (s *Sampler) Graph() *graph.Graph { return s.g }

// Plan is the plan that was compiled.
func (s *Sampler) Plan() *Plan { return s.plan }

// Hops is the number of hops of the plan. Counts by hop have Hops()+1 entries for nodes and Hops() entries for edges.
func (s *Sampler) Hops() int { return s.hops }

// EdgeIDs says whether subgraphs have the ids of their edges.
func (s *Sampler) EdgeIDs() bool { return !s.opt.NoEdgeIDs }

// Weights says whether subgraphs have the weights of their edges.
func (s *Sampler) Weights() bool { return s.opt.Weights }

// Induces says whether subgraphs have all edges between their nodes.
func (s *Sampler) Induces() bool { return s.plan.Kind == Induced }

// SeedWidth is the number of ids per seed: 1, or 2 for link seeds.
func (s *Sampler) SeedWidth() int { return len(s.seedTypes) }

// Close frees the copies of the sampler. No context may be in use.
func (s *Sampler) Close() {
	for _, f := range s.free {
		f()
	}
	s.free, s.adj, s.ops = nil, nil, nil
}

func (s *Sampler) warn(format string, args ...any) {
	if s.opt.Warn != nil {
		s.opt.Warn(fmt.Sprintf(format, args...))
	}
}
