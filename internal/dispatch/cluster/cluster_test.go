package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// fsys does not wait for the disk.
var fsys = vfs.Unsynced{FS: vfs.OS}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine runs a Work in this process.
type engine struct {
	stagestest.Engine
	busy error // of Free
}

func newEngine() *engine {
	return &engine{Engine: stagestest.Engine{Slots: 2, Open: func(_ context.Context, dir string) (stages.Site, error) { return Open(fsys, dir) }}}
}

func (e *engine) Free(context.Context, string) error { return e.busy }

// testStore is a random store in dir.
func testStore(t testing.TB, dir string, nodes map[string]int, edges []sampletest.Edges, opt assemble.Options) *store.Store {
	t.Helper()
	sampletest.Write(t, dir, nodes, edges, opt)
	s, err := store.Open(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func typed(t testing.TB, dir string) *store.Store {
	return testStore(t, dir, map[string]int{"a": 300, "b": 50}, []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 2000}, {Rel: "ab", Src: "a", Dst: "b", Count: 700}, {Rel: "ba", Src: "b", Dst: "a", Count: 90}, {Rel: "bb", Src: "b", Dst: "b"}}, assemble.Options{Primary: graph.In})
}

// assignment assigns nodes to parts by a function.
func assignment(g *graph.Graph, parts int, of func() int) *assign.Assignment {
	a := &assign.Assignment{Parts: parts, Method: "random", Start: []uint64{0}}
	for _, n := range g.Nodes {
		a.Types, a.Start = append(a.Types, n.Type), append(a.Start, a.Start[len(a.Start)-1]+uint64(n.Count))
		for range n.Count {
			a.Part = append(a.Part, uint16(of()))
		}
	}
	return a
}

// outputs writes parts, by this process or by an engine, and is their manifest.
func outputs(out string, s *store.Store, a *assign.Assignment, opt dispatch.Options, run *Run, each int) (_ string, err error) {
	ctx := context.Background()
	w, err := store.Create(fsys, out, false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	if run == nil {
		p, err := dispatch.Prepare(ctx, fsys, s, a, w, opt)
		if err != nil {
			return "", err
		}
		defer p.Close()
		if _, err := p.Run(ctx); err != nil {
			return "", err
		}
	} else {
		sum, err := store.Sum(fsys, s.Dir)
		if err != nil {
			return "", err
		}
		run.FS, run.Dir, run.Store, run.Writer, run.Assignment, run.Options, run.Segment = fsys, out+".work", s, w, a, opt, each
		run.Work = Work{Store: s.Dir, StoreSum: sum}
		if _, err := run.Make(ctx); err != nil {
			return "", err
		}
	}
	if err := errors.Join(w.Seal(ctx, nil, 1), w.Publish()); err != nil {
		return "", err
	}
	if run != nil {
		if err := os.RemoveAll(run.Dir); err != nil {
			return "", err
		}
	}
	b, err := os.ReadFile(filepath.Join(out, store.ManifestFile))
	return string(b), err
}

// TestEqualsRun checks that parts have the bytes that one process writes, for any store, assignment and options, for any
// segments and order of records, and where functions are called again.
func TestEqualsRun(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		edges := func(name, src, dst string) sampletest.Edges {
			return sampletest.Edges{Rel: name, Src: src, Dst: dst, Count: rapid.IntRange(0, 300).Draw(r, name)}
		}
		nodes, list := map[string]int{"a": rapid.IntRange(1, 100).Draw(r, "a"), "b": rapid.IntRange(1, 20).Draw(r, "b")}, []sampletest.Edges{edges("aa", "a", "a"), edges("ab", "a", "b"), edges("ba", "b", "a")}
		if rapid.IntRange(0, 3).Draw(r, "plain") == 0 {
			nodes, list = map[string]int{graph.HomogeneousNode: nodes["a"]}, []sampletest.Edges{edges(graph.HomogeneousEdge.Rel, graph.HomogeneousNode, graph.HomogeneousNode)}
		}
		s := testStore(t, filepath.Join(dir, "store"), nodes, list, assemble.Options{Primary: graph.Direction(rapid.IntRange(0, 1).Draw(r, "primary")), Both: rapid.Bool().Draw(r, "both")})
		defer s.Close()
		parts := rapid.IntRange(1, 6).Draw(r, "parts")
		a := assignment(s.Graph, parts, func() int { return rapid.IntRange(0, parts-1).Draw(r, "part") })
		opt := dispatch.Options{GraphName: "g", Hops: rapid.IntRange(0, 3).Draw(r, "hops"), Leaving: rapid.Bool().Draw(r, "leaving"), PartIDs: rapid.Bool().Draw(r, "part ids"),
			OriginalNodes: rapid.Bool().Draw(r, "nids"), OriginalEdges: rapid.Bool().Draw(r, "eids"), Formats: dgl.Formats(rapid.IntRange(1, 7).Draw(r, "formats"))}
		e := newEngine()
		e.Slots, e.Twice, e.Order = rapid.IntRange(1, 4).Draw(r, "workers"), rapid.Bool().Draw(r, "twice"), rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "order"), 1)).Shuffle
		run := &Run{Engine: e}
		want, err := outputs(filepath.Join(dir, "one"), s, a, opt, nil, 0)
		if err != nil {
			r.Fatal(err)
		}
		got, err := outputs(filepath.Join(dir, "many"), s, a, opt, run, rapid.IntRange(0, 100).Draw(r, "segment"))
		if err != nil {
			r.Fatal(err)
		}
		if got != want {
			r.Fatalf("found\n%s\nexpected\n%s", got, want)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 3 {
			r.Fatalf("found %v, expected the store and two outputs", entries)
		}
	})
}

// An error of a worker is the error of the run, and a resumed run makes only the parts that are missing.
func TestResume(t *testing.T) {
	for _, hops := range []int{1, 2} {
		t.Run(fmt.Sprint(hops, " hops"), func(t *testing.T) {
			dir := t.TempDir()
			s := typed(t, filepath.Join(dir, "store"))
			defer s.Close()
			next := 0
			a := assignment(s.Graph, 4, func() int { next++; return next % 4 })
			opt := dispatch.Options{GraphName: "g", Hops: hops, Leaving: true, Formats: dgl.COO}
			want, err := outputs(filepath.Join(dir, "one"), s, a, opt, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			e := newEngine()
			e.Slots, e.Fail = 1, func(stage int) error {
				if stage == 2 {
					if done++; done == 2 {
						return errors.New("no power")
					}
				}
				return nil
			}
			out := filepath.Join(dir, "out")
			if _, err := outputs(out, s, a, opt, &Run{Engine: e}, 0); err == nil || !strings.Contains(err.Error(), "no power") {
				t.Fatalf("found %v, expected the error of the worker", err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("found an output after a failure, expected none")
			}
			e.Fail = nil
			// A disk that does not answer is not taken for one without parts.
			for at := int64(1); at <= 3; at++ {
				r := &Run{FS: &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EMFILE}, Dir: out + ".work"}
				if same, _, err := r.same(); same || !errors.Is(err, syscall.EMFILE) {
					t.Errorf("call %d fails: found the same work %v, %v", at, same, err)
				}
			}
			// A run that may not remove the part leaves it: one of another Work, and one beside a job.
			busy := errors.New("a job runs")
			for name, x := range map[string]struct {
				run    Run
				engine *engine
				opt    dispatch.Options
				want   error
			}{
				"another work": {Run{}, e, dispatch.Options{GraphName: "h", Hops: hops, Formats: dgl.COO}, workfolder.ErrEarlier},
				"busy":         {Run{Overwrite: true}, &engine{busy: busy}, opt, busy},
			} {
				x.run.Engine = x.engine
				if _, err := outputs(out, s, a, x.opt, &x.run, 0); !errors.Is(err, x.want) {
					t.Errorf("%s: found %v, expected %v", name, err, x.want)
				}
				if n, err := Finished(vfs.OS, out+".work"); n == 0 || err != nil {
					t.Fatalf("%s: found %d parts, %v, expected the finished ones", name, n, err)
				}
			}
			var did []int // stages of the keys
			e.Opened = func(site stages.Site) {
				do := site.(*Site).job.Do
				site.(*Site).job.Do = func(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
					did = append(did, stage)
					return do(ctx, stage, key, records, emit)
				}
			}
			got, err := outputs(out, s, a, opt, &Run{Engine: e}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			if want := []int{2, 2}; !slices.Equal(did, want) {
				t.Errorf("found a second run of the stages %v, expected two parts", did)
			}
		})
	}
}

// A part that does not fit the memory is refused before the job, where the edges that it owns need more.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	s := typed(t, filepath.Join(dir, "store"))
	defer s.Close()
	a := assignment(s.Graph, 2, func() int { return 0 })
	e := newEngine()
	e.Fail = func(int) error { return errors.New("the job began") }
	_, err := outputs(filepath.Join(dir, "out"), s, a, dispatch.Options{GraphName: "g", Hops: 1, Formats: dgl.COO, Memory: 1 << 20}, &Run{Engine: e}, 0)
	if err == nil || !strings.Contains(err.Error(), "part 0: found a memory bound of 1.00 MiB") {
		t.Errorf("found %v, expected a refusal", err)
	}
}

// Halo edges that need more memory are an error of the worker.
func TestHaloMemory(t *testing.T) {
	dir := t.TempDir()
	s := testStore(t, filepath.Join(dir, "store"), map[string]int{graph.HomogeneousNode: 1000},
		[]sampletest.Edges{{Rel: graph.HomogeneousEdge.Rel, Src: graph.HomogeneousNode, Dst: graph.HomogeneousNode, Count: 60_000}}, assemble.Options{Primary: graph.In})
	defer s.Close()
	next := 0
	a := assignment(s.Graph, 2, func() int { next++; return next % 2 })
	opt := dispatch.Options{GraphName: "g", Hops: 2, Formats: dgl.COO}
	for opt.Memory = 24 << 20; ; opt.Memory += 256 << 10 { // the least that is not refused
		began := false
		e := newEngine()
		e.Fail = func(int) error { began = true; return nil }
		_, err := outputs(filepath.Join(dir, fmt.Sprint(opt.Memory)), s, a, opt, &Run{Engine: e}, 0)
		if err != nil && began {
			if !strings.Contains(err.Error(), "found a memory bound of") {
				t.Errorf("found %v, expected the memory that the part needs", err)
			}
			return
		}
		if err == nil {
			t.Fatalf("found no error of a worker up to %d bytes, expected one", opt.Memory)
		}
	}
}

// A run without progress says so.
func TestStalled(t *testing.T) {
	defer func(d time.Duration) { stallTime = d }(stallTime)
	stallTime = 0
	var told string
	r := Run{FS: fsys, Dir: t.TempDir(), Work: Work{Parts: 4, Segments: make([]dispatch.Segment, 7)}, Stalled: func(text string) { told = text }}
	r.watch()()
	if want := "0 of 7 segments are read, and 0 of 4 parts are made"; !strings.Contains(told, want) {
		t.Errorf("found %q, expected %q", told, want)
	}
}

// Workers refuse the store of another run.
func TestChangedStore(t *testing.T) {
	dir := t.TempDir()
	s := typed(t, filepath.Join(dir, "store"))
	defer s.Close()
	work := filepath.Join(dir, "work")
	w := Work{Format: workFormat, Parts: 2, Store: s.Dir, StoreSum: "xxh3:0"}
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.save(fsys, work, &assign.Assignment{}, &dispatch.Places{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(fsys, work); !errors.Is(err, store.ErrChanged) {
		t.Errorf("found %v, expected %v", err, store.ErrChanged)
	}
}
