package packing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// unmanaged is the memory of the process that the runtime of Go does not count in its limit: the code.
const unmanaged = 16 << 20

// mostEffort takes weeks.
const mostEffort = 1_000_000

// checkPack refuses options that contradict each other, and fills in defaults.
func checkPack(o *option.Pack) error {
	operation.SetDefault(&o.Method, option.PackAuto)
	operation.SetDefault(&o.Heuristic, "product")
	operation.SetDefault(&o.Effort, 1)
	operation.SetDefault(&o.Oversize, option.OversizeError)
	operation.SetDefault(&o.Ranks, 1)
	switch {
	case len(o.Limits) == 0:
		return operation.Usagef("found no `Limits`, expected one for each component, such as num_nodes=222 and num_edges=502")
	case len(o.Limits) > pack.MaxComponents:
		return operation.Usagef("found `Limits` of %d components, expected at most %d", len(o.Limits), pack.MaxComponents)
	case !slices.Contains(pack.Methods, string(o.Method)):
		return operation.Usagef("found `Method` %q, expected one of %s", o.Method, strings.Join(pack.Methods, ", "))
	case !slices.Contains([]option.Oversize{option.OversizeError, option.OversizeSkip, option.OversizeAlone}, o.Oversize):
		return operation.Usagef("found `Oversize` %q, expected error, skip or alone", o.Oversize)
	case !(o.Effort > 0 && o.Effort <= mostEffort):
		return operation.Usagef("found `Effort` %v, expected a number above 0, at most %v", o.Effort, float64(mostEffort))
	case o.MaxGraphs < 0:
		return operation.Usagef("found `MaxGraphs` %d, expected at least 1, or 0 for no bound", o.MaxGraphs)
	case o.TimeBudget < 0:
		return operation.Usagef("found `TimeBudget` %v, expected a time such as 30s", o.TimeBudget)
	case o.TimeBudget > 0 && o.Method != option.PackAuto:
		return operation.Usagef("found `TimeBudget` with `Method` %s, expected it with auto alone; the other methods have no packing before their end", o.Method)
	case o.Ranks < 1:
		return operation.Usagef("found `Ranks` %d, expected at least 1", o.Ranks)
	}
	for i, l := range o.Limits {
		switch {
		case l.Component == "" || l.Max < 0 || l.Max > 1<<31-1:
			return operation.Usagef("found `Limits` %s=%d, expected COMPONENT=N with an integer from 0 to 2^31 - 1, such as num_nodes=222", l.Component, l.Max)
		case slices.ContainsFunc(o.Limits[:i], func(x option.PackLimit) bool { return x.Component == l.Component }):
			return operation.Usagef("found `Limits` of %s twice, expected each component once", l.Component)
		}
	}
	components, _ := limitsOf(o)
	if err := pack.CheckHeuristic(o.Heuristic, components); err != nil {
		return operation.Usagef("%w", err)
	}
	return operation.CheckRun(&o.Run)
}

// ofComponents makes the error of a component that the graphs lack ErrUsage: the options name it.
func ofComponents(path string, err error) error {
	if errors.Is(err, collection.ErrComponent) {
		return operation.Usagef("%s: %w", path, err)
	}
	return operation.Described(path, err)
}

// limitsOf returns the components and their limits.
func limitsOf(o *option.Pack) (components []string, limits []int) {
	for _, l := range o.Limits {
		components, limits = append(components, l.Component), append(limits, l.Max)
	}
	return components, limits
}

// madePack returns the options that determine the packing.
func madePack(o *option.Pack) store.Made {
	m := store.Made{Command: "pack", Version: operation.Version(), Inputs: map[string]string{}, Options: map[string]string{
		"limit": human.Assigned(limitsOf(o)), "max_graphs": strconv.Itoa(o.MaxGraphs), "method": string(o.Method), "heuristic": o.Heuristic,
		"effort": strconv.FormatFloat(o.Effort, 'g', -1, 64), "oversize": string(o.Oversize), "reserve": strconv.FormatBool(o.Reserve), "ranks": strconv.Itoa(o.Ranks)}}
	if o.TimeBudget > 0 {
		m.Options["time_budget"] = o.TimeBudget.String()
	}
	return m
}

// lessText explains why the limits in an error are below those that were given.
func lessText(o *option.Pack) string {
	if o.Reserve {
		return " (`Reserve` keeps room for a node of each type and a graph)"
	}
	return ""
}

// Pack puts small graphs into as few packs as it can find, so that no pack exceeds the limit of a component, and proves a
// lower bound on the number of packs. The input is a collection or a histogram: a CSV file with one line per size and the
// columns num_nodes,num_edges,count, or one to seven components of any name and count. Pack writes the pack layout to
// the folder out, or nothing if out is "". Without a TimeBudget the result depends neither on Threads nor on the machine.
func Pack(ctx context.Context, in, out string, o option.Pack) (_ *report.Packing, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := checkPack(&o); err != nil {
		return nil, err
	}
	if out != "" {
		if err := operation.Keeps(out, in); err != nil {
			return nil, err
		}
	}
	components, limits := limitsOf(&o)
	if o.Memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Memory - unmanaged))
	}
	h, fingerprint, size, err := histogram(in, components, o.Memory)
	if err != nil {
		return nil, err
	}
	from := packSource{in: in, fingerprint: fingerprint, size: size, start: start, ready: time.Now(), before: "read the sizes"}
	r, terms, err := solvePacking(&o, ctx, in, &pack.Problem{Histogram: h, Limits: limits, MaxGraphs: o.MaxGraphs})
	if err != nil {
		return nil, err
	}
	packing, l := describePacking(&o, r, terms)
	if out == "" {
		return packing, nil
	}
	if err = writePacking(&o, ctx, from, out, r, l, packing); err == nil || errors.Is(err, operation.ErrWhole) {
		packing.Output = out
	}
	return packing, err
}

// describePacking makes the layout of a result, and describes it.
func describePacking(o *option.Pack, r *pack.Result, terms layout.Terms) (*report.Packing, *layout.Layout) {
	l := layout.Of(r, terms)
	return newPacking(r, l, o), l
}

// packSource is what was packed: a collection, or a histogram, whose fingerprint is "" and whose size is the size of the file. The
// run took the time from start to ready for the stage before packing.
type packSource struct {
	in, fingerprint string
	size            int64
	start, ready    time.Time
	before          string
}

// writePacking writes the layout of a result to the folder out.
func writePacking(o *option.Pack, ctx context.Context, from packSource, out string, r *pack.Result, l *layout.Layout, packing *report.Packing) (err error) {
	writing := time.Now()
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	made := madePack(o)
	if from.fingerprint == "" {
		if from.fingerprint, err = store.Fingerprint(ctx, vfs.OS, from.in); err != nil {
			return err
		}
	}
	name := filepath.Base(from.in)
	made.Inputs[name] = from.fingerprint
	if err := l.Write(w, made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	rep := operation.NewReport(&o.Run, "pack", "Packs of "+name)
	rep.InputAt(name, from.size, from.fingerprint, from.in)
	reportPacking(rep, r, packing)
	rep.Stage(from.before, from.ready.Sub(from.start), 0, "")
	rep.Stage("pack, by "+packing.By, writing.Sub(from.ready), packing.Graphs, "graphs")
	rep.Stage("write", time.Since(writing), 0, "")
	return operation.Publish(&o.Run, w, rep, from.start)
}

// solvePacking packs the graphs, except those that are larger than a pack.
func solvePacking(o *option.Pack, ctx context.Context, in string, p *pack.Problem) (*pack.Result, layout.Terms, error) {
	terms := layout.Terms{Reserve: o.Reserve, Oversize: string(o.Oversize)}
	if o.Reserve {
		if err := layout.Reserve(p); err != nil {
			return nil, terms, err
		}
	}
	if o.Oversize != option.OversizeError {
		p.Histogram, terms.Over = p.Oversize()
		if n := terms.Over.Graphs(); n > 0 && len(p.Counts) == 0 {
			return nil, terms, fmt.Errorf("%s: found %s, all larger than a pack%s, expected some that fit; raise the limits", in, human.Counted(n, "graph"), lessText(o))
		} else if n > 0 {
			operation.Warn(&o.Run, "%s %s", human.Exact(n), layout.Larger(n, string(o.Oversize)))
		}
	}
	if err := pack.Fits(o.Memory, len(p.Counts), len(p.Components), p.Bytes()); err != nil {
		return nil, terms, fmt.Errorf("%s: %w", in, err)
	}
	line := operation.NewStages(&o.Run)
	r, err := pack.Solve(ctx, p, pack.Options{Method: string(o.Method), Heuristic: o.Heuristic, Effort: o.Effort, TimeBudget: o.TimeBudget, Threads: o.Threads,
		Progress: func(stage string, done, total int64) { line.Update(stage, done, total, "%") }})
	line.End()
	if errors.Is(err, pack.ErrOversize) {
		return nil, terms, fmt.Errorf("%s: %w%s; `Oversize` skip leaves them out and counts them, alone makes each a pack of its own", in, err, lessText(o))
	}
	if err != nil {
		return nil, terms, err
	}
	return r, terms, r.Divide(p.Histogram, o.Ranks)
}

// histogram reads the sizes of the graphs in a CSV file or a collection. The fingerprint of a CSV file is "".
func histogram(path string, components []string, memory int64) (h *pack.Histogram, fingerprint string, size int64, err error) {
	if path == "-" {
		return nil, "", 0, operation.Usagef("found -, expected a histogram (.csv) or a collection; only `Stream` reads stdin")
	}
	info, err := vfs.OS.Stat(path)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%w; give a histogram (.csv) or a collection", err)
	}
	if !info.IsDir() {
		f, err := vfs.OS.OpenStream(path)
		if err != nil {
			return nil, "", 0, err
		}
		defer operation.CloseWith(&err, f.Close)
		h, err := pack.ReadCSV(path, f, memory)
		if err != nil {
			return nil, "", 0, err
		}
		h, err = selected(path, h, components)
		return h, "", info.Size(), err
	}
	s, err := store.Open(vfs.OS, path)
	if err != nil {
		return nil, "", 0, err
	}
	defer operation.CloseWith(&err, s.Close)
	if s.Collection == nil {
		return nil, "", 0, fmt.Errorf("%s: found a store of one graph, expected a collection of many; graphmill sample or graphmill import makes one", path)
	}
	sizes, err := collection.NewSizes(s.Collection, components)
	if err != nil {
		return nil, "", 0, ofComponents(path, err)
	}
	if h, err = sizes.Histogram(memory); err != nil {
		return nil, "", 0, operation.Described(path, err)
	}
	if fingerprint, err = store.Sum(vfs.OS, path); err != nil {
		return nil, "", 0, err
	}
	size, err = store.Size(vfs.OS, path)
	return h, fingerprint, size, err
}

// selected puts the components of a histogram into the order of the limits. Each component must have a limit.
func selected(path string, h *pack.Histogram, components []string) (*pack.Histogram, error) {
	out := &pack.Histogram{Components: components}
	places := make([]int, len(components))
	for i, name := range components {
		if places[i] = slices.Index(h.Components, name); places[i] < 0 {
			return nil, operation.Usagef("found component %s, expected one of %s: %s", name, path, strings.Join(h.Components, ", "))
		}
	}
	shape := make([]int, len(components))
	for i, c := range h.Counts {
		for j, p := range places {
			shape[j] = h.Shape(i)[p]
		}
		out.Add(c, shape...)
	}
	return out, out.Normalise()
}
