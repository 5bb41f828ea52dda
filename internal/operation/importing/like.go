package importing

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// featureDTypes are the values of Like.FeatureDType.
var featureDTypes = map[string]graph.DType{"float32": graph.Float32, "float16": graph.Float16, "none": graph.Invalid}

// GenerateLike makes a graph with the published sizes of a data set, and writes it to the folder out. The same parameters give the same graph on every machine. The caller closes the store.
func GenerateLike(ctx context.Context, out string, o option.Like) (_ *store.Store, _ *report.Report, err error) {
	defer guard.Catch(&err)()
	if err := checkBuild(&o.Build); err != nil {
		return nil, nil, err
	}
	operation.SetDefault(&o.FeatureDType, "float32")
	dtype, ok := featureDTypes[o.FeatureDType]
	if !ok {
		return nil, nil, operation.Usagef("found `FeatureDType` %q, expected one of float32, float16, none", o.FeatureDType)
	}
	shape, err := generate.ShapeOf(o.Name)
	if err != nil {
		return nil, nil, operation.Usagef("%w", err)
	}
	if o.Symmetrise {
		if err := shape.Symmetrise(); err != nil {
			return nil, nil, operation.Usagef("%s with `Symmetrise`: %w", shape.Name, err)
		}
	}
	if err := operation.Keeps(out); err != nil {
		return nil, nil, err
	}
	in := shapeInput(o.Seed, shape, dtype)
	if err := foreseeLike(vfs.OS, &o, shape, in, out); err != nil {
		return nil, nil, err
	}
	made := store.Made{Command: "generate like", Seed: &o.Seed, Law: draw.Version, Version: operation.Version(), Options: map[string]string{
		"like": shape.Name, "feature_dtype": o.FeatureDType, "symmetrise": strconv.FormatBool(o.Symmetrise),
		"duplicate_edges": string(o.DuplicateEdges), "self_loops": string(o.SelfLoops)}}
	recordTransforms(&o.Build.Transforms, &made)
	r := operation.NewReport(&o.Build.Run, "generate like", "Sizes of "+shape.Name)
	r.Note(fmt.Sprintf("The counts, widths and sizes of splits are those of %s. Edges and values are made up.", shape.Name))
	st, err := buildStore(&o.Build, ctx, in, assembleOptions(&o.Build), out, made, r)
	return st, r, err
}

// shapeInput is the tables of a shape.
func shapeInput(seed uint64, s *generate.Shape, dtype graph.DType) (in assemble.Input) {
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	for i, n := range s.Nodes {
		if t := generate.NewNodeColumns(seed, s, i, dtype); t != nil {
			in.Nodes = append(in.Nodes, assemble.Nodes{Type: n.Type, Table: t, Columns: t.Columns()})
		} else {
			in.Nodes = append(in.Nodes, assemble.Nodes{Type: n.Type, Count: n.Count})
		}
	}
	for i, e := range s.Edges {
		in.Edges = append(in.Edges, assemble.Edges{
			Type: e.Type, Table: generate.NewSkewed(seed, s, i), Src: end("src"), Dst: end("dst"), Made: e.Rows, Symmetrise: e.Undirected,
		})
	}
	return in
}

// recordBytes is about the size of an edge in temporary files, which hold it until its neighbours are sorted.
const recordBytes = 8

// foreseeLike tells about what the run takes on the disk, and refuses a disk without room for it.
func foreseeLike(fsys vfs.FS, o *option.Like, s *generate.Shape, in assemble.Input, out string) error {
	columns, edges, records := int64(0), int64(0), int64(0)
	for _, n := range in.Nodes {
		if n.Table != nil {
			columns += n.Table.Bytes()
		}
	}
	for _, e := range s.Edges {
		rows := int64(e.Rows)
		if e.Undirected {
			rows *= 2
		}
		id := int64(4)
		if rows > math.MaxUint32 {
			id = 8
		}
		edges += 4*rows + id*int64(s.Node(e.Type.Dst).Count)
		if o.Both {
			edges += (4+id)*rows + id*int64(s.Node(e.Type.Src).Count)
		}
		records = max(records, recordBytes*rows)
	}
	need := columns + edges + records
	operation.Note(&o.Build.Run, "%s will have about %s: %s of columns and %s of edges; while it is made, up to %s more", out, human.Bytes(columns+edges), human.Bytes(columns), human.Bytes(edges), human.Bytes(records))
	free, err := fsys.Free(filepath.Dir(out))
	if err != nil || need <= free {
		return nil // where the free space is not known, the run begins
	}
	smaller, _, _ := strings.Cut(s.Name, "/")
	return tagged.Errorf(vfs.ErrSpace, "%s: found %s free, expected about %s; make room, choose another `Out`, take float16 or no features by `FeatureDType`, or a larger divisor, such as %s/%d",
		filepath.Dir(out), human.Bytes(free), human.Bytes(need), smaller, 1+divisorOf(s.Name)*need/max(free, 1))
}

// divisorOf is the K of NAME/K, else 1.
func divisorOf(name string) int64 {
	_, by, _ := strings.Cut(name, "/")
	k, err := strconv.ParseInt(by, 10, 64)
	if err != nil {
		return 1
	}
	return k
}
