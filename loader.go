package graphmill

import (
	"context"
	"errors"
	"iter"

	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// Loader samples batches from a store: subgraphs around seeds, with the columns that training needs. Close it before the store.
type Loader struct{ loader *sampling.Loader }

// NewLoader prepares to sample batches from a store. With ExecutorAuto, they come from the stream executor if Memory is given
// and the memory executor needs more. It refuses a Format, as batches are not files.
func NewLoader(ctx context.Context, st *Store, o option.Batches) (*Loader, error) {
	l, err := sampling.NewLoader(ctx, st.store, o)
	if err != nil {
		return nil, err
	}
	return &Loader{l}, nil
}

// Notes says in lines of text which executor makes the batches, why, and what that takes.
func (l *Loader) Notes() []string { return l.loader.Notes() }

// Close frees the memory of the loader. None of its batches may be in use.
func (l *Loader) Close() { l.loader.Close() }

// Batches iterates over the batches of the loader, as the function Batches does. The loader can be iterated again.
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return batchesOf(l.loader.Batches(ctx))
}

// batchesOf are the batches that an operation makes.
func batchesOf(batches iter.Seq2[*sampling.Batch, error]) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		var b Batch
		for made, err := range batches {
			if err != nil {
				yield(nil, err)
				return
			}
			if b = (Batch{made.Epoch, made.Number, made.Columns}); !yield(&b, nil) {
				return
			}
		}
	}
}

// EventLoader makes batches of the edges of a store in the order of their times, with the neighbours that their ends had before. The columns of a batch are those
// of docs/events.md. Close it before the store.
type EventLoader struct{ loader *sampling.EventLoader }

// NewEventLoader puts the events of a store in order. It holds them in memory, about 50 bytes per event and 4 per node.
func NewEventLoader(ctx context.Context, st *Store, o option.Events) (*EventLoader, error) {
	l, err := sampling.NewEventLoader(ctx, st.store, o)
	if err != nil {
		return nil, err
	}
	return &EventLoader{l}, nil
}

// Notes says in lines of text which edges are events, and what they take.
func (l *EventLoader) Notes() []string { return l.loader.Notes() }

// Close frees the memory of the loader. None of its batches may be in use.
func (l *EventLoader) Close() { l.loader.Close() }

// Batches iterates over the batches of all epochs, in order. They do not depend on the number of threads. The loader can be iterated again. An error ends the
// iteration: it comes with a nil batch as the last step.
func (l *EventLoader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return batchesOf(l.loader.Batches(ctx))
}

// Batches iterates over the sampled batches of all epochs of a store, with their features, in order. Several batches are
// sampled in memory at a time; they do not depend on the number of threads. An error ends the iteration: it comes with a
// nil batch as the last step.
func Batches(ctx context.Context, st *Store, o option.Batches) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		l, err := NewLoader(ctx, st, o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.Close()
		l.Batches(ctx)(yield)
	}
}

// Question asks for the batch of some seeds.
type Question struct {
	// Seeds are row numbers of the store; those of links are source, target, source, target, ... IDs are the same nodes by their original ids, in place of Seeds.
	Seeds []int64
	IDs   []string
	// Times are the times of the seeds, one for each, where the loader has Before, in the unit of the store's times. FloatTimes are in place of them where the store's are
	// floats.
	Times      []int64
	FloatTimes []float64
	// Epoch and Number are those of the batch whose draws the answer has.
	Epoch  uint64
	Number int
}

// Asker makes the batches of seeds that are asked for: the subgraph of a user in a service. One goroutine uses it at a time; a loader can have many. It is used until its
// loader is closed.
type Asker struct{ asker *sampling.Asker }

// Asker returns an asker. The loader must have the memory executor.
func (l *Loader) Asker() (*Asker, error) {
	a, err := l.loader.Asker()
	if err != nil {
		return nil, err
	}
	return &Asker{a}, nil
}

// Ask returns the batch of some seeds: the one that an iteration would have at this number, if it had these seeds. The batch and its arrays are valid until the next call.
func (a *Asker) Ask(q Question) (*Batch, error) {
	seeds := q.Seeds
	if q.IDs != nil {
		if q.Seeds != nil {
			return nil, errors.New("found `Seeds` and `IDs`, expected one of them: IDs are the original ones; leave one out")
		}
		var err error
		if seeds, err = a.asker.Find(q.IDs); err != nil {
			return nil, err
		}
	}
	b, err := a.asker.Ask(seeds, q.Times, q.FloatTimes, q.Epoch, q.Number)
	if err != nil {
		return nil, err
	}
	return &Batch{b.Epoch, b.Number, b.Columns}, nil
}
