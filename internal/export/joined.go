package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// joined is the source that takes the subgraphs from a collection, and the columns from the store that the subgraphs
// were sampled from.
type joined struct {
	c        *graph.Collection
	g        *graph.Graph
	encoding *output.Encoding
	nodes    []joinedType // parallel to the node types of c
	edges    []joinedType
}

// joinedType is a type of the collection and its place in the store.
type joinedType struct {
	number int // index in the store
	hops   []uint32
	width  int // length of a row of hops

	weights []float32 // of edges; nil for none
}

// newJoined finds the plan that the collection was sampled by from a store with features. It adds to r what is left out.
func newJoined(fsys vfs.FS, s, from *store.Store, features *widening.Features, r *Result) (*joined, error) {
	j := &joined{c: s.Collection, g: from.Graph}
	made := s.Meta.Made
	if from.Graph == nil {
		return nil, tagged.Errorf(errStore, "%s: found a collection, expected the store that was sampled; give the store that graph.json names under \"made\"", from.Dir)
	}
	want, sampled := made.Inputs["store"]
	if !sampled || len(made.Plan) == 0 {
		return nil, tagged.Errorf(errStore, "found a collection made by %s, expected one that was sampled; leave `Store` out", made.Command)
	}
	got, err := store.Sum(fsys, from.Dir)
	if err != nil {
		return nil, err
	}
	if got != want {
		return nil, tagged.Errorf(errStore, "%s: found a store of checksum %s, expected %s, that of the sampled store; give that store", from.Dir, got, want)
	}
	plan, err := sample.ParsePlan(store.MetaFile, made.Plan)
	if err != nil {
		return nil, err
	}
	if err := plan.Validate(j.g); err != nil {
		return nil, err
	}
	if j.encoding, err = output.NewEncoding(j.g, features, plan, declaredIDs(from, plan), j.weighed()); err != nil {
		return nil, err
	}
	r.Rounded = j.encoding.Rounded()
	for _, c := range j.c.Context {
		r.Left = append(r.Left, "context: column "+c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta.Context.Arrays)) {
		if strings.HasPrefix(name, "op_") {
			r.Left = append(r.Left, "context: "+name)
		}
	}
	if j.c.SeedLocal.U64 != nil {
		return nil, fmt.Errorf("seed_local: found ids of 64 bits, expected 32")
	}
	return j, j.types(plan)
}

// weighed says whether the edges of the collection have weights.
func (j *joined) weighed() bool {
	return slices.ContainsFunc(j.c.Edges, func(e *graph.CollectionEdges) bool {
		w := graph.FindColumn(e.Columns, sample.WeightsColumn)
		return w != nil && w.DType == graph.Float32 && w.RowValues() == 1
	})
}

// declaredIDs lists the node types whose original ids are written by default: those that the plan reaches and for
// which the store's schema declares ids.
func declaredIDs(from *store.Store, plan *sample.Plan) []string {
	var ids []string
	reached, _ := output.Reach(from.Graph, plan)
	declared := "," + from.Meta.Made.Options["declared_ids"] + ","
	for _, i := range reached {
		if n := from.Graph.Nodes[i]; n.IDs != nil && n.IDs.DType == graph.String && strings.Contains(declared, ","+n.Type+",") {
			ids = append(ids, n.Type)
		}
	}
	return ids
}

// types finds the types in the store, and checks that the plan has them and that all ids are in range.
func (j *joined) types(plan *sample.Plan) error {
	nodes, edges := output.Reach(j.g, plan)
	for _, n := range j.c.Nodes {
		t := joinedType{number: j.g.NodeType(n.Type)}
		if !slices.Contains(nodes, t.number) {
			return tagged.Errorf(errStore, "found node type %s, expected the types that the plan reaches in the store; give the store that was sampled", n.Type)
		}
		if err := below(n.Type+" node_id", n.NodeID, n.Count, j.g.Nodes[t.number].Count); err != nil {
			return err
		}
		if err := t.setHops(n.Type, n.NumSampled, 1); err != nil {
			return err
		}
		j.nodes = append(j.nodes, t)
	}
	for _, e := range j.c.Edges {
		name := e.Type.String()
		number, err := j.g.EdgeType(name)
		if err != nil {
			return tagged.Errorf(errStore, "%w", err)
		}
		if !slices.Contains(edges, number) {
			return tagged.Errorf(errStore, "found edge type %s, expected the types that the plan samples from; give the store that was sampled", name)
		}
		t := joinedType{number: number}
		if err := below(name+" edge_id", e.EdgeID, e.Count, j.g.Edges[number].Count); err != nil {
			return err
		}
		if e.Count > 0 && (e.Src.U32 == nil || e.Dst.U32 == nil) {
			return fmt.Errorf("%s: found local ids of 64 bits, expected 32", name)
		}
		if plan.Kind == sample.Directional { // other edges have no hops
			if err := t.setHops(name, e.NumSampled, 0); err != nil {
				return err
			}
		}
		if w := graph.FindColumn(e.Columns, sample.WeightsColumn); w != nil {
			t.weights = graph.View[float32](w.Values)
		}
		j.edges = append(j.edges, t)
	}
	return nil
}

// below checks that there are count ids, each in [0, n).
func below(what string, x graph.Index, count, n int) error {
	if len(x.U32) != count || x.U64 != nil {
		return fmt.Errorf("%s: found %d ids, expected %d of 32 bits", what, x.Len(), count)
	}
	for i, v := range x.U32 {
		if int64(v) >= int64(n) {
			return fmt.Errorf("%s: found id %d at %d, expected one below %d; give the store that was sampled, not a later import of its data", what, v, i, n)
		}
	}
	return nil
}

// setHops keeps the counts of at least the given number of hops.
func (t *joinedType) setHops(what string, hops *graph.Column, least int) error {
	if hops == nil || hops.Shape[0] < least {
		return fmt.Errorf("%s: found no numbers of sampled nodes or edges, expected them in a collection that was sampled; leave `Store` out", what)
	}
	t.hops, t.width = graph.View[uint32](hops.Values), hops.Shape[0]
	return nil
}

func (t *joinedType) hopsOf(g int) []uint32 { return t.hops[g*t.width : (g+1)*t.width] }

func (j *joined) schema() *tfgnnpb.GraphSchema { return j.encoding.Schema() }

func (j *joined) newEncoder() encoder {
	return &joinedEncoder{joined: j, sub: sample.Subgraph{
		Nodes: make([][]uint32, len(j.g.Nodes)), NodesByHop: make([][]uint32, len(j.g.Nodes)),
		Edges: make([]sample.SubEdges, len(j.g.Edges)), EdgesByHop: make([][]uint32, len(j.g.Edges)),
	}}
}

// joinedEncoder passes the subgraphs to the output's encoding in the way that the sampler does.
type joinedEncoder struct {
	*joined
	e   examplecolumns.Encoder
	sub sample.Subgraph
}

func (j *joinedEncoder) encode(g int) ([]byte, error) {
	for i, n := range j.c.Nodes {
		t := &j.nodes[i]
		j.sub.Nodes[t.number] = n.NodeID.U32[n.GraphPtr.At(g):n.GraphPtr.At(g+1)]
		j.sub.NodesByHop[t.number] = t.hopsOf(g)
	}
	for i, e := range j.c.Edges {
		t, from, to := &j.edges[i], e.GraphPtr.At(g), e.GraphPtr.At(g+1)
		j.sub.Edges[t.number] = sample.SubEdges{Src: e.Src.U32[from:to], Dst: e.Dst.U32[from:to], ID: slicePart(e.EdgeID, from, to)}
		if t.weights != nil {
			j.sub.Edges[t.number].Weight = t.weights[from:to]
		}
		j.sub.EdgesByHop[t.number] = t.hopsOf(g)
	}
	if k := uint64(len(j.c.SeedType)); j.c.SeedPtr.Len() > 0 {
		j.sub.SeedLocal = j.c.SeedLocal.U32[k*j.c.SeedPtr.At(g) : k*j.c.SeedPtr.At(g+1)]
	}
	return j.encoding.Encode(&j.e, &j.sub)
}

// slicePart is a part of an index.
func slicePart(x graph.Index, from, to uint64) graph.Index {
	if x.U64 != nil {
		return graph.Index{U64: x.U64[from:to]}
	}
	return graph.Index{U32: x.U32[from:to]}
}

func (j *joinedEncoder) narrowed() *examplecolumns.Narrowed { return &j.e.Narrowed }
