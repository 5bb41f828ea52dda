package seeds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// inputOrder is the condition that takes all edges, in the order of the input.
const inputOrder = graph.PositionColumn

// edgesOf is the edge type that text means by "SRC:REL:DST", "SRC:REL:DST:COLUMN=VALUE" or "SRC:REL:DST:#input_position", and
// the condition; nil if text means something else.
func edgesOf(g *graph.Graph, text string) (e *graph.Edges, condition string) {
	for _, e := range g.Edges {
		rest, ok := strings.CutPrefix(text, e.Type.String())
		if !ok {
			continue
		}
		condition, filtered := strings.CutPrefix(rest, ":")
		if rest == "" || filtered && (condition == inputOrder || strings.Contains(condition, "=")) {
			return e, condition
		}
	}
	return nil, ""
}

// links is the edges of a type as links, in the order of their edge ids: all of them, or those with a value in a column. With
// inputOrder they are in the order of the input.
func links(g *graph.Graph, e *graph.Edges, condition string, features []table.Column, most int) (*Seeds, error) {
	if condition == inputOrder && e.NoPositions {
		return nil, fmt.Errorf("edge type %s: found no positions of the edges in the input, expected them, to take links in its order; import with positions, or take the links as %s, by their edge ids", e.Type, e.Type)
	}
	if condition == inputOrder && graph.FindColumn(e.Columns, graph.PositionColumn) == nil {
		condition = "" // the edge ids are in the order of the input
	}
	if condition == inputOrder {
		s, err := links(g, e, "", features, 0)
		if err == nil {
			err = s.reorder(graph.FindColumn(e.Columns, graph.PositionColumn))
		}
		if err != nil {
			return nil, err
		}
		return s.first(most)
	}
	if e.Count > math.MaxUint32 && (condition != "" || most == 0 || most > math.MaxUint32) {
		return nil, tagged.Errorf(sample.ErrTooLarge, "found %d edges of type %s as links, expected fewer than 2^32; take the first of them (`LimitSeeds`), or list some in a file", e.Count, e.Type)
	}
	rows, err := rowsWith("edge type "+e.Type.String(), e.Columns, e.Count, condition)
	if err != nil {
		return nil, err
	}
	count := e.Count
	if condition != "" {
		count = len(rows)
	}
	if count == 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "found no edges of type %s, expected some as links; take another edge type for the links", e.Type)
	}
	if most > 0 && most < count {
		count = most
	}
	s := &Seeds{Types: []string{e.Type.Src, e.Type.Dst}, Edges: e.Type.String()}
	if s.Nodes, err = ends(g, e, rows, count); err != nil {
		return nil, err
	}
	columns, err := EdgeColumns(e, features)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if rows == nil && count < e.Count {
			rows = ascending(count)
		}
		if rows != nil {
			if c, err = taken(c, rows[:count]); err != nil {
				return nil, fmt.Errorf("column %q of %s: %w", c.Name, e.Type, err)
			}
		}
		s.Columns = append(s.Columns, c)
	}
	return s, nil
}

// EdgeColumns are the columns of links that are edges of a type, with a row per edge: features, or all of them where these are nil. Of features in pieces, they are the pieces.
func EdgeColumns(e *graph.Edges, features []table.Column) (out []*graph.Column, err error) {
	for _, c := range e.Columns {
		name, piece := graph.PieceOf(c.Name)
		if !piece {
			name = c.Name
		}
		if !piece && strings.HasPrefix(name, "#") || features != nil && !slices.ContainsFunc(features, func(f table.Column) bool { return f.Name == name }) {
			continue
		}
		out = append(out, c)
	}
	pieced := graph.Pieced(out)
	for _, f := range features {
		if graph.FindColumn(out, f.Name) == nil && !slices.Contains(pieced, f.Name) {
			return nil, tagged.Errorf(sample.ErrSeed, "found no column %s of %s, expected it, because the schema declares it for %s; import the column, or remove it from the schema", f.Name, e.Type, tfgnn.ReadoutName)
		}
	}
	return out, nil
}

// reorder puts links in the order of their positions.
func (s *Seeds) reorder(positions *graph.Column) error {
	at, err := numberReader(positions)
	if err != nil {
		return fmt.Errorf("column %q of %s: %w", positions.Name, s.Edges, err)
	}
	key := func(row uint32) int64 { v, _, _ := at(int(row)).Number(); return v }
	rows := ascending(len(s.Nodes) / 2)
	slices.SortFunc(rows, func(a, b uint32) int { return cmp.Compare(key(a), key(b)) })
	nodes := make([]uint32, 0, len(s.Nodes))
	for _, r := range rows {
		nodes = append(nodes, s.Nodes[2*r], s.Nodes[2*r+1])
	}
	s.Nodes = nodes
	for i, c := range s.Columns {
		if s.Columns[i], err = taken(c, rows); err != nil {
			return fmt.Errorf("column %q of %s: %w", c.Name, s.Edges, err)
		}
	}
	return nil
}

// ends is the source and the target of the first count edges among rows, which are edge ids that ascend; nil stands for
// all edges.
func ends(g *graph.Graph, e *graph.Edges, rows []uint32, count int) ([]uint32, error) {
	adj := e.Adj[e.Primary]
	if adj.Indptr.Len() == 0 || adj.Far.Len() != e.Count {
		return nil, fmt.Errorf("edge type %s: found %d neighbours, expected %d", e.Type, adj.Far.Len(), e.Count)
	}
	if err := adj.Indptr.CheckOffsets(e.Count); err != nil {
		return nil, fmt.Errorf("edge type %s: %w", e.Type, err)
	}
	most := uint64(g.Nodes[g.NodeType(e.Type.Far(e.Primary))].Count)
	out := make([]uint32, 2*count)
	near, far := 0, 1
	if e.Primary == graph.In {
		near, far = 1, 0
	}
	// Edge ids ascend with the near end, so one pass over the offsets finds all near ends.
	v := 0
	for i := range count {
		id := i
		if rows != nil {
			id = int(rows[i])
		}
		for adj.Indptr.At(v+1) <= uint64(id) {
			v++
		}
		other := adj.Far.At(id)
		if other >= most {
			return nil, fmt.Errorf("edge type %s: found node %d, expected less than %d", e.Type, other, most)
		}
		out[2*i+near], out[2*i+far] = uint32(v), uint32(other)
	}
	return out, nil
}

// taken is some rows of a column, copied.
func taken(c *graph.Column, rows []uint32) (*graph.Column, error) {
	if err := c.CheckOffsets(); err != nil {
		return c, err
	}
	out := *c
	out.Rows, out.Values, out.Offsets = len(rows), nil, nil
	// Spans of items, from the rows inwards: a fixed dimension widens each, a variable one has offsets of its own.
	spans := make([][2]int, len(rows))
	for i, r := range rows {
		spans[i] = [2]int{int(r), int(r) + 1}
	}
	k := 0
	for _, d := range c.Shape {
		if d != -1 {
			for i := range spans {
				spans[i] = [2]int{spans[i][0] * d, spans[i][1] * d}
			}
			continue
		}
		spans, out.Offsets = inward(spans, c.Offsets[k], out.Offsets)
		k++
	}
	size := c.DType.Size()
	if c.DType == graph.String {
		var offsets []graph.Index
		spans, offsets = inward(spans, c.StringOffsets, nil)
		out.StringOffsets, size = offsets[0], 1
	}
	for _, s := range spans {
		out.Values = append(out.Values, c.Values[s[0]*size:s[1]*size]...)
	}
	return &out, nil
}

// inward is the spans of the elements of spans, and the lists with the offsets of these appended.
func inward(spans [][2]int, from graph.Index, lists []graph.Index) ([][2]int, []graph.Index) {
	offsets := []uint64{0}
	for i, s := range spans {
		for at := s[0]; at < s[1]; at++ {
			offsets = append(offsets, offsets[len(offsets)-1]+from.At(at+1)-from.At(at))
		}
		spans[i] = [2]int{int(from.At(s[0])), int(from.At(s[1]))}
	}
	return spans, append(lists, graph.Index{U64: offsets})
}
