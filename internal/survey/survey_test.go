package survey

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schemaText = `
context { features { key: "label" value { dtype: DT_UINT64 } } }
node_sets { key: "paper" value {
  features { key: "feat" value { dtype: DT_FLOAT shape { dim { size: 2 } } } }
  features { key: "title" value { dtype: DT_STRING } }
  features { key: "years" value { dtype: DT_INT32 shape { dim { size: -1 } } } } } }
node_sets { key: "_readout" }
edge_sets { key: "cites" value { source: "paper" target: "paper" } }
edge_sets { key: "_readout/seed" value { source: "paper" target: "_readout" } }
`

func schema(t testing.TB, text string) *tfgnnpb.GraphSchema {
	t.Helper()
	s, err := tfgnn.ParseSchema("schema", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// file writes Examples as a TFRecord file.
func file(t testing.TB, name string, records ...[]byte) string {
	t.Helper()
	var b []byte
	for _, r := range records {
		b = tfrecord.AppendFrame(b, r)
	}
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// papers returns two graphs, of three papers and of none.
func papers(t testing.TB, s *tfgnnpb.GraphSchema) [][]byte {
	t.Helper()
	c, err := example.NewCodec(s)
	if err != nil {
		t.Fatal(err)
	}
	feat, err := example.Rows([][]float32{{1, 2}, {3, 4}, {5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for _, g := range []*example.GraphTensor{{
		Context: map[string]*example.Tensor{"label": example.Scalars(uint64(1 << 63))},
		NodeSets: map[string]*example.NodeSet{"_readout": {Sizes: []int64{1}}, "paper": {Sizes: []int64{3}, Features: map[string]*example.Tensor{
			"feat": feat, "title": example.Scalars("a", "b", "c"), "years": example.RaggedFromRows([][]int32{{2001}, {}, {1999, 1999}})}}},
		EdgeSets: map[string]*example.EdgeSet{"cites": {Sizes: []int64{4}, SourceIndex: []int64{0, 0, 0, 1}, TargetIndex: []int64{1, 2, 2, 2}},
			"_readout/seed": {Sizes: []int64{1}, SourceIndex: []int64{0}, TargetIndex: []int64{0}}},
	}, {
		Context:  map[string]*example.Tensor{"label": example.Scalars(uint64(7))},
		NodeSets: map[string]*example.NodeSet{"_readout": {Sizes: []int64{0}}, "paper": {Sizes: []int64{0}}},
		EdgeSets: map[string]*example.EdgeSet{"cites": {Sizes: []int64{0}}, "_readout/seed": {Sizes: []int64{0}}},
	}} {
		record, err := c.Encode(new(example.Writer), g)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, append([]byte(nil), record...))
	}
	return records
}

func TestTake(t *testing.T) {
	sch := schema(t, schemaText)
	records := papers(t, sch)
	s, err := Take(context.Background(), vfs.OS, []string{file(t, "a", records...), file(t, "b")}, Options{Schema: sch, Quantiles: 4})
	if err != nil {
		t.Fatal(err)
	}
	if s.Examples != 2 || s.Components != 2 || s.Bytes != int64(len(records[0])+len(records[1])) {
		t.Errorf("found %+v", s)
	}
	if d := cmp.Diff([]Pair{{3, 4}, {0, 0}}, s.Pairs); d != "" {
		t.Error(d)
	}
	type row struct {
		name      string
		values    uint64
		mean      float64
		quantiles []float32
	}
	var rows []row
	for _, f := range s.Features {
		rows = append(rows, row{f.Kind + "/" + f.Set + "/" + f.Name, f.Values, f.Mean, f.Quantiles})
	}
	if d := cmp.Diff([]row{
		{"context//label", 2, (1<<63 + 7) / 2.0, []float32{7, 7, 7, 1 << 63, 1 << 63}},
		{"nodes/_readout/#size", 2, .5, []float32{0, 0, 0, 1, 1}},
		{"nodes/paper/#size", 2, 1.5, []float32{0, 0, 0, 3, 3}},
		{"nodes/paper/feat", 6, 3.5, []float32{1, 2, 3, 5, 6}},
		{"nodes/paper/years", 3, 5999.0 / 3, []float32{1999, 1999, 1999, 2001, 2001}},
		{"edges/_readout/seed/#size", 2, .5, []float32{0, 0, 0, 1, 1}},
		{"edges/cites/#size", 2, 2, []float32{0, 0, 0, 4, 4}},
	}, rows, cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
	for _, set := range s.Sets {
		if set.Name == "cites" && (set.Out.Count() != 3 || set.Out.Max() != 3 || set.Out.Zeros() != 1 || set.In.Max() != 3 || set.In.Sum() != 4) {
			t.Errorf("found out-edges %+v and in-edges %+v", set.Out, set.In)
		}
	}
	text := string(tfgnn.AppendText(nil, s.Stats()))
	for _, want := range []string{"feature_stats {\n  set_type: \"context\"\n  set_name: \"\"\n  feature_name: \"label\"\n  stats {\n    min: 7.0\n    max: 9.223372e+18\n", "median: 3.0", "size_pairs {\n    num_nodes: 3\n    num_edges: 4\n  }"} {
		if !strings.Contains(text, want) {
			t.Errorf("found no %q in\n%s", want, text)
		}
	}
	r := report.New("tfgnn stats", "t", "0", []string{"graphmill"})
	s.Report(r)
	if _, err := r.HTML(); err != nil || len(r.Tables) != 3 || len(r.Plots) != 3 {
		t.Errorf("found %d tables, %d plots, %v", len(r.Tables), len(r.Plots), err)
	}
}

// The survey does not depend on the number of threads, not even in the last bit.
func TestThreads(t *testing.T) {
	sch := schema(t, schemaText)
	c, err := example.NewCodec(sch)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for i := range uint64(3000) {
		record, err := c.Encode(new(example.Writer), c.Random(1, i))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, append([]byte(nil), record...))
	}
	files := []string{file(t, "a", records[:1000]...), file(t, "b", records[1000:]...)}
	var first *tfgnnpb.GraphTensorStats
	for _, threads := range []int{1, 2, 5} {
		s, err := Take(context.Background(), vfs.OS, files, Options{Schema: sch, Threads: threads})
		if err != nil || s.Examples != 3000 {
			t.Fatal(s, err)
		}
		if first == nil {
			first = s.Stats()
		} else if !proto.Equal(first, s.Stats()) {
			t.Fatalf("%d threads: found other statistics", threads)
		}
	}
}

// Errors name the record, a number in a record cannot allocate much memory, and any call to the file system may fail.
func TestErrors(t *testing.T) {
	sch := schema(t, schemaText)
	records := papers(t, sch)
	name := file(t, "x", records[0], records[1], []byte{0xff})
	_, err := Take(context.Background(), vfs.OS, []string{name}, Options{Schema: sch})
	if !errors.Is(err, example.ErrCorrupt) || !strings.HasPrefix(err.Error(), name+": record 2 (byte ") {
		t.Errorf("found %v", err)
	}
	if _, err := Take(context.Background(), vfs.OS, []string{name}, Options{Schema: sch, Quantiles: 3}); err == nil || !strings.Contains(err.Error(), "expected an even number") {
		t.Errorf("found %v", err)
	}
	// Reported and left out, in the order of the records.
	mixed := file(t, "w", []byte{0xff}, records[0], []byte{0xfe}, records[1], []byte{0xfd})
	for threads := range 3 {
		s, err := Take(context.Background(), vfs.OS, []string{mixed, mixed}, Options{Schema: sch, Refusals: 4, Threads: threads})
		if err != nil || s.Examples != 4 || s.Refused != 6 || len(s.Refusals) != 4 || !strings.HasPrefix(s.Refusals[1].Error(), mixed+": record 2 ") {
			t.Errorf("found %+v, %v", s, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Take(ctx, vfs.OS, []string{name}, Options{Schema: sch}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
	whole := file(t, "y", records...)
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := Take(context.Background(), count, []string{whole}, Options{Schema: sch}); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		broken := errors.New("broken")
		if _, err := Take(context.Background(), &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, []string{whole}, Options{Schema: sch}); !errors.Is(err, broken) {
			t.Errorf("call %d fails: found %v", i, err)
		}
	}
	// Two thousand million nodes without features, and one edge.
	latent := schema(t, `node_sets { key: "n" } edge_sets { key: "e" value { source: "n" target: "n" } }`)
	c, err := example.NewCodec(latent)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2_000_000_000
	record, err := c.Encode(new(example.Writer), &example.GraphTensor{NodeSets: map[string]*example.NodeSet{"n": {Sizes: []int64{many}}},
		EdgeSets: map[string]*example.EdgeSet{"e": {Sizes: []int64{3}, SourceIndex: []int64{5, 5, many - 1}, TargetIndex: []int64{0, 1, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Take(context.Background(), vfs.OS, []string{file(t, "z", record)}, Options{Schema: latent})
	if err != nil || s.Sets[1].Out.Zeros() != many-2 || s.Sets[1].Out.Max() != 2 || s.Sets[1].In.Count() != many {
		t.Errorf("found %+v, %v", s, err)
	}
}

func BenchmarkTake(b *testing.B) {
	sch := schema(b, schemaText)
	c, err := example.NewCodec(sch)
	if err != nil {
		b.Fatal(err)
	}
	var records [][]byte
	var bytes int64
	for i := range uint64(20000) {
		record, err := c.Encode(new(example.Writer), c.Random(1, i))
		if err != nil {
			b.Fatal(err)
		}
		records = append(records, append([]byte(nil), record...))
		bytes += int64(len(record))
	}
	name := file(b, "x", records...)
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Take(context.Background(), vfs.OS, []string{name}, Options{Schema: sch, Threads: 2}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "Examples/s")
}

// Any record gives an error or figures that a report can hold.
func FuzzTake(f *testing.F) {
	sch := schema(f, schemaText)
	for _, record := range papers(f, sch) {
		f.Add(record, true)
	}
	f.Add([]byte{}, false)
	codec, err := example.NewCodec(sch)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record []byte, lenient bool) {
		fuzzing.Check(t, len(record), func() {
			k := newCounter(codec, sch)
			c := &chunk{buf: record, ends: []int{len(record)}, places: make([]recordfiles.Place, 1), sums: make([]sums, len(k.stats))}
			if k.count(c, &Options{Lenient: lenient}) != nil {
				return
			}
			all := make([]moments, len(k.stats))
			for i := range all {
				all[i].merge(&c.sums[i])
			}
			s := k.survey(all, 10)
			r := report.New("tfgnn stats", "t", "0", nil)
			s.Report(r)
			if _, err := r.JSON(); err != nil {
				t.Fatal(err)
			}
			_ = tfgnn.AppendText(nil, s.Stats())
		})
	})
}
