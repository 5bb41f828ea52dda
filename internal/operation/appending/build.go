package appending

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// building makes what a segment adds: two stores in a folder within the new version of the store, which close removes.
type building struct {
	*appending
	w   *store.Writer
	dir string
	in  *assemble.Input

	types   map[string]*nodeType
	stores  []*store.Store
	writers []*store.Writer
}

// nodeType is a node type of the store or of the tables.
type nodeType struct {
	name  string
	known *store.IDs // ids of the nodes of the store; nil: it has no such type
	had   int        // nodes of the store
	new   *store.IDs // ids of the new nodes; nil: they have none
	added int        // new nodes
	keys  bool       // ids are strings, or integers that are not the numbers
	ids   graph.DType
	// dropped is the number of new rows that are left out because an earlier row has their id.
	dropped uint64
}

// find finds the number of an id.
func (t *nodeType) find(id []byte) (uint64, bool) {
	if !t.keys {
		v := integerOf(id)
		return v, v < uint64(t.had+t.added)
	}
	if v, ok := t.findKnown(id); ok {
		return v, true
	}
	if t.new == nil {
		return 0, false
	}
	v, ok := findID(t.new, t.ids, id)
	return v + uint64(t.had), ok
}

// findKnown finds the number of a node of the store.
func (t *nodeType) findKnown(id []byte) (uint64, bool) {
	if !t.keys {
		v := integerOf(id)
		return v, v < uint64(t.had)
	}
	if t.known == nil {
		return 0, false
	}
	return findID(t.known, t.ids, id)
}

// findAllKnown finds the numbers of ids among the nodes of the store, which have keys or are none.
func (t *nodeType) findAllKnown(id func(i int) []byte, numbers []uint64) {
	if t.known != nil {
		t.known.FindAll(id, numbers)
		return
	}
	for i := range numbers {
		numbers[i] = store.NoNode
	}
}

// findAll finds the numbers of ids of nodes that have keys.
func (t *nodeType) findAll(id func(i int) []byte, numbers []uint64) {
	t.findAllKnown(id, numbers)
	if t.new == nil {
		return
	}
	for i, v := range numbers {
		if v != store.NoNode {
			continue
		}
		if v, ok := findID(t.new, t.ids, id(i)); ok {
			numbers[i] = v + uint64(t.had)
		}
	}
}

// findID finds an id of a type whose ids have the given dtype.
func findID(ids *store.IDs, dtype graph.DType, id []byte) (uint64, bool) {
	if dtype == graph.String {
		return ids.Find(id)
	}
	return ids.FindInteger(integerOf(id))
}

// integerOf is an id that is an integer.
func integerOf(id []byte) uint64 { return binary.LittleEndian.Uint64(id) }

// close removes the two stores.
func (b *building) close() (err error) {
	for _, s := range b.stores {
		err = errors.Join(err, s.Close())
	}
	for _, w := range b.writers {
		err = errors.Join(err, w.Abort())
	}
	b.stores, b.writers = nil, nil
	return err
}

// addSegment writes the segment of an append that adds rows.
func (b *building) addSegment(ctx context.Context) (*store.Meta, error) {
	added, err := b.build(ctx)
	if err != nil {
		return nil, err
	}
	if b.store.None(added) {
		return nil, errNothing
	}
	if err := b.seenBefore(); err != nil {
		return nil, err
	}
	return b.store.AppendSegment(ctx, b.w, *added)
}

// build makes what the segment adds.
func (b *building) build(ctx context.Context) (*store.Added, error) {
	if err := b.typesOf(); err != nil {
		return nil, err
	}
	dropped, err := b.drop(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := b.buildNodes(ctx)
	if err != nil {
		return nil, err
	}
	edges, rows, err := b.buildEdges(ctx)
	if err != nil {
		return nil, err
	}
	return &store.Added{Nodes: nodes, Edges: edges, Rows: rows, Dropped: dropped, Made: b.made}, nil
}

// typesOf finds the node types.
func (b *building) typesOf() (err error) {
	b.types = map[string]*nodeType{}
	for i, n := range b.store.Graph.Nodes {
		if b.store.Meta.Nodes[n.Type].Open() {
			continue // as of a type of the tables alone
		}
		t := &nodeType{name: n.Type, had: n.Count, ids: graph.Uint64}
		if t.known, err = b.store.IDs(i); err != nil {
			return err
		}
		if n.IDs != nil {
			t.keys, t.ids = true, n.IDs.DType
		}
		b.types[n.Type] = t
	}
	for i := range b.in.Nodes {
		n := &b.in.Nodes[i]
		if b.types[n.Type] == nil {
			t := &nodeType{name: n.Type, ids: n.ID.DType}
			if t.ids == graph.Invalid {
				t.ids = graph.Uint64
			}
			t.keys = t.ids == graph.String
			b.types[n.Type] = t
		}
	}
	for _, n := range b.store.Graph.Nodes {
		if b.types[n.Type] == nil {
			b.types[n.Type] = &nodeType{name: n.Type, ids: graph.Uint64}
		}
	}
	return nil
}

// buildStore builds a store in a folder of its own.
func (b *building) buildStore(ctx context.Context, name string, in assemble.Input, opt assemble.Options) (*store.Store, *assemble.Result, error) {
	w, err := store.CreateScratch(vfs.OS, b.dir+"-"+name)
	if err != nil {
		return nil, nil, err
	}
	b.writers = append(b.writers, w)
	opt.Threads, opt.Memory, opt.Held, opt.Primary = b.o.Threads, b.o.Memory, b.held, b.primary()
	stages := operation.NewStages(&b.o.Run)
	opt.Progress = stages.Update
	var result *assemble.Result
	meta, err := b.buildWith(ctx, w, b.applied(&in), func(w *store.Writer) (*store.Meta, error) {
		return b.withParts(ctx, w, &in, func(w *store.Writer) (*store.Meta, error) {
			var err error
			if result, err = assemble.Build(ctx, vfs.OS, w, in, opt); err != nil {
				return nil, err
			}
			result.Meta.Made = store.Made{Command: "append"}
			return result.Meta, nil
		})
	})
	stages.End()
	if err != nil {
		return nil, nil, err
	}
	s, err := w.Opened(ctx, meta, b.o.Threads)
	if err != nil {
		return nil, nil, err
	}
	b.stores = append(b.stores, s)
	operation.WarnUnderflows(&b.o.Run, b.report, result.Underflows)
	return s, result, nil
}

// buildNodes makes a store of the new nodes.
func (b *building) buildNodes(ctx context.Context) (*store.Store, error) {
	var in assemble.Input
	for i := range b.in.Nodes {
		n := b.in.Nodes[i]
		t := b.types[n.Type]
		if n.Table == nil {
			continue
		}
		if t.known != nil {
			if err := b.checkNew(ctx, &n, t); err != nil {
				return nil, err
			}
		}
		if t.known != nil && !t.keys {
			n.ID = table.Column{DType: graph.Uint64} // the numbers of the rows
		}
		in.Nodes = append(in.Nodes, n)
	}
	listed, err := b.numberEnds(ctx)
	if err != nil {
		return nil, err
	}
	in.Nodes = append(in.Nodes, listed...)
	opt := assemble.Options{DuplicateNodes: assemble.Error, DanglingEdges: assemble.Zeros} // so that all integers are ids
	if b.isDropped("duplicate_nodes") {
		opt.DuplicateNodes = assemble.Drop
	}
	s, result, err := b.buildStore(ctx, "nodes", in, opt)
	if err != nil {
		return nil, err
	}
	for i, n := range s.Graph.Nodes {
		t := b.types[n.Type]
		t.added = n.Count
		if n.IDs != nil {
			t.keys, t.ids = true, n.IDs.DType
			if t.new, err = s.IDs(i); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range result.Nodes {
		b.types[n.Type].dropped = n.Duplicates
		operation.WarnCount(&b.o.Run, b.report, int64(n.Duplicates), "rows of "+n.Type+" are left out, because an earlier row has their id")
	}
	return s, nil
}

// checkNew refuses rows of a table of nodes whose ids the store has, or that do not go on with numbers that are ids.
func (b *building) checkNew(ctx context.Context, n *assemble.Nodes, t *nodeType) error {
	if n.ID.Name == "" {
		if t.keys {
			return fmt.Errorf("%s: found no column of ids, expected one, because the nodes of type %s in the store have ids", n.Table.Files()[0], n.Type)
		}
		return nil
	}
	numbers := make([][]uint64, max(b.o.Threads, 1)) // by worker
	_, err := n.Table.Scan(ctx, []table.Column{n.ID}, len(numbers), func(worker int, c *table.Chunk) error {
		v := &c.Columns[0]
		known := numbers[worker]
		if t.keys {
			known = slices.Grow(known[:0], c.Rows)[:c.Rows]
			numbers[worker] = known
			t.findAllKnown(func(i int) []byte { return v.ID(i, t.ids) }, known)
		}
		for i := range c.Rows {
			row := c.First + uint64(i)
			if !t.keys {
				if id := integerOf(v.Data[8*i:]); id != uint64(t.had)+row {
					return fmt.Errorf("%s: found the id %d, expected %d, because the ids of the nodes of type %s are their numbers, which go on; import all tables again", n.Table.Where(row, n.ID.Name), id, uint64(t.had)+row, n.Type)
				}
				continue
			}
			if known[i] != store.NoNode {
				id := v.ID(i, t.ids)
				return fmt.Errorf("%s: found the id %s, which a node of type %s in the store has, expected new nodes; remove the row", n.Table.Where(row, n.ID.Name), idText(id, t.ids), n.Type)
			}
		}
		return nil
	})
	return err
}

// lacksPositions says whether edges of the store have no positions in the input: after an import without them, or in a generated graph.
func (b *building) lacksPositions() bool {
	for _, e := range b.store.Graph.Edges {
		if graph.FindColumn(e.Columns, graph.PositionColumn) == nil {
			return true
		}
	}
	return false
}

// buildEdges makes a store of the new edges, and counts the rows of their tables.
func (b *building) buildEdges(ctx context.Context) (*store.Store, map[string]uint64, error) {
	in := b.nodesOfStore()
	unknown := ^uint64(0) >> 1
	for i := range b.in.Edges {
		e := b.in.Edges[i]
		var numbers []views.Numbers
		for _, end := range []struct {
			column *table.Column
			of, as string
		}{{&e.Src, e.Type.Src, "#src"}, {&e.Dst, e.Type.Dst, "#dst"}} {
			t := b.types[end.of]
			if t == nil {
				return nil, nil, fmt.Errorf("edge type %s: found no node type %q, expected one of the store or of the tables", e.Type, end.of)
			}
			n := views.Numbers{Column: *end.column, As: end.as, Find: t.find, Of: "the nodes of type " + t.name}
			if b.isDropped("dangling_edges") {
				n.Unknown = &unknown
			}
			if end.column.Name == "" { // rows of the table of new nodes
				if t.dropped > 0 {
					return nil, nil, fmt.Errorf("%s: found %d rows with the id of an earlier row in a table whose rows are ends of %s, expected each id once; remove the rows", e.Table.Files()[0], t.dropped, e.Type)
				}
				n.Find = func(id []byte) (uint64, bool) {
					v := integerOf(id)
					return uint64(t.had) + v, v < uint64(t.added)
				}
			} else if n.Column.DType = t.ids; t.keys {
				n.FindAll = t.findAll
			} else {
				n.Find, n.Below = nil, uint64(t.had+t.added)
			}
			numbers = append(numbers, n)
			*end.column = table.Column{Name: end.as, DType: graph.Uint64, Empty: end.column.Empty}
		}
		e.Table, e.OfStore = views.Numbered(e.Table, numbers...), true
		in.Edges = append(in.Edges, e)
	}
	opt := assemble.Options{DanglingEdges: assemble.Error, NoPositions: b.lacksPositions(), Listed: true}
	if b.isDropped("dangling_edges") {
		opt.DanglingEdges = assemble.Drop
	}
	switch b.store.Meta.Made.Options["self_loops"] {
	case "drop":
		opt.SelfLoops = assemble.Drop
	case "error":
		opt.SelfLoops = assemble.Error
	default:
		opt.SelfLoops = assemble.Keep
	}
	opt.DuplicateEdges = assemble.Keep
	s, result, err := b.buildStore(ctx, "edges", in, opt)
	if err != nil {
		return nil, nil, err
	}
	b.warnLeftOut(result)
	rows := map[string]uint64{}
	for _, e := range result.Edges {
		rows[e.Type.String()] = e.Rows
	}
	return s, rows, nil
}

// nodesOfStore is an input with all nodes of the store and the new ones, by their numbers alone.
func (b *building) nodesOfStore() (in assemble.Input) {
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		t := b.types[name]
		in.Nodes = append(in.Nodes, assemble.Nodes{Type: name, Count: uint64(t.had + t.added), ID: table.Column{DType: graph.Uint64}})
	}
	return in
}

// warnLeftOut warns of rows of edges that were left out.
func (b *building) warnLeftOut(result *assemble.Result) {
	for _, e := range result.Edges {
		for _, x := range []struct {
			n    uint64
			what string
		}{{e.Absent, "have an empty end"}, {e.Dangling, "have an end that is no node"}, {e.SelfLoops, "are self-loops"}} {
			operation.WarnCount(&b.o.Run, b.report, int64(x.n), fmt.Sprintf("rows of %s are left out, because they %s", e.Type, x.what))
		}
	}
}
