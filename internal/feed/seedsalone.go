package feed

import (
	"encoding/json"
	"errors"
	"strings"
)

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
	for _, c := range s.columns {
		if name := c.info.Name; name == "input_id" || name == "seed_time" || strings.HasPrefix(name, "links/") {
			alone = append(alone, c)
		}
	}
	s.columns = alone
	s.slot, err = mostBytes(s.sampler, alone, s.job.BatchSize)
	return err
}

// alone says whether batches have the seeds alone.
func (s *Source) alone() bool { return s.plan != nil }
