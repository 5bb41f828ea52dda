package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Files of an output of WriteVisits, which `graphmill import` reads as a graph.
const (
	SrcFile    = "src.npy"
	DstFile    = "dst.npy"
	VisitsFile = "visits.npy"
	GraphFile  = "graph.yaml"
)

// mostVisited bounds the nodes that the walks of one start visit.
const mostVisited = 1 << 26

// visitStarts is the number of starts whose walks a worker makes in one go.
const visitStarts = 256

// visited is what the walks of some starts visit most.
type visited struct {
	starts, row, numbers []uint32
	nodes                []uint32 // of some walks of a start
	seen                 []uint32 // by all walks of a start
	tally                []visit
	src, dst, visits     []uint32
	wide                 [2][]int64 // src and dst, where int32 does not hold their ids
	result               Result
}

// visit is a node and how often it was visited.
type visit struct{ node, times uint32 }

// CheckVisits refuses visits that cannot be counted.
func (w *Walker) CheckVisits(walks int) error {
	if n := w.rules.Length / len(w.steps); n == 0 || walks > mostVisited/n {
		return tagged.Errorf(ErrRules, "found `Visits` of %d walks of %d steps, expected walks that reach the end of the path of %d edge types, at most %d times per start",
			walks, w.rules.Length, len(w.steps), mostVisited)
	}
	return nil
}

// WriteVisits writes, for each start, the nodes that its walks visit most at the ends of the path: the neighbours of PinSAGE. Those are
// edges from the visited node to the start, with the number of visits, in the order of the starts: most visits first, and of equal
// visits the lower node. GraphFile says so to an import. The caller calls Seal and Publish.
func (w *Walker) WriteVisits(ctx context.Context, out *store.Writer, o WriteOptions) (_ *Result, err error) {
	if err := w.CheckVisits(o.Walks); err != nil {
		return nil, err
	}
	var arrays []*store.Array
	defer func() {
		for _, a := range arrays {
			err = errors.Join(err, a.Close())
		}
	}()
	for _, name := range []string{SrcFile, DstFile, VisitsFile} {
		dtype := w.dtype()
		if name == VisitsFile {
			dtype = graph.Int32
		}
		a, err := out.Array(name, dtype)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
	}
	r, at := &Result{}, 0
	err = ordered.Run(ctx, o.Threads, w.NewContext, func() *visited { return &visited{} }, ordered.Stages[*Context, *visited]{
		Fill: func(v *visited) error {
			if at == len(o.Starts) {
				return io.EOF
			}
			n := min(visitStarts, len(o.Starts)-at)
			v.starts = o.Starts[at : at+n]
			at += n
			return nil
		},
		Work: func(_ context.Context, c *Context, v *visited) error { return v.make(c, &o) },
		Sink: func(v *visited) error {
			r.add(&v.result)
			for k, values := range [][]uint32{v.src, v.dst, v.visits} {
				bytes := graph.Bytes(values)
				if k < 2 && w.dtype() == graph.Int64 {
					v.wide[k] = v.wide[k][:0]
					for _, x := range values {
						v.wide[k] = append(v.wide[k], int64(x))
					}
					bytes = graph.Bytes(v.wide[k])
				}
				if _, err := arrays[k].Write(bytes); err != nil {
					return err
				}
			}
			if o.Progress != nil {
				o.Progress(len(v.starts) * o.Walks)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return r, errors.Join(w.writeMeta(out, &o), w.writeGraph(out))
}

// make makes the walks of some starts, and counts what they visit.
func (v *visited) make(c *Context, o *WriteOptions) error {
	length, path := c.w.rules.Length, len(c.w.steps)
	v.src, v.dst, v.visits = v.src[:0], v.dst[:0], v.visits[:0]
	v.result.reset()
	for _, start := range v.starts {
		v.seen = v.seen[:0]
		for first := 0; first < o.Walks; {
			n := min(partRows(length), o.Walks-first)
			v.row, v.numbers = v.row[:0], v.numbers[:0]
			for i := range n {
				v.row, v.numbers = append(v.row, start), append(v.numbers, uint32(first+i))
			}
			v.nodes = slices.Grow(v.nodes[:0], n*(length+1))[:n*(length+1)]
			if err := c.Walk(o.Job, v.row, v.numbers, v.nodes, nil); err != nil {
				return err
			}
			v.result.count(v.nodes, length)
			for i := range n {
				for j := path; j <= length; j += path {
					if to := v.nodes[i*(length+1)+j]; to != None {
						v.seen = append(v.seen, to)
					}
				}
			}
			first += n
		}
		v.top(start, o.Visits)
	}
	v.result.Visits = uint64(len(v.src))
	return nil
}

// top adds the nodes that were seen most.
func (v *visited) top(start uint32, most int) {
	slices.Sort(v.seen)
	v.tally = v.tally[:0]
	for i, node := range v.seen {
		if i == 0 || node != v.seen[i-1] {
			v.tally = append(v.tally, visit{node: node})
		}
		v.tally[len(v.tally)-1].times++
	}
	slices.SortStableFunc(v.tally, func(a, b visit) int { return cmp.Compare(b.times, a.times) })
	for _, t := range v.tally[:min(most, len(v.tally))] {
		v.src, v.dst, v.visits = append(v.src, t.node), append(v.dst, start), append(v.visits, t.times)
	}
}

// VisitBytes bounds the bytes of a start in the output of WriteVisits.
func (w *Walker) VisitBytes(o WriteOptions) uint64 {
	return uint64(min(o.Visits, o.Walks*(w.rules.Length/len(w.steps)))) * uint64(2*w.dtype().Size()+4)
}

// VisitsNeed is the bytes of the buffers of WriteVisits.
func VisitsNeed(length, walks, visits, threads int) int64 {
	seen := min(int64(walks)*int64(length), mostVisited)
	rows := int64(min(partRows(length), walks))
	return int64(ordered.Slots(threads)) * (rows*int64(length+3)*4 + seen*(4+8) + visitStarts*min(int64(visits), seen)*(3*4+2*8))
}

// writeGraph writes GraphFile. Its texts are JSON, which YAML includes.
func (w *Walker) writeGraph(out *store.Writer) error {
	g := w.sampler.Graph()
	i, err := g.EdgeType(w.rules.Path[len(w.rules.Path)-1])
	if err != nil {
		return err
	}
	end := g.Edges[i].Type.Far(w.rules.Dir)
	text := "nodes:\n"
	for _, t := range slices.Compact([]string{w.start, end}) {
		text += fmt.Sprintf("  %s: {count: %d}\n", quoted(t), g.Nodes[g.NodeType(t)].Count)
	}
	text += fmt.Sprintf("edges:\n  %s: {src: src, dst: dst, columns: {src: %s, dst: %s, visits: %s}}\n", quoted(end+":visits:"+w.start), SrcFile, DstFile, VisitsFile)
	return out.WriteFile(GraphFile, []byte(text))
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // never fails for strings
	return string(b)
}

// MostVisits bounds WriteOptions.Visits.
const MostVisits = math.MaxInt32
