package flight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/feed"
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
	// source, target, source, target, ...
	Seeds []int64 `json:"seeds,omitempty"`
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
	seeds := len(r.Seeds) / len(src.SeedTypes())
	switch {
	case r.World < 1 || r.World > feed.MostRanks:
		return nil, fmt.Errorf("found a world of %d, expected 1 to %d", r.World, feed.MostRanks)
	case r.Rank < 0 || r.Rank >= r.World:
		return nil, fmt.Errorf("found rank %d of %d, expected 0 to %d", r.Rank, r.World, r.World-1)
	case r.Seeds != nil && (seeds < 1 || seeds > src.BatchSize()):
		return nil, fmt.Errorf("found %d seeds, expected 1 to %d, the batch size of the server", seeds, src.BatchSize())
	case r.Seeds != nil && r.World != 1:
		return nil, fmt.Errorf("found seeds and a world of %d, expected one of them", r.World)
	case r.Seeds != nil && r.Tail != "":
		return nil, fmt.Errorf("found seeds and the tail %q, expected one of them", r.Tail)
	case r.First < 0:
		return nil, fmt.Errorf("found a start at batch %d, expected at least 0", r.First)
	case r.Seeds == nil:
		if err := src.CheckFirst(uint64(r.First), r.World); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// batches is the number of batches of the request.
func (r *Request) batches(src *feed.Source) int {
	if r.Seeds != nil {
		return 1
	}
	tail, _ := feed.ParseTail(r.Tail) // parseRequest checked it
	return max(0, (src.End(tail, r.First, r.World)-r.First-r.Rank+r.World-1)/r.World)
}
