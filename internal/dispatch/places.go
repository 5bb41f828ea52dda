package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Places say where the nodes and edges of each part begin, so that other processes can make the parts (Maker). Slices with
// two indices are flat, the last index first.
type Places struct {
	Segments  []Segment
	ID        []uint32 // new id of each node, type after type
	Start     []uint32 // first new id of (part, node type), and the number of nodes
	EdgeStart []uint64 // first new id of (part, edge type), and the number of edges
	Nodes     []uint32 // of (segment, part): nodes of the type before the segment
	Counts    []uint64 // of (segment, edge type into its node type, part): edges before the segment
}

// Segment is a run of nodes of one type with the edges into them, the unit of work.
type Segment struct {
	Type int `json:"type"`
	From int `json:"from"`
	To   int `json:"to"`
}

// Count prepares parts that are made in other processes. It numbers nodes and edges, and marks no halo. each is the weight
// of a segment: a node weighs 1, and so does each of its in-edges. 0 chooses a weight for the number of workers. In-edges that the
// store does not list are written to the folder lists, where a Maker reads them. Like Prepare, Count uses s, a and w until Close.
func Count(ctx context.Context, fsys vfs.FS, s *store.Store, a *assign.Assignment, w *store.Writer, opt Options, lists string, each, workers int) (*Plan, error) {
	p := &Plan{d: newDispatcher(fsys, s, a, w, opt)}
	p.d.listsDir = lists
	if err := p.count(ctx, each, workers); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// transposeBytes is the most memory for edges that the store lists by source alone.
const transposeBytes = 1 << 30

// The bounds of the weight of a segment: its records take some megabytes, and the counts of all segments stay in memory.
const (
	leastSegment  = 1 << 14
	mostSegment   = 1 << 21
	segmentBytes  = 32 << 20
	segmentCounts = 64 << 20 // most counts of all segments
)

func (p *Plan) count(ctx context.Context, each, workers int) error {
	d := p.d
	if err := errors.Join(d.check(), d.open()); err != nil {
		return err
	}
	d.budget = budget{parts: 1, buffer: mostBuffer, pages: mostPages, halo: transposeBytes, window: leastWindow}
	if d.opt.Memory > 0 {
		d.budget.halo = max(leastHalo, min(transposeBytes, d.opt.Memory/2))
	}
	err := d.number(ctx, func(weight int) int {
		if each > 0 {
			return each
		}
		least := weight / max(segmentCounts/(d.a.Parts*d.mostInto()), 1)
		most := int(min(mostSegment, segmentBytes*int64(weight)/max(d.columnBytes()+4*int64(weight), 1)))
		return max(min(max(weight/(segmentsOfThread*max(workers, 1)), leastSegment), most), least, 1)
	})
	if err != nil || d.opt.Memory == 0 {
		return err
	}
	for p := range d.num.parts {
		if need := d.partMemory(p, 0); need > d.opt.Memory {
			return d.tooLarge(p, need)
		}
	}
	return nil
}

// columnBytes is the size of the rows of all columns as parts have them.
func (d *dispatcher) columnBytes() (n int64) {
	for _, c := range slices.Concat(slices.Concat(d.nodeColumns, d.edgeColumns)...) {
		if c.Wide() {
			n += c.RowsBytes()
		} else {
			n += int64(len(c.Values))
		}
	}
	return n
}

// Least is about the bytes of the parts without their halo nodes: per edge, which is in one part, its two ends in each format, its id and a mark.
func (p *Plan) Least() int64 {
	edges := int64(0)
	for _, e := range p.d.g.Edges {
		edges += int64(e.Count)
	}
	return p.d.columnBytes() + edges*int64(16*bits.OnesCount8(uint8(p.d.opt.Formats))+24)
}

// Places returns what was counted. It shares memory with the plan.
func (p *Plan) Places() *Places {
	d := p.d
	l := &Places{ID: d.num.id, Start: d.num.start, EdgeStart: d.edgeStart}
	for i, s := range d.segs {
		l.Segments = append(l.Segments, Segment{s.t, s.from, s.to})
		l.Nodes = append(l.Nodes, s.nodes...)
		l.Counts = append(l.Counts, d.counts[i]...)
	}
	return l
}

// Collect makes the parts that a Maker made files of the output, and writes the configuration. root is the folder of the parts, which stays until the output has its name. sums is the
// checksums of the files of a part (Options.PartFiles).
func (p *Plan) Collect(ctx context.Context, root string, sums func(part int) (map[string]store.ManifestFor, error)) (*Report, error) {
	d := p.d
	d.report.Parts = make([]Part, d.num.parts)
	for p := range d.num.parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		files, err := sums(p)
		if err != nil {
			return nil, err
		}
		for _, name := range d.opt.PartFiles(p) {
			if _, ok := files[name]; !ok {
				return nil, fmt.Errorf("found no checksum of %s, expected one; install the same version on all machines", name)
			}
		}
		if err := d.w.LinkShares(ctx, root, files); err != nil {
			return nil, err
		}
	}
	if err := d.finish(func(string) bool { return true }); err != nil {
		return nil, err
	}
	d.report.AtOnce = d.num.parts
	return &d.report, nil
}

// files are the files of a part.
func (o *Options) files() []string {
	names := []string{graphFile, nodeFeatFile, edgeFeatFile}
	if o.OriginalNodes {
		names = append(names, origNodeFile)
	}
	if o.OriginalEdges {
		names = append(names, origEdgeFile)
	}
	return names
}

// PartFiles are the files of a part, by their names in the folder of the parts.
func (o *Options) PartFiles(part int) (names []string) {
	for _, name := range o.files() {
		names = append(names, partName(part, name))
	}
	return names
}

// Gathered are the files of a part that Maker.Gather makes.
func (o *Options) Gathered() []string { return append([]string{listsFile, haloFile}, o.files()[1:]...) }

// partMemory is the memory of a worker that makes part p with a number of halo edges.
func (d *dispatcher) partMemory(p int, haloEdges uint64) int64 {
	nodes, own := int64(d.nodes()), int64(d.firstOf(p+1)-d.firstOf(p))
	n := int64(limits.ProcessBytes) + 6*nodes + bitsetBytes(int(nodes)) + 4*own + 2*haloRecord*int64(haloEdges)
	lo, hi := d.num.owned(p)
	if d.opt.Formats&(dgl.CSR|dgl.CSC) != 0 {
		n += 8*int64(hi-lo) + 16*leastWindow
	}
	if haloEdges == 0 { // while the graph is cut
		return max(n, int64(limits.ProcessBytes)+6*nodes+(cutBytes+laneBytes*int64(d.mostInto()))*int64(d.num.parts))
	}
	return n
}

// mostInto is the largest number of edge types into a node type, at least 1.
func (d *dispatcher) mostInto() int {
	most := 1
	for _, into := range d.into {
		most = max(most, len(into))
	}
	return most
}

func (d *dispatcher) tooLarge(p int, need int64) error {
	return tooLarge(p, need, d.opt.Memory)
}

// newMakerDispatcher is the state of a run whose places another process counted.
func newMakerDispatcher(fsys vfs.FS, s *store.Store, a *assign.Assignment, l *Places, opt Options, lists string) (_ *dispatcher, err error) {
	d := newDispatcher(fsys, s, a, nil, opt)
	d.listsDir = lists
	defer func() {
		if err != nil {
			err = errors.Join(err, d.unmap())
		}
	}()
	defer guard.Catch(&err)()
	if err := errors.Join(d.check(), d.open(), matches(d.g, a)); err != nil {
		return nil, err
	}
	if err := d.openTransposed(); err != nil {
		return nil, err
	}
	n := &numbering{parts: a.Parts, types: len(d.g.Nodes), base: make([]int, len(d.g.Nodes)+1), part: a.Part, id: l.ID, start: l.Start}
	for t, x := range d.g.Nodes {
		n.base[t+1] = n.base[t] + x.Count
	}
	total, edges := n.base[n.types], uint64(0)
	for _, in := range d.edges {
		edges += uint64(in.count)
	}
	counts := 0
	for _, s := range l.Segments {
		if s.Type < 0 || s.Type >= n.types || s.From < 0 || s.To < s.From || s.To > d.g.Nodes[s.Type].Count {
			return nil, errPlaces
		}
		counts += len(d.into[s.Type]) * n.parts
	}
	switch {
	case len(l.ID) != total, len(l.Start) != n.parts*n.types+1, len(l.EdgeStart) != n.parts*len(d.edges)+1,
		len(l.Nodes) != len(l.Segments)*n.parts, len(l.Counts) != counts, int(l.Start[len(l.Start)-1]) != total,
		l.EdgeStart[len(l.EdgeStart)-1] != edges, !slices.IsSorted(l.Start), !slices.IsSorted(l.EdgeStart):
		return nil, errPlaces
	}
	d.num, d.edgeStart = n, l.EdgeStart
	for i, s := range l.Segments {
		d.segs = append(d.segs, segment{t: s.Type, from: s.From, to: s.To, nodes: l.Nodes[i*n.parts:][:n.parts]})
		k := len(d.into[s.Type]) * n.parts
		d.counts, l.Counts = append(d.counts, l.Counts[:k]), l.Counts[k:]
	}
	d.budget = budget{parts: 1, buffer: mostBuffer, pages: mostPages, halo: leastHalo, window: mostWindow}
	if opt.Memory > 0 {
		d.budget.window = leastWindow
	}
	d.chooseColumns()
	return d, nil
}

// mostWindow is the edges that a rowSort of a worker holds without a memory bound.
const mostWindow = 1 << 24

var errPlaces = errors.New("found places of another graph, expected those of the store; use the same store and the same version on all machines")
