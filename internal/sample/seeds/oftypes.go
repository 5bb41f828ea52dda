package seeds

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// OfTypes reads an .npy file of int64 ids that count the nodes of all types, type after type, and ascend. It returns the type-wise ids of each type.
func OfTypes(ctx context.Context, fsys vfs.FS, g *graph.Graph, path string) ([][]uint32, error) {
	tab, err := arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{{Name: "nodes", Path: path}})
	if err != nil {
		return nil, err
	}
	f := tab.Fields()[0]
	if f.DType != graph.Int64 || len(f.Shape) > 0 {
		return nil, tagged.Errorf(sample.ErrSeed, "%s: found %s rows of shape %v, expected one int64 per row; save the ids of the nodes so", path, f.DType, f.Shape)
	}
	ids := make([][]uint32, len(g.Nodes))
	t, first, last := 0, int64(0), int64(-1) // type of the next id, the number of its first node, and the id before
	_, err = tab.Scan(ctx, []table.Column{{Name: "nodes", DType: graph.Int64}}, 1, func(_ int, c *table.Chunk) error {
		var rows gathered
		rows.begin(table.Column{Name: "nodes", DType: graph.Int64})
		rows.add(&c.Columns[0], c.Rows)
		for i, v := range graph.View[int64](rows.Values)[:c.Rows] {
			if v <= last {
				return tagged.Errorf(sample.ErrSeed, "%s: found node %d after %d, expected ascending ids from 0 on; sort them", tab.Where(c.First+uint64(i), "nodes"), v, last)
			}
			last = v
			for t < len(g.Nodes) && v-first >= int64(g.Nodes[t].Count) {
				first += int64(g.Nodes[t].Count)
				t++
			}
			if t == len(g.Nodes) {
				return tagged.Errorf(sample.ErrSeed, "%s: found node %d, expected 0 to %d; ids count the nodes of all types of this store", tab.Where(c.First+uint64(i), "nodes"), v, first-1)
			}
			ids[t] = append(ids[t], uint32(v-first))
		}
		return nil
	})
	return ids, err
}
