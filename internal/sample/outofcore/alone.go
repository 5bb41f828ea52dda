package outofcore

import (
	"context"

	"github.com/graphmill/graphmill/internal/sample"
)

// Sweep reads the files of neighbours once, whole, as a sweep does of which every block
// is wanted, and serves nothing: what a sweep costs at least.
func (x *Executor) Sweep(ctx context.Context) error {
	defer raiseProcs(x.opt.Threads)()
	var job sample.Job
	p, err := x.newPipeline(&job, &sample.Batches{})
	if err != nil {
		return err
	}
	defer p.close()
	return p.pass(ctx, func(r *reader, block uint32) error {
		f := x.fileAt(block)
		return r.read(f, block-f.first)
	})
}
