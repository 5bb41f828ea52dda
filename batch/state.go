package batch

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/draw"
)

// State is the position of an iteration, for Resume. It is the same for all ranks, and another number of ranks can
// resume from it.
type State struct {
	Version int    `json:"version"` // of the draw law
	Data    string `json:"data"`    // fingerprint of columns and options
	Seed    uint64 `json:"seed"`
	Epoch   uint64 `json:"epoch"`
	// Batch is the number of batches of the epoch that have been taken, over all ranks. Each rank has taken as many.
	Batch int `json:"batch"`
}

// ErrState is the kind of errors about the state of another iterator.
var ErrState = errors.New("state does not match")

// State is the position after the last batch that was handed out, or the beginning before the first.
func (it *Iter) State() State {
	s := it.at
	s.Version, s.Data, s.Seed = draw.Version, it.fingerprint(), it.o.Seed
	return s
}

// Resume makes the next call of All continue after the batches that a state counts. The error for a state of other data
// or options wraps ErrState and says what differs.
func (it *Iter) Resume(s State) error {
	switch data := it.fingerprint(); {
	case s.Version != draw.Version:
		return fmt.Errorf("%w: found version %d of the draw law, expected %d; the order of an epoch differs, so begin an epoch anew or use the release that made the state", ErrState, s.Version, draw.Version)
	case s.Seed != it.o.Seed:
		return fmt.Errorf("%w: found seed %d, expected %d", ErrState, s.Seed, it.o.Seed)
	case s.Data != data:
		return fmt.Errorf("%w: found data %s, expected %s; the columns, the order, the batch size or the tail differ", ErrState, s.Data, data)
	}
	if n := it.pass(s.Epoch).batches(); s.Batch < 0 || s.Batch > n {
		return fmt.Errorf("%w: found %d batches taken, expected at most %d", ErrState, s.Batch, n)
	}
	it.epoch, it.skip, it.at = s.Epoch, s.Batch, State{Epoch: s.Epoch, Batch: s.Batch}
	return nil
}

// fingerprint is a hash of everything that determines the batches: the shapes of the columns, samples of their values,
// the order, and the options except the ranks.
func (it *Iter) fingerprint() string {
	h := xxh3.New()
	text := func(format string, args ...any) { fmt.Fprintf(h, format+"\x00", args...) }
	tail := it.o.Tail
	if tail == Fill {
		tail = Short // the same batches: the default depends on the ranks
	}
	text("%s size %d tail %s %+v rows %d", it.o.Order, it.o.Size, tail, it.g, it.rows)
	var word [8]byte
	for _, p := range it.ptr {
		binary.LittleEndian.PutUint64(word[:], p)
		_, _ = h.Write(word[:])
	}
	for _, c := range it.columns {
		text("%s %s %v", c.Name, c.DType, c.Shape)
		const pieces, piece = 64, 4 << 10
		for i := range pieces {
			from := len(c.Values) / pieces * i
			_, _ = h.Write(c.Values[from:min(from+piece, len(c.Values))])
		}
		_, _ = h.Write(c.Values[max(0, len(c.Values)-piece):])
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
