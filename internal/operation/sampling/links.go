package sampling

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// The values of the choices about links and subgraphs.
var (
	negativesHow    = []string{"binary", "triplet", "in-batch"}
	negativesStrict = []string{"no", "count", "error"}
	negativesLinked = []string{"ever", "before"}
	negativesWhen   = []string{"existing", "any"}
	subgraphKinds   = []string{"directional", "bidirectional", "induced"}
)

// reversed begins an Exclude that names the edge type of the reverse edges.
const reversed = "reverse:"

// checkLinks checks the options about negatives, exclusion and the kind of subgraphs.
func (o *request) checkLinks() error {
	if err := options.Check(o, options.OfNegatives); err != nil {
		return err
	}
	in := func(text string, values []string) bool { return text == "" || slices.Contains(values, text) }
	if err := o.checkPositives(); err != nil {
		return err
	}
	rel, reverse := strings.CutPrefix(o.Exclude, reversed)
	switch {
	case o.Negatives > 0 && o.NegativesFrom != "":
		return operation.Usagef("found `Negatives` %v and `NegativesFrom` %s, expected one of them: negatives are drawn, or they are given", o.Negatives, o.NegativesFrom)
	case o.Negatives != 0 && !(o.Negatives > 0 && o.Negatives <= sample.MostNegatives):
		return operation.Usagef("found `Negatives` %v, expected a number above 0 and at most %d per link", o.Negatives, sample.MostNegatives)
	case !in(o.NegativesHow, negativesHow):
		return operation.Usagef("found `NegativesHow` %q, expected %s", o.NegativesHow, oneOf(negativesHow))
	case o.NegativesHow == "in-batch" && o.NegativesBy != "" && o.NegativesBy != "uniform":
		return operation.Usagef("found `NegativesHow` in-batch with `NegativesBy` %s, expected one of them: the targets are those of the batch; try `NegativesHow` triplet", o.NegativesBy)
	case o.NegativesHow == "in-batch" && o.Scope == option.ScopeSeed:
		return operation.Usagef("found `NegativesHow` in-batch with `Scope` seed, expected `Scope` batch or epoch, as a subgraph of one link has no other targets; or try `NegativesHow` triplet")
	case !in(o.NegativesStrict, negativesStrict):
		return operation.Usagef("found `NegativesStrict` %q, expected %s", o.NegativesStrict, oneOf(negativesStrict))
	case !in(o.NegativesLinked, negativesLinked):
		return operation.Usagef("found `NegativesLinked` %q, expected %s", o.NegativesLinked, oneOf(negativesLinked))
	case o.NegativesLinked == "before" && (o.NegativesStrict == "" || o.NegativesStrict == "no"):
		return operation.Usagef("found `NegativesLinked` before without `NegativesStrict`, expected count or error: other negatives may be edges")
	case !in(o.NegativesWhen, negativesWhen):
		return operation.Usagef("found `NegativesWhen` %q, expected %s", o.NegativesWhen, oneOf(negativesWhen))
	case !in(o.Subgraph, subgraphKinds):
		return operation.Usagef("found `Subgraph` %q, expected %s", o.Subgraph, oneOf(subgraphKinds))
	case o.Subgraph != "" && o.Aggregation == option.AggregationNode:
		return operation.Usagef("found `Subgraph` %s and `Aggregation` node, expected one of them: `Subgraph` induced is the same", o.Subgraph)
	case o.Exclude != "" && o.Exclude != "self" && (!reverse || rel == ""):
		return operation.Usagef("found `Exclude` %q, expected self (the edges of the links) or reverse:RELATION (these, and the edges of the relation in the other direction)", o.Exclude)
	}
	return nil
}

// linked adds to a plan what the options say about its links and the kind of its subgraphs. edges is the edge type of the
// links, empty where it is not known.
func (o *request) linked(g *graph.Graph, p *sample.Plan, edges string) error {
	if name := options.First(o, "Negatives", "NegativesFrom", "Exclude"); name != "" {
		if !p.Link() {
			return operation.Usagef("found `%s` with seeds that are nodes of type %s, expected links; give an edge type SRC:REL:DST, or a file of links, in `Seeds`, and their edge type in `SeedType`", name, p.SeedType[0])
		}
		if edges == "" {
			var err error
			if edges, err = joining(g, p.SeedType); err != nil {
				return operation.Usagef("`%s`: %w", name, err)
			}
		}
	}
	if edges != "" {
		p.SeedEdges = edges
	}
	if o.listed > 0 {
		p.Negatives = &sample.Negatives{How: sample.Listed, Each: float64(o.listed)}
	}
	if o.Negatives > 0 {
		n := &sample.Negatives{Each: o.Negatives,
			How:    sample.Corruption(max(0, slices.Index(negativesHow, o.NegativesHow))),
			Strict: sample.Strict(max(0, slices.Index(negativesStrict, o.NegativesStrict))), Linked: sample.Linked(max(0, slices.Index(negativesLinked, o.NegativesLinked)))}
		switch o.NegativesBy {
		case "", "uniform":
		case "degree":
			n.By = sample.ByDegree
		default:
			if err := o.checkNegativesBy(g, p.SeedType); err != nil {
				return err
			}
			n.By, n.Column = sample.ByColumn, o.NegativesBy
		}
		if err := o.existing(p, n); err != nil {
			return err
		}
		p.Negatives = n
	}
	if o.Exclude != "" {
		p.Exclude = &sample.Exclude{}
		if rel, ok := strings.CutPrefix(o.Exclude, reversed); ok {
			var err error
			if p.Exclude.Reverse, err = reverseOf(g, p.SeedType, rel); err != nil {
				return err
			}
		}
	}
	p.Kind = sample.SubgraphKind(max(0, slices.Index(subgraphKinds, o.Subgraph)))
	if o.Positives != "" {
		return SetMessages(g, p, "Messages", o.Messages, p.SeedEdges)
	}
	return SetMessages(g, p, "Messages", o.Messages)
}

// checkNegatives checks that a plan has listed negatives where NegativesFrom gives them, and only there, and that the output can hold the negatives.
func (o *request) checkNegatives(p *planned) error {
	n := p.plan.Negatives
	switch asks := n != nil && n.How == sample.Listed; {
	case asks && o.listed == 0:
		return operation.Usagef("found a plan with listed negatives and no `NegativesFrom`, expected a list per link; give the column of the links or the file that has them")
	case o.listed > 0 && !asks:
		return operation.Usagef("found `NegativesFrom` and a plan whose negatives are not listed, expected \"how\": \"listed\"; write so in the plan, or leave `NegativesFrom` out")
	case o.listed > 0 && o.listed != n.Most():
		return operation.Usagef("found at most %d negatives of a link in `NegativesFrom`, expected %d, as the plan says; set each in the plan to %d", o.listed, n.Most(), o.listed)
	case len(p.job.Negatives.Ends) > 0 && o.ofFiles && o.Format == option.FormatCollection:
		return operation.Usagef("found lists of negatives of several lengths in `NegativesFrom`, expected one length for `Format` collection; take `Format` tfrecord, or a loader")
	case n != nil && n.Uneven() && o.ofFiles && o.Format == option.FormatCollection:
		return operation.Usagef("found %v negatives per link, which some links have more of than others, expected a whole number for `Format` collection; take `Format` tfrecord, or a loader", n.Each)
	}
	return nil
}

// unbornNegatives is a warning for given negatives that do not exist at the time of their link, which a model tells from the real ones by their time; "" for none.
func (p *planned) unbornNegatives() string {
	if p.unborn == 0 {
		return ""
	}
	return fmt.Sprintf("%s ends of %s given negatives do not exist at the time of their link, by the times in `BeforeNodes`: a model can tell them by their age; draw such negatives again among the nodes of that time",
		human.Exact(int64(p.unborn)), human.Exact(int64(p.job.Negatives.Len())))
}

// madeNegatives adds the given negatives to what determines an output. The content of files identifies them, not their path.
func (o *request) madeNegatives(ctx context.Context, made *store.Made) (err error) {
	if o.NegativesFrom == "" {
		return nil
	}
	made.Options["negatives_from"] = o.NegativesFrom
	var names []string
	for i, file := range seeds.FilesOfNegatives(o.NegativesFrom) {
		if made.Inputs[[]string{"negatives", "negative_offsets"}[min(i, 1)]], err = store.Fingerprint(ctx, vfs.OS, file); err != nil {
			return err
		}
		names = append(names, filepath.Base(file))
		made.Options["negatives_from"] = strings.Join(names, ",")
	}
	return nil
}

// existing gives negatives the times of nodes, so that they exist at the time of their link.
func (o *request) existing(p *sample.Plan, n *sample.Negatives) error {
	types := map[sample.Corruption][]string{sample.Binary: p.SeedType, sample.Triplet: p.SeedType[1:]}[n.How]
	for _, t := range types {
		column := ""
		if p.Before != nil {
			column = p.Before.NodeColumns[t]
		}
		switch {
		case o.NegativesWhen == "any" || column == "" && o.NegativesWhen == "":
		case column == "":
			return operation.Usagef("found `NegativesWhen` existing without the times of nodes of type %s, expected them in `BeforeNodes`; give %s=COLUMN there", t, t)
		default:
			if n.Times == nil {
				n.Times = map[string]string{}
			}
			n.Times[t] = column
		}
	}
	return nil
}

// ownMessages says that links can be messages for their own prediction, and how to leave them out; empty: they cannot, or Exclude or Before
// says which edges count.
func ownMessages(g *graph.Graph, p *sample.Plan) string {
	if !p.Link() || p.Exclude != nil || p.Before != nil {
		return ""
	}
	links := []string{p.SeedEdges}
	if p.SeedEdges == "" {
		links = leading(g, p.SeedType[0], p.SeedType[1])
	}
	reverses := leading(g, p.SeedType[1], p.SeedType[0])
	followed := func(names []string) (found []string) {
		for _, name := range names {
			if p.Kind == sample.Induced || slices.ContainsFunc(p.Ops, func(op sample.Op) bool { return op.Edges == name }) {
				found = append(found, name)
			}
		}
		return found
	}
	with, back := followed(links), followed(reverses)
	if len(with)+len(back) == 0 {
		return ""
	}
	relation := func() string { return strings.SplitN(back[0], ":", 3)[1] }
	if len(with) == 0 {
		return fmt.Sprintf("the reverses of the links can be messages: `Exclude` reverse:%s leaves them out", relation())
	}
	text := "the links themselves can be messages, which tell the answer: `Exclude` self leaves them out"
	if back = slices.DeleteFunc(back, func(name string) bool { return slices.Contains(links, name) }); len(back) > 0 {
		text += fmt.Sprintf(", reverse:%s also their reverses", relation())
	}
	return text
}

// checkNegativesBy refuses a NegativesBy that no node type of negatives has as a column. types are the node types of source and target.
func (o *request) checkNegativesBy(g *graph.Graph, types []string) error {
	if o.NegativesHow == "triplet" {
		types = types[1:]
	}
	for _, t := range types {
		i := g.NodeType(t)
		if i < 0 || graph.FindColumn(g.Nodes[i].Columns, o.NegativesBy) != nil {
			continue
		}
		known := []string{"uniform", "degree"}
		for _, c := range g.Nodes[i].Columns {
			if !strings.HasPrefix(c.Name, "#") {
				known = append(known, c.Name)
			}
		}
		return operation.Usagef("found `NegativesBy` %s, expected %s, or a column of node type %s: %s%s", o.NegativesBy, strings.Join(known[:2], ", "), t, cmp.Or(strings.Join(known[2:], ", "), "it has none"), suggest.Hint(o.NegativesBy, known))
	}
	return nil
}

// joining is the one edge type from one node type to another.
func joining(g *graph.Graph, types []string) (string, error) {
	names := leading(g, types[0], types[1])
	switch len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", operation.Usagef("found links from %s to %s, between which the store has no edge type, expected links of an edge type; give `SeedType` SRC:REL:DST", types[0], types[1])
	}
	return "", operation.Usagef("found links from %s to %s, which several edge types join, expected one; give `SeedType` as one of %s", types[0], types[1], strings.Join(names, ", "))
}

// leading is the names of the edge types from one node type to another.
func leading(g *graph.Graph, from, to string) (names []string) {
	for _, e := range g.Edges {
		if e.Type.Src == from && e.Type.Dst == to {
			names = append(names, e.Type.String())
		}
	}
	return names
}

// reverseOf is the edge type that Exclude names: one from the target type of links to their source type.
func reverseOf(g *graph.Graph, types []string, rel string) (string, error) {
	fit := leading(g, types[1], types[0])
	help := "expected one of " + strings.Join(fit, ", ")
	if fit == nil {
		help = "expected self, because the store has no edges from " + types[1] + " to " + types[0]
	}
	i, err := g.EdgeType(rel)
	if err != nil {
		// A relation may have the same name in several types: only one of them can be meant.
		var named []string
		for _, name := range fit {
			if t, _ := graph.ParseEdgeType(name); t.Rel == rel {
				named = append(named, name)
			}
		}
		if len(named) == 1 {
			return named[0], nil
		}
		return "", operation.Usagef("found `Exclude` reverse:%s, which is no edge type from %s to %s, %s", rel, types[1], types[0], help)
	}
	if t := g.Edges[i].Type; t.Src != types[1] || t.Dst != types[0] {
		return "", operation.Usagef("found `Exclude` reverse:%s, whose edges lead from %s to %s and not from %s to %s, %s", rel, t.Src, t.Dst, types[1], types[0], help)
	}
	return g.Edges[i].Type.String(), nil
}

// seedTypes is the node types that SeedType means, and the edge type if it means one.
func (o *request) seedTypes(g *graph.Graph) (types []string, edges string, err error) {
	if len(o.SeedType) != 1 || g.NodeType(o.SeedType[0]) >= 0 {
		return o.SeedType, "", nil
	}
	i, err := g.EdgeType(o.SeedType[0])
	if err != nil {
		var have []string
		for _, n := range g.Nodes {
			have = append(have, n.Type)
		}
		return nil, "", operation.Usagef("found `SeedType` %s, expected a node type (%s) or, for links, an edge type: %w", o.SeedType[0], strings.Join(have, ", "), err)
	}
	t := g.Edges[i].Type
	return []string{t.Src, t.Dst}, t.String(), nil
}

// oneOf lists values.
func oneOf(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
