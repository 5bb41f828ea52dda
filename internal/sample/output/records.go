package output

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample"
	outofcore "github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/tagged"
)

// SchemaFile is the schema of the Examples, beside them.
const SchemaFile = "schema.pbtxt"

// chunkSeeds is the seeds that a worker takes at a time under scope seed, where a
// batch means nothing else: enough for large writes, few enough for the cache.
const chunkSeeds = 256

// RecordsOptions says how subgraphs become TFRecords.
type RecordsOptions struct {
	// Name begins the names of the files: NAME-00000-of-00008. Empty is
	// "samples.tfrecord", or "samples.tfrecord.gz".
	Name   string
	Shards int // 0 is 1
	Gzip   bool
	// Examples is the number of Examples of all runs: the shards are contiguous
	// ranges of them.
	Examples uint64
	// IDs are the node types whose original ids are written, as feature #id. They
	// must be strings in the store.
	IDs []string
	// Components is how many subgraphs of single seeds an Example has, as its
	// components; 0 is 1. The last Example of a run may have fewer.
	Components int
	// SeedIDs writes the original ids of seed nodes into the context, as seed_id and
	// sample_id. Seeds are those of every job then.
	SeedIDs bool
	Seeds   []uint32
	// SeedColumns are features of link seeds, a row a seed of every job.
	SeedColumns []*graph.Column
	// Compat says whose Examples these are. With Joined, Classic leaves out nodes
	// that have no row in their table (graph.Nodes.Added), and their edges.
	Compat Compat
	Joined bool
	// Schema is that of the graph, nil where it is not known.
	Schema *tfgnnpb.GraphSchema
	// Stream, Progress and Checkpoint are as those of CollectionOptions.
	Stream     *outofcore.Executor
	Progress   func(subgraphs int)
	Checkpoint time.Duration
}

// Records writes subgraphs as TFRecords of tf.train.Examples.
type Records struct {
	course
	s        *sample.Sampler
	shards   *shards.Writer
	opt      RecordsOptions
	encoding *Encoding
	encoders encoders
	base     uint64 // Examples of earlier jobs
	batches  uint64 // of the jobs so far; those that are written together count as one in course
}

// NewRecords begins the files of a TFRecord output in w. Close it.
func NewRecords(w *store.Writer, s *sample.Sampler, opt RecordsOptions) (*Records, error) {
	n, err := newEncoding(s.Graph(), s.Plan(), s.Induces(), &opt)
	if err != nil {
		return nil, err
	}
	files, err := shards.New(w, shards.Options{Name: opt.Name, Shards: opt.Shards, Gzip: opt.Gzip, Records: opt.Examples})
	if err != nil {
		return nil, err
	}
	r := &Records{s: s, shards: files, opt: opt, encoding: n}
	before, err := r.begin(w, opt.Checkpoint, opt.Progress)
	switch {
	case err != nil:
	case before == nil:
	case before.Shards == nil:
		err = fmt.Errorf("checkpoint: found none of records")
	default:
		err = r.shards.Resume(*before.Shards)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Schema is the schema of the Examples. The caller does not change it.
func (r *Records) Schema() *tfgnnpb.GraphSchema { return r.encoding.schema }

// Rounded names the columns with values that Examples round.
func (r *Records) Rounded() []string { return r.encoding.Rounded() }

// Underflows counts the values so far that underflow, by feature; see feature.Narrowed.
func (r *Records) Underflows() map[string]uint64 { return r.all.Underflows }

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (r *Records) Sizes() (nodes, edges *report.Histogram) { return &r.all.Nodes, &r.all.Edges }

// Bytes is the size of the files so far.
func (r *Records) Bytes() int64 { return r.shards.Bytes() }

// Subgraphs is the number of subgraphs that a job makes an epoch.
func Subgraphs(s *sample.Sampler, job sample.Job) uint64 {
	batches, width := job.EpochBatches(s.SeedWidth()), uint64(s.SeedWidth())
	if s.Plan().Scope != sample.ScopeSeed || batches == 0 {
		return batches
	}
	// All batches are whole, except for the last one of all ranks.
	size, seeds := uint64(job.BatchSize), uint64(len(job.Seeds))/width
	last := (uint64(job.Rank) + (batches-1)*uint64(max(job.Ranks, 1))) * size
	return (batches-1)*size + min(size, seeds-last)
}

// Examples is the number of Examples an epoch of a job with so many components each;
// 0 is 1.
func Examples(s *sample.Sampler, job sample.Job, components int) uint64 {
	group := uint64(max(components, 1))
	return (Subgraphs(s, job) + group - 1) / group
}

// encoders hands out buffers of Examples to workers. There are as many as work at
// once: a batch's Example may be large.
type encoders struct {
	mu   sync.Mutex
	free []*feature.Encoder
}

func (e *encoders) get() *feature.Encoder {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.free)
	if n == 0 {
		return new(feature.Encoder)
	}
	last := e.free[n-1]
	e.free = e.free[:n-1]
	return last
}

func (e *encoders) put(enc *feature.Encoder) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.free = append(e.free, enc)
}

// chunk is the records of one batch.
type chunk struct {
	arranger *arranger
	gatherer *gatherer
	records  *shards.Chunk
	tally
}

func (r *Records) newChunk() *chunk {
	g := r.s.Graph()
	return &chunk{arranger: newArranger(g, &r.opt), gatherer: newGatherer(g, r.s.Plan(), r.encoding.group), records: r.shards.NewChunk()}
}

// Run samples a job and writes its subgraphs behind those of earlier runs, as that of
// Collection. With several components and several ranks the size of a batch must be a multiple of
// the components, so that an Example is of one batch.
func (r *Records) Run(ctx context.Context, job sample.Job) (sample.Stats, error) {
	group := r.encoding.group
	examples, epochs := Examples(r.s, job, group), uint64(max(job.Epochs, 1))
	if r.base+examples*epochs > r.opt.Examples {
		return sample.Stats{}, fmt.Errorf("found %d records, expected the %d that the shards were planned for", r.base+examples*epochs, r.opt.Examples)
	}
	width := r.s.SeedWidth()
	batches := job.EpochBatches(width)
	bySeed := r.s.Plan().Scope == sample.ScopeSeed
	switch {
	case bySeed && job.Ranks <= 1:
		// With several ranks the size of a batch decides who takes it.
		job.BatchSize = max(chunkSeeds/group, 1) * group
	case job.BatchSize%group != 0:
		return sample.Stats{}, tagged.Errorf(sample.ErrPlan, "found batches of %d seeds, of which ranks take whole ones, and %d components an Example, expected a multiple of the components; give a batch size that is one", job.BatchSize, group)
	}
	encode := func(c *chunk, b *sample.Batch, sub *sample.Subgraph) error {
		base := r.base + (b.Epoch-job.Epoch)*examples
		if !bySeed {
			return r.encode(c, sub, b.Rows, base+b.Index, true)
		}
		number := (b.Index*uint64(job.BatchSize) + uint64(b.At)) / uint64(group)
		return r.encode(c, sub, b.Rows[b.At:b.At+1], base+number, (b.At+1)*width == len(b.Seeds))
	}
	job, err := r.rest(job, width)
	if err != nil {
		return r.all.Stats, err
	}
	_, err = run(ctx, r.s, r.opt.Stream, job, r.newChunk, encode, r.sink)
	r.base += examples * epochs
	r.batches += batches * epochs
	stats := r.all.Stats
	stats.Batches = r.batches
	return stats, err
}

// encode adds a subgraph to a chunk, in a worker; its seeds have the given places
// among all seeds, and its Example that number. last says that it is the last one
// of its batch.
func (r *Records) encode(c *chunk, sub *sample.Subgraph, places []uint32, number uint64, last bool) error {
	c.add(sub, r.s.SeedWidth())
	sub = c.arranger.arrange(sub)
	c.gatherer.add(sub, places)
	if last || c.gatherer.full() {
		enc := r.encoders.get()
		defer r.encoders.put(enc)
		record, err := r.encoding.encode(enc, &c.gatherer.content)
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", r.shards.File(number), number, err)
		}
		c.Narrowed.Add(enc.Underflows)
		clear(enc.Underflows)
		if err := c.records.Append(record, number); err != nil {
			return fmt.Errorf("%w; take smaller batches or fewer columns", err)
		}
		c.gatherer.reset()
	}
	nodes, edges := 0, 0
	for _, n := range sub.Nodes {
		nodes += len(n)
	}
	for _, e := range sub.Edges {
		edges += len(e.Src)
	}
	c.Nodes.Add(uint64(nodes))
	c.Edges.Add(uint64(edges))
	if last {
		return c.records.End()
	}
	return nil
}

// sink writes a chunk to its shards and empties it.
func (r *Records) sink(c *chunk) error {
	if err := r.shards.Write(c.records); err != nil {
		return err
	}
	if !r.wrote(&c.tally) {
		return nil
	}
	at, err := r.shards.Checkpoint()
	if err != nil {
		return err
	}
	return r.checkpoint(&saved{Shards: &at})
}

// Finish completes the files, writes the schema, and what the records were made
// of.
func (r *Records) Finish(made store.Made) error {
	if err := r.shards.Finish(); err != nil {
		return err
	}
	return errors.Join(r.w.WriteFile(SchemaFile, tfgnn.AppendText(nil, r.encoding.schema)), r.w.WriteMade(made))
}

// Close closes what is open and waits for it. It closes nothing more after Finish.
func (r *Records) Close() error { return r.shards.Close() }
