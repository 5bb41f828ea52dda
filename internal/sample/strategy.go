package sample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// How is the strategy by which an op takes edges of a node, or reaches nodes.
type How uint8

// strategies are the strategies by number. Each has a file of its own.
var strategies = [...]strategy{
	Uniform:  uniform{},
	Replace:  replace{},
	Weighted: weighted{},
	Top:      top{},
	Labor:    labor{},
	Ladies:   ladies{},
	FastGCN:  fastGCN{},
	HGT:      hgt{},
	PPR:      ppr{},
	Recent:   recent{},
	Walk:     walks{},
}

// strategy is a way to take edges of nodes. It has no state: compile makes the drawer of an op.
type strategy interface {
	// name is the name in a plan.
	name() string
	// traits is what is true of an op of the strategy. It holds for an op without meaning, too.
	traits(op *Op) traits
	// check refuses an op without meaning on any graph. Columns and parameters (parametric) are checked before.
	check(p *Plan, op *Op, et graph.EdgeType) error
	// need adds the memory of what is built for an op, beside its adjacency and columns.
	need(n *need, op *Op, e *graph.Edges)
	// most is Op.Most.
	most(op *Op, from, edges int64) (drawn, found int64)
	// estimate visits about the nodes that an op reaches, and returns about the number of edges that it draws.
	estimate(w *walker, o *walkedOp) int
	// compile makes what an op draws with. o has its adjacency and the times of its nodes, and not yet the times of its edges. compile sets
	// o.take to takeAll where more edges than Take may be drawn of a node.
	compile(o *op, from *opSource) (drawer, error)
}

// parametric is a strategy with Parameters of its own.
type parametric interface {
	// checkParameters refuses these parameters of an op of any strategy where it must not have them, or where they are out of range.
	checkParameters(op *Op) error
}

// traits is what the rest of the package knows of the ops of a strategy.
type traits struct {
	column columnUse
	// replaces: Take edges are drawn of each node that has any, and each draw is kept, also of an edge that was drawn before.
	replaces bool
	// layered: Take is a budget of nodes (How.Layered).
	layered bool
	// reaches: no edges are taken (How.Reaches).
	reaches bool
	// weighs: the edges have weights, as far ends are chosen by known chances that are not alike (Plan.Weighs).
	weighs bool
	// farEnds: edges are drawn by their far ends, which are all read before the draw.
	farEnds bool
	// frontier: neighbours of all nodes that the op expands, or of nodes further away, are read before the draws.
	frontier bool
	// sums: draws read sums that begin at the first edge of a node, so the edges that may be taken are listed where they begin later.
	sums bool
}

// columnUse is what Op.Column is to a strategy.
type columnUse uint8

const (
	noColumn        columnUse = iota
	needsWeights              // one weight per edge
	needsNumbers              // one number or time per edge
	optionalWeights           // one weight per edge, or no column
)

// drawer draws the edges of an op: its strategy, compiled. It is immutable and safe for concurrent use.
type drawer interface {
	// draw picks edges of a run, which is not empty, by index. It writes them to dst, which has room for as many as the op may take,
	// and returns their number. key is the op's.
	draw(c *Context, o *op, key uint64, r *run, dst []uint32) int
}

// degreeDrawer is a drawer whose draws follow from the key and the number of the edges that a node may take, and from nothing else.
type degreeDrawer interface {
	// choose sets out, which has room for op.picks(d) numbers, to the numbers of the edges that are taken of the d edges of node v.
	choose(p *Picker, key uint64, v, d uint32, out []uint32)
}

// blockDrawer is a drawer that draws the edges of a block together, for an op that reads no times.
type blockDrawer interface {
	// drawBlock is Context.pickEach where Exclude leaves nothing out of the block.
	drawBlock(c *Context, o *op, key uint64, b block, pos, near []uint32) int
}

// preparer is a drawer that looks at all nodes that an op expands before it draws.
type preparer interface {
	// prepare looks at the frontier of an op. prefix is the key without the op.
	prepare(c *Context, o *op, prefix uint64) error
}

// nodeReacher is a drawer that takes no edges.
type nodeReacher interface {
	// reach is the nodes that an op reaches from node v, in order. It is valid until the next call.
	reach(c *Context, o *op, key uint64, v uint32) []uint32
}

// opSource is what an op is compiled from.
type opSource struct {
	plan    *Plan
	op      *Op
	edges   *graph.Edges
	columns *columnCache
}

// edgewise is what the strategies have in common that take up to Take edges of each node, whatever they take of others.
type edgewise struct{}

func (edgewise) check(*Plan, *Op, graph.EdgeType) error { return nil }

func (edgewise) need(*need, *Op, *graph.Edges) {}

func (edgewise) most(op *Op, from, edges int64) (drawn, found int64) {
	drawn = edges
	if op.Take != All {
		drawn = min(from*int64(op.Take), edges)
	}
	return drawn, drawn
}

func (edgewise) estimate(w *walker, o *walkedOp) int { return w.expandEach(o) }

// howNames are the names of the strategies.
var howNames = func() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.name())
	}
	return names
}()

// String is the name of the strategy in a plan.
func (h How) String() string { return howNames[h] }

// Layered says whether ops of a strategy choose the nodes that they reach for all the nodes that they expand together, so that
// Take is a budget of nodes. The ops of a hop that have the same strategy and reach the same node type share one budget.
func (h How) Layered() bool { return (&Op{How: h}).traits().layered }

// Reaches says whether ops take no edges, but reach nodes.
func (h How) Reaches() bool { return (&Op{How: h}).traits().reaches }

// traits is what is true of an op; of one without a strategy nothing.
func (op *Op) traits() traits {
	if int(op.How) >= len(strategies) {
		return traits{}
	}
	return strategies[op.How].traits(op)
}

// Most is upper bounds of the edges that an op of a valid plan draws of some nodes, and of the nodes that it reaches. from is the number of
// the nodes, below 2^32, and edges the number of edges of its type.
func (op *Op) Most(from, edges int64) (drawn, found int64) {
	return strategies[op.How].most(op, from, edges)
}

// checkStrategy refuses a strategy, and a column and parameters that an op must not have.
func (op *Op) checkStrategy(p *Plan, et graph.EdgeType) error {
	if int(op.How) >= len(strategies) {
		return fmt.Errorf("found how %d, expected a named value", op.How)
	}
	switch use := op.traits().column; {
	case use == noColumn && op.Column != "":
		return fmt.Errorf("found column %q with how %s, expected none; columns are for %s", op.Column, op.How, columnStrategies())
	case (use == needsWeights || use == needsNumbers) && op.Column == "":
		return fmt.Errorf("found no column with how %s, expected a column; add column, or take how uniform", op.How)
	}
	for _, s := range strategies {
		if s, ok := s.(parametric); ok {
			if err := s.checkParameters(op); err != nil {
				return err
			}
		}
	}
	return strategies[op.How].check(p, op, et)
}

// columnStrategies lists the strategies that take a column; those that may be without one come last.
func columnStrategies() string {
	var need, may []string
	for i, s := range strategies {
		switch s.traits(&Op{How: How(i)}).column {
		case needsWeights, needsNumbers:
			need = append(need, s.name())
		case optionalWeights:
			may = append(may, s.name())
		}
	}
	names := slices.Concat(need, may)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
