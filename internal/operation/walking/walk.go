package walking

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/walk"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Defaults of option.Walk, as in the paper of node2vec.
const (
	defaultWalkLength = 80
	defaultWalks      = 10
)

// mostWalks bounds option.Walk.Walks.
const mostWalks = 1 << 20

// Walk makes random walks over a store, and writes them to the folder out as an array with a row of nodes per walk
// (docs/walks.md). A walk depends on the store, the options, its start and its number alone: the same call gives the same bytes
// for any Threads.
func Walk(ctx context.Context, in, out string, o option.Walk) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	rules, err := walkRules(&o)
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, in); err != nil {
		return nil, err
	}
	s, err := operation.OpenGraph(in)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, s.Close)
	// Little is allocated once the buffers have grown, but before that garbage could exceed the budget.
	defer operation.LessGarbage(20)()
	r := operation.NewReport(&o.Run, "walk", "Walks over "+operation.Titled(in))
	plan, err := walkPlan(&o, s.Graph, rules)
	if err != nil {
		return nil, err
	}
	m, err := sampling.OpenMessages(ctx, &o.Run, s, plan, "")
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, m.Close)
	sampler, err := walkSampler(&o, m.Store, plan, rules, r)
	if err != nil {
		return nil, err
	}
	defer sampler.Close()
	walker, err := walk.New(ctx, sampler, rules, o.Threads)
	if err != nil {
		return nil, err
	}
	if o.Visits > 0 {
		if err := walker.CheckVisits(o.Walks); err != nil {
			return nil, operation.Usagef("%w", err)
		}
	}
	starts, err := walkStarts(&o, ctx, s, plan.SeedType, out)
	if err != nil {
		return nil, err
	}
	made := madeWalk(&o, walker.Rules())
	if made.Inputs["store"], err = operation.InputFolder(r, in); err != nil {
		return nil, err
	}
	r.Stage("compile the path", time.Since(start), 0, "")
	rows := int64(len(starts)) * int64(o.Walks)
	var result *walk.Result
	return r, operation.WriteOutput(&o.Run, ctx, out, &made, r, start, operation.Work{Progress: "walk", Stage: "walk and write", Total: rows, Unit: "walks"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		options := walk.WriteOptions{Job: walk.Job{Seed: o.Seed, Epoch: o.Epoch}, Starts: starts, Walks: o.Walks, EdgeIDs: o.EdgeIDs, Visits: o.Visits,
			Threads: o.Threads, Progress: func(n int) { line.Add(int64(n)) }}
		write, count, each := walker.Write, uint64(rows), walker.RowBytes(o.EdgeIDs)
		if o.Visits > 0 {
			write, count, each = walker.WriteVisits, uint64(len(starts)), walker.VisitBytes(options)
		}
		if err := vfs.Room(vfs.OS, w.Dir(), count, each, "the walks"); err != nil {
			return 0, err
		}
		result, err = write(ctx, w, options)
		return rows, err
	}, func(took time.Duration) { reportWalks(&o, r, result, len(starts), took) })
}

// reportWalks reports what was walked.
func reportWalks(o *option.Walk, r *report.Report, result *walk.Result, starts int, took time.Duration) {
	r.Head("walks", report.Count(result.Walks, "walks"))
	r.Head("steps", report.Count(result.Steps, "steps"))
	r.Head("steps per second", report.Number(float64(result.Steps)/took.Seconds(), "/s"))
	r.In("starts", report.Count(starts, "starts"))
	if o.Visits > 0 {
		r.Out("nodes that were visited most", report.Count(result.Visits, "edges"))
	}
	r.Out("walks", report.Count(result.Walks, "walks"))
	r.Out("walks that ended early", report.Count(result.Short, "walks"))
	r.Out("steps", report.Count(result.Steps, "steps"))
	if result.Steps == 0 {
		text := "found no edge at any start, and walks that are their starts alone; do the edges lead the other way (`Direction`)?"
		operation.Warn(&o.Run, "%s", text)
		r.Note(text)
	}
	r.Plot(report.Distribution{Title: "Length of the walks", Of: "walks", What: "length", View: report.Bins, Series: []report.Series{{Name: "nodes", Histogram: &result.Lengths}}})
}

// walkRules checks the options that need no store, and fills in defaults.
func walkRules(o *option.Walk) (r walk.Rules, err error) {
	if err := operation.CheckRun(&o.Run); err != nil {
		return r, err
	}
	operation.SetDefault(&o.Walks, defaultWalks)
	operation.SetDefault(&o.Direction, option.DirectionOut)
	if o.Length == 0 && len(o.Metapath) == 0 {
		o.Length = defaultWalkLength
	}
	switch {
	case o.Walks < 1 || o.Walks > mostWalks:
		return r, operation.Usagef("found `Walks` %d, expected 1 to %d", o.Walks, mostWalks)
	case o.LimitSeeds < 0:
		return r, operation.Usagef("found `LimitSeeds` %d, expected at least 1, or 0 for all", o.LimitSeeds)
	case o.Visits < 0 || o.Visits > walk.MostVisits:
		return r, operation.Usagef("found `Visits` %d, expected 1 to %d nodes per start, or 0 for the walks", o.Visits, walk.MostVisits)
	case o.Visits > 0 && o.EdgeIDs:
		return r, operation.Usagef("found `Visits` and `EdgeIDs`, expected one of them: visits are of nodes")
	}
	dir, err := graph.ParseDirection(string(o.Direction))
	if err != nil {
		return r, operation.Usagef("`Direction`: %w", err)
	}
	return walk.Rules{Path: o.Metapath, Dir: dir, Length: o.Length, P: o.P, Q: o.Q, Stop: o.Stop, Restart: o.Restart, End: o.End, Column: o.Weight}, nil
}

// walkPlan is the edges that the walks take.
func walkPlan(o *option.Walk, g *graph.Graph, rules walk.Rules) (*sample.Plan, error) {
	plan, err := walk.Plan(g, rules)
	if err == nil {
		err = sampling.SetMessages(g, plan, "Messages", o.Messages)
	}
	if err == nil {
		err = plan.Validate(g)
	}
	if errors.Is(err, walk.ErrRules) || errors.Is(err, sample.ErrPlan) {
		return nil, operation.Usagef("%w", err)
	}
	return plan, err
}

// walkSampler reads what the walks read.
func walkSampler(o *option.Walk, s *store.Store, plan *sample.Plan, rules walk.Rules, r *report.Report) (*sample.Sampler, error) {
	length := rules.Length
	if length == 0 {
		length = len(plan.Ops)
	}
	buffers := walk.Need(length, o.Threads)
	if o.Visits > 0 {
		buffers = walk.VisitsNeed(length, o.Walks, o.Visits, o.Threads)
	}
	need := limits.ProcessBytes + sample.NeedArrays(s.Graph, plan, o.Threads) + walk.Sorted(s.Graph, rules) + buffers
	return sampling.NewSampler(s, plan, need, o.Memory, sample.Options{NoEdgeIDs: !o.EdgeIDs, Warn: func(text string) {
		operation.Warn(&o.Run, "%s", text)
		r.Note(text)
	}})
}

// walkStarts finds the nodes from which walks start.
func walkStarts(o *option.Walk, ctx context.Context, s *store.Store, types []string, out string) ([]uint32, error) {
	files, err := seeds.Files(vfs.OS, s.Graph, o.Seeds)
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, files...); err != nil {
		return nil, err
	}
	found, err := seeds.Find(ctx, vfs.OS, s, o.Seeds, types, "", nil, o.LimitSeeds)
	if err != nil {
		if len(files) > 0 { // a fault of the file, not of the options
			return nil, err
		}
		return nil, sampling.UsageOf(err)
	}
	if len(found.Types) != 1 {
		return nil, operation.Usagef("found links as `Seeds`, expected nodes of type %s, from which the path starts; give a file of ids, or TYPE:COLUMN=VALUE", types[0])
	}
	return found.Nodes, nil
}

// madeWalk says how the output was made.
func madeWalk(o *option.Walk, r walk.Rules) store.Made {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return store.Made{Command: "walk", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{
		"length": strconv.Itoa(r.Length), "walks": strconv.Itoa(o.Walks), "metapath": strings.Join(r.Path, ","), "direction": r.Dir.String(),
		"p": number(r.P), "q": number(r.Q), "stop": number(r.Stop), "restart": number(r.Restart), "end": number(r.End), "visits": strconv.Itoa(o.Visits), "weight": r.Column,
		"seeds": o.Seeds, "limit_seeds": strconv.Itoa(o.LimitSeeds), "seed": strconv.FormatUint(o.Seed, 10), "epoch": strconv.FormatUint(o.Epoch, 10),
		"edge_ids": strconv.FormatBool(o.EdgeIDs), "messages": strings.Join(o.Messages, ";")}}
}
