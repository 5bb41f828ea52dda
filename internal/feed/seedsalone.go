package feed

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/graphmill/graphmill/internal/sample"
)

// negativesColumn is the column with the negatives of a batch whose client draws: the source and the destination of each in turn, as type-wise ids.
const negativesColumn = "negatives"

// seedsColumn is the column with the seeds of a batch whose client draws: type-wise ids, of links source and destination in turn.
const seedsColumn = "seeds"

// SeedsAlone makes the source hand out the seeds of batches alone, with the columns that belong to them, for clients that draw the
// subgraphs themselves. Their greeting is answered with the plan, and with the columns of the batches that are to be made. It is called
// before the first Maker.
func (s *Source) SeedsAlone() error {
	if s.stream != nil || s.hosts != nil {
		return errors.New("found seeds alone with the stream executor or `Hosts`, expected the memory executor, which has the seeds of a batch in memory; leave `Memory` and `Hosts` out")
	}
	plan, err := json.Marshal(s.sampler.Plan())
	if err != nil {
		return err
	}
	s.made, s.plan = s.Columns(), plan
	width := int64(s.width)
	alone := []column{ints(seedsColumn, func(m *made) []uint32 { return m.seeds }, func(b *bounds) int64 { return b.seeds * width })}
	if s.sampler.Plan().Negatives != nil {
		alone = append(alone, ints(negativesColumn, func(m *made) []uint32 { return m.sub.Negatives.Nodes }, func(b *bounds) int64 { return 2 * b.negatives }))
	}
	for _, c := range s.columns {
		switch name := c.info.Name; {
		case name == "input_id", name == "seed_time", name == "negative_end", name == "negative_edges", strings.HasPrefix(name, "links/"):
			alone = append(alone, c)
		}
	}
	s.columns = alone
	s.slot, err = mostBytes(s.sampler, alone, s.job.BatchSize)
	return err
}

// negativesAlone draws the negatives of the batch: a subgraph that has nothing else.
func (m *Maker) negativesAlone(in sample.Input) (*sample.Subgraph, error) {
	out := &sample.Subgraph{}
	n := &out.Negatives
	if m.src.sampler.Plan().Negatives == nil {
		return out, nil
	}
	one, parts := func(int) sample.Input { return in }, 1
	if m.disjoint != nil {
		one, parts = func(i int) sample.Input { return m.one(in, i) }, len(m.seeds)/m.src.width
	}
	for i := range parts {
		found, err := m.context.Negatives(one(i))
		if err != nil {
			return nil, err
		}
		before := uint64(len(n.Nodes) / 2)
		for _, end := range found.Ends {
			n.Ends = append(n.Ends, before+end)
		}
		n.Nodes = append(n.Nodes, found.Nodes...)
		n.Edges += found.Edges
	}
	return out, nil
}

// alone says whether batches have the seeds alone.
func (s *Source) alone() bool { return s.plan != nil }
