package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// fsys does not wait for the disk.
var fsys = vfs.Unsynced{FS: vfs.OS}

func TestMain(m *testing.M) {
	proof.FewerChecks(10) // a run has hundreds of barriers, with files of all tasks
	goleak.VerifyTestMain(m)
}

// engine runs a Work in this process.
func engine(slots int) *stagestest.Engine {
	return &stagestest.Engine{Slots: slots, Open: func(_ context.Context, dir string) (stages.Site, error) { return Open(fsys, dir) }}
}

// testStore is a random store in dir.
func testStore(t testing.TB, dir string, nodes map[string]int, edges []sampletest.Edges) *store.Store {
	t.Helper()
	sampletest.Write(t, dir, nodes, edges, assemble.Options{Primary: graph.In})
	s, err := store.Open(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// typed is a store with types of nodes, of which one has no nodes.
func typed(t testing.TB) *store.Store {
	return testStore(t, filepath.Join(t.TempDir(), "g.store"), map[string]int{"a": 3000, "b": 500, graph.HomogeneousNode: 0}, []sampletest.Edges{
		{Rel: "aa", Src: "a", Dst: "a", Count: 20000}, {Rel: "ab", Src: "a", Dst: "b", Count: 7000}, {Rel: "ba", Src: "b", Dst: "a", Count: 900}, {Rel: "bb", Src: "b", Dst: "b"}})
}

// divisionOf are options under which a small graph is clustered.
func divisionOf(parts int) partition.Division {
	return partition.Division{Options: undirected.Options{Parts: parts, Imbalance: []float64{1.03}, Seed: 7, Threads: 2}, Preset: multilevel.Fast, Whole: 100}
}

// here divides a store in this process.
func here(t testing.TB, s *store.Store, of partition.Division) ([]uint16, ranges.Stats) {
	t.Helper()
	g, err := undirected.Build(t.Context(), s, undirected.BuildOptions{Threads: 2, FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	if g.Constraints, g.Weights, err = partition.NodeWeights(s, of.Balance); err != nil {
		t.Fatal(err)
	}
	part, stats, err := ranges.Partition(t.Context(), g, ranges.Options{Options: of.Options, Preset: of.Preset, Whole: of.Whole, Memory: of.Memory, FS: fsys, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return part, stats
}

// runOf is a run on a store with a work folder.
func runOf(t testing.TB, s *store.Store, dir string, e stages.Engine) *Run {
	t.Helper()
	sum, err := store.Sum(fsys, s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return &Run{FS: fsys, Dir: dir, Engine: e, Store: s, Work: Work{Version: "test", Store: s.Dir, StoreSum: sum}}
}

// divide runs to the end, and compares the parts with those of one process.
func divide(t testing.TB, r *Run, of partition.Division, want []uint16, stats ranges.Stats) {
	t.Helper()
	rows, part, got, err := r.Divide(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	g, err := undirected.Build(t.Context(), r.Store, undirected.BuildOptions{Threads: 2, FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, rows, g)
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(part, want) {
		t.Fatalf("found other parts than one process, with a cut of %d, expected the same ones with %d", got.Cut, stats.Cut)
	}
	if got.Cut != stats.Cut || got.CoreNodes != stats.CoreNodes || got.CorePairs != stats.CorePairs || got.ByDegree != stats.ByDegree || (got.OutOfCore == nil) != (stats.OutOfCore == nil) {
		t.Errorf("found %+v, expected %+v", got, stats)
	}
	if d := got.Passes - stats.Passes; len(part) > 0 && stats.Cut > 0 && (d > 1e-9 || d < -1e-9) {
		t.Errorf("found %v passes, expected %v", got.Passes, stats.Passes)
	}
	if _, err := r.End(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found the work folder, expected that it was removed: %v", err)
	}
}

// sameRows compares the rows of pieces with a graph.
func sameRows(t testing.TB, rows *undirected.Spilled, g *undirected.Graph) {
	t.Helper()
	if rows.Len() != g.Len() || rows.Entries() != g.Entries() {
		t.Fatalf("found %d nodes and %d neighbours, expected %d and %d", rows.Len(), rows.Entries(), g.Len(), g.Entries())
	}
	var m undirected.Buffer
	for v := range g.Len() {
		b, err := rows.Between(v, v+1, &m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.Neighbours, g.Of(uint32(v))) {
			t.Fatalf("node %d: found neighbours %v, expected %v", v, b.Neighbours, g.Of(uint32(v)))
		}
	}
}

// TestEqualsOneProcess checks that parts are those of one process for any store and options, with any number of workers, for any order of tasks, and where tasks run
// twice.
func TestEqualsOneProcess(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := func(name string, most int) int {
			return rapid.SampledFrom([]int{0, 1, rapid.IntRange(2, most).Draw(rt, name)}).Draw(rt, "number of "+name)
		}
		nodes := map[string]int{"a": count("a", 900), "b": count("b", 60), graph.HomogeneousNode: count("others", 9)}
		var edges []sampletest.Edges
		for _, e := range []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a"}, {Rel: "ab", Src: "a", Dst: "b"}, {Rel: "bc", Src: "b", Dst: graph.HomogeneousNode}} {
			if e.Count = rapid.SampledFrom([]int{0, 1, 50, 3000}).Draw(rt, e.Rel); nodes[e.Src] > 0 && nodes[e.Dst] > 0 {
				edges = append(edges, e)
			}
		}
		s := testStore(t, filepath.Join(t.TempDir(), "g.store"), nodes, edges)
		of := divisionOf(rapid.SampledFrom([]int{1, 2, 3, 8}).Draw(rt, "parts"))
		of.Seed, of.Whole = rapid.Uint64().Draw(rt, "seed"), rapid.SampledFrom([]int64{0, 1 << 18}).Draw(rt, "whole")
		of.Balance = partition.Balance{TypesTogether: rapid.Bool().Draw(rt, "types together"), Edges: rapid.Bool().Draw(rt, "edges")}
		want, stats := here(t, s, of)
		e := engine(rapid.IntRange(1, 7).Draw(rt, "workers"))
		e.Twice = rapid.Bool().Draw(rt, "twice")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 0))
		e.Order = random.Shuffle
		divide(t, runOf(t, s, s.Dir+".work", e), of, want, stats)
	})
}

// TestEqualsLarger has graphs that reach the clusters, all passes and the second start, with 1 to 7 workers.
func TestEqualsLarger(t *testing.T) {
	hubs := testStore(t, filepath.Join(t.TempDir(), "hubs.store"), map[string]int{"a": 4000, "b": 30}, []sampletest.Edges{{Rel: "ab", Src: "a", Dst: "b", Count: 60000}, {Rel: "aa", Src: "a", Dst: "a", Count: 3000}})
	for name, x := range map[string]struct {
		s       *store.Store
		balance partition.Balance
		workers []int
	}{
		"typed": {typed(t), partition.Balance{}, []int{1, 2, 3, 5, 7}}, "together": {typed(t), partition.Balance{TypesTogether: true}, []int{4}},
		"edges": {typed(t), partition.Balance{Edges: true}, []int{3}}, "hubs": {hubs, partition.Balance{TypesTogether: true}, []int{2, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			of := divisionOf(8)
			of.Balance = x.balance
			want, stats := here(t, x.s, of)
			for _, workers := range x.workers {
				divide(t, runOf(t, x.s, filepath.Join(t.TempDir(), "work"), engine(workers)), of, want, stats)
			}
		})
	}
}

var errKilled = errors.New("killed")

// TestContinues kills the tasks of random stages until the run ends. A whole task is not run again, and the parts are those of one process.
func TestContinues(t *testing.T) {
	s := typed(t)
	of := divisionOf(4)
	of.Balance.TypesTogether = true
	want, stats := here(t, s, of)
	dir := filepath.Join(t.TempDir(), "work")
	random := rand.New(rand.NewPCG(1, 2))
	for kills := 0; ; kills++ {
		e := engine(4 - kills%3) // also with other numbers of workers than before
		left := random.IntN(60)
		if kills == 12 {
			left = 1 << 30
		}
		e.Fail = func(int) error {
			if left--; left < 0 {
				return errKilled
			}
			return nil
		}
		r := runOf(t, s, dir, e)
		before := wholeTasks(t, dir)
		if kills == 12 {
			divide(t, r, of, want, stats)
			return
		}
		_, _, _, err := r.Divide(t.Context(), of)
		if !errors.Is(err, errKilled) {
			t.Fatalf("found %v, expected %v", err, errKilled)
		}
		if kept, err := r.End(err); !kept || err != nil {
			t.Fatalf("found kept %v and %v, expected that the tasks are kept", kept, err)
		}
		after := wholeTasks(t, dir)
		for stage, n := range before {
			if after[stage] < n {
				t.Fatalf("found %d whole tasks of %s, expected at least the %d before", after[stage], stage, n)
			}
		}
	}
}

// wholeTasks are the numbers of whole tasks by stage. A stage that is whole has more than any other, also after its records were removed.
func wholeTasks(t *testing.T, dir string) map[string]int {
	t.Helper()
	tasks := map[string]int{}
	for _, p := range phases() {
		phase := filepath.Join(dir, p.name)
		if err := filepath.WalkDir(phase, func(path string, d fs.DirEntry, err error) error {
			stage, whole := strings.CutSuffix(path, ".whole")
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !strings.Contains(path, recordsPrefix):
			case whole:
				tasks[stage] = math.MaxInt
			case !d.IsDir() && !strings.Contains(d.Name(), ".") && tasks[filepath.Dir(path)] < math.MaxInt:
				tasks[filepath.Dir(path)]++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return tasks
}

// TestAnotherWork refuses the folder of a run with other options, and names them. Overwrite removes what that run left.
func TestAnotherWork(t *testing.T) {
	s := typed(t)
	of := divisionOf(4)
	dir := filepath.Join(t.TempDir(), "work")
	e := engine(2)
	left := 50
	e.Fail = func(int) error {
		if left--; left < 0 {
			return errKilled
		}
		return nil
	}
	if _, _, _, err := runOf(t, s, dir, e).Divide(t.Context(), of); !errors.Is(err, errKilled) {
		t.Fatalf("found %v, expected %v", err, errKilled)
	}
	of.Seed, of.Parts = 8, 5
	_, _, _, err := runOf(t, s, dir, engine(2)).Divide(t.Context(), of)
	if !errors.Is(err, workfolder.ErrEarlier) || !strings.Contains(err.Error(), "parts") || !strings.Contains(err.Error(), "seed") {
		t.Fatalf("found %v, expected an error that names parts and seed", err)
	}
	want, stats := here(t, s, of)
	r := runOf(t, s, dir, engine(2))
	r.Overwrite = true
	divide(t, r, of, want, stats)
}

// TestSteps runs the job as indexed processes without an engine, each of which ends with the run.
func TestSteps(t *testing.T) {
	s := typed(t)
	of := divisionOf(4)
	want, stats := here(t, s, of)
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 3)
	for i := range int64(3) {
		go func() {
			step := &stages.Step{FS: fsys, Dir: dir, Build: "b", Index: i, Of: 3, Wait: 1 << 40, Threads: 1,
				Open: func(_ context.Context, _, dir string) (stages.Site, error) { return Open(fsys, dir) }}
			ended <- step.Run(t.Context())
		}()
	}
	divide(t, runOf(t, s, dir, &stages.Steps{FS: fsys, Operation: "partition", Build: "b", Processes: 3}), of, want, stats)
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestOutOfCore divides a core that does not fit the memory of a worker.
func TestOutOfCore(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "g.store"), map[string]int{"a": 40000}, []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 1_200_000}})
	of := divisionOf(4)
	of.Memory = ranges.Least(40000, 1, 4)
	g, err := undirected.Spill(t.Context(), s, undirected.BuildOptions{Threads: 2, FS: fsys, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	want, stats, err := ranges.Partition(t.Context(), g, ranges.Options{Options: of.Options, Preset: of.Preset, Whole: of.Whole, Memory: of.Memory, FS: fsys, Temp: t.TempDir()})
	if err != nil || stats.OutOfCore == nil {
		t.Fatalf("found %+v and %v, expected a core out of core", stats, err)
	}
	r := runOf(t, s, filepath.Join(t.TempDir(), "work"), engine(3))
	stats.Passes = 0
	rows, part, got, err := r.Divide(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(part, want) || got.OutOfCore == nil || got.Cut != stats.Cut {
		t.Errorf("found %+v, expected the parts of one process, and %+v", got, stats)
	}
	if _, err := r.End(nil); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedMessage names the file of a message that is not what a worker wrote.
func TestDamagedMessage(t *testing.T) {
	m := &messages{fsys, t.TempDir()}
	if err := os.Mkdir(filepath.Join(m.dir, "want"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := m.read("want", 3); !errors.Is(err, stages.ErrNotWhole) {
		t.Errorf("found %v, expected %v", err, stages.ErrNotWhole)
	}
	if err := m.write("want", 3, message{4, 5, []byte("abc")}); err != nil {
		t.Fatal(err)
	}
	x, err := m.read("want", 3)
	if got := fmt.Sprint(x.read, " ", x.sent, " ", string(x.body)); err != nil || got != "4 5 abc" {
		t.Errorf("found %s and %v, expected 4 5 abc", got, err)
	}
	name := m.file("want", 3)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		c := slices.Clone(b)
		c[i] ^= 1
		for _, bad := range [][]byte{c, b[:i]} {
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := m.read("want", 3); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("byte %d: found %v, expected an error that names the file", i, err)
			}
		}
	}
}
