package outofcore

import (
	"math"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
)

const (
	// gapBytes is about the bytes of a row in the list of a pack.
	gapBytes = 2
	// tableShare is the part of the rows' memory that the tables have. The other part holds the lists of packs, and
	// buffers on the way through a scratch file.
	tableShare = 0.5
	// outSlack is the capacity of a grown buffer over its length.
	outSlack = 1.25
	// spillCost is the time of a byte that goes through a scratch file, in bytes that are read.
	spillCost = 3
)

// rowShare is the memory of the rows of columns, in bytes. 0 is no bound.
type rowShare struct {
	limit int64 // of the tables
	whole int64 // of the tables where one pack has the rows of all batches
	lists int64 // of the lists of packs and the buffers of a scratch file
}

// givenShare is the share where Options.Rows sets it.
func givenShare(rows int64) rowShare { return rowShare{limit: rows, whole: rows, lists: 8 * rows} }

// dividedShare divides the rows' memory between tables and lists.
func dividedShare(bytes float64) rowShare {
	return rowShare{whole: int64(bytes), limit: int64(bytes * tableShare), lists: int64(bytes * (1 - tableShare))}
}

// fixed is the bytes that tables hold whatever rows they want: the marks and the readers' buffers.
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

// rowBudget is the memory of the rows of columns.
type rowBudget struct{ budget }

// perBatch is an upper bound of the rows of a table that the subgraphs of a batch have: the ends of the edges that each
// op draws, and the seeds.
func (b rowBudget) perBatch(r *Rows) float64 {
	g, n := b.sampler.Graph(), 0.0
	for op := 1; op <= b.ops; op++ {
		edges, dir := b.sampler.Walk(op)
		if r.edges && edges == r.number || !r.edges && g.NodeType(g.Edges[edges].Type.Far(dir)) == r.number {
			n += b.need.perOp[op]
		}
	}
	for _, t := range b.sampler.Plan().SeedType {
		if !r.edges && g.NodeType(t) == r.number {
			n += float64(b.job.BatchSize)
		}
	}
	return n
}

// least is the bytes of the rows of one batch, each row once, and of the outputs, which have a row once per subgraph.
func (b rowBudget) least() (table, outs float64) {
	for _, r := range b.tables.tables() {
		n, encoded := b.perBatch(r), 0
		for _, c := range r.columns {
			if b.opt.Slots > 0 {
				encoded += c.row
			} else {
				encoded += encodedBytes(&c.stand)
			}
		}
		table += min(n, float64(r.count)) * float64(r.rowBytes())
		if b.sampler.Plan().Scope != sample.ScopeSeed {
			n = min(n, float64(r.count))
		}
		outs += n * float64(encoded)
	}
	if b.opt.Slots > 0 {
		return table / tableShare, outs * float64(b.opt.Slots)
	}
	return table / tableShare, outs * outSlack * float64(ordered.Slots(b.emitters)+b.emitters)
}

// encodedBytes is about the bytes of a row in the output.
func encodedBytes(c *graph.Column) int {
	switch c.DType {
	case graph.Float16, graph.BFloat16, graph.Float32, graph.Float64:
		return 4 * c.RowValues()
	}
	return (c.DType.Size()*8/7 + 1) * c.RowValues()
}

// reserve divides the free memory of a run that is not by windows: the rows have half of it, or the least that they
// need, and left is the rest.
func (b rowBudget) reserve(free float64) (left float64, share rowShare) {
	if len(b.tables.tables()) == 0 {
		return free, givenShare(b.opt.Rows)
	}
	table, outs := b.least()
	free -= outs
	rows := max(table, free/2)
	if share = givenShare(b.opt.Rows); b.opt.Rows == 0 {
		share = dividedShare(rows)
	}
	return free - rows, share
}

// groups is the number of groups that n batches are divided into where tables hold the given number of bytes, if batches want
// rows at random.
func (b rowBudget) groups(n uint64, bytes float64) uint64 {
	need := func(batches float64) float64 {
		sum := 0.0
		for _, r := range b.tables.tables() {
			sum += b.distinct(r, batches) * float64(r.rowBytes())
		}
		return sum
	}
	each := 1 + sort.Search(int(n)-1, func(i int) bool { return need(float64(i+2)) > bytes })
	return (n + uint64(each) - 1) / uint64(each)
}

// distinct is the rows of a table that the given number of batches want, each row once.
func (b rowBudget) distinct(r *Rows, batches float64) float64 {
	count := float64(r.count)
	return count * -math.Expm1(-batches*b.perBatch(r)/max(count, 1))
}

// rows adds the time, the bytes and the memory of rows to the forecast of a run that makes f.Batches at a time.
func (e *estimate) rows(f *Forecast, share rowShare) {
	tables := e.tables.tables()
	if len(tables) == 0 || e.total == 0 {
		return
	}
	rows := rowBudget{e.budget}
	limit := math.Inf(1)
	if share.limit > 0 {
		limit = float64(share.limit)
	}
	each := min(max(f.Batches, 1), e.total)
	runs := math.Ceil(float64(e.total) / float64(each))
	packs := float64(rows.groups(each, limit))
	// pass is the bytes that a pass reads for the given number of batches, and the bytes of their rows, each row once.
	pass := func(batches float64) (bytes, held float64) {
		for _, r := range tables {
			wanted := rows.distinct(r, batches)
			held += wanted * float64(r.rowBytes())
			for _, c := range r.columns {
				pages := float64(c.per*c.row)/direct.Align + 1
				bytes += float64(r.count) * float64(c.row) * e.disk.shareRead(nil, wanted/max(float64(c.blocks), 1)*max(float64(c.row)/direct.Align, 1), pages)
			}
		}
		return bytes, held
	}
	bytes, held := pass(float64(each) / packs)
	bytes *= packs
	if once, _ := pass(float64(each)); packs > 1 && e.opt.Scratch != "" && once+spillCost*packs*held < bytes {
		f.Written += int64(runs * packs * held)
		f.Seconds += runs * packs * held * (spillCost - 1) / max(e.disk.speed.Sequential, 1)
		bytes = once + packs*held
	}
	f.Bytes += int64(runs * bytes)
	if e.disk.speed.Sequential > 0 {
		f.Seconds += runs * bytes / e.disk.speed.Sequential
	}
	_, outs := rows.least()
	if packs > 1 {
		held += float64(share.lists)
	}
	f.Memory += int64(min(held, limit+float64(share.lists)) + outs)
}
