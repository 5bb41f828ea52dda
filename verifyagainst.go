package graphmill

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
	"github.com/graphmill/graphmill/internal/feature"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/audit"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Compared is what Verify found of subgraphs that it compared with the store that they were sampled from.
type Compared struct {
	Store   string `json:"store"`
	Edges   int64  `json:"edges,omitempty"`   // of a collection: compared with the edges of the store that have their ids
	Records int64  `json:"records,omitempty"` // of TFRecords: compared with those that are drawn anew
	Fault   string `json:"fault,omitempty"`   // the first difference; empty: none
}

// text is the end of the sentence about a whole folder.
func (c *Compared) text() string {
	switch {
	case c == nil:
		return ""
	case c.Records > 0:
		return fmt.Sprintf("; %s compared with what is drawn from the store", counted(c.Records, "record"))
	}
	return fmt.Sprintf("; the ends of %s compared with the store", counted(c.Edges, "edge"))
}

// schemaFile is the GraphSchema next to TFRecords.
const schemaFile = "schema.pbtxt"

// compareSubgraphs compares a whole folder of Sample with the store Against.
func (o *VerifyOptions) compareSubgraphs(ctx context.Context, dir string) (_ *Compared, err error) {
	made, err := store.ReadMade(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	if made.Command != "sample" {
		return nil, usagef("found `Against` with %s, expected it with the parts of a graph, or with a collection or TFRecords that sample wrote", dir)
	}
	if made.Options["missing_nodes"] != "" {
		return nil, usagef("found `Against` with %s, which was sampled from TF-GNN's tables, expected subgraphs of a store; sample it again where it may be wrong", dir)
	}
	st, err := Open(o.Against)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, st.Close)
	if st.Graph() == nil {
		return nil, usagef("`Against` %s: found a collection, expected the store that %s was sampled from; graph.json of the collection names it under \"made\"", o.Against, dir)
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
		return o.compareCollection(ctx, dir, made, st)
	case vfs.Absent(err):
		return o.compareRecords(ctx, dir, made, st)
	}
	return nil, err
}

// compareCollection compares the ends of edges.
func (o *VerifyOptions) compareCollection(ctx context.Context, dir string, made *store.Made, st *Store) (_ *Compared, err error) {
	plan, err := sample.ParsePlan(filepath.Join(dir, store.MetaFile), made.Plan)
	if err != nil {
		return nil, err
	}
	c, err := store.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, c.Close)
	total := int64(0)
	for _, e := range c.Collection.Edges {
		total += int64(e.Count)
	}
	line := o.meter("compare with the store", total, "edges")
	defer line.end()
	r, err := audit.Collection(ctx, c, st.store, audit.Options{Threads: o.Threads, Plan: plan, Progress: line.add})
	if err != nil {
		return nil, err
	}
	return &Compared{Store: o.Against, Edges: r.Edges, Fault: r.Fault}, nil
}

// compareRecords compares TFRecords, which have no ids, with those that the memory executor draws anew. They are written to the
// folder for temporary files, and removed.
func (o *VerifyOptions) compareRecords(ctx context.Context, dir string, made *store.Made, st *Store) (_ *Compared, err error) {
	again := filepath.Join(os.TempDir(), "graphmill-verify-"+workfolder.Unique())
	if err := vfs.OS.MkdirAll(again); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vfs.OS.RemoveAll(again)) }()
	s, err := o.asSampled(dir, made, st.Graph())
	if err != nil {
		return nil, err
	}
	s.Plan = filepath.Join(again, "plan.json")
	if err := vfs.WriteFile(vfs.OS, s.Plan, made.Plan); err != nil {
		return nil, err
	}
	out := filepath.Join(again, "samples")
	if _, err := Sample(ctx, st, out, *s); err != nil {
		return nil, fmt.Errorf("%s: the records could not be drawn anew from %s: %w", dir, o.Against, err)
	}
	if err := o.sameMade(dir, made, out); err != nil {
		return nil, err
	}
	c := &Compared{Store: o.Against}
	if c.Records, c.Fault, err = o.sameRecords(ctx, dir, out); err != nil {
		return nil, err
	}
	return c, nil
}

// asSampled is the options that TFRecords were sampled with, but for their plan, and for what changes no record.
func (o *VerifyOptions) asSampled(dir string, made *store.Made, g *graph.Graph) (*SampleOptions, error) {
	switch {
	case made.Law != draw.Version:
		return nil, fmt.Errorf("%s: found version %d of the draw law, expected %d; verify with the version of graphmill that wrote it, %s", dir, made.Law, draw.Version, made.Version)
	case made.Options["sampler"] != "":
		return nil, usagef("found `Against` with %s, whose subgraphs have all edges between sets of nodes, expected subgraphs that were drawn: the stream executor makes no others", dir)
	}
	r := o.Run
	r.Overwrite, r.NoReport, r.Warn, r.Note = true, true, nil, nil
	s := &SampleOptions{Run: r, Format: FormatTFRecord, Executor: ExecutorMemory, CheckpointEvery: -1, IDs: []string{"none"}}
	if made.Seed != nil {
		s.Seed = *made.Seed
	}
	if err := s.setMade(made.Options); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, store.ErrDamaged, err)
	}
	for _, input := range []struct {
		name, field, given string
		to                 *string
	}{{"seeds", "Seeds", o.Seeds, &s.Seeds}, {"seed_time", "SeedTime", o.SeedTime, &s.SeedTime}, {"graph_schema", "GraphSchema", o.GraphSchema, &s.GraphSchema}} {
		_, has := made.Inputs[input.name]
		switch {
		case has && input.given == "":
			return nil, usagef("found no `%s`, expected the file with which %s was sampled%s", input.field, dir, ofName(*input.to))
		case !has && input.given != "":
			return nil, usagef("found `%s` %s, expected none: %s was sampled without such a file", input.field, input.given, dir)
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
		if schema.GetNodeSets()[feature.NodeSet(n.Type)].GetFeatures()[tfgnn.IDName] != nil {
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

// setMade sets the options that SampleOptions.made has recorded.
func (o *SampleOptions) setMade(options map[string]string) (err error) {
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
	o.Seeds, o.SeedTime = options["seeds"], options["seed_time"]
	o.LimitSeeds, o.BatchSize, o.Epochs, o.Components = number("limit_seeds"), number("batch_size"), number("epochs"), number("components")
	o.Epoch = uint64(number("epoch"))
	o.Shuffle, o.SeedIDs = options["shuffle"] == "true", options["seed_ids"] == "true"
	if _, scanned := fmt.Sscanf(options["rank"], "%d/%d", &o.Rank, &o.Ranks); scanned != nil && err == nil {
		err = fmt.Errorf("option rank: found %q, expected RANK/RANKS", options["rank"])
	}
	o.Compat, o.Aggregation = Compat(options["compat"]), Aggregation(options["edge_aggregation"])
	return err
}

// sameMade refuses records that were drawn anew from other inputs.
func (o *VerifyOptions) sameMade(dir string, made *store.Made, out string) error {
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
func (o *VerifyOptions) sameRecords(ctx context.Context, dir, out string) (records int64, fault string, err error) {
	var files [2]*recordfiles.Files
	line := o.meter("compare with the store", 0, "records")
	defer line.end()
	for i, d := range []string{dir, out} {
		names, err := recordsOf(d)
		if err != nil {
			return 0, "", err
		}
		files[i] = recordfiles.New(vfs.OS, names, nil)
		defer closeWith(&err, files[i].Close)
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
		line.add(1)
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
