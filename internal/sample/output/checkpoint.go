package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/report"
)

// tally counts the subgraphs of a batch, or of all batches so far.
type tally struct {
	Stats sample.Stats     `json:"stats"`
	Nodes report.Histogram `json:"nodes"` // per subgraph, as it is written
	Edges report.Histogram `json:"edges"`
	examplecolumns.Narrowed
}

// add counts a subgraph as it was sampled, with seeds of width ids.
func (t *tally) add(sub *sample.Subgraph, width int) {
	t.Stats.Seeds += uint64(len(sub.Input.Seeds) / width)
	t.Stats.Count(sub)
}

// take moves the counts of a batch to t.
func (t *tally) take(batch *tally) {
	batch.Stats.Batches = 1
	t.Stats.Add(batch.Stats)
	t.Nodes.Merge(&batch.Nodes)
	t.Edges.Merge(&batch.Edges)
	t.Narrowed.Add(batch.Underflows)
	clear(batch.Underflows)
	batch.Stats = sample.Stats{}
	batch.Nodes.Reset()
	batch.Edges.Reset()
}

// saved is the state of a checkpoint.
type saved struct {
	tally
	Totals []uint64         `json:"totals,omitempty"` // of the lists of a Collection
	Shards *shards.Position `json:"shards,omitempty"` // of Records
}

// course is the progress of an output.
type course struct {
	w        *store.Writer
	all      tally  // includes the batches of the resumed run
	skip     uint64 // batches of the next jobs that the resumed run wrote
	saved    uint64 // batches that the last checkpoint has
	every    time.Duration
	next     time.Time // of the next checkpoint
	progress func(subgraphs int)
}

// begin resumes from the checkpoint of w, if there is one.
func (c *course) begin(w *store.Writer, every time.Duration, progress func(int)) (*saved, error) {
	c.w, c.every, c.progress, c.next = w, every, progress, time.Now().Add(every)
	if w.State() == nil {
		return nil, nil
	}
	s, err := readSaved(w)
	if err != nil {
		return nil, err
	}
	c.all, c.skip, c.saved = s.tally, s.Stats.Batches, s.Stats.Batches
	c.tell(s.Stats.Subgraphs)
	return s, nil
}

func readSaved(w *store.Writer) (*saved, error) {
	var s saved
	d := json.NewDecoder(bytes.NewReader(w.State()))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return &s, nil
}

// Saved is the number of subgraphs that the last checkpoint of w has. The checkpoint may be its own, or come from the run
// that it resumes.
func Saved(w *store.Writer) (subgraphs uint64) {
	if w.State() == nil {
		return 0
	}
	s, err := readSaved(w)
	if err != nil {
		return 0 // begin returns the error
	}
	return s.Stats.Subgraphs
}

func (c *course) tell(subgraphs uint64) {
	if c.progress != nil {
		c.progress(int(subgraphs))
	}
}

// rest is the part of a job that is not written yet.
func (c *course) rest(job sample.Job, width int) (sample.Job, error) {
	if c.skip == 0 {
		return job, nil
	}
	batches, err := job.Batches(width)
	if err != nil {
		return job, err
	}
	n := min(c.skip, batches.Len())
	c.skip -= n
	job.From += n
	return job, nil
}

// wrote counts a batch, and says whether a checkpoint is due after it.
func (c *course) wrote(batch *tally) (due bool) {
	c.tell(batch.Stats.Subgraphs)
	c.all.take(batch)
	return c.every > 0 && !time.Now().Before(c.next)
}

// checkpoint makes a checkpoint of a state, to which it adds the counts.
func (c *course) checkpoint(s *saved) error {
	s.tally = c.all
	err := c.w.Checkpoint(s)
	if err == nil {
		c.saved = s.Stats.Batches
	}
	c.next = time.Now().Add(c.every)
	return err
}
