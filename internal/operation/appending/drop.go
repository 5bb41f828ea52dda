package appending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dropPrefix and changePrefix begin the names of inputs that drop edges, and that change values.
const (
	dropPrefix   = "dropped: "
	changePrefix = "changed: "
)

// dropping finds the edges that a source of edges and nodes drops.
type dropping struct {
	*building
	pairs map[string][]uint64        // by edge type: near end << 32 | far end
	nodes map[string]map[uint64]bool // by node type: nodes that lose all edges
	ids   map[string][]uint64        // by edge type: edges, ascending
	// gone is the number of rows of lines whose edges the store does not have: all edges between two nodes are dropped together, and all of a node, so that later rows find none.
	gone int64
}

// drop finds the edges that Options.Drop names, among those that the store has before the append.
func (b *building) drop(ctx context.Context) (map[string][]uint64, error) {
	if b.o.Drop == "" {
		return nil, nil
	}
	start := time.Now()
	options, err := b.reading()
	if err != nil {
		return nil, err
	}
	options.More = nil
	src, err := ingest.Open(ctx, vfs.OS, b.o.Drop, options)
	if errors.Is(err, ingest.ErrUsage) {
		return nil, operation.Usagef("%w", err)
	}
	if err != nil {
		return nil, err
	}
	d := &dropping{building: b, pairs: map[string][]uint64{}, nodes: map[string]map[uint64]bool{}, ids: map[string][]uint64{}}
	err = d.find(ctx, src)
	if err := errors.Join(err, src.Close()); err != nil {
		return nil, err
	}
	b.report.Stage("find what is dropped", time.Since(start), 0, "")
	return d.ids, nil
}

// find finds the edges that a source names.
func (d *dropping) find(ctx context.Context, src *ingest.Source) error {
	if src.Collection != nil {
		return operation.Usagef("found many graphs in `Drop`, expected tables of one; give the edges to drop as a table")
	}
	name, err := operation.Below(cmp.Or(d.root, d.o.Drop))
	if err != nil {
		return err
	}
	name = d.rows.input(name)
	sums, err := operation.Fingerprints(ctx, vfs.OS, src.Files, d.report, func(file string) string { return dropPrefix + name(file) })
	if err != nil {
		return err
	}
	for file, sum := range sums {
		d.made.Inputs[file] = sum
	}
	for i := range src.Input.Nodes {
		if n := &src.Input.Nodes[i]; n.Table != nil {
			if err := d.scanNodes(ctx, n); err != nil {
				return err
			}
		}
	}
	for i := range src.Input.Edges {
		if err := d.scanPairs(ctx, &src.Input.Edges[i]); err != nil {
			return err
		}
	}
	operation.WarnCount(&d.o.Run, d.report, d.gone, "rows of edges to drop are left out, because the store does not have such edges")
	for _, e := range d.store.Graph.Edges {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		d.collect(e)
	}
	return nil
}

// scanNodes takes the nodes of a table.
func (d *dropping) scanNodes(ctx context.Context, n *assemble.Nodes) error {
	t := d.types[n.Type]
	switch {
	case t == nil || t.known == nil:
		return fmt.Errorf("%s: found nodes of type %q to drop, expected a type of the store; correct the name", n.Table.Files()[0], n.Type)
	case n.ID.Name == "":
		return fmt.Errorf("%s: found no column of ids, expected one that says which nodes lose their edges; add it", n.Table.Files()[0])
	}
	id := n.ID
	id.DType = t.ids
	numbers := views.Numbers{Column: id, As: "#node", Find: t.findKnown, Of: "the nodes of type " + t.name}
	d.nodes[n.Type] = map[uint64]bool{}
	_, err := views.Numbered(n.Table, numbers).Scan(ctx, []table.Column{{Name: "#node", DType: graph.Uint64}}, 1, func(_ int, c *table.Chunk) error {
		for _, v := range graph.View[uint64](c.Columns[0].Data)[:c.Rows] {
			d.nodes[n.Type][v] = true
		}
		return nil
	})
	return err
}

// scanPairs takes the ends of the edges of a table, each of which must be an edge of the store.
func (d *dropping) scanPairs(ctx context.Context, e *assemble.Edges) error {
	of := d.edgesOf(e.Type)
	if of == nil {
		return fmt.Errorf("%s: found edges of type %s to drop, expected a type of the store; correct the name", e.Table.Files()[0], e.Type)
	}
	if e.Src.Name == "" || e.Dst.Name == "" {
		return fmt.Errorf("%s: found row numbers as ends of edges to drop, expected columns; name both", e.Table.Files()[0])
	}
	a := of.Adj[of.Primary]
	far := []uint64{}
	_, err := d.numberedKnown(e).Scan(ctx, []table.Column{{Name: "#src", DType: graph.Uint64}, {Name: "#dst", DType: graph.Uint64}}, 1, func(_ int, c *table.Chunk) error {
		src, dst := graph.View[uint64](c.Columns[0].Data), graph.View[uint64](c.Columns[1].Data)
		for i := range c.Rows {
			near, other := dst[i], src[i]
			if of.Primary == graph.Out {
				near, other = other, near
			}
			far = far[:0]
			for at := a.Indptr.At(int(near)); at < a.Indptr.At(int(near)+1); at++ {
				far = append(far, a.Far.At(int(at)))
			}
			if !slices.Contains(far, other) {
				if d.rows != nil {
					d.gone++
					continue
				}
				row := c.First + uint64(i)
				return fmt.Errorf("%s: found an edge of type %s to drop that the store does not have, expected one of its edges; remove the row", e.Table.Where(row, e.Src.Name), e.Type)
			}
			d.pairs[e.Type.String()] = append(d.pairs[e.Type.String()], near<<32|other)
			if e.Symmetrise {
				d.pairs[e.Type.String()] = append(d.pairs[e.Type.String()], other<<32|near)
			}
		}
		return nil
	})
	return err
}

// collect finds the ids of the edges of a type that are dropped.
func (d *dropping) collect(e *graph.Edges) {
	a, name := e.Adj[e.Primary], e.Type.String()
	var ids []uint64
	pairs := d.pairs[name]
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	for len(pairs) > 0 {
		near := pairs[0] >> 32
		n := 1
		for n < len(pairs) && pairs[n]>>32 == near {
			n++
		}
		for at := a.Indptr.At(int(near)); at < a.Indptr.At(int(near)+1); at++ {
			if _, is := slices.BinarySearch(pairs[:n], near<<32|a.Far.At(int(at))); is {
				ids = append(ids, at)
			}
		}
		pairs = pairs[n:]
	}
	for near := range d.nodes[e.Type.Near(e.Primary)] {
		for at := a.Indptr.At(int(near)); at < a.Indptr.At(int(near)+1); at++ {
			ids = append(ids, at)
		}
	}
	if far := d.nodes[e.Type.Far(e.Primary)]; len(far) > 0 {
		for at := range a.Far.Len() {
			if far[a.Far.At(at)] {
				ids = append(ids, uint64(at))
			}
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		d.ids[name] = slices.Compact(ids)
	}
}
