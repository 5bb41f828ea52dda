package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// tfgnnFlags are tfgnn_sampler's own flags.
type tfgnnFlags struct {
	schema, dataPath, samples, seeds string
	runner                           string
	missing                          string
}

func (f *tfgnnFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.schema, "graph-schema", "", "TF-GNN: GraphSchema of a unigraph, or the folder that holds it, imported and sampled in one step; with a STORE: that of its graph, for descriptions and features of links")
	fs.StringVar(&f.dataPath, "data-path", "", "TF-GNN: folder of the unigraph's tables (default: that of the schema)")
	fs.StringVar(&f.samples, "output-samples", "", "TF-GNN: TFRecords to write, FOLDER/NAME or FOLDER/NAME@SHARDS; the folder is made")
	fs.StringVar(&f.seeds, "input-seeds", "", "TF-GNN: file of seeds (default: every node of the seed op's set)")
	fs.StringVar(&f.missing, "missing-nodes", "", "TF-GNN: what becomes of nodes that edges name and tables lack: error, drop, or zeros (default: drop, with --compat tfgnn zeros)")
	fs.StringVar(&f.runner, "runner", "", "TF-GNN: taken and ignored; there is no Beam here")
}

func (f *tfgnnFlags) given() bool {
	return f.samples != "" || f.seeds != "" || f.dataPath != ""
}

// policy is what importing does with missing nodes, and whether Examples then leave
// out those without a row.
func (f *tfgnnFlags) policy(compat output.Compat) (p assemble.Policy, joined bool, err error) {
	switch f.missing {
	case "error":
		return assemble.Error, false, nil
	case "zeros":
		return assemble.Zeros, false, nil
	case "", "drop":
	default:
		return 0, false, usagef("found --missing-nodes %q, expected error, drop or zeros", f.missing)
	}
	switch {
	case compat == output.Classic: // they are drawn, and left out of what is written
		return assemble.Zeros, true, nil
	case compat == output.TFGNN && f.missing == "":
		return assemble.Zeros, false, nil
	}
	return assemble.Drop, false, nil
}

var shardedName = regexp.MustCompile(`^(.+?)(?:@(\d+))?$`)

// importField finds the fields that an import's errors advise and that are flags of graphmill import alone.
var importField = regexp.MustCompile("`(EmptyCells|DuplicateNodes|DanglingEdges)`")

// adviseImport adds to an error of an import, which another command did for the purpose, that graphmill import has the
// flag that the error advises.
func adviseImport(err error, purpose string) error {
	if field := importField.FindString(err.Error()); field != "" {
		return fmt.Errorf("%w (%s is a flag of graphmill import, which makes a STORE to %s)", err, field, purpose)
	}
	return err
}

// renamedError is an error with another text.
type renamedError struct {
	error
	text string
}

func (e renamedError) Error() string { return e.text }
func (e renamedError) Unwrap() error { return e.error }

// missingNodes gives the field DanglingEdges, in an error of an import, the name of sample's own flag.
func missingNodes(err error) error {
	return renamedError{err, strings.ReplaceAll(err.Error(), "`DanglingEdges`", "`MissingNodes`")}
}

// sampleUnigraph is tfgnn_sampler: import and sample.
func (t *terminal) sampleUnigraph(cmd *cobra.Command, f *sampleFlags) (err error) {
	start := time.Now()
	if f.tfgnn.schema == "" || f.tfgnn.samples == "" || f.SpecFile == "" {
		return usagef("found some of TF-GNN's flags, expected --graph_schema, --sampling_spec and --output_samples; or give a STORE")
	}
	if f.out != "" {
		return usagef("found --out and --output_samples, expected one of them")
	}
	folder, name := filepath.Split(f.tfgnn.samples)
	m := shardedName.FindStringSubmatch(name)
	if folder == "" || m == nil {
		return usagef("found --output_samples %q, expected FOLDER/NAME or FOLDER/NAME@SHARDS; the folder is made, with a manifest", f.tfgnn.samples)
	}
	f.out, f.name, f.format = filepath.Clean(folder), m[1], "tfrecord"
	if m[2] != "" {
		var err error
		if f.shards, err = strconv.Atoi(m[2]); err != nil || f.shards < 1 || f.shards > 99999 {
			return usagef("found --output_samples %q, expected 1 to 99999 shards", f.tfgnn.samples)
		}
	}
	if f.tfgnn.seeds != "" {
		f.Seeds = f.tfgnn.seeds
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.tfgnn.runner != "" {
		t.warn("--runner %s is ignored: sampling runs in this process", f.tfgnn.runner)
	}
	policy, joined, err := f.tfgnn.policy(f.examples.compat)
	if err != nil {
		return err
	}
	f.examples.joined = joined
	// The output is begun before the work of an import: it may not be writable.
	out, err := f.writer()
	if err != nil {
		return err
	}
	defer f.end(cmd.Context(), out, &err)
	// A folder stands for its schema, as it does for tfgnn_sampler.
	if f.Schema, f.tfgnn.schema, _, err = tfgnnfiles.ReadSchema(vfs.OS, f.tfgnn.schema); err != nil {
		return err
	}
	src, err := ingest.Open(cmd.Context(), vfs.OS, f.tfgnn.schema, ingest.Options{Format: "unigraph", DataPath: f.tfgnn.dataPath, Outside: true})
	if err != nil {
		return err
	}
	if err := f.keeps(src.Files...); err != nil {
		return err
	}
	for _, w := range src.Warnings {
		t.warn("%s", w)
	}
	// The store lives beside the output while it is needed.
	parent, base := filepath.Split(f.out)
	temp := filepath.Join(parent, "."+base+".store")
	if err := vfs.OS.RemoveAll(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer closeWith(&err, func() error { return vfs.OS.RemoveAll(temp) })
	r := t.begin("sample", "Subgraphs of "+filepath.Base(f.tfgnn.schema), f.common)
	if _, err := fingerprints(cmd.Context(), src.Files, r, filepath.Base); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, temp, true)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	lines := stageLines{t: t}
	result, err := assemble.Build(cmd.Context(), vfs.OS, w, src.Input, assemble.Options{
		Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, DanglingEdges: policy,
		Threads: f.threads, Memory: int64(f.memory), Progress: lines.update})
	lines.done()
	if err != nil {
		return adviseImport(missingNodes(err), "sample")
	}
	result.Meta.Made = store.Made{Command: "import", Version: version(), Options: map[string]string{declaredIDs: strings.Join(src.DeclaredIDs, ",")}}
	if err := errors.Join(w.Seal(cmd.Context(), result.Meta, f.threads), w.Publish()); err != nil {
		return err
	}
	if joined {
		for i := range result.Nodes {
			n := &result.Nodes[i]
			r.Warn(int64(n.Added), fmt.Sprintf("nodes of %s left out of the Examples: edges name them and their table does not", n.Type))
			n.Added = 0
		}
	}
	reportBuild(r, result)
	t.warnUnderflows(r, result.Underflows)
	for _, e := range result.Edges {
		if e.Dangling > 0 {
			t.warn("%s: dropped %d edges with an end that is no node", e.Type, e.Dangling)
		}
	}
	for _, n := range result.Nodes {
		if n.Added > 0 {
			t.warn("%s: %d nodes have no row in their table: their features are zeros and empty", n.Type, n.Added)
		}
	}
	s, err := store.Open(vfs.OS, temp)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	return t.sampleStore(cmd, s, out, f, r, start)
}
