package unigraph

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The names of the columns of ids.
const (
	idName     = tfgnn.IDName
	sourceName = tfgnn.SourceName
	targetName = tfgnn.TargetName
)

// SchemaFile is the name of the schema file, in the folder of the tables.
const SchemaFile = "schema.pbtxt"

// Table describes a table that was written.
type Table struct {
	Name string // name in the schema: a file name, or a pattern of shards
	Sets []string
	Stats
}

// Result describes what was written.
type Result struct {
	Schema   *tfgnnpb.GraphSchema
	Tables   []Table
	Warnings []string
}

func (r *Result) warn(format string, a ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...))
}

// FromStore writes the graph of a store as fromGraph does. It refuses a store whose arrays do not form a graph.
func FromStore(ctx context.Context, fsys vfs.FS, w *store.Writer, s *store.Store, opt Options) (*Result, error) {
	features, err := checkedFeatures(ctx, fsys, s)
	if err != nil {
		return nil, err
	}
	return fromGraph(ctx, fsys, w, s.Graph, features, opt)
}

// checkedFeatures returns the features of a store of one graph whose arrays form it. Others are an error.
func checkedFeatures(ctx context.Context, fsys vfs.FS, s *store.Store) (*widening.Features, error) {
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store; write its graphs as TFRecords with graphmill export", s.Dir)
	}
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	return widening.Read(fsys, s.Dir)
}

// fromGraph writes a graph with its features as a unigraph into w. The caller seals w. fsys is the file system of w. The ids of the
// graph must be in range.
//
// A node type becomes a node set of the same name (_N becomes "node"). Its #id is the original id, or the type-wise
// id as decimal text. An edge type becomes an edge set named by its relation (_E becomes "edge"), or by src_rel_dst
// if several types have the same relation, with a warning. Its rows are in the order of edge ids.
func fromGraph(ctx context.Context, fsys vfs.FS, w *store.Writer, g *graph.Graph, features *widening.Features, opt Options) (*Result, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	r := &Result{Schema: &tfgnnpb.GraphSchema{
		NodeSets: map[string]*tfgnnpb.NodeSet{},
		EdgeSets: map[string]*tfgnnpb.EdgeSet{},
		Info:     &tfgnnpb.OriginInfo{GraphType: tfgnnpb.GraphType_FULL.Enum()},
	}}
	type job struct {
		stem, set string
		source    *source
		features  map[string]*tfgnnpb.Feature
		meta      *tfgnnpb.Metadata
	}
	var jobs []job
	add := func(stem, set string, s *source) job {
		j := job{stem, set, s, map[string]*tfgnnpb.Feature{}, &tfgnnpb.Metadata{
			Filename: proto.String(opt.pattern(stem)), Cardinality: proto.Int64(int64(s.rows))}}
		jobs = append(jobs, j)
		return j
	}
	if len(g.Context) > 0 {
		s := newSource("context", g.Context[0].Rows, widening.Own(g.Context))
		j := add("context", "context", s)
		r.Schema.Context = &tfgnnpb.Context{Features: j.features, Metadata: j.meta}
	}
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
		j := add("nodes-"+store.FileName(name), name, nodeSource(n, columns))
		j.features[idName] = &tfgnnpb.Feature{Dtype: tfgnnpb.DataType_DT_STRING.Enum()}
		r.Schema.NodeSets[name] = &tfgnnpb.NodeSet{Features: j.features, Metadata: j.meta}
	}
	types := make([]graph.EdgeType, len(g.Edges))
	for i, e := range g.Edges {
		types[i] = e.Type
	}
	names := examplecolumns.EdgeSets(types)
	for i, e := range g.Edges {
		name := names[i]
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
		j := add("edges-"+store.FileName(name), name, edgeSource(g, e, columns))
		r.Schema.EdgeSets[name] = &tfgnnpb.EdgeSet{Features: j.features, Metadata: j.meta,
			Source: proto.String(examplecolumns.NodeSet(e.Type.Src)), Target: proto.String(examplecolumns.NodeSet(e.Type.Dst))}
	}
	var lost []string
	for _, j := range jobs {
		for _, c := range j.source.cols {
			if meaning := store.Meaning(c.Column); meaning != "" {
				lost = append(lost, meaning+" "+j.source.name+"."+c.Name)
			}
			if err := c.CheckOffsets(); err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", j.source.name, c.Name, err)
			}
			if j.features[c.Name] != nil {
				return nil, fmt.Errorf("%s: found a column %q in addition to the original ids, expected another name; rename the column", j.source.name, c.Name)
			}
			j.features[c.Name] = examplecolumns.Proto(c.Column)
		}
	}
	if len(lost) > 0 {
		r.warn("a schema has integers, and no times or categories; it loses %s", strings.Join(lost, "; "))
	}
	if _, err := tfgnn.CheckSchema(r.Schema); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if err := r.write(ctx, fsys, w, j.stem, []string{j.set}, j.source, j.source.columns(), opt); err != nil {
			return nil, err
		}
	}
	return r, w.WriteFile(SchemaFile, tfgnn.AppendText(nil, r.Schema))
}

// write writes one table and counts it.
func (r *Result) write(ctx context.Context, fsys vfs.FS, w *store.Writer, stem string, sets []string, t table.Table, columns []tableColumn, opt Options) error {
	stats, err := writeTable(ctx, fsys, w, stem, t, columns, opt)
	r.Tables = append(r.Tables, Table{opt.pattern(stem), sets, stats})
	return err
}
