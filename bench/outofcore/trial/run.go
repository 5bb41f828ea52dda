//go:build unix

package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/graphmill/graphmill/bench/outofcore/streamer"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/tagged"
)

// inMemory samples in memory, after an epoch that is not timed.
func inMemory(ctx context.Context, t *trial) error {
	s, err := sample.New(t.s.Graph, t.plan, sample.Options{Memory: math.MaxInt64, NoEdgeIDs: t.o.NoEdgeIDs, Warn: t.o.Warn})
	if err != nil {
		return err
	}
	defer s.Close()
	warm := t.job
	warm.Epochs, warm.Epoch = 1, uint64(t.Epochs)
	drop := func(*digest) error { return nil }
	if _, err := sample.Run(ctx, s, warm, newDigest, (*digest).set, drop); err != nil {
		return err
	}
	return t.whole(func(sink func(*digest) error) (sample.Stats, error) {
		return sample.Run(ctx, s, t.job, newDigest, (*digest).set, sink)
	})
}

// streamed samples by the stream executor.
func streamed(ctx context.Context, t *trial) (err error) {
	opt := outofcore.Options{Memory: t.Memory, Threads: t.o.Threads, NoEdgeIDs: t.o.NoEdgeIDs, Design: t.how, Epochs: t.stage, Scratch: t.o.Scratch, Held: int64(4 * len(t.job.Seeds)), Warn: t.o.Warn}
	if opt.Scratch == "" {
		opt.Scratch = filepath.Dir(filepath.Clean(t.s.Dir))
	}
	if t.window {
		opt.Window = int(t.job.EpochBatches(1))
	}
	x, err := outofcore.Open(ctx, t.fs, t.s, t.plan, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := t.whole(func(sink func(*digest) error) (sample.Stats, error) {
		return outofcore.Run(ctx, x, t.job, newDigest, func(_ context.Context, d *digest, b *sample.Batch, sub *sample.Subgraph) error { return d.set(b, sub) }, sink)
	}); err != nil {
		return err
	}
	c := x.Counts()
	t.r.Counted, t.r.Sweeps = float64(c.Bytes)/float64(t.Epochs), c.Sweeps
	return nil
}

// whole times a run of all epochs.
func (t *trial) whole(run func(sink func(*digest) error) (sample.Stats, error)) error {
	if err := t.start(); err != nil {
		return err
	}
	sum := uint64(0)
	stats, err := run(func(d *digest) error { sum += d.sum; return nil })
	if err != nil {
		return err
	}
	t.r.Batches, t.r.Digest = stats.Batches, fmt.Sprintf("%016x", sum)
	return t.stop(float64(t.Epochs), stats.Drawn)
}

// chunks samples by the streamer, in the order of the first epoch.
func chunks(ctx context.Context, t *trial) error {
	if t.o.Chunks == "" {
		return tagged.Errorf(ErrOptions, "found no folder of chunks, expected one; make it with graphmill chunk, and name it in `Chunks`")
	}
	o := streamer.Options{Seed: t.o.Seed, Epochs: t.Epochs, Threads: t.o.Threads}
	for _, op := range t.plan.Ops {
		o.Fanouts = append(o.Fanouts, op.Take)
	}
	order := draw.NewOrder(uint64(len(t.job.Seeds)), draw.Key(t.o.Seed, 0, draw.OrderWord))
	at := make([]uint64, len(t.job.Seeds))
	order.Fill(at, 0)
	for _, i := range at {
		o.Seeds = append(o.Seeds, t.job.Seeds[i])
	}
	defer raiseProcs(4 * t.o.Threads)()
	if err := t.start(); err != nil {
		return err
	}
	race, err := streamer.Bench(ctx, t.fs, t.o.Chunks, t.plan.Ops[0].Edges, o, t.o.BatchSize)
	if err != nil {
		return err
	}
	t.r.Batches, t.r.Counted = uint64(race.Batches), float64(race.BytesRead)/float64(t.Epochs)
	return t.stop(float64(t.Epochs), race.Edges)
}
