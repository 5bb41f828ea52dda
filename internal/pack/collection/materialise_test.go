package collection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ends = graph.EdgeType{Src: "a", Rel: "r", Dst: "b"}

// components are those that drawn collections need for packs of fixed shape.
var components = []string{"num_nodes:a", "num_nodes:b", "num_edges:a:r:b"}

// drawColumn draws a column of any shape.
func drawColumn(t *rapid.T, name string, dtype graph.DType, rows int, shape ...int) *graph.Column {
	c := &graph.Column{Name: name, DType: dtype, Shape: shape, Rows: rows}
	n := rows
	list := func(label string) graph.Index {
		x := graph.Index{U64: []uint64{0}}
		for range n {
			x.U64 = append(x.U64, x.At(x.Len()-1)+rapid.Uint64Range(0, 3).Draw(t, label))
		}
		n = int(x.At(x.Len() - 1))
		return x
	}
	for _, d := range shape {
		if d == -1 {
			c.Offsets = append(c.Offsets, list("length"))
		} else {
			n *= d
		}
	}
	size := dtype.Size()
	if dtype == graph.String {
		c.StringOffsets, size = list("bytes"), 1
	}
	c.Values = rapid.SliceOfN(rapid.Byte(), n*size, n*size).Draw(t, "values")
	return c
}

// drawCollection draws graphs of two node types and an edge type.
func drawCollection(t *rapid.T) *graph.Collection {
	graphs := rapid.IntRange(1, 12).Draw(t, "graphs")
	c := &graph.Collection{Graphs: graphs, SeedType: []string{"b"}}
	a, b, e := []uint64{0}, []uint64{0}, []uint64{0}
	seeds, edge := []uint64{0}, &graph.CollectionEdges{Type: ends}
	for range graphs {
		na, nb := rapid.Uint64Range(0, 4).Draw(t, "a"), rapid.Uint64Range(1, 4).Draw(t, "b")
		ne := rapid.Uint64Range(0, 5).Draw(t, "edges") * min(na, 1)
		for range ne {
			edge.Src.U32 = append(edge.Src.U32, uint32(rapid.Uint64Range(0, na-1).Draw(t, "src")))
			edge.Dst.U32 = append(edge.Dst.U32, uint32(rapid.Uint64Range(0, nb-1).Draw(t, "dst")))
		}
		c.SeedLocal.U32 = append(c.SeedLocal.U32, uint32(nb-1))
		a, b, e, seeds = append(a, a[len(a)-1]+na), append(b, b[len(b)-1]+nb), append(e, e[len(e)-1]+ne), append(seeds, seeds[len(seeds)-1]+1)
	}
	c.SeedPtr.U64, edge.GraphPtr.U64, edge.Count = seeds, e, int(e[graphs])
	x := &graph.CollectionNodes{Type: "a", GraphPtr: graph.Index{U64: a}, Count: int(a[graphs])}
	y := &graph.CollectionNodes{Type: "b", GraphPtr: graph.Index{U64: b}, Count: int(b[graphs])}
	x.Columns = []*graph.Column{drawColumn(t, "half", graph.BFloat16, x.Count, 3), drawColumn(t, "name", graph.String, x.Count)}
	y.Columns = []*graph.Column{drawColumn(t, "lists", graph.Int16, y.Count, 2, -1, -1)}
	for i := range y.Count {
		y.NodeID.U32 = append(y.NodeID.U32, uint32(1000+i))
	}
	edge.Columns = []*graph.Column{drawColumn(t, "src", graph.Bool, edge.Count, 2), drawColumn(t, "w", graph.Float64, edge.Count)}
	for i := range edge.Columns[0].Values {
		edge.Columns[0].Values[i] &= 1
	}
	for i := 7; i < len(edge.Columns[1].Values); i += 8 {
		edge.Columns[1].Values[i] &= 0xbf // below 2: an Example cannot hold a double that exceeds float32
	}
	c.Context = []*graph.Column{drawColumn(t, "label", graph.Int64, graphs), drawColumn(t, "text", graph.String, graphs, -1)}
	c.Nodes, c.Edges = []*graph.CollectionNodes{x, y}, []*graph.CollectionEdges{edge}
	return c
}

// disk is the file system without syncing to the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

type fatal interface{ Fatal(...any) }

// layoutFor makes a layout of a collection.
func layoutFor(t fatal, c *graph.Collection, limits []int, reserve bool) (*layout.Layout, *layout.Graphs) {
	sizes, err := collection.NewSizes(c, components)
	if err != nil {
		t.Fatal(err)
	}
	h, err := sizes.Histogram(0)
	if err != nil {
		t.Fatal(err)
	}
	p, terms := &pack.Problem{Histogram: h, Limits: limits}, layout.Terms{Reserve: reserve, Oversize: layout.Alone}
	if reserve {
		if err := layout.Reserve(p); err != nil {
			t.Fatal(err)
		}
	}
	p.Histogram, terms.Over = p.Oversize()
	r, err := pack.Solve(context.Background(), p, pack.Options{Effort: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	l := layout.Of(r, terms)
	g, err := collection.Graphs(l, c)
	if err != nil {
		t.Fatal(err)
	}
	return l, g
}

// folder writes an output folder and returns its name.
func folder(t fatal, fsys vfs.FS, parent string, write func(*store.Writer) (*store.Meta, error)) (dir string, err error) {
	dir = filepath.Join(parent, "out")
	w, err := store.Create(fsys, dir, true)
	if err != nil {
		return dir, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	meta, err := write(w)
	if err != nil {
		return dir, err
	}
	if meta == nil {
		err = w.WriteMade(store.Made{Command: "pack"})
	}
	return dir, errors.Join(err, w.Seal(context.Background(), meta, 1), w.Publish())
}

// rows returns the values of rows of columns, as text that keeps strings and lists apart.
func rows(columns []*graph.Column, first, last int, fixed bool) string {
	var b strings.Builder
	for _, c := range columns {
		if fixed && (c.Ragged() || c.DType == graph.String) {
			continue
		}
		fmt.Fprintf(&b, "%s:", c.Name)
		from, to, k := first, last, 0
		list := func(x graph.Index) {
			for i := from; i < to; i++ {
				fmt.Fprintf(&b, " %d", x.At(i+1)-x.At(i))
			}
			from, to = int(x.At(from)), int(x.At(to))
		}
		for _, d := range c.Shape {
			if d == -1 {
				list(c.Offsets[k])
				k++
			} else {
				from, to = from*d, to*d
			}
		}
		size := max(c.DType.Size(), 1)
		if c.DType == graph.String {
			list(c.StringOffsets)
		}
		fmt.Fprintf(&b, " %x\n", c.Values[from*size:to*size])
	}
	return b.String()
}

// graphText describes graph i of a collection whose graphs have one component, or component i of others. fixed
// leaves out the data that padded arrays lack.
func graphText(c *graph.Collection, i int, fixed bool) string {
	var b strings.Builder
	b.WriteString(rows(c.Context, i, i+1, fixed))
	pack := i // that has the component
	if c.ComponentPtr.Len() > 0 {
		for pack = 0; int(c.ComponentPtr.At(pack+1)) <= i; pack++ {
		}
	}
	base := map[string]uint64{}
	ptr := func(graphPtr, componentPtr graph.Index) (from, to int) {
		if componentPtr.Len() > 0 {
			return int(componentPtr.At(i)), int(componentPtr.At(i + 1))
		}
		return int(graphPtr.At(i)), int(graphPtr.At(i + 1))
	}
	for _, n := range c.Nodes {
		from, to := ptr(n.GraphPtr, n.ComponentPtr)
		base[n.Type] = uint64(from) - n.GraphPtr.At(pack)
		fmt.Fprintf(&b, "%s %d\n%s", n.Type, to-from, rows(n.Columns, from, to, fixed))
		for k := from; k < to && n.NodeID.Len() > 0; k++ {
			fmt.Fprintf(&b, "%d ", n.NodeID.At(k))
		}
	}
	for _, e := range c.Edges {
		from, to := ptr(e.GraphPtr, e.ComponentPtr)
		fmt.Fprintf(&b, "%s %d\n%s", e.Type, to-from, rows(e.Columns, from, to, fixed))
		for k := from; k < to; k++ {
			fmt.Fprintf(&b, "%d %d, ", e.Src.At(k)-base[e.Type.Src], e.Dst.At(k)-base[e.Type.Dst])
		}
	}
	return b.String()
}

// The components of the packs of a collection equal its graphs, bit for bit, and each graph is in one pack.
func TestJoined(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCollection(t)
		s := &store.Store{Collection: c, Meta: &store.Meta{Context: &store.ContextMeta{}}}
		l, g := layoutFor(t, c, []int{rapid.IntRange(4, 9).Draw(t, "limit"), 10, 9}, false)
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "epoch")
		dir, err := folder(t, disk, parent, func(w *store.Writer) (meta *store.Meta, err error) {
			meta, _, err = collection.Joined(context.Background(), vfs.OS, w, l, s, g, seed, epoch, collection.Options{Threads: 3})
			return meta, err
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := store.Open(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := out.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		d, k := l.Deal(g, seed, epoch), 0
		o := out.Collection
		for p := range d.Packs() {
			base := uint64(0)
			for _, id := range d.Pack(p, nil) {
				if d := cmp.Diff(graphText(c, int(id), false), graphText(o, k, false)); d != "" {
					t.Fatalf("graph %d as component %d: %s", id, k, d)
				}
				// The seed of each graph is its last node of type b.
				base += c.Nodes[1].GraphPtr.At(int(id)+1) - c.Nodes[1].GraphPtr.At(int(id))
				if got := o.SeedLocal.At(k); got != base-1 {
					t.Fatalf("found seed %d of component %d, expected %d", got, k, base-1)
				}
				k++
			}
			if int(o.ComponentPtr.At(int(p)+1)) != k || int(o.SeedPtr.At(int(p)+1)) != k {
				t.Fatalf("pack %d: found components up to %d, expected %d", p, o.ComponentPtr.At(int(p)+1), k)
			}
		}
		if k != o.Components() || k != c.Graphs {
			t.Fatalf("found %d components, expected %d", o.Components(), c.Graphs)
		}
	})
}

// Packs of graphs that have several components have the components of their graphs, in order.
func TestJoinedComponents(t *testing.T) {
	join := func(c *graph.Collection, limits []int) (*store.Store, *layout.Deal) {
		s := &store.Store{Collection: c, Meta: &store.Meta{Context: &store.ContextMeta{}}}
		l, g := layoutFor(t, c, limits, false)
		dir, err := folder(t, disk, t.TempDir(), func(w *store.Writer) (meta *store.Meta, err error) {
			meta, _, err = collection.Joined(t.Context(), disk, w, l, s, g, 1, 2, collection.Options{Threads: 2})
			return meta, err
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := store.Open(disk, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { out.Close() })
		if err := out.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out, l.Deal(g, 1, 2)
	}
	c := rapid.Custom(drawCollection).Filter(func(c *graph.Collection) bool { return c.Graphs > 8 }).Example(1)
	once, _ := join(c, []int{9, 9, 9})
	twice, d := join(once.Collection, []int{20, 20, 20})
	if d.Packs() == int64(once.Collection.Graphs) || once.Collection.Graphs == c.Graphs {
		t.Fatalf("found %d graphs, then %d, then %d, expected fewer each time", c.Graphs, once.Collection.Graphs, d.Packs())
	}
	k := 0
	for p := range d.Packs() {
		for _, id := range d.Pack(p, nil) {
			for i := once.Collection.ComponentPtr.At(int(id)); i < once.Collection.ComponentPtr.At(int(id)+1); i++ {
				if d := cmp.Diff(graphText(once.Collection, int(i), false), graphText(twice.Collection, k, false)); d != "" {
					t.Fatalf("component %d as %d: %s", i, k, d)
				}
				k++
			}
		}
	}
	if k != c.Graphs {
		t.Errorf("found %d components, expected %d", k, c.Graphs)
	}
	// Padded arrays have one row per graph, so columns of components are left out.
	l, g := layoutFor(t, once.Collection, []int{20, 20, 20}, false)
	_, err := folder(t, disk, t.TempDir(), func(w *store.Writer) (*store.Meta, error) {
		left, err := collection.Arrays(t.Context(), w, l, once.Collection, g, 1, 2, collection.Options{})
		if !strings.Contains(strings.Join(left, ";"), "context: column label (one row per component)") {
			t.Errorf("found %v left out, expected the columns of the context", left)
		}
		return nil, err
	})
	if err != nil {
		t.Error(err)
	}
}

// read returns the values of an array.
func read[T graph.Numbers](t fatal, dir, file string) []T {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return graph.View[T](b[h.Offset:])
}

// unpacked returns the graphs of padded packs, in order, without the padding.
func unpacked(t fatal, dir string, m *collection.PacksMeta, like *graph.Collection) *graph.Collection {
	graphs := m.Shape.Graphs
	real := read[int32](t, dir, m.Arrays["num_graphs"])
	c := &graph.Collection{}
	columns := func(meta map[string]store.ColumnMeta, cs []*graph.Column, all int, items func(p int) int) (out []*graph.Column) {
		for _, x := range cs {
			f, ok := meta[x.Name]
			if !ok {
				continue
			}
			y := &graph.Column{Name: x.Name, DType: x.DType, Shape: x.Shape}
			values, width := read[uint8](t, dir, f.File), x.RowBytes()
			for p := range real {
				pack := values[p*all*width : (p+1)*all*width]
				y.Values = append(y.Values, pack[:items(p)*width]...)
				if len(bytes.Trim(pack[items(p)*width:], "\x00")) > 0 {
					t.Fatal("found padding of", x.Name, "that is not 0")
				}
			}
			out = append(out, y)
		}
		return out
	}
	// items reads the pointers of a type and the arrays that depend on them.
	items := func(arrays map[string]string, count string, all int) (ptr graph.Index, of func(p int) int) {
		ptr.U64 = []uint64{0}
		ptrs, counts, mask := read[int32](t, dir, arrays["ptr"]), read[int32](t, dir, arrays[count]), read[uint8](t, dir, arrays["mask"])
		var owner []int32
		if arrays["graph"] != "" {
			owner = read[int32](t, dir, arrays["graph"])
		}
		for p, n := range real {
			row := ptrs[p*(graphs+1) : (p+1)*(graphs+1)]
			for i := range graphs {
				if row[i+1]-row[i] != counts[p*graphs+i] || i > int(n) && counts[p*graphs+i] != 0 {
					t.Fatal("found pointers", row, "and counts", counts[p*graphs:(p+1)*graphs])
				}
				if i < int(n) {
					ptr.U64 = append(ptr.U64, ptr.U64[len(ptr.U64)-1]+uint64(row[i+1]-row[i]))
				}
				for k := row[i]; k < row[i+1]; k++ {
					if owner != nil && owner[p*all+int(k)] != int32(i) || (mask[p*all+int(k)] == 1) != (i < int(n)) {
						t.Fatal("found another graph or mask of item", k, "of pack", p)
					}
				}
			}
			if row[0] != 0 || row[graphs] != int32(all) {
				t.Fatal("found pointers", row, "expected them from 0 to", all)
			}
		}
		return ptr, func(p int) int { return int(ptrs[p*(graphs+1)+int(real[p])]) }
	}
	nodesOf := map[string]func(int) int{}
	starts := map[string][]int32{}
	for _, x := range like.Nodes {
		f, all := m.Nodes[x.Type], m.Shape.Nodes[x.Type]
		n := &graph.CollectionNodes{Type: x.Type}
		var of func(int) int
		n.GraphPtr, of = items(f.Arrays, "n_node", all)
		nodesOf[x.Type], starts[x.Type] = of, read[int32](t, dir, f.Arrays["ptr"])
		n.Columns = columns(f.Columns, x.Columns, all, of)
		if f.Arrays["node_id"] != "" {
			ids := read[uint32](t, dir, f.Arrays["node_id"])
			for p := range real {
				if of(p) == all {
					t.Fatal("found no padding node in pack", p)
				}
				n.NodeID.U32 = append(n.NodeID.U32, ids[p*all:p*all+of(p)]...)
			}
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, x := range like.Edges {
		f, all := m.Edges[x.Type.String()], m.Shape.Edges[x.Type.String()]
		e := &graph.CollectionEdges{Type: x.Type}
		var of func(int) int
		e.GraphPtr, of = items(f.Arrays, "n_edge", all)
		e.Columns = columns(f.Columns, x.Columns, all, of)
		ptr := read[int32](t, dir, f.Arrays["ptr"])
		local := func(name, nodeType string) (x graph.Index) {
			ends := read[int32](t, dir, f.Arrays[name])
			for p, n := range real {
				for i := range int(n) {
					for k := ptr[p*(graphs+1)+i]; k < ptr[p*(graphs+1)+i+1]; k++ {
						x.U32 = append(x.U32, uint32(ends[p*all+int(k)]-starts[nodeType][p*(graphs+1)+i]))
					}
				}
				for k := of(p); k < all; k++ {
					if ends[p*all+k] != int32(nodesOf[nodeType](p)) {
						t.Fatal("found padding edge to node", ends[p*all+k], "expected", nodesOf[nodeType](p))
					}
				}
			}
			return x
		}
		e.Src, e.Dst = local("src", x.Type.Src), local("dst", x.Type.Dst)
		c.Edges = append(c.Edges, e)
	}
	for _, n := range real {
		c.Graphs += int(n)
	}
	c.Context = columns(m.Context, like.Context, graphs, func(p int) int { return int(real[p]) })
	return c
}

// Padded packs without their padding are the graphs of the layout, bit for bit. The padding is as in
// GraphsTuples. With a reserve it is within the limits.
func TestArrays(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCollection(t)
		reserve := rapid.Bool().Draw(t, "reserve")
		limits := []int{rapid.IntRange(5, 9).Draw(t, "limit"), 10, 9}
		l, g := layoutFor(t, c, limits, reserve)
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "epoch")
		var left []string
		dir, err := folder(t, disk, parent, func(w *store.Writer) (_ *store.Meta, err error) {
			left, err = collection.Arrays(context.Background(), w, l, c, g, seed, epoch, collection.Options{Threads: 3})
			return nil, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"a: column name (strings)", "b: column lists (shape [2 -1 -1])", "context: seed_ptr, seed_local", "context: column text (shape [-1])"}, left); d != "" {
			t.Fatal(d)
		}
		text, err := os.ReadFile(filepath.Join(dir, collection.PacksFile))
		if err != nil {
			t.Fatal(err)
		}
		m := &collection.PacksMeta{}
		if err := json.Unmarshal(text, m); err != nil {
			t.Fatal(err)
		}
		if !reserve {
			limits[0], limits[1] = limits[0]+1, limits[1]+1
		}
		if d := cmp.Diff(limits, []int{m.Shape.Nodes["a"], m.Shape.Nodes["b"], m.Shape.Edges["a:r:b"]}); d != "" {
			t.Fatal(d)
		}
		got := unpacked(t, dir, m, c)
		d, k := l.Deal(g, seed, epoch), 0
		ids, mask := read[int64](t, dir, m.Arrays["graph_id"]), read[uint8](t, dir, m.Arrays["graph_mask"])
		for p := range d.Packs() {
			row, at := d.Pack(p, nil), int(p)*m.Shape.Graphs
			for i := range m.Shape.Graphs {
				want := int64(-1)
				if i < len(row) {
					want = int64(row[i])
				}
				if ids[at+i] != want || (mask[at+i] == 1) != (i < len(row)) {
					t.Fatalf("pack %d: found graph %d, mask %d, expected graph %d", p, ids[at+i], mask[at+i], want)
				}
			}
			for _, id := range row {
				if d := cmp.Diff(graphText(c, int(id), true), graphText(got, k, true)); d != "" {
					t.Fatalf("graph %d: %s", id, d)
				}
				k++
			}
		}
		if k != got.Graphs || int64(k) != l.Meta.Graphs {
			t.Fatalf("found %d graphs, expected %d of %d", got.Graphs, l.Meta.Graphs, c.Graphs)
		}
	})
}

// smallCollection draws a collection from a fixed seed.
func smallCollection() *graph.Collection {
	return rapid.Custom(drawCollection).Example(7)
}

// writers are all writers of packs.
var writers = map[string]func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error){
	"fill": func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error) {
		return nil, collection.Fill(ctx, w, l, g, collection.Epochs{Seed: 1, First: 2, Count: 3}, collection.Options{Threads: threads})
	},
	"npy": func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error) {
		_, err := collection.Arrays(ctx, w, l, c, g, 1, 2, collection.Options{Threads: threads})
		return nil, err
	},
	"collection": func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error) {
		s := &store.Store{Collection: c, Meta: &store.Meta{Context: &store.ContextMeta{}}}
		meta, _, err := collection.Joined(ctx, vfs.OS, w, l, s, g, 1, 2, collection.Options{Threads: threads})
		return meta, err
	},
	"stream": func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error) {
		sizes, err := collection.NewSizes(c, []string{"num_nodes"})
		if err != nil {
			return nil, err
		}
		out, err := collection.NewStreamWriter(w)
		if err != nil {
			return nil, err
		}
		s := &pack.Stream{Limits: []int{4096}, Buffer: 4}
		for ids, err := range s.Pack(sizes.All()) {
			if err = errors.Join(err, ctx.Err()); err == nil {
				err = out.Write(ids)
			}
			if err != nil {
				return nil, errors.Join(err, out.Close())
			}
		}
		return nil, errors.Join(out.Finish(s), out.Close())
	},
	"tfrecord": func(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, threads int) (*store.Meta, error) {
		s := &store.Store{Collection: c, Meta: &store.Meta{Context: &store.ContextMeta{}}}
		_, err := collection.Records(ctx, vfs.OS, w, l, s, g, 1, 2, shards.Options{Shards: 2}, collection.Options{Threads: threads})
		return nil, err
	},
}

// The output does not depend on the number of threads. If any call to the file system fails, there is an error
// and no output. A cancelled run stops.
func TestThreadsAndFaults(t *testing.T) {
	c := smallCollection()
	l, g := layoutFor(t, c, []int{5, 10, 9}, true)
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			var sums []string
			for threads := 1; threads <= 3; threads++ {
				dir, err := folder(t, disk, t.TempDir(), func(w *store.Writer) (*store.Meta, error) { return write(t.Context(), w, l, c, g, threads) })
				if err != nil {
					t.Fatal(err)
				}
				sum, err := store.Sum(vfs.OS, dir)
				if err != nil {
					t.Fatal(err)
				}
				sums = append(sums, sum)
			}
			if sums[0] != sums[1] || sums[0] != sums[2] {
				t.Errorf("found sums %v, expected equal ones", sums)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := folder(t, disk, t.TempDir(), func(w *store.Writer) (*store.Meta, error) { return write(ctx, w, l, c, g, 2) }); !errors.Is(err, context.Canceled) {
				t.Errorf("found error %v, expected %v", err, context.Canceled)
			}
			broken := errors.New("broken")
			count := &vfs.Fault{FS: disk}
			if _, err := folder(t, count, t.TempDir(), func(w *store.Writer) (*store.Meta, error) { return write(t.Context(), w, l, c, g, 2) }); err != nil {
				t.Fatal(err)
			}
			// At most 20 of the calls, spread over all.
			for i := int64(1); i <= count.Calls(); i += 1 + count.Calls()/20 {
				fault := &vfs.Fault{FS: disk, FailAt: i, Err: broken, Short: i%2 == 0}
				dir, err := folder(t, fault, t.TempDir(), func(w *store.Writer) (*store.Meta, error) { return write(t.Context(), w, l, c, g, 2) })
				_, missing := os.Stat(filepath.Join(dir, store.ManifestFile))
				if err != nil && !errors.Is(err, broken) || err == nil && missing != nil {
					t.Fatalf("call %d of %d fails: found %v and %v", i, count.Calls(), err, missing)
				}
			}
		})
	}
}
