// Package spec compiles TF-GNN's SamplingSpec to a plan.
//
// The plan has scope seed, expand all and direction out, and its ops are in the order of the spec. An edge set is the
// edge type with its name as relation. Strategies:
//
//   - RANDOM_UNIFORM draws uniformly, without replacement;
//   - RANDOM_WEIGHTED and TOP_K (which is also the meaning of an unset strategy) use the column "#weight", else
//
// "weight", else a weight of 1 for every edge;
//   - LATEST_K takes the edges with the largest values of the time column that the caller names.
//
// symmetric_link_seed_op makes link seeds: op 0 visits both ends.
package spec

import (
	"sort"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Options are the settings that a spec does not have.
type Options struct {
	// TimeColumn is the column that LATEST_K reads.
	TimeColumn string
	// SeedTypes are the node types of the links of a symmetric_link_seed_op, or one type for both ends. They are needed
	// where the graph has several types.
	SeedTypes []string
	// Classic takes weights only from "weight", and only where it is a float, as TF-GNN's older sampler does.
	Classic bool
}

// Compile makes the plan of a spec on g. Where an op needs weights and the edge type has none, it adds a column of ones
// to g.
func Compile(s *tfgnnpb.SamplingSpec, g *graph.Graph, o Options) (*sample.Plan, error) {
	p := &sample.Plan{Scope: sample.ScopeSeed, Expand: sample.ExpandAll}
	name, err := seedTypes(p, s, o)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int{name: 0}
	for i, op := range s.SamplingOps {
		e, err := g.EdgeType(op.GetEdgeSetName())
		if err != nil {
			return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: %w", op.GetOpName(), err)
		}
		if n := op.GetSampleSize(); n < 1 {
			return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: found sample_size %d, expected at least 1", op.GetOpName(), n)
		}
		if len(op.InputOpNames) == 0 {
			return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: found no input_op_names, expected at least one", op.GetOpName())
		}
		made := sample.Op{Edges: g.Edges[e].Type.String(), Dir: graph.Out, Take: int(op.GetSampleSize())}
		for _, in := range op.InputOpNames {
			n, ok := numbers[in]
			if !ok {
				return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: found input %q, expected an earlier op; write the op of that name before this one", op.GetOpName(), in)
			}
			made.From = append(made.From, n)
		}
		switch op.GetStrategy() {
		case tfgnnpb.SamplingStrategy_RANDOM_UNIFORM:
			made.How = sample.Uniform
		case tfgnnpb.SamplingStrategy_RANDOM_WEIGHTED:
			made.How, made.Column = sample.Weighted, weights(g.Edges[e], o.Classic)
		case tfgnnpb.SamplingStrategy_TOP_K:
			made.How, made.Column = sample.Top, weights(g.Edges[e], o.Classic)
		case tfgnnpb.SamplingStrategy_LATEST_K:
			if o.TimeColumn == "" {
				return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: found LATEST_K and no time column, expected its name; give `TimeColumn`", op.GetOpName())
			}
			made.How, made.Column = sample.Top, o.TimeColumn
		default:
			return nil, tagged.Errorf(sample.ErrPlan, "sampling op %q: found strategy %v, expected TOP_K, RANDOM_UNIFORM, RANDOM_WEIGHTED or LATEST_K", op.GetOpName(), op.GetStrategy())
		}
		if _, twice := numbers[op.GetOpName()]; twice {
			return nil, tagged.Errorf(sample.ErrPlan, "found op name %q twice, expected it once; rename one of the ops, and the inputs that mean it", op.GetOpName())
		}
		numbers[op.GetOpName()] = i + 1
		p.Ops = append(p.Ops, made)
	}
	return p, p.Validate(g)
}

// seedTypes sets the seed types of the plan, and returns the name of the seed op.
func seedTypes(p *sample.Plan, s *tfgnnpb.SamplingSpec, o Options) (string, error) {
	link, seed := s.GetSymmetricLinkSeedOp(), s.GetSeedOp()
	switch {
	case link != nil && seed != nil:
		return "", tagged.Errorf(sample.ErrPlan, "found both seed_op and symmetric_link_seed_op in the sampling spec, expected one of them; keep seed_op for nodes, symmetric_link_seed_op for links")
	case seed != nil:
		p.SeedType = []string{seed.GetNodeSetName()}
		return seed.GetOpName(), nil
	case link == nil:
		return "", tagged.Errorf(sample.ErrPlan, "found neither seed_op nor symmetric_link_seed_op in the sampling spec, expected one of them; write seed_op for nodes, symmetric_link_seed_op for links")
	}
	switch types := o.SeedTypes; {
	case len(types) == 1:
		p.SeedType = []string{types[0], types[0]}
	case len(types) == 2 && types[0] == types[1]:
		p.SeedType = types
	default:
		return "", tagged.Errorf(sample.ErrPlan, "found symmetric_link_seed_op with %d node types of links %q, expected one, for both ends are of it; give `SeedType`, or `GraphSchema` with %s", len(types), types, tfgnn.ReadoutSource)
	}
	return link.GetOpName(), nil
}

// weights is the name of the column of weights of an edge type. It adds a column of ones where there is none.
func weights(e *graph.Edges, classic bool) string {
	for _, name := range []string{"#weight", "weight", sample.OnesColumn} {
		c := graph.FindColumn(e.Columns, name)
		if c != nil && !(classic && name != sample.OnesColumn && (name != "weight" || !c.DType.IsFloat())) {
			return name
		}
	}
	addOnes(e)
	return sample.OnesColumn
}

func addOnes(e *graph.Edges) {
	ones := make([]byte, e.Count)
	for i := range ones {
		ones[i] = 1
	}
	e.Columns = append(e.Columns, &graph.Column{Name: sample.OnesColumn, DType: graph.Uint8, Rows: e.Count, Values: ones})
	sort.Slice(e.Columns, func(i, j int) bool { return e.Columns[i].Name < e.Columns[j].Name })
}

// AddOnes adds the columns of ones that a plan names to g, so that a plan that Compile made, as recorded in an output,
// runs again.
func AddOnes(p *sample.Plan, g *graph.Graph) {
	for _, op := range p.Ops {
		if op.Column != sample.OnesColumn {
			continue
		}
		if i, err := g.EdgeType(op.Edges); err == nil && graph.FindColumn(g.Edges[i].Columns, sample.OnesColumn) == nil {
			addOnes(g.Edges[i])
		}
	}
}
