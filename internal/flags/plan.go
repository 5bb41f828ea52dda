package flags

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/sample/spec"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Plan are the flags that say what to sample: the plan and its seeds. Exported are those that
// commands also use for themselves.
type Plan struct {
	PlanFile, SpecFile string
	Seeds, SeedTime    string
	Limit, BatchSize   int
	Seed, Epoch        uint64

	fanout                   string
	direction, expand, scope string
	replace                  bool
	weight, before, untimed  string
	timeColumn               string
	seedType                 string

	// Set by a command that knows them: the schema of the graph, which names the
	// ends and features of links, and whether specs go by TF-GNN's older sampler.
	Schema  *tfgnnpb.GraphSchema
	Classic bool
}

// Planned is what to sample.
type Planned struct {
	Plan *sample.Plan
	Job  sample.Job
	// Columns are those of link seeds, a row a seed.
	Columns []*graph.Column
}

// Add adds the flags to a command's.
func (p *Plan) Add(f *pflag.FlagSet) {
	f.StringVar(&p.fanout, "fanout", "", "edges a node at each hop: 15,10, or cites=15,10;writes=5,5; -1 is all")
	f.StringVar(&p.PlanFile, "plan", "", "file with a plan (JSON)")
	f.StringVar(&p.SpecFile, "sampling-spec", "", "file with a TF-GNN SamplingSpec (pbtxt)")
	f.StringVar(&p.direction, "direction", "in", "follow in-edges (in) or out-edges (out)")
	f.StringVar(&p.expand, "expand", "new", "expand nodes found new (new, as PyG) or all (all, as DGL)")
	f.StringVar(&p.scope, "scope", "batch", "a node's draws are its own in each epoch, batch or seed; seed gives one subgraph a seed")
	f.BoolVar(&p.replace, "replace", false, "draw with replacement")
	f.StringVar(&p.weight, "weight", "", "draw in proportion to this edge column")
	f.StringVar(&p.before, "before", "", "draw only edges whose COLUMN is below the seed's time; COLUMN<= takes equal times too")
	f.StringVar(&p.untimed, "untimed", "", "edge types without the time column, comma-separated: drawn at any time")
	f.StringVar(&p.timeColumn, "time-column", "", "edge column that LATEST_K of a sampling spec goes by")
	f.StringVar(&p.Seeds, "seeds", "", "TYPE, TYPE:COLUMN=VALUE, or a file of ids or links (default: all nodes of the seed type)")
	f.StringVar(&p.seedType, "seed-type", "", "node type of the ids of a seeds file; SOURCE,TARGET of links")
	f.StringVar(&p.SeedTime, "seed-time", "", "node column with the seeds' times (default: the column of --before)")
	f.IntVar(&p.Limit, "limit-seeds", 0, "take only the first N seeds (default: all)")
	f.IntVar(&p.BatchSize, "batch-size", 1024, "seeds a batch")
	f.Uint64Var(&p.Seed, "seed", 0, "seed of all draws")
}

// AddEpoch adds the flag of commands that begin at an epoch.
func (p *Plan) AddEpoch(f *pflag.FlagSet) {
	f.Uint64Var(&p.Epoch, "epoch", 0, "number of the first epoch")
}

// Check refuses flags that contradict each other; f is what Add was given, parsed.
func (p *Plan) Check(f *pflag.FlagSet) error {
	changed := f.Changed
	// A plan or spec says all of this itself: nothing is ignored in silence.
	if p.fanout == "" {
		for _, name := range []string{"direction", "expand", "scope", "replace", "weight", "before", "untimed"} {
			if changed(name) {
				return usagef("found --%s without --fanout, expected it to stand in the plan", name)
			}
		}
	}
	switch {
	case p.SpecFile == "" && changed("time-column"):
		return usagef("found --time-column without --sampling-spec, expected them together")
	case p.before == "" && changed("untimed"):
		return usagef("found --untimed without --before, expected them together")
	case changed("limit-seeds") && p.Limit < 1:
		return usagef("found --limit-seeds %d, expected at least 1", p.Limit)
	}
	given := 0
	for _, s := range []string{p.fanout, p.PlanFile, p.SpecFile} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return usagef("found %d of --fanout, --plan and --sampling-spec, expected one; try --fanout 15,10", given)
	case p.BatchSize < 1:
		return usagef("found --batch-size %d, expected at least 1", p.BatchSize)
	case p.replace && p.weight != "":
		return usagef("found --replace and --weight, expected one of them")
	}
	return nil
}

// Resolve makes the plan on a store, and finds its seeds.
func (p *Plan) Resolve(ctx context.Context, s *store.Store) (*Planned, error) {
	r := &Planned{Job: sample.Job{BatchSize: p.BatchSize, Seed: p.Seed, Epoch: p.Epoch}}
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store to sample from", s.Dir)
	}
	types, err := p.seedTypes()
	if err != nil {
		return nil, err
	}
	if r.Plan, err = p.fixedPlan(s.Graph, types); err != nil {
		return nil, err
	}
	if r.Plan != nil {
		if len(types) > 0 && !slices.Equal(types, r.Plan.SeedType) && !(r.Plan.Link() && len(types) == 1) {
			return nil, usagef("found --seed-type %s, expected %s, from which the plan starts", p.seedType, strings.Join(r.Plan.SeedType, ","))
		}
		types = r.Plan.SeedType
	}
	features, err := p.linkFeatures()
	if err != nil {
		return nil, err
	}
	found, err := seeds.Find(ctx, vfs.OS, s, p.Seeds, types, features, p.Limit)
	if err != nil {
		if _, missing := vfs.OS.Stat(p.Seeds); missing == nil { // what a file says is no usage
			return nil, err
		}
		return nil, UsageOf(err)
	}
	if r.Plan == nil {
		if r.Plan, err = p.fanoutPlan(s.Graph, found.Types); err != nil {
			return nil, UsageOf(err)
		}
	}
	r.Job.Seeds, r.Columns = found.Nodes, found.Columns
	if r.Plan.Before == nil && p.SeedTime != "" {
		return nil, usagef("found --seed-time with a plan that looks at no times, expected --before")
	}
	if r.Plan.Before != nil {
		column := p.SeedTime
		if column == "" {
			column = r.Plan.Before.Column
		}
		if r.Job.Times, err = seeds.Times(s.Graph, found, column); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// seedTypes are the node types of --seed-type.
func (p *Plan) seedTypes() ([]string, error) {
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
func (p *Plan) linkFeatures() ([]table.Column, error) {
	set := p.Schema.GetNodeSets()[tfgnn.ReadoutName]
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

// UsageOf makes an error about the plan or seeds one of the command line.
func UsageOf(err error) error {
	if errors.Is(err, sample.ErrPlan) || errors.Is(err, sample.ErrSeed) {
		return usagef("%w", err)
	}
	return err
}

// fixedPlan is the plan of a file, nil with --fanout.
func (p *Plan) fixedPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	switch {
	case p.PlanFile != "":
		b, err := vfs.ReadFile(vfs.OS, p.PlanFile, 16<<20)
		if err != nil {
			return nil, err
		}
		plan, err := sample.ParsePlan(p.PlanFile, b)
		if err != nil {
			return nil, err
		}
		spec.AddOnes(plan, g)
		return plan, plan.Validate(g)
	case p.SpecFile != "":
		return p.specPlan(g, seedTypes)
	}
	return nil, nil
}

// specPlan is the plan of a sampling spec.
func (p *Plan) specPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	text, err := p.readSpec()
	if err != nil {
		return nil, err
	}
	if e := p.Schema.GetEdgeSets()[tfgnn.ReadoutSource]; len(seedTypes) == 0 && e != nil {
		seedTypes = []string{e.GetSource()}
	}
	if len(seedTypes) == 0 && len(g.Nodes) == 1 {
		seedTypes = []string{g.Nodes[0].Type}
	}
	plan, err := spec.Compile(text, g, spec.Options{TimeColumn: p.timeColumn, SeedTypes: seedTypes, Classic: p.Classic})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.SpecFile, err)
	}
	return plan, nil
}

// readSpec reads the spec, and checks it where the schema is known.
func (p *Plan) readSpec() (*tfgnnpb.SamplingSpec, error) {
	if p.Schema == nil {
		return tfgnnfiles.ReadSpec(vfs.OS, p.SpecFile)
	}
	f, err := tfgnnfiles.OpenSpec(vfs.OS, p.SpecFile, p.Schema)
	if err != nil {
		return nil, err
	}
	return f.Message, f.Err()
}

func (p *Plan) fanoutPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
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

// NewSampler compiles a plan within a budget; columns is the bytes of the columns
// that the caller will read besides. A budget that cannot hold the least needed
// is refused; a memory of 0 is no bound.
func NewSampler(g *graph.Graph, plan *sample.Plan, threads int, memory Bytes, columns int64, opt sample.Options) (*sample.Sampler, error) {
	need := SamplerBytes(g, plan, threads, opt.Induce) + columns
	opt.Memory = 1 << 62
	if memory > 0 {
		if int64(memory) < need {
			return nil, fmt.Errorf("found --memory %s, expected at least %s, which the memory executor needs for this plan; give more memory or fewer --threads",
				human.Bytes(int64(memory)), human.Bytes(need))
		}
		opt.Memory = int64(memory) - need
	}
	return sample.New(g, plan, opt)
}

// SamplerBytes is the least memory that a program holds which samples a plan in
// memory by several threads.
func SamplerBytes(g *graph.Graph, plan *sample.Plan, threads int, induce bool) int64 {
	return sample.Need(g, plan, threads, induce) + processBytes
}

// processBytes is what the program holds before it works.
const processBytes = 24 << 20
