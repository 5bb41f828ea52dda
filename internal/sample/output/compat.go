package output

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Compat selects the sampler whose Examples a Records imitates: which nodes and edges of a subgraph they have, in which
// order, and which features.
type Compat uint8

const (
	// Own is the subgraph as it was sampled.
	Own Compat = iota
	// TFGNN is the format of tfgnn_sampler of TF-GNN 1.0: of parallel edges only the first; sets that the plan reaches
	// also where they are empty; empty ids for nodes without a row; the ids of sets without features, and the ends of
	// links, as features.
	TFGNN
	// Classic is the format of TF-GNN's older graph_sampler: the seed, then the nodes in the order of their ids; edges
	// in the order of source, target and place in the table; sample_id and seed_id in the context.
	Classic
)

var compatNames = []string{"none", "tfgnn", "tfgnn-classic"}

// String is the name that ParseCompat reads.
func (c Compat) String() string { return compatNames[c] }

// ParseCompat reads "none", "tfgnn" or "tfgnn-classic".
func ParseCompat(text string) (Compat, error) {
	i := slices.Index(compatNames, text)
	if i < 0 {
		return Own, tagged.Errorf(sample.ErrPlan, "found %q, expected none, tfgnn or tfgnn-classic", text)
	}
	return Compat(i), nil
}

// arranger arranges the nodes and edges of subgraphs as a Compat demands. It belongs to one goroutine.
type arranger struct {
	g      *graph.Graph
	compat Compat
	joined bool // with Classic: nodes without a row, and their edges, are left out

	sub    sample.Subgraph
	nodes  [][]uint32 // by node type
	local  [][]uint32 // by node type: the new local id of each old one, or gone
	edges  []sample.SubEdges
	order  []uint32
	ends   [][2]int // by edge type: its node types
	latent []bool   // by node type: declared without features
	texts  [2][]byte
	unique map[uint64]struct{}
}

// gone is the local id of a node that is left out.
const gone = 1<<32 - 1

func newArranger(g *graph.Graph, opt *RecordsOptions) *arranger {
	latent := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		set := opt.Schema.GetNodeSets()[examplecolumns.NodeSet(n.Type)]
		latent[i] = set != nil && len(set.Features) == 0
	}
	return &arranger{g: g, latent: latent, compat: opt.Compat, joined: opt.Joined,
		nodes: make([][]uint32, len(g.Nodes)), local: make([][]uint32, len(g.Nodes)), edges: make([]sample.SubEdges, len(g.Edges)),
		ends: endsOf(g), unique: map[uint64]struct{}{}}
}

// arrange is the subgraph to write: sub itself, or a subgraph that is valid until the next call.
func (a *arranger) arrange(sub *sample.Subgraph) *sample.Subgraph {
	if a.compat == Own {
		return sub
	}
	a.sub = *sub
	if a.compat == Classic {
		a.arrangeNodes(sub)
		a.sub.Nodes = a.nodes
	}
	for i := range sub.Edges {
		a.arrangeEdges(i, &sub.Edges[i])
	}
	a.sub.Edges = a.edges
	return &a.sub
}

// arrangeNodes leaves out and sorts nodes as Classic does: the nodes of a set with features come from their table,
// and the nodes of a set without features from the ends of edges.
func (a *arranger) arrangeNodes(sub *sample.Subgraph) {
	for t, rows := range sub.Nodes {
		n, local := a.g.Nodes[t], slices.Grow(a.local[t][:0], len(rows))[:len(rows)]
		a.local[t] = local
		for i, v := range rows {
			local[i] = gone
			if !a.latent[t] && (!a.joined || int(v) < n.Count-n.Added) {
				local[i] = 0
			}
		}
	}
	for i := range sub.Edges {
		for end, ids := range [2][]uint32{sub.Edges[i].Src, sub.Edges[i].Dst} {
			if t := a.ends[i][end]; a.latent[t] {
				for _, v := range ids {
					a.local[t][v] = 0
				}
			}
		}
	}
	for t, rows := range sub.Nodes {
		n, local, order := a.g.Nodes[t], a.local[t], a.order[:0]
		for i := range rows {
			if local[i] != gone {
				order = append(order, uint32(i))
			}
		}
		seeds := sub.NodesByHop[t][0]
		slices.SortFunc(order, func(i, j uint32) int {
			if i < seeds || j < seeds { // the seed is already first
				return cmp.Compare(i, j)
			}
			return a.compareIDs(n, rows[i], rows[j])
		})
		nodes := a.nodes[t][:0]
		for k, i := range order {
			local[i] = uint32(k)
			nodes = append(nodes, rows[i])
		}
		a.order, a.nodes[t] = order, nodes
	}
}

// compareIDs compares the original ids of two nodes as bytes.
func (a *arranger) compareIDs(n *graph.Nodes, v, w uint32) int {
	if n.IDs != nil && n.IDs.DType == graph.String {
		return bytes.Compare(n.IDs.Text(int(v)), n.IDs.Text(int(w)))
	}
	a.texts[0] = appendID(a.texts[0][:0], n, v)
	a.texts[1] = appendID(a.texts[1][:0], n, w)
	return bytes.Compare(a.texts[0], a.texts[1])
}

// appendID appends the original id of a node as text. An integer becomes decimal digits.
func appendID(dst []byte, n *graph.Nodes, v uint32) []byte {
	switch {
	case n.IDs == nil:
		return strconv.AppendUint(dst, uint64(v), 10)
	case n.IDs.DType == graph.String:
		return append(dst, n.IDs.Text(int(v))...)
	case n.IDs.DType == graph.Int64:
		return strconv.AppendInt(dst, graph.View[int64](n.IDs.Values)[v], 10)
	}
	return strconv.AppendUint(dst, graph.View[uint64](n.IDs.Values)[v], 10)
}

func (a *arranger) arrangeEdges(t int, from *sample.SubEdges) {
	src, dst := a.ends[t][0], a.ends[t][1]
	to := &a.edges[t]
	to.Src, to.Dst, to.ID = to.Src[:0], to.Dst[:0], sample.EmptyIDs(to.ID)
	if a.compat == TFGNN {
		clear(a.unique)
	}
	for i := range from.ID.Len() {
		s, d := from.Src[i], from.Dst[i]
		if a.compat == Classic {
			if s, d = a.local[src][s], a.local[dst][d]; s == gone || d == gone {
				continue
			}
		}
		if a.compat == TFGNN {
			pair := uint64(s)<<32 | uint64(d)
			if _, twice := a.unique[pair]; twice {
				continue
			}
			a.unique[pair] = struct{}{}
		}
		to.Src, to.Dst, to.ID = append(to.Src, s), append(to.Dst, d), sample.AppendIDs(to.ID, part(from.ID, i))
	}
	if a.compat == Classic {
		sort.Sort((*byEnds)(to))
	}
}

// part is id i alone.
func part(ids graph.Index, i int) graph.Index {
	if ids.U64 != nil {
		return graph.Index{U64: ids.U64[i : i+1]}
	}
	return graph.Index{U32: ids.U32[i : i+1]}
}

// byEnds sorts edges by source, target and edge id.
type byEnds sample.SubEdges

func (e *byEnds) Len() int { return len(e.Src) }

func (e *byEnds) Less(i, j int) bool {
	if e.Src[i] != e.Src[j] {
		return e.Src[i] < e.Src[j]
	}
	if e.Dst[i] != e.Dst[j] {
		return e.Dst[i] < e.Dst[j]
	}
	return e.ID.At(i) < e.ID.At(j)
}

func (e *byEnds) Swap(i, j int) {
	e.Src[i], e.Src[j] = e.Src[j], e.Src[i]
	e.Dst[i], e.Dst[j] = e.Dst[j], e.Dst[i]
	if ids := e.ID.U64; ids != nil {
		ids[i], ids[j] = ids[j], ids[i]
	} else {
		ids := e.ID.U32
		ids[i], ids[j] = ids[j], ids[i]
	}
}
