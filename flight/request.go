package flight

import (
	"fmt"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
)

// Request selects the batches of a stream. Its JSON is a ticket, and the command of a descriptor. The empty
// request is all of epoch 0.
type Request struct {
	// Plan is the name of the plan whose batches these are; "" is the default one.
	Plan  string `json:"plan,omitempty"`
	Epoch uint64 `json:"epoch"`
	// First is the number of the first batch, over all ranks.
	First int `json:"first"`
	// Rank gets the batches First + Rank, First + Rank + World, ... A World of 0 means 1. Tail defines their
	// number and is the name of a batch.Tail: "short", "fill" or "drop". Without Tail, batch.ByRanks applies.
	Rank  int    `json:"rank"`
	World int    `json:"world"`
	Tail  string `json:"tail,omitempty"`
	// Asked asks for one batch of these seeds instead, with the draws of batch First.
	answer.Asked
}

// parseRequest reads a request. Its check says whether a plan has the batches.
func parseRequest(b []byte) (*Request, error) {
	r := &Request{}
	if len(b) > 0 {
		if err := answer.Parse(b, r, `{"epoch":0,"first":0,"rank":0,"world":1}`); err != nil {
			return nil, err
		}
	}
	if r.World == 0 {
		r.World = 1
	}
	return r, nil
}

// check refuses batches that a plan does not have.
func (r *Request) check(p *answer.Plan) error {
	src := p.Source
	if _, err := feed.ParseTail(r.Tail); err != nil {
		return err
	}
	if err := r.Check(src); err != nil {
		return err
	}
	switch {
	case r.World < 1 || r.World > feed.MostRanks:
		return fmt.Errorf("found a world of %d, expected 1 to %d", r.World, feed.MostRanks)
	case r.Rank < 0 || r.Rank >= r.World:
		return fmt.Errorf("found rank %d of %d, expected 0 to %d", r.Rank, r.World, r.World-1)
	case r.Is() && r.World != 1:
		return fmt.Errorf("found seeds and a world of %d, expected one of them", r.World)
	case r.Is() && r.Tail != "":
		return fmt.Errorf("found seeds and the tail %q, expected one of them", r.Tail)
	case r.First < 0:
		return fmt.Errorf("found a start at batch %d, expected at least 0", r.First)
	case !r.Is():
		if err := src.CheckFirst(uint64(r.First), r.World); err != nil {
			return err
		}
	}
	return r.CheckIDs(p)
}

// batches is the number of batches of the request.
func (r *Request) batches(src *feed.Source) int {
	if r.Is() {
		return 1
	}
	tail, _ := feed.ParseTail(r.Tail) // parseRequest checked it
	return max(0, (src.End(tail, r.First, r.World)-r.First-r.Rank+r.World-1)/r.World)
}
