package graphmill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// UnigraphOptions say how a unigraph is imported and sampled in one step. SamplingSpec is required.
type UnigraphOptions struct {
	SampleOptions
	// DataPath is the folder of the unigraph's tables; "" is the folder of the schema.
	DataPath string
	// MissingNodes says how to treat nodes that edges name and that no node table has; "" is MissingDrop, or MissingZeros
	// with a Compat other than CompatNone.
	MissingNodes Missing
}

// policy returns how the import treats missing nodes, and whether nodes without a row are left out of Examples.
func (o *UnigraphOptions) policy() (p assemble.Policy, joined bool, err error) {
	switch o.MissingNodes {
	case MissingError:
		return assemble.Error, false, nil
	case MissingZeros:
		return assemble.Zeros, false, nil
	case "", MissingDrop:
	default:
		return 0, false, usagef("found `MissingNodes` %q, expected error, drop or zeros", o.MissingNodes)
	}
	switch {
	case o.Compat == CompatClassic: // they are drawn, but left out of the output
		return assemble.Zeros, true, nil
	case o.Compat == CompatTFGNN && o.MissingNodes == "":
		return assemble.Zeros, false, nil
	}
	return assemble.Drop, false, nil
}

// SampleUnigraph imports the unigraph of a GraphSchema (a file, or the folder that holds it) into a temporary store next
// to out, samples it, and writes TFRecords to the folder out, as TF-GNN's tfgnn_sampler does.
func SampleUnigraph(ctx context.Context, schema, out string, o UnigraphOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if o.Format == "" {
		o.Format = FormatTFRecord
	}
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	if o.GraphSchema != "" {
		return nil, usagef("found `GraphSchema` and a schema, expected the schema alone; leave `GraphSchema` out")
	}
	policy, joined, err := o.policy()
	if err != nil {
		return nil, err
	}
	if err := keeps(out); err != nil {
		return nil, err
	}
	o.joined, o.tables, o.missing = joined, true, o.MissingNodes
	// Begin the output before the import, so that a folder that cannot be written fails early.
	w, err := o.create(ctx, out)
	if err != nil {
		return nil, err
	}
	s := &sampling{o: &o.SampleOptions, w: w, out: out, start: start}
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
	if err := keeps(out, src.Files...); err != nil {
		return nil, err
	}
	for _, text := range src.Warnings {
		o.warn("%s", text)
	}
	s.report = o.begin("sample", "Subgraphs of "+filepath.Base(o.GraphSchema))
	if _, err := fingerprints(ctx, vfs.OS, src.Files, s.report, filepath.Base); err != nil {
		return nil, err
	}
	opt := assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, DanglingEdges: policy, Threads: o.Threads, Memory: o.Memory}
	st, result, end, err := o.temporary(ctx, src, out, opt)
	if err != nil {
		return nil, renamed{err, strings.ReplaceAll(err.Error(), "`DanglingEdges`", "`MissingNodes`")}
	}
	defer closeWith(&err, end)
	o.reportTables(s.report, result)
	s.store = st
	return s.report, s.run(ctx)
}

// renamed is an error with the field names of UnigraphOptions.
type renamed struct {
	error
	text string
}

func (e renamed) Error() string { return e.text }
func (e renamed) Unwrap() error { return e.error }

// temporary imports a source into a temporary store next to out, and closes the source. end closes and removes the store.
func (o *Run) temporary(ctx context.Context, src *ingest.Source, out string, opt assemble.Options) (_ *store.Store, _ *assemble.Result, end func() error, err error) {
	defer closeWith(&err, src.Close)
	parent, base := filepath.Split(filepath.Clean(out))
	// The store is sealed and never published: the folder in which it is written is its place.
	w, err := store.Create(vfs.OS, filepath.Join(parent, "."+base+".store"), true)
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	defer guard.Catch(&err)()
	stages := o.stages()
	opt.Progress = stages.update
	result, err := assemble.Build(ctx, vfs.OS, w, src.Input, opt)
	stages.end()
	if err != nil {
		return nil, nil, nil, err
	}
	result.Meta.Made = store.Made{Command: "import", Version: Version()}
	if src.DeclaredIDs != nil {
		result.Meta.Made.Options = map[string]string{declaredIDs: strings.Join(src.DeclaredIDs, ",")}
	}
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, nil, nil, err
	}
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return nil, nil, nil, err
	}
	return s, result, func() error { return errors.Join(s.Close(), w.Abort()) }, nil
}

// reportTables reports the imported tables, and the nodes and edges that were dropped or added.
func (o *UnigraphOptions) reportTables(r *report.Report, result *assemble.Result) {
	if o.joined {
		for i := range result.Nodes {
			n := &result.Nodes[i]
			r.Warn(int64(n.Added), fmt.Sprintf("nodes of %s left out of the Examples: edges name them, but their table does not have them", n.Type))
			n.Added = 0
		}
	}
	reportBuild(r, result)
	o.warnUnderflows(r, result.Underflows)
	for _, e := range result.Edges {
		if e.Dangling > 0 {
			o.warn("%s: dropped %d edges whose source or destination is not a node", e.Type, e.Dangling)
		}
	}
	for _, n := range result.Nodes {
		if n.Added > 0 {
			o.warn("%s: %d nodes have no row in their table: their features are zeros or empty", n.Type, n.Added)
		}
	}
}
