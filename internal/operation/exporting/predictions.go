package exporting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/export/predictions"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
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
		defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage counts as memory
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
	r.In("arrays", report.Count(len(o.Arrays), "arrays"))
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
