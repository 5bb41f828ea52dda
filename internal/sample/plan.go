package sample

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Errors of plans and of compilation.
var (
	// ErrPlan is the error of a plan that has no meaning, or none on this graph.
	ErrPlan = errors.New("invalid plan")
	// ErrTooLarge is the error of more nodes or edges than 32-bit ids can number.
	ErrTooLarge = errors.New("too large")
	// errWeight is the error of weights with an infinite sum.
	errWeight = errors.New("infinite weight")
	// ErrFetch is the error of a plan that needs the neighbours in memory (Options.Fetch).
	ErrFetch = errors.New("needs the memory executor")
	// ErrPlaces is the error of a plan that needs lists of neighbours which are one after the other (graph.Adjacency.Ends).
	ErrPlaces = errors.New("needs merged edges")
	// ErrSeed is the error of seeds that do not fit the plan or the graph.
	ErrSeed = errors.New("invalid seed")
)

// Scope says what the draws of a node depend on in addition to the epoch: nothing, the batch, or the seed. The draw law
// absorbs its number after the epoch.
type Scope uint8

// The scopes. ScopeEpoch gives a node one sample per op and epoch. ScopeSeed makes the subgraph of each seed on its
// own.
const (
	ScopeEpoch Scope = iota
	ScopeBatch
	ScopeSeed
)

// Expand says which of the nodes that an op reached are expanded by the ops that start from it: those that it was the
// first to find (as in PyG), or all of them (as in DGL).
type Expand uint8

// The ways to expand.
const (
	ExpandNew Expand = iota
	ExpandAll
)

var (
	scopeNames  = []string{"epoch", "batch", "seed"}
	expandNames = []string{"new", "all"}

	corruptionNames = []string{"binary", "triplet", "in-batch", "listed"}
	strictNames     = []string{"no", "count", "error"}
	linkedNames     = []string{"ever", "before"}
	weightingNames  = []string{"uniform", "degree", "column"}
	kindNames       = []string{"directional", "bidirectional", "induced"}
)

// Corruption is how a negative link is made of a link.
type Corruption uint8

// The corruptions: both ends are drawn (PyG's binary); the source is kept and the target is drawn (PyG's triplet, DGL's
// Uniform); the source is kept and the target comes from another link of the batch; nothing is drawn, as the job has a
// list of negatives for each link (Job.Negatives).
const (
	Binary Corruption = iota
	Triplet
	InBatch
	Listed
)

// Strict says what becomes of a negative link that is an edge of Plan.SeedEdges, or that joins a node with itself.
type Strict uint8

// The strictnesses: such a link is kept; it is drawn again, up to NegativeTries times, and the last one is kept and
// counted; the same, but the last one is an error.
const (
	StrictNo Strict = iota
	StrictCount
	StrictError
)

// Linked is a choice of edges that make two nodes linked.
type Linked uint8

// The choices: all edges; those whose time is not later than the link's, which needs Before with times of SeedEdges.
const (
	LinkedEver Linked = iota
	LinkedBefore
)

// NegativeTries is the number of draws of a strict negative link.
const NegativeTries = 64

// Weighting says which nodes the ends of negative links are drawn from more often.
type Weighting uint8

// The weightings: all nodes of the type alike; in proportion to the number of their edges in Plan.SeedEdges to the power
// of 0.75 (sources by out-degree, targets by in-degree); in proportion to a node column.
const (
	ByNone Weighting = iota
	ByDegree
	ByColumn
)

// SubgraphKind says which edges a subgraph has in the end.
type SubgraphKind uint8

// The kinds: those that were drawn; these, each with its reverse; all edges between the nodes.
const (
	Directional SubgraphKind = iota
	Bidirectional
	Induced
)

// String is the name of the scope in a plan.
func (s Scope) String() string { return scopeNames[s] }

// String is the name of the way to expand in a plan.
func (e Expand) String() string { return expandNames[e] }

// String is the name of the corruption in a plan.
func (c Corruption) String() string { return corruptionNames[c] }

// String is the name of the strictness in a plan.
func (s Strict) String() string { return strictNames[s] }

// String is the name of the weighting in a plan.
func (w Weighting) String() string { return weightingNames[w] }

// String is the name of the kind in a plan.
func (k SubgraphKind) String() string { return kindNames[k] }

// All is the Take of an op that takes every edge that the strategy may take.
const All = -1

// WeightsColumn is the name of the column with the weights of edges (SubEdges.Weight) in batches and files.
const WeightsColumn = "edge_weights"

// OnesColumn is the name of a column of ones, which package spec adds to the graph in memory where a plan needs weights
// and the edge type has none. Outputs leave it out. No feature has this name, because TF-GNN reserves '#'.
const OnesColumn = "#one"

// Plan is how a subgraph is made: the seeds, and the ops that follow.
type Plan struct {
	// SeedType has one node type or, for link seeds, two: source and target.
	SeedType []string
	Scope    Scope
	Expand   Expand
	Ops      []Op // numbered from 1; op 0 visits the seeds
	// Hops is the number of hops: the length of the lists per hop, and the number of message-flow blocks. It may exceed
	// the hop of every op, where later hops have nothing to expand. 0 means the largest hop of an op.
	Hops   int
	Before *Before
	// SeedEdges is the edge type of link seeds, from the first to the second of SeedType; empty: not known. Exclude, and
	// Negatives that look at edges, need it.
	SeedEdges string
	Negatives *Negatives // nil: none
	Exclude   *Exclude   // nil: none
	Kind      SubgraphKind
	// Messages is, by edge type, which edges there are for the ops, the negatives and Kind; of other types all. Seeds may be any edges.
	Messages map[string]Messages
}

// Negatives says which links that are not in the data a subgraph has with its link seeds. Op 0 visits their ends with
// the ends of the seeds: the sources of the seeds, the sources of the negatives, the targets of the seeds, the targets of the negatives.
// A negative has the time of its link.
type Negatives struct {
	How Corruption
	// Each is negatives per link, above 0; of those that are Listed, the most per link. Of a number with a fraction, a link has the whole part and, with the chance of the
	// fraction, one more: by a draw of its own.
	Each   float64
	By     Weighting
	Column string // with ByColumn: a column of the node types whose nodes are drawn
	// Times are columns of node types with the times since which nodes exist. Of these types, nodes are drawn that exist at the time of the link: their own time is not
	// later. Where none exists, the negative has the end of the link, and counts as refused. Times need Before.
	Times  map[string]string
	Strict Strict
	// Linked says which edges of SeedEdges a strict negative must not be.
	Linked Linked
}

// Exclude leaves the edges of the link seeds of a subgraph out of its draws: every edge of SeedEdges from the source to
// the target of a seed, and of Reverse from the target to the source. An op does not see these edges, so it takes as many
// edges of a node as it has others.
type Exclude struct {
	Reverse string // an edge type from the second to the first of SeedType; empty: only SeedEdges
}

// Op expands the union of the frontiers of earlier ops.
type Op struct {
	From  []int // op numbers, all smaller than the number of this op
	Edges string
	Dir   graph.Direction
	// Take is edges per node or, with Ladies, FastGCN and HGT, nodes per hop and type, or, with PPR and Walk, nodes per node; or All.
	Take   int
	How    How
	Column string // Weighted, Top, Recent; with Labor it may be empty
	Parameters
	// Hop is the hop that counts the nodes and edges of the op, from 1. It changes no draw. Either all ops of a plan
	// have one, and they ascend with the op numbers, or none has one and OpHops infers them.
	Hop int
}

// Parameters are for single strategies. An op leaves the parameters of other strategies at zero.
type Parameters struct {
	// HalfLife is the age, in units of the column of Recent, at which an edge is drawn half as often as the latest one.
	HalfLife float64 `json:"half_life,omitempty"`
	// Importance is the rounds in which Labor raises the chances of far ends that many nodes share (LABOR-i), so that fewer nodes
	// are reached. Edges then differ in their chances, and more than Take are taken on average. A mean by their weights has 1.1 to
	// 1.3 times the variance of Take uniform draws.
	Importance int `json:"importance,omitempty"`
	// Alpha is the chance that a walk of PPR ends before a step, and Eps its tolerance: where all edges have their reverses, the
	// PageRank of a node is exact to Eps times the number of its edges.
	Alpha float64 `json:"alpha,omitempty"`
	Eps   float64 `json:"eps,omitempty"`
	// Walks and Length are the number of walks of Walk from each node, and of their steps. Restart is the chance that a step goes back
	// to the node.
	Walks   int     `json:"walks,omitempty"`
	Length  int     `json:"length,omitempty"`
	Restart float64 `json:"restart,omitempty"`
}

// Before lets an op draw only edges whose times are below the time of the seed or, with OrEqual, equal to it. It needs
// ScopeSeed. An edge has its own time and, by NodeColumns, the time of the node that it leads to: both must pass.
type Before struct {
	// Column is the edge column of all edge types except those in Columns and Untimed; empty: only those in Columns have
	// times.
	Column  string
	Columns map[string]string // columns of single edge types, by edge type
	// NodeColumns are the columns of the times of nodes, by node type. The seeds are visited at any time.
	NodeColumns map[string]string
	OrEqual     bool
	// Untimed are the edge types that are drawn without regard to their own times.
	Untimed []string
	// Window is the length of the interval before the time of the seed in which times must lie, in units of the columns:
	// time - Window <= t < time or, with OrEqual, time - Window < t <= time. 0: no bound.
	Window float64
}

// Link says whether the seeds are pairs of nodes.
func (p *Plan) Link() bool { return len(p.SeedType) == 2 }

// maxHops bounds the length of the lists per hop.
const maxHops = 1<<16 - 1

// OpHops is the hop of each op, op 0 included. An op without a Hop is one hop after the latest op that it starts from,
// and never before the hop of the previous op. So the nodes of a type, in order of discovery, are grouped by hop.
func (p *Plan) OpHops() []int {
	hops := make([]int, len(p.Ops)+1)
	for i, op := range p.Ops {
		h := max(1, op.Hop, hops[i])
		for _, f := range op.From {
			h = max(h, hops[f]+1)
		}
		hops[i+1] = h
	}
	return hops
}

// checkHops refuses hops that would not group the nodes of a type by hop, or that are not after the ops they start
// from.
func (p *Plan) checkHops() error {
	hops := p.OpHops()
	for i, op := range p.Ops {
		switch {
		case (op.Hop == 0) != (p.Ops[0].Hop == 0):
			return tagged.Errorf(ErrPlan, "op %d: found hop %d where op 1 has %d, expected a hop from 1 in all ops or in none; give every op a hop, or remove all", i+1, op.Hop, p.Ops[0].Hop)
		case op.Hop != 0 && op.Hop != hops[i+1]:
			return tagged.Errorf(ErrPlan, "op %d: found hop %d, expected %d or more: hops ascend with the op numbers and lie above those in from; raise it, or remove all hops", i+1, op.Hop, hops[i+1])
		}
	}
	if most := hops[len(p.Ops)]; p.Hops != 0 && p.Hops < most || max(p.Hops, most) > maxHops {
		return tagged.Errorf(ErrPlan, "found %d hops with ops of up to hop %d, expected as many hops as the ops have, and at most %d; remove hops, which then follows from the ops", p.Hops, most, maxHops)
	}
	return nil
}

// check refuses a plan that has no meaning on any graph.
func (p *Plan) check() error {
	if n := len(p.SeedType); n != 1 && n != 2 {
		return tagged.Errorf(ErrPlan, "found %d seed types, expected one, or two for link seeds", n)
	}
	if int(p.Scope) >= len(scopeNames) || int(p.Expand) >= len(expandNames) {
		return tagged.Errorf(ErrPlan, "found scope %d and expand %d, expected named values", p.Scope, p.Expand)
	}
	if err := p.checkLinks(); err != nil {
		return err
	}
	if err := p.checkBefore(); err != nil {
		return err
	}
	if err := p.checkMessages(); err != nil {
		return err
	}
	reaches := make([][]string, len(p.Ops)+1)
	reaches[0] = p.SeedType
	for i, op := range p.Ops {
		number := i + 1
		et, err := graph.ParseEdgeType(op.Edges)
		if err != nil {
			return tagged.Errorf(ErrPlan, "op %d: %w", number, err)
		}
		if op.Dir > graph.Out {
			return tagged.Errorf(ErrPlan, "op %d: found dir %d, expected a named value", number, op.Dir)
		}
		reaches[number] = []string{et.Far(op.Dir)}
		for _, f := range op.From {
			if f < 0 || f >= number {
				return tagged.Errorf(ErrPlan, "op %d: found op %d in from, expected 0 to %d", number, f, i)
			}
			if !slices.Contains(reaches[f], et.Near(op.Dir)) {
				return tagged.Errorf(ErrPlan, "op %d: found op %d in from, which reaches %q, expected one that reaches %q, where %s starts (dir %s); name another op in from, or turn dir round",
					number, f, reaches[f], et.Near(op.Dir), op.Edges, op.Dir)
			}
		}
		if op.Take < All || int64(op.Take) >= 1<<31 {
			return tagged.Errorf(ErrPlan, "op %d: found take %d, expected 0 to 2^31 - 1, or -1 for all", number, op.Take)
		}
		if err := op.checkStrategy(p, et); err != nil {
			return tagged.Errorf(ErrPlan, "op %d: %w", number, err)
		}
	}
	if err := p.checkHops(); err != nil {
		return err
	}
	return p.checkLayers(reaches)
}

// Validate refuses a plan that has no meaning on g. Its types must exist, every op in a From must reach the node type
// that the op expands, and the columns must exist and be scalar numbers; weights may be bools.
func (p *Plan) Validate(g *graph.Graph) error {
	if err := p.check(); err != nil {
		return err
	}
	for _, t := range p.SeedType {
		if g.NodeType(t) < 0 {
			var have []string
			for _, n := range g.Nodes {
				have = append(have, n.Type)
			}
			return tagged.Errorf(ErrPlan, "found seed type %q, expected one of %q", t, have)
		}
	}
	for i, op := range p.Ops {
		e := edgesOf(g, op.Edges)
		if e == nil {
			var have []string
			for _, e := range g.Edges {
				have = append(have, e.Type.String())
			}
			return tagged.Errorf(ErrPlan, "op %d: found edge type %q, expected one of %q", i+1, op.Edges, have)
		}
		et, _ := graph.ParseEdgeType(op.Edges)
		if far := g.NodeType(et.Far(op.Dir)); op.How.Layered() && far >= 0 && op.Take > g.Nodes[far].Count {
			return tagged.Errorf(ErrPlan, "op %d: found a budget of %d nodes of type %s, which has %d, expected at most as many; -1 takes all", i+1, op.Take, et.Far(op.Dir), g.Nodes[far].Count)
		}
		if op.Column != "" {
			if err := checkColumn(e, op.traits().column, op.Column); err != nil {
				return tagged.Errorf(ErrPlan, "op %d: %w", i+1, err)
			}
		}
	}
	if err := p.validateLinks(g); err != nil {
		return err
	}
	if err := p.validateMessages(g); err != nil {
		return err
	}
	return p.validateBefore(g)
}

// edgesOf is the edge type of a full name, nil if there is none.
func edgesOf(g *graph.Graph, name string) *graph.Edges {
	for _, e := range g.Edges {
		if e.Type.String() == name {
			return e
		}
	}
	return nil
}

// checkColumn refuses a name that is no column of e for a use.
func checkColumn(e *graph.Edges, use columnUse, name string) error {
	if use != needsNumbers {
		return checkWeights(e.Type.String(), e.Columns, name)
	}
	if err := checkNumbers(e.Type.String(), e.Columns, name); err != nil {
		return err
	}
	if graph.FindColumn(e.Columns, name).Categories != nil {
		return fmt.Errorf("found column %q of %s, whose values are categories, expected numbers or times: one of %q; give one of these, or import the column as a number", name, e.Type, numbers(e.Columns))
	}
	return nil
}

// checkWeights refuses a name that is no column of owner with one weight per row: a number, or a bool, which counts as 1 or 0. Codes of
// categories and times are none, although integers hold them.
func checkWeights(owner string, columns []*graph.Column, name string) error {
	c := graph.FindColumn(columns, name)
	if c != nil && isMask(c) {
		return nil
	}
	if c != nil && c.Categories == nil && c.Unit == "" {
		return checkNumbers(owner, columns, name)
	}
	var have []string
	for _, x := range columns {
		if isMask(x) || isNumber(x) && x.Categories == nil && x.Unit == "" && !strings.HasPrefix(x.Name, "#") {
			have = append(have, x.Name)
		}
	}
	expected := among("weight", have)
	switch {
	case c == nil:
		return fmt.Errorf("found no column %q in %s, expected %s; name one of these, or import the column", name, owner, expected)
	case c.Categories != nil:
		return fmt.Errorf("found column %q of %s, whose values are categories, expected %s; import a column of numbers with the weight of each category", name, owner, expected)
	}
	return fmt.Errorf("found column %q of %s, whose values are times, expected %s; how recent draws late edges more often", name, owner, expected)
}

// among says which columns an error expects.
func among(what string, names []string) string {
	if len(names) == 0 {
		return "one " + what + " per row, which no column has"
	}
	return fmt.Sprintf("one %s per row: one of %q", what, names)
}

// isMask says whether a column has one bool per row.
func isMask(c *graph.Column) bool {
	return !c.Ragged() && c.RowValues() == 1 && c.DType == graph.Bool
}

// checkNumbers refuses a name that is no column of owner with one number per row.
func checkNumbers(owner string, columns []*graph.Column, name string) error {
	c := graph.FindColumn(columns, name)
	expected := among("number", numbers(columns))
	if c == nil {
		return fmt.Errorf("found no column %q in %s, expected %s; name one of these, or import the column", name, owner, expected)
	}
	if !isNumber(c) {
		return fmt.Errorf("found column %q of %s with dtype %s and shape %v, expected %s; give another column, or import it with such a dtype", name, owner, c.DType, c.Shape, expected)
	}
	return nil
}

// isNumber says whether a column has one number per row.
func isNumber(c *graph.Column) bool {
	return !c.Ragged() && c.RowValues() == 1 && (c.DType.IsInt() || c.DType.IsFloat())
}

// numbers has the names of the columns with one number per row that is no code of a category, without the input's positions.
func numbers(columns []*graph.Column) []string {
	names := []string{}
	for _, c := range columns {
		if isNumber(c) && c.Categories == nil && !strings.HasPrefix(c.Name, "#") {
			names = append(names, c.Name)
		}
	}
	return names
}
