package output

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph/feature"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/report"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/store"
)

// SchemaFile is the schema of the Examples, beside them.
const SchemaFile = "schema.pbtxt"

// maxShards is what the five digits of a shard's name can count.
const maxShards = 99999

// maxClosing is how many files are closed at a time, of which each stays open
// until it is synced: many small shards are written faster than that.
const maxClosing = 16

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
	opt      RecordsOptions
	encoding *encoding
	base     uint64 // subgraphs of earlier runs

	shard   int      // the shard that file is
	file    fsx.File // nil before the first
	written uint64   // subgraphs
	bytes   int64

	closing errgroup.Group // files whose writing is done

	nodes, edges report.Histogram
}

// NewRecords begins the files of a TFRecord output in w. Close it.
func NewRecords(w *store.Writer, s *sample.Sampler, opt RecordsOptions) (*Records, error) {
	if opt.Shards == 0 {
		opt.Shards = 1
	}
	if opt.Shards < 1 || opt.Shards > maxShards {
		return nil, fmt.Errorf("found %d shards, expected 1 to %d", opt.Shards, maxShards)
	}
	if opt.Name == "" {
		opt.Name = "samples.tfrecord"
		if opt.Gzip {
			opt.Name += ".gz"
		}
	}
	if opt.Name != filepath.Base(opt.Name) || strings.HasPrefix(opt.Name, ".") {
		return nil, fmt.Errorf("found name %q of the records, expected a plain file name", opt.Name)
	}
	n, err := newEncoding(s, opt.IDs)
	if err != nil {
		return nil, err
	}
	r := &Records{w: w, s: s, opt: opt, encoding: n, shard: -1}
	r.closing.SetLimit(maxClosing)
	return r, nil
}

// Schema is the schema of the Examples. The caller does not change it.
func (r *Records) Schema() *tfgnnpb.GraphSchema { return r.encoding.schema }

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (r *Records) Sizes() (nodes, edges *report.Histogram) { return &r.nodes, &r.edges }

// Bytes is the size of the files so far.
func (r *Records) Bytes() int64 { return r.bytes }

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
	buf   []byte
	parts []part
	count int

	zip    *gzip.Writer
	zipped *sliceWriter

	nodes, edges report.Histogram
}

// part is the bytes of a chunk that go to one shard, up to end.
type part struct {
	shard, end int
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

func (r *Records) newChunk() *chunk {
	c := &chunk{}
	if r.opt.Gzip {
		c.zipped = &sliceWriter{}
		c.zip = gzip.NewWriter(c.zipped)
	}
	return c
}

// Run samples a job and writes its subgraphs behind those of earlier runs.
func (r *Records) Run(ctx context.Context, job sample.Job) (sample.Stats, error) {
	subgraphs := Subgraphs(r.s, job)
	if r.base+subgraphs > r.opt.Subgraphs {
		return sample.Stats{}, fmt.Errorf("found %d subgraphs, expected the %d that the shards were planned for", r.base+subgraphs, r.opt.Subgraphs)
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
	record := r.encoding.encode(&c.Encoder, sub)
	if len(record) > math.MaxInt32 {
		return fmt.Errorf("found a subgraph of %d bytes, expected at most 2 GiB, which is what an Example can hold; take smaller batches or fewer columns", len(record))
	}
	shard := shardOf(number, r.opt.Subgraphs, r.opt.Shards)
	if n := len(c.parts); n == 0 || c.parts[n-1].shard != shard {
		c.parts = append(c.parts, part{shard: shard})
	}
	c.buf = tfrecord.AppendFrame(c.buf, record)
	c.parts[len(c.parts)-1].end = len(c.buf)
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
	if last && r.opt.Gzip {
		return c.compress()
	}
	return nil
}

// compress turns each part into a gzip member. Members behind one another are a
// gzip file, so that the workers compress, and the sink only writes.
func (c *chunk) compress() error {
	c.zipped.b = c.zipped.b[:0]
	at := 0
	for i := range c.parts {
		c.zip.Reset(c.zipped)
		if _, err := c.zip.Write(c.buf[at:c.parts[i].end]); err != nil {
			return err
		}
		if err := c.zip.Close(); err != nil {
			return err
		}
		at, c.parts[i].end = c.parts[i].end, len(c.zipped.b)
	}
	c.buf, c.zipped.b = c.zipped.b, c.buf
	return nil
}

// sink writes a chunk to its shards and empties it.
func (r *Records) sink(c *chunk) error {
	at := 0
	for _, p := range c.parts {
		for r.shard < p.shard {
			if err := r.next(); err != nil {
				return err
			}
		}
		if _, err := r.file.Write(c.buf[at:p.end]); err != nil {
			return err
		}
		at = p.end
	}
	r.bytes += int64(at)
	r.written += uint64(c.count)
	r.nodes.Merge(&c.nodes)
	r.edges.Merge(&c.edges)
	if r.opt.Progress != nil {
		r.opt.Progress(c.count)
	}
	c.buf, c.parts, c.count = c.buf[:0], c.parts[:0], 0
	c.nodes.Reset()
	c.edges.Reset()
	return nil
}

// next closes the shard at hand and begins the next one. Closing syncs, which
// takes its time: it goes on beside the writing.
func (r *Records) next() error {
	r.closeFile()
	r.shard++
	file, err := r.w.Create(fmt.Sprintf("%s-%05d-of-%05d", r.opt.Name, r.shard, r.opt.Shards))
	if err != nil {
		return err
	}
	r.file = file
	if !r.opt.Gzip || shardEnd(r.shard, r.opt.Subgraphs, r.opt.Shards) > shardEnd(r.shard-1, r.opt.Subgraphs, r.opt.Shards) {
		return nil
	}
	// A compressed file of nothing still has a member.
	var empty sliceWriter
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		return err
	}
	n, err := file.Write(empty.b)
	r.bytes += int64(n)
	return err
}

func (r *Records) closeFile() {
	if r.file != nil {
		r.closing.Go(r.file.Close)
		r.file = nil
	}
}

// Finish completes the files, writes the schema, and what the records were made
// of.
func (r *Records) Finish(made store.Made) error {
	if r.written != r.opt.Subgraphs {
		return fmt.Errorf("found %d subgraphs, expected the %d that the shards were planned for", r.written, r.opt.Subgraphs)
	}
	for r.shard+1 < r.opt.Shards {
		if err := r.next(); err != nil {
			return err
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	return errors.Join(r.w.WriteFile(SchemaFile, tfgnn.AppendText(nil, r.encoding.schema)), r.w.WriteMade(made))
}

// Close closes what is open and waits for it. It closes nothing more after Finish.
func (r *Records) Close() error {
	r.closeFile()
	return r.closing.Wait()
}
