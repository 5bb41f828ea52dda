// Package tensors writes TFRecords of random GraphTensors of a schema, together with the schema, for trying out a
// model or a program before there are data.
//
// The GraphTensors are made by example.Codec.Random. Each is a function of the schema, the random seed and its
// number, so the bytes do not depend on the number of threads, and a larger count begins with the same GraphTensors.
package tensors

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/report"
)

// schemaFile is the name of the schema file, in the folder of the Examples.
const schemaFile = "schema.pbtxt"

// chunk is the number of GraphTensors that a worker makes at a time.
const chunk = 256

// Options say what is written and how.
type Options struct {
	Schema  *tfgnnpb.GraphSchema
	Seed    uint64
	Count   uint64
	Shards  int // 0: 1
	Gzip    bool
	Threads int
	// Progress, if not nil, receives the number of GraphTensors of each step.
	Progress func(n int64)
}

// Result describes what was written.
type Result struct {
	Bytes        int64
	Nodes, Edges report.Histogram // sizes of the GraphTensors, all their sets together
}

// item is a run of GraphTensors.
type item struct {
	first, last  uint64
	chunk        *shards.Chunk
	nodes, edges report.Histogram
}

// Write writes Count GraphTensors and the schema into an output folder.
func Write(ctx context.Context, w *store.Writer, o Options) (result *Result, err error) {
	codec, err := example.NewCodec(o.Schema)
	if err != nil {
		return nil, err
	}
	out, err := shards.New(w, shards.Options{Name: name(o.Gzip), Shards: o.Shards, Gzip: o.Gzip, Records: o.Count})
	if err != nil {
		return nil, err
	}
	result = new(Result)
	next := uint64(0)
	err = ordered.Run(ctx, max(o.Threads, 1), func() *example.Writer { return new(example.Writer) },
		func() *item { return &item{chunk: out.NewChunk()} },
		ordered.Stages[*example.Writer, *item]{
			Fill: func(i *item) error {
				if next == o.Count {
					return io.EOF
				}
				i.first, i.last = next, min(next+chunk, o.Count)
				next = i.last
				return nil
			},
			Work: func(_ context.Context, w *example.Writer, i *item) error { return i.fill(codec, w, o.Seed) },
			Sink: func(i *item) error {
				result.Nodes.Merge(&i.nodes)
				result.Edges.Merge(&i.edges)
				i.nodes.Reset()
				i.edges.Reset()
				if o.Progress != nil {
					o.Progress(int64(i.last - i.first))
				}
				return out.Write(i.chunk)
			},
		})
	if err == nil {
		err = out.Finish()
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	result.Bytes = out.Bytes()
	return result, w.WriteFile(schemaFile, tfgnn.AppendText(nil, o.Schema))
}

func name(zipped bool) string {
	if zipped {
		return "random.tfrecord.gz"
	}
	return "random.tfrecord"
}

func (i *item) fill(codec *example.Codec, w *example.Writer, seed uint64) error {
	for number := i.first; number < i.last; number++ {
		g := codec.Random(seed, number)
		record, err := codec.Encode(w, g)
		if err != nil {
			return err
		}
		if err := i.chunk.Append(record, number); err != nil {
			return err
		}
		nodes, edges := int64(0), int64(0)
		for _, s := range g.NodeSets {
			nodes += total(s.Sizes)
		}
		for _, s := range g.EdgeSets {
			edges += total(s.Sizes)
		}
		i.nodes.Add(uint64(nodes))
		i.edges.Add(uint64(edges))
	}
	return i.chunk.End()
}

func total(sizes []int64) (n int64) {
	for _, s := range sizes {
		n += s
	}
	return n
}
