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
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/report"
)

// SchemaFile is the file of the schema of the Examples, in the same folder.
const SchemaFile = "schema.pbtxt"

// chunkSeeds is the number of seeds that a worker takes at a time under scope seed, where batches have no other
// meaning: enough for large writes, and few enough for the cache.
const chunkSeeds = 256

// RecordsOptions says how subgraphs become TFRecords.
type RecordsOptions struct {
	// Name is the first part of the names of the files: NAME-00000-of-00008. Empty means "samples.tfrecord", or
	// "samples.tfrecord.gz".
	Name   string
	Shards int // 0 means 1
	Gzip   bool
	// Examples is the number of Examples of all runs. Shards are contiguous ranges of them.
	Examples uint64
	// IDs are the node types whose original ids are written, as the feature #id. The ids must be strings in the store.
	IDs []string
	// Components is the number of subgraphs of single seeds that an Example has as its components; 0 means 1. The last
	// Example of a run may have fewer.
	Components int
	// SeedIDs writes the original ids of seeds into the context, as seed_id and sample_id. Seeds must then be the seeds
	// of every job.
	SeedIDs bool
	Seeds   []uint32
	// SeedColumns are features of link seeds, with a row per seed of every job or, with Job.Positives, per edge of SeedEdges. Among them are pieces of the Features of SeedEdges, the edge
	// type that the links are edges of; empty where they come from a file.
	SeedColumns []*graph.Column
	SeedEdges   string
	// Compat selects the format of the Examples. With Joined, Classic leaves out nodes without a row in their table
	// (graph.Nodes.Added), and their edges.
	Compat Compat
	Joined bool
	// Schema is the schema of the graph, nil where it is not known.
	Schema *tfgnnpb.GraphSchema
	// Features are the store's; nil for none.
	Features *widening.Features
	// Rows stands for the columns of nodes and edges, nil where they are read as they are.
	Rows Rows
	// Stream, Elsewhere, Progress and Checkpoint: as in CollectionOptions.
	Stream     *outofcore.Executor
	Elsewhere  Elsewhere
	Progress   func(subgraphs int)
	Checkpoint time.Duration

	weights bool // Examples have the weights of edges
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
	batches  uint64 // batches of the jobs so far; course counts batches that are written together as one
	// elsewhere says that other processes wrote the files, of so many bytes.
	elsewhere bool
	bytes     int64
}

// NewRecords begins the files of a TFRecord output in w. The caller closes it.
func NewRecords(w *store.Writer, s *sample.Sampler, opt RecordsOptions) (*Records, error) {
	r, err := newRecords(w, s, opt)
	if err != nil {
		return nil, err
	}
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

// newRecords is NewRecords without a checkpoint to resume from. w is nil for pieces.
func newRecords(w *store.Writer, s *sample.Sampler, opt RecordsOptions) (*Records, error) {
	opt.weights = s.Weights() && opt.Compat == Own
	n, err := newEncoding(s.Graph(), s.Plan(), &opt)
	if err != nil {
		return nil, err
	}
	files, err := shards.New(w, shards.Options{Name: opt.Name, Shards: opt.Shards, Gzip: opt.Gzip, Records: opt.Examples})
	if err != nil {
		return nil, err
	}
	return &Records{s: s, shards: files, opt: opt, encoding: n}, nil
}

// Rounded is the columns with values that Examples round.
func (r *Records) Rounded() []string { return r.encoding.Rounded() }

// Underflows is the number of values so far that underflow, by feature: see examplecolumns.Narrowed.
func (r *Records) Underflows() map[string]uint64 { return r.all.Underflows }

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (r *Records) Sizes() (nodes, edges *report.Histogram) { return &r.all.Nodes, &r.all.Edges }

// Bytes is the size of the files so far.
func (r *Records) Bytes() int64 { return r.shards.Bytes() + r.bytes }

// Subgraphs is the number of subgraphs per epoch of a job.
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

// Examples is the number of Examples per epoch of a job with the given number of components per Example; 0 means 1.
func Examples(s *sample.Sampler, job sample.Job, components int) uint64 {
	group := uint64(max(components, 1))
	return (Subgraphs(s, job) + group - 1) / group
}

// encoders hands out buffers of Examples to workers. There are as many as work at the same time, because the Example of
// a batch may be large.
type encoders struct {
	mu   sync.Mutex
	free []*examplecolumns.Encoder
}

func (e *encoders) get() *examplecolumns.Encoder {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.free)
	if n == 0 {
		return new(examplecolumns.Encoder)
	}
	last := e.free[n-1]
	e.free = e.free[:n-1]
	return last
}

func (e *encoders) put(enc *examplecolumns.Encoder) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.free = append(e.free, enc)
}

// keptRecord is the size of a record from which a chunk gives its encoder back: there are more chunks than workers.
const keptRecord = 1 << 20

// chunk is the records of one batch.
type chunk struct {
	arranger *arranger
	gatherer *gatherer
	encoder  *examplecolumns.Encoder // nil until it is needed
	records  *shards.Chunk
	tally
}

func (r *Records) newChunk() *chunk {
	g := r.s.Graph()
	return &chunk{arranger: newArranger(g, &r.opt), gatherer: newGatherer(r.encoding), records: r.shards.NewChunk()}
}

// Run samples a job and appends its subgraphs to the output, as Collection.Run does. With several
// components and several ranks, the batch size must be a multiple of the components, so that an Example belongs to one
// batch.
func (r *Records) Run(ctx context.Context, job sample.Job) (sample.Stats, error) {
	examples, epochs := Examples(r.s, job, r.encoding.group), uint64(max(job.Epochs, 1))
	if r.base+examples*epochs > r.opt.Examples {
		return sample.Stats{}, fmt.Errorf("found %d records, expected the %d that the shards were planned for", r.base+examples*epochs, r.opt.Examples)
	}
	width := r.s.SeedWidth()
	batches := job.EpochBatches(width)
	job, encode, err := r.encoder(job)
	if err != nil {
		return sample.Stats{}, err
	}
	if job, err = r.rest(job, width); err != nil {
		return r.all.Stats, err
	}
	switch from := r.opt.Elsewhere; {
	case from != nil && from.Shares(job) > 1:
		if err = r.fresh(&job); err == nil {
			r.elsewhere = true
			err = from.Write(ctx, job, func(folder string, part *Written) error {
				for _, f := range part.Files {
					r.bytes += f.Bytes
				}
				return r.takeShare(ctx, folder, part)
			})
		}
	case from != nil:
		err = join(ctx, &r.course, job, r.opt.Elsewhere, r.newChunk(), r.sink)
	default:
		_, err = runExecutor(ctx, r.s, r.opt.Stream, job, r.newChunk, encode, r.sink)
	}
	r.base += examples * epochs
	r.batches += batches * epochs
	stats := r.all.Stats
	stats.Batches = r.batches
	return stats, err
}

// encoder is the job in the batches that workers take, and the function that adds a subgraph to a chunk.
func (r *Records) encoder(job sample.Job) (sample.Job, func(c *chunk, b *sample.Batch, sub *sample.Subgraph) error, error) {
	group, width := r.encoding.group, r.s.SeedWidth()
	examples, epoch := Examples(r.s, job, group), job.Epoch
	bySeed := r.s.Plan().Scope == sample.ScopeSeed
	switch {
	case bySeed && job.Ranks <= 1:
		// With several ranks, the batch size decides which rank takes a seed.
		job.BatchSize = max(chunkSeeds/group, 1) * group
	case job.BatchSize%group != 0:
		return job, nil, tagged.Errorf(sample.ErrPlan, "found batches of %d seeds and %d components per Example, expected a multiple of the components, because ranks take whole batches; give such a `BatchSize`", job.BatchSize, group)
	}
	size := job.BatchSize
	return job, func(c *chunk, b *sample.Batch, sub *sample.Subgraph) error {
		base := r.base + (b.Epoch-epoch)*examples
		if !bySeed {
			return r.encode(c, sub, b.ColumnRows(), base+b.Index, true)
		}
		number := (b.Index*uint64(size) + uint64(b.At)) / uint64(group)
		return r.encode(c, sub, b.ColumnRows()[b.At:b.At+1], base+number, (b.At+1)*width == len(b.Seeds))
	}, nil
}

// encode adds a subgraph to a chunk, in a worker. places are the rows of its seeds in SeedColumns, and number is the
// number of its Example. last says that it is the last subgraph of its batch.
func (r *Records) encode(c *chunk, sub *sample.Subgraph, places []uint32, number uint64, last bool) error {
	c.add(sub, r.s.SeedWidth())
	sub = c.arranger.arrange(sub)
	c.gatherer.add(sub, places)
	if last || c.gatherer.full() {
		if c.encoder == nil {
			c.encoder = r.encoders.get()
		}
		enc := c.encoder
		record, err := r.encoding.encode(enc, &c.gatherer.content)
		if len(record) > keptRecord {
			c.encoder = nil
			defer r.encoders.put(enc)
		}
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

// Finish completes the files, and writes the schema and a record of how they were made.
func (r *Records) Finish(made store.Made) error {
	if !r.elsewhere {
		if err := r.shards.Finish(); err != nil {
			return err
		}
	}
	return errors.Join(r.w.WriteFile(SchemaFile, tfgnn.AppendText(nil, r.encoding.schema)), r.w.WriteMade(made))
}

// Close closes the open files and waits for them. It does nothing after Finish.
func (r *Records) Close() error { return r.shards.Close() }
