package unigraph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/export/blank"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dgfFormats are the formats of DGF that hold all values of a dtype, except integers of 2^63 or more.
var dgfFormats = map[graph.DType]dgf.Format{
	graph.Bool: dgf.Bool, graph.String: dgf.Bytes,
	graph.Int8: dgf.Integer32, graph.Int16: dgf.Integer32, graph.Int32: dgf.Integer32, graph.Uint8: dgf.Integer32, graph.Uint16: dgf.Integer32,
	graph.Int64: dgf.Integer64, graph.Uint32: dgf.Integer64, graph.Uint64: dgf.Integer64,
	graph.Float16: dgf.Float32, graph.BFloat16: dgf.Float32, graph.Float32: dgf.Float32, graph.Float64: dgf.Float64,
}

// dgfStored are the types of the formats in Parquet files.
var dgfStored = map[dgf.Format]parquet.Type{
	dgf.Bool: parquet.Bool, dgf.Bytes: parquet.Bytes, dgf.Integer32: parquet.Int32, dgf.Integer64: parquet.Int64, dgf.Float32: parquet.Float32, dgf.Float64: parquet.Float64,
}

// DGFResult describes a graph of DGF that was written.
type DGFResult struct {
	Schema   *dgf.Schema
	Tables   []Table
	Warnings []string
}

// dgfJob is a table to write.
type dgfJob struct {
	dir, set string
	source   *source
	features map[string]*dgf.Feature
}

// WriteDGF writes the graph of a store into w as a graph of Google's DGF: schema.json, metadata.json, and the Parquet files of each
// node and edge set, of at least one shard. The caller seals w. fsys is the file system of w.
//
// Sets have the names that FromStore gives them. The feature #id of a node set has the original ids, or the numbers of the nodes, as
// bytes; its semantic is PRIMARY_ID. Times are INTEGER_64 of the semantic TIMESTAMP, categories INTEGER_32 of the semantic CATEGORICAL.
// Rows of an edge set are in the order of edge ids.
func WriteDGF(ctx context.Context, fsys vfs.FS, w *store.Writer, s *store.Store, opt Options) (*DGFResult, error) {
	features, err := checkedFeatures(ctx, fsys, s)
	if err != nil {
		return nil, err
	}
	return dgfFromGraph(ctx, fsys, w, s.Graph, features, opt)
}

// dgfFromGraph writes a graph with its features as WriteDGF does. The ids of the graph must be in range.
func dgfFromGraph(ctx context.Context, fsys vfs.FS, w *store.Writer, g *graph.Graph, features *widening.Features, opt Options) (*DGFResult, error) {
	opt.Format, opt.dgf, opt.Shards = Parquet, true, max(opt.Shards, 1)
	if err := opt.Check(); err != nil {
		return nil, err
	}
	if len(g.Context) > 0 {
		return nil, errors.New("found a context, which graphs of DGF do not have, expected none; write the store with graphmill tfgnn from-store")
	}
	r := &DGFResult{Schema: &dgf.Schema{NodeSets: map[string]*dgf.NodeSet{}, EdgeSets: map[string]*dgf.EdgeSet{}}}
	jobs, err := r.jobs(g, features)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if err := r.declare(&j); err != nil {
			return nil, err
		}
	}
	if err := checkDGFNames(r.Schema); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		stats, err := writeTable(ctx, fsys, w, j.dir+"/"+j.set, j.source, j.source.columns(), opt)
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, Table{j.dir + "/" + j.set, []string{j.set}, stats})
	}
	schema, err := dgf.AppendJSON(nil, r.Schema)
	if err != nil {
		return nil, err
	}
	metadata, err := dgf.AppendJSON(nil, &dgf.Metadata{Container: dgf.Parquet})
	if err != nil {
		return nil, err
	}
	if err := w.WriteFile(dgf.SchemaFile, schema); err != nil {
		return nil, err
	}
	return r, w.WriteFile(dgf.MetadataFile, metadata)
}

func (r *DGFResult) warn(format string, a ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...))
}

// jobs are the tables of a graph, and adds their sets to the schema.
func (r *DGFResult) jobs(g *graph.Graph, features *widening.Features) (jobs []dgfJob, err error) {
	for _, n := range g.Nodes {
		name := examplecolumns.NodeSet(n.Type)
		if r.Schema.NodeSets[name] != nil {
			return nil, fmt.Errorf("found the node set name %q for two types, one of them %s, expected different names; rename the type", name, n.Type)
		}
		if n.Added > 0 {
			r.warn("the last %d nodes of %s had no row in their table; their rows are zeros and empty", n.Added, n.Type)
		}
		columns, err := features.Nodes(n)
		if err != nil {
			return nil, err
		}
		set := &dgf.NodeSet{Features: map[string]*dgf.Feature{idName: {Format: dgf.Bytes, Semantic: dgf.PrimaryID, Shape: dgf.Shape{}}}}
		r.Schema.NodeSets[name] = set
		jobs = append(jobs, dgfJob{dgf.NodeSetsDir, name, nodeSource(n, columns), set.Features})
	}
	types := make([]graph.EdgeType, len(g.Edges))
	for i, e := range g.Edges {
		types[i] = e.Type
	}
	for i, name := range examplecolumns.EdgeSets(types) {
		e := g.Edges[i]
		if r.Schema.EdgeSets[name] != nil {
			return nil, fmt.Errorf("found the edge set name %q for two types, one of them %s, expected different names; rename the relation", name, e.Type)
		}
		if short := examplecolumns.EdgeSet(e.Type); name != short {
			r.warn("edge type %s is the edge set %s, as several types would be the edge set %s", e.Type, name, short)
		}
		columns, err := features.Edges(e)
		if err != nil {
			return nil, err
		}
		set := &dgf.EdgeSet{Source: examplecolumns.NodeSet(e.Type.Src), Target: examplecolumns.NodeSet(e.Type.Dst), Features: map[string]*dgf.Feature{}}
		r.Schema.EdgeSets[name] = set
		jobs = append(jobs, dgfJob{dgf.EdgeSetsDir, name, edgeSource(g, e, columns), set.Features})
	}
	return jobs, nil
}

// declare adds the features of a set to the schema.
func (r *DGFResult) declare(j *dgfJob) error {
	var own []*graph.Column
	for _, c := range j.source.cols {
		if !c.Wide() {
			own = append(own, c.Column)
		}
	}
	for _, c := range j.source.cols {
		if err := c.CheckOffsets(); err != nil {
			return fmt.Errorf("%s: column %q: %w", j.source.name, c.Name, err)
		}
		if j.features[c.Name] != nil || j.dir == dgf.EdgeSetsDir && (c.Name == sourceName || c.Name == targetName) {
			return fmt.Errorf("%s: found a column %q in addition to the original ids, expected another name; rename the column", j.source.name, c.Name)
		}
		f := &dgf.Feature{Format: dgfFormats[c.DType], Semantic: dgf.Unknown, Shape: append(dgf.Shape{}, c.Shape...)}
		j.features[c.Name] = f
		switch {
		case c.Categories != nil:
			n := c.Categories.Rows
			f.Semantic, f.Categories = dgf.Categorical, &n
			r.warn("%s: column %q has the codes of its categories, as the schema has no place for their texts", j.source.name, c.Name)
		case c.Unit != "":
			f.Semantic = dgf.Timestamp
			r.warn("%s: column %q has times in %s since 1970, as integers", j.source.name, c.Name, c.Unit)
		}
		if !c.Wide() && blank.Of(c.Column, own).Any(c.Rows) {
			r.warn("%s: column %q has %s for missing values, as DGF has no nulls", j.source.name, c.Name, standIn(c.Column))
		}
		if c.DType == graph.String && c.Rows > 0 && len(c.Values) == 0 {
			r.warn("%s: all texts of column %q are empty, and DGF 0.1.0 cannot read such files", j.source.name, c.Name)
		}
	}
	return nil
}

// standIn is what a column has for a missing value, in words.
func standIn(c *graph.Column) string {
	switch {
	case c.Categories != nil:
		return "the code -1"
	case c.Unit != "":
		return fmt.Sprint(graph.NoTime)
	case c.DType == graph.String:
		return "empty texts"
	case c.DType == graph.Bool:
		return "false"
	case c.DType.IsFloat():
		return "NaN"
	}
	return "0"
}

// checkDGFNames refuses names of sets that are no names of files, and names that DGF takes for those of several sets, as it finds the
// files of a set by NAME-*.parquet.
func checkDGFNames(s *dgf.Schema) error {
	for _, names := range [][]string{slices.Sorted(maps.Keys(s.NodeSets)), slices.Sorted(maps.Keys(s.EdgeSets))} {
		for _, name := range names {
			if strings.ContainsAny(name, `/\*?[`) || name == "." || name == ".." || len(name) > 200 {
				return fmt.Errorf("found the set name %q, expected one of at most 200 bytes without / \\ * ? and [, as DGF names its files after it; rename the type", name)
			}
			for _, other := range names {
				if strings.HasPrefix(other, name+"-") {
					return fmt.Errorf("found the set names %q and %q, expected names of which none is the beginning of another and a hyphen, as DGF would read the files of both for the first; rename one of the types", name, other)
				}
			}
		}
	}
	return nil
}

// declared declares the columns of a table of DGF for programs of Arrow.
func (w *writer) declared() string {
	columns := make([]arrow.Declaration, len(w.columns))
	for i, c := range w.columns {
		columns[i] = arrow.Declaration{Name: c.Name, Type: dgfStored[dgfFormats[c.From.DType]], Lists: c.From.Shape}
	}
	return arrow.Declared(columns)
}

// checkRange refuses integers of 2^63 and more in a column that is stored as int64.
func (w *writer) checkRange(c *graph.Column, as parquet.Type, data []byte) error {
	if c.DType != graph.Uint64 || as != parquet.Int64 {
		return nil
	}
	for _, v := range graph.View[uint64](data) {
		if v > math.MaxInt64 {
			return tagged.Errorf(errInexpressible, "%s: found %d in column %q, expected integers below 2^63, which are the largest of DGF's INTEGER_64; leave the column out of the import", w.stem, v, c.Name)
		}
	}
	return nil
}
