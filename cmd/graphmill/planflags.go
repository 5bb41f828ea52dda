package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/graph/feature"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/sample/output"
	"github.com/graphmill/graphmill/sample/seeds"
	"github.com/graphmill/graphmill/sample/spec"
	"github.com/graphmill/graphmill/store"
)

// planFlags are the flags that say what to sample: the plan and its seeds.
type planFlags struct {
	fanout, plan, spec       string
	direction, expand, scope string
	replace                  bool
	weight, before, untimed  string
	timeColumn               string
	seeds, seedType          string
	seedTime                 string
	limit, batchSize         int
	seed, epoch              uint64

	// Set by a command that knows them: the schema of the graph, which names the
	// ends and features of links, and whether specs go by TF-GNN's older sampler.
	schema  *tfgnnpb.GraphSchema
	classic bool
}

// planned is what to sample.
type planned struct {
	plan *sample.Plan
	job  sample.Job
	// columns of link seeds, a row a seed
	columns []*graph.Column
}

func (p *planFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.fanout, "fanout", "", "edges a node at each hop: 15,10, or cites=15,10;writes=5,5; -1 is all")
	f.StringVar(&p.plan, "plan", "", "file with a plan (JSON)")
	f.StringVar(&p.spec, "sampling-spec", "", "file with a TF-GNN SamplingSpec (pbtxt)")
	f.StringVar(&p.direction, "direction", "in", "follow in-edges (in) or out-edges (out)")
	f.StringVar(&p.expand, "expand", "new", "expand nodes found new (new, as PyG) or all (all, as DGL)")
	f.StringVar(&p.scope, "scope", "batch", "a node's draws are its own in each epoch, batch or seed; seed gives one subgraph a seed")
	f.BoolVar(&p.replace, "replace", false, "draw with replacement")
	f.StringVar(&p.weight, "weight", "", "draw in proportion to this edge column")
	f.StringVar(&p.before, "before", "", "draw only edges whose COLUMN is below the seed's time; COLUMN<= takes equal times too")
	f.StringVar(&p.untimed, "untimed", "", "edge types without the time column, comma-separated: drawn at any time")
	f.StringVar(&p.timeColumn, "time-column", "", "edge column that LATEST_K of a sampling spec goes by")
	f.StringVar(&p.seeds, "seeds", "", "TYPE, TYPE:COLUMN=VALUE, or a file of ids or links (default: all nodes of the seed type)")
	f.StringVar(&p.seedType, "seed-type", "", "node type of the ids of a seeds file; SOURCE,TARGET of links")
	f.StringVar(&p.seedTime, "seed-time", "", "node column with the seeds' times (default: the column of --before)")
	f.IntVar(&p.limit, "limit-seeds", 0, "take only the first N seeds (default: all)")
	f.IntVar(&p.batchSize, "batch-size", 1024, "seeds a batch")
	f.Uint64Var(&p.seed, "seed", 0, "seed of all draws")
	f.Uint64Var(&p.epoch, "epoch", 0, "number of the first epoch")
}

func (p *planFlags) check(cmd *cobra.Command) error {
	changed := func(name string) bool { return cmd.Flags().Changed(name) }
	// A plan or spec says all of this itself: nothing is ignored in silence.
	if p.fanout == "" {
		for _, name := range []string{"direction", "expand", "scope", "replace", "weight", "before", "untimed"} {
			if changed(name) {
				return usagef("found --%s without --fanout, expected it to stand in the plan", name)
			}
		}
	}
	switch {
	case p.spec == "" && changed("time-column"):
		return usagef("found --time-column without --sampling-spec, expected them together")
	case p.before == "" && changed("untimed"):
		return usagef("found --untimed without --before, expected them together")
	case changed("limit-seeds") && p.limit < 1:
		return usagef("found --limit-seeds %d, expected at least 1", p.limit)
	}
	given := 0
	for _, s := range []string{p.fanout, p.plan, p.spec} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return usagef("found %d of --fanout, --plan and --sampling-spec, expected one; try --fanout 15,10", given)
	case p.batchSize < 1:
		return usagef("found --batch-size %d, expected at least 1", p.batchSize)
	case p.replace && p.weight != "":
		return usagef("found --replace and --weight, expected one of them")
	}
	return nil
}

// resolve makes the plan on a store, and finds its seeds.
func (p *planFlags) resolve(cmd *cobra.Command, s *store.Store) (*planned, error) {
	r := &planned{job: sample.Job{BatchSize: p.batchSize, Seed: p.seed, Epoch: p.epoch}}
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store to sample from", s.Dir)
	}
	types, err := p.seedTypes()
	if err != nil {
		return nil, err
	}
	if r.plan, err = p.fixedPlan(s.Graph, types); err != nil {
		return nil, err
	}
	if r.plan != nil {
		if len(types) > 0 && !slices.Equal(types, r.plan.SeedType) && !(r.plan.Link() && len(types) == 1) {
			return nil, usagef("found --seed-type %s, expected %s, from which the plan starts", p.seedType, strings.Join(r.plan.SeedType, ","))
		}
		types = r.plan.SeedType
	}
	features, err := p.linkFeatures()
	if err != nil {
		return nil, err
	}
	found, err := seeds.Find(cmd.Context(), fsx.OS, s, p.seeds, types, features)
	if err != nil {
		if _, missing := fsx.OS.Stat(p.seeds); missing == nil { // what a file says is no usage
			return nil, err
		}
		return nil, usageOf(err)
	}
	if r.plan == nil {
		if r.plan, err = p.fanoutPlan(s.Graph, found.Types); err != nil {
			return nil, usageOf(err)
		}
	}
	if p.limit > 0 {
		found.Nodes = found.Nodes[:min(p.limit*len(found.Types), len(found.Nodes))]
	}
	r.job.Seeds, r.columns = found.Nodes, found.Columns
	if r.plan.Before == nil && p.seedTime != "" {
		return nil, usagef("found --seed-time with a plan that looks at no times, expected --before")
	}
	if r.plan.Before != nil {
		column := p.seedTime
		if column == "" {
			column = r.plan.Before.Column
		}
		if r.job.Times, err = seeds.Times(s.Graph, found, column); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// seedTypes are the node types of --seed-type.
func (p *planFlags) seedTypes() ([]string, error) {
	if p.seedType == "" {
		return nil, nil
	}
	types := strings.Split(p.seedType, ",")
	if len(types) > 2 {
		return nil, usagef("found --seed-type %s, expected a node type, or those of the source and target of links", p.seedType)
	}
	return types, nil
}

// linkFeatures are the features that a schema declares of links; nil: not known.
func (p *planFlags) linkFeatures() ([]table.Column, error) {
	set := p.schema.GetNodeSets()[tfgnn.ReadoutName]
	if set == nil {
		return nil, nil
	}
	columns := []table.Column{}
	for _, name := range slices.Sorted(maps.Keys(set.Features)) {
		f := set.Features[name]
		d := feature.DType(f.GetDtype())
		if d == graph.Invalid {
			return nil, fmt.Errorf("node set %q: feature %q: found dtype %s, expected a number, bool or string", tfgnn.ReadoutName, name, f.GetDtype())
		}
		if name != tfgnn.SourceName && name != tfgnn.TargetName {
			columns = append(columns, table.Column{Name: name, DType: d, Shape: feature.Shape(f)})
		}
	}
	return columns, nil
}

// usageOf makes an error about the plan or seeds one of the command line.
func usageOf(err error) error {
	if errors.Is(err, sample.ErrPlan) || errors.Is(err, sample.ErrSeed) {
		return usageError{err}
	}
	return err
}

// fixedPlan is the plan of a file, nil with --fanout.
func (p *planFlags) fixedPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	switch {
	case p.plan != "":
		b, err := fsx.ReadFile(fsx.OS, p.plan, 16<<20)
		if err != nil {
			return nil, err
		}
		plan, err := sample.ParsePlan(p.plan, b)
		if err != nil {
			return nil, err
		}
		spec.AddOnes(plan, g)
		return plan, plan.Validate(g)
	case p.spec != "":
		return p.specPlan(g, seedTypes)
	}
	return nil, nil
}

// specPlan is the plan of a sampling spec.
func (p *planFlags) specPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	text, err := p.readSpec()
	if err != nil {
		return nil, err
	}
	if e := p.schema.GetEdgeSets()[tfgnn.ReadoutSource]; len(seedTypes) == 0 && e != nil {
		seedTypes = []string{e.GetSource()}
	}
	if len(seedTypes) == 0 && len(g.Nodes) == 1 {
		seedTypes = []string{g.Nodes[0].Type}
	}
	plan, err := spec.Compile(text, g, spec.Options{TimeColumn: p.timeColumn, SeedTypes: seedTypes, Classic: p.classic})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.spec, err)
	}
	return plan, nil
}

// readSpec reads the spec, and checks it where the schema is known.
func (p *planFlags) readSpec() (*tfgnnpb.SamplingSpec, error) {
	if p.schema == nil {
		return tfgnn.ReadSpec(fsx.OS, p.spec)
	}
	f, err := tfgnn.OpenSpec(fsx.OS, p.spec, p.schema)
	if err != nil {
		return nil, err
	}
	return f.Message, f.Err()
}

func (p *planFlags) fanoutPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	fanouts, err := sample.ParseFanouts(p.fanout)
	if err != nil {
		return nil, err
	}
	o := sample.FanoutOptions{SeedType: seedTypes}
	if o.Dir, err = graph.ParseDirection(p.direction); err != nil {
		return nil, usagef("--direction: %w", err)
	}
	if o.Expand, err = sample.ParseExpand(p.expand); err != nil {
		return nil, usagef("--expand: %w", err)
	}
	if o.Scope, err = sample.ParseScope(p.scope); err != nil {
		return nil, usagef("--scope: %w", err)
	}
	switch {
	case p.replace:
		o.How = sample.Replace
	case p.weight != "":
		o.How, o.Column = sample.Weighted, p.weight
	}
	if p.before != "" {
		o.Before = &sample.Before{}
		o.Before.Column, o.Before.OrEqual = strings.CutSuffix(p.before, "<=")
		if p.untimed != "" {
			for name := range strings.SplitSeq(p.untimed, ",") {
				e, err := g.EdgeType(name)
				if err != nil {
					return nil, usagef("--untimed: %w", err)
				}
				o.Before.Untimed = append(o.Before.Untimed, g.Edges[e].Type.String())
			}
		}
	}
	return sample.FromFanouts(g, fanouts, o)
}

// newSampler compiles a plan within a budget; columns is the bytes of the columns
// that the caller will read besides. A budget that cannot hold the least needed
// is refused.
func newSampler(g *graph.Graph, plan *sample.Plan, c common, columns int64, opt sample.Options) (*sample.Sampler, error) {
	need := sample.Need(g, plan, c.threads, opt.Induce) + columns + processBytes
	opt.Memory = 1 << 62
	if c.memory > 0 {
		if int64(c.memory) < need {
			return nil, fmt.Errorf("found --memory %s, expected at least %s, which the memory executor needs for this plan; give more memory or fewer --threads",
				human.Bytes(int64(c.memory)), human.Bytes(need))
		}
		opt.Memory = int64(c.memory) - need
	}
	return sample.New(g, plan, opt)
}

// processBytes is what the program holds before it works.
const processBytes = 24 << 20

// columnBytes is the size of the columns and ids that TFRecords of a plan join.
func columnBytes(g *graph.Graph, plan *sample.Plan, induce bool) int64 {
	var n int64
	nodes, edges := output.Reach(g, plan)
	if induce {
		edges = plan.Induced(g)
	}
	for _, i := range edges {
		for _, c := range g.Edges[i].Columns {
			n += c.Bytes()
		}
	}
	for _, i := range nodes {
		for _, c := range g.Nodes[i].Columns {
			n += c.Bytes()
		}
		if ids := g.Nodes[i].IDs; ids != nil {
			n += ids.Bytes()
		}
	}
	return n
}
