package records

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// schemaFile is the name of the schema file in a collection.
const schemaFile = "schema.pbtxt"

// errMemory is the kind of errors about a memory budget that is below the minimum, or too small for a record.
var errMemory = tagged.Errorf(limits.ErrMemory, "memory budget too small")

// Options say how records are read.
type Options struct {
	// Schema is the schema of the records. It must pass tfgnn.CheckSchema.
	Schema *tfgnnpb.GraphSchema
	// Lenient repairs records as example.Codec does.
	Lenient bool
	Threads int   // 0: 1
	Memory  int64 // bytes; 0: no bound
	// Progress, if not nil, receives the number of bytes of each read of the files. One goroutine at a time calls it.
	Progress func(bytes int64)
}

// Result describes what an import made and what it lost.
type Result struct {
	Meta *store.Meta // all of it except Made
	// Unknown lists the keys that the schema does not have, sorted, and the number of records that have each.
	// OtherUnknown counts the keys after the first thousand.
	Unknown      []Counted
	OtherUnknown uint64
	// Rounded lists the features, as keys of an Example, whose values were rounded to half or bfloat16, and the
	// number of these values.
	Rounded []Counted
	// Repaired is the number of records that a lenient decoder repaired. Repairs describes the changes of the first
	// of them.
	Repaired uint64
	Repairs  []string
	// Nodes and Edges are the sizes of the graphs.
	Nodes, Edges report.Histogram
}

// Counted is a name and how often it was found.
type Counted struct {
	Name  string
	Count uint64
}

const (
	maxUnknown = 1000 // maximum number of names that are kept
	maxRepairs = 10
)

// Bytes that an import holds in any case, and upper bounds of the ratio of memory to the bytes of records: in a chunk
// (where a byte can become a value of eight, in addition to the bytes that were read), and in a worker (the views and
// values of one record).
const (
	baseBytes    = limits.ProcessBytes + 22<<20
	arrayBytes   = 72 << 10
	chunkFactor  = 14
	workerFactor = 40
	rowsFactor   = 8 // the share of chunkFactor for the rows of a chunk
	minChunk     = 32 << 10
	maxChunk     = 1 << 20
)

// budget returns the number of bytes of records per chunk, and the bytes of the longest record.
func (i *importer) budget() (chunk int, record int64, err error) {
	if i.opt.Memory == 0 {
		return maxChunk, math.MaxInt32, nil
	}
	factor := int64(chunkFactor*ordered.Slots(i.opt.Threads) + workerFactor*i.opt.Threads)
	left := i.opt.Memory - baseBytes - int64(i.arrays)*arrayBytes
	if left < factor*minChunk {
		least := baseBytes + int64(i.arrays)*arrayBytes + factor*minChunk
		return 0, 0, tagged.Errorf(errMemory, "found `Memory` %s, expected at least %d MiB for %d threads and %d arrays; give more `Memory` or fewer `Threads`",
			human.Bytes(i.opt.Memory), (least+1<<20-1)>>20, i.opt.Threads, i.arrays)
	}
	// One half is for chunks, the other for a record that does not fit into a chunk.
	return int(min(maxChunk, left/factor/2)), min(left/factor, math.MaxInt32), nil
}

// importer is one import.
type importer struct {
	ctx    context.Context
	w      *store.Writer
	opt    Options
	codec  *example.Codec
	sets   []setPlan // the context, node sets and edge sets, each sorted by name
	arrays int
	plain  []byte // the form with all codes 0
	chunk  int
	source *recordfiles.Files
	end    error // the source's error or io.EOF, once the source has ended
	result *Result
	sink   sink
}

// Import reads the records of files, in order, into the arrays of a collection in w. The caller seals w.
func Import(ctx context.Context, fsys vfs.FS, w *store.Writer, files []string, opt Options) (_ *Result, err error) {
	opt.Threads = max(1, opt.Threads)
	i := &importer{ctx: ctx, w: w, opt: opt, result: &Result{}}
	if i.codec, err = example.NewCodec(opt.Schema); err != nil {
		return nil, err
	}
	i.plain = make([]byte, i.codec.FormSize())
	if err := i.plan(); err != nil {
		return nil, err
	}
	var longest int64
	if i.chunk, longest, err = i.budget(); err != nil {
		return nil, err
	}
	i.source = recordfiles.New(fsys, files, opt.Progress)
	i.source.Limit(longest)
	defer func() { err = errors.Join(err, i.source.Close(), i.sink.close()) }()
	if err := i.sink.begin(i); err != nil {
		return nil, err
	}
	err = ordered.Run(ctx, opt.Threads, i.newWorker, i.newChunk, ordered.Stages[*worker, *chunk]{
		Fill: i.fill, Work: func(_ context.Context, w *worker, c *chunk) error { return i.decode(w, c) }, Sink: i.sink.take,
	})
	if err != nil {
		return nil, err
	}
	if err := i.sink.finish(); err != nil {
		return nil, err
	}
	return i.result, w.WriteFile(schemaFile, tfgnn.AppendText(nil, opt.Schema))
}

// fill reads the records of a chunk.
func (i *importer) fill(c *chunk) error {
	for i.end == nil && len(c.data) < i.chunk {
		record, at, err := i.source.Next()
		switch {
		case err == nil:
		case errors.Is(err, tfrecord.ErrTooLong) && i.opt.Memory > 0:
			i.end = tagged.Errorf(errMemory, "%w; give more `Memory`, or fewer `Threads`", err)
		default:
			i.end = err
		}
		if i.end != nil {
			break // the next call returns it, since an earlier record may have an error too
		}
		c.data = append(c.data, record...)
		c.records = append(c.records, recordPlace{Place: at, end: len(c.data)})
	}
	if len(c.records) == 0 && i.end != nil {
		return i.end
	}
	return i.ctx.Err()
}

// setPlan says what becomes of a set, or of the context.
type setPlan struct {
	piece    example.Piece
	name     string // name of the set
	typeName string // node or edge type
	dir      string
	columns  []columnPlan
}

// plan decides what becomes of each set.
func (i *importer) plan() error {
	s := i.opt.Schema
	i.sets = []setPlan{{piece: example.Context, dir: "context"}}
	features := []map[string]*tfgnnpb.Feature{s.GetContext().GetFeatures()}
	for _, name := range slices.Sorted(maps.Keys(s.NodeSets)) {
		i.sets = append(i.sets, nodesPlan(name))
		features = append(features, s.NodeSets[name].GetFeatures())
	}
	for _, name := range slices.Sorted(maps.Keys(s.EdgeSets)) {
		i.sets = append(i.sets, edgesPlan(name, s.EdgeSets[name]))
		features = append(features, s.EdgeSets[name].GetFeatures())
	}
	i.arrays = 4 * len(i.sets)
	for k := range i.sets {
		for _, name := range slices.Sorted(maps.Keys(features[k])) {
			if !utf8.ValidString(name) {
				return fmt.Errorf("%s %q: found feature %q, expected a name in UTF-8; rename it", i.sets[k].piece, i.sets[k].name, name)
			}
			c := newColumnPlan(i.sets[k].piece, i.sets[k].name, name, features[k][name])
			i.sets[k].columns = append(i.sets[k].columns, c)
			i.arrays += 2 + len(c.shape)
		}
	}
	return nil
}
