package partition_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// library is a store of papers in fields: 40 fields of 25 papers each, which cite papers of their field, and
// 100 authors, each with papers of one field.
func library() *store.Store {
	const fields, each, authors = 40, 25, 100
	papers := fields * each
	mask, label := make([]byte, papers), make([]int64, papers)
	for p := range papers {
		if p%10 == 3 {
			mask[p] = 1
		}
		label[p] = int64(p % 3)
	}
	g := &graph.Graph{
		Nodes: []*graph.Nodes{
			{Type: "author", Count: authors},
			{Type: "paper", Count: papers, Columns: []*graph.Column{
				{Name: "feat", DType: graph.Float32, Rows: papers, Values: make([]byte, 4*papers)},
				{Name: "label", DType: graph.Int64, Rows: papers, Values: graph.Bytes(label)},
				{Name: "train_mask", DType: graph.Bool, Rows: papers, Values: mask}}}},
		Edges: []*graph.Edges{
			{Type: graph.EdgeType{Src: "author", Rel: "writes", Dst: "paper"}, Primary: graph.Out},
			{Type: graph.EdgeType{Src: "paper", Rel: "cites", Dst: "paper"}, Primary: graph.In}},
	}
	ptr, far := []uint64{0}, []uint64{}
	for a := range authors {
		for i := range 10 {
			far = append(far, uint64(a%fields*each+(a/fields*10+i)%each))
		}
		ptr = append(ptr, uint64(len(far)))
	}
	g.Edges[0].Count, g.Edges[0].Adj[graph.Out] = len(far), &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
	ptr, far = []uint64{0}, []uint64{}
	for p := range papers {
		for i := 1; i <= 4; i++ {
			far = append(far, uint64(p/each*each+(p*7+i*i)%each))
		}
		ptr = append(ptr, uint64(len(far)))
	}
	g.Edges[1].Count, g.Edges[1].Adj[graph.In] = len(far), &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
	return &store.Store{Dir: "library", Graph: g}
}

func run(t *testing.T, s *store.Store, o partition.Options) *partition.Result {
	t.Helper()
	o.Temp = t.TempDir()
	r, err := partition.Run(context.Background(), vfs.OS, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMethodsAreEvenAndTheSameForAnyThreads(t *testing.T) {
	s := library()
	for _, method := range []string{partition.Multilevel, partition.Fennel, partition.Ranges, partition.Random, partition.Hash} {
		o := partition.Options{Method: method, Parts: 4, Seed: 7, Threads: 1}
		r := run(t, s, o)
		o.Threads = 3
		if d := cmp.Diff(r.Assignment, run(t, s, o).Assignment); d != "" {
			t.Errorf("%s: 1 and 3 threads: %s", method, d)
		}
		if method != partition.Hash && !r.Within || r.Method != method || r.Assignment.Method != method {
			t.Errorf("%s: %q, within %v, balance %v", method, r.Method, r.Within, r.Quality.Balance)
		}
		o.Seed++
		if other := run(t, s, o); method != partition.Fennel && cmp.Equal(r.Assignment.Part, other.Assignment.Part) {
			t.Errorf("%s: another seed gave the same parts", method)
		}
		if share := r.Quality.CutShare; (method == partition.Multilevel || method == partition.Ranges) && share > 0.02 || method == partition.Fennel && share > 0.3 || share > 0.85 {
			t.Errorf("%s: cut %.3f", method, share)
		}
		if x := float64(r.Quality.Cut) / r.RandomCut; method == partition.Random && (x < 0.9 || x > 1.1) {
			t.Errorf("random: cut %d, expected about %.0f", r.Quality.Cut, r.RandomCut)
		}
		if x := float64(r.Quality.Volume) / r.RandomVolume; method == partition.Random && (x < 0.9 || x > 1.1) {
			t.Errorf("random: volume %d, expected about %.0f", r.Quality.Volume, r.RandomVolume)
		}
	}
}

func TestRandomIsEvenInEachType(t *testing.T) {
	r := run(t, library(), partition.Options{Method: partition.Random, Parts: 7})
	for i := range r.Assignment.Types {
		count := make([]int, 7)
		for _, p := range r.Assignment.Of(i) {
			count[p]++
		}
		n := len(r.Assignment.Of(i))
		for _, c := range count {
			if c != n/7 && c != n/7+1 {
				t.Errorf("%s: %v", r.Assignment.Types[i], count)
				break
			}
		}
	}
}

func TestHashStaysWhenTheGraphGrows(t *testing.T) {
	s := library()
	before := run(t, s, partition.Options{Method: partition.Hash, Parts: 5, Seed: 3})
	s.Graph.Nodes[0].Count += 50
	s.Graph.Edges[0].Adj[graph.Out].Indptr.U64 = append(s.Graph.Edges[0].Adj[graph.Out].Indptr.U64, make([]uint64, 50)...)
	ptr := s.Graph.Edges[0].Adj[graph.Out].Indptr.U64
	for i := 101; i < len(ptr); i++ {
		ptr[i] = ptr[100]
	}
	after := run(t, s, partition.Options{Method: partition.Hash, Parts: 5, Seed: 3})
	if !cmp.Equal(before.Assignment.Of(0), after.Assignment.Of(0)[:100]) || !cmp.Equal(before.Assignment.Of(1), after.Assignment.Of(1)) {
		t.Error("nodes changed their part")
	}
}

func TestBalance(t *testing.T) {
	s := library()
	for _, c := range []struct {
		balance partition.Balance
		want    []string
	}{
		{partition.Balance{}, []string{"nodes of author", "nodes of paper"}},
		{partition.Balance{Edges: true}, []string{"nodes of author", "nodes of paper", "in-degree"}},
		{partition.Balance{TypesTogether: true}, []string{"nodes"}},
		{partition.Balance{TypesTogether: true, Columns: []string{"train_mask"}}, []string{"nodes", "train_mask"}},
		{partition.Balance{Edges: true, Columns: []string{"paper/label"}}, []string{"nodes of author", "nodes of paper", "in-degree", "paper/label = 1", "paper/label = 2"}},
	} {
		for _, method := range []string{partition.Multilevel, partition.Fennel, partition.Ranges} {
			r := run(t, s, partition.Options{Method: method, Parts: 4, Balance: c.balance, Imbalance: []float64{1.1}})
			if !cmp.Equal(r.Constraints, c.want) || !r.Within {
				t.Errorf("%s, %+v: constraints %q, balance %v", method, c.balance, r.Constraints, r.Quality.Balance)
			}
			sum := map[string]int64{}
			for _, p := range r.Quality.Parts {
				for i, name := range r.Constraints {
					sum[name] += p.Weights[i]
				}
			}
			for name, want := range map[string]int64{"nodes": 1100, "nodes of author": 100, "nodes of paper": 1000, "in-degree": 5000, "train_mask": 100, "paper/label = 1": 333} {
				if got, there := sum[name]; there && got != want {
					t.Errorf("%+v: %s sums up to %d, expected %d", c.balance, name, got, want)
				}
			}
		}
	}
}

func TestTrainersShareAPart(t *testing.T) {
	r := run(t, library(), partition.Options{Parts: 3, Trainers: 2, Seed: 1})
	a := r.Assignment
	if a.Parts != 3 || a.Trainers != 2 || len(r.Trainers.Parts) != 6 || len(r.Quality.Parts) != 3 {
		t.Fatalf("%d parts, %d trainers per part, %d trainers", a.Parts, a.Trainers, len(r.Trainers.Parts))
	}
	for v, trainer := range a.Trainer {
		if a.Part[v] != trainer/2 || trainer >= 6 {
			t.Fatalf("node %d: trainer %d, part %d", v, trainer, a.Part[v])
		}
	}
	if r.Trainers.Cut < r.Quality.Cut || r.Trainers.EmptyParts > 0 {
		t.Errorf("trainers cut %d, parts %d", r.Trainers.Cut, r.Quality.Cut)
	}
}

func TestRelationsCountTheEdgesOfTheStore(t *testing.T) {
	s := library()
	r := run(t, s, partition.Options{Method: partition.Random, Parts: 3, Threads: 2})
	if d := cmp.Diff(relations(s, r), r.Relations); d != "" {
		t.Error(d)
	}
}

// relations counts the edges of a store edge by edge.
func relations(s *store.Store, r *partition.Result) (list []partition.Relation) {
	for _, e := range s.Graph.Edges {
		want := partition.Relation{Type: e.Type.String(), Edges: int64(e.Count), Owned: make([]int64, r.Assignment.Parts)}
		a := e.Adj[e.Primary]
		for near := range a.Indptr.Len() - 1 {
			for j := a.Indptr.At(near); j < a.Indptr.At(near+1); j++ {
				src, dst := int(a.Far.At(int(j))), near
				if e.Primary == graph.Out {
					src, dst = dst, src
				}
				p, q := r.Assignment.Of(s.Graph.NodeType(e.Type.Src))[src], r.Assignment.Of(s.Graph.NodeType(e.Type.Dst))[dst]
				if p != q {
					want.Cut++
				}
				want.Owned[q]++
			}
		}
		list = append(list, want)
	}
	return list
}

// grid is a store of side x side nodes, with an edge from each node to its right and its lower neighbour.
func grid(side int) *store.Store {
	ptr, far := []uint64{0}, []uint64{}
	for v := range side * side {
		if v%side > 0 {
			far = append(far, uint64(v-1))
		}
		if v >= side {
			far = append(far, uint64(v-side))
		}
		ptr = append(ptr, uint64(len(far)))
	}
	e := &graph.Edges{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: len(far)}
	e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
	return &store.Store{Dir: "grid", Graph: &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: side * side}}, Edges: []*graph.Edges{e}}}
}

// Where multilevel does not fit the memory it runs out of core and says so. Its parts do not depend on the threads.
func TestOutOfCore(t *testing.T) {
	s := grid(560)
	o := partition.Options{Parts: 4, Seed: 1, Threads: 1}
	whole := run(t, s, o)
	o.Memory = whole.Forecast.Memory - 1
	few := run(t, s, o)
	if whole.OutOfCore != nil || len(whole.Notes) > 0 || few.OutOfCore == nil || few.OutOfCore.Levels < 2 || few.Method != partition.Multilevel || len(few.Notes) == 0 ||
		!strings.Contains(few.Notes[0], "multilevel needs about") || !strings.Contains(few.Notes[0], "it runs out of core") || few.Forecast.Disk == 0 || !few.Forecast.Unknown {
		t.Errorf("%v, %q; %v, %q, %+v", whole.OutOfCore, whole.Notes, few.OutOfCore, few.Notes, few.Forecast)
	}
	if x := float64(few.Quality.Cut) / float64(whole.Quality.Cut); x > 1.5 || !few.Within {
		t.Errorf("cut %d, in memory %d; balance %v", few.Quality.Cut, whole.Quality.Cut, few.Quality.Balance)
	}
	o.Threads = 3
	if d := cmp.Diff(few.Assignment, run(t, s, o).Assignment); d != "" {
		t.Errorf("3 threads: %s", d)
	}
	two := partition.Options{Parts: 4, Balance: partition.Balance{Edges: true}}
	two.Memory = run(t, s, two).Forecast.Memory - 1
	if r := run(t, s, two); r.OutOfCore == nil || !r.Within || len(r.Quality.Balance) != 2 {
		t.Errorf("two constraints: balance %v, %q", r.Quality.Balance, r.Notes)
	}
	if vol := run(t, s, partition.Options{Parts: 4, Objective: multilevel.Vol, Memory: o.Memory}); !slices.Contains(vol.Notes, "out of core the cut is minimised, not the communication volume") {
		t.Errorf("%q", vol.Notes)
	}
	// The least memory that a refusal states is enough, and it names the method that needs less.
	o.Temp, o.Memory = t.TempDir(), 38<<20
	_, err := partition.Run(t.Context(), vfs.OS, s, o)
	if !errors.Is(err, partition.ErrMemory) || !strings.Contains(err.Error(), "or choose the method fennel, which needs") {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	if _, err := fmt.Sscanf(text[strings.Index(text, "(")+1:], "%d bytes", &o.Memory); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if least := run(t, s, o); least.OutOfCore == nil || !least.Within {
		t.Errorf("%d bytes: %+v", o.Memory, least.Notes)
	}
}

// With little memory the rows are on disk. The parts of methods that stream do not depend on the memory.
func TestMemory(t *testing.T) {
	s := library()
	// A little less than the graph takes in memory.
	bound := run(t, s, partition.Options{Method: partition.Random, Parts: 4}).Forecast.Memory - 1<<10
	for _, method := range []string{partition.Fennel, partition.Random} {
		few, much := run(t, s, partition.Options{Method: method, Parts: 4, Memory: bound}), run(t, s, partition.Options{Method: method, Parts: 4})
		if len(few.Notes) > 0 || few.Forecast.Disk == 0 || much.Forecast.Disk != 0 {
			t.Errorf("%s: %q, %+v", method, few.Notes, much.Forecast)
		}
		if d := cmp.Diff(few.Assignment, much.Assignment); d != "" {
			t.Errorf("%s: %s", method, d)
		}
		if d := cmp.Diff(few.Quality, much.Quality); d != "" {
			t.Errorf("%s: %s", method, d)
		}
	}
}

// Every call of the file system may fail while the rows are on disk, the last one too.
func TestFaults(t *testing.T) {
	s := library()
	o := partition.Options{Method: partition.Fennel, Parts: 4, Temp: t.TempDir()}
	o.Memory = run(t, s, o).Forecast.Memory - 1<<10
	full := errors.New("disk full")
	counted := &vfs.Fault{FS: vfs.OS}
	if _, err := partition.Run(t.Context(), counted, s, o); err != nil || counted.Calls() == 0 {
		t.Fatalf("%d calls: %v", counted.Calls(), err)
	}
	for at := int64(1); at <= counted.Calls(); at++ {
		if _, err := partition.Run(t.Context(), &vfs.Fault{FS: vfs.OS, FailAt: at, Err: full}, s, o); !errors.Is(err, full) {
			t.Errorf("call %d of %d: got %v", at, counted.Calls(), err)
		}
	}
}

// With the rows on disk, by ranges gives the same parts, and a call of the file system that fails is its error.
func TestRangesOnDisk(t *testing.T) {
	s := library()
	o := partition.Options{Method: partition.Ranges, Parts: 4, Temp: t.TempDir()}
	whole := run(t, s, o)
	shrink(t, 2*5000-1)
	onDisk := run(t, s, o)
	if onDisk.Forecast.Disk == 0 || onDisk.Ranges == nil || onDisk.Ranges.OutOfCore != nil || !cmp.Equal(onDisk.Assignment, whole.Assignment) {
		t.Errorf("found %+v, %v, expected the parts of memory", onDisk.Forecast, onDisk.Ranges)
	}
	full := errors.New("disk full")
	counted := &vfs.Fault{FS: vfs.OS}
	if _, err := partition.Run(t.Context(), counted, s, o); err != nil || counted.Calls() == 0 {
		t.Fatalf("%d calls: %v", counted.Calls(), err)
	}
	for at := int64(1); at <= counted.Calls(); at += 1 + at/8 {
		if _, err := partition.Run(t.Context(), &vfs.Fault{FS: vfs.OS, FailAt: at, Err: full}, s, o); !errors.Is(err, full) {
			t.Errorf("call %d of %d: found %v", at, counted.Calls(), err)
		}
	}
}

// A memory bound below the least is an error, and the least that the error states is enough.
func TestLeastMemory(t *testing.T) {
	s, g := library(), undirected.FromPairs(3, []uint32{0, 1}, []uint32{1, 2})
	for name, run := range map[string]func(partition.Options) error{
		"store": func(o partition.Options) error { _, err := partition.Run(t.Context(), vfs.OS, s, o); return err },
		"file": func(o partition.Options) error {
			_, err := partition.Divide(t.Context(), vfs.OS, g, graph.HomogeneousNode, o)
			return err
		},
	} {
		for _, method := range []string{partition.Multilevel, partition.Ranges, partition.Random} {
			o := partition.Options{Method: method, Parts: 2, Memory: 1 << 20, Temp: t.TempDir()}
			err := run(o)
			if !errors.Is(err, partition.ErrMemory) {
				t.Fatalf("%s, %s: got %v", name, method, err)
			}
			text := err.Error()
			if balances := strings.Contains(text, "or choose fewer constraints, because 2 constraints take 8.59 KiB of it"); balances != (name == "store") {
				t.Errorf("%s, %s: got %s", name, method, text)
			}
			if _, err := fmt.Sscanf(text[strings.Index(text, "(")+1:], "%d bytes", &o.Memory); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if err := run(o); err != nil {
				t.Errorf("%s, %s: %d bytes: got %v", name, method, o.Memory, err)
			}
		}
	}
}

func TestImport(t *testing.T) {
	s, dir := library(), t.TempDir()
	made := run(t, s, partition.Options{Method: partition.Random, Parts: 4})
	var metis, swapped strings.Builder
	for _, p := range made.Assignment.Part {
		fmt.Fprintln(&metis, p)
	}
	// The other program numbered the papers before the authors.
	for i, p := range append(append([]uint16{}, made.Assignment.Of(1)...), made.Assignment.Of(0)...) {
		fmt.Fprintln(&swapped, i, p)
	}
	for name, c := range map[string]struct {
		text  string
		order []string
	}{"x.graph.part.4": {metis.String(), nil}, "mag_part.4": {swapped.String(), []string{"paper", "author"}}} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got := run(t, s, partition.Options{Method: partition.Import, Import: file, ImportOrder: c.order})
		if !cmp.Equal(got.Assignment.Part, made.Assignment.Part) || !cmp.Equal(got.Assignment.Types, made.Assignment.Types) || got.Quality.Cut != made.Quality.Cut {
			t.Errorf("%s: other parts, cut %d, expected %d", name, got.Quality.Cut, made.Quality.Cut)
		}
	}
	_, err := partition.Run(context.Background(), vfs.OS, s, partition.Options{Method: partition.Import, Import: filepath.Join(dir, "x.graph.part.4"), Parts: 5})
	if !errors.Is(err, partition.ErrUsage) || !strings.Contains(err.Error(), "found 4 parts, expected 5") {
		t.Errorf("got %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		o    partition.Options
		want string
	}{
		{partition.Options{}, "found 0 parts, expected 1 to 65536"},
		{partition.Options{Parts: 4, Method: "multilevl"}, `found method "multilevl", expected one of multilevel, fennel, ranges, random, hash, import; did you mean "multilevel"`},
		{partition.Options{Parts: 40000, Trainers: 2}, "found 40000 parts, expected 1 to 32768"},
		{partition.Options{Parts: 4, Trainers: 1 << 40}, "found 1099511627776 trainers per part, expected 1 to 65536"},
		{partition.Options{Parts: 4, Imbalance: []float64{0.9}}, "found imbalance 0.9, expected 1 to 1000000"},
		{partition.Options{Parts: 4, Imbalance: []float64{1e300}}, "found imbalance 1e+300, expected 1 to 1000000"},
		{partition.Options{Parts: 4, Imbalance: []float64{math.NaN()}}, "found imbalance NaN"},
		{partition.Options{Parts: 4, Imbalance: []float64{1.1, 1.2}, Balance: partition.Balance{Edges: true}}, "found 2 imbalances, expected one, or one for each of 3 constraints (nodes of author, nodes of paper, in-degree)"},
		{partition.Options{Parts: 4, Passes: 3}, "found passes with the method multilevel"},
		{partition.Options{Parts: 4, Import: "x"}, "found an assignment to import with the method multilevel"},
		{partition.Options{Method: partition.Import}, "found the method import without a file"},
		{partition.Options{Parts: 4, Balance: partition.Balance{Columns: []string{"mask"}}}, `library: found no column "mask" of nodes, expected one of paper/feat, paper/label, paper/train_mask`},
		{partition.Options{Parts: 4, Balance: partition.Balance{Columns: []string{"feat"}}}, "library: found float32 in column feat of paper, expected integers or bool"},
	} {
		_, err := partition.Run(context.Background(), vfs.OS, library(), c.o)
		if !errors.Is(err, partition.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, expected %s", c.o, err, c.want)
		}
	}
}

func TestDivideTakesTheWeightsOfTheGraph(t *testing.T) {
	g := undirected.FromPairs(4, []uint32{0, 1, 2}, []uint32{1, 2, 3})
	g.Constraints, g.Weights = 2, []uint32{1, 5, 1, 5, 1, 5, 1, 5}
	r, err := partition.Divide(context.Background(), vfs.OS, g, graph.HomogeneousNode, partition.Options{Parts: 2})
	if err != nil || !cmp.Equal(r.Constraints, []string{"weight 1", "weight 2"}) || !r.Within || r.Quality.Cut != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	_, err = partition.Divide(context.Background(), vfs.OS, g, graph.HomogeneousNode, partition.Options{Parts: 2, Balance: partition.Balance{Edges: true}})
	if !errors.Is(err, partition.ErrUsage) {
		t.Errorf("got %v", err)
	}
}

// The forecast includes the weights of a file.
func TestForecastHasWeights(t *testing.T) {
	g := undirected.FromPairs(4, []uint32{0, 1, 2}, []uint32{1, 2, 3})
	foretell := func() int64 {
		r, err := partition.Divide(t.Context(), vfs.OS, g, graph.HomogeneousNode, partition.Options{Method: partition.Hash, Parts: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r.Forecast.Memory
	}
	plain := foretell()
	g.Weights = []uint32{1, 2, 3, 4}
	if got := foretell() - plain; got != 16 {
		t.Errorf("4 weights of nodes take %d bytes, expected 16", got)
	}
	g.EdgeWeights = []uint32{1, 1, 1, 1, 1, 1}
	if got := foretell() - plain; got != 40 {
		t.Errorf("with 3 weights of pairs %d bytes, expected 40", got)
	}
}

// A constraint whose weights are all 0 does not prevent the balance of the others.
func TestWeightsOfNothing(t *testing.T) {
	g := undirected.FromPairs(4, []uint32{0, 1, 2}, []uint32{1, 2, 3})
	g.Constraints, g.Weights = 2, []uint32{1, 0, 1, 0, 1, 0, 1, 0}
	for _, method := range []string{partition.Multilevel, partition.Fennel, partition.Ranges} {
		r, err := partition.Divide(t.Context(), vfs.OS, g, graph.HomogeneousNode, partition.Options{Method: method, Parts: 2})
		if err != nil || !r.Within || !cmp.Equal(r.Quality.Balance, []float64{1, 1}) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "weight 2 is 0 for every node") {
			t.Errorf("%s: %v, %+v", method, err, r)
		}
	}
	n := 1<<21 + 2
	g = undirected.FromPairs(n, nil, nil)
	g.Weights = make([]uint32, n)
	for v := range g.Weights {
		g.Weights[v] = math.MaxUint32
	}
	_, err := partition.Divide(t.Context(), vfs.OS, g, graph.HomogeneousNode, partition.Options{Method: partition.Hash, Parts: 2})
	if !errors.Is(err, partition.ErrUsage) || !strings.Contains(err.Error(), "as the sum of weight 1, expected at most 2^53") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyGraphs(t *testing.T) {
	s := &store.Store{Dir: "s", Graph: &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: 3}, {Type: "b"}}}}
	for _, method := range []string{partition.Multilevel, partition.Fennel, partition.Ranges, partition.Random, partition.Hash} {
		r := run(t, s, partition.Options{Method: method, Parts: 5, Balance: partition.Balance{Edges: true}})
		if len(r.Assignment.Part) != 3 || r.Quality.EmptyParts < 2 || len(r.Notes) != 1 {
			t.Errorf("%s: %v, %q", method, r.Assignment.Part, r.Notes)
		}
		s.Graph.Nodes[0].Count = 0
		run(t, s, partition.Options{Method: method, Parts: 5})
		s.Graph.Nodes[0].Count = 3
	}
}
