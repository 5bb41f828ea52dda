package tfgnn

import (
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// CheckSpec checks a sampling spec against the schema of the graph. It refuses what either of TF-GNN's samplers
// refuses, and ops that cannot sample anything. The error joins all faults, each a *Fault. Warnings are weighted
// strategies on edges without weights.
func CheckSpec(spec *tfgnnpb.SamplingSpec, schema *tfgnnpb.GraphSchema) (warnings []string, err error) {
	c := checkSpec(spec, schema)
	for _, w := range c.warnings {
		warnings = append(warnings, w.Error())
	}
	return warnings, joined(c.faults)
}

// specChecker collects the faults of a spec, and the node set that each op samples.
type specChecker struct {
	spec     *tfgnnpb.SamplingSpec
	schema   *tfgnnpb.GraphSchema
	faults   list
	warnings list
	ops      map[string]string // node set of the nodes that an op samples; empty: unknown

	nodeSets, edgeSets known
}

func checkSpec(spec *tfgnnpb.SamplingSpec, schema *tfgnnpb.GraphSchema) *specChecker {
	c := &specChecker{spec: spec, schema: schema, ops: map[string]string{}, nodeSets: knownOf("the node sets", schema.NodeSets), edgeSets: knownOf("the edge sets", schema.EdgeSets)}
	switch {
	case spec.GetSeedOp() != nil:
		c.seedOp(fieldPath{}.field("seed_op"), spec.GetSeedOp())
	case spec.GetSymmetricLinkSeedOp() != nil:
		c.linkOp(fieldPath{}.field("symmetric_link_seed_op"), spec.GetSymmetricLinkSeedOp())
	default:
		c.faults.add(nil, "found neither seed_op nor symmetric_link_seed_op, expected one of them")
	}
	for i, op := range spec.SamplingOps {
		c.op(fieldPath{}.element("sampling_ops", i), op)
	}
	return c
}

func (c *specChecker) seedOp(at fieldPath, op *tfgnnpb.SeedOp) {
	set := op.GetNodeSetName()
	if c.schema.NodeSets[set] == nil {
		c.faults.add(at.field("node_set_name"), "found %q, expected %s", set, c.nodeSets.expected(set))
		set = ""
	}
	c.seed(at, op.GetOpName(), set)
}

func (c *specChecker) seed(at fieldPath, name, set string) {
	if name == "" {
		c.faults.add(at.field("op_name"), "found no op_name, expected one, which the sampling ops name as their input")
	}
	c.ops[name] = set
}

// linkOp checks that the schema marks the ends of links as TF-GNN's sampler requires.
func (c *specChecker) linkOp(at fieldPath, op *tfgnnpb.SymmetricLinkSeedOp) {
	const layout = "expected the node set " + ReadoutName + " and the edge sets " + ReadoutSource + " and " + ReadoutTarget + " from one node set into it, and no other auxiliary sets"
	edges := c.schema.EdgeSets
	source, target := edges[ReadoutSource], edges[ReadoutTarget]
	seeds := ""
	switch {
	case c.schema.NodeSets[ReadoutName] == nil || source == nil || target == nil:
		c.faults.add(at, "found a schema without readout of links, %s", layout)
	case source.GetTarget() != ReadoutName || target.GetTarget() != ReadoutName || source.GetSource() != target.GetSource():
		c.faults.add(at, "found %s from %q to %q and %s from %q to %q, %s", ReadoutSource, source.GetSource(), source.GetTarget(),
			ReadoutTarget, target.GetSource(), target.GetTarget(), layout)
	default:
		seeds = source.GetSource()
	}
	for _, name := range c.nodeSets.names {
		if IsAuxiliary(name) && name != ReadoutName {
			c.faults.add(at, "found the auxiliary node set %q in the schema, %s", name, layout)
		}
	}
	for _, name := range c.edgeSets.names {
		if IsAuxiliary(name) && name != ReadoutSource && name != ReadoutTarget {
			c.faults.add(at, "found the auxiliary edge set %q in the schema, %s", name, layout)
		}
	}
	c.seed(at, op.GetOpName(), seeds)
}

func (c *specChecker) op(at fieldPath, op *tfgnnpb.SamplingOp) {
	edges := c.schema.EdgeSets[op.GetEdgeSetName()]
	if edges == nil {
		c.faults.add(at.field("edge_set_name"), "found %q, expected %s", op.GetEdgeSetName(), c.edgeSets.expected(op.GetEdgeSetName()))
	}
	if len(op.InputOpNames) == 0 {
		c.faults.add(at.field("input_op_names"), "found no input, expected the op whose nodes this one samples from")
	}
	for i, in := range op.InputOpNames {
		at := at.element("input_op_names", i)
		set, known := c.ops[in]
		switch {
		case !known:
			c.faults.add(at, "found %q, expected %s", in, c.before(in))
		case edges != nil && set != "" && set != edges.GetSource():
			c.faults.add(at, "found %q, which gives nodes of %q, expected nodes of %q, the source of edge set %q", in, set, edges.GetSource(), op.GetEdgeSetName())
		}
	}
	if n := op.GetSampleSize(); n < 1 {
		c.faults.add(at.field("sample_size"), "found %d, expected at least 1", n)
	}
	s := op.GetStrategy()
	if _, known := tfgnnpb.SamplingStrategy_name[int32(s)]; !known {
		c.faults.add(at.field("strategy"), "found strategy %d, expected one of %s", s, strategies())
	}
	weighted := s == tfgnnpb.SamplingStrategy_TOP_K || s == tfgnnpb.SamplingStrategy_RANDOM_WEIGHTED
	if features := edges.GetFeatures(); edges != nil && weighted && features["#weight"] == nil && features["weight"] == nil {
		c.warnings.add(at.field("strategy"), "found %s, but edge set %q has no feature #weight or weight: every edge weighs 1", s, op.GetEdgeSetName())
	}
	if _, twice := c.ops[op.GetOpName()]; twice {
		c.faults.add(at.field("op_name"), "found %q for the second time, expected a name of its own", op.GetOpName())
	}
	c.ops[op.GetOpName()] = edges.GetTarget()
}

// before lists the ops that an op may name as its input. Each call collects the names anew, so it returns nothing
// once no more faults are reported.
func (c *specChecker) before(in string) string {
	if len(c.faults) > maxFaults {
		return ""
	}
	return knownOf("the ops that stand before this one", c.ops).expected(in)
}

func strategies() string {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(tfgnnpb.SamplingStrategy_name)) {
		names = append(names, tfgnnpb.SamplingStrategy_name[n])
	}
	return strings.Join(names, ", ")
}
