package graphmill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Policy says how an import treats rows that break a rule.
type Policy string

// The policies. Each field of this type says which of them it takes, and which is its default.
const (
	PolicyError Policy = "error" // stop with an error that names file, line and column
	PolicyDrop  Policy = "drop"  // drop the rows, and count them
	PolicyKeep  Policy = "keep"  // keep the rows
	PolicyZeros Policy = "zeros" // add each missing node, with zeros in its columns
	PolicyAdd   Policy = "add"   // add the rows that are missing
	PolicySum   Policy = "sum"   // keep the first row, with the sums of the columns of all
	PolicyCount Policy = "count" // keep the first row, with the number of all in a column "count"
	// PolicyDropEqual drops rows that are equal to an earlier one in all columns, where 0 equals -0 and NaN equals NaN.
	PolicyDropEqual Policy = "drop-equal"
)

// BuildOptions are the options that all operations share that make a store from edges.
type BuildOptions struct {
	Run

	// Both stores the adjacency of both directions, not only of the primary one.
	Both bool
	// DuplicateEdges says how to treat edges with equal ends: PolicyKeep (the default), PolicyDrop (which keeps the first),
	// PolicyDropEqual, PolicyError, PolicySum or PolicyCount.
	DuplicateEdges Policy
	// SelfLoops says how to treat edges from a node to itself: PolicyKeep (the default), PolicyDrop, PolicyError, or
	// PolicyAdd, which gives one to each node that has none, in edge types between nodes of one type.
	SelfLoops Policy

	Transforms

	started time.Time // when the work began; zero: it begins when the graph is built
}

// ImportOptions say how a source is read. The zero value recognises the format and columns of most sources.
type ImportOptions struct {
	BuildOptions

	// Format is the format of the source, one of ImportFormats; "" recognises it by the name and content.
	Format string
	// Columns names the columns of an edge list without a header, or selects columns of one with a header. A name may have
	// a dtype: "src,dst,weight:float32". "" takes all columns of the header.
	Columns string
	// Src and Dst name the columns of an edge list that hold the sources and destinations; "" finds usual
	// names such as src and dst, or source and target.
	Src, Dst string
	// SrcType and DstType name the node types of the ends of an edge list; "" is _N. With equal names, equal ids are one node.
	SrcType, DstType string
	// IDs is the type of the ids: "auto" (the default), "integer" or "string".
	IDs string
	// Delimiter separates the columns of text tables: one character, "tab" or "space"; "" recognises it.
	Delimiter string
	// Indptr and Indices are the .npy files of a sparse matrix in CSR form with one row per destination. The argument
	// source of Import is "" then.
	Indptr, Indices string
	// NumNodes is the number of nodes of a source without a node table; 0 is the largest id + 1.
	NumNodes uint64
	// Symmetrise adds the reverse of each edge. Where source and destination differ in type, the reverse edges have the
	// type dst:rev_REL:src.
	Symmetrise bool
	// Homogeneous merges all node types into _N and all edge types into _N:_E:_N, in the order of their names.
	Homogeneous bool
	// NoPositions leaves out the position of each edge in the input (the column #input_position), which takes 4 bytes per
	// edge, or 8 where the input has 2^32 rows or more. Outputs then have the edge ids of the store instead of positions, and
	// what needs the order of the edges in the input is an error.
	NoPositions bool
	// Primary is the direction by which edges are numbered and stored: DirectionIn or DirectionOut; "" is DirectionOut for
	// unigraphs and DirectionIn for all other sources.
	Primary Direction
	// DanglingEdges says how to treat edges with an end that no node table has: PolicyError (the default), PolicyDrop or
	// PolicyZeros.
	DanglingEdges Policy
	// DuplicateNodes says how to treat rows of a node table whose id an earlier row has: PolicyError (the default) or
	// PolicyDrop.
	DuplicateNodes Policy
	// Missing says what empty cells mean, each "WHAT=VALUE" or "VALUE" for all, or several with commas between. WHAT is a
	// dtype, a kind of dtypes (float, int, bool, string, datetime, category) or a column. VALUE is the value of the cell,
	// "error", or "column": then the cell is zero, NaN for floats, and a column of bools, NAME_missing, says which cells
	// were empty. The most specific rule holds. Without a rule, an empty cell of numbers or bools is an error, a missing
	// time is graph.NoTime, a missing category -1, and a string is empty.
	Missing []string
	// Vectors join columns of an edge list to vectors: "feat=f0:f127" for a range of columns in the order of the file,
	// "feat=f*" for a pattern, "feat=a,b,c", each with a dtype if wanted: "feat:float32=f*". The columns are not imported
	// on their own.
	Vectors []string
	// Relations says what the relations of triples (RDF, or head, relation and tail) become: "types", an edge type each;
	// "column", a column relation of one edge type; "" is types for up to 1,000 relations, and otherwise a column.
	Relations string
	// AllowOutside lets a metadata file name files outside its folder, and databases on servers.
	AllowOutside bool

	// Cluster imports on the workers of a cluster; nil imports in this process.
	Cluster *ImportCluster

	// Schema is the GraphSchema of TFRecords: a file, or the folder that holds it. It is required for TFRecords, which
	// become a collection.
	Schema string
	// More lists further files of TFRecords or of an edge list, which are read after the source.
	More []string
	// Input is what the source "-" reads, a table of edges. Format says its kind: csv, tsv, txt, jsonl, arrow or parquet. It is
	// copied to an unnamed file in the folder of the output, which is gone when Import returns.
	Input io.Reader
	// Lenient repairs Examples that are not valid GraphTensors where that is possible, and counts them. Without it, such an
	// Example is an error.
	Lenient bool
	// TimeColumn are the columns of a database, TABLE.COLUMN, that are the times of the nodes and edges of their table.
	TimeColumn []string

	begun  func(r *report.Report) // called with the report of Import; nil: not
	copies *copies                // of databases; nil: none
}

// ImportFormats returns the names of the formats that Import reads.
func ImportFormats() []string { return ingest.Formats() }

// ImportFormat describes a format that Import reads.
type ImportFormat struct {
	// Name is what ImportOptions.Format takes.
	Name string `json:"name"`
	// Source says what a source of the format looks like.
	Source string `json:"source"`
	// Becomes says what Import makes of it.
	Becomes string `json:"becomes"`
}

// DescribeImportFormats describes the formats of ImportFormats, in the same order.
func DescribeImportFormats() []ImportFormat {
	var list []ImportFormat
	for _, f := range ingest.List() {
		list = append(list, ImportFormat{f.Name, f.About, f.Becomes})
	}
	return list
}

// check refuses options that contradict each other, and fills in defaults.
func (o *BuildOptions) check() error {
	setDefault(&o.DuplicateEdges, PolicyKeep)
	setDefault(&o.SelfLoops, PolicyKeep)
	return errors.Join(o.Run.check(),
		checkPolicy("DuplicateEdges", o.DuplicateEdges, PolicyKeep, PolicyDrop, PolicyDropEqual, PolicyError, PolicySum, PolicyCount),
		checkPolicy("SelfLoops", o.SelfLoops, PolicyKeep, PolicyDrop, PolicyError, PolicyAdd))
}

func checkPolicy(field string, p Policy, takes ...Policy) error {
	if slices.Contains(takes, p) {
		return nil
	}
	var names []string
	for _, t := range takes {
		names = append(names, string(t))
	}
	return usagef("found `%s` %q, expected one of %s", field, p, strings.Join(names, ", "))
}

// policies maps the policies to package assemble's.
//
// Those that a transform carries out keep the rows until then.
var policies = map[Policy]assemble.Policy{PolicyError: assemble.Error, PolicyDrop: assemble.Drop, PolicyKeep: assemble.Keep, PolicyZeros: assemble.Zeros,
	PolicyAdd: assemble.Keep, PolicySum: assemble.Keep, PolicyCount: assemble.Keep, PolicyDropEqual: assemble.Keep}

func (o *BuildOptions) assemble() assemble.Options {
	return assemble.Options{
		Both: o.Both, DanglingEdges: assemble.Error, DuplicateNodes: assemble.Error,
		DuplicateEdges: policies[o.DuplicateEdges], SelfLoops: policies[o.SelfLoops],
		Threads: o.Threads, Memory: o.Memory,
	}
}

// check refuses options that contradict each other, and fills in defaults.
func (o *ImportOptions) check() error {
	setDefault(&o.DanglingEdges, PolicyError)
	setDefault(&o.DuplicateNodes, PolicyError)
	if o.Schema == "" && o.Lenient {
		return usagef("found `Lenient` without `Schema`, expected TFRecords and `Schema`; leave `Lenient` out, or give the schema of the TFRecords")
	}
	if o.Cluster != nil && o.Schema != "" {
		return usagef("found `Schema` on a cluster, expected the tables of one graph; use graphmill import")
	}
	return errors.Join(o.BuildOptions.check(),
		checkPolicy("DanglingEdges", o.DanglingEdges, PolicyError, PolicyDrop, PolicyZeros),
		checkPolicy("DuplicateNodes", o.DuplicateNodes, PolicyError, PolicyDrop))
}

// source converts the options for package ingest.
func (o *ImportOptions) source() (ingest.Options, error) {
	s := ingest.Options{Format: o.Format, More: o.More, Columns: o.Columns, Src: o.Src, Dst: o.Dst, SrcType: o.SrcType, DstType: o.DstType, Indptr: o.Indptr, Indices: o.Indices, NumNodes: o.NumNodes, Relations: o.Relations,
		Symmetrise: o.Symmetrise, Outside: o.AllowOutside}
	if o.IDs != "" {
		ids, err := ingest.ParseIDs(o.IDs)
		if err != nil {
			return s, usagef("`IDs`: %w", err)
		}
		s.IDs = ids
	}
	switch {
	case o.Delimiter == "tab":
		s.Delimiter = '\t'
	case o.Delimiter == "space":
		s.Delimiter = ' '
	case len(o.Delimiter) == 1:
		s.Delimiter = o.Delimiter[0]
	case o.Delimiter != "":
		return s, usagef("found `Delimiter` %q, expected one character, tab or space", o.Delimiter)
	}
	s.Vectors = o.Vectors
	var err error
	s.Missing, err = missingRules(o.Missing)
	return s, err
}

// missingRules reads the rules of Missing.
func missingRules(missing []string) (rules []ingest.Missing, err error) {
	for _, m := range missing {
		more, err := ingest.ParseMissing(m)
		if err != nil {
			return nil, usagef("%w", err)
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// Import reads a source, and writes it to the folder out: one graph becomes a store, many graphs become a collection.
// The source is a file or folder in one of the formats of ImportFormats, the address of a database (sqlite:FILE or
// postgres://USER@HOST/DATABASE), "-" for Input, or "" if Indptr and Indices are
// given. The store does not depend on Memory or Threads. The caller closes it.
func Import(ctx context.Context, source, out string, o ImportOptions) (st *Store, err error) {
	asked := o
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
		return nil, usagef("found `TimeColumn` without a database, expected the times of tables in a graph.yaml; write the column with the type datetime in a graph.yaml")
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
		defer closeAfter(&err, out, done)
	}
	options, err := o.source()
	if err != nil {
		return nil, err
	}
	options.Temp, options.Threads = folderOf(out), o.Threads
	if o.Cluster == nil && o.copies == nil {
		q := &queries{out: out, overwrite: o.Overwrite}
		options.Query, o.copies = q.read, &q.copies
		defer closeAfter(&err, out, q.close)
		defer func() { err = q.places.In(err) }()
	}
	ctx = table.Bound(ctx, o.Memory, o.Threads)
	start := time.Now()
	src, err := ingest.Open(ctx, fsys, source, options)
	if err != nil {
		if errors.Is(err, ingest.ErrUsage) {
			return nil, usagef("%w", err)
		}
		return nil, err
	}
	defer closeAfter(&err, out, src.Close)
	if src.Collection != nil {
		if o.Cluster != nil {
			return nil, fmt.Errorf("%s: found many graphs, expected one graph on a cluster; use graphmill import", source)
		}
		if err := o.checkCollection(src.Format); err != nil {
			return nil, err
		}
	}
	if o.Cluster != nil && slices.ContainsFunc(src.Input.Edges, func(e assemble.Edges) bool { return e.Where != nil && e.Where.Own }) {
		return nil, fmt.Errorf("%s: found triples with an edge type for each relation, expected other tables on a cluster; give `Relations` column, or use graphmill import", source)
	}
	o.follow(&asked, src)
	r := o.begin("import", titled(out))
	if o.begun != nil {
		o.begun(r)
	}
	o.copies.report(r)
	for _, w := range append(o.copies.warnings(), src.Warnings...) {
		w = o.copies.text(w)
		o.warn("%s", w)
		r.Note(w)
	}
	if err := keeps(out, src.Files...); err != nil {
		return nil, err
	}
	given := source
	if source == "" {
		source = o.Indptr
	}
	names := filepath.Base
	if fsys == vfs.OS { // no pipe
		if names, err = below(source); err != nil {
			return nil, err
		}
	}
	inputs, err := fingerprints(ctx, fsys, src.Files, r, o.copies.inputs(names))
	if err != nil {
		return nil, err
	}
	collecting := time.Now()
	if err := src.Collect(ctx, o.Threads, o.Memory/4, o.Homogeneous); err != nil {
		return nil, err
	}
	r.Stage("open", collecting.Sub(start)-o.copies.time(), 0, "")
	if src.Collected() != nil {
		r.Stage("categories", time.Since(collecting), 0, "")
	}
	if src.Collection != nil {
		return o.importCollection(ctx, src, inputs, out, r, start)
	}
	o.started = cmp.Or(o.started, start)
	return o.importGraph(ctx, given, options, src, inputs, out, r)
}

// folderOf returns the folder that an output is made in or, if it does not exist yet, the one that it will be in.
func folderOf(out string) string {
	dir := filepath.Dir(filepath.Clean(out))
	for {
		info, err := vfs.OS.Stat(dir)
		if err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir // one that cannot be looked at fails when it is used
		}
		dir = filepath.Dir(dir)
	}
}

// below returns a function that names a file by its path relative to the source, or by its base name if it lies elsewhere.
// A source that does not exist is the common part of names: a glob, or a name with a number of shards.
func below(source string) (func(file string) string, error) {
	root := source
	info, err := vfs.OS.Stat(source)
	if err != nil && !vfs.Absent(err) {
		return nil, err
	}
	if err == nil && !info.IsDir() {
		root = filepath.Dir(source)
	}
	return func(file string) string {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) && rel != "." {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	}, nil
}

// importGraph makes a store of one graph.
func (o *ImportOptions) importGraph(ctx context.Context, source string, from ingest.Options, src *ingest.Source, inputs map[string]string, out string, r *report.Report) (*Store, error) {
	opt := o.assemble()
	opt.Homogeneous, opt.NoPositions, opt.Primary, opt.Held = o.Homogeneous, o.NoPositions, src.Primary, src.Held
	opt.DanglingEdges, opt.DuplicateNodes = policies[o.DanglingEdges], policies[o.DuplicateNodes]
	if o.Primary != "" {
		var err error
		if opt.Primary, err = graph.ParseDirection(string(o.Primary)); err != nil {
			return nil, usagef("`Primary`: %w", err)
		}
	}
	made := store.Made{Command: "import", Inputs: inputs, Version: Version(), Options: map[string]string{
		"format": src.Format, "homogeneous": strconv.FormatBool(o.Homogeneous), "symmetrise": strconv.FormatBool(o.Symmetrise),
		"dangling_edges": string(o.DanglingEdges), "duplicate_nodes": string(o.DuplicateNodes), "duplicate_edges": string(o.DuplicateEdges),
		"self_loops": string(o.SelfLoops), "both": strconv.FormatBool(o.Both), "primary": opt.Primary.String(), declaredIDs: strings.Join(src.DeclaredIDs, ","),
	}}
	o.made(made.Options)
	o.copies.made(made.Options)
	if len(o.Missing) > 0 {
		made.Options["missing"] = strings.Join(o.Missing, ",")
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
	if o.Cluster != nil {
		return o.onCluster(ctx, source, from, src, opt, out, made, r)
	}
	return o.buildBy(ctx, out, made, r, func(w *store.Writer, progress told) (*assemble.Result, error) {
		opt.Progress = progress
		return o.reviewed(src, r)(o.assembled(ctx, w, src.Input, opt, r))
	})
}

// reviewed returns a function that hands on what a build returns, and warns of what is suspicious about it.
func (o *ImportOptions) reviewed(src *ingest.Source, r *report.Report) func(*assemble.Result, error) (*assemble.Result, error) {
	return func(result *assemble.Result, err error) (*assemble.Result, error) {
		if err == nil {
			for _, w := range src.Review(result) {
				w = o.copies.text(w)
				o.warn("%s", w)
				r.Note(w)
			}
		}
		return result, err
	}
}

// build builds, seals, reports, publishes and opens a store.
func (o *BuildOptions) build(ctx context.Context, in assemble.Input, opt assemble.Options, out string, made store.Made, r *report.Report) (*Store, error) {
	return o.buildBy(ctx, out, made, r, func(w *store.Writer, progress told) (*assemble.Result, error) {
		opt.Progress = progress
		return o.assembled(ctx, w, in, opt, r)
	})
}

// assembled writes the arrays and columns of a graph, with the changes that the options ask for.
func (o *BuildOptions) assembled(ctx context.Context, w *store.Writer, in assemble.Input, opt assemble.Options, r *report.Report) (*assemble.Result, error) {
	if t := o.transforms(); !t.None() {
		return o.buildTransformed(ctx, w, in, opt, r)
	}
	opt.Foreseen = o.foresee
	return assemble.Build(ctx, vfs.OS, w, in, opt)
}

// told is a function that takes the progress of a stage.
type told = func(stage string, done, total int64, unit string)

// buildBy is build with the function that writes the arrays and columns.
func (o *BuildOptions) buildBy(ctx context.Context, out string, made store.Made, r *report.Report, write func(w *store.Writer, progress told) (*assemble.Result, error)) (_ *Store, err error) {
	start := cmp.Or(o.started, time.Now())
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer endWith(&err, w)
	stages := o.stages()
	result, err := write(w, stages.update)
	stages.end()
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
	reportBuild(r, result)
	o.warnUnderflows(r, result.Underflows)
	r.Stage("checksums", time.Since(sealing), 0, "")
	counting := time.Now()
	err = reportStore(r, s)
	r.Stage("count degrees", time.Since(counting), 0, "")
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return opened(out, r, o.publish(w, r, start))
}

// opened opens an output after it was published.
func opened(out string, r *report.Report, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	s, err := Open(out)
	if err != nil {
		return nil, err
	}
	s.report = r
	return s, nil
}

// checkCollection refuses options that do not apply to sources of many graphs.
func (o *ImportOptions) checkCollection(format string) error {
	return o.checkOnly(format+" of many graphs", "that collections have", "Format", "Symmetrise", "Missing", "AllowOutside")
}

// checkOnly refuses all options except the options of Run and the ones that takes lists.
func (o *ImportOptions) checkOnly(what, have string, takes ...string) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"Format", o.Format != ""}, {"Columns", o.Columns != ""}, {"Vectors", len(o.Vectors) > 0}, {"Missing", len(o.Missing) > 0}, {"Src", o.Src != ""}, {"Dst", o.Dst != ""}, {"SrcType", o.SrcType != ""}, {"DstType", o.DstType != ""}, {"IDs", o.IDs != "" && o.IDs != "auto"}, {"Delimiter", o.Delimiter != ""},
		{"Indptr", o.Indptr != ""}, {"Indices", o.Indices != ""}, {"NumNodes", o.NumNodes != 0}, {"Relations", o.Relations != ""}, {"Symmetrise", o.Symmetrise}, {"Homogeneous", o.Homogeneous}, {"NoPositions", o.NoPositions},
		{"Primary", o.Primary != ""}, {"Both", o.Both}, {"DanglingEdges", o.DanglingEdges != PolicyError}, {"DuplicateNodes", o.DuplicateNodes != PolicyError},
		{"DuplicateEdges", o.DuplicateEdges != PolicyKeep}, {"SelfLoops", o.SelfLoops != PolicyKeep}, {"LargestComponent", o.LargestComponent}, {"Splits", len(o.Splits) > 0},
		{"SplitSeed", o.SplitSeed != 0}, {"Normalise", len(o.Normalise) > 0}, {"AllowOutside", o.AllowOutside},
	} {
		if f.given && !slices.Contains(takes, f.name) {
			list := ""
			if len(takes) > 0 {
				list = ": `" + strings.Join(takes, "`, `") + "`"
			}
			return usagef("found `%s` with %s, expected options %s%s", f.name, what, have, list)
		}
	}
	return nil
}
