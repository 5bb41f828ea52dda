package parts

import (
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
)

// Column is a feature of all parts.
type Column struct {
	Name  string // without the type
	DType dgl.DType
	Shape []int64 // of a row
	// Data are the rows of each part, nil where the part has none.
	Data [][]byte
}

// Columns returns the features of each node type and each edge type, in the order of the first part that has
// rows of them. It is an error if parts that have rows lack a column, or have it with another dtype or shape.
func (f *Folder) Columns() (nodes, edges [][]Column, err error) {
	if nodes, err = f.columns(f.Config.Nodes, func(p *Part) ([]Feature, string) { return p.NodeFeats, p.NodeFile }); err != nil {
		return nil, nil, err
	}
	edges, err = f.columns(f.Config.Edges, func(p *Part) ([]Feature, string) { return p.EdgeFeats, p.EdgeFile })
	return nodes, edges, err
}

// dtype is the dtype of a feature's values. The configuration says which bytes are bools.
func (f *Folder) dtype(x Feature) dgl.DType {
	if x.DType == dgl.Uint8 && slices.Contains(f.Config.Bools, x.Array.Name) {
		return dgl.Bool
	}
	return x.DType
}

func (f *Folder) columns(types []dgl.TypeRanges, of func(p *Part) ([]Feature, string)) ([][]Column, error) {
	columns := make([][]Column, len(types))
	first := map[string]string{} // the file in which a column was first found
	for _, p := range f.Parts {
		list, file := of(p)
		for _, x := range list {
			if x.Rows() == 0 { // DGL gives these any shape
				continue
			}
			dtype := f.dtype(x)
			i := slices.IndexFunc(columns[x.Type], func(c Column) bool { return c.Name == x.Name })
			if i < 0 {
				i = len(columns[x.Type])
				columns[x.Type] = append(columns[x.Type], Column{x.Name, dtype, x.RowShape(), make([][]byte, len(f.Parts))})
				first[x.Array.Name] = file
			}
			c := &columns[x.Type][i]
			if c.DType != dtype || !slices.Equal(c.Shape, x.RowShape()) {
				return nil, badf("%s: found %q of %s with rows of shape %v, expected %s with rows of shape %v as in %s; the parts were written by different runs; partition the graph again", file, x.Array.Name, dtype, x.RowShape(), c.DType, c.Shape, first[x.Array.Name])
			}
			c.Data[p.Index] = x.Data
		}
	}
	for t := range types {
		for _, c := range columns[t] {
			for _, p := range f.Parts {
				if r := types[t].Ranges[p.Index]; c.Data[p.Index] == nil && r[0] < r[1] {
					_, file := of(p)
					return nil, badf("%s: found no tensor %q, expected the %d rows that the part owns, as %s has its own; the parts were written by different runs; partition the graph again", file, types[t].Name+"/"+c.Name, r[1]-r[0], first[types[t].Name+"/"+c.Name])
				}
			}
		}
	}
	return columns, nil
}
