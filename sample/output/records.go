package output

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph/feature"
	"github.com/graphmill/graphmill/report"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/store"
	"github.com/graphmill/graphmill/store/shards"
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
	// Subgraphs is the number of all subgraphs of all runs: the shards are
	// contiguous ranges of them.
	Subgraphs uint64
	// IDs are the node types whose original ids are written, as feature #id. They
	// must be strings in the store.
	IDs []string
	// Progress is told of subgraphs that were written; nil tells nobody.
	Progress func(subgraphs int)
}

// Records writes subgraphs as TFRecords of tf.train.Examples.
type Records struct {
	w        *store.Writer
	s        *sample.Sampler
	shards   *shards.Writer
	opt      RecordsOptions
	encoding *Encoding
	base     uint64 // subgraphs of earlier runs

	nodes, edges report.Histogram
}

// NewRecords begins the files of a TFRecord output in w. Close it.
func NewRecords(w *store.Writer, s *sample.Sampler, opt RecordsOptions) (*Records, error) {
	n, err := NewEncoding(s.Graph(), s.Plan(), opt.IDs)
	if err != nil {
		return nil, err
	}
	files, err := shards.New(w, shards.Options{Name: opt.Name, Shards: opt.Shards, Gzip: opt.Gzip, Records: opt.Subgraphs})
	if err != nil {
		return nil, err
	}
	return &Records{w: w, s: s, shards: files, opt: opt, encoding: n}, nil
}

// Schema is the schema of the Examples. The caller does not change it.
func (r *Records) Schema() *tfgnnpb.GraphSchema { return r.encoding.schema }

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (r *Records) Sizes() (nodes, edges *report.Histogram) { return &r.nodes, &r.edges }

// Bytes is the size of the files so far.
func (r *Records) Bytes() int64 { return r.shards.Bytes() }

// Subgraphs is the number of subgraphs that a job makes.
func Subgraphs(s *sample.Sampler, job sample.Job) uint64 {
	batches, width := job.Batches(s.SeedWidth()), uint64(s.SeedWidth())
	if s.Plan().Scope != sample.ScopeSeed || batches == 0 {
		return batches
	}
	// All batches are whole, except for the last one of all ranks.
	size, seeds := uint64(job.BatchSize), uint64(len(job.Seeds))/width
	last := (uint64(job.Rank) + (batches-1)*uint64(max(job.Ranks, 1))) * size
	return (batches-1)*size + min(size, seeds-last)
}

// chunk is the records of one batch.
type chunk struct {
	feature.Encoder
	records *shards.Chunk
	count   int

	nodes, edges report.Histogram
}

func (r *Records) newChunk() *chunk { return &chunk{records: r.shards.NewChunk()} }

// Run samples a job and writes its subgraphs behind those of earlier runs.
func (r *Records) Run(ctx context.Context, job sample.Job) (sample.Stats, error) {
	subgraphs := Subgraphs(r.s, job)
	if r.base+subgraphs > r.opt.Subgraphs {
		return sample.Stats{}, fmt.Errorf("found %d records, expected the %d that the shards were planned for", r.base+subgraphs, r.opt.Subgraphs)
	}
	batches := job.Batches(r.s.SeedWidth())
	bySeed := r.s.Plan().Scope == sample.ScopeSeed
	// With several ranks the size of a batch decides who takes it.
	if bySeed && job.Ranks <= 1 {
		job.BatchSize = chunkSeeds
	}
	encode := func(c *chunk, b *sample.Batch, sub *sample.Subgraph) error {
		number, last := b.Index, true
		if bySeed {
			number = b.Index*uint64(job.BatchSize) + uint64(b.At)
			last = b.At+1 == len(b.Seeds)
		}
		return r.encode(c, sub, r.base+number, last)
	}
	stats, err := sample.Run(ctx, r.s, job, r.newChunk, encode, func(c *chunk, _ uint64) error { return r.sink(c) })
	if err == nil {
		stats.Batches = batches // not chunks
	}
	r.base += subgraphs
	return stats, err
}

// encode adds a subgraph to a chunk, in a worker. last says that it is the last
// one of its batch.
func (r *Records) encode(c *chunk, sub *sample.Subgraph, number uint64, last bool) error {
	if err := c.records.Append(r.encoding.Encode(&c.Encoder, sub), number); err != nil {
		return fmt.Errorf("%w; take smaller batches or fewer columns", err)
	}
	c.count++
	nodes, edges := 0, 0
	for _, n := range sub.Nodes {
		nodes += len(n)
	}
	for _, e := range sub.Edges {
		edges += len(e.ID)
	}
	c.nodes.Add(uint64(nodes))
	c.edges.Add(uint64(edges))
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
	r.nodes.Merge(&c.nodes)
	r.edges.Merge(&c.edges)
	if r.opt.Progress != nil {
		r.opt.Progress(c.count)
	}
	c.count = 0
	c.nodes.Reset()
	c.edges.Reset()
	return nil
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
