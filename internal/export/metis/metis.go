package metis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/format/metis"
	"github.com/graphmill/graphmill/internal/export/replaceable"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options say how the file is made.
type Options struct {
	Force   bool // replace an existing file
	Threads int  // at least 1
	// Memory bounds the peak, in bytes; 0: no bound. Write refuses a bound that cannot hold the graph.
	Memory int64
}

// errMemory is wrapped by errors about a memory bound that cannot hold the graph.
var errMemory = tagged.Errorf(limits.ErrMemory, "memory too small")

// mappedBytes is the memory of the mapped pages of the store, and of buffers.
const mappedBytes = 6 << 20

// beside returns the part of the memory bound that is left in addition to the graph.
func beside(s *store.Store, memory int64) (int64, error) {
	if memory == 0 {
		return 0, nil
	}
	pairs, err := undirected.Pairs(s)
	if err != nil {
		return 0, err
	}
	nodes := undirected.Starts(s.Graph)[len(s.Graph.Nodes)]
	least := limits.ProcessBytes + mappedBytes + 8*pairs + 4*int64(nodes)
	if least > memory {
		return 0, fmt.Errorf("%s: %w: found a bound of %s, expected at least %s; raise `Memory`", s.Dir, errMemory, human.Bytes(memory), human.Bytes(least))
	}
	return max(1, memory-least), nil
}

// Result counts what was written.
type Result struct {
	Nodes, Edges, Pairs int64
	Bytes               int64
	Building, Writing   time.Duration
}

// isHead says whether the first bytes of a file begin with a header of ours: the numbers of nodes and pairs.
func isHead(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte("\n"))
	fields := bytes.Split(line, []byte(" "))
	return whole && len(fields) == 2 && !slices.ContainsFunc(fields, func(f []byte) bool { _, err := strconv.ParseUint(string(f), 10, 63); return err != nil })
}

// Write writes the file out completely, or not at all.
func Write(ctx context.Context, fsys vfs.FS, out string, s *store.Store, o Options) (r *Result, err error) {
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store; METIS files hold one graph; export one store", s.Dir)
	}
	if err := replaceable.File(fsys, out, o.Force, isHead); err != nil {
		return nil, err
	}
	if err := errors.Join(s.Check(ctx), s.Release()); err != nil {
		return nil, err
	}
	memory, err := beside(s, o.Memory)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(filepath.Clean(out))
	start := time.Now()
	g, err := undirected.Build(ctx, s, undirected.BuildOptions{Threads: o.Threads, Memory: memory, FS: fsys, Temp: filepath.Clean(dir + ".")})
	if err != nil {
		return nil, err
	}
	r = &Result{Nodes: int64(g.Len()), Pairs: int64(g.Pairs()), Building: time.Since(start)}
	for _, e := range s.Graph.Edges {
		r.Edges += int64(e.Count)
	}
	start = time.Now()
	tmp := filepath.Join(dir, "."+base+".partial")
	if err := fsys.RemoveAll(tmp); err != nil {
		return nil, err
	}
	f, err := fsys.Create(tmp)
	if err != nil {
		return nil, err
	}
	err = metis.Write(stoppable{ctx, f}, &metis.Graph{Offsets: g.Offsets, Neighbours: g.Neighbours, Constraints: 1})
	if err == nil {
		err = r.measure(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(tmp, out)
	}
	if err != nil {
		return nil, errors.Join(err, fsys.RemoveAll(tmp))
	}
	r.Writing = time.Since(start)
	return r, store.Whole(out, fsys.SyncDir(filepath.Clean(dir+".")))
}

// measure sets Bytes to the size of a file.
func (r *Result) measure(f vfs.File) error {
	info, err := f.Stat()
	if err == nil {
		r.Bytes = info.Size()
	}
	return err
}

// stoppable is a file that is written until the context ends.
type stoppable struct {
	ctx context.Context
	vfs.File
}

func (s stoppable) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.File.Write(b)
}
