package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// exampleFlags say what is in an Example beside the subgraph of a seed.
type exampleFlags struct {
	compatName, aggregation string
	seedIDs                 bool
	components              int

	compat output.Compat
	joined bool // leave out nodes without a row
}

// exampleFlagNames are the flags that TFRecords alone have.
var exampleFlagNames = []string{"compat", "edge-aggregation", "edge-aggregation-method", "seed-ids", "components"}

func (f *exampleFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.compatName, "compat", "none", "write Examples as TF-GNN does: tfgnn (tfgnn_sampler), tfgnn-classic (the older graph_sampler), or none")
	fs.StringVar(&f.aggregation, "edge-aggregation", "edge", "keep the edges that were drawn (edge), or all between the nodes (node)")
	fs.StringVar(&f.aggregation, "edge-aggregation-method", "edge", "TF-GNN: the same as --edge-aggregation")
	fs.BoolVar(&f.seedIDs, "seed-ids", false, "write sample_id and seed_id into the context of TFRecords")
	fs.IntVar(&f.components, "components", 1, "subgraphs of seeds in an Example, as its components")
}

func (f *exampleFlags) check() (err error) {
	if f.compat, err = output.ParseCompat(f.compatName); err != nil {
		return usagef("--compat: %w", err)
	}
	switch {
	case f.aggregation != "edge" && f.aggregation != "node":
		return usagef("found --edge-aggregation %q, expected edge or node", f.aggregation)
	case f.components < 1:
		return usagef("found --components %d, expected at least 1", f.components)
	}
	return nil
}

// induce says whether all edges between the nodes are wanted.
func (f *exampleFlags) induce() bool { return f.aggregation == "node" }

// made notes what differs from the default.
func (f *exampleFlags) made(options map[string]string) {
	if f.compat != output.Own {
		options["compat"] = f.compat.String()
	}
	if f.induce() {
		options["edge_aggregation"] = f.aggregation
	}
	if f.seedIDs {
		options["seed_ids"] = "true"
	}
	if f.components > 1 {
		options["components"] = strconv.Itoa(f.components)
	}
}

// records is how the flags write TFRecords.
func (f *sampleFlags) records(s *store.Store, p *flags.Planned) (output.RecordsOptions, error) {
	ids, err := recordIDs(s, p.Plan, f.ids)
	if err != nil {
		return output.RecordsOptions{}, err
	}
	return output.RecordsOptions{
		Name: f.name, Shards: f.shards, Gzip: f.gzip, IDs: ids, Components: f.examples.components,
		SeedIDs: f.examples.seedIDs || f.examples.compat == output.Classic, Seeds: p.Job.Seeds, SeedColumns: p.Columns,
		Compat: f.examples.compat, Joined: f.examples.joined, Schema: f.Schema,
	}, nil
}

// readSchema reads the schema of a store's graph. A folder stands for its schema.
func readSchema(cmd *cobra.Command, f *sampleFlags, r *report.Report) (err error) {
	if f.Schema, f.tfgnn.schema, _, err = tfgnnfiles.ReadSchema(vfs.OS, f.tfgnn.schema); err != nil {
		return err
	}
	_, err = fingerprints(cmd.Context(), []string{f.tfgnn.schema}, r, func(string) string { return "graph_schema" })
	return err
}

// warnRounded tells of columns whose values Examples round.
func (t *terminal) warnRounded(r *report.Report, columns []string) {
	if len(columns) == 0 {
		return
	}
	what := "columns of float64 are rounded to float32, which is all that Examples have: " + strings.Join(columns, "; ")
	t.warn("%d %s", len(columns), what)
	r.Warn(int64(len(columns)), what)
}

// warnUnderflows tells of values of float64 that became 0 or lost most digits, by
// feature or column.
func (t *terminal) warnUnderflows(r *report.Report, features map[string]uint64) {
	for _, f := range slices.Sorted(maps.Keys(features)) {
		what := f + ": values of float64 are too near to 0 for float32: they became 0, or lost more digits than others"
		t.warn("%s %s", human.Exact(int64(features[f])), what)
		r.Warn(int64(features[f]), what)
	}
}

// warnContext tells of a context that no Example has.
func (t *terminal) warnContext(s *store.Store) {
	for _, c := range s.Graph.Context {
		if c.Rows != 1 {
			t.warn("%s: the context has %d rows and is left out; a context of one row goes into every Example", s.Dir, c.Rows)
			return
		}
	}
}
