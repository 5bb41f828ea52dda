package sampling

import (
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
)

// Asker makes the batches of seeds that are asked for. One goroutine uses it at a time.
type Asker struct {
	maker *feed.Maker
	made  *buffered
	types []string
	find  Find
}

// Asker returns an asker of a loader of the memory executor.
func (l *Loader) Asker() (*Asker, error) {
	if l.source.Streamed() {
		return nil, errors.New("found batches of the stream executor, expected those of the memory executor, which are made one by one; give `Executor` memory")
	}
	find, err := l.find()
	if err != nil {
		return nil, err
	}
	return &Asker{l.source.Maker(), newBuffered(l.source.Columns()), l.source.SeedTypes(), find}, nil
}

// Find finds nodes by their original ids, of links those of source and target in turn.
func (a *Asker) Find(ids []string) ([]int64, error) {
	seeds := make([]int64, 0, len(ids))
	err := guard.Do(func() error {
		for i, id := range ids {
			t := a.types[i%len(a.types)]
			v, ok := a.find(t, id)
			if !ok {
				return fmt.Errorf("seed %d: found the id %q, expected the id of a node of type %s of the store; import or append it first", i/len(a.types), id, t)
			}
			seeds = append(seeds, v)
		}
		return nil
	})
	return seeds, err
}

// Ask makes the batch of seeds, with whole or float times if the plan has times, and the draws of the batch with a number of an epoch. It is valid until the next call.
func (a *Asker) Ask(seeds, whole []int64, float []float64, epoch uint64, number int) (*Batch, error) {
	if whole != nil && float != nil {
		return nil, errors.New("found whole and float times, expected those that the store has; give one of them")
	}
	if number < 0 {
		return nil, fmt.Errorf("found batch %d, expected at least 0; give the number of a batch", number)
	}
	var times []sample.Time
	for _, t := range whole {
		times = append(times, sample.IntTime(t))
	}
	for _, t := range float {
		times = append(times, sample.FloatTime(t))
	}
	err := guard.Do(func() error {
		if _, err := a.maker.OfTimes(seeds, times, epoch, uint64(number)); err != nil {
			return err
		}
		a.made.fill(a.maker)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.made.batch.Epoch, a.made.batch.Number = epoch, number
	return a.made.batch, nil
}
