package importing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/querying"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// DescribeImportFormats describes the formats that Import reads.
func DescribeImportFormats() []report.ImportFormat {
	var list []report.ImportFormat
	for _, f := range ingest.List() {
		list = append(list, report.ImportFormat{Name: f.Name, Source: f.About, Becomes: f.Becomes})
	}
	return list
}

// checkBuild refuses options that contradict each other, and fills in defaults.
func checkBuild(o *option.Build) error {
	operation.SetDefault(&o.DuplicateEdges, option.PolicyKeep)
	operation.SetDefault(&o.SelfLoops, option.PolicyKeep)
	return errors.Join(operation.CheckRun(&o.Run),
		checkPolicy("DuplicateEdges", o.DuplicateEdges, option.PolicyKeep, option.PolicyDrop, option.PolicyDropEqual, option.PolicyError, option.PolicySum, option.PolicyCount),
		checkPolicy("SelfLoops", o.SelfLoops, option.PolicyKeep, option.PolicyDrop, option.PolicyError, option.PolicyAdd))
}

func checkPolicy(field string, p option.Policy, takes ...option.Policy) error {
	if slices.Contains(takes, p) {
		return nil
	}
	var names []string
	for _, t := range takes {
		names = append(names, string(t))
	}
	return operation.Usagef("found `%s` %q, expected one of %s", field, p, strings.Join(names, ", "))
}

// policies maps the policies to package assemble's.
//
// Those that a transform carries out keep the rows until then.
var policies = map[option.Policy]assemble.Policy{option.PolicyError: assemble.Error, option.PolicyDrop: assemble.Drop, option.PolicyKeep: assemble.Keep, option.PolicyZeros: assemble.Zeros,
	option.PolicyAdd: assemble.Keep, option.PolicySum: assemble.Keep, option.PolicyCount: assemble.Keep, option.PolicyDropEqual: assemble.Keep}

func assembleOptions(o *option.Build) assemble.Options {
	return assemble.Options{
		Both: o.Both, DanglingEdges: assemble.Error, DuplicateNodes: assemble.Error,
		DuplicateEdges: policies[o.DuplicateEdges], SelfLoops: policies[o.SelfLoops],
		Threads: o.Threads, Memory: o.Memory,
	}
}

// check refuses options that contradict each other, and fills in defaults.
func (o *importJob) check() error {
	operation.SetDefault(&o.DanglingEdges, option.PolicyError)
	operation.SetDefault(&o.DuplicateNodes, option.PolicyError)
	if o.Schema == "" && o.Lenient {
		return operation.Usagef("found `Lenient` without `Schema`, expected TFRecords and `Schema`; leave `Lenient` out, or give the schema of the TFRecords")
	}
	if o.cluster != nil && o.Schema != "" {
		return operation.Usagef("found `Schema` on a cluster, expected the tables of one graph; use graphmill import")
	}
	return errors.Join(checkBuild(&o.Build),
		checkPolicy("DanglingEdges", o.DanglingEdges, option.PolicyError, option.PolicyDrop, option.PolicyZeros),
		checkPolicy("DuplicateNodes", o.DuplicateNodes, option.PolicyError, option.PolicyDrop))
}

// source converts the options for package ingest.
func (o *importJob) source() (ingest.Options, error) {
	s := ingest.Options{Format: o.Format, More: o.More, Columns: o.Columns, Src: o.Src, Dst: o.Dst, SrcType: o.SrcType, DstType: o.DstType, Indptr: o.Indptr, Indices: o.Indices, NumNodes: o.NumNodes, Relations: o.Relations,
		Symmetrise: o.Symmetrise, Outside: o.AllowOutside}
	s.Vectors = o.Vectors
	err := operation.ReadTables(&s, o.IDs, o.Delimiter, o.ArrayDelimiter, o.Missing)
	return s, err
}

// Import reads a source, and writes it to the folder out: one graph becomes a store, many graphs become a collection.
// The source is a file or folder in one of the formats of DescribeImportFormats, the address of a database (sqlite:FILE or
// postgres://USER@HOST/DATABASE), "-" for Input, or "" if Indptr and Indices are
// given. The store does not depend on Memory or Threads. The caller closes it.
//
// c imports on the workers of a cluster; nil imports in this process.
func Import(ctx context.Context, source, out string, options option.Import, c *Cluster) (*store.Store, *report.Report, error) {
	o := importJob{Import: options, cluster: c}
	st, err := o.run(ctx, source, out)
	return st, o.report, err
}

// importJob is an import: options, and what became of them.
type importJob struct {
	option.Import
	cluster *Cluster               // nil: this process imports
	started time.Time              // when the work began; zero: when the graph is built
	begun   func(r *report.Report) // called with the report; nil: not
	copies  *querying.Copies       // of databases; nil: none
	like    *features.File         // the features of Like; nil: none
	report  *report.Report         // of a store or collection that was published
}

// run is Import.
func (o *importJob) run(ctx context.Context, source, out string) (st *store.Store, err error) {
	asked := o.Import
	if err := o.check(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && st != nil {
			err = errors.Join(err, st.Close())
			st = nil
		}
	}()
	defer guard.Catch(&err)()
	if database.Is(source) {
		return o.importDatabase(ctx, source, out)
	}
	if len(o.TimeColumn) > 0 {
		return nil, operation.Usagef("found `TimeColumn` without a database, expected the times of tables in a graph.yaml; write the column with the type datetime in a graph.yaml")
	}
	if o.Schema != "" {
		return o.importRecords(ctx, append([]string{source}, o.More...), out)
	}
	fsys := vfs.OS
	if source == "-" {
		var done func() error
		if fsys, source, done, err = o.spool(ctx, out); err != nil {
			return nil, err
		}
		defer operation.CloseAfter(&err, out, done)
	}
	options, err := o.source()
	if err != nil {
		return nil, err
	}
	options.Temp, options.Threads, options.Memory = operation.FolderOf(out), o.Threads, o.Memory
	if err := o.openFeatures(&options); err != nil {
		return nil, err
	}
	if o.cluster == nil && o.copies == nil {
		q := &querying.Queries{Out: out, Overwrite: o.Overwrite}
		options.Query, o.copies = q.Read, &q.Copies
		defer operation.CloseAfter(&err, out, q.Close)
		defer func() { err = q.Places.In(err) }()
	}
	ctx = table.Bound(ctx, o.Memory, o.Threads)
	start := time.Now()
	src, err := ingest.Open(ctx, fsys, source, options)
	if err != nil {
		if errors.Is(err, ingest.ErrUsage) {
			return nil, operation.Usagef("%w", err)
		}
		return nil, err
	}
	defer operation.CloseAfter(&err, out, src.Close)
	if err := o.checkSource(source, src); err != nil {
		return nil, err
	}
	o.follow(&asked, src)
	r := operation.NewReport(&o.Import.Build.Run, "import", operation.Titled(out))
	o.report = r
	o.tellSource(src, r)
	if err := operation.Keeps(out, src.Files...); err != nil {
		return nil, err
	}
	inputs, err := o.inputsOf(ctx, fsys, cmp.Or(source, o.Indptr), src, r)
	if err != nil {
		return nil, err
	}
	collecting := time.Now()
	if err := src.Collect(ctx, o.Threads, o.Memory/4, o.Homogeneous); err != nil {
		return nil, err
	}
	r.Stage("open", collecting.Sub(start)-o.copies.Time(), 0, "")
	if src.Collected() != nil {
		r.Stage("categories", time.Since(collecting), 0, "")
	}
	if src.Collection != nil {
		return o.importCollection(ctx, src, inputs, out, r, start)
	}
	o.started = cmp.Or(o.started, start)
	return o.importGraph(ctx, source, options, src, inputs, out, r)
}

// tellSource reports the source, and warns of what it says.
func (o *importJob) tellSource(src *ingest.Source, r *report.Report) {
	if o.begun != nil {
		o.begun(r)
	}
	o.copies.Report(r)
	for _, what := range src.Lakes {
		r.Note("made from " + what)
	}
	for _, w := range append(o.copies.Warnings(), src.Warnings...) {
		w = o.copies.Text(w)
		operation.Warn(&o.Import.Build.Run, "%s", w)
		r.Note(w)
	}
}

// inputsOf are the fingerprints of all files that are read, by name. source is a path, or an array.
func (o *importJob) inputsOf(ctx context.Context, fsys vfs.FS, source string, src *ingest.Source, r *report.Report) (map[string]string, error) {
	names := filepath.Base
	if fsys == vfs.OS { // no pipe
		var err error
		if names, err = operation.Below(source); err != nil {
			return nil, err
		}
	}
	files := src.Files
	if o.Features != "" {
		files = append(files[:len(files):len(files)], o.Features)
	}
	files = append(files[:len(files):len(files)], listFiles(&o.Import.Build, files)...)
	return operation.Fingerprints(ctx, fsys, files, r, o.copies.Inputs(names))
}

// checkSource refuses what the source has and the options do not allow.
func (o *importJob) checkSource(source string, src *ingest.Source) error {
	if src.Collection != nil {
		if o.cluster != nil {
			return fmt.Errorf("%s: found many graphs, expected one graph on a cluster; use graphmill import", source)
		}
		if err := o.checkCollection(src.Format); err != nil {
			return err
		}
	}
	if !src.Features.None() {
		switch {
		case src.Collection != nil:
			return operation.Usagef("found features of many graphs, expected one graph; leave the features out")
		case o.cluster != nil:
			return fmt.Errorf("%s: found features on a cluster, expected an import on one machine; use graphmill import", source)
		case o.Homogeneous:
			return operation.Usagef("found `Homogeneous` with features of types, expected one of them; leave the features or `Homogeneous` out")
		}
	}
	if o.cluster != nil && slices.ContainsFunc(src.Input.Edges, func(e assemble.Edges) bool { return e.Where != nil && e.Where.Own }) {
		return fmt.Errorf("%s: found triples with an edge type for each relation, expected other tables on a cluster; give `Relations` column, or use graphmill import", source)
	}
	return nil
}

// importGraph makes a store of one graph.
func (o *importJob) importGraph(ctx context.Context, source string, from ingest.Options, src *ingest.Source, inputs map[string]string, out string, r *report.Report) (*store.Store, error) {
	opt := assembleOptions(&o.Import.Build)
	opt.Homogeneous, opt.NoPositions, opt.Primary, opt.Held = o.Homogeneous, o.NoPositions, src.Primary, src.Held
	opt.DanglingEdges, opt.DuplicateNodes = policies[o.DanglingEdges], policies[o.DuplicateNodes]
	if o.Primary != "" {
		var err error
		if opt.Primary, err = graph.ParseDirection(string(o.Primary)); err != nil {
			return nil, operation.Usagef("`Primary`: %w", err)
		}
	}
	made := store.Made{Command: "import", Inputs: inputs, Version: operation.Version(), Options: map[string]string{
		"format": src.Format, "homogeneous": strconv.FormatBool(o.Homogeneous), "symmetrise": strconv.FormatBool(o.Symmetrise),
		"dangling_edges": string(o.DanglingEdges), "duplicate_nodes": string(o.DuplicateNodes), "duplicate_edges": string(o.DuplicateEdges),
		"self_loops": string(o.SelfLoops), "both": strconv.FormatBool(o.Both), "primary": opt.Primary.String(), DeclaredIDs: strings.Join(src.DeclaredIDs, ","),
	}}
	recordTransforms(&o.Import.Build.Transforms, &made)
	o.copies.Made(&made)
	for t, mark := range src.Marks {
		made.Mark(t, mark)
	}
	for t, mark := range src.Taken {
		made.Mark(t, mark)
	}
	if len(o.Missing) > 0 {
		made.Options["missing"] = strings.Join(o.Missing, ",")
	}
	if o.Like != "" {
		sum, err := store.Sum(vfs.OS, o.Like)
		if err != nil {
			return nil, err
		}
		made.Options["like"] = sum
	}
	if o.Relations != "" {
		made.Options["relations"] = o.Relations
	}
	if o.NoPositions {
		made.Options["no_positions"] = "true"
	}
	if o.NumNodes > 0 {
		made.Options["num_nodes"] = fmt.Sprint(o.NumNodes)
	}
	if o.cluster != nil {
		return o.onCluster(ctx, source, from, src, opt, out, made, r)
	}
	return buildStoreBy(&o.Import.Build, ctx, o.started, out, made, r, func(w *store.Writer, progress told) (*assemble.Result, error) {
		opt.Progress = progress
		build := func(w *store.Writer) (*assemble.Result, error) {
			return o.reviewed(src, r)(assembleStore(&o.Import.Build, ctx, w, src.Input, opt, r))
		}
		if src.Features.None() {
			return build(w)
		}
		return o.withFeatures(ctx, w, src, r, build)
	})
}

// reviewed returns a function that hands on what a build returns, and warns of what is suspicious about it.
func (o *importJob) reviewed(src *ingest.Source, r *report.Report) func(*assemble.Result, error) (*assemble.Result, error) {
	return func(result *assemble.Result, err error) (*assemble.Result, error) {
		if err == nil {
			for _, w := range src.Review(result) {
				w = o.copies.Text(w)
				operation.Warn(&o.Import.Build.Run, "%s", w)
				r.Note(w)
			}
		}
		return result, err
	}
}

// buildStore builds, seals, reports, publishes and opens a store.
func buildStore(o *option.Build, ctx context.Context, in assemble.Input, opt assemble.Options, out string, made store.Made, r *report.Report) (*store.Store, error) {
	return buildStoreBy(o, ctx, time.Time{}, out, made, r, func(w *store.Writer, progress told) (*assemble.Result, error) {
		opt.Progress = progress
		return assembleStore(o, ctx, w, in, opt, r)
	})
}

// assembleStore writes the arrays and columns of a graph, with the changes that the options ask for.
func assembleStore(o *option.Build, ctx context.Context, w *store.Writer, in assemble.Input, opt assemble.Options, r *report.Report) (*assemble.Result, error) {
	if t := transformsOf(o); !t.None() {
		return buildTransformed(o, ctx, w, in, opt, r)
	}
	opt.Foreseen = func(stages []progress.Stage) { operation.Foresee(&o.Run, stages) }
	return assemble.Build(ctx, vfs.OS, w, in, opt)
}

// told is a function that takes the progress of a stage.
type told = func(stage string, done, total int64, unit string)

// buildStoreBy is build with the function that writes the arrays and columns. started is when the work began; zero is now.
func buildStoreBy(o *option.Build, ctx context.Context, started time.Time, out string, made store.Made, r *report.Report, write func(w *store.Writer, progress told) (*assemble.Result, error)) (_ *store.Store, err error) {
	start := cmp.Or(started, time.Now())
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	stages := operation.NewStages(&o.Run)
	result, err := write(w, stages.Update)
	stages.End()
	if err != nil {
		return nil, err
	}
	result.Meta.Made = made
	sealing := time.Now()
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, err
	}
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return nil, err
	}
	ReportBuild(r, result)
	operation.WarnUnderflows(&o.Run, r, result.Underflows)
	r.Stage("checksums", time.Since(sealing), 0, "")
	counting := time.Now()
	err = errors.Join(reportStore(r, s), reportSplits(r, s, o.Splits))
	r.Stage("count degrees", time.Since(counting), 0, "")
	if err == nil && !o.NoReport {
		err = reportColumns(ctx, &o.Run, r, s)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return opened(out, operation.Publish(&o.Run, w, r, start))
}

// opened opens an output after it was published.
func opened(out string, err error) (*store.Store, error) {
	if err != nil {
		return nil, err
	}
	return store.Open(vfs.OS, out)
}

// checkCollection refuses options that do not apply to sources of many graphs.
func (o *importJob) checkCollection(format string) error {
	return o.checkOnly(format+" of many graphs", "that collections have", "Format", "Symmetrise", "Missing", "AllowOutside")
}

// checkOnly refuses all options except Run's and the ones that takes lists.
func (o *importJob) checkOnly(what, have string, takes ...string) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"Format", o.Format != ""}, {"Columns", o.Columns != ""}, {"Vectors", len(o.Vectors) > 0}, {"Missing", len(o.Missing) > 0}, {"Src", o.Src != ""}, {"Dst", o.Dst != ""}, {"SrcType", o.SrcType != ""}, {"DstType", o.DstType != ""}, {"IDs", o.IDs != "" && o.IDs != "auto"}, {"Delimiter", o.Delimiter != ""}, {"ArrayDelimiter", o.ArrayDelimiter != ""},
		{"Indptr", o.Indptr != ""}, {"Indices", o.Indices != ""}, {"NumNodes", o.NumNodes != 0}, {"Relations", o.Relations != ""}, {"Symmetrise", o.Symmetrise}, {"Homogeneous", o.Homogeneous}, {"NoPositions", o.NoPositions},
		{"Primary", o.Primary != ""}, {"Both", o.Both}, {"DanglingEdges", o.DanglingEdges != option.PolicyError}, {"DuplicateNodes", o.DuplicateNodes != option.PolicyError},
		{"DuplicateEdges", o.DuplicateEdges != option.PolicyKeep}, {"SelfLoops", o.SelfLoops != option.PolicyKeep}, {"LargestComponent", o.LargestComponent}, {"Splits", len(o.Splits) > 0},
		{"SplitSeed", o.SplitSeed != 0}, {"Normalise", len(o.Normalise) > 0}, {"AllowOutside", o.AllowOutside}, {"Features", o.Features != ""}, {"Like", o.Like != ""},
	} {
		if f.given && !slices.Contains(takes, f.name) {
			list := ""
			if len(takes) > 0 {
				list = ": `" + strings.Join(takes, "`, `") + "`"
			}
			return operation.Usagef("found `%s` with %s, expected options %s%s", f.name, what, have, list)
		}
	}
	return nil
}
