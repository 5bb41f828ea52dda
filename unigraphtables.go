package graphmill

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// TablesFormats returns the names of the formats of the tables of a unigraph.
func TablesFormats() []string { return unigraph.Formats() }

// UnigraphTables say how the tables of a unigraph are written.
type UnigraphTables struct {
	Run
	// To is the format of the tables, one of TablesFormats; "" is csv.
	To string
	// Shards is the number of files per table, such as 8 for NAME-00000-of-00008 and so on; 0 is one file NAME.
	Shards int
	Gzip   bool // compress csv and tfrecord files
	// RoundDoubles rounds float64 to float32 in tfrecord. Without it, a value that would lose digits is an error.
	RoundDoubles bool

	// The remaining fields apply only to ConvertUnigraph.

	// Missing says what empty cells mean, as for Import, except that no columns are added.
	Missing      []string
	AllowOutside bool // let the schema name files outside its folder
}

// options converts the options for package unigraph.
func (o *UnigraphTables) options() (u unigraph.Options, err error) {
	setDefault(&o.To, "csv")
	u = unigraph.Options{Shards: o.Shards, Gzip: o.Gzip, RoundDoubles: o.RoundDoubles}
	if u.Format, err = unigraph.ParseFormat(o.To); err != nil {
		return u, usagef("`To`: %w", err)
	}
	if err := u.Check(); err != nil {
		return u, usagef("%w", err)
	}
	err = o.check()
	u.Threads = o.Threads
	return u, err
}

// StoreToUnigraph writes a store to the folder out as a unigraph of TF-GNN: schema.pbtxt, and one table with all columns
// per node and edge type. The column #id has the original id of each node, or its number if the type has no ids.
func StoreToUnigraph(ctx context.Context, in, out string, o UnigraphTables) (_ *Report, err error) {
	defer guard.Catch(&err)()
	if name := firstGiven(option{"Missing", len(o.Missing) > 0}, option{"AllowOutside", o.AllowOutside}); name != "" {
		return nil, usagef("found `%s` with a store, expected it with the schema of a unigraph; leave it out", name)
	}
	u, err := o.options()
	if err != nil {
		return nil, err
	}
	if err := keeps(out, in); err != nil {
		return nil, err
	}
	s, err := store.Open(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	defer closeAfter(&err, out, s.Close)
	sum, err := store.Sum(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	size, err := store.Size(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	r := o.begin("tfgnn from-store", titled(out))
	r.Input("store", size, sum)
	rows := 0
	if g := s.Graph; g != nil {
		for _, n := range g.Nodes {
			rows += n.Count
		}
		for _, e := range g.Edges {
			rows += e.Count
		}
	}
	made := store.Made{Command: "tfgnn from-store", Inputs: map[string]string{"store": sum}}
	return r, o.write(ctx, out, made, r, u, int64(rows), func(w *store.Writer, u unigraph.Options) (*unigraph.Result, error) {
		return unigraph.FromStore(ctx, vfs.OS, w, s, u)
	})
}

// ConvertUnigraph reads the tables of a unigraph in any mix of formats, and writes all of them to the folder out in one
// format, with the schema. A value that the format cannot hold is an error. Columns that the schema does not declare are
// left out, and the report lists them.
func ConvertUnigraph(ctx context.Context, schema, out string, o UnigraphTables) (_ *Report, err error) {
	defer guard.Catch(&err)()
	u, err := o.options()
	if err != nil {
		return nil, err
	}
	from := ingest.Options{Format: "unigraph", Outside: o.AllowOutside}
	if from.Missing, err = missingRules(o.Missing); err != nil {
		return nil, err
	}
	for _, m := range from.Missing {
		if m.Value == "column" {
			return nil, usagef("found `Missing` with column, expected error or values: the schema says which columns there are")
		}
	}
	src, err := ingest.Open(ctx, vfs.OS, schema, from)
	if err != nil {
		return nil, err
	}
	defer closeAfter(&err, out, src.Close)
	if err := keeps(out, src.Files...); err != nil {
		return nil, err
	}
	r := o.begin("tfgnn convert", titled(out))
	names, err := below(filepath.Dir(src.Files[0]))
	if err != nil {
		return nil, err
	}
	inputs, err := fingerprints(ctx, vfs.OS, src.Files, r, names)
	if err != nil {
		return nil, err
	}
	made := store.Made{Command: "tfgnn convert", Inputs: inputs}
	return r, o.write(ctx, out, made, r, u, 0, func(w *store.Writer, u unigraph.Options) (*unigraph.Result, error) {
		return unigraph.Convert(ctx, vfs.OS, w, src, u)
	})
}

// write makes, seals, reports and publishes a unigraph. total is the number of rows, 0 if it is not known.
func (o *UnigraphTables) write(ctx context.Context, out string, made store.Made, r *report.Report, u unigraph.Options, total int64, write func(*store.Writer, unigraph.Options) (*unigraph.Result, error)) (err error) {
	start := time.Now()
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer endWith(&err, w)
	line := o.meter("tables", total, "rows")
	u.Progress = func(rows int) { line.add(int64(rows)) }
	result, err := write(w, u)
	line.end()
	if err != nil {
		return err
	}
	writing := time.Since(start)
	for _, text := range result.Warnings {
		o.warn("%s", text)
		r.Note(text)
	}
	made.Version = Version()
	if made.Options == nil {
		made.Options = map[string]string{}
	}
	maps.Copy(made.Options, map[string]string{"format": u.Format.String(), "shards": strconv.Itoa(u.Shards),
		"gzip": strconv.FormatBool(u.Gzip), "round_doubles": strconv.FormatBool(u.RoundDoubles)})
	if err := w.WriteMade(made); err != nil {
		return err
	}
	sealing := time.Now()
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	var rows uint64
	var bytes int64
	tables := report.Table{Title: "Tables", Columns: []string{"table", "of", "rows", "bytes"}}
	for _, x := range result.Tables {
		o.warnUnderflows(r, x.Underflows)
		rows += x.Rows
		bytes += x.Bytes
		tables.Rows = append(tables.Rows, []report.Value{report.Text(x.Name), report.Text(strings.Join(x.Sets, ", ")), report.Count(x.Rows, ""), report.Bytes(x.Bytes)})
	}
	r.Head("rows", report.Count(rows, "rows"))
	r.Head("on disk", report.Bytes(bytes))
	r.Out("tables", report.Count(len(result.Tables), ""))
	r.Out("schema", report.Text(fmt.Sprintf("%s: %d node sets, %d edge sets", unigraph.SchemaFile, len(result.Schema.GetNodeSets()), len(result.Schema.GetEdgeSets()))))
	r.Table(tables)
	r.Stage("tables", writing, int64(rows), "rows")
	r.Stage("checksums", time.Since(sealing), 0, "")
	return o.publish(w, r, start)
}
