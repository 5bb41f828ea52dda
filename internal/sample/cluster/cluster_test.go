package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

var (
	stores   sync.Once
	storeDir string
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if storeDir != "" {
			_ = os.RemoveAll(storeDir)
		}
		os.Exit(code)
	}))
}

// testStores is a store with several types and one with a single edge type.
func testStores(t *testing.T) map[string]*store.Store {
	t.Helper()
	stores.Do(func() {
		var err error
		if storeDir, err = os.MkdirTemp("", "cluster"); err != nil {
			t.Fatal(err)
		}
		sampletest.Write(t, filepath.Join(storeDir, "typed"), map[string]int{"a": 3000, "b": 500},
			[]sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 60_000}, {Rel: "ab", Src: "a", Dst: "b", Count: 30_000}, {Rel: "ba", Src: "b", Dst: "a", Count: 2000}, {Rel: "bb", Src: "b", Dst: "b"}},
			assemble.Options{Both: true})
		sampletest.Write(t, filepath.Join(storeDir, "plain"), map[string]int{graph.HomogeneousNode: 20_000},
			[]sampletest.Edges{{Rel: graph.HomogeneousEdge.Rel, Src: graph.HomogeneousNode, Dst: graph.HomogeneousNode, Count: 150_000}}, assemble.Options{})
	})
	open := map[string]*store.Store{}
	for _, name := range []string{"typed", "plain"} {
		s, err := store.Open(vfs.OS, filepath.Join(storeDir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		open[name] = s
	}
	return open
}

// unsynced spares the tests the time until files are on the disk.
var unsynced = vfs.Unsynced{FS: vfs.OS}

// newEngine runs a Work in this process.
func newEngine(slots int) *stagestest.Engine {
	return &stagestest.Engine{Slots: slots, Open: func(_ context.Context, dir string) (stages.Site, error) { return Open(unsynced, dir) }}
}

// drawOrder is a random order of tasks.
func drawOrder(r *rapid.T) func(n int, swap func(i, j int)) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "order"), 1))
	return random.Shuffle
}

// checkWarnings checks that a submitter told of the edge types of which no edge is a message.
func checkWarnings(t testing.TB, s *store.Store, p *sample.Plan, told []string) {
	t.Helper()
	view, done := sampletest.WithMessages(t, s, p)
	defer done()
	want := 0
	for i, e := range view.Graph.Edges {
		if e.Adj[e.Primary].Far.Len() == 0 && s.Graph.Edges[i].Count > 0 {
			want++
		}
	}
	if len(told) != want || want > 0 && !strings.Contains(told[0], "none of its edges is a message") {
		t.Errorf("found the warnings %q, expected one for each of %d edge types without a message", told, want)
	}
}

// outputs writes the output of a job, by this process or elsewhere, and is its manifest, with the arrays joined.
func outputs(t testing.TB, s *store.Store, p *sample.Plan, job sample.Job, records *output.RecordsOptions, opt sample.Options, run *Run) string {
	t.Helper()
	dir := t.TempDir()
	w, err := store.Create(vfs.OS, filepath.Join(dir, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	var from output.Elsewhere
	if run != nil {
		var told []string
		run.Options.Warn = func(text string) { told = append(told, text) }
		defer func() {
			if job.EpochBatches(len(p.SeedType)) > 0 { // else no job is made
				checkWarnings(t, s, p, told)
			}
		}()
		opt.Given = run.Options.Method == Shuffle || len(p.Messages) > 0 // as the product's submitter, which reads no edges
	}
	view := s
	if !opt.Given {
		var done func()
		view, done = sampletest.WithMessages(t, s, p)
		defer done()
	}
	m, err := sample.New(view.Graph, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if run != nil {
		sum, err := store.Sum(vfs.OS, s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		run.FS, run.Dir, run.Sampler = unsynced, filepath.Join(dir, "work"), m
		run.Work = Work{Store: s.Dir, StoreSum: sum, Plan: text, Ops: opt.Ops, NoEdgeIDs: opt.NoEdgeIDs}
		if records != nil {
			run.Records = records
			run.Work.Records = &Records{Shards: records.Shards, Gzip: records.Gzip, Examples: records.Examples, Components: records.Components, SeedEdges: records.SeedEdges}
		}
		from = run
	}
	var meta *store.Meta
	if records == nil {
		c, err := output.NewCollection(w, m, output.CollectionOptions{Ops: opt.Ops, Elsewhere: from})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if meta, err = c.Finish(store.Made{}); err != nil {
			t.Fatal(err)
		}
	} else {
		o := *records
		o.Elsewhere = from
		c, err := output.NewRecords(w, m, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if err := c.Finish(store.Made{}); err != nil {
			t.Fatal(err)
		}
	}
	if run != nil && run.Work.Batches > 0 {
		if n, err := Pieces(unsynced, run.Dir); n == 0 || err != nil {
			t.Errorf("found %d pieces and whole tasks before the output has its name, expected those from which a run continues: %v", n, err)
		}
	}
	if err := errors.Join(w.Seal(t.Context(), meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	if run != nil { // the caller removes the work folder
		if err := os.RemoveAll(run.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("found %v next to the output, expected nothing", entries)
	}
	out := filepath.Join(dir, "out")
	if m, err := store.ReadManifest(vfs.OS, out); err != nil {
		t.Fatal(err)
	} else if m.Format == store.ShardedManifestFormat {
		divided.Add(1)
		if err := joinInto(t.Context(), out, filepath.Join(dir, "joined")); err != nil {
			t.Fatal(err)
		}
		out = filepath.Join(dir, "joined")
	}
	b, err := os.ReadFile(filepath.Join(out, store.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// divided counts the outputs with arrays in shards.
var divided atomic.Int64

// joinInto joins the arrays of an output in shards.
func joinInto(ctx context.Context, from, to string) error {
	w, err := store.Create(unsynced, to, false)
	if err != nil {
		return err
	}
	if err := store.Join(ctx, unsynced, from, w, 1, func(int) {}); err != nil {
		return w.End(err)
	}
	return w.End(w.Publish())
}

// drawPositions makes edge types wide, as those of 2^32 edges are: none, some or all of them. The caller calls back.
func drawPositions(r *rapid.T) (back func()) {
	before := limits.Positions
	limits.Positions = rapid.SampledFrom([]int64{math.MaxUint32, math.MaxUint32, 0, 2, 20_000}).Draw(r, "positions")
	return func() { limits.Positions = before }
}

// TestEqualsMemory checks that the output of any plan has the bytes that one process writes, by both methods, for any
// division into groups, waves and ranges, for any order of records, where functions are called again, and for wide edge types.
func TestEqualsMemory(t *testing.T) {
	defer func(n int64) { limits.ShardAlign = n }(limits.ShardAlign)
	limits.ShardAlign = 8
	defer func() { t.Logf("%d outputs with arrays in shards", divided.Load()) }()
	for name, s := range testStores(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				defer drawPositions(r)()
				p := sampletest.Plan(r, s.Graph)
				for i := range p.Ops { // ranges have far ends, so what the stream executor refuses is drawn here
					if rapid.IntRange(0, 5).Draw(r, "labor") == 0 {
						p.Ops[i].How, p.Ops[i].HalfLife = sample.Labor, 0
					}
				}
				sampletest.AddMessages(r, s.Graph, p)
				job := sampletest.Job(r, s.Graph, p)
				opt := sample.Options{Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0}
				var records *output.RecordsOptions
				if rapid.Bool().Draw(r, "records") {
					opt = sample.Options{}
					m, err := sample.New(s.Graph, p, sample.Options{Given: true})
					if err != nil {
						r.Fatal(err)
					}
					group := 1
					if p.Scope == sample.ScopeSeed && job.Ranks == 1 {
						group = rapid.IntRange(1, 3).Draw(r, "components")
					}
					records = &output.RecordsOptions{Shards: rapid.IntRange(1, 4).Draw(r, "shards"), Gzip: rapid.Bool().Draw(r, "gzip"), Components: group,
						Examples: output.Examples(m, job, group) * uint64(job.Epochs)}
					m.Close()
				}
				e := newEngine(rapid.IntRange(1, 3).Draw(r, "workers"))
				e.Twice, e.Order = rapid.Bool().Draw(r, "twice"), drawOrder(r)
				run := &Run{
					Engine: e,
					Options: Options{Method: rapid.SampledFrom([]Method{Local, Shuffle, Shuffle, Shuffle}).Draw(r, "method"), GroupSeeds: rapid.IntRange(0, 60).Draw(r, "group"),
						Shards: rapid.SampledFrom([]int{0, 0, 2, 3, 7}).Draw(r, "shares"), ShardBytes: int64(rapid.IntRange(1, 5000).Draw(r, "shard")), WaveSeeds: rapid.SampledFrom([]int{0, 1, 50}).Draw(r, "wave"), RangeNodes: rapid.SampledFrom([]int{0, 7, 100, 100_000}).Draw(r, "range")},
				}
				want := outputs(t, s, p, job, records, opt, nil)
				if got := outputs(t, s, p, job, records, opt, run); got != want {
					r.Fatalf("found\n%s\nexpected\n%s", got, want)
				}
			})
		})
	}
}

func TestDivision(t *testing.T) {
	w := Work{Batches: 10, GroupBatches: 4, Epochs: 2}
	type group struct{ first, n uint64 }
	var got []group
	for g := range w.Groups() {
		first, n := w.Group(g)
		got = append(got, group{first, n})
		for b := first; b < first+n; b++ {
			if w.groupOf(b) != g {
				t.Errorf("batch %d: found group %d, expected %d", b, w.groupOf(b), g)
			}
		}
	}
	if want := []group{{0, 4}, {4, 4}, {8, 2}, {10, 4}, {14, 4}, {18, 2}}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// TestStalled checks that a stage without progress is named.
func TestStalled(t *testing.T) {
	defer func(d time.Duration) { stallTime = d }(stallTime)
	stallTime = 0
	var told string
	r := Run{FS: vfs.OS, Dir: t.TempDir(), Work: Work{Batches: 10, GroupBatches: 1, Method: Shuffle}, Options: Options{Warn: func(text string) { told = text }}}
	watch := r.watch()
	for _, test := range []struct {
		counts Counts
		want   string
	}{
		{Counts{}, "no worker has started"},
		{Counts{Started: 3}, "stage start has drawn for 3 of 10 groups"},
		{Counts{Started: 10, Requests: 50, Answers: 20}, "stage range has drawn for 20 of 50 nodes"},
		{Counts{Started: 10, Requests: 50, Answers: 50, Pieces: 4}, "4 of 10 pieces are written, and 2 are in the output"},
	} {
		b, err := json.Marshal(test.counts)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(r.Dir, "workers"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.Dir, "workers", "w.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		watch(2)
		watch(2)
		if !strings.Contains(told, test.want) {
			t.Errorf("found %q, expected %q", told, test.want)
		}
	}
}

// samplerAndWork makes the sampler and the Work of a plan, as the submitter does.
func samplerAndWork(t *testing.T, s *store.Store, p *sample.Plan) (*sample.Sampler, Work) {
	t.Helper()
	m, err := sample.New(s.Graph, p, sample.Options{Given: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	sum, err := store.Sum(vfs.OS, s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return m, Work{Store: s.Dir, StoreSum: sum, Plan: text}
}

// TestFaults checks what a run leaves where workers fail: an error with their text, no piece that is not whole, and pieces
// from which it continues.
func TestFaults(t *testing.T) {
	s := testStores(t)["typed"]
	p := &sample.Plan{SeedType: []string{"a"}, Scope: sample.ScopeSeed, Ops: []sample.Op{
		{From: []int{0}, Edges: "a:aa:a", Dir: graph.In, Take: 3}, {From: []int{1}, Edges: "a:aa:a", Dir: graph.In, Take: 2}}}
	job := sample.Job{BatchSize: 10, Epochs: 1}
	for v := range uint32(200) {
		job.Seeds = append(job.Seeds, v)
	}
	m, work := samplerAndWork(t, s, p)
	dir := filepath.Join(t.TempDir(), "work")
	calls, left := 0, 0
	e := newEngine(1)
	e.Fail = func(stage int) error {
		if calls++; stage == 2 && calls > left {
			return errors.New("the disk of this worker is on fire")
		}
		return nil
	}
	disk := vfs.OS
	run := func() (pieces int, err error) {
		r := &Run{FS: disk, Dir: dir, Engine: e, Sampler: m, Work: work,
			Options: Options{Method: Shuffle, GroupSeeds: 50}}
		err = r.Make(t.Context(), job, func(piece vfs.File) (uint64, error) {
			pieces++
			_, err := io.Copy(io.Discard, piece)
			return 0, err
		})
		return pieces, err
	}
	taken, err := run()
	if err == nil || !strings.Contains(err.Error(), "the disk of this worker is on fire") {
		t.Errorf("found %v, expected the error of the worker", err)
	}
	// A disk that does not answer is not taken for one without pieces.
	there, err := Pieces(vfs.OS, dir)
	if err != nil {
		t.Error(err)
	}
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EMFILE}
		n, err := Pieces(fault, dir)
		if fault.Calls() < at {
			break
		}
		if err == nil && n < there {
			t.Errorf("call %d fails: found %d pieces, expected at least %d or an error", at, n, there)
		}
	}
	for at := int64(1); at <= 3; at++ {
		disk = &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO}
		if _, err := run(); !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d fails: found %v", at, err)
		}
		disk = vfs.OS
		if n, err := Pieces(vfs.OS, dir); n != there || err != nil {
			t.Errorf("call %d fails: found %d pieces, %v, expected %d", at, n, err, there)
		}
	}
	pieces, err := filepath.Glob(filepath.Join(dir, "pieces-*", "0*"))
	if err != nil || len(pieces)+taken == 0 {
		t.Fatalf("found %v and %v, expected the pieces of groups that were assembled before the error", pieces, err)
	}
	// A piece that lost its end is made again. The piece of the first group may have been taken, and is then gone.
	for _, piece := range pieces {
		if err := os.Truncate(piece, 20); err != nil {
			t.Fatal(err)
		}
	}
	left = 1 << 30
	if pieces, err := run(); err != nil || pieces != 4 {
		t.Errorf("found %d pieces and %v, expected 4", pieces, err)
	}
	// The caller was killed before the output had its name: another one needs no worker.
	jobs := e.Jobs
	if pieces, err := run(); err != nil || pieces != 4 || e.Jobs != jobs {
		t.Errorf("found %d pieces, %v and %d jobs, expected 4 without another job than the %d", pieces, err, e.Jobs, jobs)
	}
}

// TestOtherLaw checks that a worker with another draw law refuses the work, instead of drawing other edges.
func TestOtherLaw(t *testing.T) {
	dir := t.TempDir()
	for law, want := range map[int]string{draw.Version: "cannot read", draw.Version + 1: "install the same version on all machines"} {
		w := Work{Format: workFormat, ID: "x", Shards: 1, Law: law, Store: filepath.Join(dir, "none"), Plan: []byte("{}"), BatchSize: 1, GroupBatches: 1, Method: Local}
		b, err := json.Marshal(&w)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, workFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(vfs.OS, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("law %d: found %v, %v, expected an error with %q", law, s, err, want)
		}
	}
}

// TestRefusesGiven checks that workers that read ranges refuse what needs more than the edges that ops take.
func TestRefusesGiven(t *testing.T) {
	s := testStores(t)["typed"]
	e := s.Graph.Edges[0].Type
	for name, edit := range map[string]func(p *sample.Plan){
		"an exclusion":                  func(p *sample.Plan) { p.Exclude = &sample.Exclude{} },
		"all edges between their nodes": func(p *sample.Plan) { p.Kind = sample.Induced },
		"how ladies": func(p *sample.Plan) {
			p.Ops = []sample.Op{{From: []int{0}, Edges: p.SeedEdges, Take: 1, How: sample.Ladies}}
		},
		"how labor": func(p *sample.Plan) {
			p.Ops = []sample.Op{{From: []int{0}, Edges: p.SeedEdges, Take: 1, How: sample.Labor, Parameters: sample.Parameters{Importance: 1}}}
		},
		"negatives by degree": func(p *sample.Plan) {
			p.Negatives = &sample.Negatives{How: sample.Triplet, Each: 1, By: sample.ByDegree}
		},
	} {
		p := &sample.Plan{SeedType: []string{e.Src, e.Dst}, SeedEdges: e.String(), Scope: sample.ScopeBatch}
		edit(p)
		m, err := sample.New(s.Graph, p, sample.Options{Given: true})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		r := &Run{FS: vfs.OS, Dir: filepath.Join(t.TempDir(), "work"), Engine: newEngine(1), Sampler: m,
			Work: Work{Store: s.Dir, Plan: text}, Options: Options{Method: Shuffle}}
		err = r.Make(t.Context(), sample.Job{Seeds: []uint32{0, 0, 1, 1}, BatchSize: 2}, func(vfs.File) (uint64, error) { return 0, nil })
		if !errors.Is(err, sample.ErrFetch) || !strings.Contains(err.Error(), name) {
			t.Errorf("found error %v, expected one that names %s", err, name)
		}
		m.Close()
	}
}

// TestSparse checks outputs as TestEqualsMemory does, on graphs where the first frontiers of an op often draw nothing.
func TestSparse(t *testing.T) {
	defer func(n int64) { limits.ShardAlign = n }(limits.ShardAlign)
	limits.ShardAlign = 8
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		defer drawPositions(r)()
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		p, job := sampletest.SparseCase(r, s.Graph)
		sampletest.AddMessages(r, s.Graph, p)
		sampletest.AddTimes(r, s.Graph, p)
		methods := []Method{Local, Shuffle, Shuffle}
		if p.CanGive(s.Graph) != nil {
			methods = []Method{Local}
		}
		e := newEngine(rapid.IntRange(1, 3).Draw(r, "workers"))
		e.Order = drawOrder(r)
		run := &Run{
			Engine: e,
			Options: Options{Shards: rapid.SampledFrom([]int{0, 2, 5}).Draw(r, "shares"), ShardBytes: 8, Method: rapid.SampledFrom(methods).Draw(r, "method"), GroupSeeds: rapid.IntRange(0, 10).Draw(r, "group"),
				WaveSeeds: rapid.SampledFrom([]int{0, 1, 5}).Draw(r, "wave"), RangeNodes: rapid.SampledFrom([]int{0, 1, 3}).Draw(r, "range")},
		}
		opt := sample.Options{Ops: rapid.Bool().Draw(r, "ops")}
		want := outputs(t, s, p, job, nil, opt, nil)
		if got := outputs(t, s, p, job, nil, opt, run); got != want {
			r.Fatalf("found\n%s\nexpected\n%s", got, want)
		}
	})
}
