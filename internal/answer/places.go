package answer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrBusy is the kind of errors of questions that a server refuses because it has too much work.
var ErrBusy = errors.New("the server has too much work")

// Places bounds the questions that are worked on at a time, and those that wait.
type Places struct {
	free    chan struct{}
	waiting atomic.Int64
	most    int64
}

// NewPlaces returns the given number of places, and bounds the number of questions that wait for one.
func NewPlaces(places, waiting int) *Places {
	return &Places{free: make(chan struct{}, places), most: int64(waiting)}
}

// Enter takes a place, and waits for one if necessary. Where too many wait already, it returns ErrBusy at once.
func (p *Places) Enter(ctx context.Context) error {
	select {
	case p.free <- struct{}{}:
		return nil
	default:
	}
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > p.most {
		return fmt.Errorf("found %d questions that wait, expected at most as many; ask again later, or give the server more threads: %w", p.most, ErrBusy)
	}
	return p.Wait(ctx)
}

// Wait takes a place, however many wait: for what is bounded by something else.
func (p *Places) Wait(ctx context.Context) error {
	select {
	case p.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave gives a place back.
func (p *Places) Leave() { <-p.free }

// Waiting is the number of questions that wait.
func (p *Places) Waiting() int { return int(p.waiting.Load()) }

// Working is the number of questions that are worked on.
func (p *Places) Working() int { return len(p.free) }
