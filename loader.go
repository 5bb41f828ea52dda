package graphmill

import (
	"context"
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
