package survey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Options say how a survey is taken.
type Options struct {
	Schema *tfgnnpb.GraphSchema
	// Quantiles is the number of quantiles of each feature. It is even, so that there is a median; 0 means 10.
	Quantiles int
	// Lenient repairs broken Examples as far as example.Codec can.
	Lenient bool
	// Refusals bounds the number of Examples that cannot be read and are reported. They are left out of all other
	// figures. If it is 0, the first one is an error.
	Refusals int
	Threads  int
	// Progress, if not nil, receives the number of bytes of each read of the files.
	Progress func(bytes int64)
}

// Survey holds the figures.
type Survey struct {
	Examples   uint64
	Components uint64
	Bytes      int64 // size of the records
	Repaired   uint64
	// Refused counts the Examples that cannot be read. Refusals are the first reasons.
	Refused  uint64
	Refusals []error
	// Unknown counts the keys that the schema does not have, once per key and Example. UnknownKeys are the first of
	// their names in sorted order.
	Unknown     uint64
	UnknownKeys []string

	Sets     []Set
	Features []Feature
	Pairs    []Pair
}

// Set is a node set or edge set.
type Set struct {
	Kind, Name     string // "nodes" or "edges"
	Source, Target string // edge sets only
	// Sizes counts the nodes or edges per GraphTensor, over all its components.
	Sizes *report.Histogram
	// Out and In count, for an edge set, the edges per node of its source and of its target.
	Out, In *report.Histogram
}

// Feature is the distribution of the values of a feature.
type Feature struct {
	Kind, Set, Name string
	Values, NaN     uint64 // Values does not include NaN
	Mean, Std       float64
	Quantiles       []float32 // from the least to the largest value; empty without values
	// Exact says that the quantiles are exact. The least and the largest value always are.
	Exact bool

	deciles []float32
}

// Pair is the size of one GraphTensor, without auxiliary sets.
type Pair struct{ Nodes, Edges int64 }

const (
	// chunkRecords and chunkBytes bound the records that a worker takes at a time. Sums are added chunk by chunk, so
	// these constants affect the result.
	chunkRecords = 256
	chunkBytes   = 1 << 20
	// maxUnknown bounds the unknown keys that are named.
	maxUnknown = 16
	// defaultQuantiles is TF-GNN's default.
	defaultQuantiles = 10
)

// chunk is a run of records and their sums.
type chunk struct {
	first  uint64 // number of the first record
	buf    []byte
	ends   []int
	places []recordfiles.Place
	sums   []sums // one per feature

	refused  uint64
	refusals []error // the first errors
}

// Take reads all records of files and counts them.
func Take(ctx context.Context, fsys vfs.FS, files []string, o Options) (s *Survey, err error) {
	if o.Quantiles == 0 {
		o.Quantiles = defaultQuantiles
	}
	if o.Quantiles < 2 || o.Quantiles%2 == 1 || o.Quantiles > 10000 {
		return nil, fmt.Errorf("found %d quantiles, expected an even number from 2 to 10000", o.Quantiles)
	}
	codec, err := example.NewCodec(o.Schema)
	if err != nil {
		return nil, err
	}
	src := recordfiles.New(fsys, files, o.Progress)
	defer func() { err = errors.Join(err, src.Close()) }()
	var counters []*counter
	first := newCounter(codec, o.Schema)
	total := make([]moments, len(first.stats))
	next, refused := uint64(0), uint64(0)
	var refusals []error
	err = ordered.Run(ctx, max(o.Threads, 1),
		func() *counter {
			counters = append(counters, newCounter(codec, o.Schema))
			return counters[len(counters)-1]
		},
		func() *chunk { return &chunk{sums: make([]sums, len(first.stats))} },
		ordered.Stages[*counter, *chunk]{
			Fill: func(c *chunk) error {
				c.first = next
				err := c.fill(src)
				next += uint64(len(c.ends))
				return err
			},
			Work: func(_ context.Context, k *counter, c *chunk) error { return k.count(c, &o) },
			Sink: func(c *chunk) error {
				for i := range c.sums {
					total[i].merge(&c.sums[i])
				}
				clear(c.sums)
				refused += c.refused
				refusals = append(refusals, c.refusals[:min(len(c.refusals), o.Refusals-len(refusals))]...)
				return nil
			},
		})
	if err != nil {
		return nil, err
	}
	for _, k := range counters {
		first.merge(k)
	}
	s = first.survey(total, o.Quantiles)
	s.Refused, s.Refusals = refused, refusals
	return s, nil
}

// fill reads records up to the bounds of a chunk. It returns io.EOF if there are none.
func (c *chunk) fill(src *recordfiles.Files) error {
	c.buf, c.ends, c.places = c.buf[:0], c.ends[:0], c.places[:0]
	for len(c.ends) < chunkRecords && len(c.buf) < chunkBytes {
		record, at, err := src.Next()
		if errors.Is(err, io.EOF) && len(c.ends) > 0 {
			return nil // the next call returns io.EOF again
		}
		if err != nil {
			return err
		}
		c.buf = append(c.buf, record...)
		c.ends = append(c.ends, len(c.buf))
		c.places = append(c.places, at)
	}
	return nil
}

// stat is one distribution, and the place of its values in a GraphTensor.
type stat struct {
	kind, set, name string
	tensor          *example.Tensor
	sizes           *[]int64 // for #size, instead of tensor
	unsigned        bool
	values          distribution
}

// setStat holds the counts of a set.
type setStat struct {
	kind, name         string
	source, target     string
	aux                bool
	sizes              *[]int64
	edges              *example.EdgeSet
	fromSizes, toSizes *[]int64
	total, out, in     report.Histogram
}

// counter holds the counts of one worker.
type counter struct {
	codec *example.Codec
	g     *example.GraphTensor
	stats []stat
	sets  []setStat
	pairs pairs

	examples, components, repaired, unknown uint64
	bytes                                   int64
	unknownKeys                             []string
	degrees                                 []uint32
	ends                                    []int64
}

func newCounter(codec *example.Codec, schema *tfgnnpb.GraphSchema) *counter {
	k := &counter{codec: codec, g: codec.New()}
	features := tfgnn.Features(schema)
	take := func(kind, set string, tensors map[string]*example.Tensor) {
		for ; len(features) > 0 && features[0].Kind == kind && features[0].Set == set; features = features[1:] {
			t := tensors[features[0].Name]
			if t.DType == tfgnnpb.DataType_DT_STRING {
				continue
			}
			s := stat{kind: kind, set: set, name: features[0].Name, tensor: t, unsigned: t.DType == tfgnnpb.DataType_DT_UINT64}
			switch t.DType {
			case tfgnnpb.DataType_DT_FLOAT, tfgnnpb.DataType_DT_DOUBLE, tfgnnpb.DataType_DT_HALF, tfgnnpb.DataType_DT_BFLOAT16:
			default:
				s.values.integers = true
			}
			k.stats = append(k.stats, s)
		}
	}
	size := func(kind, set string, sizes *[]int64) {
		k.stats = append(k.stats, stat{kind: kind, set: set, name: tfgnn.SizeName, sizes: sizes, values: distribution{integers: true}})
	}
	take("context", "", k.g.Context)
	for _, name := range tfgnn.Sets(schema.NodeSets) {
		n := k.g.NodeSets[name]
		size("nodes", name, &n.Sizes)
		take("nodes", name, n.Features)
		k.sets = append(k.sets, setStat{kind: "nodes", name: name, aux: tfgnn.IsAuxiliary(name), sizes: &n.Sizes})
	}
	for _, name := range tfgnn.Sets(schema.EdgeSets) {
		e, source, target := k.g.EdgeSets[name], schema.EdgeSets[name].GetSource(), schema.EdgeSets[name].GetTarget()
		size("edges", name, &e.Sizes)
		take("edges", name, e.Features)
		k.sets = append(k.sets, setStat{kind: "edges", name: name, aux: tfgnn.IsAuxiliary(name), sizes: &e.Sizes, edges: e,
			source: source, target: target, fromSizes: &k.g.NodeSets[source].Sizes, toSizes: &k.g.NodeSets[target].Sizes})
	}
	return k
}

func (k *counter) count(c *chunk, o *Options) error {
	c.refused, c.refusals = 0, c.refusals[:0]
	at := 0
	for i, end := range c.ends {
		err := k.codec.Decode(c.buf[at:end], k.g, o.Lenient)
		if err == nil {
			k.bytes += int64(end - at)
			k.example(c.first+uint64(i), c.sums)
		} else {
			err = fmt.Errorf("%s: %w", c.places[i], err)
			if o.Refusals == 0 {
				return err
			}
			if c.refused++; len(c.refusals) < o.Refusals {
				c.refusals = append(c.refusals, err)
			}
		}
		at = end
	}
	return nil
}

func (k *counter) example(number uint64, sums []sums) {
	k.examples++
	for i := range k.stats {
		k.stats[i].count(&sums[i])
	}
	var pair Pair
	components := 1
	for i := range k.sets {
		s := &k.sets[i]
		n := total(*s.sizes)
		s.total.Add(uint64(n))
		components = len(*s.sizes)
		switch {
		case s.aux:
		case s.edges == nil:
			pair.Nodes += n
		default:
			pair.Edges += n
		}
		if s.edges != nil {
			k.ends = append(k.ends[:0], s.edges.SourceIndex...)
			k.countEnds(&s.out, total(*s.fromSizes))
			k.ends = append(k.ends[:0], s.edges.TargetIndex...)
			k.countEnds(&s.in, total(*s.toSizes))
		}
	}
	k.components += uint64(components)
	k.pairs.add(number, pair)
	if len(k.g.Repairs) > 0 {
		k.repaired++
	}
	for _, key := range k.g.Unknown {
		k.unknown++
		k.unknownKeys = leastName(k.unknownKeys, string(key))
	}
}

// countEnds counts, for each of n nodes, the ends that are the node.
func (k *counter) countEnds(h *report.Histogram, n int64) {
	if n > 4*int64(len(k.ends))+1024 { // n comes from the record and is not bounded by its length
		slices.Sort(k.ends)
		nodes := int64(0)
		for i := 0; i < len(k.ends); nodes++ {
			j := i
			for ; j < len(k.ends) && k.ends[j] == k.ends[i]; j++ {
			}
			h.Add(uint64(j - i))
			i = j
		}
		h.AddN(0, uint64(n-nodes))
		return
	}
	k.degrees = slices.Grow(k.degrees[:0], int(n))[:n]
	clear(k.degrees)
	for _, v := range k.ends {
		k.degrees[v]++
	}
	for _, d := range k.degrees {
		h.Add(uint64(d))
	}
}

func (s *stat) count(sums *sums) {
	switch {
	case s.sizes != nil:
		for _, v := range *s.sizes {
			s.values.add(float32(v))
			sums.add(float64(v))
		}
	case s.unsigned:
		for _, v := range s.tensor.Ints {
			s.values.add(float32(uint64(v)))
			sums.add(float64(uint64(v)))
		}
	default:
		for _, v := range s.tensor.Ints {
			s.values.add(float32(v))
			sums.add(float64(v))
		}
		for _, v := range s.tensor.Floats {
			s.values.add(v)
			sums.add(float64(v))
		}
	}
}

func total(sizes []int64) (n int64) {
	for _, s := range sizes {
		n += s
	}
	return n
}

// leastName adds a name to the sorted list of the smallest names.
func leastName(names []string, name string) []string {
	i, found := slices.BinarySearch(names, name)
	if found || i == maxUnknown {
		return names
	}
	names = slices.Insert(names, i, name)
	return names[:min(len(names), maxUnknown)]
}

func (k *counter) merge(o *counter) {
	k.examples += o.examples
	k.components += o.components
	k.bytes += o.bytes
	k.repaired += o.repaired
	k.unknown += o.unknown
	for _, name := range o.unknownKeys {
		k.unknownKeys = leastName(k.unknownKeys, name)
	}
	for i := range k.stats {
		k.stats[i].values.merge(&o.stats[i].values)
	}
	for i := range k.sets {
		k.sets[i].total.Merge(&o.sets[i].total)
		k.sets[i].out.Merge(&o.sets[i].out)
		k.sets[i].in.Merge(&o.sets[i].in)
	}
	k.pairs.merge(&o.pairs)
}

func (k *counter) survey(all []moments, quantiles int) *Survey {
	s := &Survey{Examples: k.examples, Components: k.components, Bytes: k.bytes, Repaired: k.repaired, Unknown: k.unknown,
		UnknownKeys: k.unknownKeys, Pairs: k.pairs.sample()}
	for i := range k.sets {
		t := &k.sets[i]
		set := Set{Kind: t.kind, Name: t.name, Sizes: &t.total}
		if t.edges != nil {
			set.Source, set.Target, set.Out, set.In = t.source, t.target, &t.out, &t.in
		}
		s.Sets = append(s.Sets, set)
	}
	for i := range k.stats {
		t := &k.stats[i]
		s.Features = append(s.Features, Feature{Kind: t.kind, Set: t.set, Name: t.name, Values: t.values.n, NaN: t.values.nan,
			Mean: all[i].mean, Std: all[i].std(), Quantiles: t.values.quantiles(quantiles), Exact: t.values.exact(), deciles: t.values.quantiles(10)})
	}
	return s
}

// finite says whether a figure can be shown.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
