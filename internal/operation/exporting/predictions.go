package exporting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/export/predictions"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Predictions writes arrays with a row per node or edge of a store as a table with their original ids.
func Predictions(ctx context.Context, in, out string, o option.Predictions) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	if o.Memory > 0 {
		defer operation.LessGarbage(20)() // garbage counts as memory
	}
	opt, err := predictionOptions(&o)
	if err != nil {
		return nil, err
	}
	if out == "" {
		return nil, operation.Usagef("found no `Out`, expected a file to write; give `Out`")
	}
	to, err := predictions.ParseTarget(out, o.Table)
	if err != nil {
		return nil, operation.Usagef("%w", err)
	}
	if database.Is(out) && !strings.HasPrefix(out, "sqlite:") { // others may see what a report names
		out = database.Shown(to.Path) + "#" + to.Table
	}
	if err := operation.Keeps(strings.TrimPrefix(to.Path, "sqlite:"), in); err != nil {
		return nil, err
	}
	s, err := operation.OpenGraph(in)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, s.Close)
	r := operation.NewReport(&o.Run, "export predictions", operation.Titled(in))
	if opt.Origin, err = operation.InputFolder(r, in); err != nil {
		return nil, err
	}
	var line *operation.Meter
	if o.Top > 0 {
		if err := findTop(ctx, s, to, &o, opt, r); err != nil {
			return nil, err
		}
	}
	opt.Begin = func(rows int) { line = operation.NewMeter(&o.Run, "export", int64(rows), "rows") }
	opt.Progress = func(rows int) { line.Add(int64(rows)) }
	began := time.Now()
	result, err := predictions.Write(ctx, vfs.OS, s, to, *opt)
	line.End()
	if err != nil {
		return nil, predictionsError(err)
	}
	r.Stage("encode and write", time.Since(began), result.Read, "rows")
	tellPredictions(&o, r, result)
	r.Finish(time.Since(start))
	r.Output = out
	return r, nil
}

// findTop finds the items of each source, which are then written.
func findTop(ctx context.Context, s *store.Store, to predictions.Target, o *option.Predictions, opt *predictions.Options, r *report.Report) error {
	var line *operation.Meter
	top := predictions.Top{K: o.Top, Sources: o.SourceEmbeddings, Targets: o.TargetEmbeddings, Cosine: o.Similarity == "cosine", Known: o.Known}
	top.Begin = func(pairs int64) { line = operation.NewMeter(&o.Run, "score", pairs, "pairs") }
	top.Progress = func(pairs int64) { line.Add(pairs) }
	began := time.Now()
	found, err := predictions.FindTop(ctx, vfs.OS, s, to, opt, top)
	line.End()
	if err != nil {
		return predictionsError(err)
	}
	r.Stage("score", time.Since(began), int64(found.Sources)*int64(found.Targets), "pairs")
	r.In("sources", report.Count(found.Sources, "sources"))
	r.In("targets", report.Count(found.Targets, "targets"))
	if found.Few > 0 {
		text := human.Exact(found.Few) + " " + human.Things(found.Few, fmt.Sprintf("sources have fewer than %d targets left", o.Top))
		operation.Note(&o.Run, "%s", text)
		r.Note(text)
	}
	return nil
}

// predictionsError marks errors of the stage by their kinds, as operations mark theirs.
func predictionsError(err error) error {
	switch {
	case errors.Is(err, predictions.ErrUsage), errors.Is(err, database.ErrUsage):
		return operation.Usagef("%w", err)
	case errors.Is(err, database.ErrTableExists):
		return tagged.Errorf(operation.ErrExists, "%w", err)
	}
	return err
}

// predictionOptions converts the options for package predictions.
func predictionOptions(o *option.Predictions) (*predictions.Options, error) {
	if o.Top < 0 {
		return nil, operation.Usagef("found `Top` %d, expected at least 1", o.Top)
	}
	if o.Top == 0 && (o.SourceEmbeddings != "" || o.TargetEmbeddings != "" || len(o.Known) > 0 || o.Similarity == "cosine") {
		return nil, operation.Usagef("found `SourceEmbeddings`, `TargetEmbeddings`, `Similarity` or `Known` without `Top`, expected how many targets each source gets; give `Top`")
	}
	if o.Similarity != "" && o.Similarity != "dot" && o.Similarity != "cosine" {
		return nil, operation.Usagef("found `Similarity` %q, expected dot or cosine", o.Similarity)
	}
	opt := &predictions.Options{Type: o.Type, Nodes: o.Nodes, Rows: o.Rows, With: o.With, IDName: o.IDName, EdgeIDs: o.EdgeIDs, IntegerIDs: o.IntegerIDs,
		Overwrite: o.Overwrite, Threads: o.Threads, Memory: o.Memory}
	for _, text := range o.Arrays {
		name, file, _ := strings.Cut(text, "=")
		if name == "" || file == "" {
			return nil, operation.Usagef("found `Arrays` %q, expected NAME=FILE.npy", text)
		}
		opt.Arrays = append(opt.Arrays, predictions.Array{Name: name, File: file})
	}
	for _, text := range o.Classes {
		name, column, _ := strings.Cut(text, "=")
		at := slices.IndexFunc(opt.Arrays, func(a predictions.Array) bool { return a.Name == name })
		switch {
		case name == "" || column == "":
			return nil, operation.Usagef("found `Classes` %q, expected NAME=COLUMN, such as pred=label", text)
		case at < 0:
			return nil, operation.Usagef("found `Classes` of %q, expected one of the names in `Arrays`", name)
		}
		opt.Arrays[at].Classes = column
	}
	return opt, nil
}

// tellPredictions reports the result.
func tellPredictions(o *option.Predictions, r *report.Report, result *predictions.Result) {
	r.Head("rows", report.Count(result.Rows, "rows"))
	if result.Bytes > 0 {
		r.Head("on disk", report.Bytes(result.Bytes))
	}
	if o.Top == 0 {
		r.In("arrays", report.Count(len(o.Arrays), "arrays"))
	}
	r.In("rows", report.Count(result.Read, "rows of "+result.Type))
	r.Out("rows", report.Count(result.Rows, "rows"))
	r.Out("columns", report.Count(result.Columns, "columns"))
	for _, name := range slices.Sorted(maps.Keys(result.Unlabelled)) {
		if n := result.Unlabelled[name]; n > 0 {
			text := human.Exact(n) + " " + human.Things(n, fmt.Sprintf("rows of the column %s have the class -1, and no text", name))
			operation.Note(&o.Run, "%s", text)
			r.Note(text)
		}
	}
	if result.Rows == 0 {
		text := "the table has no rows"
		if o.Rows != "" {
			text = fmt.Sprintf("the table has no rows, because none of them fulfils `Rows` %s", o.Rows)
		}
		operation.Warn(&o.Run, "%s", text)
		r.Note(text)
	}
}
