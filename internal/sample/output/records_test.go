package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// writeRecords makes a whole output of jobs.
func writeRecords(ctx context.Context, fsys vfs.FS, dir string, s *sample.Sampler, opt RecordsOptions, jobs ...sample.Job) (err error) {
	for _, j := range jobs {
		opt.Examples += Examples(s, j, opt.Components)
	}
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	r, err := NewRecords(w, s, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, j := range jobs {
		if _, err := r.Run(ctx, j); err != nil {
			return err
		}
	}
	if err := r.Finish(store.Made{}); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, 1); err != nil {
		return err
	}
	return w.Publish()
}

// readShards is the records of each shard.
func readShards(t testing.TB, dir string) [][][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*-of-*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var shards [][][]byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tfrecord.Open(bytes.NewReader(b), file, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var records [][]byte
		for {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, bytes.Clone(record))
		}
		shards = append(shards, records)
	}
	return shards
}

// contents is the values of all features of an Example, printed.
func contents(t testing.TB, record []byte) map[string]string {
	t.Helper()
	var d example.Decoder
	if err := d.Decode(record); err != nil {
		t.Fatal(err)
	}
	features := map[string]string{}
	for i := range d.Features() {
		f := &d.Features()[i]
		features[string(f.Key)] = printed(f.AppendInts(nil), f.AppendFloats(nil), f.AppendTexts(nil))
	}
	return features
}

func printed(ints []int64, floats []float32, texts [][]byte) string {
	return fmt.Sprintf("%v %v %q", ints, floats, texts)
}

func widen(v []uint32) []int64 {
	var out []int64
	for _, x := range v {
		out = append(out, int64(x))
	}
	return out
}

// expected is the contents of a subgraph, derived value by value.
func expected(s *sample.Sampler, sub *sample.Subgraph, names map[string]string, ids string) map[string]string {
	g, features := s.Graph(), map[string]string{}
	columns := func(prefix string, cs []*graph.Column, rows []uint32) {
		for _, c := range cs {
			if c.Name == graph.PositionColumn || c.Name == sample.OnesColumn {
				continue
			}
			var (
				ints, lengths []int64
				floats        []float32
				texts         [][]byte
			)
			for _, r := range rows {
				width := 1
				for _, d := range c.Shape {
					width *= max(d, 1)
				}
				first, last := int(r)*width, (int(r)+1)*width
				if c.Ragged() {
					first, last = int(c.Offsets[0].At(int(r)))*width, int(c.Offsets[0].At(int(r)+1))*width
					lengths = append(lengths, int64((last-first)/width))
				}
				for i := first; i < last; i++ {
					switch c.DType {
					case graph.Bool, graph.Uint8:
						ints = append(ints, int64(c.Values[i]))
					case graph.Int16:
						ints = append(ints, int64(graph.View[int16](c.Values)[i]))
					case graph.Int32:
						ints = append(ints, int64(graph.View[int32](c.Values)[i]))
					case graph.Int64, graph.Uint64:
						ints = append(ints, graph.View[int64](c.Values)[i])
					case graph.Float16:
						floats = append(floats, example.Float16(graph.View[uint16](c.Values)[i]))
					case graph.BFloat16:
						floats = append(floats, math.Float32frombits(uint32(graph.View[uint16](c.Values)[i])<<16))
					case graph.Float32:
						floats = append(floats, graph.View[float32](c.Values)[i])
					case graph.Float64:
						floats = append(floats, float32(graph.View[float64](c.Values)[i]))
					case graph.String:
						texts = append(texts, c.Text(i))
					}
				}
			}
			features[prefix+c.Name] = printed(ints, floats, texts)
			if c.Ragged() {
				features[prefix+c.Name+".d1"] = printed(lengths, nil, nil)
			}
		}
	}
	for i, n := range g.Nodes {
		rows := sub.Nodes[i]
		if len(rows) == 0 {
			continue
		}
		prefix := "nodes/" + names[n.Type] + "."
		features[prefix+"#size"] = printed([]int64{int64(len(rows))}, nil, nil)
		columns(prefix, n.Columns, rows)
		if n.Type == ids {
			c := *n.IDs
			c.Name = "#id"
			columns(prefix, []*graph.Column{&c}, rows)
		}
	}
	for i, e := range g.Edges {
		es := sub.Edges[i]
		if len(es.Src) == 0 {
			continue
		}
		prefix := "edges/" + names[e.Type.String()] + "."
		features[prefix+"#size"] = printed([]int64{int64(len(es.Src))}, nil, nil)
		features[prefix+"#source"] = printed(widen(es.Src), nil, nil)
		features[prefix+"#target"] = printed(widen(es.Dst), nil, nil)
		columns(prefix, e.Columns, es.ID.U32)
	}
	if s.Plan().Scope != sample.ScopeSeed {
		features["context/num_seeds"] = printed(widen(sub.NodesByHop[g.NodeType(s.Plan().SeedType[0])][:1]), nil, nil)
	}
	return features
}

// The names of the edge sets of typed where both "by" relations are drawn.
var typedNames = map[string]string{
	"paper": "paper", "author": "author", "venue": "venue",
	"paper:cites:paper": "cites", "author:by:paper": "author_by_paper", "author:by:author": "author_by_author", "paper:at:venue": "at",
}

var homogeneousNames = map[string]string{"_N": "node", "_N:_E:_N": "edge"}

// Every value of every subgraph is in its Example, and nothing else.
func TestRecordsHoldTheSubgraphs(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      *graph.Graph
		names  map[string]string
		fanout string
		opt    sample.FanoutOptions
		ids    string
		ranks  int
	}{
		{"seed", typed(200), typedNames, "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, "", 0},
		{"ids", typed(200), typedNames, "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, "paper", 0},
		{"batch", typed(200), typedNames, "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeBatch}, "paper", 0},
		{"out", typed(200), typedNames, "cites=3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed, Dir: graph.Out}, "", 0},
		{"homogeneous", homogeneous(300), homogeneousNames, "3,2", sample.FanoutOptions{SeedType: []string{"_N"}, Scope: sample.ScopeSeed}, "", 0},
		{"ranks", homogeneous(300), homogeneousNames, "3,2", sample.FanoutOptions{SeedType: []string{"_N"}, Scope: sample.ScopeSeed}, "", 2},
		{"no edges", typed(20), typedNames, "0", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sampler(t, c.g, c.fanout, c.opt, false)
			dir := filepath.Join(t.TempDir(), "out")
			job := sample.Job{Seeds: seeds(c.g.Nodes[c.g.NodeType(c.opt.SeedType[0])].Count), BatchSize: 30, Seed: 5, Threads: 2, Ranks: c.ranks, Rank: c.ranks / 2}
			second := job
			second.Epoch = 1
			opt := RecordsOptions{Shards: 3}
			if c.ids != "" {
				opt.IDs = []string{c.ids}
			}
			if err := writeRecords(context.Background(), vfs.OS, dir, s, opt, job, second); err != nil {
				t.Fatal(err)
			}
			records := slices.Concat(readShards(t, dir)...)
			schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, dir)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for _, j := range []sample.Job{job, second} {
				subgraphs(t, s, j, func(_ *sample.Batch, sub *sample.Subgraph) {
					got, want := contents(t, records[i]), expected(s, sub, c.names, c.ids)
					if !maps.Equal(got, want) {
						t.Fatalf("subgraph %d: found %v\nexpected %v", i, got, want)
					}
					declared(t, schema, slices.Collect(maps.Keys(got)))
					i++
				})
			}
			if i != len(records) {
				t.Errorf("found %d records, expected %d", len(records), i)
			}
			if roots := schema.GetInfo().GetRootSet(); schema.GetInfo().GetGraphType() != tfgnnpb.GraphType_SUBGRAPH || !slices.Equal(roots, []string{c.names[c.opt.SeedType[0]]}) {
				t.Errorf("found info %v", schema.GetInfo())
			}
		})
	}
}

// declared fails for a key that the schema does not have.
func declared(t *testing.T, schema *tfgnnpb.GraphSchema, keys []string) {
	t.Helper()
	known := map[string]bool{}
	add := func(kind, set string, features map[string]*tfgnnpb.Feature) {
		for name := range features {
			known[tfgnn.FeatureKey(kind, set, name)] = true
			known[tfgnn.RaggedKey(tfgnn.FeatureKey(kind, set, name), 1)] = true
		}
		for _, name := range []string{"#size", "#source", "#target"} {
			known[tfgnn.FeatureKey(kind, set, name)] = true
		}
	}
	add("context", "", schema.GetContext().GetFeatures())
	for name, set := range schema.NodeSets {
		add("nodes", name, set.Features)
	}
	for name, set := range schema.EdgeSets {
		add("edges", name, set.Features)
	}
	for _, k := range keys {
		if !known[k] {
			t.Fatalf("found key %q, which the schema does not declare", k)
		}
	}
}

func TestSchema(t *testing.T) {
	s := sampler(t, typed(40), "cites=2;author:by:paper=2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeBatch}, false)
	n, err := NewEncoding(s.Graph(), nil, s.Plan(), []string{"paper"}, false)
	if err != nil {
		t.Fatal(err)
	}
	got := string(tfgnn.AppendText(nil, n.schema))
	want, err := os.ReadFile("testdata/schema.pbtxt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		if *update {
			if err := os.WriteFile("testdata/schema.pbtxt", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("found\n%s\nrun the test with -update to accept it", got)
	}
}

func TestRefusals(t *testing.T) {
	seedScope := sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}
	rename := func(from, to string) *graph.Graph {
		g := typed(20)
		for _, n := range g.Nodes {
			if n.Type == from {
				n.Type = to
			}
		}
		for _, e := range g.Edges {
			for _, end := range []*string{&e.Type.Src, &e.Type.Dst} {
				if *end == from {
					*end = to
				}
			}
		}
		g.Sort()
		return g
	}
	collide := typed(20)
	collide.Nodes[collide.NodeType("paper")].Columns[0].Name = "#size"
	both := rename("author", "_N")
	both.Nodes = append(both.Nodes, &graph.Nodes{Type: "node", Count: 20})
	both.Edges = append(both.Edges, edgesOf(graph.EdgeType{Src: "node", Rel: "in", Dst: "paper"}, 20, 20, 30, newRand()))
	both.Sort()
	withID := typed(20)
	withID.Nodes[withID.NodeType("paper")].Columns[0].Name = "#id"
	deep := typed(20)
	deep.Nodes[deep.NodeType("paper")].Columns[0].Shape = []int{2, -1}
	column := func(g *graph.Graph, name string) *graph.Column {
		return graph.FindColumn(g.Nodes[g.NodeType("paper")].Columns, name)
	}
	descend, beyond := typed(20), typed(20)
	ends := column(descend, "title").StringOffsets.U64
	ends[3], ends[4] = ends[5], ends[2]
	column(beyond, "ragged").Offsets[0].U64[20]++
	for _, c := range []struct {
		g   *graph.Graph
		opt RecordsOptions
		err string
	}{
		{typed(20), RecordsOptions{Shards: 100000}, "found 100000 shards"},
		{typed(20), RecordsOptions{Shards: -1}, "found -1 shards"},
		{typed(20), RecordsOptions{Name: "a/b"}, `found name "a/b" of the records`},
		{typed(20), RecordsOptions{Name: ".."}, `found name ".."`},
		{typed(20), RecordsOptions{IDs: []string{"author"}}, `found node type "author" to write the ids of`},
		{typed(20), RecordsOptions{IDs: []string{"nobody"}}, `found node type "nobody"`},
		{collide, RecordsOptions{}, `features["#size"]: found the name #size, which the encoding uses`},
		{both, RecordsOptions{}, `found node set name "node" for both _N and node`},
		{withID, RecordsOptions{IDs: []string{"paper"}}, `paper: found column "#id" in addition to the original ids`},
		{deep, RecordsOptions{}, `paper: column "bool": found 0 lists of offsets for shape [2 -1]`},
		{descend, RecordsOptions{}, `paper: column "title": found offset`},
		{beyond, RecordsOptions{}, `paper: column "ragged": found 108 bytes`},
	} {
		s := sampler(t, c.g, "2,2", seedScope, false)
		w := create(t, vfs.OS, filepath.Join(t.TempDir(), "out"))
		if _, err := NewRecords(w, s, c.opt); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("found error %v, expected %q", err, c.err)
		}
	}
	g := typed(20)
	// The number of subgraphs is checked.
	s := sampler(t, g, "2", seedScope, false)
	for _, n := range []uint64{19, 21} {
		r, err := NewRecords(create(t, vfs.OS, filepath.Join(t.TempDir(), "out")), s, RecordsOptions{Examples: n})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Run(context.Background(), sample.Job{Seeds: seeds(20), BatchSize: 5})
		if err == nil {
			err = r.Finish(store.Made{})
		}
		if err == nil || !strings.Contains(err.Error(), "records, expected the") {
			t.Errorf("%d of 20 subgraphs: found error %v", n, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// files is the bytes of all files of a folder.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The bytes do not depend on the number of threads, and the records depend neither on compression nor on the number of
// shards.
func TestRecordsAreDeterministic(t *testing.T) {
	for _, scope := range []sample.Scope{sample.ScopeSeed, sample.ScopeBatch} {
		s := sampler(t, typed(100), "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: scope}, false)
		job := sample.Job{Seeds: seeds(100), BatchSize: 7, Seed: 5, Shuffle: true}
		var all [][]byte
		for _, shards := range []int{1, 3, 101} {
			for _, zip := range []bool{false, true} {
				var first map[string]string
				for _, threads := range []int{1, 2, 8} {
					dir := filepath.Join(t.TempDir(), "out")
					job.Threads = threads
					if err := writeRecords(context.Background(), vfs.OS, dir, s, RecordsOptions{Shards: shards, Gzip: zip}, job); err != nil {
						t.Fatal(err)
					}
					got := files(t, dir)
					if first == nil {
						first = got
					}
					if !maps.Equal(got, first) {
						t.Fatalf("%d shards, gzip %v: %d threads give other bytes than 1", shards, zip, threads)
					}
					if threads > 1 {
						continue
					}
					byShard := readShards(t, dir)
					if len(byShard) != shards {
						t.Fatalf("found %d shards, expected %d", len(byShard), shards)
					}
					for i, r := range byShard {
						if n := len(slices.Concat(byShard...)); len(r) < n/shards || len(r) > n/shards+1 {
							t.Errorf("shard %d of %d: found %d of %d records", i, shards, len(r), n)
						}
					}
					records := slices.Concat(byShard...)
					if all == nil {
						all = records
					}
					if !slices.EqualFunc(records, all, bytes.Equal) {
						t.Errorf("%d shards, gzip %v: found other records", shards, zip)
					}
				}
			}
		}
	}
}

// The number of subgraphs of all ranks is known before they are made, with whole batches or without.
func TestSubgraphs(t *testing.T) {
	g := typed(40)
	rapid.Check(t, func(t *rapid.T) {
		scope := rapid.SampledFrom([]sample.Scope{sample.ScopeSeed, sample.ScopeBatch}).Draw(t, "scope")
		s, err := sample.New(g, &sample.Plan{SeedType: []string{"paper"}, Scope: scope}, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		job := sample.Job{
			Seeds:     seeds(40)[:rapid.IntRange(0, 40).Draw(t, "seeds")],
			BatchSize: rapid.IntRange(1, 15).Draw(t, "batch size"),
			Ranks:     rapid.IntRange(0, 4).Draw(t, "ranks"),
		}
		for job.Rank = range max(job.Ranks, 1) {
			stats, err := sample.Run(context.Background(), s, job, func() int { return 0 },
				func(int, *sample.Batch, *sample.Subgraph) error { return nil }, func(int) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if got := Subgraphs(s, job); got != stats.Subgraphs {
				t.Fatalf("rank %d: found %d, expected %d", job.Rank, got, stats.Subgraphs)
			}
		}
	})
}

// If any call to the file system fails, there is an error, or the whole output, and no goroutine is left (see
// TestMain).
func TestRecordsFail(t *testing.T) {
	s := sampler(t, typed(60), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	job := sample.Job{Seeds: seeds(60), BatchSize: 7, Threads: 2}
	count := &vfs.Fault{FS: vfs.OS}
	first := filepath.Join(t.TempDir(), "out")
	if err := writeRecords(context.Background(), count, first, s, RecordsOptions{Shards: 2}, job); err != nil {
		t.Fatal(err)
	}
	whole := files(t, first)
	broken := errors.New("broken")
	parent := t.TempDir()
	for i := int64(1); i <= count.Calls(); i++ {
		dir := filepath.Join(parent, fmt.Sprint(i))
		err := writeRecords(context.Background(), &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, dir, s, RecordsOptions{Shards: 2}, job)
		switch _, missing := os.Stat(dir); {
		case missing != nil && err == nil:
			t.Errorf("call %d fails: found no error and no output", i)
		case missing == nil && !maps.Equal(files(t, dir), whole):
			t.Errorf("call %d fails: found an output that is not whole (error %v)", i, err)
		}
	}
}

func TestRecordsAreCancelled(t *testing.T) {
	s := sampler(t, typed(60), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := filepath.Join(t.TempDir(), "out")
	err := writeRecords(ctx, vfs.OS, dir, s, RecordsOptions{}, sample.Job{Seeds: seeds(60), BatchSize: 7, Threads: 2})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
		t.Errorf("found %v left", left)
	}
}

func TestNothingIsAllocatedASubgraph(t *testing.T) {
	s := sampler(t, typed(500), "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	n, err := NewEncoding(s.Graph(), nil, s.Plan(), []string{"paper"}, false)
	if err != nil {
		t.Fatal(err)
	}
	c, e := s.NewContext(), &examplecolumns.Encoder{}
	a, r := newGatherer(n), newArranger(s.Graph(), &RecordsOptions{})
	seed := []uint32{0}
	one := func() {
		seed[0] = (seed[0] + 1) % 500
		sub, err := c.Sample(sample.Input{Seeds: seed})
		if err != nil {
			t.Fatal(err)
		}
		a.add(r.arrange(sub), seed)
		n.encode(e, &a.content)
		a.reset()
	}
	for range 500 {
		one()
	}
	if got := testing.AllocsPerRun(500, one); got > 0 {
		t.Errorf("found %v allocations per subgraph", got)
	}
}
