package records

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/report"
)

// recordPlace is a record of a chunk.
type recordPlace struct {
	recordfiles.Place
	end int // end of the record in the chunk's data
}

// chunk is a run of records, and the rows that they become.
type chunk struct {
	data    []byte
	records []recordPlace
	decoded int // number of records that have become rows

	graphs     int
	components []uint32 // number of components of each graph
	sets       []rows   // parallel to importer.sets
	forms      []byte
	formed     bool // a form is not all zeros

	unknown  map[string]uint64
	others   uint64
	repaired uint64
	repairs  []string

	nodes, edges report.Histogram
}

// rows holds the rows of a set.
type rows struct {
	sizes    []uint32 // number of items of each component
	src, dst []uint32
	columns  []values
}

func (i *importer) newChunk() *chunk {
	c := &chunk{sets: make([]rows, len(i.sets)), unknown: map[string]uint64{}}
	for k := range i.sets {
		c.sets[k].columns = make([]values, len(i.sets[k].columns))
		for n := range i.sets[k].columns {
			c.sets[k].columns[n].lengths = make([][]uint32, i.sets[k].columns[n].variable)
		}
	}
	return c
}

// reset empties a chunk whose records were all written.
func (c *chunk) reset() {
	c.data, c.records, c.decoded = c.data[:0], c.records[:0], 0
}

// resetRows empties the rows after they were written.
func (c *chunk) resetRows() {
	c.graphs, c.components, c.forms, c.formed = 0, c.components[:0], c.forms[:0], false
	for k := range c.sets {
		s := &c.sets[k]
		s.sizes, s.src, s.dst = s.sizes[:0], s.src[:0], s.dst[:0]
		for n := range s.columns {
			s.columns[n].reset()
		}
	}
	clear(c.unknown)
	c.others, c.repaired, c.repairs = 0, 0, c.repairs[:0]
	c.nodes.Reset()
	c.edges.Reset()
}

// worker decodes records.
type worker struct {
	g    *example.GraphTensor
	sets []decoded
}

// decoded is a set of the GraphTensor. Its parts stay the same over all Decodes.
type decoded struct {
	nodes   *example.NodeSet
	edges   *example.EdgeSet
	tensors []*example.Tensor
	from    int // of edges: the node sets of the ends, as indices in worker.sets
	to      int
}

func (i *importer) newWorker() *worker {
	w := &worker{g: i.codec.New(), sets: make([]decoded, len(i.sets))}
	at := map[string]int{}
	for k := range i.sets {
		s, d := &i.sets[k], &w.sets[k]
		features := w.g.Context
		switch s.piece {
		case example.Nodes:
			d.nodes = w.g.NodeSets[s.name]
			features = d.nodes.Features
			at[s.name] = k
		case example.Edges:
			d.edges = w.g.EdgeSets[s.name]
			features = d.edges.Features
			d.from, d.to = at[d.edges.Source], at[d.edges.Target]
		}
		for _, c := range s.columns {
			d.tensors = append(d.tensors, features[c.name])
		}
	}
	return w
}

// decode makes rows of the records of a chunk, or of the first records that are left. Rows can be larger than their
// records, since row lengths may be omitted. A chunk holds at most as many bytes of rows as records in the usual form
// become.
func (i *importer) decode(w *worker, c *chunk) error {
	start, held := 0, 0
	if c.decoded > 0 {
		start = c.records[c.decoded-1].end
	}
	for c.decoded < len(c.records) && held < rowsFactor*i.chunk {
		if c.decoded%64 == 63 && i.ctx.Err() != nil {
			return i.ctx.Err()
		}
		r := &c.records[c.decoded]
		size, err := i.record(w, c, r.Place, c.data[start:r.end:r.end])
		if err != nil {
			return fmt.Errorf("%s: %w", r.Place, err)
		}
		start, held = r.end, size
		c.decoded++
	}
	return nil
}

// record adds the rows of a record. It returns the number of bytes that the columns of the chunk hold.
func (i *importer) record(w *worker, c *chunk, at recordfiles.Place, record []byte) (held int, err error) {
	g := w.g
	if err := i.codec.Decode(record, g, i.opt.Lenient); err != nil {
		return 0, err
	}
	for _, key := range g.Unknown {
		if _, known := c.unknown[string(key)]; !known && len(c.unknown) == maxUnknown {
			c.others++
		} else {
			c.unknown[string(key)]++
		}
	}
	if len(g.Repairs) > 0 {
		c.repaired++
		if len(c.repairs) < maxRepairs {
			c.repairs = append(c.repairs, fmt.Sprintf("%s: %s", at, g.Repairs[0]))
		}
	}
	components, nodes, edges := 1, uint64(0), uint64(0)
	for k := range w.sets {
		d, out := &w.sets[k], &c.sets[k]
		switch {
		case d.nodes != nil:
			out.sizes = appendCounts(out.sizes, d.nodes.Sizes)
			components = len(d.nodes.Sizes)
			nodes += total(d.nodes.Sizes)
		case d.edges != nil:
			out.sizes = appendCounts(out.sizes, d.edges.Sizes)
			components = len(d.edges.Sizes)
			edges += total(d.edges.Sizes)
			var err error
			if out.src, err = appendEnds(out.src, d.edges.SourceIndex, total(w.sets[d.from].nodes.Sizes)); err == nil {
				out.dst, err = appendEnds(out.dst, d.edges.TargetIndex, total(w.sets[d.to].nodes.Sizes))
			}
			if err != nil {
				return 0, fmt.Errorf("edge set %q: %w", i.sets[k].name, err)
			}
		}
		for n, t := range d.tensors {
			if err := out.columns[n].add(&i.sets[k].columns[n], t); err != nil {
				return 0, fmt.Errorf("%s: %w", i.sets[k].columns[n].key, err)
			}
			held += out.columns[n].bytes()
		}
	}
	c.graphs++
	c.components = append(c.components, uint32(components))
	form := g.Form
	if len(form) == 0 { // a repaired graph is written in the shortest form
		form = i.plain
	}
	c.forms = append(c.forms, form...)
	for _, b := range form {
		c.formed = c.formed || b != 0
	}
	c.nodes.Add(nodes)
	c.edges.Add(edges)
	return held, nil
}

func total(sizes []int64) uint64 {
	n := uint64(0)
	for _, s := range sizes {
		n += uint64(s)
	}
	return n
}

// appendCounts appends counts that the codec has checked to fit into int32.
func appendCounts(dst []uint32, counts []int64) []uint32 {
	for _, n := range counts {
		dst = append(dst, uint32(n))
	}
	return dst
}

// appendEnds appends endpoints. All must be nodes, since Check refuses a collection with others.
func appendEnds(dst []uint32, ends []int64, nodes uint64) ([]uint32, error) {
	nodes = min(nodes, math.MaxUint32)
	for _, v := range ends {
		if uint64(v) >= nodes {
			return dst, fmt.Errorf("found an edge to node %d, expected one below %d; the record is damaged, so write it again", v, nodes)
		}
		dst = append(dst, uint32(v))
	}
	return dst, nil
}
