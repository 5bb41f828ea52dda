package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// errNotCollection is wrapped by the error about a store that is not a collection, errStore by that about a store
// that the collection was not sampled from.
var (
	errNotCollection = errors.New("not a collection")
	errStore         = errors.New("not the store of the collection")
	// errMemory is the kind of errors about a memory budget that is below the minimum.
	errMemory = tagged.Errorf(limits.ErrMemory, "memory budget too small")
)

// Options say what is written and how.
type Options struct {
	Name   string // as in shards.Options
	Shards int
	Gzip   bool
	// Store is the store that the collection was sampled from, whose columns are joined. Nil joins nothing.
	Store   *store.Store
	Threads int   // 0: 1
	Memory  int64 // bytes; 0: no bound
	// Progress, if not nil, receives the number of graphs of each step.
	Progress func(graphs int)
}

// Result describes what was written.
type Result struct {
	Schema *tfgnnpb.GraphSchema
	Bytes  int64 // size of the TFRecords
	// Left names the content of the collection that the Examples do not have.
	Left []string
	// Rounded lists the columns with values of float64 that are not float32.
	Rounded []string
	// Narrowed counts the values that underflow, by feature.
	examplecolumns.Narrowed
	// Nodes and Edges are the sizes of the graphs.
	Nodes, Edges report.Histogram
}

const (
	// chunkGraphs bounds the number of graphs that a worker takes at a time, and chunkBytes about bounds their bytes:
	// enough for large writes, and few enough for the cache.
	chunkGraphs = 256
	chunkBytes  = 1 << 20
	// baseBytes is the memory of an export in any case: of the program, and of mapped pages. chunkFactor and workerFactor
	// bound the ratio of memory to the bytes of a chunk.
	baseBytes    = limits.ProcessBytes + 22<<20
	chunkFactor  = 3
	workerFactor = 6
)

// encoder encodes graphs for one goroutine.
type encoder interface {
	// encode returns the bytes of a graph, which are valid until the next call.
	encode(graph int) ([]byte, error)
	// narrowed returns the counts of doubles that lost digits. The caller clears them after adding them up.
	narrowed() *examplecolumns.Narrowed
}

// source says how the graphs of a collection become Examples: from its own columns, or joined with columns of a store.
type source interface {
	schema() *tfgnnpb.GraphSchema
	newEncoder() encoder
}

// TFRecords writes the graphs of a collection into w: the records and output.SchemaFile. The caller seals w.
func TFRecords(ctx context.Context, fsys vfs.FS, w *store.Writer, s *store.Store, opt Options) (_ *Result, err error) {
	opt.Threads = max(1, opt.Threads)
	c := s.Collection
	if c == nil {
		return nil, fmt.Errorf("%s: %w: found a %s, expected many graphs; sample it, or read TFRecords with `Schema`", s.Dir, errNotCollection, s.Meta.Kind)
	}
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	r := &Result{}
	src, features, err := sourceOf(fsys, s, opt.Store, r)
	if err != nil {
		return nil, err
	}
	r.Schema = src.schema()
	if opt.Memory > 0 { // values were read to find out whether they are rounded
		if err := s.Release(); err != nil {
			return nil, err
		}
	}
	weight, err := newWeights(s, opt.Store, features)
	if err != nil {
		return nil, err
	}
	if err := weight.fits(&opt); err != nil {
		return nil, err
	}
	files, err := shards.New(w, shards.Options{Name: opt.Name, Shards: opt.Shards, Gzip: opt.Gzip, Records: uint64(c.Graphs)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	next, unreleased := 0, int64(0)
	err = ordered.Run(ctx, opt.Threads, src.newEncoder, func() *chunk { return &chunk{dir: s.Dir, records: files.NewChunk()} }, ordered.Stages[encoder, *chunk]{
		Fill: func(k *chunk) error {
			if next == c.Graphs {
				return io.EOF
			}
			k.first, next = next, weight.end(next)
			k.end = next
			return nil
		},
		Work: func(ctx context.Context, e encoder, k *chunk) error { return k.encode(ctx, e, weight) },
		Sink: func(k *chunk) error {
			if err := files.Write(k.records); err != nil {
				return err
			}
			r.Narrowed.Add(k.narrowed.Underflows)
			clear(k.narrowed.Underflows)
			r.Nodes.Merge(&k.nodes)
			r.Edges.Merge(&k.edges)
			k.nodes.Reset()
			k.edges.Reset()
			if opt.Progress != nil {
				opt.Progress(k.end - k.first)
			}
			// The pages before this point are not needed again. Mapped pages count towards the budget.
			unreleased += k.bytes
			if opt.Memory > 0 && unreleased > (opt.Memory-baseBytes)/16 {
				unreleased = 0
				return s.Release()
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if err := files.Finish(); err != nil {
		return nil, err
	}
	r.Bytes = files.Bytes()
	return r, w.WriteFile(output.SchemaFile, tfgnn.AppendText(nil, r.Schema))
}

// sourceOf returns what the Examples of a collection are made of: its own columns or, where from is given, the columns and features of the store that it was sampled from.
func sourceOf(fsys vfs.FS, s, from *store.Store, r *Result) (src source, features *widening.Features, err error) {
	if from == nil {
		src, err = newOwn(fsys, s, r)
	} else {
		if features, err = widening.Read(fsys, from.Dir); err != nil {
			return nil, nil, err
		}
		src, err = newJoined(fsys, s, from, features, r)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	return src, features, nil
}

// chunk is the graphs [first, end).
type chunk struct {
	dir          string // folder of the collection
	first, end   int
	bytes        int64
	records      *shards.Chunk
	nodes, edges report.Histogram
	narrowed     examplecolumns.Narrowed
}

func (k *chunk) encode(ctx context.Context, e encoder, weight *weights) error {
	k.bytes = 0
	for g := k.first; g < k.end; g++ {
		if (g-k.first)%64 == 63 && ctx.Err() != nil {
			return ctx.Err()
		}
		record, err := e.encode(g)
		if err != nil {
			return fmt.Errorf("%s: graph %d: %w", k.dir, g, err)
		}
		if err := k.records.Append(record, uint64(g)); err != nil {
			return fmt.Errorf("graph %d: %w", g, err)
		}
		k.bytes += int64(len(record))
		nodes, edges := weight.sizes(g)
		k.nodes.Add(nodes)
		k.edges.Add(edges)
	}
	k.narrowed.Add(e.narrowed().Underflows)
	clear(e.narrowed().Underflows)
	return k.records.End()
}

// fits checks that the budget is enough for an export.
func (w *weights) fits(opt *Options) error {
	if opt.Memory == 0 {
		return nil
	}
	largest := int64(chunkBytes)
	for g := range w.graphs {
		largest = max(largest, w.of(g))
	}
	least := baseBytes + w.joined + largest*int64(chunkFactor*ordered.Slots(opt.Threads)+workerFactor*opt.Threads)
	if opt.Memory < least {
		return tagged.Errorf(errMemory, "found `Memory` %s, expected at least %d MiB for %d threads; give more `Memory` or fewer `Threads`", human.Bytes(opt.Memory), (least+1<<20-1)>>20, opt.Threads)
	}
	return nil
}
