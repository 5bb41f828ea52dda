package cluster

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// result has the fields of a Result that do not depend on where the division ran.
func result(r *partition.Result) any {
	return struct {
		Assignment              *assign.Assignment
		Constraints             []string
		Caps                    []int64
		Quality, Trainers       *undirected.Quality
		Within                  bool
		RandomCut, RandomVolume float64
		Gaps                    []partition.Gap
		Relations               []partition.Relation
		Nodes                   int
		Pairs                   int64
	}{r.Assignment, r.Constraints, r.Caps, r.Quality, r.Trainers, r.Within, r.RandomCut, r.RandomVolume, r.Gaps, r.Relations, r.Nodes, r.Pairs}
}

// equalMeasures divides a store here and on workers, and compares the results. It returns the number of divisions that the workers measured.
func equalMeasures(t testing.TB, s *store.Store, o partition.Options, workers int) int {
	t.Helper()
	o.Method, o.Temp = partition.Ranges, t.TempDir()
	want, err := partition.Run(t.Context(), fsys, s, o)
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, s, filepath.Join(t.TempDir(), "work"), engine(workers))
	o.Elsewhere = r
	got, err := partition.Run(t.Context(), fsys, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result(want), result(got)); diff != "" {
		t.Fatalf("found other results than one process (-one +workers):\n%s", diff)
	}
	if _, err := r.End(nil); err != nil {
		t.Fatal(err)
	}
	return r.measured
}

// TestMeasures checks that workers measure what one process does.
func TestMeasures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := map[string]int{"a": rapid.IntRange(0, 500).Draw(rt, "a"), "b": rapid.IntRange(0, 40).Draw(rt, "b"), graph.HomogeneousNode: rapid.IntRange(0, 3).Draw(rt, "others")}
		var edges []sampletest.Edges
		for _, e := range []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a"}, {Rel: "ab", Src: "a", Dst: "b"}, {Rel: "ba", Src: "b", Dst: "a"}, {Rel: "bc", Src: "b", Dst: graph.HomogeneousNode}} {
			if e.Count = rapid.SampledFrom([]int{0, 1, 9, 50, 3000}).Draw(rt, e.Rel); nodes[e.Src] > 0 && nodes[e.Dst] > 0 {
				edges = append(edges, e)
			}
		}
		dir := filepath.Join(t.TempDir(), "g.store")
		sampletest.Write(t, dir, nodes, edges, assemble.Options{Primary: rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(rt, "primary"), Both: rapid.Bool().Draw(rt, "both")})
		s, err := store.Open(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		equalMeasures(t, s, partition.Options{Parts: rapid.SampledFrom([]int{1, 2, 3, 8, 70}).Draw(rt, "parts"), Trainers: rapid.IntRange(1, 3).Draw(rt, "trainers"), Seed: rapid.Uint64().Draw(rt, "seed"),
			Balance: partition.Balance{TypesTogether: rapid.Bool().Draw(rt, "types together"), Edges: rapid.Bool().Draw(rt, "edges")}}, rapid.IntRange(1, 5).Draw(rt, "workers"))
	})
}

// TestMeasuresAgain checks the same where parts lack edges of a type, so that nodes move after the first measures.
func TestMeasuresAgain(t *testing.T) {
	for _, primary := range []graph.Direction{graph.In, graph.Out} {
		dir := filepath.Join(t.TempDir(), "g.store")
		sampletest.Write(t, dir, map[string]int{"a": 400, "b": 40}, []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 3000}, {Rel: "ba", Src: "b", Dst: "a", Count: 12}}, assemble.Options{Primary: primary})
		s, err := store.Open(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, trainers := range []int{1, 2} {
			if n := equalMeasures(t, s, partition.Options{Parts: 8, Trainers: trainers, Seed: 3}, 3); n != partition.MostMeasures {
				t.Errorf("%v, %d trainers: found %d measured divisions, expected %d", primary, trainers, n, partition.MostMeasures)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// neighbours counts the bytes of neighbours that a submitter reads.
type neighbours struct {
	vfs.FS
	read *atomic.Int64
}

func (f neighbours) Open(name string) (vfs.File, error) {
	file, err := f.FS.Open(name)
	if err == nil && strings.Contains(name, rowsPrefix) {
		return countedFile{file, f.read}, nil
	}
	return file, err
}

type countedFile struct {
	vfs.File
	read *atomic.Int64
}

func (f countedFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	f.read.Add(int64(n))
	return n, err
}

func (f countedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.read.Add(int64(n))
	return n, err
}

// TestSubmitterReadsNoNeighbours checks that the submitter of a graph all of whose parts have nodes and edges of all types reads nothing of the rows.
func TestSubmitterReadsNoNeighbours(t *testing.T) {
	s := testStore(t, filepath.Join(t.TempDir(), "g.store"), map[string]int{"a": 3000, "b": 500}, []sampletest.Edges{{Rel: "aa", Src: "a", Dst: "a", Count: 20000}, {Rel: "ab", Src: "a", Dst: "b", Count: 7000}})
	r := runOf(t, s, filepath.Join(t.TempDir(), "work"), engine(3))
	var read atomic.Int64
	r.FS = neighbours{fsys, &read}
	result, err := partition.Run(t.Context(), fsys, s, partition.Options{Method: partition.Ranges, Parts: 4, Temp: t.TempDir(), Elsewhere: r})
	if err != nil || result.Quality.Cut == 0 {
		t.Fatalf("found %+v and %v, expected parts with a cut", result, err)
	}
	if n := read.Load(); n != 0 {
		t.Errorf("found %d bytes of rows that the submitter read, expected none", n)
	}
	if _, err := r.End(nil); err != nil {
		t.Fatal(err)
	}
}
