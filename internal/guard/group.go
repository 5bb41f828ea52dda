package guard

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Group is an errgroup.Group whose functions run inside Do. The zero Group is ready: it has no context and no limit.
type Group struct {
	plain  errgroup.Group
	cancel *errgroup.Group // of WithContext; nil for the zero Group
}

// WithContext makes a Group. The first error of a function ends the context.
func WithContext(ctx context.Context) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return &Group{cancel: g}, ctx
}

func (g *Group) group() *errgroup.Group {
	if g.cancel != nil {
		return g.cancel
	}
	return &g.plain
}

// Go calls f in a goroutine, as soon as the limit allows.
func (g *Group) Go(f func() error) {
	g.group().Go(func() error { return Do(f) })
}

// TryGo is Go where the limit allows it now, and says whether it does.
func (g *Group) TryGo(f func() error) bool {
	return g.group().TryGo(func() error { return Do(f) })
}

// SetLimit bounds the number of goroutines at a time.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Wait waits for all functions, and returns the first error.
func (g *Group) Wait() error { return g.group().Wait() }
