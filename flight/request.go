package flight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/sample"
)

// Request selects the batches of a stream. Its JSON is a ticket, and the command of a descriptor. The empty
// request is all of epoch 0.
type Request struct {
	Epoch uint64 `json:"epoch"`
	// First is the number of the first batch, over all ranks.
	First int `json:"first"`
	// Rank gets the batches First + Rank, First + Rank + World, ... A World of 0 means 1. Tail defines their
	// number and is the name of a batch.Tail: "short", "fill" or "drop". Without Tail, batch.ByRanks applies.
	Rank  int    `json:"rank"`
	World int    `json:"world"`
	Tail  string `json:"tail,omitempty"`
	// Seeds asks for one batch of these nodes instead, with the draws of batch First. Seed links are given as
	// source, target, source, target, ... IDs are the same nodes by their original ids.
	Seeds []int64 `json:"seeds,omitempty"`
	IDs   []ID    `json:"ids,omitempty"`
	// Times are the times of the Seeds or IDs, one for each seed, where the plan looks at times: numbers in the unit of the store's.
	Times []json.Number `json:"times,omitempty"`
}

// ID is an original id: a text or a whole number in JSON.
type ID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *ID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*id = ID(text)
		return nil
	}
	var v uint64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("found the id %s, expected a text or a whole number", b)
	}
	*id = ID(strconv.FormatUint(v, 10))
	return nil
}

// asked is the number of ids of seeds that the request asks for, and whether it asks for some.
func (r *Request) asked() (n int, is bool) {
	return len(r.Seeds) + len(r.IDs), r.Seeds != nil || r.IDs != nil
}

// nodes are the seeds by number: those that are asked for by id are found.
func (r *Request) nodes(src *feed.Source, find Find) ([]int64, error) {
	if r.IDs == nil {
		return r.Seeds, nil
	}
	types := src.SeedTypes()
	var seeds []int64
	for i, id := range r.IDs {
		t := types[i%len(types)]
		v, ok := find(t, string(id))
		if !ok {
			return nil, fmt.Errorf("seed %d: found the id %q, expected the id of a node of type %s of the store", i/len(types), string(id), t)
		}
		seeds = append(seeds, v)
	}
	return seeds, nil
}

// times are the times of the seeds; nil where there are none.
func (r *Request) times() (times []sample.Time, err error) {
	for i, text := range r.Times {
		if v, err := text.Int64(); err == nil {
			times = append(times, sample.IntTime(v))
			continue
		}
		v, err := text.Float64()
		if err != nil {
			return nil, fmt.Errorf("time %d: found %s, expected a number", i, text)
		}
		times = append(times, sample.FloatTime(v))
	}
	return times, nil
}

// parseRequest reads a request for the batches of src.
func parseRequest(b []byte, src *feed.Source) (*Request, error) {
	r := &Request{}
	if len(b) > 0 {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(r); err != nil {
			return nil, fmt.Errorf(`reading the request: %w; expected JSON such as {"epoch":0,"first":0,"rank":0,"world":1}`, err)
		}
		if _, err := d.Token(); err != io.EOF {
			return nil, fmt.Errorf("reading the request: found more after byte %d, expected one JSON object", d.InputOffset())
		}
	}
	if r.World == 0 {
		r.World = 1
	}
	if _, err := feed.ParseTail(r.Tail); err != nil {
		return nil, err
	}
	ids, asks := r.asked()
	seeds := ids / len(src.SeedTypes())
	switch {
	case r.Seeds != nil && r.IDs != nil:
		return nil, errors.New("found seeds and ids, expected one of them: ids are the original ones")
	case r.Times != nil && !asks:
		return nil, errors.New("found times without seeds or ids, expected them together")
	case r.World < 1 || r.World > feed.MostRanks:
		return nil, fmt.Errorf("found a world of %d, expected 1 to %d", r.World, feed.MostRanks)
	case r.Rank < 0 || r.Rank >= r.World:
		return nil, fmt.Errorf("found rank %d of %d, expected 0 to %d", r.Rank, r.World, r.World-1)
	case asks && (seeds < 1 || seeds > src.BatchSize()):
		return nil, fmt.Errorf("found %d seeds, expected 1 to %d, the batch size of the server", seeds, src.BatchSize())
	case asks && r.World != 1:
		return nil, fmt.Errorf("found seeds and a world of %d, expected one of them", r.World)
	case asks && r.Tail != "":
		return nil, fmt.Errorf("found seeds and the tail %q, expected one of them", r.Tail)
	case r.First < 0:
		return nil, fmt.Errorf("found a start at batch %d, expected at least 0", r.First)
	case !asks:
		if err := src.CheckFirst(uint64(r.First), r.World); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// batches is the number of batches of the request.
func (r *Request) batches(src *feed.Source) int {
	if _, asks := r.asked(); asks {
		return 1
	}
	tail, _ := feed.ParseTail(r.Tail) // parseRequest checked it
	return max(0, (src.End(tail, r.First, r.World)-r.First-r.Rank+r.World-1)/r.World)
}
