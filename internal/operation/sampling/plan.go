package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/sample/spec"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// planned is a plan on a store, with its seeds.
type planned struct {
	plan *sample.Plan
	job  sample.Job
	// columns are the columns of link seeds, one row per seed: of features in pieces, the pieces. edges is the edge type of the store that the
	// links are edges of; empty where they come from a file.
	columns []*graph.Column
	edges   string
	unborn  int // ends of given negatives that do not exist at the time of their link
	given   int // with Positives: the seed nodes, with those that are left out
	// features are the store's, for TFRecords; nil for none.
	features *widening.Features
}

// seeds returns the number of seeds. A link is one seed.
func (p *planned) seeds() int { return len(p.job.Seeds) / len(p.plan.SeedType) }

// resolve makes the plan for a store, and finds its seeds. The options must have been checked.
func (o *request) resolve(ctx context.Context, s *store.Store) (*planned, error) {
	p := &planned{job: sample.Job{BatchSize: o.BatchSize, Seed: o.Seed, Epoch: o.Epoch, Epochs: o.Epochs, Shuffle: o.Shuffle, Rank: o.Rank, Ranks: o.Ranks, Threads: o.Threads}}
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store to sample from; give the store that it was sampled from", s.Dir)
	}
	if n := len(s.Graph.Nodes); o.sets() && n != 1 {
		return nil, operation.Usagef("found `Sampler` %s on a graph of %d node types, expected one node type; import the graph as one node type, or take `Sampler` hgt or neighbor", o.Sampler, n)
	}
	types, edges, err := o.seedTypes(s.Graph)
	if err != nil {
		return nil, err
	}
	positives, err := o.positiveEdges(s.Graph, types, edges)
	if err != nil {
		return nil, err
	}
	if p.plan, err = o.fixedPlan(s.Graph, types); err != nil {
		return nil, err
	}
	switch {
	case positives != nil:
		if p.plan != nil {
			if err := checkStart(p.plan, positives); err != nil {
				return nil, err
			}
		}
		types = []string{positives.Type.Src}
	case p.plan != nil:
		if len(types) > 0 && !slices.Equal(types, p.plan.SeedType) && !(p.plan.Link() && len(types) == 1) || edges != "" && p.plan.SeedEdges != "" && edges != p.plan.SeedEdges {
			return nil, operation.Usagef("found `SeedType` %s, expected %s, from which the plan starts; leave `SeedType` out, or change seed_type in the plan", joined(o.SeedType), cmp.Or(p.plan.SeedEdges, joined(p.plan.SeedType)))
		}
		types, edges = p.plan.SeedType, cmp.Or(edges, p.plan.SeedEdges)
	}
	if o.Format == option.FormatTFRecord {
		if p.features, err = widening.Read(vfs.OS, s.Dir); err != nil {
			return nil, err
		}
	}
	features, err := o.linkFeatures()
	if err != nil {
		return nil, err
	}
	linked := edges
	if positives != nil {
		linked = positives.Type.String()
	}
	if err := o.bring(ctx, s, types, linked); err != nil {
		return nil, err
	}
	found, err := o.findSeeds(ctx, s, types, edges, features)
	if err != nil {
		if there, unknown := vfs.Exists(vfs.OS, o.Seeds); there || unknown != nil { // a fault of the file, not of the options
			return nil, err
		}
		return nil, UsageOf(err)
	}
	if o.NegativesFrom != "" {
		if p.job.Negatives, o.listed, err = seeds.Negatives(ctx, vfs.OS, s, found, o.NegativesFrom); err != nil {
			if named := graph.FindColumn(found.Columns, o.NegativesFrom) != nil || seeds.FilesOfNegatives(o.NegativesFrom) != nil; !named {
				err = UsageOf(err)
			}
			return nil, err
		}
	}
	types = found.Types
	if positives != nil {
		types = []string{positives.Type.Src, positives.Type.Dst}
	}
	if edges = cmp.Or(linked, found.Edges); p.plan == nil {
		p.plan, err = o.fanoutPlan(s.Graph, types, edges)
	} else if o.Plan == "" {
		if err = o.linked(s.Graph, p.plan, edges); err == nil {
			err = p.plan.Validate(s.Graph)
		}
	}
	if err == nil {
		err = o.checkNegatives(p)
	}
	if err != nil {
		return nil, UsageOf(err)
	}
	if o.Aggregation == option.AggregationNode {
		induced := *p.plan
		induced.Kind = sample.Induced
		p.plan = &induced
	}
	p.job.Seeds, p.columns, p.edges = found.Nodes, found.Columns, found.Edges
	if p.job.Times, err = o.timesOf(ctx, s.Graph, p, found, positives != nil); err != nil {
		return nil, err
	}
	if positives != nil {
		return p, p.drawnLinks(o, s.Graph, positives, found, features)
	}
	p.unborn, err = p.plan.Unborn(s.Graph, &p.job)
	return p, err
}

// findSeeds finds the seeds; of those that are asked for, one that stands for them.
func (o *request) findSeeds(ctx context.Context, s *store.Store, types []string, edges string, features []table.Column) (*seeds.Seeds, error) {
	if !o.asked {
		return seeds.Find(ctx, vfs.OS, s, o.Seeds, types, edges, features, o.LimitSeeds)
	}
	if len(types) != 2 {
		return seeds.Find(ctx, vfs.OS, s, "", types, edges, features, 1)
	}
	found := &seeds.Seeds{Types: types, Edges: edges, Nodes: []uint32{0, 0}}
	for _, t := range types {
		if s.Graph.Nodes[s.Graph.NodeType(t)].Count == 0 {
			found.Nodes = nil
		}
	}
	return found, nil
}

// timesOf are the times of the seeds that were found; nil for a plan that does not use times.
func (o *request) timesOf(ctx context.Context, g *graph.Graph, p *planned, found *seeds.Seeds, nodes bool) ([]sample.Time, error) {
	if p.plan.Before == nil {
		if o.SeedTime != "" {
			return nil, operation.Usagef("found `SeedTime` with a plan that does not use times, expected `Before`; give the column of the edges' times as `Before`, or leave `SeedTime` out")
		}
		return nil, nil
	}
	if o.asked {
		return []sample.Time{p.plan.ZeroTime(g)}[:min(1, len(found.Nodes))], nil
	}
	implied := p.timeOfSeeds()
	if nodes {
		implied = p.timeOfNodes()
	}
	column := cmp.Or(o.SeedTime, implied)
	if column == "" {
		return nil, operation.Usagef("found no column with the times of the seeds, expected one; give `SeedTime`")
	}
	return seeds.Times(ctx, vfs.OS, g, found, column, p.plan.TimeUnit(g))
}

// timeOfSeeds is the column of the times of the seeds that the plan implies: the column of their own type, or of all types.
func (p *planned) timeOfSeeds() string {
	b := p.plan.Before
	if p.plan.Link() {
		return cmp.Or(b.Columns[p.plan.SeedEdges], b.Column)
	}
	return cmp.Or(b.NodeColumns[p.plan.SeedType[0]], b.Column)
}

// linkFeatures returns the features that a schema declares for links; nil without a schema.
func (o *request) linkFeatures() ([]table.Column, error) {
	set := o.schema.GetNodeSets()[tfgnn.ReadoutName]
	if set == nil {
		return nil, nil
	}
	columns := []table.Column{}
	for _, name := range slices.Sorted(maps.Keys(set.Features)) {
		f := set.Features[name]
		d := examplecolumns.DType(f.GetDtype())
		if d == graph.Invalid {
			return nil, fmt.Errorf("node set %q: feature %q: found dtype %s, expected a number, bool or string; remove the feature from the schema", tfgnn.ReadoutName, name, f.GetDtype())
		}
		if name != tfgnn.SourceName && name != tfgnn.TargetName {
			columns = append(columns, table.Column{Name: name, DType: d, Shape: examplecolumns.Shape(f)})
		}
	}
	return columns, nil
}

// UsageOf turns an error about the plan or seeds into a usage error.
func UsageOf(err error) error {
	if errors.Is(err, sample.ErrPlan) || errors.Is(err, sample.ErrSeed) {
		return operation.Usagef("%w", err)
	}
	return err
}

// fixedPlan returns the plan of a file, which may be one of DGF; nil with fanouts.
func (o *request) fixedPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	switch {
	case o.Plan != "":
		b, err := vfs.ReadFile(vfs.OS, o.Plan, 16<<20)
		if err != nil {
			return nil, err
		}
		if dgf.IsPlan(b) {
			return o.dgfPlan(g, b)
		}
		if o.TimeColumn != "" {
			return nil, operation.Usagef("found `TimeColumn` with a plan that has columns of times itself, expected it with a `SamplingSpec` or a plan of DGF; leave it out")
		}
		plan, err := sample.ParsePlan(o.Plan, b)
		if err != nil {
			return nil, err
		}
		spec.AddOnes(plan, g)
		return plan, plan.Validate(g)
	case o.SamplingSpec != "":
		return o.specPlan(g, seedTypes)
	}
	return nil, nil
}

// dgfPlan returns the plan of the text of a plan of Google's DGF.
func (o *request) dgfPlan(g *graph.Graph, text []byte) (*sample.Plan, error) {
	d, err := dgf.ParsePlan(o.Plan, text)
	if err != nil {
		return nil, tagged.Errorf(sample.ErrPlan, "%w", err)
	}
	plan, err := spec.CompileDGF(d, g, o.TimeColumn)
	return plan, operation.Described(o.Plan, err)
}

// specPlan returns the plan of a sampling spec.
func (o *request) specPlan(g *graph.Graph, seedTypes []string) (*sample.Plan, error) {
	text, err := o.readSpec()
	if err != nil {
		return nil, err
	}
	if e := o.schema.GetEdgeSets()[tfgnn.ReadoutSource]; len(seedTypes) == 0 && e != nil {
		seedTypes = []string{e.GetSource()}
	}
	if len(seedTypes) == 0 && len(g.Nodes) == 1 {
		seedTypes = []string{g.Nodes[0].Type}
	}
	plan, err := spec.Compile(text, g, spec.Options{TimeColumn: o.TimeColumn, SeedTypes: seedTypes, Classic: o.Compat == option.CompatClassic})
	return plan, operation.Described(o.SamplingSpec, err)
}

// readSpec reads the spec, and checks it against the schema if there is one.
func (o *request) readSpec() (*tfgnnpb.SamplingSpec, error) {
	if o.schema == nil {
		return tfgnnfiles.ReadSpec(vfs.OS, o.SamplingSpec)
	}
	f, err := tfgnnfiles.OpenSpec(vfs.OS, o.SamplingSpec, o.schema)
	if err != nil {
		return nil, err
	}
	return f.Message, f.Err()
}

// fanoutPlan returns the plan of the fanouts. edges is the edge type of seed links, empty where it is not known.
func (o *request) fanoutPlan(g *graph.Graph, seedTypes []string, edges string) (*sample.Plan, error) {
	fanouts := sample.Fanouts{Each: o.Fanout}
	if o.sets() {
		fanouts.Each = []int{0}
	}
	for _, name := range slices.Sorted(maps.Keys(o.FanoutByType)) {
		fanouts.Types = append(fanouts.Types, sample.TypeFanouts{Edges: name, Hops: o.FanoutByType[name]})
	}
	f := sample.FanoutOptions{SeedType: seedTypes, Scope: sample.ScopeBatch}
	var err error
	if o.Direction != "" {
		if f.Dir, err = graph.ParseDirection(string(o.Direction)); err != nil {
			return nil, operation.Usagef("`Direction`: %w", err)
		}
	}
	if o.Expand != "" {
		if f.Expand, err = sample.ParseExpand(string(o.Expand)); err != nil {
			return nil, operation.Usagef("`Expand`: %w", err)
		}
	}
	if o.Scope != "" {
		if f.Scope, err = sample.ParseScope(string(o.Scope)); err != nil {
			return nil, operation.Usagef("`Scope`: %w", err)
		}
	}
	switch {
	case o.Sampler == option.SamplerLabor:
		f.How, f.Column = sample.Labor, o.Weight
		f.Importance = o.Importance
	case o.Sampler == option.SamplerPPR:
		f.How, f.Alpha, f.Eps = sample.PPR, cmp.Or(o.Alpha, 0.2), cmp.Or(o.Eps, 1e-5)
	case o.Sampler == option.SamplerWalk:
		f.How, f.Walks, f.Length, f.Restart = sample.Walk, cmp.Or(o.Walks, 10), o.WalkLength, o.Restart
	case o.Sampler == option.SamplerLadies:
		f.How = sample.Ladies
	case o.Sampler == option.SamplerFastGCN:
		f.How = sample.FastGCN
	case o.Sampler == option.SamplerHGT:
		f.How = sample.HGT
	case o.Replace:
		f.How = sample.Replace
	case o.Weight != "":
		f.How, f.Column = sample.Weighted, o.Weight
	}
	if f.Before, err = o.before(g); err != nil {
		return nil, err
	}
	p, err := sample.FromFanouts(g, fanouts, f)
	if err != nil {
		return nil, err
	}
	if err := o.temporal(g, p); err != nil {
		return nil, err
	}
	if err := o.linked(g, p, edges); err != nil {
		return nil, err
	}
	return p, p.Validate(g)
}

// compat converts Compat, which must have been checked.
func (o *request) compat() output.Compat {
	c, _ := output.ParseCompat(string(o.Compat))
	return c
}

func joined(names []string) string { return strings.Join(names, ",") }

// ParseFanouts reads "15,10", for every edge type, or "cites=15,10;writes=5,5", as the fields Fanout and FanoutByType. -1 draws all edges.
func ParseFanouts(text string) (each []int, byType map[string][]int, err error) {
	f, err := sample.ParseFanouts(text)
	if err != nil {
		return nil, nil, operation.Usagef("%w", err)
	}
	for _, t := range f.Types {
		if byType == nil {
			byType = map[string][]int{}
		}
		byType[t.Edges] = t.Hops
	}
	return f.Each, byType, nil
}
