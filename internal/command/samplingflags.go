package command

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// SamplingFlags has the flags that say what to sample.
type SamplingFlags struct {
	option.Draw
	option.Batching
	option.Columns
	order                     string
	fanout, untimed, seedType string
	beforeColumns             string
	beforeNodes               string
	features, edgeFeatures    string
	joined                    string
	fs                        *pflag.FlagSet
}

// Add adds the flags of the plan and its seeds.
func (p *SamplingFlags) Add(f *pflag.FlagSet) {
	p.fs = f
	o := p
	f.StringVar(&p.fanout, "fanout", "", "edges to draw per node at each hop, for all edge types (15,10) or by type (cites=15,10;writes=5,5), where -1 draws all; types that are not listed are not followed")
	f.StringVar(&o.Plan, "plan", "", "file with a plan (JSON)")
	f.StringVar(&o.SamplingSpec, "sampling-spec", "", "file with a TF-GNN SamplingSpec (pbtxt)")
	f.StringVar((*string)(&o.Direction), "direction", "", "edges that a hop follows: in-edges, to their sources (in), or out-edges, to their destinations (out)")
	f.StringVar((*string)(&o.Expand), "expand", "", "nodes that a hop expands: those that the previous hop reached first (new, as PyG), or all that were reached before, seeds included (all, as DGL)")
	f.StringVar((*string)(&o.Scope), "scope", "", "one subgraph per batch (batch), per seed (seed), or per batch with the same draws of a node in all batches of an epoch (epoch)")
	f.StringVar((*string)(&o.Sampler), "sampler", "", "how nodes are chosen: neighbor, labor, ladies, fastgcn, hgt, shadow, ppr, walk, cluster, saint-node, saint-edge or saint-walk; "+
		"neighbor: each node draws for itself; labor: the nodes of a hop share what they draw, so that a batch has fewer nodes, and parallel edges share one number; ladies, fastgcn: --fanout counts the nodes of a type that a hop chooses, and the hop takes all edges to them; hgt: the same, and a batch has all edges between its nodes; shadow: --scope seed and --subgraph induced; ppr: as shadow, with the --fanout nodes of the largest personalised PageRank for the seed; walk: as shadow, with the --fanout nodes that random walks from the seed visit most; cluster, saint-node, saint-edge, saint-walk: a subgraph is a set of nodes with all edges between them, without --fanout and --seeds: the nodes of --batch-size parts, or --batch-size nodes, edges or walks")
	f.IntVar(&o.Importance, "importance", 0, "with --sampler labor: rounds that raise the chances of nodes which many nodes of a hop have as neighbours, so that a batch has fewer nodes")
	f.Float64Var(&o.Alpha, "alpha", 0, "with --sampler ppr: the chance that a walk ends before a step (default: 0.2)")
	f.Float64Var(&o.Eps, "eps", 0, "with --sampler ppr: the tolerance; a smaller one takes longer (default: 1e-05)")
	f.IntVar(&o.WalkLength, "walk-length", 0, "steps of a walk, with --sampler walk or saint-walk")
	f.IntVar(&o.Walks, "walks", 0, "with --sampler walk: walks from each seed (default: 10)")
	f.Float64Var(&o.Restart, "restart", 0, "with --sampler walk: the chance that a step goes back to the seed")
	f.StringVar(&o.Assignment, "assignment", "", "folder with the part of each node that graphmill partition wrote, with --sampler cluster")
	f.BoolVar(&o.Replace, "replace", false, "draw with replacement")
	f.StringVar(&o.Weight, "weight", "", "edge column: draw in proportion to it, one edge after the other (default: uniformly); with --sampler labor heavy edges are preferred, but not in exact proportion")
	f.StringVar(&o.Before, "before", "", "edge column with times: draw only edges with a time below the seed's; COLUMN<= takes equal times too")
	f.StringVar(&p.untimed, "untimed", "", "edge types without the column of --before, separated by commas; their edges are drawn at any time")
	f.StringVar(&p.beforeColumns, "before-columns", "", "columns with the times of single edge types, TYPE=COLUMN;TYPE=COLUMN, in place of that of --before (COLUMN<= as there)")
	f.StringVar(&p.beforeNodes, "before-nodes", "", "columns with the times of nodes, TYPE=COLUMN;TYPE=COLUMN: edges are drawn only if they lead to a node with a time below the seed's")
	f.StringVar(&o.Window, "window", "", "draw only edges whose time is at most this long before the seed's: a number in the unit of the column, or such as 30d, 12h, 90s")
	f.StringVar(&o.TemporalStrategy, "temporal-strategy", "", "with --before: draw edges uniformly (uniform), draw late ones more often (recent, with --half-life), or take the latest ones (last)")
	f.StringVar(&o.HalfLife, "half-life", "", "with --temporal-strategy recent: the age at which an edge is drawn half as often as the latest one, written as --window is")
	f.IntVar(&o.Negatives, "negatives", 0, "number of negative links per seed link (default: none)")
	f.StringVar(&o.NegativesHow, "negatives-how", "", "negative links: draw both ends (binary), draw the target (triplet), or take the target of another link of the batch (in-batch)")
	f.StringVar(&o.NegativesBy, "negatives-by", "", "draw the ends of negative links in proportion to: uniform (all alike), degree (number of edges to the power of 0.75), or a node column")
	f.StringVar(&o.NegativesStrict, "negatives-strict", "", "negative links that are edges: keep them (no), draw them again up to 64 times, and then keep and count them (count), or stop with an error (error)")
	f.StringVar(&o.Exclude, "exclude", "", "edges that the subgraph of seed links leaves out: those of the links (self), or these and the edges of RELATION in the other direction (reverse:RELATION)")
	f.StringVar(&o.Subgraph, "subgraph", "", "edges of a subgraph: those that were drawn (directional), these and their reverses (bidirectional), or all edges between its nodes (induced)")
	f.StringVar(&o.TimeColumn, "time-column", "", "edge column by which LATEST_K of a sampling spec orders edges")
	f.StringVar(&o.Seeds, "seeds", "", "TYPE, TYPE:COLUMN=VALUE, or a file of ids or links; TYPE is a node type or, for links, an edge type SRC:REL:DST (default: all nodes of the seed type)")
	f.StringVar(&p.seedType, "seed-type", "", "node type of the ids in a file of seeds; for links their edge type SRC:REL:DST, or the node types SOURCE,TARGET")
	f.StringVar(&o.SeedTime, "seed-time", "", "column with the times of the seed nodes or links, an .npy file with a time per seed, or one time for all seeds, such as 2024-04-01 (default: the column of --before)")
	f.IntVar(&o.LimitSeeds, "limit-seeds", 0, "take only the first N seeds of the list (default: all)")
	f.IntVar(&o.BatchSize, "batch-size", 0, "seeds per batch")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed of all draws")
	cli.Defaults(f, map[string]string{"direction": "in", "expand": "new", "scope": "batch", "sampler": "neighbor", "batch-size": "1024", "negatives-how": "binary", "negatives-by": "uniform", "negatives-strict": "no", "subgraph": "directional", "temporal-strategy": "uniform"})
	cli.Choices(f, "direction", "in", "out")
	cli.Choices(f, "expand", "new", "all")
	cli.Choices(f, "scope", "batch", "seed", "epoch")
	cli.Choices(f, "sampler", "neighbor", "labor", "ladies", "fastgcn", "hgt", "shadow", "ppr", "walk", "cluster", "saint-node", "saint-edge", "saint-walk")
	cli.Choices(f, "subgraph", "directional", "bidirectional", "induced")
	cli.Choices(f, "temporal-strategy", "uniform", "recent", "last")
	cli.Choices(f, "negatives-how", "binary", "triplet", "in-batch")
	cli.Choices(f, "negatives-by", "uniform", "degree")
	cli.Choices(f, "negatives-strict", "no", "count", "error")
	cli.Choices(f, "exclude", "self")
	cli.Values(f, cli.Fanouts, "N,N", "fanout")
	cli.Values(f, cli.EdgeColumn, "COLUMN", "weight", "before", "time-column")
	cli.Values(f, cli.EdgeTypes, "TYPES", "untimed")
	cli.Values(f, cli.EdgeAssignments, "TYPE=COLUMN", "before-columns")
	cli.Values(f, cli.NodeAssignments, "TYPE=COLUMN", "before-nodes")
	cli.Values(f, cli.NodeColumns, "NAME", "negatives-by")
	cli.Values(f, cli.Reverses, "EDGES", "exclude")
	cli.Values(f, cli.Types, "SEEDS", "seeds")
	cli.Values(f, cli.Types, "TYPE", "seed-type")
	cli.Files(f, "plan", "sampling-spec")
	cli.Folders(f, "assignment")
	cli.Named(f, "TIME", "window", "half-life")
	cli.Named(f, "COLUMN|FILE|TIME", "seed-time")
	cli.Group(f, cli.GroupDraw, "*fanout", "plan", "*sampling-spec", "direction", "expand", "*scope", "*sampler", "importance", "alpha", "eps", "walk-length",
		"walks", "restart", "assignment", "replace", "*weight", "subgraph")
	cli.Group(f, cli.GroupSeeds, "*seeds", "seed-type", "*before", "untimed", "before-columns", "before-nodes", "window", "temporal-strategy", "half-life",
		"time-column", "seed-time", "limit-seeds", "*batch-size", "*seed")
	cli.Group(f, cli.GroupLinks, "negatives", "negatives-how", "negatives-by", "negatives-strict", "exclude")
}

// AddEpoch adds the flag --epoch.
func (p *SamplingFlags) AddEpoch(f *pflag.FlagSet) {
	f.Uint64Var(&p.Epoch, "epoch", 0, "number of the first epoch")
	cli.Group(f, cli.GroupSeeds, "epoch")
}

// AddFeed adds the flags that say in which order batches are made, and with which columns.
func (p *SamplingFlags) AddFeed(f *pflag.FlagSet) {
	f.StringVar(&p.features, "features", "all", "node columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN")
	f.StringVar(&p.edgeFeatures, "edge-features", "none", "edge columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN")
	f.StringVar(&p.joined, "joined", "", "columns side by side as one column of batches, TYPE/NAME=COLUMN,COLUMN;TYPE/NAME=COLUMN,COLUMN")
	f.BoolVar(&p.Shuffle, "shuffle", false, "shuffle the seeds, differently in each epoch")
	f.StringVar(&p.order, "order", "", "order of the seeds: weighted:COLUMN, stratified:COLUMN, or windowed:BLOCK,BLOCKS (default: as given, or shuffled with --shuffle)")
	f.BoolVar(&p.Ops, "ops", false, "add the nodes that each op expanded and the edges that it drew, to make message-flow blocks from")
	cli.Choices(f, "features", "all", "none")
	cli.Choices(f, "edge-features", "all", "none")
	cli.Values(f, cli.NodeColumns, "COLUMNS", "features")
	cli.Values(f, cli.EdgeColumns, "COLUMNS", "edge-features")
	cli.Values(f, cli.Orders, "ORDER", "order")
	cli.Named(f, "TYPE/NAME=COLUMNS", "joined")
	cli.Group(f, cli.GroupBatches, "*features", "*edge-features", "joined", "*shuffle", "order", "ops")
}

// parse sets the options whose flags are texts.
func (p *SamplingFlags) parse() error {
	if err := cli.Positive(p.fs, "limit-seeds", "batch-size", "negatives", "alpha", "eps", "walks"); err != nil {
		return err
	}
	if p.fanout != "" {
		var err error
		if p.Fanout, p.FanoutByType, err = sampling.ParseFanouts(p.fanout); err != nil {
			return err
		}
	}
	var err error
	if p.BeforeColumns, err = parseAssignments("BeforeColumns", p.beforeColumns); err != nil {
		return err
	}
	if p.BeforeNodes, err = parseAssignments("BeforeNodes", p.beforeNodes); err != nil {
		return err
	}
	joined, err := parseAssignments("Joined", p.joined)
	if err != nil {
		return err
	}
	for name, columns := range joined {
		if p.Joined == nil {
			p.Joined = map[string][]string{}
		}
		p.Joined[name] = splitCommas(columns)
	}
	p.SeedType, p.Untimed = splitCommas(p.seedType), splitCommas(p.untimed)
	p.Features, p.EdgeFeatures = parseColumns(p.features), parseColumns(p.edgeFeatures)
	return nil
}

// Batches returns the options of batches that the flags set.
func (p *SamplingFlags) Batches(run option.Run) (option.Batches, error) {
	if err := p.parse(); err != nil {
		return option.Batches{}, err
	}
	return option.Batches{Run: run, Draw: p.Draw, Batching: p.Batching, Columns: p.Columns, Order: p.order}, nil
}

// parseAssignments parses "TYPE=COLUMN;TYPE=COLUMN"; nil for "".
func parseAssignments(field, text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		i := strings.LastIndex(strings.TrimSuffix(part, "<="), "=")
		if i < 1 || i == len(part)-1 {
			return nil, cli.Usagef("found %q in `%s`, expected TYPE=COLUMN, separated by semicolons", part, field)
		}
		name := strings.TrimSpace(part[:i])
		if _, twice := out[name]; twice {
			return nil, cli.Usagef("found `%s` of %s twice, expected each type once", field, name)
		}
		out[name] = strings.TrimSpace(part[i+1:])
	}
	return out, nil
}

// parseColumns parses "all", "none" or a list.
func parseColumns(text string) []string {
	switch text {
	case "":
		return nil
	case "none":
		return []string{}
	}
	return splitCommas(text)
}

// splitCommas splits a text at commas. It returns nil for "".
func splitCommas(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
