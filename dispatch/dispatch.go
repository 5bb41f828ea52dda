package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/partition/assign"
	"github.com/graphmill/graphmill/store"
)

// Options say what the parts hold and how they are made.
type Options struct {
	// GraphName is what DGL knows the graph by, and the name of the configuration.
	GraphName string
	// Hops is how far the halo reaches, Leaving whether it has the edges that leave
	// owned nodes: see the package comment.
	Hops    int
	Leaving bool
	// PartIDs adds the node data part_id, as partition_graph does.
	PartIDs bool
	// OriginalNodes and OriginalEdges ask for the files of original ids.
	OriginalNodes, OriginalEdges bool
	// Formats are the sparse matrices of a part's graph; 0: COO and CSC.
	Formats dgl.Formats
	Threads int   // at least 1
	Memory  int64 // bound of the memory in bytes; 0: no bound
	// Progress, which may be nil, is told of bytes written, of as many as total.
	Progress func(done, total int64)
}

// Report is what came out.
type Report struct {
	Parts []Part
	// Cut is the number of edges whose ends are in different parts.
	Cut uint64
	// Bytes is the size of all files.
	Bytes int64
	// LeftOut are the columns that no tensor can hold, with the reason; Widened those
	// whose type became a larger one.
	LeftOut, Widened []string
	// AtOnce is how many parts were made at a time.
	AtOnce int
}

// Part is what a part holds.
type Part struct {
	OwnNodes, HaloNodes int
	OwnEdges, HaloEdges uint64
	Bytes               int64
}

// dispatcher is a run.
type dispatcher struct {
	fs     fsx.FS
	dir    string
	g      *graph.Graph
	a      *assign.Assignment
	w      *store.Writer
	opt    Options
	budget budget
	report Report

	num         *numbering
	edges       []*incoming
	into        [][]int // edge types into each node type
	segs        []segment
	counts      [][]uint64 // a segment: edges in front of it, of (edge type into its type, part)
	edgeStart   []uint64   // first new edge id of (part, edge type); and all edges
	nodeTensors []tensor
	edgeTensors []tensor
	origNodes   []tensor

	store     *store.Store
	temporary []transposed
	pages     atomic.Int64 // bytes read since the memory of pages was given back
	written atomic.Int64
	total   int64
}

// Run writes the parts of a store to w. The caller seals and publishes.
func Run(ctx context.Context, fsys fsx.FS, s *store.Store, a *assign.Assignment, w *store.Writer, opt Options) (_ *Report, err error) {
	if opt.Formats == 0 {
		opt.Formats = dgl.COO | dgl.CSC
	}
	opt.Threads = max(opt.Threads, 1)
	d := &dispatcher{fs: fsys, dir: s.Dir, g: s.Graph, a: a, w: w, opt: opt, store: s}
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.num, err = newNumbering(d.g, a); err != nil {
		return nil, err
	}
	defer d.num.close()
	defer func() {
		for _, t := range d.temporary {
			err = errors.Join(err, t.unmap())
		}
	}()
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	if err := d.plan(ctx); err != nil {
		return nil, err
	}
	d.chooseColumns()
	for p := 0; p < d.num.parts; {
		n, err := d.group(ctx, p)
		if err != nil {
			return nil, err
		}
		p += n
	}
	config := d.config().JSON()
	for _, name := range []string{opt.GraphName + ".json", ConfigFile} {
		if err := w.WriteFile(name, config); err != nil {
			return nil, err
		}
		d.report.Bytes += int64(len(config))
	}
	for _, p := range d.report.Parts {
		d.report.Bytes += p.Bytes
	}
	return &d.report, nil
}

// ConfigFile is the second name of the configuration, by which DGL's dispatch knows it.
const ConfigFile = "metadata.json"

// check refuses names that DGL or the output folder cannot take.
func (d *dispatcher) check() error {
	if d.g == nil {
		return fmt.Errorf("%s: found a collection, expected a store of one graph", d.dir)
	}
	if err := CheckGraphName(d.opt.GraphName); err != nil {
		return err
	}
	for _, n := range d.g.Nodes {
		if strings.Contains(n.Type, "/") {
			return fmt.Errorf("found node type %q, expected a name without '/', which DGL takes for the end of it; import the table under another name", n.Type)
		}
	}
	for _, e := range d.g.Edges {
		if strings.Contains(e.Type.Rel, "/") {
			return fmt.Errorf("found edge type %q, expected a name without '/', which DGL takes for the end of it; import the table under another name", e.Type)
		}
	}
	if len(d.g.Nodes) == 0 {
		return fmt.Errorf("%s: found no node types, expected at least one", d.dir)
	}
	return nil
}

// CheckGraphName says whether a name can be that of a graph and its configuration.
func CheckGraphName(name string) error {
	switch {
	case name == "" || store.FileName(name) != name:
		return fmt.Errorf("found graph name %q, expected letters, digits, '.', '_' and '-'", name)
	case name+".json" == ConfigFile || name == "manifest" || name == "made" || name == "report" || name == "graph":
		return fmt.Errorf("found graph name %q, which is that of another file of the output, expected another", name)
	}
	return nil
}

// open reads the edge types, and makes in-edges where the store has none.
func (d *dispatcher) open(ctx context.Context) error {
	d.budget.pages = leastPages
	d.into = make([][]int, len(d.g.Nodes))
	for i, e := range d.g.Edges {
		in, err := open(d.g, e)
		if err != nil {
			return err
		}
		if e.Adj[graph.In] == nil {
			memory := int64(1) << 40
			if d.opt.Memory > 0 {
				memory = d.opt.Memory / 4
			}
			if err := d.transpose(ctx, in, e.Adj[graph.Out], memory); err != nil {
				return err
			}
		}
		d.edges = append(d.edges, in)
		d.into[in.dst] = append(d.into[in.dst], i)
	}
	return nil
}

// plan counts what every part owns.
func (d *dispatcher) plan(ctx context.Context) error {
	if err := d.segments(ctx, 8*d.opt.Threads); err != nil {
		return err
	}
	if err := d.countEdges(ctx); err != nil {
		return err
	}
	return d.plans()
}

// typed says whether nodes and edges have types that the graph must tell.
func (d *dispatcher) typed() bool { return len(d.g.Nodes) != 1 || len(d.edges) != 1 }

// firstOf is the first new id of the edges of part p.
func (d *dispatcher) firstOf(p int) uint64 { return d.edgeStart[p*len(d.edges)] }

// firstEdge is the local id of the first edge of a type in part p.
func (d *dispatcher) firstEdge(p, e int) uint64 {
	return d.edgeStart[p*len(d.edges)+e] - d.firstOf(p)
}

// rowStart is the number of edges of part p into types before t: where their rows of the CSC end.
func (d *dispatcher) rowStart(p, t int) (n uint64) {
	for _, into := range d.into[:t] {
		for _, e := range into {
			n += uint64(d.edgeRows(p, e))
		}
	}
	return n
}

// edgePlace is the (part, edge type) of a new edge id.
func (d *dispatcher) edgePlace(id uint64) int {
	lo, hi := 0, len(d.edgeStart)-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; d.edgeStart[mid] <= id {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// read notes that so many bytes of the store were read, and gives the memory of
// pages back after a while.
func (d *dispatcher) read(bytes int) error {
	if d.pages.Add(int64(bytes)) < d.budget.pages {
		return nil
	}
	d.pages.Store(0)
	return d.releaseAll()
}

func (d *dispatcher) wrote(bytes int) {
	n := d.written.Add(int64(bytes))
	if d.opt.Progress != nil {
		d.opt.Progress(n, d.total)
	}
}

// group makes as many parts as fit the memory, from part p on.
func (d *dispatcher) group(ctx context.Context, p int) (n int, err error) {
	g := &group{dispatcher: d, from: p, to: min(p+d.budget.parts, d.num.parts)}
	defer g.close()
	if err := g.mark(ctx); err != nil {
		return 0, err
	}
	files, err := g.open()
	defer func() {
		for _, f := range files {
			if f != nil {
				err = errors.Join(err, f.close())
			}
		}
	}()
	if err != nil {
		return 0, err
	}
	halo := newHaloEdges(g, d.budget.halo)
	defer func() { err = errors.Join(err, halo.close()) }()
	if err := g.writeEdges(ctx, files, halo, d.budget.buffer); err != nil {
		return 0, err
	}
	if err := halo.write(ctx, g, files, d.budget.buffer); err != nil {
		return 0, err
	}
	err = spread(ctx, d.opt.Threads, len(files), func(_ context.Context, _, i int) error {
		if err := files[i].writeData(g, make([]uint64, d.budget.buffer)); err != nil {
			return err
		}
		return files[i].writeRows(g, d.budget.window, d.budget.buffer)
	})
	if err != nil {
		return 0, err
	}
	if err := g.writeNodes(ctx, nodeFeatFile, d.nodeTensors, 8*d.budget.buffer); err != nil {
		return 0, err
	}
	if err := g.writeEdgeColumns(ctx, edgeFeatFile, d.edgeTensors, 8*d.budget.buffer); err != nil {
		return 0, err
	}
	if d.opt.OriginalNodes {
		if err := g.writeNodes(ctx, origNodeFile, d.origNodes, 8*d.budget.buffer); err != nil {
			return 0, err
		}
	}
	for i, f := range files {
		d.report.Parts = append(d.report.Parts, Part{OwnNodes: f.ownNodes, HaloNodes: f.haloNodes, OwnEdges: f.ownEdges, HaloEdges: f.haloEdges, Bytes: g.partBytes(i)})
	}
	return g.to - g.from, nil
}

// config is the configuration.
func (d *dispatcher) config() *dgl.Config {
	c := &dgl.Config{GraphName: d.opt.GraphName, Method: d.a.Method, HaloHops: d.opt.Hops}
	for t, n := range d.g.Nodes {
		r := dgl.TypeRanges{Name: n.Type}
		for p := range d.num.parts {
			i := p*d.num.types + t
			r.Ranges = append(r.Ranges, [2]int64{int64(d.num.start[i]), int64(d.num.start[i+1])})
		}
		c.Nodes = append(c.Nodes, r)
	}
	for e, in := range d.edges {
		r := dgl.TypeRanges{Name: in.name}
		for p := range d.num.parts {
			i := p*len(d.edges) + e
			r.Ranges = append(r.Ranges, [2]int64{int64(d.edgeStart[i]), int64(d.edgeStart[i+1])})
		}
		c.Edges = append(c.Edges, r)
	}
	for p := range d.num.parts {
		c.Parts = append(c.Parts, dgl.PartFiles{NodeFeats: partName(p, nodeFeatFile), EdgeFeats: partName(p, edgeFeatFile), Graph: partName(p, graphFile)})
	}
	return c
}
