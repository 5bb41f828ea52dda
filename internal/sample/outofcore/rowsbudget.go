package outofcore

import (
	"math"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
)

// fixed is what tables hold whatever they want: the marks and the readers' buffers.
func (t *rowTables) fixed(readers int) int64 {
	n := int64(0)
	tables := t.tables()
	for _, r := range tables {
		words := (int64(r.count) + 63) / 64
		n += 12 * words
	}
	if len(tables) > 0 {
		n += int64(readers * rowBlock(tables))
	}
	return n
}

// size is the bytes of the columns.
func (t *rowTables) size() int64 {
	n := int64(0)
	for _, r := range t.tables() {
		n += int64(r.count) * int64(r.rowBytes())
	}
	return n
}

// rowsPerBatch is how many rows of a table the subgraphs of a batch have, an upper bound:
// the ends of what each op draws, and the seeds.
func (x *Executor) rowsPerBatch(r *Rows, job *sample.Job) float64 {
	g, n := x.store.Graph, 0.0
	for op := 1; op <= x.ops; op++ {
		edges, dir := x.sampler.Walk(op)
		if r.edges && edges == r.number || !r.edges && g.NodeType(g.Edges[edges].Type.Far(dir)) == r.number {
			n += x.rows.perOp[op]
		}
	}
	for _, t := range x.sampler.Plan().SeedType {
		if !r.edges && g.NodeType(t) == r.number {
			n += float64(job.BatchSize)
		}
	}
	return n
}

// rowsLeast is the bytes of the rows of one batch, each once, and of the outs that
// have them once a subgraph.
func (x *Executor) rowsLeast(job *sample.Job) (table, outs float64) {
	for _, r := range x.rows.tables() {
		n, encoded := x.rowsPerBatch(r, job), 0
		for _, c := range r.columns {
			encoded += encodedBytes(&c.stand)
		}
		table += min(n, float64(r.count)) * float64(r.rowBytes())
		if x.sampler.Plan().Scope != sample.ScopeSeed {
			n = min(n, float64(r.count))
		}
		outs += n * float64(encoded)
	}
	threads := x.emitters()
	return table / tableShare, outs * outSlack * float64(ordered.Slots(threads)+threads)
}

// emitters is the goroutines that sample and encode.
func (x *Executor) emitters() int {
	if x.rows.alone {
		return 1
	}
	return x.opt.Threads
}

// fewerOuts makes one goroutine encode where several did, whose outs hold much; it says
// whether they did.
func (x *Executor) fewerOuts() bool {
	if x.emitters() == 1 || len(x.rows.tables()) == 0 {
		return false
	}
	x.rows.alone = true
	return true
}

// give divides the rows' memory.
func (t *rowTables) give(bytes float64) {
	t.whole, t.limit, t.lists = int64(bytes), int64(bytes*tableShare), int64(bytes*(1-tableShare))
}

// reserveRows gives rows half of the free memory of a run that is not by windows, or
// what they need at least, and returns the other.
func (x *Executor) reserveRows(job *sample.Job, free float64) (left float64) {
	if len(x.rows.tables()) == 0 {
		return free
	}
	table, outs := x.rowsLeast(job)
	free -= outs
	rows := max(table, free/2)
	if x.opt.Rows == 0 {
		x.rows.give(rows)
	}
	return free - rows
}

// gapBytes is about what a row takes in the list of a pack.
const gapBytes = 2

// tableShare is the part of the rows' memory that the tables have. The other holds
// what several packs want, and buffers on their way through a scratch file.
const tableShare = 0.5

// outSlack is how much larger buffers grow than what is in them.
const outSlack = 1.25

// encodedBytes is about the bytes of a row in what is written.
func encodedBytes(c *graph.Column) int {
	switch c.DType {
	case graph.Float16, graph.BFloat16, graph.Float32, graph.Float64:
		return 4 * c.RowValues()
	}
	return (c.DType.Size()*8/7 + 1) * c.RowValues()
}

// groupsOf is into how many groups n batches are divided by tables of so many bytes,
// if rows are wanted at random.
func (x *Executor) groupsOf(job *sample.Job, n uint64, bytes float64) uint64 {
	need := func(batches float64) float64 {
		sum := 0.0
		for _, r := range x.rows.tables() {
			count := float64(r.count)
			sum += count * -math.Expm1(-batches*x.rowsPerBatch(r, job)/max(count, 1)) * float64(r.rowBytes())
		}
		return sum
	}
	each := 1 + sort.Search(int(n)-1, func(i int) bool { return need(float64(i+2)) > bytes })
	return (n + uint64(each) - 1) / uint64(each)
}

// shareRows divides the memory between windows and tables, so that least is read.
func (x *Executor) shareRows(job *sample.Job, w *Window, total uint64) {
	x.rows.whole, x.rows.limit, x.rows.lists = x.opt.Rows, x.opt.Rows, 8*x.opt.Rows
	if x.rows.limit > 0 || x.opt.Memory == 0 || len(x.rows.tables()) == 0 {
		return
	}
	table, outs := x.rowsLeast(job)
	free := float64(x.opt.Memory-x.fixed()-x.held) - w.BatchEdges*x.perContext() - outs
	neighbours, columns, each := float64(x.size()), float64(x.rows.size()), x.perBatch(job, w.BatchEdges)
	visits, visited := 0.0, 0.0 // rows of a batch, and their bytes
	for _, r := range x.rows.tables() {
		n := x.rowsPerBatch(r, job)
		visits += n
		visited += n * float64(r.rowBytes())
	}
	least, size := math.Inf(1), w.Batches
	for n := max(size, 1); n > 0; n /= 2 {
		room := free - float64(n)*each
		if n >= total {
			room = free - float64(n)*min(each, w.BatchEdges*aloneBytes+x.perSpans(job))
		}
		if room < table && n > 1 {
			continue
		}
		room = max(room, table)
		windows := float64((max(total, 1) + n - 1) / n)
		packs := float64(x.groupsOf(job, n, room*tableShare))
		read := packs * columns
		if x.opt.Scratch != "" {
			// Each time that the lists of packs are full takes a pass.
			passes := math.Ceil(float64(n) * visits * gapBytes / (room * (1 - tableShare) * 2 / 3))
			read = min(read, passes*columns+spillCost*float64(n)*visited)
		}
		if read = windows * (neighbours + read); read < least {
			least, size = read, n
			x.rows.give(room)
		}
	}
	w.Batches = size
}

// foretellRows adds what rows take to the forecast of a run that makes f.Batches at a
// time.
func (x *Executor) foretellRows(job *sample.Job, f *Forecast, total uint64) {
	tables := x.rows.tables()
	if len(tables) == 0 || total == 0 {
		return
	}
	x.rows.perOp = x.found.perOp
	limit := math.Inf(1)
	if x.rows.limit > 0 {
		limit = float64(x.rows.limit)
	}
	each := min(max(f.Batches, 1), total)
	runs := math.Ceil(float64(total) / float64(each))
	packs := float64(x.groupsOf(job, each, limit))
	// Bytes that are read for so many batches, and of their rows, each once.
	pass := func(batches float64) (bytes, rows float64) {
		for _, r := range tables {
			count := float64(r.count)
			wanted := count * -math.Expm1(-batches*x.rowsPerBatch(r, job)/max(count, 1))
			rows += wanted * float64(r.rowBytes())
			for _, c := range r.columns {
				pages := float64(c.per*c.row)/direct.Align + 1
				bytes += count * float64(c.row) * x.shareRead(nil, wanted/max(float64(c.blocks), 1)*max(float64(c.row)/direct.Align, 1), pages)
			}
		}
		return bytes, rows
	}
	bytes, held := pass(float64(each) / packs)
	bytes *= packs
	if once, _ := pass(float64(each)); packs > 1 && x.opt.Scratch != "" && once+spillCost*packs*held < bytes {
		f.Written += int64(runs * packs * held)
		f.Seconds += runs * packs * held * (spillCost - 1) / max(x.speed.Sequential, 1)
		bytes = once + packs*held
	}
	f.Bytes += int64(runs * bytes)
	if x.speed.Sequential > 0 {
		f.Seconds += runs * bytes / x.speed.Sequential
	}
	_, outs := x.rowsLeast(job)
	if packs > 1 {
		held += float64(x.rows.lists)
	}
	f.Memory += int64(min(held, limit+float64(x.rows.lists)) + outs)
}
