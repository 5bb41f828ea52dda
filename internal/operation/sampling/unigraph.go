package sampling

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// unigraphRequest is a request with the options of its import.
type unigraphRequest struct {
	request
	DataPath     string
	MissingNodes option.Missing
}

// policy returns how the import treats missing nodes, and whether nodes without a row are left out of Examples.
func (o *unigraphRequest) policy() (p assemble.Policy, joined bool, err error) {
	switch o.MissingNodes {
	case option.MissingError:
		return assemble.Error, false, nil
	case option.MissingZeros:
		return assemble.Zeros, false, nil
	case "", option.MissingDrop:
	default:
		return 0, false, operation.Usagef("found `MissingNodes` %q, expected error, drop or zeros", o.MissingNodes)
	}
	switch {
	case o.Compat == option.CompatClassic: // they are drawn, but left out of the output
		return assemble.Zeros, true, nil
	case o.Compat == option.CompatTFGNN && o.MissingNodes == "":
		return assemble.Zeros, false, nil
	}
	return assemble.Drop, false, nil
}

// SampleUnigraph imports the unigraph of a GraphSchema (a file, or the folder that holds it) into a temporary store next
// to out, samples it, and writes TFRecords to the folder out, as TF-GNN's tfgnn_sampler does.
//
// c samples on the workers of a cluster; nil samples in this process.
func SampleUnigraph(ctx context.Context, schema, out string, options option.Unigraph, c *Cluster) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	o := unigraphRequest{ofSample(&options.Sample, c), options.DataPath, options.MissingNodes}
	if o.Format == "" {
		o.Format = option.FormatTFRecord
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.GraphSchema != "" {
		return nil, operation.Usagef("found `GraphSchema` and a schema, expected the schema alone; leave `GraphSchema` out")
	}
	policy, joined, err := o.policy()
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out); err != nil {
		return nil, err
	}
	o.joined, o.tables, o.missing = joined, true, o.MissingNodes
	// Begin the output before the import, so that a folder that cannot be written fails early.
	w, err := o.create(ctx, out)
	if err != nil {
		return nil, err
	}
	s := &sampling{o: &o.request, w: w, out: out, start: start}
	defer func() { err = s.finished(ctx, err) }()
	defer guard.Catch(&err)()
	// A folder stands for the schema in it, as it does for tfgnn_sampler.
	if o.schema, o.GraphSchema, _, err = tfgnnfiles.ReadSchema(vfs.OS, schema); err != nil {
		return nil, err
	}
	src, err := ingest.Open(ctx, vfs.OS, o.GraphSchema, ingest.Options{Format: "unigraph", DataPath: o.DataPath, Outside: true})
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, src.Files...); err != nil {
		return nil, err
	}
	for _, text := range src.Warnings {
		operation.Warn(&o.Run, "%s", text)
	}
	s.report = operation.NewReport(&o.Run, "sample", "Subgraphs of "+filepath.Base(o.GraphSchema))
	if _, err := operation.Fingerprints(ctx, vfs.OS, src.Files, s.report, filepath.Base); err != nil {
		return nil, err
	}
	opt := assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, DanglingEdges: policy, Threads: o.Threads, Memory: o.Memory}
	st, result, end, err := importing.BuildTemporary(&o.Run, ctx, src, out, opt)
	if err != nil {
		return nil, renamed{err, strings.ReplaceAll(err.Error(), "`DanglingEdges`", "`MissingNodes`")}
	}
	defer operation.CloseWith(&err, end)
	o.reportTables(s.report, result)
	s.store = st
	return s.report, s.run(ctx)
}

// renamed is an error with the field names of option.Unigraph.
type renamed struct {
	error
	text string
}

func (e renamed) Error() string { return e.text }
func (e renamed) Unwrap() error { return e.error }

// reportTables reports the imported tables, and the nodes and edges that were dropped or added.
func (o *unigraphRequest) reportTables(r *report.Report, result *assemble.Result) {
	if o.joined {
		for i := range result.Nodes {
			n := &result.Nodes[i]
			r.Warn(int64(n.Added), fmt.Sprintf("nodes of %s left out of the Examples: edges name them, but their table does not have them", n.Type))
			n.Added = 0
		}
	}
	importing.ReportBuild(r, result)
	operation.WarnUnderflows(&o.Run, r, result.Underflows)
	for _, e := range result.Edges {
		if e.Dangling > 0 {
			operation.Warn(&o.Run, "%s: dropped %d edges whose source or destination is not a node", e.Type, e.Dangling)
		}
	}
	for _, n := range result.Nodes {
		if n.Added > 0 {
			operation.Warn(&o.Run, "%s: %d nodes have no row in their table: their features are zeros or empty", n.Type, n.Added)
		}
	}
}
