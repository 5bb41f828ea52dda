package walk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/report"
)

// Files of an output.
const (
	NodesFile = "walks.npy"
	EdgesFile = "edges.npy"
	MetaFile  = "walks.json"
)

// WriteOptions say which walks are written.
type WriteOptions struct {
	Job
	Starts   []uint32
	Walks    int  // per start
	EdgeIDs  bool // write EdgesFile
	Visits   int  // the most nodes per start that WriteVisits writes
	Threads  int
	Progress func(walks int) // if not nil, is called after each part
}

// Result is the sums over the walks that were written.
type Result struct {
	Walks   uint64
	Steps   uint64           // edges that were taken
	Short   uint64           // walks that ended before their last step
	Lengths report.Histogram // number of nodes per walk
	Visits  uint64           // nodes that were written, by WriteVisits
}

// meta is the content of MetaFile.
type meta struct {
	Format    int      `json:"format"`
	Starts    int      `json:"starts"`
	Walks     int      `json:"walks"` // per start
	Length    int      `json:"length"`
	Path      []string `json:"path"`
	Direction string   `json:"direction"`
	NodeTypes []string `json:"node_types"`       // of the nodes at the places of the path, and at its end
	Edges     bool     `json:"edges"`            // there is an array of edge ids
	Visits    int      `json:"visits,omitempty"` // most nodes per start, in place of the walks
}

// rowBytes bounds the walks that a worker makes in one go.
const rowBytes = 1 << 20

// part is some rows of the output.
type part struct {
	first, count    int // rows
	starts, numbers []uint32
	nodes           []uint32
	wide            []int64 // nodes, where int32 does not hold their ids
	edges           []uint64
	result          Result
}

// partRows is the number of rows of a part.
func partRows(length int) int { return max(1, min(rowBytes/(4*(length+1)), 1<<14)) }

// Need is the bytes of the buffers of Write.
func Need(length, threads int) int64 {
	return int64(ordered.Slots(threads)) * int64(partRows(length)) * int64(length+1) * (4 + 8 + 8)
}

// RowBytes is the bytes of a walk in the output.
func (w *Walker) RowBytes(edgeIDs bool) uint64 {
	n := uint64(w.rules.Length+1) * uint64(w.dtype().Size())
	if edgeIDs {
		n += 8 * uint64(w.rules.Length)
	}
	return n
}

// dtype is the dtype of NodesFile: -1 stands for no node.
func (w *Walker) dtype() graph.DType {
	for _, n := range w.sampler.Graph().Nodes {
		if n.Count > math.MaxInt32 {
			return graph.Int64
		}
	}
	return graph.Int32
}

// Write writes Walks walks per start: number 0 of each start, in the order of Starts, then number 1 of each, and so on. The
// caller calls Seal and Publish.
func (w *Walker) Write(ctx context.Context, out *store.Writer, o WriteOptions) (_ *Result, err error) {
	length := w.rules.Length
	nodes, err := out.Array(NodesFile, w.dtype(), length+1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, nodes.Close()) }()
	var edges *store.Array
	if o.EdgeIDs {
		if edges, err = out.Array(EdgesFile, graph.Int64, length); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, edges.Close()) }()
	}
	r := &Result{}
	rows, at := len(o.Starts)*o.Walks, 0
	newPart := func() *part {
		n := partRows(length)
		p := &part{starts: make([]uint32, n), numbers: make([]uint32, n), nodes: make([]uint32, n*(length+1))}
		if w.dtype() == graph.Int64 {
			p.wide = make([]int64, len(p.nodes))
		}
		if o.EdgeIDs {
			p.edges = make([]uint64, n*length)
		}
		return p
	}
	err = ordered.Run(ctx, o.Threads, w.NewContext, newPart, ordered.Stages[*Context, *part]{
		Fill: func(p *part) error {
			if at == rows {
				return io.EOF
			}
			p.first, p.count = at, min(len(p.starts), rows-at)
			at += p.count
			return nil
		},
		Work: func(_ context.Context, c *Context, p *part) error { return p.make(c, &o, length) },
		Sink: func(p *part) error {
			r.add(&p.result)
			if _, err := nodes.Write(p.rows(length)); err != nil {
				return err
			}
			if edges != nil {
				if _, err := edges.Write(graph.Bytes(p.edges[:p.count*length])); err != nil {
					return err
				}
			}
			if o.Progress != nil {
				o.Progress(p.count)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return r, w.writeMeta(out, &o)
}

// make makes the walks of a part.
func (p *part) make(c *Context, o *WriteOptions, length int) error {
	for k := range p.count {
		row := p.first + k
		p.starts[k], p.numbers[k] = o.Starts[row%len(o.Starts)], uint32(row/len(o.Starts))
	}
	var edges []uint64
	if p.edges != nil {
		edges = p.edges[:p.count*length]
	}
	if err := c.Walk(o.Job, p.starts[:p.count], p.numbers[:p.count], p.nodes[:p.count*(length+1)], edges); err != nil {
		return err
	}
	p.result.reset()
	p.result.count(p.nodes[:p.count*(length+1)], length)
	for i := range p.wide {
		p.wide[i] = int64(p.nodes[i])
		if p.nodes[i] == None {
			p.wide[i] = -1
		}
	}
	return nil
}

// rows is the bytes of the nodes of a part. As int32, None is -1.
func (p *part) rows(length int) []byte {
	if p.wide != nil {
		return graph.Bytes(p.wide[:p.count*(length+1)])
	}
	return graph.Bytes(p.nodes[:p.count*(length+1)])
}

// reset makes the sums zero, and keeps memory.
func (r *Result) reset() {
	*r = Result{Lengths: r.Lengths}
	r.Lengths.Reset()
}

// count adds walks, one after the other in nodes.
func (r *Result) count(nodes []uint32, length int) {
	for ; len(nodes) > 0; nodes = nodes[length+1:] {
		n := length + 1
		for nodes[n-1] == None {
			n--
		}
		r.Walks++
		r.Steps += uint64(n - 1)
		if n <= length {
			r.Short++
		}
		r.Lengths.Add(uint64(n))
	}
}

func (r *Result) add(o *Result) {
	r.Visits += o.Visits
	r.Walks += o.Walks
	r.Steps += o.Steps
	r.Short += o.Short
	r.Lengths.Merge(&o.Lengths)
}

// writeMeta writes what the arrays do not say.
func (w *Walker) writeMeta(out *store.Writer, o *WriteOptions) error {
	g := w.sampler.Graph()
	m := meta{Format: 1, Visits: o.Visits, Starts: len(o.Starts), Walks: o.Walks, Length: w.rules.Length, Direction: w.rules.Dir.String(), NodeTypes: []string{w.start}, Edges: o.EdgeIDs}
	for _, name := range w.rules.Path {
		i, err := g.EdgeType(name)
		if err != nil {
			return err
		}
		t := g.Edges[i].Type
		m.Path, m.NodeTypes = append(m.Path, t.String()), append(m.NodeTypes, t.Far(w.rules.Dir))
	}
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return out.WriteFile(MetaFile, append(b, '\n'))
}
