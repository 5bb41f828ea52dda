package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/sample"
)

// Source is what a server's batches are made of. Once it is loaded it is immutable and safe for
// concurrent use.
type Source struct {
	sampler *sample.Sampler
	columns []column
	tables  tables
	job     sample.Job
	slot    int64 // bytes that hold every batch of an epoch
}

// NewSource prepares batches of job.Seeds, with the columns of f, and with ops also what
// each op expanded and drew, for which the sampler must have been made with
// sample.Options.Ops. Of the job, Rank, Ranks, Epoch and Threads are not looked at.
func NewSource(s *sample.Sampler, job sample.Job, f Features, ops bool) (*Source, error) {
	p := s.Plan()
	switch {
	case p.Link():
		return nil, errors.New("found a plan of links, expected one of seed nodes: a feed gives batches of nodes")
	case p.Scope == sample.ScopeSeed:
		return nil, errors.New("found scope seed, expected batch or epoch: a feed gives one subgraph a batch")
	case job.BatchSize < 1:
		return nil, fmt.Errorf("found batch size %d, expected at least 1", job.BatchSize)
	}
	for _, t := range []struct {
		what  string
		named map[string][]string
		known func(string) bool
	}{
		{"node type", f.Nodes, func(name string) bool { return s.Graph().NodeType(name) >= 0 }},
		{"edge type", f.Edges, func(name string) bool {
			e, err := s.Graph().EdgeType(name)
			return err == nil && s.Graph().Edges[e].Type.String() == name
		}},
	} {
		for name := range t.named {
			if !t.known(name) {
				return nil, fmt.Errorf("found columns of %s %q, expected a type of the graph", t.what, name)
			}
		}
	}
	src := &Source{sampler: s, job: job}
	var err error
	if src.columns, err = columnsOf(s, f, ops, &src.tables); err != nil {
		return nil, err
	}
	src.slot, err = mostBytes(s, src.columns, job.BatchSize)
	return src, err
}

// Load copies the large columns that batches look rows up in to where they come faster, as far
// as so many bytes of memory go, by so many threads. Batches hold the same with and without. It comes
// before the first Maker; after an error the source must be closed.
func (s *Source) Load(ctx context.Context, memory int64, threads int) error {
	return s.tables.load(ctx, memory, threads)
}

// Close frees what Load copied. No Maker may be in use.
func (s *Source) Close() { s.tables.close() }

// Batches is the number of batches of an epoch, over all ranks.
func (s *Source) Batches() int {
	return (len(s.job.Seeds) + s.job.BatchSize - 1) / s.job.BatchSize
}

// Hops is the number of hops of the plan.
func (s *Source) Hops() int { return s.sampler.Hops() }

// Seeds is the number of seeds of an epoch, over all ranks.
func (s *Source) Seeds() int { return len(s.job.Seeds) }

// BatchSize is the seeds of a batch.
func (s *Source) BatchSize() int { return s.job.BatchSize }

// Ops say what each op draws from, from op 1.
func (s *Source) Ops() []OpInfo {
	var ops []OpInfo
	plan := s.sampler.Plan()
	for k, hop := range plan.Hops()[1:] {
		ops = append(ops, OpInfo{plan.Ops[k].Edges, hop})
	}
	return ops
}

// Columns describe the columns of every batch.
func (s *Source) Columns() []ColumnInfo {
	var infos []ColumnInfo
	for _, c := range s.columns {
		infos = append(infos, c.info)
	}
	return infos
}

// Maker makes batches, one at a time: first a batch is sampled (Batch, Of), then its columns are
// written to where they are wanted (Rows, Fill). It serves one goroutine at a time.
type Maker struct {
	src     *Source
	context *sample.Context
	seeds   []uint32
	made    made
	at      []int
}

// Maker makes a maker.
func (s *Source) Maker() *Maker {
	return &Maker{src: s, context: s.sampler.NewContext(), at: make([]int, len(s.columns))}
}

// Epoch is an epoch's order of the seeds.
func (s *Source) Epoch(number uint64) batch.Items {
	n := uint64(len(s.job.Seeds))
	if !s.job.Shuffle {
		return batch.Sequential(n).Epoch(0, 0)
	}
	return draw.NewOrder(n, draw.Key(s.job.Seed, number, draw.OrderWord))
}

// Batch samples batch b of an epoch, whose order Source.Epoch gave, and returns the bytes
// that it has in a slot. The batch is the maker's until the next call.
func (m *Maker) Batch(order batch.Items, epoch uint64, b int) (int, error) {
	job := &m.src.job
	first := b * job.BatchSize
	n := min(job.BatchSize, len(job.Seeds)-first)
	if cap(m.made.input) < n {
		m.made.input = make([]uint64, job.BatchSize)
	}
	m.made.input = m.made.input[:n]
	order.Fill(m.made.input, uint64(first))
	m.seeds = m.seeds[:0]
	for _, i := range m.made.input {
		m.seeds = append(m.seeds, job.Seeds[i])
	}
	return m.sample(epoch, uint64(b))
}

// Of samples a batch of given seeds, whose draws are those of batch unit of an epoch.
func (m *Maker) Of(seeds []int64, epoch, unit uint64) (int, error) {
	g := m.src.sampler.Graph()
	count := g.Nodes[g.NodeType(m.src.sampler.Plan().SeedType[0])].Count
	m.seeds, m.made.input = m.seeds[:0], m.made.input[:0]
	for i, v := range seeds {
		if v < 0 || v >= int64(count) {
			return 0, fmt.Errorf("seed %d: found node %d, expected 0 to %d", i, v, count-1)
		}
		m.seeds, m.made.input = append(m.seeds, uint32(v)), append(m.made.input, uint64(i))
	}
	return m.sample(epoch, unit)
}

func (m *Maker) sample(epoch, unit uint64) (size int, err error) {
	m.made.sub, err = m.context.Sample(sample.Input{Seeds: m.seeds, Seed: m.src.job.Seed, Epoch: epoch, Unit: unit})
	if err != nil {
		return 0, err
	}
	return place(m.src.columns, &m.made, m.at), nil
}

// Rows is the number of rows that a column has in the batch that was sampled.
func (m *Maker) Rows(column int) int { return m.src.columns[column].rows(&m.made) }

// RowBytes is the bytes of a column's row.
func (m *Maker) RowBytes(column int) int { return m.src.columns[column].width }

// Fill writes a column of the batch that was sampled to dst, which has the bytes of its rows and is
// aligned to 8 bytes.
func (m *Maker) Fill(column int, dst []byte) {
	if len(dst) > 0 {
		m.src.columns[column].write(dst, &m.made)
	}
}

// write puts the batch that was sampled into dst, which has its size.
func (m *Maker) write(dst []byte, t ticket) { write(dst, m.src.columns, &m.made, m.at, t) }
