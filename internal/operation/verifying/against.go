package verifying

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/audit"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// schemaFile is the GraphSchema next to TFRecords.
const schemaFile = "schema.pbtxt"

// compareSubgraphs compares a whole folder of Sample with the store Against.
func compareSubgraphs(o *option.Verify, ctx context.Context, dir string) (_ *report.Compared, err error) {
	made, err := store.ReadMade(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	if made.Command != "sample" {
		return nil, operation.Usagef("found `Against` with %s, expected it with the parts of a graph, or with a collection or TFRecords that sample wrote", dir)
	}
	if made.Options["missing_nodes"] != "" {
		return nil, operation.Usagef("found `Against` with %s, which was sampled from TF-GNN's tables, expected subgraphs of a store; sample it again where it may be wrong", dir)
	}
	st, err := store.OpenMerged(vfs.OS, o.Against, -1)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, st.Close)
	if st.Graph == nil {
		return nil, operation.Usagef("`Against` %s: found a collection, expected the store that %s was sampled from; graph.json of the collection names it under \"made\"", o.Against, dir)
	}
	sum, err := store.Sum(vfs.OS, o.Against)
	if err != nil {
		return nil, err
	}
	if want := made.Inputs["store"]; sum != want {
		return nil, fmt.Errorf("%s: found a store with the checksum %s, expected %s, from which %s was sampled; give that store in `Against`", o.Against, sum, want, dir)
	}
	if err := st.Check(ctx); err != nil {
		return nil, err
	}
	_, err = vfs.OS.Stat(filepath.Join(dir, store.MetaFile))
	switch {
	case err == nil:
		return compareCollection(o, ctx, dir, made, st)
	case vfs.Absent(err):
		return compareRecords(o, ctx, dir, made, st)
	}
	return nil, err
}

// compareCollection compares the ends of edges.
func compareCollection(o *option.Verify, ctx context.Context, dir string, made *store.Made, st *store.Store) (_ *report.Compared, err error) {
	plan, err := sample.ParsePlan(filepath.Join(dir, store.MetaFile), made.Plan)
	if err != nil {
		return nil, err
	}
	c, err := store.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, c.Close)
	total := int64(0)
	for _, e := range c.Collection.Edges {
		total += int64(e.Count)
	}
	line := operation.NewMeter(&o.Run, "compare with the store", total, "edges")
	defer line.End()
	r, err := audit.Collection(ctx, c, st, audit.Options{Threads: o.Threads, Plan: plan, Progress: line.Add})
	if err != nil {
		return nil, err
	}
	return &report.Compared{Store: o.Against, Edges: r.Edges, Fault: r.Fault}, nil
}

// compareRecords compares TFRecords, which have no ids, with those that the memory executor draws anew. They are written to the
// folder for temporary files, and removed.
func compareRecords(o *option.Verify, ctx context.Context, dir string, made *store.Made, st *store.Store) (_ *report.Compared, err error) {
	again := filepath.Join(os.TempDir(), "graphmill-verify-"+workfolder.Unique())
	if err := vfs.OS.MkdirAll(again); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vfs.OS.RemoveAll(again)) }()
	s, err := asSampled(o, dir, made, st.Graph)
	if err != nil {
		return nil, err
	}
	s.Plan = filepath.Join(again, "plan.json")
	if err := vfs.WriteFile(vfs.OS, s.Plan, made.Plan); err != nil {
		return nil, err
	}
	out := filepath.Join(again, "samples")
	if _, err := sampling.Sample(ctx, st, out, *s, nil); err != nil {
		return nil, fmt.Errorf("%s: the records could not be drawn anew from %s: %w", dir, o.Against, err)
	}
	if err := sameMade(o, dir, made, out); err != nil {
		return nil, err
	}
	c := &report.Compared{Store: o.Against}
	if c.Records, c.Fault, err = sameRecords(o, ctx, dir, out); err != nil {
		return nil, err
	}
	return c, nil
}

// asSampled is the options that TFRecords were sampled with, but for their plan, and for what changes no record.
func asSampled(o *option.Verify, dir string, made *store.Made, g *graph.Graph) (*option.Sample, error) {
	switch {
	case made.Law != draw.Version:
		return nil, fmt.Errorf("%s: found version %d of the draw law, expected %d; verify with the version of graphmill that wrote it, %s", dir, made.Law, draw.Version, made.Version)
	case made.Options["sampler"] != "":
		return nil, operation.Usagef("found `Against` with %s, whose subgraphs have all edges between sets of nodes, expected subgraphs that were drawn: the stream executor makes no others", dir)
	}
	r := o.Run
	r.Overwrite, r.NoReport, r.Warn, r.Note = true, true, nil, nil
	s := &option.Sample{Run: r, Format: option.FormatTFRecord, CheckpointEvery: -1, Draw: option.Draw{Executor: option.ExecutorMemory}, Records: option.Records{IDs: []string{"none"}}}
	if made.Seed != nil {
		s.Seed = *made.Seed
	}
	if err := setMade(s, made.Options); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, store.ErrDamaged, err)
	}
	for _, input := range []struct {
		name, field, given string
		to                 *string
	}{{"seeds", "Seeds", o.Seeds, &s.Seeds}, {"seed_time", "SeedTime", o.SeedTime, &s.SeedTime},
		{"negatives", "NegativesFrom", o.NegativesFrom, &s.NegativesFrom}, {"graph_schema", "GraphSchema", o.GraphSchema, &s.GraphSchema}} {
		_, has := made.Inputs[input.name]
		switch {
		case has && input.given == "":
			return nil, operation.Usagef("found no `%s`, expected the file with which %s was sampled%s", input.field, dir, ofName(*input.to))
		case !has && input.given != "":
			return nil, operation.Usagef("found `%s` %s, expected none: %s was sampled without such a file", input.field, input.given, dir)
		case has:
			*input.to = input.given
		}
	}
	schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, filepath.Join(dir, schemaFile))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range g.Nodes {
		if schema.GetNodeSets()[examplecolumns.NodeSet(n.Type)].GetFeatures()[tfgnn.IDName] != nil {
			ids = append(ids, n.Type)
		}
	}
	if ids != nil {
		s.IDs = ids
	}
	return s, nil
}

// ofName is a file's name in an error, empty without one.
func ofName(file string) string {
	if file == "" {
		return ""
	}
	return ", " + file
}

// setMade sets the options that option.Sample.made has recorded.
func setMade(o *option.Sample, options map[string]string) (err error) {
	number := func(name string) int {
		text, ok := options[name]
		if !ok {
			return 0
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil && err == nil {
			err = fmt.Errorf("option %s: found %q, expected a number", name, text)
		}
		return n
	}
	o.Seeds, o.SeedTime, o.NegativesFrom = options["seeds"], options["seed_time"], options["negatives_from"]
	o.Positives = options["positives"]
	o.LimitSeeds, o.BatchSize, o.Epochs, o.Components = number("limit_seeds"), number("batch_size"), number("epochs"), number("components")
	o.Epoch = uint64(number("epoch"))
	o.Shuffle, o.SeedIDs = options["shuffle"] == "true", options["seed_ids"] == "true"
	if _, scanned := fmt.Sscanf(options["rank"], "%d/%d", &o.Rank, &o.Ranks); scanned != nil && err == nil {
		err = fmt.Errorf("option rank: found %q, expected RANK/RANKS", options["rank"])
	}
	o.Compat, o.Aggregation = option.Compat(options["compat"]), option.Aggregation(options["edge_aggregation"])
	return err
}

// sameMade refuses records that were drawn anew from other inputs.
func sameMade(o *option.Verify, dir string, made *store.Made, out string) error {
	again, err := store.ReadMade(vfs.OS, out)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(made.Inputs)) {
		if again.Inputs[name] != made.Inputs[name] {
			return fmt.Errorf("%s: found other %s (%s) than it was sampled with (%s); give the same file", dir, strings.ReplaceAll(name, "_", " "), again.Inputs[name], made.Inputs[name])
		}
	}
	var plans [2]bytes.Buffer
	for i, text := range []json.RawMessage{made.Plan, again.Plan} {
		if err := json.Compact(&plans[i], text); err != nil {
			return err
		}
	}
	if !bytes.Equal(plans[0].Bytes(), plans[1].Bytes()) {
		return fmt.Errorf("%s: found a plan that means another one in this version, expected the same; verify with the version of graphmill that wrote it, %s", dir, made.Version)
	}
	return nil
}

// sameRecords compares the records of two folders.
func sameRecords(o *option.Verify, ctx context.Context, dir, out string) (records int64, fault string, err error) {
	var files [2]*recordfiles.Files
	line := operation.NewMeter(&o.Run, "compare with the store", 0, "records")
	defer line.End()
	for i, d := range []string{dir, out} {
		names, err := recordsOf(d)
		if err != nil {
			return 0, "", err
		}
		files[i] = recordfiles.New(vfs.OS, names, nil)
		defer operation.CloseWith(&err, files[i].Close)
	}
	for ; ctx.Err() == nil; records++ {
		there, at, err := files[0].Next()
		drawn, _, errDrawn := files[1].Next()
		ended, endedDrawn := errors.Is(err, io.EOF), errors.Is(errDrawn, io.EOF)
		switch {
		case err != nil && !ended || errDrawn != nil && !endedDrawn:
			return records, "", errors.Join(err, errDrawn)
		case ended && endedDrawn:
			return records, "", nil
		case ended || endedDrawn:
			return records, fmt.Sprintf("found another number of records than the %d or more that are drawn from the store", records), nil
		case !bytes.Equal(there, drawn):
			return records, fmt.Sprintf("%s: found another subgraph than that which is drawn from the store", at), nil
		}
		line.Add(1)
	}
	return records, "", ctx.Err()
}

// recordsOf is the files of TFRecords in a folder of Sample, in their order.
func recordsOf(dir string) ([]string, error) {
	m, err := store.ReadManifest(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if filepath.Ext(name) != ".json" && name != schemaFile {
			names = append(names, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return names, nil
}
