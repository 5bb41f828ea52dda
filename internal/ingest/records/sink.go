package records

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/store"
)

func nodesPlan(name string) setPlan {
	t := examplecolumns.TypeName(name)
	return setPlan{piece: example.Nodes, name: name, typeName: t, dir: store.NodesDir(t)}
}

func edgesPlan(name string, e *tfgnnpb.EdgeSet) setPlan {
	t := examplecolumns.EdgeType(name, e)
	return setPlan{piece: example.Edges, name: name, typeName: t.String(), dir: store.EdgesDir(t)}
}

// sink writes chunks, in order, to the arrays of a collection.
type sink struct {
	i          *importer
	graphs     int
	several    bool   // some graph does not have exactly one component
	formed     bool   // some form is not all zeros
	components *ptr   // offsets of the components of each graph
	forms      *array // example_form
	sets       []setSink
	open       []*array
	unknown    map[string]uint64
	rounded    map[string]uint64
	worker     *worker // made when a chunk has records that its worker left
}

// setSink holds the arrays of a set. For the context it has only columns.
type setSink struct {
	graphs, components *ptr
	src, dst           *array
	count              uint64
	columns            []*store.ColumnWriter
	metas              []store.ColumnMeta // descriptions of the columns, once they are closed
}

// array is an array file of the folder.
type array struct {
	name string
	*store.Array
}

// ptr is an array of offsets, from 0 on.
type ptr struct {
	*array
	end     uint64
	scratch []uint64
}

// add appends the last offset plus n.
func (p *ptr) add(n uint64) {
	p.end += n
	p.scratch = append(p.scratch, p.end)
}

func (p *ptr) flush() error {
	_, err := p.Write(graph.Bytes(p.scratch))
	p.scratch = p.scratch[:0]
	return err
}

func (s *sink) array(name string, dtype graph.DType, row ...int) (*array, error) {
	a, err := s.i.w.Array(name, dtype, row...)
	if err != nil {
		return nil, err
	}
	out := &array{name, a}
	s.open = append(s.open, out)
	return out, nil
}

func (s *sink) ptr(name string) (*ptr, error) {
	a, err := s.array(name, graph.Uint64)
	if err != nil {
		return nil, err
	}
	_, err = a.Write(make([]byte, 8))
	return &ptr{array: a}, err
}

// begin opens all arrays. Arrays that may turn out to be unnecessary are written too, and removed at the end.
func (s *sink) begin(i *importer) (err error) {
	s.i, s.unknown, s.rounded = i, map[string]uint64{}, map[string]uint64{}
	if s.components, err = s.ptr("context/component_ptr.npy"); err != nil {
		return err
	}
	if s.forms, err = s.array("context/example_form.npy", graph.Uint8, i.codec.FormSize()); err != nil {
		return err
	}
	s.sets = make([]setSink, len(i.sets))
	for k := range i.sets {
		if err := s.beginSet(&i.sets[k], &s.sets[k]); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) beginSet(plan *setPlan, out *setSink) (err error) {
	out.metas = make([]store.ColumnMeta, len(plan.columns))
	if plan.piece != example.Context {
		if out.graphs, err = s.ptr(plan.dir + "/graph_ptr.npy"); err != nil {
			return err
		}
		if out.components, err = s.ptr(plan.dir + "/component_ptr.npy"); err != nil {
			return err
		}
	}
	if plan.piece == example.Edges {
		if out.src, err = s.array(plan.dir+"/src.npy", graph.Uint32); err != nil {
			return err
		}
		if out.dst, err = s.array(plan.dir+"/dst.npy", graph.Uint32); err != nil {
			return err
		}
	}
	for _, c := range plan.columns {
		w, err := s.i.w.Column(store.ColumnDir(plan.dir, c.name), c.name, c.dtype, c.shape)
		if err != nil {
			return err
		}
		out.columns = append(out.columns, w)
	}
	return nil
}

// take writes a chunk and empties it. It decodes the records that the chunk's worker left.
func (s *sink) take(c *chunk) error {
	for {
		if err := s.write(c); err != nil {
			return err
		}
		if c.decoded == len(c.records) {
			c.reset()
			return nil
		}
		if s.worker == nil {
			s.worker = s.i.newWorker()
		}
		if err := s.i.decode(s.worker, c); err != nil {
			return err
		}
	}
}

// write appends the rows of a chunk and empties them.
func (s *sink) write(c *chunk) error {
	for _, n := range c.components {
		s.components.add(uint64(n))
		s.several = s.several || n != 1
	}
	s.formed = s.formed || c.formed
	_, err := s.forms.Write(c.forms)
	if err := errors.Join(err, s.components.flush()); err != nil {
		return err
	}
	for k := range s.sets {
		if err := s.writeSet(&s.i.sets[k], &s.sets[k], &c.sets[k], c.components); err != nil {
			return err
		}
	}
	s.graphs += c.graphs
	s.tell(c)
	c.resetRows()
	return nil
}

func (s *sink) writeSet(plan *setPlan, out *setSink, in *rows, components []uint32) error {
	if plan.piece != example.Context {
		sizes := in.sizes
		for _, n := range components {
			sum := uint64(0)
			for _, size := range sizes[:n] {
				out.components.add(uint64(size))
				sum += uint64(size)
			}
			out.graphs.add(sum)
			sizes = sizes[n:]
		}
		out.count = out.graphs.end
		if err := errors.Join(out.graphs.flush(), out.components.flush()); err != nil {
			return err
		}
	}
	if plan.piece == example.Edges {
		_, err := out.src.Write(graph.Bytes(in.src))
		if err == nil {
			_, err = out.dst.Write(graph.Bytes(in.dst))
		}
		if err != nil {
			return err
		}
	}
	for n, w := range out.columns {
		v := &in.columns[n]
		if err := w.Append(v.data, v.ends, v.lengths...); err != nil {
			return err
		}
	}
	return nil
}

// tell adds the counts of a chunk to the result.
func (s *sink) tell(c *chunk) {
	r := s.i.result
	// Keys are visited in sorted order, so that the names that are kept do not depend on the order of the map.
	for _, key := range slices.Sorted(maps.Keys(c.unknown)) {
		if _, known := s.unknown[key]; !known && len(s.unknown) == maxUnknown {
			r.OtherUnknown += c.unknown[key]
		} else {
			s.unknown[key] += c.unknown[key]
		}
	}
	r.OtherUnknown += c.others
	for k := range c.sets {
		for n := range c.sets[k].columns {
			if rounded := c.sets[k].columns[n].rounded; rounded > 0 {
				s.rounded[s.i.sets[k].columns[n].key] += rounded
			}
		}
	}
	r.Repaired += c.repaired
	r.Repairs = append(r.Repairs, c.repairs[:min(len(c.repairs), maxRepairs-len(r.Repairs))]...)
	r.Nodes.Merge(&c.nodes)
	r.Edges.Merge(&c.edges)
}

// finish completes the arrays and describes them.
func (s *sink) finish() error {
	if err := s.close(); err != nil {
		return err
	}
	ctx := &store.ContextMeta{Count: s.graphs, Columns: s.described(0), Arrays: map[string]string{}}
	keep := func(arrays map[string]string, key string, a *array, is bool) error {
		if is {
			arrays[key] = a.name
			return nil
		}
		return s.i.w.Remove(a.name)
	}
	meta := &store.Meta{Format: store.Format, Kind: store.KindCollection, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{}, Context: ctx, Schema: schemaFile}
	if err := errors.Join(keep(ctx.Arrays, "component_ptr", s.components.array, s.several), keep(ctx.Arrays, "example_form", s.forms, s.formed)); err != nil {
		return err
	}
	for k := range s.sets {
		plan, out := &s.i.sets[k], &s.sets[k]
		if plan.piece == example.Context {
			continue
		}
		arrays := map[string]string{"graph_ptr": out.graphs.name}
		if err := keep(arrays, "component_ptr", out.components.array, s.several); err != nil {
			return err
		}
		if plan.piece == example.Nodes {
			meta.Nodes[plan.typeName] = &store.NodesMeta{Count: int(out.count), Columns: s.described(k), Arrays: arrays}
			continue
		}
		arrays["src"], arrays["dst"] = out.src.name, out.dst.name
		meta.Edges[plan.typeName] = &store.EdgesMeta{Count: int(out.count), Columns: s.described(k), Arrays: arrays}
	}
	s.i.result.Meta = meta
	s.i.result.Unknown, s.i.result.Rounded = sorted(s.unknown), sorted(s.rounded)
	return nil
}

// described returns the descriptions of a set's columns for graph.json.
func (s *sink) described(k int) map[string]store.ColumnMeta {
	metas := map[string]store.ColumnMeta{}
	for n, meta := range s.sets[k].metas {
		metas[s.i.sets[k].columns[n].name] = meta
	}
	return metas
}

func sorted(counts map[string]uint64) []Counted {
	var list []Counted
	for name, n := range counts {
		list = append(list, Counted{name, n})
	}
	slices.SortFunc(list, func(a, b Counted) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// maxClosing is the number of arrays that are closed at a time. Closing syncs each, which waits for the disk.
const maxClosing = 16

// close closes all open arrays. A second call does nothing.
func (s *sink) close() error {
	var closing guard.Group
	closing.SetLimit(maxClosing)
	for _, a := range s.open {
		closing.Go(a.Close)
	}
	for k := range s.sets {
		for n, w := range s.sets[k].columns {
			closing.Go(func() (err error) {
				s.sets[k].metas[n], err = w.Close()
				return err
			})
		}
		s.sets[k].columns = nil
	}
	s.open = nil
	return closing.Wait()
}
