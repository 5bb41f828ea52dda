package importing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// follow adds the changes and rules that a source asks for. Options that were asked for win.
func (o *importJob) follow(asked *option.Import, src *ingest.Source) {
	t := &src.Transforms
	if asked.DanglingEdges == "" && src.Rules.DanglingEdges != "" {
		o.DanglingEdges = option.Policy(src.Rules.DanglingEdges)
	}
	if asked.DuplicateNodes == "" && src.Rules.DuplicateNodes != "" {
		o.DuplicateNodes = option.Policy(src.Rules.DuplicateNodes)
	}
	if src.Rules.Partial {
		o.DanglingEdges, o.DuplicateNodes = option.PolicyZeros, option.PolicyDrop
	}
	if asked.SelfLoops == "" && t.SelfLoops != "" {
		o.SelfLoops = option.Policy(t.SelfLoops)
	}
	if asked.DuplicateEdges == "" && t.DuplicateEdges != "" {
		o.DuplicateEdges = option.Policy(t.DuplicateEdges)
	}
	if asked.SplitSeed == 0 {
		o.SplitSeed = t.Seed
	}
	o.Symmetrise = o.Symmetrise || t.Symmetrise
	o.LargestComponent = o.LargestComponent || t.LargestComponent
	if len(asked.Normalise) == 0 {
		o.Normalise = t.Normalise
	}
	if len(asked.Splits) == 0 {
		for i := range t.Splits {
			o.Splits = append(o.Splits, splitOption(&t.Splits[i]))
		}
	}
}

// transformsOf returns the changes that the options ask for.
func transformsOf(o *option.Build) transform.Options {
	t := transform.Options{
		SelfLoops: o.SelfLoops == option.PolicyAdd, LargestComponent: o.LargestComponent, Normalise: o.Normalise, Seed: o.SplitSeed,
	}
	switch o.DuplicateEdges {
	case option.PolicySum:
		t.Merge = transform.MergeSum
	case option.PolicyCount:
		t.Merge = transform.MergeCount
	case option.PolicyDropEqual:
		t.Merge = transform.MergeEqual
	}
	for i := range o.Splits {
		t.Splits = append(t.Splits, operation.SplitTransform(&o.Splits[i]))
	}
	return t
}

// recordTransforms adds what was changed to how a store was made.
func recordTransforms(t *option.Transforms, made *store.Made) {
	options := made.Options
	if t.LargestComponent {
		options["largest_component"] = "true"
	}
	if len(t.Splits) > 0 {
		var texts []string
		var splits []option.Split
		for _, s := range t.Splits {
			s.Files = slices.Clone(s.Files)
			for i, f := range s.Files {
				if f != "" { // the inputs have the fingerprint
					s.Files[i] = filepath.Base(f)
				}
			}
			texts, splits = append(texts, s.String()), append(splits, s)
		}
		options["split"], options["split_seed"] = strings.Join(texts, " "), strconv.FormatUint(t.SplitSeed, 10)
		made.Splits, _ = json.Marshal(splits) // numbers and texts alone
	}
	if len(t.Normalise) > 0 {
		options["normalise"] = strings.Join(t.Normalise, " ")
	}
}

// buildTransformed builds the graph in a folder within the output's folder, and from it the changed graph.
func buildTransformed(o *option.Build, ctx context.Context, w *store.Writer, in assemble.Input, opt assemble.Options, r *report.Report) (_ *assemble.Result, err error) {
	t := transformsOf(o)
	t.Memory = o.Memory
	if err := openListed(o, t.Splits); err != nil {
		return nil, err
	}
	t.Splits = withReverses(t.Splits, in.Edges)
	if !opt.Homogeneous { // the columns that all types have are known later
		if err := checkTransforms(&in, t); err != nil {
			return nil, err
		}
	}
	first, err := store.Create(vfs.OS, filepath.Join(w.Dir(), "before"), false)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, first.Abort)
	once := opt
	once.Both = opt.Both && !t.Edges()
	once.NoPositions = false // splits use positions, to put an edge and its reverse into the same part
	result, err := assemble.Build(ctx, vfs.OS, first, in, once)
	if err != nil {
		return nil, err
	}
	if err := first.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, err
	}
	s, err := store.Open(vfs.OS, first.Dir())
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, s.Close)
	for _, n := range s.Graph.Nodes {
		opt.Held += t.NodeBytes() * int64(n.Count)
	}
	if err := opt.CheckMemory(); err != nil {
		return nil, err
	}
	t.Touched = s.Touched
	changed, err := transform.New(ctx, s.Graph, t)
	if err != nil {
		return nil, optionError(err)
	}
	if !t.Edges() {
		return result, takeColumns(ctx, w, first.Dir(), changed, s.Meta, result.Meta, opt.NoPositions)
	}
	opt.Homogeneous, opt.DanglingEdges, opt.DuplicateNodes = false, assemble.Error, assemble.Error
	opt.DuplicateEdges, opt.SelfLoops = assemble.Keep, assemble.Keep
	again := changed.Input()
	if opt.NoPositions {
		for i := range again.Edges {
			e := &again.Edges[i]
			e.Columns = slices.DeleteFunc(e.Columns, func(c table.Column) bool { return c.Name == graph.PositionColumn })
		}
	}
	second, err := assemble.Build(ctx, vfs.OS, w, again, opt)
	if err != nil {
		return nil, err
	}
	changed.Finish(second.Meta, s.Meta)
	result.Meta, result.Stages = second.Meta, slices.Concat(result.Stages, second.Stages)
	noteTransforms(r, changed.Result(), t.Merge)
	return result, nil
}

// isReverse says whether two edge types have the same rows with the ends swapped.
func isReverse(e, r *assemble.Edges) bool {
	return r.Table == e.Table && r.Src.Name == e.Dst.Name && r.Dst.Name == e.Src.Name && r.Type.Src == e.Type.Dst && r.Type.Dst == e.Type.Src
}

// takeColumns moves the files of a store that stay as they are to the output, and writes the others. With noPositions it leaves
// out the positions of edges.
func takeColumns(ctx context.Context, w *store.Writer, from string, changed *transform.Transform, of, meta *store.Meta, noPositions bool) error {
	m, err := store.ReadManifest(vfs.OS, from)
	if err != nil {
		return err
	}
	left := changed.Changed(of)
	if noPositions {
		for _, e := range meta.Edges {
			if c, ok := e.Columns[graph.PositionColumn]; ok {
				left[c.File] = true
				delete(e.Columns, graph.PositionColumn)
				e.NoPositions = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if name == store.MetaFile || left[store.FileOf(name)] {
			continue
		}
		if err := w.Take(name, from); err != nil {
			return err
		}
	}
	return changed.Columns(ctx, w, meta)
}

// checkTransforms checks the changes before anything is read.
func checkTransforms(in *assemble.Input, t transform.Options) error {
	return optionError(transform.Check(outlineOf(in), t))
}

// outlineOf is the types of a graph with the dtypes of their columns, without values.
func outlineOf(in *assemble.Input) *graph.Graph {
	g := &graph.Graph{}
	columns := func(from []table.Column) (to []*graph.Column) {
		for _, c := range from {
			x := &graph.Column{Name: c.Name, DType: c.DType, Shape: c.Shape, Unit: c.Unit}
			if c.Categories != nil {
				x.Categories = &graph.Column{DType: graph.String}
			}
			to = append(to, x)
		}
		return to
	}
	for _, n := range in.Nodes {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: n.Type, Columns: columns(n.Columns)})
	}
	for _, e := range in.Edges {
		g.Edges = append(g.Edges, &graph.Edges{Type: e.Type, Columns: columns(e.Columns)})
	}
	g.Sort()
	return g
}

// optionError makes an error of options one of usage.
func optionError(err error) error {
	if errors.Is(err, transform.ErrOption) {
		return operation.Usagef("%w", err)
	}
	return err
}

// noteTransforms says in the report what was changed.
func noteTransforms(r *report.Report, x transform.Result, merge transform.Merge) {
	if x.Components > 0 {
		r.Note(fmt.Sprintf("%s of %s nodes are in the largest of %s components; the others are left out", human.Exact(int64(x.Kept)), human.Exact(int64(x.Nodes)), human.Exact(int64(x.Components))))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Merged)) {
		what := "were merged into earlier ones with equal ends"
		if merge == transform.MergeEqual {
			what = "dropped: an earlier one has the same ends and columns"
		}
		r.Note(human.Exact(int64(x.Merged[name])) + " " + human.Things(int64(x.Merged[name]), fmt.Sprintf("edges of %s %s", name, what)))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Loops)) {
		r.Note(human.Exact(int64(x.Loops[name])) + " " + human.Things(int64(x.Loops[name]), fmt.Sprintf("self-loops of %s were added", name)))
	}
}
