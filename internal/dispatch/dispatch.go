package dispatch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options define the content of the parts and the resources of the run.
type Options struct {
	// GraphName is the name of the graph in DGL, and the name of the configuration.
	GraphName string
	// Hops is the reach of the halo. Leaving adds the edges that leave owned nodes. See the package comment.
	Hops    int
	Leaving bool
	// PartIDs adds the node data part_id, as partition_graph does.
	PartIDs bool
	// OriginalNodes and OriginalEdges add the files of original ids.
	OriginalNodes, OriginalEdges bool
	// Formats are the sparse matrices of a part's graph; 0: COO and CSC.
	Formats dgl.Formats
	Threads int   // at least 1
	Memory  int64 // bound of the memory, bytes; 0: no bound
	// PartsAtOnce bounds the number of parts that are written together, and so the work that an interrupted
	// run loses; 0: as many as the memory allows.
	PartsAtOnce int
	// Progress, which may be nil, receives the number of bytes written; several goroutines call it.
	Progress func(bytes int)
}

// Report describes the output.
type Report struct {
	Parts []Part
	// Bytes is the size of all files.
	Bytes int64
	// LeftOut lists the columns that cannot be tensors, with the reason. Widened lists those that were
	// converted to a larger type.
	LeftOut, Widened []string
	// Gaps lists the types with features of which some parts own nothing, and these parts. DGL loads such a
	// part, but its server does not start.
	Gaps []string
	// AtOnce is the number of parts that were written together.
	AtOnce int
}

// Part describes the content of a part.
type Part struct {
	OwnNodes, HaloNodes int
	OwnEdges, HaloEdges uint64
	Bytes               int64
}

// dispatcher is the state of a run.
type dispatcher struct {
	fs     vfs.FS
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
	counts      [][]uint64 // by segment: edges before it, by (edge type into the node type, part)
	edgeStart   []uint64   // first new edge id of (part, edge type); the last entry is the number of edges
	nodeTensors []tensor
	edgeTensors []tensor
	origNodes   []tensor
	// nodeColumns and edgeColumns are the columns of the types.
	nodeColumns, edgeColumns [][]*widening.Column

	store     *store.Store
	temporary []transposed
	listsDir  string       // where transposed lists stay for other processes; "": they are temporary
	pages     atomic.Int64 // bytes read since the pages were last released
}

// Plan is a dispatch that has computed the sizes of its parts.
type Plan struct {
	d        *dispatcher
	first    *group
	forecast Forecast
}

// Prepare counts the nodes and edges of each part. w is the output; temporary files go into its folder as
// well. s, a and w are used until Close, which frees the memory.
func Prepare(ctx context.Context, fsys vfs.FS, s *store.Store, a *assign.Assignment, w *store.Writer, opt Options) (*Plan, error) {
	p := &Plan{d: newDispatcher(fsys, s, a, w, opt)}
	if err := p.prepare(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func newDispatcher(fsys vfs.FS, s *store.Store, a *assign.Assignment, w *store.Writer, opt Options) *dispatcher {
	if opt.Formats == 0 {
		opt.Formats = dgl.COO | dgl.CSC
	}
	opt.Threads = max(opt.Threads, 1)
	return &dispatcher{fs: fsys, dir: s.Dir, g: s.Graph, a: a, w: w, opt: opt, store: s}
}

func (p *Plan) prepare(ctx context.Context) (err error) {
	d := p.d
	if err := d.check(); err != nil {
		return err
	}
	if err := d.open(); err != nil {
		return err
	}
	if err := d.plan(); err != nil {
		return err
	}
	// The pages that were read until now are not needed any more.
	if err := d.releaseAll(); err != nil {
		return err
	}
	began := time.Now()
	if err := d.number(ctx, func(weight int) int { return max(weight/(segmentsOfThread*d.opt.Threads), 1<<12) }); err != nil {
		return err
	}
	p.first = d.next(0)
	if p.first != nil {
		if err := p.first.mark(ctx); err != nil {
			return err
		}
	}
	p.forecast, err = d.predict(p.first, time.Since(began))
	return err
}

// number gives new ids to nodes and edges, and chooses the columns. each gives the weight of a segment for the weight of the graph.
func (d *dispatcher) number(ctx context.Context, each func(weight int) int) (err error) {
	if d.num, err = newNumbering(d.g, d.a); err != nil {
		return err
	}
	if err := d.transposeAll(ctx); err != nil {
		return err
	}
	weight := d.num.base[d.num.types]
	for _, e := range d.edges {
		weight += e.count
	}
	if err := d.segments(ctx, each(weight)); err != nil {
		return err
	}
	if err := d.countEdges(ctx); err != nil {
		return err
	}
	d.chooseColumns()
	return nil
}

// Forecast estimates what the run needs.
func (p *Plan) Forecast() Forecast { return p.forecast }

// Close frees the memory and removes temporary files.
func (p *Plan) Close() error {
	if p.first != nil {
		p.first.close()
	}
	if p.d.num != nil {
		p.d.num.close()
	}
	return p.d.unmap()
}

// unmap frees the transposed lists.
func (d *dispatcher) unmap() (err error) {
	for _, t := range d.temporary {
		err = errors.Join(err, t.unmap())
	}
	d.temporary = nil
	return err
}

// Run writes the parts. It may be called once. The caller seals and publishes the output.
func (p *Plan) Run(ctx context.Context) (*Report, error) {
	d := p.d
	d.report.Parts = make([]Part, d.num.parts)
	g := p.first
	p.first = nil
	for g != nil {
		if err := g.make(ctx); err != nil {
			return nil, err
		}
		g = d.next(g.to)
	}
	if err := d.finish(d.w.Kept); err != nil {
		return nil, err
	}
	d.report.AtOnce = d.budget.parts
	return &d.report, nil
}

// finish writes the configuration, and completes the report. kept says whether the part of a folder was made before.
func (d *dispatcher) finish(kept func(folder string) bool) error {
	c := d.config()
	have := func(tensors []tensor) func(t int) bool {
		return func(t int) bool { return slices.ContainsFunc(tensors, func(x tensor) bool { return x.t == t }) }
	}
	d.report.Gaps = parts.Gaps(c, have(d.nodeTensors), have(d.edgeTensors))
	config := c.JSON()
	for _, name := range []string{d.opt.GraphName + ".json", configFile} {
		if err := d.w.WriteFile(name, config); err != nil {
			return err
		}
		d.report.Bytes += int64(len(config))
	}
	for i := range d.report.Parts {
		if kept(partFolder(i)) {
			if err := d.kept(i); err != nil {
				return err
			}
		}
		d.report.Bytes += d.report.Parts[i].Bytes
	}
	return nil
}

// next is the next group of unwritten parts from p on, nil after the last.
func (d *dispatcher) next(p int) *group {
	for p < d.num.parts && d.w.Kept(partFolder(p)) {
		p++
	}
	if p == d.num.parts {
		return nil
	}
	to := p + 1
	for to < min(p+d.budget.parts, d.num.parts) && !d.w.Kept(partFolder(to)) {
		to++
	}
	return &group{dispatcher: d, from: p, to: to, out: d.w}
}

// configFile is the second name of the configuration, which DGL's dispatch uses.
const configFile = "metadata.json"

// check rejects names that DGL or the output folder cannot use.
func (d *dispatcher) check() error {
	if d.g == nil {
		return fmt.Errorf("%s: found a collection, expected a store of one graph; import the graph as one store; 'graphmill info' says what a folder is", d.dir)
	}
	if err := CheckGraphName(d.opt.GraphName); err != nil {
		return err
	}
	for _, n := range d.g.Nodes {
		if strings.Contains(n.Type, "/") {
			return fmt.Errorf("found node type %q, expected a name without '/', which ends a type's name in DGL's files; import the table under another name", n.Type)
		}
	}
	for _, e := range d.g.Edges {
		if strings.Contains(e.Type.Rel, "/") {
			return fmt.Errorf("found edge type %q, expected a name without '/', which ends a type's name in DGL's files; import the table under another name", e.Type)
		}
	}
	if len(d.g.Nodes) == 0 {
		return fmt.Errorf("%s: found no node types, expected at least one", d.dir)
	}
	return nil
}

// CheckGraphName reports an error for a name that a graph and its configuration cannot have.
func CheckGraphName(name string) error {
	switch {
	case name == "" || store.FileName(name) != name:
		return fmt.Errorf("found graph name %q, expected letters, digits, '.', '_' and '-'; give another `GraphName`", name)
	case name+".json" == configFile || name == "manifest" || name == "made" || name == "report" || name == "graph":
		return fmt.Errorf("found graph name %q, which another file of the output has; give another `GraphName`", name)
	}
	return nil
}

// open reads the edge types.
func (d *dispatcher) open() error {
	d.into = make([][]int, len(d.g.Nodes))
	for i, e := range d.g.Edges {
		in, err := openIncoming(d.g, e, d.opt.OriginalEdges)
		if err != nil {
			return err
		}
		d.edges = append(d.edges, in)
		d.into[in.dst] = append(d.into[in.dst], i)
	}
	return d.readColumns()
}

// transposeAll computes the in-edges that the store does not list.
func (d *dispatcher) transposeAll(ctx context.Context) error {
	for i, e := range d.g.Edges {
		if e.Adj[graph.In] == nil {
			if err := d.transpose(ctx, d.edges[i], e.Adj[graph.Out], d.budget.halo); err != nil {
				return err
			}
		}
	}
	return nil
}

// typed reports whether the graph must store the types of nodes and edges.
func (d *dispatcher) typed() bool { return len(d.g.Nodes) != 1 || len(d.edges) != 1 }

// firstOf is the first new id of the edges of part p.
func (d *dispatcher) firstOf(p int) uint64 { return d.edgeStart[p*len(d.edges)] }

// firstEdge is the local id of the first edge of type e in part p.
func (d *dispatcher) firstEdge(p, e int) uint64 {
	return d.edgeStart[p*len(d.edges)+e] - d.firstOf(p)
}

// rowStart is the number of edges of part p into the node types before t: their rows of the CSC end there.
func (d *dispatcher) rowStart(p, t int) (n uint64) {
	for _, into := range d.into[:t] {
		for _, e := range into {
			n += uint64(d.edgeRows(p, e))
		}
	}
	return n
}

// edgePlace finds (part, edge type) of a new edge id, as an index into edgeStart.
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

// segmentsOfThread is the number of segments per thread: enough that all threads end at about the same time.
const segmentsOfThread = 8

// gather returns how to read a column whose rows are taken out of order: the number of nodes per block, and
// the bytes that an edge brings into memory. These are more than the row where the column exceeds the pages
// that are held, because each edge then brings a page.
func (d *dispatcher) gather(in *incoming, width, column int64) (nodes, bytes int) {
	if in.id.Len() == 0 || column <= d.budget.pages {
		return blockNodes, int(width)
	}
	return gatherNodes, 64 << 10
}

// gatherNodes is the number of destinations per block if each of their edges brings a page.
const gatherNodes = 32

// read counts bytes that were read from the store, and releases pages when enough were read.
func (d *dispatcher) read(bytes int) error {
	if d.pages.Add(int64(bytes)) < d.budget.pages {
		return nil
	}
	d.pages.Store(0)
	return d.releaseAll()
}

func (d *dispatcher) wrote(bytes int) {
	if d.opt.Progress != nil {
		d.opt.Progress(bytes)
	}
}

// make writes the parts of the group.
func (g *group) make(ctx context.Context) (err error) {
	defer g.close()
	if g.reached == nil {
		if err := g.mark(ctx); err != nil {
			return err
		}
	}
	if err := g.writeGraphs(ctx); err != nil {
		return err
	}
	buffer := 8 * g.budget.buffer
	if err := g.writeNodes(ctx, nodeFeatFile, g.nodeTensors, buffer); err != nil {
		return err
	}
	if err := g.writeEdgeColumns(ctx, edgeFeatFile, g.edgeTensors, buffer); err != nil {
		return err
	}
	if g.opt.OriginalNodes {
		if err := g.writeNodes(ctx, origNodeFile, g.origNodes, buffer); err != nil {
			return err
		}
	}
	names := g.opt.files()
	for i := range g.reached {
		p := g.from + i
		lo, hi := g.num.owned(p)
		g.report.Parts[p] = Part{OwnNodes: int(hi - lo), HaloNodes: g.halo[i], OwnEdges: g.firstOf(p+1) - g.firstOf(p), HaloEdges: g.ownHalo(i), Bytes: g.partBytes(i)}
		files := make([]string, len(names))
		for k, name := range names {
			files[k] = partName(p, name)
		}
		if err := g.w.Keep(ctx, partFolder(p), files, g.opt.Threads); err != nil {
			return err
		}
	}
	return nil
}

// writeGraphs writes the graphs and the original ids of the edges.
func (g *group) writeGraphs(ctx context.Context) (err error) {
	files, err := g.open()
	defer func() { err = errors.Join(err, closeGraphs(files)) }()
	if err != nil {
		return err
	}
	halo := newHaloEdges(g, g.budget.halo)
	defer func() { err = errors.Join(err, halo.close()) }()
	if err := g.writeEdges(ctx, files, halo, g.budget.buffer); err != nil {
		return err
	}
	if err := halo.write(ctx, g, files, g.budget.buffer); err != nil {
		return err
	}
	return spread(ctx, g.opt.Threads, len(files), func(ctx context.Context, _, i int) error {
		if err := files[i].writeData(g, make([]uint64, g.budget.buffer)); err != nil {
			return err
		}
		return files[i].writeRows(ctx, g, g.budget.window, g.budget.buffer)
	})
}

// kept fills in the report of a part that an earlier run wrote.
func (d *dispatcher) kept(p int) (err error) {
	lo, hi := d.num.owned(p)
	x := Part{OwnNodes: int(hi - lo), OwnEdges: d.firstOf(p+1) - d.firstOf(p)}
	dir := filepath.Join(d.w.Dir(), partFolder(p))
	f, err := dgl.OpenGraphs(d.fs, filepath.Join(dir, graphFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	g, err := f.Graph(0)
	if err != nil {
		return err
	}
	x.HaloNodes, x.HaloEdges = int(g.NodeTypes[0].Nodes)-x.OwnNodes, uint64(g.Relations[0].Edges)-x.OwnEdges
	entries, err := d.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		x.Bytes += info.Size()
	}
	d.report.Parts[p] = x
	return nil
}

// config builds the configuration.
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
	for _, x := range slices.Concat(d.nodeTensors, d.edgeTensors) {
		if x.bool {
			c.Bools = append(c.Bools, x.name)
		}
	}
	for p := range d.num.parts {
		c.Parts = append(c.Parts, dgl.PartFiles{NodeFeats: partName(p, nodeFeatFile), EdgeFeats: partName(p, edgeFeatFile), Graph: partName(p, graphFile)})
	}
	return c
}
