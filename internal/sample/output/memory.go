package output

import (
	"math"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
)

// around is the bytes of a mapped file that become resident with a byte that is read: Linux maps the pages around it.
const around = 64 << 10

// Measured ratios of the memory of buffers to what they hold. A grown buffer is longer than its content, and its predecessors wait for
// the garbage collector, which Sample sets to 20 %.
const (
	contextGrown = 1.0 // of the lists of a context
	outGrown     = 1.7 // of what waits for the sink
	outOnce      = 0.6 // of one batch, once per run
	recordGrown  = 1.5 // outGrown of records that are small against a batch
	largeGrown   = 2.4 // outGrown of records of whole batches, each of which an encoder holds before it is copied
	recordOnce   = 1.6 // outOnce of records

	// What the runtime of Go adds: a share of the buffers, and a little that even small buffers need.
	runtimeShare, runtimeBytes = 0.08, 2 << 20
)

// grown is the bytes of buffers with what the runtime adds.
func grown(buffers float64) int64 {
	return int64(buffers*(1+runtimeShare) + min(buffers, runtimeBytes))
}

// Work is what decides on the memory of the buffers of a run: the graph and the plan, what a batch of the job has, and how it is
// written.
type Work struct {
	Graph   *graph.Graph
	Plan    *sample.Plan
	Job     *sample.Job
	Threads int
	Ops     bool // CollectionOptions.Ops
	EdgeIDs bool
	// Records is nil for a collection.
	Records *RecordsOptions
}

// Buffers is about the bytes of the buffers of a run by sample.Run: the buffers of its contexts, and of the subgraphs that wait to be
// written; and about the bytes of the mapped columns that Examples join and whose rows the job reads.
func (w *Work) Buffers() (buffers, columns int64) {
	job := *w.Job
	if w.Records != nil {
		group := max(w.Records.Components, 1)
		if w.Plan.Scope == sample.ScopeSeed && job.Ranks <= 1 {
			job.BatchSize = max(chunkSeeds/group, 1) * group
		}
	}
	batches := job.EpochBatches(len(w.Plan.SeedType)) * uint64(max(job.Epochs, 1))
	if batches == 0 {
		return 0, 0
	}
	threads := int(min(uint64(max(w.Threads, 1)), batches))
	slots := float64(min(uint64(2*threads+1), batches))
	// In few rounds, buffers have not grown to the largest batch.
	full := min(max(0.7+0.15*math.Log2(float64(batches)/slots), 0.7), 1)
	z := sample.Foresee(w.Graph, w.Plan, &job)
	held := w.context(&z) * float64(threads) * contextGrown
	if w.Records == nil {
		out := w.out(&z)
		return grown(held + out*(full*slots*outGrown+outOnce)), 0
	}
	out := w.record(&z)
	each := recordGrown
	if w.Plan.Scope != sample.ScopeSeed {
		each = largeGrown
	}
	if w.Records.Gzip {
		out *= 2 // before and after the compression
	}
	return grown(held + out*full*(slots*each+recordOnce)), int64(w.joined(&z, float64(batches)))
}

// joined is about the bytes of the pages of mapped columns that a number of batches touch.
func (w *Work) joined(z *sample.Sizes, batches float64) float64 {
	n := 0.0
	add := func(c *graph.Column, visits float64) {
		if Writes(c) && !sample.Reads(w.Graph, w.Plan, c) {
			bytes := float64(c.Bytes())
			n += bytes * -math.Expm1(-visits*batches*around/max(bytes, 1))
		}
	}
	nodes, edges := Reach(w.Graph, w.Plan)
	for _, i := range edges {
		for _, c := range w.Graph.Edges[i].Columns {
			add(c, z.Edges[i])
		}
	}
	for _, i := range nodes {
		t := w.Graph.Nodes[i]
		for _, c := range t.Columns {
			add(c, z.Nodes[i])
		}
		if slices.Contains(w.Records.IDs, t.Type) {
			add(t.IDs, z.Nodes[i])
		}
	}
	return n
}

// context is about the bytes of the lists of a context.
func (w *Work) context(z *sample.Sizes) float64 {
	n := 0.0
	for i, nodes := range z.Nodes {
		each := 4.0
		if w.Plan.Expand == sample.ExpandAll {
			each += 24 // marks, and lists of what each op reached
		}
		if w.Plan.Scope != sample.ScopeSeed && sample.Hashed(w.Graph.Nodes[i].Count) {
			each += 48
		}
		n += each * nodes
	}
	each := 12.0
	if w.Plan.Expand == sample.ExpandAll || w.Plan.Kind == sample.Bidirectional {
		each += 16 // sets of edges
	}
	for _, edges := range z.Edges {
		n += each * edges
	}
	if w.Ops {
		for i := range z.Drawn {
			n += 12*z.Drawn[i] + 4*z.Frontier[i]
		}
	}
	return n / z.Subgraphs
}

// out is the bytes of the subgraphs of a batch in a collection.
func (w *Work) out(z *sample.Sizes) float64 {
	lists := 8.0
	if w.EdgeIDs {
		lists = 12
	}
	if w.Plan.Weighs() {
		lists += 4
	}
	hops := 0
	for _, h := range w.Plan.OpHops() {
		hops = max(hops, h)
	}
	nodes, edges := Reach(w.Graph, w.Plan)
	n := z.Subgraphs * float64(4*(len(nodes)*(hops+2)+len(edges)*(hops+1)+1))
	for _, list := range z.Nodes {
		n += 4 * list
	}
	for _, list := range z.Edges {
		n += lists * list
	}
	if w.Ops {
		for i := range z.Drawn {
			n += lists*z.Drawn[i] + 4*z.Frontier[i] + 8*z.Subgraphs
		}
	}
	return n + 4*float64(min(w.Job.BatchSize, len(w.Job.Seeds))*len(w.Plan.SeedType))
}

// record is about the bytes of the Examples of a batch. Columns that damage hides count nothing: NewRecords refuses them.
func (w *Work) record(z *sample.Sizes) float64 {
	nodes, edges := Reach(w.Graph, w.Plan)
	n := 0.0
	for _, i := range nodes {
		t := w.Graph.Nodes[i]
		columns, _ := w.Records.Features.Nodes(t)
		n += z.Nodes[i] * encodedRow(columns, t.Count)
		if slices.Contains(w.Records.IDs, t.Type) {
			n += z.Nodes[i] * encoded(t.IDs, t.Count)
		}
		n += 64 * z.Subgraphs
	}
	all := 0.0
	for _, list := range z.Nodes {
		all = max(all, list/z.Subgraphs)
	}
	local, weight := float64(varint(uint64(all)*3/4)), 0.0
	if w.Plan.Weighs() {
		weight = 4
	}
	for _, i := range edges {
		t := w.Graph.Edges[i]
		columns, _ := w.Records.Features.Edges(t)
		n += z.Edges[i]*(2*local+weight+encodedRow(columns, t.Count)) + 128*z.Subgraphs
	}
	return n
}

// encodedRow is about the bytes of a row of the columns that Examples have.
func encodedRow(columns []*widening.Column, rows int) float64 {
	n := 0.0
	for _, c := range columns {
		switch {
		case c.Wide():
			n += 4 * float64(c.RowValues())
		case Writes(c.Column):
			n += encoded(c.Column, rows)
		}
	}
	return n
}

// encodedRows is the number of rows that are looked at for their encoded size.
const encodedRows = 64

// encoded is about the bytes of a row of a column in an Example: floats of 4 bytes, integers of as many as their size takes, texts
// with their lengths.
func encoded(c *graph.Column, rows int) float64 {
	if rows == 0 {
		return 0
	}
	values := float64(len(c.Values)) / float64(max(c.DType.Size(), 1))
	switch {
	case c.DType == graph.String:
		texts := float64(max(c.StringOffsets.Len()-1, 0))
		return (float64(len(c.Values)) + 2*texts) / float64(rows)
	case c.DType.IsFloat():
		return 4 * values / float64(rows)
	}
	size, all := c.DType.Size(), len(c.Values)/c.DType.Size()
	sum, looks := 0, min(all, encodedRows)
	for i := range looks {
		at, v := i*(all/looks)*size, uint64(0)
		for k := size - 1; k >= 0; k-- {
			v = v<<8 | uint64(c.Values[at+k])
		}
		sum += varint(v)
	}
	return float64(sum) / float64(max(looks, 1)) * values / float64(rows)
}

// varint is the bytes of an integer in an Example.
func varint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
