//go:build unix

package trial

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

const (
	// turns is the number of times that each contestant reads the files. The best counts.
	turns = 3
	// readBytes is the size of a sequential read.
	readBytes = 1 << 20
)

// array is an array that a plan reads in addition to the offsets of the nodes.
type array struct {
	path   string
	start  int64  // offset of the values
	values []byte // mapped
}

// arrays is the far ends, and the edge ids where they are stored apart.
func (t *trial) arrays() []array {
	var list []array
	seen := map[string]bool{}
	for _, op := range t.plan.Ops {
		e, err := t.s.Graph.EdgeType(op.Edges)
		if err != nil || seen[op.Edges] || t.s.Graph.Edges[e].Adj[op.Dir] == nil {
			continue // the op is refused later, or its neighbours are built in memory
		}
		seen[op.Edges] = true
		edges := t.s.Graph.Edges[e]
		adj, names := edges.Adj[op.Dir], []string{"far", ""}
		if op.Dir != edges.Primary {
			names = []string{"other_far", "other_edge_id"}
		}
		for i, x := range []graph.Index{adj.Far, adj.EdgeID} {
			if x.Len() == 0 {
				continue
			}
			a := array{values: graph.Bytes(x.U32)}
			if x.U64 != nil {
				a.values = graph.Bytes(x.U64)
			}
			a.path, a.start = t.s.ArrayFile(t.s.Meta.Edges[edges.Type.String()].Arrays[names[i]])
			list = append(list, a)
		}
	}
	return list
}

// sweeps reads the files by the readers of the stream executor and sequentially, in turns.
func sweeps(ctx context.Context, t *trial) (err error) {
	x, err := outofcore.Open(ctx, t.fs, t.s, t.plan, outofcore.Options{Threads: t.o.Threads, Warn: t.o.Warn})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	var files []*direct.File
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	size := int64(0)
	for _, a := range t.arrays() {
		f, err := direct.Open(t.fs, a.path)
		if err != nil {
			return err
		}
		files = append(files, f)
		size += f.Size()
	}
	defer raiseProcs(4 * t.o.Threads)()
	best := 0.0
	for range turns {
		if err := t.start(); err != nil {
			return err
		}
		before := x.Counts().Bytes
		if err := x.Sweep(ctx); err != nil {
			return err
		}
		end, err := now(t.fs)
		if err != nil {
			return err
		}
		if u := end.since(t.clock); best == 0 || u.seconds < best {
			best = u.seconds
			t.note(u, 1, 0)
			t.r.Counted, t.r.Sweeps = float64(x.Counts().Bytes-before), 1
			t.r.SweepRate = t.r.Counted / u.seconds
		}
		for _, readers := range []int{4, 8} {
			rate, err := t.inSequence(ctx, files, readers)
			if err != nil {
				return err
			}
			t.r.SequenceRate = max(t.r.SequenceRate, rate)
		}
	}
	return nil
}

// inSequence reads whole files, some MiB at a time, and returns the bytes per second.
func (t *trial) inSequence(ctx context.Context, files []*direct.File, readers int) (float64, error) {
	buf, free, err := direct.Alloc(readers * readBytes)
	if err != nil {
		return 0, err
	}
	defer free()
	start, err := now(t.fs)
	if err != nil {
		return 0, err
	}
	var sum atomic.Int64
	for _, f := range files {
		var next atomic.Int64
		g, ctx := errgroup.WithContext(ctx)
		for i := range readers {
			g.Go(func() error {
				for ctx.Err() == nil {
					off := (next.Add(1) - 1) * readBytes
					if off >= f.Size() {
						return nil
					}
					n, err := f.ReadAt(buf[i*readBytes:][:readBytes], off)
					if err != nil {
						return err
					}
					sum.Add(int64(n))
				}
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
	}
	end, err := now(t.fs)
	return float64(sum.Load()) / end.since(start).seconds, err
}

// raiseProcs makes room for goroutines that wait for the disk, which still count towards GOMAXPROCS for a while. It
// returns a function that undoes it.
func raiseProcs(n int) (undo func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(before, n))
	return func() { runtime.GOMAXPROCS(before) }
}
