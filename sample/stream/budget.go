package stream

import (
	"context"

	"github.com/graphmill/graphmill/sample"
)

const (
	processBytes = 24 << 20 // what the program holds before it works
	edgeBytes    = 12       // of a window's sampled edge: its results, requests, and the overlapped emission
)

// fixed is what a run holds whatever the graph.
func (x *Executor) fixed() int64 {
	return processBytes + x.opt.Held + readers*blockBytes
}

// windowOf is the batches of a window.
func (x *Executor) windowOf(_ context.Context, _ *sample.Job, total uint64) (uint64, error) {
	if x.opt.Window > 0 {
		return uint64(x.opt.Window), nil
	}
	return max(total, 1), nil
}
