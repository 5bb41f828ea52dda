package output

import (
	"context"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// runExecutor is sample.Run or, where x is not nil, outofcore.Run. s is then the sampler of x.
func runExecutor[T any](ctx context.Context, s *sample.Sampler, x *outofcore.Executor, job sample.Job, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (sample.Stats, error) {
	if x != nil {
		return outofcore.Run(ctx, x, job, newOut, func(_ context.Context, out T, b *sample.Batch, sub *sample.Subgraph) error {
			return encode(out, b, sub)
		}, sink)
	}
	return sample.Run(ctx, s, job, newOut, encode, sink)
}
